/* Commands that act on a node by hand: their rows and options, for table.c alone. */
#ifndef LKS_CLI_TABLE_NODE_H
#define LKS_CLI_TABLE_NODE_H

#include "cli/commands.h"

extern const struct lks_option lks_node_command_options[], lks_node_reset_options[];

/* clang-format off */
#define LKS_NODE_COMMANDS                                                                          \
    {"node command", "NODE EXECUTOR [DIGEST...]", 2, 34, lks_node_command_options,                 \
     "Have a node's agent run an executor by hand",                                                \
     "idle and inventory only read. Everything else needs, unless the pool has posture dev, a "    \
     "drained node (node hold) that was read without a GPU process in the last 10 minutes "        \
     "(node command NODE idle); each DIGEST has to be named by a verified bundle, in every pool. " \
     "With --wedged a reboot is only asked for, of a drained or unhealthy node whose process "     \
     "does not end: 'node approve' by another person gives it. Exit status 1 where --wait "        \
     "shows that it did not end well.",                                                            \
     "{id, seq, nodes, gpus}; with --wait {id, node, executor, ended, outcome?, text?, ...}; "     \
     "with --wedged {seq, nodes, gpus}", lks_cmd_node_command},                                    \
    {"node approve", "NODE", 1, 1, lks_node_reset_options,                                         \
     "Approve the reset of a wedged node that another person asked for",                           \
     "The node reboots, and an alarm is raised that only 'node review' ends.",                     \
     "{id, seq, nodes, gpus}", lks_cmd_node_approve},                                              \
    {"node review", "NODE", 1, 1, lks_node_reset_options,                                          \
     "Review the reset of a wedged node, which ends its alarm", "", "{seq, nodes, gpus}",          \
     lks_cmd_node_review}
/* clang-format on */

#endif
