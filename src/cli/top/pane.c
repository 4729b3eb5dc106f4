/* One pane: a title with the headers of its columns, and rows. */
#include "cli/shared/render.h"
#include "cli/top/layout_parts.h"
#include "cli/top/rows.h"

#include <stdio.h>
#include <string.h>

enum {
    CELL_BYTES = 4096,
    NARROW = 100, /* columns of a pane without those of LKS_TOP_WIDE */
    INDENT = 2,   /* of rows */
    BAR_LEAST = 8,
    BAR_MOST = 30,
    BAR_SHARE = 6,  /* of the pane's width */
    CELL_SHARE = 3, /* the most that a column takes of it */
    ROWS_MEASURED = 200,
};

void lks_top_pane_bar(const struct lks_top_draw *d, const struct lks_top_bar_part *parts,
                      const struct lks_doc *doc, unsigned row, unsigned column, unsigned width)
{
    uint64_t marks[LKS_TOP_BAR_PARTS];
    lks_top_bar_share(parts, doc, width, marks);
    for (size_t i = 0; i < LKS_TOP_BAR_PARTS; i++) {
        const char mark[2] = {parts[i].mark, '\0'};
        /* Without colour the parts are told apart by their marks. */
        const char *block = parts[i].colour == LKS_DIM ? "░" : "█";
        struct lks_str text = lks_str_from(d->p->utf8 && d->p->colour ? block : mark);
        for (uint64_t n = 0; n < marks[i]; n++)
            column = lks_top_picture_put(d->p, row, column, column + 1, parts[i].colour, text);
    }
}

/* Columns ----------------------------------------------------------------------------------- */

/* The columns of a pane that are shown, and where. */
struct grid {
    const struct lks_top_pane *pane;
    const struct lks_top_rows *rows;
    size_t first, count;                                          /* rows on the screen */
    unsigned at[LKS_TOP_COLUMNS_MAX], width[LKS_TOP_COLUMNS_MAX]; /* width 0: not shown */
};

static bool is_bar(const struct lks_top_column *c)
{
    return (c->flags & (LKS_TOP_LIVENESS | LKS_TOP_PROGRESS)) != 0;
}

static const struct lks_doc *doc_of(const struct lks_top_draw *d, const struct grid *g, size_t row,
                                    const struct lks_top_column *c)
{
    const struct lks_doc *doc = g->rows->rows[row];
    return (c->flags & LKS_TOP_WAVE) != 0 ? lks_top_model_wave(d->m, g->pane, doc) : doc;
}

/* The columns that the texts of a column take; 0: none of them says anything. */
static unsigned measure(const struct lks_top_draw *d, const struct grid *g,
                        const struct lks_top_column *c, unsigned width)
{
    char text[CELL_BYTES];
    size_t most = 0;
    if (is_bar(c)) {
        unsigned bar = width / BAR_SHARE;
        return bar < BAR_LEAST ? BAR_LEAST : bar < BAR_MOST ? bar : BAR_MOST;
    }
    for (size_t r = 0; r < g->count && r < ROWS_MEASURED; r++) {
        lks_top_rows_cell(c, doc_of(d, g, g->first + r, c), d->now, text, sizeof(text));
        size_t columns = lks_term_columns(lks_str_from(text));
        most = columns > most ? columns : most;
    }
    if (most == 0)
        return 0;
    size_t header = strlen(c->header), limit = width / CELL_SHARE;
    most = most > header ? most : header;
    return (unsigned)(most < limit ? most : limit);
}

static void title_of(const struct grid *g, char *out, size_t size)
{
    char badge[LKS_TOP_TEXT_MAX] = "";
    if (g->pane->badge != NULL && g->rows->doc != NULL)
        lks_top_rows_text(g->pane->badge, g->rows->doc, badge, sizeof(badge));
    else if (g->rows->count < g->rows->all)
        (void)snprintf(badge, sizeof(badge), "%zu of %zu%s", g->rows->count, g->rows->all,
                       g->rows->more ? "+" : "");
    else if (g->rows->count > 0)
        (void)snprintf(badge, sizeof(badge), "%zu%s", g->rows->count, g->rows->more ? "+" : "");
    (void)snprintf(out, size, "%s%s%s", g->pane->title, badge[0] != '\0' ? " " : "", badge);
}

/* Every column gets what its texts take, and one of them the rest. */
static void place_columns(const struct lks_top_draw *d, struct grid *g, struct lks_top_box box,
                          unsigned title)
{
    unsigned column = box.column + INDENT, gap = box.width < NARROW ? 1 : 2;
    for (size_t i = 0; i < LKS_TOP_COLUMNS_MAX && g->pane->columns[i].form != NULL; i++) {
        const struct lks_top_column *c = &g->pane->columns[i];
        if ((c->flags & LKS_TOP_WIDE) != 0 && box.width < NARROW)
            continue;
        g->width[i] = (c->flags & LKS_TOP_REST) != 0 ? 1 : measure(d, g, c, box.width);
        if (g->width[i] == 0)
            continue;
        if (i == 0 && g->width[0] + INDENT < title)
            g->width[0] = title - INDENT;
        g->at[i] = column;
        if ((c->flags & LKS_TOP_REST) != 0) {
            unsigned end = box.column + box.width;
            g->width[i] = column < end ? end - column : 0;
        }
        column += g->width[i] + gap;
    }
}

/* Drawing ----------------------------------------------------------------------------------- */

static void put_cell(const struct lks_top_draw *d, const struct lks_top_column *c,
                     const struct lks_doc *doc, unsigned row, unsigned at, unsigned width)
{
    char text[CELL_BYTES];
    if (is_bar(c)) {
        lks_top_pane_bar(
            d, (c->flags & LKS_TOP_LIVENESS) != 0 ? lks_top_bar_liveness : lks_top_bar_progress,
            doc, row, at, width);
        return;
    }
    lks_top_rows_cell(c, doc, d->now, text, sizeof(text));
    struct lks_str shown = lks_str_from(text);
    unsigned columns = (unsigned)lks_term_columns(shown);
    unsigned style =
        c->colour != NULL && doc != NULL ? lks_render_colour(c->colour, doc, shown) : LKS_PLAIN;
    unsigned skip = (c->flags & LKS_TOP_RIGHT) != 0 && columns < width ? width - columns : 0;
    (void)lks_top_picture_put(d->p, row, at + skip, at + width, style, shown);
}

static void put_rows(const struct lks_top_draw *d, const struct grid *g, size_t i,
                     struct lks_top_box box)
{
    const struct lks_top_place *place = lks_top_model_place(d->m);
    for (size_t r = 0; r < g->count; r++) {
        unsigned row = box.row + 1 + (unsigned)r;
        for (size_t c = 0; c < LKS_TOP_COLUMNS_MAX; c++) {
            if (g->width[c] > 0)
                put_cell(d, &g->pane->columns[c], doc_of(d, g, g->first + r, &g->pane->columns[c]),
                         row, g->at[c], g->width[c]);
        }
        if (place->pane != i || place->picks[i].at != g->first + r)
            continue;
        lks_top_picture_restyle(d->p, row, box.column, box.column + box.width, LKS_TOP_REVERSE);
        (void)lks_top_picture_put(d->p, row, box.column, box.column + 1, LKS_TOP_REVERSE,
                                  LKS_STR(">"));
    }
}

static void put_headers(const struct lks_top_draw *d, const struct grid *g, unsigned row)
{
    for (size_t i = 1; i < LKS_TOP_COLUMNS_MAX; i++) {
        const struct lks_top_column *c = &g->pane->columns[i];
        if (g->width[i] == 0)
            continue;
        unsigned columns = (unsigned)strlen(c->header);
        unsigned skip =
            (c->flags & LKS_TOP_RIGHT) != 0 && columns < g->width[i] ? g->width[i] - columns : 0;
        (void)lks_top_picture_put(d->p, row, g->at[i] + skip, g->at[i] + g->width[i], LKS_DIM,
                                  lks_str_from(c->header));
    }
}

/* Instead of rows. */
static void put_empty(const struct lks_top_draw *d, const struct grid *g, size_t i, unsigned row,
                      unsigned column, unsigned end)
{
    const char *refusal = lks_top_model_refusal(d->m, i);
    const char *text = g->rows->all > 0 ? "no match" : g->pane->empty;
    bool known = refusal[0] == '\0' && !g->rows->unread;
    if (refusal[0] != '\0')
        text = refusal;
    else if (g->rows->doc == NULL)
        text = "...";
    else if (g->rows->unread)
        text = "cannot be read: the answer has no list";
    (void)lks_top_picture_put(d->p, row, column + 2, end, known ? LKS_DIM : LKS_YELLOW,
                              lks_str_from(text));
}

/* The first row on the screen, so that the selected one is on it. */
static size_t scroll(struct lks_top_pick *pick, size_t count, size_t page)
{
    if (pick->first > pick->at)
        pick->first = pick->at;
    if (page > 0 && pick->at >= pick->first + page)
        pick->first = pick->at - page + 1;
    if (pick->first + page > count)
        pick->first = count > page ? count - page : 0;
    return pick->first;
}

void lks_top_pane_draw(const struct lks_top_draw *d, size_t i, struct lks_top_box box)
{
    struct lks_top_place *place = &d->m->places[d->m->depth - 1];
    struct grid g = {.pane = &lks_top_screens[place->kind].panes[i], .rows = &d->m->rows[i]};
    char title[LKS_TOP_TEXT_MAX], more[LKS_TOP_TEXT_MAX];
    size_t page = box.height > 0 ? box.height - 1 : 0;
    unsigned style = LKS_TOP_ACCENT | (place->pane == i ? LKS_TOP_REVERSE : LKS_TOP_STRONG);
    if (box.height == 0)
        return;
    g.first = scroll(&place->picks[i], g.rows->count, page);
    g.count = g.rows->count - g.first < page ? g.rows->count - g.first : page;
    if (place->pane == i)
        d->m->page = page;
    title_of(&g, title, sizeof(title));
    unsigned end = box.column + box.width;
    unsigned behind =
        lks_top_picture_put(d->p, box.row, box.column, end, style, lks_str_from(title));
    if (g.count == 0 && g.rows->count == 0) {
        put_empty(d, &g, i, box.row, behind, end);
        return;
    }
    place_columns(d, &g, box, (unsigned)lks_term_columns(lks_str_from(title)));
    put_headers(d, &g, box.row);
    put_rows(d, &g, i, box);
    size_t hidden = g.rows->count - g.first - g.count;
    if (hidden == 0 && g.first == 0)
        return;
    (void)snprintf(more, sizeof(more), " %zu-%zu of %zu%s", g.first + 1, g.first + g.count,
                   g.rows->count, g.rows->more ? "+" : "");
    unsigned len = (unsigned)strlen(more);
    if (box.width > len)
        (void)lks_top_picture_put(d->p, box.row, end - len, end, LKS_DIM, lks_str_from(more));
}
