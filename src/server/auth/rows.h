/*
 * Pages of lists of rows of the state, in the order of the list or of a column. Without `sort`,
 * `next` is the position of the last row that was looked at: the name of a node, the first column
 * of a table that is ordered by it, or else a number. With `sort`, it is the sort, the value and
 * the position of the last item.
 */
#ifndef LKS_SERVER_ROWS_H
#define LKS_SERVER_ROWS_H

#include "core/view/view_sort.h"
#include "server/auth/authz.h"

/* What a list looks at while a request asks for a page of it. */
struct lks_rows_walk {
    struct lks_authz *authz;
    struct lks_call *call;
    struct lks_authz_view sight;
    void *own;     /* `own` bytes of the list, zero at first */
    uint64_t work; /* units spent so far, of the list's choice */
};

/* A list. The struct that its query decodes into starts with a struct lks_ask_page. */
struct lks_rows {
    const struct lks_view *view;
    /* Read the query into `own`. False: the answer is written. NULL: nothing to read. */
    bool (*begin)(struct lks_rows_walk *walk);
    void (*end)(void *own); /* NULL: nothing to free */
    size_t own;
    /* Whether the caller sees the row, which is asked before filters are. NULL: `shows` decides. */
    bool (*sees)(struct lks_rows_walk *walk, const void *row);
    /* Whether the caller sees the row and the query asks for it. NULL: every row. */
    bool (*shows)(struct lks_rows_walk *walk, const void *row);
    /* Units of work that an item of the answer takes. NULL: none. */
    uint64_t (*weight)(const struct lks_state *s);
    uint64_t work_max; /* units for one request, or for one slice of it; 0: no limit */
};

/* Answer with a page. A list of nodes that is sorted may take several calls. */
void lks_rows_page(struct lks_authz *authz, struct lks_call *call, const struct lks_rows *rows);

#endif
