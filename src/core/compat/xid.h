/* What an error number of the driver (Xid) or of an NVSwitch (SXid) means and asks for. */
#ifndef LKS_CORE_XID_H
#define LKS_CORE_XID_H

#include "model/facts/facts.h"

const struct lks_xid *lks_xid_find(const struct lks_facts *facts, int64_t number);
const struct lks_sxid *lks_xid_sxid_find(const struct lks_facts *facts, int64_t number);
const struct lks_xid_action *lks_xid_action_find(const struct lks_facts *facts,
                                                 struct lks_str action);

/* The registers an Xid of the NVLink 5 range (144-150) prints. Drivers before R575 lay out the
 * first one differently. */
struct lks_xid_registers {
    uint32_t intr_info;
    uint32_t error_status;
    bool before_r575;
};

struct lks_xid_decoded {
    const struct lks_xid_nvlink5 *row;
    struct lks_str action; /* the row's, or its second where that pattern fits */
};

/* Whether an Xid comes with registers that can be decoded. */
bool lks_xid_has_registers(const struct lks_facts *facts, int64_t number);

/* The rows that match, at most `max`: those that name the error status as it is, or where none does
 * those that name one of its bits. */
size_t lks_xid_decode(const struct lks_facts *facts, int64_t number,
                      const struct lks_xid_registers *registers, struct lks_xid_decoded *out,
                      size_t max);

#endif
