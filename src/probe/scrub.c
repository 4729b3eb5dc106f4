#include "probe/scrub.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MAX   ((size_t)64 << 20)
#define DEPTH_MAX  64
#define SECRET_MIN 4 /* shorter ones stand in every file by chance */

struct secrets {
    struct lks_arena arena;
    struct lks_str *list;
    size_t count;
};

static void add_secret(struct secrets *s, struct lks_str value)
{
    bool blank = true;
    for (size_t i = 0; i < value.len; i++)
        blank = blank && (value.ptr[i] == '0' || !isalnum((unsigned char)value.ptr[i]));
    if (value.len >= SECRET_MIN && !blank)
        s->list[s->count++] = value;
}

static int longer_first(const void *a, const void *b)
{
    size_t x = ((const struct lks_str *)a)->len, y = ((const struct lks_str *)b)->len;
    return (x < y) - (x > y);
}

static enum lks_code collect(const struct lks_tuple *tuple, struct secrets *s, struct lks_err *err)
{
    lks_arena_init(&s->arena, LKS_TUPLE_MEMORY_MAX);
    s->list = lks_arena_array(&s->arena, tuple->count + 2, sizeof(*s->list));
    if (s->list == NULL)
        return lks_arena_fail(&s->arena, err);
    add_secret(s, tuple->node);
    add_secret(s, tuple->boot_id);
    for (size_t i = 0; i < tuple->count; i++) {
        const struct lks_reading *r = &tuple->readings[i];
        if (r->state == LKS_MEASURED && lks_reading_kind(r->name)->secret)
            add_secret(s, r->value);
    }
    /* One may hold another: the outer one first. */
    qsort(s->list, s->count, sizeof(*s->list), longer_first);
    return LKS_OK;
}

/* As a word of its own: a short serial number stands within longer numbers by chance, and those are
 * what a machine runs. */
static bool matches(const char *bytes, size_t len, size_t at, struct lks_str secret)
{
    size_t end = at + secret.len;
    if ((at > 0 && isalnum((unsigned char)bytes[at - 1])) ||
        (end < len && isalnum((unsigned char)bytes[end])))
        return false;
    for (size_t i = 0; i < secret.len; i++) {
        if (tolower((unsigned char)bytes[at + i]) != tolower((unsigned char)secret.ptr[i]))
            return false;
    }
    return true;
}

static bool scrub_bytes(const struct secrets *s, char *bytes, size_t len)
{
    bool changed = false;
    for (size_t k = 0; k < s->count; k++) {
        struct lks_str secret = s->list[k];
        for (size_t at = 0; at + secret.len <= len; at++) {
            if (!matches(bytes, len, at, secret))
                continue;
            for (size_t i = at; i < at + secret.len; i++)
                bytes[i] = isalnum((unsigned char)bytes[i]) ? '0' : bytes[i];
            changed = true;
        }
    }
    return changed;
}

static enum lks_code scrub_file(const struct secrets *s, int dir, const char *name,
                                struct lks_err *err)
{
    int fd = openat(dir, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0 || (uint64_t)st.st_size > FILE_MAX) {
        if (fd >= 0)
            (void)close(fd);
        return lks_fail(err, LKS_E_IO, "%s: cannot be scrubbed; do not pass the capture on", name);
    }
    size_t len = (size_t)st.st_size;
    char *bytes = malloc(len + 1);
    bool ok = bytes != NULL && pread(fd, bytes, len, 0) == (ssize_t)len;
    if (ok && scrub_bytes(s, bytes, len))
        ok = pwrite(fd, bytes, len, 0) == (ssize_t)len;
    free(bytes);
    ok = close(fd) == 0 && ok;
    return ok ? LKS_OK
              : lks_fail(err, LKS_E_IO, "%s: cannot be scrubbed; do not pass the capture on", name);
}

static enum lks_code scrub_dir(const struct secrets *s, int fd, int depth, struct lks_err *err)
{
    DIR *dir = fd >= 0 && depth < DEPTH_MAX ? fdopendir(fd) : NULL;
    if (dir == NULL) {
        if (fd >= 0)
            (void)close(fd);
        return lks_fail(err, LKS_E_IO, "the capture cannot be scrubbed; do not pass it on");
    }
    enum lks_code code = LKS_OK;
    for (struct dirent *e = readdir(dir); e != NULL && code == LKS_OK; e = readdir(dir)) {
        struct stat st;
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        if (fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
            code = lks_fail(err, LKS_E_IO, "%s: %s", e->d_name, strerror(errno));
        else if (S_ISDIR(st.st_mode))
            code =
                scrub_dir(s, openat(fd, e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC),
                          depth + 1, err);
        else if (S_ISREG(st.st_mode))
            code = scrub_file(s, fd, e->d_name, err);
    }
    (void)closedir(dir);
    return code;
}

enum lks_code lks_scrub(int dir, const struct lks_tuple *tuple, struct lks_err *err)
{
    struct secrets s = {0};
    enum lks_code code = collect(tuple, &s, err);
    if (code == LKS_OK && s.count > 0)
        code = scrub_dir(&s, openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), 0, err);
    lks_arena_fini(&s.arena);
    return code;
}
