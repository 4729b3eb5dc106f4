/* The facts at the head of a screen, and all members of a row. */
#include "cli/shared/render.h"
#include "cli/top/layout_parts.h"
#include "cli/top/rows.h"

#include <stdio.h>
#include <string.h>

enum { CELL_BYTES = 4096, LABEL = 13, BAR_MOST = 60, MEMBER_BYTES = 64 << 10 };

static bool put_fact(const struct lks_top_draw *d, const struct lks_top_fact *f,
                     struct lks_top_box box, unsigned row)
{
    char text[CELL_BYTES];
    const struct lks_doc *doc = d->m->facts;
    const struct lks_top_column column = {f->label, f->form, f->flags, f->colour};
    unsigned at = box.column + LABEL, end = box.column + box.width;
    if ((f->flags & (LKS_TOP_LIVENESS | LKS_TOP_PROGRESS)) != 0) {
        unsigned width = box.width > LABEL ? box.width - LABEL : 0;
        lks_top_pane_bar(
            d, (f->flags & LKS_TOP_LIVENESS) != 0 ? lks_top_bar_liveness : lks_top_bar_progress,
            doc, row, at, width < BAR_MOST ? width : BAR_MOST);
    } else {
        lks_top_rows_cell(&column, doc, d->now, text, sizeof(text));
        if (text[0] == '\0')
            return false;
        unsigned style =
            f->colour != NULL ? lks_render_colour(f->colour, doc, lks_str_from(text)) : LKS_PLAIN;
        (void)lks_top_picture_put(d->p, row, at, end, style, lks_str_from(text));
    }
    (void)lks_top_picture_put(d->p, row, box.column + 1, at - 1, LKS_DIM, lks_str_from(f->label));
    return true;
}

unsigned lks_top_facts_draw(const struct lks_top_draw *d, struct lks_top_box box)
{
    const struct lks_top_screen *screen = &lks_top_screens[lks_top_model_place(d->m)->kind];
    unsigned lines = 0;
    if (d->m->facts == NULL) {
        const char *text = d->m->refusal[0] != '\0' ? d->m->refusal : "...";
        if (screen->facts[0].form == NULL)
            return 0;
        (void)lks_top_picture_put(d->p, box.row, box.column + 1, box.column + box.width,
                                  d->m->refusal[0] != '\0' ? LKS_YELLOW : LKS_DIM,
                                  lks_str_from(text));
        return 1;
    }
    for (size_t i = 0; i < LKS_TOP_FACTS_MAX && screen->facts[i].form != NULL; i++) {
        if (lines < box.height && put_fact(d, &screen->facts[i], box, box.row + lines))
            lines++;
    }
    return lines;
}

/* How much of `text` goes into a line of `columns`: up to a blank, if there is one. */
static size_t line_of(struct lks_str text, size_t columns)
{
    size_t fits = lks_term_fit(text, columns), at = fits;
    if (fits == 0)
        return text.len;
    if (fits == text.len)
        return fits;
    while (at > 0 && text.ptr[at] != ' ')
        at--;
    return at > 0 ? at : fits;
}

/* A member in as many lines as it takes; the lines before `box` and behind it are not shown. */
static void put_member(const struct lks_top_draw *d, const struct lks_doc *member,
                       struct lks_top_box box, size_t *line)
{
    LKS_CLEANUP(lks_buf_fini)
    struct lks_buf text = LKS_BUF(MEMBER_BYTES), raw = LKS_BUF(MEMBER_BYTES);
    size_t skip = lks_top_model_place(d->m)->picks[0].first;
    unsigned at = box.column + LABEL + 3, end = box.column + box.width;
    lks_render_value(&raw, member);
    lks_term_clean(&text, lks_buf_view(&raw));
    struct lks_str rest = lks_buf_view(&text);
    bool first = true;
    while (rest.len > 0) {
        size_t len = line_of(rest, end > at ? end - at : 1);
        if (*line >= skip && *line - skip < box.height) {
            unsigned row = box.row + (unsigned)(*line - skip);
            if (first)
                (void)lks_top_picture_put(d->p, row, box.column + 1, at - 1, LKS_DIM, member->key);
            (void)lks_top_picture_put(d->p, row, at, end, LKS_PLAIN,
                                      (struct lks_str){rest.ptr, len});
        }
        first = false;
        (*line)++;
        rest = lks_str_trim((struct lks_str){rest.ptr + len, rest.len - len});
    }
}

void lks_top_facts_members(const struct lks_top_draw *d, struct lks_top_box box)
{
    size_t line = 0;
    if (d->m->facts == NULL) {
        (void)lks_top_picture_put(d->p, box.row, box.column + 1, box.column + box.width, LKS_DIM,
                                  LKS_STR("it is not in the list any more"));
        return;
    }
    for (const struct lks_doc *i = d->m->facts->first; i != NULL; i = i->next)
        put_member(d, i, box, &line);
}
