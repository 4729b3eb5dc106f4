/*
 * A page of a list that is sorted by a column: the first rows behind the place where the page
 * before ended. That place is the value and the position of a row, not the row itself, so a page
 * starts where it should even if that row changed or left since.
 */
#ifndef LKS_CORE_VIEW_SORT_H
#define LKS_CORE_VIEW_SORT_H

#include "core/view/view_row.h"

/* The column or the computed member that a list is sorted by; the other is NULL. */
struct lks_view_sort {
    const struct lks_column *column;
    const struct lks_view_keyed *keyed;
    struct lks_str asked; /* "rack" or "-rack", of the caller */
    bool text;            /* keys are texts */
    bool down;            /* the largest value comes first */
};

/* "rack" or "-rack"; false: rows of the view cannot be sorted by it. */
bool lks_view_sort_by(const struct lks_view *view, struct lks_str text, struct lks_view_sort *out);

/* The key of a row: empty or 0 if the row does not have it. */
struct lks_view_key lks_view_sort_key(const struct lks_view_sort *sort,
                                      const struct lks_view_of *of);

/* The end of a page as a text, such as "sort=-rack 3 r12 gpu007": the sort, the length of the
 * value, the value, the position. */
#define LKS_VIEW_CURSOR "sort="
void lks_view_sort_put_cursor(const struct lks_view_sort *sort, const struct lks_view_key *key,
                              struct lks_str position, struct lks_buf *out);
/* False: it is none of a list that is sorted so. `key` and `position` are views of `text`. */
bool lks_view_sort_read_cursor(const struct lks_view_sort *sort, struct lks_str text,
                               struct lks_view_key *key, struct lks_str *position);

struct lks_view_item {
    struct lks_view_key key;      /* by which it is sorted */
    struct lks_view_key position; /* in the list without `sort`: orders rows with equal keys */
    uint32_t place;               /* of the row, for the caller */
};

struct lks_view_page {
    struct lks_view_sort sort;
    bool newest; /* positions fall */
    bool behind; /* only rows behind `after` */
    bool more;   /* there are rows behind those of the page */
    struct lks_view_item after;
    struct lks_view_item *items; /* `room` of them, of the caller; a heap until it is ended */
    size_t count, room;
};

/* One more row: it is kept if it is among the first `room` so far. */
void lks_view_sort_add(struct lks_view_page *page, const struct lks_view_item *item);

/* Put the items in their order, after the last was added. */
void lks_view_sort_end(struct lks_view_page *page);

#endif
