/*
 * A program that an executor has do the work: found in the system's folders alone, run without a
 * shell, without input, in C's own language. What it prints is taken when it has ended; of one that
 * fails, the last line is the reason. It dies with us: an abandoned program must not change things
 * while the next executor runs.
 */
#ifndef LKS_EXECUTORS_TOOL_H
#define LKS_EXECUTORS_TOOL_H

#include "base/buf.h"

#define LKS_TOOL_OUTPUT_MAX ((size_t)4 << 20)
#define LKS_TOOL_ARGS_MAX   600

struct lks_tool {
    const char *const *argv; /* ends with NULL; the program by its name, or by its whole path */
    struct lks_buf *out;     /* gets what it prints, as much as fits; or NULL */
    int ms;                  /* after which it is stopped, with what it started; 0: never */
    int lock;                /* it goes on if we die, and holds this meanwhile; or 0 */
    bool apart; /* and it is not to stop half-way: who stops us with our group leaves it alone */
};

/* Whether there is such a program. */
bool lks_tool_there(const char *name);

/* Run it to its end. NOT_FOUND where it is not installed, REFUSED with "NAME: status 3: last line",
 * TIMEOUT. */
enum lks_code lks_tool_run(const struct lks_tool *tool, struct lks_err *err) LKS_MUST_CHECK;

/* The commonest kind: arguments, and what it prints. */
enum lks_code lks_tool_ask(const char *const *argv, struct lks_buf *out,
                           struct lks_err *err) LKS_MUST_CHECK;

#endif
