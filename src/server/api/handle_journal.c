#include "core/rows/registry.h"
#include "core/state/state.h"
#include "engine/select.h"
#include "server/api/handle.h"
#include "server/auth/authz.h"
#include "server/auth/lookup.h"
#include "server/auth/reads.h"
#include "server/base/daemon.h"

static void problem_at(struct lks_call *call, const char *key, const struct lks_err *err)
{
    lks_call_problem(call, LKS_E_INVALID, "query: %s: %s", key, err->msg);
}

/* A host list of the query into call->hosts; absent: none. The fleet has or had each of them. */
static bool read_nodes(const struct lks_authz *authz, struct lks_call *call, const char *key,
                       struct lks_str text)
{
    struct lks_err err = {0};
    size_t count = 0;
    enum lks_code code = lks_hostlist_count(text, &count, &err);
    if (code == LKS_OK && count > LKS_AUTHZ_HOSTS_MAX)
        code = lks_fail(&err, LKS_E_INVALID, "the list names %zu, and up to %d can be asked for",
                        count, LKS_AUTHZ_HOSTS_MAX);
    if (code == LKS_OK)
        code = lks_hostlist_parse(text, &call->asked.arena, &call->hosts, &err);
    if (code != LKS_OK) {
        problem_at(call, key, &err);
        return false;
    }
    for (size_t i = 0; i < call->hosts.count; i++) {
        if (!lks_lookup_ever(authz, call, call->hosts.names[i]))
            return false;
    }
    return true;
}

void lks_handle_journal(struct lks_authz *authz, struct lks_call *call)
{
    const struct lks_query_journal *ask = LKS_ASKED(call, lks_query_journal);
    struct lks_select *select = &call->select;
    struct lks_err err = {0};
    if (!read_nodes(authz, call, "node", ask->node))
        return;
    if (ask->kind.len > 0 && lks_select_kind(ask->kind, &select->kind, &err) != LKS_OK) {
        problem_at(call, "kind", &err);
        return;
    }
    select->since = ask->since;
    select->until = ask->until;
    select->by = ask->by;
    select->nodes = call->hosts;
    call->from = ask->from;
    call->work = lks_read_journal;
}

static bool deny(struct lks_call *call)
{
    lks_call_problem(call, LKS_E_DENIED, "%s may not read there", call->identity);
    return false;
}

/* Where a node was then is not where it is now: callers see what they may see now. One that left
 * the fleet is nowhere, so it is for those who may see everything. */
static bool may_past(const struct lks_authz *authz, struct lks_call *call, struct lks_str pool)
{
    if (lks_authz_may(authz, call, LKS_MAY_READ, (struct lks_scope){0}))
        return true;
    if (pool.len > 0 && lks_authz_may(authz, call, LKS_MAY_READ, (struct lks_scope){.pool = pool}))
        return true;
    if (pool.len > 0) {
        lks_lookup_no_pool(authz, call, pool);
        return false;
    }
    for (size_t i = 0; i < call->hosts.count; i++)
        if (lks_state_node(authz->state, call->hosts.names[i]) == LKS_NO_NODE)
            return deny(call);
    return lks_authz_may_hosts(authz, call, LKS_MAY_READ) || deny(call);
}

void lks_handle_past(struct lks_authz *authz, struct lks_call *call)
{
    const struct lks_query_past *ask = LKS_ASKED(call, lks_query_past);
    uint32_t pool = 0; /* one that is no longer there had nodes then */
    if (!read_nodes(authz, call, "nodes", ask->nodes))
        return;
    if ((call->hosts.count > 0) == (ask->pool.len > 0))
        lks_call_problem(call, LKS_E_INVALID, "query: name `nodes` or a `pool`, and not both");
    else if (ask->pool.len > 0 && !lks_intern_find(&authz->state->pool_names, ask->pool, &pool))
        lks_lookup_no_pool(authz, call, ask->pool);
    else if (may_past(authz, call, ask->pool))
        call->work = lks_read_past;
}

void lks_handle_head(struct lks_authz *authz, struct lks_call *call)
{
    const struct lks_head *head = lks_engine_head(authz->engine);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf line = LKS_BUF(LKS_HEAD_TEXT_MAX);
    call->needs = 0; /* a head is told only when it is durable */
    struct lks_json_writer w = lks_call_json(call);
    if (head->seq != 0) {
        lks_row_head_text(head, &line);
        lks_json_text(&w, "head", lks_buf_view(&line));
    }
    lks_json_cstr(&w, "key", lks_daemon_secrets(call->daemon)->journal_public);
    lks_json_end(&w, '}');
}

/* A reader that resumes where there is nothing to resume from would miss rows and not know. */
void lks_handle_events(struct lks_authz *authz, struct lks_call *call)
{
    unsigned long long now = lks_engine_seq(authz->engine) + 1, first = authz->first_row;
    unsigned long long from = LKS_ASKED(call, lks_query_events)->from;
    if (from == LKS_CALL_NO_EVENT) /* the query does not say */
        from = call->last_event;
    if (from == LKS_CALL_NO_EVENT)
        lks_call_problem(call, LKS_E_INVALID, "Last-Event-ID has to be the number of a row");
    else if (from > now)
        lks_call_problem(
            call, LKS_E_REFUSED,
            "row %llu is beyond the journal's end; the next one is %llu, and a journal "
            "that was restored is shorter: start again from there",
            from, now);
    else if (from != 0 && from < first)
        lks_call_problem(call, LKS_E_REFUSED,
                         "rows before %llu are not kept any more; start with ?from=%llu", first,
                         first);
    else
        call->stream = true;
    call->from = from == 0 ? now : from;
}

void lks_handle_backup(struct lks_authz *authz, struct lks_call *call)
{
    (void)authz;
    call->work = lks_read_backup;
}

void lks_handle_state(struct lks_authz *authz, struct lks_call *call)
{
    (void)authz;
    call->work = lks_read_state;
}

static bool has_manifest(const struct lks_state *s, struct lks_str digest)
{
    if (lks_str_eq(lks_state_text(s, s->fleet_manifest), digest))
        return true;
    for (uint32_t i = 0; i < s->stack_count; i++)
        if (lks_str_eq(lks_state_text(s, s->stacks[i].manifest), digest))
            return true;
    for (uint32_t i = 0; i < s->bundle_count; i++)
        if (lks_str_eq(lks_state_text(s, s->bundles[i].manifest), digest))
            return true;
    return false;
}

void lks_handle_manifest(struct lks_authz *authz, struct lks_call *call)
{
    struct lks_str digest = call->named;
    if (!lks_digest_valid(digest) || !has_manifest(authz->state, digest)) {
        lks_call_problem(call, LKS_E_NOT_FOUND,
                         "neither the fleet nor a stack or bundle has a manifest of this digest");
        return;
    }
    lks_read_from_store(call, digest);
}
