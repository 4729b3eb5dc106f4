#include "core/decide.h"

#include "core/campaign.h"
#include "core/decide_rules.h"
#include "core/size.h"
#include "core/standing.h"

#include <stdlib.h>

enum { FIRST_RECORDS = 4 };

/* One row an event. */
static lks_rule *const rules[LKS_EVENT_COUNT] = {
    [LKS_EVENT_TICK] = lks_decide_tick,
    [LKS_EVENT_STARTED] = lks_decide_started,
    [LKS_EVENT_LIMITS] = lks_decide_limits,
    [LKS_EVENT_CLOCK] = lks_decide_clock,
    [LKS_EVENT_BEAT] = lks_decide_beat,
    [LKS_EVENT_TUPLE] = lks_decide_tuple,
    [LKS_EVENT_TOKEN] = lks_decide_token,
    [LKS_EVENT_ENROLL] = lks_decide_enroll,
    [LKS_EVENT_RENEW] = lks_decide_renew,
    [LKS_EVENT_FLEET] = lks_decide_fleet,
    [LKS_EVENT_HOLD] = lks_decide_hold,
    [LKS_EVENT_RELEASE] = lks_decide_release,
    [LKS_EVENT_REPLACE] = lks_decide_replace,
    [LKS_EVENT_REMOVE] = lks_decide_remove,
    [LKS_EVENT_ALARM_RELEASE] = lks_decide_alarm_release,
    [LKS_EVENT_GRANT] = lks_decide_grant,
    [LKS_EVENT_UNGRANT] = lks_decide_ungrant,
    [LKS_EVENT_API_TOKEN] = lks_decide_api_token,
    [LKS_EVENT_API_TOKEN_GONE] = lks_decide_api_token_gone,
    [LKS_EVENT_API_TOKEN_RENEW] = lks_decide_api_token_renew,
    [LKS_EVENT_LOGIN] = lks_decide_login,
    [LKS_EVENT_LOGOUT] = lks_decide_logout,
    [LKS_EVENT_CERTIFY] = lks_decide_certify,
    [LKS_EVENT_CERTIFY_GONE] = lks_decide_certify_gone,
    [LKS_EVENT_COMMAND] = lks_decide_command,
    [LKS_EVENT_RESULT] = lks_decide_result,
    [LKS_EVENT_OUTBAND] = lks_decide_outband,
    [LKS_EVENT_CONDITION] = lks_decide_condition,
    [LKS_EVENT_DEVIATE] = lks_decide_deviate,
    [LKS_EVENT_DEVIATION_CLOSE] = lks_decide_deviation_close,
    [LKS_EVENT_DEVIATION_AGREE] = lks_decide_deviation_agree,
    [LKS_EVENT_PUBLISH] = lks_decide_publish,
    [LKS_EVENT_STEP] = lks_decide_step,
    [LKS_EVENT_IMAGE] = lks_decide_image,
    [LKS_EVENT_IMAGE_GONE] = lks_decide_image_gone,
    [LKS_EVENT_ARTIFACT] = lks_decide_artifact,
    [LKS_EVENT_ARTIFACT_GONE] = lks_decide_artifact_gone,
    [LKS_EVENT_JOB] = lks_decide_job,
    [LKS_EVENT_OVERRIDE] = lks_decide_override,
    [LKS_EVENT_OBSERVED] = lks_decide_observed,
    [LKS_EVENT_LEAD] = lks_decide_lead,
    [LKS_EVENT_KEY_PIN] = lks_decide_key_pin,
    [LKS_EVENT_KEY_GONE] = lks_decide_key_gone,
    [LKS_EVENT_BUNDLE] = lks_decide_bundle,
    [LKS_EVENT_BUNDLE_REVOKE] = lks_decide_bundle_revoke,
    [LKS_EVENT_ENDPOINT] = lks_decide_endpoint,
    [LKS_EVENT_FLASH] = lks_decide_flash,
    [LKS_EVENT_FLASH_SAVED] = lks_decide_flash_saved,
    [LKS_EVENT_FLASH_ENDED] = lks_decide_flash_ended,
    [LKS_EVENT_FLASH_RESOLVE] = lks_decide_flash_resolve,
    [LKS_EVENT_PROPOSE] = lks_decide_propose,
    [LKS_EVENT_VOTE] = lks_decide_vote,
    [LKS_EVENT_TICKET] = lks_decide_ticket,
    [LKS_EVENT_TICKET_TOLD] = lks_decide_ticket_told,
    [LKS_EVENT_AUDITED] = lks_decide_audited,
    [LKS_EVENT_REVIEW] = lks_decide_review,
    [LKS_EVENT_RESET] = lks_decide_reset,
    [LKS_EVENT_WAIVE] = lks_decide_waive,
    [LKS_EVENT_CHANGE_MOVE] = lks_decide_change_move,
    [LKS_EVENT_FORECAST] = lks_decide_forecast,
    [LKS_EVENT_MEMBER_MOVE] = lks_decide_member_move,
    [LKS_EVENT_MEMBER_SKIP] = lks_decide_member_skip,
    [LKS_EVENT_FREEZE] = lks_decide_freeze,
    [LKS_EVENT_SCHED] = lks_decide_sched,
    [LKS_EVENT_MEASURED] = lks_decide_measured,
    [LKS_EVENT_CADENCE] = lks_decide_cadence,
};

/* Who turned in one pool: within the window up to now, and of others by this decision. */
struct lks_deciding_turns {
    uint32_t count;
    bool looked; /* `count` holds those of before */
    bool raised;
};

void lks_decision_init(struct lks_decision *d)
{
    *d = (struct lks_decision){0};
    lks_arena_init(&d->arena, LKS_DECISION_MEMORY_MAX);
}

void lks_decision_fini(struct lks_decision *d)
{
    lks_arena_fini(&d->arena);
    free(d->records);
    *d = (struct lks_decision){0};
}

enum lks_code lks_decide(const struct lks_state *s, const struct lks_book *book, struct lks_now now,
                         const struct lks_event *event, struct lks_decision *out,
                         struct lks_err *err)
{
    LKS_ASSERT(event->kind < LKS_EVENT_COUNT);
    lks_decision_fini(out);
    lks_decision_init(out);
    struct lks_deciding d = {
        .state = s,
        .book = book,
        .now = now,
        .event = event,
        .out = out,
        .next_alarm = s->next_alarm,
        .next_command = s->next_command,
        .next_flash = s->next_flash,
    };
    rules[event->kind](&d);
    if (out->failed != LKS_OK)
        return lks_fail(err, out->failed, "a decision does not fit into memory");
    return LKS_OK;
}

/* A time by the wall clock as one by the other, or `at` where that is earlier. */
static lks_ms earlier(const struct lks_state *s, lks_ms at, lks_ms wall)
{
    lks_ms left = wall > s->seen.wall ? wall - s->seen.wall : 0;
    lks_ms over = s->seen.mono + left;
    return wall == UINT64_MAX || over < s->seen.mono || over > at ? at : over;
}

lks_ms lks_decide_next(const struct lks_state *s)
{
    lks_ms at = UINT64_MAX, ends = UINT64_MAX;
    uint32_t node = 0;
    const struct lks_standing *st = s->standing;
    if (st->news > 0 || (st->lacking > 0 && st->tried == 0))
        return s->seen.mono;
    if (!lks_heap_peek(&s->deadlines, &at, &node))
        at = UINT64_MAX;
    if (lks_heap_peek(&s->outband_ends, &ends, &node))
        at = earlier(s, at, ends);
    if (s->commands_open > 0)
        at = earlier(s, at, s->commands_due);
    if (s->flashes_open > 0)
        at = earlier(s, at, s->flashes_due);
    if (lks_heap_peek(&s->members_due, &ends, &node))
        at = earlier(s, at, ends);
    for (uint32_t i = 0; i < s->change_count && s->changes_open > 0; i++)
        at = earlier(s, at, lks_change_expires(s, &s->changes[i]));
    for (uint32_t i = 0; i < s->change_count && s->glasses > 0; i++) {
        const struct lks_glass *g = &s->changes[i].glass;
        if (g->at != 0 && g->reviewed == 0 && s->seen.wall <= g->until && g->until < UINT64_MAX)
            at = earlier(s, at, g->until + 1);
    }
    lks_ms look = lks_campaign_next_look(s);
    at = look < at ? look : at;
    if (st->lacking > 0 && st->tried + s->limits.heartbeat < at)
        at = st->tried + s->limits.heartbeat; /* a stack that was not known may be by then */
    return earlier(s, at, s->deviations_due);
}

/* Writing one down -------------------------------------------------------------------------- */

struct lks_record *lks_deciding_add(struct lks_deciding *d, enum lks_record_kind kind)
{
    struct lks_decision *out = d->out;
    if (out->count == out->room && out->failed == LKS_OK) {
        size_t room = out->room == 0 ? FIRST_RECORDS : out->room * 2;
        struct lks_record *records = reallocarray(out->records, room, sizeof(records[0]));
        if (records == NULL) {
            out->failed = LKS_E_NOMEM;
        } else {
            out->records = records;
            out->room = room;
        }
    }
    struct lks_record *r = out->failed == LKS_OK ? &out->records[out->count++] : &d->scratch;
    *r = (struct lks_record){.kind = kind};
    return r;
}

static struct lks_str kept(struct lks_deciding *d, struct lks_str text)
{
    if (text.ptr != NULL)
        return text;
    d->out->failed = LKS_E_NOMEM;
    return LKS_STR("");
}

struct lks_str lks_deciding_text(struct lks_deciding *d, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    struct lks_str text = lks_arena_formatv(&d->out->arena, fmt, ap);
    va_end(ap);
    return kept(d, text);
}

struct lks_str lks_deciding_copy(struct lks_deciding *d, struct lks_str text)
{
    return kept(d, lks_arena_copy(&d->out->arena, text));
}

void lks_deciding_refuse(struct lks_deciding *d, enum lks_code code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    struct lks_str text = lks_arena_formatv(&d->out->arena, fmt, ap);
    va_end(ap);
    d->out->count = 0;
    enum lks_code refused =
        lks_fail(&d->out->refused, code, "%s", text.ptr == NULL ? "" : text.ptr);
    if (text.ptr == NULL)
        d->out->failed = LKS_E_NOMEM;
    (void)refused;
}

enum lks_code lks_deciding_unrefuse(struct lks_deciding *d, size_t count, struct lks_str *why)
{
    struct lks_err *refused = &d->out->refused;
    enum lks_code code = refused->code;
    if (code == LKS_OK)
        return LKS_OK;
    *why = lks_deciding_copy(d, lks_str_from(refused->msg));
    *refused = (struct lks_err){0};
    d->out->count = count;
    return code;
}

void lks_deciding_touch(struct lks_deciding *d, uint32_t node)
{
    d->out->touched.nodes++;
    d->out->touched.gpus += lks_size_gpus(d->state, d->book, node);
}

/* Alarms and MASS --------------------------------------------------------------------------- */

/* The open alarm of that kind and subject, of the state or of this decision; 0: none. */
static uint64_t open_alarm(const struct lks_deciding *d, enum lks_alarm_kind kind,
                           struct lks_str subject)
{
    const struct lks_state *s = d->state;
    for (size_t i = 0; i < d->out->count && d->next_alarm > s->next_alarm; i++) {
        const struct lks_record *r = &d->out->records[i];
        if (r->kind == LKS_RECORD_ALARM && r->alarm.kind == kind &&
            lks_str_eq(r->alarm.subject, subject))
            return r->alarm.id;
    }
    lks_text text = 0;
    if (s->alarms_open == 0 || !lks_intern_find(&s->texts, subject, &text))
        return 0;
    for (uint32_t i = s->alarm_count; i-- > 0;) {
        const struct lks_state_alarm *alarm = &s->alarms[i];
        if (alarm->released == 0 && alarm->kind == kind && alarm->subject == text)
            return alarm->id;
    }
    return 0;
}

/* Half of the room is kept for MASS, of which there is one a pool at the most, and for changes that
 * began without their approvals: a fleet of agents gone mad must not keep these from being seen. */
uint64_t lks_deciding_alarm(struct lks_deciding *d, enum lks_alarm_kind kind,
                            struct lks_str subject, struct lks_str text)
{
    _Static_assert(LKS_STATE_POOLS_MAX < LKS_STATE_ALARMS_MAX / 2, "a MASS of each pool has room");
    uint64_t open = open_alarm(d, kind, subject);
    uint64_t all = d->state->alarms_open + (d->next_alarm - d->state->next_alarm);
    bool kept = kind == LKS_ALARM_MASS || kind == LKS_ALARM_GLASS || kind == LKS_ALARM_REVIEW;
    if (open != 0 || (!kept && all >= LKS_STATE_ALARMS_MAX / 2))
        return open;
    lks_deciding_add(d, LKS_RECORD_ALARM)->alarm = (struct lks_rec_alarm){
        .id = d->next_alarm,
        .kind = kind,
        .subject = subject,
        .text = text,
    };
    return d->next_alarm++;
}

void lks_deciding_alarm_over(struct lks_deciding *d, enum lks_alarm_kind kind,
                             struct lks_str subject, struct lks_str reason)
{
    uint64_t open = open_alarm(d, kind, subject);
    if (open != 0)
        lks_deciding_add(d, LKS_RECORD_ALARM_RELEASED)->alarm_released =
            (struct lks_rec_alarm_released){.id = open, .by = d->event->by, .reason = reason};
}

static struct lks_deciding_turns *turns_of(struct lks_deciding *d, uint32_t pool)
{
    if (d->turns == NULL)
        d->turns = lks_arena_array(&d->out->arena, d->state->pool_count,
                                   sizeof(struct lks_deciding_turns));
    if (d->turns == NULL)
        d->out->failed = LKS_E_NOMEM;
    return d->turns == NULL ? NULL : &d->turns[pool];
}

bool lks_deciding_waits(const struct lks_deciding *d, uint32_t pool)
{
    return lks_state_acts_wait(d->state, pool) ||
           (d->turns != NULL && pool < d->state->pool_count && d->turns[pool].raised);
}

void lks_deciding_turn(struct lks_deciding *d, uint32_t node, const char *what)
{
    const struct lks_state *s = d->state;
    const struct lks_limits *l = &s->limits;
    uint32_t p = s->nodes[node].pool;
    if (p >= s->pool_count || !s->pools[p].known || s->nodes[node].change != 0)
        return; /* what a change has is away on purpose */
    const struct lks_state_pool *pool = &s->pools[p];
    struct lks_deciding_turns *turns = turns_of(d, p);
    if (turns == NULL)
        return;
    if (!turns->looked)
        turns->count = lks_mass_count(&s->mass[p], s->turns, d->now.wall, l->mass_window);
    turns->looked = true;
    turns->count += !lks_mass_counts(&s->turns[node], d->now.wall, l->mass_window);
    if (pool->mass_alarm != 0 || turns->raised ||
        turns->count <= lks_mass_limit(l->mass_floor, l->mass_percent, pool->nodes))
        return;
    struct lks_str name = lks_state_text(s, pool->name);
    struct lks_str text = lks_deciding_text(
        d, "%u of %u nodes became %s within %llu s: automatic acts in this pool wait", turns->count,
        pool->nodes, what, (unsigned long long)(l->mass_window / LKS_SECOND));
    uint64_t alarm = lks_deciding_alarm(d, LKS_ALARM_MASS, name, text);
    lks_deciding_add(d, LKS_RECORD_MASS)->mass = (struct lks_rec_mass){
        .pool = name,
        .what = lks_str_from(what),
        .count = turns->count,
        .of = pool->nodes,
        .alarm = alarm,
    };
    turns->raised = true;
}
