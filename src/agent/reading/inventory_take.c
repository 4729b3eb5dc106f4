/* The side of the program that reads: it alone knows of facts and probes. */
#include "agent/reading/inventory.h"
#include "base/embedded.h"
#include "model/facts/facts.h"
#include "model/tuple/tuple.h"
#include "probe/root/probe.h"

#include <stdlib.h>

#define CALL_MS     3000 /* silence after which a probe is taken to hang */
#define PROBE_TIMES 5    /* how many silences all of a probe may take */

void lks_inventory_agent(struct lks_probe *p)
{
    lks_probe_value(p, "platform.agent", LKS_STR(""), LKS_STR(""), LKS_STR(LKS_VERSION),
                    "lockstep-agent --version");
}

/* All probes, and our own. */
static const struct lks_probe_kind *all_probes(const struct lks_inventory_options *options,
                                               struct lks_probe_kind *out)
{
    memcpy(out, lks_probes, lks_probe_count * sizeof(*out));
    out[lks_probe_count] = (struct lks_probe_kind){
        .name = "agent",
        .about = "which version of lockstep-agent reads",
        .run = options->read_agent != NULL ? options->read_agent : lks_inventory_agent,
    };
    return out;
}

static void free_kinds(struct lks_probe_kind **kinds)
{
    free(*kinds);
}

static void free_readings(struct lks_reading **readings)
{
    free(*readings);
}

/* The digest of the tuple without its time and without readings of the moment. */
static enum lks_code steady_digest(const struct lks_tuple *t, char out[LKS_DIGEST_SIZE],
                                   struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf json = LKS_BUF(LKS_INVENTORY_MAX);
    LKS_CLEANUP(free_readings)
    struct lks_reading *kept = calloc(t->count + 1, sizeof(*kept));
    if (kept == NULL)
        return lks_fail_nomem(err);
    struct lks_tuple steady = *t; /* borrows all it has */
    steady.readings = kept;
    steady.count = 0;
    steady.taken = 0;
    for (size_t i = 0; i < t->count; i++) {
        if (t->readings[i].kind->class != LKS_READING_HEALTH)
            kept[steady.count++] = t->readings[i];
    }
    if (lks_tuple_json(&steady, LKS_STR(""), &json, err) != LKS_OK)
        return err->code;
    return lks_digest_text(lks_buf_view(&json), out, err);
}

static enum lks_code print(const struct lks_tuple *t, struct lks_buf *out, struct lks_err *err)
{
    char steady[LKS_DIGEST_SIZE];
    if (steady_digest(t, steady, err) != LKS_OK)
        return err->code;
    lks_buf_addf(out, "lockstep-reading-1 %s %s %" LKS_STR_FMT "\n", t->digest, steady,
                 LKS_STR_ARG(t->boot_id));
    return lks_tuple_json(t, LKS_STR(""), out, err);
}

enum lks_code lks_inventory_take(const struct lks_inventory_options *options, struct lks_buf *out,
                                 struct lks_err *err)
{
    LKS_CLEANUP(lks_facts_fini) struct lks_facts facts = {0};
    LKS_CLEANUP(lks_tuple_fini) struct lks_tuple tuple = {0};
    LKS_CLEANUP(lks_root_close) struct lks_root root = {.fd = -1, .capture = -1};
    const struct lks_probe_options how = {
        .libraries = !options->quick,
        .cache = options->root == NULL ? options->cache : NULL,
        .call_ms = CALL_MS,
        .probe_ms = PROBE_TIMES * CALL_MS,
    };
    if (lks_facts_load(lks_embedded_data, NULL, 0, &facts, err) != LKS_OK ||
        lks_root_open(options->root, NULL, &root, err) != LKS_OK)
        return err->code;
    LKS_CLEANUP(free_kinds)
    struct lks_probe_kind *kinds = calloc(lks_probe_count + 1, sizeof(*kinds));
    if (kinds == NULL)
        return lks_fail_nomem(err);
    lks_tuple_init(&tuple);
    tuple.taken = options->now;
    if (lks_probe_run(all_probes(options, kinds), lks_probe_count + 1, &root, &facts, &how, &tuple,
                      NULL, err) != LKS_OK)
        return err->code;
    if (options->node != NULL)
        tuple.node = lks_str_from(options->node);
    return print(&tuple, out, err);
}
