/*
 * What lockstep says of nodes in Kubernetes: what a node shows, and conversations that write it,
 * with answers in the form of kube-apiserver 1.36. The contract with a model is in test_sched.c,
 * and with a real API server in tests/k8s.
 */
#include "drivers/sched/kubernetes_read.h"
#include "drivers/sched/sched_drivers.h"
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOW        UINT64_C(1763200000000)
#define SCRIPT_MAX 14
#define NODES_MAX  4

#define NOTE   "the node runs its stack"
#define BEFORE "2025-11-01T00:00:00Z"
#define LABELS(digest, verdict)                                                                    \
    "\"lockstep.dev/digest\":\"" digest "\",\"lockstep.dev/verdict\":\"" verdict "\""
#define SLOT       ",\"lockstep.dev/slot\":\"lks1\""
#define ANNOTATION "\"lockstep.dev/digest\":\"sha256:0123456789abcdef\""
#define CONDITION(status, reason, message)                                                         \
    "{\"type\":\"LockstepConforms\",\"status\":\"" status "\",\"reason\":\"" reason                \
    "\",\"message\":\"" message "\",\"lastTransitionTime\":\"" BEFORE "\"}"
#define OURS CONDITION("True", "StackConforms", NOTE)
#define NODE(labels, annotations, conditions)                                                      \
    "{\"kind\":\"Node\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"n1\",\"uid\":\"u-1\","      \
    "\"resourceVersion\":\"41\",\"labels\":{" labels "},\"annotations\":{" annotations             \
    "}},\"spec\":{},\"status\":{\"conditions\":[" conditions "]}}"
#define FULL     NODE(LABELS("0123456789ab", "conform") SLOT, ANNOTATION, OURS)
#define EMPTY    NODE("\"example.com/zone\":\"a\"", "", "{\"type\":\"Ready\",\"status\":\"True\"}")
#define LABELLED NODE(LABELS("0123456789ab", "conform") SLOT, ANNOTATION, "")
#define MARKED                                                                                     \
    NODE("", "\"lockstep.dev/drain\":\"{\\\"owner\\\":\\\"change:17\\\",\\\"epoch\\\":9}\"", "")
#define STATUS(words) "{\"kind\":\"Status\",\"message\":\"" words "\"}"
#define MISSING                                                                                    \
    "{\"kind\":\"Status\",\"message\":\"nodes \\\"n1\\\" not "                                     \
    "found\",\"reason\":\"NotFound\",\"details\":{\"name\":\"n1\",\"kind\":\"nodes\"}}"

#define FEATURES "lks-0123456789ab,lks-conform,lks1"
#define DIGEST   "sha256:0123456789abcdef"

/* What is shown ----------------------------------------------------------------------------- */

static const struct {
    const char *name, *node, *features, *digest, *note;
} shown[] = {
    {"nothing", EMPTY, "", "", ""},
    {"all of it", FULL, FEATURES, DIGEST, NOTE},
    {"without a stack",
     NODE("\"lockstep.dev/verdict\":\"unknown\"", "", CONDITION("Unknown", "NoVerdict", "x")),
     "lks-unknown", "", "x"},
    {"a digest behind the verdict", NODE(LABELS("d00000000000", "conform"), "", ""),
     "lks-conform,lks-d00000000000", "", ""},
    {"a verdict that lockstep does not know", NODE(LABELS("0123456789ab", "fine"), "", ""),
     "?,lks-0123456789ab", "", ""},
    {"values that were swapped", NODE(LABELS("conform", "0123456789ab"), "", ""), "?,?", "", ""},
    {"an empty label", NODE("\"lockstep.dev/slot\":\"\"", "", ""), "?", "", ""},
    {"a label that is no text", NODE("\"lockstep.dev/slot\":7", "", ""), "?", "", ""},
    {"an empty annotation", NODE("", "\"lockstep.dev/digest\":\"\"", ""), "", "?", ""},
    {"a condition without labels", NODE("", "", OURS), "", "", "?"},
    {"a condition of another verdict",
     NODE(LABELS("0123456789ab", "drift"), "", CONDITION("True", "StackConforms", "x")),
     "lks-0123456789ab,lks-drift", "", "?"},
    {"a condition with another reason",
     NODE(LABELS("0123456789ab", "drift"), "", CONDITION("False", "Kim", "x")),
     "lks-0123456789ab,lks-drift", "", "?"},
    {"a condition without a message",
     NODE(LABELS("0123456789ab", "drift"), "", CONDITION("False", "StackDiffers", "")),
     "lks-0123456789ab,lks-drift", "", "?"},
};

static void test_shown(void)
{
    for (size_t i = 0; i < LKS_COUNT(shown); i++) {
        struct lks_kubernetes_node n;
        char why[LKS_SCHED_REASON_MAX + 1] = "";
        lks_test_case("%s", shown[i].name);
        if (!CHECK(lks_kubernetes_read_node(lks_str_from(shown[i].node), LKS_STR("n1"), &n, why)))
            continue;
        CHECK_STR(lks_str_from(n.shown.is.features), shown[i].features);
        CHECK_STR(lks_str_from(n.shown.is.digest), shown[i].digest);
        CHECK_STR(lks_str_from(n.shown.is.note), shown[i].note);
    }
}

/* Conversations ----------------------------------------------------------------------------- */

#define GET    "GET /api/v1/nodes/n1\n"
#define CLEAR  "PATCH /api/v1/nodes/n1?fieldManager=lockstep-truth\n"
#define APPLY  "PATCH /api/v1/nodes/n1?fieldManager=lockstep-truth&force=true\n"
#define TELL   "PATCH /api/v1/nodes/n1/status?fieldManager=lockstep-truth&force=true\n"
#define UNTELL "PATCH /api/v1/nodes/n1/status?fieldManager=lockstep-truth\n"

#define WRITTEN                                                                                    \
    "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"n1\",\"uid\":\"u-1\","      \
    "\"labels\":{" LABELS("0123456789ab", "conform") SLOT "},\"annotations\":{" ANNOTATION "}}}"
#define TOLD(since)                                                                                \
    "\"status\":{\"conditions\":[{\"type\":\"LockstepConforms\",\"status\":\"True\","              \
    "\"reason\":\"StackConforms\",\"message\":\"" NOTE "\",\"lastTransitionTime\":\"" since        \
    "\"}]}"
#define FORBIDDEN "nodes \\\"n1\\\" is forbidden"

struct exchange {
    const char *request; /* method and path, to the end of the line */
    int status;
    const char *body, *sends; /* the answer; what the body of the request has, NULL: anything */
};

#define THRICE(request, status, body)                                                              \
    {request, status, body, NULL}, {request, status, body, NULL},                                  \
    {                                                                                              \
        request, status, body, NULL                                                                \
    }
#define SIX(request, status, body) THRICE(request, status, body), THRICE(request, status, body)

static const struct script {
    const char *name;
    uint32_t nodes; /* the same one, so many times */
    bool removes;
    enum lks_code code;
    const char *text, *why; /* of the conversation, and of the last node */
    struct exchange steps[SCRIPT_MAX];
} scripts[] = {
    {"a node that shows nothing",
     1,
     false,
     LKS_OK,
     "",
     "",
     {{GET, 200, EMPTY, NULL},
      {APPLY, 200, LABELLED, WRITTEN},
      {TELL, 200, FULL, TOLD("2025-11-15T09:46:40.002Z")}}},
    {"what is shown is not written", 1, false, LKS_OK, "", "", {{GET, 200, FULL, NULL}}},
    {"the condition keeps its time while its status stays",
     1,
     false,
     LKS_OK,
     "",
     "",
     {{GET, 200,
       NODE(LABELS("0123456789ab", "conform") SLOT, ANNOTATION,
            CONDITION("True", "StackConforms", "before")),
       NULL},
      {TELL, 200, FULL, TOLD(BEFORE)}}},
    {"a person's values are replaced",
     1,
     false,
     LKS_OK,
     "",
     "",
     {{GET, 200, NODE(LABELS("0123456789ab", "fine") SLOT, ANNOTATION, OURS), NULL},
      {APPLY, 200, FULL, WRITTEN}}},
    {"what should not be there goes, under any owner",
     1,
     true,
     LKS_OK,
     "",
     "",
     {{GET, 200, FULL, NULL},
      {CLEAR, 200, NODE("", "", OURS),
       "\"labels\":{\"lockstep.dev/digest\":null,\"lockstep.dev/verdict\":null,"
       "\"lockstep.dev/slot\":null},\"annotations\":{\"lockstep.dev/digest\":null}"},
      {UNTELL, 200, EMPTY, "{\"$patch\":\"delete\",\"type\":\"LockstepConforms\"}"}}},
    {"a node that is gone shows nothing", 1, true, LKS_OK, "", "", {{GET, 404, MISSING, NULL}}},
    {"no such node",
     1,
     false,
     LKS_OK,
     "",
     "the API server has no such node",
     {{GET, 404, MISSING, NULL}}},
    {"a node that is deleted between",
     1,
     false,
     LKS_OK,
     "",
     "the API server has no such node",
     {{GET, 200, EMPTY, NULL},
      {APPLY, 409, STATUS("uid mismatch"), NULL},
      {GET, 404, MISSING, NULL}}},
    {"another client that is always faster",
     1,
     false,
     LKS_OK,
     "",
     "another client was faster 4 times: status 409: the object has been modified",
     {{GET, 200, EMPTY, NULL},
      {APPLY, 409, STATUS("the object has been modified"), NULL},
      {GET, 200, EMPTY, NULL},
      {APPLY, 409, STATUS("the object has been modified"), NULL},
      {GET, 200, EMPTY, NULL},
      {APPLY, 409, STATUS("the object has been modified"), NULL},
      {GET, 200, EMPTY, NULL},
      {APPLY, 409, STATUS("the object has been modified"), NULL}}},
    {"a policy that refuses the labels, and the next node",
     2,
     false,
     LKS_OK,
     "",
     "",
     {{GET, 200, EMPTY, NULL},
      {APPLY, 422, STATUS("policy denied"), NULL},
      {GET, 200, FULL, NULL}}},
    {"a policy that refuses the condition",
     1,
     false,
     LKS_OK,
     "",
     "refuses the verdict: status 422: policy denied",
     {{GET, 200, LABELLED, NULL}, {TELL, 422, STATUS("policy denied"), NULL}}},
    {"a webhook that drops the labels",
     1,
     false,
     LKS_OK,
     "",
     "was written 8 times, and the API server returns other values",
     {{GET, 200, EMPTY, NULL},
      SIX(APPLY, 200, EMPTY),
      {APPLY, 200, EMPTY, NULL},
      {APPLY, 200, EMPTY, NULL}}},
    {"no rights, for one node",
     1,
     false,
     LKS_OK,
     "",
     "does not let lockstep write verdicts to the node: status 403: nodes",
     {{GET, 200, LABELLED, NULL}, THRICE(TELL, 403, STATUS(FORBIDDEN))}},
    {"no rights at all",
     4,
     false,
     LKS_E_DENIED,
     "does not let lockstep read nodes: status 403: nodes",
     "",
     {THRICE(GET, 403, STATUS(FORBIDDEN)), THRICE(GET, 403, STATUS(FORBIDDEN)),
      THRICE(GET, 403, STATUS(FORBIDDEN))}},
    {"a server that starts, and does not know us yet",
     1,
     false,
     LKS_OK,
     "",
     "",
     {{GET, 401, STATUS("Unauthorized"), NULL},
      {GET, 403, STATUS(FORBIDDEN), NULL},
      {GET, 200, FULL, NULL}}},
    {"an answer that is lost: the same write again",
     1,
     false,
     LKS_OK,
     "",
     "",
     {{GET, 200, EMPTY, NULL},
      {APPLY, 0, "", NULL},
      {APPLY, 200, LABELLED, WRITTEN},
      {TELL, 500, STATUS("etcd"), NULL},
      {TELL, 200, FULL, NULL}}},
    {"a server that is busy",
     1,
     false,
     LKS_OK,
     "",
     "",
     {{GET, 429, STATUS("too many"), NULL}, {GET, 503, "", NULL}, {GET, 200, FULL, NULL}}},
    {"a server that is away",
     4,
     false,
     LKS_E_UNAVAILABLE,
     "no good answer in 6 tries; the last: no answer",
     "",
     {SIX(GET, 0, "")}},
    {"an answer that is about another node",
     1,
     false,
     LKS_E_UNAVAILABLE,
     "not about node 'n1'",
     "",
     {SIX(GET, 200, "{\"kind\":\"Node\",\"metadata\":{\"name\":\"n2\"}}")}},
    {"a node without a uid is not written",
     1,
     false,
     LKS_OK,
     "",
     "without its uid",
     {{GET, 200,
       "{\"kind\":\"Node\",\"metadata\":{\"name\":\"n1\",\"resourceVersion\":\"1\"},\"spec\":{},"
       "\"status\":{}}",
       NULL}}},
    {"a later leader",
     1,
     false,
     LKS_E_REFUSED,
     "a controller with epoch 9 drained it; this one has 8",
     "",
     {{GET, 200, MARKED, NULL}}},
};

static void check_request(const struct exchange *step, const struct lks_talk *talk)
{
    char line[LKS_HTTP_PATH_MAX + 16];
    snprintf(line, sizeof(line), "%s %" LKS_STR_FMT "\n", talk->request.method,
             LKS_STR_ARG(lks_buf_view(&talk->request.path)));
    CHECK_HAS(lks_buf_view(&talk->request.head), "Authorization: Bearer abc.def\r\n");
    CHECK_STR(lks_str_from(line), step->request != NULL ? step->request : "");
    if (step->sends != NULL)
        CHECK_HAS(lks_buf_view(&talk->request.body), step->sends);
}

/* Until it ends; how many requests it sent. */
static size_t converse(const struct script *s, void *value, struct lks_talk *talk)
{
    const struct lks_conversation_ops *ops = lks_sched_kubernetes.site_talk;
    lks_ms now = NOW;
    size_t at = 0;
    for (unsigned i = 0; i < 100; i++) {
        lks_conversation_next(ops, value, now, talk);
        if (talk->kind == LKS_TALK_DONE || talk->kind == LKS_TALK_FAIL)
            return at;
        now = talk->kind == LKS_TALK_WAIT ? talk->until : now + 1;
        if (talk->kind == LKS_TALK_WAIT)
            continue;
        if (!CHECK(at < SCRIPT_MAX))
            return at;
        check_request(&s->steps[at], talk);
        const struct lks_http_response answer = {
            .status = s->steps[at].status,
            .body = lks_str_from(s->steps[at].body != NULL ? s->steps[at].body : "")};
        lks_conversation_feed(ops, value, now, answer.status == 0 ? NULL : &answer);
        at++;
    }
    CHECK(false); /* it does not end */
    return at;
}

static void play(const struct script *s)
{
    LKS_CLEANUP(lks_conversation_talk_fini) struct lks_talk talk = {0};
    const struct lks_sched_truth want = {.features = FEATURES, .digest = DIGEST, .note = NOTE};
    struct lks_sched_told told[NODES_MAX] = {{.node = {0}}};
    const struct lks_sched_site_wish wish = {.verb = LKS_SCHED_SITE_PUBLISH,
                                             .told = told,
                                             .told_count = s->nodes,
                                             .epoch = 8,
                                             .login = {.token = LKS_STR("abc.def")},
                                             .deadline = NOW + LKS_SCHED_DEADLINE};
    struct lks_err err = {0};
    for (uint32_t i = 0; i < s->nodes; i++) {
        told[i].node = LKS_STR("n1");
        if (!s->removes)
            told[i].truth = want;
    }
    void *value = calloc(1, lks_sched_kubernetes.site_talk->size);
    LKS_ASSERT(value != NULL);
    lks_conversation_talk_init(&talk);
    CHECK_CODE(lks_sched_kubernetes.begin_site(value, &wish, &err), LKS_OK);
    size_t at = converse(s, value, &talk);
    CHECK(at == SCRIPT_MAX || s->steps[at].request == NULL);
    CHECK_CODE(talk.err.code, s->code);
    CHECK_HAS(lks_str_from(talk.err.msg), s->text);
    CHECK_HAS(lks_str_from(told[s->nodes - 1].why), s->why);
    CHECK(s->why[0] != '\0' || told[s->nodes - 1].why[0] == '\0');
    CHECK(!told[s->nodes - 1].seen || (s->code == LKS_OK && s->why[0] == '\0'));
    free(value);
}

static void test_scripts(void)
{
    for (size_t i = 0; i < LKS_COUNT(scripts); i++) {
        lks_test_case("%s", scripts[i].name);
        play(&scripts[i]);
    }
}

/* A server that answers after so long that the deadline comes first: what was done counts. */
static void test_slow(void)
{
    LKS_CLEANUP(lks_conversation_talk_fini) struct lks_talk talk = {0};
    const struct lks_conversation_ops *ops = lks_sched_kubernetes.site_talk;
    struct lks_sched_told told[60] = {{.node = {0}}};
    const struct lks_sched_site_wish wish = {.verb = LKS_SCHED_SITE_PUBLISH,
                                             .told = told,
                                             .told_count = LKS_COUNT(told),
                                             .epoch = 8,
                                             .deadline = NOW + LKS_SCHED_DEADLINE};
    const struct lks_http_response answer = {.status = 200, .body = LKS_STR(EMPTY)};
    struct lks_err err = {0};
    lks_ms now = NOW;
    size_t done = 0, open = 0;
    void *value = calloc(1, ops->size);
    LKS_ASSERT(value != NULL);
    for (size_t i = 0; i < LKS_COUNT(told); i++)
        told[i].node = LKS_STR("n1");
    lks_conversation_talk_init(&talk);
    CHECK_CODE(lks_sched_kubernetes.begin_site(value, &wish, &err), LKS_OK);
    lks_conversation_next(ops, value, now, &talk);
    while (talk.kind == LKS_TALK_SEND && now < wish.deadline) {
        now += LKS_SCHED_PATIENCE - 1;
        lks_conversation_feed(ops, value, now, &answer);
        lks_conversation_next(ops, value, now, &talk);
    }
    CHECK_INT(talk.kind, LKS_TALK_DONE);
    for (size_t i = 0; i < LKS_COUNT(told); i++) {
        done += told[i].seen;
        open += told[i].open;
    }
    CHECK(done > 1 && done + open == LKS_COUNT(told) && !told[0].open);
    free(value);
}

/* What the driver does not do is refused before anything is sent. */
static void test_others(void)
{
    void *value = calloc(1, lks_sched_kubernetes.site_talk->size);
    LKS_ASSERT(value != NULL);
    struct lks_sched_told told = {.node = LKS_STR("../n1")};
    struct lks_sched_site_wish wish = {.verb = LKS_SCHED_SITE_PUBLISH, .told = &told};
    struct lks_err err = {0};
    CHECK_CODE(lks_sched_kubernetes.begin_site(value, &wish, &err), LKS_E_INVALID);
    wish.told_count = 1;
    CHECK_CODE(lks_sched_kubernetes.begin_site(value, &wish, &err), LKS_E_INVALID);
    told.node = LKS_STR("n1");
    wish.login.token = LKS_STR("a b");
    CHECK_CODE(lks_sched_kubernetes.begin_site(value, &wish, &err), LKS_E_INVALID);
    wish.verb = LKS_SCHED_SITE_RESERVATIONS;
    CHECK_CODE(lks_sched_kubernetes.begin_site(value, &wish, &err), LKS_E_REFUSED);
    free(value);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"what a node shows", test_shown},
        {"conversations", test_scripts},
        {"a slow server", test_slow},
        {"what is not asked", test_others},
        {NULL, NULL},
    });
}
