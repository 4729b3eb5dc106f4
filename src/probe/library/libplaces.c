#include "probe/library/libplaces.h"

#include "base/compiler.h"
#include "probe/library/libcontainerd.h"

static const char *const kinds[] = {"system", "cuda", "python", "container", "process"};
_Static_assert(LKS_COUNT(kinds) == LKS_PLACE_KIND_COUNT, "a name for each kind of place");

const char *lks_libplace_kind_name(enum lks_place_kind kind)
{
    return kinds[kind];
}

#define CONDA "{miniconda3,anaconda3,miniforge3,mambaforge,micromamba,conda}"
#define VENV  "{.venv,venv}"

/* clang-format off */
#define IN_HOME(at, whose)                                                                         \
    {LKS_PLACE_PYTHON, at "/" CONDA, whose " Conda"},                                              \
    {LKS_PLACE_PYTHON, at "/" CONDA "/envs/*", "environments of " whose " Conda"},                 \
    {LKS_PLACE_PYTHON, at "/.conda/envs/*", "environments of " whose " Conda"},                    \
    {LKS_PLACE_PYTHON, at "/.local", whose " own packages"},                                       \
    {LKS_PLACE_PYTHON, at "/" VENV, whose " environments"},                                        \
    {LKS_PLACE_PYTHON, at "/*/" VENV, whose " environments"},                                      \
    {LKS_PLACE_PYTHON, at "/.pyenv/versions/*", whose " Pythons"}

const struct lks_place lks_places[] = {
    {LKS_PLACE_SYSTEM, "/usr/lib/{x86_64-linux-gnu,aarch64-linux-gnu}", "Debian and Ubuntu"},
    {LKS_PLACE_SYSTEM, "/usr/lib64", "Red Hat, SUSE and their kin"},
    {LKS_PLACE_SYSTEM, "/usr/lib", "other distributions"},
    {LKS_PLACE_SYSTEM, "/usr/local/{lib,lib64}", "installed by hand"},
    {LKS_PLACE_SYSTEM, "/usr/local/lib/{x86_64-linux-gnu,aarch64-linux-gnu}", "installed by hand"},
    {LKS_PLACE_SYSTEM, "/usr/local/nvidia/{lib,lib64}", "put there by an operator"},
    {LKS_PLACE_SYSTEM, "/home/kubernetes/bin/nvidia/lib64", "put there by an operator"},

    {LKS_PLACE_CUDA, "/usr/local/{cuda,cuda-*}/{lib64,lib}", "CUDA toolkits"},
    {LKS_PLACE_CUDA, "/usr/local/{cuda,cuda-*}/targets/*/lib", "CUDA toolkits"},
    {LKS_PLACE_CUDA, "/usr/local/{cuda,cuda-*}/compat", "forward compatibility of CUDA"},
    {LKS_PLACE_CUDA, "/opt/{cuda,cuda-*}/lib64", "CUDA toolkits"},
    {LKS_PLACE_CUDA, "/opt/{cuda,cuda-*}/targets/*/lib", "CUDA toolkits"},
    {LKS_PLACE_CUDA, "/opt/nvidia/hpc_sdk/*/*/cuda/*/{lib64,compat}", "NVIDIA HPC SDK"},
    {LKS_PLACE_CUDA, "/opt/nvidia/hpc_sdk/*/*/cuda/*/targets/*/lib", "NVIDIA HPC SDK"},
    {LKS_PLACE_CUDA, "/opt/nvidia/hpc_sdk/*/*/comm_libs/*/nccl/lib", "NVIDIA HPC SDK"},
    {LKS_PLACE_CUDA, "/opt/nvidia/hpc_sdk/*/*/comm_libs/nccl/lib", "NVIDIA HPC SDK"},
    {LKS_PLACE_CUDA, "/opt/{rocm,rocm-*}/{lib,lib64}", "ROCm"},
    {LKS_PLACE_CUDA, "/opt/rocm/core-*/lib", "ROCm since 7.14"},

    {LKS_PLACE_SYSTEM, "/opt/nvidia/*", "NVIDIA's own programs"},
    {LKS_PLACE_SYSTEM, "/opt/nvidia/*/{lib,lib64}", "NVIDIA's own programs"},
    {LKS_PLACE_SYSTEM, "/opt/*/{lib,lib64}", "installed by hand"},

    {LKS_PLACE_PYTHON, "/usr", "the distribution's Python"},
    {LKS_PLACE_PYTHON, "/usr/local", "Python packages for all users"},
    {LKS_PLACE_PYTHON, "/{venv,.venv}", "an environment at the top, as images have it"},
    {LKS_PLACE_PYTHON, "/*/" VENV, "an environment beside a program, as images have it"},
    {LKS_PLACE_PYTHON, "/opt/*", "environments under /opt"},
    {LKS_PLACE_PYTHON, "/opt/*/.venv", "environments under /opt"},
    {LKS_PLACE_PYTHON, "/opt/*/*", "environments under /opt"},
    {LKS_PLACE_PYTHON, "/opt/*/envs/*", "environments of a Conda under /opt"},
    IN_HOME("/home/*", "a user's"),
    IN_HOME("/root", "root's"),

    {LKS_PLACE_CONTAINER, "/var/lib/docker/{overlay2,fuse-overlayfs}/*/diff", "layers of Docker"},
    {LKS_PLACE_CONTAINER, "/var/lib/docker/vfs/dir/*", "layers of Docker"},
    {LKS_PLACE_CONTAINER, "/var/lib/containerd" LKS_LIBCONTAINERD_PLACES, "layers of containerd"},
    {LKS_PLACE_CONTAINER, "/var/lib/rancher/k3s/agent/containerd" LKS_LIBCONTAINERD_PLACES,
     "layers of K3s"},
    {LKS_PLACE_CONTAINER, "/var/lib/rancher/rke2/agent/containerd" LKS_LIBCONTAINERD_PLACES,
     "layers of RKE2"},
    {LKS_PLACE_CONTAINER, "/var/lib/containers/storage/overlay/*/diff", "layers of Podman, CRI-O"},
    {LKS_PLACE_CONTAINER, "/home/*/.local/share/containers/storage/overlay/*/diff",
     "layers of a user's Podman"},
    {LKS_PLACE_CONTAINER, "/home/*/.local/share/docker/{overlay2,fuse-overlayfs}/*/diff",
     "layers of a user's Docker"},
    {LKS_PLACE_CONTAINER, "/var/lib/enroot/*", "file systems of Enroot"},
    {LKS_PLACE_CONTAINER, "/var/lib/enroot/*/*", "file systems of Enroot"},
    {LKS_PLACE_CONTAINER, "/run/enroot/*/*", "file systems of Enroot"},
    {LKS_PLACE_CONTAINER, "/tmp/enroot-data/*/*", "file systems of Enroot"},
    {LKS_PLACE_CONTAINER, "/home/*/.local/share/enroot/*", "file systems of Enroot"},
};
/* clang-format on */
const size_t lks_place_count = LKS_COUNT(lks_places);

const struct lks_place lks_place_loader = {LKS_PLACE_SYSTEM, "/etc/ld.so.conf",
                                           "directories configured for the loader"};
const struct lks_place lks_place_processes = {LKS_PLACE_PROCESS, "/proc/*/maps",
                                              "libraries of processes that have a GPU open"};

const char *const lks_conda_places[] = {"lib", "targets/*/lib"};
const size_t lks_conda_place_count = LKS_COUNT(lks_conda_places);

const char *const lks_wheel_places[] = {
    "nvidia/*/lib",    "torch/lib",     "*.libs",      "cupy/.data/lib",
    "_rocm_sdk_*/lib", "tensorrt_libs", "paddle/libs", "onnxruntime/capi",
};
const size_t lks_wheel_place_count = LKS_COUNT(lks_wheel_places);
