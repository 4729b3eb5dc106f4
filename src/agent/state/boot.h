/*
 * Which boot this is, and the numbers of its heartbeats.
 *
 * Numbers start at 1 with each boot and are never used twice: they are reserved in jumps, durably,
 * and a program that starts anew goes on behind what was reserved.
 */
#ifndef LKS_AGENT_BOOT_H
#define LKS_AGENT_BOOT_H

#include "agent/state/statedir.h"
#include "trust/envelope.h"

#define LKS_BOOT_PATH     "/proc/sys/kernel/random/boot_id"
#define LKS_BOOT_BYTES    16
#define LKS_SEQ_FILE      "seq"
#define LKS_SEQ_JUMP      1000
#define LKS_SEQ_UNCERTAIN (UINT64_C(1) << 40) /* where numbers go on when the file is damaged */

/* The id under `root` (NULL or "/": this machine), in lower case. A captured tree without one gets
 * one. */
enum lks_code lks_boot_read(const char *root, char out[LKS_BOOT_ID_SIZE],
                            struct lks_err *err) LKS_MUST_CHECK;

/* What a boot does to the captured tree at `root`: another id, put there at once. */
enum lks_code lks_boot_renew(const char *root, struct lks_err *err) LKS_MUST_CHECK;

/* The bytes of an id such as "6ab52ae3-....". False for anything else. */
bool lks_boot_bytes(struct lks_str text, uint8_t out[LKS_BOOT_BYTES]);

/* The last number that may have been used in this boot; 0: none. `damaged` says that the file made
 * no sense and LKS_SEQ_UNCERTAIN was taken. */
enum lks_code lks_boot_seq_load(const struct lks_statedir *dir, const char *boot, uint64_t *last,
                                bool *damaged, struct lks_err *err) LKS_MUST_CHECK;

/* From here on numbers up to `last` may be used. */
enum lks_code lks_boot_seq_reserve(const struct lks_statedir *dir, const char *boot, uint64_t last,
                                   struct lks_err *err) LKS_MUST_CHECK;

#endif
