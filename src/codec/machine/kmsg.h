/*
 * Records of the kernel's log as /dev/kmsg has them, "6,1234,5678901234,-;text" with the time in
 * microseconds since the boot, and what NVIDIA's driver says there when a GPU fails:
 *
 *     NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.
 */
#ifndef LKS_CODEC_KMSG_H
#define LKS_CODEC_KMSG_H

#include "base/str.h"

#define LKS_KMSG_RECORD_MAX 8192 /* the kernel's own limit of one */
#define LKS_KMSG_XID_MAX    9999

struct lks_kmsg_xid {
    uint64_t usec; /* since the boot */
    uint64_t xid;
};

/* False: the record is about something else, or none. */
bool lks_kmsg_xid(struct lks_str record, struct lks_kmsg_xid *out);

#endif
