/*
 * A document of sections with facts and tables, filled once and written as Markdown for people or
 * as JSON for programs. Both say the same, since neither has words of its own.
 *
 * Names and reasons that others chose are data in both: in Markdown nothing of them is markup, ends
 * a cell or becomes a link.
 */
#ifndef LKS_CORE_DOCUMENT_H
#define LKS_CORE_DOCUMENT_H

#include "base/arena.h"
#include "base/time.h"
#include "codec/format/json.h"

#define LKS_DOCUMENT_BYTES_MAX ((size_t)64 << 20) /* of what is written, too */

enum lks_cell_kind {
    LKS_CELL_TEXT,
    LKS_CELL_CODE,  /* a text of ours that is copied as it is: a digest, a command */
    LKS_CELL_COUNT, /* a number */
    LKS_CELL_SPAN,  /* ms */
    LKS_CELL_TIME,  /* 0: none */
    LKS_CELL_TRUTH,
    LKS_CELL_BLANK, /* for a person to fill in: a line in Markdown, absent in JSON */
};

/* A value. An empty text is none: absent in JSON, a dash in Markdown. Texts are borrowed until the
 * document is written. */
struct lks_cell {
    enum lks_cell_kind kind;
    struct lks_str text;
    uint64_t number;
};

static inline struct lks_cell lks_cell_text(struct lks_str text)
{
    return (struct lks_cell){.kind = LKS_CELL_TEXT, .text = text};
}

static inline struct lks_cell lks_cell_code(struct lks_str text)
{
    return (struct lks_cell){.kind = LKS_CELL_CODE, .text = text};
}

static inline struct lks_cell lks_cell_count(uint64_t number)
{
    return (struct lks_cell){.kind = LKS_CELL_COUNT, .number = number};
}

static inline struct lks_cell lks_cell_span(lks_ms span)
{
    return (struct lks_cell){.kind = LKS_CELL_SPAN, .number = span};
}

static inline struct lks_cell lks_cell_time(lks_ms time)
{
    return (struct lks_cell){.kind = LKS_CELL_TIME, .number = time};
}

static inline struct lks_cell lks_cell_truth(bool truth)
{
    return (struct lks_cell){.kind = LKS_CELL_TRUTH, .number = truth};
}

static inline struct lks_cell lks_cell_blank(void)
{
    return (struct lks_cell){.kind = LKS_CELL_BLANK};
}

/* Of a table: its name for programs and for people. */
struct lks_document_column {
    const char *key, *header;
};

struct lks_document_row;
struct lks_document_part;
struct lks_document_section;

struct lks_document {
    struct lks_arena memory;
    struct lks_str title;
    struct lks_document_section *first, *last;
    enum lks_code failed; /* memory ran out; asked for once, at the end */
};

void lks_document_init(struct lks_document *p);
void lks_document_fini(struct lks_document *p);

/* Filling it. Keys and labels are literals; a fact, a table and its rows belong to the section, or
 * table, that was begun last. */
void lks_document_section(struct lks_document *p, const char *key, const char *title,
                          const char *about);
void lks_document_fact(struct lks_document *p, const char *key, const char *label,
                       struct lks_cell cell);
/* Text as a paragraph, for people to read before the rest. */
void lks_document_paragraph(struct lks_document *p, const char *key, struct lks_str text);
/* `empty` is what a table without rows says to people; NULL: they do not see it. */
void lks_document_table(struct lks_document *p, const char *key, const char *label,
                        const char *empty, const struct lks_document_column *columns, size_t count);
/* One cell for each column. */
void lks_document_row(struct lks_document *p, const struct lks_cell *cells);
/* A text that lives as long as the document; empty where there is no memory. */
struct lks_str lks_document_text(struct lks_document *p, const char *fmt, ...) LKS_PRINTF(2, 3);
struct lks_str lks_document_copy(struct lks_document *p, struct lks_str text);

enum lks_code lks_document_check(const struct lks_document *p, struct lks_err *err) LKS_MUST_CHECK;

/* Writing it. JSON: a member for each section, of an object that the caller began. */
void lks_document_markdown(const struct lks_document *p, struct lks_buf *out);
void lks_document_json(const struct lks_document *p, struct lks_json_writer *w);

/* Append `text` as Markdown that reads as itself. */
void lks_document_markdown_text(struct lks_buf *out, struct lks_str text);

#endif
