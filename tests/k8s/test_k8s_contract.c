/*
 * The contract of schedulers (tests/sched_contract.h) with a real Kubernetes: the driver asks a
 * real kube-apiserver over the product's own HTTP client, with the rights of
 * examples/kubernetes/rbac.yaml. kube-apiserver, etcd or both are killed with SIGKILL on the way.
 *
 *     test_k8s_contract BUILD_ROOT
 */
#include "tests/contract_real.h"

#include <stdio.h>

static const struct contract_side kubernetes = {.name = "kubernetes",
                                                .driver = &lks_sched_kubernetes,
                                                .sched = "kubernetes",
                                                .person = "kim",
                                                .why = " without a reason",
                                                .token = contract_real_token,
                                                .no_revisions = CONTRACT_OPAQUE,
                                                .no_scene = {[TRAINS] = CONTRACT_NO_WATERMARK,
                                                             [SERVES] = CONTRACT_NO_ROTATION,
                                                             [NEEDS_ALL] = CONTRACT_NO_ROTATION},
                                                .no_job = "default/none#00000000",
                                                CONTRACT_KUBERNETES,
                                                .site_kills_at = 3,
                                                .denies = true,
                                                .mishaps_at = 6,
                                                .kills_at = 3,
                                                CONTRACT_REAL};

int main(int argc, char **argv)
{
    char place[256];
    LKS_ASSERT(argc == 2);
    snprintf(place, sizeof(place), "%s/k8s-contract", argv[1]);
    const char *const script[] = {"python3", "tests/k8s/k8s_contract.py", place, NULL};
    if (contract_real_start(script, NULL))
        return contract_real_run(&kubernetes);
    contract_real_close();
    return CONTRACT_REAL_MISSING;
}
