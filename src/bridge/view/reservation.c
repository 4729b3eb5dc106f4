#include "bridge/view/reservation.h"

#include "codec/notation/hostlist.h"

#define LIST_MAX  ((size_t)1 << 20)
#define NAMES_MAX ((size_t)64 << 20)

void lks_bridge_reservation_fini(struct lks_bridge_reserve *r)
{
    lks_arena_fini(&r->arena);
    *r = (struct lks_bridge_reserve){0};
}

/* '+' separates the parts of a name of lockstep: none of them may have it. */
bool lks_bridge_reservation_is_name(struct lks_str name)
{
    bool good = lks_str_starts(name, LKS_BRIDGE_RESERVATION_PREFIX) &&
                name.len > sizeof(LKS_BRIDGE_RESERVATION_PREFIX) - 1;
    for (size_t i = 0; i < name.len && good; i++) {
        char c = name.ptr[i];
        good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '-' || c == '_' || c == '.' || c == '+';
    }
    return good;
}

static bool read_moment(const struct lks_doc *body, const char *key, lks_ms *out)
{
    const struct lks_doc *doc = lks_doc_member(body, key);
    if (doc == NULL || doc->kind != LKS_DOC_NUMBER || doc->fraction || doc->number <= 0 ||
        (uint64_t)doc->number > LKS_TIME_MAX || doc->number % (int64_t)LKS_SECOND != 0)
        return false;
    *out = (lks_ms)doc->number;
    return true;
}

enum lks_code lks_bridge_reservation_read(const struct lks_doc *body,
                                          struct lks_bridge_reserve *out, struct lks_err *err)
{
    struct lks_bridge_reserve made = {0};
    struct lks_str nodes = lks_doc_text(body, "nodes");
    size_t count = 0;
    if (lks_hostlist_count(nodes, &count, err) != LKS_OK)
        return lks_wrap(err, "nodes");
    if (count == 0 || count > LKS_BRIDGE_RESERVATION_NODES)
        return lks_fail(err, LKS_E_INVALID, "nodes: from 1 to %d", LKS_BRIDGE_RESERVATION_NODES);
    if (!read_moment(body, "from", &made.from) || !read_moment(body, "until", &made.until) ||
        made.until <= made.from)
        return lks_fail(err, LKS_E_INVALID,
                        "from and until: whole seconds as milliseconds since 1970, and until is "
                        "later than from");
    lks_arena_init(&made.arena, LIST_MAX);
    made.nodes = lks_arena_copy(&made.arena, nodes);
    if (made.nodes.ptr == NULL)
        return lks_arena_fail(&made.arena, err);
    *out = made;
    return LKS_OK;
}

bool lks_bridge_reservation_is_own(const struct lks_bridge_reservation *r, struct lks_str user)
{
    return lks_bridge_reservation_is_name(r->name) && user.len > 0 && lks_str_eq(r->users, user);
}

/* The same list for the same set; false: it cannot be read. */
static bool fold(struct lks_str list, struct lks_buf *out)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {.max = NAMES_MAX};
    struct lks_hostlist hosts = {0};
    struct lks_err err = {0};
    return lks_hostlist_parse(list, &arena, &hosts, &err) == LKS_OK &&
           lks_hostlist_fold(hosts.names, hosts.count, out, &err) == LKS_OK &&
           lks_buf_check(out, &err) == LKS_OK;
}

static bool same_nodes(struct lks_str a, struct lks_str b)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf x = LKS_BUF(LIST_MAX);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf y = LKS_BUF(LIST_MAX);
    return fold(a, &x) && fold(b, &y) && lks_str_eq(lks_buf_view(&x), lks_buf_view(&y));
}

bool lks_bridge_reservation_is(const struct lks_bridge_reservation *r,
                               const struct lks_bridge_reserve *wanted, lks_ms now)
{
    bool starts = r->from == wanted->from || (r->from <= now && wanted->from <= now);
    return starts && r->maint && r->until == wanted->until && same_nodes(r->nodes, wanted->nodes);
}

enum lks_bridge_reservation_act lks_bridge_reservation_act(const struct lks_bridge_reservation *is,
                                                           const struct lks_bridge_reserve *wanted,
                                                           lks_ms now)
{
    if (is != NULL && !is->own)
        return LKS_BRIDGE_RESERVATION_REFUSE;
    if (wanted == NULL)
        return is != NULL ? LKS_BRIDGE_RESERVATION_DELETE : LKS_BRIDGE_RESERVATION_KEEP;
    if (is == NULL)
        return LKS_BRIDGE_RESERVATION_CREATE;
    if (lks_bridge_reservation_is(is, wanted, now))
        return LKS_BRIDGE_RESERVATION_KEEP;
    bool moves = is->from <= now && wanted->from > now;
    return moves || !is->maint ? LKS_BRIDGE_RESERVATION_REPLACE : LKS_BRIDGE_RESERVATION_UPDATE;
}

void lks_bridge_reservation_json(const struct lks_bridge_reservation *r, struct lks_json_writer *w)
{
    lks_json_begin(w, NULL, '{');
    lks_json_text(w, "name", r->name);
    lks_json_text(w, "nodes", r->nodes);
    lks_json_text(w, "users", r->users);
    lks_json_int(w, "from", (int64_t)r->from);
    lks_json_int(w, "until", (int64_t)r->until);
    lks_json_bool(w, "maint", r->maint);
    lks_json_bool(w, "own", r->own);
    lks_json_end(w, '}');
}
