/* The next request to a pool's scheduler about a node, and the meaning of its answer. The
 * conversation with it is in port/sched.h. */
#ifndef LKS_CORE_SCHED_H
#define LKS_CORE_SCHED_H

#include "base/err.h"
#include "base/time.h"

struct lks_event;
struct lks_facts;
struct lks_state;

#define LKS_SCHED_OWNER_MAX  127
#define LKS_SCHED_REASON_MAX 255

enum lks_sched_verb { LKS_SCHED_DRAIN, LKS_SCHED_LOOK, LKS_SCHED_RELEASE, LKS_SCHED_VERB_COUNT };
extern const char *const lks_sched_verb_words[]; /* "drain", "look", "release", NULL */

/* Texts are copied by begin(). */
struct lks_sched_wish {
    enum lks_sched_verb verb;
    struct lks_str node;   /* as the scheduler calls it */
    struct lks_str owner;  /* "change:17" */
    struct lks_str reason; /* DRAIN: for people who look there */
    bool checkpoint;       /* DRAIN: a job that writes checkpoints may be stopped behind the next */
    uint64_t revision;     /* answers from before it are stale; 0: none was seen */
    uint64_t epoch;        /* of the leader that asks: older ones cannot write any more */
    lks_ms deadline;       /* wall */
};

/* What it says of a node. */
struct lks_sched_said {
    bool known;        /* it has such a node */
    bool closed;       /* the node takes no new work, for any reason */
    bool lockstep;     /* a drain that lockstep made, for whichever change */
    bool ours;         /* a drain of the wish's owner */
    bool rotation;     /* a service still sends requests there */
    bool down;         /* it cannot run anything, drained or not */
    uint32_t jobs;     /* that run there */
    uint32_t requests; /* of services, that are not answered yet */
    uint64_t revision;
    lks_ms since;                        /* closed: its clock; 0: it does not tell */
    lks_ms ends;                         /* jobs: the last may run until then; 0: unknown */
    char owner[LKS_SCHED_OWNER_MAX + 1]; /* closed: of whom; ours without the driver's mark */
    char text[LKS_SCHED_REASON_MAX + 1]; /* one line for people: what is waited for */
};

/* It takes no new work and nothing runs there any more. */
bool lks_sched_drained(const struct lks_sched_said *said);

/* For the code that runs the conversations: what the scheduler is to be asked next about the node,
 * so that its drains become those of the state. `last` is what it said last, NULL: nothing since
 * the start. Texts are views of the state and of `last`; the deadline is the caller's. False: it
 * need not be asked: there is no scheduler that can be, or it has what it should. */
bool lks_sched_next(const struct lks_state *s, const struct lks_facts *facts, uint32_t node,
                    const struct lks_sched_said *last, struct lks_sched_wish *out);

/* The event that carries what was said to the engine. Each answer about a node that is drained is
 * handed on, news or not: one that came before anybody waited for it has to come again. Texts are
 * views of `said`. */
void lks_sched_event(uint32_t node, const struct lks_sched_said *said, struct lks_event *out);

#endif
