/* A journal for tests: a short life in which every kind of record comes up, written row by row
 * without an engine, and the means to write what an engine never would. */
#ifndef LKS_TESTS_JOURNALS_H
#define LKS_TESTS_JOURNALS_H

#include "drivers/store/memory.h"
#include "engine/journal.h"
#include "model/record/record.h"
#include "tests/tree.h"

struct lks_state;

struct lks_test_deed {
    lks_ms time;
    struct lks_record record;
};
extern const struct lks_test_deed lks_test_life[];
extern const size_t lks_test_life_count; /* of those that worlds begin with */
extern const size_t lks_test_life_all;
extern const char lks_test_life_journal[];
extern const struct lks_store_blob lks_test_life_blobs[2]; /* what its records refer to */

enum { LKS_TEST_HEAD_EVERY = 5 }; /* rows */

/* The key all of them are signed with, and another. */
struct lks_key lks_test_key(void);
struct lks_key lks_test_other_key(void);

/* Chain one more row to the end; with `key` a signed head comes along. Its seq and hash are filled
 * in. */
void lks_test_append(struct lks_store *store, struct lks_row row, const struct lks_store_blob *blob,
                     const struct lks_key *key);
void lks_test_append_record(struct lks_store *store, lks_ms time, const struct lks_record *record,
                            const struct lks_store_blob *blob, const struct lks_key *key);

/* The first `count` deeds of the life, blobs with them, a head every few rows and at the last. */
void lks_test_live(struct lks_store *store, size_t count, const struct lks_key *key);

/* A store of either kind, and what it lives on. */
struct lks_test_world {
    bool sqlite;
    struct lks_tree tree;
    struct lks_memory_disk *disk;
    char path[128];
    struct lks_store store;
    struct lks_key key;
};

struct lks_test_world lks_test_world_new(bool sqlite);
struct lks_test_world lks_test_world_lived(bool sqlite); /* with the first part of it */
void lks_test_world_fini(struct lks_test_world *w);

/* Close the store and open it again. */
void lks_test_world_reopen(struct lks_test_world *w);

/* Change the file behind the store's back; SQLite alone. */
void lks_test_world_tamper(struct lks_test_world *w, const char *sql);

/* With the world's key; `more`, which may be NULL, has witnesses. */
struct lks_verify lks_test_world_verify(struct lks_test_world *w,
                                        const struct lks_verify_options *more);

/* `out` is initialised here. */
enum lks_code lks_test_world_fold(struct lks_test_world *w, lks_ms until, struct lks_state *out,
                                  struct lks_err *err);

#endif
