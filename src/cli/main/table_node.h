/* Commands that act on a node by hand: their rows and options, for table.c alone. */
#ifndef LKS_CLI_TABLE_NODE_H
#define LKS_CLI_TABLE_NODE_H

#include "cli/shared/commands.h"

extern const struct lks_option lks_node_command_options[], lks_node_reset_options[];

/* clang-format off */
#define LKS_NODE_COMMANDS                                                                          \
    {"node command", "NODE EXECUTOR [DIGEST...]", 2, 34, lks_node_command_options,                 \
     "Run an executor on a node by hand",                                                          \
     "The executors idle and inventory only read. Any other one needs, unless the pool has "       \
     "posture dev, a drained node (node hold) that reported no GPU process in the last 10 "        \
     "minutes (node command NODE idle). A verified bundle must name each DIGEST, in every pool. "  \
     "--wedged requests the reboot of a drained or unhealthy node whose process does not end; "    \
     "'node approve' by another person starts it. With --wait, exit status 1 if the command did "  \
     "not succeed.",                                                                               \
     "{id, seq, nodes, gpus}; with --wait {id, node, executor, ended, outcome?, text?, ...}; "     \
     "with --wedged {seq, nodes, gpus}", lks_cmd_node_command},                                    \
    {"node approve", "NODE", 1, 1, lks_node_reset_options,                                         \
     "Approve the reset of a wedged node that another person requested",                           \
     "The node reboots, and an alarm is raised that only 'node review' closes.",                   \
     "{id, seq, nodes, gpus}", lks_cmd_verb},                                              \
    {"node review", "NODE", 1, 1, lks_node_reset_options,                                          \
     "Review the reset of a wedged node, and close its alarm", "", "{seq, nodes, gpus}",           \
     lks_cmd_verb}
/* clang-format on */

#endif
