/* What routes do: prepare in the thread pool, handle on the state thread, work in the pool. */
#ifndef LKS_SERVER_HANDLE_H
#define LKS_SERVER_HANDLE_H

#include "trust/x509.h"

struct lks_call;
struct lks_authz;

typedef void lks_preparer(struct lks_call *call);
typedef void lks_handler(struct lks_authz *authz, struct lks_call *call);

/* handle_fleet.c */
lks_preparer lks_handle_fleet_prepare;
lks_handler lks_handle_health, lks_handle_ready, lks_handle_openapi, lks_handle_whoami,
    lks_handle_can, lks_handle_metrics, lks_handle_fleet, lks_handle_fleet_manifest,
    lks_handle_apply, lks_handle_pools;
/* A certificate for the key of `request` (PEM), into call->issued and call->about; what is wrong
 * with it into call->failed. It is made in the thread pool, and sent only if the state thread
 * agrees. */
void lks_handle_issue(struct lks_call *call, enum lks_x509_use use, struct lks_str name,
                      struct lks_str request, int64_t seconds);
/* handle_nodes.c */
lks_handler lks_handle_past;
lks_handler lks_handle_nodes, lks_handle_node, lks_handle_tuple, lks_handle_history, lks_handle_at,
    lks_handle_enroll_node, lks_handle_hold, lks_handle_release, lks_handle_set, lks_handle_replace,
    lks_handle_remove, lks_handle_command, lks_handle_command_get, lks_handle_reset,
    lks_handle_reset_approve;
struct lks_json_writer;

/* handle_sched.c; of a node: nothing where its scheduler was not asked. Unconfirmed: bridges that
 * do not have the epoch of this leader. */
lks_handler lks_handle_scheds, lks_handle_scheds_jobs, lks_handle_bridges;
uint64_t lks_handle_bridges_unconfirmed(const struct lks_authz *authz);
/* Whether a drain of lockstep would be left over if the nodes of the call left the fleet now: then
 * the call is refused. */
bool lks_handle_sched_owes(const struct lks_authz *authz, struct lks_call *call);

/* The same if the call's manifest took nodes from their scheduler. */
bool lks_handle_sched_leaves(const struct lks_authz *authz, struct lks_call *call);
void lks_handle_node_sched(const struct lks_authz *authz, uint32_t node, struct lks_json_writer *w);

/* handle_alarms.c */
lks_handler lks_handle_alarms, lks_handle_alarm_release;
/* handle_access.c */
lks_preparer lks_handle_certificate_prepare, lks_handle_recertify_prepare;
lks_handler lks_handle_access, lks_handle_grant, lks_handle_ungrant, lks_handle_token,
    lks_handle_token_gone, lks_handle_token_renew, lks_handle_certificate, lks_handle_recertify,
    lks_handle_certificate_gone;
/* handle_login.c */
lks_preparer lks_handle_login_device_prepare, lks_handle_login_poll_prepare,
    lks_handle_login_prepare, lks_handle_login_callback_prepare;
lks_handler lks_handle_login_device, lks_handle_login_poll, lks_handle_login,
    lks_handle_login_callback, lks_handle_logout;
/* handle_journal.c */
lks_handler lks_handle_journal, lks_handle_head, lks_handle_events, lks_handle_backup,
    lks_handle_state, lks_handle_manifest;
/* handle_artifacts.c */
lks_handler lks_handle_artifacts, lks_handle_artifact, lks_handle_artifact_put, lks_handle_collect;
lks_handler lks_handle_look; /* the depot's own, without a listener */
/* handle_agents.c */
lks_preparer lks_handle_enroll_prepare, lks_handle_tuple_prepare, lks_handle_renew_prepare;
lks_handler lks_handle_enroll, lks_handle_beat, lks_handle_report, lks_handle_mail,
    lks_handle_node_stack, lks_handle_result, lks_handle_check, lks_handle_renew;
/* handle_drift.c */
lks_handler lks_handle_drift, lks_handle_deviations, lks_handle_deviate, lks_handle_deviation_move,
    lks_handle_condition, lks_handle_outband, lks_handle_outband_gone;
/* handle_admit.c */
lks_handler lks_handle_jobs;
lks_handler lks_handle_admit, lks_handle_override, lks_handle_unanswered, lks_handle_overrides,
    lks_handle_admissions, lks_handle_observed;
/* handle_registry.c */
lks_preparer lks_handle_publish_prepare;
lks_handler lks_handle_stacks, lks_handle_stack, lks_handle_stack_manifest,
    lks_handle_stack_envelope, lks_handle_publish, lks_handle_promote, lks_handle_retire,
    lks_handle_images, lks_handle_image, lks_handle_image_gone, lks_handle_advisories,
    lks_handle_lifecycle;
/* handle_remedy.c */
lks_handler lks_handle_remedies;
/* handle_bundles.c */
lks_preparer lks_handle_bundle_prepare, lks_handle_flash_prepare;
lks_handler lks_handle_keys, lks_handle_key_pin, lks_handle_key_gone, lks_handle_bundles,
    lks_handle_bundle, lks_handle_bundle_manifest, lks_handle_bundle_put, lks_handle_bundle_revoke;
/* handle_flash.c */
lks_handler lks_handle_flash, lks_handle_flashes, lks_handle_flash_get, lks_handle_resolve;
/* handle_change.c, handle_propose.c */
lks_preparer lks_handle_propose_prepare;
lks_handler lks_handle_changes, lks_handle_change, lks_handle_change_members,
    lks_handle_change_vote, lks_handle_change_review, lks_handle_change_waive,
    lks_handle_change_move, lks_handle_change_forecast, lks_handle_member_move,
    lks_handle_member_skip, lks_handle_freeze, lks_handle_frozen, lks_handle_proven,
    lks_handle_propose;
/* handle_procedure.c */
lks_handler lks_handle_change_procedure, lks_handle_change_paper;
/* handle_ticket.c */
lks_preparer lks_handle_ticket_prepare;
lks_handler lks_handle_ticket;
/* handle_review.c */
lks_preparer lks_handle_review_prepare;
lks_handler lks_handle_review_mutate, lks_handle_review_validate;
/* handle_endpoints.c */
lks_handler lks_handle_endpoints, lks_handle_endpoint_put;
/* handle_sweep.c */
lks_handler lks_handle_sweeps, lks_handle_sweep_lease, lks_handle_sweep_failed;

#endif
