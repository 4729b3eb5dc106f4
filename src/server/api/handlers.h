/* What routes do: prepare in the thread pool, handle on the state thread, work in the pool. */
#ifndef LKS_SERVER_HANDLERS_H
#define LKS_SERVER_HANDLERS_H

struct lks_call;
struct lks_desk;

typedef void lks_preparer(struct lks_call *call);
typedef void lks_handler(struct lks_desk *desk, struct lks_call *call);

/* handlers_fleet.c */
lks_preparer lks_prepare_fleet;
lks_handler lks_handle_health, lks_handle_ready, lks_handle_openapi, lks_handle_whoami,
    lks_handle_metrics, lks_handle_fleet, lks_handle_apply, lks_handle_pools;
/* handlers_nodes.c */
lks_handler lks_handle_past;
lks_handler lks_handle_nodes, lks_handle_node, lks_handle_tuple, lks_handle_history, lks_handle_at,
    lks_handle_enroll_node, lks_handle_hold, lks_handle_release, lks_handle_replace,
    lks_handle_remove, lks_handle_command, lks_handle_command_get, lks_handle_reset,
    lks_handle_reset_approve, lks_handle_reset_review;
/* handlers_alarms.c */
lks_handler lks_handle_alarms, lks_handle_alarm_release;
/* handlers_access.c */
lks_preparer lks_prepare_certificate, lks_prepare_recertify;
lks_handler lks_handle_access, lks_handle_grant, lks_handle_ungrant, lks_handle_token,
    lks_handle_token_gone, lks_handle_token_renew, lks_handle_certificate, lks_handle_recertify,
    lks_handle_certificate_gone;
/* handlers_login.c */
lks_preparer lks_prepare_login_device, lks_prepare_login_poll, lks_prepare_login,
    lks_prepare_login_callback;
lks_handler lks_handle_login_device, lks_handle_login_poll, lks_handle_login,
    lks_handle_login_callback, lks_handle_logout;
/* handlers_journal.c */
lks_handler lks_handle_journal, lks_handle_head, lks_handle_events, lks_handle_backup,
    lks_handle_state, lks_handle_manifest;
/* handlers_artifacts.c */
lks_handler lks_handle_artifacts, lks_handle_artifact, lks_handle_artifact_put, lks_handle_collect;
lks_handler lks_handle_look; /* the depot's own, without a listener */
/* handlers_agents.c */
lks_preparer lks_prepare_enroll, lks_prepare_tuple, lks_prepare_renew;
lks_handler lks_handle_enroll, lks_handle_beat, lks_handle_report, lks_handle_mail,
    lks_handle_result, lks_handle_renew;
/* handlers_drift.c */
lks_handler lks_handle_drift, lks_handle_deviations, lks_handle_deviate,
    lks_handle_deviation_approve, lks_handle_deviation_close, lks_handle_condition,
    lks_handle_outband, lks_handle_outband_gone;
/* handlers_admit.c */
lks_handler lks_handle_admit, lks_handle_override, lks_handle_overrides, lks_handle_admissions,
    lks_handle_observed;
/* handlers_registry.c */
lks_preparer lks_prepare_publish;
lks_handler lks_handle_stacks, lks_handle_stack, lks_handle_stack_manifest,
    lks_handle_stack_envelope, lks_handle_publish, lks_handle_promote, lks_handle_retire,
    lks_handle_images, lks_handle_image, lks_handle_image_gone, lks_handle_advisories,
    lks_handle_lifecycle;
/* handlers_remedy.c */
lks_handler lks_handle_remedies;
/* handlers_bundles.c */
lks_preparer lks_prepare_bundle, lks_prepare_flash;
lks_handler lks_handle_keys, lks_handle_key_pin, lks_handle_key_gone, lks_handle_bundles,
    lks_handle_bundle, lks_handle_bundle_manifest, lks_handle_bundle_put, lks_handle_bundle_revoke;
/* handlers_flash.c */
lks_handler lks_handle_flash, lks_handle_flashes, lks_handle_flash_get, lks_handle_resolve;
/* handlers_change.c, handlers_propose.c */
lks_preparer lks_prepare_propose;
lks_handler lks_handle_changes, lks_handle_change, lks_handle_change_members,
    lks_handle_change_vote, lks_handle_change_review, lks_handle_change_waive,
    lks_handle_change_move, lks_handle_change_forecast, lks_handle_member_move,
    lks_handle_member_skip, lks_handle_freeze, lks_handle_frozen, lks_handle_proven,
    lks_handle_propose;
/* handlers_procedure.c */
lks_handler lks_handle_change_procedure, lks_handle_change_paper;
/* handlers_ticket.c */
lks_preparer lks_prepare_ticket;
lks_handler lks_handle_ticket;
/* handlers_endpoints.c */
lks_handler lks_handle_endpoints, lks_handle_endpoint_put;
/* handlers_sweep.c */
lks_handler lks_handle_sweeps, lks_handle_sweep_lease, lks_handle_sweep_failed;

#endif
