/* Checks of what a person gives with a request: reason, names, digests; and the people behind it.
 */
#include "base/near.h"
#include "core/decision/decision.h"
#include "core/rows/pool.h"
#include "core/state/state.h"

/* Texts ---------------------------------------------------------------------------------------- */

bool lks_decision_reason(struct lks_deciding *d)
{
    struct lks_str reason = lks_str_trim(d->event->reason);
    if (reason.len == 0)
        lks_decision_refuse(d, LKS_E_INVALID, "give a reason; it is kept in the journal");
    else if (reason.len > LKS_REASON_MAX)
        lks_decision_refuse(d, LKS_E_INVALID, "a reason has at most %d bytes; this one has %zu",
                            LKS_REASON_MAX, reason.len);
    else if (!lks_str_printable(reason))
        lks_decision_refuse(d, LKS_E_INVALID, "a reason is one line of printable text");
    else
        return true;
    return false;
}

bool lks_decision_reason_fits(struct lks_deciding *d)
{
    return lks_str_trim(d->event->reason).len == 0 || lks_decision_reason(d);
}

bool lks_decision_line(struct lks_deciding *d, const char *what, struct lks_str text, size_t max)
{
    if (text.len == 0)
        lks_decision_refuse(d, LKS_E_INVALID, "%s: there is none, and it is needed", what);
    else if (text.len > max)
        lks_decision_refuse(d, LKS_E_INVALID, "%s: at most %zu bytes; these are %zu", what, max,
                            text.len);
    else if (!lks_str_printable(text))
        lks_decision_refuse(d, LKS_E_INVALID, "%s: one line of printable text", what);
    else
        return true;
    return false;
}

bool lks_decision_digest(struct lks_deciding *d, const char *what, struct lks_str digest)
{
    if (lks_digest_valid(digest))
        return true;
    lks_decision_refuse(d, LKS_E_INVALID,
                        "%s: '%" LKS_STR_FMT "' is no digest; one is sha256: and 64 of 0-9 a-f",
                        what, LKS_STR_ARG(digest));
    return false;
}

bool lks_decision_space(struct lks_deciding *d, const char *what, uint32_t count, unsigned max)
{
    if (count < max)
        return true;
    lks_decision_refuse(d, LKS_E_LIMIT, "there are %u %s, which is the most", count, what);
    return false;
}

/* Nodes ---------------------------------------------------------------------------------------- */

bool lks_decision_fold(struct lks_deciding *d, const struct lks_str *names, size_t count,
                       struct lks_str *out)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_HOSTLIST_BYTES_MAX);
    struct lks_err err = {0};
    enum lks_code code = lks_hostlist_fold(names, count, &text, &err);
    if (code == LKS_E_LIMIT)
        return false;
    struct lks_str kept = {NULL, 0};
    if (code == LKS_OK)
        kept = lks_arena_copy(&d->out->arena, lks_buf_view(&text));
    if (kept.ptr == NULL) {
        d->out->failed = code != LKS_OK ? code : lks_arena_fail(&d->out->arena, &err);
        return false;
    }
    *out = kept;
    return true;
}

bool lks_decision_node(struct lks_deciding *d, uint32_t *node)
{
    *node = lks_state_node(d->state, d->event->name);
    if (*node == LKS_NO_NODE)
        lks_decision_no_node(d, d->event->name);
    return *node != LKS_NO_NODE;
}

bool lks_decision_pool(struct lks_deciding *d, struct lks_str name, uint32_t *out)
{
    const struct lks_state *s = d->state;
    *out = lks_state_pool(s, name);
    if (*out != UINT32_MAX)
        return true;
    struct lks_near near = lks_near_to(name);
    char hint[LKS_NEAR_HINT_SIZE];
    lks_state_near_pools(s, &near);
    lks_decision_refuse(d, LKS_E_NOT_FOUND, "no pool '%" LKS_STR_FMT "' in the fleet%s",
                        LKS_STR_ARG(name), lks_near_hint(&near, hint));
    return false;
}

void lks_decision_no_node(struct lks_deciding *d, struct lks_str name)
{
    struct lks_near near = lks_near_to(name);
    char hint[LKS_NEAR_HINT_SIZE];
    lks_state_near_nodes(d->state, &near);
    lks_decision_refuse(d, LKS_E_NOT_FOUND, "no node '%" LKS_STR_FMT "' in the fleet%s",
                        LKS_STR_ARG(name), lks_near_hint(&near, hint));
}

/* A detour by its folded form leaves each name once. */
bool lks_decision_hosts(struct lks_deciding *d, struct lks_hostlist *out)
{
    struct lks_arena *arena = &d->out->arena;
    struct lks_hostlist written = {0};
    struct lks_err err = {0};
    struct lks_str folded;
    if (lks_hostlist_parse(d->event->name, arena, &written, &err) != LKS_OK) {
        lks_decision_refuse(d, LKS_E_INVALID, "nodes: %s", err.msg);
        return false;
    }
    if (written.count == 0) {
        lks_decision_refuse(d, LKS_E_INVALID, "nodes: the list names none");
        return false;
    }
    if (!lks_decision_fold(d, written.names, written.count, &folded)) {
        lks_decision_refuse(d, LKS_E_LIMIT, "nodes: the list is too long");
        return false;
    }
    if (lks_hostlist_parse(folded, arena, out, &err) != LKS_OK) {
        d->out->failed = err.code;
        return false;
    }
    for (size_t i = 0; i < out->count; i++) {
        if (lks_state_node(d->state, out->names[i]) == LKS_NO_NODE) {
            lks_decision_no_node(d, out->names[i]);
            return false;
        }
    }
    return true;
}

bool lks_decision_few(struct lks_deciding *d, struct lks_hostlist *out)
{
    size_t most = d->state->limits.call_nodes;
    if (!lks_decision_hosts(d, out))
        return false;
    if (out->count <= most) {
        for (size_t i = 0; i < out->count; i++)
            lks_decision_touch(d, lks_state_node(d->state, out->names[i]));
        return true;
    }
    lks_decision_refuse(d, LKS_E_REFUSED,
                        "these are %zu nodes, and one call may touch %zu (limits.call_nodes); more "
                        "belongs in a change",
                        out->count, most);
    return false;
}

/* Who is behind it ----------------------------------------------------------------------------- */

struct lks_backing lks_decision_backing(struct lks_deciding *d)
{
    const struct lks_event *e = d->event;
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_BACKING_TEXT_MAX);
    if (!e->root)
        lks_backing_minters(d->state, e->by, e->credential, &text);
    if (text.failed != LKS_OK)
        d->out->failed = text.failed;
    return (struct lks_backing){e->by, text.len > 0 ? lks_decision_copy(d, lks_buf_view(&text))
                                                    : LKS_STR("")};
}

bool lks_decision_apart(struct lks_deciding *d, struct lks_backing other, struct lks_str what)
{
    const struct lks_event *e = d->event;
    struct lks_backing own = lks_decision_backing(d);
    struct lks_str who = lks_backing_who(own, other);
    struct lks_str credential = e->credential.len > 0 ? e->credential : LKS_STR("it");
    if (!lks_backing_shared(own, other))
        return true;
    if (who.len == 0)
        lks_decision_refuse(d, LKS_E_REFUSED,
                            "%" LKS_STR_FMT " cannot %" LKS_STR_FMT ": who minted %" LKS_STR_FMT
                            " is not known, as it is older than the record of minters; have "
                            "another one made",
                            LKS_STR_ARG(e->by), LKS_STR_ARG(what), LKS_STR_ARG(credential));
    else
        lks_decision_refuse(d, LKS_E_REFUSED,
                            "%" LKS_STR_FMT " cannot %" LKS_STR_FMT " by %" LKS_STR_FMT
                            ": %" LKS_STR_FMT " is the person behind both; use a credential that "
                            "%" LKS_STR_FMT " did not mint ('lockstep access ls' shows minters)",
                            LKS_STR_ARG(e->by), LKS_STR_ARG(what), LKS_STR_ARG(credential),
                            LKS_STR_ARG(who), LKS_STR_ARG(who));
    return false;
}
