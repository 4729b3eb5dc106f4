/* Questions and answers of admission webhooks. */
#include "codec/kubernetes/review.h"

#include "codec/format/json.h"
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 64 << 10 };

#define POD                                                                                        \
    "\"object\":{\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":[{\"name\":\"c\"}]}}"
#define KIND "\"kind\":{\"group\":\"\",\"version\":\"v1\",\"kind\":\"Pod\"}"
#define WHO  "\"userInfo\":{\"username\":\"kim\"}"
#define REQUEST(uid, kind, operation, more)                                                        \
    "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\",\"request\":{"           \
    "\"uid\":\"" uid "\"," kind ",\"operation\":\"" operation "\",\"namespace\":\"ml\"," more "}}"
#define GOOD REQUEST("u1", KIND, "CREATE", WHO "," POD)

static const struct {
    const char *name, *body, *said; /* "": it is good */
    enum lks_code code;
} rows[] = {
    {"a pod", GOOD, "", LKS_OK},
    {"no JSON", "no", "body:1", LKS_E_INVALID},
    {"nothing", "", "body:1", LKS_E_INVALID},
    {"a list", "[]", "not an AdmissionReview of admission.k8s.io/v1", LKS_E_INVALID},
    {"an earlier version",
     "{\"apiVersion\":\"admission.k8s.io/v1beta1\",\"kind\":\"AdmissionReview\",\"request\":{}}",
     "admissionReviewVersions of the webhook configuration has to be [v1]", LKS_E_INVALID},
    {"an answer", "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\"}",
     "not an AdmissionReview", LKS_E_INVALID},
    {"another kind",
     REQUEST("u", "\"kind\":{\"group\":\"\",\"version\":\"v1\",\"kind\":\"Node\"}", "CREATE",
             WHO "," POD),
     "not the creation of a Pod: the rules of the webhook configuration", LKS_E_INVALID},
    {"a kind of another group",
     REQUEST("u", "\"kind\":{\"group\":\"x\",\"version\":\"v1\",\"kind\":\"Pod\"}", "CREATE",
             WHO "," POD),
     "not the creation of a Pod", LKS_E_INVALID},
    {"an update", REQUEST("u", KIND, "UPDATE", WHO "," POD), "not the creation of a Pod",
     LKS_E_INVALID},
    {"a subresource", REQUEST("u", KIND, "CREATE", "\"subResource\":\"binding\"," WHO "," POD),
     "not the creation of a Pod", LKS_E_INVALID},
    {"no uid", REQUEST("", KIND, "CREATE", WHO "," POD), "'uid' of the request has to be 1 to 64",
     LKS_E_INVALID},
    {"a uid that drives a terminal", REQUEST("a\\u001b", KIND, "CREATE", WHO "," POD),
     "'uid' of the request", LKS_E_INVALID},
    {"no user", REQUEST("u", KIND, "CREATE", POD), "'username' of the request", LKS_E_INVALID},
    {"no object", REQUEST("u", KIND, "CREATE", WHO), "the request has no object", LKS_E_INVALID},
    {"a key twice", REQUEST("u", KIND, "CREATE", "\"uid\":\"v\"," WHO "," POD),
     "duplicate object key", LKS_E_INVALID},
};

static void test_questions(void)
{
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_review_fini) struct lks_review r = {0};
        struct lks_err err = {0};
        lks_test_case("%s", rows[i].name);
        CHECK_CODE(lks_review_parse(lks_str_from(rows[i].body), &r, &err), rows[i].code);
        CHECK_HAS(lks_str_from(err.msg), rows[i].said);
    }
}

static void test_question(void)
{
    LKS_CLEANUP(lks_review_fini) struct lks_review r = {0};
    LKS_CLEANUP(lks_review_fini) struct lks_review dry = {0};
    struct lks_err err = {0};
    CHECK_CODE(lks_review_parse(LKS_STR(GOOD), &r, &err), LKS_OK);
    CHECK_STR(r.uid, "u1");
    CHECK_STR(r.user, "kim");
    CHECK_STR(r.space, "ml");
    CHECK_STR(r.pod.name, "p");
    CHECK(!r.dry_run);
    CHECK_CODE(
        lks_review_parse(LKS_STR(REQUEST("u", KIND, "CREATE", "\"dryRun\":true," WHO "," POD)),
                         &dry, &err),
        LKS_OK);
    CHECK(dry.dry_run);
}

static void test_limits(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(2 * LKS_REVIEW_BYTES_MAX);
    LKS_CLEANUP(lks_review_fini) struct lks_review r = {0};
    struct lks_err err = {0};
    while (text.len <= LKS_REVIEW_BYTES_MAX)
        lks_buf_add(&text, LKS_STR("                                "));
    CHECK_CODE(lks_review_parse(lks_buf_view(&text), &r, &err), LKS_E_LIMIT);
    lks_buf_truncate(&text, 0);
    lks_buf_addc(&text, '[');
    for (size_t i = 0; i < LKS_REVIEW_VALUES_MAX; i++)
        lks_buf_add(&text, LKS_STR("1,"));
    lks_buf_add(&text, LKS_STR("1]"));
    CHECK_CODE(lks_review_parse(lks_buf_view(&text), &r, &err), LKS_E_LIMIT);
}

#define ANSWER(rest)                                                                               \
    "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\",\"response\":{"          \
    "\"uid\":\"u\"," rest "}}"

static const struct {
    const char *name;
    struct lks_review_answer answer;
    const char *text;
} answers[] = {
    {"yes", {.allowed = true}, ANSWER("\"allowed\":true")},
    {"no",
     {.message = LKS_STR_C("it \"drifts\"\nnow")},
     ANSWER("\"allowed\":false,\"status\":{\"code\":403,\"reason\":\"Forbidden\",\"message\":\"it "
            "\\\"drifts\\\"?now\"}")},
    {"yes, with warnings",
     {.allowed = true, .warnings = {LKS_STR_C("a"), LKS_STR_C("b\x1b")}, .warning_count = 2},
     ANSWER("\"allowed\":true,\"warnings\":[\"a\",\"b?\"]")},
    {"yes, with a patch",
     {.allowed = true, .patch = LKS_STR_C("[{}]")},
     ANSWER("\"allowed\":true,\"patchType\":\"JSONPatch\",\"patch\":\"W3t9XQ==\"")},
    {"no patches what it refuses",
     {.message = LKS_STR_C("no"), .patch = LKS_STR_C("[{}]")},
     ANSWER("\"allowed\":false,\"status\":{\"code\":403,\"reason\":\"Forbidden\",\"message\":"
            "\"no\"}")},
};

static void test_answers(void)
{
    for (size_t i = 0; i < LKS_COUNT(answers); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(TEXT_MAX);
        struct lks_review_answer a = answers[i].answer;
        lks_test_case("%s", answers[i].name);
        a.uid = LKS_STR("u");
        lks_review_answer(&a, &out);
        CHECK_STR(lks_buf_view(&out), answers[i].text);
    }
}

/* Longer ones are cut, and never within a character. */
static void test_long_answers(void)
{
    char text[2 * LKS_REVIEW_MESSAGE_MAX + 1];
    for (size_t skew = 0; skew < 3; skew++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(TEXT_MAX);
        LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
        struct lks_err err = {0};
        lks_test_case("%zu", skew);
        memset(text, 'a', sizeof(text));
        for (size_t i = skew; i + 2 < sizeof(text); i += 2)
            memcpy(text + i, "\xc3\xa9", 2);
        const struct lks_str all = {text, sizeof(text) - 2 + (skew & 1)};
        const struct lks_review_answer a = {
            .uid = LKS_STR("u"), .message = all, .warnings = {all}, .warning_count = 1};
        lks_review_answer(&a, &out);
        CHECK_CODE(lks_docs_init(&docs, "answer", &err), LKS_OK);
        CHECK_CODE(lks_json_parse(lks_buf_view(&out), &docs, &err), LKS_OK);
        const struct lks_doc *response = lks_doc_member(docs.first, "response");
        struct lks_str message = lks_doc_text(lks_doc_member(response, "status"), "message");
        CHECK(message.len <= LKS_REVIEW_MESSAGE_MAX && message.len + 2 > LKS_REVIEW_MESSAGE_MAX);
        CHECK(lks_str_find(message, LKS_STR("?")) < 0);
        CHECK(lks_doc_member(response, "warnings")->first->text.len <= LKS_REVIEW_WARNING_MAX);
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"what is asked, and what is no question", test_questions},
        {"what a question says", test_question},
        {"limits of a question", test_limits},
        {"answers", test_answers},
        {"long answers", test_long_answers},
        {0},
    });
}
