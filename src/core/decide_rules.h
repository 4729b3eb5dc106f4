/* For core/decide*.c: how a decision is written down, and the rules by event. */
#ifndef LKS_CORE_DECIDE_RULES_H
#define LKS_CORE_DECIDE_RULES_H

#include "codec/hostlist.h"
#include "core/backing.h"
#include "core/decide.h"

struct lks_deciding {
    const struct lks_state *state;
    const struct lks_book *book;
    struct lks_now now;
    const struct lks_event *event;
    struct lks_decision *out;
    uint64_t next_alarm, next_command, next_flash;
    struct lks_deciding_turns *turns; /* by pool, made when the first node turns */
    struct lks_record scratch;        /* filled in where there is no memory for another */
};

/* Append a record, to be filled in by the caller; never NULL: after a failure it is scratch. */
struct lks_record *lks_deciding_add(struct lks_deciding *d, enum lks_record_kind kind);

/* A text that lives as long as the decision. */
struct lks_str lks_deciding_text(struct lks_deciding *d, const char *fmt, ...) LKS_PRINTF(2, 3);
struct lks_str lks_deciding_copy(struct lks_deciding *d, struct lks_str text);

/* The answer is no; what was listed is taken back. */
void lks_deciding_refuse(struct lks_deciding *d, enum lks_code code, const char *fmt, ...)
    LKS_PRINTF(3, 4);

/* Raise an alarm, unless one of its kind and subject is open; the id of whichever it is. */
uint64_t lks_deciding_alarm(struct lks_deciding *d, enum lks_alarm_kind kind,
                            struct lks_str subject, struct lks_str text);

/* What it says is no longer so: the open alarm of that kind and subject is released, if there is
 * one. */
void lks_deciding_alarm_over(struct lks_deciding *d, enum lks_alarm_kind kind,
                             struct lks_str subject, struct lks_str reason);

/* For what a person asks for, in decide_node.c. The reason is there, is one line and not too long;
 * else it is refused. */
bool lks_deciding_reason(struct lks_deciding *d);

/* The same for another text that a person or a program has to give; `what` is how messages call
 * it. In decide_registry.c. */
bool lks_deciding_line(struct lks_deciding *d, const char *what, struct lks_str text, size_t max);

/* It is a digest as we write them; else it is refused. And: of `count` things, of which `max` are
 * the most, there may be one more. In decide_registry.c. */
bool lks_deciding_digest(struct lks_deciding *d, const char *what, struct lks_str digest);
bool lks_deciding_space(struct lks_deciding *d, const char *what, uint32_t count, unsigned max);

/* Who stands behind what is asked, for as long as the decision lives; and whether nobody of them
 * stands behind `other`. Else it is refused: `what` says what they want, such as "approve change
 * 7". In decide_credential.c. */
struct lks_backing lks_deciding_backing(struct lks_deciding *d);
bool lks_deciding_apart(struct lks_deciding *d, struct lks_backing other, struct lks_str what);

/* "NAME", "user:NAME" or "unix:UID"; else it is refused. And a name as the first has. In
 * decide_access.c. */
bool lks_deciding_identity(struct lks_deciding *d, struct lks_str identity);
bool lks_deciding_is_name(struct lks_str name);

/* There is no node of that name: refused, with the name that may have been meant. */
void lks_deciding_no_node(struct lks_deciding *d, struct lks_str name);

/* A host list that lives as long as the decision; false where it would be longer than such a list
 * may be, or memory ran out. */
bool lks_deciding_fold(struct lks_deciding *d, const struct lks_str *names, size_t count,
                       struct lks_str *out);

/* `node` turns for the worse ("late", "drift") by this decision, for the first time: the MASS
 * rule. */
void lks_deciding_turn(struct lks_deciding *d, uint32_t node, const char *what);

/* What a judgement rests on, while it is decided: text and digest live in the decision or the
 * state. Both empty: nothing was read. */
struct lks_deciding_basis {
    struct lks_str text, digest;
};

/* In decide_tuple.c. The basis of what was read; false: it was refused, or memory ran out. */
bool lks_deciding_readings(struct lks_deciding *d, const struct lks_tuple *tuple,
                           struct lks_deciding_basis *out);

/* Both bands together: the first alone where there is no second. False as above. */
bool lks_deciding_whole(struct lks_deciding *d, const struct lks_deciding_basis *inband,
                        const struct lks_deciding_basis *outband, bool expired,
                        struct lks_deciding_basis *out);

/* The one behind a handle of the state; 0: none. */
struct lks_deciding_basis lks_deciding_known(const struct lks_deciding *d, uint32_t handle);

/* Whether an out-of-band reading taken then is past its age. */
bool lks_deciding_expired(const struct lks_deciding *d, lks_ms taken);

/* Record a basis, unless the state or this decision has it. */
void lks_deciding_basis(struct lks_deciding *d, const struct lks_deciding_basis *basis);

/* How a basis compares with a stack; made and recorded where that was not known. Only counts and
 * what is wrong are filled in; not judged where the stack is not known. */
struct lks_rec_verdict lks_deciding_judge(struct lks_deciding *d,
                                          const struct lks_deciding_basis *basis, lks_text intent);

/* The call reaches this node: it counts, an asset only by being one. In decide.c. */
void lks_deciding_touch(struct lks_deciding *d, uint32_t node);

/* Whether a slice of a tick has room; where it has none, another tick is due at once. */
static inline bool lks_deciding_room(struct lks_deciding *d)
{
    bool room = d->out->count < LKS_DECISION_SLICE;
    d->out->more = d->out->more || !room;
    return room;
}

/* In decide_pulse.c. Look at each node whose time in `h` came, `most` of them; false: there are
 * more, for another tick. */
bool lks_deciding_due(struct lks_deciding *d, const struct lks_heap *h, lks_ms until, size_t most,
                      void (*look)(struct lks_deciding *d, uint32_t node));

/* In decide_deviation.c. The event's host list, each name once, all of them in the fleet; false: it
 * was refused, or memory ran out. */
bool lks_deciding_hosts(struct lks_deciding *d, struct lks_hostlist *out);

/* The same, of no more nodes than one call may touch outside a change. */
bool lks_deciding_few(struct lks_deciding *d, struct lks_hostlist *out);

/* In decide_drift.c. What was read out of band is over, for this reason; nothing if nothing was. */
void lks_deciding_outband_over(struct lks_deciding *d, uint32_t node, struct lks_str reason);

/* Our own drain of the node ends, where there is one and no change has the node. */
void lks_deciding_undrain(struct lks_deciding *d, uint32_t node, struct lks_str reason);

/* Its change is over for it. Until then its drain for drift stays, though it came right meanwhile:
 * between two drains a scheduler would have work for it. */
void lks_deciding_changed(struct lks_deciding *d, uint32_t node, struct lks_str reason);

/* A person released the pool's MASS: what waited is done. */
void lks_deciding_acts(struct lks_deciding *d, uint32_t pool);

/* A freeze of the pool, or of the whole fleet (UINT32_MAX), is over: what waited for it is done. */
void lks_deciding_thawed(struct lks_deciding *d, uint32_t pool);

/* The pool is to do more about drift from now on: it is done about nodes that drift already. Where
 * these are so many that it would be a mass event, it is one. */
void lks_deciding_acts_begin(struct lks_deciding *d, uint32_t pool, struct lks_str enforce,
                             unsigned on_drift);

/* In decide_fleet.c. A change brought the pool there: that is its pin from now on. */
void lks_deciding_pin(struct lks_deciding *d, uint32_t pool, lks_text name, lks_text digest);

/* In decide.c. Whether automatic acts in the pool wait, by the state or by this decision. */
bool lks_deciding_waits(const struct lks_deciding *d, uint32_t pool);

/* In decide_command.c. No yes that was given can still bring a job to the node; else it is refused.
 */
bool lks_deciding_quiet(struct lks_deciding *d, uint32_t node);

/* No command is open that does more than read; else it is refused: the node stays out of service
 * until it answered. */
bool lks_deciding_answered(struct lks_deciding *d, uint32_t node);

/* A command for the node, without its number, node and boot, with all the checks of one that a
 * person asks for; false: it was refused. What disrupts nobody does not wait for a yes to
 * expire. */
bool lks_deciding_command(struct lks_deciding *d, uint32_t node, struct lks_rec_command command,
                          bool disrupts);

/* In decide_flash.c. No update of it is under way, or waits for a person; else it is refused. */
bool lks_deciding_unflashed(struct lks_deciding *d, uint32_t node);

/* Whether `b` is the other side of a redundant pair: of the same domain, or else of the same rack.
 */
bool lks_deciding_other_side(const struct lks_node *a, const struct lks_node *b);

/* An update of the node, without its number and node, in the same way. Of one that was planned
 * nobody reads the manifest again. */
bool lks_deciding_flash(struct lks_deciding *d, uint32_t node, struct lks_rec_flash flash,
                        bool planned);

/* In decide_hand.c. The node may be brought to the stack; else it is refused: production takes what
 * was released. */
bool lks_deciding_takes(struct lks_deciding *d, uint32_t node, struct lks_str stack);

/* The same of all nodes that a plan has, and of those of a change. */
bool lks_deciding_takes_plan(struct lks_deciding *d, const struct lks_plan *plan);
bool lks_deciding_takes_change(struct lks_deciding *d, const struct lks_state_change *c);

/* What a person has flashed, or run, on a node of production is in the stack that it should run;
 * else it is refused. A command's digests are its artifacts. */
bool lks_deciding_pins_flash(struct lks_deciding *d, uint32_t node,
                             const struct lks_rec_flash *flash);
bool lks_deciding_pins_command(struct lks_deciding *d, uint32_t node, struct lks_str digests);

/* Promise 9: a bundle with a good verdict names each of these artifacts; else it is refused. */
bool lks_deciding_vouched(struct lks_deciding *d, struct lks_str artifacts);

/* Promise 1, for what people do by hand: in production the node, or for an asset each node of its
 * domain, is out of service, and its agent found no GPU process since; else it is refused. */
bool lks_deciding_emptied(struct lks_deciding *d, uint32_t node);

/* The node is not frozen; else it is refused, with who froze it. */
bool lks_deciding_thaws(struct lks_deciding *d, uint32_t node);

/* Whether an update of the node's other side, if it has one, is not over. */
bool lks_deciding_side_busy(const struct lks_deciding *d, uint32_t node);

/* A part of a tick may be refused without the rest: what was listed before, `count` records, stands
 * again. LKS_OK: nothing was refused; else the kind of refusal, and `why`. In decide.c. */
enum lks_code lks_deciding_unrefuse(struct lks_deciding *d, size_t count, struct lks_str *why);

typedef void lks_rule(struct lks_deciding *d);

/* decide_pulse.c: liveness, MASS, clocks, witnesses */
lks_rule lks_decide_tick, lks_decide_started, lks_decide_limits, lks_decide_clock, lks_decide_beat;
/* decide_tuple.c: what a node runs, its parts, intake */
lks_rule lks_decide_tuple;

/* Part of it, in decide_image_seen.c: the images that the node has. */
lks_rule lks_decide_image_seen;

/* decide_enroll.c: tokens and certificates of nodes */
lks_rule lks_decide_token, lks_decide_enroll, lks_decide_renew;
/* decide_fleet.c: declarative apply */
lks_rule lks_decide_fleet;
/* decide_node.c */
lks_rule lks_decide_hold, lks_decide_release, lks_decide_replace, lks_decide_remove;
/* decide_access.c: bindings, alarms */
lks_rule lks_decide_alarm_release, lks_decide_grant, lks_decide_ungrant;
/* decide_credential.c: API tokens and certificates of people */
lks_rule lks_decide_login, lks_decide_logout;
lks_rule lks_decide_api_token, lks_decide_api_token_gone, lks_decide_api_token_renew,
    lks_decide_certify, lks_decide_certify_gone;
/* decide_command.c; the last is part of a tick: commands that nobody answered end */
lks_rule lks_decide_command, lks_decide_result, lks_decide_command_tick;
/* decide_figures.c: part of a result, what acceptance checks found, for the gates of changes. */
void lks_deciding_figures(struct lks_deciding *d, const struct lks_state_command *command);

/* decide_measure.c: a number as records have it; empty where there is none. */
struct lks_str lks_deciding_real(struct lks_deciding *d, bool has, double value);
/* decide_drift.c; the last is part of a tick: drift begins and ends, acts are due */
lks_rule lks_decide_outband, lks_decide_condition, lks_decide_drift_tick;
/* decide_deviation.c; the last is part of a tick: deviations expire */
lks_rule lks_decide_deviate, lks_decide_deviation_agree, lks_decide_deviation_close,
    lks_decide_deviation_tick;
/* decide_registry.c: stacks, images, artifacts */
lks_rule lks_decide_publish, lks_decide_step, lks_decide_image, lks_decide_image_gone,
    lks_decide_artifact, lks_decide_artifact_gone;
/* decide_job.c */
lks_rule lks_decide_job, lks_decide_override, lks_decide_observed, lks_decide_lead;
/* decide_endpoint.c: certificates of management endpoints */
lks_rule lks_decide_endpoint;
/* decide_flash.c: updates by them; the last is part of a tick: those that nobody ends are given up
 */
lks_rule lks_decide_flash, lks_decide_flash_saved, lks_decide_flash_ended, lks_decide_flash_resolve,
    lks_decide_flash_tick;

/* decide_change.c: what people say of changes */
lks_rule lks_decide_propose, lks_decide_change_move, lks_decide_member_move, lks_decide_member_skip,
    lks_decide_freeze, lks_decide_forecast;

/* decide_ticket.c: votes from elsewhere, and what is told there */
lks_rule lks_decide_ticket, lks_decide_ticket_told;

/* decide_reset.c: wedged nodes that two people have reset */
lks_rule lks_decide_reset;

/* decide_audit.c: calls that were denied */
lks_rule lks_decide_audited;

/* decide_govern.c: who stands behind them */
lks_rule lks_decide_vote, lks_decide_review, lks_decide_waive;
/* Part of a tick: reviews that nobody made in time */
lks_rule lks_decide_review_tick;

/* The change of that number; refused where there is none. In decide_change.c. */
const struct lks_state_change *lks_deciding_change(struct lks_deciding *d, uint64_t id);

/* It is another state from here on, by whoever asks. In decide_change.c. */
void lks_deciding_moved(struct lks_deciding *d, const struct lks_state_change *c,
                        enum lks_change_state to);

/* In decide_govern.c. A ring of a change that began without its approvals does not begin before it
 * has them, and says so. */
bool lks_deciding_lacks(struct lks_deciding *d, const struct lks_state_change *c, uint32_t wave);

/* In decide_govern.c. Whether a change that was halted may go on: what was measured to be worse is
 * let go by somebody who may approve; else it is refused. */
bool lks_deciding_may_resume(struct lks_deciding *d, const struct lks_state_change *c);

/* In decide_govern.c. Whether it may begin now: its approvals are good, or the glass is broken, and
 * who has to stand by was named; else it is refused. What that takes is recorded. */
bool lks_deciding_may_start(struct lks_deciding *d, const struct lks_state_change *c);

/* campaign.c; the first is part of a tick: what members, waves and changes do next */
lks_rule lks_decide_proposals_tick, lks_decide_campaign_tick, lks_decide_sched;

/* decide_cadence.c: pools that are behind what is released */
lks_rule lks_decide_cadence;

/* decide_measure.c: what was measured for gates */
lks_rule lks_decide_measured;

/* decide_bundle.c: pinned keys, and the bundles that are good by them */
lks_rule lks_decide_key_pin, lks_decide_key_gone, lks_decide_bundle, lks_decide_bundle_revoke;

#endif
