/*
 * slurmctld, as the bridge's one thread sees it. Calls wait for slurmctld as long as libslurm does
 * (MessageTimeout, more while it retries); nothing else is waited for. Data that has not changed
 * since the last call is not sent again, for a few seconds: see since.h.
 *
 * Nodes are read before jobs: a node that is drained when it is read gets no job afterwards, so
 * that a job which is not among those read later does not run there.
 */
#ifndef LKS_BRIDGE_SLURM_CLIENT_H
#define LKS_BRIDGE_SLURM_CLIENT_H

#include "bridge/view/book.h"
#include "bridge/view/policy.h"
#include "bridge/view/reservation.h"
#include "bridge/view/runs.h"

#include <sys/types.h>

struct lks_slurm;

struct lks_slurm_about {
    char cluster[128], version[64];
    uint32_t controllers; /* 1: no backup */
};

/* Reads slurm.conf; libslurm ends the process where there is none. `own` is the user whose drains
 * count as the bridge's. */
enum lks_code lks_slurm_new(uid_t own, struct lks_slurm **out, struct lks_err *err) LKS_MUST_CHECK;
void lks_slurm_free(struct lks_slurm *s);

/* Everything that changed: `changed` is false where nothing did, and `out` is empty then. `now` is
 * steady, of before the call. */
enum lks_code lks_slurm_read(struct lks_slurm *s, lks_ms now, struct lks_bridge_reading *out,
                             bool *changed, struct lks_err *err) LKS_MUST_CHECK;

/* The last reading was not taken in: the next one has everything. */
void lks_slurm_read_lost(struct lks_slurm *s);

/* slurmctld did not answer a write: the next readings ask for everything. */
void lks_slurm_doubt(struct lks_slurm *s);

/* A job or a reservation whose list of nodes cannot be read, and why; empty: all can. Every node
 * counts as busy with such a job; such a reservation is not shown. */
const char *lks_slurm_index_warning(const struct lks_slurm *s);

/* One node. NOT_FOUND: Slurm has none of this name. */
enum lks_code lks_slurm_read_node(struct lks_slurm *s, const char *name, lks_ms now,
                                  struct lks_bridge_reading *out,
                                  struct lks_err *err) LKS_MUST_CHECK;

/* When the run of a job started that is there; 0: it does not run. NOT_FOUND: Slurm has no such
 * job. `job` is an id as Slurm prints it. */
enum lks_code lks_slurm_read_run(const char *job, lks_ms *started,
                                 struct lks_err *err) LKS_MUST_CHECK;

/* `changed`: slurmctld started, or read its configuration, since the last call. Else `out` is
 * untouched. */
enum lks_code lks_slurm_about(struct lks_slurm *s, struct lks_slurm_about *out, bool *changed,
                              struct lks_err *err) LKS_MUST_CHECK;

/* The jobs that slurmctld sent last, as runs, once its configuration was read; `fresh` is false,
 * and `out` untouched, where the last call had them. The caller owes lks_arena_fini(); other texts
 * live until the next reading. */
enum lks_code lks_slurm_runs(struct lks_slurm *s, struct lks_arena *arena,
                             struct lks_bridge_runs_reading *out, bool *fresh,
                             struct lks_err *err) LKS_MUST_CHECK;

/* They were not taken in: the next call has them again. */
void lks_slurm_runs_lost(struct lks_slurm *s);

/* Whether the controller of this number answers; 0 is the primary. */
bool lks_slurm_ping(unsigned controller);

/* Writes. `nodes` is a host list. NOT_FOUND, DENIED, REFUSED by Slurm, or UNAVAILABLE: then the
 * outcome is unknown. */
enum lks_code lks_slurm_drain(const struct lks_slurm *s, const char *nodes, const char *reason,
                              struct lks_err *err) LKS_MUST_CHECK;

/* End a drain, and nothing else: a node that is down stays down. `reason` is for such a node, NULL:
 * as it is. */
enum lks_code lks_slurm_undrain(const struct lks_slurm *s, const char *nodes, const char *reason,
                                struct lks_err *err) LKS_MUST_CHECK;

/* End a drain, and DOWN as well. */
enum lks_code lks_slurm_resume(const struct lks_slurm *s, const char *nodes,
                               struct lks_err *err) LKS_MUST_CHECK;

/* `job` is an id as Slurm prints it. A signal is for the job's steps, and with `batch` for its
 * script as well. */
enum lks_code lks_slurm_signal(const char *job, int number, bool batch,
                               struct lks_err *err) LKS_MUST_CHECK;
enum lks_code lks_slurm_requeue(const char *job, struct lks_err *err) LKS_MUST_CHECK;

/* The reservation of this name in the last reading; NULL: there is none. Texts live until the next
 * reading. */
const struct lks_bridge_reservation *lks_slurm_reserve_find(const struct lks_slurm *s,
                                                            const char *name);

/* Create a reservation for maintenance that no job need leave, change it, or delete it. The caller
 * saw that it is lockstep's. */
enum lks_code lks_slurm_reserve_create(struct lks_slurm *s, const char *name,
                                       const struct lks_bridge_reserve *r,
                                       struct lks_err *err) LKS_MUST_CHECK;
enum lks_code lks_slurm_reserve_update(const char *name, const struct lks_bridge_reserve *r,
                                       bool start, struct lks_err *err) LKS_MUST_CHECK;
enum lks_code lks_slurm_reserve_delete(const char *name, struct lks_err *err) LKS_MUST_CHECK;

/* Slurm's partitions that have nodes of the policy's pools, for its file. `out` gets these alone;
 * the caller owes lks_policy_fini(). Slots are those of the nodes as they were read last. `warning`
 * names a partition whose nodes cannot be read, and why: it is left out; empty: all can. */
enum lks_code lks_slurm_partitions(const struct lks_slurm *s, const struct lks_bridge_policy *from,
                                   struct lks_policy *out, char warning[LKS_ERR_MSG_MAX],
                                   struct lks_err *err) LKS_MUST_CHECK;

#endif
