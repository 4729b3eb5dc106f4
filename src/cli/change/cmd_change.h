/* What the commands of `change` share. */
#ifndef LKS_CLI_CMD_CHANGE_H
#define LKS_CLI_CMD_CHANGE_H

#include "cli/shared/listing.h"

/* A number of an answer; 0 where it is missing. */
uint64_t lks_change_number(const struct lks_doc *map, const char *key);

/* "128 nodes, 1024 GPUs", with assets where there are some. */
#define LKS_CHANGE_SIZE_TEXT 96
const char *lks_change_size_text(const struct lks_doc *change, char out[LKS_CHANGE_SIZE_TEXT]);

/* A span of time as people say it; a dash for none. */
#define LKS_CHANGE_SPAN_TEXT LKS_SPAN_TEXT_SIZE
const char *lks_change_span_text(uint64_t ms, char out[LKS_CHANGE_SPAN_TEXT]);

/* Append the progress of a wave or a change: `12/20 done, 3 under way, 1 fenced: why`. */
void lks_change_put_progress(const struct lks_doc *wave, struct lks_buf *out);

/* The plan of an answer, for people: notes, waves, steps there and back. */
enum lks_code lks_change_print_plan(struct lks_cli *cli, const struct lks_doc *change,
                                    struct lks_err *err) LKS_MUST_CHECK;

/* Follow a change until it is over or halted; the answer is no where it did not end well. */
enum lks_code lks_change_follow(struct lks_cli *cli, const struct lks_args *args, const char *id,
                                struct lks_err *err) LKS_MUST_CHECK;

#endif
