#include "lab/rehearse/forecast.h"

#include "codec/format/json.h"

#define HOUR 3600 /* seconds */

/* Whole numbers: more is not known. */
static void put(struct lks_json_writer *w, const char *key, double value)
{
    lks_json_int(w, key, (int64_t)(value + 0.5));
}

static void put_spread(struct lks_json_writer *w, const char *key,
                       const struct lks_spread_of_runs *s, double times)
{
    lks_json_begin(w, key, '{');
    put(w, "low", s->low * times);
    put(w, "middle", s->middle * times);
    put(w, "high", s->high * times);
    put(w, "most", s->most * times);
    lks_json_end(w, '}');
}

static void put_curve(struct lks_json_writer *w, const char *key, uint32_t points,
                      const uint32_t curve[][3])
{
    lks_json_begin(w, key, '[');
    for (uint32_t i = 0; i < points; i++) {
        lks_json_begin(w, NULL, '[');
        for (unsigned k = 0; k < 3; k++)
            lks_json_int(w, NULL, curve[i][k]);
        lks_json_end(w, ']');
    }
    lks_json_end(w, ']');
}

static void put_jobs(struct lks_json_writer *w, const struct lks_forecast_pool *pool)
{
    lks_json_begin(w, "jobs", '[');
    for (uint32_t i = 0; i < pool->job_count; i++) {
        lks_json_begin(w, NULL, '{');
        lks_json_int(w, "nodes", pool->jobs[i].size);
        lks_json_int(w, "waits", pool->jobs[i].waits);
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
        lks_json_begin(w, NULL, '{');
        lks_json_cstr(w, "pool", pool->name);
        lks_json_int(w, "nodes", pool->nodes);
        lks_json_int(w, "in_use", pool->in_use);
        put_spread(w, "least_in_use", &pool->least, 1);
        put_spread(w, "largest_gang", &pool->gang, 1);
        lks_json_int(w, "gang", pool->wanted);
        lks_json_int(w, "starves", pool->starves);
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
    lks_json_begin(w, "bad_image", '{');
    lks_json_int(w, "runs", f->bad);
    lks_json_int(w, "stopped", f->stopped);
    put_spread(w, "reached", &f->reached, 1);
    put_spread(w, "hurt", &f->hurt, 1);
    put_spread(w, "stopped_seconds", &f->stopped_hours, HOUR);
    lks_json_begin(w, "gates", '[');
    for (uint32_t i = 0; i < f->gate_count; i++) {
        lks_json_begin(w, NULL, '{');
        lks_json_cstr(w, "gate", f->gates[i].name);
        lks_json_cstr(w, "wave", lks_wave_kind_words[f->gates[i].wave_kind]);
        lks_json_int(w, "runs", f->gates[i].count);
        lks_json_end(w, '}');
    }
    lks_json_end(w, ']');
    lks_json_end(w, '}');
}

static void put_ends(struct lks_json_writer *w, const struct lks_forecast *f)
{
    lks_json_begin(w, "ends", '[');
    for (unsigned i = 0; i < LKS_REHEARSED_COUNT; i++) {
        if (f->ends[i] == 0)
            continue;
        lks_json_begin(w, NULL, '{');
        lks_json_cstr(w, "end", lks_rehearse_end_words[i]);
        lks_json_int(w, "runs", f->ends[i]);
        lks_json_end(w, '}');
    }
    lks_json_end(w, ']');
}

void lks_forecast_json(const struct lks_forecast *f, const struct lks_forecast_about *about,
                       struct lks_buf *out)
{
    struct lks_json_writer w = {.out = out};
    lks_json_begin(&w, NULL, '{');
    lks_json_cstr(&w, "title", about->title);
    lks_json_int(&w, "runs", f->runs);
    lks_json_int(&w, "plain_runs", f->plain);
    put_ends(&w, f);
    put_spread(&w, "seconds", &f->hours, HOUR);
    put_spread(&w, "gpu_hours", &f->gpu_hours, 1);
    if (about->gpu_hour > 0) {
        put_spread(&w, "money", &f->gpu_hours, about->gpu_hour);
        lks_json_cstr(&w, "currency", about->money);
    }
    put_spread(&w, "calls", &f->calls, 1);
    put_spread(&w, "nodes_lost", &f->lost, 1);
    if (f->bad > 0)
        put_bad(&w, f);
    lks_json_int(&w, "point_seconds", (int64_t)(f->point / LKS_SECOND));
    put_pools(&w, f);
    lks_json_end(&w, '}');
}
