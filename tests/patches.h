/* JSON patches of which every operation is "add", applied to documents in place. */
#ifndef LKS_TESTS_PATCHES_H
#define LKS_TESTS_PATCHES_H

#include "codec/format/docs.h"

/* Values move from `patch`, which has to outlive `top`. False: an operation is none, or its place
 * is not there. */
bool lks_patches_apply(struct lks_doc *top, struct lks_docs *patch);

#endif
