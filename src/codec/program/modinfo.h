/*
 * What a kernel module says of itself, found in a stream of its bytes.
 *
 * A module carries a section `.modinfo`: "key=value" strings, each ended by a zero byte. Modules
 * are mostly shipped compressed, and where the section lies is told only at the end of the file. So
 * the decompressor feeds the bytes here as they come, and nothing is kept but the answer: the
 * scanner looks for a run of such strings and takes it for the section if it has a vermagic, which
 * every module has. `lks_elf_section()` can narrow the bytes down where the file is not compressed.
 *
 * Strings of the program that happen to lie next to the section and look like its own join the run.
 * Of each key the first value counts that is plain text: printable, not too long, and without '%',
 * which makes it a format for printing.
 */
#ifndef LKS_CODEC_MODINFO_H
#define LKS_CODEC_MODINFO_H

#include "base/err.h"
#include "base/str.h"

#include <stdint.h>

#define LKS_MODINFO_VALUE_MAX  255  /* a longer value of a key that we want is none */
#define LKS_MODINFO_STRING_MAX 8192 /* a longer string is not of the section */
#define LKS_MODINFO_GAP_MAX    64   /* zero bytes between two strings */

/* Terminated; "" where the module does not say. */
struct lks_modinfo {
    char name[LKS_MODINFO_VALUE_MAX + 1];       /* nvidia */
    char version[LKS_MODINFO_VALUE_MAX + 1];    /* 580.95.05 */
    char srcversion[LKS_MODINFO_VALUE_MAX + 1]; /* a checksum of the sources */
    char vermagic[LKS_MODINFO_VALUE_MAX + 1];   /* the kernel it is for: "6.1.0-18-amd64 SMP ..." */
    char license[LKS_MODINFO_VALUE_MAX + 1];    /* of nvidia.ko "NVIDIA" or, where it is the open
                                                   one, "Dual MIT/GPL"; nvidia-uvm.ko has the
                                                   latter in both */
};

/* A scan between two feeds; a struct of zeroes is a new one. It owns nothing. */
struct lks_modinfo_scanner {
    struct lks_modinfo found;
    uint64_t bytes; /* fed so far */
    bool done;      /* a run that counts has ended */
    bool apart;     /* a zero byte stood before `key` */
    bool begun;     /* '=' has come: `text` is the value of `key` */
    size_t key_len;
    size_t text_len; /* of the value, perhaps more than is kept */
    size_t gap;
    unsigned taken; /* fields of `found` that this run has set */
    char key[32];   /* longer ones are none of ours */
    char text[LKS_MODINFO_VALUE_MAX + 1];
};

/* Take the next bytes, however many. True when the answer is complete: the rest need not be
 * fed, though it may be. */
bool lks_modinfo_feed(struct lks_modinfo_scanner *scanner, struct lks_str bytes);

/* No more bytes: the answer, or LKS_E_NOT_FOUND. The same bytes give the same answer however they
 * were divided. */
enum lks_code lks_modinfo_end(struct lks_modinfo_scanner *scanner, struct lks_modinfo *out,
                              struct lks_err *err) LKS_MUST_CHECK;

#endif
