/* What the main functions of programs that slurmd runs have in common. */
#ifndef LKS_AGENT_HOOK_H
#define LKS_AGENT_HOOK_H

/* Open streams that were closed, close all other descriptors, leave no core. */
void lks_hook_settle(void);

#endif
