#include "bridge/view/book.h"

#include "base/vec.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_MAX ((size_t)64 << 20)

void lks_bridge_book_init(struct lks_bridge_book *b, uint64_t kept_revision)
{
    *b = (struct lks_bridge_book){0};
    lks_intern_init(&b->names, NAMES_MAX);
    lks_buf_init(&b->jobs, LKS_BRIDGE_ANSWER_MAX);
    lks_buf_init(&b->reservations, LKS_BRIDGE_ANSWER_MAX);
    lks_bridge_revision_init(&b->revision, kept_revision);
}

void lks_bridge_book_fini(struct lks_bridge_book *b)
{
    for (uint32_t i = 0; i < lks_intern_count(&b->names); i++)
        free(b->entries[i].json);
    free(b->entries);
    lks_intern_fini(&b->names);
    lks_buf_fini(&b->jobs);
    lks_buf_fini(&b->reservations);
    *b = (struct lks_bridge_book){0};
}

static struct lks_str view(const struct lks_bridge_reading *r, size_t at, size_t len)
{
    return (struct lks_str){r->bytes.ptr + at, len};
}

static bool is_same(const struct lks_bridge_entry *e, const struct lks_bridge_reading *r,
                    const struct lks_bridge_item *item)
{
    return e->present && e->json_len == item->json_len &&
           memcmp(e->json, r->bytes.ptr + item->json, item->json_len) == 0;
}

uint32_t lks_bridge_book_changes(const struct lks_bridge_book *b,
                                 const struct lks_bridge_reading *r)
{
    uint32_t changes = 0;
    for (uint32_t i = 0; i < r->count; i++) {
        const struct lks_bridge_item *item = &r->items[i];
        const struct lks_bridge_entry *e =
            lks_bridge_book_find(b, view(r, item->name, item->name_len));
        changes += e == NULL || !is_same(e, r, item);
    }
    return changes;
}

/* The texts of an entry, in one piece of memory. */
static enum lks_code replace(struct lks_bridge_entry *e, const struct lks_bridge_reading *r,
                             const struct lks_bridge_item *item, struct lks_err *err)
{
    struct lks_str json = view(r, item->json, item->json_len);
    struct lks_str reason = view(r, item->reason, item->reason_len);
    struct lks_str owner = view(r, item->owner, item->owner_len);
    char *texts = malloc(json.len + reason.len + owner.len + 1);
    if (texts == NULL)
        return lks_fail_nomem(err);
    memcpy(texts, json.ptr, json.len);
    memcpy(texts + json.len, reason.ptr, reason.len);
    memcpy(texts + json.len + reason.len, owner.ptr, owner.len);
    free(e->json);
    e->json = texts;
    e->json_len = json.len;
    e->reason = (struct lks_str){texts + json.len, reason.len};
    e->owner = (struct lks_str){texts + json.len + reason.len, owner.len};
    return LKS_OK;
}

static enum lks_code enter(struct lks_bridge_book *b, const struct lks_bridge_reading *r,
                           const struct lks_bridge_item *item, const struct lks_bridge_when *when,
                           uint64_t now_us, struct lks_err *err)
{
    uint32_t id = 0, before = lks_intern_count(&b->names);
    if (LKS_VEC_RESERVE_MAX(b->entries, b->room, before + (size_t)1, LKS_BRIDGE_NODES_MAX, err) !=
            LKS_OK ||
        lks_intern_id(&b->names, view(r, item->name, item->name_len), &id, err) != LKS_OK)
        return err->code;
    struct lks_bridge_entry *e = &b->entries[id];
    if (id == before)
        *e = (struct lks_bridge_entry){0};
    if (!is_same(e, r, item)) {
        if (replace(e, r, item, err) != LKS_OK)
            return err->code;
        e->revision = lks_bridge_revision_next(&b->revision, now_us);
    }
    e->present = true;
    e->drained = item->drained;
    e->failing = item->failing;
    e->down = item->down;
    e->responding = item->responding;
    e->own = item->own;
    e->read = *when;
    e->round = b->round;
    return LKS_OK;
}

/* Into a buffer of its own: a buffer whose growth failed once takes nothing more. */
static enum lks_code replace_list(struct lks_buf *list, struct lks_str by, struct lks_err *err)
{
    struct lks_buf made = LKS_BUF(LKS_BRIDGE_ANSWER_MAX);
    lks_buf_add(&made, by);
    if (lks_buf_check(&made, err) != LKS_OK) {
        lks_buf_fini(&made);
        return err->code;
    }
    lks_buf_fini(list);
    *list = made;
    return LKS_OK;
}

enum lks_code lks_bridge_book_enter(struct lks_bridge_book *b, const struct lks_bridge_reading *r,
                                    const struct lks_bridge_when *when, uint64_t now_us,
                                    struct lks_err *err)
{
    b->round += r->all_nodes;
    for (uint32_t i = 0; i < r->count; i++) {
        if (enter(b, r, &r->items[i], when, now_us, err) != LKS_OK)
            return err->code;
    }
    for (uint32_t i = 0; r->all_nodes && i < lks_intern_count(&b->names); i++)
        b->entries[i].present = b->entries[i].present && b->entries[i].round == b->round;
    if (r->all_jobs &&
        (replace_list(&b->jobs, lks_buf_view(&r->jobs), err) != LKS_OK ||
         replace_list(&b->reservations, lks_buf_view(&r->reservations), err) != LKS_OK))
        return err->code;
    if (r->all_nodes)
        b->read = *when;
    return LKS_OK;
}

void lks_bridge_book_unchanged(struct lks_bridge_book *b, const struct lks_bridge_when *when)
{
    b->read = *when;
}

const struct lks_bridge_entry *lks_bridge_book_find(const struct lks_bridge_book *b,
                                                    struct lks_str name)
{
    uint32_t id = 0;
    bool found = lks_intern_find(&b->names, name, &id) && b->entries[id].present;
    return found ? &b->entries[id] : NULL;
}

void lks_bridge_book_remove(struct lks_bridge_book *b, struct lks_str name)
{
    uint32_t id = 0;
    if (lks_intern_find(&b->names, name, &id))
        b->entries[id].present = false;
}

/* Answers ----------------------------------------------------------------------------------- */

static void put_when(const struct lks_bridge_book *b, const struct lks_bridge_when *read,
                     lks_ms now, struct lks_buf *out)
{
    lks_buf_addf(out, "\"as_of\":%" PRIu64 ",\"age\":%" PRIu64 ",\"configured\":%" PRIu64 ",",
                 read->wall, now > read->steady ? now - read->steady : 0, b->configured);
}

void lks_bridge_book_node(const struct lks_bridge_book *b, struct lks_str name,
                          const struct lks_bridge_entry *entry, lks_ms now, struct lks_buf *out)
{
    lks_buf_addf(out, "{\"node\":");
    lks_json_string(out, name);
    lks_buf_addf(out, ",\"revision\":%" PRIu64 ",", entry->revision);
    put_when(b, entry->read.steady > b->read.steady ? &entry->read : &b->read, now, out);
    lks_buf_add(out, (struct lks_str){entry->json + 1, entry->json_len - 1});
}

void lks_bridge_book_nodes(const struct lks_bridge_book *b, lks_ms now, struct lks_buf *out)
{
    bool first = true;
    lks_buf_addc(out, '{');
    put_when(b, &b->read, now, out);
    lks_buf_addf(out, "\"nodes\":[");
    for (uint32_t i = 0; i < lks_intern_count(&b->names); i++) {
        if (!b->entries[i].present)
            continue;
        if (!first)
            lks_buf_addc(out, ',');
        first = false;
        lks_bridge_book_node(b, lks_intern_text(&b->names, i), &b->entries[i], now, out);
    }
    lks_buf_addf(out, "]}");
}

static void put_list(const struct lks_bridge_book *b, const char *name, const struct lks_buf *list,
                     lks_ms now, struct lks_buf *out)
{
    lks_buf_addc(out, '{');
    put_when(b, &b->read, now, out);
    lks_buf_addf(out, "\"%s\":", name);
    lks_buf_add(out, list->len > 0 ? lks_buf_view(list) : LKS_STR("[]"));
    lks_buf_addc(out, '}');
}

void lks_bridge_book_jobs(const struct lks_bridge_book *b, lks_ms now, struct lks_buf *out)
{
    put_list(b, "jobs", &b->jobs, now, out);
}

void lks_bridge_book_reservations(const struct lks_bridge_book *b, lks_ms now, struct lks_buf *out)
{
    put_list(b, "reservations", &b->reservations, now, out);
}
