/* What gates want measured in a campaign of tests, and what is measured. */
#include "base/rng.h"
#include "core/rows/change.h"
#include "core/state/lookup.h"
#include "tests/campaigns.h"
#include "tests/test.h"

#define EVERY (2 * CAMPAIGN_MINUTE)

unsigned campaign_number(const struct campaign *w, uint32_t node)
{
    uint64_t number = 0;
    struct lks_str name = lks_state_name(&w->a.state, node);
    CHECK(lks_str_number((struct lks_str){name.ptr + 1, name.len - 1}, 1000, &number));
    return (unsigned)number;
}

double campaign_noise(unsigned number)
{
    struct lks_rng rng = {number * 7919};
    return (double)lks_rng_below(&rng, 2001) / 1000 - 1;
}

void campaign_gate(struct campaign *w, struct lks_rec_plan_metric metric,
                   struct lks_rec_plan_gate gate)
{
    metric.change = gate.change = w->change;
    metric.name = LKS_STR("speed");
    metric.pools = gate.pool = LKS_STR("train");
    campaign_record(w, &(struct lks_record){.kind = LKS_RECORD_PLAN_METRIC, .plan_metric = metric});
    campaign_record(w, &(struct lks_record){.kind = LKS_RECORD_PLAN_GATE, .plan_gate = gate});
}

void campaign_waive(struct campaign *w, const char *gate, lks_ms span)
{
    const struct lks_str ann = LKS_STR("user:ann");
    campaign_record(w,
                    &(struct lks_record){.kind = LKS_RECORD_GRANTED,
                                         .granted = {.identity = ann, .role = LKS_ROLE_APPROVER}});
    campaign_record(w, &(struct lks_record){.kind = LKS_RECORD_WAIVED,
                                            .waived = {.change = w->change,
                                                       .gate = lks_str_from(gate),
                                                       .until = w->a.now.wall + span,
                                                       .by = ann}});
}

struct measuring {
    const struct campaign *w;
    campaign_measure_fn *fn;
    struct lks_measured list[512];
    size_t count;
};

static bool measure(void *ctx, const struct lks_gate_want *want)
{
    struct measuring *m = ctx;
    CHECK(want->from <= want->until && want->before_from <= want->before_until);
    CHECK(want->before_until <= want->from);
    LKS_ASSERT(m->count < LKS_COUNT(m->list));
    struct lks_measured *out = &m->list[m->count++];
    *out = (struct lks_measured){
        .change = want->change,
        .wave = want->wave,
        .node = want->node,
        .metric = lks_state_text(&m->w->a.state, want->metric->name),
        .from = want->from,
        .until = want->until,
        .exposure = want->until - want->from,
    };
    m->fn(m->w, want, out);
    return true;
}

void campaign_measure(struct campaign *w, campaign_measure_fn *fn)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    struct measuring m = {.w = w, .fn = fn};
    struct lks_err err = {0};
    lks_arena_init(&arena, 1 << 20);
    CHECK_CODE(lks_gate_wants(&w->a.state, w->a.now.wall, &arena, measure, &m, &err), LKS_OK);
    if (m.count > 0)
        campaign_event(w, &(struct lks_event){.kind = LKS_EVENT_MEASURED,
                                              .measured = {.list = m.list, .count = m.count}});
}

bool campaign_run_measured(struct campaign *w, campaign_measure_fn *fn, lks_ms limit)
{
    for (lks_ms end = w->a.now.wall + limit; w->a.now.wall < end;) {
        if (campaign_run(w, EVERY))
            return true;
        campaign_measure(w, fn);
    }
    return false;
}
