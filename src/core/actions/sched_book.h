/*
 * What schedulers reported of nodes, in the memory of the controller that leads: which node is
 * asked next, and what people are shown. Nothing of it is journaled: after a restart each node is
 * asked again, and so a drain that was left over is found.
 */
#ifndef LKS_CORE_SCHED_BOOK_H
#define LKS_CORE_SCHED_BOOK_H

#include "core/actions/job_acts.h"
#include "core/actions/sched_lead.h"
#include "core/actions/sched_sites.h"
#include "core/rows/now.h"

#define LKS_SCHED_POLL      (5 * LKS_SECOND)   /* a node that drains is asked again after */
#define LKS_SCHED_CALM      (30 * LKS_SECOND)  /* the same, of one that is drained */
#define LKS_SCHED_FRESH     (90 * LKS_SECOND)  /* such an answer counts so long: three of them */
#define LKS_SCHED_OLD       LKS_SECOND         /* answers that do not any more are found within */
#define LKS_SCHED_REFRESH   (600 * LKS_SECOND) /* a node that no change wants is asked after */
#define LKS_SCHED_RETRY_MAX (60 * LKS_SECOND)  /* a node whose scheduler fails is, at the latest */

struct lks_sched_entry {
    const char *sched;            /* which of the schedulers of the node's pool; */
    struct lks_sched_entry *next; /* another one */
    lks_ms made;                  /* mono: when it was asked first */
    lks_ms asked_until;       /* mono: a conversation about it is in progress, until then at most */
    bool heard;               /* `said` is an answer, and */
    bool lost;                /* it shows that a drain of ours is not there any more, */
    bool worse;               /* or that the node is not drained any more, */
    bool told_worse;          /* and the engine took an event that told of it */
    bool refused;             /* the last failure does not pass by itself */
    bool slots_read;          /* from `said`: */
    uint8_t slots;            /* those that it shows, as bits */
    enum lks_sched_verb verb; /* that it was asked last */
    lks_ms due;               /* mono: it is not asked the same again before */
    lks_ms calm_until;        /* mono: the same of a node that no change wants, */
    bool refresh;             /* which is asked again all the same */
    uint64_t truth_key;       /* of the truth that it was seen to show; 0: none */
    lks_ms truth_due;         /* mono: what lockstep says of it is not published before */
    lks_ms kept_from;         /* mono: a reading from then on shows whether the node keeps what was
                                 published, 0: it does; */
    uint64_t told_key;        /* which is the truth of that key */
    lks_ms behind_since;  /* mono: since when it was seen to show something else; 0: it is not */
    lks_ms heard_at;      /* wall: when it was */
    lks_ms read_at;       /* mono: when the scheduler was read for it, by its age */
    lks_ms after;         /* a reading from before this undoes nothing that is known */
    lks_ms failing_since; /* wall: since when nothing was heard; 0: the last one was answered */
    uint32_t failures;    /* one after the other, */
    uint32_t turn;        /* and in all: each makes it the turn of the site's next bridge */
    uint64_t search;      /* that found it due last, by its number */
    struct lks_sched_said said;
    char trouble[LKS_SCHED_REASON_MAX + 1]; /* of the last failure */
};

/* All zero is the beginning. */
struct lks_sched_book {
    struct lks_sched_entry **entries; /* owned; by node, linked. NULL: nothing is known of it */
    struct lks_sched_space space;     /* of the texts of the last event */
    uint8_t *taken;                   /* owned; by pool: slots that cannot be given away, as bits */
    uint32_t room, taken_room;
    uint32_t next;  /* where the search for nodes goes on */
    lks_ms began;   /* wall: since when nothing is known of nodes without an answer */
    lks_ms old_due; /* mono: nodes whose last answer is too old are not looked for before */
    uint64_t asked; /* conversations that began, and */
    uint64_t failed;
    uint64_t published;           /* nodes whose truth was */
    struct lks_sched_lead lead;   /* bridges that have the leader's epoch */
    struct lks_sched_sites sites; /* what is asked about whole sites */
    struct lks_job_book acts;     /* requests about jobs that changes made */
};
void lks_sched_book_fini(struct lks_sched_book *b);

struct lks_sched_due {
    uint32_t node;
    const char *sched; /* which of the pool's */
    uint32_t turn;     /* of the site's bridges */
    struct lks_sched_wish wish;
    char owner[LKS_SCHED_HOLD_SIZE]; /* of a hold: the wish's is a view of it */
};

/* Nodes of which a scheduler is to be asked now, each by itself, at most `max`: they count as asked
 * until lks_sched_book_heard() or lks_sched_book_failed(). Texts are views of the state, of the
 * book and of `out`; epoch and deadline are the caller's. After NOMEM those that were found are
 * asked later.
 */
enum lks_code lks_sched_book_due(struct lks_sched_book *b, const struct lks_state *s,
                                 const struct lks_facts *facts, lks_ms mono, uint32_t max,
                                 struct lks_sched_due *out, uint32_t *count,
                                 struct lks_err *err) LKS_MUST_CHECK;

/* Nothing that this search found, of nodes and of sites, was asked: the records that it rests on
 * could not be written. It is due again; without this it would count as asked for minutes.
 * `sites.searches` is the number of the search behind lks_sched_book_due(), from 1 on. */
void lks_sched_book_unasked(struct lks_sched_book *b, uint64_t search);

/* What was heard of a node from a scheduler that was asked; `speed` divides what is waited until it
 * is again. */
void lks_sched_book_heard(struct lks_sched_book *b, uint32_t node, struct lks_str sched,
                          const struct lks_sched_said *said, struct lks_now now, uint64_t speed);
void lks_sched_book_failed(struct lks_sched_book *b, uint32_t node, struct lks_str sched,
                           const struct lks_err *why, struct lks_now now, uint64_t speed);

/* Readings from before that moment are refused, whichever bridge gives them: a later one was taken,
 * or a write was sent since. By the clock of conversations. */
void lks_sched_book_after(struct lks_sched_book *b, uint32_t node, struct lks_str sched,
                          lks_ms after);

/* The event that carries what is known of the node now to the engine, by all schedulers of its pool
 * (lks_sched_combine()). False: there is none: the last conversations failed, but not so many that
 * it is news, or others gave no answer that counts. Texts are views of the book. */
bool lks_sched_book_event(struct lks_sched_book *b, const struct lks_state *s, uint32_t node,
                          lks_ms mono, struct lks_event *out);

/* The engine took that event. Until then what became worse stays news, also behind later answers
 * that show no more of the drain: a journal that cannot be written loses none of it. */
void lks_sched_book_told(struct lks_sched_book *b, const struct lks_event *event);

/* The same of why no job starts there: lks_sched_outage_of(). */
bool lks_sched_book_outage(struct lks_sched_book *b, const struct lks_state *s, uint32_t node,
                           struct lks_event *out);

/* Whether a drain of lockstep would be left over in that scheduler if the node left the fleet now.
 * A drain that is wanted and not there yet counts: its request may be on its way. */
enum lks_sched_owes {
    LKS_SCHED_OWES_NOTHING, /* the node is open, unknown there, or drained by another owner */
    LKS_SCHED_OWES_DRAIN,
    LKS_SCHED_OWES_UNKNOWN, /* it gave no answer, or the last request failed */
};
enum lks_sched_owes lks_sched_book_owes(const struct lks_sched_book *b, const struct lks_state *s,
                                        const struct lks_facts *facts, uint32_t node,
                                        struct lks_str sched);

/* The next node from `*at` on that is drained for a change, or noted as drained for a hold, and
 * whose last answer is older than LKS_SCHED_FRESH, or which this controller heard nothing of, in
 * one of the schedulers of its pool, as an event for the engine; of several the oldest. No step and
 * no act by hand may start there. False: there is none that it has to hear of now. To be asked
 * until then, with `*at` 0 at first, before changes are looked at. Texts are views of the book. */
bool lks_sched_book_old(struct lks_sched_book *b, const struct lks_state *s, struct lks_now now,
                        uint32_t *at, struct lks_event *out);

/* What is known of a node in that scheduler; NULL: nothing. */
const struct lks_sched_entry *lks_sched_book_find(const struct lks_sched_book *b, uint32_t node,
                                                  struct lks_str sched);

/* The same, for the files of the book. */
struct lks_sched_entry *lks_sched_book_get(const struct lks_sched_book *b, uint32_t node,
                                           struct lks_str sched);

/* Reservations ----------------------------------------------------------------------------- */

/*
 * Reservations in the scheduler for the windows of changes, in pools that say `reserve: true`:
 * which are wanted now, and which requests lead from what the scheduler lists to these. A
 * reservation keeps jobs away that would run into a window. No decision depends on one: a change
 * starts, drains and verifies its nodes as it does without it.
 *
 * Nothing of it is journaled. What is wanted follows
 * from the state, and what is there is listed. So repeats are harmless, and what another leader
 * left over is removed by its name.
 */
struct lks_book;
#define LKS_SCHED_RESERVE_PAUSE (10 * LKS_SECOND)  /* between two looks at a site */
#define LKS_SCHED_RESERVE_RETRY (30 * LKS_SECOND)  /* the same after a failure */
#define LKS_SCHED_RESERVE_LIST  (60 * LKS_SECOND)  /* a list is asked for again after, */
#define LKS_SCHED_RESERVE_IDLE  (600 * LKS_SECOND) /* and where there are no reservations */
#define LKS_SCHED_RESERVE_AHEAD (7 * LKS_SCHED_RESERVE_LONG) /* before the window opens */
#define LKS_SCHED_RESERVE_LONG  (86400 * LKS_SECOND)         /* where it has no end */
#define LKS_SCHED_RESERVE_GRACE (1800 * LKS_SECOND) /* in the window, for a person to start it */

/* One that is wanted. Texts are views of the state, and of the arena. */
struct lks_sched_reserve {
    uint64_t change;
    struct lks_str site, sched, pool;
    struct lks_sched_reservation it;
    uint32_t nodes;
};

struct lks_sched_reserves {
    struct lks_sched_reserve *list; /* in the arena */
    uint32_t count;
};

/* What is wanted at `wall`. For a change that is approved or runs, the units of its present wave
 * that may change at once, and of the next wave while the present one soaks: no more nodes are kept
 * from jobs than the wave is wide. Nodes that are done are not among them. A node that the
 * scheduler does not know is left out. */
enum lks_code lks_sched_reserve_wanted(const struct lks_sched_book *b, const struct lks_state *s,
                                       const struct lks_book *book, lks_ms wall,
                                       struct lks_arena *arena, struct lks_sched_reserves *out,
                                       struct lks_err *err) LKS_MUST_CHECK;

/* Requests about sites, at most `max`; they follow lks_sched_sites_due(). */
enum lks_code lks_sched_reserve_due(struct lks_sched_book *b, const struct lks_state *s,
                                    const struct lks_book *book, struct lks_now now, uint32_t max,
                                    struct lks_arena *arena, struct lks_sched_site_due *out,
                                    uint32_t *count, struct lks_err *err) LKS_MUST_CHECK;

/* What came of one. A list that came moves to the book. `speed` divides what is waited. True: it is
 * the first failure since all was as it should be. */
bool lks_sched_reserve_told(struct lks_sched_book *b, struct lks_str site, struct lks_str sched,
                            const struct lks_sched_site_wish *wish,
                            struct lks_sched_reservations *listed, const struct lks_err *why,
                            struct lks_now now, uint64_t speed);

#endif
