/* Which kernel the next boot takes, as far as the boot loader's configuration tells. */
#ifndef LKS_PROBE_NEXT_KERNEL_H
#define LKS_PROBE_NEXT_KERNEL_H

#include "probe/root/probe.h"

/* Texts live in the probe's arena. */
struct lks_next_kernel {
    enum lks_reading_state state;
    struct lks_str release;  /* measured */
    struct lks_str why;      /* unmeasured */
    struct lks_str evidence; /* the file that says so, or what it was concluded from */
    bool guessed;            /* no boot loader says so */
};

/*
 * GRUB's default entry, or systemd-boot's. Where that cannot be told: what the link /boot/vmlinuz
 * leads to, else the newest kernel that is installed with its modules; the evidence says so. Absent
 * when there is no kernel under /boot at all, as on a machine that boots from the network.
 */
struct lks_next_kernel lks_next_kernel(struct lks_probe *p);

enum lks_boot_loader { LKS_BOOT_NONE, LKS_BOOT_GRUB, LKS_BOOT_SYSTEMD };

/* How a boot loader is told to start a kernel. Texts live in the probe's arena. */
struct lks_boot_target {
    enum lks_boot_loader loader;
    struct lks_str folder; /* GRUB's own, with grub.cfg and grubenv */
    struct lks_str id;     /* GRUB: "SUBMENU>ENTRY", else "NAME.conf" */
};

/* The entry of kernel `release`, which must not be empty. NOT_FOUND without a boot loader, REFUSED
 * when it has no such entry or its default cannot be set; the message says where and why. */
enum lks_code lks_next_kernel_boot_target(struct lks_probe *p, struct lks_str release,
                                          struct lks_boot_target *out,
                                          struct lks_err *err) LKS_MUST_CHECK;

#endif
