/* The configuration files of dnf and yum: [section] lines, "key = value" lines, comments that begin
 * with '#' or ';', and values that go on in lines that begin with a blank. */
#ifndef LKS_CODEC_INI_H
#define LKS_CODEC_INI_H

#include "base/buf.h"

/* Append the value of `key` in `section` to `out`, with a blank for each line it goes on in, and
 * say whether there is one. Of several the last counts, as for their own readers. What is not such
 * a line is passed over. */
bool lks_ini_find(struct lks_str text, const char *section, const char *key, struct lks_buf *out);

#endif
