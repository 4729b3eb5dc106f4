#include "core/governance/relaxed.h"

#include "core/governance/delta.h"
#include "core/rows/pool.h"
#include "core/state/state.h"
#include "model/manifest/fleet_gate.h"

/* "this; that" */
static void also(struct lks_buf *out)
{
    if (out->len > 0)
        lks_buf_add(out, LKS_STR("; "));
}

static const struct lks_gate_metric *find(const struct lks_pool_gate_wish *gate,
                                          struct lks_str name)
{
    for (size_t i = 0; gate != NULL && i < gate->metric_count; i++) {
        if (lks_str_eq(gate->metrics[i].name, name))
            return &gate->metrics[i];
    }
    return NULL;
}

/* A metric that is measured otherwise may be less, which cannot be decided here: it is reported. */
static void add_metric(const struct lks_gate_metric *was, const struct lks_gate_metric *is,
                       struct lks_buf *out)
{
    if (is == NULL) {
        also(out);
        lks_buf_addf(out, "%" LKS_STR_FMT " is not measured any more", LKS_STR_ARG(was->name));
        return;
    }
    if (is->margin > was->margin) {
        also(out);
        lks_buf_addf(out, "margin of %" LKS_STR_FMT " %g to %g %%", LKS_STR_ARG(was->name),
                     was->margin, is->margin);
    }
    if (is->normal > was->normal && was->normal > 0) {
        also(out);
        lks_buf_addf(out, "normal rate of %" LKS_STR_FMT " %g to %g", LKS_STR_ARG(was->name),
                     was->normal, is->normal);
    }
    if (was->normal > 0 && is->normal == 0) {
        also(out);
        lks_buf_addf(out, "%" LKS_STR_FMT " has no normal rate any more", LKS_STR_ARG(was->name));
    }
    if (was->critical && !is->critical) {
        also(out);
        lks_buf_addf(out, "%" LKS_STR_FMT " is not critical any more", LKS_STR_ARG(was->name));
    }
    if (was->kind != is->kind || was->better != is->better || was->from != is->from ||
        !lks_str_eq(was->query, is->query)) {
        also(out);
        lks_buf_addf(out, "%" LKS_STR_FMT " is measured otherwise", LKS_STR_ARG(was->name));
    }
}

static void add_gate(const struct lks_pool_gate_wish *was, const struct lks_pool_gate_wish *is,
                     struct lks_buf *out)
{
    if (was == NULL)
        return;
    if (is == NULL) {
        also(out);
        lks_buf_add(out, LKS_STR("it has no gate any more"));
        return;
    }
    for (size_t i = 0; i < was->metric_count; i++)
        add_metric(&was->metrics[i], find(is, was->metrics[i].name), out);
    const struct {
        const char *what;
        int64_t was, is; /* less is less */
    } numbers[] = {
        {"GPU-hours under load", was->min_load_gpu_hours, is->min_load_gpu_hours},
        {"ms of soak", (int64_t)was->min_soak, (int64_t)is->min_soak},
        {"controls", was->controls, is->controls},
        {"of the loss budget", -was->loss_budget, -is->loss_budget},
    };
    for (size_t i = 0; i < LKS_COUNT(numbers); i++) {
        long long from = (long long)numbers[i].was, to = (long long)numbers[i].is;
        if (to >= from)
            continue;
        also(out);
        lks_buf_addf(out, "%lld to %lld %s", from < 0 ? -from : from, to < 0 ? -to : to,
                     numbers[i].what);
    }
}

/* Each day of it that is to come is one of another's, too. */
static bool stays(const struct lks_quiet *was, const struct lks_fleet *after, struct lks_str pool,
                  lks_day from)
{
    for (lks_day day = from; day < was->until;) {
        lks_day next = day;
        for (size_t i = 0; i < after->quiet_count; i++) {
            const struct lks_quiet *q = &after->quiets[i];
            if (lks_fleet_quiet_is_of(q, pool) && q->from <= day && q->until > next)
                next = q->until;
        }
        if (next == day)
            return false;
        day = next;
    }
    return true;
}

void lks_relaxed(const struct lks_facts *facts, const struct lks_fleet *before,
                 const struct lks_fleet *after, struct lks_str pool, lks_day today,
                 struct lks_buf *out)
{
    const struct lks_pool *was = lks_fleet_find_pool(before, pool);
    const struct lks_pool *is = lks_fleet_find_pool(after, pool);
    char day[LKS_DAY_TEXT_SIZE];
    if (was == NULL || is == NULL || !lks_delta_production(facts, was->posture))
        return;
    if (!lks_delta_production(facts, is->posture))
        lks_buf_addf(out, "posture %" LKS_STR_FMT " to %" LKS_STR_FMT, LKS_STR_ARG(was->posture),
                     LKS_STR_ARG(is->posture));
    add_gate(was->gate, is->gate, out);
    for (size_t i = 0; i < before->quiet_count; i++) {
        const struct lks_quiet *q = &before->quiets[i];
        if (!lks_fleet_quiet_is_of(q, pool) ||
            stays(q, after, pool, q->from > today ? q->from : today))
            continue;
        also(out);
        lks_buf_addf(out, "days until %s are not frozen any more",
                     lks_time_day_text(q->until, day));
    }
}

bool lks_relaxed_pending(const struct lks_state *s, uint32_t pool, lks_ms wall)
{
    return pool < s->pool_count && s->pools[pool].lowered != 0 &&
           (wall < s->pools[pool].lowered_at || wall - s->pools[pool].lowered_at < LKS_RELAXED_AGE);
}
