/* Memory for things that die together: a parsed document, a loaded table. Nothing in it is freed
 * alone; lks_arena_fini() ends them all. The ceiling bounds what hostile input can make us keep. */
#ifndef LKS_BASE_ARENA_H
#define LKS_BASE_ARENA_H

#include "base/err.h"
#include "base/str.h"

#include <stdarg.h>

struct lks_arena_block;

struct lks_arena {
    struct lks_arena_block *newest; /* owned; each block points to the one before it */
    size_t used;                    /* bytes handed out, padding included */
    size_t max;
    bool out_of_memory; /* the last refusal was the system's and not the ceiling's */
};

void lks_arena_init(struct lks_arena *a, size_t max);
void lks_arena_fini(struct lks_arena *a);

/* `size` zeroed bytes aligned for any type, or NULL at the ceiling or when memory runs out. */
void *lks_arena_alloc(struct lks_arena *a, size_t size);

/* An array of `count` zeroed elements; NULL also when the product would overflow. */
void *lks_arena_array(struct lks_arena *a, size_t count, size_t size);

/* A terminated copy of `s`; its pointer is NULL under the same conditions. */
struct lks_str lks_arena_copy(struct lks_arena *a, struct lks_str s);

/* A terminated text made as printf() would; its pointer is NULL under the same conditions. */
struct lks_str lks_arena_format(struct lks_arena *a, const char *fmt, ...) LKS_PRINTF(2, 3);
struct lks_str lks_arena_formatv(struct lks_arena *a, const char *fmt, va_list ap) LKS_PRINTF(2, 0);

/* The failure behind the last NULL: LIMIT at the ceiling, NOMEM when memory ran out. */
enum lks_code lks_arena_fail(const struct lks_arena *a, struct lks_err *err) LKS_MUST_CHECK;

#endif
