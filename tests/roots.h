/* Whole machines for tests: trees of tests/roots, read as `lockstep inventory --root` reads them.
 */
#ifndef LKS_TESTS_ROOTS_H
#define LKS_TESTS_ROOTS_H

#include "probe/root/probe.h"
#include "tests/tree.h"

struct lks_test_root {
    const char *name; /* of the golden files too */
    const char *from; /* a description for lks_tree_plant(), or the directory of a capture */
    bool golden;      /* it agrees with itself, so a stack can be taken from it */
};

/* A machine more is a row more. */
extern const struct lks_test_root lks_test_roots[];
extern const size_t lks_test_root_count;

/* A machine that is there as files: planted, or the capture itself. */
struct lks_planted {
    const char *path;
    struct lks_tree tree; /* empty for a capture */
};
void lks_test_plant(const struct lks_test_root *root, struct lks_planted *out);
void lks_test_planted_free(struct lks_planted *planted);

/* What `count` probes from `first` on say of the tree at `path`, captured to `capture` unless it is
 * NULL. The caller owes lks_tuple_fini(). */
struct lks_tuple lks_test_read(const char *path, const char *capture,
                               const struct lks_probe_kind *first, size_t count);

/* Call `fn` with the path of every plain file under `dir`, within it and beginning with a slash, in
 * order. */
typedef void lks_test_file_fn(void *ctx, const char *path);
void lks_test_files(const char *dir, lks_test_file_fn *fn, void *ctx);

#endif
