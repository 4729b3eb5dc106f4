/*
 * Whether a person may do something: the rules of authz_permit.c, held against a call that is not
 * made. The same function decides both, so yes and no are those of the act. A caller who does not
 * see the whole fleet gets the same answer for a thing at a place that the caller does not see and
 * for one that is not there.
 */
#include "core/rows/change.h"
#include "core/rows/command.h"
#include "core/rows/credential.h"
#include "core/rows/flash.h"
#include "core/rows/pool.h"
#include "core/state/state.h"
#include "core/view/view.h"
#include "server/auth/authz_parts.h"
#include "server/auth/lookup.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The credential of another person who is asked about: an id that no token has. */
#define ANY_TOKEN "token:"

/* A call that is held against the rules and goes nowhere. */
struct probe {
    struct lks_call *call;
    struct lks_route route; /* the act's, which costs the person nothing */
    struct lks_ask_where where;
    const struct lks_authz_act *act;
};

static void probe_fini(struct probe *p)
{
    lks_call_free(p->call);
    p->call = NULL;
}

/* Another person is asked about without a login; those are tried one by one. */
static void name_other(const struct lks_authz *authz, struct lks_str identity,
                       struct lks_call *call)
{
    struct lks_credential shown = {.kind = LKS_CREDENTIAL_UNIX};
    struct lks_str kind, rest;
    struct lks_auth who;
    uint64_t uid = 0;
    (void)snprintf(call->identity, sizeof(call->identity), "%" LKS_STR_FMT, LKS_STR_ARG(identity));
    (void)snprintf(call->shown, sizeof(call->shown), ANY_TOKEN);
    if (!lks_str_cut(identity, ':', &kind, &rest) || !lks_str_is(kind, "unix") ||
        !lks_str_number(rest, UINT32_MAX, &uid))
        return;
    shown.uid = (uid_t)uid;
    if (lks_auth_person(authz->state, &shown, geteuid(), authz->now.wall, &who))
        call->root = who.root;
}

static enum lks_code probe_init(const struct lks_authz *authz, const struct lks_call *asker,
                                const struct lks_authz_act *act, struct probe *p,
                                struct lks_err *err)
{
    *p = (struct probe){.route = *act->route, .act = act, .call = lks_call_new(asker->daemon)};
    if (p->call == NULL)
        return lks_fail_nomem(err);
    p->route.flags &= ~(unsigned)LKS_ROUTE_OFTEN;
    p->call->route = &p->route;
    p->call->ask = &p->where;
    p->call->named = act->name;
    if (act->identity.len > 0) {
        name_other(authz, act->identity, p->call);
    } else {
        memcpy(p->call->identity, asker->identity, sizeof(asker->identity));
        memcpy(p->call->shown, asker->shown, sizeof(asker->shown));
        p->call->root = asker->root;
    }
    if (lks_docs_init(&p->call->asked, "query", err) != LKS_OK)
        return err->code;
    return lks_docs_init(&p->call->docs, "body", err);
}

/* Places ------------------------------------------------------------------------------------ */

static bool is_at(const struct lks_state *s, const struct lks_authz_act *act, uint32_t node)
{
    struct lks_scope at = lks_access_scope_of_node(s, node);
    return s->nodes[node].placed && (act->pool.len == 0 || lks_str_eq(at.pool, act->pool)) &&
           (act->site.len == 0 || lks_str_eq(at.site, act->site));
}

static bool may_somewhere(const struct lks_authz *authz, const struct lks_call *call)
{
    return call->root ||
           lks_access_somewhere_by(authz->state, lks_str_from(call->identity),
                                   lks_str_from(call->shown), call->route->permission);
}

/* As for a node that is not there, only a person with the permission at some place learns it. */
static bool without_nodes(const struct lks_authz *authz, struct probe *p)
{
    const struct lks_authz_act *act = p->act;
    uint32_t pool = lks_state_pool(authz->state, act->pool);
    bool known = pool < authz->state->pool_count && authz->state->pools[pool].known;
    if (known && act->site.len == 0)
        return lks_authz_may(authz, p->call, p->route.permission,
                             (struct lks_scope){.pool = act->pool});
    if (may_somewhere(authz, p->call) && lks_authz_sight(authz, p->call).all)
        lks_call_problem(p->call, LKS_E_NOT_FOUND,
                         "there is no %s '%" LKS_STR_FMT "', or it has no nodes%s",
                         act->pool.len > 0 && !known ? "pool" : "site",
                         LKS_STR_ARG(act->pool.len > 0 && !known ? act->pool : act->site),
                         known ? " of that pool" : "");
    return false;
}

/* Whether the permission holds at every node of the place. */
static bool may_at_nodes(const struct lks_authz *authz, struct probe *p)
{
    const struct lks_state *s = authz->state;
    uint32_t count = 0;
    if (p->act->pool.len == 0 && p->act->site.len == 0)
        return lks_authz_may(authz, p->call, p->route.permission, (struct lks_scope){0});
    for (uint32_t i = 0; i < s->node_count; i++) {
        if (!is_at(s, p->act, i))
            continue;
        count++;
        if (!lks_authz_may(authz, p->call, p->route.permission, lks_access_scope_of_node(s, i)))
            return false;
    }
    return count > 0 || without_nodes(authz, p);
}

/* A change of a site's nodes names them. */
static bool may_change_nodes(struct lks_authz *authz, struct probe *p)
{
    const struct lks_state *s = authz->state;
    struct lks_buf *names = &p->call->bytes;
    struct lks_err err = {0};
    for (uint32_t i = 0; i < s->node_count; i++) {
        if (!is_at(s, p->act, i))
            continue;
        lks_buf_add(names, names->len > 0 ? LKS_STR(",") : LKS_STR(""));
        lks_buf_add(names, lks_state_name(s, i));
    }
    if (names->len == 0)
        return without_nodes(authz, p);
    if (lks_buf_check(names, &err) != LKS_OK) {
        lks_call_problem_err(p->call, &err);
        return false;
    }
    p->where.nodes = lks_buf_view(names);
    return lks_authz_permits(authz, p->call);
}

/* What the path or the body of the act would name. */
static bool may_named(struct lks_authz *authz, struct probe *p)
{
    enum lks_route_scope scope = p->route.scope;
    struct lks_str name = p->act->name;
    if (scope == LKS_SCOPE_NODE)
        p->where.node = name;
    else if (scope == LKS_SCOPE_ASKED || scope == LKS_SCOPE_WISH)
        p->where.nodes = name;
    else if (scope == LKS_SCOPE_POOL)
        p->where.pool = name;
    return lks_authz_permits(authz, p->call);
}

/* Scopes that are places themselves are decided as they are; things that a name would find are
 * decided by the nodes of the place. */
static bool may_act(struct lks_authz *authz, struct probe *p)
{
    const struct lks_authz_act *act = p->act;
    enum lks_route_scope scope = p->route.scope;
    bool place = act->pool.len > 0 || act->site.len > 0;
    if (act->name.len > 0)
        return may_named(authz, p);
    if (scope == LKS_SCOPE_WISH && act->site.len > 0)
        return may_change_nodes(authz, p);
    if (scope == LKS_SCOPE_POOL || scope == LKS_SCOPE_WISH)
        p->where.pool = act->pool;
    bool as_it_is = scope == LKS_SCOPE_NONE || scope == LKS_SCOPE_SELF ||
                    scope == LKS_SCOPE_EVERYWHERE || scope == LKS_SCOPE_POOL ||
                    (scope == LKS_SCOPE_SOMEWHERE && !place) || (scope == LKS_SCOPE_WISH && place);
    return as_it_is ? lks_authz_permits(authz, p->call) : may_at_nodes(authz, p);
}

/* Persons ----------------------------------------------------------------------------------- */

/* The same by each login of another person that is not over. */
static bool may_by_login(struct lks_authz *authz, struct probe *p)
{
    struct lks_sight sight =
        lks_access_sight(authz->state, lks_str_from(p->call->identity), p->route.permission);
    for (uint32_t i = 0; i < sight.login_count; i++) {
        const struct lks_api_token *t = &sight.logins[i];
        if (t->identity != sight.identity || t->issuer == 0 || t->expires <= authz->now.wall)
            continue;
        p->call->status = 0;
        p->call->hosts = (struct lks_hostlist){0};
        lks_buf_truncate(&p->call->bytes, 0);
        (void)snprintf(p->call->shown, sizeof(p->call->shown), "token:%" LKS_STR_FMT,
                       LKS_STR_ARG(lks_state_text(authz->state, t->id)));
        if (may_act(authz, p))
            return true;
    }
    return false;
}

static bool has_grants(enum lks_permission permission)
{
    return permission > LKS_MAY_KNOW && permission != LKS_MAY_REPORT;
}

/* No answer of the probe, or 403: it is a plain yes or no. */
static bool may_person(struct lks_authz *authz, struct probe *p)
{
    bool yes = may_act(authz, p);
    if (yes || p->act->identity.len == 0 || !has_grants(p->route.permission) ||
        (p->call->status != 0 && p->call->status != 403))
        return yes;
    return may_by_login(authz, p);
}

/* Votes -------------------------------------------------------------------------------------- */

/* Acts for which the person has to be another one than those behind the thing. */
static const struct vote {
    const char *act;
    struct lks_event event;
} votes[] = {
    {"approveChange", {.kind = LKS_EVENT_VOTE, .vote = {.yes = true}}},
    {"rejectChange", {.kind = LKS_EVENT_VOTE}},
    {"reviewChange", {.kind = LKS_EVENT_REVIEW}},
    {"approveDeviation", {.kind = LKS_EVENT_DEVIATION_AGREE}},
    {"approveReset", {.kind = LKS_EVENT_RESET, .reset = LKS_RESET_APPROVED}},
    {"reviewReset", {.kind = LKS_EVENT_RESET, .reset = LKS_RESET_REVIEWED}},
};

static bool has_reset(const struct lks_state *s, struct lks_str name)
{
    uint32_t node = lks_state_node(s, name);
    return node != LKS_NO_NODE && lks_state_reset(s, node) != NULL;
}

/* False: the act is none of them, or a reset that was not asked for. */
static bool vote_event(const struct lks_state *s, const struct probe *p, struct lks_event *event)
{
    bool any = strcmp(p->call->shown, ANY_TOKEN) == 0;
    for (size_t i = 0; p->act->name.len > 0 && i < LKS_COUNT(votes); i++) {
        if (strcmp(votes[i].act, p->route.id) != 0)
            continue;
        if (votes[i].event.kind == LKS_EVENT_RESET && !has_reset(s, p->act->name))
            return false;
        *event = votes[i].event;
        lks_authz_sign(p->call, event);
        event->credential = any ? LKS_STR("") : event->credential;
        event->reason = LKS_STR("access can-i");
        event->name = p->act->name;
        if (event->kind == LKS_EVENT_VOTE)
            event->vote.change = lks_authz_id(p->call);
        else if (event->kind == LKS_EVENT_REVIEW)
            event->review = lks_authz_id(p->call);
        else if (event->kind == LKS_EVENT_DEVIATION_AGREE)
            event->deviation = lks_authz_id(p->call);
        return true;
    }
    return false;
}

/* The vote is decided as if it were cast, and nothing of it is kept. True: `why` says what refuses
 * it. */
static bool is_refused(const struct lks_authz *authz, const struct probe *p, struct lks_err *why)
{
    LKS_CLEANUP(lks_decision_fini) struct lks_decision d = {0};
    struct lks_event event;
    if (!vote_event(authz->state, p, &event))
        return false;
    lks_decision_init(&d);
    if (lks_engine_try(authz->engine, authz->now, &event, &d, why) == LKS_OK)
        *why = d.refused;
    return why->code != LKS_OK;
}

/* The answer -------------------------------------------------------------------------------- */

/* False: the nodes have several pools, or the asker does not see this one. */
static bool add_pool(const struct lks_authz_view *v, uint32_t node, uint32_t *pool)
{
    const struct lks_state *s = v->state;
    bool same = *pool == UINT32_MAX || *pool == s->nodes[node].pool;
    *pool = s->nodes[node].pool;
    return same && *pool < s->pool_count && lks_authz_sees(v, node);
}

/* The pool of all nodes of a host list or of a change; UINT32_MAX: they have several, or none, or
 * the asker does not see all of them. */
static uint32_t pool_of_hosts(const struct lks_authz_view *v, struct probe *p)
{
    struct lks_hostlist hosts = {0};
    struct lks_err err = {0};
    uint32_t pool = UINT32_MAX;
    size_t count = 0;
    if (lks_hostlist_count(p->act->name, &count, &err) != LKS_OK || count > LKS_AUTHZ_HOSTS_MAX ||
        lks_hostlist_parse(p->act->name, &p->call->asked.arena, &hosts, &err) != LKS_OK)
        return UINT32_MAX;
    for (size_t i = 0; i < hosts.count; i++) {
        uint32_t node = lks_state_node(v->state, hosts.names[i]);
        if (node == LKS_NO_NODE || !add_pool(v, node, &pool))
            return UINT32_MAX;
    }
    return pool;
}

static uint32_t pool_of_change(const struct lks_authz_view *v, uint64_t id)
{
    const struct lks_state *s = v->state;
    const struct lks_state_change *change = lks_state_change(s, id);
    uint32_t pool = UINT32_MAX;
    for (uint32_t i = 0; change != NULL && i < change->member_count; i++) {
        uint32_t node = change->members[i].node;
        if (s->nodes[node].placed && !add_pool(v, node, &pool))
            return UINT32_MAX;
    }
    return pool;
}

static uint32_t pool_of_node(const struct lks_authz_view *v, const uint32_t *node)
{
    uint32_t pool = UINT32_MAX;
    return node != NULL && add_pool(v, *node, &pool) ? pool : UINT32_MAX;
}

static uint32_t pool_of_name(const struct lks_authz_view *v, struct probe *p)
{
    enum lks_route_scope scope = p->route.scope;
    uint64_t id = lks_authz_id(p->call);
    const struct lks_state_command *command = lks_state_command(v->state, id);
    const struct lks_state_flash *flash = lks_state_flash(v->state, id);
    if (scope == LKS_SCOPE_NODES || scope == LKS_SCOPE_NODE || scope == LKS_SCOPE_ASKED ||
        scope == LKS_SCOPE_WISH)
        return pool_of_hosts(v, p);
    if (scope == LKS_SCOPE_CHANGE || scope == LKS_SCOPE_CHANGE_PART)
        return pool_of_change(v, id);
    if (scope == LKS_SCOPE_COMMAND)
        return pool_of_node(v, command != NULL ? &command->node : NULL);
    return scope == LKS_SCOPE_FLASH ? pool_of_node(v, flash != NULL ? &flash->node : NULL)
                                    : UINT32_MAX;
}

/* Where a role has to be given for the act; empty: for the fleet, or the place is not known. */
static struct lks_scope needed_at(const struct lks_authz_view *v, struct probe *p)
{
    const struct lks_state *s = v->state;
    struct lks_scope at = {.pool = p->act->pool, .site = p->act->site};
    if (p->route.scope == LKS_SCOPE_EVERYWHERE)
        return (struct lks_scope){0};
    if (p->act->name.len == 0)
        return at;
    if (p->route.scope == LKS_SCOPE_POOL)
        return (struct lks_scope){.pool = p->act->name};
    uint32_t pool = pool_of_name(v, p);
    at.pool = pool < s->pool_count ? lks_state_text(s, s->pools[pool].name) : LKS_STR("");
    return at;
}

static uint32_t put_grants(struct lks_json_writer *w, const struct lks_authz *authz,
                           const struct probe *p, const struct lks_scope *at)
{
    const struct lks_state *s = authz->state;
    struct lks_sight sight = lks_access_sight_by(s, lks_str_from(p->call->identity),
                                                 lks_str_from(p->call->shown), p->route.permission);
    struct lks_access_walk walk = {0};
    struct lks_access_grant grant;
    uint32_t count = 0;
    for (; lks_access_grant_next(s, &sight, at, &walk, &grant); count++) {
        lks_json_begin(w, NULL, '{');
        lks_json_cstr(w, "role", lks_role_words[grant.role]);
        lks_view_text(w, "site", lks_state_text(s, grant.site));
        lks_view_text(w, "pool", lks_state_text(s, grant.pool));
        if (grant.login != NULL) {
            lks_view_text(w, "login", lks_state_text(s, grant.login->id));
            lks_view_time(w, "expires", grant.login->expires);
        }
        lks_json_end(w, '}');
    }
    return count;
}

/* The role that people get for it; LKS_ROLE_AGENT: none gives it. */
static enum lks_role role_for(enum lks_permission permission)
{
    enum lks_role role = LKS_ROLE_VIEWER;
    while (role < LKS_ROLE_AGENT && !lks_access_role_may(role, permission))
        role++;
    return role;
}

static void put_command(struct lks_json_writer *w, const struct probe *p, struct lks_scope at)
{
    enum lks_role role = role_for(p->route.permission);
    bool open = p->act->name.len > 0 && at.pool.len == 0 && p->route.scope != LKS_SCOPE_EVERYWHERE;
    char command[LKS_CALL_IDENTITY_SIZE * 3];
    if (role == LKS_ROLE_AGENT)
        return;
    (void)snprintf(command, sizeof(command),
                   "lockstep access grant %s %s%s%" LKS_STR_FMT "%s%" LKS_STR_FMT "%s",
                   p->call->identity, lks_role_words[role], at.site.len > 0 ? " --site " : "",
                   LKS_STR_ARG(at.site), at.pool.len > 0 ? " --pool " : "", LKS_STR_ARG(at.pool),
                   open ? " [--pool NAME]" : "");
    lks_json_cstr(w, "role", lks_role_words[role]);
    lks_json_cstr(w, "command", command);
}

/* A person without a role or a credential may be a slip in a name. Root on the socket, users of the
 * controller's machine and nodes have none of these. */
static void put_unknown(struct lks_json_writer *w, const struct lks_authz *authz,
                        const struct probe *p)
{
    struct lks_str identity = p->act->identity;
    struct lks_str nearest;
    if (identity.len == 0 || lks_str_starts(identity, "unix:") ||
        lks_str_starts(identity, "node:") || lks_lookup_person(authz->state, identity, &nearest))
        return;
    lks_json_bool(w, "unknown", true);
    lks_json_some(w, "nearest", nearest);
}

static void answer(const struct lks_authz *authz, struct lks_call *call, struct probe *p, bool yes,
                   const struct lks_err *why)
{
    const struct lks_authz_view asker = lks_authz_sight(authz, call);
    struct lks_scope at = needed_at(&asker, p);
    struct lks_json_writer w = lks_call_json(call);
    lks_json_cstr(&w, "act", p->route.id);
    lks_json_bool(&w, "yes", yes);
    lks_json_cstr(&w, "identity", p->call->identity);
    lks_json_cstr(&w, "permission", lks_permission_words[p->route.permission]);
    lks_json_cstr(&w, "where", lks_authz_where(p->route.scope));
    lks_json_bool(&w, "root", p->call->root);
    lks_json_begin(&w, "grants", '[');
    if (has_grants(p->route.permission) && put_grants(&w, authz, p, &at) == 0)
        (void)put_grants(&w, authz, p, NULL);
    lks_json_end(&w, ']');
    if (why->code != LKS_OK)
        lks_json_cstr(&w, "refused", why->msg);
    else if (!yes)
        put_command(&w, p, at);
    put_unknown(&w, authz, p);
    lks_json_end(&w, '}');
}

/* What is not there, for an asker who does not see the whole fleet and asks about a person who
 * does: no, as for what is at a place that the asker does not see. */
static bool is_hidden(const struct lks_authz *authz, const struct lks_call *asker,
                      const struct probe *p)
{
    return p->call->status == 404 && !lks_authz_sight(authz, asker).all;
}

/* An asker who sees the whole fleet learns that a pool is not there, also in a question about
 * another person; that is no "no". False: it is answered. */
static bool check_place(const struct lks_authz *authz, struct lks_call *call,
                        const struct lks_authz_act *act)
{
    const struct lks_state *s = authz->state;
    uint32_t pool = lks_state_pool(s, act->pool);
    bool known = pool < s->pool_count && s->pools[pool].known;
    if (act->pool.len == 0 || known || !lks_authz_sight(authz, call).all)
        return true;
    lks_lookup_no_pool(authz, call, act->pool);
    return false;
}

void lks_authz_can(struct lks_authz *authz, struct lks_call *call, const struct lks_authz_act *act)
{
    LKS_CLEANUP(probe_fini) struct probe p = {0};
    struct lks_err err = {0};
    if (!check_place(authz, call, act))
        return;
    if (probe_init(authz, call, act, &p, &err) != LKS_OK) {
        lks_call_problem_err(call, &err);
        return;
    }
    bool may = may_person(authz, &p), yes = may && !is_refused(authz, &p, &err);
    if (may || p.call->status == 0 || p.call->status == 403 || is_hidden(authz, call, &p)) {
        answer(authz, call, &p, yes, &err);
        return;
    }
    call->status = p.call->status; /* there is no such thing, or the list cannot be read */
    call->type = p.call->type;
    lks_buf_truncate(&call->out, 0);
    lks_buf_add(&call->out, lks_buf_view(&p.call->out));
}
