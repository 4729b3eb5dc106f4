/* Patterns of names, as package managers and our tables write them: '*' stands for any characters,
 * '?' for one and '#' for digits, one at the least. All else stands for itself. */
#ifndef LKS_CODEC_GLOB_H
#define LKS_CODEC_GLOB_H

#include "base/str.h"

/* Whether all of `name` fits. Takes no more steps than `name` has bytes, multiplied by those that
 * name and pattern have together. */
bool lks_glob_match(struct lks_str pattern, struct lks_str name);

#endif
