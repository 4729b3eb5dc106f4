#include "core/fold/texts.h"

#include "core/rows/change.h"
#include "core/rows/command.h"
#include "core/rows/deviation.h"
#include "core/rows/flash.h"
#include "core/rows/job.h"
#include "core/rows/registry.h"
#include "model/record/record.h"

/* The compiler checks that a text has a number. A type takes no parentheses. */
/* NOLINTBEGIN(bugprone-macro-parentheses) */
#define AT(type, member, of)                                                                       \
    _Generic(((struct type *)0)->member, of : offsetof(struct type, member))
/* NOLINTEND(bugprone-macro-parentheses) */
#define TEXT(record, state, member)                                                                \
    {                                                                                              \
        AT(lks_rec_##record, member, struct lks_str), AT(state, member, lks_text)                  \
    }

static const struct lks_fold_text artifact[] = {
    TEXT(artifact, lks_state_artifact, digest),
    TEXT(artifact, lks_state_artifact, name),
    TEXT(artifact, lks_state_artifact, by),
};
static const struct lks_fold_text bundle[] = {
    TEXT(bundle, lks_state_bundle, digest),    TEXT(bundle, lks_state_bundle, name),
    TEXT(bundle, lks_state_bundle, version),   TEXT(bundle, lks_state_bundle, manifest),
    TEXT(bundle, lks_state_bundle, signer),    TEXT(bundle, lks_state_bundle, key),
    TEXT(bundle, lks_state_bundle, artifacts), TEXT(bundle, lks_state_bundle, by),
};
static const struct lks_fold_text change[] = {
    TEXT(change, lks_state_change, stack),    TEXT(change, lks_state_change, name),
    TEXT(change, lks_state_change, windows),  TEXT(change, lks_state_change, by),
    TEXT(change, lks_state_change, reason),   TEXT(change, lks_state_change, class),
    TEXT(change, lks_state_change, advisory), TEXT(change, lks_state_change, minters),
};
static const struct lks_fold_text command[] = {
    TEXT(command, lks_state_command, boot),    TEXT(command, lks_state_command, executor),
    TEXT(command, lks_state_command, digests), TEXT(command, lks_state_command, by),
    TEXT(command, lks_state_command, reason),
};
static const struct lks_fold_text deviation[] = {
    TEXT(deviation, lks_deviation, hosts),  TEXT(deviation, lks_deviation, subject),
    TEXT(deviation, lks_deviation, value),  TEXT(deviation, lks_deviation, owner),
    TEXT(deviation, lks_deviation, reason), TEXT(deviation, lks_deviation, approver),
    TEXT(deviation, lks_deviation, by),     TEXT(deviation, lks_deviation, minters),
};
static const struct lks_fold_text flash[] = {
    TEXT(flash, lks_state_flash, component),  TEXT(flash, lks_state_flash, version),
    TEXT(flash, lks_state_flash, bundle),     TEXT(flash, lks_state_flash, image),
    TEXT(flash, lks_state_flash, image_name), TEXT(flash, lks_state_flash, apply_time),
    TEXT(flash, lks_state_flash, by),         TEXT(flash, lks_state_flash, reason),
};
static const struct lks_fold_text image[] = {
    TEXT(image, lks_state_image, ref),    TEXT(image, lks_state_image, digest),
    TEXT(image, lks_state_image, nccl),   TEXT(image, lks_state_image, rccl),
    TEXT(image, lks_state_image, cudnn),  TEXT(image, lks_state_image, cuda),
    TEXT(image, lks_state_image, source), TEXT(image, lks_state_image, by),
};
static const struct lks_fold_text key[] = {
    TEXT(key_pinned, lks_state_key, name),
    TEXT(key_pinned, lks_state_key, key),
    TEXT(key_pinned, lks_state_key, by),
    TEXT(key_pinned, lks_state_key, reason),
};
static const struct lks_fold_text override[] = {
    TEXT(override, lks_override, job),
    TEXT(override, lks_override, hosts),
    TEXT(override, lks_override, reason),
    TEXT(override, lks_override, by),
};
static const struct lks_fold_text proven[] = {
    TEXT(revert_proven, lks_proven, class),
    TEXT(revert_proven, lks_proven, from),
    TEXT(revert_proven, lks_proven, to),
    TEXT(revert_proven, lks_proven, node),
};
static const struct lks_fold_text stack[] = {
    TEXT(published, lks_state_stack, digest),    TEXT(published, lks_state_stack, name),
    TEXT(published, lks_state_stack, manifest),  TEXT(published, lks_state_stack, envelope),
    TEXT(published, lks_state_stack, artifacts), TEXT(published, lks_state_stack, by),
    TEXT(published, lks_state_stack, reason),    TEXT(published, lks_state_stack, minters),
};
static const struct lks_fold_text step[] = {
    TEXT(plan_step, lks_step, component),   TEXT(plan_step, lks_step, version),
    TEXT(plan_step, lks_step, before),      TEXT(plan_step, lks_step, executor),
    TEXT(plan_step, lks_step, order),       TEXT(plan_step, lks_step, order_back),
    TEXT(plan_step, lks_step, artifacts),   TEXT(plan_step, lks_step, artifacts_back),
    TEXT(plan_step, lks_step, bundle),      TEXT(plan_step, lks_step, image),
    TEXT(plan_step, lks_step, bundle_back), TEXT(plan_step, lks_step, image_back),
};

const struct lks_fold_texts lks_texts_artifact = {artifact, LKS_COUNT(artifact)};
const struct lks_fold_texts lks_texts_bundle = {bundle, LKS_COUNT(bundle)};
const struct lks_fold_texts lks_texts_change = {change, LKS_COUNT(change)};
const struct lks_fold_texts lks_texts_command = {command, LKS_COUNT(command)};
const struct lks_fold_texts lks_texts_deviation = {deviation, LKS_COUNT(deviation)};
const struct lks_fold_texts lks_texts_flash = {flash, LKS_COUNT(flash)};
const struct lks_fold_texts lks_texts_image = {image, LKS_COUNT(image)};
const struct lks_fold_texts lks_texts_key = {key, LKS_COUNT(key)};
const struct lks_fold_texts lks_texts_override = {override, LKS_COUNT(override)};
const struct lks_fold_texts lks_texts_proven = {proven, LKS_COUNT(proven)};
const struct lks_fold_texts lks_texts_stack = {stack, LKS_COUNT(stack)};
const struct lks_fold_texts lks_texts_step = {step, LKS_COUNT(step)};

enum lks_code lks_texts_apply(const struct lks_applying *a, const struct lks_fold_texts *texts,
                              const void *record, void *state)
{
    for (size_t i = 0; i < texts->count; i++) {
        const void *from = (const char *)record + texts->list[i].record;
        void *to = (char *)state + texts->list[i].state;
        if (lks_apply_keep(a, *(const struct lks_str *)from, to) != LKS_OK)
            return a->err->code;
    }
    return LKS_OK;
}

enum lks_code lks_texts_put(const struct lks_applying *a, const struct lks_fold_texts *texts,
                            const void *record, enum lks_sorted list, void *made)
{
    const void *first = (const char *)record + texts->list[0].record;
    if (((const struct lks_str *)first)->len == 0)
        return LKS_OK;
    if (lks_texts_apply(a, texts, record, made) != LKS_OK)
        return a->err->code;
    return lks_state_sorted_put(a->s, list, made, a->err);
}

void lks_texts_dump(const struct lks_dump *d, const struct lks_fold_texts *texts, const void *state,
                    void *record)
{
    for (size_t i = 0; i < texts->count; i++) {
        const void *from = (const char *)state + texts->list[i].state;
        void *to = (char *)record + texts->list[i].record;
        *(struct lks_str *)to = lks_dump_text(d, *(const lks_text *)from);
    }
}
