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
