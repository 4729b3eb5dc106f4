/*
 * The decisions of the control plane: what becomes of an event.
 *
 * lks_decide() looks at the state, the time and one event, changes nothing, and lists records. The
 * engine makes them durable, applies them, and only then lets anyone see them. A refusal is an
 * answer: it has a code and a line, and no records. One rule in one place: a file decide_*.c for
 * each group of events, one table of them in decide.c.
 */
#ifndef LKS_CORE_DECIDE_H
#define LKS_CORE_DECIDE_H

#include "core/decision/event.h"

struct lks_book;
struct lks_state_change;

/* `out` was initialised; what it held is gone. Fails only for lack of memory; a refusal is not a
 * failure. */
enum lks_code lks_decide(const struct lks_state *s, const struct lks_book *book, struct lks_now now,
                         const struct lks_event *event, struct lks_decision *out,
                         struct lks_err *err) LKS_MUST_CHECK;

/* Why an approved change cannot start now: the refusal that any person would get who starts it. An
 * empty text: it can, or it is not approved. The text is in `space`, which was initialised. */
struct lks_str lks_decide_change_barred(const struct lks_state *s, const struct lks_book *book,
                                        struct lks_now now, const struct lks_state_change *c,
                                        struct lks_decision *space);

/* Before a tick: what is not due after all is moved on. Without it lks_decide_next() may say a time
 * at which nothing is to be done. */
void lks_decide_settle(struct lks_state *s, struct lks_now now);

/* When the next tick is due (mono), or UINT64_MAX. */
lks_ms lks_decide_next(const struct lks_state *s);

#endif
