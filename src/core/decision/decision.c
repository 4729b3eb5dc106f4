#include "core/decision/decision.h"

#include "base/heap.h"
#include "base/intern.h"
#include "base/vec.h"
#include "core/decision/size.h"
#include "core/rows/alarm.h"
#include "core/rows/pool.h"
#include "core/state/mass.h"
#include "core/state/state.h"

#include <stdarg.h>
#include <stdlib.h>

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

/* The due entries are the top of the heap: below one that is not due none is. */
bool lks_decision_due(struct lks_deciding *d, const struct lks_heap *h, lks_ms until, size_t most,
                      void (*look)(struct lks_deciding *d, uint32_t node))
{
    enum { DEPTH = 64 };
    size_t stack[DEPTH] = {0}, depth = h->count > 0;
    for (size_t seen = 0; depth > 0;) {
        size_t at = stack[--depth];
        if (at >= h->count || h->entries[at].at > until)
            continue;
        if (seen++ == most || !lks_deciding_room(d)) {
            d->out->more = true;
            return false;
        }
        look(d, h->entries[at].id);
        LKS_ASSERT(depth + 2 <= DEPTH);
        stack[depth++] = 2 * at + 2;
        stack[depth++] = 2 * at + 1;
    }
    return true;
}

/* Writing one down -------------------------------------------------------------------------- */

struct lks_record *lks_decision_add(struct lks_deciding *d, enum lks_record_kind kind)
{
    struct lks_decision *out = d->out;
    if (out->failed == LKS_OK)
        out->failed = LKS_VEC_RESERVE(out->records, out->room, out->count + 1, NULL);
    struct lks_record *r = out->failed == LKS_OK ? &out->records[out->count++] : &d->scratch;
    *r = (struct lks_record){.kind = kind};
    return r;
}

uint64_t lks_decision_row(const struct lks_deciding *d, struct lks_str owner)
{
    const struct lks_decision *out = d->out;
    size_t last = out->count > 0 ? out->count - 1 : 0, at = 0;
    for (; at < last; at++) {
        const struct lks_record *r = &out->records[at];
        if (r->kind == out->records[last].kind &&
            (r->kind != LKS_RECORD_DRAINED || lks_str_eq(r->drained.owner, owner)))
            break;
    }
    return d->state->seq + at + 1;
}

static struct lks_str kept(struct lks_deciding *d, struct lks_str text)
{
    if (text.ptr != NULL)
        return text;
    d->out->failed = LKS_E_NOMEM;
    return LKS_STR("");
}

struct lks_str lks_decision_text(struct lks_deciding *d, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    struct lks_str text = lks_arena_formatv(&d->out->arena, fmt, ap);
    va_end(ap);
    return kept(d, text);
}

struct lks_str lks_decision_copy(struct lks_deciding *d, struct lks_str text)
{
    return kept(d, lks_arena_copy(&d->out->arena, text));
}

void lks_decision_refuse(struct lks_deciding *d, enum lks_code code, const char *fmt, ...)
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

enum lks_code lks_decision_unrefuse(struct lks_deciding *d, size_t count, struct lks_str *why)
{
    struct lks_err *refused = &d->out->refused;
    enum lks_code code = refused->code;
    if (code == LKS_OK)
        return LKS_OK;
    *why = lks_decision_copy(d, lks_str_from(refused->msg));
    *refused = (struct lks_err){0};
    d->out->count = count;
    return code;
}

void lks_decision_touch(struct lks_deciding *d, uint32_t node)
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
uint64_t lks_decision_alarm(struct lks_deciding *d, enum lks_alarm_kind kind,
                            struct lks_str subject, struct lks_str text)
{
    _Static_assert(LKS_STATE_POOLS_MAX < LKS_STATE_ALARMS_MAX / 2, "a MASS of each pool has room");
    uint64_t open = open_alarm(d, kind, subject);
    uint64_t all = d->state->alarms_open + (d->next_alarm - d->state->next_alarm);
    bool kept = kind == LKS_ALARM_MASS || kind == LKS_ALARM_GLASS || kind == LKS_ALARM_REVIEW;
    if (open != 0 || (!kept && all >= LKS_STATE_ALARMS_MAX / 2))
        return open;
    lks_decision_add(d, LKS_RECORD_ALARM)->alarm = (struct lks_rec_alarm){
        .id = d->next_alarm,
        .kind = kind,
        .subject = subject,
        .text = text,
    };
    return d->next_alarm++;
}

void lks_decision_alarm_over(struct lks_deciding *d, enum lks_alarm_kind kind,
                             struct lks_str subject, struct lks_str reason)
{
    uint64_t open = open_alarm(d, kind, subject);
    if (open != 0)
        lks_decision_add(d, LKS_RECORD_ALARM_RELEASED)->alarm_released =
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

bool lks_decision_waits(const struct lks_deciding *d, uint32_t pool)
{
    return lks_state_acts_wait(d->state, pool) ||
           (d->turns != NULL && pool < d->state->pool_count && d->turns[pool].raised);
}

void lks_decision_turn(struct lks_deciding *d, uint32_t node, const char *what)
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
    struct lks_str text = lks_decision_text(
        d, "%u of %u nodes became %s within %llu s: automatic acts in this pool wait", turns->count,
        pool->nodes, what, (unsigned long long)(l->mass_window / LKS_SECOND));
    uint64_t alarm = lks_decision_alarm(d, LKS_ALARM_MASS, name, text);
    lks_decision_add(d, LKS_RECORD_MASS)->mass = (struct lks_rec_mass){
        .pool = name,
        .what = lks_str_from(what),
        .count = turns->count,
        .of = pool->nodes,
        .alarm = alarm,
    };
    turns->raised = true;
}
