#include "port/conversation.h"

#include "tests/test.h"

#include <stdio.h>

enum { BEGUN = 1000, PATIENCE = 500, DEADLINE = 1000000 };

/* A driver of one question. What it hears it writes down, and does as its test says. */
enum act { GO, GO_SAVE, RETRY, END, FAIL };
struct value {
    struct lks_conversation c;
    enum act act;
    const char *path;
    char heard[64];
};

static lks_ms ask(const void *value, struct lks_http_request *out)
{
    const struct value *v = value;
    out->method = "GET";
    lks_buf_addf(&out->path, "%s%u", v->path, v->c.step);
    return PATIENCE;
}

static void hear(void *value, lks_ms now, const struct lks_http_response *answer)
{
    struct value *v = value;
    size_t len = strlen(v->heard);
    snprintf(v->heard + len, sizeof(v->heard) - len, "%d ", answer != NULL ? answer->status : 0);
    if (v->act == GO)
        lks_conversation_go(&v->c, v->c.step + 1, now + 100);
    else if (v->act == GO_SAVE)
        lks_conversation_go_checkpoint(&v->c, v->c.step + 1, 0);
    else if (v->act == RETRY)
        lks_conversation_retry(&v->c, now + 100);
    else if (v->act == END)
        lks_conversation_end(&v->c);
    else
        lks_conversation_fail(&v->c, LKS_E_REFUSED, "it said \x1b[31m%s", "no\nreally");
}

static const struct lks_conversation_ops ops = {
    .name = "test", .size = sizeof(struct value), .ask = ask, .hear = hear};
static const struct lks_conversation_ops all_ears = {
    .name = "test", .size = sizeof(struct value), .ask = ask, .hear = hear, .hears_all = true};

static struct value value_with(enum act act)
{
    return (struct value){.c = {.deadline = DEADLINE}, .act = act, .path = "/"};
}

static void feed(const struct lks_conversation_ops *o, struct value *v, lks_ms now, int status,
                 const char *head)
{
    struct lks_http_response r = {.status = status, .head = lks_str_from(head)};
    lks_conversation_feed(o, v, now, status != 0 ? &r : NULL);
}

/* What is to be done, as text; asked twice, since the first time may change nothing. */
static const char *next(const struct value *v, lks_ms now, char out[LKS_ERR_MSG_MAX + 64])
{
    static const char *const kinds[] = {"send", "wait", "done", "fail"};
    LKS_CLEANUP(lks_conversation_talk_fini) struct lks_talk t = {0};
    struct value before;
    memcpy(&before, v, sizeof(before));
    lks_conversation_talk_init(&t);
    lks_conversation_next(&ops, v, now, &t);
    lks_conversation_next(&ops, v, now, &t);
    CHECK(memcmp(&before, v, sizeof(before)) == 0);
    snprintf(out, LKS_ERR_MSG_MAX + 64, "%s %s until %llu%s%s", kinds[t.kind],
             t.request.path.len > 0 ? t.request.path.ptr : "-", (unsigned long long)t.until,
             t.checkpoint ? " saved" : "", t.err.msg);
    return out;
}

static void test_next(void)
{
    char text[LKS_ERR_MSG_MAX + 64];
    struct value v = value_with(GO);
    CHECK_STR(lks_str_from(next(&v, BEGUN, text)), "send /0 until 1500");
    feed(&ops, &v, BEGUN, 200, "");
    CHECK_STR(lks_str_from(next(&v, BEGUN, text)), "wait - until 1100");
    CHECK_STR(lks_str_from(next(&v, BEGUN + 99, text)), "wait - until 1100");
    CHECK_STR(lks_str_from(next(&v, BEGUN + 100, text)), "send /1 until 1600");
    v.act = GO_SAVE;
    feed(&ops, &v, BEGUN + 100, 200, "");
    CHECK_STR(lks_str_from(next(&v, BEGUN + 100, text)), "send /2 until 1600 saved");
    v.act = GO;
    feed(&ops, &v, BEGUN + 200, 200, "");
    CHECK_STR(lks_str_from(next(&v, BEGUN + 200, text)), "wait - until 1300");
    v.act = END;
    feed(&ops, &v, BEGUN + 300, 200, "");
    CHECK_STR(lks_str_from(next(&v, BEGUN + 300, text)), "done - until 0");
}

/* The deadline ends waits and patience, and then all of it. */
static void test_deadline(void)
{
    char text[LKS_ERR_MSG_MAX + 64];
    struct value v = value_with(GO);
    v.c.deadline = BEGUN + 50;
    CHECK_STR(lks_str_from(next(&v, BEGUN, text)), "send /0 until 1050");
    feed(&ops, &v, BEGUN, 200, "");
    CHECK_STR(lks_str_from(next(&v, BEGUN, text)), "wait - until 1050");
    CHECK_HAS(lks_str_from(next(&v, BEGUN + 50, text)), "not finished by its deadline");
}

/* A name from the peer that is no path is never asked for. */
static void test_no_path(void)
{
    char text[LKS_ERR_MSG_MAX + 64];
    struct value v = value_with(GO);
    v.path = "https://evil/";
    CHECK_HAS(lks_str_from(next(&v, BEGUN, text)), "fail");
    CHECK_HAS(lks_str_from(text), "no path");
}

/* Whatever a peer says, a failure is one printable line. */
static void test_fail(void)
{
    char text[LKS_ERR_MSG_MAX + 64];
    struct value v = value_with(FAIL);
    feed(&ops, &v, BEGUN, 200, "");
    CHECK_STR(lks_str_from(next(&v, BEGUN, text)), "fail - until 0it said ?[31mno?really");
    CHECK_CODE(v.c.err.code, LKS_E_REFUSED);
}

static const struct {
    const char *name;
    const struct lks_conversation_ops *ops;
    int status;
    const char *head;
    lks_ms wait; /* that follows by itself; 0: the driver heard of it */
    const char *heard;
} feeds[] = {
    {"an answer", &ops, 200, "", 0, "200 "},
    {"a refusal", &ops, 404, "", 0, "404 "},
    {"no answer", &ops, 0, "", 0, "0 "},
    {"it may have begun", &ops, 500, "", 0, "0 "},
    {"it may have begun behind a gateway", &ops, 504, "", 0, "0 "},
    {"busy", &ops, 503, "", LKS_SECOND, ""},
    {"too many requests", &ops, 429, "", LKS_SECOND, ""},
    {"busy for so long", &ops, 503, "retry-after: 7\n", 7 * LKS_SECOND, ""},
    {"busy, to a driver that wants to know", &all_ears, 503, "", 0, "503 "},
    {"broken, to a driver that wants to know", &all_ears, 500, "", 0, "500 "},
};

static void test_feed(void)
{
    for (size_t i = 0; i < LKS_COUNT(feeds); i++) {
        struct value v = value_with(GO);
        lks_test_case("%s", feeds[i].name);
        feed(feeds[i].ops, &v, BEGUN, feeds[i].status, feeds[i].head);
        CHECK_STR(lks_str_from(v.heard), feeds[i].heard);
        CHECK_INT(v.c.wait_until, BEGUN + (feeds[i].wait > 0 ? feeds[i].wait : 100));
        CHECK_INT(v.c.step, feeds[i].wait > 0 ? 0 : 1);
    }
}

/* Tries are bounded, and counted anew after a step that went well. */
static void test_tries(void)
{
    struct value v = value_with(RETRY);
    for (unsigned i = 1; i < LKS_CONVERSATION_TRIES_MAX; i++) {
        feed(&ops, &v, BEGUN, 0, "");
        CHECK(!v.c.ended);
    }
    v.act = GO;
    feed(&ops, &v, BEGUN, 200, "");
    CHECK_INT(v.c.tries, 0);
    v.act = RETRY;
    for (unsigned i = 0; i < LKS_CONVERSATION_TRIES_MAX; i++) {
        CHECK(!v.c.ended);
        feed(&ops, &v, BEGUN, 0, "");
    }
    CHECK(v.c.ended);
    CHECK_CODE(v.c.err.code, LKS_E_UNAVAILABLE);
}

/* Longer and longer; and a peer that is busy for ever is silent to the driver, who may know more of
 * what to do about it. */
static void test_busy(void)
{
    struct value v = value_with(END);
    lks_ms now = BEGUN, waited = LKS_SECOND;
    for (unsigned i = 1; i < LKS_CONVERSATION_TRIES_MAX; i++) {
        feed(&ops, &v, now, 503, "");
        CHECK_INT(v.c.wait_until - now, waited);
        CHECK_STR(lks_str_from(v.heard), "");
        now = v.c.wait_until;
        waited *= 2;
    }
    feed(&ops, &v, now, 503, "");
    CHECK_STR(lks_str_from(v.heard), "0 ");
}

static const struct lks_test tests[] = {
    {"what is next", test_next},
    {"a deadline", test_deadline},
    {"a path that is none", test_no_path},
    {"a failure", test_fail},
    {"answers", test_feed},
    {"tries", test_tries},
    {"a busy peer", test_busy},
    {0},
};

int main(void)
{
    return lks_test_main(tests);
}
