/* The view of `top` drawn into a picture: which pane gets which lines, and what is in them. */
#ifndef LKS_CLI_TOP_LAYOUT_H
#define LKS_CLI_TOP_LAYOUT_H

#include "cli/top/model.h"
#include "cli/top/picture.h"

/* Draw into a picture that has begun. Scroll positions and the size of the focused pane are
 * recorded in the model. */
void lks_top_layout_draw(struct lks_top_model *m, struct lks_top_picture *p, lks_ms now);

/* The lines of each of `count` panes in `height` lines, from their numbers of rows: a title each,
 * and rows for the pane with the focus first. */
void lks_top_layout_share(const size_t *rows, size_t count, size_t focus, size_t height,
                          size_t *lines);

#endif
