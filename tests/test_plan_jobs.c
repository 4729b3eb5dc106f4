/* What a plan says of jobs on nodes that drain. */
#include "core/plan/drain.h"
#include "tests/facts.h"
#include "tests/manifests.h"
#include "tests/plans.h"
#include "tests/test.h"

#include <stdio.h>

#define BODY(name, driver)                                                                         \
    "---\n" LKS_STACK_HGX(name, "hgx-h100-8, hgx-h200-8", driver,                                  \
                          "settings: {unattended_upgrades: false}\n")
#define A                 BODY("a", "580.126.20")
#define B                 BODY("b", "580.130.01")
#define HEAD              "lockstep: 1\nkind: Fleet\nname: f\n"
#define GROUP(h, p, more) "  - {hosts: '" h "', pool: " p ", class: hgx-h100-8" more "}\n"

/* What a change may do to jobs: as the pool says, else as its posture; without a scheduler that can
 * be asked, nothing. */
static const struct {
    const char *name, *pool;
    bool posture; /* the site's posture requeues, with TERM and 30 minutes */
    const char *told;
    uint64_t jobs, grace;
    const char *signal;
} touches[] = {
    {"nothing is said", ", sched: slurm", false, NULL, LKS_DRAIN_JOBS_WAIT, 0, ""},
    {"the pool requeues", ", sched: slurm, drain_jobs: requeue", false,
     "jobs: jobs on nodes of pool train are sent USR1, given 10 min, then requeued, each once; "
     "jobs that their scheduler may not requeue are waited for\n",
     LKS_DRAIN_JOBS_REQUEUE, 10, "USR1"},
    {"with a signal and a grace of its own",
     ", sched: slurm, drain_jobs: requeue, drain_signal: USR2, drain_grace_minutes: 120", false,
     "sent USR2, given 2 h, then", LKS_DRAIN_JOBS_REQUEUE, 120, "USR2"},
    {"the posture requeues", ", sched: slurm", true, "sent TERM, given 30 min, then",
     LKS_DRAIN_JOBS_REQUEUE, 30, "TERM"},
    {"the posture does, with the pool's signal", ", sched: slurm, drain_signal: HUP", true,
     "sent HUP, given 30 min, then", LKS_DRAIN_JOBS_REQUEUE, 30, "HUP"},
    {"the posture does, and the pool does not", ", sched: slurm, drain_jobs: wait", true, NULL,
     LKS_DRAIN_JOBS_WAIT, 0, ""},
    {"Kubernetes evicts", ", sched: kubernetes, drain_jobs: requeue", false,
     "jobs: on nodes of pool train, " LKS_DRAIN_EVICTIONS "\n", LKS_DRAIN_JOBS_REQUEUE, 0, ""},
    {"the signal of a posture is not for pods", ", sched: kubernetes", true, "are evicted",
     LKS_DRAIN_JOBS_REQUEUE, 0, ""},
    {"Kubernetes waits", ", sched: kubernetes", false, NULL, LKS_DRAIN_JOBS_WAIT, 0, ""},
    {"both, the signal is for Slurm", ", sched: [slurm, kubernetes], drain_jobs: requeue", false,
     "requeue are waited for; " LKS_DRAIN_EVICTIONS "\n", LKS_DRAIN_JOBS_REQUEUE, 10, "USR1"},
    {"the posture does, and no scheduler is there", "", true, NULL, LKS_DRAIN_JOBS_WAIT, 0, ""},
};

/* Postures of a site, of which pre-training requeues. */
static struct lks_facts site_facts(struct lks_posture *posture)
{
    struct lks_facts facts = *lks_test_facts();
    *posture = facts.postures.rows[0];
    CHECK_STR(posture->name, "pre-training");
    posture->leave_jobs = LKS_DRAIN_JOBS_REQUEUE;
    posture->leave_signal = LKS_STR("TERM");
    posture->leave_grace_minutes = 30;
    facts.postures.rows = posture;
    facts.postures.count = 1;
    return facts;
}

static void check_leave(struct plans *p, size_t row)
{
    const struct lks_rec_plan_step *leave = &p->plan.steps[0];
    struct lks_str told = plans_tell(p, PLANS_NOTES);
    CHECK_INT(leave->kind, LKS_DO_LEAVE);
    CHECK_INT(leave->jobs, touches[row].jobs);
    CHECK_INT(leave->grace, touches[row].grace * 60 * LKS_SECOND);
    CHECK_STR(leave->signal, touches[row].signal);
    if (touches[row].told != NULL)
        (void)CHECK_HAS(told, touches[row].told);
    else
        CHECK(lks_str_find(told, LKS_STR("requeue")) < 0);
}

static void test_jobs(void)
{
    for (size_t i = 0; i < LKS_COUNT(touches); i++) {
        struct plans p;
        char text[8192];
        struct lks_posture posture;
        struct lks_facts facts = site_facts(&posture);
        lks_test_case("%s", touches[i].name);
        (void)snprintf(text, sizeof(text),
                       HEAD "pools:\n  train: {posture: pre-training, stack: a%s}\nnodes:\n" GROUP(
                           "g1", "train", "") A B,
                       touches[i].pool);
        plans_begin(&p, text);
        if (touches[i].posture)
            p.book.facts = &facts;
        const struct lks_plan_wish wish = {
            .pool = LKS_STR("train"), .stack = LKS_STR("b"), .hook = LKS_STR("site")};
        if (CHECK(plans_make(&p, &wish)))
            check_leave(&p, i);
        plans_end(&p);
    }
}

/* Nodes that are reserved for windows: where the pool says so, and there is a window. */
static const struct {
    const char *name, *pool;
    const char *windows;
    lks_ms not_before;
    bool told;
} reserves[] = {
    {"the window of the change", ", sched: slurm, reserve: true", "Sat 00:00-24:00", 0, true},
    {"that of the pool", ", sched: slurm, reserve: true, windows: 'Sat 00:00-24:00'", "", 0, true},
    {"an earliest time", ", sched: slurm, reserve: true", "", UINT64_C(4000000000000), true},
    {"no window", ", sched: slurm, reserve: true", "", 0, false},
    {"a pool that does not say so", ", sched: slurm", "Sat 00:00-24:00", 0, false},
};

static void test_reserved(void)
{
    for (size_t i = 0; i < LKS_COUNT(reserves); i++) {
        struct plans p;
        char text[8192];
        lks_test_case("%s", reserves[i].name);
        (void)snprintf(
            text, sizeof(text),
            HEAD "pools:\n  train: {posture: pre-training, stack: a%s}\n"
                 "sites: {s: {timezone: UTC}}\nnodes:\n" GROUP("g1", "train", ", site: s") A B,
            reserves[i].pool);
        plans_begin(&p, text);
        const struct lks_plan_wish wish = {.pool = LKS_STR("train"),
                                           .stack = LKS_STR("b"),
                                           .hook = LKS_STR("site"),
                                           .windows = lks_str_from(reserves[i].windows),
                                           .not_before = reserves[i].not_before};
        if (CHECK(plans_make(&p, &wish))) {
            struct lks_str told = plans_tell(&p, PLANS_NOTES);
            if (reserves[i].told)
                (void)CHECK_HAS(told, "jobs: slurm reserves nodes of pool train for the window, as "
                                      "many as change at once: no job starts on them that would "
                                      "run into it, and running jobs are left alone\n");
            else
                CHECK(lks_str_find(told, LKS_STR("reserves")) < 0);
        }
        plans_end(&p);
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"plan: what is done to jobs", test_jobs},
        {"plan: nodes that are reserved", test_reserved},
        {NULL, NULL},
    });
}
