#include "base/buf.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CAP = 256 };

void lks_buf_init(struct lks_buf *b, size_t max)
{
    LKS_ASSERT(max > 0 && max < SIZE_MAX / 4);
    *b = (struct lks_buf){.max = max};
}

void lks_buf_fini(struct lks_buf *b)
{
    free(b->ptr);
    *b = (struct lks_buf){0};
}

void lks_buf_fini_all(struct lks_buf *const *list)
{
    for (; *list != NULL; list++)
        lks_buf_fini(*list);
}

/* Room for `extra` bytes more and the terminator. */
static bool reserve(struct lks_buf *b, size_t extra)
{
    if (b->failed != LKS_OK)
        return false;
    if (extra > b->max - b->len) {
        b->failed = LKS_E_LIMIT;
        return false;
    }
    size_t need = b->len + extra + 1;
    if (need <= b->cap)
        return true;

    size_t cap = b->cap == 0 ? FIRST_CAP : b->cap;
    while (cap < need)
        cap *= 2;
    char *moved = realloc(b->ptr, cap);
    if (moved == NULL) {
        b->failed = LKS_E_NOMEM;
        return false;
    }
    b->ptr = moved;
    b->cap = cap;
    return true;
}

void lks_buf_add(struct lks_buf *b, struct lks_str s)
{
    if (!reserve(b, s.len))
        return;
    if (s.len > 0)
        memcpy(b->ptr + b->len, s.ptr, s.len);
    b->len += s.len;
    b->ptr[b->len] = '\0';
}

void lks_buf_addc(struct lks_buf *b, char c)
{
    if (!reserve(b, 1))
        return;
    b->ptr[b->len++] = c;
    b->ptr[b->len] = '\0';
}

void lks_buf_quote(struct lks_buf *b, struct lks_str s)
{
    lks_buf_addc(b, '"');
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] == '"' || s.ptr[i] == '\\')
            lks_buf_addc(b, '\\');
        lks_buf_addc(b, s.ptr[i]);
    }
    lks_buf_addc(b, '"');
}

void lks_buf_addv(struct lks_buf *b, const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    int len = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    LKS_ASSERT(len >= 0);
    if (!reserve(b, (size_t)len))
        return;
    vsnprintf(b->ptr + b->len, (size_t)len + 1, fmt, ap);
    b->len += (size_t)len;
}

void lks_buf_addf(struct lks_buf *b, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    lks_buf_addv(b, fmt, ap);
    va_end(ap);
}

void lks_buf_pad(struct lks_buf *b, char c, ptrdiff_t n)
{
    if (n <= 0 || !reserve(b, (size_t)n))
        return;
    memset(b->ptr + b->len, c, (size_t)n);
    b->len += (size_t)n;
    b->ptr[b->len] = '\0';
}

void lks_buf_truncate(struct lks_buf *b, size_t len)
{
    LKS_ASSERT(len <= b->len);
    b->len = len;
    if (b->ptr != NULL)
        b->ptr[len] = '\0';
}

enum lks_code lks_buf_check(const struct lks_buf *b, struct lks_err *err)
{
    if (b->failed == LKS_E_LIMIT)
        return lks_fail(err, LKS_E_LIMIT, "more than %zu bytes", b->max);
    if (b->failed != LKS_OK)
        return lks_fail_nomem(err);
    return LKS_OK;
}

struct lks_str lks_buf_view(const struct lks_buf *b)
{
    return (struct lks_str){b->len > 0 ? b->ptr : "", b->len};
}
