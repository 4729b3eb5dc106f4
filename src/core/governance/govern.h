/*
 * The people behind a change: votes, counted for each pool and site that it touches.
 *
 * A vote is a yes of another person than the proposer, no older than the change's class allows, of
 * a person who may approve there now. So an approval ends with the role that gave it. Who votes
 * under two names is counted once, and so are all whose credentials one person made:
 * core/governance/backing.h. None of them counts on that person's own change.
 */
#ifndef LKS_CORE_GOVERN_H
#define LKS_CORE_GOVERN_H

#include "core/governance/backing.h"
#include "core/rows/change.h"
#include "core/state/access.h"

struct lks_tally {
    uint32_t needed, given; /* given: where there are the fewest */
    struct lks_scope where; /* which is here; empty views: everywhere the same */
};

static inline bool lks_tally_complete(const struct lks_tally *t)
{
    return t->given >= t->needed;
}

/* Who stands behind the proposal of a change, and behind a vote. */
struct lks_backing lks_govern_proposer(const struct lks_state *s, const struct lks_state_change *c);
struct lks_backing lks_govern_voter(const struct lks_state *s, const struct lks_vote *v);

/* A vote that is not recorded yet. */
struct lks_voice {
    struct lks_backing who;
    struct lks_str credential; /* that it is given by */
};

/* How the votes stand. Each counts by the credential it was given by: another login of the same
 * person lends it no roles, and keeps it from ending with its own. `also`, if any, counts as a yes,
 * and `without` as one who gave none. */
struct lks_tally lks_govern_tally(const struct lks_state *s, const struct lks_state_change *c,
                                  lks_ms wall, const struct lks_voice *also,
                                  struct lks_str without);

/* How many approvals the change could get where it could get the fewest, by the roles and the
 * credentials that there are: those of its own proposer count for nothing. `apart` are identities
 * that can also vote by a credential that is not made here, such as a ticket system. At most
 * `needed` is returned as given. */
struct lks_tally lks_govern_reach(const struct lks_state *s, const struct lks_state_change *c,
                                  lks_ms wall, const struct lks_str *apart, size_t count);

/* Whether the vote is a yes that still counts somewhere. */
bool lks_govern_counts(const struct lks_state *s, const struct lks_state_change *c,
                       const struct lks_vote *v, lks_ms wall);

/* Whether this person's voice by this credential counts for some of its nodes; empty: by any. */
bool lks_govern_may_vote(const struct lks_state *s, const struct lks_state_change *c,
                         struct lks_str who, struct lks_str credential);

/* The change that is not over, that one of those behind an act proposed, and that an approver with
 * this scope could approve; NULL: there is none. */
const struct lks_state_change *lks_govern_own_at(const struct lks_state *s, struct lks_backing by,
                                                 struct lks_scope scope);

/* Whether a gate of the change is waived now behind a wave: each waiver counts for the nodes that
 * its author may approve for now, and all of the wave have to be among these. With `metric`: that
 * metric, of the nodes of its pools. A metric that halts by one event is waived once a person saw
 * that event: by waivers after it halted this wave. */
bool lks_govern_waived(const struct lks_state *s, const struct lks_state_change *c, uint32_t wave,
                       struct lks_str gate, const struct lks_plan_metric *metric, lks_ms wall);

/* It began without its approvals, and does not have them yet: no ring begins. */
bool lks_govern_waits(const struct lks_state *s, const struct lks_state_change *c, lks_ms wall,
                      struct lks_tally *out);

#endif
