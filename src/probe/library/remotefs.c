#include "probe/library/remotefs.h"

#include "probe/platform/mounts.h"

#define MOUNTS_MAX 65536

/* "*" at the end stands for anything. The first that fits decides. */
static const struct {
    const char *type;
    bool remote;
} types[] = {
    {"fuse.fuse-overlayfs", false}, /* layers of containers without root */
    {"fuse.squashfuse*", false},    /* images in one file */
    {"fuse.*", true},
    {"nfs", true},
    {"nfs4", true},
    {"autofs", true}, /* to look is to mount */
    {"lustre", true},
    {"gpfs", true},
    {"beegfs", true},
    {"beegfs_nodev", true},
    {"wekafs", true},
    {"panfs", true},
    {"pvfs2", true},
    {"ceph", true},
    {"glusterfs", true},
    {"cifs", true},
    {"smb3", true},
    {"smbfs", true},
    {"afs", true},
    {"9p", true},
    {"virtiofs", true},
};

static bool is_remote(struct lks_str type)
{
    for (size_t i = 0; i < LKS_COUNT(types); i++) {
        size_t len = strlen(types[i].type);
        bool open = types[i].type[len - 1] == '*';
        struct lks_str head = {type.ptr, open && type.len >= len ? len - 1 : type.len};
        struct lks_str want = {types[i].type, open ? len - 1 : len};
        if (lks_str_eq(head, want))
            return types[i].remote;
    }
    return false;
}

static bool below(struct lks_str path, struct lks_str top)
{
    return path.len >= top.len && memcmp(path.ptr, top.ptr, top.len) == 0 &&
           (path.len == top.len || path.ptr[top.len] == '/');
}

/* The last that covers it with the longest path: what was mounted later hides what was there. */
static const struct lks_remotefs_mount *covering(const struct lks_remotefs *mounts,
                                                 struct lks_str path)
{
    const struct lks_remotefs_mount *best = NULL;
    for (size_t i = 0; i < mounts->count; i++) {
        const struct lks_remotefs_mount *m = &mounts->list[i];
        if (below(path, m->path) && (best == NULL || m->path.len >= best->path.len))
            best = m;
    }
    return best;
}

const struct lks_remotefs_mount *lks_remotefs_of(const struct lks_remotefs *mounts,
                                                 struct lks_str path)
{
    const struct lks_remotefs_mount *m = covering(mounts, path);
    return m != NULL && m->remote ? m : NULL;
}

static enum lks_code add(struct lks_remotefs *mounts, struct lks_arena *arena, struct lks_str path,
                         struct lks_str type, struct lks_err *err)
{
    bool remote = is_remote(type) && !lks_str_is(path, "/");
    if (!remote && mounts->count == 0)
        return LKS_OK;
    struct lks_remotefs_mount m = {lks_mount_text(arena, path), lks_arena_copy(arena, type),
                                   remote};
    if (m.path.ptr == NULL || m.type.ptr == NULL)
        return lks_arena_fail(arena, err);
    if (remote || covering(mounts, m.path) != NULL)
        mounts->list[mounts->count++] = m;
    return LKS_OK;
}

enum lks_code lks_remotefs_read(struct lks_root *root, struct lks_arena *arena,
                                struct lks_remotefs *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_MOUNTS_BYTES_MAX);
    enum lks_code code = lks_root_read(root, LKS_MOUNTS_FILE, LKS_MOUNTS_BYTES_MAX, &text, err);
    *out = (struct lks_remotefs){0};
    if (code != LKS_OK)
        return code == LKS_E_NOT_FOUND ? LKS_OK : code;
    struct lks_str rest = lks_buf_view(&text), line;
    size_t lines = 1 + lks_str_count(rest, '\n');
    if (lines > MOUNTS_MAX)
        return lks_fail(err, LKS_E_LIMIT, LKS_MOUNTS_FILE ": more than %d mounts", MOUNTS_MAX);
    struct lks_remotefs mounts = {.list = lks_arena_array(arena, lines, sizeof(*mounts.list))};
    if (mounts.list == NULL)
        return lks_arena_fail(arena, err);
    while (rest.len > 0 && code == LKS_OK) {
        (void)lks_str_cut(rest, '\n', &line, &rest);
        struct lks_mount m;
        if (lks_mount_parse(line, &m) && lks_str_starts(m.point, "/"))
            code = add(&mounts, arena, m.point, m.type, err);
    }
    if (code == LKS_OK)
        *out = mounts;
    return code;
}
