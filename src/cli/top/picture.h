/* A screen as a grid of characters, each with a style: what a terminal shows, as a value. Text is
 * cut at the edge, and what is not printable is shown as '?'. */
#ifndef LKS_CLI_TOP_PICTURE_H
#define LKS_CLI_TOP_PICTURE_H

#include "base/term/term.h"

/* A style is a colour of base/term/term.h and these. */
enum {
    LKS_TOP_COLOUR_MASK = 7,
    LKS_TOP_ACCENT = 8, /* titles */
    LKS_TOP_STRONG = 16,
    LKS_TOP_REVERSE = 32,
};

struct lks_top_cell {
    uint32_t at; /* in `text` */
    uint16_t len;
    uint8_t style;
    uint8_t columns; /* 1, 2, or 0 behind a wide character */
};

struct lks_top_picture {
    unsigned width, height;
    bool utf8; /* the terminal shows it; else other characters than ASCII are '?' */
    bool colour;
    bool cursor; /* the cursor is shown, at: */
    unsigned cursor_row, cursor_column;
    struct lks_buf text;
    struct lks_top_cell *cells; /* owned; by rows */
    uint32_t room;
};

void lks_top_picture_fini(struct lks_top_picture *p);

/* A blank one of this size. */
enum lks_code lks_top_picture_begin(struct lks_top_picture *p, unsigned width, unsigned height,
                                    struct lks_err *err) LKS_MUST_CHECK;

/* Write `text` from a column on, up to the column `end`, where it is cut with a mark; the column
 * behind it. */
unsigned lks_top_picture_put(struct lks_top_picture *p, unsigned row, unsigned column, unsigned end,
                             unsigned style, struct lks_str text);

/* Blanks in a style. */
void lks_top_picture_fill(struct lks_top_picture *p, unsigned row, unsigned column, unsigned end,
                          unsigned style);

/* The style of everything from a column to another changes. */
void lks_top_picture_restyle(struct lks_top_picture *p, unsigned row, unsigned column, unsigned end,
                             unsigned style);

/* The characters of a cell. */
struct lks_str lks_top_picture_at(const struct lks_top_picture *p, unsigned row, unsigned column,
                                  unsigned *style);

/* A row as text, without blanks at its end. */
void lks_top_picture_line(const struct lks_top_picture *p, unsigned row, struct lks_buf *out);

#endif
