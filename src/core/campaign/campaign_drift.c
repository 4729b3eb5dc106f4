/*
 * Nodes that drifted since their change was planned. Their checks would fail and take the change
 * back, so they are skipped, with a record and an alarm each: when it starts, when their wave does,
 * and when it is their turn. Where these are many something else is wrong, and a person decides.
 */
#include "core/campaign/campaign_parts.h"
#include "core/plan/plan.h"
#include "core/rows/verdict.h"
#include "core/state/state.h"

enum { SHARE = 10 }; /* one in so many may drift meanwhile, and one in any case */

static uint32_t most_of(uint32_t members)
{
    return members < SHARE ? 1 : members / SHARE;
}

bool lks_campaign_member_drifted(const struct lks_state *s, const struct lks_state_change *c,
                                 const struct lks_member *m)
{
    return c->kind == LKS_CHANGE_STACK && m->state == LKS_MEMBER_PENDING &&
           s->nodes[m->node].placed && lks_plan_drifted(s, m->node);
}

struct lks_str lks_campaign_drifted_text(struct lks_deciding *d, uint32_t node)
{
    const struct lks_state_verdict *v = lks_state_verdict(d->state, node);
    struct lks_str first = v != NULL ? lks_state_text(d->state, v->first) : LKS_STR("");
    return lks_decision_text(d,
                             "%" LKS_STR_FMT " drifted since this was planned%s%" LKS_STR_FMT
                             "; repair it, then propose a change for it",
                             LKS_STR_ARG(lks_state_name(d->state, node)), first.len > 0 ? ": " : "",
                             LKS_STR_ARG(first));
}

/* How many of the wave drifted, or with NO_WAVE of the change; the first of them. */
#define NO_WAVE UINT32_MAX
static uint32_t count_drifted(const struct lks_state *s, const struct lks_state_change *c,
                              uint32_t wave, const struct lks_member **first)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < c->member_count; i++) {
        const struct lks_member *m = &c->members[i];
        if ((wave != NO_WAVE && c->units[m->unit].wave != wave) ||
            !lks_campaign_member_drifted(s, c, m))
            continue;
        *first = count++ == 0 ? m : *first;
    }
    return count;
}

static uint32_t size_of(const struct lks_wave *w)
{
    uint32_t size = 0;
    for (unsigned i = 0; i < LKS_MEMBER_STATE_COUNT; i++)
        size += w->members[i];
    return size;
}

struct lks_str lks_campaign_wave_drifted(struct lks_deciding *d, const struct lks_state_change *c,
                                         uint32_t wave)
{
    const struct lks_member *first = NULL;
    uint32_t count = count_drifted(d->state, c, wave, &first);
    char nodes[LKS_COUNT_TEXT_SIZE];
    if (count <= most_of(size_of(&c->waves[wave])))
        return LKS_STR("");
    return lks_decision_text(d,
                             "%s of this wave drifted since it was planned, the first is "
                             "%" LKS_STR_FMT ": repair them, or resume and they are skipped",
                             lks_str_count_text(count, "node", nodes),
                             LKS_STR_ARG(lks_state_name(d->state, first->node)));
}

bool lks_campaign_change_drift_fits(struct lks_deciding *d, const struct lks_state_change *c)
{
    const struct lks_member *first = NULL;
    uint32_t count = count_drifted(d->state, c, NO_WAVE, &first);
    char nodes[LKS_COUNT_TEXT_SIZE];
    if (count <= most_of(c->member_count))
        return true;
    lks_decision_refuse(
        d, LKS_E_REFUSED,
        "start: %s drifted since change %llu was planned, the first is %" LKS_STR_FMT
        ": repair them, or end it (lockstep change abort %llu) and propose it again without them",
        lks_str_count_text(count, "node", nodes), (unsigned long long)c->id,
        LKS_STR_ARG(lks_state_name(d->state, first->node)), (unsigned long long)c->id);
    return false;
}

void lks_campaign_change_leave_drifted(struct lks_deciding *d, const struct lks_state_change *c)
{
    for (uint32_t u = 0; u < c->unit_count; u++) {
        const struct lks_unit *unit = &c->units[u];
        const struct lks_member *first = NULL;
        for (uint32_t i = 0; i < unit->count && first == NULL; i++) {
            const struct lks_member *m = &c->members[unit->first + i];
            first = lks_campaign_member_drifted(d->state, c, m) ? m : NULL;
        }
        for (uint32_t i = 0; i < unit->count && first != NULL; i++) {
            struct lks_look k = lks_campaign_look_at(d->state, c, &c->members[unit->first + i]);
            if (k.m->state == LKS_MEMBER_PENDING)
                lks_campaign_member_leave(d, &k, lks_campaign_drifted_text(d, first->node));
        }
    }
}
