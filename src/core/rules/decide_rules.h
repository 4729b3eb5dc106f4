/* For core/rules/decide*.c: the rules by event. */
#ifndef LKS_CORE_DECIDE_RULES_H
#define LKS_CORE_DECIDE_RULES_H

#include "core/actions/actions.h"
#include "core/rules/decide.h"

/* "NAME", "user:NAME" or "unix:UID"; else it is refused. And a name as the first has. In
 * decide_access.c. */
bool lks_decide_access_identity(struct lks_deciding *d, struct lks_str identity);
bool lks_decide_access_is_name(struct lks_str name);

/* decide_heartbeat.c: liveness, MASS, clocks, witnesses */
lks_rule lks_decide_tick, lks_decide_started, lks_decide_limits, lks_decide_clock, lks_decide_beat;
/* decide_enroll.c: tokens and certificates of nodes */
lks_rule lks_decide_token, lks_decide_enroll, lks_decide_renew;
/* decide_fleet.c: declarative apply */
lks_rule lks_decide_fleet;
/* decide_refused.c, part of a tick: nodes that admission refuses are drained. And, before the
 * release of a pool's MASS is recorded, which ends its count: those for whom that waited. */
lks_rule lks_decide_refused_tick;
void lks_decide_refused_acts(struct lks_deciding *d, uint32_t pool);
/* decide_node.c */
lks_rule lks_decide_hold, lks_decide_release, lks_decide_node_set, lks_decide_replace,
    lks_decide_remove;
/* decide_access.c: bindings, alarms */
lks_rule lks_decide_alarm_release, lks_decide_grant, lks_decide_ungrant;
/* decide_credential.c: API tokens and certificates of people */
lks_rule lks_decide_login, lks_decide_logout;
lks_rule lks_decide_api_token, lks_decide_api_token_gone, lks_decide_api_token_renew,
    lks_decide_certify, lks_decide_certify_gone;
/* decide_result.c: what agents answer to commands */
lks_rule lks_decide_result;

/* decide_measure.c: a number as records have it; empty where there is none. */
struct lks_str lks_decide_measure_number(struct lks_deciding *d, bool has, double value);
/* decide_deviation.c; the last is part of a tick: deviations expire */
lks_rule lks_decide_deviate, lks_decide_deviation_agree, lks_decide_deviation_close,
    lks_decide_deviation_tick;
/* decide_registry.c: stacks, images, artifacts */
lks_rule lks_decide_publish, lks_decide_step, lks_decide_image, lks_decide_image_gone,
    lks_decide_artifact, lks_decide_artifact_gone;
/* decide_job.c */
lks_rule lks_decide_job, lks_decide_override, lks_decide_observed, lks_decide_refusals,
    lks_decide_lead;

/* decide_runs.c */
lks_rule lks_decide_runs;
/* decide_endpoint.c: certificates of management endpoints */
lks_rule lks_decide_endpoint;
/* decide_change.c: what people say of changes; proposals_tick is part of a tick */
lks_rule lks_decide_proposals_tick, lks_decide_propose, lks_decide_change_move,
    lks_decide_member_move, lks_decide_member_skip, lks_decide_freeze, lks_decide_forecast;

/* decide_ticket.c: votes from elsewhere, and what is told there */
lks_rule lks_decide_ticket, lks_decide_ticket_told;

/* decide_audit.c: calls that were denied */
lks_rule lks_decide_audited;

/* decide_govern.c: who stands behind them */
lks_rule lks_decide_vote, lks_decide_review, lks_decide_waive;
/* Part of a tick: reviews that are late */
lks_rule lks_decide_review_tick;

/* The change of that number; refused where there is none. In decide_change.c. */
const struct lks_state_change *lks_decide_change(struct lks_deciding *d, uint64_t id);

struct lks_look;

/* Its member of that name; false: there is none, and it is refused. In decide_change.c. */
bool lks_decide_member(struct lks_deciding *d, const struct lks_state_change *c,
                       struct lks_str name, struct lks_look *out);

/* It is another state from here on, by the caller. In decide_change.c. */
void lks_decide_change_moved(struct lks_deciding *d, const struct lks_state_change *c,
                             enum lks_change_state to);

/* In decide_govern.c. Whether a change that was halted may go on: what was measured to be worse is
 * waived by an approver; else it is refused. */
bool lks_decide_may_resume(struct lks_deciding *d, const struct lks_state_change *c);

/* In decide_govern.c. Whether it may begin now: its approvals are good, or the glass is broken, and
 * who has to stand by was named; else it is refused. What that takes is recorded. */
bool lks_decide_may_start(struct lks_deciding *d, const struct lks_state_change *c);

/* decide_cadence.c: pools that are behind what is released */
lks_rule lks_decide_cadence;

/* decide_measure.c: what was measured for gates */
lks_rule lks_decide_measured;

/* decide_bundle.c: pinned keys, and the bundles that are good by them */
lks_rule lks_decide_key_pin, lks_decide_key_gone, lks_decide_bundle, lks_decide_bundle_revoke;

#endif
