#include "codec/notation/glob.h"

static size_t digits(struct lks_str s, size_t at)
{
    size_t n = 0;
    while (at + n < s.len && s.ptr[at + n] >= '0' && s.ptr[at + n] <= '9')
        n++;
    return n;
}

/* How many bytes of `name` at `n` the one pattern character at `p` takes; 0: it does not fit. */
static size_t take(struct lks_str pattern, size_t p, struct lks_str name, size_t n)
{
    if (p == pattern.len || n == name.len)
        return 0;
    if (pattern.ptr[p] == '#')
        return digits(name, n);
    return pattern.ptr[p] == '?' || pattern.ptr[p] == name.ptr[n] ? 1 : 0;
}

bool lks_glob_match(struct lks_str pattern, struct lks_str name)
{
    size_t p = 0, n = 0, star = SIZE_MAX, from = 0;
    for (;;) {
        if (p < pattern.len && pattern.ptr[p] == '*') {
            star = p++;
            from = n;
            continue;
        }
        if (p == pattern.len && n == name.len)
            return true;
        size_t taken = take(pattern, p, name, n);
        if (taken > 0) {
            p++;
            n += taken;
        } else if (star != SIZE_MAX && from < name.len) {
            p = star + 1; /* the last star takes one more */
            n = ++from;
        } else {
            return false;
        }
    }
}
