#include "cli/top/layout.h"

#include "cli/shared/render.h"
#include "cli/top/layout_parts.h"
#include "cli/top/rows.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    TWO_COLUMNS = 160, /* from so many columns on the fleet's panes are beside each other */
    LEFT_PANES = 2,    /* pools and changes, at the left */
    ROWS_LEAST = 2,    /* of a pane without the focus, where there are lines for it */
};

/* Lines of panes ---------------------------------------------------------------------------- */

static void give(size_t *lines, size_t wanted, size_t *left)
{
    size_t more = wanted > *lines ? wanted - *lines : 0;
    more = more < *left ? more : *left;
    *lines += more;
    *left -= more;
}

void lks_top_layout_share(const size_t *rows, size_t count, size_t focus, size_t height,
                          size_t *lines)
{
    size_t left = height;
    for (size_t i = 0; i < count; i++)
        lines[i] = 0;
    if (focus < count)
        give(&lines[focus], rows[focus] > 0 ? 2 : 1, &left);
    for (size_t i = 0; i < count; i++)
        give(&lines[i], 1, &left);
    for (size_t least = 1; least <= ROWS_LEAST; least++) {
        for (size_t i = 0; i < count; i++)
            give(&lines[i], 1 + (rows[i] < least ? rows[i] : least), &left);
    }
    if (focus < count)
        give(&lines[focus], 1 + rows[focus], &left);
    for (size_t i = 0; i < count; i++)
        give(&lines[i], 1 + rows[i], &left);
}

/* The panes `from` to `to` below each other, with blank lines between them where there are lines
 * to spare. */
static void draw_panes(const struct lks_top_draw *d, size_t from, size_t to, struct lks_top_box box)
{
    size_t rows[LKS_TOP_PANES_MAX], lines[LKS_TOP_PANES_MAX], used = 0, count = to - from;
    size_t focus = lks_top_model_place(d->m)->pane;
    for (size_t i = 0; i < count; i++)
        rows[i] = d->m->rows[from + i].count;
    lks_top_layout_share(rows, count, focus >= from ? focus - from : count, box.height, lines);
    for (size_t i = 0; i < count; i++)
        used += lines[i];
    unsigned gap = used + count <= box.height ? 1 : 0;
    for (size_t i = 0; i < count; i++) {
        box.height = (unsigned)lines[i];
        lks_top_pane_draw(d, from + i, box);
        box.row += box.height + gap;
    }
}

static void draw_body(const struct lks_top_draw *d, struct lks_top_box box)
{
    const struct lks_top_screen *screen = &lks_top_screens[lks_top_model_place(d->m)->kind];
    size_t count = 0;
    while (count < LKS_TOP_PANES_MAX && screen->panes[count].title != NULL)
        count++;
    if (count > LEFT_PANES && screen == &lks_top_screens[LKS_TOP_FLEET] &&
        box.width >= TWO_COLUMNS) {
        struct lks_top_box half = box;
        half.width = box.width / 2 - 1;
        draw_panes(d, 0, LEFT_PANES, half);
        half.column = box.width / 2 + 1;
        half.width = box.width - half.column;
        draw_panes(d, LEFT_PANES, count, half);
        return;
    }
    draw_panes(d, 0, count, box);
}

/* The first and the last line --------------------------------------------------------------- */

static const struct lks_doc *fleet_of(const struct lks_top_model *m)
{
    for (size_t i = 0; i < m->answer_count; i++) {
        if (strcmp(m->answers[i].path, "/v1/fleet") == 0 && m->answers[i].count > 0)
            return m->answers[i].pages[0].doc;
    }
    return NULL;
}

static unsigned put(const struct lks_top_draw *d, unsigned row, unsigned column, unsigned style,
                    const char *fmt, ...) LKS_PRINTF(5, 6);

static unsigned put(const struct lks_top_draw *d, unsigned row, unsigned column, unsigned style,
                    const char *fmt, ...)
{
    char text[4 * LKS_TOP_TEXT_MAX];
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    return lks_top_picture_put(d->p, row, column, d->p->width, style, lks_str_from(text));
}

static bool known(const char *text)
{
    return text != NULL && text[0] != '\0';
}

/* "context prod (https://ctl:7443)", where it fits, or the name alone. */
static void draw_origin(const struct lks_top_draw *d, unsigned from, unsigned to, unsigned style)
{
    const struct lks_top_model *m = d->m;
    enum { GAP = 2 };
    for (int with_server = 1; with_server >= 0; with_server--) {
        char text[4 * LKS_TOP_TEXT_MAX] = "";
        bool server = with_server && known(m->server), context = known(m->context);
        (void)snprintf(text, sizeof(text), "%s%s%s%s%s", context ? "context " : "",
                       context ? m->context : "", context && server ? " (" : "",
                       server ? m->server : "", context && server ? ")" : "");
        size_t columns = lks_term_columns(lks_str_from(text));
        if (columns > 0 && from + GAP + columns + 1 <= to) {
            (void)put(d, 0, to - (unsigned)columns - 1, style, "%s", text);
            return;
        }
    }
}

/* Whether lockstepd does not answer: a request failed, or waits for longer than it should. */
static bool is_quiet(const struct lks_top_draw *d)
{
    const struct lks_top_model *m = d->m;
    return m->lost || (m->patience > 0 && m->answered > 0 && d->now > m->answered + m->patience);
}

/* "fleet prod > pool train > node gpu007", and at the right whether lockstepd answers. */
static void draw_title(const struct lks_top_draw *d)
{
    const struct lks_top_model *m = d->m;
    char right[LKS_TOP_TEXT_MAX] = "", span[LKS_SPAN_TEXT_SIZE], name[LKS_TOP_TEXT_MAX] = "";
    unsigned style = LKS_TOP_REVERSE, column;
    lks_top_picture_fill(d->p, 0, 0, d->p->width, style);
    lks_top_rows_text("[{name}]", fleet_of(m), name, sizeof(name));
    column = put(d, 0, 1, style | LKS_TOP_STRONG, "lockstep  fleet %s", name);
    for (size_t i = 1; i < m->depth; i++) {
        const char *kind = lks_top_screens[m->places[i].kind].name;
        column = put(d, 0, column, style | LKS_TOP_STRONG, " > %s%s%s", kind,
                     kind[0] != '\0' ? " " : "", m->places[i].subject);
    }
    lks_top_rows_span(d->now > m->answered ? d->now - m->answered : 0, span);
    bool quiet = is_quiet(d);
    if (quiet && m->answered > 0)
        (void)snprintf(right, sizeof(right), " no answer since %s ", span);
    else if (quiet)
        (void)snprintf(right, sizeof(right), " no answer yet ");
    else
        lks_top_rows_text(" row {seq#} ", fleet_of(m), right, sizeof(right));
    size_t len = strlen(right);
    draw_origin(d, column, d->p->width - (len < d->p->width ? (unsigned)len : 0), style);
    if (len < d->p->width)
        (void)put(d, 0, d->p->width - (unsigned)len,
                  quiet ? style | LKS_TOP_STRONG | LKS_RED : style, "%s", right);
}

/* Nodes of the whole fleet by status, and what waits for a person. */
static void draw_fleet(const struct lks_top_draw *d, unsigned row)
{
    const struct lks_doc *fleet = fleet_of(d->m);
    char text[LKS_TOP_TEXT_MAX];
    enum { BAR_SHARE = 4, BAR_MOST = 60 };
    if (fleet == NULL)
        return;
    lks_top_rows_text("{nodes#node}", fleet, text, sizeof(text));
    unsigned column = put(d, row, 1, LKS_BOLD, "%s ", text);
    unsigned bar = d->p->width / BAR_SHARE < BAR_MOST ? d->p->width / BAR_SHARE : BAR_MOST;
    lks_top_pane_bar(d, lks_top_bar_liveness, fleet, row, column, bar);
    column += bar + 1;
    for (size_t i = 0; i < LKS_TOP_BAR_PARTS; i++) {
        uint64_t count = lks_render_number(fleet, lks_top_bar_liveness[i].path);
        if (count > 0)
            column = put(d, row, column + 1, lks_top_bar_liveness[i].colour, "%llu %s",
                         (unsigned long long)count, lks_top_bar_liveness[i].word);
    }
    lks_top_rows_text("[{alarms_open?}{alarms_open#alarm}]", fleet, text, sizeof(text));
    (void)put(d, row, column + 2, LKS_RED, "%s", text);
}

static void draw_keys(const struct lks_top_draw *d, unsigned row)
{
    static const struct {
        const char *key, *what;
    } keys[] = {
        {"Enter", "open"}, {"Esc", "back"},  {"Tab", "pane"}, {"/", "search"},
        {"p", "pause"},    {"r", "refresh"}, {"?", "help"},   {"q", "quit"},
    };
    const struct lks_top_place *place = lks_top_model_place(d->m);
    unsigned column = 1;
    if (place->search[0] != '\0')
        column = put(d, row, column, LKS_TOP_REVERSE, "/%s", place->search) + 2;
    for (size_t i = 0; i < LKS_COUNT(keys); i++) {
        column = put(d, row, column, LKS_TOP_STRONG, "%s", keys[i].key);
        column = put(d, row, column + 1, LKS_DIM, "%s", keys[i].what) + 2;
    }
}

static void put_cursor(const struct lks_top_draw *d, unsigned row, unsigned column)
{
    d->p->cursor = column < d->p->width;
    d->p->cursor_row = row;
    d->p->cursor_column = column;
}

static void draw_foot(const struct lks_top_draw *d, unsigned row)
{
    const struct lks_top_model *m = d->m;
    unsigned column;
    switch (m->mode) {
    case LKS_TOP_SEARCH:
        column = put(d, row, 1, LKS_TOP_STRONG, "/%s", lks_top_model_place(m)->search);
        put_cursor(d, row, column);
        (void)put(d, row, column + 3, LKS_DIM, "Enter keeps the filter, Esc clears it");
        break;
    case LKS_TOP_CONFIRM:
        column = put(d, row, 1, LKS_YELLOW, "Pause %s%s%s?", m->change_text,
                     known(m->context) ? ", in context " : "", known(m->context) ? m->context : "");
        column = put(d, row, column + 1, LKS_TOP_STRONG, "y, or any other key for no");
        (void)put(d, row, column + 2, LKS_DIM, "%s", known(m->server) ? m->server : "");
        break;
    case LKS_TOP_REASON:
        column = put(d, row, 1, LKS_YELLOW, "Reason, for the record: ");
        column = put(d, row, column, LKS_TOP_STRONG, "%s", m->input);
        put_cursor(d, row, column);
        if (m->message[0] != '\0')
            (void)put(d, row, column + 2, m->message_colour, "%s", m->message);
        break;
    case LKS_TOP_LOOK:
    case LKS_TOP_HELP:
        if (m->message[0] != '\0')
            (void)put(d, row, 1, m->message_colour, "%s", m->message);
        else
            draw_keys(d, row);
        break;
    }
}

/* Before the first answer there is nothing but the reason. */
static void draw_nothing(const struct lks_top_draw *d)
{
    if (!d->m->lost) {
        (void)put(d, 2, 1, LKS_DIM, "asking lockstepd ...");
        return;
    }
    (void)put(d, 2, 1, LKS_YELLOW, "lockstepd does not answer; trying again");
    struct lks_str rest = lks_str_from(d->m->why);
    for (unsigned row = 4; rest.len > 0 && row + 1 < d->p->height && d->p->width > 2; row++) {
        size_t len = lks_term_fit(rest, d->p->width - 2);
        len = len > 0 ? len : rest.len;
        (void)lks_top_picture_put(d->p, row, 1, d->p->width, LKS_PLAIN,
                                  (struct lks_str){rest.ptr, len});
        rest = (struct lks_str){rest.ptr + len, rest.len - len};
    }
}

void lks_top_layout_draw(struct lks_top_model *m, struct lks_top_picture *p, lks_ms now)
{
    const struct lks_top_draw d = {m, p, now};
    enum lks_top_kind kind = lks_top_model_place(m)->kind;
    enum { HEAD = 2, FOOT = 1 };
    if (p->height == 0 || p->width == 0)
        return;
    draw_title(&d);
    struct lks_top_box box = {HEAD, 0, p->width,
                              p->height > HEAD + FOOT ? p->height - HEAD - FOOT : 0};
    if (m->answered == 0) {
        draw_nothing(&d);
    } else if (kind == LKS_TOP_ROW) {
        lks_top_facts_members(&d, box);
    } else {
        if (kind == LKS_TOP_FLEET && p->height > 1)
            draw_fleet(&d, 1);
        if (kind != LKS_TOP_FLEET) {
            unsigned lines = lks_top_facts_draw(&d, box);
            lines += box.height > lines + HEAD ? 1 : 0;
            box.row += lines;
            box.height -= lines < box.height ? lines : box.height;
        }
        draw_body(&d, box);
    }
    if (p->height > 1)
        draw_foot(&d, p->height - 1);
    if (m->mode == LKS_TOP_HELP)
        lks_top_help_draw(&d);
}
