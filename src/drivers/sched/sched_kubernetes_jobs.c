/*
 * Pods as the jobs of a site: their list, and evictions.
 *
 *     GET  /api/v1/pods?fieldSelector=spec.nodeName!=,...&limit=...
 *     GET  /api/v1/nodes/NAME
 *     GET  /api/v1/pods?fieldSelector=spec.nodeName=NAME&limit=...
 *     POST /api/v1/namespaces/NAMESPACE/pods/NAME/eviction
 *
 * An eviction begins with the NODE: only pods of a node that lockstep drains are evicted, and not
 * by a controller with an older epoch. Then the PODS of the node are read until the one that is
 * meant is found, by its name, its uid and its start; so the EVICT that follows names the uid as
 * its precondition, and never ends another pod. An answer that leaves open what was done is
 * followed by another reading, which decides. A PodDisruptionBudget that does not allow it is "not
 * now": the caller asks again. See docs/decisions/0182-evictions.md.
 */
#include "codec/format/json.h"
#include "core/sched/jobs.h"
#include "drivers/sched/kubernetes_pods.h"
#include "drivers/sched/sched_answer.h"
#include "drivers/sched/sched_kubernetes_site.h"
#include "drivers/sched/sched_said.h"

#include <stdio.h>
#include <string.h>

#define AGAIN        LKS_SECOND
#define PAGE         250  /* pods in one answer */
#define PAGES_MAX    1000 /* of a list */
#define RESTARTS_MAX 4    /* of a list whose place was forgotten, or that cannot be read */

/* Pods that are bound to a node and did not end. */
#define BOUND "spec.nodeName%21%3D%2Cstatus.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed"

enum { LIST, NODE, PODS, EVICT };

struct asking {
    struct lks_sched_kubernetes_site site;
    char token[LKS_SCHED_TOKEN_MAX + 1]; /* "": the certificate tells who we are */
    char more[LKS_KUBERNETES_READ_CONTINUE + 1];
    char why[LKS_SCHED_REASON_MAX + 1];     /* what was wrong with the last answer, */
    char refusal[LKS_SCHED_REASON_MAX + 1]; /* and with that to the last eviction */
    uint32_t pages, restarts;
    lks_ms begun;                /* LIST: when its first page came */
    struct lks_sched_jobs *jobs; /* LIST: of the caller */
    char job[LKS_KUBERNETES_PODS_ID + 1];
    char namespace[LKS_KUBERNETES_PODS_NAMESPACE + 1];
    char name[LKS_KUBERNETES_PODS_NAME + 1];
    char uid[LKS_KUBERNETES_PODS_UID + 1]; /* of the pod that was found */
    char node[LKS_SCHED_NODE_MAX + 1];
    lks_ms started;
    uint64_t epoch;
    uint32_t acts; /* evictions that were sent */
    bool told;     /* what became of the last one is known, and it was not carried out */
};

/* Asking ------------------------------------------------------------------------------------ */

static void write_path(const struct asking *a, struct lks_buf *out)
{
    switch (a->site.head.step) {
    case NODE:
        lks_buf_addf(out, "/api/v1/nodes/%s", a->node);
        return;
    case EVICT:
        lks_buf_addf(out, "/api/v1/namespaces/%s/pods/%s/eviction", a->namespace, a->name);
        return;
    case PODS:
        lks_buf_addf(out, "/api/v1/pods?fieldSelector=spec.nodeName%%3D%s&limit=%d", a->node, PAGE);
        break;
    default:
        lks_buf_addf(out, "/api/v1/pods?fieldSelector=%s&limit=%d", BOUND, PAGE);
    }
    if (a->more[0] != '\0')
        lks_buf_addf(out, "&continue=%s", a->more);
}

static lks_ms ask(const void *value, struct lks_http_request *out)
{
    const struct asking *a = value;
    uint32_t step = a->site.head.step;
    struct lks_json_writer w = {.out = &out->body};
    out->method = step == EVICT ? "POST" : "GET";
    write_path(a, &out->path);
    if (a->token[0] != '\0')
        lks_http_request_header(out, "Authorization", "Bearer %s", a->token);
    lks_http_request_header(out, "Accept", "application/json");
    if (step == EVICT) {
        lks_http_request_header(out, "Content-Type", "application/json");
        lks_json_write(&w,
                       "{'apiVersion': 'policy/v1', 'kind': 'Eviction', 'metadata': {'name': '%s', "
                       "'namespace': '%s'}, 'deleteOptions': {'preconditions': {'uid': '%s'}}}",
                       a->name, a->namespace, a->uid);
    }
    bool lists = step == LIST || step == PODS;
    out->answer_max = lists ? LKS_SCHED_JOBS_BYTES_MAX : 0;
    return lists ? LKS_SCHED_LISTING : LKS_SCHED_PATIENCE;
}

/* Going on ---------------------------------------------------------------------------------- */

static void fail(struct asking *a, enum lks_code code, const char *text)
{
    lks_conversation_fail(&a->site.head, code, "job %s: %s", a->job, text);
}

/* From its first page on. */
static void begin_list(struct asking *a, uint32_t step, lks_ms until)
{
    a->more[0] = '\0';
    a->pages = 0;
    a->begun = 0;
    if (step == LIST)
        lks_sched_jobs_begin(a->jobs);
    lks_conversation_go(&a->site.head, step, until);
}

/* Parts of a list that was begun again do not fit behind those before. */
static void list_again(struct asking *a, lks_ms until)
{
    if (++a->restarts <= RESTARTS_MAX)
        begin_list(a, a->site.head.step, until);
    else
        lks_conversation_fail(&a->site.head, LKS_E_UNAVAILABLE,
                              "the list of pods was started %d times and is not whole: %s",
                              RESTARTS_MAX + 1, a->why);
}

/* A page was read; true: there are more. */
static bool has_more(struct asking *a, lks_ms now)
{
    if (a->more[0] == '\0')
        return false;
    if (++a->pages == PAGES_MAX)
        lks_conversation_fail(&a->site.head, LKS_E_UNAVAILABLE,
                              "the list of pods does not end within %d pages", PAGES_MAX);
    else
        lks_conversation_go(&a->site.head, a->site.head.step, now);
    return true;
}

/* The list ---------------------------------------------------------------------------------- */

static bool add_job(void *context, const struct lks_kubernetes_pod *pod,
                    char why[LKS_SCHED_REASON_MAX + 1])
{
    struct asking *a = context;
    struct lks_err err = {0};
    char id[LKS_KUBERNETES_PODS_ID + 1], owner[LKS_KUBERNETES_PODS_ID + 1] = "";
    if (!pod->counts || pod->node.len == 0)
        return true;
    lks_kubernetes_pods_id(pod, id);
    if (pod->owner.len > 0)
        snprintf(owner, sizeof(owner), "%" LKS_STR_FMT "/%" LKS_STR_FMT, LKS_STR_ARG(pod->kind),
                 LKS_STR_ARG(pod->owner));
    const struct lks_sched_job job = {
        .id = lks_str_from(id),
        .user = lks_str_from(owner),
        .account = pod->namespace,
        .state = pod->deleted > 0 ? LKS_STR("completing") : LKS_STR("running"),
        .nodes = pod->node,
        .started = pod->started,
        .ends = pod->ends,
        .gpus = pod->gpus,
        .runs = true,
        .requeue = pod->controlled && !pod->keeps,
    };
    if (lks_sched_jobs_add(a->jobs, &job, &err) == LKS_OK)
        return true;
    lks_kubernetes_read_tell(why, "%s", err.msg);
    return false;
}

static void hear_list(struct asking *a, lks_ms now, struct lks_str body)
{
    a->begun = a->begun > 0 ? a->begun : now;
    if (!lks_kubernetes_pods_page(body, add_job, a, a->more, a->why)) {
        list_again(a, now + AGAIN);
    } else if (!has_more(a, now)) {
        a->jobs->age = now - a->begun;
        lks_conversation_end(&a->site.head);
    }
}

/* An eviction ------------------------------------------------------------------------------- */

static void evict(struct asking *a, lks_ms now)
{
    a->told = a->acts++ == LKS_SCHED_TURNS_MAX;
    if (!a->told)
        lks_conversation_go(&a->site.head, EVICT, now);
    else
        lks_conversation_fail(&a->site.head, LKS_E_UNAVAILABLE,
                              "job %s: asked %d times to evict it, and it runs: %s", a->job,
                              LKS_SCHED_TURNS_MAX, a->refusal);
}

/* The pod of that name, which may be a later one. */
static void meet(struct asking *a, const struct lks_kubernetes_pod *pod)
{
    char id[LKS_KUBERNETES_PODS_ID + 1];
    lks_kubernetes_pods_id(pod, id);
    lks_sched_said_keep(a->uid, sizeof(a->uid), pod->uid);
    if (strcmp(id, a->job) != 0 || pod->started != a->started || !pod->counts)
        fail(a, LKS_E_NOT_FOUND, "the run that is meant has ended");
    else if (pod->deleted > 0)
        lks_conversation_end(&a->site.head); /* it is on its way */
    else if (!pod->controlled)
        fail(a, LKS_E_REFUSED,
             "the pod has no controller that makes it again; end it by hand, or wait");
    else if (pod->keeps)
        fail(a, LKS_E_REFUSED,
             "its annotation safe-to-evict or do-not-disrupt asks not to evict it; remove that, or "
             "wait");
}

struct search {
    struct asking *a;
    bool found;
};

static bool find_pod(void *context, const struct lks_kubernetes_pod *pod,
                     char why[LKS_SCHED_REASON_MAX + 1])
{
    struct search *s = context;
    if (!lks_str_is(pod->name, s->a->name) || !lks_str_is(pod->namespace, s->a->namespace))
        return true;
    if (pod->uid.len == 0 || pod->uid.len > LKS_KUBERNETES_PODS_UID ||
        !lks_str_printable(pod->uid)) {
        lks_kubernetes_read_tell(why, "a pod without a uid");
        return false;
    }
    s->found = true;
    meet(s->a, pod);
    return true;
}

static void hear_pods(struct asking *a, lks_ms now, struct lks_str body)
{
    struct search s = {.a = a};
    struct lks_conversation *head = &a->site.head;
    bool good = lks_kubernetes_pods_page(body, find_pod, &s, a->more, a->why);
    if (head->ended || head->err.code != LKS_OK)
        return;
    if (!good)
        list_again(a, now + AGAIN);
    else if (s.found)
        evict(a, now);
    else if (!has_more(a, now))
        fail(a, LKS_E_NOT_FOUND, "the pod has ended");
}

static void hear_node(struct asking *a, lks_ms now, struct lks_str body)
{
    struct lks_kubernetes_node n;
    struct lks_conversation *head = &a->site.head;
    if (!lks_kubernetes_read_node(body, lks_str_from(a->node), &n, a->why))
        lks_sched_answer_retry(head, now + (AGAIN << head->tries), a->why);
    else if (!n.tainted || !n.mark.valid)
        fail(a, LKS_E_UNAVAILABLE, "lockstep does not drain its node now, so it is not evicted");
    else if (!lks_kubernetes_read_outdated(head, a->node, &n.mark, a->epoch))
        begin_list(a, PODS, now);
}

/* The budget that does not allow an eviction, in the server's words. False: it is another 429. */
static bool read_budget(struct lks_str body, char out[LKS_SCHED_REASON_MAX + 1])
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_err err = {0};
    const struct lks_doc *top = lks_kubernetes_read_json(body, &docs, &err);
    const struct lks_doc *causes = lks_doc_member(lks_doc_member(top, "details"), "causes");
    for (const struct lks_doc *d = causes != NULL ? causes->first : NULL; d != NULL; d = d->next) {
        if (!lks_str_is(lks_doc_text(d, "reason"), "DisruptionBudget"))
            continue;
        lks_kubernetes_read_tell(out, "not evicted now: %" LKS_STR_FMT,
                                 LKS_STR_ARG(lks_doc_text(d, "message")));
        return true;
    }
    return false;
}

/* Answers that are no good ------------------------------------------------------------------ */

/* What became of an eviction is read. */
static void hear_eviction(struct asking *a, lks_ms now, enum lks_kubernetes_read is,
                          const struct lks_http_response *answer)
{
    char budget[LKS_SCHED_REASON_MAX + 1];
    lks_ms pause = AGAIN << a->acts;
    if (is == LKS_KUBERNETES_BUSY && read_budget(answer->body, budget)) {
        a->told = true;
        fail(a, LKS_E_UNAVAILABLE, budget);
        return;
    }
    if (is == LKS_KUBERNETES_BUSY)
        pause = lks_http_response_retry(answer, pause);
    else if (is == LKS_KUBERNETES_CONFLICT)
        pause = 0; /* it is another pod by now */
    memcpy(a->refusal, a->why, sizeof(a->refusal));
    begin_list(a, PODS, now + pause);
}

static void hear_bad(struct asking *a, lks_ms now, enum lks_kubernetes_read is,
                     const struct lks_http_response *answer)
{
    struct lks_conversation *head = &a->site.head;
    lks_ms pause = AGAIN << head->tries;
    bool last = head->tries + 1 == LKS_CONVERSATION_TRIES_MAX;
    if (is == LKS_KUBERNETES_BUSY)
        pause = lks_http_response_retry(answer, pause);
    if (head->step == EVICT)
        hear_eviction(a, now, is, answer);
    else if (head->step == NODE && is == LKS_KUBERNETES_MISSING)
        fail(a, LKS_E_NOT_FOUND, "its node is gone, so the pod has ended");
    else if (head->step != NODE && is == LKS_KUBERNETES_GONE)
        list_again(a, now + pause);
    else if (head->step == LIST && is == LKS_KUBERNETES_DENIED && last)
        lks_conversation_fail(head, LKS_E_DENIED,
                              "the API server does not let lockstep list pods: %s", a->why);
    else
        lks_sched_answer_retry(head, now + pause, a->why);
}

static void hear(void *value, lks_ms now, const struct lks_http_response *answer)
{
    struct asking *a = value;
    enum lks_kubernetes_read is = lks_kubernetes_read_answer(answer, a->why);
    if (is != LKS_KUBERNETES_GOOD)
        hear_bad(a, now, is, answer);
    else if (a->site.head.step == LIST)
        hear_list(a, now, answer->body);
    else if (a->site.head.step == NODE)
        hear_node(a, now, answer->body);
    else if (a->site.head.step == PODS)
        hear_pods(a, now, answer->body);
    else
        lks_conversation_end(&a->site.head);
    /* No reading came behind an eviction that was sent. */
    if (a->acts > 0 && !a->told && a->site.head.err.code == LKS_E_UNAVAILABLE)
        a->site.head.err.code = LKS_E_TIMEOUT;
}

/* Beginning --------------------------------------------------------------------------------- */

static enum lks_code begin_eviction(struct asking *a, const struct lks_sched_site_wish *wish,
                                    struct lks_err *err)
{
    struct lks_str namespace, name;
    const struct lks_sched_wish look = {.verb = LKS_SCHED_LOOK, .node = wish->node};
    if (!lks_kubernetes_pods_named(wish->job, &namespace, &name))
        return lks_fail(err, LKS_E_INVALID, "'%" LKS_STR_FMT "' is no id of a pod",
                        LKS_STR_ARG(wish->job));
    if (wish->started == 0 || wish->started > LKS_TIME_MAX)
        return lks_fail(err, LKS_E_INVALID,
                        "a request about job %" LKS_STR_FMT " names the start of a run",
                        LKS_STR_ARG(wish->job));
    if (lks_sched_check(&look, err) != LKS_OK)
        return err->code;
    a->site.head.step = NODE;
    lks_sched_said_keep(a->job, sizeof(a->job), wish->job);
    lks_sched_said_keep(a->namespace, sizeof(a->namespace), namespace);
    lks_sched_said_keep(a->name, sizeof(a->name), name);
    lks_sched_said_keep(a->node, sizeof(a->node), wish->node);
    a->started = wish->started;
    a->epoch = wish->epoch;
    return LKS_OK;
}

static enum lks_code begin(void *value, const struct lks_sched_site_wish *wish, struct lks_err *err)
{
    struct asking *a = value;
    if (lks_kubernetes_read_token(wish->login.token, err) != LKS_OK)
        return err->code;
    *a = (struct asking){
        .site = {.head = {.step = LIST, .deadline = wish->deadline}, .verb = wish->verb}};
    lks_sched_said_keep(a->token, sizeof(a->token), wish->login.token);
    if (wish->verb == LKS_SCHED_SITE_REQUEUE)
        return begin_eviction(a, wish, err);
    a->jobs = wish->jobs;
    lks_sched_jobs_begin(a->jobs);
    return LKS_OK;
}

_Static_assert(sizeof(struct asking) <= LKS_SCHED_KUBERNETES_SITE_MAX, "the value fits");

const struct lks_sched_kubernetes_part lks_sched_kubernetes_jobs = {ask, hear, begin};
