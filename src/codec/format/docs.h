/*
 * A document: what YAML and JSON both say, as one tree.
 *
 * Scalars are text, truth, whole numbers or null; there are no fractions (a version such as 12.10
 * must not become 12.1) but for a form to refuse them. Every value remembers where it was, so that
 * an error can point at it: lks_doc_fail() starts its message with "file:line:column: path: ".
 */
#ifndef LKS_CODEC_DOCS_H
#define LKS_CODEC_DOCS_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

#include <stdint.h>

#define LKS_DOC_DEPTH_MAX  32
#define LKS_DOC_NUMBER_MAX ((INT64_C(1) << 53) - 1) /* beyond it JSON readers disagree */

enum lks_doc_kind {
    LKS_DOC_NULL,
    LKS_DOC_BOOL,
    LKS_DOC_NUMBER,
    LKS_DOC_TEXT,
    LKS_DOC_LIST,
    LKS_DOC_MAP,
};

/* A value. All of it, and what it points to, lives in the set's arena. */
struct lks_doc {
    enum lks_doc_kind kind;
    bool truth;          /* BOOL */
    bool quoted;         /* TEXT: stood in quotes, or came from JSON */
    bool fraction;       /* NUMBER: it has a fraction or an exponent, and `text` says it */
    int64_t number;      /* NUMBER */
    struct lks_str text; /* TEXT, and such a number */
    struct lks_str key;  /* when its parent is a map */
    uint32_t line;       /* 1-based; 0 where the format does not tell (JSON) */
    uint32_t column;     /* 1-based */
    size_t count;        /* LIST, MAP: how many children */
    struct lks_doc *first;
    struct lks_doc *last;
    struct lks_doc *next;
    struct lks_doc *parent; /* NULL at the top of a document */
};

/* What is wrong with a file, in the order in which it was found. */
#define LKS_DOC_FAULTS_MAX 50
struct lks_doc_fault {
    struct lks_err err;
    uint32_t line, column; /* 0: it has no place */
};
struct lks_doc_faults {
    struct lks_doc_fault list[LKS_DOC_FAULTS_MAX];
    size_t count;
    size_t more;               /* that did not fit */
    struct lks_doc_fault last; /* the place of the last failure, noted or not */
};

/* All documents of one file, in order. */
struct lks_docs {
    struct lks_arena arena; /* owns everything below */
    struct lks_str source;  /* how messages call the file */
    struct lks_doc *first;
    struct lks_doc *last;
    size_t count;
    bool kept;      /* it was accepted before, by the rules of its time */
    bool large;     /* lks_docs_large() was called */
    bool fractions; /* all numbers of JSON are read, and lks_schema_check() refuses those that are
                       not whole: it knows what is expected in their place */
    struct lks_doc_faults *faults; /* where failures are noted; NULL: the first one ends it */
};

#define LKS_DOC_BYTES_MAX  ((size_t)8 << 20)
#define LKS_DOC_MEMORY_MAX ((size_t)256 << 20)

/* For documents of our own making, such as an answer that is shown in another format. */
#define LKS_DOC_LARGE_BYTES_MAX  ((size_t)1 << 30)
#define LKS_DOC_LARGE_MEMORY_MAX ((size_t)16 << 30)

/* `source` is copied. */
enum lks_code lks_docs_init(struct lks_docs *docs, const char *source,
                            struct lks_err *err) LKS_MUST_CHECK;
void lks_docs_fini(struct lks_docs *docs);

/* Raise the limits of an empty set to those of documents of our own making. */
void lks_docs_large(struct lks_docs *docs);

/* Add an empty value of `kind` at the end of `parent`'s children, or as a new document where
 * `parent` is NULL; NULL when the arena is full. */
struct lks_doc *lks_doc_add(struct lks_docs *docs, struct lks_doc *parent, enum lks_doc_kind kind);

/* The same, as text; `text` is copied. */
struct lks_doc *lks_doc_add_text(struct lks_docs *docs, struct lks_doc *parent,
                                 struct lks_str text);

/* The `map->count` members of a map in `order`, which is for qsort(); NULL: there is no memory. The
 * caller owes lks_doc_sorted_free(). */
const struct lks_doc **lks_doc_sorted(const struct lks_doc *map,
                                      int (*order)(const void *, const void *)) LKS_MUST_CHECK;
void lks_doc_sorted_free(const struct lks_doc ***sorted);

/* The member of a map, or NULL; also when `map` is NULL or no map. */
const struct lks_doc *lks_doc_find(const struct lks_doc *map, struct lks_str key);
const struct lks_doc *lks_doc_member(const struct lks_doc *map, const char *key);

/* Whether a list has this text. False where `list` is NULL or no list. */
bool lks_doc_has(const struct lks_doc *list, struct lks_str text);

/* The text of a map's member, or an empty view where it is missing or not text. */
struct lks_str lks_doc_text(const struct lks_doc *map, const char *key);

/* No two members of `map` may share a key. */
enum lks_code lks_doc_check_keys(const struct lks_docs *docs, const struct lks_doc *map,
                                 struct lks_err *err) LKS_MUST_CHECK;

const char *lks_doc_kind_name(enum lks_doc_kind kind);

/* INVALID, with the place of `at` in front of the message. */
enum lks_code lks_doc_fail(const struct lks_docs *docs, const struct lks_doc *at,
                           struct lks_err *err, const char *fmt, ...) LKS_MUST_CHECK
    LKS_PRINTF(4, 5);

/* Whether reading goes on behind the failure in `err`: it is of the file, and `docs` notes those.
 * Then it is noted, and `err` is empty again: the caller takes care that what follows from the
 * failure is not another one. */
bool lks_doc_goes_on(const struct lks_docs *docs, struct lks_err *err);

/* Whether a failure was noted; and all of them by their places. */
bool lks_doc_is_faulty(const struct lks_docs *docs);
void lks_doc_sort_faults(struct lks_doc_faults *faults);

/* The same for a rule about what is good, as opposed to what can be read: it is for what is new. OK
 * for what was kept. */
#define LKS_DOC_RULE(docs, at, err, ...)                                                           \
    ((docs)->kept ? LKS_OK : lks_doc_fail((docs), (at), (err), __VA_ARGS__))

#endif
