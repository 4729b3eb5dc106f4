#include "core/state/state.h"
#include "sim/controllers.h"

static void draw_nodes(struct ctl_world *w, struct lks_str names[CTL_NODES_MAX],
                       struct lks_admit_ask *ask, struct ctl_yes *yes)
{
    for (uint32_t n = 0; n < w->node_count; n++) {
        if (!ctl_chance(w, 40))
            continue;
        yes->nodes |= (uint64_t)1 << n;
        names[ask->count++] = lks_str_from(w->nodes[n].name);
    }
}

/* A follower says how old its knowledge may be; whoever leads has all there is. */
static lks_ms behind(const struct ctl_world *w, const struct ctl *c)
{
    bool counts = c->epoch == 0 && w->broken != CTL_NO_STALENESS;
    return counts ? w->now - c->confirmed : 0;
}

void ctl_job(struct ctl_world *w)
{
    struct ctl *c = &w->controllers[lks_rng_below(&w->rng, CTL_COUNT)];
    struct lks_str names[CTL_NODES_MAX];
    struct lks_admit_ask ask = {.job = LKS_STR("job"), .names = names};
    struct ctl_yes yes = {.decided = w->now, .epoch = c->epoch};
    struct lks_err err = {0};
    ctl_at(w, CTL_JOB, w->now + ctl_between(w, 100, 2000));
    draw_nodes(w, names, &ask, &yes);
    if (!ctl_awake(w, c) || c->yes.there || lks_engine_state(c->engine)->placed_count == 0 ||
        ask.count == 0)
        return;
    ask.behind = behind(w, c);
    struct lks_admit answer = {0};
    struct lks_now now = lks_engine_now(c->engine, ctl_clock(w, c));
    enum lks_code code = lks_admit(lks_engine_state(c->engine), lks_engine_book(c->engine), now,
                                   &ask, &answer, &err);
    ctl_require(w, code == LKS_OK, err.msg);
    yes.there = answer.yes;
    yes.valid_until = answer.valid_until - CTL_WALL;
    yes.needs = lks_engine_seq(c->engine);
    lks_admit_fini(&answer);
    w->asked++;
    if (!yes.there)
        return;
    c->yes = yes;
    if (!w->calm && ctl_chance(w, 3)) /* it stops right before it answers */
        ctl_pause(w, c, ctl_between(w, 50, 60 * LKS_SECOND));
    else
        ctl_job_answer(w, c);
}

void ctl_job_answer(struct ctl_world *w, struct ctl *c)
{
    if (!c->yes.there ||
        (lks_engine_durable_seq(c->engine) < c->yes.needs && w->broken != CTL_NO_WAIT) ||
        !ctl_may_answer(w, c))
        return;
    w->admitted++;
    c->yes.there = false;
    ctl_check_yes(w, &c->yes);
}
