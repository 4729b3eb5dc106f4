/*
 * Any API server of Kubernetes at all, asked for the jobs of a site or to evict a pod. The first
 * byte says which; then each answer is a few control bytes: which status, which body, and how many
 * of the bytes that follow are in it. Where they run out no answer comes any more.
 *
 * Whatever it answers: the conversation ends, within its bounds and its deadline; a list changes
 * nothing; a pod is evicted only after its node was read and was drained by us, and a list had the
 * pod that is meant; the request names its uid; what is listed can be printed.
 */
#include "codec/format/json.h"
#include "core/sched/jobs.h"
#include "drivers/sched/kubernetes_pods.h"
#include "drivers/sched/sched_drivers.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define EXCHANGES_MAX 3000
#define BEGIN         UINT64_C(1763200000000)
#define STARTED       UINT64_C(1763195400000) /* 2025-11-15T08:30:00Z */
#define BODY_MAX      ((size_t)64 << 10)
#define UID           "3f2c1a9b-7777-4d53-9a38-6c1d2e8f9b01"

struct stream {
    const uint8_t *at, *end;
};

static uint8_t next_byte(struct stream *s)
{
    return s->at < s->end ? *s->at++ : 0;
}

#define NODE(annotation, taints)                                                                   \
    "{\"kind\":\"Node\",\"metadata\":{\"name\":\"g1\",\"resourceVersion\":\"41\","                 \
    "\"annotations\":{" annotation "}},\"spec\":{\"taints\":[" taints "]},\"status\":{}}"
#define MARK(epoch)                                                                                \
    "\"lockstep.dev/drain\":\"{\\\"owner\\\":\\\"change:17\\\",\\\"epoch\\\":" epoch "}\""
#define TAINT "{\"key\":\"lockstep.dev/drain\",\"effect\":\"NoSchedule\"}"
#define PODS(more, items)                                                                          \
    "{\"kind\":\"PodList\",\"metadata\":{\"continue\":\"" more "\"},\"items\":[" items "]}"
#define POD(uid, more)                                                                             \
    "{\"metadata\":{\"name\":\"train-0\",\"namespace\":\"ml\",\"uid\":\"" uid "\"" more            \
    "},\"spec\":{\"nodeName\":\"g1\",\"containers\":[{\"resources\":{\"limits\":{\"amd.com/gpu\":" \
    "\"8\"}}}]},\"status\":{\"startTime\":\"2025-11-15T08:30:00Z\"}}"
#define OWNED ",\"ownerReferences\":[{\"kind\":\"J\\u001bb\",\"name\":\"t\",\"controller\":true}]"

/* What it says, so that chance need not find the words. `*` stands for bytes of the input. */
static const char *const bodies[] = {
    "*",
    NODE(MARK("4"), TAINT),
    PODS("", POD(UID, OWNED)),
    PODS("abc", POD("77777777-1", OWNED)),
    PODS("", POD(UID, OWNED ",\"deletionTimestamp\":\"2025-11-15T09:30:00Z\"")),
    PODS("", POD(UID, "")),
    PODS("abc", ""),
    PODS("", ""),
    NODE(MARK("9"), TAINT),
    NODE("", TAINT),
    NODE(MARK("4"), ""),
    "{\"kind\":\"Status\",\"message\":\"no\\u0007\",\"details\":{\"causes\":[{\"reason\":"
    "\"DisruptionBudget\",\"message\":\"one\\u001b\"}]}}",
    "{\"kind\":\"Status\",\"message\":\"no\",\"reason\":\"NotFound\",\"details\":{\"kind\":"
    "\"nodes\"}}",
    "{}",
};

static const int statuses[] = {200, 200, 200, 200, 201, 500, 404, 409, 410, 401, 403, 429, 503, 0};

/* Along the way. */
struct witness {
    bool drained, found; /* the last reading of the node, and of its pods */
    unsigned evictions;
};

static void check_eviction(const struct witness *w, struct lks_str body)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_err err = {0};
    LKS_ASSERT(lks_docs_init(&docs, "eviction", &err) == LKS_OK);
    LKS_ASSERT(lks_json_parse(body, &docs, &err) == LKS_OK);
    const struct lks_doc *conditions =
        lks_doc_member(lks_doc_member(docs.first, "deleteOptions"), "preconditions");
    LKS_ASSERT(lks_str_starts(lks_doc_text(conditions, "uid"), "3f2c1a9b"));
    LKS_ASSERT(w->drained && w->found);
}

static void watch(struct witness *w, const struct lks_http_request *r, bool lists)
{
    struct lks_err err = {0};
    struct lks_str path = lks_buf_view(&r->path);
    LKS_ASSERT(lks_http_request_check(r, &err) == LKS_OK);
    if (strcmp(r->method, "GET") == 0) {
        LKS_ASSERT(lks_str_starts(path, lists ? "/api/v1/pods?fieldSelector=spec.nodeName%21%3D%2C"
                                              : "/api/v1/"));
        return;
    }
    LKS_ASSERT(!lists && strcmp(r->method, "POST") == 0 &&
               lks_str_is(path, "/api/v1/namespaces/ml/pods/train-0/eviction"));
    check_eviction(w, lks_buf_view(&r->body));
    w->evictions++;
    LKS_ASSERT(w->evictions <= LKS_SCHED_TURNS_MAX);
}

/* What the answer to this request showed. */
static void learn(struct witness *w, const struct lks_http_request *r,
                  const struct lks_http_response *answer)
{
    struct lks_str path = lks_buf_view(&r->path);
    bool good = answer->status == 200 || answer->status == 201;
    if (good && lks_str_starts(path, "/api/v1/nodes/"))
        w->drained = lks_str_find(answer->body, LKS_STR("lockstep.dev/drain")) >= 0;
    if (good && lks_str_starts(path, "/api/v1/pods"))
        w->found = w->found || lks_str_find(answer->body, LKS_STR("3f2c1a9b")) >= 0;
}

static void answer(struct stream *s, struct lks_http_response *out, struct lks_buf *body)
{
    const char *text = bodies[next_byte(s) % LKS_COUNT(bodies)];
    *out = (struct lks_http_response){.status = statuses[next_byte(s) % LKS_COUNT(statuses)]};
    lks_buf_truncate(body, 0);
    if (text[0] == '*') {
        size_t len = next_byte(s) * (size_t)4, most = (size_t)(s->end - s->at);
        len = len < most ? len : most;
        lks_buf_add(body, (struct lks_str){(const char *)s->at, len});
        s->at += len;
    } else {
        lks_buf_add(body, lks_str_from(text));
    }
    out->body = lks_buf_view(body);
}

/* True: it ended well. */
static bool converse(void *value, struct stream *s, bool lists)
{
    LKS_CLEANUP(lks_conversation_talk_fini) struct lks_talk talk = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf body = LKS_BUF(BODY_MAX);
    const struct lks_conversation_ops *ops = lks_sched_kubernetes.site_talk;
    struct witness w = {0};
    lks_ms now = BEGIN;
    lks_conversation_talk_init(&talk);
    for (unsigned i = 0; i < EXCHANGES_MAX; i++) {
        lks_conversation_next(ops, value, now, &talk);
        if (talk.kind == LKS_TALK_DONE || talk.kind == LKS_TALK_FAIL) {
            LKS_ASSERT(lks_str_printable(lks_str_from(talk.err.msg)));
            return talk.kind == LKS_TALK_DONE;
        }
        LKS_ASSERT(talk.until > now && talk.until <= BEGIN + LKS_SCHED_DEADLINE);
        if (talk.kind == LKS_TALK_WAIT) {
            now = talk.until;
            continue;
        }
        struct lks_http_response response;
        watch(&w, &talk.request, lists);
        bool over = s->at >= s->end;
        answer(s, &response, &body);
        bool silent = over || response.status == 0;
        if (!silent)
            learn(&w, &talk.request, &response);
        now = silent ? talk.until : now + 10;
        lks_conversation_feed(ops, value, now, silent ? NULL : &response);
    }
    LKS_ASSERT(false); /* it does not end */
    return false;
}

static void check_jobs(const struct lks_sched_jobs *jobs)
{
    for (uint32_t i = 0; i < jobs->count; i++) {
        const struct lks_sched_job *job = &jobs->jobs[i];
        LKS_ASSERT(job->id.len > 0 && job->id.len <= LKS_SCHED_JOBS_ID_MAX);
        LKS_ASSERT(lks_str_printable(job->id) && lks_str_printable(job->user));
        LKS_ASSERT(lks_str_printable(job->account) && lks_str_printable(job->nodes));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct stream s = {data, data + size};
    struct lks_sched_jobs jobs = {0};
    struct lks_err err = {0};
    bool lists = (next_byte(&s) & 1) != 0;
    const struct lks_sched_site_wish wish = {
        .verb = lists ? LKS_SCHED_SITE_JOBS : LKS_SCHED_SITE_REQUEUE,
        .job = LKS_STR("ml/train-0#3f2c1a9b"),
        .node = LKS_STR("g1"),
        .started = STARTED,
        .jobs = &jobs,
        .login = {.token = LKS_STR("abc.def.ghi")},
        .epoch = 4,
        .deadline = BEGIN + LKS_SCHED_DEADLINE,
    };
    void *value = calloc(1, lks_sched_kubernetes.site_talk->size);
    LKS_ASSERT(value != NULL);
    LKS_ASSERT(lks_sched_kubernetes.begin_site(value, &wish, &err) == LKS_OK);
    if (converse(value, &s, lists) && lists)
        check_jobs(&jobs);
    lks_sched_jobs_fini(&jobs);
    free(value);
    return 0;
}
