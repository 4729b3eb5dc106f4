/* The keys, in a box over the screen. */
#include "cli/top/layout_parts.h"

#include <string.h>

enum { WIDTH = 78, KEY = 24 };

static const struct {
    const char *key, *what;
} keys[] = {
    {"Up Down, j k", "another row; beyond the end the next pane"},
    {"PgUp PgDn, Space", "a page"},
    {"Home End, g G", "the first or the last row"},
    {"Tab, Shift-Tab, 1 to 6", "another pane"},
    {"Enter, Right, l", "open a pool, change, node or row"},
    {"Esc, Backspace, Left, h", "back, or clear the search"},
    {"/", "show rows with a text; Enter opens a node by name"},
    {"s", "nodes by status or by name"},
    {"p", "pause a change: asks first, and for a reason"},
    {"r", "refresh now"},
    {"q, Ctrl-C", "quit"},
};

void lks_top_help_draw(const struct lks_top_draw *d)
{
    struct lks_top_picture *p = d->p;
    unsigned width = p->width < WIDTH ? p->width : WIDTH, height = LKS_COUNT(keys) + 4;
    unsigned column = (p->width - width) / 2,
             row = p->height > height ? (p->height - height) / 2 : 0;
    unsigned end = column + width;
    for (unsigned i = 0; i < height; i++)
        lks_top_picture_fill(p, row + i, column, end, i == 0 ? LKS_TOP_REVERSE : LKS_PLAIN);
    (void)lks_top_picture_put(p, row, column + 2, end, LKS_TOP_REVERSE | LKS_TOP_STRONG,
                              LKS_STR("lockstep top: keys"));
    for (unsigned i = 0; i < LKS_COUNT(keys); i++) {
        unsigned at = row + 2 + i;
        (void)lks_top_picture_put(p, at, column + 2, column + 2 + KEY, LKS_TOP_STRONG,
                                  lks_str_from(keys[i].key));
        (void)lks_top_picture_put(p, at, column + 3 + KEY, end, LKS_PLAIN,
                                  lks_str_from(keys[i].what));
    }
    lks_top_picture_fill(p, row + height - 1, column, end, LKS_TOP_REVERSE);
    (void)lks_top_picture_put(p, row + height - 1, column + 2, end, LKS_TOP_REVERSE,
                              LKS_STR("any key closes this"));
}
