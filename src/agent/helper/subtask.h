/*
 * Something others do for us while we go on: a program that runs, or the helper that thinks. What
 * it says arrives at a descriptor to poll, bounded in bytes and time.
 */
#ifndef LKS_AGENT_SUBTASK_H
#define LKS_AGENT_SUBTASK_H

#include "base/buf.h"

#include <stdint.h>
#include <sys/types.h>

struct lks_subtask {
    bool active;
    pid_t pid;     /* of the program or its keeper, or 0: it is the helper */
    int fd;        /* to poll for reading */
    int64_t begun; /* lks_clock_ms() */
    int64_t ends;  /* when it has been long enough */
    bool cut;      /* what is beyond the ceiling is thrown away instead of being a failure */
    bool too_much; /* said more than it may */
    int status;    /* its exit status, once it ended by itself */
    struct lks_buf said;
};

struct lks_subtask_program {
    const char *path;
    char *const *argv; /* ends with NULL */
    char *variable;    /* "NAME=VALUE" beside PATH, or NULL: none */
    bool errors;       /* what it prints as errors is part of what it says */
    bool cut;
    bool family; /* what it started ends with us, too, even if we are killed */
    bool orphan; /* goes on if we die: to be killed half-way would be worse */
    size_t max;
    int ms;
};

/* Start a program: no shell, no input, nothing of ours open, no environment but a fixed PATH
 * and `variable`, a process group of its own. */
enum lks_code lks_subtask_start(struct lks_subtask *e, const struct lks_subtask_program *program,
                                struct lks_err *err) LKS_MUST_CHECK;

/* Put a question to the helper at `socket`; UNAVAILABLE where it is away. */
enum lks_code lks_subtask_ask(struct lks_subtask *e, const char *socket, const char *line,
                              struct lks_str body, int ms, struct lks_err *err) LKS_MUST_CHECK;

/* Take in what arrived, without waiting. True when it has come to its end, in time or not. */
bool lks_subtask_hear(struct lks_subtask *e);

/* Whether the program is at its end, or its time is up. One that closed what it says its words to,
 * for which lks_subtask_hear() says so, may go on. */
bool lks_subtask_over(const struct lks_subtask *e);

/* How a program ended, or what the helper said as a whole message; `text` is a view into the
 * errand, valid until lks_subtask_fini(). FAILURES: TIMEOUT when its time was up, LIMIT when it
 * said too much, REFUSED with "status N" or "signal N" when the program failed, UNAVAILABLE when
 * the helper broke off. What a program said until then is in `text` all the same. */
enum lks_code lks_subtask_end(struct lks_subtask *e, struct lks_str *text,
                              struct lks_err *err) LKS_MUST_CHECK;
void lks_subtask_fini(struct lks_subtask *e);

#endif
