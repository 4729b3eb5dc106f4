#include "engine/lease.h"

static const char *const words[] = {"none",  "alone",    "follows", "taken",
                                    "leads", "returned", "lost"};
_Static_assert(LKS_COUNT(words) == LKS_LEASE_COUNT, "a name for each");

static const char *const when[LKS_LEASE_COUNT][LKS_LEASE_COUNT] = {
    [LKS_LEASE_NONE][LKS_LEASE_ALONE] = "its store has no lease",
    [LKS_LEASE_NONE][LKS_LEASE_FOLLOWS] = "its store has a lease",
    [LKS_LEASE_FOLLOWS][LKS_LEASE_TAKEN] = "the store gave it the lease",
    [LKS_LEASE_FOLLOWS][LKS_LEASE_RETURNED] = "the controller is stopped",
    [LKS_LEASE_TAKEN][LKS_LEASE_FOLLOWS] = "the store could not be read to its last row",
    [LKS_LEASE_TAKEN][LKS_LEASE_LEADS] = "every row was read",
    [LKS_LEASE_LEADS][LKS_LEASE_LEADS] = "the store renewed the lease",
    [LKS_LEASE_LEADS][LKS_LEASE_RETURNED] = "the controller is stopped",
    [LKS_LEASE_LEADS][LKS_LEASE_LOST] = "another has the lease, or it was not renewed in time",
};
const struct lks_machine lks_lease_moves = {
    .name = "lease",
    .about = "a controller and the lease of its store",
    .words = words,
    .ends = LKS_MACHINE_END(LKS_LEASE_ALONE) | LKS_MACHINE_END(LKS_LEASE_RETURNED) |
            LKS_MACHINE_END(LKS_LEASE_LOST),
    LKS_MACHINE_TABLE(when),
};
