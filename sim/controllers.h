/*
 * For sim_controllers.c and the files controllers_*.c: the world in which several controllers share
 * a store.
 *
 * Time is true time in milliseconds. Every controller has a wall clock that is off by a constant,
 * and one that counts on; jobs and machines go by true time.
 */
#ifndef LKS_SIM_CONTROLLERS_H
#define LKS_SIM_CONTROLLERS_H

#include "base/heap.h"
#include "base/rng.h"
#include "core/admit.h"
#include "drivers/store_memory.h"
#include "engine/engine.h"
#include "engine/journal.h"

#define CTL_COUNT     3
#define CTL_NODES_MAX 8
#define CTL_VARIANTS  3
#define CTL_WALL      UINT64_C(1794700000000)
#define CTL_LEASE     (6 * LKS_SECOND)
#define CTL_POLL_MS   250
#define CTL_HEARTBEAT (10 * LKS_SECOND)
#define CTL_BY        LKS_STR("unix:0")
#define CTL_SAID      LKS_STR("as simulated")

/* Actors, by number: each has one moment at which it acts next. */
#define CTL_PART(c, part) ((uint32_t)((part)*CTL_COUNT + (c)->number))
#define CTL_POLL(c)       CTL_PART(c, 0)
#define CTL_COMMIT(c)     CTL_PART(c, 1)
#define CTL_TICK(c)       CTL_PART(c, 2)
#define CTL_WAKE(c)       CTL_PART(c, 3)
#define CTL_FAULT(c)      CTL_PART(c, 4)
#define CTL_BEAT(n)       ((uint32_t)(5 * CTL_COUNT) + (n))
#define CTL_MACHINE(n)    (CTL_BEAT(CTL_NODES_MAX) + (n))
#define CTL_CHANGE        CTL_MACHINE(CTL_NODES_MAX)
#define CTL_JOB           (CTL_CHANGE + 1)
#define CTL_ACTORS        (CTL_JOB + 1)

/* A rule that does not hold, to show that it would be missed. */
enum ctl_broken {
    CTL_WHOLE,
    CTL_NO_QUIET,     /* a step begins as soon as its node is closed */
    CTL_NO_LEASE,     /* a leader does not look at the clock before it answers */
    CTL_NO_STALENESS, /* a follower does not count how old its knowledge is */
    CTL_BROKEN_COUNT
};

/* An answer that says yes. */
struct ctl_yes {
    bool there;
    uint64_t nodes; /* bits */
    lks_ms decided, valid_until;
    uint64_t epoch; /* of the leader that said so; 0: a follower did */
};

struct ctl {
    uint32_t number;
    char name[16];
    char holder[LKS_STORE_NAME_SIZE];
    uint32_t life;
    struct lks_store store;
    struct lks_engine *engine; /* NULL: it is down */
    struct lks_engine_place place;
    struct lks_engine_place seen; /* on its own disk */
    int64_t skew;                 /* of its wall clock */
    bool cut;                     /* off from the store */
    lks_ms paused_until, confirmed, lease_until;
    uint64_t epoch; /* that it leads in; 0: it follows */
    struct lks_engine_batch batch;
    bool writing, commit_planned;
    struct ctl_yes late; /* decided before a pause, said after it */
};

/* A machine, as it really is. */
struct ctl_node {
    char name[16];
    unsigned variant;
    bool silent;
    unsigned reports;
    uint64_t beats;
    lks_ms stepped_until; /* a step runs on it, or ran; 0: none since it was last opened */
    /* What the journal says of it, as durable rows: since when it takes no job; 0: it does. */
    lks_ms closed;
    lks_ms values_since; /* when what it runs was last recorded anew */
    lks_text values;
};

struct ctl_model; /* controllers_checks.c */

struct ctl_world {
    uint64_t seed;
    struct lks_rng rng;
    enum ctl_broken broken;
    bool print, failed, calm;
    char why[LKS_ERR_MSG_MAX]; /* what did not hold */
    lks_ms now;
    struct lks_heap agenda;
    struct lks_memory_disk *disk;
    uint64_t lease_epoch;
    struct lks_key key;
    struct lks_engine_options options;
    struct lks_limits limits;
    struct lks_manifest manifest;
    struct lks_buf manifest_text;
    struct ctl controllers[CTL_COUNT];
    struct ctl_node nodes[CTL_NODES_MAX];
    uint32_t node_count;
    struct ctl_model *model;
    uint64_t steps, history, asked, admitted, leads, changes;
};

void ctl_say(const struct ctl_world *w, const char *fmt, ...) LKS_PRINTF(2, 3);
struct ctl *ctl_leader(struct ctl_world *w); /* NULL: nobody leads */
/* Chance, and when an actor acts next. */
lks_ms ctl_between(struct ctl_world *w, lks_ms low, lks_ms high);
bool ctl_chance(struct ctl_world *w, unsigned percent);
void ctl_at(struct ctl_world *w, uint32_t actor, lks_ms when);
/* Of the one that leads. */
struct lks_now ctl_clock(const struct ctl_world *w, const struct ctl *c);
enum lks_code ctl_turn(struct ctl_world *w, struct ctl *c, const struct lks_event *event,
                       const struct lks_store_blob *blob);
void ctl_plan(struct ctl_world *w, struct ctl *c);

/* controllers_fleet.c: the nodes, what is said of them, and what is done to them */
void ctl_fleet_begin(struct ctl_world *w, struct ctl *c);
void ctl_beat(struct ctl_world *w, uint32_t n);
void ctl_machine(struct ctl_world *w, uint32_t n);
void ctl_change(struct ctl_world *w);

/* controllers_checks.c */
void ctl_require(struct ctl_world *w, bool ok, const char *what);
const struct lks_tuple *ctl_tuple(unsigned variant);
void ctl_tuples_free(void);
void ctl_digest_bytes(const char *digest, uint8_t out[LKS_HASH_BYTES]);
void ctl_model_init(struct ctl_world *w);
void ctl_model_fini(struct ctl_world *w);
/* Fold the rows that became durable. */
void ctl_check_rows(struct ctl_world *w);
/* The store took a batch of this controller; and it is acknowledged. */
void ctl_check_batch(struct ctl_world *w, const struct ctl *c);
void ctl_check_commit(struct ctl_world *w, const struct ctl *c);
/* A follower has read all there is. */
void ctl_check_follower(struct ctl_world *w, const struct ctl *c);
/* A yes leaves. */
void ctl_check_yes(struct ctl_world *w, const struct ctl_yes *yes);
void ctl_check_end(struct ctl_world *w);

#endif
