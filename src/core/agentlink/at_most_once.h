/*
 * At most once: whether an agent carries out a command it was given.
 *
 * The ledger of what was begun and ended is durable before anything runs. A command that was begun
 * and has no end when the agent starts anew is UNKNOWN: it is not run again, a person looks.
 */
#ifndef LKS_CORE_AT_MOST_ONCE_H
#define LKS_CORE_AT_MOST_ONCE_H

#include "model/record/record.h"
#include "trust/envelope.h"

#define LKS_AT_MOST_ONCE_ENTRIES_MAX                                                               \
    4096 /* oldest ended ones make room; `floor` keeps them refused */
#define LKS_AT_MOST_ONCE_TEXT_MAX ((size_t)2 << 20) /* bytes of a ledger */

struct lks_at_most_once_entry {
    uint64_t id;
    bool ended;
    enum lks_outcome outcome;
    char text[256];
};

struct lks_at_most_once {
    char journal[LKS_JOURNAL_ID_SIZE];      /* whose commands; another journal's are refused */
    uint64_t epoch;                         /* the newest seen */
    uint64_t floor;                         /* ids up to here are over */
    struct lks_at_most_once_entry *entries; /* owned; by rising id */
    size_t count, room;
};

enum lks_at_most_once_verdict {
    LKS_AT_MOST_ONCE_RUN,    /* write it down as begun, then run it */
    LKS_AT_MOST_ONCE_REPEAT, /* it was begun before: say the outcome again, if it has ended */
    LKS_AT_MOST_ONCE_REFUSE, /* for another node, boot or journal; expired; an older epoch */
};

void lks_at_most_once_fini(struct lks_at_most_once *o);

/* `why` names the reason of a refusal; `entry` the outcome of a repetition. Each is written for its
 * own verdict alone. */
enum lks_at_most_once_verdict
lks_at_most_once_judge(const struct lks_at_most_once *o, const struct lks_envelope *e,
                       struct lks_str node, struct lks_str boot, lks_ms wall,
                       struct lks_at_most_once_entry *entry, const char **why);

/* For a command that was judged RUN, before it runs; the ledger is to be durable in between. The
 * first one decides whose commands these are. Fails where LKS_AT_MOST_ONCE_ENTRIES_MAX run at once.
 */
enum lks_code lks_at_most_once_begin(struct lks_at_most_once *o, const struct lks_envelope *e,
                                     struct lks_err *err) LKS_MUST_CHECK;

/* How a command that was begun ended; of `text` what is printable and fits is kept. */
void lks_at_most_once_end(struct lks_at_most_once *o, uint64_t id, enum lks_outcome outcome,
                          struct lks_str text);

/* The ledger as text, one line an entry, and back. What was begun and not ended reads as UNKNOWN.
 */
void lks_at_most_once_print(const struct lks_at_most_once *o, struct lks_buf *out);
enum lks_code lks_at_most_once_parse(struct lks_str text, struct lks_at_most_once *out,
                                     struct lks_err *err) LKS_MUST_CHECK;

#endif
