/*
 * Failures.
 *
 * Whatever can fail returns an enum lks_code and takes a `struct lks_err *` as its last argument.
 * Programs look at the code (retry? which HTTP status? which exit status?), people read the
 * message. The struct is the caller's and owns nothing, so reporting a failure cannot itself fail.
 *
 * lks_fail() names the failure where it is found; callers on the way up put in front what they
 * know with lks_wrap(); only a program's main function prints. A message is always one line of
 * printable text, whatever bytes the input smuggled into it.
 */
#ifndef LKS_BASE_ERR_H
#define LKS_BASE_ERR_H

#include "base/compiler.h"

#include <stdbool.h>

/* The only list of what can go wrong; HTTP status, exit status, retry policy and the reference
 * page are all read from it. Scripts depend on the exit status:
 *
 *     0 yes, done     2 usage        4 cannot reach     6 internal
 *     1 no            3 bad input    5 not permitted
 */
/* clang-format off */
#define LKS_CODES(X)                                                \
    /* name        text           http  exit  may work later */     \
    X(REFUSED,     "refused",      409,    1, false)                \
    X(USAGE,       "usage",        400,    2, false)                \
    X(INVALID,     "invalid",      400,    3, false)                \
    X(NOT_FOUND,   "not-found",    404,    3, false)                \
    X(LIMIT,       "limit",        413,    3, false)                \
    X(UNAVAILABLE, "unavailable",  503,    4, true)                 \
    X(TIMEOUT,     "timeout",      504,    4, true)                 \
    X(DENIED,      "denied",       403,    5, false)                \
    X(IO,          "io",           500,    6, false)                \
    X(NOMEM,       "no-memory",    500,    6, false)

enum lks_code {
    LKS_OK = 0,
#define X(name, text, http, exit, later) LKS_E_##name,
    LKS_CODES(X)
#undef X
    LKS_CODE_COUNT
};
/* clang-format on */

struct lks_code_info {
    const char *text;
    int http;
    int exit;
    bool transient; /* the same call may succeed later */
};

#define LKS_ERR_MSG_MAX 512

struct lks_err {
    enum lks_code code;
    char msg[LKS_ERR_MSG_MAX]; /* always terminated; a longer text is cut at its end */
};

const struct lks_code_info *lks_err_code_info(enum lks_code code);

/* Fill in `err` and return `code`, so that failing is one statement. */
enum lks_code lks_fail(struct lks_err *err, enum lks_code code, const char *fmt, ...) LKS_MUST_CHECK
    LKS_PRINTF(3, 4);

/* Put "context: " before the message that is there and return its code. */
enum lks_code lks_wrap(struct lks_err *err, const char *fmt, ...) LKS_MUST_CHECK LKS_PRINTF(2, 3);

/* The same failure each time memory runs out. */
enum lks_code lks_fail_nomem(struct lks_err *err) LKS_MUST_CHECK;

/* Numbers by which others say what went wrong, such as HTTP statuses, and what they mean to us. */
struct lks_err_known {
    int number;
    enum lks_code code;
    const char *text;
};

/* The row of that number; NULL where the table has none. */
const struct lks_err_known *lks_err_find(const struct lks_err_known *table, size_t count,
                                         int number);

#endif
