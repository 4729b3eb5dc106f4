#include "lab/rehearse/forecast.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOUR      (3600 * LKS_SECOND)
#define WAIT_TOLD (600 * LKS_SECOND) /* shorter ones are a scheduler's own pace */

/* Numbers of runs, sorted when they are asked. */
struct numbers {
    double *list; /* owned; room for all runs */
    size_t count;
};

static int by_size(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* The least number that so many of the runs do not exceed. */
static double at(const struct numbers *n, unsigned percent)
{
    return n->list[(n->count * percent + 99) / 100 - 1];
}

static struct lks_spread_of_runs spread(struct numbers *n)
{
    if (n->count == 0)
        return (struct lks_spread_of_runs){0};
    qsort(n->list, n->count, sizeof(n->list[0]), by_size);
    return (struct lks_spread_of_runs){at(n, 5), at(n, 50), at(n, 95), at(n, 100)};
}

/* Numbers of a run, those from LEAST on of one of its pools, WAITED of a job. */
enum number {
    HOURS,
    GPU_HOURS,
    CALLS,
    LOST,
    DRAINING,
    REQUEUED,
    REQUEUE_HOURS,
    REACHED,
    HURT,
    STOPPED_HOURS,
    LEAST,
    GANG,
    STARVED,
    WAITED,
};

static double in_hours(lks_ms span)
{
    return (double)span / (double)HOUR;
}

/* `at`: which pool; and of WAITED, which job of all pools. */
static double number_of(const struct lks_rehearsed *r, enum number which, uint32_t at)
{
    switch (which) {
    case HOURS:
        return in_hours(r->took);
    case GPU_HOURS:
        return r->gpu_hours;
    case CALLS:
        return r->halts;
    case LOST:
        return r->members[LKS_MEMBER_FENCED] + r->members[LKS_MEMBER_HANDS] +
               r->members[LKS_MEMBER_UNKNOWN];
    case DRAINING:
        return r->draining;
    case REQUEUED:
        return r->requeued;
    case REQUEUE_HOURS:
        return r->lost;
    case REACHED:
        return r->reached;
    case HURT:
        return r->hurt;
    case STOPPED_HOURS:
        return in_hours(r->stopped ? r->stopped_after : r->took);
    case LEAST:
        return r->pools[at].least;
    case GANG:
        return r->pools[at].gang;
    case STARVED:
        return in_hours(r->pools[at].starved);
    case WAITED:
        return in_hours(r->pools[at / LKS_REHEARSE_JOBS].jobs[at % LKS_REHEARSE_JOBS].waited);
    }
    LKS_ASSERT(false);
    return 0;
}

/* All that is looked at, and whose turn it is. */
struct making {
    const struct lks_rehearsed *runs;
    size_t count;
    bool all_bad;
    struct numbers numbers;
    struct lks_forecast *out;
};

static bool is_plain(const struct making *m, const struct lks_rehearsed *r)
{
    return !r->bad || m->all_bad;
}

static struct lks_spread_of_runs of_runs(struct making *m, bool bad, enum number which, uint32_t at)
{
    m->numbers.count = 0;
    for (size_t i = 0; i < m->count; i++)
        if (bad ? m->runs[i].bad : is_plain(m, &m->runs[i]))
            m->numbers.list[m->numbers.count++] = number_of(&m->runs[i], which, at);
    return spread(&m->numbers);
}

/* Pools ---------------------------------------------------------------------------------------- */

static void make_jobs(struct making *m, uint32_t p)
{
    const struct lks_rehearse_pool *from = &m->runs[0].pools[p];
    struct lks_forecast_pool *to = &m->out->pools[p];
    to->job_count = from->job_count;
    for (uint32_t k = 0; k < from->job_count; k++) {
        to->jobs[k].size = from->jobs[k].size;
        to->jobs[k].waited = of_runs(m, false, WAITED, p * LKS_REHEARSE_JOBS + k);
        for (size_t i = 0; i < m->count; i++)
            to->jobs[k].waits +=
                is_plain(m, &m->runs[i]) && m->runs[i].pools[p].jobs[k].waited >= WAIT_TOLD;
    }
}

static void make_pool(struct making *m, uint32_t p)
{
    const struct lks_rehearse_pool *from = &m->runs[0].pools[p];
    struct lks_forecast_pool *to = &m->out->pools[p];
    (void)snprintf(to->name, sizeof(to->name), "%s", from->name);
    to->nodes = from->nodes;
    to->in_use = from->in_use;
    to->wanted = from->wanted;
    to->least = of_runs(m, false, LEAST, p);
    to->gang = of_runs(m, false, GANG, p);
    to->starved = of_runs(m, false, STARVED, p);
    for (size_t i = 0; i < m->count; i++)
        to->starves += is_plain(m, &m->runs[i]) && m->runs[i].pools[p].starved > 0;
    make_jobs(m, p);
}

/* The value of a run's curve in a stretch of time; behind its end it stays as it ended. */
static uint32_t curve_at(const struct lks_rehearsed *r, const uint32_t *curve, lks_ms from,
                         lks_ms to)
{
    uint32_t first = (uint32_t)(from / r->point), last = (uint32_t)((to - 1) / r->point);
    uint32_t found = UINT32_MAX, end = r->points - 1;
    for (uint32_t i = first; i <= last && i <= end; i++)
        found = curve[i] < found ? curve[i] : found;
    return first > end ? curve[end] : found;
}

static void make_point(struct making *m, uint32_t p, uint32_t i, bool gangs, uint32_t out[3])
{
    lks_ms from = i * m->out->point, to = from + m->out->point;
    m->numbers.count = 0;
    for (size_t k = 0; k < m->count; k++) {
        const struct lks_rehearsed *r = &m->runs[k];
        if (is_plain(m, r))
            m->numbers.list[m->numbers.count++] =
                curve_at(r, gangs ? r->gang[p] : r->in_use[p], from, to);
    }
    struct lks_spread_of_runs s = spread(&m->numbers);
    out[0] = (uint32_t)s.low;
    out[1] = (uint32_t)s.middle;
    out[2] = (uint32_t)s.high;
}

static void make_curves(struct making *m)
{
    struct lks_forecast *f = m->out;
    lks_ms longest = (lks_ms)(f->hours.most * (double)HOUR) + 1;
    f->point = (longest + LKS_REHEARSE_POINTS - 1) / LKS_REHEARSE_POINTS;
    f->points = LKS_REHEARSE_POINTS;
    for (uint32_t p = 0; p < f->pool_count; p++) {
        for (uint32_t i = 0; i < f->points; i++) {
            make_point(m, p, i, false, f->in_use[p][i]);
            make_point(m, p, i, true, f->gang[p][i]);
        }
    }
}

/* Bars and gates ------------------------------------------------------------------------------- */

static void make_bars(struct making *m)
{
    struct lks_forecast *f = m->out;
    enum { BARS = LKS_COUNT(f->bars) };
    (void)of_runs(m, false, HOURS, 0);
    f->bars_from = m->numbers.list[0];
    f->bars_to = f->hours.most;
    double part = (f->bars_to - f->bars_from) / BARS;
    for (size_t i = 0; i < m->numbers.count; i++) {
        double away = m->numbers.list[i] - f->bars_from;
        size_t bar = part > 0 ? (size_t)(away / part) : 0;
        f->bars[bar < BARS ? bar : BARS - 1]++;
    }
}

static void count_gate(struct lks_forecast *f, const struct lks_rehearsed *r)
{
    for (uint32_t i = 0; i < f->gate_count; i++) {
        if (strcmp(f->gates[i].name, r->gate) != 0 || f->gates[i].wave_kind != r->wave_kind)
            continue;
        f->gates[i].count++;
        return;
    }
    if (f->gate_count == LKS_FORECAST_GATES)
        return;
    struct lks_forecast_gate *g = &f->gates[f->gate_count++];
    (void)snprintf(g->name, sizeof(g->name), "%s", r->gate);
    g->wave_kind = r->wave_kind;
    g->count = 1;
}

static int by_count(const void *left, const void *right)
{
    const struct lks_forecast_gate *a = left, *b = right;
    return (a->count < b->count) - (a->count > b->count);
}

static void make_bad(struct making *m)
{
    struct lks_forecast *f = m->out;
    f->reached = of_runs(m, true, REACHED, 0);
    f->hurt = of_runs(m, true, HURT, 0);
    f->stopped_hours = of_runs(m, true, STOPPED_HOURS, 0);
    for (size_t i = 0; i < m->count; i++) {
        if (!m->runs[i].bad || !m->runs[i].stopped)
            continue;
        f->stopped++;
        count_gate(f, &m->runs[i]);
    }
    qsort(f->gates, f->gate_count, sizeof(f->gates[0]), by_count);
}

bool lks_forecast_listed(const struct lks_forecast_about *about)
{
    for (uint32_t i = 0; i < about->site_count; i++) {
        if (about->sites[i].missing.len == 0 && about->sites[i].nodes > 0)
            return true;
    }
    return false;
}

enum lks_code lks_forecast_make(const struct lks_rehearsed *runs, size_t count,
                                struct lks_forecast *out, struct lks_err *err)
{
    struct making m = {.runs = runs, .count = count, .out = out};
    m.numbers.list = calloc(count, sizeof(m.numbers.list[0]));
    if (m.numbers.list == NULL)
        return lks_fail_nomem(err);
    *out = (struct lks_forecast){.runs = (uint32_t)count, .pool_count = runs[0].pool_count};
    for (size_t i = 0; i < count; i++)
        out->bad += runs[i].bad;
    m.all_bad = out->bad == count;
    out->plain = m.all_bad ? out->runs : out->runs - out->bad;
    for (size_t i = 0; i < count; i++)
        out->ends[runs[i].end] += is_plain(&m, &runs[i]);
    out->hours = of_runs(&m, false, HOURS, 0);
    out->gpu_hours = of_runs(&m, false, GPU_HOURS, 0);
    out->calls = of_runs(&m, false, CALLS, 0);
    out->lost = of_runs(&m, false, LOST, 0);
    out->draining = of_runs(&m, false, DRAINING, 0);
    out->requeued = of_runs(&m, false, REQUEUED, 0);
    out->requeue_hours = of_runs(&m, false, REQUEUE_HOURS, 0);
    make_bars(&m);
    make_bad(&m);
    for (uint32_t p = 0; p < out->pool_count; p++)
        make_pool(&m, p);
    make_curves(&m);
    free(m.numbers.list);
    return LKS_OK;
}
