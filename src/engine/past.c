/* What was true of a node at some moment: the journal folded up to it. */
#include "engine/journal.h"

#include "codec/json.h"

static void put(struct lks_json_writer *w, const char *key, struct lks_str text)
{
    if (text.len > 0)
        lks_json_text(w, key, text);
}

static void put_pool(const struct lks_state *s, const struct lks_node *n, struct lks_json_writer *w)
{
    if (n->pool == UINT32_MAX)
        return;
    const struct lks_state_pool *pool = &s->pools[n->pool];
    put(w, "pool", lks_state_text(s, pool->name));
    put(w, "stack", lks_state_text(s, pool->stack));
    put(w, "stack_digest", lks_state_text(s, pool->stack_digest));
}

static void put_readings(const struct lks_state *s, const struct lks_node *n,
                         struct lks_json_writer *w)
{
    uint32_t tuple;
    if (!lks_intern_find(&s->tuples, lks_state_text(s, n->tuple), &tuple))
        return;
    struct lks_str readings = lks_state_text(s, s->tuple_readings[tuple]);
    if (readings.len > 0)
        lks_json_raw(w, "readings", readings);
}

static void put_node(const struct lks_state *s, uint32_t node, lks_ms at, struct lks_json_writer *w)
{
    const struct lks_node *n = &s->nodes[node];
    char time[LKS_TIME_TEXT_SIZE];
    lks_json_begin(w, NULL, '{');
    lks_json_text(w, "node", lks_state_name(s, node));
    lks_json_cstr(w, "time", lks_time_text(at, time));
    lks_json_int(w, "seq", (int64_t)s->seq);
    put_pool(s, n, w);
    lks_json_cstr(w, "liveness", lks_liveness_words[n->liveness]);
    lks_json_cstr(w, "judged", lks_judged_words[n->judged]);
    put(w, "tuple", lks_state_text(s, n->tuple));
    put(w, "report", lks_state_text(s, n->report));
    put(w, "boot", lks_state_text(s, n->boot));
    put(w, "first", lks_state_text(s, n->first));
    lks_json_bool(w, "intake", n->intake);
    lks_json_bool(w, "held", n->held);
    put_readings(s, n, w);
    lks_json_end(w, '}');
}

enum lks_code lks_journal_at(struct lks_store *store, const struct lks_public_key *key, lks_ms at,
                             struct lks_str name, struct lks_buf *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_state_fini) struct lks_state state = {0};
    struct lks_store_tail tail;
    struct lks_json_writer w = {.out = out};
    if (lks_state_init(&state, 0, err) != LKS_OK ||
        lks_journal_fold(store, key, at, &state, &tail, err) != LKS_OK)
        return err->code;
    uint32_t node = lks_state_node(&state, name);
    if (node == LKS_NO_NODE)
        return lks_fail(err, LKS_E_NOT_FOUND, "the fleet had no node '%" LKS_STR_FMT "' then",
                        LKS_STR_ARG(name));
    put_node(&state, node, at, &w);
    return lks_buf_check(out, err);
}
