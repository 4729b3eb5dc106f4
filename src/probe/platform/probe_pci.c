#include "probe/platform/pci.h"
#include "probe/root/probes.h"

#include <stdio.h>

/*
 * GPUs and NVSwitches by their class and vendor. Video chips of management controllers (ASPEED,
 * Matrox) are of other vendors. AMD also makes graphics for displays: those of the class of a VGA
 * controller count only where the table of GPUs lists them.
 */

enum kind { OTHER, GPU, GPU_IF_LISTED, NVSWITCH };

static const struct {
    unsigned class; /* upper 16 bits */
    unsigned vendor;
    enum kind kind;
} kinds[] = {
    {0x0300, LKS_PCI_NVIDIA, GPU},                    /* VGA controller */
    {0x0302, LKS_PCI_NVIDIA, GPU},                    /* 3D controller */
    {0x0300, LKS_PCI_AMD, GPU_IF_LISTED},             /* VGA controller */
    {0x0302, LKS_PCI_AMD, GPU},                       /* 3D controller */
    {0x0380, LKS_PCI_AMD, GPU},                       /* other display: MI100, MI200 */
    {0x1200, LKS_PCI_AMD, GPU},                       /* processing accelerator: MI300 and later */
    {LKS_PCI_OTHER_BRIDGE, LKS_PCI_NVIDIA, NVSWITCH}, /* up to the third generation */
};

#define CLASS_EVIDENCE LKS_PCI_DEVICES "/*/class"
#define VPD_EVIDENCE   LKS_PCI_DEVICES "/*/vpd"

struct address {
    char text[LKS_PCI_ADDRESS_SIZE];
};

struct found {
    size_t gpus, nvswitches;
    struct lks_err gpus_unclear; /* why a device could be told neither in nor out */
    struct lks_err nvswitches_unclear;
    struct address *infiniband; /* NVIDIA's InfiniBand functions, in the probe's arena */
    size_t infiniband_count;
};

static bool class_matters(unsigned class)
{
    for (size_t i = 0; i < LKS_COUNT(kinds); i++) {
        if (kinds[i].class == class)
            return true;
    }
    return class == LKS_PCI_INFINIBAND;
}

static enum kind kind_of(const struct lks_facts *facts, unsigned class, unsigned vendor,
                         unsigned device)
{
    char id[8];
    snprintf(id, sizeof(id), "%04x", device);
    for (size_t i = 0; i < LKS_COUNT(kinds); i++) {
        if (kinds[i].class != class || kinds[i].vendor != vendor)
            continue;
        if (kinds[i].kind != GPU_IF_LISTED)
            return kinds[i].kind;
        for (size_t j = 0; facts != NULL && j < facts->gpus.count; j++) {
            const struct lks_gpu *gpu = &facts->gpus.rows[j];
            if (gpu->vendor == LKS_VENDOR_AMD &&
                lks_facts_words_have(gpu->pci_ids, lks_str_from(id)))
                return GPU;
        }
    }
    return OTHER;
}

/* A device on PCI with an id for itself and one for the board it is on. */
static void say_id(struct lks_probe *p, const char *name, struct lks_str of, const char *where,
                   const char *vendor_file, const char *device_file)
{
    char path[LKS_PCI_PATH_SIZE], id[16];
    unsigned vendor = 0, device = 0;
    struct lks_err err = {0};
    lks_pci_path(path, where, device_file);
    if (lks_pci_number(p->root, where, vendor_file, 0xffff, &vendor, &err) != LKS_OK ||
        lks_pci_number(p->root, where, device_file, 0xffff, &device, &err) != LKS_OK) {
        lks_probe_failed(p, name, of, path, &err);
        return;
    }
    snprintf(id, sizeof(id), "%04x:%04x", vendor, device);
    lks_probe_value(p, name, of, LKS_STR(""), lks_str_from(id), path);
}

static void say_gpu(struct lks_probe *p, const char *where)
{
    char label[LKS_PCI_ADDRESS_SIZE + 8];
    snprintf(label, sizeof(label), "gpu %s", where);
    say_id(p, "gpu.pci_id", lks_str_from(label), where, "vendor", "device");
    say_id(p, "gpu.subsystem_id", lks_str_from(label), where, "subsystem_vendor",
           "subsystem_device");
}

/* Sort one device. What vanishes while it is looked at is no longer there; what cannot be read
 * leaves the count open that it might belong to. */
static void look(struct lks_probe *p, const char *where, struct found *found)
{
    unsigned class = 0, vendor = 0, device = 0;
    struct lks_err err = {0};
    enum lks_code code = lks_pci_number(p->root, where, "class", 0xffffff, &class, &err);
    class >>= 8;
    if (code == LKS_OK && class_matters(class))
        code = lks_pci_number(p->root, where, "vendor", 0xffff, &vendor, &err);
    if (code != LKS_OK && code != LKS_E_NOT_FOUND) {
        bool known = class_matters(class);
        if (!known || class == LKS_PCI_OTHER_BRIDGE || class == LKS_PCI_INFINIBAND)
            found->nvswitches_unclear = err;
        if (!known || (class != LKS_PCI_OTHER_BRIDGE && class != LKS_PCI_INFINIBAND))
            found->gpus_unclear = err;
    }
    if (code != LKS_OK || vendor == 0 || lks_pci_is_virtual(p->root, where))
        return;
    if (class == LKS_PCI_INFINIBAND && vendor == LKS_PCI_MELLANOX)
        snprintf(found->infiniband[found->infiniband_count++].text, LKS_PCI_ADDRESS_SIZE, "%s",
                 where);
    /* Its id decides for a VGA controller of AMD's alone; an unknown one is in no table. */
    if (lks_pci_number(p->root, where, "device", 0xffff, &device, &err) != LKS_OK)
        device = 0;
    enum kind kind = kind_of(p->facts, class, vendor, device);
    found->nvswitches += kind == NVSWITCH;
    found->gpus += kind == GPU;
    if (kind == GPU)
        say_gpu(p, where);
}

/* No board has switches of both kinds: where some are on PCI, product data is not asked for. */
static void say_nvswitches(struct lks_probe *p, struct found *found)
{
    bool on_pci = found->nvswitches > 0 || found->infiniband_count == 0;
    for (size_t i = 0; i < found->infiniband_count && !on_pci; i++) {
        struct lks_pci_vpd vpd = {0};
        struct lks_err err = {0};
        enum lks_code code = lks_pci_vpd(p->root, found->infiniband[i].text, &vpd, &err);
        if (code != LKS_OK && code != LKS_E_NOT_FOUND)
            found->nvswitches_unclear = err;
        found->nvswitches += vpd.manages_nvswitch;
    }
    lks_probe_counted(p, "devices.nvswitches", found->nvswitches, &found->nvswitches_unclear,
                      on_pci ? CLASS_EVIDENCE : VPD_EVIDENCE);
}

void lks_probe_pci(struct lks_probe *p)
{
    struct found found = {0};
    struct lks_names names;
    struct lks_err err = {0};
    enum lks_code code = lks_root_list(p->root, LKS_PCI_DEVICES, p->arena, &names, &err);
    if (code == LKS_OK) {
        found.infiniband = lks_arena_array(p->arena, names.count + 1, sizeof(*found.infiniband));
        if (found.infiniband == NULL)
            code = lks_arena_fail(p->arena, &err);
    }
    if (code != LKS_OK) {
        lks_probe_unmeasured(p, "devices.gpus", LKS_STR(""), LKS_PCI_DEVICES, "%s", err.msg);
        lks_probe_unmeasured(p, "devices.nvswitches", LKS_STR(""), LKS_PCI_DEVICES, "%s", err.msg);
        return;
    }
    for (size_t i = 0; i < names.count; i++) {
        char where[LKS_PCI_ADDRESS_SIZE];
        if (lks_pci_address(names.list[i], where))
            look(p, where, &found);
    }
    lks_probe_counted(p, "devices.gpus", found.gpus, &found.gpus_unclear, CLASS_EVIDENCE);
    say_nvswitches(p, &found);
}
