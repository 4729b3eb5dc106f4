/* What the stream we print to can do: is a person watching, in colour, and how wide is it? Asked
 * once by a program, then passed down as a value, so that tests can invent any terminal. */
#ifndef LKS_BASE_TERM_H
#define LKS_BASE_TERM_H

#include "base/buf.h"

#include <stdio.h>

struct lks_term {
    bool tty;
    bool colour;
    bool cursor;     /* can be told where to write, and to erase */
    unsigned width;  /* columns; 0 is without limit */
    unsigned height; /* lines; 0 is not known */
};

enum lks_colour { LKS_PLAIN, LKS_GREEN, LKS_YELLOW, LKS_RED, LKS_BOLD, LKS_DIM, LKS_COLOUR_COUNT };

/* A terminal is as wide as it says, else as $COLUMNS says, else 80; a file or a pipe has no limit
 * and no colour, since a program may read it. $NO_COLOR and TERM=dumb also end colour. */
void lks_term_of(FILE *stream, struct lks_term *out);

/* What to print before and after a text in `colour`; "" where the terminal is to show none. */
const char *lks_term_on(const struct lks_term *term, enum lks_colour colour);
const char *lks_term_off(const struct lks_term *term, enum lks_colour colour);

/* The columns that UTF-8 text takes: combining marks and control characters none, East Asian wide
 * characters two, a byte that is not UTF-8 one. */
size_t lks_term_columns(struct lks_str s);

/* How many bytes from the start of `s` fit into `columns`, never splitting a character. */
size_t lks_term_fit(struct lks_str s, size_t columns);

/* Append `s` with a '?' for everything that is not printable text, so that data cannot drive the
 * terminal. */
void lks_term_clean(struct lks_buf *out, struct lks_str s);

/* The width of text for people, such as help, where the terminal does not limit it further. */
#define LKS_TERM_TEXT_COLUMNS 80

/* Print `text` to column `columns` at the most, broken between words; a line feed ends it.
 * The first line starts where the cursor is, at column `at`, the others at column `indent`. A word
 * that is longer than a line has a line of its own. */
void lks_term_flow(FILE *out, struct lks_str text, size_t at, size_t indent, size_t columns);

#endif
