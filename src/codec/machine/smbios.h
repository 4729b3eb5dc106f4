/*
 * The SMBIOS table (DMTF DSP0134) as the kernel hands it out in /sys/firmware/dmi/tables/DMI:
 * structures one after the other, each a header, a formatted area and its strings.
 *
 * Firmware gets tables wrong. What does not fit into the bytes there are is INVALID, and what was
 * read before it stands; nothing is ever read from beyond them.
 */
#ifndef LKS_CODEC_SMBIOS_H
#define LKS_CODEC_SMBIOS_H

#include "base/err.h"
#include "base/str.h"

#define LKS_SMBIOS_BYTES_MAX  ((size_t)1 << 20)
#define LKS_SMBIOS_COUNT_MAX  16384 /* structures */
#define LKS_SMBIOS_ARRAYS_MAX 64    /* physical memory arrays */

enum lks_smbios_type {
    LKS_SMBIOS_MEMORY_ARRAY = 16,
    LKS_SMBIOS_MEMORY_DEVICE = 17,
    LKS_SMBIOS_IPMI_DEVICE = 38,
    LKS_SMBIOS_END = 127,
};

/* Views of the table. */
struct lks_smbios_structure {
    uint8_t type;
    uint16_t handle;
    struct lks_str area;    /* the formatted area, its header of 4 bytes included */
    struct lks_str strings; /* each ends with a zero byte */
};

struct lks_smbios {
    struct lks_str rest; /* not read yet */
    size_t at;           /* offset of it */
    size_t count;        /* structures read */
};

void lks_smbios_open(struct lks_smbios *s, struct lks_str table);

/* The next structure; `*more` is false after the last one, which need not be the end marker. */
enum lks_code lks_smbios_next(struct lks_smbios *s, struct lks_smbios_structure *out, bool *more,
                              struct lks_err *err) LKS_MUST_CHECK;

/* String number `index`, counted from 1; empty when there is none. */
struct lks_str lks_smbios_string(const struct lks_smbios_structure *s, unsigned index);

struct lks_smbios_memory {
    uint64_t bytes;   /* of all modules that hold system memory */
    unsigned modules; /* that are there */
    unsigned slots;   /* that could be */
};

/* The sum of the memory modules. Modules for other uses (flash, video memory) do not count, and of
 * persistent ones only the part that is used as memory does. NOT_FOUND when the table lists no
 * module at all, INVALID also when one does not say its size: a sum without it would be wrong. */
enum lks_code lks_smbios_memory(struct lks_str table, struct lks_smbios_memory *out,
                                struct lks_err *err) LKS_MUST_CHECK;

/* Whether there is a structure of `type`. */
enum lks_code lks_smbios_has(struct lks_str table, enum lks_smbios_type type, bool *out,
                             struct lks_err *err) LKS_MUST_CHECK;

#endif
