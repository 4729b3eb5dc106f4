#include "codec/format/hex.h"

enum { NONE = -1 };

void lks_hex_add(struct lks_buf *out, const uint8_t *bytes, size_t len)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < len; i++) {
        char pair[2] = {digits[bytes[i] >> 4], digits[bytes[i] & 15]};
        lks_buf_add(out, (struct lks_str){pair, sizeof(pair)});
    }
}

static int hex_value(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : NONE;
}

bool lks_hex_read(struct lks_str text, uint8_t *out, size_t len)
{
    if (text.len != 2 * len)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (hex_value(text.ptr[i]) == NONE)
            return false;
    }
    for (size_t i = 0; i < len; i++) {
        unsigned high = (unsigned)hex_value(text.ptr[2 * i]);
        out[i] = (uint8_t)(high << 4 | (unsigned)hex_value(text.ptr[2 * i + 1]));
    }
    return true;
}
