/*
 * The contract of schedulers: tables of what holds for each driver, run against its scheduler, a
 * model or a real one. A driver joins by a side, which can do what `struct contract_side` asks.
 *
 * Time is a number. What can go wrong on the way is set before, by the number of the request it
 * befalls; what the side knows to be true is held against what the driver says. A row that a side
 * cannot show is named with the reason, and not run.
 */
#ifndef LKS_TESTS_SCHED_CONTRACT_H
#define LKS_TESTS_SCHED_CONTRACT_H

#include "drivers/sched/sched_drivers.h"
#include "lab/sched/schedsim.h"
#include "tests/fleet.h"

#define NOW      UINT64_C(1763200000000)
#define MINUTE   (60 * LKS_SECOND)
#define OURS     "change:17"
#define BEFORE   "change:16"
#define JOB_ENDS (30 * MINUTE)

#define CONTRACT_NO_JOB "999999"

/* Reasons why rows are not for a driver. */
#define CONTRACT_NO_SERVICES   "Slurm has no services that are taken out of rotation"
#define CONTRACT_NO_CHECKPOINT "Slurm does not tell when a job wrote a checkpoint"
#define CONTRACT_NO_REVISIONS  "slurmrestd has no revisions, and reads at each request"
#define CONTRACT_NO_EPOCHS     "slurmrestd has no epochs"
#define CONTRACT_NO_ROTATION   "Kubernetes does not tell what requests a pod has"
#define CONTRACT_NO_WATERMARK  "Kubernetes does not tell when a pod wrote a checkpoint"
#define CONTRACT_OPAQUE        "revisions of Kubernetes have no order, and it reads at each request"

/* What no API server of Kubernetes is asked. */
#define CONTRACT_NOT_IN_KUBERNETES "lockstep does not do that in Kubernetes"
#define CONTRACT_KUBERNETES                                                                        \
    .refuses = {[LKS_SCHED_SITE_SIGNAL] = CONTRACT_NOT_IN_KUBERNETES,                              \
                [LKS_SCHED_SITE_LEAD] = CONTRACT_NOT_IN_KUBERNETES,                                \
                [LKS_SCHED_SITE_RESERVATIONS] = CONTRACT_NOT_IN_KUBERNETES,                        \
                [LKS_SCHED_SITE_RESERVE] = CONTRACT_NOT_IN_KUBERNETES,                             \
                [LKS_SCHED_SITE_UNRESERVE] = CONTRACT_NOT_IN_KUBERNETES}

/* What is on the nodes at the beginning. */
enum scene {
    IDLE,
    BUSY,      /* a job that ends after JOB_ENDS */
    TRAINS,    /* one on both nodes that writes a checkpoint each ten minutes, and goes on */
    HANGS,     /* one that does not end, whatever happens */
    SERVES,    /* a service on both nodes, which needs one */
    NEEDS_ALL, /* a service that needs both */
    SCENES
};

/* The truth about the node. */
struct truth {
    bool closed, busy;
    char owner[LKS_SCHED_OWNER_MAX + 1]; /* without what marks ours */
    char reason[LKS_SCHED_REASON_MAX + 1];
};

/* What is killed while a request is in flight, and starts again by itself. */
enum contract_kill { KILL_NOTHING, KILL_BRIDGE, KILL_SCHEDULER, KILL_BOTH, KILLS };

/* A driver, and a scheduler with two nodes; the contract is about the first, the second is there
 * for what runs on both. */
struct contract_side {
    const char *name;
    const struct lks_sched_driver *driver;
    const char *sched;   /* of a pool of such nodes */
    const char *person;  /* who drains a node where a person does */
    const char *user;    /* who we are to it; NULL: it is not told */
    const char *token;   /* what shows it; NULL: nothing does */
    const char *why;     /* behind that name, how it tells a reason; NULL: ": broken fan" */
    const char *refusal; /* its words where a slurmctld of another version refuses a write */
    const char *job;     /* what the first job of BUSY is called; NULL: not known */

    /* Why rows are not for it; NULL: they are. */
    const char *no_revisions; /* answers have none, and a stale one cannot be told */
    const char *no_epochs;    /* an older leader is not refused */
    const char *no_restart;   /* it does not forget drains */
    const char *no_writes;    /* nothing can be changed through it */
    const char *no_faults;    /* the table of faults: its parts are killed instead */
    const char *no_site;      /* jobs and verdicts of a whole site */
    const char *only_jobs;    /* of a whole site: no verdicts and no reservations */
    const char *no_stale;     /* the scheduler gives no old answers when it is asked for one */
    const char *no_scene[SCENES];
    const char *site_refused; /* how the driver refuses every request about a site; or NULL */
    /* How it refuses some of them. */
    const char *refuses[LKS_SCHED_SITE_VERB_COUNT];
    const char *no_job;     /* what a job is called that is not there; NULL: 999999 */
    unsigned site_kills_at; /* the request that requeues a job, where kills befall it; 0: none */
    bool denies;            /* while it starts it does not know our rights yet */
    bool idle;           /* mishaps and kills find no job there before: one takes long to start */
    unsigned mishaps_at; /* mishaps befall the requests up to this one */
    unsigned kills_at;   /* the same of kills */

    void *(*begin)(enum scene scene, lks_ms now);
    void (*end)(void *model);
    const char *(*node)(const void *model);
    void (*take)(void *model, const struct lks_http_request *request,
                 struct lks_schedsim_reply *out);
    void (*pass)(void *model, lks_ms now);
    void (*other)(void *model, const char *owner);      /* a person drains it; NULL: opens it */
    void (*restart)(void *model);                       /* it forgets all drains */
    void (*kill)(void *model, enum contract_kill kill); /* while the next request is in flight */
    /* All parts run, and what is killed next forgets nothing; or NULL. */
    void (*settle)(void *model, enum contract_kill next);
    void (*fault)(void *model, enum lks_schedsim_fault fault, unsigned from, unsigned count);
    struct truth (*truth)(const void *model);
    unsigned (*writes)(const void *model); /* how often something was changed by request */
};

/* Whom the tests below are about. */
void contract_sides(const struct contract_side *sides, size_t count);

void contract_verbs(void);
void contract_odd_wishes(void);
void contract_waiting(void);
void contract_mishaps(void);
void contract_faults(void);
void contract_kills(void);
void contract_site(void);
void contract_site_kills(void);
void contract_deadlines(void);
void contract_stale(void);
void contract_epochs(void);
void contract_takes_over(void);
void contract_keeps_asking(void);

/* For tests of their own: one conversation after the other with a side. */
struct contract_rig {
    const struct contract_side *side;
    void *model, *value;
    const struct lks_conversation_ops *talks; /* of the value */
    lks_ms now;
    bool silent;             /* no request arrives */
    unsigned requests;       /* since the mishap was set */
    unsigned mishap;         /* enum mishap */
    unsigned at;             /* from 1 */
    enum contract_kill kill; /* at `at` as well */
    uint32_t dialect;
    struct lks_http_request twin;
    bool has_twin;
    struct lks_err err;
    struct lks_sched_said said;
};
void contract_rig_init(struct contract_rig *r, const struct contract_side *side, enum scene scene);
void contract_rig_fini(struct contract_rig *r);
struct lks_sched_wish contract_wish(const struct contract_rig *r, enum lks_sched_verb verb,
                                    const char *owner);
/* Until it ends; a process that ended begins it again. */
enum lks_code contract_ask_wish(struct contract_rig *r, const struct lks_sched_wish *wish);
enum lks_code contract_ask(struct contract_rig *r, enum lks_sched_verb verb, const char *owner);
enum lks_code contract_ask_site(struct contract_rig *r, const struct lks_sched_site_wish *wish);
/* The sides, up to NULL; and whether a row is for one: where it is not, that is printed. */
const struct contract_side *contract_side(size_t i);
bool contract_applies(const struct contract_side *side, const char *row, const char *why_not);
/* What is said is what is. */
void contract_check_true(const struct contract_rig *r);

/* A pool of the scheduler, and who drained the node as the state has it. */
void contract_set_pool(struct lks_asked *a, const char *sched);
void contract_set_drain(struct lks_asked *a, const char *owner);

#endif
