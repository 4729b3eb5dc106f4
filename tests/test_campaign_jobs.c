/* Jobs on nodes that drain: signalled and requeued, where the plan of the change says so. */
#include "core/actions/job_acts.h"
#include "core/actions/sched_sites.h"
#include "core/campaign/campaign.h"
#include "core/rows/change.h"
#include "core/sched/jobs.h"
#include "core/state/state.h"
#include "tests/campaigns.h"
#include "tests/test.h"

#include <stdio.h>

#define MINUTE CAMPAIGN_MINUTE
#define HOUR   CAMPAIGN_HOUR

enum { JOBS_MAX = 4, PLACES_MAX = 4 };

/* A job and the scheduler that has it, as they are played. */
struct job {
    const char *id;
    const char *nodes[PLACES_MAX]; /* on which it runs; NULL behind the last */
    bool requeue;                  /* the scheduler may start it again */
    bool again;                    /* it starts at once on the same nodes when it was requeued */
    lks_ms ends;                   /* of itself, so long after the signal; 0: it ignores it */
    lks_ms started;                /* 0: it does not run */
    lks_ms signalled;
    unsigned signals, requeues;
};

struct scene {
    struct campaign w;
    struct job jobs[JOBS_MAX];
    size_t count;
    bool lost;    /* what is asked for is done, and the answer is lost */
    bool refuses; /* requeues are refused */
};

static bool is_on(const struct job *job, const char *node)
{
    for (size_t i = 0; i < PLACES_MAX && job->nodes[i] != NULL; i++) {
        if (job->started != 0 && strcmp(job->nodes[i], node) == 0)
            return true;
    }
    return false;
}

static void place(struct scene *s)
{
    for (unsigned i = 0; i < s->w.count; i++) {
        struct campaign_node *n = &s->w.nodes[i];
        n->busy = false;
        for (size_t k = 0; k < s->count; k++)
            n->busy |= is_on(&s->jobs[k], n->name);
    }
}

/* The scheduler lists the jobs of each node, drained or not, as one that is asked too often. */
static void list_jobs(struct scene *s)
{
    for (unsigned i = 0; i < s->w.count; i++) {
        const struct campaign_node *n = &s->w.nodes[i];
        struct lks_event_job list[JOBS_MAX];
        size_t count = 0;
        for (size_t k = 0; k < s->count; k++) {
            const struct job *job = &s->jobs[k];
            if (is_on(job, n->name))
                list[count++] = (struct lks_event_job){.id = lks_str_from(job->id),
                                                       .user = LKS_STR("ada"),
                                                       .started = job->started,
                                                       .requeue = job->requeue};
        }
        const struct lks_event e = {.kind = LKS_EVENT_SCHED_JOBS,
                                    .node = lks_state_node(&s->w.a.state, lks_str_from(n->name)),
                                    .sched_jobs = {.list = list, .count = count}};
        campaign_event(&s->w, &e);
    }
}

static struct job *find_job(struct scene *s, struct lks_str id)
{
    for (size_t k = 0; k < s->count; k++) {
        if (lks_str_is(id, s->jobs[k].id))
            return &s->jobs[k];
    }
    CHECK(false);
    return &s->jobs[0];
}

static void requeue(struct scene *s, struct job *job)
{
    job->requeues++;
    job->started = job->again ? s->w.a.now.wall : 0;
}

/* Carry out one act, unless the run that is meant is not there. */
static bool carry_out(struct scene *s, const struct lks_job_due *due)
{
    struct job *job = find_job(s, due->job);
    bool refused = s->refuses && due->act == LKS_JOB_REQUEUE;
    if (lks_job_acts_meant(due, job->started != 0, job->started) && !refused) {
        if (due->act == LKS_JOB_SIGNAL) {
            CHECK_STR(due->signal, "USR1");
            job->signals++;
            job->signalled = s->w.a.now.wall;
        } else {
            requeue(s, job);
        }
    }
    if (s->lost)
        return false;
    const struct lks_event e = {.kind = LKS_EVENT_JOB_ACTED,
                                .acted = {.change = due->change,
                                          .job = due->job,
                                          .site = due->site,
                                          .act = due->act,
                                          .refused = refused,
                                          .text = refused ? LKS_STR("no") : LKS_STR("")}};
    campaign_event(&s->w, &e);
    return true;
}

static void carry_out_all(struct scene *s)
{
    struct lks_job_acts_at at = {0};
    struct lks_job_due due;
    while (lks_job_acts_next(&s->w.a.state, &at, &due)) {
        if (carry_out(s, &due))
            at = (struct lks_job_acts_at){0};
    }
}

/* Time passes: the scheduler is asked, and jobs end. */
static void pass(struct scene *s, lks_ms span)
{
    for (lks_ms passed = 0; passed < span && !lks_change_over(campaign_change(&s->w));
         passed += MINUTE) {
        for (size_t k = 0; k < s->count; k++) {
            struct job *job = &s->jobs[k];
            if (job->signals > 0 && job->ends > 0 && job->requeues == 0 &&
                s->w.a.now.wall >= job->signalled + job->ends)
                job->started = 0;
        }
        place(s);
        campaign_settle(&s->w);
        list_jobs(s);
        carry_out_all(s);
        campaign_pass(&s->w, MINUTE);
    }
}

static void start(struct scene *s, struct campaign_plan plan)
{
    plan.sched = plan.sched != NULL ? plan.sched : "simulated";
    campaign_begin(&s->w, &plan);
    for (size_t k = 0; k < s->count; k++)
        s->jobs[k].started = s->w.a.now.wall - HOUR;
    place(s);
}

/* One row each: what becomes of one job on n1. */
static const struct {
    const char *name;
    bool requeues; /* the plan says so */
    struct job job;
    bool lost, refuses;
    unsigned signals, requeued;
    enum lks_member_state ends;
    const char *says; /* in the log */
} rows[] = {
    {"a pool that waits touches no job",
     false,
     {.requeue = true},
     false,
     false,
     0,
     0,
     LKS_MEMBER_FENCED,
     ""},
    {"a job that its scheduler may requeue is signalled, then requeued",
     true,
     {.requeue = true},
     false,
     false,
     1,
     1,
     LKS_MEMBER_DONE,
     "act=requeue state=done"},
    {"a job that may not be requeued is left alone, and waited for",
     true,
     {.requeue = false},
     false,
     false,
     0,
     0,
     LKS_MEMBER_FENCED,
     ""},
    {"a job that ends by the signal is not requeued",
     true,
     {.requeue = true, .ends = 5 * CAMPAIGN_MINUTE},
     false,
     false,
     1,
     0,
     LKS_MEMBER_DONE,
     "act=signal state=done"},
    {"a requeue that is refused is the last that is tried",
     true,
     {.requeue = true},
     false,
     true,
     1,
     0,
     LKS_MEMBER_FENCED,
     "act=requeue state=refused"},
    {"a job that starts again on the node is not requeued a second time",
     true,
     {.requeue = true, .again = true},
     false,
     false,
     1,
     1,
     LKS_MEMBER_FENCED,
     "act=requeue state=done"},
};

static void one_job(void)
{
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct scene s = {.jobs = {rows[i].job}, .count = 1, .refuses = rows[i].refuses};
        lks_test_case("%s", rows[i].name);
        s.jobs[0].id = "17";
        s.jobs[0].nodes[0] = "n1";
        start(&s, (struct campaign_plan){.nodes = 1, .requeues = rows[i].requeues});
        pass(&s, 3 * HOUR);
        CHECK_INT(s.jobs[0].signals, rows[i].signals);
        CHECK_INT(s.jobs[0].requeues, rows[i].requeued);
        CHECK_MEMBER(&s.w, "n1", rows[i].ends);
        CHECK_INT(campaign_count(&s.w, "job-act", "") > 0, rows[i].says[0] != '\0');
        CHECK(campaign_count(&s.w, rows[i].says[0] != '\0' ? "job-act" : "", rows[i].says) > 0);
        CHECK(campaign_count(&s.w, "job-act", "state=asked") ==
              rows[i].signals + (rows[i].requeued || rows[i].refuses));
        campaign_show(&s.w);
        campaign_end(&s.w);
    }
}

/* A scheduler without signals is asked to requeue at once. "Not now" is asked for again until it is
 * done, and what it said is shown: with the act, with the node, and where that is the last of it,
 * as the reason. */
static void evicted(void)
{
    static const char budget[] = "not evicted now: The disruption budget one";
    struct scene s = {.jobs = {{.id = "ml/a#1", .nodes = {"n1"}, .requeue = true}}, .count = 1};
    struct lks_job_acts_at at = {0};
    struct lks_job_due due;
    start(&s, (struct campaign_plan){.nodes = 1, .requeues = true, .sched = "kubernetes"});
    CHECK(campaign_run_until(&s.w, "n1", CAMPAIGN_LEAVE, LKS_MEMBER_ASKED, HOUR));
    list_jobs(&s);
    CHECK_INT(campaign_count(&s.w, "job-act", "act=signal"), 0);
    if (!CHECK(lks_job_acts_next(&s.w.a.state, &at, &due)))
        return;
    CHECK_INT(due.act, LKS_JOB_REQUEUE);
    CHECK_STR(due.signal, "");
    const struct lks_event later = {.kind = LKS_EVENT_JOB_ACTED,
                                    .acted = {.change = due.change,
                                              .job = due.job,
                                              .site = due.site,
                                              .act = due.act,
                                              .later = true,
                                              .text = lks_str_from(budget)}};
    campaign_event(&s.w, &later);
    campaign_event(&s.w, &later); /* told twice, it is recorded once */
    CHECK_INT(campaign_count(&s.w, "job-act", "state=asked"), 2);
    CHECK_INT(campaign_count(&s.w, "job-act", budget), 1);
    const struct lks_event sched = {.kind = LKS_EVENT_SCHED,
                                    .node = lks_state_node(&s.w.a.state, LKS_STR("n1")),
                                    .sched = {.jobs = 1, .text = LKS_STR("1 job runs there")}};
    campaign_event(&s.w, &sched);
    CHECK_INT(campaign_count(&s.w, "member", "1 job runs there; not evicted now: The"), 1);
    CHECK(lks_campaign_jobs_closed(&s.w.a.state, &due) == NULL);
    due.node = LKS_STR("n9");
    const char *why = lks_campaign_jobs_closed(&s.w.a.state, &due);
    CHECK_HAS(lks_str_from(why != NULL ? why : ""), "before the scheduler allowed it");
    pass(&s, 3 * HOUR);
    CHECK_INT(s.jobs[0].requeues, 1);
    CHECK_INT(s.jobs[0].signals, 0);
    CHECK_MEMBER(&s.w, "n1", LKS_MEMBER_DONE);
    campaign_end(&s.w);
}

/* The jobs of a node that drains are listed; the pods of Kubernetes only where they are evicted. */
static void lists_wanted(void)
{
    static const struct {
        const char *sched;
        bool requeues, listed;
    } kinds[] = {
        {"simulated", false, true}, {"kubernetes", false, false}, {"kubernetes", true, true}};
    for (size_t i = 0; i < LKS_COUNT(kinds); i++) {
        LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {.max = 1 << 16};
        struct scene s = {.jobs = {{.id = "17", .nodes = {"n1"}}}, .count = 1};
        struct lks_sched_sites sites = {0};
        struct lks_sched_site_due due[4];
        struct lks_err err = {0};
        uint32_t count = 0;
        lks_test_case("%s%s", kinds[i].sched, kinds[i].requeues ? ", requeued" : "");
        start(&s, (struct campaign_plan){
                      .nodes = 1, .requeues = kinds[i].requeues, .sched = kinds[i].sched});
        CHECK(campaign_run_until(&s.w, "n1", CAMPAIGN_LEAVE, LKS_MEMBER_ASKED, HOUR));
        CHECK_CODE(lks_sched_sites_due(&sites, &s.w.a.state, 1, 4, &arena, due, &count, &err),
                   LKS_OK);
        CHECK_INT(count, kinds[i].listed);
        lks_sched_sites_fini(&sites);
        campaign_end(&s.w);
    }
}

/* The grace is waited for, from the answer to the signal on. */
static void grace(void)
{
    struct scene s = {.jobs = {{.id = "17", .nodes = {"n1"}, .requeue = true}}, .count = 1};
    start(&s, (struct campaign_plan){.nodes = 1, .requeues = true});
    pass(&s, MINUTE);
    lks_ms from = s.jobs[0].signalled;
    CHECK_INT(s.jobs[0].signals, 1);
    while (s.jobs[0].requeues == 0 && s.w.a.now.wall < from + HOUR)
        pass(&s, MINUTE);
    CHECK(s.w.a.now.wall >= from + 10 * MINUTE && s.w.a.now.wall <= from + 12 * MINUTE);
    campaign_end(&s.w);
}

/* A change that is halted touches no job, not even one that it signalled or asked for. */
static void halted(void)
{
    struct scene s = {.jobs = {{.id = "17", .nodes = {"n1"}, .requeue = true}}, .count = 1};
    start(&s, (struct campaign_plan){.nodes = 1, .requeues = true});
    pass(&s, MINUTE);
    CHECK_INT(s.jobs[0].signals, 1);
    campaign_move(&s.w, LKS_CHANGE_HALTED);
    pass(&s, 30 * MINUTE);
    CHECK_INT(s.jobs[0].requeues, 0);
    CHECK_INT(campaign_count(&s.w, "job-act", "act=requeue"), 0);
    campaign_move(&s.w, LKS_CHANGE_RUNNING);
    list_jobs(&s);
    CHECK_INT(campaign_count(&s.w, "job-act", "act=requeue state=asked"), 1);
    campaign_move(&s.w, LKS_CHANGE_HALTED);
    pass(&s, 10 * MINUTE);
    CHECK_INT(s.jobs[0].requeues, 0);
    campaign_move(&s.w, LKS_CHANGE_RUNNING);
    pass(&s, 10 * MINUTE);
    CHECK_INT(s.jobs[0].requeues, 1);
    campaign_end(&s.w);
}

/* An act without an answer ends: with its change, or when nothing would send it again. */
static void closed(void)
{
    static const struct {
        const char *name;
        enum lks_change_state moves[2]; /* PROPOSED: none */
        bool elsewhere;                 /* the act is about another node, which does not drain */
        const char *why;                /* NULL: it stays open */
    } ends[] = {
        {"the node drains", {0}, false, NULL},
        {"the node does not drain any more", {0}, true, "its node stopped draining before"},
        {"paused", {LKS_CHANGE_PAUSED}, true, NULL},
        {"halted", {LKS_CHANGE_HALTED}, true, NULL},
        {"aborted", {LKS_CHANGE_ABORTING, LKS_CHANGE_ABORTED}, false, "its change ended before"},
    };
    for (size_t i = 0; i < LKS_COUNT(ends); i++) {
        struct scene s = {.jobs = {{.id = "17", .nodes = {"n1"}, .requeue = true}}, .count = 1};
        struct lks_job_acts_at at = {0};
        struct lks_job_due due;
        lks_test_case("%s", ends[i].name);
        start(&s, (struct campaign_plan){.nodes = 1, .requeues = true});
        place(&s);
        CHECK(campaign_run_until(&s.w, "n1", CAMPAIGN_LEAVE, LKS_MEMBER_ASKED, HOUR));
        list_jobs(&s);
        for (unsigned k = 0; k < 2 && ends[i].moves[k] != LKS_CHANGE_PROPOSED; k++)
            campaign_move(&s.w, ends[i].moves[k]);
        if (CHECK(lks_job_acts_open(&s.w.a.state, &at, &due))) {
            due.node = ends[i].elsewhere ? LKS_STR("n9") : due.node;
            const char *why = lks_campaign_jobs_closed(&s.w.a.state, &due);
            CHECK_INT(why != NULL, ends[i].why != NULL);
            CHECK_HAS(lks_str_from(why != NULL ? why : ""), ends[i].why != NULL ? ends[i].why : "");
            CHECK_INT(lks_job_acts_open(&s.w.a.state, &at, &due), 0);
        }
        campaign_end(&s.w);
    }
}

/* One job on nodes of both waves, and another that is on the second alone. */
static void over_waves(void)
{
    struct scene s = {.jobs = {{.id = "17", .nodes = {"n1", "n2", "n3"}, .requeue = true},
                               {.id = "18", .nodes = {"n3"}, .requeue = true}},
                      .count = 2};
    start(&s, (struct campaign_plan){.nodes = 3, .waves = {1, 2}, .requeues = true});
    pass(&s, 30 * MINUTE);
    CHECK_INT(s.jobs[0].requeues, 1);
    CHECK_INT(s.jobs[0].signals, 1);
    s.jobs[0].nodes[0] = "n2"; /* it starts again, where a later wave drains */
    s.jobs[0].nodes[1] = NULL;
    s.jobs[0].started = s.w.a.now.wall;
    pass(&s, 3 * HOUR);
    CHECK_INT(s.jobs[0].requeues, 1);
    CHECK_INT(s.jobs[1].requeues, 1);
    CHECK_INT(s.jobs[1].signals, 1);
    CHECK_INT(campaign_count(&s.w, "job-act", "act=requeue state=asked"), 2);
    campaign_end(&s.w);
}

/* Answers are lost, as when a controller crashes: what is open is asked for again, and a job that
 * was requeued meanwhile is not requeued again. */
static void lost_answers(void)
{
    struct scene s = {.jobs = {{.id = "17", .nodes = {"n1"}, .requeue = true, .again = true}},
                      .count = 1};
    start(&s, (struct campaign_plan){.nodes = 1, .requeues = true});
    pass(&s, 10 * MINUTE);
    s.lost = true;
    pass(&s, 20 * MINUTE);
    CHECK_INT(s.jobs[0].requeues, 1);
    CHECK_INT(campaign_count(&s.w, "job-act", "act=requeue state=done"), 0);
    s.lost = false;
    pass(&s, 2 * MINUTE);
    CHECK_INT(s.jobs[0].requeues, 1);
    CHECK_INT(campaign_count(&s.w, "job-act", "act=requeue state=done"), 1);
    campaign_end(&s.w);
}

/* Answers without a request in progress, and jobs of nodes that do not drain by the change. */
static void strays(void)
{
    struct scene s = {.jobs = {{.id = "17", .nodes = {"n1"}, .requeue = true}}, .count = 1};
    start(&s, (struct campaign_plan){.nodes = 1, .requeues = true});
    struct lks_event e = {
        .kind = LKS_EVENT_JOB_ACTED,
        .acted = {.change = 1, .job = LKS_STR("17"), .act = LKS_JOB_SIGNAL, .text = LKS_STR("")}};
    campaign_event(&s.w, &e); /* it was not signalled */
    pass(&s, MINUTE);
    CHECK_INT(campaign_count(&s.w, "job-act", "state=done"), 1);
    e.acted.act = LKS_JOB_REQUEUE;
    campaign_event(&s.w, &e); /* not asked for yet */
    e.acted.change = 9;
    campaign_event(&s.w, &e);
    CHECK_INT(campaign_count(&s.w, "job-act", "state=done"), 1);
    CHECK_INT(campaign_count(&s.w, "job-act", "act=requeue"), 0);
    campaign_end(&s.w);
}

/* What follows for a requeue from lists of jobs; its record is of the time 1000. */
static const struct {
    const char *name;
    const char *job; /* that is listed; NULL: none */
    lks_ms listed;
    char before; /* '-': nothing, 'a': asked for at 1000, 'u': unknown, 'm': no such job, since 1000
                  */
    bool fresh;
    lks_ms wall;
    enum lks_job_does does;
} lists[] = {
#define RUNS(state, started)                                                                       \
    "{\"id\":\"17\",\"user\":\"ada\",\"account\":\"\",\"partition\":\"p\",\"state\":\"" state      \
    "\",\"nodes\":\"n1\",\"started\":" started ",\"ends\":null,\"requeue\":true,\"gpus\":8}"
    {"just recorded", RUNS("running", "500"), 900, '-', true, 1000, LKS_JOB_SEND},
    {"just recorded, and it is gone", NULL, 900, '-', true, 1000, LKS_JOB_OVER},
    {"of a controller before: a later list decides", RUNS("running", "500"), 900, '-', false, 1000,
     LKS_JOB_WAIT},
    {"asked for, and not answered", RUNS("running", "500"), 1500, 'a', false, 2000, LKS_JOB_WAIT},
    {"no answer will come", RUNS("running", "500"), 400000, 'a', false, 400000, LKS_JOB_SEND},
    {"unknown, and the list is of before", RUNS("running", "500"), 1000, 'u', false, 2000,
     LKS_JOB_WAIT},
    {"unknown, and it runs still", RUNS("running", "500"), 1001, 'u', false, 2000, LKS_JOB_SEND},
    {"unknown, and it cannot be read", RUNS("running", "null"), 1001, 'u', false, 2000,
     LKS_JOB_WAIT},
    {"no such job, and the list is of before", RUNS("running", "500"), 1000, 'm', false, 2000,
     LKS_JOB_WAIT},
    {"no such job, and it runs still", RUNS("running", "500"), 1001, 'm', false, 2000,
     LKS_JOB_DENIED},
    {"no such job, and it is gone", NULL, 1001, 'm', false, 2000, LKS_JOB_OVER},
    {"no such run, and another one is listed", RUNS("running", "1500"), 1600, 'm', false, 2000,
     LKS_JOB_OVER},
    {"unknown, and it was started again", RUNS("running", "1500"), 1600, 'u', false, 2000,
     LKS_JOB_OVER},
    {"unknown, and it ends", RUNS("completing", "500"), 1600, 'u', false, 2000, LKS_JOB_OVER},
    {"unknown, and it is gone", NULL, 1600, 'u', false, 2000, LKS_JOB_OVER},
#define PART(number, node, state, started, requeue)                                                \
    "{\"id\":\"17+" number                                                                         \
    "\",\"user\":\"ada\",\"account\":\"\",\"partition\":\"p\",\"state\":\"" state                  \
    "\",\"nodes\":\"" node "\",\"started\":" started ",\"ends\":null,\"requeue\":" requeue         \
    ",\"gpus\":8}"
    {"a heterogeneous job, by its first component",
     PART("1", "n2", "running", "501", "true") "," PART("0", "n1", "running", "500", "true"), 1001,
     'u', false, 2000, LKS_JOB_SEND},
    {"a heterogeneous job whose first component is gone", PART("1", "n2", "running", "500", "true"),
     1600, 'u', false, 2000, LKS_JOB_OVER},
    {"a heterogeneous job that was started again",
     PART("0", "n1", "running", "1500", "true") "," PART("1", "n2", "running", "1500", "true"),
     1600, 'u', false, 2000, LKS_JOB_OVER},
};

static void requests(void)
{
    static const struct lks_job_due due = {
        .change = 1, .job = LKS_STR_C("17"), .act = LKS_JOB_REQUEUE, .started = 500};
    for (size_t i = 0; i < LKS_COUNT(lists); i++) {
        LKS_CLEANUP(lks_sched_jobs_fini) struct lks_sched_jobs jobs = {0}, first = {0};
        LKS_CLEANUP(lks_job_acts_fini) struct lks_job_book book = {0};
        struct lks_err err = {0};
        char json[512];
        lks_test_case("%s", lists[i].name);
        (void)snprintf(json, sizeof(json), "{\"age\":0,\"jobs\":[%s]}",
                       lists[i].job != NULL ? lists[i].job : "");
        CHECK_CODE(lks_sched_jobs_read(lks_str_from(json), &jobs, &err), LKS_OK);
        CHECK_CODE(lks_sched_jobs_read(LKS_STR("{\"age\":0,\"jobs\":[" RUNS("running", "500") "]}"),
                                       &first, &err),
                   LKS_OK);
        lks_sched_jobs_came(&jobs, lists[i].listed);
        if (lists[i].before != '-')
            CHECK_INT(lks_job_acts_does(&book, &due, &first, true, 1000), LKS_JOB_SEND);
        if (lists[i].before == 'u')
            lks_job_acts_ended(&book, &due, true, 1000);
        if (lists[i].before == 'm')
            lks_job_acts_missing(&book, &due, "job 17: Invalid job id specified", 1000);
        CHECK_INT(lks_job_acts_does(&book, &due, &jobs, lists[i].fresh, lists[i].wall),
                  lists[i].does);
        if (lists[i].does == LKS_JOB_DENIED)
            CHECK_STR(lks_str_from(lks_job_acts_why(&book, &due)),
                      "job 17: Invalid job id specified");
        if (lists[i].does == LKS_JOB_SEND) /* and it was sent with that */
            CHECK_INT(lks_job_acts_does(&book, &due, &jobs, true, lists[i].wall), LKS_JOB_WAIT);
    }
}

/* A request that waited for its turn has its whole time from when it left. */
static void left_late(void)
{
    LKS_CLEANUP(lks_sched_jobs_fini) struct lks_sched_jobs jobs = {0};
    LKS_CLEANUP(lks_job_acts_fini) struct lks_job_book book = {0};
    const struct lks_job_due due = {
        .change = 1, .job = LKS_STR("17"), .act = LKS_JOB_REQUEUE, .started = 500};
    struct lks_err err = {0};
    CHECK_CODE(lks_sched_jobs_read(LKS_STR("{\"age\":0,\"jobs\":[" RUNS("running", "500") "]}"),
                                   &jobs, &err),
               LKS_OK);
    lks_sched_jobs_came(&jobs, 1000);
    CHECK_INT(lks_job_acts_does(&book, &due, &jobs, true, 1000), LKS_JOB_SEND);
    lks_job_acts_leaves(&book, &due, 1000 + LKS_JOB_ACTS_ASKED);
    CHECK_INT(lks_job_acts_does(&book, &due, &jobs, false, 1001 + LKS_JOB_ACTS_ASKED),
              LKS_JOB_WAIT);
    CHECK_INT(lks_job_acts_does(&book, &due, &jobs, false, 1000 + 2 * LKS_JOB_ACTS_ASKED),
              LKS_JOB_SEND);
}

/* How long an act without an answer stays open at least, and what is forgotten with it. */
static void old(void)
{
    LKS_CLEANUP(lks_sched_jobs_fini) struct lks_sched_jobs jobs = {0};
    LKS_CLEANUP(lks_job_acts_fini) struct lks_job_book book = {0};
    struct lks_asked a;
    const struct lks_job_due due = {
        .change = 1, .job = LKS_STR("17"), .act = LKS_JOB_REQUEUE, .started = 500, .asked = 1000};
    const lks_ms end = 1000 + LKS_JOB_ACTS_OPEN;
    struct lks_err err = {0};
    CHECK_CODE(lks_sched_jobs_read(LKS_STR("{\"age\":0,\"jobs\":[" RUNS("running", "500") "]}"),
                                   &jobs, &err),
               LKS_OK);
    lks_sched_jobs_came(&jobs, 1000);
    CHECK(!lks_job_acts_old(&book, &due, end - 1));
    CHECK(lks_job_acts_old(&book, &due, end));
    CHECK_INT(lks_job_acts_does(&book, &due, &jobs, true, end), LKS_JOB_SEND);
    CHECK(!lks_job_acts_old(&book, &due, end + LKS_JOB_ACTS_ASKED - 1)); /* an answer may come */
    CHECK(lks_job_acts_old(&book, &due, end + LKS_JOB_ACTS_ASKED));
    CHECK_INT(book.count, 1);
    lks_asked_init(&a); /* a state in which no act is open */
    lks_job_acts_sweep(&book, &a.state);
    CHECK_INT(book.count, 0);
    lks_asked_fini(&a);
}

/* Which of the listed jobs of a node an event names. */
static void listed(void)
{
    LKS_CLEANUP(lks_sched_jobs_fini) struct lks_sched_jobs jobs = {0};
    struct lks_event_job list[2];
    struct lks_err err = {0};
    CHECK_CODE(lks_sched_jobs_read(LKS_STR("{\"age\":0,\"jobs\":[" RUNS("running", "500") "," RUNS(
                                       "completing", "600") "]}"),
                                   &jobs, &err),
               LKS_OK);
    CHECK_INT(lks_job_acts_on(&jobs, LKS_STR("n1"), list, 2), 1);
    CHECK_STR(list[0].id, "17");
    CHECK_STR(list[0].user, "ada");
    CHECK_INT(list[0].started, 500);
    CHECK(list[0].requeue);
    CHECK_INT(lks_job_acts_on(&jobs, LKS_STR("n1"), list, 0), 0);
    CHECK_INT(lks_job_acts_on(&jobs, LKS_STR("n2"), list, 2), 0);
}

/* A heterogeneous job is one, by the id that its components share: Slurm requeues it as a whole,
 * and refuses to requeue a component. */
static const struct {
    const char *name, *jobs, *node;
    const char *is; /* the id for the event; NULL: the job is not touched */
    lks_ms started;
    bool requeue;
} wholes[] = {
    {"the first component",
     PART("0", "n1", "running", "500", "true") "," PART("1", "n2", "running", "501", "true"), "n1",
     "17", 500, true},
    {"another component",
     PART("0", "n1", "running", "500", "true") "," PART("1", "n2", "running", "501", "true"), "n2",
     "17", 500, true},
    {"both on one node",
     PART("0", "n1", "running", "500", "true") "," PART("1", "n1", "running", "501", "true"), "n1",
     "17", 500, true},
    {"another component may not be requeued",
     PART("0", "n1", "running", "500", "true") "," PART("7", "n2", "running", "500", "false"), "n1",
     "17", 500, false},
    {"another component ends",
     PART("0", "n1", "running", "500", "true") "," PART("1", "n2", "completing", "500", "true"),
     "n1", NULL, 0, false},
    {"the nodes of another component cannot be read",
     PART("0", "n1", "running", "500", "true") "," PART("1", "n[", "running", "500", "true"), "n1",
     NULL, 0, false},
    {"the first component is not listed", PART("1", "n2", "running", "500", "true"), "n2", NULL, 0,
     false},
};

static void heterogeneous(void)
{
    for (size_t i = 0; i < LKS_COUNT(wholes); i++) {
        LKS_CLEANUP(lks_sched_jobs_fini) struct lks_sched_jobs jobs = {0};
        struct lks_event_job list[4];
        struct lks_err err = {0};
        char json[512];
        lks_test_case("%s", wholes[i].name);
        (void)snprintf(json, sizeof(json), "{\"age\":0,\"jobs\":[%s]}", wholes[i].jobs);
        CHECK_CODE(lks_sched_jobs_read(lks_str_from(json), &jobs, &err), LKS_OK);
        size_t count = lks_job_acts_on(&jobs, lks_str_from(wholes[i].node), list, LKS_COUNT(list));
        CHECK_INT(count, wholes[i].is != NULL);
        if (count != 1 || wholes[i].is == NULL)
            continue;
        CHECK_STR(list[0].id, wholes[i].is);
        CHECK_INT(list[0].started, wholes[i].started);
        CHECK_INT(list[0].requeue, wholes[i].requeue);
    }
}

/* A list of jobs that does not come while drains wait for it: what happens one after the other, and
 * the alarm after it. */
enum lists_do { NO_LIST, A_LIST, NO_DRAIN, NEW_LEADER };

static const struct {
    const char *name;
    enum lists_do does;
    lks_ms after; /* this long after the row before */
    bool open;    /* then there is an alarm */
} late_lists[] = {
    {"the first failure", NO_LIST, 1, false},
    {"not for long", NO_LIST, LKS_CAMPAIGN_JOBS_UNLISTED - 2, false},
    {"for five minutes", NO_LIST, 2, true},
    {"still", NO_LIST, MINUTE, true},
    {"another controller knows no list", NEW_LEADER, MINUTE, true},
    {"a list", A_LIST, 1, false},
    {"failures again", NO_LIST, 1, false},
    {"for five minutes again", NO_LIST, LKS_CAMPAIGN_JOBS_UNLISTED, true},
    {"no drain waits for it", NO_DRAIN, 1, false},
    {"and none does later", NO_LIST, LKS_CAMPAIGN_JOBS_UNLISTED, false},
};

static void look_at_alarm(struct scene *s, const struct lks_sched_sites *sites, lks_ms mono,
                          bool open)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {.max = 1 << 16};
    const struct lks_now now = {.wall = s->w.a.now.wall, .mono = mono};
    struct lks_event e = {.kind = LKS_EVENT_SCHED_ALARM};
    if (lks_campaign_jobs_alarm(sites, &s->w.a.state, now, 1, &arena, &e.sched_alarm))
        campaign_event(&s->w, &e);
    CHECK(!lks_campaign_jobs_alarm(sites, &s->w.a.state, now, 1, &arena, &e.sched_alarm));
    uint32_t at = 0;
    struct lks_str subject = {0};
    CHECK_INT(lks_sched_alarm_next(&s->w.a.state, LKS_ALARM_BRIDGE, &at, &subject), open);
    if (open)
        CHECK(lks_str_starts(subject, "simulated at "));
}

static void no_list(void)
{
    struct scene s = {.jobs = {{.id = "17", .nodes = {"n1"}, .requeue = true}}, .count = 1};
    struct lks_sched_sites sites = {0};
    struct lks_err err = {0};
    lks_ms mono = HOUR;
    start(&s, (struct campaign_plan){.nodes = 1, .requeues = true});
    campaign_settle(&s.w);
    const struct lks_state *state = &s.w.a.state;
    const struct lks_node *n = &state->nodes[lks_state_node(state, LKS_STR("n1"))];
    struct lks_str site = lks_state_text(state, n->site), sched = LKS_STR("simulated");
    for (size_t i = 0; i < LKS_COUNT(late_lists); i++) {
        struct lks_sched_jobs jobs = {0};
        lks_test_case("%s", late_lists[i].name);
        s.w.a.now.wall += late_lists[i].after;
        mono += late_lists[i].after;
        const struct lks_now now = {.wall = s.w.a.now.wall, .mono = mono};
        if (late_lists[i].does == NEW_LEADER)
            lks_sched_sites_fini(&sites);
        CHECK_CODE(lks_sched_sites_ask(&sites, site, sched, mono, &err), LKS_OK);
        if (late_lists[i].does == NO_LIST)
            lks_sched_sites_failed(&sites, site, sched, "it is cut off", now, 1);
        if (late_lists[i].does == A_LIST) {
            CHECK_CODE(lks_sched_jobs_read(LKS_STR("{\"age\":0,\"jobs\":[]}"), &jobs, &err),
                       LKS_OK);
            lks_sched_sites_listed(&sites, site, sched, &jobs, now, 1);
        }
        if (late_lists[i].does == NO_DRAIN)
            s.w.a.state.nodes[lks_state_node(state, LKS_STR("n1"))].drained_by = 0;
        look_at_alarm(&s, &sites, mono, late_lists[i].open);
    }
    lks_sched_sites_fini(&sites);
    campaign_end(&s.w);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"one job", one_job},
        {"the grace", grace},
        {"a scheduler without signals", evicted},
        {"which jobs are listed", lists_wanted},
        {"a change that is halted", halted},
        {"over waves", over_waves},
        {"lost answers", lost_answers},
        {"strays", strays},
        {"requests", requests},
        {"jobs: a request that left late", left_late},
        {"listed", listed},
        {"no list", no_list},
        {"acts without an answer", closed},
        {"acts that are old", old},
        {"heterogeneous jobs", heterogeneous},
        {NULL, NULL},
    });
}
