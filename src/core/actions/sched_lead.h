/*
 * Which bridges have the epoch of this leader. A bridge refuses writes with a lower epoch than the
 * highest one that it has seen, so a leader gives its epoch to every bridge, also to those that it
 * does not write through: no leader of before can write through any of them then. All that is here
 * is in memory: a new leader has a new epoch.
 */
#ifndef LKS_CORE_SCHED_LEAD_H
#define LKS_CORE_SCHED_LEAD_H

#include "base/arena.h"
#include "base/err.h"
#include "base/intern.h"
#include "core/rows/now.h"

struct lks_event_sched_alarm;
struct lks_state;

#define LKS_SCHED_LEAD_MAX   256                /* bridges */
#define LKS_SCHED_LEAD_AGAIN (5 * LKS_SECOND)   /* until a silent bridge is told again */
#define LKS_SCHED_LEAD_ASKED (300 * LKS_SECOND) /* longer than a conversation lasts */

/* How long a bridge may give no answer before people are told: a host that boots is back by then.
 * A refusal does not pass by itself, and is told at once. */
#define LKS_SCHED_LEAD_SILENT (300 * LKS_SECOND)

struct lks_sched_lead_bridge {
    uint64_t epoch;       /* that it confirmed; 0: none */
    uint64_t told;        /* that it was told last: `failing_since` is about it */
    lks_ms due;           /* mono: it is not told before */
    bool failing;         /* the last time */
    bool refused;         /* the same, and that does not pass by itself */
    lks_ms failing_since; /* wall */
    char trouble[LKS_ERR_MSG_MAX];
};

/* All zero is the beginning. */
struct lks_sched_lead {
    struct lks_intern urls;
    struct lks_sched_lead_bridge *bridges; /* owned; by the id of the URL */
    uint32_t room;
};
void lks_sched_lead_fini(struct lks_sched_lead *l);

/* Whether the bridge is to be told the epoch now; it counts as asked then. Epoch 0 is that of a
 * store with one controller: no bridge need know it. */
bool lks_sched_lead_due(struct lks_sched_lead *l, struct lks_str url, uint64_t epoch, lks_ms mono);

/* The bridge confirmed the epoch (`why` is LKS_OK), or did not. Whether that is news: it failed and
 * did not before, or the other way round. */
bool lks_sched_lead_told(struct lks_sched_lead *l, struct lks_str url, uint64_t epoch,
                         const struct lks_err *why, struct lks_now now, uint64_t speed);

/* How far a bridge is with the epoch of this leader. */
enum lks_sched_lead_state {
    LKS_SCHED_LEAD_NONE,      /* there is none: the store has one controller */
    LKS_SCHED_LEAD_WAITING,   /* it was not told yet, or did not answer yet */
    LKS_SCHED_LEAD_CONFIRMED, /* no earlier leader can write through it */
    LKS_SCHED_LEAD_FAILING,   /* the last request failed */
    LKS_SCHED_LEAD_REFUSED,   /* the same, and will again */
    LKS_SCHED_LEAD_STATE_COUNT
};
extern const char *const lks_sched_lead_words[]; /* "none" ... "refused", NULL */
enum lks_sched_lead_state lks_sched_lead_state(const struct lks_sched_lead *l, struct lks_str url,
                                               uint64_t epoch);
/* NULL: nothing is known of it. */
const struct lks_sched_lead_bridge *lks_sched_lead_find(const struct lks_sched_lead *l,
                                                        struct lks_str url);

/* A bridge that is configured, "oslo=https://slurm1:7446", and its address alone. */
struct lks_sched_lead_named {
    struct lks_str name, url;
};

/* The alarm of one bridge of the list that refuses the epoch, or has not confirmed it for too long,
 * or the end of one: the bridge confirmed it, or is not in the list any more. One for each call,
 * until the state has them all (false). Texts are in `arena`, or views of the list and the state.
 */
bool lks_sched_lead_alarm(const struct lks_sched_lead *l, const struct lks_state *s,
                          const struct lks_sched_lead_named *list, size_t count, uint64_t epoch,
                          struct lks_now now, struct lks_arena *arena,
                          struct lks_event_sched_alarm *out);

#endif
