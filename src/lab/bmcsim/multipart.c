#include "lab/bmcsim/parts.h"

#define BOUNDARY_MAX 70 /* RFC 2046 */

/* The value of a parameter behind a header's value: name="value", or without quotes. */
static struct lks_str parameter(struct lks_str header, const char *name)
{
    struct lks_str rest = header, one, key, value;
    bool more = true;
    while (more) {
        more = lks_str_cut(rest, ';', &one, &rest);
        if (!lks_str_cut(lks_str_trim(one), '=', &key, &value) || !lks_str_is(key, name))
            continue;
        value = lks_str_trim(value);
        if (value.len >= 2 && value.ptr[0] == '"' && value.ptr[value.len - 1] == '"')
            value = (struct lks_str){value.ptr + 1, value.len - 2};
        return value;
    }
    return (struct lks_str){0};
}

static void read_header(struct lks_str line, struct lks_bmcsim_part *part)
{
    struct lks_str key, value;
    if (!lks_str_cut(line, ':', &key, &value))
        return;
    value = lks_str_trim(value);
    if (lks_str_eq_nocase(key, LKS_STR("content-type")))
        part->type = value;
    if (lks_str_eq_nocase(key, LKS_STR("content-disposition"))) {
        part->name = parameter(value, "name");
        part->file = parameter(value, "filename");
        part->has_file = part->file.len > 0;
    }
}

/* Headers up to the empty line; what follows is the part's body. */
static bool read_part(struct lks_str text, struct lks_bmcsim_part *part)
{
    *part = (struct lks_bmcsim_part){0};
    for (;;) {
        ptrdiff_t at = lks_str_find(text, LKS_STR("\r\n"));
        if (at < 0)
            return false;
        struct lks_str line = {text.ptr, (size_t)at};
        text = (struct lks_str){text.ptr + at + 2, text.len - (size_t)at - 2};
        if (line.len == 0)
            break;
        read_header(line, part);
    }
    part->body = text;
    return true;
}

int lks_bmcsim_multipart(struct lks_str content_type, struct lks_str body,
                         struct lks_bmcsim_part out[LKS_BMCSIM_PARTS_MAX])
{
    struct lks_str boundary = parameter(content_type, "boundary");
    if (!lks_str_starts(content_type, "multipart/form-data") || boundary.len == 0 ||
        boundary.len > BOUNDARY_MAX)
        return -1;
    char line[BOUNDARY_MAX + 4] = "\r\n--";
    memcpy(line + 4, boundary.ptr, boundary.len);
    struct lks_str mark = {line, boundary.len + 4};
    struct lks_str first = {line + 2, boundary.len + 2};
    if (body.len < first.len || memcmp(body.ptr, first.ptr, first.len) != 0)
        return -1;
    int count = 0;
    struct lks_str rest = {body.ptr + first.len, body.len - first.len};
    while (rest.len >= 2 && memcmp(rest.ptr, "--", 2) != 0) {
        rest = (struct lks_str){rest.ptr + 2, rest.len - 2}; /* the end of the line */
        ptrdiff_t end = lks_str_find(rest, mark);
        if (end < 0 || count == LKS_BMCSIM_PARTS_MAX ||
            !read_part((struct lks_str){rest.ptr, (size_t)end}, &out[count]))
            return -1;
        count++;
        size_t used = (size_t)end + mark.len;
        rest = (struct lks_str){rest.ptr + used, rest.len - used};
    }
    return rest.len >= 2 ? count : -1;
}
