/*
 * The contract: what every store does, whichever it is. A kind of store says how it is opened, and
 * lks_test_store_contract() asks everything of it. test_store.c has those that need no server.
 */
#ifndef LKS_TESTS_STORES_H
#define LKS_TESTS_STORES_H

#include "port/store.h"

struct lks_test_store {
    const char *title, *name; /* `name` as its operations say it */
    /* What outlives a store: a folder, a disk, a database. */
    void *(*make)(void);
    void (*end)(void *at);
    /* Makes it when it is opened first. */
    enum lks_code (*open)(void *at, struct lks_store *out, struct lks_err *err);
    /* NULL where copies are refused. */
    const char *(*copy_path)(void *at);
    enum lks_code (*open_copy)(void *at, struct lks_store *out, struct lks_err *err);
    /* So much time goes by. NULL where there is one user at a time, and no lease. */
    void (*pass)(void *at, lks_ms time);
};

struct lks_test_bed {
    const struct lks_test_store *kind;
    void *at; /* owned */
};

/* A new world and the first store in it. */
struct lks_store lks_test_bed_open(const struct lks_test_store *d, struct lks_test_bed *w);
void lks_test_bed_reopen(const struct lks_test_store *d, struct lks_test_bed *w,
                         struct lks_store *store);
void lks_test_bed_free(struct lks_test_bed *w);

/* All of it. */
void lks_test_store_contract(const struct lks_test_store *d);

/* The parts that are about leases and tasks (stores_shared.c). */
void lks_test_store_lead(const struct lks_test_store *d);
void lks_test_store_fence(const struct lks_test_store *d);
void lks_test_store_wait(const struct lks_test_store *d);
void lks_test_store_tasks(const struct lks_test_store *d);

/* What the tests of one store need too; rows as in rows.h. */
enum lks_code lks_test_put(const struct lks_store *store, const struct lks_store_batch *batch);
void lks_test_put_rows(const struct lks_store *store, uint64_t first, size_t count);
void lks_test_put_head(const struct lks_store *store, uint64_t seq);
struct lks_store_blob lks_test_blob(struct lks_str bytes);
enum lks_code lks_test_put_blob(const struct lks_store *store, struct lks_str bytes);
enum lks_code lks_test_blob_read(const struct lks_store *store, struct lks_str bytes);
enum lks_code lks_test_cut(const struct lks_store *store, uint64_t from, uint64_t first,
                           uint64_t seq);
void lks_test_heads_check(const struct lks_store *store, const char *want); /* "3 7" */
void lks_test_blobs_check(const struct lks_store *store, size_t want);
void lks_test_snapshot_check(const struct lks_store *store, uint64_t seq, struct lks_str bytes);

#endif
