/* Rows of the journal by when they were written, by whom, of which kind and about which nodes. */
#ifndef LKS_ENGINE_SELECT_H
#define LKS_ENGINE_SELECT_H

#include "codec/notation/hostlist.h"
#include "engine/journal.h"

/* What a row has to be; what is empty or 0 is not asked for. */
struct lks_select {
    lks_ms since, until; /* from here on; up to and including here */
    struct lks_str by;   /* an identity */
    const struct lks_record_info *kind;
    struct lks_hostlist nodes; /* about one of these */
};

/* A kind by its name; INVALID, with the nearest, where there is none of it. */
enum lks_code lks_select_kind(struct lks_str word, const struct lks_record_info **out,
                              struct lks_err *err) LKS_MUST_CHECK;

static inline bool lks_select_any(const struct lks_select *s)
{
    return s->since != 0 || s->until != 0 || s->by.len > 0 || s->kind != NULL || s->nodes.count > 0;
}

/* Whether the row is one of them. One whose record cannot be read is, whatever it is about: what
 * it says is unknown, so it must show. */
bool lks_select_fits(const struct lks_select *s, const struct lks_row *row);

/* Rows are in the order of their times, so none behind this one fits either. */
static inline bool lks_select_over(const struct lks_select *s, const struct lks_row *row)
{
    return s->until != 0 && row->time > s->until;
}

/* The first row from `from` on that is not before `since`, found in a few reads; behind the last
 * row where all are before it. */
enum lks_code lks_select_begin(struct lks_store *store, const struct lks_select *s, uint64_t from,
                               uint64_t *out, struct lks_err *err) LKS_MUST_CHECK;

#endif
