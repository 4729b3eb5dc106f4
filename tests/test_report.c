#include "core/compat/report.h"

#include "tests/test.h"

#include <stdio.h>

/* What a finding becomes, by how far the fact behind it may be trusted. */
static const struct {
    const char *name;
    const struct lks_fact *fact;
    enum lks_severity asked, noted;
    const char *text, *source;
} rows[] = {
    {"no fact", NULL, LKS_ERROR, LKS_ERROR, "it is 7", ""},
    {"confirmed", &(const struct lks_fact){LKS_CONFIRMED, LKS_STR_C("page"), {0}}, LKS_ERROR,
     LKS_ERROR, "it is 7", "page"},
    {"partly", &(const struct lks_fact){LKS_PARTLY, LKS_STR_C("page"), {0}}, LKS_ERROR, LKS_ERROR,
     "it is 7", "page"},
    {"sibling", &(const struct lks_fact){LKS_SIBLING, LKS_STR_C("page"), {0}}, LKS_ERROR, LKS_ERROR,
     "it is 7", "page"},
    {"unconfirmed error", &(const struct lks_fact){LKS_UNCONFIRMED, LKS_STR_C("page"), {0}},
     LKS_ERROR, LKS_WARNING, "it is 7 (the fact behind this is unconfirmed)", "page"},
    {"unconfirmed warning", &(const struct lks_fact){LKS_UNCONFIRMED, LKS_STR_C("page"), {0}},
     LKS_WARNING, LKS_WARNING, "it is 7 (the fact behind this is unconfirmed)", "page"},
    {"unconfirmed info", &(const struct lks_fact){LKS_UNCONFIRMED, LKS_STR_C("page"), {0}},
     LKS_INFO, LKS_INFO, "it is 7 (the fact behind this is unconfirmed)", "page"},
};

static void test_severity(void)
{
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%s", rows[i].name);
        LKS_CLEANUP(lks_report_fini) struct lks_report report = {0};
        struct lks_err err = {0};
        lks_report_init(&report);
        lks_report_add(&report, "rule", rows[i].asked, LKS_STR("driver"), rows[i].fact, "it is %d",
                       7);
        CHECK_CODE(lks_report_check(&report, &err), LKS_OK);
        if (!CHECK_INT(report.count, 1))
            continue;
        const struct lks_finding *f = &report.findings[0];
        CHECK_INT(f->severity, rows[i].noted);
        CHECK_STR(f->text, rows[i].text);
        CHECK_STR(f->source, rows[i].source);
        CHECK_STR(f->subject, "driver");
        CHECK_STR(f->remedy, "");
        CHECK_STR(lks_str_from(f->rule), "rule");
        CHECK_INT(report.errors, rows[i].noted == LKS_ERROR);
        CHECK_INT(report.warnings, rows[i].noted == LKS_WARNING);
    }
}

/* Findings stay in their order, however many there are, and a remedy belongs to the last. */
static void test_many(void)
{
    LKS_CLEANUP(lks_report_fini) struct lks_report report = {0};
    struct lks_err err = {0};
    lks_report_init(&report);
    lks_report_remedy(&report, "nothing to remedy yet");
    CHECK_INT(report.count, 0);
    for (int i = 0; i < 1000; i++) {
        lks_report_add(&report, "rule", LKS_INFO, LKS_STR("x"), NULL, "number %d", i);
        if (i % 3 == 0)
            lks_report_remedy(&report, "way %d", i);
    }
    CHECK_CODE(lks_report_check(&report, &err), LKS_OK);
    CHECK_INT(report.count, 1000);
    CHECK(report.errors == 0 && report.warnings == 0);
    for (int i = 0; i < (int)report.count; i++) {
        char text[32], way[32] = "";
        snprintf(text, sizeof(text), "number %d", i);
        if (i % 3 == 0)
            snprintf(way, sizeof(way), "way %d", i);
        CHECK_STR(report.findings[i].text, text);
        CHECK_STR(report.findings[i].remedy, way);
    }
}

/* What does not fit is told once, at the end. */
static void test_full(void)
{
    LKS_CLEANUP(lks_report_fini) struct lks_report report = {0};
    struct lks_err err = {0};
    lks_report_init(&report);
    report.arena.max = 64;
    lks_report_add(&report, "rule", LKS_ERROR, LKS_STR("x"), NULL, "short");
    CHECK_INT(report.count, 0);
    CHECK_STR(lks_report_text(&report, "%0200d", 7), "");
    CHECK_CODE(lks_report_check(&report, &err), LKS_E_LIMIT);
}

static void test_names(void)
{
    CHECK_STR(lks_str_from(lks_report_severity_name(LKS_INFO)), "info");
    CHECK_STR(lks_str_from(lks_report_severity_name(LKS_WARNING)), "warning");
    CHECK_STR(lks_str_from(lks_report_severity_name(LKS_ERROR)), "error");
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"report: an unconfirmed fact is never an error", test_severity},
        {"report: many findings", test_many},
        {"report: full", test_full},
        {"report: names", test_names},
        {0},
    });
}
