/* What the parts of the layout share. */
#ifndef LKS_CLI_TOP_LAYOUT_PARTS_H
#define LKS_CLI_TOP_LAYOUT_PARTS_H

#include "cli/top/bars.h"
#include "cli/top/model.h"
#include "cli/top/picture.h"

/* What is drawn, where to, and when. */
struct lks_top_draw {
    struct lks_top_model *m;
    struct lks_top_picture *p;
    lks_ms now;
};

/* Lines and columns of the screen that a part of it has. */
struct lks_top_box {
    unsigned row, column, width, height;
};

/* A bar of `width` columns. */
void lks_top_pane_bar(const struct lks_top_draw *d, const struct lks_top_bar_part *parts,
                      const struct lks_doc *doc, unsigned row, unsigned column, unsigned width);

/* The pane `i` of the current place: its title and its rows. */
void lks_top_pane_draw(const struct lks_top_draw *d, size_t i, struct lks_top_box box);

/* The facts of the current place; the lines that they took. */
unsigned lks_top_facts_draw(const struct lks_top_draw *d, struct lks_top_box box);

/* All members of the row that was opened. */
void lks_top_facts_members(const struct lks_top_draw *d, struct lks_top_box box);

/* The keys, over everything else. */
void lks_top_help_draw(const struct lks_top_draw *d);

#endif
