/* A state as a snapshot would give it back. */
#ifndef LKS_TESTS_RELOAD_H
#define LKS_TESTS_RELOAD_H

#include <stdbool.h>

struct lks_err;
struct lks_state;

/* Into `out`, which is initialised here, with names hashed by another seed. False, and `why`,
 * unless the two are equal, and their snapshots the same bytes. */
bool lks_test_reloads(const struct lks_state *s, struct lks_state *out, struct lks_err *why);

/* The same, checked. */
void lks_test_reload(const struct lks_state *s, struct lks_state *out);

#endif
