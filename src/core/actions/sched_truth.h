/*
 * What lockstep says of nodes, in the scheduler: which nodes show something else than they should,
 * and what became of publishing it. Part of the book (core/actions/sched_book.h): what a node shows
 * is in its last answer. A scheduler may forget it when it reads its configuration again; so it is
 * compared with each answer and published again.
 */
#ifndef LKS_CORE_SCHED_TRUTH_H
#define LKS_CORE_SCHED_TRUTH_H

#include "core/actions/sched_book.h"

#define LKS_SCHED_TRUTH_PAUSE     (10 * LKS_SECOND) /* between two requests about a site */
#define LKS_SCHED_TRUTH_AGAIN     (60 * LKS_SECOND) /* a node that failed waits so long */
#define LKS_SCHED_TRUTH_RETRY_MAX (300 * LKS_SECOND)

/* What is to be shown of a node; all empty: nothing, and what lockstep published is removed. */
void lks_sched_truth_of(const struct lks_state *s, uint32_t node, bool publish,
                        struct lks_sched_truth *out);

/* Whether the answer shows that. A digest for which the node has no place need not be shown. */
bool lks_sched_truth_shown(const struct lks_sched_said *said, const struct lks_sched_truth *truth);

/* Whether the scheduler's last answer shows something else than it should. */
bool lks_sched_truth_behind(const struct lks_sched_book *b, const struct lks_state *s,
                            uint32_t node, bool publish);

/* One request for each site that has nodes which show something else, at most `max`; they follow
 * lks_sched_sites_due(). `publish`: false removes what was published. The truths are in `arena`. */
enum lks_code lks_sched_truth_due(struct lks_sched_book *b, const struct lks_state *s, bool publish,
                                  lks_ms mono, uint32_t max, struct lks_arena *arena,
                                  struct lks_sched_site_due *out, uint32_t *count,
                                  struct lks_err *err) LKS_MUST_CHECK;

/* What came of it: `why` is code LKS_OK, and then each truth has its own outcome. */
void lks_sched_truth_told(struct lks_sched_book *b, const struct lks_state *s, struct lks_str site,
                          struct lks_str sched, const struct lks_sched_site_wish *wish,
                          const struct lks_err *why, struct lks_now now, uint64_t speed);

/* A node's answer says when the scheduler read its configuration. Where that is later than what was
 * known, all nodes of the site are asked about again. */
void lks_sched_truth_configured(struct lks_sched_book *b, const struct lks_state *s, uint32_t node,
                                lks_ms configured);

#endif
