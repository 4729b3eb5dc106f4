/* What is measured of invented machines for gates: each has its own speed, which stays, and what is
 * read of it varies a little. An image that is bad by being slow shows here and nowhere else. */
#include "base/vec.h"
#include "core/gate/gate.h"
#include "core/rows/change.h"
#include "core/state/lookup.h"
#include "lab/rehearse/world.h"

#include <math.h>
#include <stdlib.h>

#define EVERY      (10 * WORLD_MINUTE)
#define MEMORY_MAX ((size_t)1 << 26)

/* Percent: how far nodes are apart, how far two readings of one are, and what a slow image costs.
 */
#define NODES_SPREAD 1.5
#define READ_SPREAD  0.4
#define SLOW_BY      2.0

struct round {
    struct lks_world *w;
    struct lks_measured *list; /* owned */
    size_t count, room;
    bool failed; /* no memory */
};

/* Around 0, with a spread of 1: of a node the same all the time. */
static double drawn(const struct lks_world *w, uint32_t node, uint64_t what)
{
    struct lks_rng rng = {w->out->seed * UINT64_C(0x100000001b3) + node * UINT64_C(4) + what};
    double sum = -6;
    for (unsigned i = 0; i < 12; i++)
        sum += (double)lks_rng_below(&rng, 1000001) / 1e6;
    return sum;
}

static bool measure(void *ctx, const struct lks_gate_want *want)
{
    struct round *r = ctx;
    const struct lks_world *w = r->w;
    const struct lks_state *s = lks_engine_state(w->engine);
    const struct world_machine *m = &w->machines[want->node];
    r->failed = LKS_VEC_RESERVE(r->list, r->room, r->count + 1, NULL) != LKS_OK;
    if (r->failed)
        return false;
    bool slow = w->out->bad && w->out->way == LKS_BAD_SLOW && m->bad && m->stage > 0;
    /* Who has the change since before the wave began was as slow then. */
    double worse = slow && !want->earlier ? SLOW_BY : 0,
           noise = READ_SPREAD * drawn(w, want->node, 1);
    double before =
        100 *
        exp((NODES_SPREAD * drawn(w, want->node, 0) + READ_SPREAD * drawn(w, want->node, 2)) / 100);
    double base = 100 * exp(NODES_SPREAD * drawn(w, want->node, 0) / 100);
    r->list[r->count++] = (struct lks_measured){
        .change = want->change,
        .wave = want->wave,
        .node = want->node,
        .metric = lks_state_text(s, want->metric->name),
        .has_before = true,
        .has_after = !m->down,
        .before = before,
        .after =
            base * exp((noise + (want->metric->better == LKS_BETTER_LOWER ? worse : -worse)) / 100),
        .samples = (want->until - want->from) / WORLD_MINUTE + 1,
        .from = want->from,
        .until = want->until,
        .load = (want->until - want->from) / LKS_SECOND * m->gpus,
        .exposure = want->until - want->from,
    };
    return true;
}

void lks_world_measure(struct lks_world *w)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    struct round r = {.w = w};
    struct lks_err err = {0};
    if (lks_world_change(w)->metric_count == 0 || w->now < w->measured + EVERY)
        return;
    w->measured = w->now;
    lks_arena_init(&arena, MEMORY_MAX);
    if (lks_gate_wants(lks_engine_state(w->engine), lks_world_now(w).wall, &arena, measure, &r,
                       &err) != LKS_OK ||
        r.failed)
        lks_world_break(w, LKS_E_NOMEM, "no memory");
    else if (r.count > 0)
        (void)lks_world_turn(w,
                             &(struct lks_event){.kind = LKS_EVENT_MEASURED,
                                                 .measured = {.list = r.list, .count = r.count}},
                             NULL);
    free(r.list);
}
