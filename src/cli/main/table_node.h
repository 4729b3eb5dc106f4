/* Commands that act on nodes: their rows and options, for table.c alone. */
#ifndef LKS_CLI_TABLE_NODE_H
#define LKS_CLI_TABLE_NODE_H

#include "cli/shared/commands.h"

extern const struct lks_option lks_node_reason_options[], lks_node_release_options[],
    lks_node_command_options[];

/* clang-format off */
#define LKS_NODE_COMMANDS                                                                          \
    {"node hold", "NODES", 1, 1, lks_node_reason_options,                                          \
     "Put nodes on hold: no new job is admitted to them",                                          \
     "NODES is a name or a host list such as gpu[001-004].", "{seq, nodes, gpus}", lks_cmd_verb},  \
    {"node release", "NODES", 1, 1, lks_node_release_options,                                      \
     "End a hold, or accept nodes that are new or changed",                                        \
     "A node seen for the first time, or with another board, GPUs or NICs, is not admitted until " \
     "it conforms and a person accepts it. If the domain of the node takes no jobs afterwards, "   \
     "because the node runs something else than the others, the domain is named.",                 \
     "{seq, nodes, gpus, warnings: [text]}", lks_cmd_verb},                                        \
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
    {"node approve", "NODE", 1, 1, lks_node_reason_options,                                        \
     "Approve the reset of a wedged node that another person requested",                           \
     "The node reboots, and an alarm is raised that only 'node review' closes.",                   \
     "{id, seq, nodes, gpus}", lks_cmd_verb},                                                      \
    {"node review", "NODE", 1, 1, lks_node_reason_options,                                         \
     "Review the reset of a wedged node, and close its alarm", "", "{seq, nodes, gpus}",           \
     lks_cmd_verb},                                                                                \
    {"node resolve", "NODE", 1, 1, lks_node_reason_options,                                        \
     "Mark an update with unknown outcome as resolved",                                            \
     "Until then the node stays out of service, and no other update runs on it.", "{seq}",         \
     lks_cmd_verb},                                                                                \
    {"node replace", "NODES", 1, 1, lks_node_reason_options,                                       \
     "Prepare a node for replaced hardware: revoke the certificate, forget the parts", "",         \
     "{seq, nodes, gpus}", lks_cmd_verb},                                                          \
    {"node rm", "NODES", 1, 1, lks_node_reason_options, "Remove nodes from the fleet", "",         \
     "{seq, nodes, gpus}", lks_cmd_node_rm}
/* clang-format on */

#endif
