/* For the files beside it: going through the rows, link by link. */
#ifndef LKS_ENGINE_CHAIN_WALK_H
#define LKS_ENGINE_CHAIN_WALK_H

#include "engine/journal.h"

struct lks_record;
struct lks_state;

/* The last good row, and what was found wrong behind it. */
struct lks_chain_walk {
    struct lks_chain *chain; /* owned */
    bool beginning;          /* nothing is to be found before the next row */
    uint64_t seq;
    lks_ms time;
    uint8_t hash[LKS_HASH_BYTES];
    enum lks_fault fault;
    uint64_t at;
    char text[256];
    uint8_t bad_hash[LKS_HASH_BYTES]; /* as the row at `at` says, where it was edited */
};

/* Behind the row `seq` with this hash; NULL: at the very beginning. The caller owes _fini. */
enum lks_code lks_chain_walk_init(struct lks_chain_walk *w, uint64_t seq, const uint8_t *hash,
                                  struct lks_err *err) LKS_MUST_CHECK;
void lks_chain_walk_fini(struct lks_chain_walk *w);

/* Note a fault, unless there is one. */
void lks_chain_walk_fault(struct lks_chain_walk *w, enum lks_fault fault, uint64_t at,
                          const char *fmt, ...) LKS_PRINTF(4, 5);

/* Whether `row` is whole and follows; if not, the fault is noted. `out` gets its record. Fails only
 * when memory runs out. */
enum lks_code lks_chain_walk_look(struct lks_chain_walk *w, const struct lks_row *row,
                                  struct lks_record *out, struct lks_err *err) LKS_MUST_CHECK;

/* It was looked at and is the last good one now. */
void lks_chain_walk_step(struct lks_chain_walk *w, const struct lks_row *row);

/* The rows behind `covered` have no signed head, in a journal whose commits all have one. */
void lks_chain_walk_unsigned(struct lks_chain_walk *w, uint64_t covered);

/* No row follows: is this where the last commit ended? */
void lks_chain_walk_end(struct lks_chain_walk *w, const struct lks_store_tail *tail);

/* An edited row may be one that changed places: look for its true content further on. */
enum lks_code lks_chain_walk_classify(struct lks_chain_walk *w, struct lks_store *store,
                                      struct lks_err *err) LKS_MUST_CHECK;

/* The fault as a failure, for callers that need a journal without one. */
enum lks_code lks_chain_walk_fail(const struct lks_chain_walk *w,
                                  struct lks_err *err) LKS_MUST_CHECK;

/* The hash that a journal whose beginning was trimmed starts behind, as the record of the trim says
 * in row `by`; 0: none does. Whether that row can be trusted is another question. */
enum lks_code lks_chain_walk_anchor(struct lks_store *store, uint64_t first, uint64_t *by,
                                    uint8_t out[LKS_HASH_BYTES],
                                    struct lks_err *err) LKS_MUST_CHECK;

/* The row `seq` as an end of the journal; its seq is 0 where that row is missing. */
enum lks_code lks_chain_walk_row(struct lks_store *store, uint64_t seq, struct lks_store_tail *out,
                                 struct lks_err *err) LKS_MUST_CHECK;

/* The newest heads, the oldest of them first: those of the last rows of a journal that ends with
 * row `last`, or all where these have none. So a start does not read the heads of years. */
#define LKS_WALK_RECENT (1U << 16) /* rows */
enum lks_code lks_chain_walk_heads(struct lks_store *store, uint64_t last, lks_store_head_fn *fn,
                                   void *ctx, struct lks_err *err) LKS_MUST_CHECK;

/* The digest of the bytes that a record refers to, or an empty view. */
struct lks_str lks_chain_walk_blob(const struct lks_record *r);

/* A snapshot's header, and the rest of it as a view. */
struct lks_snapshot {
    uint64_t seq;
    uint64_t kept; /* the row that the store has one for, whether it can be used or not */
    lks_ms time;
    uint8_t hash[LKS_HASH_BYTES];
    bool tables; /* of version 2: `entries` are tables, not records */
    struct lks_str entries;
};

/* INVALID unless every byte is as it was written, the tables are known here or every record can be
 * read, and `key` (NULL: any, or none) signed it. */
enum lks_code lks_snapshot_read(struct lks_str bytes, const struct lks_public_key *key,
                                struct lks_snapshot *out, struct lks_err *err) LKS_MUST_CHECK;

/* The stored one, in `bytes`, which is initialised here. Its seq is 0 where there is none, and also
 * where there is one that cannot be used: then `why` says so, and has a code. */
enum lks_code lks_snapshot_load(struct lks_store *store, const struct lks_public_key *key,
                                struct lks_buf *bytes, struct lks_snapshot *out,
                                struct lks_err *why, struct lks_err *err) LKS_MUST_CHECK;
/* Into a state that was just initialised, and is so again where this fails: INVALID where the rows
 * refer to what is not there, or are of a later version. */
enum lks_code lks_snapshot_apply(const struct lks_snapshot *snapshot, struct lks_state *out,
                                 struct lks_err *err) LKS_MUST_CHECK;

/* Fold the rows alone, snapshot or not; the journal must begin with row 1. Up to row `through`. */
enum lks_code lks_journal_fold_rows(struct lks_store *store, uint64_t through,
                                    struct lks_state *out, struct lks_err *err) LKS_MUST_CHECK;

#endif
