/* How a decision is written down: for the rules of events and for campaigns. */
#ifndef LKS_CORE_DECISION_H
#define LKS_CORE_DECISION_H

#include "codec/notation/hostlist.h"
#include "core/decision/event.h"
#include "core/governance/backing.h"

struct lks_heap;

struct lks_deciding {
    const struct lks_state *state;
    const struct lks_book *book;
    struct lks_now now;
    const struct lks_event *event;
    struct lks_decision *out;
    uint64_t next_alarm, next_command, next_flash;
    struct lks_deciding_turns *turns; /* by pool, made when the first node turns */
    struct lks_record scratch;        /* filled in where there is no memory for another */
};

/* Append a record, to be filled in by the caller; never NULL: after a failure it is scratch. */
struct lks_record *lks_decision_add(struct lks_deciding *d, enum lks_record_kind kind);

/* The row of the journal that the first record of this kind and owner in the decision will have,
 * among them the one that was added last; a hold has no owner. Nodes that drain by one decision
 * name one row, since a scheduler takes only those with the same text as one request. */
uint64_t lks_decision_row(const struct lks_deciding *d, struct lks_str owner);

/* A text that lives as long as the decision. */
struct lks_str lks_decision_text(struct lks_deciding *d, const char *fmt, ...) LKS_PRINTF(2, 3);
struct lks_str lks_decision_copy(struct lks_deciding *d, struct lks_str text);

/* The answer is no; the records listed so far are dropped. */
void lks_decision_refuse(struct lks_deciding *d, enum lks_code code, const char *fmt, ...)
    LKS_PRINTF(3, 4);

/* Raise an alarm, unless one of its kind and subject is open; the id of whichever it is. */
uint64_t lks_decision_alarm(struct lks_deciding *d, enum lks_alarm_kind kind,
                            struct lks_str subject, struct lks_str text);

/* What it says is no longer so: the open alarm of that kind and subject is released, if there is
 * one. */
void lks_decision_alarm_over(struct lks_deciding *d, enum lks_alarm_kind kind,
                             struct lks_str subject, struct lks_str reason);

/* In decision_asked.c, for what a person asks for. The reason is there, is one line and not too
 * long; else it is refused. */
bool lks_decision_reason(struct lks_deciding *d);

/* The same where a reason may be left out: false only if it is given and refused. */
bool lks_decision_reason_fits(struct lks_deciding *d);

/* The same for another text that a person or a program has to give; `what` is how messages call
 * it. */
bool lks_decision_line(struct lks_deciding *d, const char *what, struct lks_str text, size_t max);

/* It is a digest as we write them; else it is refused. And: of `count` things, of which `max` are
 * the most, there may be one more. */
bool lks_decision_digest(struct lks_deciding *d, const char *what, struct lks_str digest);
bool lks_decision_space(struct lks_deciding *d, const char *what, uint32_t count, unsigned max);

/* The people behind what is asked, for as long as the decision lives; and whether none of them is
 * behind `other`. Else it is refused: `what` names the act, such as "approve change 7". */
struct lks_backing lks_decision_backing(struct lks_deciding *d);
bool lks_decision_apart(struct lks_deciding *d, struct lks_backing other, struct lks_str what);

/* The node that the event names; false, and refused, where there is none. */
bool lks_decision_node(struct lks_deciding *d, uint32_t *node);

/* There is no node of that name: refused, with the name that may have been meant. */
void lks_decision_no_node(struct lks_deciding *d, struct lks_str name);

/* The pool of that name; false: there is none, and it is refused. */
bool lks_decision_pool(struct lks_deciding *d, struct lks_str name, uint32_t *out);

/* A host list that lives as long as the decision; false where it would be longer than such a list
 * may be, or memory ran out. */
bool lks_decision_fold(struct lks_deciding *d, const struct lks_str *names, size_t count,
                       struct lks_str *out);

/* `node` turns for the worse ("late", "drift") by this decision, for the first time: the MASS
 * rule. */
void lks_decision_turn(struct lks_deciding *d, uint32_t node, const char *what);

/* The call reaches this node: it counts, an asset only by being one. */
void lks_decision_touch(struct lks_deciding *d, uint32_t node);

/* Whether a slice of a tick has room; where it has none, another tick is due at once. */
static inline bool lks_deciding_room(struct lks_deciding *d)
{
    bool room = d->out->count < LKS_DECISION_SLICE;
    d->out->more = d->out->more || !room;
    return room;
}

/* Look at each node whose time in `h` came, `most` of them; false: there are
 * more, for another tick. */
bool lks_decision_due(struct lks_deciding *d, const struct lks_heap *h, lks_ms until, size_t most,
                      void (*look)(struct lks_deciding *d, uint32_t node));

/* In decision_asked.c. The event's host list, each name once, all of them in the fleet; false: it
 * was refused, or memory ran out. */
bool lks_decision_hosts(struct lks_deciding *d, struct lks_hostlist *out);

/* The same, of no more nodes than one call may touch outside a change. */
bool lks_decision_few(struct lks_deciding *d, struct lks_hostlist *out);

/* Whether automatic acts in the pool wait, by the state or by this decision. */
bool lks_decision_waits(const struct lks_deciding *d, uint32_t pool);

/* A part of a tick may be refused without the rest: what was listed before, `count` records, stands
 * again. LKS_OK: nothing was refused; else the kind of refusal, and `why`. */
enum lks_code lks_decision_unrefuse(struct lks_deciding *d, size_t count, struct lks_str *why);

typedef void lks_rule(struct lks_deciding *d);

#endif
