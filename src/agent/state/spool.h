/*
 * What waits to be told: reports as files, in the order they were made.
 *
 * A report is durable before lks_spool_add() returns and stays until lks_spool_done(). Each file
 * says what it is and carries the digest of its content, so that one that was damaged is told from
 * one that was not; it is set aside with a line in the log. When there is no more room the oldest
 * tuples give way, since newer ones say the same of a later time. Results of commands never do.
 */
#ifndef LKS_AGENT_SPOOL_H
#define LKS_AGENT_SPOOL_H

#include "agent/state/statedir.h"
#include "base/process/log.h"

#include <stdint.h>

#define LKS_SPOOL_BODY_MAX    ((size_t)8 << 20)
#define LKS_SPOOL_HEADER_MAX  128
#define LKS_SPOOL_RESULTS_MAX 8192 /* files of results beyond which even they are refused */

enum lks_spool_kind { LKS_SPOOL_TUPLE, LKS_SPOOL_RESULT, LKS_SPOOL_KIND_COUNT };

struct lks_spool_entry {
    uint64_t number;
    size_t bytes;
    enum lks_spool_kind kind;
};

struct lks_spool {
    struct lks_statedir dir;
    struct lks_spool_entry *entries; /* owned; by rising number */
    size_t count, room;
    size_t bytes;                /* of all of them */
    size_t count_max, bytes_max; /* beyond which tuples give way */
    bool dropped;                /* some did since it was last empty */
    struct lks_log *log;         /* borrowed */
};

/* See what is in the directory `path`, which is made if it is not there. */
enum lks_code lks_spool_open(const char *path, size_t count_max, size_t bytes_max,
                             struct lks_log *log, struct lks_spool *out,
                             struct lks_err *err) LKS_MUST_CHECK;
void lks_spool_close(struct lks_spool *s);

enum lks_code lks_spool_add(struct lks_spool *s, enum lks_spool_kind kind, struct lks_str body,
                            struct lks_err *err) LKS_MUST_CHECK;

/* The oldest report; NOT_FOUND where there is none. `body` is initialised here. */
enum lks_code lks_spool_oldest(struct lks_spool *s, enum lks_spool_kind *kind, struct lks_buf *body,
                               struct lks_err *err) LKS_MUST_CHECK;

/* It was taken, or will never be: remove the oldest. */
enum lks_code lks_spool_done(struct lks_spool *s, struct lks_err *err) LKS_MUST_CHECK;

/* A file's bytes from a report, and back; `body` is a view of `bytes`. */
enum lks_code lks_spool_pack(enum lks_spool_kind kind, struct lks_str body, struct lks_buf *out,
                             struct lks_err *err) LKS_MUST_CHECK;
enum lks_code lks_spool_unpack(struct lks_str bytes, enum lks_spool_kind *kind,
                               struct lks_str *body, struct lks_err *err) LKS_MUST_CHECK;

#endif
