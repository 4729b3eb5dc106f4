/* Exceptions that people allow: owned, with an end, and nagged about. */
#include "base/near.h"
#include "core/conform/conform.h"
#include "core/conform/verdict.h"
#include "core/governance/delta.h"
#include "core/registry/book.h"
#include "core/rows/alarm.h"
#include "core/rows/deviation.h"
#include "core/rows/pool.h"
#include "core/rows/verdict.h"
#include "core/rules/decide_rules.h"
#include "core/state/access.h"
#include "core/state/node_status.h"
#include "core/state/state.h"

#include <inttypes.h>

/* Members as people give them, and as programs do. */
#define WHAT  "--what (subject in the API)"
#define UNTIL "--until (expires in the API)"

enum { LIFE_MAX_DAYS = 90, OWNER_BYTES_MAX = 256, VALUE_BYTES_MAX = 512 };

#define DAY (24 * UINT64_C(3600) * LKS_SECOND)

/* Adding ------------------------------------------------------------------------------------ */

/* Beside components, a deviation may be of a setting or of a count of devices. */
static const char *const others[] = {"settings.", "devices.", "tuning.env."};

/* With the component that is meant, or the reading whose name was written without its start. */
static void refuse_subject(struct lks_deciding *d, struct lks_str subject, struct lks_str name)
{
    char hint[LKS_NEAR_HINT_SIZE];
    struct lks_near near = lks_near_to(name);
    for (size_t i = 0; i < d->book->facts->components.count; i++)
        lks_near_try(&near, d->book->facts->components.rows[i].name);
    for (size_t i = 0; i < LKS_COUNT(others) && near.best.len == 0; i++) {
        near = lks_near_to(lks_decision_text(d, "%s%" LKS_STR_FMT, others[i], LKS_STR_ARG(name)));
        for (size_t j = 0; j < lks_reading_kind_count; j++)
            lks_near_try(&near, lks_str_from(lks_reading_kinds[j].name));
    }
    lks_decision_refuse(d, LKS_E_INVALID,
                        WHAT ": '%" LKS_STR_FMT
                             "' is no component and no setting; * stands for all of them%s",
                        LKS_STR_ARG(subject), lks_near_hint(&near, hint));
}

/* The component of "driver.build.srcversion" or "firmware/nic[PN]" is known, or it is a setting or
 * a count of devices. */
static bool check_subject(struct lks_deciding *d, struct lks_str subject)
{
    static const char *const ends[] = {".modules", ".build.sha256", ".build.build_id",
                                       ".build.srcversion"};
    struct lks_str name, rest;
    for (size_t i = 0; i < LKS_COUNT(others); i++) {
        if (lks_str_starts(subject, others[i]) && subject.len > strlen(others[i]))
            return true;
    }
    (void)lks_str_cut(subject, '[', &name, &rest);
    for (size_t i = 0; i < LKS_COUNT(ends); i++) {
        if (lks_str_ends(name, ends[i]))
            name.len -= strlen(ends[i]);
    }
    if (lks_str_is(subject, "*") || lks_facts_component(d->book->facts, name) != NULL)
        return true;
    refuse_subject(d, subject, name);
    return false;
}

static bool check_end(struct lks_deciding *d, lks_ms expires)
{
    if (expires <= d->now.wall)
        lks_decision_refuse(d, LKS_E_INVALID, UNTIL ": that time has passed");
    else if (expires - d->now.wall > LIFE_MAX_DAYS * DAY)
        lks_decision_refuse(d, LKS_E_INVALID,
                            UNTIL ": at most %d days from now; what has to stay belongs in a stack",
                            LIFE_MAX_DAYS);
    else
        return true;
    return false;
}

/* In production that enforces, an approver has to agree before it counts. */
static bool needs_approver(const struct lks_deciding *d, const struct lks_hostlist *hosts)
{
    const struct lks_state *s = d->state;
    for (size_t i = 0; i < hosts->count; i++) {
        uint32_t pool = s->nodes[lks_state_node(s, hosts->names[i])].pool;
        if (pool < s->pool_count &&
            lks_delta_production(d->book->facts, lks_state_text(s, s->pools[pool].posture)) &&
            lks_str_is(lks_state_text(s, s->pools[pool].enforce), "on"))
            return true;
    }
    return false;
}

static bool is_owner(const struct lks_deciding *d, struct lks_str approver)
{
    return lks_access_same_person(approver, d->event->deviate.owner);
}

/* A note of the person who adds it; what counts is the approver's own act. */
static bool check_approver(struct lks_deciding *d)
{
    struct lks_str approver = d->event->deviate.approver;
    if (approver.len > 0 && !lks_decision_line(d, "approver", approver, OWNER_BYTES_MAX))
        return false;
    if (approver.len > 0 && lks_access_same_person(approver, d->event->by))
        lks_decision_refuse(d, LKS_E_REFUSED,
                            "approver: a person cannot approve their own "
                            "deviation");
    else if (approver.len > 0 && is_owner(d, approver))
        lks_decision_refuse(d, LKS_E_REFUSED,
                            "approver: '%" LKS_STR_FMT "' is the owner, and another person has "
                            "to approve",
                            LKS_STR_ARG(approver));
    else
        return true;
    return false;
}

/* Whether the record of one more would drop one that holds: of a full list, those of the older half
 * go that ended. */
static bool is_full(const struct lks_state *s)
{
    if (s->deviation_count < LKS_STATE_DEVIATIONS_MAX)
        return false;
    for (uint32_t i = 0; i < s->deviation_count / 2; i++) {
        if (s->deviations[i].ended != 0)
            return false;
    }
    return true;
}

static bool check_room(struct lks_deciding *d, size_t hosts)
{
    const struct lks_state *s = d->state;
    uint32_t open = 0;
    uint64_t named = 0;
    for (uint32_t i = 0; i < s->deviation_count; i++) {
        open += s->deviations[i].ended == 0;
        named += s->deviations[i].ended == 0 ? s->deviations[i].count : 0;
    }
    if (!lks_decision_space(d, "deviations that hold", open, LKS_STATE_DEVIATIONS_MAX))
        return false;
    if (is_full(s)) {
        lks_decision_refuse(d, LKS_E_LIMIT,
                            "deviations: the older half of %d all hold: close one that is no "
                            "longer needed",
                            LKS_STATE_DEVIATIONS_MAX);
        return false;
    }
    if (named + hosts <= LKS_STATE_DEVIATE_MAX)
        return true;
    lks_decision_refuse(d, LKS_E_LIMIT,
                        "nodes: these are %zu nodes, and deviations that hold already name "
                        "%" PRIu64 " of at most %d: close one that is no longer needed",
                        hosts, named, LKS_STATE_DEVIATE_MAX);
    return false;
}

void lks_decide_deviate(struct lks_deciding *d)
{
    const struct lks_event *e = d->event;
    struct lks_hostlist hosts = {0};
    struct lks_str folded;
    if (!lks_decision_reason(d) ||
        !lks_decision_line(d, "owner", e->deviate.owner, OWNER_BYTES_MAX) ||
        !lks_decision_line(d, WHAT, e->deviate.subject, LKS_READING_NAME_MAX) ||
        (e->deviate.value.len > 0 &&
         !lks_decision_line(d, "value", e->deviate.value, VALUE_BYTES_MAX)) ||
        !check_subject(d, e->deviate.subject) || !check_end(d, e->deviate.expires) ||
        !lks_decision_few(d, &hosts) || !check_approver(d) || !check_room(d, hosts.count) ||
        !lks_decision_fold(d, hosts.names, hosts.count, &folded))
        return;
    lks_decision_add(d, LKS_RECORD_DEVIATION)->deviation = (struct lks_rec_deviation){
        .id = d->state->next_deviation,
        .hosts = folded,
        .subject = e->deviate.subject,
        .value = e->deviate.value,
        .owner = e->deviate.owner,
        .reason = lks_str_trim(e->reason),
        .approver = e->deviate.approver,
        .expires = e->deviate.expires,
        .by = e->by,
        .waits = needs_approver(d, &hosts),
        .minters = lks_decision_backing(d).minters,
    };
}

/* Agreeing ---------------------------------------------------------------------------------- */

static const struct lks_deviation *find_open(struct lks_deciding *d)
{
    unsigned long long id = d->event->deviation;
    const struct lks_deviation *dev = lks_state_deviation(d->state, id);
    if (dev == NULL)
        lks_decision_refuse(d, LKS_E_NOT_FOUND, "no deviation %llu; see lockstep deviation ls", id);
    else if (dev->ended != 0)
        lks_decision_refuse(d, LKS_E_REFUSED, "deviation %llu ended already", id);
    else
        return dev;
    return NULL;
}

/* Another person than the one who added it and the one who owns it, and an approver of all its
 * nodes. */
static bool may_agree(struct lks_deciding *d, const struct lks_deviation *dev)
{
    const struct lks_state *s = d->state;
    struct lks_str by = d->event->by;
    if (by.len == 0 || lks_access_same_person(by, lks_state_text(s, dev->by)) ||
        lks_access_same_person(by, lks_state_text(s, dev->owner))) {
        lks_decision_refuse(d, LKS_E_REFUSED,
                            "%" LKS_STR_FMT
                            " added deviation %llu or owns it: another person has to approve it",
                            LKS_STR_ARG(by), (unsigned long long)dev->id);
        return false;
    }
    struct lks_backing added = {lks_state_text(s, dev->by), lks_state_text(s, dev->minters)};
    struct lks_backing owner = {.by = lks_state_text(s, dev->owner)};
    struct lks_str act =
        lks_decision_text(d, "approve deviation %llu", (unsigned long long)dev->id);
    if (!lks_decision_apart(d, added, act) || !lks_decision_apart(d, owner, act))
        return false;
    struct lks_sight sight = lks_access_sight_by(s, by, d->event->credential, LKS_MAY_APPROVE);
    for (uint32_t i = 0; i < dev->count; i++) {
        if (lks_access_sees(s, &sight, dev->nodes[i]))
            continue;
        lks_decision_refuse(d, LKS_E_DENIED, "%" LKS_STR_FMT " may not approve for %" LKS_STR_FMT,
                            LKS_STR_ARG(by), LKS_STR_ARG(lks_state_name(s, dev->nodes[i])));
        return false;
    }
    return true;
}

/* The approver's name that a deviation is added with is only a note. This is the approver's own
 * act. */
void lks_decide_deviation_agree(struct lks_deciding *d)
{
    const struct lks_deviation *dev = lks_decision_reason(d) ? find_open(d) : NULL;
    if (dev == NULL || !may_agree(d, dev) || dev->agreed != 0)
        return;
    lks_decision_add(d, LKS_RECORD_DEVIATION_AGREED)->deviation_agreed =
        (struct lks_rec_deviation_agreed){.id = dev->id,
                                          .by = d->event->by,
                                          .reason = lks_str_trim(d->event->reason),
                                          .credential = d->event->credential};
}

/* Ending ------------------------------------------------------------------------------------ */

static void end(struct lks_deciding *d, const struct lks_deviation *dev, struct lks_str reason)
{
    lks_decision_add(d, LKS_RECORD_DEVIATION_ENDED)->deviation_ended =
        (struct lks_rec_deviation_ended){.id = dev->id, .by = d->event->by, .reason = reason};
}

void lks_decide_deviation_close(struct lks_deciding *d)
{
    const struct lks_deviation *dev = lks_decision_reason(d) ? find_open(d) : NULL;
    if (dev != NULL)
        end(d, dev, lks_str_trim(d->event->reason));
}

/* Whether something that it names is wrong on the node, and this is what covers it. */
static bool uses(const struct lks_deciding *d, uint32_t node, uint64_t id)
{
    const struct lks_state_verdict *v = lks_state_verdict(d->state, node);
    struct lks_str lines = v != NULL ? lks_state_text(d->state, v->wrong) : LKS_STR("");
    struct lks_wrong wrong;
    while (lks_verdict_wrong_next(&lines, &wrong)) {
        if (!lks_str_is(wrong.cause, lks_conform_cause_name(LKS_CAUSE_UNMEASURED)) &&
            lks_node_status_covered(d->state, node, wrong.subject, wrong.actual) == id)
            return true;
    }
    return false;
}

static uint32_t in_use(const struct lks_deciding *d, const struct lks_deviation *dev)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < dev->count; i++)
        count += lks_bitset_test(&d->state->standing->deviates, dev->nodes[i]) &&
                 uses(d, dev->nodes[i], dev->id);
    return count;
}

/* Whether there was an alarm about it before, open or not. */
static bool was_told(const struct lks_deciding *d, struct lks_str subject)
{
    const struct lks_state *s = d->state;
    lks_text text = 0;
    if (!lks_intern_find(&s->texts, subject, &text))
        return false;
    for (uint32_t i = s->alarm_count; i-- > 0;) {
        if (s->alarms[i].kind == LKS_ALARM_DEVIATION && s->alarms[i].subject == text)
            return true;
    }
    return false;
}

static void tell(struct lks_deciding *d, const struct lks_deviation *dev, struct lks_str subject,
                 const char *how)
{
    uint32_t nodes = in_use(d, dev);
    char many[LKS_COUNT_TEXT_SIZE];
    if (nodes == 0 || was_told(d, subject))
        return;
    (void)lks_decision_alarm(
        d, LKS_ALARM_DEVIATION, subject,
        lks_decision_text(d, "%" LKS_STR_FMT " of %" LKS_STR_FMT " %s, and %s still need%s it",
                          LKS_STR_ARG(lks_state_text(d->state, dev->subject)),
                          LKS_STR_ARG(lks_state_text(d->state, dev->owner)), how,
                          lks_str_count_text(nodes, "node", many), nodes == 1 ? "s" : ""));
}

/* Those that expired end; those with less than a day to go are told of, once, unless they were
 * never given for longer. */
void lks_decide_deviation_tick(struct lks_deciding *d)
{
    const struct lks_state *s = d->state;
    for (uint32_t i = 0; i < s->deviation_count; i++) {
        const struct lks_deviation *dev = &s->deviations[i];
        unsigned long long id = dev->id;
        if (dev->ended != 0 || dev->expires > d->now.wall + DAY)
            continue;
        if (d->out->count >= LKS_DECISION_SLICE) {
            d->out->more = true;
            return;
        }
        if (dev->expires > d->now.wall) {
            if (dev->expires - dev->added > DAY)
                tell(d, dev, lks_decision_text(d, "deviation %llu", id), "ends within a day");
            continue;
        }
        tell(d, dev, lks_decision_text(d, "deviation %llu, ended", id), "ended");
        end(d, dev, LKS_STR("it expired"));
    }
}
