/*
 * What many runs of one change come to.
 *
 * Times, GPU-hours and capacity are told of runs in which the image is good; where all of them have
 * a bad one, of those. What a bad image does is told of the others.
 */
#ifndef LKS_REHEARSE_FORECAST_H
#define LKS_REHEARSE_FORECAST_H

#include "base/buf.h"
#include "lab/rehearse/rehearse.h"

#define LKS_FORECAST_GATES 16

/* Of all runs: so much or less in one of twenty, in half, in nineteen of twenty; and the most. */
struct lks_spread_of_runs {
    double low, middle, high, most;
};

struct lks_forecast_pool {
    char name[LKS_REHEARSE_NAME];
    uint32_t nodes, in_use, wanted;
    struct lks_spread_of_runs least, gang, starved; /* nodes, nodes, hours */
    uint32_t job_count;
    struct lks_forecast_jobs {
        uint32_t size, waits;             /* waits: runs in which one waited for some time */
        struct lks_spread_of_runs waited; /* the longest of a run, in hours */
    } jobs[LKS_REHEARSE_JOBS];
    uint32_t starves; /* runs in which no gang that is wanted could start for some time */
};

struct lks_forecast {
    uint32_t runs, plain, bad; /* plain: those that times are told of */
    uint32_t ends[LKS_REHEARSED_COUNT];
    struct lks_spread_of_runs hours, gpu_hours, calls, lost; /* lost: nodes that need a person */
    struct lks_spread_of_runs draining, requeued, requeue_hours; /* GPU-hours, jobs, GPU-hours */
    uint32_t stopped;                                            /* of the bad ones */
    struct lks_spread_of_runs reached, hurt, stopped_hours;
    struct lks_forecast_gate {
        char name[LKS_REHEARSE_NAME];
        uint32_t wave_kind, count;
    } gates[LKS_FORECAST_GATES]; /* what stopped bad ones, the most frequent first */
    uint32_t gate_count;
    uint32_t pool_count;
    struct lks_forecast_pool pools[LKS_REHEARSE_POOLS];
    lks_ms point; /* of the curves: low, middle, high at each */
    uint32_t points;
    uint32_t in_use[LKS_REHEARSE_POOLS][LKS_REHEARSE_POINTS][3];
    uint32_t gang[LKS_REHEARSE_POOLS][LKS_REHEARSE_POINTS][3];
    uint32_t bars[24]; /* plain runs by how long they took: equal parts from `bars_from` on */
    double bars_from, bars_to;
};

/* `runs` has at least one. NOMEM is its only failure. */
enum lks_code lks_forecast_make(const struct lks_rehearsed *runs, size_t count,
                                struct lks_forecast *out, struct lks_err *err) LKS_MUST_CHECK;

/* What the forecast is about, for those who read it. */
struct lks_forecast_about {
    const char *title;                     /* "change 7: 52 nodes, 416 GPUs to h200-train-2" */
    double gpu_hour;                       /* what one costs; 0: not said */
    const char *money;                     /* and in what: "EUR" */
    const struct lks_rehearse_site *sites; /* whose jobs were asked for */
    uint32_t site_count;
    uint32_t drawn; /* nodes of the change with invented jobs */
};

/* Whether jobs of a scheduler are in it. */
bool lks_forecast_listed(const struct lks_forecast_about *about);

/* As an object of JSON, and as a picture (SVG). */
void lks_forecast_json(const struct lks_forecast *f, const struct lks_forecast_about *about,
                       struct lks_buf *out);
void lks_forecast_svg(const struct lks_forecast *f, const struct lks_forecast_about *about,
                      struct lks_buf *out);

#endif
