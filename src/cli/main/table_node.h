/* Commands that act on nodes: their rows and options, for table.c alone. */
#ifndef LKS_CLI_TABLE_NODE_H
#define LKS_CLI_TABLE_NODE_H

#include "cli/shared/commands.h"
#include "core/entity/settable.h"

extern const struct lks_option lks_node_reason_options[], lks_node_release_options[],
    lks_node_command_options[];

#define LKS_NODE_COLUMN(member, option, uses, about) " " #member

/* clang-format off */
#define LKS_NODE_COMMANDS                                                                          \
    {LKS_OPERATE, "node hold", "NODES", 1, 1, lks_node_reason_options,                             \
     "Put nodes on hold: no new job is admitted, and no change starts on them",                    \
     "NODES is a name or a host list such as gpu[001-004], of at most limits.call_nodes (10) "     \
     "nodes. Running jobs continue, and so does a step of a change that runs on the node. "        \
     "Admission refuses the node where its pool enforces, and only warns elsewhere. In a "         \
     "pool with a scheduler ('sched: slurm', 'sched: kubernetes') lockstep drains the node there " \
     "as well: do not drain it yourself. Only 'node release' ends a hold.",                        \
     "{seq, nodes, gpus}", lks_ask_cmd},                                                           \
    {LKS_OPERATE, "node release", "NODES", 1, 1, lks_node_release_options,                         \
     "End the hold of nodes, and accept nodes in intake",                                          \
     "Does both at once. A node is in intake if it is seen for the first time, or with another "   \
     "board, GPUs or NICs; it takes no jobs where its pool enforces. 'node ls --intake' lists "    \
     "such nodes: leave those out that you do not want to accept. A node that does not conform "   \
     "stays in intake; its hold ends. A domain that takes no jobs afterwards, because its "        \
     "nodes run different things, is named in a warning.",                                         \
     "{seq, nodes, gpus, warnings: [text]}", lks_ask_cmd},                                         \
    {LKS_OPERATE, "node set", "NODES COLUMN=VALUE", 2, 2, lks_node_reason_options,                 \
     "Set or clear a column of nodes",                                                             \
     "Replaces the value of the column. COLUMN= without a value clears it. A value has at most "   \
     "256 bytes; the journal records it. A value has no effect on admission or changes. 'node "    \
     "replace' keeps the value; 'node rm' clears it. COLUMN is one of:"                            \
     LKS_SETTABLE_NODE(LKS_NODE_COLUMN) ".", "{seq, nodes, gpus}", lks_cmd_node_set},              \
    {LKS_OPERATE, "node command", "NODES EXECUTOR [DIGEST...]", 2, 34, lks_node_command_options,   \
     "Run an executor on a node by hand",                                                          \
     "EXECUTOR is idle or inventory, which only read, or one that is enabled on the node: "        \
     "accept, apt, dnf, firmware, hook, image, reboot or settings. DIGEST is an artifact for "     \
     "it; a verified bundle must name it, in every pool. Unless the pool has posture dev, the "    \
     "node must be on hold ('node hold') or in a change, and 'node command NODE idle' must "       \
     "have found no GPU process since then, within the last 10 minutes; jobs without a GPU "       \
     "process are not detected. In a pool with a scheduler, that must also report it as "          \
     "drained for the hold ('emptied' of 'node show'). NODES are at most 10, with a question on "  \
     "a terminal; if a node fails, the others follow, and the failed ones are named at the end.",  \
     "{id, seq, nodes, gpus}; with --wait {id, node, executor, ended, outcome?, text?, ...}; "     \
     "with --wedged {seq, nodes, gpus}", lks_cmd_node_command},                                    \
    {LKS_OPERATE, "node approve", "NODES", 1, 1, lks_node_reason_options,                          \
     "Approve the reboot of a wedged node that another person requested",                          \
     "The node reboots, and an alarm is raised that only 'node review' closes.",                   \
     "{id, seq, nodes, gpus}", lks_ask_cmd},                                                       \
    {LKS_OPERATE, "node review", "NODES", 1, 1, lks_node_reason_options,                           \
     "Review the reboot of a wedged node, and close its alarm",                                    \
     "Records what you found about the reboot. Needs the role approver; the operator who "         \
     "requested the reboot may not review it.", "{seq, nodes, gpus}",                              \
     lks_ask_cmd},                                                                                 \
    {LKS_OPERATE, "node resolve", "NODES", 1, 1, lks_node_reason_options,                          \
     "Mark an update with unknown outcome as resolved",                                            \
     "Use it after you inspected the device. Until then the node stays out of service, and no "    \
     "other update runs on it. The command closes the alarm; it sends nothing to the device, "     \
     "repeats no update, and records no version: the next reading shows what runs, and "           \
     "admission evaluates the node by it. A node that its change keeps out of service also "       \
     "needs 'change resume ID --nodes NODE'.", "{seq}",                                            \
     lks_ask_cmd},                                                                                 \
    {LKS_OPERATE, "node replace", "NODES", 1, 1, lks_node_reason_options,                          \
     "Prepare nodes for replaced hardware: revoke the certificates, forget the parts",             \
     "Use it when a machine, its board, GPUs or NICs are replaced, before the new hardware "       \
     "reports. The agent is cut off at once, and the node is in intake; running jobs continue, "   \
     "so drain the node first. Next: 'node enroll', start the agent with the token, and 'node "    \
     "release' once the node conforms. At most limits.call_nodes (10) nodes; refused while an "    \
     "update of the node runs or has an unknown outcome.",                                         \
     "{seq, nodes, gpus}", lks_ask_cmd},                                                           \
    {LKS_OPERATE, "node rm", "NODES", 1, 1, lks_node_reason_options,                               \
     "Remove nodes from the fleet",                                                                \
     "Revokes the certificates of the nodes and forgets their readings; the journal keeps "        \
     "their records. Nothing changes on the nodes, and running jobs continue. A node that "        \
     "still reports must be on hold first ('node hold'). A change skips nodes that were "          \
     "removed before their turn. Remove the nodes from the manifest as well: the next 'fleet "     \
     "apply' adds every node that it lists, to be enrolled again.",                                \
     "{seq, nodes, gpus}", lks_ask_cmd}
/* clang-format on */

#endif
