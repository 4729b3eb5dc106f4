#include "probe/root/scrub.h"

#include "codec/format/kv.h"

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
    size_t count, room;
    struct lks_str node; /* a name that is also a word of what the machine runs, or empty */
};

static void add_secret(struct secrets *s, struct lks_str value)
{
    bool empty = true;
    for (size_t i = 0; i < value.len; i++)
        empty = empty && (value.ptr[i] == '0' || !isalnum((unsigned char)value.ptr[i]));
    if (value.len >= SECRET_MIN && !empty && s->count < s->room)
        s->list[s->count++] = value;
}

/* As answers of devices have it, where it is not plain: see codec/format/kv.h. */
static void add_escaped(struct secrets *s, struct lks_str value)
{
    static const char key[] = "k";
    LKS_CLEANUP(lks_buf_fini) struct lks_buf line = LKS_BUF((size_t)4 * LKS_READING_VALUE_MAX);
    lks_kv_add(&line, LKS_STR("k"), value);
    struct lks_str escaped = lks_arena_copy(&s->arena, lks_buf_view(&line));
    if (escaped.ptr != NULL && escaped.len > sizeof(key) + value.len)
        add_secret(s, (struct lks_str){escaped.ptr + sizeof(key), escaped.len - sizeof(key)});
}

/* Of the kernel's parameters those of this host, such as addresses and keys, in the pieces that
 * other files name them by. The names of kernel and initrd are no secret, and stand where the
 * kernels are listed. */
static void add_parameters(struct secrets *s, struct lks_str line)
{
    struct lks_str word, name, value;
    while (lks_str_word(&line, &word)) {
        if (!lks_reading_parameter_of_host(word) || lks_str_starts(word, "BOOT_IMAGE=") ||
            lks_str_starts(word, "initrd="))
            continue;
        (void)lks_str_cut(word, '=', &name, &value);
        add_secret(s, value);
        for (size_t at = 0, end; at < value.len; at = end + 1) {
            for (end = at; end < value.len && strchr("=:,;/@", value.ptr[end]) == NULL;)
                end++;
            struct lks_str piece = {value.ptr + at, end - at};
            if (strcspn(piece.ptr, "0123456789") < piece.len && piece.len > SECRET_MIN)
                add_secret(s, piece);
        }
    }
}

static int longer_first(const void *a, const void *b)
{
    size_t x = ((const struct lks_str *)a)->len, y = ((const struct lks_str *)b)->len;
    return (x < y) - (x > y);
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

/* Whether the node is called by a word of what it runs, as a host "h200" with an NVIDIA H200. */
static bool is_common(const struct lks_tuple *tuple)
{
    for (size_t i = 0; i < tuple->count; i++) {
        const struct lks_reading *r = &tuple->readings[i];
        if (lks_reading_kind(r->name)->class != LKS_READING_IDENTITY ||
            lks_str_is(r->name, "settings.kernel_cmdline"))
            continue;
        for (size_t at = 0; at + tuple->node.len <= r->value.len; at++) {
            if (matches(r->value.ptr, r->value.len, at, tuple->node))
                return true;
        }
    }
    return false;
}

static enum lks_code collect(const struct lks_tuple *tuple, struct secrets *s, struct lks_err *err)
{
    lks_arena_init(&s->arena, LKS_TUPLE_MEMORY_MAX);
    s->room = 2 * tuple->count + LKS_READING_VALUE_MAX;
    s->list = lks_arena_array(&s->arena, s->room, sizeof(*s->list));
    if (s->list == NULL)
        return lks_arena_fail(&s->arena, err);
    if (tuple->node.len < SECRET_MIN || is_common(tuple))
        s->node = tuple->node;
    else
        add_secret(s, tuple->node);
    add_secret(s, tuple->boot_id);
    for (size_t i = 0; i < tuple->count; i++) {
        const struct lks_reading *r = &tuple->readings[i];
        if (r->state == LKS_MEASURED && lks_str_is(r->name, "settings.kernel_cmdline"))
            add_parameters(s, r->value);
        if (r->state != LKS_MEASURED || !lks_reading_kind(r->name)->secret)
            continue;
        add_secret(s, r->value);
        add_escaped(s, r->value);
    }
    /* One may hold another: the outer one first. */
    qsort(s->list, s->count, sizeof(*s->list), longer_first);
    return LKS_OK;
}

/* Zeroes of the same shape; an escape such as %20 stays one. */
static void blank(char *bytes, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        if (bytes[i] == '%' && i + 2 < to)
            i += 2;
        else if (isalnum((unsigned char)bytes[i]))
            bytes[i] = '0';
    }
}

static bool scrub_one(struct lks_str secret, char *bytes, size_t len)
{
    bool changed = false;
    for (size_t at = 0; at + secret.len <= len; at++) {
        if (secret.len == 0 || !matches(bytes, len, at, secret))
            continue;
        blank(bytes, at, at + secret.len);
        changed = true;
    }
    return changed;
}

/* "user:password@" behind "://", as proxies are written. */
static bool scrub_logins(char *bytes, size_t len)
{
    bool changed = false;
    for (size_t at = 0; at + 3 < len; at++) {
        if (memcmp(bytes + at, "://", 3) != 0)
            continue;
        size_t end = at + 3;
        while (end < len && !isspace((unsigned char)bytes[end]) &&
               strchr("/@\"'", bytes[end]) == NULL)
            end++;
        if (end < len && bytes[end] == '@')
            blank(bytes, at + 3, end);
        changed = changed || (end < len && bytes[end] == '@');
    }
    return changed;
}

/* A common name is taken out of the file that says it is the node's, and nowhere else. */
static bool scrub_bytes(const struct secrets *s, const char *name, char *bytes, size_t len)
{
    bool changed = strcmp(name, "hostname") == 0 && scrub_one(s->node, bytes, len);
    changed = scrub_logins(bytes, len) || changed;
    for (size_t i = 0; i < s->count; i++)
        changed = scrub_one(s->list[i], bytes, len) || changed;
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
    if (ok && scrub_bytes(s, name, bytes, len))
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
