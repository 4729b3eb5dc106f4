/* Records about what jobs bring and what the fleet may run: stacks, images, artifacts, jobs. */
#include "base/vec.h"
#include "core/fold/sets.h"
#include "core/rows/job.h"
#include "core/rows/pool.h"
#include "core/rows/registry.h"
#include "core/state/state.h"
#include "model/record/record.h"
#include "model/record/record_words.h"

static const lks_ms DAY = (lks_ms)24 * 3600 * LKS_SECOND;

/* Stacks ------------------------------------------------------------------------------------ */

/* Published again it is the same stack, as far as it was, with what is said of it now. */
enum lks_code lks_apply_published(const struct lks_applying *a)
{
    const struct lks_rec_published *p = &a->r->published;
    struct lks_state *s = a->s;
    const struct lks_state_stack *found = lks_state_stack(s, p->digest);
    struct lks_state_stack made = {.step = LKS_STEP_CANDIDATE};
    if (p->digest.len == 0)
        return LKS_OK;
    if (found != NULL)
        made = *found;
    if (lks_sets_apply(a, &made) != LKS_OK)
        return a->err->code;
    if (found == NULL && LKS_VEC_RESERVE_MAX(s->stacks, s->stack_room, s->stack_count + 1,
                                             LKS_STATE_STACKS_MAX, a->err) != LKS_OK)
        return lks_wrap(a->err, "stacks");
    s->stacks[found == NULL ? s->stack_count++ : (uint32_t)(found - s->stacks)] = made;
    return LKS_OK;
}

enum lks_code lks_apply_stepped(const struct lks_applying *a)
{
    const struct lks_rec_stepped *from = &a->r->stepped;
    const struct lks_state_stack *found = lks_state_stack(a->s, from->digest);
    if (found == NULL || from->step >= LKS_STEP_COUNT)
        return LKS_OK;
    struct lks_state_stack *stack = &a->s->stacks[found - a->s->stacks];
    if (lks_sets_apply(a, stack) != LKS_OK)
        return a->err->code;
    const struct lks_kept list[] = {{from->evidence, &stack->evidence[from->step]},
                                    {from->by, &stack->evidence_by[from->step]}};
    return lks_apply_keep_all(a, list, LKS_COUNT(list));
}

/* Images and artifacts ---------------------------------------------------------------------- */

enum lks_code lks_apply_image(const struct lks_applying *a)
{
    struct lks_state_image made = {0};
    return lks_sets_put(a, LKS_SORTED_IMAGES, &made);
}

enum lks_code lks_apply_artifact(const struct lks_applying *a)
{
    struct lks_state_artifact made = {0};
    return lks_sets_put(a, LKS_SORTED_ARTIFACTS, &made);
}

/* What is gone leaves its list by its key. */
enum lks_code lks_apply_gone(const struct lks_applying *a)
{
    static const struct {
        enum lks_record_kind kind;
        enum lks_sorted list;
        size_t key; /* in the record */
    } lists[] = {
        {LKS_RECORD_ARTIFACT_GONE, LKS_SORTED_ARTIFACTS,
         offsetof(struct lks_record, artifact_gone.digest)},
        {LKS_RECORD_IMAGE_GONE, LKS_SORTED_IMAGES, offsetof(struct lks_record, image_gone.ref)},
        {LKS_RECORD_KEY_GONE, LKS_SORTED_KEYS, offsetof(struct lks_record, key_gone.name)},
        {LKS_RECORD_PERSON_REVOKED, LKS_SORTED_PERSONS,
         offsetof(struct lks_record, person_revoked.serial)},
    };
    for (size_t i = 0; i < LKS_COUNT(lists); i++) {
        const void *key = (const char *)a->r + lists[i].key;
        if (lists[i].kind == a->r->kind)
            lks_state_sorted_remove(a->s, lists[i].list, *(const struct lks_str *)key);
    }
    return LKS_OK;
}

/* Jobs -------------------------------------------------------------------------------------- */

enum lks_code lks_apply_job(const struct lks_applying *a)
{
    a->s->jobs++;
    return LKS_OK;
}

/* Of the older half those that ended go; were none ended, the oldest of all. */
static void thin_overrides(struct lks_state *s, lks_ms now)
{
    uint32_t kept = 0, half = s->override_count / 2;
    for (uint32_t i = 0; i < s->override_count; i++) {
        if (i >= half || s->overrides[i].until > now)
            s->overrides[kept++] = s->overrides[i];
    }
    if (kept == s->override_count)
        LKS_VEC_REMOVE(s->overrides, kept, 0);
    s->override_count = kept;
}

enum lks_code lks_apply_override(const struct lks_applying *a)
{
    struct lks_state *s = a->s;
    struct lks_override made = {0};
    if (lks_sets_apply(a, &made) != LKS_OK)
        return a->err->code;
    if (s->override_count == LKS_STATE_OVERRIDES_MAX)
        thin_overrides(s, a->time);
    if (LKS_VEC_ADD(s->overrides, s->override_room, s->override_count, LKS_STATE_OVERRIDES_MAX,
                    made, a->err) != LKS_OK)
        return lks_wrap(a->err, "overrides");
    return LKS_OK;
}

/* Without a pool the record says how many jobs started, which is how a snapshot says it. */
enum lks_code lks_apply_observed(const struct lks_applying *a)
{
    const struct lks_rec_observed *from = &a->r->observed;
    uint32_t p = lks_state_pool(a->s, from->pool);
    uint64_t day = a->time / DAY;
    if (from->pool.len == 0) {
        a->s->jobs += from->asked;
        return LKS_OK;
    }
    if (p == LKS_NO_POOL || from->bar >= LKS_BAR_COUNT)
        return LKS_OK;
    struct lks_observed *to = &a->s->pools[p].observed[day % LKS_STATE_DAYS];
    if (to->day > day)
        return LKS_OK;
    if (to->day < day)
        *to = (struct lks_observed){.day = day};
    to->asked += from->asked;
    to->refused[from->bar] += from->refused;
    return LKS_OK;
}
