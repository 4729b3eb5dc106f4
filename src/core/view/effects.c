#include "core/view/effects.h"

#include "base/bitset.h"
#include "base/intern.h"
#include "base/vec.h"
#include "codec/notation/hostlist.h"
#include "core/conform/verdict.h"
#include "core/registry/store.h"
#include "core/rows/change.h"
#include "core/rows/deviation.h"
#include "core/rows/node.h"
#include "core/rows/pool.h"
#include "core/rows/verdict.h"
#include "core/state/node_status.h"
#include "core/state/state.h"
#include "model/record/record.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    MEMORY_MAX = 512 << 20, /* of one answer */
    NAMES_MAX = 64 << 20,   /* of pools, and of pairs of readings and stacks */
    KEY_MAX = 2 * LKS_DIGEST_SIZE,
};

#define GONE UINT32_MAX /* the pool of a node that is removed */

const char *const lks_effect_words[] = {"joins",      "leaves",     "intent", "conforms", "drifts",
                                        "unmeasured", "uncompared", "drains", "admitted", "refused",
                                        "change",     "deviation",  NULL};

/* A pool as it will be, and what happens to nodes because of it. */
struct after {
    struct lks_state_pool asks; /* of which deviations, attested and check_age are read */
    struct lks_str name, pin, enforce;
    bool edited;
    struct lks_effect_row *rows[LKS_EFFECT_CHANGE + LKS_BAR_NODE_COUNT]; /* in the arena */
};

/* The verdict of readings against a stack. */
struct compared {
    bool known; /* if not: there was no room, or no such stack */
    struct lks_rec_verdict verdict;
};

struct work {
    const struct lks_state *s;
    const struct lks_book *book;
    const struct lks_manifest *wanted;
    lks_ms wall;
    struct lks_effects *out;
    struct lks_intern names; /* of pools: those of the state have their places */
    struct after *pools;     /* by them */
    uint32_t pool_room;
    uint32_t *to; /* by node: its pool, or GONE */
    struct lks_bitset accepted, affected;
    struct lks_intern keys; /* basis and stack */
    struct compared *compared;
    uint32_t compared_room, made;
    struct lks_err *err;
};

static void work_fini(struct work *w)
{
    lks_intern_fini(&w->names);
    lks_intern_fini(&w->keys);
    lks_bitset_fini(&w->accepted);
    lks_bitset_fini(&w->affected);
    free(w->pools);
    free(w->to);
    free(w->compared);
}

/* The place of a pool, which may be new. */
static enum lks_code place_of(struct work *w, struct lks_str name, uint32_t *out)
{
    uint32_t before = lks_intern_count(&w->names);
    if (lks_intern_id(&w->names, name, out, w->err) != LKS_OK)
        return w->err->code;
    if (*out < before)
        return LKS_OK;
    if (LKS_VEC_RESERVE(w->pools, w->pool_room, *out + 1, w->err) != LKS_OK)
        return w->err->code;
    w->pools[*out] = (struct after){.name = lks_intern_text(&w->names, *out)};
    return LKS_OK;
}

static enum lks_code init_pools(struct work *w)
{
    const struct lks_state *s = w->s;
    for (uint32_t p = 0; p < s->pool_count; p++) {
        uint32_t place = 0;
        if (place_of(w, lks_intern_text(&s->pool_names, p), &place) != LKS_OK)
            return w->err->code;
        LKS_ASSERT(place == p);
        w->pools[p].asks = s->pools[p];
        w->pools[p].pin = lks_state_text(s, s->pools[p].stack_digest);
        w->pools[p].enforce = lks_state_text(s, s->pools[p].enforce);
    }
    return LKS_OK;
}

static enum lks_code work_init(struct work *w)
{
    const struct lks_state *s = w->s;
    lks_arena_init(&w->out->arena, MEMORY_MAX);
    lks_intern_init(&w->names, NAMES_MAX);
    lks_intern_init(&w->keys, NAMES_MAX);
    w->to = calloc((size_t)s->node_count + 1, sizeof(w->to[0]));
    if (w->to == NULL)
        return lks_fail_nomem(w->err);
    for (uint32_t n = 0; n < s->node_count; n++)
        w->to[n] = s->nodes[n].pool;
    if (lks_bitset_init(&w->accepted, s->node_count, w->err) != LKS_OK ||
        lks_bitset_init(&w->affected, s->node_count, w->err) != LKS_OK)
        return w->err->code;
    return init_pools(w);
}

/* Rows -------------------------------------------------------------------------------------- */

static enum lks_code add(struct work *w, uint32_t pool, enum lks_effect effect, unsigned bar,
                         struct lks_str node)
{
    struct lks_effect_row **row = &w->pools[pool].rows[effect + bar];
    if (*row == NULL) {
        *row = lks_arena_array(&w->out->arena, 1, sizeof(**row));
        if (*row == NULL)
            return lks_arena_fail(&w->out->arena, w->err);
        **row = (struct lks_effect_row){.effect = effect, .bar = (enum lks_bar)bar};
    }
    if ((*row)->nodes < LKS_EFFECT_NAMES)
        (*row)->first[(*row)->nodes] = node;
    (*row)->nodes++;
    return LKS_OK;
}

static enum lks_code add_node(struct work *w, uint32_t pool, enum lks_effect effect, uint32_t node)
{
    lks_bitset_set(&w->affected, node);
    return pool < lks_intern_count(&w->names) ? add(w, pool, effect, 0, lks_state_name(w->s, node))
                                              : LKS_OK;
}

/* The records ------------------------------------------------------------------------------- */

static enum lks_code note_pool(struct work *w, const struct lks_rec_pool *r)
{
    uint32_t p = 0;
    if (place_of(w, r->name, &p) != LKS_OK)
        return w->err->code;
    struct after *after = &w->pools[p];
    after->edited = true;
    after->pin = r->stack_digest;
    after->enforce = r->enforce;
    after->asks.deviations = r->deviations;
    after->asks.attested = r->attested;
    after->asks.check_age = r->check_age;
    return LKS_OK;
}

/* The node of that name if the fleet has it and it is no asset. */
static uint32_t node_of(const struct lks_state *s, struct lks_str name)
{
    uint32_t n = lks_state_node(s, name);
    return n != LKS_NO_NODE && s->nodes[n].asset == 0 ? n : LKS_NO_NODE;
}

static enum lks_code note_host(struct work *w, const struct lks_record *r, struct lks_str name)
{
    uint32_t n = node_of(w->s, name), pool = GONE;
    bool placed = r->kind == LKS_RECORD_PLACED && r->placed.pool.len > 0;
    if (placed && place_of(w, r->placed.pool, &pool) != LKS_OK)
        return w->err->code;
    if (r->kind == LKS_RECORD_ACCEPTED && n != LKS_NO_NODE)
        lks_bitset_set(&w->accepted, n);
    else if (r->kind != LKS_RECORD_ACCEPTED && n != LKS_NO_NODE)
        w->to[n] = pool;
    else if (placed)
        return add(w, pool, LKS_EFFECT_JOINS, 0, name);
    return LKS_OK;
}

static enum lks_code note_hosts(struct work *w, const struct lks_record *r, struct lks_str hosts)
{
    struct lks_hostlist list = {0};
    if (lks_hostlist_parse(hosts, &w->out->arena, &list, w->err) != LKS_OK)
        return w->err->code;
    for (size_t i = 0; i < list.count; i++)
        if (note_host(w, r, list.names[i]) != LKS_OK)
            return w->err->code;
    return LKS_OK;
}

static enum lks_code note_drained(struct work *w, struct lks_str name)
{
    uint32_t n = node_of(w->s, name);
    return n == LKS_NO_NODE ? LKS_OK : add_node(w, w->s->nodes[n].pool, LKS_EFFECT_DRAINS, n);
}

static enum lks_code note(struct work *w, const struct lks_record *r)
{
    if (r->kind == LKS_RECORD_POOL)
        return note_pool(w, &r->pool);
    if (r->kind == LKS_RECORD_PLACED)
        return note_hosts(w, r, r->placed.hosts);
    if (r->kind == LKS_RECORD_REMOVED)
        return note_hosts(w, r, r->removed.hosts);
    if (r->kind == LKS_RECORD_ACCEPTED)
        return note_hosts(w, r, r->accepted.hosts);
    return r->kind == LKS_RECORD_DRAINED ? note_drained(w, r->drained.node) : LKS_OK;
}

/* Another stack ----------------------------------------------------------------------------- */

static const struct lks_stack *stack_of(const struct work *w, struct lks_str digest)
{
    const struct lks_stack *stack = lks_registry_store_find(w->wanted, digest);
    return stack != NULL ? stack : lks_book_stack(w->book, digest);
}

static enum lks_code compare(struct work *w, uint32_t basis, struct lks_str pin,
                             struct compared *out)
{
    const struct lks_state *s = w->s;
    lks_text text = 0;
    uint32_t v =
        lks_intern_find(&s->texts, pin, &text) ? lks_state_verdict_find(s, basis, text) : 0;
    *out = (struct compared){.known = true};
    if (v != 0) {
        out->verdict = (struct lks_rec_verdict){.judged = s->verdicts[v].judged,
                                                .drifted = s->verdicts[v].drifted,
                                                .unmeasured = s->verdicts[v].unmeasured,
                                                .wrong = lks_state_text(s, s->verdicts[v].wrong)};
        return LKS_OK;
    }
    const struct lks_stack *stack = stack_of(w, pin);
    struct lks_str readings = lks_state_readings(s, basis);
    out->known = stack != NULL && readings.len > 0 && w->made < LKS_EFFECT_VERDICTS;
    if (!out->known)
        return LKS_OK;
    w->made++;
    return lks_verdict_make(w->book->facts, stack, readings, &w->out->arena, &out->verdict, w->err);
}

/* The same, once for each basis and stack. */
static enum lks_code compared_of(struct work *w, uint32_t basis, struct lks_str pin,
                                 const struct compared **out)
{
    char key[KEY_MAX];
    uint32_t id = 0, before = lks_intern_count(&w->keys);
    int len = snprintf(key, sizeof(key), "%u %" LKS_STR_FMT, basis, LKS_STR_ARG(pin));
    if (lks_intern_id(&w->keys, (struct lks_str){key, (size_t)len}, &id, w->err) != LKS_OK)
        return w->err->code;
    if (id >= before && (LKS_VEC_RESERVE(w->compared, w->compared_room, id + 1, w->err) != LKS_OK ||
                         compare(w, basis, pin, &w->compared[id]) != LKS_OK))
        return w->err->code;
    *out = &w->compared[id];
    return LKS_OK;
}

/* How it compares with a stack that becomes its intent. */
static enum lks_code meet(struct work *w, uint32_t n, uint32_t pool,
                          struct lks_node_status_judged *j)
{
    const struct lks_node *node = &w->s->nodes[n];
    const struct compared *c = NULL;
    struct lks_str pin = w->pools[pool].pin;
    *j = lks_node_status_judge(w->s, n, NULL);
    if (add_node(w, pool, LKS_EFFECT_INTENT, n) != LKS_OK)
        return w->err->code;
    if (pin.len == 0 || node->whole == 0 || node->inband == 0)
        return LKS_OK;
    if (compared_of(w, node->whole, pin, &c) != LKS_OK)
        return w->err->code;
    if (!c->known)
        return add_node(w, pool, LKS_EFFECT_UNCOMPARED, n);
    *j = lks_node_status_judge(w->s, n, &c->verdict);
    enum lks_effect effect = j->differs      ? LKS_EFFECT_DRIFTS
                             : j->unmeasured ? LKS_EFFECT_UNMEASURED
                                             : LKS_EFFECT_CONFORMS;
    return add_node(w, pool, effect, n);
}

/* Whether what it should run follows from its pool, and not from a change. */
static bool follows_pool(const struct lks_node *node)
{
    return node->pin == 0 && (node->changing == 0 || node->target == 0);
}

static bool enforces(struct lks_str enforce)
{
    return lks_str_is(enforce, "on");
}

static enum lks_code look(struct work *w, uint32_t n)
{
    const struct lks_state *s = w->s;
    const struct lks_node *node = &s->nodes[n];
    const struct lks_state_pool *was = node->pool < s->pool_count ? &s->pools[node->pool] : NULL;
    const struct after *is = &w->pools[w->to[n]];
    struct lks_str pin = was != NULL ? lks_state_text(s, was->stack_digest) : LKS_STR("");
    struct lks_node_status_judged j = lks_node_status_judged(s, n);
    if (follows_pool(node) && !lks_str_eq(pin, is->pin) && meet(w, n, w->to[n], &j) != LKS_OK)
        return w->err->code;
    uint64_t before = lks_node_status_bars(s, n, w->wall);
    uint64_t bars = lks_node_status_bars_in(s, n, &is->asks, &j, w->wall);
    if (lks_bitset_test(&w->accepted, n))
        bars &= ~(UINT64_C(1) << LKS_BAR_INTAKE);
    bool refused = was != NULL && enforces(lks_state_text(s, was->enforce)) && before != 0;
    bool refuses = enforces(is->enforce) && bars != 0;
    if (refuses && !refused) {
        lks_bitset_set(&w->affected, n);
        return add(w, w->to[n], LKS_EFFECT_REFUSED, (unsigned)__builtin_ctzll(bars),
                   lks_state_name(s, n));
    }
    return refused && !refuses ? add_node(w, w->to[n], LKS_EFFECT_ADMITTED, n) : LKS_OK;
}

static enum lks_code look_at_all(struct work *w)
{
    const struct lks_state *s = w->s;
    for (uint32_t n = 0; n < s->node_count; n++) {
        const struct lks_node *node = &s->nodes[n];
        uint32_t to = w->to[n];
        bool moves = to != node->pool;
        if (!node->placed || node->asset != 0)
            continue;
        if (moves && add_node(w, node->pool, LKS_EFFECT_LEAVES, n) != LKS_OK)
            return w->err->code;
        if (to == GONE)
            continue;
        if (moves && add_node(w, to, LKS_EFFECT_JOINS, n) != LKS_OK)
            return w->err->code;
        if ((moves || w->pools[to].edited || lks_bitset_test(&w->accepted, n)) &&
            look(w, n) != LKS_OK)
            return w->err->code;
    }
    return LKS_OK;
}

/* The answer -------------------------------------------------------------------------------- */

static enum lks_code list_row(struct work *w, const struct lks_effect_row *row)
{
    struct lks_effects *e = w->out;
    if (row == NULL || row->nodes == 0)
        return LKS_OK;
    if (LKS_VEC_RESERVE_IN(&e->arena, e->rows, e->room, e->count + 1, w->err) != LKS_OK)
        return w->err->code;
    e->rows[e->count++] = *row;
    return LKS_OK;
}

static enum lks_code list_pools(struct work *w)
{
    for (uint32_t p = 0; p < lks_intern_count(&w->names); p++) {
        struct lks_str name = lks_arena_copy(&w->out->arena, w->pools[p].name);
        if (name.ptr == NULL)
            return lks_arena_fail(&w->out->arena, w->err);
        for (size_t i = 0; i < LKS_COUNT(w->pools[p].rows); i++) {
            struct lks_effect_row *row = w->pools[p].rows[i];
            if (row != NULL)
                row->pool = name;
            if (list_row(w, row) != LKS_OK)
                return w->err->code;
        }
    }
    return LKS_OK;
}

static void count_affected(const struct work *w, struct lks_effect_row *row, uint32_t node)
{
    if (!lks_bitset_test(&w->affected, node))
        return;
    if (row->nodes < LKS_EFFECT_NAMES)
        row->first[row->nodes] = lks_state_name(w->s, node);
    row->nodes++;
}

static enum lks_code list_changes(struct work *w)
{
    const struct lks_state *s = w->s;
    for (uint32_t i = 0; i < s->change_count; i++) {
        const struct lks_state_change *c = &s->changes[i];
        struct lks_effect_row row = {.effect = LKS_EFFECT_CHANGE, .id = c->id};
        for (uint32_t m = 0; c->state < LKS_CHANGE_OVER && m < c->member_count; m++)
            count_affected(w, &row, c->members[m].node);
        if (list_row(w, &row) != LKS_OK)
            return w->err->code;
    }
    return LKS_OK;
}

static enum lks_code list_deviations(struct work *w)
{
    const struct lks_state *s = w->s;
    for (uint32_t i = 0; i < s->deviation_count; i++) {
        const struct lks_deviation *d = &s->deviations[i];
        struct lks_effect_row row = {.effect = LKS_EFFECT_DEVIATION, .id = d->id};
        for (uint32_t n = 0; d->ended == 0 && n < d->count; n++)
            count_affected(w, &row, d->nodes[n]);
        if (list_row(w, &row) != LKS_OK)
            return w->err->code;
    }
    return LKS_OK;
}

static enum lks_code make(struct work *w, const struct lks_record *records, size_t count)
{
    if (work_init(w) != LKS_OK)
        return w->err->code;
    for (size_t i = 0; i < count; i++)
        if (note(w, &records[i]) != LKS_OK)
            return w->err->code;
    if (look_at_all(w) != LKS_OK || list_pools(w) != LKS_OK || list_changes(w) != LKS_OK)
        return w->err->code;
    return list_deviations(w);
}

enum lks_code lks_effects_make(const struct lks_state *s, const struct lks_book *book,
                               const struct lks_manifest *wanted, const struct lks_record *records,
                               size_t count, lks_ms wall, struct lks_effects *out,
                               struct lks_err *err)
{
    LKS_CLEANUP(lks_effects_fini) struct lks_effects made = {0};
    LKS_CLEANUP(work_fini)
    struct work w = {
        .s = s, .book = book, .wanted = wanted, .wall = wall, .out = &made, .err = err};
    if (make(&w, records, count) != LKS_OK)
        return err->code;
    *out = LKS_MOVE(made);
    return LKS_OK;
}

void lks_effects_fini(struct lks_effects *e)
{
    lks_arena_fini(&e->arena);
    *e = (struct lks_effects){0};
}

void lks_effects_json(const struct lks_effects *e, struct lks_json_writer *w)
{
    for (size_t i = 0; i < e->count; i++) {
        const struct lks_effect_row *row = &e->rows[i];
        lks_json_begin(w, NULL, '{');
        lks_json_cstr(w, "effect", lks_effect_words[row->effect]);
        lks_json_some(w, "pool", row->pool);
        if (row->effect == LKS_EFFECT_REFUSED)
            lks_json_cstr(w, "reason", lks_bar_words[row->bar]);
        if (row->id != 0)
            lks_json_int(w, "id", (int64_t)row->id);
        lks_json_int(w, "nodes", row->nodes);
        lks_json_begin(w, "first", '[');
        for (size_t n = 0; n < LKS_EFFECT_NAMES && n < row->nodes; n++)
            lks_json_text(w, NULL, row->first[n]);
        lks_json_end(w, ']');
        lks_json_end(w, '}');
    }
}
