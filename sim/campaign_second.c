/*
 * The second scheduler of some pools: it places pods on the nodes where the first places jobs, and
 * knows nothing of it. It lags behind the first, gives no answer for a while, and its pods end when
 * they end. Agents do not see them: only its drain keeps them away. What both say is one event, as
 * lockstepd makes it. Worlds with a Slurm that fails over have no second one.
 */
#include "core/actions/sched_book.h"
#include "sim/campaign.h"
#include "tests/facts.h"

#include <stdio.h>
#include <stdlib.h>

#define SALT  UINT64_C(0x7365636f6e64)
#define WHY   "no answer of the second, as simulated"
#define FRESH LKS_SCHED_FRESH

struct cam_second_node {
    /* Its own truth. */
    char owner[LKS_SCHED_OWNER_MAX + 1]; /* the owner of its drain there; "": none */
    lks_ms pods;                         /* run until then */
    lks_ms down;                         /* no answer about it until then */
    /* What lockstepd heard of it, as the book has it. */
    bool posted, known, lost, worse, releasing;
    struct lks_sched_said said;
    lks_ms at; /* when */
    unsigned failures;
    lks_ms silent;
    /* And of the first. */
    bool first_releasing;
    lks_ms first_at;
};

static bool draw(struct cam *w, unsigned percent)
{
    return lks_rng_percent(&w->second_rng, percent) && !w->calm;
}

static bool is_second(const struct cam *w, const struct cam_machine *m)
{
    return w->second != NULL && m->type == CAM_NODE && w->seconded[m->pool];
}

static struct cam_second_node *node_of(const struct cam *w, const struct cam_machine *m)
{
    return &w->second[m - w->machines];
}

void cam_second_draw(struct cam *w)
{
    bool any = false;
    w->second_rng = (struct lks_rng){.state = w->seed ^ SALT};
    for (unsigned p = CAM_POOLS - w->pools; p < CAM_POOLS && !w->slurm.on && !w->bridges.on; p++) {
        w->seconded[p] = w->scheduled[p] && lks_rng_percent(&w->second_rng, 40);
        any = any || w->seconded[p];
    }
    w->second = any ? calloc(w->count, sizeof(w->second[0])) : NULL;
    LKS_ASSERT(!any || w->second != NULL);
}

void cam_second_fini(struct cam *w)
{
    free(w->second);
    w->second = NULL;
}

/* Another life of lockstepd knows nothing of what was said. */
void cam_second_forget(struct cam *w, uint32_t i)
{
    if (!is_second(w, &w->machines[i]))
        return;
    struct cam_second_node *n = &w->second[i];
    n->posted = n->known = n->lost = n->worse = n->releasing = n->first_releasing = false;
    n->failures = 0;
    n->silent = 0;
}

void cam_second_later(struct cam *w, uint32_t i)
{
    if (!is_second(w, &w->machines[i]) || w->second[i].posted)
        return;
    w->second[i].posted = true;
    cam_post(w, (struct lks_message){.kind = CAM_SECOND_ACTS, .node = i, .life = w->life},
             LKS_SECOND + lks_rng_below(&w->second_rng, 40 * LKS_SECOND));
}

/* What lockstepd asks the first for: until that is answered, the answer before it may be void. */
void cam_second_asks(struct cam *w, const struct cam_machine *m, enum lks_sched_verb verb)
{
    if (is_second(w, m))
        node_of(w, m)->first_releasing = verb == LKS_SCHED_RELEASE;
}

/* What both know together; `first` is the first's part, and `fresh`: it was said just now. */
static bool combine(struct cam *w, const struct cam_machine *m, uint32_t place,
                    struct lks_sched_part first, struct lks_event *event)
{
    struct cam_second_node *n = node_of(w, m);
    char hold[LKS_SCHED_HOLD_SIZE];
    const struct lks_sched_part parts[] = {
        first,
        {.sched = "simulated",
         .said = n->known ? &n->said : NULL,
         .counts = n->known && w->now < n->at + FRESH && !n->releasing,
         .lost = n->lost,
         .worse = n->worse,
         .failures = n->failures,
         .since = n->silent,
         .trouble = LKS_STR(WHY)},
    };
    struct lks_str wanted = lks_sched_cause(lks_engine_state(w->engine), place, hold).owner;
    n->lost = n->worse = false;
    return lks_sched_combine(place, wanted, LKS_STR(""), parts, 2, &w->second_space, event);
}

bool cam_second_event(struct cam *w, const struct cam_machine *m, uint32_t place,
                      const struct lks_sched_part *first, struct lks_event *event)
{
    struct lks_sched_part part = *first;
    if (!is_second(w, m))
        return lks_sched_combine(place, LKS_STR(""), LKS_STR(""), first, 1, &w->second_space,
                                 event);
    struct cam_second_node *n = node_of(w, m);
    if (part.failures == 0) {
        n->first_at = w->now;
        n->first_releasing = false;
    }
    part.counts = part.failures == 0;
    return combine(w, m, place, part, event);
}

/* The same, after an answer of the second or none. */
static bool tell(struct cam *w, struct cam_machine *m, uint32_t place)
{
    const struct cam_second_node *n = node_of(w, m);
    struct lks_event event;
    const struct lks_sched_part first = {.sched = "slurm",
                                         .said = m->sched_known ? &m->said : NULL,
                                         .counts = m->sched_known && w->now < n->first_at + FRESH &&
                                                   !n->first_releasing,
                                         .failures = m->sched_failures,
                                         .since = m->sched_silent,
                                         .trouble = LKS_STR("no answer, as simulated")};
    return !combine(w, m, place, first, &event) || cam_turn(w, &event, NULL);
}

static void carry_out(struct cam *w, struct cam_machine *m, const struct lks_sched_wish *wish)
{
    struct cam_second_node *n = node_of(w, m);
    bool takes = n->owner[0] == '\0' || lks_str_is(wish->from, n->owner);
    if (wish->verb == LKS_SCHED_DRAIN && takes) {
        if (n->owner[0] == '\0' && draw(w, 60)) /* a pod was there before */
            n->pods = w->now + lks_rng_below(&w->second_rng, 40 * CAM_MINUTE);
        (void)snprintf(n->owner, sizeof(n->owner), "%" LKS_STR_FMT, LKS_STR_ARG(wish->owner));
    }
    if (wish->verb != LKS_SCHED_RELEASE || !lks_str_is(wish->owner, n->owner))
        return;
    cam_require(w, !m->held, "promise 7",
                "%s: released in the second scheduler while it is on hold", m->name);
    cam_require(w, !m->drained || !lks_str_is(wish->owner, m->owner), "promise 7",
                "%s: released in the second scheduler while it is drained", m->name);
    n->owner[0] = '\0';
}

static struct lks_sched_said look(const struct cam *w, const struct cam_second_node *n)
{
    bool closed = n->owner[0] != '\0';
    struct lks_sched_said said = {.known = true,
                                  .closed = closed,
                                  .lockstep = closed,
                                  .jobs = w->now < n->pods,
                                  .revision = 1};
    (void)snprintf(said.owner, sizeof(said.owner), "%s", n->owner);
    (void)snprintf(said.text, sizeof(said.text), "as simulated");
    return said;
}

static void ask(struct cam *w, struct cam_machine *m, uint32_t place,
                const struct lks_sched_wish *wish)
{
    struct cam_second_node *n = node_of(w, m);
    n->releasing = wish->verb == LKS_SCHED_RELEASE;
    if (draw(w, 3))
        n->down = w->now + lks_rng_below(&w->second_rng, 20 * CAM_MINUTE);
    if (w->now < n->down && !w->calm) {
        n->silent = n->silent != 0 ? n->silent : cam_now(w).wall;
        n->failures++;
        (void)tell(w, m, place);
        return;
    }
    carry_out(w, m, wish);
    if (draw(w, 5))
        return; /* its answer is lost */
    struct lks_sched_said said = look(w, n);
    n->lost = n->known && lks_sched_lost(wish->verb, &n->said, &said);
    n->worse = n->lost || (n->known && wish->verb != LKS_SCHED_RELEASE &&
                           lks_sched_drained(&n->said) && !lks_sched_drained(&said));
    n->said = said;
    n->known = true;
    n->releasing = false;
    n->at = w->now;
    n->failures = 0;
    n->silent = 0;
    (void)tell(w, m, place);
}

void cam_second_acts(struct cam *w, uint32_t i)
{
    struct cam_machine *m = &w->machines[i];
    struct cam_second_node *n = &w->second[i];
    const struct lks_state *s = lks_engine_state(w->engine);
    uint32_t place = cam_place(w, m);
    char space[LKS_SCHED_HOLD_SIZE];
    struct lks_sched_wish wish;
    n->posted = false;
    if (place == LKS_NO_NODE)
        return;
    if (lks_engine_seq(w->engine) > lks_engine_durable_seq(w->engine)) {
        cam_second_later(w, i); /* nothing leaves before it is durable */
        return;
    }
    bool asks =
        lks_sched_next(s, lks_test_facts(), place, n->known ? &n->said : NULL, space, &wish);
    if (asks || n->owner[0] != '\0')
        cam_second_later(w, i);
    if (asks)
        ask(w, m, place, &wish);
}

/* Promise 1: nothing begins on a node before its second scheduler drained it, too. */
void cam_second_check(struct cam *w, const struct cam_machine *m, const char *what)
{
    if (!is_second(w, m))
        return;
    const struct cam_second_node *n = node_of(w, m);
    cam_require(w, w->now >= n->pods, "promise 1",
                "%s begins on %s while a pod of its second scheduler runs there", what, m->name);
    cam_require(w, n->owner[0] != '\0', "promise 1",
                "%s begins on %s, which its second scheduler does not drain", what, m->name);
}

bool cam_second_is_right(const struct cam *w, const struct cam_machine *m)
{
    return !is_second(w, m) || (node_of(w, m)->owner[0] != '\0') == (m->drained || m->held);
}
