/* GPU libraries for tests: small, with nothing in them but a version. The build id is the letter
 * that is given, eight times. */
#ifndef LKS_TESTS_LIBRARIES_H
#define LKS_TESTS_LIBRARIES_H

#include "tests/tree.h"

/* One with a text in it. */
void lks_test_library(const struct lks_tree *tree, const char *path, const char *text, char build);

void lks_test_nccl(const struct lks_tree *tree, const char *path, const char *version, char build);

/* `number` is what the run time hands out: 13000 for 13.0. */
void lks_test_cudart(const struct lks_tree *tree, const char *path, uint32_t number, char build);

/* DIR/libcudnn.so.NUMBER, its build id "cudnn", and the part of it that has its version: patch,
 * minor, major and 0. */
void lks_test_cudnn(const struct lks_tree *tree, const char *dir, const char *number,
                    struct lks_str version);

/* /etc/ld.so.cache with these names and paths, in their order. */
void lks_test_ldcache(const struct lks_tree *tree, const char *const entries[][2], size_t count);

#endif
