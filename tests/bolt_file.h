/* bbolt databases for tests, and a file that changes while it is read. */
#ifndef LKS_TESTS_BOLT_FILE_H
#define LKS_TESTS_BOLT_FILE_H

#include "base/buf.h"
#include "codec/package/bolt.h"

/* A value under its keys, with '|' between them: "v1|k8s.io|images|x:1|target|digest". A path that
 * ends in '|' is an empty bucket. */
struct lks_test_bolt_row {
    const char *path;
    struct lks_str value;
};

struct lks_test_bolt {
    const struct lks_test_bolt_row *rows; /* in any order */
    size_t count;
    size_t page_size;     /* 0: 4096 */
    size_t keys;          /* in a page; 0: 64 */
    uint64_t transaction; /* of the newest meta page, which is meta page `transaction` % 2 */
    bool apart;           /* no bucket stands in its own value */
    uint64_t first;       /* the number of the first page of keys; 0: 2, behind the meta pages */
};

/* Append the database to `out`. */
void lks_test_bolt_build(const struct lks_test_bolt *spec, struct lks_buf *out);

/* The same from the start of a buffer; the caller owes lks_buf_fini(). */
struct lks_buf lks_test_bolt_new(const struct lks_test_bolt *spec);

/* Make the checksum of the meta page at `at` the one it should have. */
void lks_test_bolt_sum(struct lks_buf *db, size_t at);

/* A file that has `states[0]` at first, and the next one after each `every` reads. */
struct lks_test_bolt_file {
    const struct lks_buf *states;
    size_t count;
    size_t every; /* 0: it does not change */
    size_t step;  /* bytes given at once; 0: all */
    size_t reads;
};

/* A `read_at` of struct lks_bolt_file; `ctx` is the struct above. */
enum lks_code lks_test_bolt_read(void *ctx, uint64_t offset, void *buf, size_t len, size_t *got,
                                 struct lks_err *err);

/* The state that it has now. */
const struct lks_buf *lks_test_bolt_state(const struct lks_test_bolt_file *file);

#endif
