#include "agent/reading/recheck.h"

#include "base/embedded.h"

enum { CALL_MS = 3000, PROBE_TIMES = 5 };

static const struct lks_probe_kind *find_probe(const char *name)
{
    for (size_t i = 0; i < lks_probe_count; i++) {
        if (strcmp(lks_probes[i].name, name) == 0)
            return &lks_probes[i];
    }
    return NULL;
}

static enum lks_code take(const char *probe, const char *root, struct lks_recheck *out,
                          struct lks_err *err)
{
    const struct lks_probe_options how = {.call_ms = CALL_MS, .probe_ms = PROBE_TIMES * CALL_MS};
    if (lks_facts_load(lks_embedded_data, NULL, 0, &out->facts, err) != LKS_OK ||
        lks_root_open(root, NULL, &out->root, err) != LKS_OK)
        return err->code;
    lks_tuple_init(&out->tuple);
    return lks_probe_run(find_probe(probe), 1, &out->root, &out->facts, &how, &out->tuple, NULL,
                         err);
}

static void fini(struct lks_recheck *g)
{
    lks_root_close(&g->root);
    lks_tuple_fini(&g->tuple);
    lks_facts_fini(&g->facts);
}

enum lks_code lks_recheck(const char *probe, const char *root, lks_recheck_judge *judge,
                          struct lks_buf *out, struct lks_err *err)
{
    LKS_CLEANUP(fini) struct lks_recheck g = {.root = {.fd = -1, .capture = -1}};
    if (take(probe, root, &g, err) != LKS_OK)
        return err->code;
    return judge(&g, out, err);
}
