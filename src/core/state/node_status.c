#include "core/state/node_status.h"

#include "base/bitset.h"
#include "base/intern.h"
#include "base/vec.h"
#include "codec/notation/hostlist.h"
#include "core/conform/conform.h"
#include "core/conform/verdict.h"
#include "core/rows/deviation.h"
#include "core/rows/job.h"
#include "core/rows/pool.h"
#include "core/rows/verdict.h"
#include "core/state/access.h"
#include "core/state/agree.h"
#include "core/state/state.h"
#include "core/state/state_room.h"

#include <stdlib.h>

enum {
    WORD_BITS = 64,
    SHARE_DRIFTS = -1, /* an asset's share in its domain: it does not conform */
    HOSTS_MEMORY_MAX = 512 << 20,
};

/* Beginning, end and room ------------------------------------------------------------------- */

enum lks_code lks_node_status_init(struct lks_state *s, struct lks_err *err)
{
    s->standing = calloc(1, sizeof(*s->standing));
    if (s->standing == NULL)
        return lks_fail_nomem(err);
    s->standing->refused_next = UINT64_MAX;
    lks_intern_init(&s->standing->domains, LKS_STATE_TEXT_MAX);
    return LKS_OK;
}

/* All sets there are, one after the other; NULL behind the last. */
static struct lks_bitset *set_of(struct lks_node_status *st, size_t i)
{
    struct lks_bitset *const others[] = {&st->differs, &st->recorded, &st->deviates,
                                         &st->named,   &st->lacks,    &st->soaks};
    if (i < LKS_BAR_NODE_COUNT)
        return &st->bars[i];
    i -= LKS_BAR_NODE_COUNT;
    return i < LKS_COUNT(others) ? others[i] : NULL;
}

void lks_node_status_fini(struct lks_state *s)
{
    struct lks_node_status *st = s->standing;
    if (st == NULL)
        return;
    for (size_t i = 0; set_of(st, i) != NULL; i++)
        lks_bitset_fini(set_of(st, i));
    lks_intern_fini(&st->domains);
    free(st->domain_next);
    free(st->domain);
    free(st->share);
    free(st->rings);
    free(st);
    s->standing = NULL;
}

static enum lks_code grow_set(struct lks_bitset *set, size_t size, struct lks_err *err)
{
    struct lks_bitset made = {0};
    if (lks_bitset_init(&made, size, err) != LKS_OK)
        return err->code;
    if (set->size > 0)
        memcpy(made.words, set->words,
               (set->size + WORD_BITS - 1) / WORD_BITS * sizeof(made.words[0]));
    lks_bitset_fini(set);
    *set = made;
    return LKS_OK;
}

enum lks_code lks_node_status_grow(struct lks_state *s, struct lks_err *err)
{
    struct lks_node_status *st = s->standing;
    uint32_t room = st->room;
    uint32_t domain_room = room, share_room = domain_room; /* the arrays grow together */
    if (s->node_room <= st->room)
        return LKS_OK;
    if (LKS_VEC_RESERVE_MAX(st->domain_next, room, s->node_room, LKS_STATE_NODES_MAX, err) !=
            LKS_OK ||
        LKS_VEC_RESERVE_MAX(st->domain, domain_room, s->node_room, LKS_STATE_NODES_MAX, err) !=
            LKS_OK ||
        LKS_VEC_RESERVE_MAX(st->share, share_room, s->node_room, LKS_STATE_NODES_MAX, err) !=
            LKS_OK)
        return err->code;
    for (size_t i = 0; set_of(st, i) != NULL; i++) {
        if (grow_set(set_of(st, i), s->node_room, err) != LKS_OK)
            return err->code;
    }
    st->room = s->node_room;
    return LKS_OK;
}

static void put_bit(struct lks_bitset *set, uint32_t n, bool on)
{
    if (on)
        lks_bitset_set(set, n);
    else
        lks_bitset_clear(set, n);
}

/* Domains ----------------------------------------------------------------------------------- */

static void unlink_node(struct lks_node_status *st, uint32_t n)
{
    struct lks_node_status_domain *ring = &st->rings[st->domain[n] - 1];
    uint32_t before = n;
    while (st->domain_next[before] != n)
        before = st->domain_next[before];
    st->domain_next[before] = st->domain_next[n];
    ring->head = before == n ? 0 : before + 1;
    st->domain[n] = 0;
    st->share[n] = 0;
}

static void link_node(struct lks_node_status *st, uint32_t n, uint32_t id)
{
    struct lks_node_status_domain *ring = &st->rings[id];
    uint32_t head = ring->head == 0 ? n : ring->head - 1;
    st->domain_next[n] = head == n ? n : st->domain_next[head];
    st->domain_next[head] = n;
    ring->head = head + 1;
    st->domain[n] = id + 1;
}

/* Texts are looked at where numbers differ. They are those of the verdict: a share may be of one
 * that was replaced just now, until its node is looked at, too. */
static bool agrees(const struct lks_state *s, struct lks_agreed *agreed, uint32_t n)
{
    struct lks_value one, other;
    return s->standing->share[n] == 0 ||
           lks_agree_add(agreed, s, s->verdicts[s->nodes[n].verdict].values, &one, &other);
}

/* Whether those that are there do not all run the same, or an asset is not as it should be. */
static bool is_differing(const struct lks_state *s, uint32_t head)
{
    const struct lks_node_status *st = s->standing;
    struct lks_agreed agreed = {0};
    uint32_t n = head;
    do {
        if (st->share[n] == (uint32_t)SHARE_DRIFTS || !agrees(s, &agreed, n))
            return true;
        n = st->domain_next[n];
    } while (n != head);
    return false;
}

static void look_at_domain(const struct lks_state *s, uint32_t id)
{
    struct lks_node_status *st = s->standing;
    struct lks_node_status_domain *ring = &st->rings[id];
    bool differing = ring->head != 0 && is_differing(s, ring->head - 1);
    if (differing == ring->differing)
        return;
    ring->differing = differing;
    uint32_t n = ring->head - 1;
    for (bool more = ring->head != 0; more; more = n != ring->head - 1) {
        put_bit(&st->bars[LKS_BAR_DOMAIN], n, differing);
        n = st->domain_next[n];
    }
}

uint32_t lks_node_status_domain_odd(const struct lks_state *s, uint32_t n)
{
    const struct lks_node_status *st = s->standing;
    struct lks_agreed agreed = {0};
    if (st->share[n] != (uint32_t)SHARE_DRIFTS)
        (void)agrees(s, &agreed, n);
    for (uint32_t m = st->domain_next[n]; m != n; m = st->domain_next[m]) {
        if (st->share[m] == (uint32_t)SHARE_DRIFTS || !agrees(s, &agreed, m))
            return m;
    }
    return LKS_NO_NODE;
}

/* A person holds it, or a change keeps it out of service: its domain serves without it, as without
 * one that is lost. A node in progress will be beside the others, and counts. */
static bool is_left_out(const struct lks_state *s, uint32_t n)
{
    const struct lks_node *node = &s->nodes[n];
    return node->held ||
           (node->changing != 0 && node->change != 0 && lks_state_changing(s, n) == NULL);
}

bool lks_node_status_unread(const struct lks_state *s, uint32_t n)
{
    const struct lks_node *node = &s->nodes[n];
    return node->asset == 0 && node->tuple != 0 && node->tuple_boot != node->boot;
}

/* Will it serve again as it was last seen? Who is only late will; who is lost may never. */
static bool will_serve(const struct lks_state *s, uint32_t n)
{
    const struct lks_node *node = &s->nodes[n];
    bool there = node->liveness == LKS_LIVE || node->liveness == LKS_LATE;
    return node->asset == 0 && there && lks_state_verdict(s, n) != NULL && !is_left_out(s, n);
}

static bool is_setting(const struct lks_wrong *wrong)
{
    return (lks_str_starts(wrong->subject, "settings.") ||
            lks_str_starts(wrong->subject, "tuning.")) &&
           !lks_str_is(wrong->cause, lks_conform_cause_name(LKS_CAUSE_UNMEASURED));
}

static bool lists(const struct lks_state *s, const struct lks_state_verdict *v,
                  const struct lks_wrong *wrong)
{
    struct lks_str lines = lks_state_text(s, v->wrong);
    struct lks_wrong other;
    while (lks_verdict_wrong_next(&lines, &other)) {
        if (lks_str_eq(other.subject, wrong->subject) && lks_str_eq(other.actual, wrong->actual))
            return true;
    }
    return false;
}

/* A setting of the node that no deviation allows and that the other does not have: both verdicts
 * are of one stack. */
static bool has_own_setting(const struct lks_state *s, uint32_t n,
                            const struct lks_state_verdict *v,
                            const struct lks_state_verdict *other)
{
    struct lks_str lines = lks_state_text(s, v->wrong);
    struct lks_wrong wrong;
    while (lks_verdict_wrong_next(&lines, &wrong)) {
        if (is_setting(&wrong) && !lists(s, other, &wrong) &&
            lks_node_status_covered(s, n, wrong.subject, wrong.actual) == 0)
            return true;
    }
    return false;
}

/* Of one stack, components and settings. */
static bool is_mixed(const struct lks_state *s, uint32_t n, uint32_t m)
{
    struct lks_value one, other;
    uint32_t v = lks_state_verdict_find(s, s->nodes[n].whole, lks_state_intent(s, m));
    const struct lks_state_verdict *its = &s->verdicts[s->nodes[m].verdict];
    const struct lks_state_verdict *own = &s->verdicts[v];
    return v == 0 || lks_node_status_unread(s, n) || lks_node_status_unread(s, m) ||
           lks_agree_contradict(lks_state_text(s, own->values), lks_state_text(s, its->values),
                                &one, &other) ||
           has_own_setting(s, n, own, its) || has_own_setting(s, m, its, own);
}

uint32_t lks_node_status_mixes(const struct lks_state *s, uint32_t n)
{
    const struct lks_node_status *st = s->standing;
    if (st->domain[n] == 0 || s->nodes[n].held || s->nodes[n].asset != 0)
        return LKS_NO_NODE;
    for (uint32_t m = st->domain_next[n]; m != n; m = st->domain_next[m]) {
        if (will_serve(s, m) && is_mixed(s, n, m))
            return m;
    }
    return LKS_NO_NODE;
}

lks_text lks_node_status_domain_pin(const struct lks_state *s, uint32_t asset)
{
    const struct lks_node_status *st = s->standing;
    lks_text pin = 0;
    if (st->domain[asset] == 0)
        return 0;
    for (uint32_t n = st->domain_next[asset]; n != asset; n = st->domain_next[n]) {
        const struct lks_node *node = &s->nodes[n];
        if (node->asset != 0 || node->pool == LKS_NO_POOL)
            continue;
        lks_text its = s->pools[node->pool].stack_digest;
        if (its == 0 || (pin != 0 && its != pin))
            return 0;
        pin = its;
    }
    return pin;
}

/* Deviations -------------------------------------------------------------------------------- */

static bool names_node(const struct lks_deviation *d, uint32_t node)
{
    uint32_t at;
    LKS_VEC_PLACE(at, d->count, d->nodes[at] < node);
    return at < d->count && d->nodes[at] == node;
}

static bool covers(const struct lks_state *s, const struct lks_deviation *d, uint32_t node,
                   struct lks_str subject, struct lks_str value)
{
    struct lks_str allowed = lks_state_text(s, d->subject);
    return d->ended == 0 && lks_deviation_counts(d) && names_node(d, node) &&
           (lks_str_is(allowed, "*") || lks_str_eq(allowed, subject)) &&
           (d->value == 0 || lks_str_eq(lks_state_text(s, d->value), value));
}

uint64_t lks_node_status_covered(const struct lks_state *s, uint32_t node, struct lks_str subject,
                                 struct lks_str value)
{
    if (!lks_bitset_test(&s->standing->named, node))
        return 0;
    for (uint32_t i = 0; i < s->deviation_count; i++) {
        if (covers(s, &s->deviations[i], node, subject, value))
            return s->deviations[i].id;
    }
    return 0;
}

bool lks_node_status_excused(const struct lks_state *s, uint32_t node, struct lks_str subject,
                             struct lks_str value, lks_ms wall)
{
    if (!lks_bitset_test(&s->standing->named, node))
        return false;
    for (uint32_t i = 0; i < s->deviation_count; i++) {
        const struct lks_deviation *d = &s->deviations[i];
        if (d->agreed != 0 && wall < d->expires && covers(s, d, node, subject, value) &&
            lks_access_may(s, lks_state_text(s, d->agreed_by), LKS_MAY_APPROVE,
                           lks_access_scope_of_node(s, node)))
            return true;
    }
    return false;
}

static bool is_named(const struct lks_state *s, uint32_t node)
{
    for (uint32_t i = 0; i < s->deviation_count; i++) {
        if (s->deviations[i].ended == 0 && names_node(&s->deviations[i], node))
            return true;
    }
    return false;
}

void lks_node_status_deviation(struct lks_state *s, const struct lks_deviation *d)
{
    for (uint32_t i = 0; i < d->count; i++) {
        put_bit(&s->standing->named, d->nodes[i], d->ended == 0 || is_named(s, d->nodes[i]));
        lks_node_status_update(s, d->nodes[i]);
    }
}

/* How many of what drifts is covered: the lines that were not measured do not count. */
static uint32_t covered_lines(const struct lks_state *s, uint32_t node, struct lks_str lines)
{
    struct lks_wrong wrong;
    uint32_t covered = 0;
    while (lks_verdict_wrong_next(&lines, &wrong)) {
        if (!lks_str_is(wrong.cause, lks_conform_cause_name(LKS_CAUSE_UNMEASURED)))
            covered += lks_node_status_covered(s, node, wrong.subject, wrong.actual) != 0;
    }
    return covered;
}

/* Nodes ------------------------------------------------------------------------------------- */

/* A node that has not said anything of itself yet is not measured, whatever its endpoint shows. */
struct lks_node_status_judged lks_node_status_judge(const struct lks_state *s, uint32_t n,
                                                    const struct lks_rec_verdict *v)
{
    if (v == NULL || (s->nodes[n].asset == 0 && s->nodes[n].inband == 0))
        return (struct lks_node_status_judged){.unmeasured = true};
    if (v->judged != LKS_JUDGED_DRIFT)
        return (struct lks_node_status_judged){.unmeasured = v->judged != LKS_JUDGED_CONFORMS};
    uint32_t covered = lks_bitset_test(&s->standing->named, n) ? covered_lines(s, n, v->wrong) : 0;
    bool all = v->drifted > 0 && covered >= v->drifted;
    return (struct lks_node_status_judged){
        .unmeasured = all && v->unmeasured > 0,
        .differs = !all,
        .deviates = covered > 0,
    };
}

/* The same by its verdict. */
static struct lks_node_status_judged judge(const struct lks_state *s, uint32_t n)
{
    const struct lks_state_verdict *v = lks_state_verdict(s, n);
    if (v == NULL)
        return lks_node_status_judge(s, n, NULL);
    return lks_node_status_judge(s, n,
                                 &(struct lks_rec_verdict){.judged = v->judged,
                                                           .drifted = v->drifted,
                                                           .unmeasured = v->unmeasured,
                                                           .wrong = lks_state_text(s, v->wrong)});
}

static uint32_t share_of(const struct lks_state *s, uint32_t n,
                         const struct lks_node_status_judged *j)
{
    const struct lks_node *node = &s->nodes[n];
    const struct lks_state_verdict *v = lks_state_verdict(s, n);
    if (node->asset != 0)
        return node->outband != 0 && j->differs ? (uint32_t)SHARE_DRIFTS : 0;
    return node->liveness == LKS_LIVE && v != NULL && !is_left_out(s, n) ? v->values + 1 : 0;
}

/* Its heartbeats name readings that it does not send: it runs something else by now. */
static bool contradicts(const struct lks_node *node)
{
    return (node->notes >> LKS_NOTE_CONTRADICTION & 1) != 0;
}

static const struct lks_state_pool *pool_of(const struct lks_state *s, const struct lks_node *node)
{
    return node->pool != LKS_NO_POOL ? &s->pools[node->pool] : NULL;
}

/* The bits of one that is placed, but for that of its domain; `pool` may be NULL. */
static uint32_t bars_of(const struct lks_state_pool *pool, const struct lks_node *node,
                        const struct lks_node_status_judged *j)
{
    bool refuses = pool != NULL && !pool->deviations;
    bool stale = !node->enrolled || node->liveness != LKS_LIVE || node->tuple_boot != node->boot ||
                 contradicts(node);
    return (uint32_t)(node->asset != 0) << LKS_BAR_UNKNOWN | (uint32_t)stale << LKS_BAR_STALE |
           (uint32_t)j->unmeasured << LKS_BAR_UNMEASURED | (uint32_t)j->differs << LKS_BAR_DRIFT |
           (uint32_t)node->unhealthy << LKS_BAR_UNHEALTHY |
           (uint32_t)(node->changing != 0 || node->pending > 0 || node->flashing > 0)
               << LKS_BAR_CHANGING |
           (uint32_t)node->held << LKS_BAR_HELD | (uint32_t)node->intake << LKS_BAR_INTAKE |
           (uint32_t)(node->drained_by != 0) << LKS_BAR_DRAINED |
           (uint32_t)(j->deviates && refuses) << LKS_BAR_DEVIATION;
}

/* Whether drift is recorded as it is now. Against another stack it is told anew, once it is known
 * which that is: while a change is at it, it is on its way. */
static bool is_recorded(const struct lks_state *s, uint32_t n,
                        const struct lks_node_status_judged *j)
{
    const struct lks_node *node = &s->nodes[n];
    bool other = j->differs && node->change == 0 && node->drift_stack != 0 &&
                 node->drift_stack != lks_state_intent(s, n);
    return node->drifting && !other;
}

static void put_bits(struct lks_state *s, uint32_t n, uint32_t bars,
                     const struct lks_node_status_judged *j)
{
    struct lks_node_status *st = s->standing;
    bool recorded = is_recorded(s, n, j);
    bool was_news = lks_bitset_test(&st->differs, n) != lks_bitset_test(&st->recorded, n);
    for (uint32_t b = 0; b < LKS_BAR_NODE_COUNT; b++) {
        if (b != LKS_BAR_DOMAIN)
            put_bit(&st->bars[b], n, (bars >> b & 1) != 0);
    }
    put_bit(&st->differs, n, j->differs);
    put_bit(&st->recorded, n, recorded);
    put_bit(&st->deviates, n, j->deviates);
    st->news += (uint32_t)(j->differs != recorded) - (uint32_t)was_news;
}

/* One more that lacks a verdict is looked for at once. */
static void put_lack(struct lks_node_status *st, uint32_t n, bool lacks)
{
    bool did = lks_bitset_test(&st->lacks, n);
    put_bit(&st->lacks, n, lacks);
    st->lacking += (uint32_t)lacks - (uint32_t)did;
    if (lacks && !did)
        st->tried = 0;
}

void lks_node_status_update(struct lks_state *s, uint32_t n)
{
    struct lks_node_status *st = s->standing;
    struct lks_node *node = &s->nodes[n];
    struct lks_node_status_judged j = {0};
    if (!node->placed) {
        node->verdict = 0;
        put_bits(s, n, 1u << LKS_BAR_UNKNOWN, &j);
        put_lack(st, n, false);
        put_bit(&st->bars[LKS_BAR_DOMAIN], n, false);
        return;
    }
    lks_text intent = lks_state_intent(s, n);
    node->verdict = lks_state_verdict_find(s, node->whole, intent);
    put_lack(st, n, node->whole != 0 && intent != 0 && node->verdict == 0);
    if (lks_state_judged(s, n) == LKS_JUDGED_CONFORMS)
        node->right = intent;
    j = judge(s, n);
    put_bits(s, n, bars_of(pool_of(s, node), node, &j), &j);
    uint32_t share = st->domain[n] == 0 ? 0 : share_of(s, n, &j);
    if (share == st->share[n])
        return;
    st->share[n] = share;
    look_at_domain(s, st->domain[n] - 1);
}

void lks_node_status_update_pool(struct lks_state *s, uint32_t pool)
{
    if (s->pools[pool].nodes == 0)
        return;
    for (uint32_t n = 0; n < s->node_count; n++) {
        if (s->nodes[n].pool == pool)
            lks_node_status_update(s, n);
    }
    for (uint32_t n = 0; n < s->node_count; n++) {
        if (s->nodes[n].asset != 0 && s->nodes[n].whole != 0)
            lks_node_status_update(s, n);
    }
}

void lks_node_status_update_basis(struct lks_state *s, uint32_t basis)
{
    for (uint32_t n = s->bases[basis - 1].first; n != 0; n = s->nodes[n - 1].whole_next)
        lks_node_status_update(s, n - 1);
}

/* What the domain's assets should be follows from its nodes. */
static void update_assets(struct lks_state *s, uint32_t id)
{
    struct lks_node_status *st = s->standing;
    uint32_t head = st->rings[id].head, n = head - 1;
    for (bool more = head != 0; more; more = n != head - 1) {
        if (s->nodes[n].asset != 0 && s->nodes[n].whole != 0)
            lks_node_status_update(s, n);
        n = st->domain_next[n];
    }
}

enum lks_code lks_node_status_place(struct lks_state *s, uint32_t n, struct lks_err *err)
{
    struct lks_node_status *st = s->standing;
    const struct lks_node *node = &s->nodes[n];
    uint32_t id = 0, was = st->domain[n];
    bool within = node->placed && node->domain != 0;
    if (within &&
        (lks_intern_id(&st->domains, lks_state_text(s, node->domain), &id, err) != LKS_OK ||
         LKS_VEC_RESERVE_MAX(st->rings, st->ring_room, id + 1, LKS_STATE_NODES_MAX, err) != LKS_OK))
        return err->code;
    if (was != 0 && (!within || was != id + 1)) {
        unlink_node(st, n);
        look_at_domain(s, was - 1);
        update_assets(s, was - 1);
    }
    if (within && st->domain[n] == 0)
        link_node(st, n, id);
    put_bit(&st->bars[LKS_BAR_DOMAIN], n, within && st->rings[id].differing);
    lks_node_status_update(s, n);
    if (within)
        update_assets(s, id);
    return LKS_OK;
}

/* Asking ------------------------------------------------------------------------------------ */

static bool is_unchecked(const struct lks_node *node, const struct lks_state_pool *pool,
                         lks_ms wall)
{
    lks_ms until = node->checked_at + pool->check_age;
    return pool->check_age != 0 && (node->checked_at == 0 || until < wall);
}

/* Reasons that depend on the time. */
static uint64_t bars_by_time(const struct lks_state_pool *pool, const struct lks_node *node,
                             lks_ms wall)
{
    uint64_t bars = 0;
    if (!node->placed || node->asset != 0 || pool == NULL)
        return 0;
    if (pool->attested && node->attested_until <= wall)
        bars |= UINT64_C(1) << LKS_BAR_UNATTESTED;
    if (is_unchecked(node, pool, wall))
        bars |= UINT64_C(1) << LKS_BAR_UNCHECKED;
    return bars;
}

uint64_t lks_node_status_bars(const struct lks_state *s, uint32_t n, lks_ms wall)
{
    const struct lks_node *node = &s->nodes[n];
    uint64_t bars = 0;
    for (uint32_t b = 0; b < LKS_BAR_NODE_COUNT; b++)
        bars |= (uint64_t)lks_bitset_test(&s->standing->bars[b], n) << b;
    return bars | bars_by_time(pool_of(s, node), node, wall);
}

struct lks_node_status_judged lks_node_status_judged(const struct lks_state *s, uint32_t n)
{
    return (struct lks_node_status_judged){
        .unmeasured = lks_bitset_test(&s->standing->bars[LKS_BAR_UNMEASURED], n),
        .differs = lks_bitset_test(&s->standing->differs, n),
        .deviates = lks_bitset_test(&s->standing->deviates, n),
    };
}

uint64_t lks_node_status_bars_in(const struct lks_state *s, uint32_t n,
                                 const struct lks_state_pool *pool,
                                 const struct lks_node_status_judged *j, lks_ms wall)
{
    const struct lks_node *node = &s->nodes[n];
    bool mixed = lks_bitset_test(&s->standing->bars[LKS_BAR_DOMAIN], n);
    return bars_of(pool, node, j) | (uint64_t)mixed << LKS_BAR_DOMAIN |
           bars_by_time(pool, node, wall);
}

static const char *stale_text(const struct lks_node *node)
{
    static const char *const liveness[LKS_LIVENESS_COUNT] = {
        [LKS_NEVER_SEEN] = "it was never seen",
        [LKS_LATE] = "its heartbeat is late",
        [LKS_LOST] = "it is lost",
    };
    if (!node->enrolled)
        return "it is not enrolled";
    if (node->liveness != LKS_LIVE)
        return liveness[node->liveness];
    if (contradicts(node))
        return "what it runs by now it does not report";
    return node->tuple != 0 && node->tuple_boot == 0
               ? "what it runs was not read since it was changed"
               : "what it runs in this boot was not reported yet";
}

/* The first of `bars`, of which there is one, in words. */
static enum lks_bar explain(const struct lks_state *s, uint32_t n, uint64_t bars, const char **why)
{
    static const char *const words[LKS_BAR_NODE_COUNT] = {
        [LKS_BAR_UNKNOWN] = "it is not a node of the fleet",
        [LKS_BAR_UNMEASURED] = "not all of the stack of its pool could be measured",
        [LKS_BAR_DRIFT] = "it does not run the stack of its pool",
        [LKS_BAR_UNHEALTHY] = "it is not healthy",
        [LKS_BAR_CHANGING] = "it is being changed",
        [LKS_BAR_UNATTESTED] = "it is not attested, and its pool asks for that",
        [LKS_BAR_UNCHECKED] = "its last active check is too old",
        [LKS_BAR_HELD] = "it is on hold",
        [LKS_BAR_INTAKE] = "it is in intake",
        [LKS_BAR_DRAINED] = "it is drained",
        [LKS_BAR_DEVIATION] = "it runs a deviation, and its pool refuses those",
        [LKS_BAR_DOMAIN] = "its domain does not run one and the same",
    };
    unsigned first = 0;
    while ((bars >> first & 1) == 0)
        first++;
    const char *because = words[first];
    if (first == LKS_BAR_STALE)
        because = stale_text(&s->nodes[n]);
    else if (first == LKS_BAR_UNMEASURED && lks_state_verdict(s, n) == NULL)
        because = "what it runs was not compared with the stack of its pool";
    if (why != NULL)
        *why = because;
    return (enum lks_bar)first;
}

bool lks_node_admissible(const struct lks_state *s, uint32_t n, lks_ms wall, const char **why)
{
    uint64_t bars = lks_node_status_bars(s, n, wall);
    if (bars != 0)
        (void)explain(s, n, bars, why);
    return bars == 0;
}

/* One bit for each reason that is the node's own. What a change, a hold or a drain closes is closed
 * on purpose. */
#define BIT(bar) (UINT64_C(1) << LKS_BAR_##bar)
#define OWN_BARS                                                                                   \
    (BIT(STALE) | BIT(UNMEASURED) | BIT(DRIFT) | BIT(UNHEALTHY) | BIT(UNATTESTED) |                \
     BIT(UNCHECKED) | BIT(INTAKE) | BIT(DEVIATION) | BIT(DOMAIN))

enum lks_bar lks_node_status_refused(const struct lks_state *s, uint32_t n, lks_ms wall,
                                     const char **why)
{
    uint64_t bars = lks_node_status_bars(s, n, wall) & OWN_BARS;
    bool passes = s->nodes[n].liveness == LKS_LATE && !lks_node_status_drained_refused(s, n);
    if (passes)
        bars &= ~BIT(STALE);
    return bars != 0 ? explain(s, n, bars, why) : LKS_BAR_COUNT;
}

uint64_t lks_node_status_refused_word(const struct lks_state *s, size_t word)
{
    uint64_t bits = s->standing->timed ? UINT64_MAX : 0;
    for (uint32_t b = 0; b < LKS_BAR_NODE_COUNT; b++) {
        if (((OWN_BARS | BIT(DRAINED)) >> b & 1) != 0)
            bits |= s->standing->bars[b].words[word];
    }
    return bits;
}

bool lks_node_status_drained_refused(const struct lks_state *s, uint32_t n)
{
    return lks_str_is(lks_state_text(s, s->nodes[n].drained_by), LKS_NODE_STATUS_REFUSED);
}

/* Of a pool that drains such nodes no more, too. */
static bool has_drained(const struct lks_state *s)
{
    const struct lks_bitset *drained = &s->standing->bars[LKS_BAR_DRAINED];
    for (size_t n = lks_bitset_next(drained, 0); n < drained->size;
         n = lks_bitset_next(drained, n + 1)) {
        if (lks_node_status_drained_refused(s, (uint32_t)n))
            return true;
    }
    return false;
}

void lks_node_status_settle(struct lks_state *s, lks_ms mono)
{
    struct lks_node_status *st = s->standing;
    st->refused_due = mono == 0 || mono >= st->refused_next;
    if (!st->refused_due)
        return;
    bool again = has_drained(s);
    st->timed = false;
    for (uint32_t p = 0; p < s->pool_count; p++) {
        const struct lks_state_pool *pool = &s->pools[p];
        again |= pool->drain_refused;
        st->timed |= pool->drain_refused && (pool->attested || pool->check_age != 0);
    }
    st->refused_next = again ? mono + s->limits.heartbeat : UINT64_MAX;
}

enum lks_bar lks_node_status_step(const struct lks_state *s, uint32_t n, lks_ms wall,
                                  const char **why)
{
    const uint64_t kinds = UINT64_C(1) << LKS_BAR_UNKNOWN | UINT64_C(1) << LKS_BAR_STALE |
                           UINT64_C(1) << LKS_BAR_UNMEASURED | UINT64_C(1) << LKS_BAR_DRIFT |
                           UINT64_C(1) << LKS_BAR_UNHEALTHY | UINT64_C(1) << LKS_BAR_CHANGING |
                           UINT64_C(1) << LKS_BAR_DEVIATION | UINT64_C(1) << LKS_BAR_DOMAIN;
    uint64_t bars = lks_node_status_bars(s, n, wall) & kinds;
    return bars != 0 ? explain(s, n, bars, why) : LKS_BAR_COUNT;
}

static lks_ms later_by(lks_ms time, lks_ms by)
{
    return time > UINT64_MAX - by ? UINT64_MAX : time + by;
}

/* Whether an override names the node; one that cannot be read, for lack of memory, might. */
static bool overrides_node(const struct lks_state *s, const struct lks_override *o, uint32_t n)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    struct lks_hostlist list = {0};
    struct lks_err err = {0};
    lks_arena_init(&arena, HOSTS_MEMORY_MAX);
    if (lks_hostlist_parse(lks_state_text(s, o->hosts), &arena, &list, &err) != LKS_OK)
        return true;
    for (size_t i = 0; i < list.count; i++) {
        if (lks_str_eq(list.names[i], lks_state_name(s, n)))
            return true;
    }
    return false;
}

/* Where there is no room the two oldest become one: what they close counts from the later. */
void lks_node_status_slow(struct lks_state *s, lks_ms from, lks_ms to)
{
    struct lks_node_status *st = s->standing;
    struct lks_node_status_slow *slow = st->slow;
    if (st->slow_count > 0 && slow[st->slow_count - 1].from == from) {
        slow[st->slow_count - 1].to = to;
        return;
    }
    if (st->slow_count == LKS_NODE_STATUS_SLOW_MAX) {
        slow[1].from = slow[0].from;
        memmove(slow, slow + 1, --st->slow_count * sizeof(slow[0]));
    }
    slow[st->slow_count++] = (struct lks_node_status_slow){from, to};
}

/* When a row that was decided then was known to followers. */
static lks_ms known_at(const struct lks_node_status *st, lks_ms decided)
{
    for (uint32_t i = st->slow_count; i-- > 0;) {
        if (st->slow[i].from <= decided)
            return st->slow[i].to > decided ? st->slow[i].to : decided;
    }
    return decided;
}

/* A change cannot be overridden, a hold can: until the override ends, its job may be admitted. */
lks_ms lks_node_status_quiet(const struct lks_state *s, uint32_t n)
{
    const struct lks_node *node = &s->nodes[n];
    const struct lks_limits *l = &s->limits;
    lks_ms told = later_by(l->staleness, l->skew), changed = UINT64_MAX, held = UINT64_MAX;
    if (node->changing != 0)
        changed = later_by(known_at(s->standing, node->changing), later_by(told, l->validity));
    if (node->held)
        held = later_by(known_at(s->standing, node->held_since), later_by(told, l->validity));
    for (uint32_t i = 0; i < s->override_count && held < changed; i++) {
        lks_ms ends = later_by(s->overrides[i].until, told);
        if (ends > held && overrides_node(s, &s->overrides[i], n))
            held = ends;
    }
    lks_ms quiet = held < changed ? held : changed;
    return quiet > s->yeses_until ? quiet : s->yeses_until;
}
