/* The members of the rows that a command lists, by which --columns and --sort-by name them, and the
 * rows that --selector asks for: "pool=train,liveness!=live". */
#ifndef LKS_CLI_SELECTOR_H
#define LKS_CLI_SELECTOR_H

#include "base/buf.h"
#include "codec/format/docs.h"
#include "core/view/view_row.h"

struct lks_listing_column;

/* Where the names of members come from: the columns of a view, or, without one, the members that
 * `json` of a command documents for the items of its lists. Headings of the table are names too. */
struct lks_selector_of {
    const struct lks_view *view;              /* or NULL */
    const char *json;                         /* "{items: [{id, state?}]}" */
    const char *const *lists;                 /* names of the lists, up to NULL; NULL: "items" */
    const struct lks_listing_column *columns; /* of the table; NULL: those of the view */
    size_t column_count;
};

/* The heading of a column of a view: the name of a row is headed by what the row is. */
const char *lks_selector_heading(const struct lks_view *view, const char *key);

/* The member that a person means: `name`, or what the table shows under that heading. A blank of a
 * heading can be typed as '_'. */
struct lks_str lks_selector_meant(const struct lks_selector_of *of, struct lks_str name);

/* The name of member `i`, from 0; false: there are no more. A name may occur twice if there are
 * several lists. */
bool lks_selector_member(const struct lks_selector_of *of, size_t i, struct lks_str *name);

/* The names: "id, state". */
void lks_selector_names(const struct lks_selector_of *of, struct lks_buf *out);

/* The column of the table that has that heading, and no member is called so; NULL: there is none.
 */
const struct lks_listing_column *lks_selector_column(const struct lks_selector_of *of,
                                                     struct lks_str name);

/* That rows have the member `name`, or one inside it ("members.done"), or the table a column with
 * that heading. `option` begins the message. */
enum lks_code lks_selector_check(const struct lks_selector_of *of, const char *option,
                                 struct lks_str name, struct lks_err *err) LKS_MUST_CHECK;

#define LKS_SELECTOR_TERMS_MAX 32

struct lks_selector {
    struct lks_selector_term {
        struct lks_str key, value; /* of the text that was read */
        bool differs;              /* key!=value */
        bool asked;                /* lockstepd applies it */
    } terms[LKS_SELECTOR_TERMS_MAX];
    size_t count;
};

/* Read `text`, which may be empty: every row. A value that the column of a view cannot have is an
 * error. */
enum lks_code lks_selector_parse(struct lks_str text, const struct lks_selector_of *of,
                                 struct lks_selector *out, struct lks_err *err) LKS_MUST_CHECK;

/* Whether all terms that lockstepd does not apply hold for a row. A value is compared as tables
 * show it, true and false also as JSON does; one item of a list is enough. An empty value is that
 * of a row without the member. */
bool lks_selector_wants(const struct lks_selector *s, const struct lks_doc *row);

#endif
