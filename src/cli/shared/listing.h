/* What lockstepd answered, for people and for programs: lists as tables, things as their members.
 */
#ifndef LKS_CLI_LISTING_H
#define LKS_CLI_LISTING_H

#include "base/term/table.h"
#include "cli/shared/remote.h"

struct lks_view;

struct lks_listing_column {
    const char *header;
    const char *key; /* a path in an item, or a form of render.h; "*": all that no column shows */
    unsigned flags;  /* LKS_COLUMN_* */
    const char *colour; /* a form; NULL: by the word, as moods are */
};

/* A column by how its cells stand: at the left, at the right, or broken over several lines. */
#define LKS_LEFT(header, key)                                                                      \
    {                                                                                              \
        header, key, 0, NULL                                                                       \
    }
#define LKS_RIGHT(header, key)                                                                     \
    {                                                                                              \
        header, key, LKS_COLUMN_RIGHT, NULL                                                        \
    }
#define LKS_WRAP(header, key)                                                                      \
    {                                                                                              \
        header, key, LKS_COLUMN_WRAP, NULL                                                         \
    }

/* Columns that are only in the colour they name: most in none. */
#define LKS_PLAIN_LEFT(header, key)                                                                \
    {                                                                                              \
        header, key, 0, ""                                                                         \
    }
#define LKS_PLAIN_RIGHT(header, key)                                                               \
    {                                                                                              \
        header, key, LKS_COLUMN_RIGHT, ""                                                          \
    }
#define LKS_PLAIN_WRAP(header, key)                                                                \
    {                                                                                              \
        header, key, LKS_COLUMN_WRAP, ""                                                           \
    }

/* A list that lockstepd has: where it is, and how people see it. */
struct lks_listing {
    const char *path; /* "/v1/changes" */
    const char *part; /* "history": the list of the command's argument; NULL: a list of all */
    const struct lks_listing_column *columns;
    size_t column_count;
    const char *const *filters;  /* for lks_remote_path_options() */
    bool open_only;              /* unless --all is given */
    const char *const *members;  /* the answer is one page, and its lists are these members, up to
                                    NULL; without them the list comes in pages */
    uint64_t limit;              /* without --limit; 0: all */
    const char *cursor;          /* how the next page is asked for; NULL: "after" */
    const char *empty;           /* what to say where there is nothing, or NULL */
    const struct lks_view *view; /* of the rows: for --columns, --sort-by, filters; NULL: none */
    const char *shown;      /* instead of `columns`: members of the view, separated by commas */
    struct lks_str_pair no; /* a row with this member and value: the answer is no, exit status 1 */
};

/* For every listing. */
#define LKS_LISTING_ROWS                                                                           \
    {"-l, --selector SELECTOR",                                                                    \
     "only rows with these values: COLUMN=VALUE or COLUMN!=VALUE, separated by commas"},           \
        {"--sort-by COLUMN", "sort by a column; '-COLUMN' sorts in reverse order"},                \
    {                                                                                              \
        "--columns COLUMNS", "show these columns, separated by commas, in this order"              \
    }
#define LKS_LISTING_OPTIONS                                                                        \
    LKS_LISTING_ROWS,                                                                              \
    {                                                                                              \
        "--limit N", "at most N rows; 0, the default, means all"                                   \
    }

#define LKS_PART_COLUMNS(array) (array), LKS_COUNT(array)
#define LKS_COLUMNS(array)      .columns = (array), .column_count = LKS_COUNT(array)

/* Fetch a list and print it; with --json {"items": [...]}, or the answer as it came. */
enum lks_code lks_listing_print(struct lks_cli *cli, const struct lks_args *args,
                                const struct lks_listing *listing,
                                struct lks_err *err) LKS_MUST_CHECK;

/* The same from `path`; what the listing says of paths, filters and members is not used. */
enum lks_code lks_listing_print_at(struct lks_cli *cli, const struct lks_args *args,
                                   const struct lks_listing *listing,
                                   const struct lks_remote_path *path,
                                   struct lks_err *err) LKS_MUST_CHECK;

/* Print the lists of a document; what the listing says of paths and filters is not used. */
enum lks_code lks_listing_print_doc(struct lks_cli *cli, const struct lks_args *args,
                                    const struct lks_listing *listing, const struct lks_doc *doc,
                                    struct lks_err *err) LKS_MUST_CHECK;

/* Print an answer: with --json as it came, else a line for each member, those of members
 * by dotted names. */
enum lks_code lks_listing_thing(struct lks_cli *cli, const struct lks_args *args,
                                const struct lks_remote_answer *answer,
                                struct lks_err *err) LKS_MUST_CHECK;

/* The same for an answer that is one sentence to people. */
enum lks_code lks_listing_done(struct lks_cli *cli, const struct lks_args *args,
                               const struct lks_remote_answer *answer, struct lks_err *err,
                               const char *fmt, ...) LKS_PRINTF(5, 6) LKS_MUST_CHECK;

/* A list in a document, as a table. */
struct lks_listing_part {
    const char *path; /* "items", or "waves.gate": the lists of each of a list */
    const struct lks_listing_column *columns;
    size_t column_count;
    const char *title; /* a form, printed before it; NULL: none */
    bool whole;        /* on a terminal, columns without any value stay */
};

/* Print it; nothing, not even its title, where the list is missing or empty. */
enum lks_code lks_listing_part(struct lks_cli *cli, const struct lks_listing_part *part,
                               const struct lks_doc *doc, struct lks_err *err) LKS_MUST_CHECK;

/* Lines of "what" and "value", each left out where its form makes no text. */
struct lks_listing_fact {
    const char *what; /* a form, too */
    const char *form;
    const char
        *each; /* a line for each item of this list, and the forms are about items; or NULL */
};
enum lks_code lks_listing_facts(struct lks_cli *cli, const struct lks_listing_fact *facts,
                                size_t count, const struct lks_doc *doc,
                                struct lks_err *err) LKS_MUST_CHECK;

/* Members of a map as rows of "what" and "value"; `skip` ends with NULL. */
void lks_listing_members(struct lks_table *t, const struct lks_doc *map, const char *const *skip);

/* An option's number from 1 to `most`; `fallback` without it. */
enum lks_code lks_listing_number(const struct lks_args *args, const char *option, uint64_t most,
                                 uint64_t fallback, uint64_t *out,
                                 struct lks_err *err) LKS_MUST_CHECK;

/* "30s", "15m", "24h", "7d" as seconds. */
enum lks_code lks_listing_span(const struct lks_args *args, const char *option, uint64_t *seconds,
                               struct lks_err *err) LKS_MUST_CHECK;

/* A moment that is over: any form of codec/time/moment.h, times without a zone in that of the
 * caller. `out` stays as it is where the option was not given. */
enum lks_code lks_listing_moment(const struct lks_cli *cli, const struct lks_args *args,
                                 const char *option, lks_ms *out,
                                 struct lks_err *err) LKS_MUST_CHECK;
enum lks_code lks_listing_moment_of(const struct lks_cli *cli, struct lks_str text, lks_ms *out,
                                    struct lks_err *err) LKS_MUST_CHECK;

/* A moment to come: the same, and a span alone is one from now. Empty where the option was not
 * given. */
enum lks_code lks_listing_until(const struct lks_cli *cli, const struct lks_args *args,
                                const char *option, char out[LKS_TIME_TEXT_SIZE],
                                struct lks_err *err) LKS_MUST_CHECK;

/* A text option that a command cannot do without. */
enum lks_code lks_listing_need(const struct lks_args *args, const char *option, const char *why,
                               struct lks_err *err) LKS_MUST_CHECK;

#endif
