/*
 * Runs of jobs that ended, as the bridge remembers them. slurmctld keeps a job for MinJobAge after
 * its end, and nothing of a run that was requeued.
 *
 * Runs are in the order of their ends by slurmctld's own clock, those that ended at one moment in
 * the order of their ids. So the place of a run is the same for each bridge of a site and after a
 * restart of a bridge, and who read all runs up to a place goes on from there: nothing is read
 * twice. A run is shown when slurmctld's clock is past the second in which it ended. A run that is
 * noticed later than that, and each run after the clock was set back, is placed at the `until` that
 * readers have seen, or behind it: never where a reader has been.
 *
 * The number of runs is bounded: the oldest ones are dropped. `from` in the answer is the moment
 * before which runs may be missing. A requeue is noticed by comparing two readings, so one that
 * happens while no bridge runs is missed.
 */
#ifndef LKS_BRIDGE_RUNS_H
#define LKS_BRIDGE_RUNS_H

#include "base/arena.h"
#include "bridge/view/node.h"

#define LKS_BRIDGE_RUNS_MAX   100000
#define LKS_BRIDGE_RUNS_BYTES ((size_t)128 << 20) /* of all runs that are remembered */
#define LKS_BRIDGE_RUNS_PAGE  2000
#define LKS_BRIDGE_RUNS_ID    63         /* bytes of an id in a request */
#define LKS_BRIDGE_RUNS_TEXT  128        /* bytes of a name that are shown */
#define LKS_BRIDGE_RUNS_NODES (64 << 10) /* bytes of a host list; a longer one is left out */
#define LKS_BRIDGE_RUNS_LIVE  ((uint32_t)1000000) /* jobs of one reading */

enum lks_bridge_run_phase { LKS_BRIDGE_RUN_WAITS, LKS_BRIDGE_RUN_GOES, LKS_BRIDGE_RUN_ENDED };

/* A job as a reading has it. Texts are the reader's. */
struct lks_bridge_run {
    struct lks_str id; /* as Slurm prints it */
    struct lks_str name, user, account, partition;
    struct lks_str state;  /* "completed" ... of a run that ended */
    struct lks_str reason; /* Slurm's, where there is one */
    struct lks_str nodes;  /* a host list; of a run that ends, the nodes where it has not ended */
    enum lks_bridge_run_phase phase;
    lks_ms started, ended; /* wall, slurmctld's; 0: not */
    uint32_t gpus;         /* on all its nodes, or LKS_BRIDGE_UNKNOWN */
    uint32_t restarts;     /* before this run */
    int exit, signal;      /* of the job's script; -1: not known */
};

/* All jobs that slurmctld has. */
struct lks_bridge_runs_reading {
    const struct lks_bridge_run *runs;
    size_t count;
    lks_ms at;                  /* slurmctld's clock */
    lks_ms kept;                /* so long slurmctld keeps jobs that ended */
    const struct lks_str *down; /* nodes that are down or do not answer, sorted */
    size_t down_count;
};

struct lks_bridge_runs_place {
    lks_ms at;
    char id[LKS_BRIDGE_RUNS_ID + 1];
};

/* All zero: nothing was read. */
struct lks_bridge_runs {
    struct lks_bridge_runs_item {
        struct lks_bridge_runs_place place;
        char *json; /* owned */
        size_t json_len;
    } * items; /* owned; sorted */
    uint32_t count, room;
    size_t bytes;
    lks_ms from;  /* runs that ended before may be missing */
    lks_ms until; /* all that ended before are there */
    /* The last reading, sorted by id; texts are in the arena. */
    struct lks_arena arena;
    struct lks_bridge_runs_live {
        struct lks_bridge_run run;
        bool told; /* it ended, and is among the items */
    } * live;
    size_t live_count;
};
void lks_bridge_runs_fini(struct lks_bridge_runs *r);

/* A reading that is prepared: what it brings. All zero: none. */
struct lks_bridge_runs_news {
    lks_ms at, kept;
    struct lks_bridge_runs_item *items; /* that ended, owned; sorted */
    uint32_t count, room;
    struct lks_arena arena; /* of `live`, which replaces that of the runs */
    struct lks_bridge_runs_live *live;
    size_t live_count;
};
void lks_bridge_runs_news_fini(struct lks_bridge_runs_news *news);

/* Compare a reading with the last one. `r` is not changed, and may be shown meanwhile. */
enum lks_code lks_bridge_runs_prepare(const struct lks_bridge_runs *r,
                                      const struct lks_bridge_runs_reading *reading,
                                      struct lks_bridge_runs_news *out,
                                      struct lks_err *err) LKS_MUST_CHECK;

/* Take in what was prepared, which is left with what it replaces: that may be many texts. After a
 * failure, of either, the next reading has what this one would have brought. */
enum lks_code lks_bridge_runs_take(struct lks_bridge_runs *r, struct lks_bridge_runs_news *news,
                                   struct lks_err *err) LKS_MUST_CHECK;

/* What is asked for: runs after a position, at most `max`. */
struct lks_bridge_runs_ask {
    struct lks_bridge_runs_place after;
    uint32_t max;
};

/* From the parameters of a query; NULL: not given. */
enum lks_code lks_bridge_runs_ask_read(const char *after, const char *id, const char *max,
                                       struct lks_bridge_runs_ask *out,
                                       struct lks_err *err) LKS_MUST_CHECK;

/* The answer {"age", "from", "until", "more", "runs"}. `age` is that of the last reading. */
void lks_bridge_runs_json(const struct lks_bridge_runs *r, const struct lks_bridge_runs_ask *ask,
                          lks_ms age, struct lks_buf *out);

#endif
