#include "pldm/package_parts.h"
#include "pldm/trailer.h"

#include <inttypes.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <zlib.h>

/* What is hashed two or three times in a row stays in the cache meanwhile. */
enum { BLOCK = 32 << 10 };

struct lks_pldm_pass_state {
    const struct lks_pldm_package *p; /* the caller's */
    struct lks_pldm_pass_options options;
    uint64_t at;                             /* bytes that were fed */
    EVP_MD_CTX *whole, *image, *signed_part; /* owned; the last is NULL when not asked for */
    uint16_t *order;                         /* owned; components by place */
    size_t next;                             /* in `order`: the image in progress, or the next */
    uint64_t images_end;                     /* of those that are over */
    uint8_t (*digests)[LKS_DIGEST_BYTES];    /* owned; by component */
    uint32_t package_crc, payload_crc;
    uint64_t loose, behind;
};

uint32_t lks_pldm_package_crc(uint32_t crc, struct lks_str bytes)
{
    return (uint32_t)crc32_z(crc, (const unsigned char *)bytes.ptr, bytes.len);
}

static void state_free(struct lks_pldm_pass_state *s)
{
    if (s == NULL)
        return;
    EVP_MD_CTX_free(s->whole);
    EVP_MD_CTX_free(s->image);
    EVP_MD_CTX_free(s->signed_part);
    free(s->order);
    free(s->digests);
    free(s);
}

void lks_pldm_package_pass_fini(struct lks_pldm_pass *pass)
{
    state_free(pass->state);
    pass->state = NULL;
}

static enum lks_code no_digest(struct lks_err *err)
{
    return lks_fail(err, LKS_E_IO, "SHA-256 and SHA-384 are not available in this libcrypto");
}

/* A new context, already begun; NULL: it cannot be had. */
static EVP_MD_CTX *begin_digest(const EVP_MD *kind)
{
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    if (ctx != NULL && EVP_DigestInit_ex(ctx, kind, NULL) == 1)
        return ctx;
    EVP_MD_CTX_free(ctx);
    return NULL;
}

static enum lks_code fill_state(struct lks_pldm_pass_state *s, struct lks_err *err)
{
    s->digests = calloc(s->p->component_count + 1, sizeof(*s->digests));
    s->order = lks_pldm_package_order(s->p);
    if (s->digests == NULL || s->order == NULL)
        return lks_fail_nomem(err);
    s->whole = begin_digest(EVP_sha256());
    s->image = begin_digest(EVP_sha256());
    if (s->options.signed_size > 0)
        s->signed_part = begin_digest(EVP_sha384());
    bool all = s->whole != NULL && s->image != NULL &&
               (s->signed_part != NULL || s->options.signed_size == 0);
    return all ? LKS_OK : no_digest(err);
}

enum lks_code lks_pldm_package_pass_init(struct lks_pldm_pass *pass,
                                         const struct lks_pldm_package *package,
                                         const struct lks_pldm_pass_options *options,
                                         struct lks_err *err)
{
    LKS_ASSERT(options->trailer_size <= options->file_size);
    LKS_ASSERT(options->signed_size <= options->file_size);
    struct lks_pldm_pass_state *s = calloc(1, sizeof(*s));
    if (s == NULL)
        return lks_fail_nomem(err);
    s->p = package;
    s->options = *options;
    s->images_end = package->header_size;
    if (fill_state(s, err) != LKS_OK) {
        state_free(s);
        return err->code;
    }
    pass->state = s;
    return LKS_OK;
}

/* The part of `block`, which lies at `at` in the file, from `from` to `to`. */
static struct lks_str clip(struct lks_str block, uint64_t at, uint64_t from, uint64_t to)
{
    uint64_t end = at + block.len;
    uint64_t a = from > at ? from : at;
    uint64_t b = to < end ? to : end;
    if (a >= b)
        return (struct lks_str){block.ptr, 0};
    return (struct lks_str){block.ptr + (a - at), (size_t)(b - a)};
}

/* Bytes that are no padding. */
static uint64_t count_set(struct lks_str gap)
{
    uint64_t set = 0;
    for (size_t i = 0; i < gap.len; i++)
        set += gap.ptr[i] != '\0';
    return set;
}

/* An image is over; those with the same bytes are, too. */
static enum lks_code end_image(struct lks_pldm_pass_state *s, struct lks_err *err)
{
    size_t first = s->order[s->next];
    const struct lks_pldm_component *c = &s->p->components[first];
    if (EVP_DigestFinal_ex(s->image, s->digests[first], NULL) != 1 ||
        EVP_DigestInit_ex(s->image, NULL, NULL) != 1)
        return no_digest(err);
    s->images_end = (uint64_t)c->offset + c->size;
    for (s->next++; s->next < s->p->component_count; s->next++) {
        size_t other = s->order[s->next];
        if (s->p->components[other].offset != c->offset)
            break;
        memcpy(s->digests[other], s->digests[first], LKS_DIGEST_BYTES);
    }
    return LKS_OK;
}

/* The images, and what is between them. */
static enum lks_code feed_images(struct lks_pldm_pass_state *s, struct lks_str block,
                                 struct lks_err *err)
{
    uint64_t trailer = s->options.file_size - s->options.trailer_size;
    uint64_t end = s->at + block.len;
    while (s->next < s->p->component_count) {
        const struct lks_pldm_component *c = &s->p->components[s->order[s->next]];
        uint64_t image_end = (uint64_t)c->offset + c->size;
        struct lks_str part = clip(block, s->at, c->offset, image_end);
        s->loose += count_set(clip(block, s->at, s->images_end, c->offset));
        if (part.len > 0 && EVP_DigestUpdate(s->image, part.ptr, part.len) != 1)
            return no_digest(err);
        if (end < image_end)
            return LKS_OK;
        if (end_image(s, err) != LKS_OK)
            return err->code;
    }
    s->behind += count_set(clip(block, s->at, s->images_end, trailer));
    return LKS_OK;
}

static enum lks_code feed_block(struct lks_pldm_pass_state *s, struct lks_str block,
                                struct lks_err *err)
{
    uint64_t trailer = s->options.file_size - s->options.trailer_size;
    struct lks_str covered = clip(block, s->at, 0, s->options.signed_size);
    if (EVP_DigestUpdate(s->whole, block.ptr, block.len) != 1 ||
        (covered.len > 0 && EVP_DigestUpdate(s->signed_part, covered.ptr, covered.len) != 1))
        return no_digest(err);
    struct lks_str payload = clip(block, s->at, s->p->header_size, trailer);
    s->package_crc = lks_pldm_package_crc(s->package_crc, payload);
    struct lks_str behind = clip(block, s->at, trailer, UINT64_MAX);
    if (s->at <= trailer)
        s->payload_crc = s->package_crc;
    s->payload_crc = lks_pldm_package_crc(s->payload_crc, behind);
    return feed_images(s, block, err);
}

enum lks_code lks_pldm_package_pass_feed(struct lks_pldm_pass *pass, struct lks_str bytes,
                                         struct lks_err *err)
{
    struct lks_pldm_pass_state *s = pass->state;
    if (bytes.len > s->options.file_size - s->at)
        return lks_fail(err, LKS_E_INVALID,
                        "the file grew beyond its %" PRIu64 " bytes while it was read",
                        s->options.file_size);
    while (bytes.len > 0) {
        struct lks_str block = {bytes.ptr, bytes.len < BLOCK ? bytes.len : BLOCK};
        if (feed_block(s, block, err) != LKS_OK)
            return err->code;
        s->at += block.len;
        bytes = (struct lks_str){bytes.ptr + block.len, bytes.len - block.len};
    }
    return LKS_OK;
}

enum lks_code lks_pldm_package_pass_finish(struct lks_pldm_pass *pass, struct lks_pldm_sums *out,
                                           struct lks_err *err)
{
    struct lks_pldm_pass_state *s = pass->state;
    struct lks_pldm_sums sums = {
        .components = s->digests,
        .payload_crc = s->payload_crc,
        .package_crc = s->package_crc,
        .loose = s->loose,
        .behind = s->behind,
    };
    if (s->at != s->options.file_size)
        return lks_fail(err, LKS_E_INVALID, "the file ends after %" PRIu64 " of %" PRIu64 " bytes",
                        s->at, s->options.file_size);
    LKS_ASSERT(s->next == s->p->component_count);
    if (EVP_DigestFinal_ex(s->whole, sums.whole, NULL) != 1 ||
        (s->signed_part != NULL && EVP_DigestFinal_ex(s->signed_part, sums.signed_part, NULL) != 1))
        return no_digest(err);
    *out = sums;
    return LKS_OK;
}

enum lks_code lks_pldm_package_sums_check(const struct lks_pldm_package *p,
                                          const struct lks_pldm_sums *sums, struct lks_err *err)
{
    if (p->revision < 4 || p->payload_crc == sums->payload_crc ||
        p->payload_crc == sums->package_crc)
        return LKS_OK;
    return lks_fail(err, LKS_E_REFUSED,
                    "the payload's checksum says %08" PRIx32 ", its bytes give %08" PRIx32
                    ": damaged or changed",
                    p->payload_crc, sums->package_crc);
}

enum lks_code lks_pldm_package_open(struct lks_str file, bool strict, struct lks_pldm_package *out,
                                    struct lks_err *err)
{
    LKS_CLEANUP(lks_pldm_package_fini) struct lks_pldm_package p = {0};
    if (lks_pldm_package_parse(file, file.len, strict, &p, err) != LKS_OK)
        return err->code;
    uint64_t end = lks_pldm_package_end(&p);
    bool signed_too = file.len - end == LKS_PLDM_TRAILER_BYTES;
    struct lks_str payload = clip(file, 0, p.header_size, signed_too ? end : file.len);
    struct lks_str behind = clip(file, 0, signed_too ? end : file.len, file.len);
    uint32_t crc = p.revision >= 4 ? lks_pldm_package_crc(0, payload) : 0;
    struct lks_pldm_sums sums = {.payload_crc = lks_pldm_package_crc(crc, behind),
                                 .package_crc = crc};
    if (lks_pldm_package_sums_check(&p, &sums, err) != LKS_OK)
        return err->code;
    *out = LKS_MOVE(p);
    return LKS_OK;
}
