/* Numbers in as few bytes as they need, the lowest seven bits first. Each has one way to be
 * written, so what is made of them has one digest. */
#ifndef LKS_CODEC_LEB128_H
#define LKS_CODEC_LEB128_H

#include "base/buf.h"

#include <stdint.h>

/* For numbers of any length. */
void lks_leb128_add_long(struct lks_buf *out, uint64_t number);

/* Most numbers in records have one byte. */
static inline void lks_leb128_add(struct lks_buf *out, uint64_t number)
{
    if (number < 0x80)
        lks_buf_addc(out, (char)number);
    else
        lks_leb128_add_long(out, number);
}

/* For numbers of any length. */
bool lks_leb128_take_long(struct lks_str *rest, uint64_t *out);

/* Take a number off `rest`. False, and nothing is taken, where it ends too early, does not fit 64
 * bits or has a last byte that adds nothing. Most numbers in records have one byte. */
static inline bool lks_leb128_take(struct lks_str *rest, uint64_t *out)
{
    if (rest->len == 0 || (unsigned char)rest->ptr[0] >= 0x80)
        return lks_leb128_take_long(rest, out);
    *out = (unsigned char)rest->ptr[0];
    *rest = (struct lks_str){rest->ptr + 1, rest->len - 1};
    return true;
}

/* A length and as many bytes behind it, which stay where they are. */
void lks_leb128_add_bytes(struct lks_buf *out, struct lks_str bytes);
bool lks_leb128_take_bytes(struct lks_str *rest, struct lks_str *out);

#endif
