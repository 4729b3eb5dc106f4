/* A journal as a daemon would have written it, row by row without one: large ones take a moment. */
#ifndef LKS_BENCH_WRITING_H
#define LKS_BENCH_WRITING_H

#include "model/record/record.h"
#include "port/store.h"
#include "trust/chain.h"
#include "trust/key.h"

enum { BENCH_WRITING_BATCH = 8192 };

/* `store`, `key`, `journal`, `time` and `step` are the caller's to set; where the journal has rows,
 * `seq` and `hash` too. */
struct bench_writing {
    struct lks_store store;
    struct lks_key key;
    struct lks_str journal;
    lks_ms time, step; /* of the last row; between two */
    lks_ms head_every; /* a head stays of each such time, as of commits of one row; 0: each batch */
    lks_ms head_at;    /* of the last one */
    uint64_t seq;
    uint8_t hash[LKS_HASH_BYTES];
    const struct lks_store_blob *blobs; /* that come with the next batch */
    size_t blob_count;

    struct lks_chain *chain;
    struct lks_row rows[BENCH_WRITING_BATCH];
    size_t count;
    struct lks_buf bodies;
};

/* Whatever fails ends the part. */
void bench_write(struct bench_writing *w, const struct lks_record *r);

/* All of it is in the store, with a signed head; the store stays open. */
void bench_writing_end(struct bench_writing *w);

#endif
