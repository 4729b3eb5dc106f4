/*
 * What was found inside libraries, kept between runs: opening a file of 200 MB to see that it is
 * the one of yesterday costs more than all the rest of an inventory.
 *
 * An answer belongs to one state of one file: device, inode, size and both times to the nanosecond.
 * The time of last change of the inode cannot be set back by a program, so what was replaced or
 * written to is read again. A file changed in the last moments is not kept at all, as it could
 * change once more within the same tick of the clock.
 *
 * The file is text: a line with the format, a line an answer, a line that counts them. It is
 * believed as a whole or not at all, and only when no other user can have written it. A file that
 * is something else is left alone. A cache that cannot be read or written makes a run slower and
 * nothing else.
 */
#ifndef LKS_PROBE_LIBCACHE_H
#define LKS_PROBE_LIBCACHE_H

#include "base/arena.h"
#include "base/buf.h"

#include <sys/stat.h>

#define LKS_LIBCACHE_ENTRIES_MAX 8192
#define LKS_LIBCACHE_BYTES_MAX   ((size_t)8 << 20)
#define LKS_LIBCACHE_ANSWER_MAX  1024 /* bytes */
#define LKS_LIBCACHE_TABLE_MAX   16   /* bytes */
#define LKS_LIBCACHE_PATH_MAX    4096
#define LKS_LIBCACHE_SETTLED_S   2 /* seconds a file must have been left alone */

struct lks_libcache_entry {
    uint64_t key[7];      /* device, inode, size, then seconds and nanoseconds of both times */
    struct lks_str table; /* what was asked: "elf" */
    struct lks_str answer;
    bool used; /* asked for or added in this run */
};

struct lks_libcache {
    struct lks_arena arena;             /* owns the texts */
    struct lks_libcache_entry *entries; /* owned; sorted as far as `loaded` */
    size_t count, room, loaded;
    bool changed; /* there is something to write */
    bool foreign; /* where it was to be loaded from is something else, or what we may not trust */
};

void lks_libcache_init(struct lks_libcache *c);
void lks_libcache_fini(struct lks_libcache *c);

/* Take over what `text` holds: all of it, or on failure nothing. `c` was initialised. */
enum lks_code lks_libcache_parse(struct lks_str text, struct lks_libcache *c,
                                 struct lks_err *err) LKS_MUST_CHECK;

/* The text of it. `all` is false to leave out what was not used in this run. */
void lks_libcache_write(const struct lks_libcache *c, bool all, struct lks_buf *out);

/* The answer kept for the file that `st` is of, or an empty view. */
struct lks_str lks_libcache_find(struct lks_libcache *c, const struct stat *st, const char *table);

/* Keep an answer. `now` is the time in seconds; what is too fresh, too long or too much is left
 * out, and so is a second answer for the same. */
void lks_libcache_add(struct lks_libcache *c, const struct stat *st, const char *table,
                      struct lks_str answer, int64_t now);

/* From and to a file. A load that fails leaves the cache empty. A save replaces the file in one
 * step, readable by us alone; REFUSED where the load came upon something other than a cache, of
 * whichever version, that only we can have written. */
enum lks_code lks_libcache_load(struct lks_libcache *c, const char *path,
                                struct lks_err *err) LKS_MUST_CHECK;
enum lks_code lks_libcache_save(const struct lks_libcache *c, const char *path, bool all,
                                struct lks_err *err);

#endif
