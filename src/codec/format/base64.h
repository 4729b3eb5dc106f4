/* Base64 (RFC 4648) with padding, and its form for names and addresses without. */
#ifndef LKS_CODEC_BASE64_H
#define LKS_CODEC_BASE64_H

#include "base/buf.h"

void lks_base64_add(struct lks_buf *out, struct lks_str bytes);
void lks_base64_url_add(struct lks_buf *out, struct lks_str bytes);

/* Strict: no blanks, padding as it has to be, no bits left over. INVALID for anything else. */
enum lks_code lks_base64_read(struct lks_str text, struct lks_buf *out,
                              struct lks_err *err) LKS_MUST_CHECK;
enum lks_code lks_base64_url_read(struct lks_str text, struct lks_buf *out,
                                  struct lks_err *err) LKS_MUST_CHECK;

#endif
