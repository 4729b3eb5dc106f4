/*
 * Libraries that running processes have mapped, of those processes that have a GPU open.
 *
 * Other people's processes may not let us look: they are counted. Those that end while we look are
 * no matter. A library that was replaced under a running process is still found: the process keeps
 * the old file, which is read through /proc/PID/map_files where we may.
 */
#ifndef LKS_PROBE_PROCESSES_H
#define LKS_PROBE_PROCESSES_H

#include "probe/root/root.h"

#include <sys/types.h>

#define LKS_PROCESSES_MAPPED_MAX 512                /* different files */
#define LKS_PROCESSES_MAPS_MAX   ((size_t)32 << 20) /* bytes of one process's map */

struct lks_mapped {
    struct lks_str name; /* of the library's component */
    struct lks_str path; /* to read it by */
    struct lks_str of;   /* as people know it: within the process, "(deleted)" included */
    pid_t first;         /* the first process that has it */
    size_t users;
    uint64_t device, inode; /* what makes it the same file */
};

struct lks_processes {
    struct lks_mapped *list; /* in the arena */
    size_t count;
    size_t denied;  /* processes that we may not look at */
    size_t large;   /* those with more descriptors or mappings than we look at */
    size_t dropped; /* files beyond the limit */
};

/* `over` is asked before each process whether to stop (NULL: never). */
typedef bool lks_processes_over(void *ctx);
enum lks_code lks_processes_read(struct lks_root *root, struct lks_arena *arena,
                                 lks_processes_over *over, void *ctx, struct lks_processes *out,
                                 struct lks_err *err) LKS_MUST_CHECK;

#endif
