/*
 * Asking a program: run it, take what it prints, and be done with it.
 *
 * A program is found in fixed directories and nowhere else, and run by the path it was found
 * under, without a shell, if only root and we can have written it. It gets a PATH of the system's
 * directories, LC_ALL=C, no input, no descriptor of ours and no new privileges. Where the kernel
 * has Landlock it cannot open a file for writing, make, rename or remove one, nor, since Linux 6.2,
 * cut one short; devices are files in this. Modes, owners and extended attributes it could still
 * change as far as we could, and speak to sockets: the programs asked here are trusted not to. It
 * has a time and an amount to print; beyond either it is killed, and so it is when we are, with all
 * it started that is still in its process group.
 *
 * Programs are started together and collected one after the other, so that all of them take as
 * long as the slowest. The answers are asked through the root, in the table "command" under
 * "PATH ARGUMENTS", so a captured tree has them too.
 */
#ifndef LKS_PROBE_COMMAND_H
#define LKS_PROBE_COMMAND_H

#include "probe/root/root.h"

#include <sys/types.h>

#define LKS_COMMAND_ARGS_MAX   8
#define LKS_COMMAND_MS         2000
#define LKS_COMMAND_OUTPUT_MAX ((size_t)4 << 20)

enum lks_command_flag {
    LKS_COMMAND_QUIET = 1 << 0, /* what it prints as errors is thrown away */
    LKS_COMMAND_DEVICES =
        1 << 1, /* to ask NVIDIA's devices anything it must open them for writing */
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
 * `*dir` to the one behind the one it was found in. NOT_FOUND where there is none. On the live
 * machine lks_command_trust() must agree. */
enum lks_code lks_command_find(struct lks_root *root, const char *name, size_t *dir,
                               char path[LKS_ROOT_PATH_MAX], struct stat *st,
                               struct lks_err *err) LKS_MUST_CHECK;

/* "no NAME in /usr/local/sbin and 13 other directories of programs": the evidence that there is
 * none. */
void lks_command_looked(const char *name, char *out, size_t size);

/* DENIED for a program that is not to be run by user `us`: one that others than root and `us` own
 * or may change. */
enum lks_code lks_command_trust(const char *path, const struct stat *st, uid_t us,
                                struct lks_err *err) LKS_MUST_CHECK;

/* Begin, on the live machine; in a captured tree nothing happens. `args` end with NULL and stay. A
 * failure to start is told when it is collected. */
void lks_command_start(struct lks_command *c, struct lks_root *root, const char *path,
                       const char *const *args, size_t output_max, unsigned flags, int ms);

/* Wait for it and append what it printed to `out`, one line: line ends become blanks. It has to end
 * by itself, with status 0. */
enum lks_code lks_command_collect(struct lks_command *c, struct lks_root *root, struct lks_buf *out,
                                  struct lks_err *err) LKS_MUST_CHECK;

/* The version of the Landlock that keeps programs from writing; 0: nothing does. Before the third
 * they may still cut files short. */
int lks_command_guard(void);

/* "PATH ARGUMENTS": the key of the answer, and the evidence. */
void lks_command_text(const struct lks_command *c, char *out, size_t size);

#endif
