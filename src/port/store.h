/*
 * Where the journal is kept. SQLite, PostgreSQL and memory implement it; all pass the same contract
 * (tests/stores.c). Calls block: the daemon makes them on its store thread, tools and the simulator
 * directly. One thread at a time.
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

#include "codec/format/digest.h"
#include "model/record/row.h"

enum lks_store_mode {
    LKS_STORE_CREATE, /* a new one; REFUSED where there is one */
    LKS_STORE_OWN,    /* read and write; migrates. Alone where a store has one user at a time */
    LKS_STORE_READ,   /* beside others or without any; nothing is written, and one moment is seen */
};

#define LKS_STORE_BLOB_MAX     ((size_t)16 << 20)
#define LKS_STORE_SNAPSHOT_MAX ((size_t)2 << 30)

struct lks_store_blob {
    char digest[LKS_DIGEST_SIZE];
    struct lks_str bytes;
};

/* What becomes durable together, or not at all. */
struct lks_store_batch {
    uint64_t epoch; /* that of our lease; REFUSED where it is another's by now. 0: no lease */
    const struct lks_row *rows; /* the first follows the last row there is */
    size_t row_count;
    const struct lks_store_blob *blobs; /* one that is there already is left as it is */
    size_t blob_count;
    const struct lks_head *head; /* signed, or NULL */
    uint64_t replaces;           /* the row of the head that goes for it; 0: none does */
};

/* Where the last commit ended. It is kept beside the rows, so that rows missing at the end show. */
struct lks_store_tail {
    uint64_t first; /* the oldest row that is kept; 1 where none was trimmed */
    uint64_t seq;   /* 0: empty */
    lks_ms time;
    uint8_t hash[LKS_HASH_BYTES];
};

/* Several controllers share one store: who leads. */
#define LKS_STORE_NAME_SIZE 65
#define LKS_STORE_URL_SIZE  257
struct lks_store_lease {
    uint64_t epoch; /* counts up each time the lead changes hands; 0: none led yet */
    char name[LKS_STORE_NAME_SIZE];
    char url[LKS_STORE_URL_SIZE];
    lks_ms left; /* by the store's clock, when it was asked; 0: it is over */
};

/* Of a task's name, its site and who holds it. */
#define LKS_STORE_TASK_TEXT_MAX ((size_t)255)

/* What is to be read once in a while, by one worker at a time (sweeps of management endpoints). */
struct lks_store_task {
    struct lks_str name, site; /* the name is the key */
    lks_ms every;
    lks_ms due;
    uint32_t failures; /* in a row */
};
struct lks_store_claim {
    struct lks_str holder;
    lks_ms now, until;    /* of the leases that are taken now */
    size_t max, site_max; /* of this claim; leased at one site at a time, all holders */
    size_t all_max;       /* leased at a time, by all holders */
};

/* Return false to stop early; bytes are valid during the call. */
typedef bool lks_store_row_fn(void *ctx, const struct lks_row *row);
typedef bool lks_store_head_fn(void *ctx, const struct lks_head *head);
typedef bool lks_store_blob_fn(void *ctx, const char *digest, struct lks_str bytes);
typedef void lks_store_task_fn(void *ctx, const struct lks_store_task *task);

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

    /* Lead, or go on leading: the lease is ours for `ttl` from now where no other holder has one
     * that has not expired. `out` says who leads; the epoch is a new one unless we led already.
     * "We" is this open store, whatever the name: another process of the same name is another
     * holder. NULL in a store that has one user at a time. */
    enum lks_code (*lead)(void *self, const char *name, const char *url, lks_ms ttl,
                          struct lks_store_lease *out, struct lks_err *err);
    /* Give it up, so that another need not wait. */
    enum lks_code (*resign)(void *self, uint64_t epoch, struct lks_err *err);
    /* Whether the store keeps what it acknowledged when its machine is lost: OK, or REFUSED with
     * what is missing. */
    enum lks_code (*safe)(void *self, struct lks_err *err);
    /* Until there may be new rows, or `timeout` is over. NULL: ask again after a while. */
    enum lks_code (*wait)(void *self, lks_ms timeout, struct lks_err *err);

    /* Tasks. _sync makes the list what is given: new ones come, others keep when they are due
     * unless it is later than a whole interval from now, the rest go; no two have one name. _take
     * leases those that are due, the one first that is behind by most of its interval; one that is
     * leased is not given again until the lease expired. _done, by the holder of the lease alone
     * (else REFUSED), says when next. */
    enum lks_code (*tasks_sync)(void *self, const struct lks_store_task *tasks, size_t count,
                                lks_ms now, struct lks_err *err);
    enum lks_code (*tasks_take)(void *self, const struct lks_store_claim *claim,
                                lks_store_task_fn *fn, void *ctx, struct lks_err *err);
    enum lks_code (*task_done)(void *self, struct lks_str holder, struct lks_str name, lks_ms due,
                               uint32_t failures, struct lks_err *err);

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

/* Whether what was decided in `epoch` may be written while the lease is as it is: no other
 * controller took the lead since. 0 is a process that never led, and must not write beside a
 * leader. */
enum lks_code lks_store_fence_check(const struct lks_store_lease *lease, uint64_t epoch,
                                    struct lks_err *err) LKS_MUST_CHECK;

/* Sizes and numbers of a leader to be, of tasks, and of a claim; and the refusal of _done. */
enum lks_code lks_store_lead_check(const char *name, const char *url, lks_ms ttl,
                                   struct lks_err *err) LKS_MUST_CHECK;
enum lks_code lks_store_tasks_check(const struct lks_store_task *tasks, size_t count, lks_ms now,
                                    struct lks_err *err) LKS_MUST_CHECK;
enum lks_code lks_store_claim_check(const struct lks_store_claim *claim,
                                    struct lks_err *err) LKS_MUST_CHECK;
enum lks_code lks_store_done_refused(struct lks_str holder, struct lks_str name,
                                     struct lks_err *err) LKS_MUST_CHECK;

/* The tail once `batch`, which was checked, is durable. */
struct lks_store_tail lks_store_tail_after(const struct lks_store_tail *tail,
                                           const struct lks_store_batch *batch);

#endif
