#include "codec/format/leb128.h"

enum {
    BYTES_MAX = 10, /* of the largest number */
    BITS = 7,
    MORE = 0x80,
};

void lks_leb128_add_long(struct lks_buf *out, uint64_t number)
{
    char bytes[BYTES_MAX];
    size_t len = 0;
    for (; number >= MORE; number >>= BITS)
        bytes[len++] = (char)(number | MORE);
    bytes[len++] = (char)number;
    lks_buf_add(out, (struct lks_str){bytes, len});
}

bool lks_leb128_take_long(struct lks_str *rest, uint64_t *out)
{
    uint64_t n = 0;
    for (size_t i = 0; i < rest->len && i < BYTES_MAX; i++) {
        uint64_t byte = (unsigned char)rest->ptr[i];
        if (i == BYTES_MAX - 1 && byte > 1)
            return false;
        n |= (byte & (MORE - 1)) << (i * BITS);
        if ((byte & MORE) != 0)
            continue;
        if (byte == 0 && i > 0)
            return false;
        *rest = (struct lks_str){rest->ptr + i + 1, rest->len - i - 1};
        *out = n;
        return true;
    }
    return false;
}

void lks_leb128_add_bytes(struct lks_buf *out, struct lks_str bytes)
{
    lks_leb128_add(out, bytes.len);
    lks_buf_add(out, bytes);
}

bool lks_leb128_take_bytes(struct lks_str *rest, struct lks_str *out)
{
    struct lks_str from = *rest;
    uint64_t len = 0;
    if (!lks_leb128_take(&from, &len) || len > from.len)
        return false;
    *out = (struct lks_str){from.ptr, (size_t)len};
    *rest = (struct lks_str){from.ptr + len, from.len - (size_t)len};
    return true;
}
