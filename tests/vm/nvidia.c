// SPDX-License-Identifier: GPL-2.0
/*
 * Stands for the driver of one GPU in virtual machines that have none: a module of the driver's
 * name and version, and behind a PCI bus of its own a function with the ids of an H200. It drives
 * nothing. It is compiled on the machine under test, against that machine's kernel, by DKMS.
 */
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>

#include <asm/pci.h>

#ifndef STANDIN_VERSION
#define STANDIN_VERSION "0"
#endif

enum { STANDIN_BUS = 0x20, CONFIG_SIZE = 256 };

/* Vendor 10de, device 2335, class 3D controller, subsystem 10de:18be; all else reads as zero. */
static const struct {
    u16 at, value;
} words[] = {
    {PCI_VENDOR_ID, 0x10de},    {PCI_DEVICE_ID, 0x2335},    {PCI_CLASS_REVISION, 0x00a1},
    {PCI_CLASS_DEVICE, 0x0302}, {PCI_SUBSYSTEM_ID, 0x18be}, {PCI_SUBSYSTEM_VENDOR_ID, 0x10de},
};

static u8 config[CONFIG_SIZE];
static struct pci_sysdata where = {.node = NUMA_NO_NODE};
static struct resource numbers = {
    .name = "GPU stand-in", .start = STANDIN_BUS, .end = STANDIN_BUS, .flags = IORESOURCE_BUS};
static struct pci_bus *standin;
static struct proc_dir_entry *folder;

static int read_config(struct pci_bus *bus, unsigned int devfn, int at, int size, u32 *out)
{
    *out = 0;
    if (bus->number != STANDIN_BUS || devfn != 0) {
        *out = ~0U;
        return PCIBIOS_DEVICE_NOT_FOUND;
    }
    if (at >= 0 && at + size <= CONFIG_SIZE)
        memcpy(out, config + at, size);
    return PCIBIOS_SUCCESSFUL;
}

static int write_config(struct pci_bus *bus, unsigned int devfn, int at, int size, u32 value)
{
    return PCIBIOS_SUCCESSFUL;
}

static struct pci_ops access = {.read = read_config, .write = write_config};

static int show_version(struct seq_file *out, void *unused)
{
    seq_puts(out, "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  " STANDIN_VERSION
                  "  Release Build  (stand-in)\n");
    return 0;
}

static int __init standin_init(void)
{
    LIST_HEAD(resources);
    size_t i;
    for (i = 0; i < ARRAY_SIZE(words); i++)
        memcpy(config + words[i].at, &words[i].value, sizeof(words[i].value));
    pci_add_resource(&resources, &numbers);
    pci_lock_rescan_remove();
    standin = pci_create_root_bus(NULL, STANDIN_BUS, &access, &where, &resources);
    if (standin) {
        pci_scan_child_bus(standin);
        pci_bus_add_devices(standin);
    } else {
        pci_free_resource_list(&resources);
    }
    pci_unlock_rescan_remove();
    if (!standin)
        return -ENODEV;
    folder = proc_mkdir("driver/nvidia", NULL);
    if (folder)
        proc_create_single("version", 0444, folder, show_version);
    return 0;
}

static void __exit standin_exit(void)
{
    proc_remove(folder);
    pci_lock_rescan_remove();
    pci_stop_root_bus(standin);
    pci_remove_root_bus(standin);
    pci_unlock_rescan_remove();
}

module_init(standin_init);
module_exit(standin_exit);
MODULE_LICENSE("GPL");
MODULE_VERSION(STANDIN_VERSION);
MODULE_DESCRIPTION("stands for a GPU's driver in tests");
