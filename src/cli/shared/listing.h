/* What lockstepd answered, for people and for programs: lists as tables, things as their members.
 */
#ifndef LKS_CLI_LISTING_H
#define LKS_CLI_LISTING_H

#include "base/term/table.h"
#include "cli/shared/remote.h"

struct lks_listing_column {
    const char *header;
    const char *key; /* of an item; "a.b" looks inside, "*" is all that no other column shows */
    unsigned flags;  /* LKS_COLUMN_* */
};

/* A column by how its cells stand: at the left, at the right, or broken over several lines. */
#define LKS_LEFT(header, key)                                                                      \
    {                                                                                              \
        header, key, 0                                                                             \
    }
#define LKS_RIGHT(header, key)                                                                     \
    {                                                                                              \
        header, key, LKS_COLUMN_RIGHT                                                              \
    }
#define LKS_WRAP(header, key)                                                                      \
    {                                                                                              \
        header, key, LKS_COLUMN_WRAP                                                               \
    }

/* A list that lockstepd has: where it is, and how people see it. */
struct lks_listing {
    const char *path; /* "/v1/changes" */
    const char *part; /* "history": the list of the command's argument; NULL: a list of all */
    const struct lks_listing_column *columns;
    size_t column_count;
    const char *const *filters; /* for lks_remote_path_options() */
    bool open_only;             /* unless --all is given */
    const char *const *members; /* the answer is one page, and its lists are these members, up to
                                   NULL; without them the list comes in pages */
    uint64_t limit;             /* without --limit; 0: all */
    const char *cursor;         /* how the next page is asked for; NULL: "after" */
    const char *empty;          /* what to say where there is nothing, or NULL */
};

#define LKS_COLUMNS(array) .columns = (array), .column_count = LKS_COUNT(array)

/* Fetch a list and print it; with --json {"items": [...]}, or the answer as it came. */
enum lks_code lks_listing_print(struct lks_cli *cli, const struct lks_args *args,
                                const struct lks_listing *listing,
                                struct lks_err *err) LKS_MUST_CHECK;

/* The same from `path`; what the listing says of paths, filters and members is not used. */
enum lks_code lks_listing_print_at(struct lks_cli *cli, const struct lks_args *args,
                                   const struct lks_listing *listing,
                                   const struct lks_remote_path *path,
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

/* Ask for a token: `q` has the beginning of its body, and --ttl is added. People see the token
 * alone, so that it can go into a file. */
enum lks_code lks_listing_token(struct lks_cli *cli, const struct lks_args *args,
                                struct lks_question *q, struct lks_err *err) LKS_MUST_CHECK;

/* A list that came as a member of an answer, as a table. */
enum lks_code lks_listing_table(struct lks_cli *cli, const struct lks_listing_column *columns,
                                size_t count, const struct lks_doc *const *lists, size_t list_count,
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

#define LKS_LISTING_REASON "why; it is recorded for ever"

/* ": 3 nodes, 24 GPUs", where an answer says how many it was for; else nothing. */
#define LKS_LISTING_SIZE (2 * LKS_COUNT_TEXT_SIZE + 8)
const char *lks_listing_size(const struct lks_doc *answer, char out[LKS_LISTING_SIZE]);

#endif
