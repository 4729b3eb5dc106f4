/* Records at random, for tests of what holds in any state: mostly of what is there, now and then of
 * what is not. */
#ifndef LKS_TESTS_ANYTHING_H
#define LKS_TESTS_ANYTHING_H

#include "base/rng.h"

struct lks_state;

struct lks_record lks_test_any_record(struct lks_rng *rng, const struct lks_state *s);

#endif
