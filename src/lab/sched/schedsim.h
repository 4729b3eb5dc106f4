/*
 * A scheduler that is simulated: nodes, what runs on them, and drains with their owners. It is
 * asked as drivers/sched/sched_bridge.c asks, one request in, one reply out; nothing waits, time is
 * what it is told. Training jobs write checkpoints and may be stopped behind one; services have
 * requests in flight and a minimum of nodes; batch and dev jobs run to their end.
 *
 *     GET  /v1/nodes/NAME          what there is to say of it
 *     PUT  /v1/nodes/NAME/drain    {owner, reason, checkpoint}    If-Match: "REVISION"
 *     POST /v1/nodes/NAME/release  {owner}                        If-Match: "REVISION"
 *     GET  /v1/jobs                those that are not over
 *     POST /v1/jobs/ID/signal      {signal, batch, started}
 *     POST /v1/jobs/ID/requeue     {started}
 *     PUT  /v1/epoch
 *
 * Writes name the leader's epoch (Lockstep-Epoch: N); an older one is refused. Those about a job
 * are refused for another run than the one that started then. A job that was requeued starts again
 * later, on nodes that are open and idle. Revisions of a node only rise, also over a restart. What
 * goes wrong is drawn by chance or said before, by the number of the request it befalls; the truth
 * can be asked for at any time.
 */
#ifndef LKS_LAB_SCHEDSIM_H
#define LKS_LAB_SCHEDSIM_H

#include "base/intern.h"
#include "base/rng.h"
#include "port/sched.h"

enum lks_schedsim_kind {
    LKS_SCHEDSIM_TRAINING,
    LKS_SCHEDSIM_SERVICE,
    LKS_SCHEDSIM_BATCH,
    LKS_SCHEDSIM_DEV,
    LKS_SCHEDSIM_KINDS
};
extern const char *const lks_schedsim_kind_words[]; /* "training" ... "dev", NULL */

enum lks_schedsim_fault {
    LKS_SCHEDSIM_CALM,
    LKS_SCHEDSIM_LOST,     /* nothing is done, and there is no answer */
    LKS_SCHEDSIM_UNSAID,   /* it is done, and the answer is lost */
    LKS_SCHEDSIM_LATE,     /* it is done at once, and answered after `late` */
    LKS_SCHEDSIM_BUSY,     /* 503 */
    LKS_SCHEDSIM_BROKEN,   /* 500, and nothing is done */
    LKS_SCHEDSIM_STALE,    /* what was so before the last change */
    LKS_SCHEDSIM_CONFLICT, /* another client was a moment earlier: 409 */
    LKS_SCHEDSIM_DEAF,     /* it says yes and does nothing */
    LKS_SCHEDSIM_GARBAGE,  /* 200, and no JSON */
    LKS_SCHEDSIM_RESTART,  /* it restarts before it answers, and forgets this node's drain */
    LKS_SCHEDSIM_FAILOVER, /* its backup answers, and forgets what changed here within 5 s */
    LKS_SCHEDSIM_DIALECT,  /* 200, and the members have the names of another version */
    LKS_SCHEDSIM_PARTIAL,  /* 200, and the jobs are missing */
    LKS_SCHEDSIM_REFUSES,  /* it reads, and each write is refused with a cause: an upgrade */
    LKS_SCHEDSIM_FAULTS
};
extern const char *const lks_schedsim_fault_words[];
#define LKS_SCHEDSIM_UPGRADED "slurmctld has another version" /* the cause that REFUSES states */

/* What runs, on one node or several. */
struct lks_schedsim_job {
    enum lks_schedsim_kind kind;
    lks_ms length;     /* 0: it does not end by itself. SERVICE: how long a request takes */
    lks_ms checkpoint; /* TRAINING: between two; 0: it writes none */
    uint32_t minimum;  /* SERVICE: nodes that stay in rotation */
    uint32_t requests; /* SERVICE: in flight on each of its nodes */
    /* Kept by the simulator. */
    uint32_t *nodes; /* owned */
    uint32_t count;
    lks_ms begun, ends;
    uint32_t
        waits; /* for so many nodes, since it was requeued, and not before `after`; 0: it runs */
    lks_ms after;
    unsigned restarts, signals;
    bool over;
    uint32_t free; /* over: the next of those, number + 1; 0: none */
};

/* What a node shows. */
struct lks_schedsim_view {
    bool closed, checkpoint;
    char owner[LKS_SCHED_OWNER_MAX + 32];
    char reason[LKS_SCHED_REASON_MAX + 1];
    lks_ms since, as_of;
    uint64_t revision;
    uint32_t job;     /* that runs there: number + 1; 0: none */
    uint32_t service; /* the same */
    bool rotation;
    uint32_t requests;
    lks_ms answered; /* out of rotation: when the last request is */
};

struct lks_schedsim_node {
    struct lks_schedsim_view now, before;
    enum lks_schedsim_kind kind; /* of the jobs that come by themselves */
    lks_ms idle;                 /* since when */
    bool stuck;                  /* whatever runs there does not end */
    char gres[64];               /* what it advertises; empty: nothing */
    bool invalid;                /* and the node registered with less */
};

struct lks_schedsim {
    lks_ms now;
    struct lks_rng rng;
    struct lks_intern names; /* the id is the place in `nodes` */
    struct lks_schedsim_node *nodes;
    uint32_t node_room;
    struct lks_schedsim_job *jobs;
    uint32_t job_count, job_room;
    uint32_t free;  /* a place in `jobs` that is free + 1; 0: none */
    lks_ms next;    /* nothing happens by itself before */
    uint64_t epoch; /* the highest of a leader that wrote */

    /* Jobs that come by themselves: on a node that is open and was idle for `gap`; 0: none come.
     * `may` is asked before, where there is one. */
    lks_ms gap;
    bool (*may)(void *context, struct lks_str node);
    void *context;

    /* What goes wrong. */
    unsigned chance[LKS_SCHEDSIM_FAULTS]; /* percent */
    enum lks_schedsim_fault fault;        /* this one befalls the requests */
    unsigned fault_from, fault_count;     /* from this number on, so many; numbers begin at 1 */
    lks_ms late;

    /* Seen. */
    unsigned requests; /* that came, and */
    unsigned writes;   /* of them to change something that did */
    unsigned stopped;  /* jobs, behind a checkpoint */
    unsigned killed;   /* jobs and requests on a node that went away under them */
};

void lks_schedsim_init(struct lks_schedsim *m, uint64_t seed, lks_ms now);
void lks_schedsim_fini(struct lks_schedsim *m);

/* A new node, open and idle; its place. */
uint32_t lks_schedsim_add(struct lks_schedsim *m, const char *name, enum lks_schedsim_kind kind);
uint32_t lks_schedsim_find(const struct lks_schedsim *m, struct lks_str name); /* UINT32_MAX */

/* Start `like` on nodes that are open and idle; false: they are not. */
bool lks_schedsim_start(struct lks_schedsim *m, const struct lks_schedsim_job *like,
                        const uint32_t *nodes, uint32_t count);

/* Another owner drains the node, whichever had it; NULL: opens it. */
void lks_schedsim_other(struct lks_schedsim *m, uint32_t node, const char *owner);

/* It restarts; `forgets`: all drains. */
void lks_schedsim_restart(struct lks_schedsim *m, bool forgets);

/* The node goes down for a change, as `now` has it: what runs there is killed and counted. */
void lks_schedsim_down(struct lks_schedsim *m, uint32_t node);

/* Let time go by: jobs end and begin, checkpoints are written, requests are answered. */
void lks_schedsim_pass(struct lks_schedsim *m, lks_ms now);

/* Whether something runs there, by the truth. */
bool lks_schedsim_busy(const struct lks_schedsim *m, uint32_t node);

struct lks_schedsim_reply {
    int status; /* 0: no answer */
    lks_ms delay;
    struct lks_buf body;
};
void lks_schedsim_reply_init(struct lks_schedsim_reply *r);
void lks_schedsim_reply_fini(struct lks_schedsim_reply *r);

/* Take a request at `m->now`. What `out`, which was initialised, held is gone. */
void lks_schedsim_take(struct lks_schedsim *m, const struct lks_http_request *request,
                       struct lks_schedsim_reply *out);

#endif
