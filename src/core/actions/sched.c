#include "core/actions/sched.h"

#include "core/conform/verdict.h"
#include "core/decision/event.h"
#include "core/plan/drain.h"
#include "core/rows/alarm.h"
#include "core/rows/flash.h"
#include "core/rows/pool.h"
#include "core/rows/verdict.h"
#include "core/state/node_status.h"
#include "core/state/state.h"

#include <inttypes.h>
#include <stdio.h>

const char *const lks_sched_odd_words[] = {"", "the node registered with less", "jobs hold more",
                                           NULL};
const char *const lks_sched_verb_words[] = {"drain", "look", "release", NULL};
const char *const lks_sched_site_verb_words[] = {
    "jobs", "signal", "requeue", "lead", "publish", "reservations", "reserve", "unreserve", NULL};
_Static_assert(LKS_COUNT(lks_sched_site_verb_words) == LKS_SCHED_SITE_VERB_COUNT + 1,
               "a name for each");

bool lks_sched_drained(const struct lks_sched_said *said)
{
    return said->known && said->closed && !said->rotation && said->jobs == 0 && said->requests == 0;
}

/* Asking ------------------------------------------------------------------------------------ */

/* The pool of a node whose scheduler can be asked; NULL: there is none. */
static const struct lks_state_pool *driven(const struct lks_state *s, uint32_t node)
{
    const struct lks_node *n = &s->nodes[node];
    if (!n->placed || n->asset != 0 || n->pool >= s->pool_count)
        return NULL;
    const struct lks_state_pool *pool = &s->pools[n->pool];
    return lks_drain_sched(lks_state_text(s, pool->sched)) == LKS_DRAIN_DRIVEN ? pool : NULL;
}

struct lks_sched_cause lks_sched_cause(const struct lks_state *s, uint32_t node,
                                       char space[LKS_SCHED_HOLD_SIZE])
{
    const struct lks_node *n = &s->nodes[node];
    if (n->drained_by != 0 || !n->held)
        return (struct lks_sched_cause){.owner = lks_state_text(s, n->drained_by),
                                        .by = LKS_STR(""),
                                        .reason = lks_state_text(s, n->drained_reason),
                                        .row = n->drained_row};
    snprintf(space, LKS_SCHED_HOLD_SIZE, "hold:%" PRIu64, n->held_row);
    return (struct lks_sched_cause){.owner = lks_str_from(space),
                                    .by = lks_state_text(s, n->held_by),
                                    .reason = lks_state_text(s, n->held_reason),
                                    .row = n->held_row};
}

/* Jobs are waited for at a hold: only a change may have one stopped behind its next checkpoint. */
static bool may_stop(const struct lks_state *s, const struct lks_facts *facts, uint32_t node)
{
    const struct lks_node *n = &s->nodes[node];
    struct lks_str posture = lks_state_text(s, s->pools[n->pool].posture);
    return n->drained_by != 0 && lks_drain_rule(facts, posture).way == LKS_DRAIN_JOB;
}

/* Staging beside what runs, and its end, disturb no job. */
static bool is_updated(const struct lks_state *s, uint32_t node)
{
    const struct lks_state_flash *f = lks_state_flashing(s, node);
    return f != NULL && f->act != LKS_BMC_STAGE && f->act != LKS_BMC_ABORT;
}

/* A command to the node, or an update of it or of an asset of its domain, is not finished. What
 * people do by hand may outlast their hold, and no job may start beside it. */
static bool is_worked_on(const struct lks_state *s, uint32_t node)
{
    const struct lks_node_status *st = s->standing;
    bool busy = s->nodes[node].pending > 0 || is_updated(s, node);
    if (st->domain[node] == 0)
        return busy;
    for (uint32_t n = st->domain_next[node]; n != node && !busy; n = st->domain_next[n])
        busy = s->nodes[n].asset != 0 && is_updated(s, n);
    return busy;
}

bool lks_sched_next(const struct lks_state *s, const struct lks_facts *facts, uint32_t node,
                    const struct lks_sched_said *last, char space[LKS_SCHED_HOLD_SIZE],
                    struct lks_sched_wish *out)
{
    if (driven(s, node) == NULL)
        return false;
    const struct lks_sched_cause cause = lks_sched_cause(s, node, space);
    bool wanted = cause.owner.len > 0;
    *out = (struct lks_sched_wish){
        .verb = LKS_SCHED_LOOK,
        .node = lks_state_name(s, node),
        .owner = cause.owner,
        .from = LKS_STR(""),
        .by = cause.by,
        .reason = cause.reason,
        .row = cause.row,
        .checkpoint = may_stop(s, facts, node),
        .revision = last != NULL ? last->revision : 0,
        .dialect = last != NULL ? last->dialect : 0,
    };
    if (last == NULL || !last->known)
        return last == NULL || wanted;
    bool ours = last->closed && last->lockstep;
    if (ours && !wanted) {
        out->verb = LKS_SCHED_RELEASE;
        out->owner = lks_str_from(last->owner);
    } else if (ours && !lks_str_is(cause.owner, last->owner)) {
        out->verb = LKS_SCHED_DRAIN;
        out->from = lks_str_from(last->owner);
    } else if (wanted && !ours) {
        out->verb = LKS_SCHED_DRAIN;
    }
    if (out->verb == LKS_SCHED_RELEASE && is_worked_on(s, node))
        return false; /* it is released once that is finished */
    return out->verb != LKS_SCHED_LOOK || wanted;
}

/* Telling ----------------------------------------------------------------------------------- */

void lks_sched_event(uint32_t node, const struct lks_sched_said *said, struct lks_event *out)
{
    *out = (struct lks_event){
        .kind = LKS_EVENT_SCHED,
        .node = node,
        .sched = {.drained = lks_sched_drained(said),
                  .missing = !said->known,
                  .foreign = said->closed && !said->lockstep,
                  .jobs = said->jobs + said->requests,
                  .owner = lks_str_from(said->lockstep ? said->owner : ""),
                  .text = lks_str_from(said->text)},
    };
}

/* Advertised -------------------------------------------------------------------------------- */

static bool advertised(const struct lks_state *s, uint32_t node, struct lks_str gres,
                       struct lks_str state, struct lks_event *out)
{
    const struct lks_node *n = &s->nodes[node];
    *out = (struct lks_event){
        .kind = LKS_EVENT_ADVERTISED, .node = node, .advertised = {.gres = gres, .state = state}};
    return n->placed && n->asset == 0 &&
           (!lks_str_eq(lks_state_text(s, n->scheduler_gres), gres) ||
            !lks_str_eq(lks_state_text(s, n->scheduler_state), state));
}

bool lks_sched_advertised(const struct lks_state *s, uint32_t node,
                          const struct lks_sched_said *said, struct lks_event *out)
{
    bool known = said->known && driven(s, node) != NULL;
    return advertised(s, node, lks_str_from(known ? said->gres : ""),
                      lks_str_from(known ? lks_sched_odd_words[said->odd] : ""), out);
}

bool lks_sched_outage_new(const struct lks_state *s, uint32_t node, struct lks_str outage)
{
    const struct lks_node *n = &s->nodes[node];
    bool noted = (n->notes >> LKS_NOTE_OUTAGE & 1) != 0;
    bool may_start = n->placed && n->asset == 0 && n->drained_by == 0;
    return outage.len > 0 ? !noted && may_start : noted;
}

bool lks_sched_outage(const struct lks_state *s, uint32_t node, const struct lks_sched_said *said,
                      struct lks_event *out)
{
    bool out_of_use = said->known && driven(s, node) != NULL;
    *out = (struct lks_event){.kind = LKS_EVENT_OUTAGE,
                              .node = node,
                              .outage = lks_str_from(out_of_use ? said->outage : "")};
    return lks_sched_outage_new(s, node, out->outage);
}

bool lks_sched_gres_differs(const struct lks_state *s, uint32_t node)
{
    const struct lks_state_verdict *v = lks_state_verdict(s, node);
    struct lks_str lines = v != NULL ? lks_state_text(s, v->wrong) : LKS_STR("");
    struct lks_wrong wrong;
    if (s->nodes[node].scheduler_gres == 0)
        return false;
    while (lks_verdict_wrong_next(&lines, &wrong)) {
        if (lks_str_starts(wrong.subject, "scheduler."))
            return true;
    }
    return false;
}

bool lks_sched_withdrawn(const struct lks_state *s, uint32_t node, struct lks_event *out)
{
    const struct lks_node *n = &s->nodes[node];
    bool outage = lks_sched_outage_new(s, node, LKS_STR(""));
    if ((!outage && n->scheduler_gres == 0 && n->scheduler_state == 0) || driven(s, node) != NULL)
        return false;
    if (!outage)
        return advertised(s, node, LKS_STR(""), LKS_STR(""), out);
    *out = (struct lks_event){.kind = LKS_EVENT_OUTAGE, .node = node};
    return true;
}

bool lks_sched_alarm_next(const struct lks_state *s, enum lks_alarm_kind kind, uint32_t *at,
                          struct lks_str *subject)
{
    while (s->alarms_open > 0 && *at < s->alarm_count) {
        const struct lks_state_alarm *a = &s->alarms[(*at)++];
        if (a->released != 0 || a->kind != kind)
            continue;
        *subject = lks_state_text(s, a->subject);
        return true;
    }
    return false;
}

bool lks_sched_alarm_open(const struct lks_state *s, enum lks_alarm_kind kind,
                          struct lks_str subject)
{
    uint32_t at = 0;
    struct lks_str open;
    while (lks_sched_alarm_next(s, kind, &at, &open)) {
        if (lks_str_eq(open, subject))
            return true;
    }
    return false;
}

bool lks_sched_lost(enum lks_sched_verb verb, const struct lks_sched_said *before,
                    const struct lks_sched_said *now)
{
    return verb != LKS_SCHED_RELEASE && before->closed && before->lockstep &&
           !(now->closed && now->lockstep);
}
