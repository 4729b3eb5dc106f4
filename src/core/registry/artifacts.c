#include "core/registry/artifacts.h"

#include "core/rows/change_index.h"
#include "core/rows/command.h"
#include "core/rows/flash.h"
#include "core/rows/pool.h"
#include "core/rows/registry.h"
#include "core/state/node_status.h"
#include "core/state/state.h"

static void add_once(struct lks_buf *out, size_t from, struct lks_str digest)
{
    struct lks_str so_far = {out->ptr != NULL ? out->ptr + from : "", out->len - from};
    if (digest.len == 0 || lks_facts_words_have(so_far, digest))
        return;
    if (so_far.len > 0)
        lks_buf_addc(out, ' ');
    lks_buf_add(out, digest);
}

void lks_artifacts_of(const struct lks_stack *stack, struct lks_buf *out)
{
    size_t from = out->len;
    for (size_t i = 0; i < stack->component_count; i++) {
        const struct lks_doc *list = lks_doc_member(stack->components[i].doc, "artifacts");
        const struct lks_doc *first = list != NULL ? list->first : NULL;
        for (const struct lks_doc *item = first; item != NULL; item = item->next)
            add_once(out, from, item->text);
    }
    const struct lks_doc *table =
        stack->tuning != NULL ? lks_doc_member(stack->tuning, "table") : NULL;
    if (table != NULL)
        add_once(out, from, lks_doc_text(table, "digest"));
}

/* Whether a change that is not over leads there, or back there. */
static bool is_ahead(const struct lks_state *s, lks_text digest)
{
    for (uint32_t i = 0; i < s->change_count && s->changes_open > 0; i++) {
        const struct lks_state_change *c = &s->changes[i];
        if (!lks_change_over(c) && c->member_count > 0 &&
            (c->stack == digest || lks_change_comes_from(c, digest)))
            return true;
    }
    return false;
}

bool lks_artifact_stack_in_use(const struct lks_state *s, lks_text digest)
{
    if (is_ahead(s, digest))
        return true;
    for (uint32_t p = 0; p < s->pool_count; p++) {
        const struct lks_state_pool *pool = &s->pools[p];
        if (pool->known && (pool->stack_digest == digest || pool->stack_before == digest))
            return true;
    }
    const struct lks_bitset *changing = &s->standing->bars[LKS_BAR_CHANGING]; /* few of all nodes */
    for (size_t n = lks_bitset_next(changing, 0); n < changing->size;
         n = lks_bitset_next(changing, n + 1)) {
        if (s->nodes[n].changing != 0 && s->nodes[n].target == digest)
            return true;
    }
    return false;
}

bool lks_artifact_needed(const struct lks_state *s, struct lks_str digest)
{
    for (uint32_t i = 0; i < s->stack_count; i++) {
        const struct lks_state_stack *stack = &s->stacks[i];
        if (lks_facts_words_have(lks_state_text(s, stack->artifacts), digest) &&
            (stack->step != LKS_STEP_RETIRED || lks_artifact_stack_in_use(s, stack->digest)))
            return true;
    }
    for (uint32_t i = 0; i < s->command_count && s->commands_open > 0; i++) {
        const struct lks_state_command *command = &s->commands[i];
        if (!command->ended && lks_facts_words_have(lks_state_text(s, command->digests), digest))
            return true;
    }
    for (uint32_t i = 0; i < s->flash_count && s->flashes_open > 0; i++) {
        const struct lks_state_flash *flash = &s->flashes[i];
        if (flash->outcome == LKS_BMC_OPEN && lks_str_eq(lks_state_text(s, flash->image), digest))
            return true;
    }
    return lks_state_vouched(s, digest);
}
