/* Jobs of the world of campaign.h, their scheduler, and what goes wrong there. */
#ifndef LKS_SIM_CAMPAIGN_SCHED_H
#define LKS_SIM_CAMPAIGN_SCHED_H

#include "base/rng.h"
#include "bridge/view/request.h"
#include "core/sched/jobs.h"
#include "port/sched.h"

struct cam;
struct cam_change;
struct cam_machine;
struct lks_message;
struct lks_record;

#define CAM_GANG_MAX    4
#define CAM_JOBS_MAX    64
#define CAM_JOB_ID_SIZE 32

/* CAM_TASK: one of an array, 17_4; CAM_PARTS: a heterogeneous job, a component on each node. */
enum cam_shape { CAM_PLAIN, CAM_TASK, CAM_PARTS, CAM_SHAPES };

/* What a bridge cannot read of a job. */
enum cam_odd { CAM_READABLE, CAM_ODD_ID, CAM_ODD_NODES, CAM_ODD_START, CAM_ODDS };

struct cam_job {
    bool there, begun, endless;
    unsigned count;
    uint32_t nodes[CAM_GANG_MAX];
    lks_ms until; /* it begins by then */
    uint64_t serial;
    uint64_t id;                     /* its name, which stays when it is requeued */
    lks_ms started;                  /* this run */
    bool requeue;                    /* its scheduler may start it again */
    bool deaf;                       /* it ignores signals */
    uint64_t signalled, requeued_by; /* the last change that did so; 0: none */
    unsigned signalled_at;           /* of this site: the other one has another scheduler */
    unsigned requeued_at;            /* of these, as bits */
    enum cam_shape shape;
    uint32_t act_life; /* of lockstepd then */
    bool unanswered;   /* the answer to its signal was lost: it may be sent once more */
    bool completing;   /* it ended, and a process of it does not */
    bool unlisted;     /* its scheduler forgot that it started, and is about to kill it */
    enum cam_odd odd;
    bool unknown;       /* it is listed, and slurmctld knows no such job */
    unsigned denied;    /* so often it said so, */
    uint64_t denied_by; /* to this change */
};

/* A job that was requeued, and waits. */
struct cam_again {
    uint64_t id, by;
    unsigned at;
    bool requeue;
    uint64_t signalled;
    unsigned signalled_at;
    enum cam_shape shape;
};

/* A run that ended a moment ago, as its scheduler may forget. */
struct cam_ended {
    struct cam_job job;
    lks_ms at;
};

enum cam_slurm_event {
    CAM_SLURM_DIES,     /* the primary slurmctld */
    CAM_SLURM_ANSWERS,  /* the backup does */
    CAM_SLURM_KILLS,    /* a job whose start was forgotten: `value` is its place */
    CAM_SLURM_MISSES,   /* the job that it lists on `node` does not run */
    CAM_SLURM_UPGRADES, /* slurmctld, under the bridge */
    CAM_SLURM_DRAINS,   /* the node by itself */
    CAM_SLURM_REPAIRED, /* and a person ends that */
    CAM_SLURM_OUTAGE,   /* of a node begins, or ends */
};

/* What a bridge makes of another version of slurmctld. */
enum cam_dialect {
    CAM_SPEAKS,
    CAM_UNREADABLE, /* answers that it cannot read */
    CAM_PARTIAL,    /* answers without the fields that it needs */
    CAM_REFUSES,    /* it reads, and each write is refused */
    CAM_DIALECTS
};

/* Of a node in its scheduler: an owner that its drain had before, until `at`. */
enum { CAM_OWNED = 4 };
struct cam_owned {
    lks_ms at;
    char owner[LKS_SCHED_OWNER_MAX + 1];
};

/* A job that its scheduler lists on a node and that ended: the end was forgotten. */
struct cam_ghost {
    bool there, requeue;
    char id[CAM_JOB_ID_SIZE];
    lks_ms started;
    uint64_t by;     /* the change that had it requeued; 0: none */
    bool unanswered; /* the answer to that was lost, or the lockstepd that asked, */
    uint32_t life;   /* which was this one */
};

enum cam_outage { CAM_NO_OUTAGE, CAM_DOWN, CAM_MAINTENANCE };

/* What a scheduler shows of a node. */
struct cam_shown {
    bool missing;
    char owner[LKS_SCHED_OWNER_MAX + 1];
    uint32_t jobs;
    enum cam_outage outage;
};

struct cam_slurm_node {
    struct cam_owned owned[CAM_OWNED]; /* a ring */
    unsigned owned_next;
    struct cam_shown old; /* what bridges read before the primary died */
    struct cam_ghost ghost;
    enum cam_outage outage;
    lks_ms outage_told; /* since when lockstepd knows; 0: it does not */
    lks_ms wants;       /* since when it is to be drained for an owner, and is not; 0: it is */
    unsigned turn;      /* failures, each makes it the turn of the other bridge */
    uint64_t alarm;     /* `bridge`, about it, that is open; 0: none */
    lks_ms alarmed;     /* when one was open last */
};

enum { CAM_ENDED = 8, CAM_BRIDGES = 2 };
struct cam_slurm {
    bool on;
    struct lks_rng rng;
    struct cam_slurm_node *nodes; /* owned; NULL where it is not on */
    lks_ms dead;                  /* when the primary died; 0: one answers, */
    lks_ms answered;              /* since then */
    lks_ms old[CAM_BRIDGES];      /* until then the bridge shows what it read before */
    struct cam_ended ended[CAM_ENDED];
    unsigned ended_next;
    enum cam_dialect dialect; /* until the upgrade is over: */
    lks_ms from, until;
    uint64_t failovers, forgotten, upgrades, drains, outages, first; /* of all that happened */
};

/* campaign_second.c */
struct cam_second_node;
void cam_second_draw(struct cam *w);
void cam_second_fini(struct cam *w);
void cam_second_forget(struct cam *w, uint32_t i);
void cam_second_later(struct cam *w, uint32_t i);
void cam_second_acts(struct cam *w, uint32_t i);
void cam_second_asks(struct cam *w, const struct cam_machine *m, enum lks_sched_verb verb);
/* The event of what the first said just now, or of its failure; of both where there are two. */
bool cam_second_event(struct cam *w, const struct cam_machine *m, uint32_t place,
                      const struct lks_sched_part *first, struct lks_event *event);
void cam_second_check(struct cam *w, const struct cam_machine *m, const char *what);
bool cam_second_is_right(const struct cam *w, const struct cam_machine *m);

/* campaign_sched.c */
#define CAM_SCHED_OTHER "root" /* who has business of their own with nodes, and Slurm itself */
bool cam_sched_is_ours(const struct cam_machine *m);
void cam_sched_set(struct cam *w, struct cam_machine *m, struct lks_str owner);
void cam_sched_later(struct cam *w, uint32_t i);
void cam_sched_acts(struct cam *w, uint32_t i, bool refresh);
void cam_sched_meddle(struct cam *w);
void cam_sched_other(struct cam *w, uint32_t i, bool on);
void cam_sched_undrain(struct cam *w);
void cam_sched_ended(struct cam *w, struct cam_machine *m); /* a drain of ours, by another */
/* Of a request that was made at `began`. */
void cam_sched_carry_out(struct cam *w, struct cam_machine *m, const struct lks_sched_wish *wish,
                         lks_ms began);

/* campaign_slurm.c */
void cam_slurm_draw(struct cam *w);
void cam_slurm_fini(struct cam *w);
struct cam_slurm_node *cam_slurm_node(const struct cam *w, const struct cam_machine *m);
void cam_slurm_plan(struct cam *w, lks_ms storm);
void cam_slurm_event(struct cam *w, const struct lks_message *msg);
void cam_slurm_calm(struct cam *w);
void cam_slurm_stirs(struct cam *w);
void cam_slurm_resume(struct cam *w, uint32_t i); /* lockstepd started */
bool cam_slurm_dead(const struct cam *w);
/* Why a request about the node is answered with a failure; NULL: it is not. `old`: it is answered
 * with what was read before the primary died. */
const char *cam_slurm_trouble(const struct cam *w, const struct cam_machine *m, bool writes,
                              bool *old, bool *refused);
void cam_slurm_show(const struct cam *w, const struct cam_machine *m, struct cam_shown *out);
bool cam_slurm_starts(struct cam *w, struct cam_job *job);      /* false: its prolog fails */
bool cam_slurm_lingers(struct cam *w, struct cam_job *job);     /* it is completing */
void cam_slurm_ended(struct cam *w, const struct cam_job *job); /* a run did */
void cam_slurm_requeued(struct cam *w, struct lks_str id, uint64_t change); /* one that ended */
void cam_slurm_unanswered(struct cam *w, struct lks_str id);
void cam_slurm_alarm(struct cam *w, const struct lks_record *r);
void cam_slurm_first(struct cam *w, const struct cam_change *c, uint32_t i);
bool cam_slurm_is_named(const struct cam *w, struct lks_str text);
void cam_slurm_check(struct cam *w);

/* campaign_jobs.c */
void cam_job_asks(struct cam *w);
void cam_job_begins(struct cam *w, const struct lks_message *msg);
void cam_job_ends(struct cam *w, const struct lks_message *msg);
void cam_job_killed(struct cam *w, uint32_t i);
void cam_jobs_calm(struct cam *w);

/* campaign_requeue.c: jobs that are signalled and requeued */
struct lks_str cam_requeue_id(const struct cam_job *job, char out[CAM_JOB_ID_SIZE]);
/* As it is listed on the node of that number of it. */
struct lks_str cam_requeue_part(const struct cam_job *job, unsigned k, char out[CAM_JOB_ID_SIZE]);
void cam_requeue_list(struct cam *w, const struct cam_machine *m, uint32_t place);
void cam_requeue_acts(struct cam *w);
void cam_requeue_begins(struct cam *w, struct cam_job *job);
/* A request at a bridge: the status of the answer. */
int cam_requeue_take(struct cam *w, const struct lks_bridge_request *r, struct lks_buf *body);
void cam_requeue_lost(struct cam *w, struct lks_str id);
void cam_job_over(struct cam *w, uint32_t j); /* campaign_jobs.c */

#endif
