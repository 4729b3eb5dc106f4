/* Any bytes as a header of an installed package: what is found lies within them, every beginning
 * that is enough finds the same, and the whole is never too short. */
#include "codec/package/rpmheader.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_within(struct lks_str text, struct lks_str part)
{
    LKS_ASSERT(part.len <= LKS_RPMHEADER_TEXT_MAX);
    LKS_ASSERT(part.len == 0 ||
               (part.ptr >= text.ptr && part.ptr + part.len < text.ptr + text.len));
}

static bool same(const struct lks_rpmheader *a, const struct lks_rpmheader *b)
{
    return lks_str_eq(a->name, b->name) && lks_str_eq(a->version, b->version) &&
           lks_str_eq(a->release, b->release) && lks_str_eq(a->arch, b->arch) &&
           a->epoch == b->epoch;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct lks_str text = {(const char *)data, size};
    struct lks_rpmheader whole = {0}, part = {0};
    struct lks_err err = {0};
    bool short_of;
    enum lks_code code = lks_rpmheader_parse(text, size, &whole, &short_of, &err);
    LKS_ASSERT(!short_of);
    if (code == LKS_OK) {
        const struct lks_str parts[] = {whole.name, whole.version, whole.release, whole.arch};
        for (size_t i = 0; i < LKS_COUNT(parts); i++)
            check_within(text, parts[i]);
        LKS_ASSERT(whole.epoch >= -1 && whole.epoch <= UINT32_MAX);
    }
    for (size_t len = 0; len < size; len += 1 + size / 64) {
        enum lks_code some =
            lks_rpmheader_parse((struct lks_str){text.ptr, len}, size, &part, &short_of, &err);
        LKS_ASSERT(some != LKS_OK || (code == LKS_OK && same(&whole, &part)));
        LKS_ASSERT(some == LKS_OK || short_of || code != LKS_OK);
    }
    return 0;
}
