/* The scheduler that places jobs, as lockstepd asks it about nodes. */
#include "core/actions/sched_book.h"
#include "core/rows/node.h"
#include "sim/campaign.h"
#include "tests/facts.h"

#include <stdio.h>

#define OTHER CAM_SCHED_OTHER

void cam_sched_later(struct cam *w, uint32_t i)
{
    struct cam_machine *m = &w->machines[i];
    cam_second_later(w, i);
    if (m->sched_posted || m->type != CAM_NODE || !w->scheduled[m->pool] || w->bridges.on)
        return;
    m->sched_posted = true;
    cam_post(w, (struct lks_message){.kind = CAM_SCHED_ACTS, .node = i, .life = w->life},
             cam_between(w, LKS_SECOND, 20 * LKS_SECOND));
}

/* A drain that lockstep made: of a change, or of the drift of a pool. */
static bool is_lockstep(const char *owner)
{
    return owner[0] != '\0' && strcmp(owner, OTHER) != 0;
}

bool cam_sched_is_ours(const struct cam_machine *m)
{
    return is_lockstep(m->sched_owner);
}

/* What its scheduler has of it; a primary that dies has not saved the last seconds of that. */
void cam_sched_set(struct cam *w, struct cam_machine *m, struct lks_str owner)
{
    struct cam_slurm_node *n = cam_slurm_node(w, m);
    if (n != NULL) {
        struct cam_owned *before = &n->owned[n->owned_next++ % CAM_OWNED];
        before->at = w->now;
        memcpy(before->owner, m->sched_owner, sizeof(before->owner));
        cam_slurm_stirs(w);
    }
    (void)snprintf(m->sched_owner, sizeof(m->sched_owner), "%" LKS_STR_FMT, LKS_STR_ARG(owner));
}

/* What it does about a wish, by the truth. */
void cam_sched_carry_out(struct cam *w, struct cam_machine *m, const struct lks_sched_wish *wish,
                         lks_ms began)
{
    const struct cam_bridge_node *n = cam_bridge_node(w, m);
    bool holds = m->held && (n == NULL || n->held <= began);
    bool drains = m->drained && (n == NULL || n->drained <= began);
    if (m->sched_missing)
        return;
    bool takes_over = is_lockstep(m->sched_owner) && lks_str_is(wish->from, m->sched_owner);
    if (wish->verb == LKS_SCHED_DRAIN && (m->sched_owner[0] == '\0' || takes_over) &&
        (!m->deaf || w->calm)) {
        if (n != NULL && m->sched_unheard) { /* it asks for a drain: it knows that there was none */
            m->sched_unheard = false;
            m->sched_lost = cam_now(w).wall;
        }
        cam_sched_set(w, m, wish->owner);
    }
    if (wish->verb != LKS_SCHED_RELEASE)
        return;
    cam_require(w, !holds, "promise 7", "%s: released in the scheduler while it is on hold",
                m->name);
    cam_require(w, !drains || !lks_str_is(wish->owner, m->owner), "promise 7",
                "%s: released in the scheduler while it is drained", m->name);
    if (!lks_str_is(wish->owner, m->sched_owner))
        return; /* the driver refuses that */
    cam_require(w, is_lockstep(m->sched_owner), "promise 7",
                "%s: the drain of %s is released in the scheduler", m->name, m->sched_owner);
    cam_sched_set(w, m, LKS_STR(""));
}

/* As a bridge reads it; `old`: as it did before the primary died. */
static void look(const struct cam *w, const struct cam_machine *m,
                 const struct lks_sched_wish *wish, bool old, struct lks_sched_said *out)
{
    static const char *const outages[] = {"", "down", "in maintenance, by the reservation racks"};
    struct cam_shown is;
    if (old)
        is = cam_slurm_node(w, m)->old;
    else
        cam_slurm_show(w, m, &is);
    if (is.missing) {
        *out = (struct lks_sched_said){.text = "the scheduler does not know the node"};
        return;
    }
    *out = (struct lks_sched_said){
        .known = true,
        .closed = is.owner[0] != '\0',
        .lockstep = is_lockstep(is.owner),
        .ours = is.owner[0] != '\0' && lks_str_is(wish->owner, is.owner),
        .down = is.outage == CAM_DOWN,
        .jobs = is.jobs,
        .revision = 1,
    };
    (void)snprintf(out->owner, sizeof(out->owner), "%s", is.owner);
    (void)snprintf(out->text, sizeof(out->text), "as simulated");
    (void)snprintf(out->outage, sizeof(out->outage), "%s", outages[is.outage]);
}

/* It did not answer, or refused: people are told, and nothing follows for the node. */
static void fail(struct cam *w, struct cam_machine *m, uint32_t place, const char *why,
                 bool refused)
{
    struct cam_slurm_node *n = cam_slurm_node(w, m);
    if (n != NULL)
        n->turn++;
    m->sched_silent = m->sched_silent != 0 ? m->sched_silent : cam_now(w).wall;
    m->sched_failures++;
    const struct lks_sched_part part = {.sched = "slurm",
                                        .said = m->sched_known ? &m->said : NULL,
                                        .failures = m->sched_failures,
                                        .refused = refused,
                                        .since = m->sched_silent,
                                        .trouble = lks_str_from(why)};
    struct lks_event event;
    if (cam_second_event(w, m, place, &part, &event))
        (void)cam_turn(w, &event, NULL);
}

/* What it says beside drains: that no job starts there for another reason. */
static void hear_outage(struct cam *w, struct cam_machine *m, uint32_t place)
{
    struct cam_slurm_node *n = cam_slurm_node(w, m);
    struct lks_event event;
    if (n == NULL || w->engine == NULL)
        return;
    const struct lks_sched_part part = {.sched = "slurm", .said = &m->said};
    bool news =
        lks_sched_outage_of(lks_engine_state(w->engine), place, &part, 1, &w->second_space, &event);
    if (news && !cam_turn(w, &event, NULL))
        return;
    if (m->said.outage[0] == '\0' || m->drained)
        n->outage_told = 0; /* none starts while lockstep drains it */
    else if (n->outage_told == 0)
        n->outage_told = w->now;
}

/* Said again, too: the first time may have been too early. */
static void hear(struct cam *w, struct cam_machine *m, uint32_t place,
                 const struct lks_sched_wish *wish, bool old)
{
    struct lks_sched_said said;
    struct lks_event event;
    look(w, m, wish, old, &said);
    bool was = m->sched_known && lks_sched_drained(&m->said);
    struct lks_sched_part part = {.sched = "slurm", .said = &said};
    part.lost = m->sched_known && lks_sched_lost(m->sched_verb, &m->said, &said);
    part.worse = part.lost || (was && !lks_sched_drained(&said));
    m->sched_verb = wish->verb;
    m->sched_silent = m->sched_failures = 0;
    bool drained = m->drained && lks_sched_drained(&said) && strcmp(said.owner, m->owner) == 0;
    if (cam_second_event(w, m, place, &part, &event) && !cam_turn(w, &event, NULL))
        return;
    m->said = said;
    m->sched_known = true;
    if (m->sched_unheard && !old)
        m->sched_lost = cam_now(w).wall;
    m->sched_unheard = m->sched_unheard && old;
    m->sched_drained = m->drained && drained;
    if (old)
        return; /* a list is of one that answers */
    cam_requeue_list(w, m, place);
    hear_outage(w, m, place);
}

/* A node that nothing of ours wants is asked about now and then. */
static bool choose(struct cam *w, struct cam_machine *m, uint32_t place, bool refresh,
                   char space[LKS_SCHED_HOLD_SIZE], struct lks_sched_wish *wish)
{
    const struct lks_state *s = lks_engine_state(w->engine);
    return place != LKS_NO_NODE &&
           (lks_sched_next(s, lks_test_facts(), place, m->sched_known ? &m->said : NULL, space,
                           wish) ||
            (refresh && lks_sched_next(s, lks_test_facts(), place, NULL, space, wish)));
}

static void ask(struct cam *w, struct cam_machine *m, uint32_t place,
                const struct lks_sched_wish *wish)
{
    bool old = false, refused = false;
    cam_second_asks(w, m, wish->verb);
    const char *trouble = cam_slurm_trouble(w, m, wish->verb != LKS_SCHED_LOOK, &old, &refused);
    if (w->now < w->sched_down)
        trouble = "no answer, as simulated";
    if (trouble == NULL && !cam_chance(w, w->weather.loss)) {
        if (!old)
            cam_sched_carry_out(w, m, wish, w->now);
        if (!cam_chance(w, w->weather.loss)) {
            hear(w, m, place, wish, old);
            return;
        }
    }
    if (trouble != NULL)
        fail(w, m, place, trouble, refused);
}

/* A drain that nothing wants is kept while a command or an update is in progress. */
static void await_release(struct cam *w, uint32_t i, uint32_t place)
{
    struct cam_machine *m = &w->machines[i];
    if (place == LKS_NO_NODE || m->sched_posted || m->drained || m->held || !cam_sched_is_ours(m))
        return;
    m->sched_posted = true;
    cam_post(w, (struct lks_message){.kind = CAM_SCHED_ACTS, .node = i, .life = w->life},
             CAM_MINUTE);
}

void cam_sched_acts(struct cam *w, uint32_t i, bool refresh)
{
    struct cam_machine *m = &w->machines[i];
    uint32_t place = cam_place(w, m);
    struct lks_sched_wish wish = {0};
    char space[LKS_SCHED_HOLD_SIZE];
    m->sched_posted = m->sched_posted && refresh;
    if (lks_engine_seq(w->engine) > lks_engine_durable_seq(w->engine)) {
        cam_sched_later(w, i); /* nothing leaves before it is durable */
        return;
    }
    cam_requeue_acts(w);
    if (w->engine == NULL)
        return;
    if (!choose(w, m, place, refresh, space, &wish)) {
        await_release(w, i, place);
        return;
    }
    cam_sched_later(w, i);
    ask(w, m, place, &wish);
}

/* Another ended a drain of ours: lockstepd is yet to be told. */
void cam_sched_ended(struct cam *w, struct cam_machine *m)
{
    m->sched_ended = m->sched_unheard ? m->sched_ended : w->now;
    m->sched_unheard = true;
}

/* An administrator, or the scheduler itself, does something to a node that lockstep drained: ends
 * its drain, takes it over, or forgets the node. */
void cam_sched_undrain(struct cam *w)
{
    uint32_t from = (uint32_t)lks_rng_below(&w->chance, w->nodes);
    for (uint32_t k = 0; k < w->nodes; k++) {
        uint32_t i = (from + k) % w->nodes;
        struct cam_machine *m = &w->machines[i];
        if (!w->scheduled[m->pool] || !is_lockstep(m->sched_owner))
            continue;
        bool resumes = lks_rng_percent(&w->chance, 60), takes = lks_rng_percent(&w->chance, 60);
        cam_sched_set(w, m, lks_str_from(resumes || !takes ? "" : OTHER));
        m->sched_missing = !resumes && !takes;
        cam_sched_ended(w, m);
        cam_say(w, "%s: its drain is %s in the scheduler", m->name,
                resumes ? "ended"
                : takes ? "taken over"
                        : "forgotten");
        cam_sched_later(w, i);
        return;
    }
}

void cam_sched_meddle(struct cam *w)
{
    if (lks_rng_percent(&w->chance, w->weather.resumes) && !cam_slurm_dead(w))
        cam_sched_undrain(w);
    if (lks_rng_percent(&w->chance, w->weather.sched_down))
        w->sched_down = w->now + lks_rng_below(&w->chance, 30 * CAM_MINUTE);
}

/* Somebody else has business with the node. */
void cam_sched_other(struct cam *w, uint32_t i, bool on)
{
    struct cam_machine *m = &w->machines[i];
    if (on && m->sched_owner[0] == '\0' && !cam_slurm_dead(w))
        cam_sched_set(w, m, LKS_STR(OTHER));
    else if (!on && strcmp(m->sched_owner, OTHER) == 0)
        cam_sched_set(w, m, LKS_STR(""));
    if (w->engine != NULL)
        cam_sched_later(w, i);
}
