/* What requests carry and answers hold, as tables: a request is checked by them, the OpenAPI
 * document is written from them, and the tests hold answers against them. */
#ifndef LKS_SERVER_FORMS_H
#define LKS_SERVER_FORMS_H

#include "model/schema/schema.h"

#define LKS_LIST_DEFAULT   100
#define LKS_LIST_MAX       1000
#define LKS_ROWS_MAX       10000 /* of the journal in one answer */
#define LKS_TTL_MAX        ((int64_t)10 * 365 * 86400)
#define LKS_PEM_TEXT_MAX   ((int64_t)64 << 10)
#define LKS_UNANSWERED_MAX 1000000 /* jobs in one report */
#define LKS_LEASE_MAX      3600    /* seconds of a lease */

/* Of a host list in a query: a path with one stays shorter than LKS_REMOTE_PATH_MAX. */
#define LKS_HOSTS_QUERY_MAX 4096

#define LKS_ENVELOPE_TEXT_MAX ((int64_t)1 << 20)

/* How a node differs from its intent, as people are told. */
extern const char *const lks_differs_words[], *const lks_observed_by_words[];

/* Query parameters. */
extern const struct lks_form lks_query_apply, lks_query_page, lks_query_login, lks_query_nodes,
    lks_query_history, lks_query_at, lks_query_past, lks_query_reason, lks_query_maybe_reason,
    lks_query_alarms, lks_query_jobs, lks_query_can, lks_query_binding, lks_query_journal,
    lks_query_events, lks_query_drift, lks_query_deviations, lks_query_holder, lks_query_admissions,
    lks_query_observed, lks_query_stacks, lks_query_publish, lks_query_image, lks_query_cve,
    lks_query_one_cve;

extern const struct lks_form lks_query_review, lks_query_part, lks_query_artifact,
    lks_query_artifacts, lks_query_images, lks_query_keys, lks_query_bundles, lks_query_overrides;

/* forms_change.c */
extern const struct lks_form lks_query_flashes, lks_query_endpoints, lks_ask_flash,
    lks_ask_endpoint, lks_form_flash, lks_form_flashes, lks_form_endpoints;

extern const struct lks_form lks_query_changes, lks_query_change, lks_query_procedure,
    lks_query_members, lks_ask_change, lks_ask_start, lks_ask_waive, lks_ask_forecast,
    lks_ask_members, lks_ask_skip, lks_ask_freeze, lks_form_changes, lks_form_change,
    lks_form_proposed, lks_form_moved, lks_form_members, lks_form_frozen, lks_form_proven,
    lks_form_procedure, lks_ask_ticket;

/* Requests. */
extern const struct lks_form lks_ask_enroll_node, lks_ask_reason, lks_ask_release, lks_ask_set,
    lks_ask_command, lks_ask_binding, lks_ask_token, lks_ask_login_poll, lks_ask_certificate,
    lks_ask_recertify, lks_ask_enroll, lks_ask_result, lks_ask_check, lks_ask_renew,
    lks_ask_deviation, lks_ask_condition, lks_ask_lease, lks_ask_sweep_failed, lks_ask_admit,
    lks_ask_override, lks_ask_unanswered, lks_ask_promote, lks_ask_retire, lks_ask_image;

/* Answers. */
extern const struct lks_form lks_form_artifacts, lks_form_part, lks_form_stored, lks_form_collected;
extern const struct lks_form lks_form_health, lks_form_ready, lks_form_whoami, lks_form_can,
    lks_form_fleet, lks_form_applied, lks_form_pools, lks_form_nodes, lks_form_node, lks_form_at,
    lks_form_past, lks_form_rows, lks_form_node_token, lks_form_seq, lks_form_freeze,
    lks_form_released, lks_form_commanded, lks_form_command, lks_form_alarms, lks_form_access,
    lks_form_token, lks_form_token_renewed, lks_form_login_device, lks_form_login,
    lks_form_certificate, lks_form_head, lks_form_enrolled, lks_form_beat, lks_form_mail,
    lks_form_node_stack, lks_form_renewed, lks_form_problem, lks_form_drift, lks_form_deviations,
    lks_form_numbered, lks_form_leases, lks_form_sweeps, lks_form_scheds, lks_form_bridges,
    lks_form_done, lks_form_admit, lks_form_jobs, lks_form_overrides, lks_form_admissions,
    lks_form_observed, lks_form_stacks, lks_form_stack, lks_form_published, lks_form_images,
    lks_form_advisories, lks_form_lifecycle, lks_form_remedies;

/* Bundles and keys. */
extern const struct lks_form lks_ask_bundle, lks_ask_key;
extern const struct lks_form lks_form_keys, lks_form_bundles, lks_form_bundle, lks_form_taken;

#endif
