/* What only NVIDIA's own program tells. */
#ifndef LKS_PROBE_NVIDIA_SMI_H
#define LKS_PROBE_NVIDIA_SMI_H

#include "probe/root/probe.h"

/* Say gpu.part of each GPU that `nvidia-smi -q` names: no call of NVML gives it. */
void lks_nvidia_smi(struct lks_probe *p);

/* Append a word "0000:00:06.0=2335-895-A1" for each GPU in what the program printed, of which the
 * line ends may be gone. A GPU without a part number has none behind '='. */
void lks_nvidia_smi_parts(struct lks_str text, struct lks_buf *out);

#endif
