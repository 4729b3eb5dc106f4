/*
 * What the stores in databases share: which schemas this program knows, the statements that write,
 * and how rows, heads, the tail and snapshots read. Both databases have the same columns in the
 * same order (db/); how a statement is run and how one value of a result is read is the driver's
 * part.
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

/* What a statement is given, in order; a list of values ends with one that is all zero. Bytes stay
 * the caller's until the statement was run. */
struct lks_relational_value {
    enum {
        LKS_RELATIONAL_END,
        LKS_RELATIONAL_NUMBER,
        LKS_RELATIONAL_BYTES,
        LKS_RELATIONAL_TEXT
    } is;
    uint64_t number;
    struct lks_str bytes; /* BYTES, TEXT */
};
#define LKS_NUMBER_VALUE(n)                                                                        \
    {                                                                                              \
        .is = LKS_RELATIONAL_NUMBER, .number = (n)                                                 \
    }
#define LKS_BYTES_VALUE(s)                                                                         \
    {                                                                                              \
        .is = LKS_RELATIONAL_BYTES, .bytes = (s)                                                   \
    }
#define LKS_ARRAY_VALUE(array)                                                                     \
    {                                                                                              \
        .is = LKS_RELATIONAL_BYTES, .bytes = {(const char *)(array), sizeof(array) }               \
    }
#define LKS_TEXT_VALUE(text)                                                                       \
    {                                                                                              \
        .is = LKS_RELATIONAL_TEXT, .bytes = lks_str_from(text)                                     \
    }
/* What a database counts with has a sign. */
#define LKS_COUNT_VALUE(n) LKS_NUMBER_VALUE((n) > INT32_MAX ? INT32_MAX : (n))
#define LKS_VALUES(...)    ((const struct lks_relational_value[]){__VA_ARGS__, {0}})

/* How a driver writes, within a transaction. */
struct lks_relational_writer {
    void *self;
    /* A statement without results. The driver may collect its outcome later. `text` is a constant:
     * a driver may remember it by its address. */
    enum lks_code (*run)(void *self, const char *text, const struct lks_relational_value *values,
                         struct lks_err *err);
    /* The rows of a batch; NULL: a statement for each. */
    enum lks_code (*rows)(void *self, const struct lks_store_batch *batch, struct lks_err *err);
};

/* The parts of the port's functions that write, each for a journal that ends at `tail`. */
enum lks_code lks_relational_append(const struct lks_relational_writer *w,
                                    const struct lks_store_tail *tail,
                                    const struct lks_store_batch *batch,
                                    struct lks_err *err) LKS_MUST_CHECK;
enum lks_code lks_relational_snapshot_put(const struct lks_relational_writer *w,
                                          const struct lks_store_tail *tail, uint64_t seq,
                                          struct lks_str bytes, struct lks_err *err) LKS_MUST_CHECK;
enum lks_code lks_relational_trim(const struct lks_relational_writer *w,
                                  const struct lks_store_tail *tail, uint64_t through,
                                  struct lks_err *err) LKS_MUST_CHECK;
/* What comes from row `from` on goes, and the journal then ends at `tail`. */
enum lks_code lks_relational_cut(const struct lks_relational_writer *w, uint64_t from,
                                 const struct lks_store_tail *tail,
                                 struct lks_err *err) LKS_MUST_CHECK;

/* Ends a claim; its values are due, failures, holder and name. */
#define LKS_RELATIONAL_TASK_DONE                                                                   \
    "UPDATE task SET due = $1, failures = $2, holder = NULL, until = 0 "                           \
    "WHERE holder = $3 AND name = $4"

/* A snapshot as it is put together: part, seq, size, bytes. */
struct lks_relational_snapshot {
    uint64_t next, seq, size;
};

/* Add a part; false where it is not the next one of the same snapshot. */
bool lks_relational_part(struct lks_relational_snapshot *s, const struct lks_relational *r,
                         struct lks_buf *out);

#endif
