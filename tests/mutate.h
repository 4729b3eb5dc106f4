/* One thing changed: values of readings and of manifests as something near that is another. */
#ifndef LKS_TESTS_MUTATE_H
#define LKS_TESTS_MUTATE_H

#include "codec/format/docs.h"
#include "model/tuple/tuple.h"

#define LKS_MUTATED_SIZE (LKS_READING_VALUE_MAX + 16)

/* Another value of the same kind: truth turned over, a digit of a hash changed, the last number in
 * a version one higher, a word replaced by its counterpart, the last of several words left out. */
void lks_mutate_value(struct lks_str value, char out[LKS_MUTATED_SIZE]);

/* What is done to a reading. */
enum lks_mutation { LKS_MUTATE_OTHER, LKS_MUTATE_UNMEASURED, LKS_MUTATE_ABSENT, LKS_MUTATIONS };
const char *lks_mutation_name(enum lks_mutation mutation);

/* A copy of `tuple` in which reading `index` is changed, finished. The caller owes
 * lks_tuple_fini(). */
struct lks_tuple lks_mutate_tuple(const struct lks_tuple *tuple, size_t index,
                                  enum lks_mutation mutation);

/* `yaml` with the scalar at `leaf` changed, appended to `out`. */
void lks_mutate_leaf(struct lks_str yaml, const struct lks_doc *leaf, struct lks_buf *out);

#endif
