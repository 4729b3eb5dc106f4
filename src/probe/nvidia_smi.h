/* What only NVIDIA's own program tells. */
#ifndef LKS_PROBE_NVIDIA_SMI_H
#define LKS_PROBE_NVIDIA_SMI_H

#include "probe/probe.h"

/* Say gpu.part of each GPU that `nvidia-smi -q` names: no call of NVML gives it. */
void lks_nvidia_smi(struct lks_probe *p);

#endif
