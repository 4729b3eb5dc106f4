/* Rows for tests of stores: what is in a row follows from its number, so that whoever reads it can
 * tell whether it is the one that was written. */
#ifndef LKS_TESTS_ROWS_H
#define LKS_TESTS_ROWS_H

#include "port/store.h"

#define LKS_TEST_ROWS_MAX 64
#define LKS_TEST_BODY_MAX 128

struct lks_test_rows {
    struct lks_row rows[LKS_TEST_ROWS_MAX];
    char bodies[LKS_TEST_ROWS_MAX][LKS_TEST_BODY_MAX];
};

/* `count` rows from number `first` on. */
void lks_test_rows_make(struct lks_test_rows *out, uint64_t first, size_t count);

/* The same as a batch without blobs and without a head. */
struct lks_store_batch lks_test_rows_batch(struct lks_test_rows *out, uint64_t first, size_t count);

/* The head of row `seq`. */
struct lks_head lks_test_rows_head(uint64_t seq);

/* The store has exactly the rows from `first` to `last`, each as it was made. */
void lks_test_rows_check(const struct lks_store *store, uint64_t first, uint64_t last);

/* Its tail says so too; `last` 0: it is empty. */
void lks_test_tail_check(const struct lks_store *store, uint64_t first, uint64_t last);

#endif
