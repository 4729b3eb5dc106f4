/* Where a command's tuple comes from: this machine, a captured tree, or a file that holds one. */
#ifndef LKS_CLI_MACHINE_H
#define LKS_CLI_MACHINE_H

#include "cli/shared/cli.h"
#include "core/compat/report.h"
#include "model/manifest/stack.h"
#include "probe/root/probe.h"

/* The options of every command that reads a machine. */
#define LKS_MACHINE_OPTIONS                                                                        \
    {"--root DIR", "read a captured tree instead of this machine"},                                \
        {"--quick", "skip the search for copies of libraries, and hashing"},                       \
        {"--cache FILE", "file that caches what was found inside libraries"},                      \
        {"--nvml FILE", "load this NVML instead of the one the loader finds"},                     \
    {                                                                                              \
        "--timeout SECONDS", "seconds without output after which a probe counts as hung (3)"       \
    }

/* The tuple of --tuple FILE, where the command takes that option, or of the machine the options
 * name. `stack` may be NULL; else the files it wants compared are read too. `cost` may be NULL. The
 * caller owes lks_tuple_fini(). */
enum lks_code lks_machine_tuple(struct lks_cli *cli, const struct lks_args *args,
                                const struct lks_facts *facts, const struct lks_stack *stack,
                                struct lks_tuple *out, struct lks_probe_cost *cost,
                                struct lks_err *err) LKS_MUST_CHECK;

/* The facts, a machine's tuple, and what a command finds wrong with it. All zero is empty. */
struct lks_machine_look {
    struct lks_facts facts;
    struct lks_tuple tuple;
    struct lks_report report;
};

/* Read the facts and the tuple. `cost` may be NULL. The caller owes lks_machine_fini(). */
enum lks_code lks_machine_read(struct lks_cli *cli, const struct lks_args *args,
                               struct lks_machine_look *out, struct lks_probe_cost *cost,
                               struct lks_err *err) LKS_MUST_CHECK;
void lks_machine_fini(struct lks_machine_look *m);

#endif
