#include "drivers/store/backup.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define SEALED_AS "lockstep backup"
#define JOURNAL   "journal.db"

enum { PIECE = 64 << 10, LINE_MAX_BYTES = 128, DIR_MODE = 0700, FILE_MODE = 0600 };

/* What a controller is made of; the journal last, since it is the largest. Restoring takes these
 * names and no others, so a backup cannot put a file anywhere else. */
static const char *const files[] = {
    "lockstepd.yaml",
    "ca.crt",
    "server.crt",
    "journal.pub",
    "command.pub",
    "secrets/ca.key.sealed",
    "secrets/server.key.sealed",
    "secrets/journal.key.sealed",
    "secrets/command.key.sealed",
    JOURNAL,
};

static enum lks_code join(char out[PATH_MAX], const char *dir, const char *name,
                          struct lks_err *err)
{
    int len = snprintf(out, PATH_MAX, "%s/%s", dir, name);
    if (len < 0 || len >= PATH_MAX)
        return lks_fail(err, LKS_E_INVALID, "%s: too long for a path", dir);
    return LKS_OK;
}

/* Making ------------------------------------------------------------------------------------ */

struct making {
    int fd;
    const char *path;
    struct lks_seal_stream *sealer;
};

static enum lks_code sink(void *ctx, struct lks_str bytes, struct lks_err *err)
{
    struct making *m = ctx;
    return lks_file_put(m->fd, m->path, bytes, err);
}

/* Exactly the size that was announced: a file that changes meanwhile is a failure. */
static enum lks_code feed_bytes(struct making *m, int fd, const char *path, uint64_t size,
                                struct lks_err *err)
{
    char *piece = malloc(PIECE);
    if (piece == NULL)
        return lks_fail_nomem(err);
    enum lks_code code = LKS_OK;
    while (code == LKS_OK && size > 0) {
        ssize_t got = read(fd, piece, size < PIECE ? (size_t)size : PIECE);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            code = lks_fail(err, LKS_E_IO, "%s: became shorter", path);
            break;
        }
        size -= (uint64_t)got;
        code = lks_seal_feed(m->sealer, (struct lks_str){piece, (size_t)got}, err);
    }
    free(piece);
    return code;
}

static enum lks_code feed_file(struct making *m, const char *path, const char *name,
                               struct lks_err *err)
{
    char line[LINE_MAX_BYTES];
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return lks_file_fail(err, path);
    enum lks_code code =
        fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? LKS_OK : lks_file_fail(err, path);
    if (code == LKS_OK) {
        snprintf(line, sizeof(line), "%s %" PRIu64 "\n", name, (uint64_t)st.st_size);
        code = lks_seal_feed(m->sealer, lks_str_from(line), err);
    }
    if (code == LKS_OK)
        code = feed_bytes(m, fd, path, (uint64_t)st.st_size, err);
    close(fd);
    return code;
}

static enum lks_code feed_all(struct making *m, const char *dir, const char *copy,
                              struct lks_err *err)
{
    for (size_t i = 0; i < LKS_COUNT(files); i++) {
        char path[PATH_MAX];
        if (join(path, dir, files[i], err) != LKS_OK ||
            feed_file(m, strcmp(files[i], JOURNAL) == 0 ? copy : path, files[i], err) != LKS_OK)
            return err->code;
    }
    if (lks_seal_feed(m->sealer, LKS_STR("END\n"), err) != LKS_OK)
        return err->code;
    return lks_seal_end(m->sealer, err);
}

static enum lks_code make_sealed(const char *dir, const struct lks_seal_key *key, const char *copy,
                                 struct making *m, struct lks_err *err)
{
    uint8_t nonce[LKS_SEAL_NONCE_BYTES];
    if (getrandom(nonce, sizeof(nonce), 0) != (ssize_t)sizeof(nonce))
        return lks_fail(err, LKS_E_IO, "the kernel gives no chance");
    if (lks_seal_writer_new(key, nonce, SEALED_AS, sink, m, &m->sealer, err) != LKS_OK)
        return err->code;
    enum lks_code code = feed_all(m, dir, copy, err);
    lks_seal_free(m->sealer);
    if (code == LKS_OK && fsync(m->fd) != 0)
        code = lks_file_fail(err, m->path);
    return code;
}

enum lks_code lks_backup_make(const char *dir, struct lks_store *store,
                              const struct lks_seal_key *key, const char *path, struct lks_err *err)
{
    char copy[PATH_MAX];
    int len = snprintf(copy, sizeof(copy), "%s.journal", path);
    if (len < 0 || (size_t)len >= sizeof(copy))
        return lks_fail(err, LKS_E_INVALID, "%s: too long for a path", path);
    struct making m = {.path = path};
    m.fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, FILE_MODE);
    if (m.fd < 0)
        return lks_file_fail(err, path);
    unlink(copy); /* of a backup that was cut short */
    enum lks_code code = store->ops->copy(store->self, copy, err);
    if (code == LKS_OK)
        code = make_sealed(dir, key, copy, &m, err);
    unlink(copy);
    close(m.fd);
    if (code != LKS_OK)
        unlink(path);
    return code;
}

/* Restoring --------------------------------------------------------------------------------- */

struct restoring {
    const char *dir;
    char line[LINE_MAX_BYTES];
    size_t line_len;
    uint64_t left;  /* of the file being written */
    int fd;         /* -1: a line comes next */
    size_t written; /* files, in the order of the list */
    bool ended;
    char path[PATH_MAX];
};

static enum lks_code finish_file(struct restoring *r, struct lks_err *err)
{
    bool ok = fsync(r->fd) == 0;
    ok = close(r->fd) == 0 && ok;
    r->fd = -1;
    r->written++;
    return ok ? LKS_OK : lks_file_fail(err, r->path);
}

/* "NAME SIZE", NAME being the next of the list; or "END" behind the last. */
static enum lks_code begin_file(struct restoring *r, struct lks_err *err)
{
    struct lks_str name, size, line = {r->line, r->line_len};
    r->line_len = 0;
    if (lks_str_is(line, "END") && r->written == LKS_COUNT(files)) {
        r->ended = true;
        return LKS_OK;
    }
    lks_str_cut(line, ' ', &name, &size);
    if (r->written == LKS_COUNT(files) || !lks_str_is(name, files[r->written]) ||
        !lks_str_number(size, INT64_MAX, &r->left))
        return lks_fail(err, LKS_E_INVALID, "not a backup of this version of lockstep");
    if (join(r->path, r->dir, files[r->written], err) != LKS_OK)
        return err->code;
    r->fd = open(r->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, FILE_MODE);
    if (r->fd < 0)
        return lks_file_fail(err, r->path);
    return r->left == 0 ? finish_file(r, err) : LKS_OK;
}

static enum lks_code take_line(struct restoring *r, struct lks_str *bytes, struct lks_err *err)
{
    while (bytes->len > 0) {
        char c = *bytes->ptr++;
        bytes->len--;
        if (c == '\n')
            return begin_file(r, err);
        if (r->ended || r->line_len == sizeof(r->line))
            return lks_fail(err, LKS_E_INVALID, "not a backup of this version of lockstep");
        r->line[r->line_len++] = c;
    }
    return LKS_OK;
}

static enum lks_code take(void *ctx, struct lks_str bytes, struct lks_err *err)
{
    struct restoring *r = ctx;
    while (bytes.len > 0) {
        if (r->fd < 0) {
            if (take_line(r, &bytes, err) != LKS_OK)
                return err->code;
            continue;
        }
        struct lks_str piece = {bytes.ptr, bytes.len < r->left ? bytes.len : (size_t)r->left};
        if (lks_file_put(r->fd, r->path, piece, err) != LKS_OK)
            return err->code;
        r->left -= piece.len;
        bytes.ptr += piece.len;
        bytes.len -= piece.len;
        if (r->left == 0 && finish_file(r, err) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}

static enum lks_code unseal_file(const char *path, const struct lks_seal_key *key,
                                 struct restoring *r, struct lks_err *err)
{
    struct lks_seal_stream *unsealer = NULL;
    char *piece = malloc(PIECE);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || piece == NULL) {
        enum lks_code code = fd < 0 ? lks_file_fail(err, path) : lks_fail_nomem(err);
        free(piece);
        if (fd >= 0)
            close(fd);
        return code;
    }
    enum lks_code code = lks_seal_reader_new(key, SEALED_AS, take, r, &unsealer, err);
    ssize_t got = 0;
    while (code == LKS_OK && (got = read(fd, piece, PIECE)) > 0)
        code = lks_seal_feed(unsealer, (struct lks_str){piece, (size_t)got}, err);
    if (code == LKS_OK && got < 0)
        code = lks_file_fail(err, path);
    else if (code == LKS_OK)
        code = lks_seal_end(unsealer, err);
    lks_seal_free(unsealer);
    close(fd);
    free(piece);
    return code;
}

/* Only what the list names, so that nothing else can be lost. */
static void remove_all(const char *dir)
{
    char path[PATH_MAX];
    struct lks_err err;
    for (size_t i = 0; i < LKS_COUNT(files); i++) {
        if (join(path, dir, files[i], &err) == LKS_OK)
            unlink(path);
    }
    if (join(path, dir, "secrets", &err) == LKS_OK)
        rmdir(path);
    rmdir(dir);
}

enum lks_code lks_backup_restore(const char *path, const struct lks_seal_key *key, const char *dir,
                                 struct lks_err *err)
{
    struct restoring r = {.dir = dir, .fd = -1};
    char secrets[PATH_MAX];
    if (join(secrets, dir, "secrets", err) != LKS_OK)
        return err->code;
    if (mkdir(dir, DIR_MODE) != 0)
        return lks_file_fail(err, dir);
    enum lks_code code = mkdir(secrets, DIR_MODE) == 0 ? unseal_file(path, key, &r, err)
                                                       : lks_file_fail(err, secrets);
    if (code == LKS_OK && !r.ended)
        code = lks_fail(err, LKS_E_INVALID, "%s: ends too early", path);
    if (r.fd >= 0)
        close(r.fd);
    if (code != LKS_OK)
        remove_all(dir);
    return code;
}
