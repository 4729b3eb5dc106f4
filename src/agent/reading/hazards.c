#include "agent/reading/hazards.h"

#include "agent/reading/glance.h"
#include "core/conform/consistency.h"

static enum lks_code judge(const struct lks_facts *facts, const struct lks_tuple *tuple,
                           struct lks_buf *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_report_fini) struct lks_report report = {0};
    lks_report_init(&report);
    if (lks_consistency(facts, tuple, &report, err) != LKS_OK)
        return err->code;
    for (size_t i = 0; i < report.count; i++) {
        const struct lks_finding *f = &report.findings[i];
        if (lks_consistency_bars_reboot(f->rule))
            return lks_fail(err, LKS_E_REFUSED,
                            "%s: %" LKS_STR_FMT " before a reboot; %" LKS_STR_FMT, f->rule,
                            LKS_STR_ARG(f->remedy), LKS_STR_ARG(f->text));
    }
    size_t count = 0;
    const struct lks_reading *next =
        lks_tuple_range(tuple, LKS_STR("platform.next_kernel"), &count);
    if (count > 0 && next->state == LKS_UNMEASURED)
        return lks_fail(err, LKS_E_UNAVAILABLE, "the next kernel is not known: %" LKS_STR_FMT,
                        LKS_STR_ARG(next->value));
    lks_buf_add(out, LKS_STR("no hazard for the next boot\n"));
    return lks_buf_check(out, err);
}

enum lks_code lks_hazards_look(const char *root, struct lks_buf *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_glance_fini) struct lks_glance g = LKS_GLANCE_NONE;
    if (lks_glance_take("kernel", root, &g, err) != LKS_OK)
        return err->code;
    return judge(&g.facts, &g.tuple, out, err);
}
