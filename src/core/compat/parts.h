/* How the parts of a stack are named and compared: what every file of this folder needs. */
#ifndef LKS_CORE_PARTS_H
#define LKS_CORE_PARTS_H

#include "codec/notation/version.h"

#include <string.h>

/* Drivers, toolkits and libraries are all numbered with dots. */
static inline int lks_dotted_cmp(struct lks_str a, struct lks_str b)
{
    return lks_version_cmp(a, b, LKS_VERSION_DOTTED);
}

/* Firmware by its class alone: "nic" of "firmware/nic". Other names are as they are. */
static inline struct lks_str lks_component_bare(struct lks_str name)
{
    size_t skip = lks_str_starts(name, "firmware/") ? strlen("firmware/") : 0;
    return (struct lks_str){name.ptr + skip, name.len - skip};
}

static inline bool lks_component_is_firmware(struct lks_str name)
{
    return lks_component_bare(name).len < name.len;
}

#endif
