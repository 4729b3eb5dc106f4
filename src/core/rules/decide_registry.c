/* Stacks and their steps, images, artifacts: what is written down once and then relied upon. What
 * was said already and is said again in the same words is answered as it was. */
#include "core/admission/admit.h"
#include "core/registry/artifacts.h"
#include "core/rows/change.h"
#include "core/rows/pool.h"
#include "core/rows/registry.h"
#include "core/rules/decide_rules.h"
#include "core/state/access.h"
#include "core/state/state.h"

#define ARTIFACTS_BYTES_MAX ((size_t)3 << 20) /* a record holds 4 MiB */

enum { ARTIFACT_NAME_MAX = 255 };

/* Texts ------------------------------------------------------------------------------------- */

/* What a state's number stands for is what was asked for. */
static bool same(const struct lks_deciding *d, lks_text have, struct lks_str wanted)
{
    return lks_str_eq(lks_state_text(d->state, have), wanted);
}

/* Stacks ------------------------------------------------------------------------------------ */

static struct lks_str artifacts_text(struct lks_deciding *d)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(ARTIFACTS_BYTES_MAX);
    lks_artifacts_of(d->event->publish.stack, &text);
    if (text.failed != LKS_OK)
        d->out->failed = text.failed;
    return lks_decision_copy(d, text.ptr != NULL ? lks_buf_view(&text) : LKS_STR(""));
}

/* The digest is known: the same file again changes nothing, anything else is refused. */
static void publish_again(struct lks_deciding *d, const struct lks_state_stack *known)
{
    const struct lks_stack *stack = d->event->publish.stack;
    struct lks_str name = lks_state_text(d->state, known->name);
    struct lks_str by = lks_state_text(d->state, known->by);
    if (known->step == LKS_STEP_RETIRED)
        lks_decision_refuse(d, LKS_E_REFUSED,
                            "stack '%" LKS_STR_FMT "' (%s) is retired, which is final; publish "
                            "one that differs",
                            LKS_STR_ARG(name), stack->digest);
    else if (!lks_str_eq(name, stack->name))
        lks_decision_refuse(d, LKS_E_REFUSED,
                            "%s is published already, as stack '%" LKS_STR_FMT "' by %" LKS_STR_FMT
                            "; one digest has one name",
                            stack->digest, LKS_STR_ARG(name), LKS_STR_ARG(by));
    else if (!same(d, known->manifest, d->event->publish.manifest))
        lks_decision_refuse(d, LKS_E_REFUSED,
                            "stack '%" LKS_STR_FMT "' (%s) was published from another file, by "
                            "%" LKS_STR_FMT "; what is published does not change",
                            LKS_STR_ARG(name), stack->digest, LKS_STR_ARG(by));
}

/* Another stack that has the name and the version, or NULL: people say "h200-train 2026.11", and
 * that stays one stack, also when it is retired. */
static const struct lks_state_stack *find_edition(const struct lks_deciding *d,
                                                  const struct lks_stack *stack)
{
    const struct lks_state *s = d->state;
    for (uint32_t i = 0; i < s->stack_count; i++) {
        const struct lks_stack *other =
            same(d, s->stacks[i].name, stack->name)
                ? lks_book_stack(d->book, lks_state_text(s, s->stacks[i].digest))
                : NULL;
        if (other != NULL && lks_str_eq(other->version, stack->version))
            return &s->stacks[i];
    }
    return NULL;
}

static bool is_new_edition(struct lks_deciding *d, const struct lks_stack *stack)
{
    const struct lks_state_stack *other = find_edition(d, stack);
    if (other == NULL)
        return true;
    lks_decision_refuse(d, LKS_E_REFUSED,
                        "stack '%" LKS_STR_FMT "' %" LKS_STR_FMT " is published already as "
                        "%" LKS_STR_FMT ", by %" LKS_STR_FMT ", with other content; what is "
                        "published does not change: give this one another version",
                        LKS_STR_ARG(stack->name), LKS_STR_ARG(stack->version),
                        LKS_STR_ARG(lks_state_text(d->state, other->digest)),
                        LKS_STR_ARG(lks_state_text(d->state, other->by)));
    return false;
}

void lks_decide_publish(struct lks_deciding *d)
{
    const struct lks_event *e = d->event;
    const struct lks_stack *stack = e->publish.stack;
    struct lks_str digest = lks_str_from(stack->digest), reason = lks_str_trim(e->reason);
    const struct lks_state_stack *known = lks_state_stack(d->state, digest);
    if (!lks_decision_reason_fits(d))
        return;
    if (known != NULL) {
        publish_again(d, known);
        return;
    }
    if (!lks_decision_space(d, "stacks", d->state->stack_count, LKS_STATE_STACKS_MAX) ||
        !is_new_edition(d, stack))
        return;
    lks_decision_add(d, LKS_RECORD_PUBLISHED)->published = (struct lks_rec_published){
        .digest = digest,
        .name = stack->name,
        .manifest = e->publish.manifest,
        .envelope = e->publish.envelope,
        .artifacts = artifacts_text(d),
        .by = e->by,
        .reason = reason,
        .minters = lks_decision_backing(d).minters,
    };
}

/* Steps ------------------------------------------------------------------------------------- */

/* What prevents its retirement, in a few words; an empty view: nothing. */
static struct lks_str user_of(struct lks_deciding *d, lks_text digest)
{
    const struct lks_state *s = d->state;
    for (uint32_t p = 0; p < s->pool_count; p++) {
        if (s->pools[p].known && s->pools[p].stack_digest == digest)
            return lks_decision_text(d, "pool '%" LKS_STR_FMT "' is pinned to it",
                                     LKS_STR_ARG(lks_state_text(s, s->pools[p].name)));
    }
    for (uint32_t i = 0; i < s->change_count; i++) {
        if (s->changes[i].stack == digest && !lks_change_over(&s->changes[i]))
            return lks_decision_text(d, "change %llu leads to it",
                                     (unsigned long long)s->changes[i].id);
    }
    for (uint32_t n = 0; n < s->node_count; n++) {
        if (s->nodes[n].placed && lks_state_intent(s, n) == digest)
            return lks_decision_text(d, "node %" LKS_STR_FMT " is to run it",
                                     LKS_STR_ARG(lks_state_name(s, n)));
    }
    return LKS_STR("");
}

static bool may_retire(struct lks_deciding *d, const struct lks_state_stack *stack)
{
    struct lks_str user = user_of(d, stack->digest);
    if (user.len == 0)
        return true;
    lks_decision_refuse(d, LKS_E_REFUSED,
                        "stack '%" LKS_STR_FMT "' cannot be retired: %" LKS_STR_FMT,
                        LKS_STR_ARG(lks_state_text(d->state, stack->name)), LKS_STR_ARG(user));
    return false;
}

/* Two people agree to what production runs. Root on the controller could do anything there anyway,
 * and at a small site is the only person there is. */
static bool may_promote(struct lks_deciding *d, const struct lks_state_stack *stack)
{
    const struct lks_event *e = d->event;
    struct lks_str name = lks_state_text(d->state, stack->name);
    struct lks_str by = lks_state_text(d->state, stack->by);
    if (stack->step == LKS_STEP_RELEASED) {
        lks_decision_refuse(d, LKS_E_REFUSED,
                            "stack '%" LKS_STR_FMT "' is released, which is the last stage; "
                            "'lockstep stack retire' ends it",
                            LKS_STR_ARG(name));
        return false;
    }
    if (e->step.to != stack->step + 1) {
        lks_decision_refuse(d, LKS_E_REFUSED,
                            "stack '%" LKS_STR_FMT "' is %s; its next stage is %s, not %s: one at "
                            "a time, each with its evidence",
                            LKS_STR_ARG(name), lks_step_words[stack->step],
                            lks_step_words[stack->step + 1], lks_step_words[e->step.to]);
        return false;
    }
    if (e->step.to != LKS_STEP_RELEASED || e->root || lks_str_is(e->by, "unix:0"))
        return true;
    if (lks_access_same_person(by, e->by)) {
        lks_decision_refuse(d, LKS_E_REFUSED,
                            "stack '%" LKS_STR_FMT "' was published by %" LKS_STR_FMT
                            ", so another person with the role approver releases it; an admin "
                            "grants the role: 'lockstep access grant PERSON approver'",
                            LKS_STR_ARG(name), LKS_STR_ARG(by));
        return false;
    }
    struct lks_backing published = {by, lks_state_text(d->state, stack->minters)};
    return lks_decision_apart(
        d, published, lks_decision_text(d, "release stack '%" LKS_STR_FMT "'", LKS_STR_ARG(name)));
}

/* The very step that was taken last, in the same words. */
static bool is_said(const struct lks_deciding *d, const struct lks_state_stack *stack)
{
    const struct lks_event *e = d->event;
    return stack->step == e->step.to && stack->step != LKS_STEP_CANDIDATE &&
           same(d, stack->evidence[stack->step], lks_str_trim(e->step.evidence)) &&
           same(d, stack->evidence_by[stack->step], e->by);
}

void lks_decide_step(struct lks_deciding *d)
{
    const struct lks_event *e = d->event;
    LKS_ASSERT(e->step.to < LKS_STEP_COUNT);
    struct lks_str evidence = lks_str_trim(e->step.evidence);
    if (!lks_decision_line(d, "evidence", evidence, LKS_REASON_MAX))
        return;
    const struct lks_state_stack *stack = lks_state_stack(d->state, e->step.digest);
    if (stack == NULL) {
        lks_decision_refuse(d, LKS_E_NOT_FOUND,
                            "no stack %" LKS_STR_FMT
                            " in the registry; put it there with 'lockstep stack publish'",
                            LKS_STR_ARG(e->step.digest));
        return;
    }
    if (is_said(d, stack))
        return;
    if (stack->step == LKS_STEP_RETIRED) {
        lks_decision_refuse(d, LKS_E_REFUSED, "stack '%" LKS_STR_FMT "' is retired, which is final",
                            LKS_STR_ARG(lks_state_text(d->state, stack->name)));
        return;
    }
    if (e->step.to == LKS_STEP_RETIRED ? may_retire(d, stack) : may_promote(d, stack))
        lks_decision_add(d, LKS_RECORD_STEPPED)->stepped =
            (struct lks_rec_stepped){.digest = e->step.digest,
                                     .step = e->step.to,
                                     .evidence = evidence,
                                     .by = e->by,
                                     .credential = e->credential};
}

/* Images ------------------------------------------------------------------------------------ */

static bool check_ref(struct lks_deciding *d, struct lks_str ref)
{
    if (!lks_decision_line(d, "image", ref, LKS_ADMIT_REF_MAX))
        return false;
    struct lks_str rest = ref, word;
    if (lks_str_word(&rest, &word) && word.len == ref.len)
        return true;
    lks_decision_refuse(d, LKS_E_INVALID, "image: a reference has no blanks");
    return false;
}

/* Versions of libraries, as their makers number them; at least one is known. */
static bool check_libraries(struct lks_deciding *d)
{
    const struct lks_rec_image *image = &d->event->image;
    const struct {
        const char *what;
        struct lks_str version;
    } libraries[] = {
        {"nccl", image->nccl},
        {"rccl", image->rccl},
        {"cudnn", image->cudnn},
        {"cuda", image->cuda},
    };
    size_t known = 0;
    for (size_t i = 0; i < LKS_COUNT(libraries); i++) {
        struct lks_str version = libraries[i].version;
        known += version.len > 0;
        if (version.len == 0 || lks_version_whole(version, LKS_VERSION_DOTTED))
            continue;
        lks_decision_refuse(d, LKS_E_INVALID, "%s: '%" LKS_STR_FMT "' is no version",
                            libraries[i].what, LKS_STR_ARG(version));
        return false;
    }
    if (known == 0)
        lks_decision_refuse(d, LKS_E_INVALID,
                            "image: say which NCCL, RCCL, cuDNN or CUDA is in it; an image of "
                            "which nothing is known needs no entry");
    return known > 0;
}

static bool is_same_image(const struct lks_deciding *d, const struct lks_state_image *have)
{
    const struct lks_rec_image *image = &d->event->image;
    return same(d, have->digest, image->digest) && same(d, have->nccl, image->nccl) &&
           same(d, have->rccl, image->rccl) && same(d, have->cudnn, image->cudnn) &&
           same(d, have->cuda, image->cuda) && same(d, have->source, image->source);
}

/* What is said later of the same reference counts: tags are moved. */
void lks_decide_image(struct lks_deciding *d)
{
    const struct lks_rec_image *image = &d->event->image;
    if (!lks_decision_reason_fits(d) || !check_ref(d, image->ref) || !check_libraries(d) ||
        !lks_decision_line(d, "source", image->source, LKS_REASON_MAX) ||
        (image->digest.len > 0 && !lks_decision_digest(d, "image", image->digest)))
        return;
    const struct lks_state_image *have = lks_state_image(d->state, image->ref);
    if (have != NULL && is_same_image(d, have))
        return;
    if (have == NULL &&
        !lks_decision_space(d, "images", d->state->image_count, LKS_STATE_IMAGES_MAX))
        return;
    struct lks_rec_image *record = &lks_decision_add(d, LKS_RECORD_IMAGE)->image;
    *record = *image;
    record->by = d->event->by;
    record->reason = lks_str_trim(d->event->reason);
}

/* A reason is given, and what is to go is there. */
static bool may_go(struct lks_deciding *d, const void *there, const char *none,
                   struct lks_str called, const char *where)
{
    if (!lks_decision_reason(d))
        return false;
    if (there == NULL)
        lks_decision_refuse(d, LKS_E_NOT_FOUND, "%s%" LKS_STR_FMT "%s", none, LKS_STR_ARG(called),
                            where);
    return there != NULL;
}

void lks_decide_image_gone(struct lks_deciding *d)
{
    struct lks_str ref = d->event->image.ref;
    if (!may_go(d, lks_state_image(d->state, ref), "no image '", ref, "' in the catalogue"))
        return;
    lks_decision_add(d, LKS_RECORD_IMAGE_GONE)->image_gone = (struct lks_rec_image_gone){
        .ref = ref, .by = d->event->by, .reason = lks_str_trim(d->event->reason)};
}

/* Artifacts --------------------------------------------------------------------------------- */

/* Its bytes are the same each time, so only its size can contradict, and never should. */
void lks_decide_artifact(struct lks_deciding *d)
{
    const struct lks_rec_artifact *artifact = &d->event->artifact;
    if (!lks_decision_digest(d, "artifact", artifact->digest) ||
        !lks_decision_line(d, "artifact's name", artifact->name, ARTIFACT_NAME_MAX))
        return;
    const struct lks_state_artifact *have = lks_state_artifact(d->state, artifact->digest);
    if (artifact->size == 0) {
        lks_decision_refuse(d, LKS_E_INVALID, "artifact %" LKS_STR_FMT ": it is empty",
                            LKS_STR_ARG(artifact->digest));
        return;
    }
    if (have != NULL && have->size != artifact->size)
        lks_decision_refuse(d, LKS_E_INVALID,
                            "artifact %" LKS_STR_FMT " has %llu bytes, and these are %llu",
                            LKS_STR_ARG(artifact->digest), (unsigned long long)have->size,
                            (unsigned long long)artifact->size);
    if (have != NULL ||
        !lks_decision_space(d, "artifacts", d->state->artifact_count, LKS_STATE_ARTIFACTS_MAX))
        return;
    struct lks_rec_artifact *record = &lks_decision_add(d, LKS_RECORD_ARTIFACT)->artifact;
    *record = *artifact;
    record->by = d->event->by;
}

/* Stacks that stand beside the fleet and were never published count too. */
static bool named_in_file(struct lks_deciding *d, struct lks_str digest)
{
    const struct lks_manifest *manifest = d->book->manifest;
    bool named = false;
    for (size_t i = 0; manifest != NULL && i < manifest->stack_count && !named; i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(ARTIFACTS_BYTES_MAX);
        lks_artifacts_of(&manifest->stacks[i], &text);
        if (text.failed != LKS_OK)
            d->out->failed = text.failed;
        named = text.ptr != NULL && lks_facts_words_have(lks_buf_view(&text), digest);
    }
    return named;
}

void lks_decide_artifact_gone(struct lks_deciding *d)
{
    struct lks_str digest = d->event->artifact.digest;
    if (!may_go(d, lks_state_artifact(d->state, digest), "no artifact ", digest, " in the depot"))
        return;
    if (lks_artifact_needed(d->state, digest) || named_in_file(d, digest)) {
        lks_decision_refuse(d, LKS_E_REFUSED,
                            "artifact %" LKS_STR_FMT
                            " stays: a stack, a bundle or work in progress refers to it",
                            LKS_STR_ARG(digest));
        return;
    }
    lks_decision_add(d, LKS_RECORD_ARTIFACT_GONE)->artifact_gone = (struct lks_rec_artifact_gone){
        .digest = digest, .by = d->event->by, .reason = lks_str_trim(d->event->reason)};
}
