/* Events about nodes: requests of people, reports of agents and endpoints, the fleet's manifest,
 * enrolment, commands, conditions. */
#ifndef LKS_CORE_EVENT_NODE_H
#define LKS_CORE_EVENT_NODE_H

#include "base/str.h"
#include "base/time.h"
#include "core/sched/runs.h"
#include "model/record/record_words.h"

#include <stdbool.h>

/* Numbers of nodes and GPUs that a call outside a change affects; its answer has them. */
struct lks_touched {
    uint64_t nodes, gpus;
};

struct lks_event_started {
    struct lks_str version, host;
};

struct lks_event_clock {
    uint64_t forward, back; /* by how many ms the wall clock jumped */
};

struct lks_event_lead {
    uint64_t epoch;
    struct lks_str name, url;
};

struct lks_event_tuple {
    const struct lks_tuple *tuple;
    struct lks_str report; /* digest of its bytes, which are a blob of the same batch */
};

struct lks_event_token {
    struct lks_str hash;
    lks_ms expires;
};

/* The certificate exists already; the caller gets it only if the event is accepted. */
struct lks_event_certificate {
    struct lks_str token_hash; /* ENROLL */
    struct lks_str fingerprint, serial;
    struct lks_str shown; /* RENEW: fingerprint of the certificate that the agent presents */
    lks_ms expires;
};

struct lks_event_fleet {
    const struct lks_manifest *manifest;
    struct lks_manifest *give; /* the same, if the engine may keep it; else NULL */
    struct lks_str digest;     /* of its bytes, a blob of the same batch */
    bool accept;               /* new nodes are accepted at once, without intake */
    bool dry;                  /* a dry run: no records, so no confirmation is needed */
    struct lks_touched said;   /* the numbers that the caller confirms; 0: not confirmed */
};

struct lks_event_release {
    bool force; /* RELEASE: even if it does not conform; recorded */
};

struct lks_event_command {
    struct lks_str executor, digests;
    lks_ms expires;
};

struct lks_event_result {
    uint64_t id;
    enum lks_outcome outcome;
    struct lks_str text;
};

struct lks_event_outband {
    const struct lks_tuple *tuple; /* NULL: the last reading is no longer valid, for `reason` */
    struct lks_str report;
};

struct lks_event_condition {
    enum lks_condition condition;
    bool on;
    lks_ms until;
    struct lks_str stack, text;
};

#define LKS_CHECK_TEXT_MAX 512
struct lks_event_check {
    bool passed;
    struct lks_str text; /* failed: the check's first line, or what became of it */
};

struct lks_event_deviate {
    struct lks_str subject, value, owner, approver;
    lks_ms expires;
};

struct lks_event_set {
    struct lks_str column, value; /* an empty value clears the column */
};

struct lks_event_sched {
    bool unknown; /* the scheduler did not answer: `text` says why, `since` when that began */
    bool partial; /* another scheduler of the node gave no answer that counts: no silence ended */
    bool old;     /* unknown: for too long to start work on the node, as `since` says */
    bool refused; /* unknown: and will not before a person does something about it */
    bool drained; /* the scheduler starts no job on it, and none runs */
    bool missing; /* it has no such node */
    bool foreign; /* it is drained, and not by lockstep */
    bool lost;    /* our drain was there at the answer before this one, and is not any more */
    lks_ms since; /* wall */
    uint32_t jobs;
    struct lks_str owner, text;
    struct lks_str sched; /* that `text` is about, where the pool has several; else empty */
};

/* Jobs that a scheduler lists on a node that drains. */
struct lks_event_job {
    struct lks_str id, user;
    lks_ms started;
    bool requeue; /* the scheduler may start it again */
};
struct lks_event_sched_jobs {
    const struct lks_event_job *list;
    size_t count;
    struct lks_str sched; /* that lists them; empty: the only one of the pool */
};

/* Of a scheduler or its bridge as a whole, not of one node. */
struct lks_event_sched_alarm {
    enum lks_alarm_kind kind;
    bool over; /* `text` says why; else what is wrong */
    struct lks_str subject, text;
};

/* A slot of a pool for a stack that has none (core/actions/sched_truth.h). */
struct lks_event_sched_slot {
    uint32_t pool, slot;
    struct lks_str digest;
};

/* Runs of jobs that ended, as the scheduler of a site answered about those behind `after`. */
struct lks_event_runs {
    struct lks_str site, sched;
    struct lks_sched_runs_place after;
    const struct lks_sched_runs *runs;
};

/* What became of an act on a job that was recorded as asked for. */
struct lks_event_job_acted {
    uint64_t change;
    struct lks_str job, site;
    enum lks_job_act act;
    bool refused; /* by the scheduler, for `text`; else it is done, or */
    bool later;   /* REQUEUE: not now, for `text`; it is asked for again */
    struct lks_str text;
};

struct lks_event_advertised {
    struct lks_str gres, state; /* both empty: nothing, or the node has no scheduler any more */
};

#endif
