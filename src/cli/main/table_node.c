#include "cli/main/table_node.h"

#include "cli/shared/remote.h"

#define WHY                                                                                        \
    {                                                                                              \
        "--reason TEXT", "reason; recorded"                                                        \
    }

const struct lks_option lks_node_reason_options[] = {LKS_REMOTE_OPTIONS, WHY, {0}};

const struct lks_option lks_node_release_options[] = {
    LKS_REMOTE_OPTIONS,
    WHY,
    {"--force",
     "also accept nodes in intake that do not conform; recorded. Admission still evaluates them"},
    {0},
};

const struct lks_option lks_node_command_options[] = {
    LKS_REMOTE_OPTIONS,
    WHY,
    {"--ttl SPAN", "time in which the node has to run it, such as 10m (1h); at most 24h"},
    {"--wait", "wait until the command ends, and show its result"},
    {"--wedged", "with executor reboot: request a reset although a process holds the GPUs"},
    {0},
};
