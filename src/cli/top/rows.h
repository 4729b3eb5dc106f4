/* Answers as rows of panes, and their text. */
#ifndef LKS_CLI_TOP_ROWS_H
#define LKS_CLI_TOP_ROWS_H

#include "cli/top/model.h"

/* The text of a form over `doc`, cut to `size`, with nothing in it that can drive a terminal. */
void lks_top_rows_text(const char *form, const struct lks_doc *doc, char *out, size_t size);

/* The path of a request about `subject`. */
void lks_top_rows_path(const char *form, const char *subject, const struct lks_doc *row, char *out,
                       size_t size);

/* The rows of `pane` in an answer (NULL: there is none) that match `search`. */
void lks_top_rows_find(const struct lks_top_pane *pane, const struct lks_top_answer *answer,
                       const char *search, struct lks_top_rows *out);
void lks_top_rows_fini(struct lks_top_rows *rows);

/* "12 s", "45 min", "30 h", "9 d". */
void lks_top_rows_span(lks_ms span, char out[LKS_SPAN_TEXT_SIZE]);

/* The cell of a column as text; `now` is for spans. Bars have none. */
void lks_top_rows_cell(const struct lks_top_column *column, const struct lks_doc *doc, lks_ms now,
                       char *out, size_t size);

#endif
