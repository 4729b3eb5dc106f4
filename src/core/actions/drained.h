/*
 * Whether a node is empty, for people who act on it by hand: it is out of service, in its scheduler
 * as well where it has one, and since then its agent looked and found no GPU process. A change has
 * its own step for that; here the look is a command `idle` in the node's current boot.
 */
#ifndef LKS_CORE_DRAINED_H
#define LKS_CORE_DRAINED_H

#include "model/facts/facts.h"

struct lks_state;

/* How long such a look is good. */
#define LKS_DRAINED_AGE ((lks_ms)600 * LKS_SECOND)

enum lks_drained {
    LKS_DRAINED_YES,
    LKS_DRAINED_IN_SERVICE, /* jobs may start on it, or a yes that names it has not expired */
    LKS_DRAINED_NO_DRIVER,  /* lockstep cannot ask its scheduler */
    LKS_DRAINED_SCHED,      /* its scheduler does not report it as drained for a hold */
    LKS_DRAINED_UNREAD,     /* not read since, or the reading is too old */
    LKS_DRAINED_BUSY,       /* the last look found a process, or could not tell */
};

/* The newest look at the node in this boot that ended and was asked for at `since` or later; NULL:
 * there is none. */
const struct lks_state_command *lks_drained_look(const struct lks_state *s, uint32_t node,
                                                 lks_ms since);

/* Since when it is out of service, every yes that could name it expired; UINT64_MAX: it is in
 * service. */
lks_ms lks_drained_since(const struct lks_state *s, uint32_t node);

enum lks_drained lks_drained(const struct lks_state *s, uint32_t node, lks_ms wall);

/* The node of which lks_drained() counts before `node` is touched, and how it is, the first that is
 * not empty: a node itself; for an asset, the nodes of its domain. Nodes outside production are
 * empty enough. LKS_NO_NODE: all are. */
uint32_t lks_drained_not(const struct lks_state *s, const struct lks_facts *facts, uint32_t node,
                         lks_ms wall, enum lks_drained *how);

#endif
