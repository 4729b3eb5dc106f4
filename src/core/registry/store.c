#include "core/registry/store.h"

#include "base/vec.h"

#include <stdlib.h>

#define DIGEST_BYTES_MAX ((size_t)16 << 20)

void lks_registry_store_init(struct lks_registry_store *registry)
{
    *registry = (struct lks_registry_store){0};
    lks_intern_init(&registry->digests, DIGEST_BYTES_MAX);
}

static void manifest_free(struct lks_manifest *manifest)
{
    lks_manifest_fini(manifest);
    free(manifest);
}

void lks_registry_store_fini(struct lks_registry_store *registry)
{
    for (uint32_t i = 0; i < registry->manifest_count; i++)
        manifest_free(registry->manifests[i]);
    free(registry->manifests);
    free(registry->stacks);
    lks_intern_fini(&registry->digests);
    *registry = (struct lks_registry_store){0};
}

/* For one more file and so many more stacks. New entries are empty, as all that is not published.
 */
static enum lks_code make_room(struct lks_registry_store *registry, size_t more,
                               struct lks_err *err)
{
    if (LKS_VEC_RESERVE(registry->manifests, registry->manifest_room, registry->manifest_count + 1,
                        err) != LKS_OK)
        return err->code;
    return LKS_VEC_RESERVE(registry->stacks, registry->room,
                           lks_intern_count(&registry->digests) + more, err);
}

const struct lks_stack *lks_registry_store_find(const struct lks_manifest *manifest,
                                                struct lks_str digest)
{
    for (size_t i = 0; manifest != NULL && i < manifest->stack_count; i++) {
        if (lks_str_is(digest, manifest->stacks[i].digest))
            return &manifest->stacks[i];
    }
    return NULL;
}

static enum lks_code know_digests(struct lks_registry_store *registry,
                                  const struct lks_manifest *manifest, struct lks_err *err)
{
    uint32_t id = 0;
    for (size_t i = 0; i < manifest->stack_count; i++) {
        struct lks_str digest = lks_str_from(manifest->stacks[i].digest);
        if (lks_intern_id(&registry->digests, digest, &id, err) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}

/* Equal digests are equal stacks: the one that is there stays, since others point to it. */
static void keep(struct lks_registry_store *registry, struct lks_manifest *kept)
{
    registry->manifests[registry->manifest_count++] = kept;
    for (size_t i = 0; i < kept->stack_count; i++) {
        const struct lks_stack *stack = &kept->stacks[i]; /* in an arena, which does not move */
        uint32_t id = 0;
        bool known = lks_intern_find(&registry->digests, lks_str_from(stack->digest), &id);
        LKS_ASSERT(known);
        if (registry->stacks[id] == NULL)
            registry->stacks[id] = stack;
    }
}

enum lks_code lks_registry_store_put(struct lks_registry_store *registry, struct lks_str digest,
                                     struct lks_manifest *manifest, struct lks_err *err)
{
    if (lks_registry_store_find(manifest, digest) == NULL)
        return lks_fail(err, LKS_E_INVALID, "the file holds no stack %" LKS_STR_FMT,
                        LKS_STR_ARG(digest));
    if (lks_registry_store_stack(registry, digest) != NULL) {
        lks_manifest_fini(manifest);
        return LKS_OK;
    }
    if (make_room(registry, manifest->stack_count, err) != LKS_OK ||
        know_digests(registry, manifest, err) != LKS_OK)
        return err->code;
    struct lks_manifest *kept = malloc(sizeof(*kept));
    if (kept == NULL)
        return lks_fail_nomem(err);
    *kept = LKS_MOVE(*manifest);
    keep(registry, kept);
    return LKS_OK;
}

const struct lks_stack *lks_registry_store_stack(const struct lks_registry_store *registry,
                                                 struct lks_str digest)
{
    uint32_t id = 0;
    return lks_intern_find(&registry->digests, digest, &id) ? registry->stacks[id] : NULL;
}
