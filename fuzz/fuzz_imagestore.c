/* Any bytes as what stores of images and captured trees say: what is accepted has names that print
 * without blanks, digests that are some, and ids that can be parts of paths. */
#include "codec/format/digest.h"
#include "probe/library/libcontainerd.h"
#include "probe/library/libimages.h"

enum { MEMORY_MAX = 64 * 1024 * 1024 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_names(const struct lks_image_names *names, bool docker)
{
    LKS_ASSERT(names->count <= LKS_IMAGESTORE_IMAGES_MAX);
    for (size_t i = 0; i < names->count; i++) {
        const struct lks_image_name *n = &names->list[i];
        LKS_ASSERT(lks_imagestore_name(n->name));
        LKS_ASSERT(n->digest.len == 0 || lks_digest_valid(n->digest));
        LKS_ASSERT(docker ? lks_digest_valid(n->id) : lks_imagestore_id(n->id));
    }
}

static void check_layers(const struct lks_image_layers *layers)
{
    LKS_ASSERT(layers->count <= LKS_IMAGESTORE_LAYERS_MAX);
    for (size_t i = 0; i < layers->count; i++)
        LKS_ASSERT(lks_imagestore_id(layers->list[i]));
}

static void check_containers(struct lks_str json, struct lks_arena *arena)
{
    struct lks_image_names names;
    struct lks_layer_parents parents;
    struct lks_image_layers layers;
    struct lks_err err = {0};
    if (lks_imagestore_containers("x", json, arena, &names, &err) == LKS_OK)
        check_names(&names, false);
    if (lks_imagestore_parents("x", json, arena, &parents, &err) != LKS_OK)
        return;
    for (size_t i = 0; i < parents.count && i < 8; i++) {
        LKS_ASSERT(i == 0 || lks_str_cmp(parents.list[i - 1].id, parents.list[i].id) <= 0);
        if (lks_imagestore_below(&parents, parents.list[i].id, arena, &layers, &err) == LKS_OK)
            check_layers(&layers);
    }
}

static void check_stacks(struct lks_str text, struct lks_arena *arena)
{
    struct lks_image_stacks stacks;
    struct lks_err err = {0};
    if (lks_libimages_parse(text, arena, &stacks, &err) != LKS_OK)
        return;
    for (size_t i = 0; i < stacks.count; i++) {
        LKS_ASSERT(lks_imagestore_name(stacks.list[i].name));
        struct lks_str rest = stacks.list[i].layers, id;
        while (rest.len > 0) {
            (void)lks_str_cut(rest, ' ', &id, &rest);
            LKS_ASSERT(lks_imagestore_id(id) || lks_libcontainerd_layer(id));
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    struct lks_str text = {(const char *)data, size};
    struct lks_image_names names;
    struct lks_image_layers layers;
    struct lks_err err = {0};
    lks_arena_init(&arena, MEMORY_MAX);
    if (lks_imagestore_docker("x", text, &arena, &names, &err) == LKS_OK)
        check_names(&names, true);
    if (lks_imagestore_chain("x", text, &arena, &layers, &err) == LKS_OK)
        check_layers(&layers);
    check_containers(text, &arena);
    check_stacks(text, &arena);
    return 0;
}
