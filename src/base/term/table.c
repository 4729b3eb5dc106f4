#include "base/term/table.h"

#include <errno.h>

enum {
    GAP = 2,       /* blanks between columns */
    WRAP_MIN = 12, /* narrower than this, a wrapped text is no longer read */
    CELL_MAX = 64 * 1024,
};

struct lks_table_row {
    struct lks_table_row *next;
    struct lks_table_cell cells[];
};

void lks_table_init(struct lks_table *t, size_t max_bytes)
{
    *t = (struct lks_table){0};
    lks_arena_init(&t->memory, max_bytes);
}

void lks_table_fini(struct lks_table *t)
{
    lks_arena_fini(&t->memory);
    *t = (struct lks_table){0};
}

/* Blanks at the end would end up at the end of a line. */
static struct lks_str without_end_blanks(struct lks_str s)
{
    while (s.len > 0 && s.ptr[s.len - 1] == ' ')
        s.len--;
    return s;
}

/* What the table keeps of a text: printable, its own copy. */
static enum lks_code keep(struct lks_table *t, struct lks_str text, struct lks_str *out)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf clean = LKS_BUF(CELL_MAX);
    lks_term_clean(&clean, text);
    if (lks_buf_check(&clean, &t->failed) != LKS_OK)
        return lks_wrap(&t->failed, "a cell of a table");

    struct lks_str copy = lks_arena_copy(&t->memory, without_end_blanks(lks_buf_view(&clean)));
    if (copy.ptr == NULL)
        return lks_arena_fail(&t->memory, &t->failed);
    *out = copy;
    return LKS_OK;
}

static void widen(struct lks_table_column *column, struct lks_str text)
{
    size_t columns = lks_term_columns(text);
    if (columns > column->columns)
        column->columns = columns;
}

void lks_table_column(struct lks_table *t, const char *header, unsigned flags)
{
    LKS_ASSERT(t->column_count < LKS_TABLE_COLUMNS_MAX && t->first == NULL);
    struct lks_str text = {0};
    if (t->failed.code != LKS_OK || keep(t, lks_str_from(header), &text) != LKS_OK)
        return;
    struct lks_table_column *column = &t->columns[t->column_count++];
    *column = (struct lks_table_column){.header = {text, LKS_BOLD}, .flags = flags};
    widen(column, text);
}

static enum lks_code add_row(struct lks_table *t)
{
    size_t size = sizeof(*t->last) + t->column_count * sizeof(t->last->cells[0]);
    struct lks_table_row *row = lks_arena_alloc(&t->memory, size);
    if (row == NULL)
        return lks_arena_fail(&t->memory, &t->failed);
    *(t->last != NULL ? &t->last->next : &t->first) = row;
    t->last = row;
    t->filled = 0;
    return LKS_OK;
}

void lks_table_cell(struct lks_table *t, enum lks_colour colour, struct lks_str text)
{
    LKS_ASSERT(t->column_count > 0 || t->failed.code != LKS_OK);
    struct lks_str copy = {0};
    if (t->failed.code != LKS_OK || keep(t, text, &copy) != LKS_OK)
        return;
    if ((t->last == NULL || t->filled == t->column_count) && add_row(t) != LKS_OK)
        return;
    widen(&t->columns[t->filled], copy);
    t->last->cells[t->filled++] = (struct lks_table_cell){copy, colour};
}

void lks_table_cellf(struct lks_table *t, enum lks_colour colour, const char *fmt, ...)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(CELL_MAX);
    va_list ap;
    va_start(ap, fmt);
    lks_buf_addv(&text, fmt, ap);
    va_end(ap);
    if (t->failed.code == LKS_OK && lks_buf_check(&text, &t->failed) == LKS_OK)
        lks_table_cell(t, colour, lks_buf_view(&text));
}

void lks_table_drop(struct lks_table *t, size_t column)
{
    if (t->failed.code != LKS_OK)
        return;
    LKS_ASSERT(column < t->column_count && (t->last == NULL || t->filled == t->column_count));
    size_t behind = --t->column_count - column;
    memmove(&t->columns[column], &t->columns[column + 1], behind * sizeof(t->columns[0]));
    for (struct lks_table_row *row = t->first; row != NULL; row = row->next)
        memmove(&row->cells[column], &row->cells[column + 1], behind * sizeof(row->cells[0]));
    t->filled = t->column_count;
}

static size_t total_width(const struct lks_table *t, const size_t *widths)
{
    size_t total = GAP * (t->column_count - 1);
    for (size_t i = 0; i < t->column_count; i++)
        total += widths[i];
    return total;
}

/* The widest column that may still give way, or NULL. */
static size_t *widest_wrap(const struct lks_table *t, size_t *widths)
{
    size_t *widest = NULL;
    for (size_t i = 0; i < t->column_count; i++) {
        bool can = (t->columns[i].flags & LKS_COLUMN_WRAP) != 0 && widths[i] > WRAP_MIN;
        if (can && (widest == NULL || widths[i] > *widest))
            widest = &widths[i];
    }
    return widest;
}

/* Find the width of each column within `limit`, or say that there is no way. */
static bool fit_columns(const struct lks_table *t, size_t limit, size_t *widths)
{
    for (size_t i = 0; i < t->column_count; i++)
        widths[i] = t->columns[i].columns;
    if (limit == 0)
        return true;
    /* One column after the other loses a little: those that wrap end up equally wide. */
    while (total_width(t, widths) > limit) {
        size_t *widest = widest_wrap(t, widths);
        if (widest == NULL)
            return false;
        *widest = *widest > limit ? limit : *widest - 1;
    }
    return true;
}

/* Take the next line of at most `width` columns off `rest`: up to a blank if there is one, up to
 * the edge if a word is longer than the line. */
static struct lks_str next_line(struct lks_str *rest, size_t width)
{
    size_t end = lks_term_fit(*rest, width);
    if (end == 0) /* a wide character in a line of one column, which it exceeds */
        end = lks_term_fit(*rest, 2);
    if (end < rest->len) {
        size_t blank = end;
        while (blank > 0 && rest->ptr[blank] != ' ')
            blank--;
        struct lks_str head = without_end_blanks((struct lks_str){rest->ptr, blank});
        end = head.len > 0 ? blank : end;
    }
    struct lks_str line = {rest->ptr, end};
    while (end < rest->len && rest->ptr[end] == ' ')
        end++;
    *rest = (struct lks_str){rest->ptr + end, rest->len - end};
    return without_end_blanks(line);
}

static void print_text(FILE *out, const struct lks_term *term, struct lks_str text,
                       enum lks_colour colour)
{
    fprintf(out, "%s%" LKS_STR_FMT "%s", lks_term_on(term, colour), LKS_STR_ARG(text),
            lks_term_off(term, colour));
}

/* One line of a row. Blanks are owed until a text follows them, so that none end the line. */
static void print_line(const struct lks_table *t, FILE *out, const struct lks_term *term,
                       const size_t *widths, struct lks_table_cell *cells)
{
    size_t owed = 0;
    for (size_t i = 0; i < t->column_count; i++) {
        struct lks_str line = next_line(&cells[i].text, widths[i]);
        size_t blanks = widths[i] - lks_term_columns(line);
        bool right = (t->columns[i].flags & LKS_COLUMN_RIGHT) != 0;
        if (line.len > 0) {
            fprintf(out, "%*s", (int)(owed + (right ? blanks : 0)), "");
            print_text(out, term, line, cells[i].colour);
            owed = right ? 0 : blanks;
        } else {
            owed += blanks;
        }
        owed += GAP;
    }
    fputc('\n', out);
}

/* `cells` are used up, line by line. */
static void print_row(const struct lks_table *t, FILE *out, const struct lks_term *term,
                      const size_t *widths, struct lks_table_cell *cells)
{
    bool more = true;
    while (more) {
        print_line(t, out, term, widths, cells);
        more = false;
        for (size_t i = 0; i < t->column_count; i++)
            more = more || cells[i].text.len > 0;
    }
}

static void print_grid(const struct lks_table *t, FILE *out, const struct lks_term *term,
                       const size_t *widths)
{
    struct lks_table_cell cells[LKS_TABLE_COLUMNS_MAX];
    for (size_t i = 0; i < t->column_count; i++)
        cells[i] = t->columns[i].header;
    print_row(t, out, term, widths, cells);
    for (const struct lks_table_row *row = t->first; row != NULL; row = row->next) {
        memcpy(cells, row->cells, t->column_count * sizeof(cells[0]));
        print_row(t, out, term, widths, cells);
    }
}

/* "Header: value", the value going on below in a hanging indent where the terminal ends. */
static void print_item(FILE *out, const struct lks_term *term, struct lks_str header,
                       const struct lks_table_cell *cell)
{
    enum { INDENT = 2, LEAST = 8 };
    size_t used = lks_term_columns(header) + strlen(": ");
    size_t limit = term->width > INDENT + LEAST ? term->width : INDENT + LEAST;
    struct lks_str rest = cell->text;
    print_text(out, term, header, LKS_BOLD);
    fputs(rest.len > 0 ? ": " : ":", out);
    if (used + LEAST > limit && rest.len > 0) {
        used = INDENT; /* nothing useful fits beside such a header */
        fprintf(out, "\n%*s", INDENT, "");
    }
    while (rest.len > 0) {
        print_text(out, term, next_line(&rest, limit - used), cell->colour);
        if (rest.len > 0)
            fprintf(out, "\n%*s", INDENT, "");
        used = INDENT;
    }
    fputc('\n', out);
}

static void print_list(const struct lks_table *t, FILE *out, const struct lks_term *term)
{
    for (const struct lks_table_row *row = t->first; row != NULL; row = row->next) {
        for (size_t i = 0; i < t->column_count; i++)
            print_item(out, term, t->columns[i].header.text, &row->cells[i]);
        if (row->next != NULL)
            fputc('\n', out);
    }
}

enum lks_code lks_table_print(const struct lks_table *t, FILE *out, const struct lks_term *term,
                              struct lks_err *err)
{
    if (t->failed.code != LKS_OK) {
        *err = t->failed;
        return err->code;
    }
    LKS_ASSERT(t->column_count > 0);
    LKS_ASSERT(t->last == NULL || t->filled == t->column_count);

    size_t widths[LKS_TABLE_COLUMNS_MAX];
    if (fit_columns(t, term->width, widths))
        print_grid(t, out, term, widths);
    else
        print_list(t, out, term);
    if (fflush(out) != 0 || ferror(out))
        return lks_fail(err, LKS_E_IO, "cannot write a table: %s", strerror(errno));
    return LKS_OK;
}
