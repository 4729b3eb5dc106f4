/* What a check found: findings in the order they were made, each with the rule behind it, the
 * source of the fact it rests on and, where there is one, the way out. */
#ifndef LKS_CORE_REPORT_H
#define LKS_CORE_REPORT_H

#include "model/facts/facts.h"

enum lks_severity { LKS_INFO, LKS_WARNING, LKS_ERROR };
const char *lks_report_severity_name(enum lks_severity severity);

struct lks_finding {
    const char *rule;
    enum lks_severity severity;
    struct lks_str subject; /* component, setting or board it is about */
    struct lks_str text;
    struct lks_str remedy; /* empty when there is none to offer */
    struct lks_str source;
};

struct lks_report {
    struct lks_arena arena; /* owns the findings and their texts */
    struct lks_finding *findings;
    size_t count, room;
    size_t errors, warnings;
    enum lks_code failed; /* memory ran out; asked for once, at the end */
};

void lks_report_init(struct lks_report *report);
void lks_report_fini(struct lks_report *report);
enum lks_code lks_report_check(const struct lks_report *report, struct lks_err *err) LKS_MUST_CHECK;

/* Note a finding. `fact`, which may be NULL, is what it rests on: it gives the source, and when it
 * is unconfirmed an error becomes a warning that says so. */
void lks_report_add(struct lks_report *report, const char *rule, enum lks_severity severity,
                    struct lks_str subject, const struct lks_fact *fact, const char *fmt, ...)
    LKS_PRINTF(6, 7);

/* The way out of the finding noted last. */
void lks_report_remedy(struct lks_report *report, const char *fmt, ...) LKS_PRINTF(2, 3);

/* A text made in the report's memory; empty when there is none left. */
struct lks_str lks_report_text(struct lks_report *report, const char *fmt, ...) LKS_PRINTF(2, 3);

#endif
