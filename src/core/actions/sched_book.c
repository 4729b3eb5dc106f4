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

void lks_sched_book_fini(struct lks_sched_book *b)
{
    for (uint32_t i = 0; i < b->room; i++)
        free(b->entries[i]);
    free(b->entries);
    lks_sched_sites_fini(&b->sites);
    lks_sched_lead_fini(&b->lead);
    lks_job_acts_fini(&b->acts);
    *b = (struct lks_sched_book){0};
}

const struct lks_sched_entry *lks_sched_book_find(const struct lks_sched_book *b, uint32_t node)
{
    return node < b->room ? b->entries[node] : NULL;
}

enum lks_sched_owes lks_sched_book_owes(const struct lks_sched_book *b, const struct lks_state *s,
                                        const struct lks_facts *facts, uint32_t node)
{
    const struct lks_sched_entry *e = lks_sched_book_find(b, node);
    char space[LKS_SCHED_HOLD_SIZE];
    struct lks_sched_wish wish;
    if (!lks_sched_next(s, facts, node, NULL, space, &wish))
        return LKS_SCHED_OWES_NOTHING; /* its pool has no scheduler */
    if (e == NULL || !e->heard || e->failures > 0)
        return LKS_SCHED_OWES_UNKNOWN;
    bool ours = e->said.closed && e->said.lockstep, wanted = wish.owner.len > 0;
    bool comes = wanted && e->said.known && !e->said.closed;
    return ours || comes ? LKS_SCHED_OWES_DRAIN : LKS_SCHED_OWES_NOTHING;
}

/* False: no memory. */
static bool note_asked(struct lks_sched_book *b, uint32_t node, enum lks_sched_verb verb,
                       lks_ms mono)
{
    struct lks_sched_entry *e = b->entries[node];
    if (e == NULL)
        e = b->entries[node] = calloc(1, sizeof(*e));
    if (e == NULL)
        return false;
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
    return last != NULL && mono >= e->asked_until &&
           (e->refresh || mono >= e->due + LKS_SCHED_REFRESH) &&
           lks_sched_next(s, facts, node, NULL, out->owner, &out->wish);
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
        uint32_t node = b->next < s->node_count ? b->next : 0;
        const struct lks_sched_entry *e = b->entries[node];
        struct lks_sched_due *due = &out[*count];
        b->next = node + 1;
        if (!is_due(e, s, facts, node, mono, due))
            continue;
        due->node = node;
        due->turn = e != NULL ? e->turn : 0;
        due->wish.after = e != NULL ? e->after : 0;
        if (e != NULL && e->failures > 0)
            due->wish.revision = due->wish.dialect = 0; /* another bridge counts otherwise */
        if (!note_asked(b, node, due->wish.verb, mono))
            return lks_fail_nomem(err);
        ++*count;
    }
    return LKS_OK;
}

void lks_sched_book_unasked(struct lks_sched_book *b, uint64_t search)
{
    for (uint32_t i = 0; i < b->room; i++) {
        struct lks_sched_entry *e = b->entries[i];
        if (e != NULL && e->search == search)
            e->asked_until = e->due = 0; /* it was due */
    }
    lks_sched_sites_unasked(&b->sites, search);
}

void lks_sched_book_heard(struct lks_sched_book *b, uint32_t node,
                          const struct lks_sched_said *said, struct lks_now now, uint64_t speed)
{
    struct lks_sched_entry *e = node < b->room ? b->entries[node] : NULL;
    if (e == NULL)
        return;
    lks_ms pause = said->lockstep && lks_sched_drained(said) ? LKS_SCHED_CALM : LKS_SCHED_POLL;
    bool lost = e->heard && lks_sched_lost(e->verb, &e->said, said);
    *e = (struct lks_sched_entry){.heard = true,
                                  .lost = lost,
                                  .verb = e->verb,
                                  .turn = e->turn,
                                  .due = now.mono + pause / speed,
                                  .truth_due = e->truth_due,
                                  .behind_since = said->truthful ? e->behind_since : 0,
                                  .heard_at = now.wall,
                                  .read_at = now.mono > said->age ? now.mono - said->age : 0,
                                  .after = e->after,
                                  .said = *said};
}

void lks_sched_book_failed(struct lks_sched_book *b, uint32_t node, const struct lks_err *why,
                           struct lks_now now, uint64_t speed)
{
    struct lks_sched_entry *e = node < b->room ? b->entries[node] : NULL;
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
    (void)snprintf(e->trouble, sizeof(e->trouble), "%.*s", (int)sizeof(e->trouble) - 1, why->msg);
    b->failed++;
}

void lks_sched_book_after(struct lks_sched_book *b, uint32_t node, lks_ms after)
{
    struct lks_sched_entry *e = node < b->room ? b->entries[node] : NULL;
    if (e != NULL && after > e->after)
        e->after = after;
}

bool lks_sched_book_event(const struct lks_sched_book *b, uint32_t node, struct lks_event *out)
{
    const struct lks_sched_entry *e = lks_sched_book_find(b, node);
    if (e == NULL || (e->failures > 0 && e->failures < LKS_SCHED_UNHEARD))
        return false;
    if (e->failures == 0) {
        lks_sched_event(node, &e->said, out);
        out->sched.lost = e->lost;
        return true;
    }
    *out = (struct lks_event){.kind = LKS_EVENT_SCHED,
                              .node = node,
                              .sched = {.unknown = true,
                                        .refused = e->refused,
                                        .since = e->failing_since,
                                        .owner = LKS_STR(""),
                                        .text = lks_str_from(e->trouble)}};
    return true;
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

static void tell_old(const struct lks_sched_entry *e, uint32_t node, lks_ms since,
                     struct lks_event *out)
{
    bool failed = e != NULL && e->failures > 0;
    *out = (struct lks_event){
        .kind = LKS_EVENT_SCHED,
        .node = node,
        .sched = {.unknown = true,
                  .old = true,
                  .since = since,
                  .owner = LKS_STR(""),
                  .text = failed ? lks_str_from(e->trouble) : LKS_STR("no answer yet")},
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
        const struct lks_sched_entry *e = lks_sched_book_find(b, node);
        bool emptied = (s->nodes[node].notes >> LKS_NOTE_EMPTIED & 1) != 0; /* of its hold */
        if ((!emptied && !is_relied_on(s, node)) || !is_old(e, now.mono))
            continue;
        lks_ms age = e != NULL && e->heard ? now.mono - e->read_at : now.wall - b->began;
        lks_ms since = now.wall > age ? now.wall - age : 0;
        if (is_waiting(s, node, age))
            continue;
        tell_old(e, node, since, out);
        return true;
    }
    return false;
}
