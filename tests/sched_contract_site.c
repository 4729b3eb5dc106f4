/* The contract of schedulers: requests about a whole site. */
#include "core/sched/jobs.h"
#include "tests/sched_contract.h"
#include "tests/test.h"
#include "tests/wait.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define SHOWN "lks-0123456789ab,lks-conform" /* in order, as a driver gives them back */
#define NOTE  "the node runs its stack"

static const struct {
    const char *name;
    enum scene scene;
    enum lks_sched_site_verb verb;
    const char *job;       /* '#' is the side's own, '-' one that is not there */
    uint64_t first, epoch; /* of the leader before, 0: there was none; and of this one */
    enum lks_code code;
    const char *text;
    int later; /* seconds: the run that is meant started so much later than the one that is there */
} rows[] = {
    {"jobs are listed", BUSY, LKS_SCHED_SITE_JOBS, "", 0, 8, LKS_OK, "", 0},
    {"a job gets a signal", BUSY, LKS_SCHED_SITE_SIGNAL, "#", 0, 8, LKS_OK, "", 0},
    {"a job that is not there gets none", IDLE, LKS_SCHED_SITE_SIGNAL, "-", 0, 8, LKS_E_NOT_FOUND,
     "", 0},
    {"a job is requeued", BUSY, LKS_SCHED_SITE_REQUEUE, "#", 0, 8, LKS_OK, "", 0},
    {"a job that is not there is not requeued", IDLE, LKS_SCHED_SITE_REQUEUE, "-", 0, 8,
     LKS_E_NOT_FOUND, "", 0},
    {"a run gets no signal for one before", BUSY, LKS_SCHED_SITE_SIGNAL, "#", 0, 8, LKS_E_NOT_FOUND,
     " has ended", -60},
    {"a run is not requeued for one before", BUSY, LKS_SCHED_SITE_REQUEUE, "#", 0, 8,
     LKS_E_NOT_FOUND, " has ended", -60},
    {"nor for one that came later", BUSY, LKS_SCHED_SITE_REQUEUE, "#", 0, 8, LKS_E_NOT_FOUND,
     " has ended", 60},
    {"verdicts are shown", IDLE, LKS_SCHED_SITE_PUBLISH, "", 0, 8, LKS_OK, "", 0},
    {"reservations are listed", IDLE, LKS_SCHED_SITE_RESERVATIONS, "", 0, 8, LKS_OK, "", 0},
    {"a node is reserved, with a job on it", BUSY, LKS_SCHED_SITE_RESERVE, "", 0, 8, LKS_OK, "", 0},
    {"a reservation that is not there ends", IDLE, LKS_SCHED_SITE_UNRESERVE, "", 0, 8, LKS_OK, "",
     0},
    {"a leader leads", IDLE, LKS_SCHED_SITE_LEAD, "", 8, 9, LKS_OK, "", 0},
    {"an older leader does not", IDLE, LKS_SCHED_SITE_LEAD, "", 9, 8, LKS_E_REFUSED, "epoch 9", 0},
    {"nor signals a job", BUSY, LKS_SCHED_SITE_SIGNAL, "#", 9, 8, LKS_E_REFUSED, "epoch 9", 0},
    {"nor requeues it", BUSY, LKS_SCHED_SITE_REQUEUE, "#", 9, 8, LKS_E_REFUSED, "epoch 9", 0},
    {"nor reserves nodes", IDLE, LKS_SCHED_SITE_RESERVE, "", 9, 8, LKS_E_REFUSED, "epoch 9", 0},
    {"nor ends a reservation", IDLE, LKS_SCHED_SITE_UNRESERVE, "", 9, 8, LKS_E_REFUSED, "epoch 9",
     0},
    {"nor shows verdicts", IDLE, LKS_SCHED_SITE_PUBLISH, "", 9, 8, LKS_E_REFUSED, "epoch 9", 0},
};

/* The list has the node as it was reserved; then it ends, and the list has none. */
static void check_reserved(struct contract_rig *r, const struct lks_sched_site_wish *wish)
{
    struct lks_sched_site_wish list = *wish, end = *wish;
    list.verb = LKS_SCHED_SITE_RESERVATIONS;
    end.verb = LKS_SCHED_SITE_UNRESERVE;
    CHECK_CODE(contract_ask_site(r, &list), LKS_OK);
    const struct lks_sched_reservation *is =
        lks_sched_reservations_find(wish->listed, wish->reservation.name);
    if (CHECK(is != NULL))
        CHECK(lks_sched_reservations_alike(is, &wish->reservation, 0));
    CHECK(r->side->truth(r->model).busy);
    lks_sched_reservations_fini(wish->listed);
    CHECK_CODE(contract_ask_site(r, &end), LKS_OK);
    CHECK_CODE(contract_ask_site(r, &list), LKS_OK);
    CHECK_INT(wish->listed->count, 0);
}

/* What became of it, by the scheduler's own state. */
static void check_site(struct contract_rig *r, size_t row, const struct lks_sched_site_wish *wish)
{
    struct lks_sched_jobs_at at = {0};
    const struct lks_sched_job *job = NULL;
    if (rows[row].verb == LKS_SCHED_SITE_JOBS) {
        job = lks_sched_jobs_on(wish->jobs, lks_str_from(r->side->node(r->model)), &at);
        if (CHECK(job != NULL))
            CHECK(lks_str_starts(job->id, r->side->job));
    }
    if (rows[row].verb == LKS_SCHED_SITE_REQUEUE) {
        for (struct lks_wait w = {0}; r->side->truth(r->model).busy && lks_wait(&w);) {
        }
        CHECK(!r->side->truth(r->model).busy);
        lks_test_case("%s: %s, and asked again", r->side->name, rows[row].name);
        CHECK_CODE(contract_ask_site(r, wish), LKS_E_NOT_FOUND);
        CHECK_HAS(lks_str_from(r->err.msg), " has ended");
    }
    if (rows[row].verb == LKS_SCHED_SITE_RESERVE)
        check_reserved(r, wish);
    if (rows[row].verb == LKS_SCHED_SITE_RESERVATIONS)
        CHECK_INT(wish->listed->count, 0);
    if (rows[row].verb == LKS_SCHED_SITE_PUBLISH) {
        CHECK_STR(lks_str_from(wish->told[0].why), "");
        CHECK(wish->told[1].why[0] != '\0');
        CHECK_CODE(contract_ask(r, LKS_SCHED_LOOK, OURS), LKS_OK);
        CHECK_STR(lks_str_from(r->said.truth.features), SHOWN);
        CHECK_STR(lks_str_from(r->said.truth.note), r->said.noted ? NOTE : "");
    }
}

/* How the driver refuses the verb; NULL: it does not. */
static const char *refusal_of(const struct contract_side *side, enum lks_sched_site_verb verb)
{
    return side->site_refused != NULL ? side->site_refused : side->refuses[verb];
}

struct run {
    char id[LKS_SCHED_JOBS_ID_MAX + 1];
    lks_ms started;
};

/* The run of the side's own job, as the list has it. */
static void read_run(struct contract_rig *r, lks_ms deadline, struct run *out)
{
    struct lks_sched_jobs jobs = {0};
    struct lks_sched_jobs_at at = {0};
    const struct lks_sched_site_wish list = {.verb = LKS_SCHED_SITE_JOBS,
                                             .jobs = &jobs,
                                             .login = contract_wish(r, LKS_SCHED_LOOK, "").login,
                                             .deadline = deadline};
    *out = (struct run){.started = NOW};
    if (CHECK_CODE(contract_ask_site(r, &list), LKS_OK)) {
        const struct lks_sched_job *job =
            lks_sched_jobs_on(&jobs, lks_str_from(r->side->node(r->model)), &at);
        if (CHECK(job != NULL) && CHECK(job->started > 0)) {
            CHECK(lks_str_starts(job->id, r->side->job));
            (void)snprintf(out->id, sizeof(out->id), "%" LKS_STR_FMT, LKS_STR_ARG(job->id));
            out->started = job->started;
        }
    }
    lks_sched_jobs_fini(&jobs);
}

/* What a row is about, in the side's words. */
static void name_run(struct contract_rig *r, size_t row, lks_ms deadline, struct run *out)
{
    bool own = strcmp(rows[row].job, "#") == 0, none = strcmp(rows[row].job, "-") == 0;
    const char *no_job = r->side->no_job != NULL ? r->side->no_job : CONTRACT_NO_JOB;
    *out = (struct run){.started = NOW};
    if (own && refusal_of(r->side, rows[row].verb) == NULL)
        read_run(r, deadline, out);
    else
        (void)snprintf(out->id, sizeof(out->id), "%s", own ? r->side->job : none ? no_job : "");
    out->started += (uint64_t)rows[row].later * LKS_SECOND;
}

static void check_answer(struct contract_rig *r, size_t row, const struct lks_sched_site_wish *wish)
{
    const char *refused = refusal_of(r->side, rows[row].verb);
    CHECK_CODE(contract_ask_site(r, wish), refused != NULL ? LKS_E_REFUSED : rows[row].code);
    CHECK_HAS(lks_str_from(r->err.msg), refused != NULL ? refused : rows[row].text);
    if (refused == NULL && strcmp(rows[row].job, "-") == 0) {
        char begins[LKS_SCHED_JOBS_ID_MAX + 16];
        (void)snprintf(begins, sizeof(begins), "job %" LKS_STR_FMT ": ", LKS_STR_ARG(wish->job));
        CHECK(lks_str_starts(lks_str_from(r->err.msg), begins));
    }
    if (r->err.code == LKS_OK)
        check_site(r, row, wish);
    else
        CHECK_INT(r->side->truth(r->model).busy, rows[row].scene == BUSY);
}

/* The node is drained, so that a job that is requeued does not start there again. */
static void try_site(const struct contract_side *side, size_t row)
{
    struct lks_sched_jobs jobs = {0};
    struct lks_sched_reservations listed = {0};
    struct contract_rig r;
    struct run run;
    lks_ms soon = ((lks_ms)time(NULL) + 3600) * LKS_SECOND; /* the scheduler's time is no model's */
    lks_test_case("%s: %s", side->name, rows[row].name);
    contract_rig_init(&r, side, rows[row].scene);
    struct lks_sched_told told[] = {
        {.node = lks_str_from(side->node(r.model)), .truth = {.features = SHOWN, .note = NOTE}},
        {.node = LKS_STR("g9"), .truth = {.features = SHOWN, .note = NOTE}}};
    struct lks_sched_wish drain = contract_wish(&r, LKS_SCHED_DRAIN, OURS);
    drain.epoch = rows[row].first;
    CHECK_CODE(contract_ask_wish(&r, &drain), LKS_OK);
    name_run(&r, row, drain.deadline, &run);
    struct lks_sched_site_wish wish = {
        .verb = rows[row].verb,
        .job = lks_str_from(run.id),
        .node = drain.node,
        .started = run.started,
        .signal = LKS_STR("USR1"),
        .jobs = &jobs,
        .listed = &listed,
        .reservation = {.nodes = lks_str_from(side->node(r.model)),
                        .from = soon,
                        .until = soon + 600 * LKS_SECOND},
        .told = told,
        .told_count = rows[row].verb == LKS_SCHED_SITE_PUBLISH ? LKS_COUNT(told) : 0,
        .epoch = rows[row].epoch,
        .login = drain.login,
        .deadline = drain.deadline};
    if (wish.verb == LKS_SCHED_SITE_RESERVE || wish.verb == LKS_SCHED_SITE_UNRESERVE)
        wish.reservation.name = LKS_STR("lockstep_change_17+train+oslo");
    check_answer(&r, row, &wish);
    lks_sched_jobs_fini(&jobs);
    lks_sched_reservations_fini(&listed);
    contract_rig_fini(&r);
}

/* What is about neither jobs nor the leader. */
static bool is_more(enum lks_sched_site_verb verb)
{
    return verb == LKS_SCHED_SITE_PUBLISH || verb == LKS_SCHED_SITE_RESERVATIONS ||
           verb == LKS_SCHED_SITE_RESERVE || verb == LKS_SCHED_SITE_UNRESERVE;
}

void contract_site(void)
{
    const struct contract_side *side;
    for (size_t i = 0; (side = contract_side(i)) != NULL; i++) {
        const char *why = side->no_site;
        lks_test_case("%s", side->name);
        if (!contract_applies(side, "a whole site", why != NULL ? why : side->no_writes))
            continue;
        for (size_t row = 0; row < LKS_COUNT(rows); row++) {
            if (side->only_jobs == NULL || !is_more(rows[row].verb) ||
                contract_applies(side, rows[row].name, side->only_jobs))
                try_site(side, row);
        }
    }
}

/* Kills ------------------------------------------------------------------------------------- */

static void settle(struct contract_rig *r, enum contract_kill next)
{
    if (r->side->settle != NULL)
        r->side->settle(r->model, next);
}

static bool is_open(const struct contract_side *side, enum lks_code code)
{
    return code == LKS_E_UNAVAILABLE || code == LKS_E_TIMEOUT ||
           (side->denies && code == LKS_E_DENIED);
}

/* Asked until there is an answer, the job is listed; and it is requeued once, by one of the
 * requests, or by one whose answer was lost. */
static void try_kill(const struct contract_side *side, bool requeues, enum contract_kill kill,
                     unsigned at)
{
    struct lks_sched_jobs jobs = {0};
    struct contract_rig r;
    struct run run;
    lks_test_case("%s: %s, kill %d at request %u", side->name, requeues ? "requeue" : "jobs",
                  (int)kill, at);
    contract_rig_init(&r, side, BUSY);
    struct lks_sched_wish drain = contract_wish(&r, LKS_SCHED_DRAIN, OURS);
    CHECK_CODE(contract_ask_wish(&r, &drain), LKS_OK);
    read_run(&r, drain.deadline, &run);
    struct lks_sched_site_wish wish = {.verb =
                                           requeues ? LKS_SCHED_SITE_REQUEUE : LKS_SCHED_SITE_JOBS,
                                       .job = lks_str_from(run.id),
                                       .node = drain.node,
                                       .started = run.started,
                                       .jobs = &jobs,
                                       .login = drain.login};
    settle(&r, kill);
    r.kill = kill;
    r.at = at;
    wish.deadline = r.now + LKS_SCHED_DEADLINE;
    enum lks_code code = contract_ask_site(&r, &wish);
    CHECK(code == LKS_OK || is_open(side, code) || (requeues && code == LKS_E_NOT_FOUND));
    r.kill = KILL_NOTHING;
    settle(&r, KILL_NOTHING);
    wish.deadline = r.now + LKS_SCHED_DEADLINE;
    lks_sched_jobs_fini(&jobs);
    code = contract_ask_site(&r, &wish);
    CHECK(code == LKS_OK || (requeues && code == LKS_E_NOT_FOUND));
    for (struct lks_wait w = {0}; requeues && side->truth(r.model).busy && lks_wait(&w);) {
    }
    CHECK_INT(side->truth(r.model).busy, !requeues);
    CHECK_INT(jobs.count, !requeues);
    lks_sched_jobs_fini(&jobs);
    contract_rig_fini(&r);
}

void contract_site_kills(void)
{
    const struct contract_side *side;
    for (size_t i = 0; (side = contract_side(i)) != NULL; i++) {
        lks_test_case("%s", side->name);
        if (!contract_applies(side, "kills at requests about jobs",
                              side->site_kills_at > 0 ? NULL : "a job takes long to start"))
            continue;
        for (unsigned kill = KILL_BRIDGE; kill < KILLS; kill++) {
            try_kill(side, false, (enum contract_kill)kill, 1);
            try_kill(side, true, (enum contract_kill)kill, side->site_kills_at);
        }
    }
}
