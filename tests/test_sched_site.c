/*
 * Conversations about a whole site: which request each verb is, and what follows from each answer.
 */
#include "core/sched/jobs.h"
#include "drivers/sched/sched_drivers.h"
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOW         UINT64_C(1763200000000)
#define ANSWERS_MAX 8

/* One that came, or none (status 0). */
struct answer {
    int status;
    const char *body;
};

#define JOBS_17                                                                                    \
    "{\"age\":20,\"jobs\":[{\"id\":\"17\",\"nodes\":\"g1\",\"started\":1,\"ends\":null,"           \
    "\"gpus\":null,\"requeue\":true}]}"
#define ERROR(text) "{\"error\":\"" text "\"}"

static const struct {
    const char *name;
    enum lks_sched_site_verb verb;
    const char *signal;
    struct answer answers[ANSWERS_MAX]; /* then none comes any more */
    enum lks_code code;
    const char *message; /* NULL: it ends well */
    unsigned requests;   /* that are sent */
} cases[] = {
    {"a list", LKS_SCHED_SITE_JOBS, NULL, {{200, JOBS_17}}, LKS_OK, NULL, 1},
    {"a list at the second try",
     LKS_SCHED_SITE_JOBS,
     NULL,
     {{504, ERROR("slow")}, {0, NULL}, {503, "{}"}, {200, JOBS_17}},
     LKS_OK,
     NULL,
     4},
    {"a bridge that fails says why",
     LKS_SCHED_SITE_JOBS,
     NULL,
     {{503, ERROR("a")},
      {503, ERROR("b")},
      {503, ERROR("c")},
      {503, ERROR("d")},
      {503, ERROR("e")},
      {503, ERROR("slurmctld is away")}},
     LKS_E_UNAVAILABLE,
     "no good answer in 6 tries; the last: slurmctld is away",
     6},
    {"half a list",
     LKS_SCHED_SITE_JOBS,
     NULL,
     {{200, "{\"age\":1,\"jobs\":["}},
     LKS_E_INVALID,
     "cut off",
     1},
    {"a bridge of before",
     LKS_SCHED_SITE_JOBS,
     NULL,
     {{404, ERROR("nothing at /v1/jobs")}},
     LKS_E_NOT_FOUND,
     "nothing at /v1/jobs",
     1},
    {"not allowed",
     LKS_SCHED_SITE_JOBS,
     NULL,
     {{403, ERROR("this user may not")}},
     LKS_E_DENIED,
     "this user may not",
     1},
    {"no text", LKS_SCHED_SITE_JOBS, NULL, {{400, "<html>"}}, LKS_E_REFUSED, "HTTP status 400", 1},
    {"the epoch", LKS_SCHED_SITE_LEAD, NULL, {{0, NULL}, {200, "{\"epoch\":8}"}}, LKS_OK, NULL, 2},
    {"the epoch of a later leader",
     LKS_SCHED_SITE_LEAD,
     NULL,
     {{409, "{\"error\":\"later\",\"epoch\":9}"}},
     LKS_E_REFUSED,
     "a controller with epoch 9",
     1},
    {"verdicts",
     LKS_SCHED_SITE_PUBLISH,
     NULL,
     {{200, "{\"failed\":[],\"shown\":3}"}},
     LKS_OK,
     NULL,
     1},
    {"verdicts are sent again",
     LKS_SCHED_SITE_PUBLISH,
     NULL,
     {{504, ERROR("late")}, {0, NULL}, {200, "{\"failed\":[]}"}},
     LKS_OK,
     NULL,
     3},
    {"an answer that says nothing of nodes",
     LKS_SCHED_SITE_PUBLISH,
     NULL,
     {{200, "{}"}},
     LKS_E_INVALID,
     "which nodes failed",
     1},
    {"reservations",
     LKS_SCHED_SITE_RESERVATIONS,
     NULL,
     {{0, NULL}, {200, "{\"age\":20,\"reservations\":[]}"}},
     LKS_OK,
     NULL,
     2},
    {"reservations of an old reading",
     LKS_SCHED_SITE_RESERVATIONS,
     NULL,
     {{200, "{\"age\":61000,\"reservations\":[]}"}},
     LKS_E_UNAVAILABLE,
     "is 61 s old",
     1},
    {"reservations of a bridge of before",
     LKS_SCHED_SITE_RESERVATIONS,
     NULL,
     {{404, ERROR("nothing at /v1/reservations")}},
     LKS_E_NOT_FOUND,
     "nothing at /v1/reservations",
     1},
    {"a reservation",
     LKS_SCHED_SITE_RESERVE,
     NULL,
     {{504, ERROR("slow")}, {200, "{\"reservations\":[]}"}},
     LKS_OK,
     NULL,
     2},
    {"a reservation that is refused",
     LKS_SCHED_SITE_RESERVE,
     NULL,
     {{409, ERROR("cannot create the reservation: overlap")}},
     LKS_E_REFUSED,
     "reservation lockstep_change_17+train+oslo: cannot create the reservation: overlap",
     1},
    {"a reservation by an older leader",
     LKS_SCHED_SITE_RESERVE,
     NULL,
     {{409, "{\"error\":\"later\",\"epoch\":9}"}},
     LKS_E_REFUSED,
     "a controller with epoch 9",
     1},
    {"the end of a reservation",
     LKS_SCHED_SITE_UNRESERVE,
     NULL,
     {{0, NULL}, {200, "{\"reservations\":[]}"}},
     LKS_OK,
     NULL,
     2},
    {"runs that ended",
     LKS_SCHED_SITE_RUNS,
     NULL,
     {{0, NULL}, {200, "{\"age\":20,\"from\":1,\"until\":9,\"more\":false,\"runs\":[]}"}},
     LKS_OK,
     NULL,
     2},
    {"runs of an old reading",
     LKS_SCHED_SITE_RUNS,
     NULL,
     {{200, "{\"age\":61000,\"from\":1,\"until\":9,\"more\":false,\"runs\":[]}"}},
     LKS_E_UNAVAILABLE,
     "is 61 s old",
     1},
    {"runs of a bridge of before",
     LKS_SCHED_SITE_RUNS,
     NULL,
     {{404, ERROR("nothing at /v1/runs")}},
     LKS_E_NOT_FOUND,
     "nothing at /v1/runs",
     1},
    {"a policy",
     LKS_SCHED_SITE_POLICY,
     NULL,
     {{0, NULL}, {200, "{\"written\":true}"}},
     LKS_OK,
     NULL,
     2},
    {"a policy that may be written or not",
     LKS_SCHED_SITE_POLICY,
     NULL,
     {{200, "{}"}},
     LKS_E_INVALID,
     "whether it was written",
     1},
    {"a signal", LKS_SCHED_SITE_SIGNAL, "USR1", {{200, "{\"id\":\"17\"}"}}, LKS_OK, NULL, 1},
    {"a signal that has no answer is not sent again",
     LKS_SCHED_SITE_SIGNAL,
     "USR1",
     {{0, NULL}, {200, "{}"}},
     LKS_E_TIMEOUT,
     "job 17: the outcome is unknown: no answer",
     1},
    {"nor one whose outcome the bridge does not know",
     LKS_SCHED_SITE_SIGNAL,
     "TERM",
     {{504, ERROR("slurmctld did not answer")}, {200, "{}"}},
     LKS_E_TIMEOUT,
     "unknown: slurmctld did not answer",
     1},
    {"one that a busy bridge did not send is",
     LKS_SCHED_SITE_SIGNAL,
     "HUP",
     {{503, ERROR("busy")}, {429, ERROR("busy")}, {200, "{}"}},
     LKS_OK,
     NULL,
     3},
    {"a job that is gone",
     LKS_SCHED_SITE_REQUEUE,
     NULL,
     {{404, ERROR("Invalid job id")}},
     LKS_E_NOT_FOUND,
     "job 17: Invalid job id",
     1},
    {"a job that may not be requeued",
     LKS_SCHED_SITE_REQUEUE,
     NULL,
     {{409, ERROR("Job requeue disabled")}},
     LKS_E_REFUSED,
     "Job requeue disabled",
     1},
    {"a job of which another run is there",
     LKS_SCHED_SITE_REQUEUE,
     NULL,
     {{409, "{\"error\":\"another started\",\"started\":1763200001000}"}},
     LKS_E_NOT_FOUND,
     "job 17: another started",
     1},
    {"a job whose run is over gets no signal",
     LKS_SCHED_SITE_SIGNAL,
     "USR1",
     {{409, "{\"error\":\"the run has ended\",\"started\":null}"}},
     LKS_E_NOT_FOUND,
     "job 17: the run has ended",
     1},
    {"another controller leads",
     LKS_SCHED_SITE_REQUEUE,
     NULL,
     {{409, "{\"error\":\"later\",\"epoch\":9}"}},
     LKS_E_REFUSED,
     "a controller with epoch 9",
     1},
    {"our own epoch is no other",
     LKS_SCHED_SITE_REQUEUE,
     NULL,
     {{409, "{\"error\":\"held\",\"epoch\":8}"}},
     LKS_E_REFUSED,
     "job 17: held",
     1},
};

/* Converse to the end; how many requests were sent. */
static unsigned converse(void *value, const struct answer *answers, struct lks_err *err,
                         struct lks_buf *first)
{
    const struct lks_conversation_ops *ops = lks_sched_bridge.site_talk;
    LKS_CLEANUP(lks_conversation_talk_fini) struct lks_talk talk = {0};
    lks_ms now = NOW;
    unsigned sent = 0;
    lks_conversation_talk_init(&talk);
    for (;;) {
        lks_conversation_next(ops, value, now, &talk);
        if (talk.kind == LKS_TALK_DONE || talk.kind == LKS_TALK_FAIL)
            break;
        now = talk.kind == LKS_TALK_WAIT ? talk.until : now + 1;
        if (talk.kind == LKS_TALK_WAIT)
            continue;
        if (sent == 0)
            lks_buf_addf(first, "%s %s\n%s%s", talk.request.method, talk.request.path.ptr,
                         talk.request.head.len > 0 ? talk.request.head.ptr : "",
                         talk.request.body.len > 0 ? talk.request.body.ptr : "");
        const struct answer *a = sent < ANSWERS_MAX ? &answers[sent] : &(struct answer){0};
        struct lks_http_response response = {.status = a->status,
                                             .body = lks_str_from(a->body != NULL ? a->body : "")};
        sent++;
        lks_conversation_feed(ops, value, now, a->status != 0 ? &response : NULL);
    }
    *err = talk.err;
    return sent;
}

/* Three nodes, of two truths. */
static struct lks_sched_told told[] = {
    {.node = LKS_STR_C("g1"), .truth = {"lks-1,lks-conform", "sha256:1", ""}},
    {.node = LKS_STR_C("g3"), .truth = {"lks-1,lks-drift", "sha256:1", ""}},
    {.node = LKS_STR_C("g2"), .truth = {"lks-1,lks-conform", "sha256:1", ""}},
};

/* Where a list of reservations is put. */
static struct lks_sched_reservations listed;
static struct lks_sched_runs runs;

static struct lks_sched_site_wish wish_of(size_t i, struct lks_sched_jobs *jobs)
{
    lks_sched_reservations_fini(&listed);
    lks_sched_runs_fini(&runs);
    return (struct lks_sched_site_wish){
        .verb = cases[i].verb,
        .job = lks_str_from(
            cases[i].verb == LKS_SCHED_SITE_SIGNAL || cases[i].verb == LKS_SCHED_SITE_REQUEUE ? "17"
                                                                                              : ""),
        .signal = lks_str_from(cases[i].signal != NULL ? cases[i].signal : ""),
        .started = NOW,
        .batch = true,
        .jobs = jobs,
        .listed = &listed,
        .policy = LKS_STR("{\"policy\":{}}"),
        .after = {1763200000000, LKS_STR("17+1")},
        .runs = &runs,
        .reservation = {.name = lks_str_from(cases[i].verb == LKS_SCHED_SITE_RESERVE ||
                                                     cases[i].verb == LKS_SCHED_SITE_UNRESERVE
                                                 ? "lockstep_change_17+train+oslo"
                                                 : ""),
                        .nodes = LKS_STR("g[1-2]"),
                        .from = NOW,
                        .until = NOW + LKS_SECOND},
        .told = told,
        .told_count = LKS_COUNT(told),
        .epoch = 8,
        .deadline = NOW + LKS_SCHED_DEADLINE};
}

static void test_answers(void)
{
    for (size_t i = 0; i < LKS_COUNT(cases); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf first = LKS_BUF(4096);
        LKS_CLEANUP(lks_sched_jobs_fini) struct lks_sched_jobs jobs = {0};
        struct lks_err err = {0};
        void *value = calloc(1, lks_sched_bridge.site_talk->size);
        const struct lks_sched_site_wish wish = wish_of(i, &jobs);
        lks_test_case("%s", cases[i].name);
        CHECK_CODE(lks_sched_bridge.begin_site(value, &wish, &err), LKS_OK);
        CHECK_INT(converse(value, cases[i].answers, &err, &first), cases[i].requests);
        CHECK_CODE(err.code, cases[i].code);
        if (cases[i].message != NULL)
            CHECK_HAS(lks_str_from(err.msg), cases[i].message);
        CHECK_INT(jobs.count, cases[i].verb == LKS_SCHED_SITE_JOBS && err.code == LKS_OK);
        free(value);
    }
}

static const struct {
    const char *name; /* a row of `cases` */
    const char *request;
} requests[] = {
    {"a list", "GET /v1/jobs\n"},
    {"a signal", "POST /v1/jobs/17/signal\nLockstep-Epoch: 8\r\nContent-Type: application/json\r\n"
                 "{\"signal\":\"USR1\",\"batch\":true,\"started\":1763200000000}"},
    {"reservations", "GET /v1/reservations\n"},
    {"runs that ended", "GET /v1/runs?max=500&after=1763200000000&id=17%2B1\n"},
    {"a reservation",
     "PUT /v1/reservations/lockstep_change_17+train+oslo\nLockstep-Epoch: 8\r\n"
     "Content-Type: application/json\r\n{\"nodes\":\"g[1-2]\",\"from\":1763200000000,\"until\":"
     "1763200001000}"},
    {"the end of a reservation",
     "DELETE /v1/reservations/lockstep_change_17+train+oslo\nLockstep-Epoch: 8\r\n"},
    {"a policy", "PUT /v1/policy\nLockstep-Epoch: 8\r\nContent-Type: application/json\r\n"
                 "{\"policy\":{}}"},
    {"the epoch", "PUT /v1/epoch\nLockstep-Epoch: 8\r\n"},
    {"a job that is gone",
     "POST /v1/jobs/17/requeue\nLockstep-Epoch: 8\r\nContent-Type: application/json\r\n"
     "{\"started\":1763200000000}"},
    {"verdicts",
     "PUT /v1/truth\nLockstep-Epoch: 8\r\nContent-Type: application/json\r\n"
     "{\"truth\":[{\"nodes\":\"g[1-2]\",\"features\":[\"lks-1\",\"lks-conform\"],\"digest\":"
     "\"sha256:1\"},{\"nodes\":\"g3\",\"features\":[\"lks-1\",\"lks-drift\"],\"digest\":\"sha256:"
     "1\"}]}"},
};

static size_t case_of(const char *name)
{
    size_t i = 0;
    while (strcmp(cases[i].name, name) != 0)
        i++;
    return i;
}

static void test_requests(void)
{
    for (size_t i = 0; i < LKS_COUNT(requests); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf first = LKS_BUF(4096);
        LKS_CLEANUP(lks_sched_jobs_fini) struct lks_sched_jobs jobs = {0};
        struct lks_err err = {0};
        size_t of = case_of(requests[i].name);
        void *value = calloc(1, lks_sched_bridge.site_talk->size);
        const struct lks_sched_site_wish wish = wish_of(of, &jobs);
        lks_test_case("%s", requests[i].name);
        CHECK_CODE(lks_sched_bridge.begin_site(value, &wish, &err), LKS_OK);
        (void)converse(value, cases[of].answers, &err, &first);
        CHECK_STR(lks_buf_view(&first), requests[i].request);
        free(value);
    }
}

/* What became of each node. */
static void test_told(void)
{
    static const struct answer answers[ANSWERS_MAX] = {
        {200,
         "{\"failed\":[{\"node\":\"g3\",\"error\":\"no\\u0007 such node\"},{\"node\":\"g9\"}]}"}};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf first = LKS_BUF(4096);
    struct lks_err err = {0};
    void *value = calloc(1, lks_sched_bridge.site_talk->size);
    const struct lks_sched_site_wish wish = wish_of(case_of("verdicts"), NULL);
    CHECK_CODE(lks_sched_bridge.begin_site(value, &wish, &err), LKS_OK);
    CHECK_INT(converse(value, answers, &err, &first), 1);
    CHECK_CODE(err.code, LKS_OK);
    CHECK_STR(lks_str_from(told[0].why), "");
    CHECK_STR(lks_str_from(told[1].why), "no? such node");
    CHECK_STR(lks_str_from(told[2].why), "");
    told[1].why[0] = '\0';
    free(value);
}

/* What no bridge is asked. */
static const struct {
    const char *name;
    enum lks_sched_site_verb verb;
    const char *job, *signal;
    lks_ms started;
    enum lks_code code;
} wishes[] = {
    {"a task of an array", LKS_SCHED_SITE_REQUEUE, "17_3", "", NOW, LKS_OK},
    {"a part of a heterogeneous job", LKS_SCHED_SITE_REQUEUE, "17+1", "", NOW, LKS_OK},
    {"no job", LKS_SCHED_SITE_REQUEUE, "", "", NOW, LKS_E_INVALID},
    {"verdicts of no node", LKS_SCHED_SITE_PUBLISH, "", "", NOW, LKS_E_INVALID},
    {"a path", LKS_SCHED_SITE_REQUEUE, "17/../18", "", NOW, LKS_E_INVALID},
    {"a name", LKS_SCHED_SITE_REQUEUE, "_17", "", NOW, LKS_E_INVALID},
    {"any run", LKS_SCHED_SITE_REQUEUE, "17", "", 0, LKS_E_INVALID},
    {"a run of no time", LKS_SCHED_SITE_SIGNAL, "17", "TERM", LKS_TIME_MAX + 1, LKS_E_INVALID},
    {"no signal", LKS_SCHED_SITE_SIGNAL, "17", "", NOW, LKS_E_INVALID},
    {"a signal that ends the job", LKS_SCHED_SITE_SIGNAL, "17", "KILL", NOW, LKS_E_INVALID},
    {"one that asks it to end", LKS_SCHED_SITE_SIGNAL, "17", "TERM", NOW, LKS_OK},
};

/* Reservations that no bridge is asked for. */
static const struct {
    const char *name, *nodes;
    lks_ms until;
    enum lks_code code;
} reserved[] = {
    {"lockstep_change_17+train+hall-1.a", "g[1-2]", 2000, LKS_OK},
    {"window", "g1", 2000, LKS_E_INVALID},
    {"lockstep_/../window", "g1", 2000, LKS_E_INVALID},
    {"lockstep_x", "", 2000, LKS_E_INVALID},
    {"lockstep_x", "g1", 1000, LKS_E_INVALID},
};

static void test_reserved(void)
{
    for (size_t i = 0; i < LKS_COUNT(reserved); i++) {
        const struct lks_sched_site_wish wish = {.verb = LKS_SCHED_SITE_RESERVE,
                                                 .reservation = {lks_str_from(reserved[i].name),
                                                                 lks_str_from(reserved[i].nodes),
                                                                 1000, reserved[i].until}};
        struct lks_err err = {0};
        lks_test_case("%s of %s", reserved[i].name, reserved[i].nodes);
        CHECK_CODE(lks_sched_check_site(&wish, &err), reserved[i].code);
    }
}

static void test_wishes(void)
{
    for (size_t i = 0; i < LKS_COUNT(wishes); i++) {
        const struct lks_sched_site_wish wish = {.verb = wishes[i].verb,
                                                 .job = lks_str_from(wishes[i].job),
                                                 .started = wishes[i].started,
                                                 .signal = lks_str_from(wishes[i].signal)};
        struct lks_err err = {0};
        lks_test_case("%s", wishes[i].name);
        CHECK_CODE(lks_sched_check_site(&wish, &err), wishes[i].code);
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"answers", test_answers},
        {"requests", test_requests},
        {"what became of each node", test_told},
        {"what no bridge is asked", test_wishes},
        {"reservations that no bridge is asked for", test_reserved},
        {NULL, NULL},
    });
}
