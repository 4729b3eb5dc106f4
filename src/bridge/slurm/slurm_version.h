/*
 * What differs between the releases of Slurm that the bridge builds with: everything that depends
 * on SLURM_VERSION_NUMBER belongs here, and nothing else includes slurm.h first. Built and tested
 * with 22.05 and 24.11; a later release whose headers differ gets its lines here.
 */
#ifndef LKS_BRIDGE_SLURM_VERSION_H
#define LKS_BRIDGE_SLURM_VERSION_H

#include <stdint.h>
#include <stdio.h>

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>

#if SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(22, 5, 0)
#error "lockstep-slurm-bridge needs Slurm 22.05 or newer"
#endif

/* Flags of nodes that later releases have: one that this release does not have is never set. */
#ifndef NODE_STATE_BLOCKED
#define NODE_STATE_BLOCKED 0
#endif
#ifndef NODE_STATE_EXTERNAL
#define NODE_STATE_EXTERNAL 0
#endif

/* All GRES that a job has, by name. */
static inline const char *lks_slurm_version_job_gres(const slurm_job_info_t *job)
{
    return job->gres_total;
}

#endif
