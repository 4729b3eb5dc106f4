/*
 * The members of a JSON object that are fields of a struct, as a table: one row a member, which one
 * loop writes and another reads. Names of members are a format on disk or an interface, so each row
 * spells its name and a renamed field changes no byte.
 */
#ifndef LKS_CODEC_JSON_FIELDS_H
#define LKS_CODEC_JSON_FIELDS_H

#include "codec/format/json.h"

enum lks_json_field_kind {
    LKS_JSON_NUMBER, /* unsigned or an enum, of four or eight bytes */
    LKS_JSON_FLAG,   /* bool */
    LKS_JSON_CHARS,  /* an array of char, terminated */
    LKS_JSON_VIEW,   /* struct lks_str; written only */
    LKS_JSON_HASHES, /* an array of uint64_t and its count */
};

struct lks_json_field {
    const char *name;
    enum lks_json_field_kind kind;
    size_t at, size;
    uint64_t max;    /* NUMBER: what may be read at the most; 0: what a count may be, 65535 */
    size_t count_at; /* HASHES: where the count is, a size_t; 0: the array is always full */
    bool later;      /* was added to the format: where it is missing, a FLAG is true and the rest
                      * is empty */
};

/* The place of a field, for a row. */
#define LKS_JSON_AT(type, field)                                                                   \
    .at = offsetof(struct type, field), .size = sizeof(((struct type *)NULL)->field)

/* Add a member for each row to the object that `w` is in. */
void lks_json_fields_write(struct lks_json_writer *w, const struct lks_json_field *fields,
                           size_t count, const void *of);

/* Set the fields from the members of `map`; false where a member is missing, too large or of
 * another kind. Then some fields are set. A FLAG that is no truth value is false, and so is one
 * that is missing, unless it was added later. */
bool lks_json_fields_read(const struct lks_doc *map, const struct lks_json_field *fields,
                          size_t count, void *of);

#endif
