/*
 * Text tables that fit where they are shown.
 *
 * Columns are as wide as their content. Where that is too much for the terminal, columns that may
 * wrap give way, the widest first, and their cells continue on the next lines; where even that is
 * too much, each row becomes a list of "Header: value" lines. Nothing is ever cut off, no line ends
 * in blanks, and what is not printable text in a cell is shown as '?'.
 *
 * As with a buffer, the first failure stays and additions after it do nothing: a caller fills in
 * rows freely and learns from lks_table_print() whether all of them were there.
 */
#ifndef LKS_BASE_TABLE_H
#define LKS_BASE_TABLE_H

#include "base/arena.h"
#include "base/term/term.h"

#define LKS_TABLE_COLUMNS_MAX 40

enum {
    LKS_COLUMN_WRAP = 1,  /* may become narrower than its content */
    LKS_COLUMN_RIGHT = 2, /* numbers: aligned at the end */
};

struct lks_table_cell {
    struct lks_str text; /* owned by the table */
    enum lks_colour colour;
};

struct lks_table_column {
    struct lks_table_cell header;
    unsigned flags;
    size_t columns; /* of the widest text in it */
};

struct lks_table_row;

struct lks_table {
    struct lks_arena memory;
    struct lks_table_column columns[LKS_TABLE_COLUMNS_MAX];
    size_t column_count;
    struct lks_table_row *first; /* owned, as are the texts, by `memory` */
    struct lks_table_row *last;
    size_t filled; /* cells of the last row */
    struct lks_err failed;
};

/* At most `max_bytes` for all rows together. */
void lks_table_init(struct lks_table *t, size_t max_bytes);
void lks_table_fini(struct lks_table *t);

/* One more column; all of them come before the first cell. */
void lks_table_column(struct lks_table *t, const char *header, unsigned flags);

/* The next cell: rows fill from left to right, and a full one is followed by a new one. The text
 * is copied. */
void lks_table_cell(struct lks_table *t, enum lks_colour colour, struct lks_str text);
void lks_table_cellf(struct lks_table *t, enum lks_colour colour, const char *fmt, ...)
    LKS_PRINTF(3, 4);

/* Take a column out of a table whose rows are full. */
void lks_table_drop(struct lks_table *t, size_t column);

enum lks_code lks_table_print(const struct lks_table *t, FILE *out, const struct lks_term *term,
                              struct lks_err *err) LKS_MUST_CHECK;

#endif
