/* The words of records' numbers. */
#include "model/record.h"

#include <assert.h>

const char *const lks_liveness_words[] = {"unseen", "live", "late", "lost", NULL};
const char *const lks_judged_words[] = {"unjudged", "conforms", "drift", "unmeasured", NULL};
const char *const lks_note_words[] = {"skew", "replay", "witness", "contradiction", NULL};
const char *const lks_alarm_words[] = {"mass",  "clock",    "witness",   "replay", "parts",
                                       "drift", "proposal", "deviation", "flash",  NULL};
const char *const lks_role_words[] = {"viewer", "operator", "approver", "admin", "agent", NULL};
const char *const lks_outcome_words[] = {"done", "failed", "refused", "expired", "unknown", NULL};
const char *const lks_drift_words[] = {"unknown",         "bands disagree",  "replaced part",
                                       "reverted",        "package manager", "different build",
                                       "deviation ended", "partial wave",    "device missing",
                                       "half upgraded",   "setting changed", NULL};
const char *const lks_condition_words[] = {"unhealthy", "changing", "attested", "checked", NULL};
const char *const lks_step_words[] = {"candidate", "lab", "canary", "released", "retired", NULL};
const char *const lks_bar_words[] = {
    "unknown",   "stale", "unmeasured", "drift",   "unhealthy", "changing", "unattested",
    "unchecked", "held",  "intake",     "drained", "deviation", "domain",   "disagrees",
    "posture",   "stack", "image",      "behind",  NULL};
const char *const lks_bmc_act_words[] = {"update", "stage", "activate", "abort", "switch", NULL};
const char *const lks_bmc_outcome_words[] = {"open",    "done",   "staged",  "same",
                                             "refused", "failed", "unknown", NULL};

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
static_assert(LKS_COUNT(lks_role_words) == LKS_ROLE_COUNT + 1, "a word for each");
static_assert(LKS_COUNT(lks_outcome_words) == LKS_OUTCOME_COUNT + 1, "a word for each");
