/*
 * A bbolt database, as containerd keeps its metadata in: one file of pages, a B+ tree of keys with
 * trees below keys ("buckets").
 *
 * The file is read while its owner writes to it. bbolt never overwrites a page of its newest
 * transaction: the transaction after it writes to free pages and then to one of two meta pages, and
 * only the transaction after that one may reuse pages of the first. A walk has read one state of
 * the database if the same transaction is the newest before and after it. Otherwise lks_bolt_read()
 * starts again, a bounded number of times, and uses nothing of what was read.
 *
 * Only the pages on the way to what is asked for are read, through a function of the caller. Every
 * offset, count and size is held against the page and the file before it is used; keys must ascend
 * within the bounds that the branch above them sets, so that no page can be met twice; depth, pages
 * and sizes have limits.
 */
#ifndef LKS_CODEC_BOLT_H
#define LKS_CODEC_BOLT_H

#include "base/err.h"
#include "base/str.h"

#include <stdint.h>

#define LKS_BOLT_FILE_MAX   ((uint64_t)4 << 30) /* bytes; a larger file is refused */
#define LKS_BOLT_SPAN_MAX   ((size_t)1 << 20)   /* bytes of a page that goes on in the next ones */
#define LKS_BOLT_LEVELS_MAX 16                  /* pages from the top of a bucket to its leaves */
#define LKS_BOLT_PAGES_MAX  131072              /* read of one state, some more than once */
#define LKS_BOLT_PATH_MAX   8                   /* keys from the top to a value */
#define LKS_BOLT_TRIES_MAX  64                  /* states that are tried until one stays */

/* A file as the caller has it. `read_at` puts up to `len` bytes (at least 1) from `offset` into
 * `buf` and how many into `got`. Fewer than asked is no failure, it is asked again for the rest;
 * 0 is the end of the file. Its failures are passed on as they are. */
struct lks_bolt_file {
    const char *source; /* how messages call it */
    uint64_t size;
    void *ctx; /* the caller's */
    enum lks_code (*read_at)(void *ctx, uint64_t offset, void *buf, size_t len, size_t *got,
                             struct lks_err *err);
};

/* One state of the database: what its newest meta page says. */
struct lks_bolt {
    struct lks_bolt_file file; /* must stay readable as long as this is used */
    size_t page_size;
    uint64_t pages; /* from here on none is part of this state */
    uint64_t top;   /* the page of the top bucket */
    uint64_t transaction;
    uint32_t walked; /* pages read, by all walks */
};

/* Read the meta pages. INVALID: neither is good, so it is no bbolt database, or damaged; LIMIT: the
 * file is larger than LKS_BOLT_FILE_MAX. */
enum lks_code lks_bolt_open(const struct lks_bolt_file *file, struct lks_bolt *out,
                            struct lks_err *err) LKS_MUST_CHECK;

/* Whether that is still the newest state. */
bool lks_bolt_is_newest(const struct lks_bolt *bolt);

/* The keys that lead to a value; NULL stands for any. A value below a bucket of that path only. */
struct lks_bolt_path {
    const char *keys[LKS_BOLT_PATH_MAX];
    size_t count;
};

/* Called with the keys of a value, as many as the path has, and with the value. The views are good
 * during the call. A failure ends the walk. */
typedef enum lks_code lks_bolt_fn(void *ctx, const struct lks_str *keys, struct lks_str value,
                                  struct lks_err *err);

/* Call `fn` with each value of that path, keys ascending at every level. */
enum lks_code lks_bolt_walk(struct lks_bolt *bolt, const struct lks_bolt_path *path,
                            lks_bolt_fn *fn, void *ctx, struct lks_err *err) LKS_MUST_CHECK;

/* What is read of one state. `open` is called before each try, to have the file as it is now, and
 * `walk` with the state; whatever the latter read in earlier tries is void. */
struct lks_bolt_reading {
    void *ctx;
    enum lks_code (*open)(void *ctx, struct lks_bolt_file *out, struct lks_err *err);
    enum lks_code (*walk)(void *ctx, struct lks_bolt *bolt, struct lks_err *err);
    void (*pause)(void *ctx, unsigned tries); /* before another try; may be NULL */
};

/* Read until one state was the newest before and after. UNAVAILABLE: it changed each time. A
 * failure of `walk` counts only where the state did not change under it. */
enum lks_code lks_bolt_read(const struct lks_bolt_reading *reading,
                            struct lks_err *err) LKS_MUST_CHECK;

#endif
