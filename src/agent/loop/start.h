/* What the programs that are agents have in common: all but what acts on a captured tree. */
#ifndef LKS_AGENT_START_H
#define LKS_AGENT_START_H

#include "agent/loop/captured.h"

struct lks_start {
    const char *program, *commit;
    const struct lks_captured *captured; /* NULL: nothing acts on a captured tree */
};

/* All of main(). */
int lks_start_agent(int argc, char **argv, const struct lks_start *how);

#endif
