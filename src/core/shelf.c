#include "core/shelf.h"

#include "core/decide.h"

#include <stdlib.h>

#define DIGEST_BYTES_MAX ((size_t)16 << 20)

void lks_shelf_init(struct lks_shelf *shelf)
{
    *shelf = (struct lks_shelf){0};
    lks_intern_init(&shelf->digests, DIGEST_BYTES_MAX);
}

static void manifest_free(struct lks_manifest *manifest)
{
    if (manifest == NULL)
        return;
    lks_manifest_fini(manifest);
    free(manifest);
}

void lks_shelf_fini(struct lks_shelf *shelf)
{
    for (uint32_t i = 0; i < shelf->room; i++)
        manifest_free(shelf->manifests[i]);
    free(shelf->manifests);
    free(shelf->stacks);
    lks_intern_fini(&shelf->digests);
    *shelf = (struct lks_shelf){0};
}

/* What is new is empty, as all that is not on the shelf. */
static enum lks_code make_room(struct lks_shelf *shelf, uint32_t count, struct lks_err *err)
{
    if (count <= shelf->room)
        return LKS_OK;
    uint32_t room = 2 * count;
    struct lks_manifest **manifests =
        reallocarray(shelf->manifests, room, sizeof(shelf->manifests[0]));
    if (manifests == NULL)
        return lks_fail_nomem(err);
    shelf->manifests = manifests;
    const struct lks_stack **stacks = reallocarray(shelf->stacks, room, sizeof(shelf->stacks[0]));
    if (stacks == NULL)
        return lks_fail_nomem(err);
    shelf->stacks = stacks;
    for (uint32_t i = shelf->room; i < room; i++) {
        manifests[i] = NULL;
        stacks[i] = NULL;
    }
    shelf->room = room;
    return LKS_OK;
}

static const struct lks_stack *find_stack(const struct lks_manifest *manifest,
                                          struct lks_str digest)
{
    for (size_t i = 0; manifest != NULL && i < manifest->stack_count; i++) {
        if (lks_str_is(digest, manifest->stacks[i].digest))
            return &manifest->stacks[i];
    }
    return NULL;
}

/* Equal digests are equal stacks: the one that is there stays, since others point to it. */
enum lks_code lks_shelf_put(struct lks_shelf *shelf, struct lks_str digest,
                            struct lks_manifest *manifest, struct lks_err *err)
{
    const struct lks_stack *stack = find_stack(manifest, digest);
    struct lks_manifest *kept = NULL;
    uint32_t id = 0;
    if (stack == NULL)
        return lks_fail(err, LKS_E_INVALID, "the file holds no stack %" LKS_STR_FMT,
                        LKS_STR_ARG(digest));
    if (lks_shelf_stack(shelf, digest) != NULL) {
        lks_manifest_fini(manifest);
        return LKS_OK;
    }
    if (make_room(shelf, lks_intern_count(&shelf->digests) + 1, err) != LKS_OK)
        return err->code;
    kept = malloc(sizeof(*kept));
    if (kept == NULL)
        return lks_fail_nomem(err);
    if (lks_intern_id(&shelf->digests, digest, &id, err) != LKS_OK) {
        free(kept);
        return err->code;
    }
    *kept = LKS_MOVE(*manifest);
    shelf->manifests[id] = kept;
    shelf->stacks[id] = stack; /* in the documents' arena, which does not move */
    return LKS_OK;
}

const struct lks_stack *lks_shelf_stack(const struct lks_shelf *shelf, struct lks_str digest)
{
    uint32_t id = 0;
    return lks_intern_find(&shelf->digests, digest, &id) ? shelf->stacks[id] : NULL;
}

const struct lks_stack *lks_book_stack(const struct lks_book *book, struct lks_str digest)
{
    const struct lks_stack *stack = NULL;
    if (book->shelf != NULL)
        stack = lks_shelf_stack(book->shelf, digest);
    return stack != NULL ? stack : find_stack(book->manifest, digest);
}
