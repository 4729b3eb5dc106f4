#include "drivers/service/image_check.h"

#include "base/compiler.h"

#include <inttypes.h>
#include <openssl/evp.h>

enum { AGAIN_MS = 2000 };

struct reading {
    struct lks_conversation head;
    struct lks_image_check *check;
};

enum lks_code lks_image_check_init(struct lks_image_check *c, struct lks_err *err)
{
    EVP_MD_CTX *hash = EVP_MD_CTX_new();
    c->got = 0;
    c->hash = hash;
    if (hash != NULL && EVP_DigestInit_ex(hash, EVP_sha256(), NULL) == 1)
        return LKS_OK;
    lks_image_check_fini(c);
    return lks_fail_nomem(err);
}

void lks_image_check_fini(struct lks_image_check *c)
{
    EVP_MD_CTX_free(c->hash);
    c->hash = NULL;
}

static uint64_t piece_of(const struct lks_image_check *c)
{
    uint64_t left = c->size - c->got;
    return left < LKS_IMAGE_CHECK_PIECE ? left : LKS_IMAGE_CHECK_PIECE;
}

static lks_ms ask(const void *value, struct lks_http_request *out)
{
    const struct reading *r = value;
    const struct lks_image_check *c = r->check;
    out->method = "GET";
    lks_buf_add(&out->path, c->path);
    lks_http_request_header(out, "Range", "bytes=%" PRIu64 "-%" PRIu64, c->got,
                            c->got + piece_of(c) - 1);
    return c->patience;
}

/* The size of all of it: of a range, what follows the slash. False: the answer does not tell it. */
static bool size_of(const struct lks_http_response *answer, uint64_t *out)
{
    struct lks_str range = lks_http_response_header(answer, "content-range"), head, all;
    *out = answer->body.len;
    if (answer->status == 200)
        return true;
    return lks_str_cut(range, '/', &head, &all) && lks_str_number(all, UINT64_MAX, out);
}

static void end(struct reading *r)
{
    uint8_t bytes[LKS_DIGEST_BYTES] = {0};
    char digest[LKS_DIGEST_SIZE];
    if (EVP_DigestFinal_ex(r->check->hash, bytes, NULL) != 1)
        lks_conversation_fail(&r->head, LKS_E_UNAVAILABLE, "the bytes cannot be hashed");
    else if (strcmp(lks_digest_write(bytes, digest), r->check->digest) != 0)
        lks_conversation_fail(&r->head, LKS_E_INVALID, "it has the digest %s", digest);
    else
        lks_conversation_end(&r->head);
}

static void take(struct reading *r, lks_ms now, const struct lks_http_response *answer)
{
    struct lks_image_check *c = r->check;
    uint64_t all = 0, wanted = answer->status == 200 ? c->size : piece_of(c);
    if (!size_of(answer, &all) || (answer->status == 200 && c->got > 0)) {
        lks_conversation_fail(&r->head, LKS_E_UNAVAILABLE, "it answers ranges without their place");
    } else if (all != c->size) {
        lks_conversation_fail(&r->head, LKS_E_INVALID, "it has %" PRIu64 " bytes, not %" PRIu64,
                              all, c->size);
    } else if (answer->body.len != wanted) {
        lks_conversation_fail(&r->head, LKS_E_UNAVAILABLE, "it answers another range");
    } else if (EVP_DigestUpdate(c->hash, answer->body.ptr, answer->body.len) != 1) {
        lks_conversation_fail(&r->head, LKS_E_UNAVAILABLE, "the bytes cannot be hashed");
    } else {
        c->got += answer->body.len;
        if (c->got == c->size)
            end(r);
        else
            lks_conversation_go(&r->head, 0, now);
    }
}

static void hear(void *value, lks_ms now, const struct lks_http_response *answer)
{
    struct reading *r = value;
    if (answer == NULL)
        lks_conversation_retry(&r->head, now + AGAIN_MS);
    else if (answer->status == 200 || answer->status == 206)
        take(r, now, answer);
    else
        lks_conversation_fail(&r->head, LKS_E_UNAVAILABLE, "it answers with status %d",
                              answer->status);
}

const struct lks_conversation_ops lks_image_check_talk = {
    .name = "image-check", .size = sizeof(struct reading), .ask = ask, .hear = hear};

void lks_image_check_begin(void *value, struct lks_image_check *c)
{
    struct reading *r = value;
    *r = (struct reading){.head = {.deadline = c->deadline}, .check = c};
}
