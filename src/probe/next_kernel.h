/* Which kernel the next boot takes, as far as the boot loader's configuration tells. */
#ifndef LKS_PROBE_NEXT_KERNEL_H
#define LKS_PROBE_NEXT_KERNEL_H

#include "probe/probe.h"

/* Texts live in the probe's arena. */
struct lks_next_kernel {
    enum lks_reading_state state;
    struct lks_str release;  /* measured */
    struct lks_str why;      /* unmeasured */
    struct lks_str evidence; /* the file that says so, or what it was concluded from */
};

/*
 * GRUB's default entry, or systemd-boot's. Where that cannot be told: what the link /boot/vmlinuz
 * leads to, else the newest kernel that is installed with its modules; the evidence says so. Absent
 * when there is no kernel under /boot at all, as on a machine that boots from the network.
 */
struct lks_next_kernel lks_next_kernel(struct lks_probe *p);

#endif
