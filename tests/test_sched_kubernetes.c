/*
 * The driver of Kubernetes with answers in the form of kube-apiserver 1.36, and with answers that
 * lie. The contract that it keeps as every driver does is in test_sched.c, and with a real API
 * server in tests/k8s.
 */
#include "drivers/sched/kubernetes_pods.h"
#include "drivers/sched/sched_drivers.h"
#include "tests/test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOW        UINT64_C(1763200000000)
#define SCRIPT_MAX 16

#define MARK(owner, more) "{\\\"owner\\\":\\\"" owner "\\\"" more "}"
#define OUR_TAINT         "{\"key\":\"lockstep.dev/drain\",\"effect\":\"NoSchedule\"}"
#define SPOT              "{\"key\":\"example.com/spot\",\"value\":\"[1, 2]\",\"effect\":\"X\"}"
#define CORDON            "\"unschedulable\":true,"
#define READY             "\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}"

#define NODE_OF(name, annotations, manager, spec, status)                                          \
    "{\"kind\":\"Node\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"" name                      \
    "\",\"resourceVersion\":\"41\",\"annotations\":{" annotations                                  \
    "},\"managedFields\":[{\"manager\":\"" manager                                                 \
    "\",\"fieldsV1\":{\"f:spec\":{\"f:unschedulable\":{}}}}]},\"spec\":{" spec "}," status "}"
#define NODE(annotations, manager, spec) NODE_OF("n1", annotations, manager, spec, READY)
#define ANNOTATED(owner, more)           "\"lockstep.dev/drain\":\"" MARK(owner, more) "\""

#define OPEN NODE("", "", "\"taints\":[" SPOT "]")
#define HELD                                                                                       \
    NODE(ANNOTATED("change:17", ""), "lockstep", CORDON "\"taints\":[" SPOT "," OUR_TAINT "]")
#define SINCE(when)                                                                                \
    NODE(ANNOTATED("change:17", ",\\\"since\\\":\\\"" when "\\\""), "lockstep",                    \
         CORDON "\"taints\":[" SPOT "," OUR_TAINT "]")
#define THEIRS NODE("", "kubectl-cordon", CORDON "\"podCIDR\":\"10.0.0.0/24\"")

#define LIST(more, items)                                                                          \
    "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"50\""         \
    "" more "},\"items\":[" items "]}"
#define NO_PODS LIST("", "")
#define POD_OF(metadata, spec, status)                                                             \
    "{\"metadata\":{\"name\":\"a\",\"namespace\":\"ml\"" metadata                                  \
    "},\"spec\":{\"nodeName\":\"n1\",\"containers\":[" spec "}," status "}"
#define RUNS          "\"status\":{\"phase\":\"Running\",\"startTime\":\"2026-11-15T08:30:00Z\"}"
#define LIMITS(what)  "{\"resources\":{\"limits\":{" what "}}}"
#define GPU_POD       POD_OF("", LIMITS("\"nvidia.com/gpu\":\"8\"") "]", RUNS)
#define STATUS(words) "{\"kind\":\"Status\",\"message\":\"" words "\"}"
#define MISSING                                                                                    \
    "{\"kind\":\"Status\",\"message\":\"nodes \\\"n1\\\" not "                                     \
    "found\",\"reason\":\"NotFound\",\"details\":{\"name\":\"n1\",\"kind\":\"nodes\"}}"

/* A node ------------------------------------------------------------------------------------ */

static const struct {
    const char *name, *body;
    bool good;
    bool unschedulable, tainted, down, marked;
    const char *cordoner, *taints;
} nodes[] = {
    {"open", OPEN, true, false, false, false, false, "", SPOT},
    {"without taints", NODE("", "", "\"podCIDR\":\"10.0.0.0/24\""), true, false, false, false,
     false, "", ""},
    {"no list of taints", NODE("", "", "\"taints\":null"), true, false, false, false, false, "",
     ""},
    {"ours", HELD, true, true, true, false, true, "lockstep", SPOT},
    {"a person's", THEIRS, true, true, false, false, false, "kubectl-cordon", ""},
    {"our taint between those of others",
     NODE("", "x", "\"taints\":[" SPOT "," OUR_TAINT ",{\"key\":\"b\"}]"), true, false, true, false,
     false, "x", SPOT ",{\"key\":\"b\"}"},
    {"not ready",
     NODE_OF("n1", "", "", "",
             "\"status\":{\"conditions\":[{\"type\":\"DiskPressure\",\"status\":\"False\"},"
             "{\"type\":\"Ready\",\"status\":\"Unknown\"}]}"),
     true, false, false, true, false, "", ""},
    {"an annotation that is no JSON", NODE("\"lockstep.dev/drain\":\"kim\"", "", ""), true, false,
     false, false, false, "", ""},
    {"an annotation without an owner", NODE(ANNOTATED("", ""), "", ""), true, false, false, false,
     false, "", ""},
    {"an owner in two lines", NODE(ANNOTATED("a\\\\nb", ""), "", ""), true, false, false, false,
     false, "", ""},
    {"another node", NODE_OF("n2", "", "", "", READY), false, false, false, false, false, "", ""},
    {"another object", "{\"kind\":\"Pod\"}", false, false, false, false, false, "", ""},
    {"cut off", "{\"kind\":\"Node\",\"metadata\":{\"name\":\"n1\"", false, false, false, false,
     false, "", ""},
    {"without a resourceVersion",
     "{\"kind\":\"Node\",\"metadata\":{\"name\":\"n1\"},\"spec\":{},\"status\":{}}", false, false,
     false, false, false, "", ""},
    {"taints that are none", NODE("", "", "\"taints\":[7]"), false, false, false, false, false, "",
     ""},
    {"taints that are a text", NODE("", "", "\"taints\":\"a\""), false, false, false, false, false,
     "", ""},
    {"no JSON", "<html>", false, false, false, false, false, "", ""},
};

static void test_nodes(void)
{
    for (size_t i = 0; i < LKS_COUNT(nodes); i++) {
        struct lks_kubernetes_node n;
        char why[LKS_SCHED_REASON_MAX + 1] = "";
        lks_test_case("%s", nodes[i].name);
        CHECK_INT(lks_kubernetes_read_node(lks_str_from(nodes[i].body), LKS_STR("n1"), &n, why),
                  nodes[i].good);
        if (!nodes[i].good) {
            CHECK_HAS(lks_str_from(why), "not about node 'n1'");
            continue;
        }
        CHECK_INT(n.unschedulable, nodes[i].unschedulable);
        CHECK_INT(n.tainted, nodes[i].tainted);
        CHECK_INT(n.down, nodes[i].down);
        CHECK_INT(n.mark.valid, nodes[i].marked);
        CHECK_STR(lks_str_from(n.cordoner), nodes[i].cordoner);
        CHECK_STR(lks_str_from(n.taints), nodes[i].taints);
        CHECK_STR(lks_str_from(n.version), "41");
    }
}

/* What is more than can be written back is never written back in part. */
static void test_crowded(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf body = LKS_BUF((size_t)64 << 10);
    struct lks_kubernetes_node n;
    char why[LKS_SCHED_REASON_MAX + 1] = "";
    lks_buf_add(&body,
                LKS_STR("{\"kind\":\"Node\",\"metadata\":{\"name\":\"n1\",\"resourceVersion\":"
                        "\"1\"},\"spec\":{\"taints\":[{\"key\":\"x\"}"));
    for (unsigned i = 0; i < 400; i++)
        lks_buf_addf(&body, ",{\"key\":\"example.com/taint-%u\",\"effect\":\"NoSchedule\"}", i);
    lks_buf_add(&body, LKS_STR("]},\"status\":{}}"));
    CHECK(lks_kubernetes_read_node(lks_buf_view(&body), LKS_STR("n1"), &n, why));
    CHECK(n.crowded && strlen(n.taints) <= LKS_KUBERNETES_READ_TAINTS);
}

/* Pods -------------------------------------------------------------------------------------- */

static const struct {
    const char *name, *pod;
    unsigned count;
    const char *ends; /* "": it does not tell */
} pods[] = {
    {"GPUs of NVIDIA", GPU_POD, 1, ""},
    {"a part of one", POD_OF("", LIMITS("\"nvidia.com/mig-1g.10gb\":\"1\"") "]", RUNS), 1, ""},
    {"GPUs of AMD", POD_OF("", LIMITS("\"amd.com/gpu\":\"1\"") "]", RUNS), 1, ""},
    {"a request alone",
     POD_OF("", "{\"resources\":{\"requests\":{\"nvidia.com/gpu\":\"1\"}}}]", RUNS), 1, ""},
    {"the second container", POD_OF("", "{}," LIMITS("\"nvidia.com/gpu\":\"1\"") "]", RUNS), 1, ""},
    {"an init container",
     POD_OF("", "],\"initContainers\":[" LIMITS("\"nvidia.com/gpu\":\"1\"") "]", RUNS), 1, ""},
    {"a ResourceClaim", POD_OF("", "],\"resourceClaims\":[{\"name\":\"g\"}]", RUNS), 1, ""},
    {"a claim that the scheduler made",
     POD_OF("", "]", "\"status\":{\"phase\":\"Running\",\"extendedResourceClaimStatus\":{}}"), 1,
     ""},
    {"no claims", POD_OF("", "],\"resourceClaims\":[]", RUNS), 0, ""},
    {"no GPU", POD_OF("", LIMITS("\"cpu\":\"8\"") "]", RUNS), 0, ""},
    {"none of them", POD_OF("", LIMITS("\"nvidia.com/gpu\":\"0\"") "]", RUNS), 0, ""},
    {"it starts",
     POD_OF("", LIMITS("\"amd.com/gpu\":\"1\"") "]", "\"status\":{\"phase\":\"Pending\"}"), 1, ""},
    {"it ends",
     POD_OF(",\"deletionTimestamp\":\"2026-11-15T08:30:00Z\"", LIMITS("\"amd.com/gpu\":\"1\"") "]",
            RUNS),
     1, ""},
    {"its kubelet is silent",
     POD_OF("", LIMITS("\"amd.com/gpu\":\"1\"") "]", "\"status\":{\"phase\":\"Unknown\"}"), 1, ""},
    {"it ended well",
     POD_OF("", LIMITS("\"amd.com/gpu\":\"1\"") "]", "\"status\":{\"phase\":\"Succeeded\"}"), 0,
     ""},
    {"it failed",
     POD_OF("", LIMITS("\"amd.com/gpu\":\"1\"") "]", "\"status\":{\"phase\":\"Failed\"}"), 0, ""},
    {"of a DaemonSet",
     POD_OF(",\"ownerReferences\":[{\"kind\":\"DaemonSet\",\"controller\":true}]",
            LIMITS("\"nvidia.com/gpu\":\"1\"") "]", RUNS),
     0, ""},
    {"of a DaemonSet that does not control it",
     POD_OF(
         ",\"ownerReferences\":[{\"kind\":\"DaemonSet\"},{\"kind\":\"Job\",\"controller\":true}]",
         LIMITS("\"nvidia.com/gpu\":\"1\"") "]", RUNS),
     1, ""},
    {"static",
     POD_OF(",\"annotations\":{\"kubernetes.io/config.mirror\":\"1f\"}",
            LIMITS("\"nvidia.com/gpu\":\"1\"") "]", RUNS),
     0, ""},
    {"with a deadline",
     POD_OF("", LIMITS("\"amd.com/gpu\":\"1\"") "],\"activeDeadlineSeconds\":3600", RUNS), 1,
     "2026-11-15T09:30:00.000Z"},
    {"a deadline of a pod that did not start",
     POD_OF("", LIMITS("\"amd.com/gpu\":\"1\"") "],\"activeDeadlineSeconds\":3600",
            "\"status\":{\"phase\":\"Pending\"}"),
     1, ""},
    {"a deadline behind the end of time",
     POD_OF("", LIMITS("\"amd.com/gpu\":\"1\"") "],\"activeDeadlineSeconds\":9007199254740991",
            RUNS),
     1, ""},
};

static void test_pods(void)
{
    for (size_t i = 0; i < LKS_COUNT(pods); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf body = LKS_BUF((size_t)64 << 10);
        struct lks_kubernetes_pods found = {0};
        char why[LKS_SCHED_REASON_MAX + 1] = "", ends[LKS_TIME_TEXT_SIZE] = "";
        lks_test_case("%s", pods[i].name);
        lks_buf_addf(&body, "{\"kind\":\"PodList\",\"metadata\":{},\"items\":[%s]}", pods[i].pod);
        CHECK(lks_kubernetes_pods_count(lks_buf_view(&body), LKS_STR("n1"), &found, why));
        CHECK_STR(lks_str_from(why), "");
        CHECK_INT(found.count, pods[i].count);
        CHECK_INT(found.endless, pods[i].count > 0 && pods[i].ends[0] == '\0');
        CHECK_STR(lks_str_from(found.ends > 0 ? lks_time_text(found.ends, ends) : ""),
                  pods[i].ends);
        bool ending = strcmp(pods[i].name, "it ends") == 0;
        CHECK_STR(lks_str_from(found.first),
                  ending ? "ml/a (terminating, its grace ends 2026-11-15T08:30:00.000Z)"
                  : pods[i].count > 0 ? "ml/a"
                                      : "");
    }
}

/* Lists that are not counted: nothing of them is. */
static void test_odd_lists(void)
{
    static const struct {
        const char *name, *body, *why;
    } rows[] = {
        {"cut off", "{\"kind\":\"PodList\",\"metadata\":{},\"items\":[" GPU_POD, "not all of it"},
        {"no list", "{\"kind\":\"PodList\",\"metadata\":{}}", "without a list"},
        {"of other objects", "{\"kind\":\"NodeList\",\"metadata\":{},\"items\":[]}", "without"},
        {"not closed", "{\"kind\":\"PodList\",\"metadata\":{},\"items\":[" GPU_POD "]", ""},
        {"a pod of another node",
         LIST("", "{\"metadata\":{\"name\":\"a\"},\"spec\":{\"nodeName\":\"n2\"}}"),
         "is not of node 'n1'"},
        {"a pod of none", LIST("", "{\"metadata\":{\"name\":\"a\"},\"spec\":{}}"), "not of node"},
        {"a pod without a name", LIST("", "{\"spec\":{\"nodeName\":\"n1\"}}"), "cannot be read"},
        {"a pod that is no JSON", LIST("", "{\"a\":}"), "cannot be read"},
        {"a place that is no place", LIST(",\"continue\":\"a&b\"", ""), "without a list"},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct lks_kubernetes_pods found = {.count = 3};
        char why[LKS_SCHED_REASON_MAX + 1] = "";
        lks_test_case("%s", rows[i].name);
        bool good =
            lks_kubernetes_pods_count(lks_str_from(rows[i].body), LKS_STR("n1"), &found, why);
        CHECK_INT(good, rows[i].why[0] == '\0');
        CHECK_HAS(lks_str_from(why), rows[i].why);
        CHECK_INT(found.count, good ? 4 : 3);
    }
    struct lks_kubernetes_pods none = {0};
    char why[LKS_SCHED_REASON_MAX + 1] = "";
    CHECK(
        lks_kubernetes_pods_count(LKS_STR("{\"kind\":\"PodList\",\"metadata\":{},\"items\":null}"),
                                  LKS_STR("n1"), &none, why));
}

/* Conversations ----------------------------------------------------------------------------- */

struct exchange {
    const char *request; /* how method and path begin; NULL: the script ends */
    int status;          /* 0: no answer */
    const char *body;
    const char *sends; /* part of what is sent; NULL: anything */
};

#define GET   "GET /api/v1/nodes/n1"
#define PATCH "PATCH /api/v1/nodes/n1?fieldManager=lockstep"
#define PODS  "GET /api/v1/pods?fieldSelector=spec.nodeName%3Dn1&limit="

#define SIX(request, status, body)                                                                 \
    {request, status, body, NULL}, {request, status, body, NULL}, {request, status, body, NULL},   \
        {request, status, body, NULL}, {request, status, body, NULL},                              \
    {                                                                                              \
        request, status, body, NULL                                                                \
    }

static const struct script {
    const char *name;
    enum lks_sched_verb verb;
    uint64_t epoch;
    enum lks_code code;
    const char *text; /* in what is said, or in why not */
    struct exchange steps[SCRIPT_MAX];
} scripts[] = {
    {"taints of others stay as they are",
     LKS_SCHED_DRAIN,
     3,
     LKS_OK,
     "drained",
     {{GET, 200, OPEN, NULL},
      {PATCH, 200, HELD,
       "{\"metadata\":{\"resourceVersion\":\"41\",\"annotations\":{\"lockstep.dev/drain\":"
       "\"{\\\"owner\\\":\\\"change:17\\\",\\\"reason\\\":\\\"to b\\\",\\\"row\\\":812,"
       "\\\"epoch\\\":3,\\\"since\\\":\\\"2025-11-15T09:46:40.001Z\\\"}\"}},\"spec\":{"
       "\"unschedulable\":true,\"taints\":[" SPOT ",{\"key\":\"lockstep.dev/drain\",\"effect\":"
       "\"NoSchedule\"}]}}"},
      {GET, 200, HELD, NULL},
      {PODS, 200, NO_PODS, NULL},
      {GET, 200, HELD, NULL}}},
    {"what was placed before the drain may still start",
     LKS_SCHED_LOOK,
     0,
     LKS_OK,
     "no pod with GPUs there; counts as drained at 2025-11-15T09:46:41.000Z",
     {{GET, 200, SINCE("2025-11-15T09:45:41.000Z"), NULL},
      {PODS, 200, NO_PODS, NULL},
      {GET, 200, SINCE("2025-11-15T09:45:41.000Z"), NULL}}},
    {"a minute later it is drained",
     LKS_SCHED_LOOK,
     0,
     LKS_OK,
     "drained",
     {{GET, 200, SINCE("2025-11-15T09:45:40.000Z"), NULL},
      {PODS, 200, NO_PODS, NULL},
      {GET, 200, SINCE("2025-11-15T09:45:40.000Z"), NULL}}},
    {"another client was faster",
     LKS_SCHED_DRAIN,
     0,
     LKS_OK,
     "drained by 'kubectl-cordon' without a reason",
     {{GET, 200, OPEN, NULL},
      {PATCH, 409, STATUS("the object has been modified"), NULL},
      {GET, 200, THEIRS, NULL},
      {PODS, 200, NO_PODS, NULL},
      {GET, 200, THEIRS, NULL}}},
    {"others are faster again and again",
     LKS_SCHED_DRAIN,
     0,
     LKS_E_UNAVAILABLE,
     "asked 4 times to drain it, and it is not so: status 409: the object has been modified",
     {{GET, 200, OPEN, NULL},
      {PATCH, 409, STATUS("the object has been modified"), NULL},
      {GET, 200, OPEN, NULL},
      {PATCH, 409, STATUS("the object has been modified"), NULL},
      {GET, 200, OPEN, NULL},
      {PATCH, 409, STATUS("the object has been modified"), NULL},
      {GET, 200, OPEN, NULL},
      {PATCH, 409, STATUS("the object has been modified"), NULL},
      {GET, 200, OPEN, NULL}}},
    {"all of ours goes with the drain, and nothing else",
     LKS_SCHED_RELEASE,
     0,
     LKS_OK,
     "open for work",
     {{GET, 200, HELD, NULL},
      {PATCH, 200, OPEN,
       "{\"metadata\":{\"resourceVersion\":\"41\",\"annotations\":{\"lockstep.dev/drain\":null}},"
       "\"spec\":{\"unschedulable\":null,\"taints\":[" SPOT "]}}"},
      {GET, 200, OPEN, NULL}}},
    {"a cordon that a person set since stays",
     LKS_SCHED_RELEASE,
     0,
     LKS_OK,
     "drained by 'kim' without a reason",
     {{GET, 200, NODE(ANNOTATED("change:17", ""), "kim", CORDON "\"taints\":[" OUR_TAINT "]"),
       NULL},
      {PATCH, 200, "", "\"annotations\":{\"lockstep.dev/drain\":null}},\"spec\":{\"taints\":[]}}"},
      {GET, 200, NODE("", "kim", CORDON "\"taints\":[]"), NULL},
      {PODS, 200, NO_PODS, NULL},
      {GET, 200, NODE("", "kim", CORDON "\"taints\":[]"), NULL}}},
    {"an uncordoned node with our taint is drained",
     LKS_SCHED_DRAIN,
     0,
     LKS_OK,
     "drained",
     {{GET, 200, NODE(ANNOTATED("change:17", ""), "", "\"taints\":[" OUR_TAINT "]"), NULL},
      {PODS, 200, NO_PODS, NULL},
      {GET, 200, NODE(ANNOTATED("change:17", ""), "", "\"taints\":[" OUR_TAINT "]"), NULL}}},
    {"a taint without its annotation has no owner",
     LKS_SCHED_RELEASE,
     0,
     LKS_E_REFUSED,
     "is drained by 'unknown': only they can release it",
     {{GET, 200, NODE("", "lockstep", CORDON "\"taints\":[" OUR_TAINT "]"), NULL}}},
    {"a client that calls itself as our drains do",
     LKS_SCHED_RELEASE,
     0,
     LKS_E_REFUSED,
     "is drained by 'lockstep:change:17'",
     {{GET, 200, NODE("", "lockstep:change:17", CORDON "\"taints\":[]"), NULL}}},
    {"an annotation without the taint is no drain",
     LKS_SCHED_RELEASE,
     0,
     LKS_OK,
     "open for work",
     {{GET, 200, NODE(ANNOTATED("change:17", ""), "", "\"taints\":[]"), NULL}}},
    {"a later leader drained it",
     LKS_SCHED_RELEASE,
     3,
     LKS_E_REFUSED,
     "a controller with epoch 4 drained it; this one has 3",
     {{GET, 200,
       NODE(ANNOTATED("change:17", ",\\\"epoch\\\":4"), "lockstep",
            CORDON "\"taints\":[" OUR_TAINT "]"),
       NULL}}},
    {"a later leader did, whose drain was removed by half",
     LKS_SCHED_DRAIN,
     3,
     LKS_E_REFUSED,
     "epoch 4",
     {{GET, 200, NODE(ANNOTATED("change:16", ",\\\"epoch\\\":4"), "", "\"taints\":[]"), NULL}}},
    {"a pod without a deadline",
     LKS_SCHED_LOOK,
     0,
     LKS_OK,
     "1 job runs there, the first is ml/a",
     {{GET, 200, HELD, NULL}, {PODS, 200, LIST("", GPU_POD), NULL}}},
    {"a list of two pages",
     LKS_SCHED_LOOK,
     0,
     LKS_OK,
     "2 jobs run there",
     {{GET, 200, HELD, NULL},
      {PODS, 200, LIST(",\"continue\":\"eyJ2Ij_-=\"", GPU_POD), NULL},
      {PODS "50&continue=eyJ2Ij_-=", 200, LIST("", GPU_POD), NULL}}},
    {"a page that cannot be read is asked for again",
     LKS_SCHED_LOOK,
     0,
     LKS_OK,
     "2 jobs run there",
     {{GET, 200, HELD, NULL},
      {PODS, 200, LIST(",\"continue\":\"abc\"", GPU_POD), NULL},
      {PODS "50&continue=abc", 200, "", NULL},
      {PODS "50&continue=abc", 200, LIST("", GPU_POD), NULL}}},
    {"a place that is not known any more begins the list again",
     LKS_SCHED_LOOK,
     0,
     LKS_OK,
     "1 job runs there",
     {{GET, 200, HELD, NULL},
      {PODS, 200, LIST(",\"continue\":\"abc\"", GPU_POD), NULL},
      {PODS "50&continue=abc", 410, STATUS("Expired"), NULL},
      {PODS, 200, LIST("", GPU_POD), NULL}}},
    {"a drain that is removed meanwhile",
     LKS_SCHED_LOOK,
     0,
     LKS_OK,
     "open for work",
     {{GET, 200, HELD, NULL}, {PODS, 200, NO_PODS, NULL}, {GET, 200, OPEN, NULL}}},
    {"no rights to read nodes",
     LKS_SCHED_LOOK,
     0,
     LKS_E_DENIED,
     "does not let lockstep read node 'n1': status 403: nodes",
     {SIX(GET, 403, STATUS("nodes \\\"n1\\\" is forbidden"))}},
    {"no rights to change nodes",
     LKS_SCHED_DRAIN,
     0,
     LKS_E_DENIED,
     "does not let lockstep drain node 'n1': status 403",
     {{GET, 200, OPEN, NULL},
      {PATCH, 403, STATUS("forbidden"), NULL},
      {GET, 200, OPEN, NULL},
      {PATCH, 403, STATUS("forbidden"), NULL},
      {GET, 200, OPEN, NULL},
      {PATCH, 403, STATUS("forbidden"), NULL},
      {GET, 200, OPEN, NULL},
      {PATCH, 403, STATUS("forbidden"), NULL}}},
    {"no rights to list pods",
     LKS_SCHED_DRAIN,
     0,
     LKS_E_DENIED,
     "status 403: pods is forbidden",
     {{GET, 200, HELD, NULL}, SIX(PODS, 403, STATUS("pods is forbidden"))}},
    {"a token that expired",
     LKS_SCHED_LOOK,
     0,
     LKS_E_DENIED,
     "status 401: Unauthorized",
     {SIX(GET, 401, STATUS("Unauthorized"))}},
    {"a server that starts, and does not know us yet",
     LKS_SCHED_LOOK,
     0,
     LKS_OK,
     "1 job runs there",
     {{GET, 401, STATUS("Unauthorized"), NULL},
      {GET, 403, STATUS("RBAC: clusterrole \\\"lockstep\\\" not found"), NULL},
      {GET, 200, OPEN, NULL},
      {PODS, 200, LIST("", GPU_POD), NULL}}},
    {"a proxy that has no such page",
     LKS_SCHED_LOOK,
     0,
     LKS_OK,
     "open for work",
     {{GET, 404, "<html>", NULL}, {GET, 200, OPEN, NULL}, {PODS, 200, NO_PODS, NULL}}},
    {"a write does not decide that there is no node",
     LKS_SCHED_DRAIN,
     0,
     LKS_E_NOT_FOUND,
     "the scheduler has no node 'n1'",
     {{GET, 200, OPEN, NULL}, {PATCH, 404, MISSING, NULL}, {GET, 404, MISSING, NULL}}},
    {"a policy that refuses the write",
     LKS_SCHED_RELEASE,
     0,
     LKS_OK,
     "open for work",
     {{GET, 200, HELD, NULL},
      {PATCH, 422, STATUS("ValidatingAdmissionPolicy 'x' denied request"), NULL},
      {GET, 200, HELD, NULL},
      {PATCH, 200, OPEN, NULL},
      {GET, 200, OPEN, NULL}}},
    {"a write whose answer is lost",
     LKS_SCHED_DRAIN,
     0,
     LKS_OK,
     "drained",
     {{GET, 200, OPEN, NULL},
      {PATCH, 0, "", NULL},
      {GET, 200, HELD, NULL},
      {PODS, 200, NO_PODS, NULL},
      {GET, 200, HELD, NULL}}},
};

static void check_request(const struct exchange *step, const struct lks_talk *talk)
{
    char line[LKS_HTTP_PATH_MAX + 16];
    snprintf(line, sizeof(line), "%s %" LKS_STR_FMT, talk->request.method,
             LKS_STR_ARG(lks_buf_view(&talk->request.path)));
    CHECK_HAS(lks_buf_view(&talk->request.head), "Authorization: Bearer abc.def\r\n");
    if (!CHECK(step->request != NULL && lks_str_starts(lks_str_from(line), step->request)))
        printf("     %s\n", line);
    if (step->sends != NULL)
        CHECK_HAS(lks_buf_view(&talk->request.body), step->sends);
}

/* What is said, or why not; where it is a drain of ours, the text says so. */
static void check_end(const struct script *s, const struct lks_sched_said *said,
                      const struct lks_err *err)
{
    CHECK_CODE(err->code, s->code);
    CHECK_HAS(lks_str_from(s->code == LKS_OK ? said->text : err->msg), s->text);
    CHECK(!said->ours || lks_sched_drained(said) == (strcmp(said->text, "drained") == 0));
}

static void play(const struct script *s)
{
    LKS_CLEANUP(lks_conversation_talk_fini) struct lks_talk talk = {0};
    const struct lks_sched_driver *driver = &lks_sched_kubernetes;
    const struct lks_sched_wish wish = {.verb = s->verb,
                                        .node = LKS_STR("n1"),
                                        .owner = LKS_STR("change:17"),
                                        .reason = LKS_STR("to b"),
                                        .row = 812,
                                        .epoch = s->epoch,
                                        .now = NOW,
                                        .login = {.token = LKS_STR("abc.def")},
                                        .deadline = NOW + LKS_SCHED_DEADLINE};
    struct lks_sched_said said;
    struct lks_err err = {0};
    lks_ms now = NOW;
    size_t at = 0;
    void *value = calloc(1, driver->talk->size);
    LKS_ASSERT(value != NULL);
    lks_conversation_talk_init(&talk);
    CHECK_CODE(driver->begin(value, &wish, &err), LKS_OK);
    for (unsigned i = 0; i < 100; i++) {
        lks_conversation_next(driver->talk, value, now, &talk);
        if (talk.kind == LKS_TALK_DONE || talk.kind == LKS_TALK_FAIL)
            break;
        now = talk.kind == LKS_TALK_WAIT ? talk.until : now + 1;
        if (talk.kind == LKS_TALK_WAIT)
            continue;
        if (!CHECK(at < SCRIPT_MAX))
            break;
        check_request(&s->steps[at], &talk);
        const struct lks_http_response answer = {
            .status = s->steps[at].status,
            .body = lks_str_from(s->steps[at].body != NULL ? s->steps[at].body : "")};
        lks_conversation_feed(driver->talk, value, now, answer.status == 0 ? NULL : &answer);
        at++;
    }
    driver->said(value, &said);
    check_end(s, &said, &talk.err);
    CHECK(at == SCRIPT_MAX || s->steps[at].request == NULL);
    free(value);
}

static void test_scripts(void)
{
    for (size_t i = 0; i < LKS_COUNT(scripts); i++) {
        lks_test_case("%s", scripts[i].name);
        play(&scripts[i]);
    }
}

/* The server says when to come again. */
static void test_retry_after(void)
{
    LKS_CLEANUP(lks_conversation_talk_fini) struct lks_talk talk = {0};
    const struct lks_sched_driver *driver = &lks_sched_kubernetes;
    const struct lks_sched_wish wish = {.verb = LKS_SCHED_LOOK,
                                        .node = LKS_STR("n1"),
                                        .owner = LKS_STR("change:17"),
                                        .deadline = NOW + LKS_SCHED_DEADLINE};
    const struct lks_http_response answer = {
        .status = 429, .head = LKS_STR("retry-after: 17\n"), .body = LKS_STR(STATUS("too many"))};
    struct lks_err err = {0};
    void *value = calloc(1, driver->talk->size);
    LKS_ASSERT(value != NULL);
    lks_conversation_talk_init(&talk);
    CHECK_CODE(driver->begin(value, &wish, &err), LKS_OK);
    lks_conversation_next(driver->talk, value, NOW, &talk);
    CHECK_STR(lks_buf_view(&talk.request.path), "/api/v1/nodes/n1");
    CHECK(lks_str_find(lks_buf_view(&talk.request.head), LKS_STR("Authorization")) < 0);
    lks_conversation_feed(driver->talk, value, NOW, &answer);
    lks_conversation_next(driver->talk, value, NOW, &talk);
    CHECK_INT(talk.kind, LKS_TALK_WAIT);
    CHECK_INT(talk.until, NOW + 17 * LKS_SECOND);
    free(value);
}

/* A list that does not end. */
static void test_endless(void)
{
    LKS_CLEANUP(lks_conversation_talk_fini) struct lks_talk talk = {0};
    const struct lks_sched_driver *driver = &lks_sched_kubernetes;
    const struct lks_sched_wish wish = {
        .verb = LKS_SCHED_LOOK, .node = LKS_STR("n1"), .deadline = NOW + LKS_SCHED_DEADLINE};
    struct lks_err err = {0};
    unsigned requests = 0;
    void *value = calloc(1, driver->talk->size);
    LKS_ASSERT(value != NULL);
    lks_conversation_talk_init(&talk);
    CHECK_CODE(driver->begin(value, &wish, &err), LKS_OK);
    lks_conversation_next(driver->talk, value, NOW, &talk);
    for (; talk.kind == LKS_TALK_SEND && requests < 1000; requests++) {
        const struct lks_http_response answer = {
            .status = 200,
            .body = lks_str_from(requests == 0 ? OPEN : LIST(",\"continue\":\"abc\"", ""))};
        lks_conversation_feed(driver->talk, value, NOW, &answer);
        lks_conversation_next(driver->talk, value, NOW, &talk);
    }
    CHECK_CODE(talk.err.code, LKS_E_UNAVAILABLE);
    CHECK_HAS(lks_str_from(talk.err.msg), "its pods do not end within 200 pages");
    CHECK_INT(requests, 201);
    free(value);
}

/* A token is one line without blanks, and no message repeats it. */
static void test_tokens(void)
{
    static const char *const bad[] = {"abc def", "abc\r\nX: y", "t\xc3\xb6ken"};
    void *value = calloc(1, lks_sched_kubernetes.talk->size);
    LKS_ASSERT(value != NULL);
    for (size_t i = 0; i < LKS_COUNT(bad); i++) {
        struct lks_err err = {0};
        const struct lks_sched_wish wish = {.verb = LKS_SCHED_LOOK,
                                            .node = LKS_STR("n1"),
                                            .login = {.token = lks_str_from(bad[i])},
                                            .deadline = NOW + LKS_SCHED_DEADLINE};
        lks_test_case("token %zu", i);
        CHECK_CODE(lks_sched_kubernetes.begin(value, &wish, &err), LKS_E_INVALID);
        CHECK(strstr(err.msg, bad[i]) == NULL);
    }
    free(value);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"nodes", test_nodes},
        {"more taints than can be written back", test_crowded},
        {"pods that count", test_pods},
        {"lists that are no good", test_odd_lists},
        {"conversations", test_scripts},
        {"a server that is busy", test_retry_after},
        {"a list that does not end", test_endless},
        {"tokens", test_tokens},
        {NULL, NULL},
    });
}
