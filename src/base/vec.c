#include "base/vec.h"

#include <stdlib.h>

enum { FIRST = 4 };

/* From `cap` on, doubled until it is enough; `wanted` is at most `max`. */
static size_t next_cap(size_t cap, size_t wanted, size_t max)
{
    size_t next = cap > 0 ? cap : FIRST;
    while (next < wanted)
        next = next <= max / 2 ? 2 * next : max;
    return next <= max ? next : max;
}

enum lks_code lks_vec_grow(struct lks_vec *v, size_t wanted, size_t size, size_t max,
                           struct lks_err *err)
{
    struct lks_err ignored = {0};
    if (err == NULL)
        err = &ignored;
    if (wanted > max)
        return lks_fail(err, LKS_E_LIMIT, "the limit is %zu", max);
    size_t cap = next_cap(v->cap, wanted, max);
    if (cap > PTRDIFF_MAX / size)
        return lks_fail_nomem(err);
    char *items = realloc(v->items, cap * size);
    if (items == NULL)
        return lks_fail_nomem(err);
    memset(items + v->cap * size, 0, (cap - v->cap) * size);
    v->items = items;
    v->cap = cap;
    return LKS_OK;
}

enum lks_code lks_vec_grow_in(struct lks_arena *arena, struct lks_vec *v, size_t wanted,
                              size_t size, struct lks_err *err)
{
    struct lks_err ignored = {0};
    size_t cap = next_cap(v->cap, wanted, SIZE_MAX);
    void *items = lks_arena_array(arena, cap, size);
    if (items == NULL)
        return lks_arena_fail(arena, err != NULL ? err : &ignored);
    if (v->cap > 0)
        memcpy(items, v->items, v->cap * size);
    *v = (struct lks_vec){items, cap};
    return LKS_OK;
}

void lks_vec_open_gap(void *array, size_t count, size_t at, size_t size)
{
    char *gap = (char *)array + at * size;
    memmove(gap + size, gap, (count - at) * size);
}

void lks_vec_close_gap(void *array, size_t count, size_t at, size_t size)
{
    char *gap = (char *)array + at * size;
    memmove(gap, gap + size, (count - at - 1) * size);
}
