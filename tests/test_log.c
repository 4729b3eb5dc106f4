#include "base/process/log.h"

#include "base/rng.h"
#include "tests/test.h"

#include <stdlib.h>

static int64_t clock_ms;

static int64_t now(void)
{
    return clock_ms;
}

/* A log into memory. */
struct capture {
    struct lks_log log;
    FILE *out;
    char *text;
    size_t len;
};

static void capture_init(struct capture *c, enum lks_level least, enum lks_log_format format)
{
    *c = (struct capture){0};
    clock_ms = INT64_C(1794713858123);
    c->out = open_memstream(&c->text, &c->len);
    LKS_ASSERT(c->out != NULL);
    lks_log_init(&c->log, c->out, least, format, now);
}

static void capture_fini(struct capture *c)
{
    lks_log_fini(&c->log);
    fclose(c->out);
    free(c->text);
}

#define TS "2026-11-15T03:37:38.123Z"

/* How one value is written in each form, after `k=` and after `"k":`. */
static const struct {
    const char *name;
    struct lks_str value;
    const char *logfmt;
    const char *json;
} values[] = {
    {"a word", LKS_STR_C("gpu-17"), "gpu-17", "\"gpu-17\""},
    {"a URL", LKS_STR_C("https://a/b?c"), "https://a/b?c", "\"https://a/b?c\""},
    {"nothing", LKS_STR_C(""), "\"\"", "\"\""},
    {"no bytes at all", {NULL, 0}, "\"\"", "\"\""},
    {"a blank", LKS_STR_C("a b"), "\"a b\"", "\"a b\""},
    {"an equals sign", LKS_STR_C("a=b"), "\"a=b\"", "\"a=b\""},
    {"quotes", LKS_STR_C("a\"b"), "\"a\\\"b\"", "\"a\\\"b\""},
    {"a backslash", LKS_STR_C("a\\n"), "\"a\\\\n\"", "\"a\\\\n\""},
    {"a forged line", LKS_STR_C("x\nts=0"), "\"x\\nts=0\"", "\"x\\nts=0\""},
    {"tab and return", LKS_STR_C("\t\r"), "\"\\t\\r\"", "\"\\t\\r\""},
    {"an escape", LKS_STR_C("\033["), "\"\\x1b[\"", "\"\\u001b[\""},
    {"a zero", LKS_STR_C("a\0b"), "\"a\\x00b\"", "\"a\\u0000b\""},
    {"letters of the world", LKS_STR_C("Zürich"), "\"Zürich\"", "\"Zürich\""},
    {"a control character of two bytes", LKS_STR_C("\xc2\x9b"), "\"\\xc2\\x9b\"", "\"\\u009b\""},
    {"a line separator", LKS_STR_C("\xe2\x80\xa8"), "\"\\xe2\\x80\\xa8\"", "\"\\u2028\""},
    {"not UTF-8", LKS_STR_C("a\xff"), "\"a\\xff\"", "\"a\\ufffd\""},
};

static void test_values(void)
{
    for (size_t i = 0; i < LKS_COUNT(values); i++) {
        lks_test_case("%s", values[i].name);
        const struct lks_log_field field = {"k", values[i].value};
        LKS_CLEANUP(capture_fini) struct capture a = {0}, b = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf want = LKS_BUF(1000);

        capture_init(&a, LKS_LEVEL_INFO, LKS_LOG_LOGFMT);
        lks_log_event(&a.log, LKS_LEVEL_INFO, "hello you", &field, 1);
        lks_buf_addf(&want, "ts=" TS " level=info msg=\"hello you\" k=%s\n", values[i].logfmt);
        CHECK_STR(lks_str_from(a.text), want.ptr);

        lks_buf_truncate(&want, 0);
        capture_init(&b, LKS_LEVEL_INFO, LKS_LOG_JSON);
        lks_log_event(&b.log, LKS_LEVEL_INFO, "hello you", &field, 1);
        lks_buf_addf(&want,
                     "{\"ts\":\"" TS "\",\"level\":\"info\",\"msg\":\"hello you\",\"k\":%s}\n",
                     values[i].json);
        CHECK_STR(lks_str_from(b.text), want.ptr);
    }
}

static const struct {
    const char *key;
    bool secret;
} keys[] = {
    {"node", false},       {"bmc_password", true},  {"Token", true},
    {"TOKENS", true},      {"client_secret", true}, {"credential", true},
    {"credentials", true}, {"pass", true},          {"accessTokenFile", true},
    {"bypass", false},     {"passes", false},       {"BMC_PASSPHRASE", true},
    {"api_key", true},     {"key", false},          {"pwd", true},
};

static void test_secrets(void)
{
    for (size_t i = 0; i < LKS_COUNT(keys); i++) {
        for (int format = LKS_LOG_LOGFMT; format <= LKS_LOG_JSON; format++) {
            lks_test_case("%s, format %d", keys[i].key, format);
            const struct lks_log_field field = {keys[i].key, LKS_STR("hunter2")};
            LKS_CLEANUP(capture_fini) struct capture c = {0};
            capture_init(&c, LKS_LEVEL_DEBUG, (enum lks_log_format)format);
            lks_log_event(&c.log, LKS_LEVEL_DEBUG, "x", &field, 1);
            bool leaked = lks_str_find(lks_str_from(c.text), LKS_STR("hunter2")) >= 0;
            CHECK(leaked != keys[i].secret);
            CHECK_HAS(lks_str_from(c.text), keys[i].secret ? "[redacted]" : "hunter2");
        }
    }
}

static void test_levels(void)
{
    for (int least = LKS_LEVEL_DEBUG; least <= LKS_LEVEL_ERROR; least++) {
        for (int level = LKS_LEVEL_DEBUG; level <= LKS_LEVEL_ERROR; level++) {
            lks_test_case("least %d, level %d", least, level);
            LKS_CLEANUP(capture_fini) struct capture c = {0};
            capture_init(&c, (enum lks_level)least, LKS_LOG_LOGFMT);
            lks_log_event(&c.log, (enum lks_level)level, "x", NULL, 0);
            fflush(c.out);
            CHECK((c.len > 0) == (level >= least));
        }
    }
    struct lks_log none = {0};
    lks_log_event(&none, LKS_LEVEL_ERROR, "nobody hears", NULL, 0);
    lks_log_fini(&none);
}

static const struct {
    int64_t ms;
    const char *text;
} times[] = {
    {0, "ts=1970-01-01T00:00:00.000Z "},
    {-1, "ts=1969-12-31T23:59:59.999Z "},
    {INT64_C(951782399999), "ts=2000-02-28T23:59:59.999Z "},
    {INT64_C(951782400000), "ts=2000-02-29T00:00:00.000Z "},
};

static void test_times(void)
{
    for (size_t i = 0; i < LKS_COUNT(times); i++) {
        lks_test_case("%s", times[i].text);
        LKS_CLEANUP(capture_fini) struct capture c = {0};
        capture_init(&c, LKS_LEVEL_DEBUG, LKS_LOG_LOGFMT);
        clock_ms = times[i].ms;
        lks_log_event(&c.log, LKS_LEVEL_INFO, "x", NULL, 0);
        CHECK(lks_str_starts(lks_str_from(c.text), times[i].text));
    }
}

/* The worst there can be: every field full of bytes that need the longest escape. */
static void test_longest(void)
{
    static char full[LKS_LOG_VALUE_MAX + 1];
    memset(full, 1, LKS_LOG_VALUE_MAX);
    struct lks_log_field fields[LKS_LOG_FIELDS_MAX];
    for (size_t i = 0; i < LKS_COUNT(fields); i++)
        fields[i] = (struct lks_log_field){"a_key_of_ordinary_length", {full, sizeof(full) - 1}};
    LKS_CLEANUP(capture_fini) struct capture c = {0};
    capture_init(&c, LKS_LEVEL_DEBUG, LKS_LOG_JSON);
    lks_log_event(&c.log, LKS_LEVEL_INFO, full, fields, LKS_COUNT(fields));
    CHECK(c.len > LKS_COUNT(fields) * LKS_LOG_VALUE_MAX * 6);

    fields[0].value = (struct lks_str){full, sizeof(full)};
    lks_log_event(&c.log, LKS_LEVEL_INFO, "cut", fields, 1);
    CHECK_HAS(lks_str_from(c.text), "\\u0001...\"}\n");
}

static unsigned hex(const char *digits, size_t count)
{
    char text[8] = "";
    memcpy(text, digits, count);
    return (unsigned)strtoul(text, NULL, 16);
}

/* Only what is below U+10000 is ever escaped. */
static void add_utf8(struct lks_buf *out, unsigned point)
{
    if (point < 0x80)
        lks_buf_addc(out, (char)point);
    else if (point < 0x800)
        lks_buf_addf(out, "%c%c", (int)(0xc0 | point >> 6), (int)(0x80 | (point & 0x3f)));
    else
        lks_buf_addf(out, "%c%c%c", (int)(0xe0 | point >> 12), (int)(0x80 | (point >> 6 & 0x3f)),
                     (int)(0x80 | (point & 0x3f)));
}

/* Undo one escape, `at` being behind its backslash; the answer is its last character. */
static const char *read_escape(const char *at, struct lks_buf *out)
{
    switch (*at) {
    case 'x':
        lks_buf_addc(out, (char)hex(at + 1, 2));
        return at + 2;
    case 'u':
        add_utf8(out, hex(at + 1, 4));
        return at + 4;
    default:
        lks_buf_addc(out, *at == 'n' ? '\n' : *at == 'r' ? '\r' : *at == 't' ? '\t' : *at);
        return at;
    }
}

/* Read a value, bare or in quotes; the answer is what follows it. */
static const char *read_value(const char *at, struct lks_buf *out)
{
    if (*at != '"') {
        while (*at != ' ' && *at != '\n')
            lks_buf_addc(out, *at++);
        return at;
    }
    for (at++; *at != '"'; at++) {
        if (*at == '\\')
            at = read_escape(at + 1, out);
        else
            lks_buf_addc(out, *at);
    }
    return at + 1;
}

/* Bytes that matter to one of the forms, more often than chance would. */
static void random_bytes(struct lks_rng *rng, struct lks_buf *out)
{
    static const char nasty[] = "\n\r\t\"\\ =,{}:\0\x1b\x7f\xc2\x9b\xe2\x80\xa8\xae\xff";
    for (uint64_t n = lks_rng_below(rng, 60); n > 0; n--) {
        if (lks_rng_percent(rng, 50))
            lks_buf_addc(out, nasty[lks_rng_below(rng, sizeof(nasty) - 1)]);
        else
            lks_buf_addc(out, (char)lks_rng_below(rng, 256));
    }
}

static void check_round_trip(struct capture *c, const char *opening, struct lks_str bytes)
{
    const struct lks_log_field field = {"k", bytes};
    lks_log_event(&c->log, LKS_LEVEL_INFO, "x", &field, 1);
    struct lks_str line = {c->text, c->len};
    bool json = c->log.format == LKS_LOG_JSON;

    CHECK_INT(lks_str_find(line, LKS_STR("\n")), (int64_t)line.len - 1);
    CHECK(lks_str_utf8(line, NULL));
    ptrdiff_t at = lks_str_find(line, lks_str_from(opening));
    if (!CHECK(at > 0))
        return;
    LKS_CLEANUP(lks_buf_fini) struct lks_buf back = LKS_BUF(10000);
    const char *end = read_value(c->text + at + strlen(opening), &back);
    CHECK_STR(lks_str_from(end), json ? "}\n" : "\n");
    if (!json || lks_str_utf8(bytes, NULL))
        CHECK(lks_str_eq(lks_buf_view(&back), bytes));
}

/* Whatever the bytes, they are one line, and the line says what they were. */
static void test_property(void)
{
    for (uint64_t seed = 1; seed <= 3000; seed++) {
        lks_test_case("seed %d", (int)seed);
        struct lks_rng rng = {seed};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = LKS_BUF(1000);
        random_bytes(&rng, &bytes);
        LKS_CLEANUP(capture_fini) struct capture a = {0}, b = {0};
        capture_init(&a, LKS_LEVEL_INFO, LKS_LOG_LOGFMT);
        check_round_trip(&a, " k=", lks_buf_view(&bytes));
        capture_init(&b, LKS_LEVEL_INFO, LKS_LOG_JSON);
        check_round_trip(&b, ",\"k\":", lks_buf_view(&bytes));
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"log: values", test_values},
        {"log: secrets", test_secrets},
        {"log: levels", test_levels},
        {"log: times", test_times},
        {"log: the longest line", test_longest},
        {"log: property", test_property},
        {0},
    });
}
