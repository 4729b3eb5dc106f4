/* Computed members of answers about rows of the state's lists. */
#include "core/registry/artifacts.h"
#include "core/rows/change.h"
#include "core/rows/deviation.h"
#include "core/rows/flash.h"
#include "core/rows/pool.h"
#include "core/rows/registry.h"
#include "core/state/lookup.h"
#include "core/state/node_status.h"
#include "core/state/state.h"
#include "core/view/view.h"
#include "core/view/view_words.h"
#include "trust/signature.h"

#define LISTED LKS_USE_LISTED

/* Deviations -------------------------------------------------------------------------------- */

static void put_waits(struct lks_json_writer *w, const struct lks_view_of *of)
{
    if (!lks_deviation_counts(of->row))
        lks_json_bool(w, "waits", true);
}

static void put_in_use(struct lks_json_writer *w, const struct lks_view_of *of)
{
    const struct lks_deviation *d = of->row;
    int64_t count = 0;
    for (uint32_t i = 0; i < d->count && d->ended == 0 && lks_deviation_counts(d); i++)
        count += lks_bitset_test(&of->s->standing->deviates, d->nodes[i]);
    lks_json_int(w, "in_use", count);
}

/* clang-format off */
static const struct lks_view_computed deviation[] = {
    {MAY("waits", TRUTH, "Whether it applies only after an approver agrees, and none has."),
     LISTED, offsetof(struct lks_deviation, waits), put_waits},
    {MUST("in_use", COUNT, "Number of its nodes that run a deviation."),
     LISTED, LKS_VIEW_END, put_in_use},
};
/* clang-format on */

/* The registry ------------------------------------------------------------------------------ */

static void put_pools(struct lks_json_writer *w, const struct lks_view_of *of)
{
    const struct lks_state *s = of->s;
    const struct lks_state_stack *stack = of->row;
    lks_json_begin(w, "pools", '[');
    for (uint32_t i = 0; i < s->pool_count; i++) {
        if (s->pools[i].known && s->pools[i].stack_digest == stack->digest)
            lks_json_text(w, NULL, lks_state_text(s, s->pools[i].name));
    }
    lks_json_end(w, ']');
}

/* The newest change to the stack that was rolled back after the last one that was done; a change
 * that is done shows that the stack works after all. */
static void put_rolled_back(struct lks_json_writer *w, const struct lks_view_of *of)
{
    const struct lks_state *s = of->s;
    const struct lks_state_stack *stack = of->row;
    for (uint32_t i = s->change_count; i-- > 0;) {
        const struct lks_state_change *c = &s->changes[i];
        if (c->kind != LKS_CHANGE_STACK || c->stack != stack->digest)
            continue;
        if (c->state == LKS_CHANGE_ROLLED_BACK)
            lks_json_int(w, "rolled_back", (int64_t)c->id);
        if (c->state == LKS_CHANGE_ROLLED_BACK || c->state == LKS_CHANGE_DONE)
            return;
    }
}

static void put_needed(struct lks_json_writer *w, const struct lks_view_of *of)
{
    const struct lks_state_artifact *a = of->row;
    lks_json_bool(w, "needed", lks_artifact_needed(of->s, lks_state_text(of->s, a->digest)));
}

/* clang-format off */
static const struct lks_view_computed stack[] = {
    {MUST("pools", LKS_LIST(TEXT), "The pools that are pinned to it."),
     LISTED, LKS_VIEW_END, put_pools},
    {MAY("rolled_back", COUNT, "The last change to it that ended, if that was rolled back."),
     LISTED, LKS_VIEW_END, put_rolled_back},
};
static const struct lks_view_computed artifact[] = {
    {MUST("needed", TRUTH, "Whether a stack, a bundle or work in progress refers to it."),
     LISTED, LKS_VIEW_END, put_needed},
};
/* clang-format on */

/* Firmware ---------------------------------------------------------------------------------- */

static void put_fingerprint(struct lks_json_writer *w, const struct lks_view_of *of)
{
    const struct lks_state_key *key = of->row;
    struct lks_pin pin = {0};
    struct lks_err err = {0};
    if (lks_signature_pin_parse(lks_state_text(of->s, key->key), &pin, &err) == LKS_OK)
        lks_json_cstr(w, "fingerprint", pin.fingerprint);
}

static void put_percent(struct lks_json_writer *w, const struct lks_view_of *of)
{
    const struct lks_state_flash *f = of->row;
    lks_json_int(w, "percent", f->outcome == LKS_BMC_DONE ? 100 : f->percent);
}

/* clang-format off */
static const struct lks_view_computed key[] = {
    {MUST("fingerprint", DIGEST, "The digest of its SubjectPublicKeyInfo."),
     LISTED, offsetof(struct lks_state_key, pinned), put_fingerprint},
};
static const struct lks_view_computed flash[] = {
    {MUST("percent", COUNT, "Its progress in percent."),
     LISTED, offsetof(struct lks_state_flash, outcome), put_percent},
};
/* clang-format on */

/* ------------------------------------------------------------------------------------------- */

#define COMPUTED(list) .computed = (list), .computed_count = LKS_COUNT(list)

const struct lks_view lks_view_deviations = {&lks_entity_deviation, COMPUTED(deviation)};
const struct lks_view lks_view_alarms = {.entity = &lks_entity_alarm};
const struct lks_view lks_view_commands = {.entity = &lks_entity_command};
const struct lks_view lks_view_stacks = {&lks_entity_stack, COMPUTED(stack)};
const struct lks_view lks_view_images = {.entity = &lks_entity_image};
const struct lks_view lks_view_artifacts = {&lks_entity_artifact, COMPUTED(artifact)};
const struct lks_view lks_view_keys = {&lks_entity_key, COMPUTED(key)};
const struct lks_view lks_view_bundles = {.entity = &lks_entity_bundle};
const struct lks_view lks_view_flashes = {&lks_entity_flash, COMPUTED(flash)};
const struct lks_view lks_view_overrides = {.entity = &lks_entity_override};
const struct lks_view lks_view_bindings = {.entity = &lks_entity_binding};
const struct lks_view lks_view_tokens = {.entity = &lks_entity_token};
const struct lks_view lks_view_runs = {.entity = &lks_entity_run};
const struct lks_view lks_view_persons = {.entity = &lks_entity_person};
