/*
 * The world in which several controllers share a store.
 *
 *     sim_controllers.c       time, chance, whose turn it is; the seeds
 *     controllers_lives.c     what a lockstepd does that has others beside it
 *     controllers_fleet.c     nodes, their agents, and what people do to them
 *     controllers_jobs.c      whether a job may start, asked of any controller
 *     controllers_checks.c    the promises, checked as things happen
 *     controllers_truth.c     what is so, apart from what any controller makes of it
 *
 * Time is true time in milliseconds. Every controller has a wall clock that is off by a constant,
 * and one that counts on; jobs and machines go by true time.
 */
#ifndef LKS_SIM_CONTROLLERS_H
#define LKS_SIM_CONTROLLERS_H

#include "base/heap.h"
#include "base/rng.h"
#include "core/admission/admit.h"
#include "core/rows/limits.h"
#include "drivers/store/memory.h"
#include "engine/engine.h"
#include "engine/journal.h"
#include "engine/lease.h"

#define CTL_COUNT          3
#define CTL_NODES_MAX      8
#define CTL_VARIANTS       3
#define CTL_DEVIATIONS_MAX 64
#define CTL_WALL           UINT64_C(1794700000000)
#define CTL_LEASE          (6 * LKS_SECOND)
#define CTL_POLL_MS        400
#define CTL_HEARTBEAT      (10 * LKS_SECOND)
#define CTL_BY             LKS_STR("unix:0")
#define CTL_SAID           LKS_STR("as simulated")

/* Actors, by number: each has one moment at which it acts next. */
enum ctl_part { CTL_POLL, CTL_NEWS, CTL_COMMIT, CTL_TICK, CTL_WAKE, CTL_FAULT, CTL_PARTS };
#define CTL_PART(c, part) ((uint32_t)((part)*CTL_COUNT + (c)->number))
#define CTL_BEAT(n)       ((uint32_t)(CTL_PARTS * CTL_COUNT) + (n))
#define CTL_MACHINE(n)    (CTL_BEAT(CTL_NODES_MAX) + (n))
#define CTL_CHANGE        CTL_MACHINE(CTL_NODES_MAX)
#define CTL_PERSON        (CTL_CHANGE + 1)
#define CTL_JOB           (CTL_CHANGE + 2)
#define CTL_OUTAGE        (CTL_CHANGE + 3)
#define CTL_ACTORS        (CTL_CHANGE + 4)

/* A rule that does not hold, to show that it would be missed. */
enum ctl_broken {
    CTL_WHOLE,
    CTL_NO_QUIET,     /* a step begins as soon as its node is closed */
    CTL_NO_LEASE,     /* a leader does not look at the clock before it answers */
    CTL_NO_STALENESS, /* a follower does not count how old its knowledge is */
    CTL_NO_FENCE,     /* what the store refused is acknowledged all the same */
    CTL_NO_WAIT,      /* an answer leaves before the rows it rests on are durable */
    CTL_BROKEN_COUNT
};

/* An answer that says yes. */
struct ctl_yes {
    bool there;
    uint64_t nodes; /* bits */
    uint64_t needs; /* the row that must be durable before it leaves */
    lks_ms decided, valid_until;
    uint64_t epoch; /* of the leader that said so; 0: a follower did */
};

struct ctl {
    uint32_t number;
    char name[16];
    struct ctl_world *world;
    uint32_t life;
    struct lks_store store;
    struct lks_engine *engine; /* NULL: it is down */
    struct lks_lease_controller lease;
    struct lks_engine_place seen; /* on its own disk */
    int64_t skew;                 /* of its wall clock */
    bool cut;                     /* off from the store */
    lks_ms paused_until, confirmed, lease_until;
    uint64_t epoch; /* that it leads in; 0: it follows */
    struct lks_engine_batch batch;
    bool writing, commit_planned;
    struct lks_lease_news news; /* read from the store, and on their way to the state */
    bool carries;
    struct ctl_yes yes; /* decided and not said yet */
};

/* What the durable rows say of a node. */
struct ctl_truth {
    unsigned runs; /* a variant + 1; 0: not known */
    bool live, held, unhealthy, changing, drained;
    bool over;              /* something was done to it since that was read */
    bool disagrees;         /* read out of band, it runs something else */
    lks_ms disagrees_until; /* by the journal's clock */
    unsigned covered;       /* by so many deviations that hold */
    bool drifting;          /* as recorded */
    unsigned commands;      /* that it did not answer yet */
};

/* A machine, as it really is. */
struct ctl_node {
    char name[16];
    bool serves; /* in the pool `serve`; else in `train` */
    unsigned variant;
    bool silent;
    unsigned reports;
    uint64_t beats;
    lks_ms stepped_until; /* a step runs on it, or ran; 0: none since it was last opened */
    struct ctl_truth truth;
    lks_ms closed;       /* since when it takes no job, by what is durable; 0: it does */
    lks_ms values_since; /* when what it runs was last recorded anew */
};

struct ctl_model; /* controllers_checks.c */

struct ctl_world {
    uint64_t seed;
    struct lks_rng rng;
    enum ctl_broken broken;
    bool print, failed, calm;
    bool full;                 /* the store takes no rows, though it renews leases */
    char why[LKS_ERR_MSG_MAX]; /* what did not hold */
    lks_ms now;
    struct lks_heap agenda;
    struct lks_memory_disk *disk;
    struct lks_key key;
    struct lks_engine_options options;
    struct lks_limits limits;
    bool enforces[2]; /* train, serve */
    bool takes_deviations;
    struct lks_manifest manifest;
    struct lks_buf manifest_text;
    struct ctl controllers[CTL_COUNT];
    struct ctl_node nodes[CTL_NODES_MAX];
    uint32_t node_count;
    uint32_t changed_last;                   /* in calm */
    uint32_t deviations[CTL_DEVIATIONS_MAX]; /* by id: the node + 1, while it holds */
    bool unagreed[CTL_DEVIATIONS_MAX];       /* it waits for an approver */
    struct ctl_model *model;
    uint64_t steps, history, asked, admitted, leads, changes, drifts, expired;
};

/* sim_controllers.c */
void ctl_require(struct ctl_world *w, bool ok, const char *what);
void ctl_say(const struct ctl_world *w, const char *fmt, ...) LKS_PRINTF(2, 3);
lks_ms ctl_between(struct ctl_world *w, lks_ms low, lks_ms high);
bool ctl_chance(struct ctl_world *w, unsigned percent);
void ctl_at(struct ctl_world *w, uint32_t actor, lks_ms when);
struct lks_now ctl_clock(const struct ctl_world *w, const struct ctl *c);

/* controllers_lives.c */
bool ctl_awake(const struct ctl_world *w, const struct ctl *c);
/* Before anything leaves: a leader looks at the clock. */
bool ctl_may_answer(struct ctl_world *w, struct ctl *c);
struct ctl *ctl_leader(struct ctl_world *w); /* NULL: nobody takes requests */
void ctl_plan(struct ctl_world *w, struct ctl *c);
enum lks_code ctl_turn(struct ctl_world *w, struct ctl *c, const struct lks_event *event,
                       const struct lks_store_blob *blob);
void ctl_pause(struct ctl_world *w, struct ctl *c, lks_ms time);
void ctl_act(struct ctl_world *w, struct ctl *c, enum ctl_part part);
void ctl_free(struct ctl *c);

/* controllers_fleet.c */
void ctl_fleet_write(struct ctl_world *w);
void ctl_fleet_begin(struct ctl_world *w, struct ctl *c); /* unless there is one */
void ctl_beat(struct ctl_world *w, uint32_t n);
void ctl_machine(struct ctl_world *w, uint32_t n);
void ctl_change(struct ctl_world *w);
void ctl_person(struct ctl_world *w);

/* controllers_jobs.c */
void ctl_job(struct ctl_world *w);
/* Say what was decided, once its rows are durable. */
void ctl_job_answer(struct ctl_world *w, struct ctl *c);

/* controllers_truth.c */
const struct lks_tuple *ctl_tuple(unsigned variant);
const struct lks_tuple *ctl_outband(bool disagrees, struct lks_store_blob *blob);
void ctl_tuples_free(void);
void ctl_truth_note(struct ctl_world *w, lks_ms time, const struct lks_record *r);
struct ctl_node *ctl_truth_node(struct ctl_world *w, struct lks_str name); /* NULL: none */
bool ctl_truth_drifts(const struct ctl_node *t);
bool ctl_truth_closed(const struct ctl_world *w, const struct ctl_node *t);
bool ctl_truth_enforced(const struct ctl_world *w, const struct ctl_node *t);

/* controllers_checks.c */
void ctl_model_init(struct ctl_world *w);
void ctl_model_fini(struct ctl_world *w);
/* Fold the rows that became durable. */
void ctl_check_rows(struct ctl_world *w);
/* Somebody is about to lead. */
void ctl_check_takeover(struct ctl_world *w, const struct ctl *c);
/* The store took a batch of this controller; and it is acknowledged. */
void ctl_check_batch(struct ctl_world *w, const struct ctl *c);
void ctl_check_commit(struct ctl_world *w, const struct ctl *c);
/* A follower has read all there is. */
void ctl_check_follower(struct ctl_world *w, const struct ctl *c);
/* A yes leaves. */
void ctl_check_yes(struct ctl_world *w, const struct ctl_yes *yes);
void ctl_check_end(struct ctl_world *w);

#endif
