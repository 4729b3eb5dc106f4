#include "tests/kubernetes_model.h"

#include "codec/format/json.h"
#include "drivers/sched/kubernetes_read.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NODES "/api/v1/nodes/"
#define PODS  "/api/v1/pods?fieldSelector=spec.nodeName%3D"
#define ALL   "/api/v1/pods?fieldSelector=spec.nodeName%21%3D%2C"
#define EVICT "/api/v1/namespaces/default/pods/"
#define NEXT  "&continue=eyJ2IjoibWV0YSJ9"
#define OURS  LKS_KUBERNETES_READ_MARK
#define THEIRS                                                                                     \
    "{\"key\":\"example.com/spot\",\"value\":\"a \\\"b\\\" [c]\",\"effect\":\"NoSchedule\"}"

/* Pods that are on every node and are no jobs. */
#define OTHERS                                                                                     \
    "{'metadata': {'name': 'dcgm', 'namespace': 'gpu', 'ownerReferences': [{'kind': 'DaemonSet', " \
    "'controller': true}]}, 'spec': {'nodeName': '%s', 'containers': [{'resources': {'limits': "   \
    "{'nvidia.com/gpu': '1'}}}]}, 'status': {'phase': 'Running'}}, {'metadata': {'name': 'web', "  \
    "'namespace': 'default'}, 'spec': {'nodeName': '%s', 'containers': [{'resources': {'limits': " \
    "{'cpu': '1'}}}]}, 'status': {'phase': 'Running'}}"

/* Of the run of a job. */
#define UID "%04x%04x-0000-4000-8000-000000000000"

struct kubernetes_model_faults kubernetes_model_faults;

static void put_time(struct lks_json_writer *w, const char *key, lks_ms at)
{
    char text[LKS_TIME_TEXT_SIZE];
    lks_json_cstr(w, key, lks_time_text(at, text));
}

static void put_mark(const struct lks_schedsim *m, struct lks_str owner, struct lks_str reason,
                     struct lks_json_writer *out)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_HTTP_LINES_MAX);
    struct lks_json_writer w = {.out = &text};
    lks_json_write(&w, "{'owner': '%.*s', 'reason': '%.*s', 'epoch'?: %lu}", LKS_STR_ARG(owner),
                   LKS_STR_ARG(reason), m->epoch);
    lks_json_text(out, OURS, lks_buf_view(&text));
}

/* What lockstep says of nodes --------------------------------------------------------------- */

static const char *const keys[LKS_KUBERNETES_TRUTH_LABELS] = {
    "lockstep.dev/digest", "lockstep.dev/verdict", "lockstep.dev/slot"};

static void put_labels(const struct kubernetes_model_shown *shown, struct lks_json_writer *w)
{
    lks_json_write(w, "'labels': {'example.com/zone': 'a'");
    for (size_t i = 0; i < LKS_COUNT(keys); i++)
        lks_json_some(w, keys[i], lks_str_from(shown->labels[i]));
    lks_json_end(w, '}');
}

static void put_conditions(const struct kubernetes_model_shown *shown, struct lks_json_writer *w)
{
    lks_json_write(w, "'conditions': [{'type': 'Ready', 'status': 'True'}");
    if (shown->status[0] != '\0')
        lks_json_write(w,
                       "{'type': 'LockstepConforms', 'status': '%s', 'reason': '%s', 'message': "
                       "'%s', 'lastTransitionTime': '%s'}",
                       shown->status, shown->reason, shown->message, shown->since);
    lks_json_end(w, ']');
}

static void keep(char *to, size_t size, struct lks_str from)
{
    LKS_ASSERT(from.len < size);
    snprintf(to, size, "%" LKS_STR_FMT, LKS_STR_ARG(from));
}

/* An apply replaces what the same manager applied before; of a merge, null removes a key. */
static void take_labels(struct kubernetes_model_shown *shown, const struct lks_doc *metadata,
                        bool applies)
{
    const struct lks_doc *labels = lks_doc_member(metadata, "labels");
    const struct lks_doc *annotations = lks_doc_member(metadata, "annotations");
    uint32_t ours = 0;
    for (size_t i = 0; i < LKS_COUNT(keys); i++) {
        const struct lks_doc *label = lks_doc_member(labels, keys[i]);
        ours += label != NULL;
        LKS_ASSERT(label == NULL || applies == (label->kind == LKS_DOC_TEXT));
        if (applies || label != NULL)
            keep(shown->labels[i], sizeof(shown->labels[i]), lks_doc_text(labels, keys[i]));
    }
    const struct lks_doc *digest = lks_doc_member(annotations, "lockstep.dev/digest");
    if (applies || digest != NULL)
        keep(shown->digest, sizeof(shown->digest),
             lks_doc_text(annotations, "lockstep.dev/digest"));
    LKS_ASSERT(labels != NULL && labels->count == ours);
    LKS_ASSERT(annotations != NULL && annotations->count == (digest != NULL));
}

static void take_condition(struct kubernetes_model_shown *shown, const struct lks_doc *status)
{
    const struct lks_doc *conditions = lks_doc_member(status, "conditions");
    LKS_ASSERT(conditions != NULL && conditions->count == 1);
    const struct lks_doc *one = conditions->first;
    LKS_ASSERT(lks_str_is(lks_doc_text(one, "type"), "LockstepConforms"));
    keep(shown->status, sizeof(shown->status), lks_doc_text(one, "status"));
    keep(shown->reason, sizeof(shown->reason), lks_doc_text(one, "reason"));
    keep(shown->message, sizeof(shown->message), lks_doc_text(one, "message"));
    keep(shown->since, sizeof(shown->since), lks_doc_text(one, "lastTransitionTime"));
}

static bool has(struct lks_str text, const char *part)
{
    return lks_str_find(text, lks_str_from(part)) >= 0;
}

/* A write of the manager for what lockstep says. */
static void take_truth(struct kubernetes_model_shown *shown, const struct lks_http_request *request)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_err err = {0};
    struct lks_str path = lks_buf_view(&request->path), head = lks_buf_view(&request->head);
    bool applies = has(head, "application/apply-patch+yaml"), status = has(path, "/status?");
    LKS_ASSERT(lks_docs_init(&docs, "request", &err) == LKS_OK);
    LKS_ASSERT(lks_json_parse(lks_buf_view(&request->body), &docs, &err) == LKS_OK);
    const struct lks_doc *metadata = lks_doc_member(docs.first, "metadata");
    LKS_ASSERT(applies == has(path, "&force=true"));
    LKS_ASSERT(lks_str_starts(lks_doc_text(metadata, "uid"), "uid-"));
    LKS_ASSERT(lks_doc_member(docs.first, "spec") == NULL);
    if (!status)
        take_labels(shown, metadata, applies);
    else if (applies || has(head, "application/strategic-merge-patch+json"))
        take_condition(shown, lks_doc_member(docs.first, "status"));
}

/* Nodes ------------------------------------------------------------------------------------- */

/* What the bridge's protocol says of the node, as the API server's object. */
static void put_node(const struct kubernetes_model *k, const struct lks_doc *node,
                     struct lks_buf *out)
{
    const struct lks_schedsim *m = &k->sim;
    const struct kubernetes_model_shown *shown =
        &k->shown[lks_schedsim_find(m, lks_doc_text(node, "node"))];
    const struct lks_doc *drain = lks_doc_member(node, "drain");
    const struct lks_doc *revision = lks_doc_member(node, "revision");
    struct lks_str owner = lks_doc_text(drain, "owner"), name = lks_doc_text(node, "node"), rest;
    bool ours = lks_str_starts(owner, "lockstep:");
    struct lks_json_writer w = {.out = out};
    if (ours)
        (void)lks_str_cut(owner, ':', &rest, &owner);
    lks_json_write(&w,
                   "{'kind': 'Node', 'apiVersion': 'v1', 'metadata': {'name': '%.*s', 'uid': "
                   "'uid-%.*s', 'resourceVersion': '%ld'",
                   LKS_STR_ARG(name), LKS_STR_ARG(name),
                   (long)(revision != NULL ? revision->number : 0));
    put_labels(shown, &w);
    lks_json_write(&w, "'managedFields': [{'manager': 'kubelet', 'fieldsV1': {'f:status': {}}}");
    if (owner.len > 0)
        lks_json_write(&w, "{'manager': '%.*s', 'fieldsV1': {'f:spec': {'f:unschedulable': {}}}}",
                       LKS_STR_ARG(ours ? LKS_STR(LKS_KUBERNETES_READ_MANAGER) : owner));
    lks_json_write(&w, "], 'annotations': {'example.com/rack': 'r1'");
    lks_json_some(&w, "lockstep.dev/digest", lks_str_from(shown->digest));
    if (ours)
        put_mark(m, owner, lks_doc_text(drain, "reason"), &w);
    lks_json_write(&w, "}}, 'spec': {'podCIDR': '10.0.0.0/24'");
    if (owner.len > 0)
        lks_json_bool(&w, "unschedulable", true);
    lks_json_begin(&w, "taints", '[');
    lks_json_raw(&w, NULL, LKS_STR(THEIRS));
    if (ours)
        lks_json_write(&w, "{'key': '%s', 'effect': 'NoSchedule'}", OURS);
    lks_json_write(&w, "]}, 'status': {");
    put_conditions(shown, &w);
    lks_json_write(&w, "}}");
}

/* A pod of the node; its uid is that of the job's run. */
static void put_pod(const struct lks_schedsim *m, const char *node, uint64_t id,
                    struct lks_json_writer *w)
{
    LKS_ASSERT(id > 0 && id <= m->job_count);
    const struct lks_schedsim_job *job = &m->jobs[id - 1];
    char name[32], uid[64];
    snprintf(name, sizeof(name), "train-%" PRIu64, id - 1);
    snprintf(uid, sizeof(uid), UID, (unsigned)id, job->restarts);
    lks_json_write(w, "{'metadata': {'name': '%s', 'namespace': 'default', 'uid': '%s'", name, uid);
    if (kubernetes_model_faults.stuck && kubernetes_model_faults.evicted > 0)
        put_time(w, "deletionTimestamp", m->now);
    if (job->kind == LKS_SCHEDSIM_BATCH || job->kind == LKS_SCHEDSIM_TRAINING)
        lks_json_write(w, "'ownerReferences': [{'kind': 'Job', 'name': 'train', 'controller': "
                          "true}]");
    lks_json_write(w,
                   "}, 'spec': {'nodeName': '%s', 'containers': [{'resources': {'limits': "
                   "{'nvidia.com/gpu': '8'}}}]}, 'status': {'phase': 'Running'",
                   node);
    put_time(w, "startTime", job->begun);
    lks_json_write(w, "}}");
}

static void begin_pods(bool second, const char *node, struct lks_json_writer *w)
{
    lks_json_write(w,
                   "{'kind': 'PodList', 'apiVersion': 'v1', 'metadata': {'resourceVersion': '9', "
                   "'continue'?: '%s'}, 'items': [",
                   second ? "" : "eyJ2IjoibWV0YSJ9");
    if (!second)
        lks_json_write(w, OTHERS, node, node);
}

/* The list of its pods is two pages. */
static void put_pods(const struct lks_schedsim *m, const struct lks_doc *node, bool second,
                     struct lks_buf *out)
{
    const struct lks_doc *jobs = lks_doc_member(node, "jobs");
    char name[64];
    uint64_t id = 0;
    struct lks_json_writer w = {.out = out};
    snprintf(name, sizeof(name), "%" LKS_STR_FMT, LKS_STR_ARG(lks_doc_text(node, "node")));
    begin_pods(second, name, &w);
    for (const struct lks_doc *d = second && jobs != NULL ? jobs->first : NULL; d != NULL;
         d = d->next) {
        LKS_ASSERT(lks_str_number(lks_doc_text(d, "id"), UINT32_MAX, &id));
        put_pod(m, name, id, &w);
    }
    lks_json_write(&w, "]}");
}

/* The same of the whole cluster: pods that are bound to a node. */
static void put_all_pods(const struct lks_schedsim *m, const struct lks_doc *jobs, bool second,
                         struct lks_buf *out)
{
    struct lks_json_writer w = {.out = out};
    uint64_t id = 0;
    begin_pods(second, "g1", &w);
    for (const struct lks_doc *d = second ? jobs->first : NULL; d != NULL; d = d->next) {
        char nodes[256];
        snprintf(nodes, sizeof(nodes), "%" LKS_STR_FMT, LKS_STR_ARG(lks_doc_text(d, "nodes")));
        LKS_ASSERT(lks_str_number(lks_doc_text(d, "id"), UINT32_MAX, &id));
        nodes[strcspn(nodes, ",")] = '\0';
        if (nodes[0] != '\0')
            put_pod(m, nodes, id, &w);
    }
    lks_json_write(&w, "]}");
}

static void put_status(struct lks_schedsim_reply *out, const char *reason)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_HTTP_BODY_MAX);
    struct lks_json_writer w = {.out = &text};
    struct lks_err err = {0};
    LKS_ASSERT(lks_docs_init(&docs, "reply", &err) == LKS_OK);
    bool good = lks_json_parse(lks_buf_view(&out->body), &docs, &err) == LKS_OK;
    struct lks_str why = lks_doc_text(good ? docs.first : NULL, "error");
    lks_json_write(&w,
                   "{'kind': 'Status', 'apiVersion': 'v1', 'status': 'Failure', 'message': '%.*s', "
                   "'reason': '%s', 'details': {'kind': 'nodes'}, 'code': %d}",
                   LKS_STR_ARG(why), reason, out->status);
    lks_buf_truncate(&out->body, 0);
    lks_buf_add(&out->body, lks_buf_view(&text));
}

/* The same in the bridge's protocol; the reply in `out`. */
static void forward(struct lks_schedsim *m, const char *node, const char *verb, const char *version,
                    uint64_t epoch, const struct lks_buf *body, struct lks_schedsim_reply *out)
{
    struct lks_http_request r;
    lks_http_request_init(&r);
    r.method = body == NULL ? "GET" : strcmp(verb, "/drain") == 0 ? "PUT" : "POST";
    lks_buf_addf(&r.path, "/v1/nodes/%s%s", node, verb);
    if (body != NULL)
        lks_buf_add(&r.body, lks_buf_view(body));
    lks_http_request_header(&r, "If-Match", "\"%s\"", version);
    lks_http_request_header(&r, "Lockstep-Epoch", "%" PRIu64, epoch);
    lks_schedsim_take(m, &r, out);
    lks_http_request_fini(&r);
}

static bool has_taint(const struct lks_doc *taints, const char *key)
{
    for (const struct lks_doc *d = taints->first; d != NULL; d = d->next) {
        if (lks_str_is(lks_doc_text(d, "key"), key))
            return true;
    }
    return false;
}

/* The parts of a drain are written together, and nothing of another owner goes with them. */
static void check_spec(const struct lks_doc *patch, bool drain)
{
    const struct lks_doc *spec = lks_doc_member(patch, "spec");
    const struct lks_doc *cordon = lks_doc_member(spec, "unschedulable");
    const struct lks_doc *taints = lks_doc_member(spec, "taints");
    LKS_ASSERT(taints != NULL && taints->kind == LKS_DOC_LIST && cordon != NULL);
    LKS_ASSERT(has_taint(taints, "example.com/spot") && taints->count == (drain ? 2U : 1U));
    LKS_ASSERT(has_taint(taints, OURS) == drain);
    LKS_ASSERT(drain ? cordon->kind == LKS_DOC_BOOL && cordon->truth
                     : cordon->kind == LKS_DOC_NULL);
}

static void patch_node(struct lks_schedsim *m, const char *node,
                       const struct lks_http_request *request, struct lks_schedsim_reply *out)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0}, marks = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf order = LKS_BUF(LKS_HTTP_BODY_MAX);
    struct lks_json_writer w = {.out = &order};
    struct lks_err err = {0};
    uint32_t at = lks_schedsim_find(m, lks_str_from(node));
    char version[64], owner[LKS_SCHED_OWNER_MAX + 16];
    LKS_ASSERT(lks_docs_init(&docs, "request", &err) == LKS_OK);
    LKS_ASSERT(lks_docs_init(&marks, "mark", &err) == LKS_OK);
    LKS_ASSERT(lks_json_parse(lks_buf_view(&request->body), &docs, &err) == LKS_OK);
    const struct lks_doc *metadata = lks_doc_member(docs.first, "metadata");
    const struct lks_doc *mark = lks_doc_member(lks_doc_member(metadata, "annotations"), OURS);
    bool drain = mark != NULL && mark->kind == LKS_DOC_TEXT;
    snprintf(version, sizeof(version), "%" LKS_STR_FMT,
             LKS_STR_ARG(lks_doc_text(metadata, "resourceVersion")));
    LKS_ASSERT(mark != NULL && at != UINT32_MAX && version[0] != '\0');
    LKS_ASSERT(!drain || lks_json_parse(mark->text, &marks, &err) == LKS_OK);
    check_spec(docs.first, drain);
    const struct lks_doc *epoch = lks_doc_member(marks.first, "epoch");
    snprintf(owner, sizeof(owner), "lockstep:%" LKS_STR_FMT,
             LKS_STR_ARG(lks_doc_text(marks.first, "owner")));
    lks_json_write(&w, "{'owner': '%s'", drain ? owner : m->nodes[at].now.owner);
    lks_json_some(&w, "from", lks_str_from(m->nodes[at].now.owner));
    lks_json_text(&w, "reason", lks_doc_text(marks.first, "reason"));
    lks_json_end(&w, '}');
    forward(m, node, drain ? "/drain" : "/release", version,
            epoch != NULL ? (uint64_t)epoch->number : m->epoch, &order, out);
}

static void show(const struct kubernetes_model *k, struct lks_str path,
                 struct lks_schedsim_reply *out)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_HTTP_BODY_MAX);
    struct lks_err err = {0};
    bool second = lks_str_find(path, LKS_STR(NEXT)) >= 0;
    LKS_ASSERT(lks_docs_init(&docs, "reply", &err) == LKS_OK);
    if (lks_json_parse(lks_buf_view(&out->body), &docs, &err) != LKS_OK ||
        lks_doc_member(docs.first, "jobs") == NULL)
        return; /* a fault: it is as unreadable here */
    if (lks_str_starts(path, PODS))
        put_pods(&k->sim, docs.first, second, &text);
    else if (lks_str_starts(path, ALL))
        put_all_pods(&k->sim, lks_doc_member(docs.first, "jobs"), second, &text);
    else
        put_node(k, docs.first, &text);
    lks_buf_truncate(&out->body, 0);
    lks_buf_add(&out->body, lks_buf_view(&text));
}

static void reply(struct lks_schedsim_reply *out, int status, const char *body)
{
    lks_buf_truncate(&out->body, 0);
    out->status = status;
    out->delay = 0;
    lks_buf_add(&out->body, lks_str_from(body));
}

/* Evictions --------------------------------------------------------------------------------- */

/* Whether the pod that is there is the one that is meant. */
static bool is_meant(const struct lks_schedsim *m, uint64_t id, struct lks_str body)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_err err = {0};
    char uid[64];
    LKS_ASSERT(lks_docs_init(&docs, "eviction", &err) == LKS_OK &&
               lks_json_parse(body, &docs, &err) == LKS_OK);
    const struct lks_doc *conditions =
        lks_doc_member(lks_doc_member(docs.first, "deleteOptions"), "preconditions");
    LKS_ASSERT(lks_str_is(lks_doc_text(docs.first, "kind"), "Eviction"));
    snprintf(uid, sizeof(uid), UID, (unsigned)id, m->jobs[id - 1].restarts);
    return lks_str_is(lks_doc_text(conditions, "uid"), uid);
}

static void requeue(struct lks_schedsim *m, uint64_t id, struct lks_schedsim_reply *out)
{
    struct lks_http_request r;
    lks_http_request_init(&r);
    r.method = "POST";
    lks_buf_addf(&r.path, "/v1/jobs/%" PRIu64 "/requeue", id);
    lks_buf_addf(&r.body, "{}");
    lks_http_request_header(&r, "Lockstep-Epoch", "%" PRIu64, m->epoch);
    lks_schedsim_take(m, &r, out);
    lks_http_request_fini(&r);
    if (out->status == 200)
        out->status = 201;
    else if (out->status != 0)
        put_status(out, "Other");
}

static void evict(struct lks_schedsim *m, const struct lks_http_request *request,
                  struct lks_schedsim_reply *out)
{
    struct kubernetes_model_faults *faults = &kubernetes_model_faults;
    struct lks_str path = lks_buf_view(&request->path), name, rest;
    char budget[512];
    uint64_t id = 0;
    LKS_ASSERT(lks_str_cut((struct lks_str){path.ptr + strlen(EVICT), path.len - strlen(EVICT)},
                           '/', &name, &rest) &&
               lks_str_is(rest, "eviction") && lks_str_starts(name, "train-"));
    LKS_ASSERT(lks_str_number(lks_str_last(name, '-'), m->job_count - 1, &id));
    if (faults->replaced > 0 && faults->replaced-- > 0)
        m->jobs[id++].restarts++;
    else
        id++;
    snprintf(budget, sizeof(budget),
             "{\"kind\":\"Status\",\"reason\":\"TooManyRequests\",\"details\":{\"causes\":["
             "{\"reason\":\"DisruptionBudget\",\"message\":\"The disruption budget %s needs 1 "
             "healthy pods and has 1 currently\"}]}}",
             faults->budget != NULL ? faults->budget : "");
    if (!is_meant(m, id, lks_buf_view(&request->body)))
        reply(out, 409, "{\"kind\":\"Status\",\"message\":\"Precondition failed: UID\"}");
    else if (faults->busy > 0 && faults->busy-- > 0)
        reply(out, 429, "{\"kind\":\"Status\",\"message\":\"too many requests\"}");
    else if (faults->budget != NULL)
        reply(out, 429, budget);
    else if (faults->evicted++, faults->stuck)
        reply(out, 201, "{\"kind\":\"Status\",\"status\":\"Success\"}");
    else
        requeue(m, id, out);
}

static void list_all(struct lks_schedsim *m, struct lks_schedsim_reply *out)
{
    struct lks_http_request r;
    lks_http_request_init(&r);
    r.method = "GET";
    lks_buf_addf(&r.path, "/v1/jobs");
    lks_schedsim_take(m, &r, out);
    lks_http_request_fini(&r);
}

static void take_node(struct kubernetes_model *k, const struct lks_http_request *request,
                      struct lks_schedsim_reply *out)
{
    struct lks_str path = lks_buf_view(&request->path);
    bool pods = lks_str_starts(path, PODS), writes = strcmp(request->method, "PATCH") == 0;
    bool truth = has(path, "?fieldManager=" LKS_KUBERNETES_TRUTH_MANAGER);
    char node[64];
    LKS_ASSERT(pods || lks_str_starts(path, NODES));
    size_t from = pods ? strlen(PODS) : strlen(NODES);
    snprintf(node, sizeof(node), "%" LKS_STR_FMT, (int)(path.len - from), path.ptr + from);
    node[strcspn(node, "/?&")] = '\0';
    if (writes && !truth)
        patch_node(&k->sim, node, request, out);
    else
        forward(&k->sim, node, "", "", 0, NULL, out);
    if (out->status == 200 && truth)
        take_truth(&k->shown[lks_schedsim_find(&k->sim, lks_str_from(node))], request);
}

void kubernetes_model_take(struct kubernetes_model *k, const struct lks_http_request *request,
                           struct lks_schedsim_reply *out)
{
    struct lks_str path = lks_buf_view(&request->path);
    struct kubernetes_model_faults *faults = &kubernetes_model_faults;
    if (lks_str_starts(path, EVICT)) {
        evict(&k->sim, request, out);
        return;
    }
    if (faults->gone > 0 && lks_str_find(path, LKS_STR(NEXT)) >= 0) {
        faults->gone--;
        reply(out, 410, "{\"kind\":\"Status\",\"reason\":\"Expired\"}");
        return;
    }
    if (lks_str_starts(path, ALL))
        list_all(&k->sim, out);
    else
        take_node(k, request, out);
    if (out->status == 200)
        show(k, path, out);
    else if (out->status != 0)
        put_status(out, out->status == 404 ? "NotFound" : "Other");
}
