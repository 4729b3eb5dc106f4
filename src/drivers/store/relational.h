/*
 * What the stores in databases share: which schemas this program knows, and how rows, heads, the
 * tail and snapshots read. Both databases have the same columns in the same order (db/); how one
 * value of a result is read is the driver's part.
 */
#ifndef LKS_DRIVERS_STORE_RELATIONAL_H
#define LKS_DRIVERS_STORE_RELATIONAL_H

#include "base/buf.h"
#include "base/embedded.h"
#include "port/store.h"

/* The number of the newest of these scripts, which bring a schema to the next each. */
uint64_t lks_relational_newest(const struct lks_embedded *scripts);

/* INVALID for a schema beyond the newest, and for an older one where it cannot be migrated, since
 * this is a `reader`. `shown`: how messages call the store. */
enum lks_code lks_relational_check(const char *shown, uint64_t schema, uint64_t newest, bool reader,
                                   struct lks_err *err) LKS_MUST_CHECK;

/* One row of a result. */
struct lks_relational {
    const struct lks_relational_ops *ops;
    void *result;
    int row;
};
struct lks_relational_ops {
    /* A number from 0 to `max`, a value of exactly `len` bytes: false, and nothing written, for any
     * other. */
    bool (*number)(const struct lks_relational *r, int at, uint64_t max, uint64_t *out);
    bool (*exact)(const struct lks_relational *r, int at, void *out, size_t len);
    struct lks_str (*bytes)(const struct lks_relational *r, int at);
    bool (*there)(const struct lks_relational *r, int at); /* bytes, and not NULL */
};

/* first, seq, time, hash from the column `from` on; false where it is damaged. */
bool lks_relational_tail(const struct lks_relational *r, int from, struct lks_store_tail *out);

/* Rows or heads, for one of the two functions. */
struct lks_relational_reader {
    lks_store_row_fn *row;
    lks_store_head_fn *head;
    void *ctx;
    uint64_t seen; /* the number of the last */
};

/* Hand the row or head on; false where the function has seen enough. */
bool lks_relational_show(struct lks_relational_reader *reader, const struct lks_relational *r);

/* A snapshot as it is put together: part, seq, size, bytes. */
struct lks_relational_snapshot {
    uint64_t next, seq, size;
};

/* Add a part; false where it is not the next one of the same snapshot. */
bool lks_relational_part(struct lks_relational_snapshot *s, const struct lks_relational *r,
                         struct lks_buf *out);

#endif
