/* The functions behind the table of probes, one file each: probe_NAME.c. */
#ifndef LKS_PROBE_PROBES_H
#define LKS_PROBE_PROBES_H

#include "probe/root/probe.h"

typedef void lks_probe_fn(struct lks_probe *p);

lks_probe_fn lks_probe_amd;
lks_probe_fn lks_probe_bmc;
lks_probe_fn lks_probe_containers;
lks_probe_fn lks_probe_driver;
lks_probe_fn lks_probe_kernel;
lks_probe_fn lks_probe_libraries;
lks_probe_fn lks_probe_nic;
lks_probe_fn lks_probe_nvidia;
lks_probe_fn lks_probe_nvme;
lks_probe_fn lks_probe_packages;
lks_probe_fn lks_probe_pci;
lks_probe_fn lks_probe_platform;
lks_probe_fn lks_probe_upgrades;

#endif
