/* Texts that come and go, as small numbers: equal texts have equal ids, as in base/intern.h, but
 * each use is counted, and with its last one a text is forgotten and its id is given to another. */
#ifndef LKS_CORE_REFINTERN_H
#define LKS_CORE_REFINTERN_H

#include "base/err.h"
#include "base/str.h"

#include <stdint.h>

struct lks_refintern_entry {
    char *text; /* owned; NULL: a free place */
    uint32_t len;
    uint32_t uses;
    uint32_t next; /* of the same bucket, or the next free place: id + 1; 0: none */
    uint32_t tag;  /* half of its hash */
};

struct lks_refintern {
    struct lks_refintern_entry *entries; /* owned; by id */
    uint32_t *buckets;                   /* owned; by hash: id + 1, or 0 */
    uint32_t count, room, free;          /* `free`: id + 1, or 0 */
    uint32_t bucket_count;               /* a power of two, or 0 */
    uint64_t seed;
};

/* The seed keeps a caller that chooses texts from choosing such that collide. */
void lks_refintern_init(struct lks_refintern *p, uint64_t seed);
void lks_refintern_fini(struct lks_refintern *p);

/* One use more of `text`, which is copied when it is the first. */
enum lks_code lks_refintern_take(struct lks_refintern *p, struct lks_str text, uint32_t *id,
                                 struct lks_err *err) LKS_MUST_CHECK;

/* One use less. */
void lks_refintern_drop(struct lks_refintern *p, uint32_t id);

/* The text of an id in use; terminated, and valid while it is in use. */
struct lks_str lks_refintern_text(const struct lks_refintern *p, uint32_t id);

#endif
