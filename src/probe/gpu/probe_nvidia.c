/* NVIDIA's GPUs: as NVML has them; those it does not have, and all of them where there is no NVML,
 * as far as the kernel module and the PCI bus know them. */
#include "probe/gpu/nvidia_gpu.h"
#include "probe/gpu/nvidia_smi.h"
#include "probe/platform/pci.h"
#include "probe/root/probes.h"

#include <stdio.h>
#include <stdlib.h>

#define PROC_GPUS "/proc/driver/nvidia/gpus"
#define DISPLAY   0x03 /* class of a device: VGA or 3D controller */
#define INFO_MAX  65536

struct gpus {
    struct lks_nvidia_gpu list[LKS_NVML_GPUS_MAX];
    size_t count;
    bool more; /* than there is room for */
};

/* Finding them ------------------------------------------------------------------------------- */

static struct lks_nvidia_gpu *add_gpu(struct gpus *gpus, struct lks_str address)
{
    for (size_t i = 0; i < gpus->count; i++) {
        if (lks_str_is(address, gpus->list[i].nvml.address))
            return &gpus->list[i];
    }
    if (gpus->count >= LKS_NVML_GPUS_MAX) {
        gpus->more = true;
        return NULL;
    }
    struct lks_nvidia_gpu *gpu = &gpus->list[gpus->count++];
    snprintf(gpu->nvml.address, sizeof(gpu->nvml.address), "%" LKS_STR_FMT, LKS_STR_ARG(address));
    snprintf(gpu->of, sizeof(gpu->of), "gpu %" LKS_STR_FMT, LKS_STR_ARG(address));
    return gpu;
}

static void find_in_proc(struct lks_probe *p, struct gpus *gpus)
{
    struct lks_names names = {0};
    struct lks_err err;
    if (lks_root_list(p->root, PROC_GPUS, p->arena, &names, &err) != LKS_OK)
        return;
    for (size_t i = 0; i < names.count; i++) {
        struct lks_nvidia_gpu *gpu =
            lks_pci_is_address(names.list[i]) ? add_gpu(gpus, names.list[i]) : NULL;
        if (gpu != NULL)
            gpu->in_proc = true;
    }
}

static void find_on_pci(struct lks_probe *p, struct gpus *gpus)
{
    struct lks_names names = {0};
    struct lks_err err;
    unsigned vendor, class;
    if (lks_root_list(p->root, LKS_PCI_DEVICES, p->arena, &names, &err) != LKS_OK)
        return;
    for (size_t i = 0; i < names.count; i++) {
        char address[LKS_PCI_ADDRESS_SIZE];
        if (!lks_pci_address(names.list[i], address) ||
            lks_pci_number(p->root, address, "vendor", UINT16_MAX, &vendor, &err) != LKS_OK ||
            vendor != LKS_PCI_NVIDIA ||
            lks_pci_number(p->root, address, "class", 0xffffff, &class, &err) != LKS_OK ||
            class >> 16 != DISPLAY)
            continue;
        struct lks_nvidia_gpu *gpu = add_gpu(gpus, names.list[i]);
        if (gpu != NULL)
            gpu->on_pci = true;
    }
}

/* The first failure is kept: it is the reason where a GPU is not found elsewhere. */
static void keep(struct lks_err *kept, const struct lks_err *err)
{
    if (kept->code == LKS_OK)
        *kept = *err;
}

/* A call that hangs here counts for no GPU: which one it is, is what was asked. */
static enum lks_code take_from_nvml(struct lks_nvml *n, unsigned index, struct gpus *gpus,
                                    struct lks_err *err)
{
    struct lks_nvml_gpu gpu = {.index = index};
    struct lks_nvml_answer pci;
    struct lks_str address;
    if (lks_nvml_ask(n, LKS_NVML_BY_INDEX, &gpu, 0, 0, &pci, err) != LKS_OK ||
        lks_nvml_ask(n, LKS_NVML_PCI, &gpu, 0, 0, &pci, err) != LKS_OK ||
        lks_nvml_word(&pci, "address", &address, err) != LKS_OK)
        return err->code;
    if (!lks_pci_is_address(address))
        return lks_fail(err, LKS_E_INVALID, "%s: unexpected answer '%s'",
                        lks_nvml_name(LKS_NVML_PCI), pci.text);
    struct lks_nvidia_gpu *found = add_gpu(gpus, address);
    if (found == NULL)
        return LKS_OK;
    found->nvml.index = index;
    found->nvml.handle = gpu.handle;
    found->listed = true;
    found->pci = pci;
    return LKS_OK;
}

/* `why` is left alone while all goes well. */
static void find_in_nvml(struct lks_nvml *n, struct gpus *gpus, struct lks_err *why)
{
    struct lks_err err;
    uint64_t count;
    if (lks_nvml_number(n, LKS_NVML_COUNT, NULL, 0, 0, &count, &err) != LKS_OK) {
        keep(why, &err);
        return;
    }
    for (unsigned i = 0; i < count && i < LKS_NVML_GPUS_MAX; i++) {
        if (take_from_nvml(n, i, gpus, &err) != LKS_OK)
            keep(why, &err);
    }
    gpus->more = gpus->more || count > LKS_NVML_GPUS_MAX;
}

/* A GPU that is not in NVML's list may still be known to it, and if only to say what is wrong.
 * Not after it hung while making the list: it would hang again. */
static enum lks_code take_by_address(struct lks_nvml *n, struct lks_nvidia_gpu *gpu,
                                     struct lks_err *err)
{
    struct lks_nvml_answer answer;
    if (lks_nvml_ask(n, LKS_NVML_BY_ADDRESS, &gpu->nvml, 0, 0, &answer, err) != LKS_OK ||
        lks_nvml_ask(n, LKS_NVML_PCI, &gpu->nvml, 0, 0, &gpu->pci, err) != LKS_OK)
        return err->code;
    return LKS_OK;
}

/* Without NVML ------------------------------------------------------------------------------- */

static const struct {
    const char *key, *name;
    bool upper;
} proc_lines[] = {
    {"Model", "gpu.product", false},
    {"GPU UUID", "gpu.uuid", false},
    {"Video BIOS", "firmware/vbios", true},
    {"GPU Firmware", "firmware/gsp", false},
};

static const struct {
    const char *name, *vendor, *device;
} pci_ids[] = {
    {"gpu.pci_id", "vendor", "device"},
    {"gpu.subsystem_id", "subsystem_vendor", "subsystem_device"},
};

/* What of the readings was said otherwise, one bit each. */
struct said {
    uint64_t mask;
};

static void mark(struct said *said, const char *name)
{
    for (size_t i = 0; lks_nvidia_gpu_readings[i] != NULL; i++) {
        if (strcmp(lks_nvidia_gpu_readings[i], name) == 0)
            said->mask |= (uint64_t)1 << i;
    }
}

/* The module writes question marks for what it has not read from the GPU yet. */
static void tell_proc_line(struct lks_probe *p, const struct lks_nvidia_gpu *gpu, size_t which,
                           struct lks_str text, const char *path, struct said *said)
{
    const char *name = proc_lines[which].name;
    char shown[128];
    struct lks_str of = lks_str_from(gpu->of);
    if (text.len == 0 || text.len >= sizeof(shown) || memchr(text.ptr, '?', text.len) != NULL ||
        !lks_str_printable(text))
        return;
    mark(said, name);
    if (lks_str_is(text, "N/A")) {
        lks_probe_absent(p, name, of, path);
        return;
    }
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        bool low = proc_lines[which].upper && c >= 'a' && c <= 'z';
        shown[i] = low ? (char)(c - 'a' + 'A') : c;
    }
    lks_probe_value(p, name, of, LKS_STR(""), (struct lks_str){shown, text.len}, path);
}

static void tell_from_proc(struct lks_probe *p, const struct lks_nvidia_gpu *gpu, struct said *said)
{
    char path[128];
    struct lks_err err;
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(INFO_MAX);
    snprintf(path, sizeof(path), PROC_GPUS "/%s/information", gpu->nvml.address);
    if (lks_root_read(p->root, path, INFO_MAX, &text, &err) != LKS_OK)
        return;
    struct lks_str rest = lks_buf_view(&text), line, key;
    while (rest.len > 0) {
        (void)lks_str_cut(rest, '\n', &line, &rest);
        if (!lks_str_cut(line, ':', &key, &line))
            continue;
        for (size_t i = 0; i < LKS_COUNT(proc_lines); i++) {
            if (lks_str_is(key, proc_lines[i].key))
                tell_proc_line(p, gpu, i, lks_str_trim(line), path, said);
        }
    }
}

static void tell_from_pci(struct lks_probe *p, const struct lks_nvidia_gpu *gpu, struct said *said)
{
    for (size_t i = 0; i < LKS_COUNT(pci_ids); i++) {
        const char *address = gpu->nvml.address;
        unsigned vendor, device;
        struct lks_err err;
        if (lks_pci_number(p->root, address, pci_ids[i].vendor, UINT16_MAX, &vendor, &err) !=
                LKS_OK ||
            lks_pci_number(p->root, address, pci_ids[i].device, UINT16_MAX, &device, &err) !=
                LKS_OK)
            continue;
        char text[16], evidence[LKS_PCI_PATH_SIZE];
        snprintf(text, sizeof(text), "%04x:%04x", vendor, device);
        lks_pci_path(evidence, address, pci_ids[i].device);
        lks_probe_value(p, pci_ids[i].name, lks_str_from(gpu->of), LKS_STR(""), lks_str_from(text),
                        evidence);
        mark(said, pci_ids[i].name);
    }
}

/* On the bus and not with the NVIDIA driver: then who has it is the reason. */
static bool other_driver(struct lks_probe *p, const struct lks_nvidia_gpu *gpu, char *out,
                         size_t size)
{
    char path[LKS_PCI_PATH_SIZE], link[LKS_ROOT_PATH_MAX];
    struct lks_err err;
    if (gpu->in_proc || !gpu->on_pci)
        return false;
    lks_pci_path(path, gpu->nvml.address, "driver");
    enum lks_code code = lks_root_link(p->root, path, link, &err);
    struct lks_str driver = code == LKS_OK ? lks_str_last(lks_str_from(link), '/') : LKS_STR("");
    if (code == LKS_E_NOT_FOUND)
        snprintf(out, size, "no driver has taken this GPU");
    else if (code == LKS_OK && !lks_str_is(driver, "nvidia"))
        snprintf(out, size, "the driver %" LKS_STR_FMT " has this GPU, not NVIDIA's",
                 LKS_STR_ARG(driver));
    else
        return false;
    return true;
}

static void tell_without(struct lks_probe *p, const struct lks_nvidia_gpu *gpu,
                         const struct lks_err *why)
{
    char other[128];
    const char *reason = other_driver(p, gpu, other, sizeof(other)) ? other : why->msg;
    struct said said = {0};
    tell_from_proc(p, gpu, &said);
    tell_from_pci(p, gpu, &said);
    for (size_t i = 0; lks_nvidia_gpu_readings[i] != NULL; i++) {
        if ((said.mask >> i & 1) == 0)
            lks_probe_unmeasured(p, lks_nvidia_gpu_readings[i], lks_str_from(gpu->of), "NVML", "%s",
                                 reason);
    }
}

/* ---------------------------------------------------------------------------------------------- */

static int gpu_cmp(const void *a, const void *b)
{
    const struct lks_nvidia_gpu *x = a, *y = b;
    return strcmp(x->nvml.address, y->nvml.address);
}

/* Windows' Linux has GPUs on no bus of its own; a captured tree has what NVML answered. */
static bool worth_asking(struct lks_probe *p, const struct gpus *gpus)
{
    struct lks_names keys = {0};
    struct lks_err err;
    if (gpus->count > 0 || p->root->nvml != NULL ||
        lks_root_exists(p->root, "/proc/driver/nvidia") || lks_root_exists(p->root, "/dev/dxg"))
        return true;
    return lks_root_answers(p->root, "nvml", p->arena, &keys, &err) == LKS_OK && keys.count > 0;
}

static void tell_all(struct lks_probe *p, struct lks_nvml *n, struct gpus *gpus,
                     const struct lks_err *no_nvml, struct lks_err *why)
{
    for (size_t i = 0; i < gpus->count; i++) {
        struct lks_nvidia_gpu *gpu = &gpus->list[i];
        struct lks_err err = *why;
        if (!gpu->listed && no_nvml->code == LKS_OK && why->code != LKS_E_TIMEOUT)
            gpu->listed = take_by_address(n, gpu, &err) == LKS_OK;
        if (gpu->listed)
            lks_nvidia_gpu_tell(p, n, gpu);
        else
            tell_without(p, gpu, &err);
    }
    for (size_t i = 0; i < gpus->count; i++) {
        struct lks_nvidia_gpu *gpu = &gpus->list[i];
        if (gpu->listed)
            lks_nvidia_clocks_tell(p, n, &gpu->nvml, lks_str_from(gpu->of), &gpu->clocks);
    }
    if (gpus->count == 0 && why->code != LKS_OK)
        lks_probe_unmeasured(p, "probe.nvidia", LKS_STR(""), "NVML", "%s", why->msg);
    if (gpus->more)
        lks_probe_unmeasured(p, "probe.nvidia", LKS_STR(""), "NVML",
                             "more than %d GPUs: the rest is left out", LKS_NVML_GPUS_MAX);
}

void lks_probe_nvidia(struct lks_probe *p)
{
    struct gpus *gpus = lks_arena_alloc(p->arena, sizeof(*gpus));
    if (gpus == NULL) {
        lks_probe_unmeasured(p, "probe.nvidia", LKS_STR(""), "NVML", "out of memory");
        return;
    }
    find_in_proc(p, gpus);
    find_on_pci(p, gpus);
    if (!worth_asking(p, gpus))
        return;
    struct lks_nvml n;
    struct lks_err no_nvml = {0}, why = {0};
    if (lks_nvml_open(&n, p->root, &no_nvml) == LKS_OK)
        no_nvml.code = LKS_OK;
    else
        why = no_nvml;
    if (no_nvml.code == LKS_OK)
        find_in_nvml(&n, gpus, &why);
    if (gpus->count > 0)
        qsort(gpus->list, gpus->count, sizeof(gpus->list[0]), gpu_cmp);
    tell_all(p, &n, gpus, &no_nvml, &why);
    if (p->options->libraries && gpus->count > 0)
        lks_nvidia_smi(p);
}
