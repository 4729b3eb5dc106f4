#include "base/arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first block is one that malloc() has at hand, for those that need little and live briefly. */
enum { FIRST_BYTES = 960, BLOCK_BYTES = 64 * 1024 };

struct lks_arena_block {
    struct lks_arena_block *before;
    size_t used;
    size_t cap;
    _Alignas(max_align_t) unsigned char bytes[];
};

void lks_arena_init(struct lks_arena *a, size_t max)
{
    *a = (struct lks_arena){.max = max};
}

void lks_arena_fini(struct lks_arena *a)
{
    while (a->newest != NULL) {
        struct lks_arena_block *block = a->newest;
        a->newest = block->before;
        free(block);
    }
    *a = (struct lks_arena){0};
}

static bool add_block(struct lks_arena *a, size_t size)
{
    size_t cap = a->newest == NULL ? FIRST_BYTES : BLOCK_BYTES;
    if (cap < size)
        cap = size;
    struct lks_arena_block *block = malloc(sizeof(*block) + cap);
    if (block == NULL)
        return false;
    *block = (struct lks_arena_block){.before = a->newest, .cap = cap};
    a->newest = block;
    return true;
}

/* The cause stays until the next refusal, since it is often asked for at the very end. */
static void *refuse(struct lks_arena *a, bool out_of_memory)
{
    a->out_of_memory = out_of_memory;
    return NULL;
}

void *lks_arena_alloc(struct lks_arena *a, size_t size)
{
    const size_t align = _Alignof(max_align_t);
    const size_t room = a->max - a->used;
    if (size > room || size > PTRDIFF_MAX)
        return refuse(a, false);
    size = (size + align - 1) / align * align;
    if (size > room)
        return refuse(a, false);

    if (a->newest == NULL || a->newest->cap - a->newest->used < size) {
        if (!add_block(a, size))
            return refuse(a, true);
    }
    void *ptr = a->newest->bytes + a->newest->used;
    a->newest->used += size;
    a->used += size;
    return memset(ptr, 0, size);
}

void *lks_arena_array(struct lks_arena *a, size_t count, size_t size)
{
    bool overflows = size > 0 && count > SIZE_MAX / size;
    return lks_arena_alloc(a, overflows ? SIZE_MAX : count * size);
}

struct lks_str lks_arena_copy(struct lks_arena *a, struct lks_str s)
{
    char *copy = lks_arena_alloc(a, s.len + 1);
    if (copy != NULL && s.len > 0)
        memcpy(copy, s.ptr, s.len);
    return (struct lks_str){copy, copy != NULL ? s.len : 0};
}

struct lks_str lks_arena_formatv(struct lks_arena *a, const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    int len = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    LKS_ASSERT(len >= 0);
    char *text = lks_arena_alloc(a, (size_t)len + 1);
    if (text == NULL)
        return (struct lks_str){0};
    vsnprintf(text, (size_t)len + 1, fmt, ap);
    return (struct lks_str){text, (size_t)len};
}

struct lks_str lks_arena_format(struct lks_arena *a, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    struct lks_str text = lks_arena_formatv(a, fmt, ap);
    va_end(ap);
    return text;
}

enum lks_code lks_arena_fail(const struct lks_arena *a, struct lks_err *err)
{
    if (a->out_of_memory)
        return lks_fail_nomem(err);
    return lks_fail(err, LKS_E_LIMIT, "needs more than the %zu bytes of memory allowed for it",
                    a->max);
}
