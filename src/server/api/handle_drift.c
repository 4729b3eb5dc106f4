/* Drift, deviations, what is said of nodes, and readings out of band. */
#include "core/registry/named.h"
#include "core/rows/deviation.h"
#include "core/rows/pool.h"
#include "core/state/node_status.h"
#include "core/state/state.h"
#include "core/view/subjects.h"
#include "server/api/handle.h"
#include "server/api/sweeps.h"
#include "server/auth/authz.h"
#include "server/auth/lookup.h"
#include "server/auth/rows.h"
#include "server/form/forms.h"
#include "server/form/views.h"

#include <stdlib.h>

enum {
    SLICE = 20000, /* nodes that one call looks at before others have their turn */
    ROWS_MAX = 64, /* of what does not conform, of each node of a list */
    SUBJECT_MAX = 512,
    DEVIATION_NODES = 500000, /* that one page of deviations looks at */
};

/* Drift ------------------------------------------------------------------------------------- */

/* A list on its way through all nodes: they are counted, and some of them listed. */
struct walk {
    struct lks_json_writer w;
    struct lks_bitset hosts; /* asked for by name; no size: all */
    uint32_t pool;
    bool by_pool;
    int cause, judged; /* -1: any */
    uint64_t left;
    uint32_t at, from, last; /* the next node; the first to be listed; the last that was */
    bool more;
    uint64_t nodes, conforms, unjudged, differs[LKS_DIFFERS_COUNT];
};

static void walk_free(void *memory)
{
    struct walk *walk = memory;
    lks_bitset_fini(&walk->hosts);
    free(walk);
}

static bool walk_begin(const struct lks_authz *authz, struct lks_call *call)
{
    const struct lks_state *s = authz->state;
    struct walk *walk = calloc(1, sizeof(*walk));
    if (walk == NULL) {
        lks_call_problem(call, LKS_E_NOMEM, "out of memory");
        return false;
    }
    call->memory = walk;
    call->drop = walk_free;
    const struct lks_query_drift *ask = LKS_ASKED(call, lks_query_drift);
    walk->cause = ask->cause;
    walk->judged = ask->judged;
    walk->left = ask->page.limit;
    struct lks_str after = ask->page.after;
    if (after.len > 0 && !lks_intern_find(&s->names, after, &walk->from)) {
        lks_call_problem(call, LKS_E_INVALID, "query: after: is not the `next` of a page");
        return false;
    }
    walk->from += after.len > 0;
    return lks_lookup_pool(authz, call, ask->pool, &walk->by_pool, &walk->pool) &&
           lks_lookup_hosts(authz, call, "node", ask->node, LKS_LOOKUP_NODES, &walk->hosts);
}

static void put_item(struct lks_json_writer *w, const struct lks_state *s, uint32_t node,
                     const char *judged)
{
    lks_json_begin(w, NULL, '{');
    lks_json_text(w, "node", lks_state_name(s, node));
    const struct lks_node *n = &s->nodes[node];
    if (n->pool < s->pool_count)
        lks_view_text(w, "pool", lks_state_text(s, s->pools[n->pool].name));
    lks_view_intent(w, s, node, "stack", "digest");
    lks_json_cstr(w, "judged", judged);
    if (n->change != 0)
        lks_json_int(w, "change", (int64_t)n->change);
    lks_view_drift(w, s, node, ROWS_MAX);
    lks_json_end(w, '}');
}

static void look_at(const struct lks_state *s, uint32_t node, struct walk *walk, bool listing)
{
    enum lks_differs differs = lks_view_differs(s, node);
    const struct lks_node *n = &s->nodes[node];
    walk->nodes++;
    walk->differs[differs]++;
    enum lks_judged judged = lks_state_judged(s, node);
    walk->conforms += differs == LKS_DIFFERS_NOT && judged == LKS_JUDGED_CONFORMS;
    walk->unjudged += differs == LKS_DIFFERS_NOT && judged != LKS_JUDGED_CONFORMS;
    if (!listing || differs == LKS_DIFFERS_NOT)
        return;
    const char *word = lks_differs_words[differs];
    if ((walk->judged >= 0 && strcmp(lks_differs_words[walk->judged], word) != 0) ||
        (walk->cause >= 0 && (!n->drifting || n->drift_cause != (unsigned)walk->cause)))
        return;
    if (walk->left == 0) {
        walk->more = true;
        return;
    }
    put_item(&walk->w, s, node, word);
    walk->last = node;
    walk->left--;
}

static void walk_slice(const struct lks_authz *authz, const struct lks_call *call,
                       struct walk *walk)
{
    const struct lks_state *s = authz->state;
    struct lks_authz_view sight = lks_authz_sight(authz, call);
    uint32_t end = s->node_count - walk->at > SLICE ? walk->at + SLICE : s->node_count;
    for (; walk->at < end; walk->at++) {
        const struct lks_node *n = &s->nodes[walk->at];
        bool named = walk->hosts.size == 0 ||
                     (walk->at < walk->hosts.size && lks_bitset_test(&walk->hosts, walk->at));
        if (!n->placed || n->asset != 0 || !named || (walk->by_pool && n->pool != walk->pool) ||
            !lks_authz_sees(&sight, walk->at))
            continue;
        look_at(s, walk->at, walk, walk->at >= walk->from && !walk->more);
    }
}

static void walk_end(const struct lks_authz *authz, struct lks_call *call, struct walk *walk)
{
    struct lks_json_writer *w = &walk->w;
    lks_json_end(w, ']');
    lks_json_begin(w, "counts", '{');
    lks_json_int(w, "nodes", (int64_t)walk->nodes);
    lks_json_int(w, "conforms", (int64_t)walk->conforms);
    lks_json_int(w, "drift", (int64_t)walk->differs[LKS_DIFFERS_DRIFT]);
    lks_json_int(w, "unmeasured", (int64_t)walk->differs[LKS_DIFFERS_UNMEASURED]);
    lks_json_int(w, "unjudged", (int64_t)walk->unjudged);
    lks_json_int(w, "deviating", (int64_t)walk->differs[LKS_DIFFERS_DEVIATION]);
    lks_json_end(w, '}');
    if (walk->more)
        lks_json_text(w, "next", lks_state_name(authz->state, walk->last));
    lks_json_end(w, '}');
    call->needs = lks_engine_seq(authz->engine); /* what the last slice saw */
    call->status = 200;
    call->type = "application/json";
}

/* In slices: all nodes are counted, and other calls do not wait for that. */
void lks_handle_drift(struct lks_authz *authz, struct lks_call *call)
{
    struct walk *walk = call->memory;
    if (walk == NULL) {
        if (!walk_begin(authz, call))
            return;
        walk = call->memory;
        call->cursor = 1;
        walk->w = (struct lks_json_writer){.out = &call->out};
        lks_json_begin(&walk->w, NULL, '{');
        lks_json_begin(&walk->w, "items", '[');
    }
    walk_slice(authz, call, walk);
    if (walk->at >= authz->state->node_count)
        walk_end(authz, call, walk);
}

/* Deviations -------------------------------------------------------------------------------- */

struct of_pool {
    uint32_t pool;
    bool given;
};

/* One with a node that the caller sees, of the pool that was asked for. */
static bool is_seen(const struct lks_authz_view *sight, const struct lks_deviation *d,
                    const struct of_pool *of)
{
    if (sight->all && !of->given)
        return true;
    for (uint32_t i = 0; i < d->count; i++) {
        if ((!of->given || sight->state->nodes[d->nodes[i]].pool == of->pool) &&
            lks_authz_sees(sight, d->nodes[i]))
            return true;
    }
    return false;
}

static bool begin_deviations(struct lks_rows_walk *walk)
{
    const struct lks_query_deviations *ask = LKS_ASKED(walk->call, lks_query_deviations);
    struct of_pool *of = walk->own;
    return lks_lookup_pool(walk->authz, walk->call, ask->pool, &of->given, &of->pool);
}

static bool shows_deviation(struct lks_rows_walk *walk, const void *row)
{
    const struct lks_deviation *d = row;
    const struct of_pool *of = walk->own;
    int open = LKS_ASKED(walk->call, lks_query_deviations)->open;
    if (open >= 0 && (d->ended == 0) != open)
        return false;
    walk->work += walk->sight.all && !of->given ? 1 : d->count;
    return is_seen(&walk->sight, d, walk->own);
}

void lks_handle_deviations(struct lks_authz *authz, struct lks_call *call)
{
    static const struct lks_rows deviations = {.view = &lks_view_deviations,
                                               .begin = begin_deviations,
                                               .own = sizeof(struct of_pool),
                                               .shows = shows_deviation,
                                               .work_max = DEVIATION_NODES};
    lks_rows_page(authz, call, &deviations);
}

/* It may be meant for a later value, so it is recorded; a person who misspelled it has to know. */
static void put_uncovered(struct lks_json_writer *w, const struct lks_authz *authz,
                          const struct lks_call *call)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf near = {0}, text = {0};
    struct lks_str subject = LKS_ASKED(call, lks_ask_deviation)->subject;
    lks_buf_init(&near, SUBJECT_MAX);
    lks_buf_init(&text, (size_t)4 * SUBJECT_MAX);
    if (lks_subject_known(authz->state, lks_engine_book(authz->engine), &call->hosts, subject,
                          &near))
        return;
    lks_buf_addf(&text, "the stacks of these nodes pin no '%" LKS_STR_FMT "', so it covers nothing",
                 LKS_STR_ARG(subject));
    if (near.len > 0)
        lks_buf_addf(&text, "; did you mean '%s'?", near.ptr);
    lks_json_text(w, "warning", lks_buf_view(&text));
}

void lks_handle_deviate(struct lks_authz *authz, struct lks_call *call)
{
    LKS_CLEANUP(lks_decision_fini) struct lks_decision d = {0};
    const struct lks_ask_deviation *ask = LKS_ASKED(call, lks_ask_deviation);
    struct lks_event event = {
        .kind = LKS_EVENT_DEVIATE,
        .name = ask->where.nodes,
        .reason = ask->reason,
        .deviate = {.subject = ask->subject,
                    .value = ask->value,
                    .owner = ask->owner,
                    .approver = ask->approver,
                    .expires = ask->expires},
    };
    if (!lks_authz_end(authz, call, "expires", ask->expires) ||
        !lks_authz_turn(authz, call, &event, NULL, &d))
        return;
    uint64_t id = 0;
    bool waits = false;
    for (size_t i = 0; i < d.count; i++) {
        if (d.records[i].kind != LKS_RECORD_DEVIATION)
            continue;
        id = d.records[i].deviation.id;
        waits = d.records[i].deviation.waits;
    }
    struct lks_json_writer w = lks_call_json(call);
    lks_json_int(&w, "id", (int64_t)id);
    if (waits)
        lks_json_bool(&w, "waits", true);
    put_uncovered(&w, authz, call);
    lks_json_int(&w, "seq", (int64_t)call->needs);
    lks_authz_touched(&w, &d.touched);
    lks_json_end(&w, '}');
}

void lks_handle_deviation_move(struct lks_authz *authz, struct lks_call *call)
{
    bool approved = lks_str_is(lks_call_verb(call), "approve");
    struct lks_event event = {
        .kind = approved ? LKS_EVENT_DEVIATION_AGREE : LKS_EVENT_DEVIATION_CLOSE,
        .reason = LKS_ASKED(call, lks_ask_reason)->reason,
        .deviation = lks_authz_id(call),
    };
    lks_authz_record(authz, call, &event);
}

/* What is said of nodes --------------------------------------------------------------------- */

void lks_handle_condition(struct lks_authz *authz, struct lks_call *call)
{
    const struct lks_ask_condition *ask = LKS_ASKED(call, lks_ask_condition);
    struct lks_event event = {
        .kind = LKS_EVENT_CONDITION,
        .name = call->named,
        .reason = ask->text,
        .condition = {.condition = (enum lks_condition)ask->condition,
                      .on = ask->on,
                      .until = ask->until,
                      .stack = ask->stack,
                      .text = ask->text},
    };
    if ((ask->condition == LKS_CONDITION_ATTESTED &&
         !lks_authz_end(authz, call, "until", ask->until)) ||
        !lks_lookup_digest(authz, call, "stack", &event.condition.stack))
        return;
    if (ask->condition == LKS_CONDITION_CHECKED && ask->until == 0)
        event.condition.until = lks_engine_now(authz->engine, authz->now).wall;
    lks_authz_record(authz, call, &event);
}

/* Out of band ------------------------------------------------------------------------------- */

void lks_handle_outband(struct lks_authz *authz, struct lks_call *call)
{
    if (call->cursor != 0)
        return; /* the lease has ended too, and the answer stands */
    uint32_t node = lks_authz_node(authz, call);
    if (node == LKS_NO_NODE)
        return;
    struct lks_event event = {
        .kind = LKS_EVENT_OUTBAND,
        .node = node,
        .name = call->named,
        .outband = {.tuple = call->tuple, .report = lks_str_from(call->digest)},
    };
    if (lks_authz_report(authz, call, &event))
        lks_handle_sweep_read(authz, call);
}

void lks_handle_outband_gone(struct lks_authz *authz, struct lks_call *call)
{
    uint32_t node = lks_authz_node(authz, call);
    struct lks_event event = {
        .kind = LKS_EVENT_OUTBAND,
        .node = node,
        .name = call->named,
        .reason = LKS_ASKED(call, lks_ask_reason)->reason,
    };
    if (node != LKS_NO_NODE)
        lks_authz_record(authz, call, &event);
}
