/*
 * Versions of a device as its driver tells them by devlink, in one line:
 *
 *     info pci/0000:05:00.0   driver=mlx5_core fixed:fw.psid=MT_0000000838
 *                             running:fw.version=28.39.1002 stored:fw.version=28.43.1014
 *
 * What runs and what is stored differ after an update until the device is reset.
 */
#ifndef LKS_PROBE_DEVLINK_H
#define LKS_PROBE_DEVLINK_H

#include "probe/root/root.h"

/* Append the answer to `out`; read it with lks_kv_get(). NOT_FOUND for a device that devlink does
 * not know, UNAVAILABLE where its driver or the kernel does not answer. */
enum lks_code lks_devlink_info(struct lks_root *root, const char *address, struct lks_buf *out,
                               struct lks_err *err) LKS_MUST_CHECK;

/* The attributes of the kernel's answer as its line. */
void lks_devlink_words(struct lks_str attrs, struct lks_buf *out);

#endif
