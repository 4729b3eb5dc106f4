/* Eight bytes of a text as one number. Inline, since every name that is looked up is hashed so. */
#ifndef LKS_BASE_EIGHT_H
#define LKS_BASE_EIGHT_H

#include "base/str.h"

#include <endian.h>
#include <string.h>

/* The bytes of `s` from `at` on, at most eight, the first the lowest. */
static inline uint64_t lks_eight(struct lks_str s, size_t at)
{
    enum { HALF = 4 };
    size_t len = s.len - at;
    uint64_t word = 0;
    uint32_t first, last;
    if (len >= sizeof(word)) {
        memcpy(&word, s.ptr + at, sizeof(word));
        return le64toh(word);
    }
    if (len >= HALF) { /* the halves overlap */
        memcpy(&first, s.ptr + at, HALF);
        memcpy(&last, s.ptr + s.len - HALF, HALF);
        return le32toh(first) | (uint64_t)le32toh(last) << 8 * (len - HALF);
    }
    for (size_t i = 0; i < len; i++)
        word |= (uint64_t)(unsigned char)s.ptr[at + i] << 8 * i;
    return word;
}

#endif
