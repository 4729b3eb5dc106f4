/*
 * Changes in progress: what each member, wave and change does next. All of it is one rule of the
 * tick, which looks at the state and lists records; what happens in the world (answers of commands,
 * ends of updates, readings, boots, a person's word) is in the state already.
 *
 *     campaign.c         the tick: changes, waves, who may begin
 *     campaign_begin.c   why a unit does not begin now, and its first step
 *     campaign_back.c    the rollback of a change, and nodes that are lost meanwhile
 *     campaign_drift.c   nodes that drifted since they were planned
 *     campaign_member.c  a member at its step: begin it, see whether it ended, what comes next
 *     campaign_steps.c   each kind of step: the table of what it asks for and when it is done
 *     campaign_late.c    its deadline
 *     campaign_jobs.c    jobs on nodes that drain: signalled and requeued, where its plan says so
 *     campaign_fail.c    each kind of failure: retry, rollback, fence, manual intervention
 *     campaign_gate.c    the gates behind a wave: PASS, EXTEND, HOLD, HALT
 *     campaign_gate_plan.c  what they will ask, told before the change is proposed
 *     campaign_evidence.c  of these, the one with statistics
 *     campaign_ramp.c    rings that grow with the evidence
 *     campaign_moment.c  what is due now
 *     campaign_path.c    the way of a member through its steps, forward and back, beside its unit
 *     campaign_pools.c   what pools can do without now, and what they pin at the end
 *     campaign_queue.c   who is tried again by a person's word, at once or when there is room
 *     campaign_waits.c   what a member waits for, in words
 *     campaign_read.c    what is read of it, held against what it should be by now
 *
 * What it promises, whatever is lost, doubled, delayed or restarted around it (DESIGN's numbers):
 *
 *   1  nothing disruptive on a node before it is drained and was read to be empty;
 *   3  after a halt or a freeze no node starts; changed and not yet proven are at most `width`;
 *   4  a node returns only when it was read again, conforms to its intent and was accepted;
 *   5  the rollback was exercised once on its hardware before others follow; irreversible steps
 *      come last;
 *   6  a domain returns whole, or without fenced members if enough are left, or not at all;
 *   7  only our own drains are ended;
 *   8  a step that may have been done is read again, never done again blindly;
 *   11 every state has a deadline and a bounded number of attempts, and a text that says why.
 */
#ifndef LKS_CORE_CAMPAIGN_H
#define LKS_CORE_CAMPAIGN_H

#include "core/decision/event.h"
#include "core/rows/change.h"
#include "core/rows/failure.h"

struct lks_book;
struct lks_gate_plan;
struct lks_arena;
struct lks_event_sched_alarm;
struct lks_job_due;
struct lks_sched_sites;

/* That a node which is not heard of is waited for: since its wave began where it did not begin,
 * else since it was lost while it drains. Behind that it is left alone. */
#define LKS_CAMPAIGN_GRACE (3600 * LKS_SECOND)

/* When (wall) there is something to decide about a member: 0: now; UINT64_MAX: not before something
 * else happens. It costs little and asks the state alone.
 *
 * lks_state_apply() asks it and sets `members_due` (of the node whose `change` this is; else the
 * node is taken out) whenever something about the node was recorded, whatever it was: its commands
 * and updates, readings and verdicts, boots and liveness, conditions and drains, that it was
 * removed; for every member of the unit when a MEMBER was; and for all whose `change` it is when
 * the change MOVED.
 *
 * What else the rules here build on:
 *   - node.change is the change's id from the first MEMBER that is not PENDING until one is DONE,
 *     REVERTED, SKIPPED or PENDING again; a node that was removed keeps it.
 *   - node.pin is the change's stack while the member is DONE, the change is not over and no other
 *     brought the node to its own since, be that over or not.
 *   - member.since changes with state, step, back, pass or attempt; `turned` when back becomes
 *     true; `begun` and `turned` are 0 again when it is PENDING again.
 *   - a unit is busy while one of its members is neither PENDING nor over, also when such a member
 *     had ended and rolls back; wave.failed and change.failed follow the states of members.
 *   - a node with a `change` that becomes late, or drifts, does not count for MASS. */
lks_ms lks_campaign_due(const struct lks_state *s, const struct lks_state_change *c,
                        const struct lks_member *m);

/* What a gate says of a wave, and why. */
struct lks_gate_said {
    enum lks_gate_verdict verdict;
    struct lks_str text; /* lives in the arena it was asked with */
};

/* One row a gate; the strictest of them is the wave's verdict. The next ones join here. */
struct lks_gate {
    const char *name, *about;
    bool waivable; /* as a whole, by an approver's word */
    struct lks_gate_said (*look)(const struct lks_state *s, const struct lks_state_change *c,
                                 uint32_t wave, lks_ms wall, struct lks_arena *arena);
    /* Adds what it will ask of a planned wave; NULL: what `about` says, of every wave. */
    void (*plan)(struct lks_gate_plan *plan, uint32_t wave);
};
extern const struct lks_gate lks_gates[];
extern const size_t lks_gate_count;

/* What a member waits for at this moment, for people; an empty text: it does not wait. `space` has
 * been initialised, and the text lives as long as it does. */
struct lks_str lks_campaign_waits(const struct lks_state *s, const struct lks_book *book,
                                  struct lks_now now, const struct lks_state_change *c,
                                  const struct lks_member *m, struct lks_decision *space);

/* Whether its wave waits for the member: it is in progress, or was to begin and is not there; what
 * for, and until when (0: not known). `space` as above. */
struct lks_wait {
    struct lks_str why;
    lks_ms until;
};
bool lks_campaign_wait(const struct lks_state *s, const struct lks_book *book, struct lks_now now,
                       const struct lks_state_change *c, const struct lks_member *m,
                       struct lks_decision *space, struct lks_wait *out);

/* Why an act on a job that has no answer is closed: its change is over, or its node does not drain
 * for the change any more, so nothing sends it again. NULL: it stays open; an act of a change that
 * is paused or halted does, which may be resumed. */
const char *lks_campaign_jobs_closed(const struct lks_state *s, const struct lks_job_due *due);

/* The next alarm to raise or to end about a site whose jobs cannot be listed for that long, while
 * nodes drain there whose jobs are to be requeued. False: there is none. Texts are of `arena`, of
 * the state, or static. */
#define LKS_CAMPAIGN_JOBS_UNLISTED (300 * LKS_SECOND)
bool lks_campaign_jobs_alarm(const struct lks_sched_sites *b, const struct lks_state *s,
                             struct lks_now now, uint64_t speed, struct lks_arena *arena,
                             struct lks_event_sched_alarm *out);

/* Whether the node drains by a change that may touch its jobs: it wants LKS_EVENT_SCHED_JOBS. */
bool lks_campaign_jobs_wanted(const struct lks_state *s, uint32_t node);

/* Part of lks_decide_settle(): members that are not due after all are moved on, and changes count
 * as looked at until a record about one of them says otherwise. */
void lks_campaign_settle(struct lks_state *s, struct lks_now now);

/* When (mono) the next change is to be looked at as a whole, or UINT64_MAX; for
 * lks_decide_next(). */
lks_ms lks_campaign_next_look(const struct lks_state *s);

#endif
