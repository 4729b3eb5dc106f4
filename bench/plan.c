/*
 * The plan of a change of 100,000 nodes: steps, canary, waves, widths and forecast. Once where
 * every node is a unit by itself, once where 18,000 of them are in 1,000 domains of 18, each with
 * nine switch trays. Three hardware revisions, three suppliers, 8 nodes to a rack, four pools, all
 * with a management endpoint. The rival does nothing but sort the names, which no plan can do
 * without.
 */
#include "bench/bench.h"
#include "core/state/lookup.h"

#include "tests/manifests.h"
#include "tests/plans.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { NODES = 100000, RACK = 8, DOMAINS = 1000, TRAYS = 18, SWITCHES = 9, POOLS = 4, RUNS = 5 };

#define TEXT_MAX ((size_t)64 << 20)
#define BMC      ", bmc: {url: 'https://bmc-{host}.example', credentials: 'file:/c'}"

static void add_stack(struct lks_buf *out, const char *name, const char *driver,
                      const char *firmware)
{
    lks_buf_addf(
        out,
        "---\n" LKS_STACK_HGX("%s", "hgx-h100-8", "%s",
                              "firmware:\n"
                              "  - {class: bmc, version: '%s'}\n  - {class: bios, version: '%s'}\n"
                              "  - {class: nvos, version: '%s'}\n"),
        name, driver, driver, firmware, firmware, firmware);
}

static void add_nodes(struct lks_buf *out, uint32_t domains)
{
    uint32_t first = domains * TRAYS;
    lks_buf_addf(out, "nodes:\n");
    for (uint32_t d = 0; d < domains; d++)
        lks_buf_addf(out,
                     "  - {hosts: 'd%04" PRIu32 "t[01-18]', pool: p%" PRIu32
                     ", class: hgx-h100-8, domain: dom%04" PRIu32 ", rack: D%04" PRIu32
                     ", hardware_revision: R%" PRIu32 BMC "}\n",
                     d, d % POOLS, d, d, d % 3);
    for (uint32_t at = first; at < NODES; at += RACK) {
        uint32_t end = at + RACK < NODES ? at + RACK : NODES;
        lks_buf_addf(out,
                     "  - {hosts: 'n[%06" PRIu32 "-%06" PRIu32 "]', pool: p%" PRIu32
                     ", class: hgx-h100-8, rack: K%06" PRIu32 ", hardware_revision: R%" PRIu32
                     ", supplier: s%" PRIu32 BMC "}\n",
                     at, end - 1, at / RACK % POOLS, at / RACK, at / RACK % 3, at / RACK / 7 % 3);
    }
    lks_buf_addf(out, "assets:\n");
    for (uint32_t d = 0; d < domains; d++)
        lks_buf_addf(out,
                     "  - {hosts: 'd%04" PRIu32
                     "s[1-9]', class: switch-tray, domain: dom%04" PRIu32 BMC "}\n",
                     d, d);
    lks_buf_addf(out, "  - {hosts: spare, class: other}\n");
}

static void make_fleet(struct plans *p, uint32_t domains)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
    lks_buf_init(&text, TEXT_MAX);
    lks_buf_addf(&text, "lockstep: 1\nkind: Fleet\nname: f\npools:\n");
    for (uint32_t i = 0; i < POOLS; i++)
        lks_buf_addf(&text,
                     "  p%" PRIu32 ": {posture: pre-training, stack: a, criticality: %" PRIu32
                     ", min_gang: 4096}\n",
                     i, i);
    lks_buf_addf(&text, "domains:\n  unused: {}\n");
    for (uint32_t d = 0; d < domains; d++)
        lks_buf_addf(&text, "  dom%04" PRIu32 ": {}\n", d);
    add_nodes(&text, domains);
    add_stack(&text, "a", "580.126.20", "1");
    add_stack(&text, "b", "580.130.01", "2");
    plans_begin(p, text.ptr);
}

/* Images of all that differs, as one bundle. */
static void add_images(struct plans *p)
{
    static const char *const classes[] = {"bmc", "bios", "nvos"};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
    lks_buf_init(&text, TEXT_MAX);
    lks_buf_addf(&text, "{\"lockstep\":1,\"kind\":\"Bundle\",\"name\":\"b\",\"version\":\"1\","
                        "\"artifacts\":[");
    for (unsigned i = 0; i < LKS_COUNT(classes); i++)
        lks_buf_addf(&text,
                     "%s{\"name\":\"%s.bin\",\"digest\":\"sha256:%064x\",\"size\":5,"
                     "\"component\":\"%s\",\"version\":\"2\",\"kind\":\"firmware\"}",
                     i > 0 ? "," : "", classes[i], i + 1, classes[i]);
    lks_buf_addf(&text, "]}");
    plans_bundle(p, text.ptr);
}

static double measure(struct plans *p, const char *hosts)
{
    double took[RUNS];
    const struct lks_plan_wish wish = {
        .hosts = lks_str_from(hosts), .stack = LKS_STR("b"), .hook = LKS_STR("site")};
    for (size_t i = 0; i < RUNS; i++) {
        double begun = bench_now_ms();
        (void)plans_make(p, &wish);
        took[i] = bench_now_ms() - begun;
        if (p->code != LKS_OK)
            bench_die("plan", p->err.msg);
        if (p->plan.nodes != NODES)
            bench_die("plan", "not all nodes are in it");
    }
    return bench_median(took, RUNS);
}

static int by_name(const void *left, const void *right)
{
    const struct lks_str *a = left, *b = right;
    return lks_str_cmp(*a, *b);
}

static double measure_rival(const struct plans *p)
{
    static struct lks_str names[NODES];
    double took[RUNS];
    for (size_t i = 0; i < RUNS; i++) {
        double begun = bench_now_ms();
        for (uint32_t n = 0; n < NODES; n++)
            names[n] = lks_state_name(&p->a.state, (n * UINT32_C(7919)) % NODES);
        qsort(names, NODES, sizeof(*names), by_name);
        took[i] = bench_now_ms() - begun;
    }
    return bench_median(took, RUNS);
}

void bench_plan(struct lks_table *t)
{
    static struct plans p;
    make_fleet(&p, 0);
    add_images(&p);
    double rival = measure_rival(&p);
    bench_row(t, &(struct bench_figure){"plan of 100,000 nodes", "<= 5 s", "sorting their names",
                                        "ms", measure(&p, "n[000000-099999]"), rival});
    plans_end(&p);
    make_fleet(&p, DOMAINS);
    add_images(&p);
    bench_row(t, &(struct bench_figure){
                     "the same with 1,000 domains of 18", "<= 5 s", "sorting their names", "ms",
                     measure(&p, "d[0000-0999]t[01-18],n[018000-099999]"), rival});
    plans_end(&p);
}
