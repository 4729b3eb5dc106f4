/* SHA-256 as we write it: "sha256:" and 64 hexadecimal digits. */
#ifndef LKS_CODEC_DIGEST_H
#define LKS_CODEC_DIGEST_H

#include "base/err.h"
#include "base/str.h"

#define LKS_DIGEST_SIZE (7 + 64 + 1) /* terminator included */

enum lks_code lks_digest_text(struct lks_str bytes, char out[LKS_DIGEST_SIZE],
                              struct lks_err *err) LKS_MUST_CHECK;

/* Whether `s` is a digest as we write it. */
bool lks_digest_valid(struct lks_str s);

#endif
