/* The words of records' numbers. */
#include "model/record/record_words.h"
#include "base/compiler.h"

#include <assert.h>

const char *const lks_liveness_words[] = {"unseen", "live", "late", "lost", NULL};
const char *const lks_judged_words[] = {"unjudged", "conforms", "drift", "unmeasured", NULL};
const char *const lks_note_words[] = {"skew",      "replay",  "witness", "contradiction",
                                      "undrained", "resumed", "outage",  "emptied",
                                      "check",     "unheard", NULL};
const char *const lks_alarm_words[] = {
    "mass",      "clock",     "witness",    "replay", "parts",  "drift",
    "proposal",  "deviation", "flash",      "change", "hands",  "break-glass",
    "cadence",   "review",    "lowered",    "wedged", "bridge", "scheduler",
    "undrained", "verdicts",  "unanswered", NULL};
const char *const lks_reset_words[] = {"asked", "approved", "reviewed", NULL};
const char *const lks_role_words[] = {"viewer", "operator", "approver", "admin", "agent", NULL};
const char *const lks_outcome_words[] = {"done", "failed", "refused", "expired", "unknown", NULL};
const char *const lks_drift_words[] = {"unknown",
                                       "bands disagree",
                                       "replaced part",
                                       "reverted",
                                       "package manager",
                                       "different build",
                                       "deviation ended",
                                       "partial wave",
                                       "device missing",
                                       "half upgraded",
                                       "setting changed",
                                       "scheduler differs",
                                       NULL};
const char *const lks_condition_words[] = {"unhealthy", "changing", "attested", "checked", NULL};
const char *const lks_step_words[] = {"candidate", "lab", "canary", "released", "retired", NULL};
const char *const lks_bar_words[] = {
    "unknown",   "stale", "unmeasured", "drift",   "unhealthy", "changing", "unattested",
    "unchecked", "held",  "intake",     "drained", "deviation", "domain",   "disagrees",
    "posture",   "stack", "image",      "behind",  "canary",    NULL};
const char *const lks_bmc_act_words[] = {"update", "stage", "activate", "abort", "switch", NULL};
const char *const lks_bmc_outcome_words[] = {"open",    "done",   "staged",  "same",
                                             "refused", "failed", "unknown", NULL};
const char *const lks_change_kind_words[] = {"stack", "agent", NULL};
const char *const lks_change_state_words[] = {"proposed", "approved", "running",      "paused",
                                              "halted",   "aborting", "rolling back", "done",
                                              "rejected", "aborted",  "rolled back",  NULL};
const char *const lks_step_kind_words[] = {"stage",  "leave", "apply",  "flash",  "activate",
                                           "reboot", "check", "accept", "return", NULL};
/* The words of the API stay: people read the terms of the glossary. */
const char *const lks_step_kind_titles[] = {"stage", "drain",    "apply",
                                            "flash", "activate", "reboot",
                                            "check", "accept",   "return to service",
                                            NULL};
const char *const lks_wave_kind_words[] = {"lab", "canary", "ring", NULL};
const char *const lks_wave_state_words[] = {"planned", "begun",  "soaks", "passed",
                                            "held",    "halted", NULL};
const char *const lks_member_state_words[] = {"pending", "waiting",  "asked",  "reading",
                                              "done",    "reverted", "fenced", "needs hands",
                                              "unknown", "skipped",  NULL};
const char *const lks_failure_words[] = {"none", "busy",     "refused", "step",   "wrong", "accept",
                                         "lost", "endpoint", "unknown", "revert", NULL};
const char *const lks_plan_note_words[] = {"uncovered", "one-way", "external",
                                           "capacity",  "warning", "evidence",
                                           "left-out",  "jobs",    NULL};
const char *const lks_metric_kind_words[] = {"mean", "rate", "hard", NULL};
const char *const lks_metric_better_words[] = {"higher", "lower", NULL};
const char *const lks_metric_unit_words[] = {"node", "domain", NULL};
const char *const lks_metric_source_words[] = {"prometheus", "agent", "accept", NULL};
const char *const lks_gate_verdict_words[] = {"pass", "extend", "hold", "halt", NULL};

const char *const lks_drain_jobs_words[] = {"wait", "requeue", NULL};
const char *const lks_job_act_words[] = {"signal", "requeue", NULL};
const char *const lks_run_state_words[] = {"unknown",   "completed", "failed",    "cancelled",
                                           "timeout",   "node_fail", "preempted", "out_of_memory",
                                           "boot_fail", "deadline",  "requeued",  NULL};
const char *const lks_run_cause_words[] = {"itself",     "lockstep", "node",    "limit", "cancel",
                                           "preemption", "memory",   "requeue", NULL};
const char *const lks_job_state_words[] = {"asked", "done", "refused", NULL};

static_assert(LKS_COUNT(lks_drain_jobs_words) == LKS_DRAIN_JOBS_COUNT + 1, "a word for each");
static_assert(LKS_COUNT(lks_run_state_words) == LKS_RUN_STATE_COUNT + 1, "a word for each");
static_assert(LKS_COUNT(lks_run_cause_words) == LKS_RUN_CAUSE_COUNT + 1, "a word for each");
static_assert(LKS_COUNT(lks_job_act_words) == LKS_JOB_ACT_COUNT + 1, "a word for each");
static_assert(LKS_COUNT(lks_job_state_words) == LKS_JOB_STATE_COUNT + 1, "a word for each");
static_assert(LKS_COUNT(lks_change_kind_words) == LKS_CHANGE_KIND_COUNT + 1, "a word for each");
static_assert(LKS_COUNT(lks_change_state_words) == LKS_CHANGE_STATE_COUNT + 1, "a word for each");
static_assert(LKS_COUNT(lks_step_kind_words) == LKS_DO_COUNT + 1, "a word for each");
static_assert(LKS_COUNT(lks_step_kind_titles) == LKS_DO_COUNT + 1, "a title for each");
static_assert(LKS_COUNT(lks_wave_kind_words) == LKS_WAVE_KIND_COUNT + 1, "a word for each");
static_assert(LKS_COUNT(lks_wave_state_words) == LKS_WAVE_STATE_COUNT + 1, "a word for each");
static_assert(LKS_COUNT(lks_member_state_words) == LKS_MEMBER_STATE_COUNT + 1, "a word for each");
static_assert(LKS_COUNT(lks_failure_words) == LKS_FAILURE_COUNT + 1, "a word for each");
static_assert(LKS_COUNT(lks_plan_note_words) == LKS_PLAN_NOTE_COUNT + 1, "a word for each");
static_assert(LKS_COUNT(lks_bmc_act_words) == LKS_BMC_ACT_COUNT + 1, "a word for each");
static_assert(LKS_COUNT(lks_bmc_outcome_words) == LKS_BMC_OUTCOME_COUNT + 1, "a word for each");
static_assert(LKS_COUNT(lks_drift_words) == LKS_DRIFT_COUNT + 1, "a word for each");
static_assert(LKS_COUNT(lks_condition_words) == LKS_CONDITION_COUNT + 1, "a word for each");
static_assert(LKS_COUNT(lks_step_words) == LKS_STEP_COUNT + 1, "a word for each");
static_assert(LKS_COUNT(lks_bar_words) == LKS_BAR_COUNT + 1, "a word for each");
static_assert(LKS_COUNT(lks_liveness_words) == LKS_LIVENESS_COUNT + 1, "a word for each");
static_assert(LKS_COUNT(lks_judged_words) == LKS_JUDGED_COUNT + 1, "a word for each");
static_assert(LKS_COUNT(lks_note_words) == LKS_NOTE_COUNT + 1, "a word for each");
static_assert(LKS_COUNT(lks_alarm_words) == LKS_ALARM_COUNT + 1, "a word for each");
static_assert(LKS_COUNT(lks_reset_words) == LKS_RESET_COUNT + 1, "a word for each");
static_assert(LKS_COUNT(lks_role_words) == LKS_ROLE_COUNT + 1, "a word for each");
static_assert(LKS_COUNT(lks_outcome_words) == LKS_OUTCOME_COUNT + 1, "a word for each");
static_assert(LKS_COUNT(lks_metric_kind_words) == LKS_METRIC_KIND_COUNT + 1, "a word for each");
static_assert(LKS_COUNT(lks_metric_better_words) == LKS_BETTER_COUNT + 1, "a word for each");
static_assert(LKS_COUNT(lks_metric_unit_words) == LKS_UNIT_COUNT + 1, "a word for each");
static_assert(LKS_COUNT(lks_metric_source_words) == LKS_SOURCE_COUNT + 1, "a word for each");
static_assert(LKS_COUNT(lks_gate_verdict_words) == LKS_GATE_COUNT + 1, "a word for each");
