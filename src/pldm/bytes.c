#include "pldm/bytes.h"

struct lks_bytes lks_bytes_of(struct lks_str all)
{
    return (struct lks_bytes){.rest = all};
}

struct lks_str lks_bytes_take(struct lks_bytes *b, size_t n)
{
    if (b->failed || n > b->rest.len) {
        b->failed = true;
        return LKS_STR("");
    }
    struct lks_str taken = {b->rest.ptr, n};
    if (n > 0)
        b->rest.ptr += n;
    b->rest.len -= n;
    return taken;
}

uint64_t lks_bytes_number(struct lks_bytes *b, unsigned width)
{
    LKS_ASSERT(width <= 8);
    struct lks_str bytes = lks_bytes_take(b, width);
    uint64_t value = 0;
    for (size_t i = bytes.len; i-- > 0;)
        value = value << 8 | (uint8_t)bytes.ptr[i];
    return value;
}

uint8_t lks_bytes_u8(struct lks_bytes *b)
{
    return (uint8_t)lks_bytes_number(b, 1);
}

uint16_t lks_bytes_u16(struct lks_bytes *b)
{
    return (uint16_t)lks_bytes_number(b, 2);
}

uint32_t lks_bytes_u32(struct lks_bytes *b)
{
    return (uint32_t)lks_bytes_number(b, 4);
}

uint64_t lks_bytes_u64(struct lks_bytes *b)
{
    return lks_bytes_number(b, 8);
}

bool lks_bytes_done(const struct lks_bytes *b)
{
    return !b->failed && b->rest.len == 0;
}

void lks_bytes_put_number(struct lks_buf *out, uint64_t value, unsigned width)
{
    LKS_ASSERT(width <= 8);
    for (unsigned i = 0; i < width; i++)
        lks_buf_addc(out, (char)(value >> (8 * i) & 0xff));
}

void lks_bytes_put_u8(struct lks_buf *out, uint8_t value)
{
    lks_bytes_put_number(out, value, 1);
}

void lks_bytes_put_u16(struct lks_buf *out, uint16_t value)
{
    lks_bytes_put_number(out, value, 2);
}

void lks_bytes_put_u32(struct lks_buf *out, uint32_t value)
{
    lks_bytes_put_number(out, value, 4);
}

void lks_bytes_put_u64(struct lks_buf *out, uint64_t value)
{
    lks_bytes_put_number(out, value, 8);
}

void lks_bytes_set_number(struct lks_buf *out, size_t at, uint64_t value, unsigned width)
{
    if (out->failed != LKS_OK)
        return;
    LKS_ASSERT(width <= 8 && at <= out->len && width <= out->len - at);
    for (unsigned i = 0; i < width; i++)
        out->ptr[at + i] = (char)(value >> (8 * i) & 0xff);
}
