/*
 * What the driver of a network interface says when asked as ethtool does. Each answer is one line,
 * so that a capture replays:
 *
 *     drvinfo eth0   driver=mlx5_core version=6.8.0 firmware=28.39.1002%20(MT_0000000838)
 *     ring eth0      rx=8192 tx=8192
 *     pause eth0     autoneg=0 rx=1 tx=1
 *     module eth0    names=ok vendor=NVIDIA part=MMA4Z00-NS serials=ok serial=MT2321
 * firmware=46.120
 */
#ifndef LKS_PROBE_ETHTOOL_H
#define LKS_PROBE_ETHTOOL_H

#include "probe/root/root.h"

enum lks_ethtool { LKS_ETHTOOL_DRIVER, LKS_ETHTOOL_RING, LKS_ETHTOOL_PAUSE, LKS_ETHTOOL_MODULE };

/* Append the answer to `out`. UNAVAILABLE where the driver does not answer this question. */
enum lks_code lks_ethtool_ask(struct lks_root *root, enum lks_ethtool question,
                              const char *interface, struct lks_buf *out,
                              struct lks_err *err) LKS_MUST_CHECK;

/* The memory of a transceiver as its line. It is taken apart before it is written down, so that a
 * serial number stands in a capture as text and not as digits. */
enum lks_code lks_ethtool_module(struct lks_str bytes, struct lks_buf *out,
                                 struct lks_err *err) LKS_MUST_CHECK;

/* Append half of such a memory, from the attributes of the kernel's answer. All of the half: what
 * follows would stand in the wrong place behind less. */
enum lks_code lks_ethtool_half(struct lks_str attrs, struct lks_buf *out,
                               struct lks_err *err) LKS_MUST_CHECK;

/* The question as evidence: "ethtool drvinfo eth0". */
#define LKS_ETHTOOL_EVIDENCE_SIZE 64
void lks_ethtool_evidence(enum lks_ethtool question, const char *interface,
                          char out[LKS_ETHTOOL_EVIDENCE_SIZE]);

#endif
