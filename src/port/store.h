/*
 * Where the journal is kept. SQLite and memory implement it, and later PostgreSQL; all pass the
 * same contract (tests/test_store.c). Calls block: the daemon makes them on its store thread, tools
 * and the simulator directly. One thread at a time.
 *
 * A store holds rows by number without a gap, bytes by their digest (reports, manifests), signed
 * heads, the newest snapshot, and where the last commit ended. It interprets none of them; what is
 * in the chain is the engine's business.
 *
 * Errors: UNAVAILABLE when nothing was written and trying again may work (disk full, database
 * locked); INVALID for a store that is damaged or of a newer schema; REFUSED when another process
 * has it; IO when it cannot be told whether a write happened: the program ends, and looks again.
 */
#ifndef LKS_PORT_STORE_H
#define LKS_PORT_STORE_H

#include "codec/digest.h"
#include "model/row.h"

#define LKS_STORE_BLOB_MAX     ((size_t)16 << 20)
#define LKS_STORE_SNAPSHOT_MAX ((size_t)2 << 30)

struct lks_store_blob {
    char digest[LKS_DIGEST_SIZE];
    struct lks_str bytes;
};

/* What becomes durable together, or not at all. */
struct lks_store_batch {
    const struct lks_row *rows; /* the first follows the last row there is */
    size_t row_count;
    const struct lks_store_blob *blobs; /* one that is there already is left as it is */
    size_t blob_count;
    const struct lks_head *head; /* signed, or NULL */
};

/* Where the last commit ended. It is kept beside the rows, so that rows missing at the end show. */
struct lks_store_tail {
    uint64_t first; /* the oldest row that is kept; 1 where none was trimmed */
    uint64_t seq;   /* 0: empty */
    lks_ms time;
    uint8_t hash[LKS_HASH_BYTES];
};

/* Return false to stop early; bytes are valid during the call. */
typedef bool lks_store_row_fn(void *ctx, const struct lks_row *row);
typedef bool lks_store_head_fn(void *ctx, const struct lks_head *head);
typedef bool lks_store_blob_fn(void *ctx, const char *digest, struct lks_str bytes);

struct lks_store_ops {
    const char *name;

    enum lks_code (*append)(void *self, const struct lks_store_batch *batch, struct lks_err *err);
    enum lks_code (*tail)(void *self, struct lks_store_tail *out, struct lks_err *err);

    /* Rows from `from` on, in the order of their numbers, whatever is there: a gap is not a failure
     * of the store. */
    enum lks_code (*rows)(void *self, uint64_t from, lks_store_row_fn *fn, void *ctx,
                          struct lks_err *err);

    /* Heads of rows from `from` on, likewise. There may be as many as rows. */
    enum lks_code (*heads)(void *self, uint64_t from, lks_store_head_fn *fn, void *ctx,
                           struct lks_err *err);

    /* NOT_FOUND where there is none. */
    enum lks_code (*blob)(void *self, const char *digest, struct lks_buf *out, struct lks_err *err);
    enum lks_code (*blobs)(void *self, lks_store_blob_fn *fn, void *ctx, struct lks_err *err);

    /* A snapshot replaces the one before. `seq` 0 when there is none. */
    enum lks_code (*snapshot_put)(void *self, uint64_t seq, struct lks_str bytes,
                                  struct lks_err *err);
    enum lks_code (*snapshot)(void *self, uint64_t *seq, struct lks_buf *out, struct lks_err *err);

    /* Forget rows up to `through`, and heads below it, but never the head at it; and blobs that
     * `keep` says no to. */
    enum lks_code (*trim)(void *self, uint64_t through, bool (*keep)(void *ctx, const char *digest),
                          void *ctx, struct lks_err *err);

    /* For repair: set the rows from `from` on aside, out of the journal, where they stay. The tail
     * becomes what is said here; the snapshot and heads beyond it go. With the same commit `then`,
     * which may be NULL, is appended: rows never go without the record that says so. */
    enum lks_code (*cut)(void *self, uint64_t from, const struct lks_store_tail *tail,
                         const struct lks_store_batch *then, struct lks_err *err);

    /* A consistent copy into the new file `path`, while others write. */
    enum lks_code (*copy)(void *self, const char *path, struct lks_err *err);

    void (*close)(void *self);
};

struct lks_store {
    const struct lks_store_ops *ops;
    void *self; /* owned; lks_store_close() ends it */
};

void lks_store_close(struct lks_store *store);

/* What every store can say of a batch before it writes: numbers in order, sizes within limits. */
enum lks_code lks_store_batch_check(const struct lks_store_tail *tail,
                                    const struct lks_store_batch *batch,
                                    struct lks_err *err) LKS_MUST_CHECK;

/* The same for the others that write: a snapshot is of a row that is there or was, what is trimmed
 * ends within the journal, and a cut leaves a tail right before it. */
enum lks_code lks_store_snapshot_check(const struct lks_store_tail *tail, uint64_t seq,
                                       struct lks_str bytes, struct lks_err *err) LKS_MUST_CHECK;
enum lks_code lks_store_trim_check(const struct lks_store_tail *tail, uint64_t through,
                                   struct lks_err *err) LKS_MUST_CHECK;
enum lks_code lks_store_cut_check(uint64_t from, const struct lks_store_tail *after,
                                  struct lks_err *err) LKS_MUST_CHECK;

/* The tail once `batch`, which was checked, is durable. */
struct lks_store_tail lks_store_tail_after(const struct lks_store_tail *tail,
                                           const struct lks_store_batch *batch);

#endif
