#include "codec/format/json_list.h"

#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void skip(struct lks_str *s, size_t count)
{
    *s = (struct lks_str){s->ptr + count, s->len - count};
}

static void skip_blanks(struct lks_str *s)
{
    while (s->len > 0 && is_blank(s->ptr[0]))
        skip(s, 1);
}

/* The byte that is next behind blanks, taken; false: it is another, or there is none. */
static bool take(struct lks_str *s, char c)
{
    skip_blanks(s);
    if (s->len == 0 || s->ptr[0] != c)
        return false;
    skip(s, 1);
    return true;
}

/* The bytes of a string, quotes included; 0: it does not end. */
static size_t string_length(struct lks_str s)
{
    for (size_t i = 1; i < s.len; i++) {
        if (s.ptr[i] == '\\')
            i++;
        else if (s.ptr[i] == '"')
            return i + 1;
    }
    return 0;
}

/* The bytes of an object or a list; 0: it does not end. Brackets of the wrong kind are the parser's
 * to find. */
static size_t nested_length(struct lks_str s)
{
    size_t depth = 0;
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        if (c == '"') {
            size_t len = string_length((struct lks_str){s.ptr + i, s.len - i});
            if (len == 0)
                return 0;
            i += len - 1;
        } else if (c == '{' || c == '[') {
            depth++;
        } else if ((c == '}' || c == ']') && --depth == 0) {
            return i + 1;
        }
    }
    return 0;
}

static size_t plain_length(struct lks_str s)
{
    size_t i = 0;
    static const char ends[] = {',', ':', ']', '}', '"', '[', '{'};
    while (i < s.len && !is_blank(s.ptr[i]) && memchr(ends, s.ptr[i], sizeof(ends)) == NULL)
        i++;
    return i < s.len ? i : 0; /* something closes what the value is in */
}

static bool take_value(struct lks_str *s, struct lks_str *value)
{
    skip_blanks(s);
    if (s->len == 0)
        return false;
    char c = s->ptr[0];
    size_t len = c == '"'               ? string_length(*s)
                 : c == '{' || c == '[' ? nested_length(*s)
                                        : plain_length(*s);
    *value = (struct lks_str){s->ptr, len};
    skip(s, len);
    return len > 0;
}

bool lks_json_list_member(struct lks_str object, const char *key, struct lks_str *value)
{
    struct lks_str name, held;
    size_t len = strlen(key);
    if (!take(&object, '{'))
        return false;
    do {
        if (!take_value(&object, &name) || !take(&object, ':') || !take_value(&object, &held))
            return false;
        if (name.len == len + 2 && memcmp(name.ptr + 1, key, len) == 0) {
            *value = held;
            return true;
        }
    } while (take(&object, ','));
    return false;
}

bool lks_json_list_open(struct lks_str *list)
{
    if (!take(list, '['))
        return false;
    skip_blanks(list);
    return true;
}

enum lks_json_list lks_json_list_next(struct lks_str *list, struct lks_str *element)
{
    if (take(list, ']')) {
        skip_blanks(list);
        return list->len == 0 ? LKS_JSON_LIST_END : LKS_JSON_LIST_BROKEN;
    }
    if (!take_value(list, element))
        return LKS_JSON_LIST_BROKEN;
    skip_blanks(list);
    bool last = list->len > 0 && list->ptr[0] == ']', more = !last && take(list, ',');
    skip_blanks(list);
    bool whole = last || (more && list->len > 0 && list->ptr[0] != ']');
    return whole ? LKS_JSON_LIST_ELEMENT : LKS_JSON_LIST_BROKEN;
}
