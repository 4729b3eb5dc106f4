/* The recorded answers of a captured tree: lockstep/TABLE.csv with the columns key, code, value.
 * One row an answer; code is "ok" or the word for a failure, whose message then is the value. */
#ifndef LKS_PROBE_ANSWERS_H
#define LKS_PROBE_ANSWERS_H

#include "probe/root/root.h"

#define LKS_ANSWERS_BYTES_MAX ((size_t)4 << 20) /* of one table */

/* Look `key` up. `*found` says whether it was recorded; only then the answer is appended to `out`,
 * or the recorded failure returned. A table that cannot be read is a failure of its own. */
enum lks_code lks_answers_find(struct lks_root *root, const char *table, const char *key,
                               bool *found, struct lks_buf *out,
                               struct lks_err *err) LKS_MUST_CHECK;

/* Record what `code` and `err` or `value` say, if there is a capture. A capture that cannot be
 * written is noted in root->capture_failed. */
void lks_answers_record(struct lks_root *root, const char *table, const char *key,
                        enum lks_code code, struct lks_str value, const struct lks_err *err);

void lks_answers_free(struct lks_answers *answers);

#endif
