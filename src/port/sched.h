/*
 * A scheduler, as the engine sees it: something that can be asked to give a node no new work, to
 * say what still runs there, and to use it again. Each is a conversation (port/conversation.h); a
 * driver speaks one scheduler's protocol.
 *
 *     DRAIN    no new work, and services send their requests elsewhere. What runs goes on to its
 *              end. Harmless to repeat. Where somebody else drained the node already it is not
 *              refused and not taken over: it ends well and says whose it is.
 *     LOOK     nothing is changed.
 *     RELEASE  new work again, where the drain is ours; a node that is not drained is released
 *              already. A drain of somebody else is refused: only its owner ends it.
 *
 * All end with what the scheduler said last, read again after whatever was changed: neither an
 * accepted request nor a lost answer says what became of it. So a value needs no save(): after a
 * restart it is begun again, and looks first. Values hold no pointers.
 *
 * A scheduler tells nobody when the last job ends, and may forget a drain when it restarts. So
 * whoever runs this asks again while it matters; lks_sched_next() says what.
 */
#ifndef LKS_PORT_SCHED_H
#define LKS_PORT_SCHED_H

#include "core/decide.h"
#include "port/conversation.h"

#define LKS_SCHED_NODE_MAX   253
#define LKS_SCHED_OWNER_MAX  127
#define LKS_SCHED_REASON_MAX 255
#define LKS_SCHED_JOBS_MAX   1000000            /* of a node; beyond it an answer is no good */
#define LKS_SCHED_STALE      (60 * LKS_SECOND)  /* an answer older than this says nothing */
#define LKS_SCHED_PATIENCE   (10 * LKS_SECOND)  /* for one answer */
#define LKS_SCHED_DEADLINE   (120 * LKS_SECOND) /* for a conversation, where nothing else is said */
#define LKS_SCHED_TURNS_MAX  4                  /* others were faster: it is begun anew so often */

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
    lks_ms deadline;       /* wall */
};

/* What it says of a node. */
struct lks_sched_said {
    bool known;        /* it has such a node */
    bool closed;       /* it takes no new work, whoever wanted that */
    bool lockstep;     /* a drain that lockstep made, for whichever change */
    bool ours;         /* a drain of the wish's owner */
    bool rotation;     /* a service still sends requests there */
    uint32_t jobs;     /* that run there */
    uint32_t requests; /* of services, that are not answered yet */
    uint64_t revision;
    lks_ms since;                        /* closed: its clock; 0: it does not tell */
    char owner[LKS_SCHED_OWNER_MAX + 1]; /* closed: of whom; ours without the driver's mark */
    char text[LKS_SCHED_REASON_MAX + 1]; /* one line for people: what is waited for */
};

/* It takes no new work and nothing runs there any more. */
bool lks_sched_drained(const struct lks_sched_said *said);

struct lks_sched_driver {
    const char *name; /* the word of a pool's `sched` */
    const struct lks_conversation_ops *talk;
    /* INVALID for what no scheduler could be asked. */
    enum lks_code (*begin)(void *value, const struct lks_sched_wish *wish, struct lks_err *err);
    /* What was said last. Only a conversation that ended well says what is so now. */
    void (*said)(const void *value, struct lks_sched_said *out);
};

extern const struct lks_sched_driver lks_sched_simulated; /* drivers/sched_simulated.c */

/* The driver by the word of a pool's `sched`; NULL: there is none. In drivers/sched_drivers.c. */
const struct lks_sched_driver *lks_sched_driver(struct lks_str sched);

/* For drivers: whether a wish is one that can be asked for. */
enum lks_code lks_sched_check(const struct lks_sched_wish *wish,
                              struct lks_err *err) LKS_MUST_CHECK;

/* For whoever runs the conversations: what the scheduler is to be asked next about the node, so
 * that its drains become those of the state. `last` is what it said last, NULL: nothing since the
 * start. Texts are views of the state and of `last`; the deadline is the caller's. False: it need
 * not be asked: there is no scheduler that can be, or it has what it should. */
bool lks_sched_next(const struct lks_state *s, const struct lks_facts *facts, uint32_t node,
                    const struct lks_sched_said *last, struct lks_sched_wish *out);

/* The event that carries what was said to the engine. Each answer about a node that is drained is
 * handed on, news or not: one that came before anybody waited for it has to come again. Texts are
 * views of `said`. */
void lks_sched_event(uint32_t node, const struct lks_sched_said *said, struct lks_event *out);

#endif
