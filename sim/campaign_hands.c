/* People who give nodes commands by hand, rightly or not, and promises 1, 9 and 10 as they hold for
 * that: in every pool but those of posture dev a node is drained and empty first, and what is not
 * takes two people. */
#include "core/state/lookup.h"
#include "sim/campaign.h"

#include <inttypes.h>
#include <stdio.h>

#define COMMAND_LIFE (10 * CAM_MINUTE)

static bool is_dev(const struct cam_machine *m)
{
    return m->pool == 0;
}

/* Checks ------------------------------------------------------------------------------------ */

static bool is_out(const struct cam_machine *m)
{
    return m->held || m->changing;
}

void cam_hands_check(struct cam *w, uint32_t i, const struct cam_command *c)
{
    const struct cam_machine *m = &w->machines[i];
    cam_require(w, !w->enforce[m->pool] || w->now >= m->yes_until, "promise 2",
                "%s by hand begins on %s before a yes that named it expired", c->executor, m->name);
    if (c->wedged)
        cam_require(w, is_out(m) || m->unhealthy, "promise 1",
                    "%s is reset, and neither drained nor unhealthy", m->name);
    if (c->wedged || is_dev(m))
        return;
    w->by_hand++;
    cam_require(w, is_out(m), "promise 1", "%s by hand begins on %s, which is in service",
                c->executor, m->name);
    bool unheard = cam_is_unheard(w, m, c->asked);
    cam_require(w, (m->job == 0 && !m->stray) || unheard, "promise 1",
                "%s by hand begins on %s while a process uses its GPUs", c->executor, m->name);
    bool emptied = m->emptied || (m->emptied_over != 0 && c->asked <= m->emptied_over);
    cam_require(w, !w->scheduled[m->pool] || emptied || unheard, "promise 1",
                "%s by hand begins on %s, which its scheduler did not drain for a hold",
                c->executor, m->name);
}

void cam_hands_reset(struct cam *w, const struct lks_rec_reset *r)
{
    struct cam_machine *m = &w->machines[cam_machine(w, r->node)];
    unsigned holder = cam_votes_holder(r->credential) + 1;
    if (r->step == LKS_RESET_ASKED) {
        m->asked_by = holder;
        return;
    }
    cam_require(w, m->asked_by != 0 && m->asked_by != holder, "promise 10",
                "%" LKS_STR_FMT " approves or reviews the own reset of %s", LKS_STR_ARG(r->by),
                m->name);
    if (r->step == LKS_RESET_REVIEWED) {
        m->asked_by = 0;
        return;
    }
    w->resets++;
    w->commands[r->command].wedged = true;
}

/* People ------------------------------------------------------------------------------------ */

static bool ask(struct cam *w, struct lks_event event, const struct cam_machine *m,
                struct lks_str by)
{
    event.by = by;
    event.reason = CAM_SAID;
    event.name = lks_str_from(m->name);
    return cam_turn(w, &event, NULL);
}

static void command(struct cam *w, const struct cam_machine *m, const char *executor,
                    const char *digests)
{
    (void)ask(w,
              (struct lks_event){.kind = LKS_EVENT_COMMAND,
                                 .command = {.executor = lks_str_from(executor),
                                             .digests = lks_str_from(digests),
                                             .expires = lks_engine_now(w->engine, cam_now(w)).wall +
                                                        COMMAND_LIFE}},
              m, CAM_BY);
}

/* Bits of a stack, perhaps revoked; an order of a change; or something invented. */
static const char *some_digest(struct cam *w)
{
    uint64_t roll = lks_rng_below(&w->rng, 4);
    if (roll == 0)
        return "sha256:00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
    if (roll == 1 && w->order_count > 0)
        return w->orders[lks_rng_below(&w->rng, w->order_count)].digest;
    return cam_artifact(w, (enum cam_axis)lks_rng_below(&w->rng, CAM_HMC),
                        (unsigned)lks_rng_below(&w->rng, CAM_STACKS));
}

static void reset(struct cam *w, const struct cam_machine *m, enum lks_reset_step step)
{
    static const char *const people[] = {"user:ann", "user:lee", "user:kim", "user:pat"};
    const char *by = people[lks_rng_below(&w->rng, LKS_COUNT(people))];
    if (step == LKS_RESET_ASKED && lks_rng_percent(&w->rng, 70))
        by = "user:kim";
    char credential[CAM_CREDENTIAL];
    bool own = lks_rng_percent(&w->rng, 80);
    struct lks_event event = {.kind = LKS_EVENT_RESET,
                              .reset = step,
                              .credential =
                                  lks_str_from(cam_votes_credential(by, own, credential))};
    (void)ask(w, event, m, lks_str_from(by));
}

/* At random, whatever the state of the node is. */
static void act(struct cam *w, const struct cam_machine *m)
{
    switch (lks_rng_below(&w->rng, 8)) {
    case 0:
        command(w, m, "inventory", "");
        break;
    case 1:
        command(w, m, "apt", some_digest(w));
        break;
    case 2:
    case 3:
        command(w, m, "reboot", "");
        break;
    case 4:
        reset(w, m, LKS_RESET_ASKED);
        break;
    case 5:
        reset(w, m, LKS_RESET_APPROVED);
        break;
    case 6:
        reset(w, m, LKS_RESET_REVIEWED);
        break;
    default:
        command(w, m, "idle", "");
        break;
    }
}

/* One who works on a node: it is held, looked at, rebooted, and given back in the end. */
static void work_on(struct cam *w, const struct cam_machine *m)
{
    uint64_t roll = lks_rng_below(&w->rng, 10);
    if (!m->held && !m->changing)
        (void)ask(w, (struct lks_event){.kind = LKS_EVENT_HOLD}, m, CAM_BY);
    else if (roll == 0)
        (void)ask(w, (struct lks_event){.kind = LKS_EVENT_RELEASE, .release = {.force = true}}, m,
                  CAM_BY);
    else if (roll < 4)
        command(w, m, "idle", "");
    else if (roll < 7)
        act(w, m);
    else if (m->job == 0 && !m->stray)
        command(w, m, "reboot", "");
    else if (m->asked_by == 0)
        reset(w, m, LKS_RESET_ASKED);
    else
        reset(w, m, lks_rng_percent(&w->rng, 70) ? LKS_RESET_APPROVED : LKS_RESET_REVIEWED);
}

/* Somebody comes for a node, and is at it for a while. */
void cam_hands_meddle(struct cam *w)
{
    bool works = w->hand_left > 0;
    w->hand = (uint32_t)lks_rng_below(&w->rng, w->nodes);
    w->hand_left = 30;
    if (!works)
        cam_hands_work(w);
}

void cam_hands_work(struct cam *w)
{
    const struct cam_machine *m = &w->machines[w->hand];
    if (w->hand_left == 0 || w->calm)
        return;
    w->hand_left--;
    if (w->hand_left > 0)
        cam_post(w, (struct lks_message){.kind = CAM_PERSON, .number = CAM_PERSON_WORKS},
                 cam_between(w, 10 * LKS_SECOND, 2 * CAM_MINUTE));
    if (w->engine == NULL || w->broken || !m->placed)
        return;
    if (lks_rng_percent(&w->rng, 70))
        work_on(w, m);
    else
        act(w, m);
}

/* Pairs ------------------------------------------------------------------------------------- */

/* The other side of a power shelf; LKS_NO_NODE: there is none. */
static uint32_t peer_of(const struct cam *w, uint32_t i)
{
    const struct cam_machine *m = &w->machines[i];
    for (uint32_t k = 0; k < w->count && m->type == CAM_POWER_SHELF; k++)
        if (w->machines[k].type == m->type && w->machines[k].domain == m->domain && k != i)
            return k;
    return LKS_NO_NODE;
}

static void pair_later(struct cam *w, uint32_t i, uint32_t tries)
{
    cam_post(w,
             (struct lks_message){
                 .kind = CAM_PERSON, .number = CAM_PERSON_PAIRS, .node = i, .value = tries},
             CAM_MINUTE + lks_rng_below(&w->chance, CAM_MINUTE));
}

/* An update of one side starts: a person then wants to update the other by hand. */
void cam_hands_flashed(struct cam *w, uint32_t i)
{
    uint32_t peer = peer_of(w, i);
    if (peer != LKS_NO_NODE && !w->calm && !w->kind)
        pair_later(w, peer, 0);
}

/* The flash event for it, by hand. */
static struct lks_event shelf_event(const struct cam *w, unsigned version)
{
    return (struct lks_event){
        .kind = LKS_EVENT_FLASH,
        .said = &w->bundles[version],
        .flash = {.component = lks_str_from(cam_axes[CAM_SHELF].component),
                  .version = lks_str_from(cam_version_text(CAM_SHELF, version)),
                  .bundle = lks_str_from(w->bundle_digests[version]),
                  .deadline = lks_engine_now(w->engine, cam_now(w)).wall + CAM_HOUR}};
}

/* As long as the update of the other side has not ended, or has an unknown outcome, it is tried
 * with each version in turn, and refused. While the outcome is unknown the nodes around are read
 * again before that, so that they are not the reason. */
void cam_hands_pair(struct cam *w, uint32_t i, uint32_t tries)
{
    enum { TRIES_MAX = 60 };
    const struct cam_machine *m = &w->machines[i], *peer = &w->machines[peer_of(w, i)];
    const struct lks_state *s = w->engine != NULL ? lks_engine_state(w->engine) : NULL;
    uint32_t place = s != NULL ? lks_state_node(s, lks_str_from(peer->name)) : LKS_NO_NODE;
    if (w->calm || tries == TRIES_MAX ||
        (place != LKS_NO_NODE && lks_state_flashing(s, place) == NULL))
        return;
    pair_later(w, i, tries + 1);
    uint32_t from = w->domain_nodes[m->domain].first, to = from + w->domain_nodes[m->domain].count;
    if (place == LKS_NO_NODE)
        return;
    for (uint32_t k = from; k < to && peer->unknown && tries % 4 == 0; k++)
        command(w, &w->machines[k], "idle", "");
    if (tries % 4 != 0)
        (void)ask(w, shelf_event(w, tries % CAM_STACKS), m, CAM_BY);
}
