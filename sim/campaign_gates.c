/* What is measured of machines for gates: every third fleet has them, and in every other of those
 * one stack installs well and is slow, and wrong. */
#include "core/gate/gate.h"
#include "core/state/lookup.h"
#include "sim/campaign.h"

#include <inttypes.h>
#include <math.h>

enum { FLEETS = 3, SLOW = 2, ROUND_MAX = 256 };
#define EVERY (2 * CAM_MINUTE)

#define LOSS   3.0 /* percent */
#define SPREAD 0.2

void cam_gates_draw(struct cam *w)
{
    w->gates = w->seed % FLEETS == 0 && w->nodes < CAM_FLEET_LARGE;
    w->slow = w->gates && !w->kind && w->seed % (SLOW * FLEETS) == 0 ? 1 + (unsigned)(w->seed % 2)
                                                                     : CAM_STACKS;
}

#define GATE(more)                                                                                 \
    ", gate: {metrics: {speed: {query: x, better: higher, margin: 1}, "                            \
    "wrong: {query: z, kind: hard}}, min_soak: 10m" more "}"

/* Rings that grow, and rings that are what the class of change says. */
const char *cam_gates_text(const struct cam *w)
{
    if (!w->gates)
        return "";
    return w->seed / FLEETS / SLOW % 2 == 0 ? GATE(", loss_budget: 2") : GATE("");
}

struct round {
    const struct cam *w;
    struct lks_measured list[ROUND_MAX];
    size_t count;
};

/* Of a node between -1 and 1, the same all the time. */
static double own(const struct cam *w, uint32_t i)
{
    struct lks_rng rng = {w->seed * 1000 + i};
    return (double)lks_rng_below(&rng, 2001) / 1000 - 1;
}

static bool measure(void *ctx, const struct lks_gate_want *want)
{
    struct round *r = ctx;
    const struct lks_state *s = lks_engine_state(r->w->engine);
    uint32_t i = cam_machine(r->w, lks_state_name(s, want->node));
    bool slow = cam_version(r->w->machines[i].truth, CAM_DRIVER) == r->w->slow;
    /* Who has the change since before the wave began was as slow then. */
    double gain = SPREAD * own(r->w, i) - (slow && !want->earlier ? LOSS : 0);
    r->list[r->count++] = (struct lks_measured){
        .change = want->change,
        .wave = want->wave,
        .node = want->node,
        .metric = lks_state_text(s, want->metric->name),
        .has_before = true,
        .has_after = r->w->machines[i].up,
        .before = 100,
        .after = 100 * exp(gain / 100),
        .from = want->from,
        .until = want->until,
        .events = slow && want->metric->kind == LKS_METRIC_HARD,
        .exposure = want->until - want->from,
    };
    return r->count < ROUND_MAX;
}

void cam_gates_measure(struct cam *w)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    struct round r = {.w = w};
    struct lks_err err = {0};
    if (!w->gates || w->engine == NULL || w->setting_up || w->now < w->measured + EVERY)
        return;
    w->measured = w->now;
    lks_arena_init(&arena, (size_t)1 << 24);
    enum lks_code code =
        lks_gate_wants(lks_engine_state(w->engine), cam_now(w).wall, &arena, measure, &r, &err);
    cam_require(w, code == LKS_OK, "gates", "%s", err.msg);
    if (r.count > 0)
        (void)cam_turn(w,
                       &(struct lks_event){.kind = LKS_EVENT_MEASURED,
                                           .measured = {.list = r.list, .count = r.count}},
                       NULL);
}

/* Only what is slow is halted by what was measured; and from then on no node starts before a person
 * says so. */
void cam_gates_looked(struct cam *w, struct cam_change *c, const struct lks_rec_gate_looked *r)
{
    c->unsure = c->unsure || (r->verdict == LKS_GATE_HOLD && r->metric.len == 0);
    if (r->verdict != LKS_GATE_HALT)
        return;
    cam_require(w, w->slow < CAM_STACKS, "gates",
                "change %" PRIu64 " was halted, and nothing is slow: %" LKS_STR_FMT, c->id,
                LKS_STR_ARG(r->text));
    w->gate_halts += !c->stopped;
    c->stopped = true;
}

/* Wrong results of one that has the change, and of nobody that has not, halt it in the very next
 * turn. */
void cam_gates_measured(struct cam *w, struct cam_change *c, const struct lks_rec_measured *r)
{
    bool changed = c->members[cam_machine(w, r->node)].state == LKS_MEMBER_DONE;
    if (r->events == 0)
        return;
    c->excused = c->excused || !changed;
    c->told = c->told || (changed && !c->wrong);
    c->wrong = c->wrong || changed;
}

void cam_gates_begin(struct cam *w, const struct cam_change *c, uint32_t i)
{
    cam_require(w, !c->told || c->excused, "promise 3",
                "%s begins in change %" PRIu64 " though something was measured that halts it",
                w->machines[i].name, c->id);
    cam_require(w, !c->stopped, "promise 3",
                "%s begins in change %" PRIu64 " after the evidence said halt", w->machines[i].name,
                c->id);
}
