/* What lockstep says of nodes, put into Slurm: nodes that get the same texts are one request to
 * slurmctld. The nodes are those of the last reading, which is to be recent. */
#ifndef LKS_BRIDGE_SLURM_TRUTH_H
#define LKS_BRIDGE_SLURM_TRUTH_H

#include "bridge/slurm/slurm_client.h"
#include "bridge/view/truth.h"

/* What became of a row; code LKS_OK: the node shows it. */
struct lks_slurm_truth_end {
    struct lks_err err;
    bool sent; /* slurmctld was asked to change the node */
};

/* `ends` has as many as `truth` has rows, all zero. A failure that is not of one node, such as a
 * slurmctld that does not answer, ends the call; rows before it may be done. */
enum lks_code lks_slurm_truth_send(struct lks_slurm *s, const struct lks_bridge_truth *truth,
                                   struct lks_slurm_truth_end *ends,
                                   struct lks_err *err) LKS_MUST_CHECK;

/* After another reading: which rows the nodes show. */
enum lks_code lks_slurm_truth_verify(struct lks_slurm *s, const struct lks_bridge_truth *truth,
                                     struct lks_slurm_truth_end *ends,
                                     struct lks_err *err) LKS_MUST_CHECK;

#endif
