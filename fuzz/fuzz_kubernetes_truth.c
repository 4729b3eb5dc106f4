/*
 * Any API server of Kubernetes at all, while verdicts are published. The first byte says what two
 * nodes are to show; then each answer is a few control bytes: which status, which body, and how
 * many of the bytes that follow are in it. Where they run out no answer comes any more.
 *
 * Whatever it answers: the conversation ends, within its bounds and its deadline; nothing is asked
 * but about the two nodes, one after the other; what is written is JSON with the uid that was read;
 * a node counts as shown only behind an answer of its own, and where it does not the reason can be
 * printed.
 */
#include "codec/format/json.h"
#include "drivers/sched/kubernetes_truth.h"
#include "drivers/sched/sched_drivers.h"
#include "fuzz/answers.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define EXCHANGES_MAX 2000
#define WRITES_MAX    9 /* of a node */
#define NODES         2
#define BEGIN         UINT64_C(1763200000000)
#define BODY_MAX      ((size_t)64 << 10)
#define NOTE          "the node runs its stack"

#define NODE(name, labels, annotations, conditions)                                                \
    "{\"kind\":\"Node\",\"metadata\":{\"name\":\"" name "\",\"uid\":\"u-1\","                      \
    "\"resourceVersion\":\"41\",\"labels\":{" labels "},\"annotations\":{" annotations             \
    "}},\"spec\":{},\"status\":{\"conditions\":[" conditions "]}}"
#define LABELS                                                                                     \
    "\"lockstep.dev/digest\":\"0123456789ab\",\"lockstep.dev/verdict\":\"conform\","               \
    "\"lockstep.dev/slot\":\"lks1\""
#define DIGEST "\"lockstep.dev/digest\":\"sha256:0123456789ab\""
#define CONDITION(message)                                                                         \
    "{\"type\":\"LockstepConforms\",\"status\":\"True\",\"reason\":\"StackConforms\",\"message\":" \
    "\"" message "\",\"lastTransitionTime\":\"2026-01-01T00:00:00Z\"}"

/* What it says, so that chance need not find the words. `*` stands for bytes of the input. */
static const char *const bodies[] = {
    "*",
    NODE("g1", "", "", ""),
    NODE("g2", "", "", ""),
    NODE("g1", LABELS, DIGEST, ""),
    NODE("g2", LABELS, DIGEST, ""),
    NODE("g1", LABELS, DIGEST, CONDITION(NOTE)),
    NODE("g2", LABELS, DIGEST, CONDITION(NOTE)),
    NODE("g1", LABELS, DIGEST, CONDITION("kim\\u001b")),
    NODE("g1", "\"lockstep.dev/verdict\":\"\\u0007,lks0\"", "\"lockstep.dev/digest\":\"\\n\"",
         "{\"type\":\"LockstepConforms\"}"),
    "{\"kind\":\"Node\",\"metadata\":{\"name\":\"g1\",\"resourceVersion\":\"1\"},\"spec\":{},"
    "\"status\":{}}",
    NODE("g1", "", "\"lockstep.dev/drain\":\"{\\\"owner\\\":\\\"a\\\",\\\"epoch\\\":9}\"", ""),
    "{\"kind\":\"Status\",\"message\":\"no\\u0007\",\"reason\":\"NotFound\",\"details\":{\"kind\":"
    "\"nodes\"}}",
    "{}",
};

static const int statuses[] = {200, 200, 200, 200, 201, 200, 500, 404,
                               409, 410, 401, 403, 422, 429, 503, 0};

/* Along the way. */
struct witness {
    uint32_t node;     /* the one that is asked about */
    bool heard[NODES]; /* good answers came about it, or that there is none */
    unsigned writes[NODES];
};

static void check_patch(struct lks_str body, uint32_t node)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_err err = {0};
    LKS_ASSERT(lks_docs_init(&docs, "patch", &err) == LKS_OK);
    LKS_ASSERT(lks_json_parse(body, &docs, &err) == LKS_OK);
    const struct lks_doc *metadata = lks_doc_member(docs.first, "metadata");
    LKS_ASSERT(lks_str_is(lks_doc_text(metadata, "name"), node == 0 ? "g1" : "g2"));
    LKS_ASSERT(lks_doc_text(metadata, "uid").len > 0);
    LKS_ASSERT(lks_doc_member(docs.first, "spec") == NULL);
}

static void watch(struct witness *w, const struct lks_http_request *r)
{
    struct lks_err err = {0};
    struct lks_str path = lks_buf_view(&r->path);
    LKS_ASSERT(lks_http_request_check(r, &err) == LKS_OK);
    bool second = lks_str_starts(path, "/api/v1/nodes/g2");
    LKS_ASSERT(second || lks_str_starts(path, "/api/v1/nodes/g1"));
    LKS_ASSERT(second || w->node == 0);
    w->node = second;
    if (strcmp(r->method, "GET") == 0) {
        LKS_ASSERT(path.len == strlen("/api/v1/nodes/g1"));
        return;
    }
    LKS_ASSERT(strcmp(r->method, "PATCH") == 0 && w->heard[w->node]);
    LKS_ASSERT(lks_str_find(path, LKS_STR("?fieldManager=lockstep-truth")) > 0);
    check_patch(lks_buf_view(&r->body), w->node);
}

static const struct answers answers = {bodies, statuses, LKS_COUNT(bodies), LKS_COUNT(statuses)};

/* True: it ended well. */
static bool converse(void *value, struct stream *s, struct witness *w)
{
    LKS_CLEANUP(lks_conversation_talk_fini) struct lks_talk talk = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf body = LKS_BUF(BODY_MAX);
    const struct lks_conversation_ops *ops = lks_sched_kubernetes.site_talk;
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
        bool over = s->at >= s->end;
        next_answer(s, &answers, &response, &body);
        bool silent = over || response.status == 0;
        w->heard[w->node] =
            w->heard[w->node] || (!silent && (response.status == 200 || response.status == 404));
        w->writes[w->node] += !silent && response.status == 200;
        LKS_ASSERT(w->writes[w->node] <= 2 * WRITES_MAX);
        now = silent ? talk.until : now + 10;
        lks_conversation_feed(ops, value, now, silent ? NULL : &response);
    }
    LKS_ASSERT(false); /* it does not end */
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct stream s = {data, data + size};
    struct witness w = {0};
    uint8_t how = next_byte(&s);
    struct lks_sched_told told[NODES] = {{.node = LKS_STR("g1")}, {.node = LKS_STR("g2")}};
    const struct lks_sched_truth truth = {.features = "lks-0123456789ab,lks-conform,lks1",
                                          .digest = "sha256:0123456789ab",
                                          .note = NOTE};
    const struct lks_sched_site_wish wish = {.verb = LKS_SCHED_SITE_PUBLISH,
                                             .told = told,
                                             .told_count = NODES,
                                             .epoch = 4,
                                             .login = {.token = LKS_STR("abc.def.ghi")},
                                             .deadline = BEGIN + LKS_SCHED_DEADLINE};
    struct lks_err err = {0};
    for (uint32_t i = 0; i < NODES; i++) {
        if ((how >> i & 1) != 0)
            told[i].truth = truth;
    }
    void *value = calloc(1, lks_sched_kubernetes.site_talk->size);
    LKS_ASSERT(value != NULL);
    LKS_ASSERT(lks_sched_kubernetes.begin_site(value, &wish, &err) == LKS_OK);
    bool good = converse(value, &s, &w);
    for (uint32_t i = 0; i < NODES; i++) {
        LKS_ASSERT(lks_str_printable(lks_str_from(told[i].why)));
        LKS_ASSERT(!told[i].seen || (w.heard[i] && told[i].why[0] == '\0'));
        LKS_ASSERT(!good || told[i].seen + told[i].open + (told[i].why[0] != '\0') == 1);
    }
    free(value);
    return 0;
}
