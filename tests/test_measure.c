/* A monitoring system is asked for one number a node: what is asked, and what is made of answers.
 */
#include "port/measures.h"
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

#define NOW UINT64_C(1763200000123)

/* Questions --------------------------------------------------------------------------------- */

static const struct {
    const char *name, *query;
    bool counts;
    lks_ms window;
    const char *asked;
} queries[] = {
    {"a gauge becomes its median over the window", "tokens_per_s", false, 3600 * LKS_SECOND,
     "quantile_over_time(0.5, (tokens_per_s)[3600s:60s])"},
    {"a short window has samples, too", "x", false, 60 * LKS_SECOND,
     "quantile_over_time(0.5, (x)[60s:1s])"},
    {"a step is no shorter than a second", "x", false, 5 * LKS_SECOND,
     "quantile_over_time(0.5, (x)[5s:1s])"},
    {"who says where the window belongs is taken at their word", "increase(xids[$window])", false,
     600 * LKS_SECOND, "increase(xids[600s])"},
    {"as often as they say it", "a[$window] / b[$window]", false, 90 * LKS_SECOND,
     "a[90s] / b[90s]"},
    {"no window is shorter than a second", "a[$window]", false, 3, "a[1s]"},
    {"what is counted rose by so much", "xids", true, 600 * LKS_SECOND,
     "increase((xids)[600s:10s])"},
    {"unless they say how", "increase(xids[$window])", true, 600 * LKS_SECOND,
     "increase(xids[600s])"},
};

static void test_queries(void)
{
    for (size_t i = 0; i < LKS_COUNT(queries); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(LKS_MEASURE_QUERY_MAX);
        lks_test_case("%s", queries[i].name);
        lks_measure_query(lks_str_from(queries[i].query), queries[i].counts, queries[i].window,
                          &out);
        CHECK_STR(lks_buf_view(&out), queries[i].asked);
    }
}

/* Conversations ----------------------------------------------------------------------------- */

static const struct lks_bmc_secret secret = {.user = "lockstep", .password = "s3cret"};

struct talking {
    void *value;
    struct lks_measures said;
    struct lks_talk talk;
};

static void begin(struct talking *t, const char *query, const char *label,
                  enum lks_measure_login login)
{
    const struct lks_measure_driver *driver = &lks_measure_prometheus;
    struct lks_err err = {0};
    const struct lks_measure_wish wish = {
        .query = lks_str_from(query),
        .at = NOW,
        .label = lks_str_from(label),
        .login = login,
        .secret = &secret,
        .deadline = NOW + 120 * LKS_SECOND,
    };
    lks_measures_init(&t->said);
    lks_conversation_talk_init(&t->talk);
    t->value = calloc(1, driver->talk->size);
    CHECK_CODE(driver->begin(t->value, &wish, &t->said, &err), LKS_OK);
    lks_conversation_next(driver->talk, t->value, NOW, &t->talk);
}

static void hear(struct talking *t, int status, const char *body)
{
    const struct lks_http_response answer = {.status = status, .body = lks_str_from(body)};
    lks_conversation_feed(lks_measure_prometheus.talk, t->value, NOW, &answer);
    lks_conversation_next(lks_measure_prometheus.talk, t->value, NOW + 1, &t->talk);
}

static void end(struct talking *t)
{
    lks_conversation_talk_fini(&t->talk);
    lks_measures_fini(&t->said);
    free(t->value);
}

static void test_asked(void)
{
    static const struct {
        const char *name;
        enum lks_measure_login login;
        const char *line;
    } rows[] = {
        {"nobody in particular", LKS_MEASURE_OPEN, "Accept: application/json\r\n"},
        {"with user and password", LKS_MEASURE_BASIC,
         "Authorization: Basic bG9ja3N0ZXA6czNjcmV0\r\n"},
        {"with a token", LKS_MEASURE_BEARER, "Authorization: Bearer s3cret\r\n"},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct talking t;
        lks_test_case("%s", rows[i].name);
        begin(&t, "up{a=\"b\"} > 1", "", rows[i].login);
        CHECK(t.talk.kind == LKS_TALK_SEND);
        CHECK(strcmp(t.talk.request.method, "POST") == 0);
        CHECK(lks_str_find(lks_buf_view(&t.talk.request.head), lks_str_from(rows[i].line)) >= 0);
        bool open = rows[i].login == LKS_MEASURE_OPEN;
        CHECK(!open ||
              lks_str_find(lks_buf_view(&t.talk.request.head), LKS_STR("Authorization")) < 0);
        CHECK_STR(lks_buf_view(&t.talk.request.body),
                  "query=up%7Ba%3D%22b%22%7D%20%3E%201&time=1763200000.123&timeout=30s");
        end(&t);
    }
}

#define VECTOR(result)                                                                             \
    "{\"status\":\"success\",\"data\":{\"resultType\":\"vector\",\"result\":[" result "]}}"
#define SERIES(labels, value) "{\"metric\":{" labels "},\"value\":[1763200000.123,\"" value "\"]}"

/* What is found of the node gpu7. */
static const struct {
    const char *name, *label, *body;
    bool found;
    double value;
    size_t strange;
} answers[] = {
    {"by the label of DCGM's exporter", "", VECTOR(SERIES("\"Hostname\":\"gpu7\"", "1.5e+3")), true,
     1500, 0},
    {"by the address it was scraped at", "", VECTOR(SERIES("\"instance\":\"gpu7:9400\"", "2")),
     true, 2, 0},
    {"its long name will do", "", VECTOR(SERIES("\"node\":\"gpu7.site.example\"", "3")), true, 3,
     0},
    {"but not another's", "",
     VECTOR(SERIES("\"node\":\"gpu70\"", "3") "," SERIES("\"node\":\"gpu7-b.x\"", "3")), false, 0,
     0},
    {"of two long names neither", "",
     VECTOR(SERIES("\"node\":\"gpu7.a\"", "3") "," SERIES("\"node\":\"gpu7.b\"", "3")), false, 0,
     0},
    {"node before instance", "",
     VECTOR(SERIES("\"instance\":\"10.0.0.1:9\",\"node\":\"gpu7\"", "4")), true, 4, 0},
    {"by the label that is asked for", "host",
     VECTOR(SERIES("\"host\":\"gpu7\",\"node\":\"other\"", "5")), true, 5, 0},
    {"and by no other then", "host", VECTOR(SERIES("\"node\":\"gpu7\"", "5")), false, 0, 1},
    {"twice is not at all", "",
     VECTOR(SERIES("\"node\":\"gpu7\"", "1") "," SERIES("\"node\":\"gpu7\"", "1")), false, 0, 2},
    {"no number", "", VECTOR(SERIES("\"node\":\"gpu7\"", "NaN")), false, 0, 1},
    {"without end", "", VECTOR(SERIES("\"node\":\"gpu7\"", "+Inf")), false, 0, 1},
    {"something behind the number", "", VECTOR(SERIES("\"node\":\"gpu7\"", "1x")), false, 0, 1},
    {"a name that would drive a terminal is printed, and is nobody", "",
     VECTOR(SERIES("\"node\":\"\\u001b[2J\"", "1")), false, 0, 0},
    {"a series without labels", "", VECTOR(SERIES("", "1")), false, 0, 1},
    {"nothing at all", "", VECTOR(""), false, 0, 0},
};

static void test_answers(void)
{
    for (size_t i = 0; i < LKS_COUNT(answers); i++) {
        struct talking t;
        lks_test_case("%s", answers[i].name);
        double value = 0;
        begin(&t, "q", answers[i].label, LKS_MEASURE_OPEN);
        hear(&t, 200, answers[i].body);
        CHECK(t.talk.kind == LKS_TALK_DONE);
        CHECK(lks_measures_find(&t.said, LKS_STR("gpu7"), &value) == answers[i].found);
        CHECK(value == answers[i].value);
        CHECK_INT((long long)t.said.strange, (long long)answers[i].strange);
        end(&t);
    }
}

static void test_long_names(void)
{
    struct talking t;
    double value = 0;
    begin(&t, "q", "", LKS_MEASURE_OPEN);
    hear(&t, 200, VECTOR(SERIES("\"node\":\"gpu7\"", "6")));
    CHECK(lks_measures_find(&t.said, LKS_STR("gpu7.site.example"), &value) && value == 6);
    end(&t);
}

/* Answers that are none: what is said of them. */
static const struct {
    const char *name;
    int status;
    const char *body;
    enum lks_talk_kind next;
    const char *says;
} refusals[] = {
    {"a query it cannot read", 400,
     "{\"status\":\"error\",\"errorType\":\"bad_data\",\"error\":\"parse error\"}", LKS_TALK_FAIL,
     "it does not answer the query (status 400): parse error"},
    {"not let in", 401, "nobody", LKS_TALK_FAIL, "it does not answer the query (status 401)"},
    {"a matrix", 200, "{\"status\":\"success\",\"data\":{\"resultType\":\"matrix\",\"result\":[]}}",
     LKS_TALK_FAIL, "its answer has no vector: the query has to have one value a node"},
    {"cut off", 200, "{\"status\":\"succ", LKS_TALK_WAIT, ""},
    {"busy", 503, "", LKS_TALK_WAIT, ""},
};

static void test_refusals(void)
{
    for (size_t i = 0; i < LKS_COUNT(refusals); i++) {
        struct talking t;
        lks_test_case("%s", refusals[i].name);
        begin(&t, "q", "", LKS_MEASURE_OPEN);
        hear(&t, refusals[i].status, refusals[i].body);
        CHECK(t.talk.kind == refusals[i].next);
        if (refusals[i].next == LKS_TALK_FAIL)
            CHECK_STR(lks_str_from(t.talk.err.msg), refusals[i].says);
        end(&t);
    }
}

/* What cannot be read as often as it is asked for. */
static void test_unreadable(void)
{
    static const struct {
        const char *name;
        int status;
        const char *body, *says;
    } rows[] = {
        {"a page of a proxy", 200, "<html>sign in</html>",
         "its answer cannot be read (status 200): an answer that is not JSON"},
        {"nothing but busy", 503, "", "no good answer in 6 tries"},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct talking t;
        lks_test_case("%s", rows[i].name);
        begin(&t, "q", "", LKS_MEASURE_OPEN);
        for (unsigned k = 0; k < LKS_CONVERSATION_TRIES_MAX && t.talk.kind != LKS_TALK_FAIL; k++)
            hear(&t, rows[i].status, rows[i].body);
        CHECK(t.talk.kind == LKS_TALK_FAIL);
        CHECK_STR(lks_str_from(t.talk.err.msg), rows[i].says);
        end(&t);
    }
}

static void test_limits(void)
{
    char query[LKS_MEASURE_QUERY_MAX + 2];
    const struct lks_measure_driver *driver = &lks_measure_prometheus;
    struct lks_measures said;
    struct lks_err err = {0};
    void *value = calloc(1, driver->talk->size);
    memset(query, 'x', sizeof(query));
    lks_measures_init(&said);
    struct lks_measure_wish wish = {.query = {query, sizeof(query)}, .deadline = NOW};
    CHECK_CODE(driver->begin(value, &wish, &said, &err), LKS_E_INVALID);
    wish.query.len = 0;
    CHECK_CODE(driver->begin(value, &wish, &said, &err), LKS_E_INVALID);
    lks_measures_fini(&said);
    free(value);
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"queries", test_queries},   {"asked", test_asked},
        {"answers", test_answers},   {"long names", test_long_names},
        {"refusals", test_refusals}, {"unreadable", test_unreadable},
        {"limits", test_limits},     {0},
    };
    return lks_test_main(tests);
}
