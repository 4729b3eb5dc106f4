/*
 * Which kernel the next boot takes, set by executors that install kernels.
 *
 * Kernels are installed beside each other, so that a package alone says nothing about the one that
 * boots: the newest does, and an older one that is ordered back never would. The boot loader is
 * told by its own program, and its configuration is read again. Where it cannot be told the order
 * is refused before a package is touched.
 */
#ifndef LKS_EXECUTORS_NEXTBOOT_H
#define LKS_EXECUTORS_NEXTBOOT_H

#include "model/manifest/order.h"

/* The release that the order pins; empty where it has none. */
struct lks_str lks_nextboot_of(const struct lks_order *order);

/* Whether the boot loader starts that kernel next; an empty release always does. */
bool lks_nextboot_is(struct lks_str release);

/* Before packages change: the kernel that boots now is named as the default, so that a machine that
 * loses power half-way starts it and not a newer one that is half installed. REFUSED where the boot
 * loader has a default that cannot be set. */
enum lks_code lks_nextboot_keep(struct lks_str release, struct lks_err *err) LKS_MUST_CHECK;

/* Make it the default, and read that again. Nothing is done for an empty release. */
enum lks_code lks_nextboot_set(struct lks_str release, struct lks_err *err) LKS_MUST_CHECK;

/* Add to the line for people that it was set. */
void lks_nextboot_say(struct lks_str release, struct lks_buf *said);

#endif
