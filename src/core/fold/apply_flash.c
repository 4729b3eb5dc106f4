/* Records about firmware out of band: keys and bundles, endpoints, and updates by them. */
#include "base/vec.h"
#include "core/fold/sets.h"
#include "core/rows/flash.h"
#include "core/rows/registry.h"
#include "core/state/node_status.h"
#include "core/state/state.h"
#include "model/record/record.h"

#include <stdlib.h>

/* Keys and bundles -------------------------------------------------------------------------- */

enum lks_code lks_apply_key_pinned(const struct lks_applying *a)
{
    struct lks_state_key made = {0};
    return lks_sets_put(a, LKS_SORTED_KEYS, &made);
}

/* Found good again it is the same bundle, with what is said of it now. A revocation is final. */
enum lks_code lks_apply_bundle(const struct lks_applying *a)
{
    const struct lks_rec_bundle *from = &a->r->bundle;
    struct lks_state *s = a->s;
    const struct lks_state_bundle *found = lks_state_bundle(s, from->digest);
    struct lks_state_bundle made = {0};
    if (from->digest.len == 0)
        return LKS_OK;
    if (lks_sets_apply(a, &made) != LKS_OK)
        return a->err->code;
    if (found == NULL && LKS_VEC_RESERVE_MAX(s->bundles, s->bundle_room, s->bundle_count + 1,
                                             LKS_STATE_BUNDLES_MAX, a->err) != LKS_OK)
        return lks_wrap(a->err, "bundles");
    if (found != NULL) {
        made.revoked = found->revoked;
        made.revoked_by = found->revoked_by;
        made.revoked_reason = found->revoked_reason;
    }
    s->bundles[found == NULL ? s->bundle_count++ : (uint32_t)(found - s->bundles)] = made;
    return LKS_OK;
}

/* Giving up what is staged and switching back need no bits of a bundle. */
static bool is_revoked(const struct lks_state *s, const struct lks_state_flash *f,
                       const struct lks_state_bundle *bundle)
{
    return bundle != NULL && bundle->revoked != 0 &&
           (f->act == LKS_BMC_UPDATE || f->act == LKS_BMC_STAGE || f->act == LKS_BMC_ACTIVATE) &&
           lks_str_eq(lks_state_text(s, f->bundle), lks_state_text(s, bundle->digest));
}

/* The next tick ends those that are open. */
static void revoke_flashes(struct lks_state *s, const struct lks_state_bundle *bundle)
{
    for (uint32_t i = 0; i < s->flash_count; i++) {
        struct lks_state_flash *f = &s->flashes[i];
        f->revoked = f->revoked || is_revoked(s, f, bundle);
        if (f->revoked && f->outcome == LKS_BMC_OPEN)
            s->flashes_due = 0;
    }
}

enum lks_code lks_apply_bundle_revoked(const struct lks_applying *a)
{
    const struct lks_rec_bundle_revoked *from = &a->r->bundle_revoked;
    const struct lks_state_bundle *found = lks_state_bundle(a->s, from->digest);
    struct lks_state_bundle *bundle = found != NULL ? &a->s->bundles[found - a->s->bundles] : NULL;
    if (bundle == NULL || !lks_apply_once(a, &bundle->revoked))
        return LKS_OK;
    revoke_flashes(a->s, bundle);
    return lks_sets_apply(a, bundle);
}

/* Updates ----------------------------------------------------------------------------------- */

/* While it is not known what an update left behind, its node is no place for a job. */
static void count_flashing(struct lks_state *s, uint32_t node, uint32_t by)
{
    s->nodes[node].flashing += by;
    lks_node_status_update(s, node);
}

static void forget_saved(struct lks_state_flash *f)
{
    free(f->saved);
    f->saved = NULL;
    f->saved_len = 0;
}

static void drop_flash(struct lks_state *s, struct lks_state_flash *f)
{
    forget_saved(f);
    lks_text *const passing[] = {&f->phase, &f->found, &f->text};
    for (size_t i = 0; i < LKS_COUNT(passing); i++)
        lks_apply_drop(s, passing[i]);
}

static void link_flash(struct lks_state *s, uint32_t place)
{
    struct lks_state_flash *f = &s->flashes[place];
    f->before = s->nodes[f->node].flash;
    s->nodes[f->node].flash = place + 1;
}

/* Of the older half those that are over go; were none over, the oldest of all. */
static void thin_flashes(struct lks_state *s)
{
    uint32_t kept = 0, half = s->flash_count / 2;
    for (uint32_t i = 0; i < s->flash_count; i++)
        s->nodes[s->flashes[i].node].flash = 0;
    for (uint32_t i = 0; i < s->flash_count; i++) {
        if (i >= half || !lks_state_flash_over(&s->flashes[i]))
            s->flashes[kept++] = s->flashes[i];
        else
            drop_flash(s, &s->flashes[i]);
    }
    if (kept == s->flash_count) {
        s->flashes_open -= s->flashes[0].outcome == LKS_BMC_OPEN;
        count_flashing(s, s->flashes[0].node, UINT32_MAX);
        drop_flash(s, &s->flashes[0]);
        LKS_VEC_REMOVE(s->flashes, kept, 0);
    }
    s->flash_count = kept;
    s->flashes_moved = true;
    for (uint32_t i = 0; i < kept; i++)
        link_flash(s, i);
}

/* It keeps its node until it ended and is resolved. */
static void open_flash(struct lks_state *s, const struct lks_state_flash *f)
{
    bool open = f->outcome == LKS_BMC_OPEN;
    s->flashes_open += open;
    if (!lks_state_flash_over(f))
        count_flashing(s, f->node, 1);
    if (open && lks_state_flash_due(f) < s->flashes_due)
        s->flashes_due = lks_state_flash_due(f);
}

static enum lks_code add_flash(const struct lks_applying *a, const struct lks_state_flash *made)
{
    struct lks_state *s = a->s;
    if (s->flash_count == LKS_STATE_FLASHES_MAX)
        thin_flashes(s);
    if (LKS_VEC_RESERVE_MAX(s->flashes, s->flash_room, s->flash_count + 1, LKS_STATE_FLASHES_MAX,
                            a->err) != LKS_OK)
        return lks_wrap(a->err, "updates");
    s->flashes[s->flash_count] = *made;
    link_flash(s, s->flash_count++);
    open_flash(s, made);
    s->next_flash = made->id + 1;
    return LKS_OK;
}

enum lks_code lks_apply_flash(const struct lks_applying *a)
{
    const struct lks_rec_flash *from = &a->r->flash;
    struct lks_state *s = a->s;
    if (from->id < s->next_flash || from->id == UINT64_MAX || from->act >= LKS_BMC_ACT_COUNT)
        return LKS_OK;
    struct lks_state_flash made = {0};
    if (lks_state_place(s, from->node, &made.node, a->err) != LKS_OK ||
        lks_sets_apply(a, &made) != LKS_OK)
        return a->err->code;
    made.revoked = is_revoked(s, &made, lks_state_bundle(s, from->bundle));
    return add_flash(a, &made);
}

static struct lks_state_flash *find_flash(const struct lks_applying *a, uint64_t id)
{
    return LKS_STATE_BY_ID(a->s->flashes, a->s->flash_count, id);
}

enum lks_code lks_apply_flash_saved(const struct lks_applying *a)
{
    const struct lks_rec_flash_saved *from = &a->r->flash_saved;
    struct lks_state_flash *f = find_flash(a, from->id);
    if (f == NULL || f->outcome != LKS_BMC_OPEN)
        return LKS_OK;
    forget_saved(f);
    if (from->saved.len > 0 && from->saved.len <= UINT32_MAX) {
        f->saved = malloc(from->saved.len);
        if (f->saved == NULL)
            return lks_fail_nomem(a->err);
        memcpy(f->saved, from->saved.ptr, from->saved.len);
        f->saved_len = (uint32_t)from->saved.len;
    }
    f->percent = from->percent > 100 ? 100 : (uint32_t)from->percent;
    return lks_sets_apply(a, f);
}

enum lks_code lks_apply_flash_ended(const struct lks_applying *a)
{
    const struct lks_rec_flash_ended *from = &a->r->flash_ended;
    struct lks_state_flash *f = find_flash(a, from->id);
    if (f == NULL || f->outcome != LKS_BMC_OPEN || from->outcome == LKS_BMC_OPEN ||
        from->outcome >= LKS_BMC_OUTCOME_COUNT)
        return LKS_OK;
    forget_saved(f);
    if (lks_sets_apply(a, f) != LKS_OK)
        return a->err->code;
    a->s->flashes_open--;
    a->s->flashes_moved = true;
    if (lks_state_flash_over(f))
        count_flashing(a->s, f->node, UINT32_MAX);
    return LKS_OK;
}

enum lks_code lks_apply_flash_resolved(const struct lks_applying *a)
{
    const struct lks_rec_flash_resolved *from = &a->r->flash_resolved;
    struct lks_state_flash *f = find_flash(a, from->id);
    if (f == NULL || f->outcome != LKS_BMC_UNKNOWN || !lks_apply_once(a, &f->resolved))
        return LKS_OK;
    count_flashing(a->s, f->node, UINT32_MAX);
    return lks_sets_apply(a, f);
}

/* Loaded rows ------------------------------------------------------------------------------- */

enum lks_code lks_apply_index_flashes(const struct lks_applying *a)
{
    for (uint32_t i = 0; i < a->s->flash_count; i++) {
        link_flash(a->s, i);
        open_flash(a->s, &a->s->flashes[i]);
    }
    return LKS_OK;
}
