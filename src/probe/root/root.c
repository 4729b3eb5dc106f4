#include "probe/root/root.h"

#include "probe/root/answers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PIECE 65536

/* A capture holds what only root may read. */
#define CAPTURE_DIR_MODE  0700
#define CAPTURE_FILE_MODE 0600

/* Opening ------------------------------------------------------------------------------------ */

enum lks_code lks_root_fail(struct lks_err *err, const char *path, int number)
{
    switch (number) {
    case ENOENT:
    case ENOTDIR:
    case ESRCH:
    case ENODEV:
    case ENXIO:
        return lks_fail(err, LKS_E_NOT_FOUND, "%s: not there", path);
    case EACCES:
    case EPERM:
        return lks_fail(err, LKS_E_DENIED, "%s: not permitted", path);
    case ELOOP:
        return lks_fail(err, LKS_E_INVALID, "%s: its links lead in a circle", path);
    default:
        return lks_fail(err, LKS_E_IO, "%s: %s", path, strerror(number));
    }
}

/* A file that was opened is there: what its device says then is no absence. A process that ended in
 * between is. */
static enum lks_code fail_read(struct lks_err *err, const char *path, int number)
{
    if (number == ENODEV || number == ENXIO || number == ENOENT)
        return lks_fail(err, LKS_E_IO, "%s: %s", path, strerror(number));
    return lks_root_fail(err, path, number);
}

/* Probes make paths of names they were given; none may climb. */
static enum lks_code check_path(const char *path, struct lks_err *err)
{
    size_t len = strlen(path);
    if (path[0] != '/' || len >= LKS_ROOT_PATH_MAX)
        return lks_fail(err, LKS_E_INVALID, "'%.64s' is no absolute path", path);
    for (const char *at = path; (at = strstr(at, "/..")) != NULL; at += 3) {
        if (at[3] == '/' || at[3] == '\0')
            return lks_fail(err, LKS_E_INVALID, "%s: goes up", path);
    }
    return LKS_OK;
}

static const char *relative(const char *path)
{
    while (*path == '/')
        path++;
    return *path == '\0' ? "." : path;
}

/* As if `dir` were "/": links in the tree lead to its own files, never to ours. */
static int open_within(int dir, const char *path, int flags)
{
    struct open_how how = {
        .flags = (uint64_t)(unsigned)flags | O_CLOEXEC,
        .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
    };
    return (int)syscall(SYS_openat2, dir, relative(path), &how, sizeof(how));
}

static int open_flags(const struct lks_root *root, const char *path, int flags)
{
    if (root->live)
        return openat(root->fd, relative(path), flags | O_CLOEXEC);
    return open_within(root->fd, path, flags);
}

static enum lks_code told_to_skip(struct lks_root *root, const char *what, struct lks_err *err)
{
    const char *why = root->skip != NULL ? root->skip(root->ctx, what) : NULL;
    if (why != NULL)
        return lks_fail(err, LKS_E_TIMEOUT, "%s", why);
    if (root->asking != NULL)
        root->asking(root->ctx, what);
    return LKS_OK;
}

/* Look before opening: to open a device or a pipe may do something, or wait. */
static enum lks_code open_kind(struct lks_root *root, const char *path, mode_t kind, int flags,
                               int *out, struct stat *st, struct lks_err *err)
{
    if (check_path(path, err) != LKS_OK || told_to_skip(root, path, err) != LKS_OK)
        return err->code;
    int look = open_flags(root, path, O_PATH);
    if (look < 0 || fstat(look, st) != 0) {
        int number = errno;
        if (look >= 0)
            (void)close(look);
        return lks_root_fail(err, path, number);
    }
    (void)close(look);
    if ((st->st_mode & S_IFMT) != kind)
        return lks_fail(err, LKS_E_INVALID, "%s: not a %s", path,
                        kind == S_IFDIR ? "directory" : "plain file");
    int fd = open_flags(root, path, flags | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return lks_root_fail(err, path, errno);
    struct stat now;
    if (fstat(fd, &now) != 0 || (now.st_mode & S_IFMT) != kind) {
        (void)close(fd);
        return lks_fail(err, LKS_E_INVALID, "%s: changed while it was opened", path);
    }
    *out = fd;
    *st = now;
    return LKS_OK;
}

/* A capture goes to a place of its own: nothing that is there is overwritten. */
static enum lks_code open_capture(const char *path, int *out, struct lks_err *err)
{
    if (mkdir(path, CAPTURE_DIR_MODE) != 0 && errno != EEXIST)
        return lks_fail(err, LKS_E_INVALID, "%s: cannot make this directory: %s", path,
                        strerror(errno));
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int again = fd >= 0 ? openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    DIR *dir = again >= 0 ? fdopendir(again) : NULL;
    if (dir == NULL) {
        int number = errno;
        if (again >= 0)
            (void)close(again);
        if (fd >= 0)
            (void)close(fd);
        return lks_fail(err, LKS_E_INVALID, "%s: %s", path, strerror(number));
    }
    bool empty = true;
    for (struct dirent *e = readdir(dir); e != NULL; e = readdir(dir))
        empty = empty && (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0);
    (void)closedir(dir);
    struct stat st;
    bool ours = fstat(fd, &st) == 0 && st.st_uid == geteuid() && (st.st_mode & 022) == 0;
    if (!empty || !ours) {
        (void)close(fd);
        return lks_fail(err, LKS_E_INVALID,
                        empty ? "%s: others may write to it; a capture wants a directory of its own"
                              : "%s: is not empty; a capture wants a new directory",
                        path);
    }
    *out = fd;
    return LKS_OK;
}

enum lks_code lks_root_open(const char *path, const char *capture, struct lks_root *out,
                            struct lks_err *err)
{
    bool live = path == NULL || strcmp(path, "/") == 0;
    struct lks_root root = {.capture = -1, .live = live};
    root.fd = open(live ? "/" : path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (root.fd < 0)
        return lks_fail(err, LKS_E_INVALID, "%s: %s", live ? "/" : path, strerror(errno));
    int probe = live ? -1 : open_within(root.fd, "/", O_PATH);
    if (!live && probe < 0) {
        int number = errno;
        (void)close(root.fd);
        return lks_fail(err, LKS_E_UNAVAILABLE, "%s: a captured tree needs Linux 5.6 or newer: %s",
                        path, strerror(number));
    }
    if (probe >= 0)
        (void)close(probe);
    if (capture != NULL && open_capture(capture, &root.capture, err) != LKS_OK) {
        (void)close(root.fd);
        return err->code;
    }
    *out = root;
    return LKS_OK;
}

void lks_root_close(struct lks_root *root)
{
    if (root->fd > 0)
        (void)close(root->fd);
    if (root->fd > 0 && root->capture >= 0)
        (void)close(root->capture);
    lks_answers_free(root->answers);
    *root = (struct lks_root){.capture = -1};
}

/* Capturing ---------------------------------------------------------------------------------- */

/* The directories above `path`, made where they are missing. */
static void make_parents(int dir, const char *path)
{
    char part[LKS_ROOT_PATH_MAX];
    snprintf(part, sizeof(part), "%s", relative(path));
    for (char *at = part; (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        (void)mkdirat(dir, part, CAPTURE_DIR_MODE);
        *at = '/';
    }
}

/* Each piece goes to its own place, so two probes that read one file leave it whole. */
static void capture_file(struct lks_root *root, const char *path, struct lks_str bytes, size_t at)
{
    if (root->capture < 0)
        return;
    make_parents(root->capture, path);
    int flags = O_WRONLY | O_CREAT | O_NOFOLLOW | (at == 0 ? O_TRUNC : 0);
    int fd = openat(root->capture, relative(path), flags | O_CLOEXEC, CAPTURE_FILE_MODE);
    bool ok = fd >= 0 && pwrite(fd, bytes.ptr, bytes.len, (off_t)at) == (ssize_t)bytes.len;
    if (fd >= 0)
        ok = close(fd) == 0 && ok;
    root->capture_failed = root->capture_failed || !ok;
}

/* What was recorded of `path` in a captured tree: true when that is the whole answer. */
static bool replayed(struct lks_root *root, const char *table, const char *path,
                     struct lks_buf *out, enum lks_code *code, struct lks_err *err)
{
    bool found = false;
    if (root->live || lks_str_starts(lks_str_from(path), LKS_ANSWERS_DIR "/"))
        return false;
    *code = lks_answers_find(root, table, path, &found, out, err);
    return found || *code != LKS_OK;
}

/* What is not there is not there in the capture either, without a word about it. */
static void record(struct lks_root *root, const char *table, const char *path, enum lks_code code,
                   struct lks_str value, const struct lks_err *err)
{
    if (code != LKS_E_NOT_FOUND)
        lks_answers_record(root, table, path, code, value, err);
}

/* The text that `now` finds out about `path`, or what was recorded of it. */
static enum lks_code told(struct lks_root *root, const char *table, const char *path,
                          enum lks_code (*now)(struct lks_root *root, const char *path,
                                               struct lks_buf *text, struct lks_err *err),
                          struct lks_buf *text, struct lks_err *err)
{
    enum lks_code code;
    if (!replayed(root, table, path, text, &code, err)) {
        code = now(root, path, text, err);
        record(root, table, path, code, lks_buf_view(text), err);
    }
    return code;
}

/* Reading ------------------------------------------------------------------------------------ */

static bool gather(void *ctx, struct lks_str bytes)
{
    lks_buf_add(ctx, bytes);
    return true;
}

static enum lks_code feed_all(struct lks_root *root, const char *path, int fd, size_t max,
                              lks_root_feed *feed, void *ctx, struct lks_err *err)
{
    char *piece = malloc(PIECE);
    if (piece == NULL)
        return lks_fail_nomem(err);
    enum lks_code code = LKS_OK;
    size_t total = 0;
    for (bool more = true; more && code == LKS_OK;) {
        ssize_t n = read(fd, piece, PIECE);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            code = fail_read(err, path, errno);
        if (n <= 0)
            break;
        size_t at = total;
        total += (size_t)n;
        if (total > max) {
            code = lks_fail(err, LKS_E_LIMIT, "%s: larger than %zu bytes", path, max);
            break;
        }
        struct lks_str bytes = {piece, (size_t)n};
        capture_file(root, path, bytes, at);
        lks_root_alive(root, path);
        more = feed(ctx, bytes);
    }
    if (code == LKS_OK && total == 0)
        capture_file(root, path, LKS_STR(""), 0);
    free(piece);
    return code;
}

/* Go to where the last `max` bytes begin, less what may be added while they are read. */
static enum lks_code seek_tail(const char *path, int fd, off_t size, size_t max,
                               struct lks_err *err)
{
    off_t room = max > PIECE ? (off_t)(max - PIECE) : (off_t)max;
    return lseek(fd, size - room, SEEK_SET) < 0 ? fail_read(err, path, errno) : LKS_OK;
}

static enum lks_code stream(struct lks_root *root, const char *path, size_t max, bool tail,
                            lks_root_feed *feed, void *ctx, struct lks_err *err)
{
    struct stat st = {0};
    int fd = -1;
    enum lks_code code;
    LKS_CLEANUP(lks_buf_fini) struct lks_buf nothing = LKS_BUF(LKS_ROOT_LINE_MAX);
    if (replayed(root, "failed", path, &nothing, &code, err) && code != LKS_OK)
        return code;
    code = open_kind(root, path, S_IFREG, O_RDONLY, &fd, &st, err);
    if (code == LKS_OK && st.st_size > 0 && (uint64_t)st.st_size > max && st.st_blocks > 0)
        code = tail ? seek_tail(path, fd, st.st_size, max, err)
                    : lks_fail(err, LKS_E_LIMIT, "%s: larger than %zu bytes", path, max);
    if (code == LKS_OK)
        code = feed_all(root, path, fd, max, feed, ctx, err);
    if (fd >= 0)
        (void)close(fd);
    if (code != LKS_OK)
        record(root, "failed", path, code, LKS_STR(""), err);
    return code;
}

enum lks_code lks_root_stream(struct lks_root *root, const char *path, size_t max,
                              lks_root_feed *feed, void *ctx, struct lks_err *err)
{
    return stream(root, path, max, false, feed, ctx, err);
}

static enum lks_code read_part(struct lks_root *root, const char *path, size_t max, bool tail,
                               struct lks_buf *out, struct lks_err *err)
{
    size_t before = out->len;
    enum lks_code code = stream(root, path, max, tail, gather, out, err);
    if (code == LKS_OK)
        code = lks_buf_check(out, err);
    if (code != LKS_OK && out->failed == LKS_OK)
        lks_buf_truncate(out, before);
    return code;
}

enum lks_code lks_root_read(struct lks_root *root, const char *path, size_t max,
                            struct lks_buf *out, struct lks_err *err)
{
    return read_part(root, path, max, false, out, err);
}

enum lks_code lks_root_tail(struct lks_root *root, const char *path, size_t max,
                            struct lks_buf *out, struct lks_err *err)
{
    return read_part(root, path, max, true, out, err);
}

enum lks_code lks_root_line(struct lks_root *root, const char *path, char out[LKS_ROOT_LINE_MAX],
                            struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_ROOT_FILE_MAX);
    enum lks_code code = lks_root_read(root, path, LKS_ROOT_FILE_MAX, &text, err);
    if (code != LKS_OK)
        return code;
    struct lks_str line, rest;
    (void)lks_str_cut(lks_buf_view(&text), '\n', &line, &rest);
    line = lks_str_trim(line);
    if (line.len == 0)
        return lks_fail(err, LKS_E_NOT_FOUND, "%s: is empty", path);
    if (line.len >= LKS_ROOT_LINE_MAX)
        return lks_fail(err, LKS_E_LIMIT, "%s: its line is longer than %d bytes", path,
                        LKS_ROOT_LINE_MAX - 1);
    if (!lks_str_printable(line))
        return lks_fail(err, LKS_E_INVALID, "%s: does not hold a line of text", path);
    memcpy(out, line.ptr, line.len);
    out[line.len] = '\0';
    return LKS_OK;
}

enum lks_code lks_root_file(struct lks_root *root, const char *path, int *fd, struct stat *st,
                            struct lks_err *err)
{
    return open_kind(root, path, S_IFREG, O_RDONLY, fd, st, err);
}

enum lks_code lks_root_whole(struct lks_root *root, const char *path, struct lks_buf *out,
                             struct lks_err *err)
{
    struct lks_root quiet = {.capture = -1};
    struct stat st;
    int fd = -1;
    if (lks_root_file(root, path, &fd, &st, err) != LKS_OK)
        return err->code;
    enum lks_code code = feed_all(&quiet, path, fd, out->max, gather, out, err);
    (void)close(fd);
    return code == LKS_OK ? lks_buf_check(out, err) : code;
}

enum lks_code lks_root_read_at(void *fd, uint64_t offset, void *buf, size_t len, size_t *got,
                               struct lks_err *err)
{
    ssize_t n;
    do {
        n = pread(*(const int *)fd, buf, len, (off_t)offset);
    } while (n < 0 && errno == EINTR);
    if (n < 0)
        return lks_fail(err, LKS_E_IO, "cannot be read: %s", strerror(errno));
    *got = (size_t)n;
    return LKS_OK;
}

/* Directories -------------------------------------------------------------------------------- */

static int name_cmp(const void *a, const void *b)
{
    return lks_str_cmp(*(const struct lks_str *)a, *(const struct lks_str *)b);
}

/* The names in `text`, each followed by '/', which no name has. */
static enum lks_code split_names(struct lks_str text, struct lks_arena *arena,
                                 struct lks_names *out, struct lks_err *err)
{
    struct lks_names names = {0};
    for (size_t i = 0; i < text.len; i++)
        names.count += text.ptr[i] == '/';
    struct lks_str rest = lks_arena_copy(arena, text);
    names.list = lks_arena_array(arena, names.count + 1, sizeof(*names.list));
    if (rest.ptr == NULL || names.list == NULL)
        return lks_arena_fail(arena, err);
    for (size_t i = 0; i < names.count; i++)
        (void)lks_str_cut(rest, '/', &names.list[i], &rest);
    if (names.count > 0)
        qsort(names.list, names.count, sizeof(*names.list), name_cmp);
    *out = names;
    return LKS_OK;
}

/* Names that do not print are left out: no file of interest is called so. */
static enum lks_code read_names(DIR *dir, const char *path, struct lks_buf *text,
                                struct lks_err *err)
{
    size_t count = 0;
    errno = 0;
    for (struct dirent *e = readdir(dir); e != NULL; e = readdir(dir)) {
        struct lks_str name = lks_str_from(e->d_name);
        if (lks_str_is(name, ".") || lks_str_is(name, "..") || !lks_str_printable(name))
            continue;
        if (++count > LKS_ROOT_ENTRIES_MAX)
            return lks_fail(err, LKS_E_LIMIT, "%s: more than %d entries", path,
                            LKS_ROOT_ENTRIES_MAX);
        lks_buf_add(text, name);
        lks_buf_addc(text, '/');
        errno = 0;
    }
    if (errno != 0)
        return lks_root_fail(err, path, errno);
    return lks_buf_check(text, err);
}

static enum lks_code list_now(struct lks_root *root, const char *path, struct lks_buf *text,
                              struct lks_err *err)
{
    struct stat st;
    int fd = -1;
    if (open_kind(root, path, S_IFDIR, O_RDONLY | O_DIRECTORY, &fd, &st, err) != LKS_OK)
        return err->code;
    DIR *dir = fdopendir(fd);
    if (dir == NULL) {
        int number = errno;
        (void)close(fd);
        return lks_root_fail(err, path, number);
    }
    enum lks_code code = read_names(dir, path, text, err);
    (void)closedir(dir);
    return code;
}

enum lks_code lks_root_list(struct lks_root *root, const char *path, struct lks_arena *arena,
                            struct lks_names *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_ANSWERS_BYTES_MAX);
    enum lks_code code = told(root, "list", path, list_now, &text, err);
    return code != LKS_OK ? code : split_names(lks_buf_view(&text), arena, out, err);
}

/* Links and what is behind them -------------------------------------------------------------- */

static enum lks_code copy_path(const struct lks_buf *text, const char *path,
                               char out[LKS_ROOT_PATH_MAX], struct lks_err *err)
{
    if (text->len >= LKS_ROOT_PATH_MAX)
        return lks_fail(err, LKS_E_LIMIT, "%s: leads to a path that is too long", path);
    memcpy(out, text->ptr != NULL ? text->ptr : "", text->len);
    out[text->len] = '\0';
    return LKS_OK;
}

/* told() of a path. */
static enum lks_code told_path(struct lks_root *root, const char *table, const char *path,
                               enum lks_code (*now)(struct lks_root *root, const char *path,
                                                    struct lks_buf *text, struct lks_err *err),
                               char out[LKS_ROOT_PATH_MAX], struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_ROOT_PATH_MAX);
    enum lks_code code = told(root, table, path, now, &text, err);
    return code != LKS_OK ? code : copy_path(&text, path, out, err);
}

static enum lks_code link_now(struct lks_root *root, const char *path, struct lks_buf *text,
                              struct lks_err *err)
{
    if (check_path(path, err) != LKS_OK || told_to_skip(root, path, err) != LKS_OK)
        return err->code;
    int fd = open_flags(root, path, O_PATH | O_NOFOLLOW);
    char target[LKS_ROOT_PATH_MAX];
    ssize_t n = fd >= 0 ? readlinkat(fd, "", target, sizeof(target)) : -1;
    int number = errno;
    if (fd >= 0)
        (void)close(fd);
    if (n < 0 && (number == EINVAL || (number == ENOENT && fd >= 0)))
        return lks_fail(err, LKS_E_INVALID, "%s: not a link", path);
    if (n < 0)
        return lks_root_fail(err, path, number);
    lks_buf_add(text, (struct lks_str){target, (size_t)n});
    return lks_buf_check(text, err);
}

enum lks_code lks_root_link(struct lks_root *root, const char *path, char out[LKS_ROOT_PATH_MAX],
                            struct lks_err *err)
{
    return told_path(root, "link", path, link_now, out, err);
}

/* Where descriptor `fd` of ours really lies. */
static bool path_of(int fd, char out[LKS_ROOT_PATH_MAX])
{
    char link[64];
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, out, LKS_ROOT_PATH_MAX - 1);
    if (n < 0)
        return false;
    out[n] = '\0';
    return out[0] == '/';
}

/* Open what is there to learn about it, not to read it. */
static enum lks_code open_place(struct lks_root *root, const char *path, int *fd,
                                struct lks_err *err)
{
    if (check_path(path, err) != LKS_OK || told_to_skip(root, path, err) != LKS_OK)
        return err->code;
    *fd = open_flags(root, path, O_PATH);
    return *fd < 0 ? lks_root_fail(err, path, errno) : LKS_OK;
}

static enum lks_code real_now(struct lks_root *root, const char *path, struct lks_buf *text,
                              struct lks_err *err)
{
    int fd = -1;
    if (open_place(root, path, &fd, err) != LKS_OK)
        return err->code;
    char at[LKS_ROOT_PATH_MAX], top[LKS_ROOT_PATH_MAX];
    bool known = path_of(fd, at) && path_of(root->fd, top);
    (void)close(fd);
    size_t skip = known && strcmp(top, "/") != 0 ? strlen(top) : 0;
    if (!known || strncmp(at, top, skip) != 0)
        return lks_fail(err, LKS_E_IO, "%s: cannot tell where it lies", path);
    lks_buf_add(text, lks_str_from(at[skip] != '\0' ? at + skip : "/"));
    return lks_buf_check(text, err);
}

enum lks_code lks_root_real(struct lks_root *root, const char *path, char out[LKS_ROOT_PATH_MAX],
                            struct lks_err *err)
{
    return told_path(root, "real", path, real_now, out, err);
}

/* Status ------------------------------------------------------------------------------------- */

static enum lks_code stat_now(struct lks_root *root, const char *path, struct stat *out,
                              struct lks_err *err)
{
    int fd = -1;
    if (open_place(root, path, &fd, err) != LKS_OK)
        return err->code;
    struct stat st = {0};
    int failed = fstat(fd, &st) != 0 ? errno : 0;
    (void)close(fd);
    if (failed != 0)
        return lks_root_fail(err, path, failed);
    *out = st;
    return LKS_OK;
}

/* Times may lie before 1970, and file systems choose their numbers freely: all as they are in
 * memory. */
static void put_stat(const struct stat *st, struct lks_buf *text)
{
    lks_buf_addf(text, "%llu %llu %llu %llu %llu %llu %llu %llu", (unsigned long long)st->st_mode,
                 (unsigned long long)st->st_size, (unsigned long long)st->st_dev,
                 (unsigned long long)st->st_ino, (unsigned long long)st->st_mtim.tv_sec,
                 (unsigned long long)st->st_mtim.tv_nsec, (unsigned long long)st->st_ctim.tv_sec,
                 (unsigned long long)st->st_ctim.tv_nsec);
}

static enum lks_code read_stat(struct lks_str text, const char *path, struct stat *out,
                               struct lks_err *err)
{
    uint64_t n[8];
    for (size_t i = 0; i < LKS_COUNT(n); i++) {
        struct lks_str word;
        if (!lks_str_word(&text, &word) || !lks_str_number(word, UINT64_MAX, &n[i]))
            return lks_fail(err, LKS_E_INVALID, "%s: its recorded status is damaged", path);
    }
    *out = (struct stat){
        .st_mode = (mode_t)n[0],
        .st_size = (off_t)n[1],
        .st_dev = (dev_t)n[2],
        .st_ino = (ino_t)n[3],
        .st_mtim = {(time_t)n[4], (long)n[5]},
        .st_ctim = {(time_t)n[6], (long)n[7]},
    };
    return LKS_OK;
}

enum lks_code lks_root_stat(struct lks_root *root, const char *path, struct stat *out,
                            struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_ROOT_LINE_MAX);
    enum lks_code code;
    if (replayed(root, "stat", path, &text, &code, err))
        return code != LKS_OK ? code : read_stat(lks_buf_view(&text), path, out, err);
    struct stat st = {0};
    code = stat_now(root, path, &st, err);
    if (code == LKS_OK)
        put_stat(&st, &text);
    record(root, "stat", path, code, lks_buf_view(&text), err);
    if (code == LKS_OK)
        *out = st;
    return code;
}

bool lks_root_exists(struct lks_root *root, const char *path)
{
    struct stat st;
    struct lks_err err;
    return lks_root_stat(root, path, &st, &err) == LKS_OK;
}

void lks_root_alive(struct lks_root *root, const char *what)
{
    if (root->asking != NULL)
        root->asking(root->ctx, what);
}

void lks_root_patience(struct lks_root *root, unsigned times)
{
    if (root->patience != NULL)
        root->patience(root->ctx, times);
}

void lks_root_patience_ms(struct lks_root *root, int64_t ms)
{
    if (root->call_ms > 0 && ms >= root->call_ms)
        lks_root_patience(root, (unsigned)(ms / root->call_ms) + 1);
}

/* Asking ------------------------------------------------------------------------------------- */

static enum lks_code ask_now(struct lks_root *root, const char *table, const char *key,
                             lks_ask_fn *fn, void *ctx, struct lks_buf *out, struct lks_err *err)
{
    size_t before = out->len;
    enum lks_code code = told_to_skip(root, key, err);
    if (code == LKS_OK)
        code = fn(ctx, out, err);
    if (code == LKS_OK)
        code = lks_buf_check(out, err);
    struct lks_str answer = {out->ptr != NULL ? out->ptr + before : "", out->len - before};
    lks_answers_record(root, table, key, code, answer, err);
    return code;
}

enum lks_code lks_root_ask(struct lks_root *root, const char *table, const char *key,
                           lks_ask_fn *fn, void *ctx, struct lks_buf *out, struct lks_err *err)
{
    if (root->live)
        return ask_now(root, table, key, fn, ctx, out, err);
    bool found = false;
    enum lks_code code = lks_answers_find(root, table, key, &found, out, err);
    if (code == LKS_OK && !found)
        return lks_fail(err, LKS_E_NOT_FOUND, "%s: not in the captured tree", key);
    return code;
}

enum lks_code lks_root_ask_file(struct lks_root *root, const char *table, const char *key,
                                lks_ask_fn *fn, void *ctx, struct lks_buf *out, struct lks_err *err)
{
    bool found = false;
    enum lks_code code = LKS_OK;
    if (!root->live)
        code = lks_answers_find(root, table, key, &found, out, err);
    return found || code != LKS_OK ? code : ask_now(root, table, key, fn, ctx, out, err);
}
