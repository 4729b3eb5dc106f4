/* Pools that are behind what is released for too long: people are told once, and a change is
 * drafted. It has to be approved and started as any other, and goes when it is of no use any more.
 */
#include "core/exposure/cadence.h"
#include "core/rows/alarm.h"
#include "core/rows/change.h"
#include "core/rows/pool.h"
#include "core/rows/registry.h"
#include "core/rules/decide_rules.h"
#include "core/state/state.h"

#define DAY ((lks_ms)24 * 3600 * LKS_SECOND)

static struct lks_str text_of(const struct lks_deciding *d, lks_text text)
{
    return lks_state_text(d->state, text);
}

/* One look at all pools. */
struct look {
    struct lks_deciding *d;
    struct lks_pool_classes classes;
    uint32_t *alarms; /* by pool: the last there was: place + 1; 0: none. In the decision's arena */
};

static void look_fini(struct look *l)
{
    lks_cadence_classes_fini(&l->classes);
}

static bool look_init(struct look *l)
{
    const struct lks_state *s = l->d->state;
    struct lks_err err = {0};
    l->alarms = lks_arena_array(&l->d->out->arena, (size_t)s->pool_count + 1, sizeof(*l->alarms));
    if (l->alarms == NULL || lks_cadence_classes_all(&l->classes, s, &err) != LKS_OK) {
        l->d->out->failed = LKS_E_NOMEM;
        return false;
    }
    for (uint32_t i = 0; i < s->alarm_count; i++) {
        uint32_t pool = s->alarms[i].kind != LKS_ALARM_CADENCE
                            ? UINT32_MAX
                            : lks_state_pool(s, lks_state_text(s, s->alarms[i].subject));
        if (pool != UINT32_MAX)
            l->alarms[pool] = i + 1;
    }
    return true;
}

/* Telling ----------------------------------------------------------------------------------- */

/* The last one about the pool; NULL: none. */
static const struct lks_state_alarm *last_alarm(const struct look *l, uint32_t pool)
{
    uint32_t at = l->alarms[pool];
    return at != 0 ? &l->d->state->alarms[at - 1] : NULL;
}

static void release(struct lks_deciding *d, const struct lks_state_alarm *alarm,
                    struct lks_str reason)
{
    lks_decision_add(d, LKS_RECORD_ALARM_RELEASED)->alarm_released =
        (struct lks_rec_alarm_released){
            .id = alarm->id, .by = LKS_STR(LKS_CADENCE_BY), .reason = reason};
}

/* A person was told of this stack, or of a later one, and dealt with it. */
static bool is_told(const struct lks_deciding *d, const struct lks_state_alarm *last,
                    const struct lks_cadence *c)
{
    return last != NULL && last->released != 0 && last->raised >= c->behind.to->stepped &&
           !lks_str_is(text_of(d, last->by), LKS_CADENCE_BY);
}

/* "train (hgx-h200-8) is behind h200-train 2026.11 since 2026-07-01, and its limit is 90 days". */
static struct lks_str about(struct lks_deciding *d, const struct lks_cadence *c)
{
    const struct lks_state_stack *to = c->to != NULL ? c->to : c->behind.to;
    const struct lks_stack *stack = lks_book_stack(d->book, text_of(d, to->digest));
    struct lks_str version = stack != NULL ? stack->version : LKS_STR("");
    char day[LKS_DAY_TEXT_SIZE], limit[LKS_COUNT_TEXT_SIZE];
    return lks_decision_text(
        d,
        "%" LKS_STR_FMT " (%" LKS_STR_FMT ") is behind %" LKS_STR_FMT "%s%" LKS_STR_FMT
        " since %s, and its limit is %s",
        LKS_STR_ARG(text_of(d, d->state->pools[c->pool].name)), LKS_STR_ARG(text_of(d, c->class)),
        LKS_STR_ARG(text_of(d, to->name)), version.len > 0 ? " " : "", LKS_STR_ARG(version),
        lks_time_day_text(lks_time_day_of((int64_t)(c->behind.since / LKS_SECOND)), day),
        lks_str_count_text(c->limit / DAY, "day", limit));
}

/* Once; and once more where it is known since why no change is drafted. */
static void tell(const struct look *l, const struct lks_cadence *c, struct lks_str why)
{
    struct lks_deciding *d = l->d;
    const struct lks_state_alarm *last = last_alarm(l, c->pool);
    struct lks_str name = text_of(d, d->state->pools[c->pool].name);
    bool open = last != NULL && last->released == 0;
    if ((open && why.len == 0) || is_told(d, last, c))
        return;
    struct lks_str text = about(d, c);
    if (why.len > 0)
        text = lks_decision_text(d, "%" LKS_STR_FMT "; no change is drafted: %" LKS_STR_FMT,
                                 LKS_STR_ARG(text), LKS_STR_ARG(why));
    if (!open) {
        (void)lks_decision_alarm(d, LKS_ALARM_CADENCE, name, text);
    } else if (!lks_str_eq(text_of(d, last->text), text)) {
        release(d, last, LKS_STR("there is more to say"));
        lks_decision_add(d, LKS_RECORD_ALARM)->alarm = (struct lks_rec_alarm){
            .id = d->next_alarm++, .kind = LKS_ALARM_CADENCE, .subject = name, .text = text};
    }
}

static void caught_up(const struct look *l, const struct lks_cadence *c)
{
    const struct lks_state_alarm *last = last_alarm(l, c->pool);
    if (last != NULL && last->released == 0)
        release(l->d, last,
                c->behind.to == NULL ? LKS_STR("nothing that is released supersedes what it runs")
                                     : LKS_STR("it is within its limit"));
}

/* Drafting ---------------------------------------------------------------------------------- */

/* Why a draft is of no use any more; NULL: it is. One that people voted on is theirs, until it
 * would do nothing. */
static const char *obsolete(const struct lks_deciding *d, const struct lks_state_change *change,
                            const struct lks_cadence *c)
{
    if (c->behind.to == NULL || d->state->pools[c->pool].stack_digest == change->stack)
        return "the pool caught up";
    if (change->vote_count > 0)
        return NULL;
    if (!c->past)
        return "the pool is within its limit";
    return c->to == NULL || c->to->digest != change->stack ? "another stack is the newest by now"
                                                           : NULL;
}

static void withdraw(struct lks_deciding *d, const struct lks_cadence *c)
{
    const struct lks_state *s = d->state;
    for (uint32_t i = 0; i < s->change_count; i++) {
        const struct lks_state_change *change = &s->changes[i];
        const char *why = lks_cadence_is_draft(s, change, c->pool) ? obsolete(d, change, c) : NULL;
        if (why != NULL)
            lks_decision_add(d, LKS_RECORD_CHANGE_MOVED)->change_moved =
                (struct lks_rec_change_moved){.change = change->id,
                                              .state = LKS_CHANGE_ABORTED,
                                              .by = LKS_STR(LKS_CADENCE_BY),
                                              .reason = lks_str_from(why)};
    }
}

/* As if a person proposed it; a plan that cannot be made is no refusal of this decision. */
static void draft(const struct look *l, const struct lks_cadence *c)
{
    struct lks_deciding *d = l->d, inner = *d;
    const struct lks_event asks = {
        .kind = LKS_EVENT_PROPOSE,
        .by = LKS_STR(LKS_CADENCE_BY),
        .reason = about(d, c),
        .propose = {.wish = {.kind = LKS_CHANGE_STACK,
                             .pool = text_of(d, d->state->pools[c->pool].name),
                             .stack = text_of(d, c->to->digest)},
                    .known = d->event->cadence.known},
    };
    struct lks_str why = {"", 0};
    size_t before = d->out->count;
    inner.event = &asks;
    lks_decide_propose(&inner);
    (void)lks_decision_unrefuse(d, before, &why);
    tell(l, c, why);
}

static void look_at(const struct look *l, uint32_t pool)
{
    struct lks_deciding *d = l->d;
    struct lks_cadence c = lks_cadence_of(d->state, d->book, &l->classes, pool, d->now.wall);
    withdraw(d, &c);
    if (!c.past)
        caught_up(l, &c);
    else if (c.to == NULL)
        tell(l, &c, lks_str_from(lks_cadence_waits(d->state, d->book, &c, d->now.wall)));
    else if (pool == d->event->cadence.pool &&
             lks_cadence_waits(d->state, d->book, &c, d->now.wall) == NULL)
        draft(l, &c);
    else
        tell(l, &c, LKS_STR(""));
}

void lks_decide_cadence(struct lks_deciding *d)
{
    LKS_CLEANUP(look_fini) struct look l = {.d = d};
    if (!look_init(&l))
        return;
    for (uint32_t p = 0; p < d->state->pool_count && d->out->failed == LKS_OK; p++) {
        if (d->state->pools[p].known)
            look_at(&l, p);
    }
}
