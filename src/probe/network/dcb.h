/* Priority flow control of an Ethernet interface, asked of the kernel by DCB netlink as the tool
 * "dcb" does. The answer is one line: "pfc eth0" gives "capable=8 enabled=3 4", the latter with its
 * blank written as %20. */
#ifndef LKS_PROBE_DCB_H
#define LKS_PROBE_DCB_H

#include "probe/root/root.h"

/* Append the answer to `out`; read it with lks_kv_get(). UNAVAILABLE where the driver has none. */
enum lks_code lks_dcb_pfc(struct lks_root *root, const char *interface, struct lks_buf *out,
                          struct lks_err *err) LKS_MUST_CHECK;

/* The attributes of the kernel's answer as its line. */
enum lks_code lks_dcb_words(struct lks_str attrs, struct lks_buf *out,
                            struct lks_err *err) LKS_MUST_CHECK;

#endif
