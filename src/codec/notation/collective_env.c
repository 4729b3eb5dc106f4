#include "codec/notation/collective_env.h"

#include "base/compiler.h"

static const char *const families[] = {"NCCL_",    "RCCL_", "OFI_NCCL_", "TORCH_NCCL_", "MSCCL_",
                                       "MSCCLPP_", "UCX_",  "FI_",       "HSA_"};

bool lks_collective_env_is(struct lks_str name)
{
    for (size_t i = 0; i < LKS_COUNT(families); i++) {
        if (lks_str_starts(name, families[i]))
            return lks_str_is_variable(name);
    }
    return false;
}
