/* Rings that wait for approvals. */
#include "core/campaign/campaign_parts.h"

struct lks_str lks_campaign_tally(struct lks_deciding *d, const struct lks_tally *t)
{
    bool pool = t->where.pool.len > 0, site = t->where.site.len > 0;
    return lks_decision_text(
        d, "%u of %u approvals%s%" LKS_STR_FMT "%s%" LKS_STR_FMT, t->given, t->needed,
        pool ? " for pool " : "", LKS_STR_ARG(pool ? t->where.pool : LKS_STR("")),
        site ? " at site " : "", LKS_STR_ARG(site ? t->where.site : LKS_STR("")));
}

bool lks_campaign_lacks(struct lks_deciding *d, const struct lks_state_change *c, uint32_t wave)
{
    const struct lks_wave *w = &c->waves[wave];
    struct lks_tally t;
    if (w->kind != LKS_WAVE_RING || !lks_govern_waits(d->state, c, d->now.wall, &t))
        return false;
    struct lks_str votes = lks_campaign_tally(d, &t);
    struct lks_str text = lks_decision_text(
        d, "waits: it started without its approvals, and has %" LKS_STR_FMT, LKS_STR_ARG(votes));
    if (!lks_str_eq(text, lks_state_text(d->state, w->text)))
        lks_decision_add(d, LKS_RECORD_WAVE)->wave = (struct lks_rec_wave){
            .change = c->id,
            .index = wave,
            .state = w->state == LKS_WAVE_BEGUN ? LKS_WAVE_BEGUN : LKS_WAVE_PLANNED,
            .text = text};
    return true;
}
