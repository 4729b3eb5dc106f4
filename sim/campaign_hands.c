/* People who give nodes commands by hand, rightly or not, and promises 1, 9 and 10 as they hold for
 * that: in every pool but those of posture dev a node is drained and empty first, and what is not
 * takes two people. */
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
    cam_require(w, m->job == 0 && !m->stray, "promise 1",
                "%s by hand begins on %s while a process uses its GPUs", c->executor, m->name);
    cam_require(w, !w->scheduled[m->pool], "promise 1",
                "%s by hand begins on %s, whose scheduler was not asked", c->executor, m->name);
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
    return cam_artifact(w, (enum cam_axis)lks_rng_below(&w->rng, CAM_AXES),
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
        cam_post(w, (struct lks_message){.kind = CAM_PERSON, .number = 2},
                 cam_between(w, 10 * LKS_SECOND, 2 * CAM_MINUTE));
    if (w->engine == NULL || w->broken || !m->placed)
        return;
    if (lks_rng_percent(&w->rng, 70))
        work_on(w, m);
    else
        act(w, m);
}
