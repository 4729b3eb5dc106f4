#include "codec/format/ini.h"

struct reader {
    const char *key;
    struct lks_buf *out;
    size_t before; /* bytes of `out` that were there */
    bool found, going_on;
};

static void take_value(struct reader *r, struct lks_str value)
{
    if (r->out->len > r->before && value.len > 0)
        lks_buf_addc(r->out, ' ');
    lks_buf_add(r->out, value);
}

/* A line of the section. */
static void take_line(struct reader *r, struct lks_str line, bool indented)
{
    struct lks_str name, value;
    if (indented) {
        if (r->going_on)
            take_value(r, line);
        return;
    }
    r->going_on = lks_str_cut(line, '=', &name, &value) && lks_str_is(lks_str_trim(name), r->key);
    if (!r->going_on)
        return;
    if (r->out->failed == LKS_OK)
        lks_buf_truncate(r->out, r->before);
    r->found = true;
    take_value(r, lks_str_trim(value));
}

bool lks_ini_find(struct lks_str text, const char *section, const char *key, struct lks_buf *out)
{
    struct reader r = {.key = key, .out = out, .before = out->len};
    bool within = false;
    while (text.len > 0) {
        struct lks_str line, trimmed;
        (void)lks_str_cut(text, '\n', &line, &text);
        trimmed = lks_str_trim(line);
        if (trimmed.len == 0 || trimmed.ptr[0] == '#' || trimmed.ptr[0] == ';')
            continue;
        bool indented = line.ptr[0] == ' ' || line.ptr[0] == '\t';
        if (!indented && trimmed.ptr[0] == '[') {
            struct lks_str name = {trimmed.ptr + 1, trimmed.len - 1};
            within = lks_str_cut(name, ']', &name, &line) && lks_str_is(name, section);
            r.going_on = false;
        } else if (within) {
            take_line(&r, trimmed, indented);
        }
    }
    return r.found;
}
