/* Switch trays with NVOS speak their own REST, below /nvue_v1, with user name and password in each
 * request. For drivers/bmc/bmc_nvos*.c alone. */
#ifndef LKS_DRIVERS_BMC_NVOS_H
#define LKS_DRIVERS_BMC_NVOS_H

#include "drivers/bmc/redfish.h"

#define LKS_NVOS_FIRMWARE "/nvue_v1/platform/firmware"
#define LKS_NVOS_PLATFORM "/nvue_v1/platform"
#define LKS_NVOS_SYSTEM   "/nvue_v1/system"
#define LKS_NVOS_ACTION   "/nvue_v1/action"

/* What a member of the firmware resource says of one component. Views of `doc` and of the facts. */
struct lks_nvos_entry {
    struct lks_str id, version, staged;
    struct lks_str class, of;
    int index;
    struct lks_str part;
};
void lks_nvos_entry(const struct lks_facts *facts, const struct lks_doc *doc,
                    struct lks_nvos_entry *out);

/* Begin a value that has no session to open: its log-in goes along with each request. */
void lks_nvos_begin(struct lks_redfish *r, const struct lks_bmc_secret *secret, lks_ms deadline);

extern const struct lks_conversation_ops lks_nvos_update_ops;
enum lks_code lks_nvos_update_begin(void *value, const struct lks_facts *facts,
                                    const struct lks_bmc_secret *secret,
                                    const struct lks_bmc_intent *intent, struct lks_err *err);
void lks_nvos_update_status(const void *value, struct lks_bmc_status *out);

#endif
