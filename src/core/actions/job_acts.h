/*
 * Acts on jobs that changes recorded, and that their schedulers are to be asked for: a signal, and
 * behind its grace a requeue (core/campaign/campaign_jobs.c).
 *
 * A request is sent once. Where its answer was lost, or it is open since before this controller
 * led, a later list of the site's jobs decides: the run that is meant started at a time, and if it
 * is not there any more, the act is over; else the request is sent again. So no job is requeued
 * twice. A signal leaves no trace in a scheduler, and may come twice if its answer was lost.
 */
#ifndef LKS_CORE_JOB_ACTS_H
#define LKS_CORE_JOB_ACTS_H

#include "base/err.h"
#include "base/time.h"
#include "core/rows/text.h"
#include "model/record/record_words.h"

struct lks_event_job;
struct lks_sched_job;
struct lks_sched_jobs;
struct lks_state;

#define LKS_JOB_ACTS_ASKED (300 * LKS_SECOND) /* longer than a request lasts that left */
#define LKS_JOB_ACTS_WHY   256                /* bytes of a refusal that is kept */

/* How long an act stays open that nothing repeats any more: a request that left has its answer by
 * then, and a list of the site's jobs came if one is to come. */
#define LKS_JOB_ACTS_OPEN (2 * LKS_JOB_ACTS_ASKED)
#define LKS_JOB_ACTS_LOOK (30 * LKS_SECOND) /* such acts are looked for so often */

/* Texts are views of the state. */
struct lks_job_due {
    uint64_t change;
    struct lks_str job, site, sched, node, signal;
    lks_text job_text, site_text;
    enum lks_job_act act;
    lks_ms started; /* the run that is meant */
    lks_ms asked;   /* when it was recorded */
};

/* The next act that is asked for and not answered, of changes that are running; `at` is zero before
 * the first. False: that was all. */
struct lks_job_acts_at {
    uint32_t change, job;
};
bool lks_job_acts_next(const struct lks_state *s, struct lks_job_acts_at *at,
                       struct lks_job_due *out);
/* The same of all changes, also of those that are paused, halted or over. */
bool lks_job_acts_open(const struct lks_state *s, struct lks_job_acts_at *at,
                       struct lks_job_due *out);
/* The one of that change, site and job; false: it is not open. */
bool lks_job_acts_find(const struct lks_state *s, uint64_t change, struct lks_str site,
                       struct lks_str job, enum lks_job_act act, struct lks_job_due *out);

/* Whether the change of the node requeues jobs. */
bool lks_job_acts_wanted(const struct lks_state *s, uint32_t node);

/* Whether the act on a job is open, and was not carried out for this reason before. */
bool lks_job_acts_deferred(const struct lks_state *s, uint64_t change, struct lks_str site,
                           struct lks_str job, struct lks_str why);

/* Whether the run that is meant is there: the job runs, and started then. */
bool lks_job_acts_meant(const struct lks_job_due *due, bool runs, lks_ms started);

/* Requests of this controller, in its memory. All zero is the beginning. */
struct lks_job_sent {
    uint64_t change;
    lks_text job, site;
    enum lks_job_act act;
    bool waits;                 /* for its answer; else its outcome is unknown, */
    lks_ms at;                  /* wall: since then */
    char why[LKS_JOB_ACTS_WHY]; /* it knows no such job or run; empty: it did not say so */
};
struct lks_job_book {
    struct lks_job_sent *sent; /* owned */
    uint32_t count, room;
    lks_ms look; /* mono: when acts that nothing repeats are looked for again */
};
void lks_job_acts_fini(struct lks_job_book *b);

/* What follows for an act from a list of the site's jobs. SEND counts as sent. `fresh`: the act was
 * recorded by this controller, in this turn. */
enum lks_job_does {
    LKS_JOB_WAIT, /* for an answer, or for a later list */
    LKS_JOB_SEND,
    LKS_JOB_OVER,   /* the run that is meant is not there any more */
    LKS_JOB_DENIED, /* the scheduler lists the run, and knows no such job: lks_job_acts_why() */
};
enum lks_job_does lks_job_acts_does(struct lks_job_book *b, const struct lks_job_due *due,
                                    const struct lks_sched_jobs *jobs, bool fresh, lks_ms wall);

/* A request that waited for its turn leaves now. */
void lks_job_acts_leaves(struct lks_job_book *b, const struct lks_job_due *due, lks_ms wall);

/* A request ended; `unknown`: it may have been carried out, or not. */
void lks_job_acts_ended(struct lks_job_book *b, const struct lks_job_due *due, bool unknown,
                        lks_ms wall);

/* Whether the act was recorded long ago and no answer to a request is awaited. */
bool lks_job_acts_old(const struct lks_job_book *b, const struct lks_job_due *due, lks_ms wall);

/* Forget requests whose acts are not open any more. */
void lks_job_acts_sweep(struct lks_job_book *b, const struct lks_state *s);

/* The scheduler knows no such job or run, and did nothing. A later list decides: the run ended, or
 * the scheduler refuses the job by this id, and would do so each time. */
void lks_job_acts_missing(struct lks_job_book *b, const struct lks_job_due *due, const char *why,
                          lks_ms wall);
const char *lks_job_acts_why(const struct lks_job_book *b, const struct lks_job_due *due);

/* Jobs of a node for an event: at most `max` of those that run, on nodes that are known. A
 * heterogeneous job is one, whichever of its components run there. Texts are views of the list. */
size_t lks_job_acts_on(const struct lks_sched_jobs *jobs, struct lks_str node,
                       struct lks_event_job *out, size_t max);

#endif
