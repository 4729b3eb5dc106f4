/* What /metrics counts of runs of jobs. */
#include "core/decision/event.h"
#include "server/form/metrics.h"
#include "tests/fleet.h"
#include "tests/test.h"

#include <string.h>

static const struct {
    const char *name;
    uint64_t together; /* 0: a run with a row of its own */
    enum lks_run_state state;
    enum lks_run_cause cause;
    const char *has, *lacks;
} rows[] = {
    {"a run that was preempted", 0, LKS_RUN_PREEMPTED, LKS_RUN_BY_PREEMPTION,
     "lockstep_jobs_interrupted_total{pool=\"train\",cause=\"preemption\"} 1\n",
     "lockstep_jobs_folded_total{"},
    {"a run that was cancelled", 0, LKS_RUN_CANCELLED, LKS_RUN_BY_CANCEL,
     "lockstep_jobs_ended_total{pool=\"train\",state=\"cancelled\"} 1\n",
     "lockstep_jobs_interrupted_total{"},
    {"runs that were preempted, counted together", 7, LKS_RUN_PREEMPTED, LKS_RUN_BY_PREEMPTION,
     "lockstep_jobs_interrupted_total{pool=\"train\",cause=\"preemption\"} 7\n",
     "cause=\"itself\""},
    {"runs that completed, counted together", 7, LKS_RUN_COMPLETED, LKS_RUN_ITSELF,
     "lockstep_jobs_folded_total{pool=\"train\"} 7\n", "lockstep_jobs_interrupted_total{"},
};

static struct lks_record record_of(size_t row)
{
    if (rows[row].together == 0)
        return (struct lks_record){.kind = LKS_RECORD_JOB_ENDED,
                                   .job_ended = {.pool = LKS_STR("train"),
                                                 .state = rows[row].state,
                                                 .cause = rows[row].cause}};
    return (struct lks_record){.kind = LKS_RECORD_JOB_BATCH,
                               .job_batch = {.pool = LKS_STR("train"),
                                             .state = rows[row].state,
                                             .cause = rows[row].cause,
                                             .count = rows[row].together}};
}

static void test_runs(void)
{
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(1 << 20);
        struct lks_metrics m = {0};
        const struct lks_metrics_now now = {.version = "0"};
        struct lks_record record = record_of(i);
        const struct lks_decision d = {.records = &record, .count = 1};
        lks_test_case("%s", rows[i].name);
        lks_asked_init(&a);
        lks_fleet_pool(&a, "train", "", "");
        lks_metrics_runs(&m, &a.state, &d);
        lks_metrics_put(&m, &a.state, &now, &out);
        CHECK_HAS(lks_buf_view(&out), rows[i].has);
        CHECK(lks_str_find(lks_buf_view(&out), lks_str_from(rows[i].lacks)) < 0);
        lks_metrics_fini(&m);
    }
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"runs of jobs", test_runs},
        {0},
    };
    return lks_test_main(tests);
}
