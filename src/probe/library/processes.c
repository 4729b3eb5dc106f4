#include "probe/library/processes.h"

#include "codec/program/maps.h"
#include "probe/library/libread.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

enum { KERNEL_THREAD = 0x00200000 }; /* in the flags of /proc/PID/stat */

/* Devices whose user works with a GPU; the beginning of a name is enough. */
static const char *const gpu_devices[] = {"/dev/nvidia", "/dev/kfd", "/dev/dri/renderD"};

struct scan {
    struct lks_root *root;
    struct lks_arena *arena;
    struct lks_processes *out;
    pid_t pid;
    bool counted[LKS_PROCESSES_MAPPED_MAX]; /* files this process was counted for */
    char line[LKS_MAP_LINE_MAX + 1];        /* begun by one piece of the map, ended by another */
    size_t len;
};

static bool is_gpu(const char *path)
{
    for (size_t i = 0; i < LKS_COUNT(gpu_devices); i++) {
        if (strncmp(path, gpu_devices[i], strlen(gpu_devices[i])) == 0)
            return true;
    }
    return false;
}

static enum lks_code has_gpu_open(struct scan *s, bool *yes, struct lks_err *err)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    struct lks_names names;
    char path[512], target[LKS_ROOT_PATH_MAX];
    lks_arena_init(&arena, LKS_ROOT_ENTRIES_MAX * (size_t)64);
    snprintf(path, sizeof(path), "/proc/%ld/fd", (long)s->pid);
    *yes = false;
    if (lks_root_list(s->root, path, &arena, &names, err) != LKS_OK)
        return err->code;
    for (size_t i = 0; i < names.count && !*yes; i++) {
        struct lks_err gone;
        snprintf(path, sizeof(path), "/proc/%ld/fd/%" LKS_STR_FMT, (long)s->pid,
                 LKS_STR_ARG(names.list[i]));
        *yes = lks_root_link(s->root, path, target, &gone) == LKS_OK && is_gpu(target);
    }
    return LKS_OK;
}

/* Files -------------------------------------------------------------------------------------- */

/* The files behind a name differ from one container to the next; device and inode tell. */
static struct lks_mapped *find(struct scan *s, uint64_t device, uint64_t inode)
{
    for (size_t i = 0; i < s->out->count; i++) {
        struct lks_mapped *m = &s->out->list[i];
        if (m->device == device && m->inode == inode)
            return m;
    }
    return NULL;
}

static void count(struct scan *s, const struct lks_mapped *fresh)
{
    struct lks_mapped *m = find(s, fresh->device, fresh->inode);
    if (m == NULL && (s->out->count == LKS_PROCESSES_MAPPED_MAX || fresh->path.ptr == NULL ||
                      fresh->of.ptr == NULL)) {
        s->out->dropped++;
        return;
    }
    if (m == NULL) {
        m = &s->out->list[s->out->count++];
        *m = *fresh;
        m->first = s->pid;
    }
    bool *counted = &s->counted[m - s->out->list];
    m->users += !*counted;
    *counted = true;
}

/* A file with a name: the process's own view of it, and ours where it is the same. */
static bool named(struct scan *s, const struct lks_map *map, struct lks_mapped *out)
{
    char inside[LKS_ROOT_PATH_MAX], outside[LKS_ROOT_PATH_MAX];
    struct stat st, ours;
    struct lks_err err;
    int len = snprintf(inside, sizeof(inside), "/proc/%ld/root%" LKS_STR_FMT, (long)s->pid,
                       LKS_STR_ARG(map->path));
    snprintf(outside, sizeof(outside), "%" LKS_STR_FMT, LKS_STR_ARG(map->path));
    if (len < 0 || (size_t)len >= sizeof(inside) ||
        lks_root_stat(s->root, inside, &st, &err) != LKS_OK)
        return false;
    bool same = lks_root_stat(s->root, outside, &ours, &err) == LKS_OK &&
                ours.st_dev == st.st_dev && ours.st_ino == st.st_ino;
    out->path = lks_arena_copy(s->arena, lks_str_from(same ? outside : inside));
    out->of = out->path;
    out->device = (uint64_t)st.st_dev;
    out->inode = (uint64_t)st.st_ino;
    return true;
}

/* A file without a name any more, or with one that we cannot reach. */
static void nameless(struct scan *s, const struct lks_map *map, struct lks_mapped *out)
{
    out->path = lks_arena_format(s->arena, "/proc/%ld/map_files/%" PRIx64 "-%" PRIx64, (long)s->pid,
                                 map->start, map->end);
    out->of = lks_arena_format(s->arena, "%" LKS_STR_FMT "%s", LKS_STR_ARG(map->path),
                               map->deleted ? " (deleted)" : "");
    out->device = (uint64_t)map->major << 32 | map->minor;
    out->inode = map->inode;
}

static void take_line(struct scan *s, struct lks_str line)
{
    struct lks_map map;
    struct lks_mapped fresh = {0};
    if (!lks_map_parse(line, &map) || map.path.len == 0 || map.path.ptr[0] != '/' ||
        !lks_str_printable(map.path))
        return;
    const struct lks_libver_kind *kind = lks_libread_kind(lks_str_last(map.path, '/'));
    if (kind == NULL || lks_libread_is_driver(kind))
        return;
    fresh.name = lks_str_from(kind->component);
    if (map.deleted || !named(s, &map, &fresh))
        nameless(s, &map, &fresh);
    count(s, &fresh);
}

/* Lines come in pieces; one that is too long is no line of interest. */
static bool take_piece(void *ctx, struct lks_str piece)
{
    struct scan *s = ctx;
    for (size_t i = 0; i < piece.len; i++) {
        if (piece.ptr[i] == '\n') {
            if (s->len <= LKS_MAP_LINE_MAX)
                take_line(s, (struct lks_str){s->line, s->len});
            s->len = 0;
        } else if (s->len <= LKS_MAP_LINE_MAX) {
            s->line[s->len++] = piece.ptr[i];
        }
    }
    return true;
}

/* Processes ---------------------------------------------------------------------------------- */

/* Threads of the kernel have no libraries; that we may not look at them is no loss. The flags are
 * the seventh word behind the name, which is in parentheses and may have any characters in it. */
static bool is_kernel_thread(struct scan *s)
{
    char path[64], line[LKS_ROOT_LINE_MAX];
    struct lks_err err;
    snprintf(path, sizeof(path), "/proc/%ld/stat", (long)s->pid);
    const char *name_end =
        lks_root_line(s->root, path, line, &err) == LKS_OK ? strrchr(line, ')') : NULL;
    if (name_end == NULL)
        return false;
    struct lks_str rest = lks_str_from(name_end + 1), word = {0};
    uint64_t flags = 0;
    for (int i = 0; i < 7; i++) {
        if (!lks_str_word(&rest, &word))
            return false;
    }
    return lks_str_number(word, UINT32_MAX, &flags) && (flags & KERNEL_THREAD) != 0;
}

static void take_process(struct scan *s)
{
    struct lks_err err;
    bool gpu = false;
    enum lks_code code = has_gpu_open(s, &gpu, &err);
    if (code == LKS_OK && gpu) {
        char path[64];
        snprintf(path, sizeof(path), "/proc/%ld/maps", (long)s->pid);
        memset(s->counted, 0, sizeof(s->counted));
        s->len = 0;
        code = lks_root_stream(s->root, path, LKS_PROCESSES_MAPS_MAX, take_piece, s, &err);
    }
    if (code == LKS_E_LIMIT)
        s->out->large++;
    else if (code != LKS_OK && code != LKS_E_NOT_FOUND && !is_kernel_thread(s))
        s->out->denied++;
}

enum lks_code lks_processes_read(struct lks_root *root, struct lks_arena *arena,
                                 lks_processes_over *over, void *ctx, struct lks_processes *out,
                                 struct lks_err *err)
{
    struct lks_names names;
    struct lks_processes all = {0};
    struct scan *s = lks_arena_alloc(arena, sizeof(*s));
    all.list = lks_arena_array(arena, LKS_PROCESSES_MAPPED_MAX, sizeof(*all.list));
    if (s == NULL || all.list == NULL)
        return lks_arena_fail(arena, err);
    *s = (struct scan){.root = root, .arena = arena, .out = &all};
    enum lks_code code = lks_root_list(root, "/proc", arena, &names, err);
    if (code != LKS_OK && code != LKS_E_NOT_FOUND)
        return code;
    for (size_t i = 0; code == LKS_OK && i < names.count; i++) {
        uint64_t pid;
        if (!lks_str_number(names.list[i], INT32_MAX, &pid))
            continue;
        s->pid = (pid_t)pid;
        if (root->live && (s->pid == getpid() || s->pid == getppid()))
            continue;
        if (over != NULL && over(ctx))
            break;
        take_process(s);
    }
    *out = all;
    return LKS_OK;
}
