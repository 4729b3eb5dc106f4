/* What the jobs on nodes of a change cost: requeued now, or waited for. */
#include "core/actions/job_cost.h"
#include "core/rows/pool.h"
#include "tests/asked.h"
#include "tests/facts.h"
#include "tests/manifests.h"
#include "tests/plans.h"
#include "tests/test.h"

#include <stdio.h>

#define HOUR (3600 * LKS_SECOND)
#define WALL (100 * HOUR)

#define FLEET                                                                                      \
    "lockstep: 1\nkind: Fleet\nname: f\nsites: {lab: {}, oslo: {}}\n"                              \
    "pools:\n  train: {posture: pre-training, stack: a, sched: slurm}\n"                           \
    "  dev: {posture: dev, stack: a}\nnodes:\n"                                                    \
    "  - {hosts: 'g[1-4]', pool: train, class: hgx-h100-8, site: lab}\n"                           \
    "  - {hosts: o1, pool: train, class: hgx-h100-8, site: oslo}\n"                                \
    "  - {hosts: d1, pool: dev, class: hgx-h100-8, site: lab}\n"                                   \
    "---\n" LKS_STACK_HGX("a", "hgx-h100-8", "580.126.20", "")

/* Started `ago` hours before, and ends `in` hours from now; 0: its end is unknown. */
struct listed {
    const char *id, *nodes;
    unsigned node_count, gpus; /* 0: unknown */
    unsigned ago, in;
    bool requeue;
};

static void add_job(struct lks_buf *out, const struct listed *job)
{
    char ends[32] = "null", gpus[16] = "null";
    if (job->in > 0)
        (void)snprintf(ends, sizeof(ends), "%llu", (unsigned long long)(WALL + job->in * HOUR));
    if (job->gpus > 0)
        (void)snprintf(gpus, sizeof(gpus), "%u", job->gpus);
    lks_buf_addf(out,
                 "{\"id\":\"%s\",\"name\":\"n\",\"user\":\"ada\",\"account\":\"ml\",\"partition\":"
                 "\"p\",\"state\":\"running\",\"nodes\":\"%s\",\"started\":%llu,\"ends\":%s,"
                 "\"requeue\":%s,\"gpus\":%s}",
                 job->id, job->nodes, (unsigned long long)(WALL - job->ago * HOUR), ends,
                 job->requeue ? "true" : "false", gpus);
}

/* The list of site lab, which came an hour ago. */
static void list(struct lks_sched_sites *sites, const struct listed *jobs, size_t count)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf json = LKS_BUF(1 << 16);
    LKS_CLEANUP(lks_sched_jobs_fini) struct lks_sched_jobs read = {0};
    struct lks_err err = {0};
    lks_buf_addf(&json, "{\"age\":0,\"jobs\":[");
    for (size_t i = 0; i < count; i++) {
        lks_buf_addf(&json, "%s", i > 0 ? "," : "");
        add_job(&json, &jobs[i]);
    }
    lks_buf_addf(&json, "]}");
    CHECK_CODE(lks_sched_sites_ask(sites, LKS_STR("lab"), LKS_STR("slurm"), 0, &err), LKS_OK);
    if (!CHECK_CODE(lks_sched_jobs_read(lks_buf_view(&json), &read, &err), LKS_OK))
        printf("%s\n", err.msg);
    lks_sched_sites_listed(sites, LKS_STR("lab"), LKS_STR("slurm"), &read,
                           (struct lks_now){.wall = WALL - HOUR}, 1);
}

/* Nodes with wave and unit: "g1 0 0", of eight GPUs each. */
static size_t place(const struct plans *p, const char *const *names, const unsigned *waves,
                    const unsigned *units, struct lks_job_place out[8])
{
    size_t count = 0;
    for (; names[count] != NULL; count++)
        out[count] =
            (struct lks_job_place){.node = lks_state_node(&p->a.state, lks_str_from(names[count])),
                                   .wave = waves[count],
                                   .unit = units[count]};
    return count;
}

/* One wave, of the nodes that are named. */
static const struct {
    const char *name;
    struct listed jobs[4];
    const char *nodes[5];
    unsigned units[4];
    uint32_t busy, count, requeue, unknown_ends, unknown_idle, unlisted;
    unsigned ends; /* hours from now; 0: not known */
    uint64_t lost, idle;
    const char *top;
} rows[] = {
    {"no job", {{0}}, {"g1"}, {0}, 0, 0, 0, 0, 0, 0, 0, 0, 0, ""},
    {"one on the whole node",
     {{"1", "g1", 1, 8, 5, 3, true}},
     {"g1"},
     {0},
     1,
     1,
     1,
     0,
     0,
     0,
     3,
     40,
     0,
     "1"},
    {"one that may not be requeued loses nothing",
     {{"1", "g1", 1, 8, 5, 3, false}},
     {"g1"},
     {0},
     1,
     1,
     0,
     0,
     0,
     0,
     3,
     0,
     0,
     "1"},
    {"half of the node stands still",
     {{"1", "g1", 1, 4, 5, 3, true}},
     {"g1"},
     {0},
     1,
     1,
     1,
     0,
     0,
     0,
     3,
     20,
     12,
     "1"},
    {"two on a node",
     {{"1", "g1", 1, 4, 1, 2, true}, {"2", "g1", 1, 4, 1, 6, true}},
     {"g1"},
     {0},
     1,
     2,
     2,
     0,
     0,
     0,
     6,
     8,
     16,
     "1"},
    {"a unit waits for its last job",
     {{"1", "g1", 1, 8, 1, 2, true}, {"2", "g2", 1, 8, 1, 5, true}},
     {"g1", "g2"},
     {0, 0},
     2,
     2,
     2,
     0,
     0,
     0,
     5,
     16,
     24,
     "1"},
    {"nodes apart do not",
     {{"1", "g1", 1, 8, 1, 2, true}, {"2", "g2", 1, 8, 1, 5, true}},
     {"g1", "g2"},
     {0, 1},
     2,
     2,
     2,
     0,
     0,
     0,
     5,
     16,
     0,
     "1"},
    {"one job on several nodes counts once, with all of its GPUs",
     {{"9", "g[1-3]", 3, 24, 2, 4, true}, {"2", "g4", 1, 8, 1, 5, true}},
     {"g1", "g2"},
     {0, 1},
     2,
     1,
     1,
     0,
     0,
     0,
     4,
     48,
     0,
     "9"},
    {"an unknown end",
     {{"1", "g1", 1, 8, 5, 0, true}},
     {"g1", "g2"},
     {0, 0},
     1,
     1,
     1,
     1,
     2,
     0,
     0,
     40,
     0,
     "1"},
    {"GPUs that are unknown: all of the node",
     {{"1", "g1", 1, 0, 5, 3, true}},
     {"g1"},
     {0},
     1,
     1,
     1,
     0,
     0,
     0,
     3,
     40,
     0,
     "1"},
    {"a site without a list", {{0}}, {"o1"}, {0}, 0, 0, 0, 0, 0, 1, 0, 0, 0, ""},
};

static void check_row(size_t i, const struct lks_job_cost *cost)
{
    const struct lks_job_cost_row *row = &cost->rows[0];
    if (!CHECK_INT(cost->row_count, 1))
        return;
    CHECK_INT(row->busy, rows[i].busy);
    CHECK_INT(row->jobs, rows[i].count);
    CHECK_INT(row->requeue, rows[i].requeue);
    CHECK_INT(row->unknown_ends, rows[i].unknown_ends);
    CHECK_INT(row->unknown_idle, rows[i].unknown_idle);
    CHECK_INT(row->unlisted, rows[i].unlisted);
    CHECK_INT(row->ends, rows[i].ends > 0 ? WALL + rows[i].ends * HOUR : 0);
    CHECK_INT(lks_job_cost_hours(row->lost), rows[i].lost);
    CHECK_INT(lks_job_cost_hours(row->idle), rows[i].idle);
    CHECK_STR(cost->top_count > 0 ? cost->top[0].job->id : LKS_STR(""), rows[i].top);
    CHECK_STR(cost->sched, rows[i].unlisted > 0 ? "slurm" : "");
    CHECK_INT(cost->listed, rows[i].unlisted > 0 ? 0 : WALL - HOUR);
}

static void test_rows(void)
{
    static const unsigned none[8] = {0};
    struct plans p;
    plans_begin(&p, FLEET);
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_sched_sites_fini) struct lks_sched_sites sites = {0};
        LKS_CLEANUP(lks_job_cost_fini) struct lks_job_cost cost = {0};
        struct lks_job_place places[8];
        struct lks_err err = {0};
        size_t jobs = 0;
        lks_test_case("%s", rows[i].name);
        while (jobs < 4 && rows[i].jobs[jobs].id != NULL)
            jobs++;
        list(&sites, rows[i].jobs, jobs);
        size_t count = place(&p, rows[i].nodes, none, rows[i].units, places);
        if (CHECK_CODE(
                lks_job_cost_find(&p.a.state, &p.book, &sites, WALL, places, count, &cost, &err),
                LKS_OK))
            check_row(i, &cost);
    }
    plans_end(&p);
}

/* A job in two waves counts in both, a node of a pool without a scheduler in none. */
static void test_waves(void)
{
    static const struct listed jobs[] = {{"1", "g[1-2]", 2, 16, 1, 2, true},
                                         {"2", "g3", 1, 8, 1, 2, true}};
    static const char *const names[] = {"g3", "g2", "d1", "g1", NULL};
    static const unsigned waves[] = {1, 1, 0, 0}, units[] = {0, 1, 2, 3};
    LKS_CLEANUP(lks_sched_sites_fini) struct lks_sched_sites sites = {0};
    LKS_CLEANUP(lks_job_cost_fini) struct lks_job_cost cost = {0};
    struct lks_job_place places[8];
    struct lks_err err = {0};
    struct plans p;
    plans_begin(&p, FLEET);
    list(&sites, jobs, LKS_COUNT(jobs));
    size_t count = place(&p, names, waves, units, places);
    CHECK_CODE(lks_job_cost_find(&p.a.state, &p.book, &sites, WALL, places, count, &cost, &err),
               LKS_OK);
    if (CHECK_INT(cost.row_count, 2)) {
        CHECK_INT(cost.rows[0].wave, 0);
        CHECK_INT(cost.rows[0].jobs, 1);
        CHECK_INT(cost.rows[1].wave, 1);
        CHECK_INT(cost.rows[1].jobs, 2);
        CHECK_INT(cost.rows[1].nodes, 2);
    }
    CHECK_INT(cost.top_count, 2);
    CHECK_STR(cost.top[0].job->id, "1");
    CHECK_INT(cost.top[0].nodes, 2);
    plans_end(&p);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"rows", test_rows},
        {"waves", test_waves},
        {NULL, NULL},
    });
}
