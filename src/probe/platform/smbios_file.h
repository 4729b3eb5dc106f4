/* Questions to the SMBIOS table of the machine. The table itself stays where it is and comes into
 * no capture: serial numbers of every part stand in it. */
#ifndef LKS_PROBE_SMBIOS_FILE_H
#define LKS_PROBE_SMBIOS_FILE_H

#include "codec/machine/smbios.h"
#include "probe/root/root.h"

#define LKS_SMBIOS_FILE "/sys/firmware/dmi/tables/DMI"

/* NOT_FOUND when there is no table, DENIED when only root may read it. */
enum lks_code lks_smbios_file_memory(struct lks_root *root, struct lks_smbios_memory *out,
                                     struct lks_err *err) LKS_MUST_CHECK;

/* Whether it says that there is a management controller. */
enum lks_code lks_smbios_file_has_bmc(struct lks_root *root, bool *out,
                                      struct lks_err *err) LKS_MUST_CHECK;

#endif
