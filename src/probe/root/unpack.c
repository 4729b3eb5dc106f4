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
    size_t in_len, in_at;
    size_t made; /* by the last step of a decoder; */
    bool more;   /* it can go on without more input */
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

/* What one call of a decoder came to. It took `in_at` of the input so far, and made `made` bytes.
 */
enum step { STEP_ON, STEP_END, STEP_DAMAGED, STEP_NO_MEMORY };

/* Decode until the decoder is at the end of what was packed. */
static enum lks_code decode(struct stream *s, enum step (*step)(struct stream *s, void *decoder),
                            void *decoder, struct lks_err *err)
{
    for (enum step done = STEP_ON; !s->enough && done != STEP_END;) {
        if (s->in_len == 0)
            return fail_damaged(s, err);
        s->in_at = 0;
        do {
            done = step(s, decoder);
            if (done == STEP_NO_MEMORY)
                return lks_fail_nomem(err);
            if (done == STEP_DAMAGED)
                return fail_damaged(s, err);
            if (pass(s, s->out, s->made, err) != LKS_OK)
                return err->code;
        } while (s->more && done != STEP_END && !s->enough);
        if (done != STEP_END && fill(s, err) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}

/* What a step left of the input, and of the space for the output. */
static void note(struct stream *s, size_t in_left, size_t out_left)
{
    s->in_at = s->in_len - in_left;
    s->made = PIECE - out_left;
    s->more = out_left == 0;
}

/* gzip --------------------------------------------------------------------------------------- */

static enum step step_gzip(struct stream *s, void *decoder)
{
    z_stream *z = decoder;
    z->next_in = s->in + s->in_at;
    z->avail_in = (uInt)(s->in_len - s->in_at);
    z->next_out = s->out;
    z->avail_out = (uInt)PIECE;
    int done = inflate(z, Z_NO_FLUSH);
    note(s, z->avail_in, z->avail_out);
    if (done == Z_STREAM_END)
        return STEP_END;
    return done == Z_OK || done == Z_BUF_ERROR ? STEP_ON : STEP_DAMAGED;
}

static enum lks_code unpack_gzip(struct stream *s, struct lks_err *err)
{
    z_stream z = {0};
    if (inflateInit2(&z, 16 + MAX_WBITS) != Z_OK)
        return lks_fail_nomem(err);
    enum lks_code code = decode(s, step_gzip, &z, err);
    (void)inflateEnd(&z);
    return code;
}

/* xz ----------------------------------------------------------------------------------------- */

static enum step step_xz(struct stream *s, void *decoder)
{
    lzma_stream *x = decoder;
    x->next_in = s->in + s->in_at;
    x->avail_in = s->in_len - s->in_at;
    x->next_out = s->out;
    x->avail_out = PIECE;
    lzma_ret done = lzma_code(x, LZMA_RUN);
    note(s, x->avail_in, x->avail_out);
    if (done == LZMA_STREAM_END)
        return STEP_END;
    if (done == LZMA_MEM_ERROR || done == LZMA_MEMLIMIT_ERROR)
        return STEP_NO_MEMORY;
    return done == LZMA_OK || done == LZMA_BUF_ERROR ? STEP_ON : STEP_DAMAGED;
}

static enum lks_code unpack_xz(struct stream *s, struct lks_err *err)
{
    lzma_stream x = LZMA_STREAM_INIT;
    if (lzma_stream_decoder(&x, LKS_UNPACK_MEMORY_MAX, 0) != LZMA_OK)
        return lks_fail_nomem(err);
    enum lks_code code = decode(s, step_xz, &x, err);
    lzma_end(&x);
    return code;
}

/* zstd --------------------------------------------------------------------------------------- */

static enum step step_zstd(struct stream *s, void *decoder)
{
    ZSTD_inBuffer in = {s->in, s->in_len, s->in_at};
    ZSTD_outBuffer out = {s->out, PIECE, 0};
    size_t left = ZSTD_decompressStream(decoder, &out, &in);
    s->in_at = in.pos;
    s->made = out.pos;
    s->more = in.pos < in.size || out.pos == out.size;
    if (ZSTD_isError(left))
        return STEP_DAMAGED;
    return left == 0 ? STEP_END : STEP_ON;
}

static enum lks_code unpack_zstd(struct stream *s, struct lks_err *err)
{
    ZSTD_DStream *z = ZSTD_createDStream();
    if (z == NULL)
        return lks_fail_nomem(err);
    enum lks_code code = decode(s, step_zstd, z, err);
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
