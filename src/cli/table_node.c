#include "cli/table_node.h"

#include "cli/remote.h"

#define WHY                                                                                        \
    {                                                                                              \
        "--reason", "TEXT", "why; it is recorded"                                                  \
    }

const struct lks_option lks_node_command_options[] = {
    LKS_REMOTE_OPTIONS,
    WHY,
    {"--ttl", "SPAN", "how long the node may take, such as 10m (1h); 24h at the most"},
    {"--wait", NULL, "until it ended, and show how"},
    {"--wedged", NULL, "with executor reboot: ask for a reset although a process holds the GPUs"},
    {0},
};

const struct lks_option lks_node_reset_options[] = {LKS_REMOTE_OPTIONS, WHY, {0}};
