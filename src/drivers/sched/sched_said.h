/* What drivers of schedulers make of a node's answer in the same way: whose drain it is, the line
 * for people, and whether what was wished for is so. */
#ifndef LKS_DRIVERS_SCHED_SAID_H
#define LKS_DRIVERS_SCHED_SAID_H

#include "port/sched.h"

/* The owner of the drain as the scheduler has it, "lockstep:change:17" or a person's name; `wisher`
 * is the owner in the wish. An owner that is longer than ours can be is foreign. */
void lks_sched_said_owner(struct lks_sched_said *s, struct lks_str owner, struct lks_str wisher);

/* The line for people: what the node waits for, or whose it is. `job` and `user` are those of the
 * first job there, `reason` is that of the drain. */
void lks_sched_said_text(struct lks_sched_said *s, struct lks_str job, struct lks_str user,
                         struct lks_str reason);

/* Whether no job starts there, drained or not, and the line about that; `reservation` may be
 * empty. */
void lks_sched_said_outage(struct lks_sched_said *s, bool down, bool maintenance,
                           struct lks_str reservation);

/* Whether what is wished for is so; `acted`: a request to make it so was answered well. A drain
 * that came behind the end of ours is not our concern. A drain of owner `from` is to be taken over;
 * "": none is. */
bool lks_sched_said_is_so(const struct lks_sched_said *s, enum lks_sched_verb verb,
                          const char *from, bool acted);

/* As much of `from` as there is place for, in bytes that can be printed. */
void lks_sched_said_keep(char *to, size_t size, struct lks_str from);

#endif
