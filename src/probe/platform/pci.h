/* PCI devices as sysfs has them, for the probes of what is plugged in there. */
#ifndef LKS_PROBE_PCI_H
#define LKS_PROBE_PCI_H

#include "probe/root/root.h"

#define LKS_PCI_DEVICES      "/sys/bus/pci/devices"
#define LKS_PCI_ADDRESS_SIZE 20 /* "0000:06:00.0"; a domain may have more than four digits */
#define LKS_PCI_DRIVER_SIZE  64
#define LKS_PCI_PATH_SIZE    128
#define LKS_PCI_TEXT_SIZE    256 /* a field has 255 bytes at most */

enum { LKS_PCI_NVIDIA = 0x10de, LKS_PCI_AMD = 0x1002, LKS_PCI_MELLANOX = 0x15b3 };

/* What the kernel says of the device behind an interface (its file "uevent"). */
struct lks_pci {
    char address[LKS_PCI_ADDRESS_SIZE];
    char driver[LKS_PCI_DRIVER_SIZE]; /* empty: none */
    unsigned vendor, device, class;
};

enum { LKS_PCI_INFINIBAND = 0x0207, LKS_PCI_OTHER_BRIDGE = 0x0680 }; /* upper bits of a class */

/* Whether `name` is an address as sysfs writes it. */
bool lks_pci_is_address(struct lks_str name);

/* The name as an address; false where it is none. */
bool lks_pci_address(struct lks_str name, char out[LKS_PCI_ADDRESS_SIZE]);

/* Read `path`, the uevent file of a device. NOT_FOUND also for a device that is not on PCI. */
enum lks_code lks_pci_uevent(struct lks_root *root, const char *path, struct lks_pci *out,
                             struct lks_err *err) LKS_MUST_CHECK;

/* A file of a device that holds one number, such as "0x10de", up to `max`. */
enum lks_code lks_pci_number(struct lks_root *root, const char *address, const char *file,
                             unsigned max, unsigned *out, struct lks_err *err) LKS_MUST_CHECK;

/* The path of a file of a device. */
void lks_pci_path(char out[LKS_PCI_PATH_SIZE], const char *address, const char *file);

/* A virtual function of another device here. One that was given to this virtual machine as its own
 * is not. */
bool lks_pci_is_virtual(struct lks_root *root, const char *address);

/* What a board says of itself in its vital product data. Texts are empty where it says nothing. */
struct lks_pci_vpd {
    char product[LKS_PCI_TEXT_SIZE], part[LKS_PCI_TEXT_SIZE], serial[LKS_PCI_TEXT_SIZE];
    bool damaged; /* its checksum does not fit, or its texts are none; then they are empty */
    /* From the fourth generation on NVSwitches are not on PCI. Each is managed through one function
     * of a ConnectX-7 on the board, whose product data says so and which is no adapter. */
    bool manages_nvswitch;
};

/* NOT_FOUND for a device without such data. Asked as one line, so that a serial number stands in a
 * capture as text alone. */
enum lks_code lks_pci_vpd(struct lks_root *root, const char *address, struct lks_pci_vpd *out,
                          struct lks_err *err) LKS_MUST_CHECK;

/* Whether a device of this vendor has a class with these upper 16 bits. */
bool lks_pci_has(struct lks_root *root, struct lks_arena *scratch, unsigned vendor, unsigned class);

/* Functions of one device: addresses that differ in the function alone. */
bool lks_pci_same_slot(const char *a, const char *b);

#endif
