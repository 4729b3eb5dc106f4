/*
 * What the bridge knows of Slurm's nodes, jobs and reservations, and how it shows them. Texts are
 * views of the memory of the one that read them from Slurm.
 */
#ifndef LKS_BRIDGE_NODE_H
#define LKS_BRIDGE_NODE_H

#include "base/time.h"
#include "codec/format/json.h"

#define LKS_BRIDGE_UNKNOWN UINT32_MAX /* a number that Slurm does not give */

struct lks_bridge_job {
    struct lks_str
        id; /* as Slurm prints it: "17", "17_3" in an array, "17+1" in a heterogeneous job
             */
    struct lks_str name, user, account, partition, state;
    struct lks_str nodes; /* a host list; of a job that ends, the nodes where it has not ended */
    uint32_t node_count;
    lks_ms started, ends; /* 0: not started, no limit */
    bool runs;            /* has nodes: it runs, is suspended or ends there */
    bool requeue;
    uint32_t gpus; /* on all its nodes, or LKS_BRIDGE_UNKNOWN */
};

struct lks_bridge_reservation {
    struct lks_str name, nodes;
    struct lks_str users; /* separated by commas */
    lks_ms from, until;
    bool maint;
    bool own; /* of lockstep, made by the bridge's user: see reservation.h */
};

struct lks_bridge_node {
    struct lks_str name, state;  /* "idle+drain" */
    struct lks_str reason, user; /* why it is drained or down, and who set that */
    bool own;                    /* the bridge's own user did */
    bool drained;                /* new work is kept away by the DRAIN flag */
    bool failing;                /* or by the FAIL flag, which is a person's */
    bool down, responding, accepts;
    lks_ms since;                    /* of the reason */
    struct lks_str features, active; /* separated by commas */
    struct lks_str gres;             /* as Slurm prints it: "gpu:h200:8" */
    struct lks_str gres_used;        /* the same of what jobs have: "gpu:h200:2(IDX:0-1)" */
    struct lks_str extra, comment;
};

/* What runs on a node, and the reservation that has it now or has it next; NULL: none. Of several
 * that have it now, one that keeps jobs away is shown, and of these rather one of others than
 * lockstep's. */
struct lks_bridge_load {
    const struct lks_bridge_job *const *jobs;
    size_t job_count;
    const struct lks_bridge_reservation *reservation;
};

/* The object of a node, without the members that depend on when it was read ("node", "revision",
 * "as_of", "age"): two of them are equal where nothing that can be seen has changed. */
void lks_bridge_node_json(const struct lks_bridge_node *node, const struct lks_bridge_load *load,
                          struct lks_buf *out);

/* A job as an element of a list: of those on a node, or of all with their nodes. */
void lks_bridge_node_job_json(const struct lks_bridge_job *job, bool whole,
                              struct lks_json_writer *w);

/* The GPUs in a list of trackable or generic resources: "cpu=8,gres/gpu=4", "gpu:h200:2,gpu:a:1",
 * "gpu:4(IDX:0-3)". LKS_BRIDGE_UNKNOWN: it says nothing about GPUs. */
uint32_t lks_bridge_node_gpus(struct lks_str list);

#endif
