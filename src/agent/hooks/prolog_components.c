#include "agent/hooks/prolog_components.h"

#include "base/buf.h"
#include "codec/notation/hostlist.h"
#include "codec/notation/image.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* No name of a node starts with a dot. */
#define FOLDER ".components"

enum { NAME_SIZE = 64, BYTES_MAX = LKS_PROLOG_NODES_MAX + LKS_IMAGE_MAX + 2 };

enum lks_code lks_prolog_components_parse(struct lks_str bytes, struct lks_prolog_component *out,
                                          struct lks_err *err)
{
    struct lks_str nodes, image, rest;
    size_t count = 0;
    bool whole = lks_str_cut(bytes, '\n', &nodes, &rest) && lks_str_cut(rest, '\n', &image, &rest);
    if (!whole || rest.len > 0 || nodes.len > LKS_PROLOG_NODES_MAX)
        return lks_fail(err, LKS_E_INVALID, "it is not two lines, nodes and an image");
    if (image.len > 0 && !lks_image_passes(image))
        return lks_fail(err, LKS_E_INVALID, "its second line is not the name of an image");
    if (lks_hostlist_count(nodes, &count, err) != LKS_OK)
        return err->code;
    if (count == 0)
        return lks_fail(err, LKS_E_INVALID, "it names no node");
    out->nodes = nodes;
    out->image = image;
    return LKS_OK;
}

static enum lks_code fault(struct lks_err *err, const char *what)
{
    return lks_fail(err, LKS_E_IO, "components of the job: %s: %s", what, strerror(errno));
}

/* A stream of the folder's entries, which the caller closes; its descriptor is that of the folder.
 * NULL: why is in `err`. */
static DIR *open_folder(int dir, struct lks_err *err)
{
    if (mkdirat(dir, FOLDER, 0700) != 0 && errno != EEXIST) {
        (void)fault(err, FOLDER);
        return NULL;
    }
    int fd = openat(dir, FOLDER, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    if (folder == NULL) {
        (void)fault(err, FOLDER);
        if (fd >= 0)
            (void)close(fd);
    }
    return folder;
}

static bool is_recent(int folder, const char *name, time_t now)
{
    struct stat st;
    return fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
           st.st_mtime <= now + LKS_PROLOG_COMPONENTS_SECONDS &&
           st.st_mtime >= now - LKS_PROLOG_COMPONENTS_SECONDS;
}

/* Files that are left after old ones were removed. */
static size_t sweep(DIR *folder, time_t now)
{
    size_t count = 0;
    const struct dirent *e;
    while ((e = readdir(folder)) != NULL) { // NOLINT(concurrency-mt-unsafe)
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        if (is_recent(dirfd(folder), e->d_name, now))
            count++;
        else
            (void)unlinkat(dirfd(folder), e->d_name, 0);
    }
    return count;
}

static enum lks_code write_file(int folder, const char *name, struct lks_str bytes,
                                struct lks_err *err)
{
    char new[NAME_SIZE];
    snprintf(new, sizeof(new), ".new.%d", (int)getpid());
    int fd = openat(folder, new, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return fault(err, new);
    bool written = write(fd, bytes.ptr, bytes.len) == (ssize_t)bytes.len;
    written = close(fd) == 0 && written;
    if (written && renameat(folder, new, folder, name) == 0)
        return LKS_OK;
    enum lks_code code = fault(err, name);
    (void)unlinkat(folder, new, 0);
    return code;
}

enum lks_code lks_prolog_components_keep(int dir, struct lks_prolog_start start,
                                         const struct lks_prolog_component *own, time_t now,
                                         struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(BYTES_MAX);
    char name[NAME_SIZE];
    lks_buf_addf(&text, "%" LKS_STR_FMT "\n%" LKS_STR_FMT "\n", LKS_STR_ARG(own->nodes),
                 LKS_STR_ARG(own->image));
    DIR *folder = lks_buf_check(&text, err) == LKS_OK ? open_folder(dir, err) : NULL;
    if (folder == NULL)
        return err->code;
    snprintf(name, sizeof(name), "%" PRIu32 ".%" PRIu32 ".%" PRIu32, start.job, start.restarts,
             own->offset);
    enum lks_code code = LKS_OK;
    if (sweep(folder, now) >= LKS_PROLOG_COMPONENTS_FILES)
        code = lks_fail(err, LKS_E_LIMIT, "%d components of jobs started in the last %d s",
                        LKS_PROLOG_COMPONENTS_FILES, LKS_PROLOG_COMPONENTS_SECONDS);
    else
        code = write_file(dirfd(folder), name, lks_buf_view(&text), err);
    (void)closedir(folder);
    return code;
}

/* LKS_E_NOT_FOUND: the component was not kept, or too long ago. */
static enum lks_code read_one(int folder, const char *name, time_t now, struct lks_arena *arena,
                              struct lks_prolog_component *out, struct lks_err *err)
{
    static char bytes[BYTES_MAX + 1];
    int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return lks_fail(err, LKS_E_NOT_FOUND, "%s", name);
    if (fd < 0)
        return fault(err, name);
    ssize_t len = is_recent(folder, name, now) ? read(fd, bytes, sizeof(bytes)) : 0;
    (void)close(fd);
    if (len == 0)
        return lks_fail(err, LKS_E_NOT_FOUND, "%s", name);
    if (len < 0)
        return fault(err, name);
    struct lks_str kept = lks_arena_copy(arena, (struct lks_str){bytes, (size_t)len});
    if (kept.ptr == NULL)
        return lks_arena_fail(arena, err);
    return lks_prolog_components_parse(kept, out, err);
}

enum lks_code lks_prolog_components_read(int dir, struct lks_prolog_start start, time_t now,
                                         struct lks_arena *arena, struct lks_prolog_components *out,
                                         struct lks_err *err)
{
    struct lks_prolog_components found = {.count = 0};
    char name[NAME_SIZE];
    int folder = openat(dir, FOLDER, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0)
        return fault(err, FOLDER);
    enum lks_code code = LKS_OK;
    for (uint32_t i = 0; i < LKS_PROLOG_COMPONENTS_MAX && code == LKS_OK; i++) {
        struct lks_prolog_component *c = &found.at[found.count];
        c->offset = i;
        snprintf(name, sizeof(name), "%" PRIu32 ".%" PRIu32 ".%" PRIu32, start.job, start.restarts,
                 i);
        code = read_one(folder, name, now, arena, c, err);
        found.count += code == LKS_OK;
        code = code == LKS_E_NOT_FOUND ? LKS_OK : code;
    }
    (void)close(folder);
    if (code == LKS_OK)
        *out = found;
    return code;
}

bool lks_prolog_components_mix(const struct lks_prolog_components *c,
                               const struct lks_prolog_component *own)
{
    for (size_t i = 0; i < c->count && own->image.len > 0; i++) {
        if (c->at[i].image.len > 0 && !lks_str_eq(c->at[i].image, own->image))
            return true;
    }
    return false;
}

bool lks_prolog_components_lack(const struct lks_prolog_components *c)
{
    return c->count > 0 && c->at[c->count - 1].offset != c->count - 1;
}
