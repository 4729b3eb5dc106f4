#include "core/registry/artifacts.h"
#include "core/rows/registry.h"
#include "core/state/lookup.h"
#include "engine/engine_parts.h"

enum lks_code lks_engine_shelve(struct lks_engine *e, struct lks_str digest,
                                struct lks_manifest *manifest, struct lks_err *err)
{
    if (e->book.registry == NULL)
        lks_registry_store_init(&e->registry);
    e->book.registry = &e->registry;
    return lks_registry_store_put(&e->registry, digest, manifest, err);
}

enum lks_code lks_engine_shelve_event(struct lks_engine *e, const struct lks_event *event,
                                      const struct lks_store_blob *blob, struct lks_err *err)
{
    LKS_CLEANUP(lks_manifest_fini) struct lks_manifest manifest = {0};
    LKS_ASSERT(event->kind == LKS_EVENT_PUBLISH && blob != NULL);
    if (lks_manifest_parse("stack", blob->bytes, e->options.facts, NULL, &manifest, err) != LKS_OK)
        return lks_wrap(err, "the stack's manifest");
    return lks_engine_shelve(e, lks_str_from(event->publish.stack->digest), &manifest, err);
}

static enum lks_code shelve_stored(struct lks_engine *e, struct lks_store *store,
                                   const struct lks_state_stack *stack, struct lks_err *err)
{
    LKS_CLEANUP(lks_manifest_fini) struct lks_manifest manifest = {0};
    struct lks_str name = lks_state_text(&e->state, stack->name);
    if (lks_engine_manifest(store, e->options.facts, "the manifest of a published stack",
                            lks_state_text(&e->state, stack->manifest), &manifest, err) != LKS_OK ||
        lks_engine_shelve(e, lks_state_text(&e->state, stack->digest), &manifest, err) != LKS_OK)
        return lks_wrap(err, "stack '%" LKS_STR_FMT "'", LKS_STR_ARG(name));
    return LKS_OK;
}

/* A file with many stacks in it, or with a whole fleet, is read once. */
static bool is_shelved(const struct lks_engine *e, const struct lks_state_stack *stack)
{
    return e->book.registry != NULL &&
           lks_registry_store_stack(e->book.registry, lks_state_text(&e->state, stack->digest)) !=
               NULL;
}

enum lks_code lks_engine_shelve_all(struct lks_engine *e, struct lks_store *store,
                                    struct lks_err *err)
{
    for (uint32_t i = 0; i < e->state.stack_count; i++) {
        const struct lks_state_stack *stack = &e->state.stacks[i];
        bool needed =
            stack->step != LKS_STEP_RETIRED || lks_artifact_stack_in_use(&e->state, stack->digest);
        if (needed && !is_shelved(e, stack) && shelve_stored(e, store, stack, err) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}
