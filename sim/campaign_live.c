/*
 * Agents that die, and what their death may not do to others.
 *
 * Some seeds have nodes whose agent ends for hours or for good, at any of its commands. Chance of
 * its own decides that, so that all else a seed draws stays as it was.
 *
 * The property: a change that was halted, aborted or rolled back makes progress on every node that
 * can be reached, within a bound, whatever others do: on the node itself where it is in progress,
 * and where it waits for a slot on others of its pool that can be reached. Whether a node can be
 * reached, and whether the world keeps it (a job, a scheduler, its endpoint, a freeze), is known
 * here by the truth.
 */
#include "core/rows/node.h"
#include "core/state/lookup.h"
#include "core/state/mass.h"
#include "sim/campaign.h"

#include <inttypes.h>

#define LOOK_EVERY  (5 * CAM_MINUTE)
#define BOUND       (60 * CAM_MINUTE)
#define AWAY_MAX    40 /* hours */
#define DOOM_MAX    14 /* commands */
#define SALT        UINT64_C(0x6c6f73742d6e6f64)
#define DEATHS_DRAW 35 /* percent of seeds */

/* Deaths ------------------------------------------------------------------------------------ */

void cam_doom_draw(struct cam *w)
{
    struct lks_rng rng = {.state = w->seed ^ SALT};
    bool some = lks_rng_percent(&rng, DEATHS_DRAW) && !w->kind;
    unsigned share = 10 + (unsigned)lks_rng_below(&rng, 40);
    for (uint32_t i = 0; i < w->nodes && some && w->nodes < CAM_FLEET_LARGE; i++) {
        struct cam_machine *m = &w->machines[i];
        if (!lks_rng_percent(&rng, share))
            continue;
        m->doom = 1 + (unsigned)lks_rng_below(&rng, DOOM_MAX);
        m->doom_later = lks_rng_percent(&rng, 50);
        m->dead_for = lks_rng_percent(&rng, 50)
                          ? UINT64_MAX
                          : (1 + lks_rng_below(&rng, AWAY_MAX)) * CAM_HOUR / 4;
    }
}

/* It got one more command; whether its agent ends now, and whether before that began to run. */
bool cam_doomed(struct cam *w, uint32_t i, bool runs)
{
    struct cam_machine *m = &w->machines[i];
    if (m->doom == 0 || m->doom_later != runs || w->setting_up)
        return false;
    return --m->doom == 0;
}

/* Progress ---------------------------------------------------------------------------------- */

static bool is_stopped(const struct cam *w, const struct cam_machine *m)
{
    const struct lks_state *s = w->engine != NULL ? lks_engine_state(w->engine) : NULL;
    uint32_t place = s != NULL ? lks_state_node(s, lks_str_from(m->name)) : LKS_NO_NODE;
    return s == NULL || w->disk_full || w->frozen || w->pool_frozen[m->pool] ||
           place == LKS_NO_NODE || lks_state_acts_wait(s, s->nodes[place].pool);
}

static bool is_slurm_ill(const struct cam *w, const struct cam_machine *m)
{
    const struct cam_slurm_node *n = cam_slurm_node(w, m);
    return n != NULL && (cam_slurm_dead(w) || w->now < w->slurm.until || n->ghost.there);
}

/* The world keeps it from going on: it cannot be reached, or something runs or works on it. An
 * update has a deadline of its own, which may be longer than the bound; from then on the bound
 * counts. */
static bool is_kept(const struct cam *w, const struct cam_machine *m)
{
    bool agent = m->type != CAM_NODE || (m->up && m->agent_up);
    bool busy =
        m->job != 0 || m->stray || m->running != 0 || w->now < m->yes_until || w->now < m->reserved;
    bool sched = m->deaf || (m->sched_owner[0] != '\0' && strcmp(m->sched_owner, "root") == 0) ||
                 m->sched_missing || w->now < w->sched_down || is_slurm_ill(w, m);
    bool endpoint = m->bmc.silent || m->bmc.dead || m->bmc.task != 0 || m->unknown ||
                    w->now < m->bmc.until || cam_now(w).wall < m->flash_ends;
    return !agent || busy || sched || endpoint || !m->placed || is_stopped(w, m);
}

/* A domain goes together. */
static bool is_unit_kept(const struct cam *w, const struct cam_change *c, uint32_t i)
{
    for (uint32_t k = 0; k < w->count; k++)
        if (c->members[k].in && c->members[k].unit == c->members[i].unit &&
            is_kept(w, &w->machines[k]))
            return true;
    return false;
}

static bool has_others(const struct cam *w, const struct cam_change *c)
{
    for (size_t k = 0; k < w->change_count; k++)
        if (&w->changes[k] != c && w->changes[k].state < LKS_CHANGE_OVER &&
            w->changes[k].state >= LKS_CHANGE_RUNNING)
            return true;
    return false;
}

/* Part of the unit of `k` is being updated, which may take longer than the bound. */
static bool is_unit_updated(const struct cam *w, const struct cam_change *c, uint32_t k)
{
    for (uint32_t i = 0; i < w->count; i++)
        if (c->members[i].in && c->members[i].unit == c->members[k].unit &&
            cam_now(w).wall < w->machines[i].flash_ends)
            return true;
    return false;
}

/* One of its pool is out of service for longer than the bound, and nothing is wrong with that: it
 * drains, can be reached and has a job, or its unit is being updated. The pool may not be able to
 * spare another one. */
static bool is_pool_short(const struct cam *w, const struct cam_change *c, uint32_t i)
{
    for (uint32_t k = 0; k < w->count; k++) {
        const struct cam_member *o = &c->members[k];
        const struct cam_machine *m = &w->machines[k];
        bool drains = c->recipes[o->recipe].kinds[o->step] == LKS_DO_LEAVE && m->up &&
                      m->agent_up && is_kept(w, m);
        if (o->in && m->pool == w->machines[i].pool && cam_member_under_way(c, k) &&
            (drains || is_unit_updated(w, c, k)))
            return true;
    }
    return false;
}

/* It is done, and nothing about it but the change itself decides when it goes back. */
static bool is_to_go(const struct cam *w, const struct cam_change *c, uint32_t i)
{
    const struct cam_member *member = &c->members[i];
    const struct cam_machine *m = &w->machines[i];
    return c->state == LKS_CHANGE_ROLLING_BACK && member->state == LKS_MEMBER_DONE &&
           m->domain == 0 && m->last_change == c->id && !c->recipes[member->recipe].one_way &&
           !m->released && !m->person && !has_others(w, c) && !is_pool_short(w, c, i);
}

static bool is_owed(const struct cam *w, const struct cam_change *c, uint32_t i)
{
    bool stops = c->state == LKS_CHANGE_HALTED || c->state == LKS_CHANGE_ABORTING ||
                 c->state == LKS_CHANGE_ROLLING_BACK;
    /* Nobody leaves service for a change that was halted; only those that did go on. */
    bool on = cam_member_under_way(c, i) &&
              (c->state != LKS_CHANGE_HALTED || c->members[i].state != LKS_MEMBER_WAITING);
    return c->members[i].in && stops && (on || is_to_go(w, c, i));
}

/* A row about a member: it goes on, and where it can be reached those that wait for a slot see that
 * slots become free. One that asks over and over whether jobs ended goes nowhere. */
void cam_live_row(struct cam *w, struct cam_change *c, uint32_t i, const struct lks_rec_member *r)
{
    struct cam_member *member = &c->members[i];
    const struct cam_machine *m = &w->machines[i];
    bool drains = c->recipes[member->recipe].kinds[member->step] == LKS_DO_LEAVE &&
                  member->step == r->step && member->state == r->state;
    member->owed = w->now;
    if (!drains && m->up && m->agent_up)
        c->went[m->pool] = w->now;
}

static void look_at(struct cam *w, struct cam_change *c, uint32_t i)
{
    struct cam_member *member = &c->members[i];
    const struct cam_machine *m = &w->machines[i];
    if (member->life != m->life || !is_owed(w, c, i) || is_unit_kept(w, c, i) ||
        cam_bridge_gone(w)) {
        member->life = m->life;
        member->owed = w->now;
        return;
    }
    bool slot = member->state == LKS_MEMBER_DONE && c->went[m->pool] > member->owed;
    lks_ms since = slot ? c->went[m->pool] : member->owed;
    cam_require(w, w->now - since < BOUND, "promise 11",
                "%s can be reached, and change %" PRIu64 ", which is %s, does nothing about it "
                "(%s) for %" PRIu64 " min",
                m->name, c->id, lks_change_state_words[c->state],
                lks_member_state_words[member->state], (w->now - since) / CAM_MINUTE);
}

void cam_live_check(struct cam *w)
{
    if (w->now < w->live_at || w->nodes >= CAM_FLEET_LARGE)
        return;
    w->live_at = w->now + LOOK_EVERY;
    cam_slurm_check(w);
    for (size_t k = 0; k < w->change_count; k++)
        for (uint32_t i = 0; i < w->count && !w->broken; i++)
            look_at(w, &w->changes[k], i);
}
