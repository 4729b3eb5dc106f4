/*
 * The file that this process was started from, and whether another one is in its place now: a
 * package of another version was installed.
 */
#ifndef LKS_AGENT_PROGRAM_H
#define LKS_AGENT_PROGRAM_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

struct lks_program {
    char path[PATH_MAX]; /* empty: it cannot be told */
    dev_t device;
    ino_t inode;
};

/* Where we are now. One that was removed already is not known. */
void lks_program_find(struct lks_program *out);

/* Another program stands there: a file that may be run, and that only root or we may change. */
bool lks_program_replaced(const struct lks_program *p);

/* Become it, with these arguments; comes back where that fails. */
void lks_program_run(const struct lks_program *p, char *const *argv);

#endif
