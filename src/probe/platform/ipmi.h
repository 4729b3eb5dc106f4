/* The management controller, asked in-band through the kernel's IPMI device. */
#ifndef LKS_PROBE_IPMI_H
#define LKS_PROBE_IPMI_H

#include "probe/root/root.h"

#define LKS_IPMI_WAIT_MS 2500 /* for one answer; patience is asked for it */

struct lks_ipmi {
    struct lks_root *root;
    const char *path; /* of a device node */
};

/* Send Get Device ID to the controller behind the device node of the struct lks_ipmi that `ctx`
 * points to, and append its answer as bytes in hexadecimal, separated by blanks; the first is the
 * completion code. A lks_ask_fn: for the live machine alone. */
enum lks_code lks_ipmi_get_device_id(void *ctx, struct lks_buf *out,
                                     struct lks_err *err) LKS_MUST_CHECK;

/* IPMI 2.0, 20.1. */
struct lks_ipmi_device {
    unsigned major;
    unsigned minor; /* binary-coded decimal, to be shown as two hexadecimal digits */
    bool busy;      /* an update of the firmware, or its start, is going on */
    unsigned manufacturer, product;
    bool has_aux;
    unsigned char aux[4];
};

/* Read the line that lks_ipmi_get_device_id() gave. */
enum lks_code lks_ipmi_device_parse(struct lks_str line, struct lks_ipmi_device *out,
                                    struct lks_err *err) LKS_MUST_CHECK;

#endif
