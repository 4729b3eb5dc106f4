/* Records about what nodes run: readings, what they are held against, drift, and exceptions. */
#include "base/heap.h"
#include "base/vec.h"
#include "codec/notation/hostlist.h"
#include "core/conform/basis.h"
#include "core/fold/sets.h"
#include "core/rows/deviation.h"
#include "core/rows/verdict.h"
#include "core/state/node_status.h"
#include "core/state/state.h"
#include "core/state/state_room.h"
#include "model/record/record.h"

#include <stdlib.h>

/* Bases ------------------------------------------------------------------------------------- */

/* Readings are long, and a node that changes all the time brings ever new ones: with its last node
 * a basis is forgotten, and its verdicts leave their places to others. */
static void forget_basis(struct lks_state *s, struct lks_state_basis *basis)
{
    while (basis->verdict != 0) {
        uint32_t v = basis->verdict;
        struct lks_state_verdict *verdict = &s->verdicts[v];
        basis->verdict = verdict->next;
        lks_apply_drop(s, &verdict->first);
        lks_apply_drop(s, &verdict->wrong);
        lks_apply_drop(s, &verdict->values);
        s->verdicts[v] = (struct lks_state_verdict){.next = s->verdict_free};
        s->verdict_free = v;
    }
    free(basis->readings);
    *basis = (struct lks_state_basis){0};
}

/* The new one is counted first, since it may be the same. */
static void use_basis(struct lks_state *s, uint32_t *handle, uint32_t now)
{
    uint32_t was = *handle;
    if (now != 0)
        s->bases[now - 1].uses++;
    *handle = now;
    if (was != 0 && --s->bases[was - 1].uses == 0)
        forget_basis(s, &s->bases[was - 1]);
}

/* The same for what it is judged by: nodes of one basis are chained. */
static void use_whole(struct lks_state *s, struct lks_node *node, uint32_t now)
{
    uint32_t n = (uint32_t)(node - s->nodes) + 1;
    if (node->whole != 0) {
        if (node->whole_before != 0)
            s->nodes[node->whole_before - 1].whole_next = node->whole_next;
        else
            s->bases[node->whole - 1].first = node->whole_next;
        if (node->whole_next != 0)
            s->nodes[node->whole_next - 1].whole_before = node->whole_before;
    }
    node->whole_next = node->whole_before = 0;
    use_basis(s, &node->whole, now);
    if (now == 0)
        return;
    node->whole_next = s->bases[now - 1].first;
    if (node->whole_next != 0)
        s->nodes[node->whole_next - 1].whole_before = n;
    s->bases[now - 1].first = n;
}

enum lks_code lks_apply_basis(const struct lks_applying *a)
{
    const struct lks_rec_basis *from = &a->r->basis;
    uint32_t handle = 0;
    if (lks_state_basis_place(a->s, from->digest, &handle, a->err) != LKS_OK)
        return a->err->code;
    if (handle == 0 || from->readings.len == 0 || a->s->bases[handle - 1].readings != NULL)
        return LKS_OK;
    struct lks_state_basis *basis = &a->s->bases[handle - 1];
    basis->readings = malloc(from->readings.len);
    if (basis->readings == NULL)
        return lks_fail_nomem(a->err);
    memcpy(basis->readings, from->readings.ptr, from->readings.len);
    basis->len = lks_apply_small(from->readings.len);
    basis->gpus = lks_basis_gpus(from->readings);
    return LKS_OK;
}

/* A place for a verdict of this basis and stack: its own, a free one, or a new one. */
static enum lks_code verdict_place(const struct lks_applying *a, uint32_t basis, lks_text stack,
                                   uint32_t *out)
{
    struct lks_state *s = a->s;
    uint32_t v = lks_state_verdict_find(s, basis, stack);
    *out = v;
    if (v != 0)
        return LKS_OK;
    v = s->verdict_free;
    if (v == 0) {
        v = s->verdict_count == 0 ? 1 : s->verdict_count; /* place 0 is not used */
        if (LKS_VEC_RESERVE_MAX(s->verdicts, s->verdict_room, v + 1, LKS_STATE_VERDICTS_MAX,
                                a->err) != LKS_OK)
            return lks_wrap(a->err, "verdicts");
        s->verdict_count = v + 1;
    } else {
        s->verdict_free = s->verdicts[v].next;
    }
    s->verdicts[v] = (struct lks_state_verdict){
        .basis = basis, .stack = stack, .next = s->bases[basis - 1].verdict};
    s->bases[basis - 1].verdict = v;
    *out = v;
    return LKS_OK;
}

/* A verdict about readings that no node has is ignored. */
enum lks_code lks_apply_verdict(const struct lks_applying *a)
{
    const struct lks_rec_verdict *from = &a->r->verdict;
    uint32_t basis = lks_state_basis(a->s, from->basis), v = 0;
    lks_text stack = 0;
    if (basis == 0 || from->stack.len == 0 || from->judged >= LKS_JUDGED_COUNT ||
        from->judged == LKS_JUDGED_NOT)
        return LKS_OK;
    if (lks_apply_keep(a, from->stack, &stack) != LKS_OK ||
        verdict_place(a, basis, stack, &v) != LKS_OK)
        return a->err->code;
    if (lks_sets_apply(a, &a->s->verdicts[v]) != LKS_OK)
        return a->err->code;
    a->s->standing->tried = 0; /* there may be more to judge */
    lks_node_status_update_basis(a->s, basis);
    return LKS_OK;
}

/* Readings ---------------------------------------------------------------------------------- */

void lks_apply_forget_readings(const struct lks_applying *a, struct lks_node *node)
{
    struct lks_state *s = a->s;
    use_basis(s, &node->inband, 0);
    use_basis(s, &node->outband, 0);
    use_whole(s, node, 0);
    (void)lks_heap_remove(&s->outband_ends, lks_apply_number(a, node));
    lks_text *const passing[] = {&node->report, &node->changed, &node->outband_report,
                                 &node->drift_text, &node->drift_evidence};
    for (size_t i = 0; i < LKS_COUNT(passing); i++)
        lks_apply_drop(s, passing[i]);
    node->tuple = node->tuple_boot = node->right = node->drift_stack = 0;
    node->taken = node->tuple_since = node->outband_taken = node->scheduler_since = 0;
    node->scheduler_gres = node->scheduler_state = 0;
    node->outband_over = node->drifting = false;
    node->drift_cause = LKS_DRIFT_UNKNOWN;
    node->drift_since = 0;
}

/* When an out-of-band reading that was taken then is past its age. */
static lks_ms ends_at(const struct lks_state *s, lks_ms taken)
{
    lks_ms end = taken + s->limits.outband_age;
    return end < taken ? UINT64_MAX : end;
}

enum lks_code lks_apply_age(const struct lks_applying *a, uint32_t n, bool over)
{
    struct lks_state *s = a->s;
    struct lks_node *node = &s->nodes[n];
    node->outband_over = node->outband != 0 && over;
    if (node->outband != 0 && !over)
        return lks_heap_set(&s->outband_ends, n, ends_at(s, node->outband_taken), a->err);
    (void)lks_heap_remove(&s->outband_ends, n);
    return LKS_OK;
}

/* A record of version 1 names no readings: its node is not judged, and its agent is asked again.
 * One that says it conforms says to what: what it was last right in outlives the judgement. */
enum lks_code lks_apply_tuple(const struct lks_applying *a)
{
    const struct lks_rec_tuple *t = &a->r->tuple;
    uint32_t inband = 0, whole = 0;
    lks_text stack = 0;
    if (t->judged >= LKS_JUDGED_COUNT)
        return LKS_OK;
    if (lks_sets_apply(a, a->node) != LKS_OK || lks_apply_keep(a, t->stack, &stack) != LKS_OK ||
        lks_state_basis_place(a->s, t->basis, &inband, a->err) != LKS_OK ||
        lks_state_basis_place(a->s, t->whole, &whole, a->err) != LKS_OK)
        return a->err->code;
    use_basis(a->s, &a->node->inband, inband);
    use_whole(a->s, a->node, whole);
    if (t->judged == LKS_JUDGED_CONFORMS)
        a->node->right = stack;
    return LKS_OK;
}

enum lks_code lks_apply_outband(const struct lks_applying *a)
{
    const struct lks_rec_outband *o = &a->r->outband;
    uint32_t outband = 0, whole = 0;
    if (lks_sets_apply(a, a->node) != LKS_OK ||
        lks_state_basis_place(a->s, o->basis, &outband, a->err) != LKS_OK ||
        lks_state_basis_place(a->s, o->whole, &whole, a->err) != LKS_OK)
        return a->err->code;
    use_basis(a->s, &a->node->outband, outband);
    use_whole(a->s, a->node, whole);
    a->node->outband_taken = outband != 0 ? o->taken : 0;
    return lks_apply_age(a, lks_apply_number(a, a->node), a->time >= ends_at(a->s, o->taken));
}

enum lks_code lks_apply_advertised(const struct lks_applying *a)
{
    uint32_t whole = 0;
    if (lks_sets_apply(a, a->node) != LKS_OK ||
        lks_state_basis_place(a->s, a->r->advertised.whole, &whole, a->err) != LKS_OK)
        return a->err->code;
    use_whole(a->s, a->node, whole);
    return LKS_OK;
}

enum lks_code lks_apply_drift(const struct lks_applying *a)
{
    const struct lks_rec_drift *d = &a->r->drift;
    struct lks_node *node = a->node;
    if (d->cause >= LKS_DRIFT_COUNT)
        return LKS_OK;
    if (d->on && !node->drifting && node->change == 0)
        lks_apply_turned(a, lks_apply_number(a, node));
    if (!d->on || !node->drifting) /* from what it is now told about it is no other drift */
        node->drift_since = a->time;
    return lks_sets_apply(a, node);
}

/* What others say --------------------------------------------------------------------------- */

enum lks_code lks_apply_condition(const struct lks_applying *a)
{
    const struct lks_rec_condition *c = &a->r->condition;
    struct lks_node *node = a->node;
    lks_text target = 0;
    if (c->condition >= LKS_CONDITION_COUNT)
        return LKS_OK;
    if (lks_apply_keep(a, c->stack, &target) != LKS_OK)
        return a->err->code;
    switch ((enum lks_condition)c->condition) {
    case LKS_CONDITION_UNHEALTHY:
        node->unhealthy = c->on;
        break;
    case LKS_CONDITION_CHANGING:
        if (!c->on)
            node->changing = 0;
        else if (node->changing == 0)
            node->changing = lks_apply_moment(a);
        node->target = c->on ? target : 0;
        break;
    case LKS_CONDITION_ATTESTED:
        node->attested_until = c->on ? c->until : 0;
        break;
    case LKS_CONDITION_CHECKED:
    case LKS_CONDITION_COUNT:
        node->checked_at = c->on ? c->until : 0;
        break;
    }
    if (c->condition != LKS_CONDITION_UNHEALTHY && c->condition != LKS_CONDITION_CHANGING)
        return LKS_OK;
    return lks_apply_pass(a, c->text, &node->condition_text);
}

enum lks_code lks_apply_drained(const struct lks_applying *a)
{
    if (lks_str_is(a->r->drained.owner, LKS_NODE_STATUS_REFUSED))
        lks_apply_turned(a, lks_apply_number(a, a->node));
    return a->r->drained.owner.len == 0 ? LKS_OK : lks_sets_apply(a, a->node);
}

/* Only its owner ends a drain. */
enum lks_code lks_apply_undrained(const struct lks_applying *a)
{
    struct lks_str owner = lks_state_text(a->s, a->node->drained_by);
    return lks_str_eq(owner, a->r->undrained.owner) ? lks_sets_apply(a, a->node) : LKS_OK;
}

/* Deviations -------------------------------------------------------------------------------- */

static void find_due(struct lks_state *s)
{
    s->deviations_due = UINT64_MAX;
    for (uint32_t i = 0; i < s->deviation_count; i++) {
        const struct lks_deviation *d = &s->deviations[i];
        if (d->ended == 0 && d->expires < s->deviations_due)
            s->deviations_due = d->expires;
    }
}

/* Of the older half those that ended go; were none ended there, the oldest, which
 * lks_decide_deviate() keeps from happening to one that holds. Another rule would make another
 * state of journals that were written under this one. */
static void thin_deviations(struct lks_state *s)
{
    uint32_t kept = 0, half = s->deviation_count / 2;
    for (uint32_t i = 0; i < s->deviation_count; i++) {
        if (i >= half || s->deviations[i].ended == 0)
            s->deviations[kept++] = s->deviations[i];
        else
            free(s->deviations[i].nodes);
    }
    if (kept == s->deviation_count) {
        struct lks_deviation oldest = s->deviations[0];
        LKS_VEC_REMOVE(s->deviations, kept, 0);
        s->deviation_count = kept;
        oldest.ended = 1;
        lks_node_status_deviation(s, &oldest);
        free(oldest.nodes);
    }
    s->deviation_count = kept;
}

static int by_place(const void *left, const void *right)
{
    const uint32_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

struct naming {
    struct lks_deviation *to;
    uint32_t room;
};

static enum lks_code name_node(const struct lks_applying *a, struct lks_str name, void *ctx)
{
    struct naming *naming = ctx;
    struct lks_deviation *d = naming->to;
    uint32_t n = 0;
    if (lks_state_place(a->s, name, &n, a->err) != LKS_OK ||
        LKS_VEC_RESERVE_MAX(d->nodes, naming->room, d->count + 1, LKS_STATE_NODES_MAX, a->err) !=
            LKS_OK)
        return a->err->code;
    d->nodes[d->count++] = n;
    return LKS_OK;
}

static enum lks_code name_nodes(const struct lks_applying *a, struct lks_str hosts,
                                struct lks_deviation *d)
{
    struct naming naming = {.to = d};
    if (lks_apply_hosts(a, hosts, name_node, &naming) != LKS_OK)
        return a->err->code;
    if (d->count > 0)
        qsort(d->nodes, d->count, sizeof(d->nodes[0]), by_place);
    return LKS_OK;
}

static enum lks_code add_deviation(const struct lks_applying *a, struct lks_deviation *made)
{
    struct lks_state *s = a->s;
    if (name_nodes(a, a->r->deviation.hosts, made) != LKS_OK)
        return a->err->code;
    if (s->deviation_count == LKS_STATE_DEVIATIONS_MAX)
        thin_deviations(s);
    if (LKS_VEC_ADD(s->deviations, s->deviation_room, s->deviation_count, LKS_STATE_DEVIATIONS_MAX,
                    *made, a->err) != LKS_OK)
        return lks_wrap(a->err, "deviations");
    s->next_deviation = made->id + 1;
    find_due(s);
    lks_node_status_deviation(s, made);
    return LKS_OK;
}

enum lks_code lks_apply_deviation(const struct lks_applying *a)
{
    const struct lks_rec_deviation *from = &a->r->deviation;
    if (from->id < a->s->next_deviation || from->id == UINT64_MAX)
        return LKS_OK;
    struct lks_deviation made = {0};
    if (lks_sets_apply(a, &made) != LKS_OK)
        return a->err->code;
    enum lks_code code = add_deviation(a, &made);
    if (code != LKS_OK)
        free(made.nodes);
    return code;
}

static struct lks_deviation *find_deviation(const struct lks_state *s, uint64_t id)
{
    return LKS_STATE_BY_ID(s->deviations, s->deviation_count, id);
}

enum lks_code lks_apply_deviation_agreed(const struct lks_applying *a)
{
    const struct lks_rec_deviation_agreed *from = &a->r->deviation_agreed;
    struct lks_deviation *d = find_deviation(a->s, from->id);
    if (d == NULL || !lks_apply_once(a, &d->agreed))
        return LKS_OK;
    if (d->waits && d->ended == 0)
        lks_node_status_deviation(a->s, d);
    return lks_sets_apply(a, d);
}

enum lks_code lks_apply_deviation_ended(const struct lks_applying *a)
{
    const struct lks_rec_deviation_ended *from = &a->r->deviation_ended;
    struct lks_deviation *d = find_deviation(a->s, from->id);
    if (d == NULL || !lks_apply_once(a, &d->ended))
        return LKS_OK;
    find_due(a->s);
    lks_node_status_deviation(a->s, d);
    return lks_sets_apply(a, d);
}

/* Loaded rows ------------------------------------------------------------------------------- */

/* What it has is said as if it came now. */
static enum lks_code index_readings_of(const struct lks_applying *a, uint32_t n)
{
    struct lks_node *node = &a->s->nodes[n];
    const uint32_t inband = node->inband, outband = node->outband, whole = node->whole;
    node->inband = node->outband = node->whole = 0;
    use_basis(a->s, &node->inband, inband);
    use_basis(a->s, &node->outband, outband);
    use_whole(a->s, node, whole);
    return lks_apply_age(a, n, node->outband_over);
}

enum lks_code lks_apply_index_readings(const struct lks_applying *a)
{
    struct lks_state *s = a->s;
    for (uint32_t i = 0; i < s->basis_room; i++)
        s->bases[i].gpus = lks_basis_gpus(lks_state_readings(s, i + 1));
    for (uint32_t v = 1; v < s->verdict_count; v++) {
        if (s->verdicts[v].basis == 0)
            return lks_fail(a->err, LKS_E_INVALID, "a verdict has no readings");
        struct lks_state_basis *basis = &s->bases[s->verdicts[v].basis - 1];
        s->verdicts[v].next = basis->verdict;
        basis->verdict = v;
    }
    for (uint32_t n = 0; n < s->node_count; n++) {
        if (index_readings_of(a, n) != LKS_OK)
            return a->err->code;
    }
    return LKS_OK;
}

/* A short text can name all nodes there may be, so the sum is known before any list is made. */
static enum lks_code check_named(const struct lks_applying *a)
{
    size_t all = 0, count = 0;
    for (uint32_t i = 0; i < a->s->deviation_count; i++) {
        struct lks_err ignored = {0};
        if (lks_hostlist_count(lks_state_text(a->s, a->s->deviations[i].hosts), &count, &ignored) ==
            LKS_OK)
            all += count;
    }
    return all <= LKS_STATE_DEVIATED_MAX
               ? LKS_OK
               : lks_fail(a->err, LKS_E_INVALID,
                          "its deviations name %zu nodes, and %d are the most they may", all,
                          LKS_STATE_DEVIATED_MAX);
}

enum lks_code lks_apply_index_deviations(const struct lks_applying *a)
{
    if (check_named(a) != LKS_OK)
        return a->err->code;
    for (uint32_t i = 0; i < a->s->deviation_count; i++) {
        struct lks_deviation *d = &a->s->deviations[i];
        if (name_nodes(a, lks_state_text(a->s, d->hosts), d) != LKS_OK)
            return a->err->code;
        lks_node_status_deviation(a->s, d);
    }
    find_due(a->s);
    return LKS_OK;
}
