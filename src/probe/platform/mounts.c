#include "probe/platform/mounts.h"

#include <stdio.h>

#define NAME        "platform.disk_encryption"
#define NONE        LKS_STR("")
#define DEPTH_MAX   8  /* layers of block devices */
#define DEVICES_MAX 64 /* in all */

void lks_mounts_read(struct lks_probe *p, struct lks_mounts *out)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_MOUNTS_BYTES_MAX);
    *out = (struct lks_mounts){0};
    if (lks_root_read(p->root, LKS_MOUNTS_FILE, LKS_MOUNTS_BYTES_MAX, &text, &out->err) != LKS_OK)
        return;
    out->text = lks_arena_copy(p->arena, lks_buf_view(&text));
    if (out->text.ptr == NULL)
        out->err.code = lks_arena_fail(p->arena, &out->err);
}

/* "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue": there may be
 * any number of fields before the dash. See proc_pid_mountinfo(5). */
bool lks_mount_parse(struct lks_str line, struct lks_mount *out)
{
    struct lks_str field[5], major, minor, word = {0};
    uint64_t a, b;
    for (size_t i = 0; i < LKS_COUNT(field); i++) {
        if (!lks_str_word(&line, &field[i]))
            return false;
    }
    if (!lks_str_cut(field[2], ':', &major, &minor) || !lks_str_number(major, UINT32_MAX, &a) ||
        !lks_str_number(minor, UINT32_MAX, &b))
        return false;
    while (!lks_str_is(word, "-")) {
        if (!lks_str_word(&line, &word))
            return false;
    }
    *out = (struct lks_mount){.major = (unsigned)a, .minor = (unsigned)b, .point = field[4]};
    return lks_str_word(&line, &out->type) && lks_str_word(&line, &out->source);
}

struct lks_str lks_mount_text(struct lks_arena *arena, struct lks_str s)
{
    char *out = lks_arena_alloc(arena, s.len + 1);
    size_t len = 0;
    if (out == NULL)
        return (struct lks_str){0};
    for (size_t i = 0; i < s.len; i++) {
        unsigned value = 0, digits = 0;
        while (s.ptr[i] == '\\' && digits < 3 && i + digits + 1 < s.len &&
               s.ptr[i + digits + 1] >= '0' && s.ptr[i + digits + 1] <= '7')
            value = value * 8 + (unsigned)(s.ptr[i + ++digits] - '0');
        out[len++] = digits == 3 ? (char)value : s.ptr[i];
        i += digits == 3 ? 3 : 0;
    }
    out[len] = '\0';
    return (struct lks_str){out, len};
}

bool lks_mounts_find(const struct lks_mounts *mounts, const char *point, struct lks_mount *out)
{
    bool found = false;
    struct lks_str rest = mounts->text;
    for (bool more = rest.len > 0; more;) {
        struct lks_str line;
        struct lks_mount mount;
        more = lks_str_cut(rest, '\n', &line, &rest);
        if (!lks_mount_parse(line, &mount) || !lks_str_is(mount.point, point))
            continue;
        *out = mount;
        found = true;
    }
    return found;
}

bool lks_mounts_at(const struct lks_mounts *mounts, const char *point)
{
    struct lks_mount mount;
    return lks_mounts_find(mounts, point, &mount);
}

/* Layers of block devices -------------------------------------------------------------------- */

enum answer { PLAIN, ENCRYPTED, FAILED };

struct walk {
    struct lks_probe *p;
    unsigned seen;
    struct lks_str crypt; /* the file that said so last */
    struct lks_err err;   /* FAILED: why */
};

static enum answer device(struct walk *w, const char *dir, int depth);

static enum answer failed(enum lks_code code)
{
    LKS_ASSERT(code != LKS_OK);
    return FAILED;
}

/* On what a volume or an array lies: it is encrypted when all of that is. */
static enum answer below(struct walk *w, const struct lks_names *names, int depth)
{
    enum answer all = ENCRYPTED;
    for (size_t i = 0; i < names->count; i++) {
        struct lks_str path = lks_arena_format(w->p->arena, "/sys/class/block/%" LKS_STR_FMT,
                                               LKS_STR_ARG(names->list[i]));
        if (path.ptr == NULL)
            return failed(lks_arena_fail(w->p->arena, &w->err));
        enum answer one = device(w, path.ptr, depth + 1);
        if (one != ENCRYPTED)
            all = all == FAILED ? FAILED : one;
    }
    return all;
}

/* A partition is what the disk above it is. */
static enum answer whole_disk(struct walk *w, const char *dir, int depth)
{
    char real[LKS_ROOT_PATH_MAX];
    if (lks_root_real(w->p->root, dir, real, &w->err) != LKS_OK)
        return FAILED;
    char *slash = strrchr(real, '/');
    if (slash == NULL || slash == real)
        return failed(lks_fail(&w->err, LKS_E_INVALID, "%s: a partition of nothing", dir));
    *slash = '\0';
    return device(w, real, depth + 1);
}

static struct lks_str within(struct walk *w, const char *dir, const char *name)
{
    return lks_arena_format(w->p->arena, "%s/%s", dir, name);
}

static enum answer device(struct walk *w, const char *dir, int depth)
{
    char uuid[LKS_ROOT_LINE_MAX];
    struct lks_names names = {0};
    struct lks_str dm = within(w, dir, "dm/uuid"), slaves = within(w, dir, "slaves"),
                   partition = within(w, dir, "partition"), loop = within(w, dir, "loop");
    if (dm.ptr == NULL || slaves.ptr == NULL || partition.ptr == NULL || loop.ptr == NULL)
        return failed(lks_arena_fail(w->p->arena, &w->err));
    if (depth > DEPTH_MAX || ++w->seen > DEVICES_MAX)
        return failed(lks_fail(&w->err, LKS_E_LIMIT, "%s: too many layers of devices", dir));
    struct stat st;
    if (lks_root_stat(w->p->root, dir, &st, &w->err) != LKS_OK)
        return FAILED;
    enum lks_code code = lks_root_line(w->p->root, dm.ptr, uuid, &w->err);
    if (code != LKS_OK && code != LKS_E_NOT_FOUND)
        return FAILED;
    if (code == LKS_OK && lks_str_starts(lks_str_from(uuid), "CRYPT-")) {
        w->crypt = dm;
        return ENCRYPTED;
    }
    if (lks_root_exists(w->p->root, loop.ptr))
        return failed(lks_fail(&w->err, LKS_E_REFUSED, "%s: a file as a disk, not followed", dir));
    code = lks_root_list(w->p->root, slaves.ptr, w->p->arena, &names, &w->err);
    if (code != LKS_OK && code != LKS_E_NOT_FOUND)
        return FAILED;
    if (names.count > 0)
        return below(w, &names, depth);
    return lks_root_exists(w->p->root, partition.ptr) ? whole_disk(w, dir, depth) : PLAIN;
}

/* The root file system ----------------------------------------------------------------------- */

/* Types that lie on no block device of this machine. */
static const struct {
    const char *type;
    bool memory; /* no disk at all */
    const char *why;
} no_disk[] = {
    {"tmpfs", true, NULL},
    {"ramfs", true, NULL},
    {"rootfs", true, NULL},
    {"overlay", false, "an overlay does not say which disks it lies on"},
    {"aufs", false, "an overlay does not say which disks it lies on"},
    {"zfs", false, "ZFS encrypts by itself and is not inspected"},
    {"nfs", false, "its disks are another machine's"},
    {"nfs4", false, "its disks are another machine's"},
    {"cifs", false, "its disks are another machine's"},
    {"ceph", false, "its disks are another machine's"},
    {"lustre", false, "its disks are another machine's"},
    {"9p", false, "its disks are the host's"},
    {"virtiofs", false, "its disks are the host's"},
};

/* Where sysfs has the device of the file system. Some types (btrfs) have a number of their own, and
 * the name is what is left. */
static struct lks_str device_dir(struct lks_probe *p, const struct lks_mount *m)
{
    if (m->major != 0)
        return lks_arena_format(p->arena, "/sys/dev/block/%u:%u", m->major, m->minor);
    if (!lks_str_starts(m->source, "/dev/"))
        return (struct lks_str){0};
    struct lks_str path = lks_mount_text(p->arena, m->source);
    char target[LKS_ROOT_PATH_MAX];
    struct lks_err err = {0};
    if (path.ptr == NULL)
        return path;
    if (lks_root_link(p->root, path.ptr, target, &err) == LKS_OK)
        path = lks_str_from(target);
    struct lks_str name = lks_str_last(path, '/');
    return lks_arena_format(p->arena, "/sys/class/block/%" LKS_STR_FMT, LKS_STR_ARG(name));
}

static void say_device(struct lks_probe *p, const struct lks_mount *m, const char *evidence)
{
    struct walk w = {.p = p};
    struct lks_str dir = device_dir(p, m);
    if (dir.ptr == NULL) {
        lks_probe_unmeasured(p, NAME, NONE, evidence, "its device is not known");
        return;
    }
    enum answer answer = device(&w, dir.ptr, 0);
    if (answer == FAILED) {
        lks_probe_unmeasured(p, NAME, NONE, evidence, "%s", w.err.msg);
        return;
    }
    struct lks_str how =
        lks_arena_format(p->arena, "%s; %s", evidence, answer == ENCRYPTED ? w.crypt.ptr : dir.ptr);
    if (how.ptr != NULL)
        lks_probe_value(p, NAME, NONE, NONE,
                        answer == ENCRYPTED ? LKS_STR("encrypted") : LKS_STR("plain"), how.ptr);
}

void lks_mounts_encryption(struct lks_probe *p, const struct lks_mounts *mounts)
{
    struct lks_mount m;
    char evidence[256];
    if (mounts->text.ptr == NULL) {
        lks_probe_unmeasured(p, NAME, NONE, LKS_MOUNTS_FILE, "%s", mounts->err.msg);
        return;
    }
    if (!lks_mounts_find(mounts, "/", &m)) {
        lks_probe_unmeasured(p, NAME, NONE, LKS_MOUNTS_FILE, "%s: no root file system",
                             LKS_MOUNTS_FILE);
        return;
    }
    snprintf(evidence, sizeof(evidence), "%s: / is %.*s", LKS_MOUNTS_FILE,
             (int)(m.type.len < 64 ? m.type.len : 64), m.type.ptr);
    for (size_t i = 0; i < LKS_COUNT(no_disk); i++) {
        if (!lks_str_is(m.type, no_disk[i].type))
            continue;
        if (no_disk[i].memory)
            lks_probe_absent(p, NAME, NONE, evidence);
        else
            lks_probe_unmeasured(p, NAME, NONE, evidence, "%s", no_disk[i].why);
        return;
    }
    say_device(p, &m, evidence);
}
