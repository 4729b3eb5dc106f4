/*
 * What one library file is: its version, how that is known, and which build of it.
 *
 * The answer is one line of text, so that a captured tree replays without the library, and on the
 * live machine it is kept in a cache by the state of the file.
 */
#ifndef LKS_PROBE_LIBREAD_H
#define LKS_PROBE_LIBREAD_H

#include "codec/program/libver.h"
#include "probe/library/libcache.h"
#include "probe/root/root.h"

#define LKS_LIBREAD_HASH_MAX ((uint64_t)4 << 30) /* bytes of a file that is hashed */
#define LKS_SHA256_TEXT_SIZE 65

/* The library that stands for its component, or NULL: libcudnn.so.9, but none of its parts, such as
 * libcudnn_graph.so.9. */
const struct lks_libver_kind *lks_libread_kind(struct lks_str name);

/* Whether it is one of the driver's, which belong to the host and come with the kernel module. */
bool lks_libread_is_driver(const struct lks_libver_kind *kind);

#define LKS_LIBREAD_RECENT 32

struct lks_libread {
    struct lks_root *root;
    struct lks_arena *arena;    /* owns all texts */
    struct lks_libcache *cache; /* or NULL */
    struct {
        const char *table;
        struct lks_str path, answer;
    } recent[LKS_LIBREAD_RECENT]; /* the first answers: what the system loads is asked for twice */
    size_t recent_count;
};

/* Views are empty where the file does not tell. */
struct lks_library {
    struct lks_str version;
    struct lks_str from;  /* "string", "symbol", "name": of the file */
    struct lks_str named; /* the version its name claims; may be finer than `version` */
    struct lks_str soname;
    struct lks_str build_id;
    struct lks_str evidence; /* the text or symbol; without a version: what was missing */
    struct lks_str beside;   /* the file beside it that has the version, where it is not itself */
};

/* Read the library at `path`, which is called `name` (with or without directories): one that
 * lks_libver_kind() knows. That no version is found in it is no failure: `version` is empty then,
 * and `evidence` says why. */
enum lks_code lks_libread(struct lks_libread *r, struct lks_str path, struct lks_str name,
                          struct lks_library *out, struct lks_err *err) LKS_MUST_CHECK;

/* A library as one line, and back. */
void lks_libread_write(const struct lks_library *l, struct lks_buf *out);
enum lks_code lks_libread_parse(struct lks_str line, struct lks_library *out,
                                struct lks_err *err) LKS_MUST_CHECK;

/* The SHA-256 of a file in hexadecimal. */
enum lks_code lks_libread_sha256(struct lks_libread *r, struct lks_str path,
                                 char out[LKS_SHA256_TEXT_SIZE],
                                 struct lks_err *err) LKS_MUST_CHECK;

#endif
