#include "base/near.h"
#include "core/entity/settable.h"
#include "core/rows/verdict.h"
#include "core/rules/decide_rules.h"
#include "core/state/node_status.h"
#include "core/state/state.h"

/* What a person asks of nodes, by host list: all of them or none. ---------------------------- */

/* The nodes that are meant, each once, in the order of their names. */
struct called {
    struct lks_str hosts; /* folded */
    struct lks_hostlist names;
    uint32_t *nodes; /* by name */
};

static bool check_count(struct lks_deciding *d)
{
    struct lks_err err = {0};
    size_t count = 0;
    unsigned long long most = d->state->limits.call_nodes;
    if (lks_hostlist_count(d->event->name, &count, &err) != LKS_OK)
        lks_decision_refuse(d, LKS_E_INVALID, "nodes: %s", err.msg);
    else if (count == 0)
        lks_decision_refuse(d, LKS_E_INVALID, "nodes: the list names none");
    else if (count > most)
        lks_decision_refuse(d, LKS_E_REFUSED,
                            "these are %zu nodes, and one call may touch %llu "
                            "(limits.call_nodes); more belongs in a change",
                            count, most);
    else
        return true;
    return false;
}

/* Expand the host list; a detour by its folded form leaves each name once. */
static bool expand(struct lks_deciding *d, struct called *out)
{
    struct lks_arena *arena = &d->out->arena;
    struct lks_err err = {0};
    struct lks_hostlist written = {0};
    if (!check_count(d))
        return false;
    if (lks_hostlist_parse(d->event->name, arena, &written, &err) == LKS_OK) {
        if (!lks_decision_fold(d, written.names, written.count, &out->hosts)) {
            lks_decision_refuse(d, LKS_E_LIMIT, "nodes: the list is too long");
            return false;
        }
        if (lks_hostlist_parse(out->hosts, arena, &out->names, &err) == LKS_OK)
            return true;
    }
    d->out->failed = err.code;
    return false;
}

/* False when that was refused, or memory ran out. */
static bool call(struct lks_deciding *d, struct called *out)
{
    struct lks_err err = {0};
    if (!lks_decision_reason(d) || !expand(d, out))
        return false;
    out->nodes = lks_arena_array(&d->out->arena, out->names.count, sizeof(*out->nodes));
    if (out->nodes == NULL) {
        d->out->failed = lks_arena_fail(&d->out->arena, &err);
        return false;
    }
    for (size_t i = 0; i < out->names.count; i++) {
        out->nodes[i] = lks_state_node(d->state, out->names.names[i]);
        if (out->nodes[i] == LKS_NO_NODE) {
            lks_decision_no_node(d, out->names.names[i]);
            return false;
        }
        lks_decision_touch(d, out->nodes[i]);
    }
    return true;
}

/* Hold -------------------------------------------------------------------------------------- */

/* A hold keeps the reason it was given first. The same call again is answered as it was. */
void lks_decide_hold(struct lks_deciding *d)
{
    const struct lks_event *e = d->event;
    struct called c = {0};
    if (!call(d, &c))
        return;
    for (size_t i = 0; i < c.names.count; i++) {
        const struct lks_node *n = &d->state->nodes[c.nodes[i]];
        struct lks_str by = lks_state_text(d->state, n->held_by);
        struct lks_str reason = lks_state_text(d->state, n->held_reason);
        if (!n->held) {
            struct lks_record *r = lks_decision_add(d, LKS_RECORD_HELD);
            r->held = (struct lks_rec_held){.node = c.names.names[i],
                                            .by = e->by,
                                            .reason = lks_str_trim(e->reason),
                                            .row = lks_decision_row(d, LKS_STR(""))};
        } else if (!lks_str_eq(by, e->by) || !lks_str_eq(reason, lks_str_trim(e->reason))) {
            lks_decision_refuse(
                d, LKS_E_REFUSED,
                "%" LKS_STR_FMT " is held already, by %" LKS_STR_FMT ": %" LKS_STR_FMT,
                LKS_STR_ARG(c.names.names[i]), LKS_STR_ARG(by), LKS_STR_ARG(reason));
            return;
        }
    }
}

/* Set --------------------------------------------------------------------------------------- */

static void refuse_column(struct lks_deciding *d, struct lks_str name)
{
    struct lks_str all = {"", 0};
    for (const char *const *word = lks_settable_node_words; *word != NULL; word++)
        all = lks_decision_text(d, "%" LKS_STR_FMT "%s%s", LKS_STR_ARG(all),
                                all.len > 0 ? ", " : "", *word);
    lks_decision_refuse(d, LKS_E_INVALID,
                        "column: '%" LKS_STR_FMT "' cannot be set; settable: %" LKS_STR_FMT,
                        LKS_STR_ARG(name), LKS_STR_ARG(all));
}

/* Nodes that have the value already are left alone, so the same call again changes nothing. */
void lks_decide_node_set(struct lks_deciding *d)
{
    const struct lks_event *e = d->event;
    const struct lks_column *column = lks_settable_find(e->set.column);
    struct lks_str value = lks_str_trim(e->set.value);
    struct called c = {0};
    if (!call(d, &c))
        return;
    if (column == NULL) {
        refuse_column(d, e->set.column);
        return;
    }
    if (value.len > 0 && !lks_decision_line(d, column->name, value, LKS_SETTABLE_MAX))
        return;
    for (size_t i = 0; i < c.names.count; i++) {
        const struct lks_node *n = &d->state->nodes[c.nodes[i]];
        if (lks_str_eq(lks_entity_text(d->state, column, n, 0), value))
            continue;
        lks_decision_add(d, LKS_RECORD_NODE_SET)->node_set =
            (struct lks_rec_node_set){.node = c.names.names[i],
                                      .column = lks_str_from(column->name),
                                      .value = value,
                                      .by = e->by,
                                      .reason = lks_str_trim(e->reason)};
    }
}

/* Release ----------------------------------------------------------------------------------- */

/* Why a node may not leave intake, in a few words; an empty view when it may. */
static struct lks_str unfit(struct lks_deciding *d, uint32_t n)
{
    const struct lks_state_verdict *v = lks_state_verdict(d->state, n);
    if (d->state->nodes[n].tuple == 0)
        return LKS_STR("what it runs was never read");
    if (lks_state_intent(d->state, n) == 0)
        return (struct lks_str){"", 0};
    if (v == NULL)
        return LKS_STR("what it runs was not compared with the stack of its pool");
    if (lks_node_status_unread(d->state, n))
        return LKS_STR("it was not read since it booted or was changed");
    if (v->judged == LKS_JUDGED_CONFORMS)
        return (struct lks_str){"", 0};
    struct lks_str first = lks_state_text(d->state, v->first);
    return lks_decision_text(d, "%u drifted and %u unmeasured%s%" LKS_STR_FMT, v->drifted,
                             v->unmeasured, first.len > 0 ? ", first " : "", LKS_STR_ARG(first));
}

static void accept(struct lks_deciding *d, struct lks_str hosts, struct lks_str reason)
{
    lks_decision_add(d, LKS_RECORD_ACCEPTED)->accepted =
        (struct lks_rec_accepted){.hosts = hosts, .by = d->event->by, .reason = reason};
}

/* Out of intake, where it is fit or a person insists; the record then says what was passed over.
 * True when it leaves. */
static bool release_intake(struct lks_deciding *d, uint32_t n, struct lks_str name,
                           struct lks_str *why)
{
    struct lks_str reason = lks_str_trim(d->event->reason);
    *why = unfit(d, n);
    if (why->len > 0 && !d->event->release.force)
        return false;
    if (why->len > 0)
        reason = lks_decision_text(d, "although %" LKS_STR_FMT ": %" LKS_STR_FMT, LKS_STR_ARG(*why),
                                   LKS_STR_ARG(reason));
    accept(d, name, reason);
    return true;
}

/* A node may be held and in intake: what can be lifted is lifted, and only where nothing can is the
 * answer no. So a hold on a node that waits in intake can be ended before it conforms. */
static void release(struct lks_deciding *d, uint32_t node, struct lks_str name)
{
    const struct lks_node *n = &d->state->nodes[node];
    struct lks_str why = {"", 0};
    bool left = false;
    if (n->held && n->changing == 0 && !lks_decide_command_answered(d, node))
        return;
    if (n->held)
        lks_decision_add(d, LKS_RECORD_UNHELD)->unheld = (struct lks_rec_unheld){
            .node = name, .by = d->event->by, .reason = lks_str_trim(d->event->reason)};
    if (n->held)
        lks_decide_sched_emptied(d, node, false, LKS_STR("the hold ended"));
    if (n->intake)
        left = release_intake(d, node, name, &why);
    if (n->held || left)
        return;
    if (n->intake)
        lks_decision_refuse(
            d, LKS_E_REFUSED,
            "%" LKS_STR_FMT " stays in intake: %" LKS_STR_FMT "; %s, or release it with force",
            LKS_STR_ARG(name), LKS_STR_ARG(why),
            lks_node_status_unread(d->state, node) ? "wait until it reports" : "repair it");
    else
        lks_decision_refuse(d, LKS_E_REFUSED, "%" LKS_STR_FMT " is neither held nor in intake",
                            LKS_STR_ARG(name));
}

void lks_decide_release(struct lks_deciding *d)
{
    struct called c = {0};
    if (!call(d, &c))
        return;
    for (size_t i = 0; i < c.names.count && d->out->refused.code == LKS_OK; i++)
        release(d, c.nodes[i], c.names.names[i]);
}

/* Replace and remove ------------------------------------------------------------------------ */

/* An update in progress at an endpoint, or one that a person has to resolve, goes with its node. */
static bool are_unflashed(struct lks_deciding *d, const struct called *c)
{
    for (size_t i = 0; i < c->names.count; i++) {
        if (!lks_decide_flash_unflashed(d, c->nodes[i]))
            return false;
    }
    return true;
}

/* The old machine still has its certificates, and one of the site's authority needs no record to be
 * taken. */
static void bar_certificates(struct lks_deciding *d, uint32_t node, struct lks_str name)
{
    const struct lks_certificate *c = d->state->nodes[node].certificates;
    for (size_t i = 0; i < LKS_COUNT(d->state->nodes[node].certificates); i++) {
        char fingerprint[LKS_DIGEST_SIZE];
        if (lks_state_certificate_text(&c[i], fingerprint)[0] != '\0' && c[i].expires > d->now.wall)
            lks_decision_add(d, LKS_RECORD_BARRED)->barred =
                (struct lks_rec_barred){.node = name,
                                        .fingerprint = lks_decision_text(d, "%s", fingerprint),
                                        .expires = c[i].expires};
    }
}

/* Another machine stands behind the name: nothing that was known of the old one holds, its
 * certificates included, and the new one has to be accepted. */
void lks_decide_replace(struct lks_deciding *d)
{
    struct called c = {0};
    if (!call(d, &c))
        return;
    struct lks_str reason = lks_str_trim(d->event->reason);
    struct lks_str why = lks_decision_text(d, "replaced: %" LKS_STR_FMT, LKS_STR_ARG(reason));
    if (!are_unflashed(d, &c))
        return;
    for (size_t i = 0; i < c.names.count; i++) {
        bar_certificates(d, c.nodes[i], c.names.names[i]);
        lks_decision_add(d, LKS_RECORD_REPLACED)->replaced = (struct lks_rec_replaced){
            .node = c.names.names[i], .by = d->event->by, .reason = reason};
        lks_decision_add(d, LKS_RECORD_INTAKE)->intake =
            (struct lks_rec_intake){.node = c.names.names[i], .why = why};
    }
}

/* A node that we still hear may be at work, and once removed nothing stands between it and a job.
 * So a person holds it first, which takes it out of admission and says why. "Late" counts as heard:
 * its next heartbeat may be on the way. One that is lost, or was never seen, goes at once. */
void lks_decide_remove(struct lks_deciding *d)
{
    struct called c = {0};
    if (!call(d, &c) || !are_unflashed(d, &c))
        return;
    for (size_t i = 0; i < c.names.count; i++) {
        const struct lks_node *n = &d->state->nodes[c.nodes[i]];
        bool heard = n->liveness == LKS_LIVE || n->liveness == LKS_LATE;
        if (!heard || n->held)
            continue;
        lks_decision_refuse(d, LKS_E_REFUSED,
                            "%" LKS_STR_FMT
                            " is %s; hold it first: lockstep node hold %" LKS_STR_FMT,
                            LKS_STR_ARG(c.names.names[i]), lks_liveness_words[n->liveness],
                            LKS_STR_ARG(c.names.names[i]));
        return;
    }
    lks_decision_add(d, LKS_RECORD_REMOVED)->removed = (struct lks_rec_removed){
        .hosts = c.hosts, .by = d->event->by, .reason = lks_str_trim(d->event->reason)};
}
