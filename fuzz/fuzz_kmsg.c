/* Any bytes as a record of the kernel's log: what is taken for an Xid is one that can be said. */
#include "codec/machine/kmsg.h"

#include "base/buf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(256);
    struct lks_kmsg_xid xid = {0}, again = {0};
    if (!lks_kmsg_xid((struct lks_str){(const char *)data, size}, &xid)) {
        LKS_ASSERT(xid.xid == 0 && xid.usec == 0);
        return 0;
    }
    LKS_ASSERT(xid.xid <= LKS_KMSG_XID_MAX);
    lks_buf_addf(&text, "3,1,%llu,-;NVRM: Xid (PCI:0000:01:00): %llu, more",
                 (unsigned long long)xid.usec, (unsigned long long)xid.xid);
    LKS_ASSERT(lks_kmsg_xid(lks_buf_view(&text), &again));
    LKS_ASSERT(again.xid == xid.xid && again.usec == xid.usec);
    return 0;
}
