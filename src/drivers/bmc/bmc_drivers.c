#include "port/bmc.h"

static const struct lks_bmc_driver *const drivers[] = {&lks_bmc_redfish, &lks_bmc_nvos};

const struct lks_bmc_driver *lks_bmc_driver(struct lks_str name)
{
    if (name.len == 0)
        return &lks_bmc_redfish;
    for (size_t i = 0; i < LKS_COUNT(drivers); i++) {
        if (lks_str_is(name, drivers[i]->name))
            return drivers[i];
    }
    return NULL;
}
