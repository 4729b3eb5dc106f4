#include "probe/network/nic.h"
#include "probe/root/probes.h"

#include <stdio.h>

/*
 * A fabric port is a port of an RDMA device that is a physical function on PCI, of the model that
 * most ports are of: a DPU for storage or the two ports of the board beside eight adapters are
 * listed, with no part in the count and the settings of the fabric. Where two models have as many,
 * both are taken. Not counted are virtual functions and subfunctions of a device here, RDMA in
 * software, and the functions through which NVSwitches are managed. Interfaces on PCI without RDMA
 * are listed.
 */

#define RDMA_DIR      "/sys/class/infiniband"
#define INTERFACE_DIR "/sys/class/net"

struct nics {
    struct lks_nic *list; /* in the probe's arena */
    size_t count;
    struct lks_err unclear; /* why a device could be told neither in nor out */
};

const char *lks_probe_nic_path(char out[LKS_NIC_PATH_SIZE], const char *dir, const char *file)
{
    int len = snprintf(out, LKS_NIC_PATH_SIZE, "%s/%s", dir, file);
    LKS_ASSERT(len > 0 && len < LKS_NIC_PATH_SIZE);
    return out;
}

static enum lks_code name_nic(struct lks_probe *p, const char *class, struct lks_str name,
                              struct lks_nic *nic, struct lks_err *err)
{
    if (name.len >= LKS_NIC_NAME_SIZE)
        return lks_fail(err, LKS_E_LIMIT, "%s: a name of %zu bytes", class, name.len);
    snprintf(nic->name, sizeof(nic->name), "%" LKS_STR_FMT, LKS_STR_ARG(name));
    snprintf(nic->dir, sizeof(nic->dir), "%s/%s", class, nic->name);
    nic->of = lks_arena_format(p->arena, "nic %s", nic->name);
    return nic->of.ptr != NULL ? LKS_OK : lks_arena_fail(p->arena, err);
}

/* Whether the device called `name` is one to read: false with LKS_OK for what is no adapter. */
static enum lks_code open_nic(struct lks_probe *p, const char *class, struct lks_str name,
                              struct lks_nic *nic, bool *in, struct lks_err *err)
{
    char path[LKS_NIC_PATH_SIZE];
    *in = false;
    if (name_nic(p, class, name, nic, err) != LKS_OK)
        return err->code;
    /* RDMA in software says which interface it is made of. */
    if (lks_root_exists(p->root, lks_probe_nic_path(path, nic->dir, "parent")))
        return LKS_OK;
    enum lks_code code = lks_pci_uevent(
        p->root, lks_probe_nic_path(path, nic->dir, "device/uevent"), &nic->pci, err);
    if (code != LKS_OK)
        return code == LKS_E_NOT_FOUND ? LKS_OK : code;
    if (lks_pci_is_virtual(p->root, nic->pci.address) ||
        (!nic->rdma && !lks_nic_is_port(p, nic->name)))
        return LKS_OK;
    *in = true;
    if (lks_pci_vpd(p->root, nic->pci.address, &nic->vpd, &nic->vpd_failed) == LKS_OK)
        nic->manages_nvswitch = nic->vpd.manages_nvswitch;
    if (nic->rdma)
        lks_nic_find_interface(p, &nic->pci, 1, nic->interface);
    else
        memcpy(nic->interface, nic->name, sizeof(nic->interface));
    return LKS_OK;
}

static enum lks_code list_class(struct lks_probe *p, const char *class, struct lks_names *names,
                                struct lks_err *err)
{
    enum lks_code code = lks_root_list(p->root, class, p->arena, names, err);
    if (code != LKS_E_NOT_FOUND)
        return code;
    *names = (struct lks_names){0};
    struct lks_names classes;
    return lks_root_list(p->root, "/sys/class", p->arena, &classes, err) == LKS_OK
               ? LKS_OK
               : lks_fail(err, LKS_E_UNAVAILABLE, "/sys/class: cannot be listed");
}

static bool is_rdma_function(const struct nics *rdma, const char *address)
{
    for (size_t i = 0; i < rdma->count; i++) {
        if (strcmp(rdma->list[i].pci.address, address) == 0)
            return true;
    }
    return false;
}

/* All of a class of sysfs; of interfaces those that are not a function in `rdma`. */
static enum lks_code find_nics(struct lks_probe *p, const char *class, const struct nics *rdma,
                               struct nics *out, struct lks_err *err)
{
    struct lks_names names;
    if (list_class(p, class, &names, err) != LKS_OK)
        return err->code;
    out->list = lks_arena_array(p->arena, names.count + 1, sizeof(*out->list));
    if (out->list == NULL)
        return lks_arena_fail(p->arena, err);
    for (size_t i = 0; i < names.count; i++) {
        struct lks_nic *nic = &out->list[out->count];
        bool in = false;
        *nic = (struct lks_nic){.rdma = rdma == NULL};
        if (open_nic(p, class, names.list[i], nic, &in, err) != LKS_OK)
            out->unclear = *err;
        else if (in && (rdma == NULL || !is_rdma_function(rdma, nic->pci.address)))
            out->count++;
    }
    return LKS_OK;
}

/* The other functions of a device that manages NVSwitches are no adapters either, though their
 * product data does not say so. */
static void mark_managers(struct nics *nics)
{
    for (size_t i = 0; i < nics->count; i++) {
        for (size_t j = 0; j < nics->count && nics->list[i].manages_nvswitch; j++) {
            if (lks_pci_same_slot(nics->list[i].pci.address, nics->list[j].pci.address))
                nics->list[j].manages_nvswitch = true;
        }
    }
}

/* Product data that may not be read leaves open whether an InfiniBand function manages an NVSwitch.
 * Where switches are on PCI themselves none does. */
static void note_unclear(struct lks_probe *p, struct nics *nics)
{
    for (size_t i = 0; i < nics->count; i++) {
        const struct lks_nic *nic = &nics->list[i];
        if (nic->pci.vendor == LKS_PCI_MELLANOX && nic->pci.class >> 8 == LKS_PCI_INFINIBAND &&
            nic->vpd_failed.code == LKS_E_DENIED && !nic->manages_nvswitch &&
            nics->unclear.code == LKS_OK) {
            if (lks_pci_has(p->root, p->arena, LKS_PCI_NVIDIA, LKS_PCI_OTHER_BRIDGE))
                return;
            nics->unclear = nic->vpd_failed;
        }
    }
}

static enum lks_code list_ports(struct lks_probe *p, const struct lks_nic *nic,
                                struct lks_names *ports, struct lks_err *err)
{
    char path[LKS_NIC_PATH_SIZE];
    (void)lks_probe_nic_path(path, nic->dir, "ports");
    if (lks_root_list(p->root, path, p->arena, ports, err) != LKS_OK)
        return err->code;
    for (size_t i = 0; i < ports->count; i++) {
        uint64_t number;
        if (!lks_str_number(ports->list[i], LKS_NIC_PORTS_MAX, &number))
            return lks_fail(err, LKS_E_INVALID, "%s: holds more than ports up to %d", path,
                            LKS_NIC_PORTS_MAX);
    }
    return LKS_OK;
}

static void count_ports(struct lks_probe *p, struct nics *nics)
{
    for (size_t i = 0; i < nics->count; i++) {
        struct lks_names names;
        if (!nics->list[i].manages_nvswitch &&
            list_ports(p, &nics->list[i], &names, &nics->unclear) == LKS_OK)
            nics->list[i].ports = names.count;
    }
}

/* How many ports there are of adapters of one model. */
static size_t ports_like(const struct nics *nics, const struct lks_pci *model)
{
    size_t ports = 0;
    for (size_t i = 0; i < nics->count; i++) {
        const struct lks_pci *pci = &nics->list[i].pci;
        if (pci->vendor == model->vendor && pci->device == model->device)
            ports += nics->list[i].ports;
    }
    return ports;
}

static void mark_fabric(struct nics *nics)
{
    size_t most = 1;
    for (size_t i = 0; i < nics->count; i++) {
        size_t ports = ports_like(nics, &nics->list[i].pci);
        most = ports > most ? ports : most;
    }
    for (size_t i = 0; i < nics->count; i++)
        nics->list[i].fabric =
            !nics->list[i].manages_nvswitch && ports_like(nics, &nics->list[i].pci) == most;
}

/* Said before anything slow is asked: the number matters most. */
static void say_count(struct lks_probe *p, struct nics *nics)
{
    size_t ports = 0;
    note_unclear(p, nics);
    for (size_t i = 0; i < nics->count; i++)
        ports += nics->list[i].fabric ? nics->list[i].ports : 0;
    lks_probe_counted(p, "devices.nics", ports, &nics->unclear, RDMA_DIR "/*/ports");
}

static void say_rdma(struct lks_probe *p, const struct nics *nics)
{
    for (size_t i = 0; i < nics->count; i++) {
        const struct lks_nic *nic = &nics->list[i];
        struct lks_names ports;
        struct lks_err err = {0};
        if (nic->manages_nvswitch)
            continue;
        lks_nic_adapter(p, nic);
        if (list_ports(p, nic, &ports, &err) != LKS_OK)
            continue; /* the count said so */
        for (size_t j = 0; j < ports.count; j++) {
            uint64_t number = 0;
            (void)lks_str_number(ports.list[j], LKS_NIC_PORTS_MAX, &number);
            lks_nic_port(p, nic, (unsigned)number);
        }
    }
}

static void say_interfaces(struct lks_probe *p, const struct nics *rdma)
{
    struct nics nics = {0};
    struct lks_err err = {0};
    if (find_nics(p, INTERFACE_DIR, rdma, &nics, &err) != LKS_OK) {
        lks_probe_unmeasured(p, "nic.product", LKS_STR(""), INTERFACE_DIR, "%s", err.msg);
        return;
    }
    for (size_t i = 0; i < nics.count; i++) {
        lks_nic_adapter(p, &nics.list[i]);
        lks_nic_interface(p, &nics.list[i]);
    }
}

void lks_probe_nic(struct lks_probe *p)
{
    struct nics rdma = {0};
    struct lks_err err = {0};
    if (find_nics(p, RDMA_DIR, NULL, &rdma, &err) != LKS_OK) {
        lks_probe_unmeasured(p, "devices.nics", LKS_STR(""), RDMA_DIR, "%s", err.msg);
        rdma.count = 0;
    } else {
        mark_managers(&rdma);
        count_ports(p, &rdma);
        mark_fabric(&rdma);
        say_count(p, &rdma);
        say_rdma(p, &rdma);
    }
    say_interfaces(p, &rdma);
}
