/*
 * What slurmrestd answers, in the versions of its OpenAPI that are known here. Each answer names
 * its version; one of another version, one that is cut off and one that contradicts itself are
 * refused with a line that says which. Views are of the documents or of the answer.
 *
 * The versions differ in how they write numbers (5, or {"set": true, "number": 5}), states ("idle"
 * with a list of flags, or ["IDLE", "DRAIN"]) and errors. Each of these is read in every form; what
 * a version can do is in the table.
 */
#ifndef LKS_DRIVERS_SLURMRESTD_READ_H
#define LKS_DRIVERS_SLURMRESTD_READ_H

#include "codec/format/docs.h"
#include "port/sched.h"

struct lks_slurmrestd_read_version {
    const char *name;   /* in paths */
    const char *plugin; /* what answers name: a member of `meta.plugin` is this */
    bool writes;        /* it has a route that changes a node */
};
/* The newest first: the order in which a server is asked for them. */
extern const struct lks_slurmrestd_read_version lks_slurmrestd_read_versions[];
extern const size_t lks_slurmrestd_read_version_count;

enum lks_slurmrestd_read {
    LKS_SLURMRESTD_GOOD,
    LKS_SLURMRESTD_BUSY,    /* it did not even begin */
    LKS_SLURMRESTD_BAD,     /* no answer, or one that says nothing: what became of it is open */
    LKS_SLURMRESTD_DENIED,  /* the token is refused, or its user may not do this */
    LKS_SLURMRESTD_MISSING, /* slurmctld has no such node */
    LKS_SLURMRESTD_NO_PATH, /* it does not serve this version */
    LKS_SLURMRESTD_NO_VERB, /* it serves the path and not the method */
};

/* Which it is. `why` is one line, empty for a good one; `docs` was initialised by lks_docs_init()
 * and owns what is read of the answer. */
enum lks_slurmrestd_read
lks_slurmrestd_read_answer(const struct lks_http_response *answer,
                           const struct lks_slurmrestd_read_version *version, struct lks_docs *docs,
                           char why[LKS_SCHED_REASON_MAX + 1]);

struct lks_slurmrestd_node {
    bool drained, down, maintenance;
    bool failing; /* FAIL: a drain would end it */
    bool busy; /* its state says that a job is there, or that Slurm reboots it or powers it down */
    struct lks_str reason, user;
    lks_ms since;
};

/* The one node in the body of a good answer. False, and `why`: it is about another, or says
 * nothing. */
bool lks_slurmrestd_read_node(struct lks_str body, struct lks_str name, struct lks_docs *docs,
                              struct lks_slurmrestd_node *out, char why[LKS_SCHED_REASON_MAX + 1]);

struct lks_slurmrestd_jobs {
    uint32_t count; /* on the node, suspended ones too */
    lks_ms ends;    /* the last may run until then; 0: unknown */
    char id[LKS_SCHED_OWNER_MAX], user[LKS_SCHED_OWNER_MAX]; /* of the first */
};

/* The jobs of a node in the body of a good answer about all jobs, which is read one job at a time.
 * One whose list of nodes cannot be read counts as being there. */
bool lks_slurmrestd_read_jobs(struct lks_str body, struct lks_str node,
                              struct lks_slurmrestd_jobs *out, char why[LKS_SCHED_REASON_MAX + 1]);

#endif
