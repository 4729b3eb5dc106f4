#include "codec/notation/gres.h"

#include <inttypes.h>
#include <stdlib.h>

/* Reading ----------------------------------------------------------------------------------- */

/* Names and types are printable, and none of what has a meaning in the list. */
static bool is_word(struct lks_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] <= ' ' || s.ptr[i] >= 0x7f || strchr(",:()=\"'\\", s.ptr[i]) != NULL)
            return false;
    }
    return s.len > 0;
}

/* "8", "4G"; false: it is no number, and so a type. */
static bool read_count(struct lks_str s, uint64_t *out)
{
    static const char units[] = "KMGTP";
    enum { PER_UNIT = 10 };
    const char *unit = s.len > 1 ? strchr(units, s.ptr[s.len - 1]) : NULL;
    unsigned shift = 0;
    if (unit != NULL && *unit != '\0') {
        shift = (unsigned)(unit - units + 1) * PER_UNIT;
        s.len--;
    }
    if (!lks_str_number(s, UINT64_MAX >> 1 >> shift, out))
        return false;
    *out <<= shift;
    return true;
}

/* Up to the next comma that is not in parentheses; false: a parenthesis is not closed. */
static bool next_item(struct lks_str *rest, struct lks_str *item)
{
    size_t at = 0;
    bool inside = false;
    for (; at < rest->len && (inside || rest->ptr[at] != ','); at++) {
        if (rest->ptr[at] == (inside ? '(' : ')'))
            return false;
        inside = inside ? rest->ptr[at] != ')' : rest->ptr[at] == '(';
    }
    size_t skip = at < rest->len ? at + 1 : at;
    *item = (struct lks_str){rest->ptr, at};
    *rest = (struct lks_str){rest->ptr + skip, rest->len - skip};
    return !inside;
}

/* "(S:0-1)" and "(IDX:0-3)" say where they are, and nothing more follows. */
static bool cut_place(struct lks_str *item)
{
    struct lks_str head, place;
    if (!lks_str_cut(*item, '(', &head, &place))
        return true;
    *item = head;
    return place.len > 0 && place.ptr[place.len - 1] == ')' && lks_str_count(place, ')') == 1 &&
           lks_str_printable(place);
}

static bool read_item(struct lks_str text, struct lks_gres_item *out)
{
    struct lks_str word;
    bool more = true, counted = false;
    *out = (struct lks_gres_item){.name = {"", 0}, .type = {"", 0}, .count = 1};
    if (!cut_place(&text))
        return false;
    more = lks_str_cut(text, ':', &out->name, &text);
    while (more) {
        more = lks_str_cut(text, ':', &word, &text);
        if (counted || !is_word(word))
            return false; /* nothing follows the count */
        if (lks_str_is(word, "no_consume"))
            continue;
        counted = read_count(word, &out->count);
        if (!counted && out->type.len > 0)
            return false;
        if (!counted)
            out->type = word;
    }
    return is_word(out->name);
}

enum lks_code lks_gres_parse(struct lks_str text, struct lks_gres *out, struct lks_err *err)
{
    struct lks_gres gres = {.count = 0};
    struct lks_str rest = text, item;
    if (lks_str_is(text, "(null)"))
        rest = LKS_STR("");
    if (text.len > LKS_GRES_BYTES_MAX)
        return lks_fail(err, LKS_E_LIMIT, "a list of resources of more than %d bytes",
                        LKS_GRES_BYTES_MAX);
    while (rest.len > 0) {
        if (gres.count == LKS_GRES_ITEMS_MAX)
            return lks_fail(err, LKS_E_LIMIT, "more than %d resources", LKS_GRES_ITEMS_MAX);
        if (!next_item(&rest, &item) || !read_item(item, &gres.items[gres.count]))
            return lks_fail(err, LKS_E_INVALID,
                            "resource %zu: expected NAME[:TYPE][:COUNT], as in gpu:h200:8",
                            gres.count + 1);
        gres.count++;
    }
    *out = gres;
    return LKS_OK;
}

/* Writing ----------------------------------------------------------------------------------- */

static int by_type(const void *left, const void *right)
{
    const struct lks_gres_item *a = left, *b = right;
    return lks_str_cmp(a->type, b->type);
}

enum lks_code lks_gres_write(const struct lks_gres *gres, const char *name, struct lks_buf *out,
                             struct lks_err *err)
{
    struct lks_gres_item of[LKS_GRES_ITEMS_MAX] = {0};
    size_t count = 0, from = out->len;
    for (size_t i = 0; i < gres->count; i++) {
        if (lks_str_is(gres->items[i].name, name))
            of[count++] = gres->items[i];
    }
    qsort(of, count, sizeof(of[0]), by_type);
    for (size_t i = 0; i < count; i++) {
        uint64_t sum = of[i].count;
        while (i + 1 < count && lks_str_eq(of[i].type, of[i + 1].type)) {
            if (__builtin_add_overflow(sum, of[++i].count, &sum) || sum > UINT64_MAX >> 1)
                return lks_fail(err, LKS_E_LIMIT, "resources of a type beyond any count");
        }
        lks_buf_addf(out, "%s%s:", out->len > from ? "," : "", name);
        if (of[i].type.len > 0)
            lks_buf_addf(out, "%" LKS_STR_FMT ":", LKS_STR_ARG(of[i].type));
        lks_buf_addf(out, "%" PRIu64, sum);
    }
    return lks_buf_check(out, err);
}

/* Profiles ---------------------------------------------------------------------------------- */

/* The number before `unit`, both taken off. */
static bool take(struct lks_str *s, const char *unit, uint64_t *out)
{
    size_t digits = 0, len = strlen(unit);
    while (digits < s->len && s->ptr[digits] >= '0' && s->ptr[digits] <= '9')
        digits++;
    struct lks_str after = {s->ptr + digits, s->len - digits};
    if (digits > LKS_GRES_PREFIX_MAX || after.len < len ||
        !lks_str_eq_nocase((struct lks_str){after.ptr, len}, lks_str_from(unit)) ||
        !lks_str_number((struct lks_str){s->ptr, digits}, UINT32_MAX, out))
        return false;
    *s = (struct lks_str){after.ptr + len, after.len - len};
    return true;
}

static bool is_separator(char c)
{
    return strchr("_-. +", c) != NULL && c != '\0';
}

/* All of `s`, from its first byte on. */
static bool read_profile(struct lks_str s, struct lks_gres_profile *out)
{
    struct lks_gres_profile p = {.board = {"", 0}, .attributes = {"", 0}};
    (void)take(&s, "c.", &p.compute);
    if (!take(&s, "g.", &p.slices) || !take(&s, "gb", &p.gigabytes))
        return false;
    if (s.len == 1 || (s.len > 1 && !is_separator(s.ptr[0])))
        return false;
    if (s.len > 1)
        p.attributes = (struct lks_str){s.ptr + 1, s.len - 1};
    *out = p;
    return true;
}

bool lks_gres_profile_parse(struct lks_str type, struct lks_gres_profile *out)
{
    for (size_t i = 0; i < type.len; i++) {
        struct lks_str rest = {type.ptr + i, type.len - i};
        if ((i > 0 && !is_separator(type.ptr[i - 1])) || !read_profile(rest, out))
            continue;
        if (i > 1)
            out->board = (struct lks_str){type.ptr, i - 1};
        return true;
    }
    return false;
}

bool lks_gres_profile_eq(const struct lks_gres_profile *a, const struct lks_gres_profile *b)
{
    return a->compute == b->compute && a->slices == b->slices && a->gigabytes == b->gigabytes &&
           lks_str_eq_nocase(a->attributes, b->attributes);
}
