#include "tests/rehearsals.h"

#define FLEET_BYTES_MAX ((size_t)1 << 20)
enum { GROUPS = 20 };

static void add_stack(struct lks_buf *out, unsigned number, const char *driver, const char *bmc)
{
    lks_buf_addf(out,
                 "---\nlockstep: 1\nkind: Stack\nname: s%u\nversion: '%u'\nvendor: nvidia\n"
                 "hardware: [tray]\ncomponents:\n  kernel: {version: '6.8.0-71-generic'}\n"
                 "  driver: {version: '%s'}\n  cuda: {absent: images bring it}\n"
                 "  nccl: {absent: images bring it}\n"
                 "  container-toolkit: {absent: none is used}\n"
                 "firmware:\n  - {class: bmc, version: '%s', revert: revertible}\n",
                 number, number, driver, bmc);
}

void rehearsals_fleet(unsigned nodes, const char *gate, struct lks_buf *out)
{
    unsigned each = nodes / GROUPS;
    lks_buf_init(out, FLEET_BYTES_MAX);
    lks_buf_addf(out, "lockstep: 1\nkind: HardwareClass\nname: tray\nvendor: nvidia\n"
                      "gpu: {product: 'H200', count: 8}\n");
    add_stack(out, 0, "580.126.16", "1.0.0");
    add_stack(out, 1, "580.126.20", "2.0.0");
    lks_buf_addf(
        out,
        "---\nlockstep: 1\nkind: Fleet\nname: rehearsed\npools:\n"
        "  train: {posture: pre-training, criticality: 30, enforce: 'on', sched: slurm, "
        "stack: s0, min_gang: %u%s}\n"
        "  serve: {posture: online-inference, criticality: 20, enforce: 'on', sched: none, "
        "stack: s0}\nnodes:\n",
        nodes / 4, gate);
    for (unsigned i = 0; i < GROUPS; i++)
        lks_buf_addf(out,
                     "  - {hosts: 'n[%05u-%05u]', class: tray, pool: %s, hardware_revision: %s, "
                     "rack: r%u, bmc: {url: 'https://{host}.example', credentials: 'file:/x'}}\n",
                     i * each + 1, (i + 1) * each, i < GROUPS * 4 / 5 ? "train" : "serve",
                     i % 2 == 0 ? "a" : "b", i);
}
