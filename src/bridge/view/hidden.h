/*
 * A node that is not empty although Slurm lists no job there, by the flags of its state. It is
 * shown with a job "?", whose name is the reason.
 */
#ifndef LKS_BRIDGE_HIDDEN_H
#define LKS_BRIDGE_HIDDEN_H

#include "bridge/view/node.h"

struct lks_bridge_hidden {
    bool reboots; /* Slurm is to reboot the node, or does */
    bool powered_down, powers_down;
    bool unregistered; /* since the start of slurmctld */
    bool given_away;   /* to a job, or a job ends there */
};

/* NULL: what Slurm lists is all. */
const struct lks_bridge_job *lks_bridge_hidden_job(const struct lks_bridge_hidden *h);

#endif
