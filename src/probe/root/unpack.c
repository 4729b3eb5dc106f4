#include "probe/root/unpack.h"

#include <errno.h>
#include <lzma.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#define PIECE     ((size_t)256 << 10)
#define MAGIC_MAX 6

/* One file on its way through. */
struct stream {
    struct lks_root *root;
    int fd;
    const char *path;
    uint64_t max, fed;
    lks_root_feed *feed;
    void *ctx;
    unsigned char *in, *out; /* PIECE bytes each */
    size_t in_len;
    bool enough;
};

static enum lks_code fail_damaged(const struct stream *s, struct lks_err *err)
{
    return lks_fail(err, LKS_E_INVALID, "%s: is damaged", s->path);
}

/* `in_len` is 0 at the end of the file. */
static enum lks_code fill(struct stream *s, struct lks_err *err)
{
    ssize_t n;
    do {
        n = read(s->fd, s->in, PIECE);
    } while (n < 0 && errno == EINTR);
    if (n < 0)
        return lks_fail(err, LKS_E_IO, "%s: %s", s->path, strerror(errno));
    s->in_len = (size_t)n;
    lks_root_alive(s->root, s->path);
    return LKS_OK;
}

static enum lks_code pass(struct stream *s, const unsigned char *bytes, size_t len,
                          struct lks_err *err)
{
    if (len == 0 || s->enough)
        return LKS_OK;
    if (len > s->max - s->fed)
        return lks_fail(err, LKS_E_LIMIT, "%s: holds more than %llu bytes", s->path,
                        (unsigned long long)s->max);
    s->fed += len;
    s->enough = !s->feed(s->ctx, (struct lks_str){(const char *)bytes, len});
    return LKS_OK;
}

/* As it is ----------------------------------------------------------------------------------- */

static enum lks_code unpack_plain(struct stream *s, struct lks_err *err)
{
    while (s->in_len > 0 && !s->enough) {
        if (pass(s, s->in, s->in_len, err) != LKS_OK || fill(s, err) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}

/* gzip --------------------------------------------------------------------------------------- */

static enum lks_code gzip_loop(struct stream *s, z_stream *z, struct lks_err *err)
{
    for (int done = Z_OK; !s->enough && done != Z_STREAM_END;) {
        if (s->in_len == 0)
            return fail_damaged(s, err);
        z->next_in = s->in;
        z->avail_in = (uInt)s->in_len;
        do {
            z->next_out = s->out;
            z->avail_out = (uInt)PIECE;
            done = inflate(z, Z_NO_FLUSH);
            if (done != Z_OK && done != Z_STREAM_END && done != Z_BUF_ERROR)
                return fail_damaged(s, err);
            if (pass(s, s->out, PIECE - z->avail_out, err) != LKS_OK)
                return err->code;
        } while (z->avail_out == 0 && done != Z_STREAM_END && !s->enough);
        if (done != Z_STREAM_END && fill(s, err) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}

static enum lks_code unpack_gzip(struct stream *s, struct lks_err *err)
{
    z_stream z = {0};
    if (inflateInit2(&z, 16 + MAX_WBITS) != Z_OK)
        return lks_fail_nomem(err);
    enum lks_code code = gzip_loop(s, &z, err);
    (void)inflateEnd(&z);
    return code;
}

/* xz ----------------------------------------------------------------------------------------- */

static enum lks_code xz_loop(struct stream *s, lzma_stream *x, struct lks_err *err)
{
    for (lzma_ret done = LZMA_OK; !s->enough && done != LZMA_STREAM_END;) {
        if (s->in_len == 0)
            return fail_damaged(s, err);
        x->next_in = s->in;
        x->avail_in = s->in_len;
        do {
            x->next_out = s->out;
            x->avail_out = PIECE;
            done = lzma_code(x, LZMA_RUN);
            if (done == LZMA_MEM_ERROR || done == LZMA_MEMLIMIT_ERROR)
                return lks_fail_nomem(err);
            if (done != LZMA_OK && done != LZMA_STREAM_END && done != LZMA_BUF_ERROR)
                return fail_damaged(s, err);
            if (pass(s, s->out, PIECE - x->avail_out, err) != LKS_OK)
                return err->code;
        } while (x->avail_out == 0 && done != LZMA_STREAM_END && !s->enough);
        if (done != LZMA_STREAM_END && fill(s, err) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}

static enum lks_code unpack_xz(struct stream *s, struct lks_err *err)
{
    lzma_stream x = LZMA_STREAM_INIT;
    if (lzma_stream_decoder(&x, LKS_UNPACK_MEMORY_MAX, 0) != LZMA_OK)
        return lks_fail_nomem(err);
    enum lks_code code = xz_loop(s, &x, err);
    lzma_end(&x);
    return code;
}

/* zstd --------------------------------------------------------------------------------------- */

static enum lks_code zstd_loop(struct stream *s, ZSTD_DStream *z, struct lks_err *err)
{
    for (size_t left = 1; !s->enough && left != 0;) {
        if (s->in_len == 0)
            return fail_damaged(s, err);
        ZSTD_inBuffer in = {s->in, s->in_len, 0};
        bool full;
        do {
            ZSTD_outBuffer out = {s->out, PIECE, 0};
            left = ZSTD_decompressStream(z, &out, &in);
            if (ZSTD_isError(left))
                return fail_damaged(s, err);
            if (pass(s, s->out, out.pos, err) != LKS_OK)
                return err->code;
            full = out.pos == out.size;
        } while ((in.pos < in.size || full) && left != 0 && !s->enough);
        if (left != 0 && fill(s, err) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}

static enum lks_code unpack_zstd(struct stream *s, struct lks_err *err)
{
    ZSTD_DStream *z = ZSTD_createDStream();
    if (z == NULL)
        return lks_fail_nomem(err);
    enum lks_code code = zstd_loop(s, z, err);
    (void)ZSTD_freeDStream(z);
    return code;
}

/* -------------------------------------------------------------------------------------------- */

static const struct {
    unsigned char magic[MAGIC_MAX];
    size_t len;
    enum lks_code (*unpack)(struct stream *s, struct lks_err *err);
} formats[] = {
    {{0x1f, 0x8b}, 2, unpack_gzip},
    {{0xfd, '7', 'z', 'X', 'Z', 0}, 6, unpack_xz},
    {{0x28, 0xb5, 0x2f, 0xfd}, 4, unpack_zstd},
    {{0}, 0, unpack_plain},
};

enum lks_code lks_unpack(struct lks_root *root, int fd, const char *path, uint64_t max,
                         lks_root_feed *feed, void *ctx, struct lks_err *err)
{
    struct stream s = {.root = root, .fd = fd, .path = path, .max = max, .feed = feed, .ctx = ctx};
    s.in = malloc(2 * PIECE);
    if (s.in == NULL)
        return lks_fail_nomem(err);
    s.out = s.in + PIECE;
    enum lks_code code = lseek(fd, 0, SEEK_SET) == 0
                             ? fill(&s, err)
                             : lks_fail(err, LKS_E_IO, "%s: %s", path, strerror(errno));
    for (size_t i = 0; code == LKS_OK && i < LKS_COUNT(formats); i++) {
        if (s.in_len < formats[i].len || memcmp(s.in, formats[i].magic, formats[i].len) != 0)
            continue;
        code = formats[i].unpack(&s, err);
        break;
    }
    free(s.in);
    return code;
}
