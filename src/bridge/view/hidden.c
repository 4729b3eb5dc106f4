#include "bridge/view/hidden.h"

#define HIDDEN(text)                                                                               \
    {                                                                                              \
        .id = LKS_STR_C("?"), .name = LKS_STR_C(text), .node_count = 1, .runs = true,              \
        .gpus = LKS_BRIDGE_UNKNOWN                                                                 \
    }

/* A node that Slurm has given away without a job that it lists is not free: jobs may be hidden from
 * the bridge, or end at this moment. */
static const struct lks_bridge_job unlisted = HIDDEN("a job that Slurm does not list");

/* Nor is one that has not registered since slurmctld started: its jobs may be missing in the state
 * that slurmctld started with. */
static const struct lks_bridge_job unregistered =
    HIDDEN("jobs are not known before the node registers");

/* Slurm reboots or switches off a node as soon as no job runs there, drained or not, and its reboot
 * may end a drain ("nextstate=resume"). Nothing may be done to a node that is about to go away, and
 * a drain counts only behind that. */
static const struct lks_bridge_job reboots = HIDDEN("Slurm reboots the node (scontrol reboot)");
static const struct lks_bridge_job powered_down =
    HIDDEN("Slurm powered the node down: scontrol update state=power_up");
static const struct lks_bridge_job powers_down =
    HIDDEN("Slurm powers the node down (power saving)");

const struct lks_bridge_job *lks_bridge_hidden_job(const struct lks_bridge_hidden *h)
{
    if (h->reboots)
        return &reboots;
    if (h->powered_down)
        return &powered_down;
    if (h->powers_down)
        return &powers_down;
    if (h->unregistered)
        return &unregistered;
    return h->given_away ? &unlisted : NULL;
}
