#include "core/procedure/document.h"

#include <stdarg.h>
#include <string.h>

struct lks_document_row {
    struct lks_cell *cells;
    struct lks_document_row *next;
};

/* A fact, or where there are columns a table; a fact without a label is a paragraph. */
struct lks_document_part {
    const char *key, *label, *empty;
    struct lks_cell fact;
    const struct lks_document_column *columns;
    size_t count;
    struct lks_document_row *first, *last;
    struct lks_document_part *next;
};

struct lks_document_section {
    const char *key, *title, *about;
    struct lks_document_part *first, *last;
    struct lks_document_section *next;
};

void lks_document_init(struct lks_document *p)
{
    *p = (struct lks_document){0};
    lks_arena_init(&p->memory, LKS_DOCUMENT_BYTES_MAX);
}

void lks_document_fini(struct lks_document *p)
{
    lks_arena_fini(&p->memory);
    *p = (struct lks_document){0};
}

/* Filling ----------------------------------------------------------------------------------- */

static void *take(struct lks_document *p, size_t size)
{
    void *memory = p->failed == LKS_OK ? lks_arena_alloc(&p->memory, size) : NULL;
    struct lks_err err = {0};
    if (memory == NULL && p->failed == LKS_OK)
        p->failed = lks_arena_fail(&p->memory, &err);
    return memory;
}

void lks_document_section(struct lks_document *p, const char *key, const char *title,
                          const char *about)
{
    struct lks_document_section *s = take(p, sizeof(*s));
    if (s == NULL)
        return;
    *s = (struct lks_document_section){.key = key, .title = title, .about = about};
    if (p->last != NULL)
        p->last->next = s;
    else
        p->first = s;
    p->last = s;
}

static void add_part(struct lks_document *p, struct lks_document_part part)
{
    struct lks_document_section *s = p->last;
    struct lks_document_part *made = take(p, sizeof(*made));
    if (made == NULL)
        return;
    LKS_ASSERT(s != NULL);
    *made = part;
    if (s->last != NULL)
        s->last->next = made;
    else
        s->first = made;
    s->last = made;
}

void lks_document_fact(struct lks_document *p, const char *key, const char *label,
                       struct lks_cell cell)
{
    add_part(p, (struct lks_document_part){.key = key, .label = label, .fact = cell});
}

void lks_document_paragraph(struct lks_document *p, const char *key, struct lks_str text)
{
    add_part(p, (struct lks_document_part){.key = key, .fact = lks_cell_text(text)});
}

void lks_document_table(struct lks_document *p, const char *key, const char *label,
                        const char *empty, const struct lks_document_column *columns, size_t count)
{
    add_part(p,
             (struct lks_document_part){
                 .key = key, .label = label, .empty = empty, .columns = columns, .count = count});
}

void lks_document_row(struct lks_document *p, const struct lks_cell *cells)
{
    struct lks_document_row *row = take(p, sizeof(*row));
    if (row == NULL)
        return;
    struct lks_document_part *table = p->last->last;
    LKS_ASSERT(table != NULL && table->columns != NULL);
    row->cells = take(p, table->count * sizeof(*cells));
    if (row->cells == NULL)
        return;
    memcpy(row->cells, cells, table->count * sizeof(*cells));
    if (table->last != NULL)
        table->last->next = row;
    else
        table->first = row;
    table->last = row;
}

static struct lks_str kept(struct lks_document *p, struct lks_str made)
{
    struct lks_err err = {0};
    if (made.ptr == NULL && p->failed == LKS_OK)
        p->failed = lks_arena_fail(&p->memory, &err);
    return made.ptr != NULL ? made : LKS_STR("");
}

struct lks_str lks_document_text(struct lks_document *p, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    struct lks_str made = lks_arena_formatv(&p->memory, fmt, ap);
    va_end(ap);
    return kept(p, made);
}

struct lks_str lks_document_copy(struct lks_document *p, struct lks_str text)
{
    return kept(p, lks_arena_copy(&p->memory, text));
}

enum lks_code lks_document_check(const struct lks_document *p, struct lks_err *err)
{
    return p->failed == LKS_OK ? LKS_OK : lks_fail(err, p->failed, "the document is too large");
}

/* Markdown ---------------------------------------------------------------------------------- */

/* Whether a reader's program would make a link of it without any markup. */
static bool is_link(struct lks_str text, size_t at)
{
    struct lks_str rest = {text.ptr + at, text.len - at};
    struct lks_str before = {text.ptr, at};
    return lks_str_starts(rest, "://") || (text.ptr[at] == '.' && lks_str_ends(before, "www"));
}

/* A byte that is part of no character, and a character that drives instead of being read, are shown
 * as a question mark. */
void lks_document_markdown_text(struct lks_buf *out, struct lks_str text)
{
    static const char marks[] = "\\`*_{}[]<>#|~&$!";
    for (size_t at = 0; at < text.len;) {
        uint32_t point = 0;
        size_t len = lks_str_rune(text, at, &point);
        bool plain = len > 0 && lks_str_rune_printable(point);
        if (plain && len == 1 && (strchr(marks, text.ptr[at]) != NULL || is_link(text, at)))
            lks_buf_addc(out, '\\');
        if (plain)
            lks_buf_add(out, (struct lks_str){text.ptr + at, len});
        else
            lks_buf_addc(out, '?');
        at += len > 0 ? len : 1;
    }
}

static void put_cell(struct lks_buf *out, const struct lks_cell *cell)
{
    char text[LKS_SPAN_TEXT_SIZE + LKS_TIME_TEXT_SIZE];
    bool timed = cell->kind == LKS_CELL_TIME || cell->kind == LKS_CELL_SPAN;
    bool texted = cell->kind == LKS_CELL_TEXT || cell->kind == LKS_CELL_CODE;
    if ((texted && cell->text.len == 0) || (timed && cell->number == 0))
        lks_buf_addc(out, '-');
    else if (cell->kind == LKS_CELL_BLANK)
        lks_buf_add(out, LKS_STR("\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_"));
    else if (cell->kind == LKS_CELL_TEXT)
        lks_document_markdown_text(out, cell->text);
    else if (cell->kind == LKS_CELL_CODE)
        lks_buf_addf(out, "`%" LKS_STR_FMT "`", LKS_STR_ARG(cell->text));
    else if (cell->kind == LKS_CELL_COUNT)
        lks_buf_addf(out, "%llu", (unsigned long long)cell->number);
    else if (cell->kind == LKS_CELL_SPAN)
        lks_buf_add(out, lks_str_from(lks_time_span_text(cell->number, text)));
    else if (cell->kind == LKS_CELL_TIME)
        lks_buf_add(out, lks_str_from(lks_time_text(cell->number, text)));
    else
        lks_buf_add(out, cell->number != 0 ? LKS_STR("yes") : LKS_STR("no"));
}

static void put_table(struct lks_buf *out, const struct lks_document_part *t)
{
    if (t->first == NULL && t->empty == NULL)
        return;
    lks_buf_addf(out, "\n### %s\n\n", t->label);
    if (t->first == NULL) {
        lks_buf_addf(out, "%s\n", t->empty);
        return;
    }
    for (size_t i = 0; i < t->count; i++)
        lks_buf_addf(out, "| %s ", t->columns[i].header);
    lks_buf_add(out, LKS_STR("|\n"));
    for (size_t i = 0; i < t->count; i++)
        lks_buf_add(out, LKS_STR("|---"));
    lks_buf_add(out, LKS_STR("|\n"));
    for (const struct lks_document_row *row = t->first; row != NULL; row = row->next) {
        for (size_t i = 0; i < t->count; i++) {
            lks_buf_add(out, LKS_STR("| "));
            put_cell(out, &row->cells[i]);
            lks_buf_addc(out, ' ');
        }
        lks_buf_add(out, LKS_STR("|\n"));
    }
}

static void put_section(struct lks_buf *out, const struct lks_document_section *s)
{
    bool listed = false;
    lks_buf_addf(out, "\n## %s\n\n%s\n", s->title, s->about);
    for (const struct lks_document_part *part = s->first; part != NULL; part = part->next) {
        if (part->columns != NULL) {
            put_table(out, part);
            listed = false;
            continue;
        }
        if (part->label == NULL) {
            lks_buf_addc(out, '\n');
            put_cell(out, &part->fact);
            lks_buf_addc(out, '\n');
            listed = false;
            continue;
        }
        lks_buf_addf(out, "%s- **%s:** ", listed ? "" : "\n", part->label);
        put_cell(out, &part->fact);
        lks_buf_addc(out, '\n');
        listed = true;
    }
}

void lks_document_markdown(const struct lks_document *p, struct lks_buf *out)
{
    lks_buf_add(out, LKS_STR("# "));
    lks_document_markdown_text(out, p->title);
    lks_buf_addc(out, '\n');
    for (const struct lks_document_section *s = p->first; s != NULL; s = s->next)
        put_section(out, s);
}

/* JSON -------------------------------------------------------------------------------------- */

static void put_value(struct lks_json_writer *w, const char *key, const struct lks_cell *cell)
{
    char text[LKS_TIME_TEXT_SIZE];
    bool texted = cell->kind == LKS_CELL_TEXT || cell->kind == LKS_CELL_CODE;
    if ((texted && cell->text.len == 0) || (cell->kind == LKS_CELL_TIME && cell->number == 0) ||
        cell->kind == LKS_CELL_BLANK)
        return;
    if (texted)
        lks_json_text(w, key, cell->text);
    else if (cell->kind == LKS_CELL_TIME)
        lks_json_cstr(w, key, lks_time_text(cell->number, text));
    else if (cell->kind == LKS_CELL_TRUTH)
        lks_json_bool(w, key, cell->number != 0);
    else
        lks_json_int(
            w, key,
            (int64_t)(cell->number < LKS_DOC_NUMBER_MAX ? cell->number : LKS_DOC_NUMBER_MAX));
}

static void put_rows(struct lks_json_writer *w, const struct lks_document_part *t)
{
    lks_json_begin(w, t->key, '[');
    for (const struct lks_document_row *row = t->first; row != NULL; row = row->next) {
        lks_json_begin(w, NULL, '{');
        for (size_t i = 0; i < t->count; i++)
            put_value(w, t->columns[i].key, &row->cells[i]);
        lks_json_end(w, '}');
    }
    lks_json_end(w, ']');
}

void lks_document_json(const struct lks_document *p, struct lks_json_writer *w)
{
    lks_json_text(w, "title", p->title);
    for (const struct lks_document_section *s = p->first; s != NULL; s = s->next) {
        lks_json_begin(w, s->key, '{');
        lks_json_cstr(w, "about", s->about);
        for (const struct lks_document_part *part = s->first; part != NULL; part = part->next) {
            if (part->columns != NULL)
                put_rows(w, part);
            else
                put_value(w, part->key, &part->fact);
        }
        lks_json_end(w, '}');
    }
}
