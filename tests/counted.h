/* Changes of a state, commands and updates, counted anew: whether all that apply keeps along is so.
 */
#ifndef LKS_TESTS_COUNTED_H
#define LKS_TESTS_COUNTED_H

#include <stdbool.h>

struct lks_state;

bool lks_counted_changes(const struct lks_state *s);
bool lks_counted_work(const struct lks_state *s);

#endif
