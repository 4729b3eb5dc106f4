/* What the files of a world share. For them alone. */
#ifndef LKS_REHEARSE_WORLD_H
#define LKS_REHEARSE_WORLD_H

#include "base/rng.h"
#include "core/plan/drain.h"
#include "core/registry/book.h"
#include "core/rows/text.h"
#include "drivers/store/memory.h"
#include "engine/engine.h"
#include "lab/rehearse/listed.h"
#include "lab/rehearse/queue.h"
#include "lab/rehearse/rehearse.h"
#include "model/manifest/bundle.h"
#include "model/tuple/tuple.h"

#define WORLD_MINUTE (60 * LKS_SECOND)
#define WORLD_HOUR   (60 * WORLD_MINUTE)
#define WORLD_DAY    (24 * WORLD_HOUR)

/* What readings of an invented machine are called. */
#define WORLD_READING "rehearsal"

/* Grants what others need: a proposer may not make an approver of the change. */
#define WORLD_ADMIN LKS_STR("user:rehearsal-admin")

enum world_kind {
    WORLD_EXECUTED,
    WORLD_BOOTS,
    WORLD_FLASHED,
    WORLD_SWEPT,
    WORLD_JOB_ENDS,
    WORLD_LISTED_ENDS,
    WORLD_PERSON
};

struct world_machine {
    uint32_t boot; /* how often it was rebooted here */
    uint32_t pool; /* place in `told`, or UINT32_MAX */
    uint32_t gpus;
    uint16_t stage;                /* steps of its recipe that are done, from the first on */
    bool reached;                  /* an image came to it */
    bool bad, down;                /* the image is bad on it; it does not answer */
    bool lost;                     /* and does not come back by itself */
    bool out, fresh;               /* out of service; in service with the new stack */
    bool before;                   /* it was out of service at the start, and does not count */
    bool free, side;               /* for jobs of a pool that is told, and with which stack */
    uint32_t job;                  /* that runs on it, of such a pool: place + 1; 0: none */
    uint32_t before_it, behind_it; /* of those that are free, or run the same job: node + 1 */
    bool empty;                    /* nothing ran there since it is out */
    uint32_t site;                 /* whose jobs are listed: place + 1; 0: they are invented */
    uint32_t stays;                /* listed jobs that stay there: first link + 1 */
    uint32_t stay_count;           /* of these, those that run */
    lks_ms busy;                   /* of another pool: a job runs on it until then; 0: not drawn */
    lks_ms since;                  /* of `out` */
};

struct world_pool {
    uint32_t place;                  /* in the state */
    uint32_t min_gang;               /* 0: not said */
    uint32_t free[2], free_count[2]; /* nodes without a job, by stack: node + 1 */
    uint32_t waits;                  /* jobs, the first that came: place + 1 */
    uint32_t listed;                 /* nodes of the largest listed job */
    uint32_t used[2];                /* in use, with the old and the new stack */
    lks_ms short_since;              /* no gang that is wanted can start; UINT64_MAX: one can */
};

struct world_job {
    uint32_t size, pool, like; /* which of the pool's sizes */
    uint32_t first;            /* of its nodes: node + 1 */
    uint32_t next;             /* that waits behind it: place + 1 */
    uint32_t listed;           /* it is one that was listed: place + 1 of its runs; 0: invented */
    bool ends;                 /* soon, since one of its nodes was asked to leave */
    lks_ms since;              /* it waits */
};

/* A job that was listed, and those behind it on its nodes. While none of them is asked to leave
 * nothing happens to them, and which run it is then is drawn when one is. */
struct world_runs {
    lks_ms limit, since, ran, ends; /* of this run: it had run for `ran` at `since` */
    lks_ms stops;                   /* `asked`: its nodes are free then */
    uint32_t gang;                  /* it moves: the job + 1; 0: it stays on its nodes */
    bool runs, own;                 /* own: the one that was listed */
    bool asked, requeues;           /* a node is to leave; it is requeued at `stops` */
    bool acted;                     /* by this change: no second time */
};

/* Jobs that stay on a node. */
struct world_stay {
    uint32_t runs, next; /* place; next link + 1 */
};

/* What is known of listed jobs before a run. All zero is nothing. */
struct world_listed {
    struct lks_listed list;
    uint32_t *site_of; /* of nodes: place + 1; owned, as are the others */
    uint32_t *nodes;   /* of jobs, one behind the other */
    size_t node_count, node_room;
    size_t *first; /* of a job, and behind the last one: place in `nodes` */
};

/* Readings, by (stack it comes from, recipe, stage): made when they are first needed. */
struct world_tuple {
    lks_text from;
    uint32_t recipe, stage;
    struct lks_tuple tuple;
};

struct lks_world {
    struct lks_world_options options;
    struct lks_memory_disk *disk; /* of a file's copy; NULL: a journal's */
    struct lks_store store;       /* the same */
    struct lks_engine_options engine_options;
    struct lks_key key;
    struct lks_judge judge;
    struct lks_engine *engine;
    struct lks_bundle *bundles; /* owned */
    size_t bundle_count, bundle_room;
    uint64_t change;
    bool wished; /* it was planned here, where no scheduler is asked */
    struct world_listed listed;

    struct lks_rng rng;
    struct lks_rehearse_faults faults;
    const struct lks_world_say *say;
    struct lks_queue *queue; /* owned */
    lks_ms now;              /* since the beginning: mono */
    lks_ms begun, ticked, measured;
    uint32_t in_vain;               /* calls of the person in a row, with nothing done in between */
    uint32_t done_by;               /* members that were done when they were last called */
    struct world_machine *machines; /* by node; owned, as all arrays */
    uint32_t machine_count;
    struct world_job *jobs;
    uint32_t job_count;
    struct world_runs *runs; /* by listed job */
    struct world_stay *stays;
    uint32_t stay_count;
    lks_ms *blocked; /* by site: until then a job whose nodes cannot be read runs there */
    struct world_pool pools[LKS_REHEARSE_POOLS];
    struct world_tuple **tuples;
    size_t tuple_count, tuple_room;
    struct lks_rehearsed *out;
    struct lks_err *err;
    struct lks_err refused; /* of a run */
    bool broken;            /* `err` says why */
};

/* world.c */
struct lks_now lks_world_now(const struct lks_world *w);
bool lks_world_turn(struct lks_world *w, const struct lks_event *event,
                    const struct lks_store_blob *blob); /* false: refused, or broken */
void lks_world_post(struct lks_world *w, enum world_kind kind, uint32_t node, uint64_t number,
                    lks_ms delay);
bool lks_world_chance(struct lks_world *w, uint32_t share);
void lks_world_tell(const struct lks_world *w, const char *fmt, ...) LKS_PRINTF(2, 3);
void lks_world_break(struct lks_world *w, enum lks_code code, const char *why);

/* Whether something in the world follows from rows of this kind. */
bool lks_world_row_counts(unsigned kind);

/* A positive number around `median`: most are near it, and a few are far above. */
lks_ms lks_world_takes(struct lks_world *w, lks_ms median);

/* How many nodes there are; whether the change has this one, which is no asset. */
uint32_t lks_world_nodes(const struct lks_world *w);
bool lks_world_member(const struct lks_world *w, uint32_t node);

/* world_work.c */
void lks_world_command(struct lks_world *w, const struct lks_rec_command *c);
void lks_world_flash(struct lks_world *w, const struct lks_rec_flash *f);
void lks_world_deliver(struct lks_world *w, const struct lks_message *m);
/* What may be done to jobs of a node that leaves; whether the change is neither paused nor halted.
 */
struct lks_drain_rule lks_world_leave_rule(const struct lks_world *w, uint32_t node);
bool lks_world_running(const struct lks_world *w);
/* One that did not come back is brought back, in some hours. */
void lks_world_repair(struct lks_world *w, uint32_t node);

/* world_jobs.c: a node is asked to leave; nothing runs on it; it was drained, returned, or has
 * another stack. */
void lks_world_job_ask(struct lks_world *w, uint32_t node);
bool lks_world_job_none(struct lks_world *w, uint32_t node);
void lks_world_job_moved(struct lks_world *w, uint32_t node);
void lks_world_job_ends(struct lks_world *w, uint32_t job);
bool lks_world_jobs_begin(struct lks_world *w);
void lks_world_jobs_end(struct lks_world *w);

/* world_listed.c: machines are marked and jobs drawn before those of world_jobs.c are made; then
 * those that move become its gangs. */
void lks_world_listed_fini(struct lks_world *w);
bool lks_world_listed_begin(struct lks_world *w);
bool lks_world_listed_moves(const struct lks_world *w, uint32_t job, uint32_t *pool);
uint32_t lks_world_listed_nodes(const struct lks_world *w, uint32_t job, const uint32_t **nodes);
/* One of its nodes is asked to leave; nodes it stays on are back; it starts on others. */
void lks_world_listed_ask(struct lks_world *w, uint32_t job, uint32_t node);
void lks_world_listed_ask_stays(struct lks_world *w, uint32_t node);
void lks_world_listed_stop(struct lks_world *w, uint32_t job);
void lks_world_listed_back(struct lks_world *w, uint32_t node);
void lks_world_listed_start(struct lks_world *w, uint32_t job);
bool lks_world_listed_blocks(const struct lks_world *w, uint32_t node);

/* world_gates.c: part of a tick */
void lks_world_measure(struct lks_world *w);

/* lks_world_judge.c */
bool lks_world_judge(void *ctx, struct lks_str basis, struct lks_arena *arena,
                     struct lks_rec_verdict *v);
const struct lks_tuple *lks_world_tuple(struct lks_world *w, lks_text from, uint32_t recipe,
                                        uint32_t stage);
void lks_world_tuples_fini(struct lks_world *w);

/* world_count.c */
uint32_t lks_world_gpus(const struct lks_world *w, uint32_t node);
bool lks_world_count_begin(struct lks_world *w);
void lks_world_count_node(struct lks_world *w, uint32_t node);
void lks_world_count_empty(struct lks_world *w, uint32_t node); /* nothing runs on it */
void lks_world_count_time(struct lks_world *w);                 /* the curves, up to now */
void lks_world_count_end(struct lks_world *w);

/* world_copy.c */
bool lks_world_flush(struct lks_world *w,
                     void (*row)(struct lks_world *, const struct lks_record *));

/* world_stacks.c */
enum lks_code lks_world_publish(struct lks_world *w, const struct lks_manifest *manifest,
                                struct lks_str text, struct lks_err *err) LKS_MUST_CHECK;
enum lks_code lks_world_vouch_all(struct lks_world *w, const struct lks_manifest *manifest,
                                  struct lks_err *err) LKS_MUST_CHECK;

#endif
