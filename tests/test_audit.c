/* The audit log without a daemon: what a line says, and how many there are. */
#include "server/auth/audit.h"

#include "codec/format/json.h"
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

enum { NOW = 1794713858 };

static size_t count_lines(const struct lks_audit *a)
{
    size_t count = 0;
    for (size_t i = 0; i < a->lines.len; i++)
        count += a->lines.ptr[i] == '\n';
    return count;
}

static void add(struct lks_audit *a, enum lks_audit_event event, const char *identity,
                const char *address, const char *object, lks_ms mono)
{
    struct lks_audit_line line = {
        .time = (lks_ms)NOW * LKS_SECOND,
        .event = event,
        .identity = lks_str_from(identity),
        .route = LKS_STR("grant"),
        .method = LKS_STR("POST"),
        .object = lks_str_from(object),
        .address = lks_str_from(address),
        .status = event == LKS_AUDIT_LOGIN ? 401 : 403,
    };
    lks_audit_add(a, &line, mono);
}

static void test_line(void)
{
    LKS_CLEANUP(lks_audit_fini) struct lks_audit a = {0};
    struct lks_err err = {0};
    CHECK_CODE(lks_audit_init(&a, 7, &err), LKS_OK);
    add(&a, LKS_AUDIT_DENIED, "user:kim", "10.0.0.7", "gpu1\n\x1b[31m\"}\xff", 1000);
    CHECK_STR(lks_buf_view(&a.lines),
              "{\"time\":\"2026-11-15T03:37:38.000Z\",\"event\":\"denied\","
              "\"identity\":\"user:kim\",\"route\":\"grant\",\"method\":\"POST\","
              "\"object\":\"gpu1\\n\\u001b[31m\\\"}\xef\xbf\xbd\",\"address\":\"10.0.0.7\","
              "\"status\":403}\n");
}

/* However many ask from however many addresses, lines are few; who is known has their own. */
static void test_strangers(void)
{
    LKS_CLEANUP(lks_audit_fini) struct lks_audit a = {0};
    struct lks_rec_audited minute;
    struct lks_err err = {0};
    CHECK_CODE(lks_audit_init(&a, 7, &err), LKS_OK);
    for (unsigned i = 0; i < 50000; i++) {
        char address[32];
        snprintf(address, sizeof(address), "10.%u.%u.%u", i >> 16, i >> 8 & 255, i & 255);
        add(&a, LKS_AUDIT_LOGIN, "", address, "", 1000);
    }
    size_t strangers = count_lines(&a);
    CHECK(strangers > 0 && strangers <= 240);
    add(&a, LKS_AUDIT_DENIED, "user:kim", "10.0.0.1", "", 1000);
    CHECK_INT(count_lines(&a), strangers + 1);
    for (unsigned i = 0; i < 1000; i++)
        add(&a, LKS_AUDIT_DENIED, "user:lee", "10.0.0.2", "", 1000);
    CHECK_INT(count_lines(&a), strangers + 1 + 60);
    CHECK_INT(a.withheld, 50000 + 1 + 1000 - count_lines(&a));
    size_t before = count_lines(&a);
    uint64_t withheld = a.withheld;
    CHECK(lks_audit_minute(&a, (lks_ms)NOW * LKS_SECOND, &minute));
    CHECK_INT(minute.logins, 50000);
    CHECK_INT(minute.denied, 1001);
    CHECK_INT(minute.withheld, withheld);
    CHECK_INT(count_lines(&a), before + 1); /* how many had none */
    CHECK(!lks_audit_minute(&a, (lks_ms)(NOW + 60) * LKS_SECOND, &minute));
    CHECK_INT(count_lines(&a), before + 1);
}

/* A record is for a minute, and for less where the clock was put back. */
static void test_due(void)
{
    static const struct {
        const char *name;
        lks_ms now; /* ms; the last minute started at 100 s */
        bool due;
    } rows[] = {
        {"at once", 100000, false},       {"just before", 159999, false},
        {"a minute later", 160000, true}, {"much later", 1000000, true},
        {"before", 99999, true},
    };
    LKS_CLEANUP(lks_audit_fini) struct lks_audit a = {0};
    struct lks_rec_audited minute;
    struct lks_err err = {0};
    CHECK_CODE(lks_audit_init(&a, 7, &err), LKS_OK);
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%s", rows[i].name);
        (void)lks_audit_minute(&a, 100 * LKS_SECOND, &minute);
        CHECK_INT(lks_audit_due(&a, rows[i].now), rows[i].due);
    }
}

/* Reads alone are no reason for a record. */
static void test_reads(void)
{
    LKS_CLEANUP(lks_audit_fini) struct lks_audit a = {0};
    struct lks_rec_audited minute;
    struct lks_err err = {0};
    CHECK_CODE(lks_audit_init(&a, 7, &err), LKS_OK);
    add(&a, LKS_AUDIT_READ, "user:kim", "10.0.0.7", "", 1000);
    CHECK(!lks_audit_minute(&a, (lks_ms)NOW * LKS_SECOND, &minute));
    CHECK_INT(minute.reads, 1);
}

/* While nothing can be written, what waits stays within its limit and stays whole lines. */
static void test_full(void)
{
    LKS_CLEANUP(lks_audit_fini) struct lks_audit a = {0};
    struct lks_err err = {0};
    CHECK_CODE(lks_audit_init(&a, 7, &err), LKS_OK);
    for (unsigned i = 0; i < 10000; i++) {
        char who[32];
        snprintf(who, sizeof(who), "user:k%u", i);
        add(&a, LKS_AUDIT_DENIED, who, "10.0.0.7", "", 1000);
    }
    CHECK(a.lines.len <= LKS_AUDIT_LINES_MAX && a.lines.len > LKS_AUDIT_LINES_MAX - 512);
    CHECK(a.withheld > 0 && a.lines.ptr[a.lines.len - 1] == '\n');
    CHECK_INT(count_lines(&a) + a.withheld, 10000);
    while (a.lines.len < LKS_AUDIT_LINES_MAX - 10)
        lks_buf_addc(&a.lines, '\n');
    struct lks_rec_audited minute;
    CHECK(lks_audit_minute(&a, (lks_ms)NOW * LKS_SECOND, &minute));
    CHECK_INT(a.lines.len, LKS_AUDIT_LINES_MAX - 10);
    CHECK_INT(a.lines.failed, LKS_OK);
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"a line says who, what, where and how it ended", test_line},
        {"strangers cannot fill the log", test_strangers},
        {"one record a minute", test_due},
        {"reads are no record", test_reads},
        {"what waits is bounded", test_full},
        {0},
    };
    return lks_test_main(tests);
}
