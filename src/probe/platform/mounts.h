/* What is mounted, and whether the disks under the root file system are encrypted. */
#ifndef LKS_PROBE_MOUNTS_H
#define LKS_PROBE_MOUNTS_H

#include "probe/root/probe.h"

#define LKS_MOUNTS_FILE      "/proc/self/mountinfo"
#define LKS_MOUNTS_BYTES_MAX ((size_t)8 << 20) /* a node with many containers has many */

struct lks_mount {
    unsigned major, minor;
    struct lks_str point, type, source; /* with blanks written as \040 */
};

/* A line of mountinfo; false for one that is none. */
bool lks_mount_parse(struct lks_str line, struct lks_mount *out);

/* `s`, a field of it, with "\040" and its like as the bytes they stand for, terminated, in `arena`;
 * no pointer where that is full. */
struct lks_str lks_mount_text(struct lks_arena *arena, struct lks_str s);

struct lks_mounts {
    struct lks_str text; /* /proc/self/mountinfo, in the probe's arena; no pointer: not read */
    struct lks_err err;  /* then */
};

void lks_mounts_read(struct lks_probe *p, struct lks_mounts *out);

/* The file system that is seen at `point`: the last that was mounted there. */
bool lks_mounts_find(const struct lks_mounts *mounts, const char *point, struct lks_mount *out);

/* Whether something is mounted there. */
bool lks_mounts_at(const struct lks_mounts *mounts, const char *point);

/* The reading platform.disk_encryption. Plain means that no layer between the file system and its
 * disks encrypts; a disk that does so inside itself does not tell. */
void lks_mounts_encryption(struct lks_probe *p, const struct lks_mounts *mounts);

#endif
