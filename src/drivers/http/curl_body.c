#include "drivers/http/curl_body.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK_SIZE = 64 * 1024 };

static enum lks_code fail_other(const struct lks_curl_body *b, struct lks_err *err)
{
    return lks_fail(err, LKS_E_INVALID, "the stored file is not %s and was not sent to its end",
                    b->request->file.digest);
}

static enum lks_code add_hash(struct lks_curl_body *b, const char *bytes, size_t len,
                              struct lks_err *err)
{
    if (EVP_DigestUpdate(b->hash, bytes, len) != 1)
        return lks_fail(err, LKS_E_IO, "SHA-256 is not available in this libcrypto");
    return LKS_OK;
}

static enum lks_code end_hash(struct lks_curl_body *b, struct lks_err *err)
{
    uint8_t raw[LKS_DIGEST_BYTES];
    char text[LKS_DIGEST_SIZE];
    bool same = EVP_DigestFinal_ex(b->hash, raw, NULL) == 1 &&
                strcmp(lks_digest_write(raw, text), b->request->file.digest) == 0;
    EVP_MD_CTX_free(b->hash);
    b->hash = NULL;
    return same ? LKS_OK : fail_other(b, err);
}

/* As many bytes as are asked for, unless the file ends before. */
static enum lks_code read_at(struct lks_curl_body *b, uint64_t offset, char *out, size_t size,
                             size_t *got, struct lks_err *err)
{
    ssize_t n;
    do
        n = pread(b->fd, out, size, (off_t)offset);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return lks_fail(err, LKS_E_IO, "%s: %s", b->request->file.digest, strerror(errno));
    *got = (size_t)n;
    return LKS_OK;
}

/* A part says nothing about the whole: that is read first. */
static enum lks_code check_whole(struct lks_curl_body *b, uint64_t size, struct lks_err *err)
{
    char chunk[CHUNK_SIZE];
    for (uint64_t at = 0; at < size;) {
        size_t got = 0;
        if (read_at(b, at, chunk, sizeof(chunk), &got, err) != LKS_OK ||
            add_hash(b, chunk, got, err) != LKS_OK)
            return err->code;
        if (got == 0)
            break;
        at += got;
    }
    return end_hash(b, err);
}

enum lks_code lks_curl_body_init(struct lks_curl_body *b, const struct lks_http_request *request,
                                 int fd, struct lks_err *err)
{
    struct stat st;
    const struct lks_http_file *file = &request->file;
    *b = (struct lks_curl_body){.request = request, .fd = fd};
    if (file->digest[0] == '\0')
        return LKS_OK;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        return lks_fail(err, LKS_E_IO, "%s: not a file", file->digest);
    b->hash = EVP_MD_CTX_new();
    if (b->hash == NULL || EVP_DigestInit_ex(b->hash, EVP_sha256(), NULL) != 1)
        return lks_fail_nomem(err);
    uint64_t size = (uint64_t)st.st_size;
    if (file->length > size || file->offset > size - file->length)
        return fail_other(b, err);
    return file->offset == 0 && file->length == size ? LKS_OK : check_whole(b, size, err);
}

void lks_curl_body_fini(struct lks_curl_body *b)
{
    EVP_MD_CTX_free(b->hash);
    if (b->request != NULL && b->fd >= 0)
        close(b->fd);
    *b = (struct lks_curl_body){.fd = -1};
}

/* From the file, `at` bytes into what is sent of it. */
static enum lks_code read_file(struct lks_curl_body *b, uint64_t at, char *out, size_t size,
                               size_t *got, struct lks_err *err)
{
    const struct lks_http_file *file = &b->request->file;
    uint64_t left = file->length - at;
    size_t want = left < size ? (size_t)left : size, n = 0;
    if (read_at(b, file->offset + at, out, want, &n, err) != LKS_OK)
        return err->code;
    if (n == 0)
        return fail_other(b, err);
    if (b->hash != NULL && add_hash(b, out, n, err) != LKS_OK)
        return err->code;
    if (b->hash != NULL && n == left && end_hash(b, err) != LKS_OK)
        return err->code;
    *got = n;
    return LKS_OK;
}

enum lks_code lks_curl_body_read(struct lks_curl_body *b, char *out, size_t size, size_t *got,
                                 struct lks_err *err)
{
    const struct lks_http_request *r = b->request;
    bool has_file = r->file.digest[0] != '\0';
    uint64_t file_at = has_file ? r->file_at : r->body.len, length = has_file ? r->file.length : 0;
    size_t n = 0;
    if (b->at >= file_at && b->at - file_at < length) {
        if (read_file(b, b->at - file_at, out, size, &n, err) != LKS_OK)
            return err->code;
    } else {
        bool before = b->at < file_at;
        uint64_t from = before ? b->at : b->at - length, to = before ? file_at : r->body.len;
        n = to - from < size ? (size_t)(to - from) : size;
        if (n > 0)
            memcpy(out, r->body.ptr + from, n);
    }
    b->at += n;
    *got = n;
    return LKS_OK;
}
