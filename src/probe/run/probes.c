#include "probe/root/probes.h"

#define PROMISES(...) ((const char *const[]){__VA_ARGS__, NULL})

/* One row a probe. What it promises is unmeasured when it does not come back. */
const struct lks_probe_kind lks_probes[] = {
    {"kernel", "running and next kernel, command line, DKMS, distribution", lks_probe_kernel,
     PROMISES("kernel", "settings.kernel_cmdline"), false},
    {"platform", "make and model, BIOS, microcode, memory, secure boot, disk encryption, TPM",
     lks_probe_platform, PROMISES("firmware/bios", "devices.memory_gib", "platform.secure_boot"),
     false},
    {"bmc", "management controller, asked in-band by IPMI", lks_probe_bmc, PROMISES("firmware/bmc"),
     true},
    {"pci", "GPUs and NVSwitches on the PCI bus", lks_probe_pci,
     PROMISES("devices.gpus", "devices.nvswitches"), false},
    {"nic", "network adapters, their firmware, settings and transceivers", lks_probe_nic,
     PROMISES("devices.nics"), true},
    {"nvme", "NVMe drives and their firmware", lks_probe_nvme, PROMISES("devices.nvmes"), true},
    {"nvidia", "GPUs as NVML has them, or without it as the kernel module has them",
     lks_probe_nvidia, PROMISES(NULL), false},
    {"driver", "the NVIDIA driver: loaded module, module on disk, library", lks_probe_driver,
     PROMISES("driver"), false},
    {"amd", "AMD GPUs, amdgpu and ROCm", lks_probe_amd, PROMISES("amdgpu"), true},
    {"packages", "versions in the dpkg and rpm databases", lks_probe_packages, PROMISES(NULL),
     false},
    {"upgrades", "unattended upgrades of packages", lks_probe_upgrades,
     PROMISES("settings.unattended_upgrades"), false},
    {"containers", "container runtimes, the NVIDIA toolkit, CDI, fabric manager, IMEX, DCGM",
     lks_probe_containers, PROMISES(NULL), false},
    {"libraries",
     "every copy of NCCL, cuDNN, CUDA, RCCL and MIOpen in a list of places, and by the names of "
     "the images in the stores of Docker, Podman, CRI-O and containerd",
     lks_probe_libraries, PROMISES("nccl", "cudnn"), false},
};
const size_t lks_probe_count = LKS_COUNT(lks_probes);
