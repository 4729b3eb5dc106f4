#include "core/actions/sched_truth.h"

#include "core/plan/drain.h"
#include "core/rows/pool.h"
#include "core/rows/verdict.h"
#include "core/state/lookup.h"
#include "core/state/node_status.h"
#include "core/state/state.h"

#include <stdio.h>
#include <string.h>

#define SHORT_HEX     12
#define DOUBLINGS_MAX 4                  /* of what is waited after failures */
#define ASKED_MAX     (300 * LKS_SECOND) /* longer than a conversation lasts */
#define SITES_AT_ONCE 16                 /* each needs memory for the nodes that it is told of */

/* What is to be shown ----------------------------------------------------------------------- */

static const char *verdict_of(const struct lks_state *s, uint32_t node)
{
    enum lks_judged judged = lks_state_judged(s, node);
    if (lks_bitset_test(&s->standing->differs, node))
        return "lks-drift";
    if (judged == LKS_JUDGED_CONFORMS || lks_bitset_test(&s->standing->deviates, node))
        return "lks-conform";
    return "lks-unknown";
}

void lks_sched_truth_of(const struct lks_state *s, uint32_t node, bool publish,
                        struct lks_sched_truth *out)
{
    struct lks_str intent = lks_state_text(s, lks_state_intent(s, node)), kind, hex;
    const char *verdict = verdict_of(s, node);
    char digest[sizeof("lks-") + SHORT_HEX] = "";
    *out = (struct lks_sched_truth){0};
    if (!publish)
        return;
    if (lks_str_cut(intent, ':', &kind, &hex) && hex.len >= SHORT_HEX &&
        intent.len < sizeof(out->digest)) {
        snprintf(digest, sizeof(digest), "lks-%.*s", SHORT_HEX, hex.ptr);
        snprintf(out->digest, sizeof(out->digest), "%" LKS_STR_FMT, LKS_STR_ARG(intent));
    }
    bool first = strcmp(digest, verdict) < 0; /* in the order in which answers are kept */
    if (digest[0] == '\0')
        snprintf(out->features, sizeof(out->features), "%s", verdict);
    else
        snprintf(out->features, sizeof(out->features), "%s,%s", first ? digest : verdict,
                 first ? verdict : digest);
}

bool lks_sched_truth_shown(const struct lks_sched_said *said, const struct lks_sched_truth *truth)
{
    return strcmp(said->truth.features, truth->features) == 0 &&
           (!said->digestible || strcmp(said->truth.digest, truth->digest) == 0);
}

bool lks_sched_truth_behind(const struct lks_sched_book *b, const struct lks_state *s,
                            uint32_t node, bool publish)
{
    const struct lks_sched_entry *e = lks_sched_book_find(b, node);
    struct lks_sched_truth truth;
    if (e == NULL || !e->heard || !e->said.known || !e->said.truthful)
        return false;
    lks_sched_truth_of(s, node, publish, &truth);
    return !lks_sched_truth_shown(&e->said, &truth);
}

/* Publishing -------------------------------------------------------------------------------- */

/* Whether the scheduler of the node can be told, and its last answer is of one that shows truths.
 */
static struct lks_sched_entry *entry_of(const struct lks_sched_book *b, const struct lks_state *s,
                                        uint32_t node, const struct lks_sched_site *site)
{
    const struct lks_node *n = &s->nodes[node];
    struct lks_sched_entry *e = node < b->room ? b->entries[node] : NULL;
    if (e == NULL || !e->heard || !e->said.known || !e->said.truthful || !n->placed ||
        n->asset != 0 || n->pool >= s->pool_count)
        return NULL;
    bool here = lks_str_eq(lks_state_text(s, n->site), site->site) &&
                lks_str_eq(lks_state_text(s, s->pools[n->pool].sched), site->sched);
    return here ? e : NULL;
}

/* Equal keys mean equal truths: texts are compared only where something changed. */
static uint64_t key_of(const struct lks_state *s, uint32_t node, bool publish)
{
    uint64_t verdict = (uint64_t)verdict_of(s, node)[sizeof("lks-") - 1];
    return (uint64_t)lks_state_intent(s, node) << 16 | verdict << 1 | publish;
}

/* The nodes of the site that show something else, as many as fit; all are counted. */
static uint32_t collect(struct lks_sched_book *b, const struct lks_state *s,
                        struct lks_sched_site *site, bool publish, lks_ms mono,
                        struct lks_arena *arena, struct lks_sched_told *out)
{
    uint32_t count = 0;
    site->behind = 0;
    for (uint32_t i = 0; i < s->node_count; i++) {
        struct lks_sched_truth truth;
        struct lks_sched_entry *e = entry_of(b, s, i, site);
        if (e == NULL || e->truth_key == key_of(s, i, publish))
            continue;
        lks_sched_truth_of(s, i, publish, &truth);
        e->truth_key = lks_sched_truth_shown(&e->said, &truth) ? key_of(s, i, publish) : 0;
        if (e->truth_key != 0)
            continue;
        site->behind++;
        if (count == LKS_SCHED_TOLD_MAX || mono < e->truth_due)
            continue;
        out[count].node = lks_arena_copy(arena, lks_state_name(s, i));
        out[count++].truth = truth;
    }
    return count;
}

enum lks_code lks_sched_truth_due(struct lks_sched_book *b, const struct lks_state *s, bool publish,
                                  lks_ms mono, uint32_t max, struct lks_arena *arena,
                                  struct lks_sched_site_due *out, uint32_t *count,
                                  struct lks_err *err)
{
    struct lks_sched_told *told = NULL; /* of the next site that has something to publish */
    uint32_t most = max < SITES_AT_ONCE ? max : SITES_AT_ONCE;
    *count = 0;
    for (uint32_t i = 0; i < b->sites.count && *count < most; i++) {
        struct lks_sched_site *site = b->sites.items[i];
        if (mono < site->publish_due || mono < site->publishing_until)
            continue;
        if (told == NULL)
            told = lks_arena_array(arena, LKS_SCHED_TOLD_MAX, sizeof(*told));
        if (told == NULL)
            return lks_arena_fail(arena, err);
        uint32_t nodes = collect(b, s, site, publish, mono, arena, told);
        site->publish_due = mono + LKS_SCHED_TRUTH_PAUSE;
        if (nodes == 0)
            continue;
        site->publishing_until = mono + ASKED_MAX;
        out[(*count)++] = (struct lks_sched_site_due){
            .site = lks_arena_copy(arena, site->site),
            .sched = lks_arena_copy(arena, site->sched),
            .turn = site->turn,
            .wish = {.verb = LKS_SCHED_SITE_PUBLISH, .told = told, .told_count = nodes}};
        told = NULL;
        b->sites.asked++;
    }
    return arena->out_of_memory ? lks_arena_fail(arena, err) : LKS_OK;
}

static void fail_site(struct lks_sched_book *b, struct lks_sched_site *site,
                      const struct lks_err *why, lks_ms mono, uint64_t speed)
{
    uint32_t doublings =
        site->publish_failures < DOUBLINGS_MAX ? site->publish_failures : DOUBLINGS_MAX;
    lks_ms pause = LKS_SCHED_TRUTH_PAUSE << doublings;
    b->sites.failed++;
    site->publish_failures++;
    site->turn++;
    site->publish_due =
        mono + (pause < LKS_SCHED_TRUTH_RETRY_MAX ? pause : LKS_SCHED_TRUTH_RETRY_MAX) / speed;
    snprintf(site->publish_trouble, sizeof(site->publish_trouble), "%.*s", LKS_SCHED_REASON_MAX,
             why->msg);
}

void lks_sched_truth_told(struct lks_sched_book *b, const struct lks_state *s, struct lks_str site,
                          struct lks_str sched, const struct lks_sched_site_wish *wish,
                          const struct lks_err *why, struct lks_now now, uint64_t speed)
{
    struct lks_sched_site *at = lks_sched_sites_get(&b->sites, site, sched);
    if (at == NULL)
        return;
    at->publishing_until = 0;
    if (why->code != LKS_OK) {
        fail_site(b, at, why, now.mono, speed);
        return;
    }
    at->publish_failures = 0;
    at->publish_trouble[0] = '\0';
    at->publish_due = now.mono + LKS_SCHED_TRUTH_PAUSE / speed;
    for (uint32_t i = 0; i < wish->told_count; i++) {
        const struct lks_sched_told *told = &wish->told[i];
        uint32_t node = lks_state_node(s, told->node);
        struct lks_sched_entry *e = node < b->room ? b->entries[node] : NULL;
        if (e == NULL)
            continue;
        if (told->why[0] == '\0') {
            e->said.truth = told->truth;
            b->published++;
            continue;
        }
        e->truth_due = now.mono + LKS_SCHED_TRUTH_AGAIN / speed;
        snprintf(at->publish_trouble, sizeof(at->publish_trouble),
                 "node '%" LKS_STR_FMT "': %.200s", LKS_STR_ARG(told->node), told->why);
    }
}

void lks_sched_truth_configured(struct lks_sched_book *b, const struct lks_state *s, uint32_t node,
                                lks_ms configured)
{
    const struct lks_node *n = &s->nodes[node];
    if (configured == 0 || n->pool >= s->pool_count)
        return;
    struct lks_sched_site *site = lks_sched_sites_get(&b->sites, lks_state_text(s, n->site),
                                                      lks_state_text(s, s->pools[n->pool].sched));
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
