/* Small ELF images for tests, made from a description, and a reader of bytes in memory that gives
 * as little at a time as a test wants. */
#ifndef LKS_TESTS_ELF_IMAGE_H
#define LKS_TESTS_ELF_IMAGE_H

#include "base/buf.h"
#include "codec/program/elf.h"

enum { LKS_TEST_ELF_X86_64 = 62, LKS_TEST_ELF_AARCH64 = 183, LKS_TEST_ELF_SYMBOLS_MAX = 16 };

struct lks_test_symbol {
    const char *name;
    struct lks_str bytes; /* empty: not defined here */
    bool code;
};

/* A library, or a kernel module where `modinfo` is not empty. */
struct lks_test_elf {
    unsigned machine; /* 0: x86-64 */
    const char *soname;
    struct lks_str build_id;
    struct lks_str rodata;
    struct lks_str modinfo;
    bool no_gnu_hash, no_sysv_hash, no_sections;
    struct lks_test_symbol symbols[LKS_TEST_ELF_SYMBOLS_MAX]; /* up to one without a name */
};

/* Where things lie in what is built, for tests that break them. */
enum {
    LKS_TEST_ELF_SEGMENTS = 64, /* the headers, in this order: code, data, dynamic, notes */
    LKS_TEST_ELF_ADDRESS = 0x10000,
};

/* Append the image; `out` must be empty. */
void lks_test_elf_build(const struct lks_test_elf *spec, struct lks_buf *out);

/* Overwrite `len` bytes of an image with a number, or read one. */
void lks_test_elf_set(struct lks_buf *image, size_t at, uint64_t value, size_t len);
uint64_t lks_test_elf_get(const struct lks_buf *image, size_t at, size_t len);

struct lks_test_reader {
    struct lks_str bytes; /* the caller's */
    size_t step;          /* gives at most so many at a time; 0: all */
    uint64_t given;       /* bytes so far */
    uint64_t fail_after;  /* bytes until it fails; 0: never */
};

/* The reader as a file of `size` bytes, which may be a lie. */
struct lks_elf_file lks_test_reader_file(struct lks_test_reader *reader, uint64_t size);

#endif
