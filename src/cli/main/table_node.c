#include "cli/main/table_node.h"

#include "cli/shared/remote.h"

#define WHY                                                                                        \
    {                                                                                              \
        "--reason TEXT", "reason; required, recorded"                                              \
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
    {"--ttl SPAN", "time within which the command starts and ends on the node, such as 10m (1h); "
                   "at most 24h. A node that reconnects within it still runs the command; an "
                   "executor that runs longer is stopped"},
    {"--wait",
     "wait until the command ends, and show its result; exit status 1 if it did not succeed"},
    {"--wedged", "with executor reboot: request the reboot of a drained or unhealthy node whose "
                 "process does not end; 'node approve' by another person starts it"},
    {0},
};
