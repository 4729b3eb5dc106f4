#include "lab/rehearse/forecast.h"

#include "codec/format/json.h"

#define HOUR 3600 /* seconds */

/* A whole number: more is not known. */
static int64_t whole(double value)
{
    return (int64_t)(value + 0.5);
}

static void put_spread(struct lks_json_writer *w, const char *key,
                       const struct lks_spread_of_runs *s, double times)
{
    lks_json_write(w, "'%s': {'low': %ld, 'middle': %ld, 'high': %ld, 'most': %ld}", key,
                   whole(s->low * times), whole(s->middle * times), whole(s->high * times),
                   whole(s->most * times));
}

static void put_curve(struct lks_json_writer *w, const char *key, uint32_t points,
                      const uint32_t curve[][3])
{
    lks_json_begin(w, key, '[');
    for (uint32_t i = 0; i < points; i++)
        lks_json_write(w, "[%u, %u, %u]", curve[i][0], curve[i][1], curve[i][2]);
    lks_json_end(w, ']');
}

static void put_jobs(struct lks_json_writer *w, const struct lks_forecast_pool *pool)
{
    lks_json_begin(w, "jobs", '[');
    for (uint32_t i = 0; i < pool->job_count; i++) {
        lks_json_write(w, "{'nodes': %u, 'waits': %u", pool->jobs[i].size, pool->jobs[i].waits);
        put_spread(w, "waited_seconds", &pool->jobs[i].waited, HOUR);
        lks_json_end(w, '}');
    }
    lks_json_end(w, ']');
}

static void put_pools(struct lks_json_writer *w, const struct lks_forecast *f)
{
    lks_json_begin(w, "pools", '[');
    for (uint32_t p = 0; p < f->pool_count; p++) {
        const struct lks_forecast_pool *pool = &f->pools[p];
        lks_json_write(w, "{'pool': '%s', 'nodes': %u, 'in_use': %u", pool->name, pool->nodes,
                       pool->in_use);
        put_spread(w, "least_in_use", &pool->least, 1);
        put_spread(w, "largest_gang", &pool->gang, 1);
        lks_json_write(w, "'gang': %u, 'starves': %u", pool->wanted, pool->starves);
        put_spread(w, "starved_seconds", &pool->starved, HOUR);
        put_jobs(w, pool);
        put_curve(w, "in_use_curve", f->points, f->in_use[p]);
        put_curve(w, "gang_curve", f->points, f->gang[p]);
        lks_json_end(w, '}');
    }
    lks_json_end(w, ']');
}

static void put_bad(struct lks_json_writer *w, const struct lks_forecast *f)
{
    lks_json_write(w, "'bad_image': {'runs': %u, 'stopped': %u", f->bad, f->stopped);
    put_spread(w, "reached", &f->reached, 1);
    put_spread(w, "hurt", &f->hurt, 1);
    put_spread(w, "stopped_seconds", &f->stopped_hours, HOUR);
    lks_json_begin(w, "gates", '[');
    for (uint32_t i = 0; i < f->gate_count; i++)
        lks_json_write(w, "{'gate': '%s', 'wave': '%s', 'runs': %u}", f->gates[i].name,
                       lks_wave_kind_words[f->gates[i].wave_kind], f->gates[i].count);
    lks_json_write(w, "]}");
}

static void put_ends(struct lks_json_writer *w, const struct lks_forecast *f)
{
    lks_json_begin(w, "ends", '[');
    for (unsigned i = 0; i < LKS_REHEARSED_COUNT; i++)
        if (f->ends[i] > 0)
            lks_json_write(w, "{'end': '%s', 'runs': %u}", lks_rehearse_end_words[i], f->ends[i]);
    lks_json_end(w, ']');
}

static void put_site(struct lks_json_writer *w, const struct lks_rehearse_site *s)
{
    lks_json_begin(w, NULL, '{');
    lks_json_text(w, "site", s->site);
    lks_json_text(w, "scheduler", s->sched);
    lks_json_int(w, "nodes", s->nodes);
    if (s->missing.len > 0) {
        lks_json_text(w, "missing", s->missing);
    } else {
        lks_json_int(w, "age_seconds", (int64_t)(s->age / LKS_SECOND));
        lks_json_int(w, "jobs", s->jobs);
        lks_json_int(w, "endless", s->endless);
    }
    lks_json_end(w, '}');
}

/* Where the jobs on nodes of the change come from, and what became of those that are listed. */
static void put_listed(struct lks_json_writer *w, const struct lks_forecast *f,
                       const struct lks_forecast_about *about)
{
    lks_json_write(w, "'jobs': {'drawn_nodes': %u", about->drawn);
    lks_json_begin(w, "sites", '[');
    for (uint32_t i = 0; i < about->site_count; i++) {
        if (about->sites[i].nodes > 0)
            put_site(w, &about->sites[i]);
    }
    lks_json_end(w, ']');
    if (lks_forecast_listed(about)) {
        put_spread(w, "draining_gpu_hours", &f->draining, 1);
        put_spread(w, "requeued", &f->requeued, 1);
        put_spread(w, "requeue_gpu_hours", &f->requeue_hours, 1);
    }
    lks_json_end(w, '}');
}

void lks_forecast_json(const struct lks_forecast *f, const struct lks_forecast_about *about,
                       struct lks_buf *out)
{
    struct lks_json_writer w = {.out = out};
    lks_json_write(&w, "{'title': '%s', 'runs': %u, 'plain_runs': %u", about->title, f->runs,
                   f->plain);
    put_ends(&w, f);
    put_spread(&w, "seconds", &f->hours, HOUR);
    put_spread(&w, "gpu_hours", &f->gpu_hours, 1);
    if (about->gpu_hour > 0) {
        put_spread(&w, "money", &f->gpu_hours, about->gpu_hour);
        lks_json_cstr(&w, "currency", about->money);
    }
    put_spread(&w, "calls", &f->calls, 1);
    put_spread(&w, "nodes_lost", &f->lost, 1);
    put_listed(&w, f, about);
    if (f->bad > 0)
        put_bad(&w, f);
    lks_json_int(&w, "point_seconds", (int64_t)(f->point / LKS_SECOND));
    put_pools(&w, f);
    lks_json_end(&w, '}');
}
