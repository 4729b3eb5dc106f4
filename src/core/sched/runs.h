/*
 * Runs of jobs that ended, as the bridge of a site answers: those after a position, in order. The
 * position of a run is the time of its end by the scheduler's clock, and then the id of its job.
 *
 * An answer is whole or there is none, and its positions rise. A run of which something needed
 * cannot be read is left out and counted. Texts are printable: users choose some of them, and other
 * bytes become '?'.
 */
#ifndef LKS_CORE_SCHED_RUNS_H
#define LKS_CORE_SCHED_RUNS_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "base/time.h"
#include "model/record/record_words.h"

#define LKS_SCHED_RUNS_PAGE  500                /* runs that are asked for at once */
#define LKS_SCHED_RUNS_BYTES ((size_t)40 << 20) /* of the answer as JSON */
#define LKS_SCHED_RUNS_STALE (60 * LKS_SECOND)  /* an answer that was older when it came */
#define LKS_SCHED_RUNS_ID    63                 /* bytes of the id of a job */
#define LKS_SCHED_RUNS_TEXT  128                /* bytes of a name */

struct lks_sched_runs_place {
    lks_ms at;
    struct lks_str id; /* empty: all that ended before `at` */
};

/* Texts are in the arena of the list. */
struct lks_sched_run {
    struct lks_sched_runs_place place;
    struct lks_str name, user, account, partition;
    struct lks_str nodes;  /* a host list; empty: not known */
    struct lks_str reason; /* the scheduler's */
    struct lks_str down;   /* a node of it that was down; empty: none */
    lks_ms started, ended; /* the scheduler's clock */
    uint32_t gpus;         /* on all its nodes; 0: not known */
    uint32_t restarts;
    enum lks_run_state state;
    struct lks_str exit; /* "3:0": status and signal; empty: not known */
};

/* All zero is none. */
struct lks_sched_runs {
    lks_ms age;
    lks_ms from;  /* runs that ended before may be missing */
    lks_ms until; /* all that ended before are there */
    bool more;    /* there are others behind the last */
    struct lks_sched_run *items;
    uint32_t count, room;
    uint32_t unread;                  /* left out */
    struct lks_sched_runs_place last; /* of those that were read and left out; 0: none */
    struct lks_arena arena;
};
void lks_sched_runs_fini(struct lks_sched_runs *runs);

/* -1, 0, 1. */
int lks_sched_runs_compare(struct lks_sched_runs_place a, struct lks_sched_runs_place b);

/* Read the answer of a bridge about the runs behind `after`. LIMIT: too long; UNAVAILABLE: too old;
 * INVALID: malformed, or its places do not rise. */
enum lks_code lks_sched_runs_read(struct lks_str json, struct lks_sched_runs_place after,
                                  struct lks_sched_runs *out, struct lks_err *err) LKS_MUST_CHECK;

#endif
