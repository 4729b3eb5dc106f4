/*
 * A change as the state keeps it: its plan, and how far it is.
 *
 * A plan has waves, one after the other. A wave has units: a domain whose members change together,
 * or one node alone. A member goes by a recipe, the list of steps for nodes of its kind. All of it
 * is the fold of records (CHANGE, PLAN_*, WAVE, MEMBER ...); core/fold/apply_change.c makes them
 * true and keeps the counts, core/rules/decide_change.c answers people, core/campaign/campaign.h
 * moves members and waves.
 *
 * What a step does in the world is a record, too: a COMMAND to the node's agent, a FLASH by its
 * endpoint, DRAINED for its scheduler. So a restart finds everything where it was.
 */
#ifndef LKS_ROWS_CHANGE_H
#define LKS_ROWS_CHANGE_H

#include "base/time.h"
#include "core/rows/text.h"
#include "model/record/record_words.h"

#include <stdbool.h>
#include <stddef.h>

#define LKS_STATE_CHANGES_MAX 256     /* at this many, the oldest ones that are over make room */
#define LKS_STATE_MEMBERS_MAX 1000000 /* of all that are over, together: the same */
#define LKS_CHANGE_RECIPES    4096
#define LKS_CHANGE_STEPS      256 /* of a recipe */
#define LKS_CHANGE_WAVES      4096
#define LKS_CHANGE_NOTES      1000
#define LKS_CHANGE_ORDERS     10000
#define LKS_CHANGE_ORDER_MAX  ((size_t)256 * 1024) /* bytes of one */
#define LKS_CHANGE_VOTES      32
#define LKS_STATE_PROVEN_MAX  10000
#define LKS_CHANGE_METRICS    64
#define LKS_CHANGE_GATES      20000   /* one a pool */
#define LKS_CHANGE_MEASURES   1000000 /* behind these nothing else is kept */
#define LKS_CHANGE_LOOKS      100000
#define LKS_CHANGE_JOBS       100000 /* at so many, jobs are waited for */
#define LKS_NO_MEMBER         UINT32_MAX

struct lks_step {
    enum lks_step_kind kind;
    uint32_t rank, layer, retries;
    lks_text component, version, before, executor, order, order_back, artifacts, artifacts_back,
        bundle, image, bundle_back, image_back;
    enum lks_bmc_act revert;
    bool one_way;
    lks_ms limit;
    enum lks_drain_jobs jobs; /* LEAVE; with REQUEUE: */
    lks_text signal;
    lks_ms grace;
    lks_text missing; /* one_way for this alone: files that no verified bundle of the depot had */
};

struct lks_recipe {
    struct lks_step *steps; /* owned, as are all arrays here */
    uint32_t count, room;
};

struct lks_wave {
    enum lks_wave_kind kind;
    enum lks_wave_state state;
    lks_text pool, controls, text, width_text;
    uint32_t width, failures_max;
    lks_ms soak, until;
    lks_ms since;                   /* of `state` */
    uint32_t first_unit, last_unit; /* place + 1; 0: none. Chained by lks_unit.next */
    uint32_t next; /* the same: no unit before it has a member that is PENDING; 0: none has */
    uint32_t members[LKS_MEMBER_STATE_COUNT]; /* how many are in each state */
    uint32_t busy;                            /* units that are begun and not yet over */
    uint32_t failed; /* members that ended other than DONE or SKIPPED, by a failure */
    uint32_t hard;   /* of these, by one of which one is enough to halt it */
    uint32_t limit;  /* units that may have begun, by the evidence so far; 0: all */
    lks_text limit_text;
};

struct lks_unit {
    lks_text domain; /* 0: one node alone */
    uint32_t wave;
    uint32_t first, count; /* its members are next to each other */
    uint32_t next;         /* of its wave: place + 1; 0: the last */
    uint32_t over;         /* members that are */
    uint32_t active;       /* members that are neither over nor PENDING */
    bool begun;
};

/* As `reached`: it failed in its rollback, so any of its steps may still be in effect. */
#define LKS_STEPS_UNKNOWN UINT32_MAX

struct lks_member {
    uint32_t node, unit;
    uint32_t recipe;
    lks_text from; /* digest of the stack it comes from */
    bool proves;
    enum lks_member_state state;
    uint32_t step, pass, attempt;
    uint32_t reached; /* steps, from the first, that were or may be done before it drained again */
    bool back;
    lks_ms until, since; /* since it is in this state at this step */
    lks_ms begun;        /* 0: not yet */
    lks_ms turned;       /* when `back` last began to be true; 0: never since it began */
    uint64_t work;
    enum lks_failure failure;
    lks_text text;
};

struct lks_vote {
    bool yes;
    lks_text by, reason;
    lks_text credential;  /* by which it was given; 0: a record of before does not say */
    lks_text minters;     /* people behind that: core/governance/backing.h */
    lks_text ticket, who; /* that it came by, and what that calls them; 0: they said so here */
    lks_ms at;
};

struct lks_change_note {
    enum lks_plan_note kind;
    lks_text text;
};

struct lks_change_order {
    lks_text digest, text;
};

/* What a gate measures, as it was planned; core/gate/gate.h. */
struct lks_plan_metric {
    lks_text name, pools, query;
    enum lks_metric_kind kind;
    enum lks_metric_better better;
    enum lks_metric_unit unit;
    enum lks_metric_source source;
    bool critical;
    double margin, alpha, sigma; /* percent, chance, percent; 0: not said */
    double normal;               /* RATE: events of a node in an hour; 0: not known */
};

/* What else the gates ask of nodes of one pool. */
struct lks_pool_gate {
    lks_text pool, reference_load;
    uint64_t min_load; /* GPU-seconds of each changed node */
    lks_ms min_soak, max_soak;
    uint32_t loss_budget; /* 0: rings are as planned */
};

/* What was last measured of a node by one metric, for the gate behind one wave. */
struct lks_measure {
    uint32_t node, wave;
    lks_text metric;
    uint32_t next; /* of the node: place + 1; 0: the last */
    bool has_before, has_after;
    double before, after;
    uint64_t samples, load, events, exposure;
    lks_ms from, until;
    lks_ms at; /* when it was recorded */
};

/* What a gate last said of a wave by one metric. */
struct lks_gate_look {
    uint32_t wave;
    lks_text metric; /* 0: by all */
    uint32_t look;
    enum lks_gate_verdict verdict;
    lks_text text;
    lks_ms at;
};

/* What the change did to a job last. A row stays: no job is touched again by the same change. */
struct lks_job_acted {
    lks_text job, site, sched, node, user, signal;
    enum lks_job_act act;
    enum lks_job_state state;
    lks_ms started;
    lks_ms until;
    lks_text text;
    lks_ms at;
};

/* core/rows/change_index.h */
struct lks_change_index {
    uint32_t *units; /* owned, as is the other; of domains, by wave and domain: place + 1 */
    uint32_t room, count;
    lks_text *froms; /* that members come from, each once, rising */
    uint32_t from_count, from_room;
};

/* A gate, or a metric, that is not asked for a while, by an approver's word. In the order in which
 * they were said: of those about a node the last counts. */
#define LKS_CHANGE_WAIVERS 32
struct lks_waiver {
    lks_text gate, by, reason;
    lks_text pool; /* 0: wherever `by` may approve */
    lks_ms at, until;
};

/* It began before those who have to had approved it. */
struct lks_glass {
    lks_ms at, until; /* 0: it did not; until: it is to be reviewed by then */
    lks_text by, reason, minters;
    lks_ms reviewed; /* 0: not yet */
    lks_text reviewed_by, reviewed_reason;
};

/* What a rehearsal came to: low, middle and high, as the record says. */
struct lks_change_forecast {
    uint64_t runs; /* 0: there was none */
    lks_ms took[3];
    uint64_t gpu_hours[3];
    uint64_t kept, reached;
    lks_ms at;
    lks_text by;
};

struct lks_state_change {
    uint64_t id;
    enum lks_change_kind kind;
    enum lks_change_state state;
    lks_text hosts, stack, name, windows, by, reason;
    lks_text minters;         /* people behind the credential of `by`: core/governance/backing.h */
    lks_text class, advisory; /* class of change; the vulnerability it is to close */
    uint32_t quorum;          /* people who have to approve it, for each pool */
    lks_ms expires, approval_age, review_age;
    bool needs_standby;
    lks_text standby; /* who stands by on site */
    struct lks_glass glass;
    struct lks_waiver waivers[LKS_CHANGE_WAIVERS];
    uint32_t waiver_count;
    uint32_t failures_max;
    bool rolls_back, one_way;
    lks_ms not_before, not_after;
    lks_ms proposed, started, moved; /* `moved`: when `state` began */
    lks_text moved_by, moved_reason;
    lks_text started_by; /* 0: not yet, or by a version that did not record it */
    struct lks_vote votes[LKS_CHANGE_VOTES];
    uint32_t vote_count;
    struct lks_recipe *recipes;
    uint32_t recipe_count, recipe_room;
    struct lks_wave *waves;
    uint32_t wave_count, wave_room;
    struct lks_unit *units;
    uint32_t unit_count, unit_room;
    struct lks_member *members;
    uint32_t member_count, member_room;
    uint32_t *places; /* by node: its member + 1; 0: it is not in it */
    uint32_t place_room;
    struct lks_change_note *notes;
    uint32_t note_count, note_room;
    struct lks_change_order *orders; /* sorted by digest */
    uint32_t order_count, order_room;
    struct lks_plan_metric *metrics;
    uint32_t metric_count, metric_room;
    struct lks_pool_gate *gates;
    uint32_t gate_count, gate_room;
    struct lks_measure *measures; /* in the order they first came */
    uint32_t measure_count, measure_room;
    uint32_t *measured; /* by node: the first of its measures: place + 1; 0: none */
    uint32_t measured_room;
    struct lks_gate_look *looks; /* in the order they first came */
    uint32_t look_count, look_room;
    struct lks_job_acted *jobs; /* in the order in which they were first touched */
    uint32_t job_count, job_room;
    struct lks_change_index index;
    uint32_t states[LKS_MEMBER_STATE_COUNT]; /* of all members */
    uint32_t failed;
    uint32_t queued; /* lks_member_queued() */
    struct lks_change_forecast forecast;
    /* Of this moment: when it was last looked at and nothing was to do (mono); 0: look now. */
    lks_ms looked;
};

struct lks_proven {
    lks_text class, from, to, node;
    uint64_t change;
    lks_ms took, at;
};

static inline bool lks_change_over(const struct lks_state_change *c)
{
    return c->state >= LKS_CHANGE_OVER;
}

/* No member of it starts any more. */
static inline bool lks_change_late(const struct lks_state_change *c, lks_ms wall)
{
    return c->not_after != 0 && wall >= c->not_after;
}

/* How many are left then, and what can be done about them: no member is dropped unseen. */
#define LKS_CHANGE_LATE_TEXT                                                                       \
    "%s did not start: propose a change for them, then abort this one, which keeps what is done"

static inline bool lks_member_over(const struct lks_member *m)
{
    return m->state >= LKS_MEMBER_OVER;
}

/* A person wants it tried again, and there was no room in its wave yet. */
static inline bool lks_member_queued(const struct lks_member *m)
{
    return lks_member_over(m) && m->state != LKS_MEMBER_DONE && m->state != LKS_MEMBER_SKIPPED &&
           m->until != 0;
}

/* In its rollback for good, not to exercise it; or it was. */
static inline bool lks_member_returns(const struct lks_member *m)
{
    return m->back && m->pass != 1;
}

static inline const struct lks_step *lks_member_step(const struct lks_state_change *c,
                                                     const struct lks_member *m)
{
    const struct lks_recipe *r = &c->recipes[m->recipe];
    return m->step < r->count ? &r->steps[m->step] : NULL;
}

/* What a person froze. */
struct lks_freeze {
    bool on;
    lks_text pool; /* its name; 0: the whole fleet */
    lks_text by, reason;
    lks_ms since;
};

#endif
