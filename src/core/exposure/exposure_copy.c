#include "base/vec.h"
#include "core/exposure/exposure_parts.h"
#include "core/rows/pool.h"
#include "core/rows/registry.h"
#include "core/rows/verdict.h"
#include "core/state/node_status.h"
#include "core/state/state.h"

#include <stdlib.h>

#define MEMORY_MAX ((size_t)1 << 30)

enum { BASES_SLICE = 256 }; /* a basis is many times as long as the rest of a node */

enum lks_code lks_exposure_new(const struct lks_facts *facts, struct lks_exposure_fleet **out,
                               struct lks_err *err)
{
    struct lks_exposure_fleet *e = calloc(1, sizeof(*e));
    if (e == NULL)
        return lks_fail_nomem(err);
    e->facts = facts;
    lks_arena_init(&e->arena, MEMORY_MAX);
    *out = e;
    return LKS_OK;
}

void lks_exposure_free(struct lks_exposure_fleet *e)
{
    if (e == NULL)
        return;
    lks_arena_fini(&e->arena);
    void *const arrays[] = {e->nodes, e->bases, e->pins, e->images, e->pools, e->places, e};
    for (size_t i = 0; i < LKS_COUNT(arrays); i++)
        free(arrays[i]);
}

static enum lks_code copy(struct lks_exposure_fleet *e, struct lks_str text, struct lks_str *out,
                          struct lks_err *err)
{
    struct lks_str made = lks_arena_copy(&e->arena, text);
    if (made.ptr == NULL)
        return lks_arena_fail(&e->arena, err);
    *out = made;
    return LKS_OK;
}

/* A handle stands for the same readings for good, whether or not they are kept. */
static enum lks_code copy_basis(struct lks_exposure_fleet *e, const struct lks_state *s,
                                uint32_t handle, uint32_t *out, struct lks_err *err)
{
    struct lks_exposure_basis made = {.gpus = s->bases[handle - 1].gpus};
    if (LKS_VEC_RESERVE(e->places, e->place_room, handle, err) != LKS_OK)
        return err->code;
    uint32_t *place = &e->places[handle - 1];
    if (*place == 0) {
        if (copy(e, lks_state_readings(s, handle), &made.readings, err) != LKS_OK ||
            LKS_VEC_RESERVE(e->bases, e->basis_room, e->basis_count + 1, err) != LKS_OK)
            return err->code;
        e->bases[e->basis_count++] = made;
        *place = e->basis_count;
    }
    *out = *place - 1;
    return LKS_OK;
}

/* There are few, and the last one is mostly the next one too. */
static enum lks_code copy_pin(struct lks_exposure_fleet *e, const struct lks_state *s,
                              const struct lks_book *book, lks_text intent, uint32_t *pin,
                              struct lks_err *err)
{
    struct lks_exposure_pin made = {intent, LKS_STR(""), LKS_STR("")};
    if (*pin < e->pin_count && e->pins[*pin].intent == intent)
        return LKS_OK;
    for (*pin = 0; *pin < e->pin_count; (*pin)++) {
        if (e->pins[*pin].intent == intent)
            return LKS_OK;
    }
    const struct lks_stack *stack = lks_book_stack(book, lks_state_text(s, intent));
    if (stack != NULL && (copy(e, lks_stack_version(stack, "cuda"), &made.cuda, err) != LKS_OK ||
                          copy(e, lks_stack_version(stack, "rocm"), &made.rocm, err) != LKS_OK))
        return err->code;
    if (LKS_VEC_RESERVE(e->pins, e->pin_room, e->pin_count + 1, err) != LKS_OK)
        return err->code;
    e->pins[e->pin_count++] = made;
    return LKS_OK;
}

static enum lks_code copy_node(struct lks_exposure_fleet *e, const struct lks_state *s,
                               const struct lks_book *book, uint32_t number, struct lks_err *err)
{
    const struct lks_node *n = &s->nodes[number];
    struct lks_exposure_node made = {
        .number = number, .pool = n->pool, .stray = lks_bitset_test(&s->standing->differs, number)};
    if (e->node_count > 0)
        made.pin = e->nodes[e->node_count - 1].pin;
    if (copy(e, lks_state_name(s, number), &made.name, err) != LKS_OK ||
        copy_basis(e, s, n->whole, &made.basis, err) != LKS_OK ||
        copy_pin(e, s, book, lks_state_intent(s, number), &made.pin, err) != LKS_OK ||
        LKS_VEC_RESERVE(e->nodes, e->node_room, e->node_count + 1, err) != LKS_OK)
        return err->code;
    e->nodes[e->node_count++] = made;
    return LKS_OK;
}

static enum lks_code copy_image(struct lks_exposure_fleet *e, const struct lks_state *s,
                                const struct lks_state_image *from, struct lks_exposure_image *to,
                                struct lks_err *err)
{
    if (copy(e, lks_state_text(s, from->ref), &to->ref, err) != LKS_OK ||
        copy(e, lks_state_text(s, from->nccl), &to->nccl, err) != LKS_OK ||
        copy(e, lks_state_text(s, from->rccl), &to->rccl, err) != LKS_OK ||
        copy(e, lks_state_text(s, from->cudnn), &to->cudnn, err) != LKS_OK ||
        copy(e, lks_state_text(s, from->cuda), &to->cuda, err) != LKS_OK)
        return err->code;
    return LKS_OK;
}

static enum lks_code copy_images_and_pools(struct lks_exposure_fleet *e, const struct lks_state *s,
                                           struct lks_err *err)
{
    if (LKS_VEC_RESERVE(e->images, e->image_room, s->image_count + 1, err) != LKS_OK ||
        LKS_VEC_RESERVE(e->pools, e->pool_room, s->pool_count + 1, err) != LKS_OK)
        return err->code;
    for (uint32_t i = 0; i < s->image_count; i++) {
        if (copy_image(e, s, &s->images[i], &e->images[i], err) != LKS_OK)
            return err->code;
    }
    for (uint32_t i = 0; i < s->pool_count; i++) {
        if (copy(e, lks_state_text(s, s->pools[i].name), &e->pools[i], err) != LKS_OK)
            return err->code;
    }
    e->image_count = s->image_count;
    e->pool_count = s->pool_count;
    return LKS_OK;
}

enum lks_code lks_exposure_read(struct lks_exposure_fleet *e, const struct lks_state *s,
                                const struct lks_book *book, uint32_t max, lks_exposure_sees *sees,
                                void *ctx, bool *done, struct lks_err *err)
{
    uint32_t before = e->basis_count;
    for (; max > 0 && e->next < s->node_count && e->basis_count - before < BASES_SLICE;
         max--, e->next++) {
        const struct lks_node *n = &s->nodes[e->next];
        if (!n->placed || n->asset != 0 || lks_state_readings(s, n->whole).len == 0 ||
            (sees != NULL && !sees(ctx, e->next)))
            continue;
        if (copy_node(e, s, book, e->next, err) != LKS_OK)
            return err->code;
    }
    if (e->next < s->node_count) {
        *done = false;
        return LKS_OK;
    }
    if (copy_images_and_pools(e, s, err) != LKS_OK)
        return err->code;
    *done = true;
    return LKS_OK;
}
