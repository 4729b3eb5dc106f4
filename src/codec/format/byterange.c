#include "codec/format/byterange.h"

static bool cut_prefix(struct lks_str *s, const char *prefix)
{
    struct lks_str head = lks_str_from(prefix);
    if (s->len < head.len || !lks_str_eq_nocase((struct lks_str){s->ptr, head.len}, head))
        return false;
    *s = (struct lks_str){s->ptr + head.len, s->len - head.len};
    return true;
}

/* The last `len` bytes. */
static enum lks_byterange_kind ask_tail(struct lks_str text, uint64_t size,
                                        struct lks_byterange *out)
{
    uint64_t len = 0;
    if (!lks_str_number(text, UINT64_MAX, &len))
        return LKS_BYTERANGE_ALL;
    if (len == 0 || size == 0)
        return LKS_BYTERANGE_NONE;
    len = len < size ? len : size;
    *out = (struct lks_byterange){size - len, len};
    return LKS_BYTERANGE_SOME;
}

enum lks_byterange_kind lks_byterange_ask(struct lks_str text, uint64_t size,
                                          struct lks_byterange *out)
{
    struct lks_str first, last;
    uint64_t from = 0, to = UINT64_MAX;
    *out = (struct lks_byterange){0, size};
    if (!cut_prefix(&text, "bytes=") || !lks_str_cut(lks_str_trim(text), '-', &first, &last))
        return LKS_BYTERANGE_ALL;
    if (first.len == 0)
        return ask_tail(last, size, out);
    if (!lks_str_number(first, UINT64_MAX, &from) ||
        (last.len > 0 && !lks_str_number(last, UINT64_MAX, &to)) || to < from)
        return LKS_BYTERANGE_ALL;
    if (from >= size)
        return LKS_BYTERANGE_NONE;
    to = to < size ? to : size - 1;
    *out = (struct lks_byterange){from, to - from + 1};
    return LKS_BYTERANGE_SOME;
}

bool lks_byterange_content(struct lks_str text, uint64_t max, struct lks_byterange *out,
                           uint64_t *size)
{
    struct lks_str range, total, first, last;
    uint64_t from, to, whole;
    if (!cut_prefix(&text, "bytes ") || !lks_str_cut(text, '/', &range, &total) ||
        !lks_str_cut(range, '-', &first, &last) || !lks_str_number(first, max, &from) ||
        !lks_str_number(last, max, &to) || !lks_str_number(total, max, &whole) || to < from ||
        to >= whole)
        return false;
    *out = (struct lks_byterange){from, to - from + 1};
    *size = whole;
    return true;
}
