#include "cli/main/table_drift.h"

#include "cli/shared/listing.h"
#include "cli/shared/remote.h"

const struct lks_option lks_drift_options[] = {
    LKS_REMOTE_OPTIONS,
    {"--pool NAME", "only nodes of this pool"},
    {"--node NODES", "only these nodes"},
    {"--cause CAUSE", "only drift with this cause, such as 'package manager'"},
    {"--judged VERDICT", "only this verdict: drift, unmeasured or deviation"},
    LKS_LISTING_OPTIONS,
    {"--watch", "keep running, and print a line when drift starts or ends"},
    {0},
};

const struct lks_option lks_deviation_options[] = {
    LKS_REMOTE_OPTIONS,
    {"--what NAME", "component or setting, as printed by 'drift', required; '*' covers every "
                    "difference of the nodes, "
                    "firmware included"},
    {"--value V", "permitted value; default: any"},
    {"--owner WHO", "person responsible for the deviation; required"},
    {"--reason TEXT", "reason; required, recorded"},
    {"--approver WHO", "person expected to approve; only their own 'deviation approve' counts"},
    {"--until TIME",
     "end of the deviation, required: 2026-11-20T08:00:00Z, or a span such as 12h or 7d; at most "
     "90 days from now"},
    {0},
};

const struct lks_option lks_deviations_options[] = {
    LKS_REMOTE_OPTIONS,
    {"--all", "include deviations that ended"},
    LKS_LISTING_OPTIONS,
    {0},
};

#define RUN_ENDS                                                                                   \
    {"--state STATE",                                                                              \
     "only runs that ended in this state: completed, failed, cancelled, timeout, node_fail, "      \
     "preempted, out_of_memory, boot_fail, deadline, requeued or unknown"},                        \
    {                                                                                              \
        "--cause CAUSE", "only runs with this cause of their end: itself, lockstep, node, limit, " \
                         "cancel, preemption, memory or requeue"                                   \
    }

const struct lks_option lks_job_options[] = {
    LKS_REMOTE_OPTIONS,
    {"--user NAME", "only jobs of this user"},
    {"--account NAME", "only jobs that this account is charged for"},
    {"--partition NAME", "only jobs of this partition"},
    {"--pool NAME", "only jobs whose first node is in this pool"},
    {"--site NAME", "only jobs of the scheduler of this site"},
    RUN_ENDS,
    {"--interrupted", "only runs that lockstep, a node, a preemption or a requeue ended"},
    {"--node NAME", "only runs on this node"},
    {"--stack NAME", "only runs on nodes with this stack: its name, or whole digest"},
    {"--component NAME=VERSION", "only runs on nodes whose stack pins this version, such as "
                                 "nccl=2.28.3; without =VERSION any version"},
    {"--since TIME", "only runs that ended at this time or later"},
    {"--until TIME", "only runs that started before this time"},
    LKS_LISTING_OPTIONS,
    {0},
};

const struct lks_option lks_job_show_options[] = {
    LKS_REMOTE_OPTIONS,
    RUN_ENDS,
    LKS_LISTING_OPTIONS,
    {0},
};
