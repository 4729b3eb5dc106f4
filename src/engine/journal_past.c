/* What was true of a node at some moment: the journal folded up to it. */
#include "base/near.h"
#include "codec/format/json.h"
#include "core/conform/basis.h"
#include "core/rows/pool.h"
#include "core/state/state.h"
#include "core/view/view.h"
#include "engine/journal.h"

/* [name, part, value]... of what was measured, once for devices that read the same. */
static void put_readings(const struct lks_state *s, const struct lks_node *n,
                         struct lks_json_writer *w)
{
    LKS_CLEANUP(lks_tuple_fini) struct lks_tuple tuple = {0};
    struct lks_str basis = lks_state_readings(s, n->whole);
    struct lks_err err = {0};
    if (basis.len == 0 || lks_basis_parse(basis, &tuple, &err) != LKS_OK)
        return;
    const struct lks_reading *before = NULL;
    lks_json_begin(w, "readings", '[');
    for (size_t i = 0; i < tuple.count; i++) {
        const struct lks_reading *r = &tuple.readings[i];
        bool again = before != NULL && lks_str_eq(before->name, r->name) &&
                     lks_str_eq(before->part, r->part) && lks_str_eq(before->value, r->value);
        if (r->state != LKS_MEASURED || again)
            continue;
        lks_json_write(w, "['%.*s', '%.*s', '%.*s']", LKS_STR_ARG(r->name), LKS_STR_ARG(r->part),
                       LKS_STR_ARG(r->value));
        before = r;
    }
    lks_json_end(w, ']');
}

static void put_node(const struct lks_state *s, uint32_t node, lks_ms at, bool readings,
                     struct lks_json_writer *w)
{
    char time[LKS_TIME_TEXT_SIZE];
    struct lks_str name = lks_state_name(s, node);
    lks_json_write(w, "{'node': '%.*s', 'time': '%s', 'seq': %lu", LKS_STR_ARG(name),
                   lks_time_text(at, time), s->seq);
    lks_view_node(w, s, node, (struct lks_now){.wall = at}, LKS_USE_LISTED | LKS_USE_SHOWN);
    if (readings)
        put_readings(s, &s->nodes[node], w);
    lks_json_end(w, '}');
}

static enum lks_code fold(struct lks_store *store, const struct lks_public_key *key, lks_ms at,
                          struct lks_state *out, struct lks_err *err)
{
    struct lks_store_tail tail;
    if (lks_state_init(out, 0, err) != LKS_OK)
        return err->code;
    return lks_journal_fold(store, key, at, out, &tail, err);
}

static enum lks_code find_node(const struct lks_state *s, struct lks_str name, uint32_t *out,
                               struct lks_err *err)
{
    struct lks_near near = lks_near_to(name);
    char hint[LKS_NEAR_HINT_SIZE];
    *out = lks_state_node(s, name);
    if (*out != LKS_NO_NODE)
        return LKS_OK;
    for (uint32_t i = 0; i < s->node_count; i++)
        if (s->nodes[i].placed)
            lks_near_try(&near, lks_state_name(s, i));
    return lks_fail(err, LKS_E_NOT_FOUND, "the fleet had no node '%" LKS_STR_FMT "' then%s",
                    LKS_STR_ARG(name), lks_near_hint(&near, hint));
}

static enum lks_code find_pool(const struct lks_state *s, struct lks_str name, uint32_t *out,
                               struct lks_err *err)
{
    struct lks_near near = lks_near_to(name);
    char hint[LKS_NEAR_HINT_SIZE];
    *out = lks_state_pool(s, name);
    if (*out < s->pool_count && s->pools[*out].known)
        return LKS_OK;
    for (uint32_t i = 0; i < s->pool_count; i++)
        if (s->pools[i].known)
            lks_near_try(&near, lks_state_text(s, s->pools[i].name));
    return lks_fail(err, LKS_E_NOT_FOUND, "the fleet had no pool '%" LKS_STR_FMT "' then%s",
                    LKS_STR_ARG(name), lks_near_hint(&near, hint));
}

static enum lks_code put_nodes(const struct lks_state *s, const struct lks_past *past,
                               struct lks_json_writer *w, struct lks_err *err)
{
    uint32_t node, pool = UINT32_MAX;
    if (past->count == 0 && find_pool(s, past->pool, &pool, err) != LKS_OK)
        return err->code;
    for (uint32_t i = 0; past->count == 0 && i < s->node_count; i++)
        if (s->nodes[i].placed && s->nodes[i].pool == pool)
            put_node(s, i, past->at, past->readings, w);
    for (size_t i = 0; i < past->count; i++) {
        if (find_node(s, past->names[i], &node, err) != LKS_OK)
            return err->code;
        put_node(s, node, past->at, past->readings, w);
    }
    return LKS_OK;
}

enum lks_code lks_journal_past(struct lks_store *store, const struct lks_public_key *key,
                               const struct lks_past *past, struct lks_buf *out,
                               struct lks_err *err)
{
    LKS_CLEANUP(lks_state_fini) struct lks_state state = {0};
    struct lks_json_writer w = {.out = out};
    char time[LKS_TIME_TEXT_SIZE];
    if (fold(store, key, past->at, &state, err) != LKS_OK)
        return err->code;
    lks_json_write(&w, "{'time': '%s', 'seq': %lu, 'items': [", lks_time_text(past->at, time),
                   state.seq);
    if (put_nodes(&state, past, &w, err) != LKS_OK)
        return err->code;
    lks_json_write(&w, "]}");
    return lks_buf_check(out, err);
}

enum lks_code lks_journal_at(struct lks_store *store, const struct lks_public_key *key, lks_ms at,
                             struct lks_str name, struct lks_buf *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_state_fini) struct lks_state state = {0};
    struct lks_json_writer w = {.out = out};
    uint32_t node;
    if (fold(store, key, at, &state, err) != LKS_OK ||
        find_node(&state, name, &node, err) != LKS_OK)
        return err->code;
    put_node(&state, node, at, true, &w);
    return lks_buf_check(out, err);
}
