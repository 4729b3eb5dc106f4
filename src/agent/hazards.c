#include "agent/hazards.h"

#include "base/embedded.h"
#include "core/consistency.h"
#include "probe/probe.h"

enum { CALL_MS = 3000, PROBE_TIMES = 5 };

static const struct lks_probe_kind *find_probe(const char *name)
{
    for (size_t i = 0; i < lks_probe_count; i++) {
        if (strcmp(lks_probes[i].name, name) == 0)
            return &lks_probes[i];
    }
    return NULL;
}

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
                            "%s: %" LKS_STR_FMT "; %" LKS_STR_FMT " before it reboots", f->rule,
                            LKS_STR_ARG(f->text), LKS_STR_ARG(f->remedy));
    }
    lks_buf_add(out, LKS_STR("no hazard for the next boot\n"));
    return lks_buf_check(out, err);
}

enum lks_code lks_hazards_look(const char *root, struct lks_buf *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_facts_fini) struct lks_facts facts = {0};
    LKS_CLEANUP(lks_tuple_fini) struct lks_tuple tuple = {0};
    LKS_CLEANUP(lks_root_close) struct lks_root opened = {.fd = -1, .capture = -1};
    const struct lks_probe_options how = {.call_ms = CALL_MS, .probe_ms = PROBE_TIMES * CALL_MS};
    if (lks_facts_load(lks_embedded_data, NULL, 0, &facts, err) != LKS_OK ||
        lks_root_open(root, NULL, &opened, err) != LKS_OK)
        return err->code;
    lks_tuple_init(&tuple);
    if (lks_probe_run(find_probe("kernel"), 1, &opened, &facts, &how, &tuple, NULL, err) != LKS_OK)
        return err->code;
    return judge(&facts, &tuple, out, err);
}
