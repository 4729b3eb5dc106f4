/*
 * Actions on nodes: commands to agents, updates by management endpoints, drains, and the evaluation
 * of readings. People ask for actions by events and campaigns by steps; both pass the same checks.
 */
#ifndef LKS_CORE_ACTS_H
#define LKS_CORE_ACTS_H

#include "core/decision/decision.h"
#include "core/rows/text.h"

struct lks_node;
struct lks_plan;
struct lks_state_change;
struct lks_state_command;

/* What a judgement rests on, while it is decided: text and digest live in the decision or the
 * state. Both empty: nothing was read. */
struct lks_deciding_basis {
    struct lks_str text, digest;
};

/* In decide_tuple.c. The basis of what was read; false: it was refused, or memory ran out. */
bool lks_decide_tuple_readings(struct lks_deciding *d, const struct lks_tuple *tuple,
                               struct lks_deciding_basis *out);

/* All that a node is judged by: what was read in band and out of band, where either was read, and
 * what its scheduler advertises. */
struct lks_deciding_bands {
    struct lks_deciding_basis inband, outband;
    bool expired;             /* the latter is past its age */
    struct lks_str scheduler; /* lines; empty: nothing */
};

/* They together: one alone where there is no other. False as above. */
bool lks_decide_tuple_whole(struct lks_deciding *d, const struct lks_deciding_bands *bands,
                            struct lks_deciding_basis *out);

/* In decide_advertised.c. What a scheduler advertises, as lines of a basis. */
struct lks_str lks_decide_advertised_lines(struct lks_deciding *d, struct lks_str gres,
                                           struct lks_str state);

/* The same, as the state has it of a node. */
struct lks_str lks_decide_advertised_known(struct lks_deciding *d, const struct lks_node *n);

/* The one behind a handle of the state; 0: none. */
struct lks_deciding_basis lks_decide_tuple_known(const struct lks_deciding *d, uint32_t handle);

/* Whether an out-of-band reading taken then is past its age. */
bool lks_decide_tuple_expired(const struct lks_deciding *d, lks_ms taken);

/* Record a basis, unless the state or this decision has it. */
void lks_decide_tuple_basis(struct lks_deciding *d, const struct lks_deciding_basis *basis);

/* How a basis compares with a stack; made and recorded where that was not known. Only counts and
 * what is wrong are filled in; not judged where the stack is not known. */
struct lks_rec_verdict lks_decide_tuple_judge(struct lks_deciding *d,
                                              const struct lks_deciding_basis *basis,
                                              lks_text intent);

/* What the node reported of itself is over: something was done since that can have changed it. It
 * stays on record, without the boot that made it valid, until the node is read again. */
void lks_decide_tuple_over(struct lks_deciding *d, uint32_t node);

/* In decide_drift.c. What was read out of band is over, for this reason; nothing if nothing was. */
void lks_decide_outband_over(struct lks_deciding *d, uint32_t node, struct lks_str reason);

/* Our own drain of the node ends, where there is one and no change has the node. */
void lks_decide_drift_undrain(struct lks_deciding *d, uint32_t node, struct lks_str reason);

/* Its change is over for it. Until then its drain for drift stays, though it came right meanwhile:
 * between two drains a scheduler would have work for it. */
void lks_decide_drift_changed(struct lks_deciding *d, uint32_t node, struct lks_str reason);

/* A person released the pool's MASS: what waited is done. */
void lks_decide_acts(struct lks_deciding *d, uint32_t pool);

/* A freeze of the pool, or of the whole fleet (UINT32_MAX), is over: what waited for it is done. */
void lks_decide_drift_thawed(struct lks_deciding *d, uint32_t pool);

/* The pool is to do more about drift from now on: it is done about nodes that drift already. Where
 * these are so many that it would be a mass event, it is one. */
void lks_decide_acts_begin(struct lks_deciding *d, uint32_t pool, struct lks_str enforce,
                           unsigned on_drift);

/* In decide_command.c. No yes that was given can still bring a job to the node; else it is refused.
 */
bool lks_decide_command_quiet(struct lks_deciding *d, uint32_t node);

/* No command is open that does more than read; else it is refused: the node stays out of service
 * until it answered. */
bool lks_decide_command_answered(struct lks_deciding *d, uint32_t node);

/* A command for the node, without its number, node and boot, with all the checks of one that a
 * person asks for; false: it was refused. A command that disrupts no job does not wait for a yes to
 * expire. */
bool lks_decide_command_issue(struct lks_deciding *d, uint32_t node, struct lks_rec_command command,
                              bool disrupts);

/* In decide_flash.c. No update of it is in progress, or waits for a person; else it is refused. */
bool lks_decide_flash_unflashed(struct lks_deciding *d, uint32_t node);

/* Whether `b` is the redundant peer of `a`: of the same domain, or else of the same rack. */
bool lks_decide_flash_other_side(const struct lks_node *a, const struct lks_node *b);

/* An update of the node, without its number and node, in the same way. Of one that was planned
 * the manifest is not read again. */
bool lks_decide_flash_issue(struct lks_deciding *d, uint32_t node, struct lks_rec_flash flash,
                            bool planned);

/* In decide_hand.c. The node may be brought to the stack; else it is refused: production takes what
 * was released. */
bool lks_decide_hand_takes(struct lks_deciding *d, uint32_t node, struct lks_str stack);

/* The same of all nodes that a plan has, and of those of a change. */
bool lks_decide_hand_takes_plan(struct lks_deciding *d, const struct lks_plan *plan);
bool lks_decide_hand_takes_change(struct lks_deciding *d, const struct lks_state_change *c);

/* What a person has flashed, or run, on a node of production is in the stack that it should run;
 * else it is refused. A command's digests are its artifacts. */
bool lks_decide_hand_pins_flash(struct lks_deciding *d, uint32_t node,
                                const struct lks_rec_flash *flash);
bool lks_decide_hand_pins_command(struct lks_deciding *d, uint32_t node, struct lks_str digests);

/* Promise 9: a bundle with a good verdict names each of these artifacts; else it is refused. */
bool lks_decide_hand_vouched(struct lks_deciding *d, struct lks_str artifacts);

/* Promise 1, for what people do by hand: in production the node, or for an asset each node of its
 * domain, is out of service, and its agent found no GPU process since; else it is refused. */
bool lks_decide_hand_drained(struct lks_deciding *d, uint32_t node);

/* The node is not frozen; else it is refused, with who froze it. */
bool lks_decide_hand_thaws(struct lks_deciding *d, uint32_t node);

/* Whether an update of the node's other side, if it has one, is not over. */
bool lks_decide_flash_side_busy(const struct lks_deciding *d, uint32_t node);

/* A command is over, for this reason. */
void lks_decide_command_ended(struct lks_deciding *d, const struct lks_state_command *c,
                              enum lks_outcome outcome, struct lks_str text);

/* decide_tuple.c: what a node runs, its parts, intake */
lks_rule lks_decide_tuple;

/* Part of it, in decide_image_seen.c: the images that the node has. */
lks_rule lks_decide_image_seen;

/* decide_command.c; the last is part of a tick: commands without an answer end */
lks_rule lks_decide_command, lks_decide_command_tick;
/* decide_drift.c; the last is part of a tick: drift begins and ends, acts are due */
lks_rule lks_decide_advertised, lks_decide_outage, lks_decide_outband, lks_decide_condition,
    lks_decide_drift_tick;
/* decide_check.c: the site's health check; the second ends what it said, since a person takes the
 * condition over. */
lks_rule lks_decide_check;
void lks_decide_check_over(struct lks_deciding *d, uint32_t node, struct lks_str text);
/* decide_flash.c: updates by them; the last is part of a tick: those that do not end are given up
 */
lks_rule lks_decide_flash, lks_decide_flash_saved, lks_decide_flash_ended, lks_decide_flash_resolve,
    lks_decide_flash_tick;

/* In decide_sched.c. How long a scheduler may give no answer that is needed, before people are
 * told.
 */
#define LKS_DECIDE_SCHED_SILENT (300 * LKS_SECOND)

lks_rule lks_decide_sched_alarm; /* of a whole site, or of a bridge */
lks_rule lks_decide_sched_slot;  /* a stack of a pool gets a slot */

/* What a scheduler reports of a node: alarms that follow from it. `verified`: the state has it that
 * the node was reported as drained. True: its drain was ended or taken over since, or a job started
 * there all the same. */
bool lks_decide_sched_heard(struct lks_deciding *d, bool verified);

/* Whether the scheduler of a node on hold reports it as drained, from this decision on. */
void lks_decide_sched_emptied(struct lks_deciding *d, uint32_t node, bool on, struct lks_str text);

/* decide_reset.c: wedged nodes that two people have reset */
lks_rule lks_decide_reset;

#endif
