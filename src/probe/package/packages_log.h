/* COMPONENT.package.changed: what the package manager last did to a component's packages, by its
 * own log. Nothing is said where no log tells of it. */
#ifndef LKS_PROBE_PACKAGES_LOG_H
#define LKS_PROBE_PACKAGES_LOG_H

#include "probe/root/probe.h"

#define LKS_PACKAGES_LOG_MAX ((size_t)1 << 20) /* bytes at the end of a log that are read */

void lks_packages_logs(struct lks_probe *p);

#endif
