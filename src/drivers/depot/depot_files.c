#include "drivers/depot/depot_files.h"

#include "base/file.h"
#include "codec/format/hex.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define FOLDER_FLAGS (O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)

enum {
    OWNER_FOLDER = 0700,
    OWNER_FILE = 0600,
    PREFIX = 2, /* digits that name a folder */
    DIGITS = 64,
    SUM_BYTES = 32,
};

static const char *digits_of(const char *digest)
{
    LKS_ASSERT(lks_digest_valid(lks_str_from(digest)));
    return digest + strlen("sha256:");
}

/* A depot without space may have it later: the client puts again. */
static enum lks_code fail_at(const char *path, struct lks_err *err)
{
    bool full = errno == ENOSPC || errno == EDQUOT || errno == EFBIG;
    enum lks_code code = lks_file_fail(err, path);
    return full ? (err->code = LKS_E_UNAVAILABLE) : code;
}

static enum lks_code fail(const struct lks_depot *d, const char *name, struct lks_err *err)
{
    char path[LKS_DEPOT_PATH_MAX + DIGITS * 2];
    int number = errno;
    snprintf(path, sizeof(path), "%s/%s", d->path, name);
    errno = number;
    return fail_at(path, err);
}

static void close_fd(const int *fd)
{
    if (*fd > 0)
        (void)close(*fd);
}

/* Folders -------------------------------------------------------------------------------------- */

/* A folder in another, made where it is not there; durable before anything is put into it. */
static int open_folder(int in, const char *name)
{
    if (mkdirat(in, name, OWNER_FOLDER) == 0 && fsync(in) != 0)
        return -1;
    return openat(in, name, FOLDER_FLAGS);
}

enum lks_code lks_depot_open(const char *path, struct lks_depot *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_depot_close) struct lks_depot d = {0};
    if ((size_t)snprintf(d.path, sizeof(d.path), "%s", path) >= sizeof(d.path))
        return lks_fail(err, LKS_E_INVALID, "%.100s...: the path is too long", path);
    if (mkdir(path, OWNER_FOLDER) != 0 && errno != EEXIST)
        return lks_file_fail(err, path);
    LKS_CLEANUP(close_fd) int top = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (top < 0)
        return lks_file_fail(err, path);
    d.whole = open_folder(top, "sha256");
    if (d.whole < 0)
        return fail(&d, "sha256", err);
    d.parts = open_folder(top, "parts");
    if (d.parts < 0)
        return fail(&d, "parts", err);
    *out = LKS_MOVE(d);
    return LKS_OK;
}

void lks_depot_close(struct lks_depot *d)
{
    close_fd(&d->whole);
    close_fd(&d->parts);
    *d = (struct lks_depot){0};
}

/* Artifacts ------------------------------------------------------------------------------------ */

/* Where the file is within `whole`. */
static const char *place_of(const char *digest, char out[DIGITS + 2])
{
    const char *digits = digits_of(digest);
    snprintf(out, DIGITS + 2, "%.*s/%s", PREFIX, digits, digits + PREFIX);
    return out;
}

/* The folder above is looked at on its own: a link there is not followed either. */
static int open_prefix(const struct lks_depot *d, const char *digits)
{
    char prefix[PREFIX + 1];
    snprintf(prefix, sizeof(prefix), "%.*s", PREFIX, digits);
    return openat(d->whole, prefix, FOLDER_FLAGS);
}

/* A plain file, and nothing that could keep us waiting. */
static int open_plain(int folder, const char *name, int flags, struct stat *st)
{
    int fd = openat(folder, name, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, OWNER_FILE);
    if (fd >= 0 && (fstat(fd, st) != 0 || !S_ISREG(st->st_mode))) {
        (void)close(fd);
        errno = ELOOP;
        return -1;
    }
    return fd;
}

enum lks_code lks_depot_find(const struct lks_depot *d, const char *digest, int *fd, uint64_t *size,
                             struct lks_err *err)
{
    char place[DIGITS + 2];
    struct stat st = {0};
    LKS_CLEANUP(close_fd) int folder = open_prefix(d, digits_of(digest));
    if (folder < 0)
        return fail(d, place_of(digest, place), err);
    int found = open_plain(folder, digits_of(digest) + PREFIX, O_RDONLY, &st);
    if (found < 0)
        return fail(d, place_of(digest, place), err);
    *fd = found;
    *size = (uint64_t)st.st_size;
    return LKS_OK;
}

enum lks_code lks_depot_read(int fd, uint64_t at, size_t len, struct lks_buf *out,
                             struct lks_err *err)
{
    char *piece = malloc(len > 0 ? len : 1);
    size_t have = 0;
    ssize_t got = piece != NULL ? 1 : -1;
    LKS_ASSERT(len <= LKS_DEPOT_SLICE);
    while (got > 0 && have < len) {
        got = pread(fd, piece + have, len - have, (off_t)(at + have));
        if (got < 0 && errno == EINTR)
            got = 1;
        else
            have += got > 0 ? (size_t)got : 0;
    }
    enum lks_code code = LKS_OK;
    if (piece == NULL)
        code = lks_fail_nomem(err);
    else if (got < 0)
        code = lks_fail(err, LKS_E_IO, "an artifact cannot be read: %s", strerror(errno));
    else if (have < len)
        code = lks_fail(err, LKS_E_IO, "an artifact is shorter than it was");
    else
        lks_buf_add(out, (struct lks_str){piece, have});
    free(piece);
    return code != LKS_OK ? code : lks_buf_check(out, err);
}

enum lks_code lks_depot_remove(const struct lks_depot *d, const char *digest, struct lks_err *err)
{
    char place[DIGITS + 2];
    LKS_CLEANUP(close_fd) int folder = open_prefix(d, digits_of(digest));
    if (folder < 0 && errno == ENOENT)
        return LKS_OK;
    if (folder < 0 || (unlinkat(folder, digits_of(digest) + PREFIX, 0) != 0 && errno != ENOENT) ||
        fsync(folder) != 0)
        return fail(d, place_of(digest, place), err);
    return LKS_OK;
}

void lks_depot_touch(const struct lks_depot *d, const char *digest)
{
    LKS_CLEANUP(close_fd) int folder = open_prefix(d, digits_of(digest));
    if (folder >= 0)
        (void)utimensat(folder, digits_of(digest) + PREFIX, NULL, AT_SYMLINK_NOFOLLOW);
}

/* Parts ---------------------------------------------------------------------------------------- */

uint64_t lks_depot_have(const struct lks_depot *d, const char *digest)
{
    struct stat st = {0};
    LKS_CLEANUP(close_fd) int fd = open_plain(d->parts, digits_of(digest), O_RDONLY, &st);
    return fd >= 0 ? (uint64_t)st.st_size : 0;
}

void lks_depot_forget(const struct lks_depot *d, const char *digest)
{
    (void)unlinkat(d->parts, digits_of(digest), 0);
}

struct entries {
    int folder;
    DIR *dir;
};

static void entries_end(struct entries *e)
{
    if (e->dir != NULL)
        (void)closedir(e->dir);
}

/* The descriptor stays the caller's: reading goes on in one of its own. */
static bool entries_begin(struct entries *e, int folder)
{
    int own = openat(folder, ".", FOLDER_FLAGS);
    *e = (struct entries){folder, own >= 0 ? fdopendir(own) : NULL};
    if (own >= 0 && e->dir == NULL)
        (void)close(own);
    return e->dir != NULL;
}

/* The next name that is `len` digits; NULL: no more. */
static const char *entries_next(const struct entries *e, size_t len)
{
    uint8_t raw[SUM_BYTES];
    for (;;) {
        const struct dirent *entry = readdir(e->dir);
        if (entry == NULL)
            return NULL;
        struct lks_str name = lks_str_from(entry->d_name);
        if (name.len == len && lks_hex_read(name, raw, len / 2))
            return entry->d_name;
    }
}

static bool too_many(const struct lks_depot *d)
{
    LKS_CLEANUP(entries_end) struct entries e = {0};
    unsigned count = 0;
    bool listed = entries_begin(&e, d->parts);
    while (listed && entries_next(&e, DIGITS) != NULL)
        count++;
    return count >= LKS_DEPOT_PARTS_MAX;
}

/* On the disk of `fd`, for `name`. */
static enum lks_code check_room(int fd, const char *name, uint64_t room, uint64_t spare,
                                struct lks_err *err)
{
    struct statvfs st = {0};
    if (fstatvfs(fd, &st) != 0)
        return lks_file_fail(err, name);
    uint64_t left = (uint64_t)st.f_bavail * st.f_frsize;
    if (left >= spare && left - spare >= room)
        return LKS_OK;
    return lks_fail(err, LKS_E_UNAVAILABLE,
                    "%s: not enough space: %llu bytes are wanted, %llu are left and %llu of them "
                    "stay free",
                    name, (unsigned long long)room, (unsigned long long)left,
                    (unsigned long long)spare);
}

static bool sum_begin(struct lks_depot_part *p)
{
    p->sum = EVP_MD_CTX_new();
    return p->sum != NULL && EVP_DigestInit_ex(p->sum, EVP_sha256(), NULL) == 1;
}

enum lks_code lks_depot_part_open(const struct lks_depot *d, const char *digest, uint64_t from,
                                  uint64_t room, uint64_t spare, struct lks_depot_part *out,
                                  struct lks_err *err)
{
    LKS_CLEANUP(lks_depot_part_fini) struct lks_depot_part p = {0};
    struct stat st = {0};
    const char *name = digits_of(digest);
    if (check_room(d->parts, d->path, room, spare, err) != LKS_OK)
        return err->code;
    p.fd = open_plain(d->parts, name, O_RDWR, &st);
    if (p.fd < 0 && errno != ENOENT)
        return fail(d, name, err);
    if (p.fd < 0 && from > 0)
        return lks_fail(err, LKS_E_REFUSED, "nothing of it is there yet; start at 0");
    if (p.fd < 0 && too_many(d))
        return lks_fail(err, LKS_E_LIMIT,
                        "%d other artifacts are on their way; finish those, or wait until they "
                        "are swept",
                        LKS_DEPOT_PARTS_MAX);
    if (p.fd < 0)
        p.fd = open_plain(d->parts, name, O_RDWR | O_CREAT | O_EXCL, &st);
    if (p.fd < 0)
        return fail(d, name, err);
    if ((uint64_t)st.st_size < from)
        return lks_fail(err, LKS_E_REFUSED, "%llu bytes of it are there; go on at that place",
                        (unsigned long long)st.st_size);
    if ((uint64_t)st.st_size > from && ftruncate(p.fd, (off_t)from) != 0)
        return fail(d, name, err);
    p.size = from;
    p.spare = spare;
    snprintf(p.digest, sizeof(p.digest), "%s", digest);
    if (!sum_begin(&p))
        return lks_fail_nomem(err);
    *out = LKS_MOVE(p);
    return LKS_OK;
}

void lks_depot_part_fini(struct lks_depot_part *p)
{
    close_fd(&p->fd);
    EVP_MD_CTX_free(p->sum);
    *p = (struct lks_depot_part){0};
}

/* Room is looked at again: many parts may come at once, and each found it when it began. */
enum lks_code lks_depot_part_add(struct lks_depot_part *p, struct lks_str bytes,
                                 struct lks_err *err)
{
    if (p->spare > 0 && check_room(p->fd, p->digest, bytes.len, p->spare, err) != LKS_OK)
        return err->code;
    while (bytes.len > 0) {
        ssize_t put = pwrite(p->fd, bytes.ptr, bytes.len, (off_t)p->size);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return fail_at(p->digest, err);
        if (p->hashed == p->size && EVP_DigestUpdate(p->sum, bytes.ptr, (size_t)put) == 1)
            p->hashed += (uint64_t)put;
        p->size += (uint64_t)put;
        bytes = (struct lks_str){bytes.ptr + put, bytes.len - (size_t)put};
    }
    return LKS_OK;
}

static void drop_part(const struct lks_depot *d, struct lks_depot_part *p)
{
    lks_depot_forget(d, p->digest);
    lks_depot_part_fini(p);
}

enum lks_code lks_depot_part_keep(const struct lks_depot *d, struct lks_depot_part *p,
                                  struct lks_err *err)
{
    if (fsync(p->fd) == 0 && fsync(d->parts) == 0)
        return LKS_OK;
    enum lks_code code = fail(d, digits_of(p->digest), err);
    drop_part(d, p);
    return code;
}

enum lks_code lks_depot_part_look(struct lks_depot_part *p, bool *done, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf piece = LKS_BUF(LKS_DEPOT_SLICE);
    uint64_t left = p->size - p->hashed;
    size_t len = left < LKS_DEPOT_SLICE ? (size_t)left : LKS_DEPOT_SLICE;
    if (len > 0 && lks_depot_read(p->fd, p->hashed, len, &piece, err) != LKS_OK)
        return err->code;
    if (len > 0 && EVP_DigestUpdate(p->sum, piece.ptr, len) != 1)
        return lks_fail(err, LKS_E_IO, "SHA-256 is not available in this libcrypto");
    p->hashed += len;
    *done = p->hashed == p->size;
    return LKS_OK;
}

/* Into its place; the new name is durable before the old one is forgotten. */
static enum lks_code move_part(const struct lks_depot *d, const char *digest, struct lks_err *err)
{
    char prefix[PREFIX + 1];
    const char *digits = digits_of(digest);
    snprintf(prefix, sizeof(prefix), "%.*s", PREFIX, digits);
    LKS_CLEANUP(close_fd) int folder = open_folder(d->whole, prefix);
    if (folder < 0 || renameat(d->parts, digits, folder, digits + PREFIX) != 0 ||
        fsync(folder) != 0 || fsync(d->parts) != 0)
        return fail(d, digits, err);
    return LKS_OK;
}

/* All of it was hashed: INVALID where that is not its name. */
static enum lks_code compare(struct lks_depot_part *p, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(DIGITS);
    uint8_t raw[SUM_BYTES];
    unsigned len = sizeof(raw);
    LKS_ASSERT(p->hashed == p->size);
    if (EVP_DigestFinal_ex(p->sum, raw, &len) != 1)
        return lks_fail(err, LKS_E_IO, "SHA-256 is not available in this libcrypto");
    lks_hex_add(&text, raw, sizeof(raw));
    if (lks_buf_check(&text, err) != LKS_OK)
        return err->code;
    if (lks_str_is(lks_buf_view(&text), digits_of(p->digest)))
        return LKS_OK;
    return lks_fail(err, LKS_E_INVALID,
                    "what came has the digest sha256:%" LKS_STR_FMT "; it is thrown away",
                    LKS_STR_ARG(lks_buf_view(&text)));
}

enum lks_code lks_depot_sum(int fd, uint64_t size, const char *digest, struct lks_err *err)
{
    struct lks_depot_part p = {.fd = fd, .size = size};
    bool done = false;
    snprintf(p.digest, sizeof(p.digest), "%s", digest);
    enum lks_code code = sum_begin(&p) ? LKS_OK : lks_fail_nomem(err);
    while (code == LKS_OK && !done)
        code = lks_depot_part_look(&p, &done, err);
    if (code == LKS_OK)
        code = compare(&p, err);
    EVP_MD_CTX_free(p.sum); /* the file is the caller's */
    return code;
}

enum lks_code lks_depot_check(const struct lks_depot *d, const char *digest, struct lks_err *err)
{
    struct lks_err removed = {0};
    uint64_t size = 0;
    int fd = -1;
    if (lks_depot_find(d, digest, &fd, &size, err) != LKS_OK)
        return err->code;
    enum lks_code code = lks_depot_sum(fd, size, digest, err);
    (void)close(fd);
    if (code == LKS_E_INVALID && lks_depot_remove(d, digest, &removed) != LKS_OK)
        return removed.code;
    return code;
}

enum lks_code lks_depot_part_finish(const struct lks_depot *d, struct lks_depot_part *p,
                                    struct lks_err *err)
{
    enum lks_code code = compare(p, err);
    if (code != LKS_OK) {
        if (code == LKS_E_INVALID)
            drop_part(d, p);
        return code;
    }
    code = lks_depot_part_keep(d, p, err);
    if (code == LKS_OK)
        code = move_part(d, p->digest, err);
    lks_depot_part_fini(p);
    return code;
}

/* All of them ---------------------------------------------------------------------------------- */

static lks_ms used_at(const struct stat *st)
{
    return st->st_mtim.tv_sec > 0 ? (lks_ms)st->st_mtim.tv_sec * LKS_SECOND : 0;
}

/* The artifacts of one folder; false when `fn` said so. */
static bool list_prefix(int folder, const char *prefix, lks_depot_visit *fn, void *ctx)
{
    LKS_CLEANUP(entries_end) struct entries e = {0};
    const char *name;
    bool going = entries_begin(&e, folder);
    while (going && (name = entries_next(&e, DIGITS - PREFIX)) != NULL) {
        char digest[LKS_DIGEST_SIZE];
        struct stat st = {0};
        snprintf(digest, sizeof(digest), "sha256:%s%.*s", prefix, DIGITS - PREFIX, name);
        if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode))
            going = fn(ctx, digest, (uint64_t)st.st_size, used_at(&st));
    }
    return going;
}

enum lks_code lks_depot_list(const struct lks_depot *d, lks_depot_visit *fn, void *ctx,
                             struct lks_err *err)
{
    LKS_CLEANUP(entries_end) struct entries e = {0};
    const char *prefix;
    if (!entries_begin(&e, d->whole))
        return fail(d, "sha256", err);
    for (bool going = true; going && (prefix = entries_next(&e, PREFIX)) != NULL;) {
        LKS_CLEANUP(close_fd) int folder = openat(d->whole, prefix, FOLDER_FLAGS);
        going = folder < 0 || list_prefix(folder, prefix, fn, ctx);
    }
    return LKS_OK;
}

struct sweep {
    const struct lks_depot *depot;
    lks_depot_keep *keep;
    void *ctx;
    struct lks_depot_swept swept;
    struct lks_err *err;
    enum lks_code code;
};

static bool sweep_artifact(void *ctx, const char *digest, uint64_t size, lks_ms used)
{
    struct sweep *s = ctx;
    (void)used;
    if (s->keep(s->ctx, digest)) {
        s->swept.bytes += size;
        return true;
    }
    s->code = lks_depot_remove(s->depot, digest, s->err);
    s->swept.artifacts += s->code == LKS_OK;
    return s->code == LKS_OK;
}

static enum lks_code sweep_parts(struct sweep *s, lks_ms before)
{
    LKS_CLEANUP(entries_end) struct entries e = {0};
    const char *name;
    if (!entries_begin(&e, s->depot->parts))
        return fail(s->depot, "parts", s->err);
    while ((name = entries_next(&e, DIGITS)) != NULL) {
        char digest[LKS_DIGEST_SIZE];
        struct stat st = {0};
        snprintf(digest, sizeof(digest), "sha256:%.*s", DIGITS, name);
        if (fstatat(s->depot->parts, name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
            used_at(&st) >= before || s->keep(s->ctx, digest))
            continue;
        s->swept.parts += unlinkat(s->depot->parts, name, 0) == 0;
    }
    return LKS_OK;
}

enum lks_code lks_depot_sweep(const struct lks_depot *d, lks_depot_keep *keep, void *ctx,
                              lks_ms parts_before, struct lks_depot_swept *out, struct lks_err *err)
{
    struct sweep s = {.depot = d, .keep = keep, .ctx = ctx, .err = err};
    if (lks_depot_list(d, sweep_artifact, &s, err) != LKS_OK || s.code != LKS_OK ||
        sweep_parts(&s, parts_before) != LKS_OK)
        return err->code;
    *out = s.swept;
    return LKS_OK;
}
