/* What the main functions of programs that slurmd runs have in common. */
#ifndef LKS_AGENT_HOOK_H
#define LKS_AGENT_HOOK_H

#include <stdbool.h>

/* Open streams that were closed, close all other descriptors, leave no core. False: a stream cannot
 * be opened, and a file that is opened later would take its place. */
bool lks_hook_settle(void);

#endif
