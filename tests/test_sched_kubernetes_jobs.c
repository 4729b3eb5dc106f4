/*
 * Pods as jobs: their list, and evictions, with answers in the form of kube-apiserver 1.36. The
 * contract that each driver keeps is in test_sched.c, and with a real API server in tests/k8s.
 */
#include "core/sched/jobs.h"
#include "drivers/sched/kubernetes_pods.h"
#include "drivers/sched/sched_drivers.h"
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOW        UINT64_C(1763200000000)
#define STARTED    UINT64_C(1763195400000) /* 2025-11-15T08:30:00Z */
#define SCRIPT_MAX 14
#define UID        "3f2c1a9b-7777-4d53-9a38-6c1d2e8f9b01"
#define JOB        "ml/train-0#3f2c1a9b"

#define NODE_OF(annotations, taints)                                                               \
    "{\"kind\":\"Node\",\"metadata\":{\"name\":\"n1\",\"resourceVersion\":\"41\",\"annotations\":" \
    "{" annotations "}},\"spec\":{\"taints\":[" taints "]},\"status\":{}}"
#define MARK(more) "\"lockstep.dev/drain\":\"{\\\"owner\\\":\\\"change:17\\\"" more "}\""
#define TAINT      "{\"key\":\"lockstep.dev/drain\",\"effect\":\"NoSchedule\"}"
#define DRAINED    NODE_OF(MARK(",\\\"epoch\\\":4"), TAINT)
#define OPEN       NODE_OF("", "")

#define LIST(more, items)                                                                          \
    "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"50\""         \
    "" more "},\"items\":[" items "]}"
#define MORE ",\"continue\":\"abc\""
#define POD_OF(name, metadata, spec, status)                                                       \
    "{\"metadata\":{\"name\":\"" name "\",\"namespace\":\"ml\"," metadata                          \
    "},\"spec\":{\"nodeName\":\"n1\"" spec "},\"status\":{" status "}}"
#define CONTROLLED(kind, name)                                                                     \
    "\"uid\":\"" UID "\",\"ownerReferences\":[{\"kind\":\"Other\",\"name\":\"o\"},{\"kind\":"      \
    "\"" kind "\",\"name\":\"" name "\",\"controller\":true}]"
#define GPUS(n)                                                                                    \
    ",\"containers\":[{\"resources\":{\"limits\":{\"nvidia.com/gpu\":\"" n "\",\"cpu\":\"9\"}}}]"
#define RUNS      "\"phase\":\"Running\",\"startTime\":\"2025-11-15T08:30:00Z\""
#define TRAIN     POD_OF("train-0", CONTROLLED("Job", "train"), GPUS("8"), RUNS)
#define BARE      POD_OF("train-0", "\"uid\":\"" UID "\"", GPUS("8"), RUNS)
#define OTHER_POD POD_OF("other", CONTROLLED("Job", "other"), GPUS("1"), RUNS)
#define KEPT(note)                                                                                 \
    POD_OF("train-0", CONTROLLED("Job", "train") ",\"annotations\":{" note "}", GPUS("8"), RUNS)
#define ENDING                                                                                     \
    POD_OF("train-0",                                                                              \
           CONTROLLED("Job", "train") ",\"deletionTimestamp\":\"2025-11-15T09:00:00Z\"",           \
           GPUS("8"), RUNS)
#define ANEW                                                                                       \
    "{\"metadata\":{\"name\":\"train-0\",\"namespace\":\"ml\",\"uid\":\"77777777-0000\","          \
    "\"ownerReferences\":[{\"kind\":\"Job\",\"name\":\"train\",\"controller\":true}]},\"spec\":{"  \
    "\"nodeName\":\"n1\"" GPUS("8") "},\"status\":{" RUNS "}}"

#define STATUS(words) "{\"kind\":\"Status\",\"message\":\"" words "\"}"
#define NO_NODE                                                                                    \
    "{\"kind\":\"Status\",\"message\":\"nodes \\\"n1\\\" not found\",\"reason\":\"NotFound\","     \
    "\"details\":{\"name\":\"n1\",\"kind\":\"nodes\"}}"
#define BUDGET                                                                                     \
    "{\"kind\":\"Status\",\"message\":\"Cannot evict pod as it would violate the pod's "           \
    "disruption budget.\",\"reason\":\"TooManyRequests\",\"details\":{\"causes\":[{\"reason\":"    \
    "\"DisruptionBudget\",\"message\":\"The disruption budget never needs 1 healthy pods and has " \
    "1 currently\"}]},\"code\":429}"

#define PODS  "GET /api/v1/pods?fieldSelector=spec.nodeName%21%3D%2Cstatus.phase%21%3DSucceeded%2C"
#define GET   "GET /api/v1/nodes/n1"
#define ON    "GET /api/v1/pods?fieldSelector=spec.nodeName%3Dn1&limit=250"
#define EVICT "POST /api/v1/namespaces/ml/pods/train-0/eviction"
#define MEANS "\"deleteOptions\":{\"preconditions\":{\"uid\":\"" UID "\"}}"

struct exchange {
    const char *request; /* how method and path begin; NULL: the script ends */
    int status;          /* 0: no answer */
    const char *body;
    const char *sends; /* part of what is sent; NULL: anything */
};

static struct lks_err play(const struct exchange *steps, const struct lks_sched_site_wish *wish,
                           size_t *asked)
{
    LKS_CLEANUP(lks_conversation_talk_fini) struct lks_talk talk = {0};
    const struct lks_sched_driver *driver = &lks_sched_kubernetes;
    struct lks_err err = {0};
    lks_ms now = NOW;
    size_t at = 0;
    void *value = calloc(1, driver->site_talk->size);
    LKS_ASSERT(value != NULL);
    lks_conversation_talk_init(&talk);
    CHECK_CODE(driver->begin_site(value, wish, &err), LKS_OK);
    for (unsigned i = 0; i < 100; i++) {
        char line[LKS_HTTP_PATH_MAX + 16];
        lks_conversation_next(driver->site_talk, value, now, &talk);
        if (talk.kind == LKS_TALK_DONE || talk.kind == LKS_TALK_FAIL)
            break;
        now = talk.kind == LKS_TALK_WAIT ? talk.until : now + 1;
        if (talk.kind == LKS_TALK_WAIT)
            continue;
        snprintf(line, sizeof(line), "%s %" LKS_STR_FMT, talk.request.method,
                 LKS_STR_ARG(lks_buf_view(&talk.request.path)));
        if (!CHECK(at < SCRIPT_MAX && steps[at].request != NULL) ||
            !CHECK(lks_str_starts(lks_str_from(line), steps[at].request))) {
            printf("     %s\n", line);
            break;
        }
        CHECK_HAS(lks_buf_view(&talk.request.head), "Authorization: Bearer abc.def\r\n");
        CHECK_HAS(lks_buf_view(&talk.request.body), steps[at].sends != NULL ? steps[at].sends : "");
        const struct lks_http_response answer = {.status = steps[at].status,
                                                 .body = lks_str_from(steps[at].body)};
        lks_conversation_feed(driver->site_talk, value, now, answer.status == 0 ? NULL : &answer);
        at++;
    }
    free(value);
    *asked = at;
    return talk.err;
}

/* Lists ------------------------------------------------------------------------------------- */

static const struct list {
    const char *name;
    enum lks_code code;
    const char *text;
    unsigned jobs;
    struct exchange steps[SCRIPT_MAX];
} lists[] = {
    {"pods with GPUs are jobs",
     LKS_OK,
     "",
     1,
     {{PODS, 200, LIST("", TRAIN "," POD_OF("web", "\"uid\":\"1\"", "", RUNS)), NULL}}},
    {"page by page",
     LKS_OK,
     "",
     2,
     {{PODS, 200, LIST(MORE, TRAIN), NULL},
      {PODS "status.phase%21%3DFailed&limit=250&continue=abc", 200, LIST("", OTHER_POD), NULL}}},
    {"a list whose place is forgotten begins again",
     LKS_OK,
     "",
     1,
     {{PODS, 200, LIST(MORE, OTHER_POD), NULL},
      {PODS, 410, STATUS("The provided continue parameter is too old"), NULL},
      {PODS "status.phase%21%3DFailed&limit=250", 200, LIST("", TRAIN), NULL}}},
    {"and again, but not for ever",
     LKS_E_UNAVAILABLE,
     "started 5 times and is not whole: status 410",
     0,
     {{PODS, 410, STATUS("too old"), NULL},
      {PODS, 410, STATUS("too old"), NULL},
      {PODS, 410, STATUS("too old"), NULL},
      {PODS, 410, STATUS("too old"), NULL},
      {PODS, 410, STATUS("too old"), NULL}}},
    {"a page that is cut off hides no job",
     LKS_OK,
     "",
     1,
     {{PODS, 200, "{\"kind\":\"PodList\",\"metadata\":{},\"items\":[" TRAIN, NULL},
      {PODS, 200, LIST("", TRAIN), NULL}}},
    {"a server that is overloaded",
     LKS_OK,
     "",
     1,
     {{PODS, 429, STATUS("too many requests"), NULL}, {PODS, 200, LIST("", TRAIN), NULL}}},
    {"no rights",
     LKS_E_DENIED,
     "does not let lockstep list pods: status 403: pods is forbidden",
     0,
     {{PODS, 403, STATUS("pods is forbidden"), NULL},
      {PODS, 403, STATUS("pods is forbidden"), NULL},
      {PODS, 403, STATUS("pods is forbidden"), NULL},
      {PODS, 403, STATUS("pods is forbidden"), NULL},
      {PODS, 403, STATUS("pods is forbidden"), NULL},
      {PODS, 403, STATUS("pods is forbidden"), NULL}}},
};

static void test_lists(void)
{
    for (size_t i = 0; i < LKS_COUNT(lists); i++) {
        struct lks_sched_jobs jobs = {0};
        size_t asked = 0;
        const struct lks_sched_site_wish wish = {.verb = LKS_SCHED_SITE_JOBS,
                                                 .jobs = &jobs,
                                                 .login = {.token = LKS_STR("abc.def")},
                                                 .deadline = NOW + LKS_SCHED_DEADLINE};
        lks_test_case("%s", lists[i].name);
        struct lks_err err = play(lists[i].steps, &wish, &asked);
        CHECK_CODE(err.code, lists[i].code);
        CHECK_HAS(lks_str_from(err.msg), lists[i].text);
        CHECK(lists[i].steps[asked].request == NULL);
        CHECK_INT(err.code == LKS_OK ? jobs.count : 0, lists[i].jobs);
        CHECK(err.code != LKS_OK || lks_sched_jobs_find(&jobs, LKS_STR(JOB)) != NULL);
        lks_sched_jobs_fini(&jobs);
    }
}

#define LABELLED(label)                                                                            \
    POD_OF("train-0", CONTROLLED("PyTorchJob", "p") ",\"labels\":{" label "}", GPUS("8"), RUNS)

static const struct {
    const char *name, *pod, *user;
    uint32_t gpus;
    bool requeue, ends, runs;
} pods[] = {
    {"of a Job", TRAIN, "Job/train", 8, true, false, true},
    {"of no controller", BARE, "", 8, false, false, true},
    {"it is ending", ENDING, "Job/train", 8, true, false, false},
    {"its owner keeps it from autoscalers",
     KEPT("\"cluster-autoscaler.kubernetes.io/safe-to-evict\":\"false\""), "Job/train", 8, false,
     false, true},
    {"its owner keeps it from Karpenter", KEPT("\"karpenter.sh/do-not-disrupt\":\"true\""),
     "Job/train", 8, false, false, true},
    {"its owner does not mind", KEPT("\"karpenter.sh/do-not-disrupt\":\"false\""), "Job/train", 8,
     true, false, true},
    {"with a deadline",
     POD_OF("train-0", CONTROLLED("Job", "t"), GPUS("2") ",\"activeDeadlineSeconds\":60", RUNS),
     "Job/t", 2, true, true, true},
    {"with a claim", POD_OF("train-0", CONTROLLED("Job", "t"), ",\"resourceClaims\":[{}]", RUNS),
     "Job/t", LKS_SCHED_JOBS_UNKNOWN, true, false, true},
    {"as many GPUs as its init containers",
     POD_OF(
         "train-0", CONTROLLED("Job", "t"),
         GPUS("2") ",\"initContainers\":[{\"resources\":{\"requests\":{\"amd.com/gpu\":\"4\"}}}]",
         RUNS),
     "Job/t", 4, true, false, true},
    {"a gang of a JobSet",
     LABELLED("\"batch.kubernetes.io/job-name\":\"j-0\",\"jobset.sigs.k8s.io/jobset-name\":\"j\""),
     "JobSet/j", 8, true, false, true},
    {"a gang of a LeaderWorkerSet", LABELLED("\"leaderworkerset.sigs.k8s.io/name\":\"l\""),
     "LeaderWorkerSet/l", 8, true, false, true},
    {"a gang of Ray", LABELLED("\"ray.io/cluster\":\"r\""), "RayCluster/r", 8, true, false, true},
    {"a gang of Kubeflow", LABELLED("\"training.kubeflow.org/job-name\":\"k\""), "PyTorchJob/k", 8,
     true, false, true},
    {"a gang of Volcano", KEPT("\"scheduling.k8s.io/group-name\":\"v\""), "PodGroup/v", 8, true,
     false, true},
    {"an indexed Job", LABELLED("\"batch.kubernetes.io/job-name\":\"j\""), "Job/j", 8, true, false,
     true},
};

static void test_pods(void)
{
    for (size_t i = 0; i < LKS_COUNT(pods); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf body = LKS_BUF((size_t)64 << 10);
        struct lks_sched_jobs jobs = {0};
        struct lks_sched_jobs_at at = {0};
        size_t asked = 0;
        const struct lks_sched_site_wish wish = {.verb = LKS_SCHED_SITE_JOBS,
                                                 .jobs = &jobs,
                                                 .login = {.token = LKS_STR("abc.def")},
                                                 .deadline = NOW + LKS_SCHED_DEADLINE};
        lks_test_case("%s", pods[i].name);
        lks_buf_addf(&body, LIST("", "%s") "%c", pods[i].pod, '\0');
        const struct exchange steps[SCRIPT_MAX] = {{PODS, 200, lks_buf_view(&body).ptr, NULL}};
        CHECK_CODE(play(steps, &wish, &asked).code, LKS_OK);
        const struct lks_sched_job *job = lks_sched_jobs_on(&jobs, LKS_STR("n1"), &at);
        if (CHECK(job != NULL)) {
            CHECK_STR(job->id, JOB);
            CHECK_STR(job->user, pods[i].user);
            CHECK_STR(job->account, "ml");
            CHECK_STR(job->state, pods[i].runs ? "running" : "completing");
            CHECK_INT(job->gpus, pods[i].gpus);
            CHECK_INT(job->requeue, pods[i].requeue);
            CHECK_INT(job->started, STARTED);
            CHECK_INT(job->ends, pods[i].ends ? STARTED + 60 * LKS_SECOND : 0);
            CHECK_INT(job->node_count, 1);
        }
        lks_sched_jobs_fini(&jobs);
    }
}

/* Evictions --------------------------------------------------------------------------------- */

#define FOUND                                                                                      \
    {GET, 200, DRAINED, NULL},                                                                     \
    {                                                                                              \
        ON, 200, LIST("", OTHER_POD "," TRAIN), NULL                                               \
    }
#define AGAIN_FOUND                                                                                \
    {                                                                                              \
        ON, 200, LIST("", TRAIN), NULL                                                             \
    }

static const struct eviction {
    const char *name;
    enum lks_code code;
    const char *text;
    struct exchange steps[SCRIPT_MAX];
} evictions[] = {
    {"a pod is evicted, by its uid", LKS_OK, "", {FOUND, {EVICT, 201, STATUS(""), MEANS}}},
    {"the pod is on a later page",
     LKS_OK,
     "",
     {{GET, 200, DRAINED, NULL},
      {ON, 200, LIST(MORE, OTHER_POD), NULL},
      {ON "&continue=abc", 200, LIST("", TRAIN), NULL},
      {EVICT, 201, STATUS(""), MEANS}}},
    {"a node that lockstep does not drain loses no pod",
     LKS_E_UNAVAILABLE,
     "job " JOB ": lockstep does not drain its node now",
     {{GET, 200, OPEN, NULL}}},
    {"nor one with our taint and no owner",
     LKS_E_UNAVAILABLE,
     "does not drain its node now",
     {{GET, 200, NODE_OF("", TAINT), NULL}}},
    {"nor for an older leader",
     LKS_E_REFUSED,
     "a controller with epoch 9 drained it; this one has 4",
     {{GET, 200, NODE_OF(MARK(",\\\"epoch\\\":9"), TAINT), NULL}}},
    {"the node is gone",
     LKS_E_NOT_FOUND,
     "its node is gone, so the pod has ended",
     {{GET, 404, NO_NODE, NULL}}},
    {"the pod is gone",
     LKS_E_NOT_FOUND,
     "job " JOB ": the pod has ended",
     {{GET, 200, DRAINED, NULL}, {ON, 200, LIST("", OTHER_POD), NULL}}},
    {"another pod has its name",
     LKS_E_NOT_FOUND,
     "the run that is meant has ended",
     {{GET, 200, DRAINED, NULL}, {ON, 200, LIST("", ANEW), NULL}}},
    {"it is on its way already",
     LKS_OK,
     "",
     {{GET, 200, DRAINED, NULL}, {ON, 200, LIST("", ENDING), NULL}}},
    {"it has no controller any more",
     LKS_E_REFUSED,
     "no controller that makes it again",
     {{GET, 200, DRAINED, NULL}, {ON, 200, LIST("", BARE), NULL}}},
    {"its owner asks not to evict it",
     LKS_E_REFUSED,
     "asks not to evict it",
     {{GET, 200, DRAINED, NULL},
      {ON, 200, LIST("", KEPT("\"karpenter.sh/do-not-disrupt\":\"true\"")), NULL}}},
    {"a budget that does not allow it is named, and not pressed",
     LKS_E_UNAVAILABLE,
     "job " JOB ": not evicted now: The disruption budget never needs 1 healthy pods and has 1",
     {FOUND, {EVICT, 429, BUDGET, MEANS}}},
    {"a server that is overloaded is asked again",
     LKS_OK,
     "",
     {FOUND,
      {EVICT, 429, STATUS("too many requests"), MEANS},
      AGAIN_FOUND,
      {EVICT, 201, STATUS(""), MEANS}}},
    {"a lost answer: it was done",
     LKS_OK,
     "",
     {FOUND, {EVICT, 0, "", MEANS}, {ON, 200, LIST("", ENDING), NULL}}},
    {"a lost answer: it was not done",
     LKS_OK,
     "",
     {FOUND, {EVICT, 0, "", MEANS}, AGAIN_FOUND, {EVICT, 201, STATUS(""), MEANS}}},
    {"a lost answer: the pod is gone",
     LKS_E_NOT_FOUND,
     " has ended",
     {FOUND, {EVICT, 0, "", MEANS}, {ON, 200, LIST("", ""), NULL}}},
    {"a lost answer, and none since: the outcome is unknown",
     LKS_E_TIMEOUT,
     "",
     {FOUND,
      {EVICT, 0, "", MEANS},
      {ON, 0, "", NULL},
      {ON, 0, "", NULL},
      {ON, 0, "", NULL},
      {ON, 0, "", NULL},
      {ON, 0, "", NULL},
      {ON, 0, "", NULL}}},
    {"another pod has its name since it was read",
     LKS_E_NOT_FOUND,
     "the run that is meant has ended",
     {FOUND,
      {EVICT, 409, STATUS("Precondition failed: UID"), MEANS},
      {ON, 200, LIST("", ANEW), NULL}}},
    {"it went since it was read",
     LKS_E_NOT_FOUND,
     " has ended",
     {FOUND, {EVICT, 404, STATUS("pods not found"), MEANS}, {ON, 200, LIST("", ""), NULL}}},
    {"two budgets for one pod, which Kubernetes refuses",
     LKS_E_UNAVAILABLE,
     "asked 4 times to evict it, and it runs: status 500: This pod has more than one",
     {FOUND,
      {EVICT, 500, STATUS("This pod has more than one PodDisruptionBudget"), MEANS},
      AGAIN_FOUND,
      {EVICT, 500, STATUS("This pod has more than one PodDisruptionBudget"), MEANS},
      AGAIN_FOUND,
      {EVICT, 500, STATUS("This pod has more than one PodDisruptionBudget"), MEANS},
      AGAIN_FOUND,
      {EVICT, 500, STATUS("This pod has more than one PodDisruptionBudget"), MEANS},
      AGAIN_FOUND}},
    {"no rights to evict: the cause is told, and it is asked for again later",
     LKS_E_UNAVAILABLE,
     "status 403: pods \"train-0\" is forbidden",
     {FOUND,
      {EVICT, 403, STATUS("pods \\\"train-0\\\" is forbidden"), MEANS},
      AGAIN_FOUND,
      {EVICT, 403, STATUS("pods \\\"train-0\\\" is forbidden"), MEANS},
      AGAIN_FOUND,
      {EVICT, 403, STATUS("pods \\\"train-0\\\" is forbidden"), MEANS},
      AGAIN_FOUND,
      {EVICT, 403, STATUS("pods \\\"train-0\\\" is forbidden"), MEANS},
      AGAIN_FOUND}},
};

static struct lks_sched_site_wish eviction(const char *job, const char *node, lks_ms started)
{
    return (struct lks_sched_site_wish){.verb = LKS_SCHED_SITE_REQUEUE,
                                        .job = lks_str_from(job),
                                        .node = lks_str_from(node),
                                        .started = started,
                                        .epoch = 4,
                                        .login = {.token = LKS_STR("abc.def")},
                                        .deadline = NOW + LKS_SCHED_DEADLINE};
}

static void test_evictions(void)
{
    for (size_t i = 0; i < LKS_COUNT(evictions); i++) {
        const struct lks_sched_site_wish wish = eviction(JOB, "n1", STARTED);
        size_t asked = 0;
        lks_test_case("%s", evictions[i].name);
        struct lks_err err = play(evictions[i].steps, &wish, &asked);
        CHECK_CODE(err.code, evictions[i].code);
        CHECK_HAS(lks_str_from(err.msg), evictions[i].text);
        CHECK(evictions[i].steps[asked].request == NULL);
    }
}

/* A pod of the same name and uid that started at another time is no run that was meant. */
static void test_other_run(void)
{
    const struct exchange steps[SCRIPT_MAX] = {{GET, 200, DRAINED, NULL},
                                               {ON, 200, LIST("", TRAIN), NULL}};
    const struct lks_sched_site_wish wish = eviction(JOB, "n1", STARTED + LKS_SECOND);
    size_t asked = 0;
    CHECK_CODE(play(steps, &wish, &asked).code, LKS_E_NOT_FOUND);
    CHECK_INT(asked, 2);
}

static void test_odd_wishes(void)
{
    static const struct {
        const char *name, *job, *node;
        lks_ms started;
        enum lks_code code;
    } rows[] = {
        {"a pod", JOB, "n1", NOW, LKS_OK},
        {"a job of Slurm", "17", "n1", NOW, LKS_E_INVALID},
        {"no uid", "ml/train-0", "n1", NOW, LKS_E_INVALID},
        {"an empty uid", "ml/train-0#", "n1", NOW, LKS_E_INVALID},
        {"no namespace", "/train-0#3f2c1a9b", "n1", NOW, LKS_E_INVALID},
        {"a path", "ml/../train-0#3f2c1a9b", "n1", NOW, LKS_E_INVALID},
        {"a namespace that is a path", "../ml#3f2c1a9b", "n1", NOW, LKS_E_INVALID},
        {"a query", "ml/train-0?x#3f2c1a9b", "n1", NOW, LKS_E_INVALID},
        {"no node", JOB, "", NOW, LKS_E_INVALID},
        {"a node that is a path", JOB, "../n1", NOW, LKS_E_INVALID},
        {"any run", JOB, "n1", 0, LKS_E_INVALID},
    };
    void *value = calloc(1, lks_sched_kubernetes.site_talk->size);
    LKS_ASSERT(value != NULL);
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        const struct lks_sched_site_wish wish =
            eviction(rows[i].job, rows[i].node, rows[i].started);
        struct lks_err err = {0};
        lks_test_case("%s", rows[i].name);
        CHECK_CODE(lks_sched_kubernetes.begin_site(value, &wish, &err), rows[i].code);
    }
    free(value);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"lists", test_lists},
        {"pods as jobs", test_pods},
        {"evictions", test_evictions},
        {"another run", test_other_run},
        {"wishes that are odd", test_odd_wishes},
        {NULL, NULL},
    });
}
