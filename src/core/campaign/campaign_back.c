/*
 * The rollback of a whole change: which nodes roll back, when, and when it ends.
 *
 * All waves roll back at once, the last one first, and of each pool as many units at a time as a
 * wave of it is wide. A rollback never waits for a node that is not there: such a node has no slot,
 * is fenced once it is lost, and joins when it is heard of again. A node that waits for its jobs
 * keeps its slot for a while only, and then others begin as far as their pool can spare them: it is
 * drained all the same.
 */
#include "core/campaign/campaign_parts.h"
#include "core/plan/plan.h"
#include "core/rows/flash.h"
#include "core/state/mass.h"
#include "core/state/state.h"

#define DRAIN_MAX (600 * LKS_SECOND)           /* that a node keeps its slot while it drains */
#define BOOT_MAX  (3600 * LKS_SECOND)          /* to boot behind an update, where no step says */
#define JOIN_MAX  ((lks_ms)86400 * LKS_SECOND) /* since it began, for lost nodes to join it */

/* Nodes that are not there ------------------------------------------------------------------ */

static bool goes_back(const struct lks_state_change *c)
{
    return c->state == LKS_CHANGE_ABORTING || c->state == LKS_CHANGE_ROLLING_BACK;
}

/* Its step takes it away: a reboot, or an update by its endpoint, which ends by itself. */
static bool is_sent_away(const struct lks_look *k)
{
    return k->m->state == LKS_MEMBER_ASKED && k->step != NULL &&
           (k->step->kind == LKS_DO_REBOOT || lks_campaign_step_by_endpoint(k->step));
}

/* When it has to be up again behind the last update of it by this change; 0: there was none, or it
 * was heard of since. */
static lks_ms boot_ends(const struct lks_look *k)
{
    const struct lks_state_flash *f = k->n->flash != 0 ? &k->s->flashes[k->n->flash - 1] : NULL;
    if (f == NULL || f->begun < k->m->begun || f->outcome == LKS_BMC_OPEN ||
        f->act == LKS_BMC_STAGE || f->act == LKS_BMC_ABORT)
        return 0;
    lks_ms silent = k->n->liveness == LKS_LATE ? k->s->limits.late : k->s->limits.lost;
    if (k->n->liveness_since > f->ended + silent)
        return 0;
    uint32_t at = lks_campaign_path_find(k->r, LKS_DO_REBOOT);
    lks_ms limit = at < k->r->count ? k->r->steps[at].limit : 0;
    return f->ended + (limit > 0 ? limit : BOOT_MAX);
}

static bool is_away(const struct lks_look *k)
{
    return k->n->asset == 0 && k->n->liveness != LKS_LIVE;
}

lks_ms lks_campaign_look_gone(const struct lks_look *k)
{
    if (!goes_back(k->c) || !is_away(k) || k->n->liveness == LKS_LATE || is_sent_away(k))
        return UINT64_MAX;
    lks_ms boots = boot_ends(k);
    return boots > k->n->liveness_since ? boots : k->n->liveness_since;
}

/* A change keeps it out of service since it was not heard of, and not for a failure of its own. */
static bool is_lost_of(const struct lks_look *k)
{
    return k->m->state == LKS_MEMBER_FENCED && k->n->change == k->c->id && k->n->placed &&
           (k->m->failure == LKS_FAILURE_LOST || k->m->failure == LKS_FAILURE_NONE);
}

/* Slots ------------------------------------------------------------------------------------- */

/* What one evaluation of a change that rolls back knows. */
struct going {
    struct lks_unit_look l;
    struct lks_downs downs;
    uint32_t *slots; /* by pool: units of it that have one; the last are units of assets alone */
    uint32_t *out;   /* by pool: nodes of it in progress that are there, with a slot or without */
    uint32_t begun;
    bool left; /* one is in its rollback, or still has to start it */
};

static uint32_t pool_of(const struct going *g, const struct lks_unit *u)
{
    const struct lks_state *s = g->l.d->state;
    for (uint32_t i = 0; i < u->count; i++) {
        const struct lks_node *n = &s->nodes[g->l.c->members[u->first + i].node];
        if (n->asset == 0 && n->pool < s->pool_count)
            return n->pool;
    }
    return s->pool_count;
}

/* A person has to resolve an update first: it keeps no other from rolling back, as a retained node
 * does not. */
static bool is_parked(const struct lks_look *k)
{
    return k->step != NULL && k->step->kind == LKS_DO_RETURN &&
           lks_campaign_unit_unresolved(k) != NULL;
}

/* Nodes of the unit that its pool has to do without; with `active` those in progress that are
 * there. */
static uint32_t nodes_of(const struct going *g, const struct lks_unit *u, bool active)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < u->count; i++) {
        struct lks_look k =
            lks_campaign_look_at(g->l.d->state, g->l.c, &g->l.c->members[u->first + i]);
        bool moves = !lks_member_over(k.m) && k.m->state != LKS_MEMBER_PENDING && !is_parked(&k);
        count += k.n->asset == 0 && k.n->placed && !is_away(&k) && (!active || moves);
    }
    return count;
}

/* Only its own unit waits for it, and that may take long. */
static bool is_slow(const struct going *g, const struct lks_look *k)
{
    bool drains = k->step != NULL && k->step->kind == LKS_DO_LEAVE &&
                  g->l.d->now.wall >= k->m->turned + DRAIN_MAX;
    return drains || is_parked(k) ||
           (is_away(k) && !is_sent_away(k) && boot_ends(k) <= g->l.d->now.wall);
}

static bool has_slot(const struct going *g, const struct lks_unit *u)
{
    for (uint32_t i = 0; i < u->count && u->active > 0; i++) {
        struct lks_look k =
            lks_campaign_look_at(g->l.d->state, g->l.c, &g->l.c->members[u->first + i]);
        if (!lks_member_over(k.m) && k.m->state != LKS_MEMBER_PENDING && is_slow(g, &k))
            return false;
    }
    return u->active > 0;
}

static bool count_slots(struct going *g)
{
    const struct lks_state_change *c = g->l.c;
    struct lks_arena *arena = &g->l.d->out->arena;
    struct lks_err err = {0};
    size_t pools = (size_t)g->l.d->state->pool_count + 1;
    g->slots = lks_arena_array(arena, pools, sizeof(*g->slots));
    g->out = lks_arena_array(arena, pools, sizeof(*g->out));
    if (g->slots == NULL || g->out == NULL) {
        g->l.d->out->failed = lks_arena_fail(arena, &err);
        return false;
    }
    for (uint32_t u = 0; u < c->unit_count && lks_campaign_members_moving(c->states) > 0; u++) {
        uint32_t pool = pool_of(g, &c->units[u]);
        g->slots[pool] += has_slot(g, &c->units[u]);
        g->out[pool] += c->units[u].active > 0 ? nodes_of(g, &c->units[u], true) : 0;
    }
    return true;
}

static uint32_t width_of(const struct going *g, const struct lks_unit *u)
{
    uint32_t width = g->l.c->waves[u->wave].width;
    return width > 0 ? width : 1;
}

static bool is_full(const struct going *g, const struct lks_unit *u)
{
    return g->slots[pool_of(g, u)] >= width_of(g, u);
}

/* Its pool cannot spare it beside those in progress: as many nodes as the wave is wide, or as the
 * fleet's file says where that is more. */
static bool is_needed(const struct going *g, const struct lks_unit *u)
{
    uint32_t pool = pool_of(g, u);
    if (pool >= g->l.d->state->pool_count || g->out[pool] == 0)
        return false;
    uint64_t nodes = nodes_of(g, u, false), wide = width_of(g, u) * nodes;
    uint64_t spared = lks_plan_spared(g->l.d->state, g->l.d->book, pool);
    return g->out[pool] + nodes > (spared > wide ? spared : wide);
}

static void take_slot(struct going *g, const struct lks_unit *u)
{
    uint32_t pool = pool_of(g, u);
    g->slots[pool]++;
    g->out[pool] += nodes_of(g, u, false);
    g->begun += u->count;
    g->left = true;
}

/* Waves ------------------------------------------------------------------------------------- */

static bool has_one_way(const struct lks_recipe *r)
{
    for (uint32_t step = 0; step < r->count; step++) {
        if (lks_campaign_step_one_way(&r->steps[step]))
            return true;
    }
    return false;
}

/* Another change has it, or brought it elsewhere since. */
static bool is_of_another(const struct lks_unit_look *l, const struct lks_member *m)
{
    const struct lks_node *n = &l->d->state->nodes[m->node];
    return n->placed &&
           (lks_campaign_member_taken(l, m) || (l->c->stack != 0 && n->pin != l->c->stack));
}

/* A unit whose steps can all be undone, with no member of its domain left behind, and not beside a
 * redundant peer that is kept. */
static bool can_go_back(const struct lks_unit_look *l)
{
    if (lks_campaign_unit_left(l->d->state, l->c, l->u) != LKS_NO_NODE)
        return false;
    for (uint32_t i = 0; i < l->u->count; i++) {
        const struct lks_member *m = &l->c->members[l->u->first + i];
        if (m->state != LKS_MEMBER_DONE)
            continue;
        if (is_of_another(l, m) || has_one_way(&l->c->recipes[m->recipe]) ||
            (l->d->state->nodes[m->node].placed && lks_campaign_member_pair_kept(l, m)))
            return false;
    }
    return true;
}

static void begin_unit(struct going *g)
{
    enum lks_unit_bar_kind bar = lks_campaign_unit_bar_beside(&g->l, g->begun);
    if (bar == LKS_UNIT_BAR_ABSENT && nodes_of(g, g->l.u, false) > 0 &&
        lks_campaign_unit_crowds(g->l.d, g->l.c, g->l.u, g->begun, &g->l.crowded) != NULL)
        return; /* those of it that are there would be taken from a pool that needs them */
    if (bar == LKS_UNIT_BAR_OTHER) {
        lks_campaign_unit_skip(&g->l);
    } else if (bar == LKS_UNIT_BAR_NOT || bar == LKS_UNIT_BAR_ABSENT) {
        g->l.spared = bar == LKS_UNIT_BAR_NOT;
        lks_campaign_unit_begin(&g->l);
        take_slot(g, g->l.u);
    }
}

/* Units of the wave that are done roll back, as far as there are slots. */
static void begin_wave(struct going *g, uint32_t wave)
{
    const struct lks_state_change *c = g->l.c;
    const struct lks_wave *w = &c->waves[wave];
    uint32_t u = w->members[LKS_MEMBER_DONE] > 0 ? w->first_unit : 0;
    for (; u != 0 && lks_deciding_room(g->l.d); u = g->l.u->next) {
        g->l.u = &c->units[u - 1];
        if (!lks_campaign_unit_meant(&g->l) || !can_go_back(&g->l))
            continue;
        g->left = true;
        if (!is_full(g, g->l.u) && !is_needed(g, g->l.u))
            begin_unit(g);
        else if (w->pool != 0)
            break; /* all of them are of that pool */
    }
}

/* Nodes that are back ----------------------------------------------------------------------- */

/* Others of its unit are on their way, or are in service with the target: it would be in their way,
 * or beside them. */
static bool is_beside_others(const struct lks_look *k)
{
    bool others = k->u->active > 0;
    for (uint32_t i = 0; i < k->u->count && !others; i++)
        others = k->c->members[k->u->first + i].state == LKS_MEMBER_DONE;
    return others;
}

static bool may_join(struct going *g, const struct lks_look *k)
{
    const struct lks_node *n = k->n;
    return is_lost_of(k) && n->liveness == LKS_LIVE && n->boot != 0 && n->enrolled && !n->held &&
           n->pending == 0 && n->flashing == 0 && !is_beside_others(k) &&
           !lks_campaign_look_past_return(k) && g->l.d->now.wall < k->c->moved + JOIN_MAX &&
           !lks_state_frozen(k->s, k->m->node) && !lks_decision_waits(g->l.d, n->pool) &&
           lks_campaign_member_pair(g->l.d, k->c, k->m, &g->downs) == LKS_PAIR_UP &&
           !is_full(g, k->u);
}

/* It leaves service once more and is read, and what may have been done to it is undone; a node that
 * nothing was done to returns as it is. */
static void join(struct lks_deciding *d, const struct lks_look *k)
{
    uint32_t leave = lks_campaign_path_find(k->r, LKS_DO_LEAVE);
    struct lks_rec_member r = {.state = LKS_MEMBER_WAITING,
                               .attempt = 1,
                               .back = true,
                               .failure = LKS_FAILURE_LOST,
                               .text = LKS_STR("the node was lost, is heard of again and joins the "
                                               "rollback")};
    r.step = lks_campaign_path_back(k, k->m->step, false);
    if (lks_campaign_look_changed(k))
        r.step = leave < k->r->count ? leave : lks_campaign_path_back(k, k->r->count, true);
    lks_campaign_member_list(d, k, r);
    lks_decision_alarm_over(d, LKS_ALARM_CHANGE, lks_look_name(k), r.text);
}

static void join_all(struct going *g)
{
    const struct lks_state_change *c = g->l.c;
    uint32_t left = c->states[LKS_MEMBER_FENCED];
    for (uint32_t i = 0; i < c->member_count && left > 0 && lks_deciding_room(g->l.d); i++) {
        struct lks_look k = lks_campaign_look_at(g->l.d->state, c, &c->members[i]);
        left -= k.m->state == LKS_MEMBER_FENCED;
        if (!may_join(g, &k))
            continue;
        join(g->l.d, &k);
        lks_campaign_downs_add(g->l.d, &g->downs, k.m->node);
        take_slot(g, k.u);
    }
}

/* The end ----------------------------------------------------------------------------------- */

/* Units that are done and did not roll back, for a reason that is no alarm: each node is counted
 * under the first reason of its unit. */
static struct lks_str stays_text(struct going *g)
{
    const struct lks_state_change *c = g->l.c;
    uint32_t one_way = 0, others = 0;
    for (uint32_t u = 0; u < c->unit_count && c->states[LKS_MEMBER_DONE] > 0; u++) {
        bool never = false, taken = false;
        uint32_t done = 0;
        g->l.u = &c->units[u];
        for (uint32_t i = 0; i < g->l.u->count; i++) {
            const struct lks_member *m = &c->members[g->l.u->first + i];
            done += m->state == LKS_MEMBER_DONE;
            never |= m->state == LKS_MEMBER_DONE && has_one_way(&c->recipes[m->recipe]);
            taken |= m->state == LKS_MEMBER_DONE && is_of_another(&g->l, m);
        }
        one_way += never ? done : 0;
        others += taken && !never ? done : 0;
    }
    struct lks_str text = LKS_STR("");
    char nodes[LKS_COUNT_TEXT_SIZE];
    if (one_way > 0)
        text = lks_decision_text(g->l.d, "; irreversible steps keep %s on the new stack",
                                 lks_str_count_text(one_way, "node", nodes));
    if (others > 0)
        text = lks_decision_text(g->l.d,
                                 "%" LKS_STR_FMT "; another change has %s, which did not roll back",
                                 LKS_STR_ARG(text), lks_str_count_text(others, "node", nodes));
    return text;
}

/* Nodes that were lost and did not come back stay drained, and from here on are meant to run what
 * they came from: what they run instead is drift. Their names; false: there is no room yet. */
static bool leave_lost(struct lks_deciding *d, const struct lks_state_change *c,
                       struct lks_str *hosts)
{
    uint32_t left = c->states[LKS_MEMBER_FENCED];
    struct lks_err err = {0};
    struct lks_str *names = lks_arena_array(&d->out->arena, (size_t)left + 1, sizeof(*names));
    size_t count = 0;
    if (names == NULL) {
        d->out->failed = lks_arena_fail(&d->out->arena, &err);
        return false;
    }
    for (uint32_t i = 0; i < c->member_count && left > 0; i++) {
        struct lks_look k = lks_campaign_look_at(d->state, c, &c->members[i]);
        left -= k.m->state == LKS_MEMBER_FENCED;
        if (!is_lost_of(&k))
            continue;
        if (!lks_deciding_room(d))
            return false;
        lks_campaign_member_keep_out(d, &k, lks_campaign_member_target(&k, true));
        names[count++] = lks_look_name(&k);
    }
    if (count > 0 && !lks_decision_fold(d, names, count, hosts))
        *hosts = LKS_STR("more than can be listed");
    return d->out->failed == LKS_OK;
}

static struct lks_str lost_text(struct lks_deciding *d, struct lks_str hosts)
{
    if (hosts.len == 0)
        return hosts;
    return lks_decision_text(d, "; lost, and drained until they are back: %" LKS_STR_FMT,
                             LKS_STR_ARG(hosts));
}

static bool begin_going(struct going *g, struct lks_deciding *d, const struct lks_state_change *c)
{
    *g = (struct going){.l = {.d = d, .c = c, .back = true},
                        .left = lks_campaign_members_moving(c->states) > 0};
    g->l.downs = &g->downs;
    return count_slots(g);
}

void lks_campaign_roll_back(struct lks_deciding *d, const struct lks_state_change *c)
{
    struct going g;
    struct lks_str lost = LKS_STR("");
    if (!begin_going(&g, d, c))
        return;
    for (uint32_t w = c->wave_count; w-- > 0;)
        begin_wave(&g, w);
    join_all(&g);
    if (g.left || !lks_deciding_room(d) || !leave_lost(d, c, &lost))
        return;
    struct lks_str stays = lks_campaign_change_stays(d, c);
    struct lks_str kept = stays_text(&g), gone = lost_text(d, lost);
    struct lks_str text = lks_decision_text(
        d, "%u rolled back, %u could not roll back%" LKS_STR_FMT "%" LKS_STR_FMT "%" LKS_STR_FMT,
        c->states[LKS_MEMBER_REVERTED], c->states[LKS_MEMBER_DONE] + lks_campaign_change_kept(c),
        LKS_STR_ARG(kept), LKS_STR_ARG(gone), LKS_STR_ARG(stays));
    lks_campaign_move(d, c, LKS_CHANGE_ROLLED_BACK, text);
    if (stays.len > 0 || lost.len > 0)
        lks_campaign_alarm(d, c, text);
}

void lks_campaign_abort(struct lks_deciding *d, const struct lks_state_change *c)
{
    struct going g;
    struct lks_str lost = LKS_STR("");
    if (!begin_going(&g, d, c))
        return;
    join_all(&g);
    if (g.left || !lks_deciding_room(d) || !leave_lost(d, c, &lost))
        return;
    lks_campaign_move(
        d, c, LKS_CHANGE_ABORTED,
        lks_decision_text(d,
                          "%u stay as they are, %u rolled back, %u did not start, %u out of "
                          "service%" LKS_STR_FMT,
                          c->states[LKS_MEMBER_DONE], c->states[LKS_MEMBER_REVERTED],
                          c->states[LKS_MEMBER_PENDING], lks_campaign_change_kept(c),
                          LKS_STR_ARG(lost_text(d, lost))));
}
