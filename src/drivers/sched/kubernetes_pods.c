#include "drivers/sched/kubernetes_pods.h"

#include "codec/format/json_list.h"
#include "codec/kubernetes/pod.h"
#include "core/sched/jobs.h"
#include "drivers/sched/sched_said.h"

#include <stdio.h>
#include <string.h>

#define FIRST_MAX 70 /* bytes of a name beside when its grace ends */

/* What a pod uses --------------------------------------------------------------------------- */

/* How many; UNKNOWN: some, in an unusual notation. */
static uint32_t count_gpus(const struct lks_doc *amounts)
{
    const struct lks_doc *d =
        amounts != NULL && amounts->kind == LKS_DOC_MAP ? amounts->first : NULL;
    uint64_t sum = 0, one = 0;
    for (; d != NULL; d = d->next) {
        if (!lks_pod_is_gpu(d->key))
            continue;
        if (!lks_str_number(d->text, LKS_SCHED_JOBS_UNKNOWN - 1, &one))
            return LKS_SCHED_JOBS_UNKNOWN;
        sum += one;
    }
    return sum < LKS_SCHED_JOBS_UNKNOWN ? (uint32_t)sum : LKS_SCHED_JOBS_UNKNOWN;
}

static uint32_t add_gpus(uint32_t a, uint32_t b)
{
    return a >= LKS_SCHED_JOBS_UNKNOWN - b ? LKS_SCHED_JOBS_UNKNOWN : a + b;
}

/* Of all containers of a list; requests count where there are no limits. */
static uint32_t gpus_of(const struct lks_doc *containers)
{
    const struct lks_doc *d = containers != NULL ? containers->first : NULL;
    uint32_t sum = 0;
    for (; d != NULL; d = d->next) {
        const struct lks_doc *resources = lks_doc_member(d, "resources");
        uint32_t limits = count_gpus(lks_doc_member(resources, "limits"));
        sum =
            add_gpus(sum, limits > 0 ? limits : count_gpus(lks_doc_member(resources, "requests")));
    }
    return sum;
}

/* By device plugins and by ResourceClaims: which device a claim is for does not matter, and how
 * many it has is not in the pod. Init containers run before the others, not beside them. */
static uint32_t read_gpus(const struct lks_doc *spec, const struct lks_doc *status)
{
    const struct lks_doc *claims = lks_doc_member(spec, "resourceClaims");
    uint32_t main = gpus_of(lks_doc_member(spec, "containers"));
    uint32_t first = gpus_of(lks_doc_member(spec, "initContainers"));
    if ((claims != NULL && claims->first != NULL) ||
        lks_doc_member(status, "extendedResourceClaimStatus") != NULL)
        return LKS_SCHED_JOBS_UNKNOWN;
    return main > first ? main : first;
}

/* What it belongs to ------------------------------------------------------------------------ */

static const struct lks_doc *controller_of(const struct lks_doc *metadata)
{
    const struct lks_doc *owners = lks_doc_member(metadata, "ownerReferences");
    for (const struct lks_doc *d = owners != NULL ? owners->first : NULL; d != NULL; d = d->next) {
        if (lks_kubernetes_read_truth(d, "controller"))
            return d;
    }
    return NULL;
}

/* The workload by the labels that its controllers set, outer ones first: a JobSet makes Jobs. An
 * empty kind is that of the pod's own controller. Volcano uses an annotation. */
static const struct {
    const char *key, *kind;
} gangs[] = {
    {"jobset.sigs.k8s.io/jobset-name", "JobSet"},
    {"leaderworkerset.sigs.k8s.io/name", "LeaderWorkerSet"},
    {"ray.io/cluster", "RayCluster"},
    {"training.kubeflow.org/job-name", ""},
    {"scheduling.k8s.io/group-name", "PodGroup"},
    {"batch.kubernetes.io/job-name", "Job"},
};

static void read_owner(const struct lks_doc *metadata, const struct lks_doc *controller,
                       struct lks_kubernetes_pod *out)
{
    const struct lks_doc *labels = lks_doc_member(metadata, "labels");
    const struct lks_doc *annotations = lks_doc_member(metadata, "annotations");
    out->kind = lks_doc_text(controller, "kind");
    out->owner = lks_doc_text(controller, "name");
    for (size_t i = 0; i < LKS_COUNT(gangs); i++) {
        struct lks_str name = lks_doc_text(labels, gangs[i].key);
        name = name.len > 0 ? name : lks_doc_text(annotations, gangs[i].key);
        if (name.len == 0)
            continue;
        out->kind = gangs[i].kind[0] != '\0' ? lks_str_from(gangs[i].kind) : out->kind;
        out->owner = name;
        return;
    }
}

/* Its owner asks autoscalers to leave it alone. */
static bool is_kept(const struct lks_doc *metadata)
{
    const struct lks_doc *a = lks_doc_member(metadata, "annotations");
    return lks_str_is(lks_doc_text(a, "cluster-autoscaler.kubernetes.io/safe-to-evict"), "false") ||
           lks_str_is(lks_doc_text(a, "karpenter.sh/do-not-disrupt"), "true");
}

/* When it runs ------------------------------------------------------------------------------ */

static lks_ms read_time(const struct lks_doc *map, const char *key)
{
    lks_ms at = 0;
    return lks_time_parse(lks_doc_text(map, key), &at) ? at : 0;
}

/* When its deadline is over. 0: it has none, or did not start yet. */
static lks_ms ends(const struct lks_doc *spec, lks_ms started)
{
    const struct lks_doc *limit = lks_doc_member(spec, "activeDeadlineSeconds");
    if (limit == NULL || limit->kind != LKS_DOC_NUMBER || limit->fraction || limit->number <= 0 ||
        started == 0 || (uint64_t)limit->number > (LKS_TIME_MAX - started) / LKS_SECOND)
        return 0;
    return started + (uint64_t)limit->number * LKS_SECOND;
}

static bool is_over(const struct lks_doc *status)
{
    struct lks_str phase = lks_doc_text(status, "phase");
    return lks_str_is(phase, "Succeeded") || lks_str_is(phase, "Failed");
}

/* False: it has no name. */
static bool read_pod(const struct lks_doc *pod, struct lks_kubernetes_pod *out)
{
    const struct lks_doc *metadata = lks_doc_member(pod, "metadata");
    const struct lks_doc *spec = lks_doc_member(pod, "spec");
    const struct lks_doc *status = lks_doc_member(pod, "status");
    const struct lks_doc *controller = controller_of(metadata);
    *out = (struct lks_kubernetes_pod){.namespace = lks_doc_text(metadata, "namespace"),
                                       .name = lks_doc_text(metadata, "name"),
                                       .uid = lks_doc_text(metadata, "uid"),
                                       .node = lks_doc_text(spec, "nodeName"),
                                       .gpus = read_gpus(spec, status),
                                       .keeps = is_kept(metadata),
                                       .controlled = controller != NULL,
                                       .started = read_time(status, "startTime"),
                                       .deleted = read_time(metadata, "deletionTimestamp")};
    out->counts =
        !is_over(status) && !lks_pod_is_of_node(metadata) && lks_pod_uses_gpus(spec, status);
    out->ends = ends(spec, out->started);
    read_owner(metadata, controller, out);
    return out->name.len > 0;
}

/* Pages ------------------------------------------------------------------------------------- */

/* Where the next page begins, in characters that a query may have. */
static bool read_more(struct lks_str body, char out[LKS_KUBERNETES_READ_CONTINUE + 1])
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_err err = {0};
    struct lks_str text;
    if (!lks_json_list_member(body, "metadata", &text))
        return false;
    const struct lks_doc *top = lks_kubernetes_read_json(text, &docs, &err);
    struct lks_str more = lks_doc_text(top, "continue");
    bool good = top != NULL && more.len <= LKS_KUBERNETES_READ_CONTINUE;
    for (size_t i = 0; i < more.len && good; i++) {
        char c = more.ptr[i];
        good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '-' || c == '_' || c == '=';
    }
    if (good)
        lks_sched_said_keep(out, LKS_KUBERNETES_READ_CONTINUE + 1, more);
    return good;
}

static bool take_pod(struct lks_str element, lks_kubernetes_pods_take *take, void *context,
                     char why[LKS_SCHED_REASON_MAX + 1])
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_err err = {0};
    struct lks_kubernetes_pod pod;
    const struct lks_doc *doc = lks_kubernetes_read_json(element, &docs, &err);
    if (doc != NULL && read_pod(doc, &pod))
        return take(context, &pod, why);
    lks_kubernetes_read_tell(why, "a pod that cannot be read%s%s", doc == NULL ? ": " : "",
                             err.msg);
    return false;
}

bool lks_kubernetes_pods_page(struct lks_str body, lks_kubernetes_pods_take *take, void *context,
                              char more[LKS_KUBERNETES_READ_CONTINUE + 1],
                              char why[LKS_SCHED_REASON_MAX + 1])
{
    struct lks_str list, element;
    enum lks_json_list next = LKS_JSON_LIST_BROKEN;
    bool good = lks_kubernetes_read_is(body, "\"PodList\"") && read_more(body, more) &&
                lks_json_list_member(body, "items", &list);
    if (good && lks_str_is(list, "null"))
        list = LKS_STR("[]"); /* how Go writes a list that was never made */
    if (!good || !lks_json_list_open(&list)) {
        lks_kubernetes_read_tell(why, "an answer without a list of pods, or not all of it");
        return false;
    }
    while ((next = lks_json_list_next(&list, &element)) == LKS_JSON_LIST_ELEMENT) {
        if (!take_pod(element, take, context, why))
            return false;
    }
    if (next != LKS_JSON_LIST_END)
        lks_kubernetes_read_tell(why, "a list of pods that is not closed");
    return next == LKS_JSON_LIST_END;
}

/* Names ------------------------------------------------------------------------------------- */

void lks_kubernetes_pods_id(const struct lks_kubernetes_pod *pod,
                            char out[LKS_KUBERNETES_PODS_ID + 1])
{
    size_t len =
        pod->uid.len < LKS_KUBERNETES_PODS_UID_SHORT ? pod->uid.len : LKS_KUBERNETES_PODS_UID_SHORT;
    snprintf(out, LKS_KUBERNETES_PODS_ID + 1, "%" LKS_STR_FMT "/%" LKS_STR_FMT "#%" LKS_STR_FMT,
             LKS_STR_ARG(pod->namespace), LKS_STR_ARG(pod->name), (int)len, pod->uid.ptr);
    lks_str_make_printable(out);
}

/* What stands in a path of its own. */
static bool is_name(struct lks_str s, size_t max)
{
    bool good = s.len > 0 && s.len <= max && s.ptr[0] != '.';
    for (size_t i = 0; i < s.len && good; i++) {
        char c = s.ptr[i];
        good = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
    }
    return good;
}

bool lks_kubernetes_pods_named(struct lks_str id, struct lks_str *namespace, struct lks_str *name)
{
    struct lks_str rest, uid;
    return lks_str_cut(id, '/', namespace, &rest) && lks_str_cut(rest, '#', name, &uid) &&
           is_name(*namespace, LKS_KUBERNETES_PODS_NAMESPACE) &&
           is_name(*name, LKS_KUBERNETES_PODS_NAME) && is_name(uid, LKS_KUBERNETES_PODS_UID_SHORT);
}

/* Pods of a node ---------------------------------------------------------------------------- */

struct counting {
    struct lks_str node;
    struct lks_kubernetes_pods *to;
};

static void name_first(const struct lks_kubernetes_pod *pod, struct lks_kubernetes_pods *to)
{
    char until[LKS_TIME_TEXT_SIZE];
    int len = snprintf(to->first, sizeof(to->first), "%" LKS_STR_FMT "/%" LKS_STR_FMT,
                       LKS_STR_ARG(pod->namespace), LKS_STR_ARG(pod->name));
    if (pod->deleted > 0 && len > 0 && len < FIRST_MAX)
        snprintf(to->first + len, sizeof(to->first) - (size_t)len,
                 " (terminating, its grace ends %s)", lks_time_text(pod->deleted, until));
    lks_str_make_printable(to->first);
}

static bool count_pod(void *context, const struct lks_kubernetes_pod *pod,
                      char why[LKS_SCHED_REASON_MAX + 1])
{
    const struct counting *c = context;
    struct lks_kubernetes_pods *to = c->to;
    if (!lks_str_eq(pod->node, c->node)) {
        lks_kubernetes_read_tell(why, "a pod that is not of node '%" LKS_STR_FMT "'",
                                 LKS_STR_ARG(c->node));
        return false;
    }
    if (!pod->counts)
        return true;
    if (to->count == 0)
        name_first(pod, to);
    to->count += to->count < LKS_SCHED_JOBS_MAX;
    to->endless = to->endless || pod->ends == 0;
    to->ends = pod->ends > to->ends ? pod->ends : to->ends;
    return true;
}

bool lks_kubernetes_pods_count(struct lks_str body, struct lks_str node,
                               struct lks_kubernetes_pods *to, char why[LKS_SCHED_REASON_MAX + 1])
{
    struct lks_kubernetes_pods found = *to;
    struct counting counting = {node, &found};
    if (!lks_kubernetes_pods_page(body, count_pod, &counting, found.more, why))
        return false;
    *to = found;
    return true;
}
