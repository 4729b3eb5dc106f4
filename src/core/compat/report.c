#include "core/compat/report.h"

#include "base/vec.h"

#include <stdarg.h>
#include <stdio.h>

enum { REPORT_BYTES_MAX = 64 * 1024 * 1024 };

const char *lks_report_severity_name(enum lks_severity severity)
{
    static const char *const names[] = {"info", "warning", "error"};
    LKS_ASSERT((size_t)severity < LKS_COUNT(names));
    return names[severity];
}

void lks_report_init(struct lks_report *report)
{
    *report = (struct lks_report){0};
    lks_arena_init(&report->arena, REPORT_BYTES_MAX);
}

void lks_report_fini(struct lks_report *report)
{
    lks_arena_fini(&report->arena);
    *report = (struct lks_report){0};
}

enum lks_code lks_report_check(const struct lks_report *report, struct lks_err *err)
{
    return report->failed == LKS_OK ? LKS_OK : lks_arena_fail(&report->arena, err);
}

LKS_PRINTF(2, 0)
static struct lks_str text_v(struct lks_report *report, const char *fmt, va_list ap)
{
    struct lks_str text = lks_arena_formatv(&report->arena, fmt, ap);
    if (text.ptr != NULL)
        return text;
    report->failed = LKS_E_LIMIT;
    return (struct lks_str){"", 0};
}

struct lks_str lks_report_text(struct lks_report *report, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    struct lks_str text = text_v(report, fmt, ap);
    va_end(ap);
    return text;
}

static bool make_room(struct lks_report *report)
{
    if (LKS_VEC_RESERVE_IN(&report->arena, report->findings, report->room, report->count + 1,
                           NULL) != LKS_OK)
        report->failed = LKS_E_LIMIT;
    return report->count < report->room;
}

void lks_report_add(struct lks_report *report, const char *rule, enum lks_severity severity,
                    struct lks_str subject, const struct lks_fact *fact, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    struct lks_str text = text_v(report, fmt, ap);
    va_end(ap);
    if (!make_room(report))
        return;

    bool doubtful = fact != NULL && fact->status == LKS_UNCONFIRMED;
    if (doubtful && severity == LKS_ERROR)
        severity = LKS_WARNING;
    if (doubtful)
        text = lks_report_text(report, "%" LKS_STR_FMT " (the fact behind this is unconfirmed)",
                               LKS_STR_ARG(text));
    report->errors += severity == LKS_ERROR;
    report->warnings += severity == LKS_WARNING;
    report->findings[report->count++] = (struct lks_finding){
        .rule = rule,
        .severity = severity,
        .subject = subject,
        .text = text,
        .remedy = {"", 0},
        .source = fact != NULL ? fact->source : (struct lks_str){"", 0},
    };
}

void lks_report_remedy(struct lks_report *report, const char *fmt, ...)
{
    if (report->count == 0)
        return; /* the finding itself did not fit */
    va_list ap;
    va_start(ap, fmt);
    report->findings[report->count - 1].remedy = text_v(report, fmt, ap);
    va_end(ap);
}
