/* AMD: amdgpu, ROCm, and the GPUs as the kernel driver's files have them. */
#include "probe/package/packages.h"
#include "probe/platform/pci.h"
#include "probe/root/probes.h"

#include <stdio.h>

#define MODULE_DIR   "/sys/module/amdgpu"
#define VERSION_SIZE 64
#define NONE         LKS_STR("")

/* The driver -------------------------------------------------------------------------------- */

/* amdgpu has two numbers: 6.14.14 in the module, 30.10 on AMD's pages and in stacks. Debian's
 * package has both, as 6.14.14.30100000; before 30 it was ROCm's, as 6.12.12.60401. */
struct numbers {
    char module[VERSION_SIZE];
    char driver[LKS_PACKAGES_RELEASE_SIZE];
};

static void take_package(void *ctx, const struct lks_installed *package)
{
    struct numbers *numbers = ctx;
    struct lks_str code = lks_str_last(package->upstream, '.');
    if (lks_str_is(package->name, "amdgpu-dkms") && lks_str_is(package->state, "installed") &&
        lks_packages_release(package->upstream, numbers->driver))
        snprintf(numbers->module, sizeof(numbers->module), "%" LKS_STR_FMT,
                 (int)(package->upstream.len - code.len - 1), package->upstream.ptr);
}

static struct numbers read_numbers(struct lks_probe *p)
{
    struct numbers numbers = {0};
    char where[LKS_ROOT_PATH_MAX];
    struct lks_err err;
    if (lks_packages_dpkg(p->root, take_package, &numbers, where, &err) != LKS_OK)
        return (struct numbers){0};
    return numbers;
}

/* A module's own number as the driver's, where the package tells them to be one. */
static void emit_module(struct lks_probe *p, const char *name, const char *number,
                        const struct numbers *known, const char *path)
{
    char evidence[LKS_ROOT_PATH_MAX + VERSION_SIZE];
    bool same = known->driver[0] != '\0' && strcmp(known->module, number) == 0;
    snprintf(evidence, sizeof(evidence), "%s (%s)", path, number);
    lks_probe_value(p, name, NONE, NONE, lks_str_from(same ? known->driver : number), evidence);
}

/* The one in the kernel has no number of its own: the kernel's is its. */
static void emit_inbox(struct lks_probe *p)
{
    static const char path[] = "/proc/sys/kernel/osrelease";
    char release[LKS_ROOT_LINE_MAX];
    struct lks_err err = {0};
    lks_probe_value(p, "amdgpu.modules", NONE, NONE, LKS_STR("inbox"),
                    MODULE_DIR "/version is not there");
    if (lks_root_line(p->root, path, release, &err) != LKS_OK) {
        lks_probe_failed(p, "amdgpu", NONE, path, &err);
        return;
    }
    struct lks_str number = {release, strspn(release, "0123456789.")};
    lks_probe_value(p, "amdgpu", NONE, NONE, number, path);
    lks_probe_value(p, "amdgpu.loaded", NONE, NONE, number, path);
}

static void read_driver(struct lks_probe *p)
{
    static const char version[] = MODULE_DIR "/version";
    if (!lks_root_exists(p->root, MODULE_DIR)) {
        lks_probe_absent(p, "amdgpu", NONE, MODULE_DIR);
        return;
    }
    char number[LKS_ROOT_LINE_MAX];
    struct lks_err err = {0};
    enum lks_code code = lks_root_line(p->root, version, number, &err);
    if (code == LKS_E_NOT_FOUND) {
        emit_inbox(p);
    } else if (code != LKS_OK) {
        lks_probe_failed(p, "amdgpu", NONE, version, &err);
    } else {
        struct numbers known = read_numbers(p);
        emit_module(p, "amdgpu", number, &known, version);
        emit_module(p, "amdgpu.loaded", number, &known, version);
        lks_probe_value(p, "amdgpu.modules", NONE, NONE, LKS_STR("dkms"), version);
    }
    lks_probe_line(p, "amdgpu.build.srcversion", NONE, MODULE_DIR "/srcversion");
}

/* ROCm -------------------------------------------------------------------------------------- */

/* "7.2.2-66" in /opt/rocm/.info/version: the number behind the dash is the build's. */
static void read_rocm(struct lks_probe *p)
{
    static const char path[] = "/opt/rocm/.info/version";
    char line[LKS_ROOT_LINE_MAX];
    struct lks_err err = {0};
    if (lks_root_line(p->root, path, line, &err) != LKS_OK) {
        lks_probe_failed(p, "rocm", NONE, path, &err);
        return;
    }
    struct lks_str version, build;
    (void)lks_str_cut(lks_str_from(line), '-', &version, &build);
    lks_probe_value(p, "rocm", NONE, NONE, version, path);
}

/* GPUs -------------------------------------------------------------------------------------- */

struct gpu {
    char dir[LKS_ROOT_PATH_MAX / 2];
    char of[64];
    char part[LKS_ROOT_LINE_MAX];
};

static const struct lks_str_pair lines[] = {
    {"product_name", "gpu.product"},
    {"product_number", "gpu.board_part"},
    {"serial_number", "gpu.serial"},
    {"unique_id", "gpu.uuid"},
    {"current_compute_partition", "settings.partition.compute"},
    {"current_memory_partition", "settings.partition.memory"},
};

static void read_firmware(struct lks_probe *p, const struct gpu *gpu)
{
    char path[LKS_ROOT_PATH_MAX], line[LKS_ROOT_LINE_MAX];
    struct lks_err err = {0};
    struct lks_str of = lks_str_from(gpu->of);
    snprintf(path, sizeof(path), "%s/vbios_version", gpu->dir);
    if (lks_root_line(p->root, path, line, &err) == LKS_OK)
        lks_probe_value(p, "firmware/ifwi", of, lks_str_from(gpu->part), lks_str_from(line), path);
    else
        lks_probe_failed(p, "firmware/ifwi", of, path, &err);

    struct lks_names blocks = {0};
    snprintf(path, sizeof(path), "%s/fw_version", gpu->dir);
    if (lks_root_list(p->root, path, p->arena, &blocks, &err) != LKS_OK)
        return;
    for (size_t i = 0; i < blocks.count; i++) {
        static const char ending[] = "_fw_version";
        char name[128];
        struct lks_str block = blocks.list[i];
        size_t at = block.len - (sizeof(ending) - 1);
        if (!lks_str_ends(block, ending) || at == 0 || block.len > 64)
            continue;
        snprintf(name, sizeof(name), "gpu.firmware.%.*s", (int)at, block.ptr);
        snprintf(path, sizeof(path), "%s/fw_version/%.*s", gpu->dir, LKS_STR_ARG(block));
        lks_probe_line(p, name, of, path);
    }
}

/* Microwatts in the one hwmon of the device. */
static void read_power(struct lks_probe *p, const struct gpu *gpu)
{
    char path[LKS_ROOT_PATH_MAX], line[LKS_ROOT_LINE_MAX];
    struct lks_names monitors = {0};
    struct lks_err err = {0};
    struct lks_str of = lks_str_from(gpu->of);
    static const char name[] = "settings.power_limit_w";
    snprintf(path, sizeof(path), "%s/hwmon", gpu->dir);
    if (lks_root_list(p->root, path, p->arena, &monitors, &err) != LKS_OK) {
        lks_probe_failed(p, name, of, path, &err);
        return;
    }
    for (size_t i = 0; i < monitors.count; i++) {
        uint64_t microwatts;
        snprintf(path, sizeof(path), "%s/hwmon/%.*s/power1_cap", gpu->dir,
                 LKS_STR_ARG(monitors.list[i]));
        enum lks_code code = lks_root_line(p->root, path, line, &err);
        if (code == LKS_E_NOT_FOUND)
            continue;
        if (code != LKS_OK || !lks_str_number(lks_str_from(line), INT64_MAX, &microwatts)) {
            lks_probe_unmeasured(p, name, of, path, "%s",
                                 code != LKS_OK ? err.msg : "not a number");
            return;
        }
        snprintf(line, sizeof(line), "%llu", (unsigned long long)((microwatts + 500000) / 1000000));
        lks_probe_value(p, name, of, NONE, lks_str_from(line), path);
        return;
    }
    lks_probe_absent(p, name, of, path);
}

/* Anything but "auto" means that the clocks were set. */
static void read_clocks(struct lks_probe *p, const struct gpu *gpu)
{
    char path[LKS_ROOT_PATH_MAX], line[LKS_ROOT_LINE_MAX];
    struct lks_err err = {0};
    snprintf(path, sizeof(path), "%s/power_dpm_force_performance_level", gpu->dir);
    if (lks_root_line(p->root, path, line, &err) == LKS_OK)
        lks_probe_value(p, "settings.clocks.locked", lks_str_from(gpu->of), NONE,
                        strcmp(line, "auto") == 0 ? LKS_STR("false") : LKS_STR("true"), path);
    else
        lks_probe_failed(p, "settings.clocks.locked", lks_str_from(gpu->of), path, &err);
}

/* "feature mask: 0x..." names the blocks under protection; the first is the memory controller. */
static void read_ecc(struct lks_probe *p, const struct gpu *gpu)
{
    char path[LKS_ROOT_PATH_MAX], line[LKS_ROOT_LINE_MAX];
    struct lks_err err = {0};
    struct lks_str of = lks_str_from(gpu->of);
    snprintf(path, sizeof(path), "%s/ras/features", gpu->dir);
    if (lks_root_line(p->root, path, line, &err) != LKS_OK) {
        lks_probe_failed(p, "settings.ecc", of, path, &err);
        return;
    }
    static const char before[] = "feature mask: 0x";
    struct lks_str text = lks_str_from(line);
    size_t skip = sizeof(before) - 1;
    uint64_t mask;
    if (!lks_str_starts(text, before) ||
        !lks_str_hex((struct lks_str){text.ptr + skip, text.len - skip}, UINT64_MAX, &mask))
        lks_probe_unmeasured(p, "settings.ecc", of, path, "no feature mask in '%s'", line);
    else
        lks_probe_value(p, "settings.ecc", of, NONE,
                        (mask & 1) != 0 ? LKS_STR("true") : LKS_STR("false"), path);
}

static void read_gpu(struct lks_probe *p, struct gpu *gpu)
{
    char path[LKS_ROOT_PATH_MAX];
    struct lks_err err = {0};
    snprintf(path, sizeof(path), "%s/product_number", gpu->dir);
    if (lks_root_line(p->root, path, gpu->part, &err) != LKS_OK)
        gpu->part[0] = '\0';
    for (size_t i = 0; i < LKS_COUNT(lines); i++) {
        snprintf(path, sizeof(path), "%s/%s", gpu->dir, lines[i].name);
        lks_probe_line(p, lines[i].value, lks_str_from(gpu->of), path);
    }
    read_firmware(p, gpu);
    read_power(p, gpu);
    read_clocks(p, gpu);
    read_ecc(p, gpu);
}

/* Whether amdgpu drives the device. */
static bool is_driven(struct lks_probe *p, const char *dir)
{
    char path[LKS_ROOT_PATH_MAX];
    struct lks_pci pci;
    struct lks_err err;
    snprintf(path, sizeof(path), "%s/uevent", dir);
    return lks_pci_uevent(p->root, path, &pci, &err) == LKS_OK && strcmp(pci.driver, "amdgpu") == 0;
}

void lks_probe_amd(struct lks_probe *p)
{
    struct lks_names devices = {0};
    struct lks_err err = {0};
    read_driver(p);
    read_rocm(p);
    if (lks_root_list(p->root, LKS_PCI_DEVICES, p->arena, &devices, &err) != LKS_OK)
        return;
    for (size_t i = 0; i < devices.count; i++) {
        struct gpu gpu = {0};
        snprintf(gpu.dir, sizeof(gpu.dir), LKS_PCI_DEVICES "/%.*s", LKS_STR_ARG(devices.list[i]));
        snprintf(gpu.of, sizeof(gpu.of), "gpu %.*s", LKS_STR_ARG(devices.list[i]));
        if (is_driven(p, gpu.dir))
            read_gpu(p, &gpu);
    }
}
