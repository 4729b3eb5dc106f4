/* Words of the form key=value in one line, as the answers of devices are written down. Blanks,
 * '%', '=' and what is not printable ASCII are written as %XX, so that any bytes come back. */
#ifndef LKS_CODEC_KV_H
#define LKS_CODEC_KV_H

#include "base/buf.h"

/* Append a word; a blank goes before it unless `line` is empty. */
void lks_kv_add(struct lks_buf *line, struct lks_str key, struct lks_str value);

/* Append the value of the first word with this key to `out`; false when there is none, or when it
 * was not written by lks_kv_add(). */
bool lks_kv_get(struct lks_str line, const char *key, struct lks_buf *out);

#endif
