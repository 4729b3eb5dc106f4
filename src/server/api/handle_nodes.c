#include "base/near.h"
#include "core/conform/basis.h"
#include "core/entity/settable.h"
#include "core/rows/registry.h"
#include "core/state/node_status.h"
#include "core/state/state.h"
#include "server/api/handle.h"
#include "server/auth/authz.h"
#include "server/auth/lookup.h"
#include "server/auth/reads.h"
#include "server/auth/rows.h"
#include "server/auth/runs_sight.h"
#include "server/base/daemon.h"
#include "server/form/views.h"

#include <stdlib.h>

enum {
    SCAN_MAX = 25000,      /* nodes that one call looks at; the next page or slice goes on */
    READ_WORK = 100,       /* reading a basis takes as long as looking at so many nodes */
    TOKEN_SECONDS = 86400, /* a token for enrolling one node, */
    SHARED_SECONDS = 3600, /* and one for several */
};

/* What a list of nodes is asked for. */
struct filter {
    char *seen; /* owned; by basis: 0 not looked at, 1 has it, 2 has it not */
    uint32_t bases;
};

static void end_nodes(void *own)
{
    free(((struct filter *)own)->seen);
}

/* Stacks may pin components that the facts do not have. */
static bool is_pinned(const struct lks_authz *authz, struct lks_str name)
{
    const struct lks_state *s = authz->state;
    for (uint32_t i = 0; i < s->stack_count; i++) {
        struct lks_str digest = lks_state_text(s, s->stacks[i].digest);
        const struct lks_stack *stack = lks_book_stack(lks_engine_book(authz->engine), digest);
        for (size_t k = 0; stack != NULL && k < stack->component_count; k++) {
            if (lks_str_eq(stack->components[k].name, name))
                return true;
        }
    }
    return false;
}

/* Whether it is no component, but nearly one of the facts; the answer is written then. */
static bool is_misspelled(const struct lks_authz *authz, struct lks_call *call, struct lks_str name)
{
    const struct lks_facts *facts = lks_engine_book(authz->engine)->facts;
    struct lks_near near = lks_near_to(name);
    char hint[LKS_NEAR_HINT_SIZE];
    for (size_t i = 0; i < facts->components.count; i++)
        lks_near_try(&near, facts->components.rows[i].name);
    if (near.best.len == 0 || lks_str_eq(near.best, name) || is_pinned(authz, name))
        return false;
    lks_call_problem(call, LKS_E_NOT_FOUND, "there is no component '%" LKS_STR_FMT "'%s",
                     LKS_STR_ARG(name), lks_near_hint(&near, hint));
    return true;
}

static bool begin_nodes(struct lks_rows_walk *walk)
{
    struct lks_call *call = walk->call;
    const struct lks_query_nodes *ask = LKS_ASKED(call, lks_query_nodes);
    struct filter *f = walk->own;
    if (ask->version.len > 0 && ask->component.len == 0) {
        lks_call_problem(call, LKS_E_INVALID,
                         "query: version needs component, such as component=nccl");
        return false;
    }
    if (ask->component.len == 0)
        return true;
    if (is_misspelled(walk->authz, call, ask->component))
        return false;
    f->bases = lks_intern_count(&walk->authz->state->basis_digests) + 1;
    f->seen = calloc(f->bases, 1);
    if (f->seen == NULL)
        lks_call_problem(call, LKS_E_NOMEM, "out of memory");
    return f->seen != NULL;
}

/* Whether what a judgement rests on has what is asked for. */
static bool readings_have(struct lks_str basis, const struct lks_query_nodes *ask)
{
    LKS_CLEANUP(lks_tuple_fini) struct lks_tuple tuple = {0};
    struct lks_err err = {0};
    size_t count = 0;
    if (lks_basis_parse(basis, &tuple, &err) != LKS_OK)
        return false;
    const struct lks_reading *r = lks_tuple_range(&tuple, ask->component, &count);
    for (size_t i = 0; i < count; i++) {
        if (r[i].state == LKS_MEASURED &&
            (ask->version.len == 0 || lks_str_eq(r[i].value, ask->version)))
            return true;
    }
    return false;
}

static bool node_has(struct lks_rows_walk *walk, const struct lks_node *n)
{
    struct filter *f = walk->own;
    if (n->whole == 0 || n->whole >= f->bases)
        return false; /* read since the first slice, in which case the next list has it */
    if (f->seen[n->whole] == 0) {
        struct lks_str basis = lks_state_readings(walk->authz->state, n->whole);
        f->seen[n->whole] = readings_have(basis, LKS_ASKED(walk->call, lks_query_nodes)) ? 1 : 2;
        walk->work += READ_WORK;
    }
    return f->seen[n->whole] == 1;
}

static uint32_t place_of(const struct lks_rows_walk *walk, const void *row)
{
    return (uint32_t)((const struct lks_node *)row - walk->authz->state->nodes);
}

static bool sees_node(struct lks_rows_walk *walk, const void *row)
{
    if (!lks_authz_sees(&walk->sight, place_of(walk, row)))
        return false;
    walk->work++;
    return true;
}

static bool shows_node(struct lks_rows_walk *walk, const void *row)
{
    const struct filter *f = walk->own;
    int judged = LKS_ASKED(walk->call, lks_query_nodes)->judged;
    return (judged < 0 ||
            lks_view_judged(walk->authz->state, place_of(walk, row)) == (unsigned)judged) &&
           (f->seen == NULL || node_has(walk, row));
}

void lks_handle_nodes(struct lks_authz *authz, struct lks_call *call)
{
    static const struct lks_rows nodes = {.view = &lks_view_nodes,
                                          .begin = begin_nodes,
                                          .end = end_nodes,
                                          .own = sizeof(struct filter),
                                          .sees = sees_node,
                                          .shows = shows_node,
                                          .work_max = SCAN_MAX};
    lks_rows_page(authz, call, &nodes);
}

void lks_handle_node(struct lks_authz *authz, struct lks_call *call)
{
    uint32_t node = lks_authz_node(authz, call);
    if (node == LKS_NO_NODE)
        return;
    struct lks_json_writer w = lks_call_json(call);
    struct lks_now now = lks_engine_now(authz->engine, authz->now);
    lks_view_node(&w, authz->state, node, now, LKS_USE_LISTED | LKS_USE_SHOWN | LKS_USE_LIVE);
    lks_handle_node_sched(authz, node, &w);
    lks_json_end(&w, '}');
}

void lks_handle_tuple(struct lks_authz *authz, struct lks_call *call)
{
    uint32_t node = lks_authz_node(authz, call);
    if (node == LKS_NO_NODE)
        return;
    struct lks_str report = lks_state_text(authz->state, authz->state->nodes[node].report);
    if (report.len == 0 || report.len >= sizeof(call->blob)) {
        lks_call_problem(call, LKS_E_NOT_FOUND, "the node has not reported what it runs");
        return;
    }
    lks_read_from_store(call, report);
}

void lks_handle_history(struct lks_authz *authz, struct lks_call *call)
{
    struct lks_runs_sight *runs = NULL;
    struct lks_err err = {0};
    if (lks_authz_node(authz, call) == LKS_NO_NODE)
        return;
    if (call->memory == NULL && lks_runs_sight_new(authz, call, &runs, &err) != LKS_OK) {
        lks_call_problem_err(call, &err);
        return;
    }
    if (runs != NULL) {
        call->memory = runs;
        call->drop = lks_runs_sight_free;
    }
    uint64_t last = lks_engine_seq(authz->engine);
    uint64_t before = LKS_ASKED(call, lks_query_history)->before;
    call->from = before <= last ? before : last + 1;
    call->work = lks_read_history;
}

void lks_handle_at(struct lks_authz *authz, struct lks_call *call)
{
    if (lks_authz_node(authz, call) != LKS_NO_NODE)
        call->work = lks_read_at;
}

void lks_handle_enroll_node(struct lks_authz *authz, struct lks_call *call)
{
    LKS_CLEANUP(lks_decision_fini) struct lks_decision d = {0};
    uint8_t chance[LKS_TOKEN_CHANCE];
    char text[LKS_TOKEN_TEXT_MAX], hash[LKS_DIGEST_SIZE];
    struct lks_err err = {0};
    bool one = lks_hostlist_is_name(call->named);
    struct lks_str name = call->named;
    if (one && lks_authz_node(authz, call) == LKS_NO_NODE)
        return;
    if (lks_secrets_chance(chance, sizeof(chance), &err) != LKS_OK ||
        lks_token_make(one ? LKS_TOKEN_NODE : LKS_TOKEN_NODES, name, chance, text, hash, &err) !=
            LKS_OK) {
        lks_call_problem_err(call, &err);
        return;
    }
    uint64_t seconds = LKS_ASKED(call, lks_ask_enroll_node)->ttl_seconds;
    if (seconds == 0)
        seconds = one ? TOKEN_SECONDS : SHARED_SECONDS;
    lks_ms expires = authz->now.wall + seconds * LKS_SECOND;
    struct lks_event event = {
        .kind = LKS_EVENT_TOKEN,
        .name = name,
        .reason = LKS_ASKED(call, lks_ask_enroll_node)->reason,
        .token = {.hash = lks_str_from(hash), .expires = expires},
    };
    if (!lks_authz_turn(authz, call, &event, NULL, &d))
        return;
    struct lks_json_writer w = lks_call_json(call);
    lks_json_text(&w, "node", name);
    lks_json_cstr(&w, "token", text);
    lks_view_time(&w, "expires", expires);
    lks_json_end(&w, '}');
}

static struct lks_event about_nodes(struct lks_call *call, enum lks_event_kind kind)
{
    return (struct lks_event){
        .kind = kind,
        .name = call->named,
        .reason = LKS_ASKED(call, lks_ask_reason)->reason,
    };
}

void lks_handle_hold(struct lks_authz *authz, struct lks_call *call)
{
    struct lks_event event = about_nodes(call, LKS_EVENT_HOLD);
    lks_authz_record(authz, call, &event);
}

void lks_handle_set(struct lks_authz *authz, struct lks_call *call)
{
    const struct lks_ask_set *ask = LKS_ASKED(call, lks_ask_set);
    struct lks_event event = {
        .kind = LKS_EVENT_NODE_SET,
        .name = call->named,
        .reason = ask->reason,
        .set = {.column = lks_str_from(lks_settable_node_words[ask->column]), .value = ask->value},
    };
    lks_authz_record(authz, call, &event);
}

/* In service as it is, the node keeps its domain from jobs: the domain did without it while it was
 * on hold. */
static void put_mixed(struct lks_json_writer *w, struct lks_call *call, const struct lks_state *s,
                      struct lks_str name)
{
    uint32_t node = lks_state_node(s, name);
    uint32_t other = node == LKS_NO_NODE ? LKS_NO_NODE : lks_node_status_mixes(s, node);
    if (other == LKS_NO_NODE)
        return;
    lks_json_text(w, NULL,
                  lks_arena_format(&call->docs.arena,
                                   "domain %" LKS_STR_FMT " takes no jobs: %" LKS_STR_FMT
                                   " does not run the same as %" LKS_STR_FMT
                                   "; bring it to the same stack, or hold it again",
                                   LKS_STR_ARG(lks_state_text(s, s->nodes[node].domain)),
                                   LKS_STR_ARG(name), LKS_STR_ARG(lks_state_name(s, other))));
}

void lks_handle_release(struct lks_authz *authz, struct lks_call *call)
{
    LKS_CLEANUP(lks_decision_fini) struct lks_decision d = {0};
    const struct lks_ask_release *ask = LKS_ASKED(call, lks_ask_release);
    struct lks_event event = {
        .kind = LKS_EVENT_RELEASE,
        .name = call->named,
        .reason = ask->reason,
        .release = {.force = ask->force},
    };
    if (!lks_authz_turn(authz, call, &event, NULL, &d))
        return;
    struct lks_json_writer w = lks_call_json(call);
    lks_json_int(&w, "seq", (int64_t)call->needs);
    lks_json_begin(&w, "warnings", '[');
    for (size_t i = 0; i < d.count; i++) {
        if (d.records[i].kind == LKS_RECORD_UNHELD)
            put_mixed(&w, call, authz->state, d.records[i].unheld.node);
    }
    lks_json_end(&w, ']');
    lks_authz_touched(&w, &d.touched);
    lks_json_end(&w, '}');
}

void lks_handle_replace(struct lks_authz *authz, struct lks_call *call)
{
    struct lks_event event = about_nodes(call, LKS_EVENT_REPLACE);
    lks_authz_record(authz, call, &event);
}

void lks_handle_remove(struct lks_authz *authz, struct lks_call *call)
{
    struct lks_event event = about_nodes(call, LKS_EVENT_REMOVE);
    if (!lks_handle_sched_owes(authz, call))
        lks_authz_record(authz, call, &event);
}

/* Decide it, and answer with the number of the command that follows. */
static void command(struct lks_authz *authz, struct lks_call *call, uint32_t node,
                    struct lks_event *event)
{
    LKS_CLEANUP(lks_decision_fini) struct lks_decision d = {0};
    if (!lks_authz_turn(authz, call, event, NULL, &d))
        return;
    call->node = node; /* has mail now */
    uint64_t id = 0;
    for (size_t i = 0; i < d.count; i++) {
        if (d.records[i].kind == LKS_RECORD_COMMAND)
            id = d.records[i].command.id;
    }
    struct lks_json_writer w = lks_call_json(call);
    lks_json_int(&w, "id", (int64_t)id);
    lks_json_int(&w, "seq", (int64_t)call->needs);
    lks_authz_touched(&w, &d.touched);
    lks_json_end(&w, '}');
}

void lks_handle_command(struct lks_authz *authz, struct lks_call *call)
{
    uint32_t node = lks_authz_node(authz, call);
    if (node == LKS_NO_NODE)
        return;
    const struct lks_ask_command *ask = LKS_ASKED(call, lks_ask_command);
    struct lks_event event = {
        .kind = LKS_EVENT_COMMAND,
        .name = call->named,
        .node = node,
        .reason = ask->reason,
        .command = {.executor = ask->executor,
                    .digests = ask->digests,
                    .expires = authz->now.wall + ask->ttl_seconds * LKS_SECOND},
    };
    command(authz, call, node, &event);
}

/* It is asked for, or reviewed afterwards. */
void lks_handle_reset(struct lks_authz *authz, struct lks_call *call)
{
    bool reviewed = lks_str_is(lks_call_verb(call), "review");
    struct lks_event event = about_nodes(call, LKS_EVENT_RESET);
    event.reset = reviewed ? LKS_RESET_REVIEWED : LKS_RESET_ASKED;
    lks_authz_record(authz, call, &event);
}

void lks_handle_reset_approve(struct lks_authz *authz, struct lks_call *call)
{
    uint32_t node = lks_authz_node(authz, call);
    struct lks_event event = about_nodes(call, LKS_EVENT_RESET);
    event.reset = LKS_RESET_APPROVED;
    if (node != LKS_NO_NODE)
        command(authz, call, node, &event);
}

void lks_handle_command_get(struct lks_authz *authz, struct lks_call *call)
{
    const struct lks_state_command *command = lks_state_command(authz->state, lks_authz_id(call));
    lks_authz_row(authz, call, &lks_view_commands, command);
}
