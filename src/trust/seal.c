#include "trust/seal.h"

#include "codec/format/hex.h"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdlib.h>

#define FORMAT "lockstep-sealed-1"

enum {
    ID_BYTES = 8,
    TAG_BYTES = 16,
    LINE_LEN = sizeof(FORMAT) + (size_t)2 * ID_BYTES + 1, /* "FORMAT ID\n" */
    HEADER_LEN = LINE_LEN + LKS_SEAL_NONCE_BYTES,
    PIECE_NONCE_BYTES = 12,
    HASH_BYTES = 32,
};
_Static_assert(HEADER_LEN <= LKS_SEAL_HEADER_MAX, "the header fits");

/* One direction of one stream. Every stream has a key of its own, made of the sealing key, the
 * stream's nonce and what is sealed, so pieces are simply counted. */
struct lks_seal_stream {
    EVP_CIPHER_CTX *ctx; /* owned */
    struct lks_seal_key sealing;
    char what[LKS_SEAL_HEADER_MAX];
    bool opens; /* sealed bytes come in, plain ones go out */
    uint8_t key[HASH_BYTES];
    char header[HEADER_LEN]; /* bound to every piece */
    size_t header_len;       /* how much of it has come in, or is out */
    uint64_t piece;
    lks_seal_sink *sink;
    void *sink_ctx;
    enum lks_code failed; /* stays: what follows a failure is never handed on */
    size_t len;
    char bytes[LKS_SEAL_PIECE + TAG_BYTES]; /* waiting for what follows */
};

void lks_seal_free(struct lks_seal_stream *s)
{
    if (s == NULL)
        return;
    EVP_CIPHER_CTX_free(s->ctx);
    OPENSSL_cleanse(s, sizeof(*s));
    free(s);
}

enum lks_code lks_seal_key_parse(struct lks_str text, struct lks_seal_key *out, struct lks_err *err)
{
    struct lks_str hex = lks_str_trim(text);
    while (lks_str_ends(hex, "\n"))
        hex = lks_str_trim((struct lks_str){hex.ptr, hex.len - 1});
    if (!lks_hex_read(hex, out->bytes, sizeof(out->bytes)))
        return lks_fail(err, LKS_E_INVALID,
                        "sealing key: expected one line of %d lower-case hexadecimal digits",
                        2 * LKS_SEAL_KEY_BYTES);
    return LKS_OK;
}

/* HMAC-SHA-256 of a label, the nonce and what is sealed. The label ends with a zero byte and the
 * nonce has one length, so no two inputs are the same bytes. */
static bool derive(const struct lks_seal_key *key, const char *label, const char *nonce,
                   const char *what, uint8_t out[HASH_BYTES])
{
    uint8_t input[3 * LKS_SEAL_HEADER_MAX];
    const struct lks_str parts[] = {
        {label, strlen(label) + 1}, {nonce, LKS_SEAL_NONCE_BYTES}, {what, strlen(what)}};
    size_t len = 0;
    for (size_t i = 0; i < LKS_COUNT(parts); i++) {
        LKS_ASSERT(parts[i].len <= sizeof(input) - len);
        memcpy(input + len, parts[i].ptr, parts[i].len);
        len += parts[i].len;
    }
    return HMAC(EVP_sha256(), key->bytes, LKS_SEAL_KEY_BYTES, input, len, out, NULL) != NULL;
}

/* "FORMAT ID\n": the id tells keys apart and says nothing of them. */
static bool header_line(const struct lks_seal_key *key, char out[LINE_LEN])
{
    static const char none[LKS_SEAL_NONCE_BYTES];
    uint8_t id[HASH_BYTES];
    static const char digits[] = "0123456789abcdef";
    if (!derive(key, FORMAT " id", none, "", id))
        return false;
    memcpy(out, FORMAT " ", sizeof(FORMAT));
    for (size_t i = 0; i < ID_BYTES; i++) {
        out[sizeof(FORMAT) + 2 * i] = digits[id[i] >> 4];
        out[sizeof(FORMAT) + 2 * i + 1] = digits[id[i] & 15];
    }
    out[LINE_LEN - 1] = '\n';
    return true;
}

static enum lks_code stop(struct lks_seal_stream *s, enum lks_code code)
{
    s->failed = code;
    return code;
}

static enum lks_code gone(struct lks_err *err)
{
    return lks_fail(err, LKS_E_INVALID, "sealed bytes: nothing can follow a failure");
}

/* Chosen with the header in place. */
static bool stream_begin(struct lks_seal_stream *s)
{
    return derive(&s->sealing, FORMAT " stream", s->header + LINE_LEN, s->what, s->key) &&
           EVP_CipherInit_ex(s->ctx, EVP_aes_256_gcm(), NULL, s->key, NULL, !s->opens) == 1;
}

/* The place of a piece and whether it is the last are its nonce: in another place it does not
 * open. */
static bool piece_begin(struct lks_seal_stream *s, bool last)
{
    uint8_t nonce[PIECE_NONCE_BYTES] = {0};
    int len;
    for (unsigned i = 0; i < 8; i++)
        nonce[PIECE_NONCE_BYTES - 2 - i] = (uint8_t)(s->piece >> (8 * i));
    nonce[PIECE_NONCE_BYTES - 1] = last;
    s->piece++;
    return EVP_CipherInit_ex(s->ctx, NULL, NULL, NULL, nonce, -1) == 1 &&
           EVP_CipherUpdate(s->ctx, NULL, &len, (const unsigned char *)s->header, HEADER_LEN) == 1;
}

static enum lks_code no_cipher(struct lks_err *err)
{
    return lks_fail(err, LKS_E_IO, "AES-256-GCM is not available in this libcrypto");
}

static enum lks_code damaged(struct lks_err *err)
{
    ERR_clear_error();
    return lks_fail(err, LKS_E_INVALID,
                    "sealed bytes: damaged, cut short, or sealed as something else");
}

/* Hand on what is in `s->bytes`, sealed. */
static enum lks_code piece_seal(struct lks_seal_stream *s, bool last, struct lks_err *err)
{
    unsigned char *bytes = (unsigned char *)s->bytes;
    int len = 0, rest = 0;
    if (!piece_begin(s, last) ||
        (s->len > 0 && EVP_CipherUpdate(s->ctx, bytes, &len, bytes, (int)s->len) != 1) ||
        EVP_CipherFinal_ex(s->ctx, bytes + len, &rest) != 1 ||
        EVP_CIPHER_CTX_ctrl(s->ctx, EVP_CTRL_AEAD_GET_TAG, TAG_BYTES, bytes + s->len) != 1)
        return no_cipher(err);
    struct lks_str piece = {s->bytes, s->len + TAG_BYTES};
    s->len = 0;
    return s->sink(s->sink_ctx, piece, err);
}

/* Hand on what is in `s->bytes`, opened. */
static enum lks_code piece_open(struct lks_seal_stream *s, bool last, struct lks_err *err)
{
    unsigned char *bytes = (unsigned char *)s->bytes;
    int len = 0, rest = 0;
    if (s->len < TAG_BYTES)
        return damaged(err);
    size_t plain = s->len - TAG_BYTES;
    if (!piece_begin(s, last) ||
        (plain > 0 && EVP_CipherUpdate(s->ctx, bytes, &len, bytes, (int)plain) != 1) ||
        EVP_CIPHER_CTX_ctrl(s->ctx, EVP_CTRL_AEAD_SET_TAG, TAG_BYTES, bytes + plain) != 1)
        return no_cipher(err);
    if (EVP_CipherFinal_ex(s->ctx, bytes + len, &rest) != 1)
        return damaged(err);
    s->len = 0;
    return s->sink(s->sink_ctx, (struct lks_str){s->bytes, plain}, err);
}

/* Gather pieces. The last one is not known to be until the end, so a full piece waits for a byte
 * behind it. */
static enum lks_code stream_feed(struct lks_seal_stream *s, struct lks_str in, struct lks_err *err)
{
    size_t size = s->opens ? LKS_SEAL_PIECE + TAG_BYTES : LKS_SEAL_PIECE;
    while (in.len > 0) {
        if (s->len == size) {
            enum lks_code code = (s->opens ? piece_open : piece_seal)(s, false, err);
            if (code != LKS_OK)
                return stop(s, code);
        }
        size_t take = in.len < size - s->len ? in.len : size - s->len;
        memcpy(s->bytes + s->len, in.ptr, take);
        s->len += take;
        in = (struct lks_str){in.ptr + take, in.len - take};
    }
    return LKS_OK;
}

static enum lks_code stream_new(const struct lks_seal_key *key, const char *what, bool opens,
                                lks_seal_sink *sink, void *ctx, struct lks_seal_stream **out,
                                struct lks_err *err)
{
    LKS_ASSERT(strlen(what) < LKS_SEAL_HEADER_MAX);
    struct lks_seal_stream *s = calloc(1, sizeof(*s));
    if (s == NULL)
        return lks_fail_nomem(err);
    s->sealing = *key;
    memcpy(s->what, what, strlen(what) + 1);
    s->opens = opens;
    s->sink = sink;
    s->sink_ctx = ctx;
    s->ctx = EVP_CIPHER_CTX_new();
    if (s->ctx == NULL) {
        lks_seal_free(s);
        return no_cipher(err);
    }
    *out = s;
    return LKS_OK;
}

enum lks_code lks_seal_writer_new(const struct lks_seal_key *key,
                                  const uint8_t nonce[LKS_SEAL_NONCE_BYTES], const char *what,
                                  lks_seal_sink *sink, void *ctx, struct lks_seal_stream **out,
                                  struct lks_err *err)
{
    struct lks_seal_stream *s = NULL;
    enum lks_code code = stream_new(key, what, false, sink, ctx, &s, err);
    if (s == NULL)
        return code;
    memcpy(s->header + LINE_LEN, nonce, LKS_SEAL_NONCE_BYTES);
    if (!header_line(key, s->header) || !stream_begin(s)) {
        lks_seal_free(s);
        return no_cipher(err);
    }
    *out = s;
    return LKS_OK;
}

enum lks_code lks_seal_reader_new(const struct lks_seal_key *key, const char *what,
                                  lks_seal_sink *sink, void *ctx, struct lks_seal_stream **out,
                                  struct lks_err *err)
{
    return stream_new(key, what, true, sink, ctx, out, err);
}

/* The header goes out with the first bytes, so that making a stream writes nothing. */
static enum lks_code header_put(struct lks_seal_stream *s, struct lks_err *err)
{
    if (s->header_len == HEADER_LEN)
        return LKS_OK;
    s->header_len = HEADER_LEN;
    return stop(s, s->sink(s->sink_ctx, (struct lks_str){s->header, HEADER_LEN}, err));
}

/* The header is whole: is it ours, and of this key? */
static enum lks_code header_check(struct lks_seal_stream *s, struct lks_err *err)
{
    char line[LINE_LEN];
    if (!header_line(&s->sealing, line))
        return no_cipher(err);
    if (memcmp(line, s->header, sizeof(FORMAT)) != 0 || s->header[LINE_LEN - 1] != '\n')
        return lks_fail(err, LKS_E_INVALID, "sealed bytes: they do not start with \"" FORMAT "\"");
    if (memcmp(line, s->header, LINE_LEN) != 0)
        return lks_fail(
            err, LKS_E_DENIED, "sealed with another key: its id is %.*s, that of this key %.*s",
            2 * ID_BYTES, s->header + sizeof(FORMAT), 2 * ID_BYTES, line + sizeof(FORMAT));
    return stream_begin(s) ? LKS_OK : no_cipher(err);
}

/* Take the header, or what of it is here, off the beginning of `sealed`. */
static enum lks_code header_take(struct lks_seal_stream *s, struct lks_str *sealed,
                                 struct lks_err *err)
{
    size_t want = HEADER_LEN - s->header_len;
    size_t take = sealed->len < want ? sealed->len : want;
    if (take == 0)
        return LKS_OK;
    memcpy(s->header + s->header_len, sealed->ptr, take);
    s->header_len += take;
    *sealed = (struct lks_str){sealed->ptr + take, sealed->len - take};
    return s->header_len < HEADER_LEN ? LKS_OK : stop(s, header_check(s, err));
}

enum lks_code lks_seal_feed(struct lks_seal_stream *s, struct lks_str in, struct lks_err *err)
{
    if (s->failed != LKS_OK)
        return gone(err);
    enum lks_code code = s->opens ? header_take(s, &in, err) : header_put(s, err);
    return code != LKS_OK ? code : stream_feed(s, in, err);
}

enum lks_code lks_seal_end(struct lks_seal_stream *s, struct lks_err *err)
{
    if (s->failed != LKS_OK)
        return gone(err);
    enum lks_code code;
    if (s->opens) {
        code = s->header_len < HEADER_LEN ? damaged(err) : piece_open(s, true, err);
    } else {
        code = header_put(s, err);
        if (code == LKS_OK)
            code = piece_seal(s, true, err);
    }
    s->failed = LKS_E_INVALID; /* nothing follows the end */
    return code;
}

static enum lks_code to_buf(void *ctx, struct lks_str bytes, struct lks_err *err)
{
    struct lks_buf *out = ctx;
    lks_buf_add(out, bytes);
    return lks_buf_check(out, err);
}

/* Back to what was there before a failure. */
static enum lks_code settle(struct lks_buf *out, size_t before, enum lks_code code)
{
    if (code != LKS_OK && out->len > before) {
        OPENSSL_cleanse(out->ptr + before, out->len - before);
        lks_buf_truncate(out, before);
    }
    return code;
}

/* All of `in` through a stream whose sink is `out`; it is freed. */
static enum lks_code at_once(struct lks_seal_stream *s, struct lks_str in, struct lks_buf *out,
                             struct lks_err *err)
{
    size_t before = out->len;
    enum lks_code code = lks_seal_feed(s, in, err);
    if (code == LKS_OK)
        code = lks_seal_end(s, err);
    lks_seal_free(s);
    return settle(out, before, code);
}

enum lks_code lks_seal(const struct lks_seal_key *key, const uint8_t nonce[LKS_SEAL_NONCE_BYTES],
                       const char *what, struct lks_str plain, struct lks_buf *out,
                       struct lks_err *err)
{
    struct lks_seal_stream *s = NULL;
    enum lks_code code = lks_seal_writer_new(key, nonce, what, to_buf, out, &s, err);
    return s == NULL ? code : at_once(s, plain, out, err);
}

enum lks_code lks_seal_open(const struct lks_seal_key *key, const char *what, struct lks_str sealed,
                            struct lks_buf *out, struct lks_err *err)
{
    struct lks_seal_stream *s = NULL;
    enum lks_code code = lks_seal_reader_new(key, what, to_buf, out, &s, err);
    return s == NULL ? code : at_once(s, sealed, out, err);
}
