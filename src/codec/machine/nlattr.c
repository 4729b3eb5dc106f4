#include "codec/machine/nlattr.h"

enum { HEADER = 4, NESTED = 0x8000, TYPE_MASK = 0x3fff };

static size_t padded(size_t len)
{
    return (len + 3) & ~(size_t)3;
}

bool lks_nlattr_next(struct lks_str *rest, struct lks_nlattr *out)
{
    uint16_t head[2];
    if (rest->len < HEADER)
        return false;
    memcpy(head, rest->ptr, sizeof(head));
    if (head[0] < HEADER || head[0] > rest->len)
        return false;
    *out = (struct lks_nlattr){
        .type = (uint16_t)(head[1] & TYPE_MASK),
        .data = {rest->ptr + HEADER, (size_t)head[0] - HEADER},
    };
    size_t step = padded(head[0]) < rest->len ? padded(head[0]) : rest->len;
    rest->ptr += step;
    rest->len -= step;
    return true;
}

struct lks_str lks_nlattr_find(struct lks_str attrs, uint16_t type)
{
    struct lks_nlattr attr;
    while (lks_nlattr_next(&attrs, &attr)) {
        if (attr.type == type)
            return attr.data;
    }
    return LKS_STR("");
}

struct lks_str lks_nlattr_text(struct lks_str data)
{
    struct lks_str rest;
    (void)lks_str_cut(data, '\0', &data, &rest);
    return data;
}

static void add(struct lks_buf *out, uint16_t type, struct lks_str data, struct lks_str end)
{
    size_t len = data.len + end.len;
    if (len > LKS_NLATTR_DATA_MAX) {
        if (out->failed == LKS_OK)
            out->failed = LKS_E_LIMIT;
        return;
    }
    uint16_t head[2] = {(uint16_t)(HEADER + len), type};
    lks_buf_add(out, (struct lks_str){(const char *)head, sizeof(head)});
    lks_buf_add(out, data);
    lks_buf_add(out, end);
    lks_buf_pad(out, '\0', (ptrdiff_t)(padded(len) - len));
}

void lks_nlattr_add(struct lks_buf *out, uint16_t type, struct lks_str data)
{
    add(out, type, data, LKS_STR(""));
}

void lks_nlattr_add_text(struct lks_buf *out, uint16_t type, struct lks_str text)
{
    add(out, type, text, LKS_STR("\0"));
}

void lks_nlattr_add_u32(struct lks_buf *out, uint16_t type, uint32_t value)
{
    add(out, type, (struct lks_str){(const char *)&value, sizeof(value)}, LKS_STR(""));
}

void lks_nlattr_add_u8(struct lks_buf *out, uint16_t type, uint8_t value)
{
    add(out, type, (struct lks_str){(const char *)&value, sizeof(value)}, LKS_STR(""));
}

void lks_nlattr_add_nested(struct lks_buf *out, uint16_t type, struct lks_str attrs)
{
    add(out, (uint16_t)(type | NESTED), attrs, LKS_STR(""));
}
