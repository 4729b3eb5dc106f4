/*
 * CSV as RFC 4180 has it, with three habits of our tables: lines that begin with '#' are comments,
 * blank lines mean nothing, and the first row that is neither names the columns. Fields are views
 * of the text; only a quoted field that contains a doubled quote is copied (into the arena).
 *
 * Rows end with LF or CRLF. The text is UTF-8 without zero bytes; a byte order mark before it, as
 * spreadsheets write one, is skipped. Blanks belong to their field. A row of one empty field has to
 * be written as "", and a first field that begins with '#' needs quotes.
 */
#ifndef LKS_CODEC_CSV_H
#define LKS_CODEC_CSV_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

#define LKS_CSV_COLUMNS_MAX 32
#define LKS_CSV_BYTES_MAX   ((size_t)4 << 20)

/* One pass over a text. */
struct lks_csv {
    struct lks_str rest;     /* not yet read; the text is the caller's */
    struct lks_arena *arena; /* the caller's */
    unsigned line;           /* of the row last returned, 1-based */
    unsigned next_line;
    size_t columns;
    struct lks_str names[LKS_CSV_COLUMNS_MAX];
    struct lks_str fields[LKS_CSV_COLUMNS_MAX]; /* of the row last returned */
};

/* Read up to and including the header row, whose names must all be different and not empty. `text`
 * must outlive `csv`. Messages begin "line N: ". */
enum lks_code lks_csv_open(struct lks_csv *csv, struct lks_str text, struct lks_arena *arena,
                           struct lks_err *err) LKS_MUST_CHECK;

/* The next row into `csv->fields`; `*more` is false at the end. A row with more or fewer fields
 * than the header is refused. After a failure `csv` is of no more use. */
enum lks_code lks_csv_next(struct lks_csv *csv, bool *more, struct lks_err *err) LKS_MUST_CHECK;

/* The number of the column called `name`, or -1. */
int lks_csv_column(const struct lks_csv *csv, const char *name);

#endif
