/* Operators: one who wants changes and sees them through, and others who meddle. */
#include "core/plan/plan.h"
#include "core/rows/alarm.h"
#include "sim/campaign.h"

#include <inttypes.h>
#include <stdlib.h>

#define MANAGES_EVERY (2 * CAM_MINUTE)

static bool ask(struct cam *w, struct lks_event event, struct lks_str by)
{
    event.by = by;
    event.reason = CAM_SAID;
    return cam_turn(w, &event, NULL);
}

static bool move(struct cam *w, uint64_t change, enum lks_change_order_word order)
{
    cam_say(w, "somebody says %s of change %" PRIu64, lks_change_order_words[order], change);
    return ask(w,
               (struct lks_event){.kind = LKS_EVENT_CHANGE_MOVE,
                                  .move = {.change = change, .order = order}},
               CAM_BY);
}

/* Proposing --------------------------------------------------------------------------------- */

static void hosts_of(struct cam *w, struct lks_buf *out)
{
    bool few = w->nodes < CAM_FLEET_LARGE && !w->kind && lks_rng_percent(&w->rng, 20);
    uint32_t last = few ? 1 + (uint32_t)lks_rng_below(&w->rng, w->nodes) : w->nodes;
    while (last > 1 && !w->machines[last - 1].placed)
        last--;
    lks_buf_init(out, 1024);
    lks_buf_addf(out, "n[000001-%06" PRIu32 "]", last);
}

static void propose(struct cam *w)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf hosts = {0};
    const struct lks_bundle *list[CAM_STACKS];
    struct lks_bundle_set known = {.list = list};
    unsigned to = w->change_count == 0 ? 1 : (unsigned)lks_rng_below(&w->rng, CAM_STACKS);
    hosts_of(w, &hosts);
    for (unsigned s = 0; s < CAM_STACKS; s++)
        if (!w->revoked[s])
            list[known.count++] = &w->bundles[s];
    struct lks_event event = {
        .kind = LKS_EVENT_PROPOSE,
        .propose = {.known = &known,
                    .wish = {.kind = LKS_CHANGE_STACK,
                             .stack = lks_str_from(w->stack_digests[to]),
                             .hosts = lks_buf_view(&hosts),
                             .pool = LKS_STR(""),
                             .hook = LKS_STR(""),
                             .windows = LKS_STR(""),
                             .canary_max = (uint32_t)lks_rng_below(&w->rng, 4),
                             .failures_max = (uint32_t)lks_rng_below(&w->rng, 3),
                             .soak = cam_between(w, CAM_MINUTE, 10 * CAM_MINUTE),
                             .rolls_back = lks_rng_percent(&w->rng, 50),
                             .one_way = true}},
    };
    if (w->nodes >= CAM_FLEET_LARGE) {
        event.propose.wish.failures_max = w->nodes;
        event.propose.wish.soak = CAM_MINUTE;
        event.propose.wish.strength = 1;
        event.propose.wish.canary_max = 1;
        event.propose.wish.rolls_back = false;
    }
    if (w->bridges.on) /* so that there is something to reserve */
        event.propose.wish.not_before =
            cam_now(w).wall + cam_bridge_within(w, 0, 20 * CAM_MINUTE) / LKS_SECOND * LKS_SECOND;
    cam_say(w, "somebody proposes stack %u for %s", to, hosts.ptr);
    event.reason = CAM_SAID;
    cam_votes_propose(w, event);
}

/* Seeing it through ------------------------------------------------------------------------- */

static void start(struct cam *w, uint64_t change, bool glass)
{
    cam_say(w, "somebody starts change %" PRIu64 "%s", change, glass ? " unapproved" : "");
    (void)ask(w,
              (struct lks_event){
                  .kind = LKS_EVENT_CHANGE_MOVE,
                  .move = {.change = change,
                           .order = LKS_ORDERED_START,
                           .glass = glass,
                           .standby = lks_rng_percent(&w->rng, 90) ? LKS_STR("kit") : LKS_STR("")}},
              CAM_BY);
}

/* The reason that an approved change shows for not starting stays once the weather is calm: the
 * simulation does not repair drifted nodes. Its people then abort the change, as the reason says.
 */
static void start_or_end(struct cam *w, const struct lks_state_change *c)
{
    LKS_CLEANUP(lks_decision_fini) struct lks_decision space = {0};
    struct lks_now now = lks_engine_now(w->engine, cam_now(w));
    lks_decision_init(&space);
    if (w->calm && lks_decide_change_barred(lks_engine_state(w->engine), lks_engine_book(w->engine),
                                            now, c, &space)
                           .len > 0)
        (void)move(w, c->id, LKS_ORDERED_ABORT);
    else
        start(w, c->id, false);
}

static void manage_change(struct cam *w, const struct lks_state_change *c)
{
    uint64_t id = c->id;
    switch (c->state) {
    case LKS_CHANGE_PROPOSED:
        if (!w->calm && lks_rng_percent(&w->rng, 15))
            start(w, id, true);
        else
            cam_votes_give(w, id);
        break;
    case LKS_CHANGE_APPROVED:
        start_or_end(w, c);
        break;
    case LKS_CHANGE_PAUSED:
        if (w->calm || lks_rng_percent(&w->rng, 30))
            (void)move(w, id, LKS_ORDERED_RESUME);
        break;
    case LKS_CHANGE_HALTED:
        if (w->calm || lks_rng_percent(&w->rng, 10))
            (void)move(w, id,
                       lks_rng_percent(&w->rng, 70) ? LKS_ORDERED_ROLLBACK : LKS_ORDERED_ABORT);
        break;
    case LKS_CHANGE_RUNNING:
        if (c->glass.at != 0)
            cam_votes_give(w, id);
        break;
    case LKS_CHANGE_ABORTING:
    case LKS_CHANGE_ROLLING_BACK:
    case LKS_CHANGE_DONE:
    case LKS_CHANGE_REJECTED:
    case LKS_CHANGE_ABORTED:
    case LKS_CHANGE_ROLLED_BACK:
    case LKS_CHANGE_STATE_COUNT:
        break;
    }
}

static void release_alarms(struct cam *w, unsigned percent)
{
    for (uint32_t i = 0; w->engine != NULL && !w->broken; i++) {
        const struct lks_state *s = lks_engine_state(w->engine);
        if (i >= s->alarm_count || s->alarms_open == 0)
            return;
        if (s->alarms[i].released != 0 || !lks_rng_percent(&w->rng, percent))
            continue;
        (void)ask(w, (struct lks_event){.kind = LKS_EVENT_ALARM_RELEASE, .alarm = s->alarms[i].id},
                  CAM_BY);
    }
}

void cam_person_freezes(struct cam *w, unsigned pool, bool on)
{
    (void)ask(w,
              (struct lks_event){
                  .kind = LKS_EVENT_FREEZE,
                  .freeze = {.pool = lks_str_from(pool < CAM_POOLS ? cam_pool_name(pool) : ""),
                             .on = on}},
              CAM_BY);
}

/* A wave whose gate cannot tell waits for a person. */
static bool is_held(const struct lks_state_change *c)
{
    for (uint32_t k = 0; k < c->wave_count; k++)
        if (c->waves[k].state == LKS_WAVE_HELD)
            return true;
    return false;
}

/* Whoever looks at it sees that the endpoint is still at work, and waits. */
static void resolve(struct cam *w, const struct cam_machine *m)
{
    if (m->unknown && !m->busy)
        (void)ask(
            w, (struct lks_event){.kind = LKS_EVENT_FLASH_RESOLVE, .name = lks_str_from(m->name)},
            CAM_BY);
}

static void calm_work(struct cam *w)
{
    for (unsigned p = 0; p <= CAM_POOLS; p++)
        if (p == CAM_POOLS ? w->frozen : w->pool_frozen[p])
            cam_person_freezes(w, p, false);
    release_alarms(w, 100);
    for (uint32_t i = 0; i < w->count && w->engine != NULL && !w->broken; i++)
        resolve(w, &w->machines[i]);
}

void cam_person_manages(struct cam *w)
{
    cam_post(w, (struct lks_message){.kind = CAM_PERSON, .number = CAM_PERSON_MANAGES},
             MANAGES_EVERY);
    if (w->engine == NULL)
        return;
    const struct lks_state *s = lks_engine_state(w->engine);
    bool open = s->changes_open > 0;
    if (w->change_count == 0 ? !w->calm || w->kind
                             : !w->calm && !open && lks_rng_percent(&w->rng, 10))
        propose(w);
    if (w->calm)
        calm_work(w);
    for (uint32_t i = 0; w->engine != NULL && !w->broken; i++) {
        s = lks_engine_state(w->engine);
        if (i >= s->change_count)
            break;
        const struct lks_state_change *c = &s->changes[i];
        if (w->calm && c->state == LKS_CHANGE_RUNNING && is_held(c))
            (void)move(w, c->id, LKS_ORDERED_ABORT);
        else if (w->calm || lks_rng_percent(&w->rng, 70))
            manage_change(w, c);
    }
}

/* Meddling ---------------------------------------------------------------------------------- */

static void meddle_change(struct cam *w)
{
    static const enum lks_change_order_word orders[] = {
        LKS_ORDERED_PAUSE,  LKS_ORDERED_PAUSE, LKS_ORDERED_RESUME,
        LKS_ORDERED_RESUME, LKS_ORDERED_ABORT, LKS_ORDERED_ROLLBACK,
    };
    const struct lks_state *s = lks_engine_state(w->engine);
    if (s->change_count > 0)
        (void)move(w, s->changes[lks_rng_below(&w->rng, s->change_count)].id,
                   orders[lks_rng_below(&w->rng, LKS_COUNT(orders))]);
}

/* From this node on, the first that the change keeps out of use; where there is none, itself. */
static uint32_t kept_from(struct cam *w, uint64_t change, uint32_t from)
{
    const struct cam_change *c = cam_change(w, change);
    for (uint32_t k = 0; c != NULL && k < w->nodes; k++) {
        uint32_t i = (from + k) % w->nodes;
        enum lks_member_state state = c->members[i].state;
        if (state >= LKS_MEMBER_FENCED && state <= LKS_MEMBER_UNKNOWN)
            return i;
    }
    return from;
}

static void meddle_member(struct cam *w)
{
    uint32_t i = (uint32_t)lks_rng_below(&w->rng, w->nodes);
    const struct lks_state *s = lks_engine_state(w->engine);
    if (s->change_count == 0)
        return;
    uint64_t change = s->changes[lks_rng_below(&w->rng, s->change_count)].id;
    i = kept_from(w, change, i);
    struct cam_machine *m = &w->machines[i];
    struct lks_event event = {
        .kind = LKS_EVENT_MEMBER_MOVE,
        .name = lks_str_from(m->name),
        .member = {.change = change, .again = lks_rng_percent(&w->rng, 50)},
    };
    bool was = m->released, said = m->person;
    m->person = true;
    m->released = m->released || !event.member.again;
    if (ask(w, event, CAM_BY)) {
        if (m->broken && event.member.again) { /* somebody was there */
            m->broken = false;
            cam_machine_boot(w, i);
        }
        return;
    }
    m->released = was;
    m->person = said;
}

static void meddle_node(struct cam *w)
{
    struct cam_machine *m = &w->machines[lks_rng_below(&w->rng, w->nodes)];
    struct lks_event event = {
        .kind = lks_rng_percent(&w->rng, 40) ? LKS_EVENT_HOLD : LKS_EVENT_RELEASE,
        .name = lks_str_from(m->name),
    };
    if (event.kind == LKS_EVENT_RELEASE)
        event.release.force = lks_rng_percent(&w->rng, 50);
    (void)ask(w, event, CAM_BY);
}

static void meddle_fleet(struct cam *w)
{
    if (w->nodes > 2 && w->nodes < CAM_FLEET_LARGE)
        (void)cam_fleet_apply(w, lks_rng_percent(&w->rng, 50));
}

static void meddle_bundle(struct cam *w)
{
    unsigned s = (unsigned)lks_rng_below(&w->rng, CAM_STACKS);
    if (lks_rng_percent(&w->rng, 30))
        (void)ask(w,
                  (struct lks_event){.kind = LKS_EVENT_BUNDLE_REVOKE,
                                     .name = lks_str_from(w->bundle_digests[s])},
                  CAM_BY);
}

static void meddle_freeze(struct cam *w)
{
    unsigned pool = (unsigned)lks_rng_below(&w->rng, CAM_POOLS + 1);
    if (pool == CAM_POOLS || pool >= CAM_POOLS - w->pools)
        cam_person_freezes(w, pool, lks_rng_percent(&w->rng, 50));
}

static void meddle_resolve(struct cam *w)
{
    resolve(w, &w->machines[lks_rng_below(&w->rng, w->count)]);
    release_alarms(w, 50);
}

static void meddle_scheduler(struct cam *w)
{
    if (cam_chance(w, w->weather.foreign))
        cam_sched_other(w, (uint32_t)lks_rng_below(&w->rng, w->nodes),
                        lks_rng_percent(&w->rng, 50));
}

static void meddle_proposal(struct cam *w)
{
    if (w->change_count > 0 && w->change_count < CAM_CHANGES_MAX)
        propose(w);
}

void cam_person_meddles(struct cam *w)
{
    static void (*const ways[])(struct cam *) = {
        meddle_change,    meddle_change,    meddle_member,    meddle_member,    meddle_node,
        meddle_fleet,     meddle_bundle,    meddle_freeze,    meddle_freeze,    meddle_resolve,
        meddle_resolve,   meddle_scheduler, meddle_proposal,  cam_votes_meddle, cam_votes_meddle,
        cam_hands_meddle, cam_hands_meddle, cam_hands_meddle,
    };
    if (w->engine == NULL || w->calm)
        return;
    ways[lks_rng_below(&w->rng, LKS_COUNT(ways))](w);
    cam_sched_meddle(w);
}
