#include "core/actions/sched_book.h"

#include "base/vec.h"
#include "core/actions/actions.h"
#include "core/decision/event.h"
#include "core/plan/drain.h"
#include "core/rows/pool.h"
#include "core/state/state.h"

#include <stdio.h>
#include <stdlib.h>

#define DOUBLINGS_MAX 4                  /* of what is waited after failures */
#define ASKED_MAX     (300 * LKS_SECOND) /* longer than a conversation lasts */

static void free_entries(struct lks_sched_entry *e)
{
    while (e != NULL) {
        struct lks_sched_entry *next = e->next;
        free(e);
        e = next;
    }
}

void lks_sched_book_fini(struct lks_sched_book *b)
{
    for (uint32_t i = 0; i < b->room; i++)
        free_entries(b->entries[i]);
    free(b->entries);
    free(b->taken);
    lks_sched_sites_fini(&b->sites);
    lks_sched_lead_fini(&b->lead);
    lks_job_acts_fini(&b->acts);
    *b = (struct lks_sched_book){0};
}

struct lks_sched_entry *lks_sched_book_get(const struct lks_sched_book *b, uint32_t node,
                                           struct lks_str sched)
{
    struct lks_sched_entry *e = node < b->room ? b->entries[node] : NULL;
    while (e != NULL && !lks_str_is(sched, e->sched))
        e = e->next;
    return e;
}

const struct lks_sched_entry *lks_sched_book_find(const struct lks_sched_book *b, uint32_t node,
                                                  struct lks_str sched)
{
    return lks_sched_book_get(b, node, sched);
}

/* The schedulers of the node's pool, as its text has them. */
static struct lks_str scheds_of(const struct lks_state *s, uint32_t node)
{
    const struct lks_node *n = &s->nodes[node];
    return n->placed && n->asset == 0 && n->pool < s->pool_count
               ? lks_state_text(s, s->pools[n->pool].sched)
               : LKS_STR("");
}

enum lks_sched_owes lks_sched_book_owes(const struct lks_sched_book *b, const struct lks_state *s,
                                        const struct lks_facts *facts, uint32_t node,
                                        struct lks_str sched)
{
    const struct lks_sched_entry *e = lks_sched_book_find(b, node, sched);
    char space[LKS_SCHED_HOLD_SIZE];
    struct lks_sched_wish wish;
    if (!lks_drain_sched_has(scheds_of(s, node), sched) ||
        !lks_sched_next(s, facts, node, NULL, space, &wish))
        return LKS_SCHED_OWES_NOTHING; /* its pool does not have it */
    if (e == NULL || !e->heard || e->failures > 0)
        return LKS_SCHED_OWES_UNKNOWN;
    bool ours = e->said.closed && e->said.lockstep, wanted = wish.owner.len > 0;
    bool comes = wanted && e->said.known && !e->said.closed;
    return ours || comes ? LKS_SCHED_OWES_DRAIN : LKS_SCHED_OWES_NOTHING;
}

/* False: no memory. */
static bool note_asked(struct lks_sched_book *b, uint32_t node, const char *sched,
                       enum lks_sched_verb verb, lks_ms mono)
{
    struct lks_sched_entry *e = lks_sched_book_get(b, node, lks_str_from(sched));
    if (e == NULL) {
        e = calloc(1, sizeof(*e));
        if (e == NULL)
            return false;
        *e = (struct lks_sched_entry){.sched = sched, .next = b->entries[node], .made = mono};
        b->entries[node] = e;
    }
    e->asked_until = mono + ASKED_MAX;
    e->verb = verb;
    e->search = b->sites.searches;
    b->asked++;
    return true;
}

/* A request that differs from the last one does not wait: a node is drained and released at once.
 */
static bool waits(const struct lks_sched_entry *e, enum lks_sched_verb verb, lks_ms mono)
{
    return e != NULL &&
           (mono < e->asked_until || (mono < e->due && (e->failures > 0 || verb == e->verb)));
}

/* What is to be asked about the node now; false: nothing. A node that no change wants is read again
 * now and then, so that what people are shown is not old. */
static bool is_due(const struct lks_sched_entry *e, const struct lks_state *s,
                   const struct lks_facts *facts, uint32_t node, lks_ms mono,
                   struct lks_sched_due *out)
{
    const struct lks_sched_said *last = e != NULL && e->heard ? &e->said : NULL;
    if (lks_sched_next(s, facts, node, last, out->owner, &out->wish))
        return !waits(e, out->wish.verb, mono);
    return last != NULL && mono >= e->asked_until && (e->refresh || mono >= e->calm_until) &&
           lks_sched_next(s, facts, node, NULL, out->owner, &out->wish);
}

/* The schedulers of the node that are to be asked, as many as fit. */
static enum lks_code find_due(struct lks_sched_book *b, const struct lks_state *s,
                              const struct lks_facts *facts, uint32_t node, lks_ms mono,
                              uint32_t max, struct lks_sched_due *out, uint32_t *count,
                              struct lks_err *err)
{
    struct lks_str rest = scheds_of(s, node);
    const struct lks_drain_named *sched;
    while (*count < max && (sched = lks_drain_sched_next(&rest, 0)) != NULL) {
        const struct lks_sched_entry *e = lks_sched_book_find(b, node, lks_str_from(sched->name));
        struct lks_sched_due *due = &out[*count];
        if (!is_due(e, s, facts, node, mono, due))
            continue;
        due->node = node;
        due->sched = sched->name;
        due->turn = e != NULL ? e->turn : 0;
        due->wish.after = e != NULL ? e->after : 0;
        if (e != NULL && e->failures > 0)
            due->wish.revision = due->wish.dialect = 0; /* another bridge counts otherwise */
        if (!note_asked(b, node, sched->name, due->wish.verb, mono))
            return lks_fail_nomem(err);
        ++*count;
    }
    if (rest.len == 0)
        b->next = node + 1; /* else it is its turn again */
    return LKS_OK;
}

enum lks_code lks_sched_book_due(struct lks_sched_book *b, const struct lks_state *s,
                                 const struct lks_facts *facts, lks_ms mono, uint32_t max,
                                 struct lks_sched_due *out, uint32_t *count, struct lks_err *err)
{
    *count = 0;
    b->sites.searches++;
    if (LKS_VEC_RESERVE(b->entries, b->room, s->node_count, err) != LKS_OK)
        return err->code;
    for (uint32_t i = 0; i < s->node_count && *count < max; i++) {
        b->next = b->next < s->node_count ? b->next : 0;
        if (find_due(b, s, facts, b->next, mono, max, out, count, err) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}

void lks_sched_book_unasked(struct lks_sched_book *b, uint64_t search)
{
    for (uint32_t i = 0; i < b->room; i++) {
        for (struct lks_sched_entry *e = b->entries[i]; e != NULL; e = e->next) {
            if (e->search == search)
                e->asked_until = e->due = e->calm_until = 0; /* it was due */
        }
    }
    lks_sched_sites_unasked(&b->sites, search);
}

void lks_sched_book_heard(struct lks_sched_book *b, uint32_t node, struct lks_str sched,
                          const struct lks_sched_said *said, struct lks_now now, uint64_t speed)
{
    struct lks_sched_entry *e = lks_sched_book_get(b, node, sched);
    if (e == NULL)
        return;
    lks_ms pause = said->lockstep && lks_sched_drained(said) ? LKS_SCHED_CALM : LKS_SCHED_POLL;
    bool kept = e->heard && e->verb != LKS_SCHED_RELEASE; /* its drain was to stay */
    bool untold = kept && !e->told_worse, ours = said->closed && said->lockstep;
    bool lost =
        (e->heard && lks_sched_lost(e->verb, &e->said, said)) || (untold && e->lost && !ours);
    bool was = kept && (lks_sched_drained(&e->said) || (untold && e->worse));
    *e = (struct lks_sched_entry){.sched = e->sched,
                                  .next = e->next,
                                  .made = e->made,
                                  .heard = true,
                                  .lost = lost,
                                  .worse = lost || (was && !lks_sched_drained(said)),
                                  .verb = e->verb,
                                  .turn = e->turn,
                                  .due = now.mono + pause / speed,
                                  .calm_until = now.mono + (pause + LKS_SCHED_REFRESH) / speed,
                                  .truth_due = e->truth_due,
                                  .kept_from = said->truthful ? e->kept_from : 0,
                                  .told_key = e->told_key,
                                  .behind_since = said->truthful ? e->behind_since : 0,
                                  .heard_at = now.wall,
                                  .read_at = now.mono > said->age ? now.mono - said->age : 0,
                                  .after = e->after,
                                  .said = *said};
}

void lks_sched_book_failed(struct lks_sched_book *b, uint32_t node, struct lks_str sched,
                           const struct lks_err *why, struct lks_now now, uint64_t speed)
{
    struct lks_sched_entry *e = lks_sched_book_get(b, node, sched);
    if (e == NULL)
        return;
    lks_ms pause = LKS_SCHED_POLL << (e->failures < DOUBLINGS_MAX ? e->failures : DOUBLINGS_MAX);
    e->asked_until = 0;
    e->refresh = false;
    e->refused = !lks_err_code_info(why->code)->transient;
    e->failures++;
    e->turn++;
    e->failing_since = e->failing_since != 0 ? e->failing_since : now.wall;
    e->due = now.mono + (pause < LKS_SCHED_RETRY_MAX ? pause : LKS_SCHED_RETRY_MAX) / speed;
    e->calm_until = e->due + LKS_SCHED_REFRESH / speed;
    (void)snprintf(e->trouble, sizeof(e->trouble), "%.*s", (int)sizeof(e->trouble) - 1, why->msg);
    b->failed++;
}

void lks_sched_book_after(struct lks_sched_book *b, uint32_t node, struct lks_str sched,
                          lks_ms after)
{
    struct lks_sched_entry *e = lks_sched_book_get(b, node, sched);
    if (e != NULL && after > e->after)
        e->after = after;
}

/* All schedulers of a node ------------------------------------------------------------------- */

/* A release that was sent and not answered may have ended the drain of the answer before it. */
static bool is_releasing(const struct lks_sched_entry *e)
{
    return e->verb == LKS_SCHED_RELEASE && (e->asked_until != 0 || e->failures > 0);
}

/* In the order of the pool's text; their number. */
static size_t parts_of(const struct lks_sched_book *b, const struct lks_state *s, uint32_t node,
                       lks_ms mono, struct lks_sched_part parts[LKS_SCHED_PARTS_MAX])
{
    struct lks_str rest = scheds_of(s, node);
    const struct lks_drain_named *sched;
    size_t count = 0;
    while (count < LKS_SCHED_PARTS_MAX && (sched = lks_drain_sched_next(&rest, 0)) != NULL) {
        const struct lks_sched_entry *e = lks_sched_book_find(b, node, lks_str_from(sched->name));
        struct lks_sched_part *p = &parts[count++];
        *p = (struct lks_sched_part){.sched = sched->name, .trouble = LKS_STR("")};
        if (e == NULL)
            continue;
        p->said = e->heard ? &e->said : NULL;
        p->counts = e->heard && mono < e->read_at + LKS_SCHED_FRESH && !is_releasing(e);
        p->lost = e->lost && !e->told_worse;
        p->worse = e->worse && !e->told_worse;
        p->failures = e->failures;
        p->refused = e->refused;
        p->since = e->failing_since;
        p->trouble = lks_str_from(e->trouble);
    }
    return count;
}

bool lks_sched_book_event(struct lks_sched_book *b, const struct lks_state *s, uint32_t node,
                          lks_ms mono, struct lks_event *out)
{
    struct lks_sched_part parts[LKS_SCHED_PARTS_MAX];
    char hold[LKS_SCHED_HOLD_SIZE];
    size_t count = parts_of(b, s, node, mono, parts);
    struct lks_str wanted = lks_sched_cause(s, node, hold).owner;
    return count > 0 && lks_sched_combine(node, wanted, lks_drain_sched_mute(scheds_of(s, node)),
                                          parts, count, &b->space, out);
}

void lks_sched_book_told(struct lks_sched_book *b, const struct lks_event *event)
{
    struct lks_sched_entry *e = event->node < b->room ? b->entries[event->node] : NULL;
    for (; e != NULL && !event->sched.unknown; e = e->next)
        e->told_worse = e->heard;
}

bool lks_sched_book_outage(struct lks_sched_book *b, const struct lks_state *s, uint32_t node,
                           struct lks_event *out)
{
    struct lks_sched_part parts[LKS_SCHED_PARTS_MAX];
    size_t count = parts_of(b, s, node, 0, parts);
    return lks_sched_outage_of(s, node, parts, count, &b->space, out);
}

/* Answers that are too old -------------------------------------------------------------------- */

/* A change keeps it out of service, and its scheduler can be asked. The change may work on it, or
 * hold it: assets of its domain rely on the drain of a node that is held as well. */
static bool is_relied_on(const struct lks_state *s, uint32_t node)
{
    const struct lks_node *n = &s->nodes[node];
    return n->placed && n->asset == 0 && n->drained_by != 0 && n->changing != 0 &&
           n->pool < s->pool_count &&
           lks_drain_sched(lks_state_text(s, s->pools[n->pool].sched)) == LKS_DRAIN_DRIVEN;
}

/* It is noted already that its answers are missing, and nothing more follows so soon. */
static bool is_waiting(const struct lks_state *s, uint32_t node, lks_ms age)
{
    uint32_t notes = s->nodes[node].notes;
    return (notes >> LKS_NOTE_EMPTIED & 1) == 0 && (notes >> LKS_NOTE_UNHEARD & 1) != 0 &&
           age < LKS_DECIDE_SCHED_SILENT;
}

static bool is_old(const struct lks_sched_entry *e, lks_ms mono)
{
    return e == NULL || !e->heard || mono >= e->read_at + LKS_SCHED_FRESH;
}

/* What is too old, or missing. */
struct old {
    const char *sched;
    const struct lks_sched_entry *e; /* NULL: it was never asked */
    lks_ms age;
    uint32_t count; /* of schedulers that the pool has */
};

/* One that the pool got just now was not silent until now. */
static lks_ms age_of(const struct lks_sched_book *b, uint32_t node, const struct lks_sched_entry *e,
                     struct lks_now now)
{
    if (e != NULL)
        return now.mono - (e->heard ? e->read_at : e->made);
    for (e = node < b->room ? b->entries[node] : NULL; e != NULL; e = e->next) {
        if (e->heard)
            return 0;
    }
    return now.wall - b->began;
}

/* The oldest answer of the node's schedulers; false: none is too old. A pool that has no scheduler
 * any more has the last one that it had. */
static bool find_old(const struct lks_sched_book *b, const struct lks_state *s, uint32_t node,
                     struct lks_now now, struct old *out)
{
    struct lks_str rest = scheds_of(s, node);
    const struct lks_drain_named *sched;
    bool found = false;
    *out = (struct old){.sched = ""};
    while ((sched = lks_drain_sched_next(&rest, 0)) != NULL) {
        const struct lks_sched_entry *e = lks_sched_book_find(b, node, lks_str_from(sched->name));
        out->count++;
        if (!is_old(e, now.mono) || (found && age_of(b, node, e, now) <= out->age))
            continue;
        found = true;
        out->sched = sched->name;
        out->e = e;
        out->age = age_of(b, node, e, now);
    }
    if (out->count > 0)
        return found;
    out->e = node < b->room ? b->entries[node] : NULL;
    out->age = age_of(b, node, out->e, now);
    return is_old(out->e, now.mono);
}

static void tell_old(struct lks_sched_space *space, const struct old *old, uint32_t node,
                     lks_ms since, struct lks_event *out)
{
    bool failed = old->e != NULL && old->e->failures > 0;
    const char *text = failed ? old->e->trouble : "no answer yet";
    if (old->count > 1)
        (void)snprintf(space->text, sizeof(space->text), "%s: %s", old->sched, text);
    *out = (struct lks_event){
        .kind = LKS_EVENT_SCHED,
        .node = node,
        .sched = {.unknown = true,
                  .old = true,
                  .since = since,
                  .owner = LKS_STR(""),
                  .text = lks_str_from(old->count > 1 ? space->text : text),
                  .sched = lks_str_from(old->count > 1 ? old->sched : "")},
    };
}

bool lks_sched_book_old(struct lks_sched_book *b, const struct lks_state *s, struct lks_now now,
                        uint32_t *at, struct lks_event *out)
{
    b->began = b->began != 0 ? b->began : now.wall;
    if (*at == 0 && now.mono < b->old_due)
        return false;
    b->old_due = now.mono + LKS_SCHED_OLD;
    while (*at < s->node_count) {
        uint32_t node = (*at)++;
        struct old old;
        bool emptied = (s->nodes[node].notes >> LKS_NOTE_EMPTIED & 1) != 0; /* of its hold */
        if ((!emptied && !is_relied_on(s, node)) || !find_old(b, s, node, now, &old))
            continue;
        lks_ms since = now.wall > old.age ? now.wall - old.age : 0;
        if (is_waiting(s, node, old.age))
            continue;
        tell_old(&b->space, &old, node, since, out);
        return true;
    }
    return false;
}
