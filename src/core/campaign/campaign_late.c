/* The deadline of a step: what becomes of a member that did not come to its end in time. */
#include "core/campaign/campaign_parts.h"
#include "core/plan/drain.h"
#include "core/rows/node.h"

static bool is_away(const struct lks_look *k)
{
    return k->n->asset == 0 && k->n->liveness != LKS_LIVE;
}

void lks_campaign_late_lost(struct lks_deciding *d, const struct lks_look *k)
{
    bool done = k->m->state != LKS_MEMBER_WAITING || k->m->attempt > 1;
    lks_campaign_member_fail(d, k, LKS_FAILURE_LOST, done,
                             lks_decision_text(d, "the node is %s, and did not come back in time",
                                               lks_liveness_words[k->n->liveness]));
}

void lks_campaign_late_reboot(struct lks_deciding *d, const struct lks_look *k)
{
    if (is_away(k))
        lks_campaign_late_lost(d, k);
    else
        lks_campaign_member_fail(d, k, LKS_FAILURE_STEP, true,
                                 LKS_STR("it did not reboot in time"));
}

/* A node alone that was lost before anything was done to it is skipped: that is no failure of the
 * change. What was staged for it is given up first. One that exercises the rollback is fenced
 * instead: others of its hardware wait for it, and only what is fenced can be tried again. */
static void lost_early(struct lks_deciding *d, const struct lks_look *k)
{
    char since[LKS_TIME_TEXT_SIZE];
    struct lks_str text = lks_decision_text(d, "the node is %s since %s; nothing was done to it",
                                            lks_liveness_words[k->n->liveness],
                                            lks_time_text(k->n->liveness_since, since));
    if (k->u->count > 1 || k->m->back || k->m->proves || lks_campaign_look_changed(k))
        lks_campaign_late_lost(d, k);
    else if (lks_campaign_look_untouched(k))
        lks_campaign_member_leave(d, k, text);
    else
        lks_campaign_member_turn(d, k, false, LKS_FAILURE_NONE, text);
}

void lks_campaign_late_leave(struct lks_deciding *d, const struct lks_look *k)
{
    if (is_away(k))
        lost_early(d, k);
    else
        lks_campaign_member_fail(d, k, LKS_FAILURE_BUSY, false,
                                 lks_campaign_look_sched(k) == LKS_DRAIN_DRIVEN &&
                                         k->m->state == LKS_MEMBER_ASKED && k->m->text != 0
                                     ? lks_decision_text(d,
                                                         "its scheduler did not drain it in time: "
                                                         "%" LKS_STR_FMT,
                                                         LKS_STR_ARG(lks_look_text(k, k->m->text)))
                                     : LKS_STR("it was not found empty within its time"));
}

void lks_campaign_late_check(struct lks_deciding *d, const struct lks_look *k)
{
    if (is_away(k))
        lks_campaign_late_lost(d, k);
    else
        lks_campaign_member_fail(d, k, LKS_FAILURE_WRONG, true, lks_campaign_wrong_text(d, k));
}
