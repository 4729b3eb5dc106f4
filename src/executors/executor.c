#include "executors/executor.h"

#include "base/file.h"
#include "probe/root/clock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEPOT_FOLDER LKS_EXECUTOR_FOLDER "/depot"
#define FILES_FOLDER LKS_EXECUTOR_FOLDER "/files"
#define ORDER_FILE   LKS_EXECUTOR_FOLDER "/order.json"
#define LOCK_FILE    LKS_EXECUTOR_FOLDER "/lock"

enum { LOOK_MS = 50, HEX_DIR = 2 };

static int held; /* one executor is one process, and has one lock */

int lks_executor_lock(void)
{
    return held;
}

const char *lks_executor_job_text(struct lks_str s, char *out, size_t size)
{
    snprintf(out, size, "%" LKS_STR_FMT, LKS_STR_ARG(s));
    return out;
}

const char *lks_executor_job_file(const struct lks_job *job, const struct lks_order_item *item,
                                  char out[PATH_MAX])
{
    snprintf(out, PATH_MAX, "%s/%" LKS_STR_FMT, job->files, LKS_STR_ARG(item->file));
    return out;
}

/* A folder of our own ------------------------------------------------------------------------ */

static enum lks_code make_folder(const char *path, struct lks_err *err)
{
    struct stat st;
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return lks_file_fail(err, path);
    if (lstat(path, &st) != 0)
        return lks_file_fail(err, path);
    if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 022) != 0)
        return lks_fail(err, LKS_E_DENIED, "%s: has to be a folder that only root may change",
                        path);
    return LKS_OK;
}

/* Wait a while for one that runs: it was killed perhaps, and is about to go. */
static enum lks_code take_lock(struct lks_err *err)
{
    int fd = open(LOCK_FILE, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return lks_file_fail(err, LOCK_FILE);
    int64_t until = lks_clock_ms() + LKS_EXECUTOR_LOCK_MS;
    while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK || lks_clock_ms() >= until) {
            (void)close(fd);
            return lks_fail(err, LKS_E_UNAVAILABLE, "another executor is at work here");
        }
        (void)poll(NULL, 0, LOOK_MS);
    }
    held = fd;
    return LKS_OK;
}

static enum lks_code clear_files(struct lks_err *err)
{
    if (make_folder(FILES_FOLDER, err) != LKS_OK)
        return err->code;
    DIR *dir = opendir(FILES_FOLDER);
    if (dir == NULL)
        return lks_file_fail(err, FILES_FOLDER);
    for (struct dirent *e = readdir(dir); e != NULL; e = readdir(dir))
        (void)unlinkat(dirfd(dir), e->d_name, 0); /* "." and ".." are no files */
    (void)closedir(dir);
    return LKS_OK;
}

/* Copies ------------------------------------------------------------------------------------- */

/* Where it lies in the agent's folder. No link is followed and nothing but a plain file opened: the
 * agent may have put anything there. */
static enum lks_code open_source(const char *digest, int *out, uint64_t *size, struct lks_err *err)
{
    const char *depot = getenv(LKS_EXECUTOR_VARIABLE), *hex = digest + strlen("sha256:");
    char pair[HEX_DIR + 1] = {hex[0], hex[1], '\0'};
    struct stat st;
    if (depot == NULL || depot[0] != '/')
        return lks_fail(err, LKS_E_USAGE,
                        LKS_EXECUTOR_VARIABLE
                        " does not say where artifacts are; give the helper --depot");
    int flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
    int top = open(depot, flags);
    int all = top >= 0 ? openat(top, "sha256", flags | O_NOFOLLOW) : -1;
    int some = all >= 0 ? openat(all, pair, flags | O_NOFOLLOW) : -1;
    bool plain = some >= 0 && fstatat(some, hex + HEX_DIR, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
                 S_ISREG(st.st_mode);
    int fd =
        plain ? openat(some, hex + HEX_DIR, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;
    const int opened[] = {top, all, some};
    for (size_t i = 0; i < LKS_COUNT(opened); i++) {
        if (opened[i] >= 0)
            (void)close(opened[i]);
    }
    if (fd < 0)
        return lks_fail(err, LKS_E_NOT_FOUND, "%.19s... is not in the agent's depot", digest);
    *out = fd;
    *size = (uint64_t)st.st_size;
    return LKS_OK;
}

/* No more than was looked at: the file may grow meanwhile. */
static enum lks_code feed(struct lks_depot_part *part, int fd, uint64_t size, struct lks_err *err)
{
    for (;;) {
        char piece[1 << 16];
        uint64_t left = size - part->size;
        ssize_t n = read(fd, piece, left < sizeof(piece) ? (size_t)left : sizeof(piece));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return lks_file_fail(err, part->digest);
        if (n == 0)
            return LKS_OK;
        if (lks_depot_part_add(part, (struct lks_str){piece, (size_t)n}, err) != LKS_OK)
            return err->code;
    }
}

/* The digest is taken of the copy. It is taken of the agent's file before, so that what is not
 * wanted takes no room of root's, however large it is. */
static enum lks_code copy(struct lks_job *job, const char *digest, struct lks_err *err)
{
    LKS_CLEANUP(lks_depot_part_fini) struct lks_depot_part part = {0};
    uint64_t size = 0;
    bool looked = false;
    int fd = -1;
    if (lks_depot_find(&job->own, digest, &fd, &size, err) == LKS_OK) {
        (void)close(fd); /* from one that was interrupted */
        return LKS_OK;
    }
    if (open_source(digest, &fd, &size, err) != LKS_OK)
        return err->code;
    enum lks_code code = lks_depot_part_open(&job->own, digest, 0, size, 0, &part, err);
    if (code == LKS_OK)
        code = lks_depot_sum(fd, size, digest, err);
    if (code == LKS_OK)
        code = feed(&part, fd, size, err);
    (void)close(fd);
    if (code == LKS_OK)
        code = lks_depot_part_keep(&job->own, &part, err);
    while (code == LKS_OK && !looked)
        code = lks_depot_part_look(&part, &looked, err);
    if (code == LKS_OK)
        code = lks_depot_part_finish(&job->own, &part, err);
    return code == LKS_OK ? LKS_OK : lks_wrap(err, "%.19s...", digest);
}

struct wanted {
    char *const *list;
    int count;
};

static bool is_wanted(void *ctx, const char *digest)
{
    const struct wanted *w = ctx;
    for (int i = 0; i < w->count; i++) {
        if (strcmp(w->list[i], digest) == 0)
            return true;
    }
    return false;
}

static enum lks_code copy_all(struct lks_job *job, struct wanted *w, struct lks_err *err)
{
    struct lks_depot_swept swept = {0};
    if (lks_depot_open(DEPOT_FOLDER, &job->own, err) != LKS_OK ||
        lks_depot_sweep(&job->own, is_wanted, w, UINT64_MAX, &swept, err) != LKS_OK)
        return err->code;
    for (int i = 0; i < w->count; i++) {
        if (!lks_digest_valid(lks_str_from(w->list[i])))
            return lks_fail(err, LKS_E_USAGE, "'%.80s' is no digest", w->list[i]);
        if (copy(job, w->list[i], err) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}

/* The order ---------------------------------------------------------------------------------- */

static enum lks_code read_own(struct lks_job *job, const char *digest, struct lks_buf *out,
                              struct lks_err *err)
{
    uint64_t size = 0;
    int fd = -1;
    if (lks_depot_find(&job->own, digest, &fd, &size, err) != LKS_OK)
        return err->code;
    enum lks_code code = size <= LKS_ORDER_BYTES_MAX
                             ? lks_depot_read(fd, 0, (size_t)size, out, err)
                             : lks_fail(err, LKS_E_LIMIT, "too large for an order");
    (void)close(fd);
    return code;
}

/* Its file by its name, beside the others. */
static enum lks_code name_file(struct lks_job *job, const struct lks_order_item *item,
                               struct wanted *w, struct lks_err *err)
{
    char digest[LKS_DIGEST_SIZE], from[PATH_MAX], to[PATH_MAX];
    struct stat a, b;
    lks_executor_job_text(item->digest, digest, sizeof(digest));
    if (!is_wanted(w, digest))
        return lks_fail(err, LKS_E_DENIED, "the order names %.19s..., which the command does not",
                        digest);
    const char *hex = digest + strlen("sha256:");
    snprintf(from, sizeof(from), DEPOT_FOLDER "/sha256/%.2s/%s", hex, hex + HEX_DIR);
    lks_executor_job_file(job, item, to);
    if (link(from, to) == 0)
        return LKS_OK;
    if (errno == EEXIST && stat(from, &a) == 0 && stat(to, &b) == 0 && a.st_ino == b.st_ino)
        return LKS_OK;
    return lks_fail(err, LKS_E_INVALID, "%.*s: two files of the order are called so",
                    LKS_STR_ARG(item->file));
}

static enum lks_code read_order(struct lks_job *job, struct wanted *w, enum lks_order_kind kind,
                                struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_ORDER_BYTES_MAX);
    if (w->count == 0)
        return lks_fail(err, LKS_E_USAGE, "it is given the digest of an order and its artifacts");
    if (read_own(job, w->list[0], &text, err) != LKS_OK ||
        lks_docs_init(&job->docs, "order", err) != LKS_OK ||
        lks_order_parse(lks_buf_view(&text), "order", &job->docs, &job->order, err) != LKS_OK)
        return err->code;
    if (job->order.kind != kind)
        return lks_fail(err, LKS_E_INVALID, "the order is for executor %s",
                        lks_order_words[job->order.kind]);
    for (size_t i = 0; i < job->order.count; i++) {
        const struct lks_order_item *item = &job->order.items[i];
        if (item->digest.len > 0 && name_file(job, item, w, err) != LKS_OK)
            return err->code;
    }
    snprintf(job->order_path, sizeof(job->order_path), ORDER_FILE);
    return lks_file_replace(ORDER_FILE, lks_buf_view(&text), err);
}

/* Beginning and end -------------------------------------------------------------------------- */

static bool keeps_none(void *ctx, const char *digest)
{
    (void)ctx;
    (void)digest;
    return false;
}

static void job_fini(struct lks_job *job)
{
    struct lks_depot_swept swept = {0};
    struct lks_err ignored = {0};
    if (job->own.whole > 0) {
        (void)!clear_files(&ignored);
        (void)!lks_depot_sweep(&job->own, keeps_none, NULL, UINT64_MAX, &swept, &ignored);
        lks_depot_close(&job->own);
    }
    lks_docs_fini(&job->docs);
    if (held > 0) {
        (void)flock(held, LOCK_UN); /* also for what a hook left running on purpose */
        (void)close(held);
    }
    held = 0;
}

static enum lks_code begin(struct lks_job *job, struct lks_err *err)
{
    snprintf(job->files, sizeof(job->files), FILES_FOLDER);
    if (make_folder(LKS_EXECUTOR_FOLDER, err) != LKS_OK || take_lock(err) != LKS_OK)
        return err->code;
    return clear_files(err);
}

static int end(enum lks_code code, const struct lks_buf *said, const struct lks_err *err)
{
    char line[LKS_EXECUTOR_SAID_MAX];
    if (code == LKS_OK)
        lks_executor_job_text(lks_buf_view(said), line, sizeof(line));
    else
        (void)lks_executor_job_text(lks_str_from(err->msg), line, sizeof(line));
    printf("%s\n", line);
    return fflush(stdout) == 0 ? lks_err_code_info(code)->exit : lks_err_code_info(LKS_E_IO)->exit;
}

int lks_executor_main(int argc, char **argv, enum lks_order_kind kind, lks_executor_fn *run)
{
    LKS_CLEANUP(job_fini) struct lks_job job = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf said = LKS_BUF(LKS_ERR_MSG_MAX);
    struct wanted w = {.list = argv + 1, .count = argc > 0 ? argc - 1 : 0};
    struct lks_err err = {0};
    (void)umask(022);
    enum lks_code code = begin(&job, &err);
    if (code == LKS_OK)
        code = copy_all(&job, &w, &err);
    if (code == LKS_OK)
        code = read_order(&job, &w, kind, &err);
    if (code == LKS_OK)
        code = run(&job, &said, &err);
    return end(code, &said, &err);
}

int lks_executor_plain(int argc, char **argv, lks_executor_fn *run)
{
    LKS_CLEANUP(job_fini) struct lks_job job = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf said = LKS_BUF(LKS_ERR_MSG_MAX);
    struct lks_err err = {0};
    (void)umask(022);
    enum lks_code code = argc > 1 ? lks_fail(&err, LKS_E_USAGE, "%s takes no artifacts", argv[0])
                                  : begin(&job, &err);
    if (code == LKS_OK)
        code = run(&job, &said, &err);
    return end(code, &said, &err);
}
