#include "engine/select.h"

#include "base/near.h"
#include "model/record/record.h"

enum lks_code lks_select_kind(struct lks_str word, const struct lks_record_info **out,
                              struct lks_err *err)
{
    struct lks_near near = lks_near_to(word);
    char hint[LKS_NEAR_HINT_SIZE];
    for (size_t i = 0; i < lks_record_info_count; i++) {
        if (lks_str_is(word, lks_record_infos[i].word)) {
            *out = &lks_record_infos[i];
            return LKS_OK;
        }
        lks_near_try(&near, lks_str_from(lks_record_infos[i].word));
    }
    return lks_fail(err, LKS_E_INVALID, "there are no records of the kind '%" LKS_STR_FMT "'%s",
                    LKS_STR_ARG(word), lks_near_hint(&near, hint));
}

static bool is_about(const struct lks_record *r, const struct lks_hostlist *nodes)
{
    for (size_t i = 0; i < nodes->count; i++)
        if (lks_journal_record_about(r, nodes->names[i]))
            return true;
    return nodes->count == 0;
}

bool lks_select_fits(const struct lks_select *s, const struct lks_row *row)
{
    struct lks_record record;
    struct lks_err ignored = {0};
    if (row->time < s->since || lks_select_over(s, row) ||
        (s->kind != NULL && row->kind != (unsigned)s->kind->kind))
        return false;
    if (s->by.len == 0 && s->nodes.count == 0)
        return true;
    if (lks_record_unpack(row->kind, row->version, row->body, &record, &ignored) != LKS_OK)
        return true;
    return (s->by.len == 0 || lks_str_eq(lks_record_by(&record), s->by)) &&
           is_about(&record, &s->nodes);
}

struct found {
    uint64_t seq;
    lks_ms time;
};

static bool find_first(void *ctx, const struct lks_row *row)
{
    *(struct found *)ctx = (struct found){row->seq, row->time};
    return false;
}

enum lks_code lks_select_begin(struct lks_store *store, const struct lks_select *s, uint64_t from,
                               uint64_t *out, struct lks_err *err)
{
    struct lks_store_tail tail;
    if (store->ops->tail(store->self, &tail, err) != LKS_OK)
        return err->code;
    uint64_t low = from, high = tail.seq + 1;
    while (s->since != 0 && low < high) {
        uint64_t middle = low + (high - low) / 2;
        struct found found = {0};
        if (store->ops->rows(store->self, middle, find_first, &found, err) != LKS_OK)
            return err->code;
        if (found.seq == 0 || found.time >= s->since)
            high = middle;
        else
            low = found.seq + 1;
    }
    *out = low;
    return LKS_OK;
}
