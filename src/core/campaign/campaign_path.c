/* The way of a member through its steps, there and back, and beside the others of its unit. */
#include "core/campaign/campaign_parts.h"
#include "core/plan/plan.h"
#include "core/rows/flash.h"
#include "core/rows/verdict.h"
#include "core/state/agree.h"
#include "core/state/node_status.h"
#include "core/state/state.h"

struct lks_look lks_campaign_look_at(const struct lks_state *s, const struct lks_state_change *c,
                                     const struct lks_member *m)
{
    return (struct lks_look){
        .s = s,
        .c = c,
        .m = m,
        .n = &s->nodes[m->node],
        .u = &c->units[m->unit],
        .r = &c->recipes[m->recipe],
        .step = lks_member_step(c, m),
    };
}

/* Steps ------------------------------------------------------------------------------------- */

/* What each kind of step is to the ways there and back. */
static const struct {
    bool undone;   /* it does something that is reverted */
    bool endpoint; /* what it asks for is an update by the endpoint; else a command, or nothing */
} kinds[LKS_DO_COUNT] = {
    [LKS_DO_STAGE] = {true, true},
    [LKS_DO_APPLY] = {true, false},
    [LKS_DO_FLASH] = {true, true},
    [LKS_DO_ACTIVATE] = {true, true},
};

bool lks_campaign_step_by_endpoint(const struct lks_step *step)
{
    return kinds[step->kind].endpoint;
}

uint32_t lks_campaign_path_find(const struct lks_recipe *r, enum lks_step_kind kind)
{
    uint32_t i = 0;
    while (i < r->count && r->steps[i].kind != kind)
        i++;
    return i;
}

bool lks_campaign_step_one_way(const struct lks_step *step)
{
    if (step->kind == LKS_DO_APPLY)
        return step->one_way || step->order_back == 0;
    if (step->kind == LKS_DO_FLASH || step->kind == LKS_DO_ACTIVATE)
        return step->one_way || (step->revert == LKS_BMC_UPDATE && step->image_back == 0);
    return false;
}

/* What is only staged is no change yet. */
static bool is_change(const struct lks_step *step)
{
    return kinds[step->kind].undone && step->kind != LKS_DO_STAGE;
}

bool lks_campaign_path_reversible(const struct lks_recipe *r)
{
    for (uint32_t i = 0; i < r->count; i++) {
        if (is_change(&r->steps[i]) && !lks_campaign_step_one_way(&r->steps[i]))
            return true;
    }
    return false;
}

/* There ------------------------------------------------------------------------------------- */

static lks_text class_of(const struct lks_node *n)
{
    return n->asset != 0 ? n->asset : n->class;
}

/* Evidence from before it began, or by itself on an earlier try, is enough. */
bool lks_campaign_look_proves(const struct lks_look *k)
{
    if (!k->m->proves || k->m->pass != 0 || k->m->back || !lks_campaign_path_reversible(k->r))
        return false;
    const struct lks_proven *p = lks_state_proven(k->s, class_of(k->n), k->m->from,
                                                  k->c->stack != 0 ? k->c->stack : k->c->name);
    return p == NULL ||
           (p->at >= k->m->begun && !lks_str_eq(lks_look_text(k, p->node), lks_look_name(k)));
}

/* A member that exercises the rollback leaves out irreversible steps for now; the second time it is
 * drained already. */
static bool is_left_out(const struct lks_look *k, const struct lks_step *step)
{
    if ((step->one_way || lks_campaign_step_one_way(step)) && lks_campaign_look_proves(k))
        return true;
    return step->kind == LKS_DO_LEAVE && k->m->pass == 2 && k->m->turned != 0;
}

uint32_t lks_campaign_path_there(const struct lks_look *k, uint32_t from)
{
    while (from < k->r->count && is_left_out(k, &k->r->steps[from]))
        from++;
    return from;
}

/* Back -------------------------------------------------------------------------------------- */

/* What is still only staged is given up; once it was activated there is nothing to give up. */
bool lks_campaign_path_staged(const struct lks_look *k, const struct lks_step *step)
{
    uint32_t place = k->n->flash;
    while (place != 0 && k->s->flashes[place - 1].component != step->component)
        place = k->s->flashes[place - 1].before;
    const struct lks_state_flash *f = place != 0 ? &k->s->flashes[place - 1] : NULL;
    return f != NULL && f->act == LKS_BMC_STAGE && f->outcome == LKS_BMC_STAGED;
}

static bool is_undone(const struct lks_look *k, const struct lks_step *step)
{
    return step->kind == LKS_DO_STAGE ? lks_campaign_path_staged(k, step)
                                      : is_change(step) && !lks_campaign_step_one_way(step);
}

/* Where it is compared with what it had: as a whole, or by what was read if there are no acceptance
 * checks. */
static uint32_t last_check(const struct lks_look *k)
{
    uint32_t accept = lks_campaign_path_find(k->r, LKS_DO_ACCEPT);
    for (uint32_t i = accept < k->r->count ? 0 : k->r->count; i-- > 0;) {
        if (k->r->steps[i].kind == LKS_DO_CHECK)
            return i;
    }
    return accept;
}

/* The last parts of the rollback, in their order. */
enum ending { END_REBOOT, END_CHECK, END_RETURN, END };

static uint32_t ending(const struct lks_look *k, enum ending from)
{
    const uint32_t at[END] = {
        [END_REBOOT] = lks_campaign_path_find(k->r, LKS_DO_REBOOT),
        [END_CHECK] = last_check(k),
        [END_RETURN] = lks_campaign_path_find(k->r, LKS_DO_RETURN),
    };
    while (from < END && at[from] >= k->r->count)
        from++;
    return from < END ? at[from] : k->r->count;
}

uint32_t lks_campaign_path_back(const struct lks_look *k, uint32_t from, bool touched)
{
    uint32_t leave = lks_campaign_path_find(k->r, LKS_DO_LEAVE);
    for (uint32_t i = from < k->r->count ? from + 1 : k->r->count; i-- > 0;) {
        bool before = leave < k->r->count && i < leave;
        if ((touched || before) && is_undone(k, &k->r->steps[i]))
            return i;
    }
    return ending(k, touched ? END_REBOOT : END_RETURN);
}

uint32_t lks_campaign_path_back_next(const struct lks_look *k)
{
    static const enum ending behind[LKS_DO_COUNT] = {
        [LKS_DO_REBOOT] = END_CHECK,
        [LKS_DO_CHECK] = END_RETURN,
        [LKS_DO_ACCEPT] = END_RETURN,
        [LKS_DO_RETURN] = END,
    };
    enum lks_step_kind kind = k->step->kind;
    if (kind == LKS_DO_LEAVE) /* of one that was done: all of it is undone */
        return lks_campaign_path_back(k, k->r->count, true);
    if (behind[kind] != END_REBOOT)
        return ending(k, behind[kind]);
    if (k->m->step > 0)
        return lks_campaign_path_back(k, k->m->step - 1, lks_campaign_look_touched(k));
    return ending(k, lks_campaign_look_touched(k) ? END_REBOOT : END_RETURN);
}

static bool is_touched(const struct lks_look *k, const struct lks_member *m)
{
    const struct lks_node *n = &k->s->nodes[m->node];
    return m->from != k->c->stack && n->changing != 0 && n->target == m->from;
}

/* From where something was done to it its intent is what it comes from. Our own agent has no such
 * intent: there it is enough to be in the rollback. A member that was only drained for the sake of
 * others is touched as they are. */
bool lks_campaign_look_touched(const struct lks_look *k)
{
    bool touched = k->c->stack == 0 || is_touched(k, k->m);
    for (uint32_t i = 0; i < k->u->count && k->m->from == k->c->stack && !touched; i++)
        touched = is_touched(k, &k->c->members[k->u->first + i]);
    return touched;
}

/* A node that drains for the first time has not failed: LEAVE itself is not tried again. */
bool lks_campaign_look_retried(const struct lks_look *k)
{
    bool drains = k->step != NULL && k->step->kind == LKS_DO_LEAVE;
    return !k->m->back &&
           ((drains && k->m->failure != LKS_FAILURE_NONE) || k->m->reached == LKS_STEPS_UNKNOWN);
}

uint32_t lks_campaign_look_reached(const struct lks_look *k)
{
    const struct lks_member *m = k->m;
    if (m->state == LKS_MEMBER_PENDING || m->state == LKS_MEMBER_REVERTED)
        return 0;
    if (m->back)
        return LKS_STEPS_UNKNOWN;
    uint32_t steps = m->step + (m->state != LKS_MEMBER_WAITING || m->attempt > 1);
    return steps > m->reached ? steps : m->reached;
}

bool lks_campaign_look_out(const struct lks_look *k)
{
    uint32_t leave = lks_campaign_path_find(k->r, LKS_DO_LEAVE);
    const struct lks_member *m = k->m;
    if (leave == k->r->count || m->state == LKS_MEMBER_PENDING || lks_member_over(m))
        return false;
    if (m->step == leave)
        return m->state != LKS_MEMBER_WAITING;
    if (m->turned != 0 && (m->back || m->pass == 2))
        return lks_campaign_look_touched(k) || m->pass == 2;
    return m->step > leave;
}

/* The others -------------------------------------------------------------------------------- */

enum { KEY_BACK = 1 << 20 };

/* How far it is within this part of the way; more is further. */
static uint32_t key_of(const struct lks_look *k)
{
    static const uint32_t ends[LKS_DO_COUNT] = {
        [LKS_DO_REBOOT] = 1, [LKS_DO_CHECK] = 2, [LKS_DO_ACCEPT] = 2, [LKS_DO_RETURN] = 3};
    if (k->step == NULL)
        return UINT32_MAX;
    uint32_t rank = k->step->rank < KEY_BACK ? k->step->rank : KEY_BACK - 1;
    if (!k->m->back)
        return rank;
    return ends[k->step->kind] > 0 ? KEY_BACK + ends[k->step->kind] : KEY_BACK - rank - 1;
}

/* Exercising the rollback: there, back, there again; then the rollback for good. A member without
 * anything to exercise goes with those that come there again. */
static uint32_t part_of(const struct lks_look *k)
{
    enum { SHOWS_THERE, SHOWS_BACK, THERE, BACK };
    if (lks_member_returns(k->m))
        return BACK;
    if (k->m->pass == 1)
        return SHOWS_BACK;
    return lks_campaign_look_proves(k) ? SHOWS_THERE : THERE;
}

/* Staged or about to drain, or drain again. */
static bool is_early(const struct lks_look *k)
{
    uint32_t leave = lks_campaign_path_find(k->r, LKS_DO_LEAVE);
    if (leave == k->r->count || k->step == NULL)
        return false;
    if (k->m->step == leave || lks_campaign_sched_undrained(k) || lks_campaign_sched_unheard(k))
        return true;
    return k->m->step < leave && !k->m->back && k->m->turned == 0;
}

/* It failed before it was known that nothing runs on it: what is done to its domain might be done
 * to a job. Who was away from the beginning did not fail. */
static bool is_unsure(const struct lks_look *k)
{
    if (k->m->failure == LKS_FAILURE_NONE)
        return false;
    bool kept = k->m->state == LKS_MEMBER_FENCED || k->m->state == LKS_MEMBER_HANDS ||
                k->m->state == LKS_MEMBER_UNKNOWN;
    uint32_t leave = lks_campaign_path_find(k->r, LKS_DO_LEAVE);
    return kept && k->n->asset == 0 && k->n->placed && leave < k->r->count && k->m->step <= leave;
}

/* Another member of its unit that is so; NULL: none is. */
static const struct lks_member *other_of_unit(const struct lks_look *k,
                                              bool (*is)(const struct lks_look *k))
{
    for (uint32_t i = 0; i < k->u->count; i++) {
        struct lks_look o = lks_campaign_look_at(k->s, k->c, &k->c->members[k->u->first + i]);
        if (o.m != k->m && is(&o))
            return o.m;
    }
    return NULL;
}

const struct lks_member *lks_campaign_unit_unsure(const struct lks_look *k)
{
    return other_of_unit(k, is_unsure);
}

/* A staged image takes nothing down, whatever became of it. */
static bool is_unresolved(const struct lks_look *k)
{
    const struct lks_state_flash *f = lks_state_flashing(k->s, k->m->node);
    return k->n->asset != 0 && lks_member_over(k->m) && f != NULL && f->act != LKS_BMC_STAGE &&
           f->act != LKS_BMC_ABORT;
}

const struct lks_member *lks_campaign_unit_unresolved(const struct lks_look *k)
{
    return other_of_unit(k, is_unresolved);
}

const struct lks_member *lks_campaign_look_behind(const struct lks_look *k)
{
    if (k->u->count == 1 || is_early(k))
        return NULL;
    const struct lks_member *unsure =
        k->step != NULL && k->step->kind != LKS_DO_RETURN ? lks_campaign_unit_unsure(k) : NULL;
    if (k->step == NULL || k->step->kind == LKS_DO_RETURN)
        unsure = lks_campaign_unit_unresolved(k);
    if (unsure != NULL)
        return unsure;
    uint32_t mine = part_of(k), key = key_of(k);
    for (uint32_t i = 0; i < k->u->count; i++) {
        const struct lks_member *other = &k->c->members[k->u->first + i];
        if (other == k->m || lks_member_over(other) || other->state == LKS_MEMBER_PENDING)
            continue;
        struct lks_look o = lks_campaign_look_at(k->s, k->c, other);
        uint32_t its = is_early(&o) ? 0 : part_of(&o);
        if (is_early(&o) || its < mine || (its == mine && key_of(&o) < key))
            return other;
    }
    return NULL;
}

lks_ms lks_campaign_unit_since(const struct lks_look *k)
{
    lks_ms since = 0;
    for (uint32_t i = 0; i < k->u->count; i++) {
        lks_ms its = k->c->members[k->u->first + i].since;
        since = its > since ? its : since;
    }
    return since;
}

bool lks_campaign_unit_returns(const struct lks_state_change *c, const struct lks_unit *u)
{
    for (uint32_t i = 0; i < u->count; i++) {
        const struct lks_member *m = &c->members[u->first + i];
        if (lks_member_returns(m) && m->state != LKS_MEMBER_SKIPPED && m->state != LKS_MEMBER_DONE)
            return true;
    }
    return false;
}

bool lks_campaign_look_past_return(const struct lks_look *k)
{
    if (k->m->back || lks_campaign_look_proves(k))
        return false;
    uint32_t done = lks_campaign_look_reached(k);
    for (uint32_t i = 0; i < done && i < k->r->count; i++) {
        if (lks_campaign_step_one_way(&k->r->steps[i]))
            return true;
    }
    return false;
}

bool lks_campaign_unit_can_return(const struct lks_look *k)
{
    for (uint32_t i = 0; i < k->u->count; i++) {
        const struct lks_member *m = &k->c->members[k->u->first + i];
        struct lks_look o = lks_campaign_look_at(k->s, k->c, m);
        if (!lks_member_over(m) && m->state != LKS_MEMBER_PENDING &&
            lks_campaign_look_past_return(&o))
            return false;
    }
    return true;
}

uint32_t lks_campaign_unit_missing(const struct lks_look *k)
{
    uint32_t missing = 0;
    for (uint32_t i = 0; i < k->u->count; i++) {
        const struct lks_member *m = &k->c->members[k->u->first + i];
        missing += m->state == LKS_MEMBER_FENCED || m->state == LKS_MEMBER_HANDS ||
                   m->state == LKS_MEMBER_UNKNOWN ||
                   (m->state == LKS_MEMBER_SKIPPED && k->s->nodes[m->node].placed);
    }
    return missing;
}

bool lks_campaign_node_in_use(const struct lks_node *n)
{
    return n->placed && n->asset == 0 && !n->held && n->changing == 0;
}

/* One of them that returns; NULL: assets alone do. */
static const struct lks_member *returning_node(const struct lks_look *k)
{
    for (uint32_t i = 0; i < k->u->count; i++) {
        const struct lks_member *m = &k->c->members[k->u->first + i];
        if (!lks_member_over(m) && m->state != LKS_MEMBER_PENDING &&
            k->s->nodes[m->node].asset == 0)
            return m;
    }
    return NULL;
}

/* Who came there by this change is on its stack, whatever is read of it at this moment. Of others
 * it counts what they run: one that drifts keeps its domain from jobs by itself, as it did before.
 */
static bool is_mixed_with(const struct lks_look *k, uint32_t node, uint32_t other)
{
    const struct lks_state *s = k->s;
    const struct lks_member *m = lks_state_change_member(k->c, other);
    const struct lks_state_verdict *mine = lks_state_verdict(s, node);
    const struct lks_state_verdict *its = lks_state_verdict(s, other);
    struct lks_value one, two;
    if (m != NULL && m->state == LKS_MEMBER_DONE && m->unit == k->m->unit)
        return true;
    return mine != NULL && its != NULL && its->judged == LKS_JUDGED_CONFORMS &&
           lks_agree_contradict(lks_look_text(k, mine->values), lks_look_text(k, its->values), &one,
                                &two);
}

uint32_t lks_campaign_unit_beside(const struct lks_look *k)
{
    const struct lks_node_status *st = k->s->standing;
    const struct lks_member *m = k->u->domain == 0 ? NULL : returning_node(k);
    if (m == NULL || st->domain[m->node] == 0)
        return LKS_NO_NODE;
    lks_text target = k->m->back ? m->from : k->c->stack;
    for (uint32_t n = st->domain_next[m->node]; n != m->node; n = st->domain_next[n]) {
        if (lks_campaign_node_in_use(&k->s->nodes[n]) && lks_state_intent(k->s, n) != target &&
            is_mixed_with(k, m->node, n))
            return n;
    }
    return LKS_NO_NODE;
}

/* It would be reverted around nodes that are in service. */
static bool has_asset_done(const struct lks_state *s, const struct lks_state_change *c,
                           const struct lks_unit *u)
{
    for (uint32_t i = 0; i < u->count; i++) {
        const struct lks_member *m = &c->members[u->first + i];
        if (m->state == LKS_MEMBER_DONE && s->nodes[m->node].asset != 0)
            return true;
    }
    return false;
}

uint32_t lks_campaign_unit_left(const struct lks_state *s, const struct lks_state_change *c,
                                const struct lks_unit *u)
{
    uint32_t first = lks_campaign_unit_domain(s, c, u), n = first;
    if (first == LKS_NO_NODE)
        return LKS_NO_NODE;
    do {
        const struct lks_member *m = lks_state_change_member(c, n);
        const struct lks_node *node = &s->nodes[n];
        uint32_t v = lks_state_verdict_find(s, node->whole, c->stack);
        bool same = node->liveness == LKS_LIVE && node->change == 0 && v != 0 &&
                    s->verdicts[v].judged == LKS_JUDGED_CONFORMS;
        if ((m == NULL || m->state == LKS_MEMBER_SKIPPED) && lks_campaign_node_in_use(node) &&
            (same || has_asset_done(s, c, u)))
            return n;
        n = s->standing->domain_next[n];
    } while (n != first);
    return LKS_NO_NODE;
}

/* Why one that is done does not roll back; empty: it can, as far as others are concerned. */
static struct lks_str why_stays(struct lks_deciding *d, const struct lks_state_change *c,
                                const struct lks_member *m, struct lks_downs *downs)
{
    const struct lks_state *s = d->state;
    const struct lks_unit *u = &c->units[m->unit];
    uint32_t left = lks_campaign_unit_left(s, c, u);
    if (left != LKS_NO_NODE)
        return lks_decision_text(
            d,
            "; %" LKS_STR_FMT " stays on it whole, since %" LKS_STR_FMT
            " is in service there, and would not change with it: propose a change of all of that "
            "domain",
            LKS_STR_ARG(lks_state_text(s, u->domain)), LKS_STR_ARG(lks_state_name(s, left)));
    if (lks_campaign_member_pair(d, c, m, downs) == LKS_PAIR_KEPT)
        return lks_decision_text(
            d,
            "; %" LKS_STR_FMT
            " stays on it, since its redundant peer is on hold, or out of service",
            LKS_STR_ARG(lks_state_name(s, m->node)));
    return LKS_STR("");
}

struct lks_str lks_campaign_change_stays(struct lks_deciding *d, const struct lks_state_change *c)
{
    struct lks_str why = LKS_STR("");
    struct lks_downs downs = {0};
    uint32_t count = c->states[LKS_MEMBER_DONE] > 0 ? c->member_count : 0;
    for (uint32_t i = 0; i < count && why.len == 0; i++) {
        if (c->members[i].state == LKS_MEMBER_DONE)
            why = why_stays(d, c, &c->members[i], &downs);
    }
    return why;
}

bool lks_campaign_member_elsewhere(const struct lks_state *s, const struct lks_state_change *c,
                                   const struct lks_member *m)
{
    lks_text intent = lks_state_intent(s, m->node);
    if (c->stack == 0 || intent == 0)
        return false;
    lks_text runs = lks_plan_from(s, m->node);
    if (runs != intent)
        return runs != m->from;
    return intent != m->from && s->nodes[m->node].right != m->from;
}
