/* The rows and columns of a list that the options ask for: --selector, --sort-by, --limit,
 * --columns and --output wide. lockstepd filters and sorts by columns of a view; the rest is done
 * here, over all pages of the list. */
#ifndef LKS_CLI_LISTING_QUERY_H
#define LKS_CLI_LISTING_QUERY_H

#include "cli/shared/listing.h"
#include "cli/shared/selector.h"

#define LKS_LISTING_NAME_SIZE 64 /* of the name of a member that is a column */

struct lks_listing_query {
    struct lks_selector_of of;
    struct lks_selector selector;
    struct lks_str sort; /* the member that rows are sorted by here; empty: they stay in order */
    bool down;           /* the largest value comes first */
    char order[LKS_LISTING_NAME_SIZE]; /* what lockstepd sorts by */
    uint64_t limit;                    /* 0: all rows */
    bool wide;
    bool chosen; /* --columns names them: all are shown, also without a value */
    const struct lks_listing_column *columns;
    size_t column_count;
    struct lks_listing_column own[LKS_TABLE_COLUMNS_MAX]; /* `columns`, unless the listing's */
    char names[LKS_TABLE_COLUMNS_MAX][LKS_LISTING_NAME_SIZE];
};

/* Read the options. What lockstepd does is added to `path`, which may be NULL: then all is done
 * here. `out` must not move afterwards. */
enum lks_code lks_listing_query_read(const struct lks_cli *cli, const struct lks_args *args,
                                     const struct lks_listing *listing,
                                     struct lks_remote_path *path, struct lks_listing_query *out,
                                     struct lks_err *err) LKS_MUST_CHECK;

/* Whether pages are not enough to answer: all rows are needed at once. */
bool lks_listing_query_collects(const struct lks_listing_query *q);

/* Rows, in documents of the caller. */
struct lks_listing_items {
    const struct lks_doc **items;
    size_t count;
};

/* The rows of some lists that are wanted, sorted, and at most as many as the limit says. A list may
 * be NULL. The caller owes lks_listing_query_items_fini(). */
enum lks_code lks_listing_query_items(const struct lks_listing_query *q,
                                      const struct lks_doc *const *lists, size_t list_count,
                                      struct lks_listing_items *out,
                                      struct lks_err *err) LKS_MUST_CHECK;
void lks_listing_query_items_fini(struct lks_listing_items *items);

/* Add a column for each member of the rows that has a value and no column yet. */
void lks_listing_query_widen(struct lks_listing_query *q, const struct lks_listing_items *items);

#endif
