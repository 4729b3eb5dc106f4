/* What core/campaign/campaign*.c share: a member with everything around it, its way through the
 * steps there and back, and what is to be done about it. For them alone. */
#ifndef LKS_CORE_CAMPAIGN_PARTS_H
#define LKS_CORE_CAMPAIGN_PARTS_H

#include "core/actions/actions.h"
#include "core/campaign/campaign.h"
#include "core/governance/govern.h"
#include "core/plan/drain.h"
#include "core/state/lookup.h"

/* A member, and what it stands in. */
struct lks_look {
    const struct lks_state *s;
    const struct lks_state_change *c;
    const struct lks_member *m;
    const struct lks_node *n;
    const struct lks_unit *u;
    const struct lks_recipe *r;
    const struct lks_step *step; /* NULL: behind the last */
};
struct lks_look lks_campaign_look_at(const struct lks_state *s, const struct lks_state_change *c,
                                     const struct lks_member *m);

/* What is to be done about a member, once its time has come. */
enum lks_next_act {
    LKS_NEXT_NOTHING,
    LKS_NEXT_SKIP,   /* it is gone from the fleet */
    LKS_NEXT_LOOKED, /* a person resolved an unknown outcome */
    LKS_NEXT_TURN,   /* from here on it rolls back */
    LKS_NEXT_STAYS,  /* out of service, as it is: nothing may be done to its unit */
    LKS_NEXT_KEEP,   /* it is to be out of service, and is not any more */
    LKS_NEXT_DRAIN,  /* its drain was ended by another: it is drained once more */
    LKS_NEXT_BEGIN,  /* its step, or the next part of it, begins */
    LKS_NEXT_ENDED,  /* what was asked for ended */
    LKS_NEXT_READ,   /* what was read is judged */
    LKS_NEXT_LATE,   /* its deadline */
    LKS_NEXT_GONE,   /* it is lost, and its change rolls back */
    LKS_NEXT_COUNT
};
struct lks_next {
    lks_ms at; /* UINT64_MAX: not before something else happens */
    enum lks_next_act act;
};

static inline struct lks_next lks_next_at(lks_ms at, enum lks_next_act act)
{
    return (struct lks_next){at, act};
}

/* The earlier of the two; of equal ones the first. */
static inline struct lks_next lks_next_of(struct lks_next a, struct lks_next b)
{
    return b.at < a.at ? b : a;
}

/* campaign_path.c: the way ------------------------------------------------------------------ */

/* The place of the first step of that kind, or the number of steps. */
uint32_t lks_campaign_path_find(const struct lks_recipe *r, enum lks_step_kind kind);

/* Its work is the number of an update by the endpoint; of another step, that of a command. */
bool lks_campaign_step_by_endpoint(const struct lks_step *step);

/* What was done by it cannot be undone. */
bool lks_campaign_step_one_way(const struct lks_step *step);

/* Whether steps of the recipe change something that can be reverted. */
bool lks_campaign_path_reversible(const struct lks_recipe *r);

/* It goes there only to exercise the rollback, and will turn before it is accepted. */
bool lks_campaign_look_proves(const struct lks_look *k);

/* From this step on there, the next one it has to do; behind the last: the number of steps. */
uint32_t lks_campaign_path_there(const struct lks_look *k, uint32_t from);

/* Whether the last that was done about the step's component is that it was staged. */
bool lks_campaign_path_staged(const struct lks_look *k, const struct lks_step *step);

/* From this step on back, the step itself included: what is to be undone, then a reboot, then it is
 * accepted and returns. `touched`: something was done to it. */
uint32_t lks_campaign_path_back(const struct lks_look *k, uint32_t from, bool touched);
/* The step behind the one it is at, in its rollback. */
uint32_t lks_campaign_path_back_next(const struct lks_look *k);

/* Something was done to it on its way: it rolls back through all checks. Of one that rolls back. */
bool lks_campaign_look_touched(const struct lks_look *k);

/* It was kept out of service and is tried again, and it is not known yet that nothing runs on it,
 * or it failed in its rollback. An earlier step may be half done: it neither returns as is nor is
 * anything undone. */
bool lks_campaign_look_retried(const struct lks_look *k);

/* How many of its steps, from the first, were or may be done to it by now, in this try or before it
 * was drained again; LKS_STEPS_UNKNOWN: it is in its rollback. */
uint32_t lks_campaign_look_reached(const struct lks_look *k);

/* It was drained by us, or is about to return: nothing may start on it. */
bool lks_campaign_look_out(const struct lks_look *k);

/* Another of its unit that has a step of lower rank left, or of which it is not known whether
 * something runs on it; before the return, one whose update is unresolved. NULL: its own step is
 * open. */
const struct lks_member *lks_campaign_look_behind(const struct lks_look *k);
static inline bool lks_look_open(const struct lks_look *k)
{
    return lks_campaign_look_behind(k) == NULL;
}

/* When the last of its unit came to where it is: before that no step behind it could start. */
lks_ms lks_campaign_unit_since(const struct lks_look *k);

/* Another of its unit that is kept, and of which it is not known whether something runs on it;
 * NULL: there is none. */
const struct lks_member *lks_campaign_unit_unsure(const struct lks_look *k);

/* An asset of its unit that is finished in this change, and whose update has an unknown outcome
 * that no person resolved: the endpoint may still carry it out, so no node around the asset returns
 * to service. NULL: there is none. */
const struct lks_member *lks_campaign_unit_unresolved(const struct lks_look *k);

/* Its unit rolls back, and can. */
bool lks_campaign_unit_returns(const struct lks_state_change *c, const struct lks_unit *u);
bool lks_campaign_unit_can_return(const struct lks_look *k);

/* It did an irreversible step, or is at it. */
bool lks_campaign_look_past_return(const struct lks_look *k);

/* Members that are out of service and will not come with the rest. */
uint32_t lks_campaign_unit_missing(const struct lks_look *k);

/* A node of its domain that is in use, stays so, and is meant to run something else than what the
 * unit returns with, in the change or not; LKS_NO_NODE: there is none. */
uint32_t lks_campaign_unit_beside(const struct lks_look *k);

/* A node of the unit's domain that is in service and does not roll back with those that are done:
 * it is not in the change, or was returned as is. It runs the target, or an asset around it is to
 * roll back. LKS_NO_NODE: there is none. */
uint32_t lks_campaign_unit_left(const struct lks_state *s, const struct lks_state_change *c,
                                const struct lks_unit *u);

/* The first that is done and does not roll back for the sake of others, in words behind others;
 * empty: there is none. */
struct lks_str lks_campaign_change_stays(struct lks_deciding *d, const struct lks_state_change *c);

/* Another change, or another pin, brought it elsewhere since this was planned: its steps are not
 * those that lead from there. What it is read to run counts more than what it should: a change that
 * could not roll it back leaves it with what it has. One that was planned from what it runs, though
 * it should run something else, was last right in that. Of a member that is in service. */
bool lks_campaign_member_elsewhere(const struct lks_state *s, const struct lks_state_change *c,
                                   const struct lks_member *m);

/* Work may come to it, as far as changes and people say. */
bool lks_campaign_node_in_use(const struct lks_node *n);

/* campaign_beside.c: the failure domain of a member ------------------------------------------- */

/* Nodes on one side of a redundant pair that are down, or about to be by this decision: looked for
 * once, when the first that has a side is asked for. */
struct lks_downs {
    bool known;
    uint32_t *nodes; /* in the decision's arena, with room for all that have a side */
    uint32_t count, room;
};

/* The redundant peer that is not in a domain, where each peer is a unit of its own. Kept: a person
 * holds it, a change keeps it out of service, or it is not heard of. */
enum lks_pair { LKS_PAIR_UP, LKS_PAIR_KEPT, LKS_PAIR_DOWN };
enum lks_pair lks_campaign_member_pair(struct lks_deciding *d, const struct lks_state_change *c,
                                       const struct lks_member *m, struct lks_downs *downs);

/* From here on the node is down. */
void lks_campaign_downs_add(const struct lks_deciding *d, struct lks_downs *downs, uint32_t node);

/* The redundant peer within its domain, where that is down and is not on its way with this unit;
 * LKS_NO_NODE: it is not. */
uint32_t lks_campaign_side_kept(const struct lks_look *k);

/* A node of an asset's domain that is in use, of those that are not in a change (NULL: of all);
 * LKS_NO_NODE: there is none. */
uint32_t lks_campaign_domain_used(const struct lks_state *s, const struct lks_state_change *without,
                                  uint32_t node);

/* The first node of a unit that is a whole domain, in a change to a stack; LKS_NO_NODE otherwise.
 */
uint32_t lks_campaign_unit_domain(const struct lks_state *s, const struct lks_state_change *c,
                                  const struct lks_unit *u);

/* A node of its domain was left out of the plan, since it was to run the target already, and is not
 * meant to any more, or another change is at it: the domain would serve mixed. */
bool lks_campaign_unit_apart(const struct lks_state *s, const struct lks_state_change *c,
                             const struct lks_unit *u);

/* Whether its failure domain lets its firmware be changed; else it waits, or its step fails. */
bool lks_campaign_look_clear(struct lks_deciding *d, const struct lks_look *k);

/* It is about to be the first of its unit that drains, and no unit may start: an image staged
 * beside the running one is no start. */
bool lks_campaign_unit_stopped(const struct lks_look *k);

/* The same by the clock, and by what happens in its pool; else it waits, or its step fails. */
bool lks_campaign_unit_may_leave(struct lks_deciding *d, const struct lks_look *k);

/* campaign_steps.c: each kind of step ------------------------------------------------------- */

/* When its step, as it stands, needs something. */
struct lks_next lks_campaign_step_next(const struct lks_look *k);

/* What it asked for was refused: for now (LKS_E_LIMIT), or that is how it ended. */
void lks_campaign_step_refused(struct lks_deciding *d, const struct lks_look *k, enum lks_code code,
                               struct lks_str why);

/* Do that. */
void lks_campaign_step_begin(struct lks_deciding *d, const struct lks_look *k);
void lks_campaign_step_ended(struct lks_deciding *d, const struct lks_look *k);
void lks_campaign_step_read(struct lks_deciding *d, const struct lks_look *k);
void lks_campaign_step_late(struct lks_deciding *d, const struct lks_look *k);

/* How its pool's scheduler is asked to drain it. */
enum lks_drain_sched lks_campaign_look_sched(const struct lks_look *k);

/* How long its drain may take; when it is given up. */
lks_ms lks_campaign_leave_limit(const struct lks_deciding *d, const struct lks_look *k);
struct lks_next lks_campaign_leave_ends(const struct lks_look *k);

/* How long its step may take; not of draining. */
lks_ms lks_campaign_step_limit(const struct lks_look *k);

/* campaign_jobs.c: its scheduler ------------------------------------------------------------- */

/* Another ended its drain, and it is not drained and read since then. */
bool lks_campaign_sched_undrained(const struct lks_look *k);

/* Its scheduler reported it as drained, but too long ago: it may not be so any more. */
bool lks_campaign_sched_unheard(const struct lks_look *k);

/* It is drained once more, or held for a person. */
void lks_campaign_sched_again(struct lks_deciding *d, const struct lks_look *k);

/* It is not drained for this change any more: what was noted of that drain ends. */
void lks_campaign_sched_over(struct lks_deciding *d, const struct lks_look *k, struct lks_str text);

/* campaign_late.c: its deadline, by the kind of its step --------------------------------------- */

void lks_campaign_late_lost(struct lks_deciding *d, const struct lks_look *k);
void lks_campaign_late_reboot(struct lks_deciding *d, const struct lks_look *k);
void lks_campaign_late_leave(struct lks_deciding *d, const struct lks_look *k);
void lks_campaign_late_check(struct lks_deciding *d, const struct lks_look *k);

/* campaign_read.c: what it is ----------------------------------------------------------------- */

enum lks_read { LKS_READ_NOT_YET, LKS_READ_RIGHT, LKS_READ_WRONG };

/* Whether what is known of it now is what it should be: at CHECK all layers so far, else all of it.
 * And what is wrong, for people. */
enum lks_read lks_campaign_look_read(const struct lks_look *k);
struct lks_str lks_campaign_wrong_text(struct lks_deciding *d, const struct lks_look *k);

/* An update of it since it began ended its readings, and they were not taken again. */
bool lks_campaign_look_unread(const struct lks_look *k);

/* campaign_member.c: how a member moves ----------------------------------------------------- */

struct lks_next lks_campaign_member_next(const struct lks_look *k);

/* Only its scheduler, which gives no answer, keeps it from a step that has no deadline before it
 * starts. */
bool lks_campaign_member_barred(const struct lks_look *k, lks_ms wall);

/* A record of it as it stands, to be changed and listed. */
struct lks_rec_member lks_campaign_member_record(const struct lks_look *k);
void lks_campaign_member_list(struct lks_deciding *d, const struct lks_look *k,
                              struct lks_rec_member r);

/* On to its next step, or to its end. */
void lks_campaign_member_advance(struct lks_deciding *d, const struct lks_look *k);

/* It turns; `done`: its step may have been done, or part of it. */
void lks_campaign_member_turn(struct lks_deciding *d, const struct lks_look *k, bool done,
                              enum lks_failure failure, struct lks_str text);

/* It is out of service, on its way to where it goes now: what is not recorded yet is. */
void lks_campaign_member_keep_out(struct lks_deciding *d, const struct lks_look *k,
                                  lks_text target);

/* The stack that it is on the way to; 0: none, as our own agent is none. */
lks_text lks_campaign_member_target(const struct lks_look *k, bool back);

/* Whether something may have been done to it by now, there or back; nothing at all, not even staged
 * beside what runs. */
bool lks_campaign_look_changed(const struct lks_look *k);
bool lks_campaign_look_untouched(const struct lks_look *k);

/* It is skipped: in service as it was, with an alarm. Of one that nothing was done to. */
void lks_campaign_member_leave(struct lks_deciding *d, const struct lks_look *k,
                               struct lks_str text);

/* Part of a tick: what is due about a node in any change. */
void lks_campaign_member_tick(struct lks_deciding *d, uint32_t node);

/* campaign_fail.c: what becomes of a failure ------------------------------------------------ */

/* It is held out of service for a person; a domain that cannot do without it rolls back whole. */
void lks_campaign_member_give_up(struct lks_deciding *d, const struct lks_look *k,
                                 enum lks_failure failure, struct lks_str text);

void lks_campaign_member_fail(struct lks_deciding *d, const struct lks_look *k,
                              enum lks_failure failure, bool done, struct lks_str text);

/* It ends so, and a person is told. */
void lks_campaign_member_fence(struct lks_deciding *d, const struct lks_look *k,
                               enum lks_member_state state, enum lks_failure failure,
                               bool unit_returns, struct lks_str text);

/* Members that a domain can do without, by the fleet's file. */
uint32_t lks_campaign_domain_spares(const struct lks_deciding *d, lks_text domain);

/* campaign_queue.c: who is tried again ------------------------------------------------------- */

/* It is tried again, or once something is so: "there is room in its wave"; `asked`: "by lee: it is
 * repaired". */
void lks_campaign_member_again(struct lks_deciding *d, const struct lks_look *k,
                               struct lks_str asked);
void lks_campaign_member_queue(struct lks_deciding *d, const struct lks_look *k, const char *once,
                               struct lks_str asked);

/* A member of it was rolled back: tried again it drains again, and its pools have to do without it.
 */
bool lks_campaign_unit_reverted(const struct lks_state_change *c, const struct lks_unit *u);

/* Part of a tick: who waits for that begins, where there is room. */
enum lks_queue { LKS_QUEUE_EMPTY, LKS_QUEUE_WAITS, LKS_QUEUE_BEGUN };
enum lks_queue lks_campaign_queue(struct lks_deciding *d, const struct lks_state_change *c);

/* campaign.c: changes as a whole ------------------------------------------------------------- */

/* What the text of a wave starts with while none of its nodes is in progress; why follows. */
#define LKS_WAVE_WAITS "waits: "

/* The change moves to a state; an alarm about the change. */
void lks_campaign_move(struct lks_deciding *d, const struct lks_state_change *c,
                       enum lks_change_state state, struct lks_str reason);
void lks_campaign_alarm(struct lks_deciding *d, const struct lks_state_change *c,
                        struct lks_str text);

/* How many of a wave, or of a whole change, are in progress; how many a change keeps drained. */
uint32_t lks_campaign_members_moving(const uint32_t members[LKS_MEMBER_STATE_COUNT]);
uint32_t lks_campaign_change_kept(const struct lks_state_change *c);

/* campaign_begin.c: who may begin ------------------------------------------------------------ */

/* The last unit that there was no room for in this decision, and why. */
struct lks_crowded {
    const struct lks_unit *unit;
    const char *why;
};

/* Why a unit does not start now. Some reasons pass by themselves, or by a person's decision; for
 * others it is left out when it is the last of its wave; and the base of its plan may be gone. */
enum lks_unit_bar_kind {
    LKS_UNIT_BAR_NOT,
    LKS_UNIT_BAR_WAITS,
    LKS_UNIT_BAR_ABSENT,
    LKS_UNIT_BAR_OTHER
};

struct lks_unit_look {
    struct lks_deciding *d;
    const struct lks_state_change *c;
    const struct lks_unit *u;
    struct lks_downs *downs;
    bool back;
    bool spared; /* its domain can do without those of it that are away */
    struct lks_crowded crowded;
};

/* What bars it by its own nodes; the same beside what other changes have of its pools now. */
enum lks_unit_bar_kind lks_campaign_unit_bar(const struct lks_unit_look *l);
enum lks_unit_bar_kind lks_campaign_unit_bar_beside(struct lks_unit_look *l, uint32_t begun);

/* Whether one of the unit is still to start, or with `back` is done and to roll back. */
bool lks_campaign_unit_meant(const struct lks_unit_look *l);

/* Its nodes are down or in maintenance in their scheduler: no job loses capacity by its change. */
bool lks_campaign_unit_idle(const struct lks_unit_look *l);

/* It begins; or its nodes are left alone, each with the reason. */
void lks_campaign_unit_begin(const struct lks_unit_look *l);
void lks_campaign_unit_skip(const struct lks_unit_look *l);

/* Another change has the node. The rollback was not exercised on its hardware yet. The redundant
 * peer of the node is on hold or retained. */
bool lks_campaign_member_taken(const struct lks_unit_look *l, const struct lks_member *m);
bool lks_campaign_member_unproven(const struct lks_unit_look *l, const struct lks_member *m);
bool lks_campaign_member_pair_kept(const struct lks_unit_look *l, const struct lks_member *m);
bool lks_campaign_unit_unproven(const struct lks_unit_look *l);

/* Why a unit does not start now, or with `back` does not roll back, by the first of it with a
 * reason: "n1: frozen"; an empty text: nothing about its members keeps it. */
struct lks_str lks_campaign_unit_barred(struct lks_deciding *d, const struct lks_state_change *c,
                                        const struct lks_unit *u, bool back);

/* campaign_drift.c: nodes that drifted since they were planned ----------------------------------
 */

/* It did not begin, and drifted; and in words. */
bool lks_campaign_member_drifted(const struct lks_state *s, const struct lks_state_change *c,
                                 const struct lks_member *m);
struct lks_str lks_campaign_drifted_text(struct lks_deciding *d, uint32_t node);

/* Why the wave does not begin, since too many of it drifted; empty: it may. */
struct lks_str lks_campaign_wave_drifted(struct lks_deciding *d, const struct lks_state_change *c,
                                         uint32_t wave);

/* The same for a change that a person starts, and refused; then those that did are skipped. */
bool lks_campaign_change_drift_fits(struct lks_deciding *d, const struct lks_state_change *c);
void lks_campaign_change_leave_drifted(struct lks_deciding *d, const struct lks_state_change *c);

/* campaign_back.c: the rollback of a change -------------------------------------------------- */

/* When (wall) a node that is lost is not waited for any more by its change, which rolls back;
 * UINT64_MAX: it is there, expected to be away, or its change does not roll back. */
lks_ms lks_campaign_look_gone(const struct lks_look *k);

/* Part of a tick: nodes of a change that is rolled back, or aborted, roll back; its end. */
void lks_campaign_roll_back(struct lks_deciding *d, const struct lks_state_change *c);
void lks_campaign_abort(struct lks_deciding *d, const struct lks_state_change *c);

/* campaign_pools.c -------------------------------------------------------------------------- */

/* Why its pools or power zones cannot do with the unit out of service, too, beside what other
 * changes have now; for a change that rolls back, beside its own nodes in the zone, too. NULL: they
 * can. `begun`: members that start by the same decision. With `last`, those of the same size, pool,
 * zone and stack as the last one wait as it does: to count that anew for each of many would read
 * all nodes as often. */
const char *lks_campaign_unit_crowds(const struct lks_deciding *d, const struct lks_state_change *c,
                                     const struct lks_unit *u, uint32_t begun,
                                     struct lks_crowded *last);

/* Nodes that came to a pool since the plan was made are taken along; false: there were none. */
bool lks_campaign_absorb(struct lks_deciding *d, const struct lks_state_change *c);

/* The change is done: pools that it was for are pinned to its stack. */
void lks_campaign_pin(struct lks_deciding *d, const struct lks_state_change *c);

/* campaign_evidence.c ------------------------------------------------------------------------- */

/* What the gate says, written down where it is a planned look or halts the wave. */
struct lks_gate_said lks_campaign_evidence_look(struct lks_deciding *d,
                                                const struct lks_state_change *c, uint32_t wave);

/* campaign_ramp.c ----------------------------------------------------------------------------- */

/* Units of the wave that may be in progress now: as many as it is wide, and where it grows with the
 * evidence no more than that allows. */
uint32_t lks_campaign_ramp_room(const struct lks_state_change *c, uint32_t wave);

/* Let it grow where it may. A text: a person has to decide, and why. */
struct lks_str lks_campaign_ramp_grow(struct lks_deciding *d, const struct lks_state_change *c,
                                      uint32_t wave);

/* campaign_gate.c ---------------------------------------------------------------------------- */

/* The strictest of all gates; with `begun`, only whether it is to be halted. */
struct lks_gate_said lks_campaign_gate_judge(struct lks_deciding *d,
                                             const struct lks_state_change *c, uint32_t wave);

/* A text of the state. */
static inline struct lks_str lks_look_text(const struct lks_look *k, lks_text text)
{
    return lks_state_text(k->s, text);
}

static inline struct lks_str lks_look_name(const struct lks_look *k)
{
    return lks_state_name(k->s, k->m->node);
}

/* campaign.c: rules of events; the first is part of a tick: what members, waves and changes do next
 */
lks_rule lks_campaign_tick, lks_campaign_sched;

/* In campaign_jobs.c: jobs on nodes that drain. */
lks_rule lks_campaign_jobs, lks_campaign_jobs_acted;

/* In campaign_votes.c. A ring of a change that began without its approvals does not begin before it
 * has them, and says so. */
bool lks_campaign_lacks(struct lks_deciding *d, const struct lks_state_change *c, uint32_t wave);

/* "2 of 3 approvals, for pool train at site north", of which the second half is where it is not the
 * same everywhere. */
struct lks_str lks_campaign_tally(struct lks_deciding *d, const struct lks_tally *t);

#endif
