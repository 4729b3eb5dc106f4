#include "codec/format/base64.h"

#include <stdint.h>

enum {
    GROUP = 4, /* characters for three bytes */
    NONE = -1,
};

/* The two alphabets differ in the last two characters, and only the first is padded. */
struct form {
    char plus, slash;
    bool padded;
};
static const struct form plain = {'+', '/', true};
static const struct form url = {'-', '_', false};

static char digit(const struct form *form, uint32_t n)
{
    static const char same[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    n &= 63;
    return n < 62 ? same[n] : n == 62 ? form->plus : form->slash;
}

static int value(const struct form *form, char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == form->plus ? 62 : c == form->slash ? 63 : NONE;
}

static void encode(const struct form *form, struct lks_buf *out, struct lks_str bytes)
{
    for (size_t at = 0; at < bytes.len; at += 3) {
        size_t left = bytes.len - at;
        const unsigned char *b = (const unsigned char *)bytes.ptr + at;
        uint32_t n = (uint32_t)b[0] << 16;
        n |= left > 1 ? (uint32_t)b[1] << 8 : 0;
        n |= left > 2 ? b[2] : 0;
        char group[GROUP] = {digit(form, n >> 18), digit(form, n >> 12), digit(form, n >> 6),
                             digit(form, n)};
        size_t len = left > 2 ? GROUP : left + 1;
        lks_buf_add(out, (struct lks_str){group, len});
        if (form->padded)
            lks_buf_pad(out, '=', (ptrdiff_t)(GROUP - len));
    }
}

void lks_base64_add(struct lks_buf *out, struct lks_str bytes)
{
    encode(&plain, out, bytes);
}

void lks_base64_url_add(struct lks_buf *out, struct lks_str bytes)
{
    encode(&url, out, bytes);
}

/* What is inside of one group of up to four characters; 0 bytes where it is none. */
static size_t group_read(const struct form *form, struct lks_str s, char out[3])
{
    uint32_t n = 0;
    for (size_t i = 0; i < GROUP; i++) {
        int v = i < s.len ? value(form, s.ptr[i]) : 0;
        if (v == NONE)
            return 0;
        n = n << 6 | (uint32_t)v;
    }
    out[0] = (char)(n >> 16);
    out[1] = (char)(n >> 8);
    out[2] = (char)n;
    /* Bits behind the last whole byte would let one content be written in several ways. */
    uint32_t left_over = s.len == 2 ? n & 0xffff : s.len == 3 ? n & 0xff : 0;
    return s.len < 2 || left_over != 0 ? 0 : s.len - 1;
}

/* The text without the padding it has to have. */
static bool unpad(const struct form *form, struct lks_str *text)
{
    if (!form->padded)
        return true;
    if (text->len % GROUP != 0)
        return false;
    for (int i = 0; i < 2 && text->len > 0 && text->ptr[text->len - 1] == '='; i++)
        text->len--;
    return true;
}

static enum lks_code decode(const struct form *form, struct lks_str text, struct lks_buf *out,
                            struct lks_err *err)
{
    size_t before = out->len;
    bool good = unpad(form, &text);
    for (size_t at = 0; good && at < text.len; at += GROUP) {
        size_t left = text.len - at;
        char bytes[3];
        size_t len =
            group_read(form, (struct lks_str){text.ptr + at, left < GROUP ? left : GROUP}, bytes);
        lks_buf_add(out, (struct lks_str){bytes, len});
        good = len > 0;
    }
    if (!good) {
        if (out->len > before)
            lks_buf_truncate(out, before);
        return lks_fail(err, LKS_E_INVALID, "not base64%s", form->padded ? "" : " for addresses");
    }
    return lks_buf_check(out, err);
}

enum lks_code lks_base64_read(struct lks_str text, struct lks_buf *out, struct lks_err *err)
{
    return decode(&plain, text, out, err);
}

enum lks_code lks_base64_url_read(struct lks_str text, struct lks_buf *out, struct lks_err *err)
{
    return decode(&url, text, out, err);
}
