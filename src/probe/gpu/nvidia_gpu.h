/* The readings of one GPU that NVML knows. */
#ifndef LKS_PROBE_NVIDIA_GPU_H
#define LKS_PROBE_NVIDIA_GPU_H

#include "probe/gpu/nvidia_clocks.h"

struct lks_nvidia_gpu {
    struct lks_nvml_gpu nvml; /* its address is always known */
    char of[LKS_NVML_ADDRESS_MAX + 8];
    bool listed;  /* NVML has it */
    bool in_proc; /* /proc/driver/nvidia/gpus has it */
    bool on_pci;  /* /sys/bus/pci/devices has it */
    struct lks_nvml_answer pci;
    struct lks_clocks clocks;
};

/* Say everything but the clocks; what is asked of them is kept for lks_nvidia_clocks_tell(), which
 * may have to wait and therefore comes after all GPUs were read. */
void lks_nvidia_gpu_tell(struct lks_probe *p, struct lks_nvml *n, struct lks_nvidia_gpu *gpu);

/* Every reading it would say, clocks included; ends with NULL. For GPUs NVML does not have. */
extern const char *const lks_nvidia_gpu_readings[];

/* The name nvidia-smi gives to a GPU instance of NVML's profile number `profile`, with so many
 * slices and so much memory, on a GPU with `total` bytes; false for a profile it has no name for.
 */
bool lks_nvidia_profile_name(unsigned profile, uint64_t slices, uint64_t memory_mb, uint64_t total,
                             char *out, size_t size);

#endif
