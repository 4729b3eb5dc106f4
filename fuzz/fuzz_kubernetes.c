/*
 * Any API server of Kubernetes at all. The first byte says what is asked of it; then each answer is
 * a few control bytes: which status, which body, and how many of the bytes that follow are in it.
 * Where they run out no answer comes any more.
 *
 * Whatever it answers: the conversation ends, within its bounds and its deadline; nothing is asked
 * but about the one node and its pods; something is changed only after the node was read, and with
 * the version that was read; a release is asked for only where the last reading showed our own
 * drain; what is sent is JSON; a node is drained only after a list of pods; what comes out of it
 * can be printed.
 */
#include "codec/format/json.h"
#include "drivers/sched/kubernetes_read.h"
#include "drivers/sched/sched_drivers.h"
#include "fuzz/answers.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define EXCHANGES_MAX 2000
#define BEGIN         UINT64_C(1763200000000)
#define BODY_MAX      ((size_t)64 << 10)

#define NODE(annotation, manager, spec)                                                            \
    "{\"kind\":\"Node\",\"metadata\":{\"name\":\"g1\",\"resourceVersion\":\"41\","                 \
    "\"annotations\":{" annotation "},\"managedFields\":[{\"manager\":\"" manager                  \
    "\",\"fieldsV1\":{\"f:spec\":{\"f:unschedulable\":{}}}}]},\"spec\":{" spec                     \
    "},\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}"
#define MARK(owner) "\"lockstep.dev/drain\":\"{\\\"owner\\\":\\\"" owner "\\\",\\\"epoch\\\":4}\""
#define TAINTS      "\"taints\":[{\"key\":\"a\\u0001b\"},{\"key\":\"lockstep.dev/drain\"}]"
#define CORDON      "\"unschedulable\":true,"
#define PODS(more, items)                                                                          \
    "{\"kind\":\"PodList\",\"metadata\":{\"continue\":\"" more "\"},\"items\":[" items "]}"

/* What it says, so that chance need not find the words. `*` stands for bytes of the input. */
static const char *const bodies[] = {
    "*",
    NODE("", "", "\"taints\":[{\"key\":\"x\"}]"),
    NODE(MARK("change:17"), "lockstep", CORDON TAINTS),
    NODE(MARK("change:17"), "kim\\u001b", CORDON TAINTS),
    NODE(MARK("change:17"), "", TAINTS),
    NODE(MARK("change:16"), "lockstep", CORDON TAINTS),
    NODE(MARK("a\\\\u0007"), "", TAINTS),
    NODE("", "kim\\n", CORDON "\"podCIDR\":\"\""),
    NODE("\"lockstep.dev/drain\":\"*\"", "", TAINTS),
    PODS("", ""),
    PODS("abc", ""),
    PODS("", "{\"metadata\":{\"name\":\"p\\u001b\",\"namespace\":\"n\"},\"spec\":{\"nodeName\":"
             "\"g1\",\"resourceClaims\":[{}]},\"status\":{}}"),
    "{\"kind\":\"Status\",\"message\":\"no\\u0007\",\"reason\":\"NotFound\",\"details\":{}}",
    "{}",
};

static const int statuses[] = {200, 200, 200, 200, 200, 500, 404, 409, 410, 401, 403, 429, 503, 0};

/* Along the way. */
struct witness {
    bool read, ours, listed; /* the node was read; our drain was seen; pods were listed */
    unsigned acts;
};

static void check_patch(const struct witness *w, struct lks_str body)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_err err = {0};
    LKS_ASSERT(lks_docs_init(&docs, "patch", &err) == LKS_OK);
    docs.fractions = true;
    LKS_ASSERT(lks_json_parse(body, &docs, &err) == LKS_OK);
    const struct lks_doc *metadata = lks_doc_member(docs.first, "metadata");
    const struct lks_doc *taints = lks_doc_member(lks_doc_member(docs.first, "spec"), "taints");
    const struct lks_doc *mark =
        lks_doc_member(lks_doc_member(metadata, "annotations"), LKS_KUBERNETES_READ_MARK);
    LKS_ASSERT(lks_doc_text(metadata, "resourceVersion").len > 0);
    LKS_ASSERT(taints != NULL && taints->kind == LKS_DOC_LIST && mark != NULL);
    LKS_ASSERT(w->read && (mark->kind != LKS_DOC_NULL || w->ours));
}

static void watch(struct witness *w, const struct lks_http_request *r)
{
    struct lks_err err = {0};
    struct lks_str path = lks_buf_view(&r->path);
    LKS_ASSERT(lks_http_request_check(r, &err) == LKS_OK);
    bool pods = lks_str_starts(path, "/api/v1/pods?fieldSelector=spec.nodeName%3Dg1&limit=");
    LKS_ASSERT(pods || lks_str_is(path, "/api/v1/nodes/g1") ||
               lks_str_is(path, "/api/v1/nodes/g1?fieldManager=lockstep"));
    w->listed = w->listed || pods;
    if (strcmp(r->method, "GET") == 0)
        return;
    LKS_ASSERT(strcmp(r->method, "PATCH") == 0 && !pods);
    check_patch(w, lks_buf_view(&r->body));
    w->acts++;
}

static const struct answers answers = {bodies, statuses, LKS_COUNT(bodies), LKS_COUNT(statuses)};

/* True: it ended well. */
static bool converse(void *value, struct stream *s, struct witness *w)
{
    LKS_CLEANUP(lks_conversation_talk_fini) struct lks_talk talk = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf body = LKS_BUF(BODY_MAX);
    const struct lks_conversation_ops *ops = lks_sched_kubernetes.talk;
    struct lks_sched_said said;
    lks_ms now = BEGIN;
    lks_conversation_talk_init(&talk);
    for (unsigned i = 0; i < EXCHANGES_MAX; i++) {
        lks_conversation_next(ops, value, now, &talk);
        if (talk.kind == LKS_TALK_DONE || talk.kind == LKS_TALK_FAIL)
            return talk.kind == LKS_TALK_DONE;
        LKS_ASSERT(talk.until > now && talk.until <= BEGIN + LKS_SCHED_DEADLINE);
        if (talk.kind == LKS_TALK_WAIT) {
            now = talk.until;
            continue;
        }
        struct lks_http_response response;
        watch(w, &talk.request);
        LKS_ASSERT(w->acts <= LKS_SCHED_TURNS_MAX);
        bool over = s->at >= s->end;
        next_answer(s, &answers, &response, &body);
        bool silent = over || response.status == 0;
        now = silent ? talk.until : now + 10;
        lks_conversation_feed(ops, value, now, silent ? NULL : &response);
        lks_sched_kubernetes.said(value, &said);
        w->read = w->read || said.known;
        w->ours = said.ours;
    }
    LKS_ASSERT(false); /* it does not end */
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct stream s = {data, data + size};
    struct witness w = {0};
    uint8_t how = next_byte(&s);
    const struct lks_sched_wish wish = {
        .verb = (enum lks_sched_verb)(how % LKS_SCHED_VERB_COUNT),
        .node = LKS_STR("g1"),
        .owner = LKS_STR("change:17"),
        .from = how & 64 ? LKS_STR("change:16") : LKS_STR(""),
        .reason = LKS_STR("to another stack"),
        .login = {.token = LKS_STR("abc.def.ghi")},
        .epoch = how & 128 ? 3 : 4,
        .deadline = BEGIN + LKS_SCHED_DEADLINE,
    };
    struct lks_err err = {0};
    struct lks_sched_said said;
    void *value = calloc(1, lks_sched_kubernetes.talk->size);
    LKS_ASSERT(value != NULL);
    LKS_ASSERT(lks_sched_kubernetes.begin(value, &wish, &err) == LKS_OK);
    bool good = converse(value, &s, &w);
    lks_sched_kubernetes.said(value, &said);
    LKS_ASSERT(lks_str_printable(lks_str_from(said.text)));
    LKS_ASSERT(lks_str_printable(lks_str_from(said.owner)));
    LKS_ASSERT(!said.ours || (said.lockstep && strcmp(said.owner, "change:17") == 0));
    LKS_ASSERT(!good || !lks_sched_drained(&said) || w.listed);
    free(value);
    return 0;
}
