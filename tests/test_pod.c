/* Pods of Kubernetes: what is read of them, and what is added. */
#include "codec/kubernetes/pod.h"

#include "codec/format/json.h"
#include "codec/kubernetes/pod_patch.h"
#include "codec/notation/collective_env.h"
#include "tests/patches.h"
#include "tests/test.h"

#include <stdio.h>

enum { TEXT_MAX = 16 << 10 };

#define GPU     "\"resources\":{\"limits\":{\"nvidia.com/gpu\":\"8\"}}"
#define C(rest) "{\"name\":\"c\",\"image\":\"r/a:1\"" rest "}"
#define SPEC(more)                                                                                 \
    "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":[" C("," GPU) "]" more "}}"
#define META(meta)                                                                                 \
    "{\"metadata\":{\"name\":\"p\"," meta "},\"spec\":{\"containers\":[" C("," GPU) "]}}"
#define BARE(cs, more) "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":[" cs "]" more "}}"

#define TERMS(list)                                                                                \
    SPEC(",\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{"   \
         "\"nodeSelectorTerms\":[" list "]}}}")

static struct lks_doc *parse(struct lks_docs *docs, const char *text)
{
    struct lks_err err = {0};
    LKS_ASSERT(lks_docs_init(docs, "pod", &err) == LKS_OK);
    docs->fractions = true;
    if (lks_json_parse(lks_str_from(text), docs, &err) != LKS_OK)
        lks_assert_failed(err.msg, __FILE__, __LINE__);
    return docs->first;
}

/* GPUs ---------------------------------------------------------------------------------------- */

static const struct {
    const char *name, *pod;
    bool gpus, of_node;
    const char *marks; /* of the containers, in order: '1' uses GPUs */
} uses[] = {
    {"a limit", BARE(C("," GPU), ""), true, false, "1"},
    {"a request", BARE(C(",\"resources\":{\"requests\":{\"amd.com/gpu\":\"1\"}}"), ""), true, false,
     "1"},
    {"a MIG device", BARE(C(",\"resources\":{\"limits\":{\"nvidia.com/mig-1g.10gb\":\"1\"}}"), ""),
     true, false, "1"},
    {"a device of a DeviceClass",
     BARE(C(",\"resources\":{\"limits\":{\"deviceclass.resource.kubernetes.io/"
            "gpu.example.com\":\"1\"}}"),
          ""),
     true, false, "1"},
    {"a claim in another container",
     BARE(C("," GPU) "," C(",\"resources\":{\"claims\":[{\"name\":\"g\"}]}") "," C(""),
          ",\"resourceClaims\":[{\"name\":\"g\"}]"),
     true, false, "110"},
    {"no GPU", BARE(C(",\"resources\":{\"limits\":{\"cpu\":\"1\"}}"), ""), false, false, "0"},
    {"zero GPUs", BARE(C(",\"resources\":{\"limits\":{\"nvidia.com/gpu\":\"0\"}}"), ""), false,
     false, "0"},
    {"a resource that only ends like one",
     BARE(C(",\"resources\":{\"limits\":{\"x.nvidia.com/gpu\":\"1\"}}"), ""), false, false, "0"},
    {"an init container", BARE(C(""), ",\"initContainers\":[" C("," GPU) "]"), true, false, "01"},
    {"a claim of the pod", BARE(C(""), ",\"resourceClaims\":[{\"name\":\"g\"}]"), true, false, "1"},
    {"a claim of one container",
     BARE(C("") "," C(",\"resources\":{\"claims\":[{\"name\":\"g\"}]}"),
          ",\"resourceClaims\":[{\"name\":\"g\"}]"),
     true, false, "01"},
    {"a sidecar without GPUs", BARE(C("," GPU) "," C(""), ""), true, false, "10"},
    {"a DaemonSet", META("\"ownerReferences\":[{\"kind\":\"DaemonSet\",\"controller\":true}]"),
     true, true, "1"},
    {"a DaemonSet that does not control it", META("\"ownerReferences\":[{\"kind\":\"DaemonSet\"}]"),
     true, false, "1"},
    {"a static pod", META("\"annotations\":{\"kubernetes.io/config.mirror\":\"x\"}"), true, true,
     "1"},
};

static void test_uses(void)
{
    for (size_t i = 0; i < LKS_COUNT(uses); i++) {
        LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
        struct lks_pod pod;
        struct lks_err err = {0};
        lks_test_case("%s", uses[i].name);
        if (!CHECK_CODE(lks_pod_read(&docs, parse(&docs, uses[i].pod), &pod, &err), LKS_OK))
            continue;
        CHECK(pod.gpus == uses[i].gpus);
        CHECK(pod.of_node == uses[i].of_node);
        char marks[8] = "";
        for (size_t k = 0; k < pod.container_count; k++)
            marks[k] = pod.containers[k].gpus ? '1' : '0';
        CHECK_STR(lks_str_from(marks), uses[i].marks);
    }
}

static const struct {
    const char *name, *pod, *said;
} broken[] = {
    {"no map", "[]", "expected a Pod with metadata and spec"},
    {"no metadata", "{\"spec\":{}}", "expected a Pod with metadata and spec"},
    {"no containers", "{\"metadata\":{},\"spec\":{}}", "expected a Pod with containers"},
    {"an empty list", "{\"metadata\":{},\"spec\":{\"containers\":[]}}", "with containers"},
    {"containers that are none", "{\"metadata\":{},\"spec\":{\"containers\":{}}}", "expected list"},
    {"a container that is none", "{\"metadata\":{},\"spec\":{\"containers\":[1]}}",
     "expected a map"},
    {"affinity that is none", SPEC(",\"affinity\":[]"), "expected map"},
    {"terms that are none", TERMS("1"), "expected a map"},
    {"an environment that is none", BARE(C(",\"env\":{}," GPU), ""), "expected list"},
};

static void test_broken(void)
{
    for (size_t i = 0; i < LKS_COUNT(broken); i++) {
        LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
        struct lks_pod pod;
        struct lks_err err = {0};
        lks_test_case("%s", broken[i].name);
        CHECK_CODE(lks_pod_read(&docs, parse(&docs, broken[i].pod), &pod, &err), LKS_E_INVALID);
        CHECK_HAS(lks_str_from(err.msg), broken[i].said);
    }
}

static void test_too_many(void)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_MAX);
    struct lks_pod pod;
    struct lks_err err = {0};
    lks_buf_addf(&text, "{\"metadata\":{},\"spec\":{\"containers\":[{}");
    for (int i = 0; i < LKS_POD_CONTAINERS_MAX; i++)
        lks_buf_addf(&text, ",{}");
    lks_buf_addf(&text, "]}}");
    CHECK_CODE(lks_pod_read(&docs, parse(&docs, text.ptr), &pod, &err), LKS_E_LIMIT);
}

/* Gangs --------------------------------------------------------------------------------------- */

#define LABELS(list) META("\"labels\":{" list "}")

static const struct {
    const char *name, *pod, *gang; /* "KIND NAME LABELS" */
} gangs[] = {
    {"none", SPEC(""), ""},
    {"an indexed Job",
     LABELS("\"batch.kubernetes.io/job-name\":\"t\","
            "\"batch.kubernetes.io/job-completion-index\":\"0\""),
     "Job t batch.kubernetes.io/job-name=t"},
    {"a Job whose pods are independent", LABELS("\"batch.kubernetes.io/job-name\":\"t\""), ""},
    {"a JobSet, before its Jobs",
     LABELS("\"jobset.sigs.k8s.io/jobset-name\":\"s\",\"batch.kubernetes.io/job-name\":\"s-w-0\","
            "\"batch.kubernetes.io/job-completion-index\":\"0\""),
     "JobSet s jobset.sigs.k8s.io/jobset-name=s"},
    {"a group of a LeaderWorkerSet",
     LABELS("\"leaderworkerset.sigs.k8s.io/name\":\"l\","
            "\"leaderworkerset.sigs.k8s.io/group-index\":\"2\""),
     "LeaderWorkerSet l leaderworkerset.sigs.k8s.io/name=l "
     "leaderworkerset.sigs.k8s.io/group-index=2"},
    {"a LeaderWorkerSet whose group is not known yet",
     LABELS("\"leaderworkerset.sigs.k8s.io/name\":\"l\""), ""},
    {"the training operator", LABELS("\"training.kubeflow.org/job-name\":\"p\""),
     "training job p training.kubeflow.org/job-name=p"},
    {"Ray", LABELS("\"ray.io/cluster\":\"r\""), "RayCluster r ray.io/cluster=r"},
    {"Volcano's own job", LABELS("\"volcano.sh/job-name\":\"v\""),
     "Volcano job v volcano.sh/job-name=v"},
    {"a PodGroup by annotation", META("\"annotations\":{\"scheduling.k8s.io/group-name\":\"g\"}"),
     "PodGroup g"},
    {"a pod group of Kueue", LABELS("\"kueue.x-k8s.io/pod-group-name\":\"k\""),
     "pod group of Kueue k kueue.x-k8s.io/pod-group-name=k"},
};

static void test_gangs(void)
{
    for (size_t i = 0; i < LKS_COUNT(gangs); i++) {
        LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(TEXT_MAX);
        struct lks_pod pod;
        struct lks_err err = {0};
        lks_test_case("%s", gangs[i].name);
        if (!CHECK_CODE(lks_pod_read(&docs, parse(&docs, gangs[i].pod), &pod, &err), LKS_OK))
            continue;
        if (pod.gang.kind != NULL)
            lks_buf_addf(&out, "%s %" LKS_STR_FMT, pod.gang.kind, LKS_STR_ARG(pod.gang.name));
        for (size_t k = 0; k < pod.gang.labels; k++)
            lks_buf_addf(&out, " %" LKS_STR_FMT "=%" LKS_STR_FMT, LKS_STR_ARG(pod.gang.keys[k]),
                         LKS_STR_ARG(pod.gang.values[k]));
        CHECK_STR(lks_buf_view(&out), gangs[i].gang);
    }
}

/* Nodes --------------------------------------------------------------------------------------- */

#define IN(key, values) "{\"key\":\"" key "\",\"operator\":\"In\",\"values\":[" values "]}"
#define HOST            "kubernetes.io/hostname"

static const struct {
    const char *name, *pod, *nodes; /* "*": by spec.nodeName */
} choices[] = {
    {"any node", SPEC(""), ""},
    {"spec.nodeName", SPEC(",\"nodeName\":\"g1\""), "* g1"},
    {"the label of the host", SPEC(",\"nodeSelector\":{\"" HOST "\":\"g1\"}"), " g1"},
    {"another label", SPEC(",\"nodeSelector\":{\"zone\":\"g1\"}"), ""},
    {"one of two in one term",
     TERMS("{\"matchExpressions\":[" IN("zone", "\"a\"") "," IN(HOST, "\"g1\",\"g2\"") "]}"),
     " g1 g2"},
    {"two terms",
     TERMS("{\"matchExpressions\":[" IN(HOST, "\"g1\"") "]},{\"matchExpressions\":[" IN(
         HOST, "\"g1\",\"g3\"") "]}"),
     " g1 g3"},
    {"a term that allows others",
     TERMS("{\"matchExpressions\":[" IN(HOST, "\"g1\"") "]},{\"matchExpressions\":[" IN(
         "zone", "\"a\"") "]}"),
     ""},
    {"a term that matches no node", TERMS("{},{\"matchExpressions\":[" IN(HOST, "\"g1\"") "]}"),
     " g1"},
    {"another operator",
     TERMS("{\"matchExpressions\":[{\"key\":\"" HOST
           "\",\"operator\":\"NotIn\",\"values\":[\"g1\"]}]}"),
     ""},
    {"the name as a field", TERMS("{\"matchFields\":[" IN("metadata.name", "\"g4\"") "]}"), " g4"},
};

static void test_choices(void)
{
    for (size_t i = 0; i < LKS_COUNT(choices); i++) {
        LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(TEXT_MAX);
        struct lks_pod pod;
        struct lks_pod_choice choice;
        struct lks_err err = {0};
        lks_test_case("%s", choices[i].name);
        if (!CHECK_CODE(lks_pod_read(&docs, parse(&docs, choices[i].pod), &pod, &err), LKS_OK))
            continue;
        if (lks_pod_choose_nodes(&pod, &choice))
            lks_buf_addc(&out, '*');
        for (size_t k = 0; k < choice.count; k++)
            lks_buf_addf(&out, " %" LKS_STR_FMT, LKS_STR_ARG(choice.values[k]));
        CHECK_STR(lks_buf_view(&out), choices[i].nodes);
    }
}

static void test_too_many_choices(void)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_MAX);
    struct lks_pod pod;
    struct lks_pod_choice choice;
    struct lks_err err = {0};
    lks_buf_addf(&text, "{\"metadata\":{},\"spec\":{\"containers\":[{}],\"affinity\":{"
                        "\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{"
                        "\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"" HOST
                        "\",\"operator\":\"In\",\"values\":[\"x\"");
    for (int i = 0; i < LKS_POD_CHOICES_MAX; i++)
        lks_buf_addf(&text, ",\"g%d\"", i);
    lks_buf_addf(&text, "]}]}]}}}}}");
    CHECK_CODE(lks_pod_read(&docs, parse(&docs, text.ptr), &pod, &err), LKS_OK);
    (void)lks_pod_choose_nodes(&pod, &choice);
    CHECK_INT(choice.count, 0);
}

/* Patches ------------------------------------------------------------------------------------- */

#define RULE     "requiredDuringSchedulingIgnoredDuringExecution"
#define VERDICT  "{\"key\":\"lockstep.dev/verdict\",\"operator\":\"In\",\"values\":[\"conform\"]}"
#define REQUIRED "{\"nodeSelectorTerms\":[{\"matchExpressions\":[" VERDICT "]}]}"
#define MATE                                                                                       \
    "{\"labelSelector\":{\"matchLabels\":{\"ray.io/cluster\":\"r\"}},"                             \
    "\"topologyKey\":\"lockstep.dev/digest\"}"
#define ADD(path, value) "{\"op\":\"add\",\"path\":\"" path "\",\"value\":" value "}"
#define GANG(more)                                                                                 \
    "{\"metadata\":{\"name\":\"p\",\"labels\":{\"ray.io/cluster\":\"r\"}},\"spec\":{"              \
    "\"containers\":[" C("," GPU) "]" more "}}"
#define TERM_AT "/spec/affinity/nodeAffinity/" RULE "/nodeSelectorTerms/"

static const char env[] =
    "{\"NCCL_IB_HCA\":\"mlx5\",\"LD_PRELOAD\":\"x\",\"NCCL_X\":\"a$(B)\\\"c\\\\\"}";
#define HCA "{\"name\":\"NCCL_IB_HCA\",\"value\":\"mlx5\"}"
#define ODD "{\"name\":\"NCCL_X\",\"value\":\"a$$(B)\\\"c\\\\\"}"

static const struct {
    const char *name, *pod;
    bool conform, gang, env;
    const char *patch;
} patches[] = {
    {"nothing is wanted", SPEC(""), false, false, false, ""},
    {"no affinity", SPEC(""), true, true, false,
     "[" ADD("/spec/affinity", "{\"nodeAffinity\":{\"" RULE "\":" REQUIRED "}}") "]"},
    {"no affinity, and a gang", GANG(""), true, true, false,
     "[" ADD("/spec/affinity", "{\"nodeAffinity\":{\"" RULE "\":" REQUIRED
                               "},\"podAffinity\":{\"" RULE "\":[" MATE "]}}") "]"},
    {"a gang alone", GANG(""), false, true, false,
     "[" ADD("/spec/affinity", "{\"podAffinity\":{\"" RULE "\":[" MATE "]}}") "]"},
    {"affinity of null", SPEC(",\"affinity\":null"), true, false, false,
     "[" ADD("/spec/affinity", "{\"nodeAffinity\":{\"" RULE "\":" REQUIRED "}}") "]"},
    {"affinity of other kinds", GANG(",\"affinity\":{\"podAntiAffinity\":{}}"), true, true, false,
     "[" ADD("/spec/affinity/nodeAffinity", "{\"" RULE "\":" REQUIRED "}") "," ADD(
         "/spec/affinity/podAffinity", "{\"" RULE "\":[" MATE "]}") "]"},
    {"affinity that is only preferred",
     GANG(",\"affinity\":{\"nodeAffinity\":{\"preferredDuringSchedulingIgnoredDuringExecution\":"
          "[]},\"podAffinity\":{}}"),
     true, true, false,
     "[" ADD("/spec/affinity/nodeAffinity/" RULE,
             REQUIRED) "," ADD("/spec/affinity/podAffinity/" RULE, "[" MATE "]") "]"},
    {"every term gets it",
     TERMS("{\"matchExpressions\":[" IN("zone", "\"a\"") "]},{\"matchFields\":[" IN("metadata.name",
                                                                                    "\"g1\"") "]}"),
     true, true, false,
     "[" ADD(TERM_AT "0/matchExpressions/-", VERDICT) "," ADD(TERM_AT "1/matchExpressions",
                                                              "[" VERDICT "]") "]"},
    {"a term that matches no node stays so",
     TERMS("{},{\"matchExpressions\":[" IN("zone", "\"a\"") "]}"), true, false, false,
     "[" ADD(TERM_AT "1/matchExpressions/-", VERDICT) "]"},
    {"a term that has it",
     TERMS("{\"matchExpressions\":[" VERDICT "]},{\"matchExpressions\":[" IN("zone", "\"a\"") "]}"),
     true, false, false, "[" ADD(TERM_AT "1/matchExpressions/-", VERDICT) "]"},
    {"a weaker wish of the pod",
     TERMS("{\"matchExpressions\":[" IN("lockstep.dev/verdict", "\"conform\",\"drift\"") "]}"),
     true, false, false, "[" ADD(TERM_AT "0/matchExpressions/-", VERDICT) "]"},
    {"affinity to other pods, too",
     GANG(",\"affinity\":{\"podAffinity\":{\"" RULE "\":[{\"topologyKey\":\"zone\"}]}}"), false,
     true, false, "[" ADD("/spec/affinity/podAffinity/" RULE "/-", MATE) "]"},
    {"affinity by digest that the pod brings",
     GANG(",\"affinity\":{\"podAffinity\":{\"" RULE
          "\":[{\"topologyKey\":\"lockstep.dev/digest\"}]}}"),
     false, true, false, ""},
    {"no environment", SPEC(""), false, false, true,
     "[" ADD("/spec/containers/0/env", "[" HCA "," ODD "]") "]"},
    {"the pod's own value wins",
     BARE(C(",\"env\":[{\"name\":\"NCCL_IB_HCA\",\"value\":\"\"}]," GPU), ""), false, false, true,
     "[" ADD("/spec/containers/0/env/-", ODD) "]"},
    {"an empty list", BARE(C(",\"env\":[]," GPU), ""), false, false, true,
     "[" ADD("/spec/containers/0/env/-", HCA) "," ADD("/spec/containers/0/env/-", ODD) "]"},
    {"containers that use GPUs alone",
     BARE(C("") "," C("," GPU), ",\"initContainers\":[" C("") "," C("," GPU) "]"), false, false,
     true,
     "[" ADD("/spec/containers/1/env", "[" HCA "," ODD "]") "," ADD("/spec/initContainers/1/env",
                                                                    "[" HCA "," ODD "]") "]"},
    {"an environment that cannot be read",
     BARE(C(",\"envFrom\":[{\"configMapRef\":{\"name\":\"e\"}}]," GPU), ""), false, false, true,
     ""},
};

static enum lks_code write_patch(const struct lks_docs *docs, const struct lks_doc *doc, size_t i,
                                 struct lks_buf *out)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs variables = {0};
    struct lks_pod pod;
    struct lks_err err = {0};
    const struct lks_pod_patch want = {patches[i].conform, patches[i].gang,
                                       patches[i].env ? parse(&variables, env) : NULL};
    if (!CHECK_CODE(lks_pod_read(docs, doc, &pod, &err), LKS_OK))
        return err.code;
    return lks_pod_patch_write(&pod, &want, out, &err);
}

/* The patch is the wanted one, applies, and a second time there is nothing to add. */
static void test_patches(void)
{
    for (size_t i = 0; i < LKS_COUNT(patches); i++) {
        LKS_CLEANUP(lks_docs_fini) struct lks_docs patch = {0};
        LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(TEXT_MAX);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf again = LKS_BUF(TEXT_MAX);
        lks_test_case("%s", patches[i].name);
        struct lks_doc *doc = parse(&docs, patches[i].pod);
        CHECK_CODE(write_patch(&docs, doc, i, &out), LKS_OK);
        if (!CHECK_STR(lks_buf_view(&out), patches[i].patch) || out.len == 0)
            continue;
        (void)parse(&patch, out.ptr);
        CHECK(lks_patches_apply(doc, &patch));
        CHECK_CODE(write_patch(&docs, doc, i, &again), LKS_OK);
        CHECK_STR(lks_buf_view(&again), "");
    }
}

static void test_variables(void)
{
    static const struct {
        const char *name;
        bool ours;
    } rows[] = {{"NCCL_IB_HCA", true}, {"RCCL_X", true},   {"FI_PROVIDER", true}, {"NCCL", false},
                {"LD_PRELOAD", false}, {"XNCCL_A", false}, {"NCCL_A B", false},   {"", false}};
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%s", rows[i].name);
        CHECK(lks_collective_env_is(lks_str_from(rows[i].name)) == rows[i].ours);
    }
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"which pods use GPUs", test_uses},
        {"what is no pod", test_broken},
        {"more containers than are read", test_too_many},
        {"gangs", test_gangs},
        {"nodes that a pod names", test_choices},
        {"more nodes than are read", test_too_many_choices},
        {"patches", test_patches},
        {"variables of collectives", test_variables},
        {0},
    };
    return lks_test_main(tests);
}
