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
const char *const lks_sched_site_verb_words[] = {"jobs",    "signal",       "requeue", "lead",
                                                 "publish", "reservations", "reserve", "unreserve",
                                                 "runs",    "policy",       NULL};
_Static_assert(LKS_COUNT(lks_sched_site_verb_words) == LKS_SCHED_SITE_VERB_COUNT + 1,
               "a name for each");

bool lks_sched_drained(const struct lks_sched_said *said)
{
    return said->known && said->closed && !said->settles && !said->rotation && said->jobs == 0 &&
           said->requests == 0;
}

/* Asking ------------------------------------------------------------------------------------ */

/* The first scheduler of a node's pool that can be asked and offers that; NULL: there is none. */
static const struct lks_drain_named *driven(const struct lks_state *s, uint32_t node,
                                            unsigned offers)
{
    const struct lks_node *n = &s->nodes[node];
    if (!n->placed || n->asset != 0 || n->pool >= s->pool_count)
        return NULL;
    struct lks_str sched = lks_state_text(s, s->pools[n->pool].sched);
    return lks_drain_sched_next(&sched, offers);
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
    if (driven(s, node, 0) == NULL)
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

/* Several schedulers ------------------------------------------------------------------------- */

/* How far from drained it is there; of two that are as far, the first is told of. */
enum distance { DRAINED, CANNOT, BUSY, OPEN, FOREIGN, MISSING };

static enum distance distance_of(const struct lks_sched_said *said)
{
    if (!said->known)
        return MISSING;
    if (said->closed && !said->lockstep)
        return FOREIGN;
    if (!said->closed)
        return OPEN;
    return lks_sched_drained(said) ? DRAINED : BUSY;
}

static struct lks_str tell(char text[LKS_SCHED_TEXT_SIZE], struct lks_str sched,
                           struct lks_str said)
{
    (void)snprintf(text, LKS_SCHED_TEXT_SIZE, "%" LKS_STR_FMT ": %" LKS_STR_FMT, LKS_STR_ARG(sched),
                   LKS_STR_ARG(said));
    return lks_str_from(text);
}

/* No answer of one is none of all: since the longest silence, by the names of all that are silent.
 */
static void combine_silence(const struct lks_sched_part *parts, size_t count,
                            struct lks_sched_space *space, struct lks_event_sched *out)
{
    size_t used = 0;
    *out = (struct lks_event_sched){.unknown = true, .owner = LKS_STR("")};
    for (size_t i = 0; i < count; i++) {
        const struct lks_sched_part *p = &parts[i];
        if (p->failures < LKS_SCHED_UNHEARD)
            continue;
        used += (size_t)snprintf(space->names + used, sizeof(space->names) - used, "%s%.64s",
                                 used > 0 ? "+" : "", p->sched);
        if (out->text.len == 0 || p->since < out->since) {
            out->since = p->since;
            out->text = tell(space->text, lks_str_from(p->sched), p->trouble);
        }
        out->refused = out->refused || p->refused;
    }
    out->sched = lks_str_from(space->names);
}

/* The owner of the drains; empty: one of them is not ours. */
static struct lks_str owner_of(struct lks_str wanted, const struct lks_sched_part *parts,
                               size_t count)
{
    struct lks_str owner = LKS_STR("");
    for (size_t i = 0; i < count; i++) {
        if (parts[i].said == NULL)
            continue;
        if (!parts[i].said->lockstep)
            return LKS_STR("");
        if (owner.len == 0 || lks_str_eq(owner, wanted))
            owner = lks_str_from(parts[i].said->owner);
    }
    return owner;
}

/* Of those that answered. */
static void combine_answers(struct lks_str wanted, struct lks_str mute,
                            const struct lks_sched_part *parts, size_t count,
                            struct lks_sched_space *space, struct lks_event_sched *out)
{
    enum distance worst = mute.len > 0 ? CANNOT : DRAINED;
    struct lks_str text = LKS_STR("lockstep cannot drain nodes there yet"), sched = mute;
    *out = (struct lks_event_sched){.owner = owner_of(wanted, parts, count)};
    for (size_t i = 0; i < count; i++) {
        const struct lks_sched_said *said = parts[i].said;
        if (said == NULL)
            continue;
        enum distance far = distance_of(said);
        out->missing = out->missing || !said->known;
        out->foreign = out->foreign || (said->closed && !said->lockstep);
        out->lost = out->lost || parts[i].lost;
        out->jobs += said->jobs + said->requests;
        if (far > worst || sched.len == 0) {
            worst = far;
            sched = lks_str_from(parts[i].sched);
            text = lks_str_from(said->text);
        }
    }
    out->drained = worst == DRAINED;
    out->sched = sched;
    out->text = tell(space->text, sched, text);
}

/* A single scheduler: each answer is an event. */
static bool tell_alone(uint32_t node, const struct lks_sched_part *part, struct lks_event *out)
{
    if (part->said == NULL || part->failures > 0) {
        *out = (struct lks_event){.kind = LKS_EVENT_SCHED,
                                  .node = node,
                                  .sched = {.unknown = true,
                                            .refused = part->refused,
                                            .since = part->since,
                                            .owner = LKS_STR(""),
                                            .text = part->trouble}};
        return part->failures >= LKS_SCHED_UNHEARD;
    }
    lks_sched_event(node, part->said, out);
    out->sched.lost = part->lost;
    return true;
}

bool lks_sched_combine(uint32_t node, struct lks_str wanted, struct lks_str mute,
                       const struct lks_sched_part *parts, size_t count,
                       struct lks_sched_space *space, struct lks_event *out)
{
    bool silent = false, fails = false, missing = count == 0, worse = false;
    if (count == 1 && mute.len == 0)
        return tell_alone(node, &parts[0], out);
    *out = (struct lks_event){.kind = LKS_EVENT_SCHED, .node = node};
    for (size_t i = 0; i < count; i++) {
        silent = silent || parts[i].failures >= LKS_SCHED_UNHEARD;
        fails = fails || parts[i].failures > 0;
        missing = missing || parts[i].said == NULL || (wanted.len > 0 && !parts[i].counts);
        worse = worse || (parts[i].worse && parts[i].said != NULL);
    }
    if (silent && !worse) {
        combine_silence(parts, count, space, &out->sched);
        return true;
    }
    combine_answers(wanted, mute, parts, count, space, &out->sched);
    out->sched.partial = silent || missing;
    return worse || (!missing && !(fails && out->sched.drained));
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

bool lks_sched_advertises(const struct lks_state *s, uint32_t node, struct lks_str sched)
{
    const struct lks_drain_named *asked = driven(s, node, LKS_DRAIN_ADVERTISES);
    return asked == NULL || lks_str_is(sched, asked->name);
}

bool lks_sched_advertised(const struct lks_state *s, uint32_t node,
                          const struct lks_sched_said *said, struct lks_event *out)
{
    bool known = said->known && driven(s, node, LKS_DRAIN_ADVERTISES) != NULL;
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

static bool outage(const struct lks_state *s, uint32_t node, struct lks_str why,
                   struct lks_event *out)
{
    bool asked = driven(s, node, 0) != NULL;
    *out = (struct lks_event){
        .kind = LKS_EVENT_OUTAGE, .node = node, .outage = asked ? why : LKS_STR("")};
    return lks_sched_outage_new(s, node, out->outage);
}

bool lks_sched_outage_of(const struct lks_state *s, uint32_t node,
                         const struct lks_sched_part *parts, size_t count,
                         struct lks_sched_space *space, struct lks_event *out)
{
    bool all = true;
    for (size_t i = 0; i < count; i++) {
        const struct lks_sched_said *said = parts[i].said;
        all = all && said != NULL;
        if (said == NULL || !said->known || said->outage[0] == '\0')
            continue;
        struct lks_str why = lks_str_from(said->outage);
        return outage(s, node,
                      count == 1 ? why : tell(space->text, lks_str_from(parts[i].sched), why), out);
    }
    return all && outage(s, node, LKS_STR(""), out);
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
    bool outage = lks_sched_outage_new(s, node, LKS_STR("")) && driven(s, node, 0) == NULL;
    if (!outage && ((n->scheduler_gres == 0 && n->scheduler_state == 0) ||
                    driven(s, node, LKS_DRAIN_ADVERTISES) != NULL))
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
