/*
 * How nodes stand, as bits: one set over all nodes for each reason not to start a job on one, kept
 * up to date by apply, so that admission is a few words of AND. All of it follows from the state.
 *
 * Two reasons depend on the time and have no bits: an attestation that ended and an active check
 * that is too old; lks_node_status_bars() and admission look at the node's times instead.
 */
#ifndef LKS_CORE_NODE_STATUS_H
#define LKS_CORE_NODE_STATUS_H

#include "base/bitset.h"
#include "base/intern.h"
#include "base/str.h"
#include "base/time.h"
#include "core/rows/text.h"
#include "model/record/record_words.h"

/* Owns the drain of a node that admission refuses. */
#define LKS_NODE_STATUS_REFUSED "refused"

struct lks_deviation;
struct lks_rec_verdict;
struct lks_state;
struct lks_state_pool;

/* Rows of the times from `from` on, up to the next, were durable at `to` and not before. */
#define LKS_NODE_STATUS_SLOW_MAX 64
struct lks_node_status_slow {
    lks_ms from, to;
};

struct lks_node_status {
    /* UNKNOWN: not placed, or an asset. STALE also of a node that is not enrolled: nothing new can
     * be heard of it. */
    struct lks_bitset bars[LKS_BAR_NODE_COUNT];
    struct lks_bitset differs;  /* judged to drift and not covered by a deviation */
    struct lks_bitset recorded; /* node->drifting, from this stack; a tick makes the two the same */
    struct lks_bitset deviates; /* runs a deviation that holds */
    struct lks_bitset soaks;    /* lab or canary of a change with a gate, which did not pass yet */
    uint32_t news;              /* nodes whose two bits differ: a tick is due */
    struct lks_bitset lacks;    /* has readings and an intent, and no verdict of the two */
    uint32_t lacking;           /* how many */
    lks_ms tried;            /* mono, of this moment: a tick found nothing to judge; 0: none did */
    lks_ms refused_next;     /* mono, of this moment: the next look at nodes that admission refuses;
                                UINT64_MAX: no pool drains them */
    bool refused_due;        /* this tick looks at them */
    bool timed;              /* a pool that drains them also refuses nodes by the time */
    struct lks_bitset named; /* by a deviation that holds */
    uint32_t *domain_next;   /* by node: the next of its domain, in a ring */
    uint32_t *domain;        /* by node: id in `domains` + 1; 0: in none */
    uint32_t *share;         /* by node: `values` + 1 where its domain asks; 0: it has none */
    uint32_t room;           /* of these arrays and sets */
    struct lks_intern domains;            /* names */
    struct lks_node_status_domain *rings; /* by id */
    uint32_t ring_room;
    /* Of this moment, as `tried` is: commits that took long, the oldest first. */
    struct lks_node_status_slow slow[LKS_NODE_STATUS_SLOW_MAX];
    uint32_t slow_count;
};

struct lks_node_status_domain {
    uint32_t head;  /* a node of it: place + 1; 0: none */
    bool differing; /* it serves mixed, or an asset of it drifts */
};

enum lks_code lks_node_status_init(struct lks_state *s, struct lks_err *err) LKS_MUST_CHECK;
void lks_node_status_fini(struct lks_state *s);

/* Room for all nodes there are. */
enum lks_code lks_node_status_grow(struct lks_state *s, struct lks_err *err) LKS_MUST_CHECK;

/* Something about the node, its pool, its intent, verdict or deviations changed: find its verdict
 * and its bits anew, and those of its domain where they follow from it. */
void lks_node_status_update(struct lks_state *s, uint32_t node);

/* The same for all nodes of a pool, or all that have a basis. */
void lks_node_status_update_pool(struct lks_state *s, uint32_t pool);
void lks_node_status_update_basis(struct lks_state *s, uint32_t basis);

/* The node was placed, moved or removed: its domain may be another. */
enum lks_code lks_node_status_place(struct lks_state *s, uint32_t node,
                                    struct lks_err *err) LKS_MUST_CHECK;

/* A deviation began or ended: all it names are looked at. */
void lks_node_status_deviation(struct lks_state *s, const struct lks_deviation *d);

/* The next of its domain that contradicts those before it or is not as it should be, from the node
 * on; LKS_NO_NODE: there is none. The node is in a domain. */
uint32_t lks_node_status_domain_odd(const struct lks_state *s, uint32_t node);

/* A node in service of its domain that does not run the same components and settings as this one,
 * or may not: with both in service the domain would serve mixed, and none of it be admitted.
 * LKS_NO_NODE: there is none, or this one is held, which leaves it out. */
uint32_t lks_node_status_mixes(const struct lks_state *s, uint32_t node);

/* What was read of it last proves nothing about now: it booted since, or something was done to it
 * that can have changed it. */
bool lks_node_status_unread(const struct lks_state *s, uint32_t node);

/* What the pools of an asset's domain pin, where they all pin the same; 0: they do not. */
lks_text lks_node_status_domain_pin(const struct lks_state *s, uint32_t asset);

/* Why not, as bits by enum lks_bar, times included. */
uint64_t lks_node_status_bars(const struct lks_state *s, uint32_t node, lks_ms wall);

/* Before a tick: whether it looks at nodes that admission refuses, and when the next one does. With
 * 0, after a state was loaded, the first one does if there is reason to. */
void lks_node_status_settle(struct lks_state *s, lks_ms mono);

/* Why admission refuses the node for longer than a moment, for what the node itself runs and
 * reports, with the first reason in a few words; LKS_BAR_COUNT: it does not. A late heartbeat is
 * no such reason before the node is drained: either the next one comes, or the node is lost. */
enum lks_bar lks_node_status_refused(const struct lks_state *s, uint32_t node, lks_ms wall,
                                     const char **why);

/* Whether it is drained for that. */
bool lks_node_status_drained_refused(const struct lks_state *s, uint32_t node);

/* Nodes of 64 places, as bits, that lks_node_status_refused() may refuse, or that are drained. */
uint64_t lks_node_status_refused_word(const struct lks_state *s, size_t word);

/* What follows about a node from its readings: by a verdict on them, NULL: there is none, of which
 * `judged`, `drifted`, `unmeasured` and `wrong` are read; and as it is now. */
struct lks_node_status_judged {
    bool unmeasured;
    bool differs;  /* it drifts, and no deviation covers all of that */
    bool deviates; /* it runs a deviation that holds */
};
struct lks_node_status_judged lks_node_status_judge(const struct lks_state *s, uint32_t node,
                                                    const struct lks_rec_verdict *v);
struct lks_node_status_judged lks_node_status_judged(const struct lks_state *s, uint32_t node);

/* Why no job would start on a placed node if it were of `pool`, NULL: of none, and judged so. Its
 * domain is taken to be as it is. */
uint64_t lks_node_status_bars_in(const struct lks_state *s, uint32_t node,
                                 const struct lks_state_pool *pool,
                                 const struct lks_node_status_judged *j, lks_ms wall);

/* May a job run on it; `why` says why not, in a few words: the first reason. */
bool lks_node_admissible(const struct lks_state *s, uint32_t node, lks_ms wall, const char **why);

/* Why no step of a job should start there that runs on it already, with the reason in a few words:
 * for what the node runs, and not because it takes no new jobs. LKS_BAR_COUNT: there is nothing. */
enum lks_bar lks_node_status_step(const struct lks_state *s, uint32_t node, lks_ms wall,
                                  const char **why);

/* Whether a deviation that holds covers this subject with this value on the node; its id, or 0. */
uint64_t lks_node_status_covered(const struct lks_state *s, uint32_t node, struct lks_str subject,
                                 struct lks_str value);

/* The same of one that was approved, and that is not past its end. */
bool lks_node_status_excused(const struct lks_state *s, uint32_t node, struct lks_str subject,
                             struct lks_str value, lks_ms wall);

/* The earliest time (wall) at which a step may begin on the node: every yes that could name it has
 * expired, of followers and by overrides too. UINT64_MAX: it may still be admitted. */
lks_ms lks_node_status_quiet(const struct lks_state *s, uint32_t node);

/* The rows from `from` on, which says when they were decided, are durable since `to` (wall): before
 * that followers knew nothing of them, so what they close counts from then. Said again with the
 * same `from` it is a later `to`. */
void lks_node_status_slow(struct lks_state *s, lks_ms from, lks_ms to);

#endif
