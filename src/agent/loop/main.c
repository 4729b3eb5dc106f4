#include "agent/loop/start.h"
#include "base/commit.h"

int main(int argc, char **argv)
{
    const struct lks_start how = {.program = "lockstep-agent", .commit = LKS_COMMIT};
    return lks_start_agent(argc, argv, &how);
}
