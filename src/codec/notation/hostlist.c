#include "codec/notation/hostlist.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    DIGITS_MAX = 18, /* of a number that is counted with; they fit 64 bits */
    SETS_MAX = 16,   /* brackets in one name */
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_name_byte(char c)
{
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    return letter || is_digit(c) || c == '.' || c == '-' || c == '_';
}

/* A name that begins with a dash is taken for an option by half the programs it is handed to. */
static bool is_first_byte(char c)
{
    return is_name_byte(c) && c != '-' && c != '.';
}

/* Whether counting up from `low` arrives at `high` as it is written: 001 at 512 and 01 at 100, but
 * not 1 at 010. */
static bool is_same_width(struct lks_str low, struct lks_str high)
{
    return high.len == low.len || (high.len > low.len && high.ptr[0] != '0');
}

/* "001-512" or "7", the latter being a range of one. */
struct range {
    uint64_t low, high;
    struct lks_str low_text, high_text;
};

/* One pair of brackets and what stands before it. The last part of a name may be without. */
struct part {
    struct lks_str literal;
    struct lks_str set; /* between the brackets; empty where there are none */

    /* Where counting through the set has got to; nothing where there is none. */
    struct range now;
    uint64_t value; /* within `now` */
    struct lks_str rest;
    bool more; /* `rest` holds another range */
};

struct pattern {
    struct part parts[SETS_MAX + 1];
    size_t count;
    uint64_t names; /* how many it stands for */
    size_t longest; /* bytes in the longest of them */
};

struct parser {
    struct lks_str text;
    size_t at;
    struct lks_err *err;
};

static char head(const struct parser *p)
{
    return p->at < p->text.len ? p->text.ptr[p->at] : '\0';
}

LKS_MUST_CHECK LKS_PRINTF(4, 5) static enum lks_code
    fail_at(const struct parser *p, size_t at, enum lks_code code, const char *fmt, ...)
{
    char what[128];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof(what), fmt, ap);
    va_end(ap);
    return lks_fail(p->err, code, "character %zu: %s", at + 1, what);
}

static enum lks_code fail_many(const struct parser *p, size_t at)
{
    return fail_at(p, at, LKS_E_LIMIT, "more than %d names", LKS_HOSTLIST_MAX);
}

static void skip_blanks(struct parser *p)
{
    while (head(p) == ' ' || head(p) == '\t')
        p->at++;
}

/* Take the next range off a set; false unless it is one. `*more` tells whether a comma follows. */
static bool next_range(struct lks_str *rest, struct range *out, bool *more)
{
    struct lks_str text, low, high;
    *more = lks_str_cut(*rest, ',', &text, rest);
    if (!lks_str_cut(text, '-', &low, &high))
        high = low;
    *out = (struct range){.low_text = low, .high_text = high};
    return low.len <= DIGITS_MAX && high.len <= DIGITS_MAX &&
           lks_str_number(low, UINT64_MAX, &out->low) &&
           lks_str_number(high, UINT64_MAX, &out->high);
}

static enum lks_code check_range(const struct parser *p, size_t at, const struct range *range)
{
    if (!is_same_width(range->low_text, range->high_text))
        return fail_at(p, at, LKS_E_INVALID, "the ends of the range differ in width");
    if (range->low > range->high)
        return fail_at(p, at, LKS_E_INVALID, "the range runs backwards");
    return LKS_OK;
}

/* Check every range of `set` and count what they stand for. */
static enum lks_code measure_set(const struct parser *p, struct lks_str set, uint64_t *count,
                                 size_t *widest)
{
    *count = 0;
    *widest = 0;
    for (bool more = true; more;) {
        struct range range;
        size_t at = (size_t)(set.ptr - p->text.ptr);
        if (!next_range(&set, &range, &more))
            return fail_at(p, at, LKS_E_INVALID,
                           "expected a number or a range of up to %d digits, as in [001-512,600]",
                           DIGITS_MAX);
        if (check_range(p, at, &range) != LKS_OK)
            return p->err->code;
        *count += range.high - range.low + 1;
        if (*count > LKS_HOSTLIST_MAX)
            return fail_many(p, at);
        *widest = range.high_text.len > *widest ? range.high_text.len : *widest;
    }
    return LKS_OK;
}

static enum lks_code parse_set(struct parser *p, struct pattern *pattern, struct part *part)
{
    size_t open = p->at++;
    struct lks_str inside, after;
    struct lks_str rest = {p->text.ptr + p->at, p->text.len - p->at};
    if (!lks_str_cut(rest, ']', &inside, &after))
        return fail_at(p, open, LKS_E_INVALID, "this bracket is never closed");
    uint64_t count;
    size_t widest;
    if (measure_set(p, inside, &count, &widest) != LKS_OK)
        return p->err->code;
    pattern->names *= count; /* both are at most LKS_HOSTLIST_MAX */
    if (pattern->names > LKS_HOSTLIST_MAX)
        return fail_many(p, open);
    pattern->longest += widest;
    part->set = inside;
    p->at += inside.len + 1;
    return LKS_OK;
}

static enum lks_code fail_unexpected(const struct parser *p)
{
    if (p->at == p->text.len)
        return fail_at(p, p->at, LKS_E_INVALID, "a name is missing at the end");
    unsigned char c = (unsigned char)head(p);
    if (c > 0x20 && c < 0x7f)
        return fail_at(p, p->at, LKS_E_INVALID, "'%c' has no place here", c);
    return fail_at(p, p->at, LKS_E_INVALID, "byte 0x%02x has no place here", c);
}

/* The bytes of a name from here on. Most lists are little else, and jobs wait for thousands of
 * names to be read. */
static struct lks_str take_literal(struct parser *p)
{
    const char *from = p->text.ptr + p->at, *end = p->text.ptr + p->text.len, *to = from;
    while (to < end && is_name_byte(*to))
        to++;
    p->at += (size_t)(to - from);
    return (struct lks_str){from, (size_t)(to - from)};
}

/* One name, with its brackets, up to a blank, a comma or the end. */
static enum lks_code parse_name(struct parser *p, struct pattern *out)
{
    out->count = 0;
    out->names = 1;
    out->longest = 0;
    size_t start = p->at;
    if (head(p) != '[' && !is_first_byte(head(p)))
        return fail_unexpected(p);
    for (bool more = true; more; out->count++) {
        struct part *part = &out->parts[out->count];
        part->literal = take_literal(p);
        part->set = (struct lks_str){0};
        out->longest += part->literal.len;
        more = head(p) == '[';
        if (more && out->count == SETS_MAX)
            return fail_at(p, p->at, LKS_E_LIMIT, "more than %d brackets in one name", SETS_MAX);
        if (more && parse_set(p, out, part) != LKS_OK)
            return p->err->code;
    }
    if (out->longest > LKS_HOST_NAME_MAX)
        return fail_at(p, start, LKS_E_LIMIT, "a name of more than %d bytes", LKS_HOST_NAME_MAX);
    return LKS_OK;
}

/* The next name of the list; `*more` is false where it was the last. */
static enum lks_code parse_item(struct parser *p, struct pattern *out, bool *more)
{
    skip_blanks(p);
    if (parse_name(p, out) != LKS_OK)
        return p->err->code;
    skip_blanks(p);
    *more = head(p) == ',';
    if (!*more && p->at < p->text.len)
        return fail_unexpected(p);
    p->at += *more;
    return LKS_OK;
}

/* Check the whole text and count, before anything is allocated for it. */
static enum lks_code measure(struct lks_str text, size_t *count, struct lks_err *err)
{
    struct parser p = {text, 0, err};
    uint64_t total = 0;
    for (bool more = true; more;) {
        struct pattern pattern;
        size_t at = p.at;
        if (parse_item(&p, &pattern, &more) != LKS_OK)
            return err->code;
        total += pattern.names;
        if (total > LKS_HOSTLIST_MAX)
            return fail_many(&p, at);
    }
    *count = (size_t)total;
    return LKS_OK;
}

static void enter_range(struct part *part)
{
    bool valid = next_range(&part->rest, &part->now, &part->more);
    LKS_ASSERT(valid);
    part->value = part->now.low;
}

static void rewind_part(struct part *part)
{
    part->rest = part->set;
    enter_range(part);
}

/* Step to the next value; after the last one begin again and say no. */
static bool advance_part(struct part *part)
{
    if (part->set.len == 0)
        return false;
    if (part->value < part->now.high)
        part->value++;
    else if (part->more)
        enter_range(part);
    else {
        rewind_part(part);
        return false;
    }
    return true;
}

/* Like the wheels of a counter, the last one turning fastest. */
static bool advance(struct pattern *pattern)
{
    for (size_t i = pattern->count; i > 0; i--) {
        if (advance_part(&pattern->parts[i - 1]))
            return true;
    }
    return false;
}

/* In `width` digits or more. Formats would take most of the time of a long range. */
static size_t write_number(uint64_t value, size_t width, char *out)
{
    char digits[DIGITS_MAX];
    size_t count = 0;
    for (; value > 0 || count < width; value /= 10)
        digits[count++] = (char)('0' + value % 10);
    for (size_t i = 0; i < count; i++)
        out[i] = digits[count - 1 - i];
    return count;
}

static struct lks_str write_name(const struct pattern *pattern, char out[LKS_HOST_NAME_MAX + 1])
{
    size_t len = 0;
    for (size_t i = 0; i < pattern->count; i++) {
        const struct part *part = &pattern->parts[i];
        memcpy(out + len, part->literal.ptr, part->literal.len);
        len += part->literal.len;
        if (part->set.len > 0)
            len += write_number(part->value, part->now.low_text.len, out + len);
    }
    return (struct lks_str){out, len};
}

static enum lks_code expand(struct pattern *pattern, struct lks_arena *arena,
                            struct lks_hostlist *list, struct lks_err *err)
{
    for (size_t i = 0; i < pattern->count; i++) {
        if (pattern->parts[i].set.len > 0)
            rewind_part(&pattern->parts[i]);
    }
    do {
        char buffer[LKS_HOST_NAME_MAX + 1];
        struct lks_str name = lks_arena_copy(arena, write_name(pattern, buffer));
        if (name.ptr == NULL)
            return lks_arena_fail(arena, err);
        list->names[list->count++] = name;
    } while (advance(pattern));
    return LKS_OK;
}

enum lks_code lks_hostlist_count(struct lks_str text, size_t *out, struct lks_err *err)
{
    if (text.len > LKS_HOSTLIST_BYTES_MAX)
        return lks_fail(err, LKS_E_LIMIT, "a host list of more than %zu bytes",
                        LKS_HOSTLIST_BYTES_MAX);
    struct parser p = {text, 0, err};
    skip_blanks(&p);
    size_t count = 0;
    if (p.at < text.len && measure(text, &count, err) != LKS_OK)
        return err->code;
    *out = count;
    return LKS_OK;
}

enum lks_code lks_hostlist_parse(struct lks_str text, struct lks_arena *arena,
                                 struct lks_hostlist *out, struct lks_err *err)
{
    struct lks_hostlist list = {0};
    size_t count = 0;
    if (lks_hostlist_count(text, &count, err) != LKS_OK)
        return err->code;
    struct parser p = {text, 0, err};
    bool more = count > 0;
    list.names = lks_arena_array(arena, count, sizeof(*list.names));
    if (list.names == NULL)
        return lks_arena_fail(arena, err);

    while (more) {
        struct pattern pattern;
        if (parse_item(&p, &pattern, &more) != LKS_OK ||
            expand(&pattern, arena, &list, err) != LKS_OK)
            return err->code;
    }
    LKS_ASSERT(list.count == count);
    *out = list;
    return LKS_OK;
}

/* A name around its last number. Without one, or with one too long to count with, all of it is
 * prefix. */
struct split {
    struct lks_str prefix, digits, suffix;
};

static struct split split_name(struct lks_str name)
{
    size_t end = name.len;
    while (end > 0 && !is_digit(name.ptr[end - 1]))
        end--;
    size_t start = end;
    while (start > 0 && is_digit(name.ptr[start - 1]))
        start--;
    if (end - start > DIGITS_MAX || end == start)
        start = end = name.len;
    return (struct split){
        .prefix = {name.ptr, start},
        .digits = {name.ptr + start, end - start},
        .suffix = {name.ptr + end, name.len - end},
    };
}

/* Shorter numbers first: then 9 stands next to 10, and 99 next to 100. */
static int split_cmp(const void *left, const void *right)
{
    const struct split *a = left, *b = right;
    int order = lks_str_cmp(a->prefix, b->prefix);
    if (order == 0)
        order = lks_str_cmp(a->suffix, b->suffix);
    if (order == 0)
        order = (a->digits.len > b->digits.len) - (a->digits.len < b->digits.len);
    return order != 0 ? order : lks_str_cmp(a->digits, b->digits);
}

bool lks_hostlist_is_name(struct lks_str s)
{
    if (s.len == 0 || s.len > LKS_HOST_NAME_MAX || !is_first_byte(s.ptr[0]))
        return false;
    for (size_t i = 0; i < s.len; i++) {
        if (!is_name_byte(s.ptr[i]))
            return false;
    }
    return true;
}

static enum lks_code split_names(const struct lks_str *names, size_t count, struct split *out,
                                 struct lks_err *err)
{
    for (size_t i = 0; i < count; i++) {
        if (!lks_hostlist_is_name(names[i]))
            return lks_fail(
                err, LKS_E_INVALID, "'%.*s' is not a host name",
                (int)(names[i].len < LKS_HOST_NAME_MAX ? names[i].len : LKS_HOST_NAME_MAX),
                names[i].ptr);
        out[i] = split_name(names[i]);
    }
    return LKS_OK;
}

/* Sort, and keep one of each; the answer is how many are left. */
static size_t sort_unique(struct split *splits, size_t count)
{
    qsort(splits, count, sizeof(*splits), split_cmp);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || split_cmp(&splits[kept - 1], &splits[i]) != 0)
            splits[kept++] = splits[i];
    }
    return kept;
}

static bool shares_brackets(const struct split *a, const struct split *b)
{
    return a->digits.len > 0 && b->digits.len > 0 && lks_str_eq(a->prefix, b->prefix) &&
           lks_str_eq(a->suffix, b->suffix);
}

static uint64_t number(const struct split *s)
{
    uint64_t value = 0;
    bool valid = lks_str_number(s->digits, UINT64_MAX, &value);
    LKS_ASSERT(valid);
    return value;
}

/* How many of the `count` numbers, which share their brackets, one range can stand for. */
static size_t run_length(const struct split *first, size_t count)
{
    size_t n = 1;
    while (n < count && number(&first[n]) == number(&first[n - 1]) + 1 &&
           is_same_width(first->digits, first[n].digits))
        n++;
    return n;
}

static void write_group(const struct split *first, size_t count, struct lks_buf *out)
{
    lks_buf_add(out, first->prefix);
    if (count > 1)
        lks_buf_addc(out, '[');
    for (size_t i = 0; i < count;) {
        size_t run = run_length(&first[i], count - i);
        if (i > 0)
            lks_buf_addc(out, ',');
        lks_buf_add(out, first[i].digits);
        if (run > 1) {
            lks_buf_addc(out, '-');
            lks_buf_add(out, first[i + run - 1].digits);
        }
        i += run;
    }
    if (count > 1)
        lks_buf_addc(out, ']');
    lks_buf_add(out, first->suffix);
}

static void free_splits(struct split **splits)
{
    free(*splits);
}

enum lks_code lks_hostlist_fold(const struct lks_str *names, size_t count, struct lks_buf *out,
                                struct lks_err *err)
{
    LKS_CLEANUP(free_splits) struct split *splits = calloc(count + 1, sizeof(*splits));
    if (splits == NULL)
        return lks_fail_nomem(err);
    if (split_names(names, count, splits, err) != LKS_OK)
        return err->code;
    size_t kept = sort_unique(splits, count);
    for (size_t i = 0, next; i < kept; i = next) {
        for (next = i + 1; next < kept && shares_brackets(&splits[i], &splits[next]);)
            next++;
        if (i > 0)
            lks_buf_addc(out, ',');
        write_group(&splits[i], next - i, out);
    }
    return lks_buf_check(out, err);
}
