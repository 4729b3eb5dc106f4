/*
 * The jobs on nodes of a fleet, as lockstepd tells them (GET /v1/schedulers/jobs), and how long
 * they run in a rehearsal.
 *
 * An end is a limit: half of all jobs run until it, and the others end at a time that is even
 * between their start and it. Of a job that runs already, what it ran so far is taken into account.
 * A job without an end runs about as long again as it ran. All of it by the seed alone.
 */
#ifndef LKS_REHEARSE_LISTED_H
#define LKS_REHEARSE_LISTED_H

#include "base/arena.h"
#include "base/rng.h"
#include "base/time.h"
#include "codec/notation/hostlist.h"

#define LKS_LISTED_STALE ((lks_ms)3600 * LKS_SECOND) /* a list that is older is not used */
#define LKS_LISTED_SITES 256
#define LKS_LISTED_JOBS  ((uint32_t)200000)

struct lks_listed_job {
    struct lks_str id, user;
    uint32_t site;             /* place in `sites` */
    struct lks_hostlist hosts; /* of the fleet */
    uint32_t of;               /* nodes it has, with those of other fleets */
    uint32_t gpus;             /* on all of them; UINT32_MAX: not known */
    lks_ms ran;                /* since it started; 0: not known, too */
    lks_ms left;               /* until its end at the latest; UINT64_MAX: it has none */
    bool requeue;              /* its scheduler may start it again */
    bool unplaced;             /* its nodes cannot be read: it counts on each node of its site */
};

/* A site of a scheduler. */
struct lks_listed_site {
    struct lks_str site, sched;
    struct lks_str missing;    /* why its list is not used; empty: it is */
    struct lks_hostlist hosts; /* of the fleet */
    lks_ms age;                /* of the list; UINT64_MAX: there is none */
    uint32_t jobs;
};

/* All zero is none. Texts and lists are in `memory`. */
struct lks_listed {
    struct lks_arena memory;
    struct lks_listed_site *sites; /* owned */
    uint32_t site_count, site_room;
    struct lks_listed_job *jobs; /* owned; none of sites whose list is not used */
    uint32_t job_count, job_room;
    bool awaited; /* a list that was asked for may come yet */
};
void lks_listed_fini(struct lks_listed *l);

/* INVALID: it is malformed or cut off. */
enum lks_code lks_listed_read(struct lks_str text, struct lks_listed *out,
                              struct lks_err *err) LKS_MUST_CHECK;

/* How long a job that was listed goes on; `limit`: how long a run of it may take in all. */
lks_ms lks_listed_left(const struct lks_listed_job *job, struct lks_rng *rng, lks_ms *limit);

/* How long a run with this limit takes from its start. */
lks_ms lks_listed_run(lks_ms limit, struct lks_rng *rng);

/* One of many such runs, each behind the one before, is met at a time that is drawn: how long it
 * ran, and how long it goes on. */
void lks_listed_met(lks_ms limit, struct lks_rng *rng, lks_ms *ran, lks_ms *left);

#endif
