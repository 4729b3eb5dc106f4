#include "core/sched/reservations.h"

#include "codec/format/json.h"
#include "codec/notation/hostlist.h"

#include <inttypes.h>
#include <stdio.h>

#define CHANGE    LKS_SCHED_RESERVATION_MARK "change_"
#define NAMES_MAX ((size_t)64 << 20)

void lks_sched_reservations_fini(struct lks_sched_reservations *r)
{
    lks_arena_fini(&r->arena);
    *r = (struct lks_sched_reservations){0};
}

/* Reading ----------------------------------------------------------------------------------- */

/* The same text for all lists of the same nodes. One that cannot be read is kept as it is, and so
 * differs from what is wanted. */
static struct lks_str fold(struct lks_str nodes, struct lks_arena *arena)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena names = {.max = NAMES_MAX};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_HOSTLIST_BYTES_MAX);
    struct lks_hostlist hosts = {0};
    struct lks_err err = {0};
    bool folded = lks_hostlist_parse(nodes, &names, &hosts, &err) == LKS_OK &&
                  lks_hostlist_fold(hosts.names, hosts.count, &text, &err) == LKS_OK &&
                  lks_buf_check(&text, &err) == LKS_OK;
    return lks_arena_copy(arena, folded ? lks_buf_view(&text) : nodes);
}

static bool read_moment(const struct lks_doc *map, const char *key, lks_ms *out)
{
    const struct lks_doc *doc = lks_doc_member(map, key);
    if (doc == NULL || doc->kind != LKS_DOC_NUMBER || doc->fraction || doc->number < 0 ||
        (uint64_t)doc->number > LKS_TIME_MAX)
        return false;
    *out = (lks_ms)doc->number;
    return true;
}

static enum lks_code read_one(const struct lks_doc *doc, struct lks_sched_reservations *out,
                              struct lks_err *err)
{
    const struct lks_doc *own = lks_doc_member(doc, "own");
    struct lks_sched_reservation r = {0};
    struct lks_str name = lks_doc_text(doc, "name"), nodes = lks_doc_text(doc, "nodes");
    if (doc->kind != LKS_DOC_MAP || own == NULL || own->kind != LKS_DOC_BOOL)
        return lks_fail(err, LKS_E_INVALID, "the list of reservations is malformed");
    if (!own->truth || !lks_str_starts(name, LKS_SCHED_RESERVATION_MARK))
        return LKS_OK;
    if (out->count == LKS_SCHED_RESERVATIONS_MAX)
        return lks_fail(err, LKS_E_LIMIT, "lockstep has more than %d reservations there",
                        LKS_SCHED_RESERVATIONS_MAX);
    if (name.len > LKS_SCHED_RESERVATION_NAME || !lks_str_printable(name) ||
        !lks_str_printable(nodes) || !read_moment(doc, "from", &r.from) ||
        !read_moment(doc, "until", &r.until))
        return lks_fail(err, LKS_E_INVALID, "a reservation of lockstep is malformed");
    r.name = lks_arena_copy(&out->arena, name);
    r.nodes = fold(nodes, &out->arena);
    out->list[out->count++] = r;
    return LKS_OK;
}

static enum lks_code read_list(const struct lks_doc *answer, struct lks_sched_reservations *out,
                               struct lks_err *err)
{
    const struct lks_doc *list = lks_doc_member(answer, "reservations");
    lks_ms age = 0;
    if (!read_moment(answer, "age", &age) || list == NULL || list->kind != LKS_DOC_LIST)
        return lks_fail(err, LKS_E_INVALID, "the answer is no list of reservations");
    if (age > LKS_SCHED_RESERVATIONS_OLD)
        return lks_fail(err, LKS_E_UNAVAILABLE,
                        "the list of reservations is %" PRIu64
                        " s old; see /v1/health of the bridge",
                        age / LKS_SECOND);
    for (const struct lks_doc *one = list->first; one != NULL; one = one->next) {
        if (read_one(one, out, err) != LKS_OK)
            return err->code;
    }
    return out->arena.out_of_memory ? lks_arena_fail(&out->arena, err) : LKS_OK;
}

enum lks_code lks_sched_reservations_read(struct lks_str json, struct lks_sched_reservations *out,
                                          struct lks_err *err)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_sched_reservations made = {0};
    lks_arena_init(&made.arena, NAMES_MAX);
    made.list = lks_arena_array(&made.arena, LKS_SCHED_RESERVATIONS_MAX + 1, sizeof(*made.list));
    enum lks_code code = made.list != NULL ? LKS_OK : lks_arena_fail(&made.arena, err);
    if (code == LKS_OK && (lks_docs_init(&docs, "scheduler", err) != LKS_OK ||
                           lks_json_parse(json, &docs, err) != LKS_OK))
        code = err->code;
    if (code == LKS_OK)
        code = read_list(docs.first, &made, err);
    if (code == LKS_OK)
        *out = made;
    else
        lks_sched_reservations_fini(&made);
    return code;
}

const struct lks_sched_reservation *
lks_sched_reservations_find(const struct lks_sched_reservations *r, struct lks_str name)
{
    for (uint32_t i = 0; i < r->count; i++) {
        if (lks_str_eq(r->list[i].name, name))
            return &r->list[i];
    }
    return NULL;
}

bool lks_sched_reservations_alike(const struct lks_sched_reservation *a,
                                  const struct lks_sched_reservation *b, lks_ms wall)
{
    bool starts = a->from == b->from || (a->from <= wall && b->from <= wall);
    return starts && a->until == b->until && lks_str_eq(a->nodes, b->nodes);
}

/* Names ------------------------------------------------------------------------------------- */

bool lks_sched_reservations_name(uint64_t change, struct lks_str pool, struct lks_str site,
                                 char out[LKS_SCHED_RESERVATION_NAME + 1])
{
    int len = snprintf(out, LKS_SCHED_RESERVATION_NAME + 1,
                       CHANGE "%" PRIu64 "+%" LKS_STR_FMT "%s%" LKS_STR_FMT, change,
                       LKS_STR_ARG(pool), site.len > 0 ? "+" : "", LKS_STR_ARG(site));
    return len > 0 && len <= LKS_SCHED_RESERVATION_NAME;
}

bool lks_sched_reservations_of(struct lks_str name, uint64_t *change, struct lks_str *pool,
                               struct lks_str *site)
{
    const size_t mark = sizeof(CHANGE) - 1;
    struct lks_str rest, number;
    if (!lks_str_starts(name, CHANGE))
        return false;
    rest = (struct lks_str){name.ptr + mark, name.len - mark};
    if (!lks_str_cut(rest, '+', &number, &rest) || !lks_str_number(number, UINT64_MAX, change))
        return false;
    if (!lks_str_cut(rest, '+', pool, site)) /* a fleet need not have sites */
        *site = LKS_STR("");
    return pool->len > 0;
}
