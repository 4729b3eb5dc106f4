/* Golden journals: rows, signed heads, the public key, the state that the rows fold to, and
 * snapshots of some rows, as programs of their time wrote them. tests/golden/README.md says which
 * are kept and how they are written. */
#ifndef LKS_TESTS_GOLDENS_H
#define LKS_TESTS_GOLDENS_H

#include "tests/journals.h"

struct lks_state;

#define LKS_GOLDEN_RICH "tests/golden/rich"

enum {
    LKS_GOLDEN_BYTES_MAX = 4 << 20,
    LKS_GOLDEN_ROWS_MAX = 1024,
    LKS_GOLDEN_SNAPSHOTS = 6,
    LKS_GOLDEN_BLOBS = 8
};

struct lks_golden {
    const char *dir;
    uint64_t snapshots[LKS_GOLDEN_SNAPSHOTS]; /* the rows they are of; ends with 0 */
    const char *blobs[LKS_GOLDEN_BLOBS];      /* files that rows refer to by digest; NULL: no more,
                                                 and without any those of tests/journals.h. A file
                                                 LKS_GOLDEN_LINES has many, in hexadecimal */
};
#define LKS_GOLDEN_LINES "blobs"

extern const struct lks_golden lks_goldens[];
extern const size_t lks_golden_count;

/* Whether it is signed with lks_test_key(), so that snapshots of it can be written anew. The
 * journals of simulator seeds have keys of their own. */
bool lks_golden_is_ours(const struct lks_golden *g);

/* Append the file `dir`/`name` to `out`, which is initialised here; a failure is a failed check.
 */
void lks_golden_read(const char *dir, const char *name, struct lks_buf *out);
/* On purpose only: false, and the cause is printed, where it cannot be written. */
bool lks_golden_write(const char *dir, const char *name, struct lks_str bytes);

/* "snapshot-49", and with ".2" the same in the format of today. The next call overwrites it. */
const char *lks_golden_snapshot_name(uint64_t row, const char *ending);

/* The public key of a golden journal. */
struct lks_public_key lks_golden_key(const char *dir);

/* Put the rows, the heads and the bytes that rows refer to into an empty store. */
void lks_golden_load(struct lks_store *store, const char *dir);

/* Append a row for each line of the file "records" to an empty store, with a signed head at every
 * fifth row and the last. A line is a time and a record as tests/records.h reads it; "#" starts a
 * comment. */
void lks_golden_live(struct lks_store *store, const char *dir, const struct lks_key *key);

/* Each record of that file, in order. */
typedef void lks_golden_record_fn(void *ctx, lks_ms time, const struct lks_record *r);
void lks_golden_records(const char *dir, lks_golden_record_fn *fn, void *ctx);

/* Write the store as the files "rows", "heads", "key", "state" and, where the table names it,
 * "blobs"; the file "state" alone, as tests/list_state.h lists it; and the snapshots that the table
 * names, signed by `key`. On purpose only: false, and the cause is printed, where that fails. */
bool lks_golden_save(struct lks_store *store, const struct lks_key *key, const char *dir);
bool lks_golden_save_state(struct lks_store *store, const char *dir);
bool lks_golden_snapshots(struct lks_store *store, const struct lks_key *key, const char *dir);

/* Fold the first `rows` rows alone, without any snapshot, into `out`, which is initialised here.
 * `hash` is that of the last of them. */
void lks_golden_fold(struct lks_store *store, uint64_t rows, struct lks_state *out,
                     uint8_t hash[LKS_HASH_BYTES]);

#endif
