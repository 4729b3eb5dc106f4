/* SHA-256 as we write it: "sha256:" and 64 hexadecimal digits. */
#ifndef LKS_CODEC_DIGEST_H
#define LKS_CODEC_DIGEST_H

#include "base/err.h"
#include "base/str.h"

#include <stdint.h>

#define LKS_DIGEST_SIZE  (7 + 64 + 1) /* terminator included */
#define LKS_DIGEST_BYTES 32

enum lks_code lks_digest_text(struct lks_str bytes, char out[LKS_DIGEST_SIZE],
                              struct lks_err *err) LKS_MUST_CHECK;

/* Whether `s` is a digest as we write it. */
bool lks_digest_valid(struct lks_str s);

/* The bytes behind a digest as we write it; false: it is none. And back; it returns `out`. */
bool lks_digest_read(struct lks_str s, uint8_t out[LKS_DIGEST_BYTES]);
const char *lks_digest_write(const uint8_t bytes[LKS_DIGEST_BYTES], char out[LKS_DIGEST_SIZE]);

#endif
