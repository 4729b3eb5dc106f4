/* One question to the running kernel by netlink, and its one answer. Used inside lks_root_ask()
 * alone: a captured tree has the answers written down. */
#ifndef LKS_PROBE_NETLINK_H
#define LKS_PROBE_NETLINK_H

#include "base/buf.h"

#define LKS_NETLINK_REPLY_MAX ((size_t)64 << 10)

/* What is asked, and of whom; messages begin with `what`. */
struct lks_netlink {
    const char *what;
    int protocol;
    uint16_t type;
};

/* Send a request with `payload` and append the payload of the answer to `reply`. What the kernel
 * refuses is the code that lks_netlink_fail() has for it. */
enum lks_code lks_netlink_ask(const struct lks_netlink *to, struct lks_str payload,
                              struct lks_buf *reply, struct lks_err *err) LKS_MUST_CHECK;

/* The same by generic netlink: `attrs` go out to the family called so, attributes come back. */
struct lks_genl {
    const char *what;
    const char *family;
    uint8_t command, version;
};
enum lks_code lks_netlink_genl_ask(const struct lks_genl *to, struct lks_str attrs,
                                   struct lks_buf *reply, struct lks_err *err) LKS_MUST_CHECK;

/* What an errno means for a question: NOT_FOUND for a device that is not there, UNAVAILABLE where
 * its driver does not answer such questions, DENIED where we may not ask. */
enum lks_code lks_netlink_fail(struct lks_err *err, const char *what, int number) LKS_MUST_CHECK;

#endif
