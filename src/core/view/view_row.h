/*
 * A row of a table of the state as JSON, and as the fields of a form, from the same columns. The
 * members of an answer, their description in OpenAPI and the filters of a list follow from them.
 */
#ifndef LKS_CORE_VIEW_ROW_H
#define LKS_CORE_VIEW_ROW_H

#include "codec/format/json.h"
#include "core/entity/entity.h"
#include "core/rows/now.h"
#include "model/schema/schema.h"

/* The row that is shown, and what computed members may need beside it. */
struct lks_view_of {
    const struct lks_state *s;
    const void *row;
    struct lks_now now;
};

/* A value that rows are sorted by: a text or a number; the other is empty or 0. */
struct lks_view_key {
    struct lks_str text;
    uint64_t number;
};

/* A member that is not a column. */
struct lks_view_computed {
    struct lks_field field;
    unsigned use;  /* enum lks_column_use */
    size_t before; /* the offset of the column that it stands before, or LKS_VIEW_END */
    /* Writes the member, or nothing. NULL: the function of a computed member above writes it. */
    void (*put)(struct lks_json_writer *w, const struct lks_view_of *of);
};

/* The value of a computed member with the use SORT: a text that stays as long as the state does, or
 * a number. */
struct lks_view_keyed {
    const char *member;
    struct lks_view_key (*key)(const struct lks_view_of *of);
};

#define LKS_VIEW_END SIZE_MAX

/* How rows of a table are shown. Computed members with one use are in the order of the columns that
 * they stand before. */
struct lks_view {
    const struct lks_entity *entity;
    const struct lks_view_computed *computed;
    size_t computed_count;
    const struct lks_view_keyed *keys; /* of computed members with the use SORT */
    size_t key_count;
};

/* The members of a row with one of the uses LISTED, SHOWN and LIVE, in that order. */
void lks_view_row_put(struct lks_json_writer *w, const struct lks_view *view, unsigned use,
                      const struct lks_view_of *of);

/* The same as an object of a list, for a view that needs no more than the row. */
void lks_view_row_item(struct lks_json_writer *w, const struct lks_view *view, unsigned use,
                       const struct lks_state *s, const void *row);

/* The field at `i` of those, or of those with the use FILTER or SORT. For `more` of a form:
 * `view` is a struct lks_view. */
bool lks_view_row_field(const void *view, unsigned use, size_t i, struct lks_field *out);

/* The keys of those fields: "name, rack, pool". */
void lks_view_row_names(const struct lks_view *view, unsigned use, struct lks_buf *out);

/* The column or the computed member of that field; the other is NULL. */
bool lks_view_row_at(const struct lks_view *view, unsigned use, size_t i,
                     const struct lks_column **column, const struct lks_view_computed **computed);

/* Whether the row shows the column: its gate is not 0. */
bool lks_view_row_open(const struct lks_column *c, const void *row);

/* What a member of an answer is called, and what it may hold. */
const char *lks_view_row_key(const struct lks_column *c);
struct lks_shape lks_view_row_shape(const struct lks_column *c);

#endif
