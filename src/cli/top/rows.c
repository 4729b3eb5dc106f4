#include "cli/top/rows.h"

#include "base/vec.h"
#include "cli/shared/render.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { CELL_BYTES = 64 << 10 };

/* Copy as much of `text` as fits without splitting a character. */
static void copy_text(struct lks_str text, char *out, size_t size)
{
    size_t len = 0;
    while (len < text.len) {
        uint32_t point;
        size_t more = lks_str_rune(text, len, &point);
        more = more > 0 ? more : 1;
        if (len + more >= size)
            break;
        len += more;
    }
    memcpy(out, text.ptr != NULL ? text.ptr : "", len);
    out[len] = '\0';
}

void lks_top_rows_text(const char *form, const struct lks_doc *doc, char *out, size_t size)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(CELL_BYTES);
    lks_render(&text, form, &(struct lks_render){.doc = doc});
    copy_text(lks_buf_view(&text), out, size);
}

void lks_top_rows_path(const char *form, const char *subject, const struct lks_doc *row, char *out,
                       size_t size)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(CELL_BYTES);
    const struct lks_args args = {.positional = {subject}, .positional_count = 1};
    lks_render(&text, form,
               &(struct lks_render){.doc = row, .args = &args, .mode = LKS_RENDER_URL});
    copy_text(lks_buf_view(&text), out, size);
}

/* Search ------------------------------------------------------------------------------------ */

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool contains(struct lks_str text, struct lks_str needle)
{
    for (size_t at = 0; at + needle.len <= text.len; at++) {
        size_t same = 0;
        while (same < needle.len && lower(text.ptr[at + same]) == lower(needle.ptr[same]))
            same++;
        if (same == needle.len)
            return true;
    }
    return false;
}

/* Whether a column of the row has the text. Spans and bars are not searched: they are no names. */
static bool matches(const struct lks_top_pane *pane, const struct lks_doc *row,
                    struct lks_str needle)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(CELL_BYTES);
    const unsigned unnamed = LKS_TOP_AGE | LKS_TOP_LEFT_OVER | LKS_TOP_WAVE;
    if (needle.len == 0)
        return true;
    for (size_t i = 0; i < LKS_TOP_COLUMNS_MAX && pane->columns[i].form != NULL; i++) {
        if ((pane->columns[i].flags & unnamed) != 0)
            continue;
        lks_buf_truncate(&text, 0);
        lks_render(&text, pane->columns[i].form, &(struct lks_render){.doc = row});
        if (contains(lks_buf_view(&text), needle))
            return true;
    }
    return false;
}

/* Rows -------------------------------------------------------------------------------------- */

struct search {
    const struct lks_top_pane *pane;
    struct lks_str needle;
    struct lks_top_rows *out;
};

static void add_row(const struct search *s, const struct lks_doc *row)
{
    struct lks_top_rows *out = s->out;
    struct lks_err err = {0};
    out->all++;
    if (matches(s->pane, row, s->needle))
        (void)LKS_VEC_ADD(out->rows, out->room, out->count, LKS_TOP_ROWS_MAX, row, &err);
}

/* The items of the list at `path` in `doc`; "waves.gate" is the list of each item of a list. */
static void add_list(const struct search *s, const struct lks_doc *doc, struct lks_str path)
{
    struct lks_str part, rest;
    bool nested = lks_str_cut(path, '.', &part, &rest);
    const struct lks_doc *list = lks_doc_find(doc, part);
    if (list == NULL || list->kind != LKS_DOC_LIST) {
        /* Lists of a row or of a single thing may be left out; those of a route are not. */
        s->out->unread =
            s->out->unread || lks_str_is(part, "items") || lks_str_is(part, s->pane->items);
        return;
    }
    for (const struct lks_doc *i = list->first; i != NULL; i = i->next) {
        if (nested)
            add_list(s, i, rest);
        else
            add_row(s, i);
    }
}

void lks_top_rows_find(const struct lks_top_pane *pane, const struct lks_top_answer *answer,
                       const char *search, struct lks_top_rows *out)
{
    const struct search s = {pane, lks_str_from(search), out};
    out->count = out->all = 0;
    out->unread = false;
    out->doc = answer != NULL && answer->count > 0 ? answer->pages[0].doc : NULL;
    out->more = answer != NULL && answer->more;
    for (uint32_t p = 0; out->doc != NULL && p < answer->count; p++) {
        struct lks_str lists = lks_str_from(pane->items), word;
        const struct lks_doc *doc = answer->pages[p].doc;
        while (lks_str_word(&lists, &word)) {
            if (!lks_str_is(word, "."))
                add_list(&s, doc, word);
            else if (lks_render_truth(doc, "frozen"))
                add_row(&s, doc);
        }
    }
}

void lks_top_rows_fini(struct lks_top_rows *rows)
{
    free(rows->rows);
    *rows = (struct lks_top_rows){0};
}

/* Cells ------------------------------------------------------------------------------------- */

void lks_top_rows_span(lks_ms span, char out[LKS_SPAN_TEXT_SIZE])
{
    static const struct {
        lks_ms below, unit;
        const char *name;
    } units[] = {
        {120 * LKS_SECOND, LKS_SECOND, "s"},
        {7200 * LKS_SECOND, 60 * LKS_SECOND, "min"},
        {172800 * LKS_SECOND, 3600 * LKS_SECOND, "h"},
        {UINT64_MAX, 86400 * LKS_SECOND, "d"},
    };
    size_t i = 0;
    while (span >= units[i].below && i + 1 < LKS_COUNT(units))
        i++;
    (void)snprintf(out, LKS_SPAN_TEXT_SIZE, "%" PRIu64 " %s", span / units[i].unit, units[i].name);
}

void lks_top_rows_cell(const struct lks_top_column *column, const struct lks_doc *doc, lks_ms now,
                       char *out, size_t size)
{
    char span[LKS_SPAN_TEXT_SIZE];
    lks_ms time;
    out[0] = '\0';
    if (doc == NULL)
        return;
    lks_top_rows_text(column->form, doc, out, size);
    if ((column->flags & (LKS_TOP_AGE | LKS_TOP_LEFT_OVER)) == 0 ||
        !lks_time_parse(lks_str_from(out), &time))
        return;
    bool past = (column->flags & LKS_TOP_AGE) != 0;
    lks_ms from = past ? time : now, until = past ? now : time;
    lks_top_rows_span(until > from ? until - from : 0, span);
    (void)snprintf(out, size, "%s", span);
}
