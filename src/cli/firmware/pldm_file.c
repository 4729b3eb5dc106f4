#include "cli/firmware/pldm_file.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PORTION = 256 << 10 };

void lks_pldm_file_fini(struct lks_pldm_file *f)
{
    lks_pldm_package_pass_fini(&f->pass);
    lks_pldm_package_fini(&f->package);
    if (f->path != NULL)
        close(f->fd);
    *f = (struct lks_pldm_file){0};
}

/* Up to `len` bytes from `at` on; fewer at the end of the file. */
static enum lks_code read_at(const struct lks_pldm_file *f, uint64_t at, size_t len, char *out,
                             size_t *got, struct lks_err *err)
{
    size_t have = 0;
    while (have < len) {
        ssize_t n = pread(f->fd, out + have, len - have, (off_t)(at + have));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return lks_file_fail(err, f->path);
        if (n == 0)
            break;
        have += (size_t)n;
    }
    *got = have;
    return LKS_OK;
}

static enum lks_code open_file(const char *path, struct lks_pldm_file *f, struct lks_err *err)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return lks_file_fail(err, path);
    f->path = path;
    f->fd = fd;
    if (fstat(fd, &st) != 0)
        return lks_file_fail(err, path);
    if (!S_ISREG(st.st_mode))
        return lks_fail(err, LKS_E_INVALID, "%.200s: is not a plain file", path);
    f->size = (uint64_t)st.st_size;
    return LKS_OK;
}

/* The header of a package that begins at `at` and may have `size` bytes. */
static enum lks_code read_header(const struct lks_pldm_file *f, uint64_t at, uint64_t size,
                                 struct lks_pldm_package *out, struct lks_err *err)
{
    char *bytes = malloc(LKS_PLDM_HEADER_MAX);
    size_t got = 0;
    if (bytes == NULL)
        return lks_fail_nomem(err);
    enum lks_code code = read_at(
        f, at, size < LKS_PLDM_HEADER_MAX ? (size_t)size : LKS_PLDM_HEADER_MAX, bytes, &got, err);
    if (code == LKS_OK)
        code = lks_pldm_package_parse((struct lks_str){bytes, got}, size, false, out, err);
    free(bytes);
    return code;
}

static enum lks_code read_trailer(struct lks_pldm_file *f, struct lks_err *err)
{
    size_t got = 0;
    if (f->size < lks_pldm_package_end(&f->package) + LKS_PLDM_TRAILER_BYTES)
        return LKS_OK;
    uint64_t at = f->size - LKS_PLDM_TRAILER_BYTES;
    if (read_at(f, at, sizeof(f->tail), f->tail, &got, err) != LKS_OK)
        return err->code;
    struct lks_str tail = {f->tail, got};
    f->trailed = lks_pldm_trailer_is(tail);
    if (f->trailed)
        (void)!lks_pldm_trailer_parse(tail, at, &f->trailer, &f->trailer_fault);
    return LKS_OK;
}

static enum lks_code feed_all(struct lks_pldm_file *f, char *portion, struct lks_err *err)
{
    for (uint64_t at = 0;;) {
        size_t got = 0;
        if (read_at(f, at, PORTION, portion, &got, err) != LKS_OK)
            return err->code;
        if (got == 0)
            return lks_pldm_package_pass_finish(&f->pass, &f->sums, err);
        if (lks_pldm_package_pass_feed(&f->pass, (struct lks_str){portion, got}, err) != LKS_OK)
            return err->code;
        at += got;
    }
}

static enum lks_code sum_up(struct lks_pldm_file *f, struct lks_err *err)
{
    bool good = f->trailed && f->trailer_fault.code == LKS_OK;
    struct lks_pldm_pass_options options = {
        .file_size = f->size,
        .trailer_size = f->trailed ? LKS_PLDM_TRAILER_BYTES : 0,
        .signed_size = good ? f->trailer.signed_size : 0,
    };
    char *portion = malloc(PORTION);
    if (portion == NULL)
        return lks_fail_nomem(err);
    enum lks_code code = lks_pldm_package_pass_init(&f->pass, &f->package, &options, err);
    if (code == LKS_OK)
        code = feed_all(f, portion, err);
    free(portion);
    return code;
}

/* The message names the file, once. */
static enum lks_code about(const char *path, struct lks_err *err)
{
    return lks_str_starts(lks_str_from(err->msg), path) ? err->code : lks_wrap(err, "%.200s", path);
}

/* The pass remembers where the package is, so it is made in its last place. */
enum lks_code lks_pldm_file_load(const char *path, struct lks_pldm_file *out, struct lks_err *err)
{
    *out = (struct lks_pldm_file){0};
    if (open_file(path, out, err) == LKS_OK &&
        read_header(out, 0, out->size, &out->package, err) == LKS_OK &&
        read_trailer(out, err) == LKS_OK && sum_up(out, err) == LKS_OK)
        return LKS_OK;
    enum lks_code code = about(path, err);
    lks_pldm_file_fini(out);
    return code;
}

bool lks_pldm_file_nested(const struct lks_pldm_file *f, size_t index, struct lks_pldm_package *out)
{
    const struct lks_pldm_component *c = &f->package.components[index];
    struct lks_err err = {0};
    return read_header(f, c->offset, c->size, out, &err) == LKS_OK;
}
