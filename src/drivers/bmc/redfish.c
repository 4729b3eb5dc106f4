/* The Redfish driver: reading in redfish_read.c, updating in redfish_update.c. */
#include "drivers/bmc/redfish.h"

static const char *token(const void *value)
{
    const struct lks_redfish *r = value; /* both values begin with it */
    return r->secret.keep ? r->secret.token : "";
}

const struct lks_bmc_driver lks_bmc_redfish = {
    .name = "redfish",
    .read = &lks_redfish_read_ops,
    .read_begin = lks_redfish_read_begin,
    .update = &lks_redfish_update_ops,
    .update_begin = lks_redfish_update_begin,
    .update_status = lks_redfish_update_status,
    .token = token,
};
