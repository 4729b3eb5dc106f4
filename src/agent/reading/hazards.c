#include "agent/reading/hazards.h"

#include "agent/reading/recheck.h"
#include "core/conform/consistency.h"

/* A reading that the rules need and that could not be taken; NULL: none. A probe that broke off
 * leaves its own name behind, and what it would have read is missing. */
static const struct lks_reading *unread(const struct lks_tuple *tuple)
{
    static const char *const names[] = {"probe.kernel", "platform.next_kernel", "platform.dkms"};
    for (size_t i = 0; i < LKS_COUNT(names); i++) {
        size_t count = 0;
        const struct lks_reading *r = lks_tuple_range(tuple, lks_str_from(names[i]), &count);
        for (; count > 0; count--, r++)
            if (r->state == LKS_UNMEASURED)
                return r;
    }
    return NULL;
}

static enum lks_code judge(struct lks_recheck *g, struct lks_buf *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_report_fini) struct lks_report report = {0};
    lks_report_init(&report);
    if (lks_consistency(&g->facts, &g->tuple, &report, err) != LKS_OK)
        return err->code;
    for (size_t i = 0; i < report.count; i++) {
        const struct lks_finding *f = &report.findings[i];
        if (lks_consistency_bars_reboot(f->rule))
            return lks_fail(err, LKS_E_REFUSED,
                            "%s: %" LKS_STR_FMT " before a reboot; %" LKS_STR_FMT, f->rule,
                            LKS_STR_ARG(f->remedy), LKS_STR_ARG(f->text));
    }
    const struct lks_reading *lacks = unread(&g->tuple);
    if (lacks != NULL)
        return lks_fail(err, LKS_E_UNAVAILABLE, "%" LKS_STR_FMT " is not known: %" LKS_STR_FMT,
                        LKS_STR_ARG(lacks->name), LKS_STR_ARG(lacks->value));
    lks_buf_add(out, LKS_STR("no hazard for the next boot\n"));
    return lks_buf_check(out, err);
}

enum lks_code lks_hazards_look(const char *root, struct lks_buf *out, struct lks_err *err)
{
    return lks_recheck("kernel", root, judge, out, err);
}
