/*
 * The shape of a manifest as data.
 *
 * One table of fields drives everything that must agree about a kind of manifest: what is accepted
 * (lks_schema_check), what the digest covers (lks_schema_identity) and the JSON Schema in docs/
 * (lks_schema_json). A field added to a table is at once checked, hashed and documented.
 */
#ifndef LKS_MODEL_SCHEMA_H
#define LKS_MODEL_SCHEMA_H

#include "base/buf.h"
#include "codec/format/docs.h"
#include "codec/format/json.h"

enum lks_type {
    LKS_TYPE_TEXT,      /* one line, not empty */
    LKS_TYPE_NAME,      /* lower-case letters, digits, '.', '-' and '_': how things are called */
    LKS_TYPE_COMPONENT, /* a name, or firmware/NAME: how a pinned thing is referred to */
    LKS_TYPE_VERSION,   /* quoted, without blanks */
    LKS_TYPE_RANGE,     /* quoted: ">=580.95.05 <581" */
    LKS_TYPE_DATE,      /* quoted: "2026-11-15" */
    LKS_TYPE_TIME,      /* a moment: "2026-11-15T03:37:00Z" */
    LKS_TYPE_SHA256,    /* "sha256:" and 64 hexadecimal digits */
    LKS_TYPE_HEX,       /* min to max hexadecimal digits, an even number of them */
    LKS_TYPE_HOSTS,     /* a host list */
    LKS_TYPE_URL,       /* https:// and no credentials within; may hold {host} */
    LKS_TYPE_SECRET,    /* a reference, file:PATH or exec:PROGRAM, never the thing itself */
    LKS_TYPE_BOOL,
    LKS_TYPE_NUMBER,  /* from min to max */
    LKS_TYPE_CHOICE,  /* one of `values` */
    LKS_TYPE_SEVERAL, /* the same, or a list of those from `min` on, each once */
    LKS_TYPE_SCALAR,  /* text, a number or true/false as the device has it */
    LKS_TYPE_LIST,    /* of `of` */
    LKS_TYPE_FORM,    /* a map with the fields of `form` */
    LKS_TYPE_DICT,    /* a map from `keys`, of the writer's choice, to `of` */
    LKS_TYPE_LINES,   /* text of one or more lines, up to max bytes: a certificate, say */
    LKS_TYPE_ANY,     /* a value of any kind and shape */
    LKS_TYPE_SORT,    /* the key of a field of `form`, or '-' and the key */
};

/* The member that a value of a request decodes into; its C type says which of these it is. */
enum lks_slot_kind {
    LKS_SLOT_NONE,   /* the value is checked and not kept */
    LKS_SLOT_TEXT,   /* struct lks_str; a list of texts is joined with blanks, as records have it */
    LKS_SLOT_TRUTH,  /* bool; absent: false */
    LKS_SLOT_WORD,   /* int: the place of a choice among its words, or 0 or 1; absent: -1 */
    LKS_SLOT_NUMBER, /* uint64_t: a number, or a moment in milliseconds; absent: `absent` */
    LKS_SLOT_ITEMS,  /* struct lks_items: a list of forms */
};

struct lks_slot {
    enum lks_slot_kind kind;
    size_t at; /* in the struct of its form */
    uint64_t absent;
};

/* A list of forms, decoded: an array of the structs that their form decodes into. */
struct lks_items {
    const void *items;
    size_t count;
};

struct lks_form;

struct lks_shape {
    enum lks_type type;
    const char *const *values; /* CHOICE: ends with NULL */
    int64_t min, max;   /* NUMBER, inclusive; HEX, LIST and DICT: how many; TEXT: bytes, or 0 */
    enum lks_type keys; /* DICT: NAME, COMPONENT or TEXT */
    const struct lks_shape *of;  /* LIST, DICT */
    const struct lks_form *form; /* FORM, SORT */
    struct lks_slot to;          /* of a field of a request */
};

enum lks_field_flag {
    LKS_FIELD_REQUIRED = 1 << 0,
    LKS_FIELD_NOTE = 1 << 1, /* says something about the thing and is no part of it: not hashed */
    LKS_FIELD_SET = 1 << 2,  /* a list whose order means nothing: hashed sorted */
    LKS_FIELD_PRESENCE = 1 << 3, /* hashed as true: that it is there matters, its words do not */
};

struct lks_field {
    const char *key;
    struct lks_shape shape;
    unsigned flags;
    const char *fallback; /* what absence means (text, or "true"/"false"); never hashed. It may not
                             change, since digests of old manifests hang on it. */
    const char *about;
};

struct lks_form {
    const char *name;
    const char *about;
    const struct lks_field *fields;
    size_t count;
    const char *into; /* a request: the struct that it decodes into, "lks_ask_reason" */
    size_t size;      /* and that struct's size */
    /* Fields behind these that follow from another table: writes the one at `i`; false: there is
     * none. NULL: no others follow. `of` and `use` are passed on to it. */
    bool (*more)(const void *of, unsigned use, size_t i, struct lks_field *out);
    const void *of;
    unsigned use;
};

/* The field at `i`, from 0; false: the form has no more. */
bool lks_schema_at(const struct lks_form *form, size_t i, struct lks_field *out);

/* Check `doc` against `form`: keys known, required ones there, every value of its type. OK also if
 * `docs` notes failures and did: lks_doc_is_faulty(). */
enum lks_code lks_schema_check(const struct lks_docs *docs, const struct lks_doc *doc,
                               const struct lks_form *form, struct lks_err *err) LKS_MUST_CHECK;

/* Check `doc`, which is of `docs`, and decode it into the struct of its form: schema_decode.c. The
 * struct lives in the documents' arena, and its texts are views of them; NULL for a form without
 * one. */
enum lks_code lks_schema_decode(struct lks_docs *docs, const struct lks_doc *doc,
                                const struct lks_form *form, const void **out,
                                struct lks_err *err) LKS_MUST_CHECK;

/* Append the canonical JSON of what `doc`, checked before, is: without notes, without fields that
 * say what their absence says, sets sorted and each element once. Two manifests that mean the same
 * give the same bytes. */
enum lks_code lks_schema_identity(const struct lks_doc *doc, const struct lks_form *form,
                                  struct lks_buf *out, struct lks_err *err) LKS_MUST_CHECK;

/* Whether two values of `field`, either of which may be NULL for absent, mean the same. */
enum lks_code lks_schema_same(const struct lks_field *field, const struct lks_doc *a,
                              const struct lks_doc *b, bool *out,
                              struct lks_err *err) LKS_MUST_CHECK;

/* The JSON Schema (2020-12) of `form`, which is the top of a manifest. */
void lks_schema_json(const struct lks_form *form, struct lks_buf *out);

/* The schema of one value, as the member `key` of the object being written. */
void lks_schema_shape_json(struct lks_json_writer *w, const char *key,
                           const struct lks_shape *shape);

/* What a value looks like, for people: "list of: name (1 to 16)". Literal text has `quote` around
 * it, which may be empty. schema_shape.c */
void lks_schema_shape_words(const struct lks_shape *shape, const char *quote, struct lks_buf *out);

/* Whether `s` is a name: see LKS_TYPE_NAME. */
bool lks_schema_is_name(struct lks_str s);

/* The key in a value of LKS_TYPE_SORT, which may have a '-' in front. */
struct lks_str lks_schema_sort_key(struct lks_str text);

/* The field of `form` called `key`; false: it has none. */
bool lks_schema_field(const struct lks_form *form, struct lks_str key, struct lks_field *out);

/* The text of a member of `map`, a map of `form`, or what its absence means (empty when nothing).
 */
struct lks_str lks_schema_text(const struct lks_doc *map, const struct lks_form *form,
                               const char *key);
bool lks_schema_truth(const struct lks_doc *map, const struct lks_form *form, const char *key);

#endif
