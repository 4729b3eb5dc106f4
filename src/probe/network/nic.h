/* What the parts of the probe of network adapters share: probe_nic.c finds them, nic_adapter.c
 * reads what belongs to an adapter, nic_port.c what belongs to a port, nic_module.c what is plugged
 * into it. */
#ifndef LKS_PROBE_NIC_H
#define LKS_PROBE_NIC_H

#include "probe/platform/pci.h"
#include "probe/root/probe.h"

#define LKS_NIC_NAME_SIZE 64
#define LKS_NIC_DIR_SIZE  128
#define LKS_NIC_PATH_SIZE 256
#define LKS_NIC_PORTS_MAX 64 /* of one adapter */

/* One function of an adapter: an RDMA device, or an interface without one. */
struct lks_nic {
    char name[LKS_NIC_NAME_SIZE];      /* "mlx5_0" or "eth0" */
    char dir[LKS_NIC_DIR_SIZE];        /* its directory under /sys/class */
    char interface[LKS_NIC_NAME_SIZE]; /* one of its interfaces; empty: it has none */
    bool rdma;
    struct lks_pci pci;
    struct lks_pci_vpd vpd;
    struct lks_err vpd_failed; /* LKS_OK: `vpd` was read */
    bool manages_nvswitch;     /* it is no network adapter */
    size_t ports;              /* of an RDMA device */
    bool fabric;               /* they are fabric ports */
    struct lks_str of;         /* "nic mlx5_0", in the probe's arena */
};

/* DIR/FILE; the answer is `out`. */
const char *lks_probe_nic_path(char out[LKS_NIC_PATH_SIZE], const char *dir, const char *file);

/* A file with one decimal number as a reading. */
void lks_nic_number(struct lks_probe *p, const char *name, struct lks_str of, const char *path);

/* Whether `interface` is the port itself and not one that stands for a virtual function of it. */
bool lks_nic_is_port(struct lks_probe *p, const char *interface);

/* The interface of a port of a function; empty where it has none. */
void lks_nic_find_interface(struct lks_probe *p, const struct lks_pci *pci, unsigned port,
                            char out[LKS_NIC_NAME_SIZE]);

/* Firmware, product, driver, serial number, virtual functions. */
void lks_nic_adapter(struct lks_probe *p, const struct lks_nic *nic);

/* Link and settings of a port of an RDMA device; `number` is as sysfs has it. */
void lks_nic_port(struct lks_probe *p, const struct lks_nic *nic, unsigned number);

/* Address and state of an interface without RDMA. */
void lks_nic_interface(struct lks_probe *p, const struct lks_nic *nic);

/* The transceiver or cable in the port behind `interface`. `expected` says that a port without an
 * answer is worth a reading. */
void lks_nic_module(struct lks_probe *p, struct lks_str of, const char *interface, bool expected);

#endif
