/* Records about changes: plans, how far members and waves are, and what was learned on the way. */
#include "base/vec.h"
#include "core/fold/sets.h"
#include "core/rows/change_index.h"
#include "core/rows/failure.h"
#include "core/rows/pool.h"
#include "core/rows/verdict.h"
#include "core/state/change_room.h"
#include "core/state/node_status.h"
#include "core/state/state.h"
#include "core/state/state_room.h"
#include "model/record/record.h"

#include <stdlib.h>

/* What follows for nodes -------------------------------------------------------------------- */

/* Whether a member in this state keeps its node from other changes. */
static bool holds(enum lks_member_state state)
{
    return state != LKS_MEMBER_PENDING && state != LKS_MEMBER_DONE &&
           state != LKS_MEMBER_REVERTED && state != LKS_MEMBER_SKIPPED;
}

/* Whether the member runs something that the gate behind its wave has not passed yet. */
static bool soaks(const struct lks_state_change *c, const struct lks_member *m)
{
    const struct lks_wave *w = &c->waves[c->units[m->unit].wave];
    return c->gate_count > 0 && m->state == LKS_MEMBER_DONE && !lks_change_over(c) &&
           w->kind != LKS_WAVE_RING && w->state != LKS_WAVE_PLANNED && w->state != LKS_WAVE_PASSED;
}

static void fence_node(struct lks_state *s, uint32_t n)
{
    struct lks_bitset *set = &s->standing->soaks;
    bool on = false;
    for (uint32_t i = 0; i < s->change_count && !on; i++) {
        const struct lks_member *m = lks_state_change_member(&s->changes[i], n);
        on = m != NULL && soaks(&s->changes[i], m);
    }
    if (on)
        lks_bitset_set(set, n);
    else
        lks_bitset_clear(set, n);
}

/* Whether one that is not over brought it to this stack. */
static bool is_brought_to(const struct lks_state *s, uint32_t n, lks_text stack)
{
    for (uint32_t i = 0; i < s->change_count; i++) {
        const struct lks_state_change *c = &s->changes[i];
        if (c->stack == stack && !lks_change_over(c) &&
            lks_change_brought(c, lks_state_change_member(c, n)))
            return true;
    }
    return false;
}

/* It follows from members alone which change has the node and what it is pinned to: the first of
 * those that hold it, and the target of the last that brought it there, while one that did is not
 * over. One that is over counts, too: what an earlier one brought it to is not what it runs any
 * more. */
static void bind_node(struct lks_state *s, uint32_t n)
{
    struct lks_node *node = &s->nodes[n];
    const struct lks_member *last = NULL;
    uint64_t had = node->change;
    lks_text pin = 0;
    bool over = false;
    node->change = 0;
    fence_node(s, n);
    for (uint32_t i = 0; i < s->change_count; i++) {
        struct lks_state_change *c = &s->changes[i];
        const struct lks_member *m = lks_state_change_member(c, n);
        if (m == NULL)
            continue;
        if (node->change == 0 && holds(m->state))
            node->change = c->id;
        if (had != 0) /* it may be its turn now */
            c->looked = 0;
        if (lks_change_brought(c, m) && (last == NULL || m->since >= last->since)) {
            last = m;
            over = lks_change_over(c);
            pin = c->stack;
        }
    }
    if (over && !is_brought_to(s, n, pin))
        pin = 0;
    /* The stack that drift is measured against waits until no change is at it; a node that a change
     * keeps out of service is left out of its domain. */
    if (pin == node->pin && (had == node->change || !node->drifting) && node->domain == 0)
        return;
    node->pin = pin;
    lks_node_status_update(s, n);
}

/* The change that has the node is asked again when it is to be looked at. Others that wait for it
 * may go on. */
enum lks_code lks_apply_touched(const struct lks_applying *a, uint32_t n)
{
    struct lks_state *s = a->s;
    uint64_t has = s->nodes[n].change;
    for (uint32_t i = 0; i < s->change_count && s->changes_open > 0; i++) {
        struct lks_state_change *c = &s->changes[i];
        if (lks_change_over(c) || c->id == has)
            continue;
        const struct lks_member *m = lks_state_change_member(c, n);
        if (m != NULL && m->state == LKS_MEMBER_PENDING &&
            c->waves[c->units[m->unit].wave].state == LKS_WAVE_BEGUN)
            c->looked = 0;
    }
    if (LKS_VEC_RESERVE(s->touched, s->touched_room, s->touched_count + 1, a->err) != LKS_OK)
        return lks_wrap(a->err, "members");
    s->touched[s->touched_count++] = n;
    return LKS_OK;
}

void lks_apply_joined(const struct lks_applying *a)
{
    for (uint32_t i = 0; i < a->s->change_count && a->s->changes_open > 0; i++)
        a->s->changes[i].looked = 0;
}

/* All in progress, since what they wait for may have come. */
static enum lks_code touch_change(const struct lks_applying *a, struct lks_state_change *c)
{
    c->looked = 0;
    if (c->member_count == c->states[LKS_MEMBER_PENDING])
        return LKS_OK;
    for (uint32_t i = 0; i < c->member_count; i++) {
        const struct lks_member *m = &c->members[i];
        if (m->state != LKS_MEMBER_PENDING && (!lks_member_over(m) || holds(m->state)) &&
            lks_apply_touched(a, m->node) != LKS_OK)
            return a->err->code;
    }
    return LKS_OK;
}

static enum lks_code touch_all(const struct lks_applying *a)
{
    for (uint32_t i = 0; i < a->s->change_count && a->s->changes_open > 0; i++) {
        if (!lks_change_over(&a->s->changes[i]) && touch_change(a, &a->s->changes[i]) != LKS_OK)
            return a->err->code;
    }
    return LKS_OK;
}

static enum lks_code touch_basis(const struct lks_applying *a)
{
    uint32_t basis = lks_state_basis(a->s, a->r->verdict.basis);
    uint32_t n = basis == 0 || a->s->changes_open == 0 ? 0 : a->s->bases[basis - 1].first;
    for (; n != 0; n = a->s->nodes[n - 1].whole_next) {
        if (lks_apply_touched(a, n - 1) != LKS_OK)
            return a->err->code;
    }
    return LKS_OK;
}

/* Those after which anybody's step may begin. */
static const bool about_all[] = {
    [LKS_RECORD_LIMITS] = true,         [LKS_RECORD_POOL] = true,
    [LKS_RECORD_POOL_REMOVED] = true,   [LKS_RECORD_BUNDLE] = true,
    [LKS_RECORD_BUNDLE_REVOKED] = true, [LKS_RECORD_OVERRIDE] = true,
    [LKS_RECORD_ALARM_RELEASED] = true, [LKS_RECORD_REVERT_PROVEN] = true,
    [LKS_RECORD_FROZEN] = true,         [LKS_RECORD_FLEET] = true,
    [LKS_RECORD_FLASH_RESOLVED] = true,
};

enum lks_code lks_apply_campaign(const struct lks_applying *a)
{
    size_t kind = (size_t)a->r->kind;
    uint32_t n = 0;
    if (a->s->change_count == 0)
        return LKS_OK;
    if (kind < LKS_COUNT(about_all) && about_all[kind] && touch_all(a) != LKS_OK)
        return a->err->code;
    if (kind == LKS_RECORD_VERDICT)
        return touch_basis(a);
    return lks_intern_find(&a->s->names, a->touched, &n) ? lks_apply_touched(a, n) : LKS_OK;
}

/* Changes ----------------------------------------------------------------------------------- */

static void drop_texts(struct lks_state *s, struct lks_state_change *c)
{
    lks_apply_drop(s, &c->hosts);
    for (uint32_t i = 0; i < c->wave_count; i++) {
        lks_apply_drop(s, &c->waves[i].controls);
        lks_apply_drop(s, &c->waves[i].text);
        lks_apply_drop(s, &c->waves[i].limit_text);
        lks_apply_drop(s, &c->waves[i].width_text);
    }
    for (uint32_t i = 0; i < c->member_count; i++)
        lks_apply_drop(s, &c->members[i].text);
    for (uint32_t i = 0; i < c->note_count; i++)
        lks_apply_drop(s, &c->notes[i].text);
    for (uint32_t i = 0; i < c->look_count; i++)
        lks_apply_drop(s, &c->looks[i].text);
    for (uint32_t i = 0; i < c->job_count; i++)
        lks_apply_drop(s, &c->jobs[i].text);
    for (uint32_t i = 0; i < c->order_count; i++) {
        lks_apply_drop(s, &c->orders[i].digest);
        lks_apply_drop(s, &c->orders[i].text);
    }
}

static enum lks_code drop_change(const struct lks_applying *a, uint32_t goes)
{
    struct lks_state *s = a->s;
    struct lks_state_change gone = s->changes[goes];
    s->changes_open -= !lks_change_over(&gone);
    s->glasses -= gone.glass.at != 0 && gone.glass.reviewed == 0;
    LKS_VEC_REMOVE(s->changes, s->change_count, goes);
    s->changes[s->change_count] = (struct lks_state_change){0};
    for (uint32_t i = 0; i < gone.member_count; i++)
        bind_node(s, gone.members[i].node);
    enum lks_code code = LKS_OK;
    for (uint32_t i = 0; i < gone.member_count && code == LKS_OK; i++)
        code = lks_apply_touched(a, gone.members[i].node);
    drop_texts(s, &gone);
    lks_change_fini(&gone);
    return code;
}

/* Those that are over and keep no node make room while they are too large together. */
static enum lks_code thin_members(const struct lks_applying *a)
{
    const struct lks_state *s = a->s;
    for (;;) {
        uint64_t members = 0;
        unsigned lost = 0;
        for (uint32_t i = 0; i < s->change_count; i++)
            members += lks_change_over(&s->changes[i]) ? s->changes[i].member_count : 0;
        if (members <= LKS_STATE_MEMBERS_MAX)
            return LKS_OK;
        uint32_t goes = lks_change_least(s, &lost);
        if (lost > 0)
            return LKS_OK;
        if (drop_change(a, goes) != LKS_OK)
            return a->err->code;
    }
}

static enum lks_code add_change(const struct lks_applying *a, const struct lks_state_change *made)
{
    struct lks_state *s = a->s;
    unsigned lost = 0;
    if (s->change_count == LKS_STATE_CHANGES_MAX &&
        drop_change(a, lks_change_least(s, &lost)) != LKS_OK)
        return a->err->code;
    if (LKS_VEC_RESERVE_MAX(s->changes, s->change_room, s->change_count + 1, LKS_STATE_CHANGES_MAX,
                            a->err) != LKS_OK)
        return lks_wrap(a->err, "changes");
    s->changes[s->change_count++] = *made;
    s->changes_open++;
    s->next_change = made->id + 1;
    return LKS_OK;
}

enum lks_code lks_apply_change(const struct lks_applying *a)
{
    const struct lks_rec_change *from = &a->r->change;
    if (from->id < a->s->next_change || from->id == UINT64_MAX ||
        from->kind >= LKS_CHANGE_KIND_COUNT)
        return LKS_OK;
    struct lks_state_change made = {0};
    if (lks_sets_apply(a, &made) != LKS_OK)
        return a->err->code;
    made.quorum = from->class.len > 0 ? lks_apply_small(from->quorum) : 1;
    return add_change(a, &made);
}

/* What is over stays so. */
enum lks_code lks_apply_change_moved(const struct lks_applying *a)
{
    const struct lks_rec_change_moved *from = &a->r->change_moved;
    struct lks_state_change *c = lks_state_change_find(a->s, from->change);
    if (c == NULL || lks_change_over(c) || from->state >= LKS_CHANGE_STATE_COUNT)
        return LKS_OK;
    if (lks_sets_apply(a, c) != LKS_OK ||
        (from->standby.len > 0 && lks_apply_keep(a, from->standby, &c->standby) != LKS_OK))
        return a->err->code;
    c->moved = lks_apply_moment(a);
    if (c->state == LKS_CHANGE_RUNNING && c->started == 0)
        c->started = c->moved;
    if (from->starts) /* not from the state: rows of earlier versions fold to what they did then */
        c->started_by = c->moved_by;
    if (lks_change_over(c)) {
        a->s->changes_open--;
        for (uint32_t i = 0; i < c->member_count; i++)
            bind_node(a->s, c->members[i].node);
    }
    for (uint32_t i = 0; i < c->member_count; i++) {
        if (lks_apply_touched(a, c->members[i].node) != LKS_OK)
            return a->err->code;
    }
    c->looked = 0;
    return lks_change_over(c) ? thin_members(a) : LKS_OK;
}

/* Plans ------------------------------------------------------------------------------------- */

/* Steps of a recipe and waves come in their order; what comes out of it is no part of a plan. */
enum lks_code lks_apply_plan_step(const struct lks_applying *a)
{
    const struct lks_rec_plan_step *from = &a->r->plan_step;
    struct lks_state_change *c = lks_state_change_find(a->s, from->change);
    if (c == NULL || from->recipe >= LKS_CHANGE_RECIPES || from->index >= LKS_CHANGE_STEPS ||
        from->kind >= LKS_DO_COUNT || from->revert >= LKS_BMC_ACT_COUNT ||
        from->jobs >= LKS_DRAIN_JOBS_COUNT)
        return LKS_OK;
    uint32_t number = (uint32_t)from->recipe;
    uint32_t had = number < c->recipe_count ? c->recipes[number].count : 0;
    if (from->index != had)
        return LKS_OK;
    if (LKS_VEC_RESERVE_MAX(c->recipes, c->recipe_room, number + 1, LKS_CHANGE_RECIPES, a->err) !=
        LKS_OK)
        return lks_wrap(a->err, "recipes");
    struct lks_recipe *recipe = &c->recipes[number];
    if (LKS_VEC_RESERVE_MAX(recipe->steps, recipe->room, had + 1, LKS_CHANGE_STEPS, a->err) !=
        LKS_OK)
        return lks_wrap(a->err, "steps");
    if (number >= c->recipe_count)
        c->recipe_count = number + 1;
    recipe->count++;
    recipe->steps[had] = (struct lks_step){0};
    return lks_sets_apply(a, &recipe->steps[had]);
}

enum lks_code lks_apply_plan_wave(const struct lks_applying *a)
{
    const struct lks_rec_plan_wave *from = &a->r->plan_wave;
    struct lks_state_change *c = lks_state_change_find(a->s, from->change);
    if (c == NULL || from->index != c->wave_count || from->index >= LKS_CHANGE_WAVES ||
        from->kind >= LKS_WAVE_KIND_COUNT)
        return LKS_OK;
    if (LKS_VEC_RESERVE_MAX(c->waves, c->wave_room, c->wave_count + 1, LKS_CHANGE_WAVES, a->err) !=
        LKS_OK)
        return lks_wrap(a->err, "waves");
    struct lks_wave *wave = &c->waves[c->wave_count++];
    *wave = (struct lks_wave){0};
    c->looked = 0;
    return lks_sets_apply(a, wave);
}

enum lks_code lks_apply_plan_order(const struct lks_applying *a)
{
    const struct lks_rec_plan_order *from = &a->r->plan_order;
    struct lks_state_change *c = lks_state_change_find(a->s, from->change);
    uint32_t at = 0;
    if (c == NULL || from->digest.len == 0 || from->text.len > LKS_CHANGE_ORDER_MAX ||
        c->order_count == LKS_CHANGE_ORDERS ||
        lks_state_change_order_at(a->s, c, from->digest, &at))
        return LKS_OK;
    if (LKS_VEC_INSERT(c->orders, c->order_room, c->order_count, at, LKS_CHANGE_ORDERS, a->err) !=
        LKS_OK)
        return lks_wrap(a->err, "orders");
    c->orders[at] = (struct lks_change_order){0};
    return lks_sets_apply(a, &c->orders[at]);
}

enum lks_code lks_apply_plan_note(const struct lks_applying *a)
{
    const struct lks_rec_plan_note *from = &a->r->plan_note;
    struct lks_state_change *c = lks_state_change_find(a->s, from->change);
    if (c == NULL || c->note_count == LKS_CHANGE_NOTES || from->kind >= LKS_PLAN_NOTE_COUNT)
        return LKS_OK;
    if (LKS_VEC_RESERVE_MAX(c->notes, c->note_room, c->note_count + 1, LKS_CHANGE_NOTES, a->err) !=
        LKS_OK)
        return lks_wrap(a->err, "notes");
    struct lks_change_note *note = &c->notes[c->note_count++];
    *note = (struct lks_change_note){0};
    return lks_sets_apply(a, note);
}

/* Members ----------------------------------------------------------------------------------- */

/* Take a unit out of the counts, or with `by` 1 put it into them, as count() does in apply.c. */
static void count_unit(struct lks_state_change *c, const struct lks_unit *u, int by)
{
    c->waves[u->wave].busy += u->active > 0 ? (by > 0 ? 1 : UINT32_MAX) : 0;
}

/* A member that rolled back because others did, or because a person decided so, did not fail. */
static bool failed(const struct lks_member *m)
{
    return lks_member_over(m) && m->state != LKS_MEMBER_DONE && m->state != LKS_MEMBER_SKIPPED &&
           m->failure != LKS_FAILURE_NONE;
}

static void count_member(struct lks_state_change *c, const struct lks_member *m, int by)
{
    uint32_t one = by > 0 ? 1 : UINT32_MAX;
    struct lks_unit *u = &c->units[m->unit];
    struct lks_wave *w = &c->waves[u->wave];
    w->members[m->state] += one;
    c->states[m->state] += one;
    w->failed += failed(m) ? one : 0;
    w->hard += failed(m) && lks_failure_rules[m->failure].hard ? one : 0;
    c->failed += failed(m) ? one : 0;
    c->queued += lks_member_queued(m) ? one : 0;
    u->over += lks_member_over(m) ? one : 0;
    u->active += !lks_member_over(m) && m->state != LKS_MEMBER_PENDING ? one : 0;
}

static bool has_pending(const struct lks_unit *u)
{
    return u->count > u->over + u->active;
}

/* The first unit of its wave with a member that is PENDING, after this one changed. Units of a wave
 * are chained in the order of their places. */
static void find_next(struct lks_state_change *c, uint32_t unit)
{
    struct lks_wave *w = &c->waves[c->units[unit].wave];
    if (has_pending(&c->units[unit]) && (w->next == 0 || unit + 1 < w->next))
        w->next = unit + 1;
    while (w->next != 0 && !has_pending(&c->units[w->next - 1]))
        w->next = c->units[w->next - 1].next;
}

/* It is the last of its wave. */
static enum lks_code chain_unit(struct lks_state_change *c, uint32_t unit, struct lks_err *err)
{
    struct lks_unit *u = &c->units[unit];
    struct lks_wave *w = &c->waves[u->wave];
    if (w->last_unit != 0)
        c->units[w->last_unit - 1].next = unit + 1;
    else
        w->first_unit = unit + 1;
    w->last_unit = unit + 1;
    return u->domain == 0 ? LKS_OK : lks_change_index_unit(c, unit, err);
}

/* A unit at the end of its wave. */
static enum lks_code add_unit(const struct lks_applying *a, struct lks_state_change *c,
                              uint32_t wave, lks_text domain, uint32_t *out)
{
    if (LKS_VEC_RESERVE_MAX(c->units, c->unit_room, c->unit_count + 1, LKS_STATE_NODES_MAX,
                            a->err) != LKS_OK)
        return lks_wrap(a->err, "units");
    *out = c->unit_count++;
    c->units[*out] = (struct lks_unit){.domain = domain, .wave = wave, .first = c->member_count};
    return chain_unit(c, *out, a->err);
}

/* The unit that a node of this domain joins: that of its wave, else a new one. */
static enum lks_code join_unit(const struct lks_applying *a, struct lks_state_change *c,
                               uint32_t wave, lks_text domain, uint32_t *out)
{
    uint32_t place = domain == 0 ? 0 : lks_change_unit(c, wave, domain);
    if (place == 0)
        return add_unit(a, c, wave, domain, out);
    *out = place - 1;
    return LKS_OK;
}

/* Members of a unit are next to each other: those behind it make room. */
static void put_member(struct lks_state_change *c, const struct lks_member *made)
{
    struct lks_unit *unit = &c->units[made->unit];
    uint32_t at = unit->first + unit->count;
    lks_vec_open_gap(c->members, c->member_count++, at, sizeof(*made));
    c->members[at] = *made;
    for (uint32_t i = at; i < c->member_count; i++)
        c->places[c->members[i].node] = i + 1;
    for (uint32_t u = 0; u < c->unit_count && at + 1 < c->member_count; u++) {
        if (u != made->unit && c->units[u].first >= at)
            c->units[u].first++;
    }
    count_unit(c, unit, -1);
    unit->count++;
    count_member(c, made, 1);
    count_unit(c, unit, 1);
    find_next(c, made->unit);
}

static enum lks_code add_member(const struct lks_applying *a, struct lks_str name, void *ctx)
{
    const struct lks_rec_plan_part *from = &a->r->plan_part;
    struct lks_state_change *c = ctx;
    struct lks_member made = {.recipe = lks_apply_small(from->recipe), .proves = from->proves};
    lks_text domain = 0;
    if (lks_state_place(a->s, name, &made.node, a->err) != LKS_OK)
        return a->err->code;
    if (lks_state_change_member(c, made.node) != NULL)
        return LKS_OK;
    if (lks_apply_keep(a, from->domain, &domain) != LKS_OK ||
        lks_apply_keep(a, from->from, &made.from) != LKS_OK ||
        LKS_VEC_RESERVE_MAX(c->places, c->place_room, made.node + 1, LKS_STATE_NODES_MAX, a->err) !=
            LKS_OK ||
        LKS_VEC_RESERVE_MAX(c->members, c->member_room, c->member_count + 1, LKS_STATE_NODES_MAX,
                            a->err) != LKS_OK ||
        lks_change_index_from(c, made.from, a->err) != LKS_OK ||
        join_unit(a, c, (uint32_t)from->wave, domain, &made.unit) != LKS_OK)
        return lks_wrap(a->err, "members");
    put_member(c, &made);
    c->looked = 0;
    return lks_apply_touched(a, made.node);
}

enum lks_code lks_apply_plan_part(const struct lks_applying *a)
{
    const struct lks_rec_plan_part *from = &a->r->plan_part;
    struct lks_state_change *c = lks_state_change_find(a->s, from->change);
    if (c == NULL || lks_change_over(c) || from->wave >= c->wave_count ||
        from->recipe >= c->recipe_count)
        return LKS_OK;
    return lks_apply_hosts(a, from->hosts, add_member, c);
}

enum lks_code lks_apply_wave(const struct lks_applying *a)
{
    const struct lks_rec_wave *from = &a->r->wave;
    struct lks_state_change *c = lks_state_change_find(a->s, from->change);
    if (c == NULL || from->index >= c->wave_count || from->state >= LKS_WAVE_STATE_COUNT)
        return LKS_OK;
    struct lks_wave *wave = &c->waves[from->index];
    if (wave->state != (enum lks_wave_state)from->state || wave->since == 0)
        wave->since = a->time;
    if (lks_sets_apply(a, wave) != LKS_OK)
        return a->err->code;
    c->looked = 0;
    for (uint32_t u = wave->kind != LKS_WAVE_RING ? wave->first_unit : 0; u != 0;
         u = c->units[u - 1].next) {
        for (uint32_t i = 0; i < c->units[u - 1].count; i++)
            fence_node(a->s, c->members[c->units[u - 1].first + i].node);
    }
    return LKS_OK;
}

/* Staging beside what runs is not yet the beginning. */
static bool begins(const struct lks_state_change *c, const struct lks_member *m)
{
    const struct lks_step *step = lks_member_step(c, m);
    return m->state != LKS_MEMBER_PENDING && m->state != LKS_MEMBER_SKIPPED &&
           (step == NULL || step->kind != LKS_DO_STAGE);
}

/* `moved`: whether others of its unit may have waited for it. */
static enum lks_code move_member(const struct lks_applying *a, struct lks_state_change *c,
                                 struct lks_member *m, bool *moved)
{
    const struct lks_member was = *m;
    if (lks_sets_apply(a, m) != LKS_OK)
        return a->err->code;
    bool on = m->state != was.state || m->step != was.step || m->pass != was.pass ||
              m->attempt != was.attempt || m->back != was.back;
    if (on)
        m->since = a->time;
    if (m->back && (!was.back || m->turned == 0))
        m->turned = lks_apply_moment(a);
    if (m->begun == 0 && begins(c, m))
        m->begun = lks_apply_moment(a);
    if (m->state == LKS_MEMBER_PENDING)
        m->begun = m->turned = 0;
    *moved = on || m->turned != was.turned || m->begun != was.begun || m->failure != was.failure;
    return LKS_OK;
}

static void find_begun(const struct lks_state_change *c, struct lks_unit *u)
{
    u->begun = false;
    for (uint32_t i = 0; i < u->count && !u->begun; i++)
        u->begun = c->members[u->first + i].begun != 0;
}

enum lks_code lks_apply_member(const struct lks_applying *a)
{
    const struct lks_rec_member *from = &a->r->member;
    struct lks_state_change *c = lks_state_change_find(a->s, from->change);
    uint32_t n = 0;
    if (c == NULL || from->state >= LKS_MEMBER_STATE_COUNT || from->failure >= LKS_FAILURE_COUNT ||
        !lks_intern_find(&a->s->names, from->node, &n) || lks_state_change_member(c, n) == NULL)
        return LKS_OK;
    struct lks_member *m = &c->members[c->places[n] - 1];
    struct lks_unit *u = &c->units[m->unit];
    count_unit(c, u, -1);
    count_member(c, m, -1);
    bool moved = false;
    if (move_member(a, c, m, &moved) != LKS_OK)
        return a->err->code;
    count_member(c, m, 1);
    find_begun(c, u);
    count_unit(c, u, 1);
    find_next(c, m->unit);
    c->looked = 0;
    bind_node(a->s, n);
    for (uint32_t i = 0; i < u->count && moved; i++) {
        if (lks_apply_touched(a, c->members[u->first + i].node) != LKS_OK)
            return a->err->code;
    }
    if (!moved && lks_apply_touched(a, n) != LKS_OK)
        return a->err->code;
    return lks_change_over(c) ? thin_members(a) : LKS_OK;
}

/* What was learned, and what stops everything ----------------------------------------------- */

/* The oldest makes room. */
static void thin_proven(struct lks_state *s)
{
    uint32_t oldest = 0;
    for (uint32_t i = 1; i < s->proven_count; i++) {
        if (s->proven[i].at < s->proven[oldest].at)
            oldest = i;
    }
    LKS_VEC_REMOVE(s->proven, s->proven_count, oldest);
}

enum lks_code lks_apply_revert_proven(const struct lks_applying *a)
{
    const struct lks_rec_revert_proven *from = &a->r->revert_proven;
    struct lks_state *s = a->s;
    struct lks_proven made = {0};
    uint32_t at = 0;
    if (lks_sets_apply(a, &made) != LKS_OK)
        return a->err->code;
    if (!lks_state_proven_at(s, from->class, from->from, from->to, &at)) {
        if (s->proven_count == LKS_STATE_PROVEN_MAX) {
            thin_proven(s);
            (void)lks_state_proven_at(s, from->class, from->from, from->to, &at);
        }
        if (LKS_VEC_INSERT(s->proven, s->proven_room, s->proven_count, at, LKS_STATE_PROVEN_MAX,
                           a->err) != LKS_OK)
            return lks_wrap(a->err, "exercised rollbacks");
    }
    s->proven[at] = made;
    return LKS_OK;
}

enum lks_code lks_apply_frozen(const struct lks_applying *a)
{
    const struct lks_rec_frozen *from = &a->r->frozen;
    struct lks_state *s = a->s;
    uint32_t p = lks_state_pool(s, from->pool);
    if (from->pool.len > 0 && p == LKS_NO_POOL)
        return LKS_OK;
    bool all = from->pool.len == 0;
    lks_text *by = all ? &s->frozen_by : &s->pools[p].frozen_by;
    lks_text *reason = all ? &s->frozen_reason : &s->pools[p].frozen_reason;
    *(all ? &s->frozen : &s->pools[p].frozen) = from->on;
    *(all ? &s->frozen_since : &s->pools[p].frozen_since) = from->on ? a->time : 0;
    const struct lks_kept list[] = {{from->on ? from->by : LKS_STR(""), by},
                                    {from->on ? from->reason : LKS_STR(""), reason}};
    return lks_apply_keep_all(a, list, LKS_COUNT(list));
}

/* Loaded rows ------------------------------------------------------------------------------- */

static enum lks_code index_units(const struct lks_applying *a, struct lks_state_change *c)
{
    for (uint32_t i = 0; i < c->unit_count; i++) {
        if (c->units[i].wave >= c->wave_count)
            return lks_fail(a->err, LKS_E_INVALID, "a unit is in no wave");
        if (chain_unit(c, i, a->err) != LKS_OK)
            return a->err->code;
    }
    return LKS_OK;
}

/* Members of a unit are next to each other. */
static enum lks_code index_member(const struct lks_applying *a, struct lks_state_change *c,
                                  uint32_t i)
{
    const struct lks_member *m = &c->members[i];
    if (m->unit >= c->unit_count || m->recipe >= c->recipe_count)
        return lks_fail(a->err, LKS_E_INVALID, "a member is in no unit, or has no recipe");
    struct lks_unit *u = &c->units[m->unit];
    u->first = u->count == 0 ? i : u->first;
    if (u->first + u->count != i || lks_state_change_member(c, m->node) != NULL)
        return lks_fail(a->err, LKS_E_INVALID,
                        "members of a unit are not next to each other, or a node occurs twice");
    if (LKS_VEC_RESERVE_MAX(c->places, c->place_room, m->node + 1, LKS_STATE_NODES_MAX, a->err) !=
            LKS_OK ||
        lks_change_index_from(c, m->from, a->err) != LKS_OK)
        return lks_wrap(a->err, "members");
    c->places[m->node] = i + 1;
    u->count++;
    count_member(c, m, 1);
    return LKS_OK;
}

static enum lks_code index_change(const struct lks_applying *a, struct lks_state_change *c)
{
    if (index_units(a, c) != LKS_OK)
        return a->err->code;
    for (uint32_t i = 0; i < c->member_count; i++) {
        if (index_member(a, c, i) != LKS_OK)
            return a->err->code;
    }
    for (uint32_t i = 0; i < c->unit_count; i++) {
        if (c->units[i].count == 0)
            return lks_fail(a->err, LKS_E_INVALID, "a unit has no members");
        find_begun(c, &c->units[i]);
        count_unit(c, &c->units[i], 1);
        find_next(c, i);
    }
    a->s->changes_open += !lks_change_over(c);
    a->s->glasses += c->glass.at != 0 && c->glass.reviewed == 0;
    return LKS_OK;
}

/* Which change has a node, and what it is pinned to, follows from all of them. */
enum lks_code lks_apply_index_changes(const struct lks_applying *a)
{
    struct lks_state *s = a->s;
    for (uint32_t i = 0; i < s->change_count; i++) {
        if (index_change(a, &s->changes[i]) != LKS_OK)
            return a->err->code;
    }
    for (uint32_t i = 0; i < s->change_count; i++) {
        for (uint32_t k = 0; k < s->changes[i].member_count; k++)
            bind_node(s, s->changes[i].members[k].node);
    }
    return LKS_OK;
}
