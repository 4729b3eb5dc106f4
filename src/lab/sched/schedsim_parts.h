/* What the files of the simulated scheduler share. */
#ifndef LKS_LAB_SCHEDSIM_PARTS_H
#define LKS_LAB_SCHEDSIM_PARTS_H

#include "codec/format/docs.h"
#include "lab/sched/schedsim.h"

/* A request in progress. */
struct lks_schedsim_asking {
    struct lks_schedsim *m;
    const struct lks_http_request *request;
    struct lks_schedsim_reply *out;
    enum lks_schedsim_fault fault;
    uint32_t node;
    struct lks_str verb;   /* behind the node's name: "", "drain", "release" */
    struct lks_doc *given; /* the body; NULL: none */
};

void lks_schedsim_refuse(struct lks_schedsim_asking *a, int status, const char *why);

/* Whether the epoch of a write is there, and is no older one; else the answer says so. */
bool lks_schedsim_leads(struct lks_schedsim_asking *a);

/* A job that runs leaves its nodes, and starts again later. */
void lks_schedsim_requeue(struct lks_schedsim *m, struct lks_schedsim_job *job);

/* Requests that are not about a node: jobs, and the epoch of a leader. */
bool lks_schedsim_site_is(struct lks_str path);
void lks_schedsim_site_answer(struct lks_schedsim_asking *a, struct lks_str path);

#endif
