/*
 * What lockstep says of nodes, in the scheduler: which nodes show something else than they should,
 * and what became of publishing it. Part of the book (core/actions/sched_book.h): what a node shows
 * is in its last answer. A scheduler may forget it when it reads its configuration again; so it is
 * compared with each answer and published again.
 */
#ifndef LKS_CORE_SCHED_TRUTH_H
#define LKS_CORE_SCHED_TRUTH_H

#include "core/actions/sched_book.h"

struct lks_event_sched_alarm;
struct lks_event_sched_slot;

#define LKS_SCHED_TRUTH_PREFIX "lks-" /* of the features for digest and verdict */
#define LKS_SCHED_TRUTH_HEX    12     /* digits of the digest that the first one has */

#define LKS_SCHED_TRUTH_PAUSE     (10 * LKS_SECOND) /* between two requests about a site */
#define LKS_SCHED_TRUTH_AGAIN     (60 * LKS_SECOND) /* a node that failed waits so long */
#define LKS_SCHED_TRUTH_RETRY_MAX (300 * LKS_SECOND)

/* A node keeps what was published if a reading from so long after that shows it: another program
 * may undo it seconds after each request. */
#define LKS_SCHED_TRUTH_KEPT (60 * LKS_SECOND)

/* How long a node may show something else before people are told. Requests that fail are repeated
 * within five minutes, and nodes that fail within one: by then at least two have failed. */
#define LKS_SCHED_TRUTH_LATE (600 * LKS_SECOND)

/* What is to be shown of a node; all empty: nothing, and what lockstep published is removed.
 * `slots`: its scheduler shows slots, too. */
void lks_sched_truth_of(const struct lks_state *s, uint32_t node, bool publish, bool slots,
                        struct lks_sched_truth *out);

/* Whether the answer shows that. A digest for which the node has no place need not be shown. */
bool lks_sched_truth_shown(const struct lks_sched_said *said, const struct lks_sched_truth *truth);

/* Whether the scheduler's last answer about the node shows something else than it should; `e` NULL:
 * there is none. */
bool lks_sched_truth_behind(const struct lks_sched_entry *e, const struct lks_state *s,
                            uint32_t node, bool publish);

/* Requests for each site that has nodes which show something else, in all at most `max`; they
 * follow lks_sched_sites_due(). A site gets one, or several with a part of the nodes each where its
 * scheduler is written node by node (core/plan/drain.h). `hidden`: schedulers, joined by '+', from
 * which what was published is removed. The truths are in `arena`. */
enum lks_code lks_sched_truth_due(struct lks_sched_book *b, const struct lks_state *s,
                                  struct lks_str hidden, lks_ms mono, uint32_t max,
                                  struct lks_arena *arena, struct lks_sched_site_due *out,
                                  uint32_t *count, struct lks_err *err) LKS_MUST_CHECK;

/* What came of it: `why` is code LKS_OK, and then each truth has its own outcome. */
void lks_sched_truth_told(struct lks_sched_book *b, const struct lks_state *s, struct lks_str site,
                          struct lks_str sched, const struct lks_sched_site_wish *wish,
                          const struct lks_err *why, struct lks_now now, uint64_t speed);

/* Whether the node has shown something else for too long. `speed` divides that time. */
bool lks_sched_truth_late(const struct lks_sched_entry *e, lks_ms mono, uint64_t speed);

/* For how long the node of all sites that is behind for the longest is, as last compared. */
lks_ms lks_sched_truth_behind_for(const struct lks_sched_sites *b, lks_ms mono);

/* The alarm of one site whose nodes have shown something else for too long, or the end of one: the
 * site shows everything again, or lockstep has no node there. One for each call, until the state
 * has them all (false). Texts are in `arena`, or views of the state. */
bool lks_sched_truth_alarm(const struct lks_sched_sites *b, const struct lks_state *s,
                           struct lks_now now, uint64_t speed, struct lks_arena *arena,
                           struct lks_event_sched_alarm *out);

/* The site in the subject of such an alarm, "slurm at oslo"; empty: none. */
struct lks_str lks_sched_truth_alarm_site(struct lks_str subject);

/* The subject for a site, in `arena`; and whether a node was there since the start. */
struct lks_str lks_sched_truth_alarm_subject(struct lks_arena *arena,
                                             const struct lks_sched_site *site);
bool lks_sched_truth_alarm_known(const struct lks_sched_sites *b, struct lks_str subject);

/* A node's answer says when the scheduler read its configuration. Where that is later than what was
 * known, all nodes of the site are asked about again. */
void lks_sched_truth_configured(struct lks_sched_book *b, const struct lks_state *s, uint32_t node,
                                struct lks_str sched, lks_ms configured);

/* Slots ------------------------------------------------------------------------------------ */

/*
 * Each stack that nodes of a pool should run has one of a few fixed numbers, and the scheduler
 * shows it as a feature of the node, lks0, lks1 or lks2. A job on several nodes asks for nodes of
 * one slot, whichever; so its nodes agree, and a job that waited while a change moved the pool to
 * another stack asks for nothing that is gone.
 *
 * A stack keeps its slot until another one needs it. A slot is given away only when no node of the
 * pool should run its stack, and every node of the pool shows another slot, or none, in the
 * scheduler's last answer. Assignments are journaled: they are the same after a restart and for the
 * next leader.
 */
#define LKS_SCHED_TRUTH_SLOT_LOOK                                                                  \
    (5 * LKS_SECOND)                      /* between two searches for stacks without one           \
                                           */
#define LKS_SCHED_TRUTH_SLOT_PREFIX "lks" /* of the feature, before the number */

/* The slot of the stack that the node should run; LKS_STATE_SLOTS: none is free, or no stack. */
uint32_t lks_sched_truth_slot(const struct lks_state *s, uint32_t node);

/* The next stack that needs a slot, and a free one for it. `*from` is the node to start with, 0 at
 * first. False: there is none that could be given now. The digest is a view of the state. Each call
 * looks at each node twice at most, whatever their pools. */
bool lks_sched_truth_slot_due(struct lks_sched_book *b, const struct lks_state *s, uint32_t *from,
                              struct lks_event_sched_slot *out);

/* Slots whose stack is one that nodes of the pool should run, and nodes whose stack has none. */
struct lks_sched_truth_slots {
    uint32_t used, without;
};
struct lks_sched_truth_slots lks_sched_truth_slots(const struct lks_state *s, uint32_t pool);

#endif
