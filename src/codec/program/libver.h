/*
 * The version of a GPU library, from what is inside it.
 *
 * File names are not reliable: a wheel ships libcudnn.so.9 whatever 9.x it is, a link may point
 * anywhere. The libraries themselves know: NCCL, RCCL and MIOpen carry a text, cuDNN a variable
 * that its parts compare before they talk to each other, the CUDA run time a function that does
 * nothing but hand out its number, the driver's libraries the names of files that must match them.
 * Nothing is loaded or run; the number that a function hands out is read from its instructions.
 *
 * Only where none of this is found does the name of the file count, and the answer says so.
 */
#ifndef LKS_CODEC_LIBVER_H
#define LKS_CODEC_LIBVER_H

#include "base/str.h"
#include "codec/program/elf.h"

#define LKS_LIBVER_LEN_MAX      31
#define LKS_LIBVER_EVIDENCE_MAX 95
#define LKS_LIBVER_NAME_MAX     255                   /* of a file, without its folder */
#define LKS_LIBVER_SCAN_MAX     ((uint64_t)256 << 20) /* bytes of .rodata that are searched */
#define LKS_LIBVER_WINDOW       ((uint64_t)4 << 20)   /* of them at a time, from the end */
#define LKS_LIBVER_NEAR         65536                 /* bytes around a variable that are */
#define LKS_LIBVER_CODE_MAX     2048                  /* bytes of a function that are looked at */

enum lks_libver_from {
    LKS_LIBVER_NOWHERE, /* of a struct of zeroes */
    LKS_LIBVER_STRING,
    LKS_LIBVER_SYMBOL,
    LKS_LIBVER_FILE_NAME,
    LKS_LIBVER_FROM_COUNT
};

/* "string", "symbol", "file name". */
const char *lks_libver_from_text(enum lks_libver_from from);

/* One library we know. */
struct lks_libver_kind {
    const char *component; /* its row in components.csv */
    const char *stem;      /* libnccl of libnccl.so.2 */
    const char *beside[2]; /* stems of those that have its version where it has none itself: it
                              only passes calls on to them; NULL otherwise */
    unsigned parts;        /* numbers of a version that is whole */
    unsigned least;        /* the first of them is not smaller: libcuda.so.1.1 is no driver 1.1 */
    bool name_is_version;  /* what follows ".so." is (librccl.so.1.0.60402 has RCCL 2.22.3) */
    const struct lks_libver_rule *rules; /* tried in turn; ends with one of zeroes */
};

struct lks_libver {
    enum lks_libver_from from;
    char version[LKS_LIBVER_LEN_MAX + 1]; /* numbers and dots: 2.28.9, 9.14.0, 580.95.05; of the
                                             CUDA run time only 13.0, more is not in it */
    char build[LKS_LIBVER_LEN_MAX + 1];   /* what its maker adds: cuda13.0 (NCCL), 64 (cuDNN
                                             9.14.0.64), a commit (MIOpen); or "" */
    char named[LKS_LIBVER_LEN_MAX + 1];   /* the version that the file name claims, or "". It may
                                             have more numbers (13.0.96), and it may disagree */
    char evidence[LKS_LIBVER_EVIDENCE_MAX + 1]; /* the text, or "symbol = number" */
};

/* The library that a file of this name is, or NULL. Known are the stem, perhaps the digest that
 * tools for wheels put behind it (libcudart-9335f6a2.so.12, libcudart.faf08d9a.so.13), ".so", and
 * perhaps numbers. */
const struct lks_libver_kind *lks_libver_kind(struct lks_str basename);

/* All of them, in the order of their components; `at` counts from 0, NULL is the end. */
const struct lks_libver_kind *lks_libver_kind_at(size_t at);

/* The name of the file beside `basename` that has its version: libcudnn_graph.so.9 for
 * libcudnn.so.9. `which` counts from 0; false when there are no more. */
bool lks_libver_beside(const struct lks_libver_kind *kind, struct lks_str basename, size_t which,
                       char out[LKS_LIBVER_NAME_MAX + 1]);

/* Read the version. LKS_E_NOT_FOUND where neither the library nor its name tells; the message then
 * says what was missing, or beside which library to look. Failures to read, and tables that point
 * nowhere, are passed on: what is damaged should not pass under its name. */
enum lks_code lks_libver_read(const struct lks_libver_kind *kind, const struct lks_elf *elf,
                              struct lks_str basename, struct lks_libver *out,
                              struct lks_err *err) LKS_MUST_CHECK;

#endif
