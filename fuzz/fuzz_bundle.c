/* Any bytes as a bundle's manifest: what is taken leads nowhere outside its folder, names each file
 * by digest, and is written in one form that says the same and is its own form. */
#include "model/manifest/bundle.h"
#include "tests/facts.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_artifact(const struct lks_bundle *b, size_t i)
{
    const struct lks_bundle_artifact *a = &b->artifacts[i];
    LKS_ASSERT(memchr(a->name.ptr, '/', a->name.len) == NULL && a->name.ptr[0] != '.');
    LKS_ASSERT(a->name.len > 0 && a->name.len <= LKS_BUNDLE_NAME_MAX);
    LKS_ASSERT(lks_digest_valid(a->digest) && a->size > 0 && a->size <= LKS_BUNDLE_SIZE_MAX);
    LKS_ASSERT(a->component.len > 0 && a->version.len > 0 && a->kind < LKS_BUNDLE_KIND_COUNT);
    const struct lks_bundle_artifact *found = NULL;
    struct lks_err err = {0};
    if (lks_bundle_choose(b, a->component, a->name, &found, &err) == LKS_OK)
        LKS_ASSERT(found == a); /* a component is there once in a file */
    else
        LKS_ASSERT(false);
    (void)lks_bundle_follows(lks_test_facts(), a, a->version);
}

static bool same(const struct lks_bundle_artifact *a, const struct lks_bundle_artifact *b)
{
    return lks_str_eq(a->name, b->name) && lks_str_eq(a->digest, b->digest) && a->size == b->size &&
           lks_str_eq(a->component, b->component) && lks_str_eq(a->version, b->version) &&
           a->kind == b->kind && a->one_way == b->one_way;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    LKS_CLEANUP(lks_bundle_fini) struct lks_bundle b = {0}, again = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0}, twice = {0};
    struct lks_str bytes = {(const char *)data, size};
    struct lks_err err = {0};
    if (lks_bundle_parse(bytes, "fuzz", lks_test_facts(), &b, &err) != LKS_OK) {
        LKS_ASSERT(b.count == 0 && err.msg[0] != '\0');
        return 0;
    }
    for (size_t i = 0; i < b.count; i++)
        check_artifact(&b, i);
    lks_buf_init(&text, LKS_BUNDLE_BYTES_MAX);
    lks_buf_init(&twice, LKS_BUNDLE_BYTES_MAX);
    if (lks_bundle_write(&b, &text, &err) != LKS_OK)
        return 0; /* one that is full of escapes may become longer */
    LKS_ASSERT(lks_bundle_parse(lks_buf_view(&text), "again", lks_test_facts(), &again, &err) ==
               LKS_OK);
    LKS_ASSERT(again.count == b.count && lks_str_eq(again.name, b.name));
    for (size_t i = 0; i < b.count; i++)
        LKS_ASSERT(same(&again.artifacts[i], &b.artifacts[i]));
    LKS_ASSERT(lks_bundle_write(&again, &twice, &err) == LKS_OK &&
               lks_str_eq(lks_buf_view(&text), lks_buf_view(&twice)));
    return 0;
}
