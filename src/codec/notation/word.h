/* Words of the submission policy, whose file separates them by blanks (submit/policy.h). */
#ifndef LKS_CODEC_WORD_H
#define LKS_CODEC_WORD_H

#include "base/str.h"

#define LKS_WORD_MAX 1024 /* bytes */

/* Whether `s` can be one: printable ASCII without blanks, and not "-", which is none. */
bool lks_word_fits(struct lks_str s);

#endif
