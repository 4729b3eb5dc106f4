/* Whether two states say the same. Their numbers for texts and their places for nodes and pools may
 * differ, so texts are compared as texts, and nodes and pools by their names. */
#include "core/fold/equal_parts.h"
#include "core/fold/fold.h"
#include "core/state/barred.h"
#include "core/state/node_status.h"
#include "core/state/state_room.h"

static const struct member node_texts[] = {
    TEXT(lks_node, asset),
    TEXT(lks_node, class),
    TEXT(lks_node, site),
    TEXT(lks_node, rack),
    TEXT(lks_node, domain),
    TEXT(lks_node, power_zone),
    TEXT(lks_node, cooling_loop),
    TEXT(lks_node, supplier),
    TEXT(lks_node, hardware_revision),
    TEXT(lks_node, side),
    TEXT(lks_node, boot),
    TEXT(lks_node, tuple),
    TEXT(lks_node, tuple_boot),
    TEXT(lks_node, report),
    TEXT(lks_node, changed),
    TEXT(lks_node, outband_report),
    TEXT(lks_node, drift_text),
    TEXT(lks_node, drift_evidence),
    TEXT(lks_node, drift_stack),
    TEXT(lks_node, right),
    TEXT(lks_node, target),
    TEXT(lks_node, pin),
    TEXT(lks_node, condition_text),
    TEXT(lks_node, drained_by),
    TEXT(lks_node, drained_reason),
    TEXT(lks_node, parts[0]),
    TEXT(lks_node, parts[1]),
    TEXT(lks_node, parts[2]),
    TEXT(lks_node, intake_why),
    TEXT(lks_node, held_by),
    TEXT(lks_node, held_reason),
    TEXT(lks_node, token_hash),
    TEXT(lks_node, endpoint),
};

static bool same_numbers(const struct lks_node *a, const struct lks_node *b)
{
    return a->enrolled == b->enrolled && a->intake == b->intake && a->accepted == b->accepted &&
           a->held == b->held && a->liveness == b->liveness &&
           a->liveness_since == b->liveness_since && a->taken == b->taken &&
           a->tuple_since == b->tuple_since && a->notes == b->notes && a->pending == b->pending &&
           a->flashing == b->flashing && a->token_expires == b->token_expires &&
           a->certificates[0].expires == b->certificates[0].expires &&
           a->certificates[1].expires == b->certificates[1].expires &&
           memcmp(a->certificates[0].fingerprint, b->certificates[0].fingerprint,
                  sizeof(a->certificates[0].fingerprint)) == 0 &&
           memcmp(a->certificates[1].fingerprint, b->certificates[1].fingerprint,
                  sizeof(a->certificates[1].fingerprint)) == 0;
}

/* What was read and what is said of it. */
static bool same_care(const struct lks_node *a, const struct lks_node *b)
{
    return a->outband_taken == b->outband_taken && a->outband_over == b->outband_over &&
           a->drifting == b->drifting && a->unhealthy == b->unhealthy &&
           a->drift_cause == b->drift_cause && a->drift_since == b->drift_since &&
           a->parts_since == b->parts_since && a->changing == b->changing &&
           a->attested_until == b->attested_until && a->checked_at == b->checked_at &&
           a->held_since == b->held_since && a->change == b->change;
}

static bool same_basis(const struct pair *p, uint32_t a, uint32_t b)
{
    if (a == 0 || b == 0)
        return a == b;
    return lks_str_eq(lks_intern_text(&p->a->basis_digests, a - 1),
                      lks_intern_text(&p->b->basis_digests, b - 1));
}

static const struct member verdict_texts[] = {
    TEXT(lks_state_verdict, stack), TEXT(lks_state_verdict, first), TEXT(lks_state_verdict, wrong),
    TEXT(lks_state_verdict, values)};

static bool same_verdict(const struct pair *p, uint32_t a, uint32_t b)
{
    if (a == 0 || b == 0)
        return a == b;
    const struct lks_state_verdict *x = &p->a->verdicts[a], *y = &p->b->verdicts[b];
    return same_basis(p, x->basis, y->basis) && x->judged == y->judged &&
           x->drifted == y->drifted && x->unmeasured == y->unmeasured &&
           text_differs(p, x, y, verdict_texts, LKS_COUNT(verdict_texts)) == NULL;
}

/* Times are no part of it: bars that follow from them have no bits. */
static bool same_standing(const struct pair *p, uint32_t a, uint32_t b)
{
    const struct lks_node_status *x = p->a->standing, *y = p->b->standing;
    for (uint32_t bar = 0; bar < LKS_BAR_NODE_COUNT; bar++) {
        if (lks_bitset_test(&x->bars[bar], a) != lks_bitset_test(&y->bars[bar], b))
            return false;
    }
    return lks_bitset_test(&x->differs, a) == lks_bitset_test(&y->differs, b) &&
           lks_bitset_test(&x->recorded, a) == lks_bitset_test(&y->recorded, b) &&
           lks_bitset_test(&x->deviates, a) == lks_bitset_test(&y->deviates, b) &&
           lks_bitset_test(&x->lacks, a) == lks_bitset_test(&y->lacks, b) &&
           lks_bitset_test(&x->named, a) == lks_bitset_test(&y->named, b);
}

static struct lks_str pool_name(const struct lks_state *s, uint32_t pool)
{
    return pool == LKS_NO_POOL ? LKS_STR("") : lks_state_text(s, s->pools[pool].name);
}

static bool same_node(const struct pair *p, uint32_t a, uint32_t b)
{
    const struct lks_node *x = &p->a->nodes[a], *y = &p->b->nodes[b];
    struct lks_str name = lks_state_name(p->a, a);
    const char *what = text_differs(p, x, y, node_texts, LKS_COUNT(node_texts));
    if (what != NULL)
        return differs(p, what, name);
    if (!lks_str_eq(pool_name(p->a, x->pool), pool_name(p->b, y->pool)))
        return differs(p, "pool", name);
    if (!same_basis(p, x->inband, y->inband) || !same_basis(p, x->outband, y->outband) ||
        !same_basis(p, x->whole, y->whole) || !same_verdict(p, x->verdict, y->verdict))
        return differs(p, "readings", name);
    if (!same_numbers(x, y) || !same_care(x, y))
        return differs(p, "numbers", name);
    return same_standing(p, a, b) || differs(p, "standing", name);
}

/* Each that `a` has, assets too, and how many they are. */
static bool nodes_within(const struct pair *p, uint32_t *count)
{
    *count = 0;
    for (uint32_t n = 0; n < p->a->node_count; n++) {
        if (!p->a->nodes[n].placed)
            continue;
        struct lks_str name = lks_state_name(p->a, n);
        uint32_t other = lks_state_node(p->b, name);
        if (other == LKS_NO_NODE)
            return differs(p, "presence", name);
        if (!same_node(p, n, other))
            return false;
        ++*count;
    }
    return true;
}

static bool same_nodes(const struct pair *p)
{
    uint32_t count = 0;
    if (!nodes_within(p, &count))
        return false;
    for (uint32_t n = 0; n < p->b->node_count; n++)
        count -= p->b->nodes[n].placed;
    return count == 0 || differs(p, "count of nodes", LKS_STR("fleet"));
}

static const struct member pool_texts[] = {
    TEXT(lks_state_pool, name),          TEXT(lks_state_pool, posture),
    TEXT(lks_state_pool, enforce),       TEXT(lks_state_pool, sched),
    TEXT(lks_state_pool, stack),         TEXT(lks_state_pool, stack_digest),
    TEXT(lks_state_pool, stack_before),  TEXT(lks_state_pool, frozen_by),
    TEXT(lks_state_pool, frozen_reason), TEXT(lks_state_pool, lowered),
    TEXT(lks_state_pool, lowered_by),    TEXT(lks_state_pool, lowered_minters),
};

/* Only what the window still holds counts: the newest ones. */
static bool same_mass(const struct pair *p, uint32_t a, uint32_t b)
{
    const struct lks_state *x = p->a, *y = p->b;
    uint32_t count = lks_mass_count(&x->mass[a], x->turns, x->clock, x->limits.mass_window);
    if (count != lks_mass_count(&y->mass[b], y->turns, y->clock, y->limits.mass_window))
        return false;
    uint32_t n = x->mass[a].newest, k = y->mass[b].newest;
    for (; count > 0; count--, n = x->turns[n].before, k = y->turns[k].before) {
        if (x->turns[n].at != y->turns[k].at ||
            !lks_str_eq(lks_state_name(x, n), lks_state_name(y, k)))
            return false;
    }
    return true;
}

static bool same_pool(const struct pair *p, uint32_t a, uint32_t b)
{
    const struct lks_state_pool *x = &p->a->pools[a], *y = &p->b->pools[b];
    struct lks_str name = lks_state_text(p->a, x->name);
    const char *what = text_differs(p, x, y, pool_texts, LKS_COUNT(pool_texts));
    if (what != NULL)
        return differs(p, what, name);
    if (x->criticality != y->criticality || x->mass_alarm != y->mass_alarm ||
        x->nodes != y->nodes || x->enrolled != y->enrolled || x->frozen != y->frozen ||
        x->frozen_since != y->frozen_since || x->lowered_at != y->lowered_at ||
        memcmp(x->liveness, y->liveness, sizeof(x->liveness)) != 0)
        return differs(p, "numbers of the pool", name);
    if (x->on_drift != y->on_drift || x->deviations != y->deviations ||
        x->attested != y->attested || x->check_age != y->check_age || x->sweep != y->sweep ||
        memcmp(x->observed, y->observed, sizeof(x->observed)) != 0)
        return differs(p, "what is asked of the pool", name);
    return same_mass(p, a, b) || differs(p, "turns of the pool", name);
}

static bool same_pools(const struct pair *p)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->a->pool_count; i++) {
        if (!p->a->pools[i].known)
            continue;
        struct lks_str name = lks_state_text(p->a, p->a->pools[i].name);
        uint32_t other = lks_state_pool(p->b, name);
        if (other == LKS_NO_POOL)
            return differs(p, "presence of the pool", name);
        if (!same_pool(p, i, other))
            return false;
        count++;
    }
    for (uint32_t i = 0; i < p->b->pool_count; i++)
        count -= p->b->pools[i].known;
    return count == 0 || differs(p, "count of pools", LKS_STR("fleet"));
}

static const struct member alarm_texts[] = {TEXT(lks_state_alarm, subject),
                                            TEXT(lks_state_alarm, text), TEXT(lks_state_alarm, by),
                                            TEXT(lks_state_alarm, reason)};
static const struct member command_texts[] = {
    TEXT(lks_state_command, boot),    TEXT(lks_state_command, executor),
    TEXT(lks_state_command, digests), TEXT(lks_state_command, by),
    TEXT(lks_state_command, reason),  TEXT(lks_state_command, text)};

static bool same_alarms(const struct pair *p)
{
    if (p->a->alarm_count != p->b->alarm_count || p->a->alarms_open != p->b->alarms_open ||
        p->a->next_alarm != p->b->next_alarm)
        return differs(p, "count", LKS_STR("alarms"));
    for (uint32_t i = 0; i < p->a->alarm_count; i++) {
        const struct lks_state_alarm *x = &p->a->alarms[i], *y = &p->b->alarms[i];
        if (x->id != y->id || x->kind != y->kind || x->raised != y->raised ||
            x->released != y->released ||
            text_differs(p, x, y, alarm_texts, LKS_COUNT(alarm_texts)) != NULL)
            return differs(p, "alarm", lks_state_text(p->a, x->subject));
    }
    return true;
}

static bool same_commands(const struct pair *p)
{
    if (p->a->command_count != p->b->command_count || p->a->commands_open != p->b->commands_open ||
        p->a->next_command != p->b->next_command)
        return differs(p, "count", LKS_STR("commands"));
    for (uint32_t i = 0; i < p->a->command_count; i++) {
        const struct lks_state_command *x = &p->a->commands[i], *y = &p->b->commands[i];
        struct lks_str node = lks_state_name(p->a, x->node);
        if (x->id != y->id || x->attempt != y->attempt || x->sent != y->sent ||
            x->expires != y->expires || x->ended != y->ended || x->outcome != y->outcome ||
            !lks_str_eq(node, lks_state_name(p->b, y->node)) ||
            text_differs(p, x, y, command_texts, LKS_COUNT(command_texts)) != NULL)
            return differs(p, "command", node);
    }
    return true;
}

/* Every basis that a node has or that is known in `a` is the same in `b`, with its verdicts. */
static bool bases_within(const struct pair *p)
{
    for (uint32_t i = 0; i < lks_intern_count(&p->a->basis_digests); i++) {
        const struct lks_state_basis *x = &p->a->bases[i];
        struct lks_str digest = lks_intern_text(&p->a->basis_digests, i);
        uint32_t other = lks_state_basis(p->b, digest);
        if (x->uses == 0 && x->readings == NULL)
            continue;
        if (other == 0 || x->uses != p->b->bases[other - 1].uses ||
            x->gpus != p->b->bases[other - 1].gpus ||
            !lks_str_eq(lks_state_readings(p->a, i + 1), lks_state_readings(p->b, other)))
            return differs(p, "basis", digest);
        for (uint32_t v = x->verdict; v != 0; v = p->a->verdicts[v].next) {
            lks_text stack = 0;
            if (!lks_intern_find(&p->b->texts, lks_state_text(p->a, p->a->verdicts[v].stack),
                                 &stack) ||
                !same_verdict(p, v, lks_state_verdict_find(p->b, other, stack)))
                return differs(p, "verdict", digest);
        }
    }
    return true;
}

static const struct member deviation_texts[] = {
    TEXT(lks_deviation, hosts),
    TEXT(lks_deviation, subject),
    TEXT(lks_deviation, value),
    TEXT(lks_deviation, owner),
    TEXT(lks_deviation, reason),
    TEXT(lks_deviation, approver),
    TEXT(lks_deviation, by),
    TEXT(lks_deviation, ended_by),
    TEXT(lks_deviation, ended_reason),
    TEXT(lks_deviation, agreed_by),
    TEXT(lks_deviation, agreed_reason),
    TEXT(lks_deviation, minters),
};
static const struct member stack_texts[] = {
    TEXT(lks_state_stack, digest),         TEXT(lks_state_stack, name),
    TEXT(lks_state_stack, manifest),       TEXT(lks_state_stack, envelope),
    TEXT(lks_state_stack, artifacts),      TEXT(lks_state_stack, by),
    TEXT(lks_state_stack, reason),         TEXT(lks_state_stack, evidence[0]),
    TEXT(lks_state_stack, evidence[1]),    TEXT(lks_state_stack, evidence[2]),
    TEXT(lks_state_stack, evidence[3]),    TEXT(lks_state_stack, evidence[4]),
    TEXT(lks_state_stack, evidence_by[0]), TEXT(lks_state_stack, evidence_by[1]),
    TEXT(lks_state_stack, evidence_by[2]), TEXT(lks_state_stack, evidence_by[3]),
    TEXT(lks_state_stack, evidence_by[4]), TEXT(lks_state_stack, minters),
};
_Static_assert(LKS_STEP_COUNT == 5, "each step is compared");
static const struct member image_texts[] = {
    TEXT(lks_state_image, ref),    TEXT(lks_state_image, digest), TEXT(lks_state_image, nccl),
    TEXT(lks_state_image, rccl),   TEXT(lks_state_image, cudnn),  TEXT(lks_state_image, cuda),
    TEXT(lks_state_image, source), TEXT(lks_state_image, by),
};
static const struct member artifact_texts[] = {
    TEXT(lks_state_artifact, digest), TEXT(lks_state_artifact, name), TEXT(lks_state_artifact, by)};
static const struct member override_texts[] = {TEXT(lks_override, job), TEXT(lks_override, hosts),
                                               TEXT(lks_override, reason), TEXT(lks_override, by)};

static bool same_deviations(const struct pair *p)
{
    if (p->a->deviation_count != p->b->deviation_count ||
        p->a->next_deviation != p->b->next_deviation ||
        p->a->deviations_due != p->b->deviations_due)
        return differs(p, "count", LKS_STR("deviations"));
    for (uint32_t i = 0; i < p->a->deviation_count; i++) {
        const struct lks_deviation *x = &p->a->deviations[i], *y = &p->b->deviations[i];
        if (x->id != y->id || x->added != y->added || x->expires != y->expires ||
            x->ended != y->ended || x->agreed != y->agreed || x->waits != y->waits ||
            x->count != y->count ||
            text_differs(p, x, y, deviation_texts, LKS_COUNT(deviation_texts)) != NULL)
            return differs(p, "deviation", lks_state_text(p->a, x->hosts));
    }
    return true;
}

static bool same_stacks(const struct pair *p)
{
    if (p->a->stack_count != p->b->stack_count)
        return differs(p, "count", LKS_STR("stacks"));
    for (uint32_t i = 0; i < p->a->stack_count; i++) {
        const struct lks_state_stack *x = &p->a->stacks[i], *y = &p->b->stacks[i];
        if (x->step != y->step || x->published != y->published || x->stepped != y->stepped ||
            text_differs(p, x, y, stack_texts, LKS_COUNT(stack_texts)) != NULL)
            return differs(p, "stack", lks_state_text(p->a, x->digest));
    }
    return true;
}

static bool same_images(const struct pair *p)
{
    if (p->a->image_count != p->b->image_count || p->a->artifact_count != p->b->artifact_count)
        return differs(p, "count", LKS_STR("images and artifacts"));
    for (uint32_t i = 0; i < p->a->image_count; i++) {
        const struct lks_state_image *x = &p->a->images[i], *y = &p->b->images[i];
        if (x->added != y->added ||
            text_differs(p, x, y, image_texts, LKS_COUNT(image_texts)) != NULL)
            return differs(p, "image", lks_state_text(p->a, x->ref));
    }
    for (uint32_t i = 0; i < p->a->artifact_count; i++) {
        const struct lks_state_artifact *x = &p->a->artifacts[i], *y = &p->b->artifacts[i];
        if (x->added != y->added || x->size != y->size ||
            text_differs(p, x, y, artifact_texts, LKS_COUNT(artifact_texts)) != NULL)
            return differs(p, "artifact", lks_state_text(p->a, x->digest));
    }
    return true;
}

static bool same_barred(const struct pair *p)
{
    return lks_barred_same(p->a, p->b) || differs(p, "list", LKS_STR("barred certificates"));
}

static bool same_jobs(const struct pair *p)
{
    if (p->a->override_count != p->b->override_count || p->a->jobs != p->b->jobs)
        return differs(p, "count", LKS_STR("jobs"));
    for (uint32_t i = 0; i < p->a->override_count; i++) {
        const struct lks_override *x = &p->a->overrides[i], *y = &p->b->overrides[i];
        if (x->until != y->until ||
            text_differs(p, x, y, override_texts, LKS_COUNT(override_texts)) != NULL)
            return differs(p, "override", lks_state_text(p->a, x->job));
    }
    if (p->a->epoch != p->b->epoch || !same_text(p, p->a->leader, p->b->leader) ||
        !same_text(p, p->a->leader_url, p->b->leader_url))
        return differs(p, "leader", lks_state_text(p->a, p->a->leader));
    if (p->a->signed_from != p->b->signed_from || p->a->signed_earlier != p->b->signed_earlier)
        return differs(p, "row", LKS_STR("from which every commit is signed"));
    return true;
}

static const struct member key_texts[] = {TEXT(lks_state_key, name), TEXT(lks_state_key, key),
                                          TEXT(lks_state_key, by), TEXT(lks_state_key, reason)};
static const struct member bundle_texts[] = {
    TEXT(lks_state_bundle, digest),     TEXT(lks_state_bundle, name),
    TEXT(lks_state_bundle, version),    TEXT(lks_state_bundle, manifest),
    TEXT(lks_state_bundle, signer),     TEXT(lks_state_bundle, key),
    TEXT(lks_state_bundle, artifacts),  TEXT(lks_state_bundle, by),
    TEXT(lks_state_bundle, revoked_by), TEXT(lks_state_bundle, revoked_reason),
};
static const struct member flash_texts[] = {
    TEXT(lks_state_flash, component),
    TEXT(lks_state_flash, version),
    TEXT(lks_state_flash, bundle),
    TEXT(lks_state_flash, image),
    TEXT(lks_state_flash, image_name),
    TEXT(lks_state_flash, apply_time),
    TEXT(lks_state_flash, by),
    TEXT(lks_state_flash, reason),
    TEXT(lks_state_flash, phase),
    TEXT(lks_state_flash, found),
    TEXT(lks_state_flash, text),
    TEXT(lks_state_flash, resolved_by),
    TEXT(lks_state_flash, resolved_reason),
};

static bool same_bundles(const struct pair *p)
{
    if (p->a->key_count != p->b->key_count || p->a->bundle_count != p->b->bundle_count)
        return differs(p, "count", LKS_STR("keys and bundles"));
    for (uint32_t i = 0; i < p->a->key_count; i++) {
        const struct lks_state_key *x = &p->a->keys[i], *y = &p->b->keys[i];
        if (x->pinned != y->pinned ||
            text_differs(p, x, y, key_texts, LKS_COUNT(key_texts)) != NULL)
            return differs(p, "key", lks_state_text(p->a, x->name));
    }
    for (uint32_t i = 0; i < p->a->bundle_count; i++) {
        const struct lks_state_bundle *x = &p->a->bundles[i], *y = &p->b->bundles[i];
        if (x->site != y->site || x->added != y->added || x->revoked != y->revoked ||
            text_differs(p, x, y, bundle_texts, LKS_COUNT(bundle_texts)) != NULL)
            return differs(p, "bundle", lks_state_text(p->a, x->digest));
    }
    return true;
}

static bool same_flash(const struct pair *p, const struct lks_state_flash *x,
                       const struct lks_state_flash *y)
{
    return x->id == y->id && x->act == y->act && x->size == y->size && x->force == y->force &&
           x->one_way == y->one_way && x->revoked == y->revoked && x->begun == y->begun &&
           x->deadline == y->deadline && x->percent == y->percent && x->outcome == y->outcome &&
           x->ended == y->ended && x->uploads == y->uploads && x->resolved == y->resolved &&
           lks_str_eq((struct lks_str){x->saved, x->saved_len},
                      (struct lks_str){y->saved, y->saved_len}) &&
           lks_str_eq(lks_state_name(p->a, x->node), lks_state_name(p->b, y->node)) &&
           text_differs(p, x, y, flash_texts, LKS_COUNT(flash_texts)) == NULL;
}

static bool same_flashes(const struct pair *p)
{
    if (p->a->flash_count != p->b->flash_count || p->a->flashes_open != p->b->flashes_open ||
        p->a->next_flash != p->b->next_flash)
        return differs(p, "count", LKS_STR("updates"));
    for (uint32_t i = 0; i < p->a->flash_count; i++) {
        if (!same_flash(p, &p->a->flashes[i], &p->b->flashes[i]))
            return differs(p, "update", lks_state_name(p->a, p->a->flashes[i].node));
    }
    return true;
}

static const struct member change_texts[] = {
    TEXT(lks_state_change, hosts),    TEXT(lks_state_change, stack),
    TEXT(lks_state_change, name),     TEXT(lks_state_change, windows),
    TEXT(lks_state_change, by),       TEXT(lks_state_change, reason),
    TEXT(lks_state_change, moved_by), TEXT(lks_state_change, moved_reason),
    TEXT(lks_state_change, class),    TEXT(lks_state_change, advisory),
    TEXT(lks_state_change, standby),  TEXT(lks_state_change, minters),
};
static const struct member glass_texts[] = {
    TEXT(lks_glass, by),          TEXT(lks_glass, reason),
    TEXT(lks_glass, reviewed_by), TEXT(lks_glass, reviewed_reason),
    TEXT(lks_glass, minters),
};
static const struct member step_texts[] = {
    TEXT(lks_step, component),   TEXT(lks_step, version), TEXT(lks_step, before),
    TEXT(lks_step, executor),    TEXT(lks_step, order),   TEXT(lks_step, order_back),
    TEXT(lks_step, artifacts),   TEXT(lks_step, bundle),  TEXT(lks_step, artifacts_back),
    TEXT(lks_step, bundle_back), TEXT(lks_step, image),   TEXT(lks_step, image_back),
};
static const struct member wave_texts[] = {TEXT(lks_wave, pool), TEXT(lks_wave, controls),
                                           TEXT(lks_wave, text), TEXT(lks_wave, limit_text)};
static const struct member member_texts[] = {TEXT(lks_member, from), TEXT(lks_member, text)};
static const struct member vote_texts[] = {TEXT(lks_vote, by),         TEXT(lks_vote, reason),
                                           TEXT(lks_vote, ticket),     TEXT(lks_vote, who),
                                           TEXT(lks_vote, credential), TEXT(lks_vote, minters)};
static const struct member order_texts[] = {TEXT(lks_change_order, digest),
                                            TEXT(lks_change_order, text)};
static const struct member proven_texts[] = {TEXT(lks_proven, class), TEXT(lks_proven, from),
                                             TEXT(lks_proven, to), TEXT(lks_proven, node)};

static bool same_recipe(const struct pair *p, const struct lks_recipe *x,
                        const struct lks_recipe *y)
{
    if (x->count != y->count)
        return false;
    for (uint32_t i = 0; i < x->count; i++) {
        const struct lks_step *s = &x->steps[i], *t = &y->steps[i];
        if (s->kind != t->kind || s->rank != t->rank || s->layer != t->layer ||
            s->retries != t->retries || s->revert != t->revert || s->one_way != t->one_way ||
            s->limit != t->limit || text_differs(p, s, t, step_texts, LKS_COUNT(step_texts)))
            return false;
    }
    return true;
}

static bool same_wave(const struct pair *p, const struct lks_wave *x, const struct lks_wave *y)
{
    return x->kind == y->kind && x->state == y->state && x->width == y->width &&
           x->failures_max == y->failures_max && x->soak == y->soak && x->until == y->until &&
           x->since == y->since && x->first_unit == y->first_unit && x->last_unit == y->last_unit &&
           x->next == y->next && memcmp(x->members, y->members, sizeof(x->members)) == 0 &&
           x->busy == y->busy && x->failed == y->failed && x->hard == y->hard &&
           x->limit == y->limit && text_differs(p, x, y, wave_texts, LKS_COUNT(wave_texts)) == NULL;
}

static bool same_unit(const struct pair *p, const struct lks_unit *x, const struct lks_unit *y)
{
    return same_text(p, x->domain, y->domain) && x->wave == y->wave && x->first == y->first &&
           x->count == y->count && x->next == y->next && x->over == y->over &&
           x->begun == y->begun && x->active == y->active;
}

static bool same_member(const struct pair *p, const struct lks_member *x,
                        const struct lks_member *y)
{
    return lks_str_eq(lks_state_name(p->a, x->node), lks_state_name(p->b, y->node)) &&
           x->unit == y->unit && x->recipe == y->recipe && x->proves == y->proves &&
           x->state == y->state && x->step == y->step && x->pass == y->pass &&
           x->attempt == y->attempt && x->back == y->back && x->until == y->until &&
           x->since == y->since && x->begun == y->begun && x->turned == y->turned &&
           x->work == y->work && x->failure == y->failure &&
           text_differs(p, x, y, member_texts, LKS_COUNT(member_texts)) == NULL;
}

/* Whom it has, and how far each of them is. */
static const char *parts_differ(const struct pair *p, const struct lks_state_change *x,
                                const struct lks_state_change *y)
{
    if (x->recipe_count != y->recipe_count || x->wave_count != y->wave_count ||
        x->unit_count != y->unit_count || x->member_count != y->member_count)
        return "size of change";
    for (uint32_t i = 0; i < x->recipe_count; i++) {
        if (!same_recipe(p, &x->recipes[i], &y->recipes[i]))
            return "recipes of change";
    }
    for (uint32_t i = 0; i < x->wave_count; i++) {
        if (!same_wave(p, &x->waves[i], &y->waves[i]))
            return "waves of change";
    }
    for (uint32_t i = 0; i < x->unit_count; i++) {
        if (!same_unit(p, &x->units[i], &y->units[i]))
            return "units of change";
    }
    for (uint32_t i = 0; i < x->member_count; i++) {
        if (!same_member(p, &x->members[i], &y->members[i]))
            return "members of change";
    }
    return NULL;
}

/* What is beside the plan: votes, orders, notes. */
static bool same_papers(const struct pair *p, const struct lks_state_change *x,
                        const struct lks_state_change *y)
{
    bool same = x->vote_count == y->vote_count && x->order_count == y->order_count &&
                x->note_count == y->note_count;
    for (uint32_t i = 0; same && i < x->vote_count; i++)
        same = x->votes[i].yes == y->votes[i].yes && x->votes[i].at == y->votes[i].at &&
               !text_differs(p, &x->votes[i], &y->votes[i], vote_texts, LKS_COUNT(vote_texts));
    for (uint32_t i = 0; same && i < x->order_count; i++)
        same = !text_differs(p, &x->orders[i], &y->orders[i], order_texts, LKS_COUNT(order_texts));
    for (uint32_t i = 0; same && i < x->note_count; i++)
        same = x->notes[i].kind == y->notes[i].kind &&
               same_text(p, x->notes[i].text, y->notes[i].text);
    return same;
}

static const struct member metric_texts[] = {
    TEXT(lks_plan_metric, name), TEXT(lks_plan_metric, pools), TEXT(lks_plan_metric, query)};
static const struct member gate_texts[] = {TEXT(lks_pool_gate, pool),
                                           TEXT(lks_pool_gate, reference_load)};
static const struct member look_texts[] = {TEXT(lks_gate_look, metric), TEXT(lks_gate_look, text)};

static bool same_metric(const struct pair *p, const struct lks_plan_metric *x,
                        const struct lks_plan_metric *y)
{
    return x->kind == y->kind && x->better == y->better && x->unit == y->unit &&
           x->source == y->source && x->critical == y->critical && x->margin == y->margin &&
           x->alpha == y->alpha && x->sigma == y->sigma && x->normal == y->normal &&
           text_differs(p, x, y, metric_texts, LKS_COUNT(metric_texts)) == NULL;
}

static bool same_measure(const struct pair *p, const struct lks_measure *x,
                         const struct lks_measure *y)
{
    return lks_str_eq(lks_state_name(p->a, x->node), lks_state_name(p->b, y->node)) &&
           same_text(p, x->metric, y->metric) && x->wave == y->wave && x->next == y->next &&
           x->has_before == y->has_before && x->has_after == y->has_after &&
           x->before == y->before && x->after == y->after && x->samples == y->samples &&
           x->load == y->load && x->events == y->events && x->exposure == y->exposure &&
           x->from == y->from && x->until == y->until && x->at == y->at;
}

/* What gates ask for, and what they found. */
static bool same_evidence(const struct pair *p, const struct lks_state_change *x,
                          const struct lks_state_change *y)
{
    bool same = x->metric_count == y->metric_count && x->gate_count == y->gate_count &&
                x->measure_count == y->measure_count && x->look_count == y->look_count;
    for (uint32_t i = 0; same && i < x->metric_count; i++)
        same = same_metric(p, &x->metrics[i], &y->metrics[i]);
    for (uint32_t i = 0; same && i < x->gate_count; i++) {
        const struct lks_pool_gate *g = &x->gates[i], *h = &y->gates[i];
        same = g->min_load == h->min_load && g->min_soak == h->min_soak &&
               g->max_soak == h->max_soak && g->loss_budget == h->loss_budget &&
               text_differs(p, g, h, gate_texts, LKS_COUNT(gate_texts)) == NULL;
    }
    for (uint32_t i = 0; same && i < x->measure_count; i++)
        same = same_measure(p, &x->measures[i], &y->measures[i]);
    for (uint32_t i = 0; same && i < x->look_count; i++) {
        const struct lks_gate_look *l = &x->looks[i], *m = &y->looks[i];
        same = l->wave == m->wave && l->look == m->look && l->verdict == m->verdict &&
               l->at == m->at && text_differs(p, l, m, look_texts, LKS_COUNT(look_texts)) == NULL;
    }
    return same;
}

static const struct member waiver_texts[] = {TEXT(lks_waiver, gate), TEXT(lks_waiver, by),
                                             TEXT(lks_waiver, reason), TEXT(lks_waiver, pool)};

static bool same_waivers(const struct pair *p, const struct lks_state_change *x,
                         const struct lks_state_change *y)
{
    bool same = x->waiver_count == y->waiver_count;
    for (uint32_t i = 0; same && i < x->waiver_count; i++) {
        const struct lks_waiver *v = &x->waivers[i], *w = &y->waivers[i];
        same = v->at == w->at && v->until == w->until &&
               text_differs(p, v, w, waiver_texts, LKS_COUNT(waiver_texts)) == NULL;
    }
    return same;
}

/* What its class asks for, and what became of that. */
static bool same_rules(const struct pair *p, const struct lks_state_change *x,
                       const struct lks_state_change *y)
{
    return x->quorum == y->quorum && x->expires == y->expires &&
           x->approval_age == y->approval_age && x->review_age == y->review_age &&
           x->needs_standby == y->needs_standby && x->glass.at == y->glass.at &&
           x->glass.until == y->glass.until && x->glass.reviewed == y->glass.reviewed &&
           same_waivers(p, x, y) &&
           text_differs(p, &x->glass, &y->glass, glass_texts, LKS_COUNT(glass_texts)) == NULL;
}

static bool same_forecast(const struct pair *p, const struct lks_change_forecast *x,
                          const struct lks_change_forecast *y)
{
    return x->runs == y->runs && memcmp(x->took, y->took, sizeof(x->took)) == 0 &&
           memcmp(x->gpu_hours, y->gpu_hours, sizeof(x->gpu_hours)) == 0 && x->kept == y->kept &&
           x->reached == y->reached && x->at == y->at && same_text(p, x->by, y->by);
}

static bool same_change(const struct pair *p, const struct lks_state_change *x,
                        const struct lks_state_change *y)
{
    struct lks_str name = lks_state_text(p->a, x->name);
    const char *what = parts_differ(p, x, y);
    if (what != NULL)
        return differs(p, what, name);
    if (!same_papers(p, x, y) || !same_rules(p, x, y))
        return differs(p, "papers of change", name);
    if (!same_evidence(p, x, y))
        return differs(p, "evidence of change", name);
    if (!same_forecast(p, &x->forecast, &y->forecast))
        return differs(p, "forecast of change", name);
    return (x->id == y->id && x->kind == y->kind && x->state == y->state &&
            x->failures_max == y->failures_max && x->rolls_back == y->rolls_back &&
            x->one_way == y->one_way && x->not_before == y->not_before &&
            x->not_after == y->not_after && x->proposed == y->proposed &&
            x->started == y->started && x->moved == y->moved && x->failed == y->failed &&
            x->queued == y->queued && memcmp(x->states, y->states, sizeof(x->states)) == 0 &&
            text_differs(p, x, y, change_texts, LKS_COUNT(change_texts)) == NULL) ||
           differs(p, "change", name);
}

static bool same_changes(const struct pair *p)
{
    const struct lks_state *a = p->a, *b = p->b;
    if (a->change_count != b->change_count || a->changes_open != b->changes_open ||
        a->glasses != b->glasses || a->next_change != b->next_change ||
        a->proven_count != b->proven_count)
        return differs(p, "count", LKS_STR("changes"));
    if (a->frozen != b->frozen || a->frozen_since != b->frozen_since ||
        !same_text(p, a->frozen_by, b->frozen_by) ||
        !same_text(p, a->frozen_reason, b->frozen_reason))
        return differs(p, "freeze", LKS_STR("fleet"));
    for (uint32_t i = 0; i < a->change_count; i++) {
        if (!same_change(p, &a->changes[i], &b->changes[i]))
            return false;
    }
    for (uint32_t i = 0; i < a->proven_count; i++) {
        const struct lks_proven *x = &a->proven[i], *y = &b->proven[i];
        if (x->change != y->change || x->took != y->took || x->at != y->at ||
            text_differs(p, x, y, proven_texts, LKS_COUNT(proven_texts)))
            return differs(p, "exercised rollback", lks_state_text(a, x->class));
    }
    return true;
}

bool lks_equal_state(const struct lks_state *a, const struct lks_state *b, struct lks_err *why)
{
    const struct pair p = {a, b, why}, turned = {b, a, why};
    if (strcmp(a->journal, b->journal) != 0 || a->clock != b->clock || a->seq != b->seq ||
        memcmp(&a->limits, &b->limits, sizeof(a->limits)) != 0 || a->yeses_until != b->yeses_until)
        return differs(&p, "head or limits", lks_str_from(a->journal));
    if (!same_text(&p, a->fleet_name, b->fleet_name) ||
        !same_text(&p, a->fleet_manifest, b->fleet_manifest) ||
        a->placed_count != b->placed_count || a->standing->news != b->standing->news ||
        memcmp(a->liveness, b->liveness, sizeof(a->liveness)) != 0)
        return differs(&p, "name, manifest or counts", LKS_STR("fleet"));
    if (!lks_fold_tickets_equal(a, b))
        return differs(&p, "messages of", LKS_STR("tickets"));
    if (!lks_fold_resets_equal(a, b))
        return differs(&p, "resets of", LKS_STR("nodes"));
    return same_pools(&p) && same_nodes(&p) && lks_equal_access(&p) && same_alarms(&p) &&
           same_commands(&p) && same_deviations(&p) && same_stacks(&p) && same_images(&p) &&
           same_jobs(&p) && same_barred(&p) && same_bundles(&p) && same_flashes(&p) &&
           same_changes(&p) && bases_within(&p) && bases_within(&turned);
}
