/*
 * What a shared library or kernel module says of itself, read without loading it.
 *
 * Only the parts that are asked for are read, through a function of the caller: the libraries we
 * look at are mostly GPU code, hundreds of megabytes of it. Nothing is allocated, and every count
 * in the file is held against a limit and against the file's size before it is believed. Messages
 * do not name the file; who opened it does.
 *
 * Read are 64-bit little-endian files for x86-64 and aarch64: shared objects and programs by their
 * segments, as the dynamic loader reads them, relocatable objects (kernel modules) by their
 * sections.
 */
#ifndef LKS_CODEC_ELF_H
#define LKS_CODEC_ELF_H

#include "base/err.h"

#include <stdint.h>

#define LKS_ELF_SEGMENTS_MAX 64
#define LKS_ELF_LOADS_MAX    16
#define LKS_ELF_SECTIONS_MAX 65536
#define LKS_ELF_DYNAMIC_MAX  1024
#define LKS_ELF_NOTES_MAX    256
#define LKS_ELF_CHAIN_MAX    65536 /* symbols looked at to find one */
#define LKS_ELF_NAME_MAX     255   /* of a library, a section, a symbol */
#define LKS_ELF_BUILD_ID_MAX 64    /* bytes; 20 is usual */

/* A file as the caller has it. `read_at` puts up to `len` bytes (at least 1) from `offset` into
 * `buf` and how many into `got`. Fewer than asked is no failure, it is asked again for the rest;
 * 0 is the end of the file. Its failures are passed on as they are. */
struct lks_elf_file {
    uint64_t size;
    void *ctx; /* the caller's */
    enum lks_code (*read_at)(void *ctx, uint64_t offset, void *buf, size_t len, size_t *got,
                             struct lks_err *err);
};

enum lks_elf_machine { LKS_ELF_X86_64 = 1, LKS_ELF_AARCH64 };

/* Bytes of the file that are there. */
struct lks_elf_part {
    uint64_t offset;
    uint64_t size;
};

/* A segment that is loaded: where its bytes are in the file and at which address. */
struct lks_elf_load {
    struct lks_elf_part part;
    uint64_t address;
    bool code;
};

struct lks_elf {
    struct lks_elf_file file; /* must stay readable as long as this is used */
    enum lks_elf_machine machine;
    bool relocatable;                            /* a kernel module, an object file */
    char soname[LKS_ELF_NAME_MAX + 1];           /* "" where it has none */
    char build_id[2 * LKS_ELF_BUILD_ID_MAX + 1]; /* GNU build id in hexadecimal, or "" */
    struct lks_elf_load loads[LKS_ELF_LOADS_MAX];
    size_t load_count;
    struct lks_elf_part sections; /* their headers */
    struct lks_elf_part names;    /* of the sections */
    struct {
        uint64_t strings, strings_size, symbols, hash, gnu_hash; /* addresses; 0: has none */
    } dynamic;
};

/* A symbol that the library defines for others. */
struct lks_elf_symbol {
    uint64_t address;
    struct lks_elf_part part; /* its bytes; the size is what the file claims, perhaps 0 */
    bool code;
};

/* Read the headers, the name and the build id. Refused are files of another kind or machine, and
 * those whose headers, segments or sections lie outside the file: they are damaged or cut short. A
 * build id that cannot be made out is as good as none. */
enum lks_code lks_elf_read(const struct lks_elf_file *file, struct lks_elf *out,
                           struct lks_err *err) LKS_MUST_CHECK;

/* All of the `len` bytes at `offset`, or a failure. */
enum lks_code lks_elf_bytes(const struct lks_elf *elf, uint64_t offset, void *buf, size_t len,
                            struct lks_err *err) LKS_MUST_CHECK;

/* The loaded segment that has all of the `len` bytes at `address` in the file, or NULL. */
const struct lks_elf_load *lks_elf_at(const struct lks_elf *elf, uint64_t address, uint64_t len);

/* Find a section by its name. LKS_E_NOT_FOUND where there is none or it has no bytes in the file;
 * section headers may be stripped from what is to be loaded. */
enum lks_code lks_elf_section(const struct lks_elf *elf, const char *name, struct lks_elf_part *out,
                              struct lks_err *err) LKS_MUST_CHECK;

/* Find a function or variable among the dynamic symbols through their hash table, which is never
 * stripped. LKS_E_NOT_FOUND where it is not defined here. */
enum lks_code lks_elf_symbol(const struct lks_elf *elf, const char *name,
                             struct lks_elf_symbol *out, struct lks_err *err) LKS_MUST_CHECK;

#endif
