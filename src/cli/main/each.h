/*
 * Commands about one node, run for each node of a host list. lockstepd takes lists of nodes where
 * an act is one record, as for node hold, and does them as a whole or not at all. The commands here
 * are one request for each node: a failure is printed, the other nodes follow, and the end is a
 * summary.
 */
#ifndef LKS_CLI_EACH_H
#define LKS_CLI_EACH_H

#include "cli/shared/cli.h"

/* Acts of one command line: as many as lockstepd takes in one call unless it is configured
 * otherwise (limits.call_nodes). More nodes belong in a change. */
enum { LKS_EACH_ACTS_MAX = 10 };

/* Whether the command is such a one, and its first argument is not a single name. */
bool lks_each_applies(const struct lks_cli *cli, const struct lks_args *args);

/* Run the command for each node. An act states the number of nodes and asks, on a terminal. */
enum lks_code lks_each_run(struct lks_cli *cli, struct lks_args *args,
                           struct lks_err *err) LKS_MUST_CHECK;

#endif
