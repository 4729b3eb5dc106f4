/*
 * Asking a program: run it, take what it prints, and be done with it.
 *
 * A program is found in fixed directories and nowhere else, and run by the path it was found
 * under, without a shell. It gets a PATH of the system's directories, LC_ALL=C, no input, no
 * descriptor of ours, no new privileges and, where the kernel has Landlock, no way to write a
 * file, nor a device unless it is allowed to. It has a time and an amount to print; beyond either
 * it is killed with all it started.
 *
 * Programs are started together and collected one after the other, so that all of them take as
 * long as the slowest. The answers are asked through the root, in the table "command" under
 * "PATH ARGUMENTS", so a captured tree has them too.
 */
#ifndef LKS_PROBE_COMMAND_H
#define LKS_PROBE_COMMAND_H

#include "probe/root.h"

#include <sys/types.h>

#define LKS_COMMAND_ARGS_MAX   8
#define LKS_COMMAND_MS         2000
#define LKS_COMMAND_OUTPUT_MAX ((size_t)4 << 20)

enum lks_command_flag {
    LKS_COMMAND_QUIET = 1 << 0,   /* what it prints as errors is thrown away */
    LKS_COMMAND_DEVICES = 1 << 1, /* it has to open devices for writing to ask them anything */
};

struct lks_command {
    char path[LKS_ROOT_PATH_MAX];
    const char *args[LKS_COMMAND_ARGS_MAX + 1]; /* without the program; ends with NULL */
    size_t output_max;
    unsigned flags;  /* enum lks_command_flag */
    pid_t pid;       /* 0: not running */
    int pipe;        /* what it prints, while it runs */
    int64_t ends;    /* when its time is up, on the monotonic clock in milliseconds */
    int start_errno; /* why it could not be started */
};

/* The directories programs are looked for in, in order; ends with NULL. */
extern const char *const lks_command_dirs[];

/* Look for the program `name` from directory `*dir` on, as an index of lks_command_dirs, and set
 * `*dir` to the one behind the one it was found in. NOT_FOUND where there is none. One that anyone
 * may write to is refused: DENIED. */
enum lks_code lks_command_find(struct lks_root *root, const char *name, size_t *dir,
                               char path[LKS_ROOT_PATH_MAX], struct stat *st,
                               struct lks_err *err) LKS_MUST_CHECK;

/* Begin, on the live machine; in a captured tree nothing happens. `args` end with NULL and stay. A
 * failure to start is told when it is collected. */
void lks_command_start(struct lks_command *c, struct lks_root *root, const char *path,
                       const char *const *args, size_t output_max, unsigned flags, int ms);

/* Wait for it and append what it printed to `out`, one line: line ends become blanks. It has to end
 * by itself, with status 0. */
enum lks_code lks_command_collect(struct lks_command *c, struct lks_root *root, struct lks_buf *out,
                                  struct lks_err *err) LKS_MUST_CHECK;

/* Whether the kernel keeps programs from writing. */
bool lks_command_guarded(void);

/* "PATH ARGUMENTS": the key of the answer, and the evidence. */
void lks_command_text(const struct lks_command *c, char *out, size_t size);

#endif
