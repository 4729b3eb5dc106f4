#include "core/rows/failure.h"

const struct lks_failure_rule lks_failure_rules[LKS_FAILURE_COUNT] = {
    [LKS_FAILURE_NONE] = {"it did not fail", false, false, false, LKS_MEMBER_DONE},
    [LKS_FAILURE_BUSY] = {"it did not drain in time: returned to service as it is, or on hold "
                          "for a person, as its posture states",
                          false, true, false, LKS_MEMBER_FENCED},
    [LKS_FAILURE_REFUSED] = {"no work was started", true, true, false, LKS_MEMBER_FENCED},
    [LKS_FAILURE_STEP] = {"it was started and failed", true, true, false, LKS_MEMBER_FENCED},
    [LKS_FAILURE_WRONG] = {"read again, it is not what it should be", true, true, false,
                           LKS_MEMBER_FENCED},
    [LKS_FAILURE_ACCEPT] = {"an acceptance check failed", true, true, false, LKS_MEMBER_FENCED},
    [LKS_FAILURE_LOST] = {"the node did not come back in time", false, false, false,
                          LKS_MEMBER_FENCED},
    [LKS_FAILURE_ENDPOINT] = {"its management endpoint does not answer", true, false, true,
                              LKS_MEMBER_HANDS},
    [LKS_FAILURE_UNKNOWN] = {"its outcome is unknown", false, false, true, LKS_MEMBER_UNKNOWN},
    [LKS_FAILURE_REVERT] = {"it failed during the rollback", false, false, true, LKS_MEMBER_FENCED},
};
