/*
 * /etc/ld.so.cache: where the dynamic loader finds a library by name.
 *
 * The format of glibc since 2.1 ("glibc-ld.so.cache1.1"), alone or behind the older one in the same
 * file, little-endian. For one name the loader takes the first entry that suits the machine, so the
 * order of entries is part of what the file says.
 */
#ifndef LKS_CODEC_LDCACHE_H
#define LKS_CODEC_LDCACHE_H

#include "base/err.h"
#include "base/str.h"

#define LKS_LDCACHE_BYTES_MAX   ((size_t)16 << 20)
#define LKS_LDCACHE_ENTRIES_MAX 262144

struct lks_ldcache {
    struct lks_str bytes; /* from the header of the newer format on; the caller's */
    uint32_t count, at;   /* entries, and which comes next */
};

/* Views of the bytes the cache was opened with. */
struct lks_ldcache_entry {
    struct lks_str name; /* "libnccl.so.2" */
    struct lks_str path; /* "/usr/lib/x86_64-linux-gnu/libnccl.so.2" */
    bool wide;           /* for 64-bit programs: x86-64, AArch64 or POWER */
    bool special;        /* taken only by a CPU with certain features */
};

enum lks_code lks_ldcache_open(struct lks_str bytes, struct lks_ldcache *out,
                               struct lks_err *err) LKS_MUST_CHECK;

/* The next entry; `*more` is false behind the last. Fails on one that points outside the file. */
enum lks_code lks_ldcache_next(struct lks_ldcache *cache, struct lks_ldcache_entry *out, bool *more,
                               struct lks_err *err) LKS_MUST_CHECK;

#endif
