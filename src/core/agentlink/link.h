/*
 * The agent's side of the conversation with the controller, pure: what to do next and when.
 *
 * One value, three questions: lks_link_next() says what is due; lks_link_done() and
 * lks_link_failed() say what came of it. Reports (tuples, results of commands) wait in a spool and
 * leave in the order they were made, one at a time, each until it was acknowledged. While the
 * controller is away, tries are spread with jitter and back off up to a ceiling, so that ten
 * thousand agents do not return as one. For heartbeats the ceiling is low: a controller that is
 * back has to hear of its fleet before it takes it to be late.
 */
#ifndef LKS_CORE_LINK_H
#define LKS_CORE_LINK_H

#include "base/rng.h"
#include "base/time.h"

#include <stdbool.h>
#include <stdint.h>

#define LKS_LINK_FLOOR       LKS_SECOND /* the least wait after a failure */
#define LKS_LINK_BACKOFF_MAX (60 * LKS_SECOND)
#define LKS_LINK_BEATS_MAX   2 /* the same in heartbeats, for heartbeats and enrolment */

enum lks_link_act {
    LKS_LINK_WAIT, /* until `at` */
    LKS_LINK_ENROLL,
    LKS_LINK_BEAT,
    LKS_LINK_PUSH,  /* the oldest report of the spool */
    LKS_LINK_FETCH, /* commands that wait */
    LKS_LINK_RENEW,
};

/* `renew_at`, `mail` and `spooled` are the agent's to set: when an answer said so, when a report
 * was written to the spool. */
struct lks_link {
    lks_ms heartbeat; /* how often */
    lks_ms next_beat;
    lks_ms not_before;      /* after a failure, for anything */
    lks_ms work_after;      /* the same for what is no heartbeat: those go on meanwhile */
    lks_ms renew_at;        /* when to ask for the next certificate; 0: not */
    unsigned failures;      /* of heartbeats or enrolment, in a row */
    unsigned work_failures; /* of all else */
    bool enrolled;
    bool mail;        /* the last answer said so */
    uint64_t seq;     /* of the last heartbeat that was tried; the one to send is one more */
    uint32_t spooled; /* reports that wait */
};

/* The first heartbeat comes within one interval, at a moment of its own. */
void lks_link_init(struct lks_link *link, lks_ms now, lks_ms heartbeat, bool enrolled,
                   struct lks_rng *rng);

/* What is due: order among several is enrol, beat, renew, push, fetch. `at` is when to ask again,
 * UINT64_MAX for never. While heartbeats fail, nothing else is due. */
enum lks_link_act lks_link_next(const struct lks_link *link, lks_ms now, lks_ms *at);

void lks_link_done(struct lks_link *link, lks_ms now, enum lks_link_act act, struct lks_rng *rng);

/* `refused`: the controller answered and said no; trying again soon is pointless but harmless. */
void lks_link_failed(struct lks_link *link, lks_ms now, enum lks_link_act act, bool refused,
                     struct lks_rng *rng);

/* The controller wants heartbeats so often from now on: the next one comes within one interval of
 * the new length, at a moment of its own, since agents that were close together would stay so. */
void lks_link_pace(struct lks_link *link, lks_ms now, lks_ms heartbeat, struct lks_rng *rng);

/* Renew when two thirds of a certificate's life are over, spread over a tenth of it. */
lks_ms lks_link_renew_at(lks_ms from, lks_ms until, struct lks_rng *rng);

#endif
