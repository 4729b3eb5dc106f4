#include "codec/format/kv.h"

static void add_escaped(struct lks_buf *line, struct lks_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];
        if (c <= ' ' || c > '~' || c == '%' || c == '=')
            lks_buf_addf(line, "%%%02X", c);
        else
            lks_buf_addc(line, (char)c);
    }
}

void lks_kv_add(struct lks_buf *line, struct lks_str key, struct lks_str value)
{
    if (line->len > 0)
        lks_buf_addc(line, ' ');
    add_escaped(line, key);
    lks_buf_addc(line, '=');
    add_escaped(line, value);
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool unescape(struct lks_str s, struct lks_buf *out)
{
    size_t before = out->len;
    for (size_t i = 0; i < s.len; i++) {
        int high = -1, low = -1;
        if (s.ptr[i] == '%' && s.len - i > 2) {
            high = hex_digit(s.ptr[i + 1]);
            low = hex_digit(s.ptr[i + 2]);
        }
        if (s.ptr[i] == '=' || (s.ptr[i] == '%' && (high < 0 || low < 0))) {
            if (out->failed == LKS_OK)
                lks_buf_truncate(out, before);
            return false;
        }
        lks_buf_addc(out, (char)(high >= 0 ? high << 4 | low : s.ptr[i]));
        i += high >= 0 ? 2 : 0;
    }
    return true;
}

bool lks_kv_get(struct lks_str line, const char *key, struct lks_buf *out)
{
    struct lks_str word, name, value;
    while (lks_str_word(&line, &word)) {
        if (lks_str_cut(word, '=', &name, &value) && lks_str_is(name, key))
            return unescape(value, out);
    }
    return false;
}
