/* Which units may start: why a unit does not start now, or does not roll back, and its first step.
 */
#include "core/campaign/campaign_parts.h"
#include "core/plan/drain.h"
#include "core/plan/plan.h"
#include "core/rows/pool.h"
#include "core/rows/verdict.h"
#include "core/state/mass.h"
#include "core/state/node_status.h"
#include "core/state/state.h"

/* Who may begin ----------------------------------------------------------------------------- */

static const struct lks_node *node_of(const struct lks_unit_look *l, const struct lks_member *m)
{
    return &l->d->state->nodes[m->node];
}

static bool is_here(const struct lks_node *n)
{
    return n->asset != 0 || (n->enrolled && n->liveness == LKS_LIVE);
}

/* Freezes and MASS: also of members that roll back. */
static bool is_stopped(const struct lks_unit_look *l, const struct lks_member *m)
{
    uint32_t pool = node_of(l, m)->pool;
    return lks_state_frozen(l->d->state, m->node) ||
           (pool < l->d->state->pool_count && lks_decision_waits(l->d, pool));
}

/* Its time, windows of the change and of its pool, by the clock of its site. Back it goes at any.
 */
static bool is_untimely(const struct lks_unit_look *l, const struct lks_member *m)
{
    lks_ms next = 0;
    return !l->back &&
           !lks_plan_may_begin(l->d->state, l->d->book, l->c, m->node, l->d->now.wall, &next);
}

/* Another change has it; the one of this member is not yet there. */
bool lks_campaign_member_taken(const struct lks_unit_look *l, const struct lks_member *m)
{
    uint64_t other = node_of(l, m)->change;
    return other != 0 && other != l->c->id;
}

static bool is_elsewhere(const struct lks_unit_look *l, const struct lks_member *m)
{
    lks_text intent = lks_state_intent(l->d->state, m->node);
    if (l->back)
        return l->c->stack != 0 && intent != 0 && intent != l->c->stack;
    return lks_campaign_member_elsewhere(l->d->state, l->c, m);
}

static bool is_apart(const struct lks_unit_look *l, const struct lks_member *m)
{
    bool first = m == &l->c->members[l->u->first];
    return !l->back && first && lks_campaign_unit_apart(l->d->state, l->c, l->u);
}

/* A person holds it, and may be at work on it. A member in progress continues. */
static bool is_held(const struct lks_unit_look *l, const struct lks_member *m)
{
    return !l->back && node_of(l, m)->held;
}

/* The rollback was not exercised yet on its hardware, and this is not the member that does it. */
bool lks_campaign_member_unproven(const struct lks_unit_look *l, const struct lks_member *m)
{
    const struct lks_node *n = node_of(l, m);
    if (l->back || m->proves || !lks_campaign_path_reversible(&l->c->recipes[m->recipe]))
        return false;
    return lks_state_proven(l->d->state, n->asset != 0 ? n->asset : n->class, m->from,
                            l->c->stack != 0 ? l->c->stack : l->c->name) == NULL;
}

static bool is_pair_down(const struct lks_unit_look *l, const struct lks_member *m)
{
    return lks_campaign_member_pair(l->d, l->c, m, l->downs) == LKS_PAIR_DOWN;
}

bool lks_campaign_member_pair_kept(const struct lks_unit_look *l, const struct lks_member *m)
{
    return lks_campaign_member_pair(l->d, l->c, m, l->downs) == LKS_PAIR_KEPT;
}

/* Its own unit drains with it. */
static bool is_around(const struct lks_unit_look *l, const struct lks_member *m)
{
    return !l->back && lks_campaign_domain_used(l->d->state, l->c, m->node) != LKS_NO_NODE;
}

/* Its checks would fail. */
static bool is_drifted(const struct lks_unit_look *l, const struct lks_member *m)
{
    return !l->back && lks_campaign_member_drifted(l->d->state, l->c, m);
}

/* One row a question, and what people are told meanwhile. */
static const struct {
    bool (*asks)(const struct lks_unit_look *l, const struct lks_member *m);
    enum lks_unit_bar_kind bar;
    const char *why;
} bars[] = {
    {is_stopped, LKS_UNIT_BAR_WAITS, "so many of its pool turned at once that acts wait"},
    {lks_campaign_member_taken, LKS_UNIT_BAR_ABSENT, "another change has it"},
    {is_elsewhere, LKS_UNIT_BAR_OTHER, "it is elsewhere by now"},
    {is_drifted, LKS_UNIT_BAR_OTHER, "it drifted since this was planned"},
    {is_apart, LKS_UNIT_BAR_ABSENT,
     "others of its domain are not in this change, and do not run its stack"},
    {is_around, LKS_UNIT_BAR_ABSENT, "nodes of its domain are in service, and not in this change"},
    {lks_campaign_member_unproven, LKS_UNIT_BAR_WAITS,
     "the rollback was not exercised on its hardware "
     "yet"},
    {is_untimely, LKS_UNIT_BAR_WAITS, "outside its windows"},
    {is_pair_down, LKS_UNIT_BAR_WAITS, "its redundant peer is in progress"},
    {lks_campaign_member_pair_kept, LKS_UNIT_BAR_ABSENT,
     "its redundant peer is on hold, or out of service"},
    {is_held, LKS_UNIT_BAR_ABSENT, "a person holds it"},
};

static enum lks_unit_bar_kind bar_of(const struct lks_unit_look *l, const struct lks_member *m)
{
    for (size_t i = 0; i < LKS_COUNT(bars); i++) {
        if (bars[i].asks(l, m))
            return bars[i].bar;
    }
    return LKS_UNIT_BAR_NOT;
}

/* The members meant: those that wait, or those that are done and roll back. */
static bool is_meant(const struct lks_unit_look *l, const struct lks_member *m)
{
    return m->state == (l->back ? LKS_MEMBER_DONE : LKS_MEMBER_PENDING);
}

static bool flashes(const struct lks_recipe *r)
{
    return lks_campaign_path_find(r, LKS_DO_FLASH) < r->count ||
           lks_campaign_path_find(r, LKS_DO_ACTIVATE) < r->count;
}

/* Firmware of an asset of the unit changes, and nodes around the asset depend on it. */
static bool changes_asset(const struct lks_unit_look *l)
{
    for (uint32_t i = 0; i < l->u->count; i++) {
        const struct lks_member *m = &l->c->members[l->u->first + i];
        const struct lks_node *n = node_of(l, m);
        if (is_meant(l, m) && n->asset != 0 && n->placed && flashes(&l->c->recipes[m->recipe]))
            return true;
    }
    return false;
}

/* An agent that is not heard of does not show that its node is empty: a job may still run there. A
 * person who holds the node answers for that; where a scheduler has jobs, it reports besides that
 * the node is drained for the hold. */
static bool may_run_jobs(const struct lks_state *s, const struct lks_node *n)
{
    if (n->asset != 0 || is_here(n))
        return false;
    return !n->held ||
           (n->emptied == 0 && n->pool < s->pool_count &&
            lks_drain_sched(lks_state_text(s, s->pools[n->pool].sched)) != LKS_DRAIN_AGENT);
}

/* A domain can do without members that are away, as many as it has spares, unless what is done to
 * its assets would be done to a job of theirs. */
enum lks_unit_bar_kind lks_campaign_unit_bar(const struct lks_unit_look *l)
{
    uint32_t away = 0, late = 0, meant = 0;
    bool jobs = false;
    for (uint32_t i = 0; i < l->u->count; i++) {
        const struct lks_member *m = &l->c->members[l->u->first + i];
        const struct lks_node *n = node_of(l, m);
        if (!lks_member_over(m) && m->state != LKS_MEMBER_PENDING)
            return LKS_UNIT_BAR_WAITS; /* a person tried one of it again */
        if (!is_meant(l, m) || !n->placed)
            continue;
        enum lks_unit_bar_kind bar = bar_of(l, m);
        if (bar != LKS_UNIT_BAR_NOT)
            return bar;
        meant++;
        away += !is_here(n);
        late += n->liveness == LKS_LATE;
        jobs = jobs || may_run_jobs(l->d->state, n);
    }
    if (away == 0)
        return LKS_UNIT_BAR_NOT;
    if (late > 0)
        return LKS_UNIT_BAR_WAITS; /* it turns live or lost within a moment */
    if (jobs && changes_asset(l))
        return LKS_UNIT_BAR_ABSENT;
    uint32_t spares = l->u->domain == 0 ? 0 : lks_campaign_domain_spares(l->d, l->u->domain);
    return away <= spares && away < meant ? LKS_UNIT_BAR_NOT : LKS_UNIT_BAR_ABSENT;
}

/* The same, beside what other changes have of its pools now. */
enum lks_unit_bar_kind lks_campaign_unit_bar_beside(struct lks_unit_look *l, uint32_t begun)
{
    enum lks_unit_bar_kind bar = lks_campaign_unit_bar(l);
    if (bar != LKS_UNIT_BAR_NOT)
        return bar;
    return lks_campaign_unit_crowds(l->d, l->c, l->u, begun, &l->crowded) != NULL
               ? LKS_UNIT_BAR_WAITS
               : LKS_UNIT_BAR_NOT;
}

/* Beginning --------------------------------------------------------------------------------- */

static void say_skipped(struct lks_deciding *d, const struct lks_look *k, const char *why)
{
    struct lks_rec_member r = lks_campaign_member_record(k);
    r.state = LKS_MEMBER_SKIPPED;
    r.text = lks_str_from(why);
    lks_campaign_member_list(d, k, r);
}

/* A node alone that runs the target already is left alone. */
static bool has_it(const struct lks_unit_look *l, const struct lks_look *k)
{
    if (l->u->count > 1 || l->c->stack == 0 || k->n->asset != 0 || k->n->whole == 0 ||
        k->n->tuple_boot != k->n->boot)
        return false;
    uint32_t v = lks_state_verdict_find(k->s, k->n->whole, l->c->stack);
    return v != 0 && k->s->verdicts[v].judged == LKS_JUDGED_CONFORMS;
}

static void begin_there(const struct lks_unit_look *l, const struct lks_look *k)
{
    if (!k->n->placed) {
        say_skipped(l->d, k, "it is not in the fleet any more");
    } else if (!is_here(k->n)) {
        /* It may come back at any time, and not beside the others as it is now. */
        lks_campaign_member_fence(l->d, k, LKS_MEMBER_FENCED, LKS_FAILURE_NONE, false,
                                  LKS_STR("it is not heard of, and its domain does without it"));
    } else if (has_it(l, k)) {
        say_skipped(l->d, k, "it has it already");
    } else {
        struct lks_rec_member r = {.state = LKS_MEMBER_WAITING, .attempt = 1};
        r.step = lks_campaign_path_there(k, 0);
        lks_campaign_member_list(l->d, k, r);
    }
}

static struct lks_str why_lost(const struct lks_unit_look *l, const struct lks_node *n)
{
    if (l->spared)
        return LKS_STR("it is lost, and its domain rolls back without it");
    if (may_run_jobs(l->d->state, n) && changes_asset(l))
        return LKS_STR("it is lost and may run a job, so firmware of its domain's assets is not "
                       "rolled back; hold a lost node that is empty (node hold) before the next "
                       "rollback");
    return LKS_STR("it is lost, and could not be rolled back");
}

/* It drains once more, and all of it is undone. */
static void begin_back(const struct lks_unit_look *l, const struct lks_look *k)
{
    if (!k->n->placed) {
        say_skipped(l->d, k, "it is not in the fleet any more");
        return;
    }
    uint32_t leave = lks_campaign_path_find(k->r, LKS_DO_LEAVE);
    if (!is_here(k->n)) { /* it was not even drained */
        struct lks_member at = *k->m;
        struct lks_look there = *k;
        at.step = leave;
        there.m = &at;
        lks_campaign_member_fence(l->d, &there, LKS_MEMBER_FENCED,
                                  l->spared ? LKS_FAILURE_NONE : LKS_FAILURE_LOST, true,
                                  why_lost(l, k->n));
        return;
    }
    struct lks_rec_member r = {.state = LKS_MEMBER_WAITING,
                               .attempt = 1,
                               .back = true,
                               .text = LKS_STR("the change is rolled back")};
    r.step = leave < k->r->count ? leave : lks_campaign_path_back(k, k->r->count, true);
    lks_campaign_member_list(l->d, k, r);
}

void lks_campaign_unit_begin(const struct lks_unit_look *l)
{
    for (uint32_t i = 0; i < l->u->count; i++) {
        const struct lks_member *m = &l->c->members[l->u->first + i];
        struct lks_look k = lks_campaign_look_at(l->d->state, l->c, m);
        if (!is_meant(l, m))
            continue;
        lks_campaign_downs_add(l->d, l->downs, m->node);
        if (l->back)
            begin_back(l, &k);
        else
            begin_there(l, &k);
    }
}

static struct lks_str why_skipped(const struct lks_unit_look *l, const struct lks_member *m)
{
    static const struct {
        bool (*asks)(const struct lks_unit_look *l, const struct lks_member *m);
        const char *why;
    } rows[] = {
        {lks_campaign_member_taken, "another change keeps it"},
        {is_held, "a person held it for too long"},
        {lks_campaign_member_pair_kept,
         "its redundant peer was on hold, or out of service, for too long"},
        {is_around, "nodes of its domain that are not in this change were in service for too "
                    "long"},
        {is_elsewhere,
         "it should run another stack by now than the one that this was planned from"},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        if (rows[i].asks(l, m))
            return lks_str_from(rows[i].why);
    }
    return LKS_STR("");
}

/* One of the unit that drifted, or is not there: it keeps all of it. */
static struct lks_str why_apart(const struct lks_unit_look *l)
{
    char since[LKS_TIME_TEXT_SIZE];
    for (uint32_t i = 0; i < l->u->count; i++) {
        const struct lks_member *m = &l->c->members[l->u->first + i];
        const struct lks_node *n = node_of(l, m);
        if (is_meant(l, m) && is_drifted(l, m))
            return lks_campaign_drifted_text(l->d, m->node);
        if (is_meant(l, m) && n->placed && !is_here(n))
            return lks_decision_text(
                l->d, "%" LKS_STR_FMT " is %s since %s, and did not report in time%s",
                LKS_STR_ARG(lks_state_name(l->d->state, m->node)), lks_liveness_words[n->liveness],
                lks_time_text(n->liveness_since, since),
                changes_asset(l) ? ": it may run a job, and firmware of its domain's assets would "
                                   "change under it"
                                 : "");
    }
    return LKS_STR("it, or its domain, was not there in time");
}

void lks_campaign_unit_skip(const struct lks_unit_look *l)
{
    struct lks_str apart = why_apart(l);
    for (uint32_t i = 0; i < l->u->count; i++) {
        const struct lks_member *m = &l->c->members[l->u->first + i];
        struct lks_look k = lks_campaign_look_at(l->d->state, l->c, m);
        struct lks_str why = is_meant(l, m) ? why_skipped(l, m) : LKS_STR("");
        if (why.len > 0)
            say_skipped(l->d, &k, why.ptr);
        else if (is_meant(l, m))
            lks_campaign_member_leave(l->d, &k, apart);
    }
}

bool lks_campaign_unit_meant(const struct lks_unit_look *l)
{
    for (uint32_t i = 0; i < l->u->count; i++) {
        if (is_meant(l, &l->c->members[l->u->first + i]))
            return true;
    }
    return false;
}

bool lks_campaign_unit_idle(const struct lks_unit_look *l)
{
    for (uint32_t i = 0; i < l->u->count; i++) {
        if ((node_of(l, &l->c->members[l->u->first + i])->notes >> LKS_NOTE_OUTAGE & 1) == 0)
            return false;
    }
    return true;
}

/* It starts once another member has exercised the rollback: an absent node cannot wait for that,
 * too. */
bool lks_campaign_unit_unproven(const struct lks_unit_look *l)
{
    for (uint32_t i = 0; i < l->u->count; i++) {
        const struct lks_member *m = &l->c->members[l->u->first + i];
        if (is_meant(l, m) && node_of(l, m)->placed && lks_campaign_member_unproven(l, m))
            return true;
    }
    return false;
}

/* Why a member that is meant does not begin; an empty text: nothing about it keeps it. */
static struct lks_str why_not(const struct lks_unit_look *l, const struct lks_member *m)
{
    char at[LKS_TIME_TEXT_SIZE];
    const struct lks_state *s = l->d->state;
    const struct lks_node *n = node_of(l, m);
    lks_ms next = UINT64_MAX;
    size_t b = 0;
    while (b < LKS_COUNT(bars) && !bars[b].asks(l, m))
        b++;
    if (b == LKS_COUNT(bars) && may_run_jobs(s, n) && changes_asset(l))
        return LKS_STR("not heard of, and may run a job while firmware of its domain's assets "
                       "changes");
    if (b == LKS_COUNT(bars))
        return is_here(n) ? LKS_STR("") : LKS_STR("not heard of");
    if (bars[b].asks == is_held)
        return lks_decision_text(l->d, "held by %" LKS_STR_FMT ": %" LKS_STR_FMT,
                                 LKS_STR_ARG(lks_state_text(s, n->held_by)),
                                 LKS_STR_ARG(lks_state_text(s, n->held_reason)));
    if (bars[b].asks == is_stopped && lks_state_frozen(s, m->node))
        return LKS_STR("frozen");
    if (bars[b].asks != is_untimely ||
        lks_plan_may_begin(s, l->d->book, l->c, m->node, l->d->now.wall, &next) ||
        next == UINT64_MAX)
        return lks_str_from(bars[b].why);
    return lks_decision_text(l->d, "%s, which open at %s", bars[b].why, lks_time_text(next, at));
}

/* Of the first of its unit that has a reason: "n1: frozen". */
struct lks_str lks_campaign_unit_barred(struct lks_deciding *d, const struct lks_state_change *c,
                                        const struct lks_unit *u, bool back)
{
    struct lks_downs downs = {0};
    const struct lks_unit_look l = {.d = d, .c = c, .u = u, .downs = &downs, .back = back};
    for (uint32_t i = 0; i < u->count; i++) {
        const struct lks_member *m = &c->members[u->first + i];
        bool meant = is_meant(&l, m) && node_of(&l, m)->placed;
        struct lks_str why = meant ? why_not(&l, m) : LKS_STR("");
        if (why.len > 0)
            return lks_decision_text(d, "%" LKS_STR_FMT ": %" LKS_STR_FMT,
                                     LKS_STR_ARG(lks_state_name(d->state, m->node)),
                                     LKS_STR_ARG(why));
    }
    return LKS_STR("");
}
