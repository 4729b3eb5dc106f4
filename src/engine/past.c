/* What was true of a node at some moment: the journal folded up to it. */
#include "engine/journal.h"

#include "codec/json.h"
#include "core/basis.h"

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
        lks_json_begin(w, NULL, '[');
        lks_json_text(w, NULL, r->name);
        lks_json_text(w, NULL, r->part);
        lks_json_text(w, NULL, r->value);
        lks_json_end(w, ']');
        before = r;
    }
    lks_json_end(w, ']');
}

static void put_node(const struct lks_state *s, uint32_t node, lks_ms at, struct lks_json_writer *w)
{
    const struct lks_node *n = &s->nodes[node];
    const struct lks_state_verdict *v = lks_state_verdict(s, node);
    char time[LKS_TIME_TEXT_SIZE];
    lks_json_begin(w, NULL, '{');
    lks_json_text(w, "node", lks_state_name(s, node));
    lks_json_cstr(w, "time", lks_time_text(at, time));
    lks_json_int(w, "seq", (int64_t)s->seq);
    put_pool(s, n, w);
    lks_json_cstr(w, "liveness", lks_liveness_words[n->liveness]);
    lks_json_cstr(w, "judged", lks_judged_words[lks_state_judged(s, node)]);
    put(w, "tuple", lks_state_text(s, n->tuple));
    put(w, "report", lks_state_text(s, n->report));
    put(w, "boot", lks_state_text(s, n->boot));
    put(w, "first", lks_state_text(s, v == NULL ? 0 : v->first));
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
