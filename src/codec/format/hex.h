/* Bytes as hexadecimal digits. */
#ifndef LKS_CODEC_HEX_H
#define LKS_CODEC_HEX_H

#include "base/buf.h"

/* Lower-case digits, and back; `len` bytes each way. */
void lks_hex_add(struct lks_buf *out, const uint8_t *bytes, size_t len);
bool lks_hex_read(struct lks_str text, uint8_t *out, size_t len);

#endif
