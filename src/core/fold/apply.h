/* For core/fold/apply*.c: how a record becomes true. */
#ifndef LKS_CORE_APPLY_H
#define LKS_CORE_APPLY_H

#include "base/compiler.h"
#include "base/err.h"
#include "base/str.h"
#include "base/time.h"
#include "core/rows/text.h"

/* A record on its way into the state. */
struct lks_applying {
    struct lks_state *s;
    lks_ms time;
    const struct lks_record *r;
    struct lks_err *err;
    struct lks_node *node;  /* that it is about, where its kind says so */
    struct lks_str touched; /* the name of the node for which changes may have waited */
};

typedef enum lks_code lks_applier(const struct lks_applying *a);

/* Make `record`, of row `seq`, true, for lks_state_apply() (core/campaign/state_apply.h) alone.
 * Nodes about which it said something are added to `touched`. */
enum lks_code lks_apply_record(struct lks_state *s, uint64_t seq, lks_ms time,
                               const struct lks_record *record, struct lks_err *err) LKS_MUST_CHECK;

/* Give a text its number. */
enum lks_code lks_apply_keep(const struct lks_applying *a, struct lks_str text,
                             lks_text *out) LKS_MUST_CHECK;

/* Several at once: views, and where their numbers go. */
struct lks_kept {
    struct lks_str from;
    lks_text *to;
};
enum lks_code lks_apply_keep_all(const struct lks_applying *a, const struct lks_kept *list,
                                 size_t count) LKS_MUST_CHECK;

/* The same for texts that no longer count when another takes their place: digests of reports, what
 * is said of a node now. Where the number goes has one already, or 0. */
enum lks_code lks_apply_pass(const struct lks_applying *a, struct lks_str text,
                             lks_text *out) LKS_MUST_CHECK;
void lks_apply_drop(struct lks_state *s, lks_text *text);

/* A number of a record as the state has it: the largest one where it is larger. */
uint32_t lks_apply_small(uint64_t number);

/* The placed node of that name, or NULL; and the place of one. */
struct lks_node *lks_apply_find(const struct lks_applying *a, struct lks_str name);
uint32_t lks_apply_number(const struct lks_applying *a, const struct lks_node *node);

/* Each name of a host list in turn; a text that is not a host list names none. */
typedef enum lks_code lks_apply_host(const struct lks_applying *a, struct lks_str name, void *ctx);
enum lks_code lks_apply_hosts(const struct lks_applying *a, struct lks_str hosts,
                              lks_apply_host *fn, void *ctx) LKS_MUST_CHECK;

/* The time of the record, for a place where 0 says that it is not so. */
lks_ms lks_apply_moment(const struct lks_applying *a);

/* Set such a place; false where it is set already: the first record counts. */
bool lks_apply_once(const struct lks_applying *a, lks_ms *at);

/* A node of a pool turned for the worse. */
void lks_apply_turned(const struct lks_applying *a, uint32_t node);

/* apply_lists.c */
lks_applier lks_apply_granted, lks_apply_ungranted, lks_apply_api_token, lks_apply_api_token_gone,
    lks_apply_token_renewed, lks_apply_person_certified;
lks_applier lks_apply_alarm, lks_apply_alarm_released, lks_apply_mass, lks_apply_command,
    lks_apply_command_ended;
/* apply_drift.c: what nodes run, and what is said of it */
lks_applier lks_apply_tuple, lks_apply_basis, lks_apply_verdict, lks_apply_outband,
    lks_apply_advertised, lks_apply_drift, lks_apply_condition, lks_apply_drained,
    lks_apply_undrained, lks_apply_deviation, lks_apply_deviation_ended, lks_apply_deviation_agreed;

/* Nothing is known of what it runs, and so nothing of its drift. */
void lks_apply_forget_readings(const struct lks_applying *a, struct lks_node *node);

/* When its out-of-band reading is past its age; `over`: it was, when it was recorded. */
enum lks_code lks_apply_age(const struct lks_applying *a, uint32_t node, bool over) LKS_MUST_CHECK;

/* apply_registry.c: stacks, images, artifacts, jobs, and who leads */
lks_applier lks_apply_published, lks_apply_stepped, lks_apply_image, lks_apply_gone,
    lks_apply_artifact, lks_apply_job, lks_apply_override, lks_apply_observed;

/* apply_flash.c: keys and bundles, endpoints, and updates by them */
lks_applier lks_apply_key_pinned, lks_apply_bundle, lks_apply_bundle_revoked, lks_apply_flash,
    lks_apply_flash_saved, lks_apply_flash_ended, lks_apply_flash_resolved;

/* apply_change.c: changes and their plans, members, waves */
lks_applier lks_apply_change, lks_apply_plan_step, lks_apply_plan_wave, lks_apply_plan_part,
    lks_apply_plan_order, lks_apply_plan_note, lks_apply_change_moved, lks_apply_wave,
    lks_apply_member, lks_apply_revert_proven, lks_apply_frozen;

/* apply_govern.c: who stands behind a change */
lks_applier lks_apply_change_voted, lks_apply_vote_withdrawn, lks_apply_glass_broken,
    lks_apply_reviewed, lks_apply_waived;

/* apply_gate.c: what gates ask for, what was measured for them, and what they said */
lks_applier lks_apply_plan_metric, lks_apply_plan_gate, lks_apply_measured, lks_apply_gate_looked,
    lks_apply_wave_limit, lks_apply_forecast, lks_apply_job_act;
/* apply_govern.c */
lks_applier lks_apply_lowered;

/* fold_ticket.c: what a ticket system and we told each other */
lks_applier lks_fold_ticket_heard, lks_fold_ticket_told, lks_fold_ticket_due;

/* fold_refusal.c: jobs that were refused, or would have been */
lks_applier lks_fold_refusal;

/* fold_runs.c: runs of jobs that ended */
lks_applier lks_fold_job_ended, lks_fold_job_batch, lks_fold_runs_read;

/* Behind any record: a change that it moved is to be told of. */
lks_applier lks_fold_tickets_apply;

/* fold_reset.c */
lks_applier lks_fold_reset_apply;

/* Indexes of a state whose rows were loaded, and not folded: counts, chains, heaps and places, each
 * from the rows alone. lks_apply_index() calls the others, in their order. INVALID where rows refer
 * to what is not there. */
enum lks_code lks_apply_index(struct lks_state *s, struct lks_err *err) LKS_MUST_CHECK;
lks_applier lks_apply_index_readings, lks_apply_index_deviations, lks_apply_index_lists,
    lks_apply_index_flashes, lks_apply_index_access, lks_apply_index_changes,
    lks_apply_index_measures, lks_fold_runs_index, lks_fold_refusals_index;

/* Behind any record: who waited for it in a change is looked at again. */
lks_applier lks_apply_campaign;

/* The same for one node, of which a record said something. */
enum lks_code lks_apply_touched(const struct lks_applying *a, uint32_t node) LKS_MUST_CHECK;

/* A node came to the fleet, or to another pool: changes may take it in. */
void lks_apply_joined(const struct lks_applying *a);

#endif
