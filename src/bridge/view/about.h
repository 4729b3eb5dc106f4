/* Options, files and signals of the bridge, for its command line, --help and
 * lockstep-slurm-bridge(8). */
#ifndef LKS_BRIDGE_ABOUT_H
#define LKS_BRIDGE_ABOUT_H

#include "base/process/manual.h"

#define LKS_BRIDGE_SOCKET "unix:/run/lockstep-slurm-bridge/socket"
#define LKS_BRIDGE_STATE  "/var/lib/lockstep-slurm-bridge"

extern const struct lks_option lks_about_bridge_options[];
extern const struct lks_manual lks_about_bridge;

#endif
