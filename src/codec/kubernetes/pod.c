#include "codec/kubernetes/pod.h"

#define REQUIRED "requiredDuringSchedulingIgnoredDuringExecution"

/* Domains of the extended resources by which device plugins hand out GPUs, whole or in parts:
 * nvidia.com/gpu, nvidia.com/mig-1g.10gb, amd.com/gpu, amd.com/cpx_nps4. The last is that of
 * devices of any DeviceClass, which count as claims do. */
static const char *const gpu_domains[] = {"nvidia.com/", "amd.com/",
                                          "deviceclass.resource.kubernetes.io/"};

static bool is_true(const struct lks_doc *map, const char *key)
{
    const struct lks_doc *doc = lks_doc_member(map, key);
    return doc != NULL && doc->kind == LKS_DOC_BOOL && doc->truth;
}

const struct lks_doc *lks_pod_next(const struct lks_doc *list, const struct lks_doc *last)
{
    if (list == NULL || list->kind != LKS_DOC_LIST)
        return NULL;
    const struct lks_doc *d = last != NULL ? last->next : list->first;
    while (d != NULL && d->kind != LKS_DOC_MAP)
        d = d->next;
    return d;
}

/* GPUs -------------------------------------------------------------------------------------- */

bool lks_pod_is_gpu(struct lks_str resource)
{
    for (size_t i = 0; i < LKS_COUNT(gpu_domains); i++) {
        if (lks_str_starts(resource, gpu_domains[i]))
            return true;
    }
    return false;
}

static bool has_gpus(const struct lks_doc *amounts)
{
    const struct lks_doc *d =
        amounts != NULL && amounts->kind == LKS_DOC_MAP ? amounts->first : NULL;
    for (; d != NULL; d = d->next) {
        if (lks_pod_is_gpu(d->key) && !lks_str_is(d->text, "0"))
            return true;
    }
    return false;
}

static bool asks_for_gpus(const struct lks_doc *container)
{
    const struct lks_doc *resources = lks_doc_member(container, "resources");
    return has_gpus(lks_doc_member(resources, "limits")) ||
           has_gpus(lks_doc_member(resources, "requests"));
}

static bool ask_for_gpus(const struct lks_doc *containers)
{
    const struct lks_doc *d = NULL;
    while ((d = lks_pod_next(containers, d)) != NULL) {
        if (asks_for_gpus(d))
            return true;
    }
    return false;
}

/* By a device plugin, or by a ResourceClaim: which device that is for does not matter. */
bool lks_pod_uses_gpus(const struct lks_doc *spec, const struct lks_doc *status)
{
    const struct lks_doc *claims = lks_doc_member(spec, "resourceClaims");
    return (claims != NULL && claims->first != NULL) ||
           lks_doc_member(status, "extendedResourceClaimStatus") != NULL ||
           ask_for_gpus(lks_doc_member(spec, "containers")) ||
           ask_for_gpus(lks_doc_member(spec, "initContainers"));
}

bool lks_pod_is_of_node(const struct lks_doc *metadata)
{
    const struct lks_doc *owners = lks_doc_member(metadata, "ownerReferences");
    const struct lks_doc *d = NULL;
    if (lks_doc_member(lks_doc_member(metadata, "annotations"), "kubernetes.io/config.mirror") !=
        NULL)
        return true;
    while ((d = lks_pod_next(owners, d)) != NULL) {
        if (is_true(d, "controller") && lks_str_is(lks_doc_text(d, "kind"), "DaemonSet"))
            return true;
    }
    return false;
}

/* Containers -------------------------------------------------------------------------------- */

static bool has_claims(const struct lks_doc *container)
{
    const struct lks_doc *claims = lks_doc_member(lks_doc_member(container, "resources"), "claims");
    return claims != NULL && claims->first != NULL;
}

static enum lks_code read_containers(const char *key, bool init, struct lks_pod *out,
                                     struct lks_err *err)
{
    const struct lks_doc *list = lks_doc_member(out->spec, key), *d = NULL;
    size_t at = 0;
    if (list == NULL || list->kind == LKS_DOC_NULL)
        return LKS_OK;
    for (d = list->first; d != NULL; d = d->next, at++) {
        if (out->container_count == LKS_POD_CONTAINERS_MAX)
            return lks_fail(err, LKS_E_LIMIT, "more than %d containers in one pod",
                            LKS_POD_CONTAINERS_MAX);
        out->containers[out->container_count++] = (struct lks_pod_container){
            .doc = d,
            .name = lks_doc_text(d, "name"),
            .image = lks_doc_text(d, "image"),
            .at = at,
            .init = init,
            .gpus = asks_for_gpus(d),
        };
    }
    return LKS_OK;
}

/* Containers with GPUs or claims; without one all. */
static void mark_gpus(struct lks_pod *pod)
{
    bool any = false;
    for (size_t i = 0; i < pod->container_count; i++) {
        struct lks_pod_container *c = &pod->containers[i];
        c->gpus = c->gpus || has_claims(c->doc);
        any = any || c->gpus;
    }
    for (size_t i = 0; i < pod->container_count && !any && pod->gpus; i++)
        pod->containers[i].gpus = true;
}

/* Gangs ------------------------------------------------------------------------------------- */

/* The first row whose labels a pod has is its gang: a JobSet is before the Jobs that it makes.
 * `also` is a label that is part of the gang's name; `needs` is one that a pod must have. */
static const struct {
    const char *kind, *label, *also, *needs, *annotation;
} gangs[] = {
    {.kind = "LeaderWorkerSet",
     .label = "leaderworkerset.sigs.k8s.io/name",
     .also = "leaderworkerset.sigs.k8s.io/group-index"},
    {.kind = "JobSet", .label = "jobset.sigs.k8s.io/jobset-name"},
    {.kind = "training job", .label = "training.kubeflow.org/job-name"},
    {.kind = "RayCluster", .label = "ray.io/cluster"},
    {.kind = "Volcano job", .label = "volcano.sh/job-name"},
    {.kind = "pod group of Kueue", .label = "kueue.x-k8s.io/pod-group-name"},
    {.kind = "PodGroup", .label = "scheduling.x-k8s.io/pod-group"},
    {.kind = "PodGroup", .annotation = "scheduling.k8s.io/group-name"},
    {.kind = "Job",
     .label = "batch.kubernetes.io/job-name",
     .needs = "batch.kubernetes.io/job-completion-index"},
};

struct lks_str lks_pod_label(const struct lks_pod *pod, const char *key)
{
    return lks_doc_text(lks_doc_member(pod->metadata, "labels"), key);
}

struct lks_str lks_pod_annotation(const struct lks_pod *pod, const char *key)
{
    return lks_doc_text(lks_doc_member(pod->metadata, "annotations"), key);
}

static void add_label(struct lks_pod_gang *gang, const char *key, struct lks_str value)
{
    gang->keys[gang->labels] = lks_str_from(key);
    gang->values[gang->labels++] = value;
}

static void find_gang(struct lks_pod *pod)
{
    struct lks_pod_gang *gang = &pod->gang;
    for (size_t i = 0; i < LKS_COUNT(gangs) && gang->kind == NULL; i++) {
        struct lks_str also =
            gangs[i].also != NULL ? lks_pod_label(pod, gangs[i].also) : LKS_STR("");
        struct lks_str name = gangs[i].label != NULL ? lks_pod_label(pod, gangs[i].label)
                                                     : lks_pod_annotation(pod, gangs[i].annotation);
        if (name.len == 0 || (gangs[i].also != NULL && also.len == 0) ||
            (gangs[i].needs != NULL && lks_pod_label(pod, gangs[i].needs).len == 0))
            continue;
        gang->kind = gangs[i].kind;
        gang->name = name;
        if (gangs[i].label != NULL)
            add_label(gang, gangs[i].label, name);
        if (gangs[i].also != NULL)
            add_label(gang, gangs[i].also, also);
    }
}

/* The pod ----------------------------------------------------------------------------------- */

static const struct lks_doc *map_of(const struct lks_doc *doc, const char *key)
{
    const struct lks_doc *d = lks_doc_member(doc, key);
    return d != NULL && d->kind == LKS_DOC_MAP ? d : NULL;
}

/* Members that are read and patched: of this kind, null or not there. */
struct shape {
    const char *key;
    enum lks_doc_kind kind;
    const struct shape *within; /* of a map, or of each element of a list; NULL: anything */
};

static const struct shape requirement_shapes[] = {{"values", LKS_DOC_LIST, NULL}, {0}};
static const struct shape term_shapes[] = {{"matchExpressions", LKS_DOC_LIST, requirement_shapes},
                                           {"matchFields", LKS_DOC_LIST, requirement_shapes},
                                           {0}};
static const struct shape node_rule_shapes[] = {{"nodeSelectorTerms", LKS_DOC_LIST, term_shapes},
                                                {0}};
static const struct shape any_map[] = {{0}};
static const struct shape node_shapes[] = {{REQUIRED, LKS_DOC_MAP, node_rule_shapes}, {0}};
static const struct shape mate_shapes[] = {{REQUIRED, LKS_DOC_LIST, any_map}, {0}};
static const struct shape affinity_shapes[] = {
    {"nodeAffinity", LKS_DOC_MAP, node_shapes}, {"podAffinity", LKS_DOC_MAP, mate_shapes}, {0}};
static const struct shape container_shapes[] = {
    {"env", LKS_DOC_LIST, any_map}, {"envFrom", LKS_DOC_LIST, any_map}, {0}};
static const struct shape spec_shapes[] = {{"affinity", LKS_DOC_MAP, affinity_shapes},
                                           {"nodeSelector", LKS_DOC_MAP, NULL},
                                           {"containers", LKS_DOC_LIST, container_shapes},
                                           {"initContainers", LKS_DOC_LIST, container_shapes},
                                           {0}};

static enum lks_code check_shapes(const struct lks_docs *docs, const struct lks_doc *map,
                                  const struct shape *shapes, struct lks_err *err)
{
    if (map->kind != LKS_DOC_MAP)
        return lks_doc_fail(docs, map, err, "expected a map");
    for (const struct shape *s = shapes; s->key != NULL; s++) {
        const struct lks_doc *d = lks_doc_member(map, s->key), *e = NULL;
        if (d == NULL || d->kind == LKS_DOC_NULL)
            continue;
        if (d->kind != s->kind)
            return lks_doc_fail(docs, d, err, "expected %s", lks_doc_kind_name(s->kind));
        if (s->within != NULL && s->kind == LKS_DOC_MAP &&
            check_shapes(docs, d, s->within, err) != LKS_OK)
            return err->code;
        for (e = s->kind == LKS_DOC_LIST && s->within != NULL ? d->first : NULL; e != NULL;
             e = e->next) {
            if (check_shapes(docs, e, s->within, err) != LKS_OK)
                return err->code;
        }
    }
    return LKS_OK;
}

enum lks_code lks_pod_read(const struct lks_docs *docs, const struct lks_doc *doc,
                           struct lks_pod *out, struct lks_err *err)
{
    *out = (struct lks_pod){.metadata = map_of(doc, "metadata"), .spec = map_of(doc, "spec")};
    if (out->metadata == NULL || out->spec == NULL)
        return lks_doc_fail(docs, doc, err, "expected a Pod with metadata and spec");
    if (check_shapes(docs, out->spec, spec_shapes, err) != LKS_OK)
        return err->code;
    out->name = lks_doc_text(out->metadata, "name");
    if (out->name.len == 0)
        out->name = lks_doc_text(out->metadata, "generateName");
    if (read_containers("containers", false, out, err) != LKS_OK)
        return err->code;
    if (out->container_count == 0)
        return lks_doc_fail(docs, out->spec, err, "expected a Pod with containers");
    if (read_containers("initContainers", true, out, err) != LKS_OK)
        return err->code;
    out->gpus = lks_pod_uses_gpus(out->spec, NULL);
    out->of_node = lks_pod_is_of_node(out->metadata);
    mark_gpus(out);
    find_gang(out);
    return LKS_OK;
}

/* Nodes ------------------------------------------------------------------------------------- */

const struct lks_doc *lks_pod_terms(const struct lks_pod *pod)
{
    const struct lks_doc *node = lks_doc_member(map_of(pod->spec, "affinity"), "nodeAffinity");
    const struct lks_doc *terms =
        lks_doc_member(lks_doc_member(node, REQUIRED), "nodeSelectorTerms");
    return terms != NULL && terms->kind == LKS_DOC_LIST ? terms : NULL;
}

static bool add_value(struct lks_pod_choice *to, struct lks_str value)
{
    for (size_t i = 0; i < to->count; i++) {
        if (lks_str_eq(to->values[i], value))
            return true;
    }
    if (to->count == LKS_POD_CHOICES_MAX)
        return false;
    to->values[to->count++] = value;
    return true;
}

/* The values of the first requirement with that key and In. False: there is none, or too many. */
static bool add_term(const struct lks_doc *requirements, const char *key, struct lks_pod_choice *to)
{
    const struct lks_doc *d = NULL;
    while ((d = lks_pod_next(requirements, d)) != NULL) {
        const struct lks_doc *values = lks_doc_member(d, "values");
        if (!lks_str_is(lks_doc_text(d, "key"), key) ||
            !lks_str_is(lks_doc_text(d, "operator"), "In") || values == NULL)
            continue;
        for (const struct lks_doc *v = values->first; v != NULL; v = v->next) {
            if (!add_value(to, v->text))
                return false;
        }
        return true;
    }
    return false;
}

static bool is_empty(const struct lks_doc *requirements)
{
    return requirements == NULL || requirements->first == NULL;
}

bool lks_pod_term_is_empty(const struct lks_doc *term)
{
    return is_empty(lks_doc_member(term, "matchExpressions")) &&
           is_empty(lks_doc_member(term, "matchFields"));
}

/* Terms are alternatives: one without the key allows any value of it. */
static void choose(const struct lks_pod *pod, const char *label, const char *field,
                   struct lks_pod_choice *out)
{
    const struct lks_doc *terms = lks_pod_terms(pod), *d = NULL;
    struct lks_str one = lks_doc_text(lks_doc_member(pod->spec, "nodeSelector"), label);
    *out = (struct lks_pod_choice){0};
    if (one.len > 0) {
        (void)add_value(out, one);
        return;
    }
    while ((d = lks_pod_next(terms, d)) != NULL) {
        if (!lks_pod_term_is_empty(d) &&
            !add_term(lks_doc_member(d, "matchExpressions"), label, out) &&
            (field == NULL || !add_term(lks_doc_member(d, "matchFields"), field, out))) {
            out->count = 0;
            return;
        }
    }
}

void lks_pod_choose(const struct lks_pod *pod, const char *label, struct lks_pod_choice *out)
{
    choose(pod, label, NULL, out);
}

bool lks_pod_choose_nodes(const struct lks_pod *pod, struct lks_pod_choice *out)
{
    struct lks_str name = lks_doc_text(pod->spec, "nodeName");
    if (name.len == 0) {
        choose(pod, LKS_POD_HOST, "metadata.name", out);
        return false;
    }
    *out = (struct lks_pod_choice){0};
    return add_value(out, name);
}
