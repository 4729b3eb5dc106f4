/* How often nodes fail by themselves, by what a journal has seen. */
#include "base/intern.h"
#include "base/vec.h"
#include "lab/rehearse/rehearse.h"

#include <stdlib.h>

#define HOUR            (3600 * LKS_SECOND)
#define NAMES_BYTES_MAX ((size_t)1 << 28)

struct seeing {
    struct lks_intern names;
    bool *changing; /* by name: a change is at it, so that its absence is none of its own */
    size_t room;
    struct lks_world_seen seen;
    lks_ms first, last;
    struct lks_err *err;
    bool failed;
};

static bool *changing(struct seeing *s, struct lks_str node)
{
    uint32_t id = 0;
    if (lks_intern_id(&s->names, node, &id, s->err) != LKS_OK)
        return NULL;
    return LKS_VEC_RESERVE(s->changing, s->room, (size_t)id + 1, s->err) == LKS_OK
               ? &s->changing[id]
               : NULL;
}

static bool see(void *ctx, const struct lks_row *row)
{
    struct seeing *s = ctx;
    struct lks_record r;
    bool *at = NULL;
    s->first = s->first == 0 ? row->time : s->first;
    s->last = row->time;
    if (row->kind != LKS_RECORD_MEMBER && row->kind != LKS_RECORD_LIVENESS)
        return true;
    bool good = lks_record_unpack(row->kind, row->version, row->body, &r, s->err) == LKS_OK;
    if (good)
        at = changing(s, r.kind == LKS_RECORD_MEMBER ? r.member.node : r.liveness.node);
    s->failed = at == NULL;
    if (s->failed)
        return false;
    if (r.kind == LKS_RECORD_MEMBER)
        *at = r.member.state != LKS_MEMBER_PENDING && r.member.state < LKS_MEMBER_OVER;
    else
        s->seen.losses += r.liveness.state == LKS_LOST && !*at;
    return true;
}

enum lks_code lks_world_see(struct lks_store *store, uint32_t nodes, struct lks_world_seen *out,
                            struct lks_err *err)
{
    struct seeing s = {.err = err};
    lks_intern_init(&s.names, NAMES_BYTES_MAX);
    enum lks_code code = store->ops->rows(store->self, 1, see, &s, err);
    if (code == LKS_OK && s.failed)
        code = err->code != LKS_OK ? err->code : lks_fail_nomem(err);
    s.seen.node_hours = (double)nodes * (double)(s.last - s.first) / (double)HOUR;
    lks_intern_fini(&s.names);
    free(s.changing);
    if (code == LKS_OK)
        *out = s.seen;
    return code;
}
