/* Ranges of bytes as HTTP writes them (RFC 9110, section 14): one at a time. */
#ifndef LKS_CODEC_BYTERANGE_H
#define LKS_CODEC_BYTERANGE_H

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

enum lks_byterange_kind {
    LKS_BYTERANGE_ALL,  /* none is asked for, or one that we do not know: the whole is the answer */
    LKS_BYTERANGE_SOME, /* `from` and `len`, within the size */
    LKS_BYTERANGE_NONE, /* asked for, and nothing of it is there */
};

struct lks_byterange {
    uint64_t from, len;
};

/* "bytes=0-99", "bytes=100-", "bytes=-50" of something with `size` bytes. Several ranges, other
 * units and what cannot be read are LKS_BYTERANGE_ALL, as RFC 9110 has it; `out` is the whole then.
 */
enum lks_byterange_kind lks_byterange_ask(struct lks_str text, uint64_t size,
                                          struct lks_byterange *out);

/* "bytes 100-199/1000": which part of a body this is. False for anything else: a size that is not
 * known, an end before the start or behind the size, numbers beyond `max`. */
bool lks_byterange_content(struct lks_str text, uint64_t max, struct lks_byterange *out,
                           uint64_t *size);

#endif
