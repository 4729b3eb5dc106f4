#include "codec/format/csv.h"

#include <string.h>

static char head(const struct lks_csv *csv)
{
    return csv->rest.len > 0 ? csv->rest.ptr[0] : '\0';
}

static struct lks_str advance(struct lks_csv *csv, size_t n)
{
    struct lks_str passed = {csv->rest.ptr, n};
    csv->rest.ptr += n;
    csv->rest.len -= n;
    return passed;
}

static bool at_line_end(const struct lks_csv *csv)
{
    const struct lks_str *s = &csv->rest;
    return head(csv) == '\n' || (s->len > 1 && s->ptr[0] == '\r' && s->ptr[1] == '\n');
}

static void take_line_end(struct lks_csv *csv)
{
    advance(csv, head(csv) == '\r' ? 2 : 1);
    csv->next_line++;
}

static void skip_comments(struct lks_csv *csv)
{
    while (head(csv) == '#' || at_line_end(csv)) {
        ptrdiff_t end = lks_str_find(csv->rest, LKS_STR("\n"));
        advance(csv, end < 0 ? csv->rest.len : (size_t)end + 1);
        csv->next_line++;
    }
}

/* What stood between the quotes, with each doubled quote written once. */
static enum lks_code copy_unquoted(struct lks_csv *csv, struct lks_str quoted,
                                   struct lks_str *field, struct lks_err *err)
{
    char *copy = lks_arena_alloc(csv->arena, quoted.len);
    if (copy == NULL)
        return lks_arena_fail(csv->arena, err);
    size_t len = 0;
    for (size_t i = 0; i < quoted.len; i++) {
        copy[len++] = quoted.ptr[i];
        i += quoted.ptr[i] == '"';
    }
    *field = (struct lks_str){copy, len};
    return LKS_OK;
}

static enum lks_code take_quoted(struct lks_csv *csv, struct lks_str *field, struct lks_err *err)
{
    struct lks_str s = csv->rest;
    bool doubled = false;
    size_t i = 1;
    for (; i < s.len; i++) {
        if (s.ptr[i] != '"')
            continue;
        if (i + 1 == s.len || s.ptr[i + 1] != '"')
            break;
        doubled = true;
        i++;
    }
    if (i >= s.len)
        return lks_fail(err, LKS_E_INVALID, "the quote that starts here is never closed");

    struct lks_str quoted = {s.ptr + 1, i - 1};
    advance(csv, i + 1);
    if (csv->rest.len > 0 && head(csv) != ',' && !at_line_end(csv))
        return lks_fail(err, LKS_E_INVALID, "text after a closing quote");
    csv->next_line += (unsigned)lks_str_count(quoted, '\n');
    *field = quoted;
    return doubled ? copy_unquoted(csv, quoted, field, err) : LKS_OK;
}

static enum lks_code take_plain(struct lks_csv *csv, struct lks_str *field, struct lks_err *err)
{
    const char *start = csv->rest.ptr;
    while (csv->rest.len > 0 && head(csv) != ',' && !at_line_end(csv)) {
        if (head(csv) == '"')
            return lks_fail(err, LKS_E_INVALID,
                            "a quote inside a field that does not start with one");
        if (head(csv) == '\r')
            return lks_fail(err, LKS_E_INVALID, "a carriage return without a line feed");
        advance(csv, 1);
    }
    *field = (struct lks_str){start, (size_t)(csv->rest.ptr - start)};
    return LKS_OK;
}

/* One row, from its first byte to the end of its line. */
static enum lks_code take_row(struct lks_csv *csv, struct lks_str fields[LKS_CSV_COLUMNS_MAX],
                              size_t *count, struct lks_err *err)
{
    csv->line = csv->next_line;
    size_t n = 0;
    for (bool more = true; more; n++) {
        if (n == LKS_CSV_COLUMNS_MAX)
            return lks_fail(err, LKS_E_LIMIT, "more than %d fields", LKS_CSV_COLUMNS_MAX);
        enum lks_code code =
            head(csv) == '"' ? take_quoted(csv, &fields[n], err) : take_plain(csv, &fields[n], err);
        if (code != LKS_OK)
            return code;
        more = head(csv) == ',';
        if (more)
            advance(csv, 1);
    }
    if (csv->rest.len > 0)
        take_line_end(csv);
    *count = n;
    return LKS_OK;
}

/* What is wrong with the bytes themselves, before any of them is taken for a field. */
static enum lks_code check_text(struct lks_str text, struct lks_err *err)
{
    if (text.len > LKS_CSV_BYTES_MAX)
        return lks_fail(err, LKS_E_LIMIT, "line 1: more than %zu bytes in all", LKS_CSV_BYTES_MAX);
    size_t bad;
    if (!lks_str_utf8(text, &bad))
        return lks_fail(err, LKS_E_INVALID, "line %zu: not UTF-8",
                        1 + lks_str_count((struct lks_str){text.ptr, bad}, '\n'));
    ptrdiff_t zero = lks_str_find(text, (struct lks_str){"", 1});
    if (zero >= 0)
        return lks_fail(err, LKS_E_INVALID, "line %zu: a zero byte",
                        1 + lks_str_count((struct lks_str){text.ptr, (size_t)zero}, '\n'));
    return LKS_OK;
}

static enum lks_code check_names(const struct lks_csv *csv, struct lks_err *err)
{
    for (size_t i = 0; i < csv->columns; i++) {
        if (csv->names[i].len == 0)
            return lks_fail(err, LKS_E_INVALID, "line %u: column %zu has no name", csv->line,
                            i + 1);
        for (size_t j = 0; j < i; j++) {
            if (lks_str_eq(csv->names[i], csv->names[j]))
                return lks_fail(err, LKS_E_INVALID,
                                "line %u: columns %zu and %zu are both called '%" LKS_STR_FMT "'",
                                csv->line, j + 1, i + 1, LKS_STR_ARG(csv->names[i]));
        }
    }
    return LKS_OK;
}

enum lks_code lks_csv_open(struct lks_csv *csv, struct lks_str text, struct lks_arena *arena,
                           struct lks_err *err)
{
    if (check_text(text, err) != LKS_OK)
        return err->code;
    struct lks_csv opened = {.rest = text, .arena = arena, .next_line = 1};
    if (lks_str_starts(text, "\xef\xbb\xbf"))
        advance(&opened, 3);
    skip_comments(&opened);
    if (opened.rest.len == 0)
        return lks_fail(err, LKS_E_INVALID, "line %u: no row that names the columns",
                        opened.next_line);
    if (take_row(&opened, opened.names, &opened.columns, err) != LKS_OK)
        return lks_wrap(err, "line %u", opened.next_line);
    if (check_names(&opened, err) != LKS_OK)
        return err->code;
    *csv = opened;
    return LKS_OK;
}

enum lks_code lks_csv_next(struct lks_csv *csv, bool *more, struct lks_err *err)
{
    skip_comments(csv);
    if (csv->rest.len == 0) {
        *more = false;
        return LKS_OK;
    }
    size_t count;
    if (take_row(csv, csv->fields, &count, err) != LKS_OK)
        return lks_wrap(err, "line %u", csv->next_line);
    if (count != csv->columns)
        return lks_fail(err, LKS_E_INVALID, "line %u: %zu field%s where the header has %zu",
                        csv->line, count, count == 1 ? "" : "s", csv->columns);
    *more = true;
    return LKS_OK;
}

int lks_csv_column(const struct lks_csv *csv, const char *name)
{
    for (size_t i = 0; i < csv->columns; i++) {
        if (lks_str_is(csv->names[i], name))
            return (int)i;
    }
    return -1;
}
