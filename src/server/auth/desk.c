#include "server/auth/desk.h"

#include "server/auth/desk_parts.h"
#include "server/auth/forward.h"
#include "server/base/daemon.h"
#include "server/call/route.h"
#include "server/form/admit_line.h"

#include <stdio.h>
#include <stdlib.h>

/* A node has a report now and then, and many of them after it was away. One that goes on would fill
 * the disk for all. */
enum { REPORTS_PER_S = 1 };

/* A question whether a job may start counts for more the longer it is: it is read and answered
 * where everything is decided. */
enum { QUESTION_NODES = 4096, QUESTION_BURST = 256 };

static uint64_t admit_burst(const struct lks_config *config)
{
    return config->admit_per_s > QUESTION_BURST ? config->admit_per_s : QUESTION_BURST;
}

enum lks_code lks_desk_init(struct lks_desk *desk, const struct lks_config *config, uint64_t seed,
                            struct lks_err *err)
{
    if (lks_rate_init(&desk->rate, config->people_per_s, config->burst, seed, err) != LKS_OK ||
        lks_rate_init(&desk->reports, REPORTS_PER_S, config->burst, seed, err) != LKS_OK ||
        lks_rate_init(&desk->admits, config->admit_per_s, admit_burst(config), seed, err) != LKS_OK)
        return err->code;
    return lks_decisions_init(&desk->decisions, config->decision_sample, seed, err);
}

void lks_desk_rates_set(struct lks_desk *desk, const struct lks_config *config)
{
    lks_rate_set(&desk->rate, config->people_per_s, config->burst);
    lks_rate_set(&desk->reports, REPORTS_PER_S, config->burst);
    lks_rate_set(&desk->admits, config->admit_per_s, admit_burst(config));
    desk->decisions.sample = config->decision_sample;
}

void lks_desk_fini(struct lks_desk *desk)
{
    lks_rate_fini(&desk->rate);
    lks_rate_fini(&desk->reports);
    lks_rate_fini(&desk->admits);
    lks_decisions_fini(&desk->decisions);
    lks_metrics_fini(&desk->metrics);
    lks_arena_fini(&desk->sweeps.arena);
    free(desk->observed);
    desk->observed = NULL;
    free(desk->drafts);
    desk->drafts = NULL;
}

enum lks_code lks_desk_hear(struct lks_desk *desk, uint32_t node, const struct lks_beat *beat,
                            struct lks_err *err)
{
    char key[LKS_CALL_IDENTITY_SIZE];
    uint64_t seq = lks_engine_seq(desk->engine);
    lks_ms wait = 0;
    snprintf(key, sizeof(key), "beat %" LKS_STR_FMT,
             LKS_STR_ARG(lks_state_name(desk->state, node)));
    if (!desk->state->nodes[node].enrolled ||
        !lks_rate_left(&desk->reports, lks_str_from(key), desk->now.mono))
        return LKS_OK;
    enum lks_code code = lks_engine_hear(desk->engine, desk->now, node, beat, err);
    if (lks_engine_seq(desk->engine) != seq)
        (void)lks_rate_take(&desk->reports, lks_str_from(key), desk->now.mono, &wait);
    return code;
}

bool lks_desk_may(const struct lks_desk *desk, const struct lks_call *call,
                  enum lks_permission permission, struct lks_scope scope)
{
    return call->root || lks_access_may_by(desk->state, lks_str_from(call->identity),
                                           lks_str_from(call->shown), permission, scope);
}

struct lks_desk_view lks_desk_sight(const struct lks_desk *desk, const struct lks_call *call)
{
    struct lks_desk_view v = {.state = desk->state};
    v.sight = lks_access_sight_by(desk->state, lks_str_from(call->identity),
                                  lks_str_from(call->shown), LKS_MAY_READ);
    v.all = lks_desk_may(desk, call, LKS_MAY_READ, (struct lks_scope){0});
    return v;
}

bool lks_desk_sees(const struct lks_desk_view *v, uint32_t node)
{
    return v->all || lks_access_sees(v->state, &v->sight, node);
}

static bool may_somewhere(const struct lks_desk *desk, const struct lks_call *call)
{
    return call->root ||
           lks_access_somewhere_by(desk->state, lks_str_from(call->identity),
                                   lks_str_from(call->shown), call->route->permission);
}

/* The change that an alarm is about; NULL: none. */
static const struct lks_state_change *alarmed_change(const struct lks_state *s,
                                                     const struct lks_state_alarm *a)
{
    struct lks_str owner, number;
    uint64_t id = 0;
    if ((a->kind != LKS_ALARM_CHANGE && a->kind != LKS_ALARM_GLASS &&
         a->kind != LKS_ALARM_REVIEW) ||
        !lks_str_cut(lks_state_text(s, a->subject), ':', &owner, &number) ||
        !lks_str_number(number, UINT64_MAX, &id))
        return NULL;
    return lks_state_change(s, id);
}

bool lks_desk_may_alarm(const struct lks_desk *desk, const struct lks_call *call,
                        const struct lks_state_alarm *a)
{
    const struct lks_state *s = desk->state;
    const struct lks_state_change *change = alarmed_change(s, a);
    struct lks_scope scope = {.pool = lks_state_text(s, a->subject)};
    if (change != NULL)
        return lks_desk_may_change(desk, call, change);
    if (a->kind != LKS_ALARM_MASS && a->kind != LKS_ALARM_CADENCE && a->kind != LKS_ALARM_LOWERED) {
        uint32_t node = lks_state_node(s, lks_state_text(s, a->subject));
        scope = node != LKS_NO_NODE ? lks_scope_of_node(s, node) : (struct lks_scope){0};
    }
    return lks_desk_may(desk, call, call->route->permission, scope);
}

static bool deny(struct lks_call *call)
{
    lks_call_problem(call, LKS_E_DENIED, "%s may not %s here", call->identity,
                     lks_permission_words[call->route->permission]);
    return false;
}

/* What is not there is told only to those who may look. */
static bool missing(const struct lks_desk *desk, struct lks_call *call, const char *what,
                    struct lks_str name)
{
    if (!may_somewhere(desk, call))
        return deny(call);
    lks_call_problem(call, LKS_E_NOT_FOUND, "there is no %s '%" LKS_STR_FMT "'", what,
                     LKS_STR_ARG(name));
    return false;
}

/* The names of {name}. A long list is not even spelled out: no call takes one, and others wait. */
static enum lks_code read_hosts(const struct lks_desk *desk, struct lks_call *call,
                                struct lks_hostlist *out, struct lks_err *err)
{
    struct lks_str text = lks_call_path(call, "name");
    unsigned long long most = desk->state->limits.call_nodes;
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

static bool may_nodes(const struct lks_desk *desk, struct lks_call *call)
{
    struct lks_hostlist hosts;
    struct lks_err err = {0};
    if (!may_somewhere(desk, call))
        return deny(call);
    if (read_hosts(desk, call, &hosts, &err) != LKS_OK) {
        lks_call_problem_err(call, &err);
        return false;
    }
    for (size_t i = 0; i < hosts.count; i++) {
        uint32_t node = lks_state_node(desk->state, hosts.names[i]);
        if (node == LKS_NO_NODE)
            return missing(desk, call, "node", hosts.names[i]);
        if (!lks_desk_may(desk, call, call->route->permission,
                          lks_scope_of_node(desk->state, node)))
            return deny(call);
    }
    return true;
}

static bool may_alarm(const struct lks_desk *desk, struct lks_call *call)
{
    struct lks_str text = lks_call_path(call, "id");
    uint64_t id;
    const struct lks_state_alarm *alarm = NULL;
    if (lks_str_number(text, UINT64_MAX, &id))
        alarm = lks_state_alarm(desk->state, id);
    if (alarm == NULL)
        return missing(desk, call, "alarm", text);
    return lks_desk_may_alarm(desk, call, alarm) || deny(call);
}

static bool may_command(const struct lks_desk *desk, struct lks_call *call)
{
    struct lks_str text = lks_call_path(call, "id");
    uint64_t id;
    const struct lks_state_command *command = NULL;
    if (lks_str_number(text, UINT64_MAX, &id))
        command = lks_state_command(desk->state, id);
    if (command == NULL)
        return missing(desk, call, "command", text);
    return lks_desk_may(desk, call, call->route->permission,
                        lks_scope_of_node(desk->state, command->node)) ||
           deny(call);
}

static bool may_flash(const struct lks_desk *desk, struct lks_call *call)
{
    struct lks_str text = lks_call_path(call, "id");
    uint64_t id;
    const struct lks_state_flash *flash = NULL;
    if (lks_str_number(text, UINT64_MAX, &id))
        flash = lks_state_flash(desk->state, id);
    if (flash == NULL)
        return missing(desk, call, "update", text);
    return lks_desk_may(desk, call, call->route->permission,
                        lks_scope_of_node(desk->state, flash->node)) ||
           deny(call);
}

/* The node that the body names. */
static bool may_node(const struct lks_desk *desk, struct lks_call *call)
{
    struct lks_str name = lks_doc_text(call->body, "node");
    uint32_t node = lks_state_node(desk->state, name);
    if (call->failed.code != LKS_OK)
        return may_somewhere(desk, call) || deny(call); /* it is told in a moment */
    if (node == LKS_NO_NODE)
        return missing(desk, call, "node", name);
    return lks_desk_may(desk, call, call->route->permission,
                        lks_scope_of_node(desk->state, node)) ||
           deny(call);
}

bool lks_desk_may_hosts(const struct lks_desk *desk, const struct lks_call *call,
                        enum lks_permission permission)
{
    const struct lks_state *s = desk->state;
    if (lks_desk_may(desk, call, permission, (struct lks_scope){0}))
        return true;
    struct lks_sight sight =
        lks_access_sight_by(s, lks_str_from(call->identity), lks_str_from(call->shown), permission);
    for (size_t i = 0; i < call->hosts.count; i++) {
        uint32_t node = lks_state_node(s, call->hosts.names[i]);
        if (node != LKS_NO_NODE && !lks_access_sees(s, &sight, node))
            return false;
    }
    return lks_access_somewhere_by(s, lks_str_from(call->identity), lks_str_from(call->shown),
                                   permission);
}

/* The nodes that the body names. What the fleet does not have is no secret to those who may ask
 * about some of it. */
static bool may_asked(struct lks_desk *desk, struct lks_call *call)
{
    struct lks_str text = lks_doc_text(call->body, "nodes");
    struct lks_err err = {0};
    size_t count = 0;
    if (!may_somewhere(desk, call))
        return deny(call);
    if (call->failed.code != LKS_OK || call->hosts.count > 0)
        return true; /* it is told in a moment, or was looked at before it was prepared */
    enum lks_code code = lks_hostlist_count(text, &count, &err);
    if (code == LKS_OK && (count == 0 || count > LKS_DESK_HOSTS_MAX))
        code = lks_fail(&err, LKS_E_INVALID, "the list names %zu, and 1 to %d can be asked for",
                        count, LKS_DESK_HOSTS_MAX);
    bool often = (call->route->flags & LKS_ROUTE_OFTEN) != 0;
    if (code == LKS_OK && often &&
        !lks_desk_charge(desk, call, &desk->admits, count / QUESTION_NODES))
        return false;
    if (code == LKS_OK)
        code = lks_hostlist_parse(text, &call->docs.arena, &call->hosts, &err);
    if (code != LKS_OK) {
        lks_call_problem(call, code, "body: nodes: %s", err.msg);
        return false;
    }
    return lks_desk_may_hosts(desk, call, call->route->permission) || deny(call);
}

const struct lks_deviation *lks_desk_deviation(const struct lks_desk *desk,
                                               const struct lks_call *call)
{
    uint64_t id;
    if (!lks_str_number(lks_call_path(call, "id"), UINT64_MAX, &id))
        return NULL;
    return lks_state_deviation(desk->state, id);
}

static bool may_deviation(const struct lks_desk *desk, struct lks_call *call)
{
    const struct lks_deviation *deviation = lks_desk_deviation(desk, call);
    if (deviation == NULL)
        return missing(desk, call, "deviation", lks_call_path(call, "id"));
    for (uint32_t i = 0; i < deviation->count; i++) {
        if (!lks_desk_may(desk, call, call->route->permission,
                          lks_scope_of_node(desk->state, deviation->nodes[i])))
            return deny(call);
    }
    return may_somewhere(desk, call) || deny(call);
}

const struct lks_state_change *lks_desk_change(const struct lks_desk *desk,
                                               const struct lks_call *call)
{
    uint64_t id;
    if (!lks_str_number(lks_call_path(call, "id"), UINT64_MAX, &id))
        return NULL;
    return lks_state_change(desk->state, id);
}

/* A change touches pools: it is for those who may in all of them. Nodes that left the fleet are
 * nowhere. */
bool lks_desk_may_change(const struct lks_desk *desk, const struct lks_call *call,
                         const struct lks_state_change *c)
{
    const struct lks_state *s = desk->state;
    enum lks_permission permission = call->route->permission;
    if (lks_desk_may(desk, call, permission, (struct lks_scope){0}))
        return true;
    struct lks_sight sight =
        lks_access_sight_by(s, lks_str_from(call->identity), lks_str_from(call->shown), permission);
    for (uint32_t i = 0; i < c->member_count; i++) {
        uint32_t node = c->members[i].node;
        if (s->nodes[node].placed && !lks_access_sees(s, &sight, node))
            return false;
    }
    return may_somewhere(desk, call);
}

static bool may_change(const struct lks_desk *desk, struct lks_call *call)
{
    const struct lks_state_change *c = lks_desk_change(desk, call);
    if (c == NULL)
        return missing(desk, call, "change", lks_call_path(call, "id"));
    return lks_desk_may_change(desk, call, c) || deny(call);
}

/* A role at one of its nodes is enough. */
static bool may_change_part(const struct lks_desk *desk, struct lks_call *call)
{
    const struct lks_state *s = desk->state;
    const struct lks_state_change *c = lks_desk_change(desk, call);
    enum lks_permission permission = call->route->permission;
    if (c == NULL)
        return missing(desk, call, "change", lks_call_path(call, "id"));
    if (lks_desk_may(desk, call, permission, (struct lks_scope){0}))
        return true;
    struct lks_sight sight =
        lks_access_sight_by(s, lks_str_from(call->identity), lks_str_from(call->shown), permission);
    for (uint32_t i = 0; i < c->member_count; i++) {
        if (lks_access_sees(s, &sight, c->members[i].node))
            return true;
    }
    return deny(call);
}

/* The pool that the body names; UINT32_MAX, and the answer written, where there is none. */
static uint32_t named_pool(const struct lks_desk *desk, struct lks_call *call)
{
    struct lks_str name = lks_doc_text(call->body, "pool");
    uint32_t pool = lks_state_pool(desk->state, name);
    if (pool < desk->state->pool_count && desk->state->pools[pool].known)
        return pool;
    (void)missing(desk, call, "pool", name);
    return UINT32_MAX;
}

static bool may_pool(const struct lks_desk *desk, struct lks_call *call)
{
    struct lks_scope scope = {.pool = lks_doc_text(call->body, "pool")};
    if (call->failed.code != LKS_OK)
        return may_somewhere(desk, call) || deny(call); /* it is told in a moment */
    if (scope.pool.len > 0 && named_pool(desk, call) == UINT32_MAX)
        return false;
    return lks_desk_may(desk, call, call->route->permission, scope) || deny(call);
}

/* What is meant with those that are asked for: their domains change as a whole. `domains` has room
 * for all texts. */
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

static bool may_domains(const struct lks_desk *desk, struct lks_call *call, uint32_t pool)
{
    const struct lks_state *s = desk->state;
    enum lks_permission permission = call->route->permission;
    struct lks_sight sight =
        lks_access_sight_by(s, lks_str_from(call->identity), lks_str_from(call->shown), permission);
    LKS_CLEANUP(lks_bitset_fini) struct lks_bitset domains = {0};
    struct lks_err err = {0};
    bool may = true;
    if (lks_desk_may(desk, call, permission, (struct lks_scope){0}))
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

/* Who is to change: a list, or a pool. */
static bool may_wish(struct lks_desk *desk, struct lks_call *call)
{
    bool list = lks_doc_text(call->body, "nodes").len > 0;
    bool by_pool = lks_doc_text(call->body, "pool").len > 0;
    uint32_t pool = UINT32_MAX;
    if (!may_somewhere(desk, call))
        return deny(call);
    if (call->failed.code != LKS_OK)
        return true; /* it is told in a moment */
    if (list == by_pool) {
        lks_call_problem(call, LKS_E_INVALID,
                         "body: who is to change: `nodes` or `pool`, one of them");
        return false;
    }
    if (list)
        return may_asked(desk, call) && may_domains(desk, call, pool);
    pool = named_pool(desk, call);
    return pool != UINT32_MAX && may_domains(desk, call, pool);
}

static bool permitted(struct lks_desk *desk, struct lks_call *call)
{
    switch (call->route->scope) {
    case LKS_SCOPE_NONE:
    case LKS_SCOPE_SELF:
        return true;
    case LKS_SCOPE_SOMEWHERE:
        return may_somewhere(desk, call) || deny(call);
    case LKS_SCOPE_EVERYWHERE:
        return lks_desk_may(desk, call, call->route->permission, (struct lks_scope){0}) ||
               deny(call);
    case LKS_SCOPE_NODES:
        return may_nodes(desk, call);
    case LKS_SCOPE_ALARM:
        return may_alarm(desk, call);
    case LKS_SCOPE_COMMAND:
        return may_command(desk, call);
    case LKS_SCOPE_FLASH:
        return may_flash(desk, call);
    case LKS_SCOPE_ASKED:
        return may_asked(desk, call);
    case LKS_SCOPE_NODE:
        return may_node(desk, call);
    case LKS_SCOPE_DEVIATION:
        return may_deviation(desk, call);
    case LKS_SCOPE_CHANGE:
        return may_change(desk, call);
    case LKS_SCOPE_CHANGE_PART:
        return may_change_part(desk, call);
    case LKS_SCOPE_WISH:
        return may_wish(desk, call);
    case LKS_SCOPE_POOL:
        return may_pool(desk, call);
    }
    return false;
}

/* Both sides have the answer already, as long as the journal has no further row and the same one
 * asks: what others may see is another answer. */
static void put_etag(const struct lks_desk *desk, struct lks_call *call)
{
    char etag[sizeof(call->etag)], who[LKS_DIGEST_SIZE] = "", text[2 * LKS_CALL_IDENTITY_SIZE];
    struct lks_err err = {0};
    snprintf(text, sizeof(text), "%s %s", call->identity,
             call->shown); /* a login has its own roles */
    if (lks_digest_text(lks_str_from(text), who, &err) != LKS_OK)
        return;
    snprintf(etag, sizeof(etag), "\"%.8s-%llu-%.8s\"", desk->state->journal,
             (unsigned long long)lks_engine_seq(desk->engine), who + strlen("sha256:"));
    lks_call_header(call, "ETag: %s", etag);
    lks_call_header(call, "Vary: Authorization, Cookie");
    if (strcmp(etag, call->etag) == 0) {
        call->status = 304;
        call->type = NULL;
    }
}

/* A line of the admission socket is read only once it is known that it may be: it may be long. */
static void read_line(struct lks_call *call)
{
    if (call->asker != NULL)
        call->failed.code =
            lks_admit_line(lks_buf_view(&call->bytes), &call->docs, &call->body, &call->failed);
}

/* Of a call whose body was not read: what the route and the path ask for. What the body names is
 * looked at when it is there. A write that a follower sends on is the leader's to judge, which may
 * know more. */
static bool permitted_ahead(struct lks_desk *desk, struct lks_call *call)
{
    enum lks_route_scope scope = call->route->scope;
    bool sent_on = desk->following && (call->route->flags & LKS_ROUTE_WRITE) != 0;
    if (sent_on && call->failed.code == LKS_OK)
        return true;
    if (scope == LKS_SCOPE_ASKED || scope == LKS_SCOPE_NODE || scope == LKS_SCOPE_WISH ||
        scope == LKS_SCOPE_POOL)
        return may_somewhere(desk, call) || deny(call);
    return permitted(desk, call);
}

/* Whether the body of a call may come; no answer: it may. */
static void admit_ahead(struct lks_desk *desk, struct lks_call *call)
{
    if (lks_desk_identify(desk, call) && permitted_ahead(desk, call) && call->failed.code != LKS_OK)
        lks_call_problem_err(call, &call->failed);
    call->admitted = true;
    call->needs = 0;
}

/* True when the call is to be handled. */
static bool admit(struct lks_desk *desk, struct lks_call *call)
{
    if (!lks_desk_identify(desk, call) || !lks_desk_charge_length(desk, call))
        return false;
    read_line(call);
    if ((desk->following && lks_forward_take(desk, call)) || !permitted(desk, call))
        return false;
    call->needs = lks_engine_seq(desk->engine);
    if (call->failed.code != LKS_OK) {
        lks_call_problem_err(call, &call->failed);
        return false;
    }
    if ((call->route->flags & LKS_ROUTE_ETAG) != 0)
        put_etag(desk, call);
    return call->status == 0;
}

void lks_desk_prepare_again(struct lks_call *call)
{
    call->to_prepare = true;
    call->needs = 0;
}

static bool decide(struct lks_desk *desk, struct lks_call *call)
{
    if (call->unread) {
        admit_ahead(desk, call);
        return true;
    }
    if (call->cursor == 0 && !admit(desk, call))
        return true;
    call->admitted = true;
    if (call->route->prepare != NULL && !call->prepared)
        lks_desk_prepare_again(call);
    else
        call->route->handle(desk, call);
    return call->status != 0 || call->work != NULL || call->stream || call->at_store != NULL ||
           call->to_prepare;
}

bool lks_desk_decide(struct lks_desk *desk, struct lks_call *call)
{
    bool done = decide(desk, call);
    bool goes_on = call->unread && call->status == 0;
    if (!done || goes_on || call->to_prepare || call->at_store != NULL)
        return done;
    desk->metrics.calls++;
    desk->metrics.refused += call->status >= 400;
    return true;
}

/* Connections look again who they are when a certificate may have ended. */
static void note_records(struct lks_desk *desk, const struct lks_decision *d)
{
    for (size_t i = 0; i < d->count; i++) {
        enum lks_record_kind kind = d->records[i].kind;
        if (kind == LKS_RECORD_REVOKED || kind == LKS_RECORD_REMOVED ||
            kind == LKS_RECORD_ENROLLED || kind == LKS_RECORD_CERTIFIED ||
            kind == LKS_RECORD_REPLACED)
            desk->epoch++;
    }
    lks_daemon_epoch_set(desk->daemon, desk->epoch);
}

void lks_desk_sign(const struct lks_call *call, struct lks_event *event)
{
    event->by = lks_str_from(call->identity);
    event->credential = lks_str_from(call->shown);
    event->root = call->root;
}

bool lks_desk_turn(struct lks_desk *desk, struct lks_call *call, struct lks_event *event,
                   const struct lks_store_blob *blob, struct lks_decision *d)
{
    struct lks_err err = {0};
    lks_decision_init(d);
    lks_desk_sign(call, event);
    enum lks_code code =
        lks_engine_turn(desk->engine, desk->now, event, blob, d, &call->needs, &err);
    if (code == LKS_E_IO)
        lks_daemon_die(desk->daemon, "the journal is in an unknown state", &err);
    if (code != LKS_OK) {
        call->needs = 0; /* nothing was decided, so there is nothing to wait for */
        lks_call_problem_err(call, &err);
        return false;
    }
    note_records(desk, d);
    call->wrote |= d->count > 0;
    if (d->refused.code == LKS_OK)
        return true;
    lks_call_problem_err(call, &d->refused);
    return false;
}

void lks_desk_record(struct lks_desk *desk, struct lks_call *call, struct lks_event *event)
{
    LKS_CLEANUP(lks_decision_fini) struct lks_decision d = {0};
    if (!lks_desk_turn(desk, call, event, NULL, &d))
        return;
    struct lks_json_writer w = lks_call_json(call);
    lks_json_int(&w, "seq", (int64_t)call->needs);
    lks_desk_touched(&w, &d.touched);
    lks_json_end(&w, '}');
}

void lks_desk_touched(struct lks_json_writer *w, const struct lks_touched *touched)
{
    if (touched->nodes == 0)
        return;
    lks_json_int(w, "nodes", (int64_t)touched->nodes);
    lks_json_int(w, "gpus", (int64_t)touched->gpus);
}

uint32_t lks_desk_node(const struct lks_desk *desk, struct lks_call *call)
{
    struct lks_str name = lks_call_path(call, "name");
    uint32_t node = lks_state_node(desk->state, name);
    if (node == LKS_NO_NODE)
        lks_call_problem(call, LKS_E_INVALID, "one node is expected here, not a list");
    return node;
}

bool lks_desk_after(struct lks_call *call, uint64_t *out)
{
    struct lks_str after = lks_call_text(call, "after");
    *out = UINT64_MAX;
    if (after.len == 0 || lks_str_number(after, UINT64_MAX, out))
        return true;
    lks_call_problem(call, LKS_E_INVALID, "query: after: is not the `next` of a page");
    return false;
}

bool lks_desk_time(struct lks_call *call, const char *key, lks_ms *out)
{
    struct lks_str text = lks_doc_text(call->body, key);
    *out = 0;
    if (text.len == 0 || lks_time_parse(text, out))
        return true;
    lks_call_problem(call, LKS_E_INVALID, "body: %s: not a moment such as 2026-11-15T03:37:00Z",
                     key);
    return false;
}

bool lks_desk_end(const struct lks_desk *desk, struct lks_call *call, const char *key, lks_ms *out)
{
    lks_ms now = lks_engine_now(desk->engine, desk->now).wall;
    char text[LKS_TIME_TEXT_SIZE];
    if (!lks_desk_time(call, key, out))
        return false;
    if (*out <= desk->wall || *out > now)
        return true;
    lks_call_problem(call, LKS_E_INVALID,
                     "%s: the journal's clock says %s: it is ahead by %llu s, as this machine's "
                     "was, and does not go back; say a later time",
                     key, lks_time_text(now, text),
                     (unsigned long long)((now - desk->wall) / LKS_SECOND));
    return false;
}
