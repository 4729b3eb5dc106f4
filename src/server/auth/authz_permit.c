/*
 * Whether a caller may do what a route asks for. The role and the permission are in the route's row
 * (server/api/routes.c) and in core/state/access.h; where the permission has to hold is in the
 * table below, one row a scope.
 */
#include "core/actions/sched_truth.h"
#include "core/rows/alarm.h"
#include "core/rows/change.h"
#include "core/rows/command.h"
#include "core/rows/deviation.h"
#include "core/rows/flash.h"
#include "core/rows/pool.h"
#include "core/state/state.h"
#include "server/auth/authz_parts.h"
#include "server/auth/lookup.h"

#include <string.h>

/* A question whether a job may start counts for more the longer it is: it is read and answered
 * where everything is decided. */
enum { QUESTION_NODES = 4096, HINT_MAX = 1024 };

bool lks_authz_may(const struct lks_authz *authz, const struct lks_call *call,
                   enum lks_permission permission, struct lks_scope scope)
{
    return call->root || lks_access_may_by(authz->state, lks_str_from(call->identity),
                                           lks_str_from(call->shown), permission, scope);
}

static struct lks_sight sight_of(const struct lks_authz *authz, const struct lks_call *call,
                                 enum lks_permission permission)
{
    return lks_access_sight_by(authz->state, lks_str_from(call->identity),
                               lks_str_from(call->shown), permission);
}

struct lks_authz_view lks_authz_sight(const struct lks_authz *authz, const struct lks_call *call)
{
    struct lks_authz_view v = {.state = authz->state};
    v.sight = sight_of(authz, call, LKS_MAY_READ);
    v.all = lks_authz_may(authz, call, LKS_MAY_READ, (struct lks_scope){0});
    return v;
}

bool lks_authz_sees(const struct lks_authz_view *v, uint32_t node)
{
    return v->all || lks_access_sees(v->state, &v->sight, node);
}

static bool may_somewhere(const struct lks_authz *authz, const struct lks_call *call)
{
    return call->root ||
           lks_access_somewhere_by(authz->state, lks_str_from(call->identity),
                                   lks_str_from(call->shown), call->route->permission);
}

static bool may_everywhere(const struct lks_authz *authz, const struct lks_call *call)
{
    return lks_authz_may(authz, call, call->route->permission, (struct lks_scope){0});
}

static bool may_at(const struct lks_authz *authz, const struct lks_call *call, uint32_t node)
{
    return lks_authz_may(authz, call, call->route->permission,
                         lks_access_scope_of_node(authz->state, node));
}

/* What the body names; nothing where it could not be read, which is answered next. */
static struct lks_ask_where where_of(const struct lks_call *call)
{
    static const struct lks_ask_where nothing = {LKS_STR_C(""), LKS_STR_C(""), LKS_STR_C("")};
    const struct lks_ask_where *where = call->ask;
    return where != NULL && call->failed.code == LKS_OK ? *where : nothing;
}

/* Whether a role for one pool can be enough for the call: not where the whole fleet is concerned.
 */
static bool pool_is_enough(const struct lks_call *call)
{
    enum lks_route_scope scope = call->route->scope;
    return scope != LKS_SCOPE_EVERYWHERE &&
           (scope != LKS_SCOPE_POOL || call->ask == NULL || where_of(call).pool.len > 0);
}

/* The refusal names the role that is missing, if a person can have it. */
static bool deny_hinting(struct lks_call *call, const char *hint)
{
    enum lks_permission wanted = call->route->permission;
    enum lks_role role = LKS_ROLE_VIEWER;
    while (role < LKS_ROLE_AGENT && !lks_access_role_may(role, wanted))
        role++;
    if (role == LKS_ROLE_AGENT)
        lks_call_problem(call, LKS_E_DENIED, "%s may not %s here%s", call->identity,
                         lks_permission_words[wanted], hint);
    else
        lks_call_problem(call, LKS_E_DENIED,
                         "%s may not %s here: that needs the role %s; an admin can run: lockstep "
                         "access grant %s %s%s%s",
                         call->identity, lks_permission_words[wanted], lks_role_words[role],
                         call->identity, lks_role_words[role],
                         pool_is_enough(call) ? " [--pool NAME]" : "", hint);
    return false;
}

static bool deny(struct lks_call *call)
{
    return deny_hinting(call, "");
}

/* Whether the caller learns that a thing is not there: with the permission for the whole fleet, or
 * at some place and as a reader of all. Everybody else is refused as for a thing at a place that
 * they do not see. */
static bool learns(const struct lks_authz *authz, const struct lks_call *call)
{
    return may_everywhere(authz, call) ||
           (may_somewhere(authz, call) && lks_authz_sight(authz, call).all);
}

static bool missing(const struct lks_authz *authz, struct lks_call *call, struct lks_str name,
                    void (*answer)(const struct lks_authz *authz, struct lks_call *call,
                                   struct lks_str name))
{
    if (!learns(authz, call))
        return deny(call);
    answer(authz, call, name);
    return false;
}

/* Whether the permission holds at the node of this name. To callers who do not see the node, one
 * that is not there is the same; the hint is of nodes that they see. */
static bool permit_named_node(const struct lks_authz *authz, struct lks_call *call,
                              struct lks_str name)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf hint = LKS_BUF(HINT_MAX);
    uint32_t node = lks_state_node(authz->state, name);
    if (node != LKS_NO_NODE && may_at(authz, call, node))
        return true;
    if (node == LKS_NO_NODE && learns(authz, call)) {
        lks_lookup_no_node(authz, call, name);
        return false;
    }
    const struct lks_authz_view sight = lks_authz_sight(authz, call);
    if (may_somewhere(authz, call) && (node == LKS_NO_NODE || !lks_authz_sees(&sight, node)))
        lks_lookup_maybe_node(call, name, &hint);
    return deny_hinting(call, hint.len > 0 && hint.failed == LKS_OK ? hint.ptr : "");
}

/* ---- Things that {id} names: where each is, and whether the permission holds there. ---- */

uint64_t lks_authz_id(const struct lks_call *call)
{
    uint64_t id = UINT64_MAX;
    return lks_str_number(call->named, UINT64_MAX, &id) ? id : UINT64_MAX;
}

static const void *find_alarm(const struct lks_authz *authz, const struct lks_call *call)
{
    return lks_state_alarm(authz->state, lks_authz_id(call));
}

/* Of a command and an update the node is enough. */
static const void *find_command(const struct lks_authz *authz, const struct lks_call *call)
{
    const struct lks_state_command *c = lks_state_command(authz->state, lks_authz_id(call));
    return c != NULL ? &c->node : NULL;
}

static const void *find_flash(const struct lks_authz *authz, const struct lks_call *call)
{
    const struct lks_state_flash *f = lks_state_flash(authz->state, lks_authz_id(call));
    return f != NULL ? &f->node : NULL;
}

static const void *find_deviation(const struct lks_authz *authz, const struct lks_call *call)
{
    return lks_state_deviation(authz->state, lks_authz_id(call));
}

static const void *find_change(const struct lks_authz *authz, const struct lks_call *call)
{
    return lks_state_change(authz->state, lks_authz_id(call));
}

/* A change touches pools: it takes the permission in all of them. Nodes that left the fleet are
 * nowhere. */
bool lks_authz_may_change(const struct lks_authz *authz, const struct lks_call *call,
                          const struct lks_state_change *c)
{
    const struct lks_state *s = authz->state;
    if (may_everywhere(authz, call))
        return true;
    struct lks_sight sight = sight_of(authz, call, call->route->permission);
    for (uint32_t i = 0; i < c->member_count; i++) {
        uint32_t node = c->members[i].node;
        if (s->nodes[node].placed && !lks_access_sees(s, &sight, node))
            return false;
    }
    return may_somewhere(authz, call);
}

static bool at_node(const struct lks_authz *authz, const struct lks_call *call, const void *node)
{
    return may_at(authz, call, *(const uint32_t *)node);
}

static bool at_deviation(const struct lks_authz *authz, const struct lks_call *call, const void *of)
{
    const struct lks_deviation *deviation = of;
    for (uint32_t i = 0; i < deviation->count; i++) {
        if (!may_at(authz, call, deviation->nodes[i]))
            return false;
    }
    return may_somewhere(authz, call);
}

static bool at_deviation_part(const struct lks_authz *authz, const struct lks_call *call,
                              const struct lks_deviation *deviation)
{
    if (may_everywhere(authz, call))
        return true;
    struct lks_sight sight = sight_of(authz, call, call->route->permission);
    for (uint32_t i = 0; i < deviation->count; i++) {
        if (lks_access_sees(authz->state, &sight, deviation->nodes[i]))
            return true;
    }
    return false;
}

static bool at_change(const struct lks_authz *authz, const struct lks_call *call,
                      const void *change)
{
    return lks_authz_may_change(authz, call, change);
}

static bool at_part(const struct lks_authz *authz, const struct lks_call *call, const void *of)
{
    const struct lks_state_change *change = of;
    if (may_everywhere(authz, call))
        return true;
    struct lks_sight sight = sight_of(authz, call, call->route->permission);
    for (uint32_t i = 0; i < change->member_count; i++) {
        if (lks_access_sees(authz->state, &sight, change->members[i].node))
            return true;
    }
    return false;
}

/* ---- Alarms: where what their subject names is. ---- */

enum about { ABOUT_FLEET, ABOUT_NODE, ABOUT_POOL, ABOUT_CHANGE, ABOUT_DEVIATION, ABOUT_SITE };

static const enum about about[] = {
    [LKS_ALARM_MASS] = ABOUT_POOL,        [LKS_ALARM_CLOCK] = ABOUT_FLEET,
    [LKS_ALARM_WITNESS] = ABOUT_NODE,     [LKS_ALARM_REPLAY] = ABOUT_NODE,
    [LKS_ALARM_PARTS] = ABOUT_NODE,       [LKS_ALARM_DRIFT] = ABOUT_NODE,
    [LKS_ALARM_PROPOSAL] = ABOUT_POOL,    [LKS_ALARM_DEVIATION] = ABOUT_DEVIATION,
    [LKS_ALARM_FLASH] = ABOUT_NODE,       [LKS_ALARM_CHANGE] = ABOUT_CHANGE, /* or its node */
    [LKS_ALARM_HANDS] = ABOUT_NODE,       [LKS_ALARM_GLASS] = ABOUT_CHANGE,
    [LKS_ALARM_CADENCE] = ABOUT_POOL,     [LKS_ALARM_REVIEW] = ABOUT_CHANGE,
    [LKS_ALARM_LOWERED] = ABOUT_POOL,     [LKS_ALARM_WEDGED] = ABOUT_NODE,
    [LKS_ALARM_BRIDGE] = ABOUT_NODE,      [LKS_ALARM_SCHED] = ABOUT_NODE,
    [LKS_ALARM_UNDRAINED] = ABOUT_NODE,   [LKS_ALARM_VERDICTS] = ABOUT_SITE,
    [LKS_ALARM_UNANSWERED] = ABOUT_FLEET,
};
_Static_assert(LKS_COUNT(about) == LKS_ALARM_COUNT, "each kind of alarm has a row");

/* The number in "change:7", "deviation 7" and "deviation 7, ended"; UINT64_MAX: none. */
static uint64_t number_in(struct lks_str subject, char before)
{
    struct lks_str owner, rest, number;
    uint64_t id = 0;
    if (!lks_str_cut(subject, before, &owner, &rest))
        return UINT64_MAX;
    (void)lks_str_cut(rest, ',', &number, &rest);
    return lks_str_number(number, UINT64_MAX, &id) ? id : UINT64_MAX;
}

static const struct lks_state_change *change_of(const struct lks_state *s,
                                                const struct lks_state_alarm *a)
{
    struct lks_str subject = lks_state_text(s, a->subject);
    return about[a->kind] == ABOUT_CHANGE ? lks_state_change(s, number_in(subject, ':')) : NULL;
}

static const struct lks_deviation *deviation_of(const struct lks_state *s,
                                                const struct lks_state_alarm *a)
{
    struct lks_str subject = lks_state_text(s, a->subject);
    return about[a->kind] == ABOUT_DEVIATION ? lks_state_deviation(s, number_in(subject, ' '))
                                             : NULL;
}

uint32_t lks_authz_alarm_nodes(const struct lks_authz *authz, const struct lks_state_alarm *a)
{
    const struct lks_state_change *change = change_of(authz->state, a);
    const struct lks_deviation *deviation = deviation_of(authz->state, a);
    return change != NULL ? change->member_count : deviation != NULL ? deviation->count : 1;
}

/* An alarm is shown to a caller who may read some of what it is about, as that itself is. Closing
 * it takes the permission for all of that. */
bool lks_authz_may_alarm(const struct lks_authz *authz, const struct lks_call *call,
                         const struct lks_state_alarm *a)
{
    const struct lks_state *s = authz->state;
    struct lks_str subject = lks_state_text(s, a->subject);
    bool reads = call->route->permission == LKS_MAY_READ;
    const struct lks_state_change *change = change_of(s, a);
    const struct lks_deviation *deviation = deviation_of(s, a);
    if (change != NULL)
        return reads ? at_part(authz, call, change) : at_change(authz, call, change);
    if (deviation != NULL)
        return reads ? at_deviation_part(authz, call, deviation)
                     : at_deviation(authz, call, deviation);
    struct lks_scope scope = {.pool = subject};
    uint32_t node = lks_state_node(s, subject);
    if (about[a->kind] == ABOUT_SITE ||
        (a->kind == LKS_ALARM_BRIDGE && lks_sched_truth_alarm_site(subject).len > 0))
        scope = (struct lks_scope){.site = lks_sched_truth_alarm_site(subject)};
    else if (about[a->kind] != ABOUT_POOL)
        scope = node != LKS_NO_NODE ? lks_access_scope_of_node(s, node) : (struct lks_scope){0};
    return lks_authz_may(authz, call, call->route->permission, scope);
}

static bool at_alarm(const struct lks_authz *authz, const struct lks_call *call, const void *alarm)
{
    return lks_authz_may_alarm(authz, call, alarm);
}

/* ---- Places that {name} or the body names. ---- */

#define IS_FIRST(s) _Static_assert(offsetof(struct s, where) == 0, "the places are first")
IS_FIRST(lks_ask_admit);
IS_FIRST(lks_ask_change);
IS_FIRST(lks_ask_deviation);
IS_FIRST(lks_ask_flash);
IS_FIRST(lks_ask_freeze);
IS_FIRST(lks_ask_override);

static bool permit_somewhere(struct lks_authz *authz, struct lks_call *call)
{
    return may_somewhere(authz, call) || deny(call);
}

static bool permit_everywhere(struct lks_authz *authz, struct lks_call *call)
{
    return may_everywhere(authz, call) || deny(call);
}

/* The names of {name}. A long list is not even spelled out: no call takes one, and others wait. */
static enum lks_code read_hosts(const struct lks_authz *authz, struct lks_call *call,
                                struct lks_hostlist *out, struct lks_err *err)
{
    struct lks_str text = call->named;
    unsigned long long most = authz->state->limits.call_nodes;
    size_t count = 0;
    if (lks_hostlist_count(text, &count, err) != LKS_OK)
        return err->code;
    if (count == 0)
        return lks_fail(err, LKS_E_INVALID, "nodes: the list names none");
    if (count > most)
        return lks_fail(err, LKS_E_REFUSED,
                        "these are %zu nodes, and one call may touch %llu (limits.call_nodes); "
                        "more belongs in a change",
                        count, most);
    return lks_hostlist_parse(text, &call->asked.arena, out, err);
}

static bool permit_nodes(struct lks_authz *authz, struct lks_call *call)
{
    struct lks_hostlist hosts = {0};
    struct lks_err err = {0};
    if (!may_somewhere(authz, call))
        return deny(call);
    if (read_hosts(authz, call, &hosts, &err) != LKS_OK) {
        lks_call_problem_err(call, &err);
        return false;
    }
    for (size_t i = 0; i < hosts.count; i++) {
        if (!permit_named_node(authz, call, hosts.names[i]))
            return false;
    }
    return true;
}

static bool permit_node(struct lks_authz *authz, struct lks_call *call)
{
    if (call->failed.code != LKS_OK)
        return permit_somewhere(authz, call); /* the failure is answered next */
    return permit_named_node(authz, call, where_of(call).node);
}

bool lks_authz_may_hosts(const struct lks_authz *authz, const struct lks_call *call,
                         enum lks_permission permission)
{
    const struct lks_state *s = authz->state;
    if (lks_authz_may(authz, call, permission, (struct lks_scope){0}))
        return true;
    struct lks_sight sight = sight_of(authz, call, permission);
    for (size_t i = 0; i < call->hosts.count; i++) {
        uint32_t node = lks_state_node(s, call->hosts.names[i]);
        if (node != LKS_NO_NODE && !lks_access_sees(s, &sight, node))
            return false;
    }
    return lks_access_somewhere_by(s, lks_str_from(call->identity), lks_str_from(call->shown),
                                   permission);
}

/* Each node that is asked for. A scheduler names the nodes of its jobs and is told which of them
 * the fleet does not have, so that a job never starts on one; to other callers who do not see all,
 * such a name is one at a place that they do not see. */
static bool permit_hosts(const struct lks_authz *authz, struct lks_call *call)
{
    bool told = strcmp(call->route->id, "admit") == 0 || learns(authz, call);
    if (!lks_authz_may_hosts(authz, call, call->route->permission))
        return deny(call);
    for (size_t i = 0; !told && i < call->hosts.count; i++) {
        if (lks_state_node(authz->state, call->hosts.names[i]) == LKS_NO_NODE)
            return deny(call);
    }
    return true;
}

static bool permit_asked(struct lks_authz *authz, struct lks_call *call)
{
    struct lks_str text = where_of(call).nodes;
    struct lks_err err = {0};
    size_t count = 0;
    if (!may_somewhere(authz, call))
        return deny(call);
    if (call->failed.code != LKS_OK || call->hosts.count > 0)
        return true; /* the failure is answered next, or the list was checked before prepare() */
    enum lks_code code = lks_hostlist_count(text, &count, &err);
    if (code == LKS_OK && (count == 0 || count > LKS_AUTHZ_HOSTS_MAX))
        code = lks_fail(&err, LKS_E_INVALID, "the list names %zu, and 1 to %d can be asked for",
                        count, LKS_AUTHZ_HOSTS_MAX);
    bool often = (call->route->flags & LKS_ROUTE_OFTEN) != 0;
    if (code == LKS_OK && often &&
        !lks_authz_charge(authz, call, &authz->admits, count / QUESTION_NODES))
        return false;
    if (code == LKS_OK)
        code = lks_hostlist_parse(text, &call->docs.arena, &call->hosts, &err);
    if (code != LKS_OK) {
        lks_call_problem(call, code, "body: nodes: %s", err.msg);
        return false;
    }
    return permit_hosts(authz, call);
}

/* The pool that the body names; UINT32_MAX, and the answer written, where there is none. */
static uint32_t named_pool(const struct lks_authz *authz, struct lks_call *call)
{
    struct lks_str name = where_of(call).pool;
    uint32_t pool = lks_state_pool(authz->state, name);
    if (pool < authz->state->pool_count && authz->state->pools[pool].known)
        return pool;
    (void)missing(authz, call, name, lks_lookup_no_pool);
    return UINT32_MAX;
}

static bool permit_pool(struct lks_authz *authz, struct lks_call *call)
{
    struct lks_scope scope = {.pool = where_of(call).pool};
    if (call->failed.code != LKS_OK)
        return permit_somewhere(authz, call); /* the failure is answered next */
    if (scope.pool.len > 0 && named_pool(authz, call) == UINT32_MAX)
        return false;
    return lks_authz_may(authz, call, call->route->permission, scope) || deny(call);
}

/* The domains of the nodes that are asked for, which change as a whole. `domains` has capacity for
 * all texts. */
static void mark_domains(const struct lks_state *s, const struct lks_call *call, uint32_t pool,
                         struct lks_bitset *domains)
{
    for (size_t i = 0; i < call->hosts.count; i++) {
        uint32_t node = lks_state_node(s, call->hosts.names[i]);
        if (node != LKS_NO_NODE)
            lks_bitset_set(domains, s->nodes[node].domain);
    }
    for (uint32_t i = 0; pool != UINT32_MAX && i < s->node_count; i++) {
        if (s->nodes[i].placed && s->nodes[i].pool == pool)
            lks_bitset_set(domains, s->nodes[i].domain);
    }
    lks_bitset_clear(domains, 0);
}

static bool permit_domains(const struct lks_authz *authz, struct lks_call *call, uint32_t pool)
{
    const struct lks_state *s = authz->state;
    struct lks_sight sight = sight_of(authz, call, call->route->permission);
    LKS_CLEANUP(lks_bitset_fini) struct lks_bitset domains = {0};
    struct lks_err err = {0};
    bool may = true;
    if (may_everywhere(authz, call))
        return true;
    if (lks_bitset_init(&domains, (size_t)lks_intern_count(&s->texts) + 1, &err) != LKS_OK) {
        lks_call_problem_err(call, &err);
        return false;
    }
    mark_domains(s, call, pool, &domains);
    for (uint32_t i = 0; may && i < s->node_count; i++) {
        const struct lks_node *n = &s->nodes[i];
        bool meant = n->placed && (n->pool == pool || lks_bitset_test(&domains, n->domain));
        may = !meant || lks_access_sees(s, &sight, i);
    }
    return may || deny(call);
}

static bool permit_wish(struct lks_authz *authz, struct lks_call *call)
{
    bool list = where_of(call).nodes.len > 0, by_pool = where_of(call).pool.len > 0;
    uint32_t pool = UINT32_MAX;
    if (!may_somewhere(authz, call))
        return deny(call);
    if (call->failed.code != LKS_OK)
        return true; /* the failure is answered next */
    if (list == by_pool) {
        lks_call_problem(call, LKS_E_INVALID,
                         "body: who is to change: `nodes` or `pool`, one of them");
        return false;
    }
    if (list)
        return permit_asked(authz, call) && permit_domains(authz, call, pool);
    pool = named_pool(authz, call);
    return pool != UINT32_MAX && permit_domains(authz, call, pool);
}

/* ---- The table. ---- */

/* Things that {id} names. */
static const struct object {
    const char *name, *hint;
    const void *(*find)(const struct lks_authz *authz, const struct lks_call *call);
} alarms = {"alarm", "; 'lockstep alarm ls --all' lists them", find_alarm},
  commands = {"command", "", find_command},
  flashes = {"update", "; 'lockstep flash ls --all' lists them", find_flash},
  deviations = {"deviation", "; 'lockstep deviation ls --all' lists them", find_deviation},
  changes = {"change", "; 'lockstep change ls --all' lists them", find_change};

/* A row permits all (`always`), holds the object that {id} names against the caller's roles
 * (`holds`), or writes its own answers (`permit`). */
static const struct rule {
    const char *where; /* has the permission to hold; for the reference page */
    const struct object *object;
    bool (*holds)(const struct lks_authz *authz, const struct lks_call *call, const void *object);
    bool (*permit)(struct lks_authz *authz, struct lks_call *call);
    bool always;
    bool in_body; /* the body names the place: before it is read, any place will do */
} rules[] = {
    [LKS_SCOPE_NONE] = {"", .always = true},
    [LKS_SCOPE_SELF] = {"the agent's own node", .always = true},
    [LKS_SCOPE_SOMEWHERE] = {"anywhere; the answer has only what is there",
                             .permit = permit_somewhere},
    [LKS_SCOPE_EVERYWHERE] = {"the whole fleet", .permit = permit_everywhere},
    [LKS_SCOPE_NODES] = {"each node of {name}", .permit = permit_nodes},
    [LKS_SCOPE_NODE] = {"the node of the body", .permit = permit_node, .in_body = true},
    [LKS_SCOPE_ASKED] = {"each node of the body's `nodes`", .permit = permit_asked,
                         .in_body = true},
    [LKS_SCOPE_WISH] = {"each node to change, and all of its domain", .permit = permit_wish,
                        .in_body = true},
    [LKS_SCOPE_POOL] = {"the pool of the body; without one the whole fleet", .permit = permit_pool,
                        .in_body = true},
    [LKS_SCOPE_ALARM] = {"the subject of the alarm", &alarms, .holds = at_alarm},
    [LKS_SCOPE_COMMAND] = {"the node of the command", &commands, .holds = at_node},
    [LKS_SCOPE_FLASH] = {"the node of the update", &flashes, .holds = at_node},
    [LKS_SCOPE_DEVIATION] = {"each node of the deviation", &deviations, .holds = at_deviation},
    [LKS_SCOPE_CHANGE] = {"each node of the change", &changes, .holds = at_change},
    [LKS_SCOPE_CHANGE_PART] = {"one node of the change", &changes, .holds = at_part},
};

_Static_assert(LKS_COUNT(rules) == LKS_SCOPE_SELF + 1, "each scope has a row");

const char *lks_authz_where(enum lks_route_scope scope)
{
    return rules[scope].where;
}

static void no_object(const struct lks_authz *authz, struct lks_call *call, struct lks_str name)
{
    const struct object *object = rules[call->route->scope].object;
    (void)authz;
    lks_call_problem(call, LKS_E_NOT_FOUND, "there is no %s '%" LKS_STR_FMT "'%s", object->name,
                     LKS_STR_ARG(name), object->hint);
}

bool lks_authz_permits(struct lks_authz *authz, struct lks_call *call)
{
    const struct rule *rule = &rules[call->route->scope];
    if (rule->always || rule->permit != NULL)
        return rule->always || rule->permit(authz, call);
    LKS_ASSERT(rule->object != NULL);
    const void *object = rule->object->find(authz, call);
    if (object == NULL)
        return missing(authz, call, call->named, no_object);
    return rule->holds(authz, call, object) || deny(call);
}

bool lks_authz_permits_ahead(struct lks_authz *authz, struct lks_call *call)
{
    bool sent_on = authz->following && (call->route->flags & LKS_ROUTE_WRITE) != 0;
    if (sent_on && call->failed.code == LKS_OK)
        return true;
    if (rules[call->route->scope].in_body)
        return permit_somewhere(authz, call);
    return lks_authz_permits(authz, call);
}
