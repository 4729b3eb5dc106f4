/* The words with which the manifests' tables are written. Only for the files that define a kind of
 * manifest, or what requests and answers of the API hold. */
#ifndef LKS_MODEL_TABLES_H
#define LKS_MODEL_TABLES_H

#include "model/schema/schema.h"

#define LKS_SCHEMA_VERSION 1

/* Each is an initialiser; an inner one is variadic since its braces hold commas. */
#define LKS_OF(t)                                                                                  \
    {                                                                                              \
        .type = LKS_TYPE_##t                                                                       \
    }
#define LKS_NUMBERS(lo, hi)                                                                        \
    {                                                                                              \
        .type = LKS_TYPE_NUMBER, .min = (lo), .max = (hi)                                          \
    }
#define LKS_ONE_OF(...)                                                                            \
    {                                                                                              \
        .type = LKS_TYPE_CHOICE, .values = LKS_WORDS(__VA_ARGS__)                                  \
    }
/* Of the words of an array; the first of them cannot be in a list. */
#define LKS_ONE_OR_MORE_OF(words)                                                                  \
    {                                                                                              \
        .type = LKS_TYPE_SEVERAL, .values = (words), .min = 1                                      \
    }
#define LKS_FORM(r)                                                                                \
    {                                                                                              \
        .type = LKS_TYPE_FORM, .form = &(r)                                                        \
    }
#define LKS_LIST(...)                                                                              \
    {                                                                                              \
        .type = LKS_TYPE_LIST, .of = &(const struct lks_shape)__VA_ARGS__                          \
    }
#define LKS_LIST_FROM_TO(lo, hi, ...)                                                              \
    {                                                                                              \
        .type = LKS_TYPE_LIST, .of = &(const struct lks_shape)__VA_ARGS__, .min = (lo),            \
        .max = (hi)                                                                                \
    }
#define LKS_DICT(key_type, most, ...)                                                              \
    {                                                                                              \
        .type = LKS_TYPE_DICT, .keys = LKS_TYPE_##key_type,                                        \
        .of = &(const struct lks_shape)__VA_ARGS__, .max = (most)                                  \
    }
#define LKS_HEX(lo, hi)                                                                            \
    {                                                                                              \
        .type = LKS_TYPE_HEX, .min = (lo), .max = (hi)                                             \
    }

/* The slot of member `m` of struct `s`. A type takes no parentheses. */
/* NOLINTBEGIN(bugprone-macro-parentheses) */
#define LKS_SLOT(s, m)                                                                             \
    .kind = _Generic(((struct s *)0)->m, struct lks_str                                            \
                     : LKS_SLOT_TEXT, bool                                                         \
                     : LKS_SLOT_TRUTH, int                                                         \
                     : LKS_SLOT_WORD, uint64_t                                                     \
                     : LKS_SLOT_NUMBER, struct lks_items                                           \
                     : LKS_SLOT_ITEMS),                                                            \
    .at = offsetof(struct s, m)
/* NOLINTEND(bugprone-macro-parentheses) */

#define LKS_REQUIRED LKS_FIELD_REQUIRED
#define LKS_NOTE     LKS_FIELD_NOTE
#define LKS_SET      LKS_FIELD_SET
#define LKS_PRESENCE LKS_FIELD_PRESENCE

/* What every manifest begins with. */
#define LKS_ENVELOPE(kind)                                                                         \
    {"lockstep", LKS_NUMBERS(LKS_SCHEMA_VERSION, LKS_SCHEMA_VERSION), LKS_REQUIRED | LKS_NOTE,     \
     NULL, "version of the manifest format"},                                                      \
        {"kind", LKS_ONE_OF(kind), LKS_REQUIRED | LKS_NOTE, NULL, "what this document describes"}, \
        {"name", LKS_OF(NAME), LKS_REQUIRED | LKS_NOTE, NULL, "how it is called"},                 \
    {                                                                                              \
        "description", LKS_OF(TEXT), LKS_NOTE, NULL, "a sentence for people"                       \
    }

/* A form's table and its length, which must not drift apart. */
#define LKS_FIELDS(array) .fields = (array), .count = LKS_COUNT(array)

#define LKS_VENDORS LKS_ONE_OF("nvidia", "amd")

#endif
