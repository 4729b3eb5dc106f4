#include "core/actions/sched_truth.h"

#include "base/vec.h"
#include "core/decision/event_node.h"
#include "core/plan/drain.h"
#include "core/rows/pool.h"
#include "core/rows/verdict.h"
#include "core/state/lookup.h"
#include "core/state/node_status.h"
#include "core/state/state.h"
#include "core/view/view.h"

#include <stdio.h>
#include <string.h>

#define DOUBLINGS_MAX 4                  /* of what is waited after failures */
#define ASKED_MAX     (300 * LKS_SECOND) /* longer than a conversation lasts */
#define SITES_AT_ONCE 16                 /* each needs memory for the nodes that it is told of */
#define PART_MAX      64                 /* nodes of a part: it ends within its deadline */
#define ALL_SLOTS     ((1U << LKS_STATE_SLOTS) - 1)

/* Slots ------------------------------------------------------------------------------------- */

static bool is_of(const struct lks_state *s, uint32_t node, uint32_t pool)
{
    const struct lks_node *n = &s->nodes[node];
    return n->placed && n->asset == 0 && n->pool == pool;
}

static uint32_t slot_of(const struct lks_state_pool *pool, lks_text digest)
{
    uint32_t slot = 0;
    while (slot < LKS_STATE_SLOTS && (digest == 0 || pool->slots[slot] != digest))
        slot++;
    return slot;
}

uint32_t lks_sched_truth_slot(const struct lks_state *s, uint32_t node)
{
    uint32_t pool = s->nodes[node].pool;
    return pool < s->pool_count ? slot_of(&s->pools[pool], lks_state_intent(s, node))
                                : LKS_STATE_SLOTS;
}

/* The slots that an answer shows the node in, as bits. */
static unsigned read_slots(const struct lks_sched_said *said)
{
    const struct lks_str prefix = LKS_STR(LKS_SCHED_TRUTH_SLOT_PREFIX);
    struct lks_str word, list = lks_str_from(said->known ? said->truth.features : "");
    unsigned slots = 0;
    for (bool more = list.len > 0; more;) {
        more = lks_str_cut(list, ',', &word, &list);
        if (word.len != prefix.len + 1 || !lks_str_starts(word, LKS_SCHED_TRUTH_SLOT_PREFIX))
            continue;
        unsigned slot = (unsigned)(word.ptr[prefix.len] - '0');
        slots |= slot < LKS_STATE_SLOTS ? 1U << slot : 0;
    }
    return slots;
}

/* The same of the last one: all of them, while none came yet. Each is read once. */
static unsigned shown_slots(struct lks_sched_entry *e)
{
    if (e == NULL || !e->heard)
        return ALL_SLOTS;
    if (!e->slots_read)
        e->slots = (uint8_t)read_slots(&e->said);
    e->slots_read = true;
    return e->slots;
}

/* What keeps slots of the node's pool from being given away, as bits: a scheduler may still show
 * them, or they are of its stack. */
static unsigned taken_by(const struct lks_sched_book *b, const struct lks_state *s, uint32_t node)
{
    struct lks_str rest = lks_state_text(s, s->pools[s->nodes[node].pool].sched);
    const struct lks_drain_named *row;
    uint32_t own = lks_sched_truth_slot(s, node);
    unsigned slots = own < LKS_STATE_SLOTS ? 1U << own : 0;
    while (slots != ALL_SLOTS && (row = lks_drain_sched_next(&rest, LKS_DRAIN_SHOWS)) != NULL)
        slots |= shown_slots(lks_sched_book_get(b, node, lks_str_from(row->name)));
    return slots;
}

/* Of all pools at once. False: no memory. */
static bool find_taken(struct lks_sched_book *b, const struct lks_state *s)
{
    _Static_assert(ALL_SLOTS <= UINT8_MAX, "a pool's slots are bits of a byte");
    if (LKS_VEC_RESERVE(b->taken, b->taken_room, s->pool_count, NULL) != LKS_OK)
        return false;
    memset(b->taken, 0, s->pool_count * sizeof(b->taken[0]));
    for (uint32_t i = 0; i < s->node_count; i++) {
        uint32_t pool = s->nodes[i].pool;
        if (pool < s->pool_count && b->taken[pool] != ALL_SLOTS && is_of(s, i, pool))
            b->taken[pool] |= (uint8_t)taken_by(b, s, i);
    }
    return true;
}

/* One that was never given comes first: it is free at once, and the others keep their stacks. */
static uint32_t choose_slot(struct lks_sched_book *b, const struct lks_state *s, uint32_t pool,
                            bool *looked)
{
    uint32_t slot = 0;
    for (uint32_t i = 0; i < LKS_STATE_SLOTS; i++) {
        if (s->pools[pool].slots[i] == 0)
            return i;
    }
    if (!*looked && !find_taken(b, s))
        return LKS_STATE_SLOTS; /* it is looked for again */
    *looked = true;
    while (slot < LKS_STATE_SLOTS && (b->taken[pool] >> slot & 1) != 0)
        slot++;
    return slot;
}

/* Its pool has a scheduler that shows slots: also beside one that does not. */
static bool needs_slot(const struct lks_state *s, uint32_t node)
{
    const struct lks_node *n = &s->nodes[node];
    if (!n->placed || n->asset != 0 || n->pool >= s->pool_count || !s->pools[n->pool].known ||
        lks_state_intent(s, node) == 0 || lks_sched_truth_slot(s, node) != LKS_STATE_SLOTS)
        return false;
    struct lks_str rest = lks_state_text(s, s->pools[n->pool].sched);
    return lks_drain_sched_next(&rest, LKS_DRAIN_SHOWS) != NULL;
}

bool lks_sched_truth_slot_due(struct lks_sched_book *b, const struct lks_state *s, uint32_t *from,
                              struct lks_event_sched_slot *out)
{
    bool looked = false; /* at all nodes: once, whatever their pools */
    for (; *from < s->node_count; (*from)++) {
        uint32_t pool = s->nodes[*from].pool;
        bool full = looked && pool < s->pool_count && b->taken[pool] == ALL_SLOTS;
        if (full || !needs_slot(s, *from))
            continue;
        uint32_t slot = choose_slot(b, s, pool, &looked);
        if (slot == LKS_STATE_SLOTS)
            continue;
        *out = (struct lks_event_sched_slot){
            .pool = pool, .slot = slot, .digest = lks_state_text(s, lks_state_intent(s, *from))};
        return true;
    }
    return false;
}

struct lks_sched_truth_slots lks_sched_truth_slots(const struct lks_state *s, uint32_t pool)
{
    struct lks_sched_truth_slots count = {0};
    bool used[LKS_STATE_SLOTS + 1] = {false}; /* the last: none */
    for (uint32_t i = 0; i < s->node_count; i++) {
        if (!is_of(s, i, pool) || lks_state_intent(s, i) == 0)
            continue;
        uint32_t slot = lks_sched_truth_slot(s, i);
        used[slot] = true;
        count.without += slot == LKS_STATE_SLOTS;
    }
    for (uint32_t i = 0; i < LKS_STATE_SLOTS; i++)
        count.used += used[i];
    return count;
}

/* What is to be shown ----------------------------------------------------------------------- */

static const char *verdict_of(const struct lks_state *s, uint32_t node)
{
    enum lks_judged judged = lks_state_judged(s, node);
    if (lks_bitset_test(&s->standing->differs, node))
        return LKS_SCHED_TRUTH_PREFIX "drift";
    if (judged == LKS_JUDGED_CONFORMS || lks_bitset_test(&s->standing->deviates, node))
        return LKS_SCHED_TRUTH_PREFIX "conform";
    return LKS_SCHED_TRUTH_PREFIX "unknown";
}

/* A line about the verdict; where the node differs, how. It is never empty. */
static void write_note(const struct lks_state *s, uint32_t node, char out[LKS_SCHED_NOTE_MAX + 1])
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf line = LKS_BUF((size_t)LKS_VIEW_LINES_MAX);
    const char *text = "lockstep has no verdict: no stack is pinned, or its agent does not report";
    if (lks_bitset_test(&s->standing->differs, node)) {
        lks_view_drift_line(s, node, &line);
        text = line.len > 0 ? line.ptr : "the node differs from its stack";
    } else if (lks_bitset_test(&s->standing->deviates, node)) {
        text = "the node differs from its stack only in what deviations allow";
    } else if (lks_state_judged(s, node) == LKS_JUDGED_CONFORMS) {
        text = "the node runs its stack";
    } else if (lks_state_judged(s, node) == LKS_JUDGED_UNMEASURED) {
        text = "not all that the stack pins was measured";
    }
    size_t whole = strlen(text), len = whole < LKS_SCHED_NOTE_MAX ? whole : LKS_SCHED_NOTE_MAX;
    for (size_t i = 0; i < len; i++) /* all is ASCII, so that a cut splits no character */
        out[i] = (char)(text[i] < ' ' || text[i] > '~' ? '?' : text[i]);
    out[len] = '\0';
}

void lks_sched_truth_of(const struct lks_state *s, uint32_t node, bool publish, bool slots,
                        struct lks_sched_truth *out)
{
    struct lks_str intent = lks_state_text(s, lks_state_intent(s, node)), kind, hex;
    const char *verdict = verdict_of(s, node);
    char digest[sizeof(LKS_SCHED_TRUTH_PREFIX) + LKS_SCHED_TRUTH_HEX] = "";
    *out = (struct lks_sched_truth){0};
    if (!publish)
        return;
    if (lks_str_cut(intent, ':', &kind, &hex) && hex.len >= LKS_SCHED_TRUTH_HEX &&
        intent.len < sizeof(out->digest)) {
        snprintf(digest, sizeof(digest), LKS_SCHED_TRUTH_PREFIX "%.*s", LKS_SCHED_TRUTH_HEX,
                 hex.ptr);
        snprintf(out->digest, sizeof(out->digest), "%" LKS_STR_FMT, LKS_STR_ARG(intent));
    }
    bool first = strcmp(digest, verdict) < 0; /* in the order in which answers are kept */
    if (digest[0] == '\0')
        snprintf(out->features, sizeof(out->features), "%s", verdict);
    else
        snprintf(out->features, sizeof(out->features), "%s,%s", first ? digest : verdict,
                 first ? verdict : digest);
    uint32_t slot = lks_sched_truth_slot(s, node);
    size_t len = strlen(out->features);
    if (slots && slot < LKS_STATE_SLOTS) /* behind the others: '-' is before digits */
        snprintf(out->features + len, sizeof(out->features) - len,
                 "," LKS_SCHED_TRUTH_SLOT_PREFIX "%u", slot);
    write_note(s, node, out->note);
}

bool lks_sched_truth_shown(const struct lks_sched_said *said, const struct lks_sched_truth *truth)
{
    return strcmp(said->truth.features, truth->features) == 0 &&
           (!said->digestible || strcmp(said->truth.digest, truth->digest) == 0) &&
           (!said->noted || strcmp(said->truth.note, truth->note) == 0);
}

bool lks_sched_truth_behind(const struct lks_sched_entry *e, const struct lks_state *s,
                            uint32_t node, bool publish)
{
    struct lks_sched_truth truth;
    if (e == NULL || !e->heard || !e->said.known || !e->said.truthful)
        return false;
    lks_sched_truth_of(s, node, publish, e->said.slotted, &truth);
    memcpy(truth.note, e->said.truth.note,
           sizeof(truth.note)); /* alone it is not worth a request */
    return !lks_sched_truth_shown(&e->said, &truth);
}

/* Publishing -------------------------------------------------------------------------------- */

static bool is_here(const struct lks_state *s, uint32_t node, const struct lks_sched_site *site)
{
    const struct lks_node *n = &s->nodes[node];
    return n->placed && n->asset == 0 && n->pool < s->pool_count &&
           lks_str_eq(lks_state_text(s, n->site), site->site) &&
           lks_drain_sched_has(lks_state_text(s, s->pools[n->pool].sched), site->sched);
}

/* The node left the pools of that scheduler, or the fleet, and its last answer has a truth. */
static bool is_left(const struct lks_state *s, uint32_t node, const struct lks_sched_site *site,
                    const struct lks_sched_entry *e)
{
    const struct lks_node *n = &s->nodes[node];
    bool moved = n->placed && !lks_str_eq(lks_state_text(s, n->site), site->site);
    return e->said.noted && e->said.truth.features[0] != '\0' && !moved && !is_here(s, node, site);
}

/* Whether the scheduler of the node can be told, and its last answer is of one that shows truths.
 */
static struct lks_sched_entry *entry_of(const struct lks_sched_book *b, const struct lks_state *s,
                                        uint32_t node, const struct lks_sched_site *site)
{
    struct lks_sched_entry *e = lks_sched_book_get(b, node, site->sched);
    bool shows = e != NULL && e->heard && e->said.known && e->said.truthful;
    return shows && (is_here(s, node, site) || is_left(s, node, site, e)) ? e : NULL;
}

/* Equal keys mean equal truths but for the note: texts are compared only where something changed.
 */
static uint64_t key_of(const struct lks_state *s, uint32_t node, bool publish)
{
    uint64_t verdict = (uint64_t)verdict_of(s, node)[sizeof(LKS_SCHED_TRUTH_PREFIX) - 1];
    return (uint64_t)lks_state_intent(s, node) << 16 | verdict << 4 |
           (uint64_t)lks_sched_truth_slot(s, node) << 1 | publish;
}

/* The node shows something else; since when, counts from the first comparison that said so. */
static void count_behind(struct lks_sched_site *site, struct lks_sched_entry *e, uint32_t node,
                         lks_ms mono)
{
    if (e->behind_since == 0)
        e->behind_since = mono;
    if (site->behind == 0 || e->behind_since < site->behind_since) {
        site->oldest = node;
        site->behind_since = e->behind_since;
    }
    site->behind++;
}

/* It shows what it should, and counts as behind until it is known to keep that: it is read again
 * for it. */
static void confirm(struct lks_sched_entry *e, lks_ms mono)
{
    if (e->read_at >= e->kept_from)
        e->behind_since = e->kept_from = 0;
    else if (mono >= e->kept_from && mono >= e->due)
        e->refresh = true;
}

/* Something else is to be shown than what was published: the time counts anew. */
static void count_anew(struct lks_sched_entry *e, uint64_t key)
{
    if (e->kept_from != 0 && e->told_key != key)
        e->behind_since = e->kept_from = 0;
}

/* Whether its last answer shows what it should, or that was published since; else that. */
static bool is_shown(struct lks_sched_entry *e, const struct lks_state *s, uint32_t node,
                     bool publish, lks_ms mono, struct lks_sched_truth *out)
{
    uint64_t key = key_of(s, node, publish);
    count_anew(e, key);
    if (e->truth_key != key) {
        lks_sched_truth_of(s, node, publish, e->said.slotted, out);
        e->truth_key = lks_sched_truth_shown(&e->said, out) ? key : 0;
    }
    if (e->truth_key != 0)
        confirm(e, mono);
    return e->truth_key != 0;
}

/* The nodes of the site that show something else, as many as fit; all are counted. */
static uint32_t collect(struct lks_sched_book *b, const struct lks_state *s,
                        struct lks_sched_site *site, bool publish, lks_ms mono,
                        struct lks_arena *arena, struct lks_sched_told *out)
{
    uint32_t count = 0;
    site->compared = true;
    site->publish_more = false;
    site->behind = site->unheard = 0;
    for (uint32_t i = 0; i < s->node_count; i++) {
        struct lks_sched_truth truth;
        struct lks_sched_entry *e = entry_of(b, s, i, site);
        const struct lks_sched_entry *had = lks_sched_book_find(b, i, site->sched);
        site->takes_policy = site->takes_policy || (e != NULL && e->said.slotted);
        bool here = is_here(s, i, site);
        if (e != NULL && is_shown(e, s, i, publish && here, mono, &truth))
            e = NULL;
        site->unheard += (had == NULL || !had->heard || had->kept_from != 0) && here;
        if (e == NULL)
            continue;
        count_behind(site, e, i, mono);
        if (mono < e->truth_due)
            continue;
        site->publish_more = count == LKS_SCHED_TOLD_MAX;
        if (site->publish_more)
            continue;
        e->told_key = key_of(s, i, publish && here);
        out[count].node = lks_arena_copy(arena, lks_state_name(s, i));
        out[count].place = i;
        out[count++].truth = truth;
    }
    return count;
}

static uint32_t parts_max(const struct lks_sched_site *site)
{
    struct lks_str rest = site->sched;
    const struct lks_drain_named *row = lks_drain_sched_next(&rest, 0);
    return row != NULL && row->parts > 0 ? row->parts : 1;
}

/* So many requests are one of the site, at most `max`. */
static uint32_t parts_of(const struct lks_sched_site *site, uint32_t nodes, uint32_t max)
{
    uint32_t parts = parts_max(site);
    parts = parts < max ? parts : max;
    return parts < nodes ? parts : nodes;
}

/* Requests with a part of the nodes each; how many. */
static uint32_t share(struct lks_sched_book *b, struct lks_sched_site *site, uint32_t max,
                      struct lks_sched_told *told, uint32_t nodes, struct lks_arena *arena,
                      struct lks_sched_site_due *out)
{
    uint32_t parts = parts_of(site, nodes, max), from = 0;
    if (parts_max(site) > 1 && nodes / parts >= PART_MAX) {
        nodes = parts * PART_MAX;
        site->publish_more = true;
    }
    struct lks_str name = lks_arena_copy(arena, site->site);
    struct lks_str sched = lks_arena_copy(arena, site->sched);
    for (uint32_t i = 0; i < parts; i++) {
        uint32_t until = (uint32_t)((uint64_t)nodes * (i + 1) / parts);
        out[i] = (struct lks_sched_site_due){.site = name,
                                             .sched = sched,
                                             .turn = site->turn,
                                             .wish = {.verb = LKS_SCHED_SITE_PUBLISH,
                                                      .told = told + from,
                                                      .told_count = until - from}};
        from = until;
    }
    site->publishing = parts;
    site->publish_failed = site->publish_odd = false;
    site->publish_search = b->sites.searches;
    b->sites.asked += parts;
    return parts;
}

enum lks_code lks_sched_truth_due(struct lks_sched_book *b, const struct lks_state *s,
                                  struct lks_str hidden, lks_ms mono, uint32_t max,
                                  struct lks_arena *arena, struct lks_sched_site_due *out,
                                  uint32_t *count, struct lks_err *err)
{
    struct lks_sched_told *told = NULL; /* of the next site that has something to publish */
    uint32_t sites = 0;
    *count = 0;
    for (uint32_t i = 0; i < b->sites.count && *count < max && sites < SITES_AT_ONCE; i++) {
        struct lks_sched_site *site = b->sites.items[i];
        if (mono < site->publish_due || mono < site->publishing_until)
            continue;
        if (told == NULL)
            told = lks_arena_array(arena, LKS_SCHED_TOLD_MAX, sizeof(*told));
        if (told == NULL)
            return lks_arena_fail(arena, err);
        bool publish = !lks_drain_sched_has(hidden, site->sched);
        uint32_t nodes = collect(b, s, site, publish, mono, arena, told);
        site->publish_due = mono + LKS_SCHED_TRUTH_PAUSE;
        if (nodes == 0)
            continue;
        site->publishing_until = mono + ASKED_MAX;
        *count += share(b, site, max - *count, told, nodes, arena, out + *count);
        told = NULL;
        sites++;
    }
    return arena->out_of_memory ? lks_arena_fail(arena, err) : LKS_OK;
}

/* The first of the parts that fails counts: they fail together. */
static void fail_site(struct lks_sched_book *b, struct lks_sched_site *site,
                      const struct lks_err *why, lks_ms mono, uint64_t speed)
{
    b->sites.failed++;
    if (site->publish_failed)
        return;
    site->publish_failed = true;
    uint32_t doublings =
        site->publish_failures < DOUBLINGS_MAX ? site->publish_failures : DOUBLINGS_MAX;
    lks_ms pause = LKS_SCHED_TRUTH_PAUSE << doublings;
    site->publish_failures++;
    site->turn++;
    site->publish_due =
        mono + (pause < LKS_SCHED_TRUTH_RETRY_MAX ? pause : LKS_SCHED_TRUTH_RETRY_MAX) / speed;
    snprintf(site->publish_trouble, sizeof(site->publish_trouble), "%.*s", LKS_SCHED_REASON_MAX,
             why->msg);
}

static struct lks_sched_entry *told_of(const struct lks_sched_book *b, const struct lks_state *s,
                                       const struct lks_sched_told *told, struct lks_str sched)
{
    bool same =
        told->place < s->node_count && lks_str_eq(lks_state_name(s, told->place), told->node);
    return lks_sched_book_get(b, same ? told->place : lks_state_node(s, told->node), sched);
}

void lks_sched_truth_told(struct lks_sched_book *b, const struct lks_state *s, struct lks_str site,
                          struct lks_str sched, const struct lks_sched_site_wish *wish,
                          const struct lks_err *why, struct lks_now now, uint64_t speed)
{
    struct lks_sched_site *at = lks_sched_sites_get(&b->sites, site, sched);
    lks_ms pause = LKS_SCHED_TRUTH_PAUSE / speed;
    if (at == NULL)
        return;
    at->publishing -= at->publishing > 0;
    at->publishing_until = at->publishing > 0 ? at->publishing_until : 0;
    if (why->code != LKS_OK) {
        fail_site(b, at, why, now.mono, speed);
        return;
    }
    if (!at->publish_failed) {
        at->publish_failures = 0;
        at->publish_trouble[0] = at->publish_odd ? at->publish_trouble[0] : '\0';
    }
    for (uint32_t i = 0; i < wish->told_count; i++) {
        const struct lks_sched_told *told = &wish->told[i];
        struct lks_sched_entry *e = told_of(b, s, told, sched);
        at->publish_more = at->publish_more || told->open;
        if (e == NULL || told->open)
            continue;
        if (told->why[0] == '\0') {
            e->said.truth = told->truth;
            e->slots_read = false;
            e->refresh =
                !told->seen; /* an answer shows whether it was set, a later one if it stays */
            e->kept_from = now.mono + LKS_SCHED_TRUTH_KEPT / speed;
            b->published++;
            continue;
        }
        e->truth_due = now.mono + LKS_SCHED_TRUTH_AGAIN / speed;
        at->publish_odd = true;
        snprintf(at->publish_trouble, sizeof(at->publish_trouble),
                 "node '%" LKS_STR_FMT "': %.200s", LKS_STR_ARG(told->node), told->why);
    }
    if (!at->publish_failed)
        at->publish_due = now.mono + (at->publish_more && parts_max(at) > 1 ? 0 : pause);
}

void lks_sched_truth_configured(struct lks_sched_book *b, const struct lks_state *s, uint32_t node,
                                struct lks_str sched, lks_ms configured)
{
    const struct lks_node *n = &s->nodes[node];
    if (configured == 0 || n->pool >= s->pool_count)
        return;
    struct lks_sched_site *site = lks_sched_sites_get(&b->sites, lks_state_text(s, n->site), sched);
    if (site == NULL || configured <= site->configured)
        return;
    bool first = site->configured == 0;
    site->configured = configured;
    for (uint32_t i = 0; !first && i < s->node_count; i++) {
        struct lks_sched_entry *e = entry_of(b, s, i, site);
        if (e != NULL)
            e->refresh = i != node;
    }
}

/* Nodes that stay behind --------------------------------------------------------------------- */

static const char subject_at[] = " at ";

bool lks_sched_truth_late(const struct lks_sched_entry *e, lks_ms mono, uint64_t speed)
{
    return e->behind_since != 0 && mono >= e->behind_since + LKS_SCHED_TRUTH_LATE / speed;
}

lks_ms lks_sched_truth_behind_for(const struct lks_sched_sites *b, lks_ms mono)
{
    lks_ms longest = 0;
    for (uint32_t i = 0; i < b->count; i++) {
        const struct lks_sched_site *site = b->items[i];
        if (site->behind > 0 && mono > site->behind_since && mono - site->behind_since > longest)
            longest = mono - site->behind_since;
    }
    return longest;
}

struct lks_str lks_sched_truth_alarm_site(struct lks_str subject)
{
    ptrdiff_t at = lks_str_find(subject, lks_str_from(subject_at));
    size_t skip = (size_t)(at < 0 ? 0 : at) + strlen(subject_at);
    return at < 0 ? LKS_STR("") : (struct lks_str){subject.ptr + skip, subject.len - skip};
}

struct lks_str lks_sched_truth_alarm_subject(struct lks_arena *arena,
                                             const struct lks_sched_site *site)
{
    return lks_arena_format(arena, "%" LKS_STR_FMT "%s%" LKS_STR_FMT, LKS_STR_ARG(site->sched),
                            subject_at, LKS_STR_ARG(site->site));
}

static struct lks_str text_of(struct lks_arena *arena, const struct lks_state *s,
                              const struct lks_sched_site *site, struct lks_now now)
{
    char count[LKS_COUNT_TEXT_SIZE], since[LKS_TIME_TEXT_SIZE];
    const char *why = site->publish_trouble;
    return lks_arena_format(
        arena,
        "%" LKS_STR_FMT " shows another verdict or stack than lockstep's for %s, %" LKS_STR_FMT
        " since %s: %s; jobs that choose nodes by it are placed by what it shows; 'lockstep "
        "doctor' "
        "has what to do",
        LKS_STR_ARG(site->sched), lks_str_count_text(site->behind, "node", count),
        LKS_STR_ARG(lks_state_name(s, site->oldest)),
        lks_time_text(now.wall - (now.mono - site->behind_since), since),
        why[0] != '\0' ? why : "requests succeed, and the nodes do not keep what they set");
}

static bool raises(const struct lks_sched_site *site, const struct lks_state *s, struct lks_now now,
                   uint64_t speed)
{
    return site->behind > 0 && site->oldest < s->node_count &&
           now.mono >= site->behind_since + LKS_SCHED_TRUTH_LATE / speed;
}

/* An alarm of before a start is kept until every node of the site was answered about. */
static bool ends(const struct lks_sched_site *site)
{
    return site->compared && site->behind == 0 && site->unheard == 0;
}

bool lks_sched_truth_alarm_known(const struct lks_sched_sites *b, struct lks_str subject)
{
    struct lks_str site = lks_sched_truth_alarm_site(subject), sched = subject;
    size_t behind = site.len + strlen(subject_at);
    sched.len = sched.len > behind ? sched.len - behind : 0;
    return lks_sched_sites_find(b, site, sched) != NULL;
}

/* Of a site that no node is at since the start. */
static bool find_orphan(const struct lks_sched_sites *b, const struct lks_state *s,
                        struct lks_event_sched_alarm *out)
{
    uint32_t at = 0;
    struct lks_str subject;
    while (b->scan > 0 && lks_sched_alarm_next(s, LKS_ALARM_VERDICTS, &at, &subject)) {
        if (lks_sched_truth_alarm_known(b, subject))
            continue;
        *out = (struct lks_event_sched_alarm){.kind = LKS_ALARM_VERDICTS,
                                              .over = true,
                                              .subject = subject,
                                              .text = LKS_STR("lockstep has no node there")};
        return true;
    }
    return false;
}

bool lks_sched_truth_alarm(const struct lks_sched_sites *b, const struct lks_state *s,
                           struct lks_now now, uint64_t speed, struct lks_arena *arena,
                           struct lks_event_sched_alarm *out)
{
    for (uint32_t i = 0; i < b->count; i++) {
        const struct lks_sched_site *site = b->items[i];
        bool late = raises(site, s, now, speed);
        if (!late && !ends(site))
            continue;
        struct lks_str subject = lks_sched_truth_alarm_subject(arena, site);
        if (lks_sched_alarm_open(s, LKS_ALARM_VERDICTS, subject) == late)
            continue;
        *out = (struct lks_event_sched_alarm){
            .kind = LKS_ALARM_VERDICTS,
            .over = !late,
            .subject = subject,
            .text = late ? text_of(arena, s, site, now)
                         : LKS_STR("the site shows what lockstep says of every node")};
        return !arena->out_of_memory;
    }
    return find_orphan(b, s, out);
}
