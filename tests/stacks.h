/* Random stacks from a seed: as a value, spelled in many ways, and with one thing changed. For the
 * properties of what is hashed and of what a difference is. */
#ifndef LKS_TESTS_STACKS_H
#define LKS_TESTS_STACKS_H

#include "base/buf.h"
#include "base/rng.h"
#include "codec/format/docs.h"

/* A valid stack with everything that counts for its digest and nothing else. The same seed makes
 * the same one. */
void lks_test_stack_make(uint64_t seed, struct lks_docs *out);

/* Write it down in one of countless ways that all mean the same, with notes and evidence that mean
 * nothing. */
void lks_test_stack_spell(const struct lks_docs *stack, struct lks_rng *rng, struct lks_buf *out);

/* Change one thing that counts; false where this stack has no such thing. */
#define LKS_TEST_CHANGES 33
bool lks_test_stack_change(struct lks_docs *stack, unsigned change);
const char *lks_test_change_name(unsigned change);

#endif
