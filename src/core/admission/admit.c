#include "base/vec.h"
#include "codec/notation/hostlist.h"
#include "core/admission/admit_parts.h"
#include "core/gate/gate.h"
#include "core/registry/named.h"
#include "core/rows/job.h"
#include "core/rows/pool.h"
#include "core/rows/registry.h"
#include "core/rows/verdict.h"
#include "core/state/state.h"

#include <stdio.h>

#define MEMORY_MAX ((size_t)256 << 20)

/* What no person can override: the node is unknown, it is being worked on, or we may know less than
 * other controllers do. */
#define FINAL_BARS                                                                                 \
    (UINT64_C(1) << LKS_BAR_UNKNOWN | UINT64_C(1) << LKS_BAR_CHANGING |                            \
     UINT64_C(1) << LKS_BAR_BEHIND)

/* Reasons ------------------------------------------------------------------------------------ */

void lks_admit_fail(struct lks_admitting *a)
{
    a->out->failed = a->out->arena.out_of_memory ? LKS_E_NOMEM : LKS_E_LIMIT;
}

bool lks_admit_lists(const struct lks_admitting *a, bool refuse)
{
    return (refuse ? &a->out->refused : &a->out->warned)->count < LKS_ADMIT_LISTED_MAX;
}

struct lks_str lks_admit_text(struct lks_admitting *a, const char *fmt, ...)
{
    char text[LKS_ADMIT_TEXT_MAX];
    va_list ap;
    va_start(ap, fmt);
    int len = vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    struct lks_str made = {text, len < 0 ? 0 : (size_t)len};
    if (made.len >= sizeof(text))
        made.len = sizeof(text) - 1;
    while (!lks_str_utf8(made, NULL))
        made.len--;
    struct lks_str copy = lks_arena_copy(&a->out->arena, made);
    if (copy.ptr == NULL)
        lks_admit_fail(a);
    return copy.ptr != NULL ? copy : LKS_STR("");
}

void lks_admit_add(struct lks_admitting *a, bool refuse, const struct lks_admit_no *no)
{
    struct lks_admit_list *list = refuse ? &a->out->refused : &a->out->warned;
    list->total++;
    a->out->bars[no->bar]++;
    if (refuse)
        a->refused_bars |= UINT64_C(1) << no->bar;
    if (list->count == LKS_ADMIT_LISTED_MAX)
        return;
    if (LKS_VEC_RESERVE_IN(&a->out->arena, list->items, list->room, list->count + 1, NULL) ==
        LKS_OK)
        list->items[list->count++] = *no;
    else
        lks_admit_fail(a);
}

/* Pools -------------------------------------------------------------------------------------- */

struct lks_admit_part *lks_admit_part(const struct lks_admitting *a, uint32_t node)
{
    uint32_t pool = a->state->nodes[node].pool;
    return &a->parts[pool < a->state->pool_count ? pool : a->state->pool_count];
}

bool lks_admit_enforced(const struct lks_admitting *a, bool sync)
{
    for (uint32_t i = 0; i < a->taken_count; i++) {
        if (a->taken[i]->enforces && (a->taken[i]->sync || !sync))
            return true;
    }
    return false;
}

static const struct lks_posture *posture_of(const struct lks_facts *facts, struct lks_str name)
{
    for (size_t i = 0; i < facts->postures.count; i++) {
        if (lks_str_eq(facts->postures.rows[i].name, name))
            return &facts->postures.rows[i];
    }
    return NULL;
}

/* A posture that the tables do not have is taken to be as strict as can be. */
static void look_at_pool(struct lks_admitting *a, struct lks_admit_part *part, uint32_t node)
{
    const struct lks_state *s = a->state;
    const struct lks_posture *posture = NULL;
    uint32_t pool = s->nodes[node].pool;
    if (pool < s->pool_count) {
        part->pool = &s->pools[pool];
        part->posture = part->pool->posture;
        part->enforces = lks_str_is(lks_state_text(s, part->pool->enforce), "on");
        posture = posture_of(a->book->facts, lks_state_text(s, part->posture));
    }
    part->never = posture == NULL || lks_str_is(posture->sync, "yes");
    part->sync = part->never || lks_str_is(posture->sync, "trainer");
    part->strict = posture == NULL || posture->strict_unresolved;
    part->production = posture == NULL || posture->production;
    part->first = node;
    a->taken[a->taken_count++] = part;
    if (part->pool != NULL)
        a->out->pools[a->out->pool_count++] = pool;
}

struct lks_str lks_admit_stack(const struct lks_admitting *a, uint32_t node, lks_text digest)
{
    const struct lks_state *s = a->state;
    const struct lks_state_pool *pool = lks_admit_part(a, node)->pool;
    if (pool != NULL && pool->stack_digest == digest)
        return lks_state_text(s, pool->stack);
    const struct lks_state_stack *published = lks_state_stack(s, lks_state_text(s, digest));
    if (published != NULL)
        return lks_state_text(s, published->name);
    const struct lks_stack *stack = lks_book_stack(a->book, lks_state_text(s, digest));
    return stack != NULL ? stack->name : LKS_STR("");
}

/* The nodes ---------------------------------------------------------------------------------- */

/* What a node must prove lasts until then; what is over already is a reason, and no end of it. */
static void look_at_end(struct lks_admitting *a, bool over, lks_ms until)
{
    a->late |= over;
    if (!over && until < a->lasts)
        a->lasts = until;
}

static void look_at_times(struct lks_admitting *a, const struct lks_state_pool *pool,
                          const struct lks_node *n)
{
    lks_ms checked = n->checked_at + pool->check_age;
    if (pool->attested)
        look_at_end(a, n->attested_until <= a->now.wall, n->attested_until);
    if (pool->check_age > 0)
        look_at_end(a, n->checked_at == 0 || checked < a->now.wall, checked);
}

struct lks_admit_key lks_admit_key(const struct lks_admitting *a, uint32_t node)
{
    const struct lks_state_verdict *v = &a->state->verdicts[a->state->nodes[node].verdict];
    bool deviates = lks_bitset_test(&a->state->standing->deviates, node);
    return (struct lks_admit_key){v->stack, v->values, deviates ? v->wrong : 0};
}

static void look_at_key(struct lks_admitting *a, uint32_t node)
{
    struct lks_admit_key key = lks_admit_key(a, node);
    if (a->key.stack == 0)
        a->key = key;
    a->odd |= key.stack != a->key.stack || key.values != a->key.values || key.wrong != a->key.wrong;
}

/* Digits of a digest without "sha256:", which could be a name. */
enum { BARE_DIGITS_MIN = 12 };

/* The plugin in slurmctld takes the same forms (submit/decide.c). */
static bool fits(const struct lks_admitting *a, uint32_t node, lks_text intent)
{
    struct lks_str name, version, asked = a->ask->stack, digest = lks_state_text(a->state, intent);
    if (lks_str_starts(asked, "sha256:"))
        return lks_named_begins(asked, digest);
    bool versioned = lks_str_cut(asked, '/', &name, &version);
    const struct lks_stack *stack = versioned ? lks_book_stack(a->book, digest) : NULL;
    if (!versioned && asked.len >= BARE_DIGITS_MIN && lks_named_begins(asked, digest))
        return true;
    return lks_str_eq(lks_admit_stack(a, node, intent), name) &&
           (!versioned || (stack != NULL && lks_str_eq(stack->version, version)));
}

/* Most nodes of a job have one intent, so that the last answer is kept. */
static bool as_asked(struct lks_admitting *a, uint32_t node, lks_text intent)
{
    if (a->ask->stack.len == 0)
        return true;
    if (intent == 0)
        return false;
    uint32_t pool = a->state->nodes[node].pool;
    if (a->asked_last != intent || a->asked_pool != pool) {
        a->asked_fits = fits(a, node, intent);
        a->asked_last = intent;
        a->asked_pool = pool;
    }
    return a->asked_fits;
}

static void look_at_node(struct lks_admitting *a, uint32_t node)
{
    const struct lks_state *s = a->state;
    const struct lks_node *n = &s->nodes[node];
    struct lks_admit_part *part = lks_admit_part(a, node);
    lks_text intent = lks_state_intent(s, node);
    if (a->taken_count == 0)
        a->intent = intent;
    if (part->nodes++ == 0)
        look_at_pool(a, part, node);
    a->several |= intent != a->intent;
    if (part->sync && n->verdict != 0)
        look_at_key(a, node);
    if (part->pool != NULL && (part->pool->attested || part->pool->check_age > 0))
        look_at_times(a, part->pool, n);
    a->other_stack |= !as_asked(a, node, intent);
    if (lks_bitset_test(&s->standing->soaks, node)) {
        a->soaks = true;
        a->loaded |= lks_gate_load(s, node).len > 0;
    }
}

/* A canary does real work, and none that is missed: the job's owner says so, and how much it
 * matters is what they say, else what its pools do. */
static uint32_t criticality_of(const struct lks_admitting *a)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < a->taken_count; i++) {
        uint32_t its =
            a->taken[i]->pool != NULL ? a->taken[i]->pool->criticality : LKS_ADMIT_CRITICAL;
        most = its > most ? its : most;
    }
    return a->ask->has_criticality ? a->ask->criticality : most;
}

static bool is_for_canaries(const struct lks_admitting *a)
{
    return a->ask->canary_ok && criticality_of(a) <= LKS_ADMIT_CANARY_MAX;
}

/* Nodes lie far apart in memory: the parts of one that are looked at are asked for before. */
static void expect_node(const struct lks_admitting *a, size_t rank)
{
    if (rank >= a->ask->count || a->nodes[rank] == LKS_NO_NODE)
        return;
    const struct lks_node *n = &a->state->nodes[a->nodes[rank]];
    __builtin_prefetch(&n->placed);
    __builtin_prefetch(&n->pool);
    __builtin_prefetch(&n->verdict);
    __builtin_prefetch(&n->changing);
}

/* By name to the numbers of nodes; a name of none is a reason, a node twice is no question. */
static enum lks_code find_nodes(struct lks_admitting *a, struct lks_err *err)
{
    enum { AHEAD = 12 };
    const struct lks_node *nodes = a->state->nodes;
    lks_intern_find_all(&a->state->names, a->ask->names, a->ask->count, a->nodes);
    for (size_t i = 0; i < AHEAD; i++)
        expect_node(a, i);
    for (size_t i = 0; i < a->ask->count; i++) {
        uint32_t node = a->nodes[i];
        expect_node(a, i + AHEAD);
        if (node == LKS_NO_NODE || !nodes[node].placed || nodes[node].asset != 0) {
            a->nodes[i] = LKS_NO_NODE;
            a->unknown = true;
            continue;
        }
        if (lks_bitset_test(&a->set, node))
            return lks_fail(err, LKS_E_INVALID,
                            "node '%" LKS_STR_FMT "' is named twice; name each node of a job once",
                            LKS_STR_ARG(a->ask->names[i]));
        lks_bitset_set(&a->set, node);
        look_at_node(a, node);
    }
    return LKS_OK;
}

/* Whether a bar stands for one of the nodes, a word of them at a time. */
static bool any_barred(const struct lks_admitting *a)
{
    const struct lks_node_status *standing = a->state->standing;
    size_t words = (a->set.size + 63) / 64;
    uint64_t found = 0;
    for (size_t w = 0; w < words; w++) {
        uint64_t here = a->set.words[w], barred = 0;
        if (here == 0)
            continue;
        for (size_t bar = 0; bar < LKS_BAR_NODE_COUNT; bar++)
            barred |= standing->bars[bar].words[w];
        found |= barred & here;
    }
    return found != 0;
}

static void add_unknown(struct lks_admitting *a, struct lks_str name)
{
    uint32_t node = lks_state_node(a->state, name);
    struct lks_admit_no no = {.bar = LKS_BAR_UNKNOWN, .node = name};
    if (lks_admit_lists(a, true))
        no.text =
            node == LKS_NO_NODE
                ? lks_admit_text(a, "no node '%" LKS_STR_FMT "' in the fleet", LKS_STR_ARG(name))
                : lks_admit_text(
                      a, "an asset (%" LKS_STR_FMT "), not a node",
                      LKS_STR_ARG(lks_state_text(a->state, a->state->nodes[node].asset)));
    lks_admit_add(a, true, &no);
}

/* Whether the node is a canary that this job is not for. */
static bool is_fenced(const struct lks_admitting *a, uint32_t node)
{
    return a->soaks && lks_bitset_test(&a->state->standing->soaks, node) &&
           (!is_for_canaries(a) || lks_gate_load(a->state, node).len > 0);
}

static struct lks_str canary_text(struct lks_admitting *a, uint32_t node)
{
    if (lks_gate_load(a->state, node).len > 0)
        return LKS_STR("a canary that a reference load keeps busy until its gate has passed it");
    if (!a->ask->canary_ok)
        return LKS_STR("a canary of a change whose gate has not passed it yet: for jobs that say "
                       "they may run there (canary_ok)");
    return lks_admit_text(a,
                          "a canary of a change whose gate has not passed it yet: for jobs of "
                          "criticality %d or less, and this one has %u",
                          LKS_ADMIT_CANARY_MAX, criticality_of(a));
}

static struct lks_str other_stack_text(struct lks_admitting *a, uint32_t node, lks_text intent)
{
    if (intent == 0)
        return LKS_STR("it has no stack: its pool is not pinned");
    return lks_admit_text(a, "its stack is '%" LKS_STR_FMT "' (%" LKS_STR_FMT ")",
                          LKS_STR_ARG(lks_admit_stack(a, node, intent)),
                          LKS_STR_ARG(lks_state_text(a->state, intent)));
}

/* Every reason of every node, in the order of ranks; only where there is one at all. */
static void add_nodes(struct lks_admitting *a)
{
    for (size_t i = 0; i < a->ask->count && a->out->failed == LKS_OK; i++) {
        uint32_t node = a->nodes[i];
        if (node == LKS_NO_NODE) {
            add_unknown(a, a->ask->names[i]);
            continue;
        }
        const struct lks_admit_part *part = lks_admit_part(a, node);
        struct lks_admit_no no = {.node = a->ask->names[i]};
        if (part->pool != NULL)
            no.pool = lks_state_text(a->state, part->pool->name);
        uint64_t bars = lks_node_status_bars(a->state, node, a->now.wall);
        for (unsigned bar = 0; bar < LKS_BAR_NODE_COUNT; bar++) {
            if ((bars >> bar & 1) == 0)
                continue;
            no.bar = (enum lks_bar)bar;
            if (lks_admit_lists(a, part->enforces))
                no.text = lks_admit_why(a, node, no.bar);
            lks_admit_add(a, part->enforces, &no);
        }
        if (is_fenced(a, node)) {
            no.bar = LKS_BAR_CANARY;
            no.text = canary_text(a, node);
            lks_admit_add(a, part->enforces, &no);
        }
        lks_text intent = lks_state_intent(a->state, node);
        if (a->other_stack && !as_asked(a, node, intent)) {
            no.bar = LKS_BAR_STACK;
            no.text = other_stack_text(a, node, intent);
            lks_admit_add(a, part->enforces, &no);
        }
    }
}

/* The answer --------------------------------------------------------------------------------- */

static void add_behind(struct lks_admitting *a)
{
    if (a->ask->behind <= a->state->limits.staleness)
        return;
    struct lks_admit_no no = {
        .bar = LKS_BAR_BEHIND,
        .text = lks_admit_text(
            a, "this controller's knowledge may be %llu ms old, and %llu ms is the limit",
            (unsigned long long)a->ask->behind, (unsigned long long)a->state->limits.staleness)};
    lks_admit_add(a, lks_admit_enforced(a, false), &no);
}

/* Whether all nodes of the job are among `hosts`. */
static bool covers(const struct lks_admitting *a, struct lks_str hosts, struct lks_err *err)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    struct lks_hostlist list = {0};
    size_t found = 0;
    lks_arena_init(&arena, MEMORY_MAX);
    if (lks_hostlist_parse(hosts, &arena, &list, err) != LKS_OK)
        return false;
    LKS_CLEANUP(lks_bitset_fini) struct lks_bitset seen = {0};
    if (lks_bitset_init(&seen, a->set.size, err) != LKS_OK)
        return false;
    for (size_t i = 0; i < list.count; i++) {
        uint32_t node = lks_state_node(a->state, list.names[i]);
        if (node == LKS_NO_NODE || lks_bitset_test(&seen, node))
            continue;
        lks_bitset_set(&seen, node);
        found += lks_bitset_test(&a->set, node);
    }
    return found == a->ask->count;
}

/* A person's word that the job may start all the same: of several the one that lasts longest. */
static void override(struct lks_admitting *a)
{
    const struct lks_state *s = a->state;
    const struct lks_override *best = NULL;
    struct lks_err err = {0};
    if ((a->refused_bars & FINAL_BARS) != 0)
        return;
    for (uint32_t i = 0; i < s->override_count; i++) {
        const struct lks_override *o = &s->overrides[i];
        if (o->until > a->now.wall && (best == NULL || o->until > best->until) &&
            lks_str_eq(lks_state_text(s, o->job), a->ask->job) &&
            covers(a, lks_state_text(s, o->hosts), &err))
            best = o;
    }
    if (best == NULL)
        return;
    a->out->yes = a->out->overridden = true;
    a->out->override = lks_state_text(s, best->reason);
    if (best->until < a->lasts)
        a->lasts = best->until;
}

static void conclude(struct lks_admitting *a)
{
    const struct lks_state *s = a->state;
    struct lks_admit *out = a->out;
    lks_ms until = a->now.wall + s->limits.validity;
    out->seq = s->seq;
    out->asked = a->now.wall;
    out->yes = out->refused.total == 0;
    if (!a->several && !a->unknown && a->intent != 0) {
        out->digest = lks_state_text(s, a->intent);
        out->stack = lks_admit_stack(a, a->nodes[0], a->intent);
    }
    if (!out->yes)
        override(a);
    if (out->yes)
        out->valid_until = until < a->lasts ? until : a->lasts;
}

static enum lks_code check_ask(const struct lks_admit_ask *ask, struct lks_err *err)
{
    if (ask->job.len == 0 || ask->job.len > LKS_ADMIT_JOB_MAX || !lks_str_printable(ask->job))
        return lks_fail(err, LKS_E_INVALID, "a job needs a name of 1 to %d printable bytes",
                        LKS_ADMIT_JOB_MAX);
    if (ask->count == 0)
        return lks_fail(err, LKS_E_INVALID, "a job needs nodes, and none is named");
    if (ask->count > LKS_HOSTLIST_MAX)
        return lks_fail(err, LKS_E_LIMIT, "more than %d nodes in one job", LKS_HOSTLIST_MAX);
    return lks_admit_ranks(ask, err);
}

static enum lks_code make_room(struct lks_admitting *a, struct lks_err *err)
{
    struct lks_arena *arena = &a->out->arena;
    size_t pools = (size_t)a->state->pool_count + 1;
    a->nodes = lks_arena_array(arena, a->ask->count, sizeof(a->nodes[0]));
    a->parts = lks_arena_array(arena, pools, sizeof(a->parts[0]));
    a->taken = lks_arena_array(arena, pools, sizeof(struct lks_admit_part *));
    a->out->pools = lks_arena_array(arena, pools, sizeof(a->out->pools[0]));
    if (a->nodes == NULL || a->parts == NULL || a->taken == NULL || a->out->pools == NULL)
        return lks_arena_fail(arena, err);
    return lks_bitset_init(&a->set, a->state->standing->bars[0].size, err);
}

static enum lks_code answer(struct lks_admitting *a, struct lks_err *err)
{
    if (make_room(a, err) != LKS_OK || find_nodes(a, err) != LKS_OK)
        return err->code;
    add_behind(a);
    if (a->taken_count > 1)
        lks_admit_postures(a);
    a->soaks &= a->loaded || !is_for_canaries(a);
    if (a->unknown || a->late || a->other_stack || a->soaks || any_barred(a))
        add_nodes(a);
    if (a->odd)
        lks_admit_odd(a);
    if (a->ask->image_count > 0 || a->ask->nccl.len > 0)
        lks_admit_images(a);
    conclude(a);
    return a->out->failed == LKS_OK ? LKS_OK : lks_arena_fail(&a->out->arena, err);
}

enum lks_code lks_admit(const struct lks_state *s, const struct lks_book *book, struct lks_now now,
                        const struct lks_admit_ask *ask, struct lks_admit *out, struct lks_err *err)
{
    *out = (struct lks_admit){0};
    lks_arena_init(&out->arena, MEMORY_MAX);
    struct lks_admitting a = {
        .state = s, .book = book, .now = now, .ask = ask, .out = out, .lasts = UINT64_MAX};
    enum lks_code code = check_ask(ask, err);
    if (code == LKS_OK)
        code = answer(&a, err);
    lks_bitset_fini(&a.set);
    if (code != LKS_OK)
        lks_admit_fini(out);
    return code;
}

void lks_admit_fini(struct lks_admit *a)
{
    lks_arena_fini(&a->arena);
    *a = (struct lks_admit){0};
}

/* As JSON ------------------------------------------------------------------------------------ */

static void write_list(struct lks_json_writer *w, const char *key,
                       const struct lks_admit_list *list)
{
    lks_json_begin(w, key, '[');
    for (size_t i = 0; i < list->count; i++) {
        const struct lks_admit_no *no = &list->items[i];
        lks_json_write(w,
                       "{'reason': '%s', 'node'?: '%.*s', 'image'?: '%.*s', 'ranks'?: '%.*s', "
                       "'pool'?: '%.*s', 'text': '%.*s'}",
                       lks_bar_words[no->bar], LKS_STR_ARG(no->node), LKS_STR_ARG(no->image),
                       LKS_STR_ARG(no->ranks), LKS_STR_ARG(no->pool), LKS_STR_ARG(no->text));
    }
    lks_json_write(w, "], '%s_total': %zu", key, list->total);
}

void lks_admit_json(const struct lks_admit *a, const struct lks_admit_ask *ask,
                    struct lks_json_writer *w)
{
    char asked[LKS_TIME_TEXT_SIZE], until[LKS_TIME_TEXT_SIZE];
    lks_json_write(w, "'job': '%.*s', 'admitted': %s", LKS_STR_ARG(ask->job),
                   LKS_JSON_TRUTH(a->yes));
    if (a->overridden)
        lks_json_write(w, "'overridden': true, 'override': '%.*s'", LKS_STR_ARG(a->override));
    lks_json_write(w,
                   "'stack'?: '%.*s', 'digest'?: '%.*s', 'seq': %lu, 'asked': '%s', "
                   "'valid_until'?: '%s'",
                   LKS_STR_ARG(a->stack), LKS_STR_ARG(a->digest), a->seq,
                   lks_time_text(a->asked, asked),
                   a->yes ? lks_time_text(a->valid_until, until) : "");
    write_list(w, "refused", &a->refused);
    write_list(w, "warned", &a->warned);
}
