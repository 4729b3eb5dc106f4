/* What closes a published vulnerability, pool by pool. */
#include "core/exposure/remedies.h"
#include "core/rows/change.h"
#include "core/rows/pool.h"
#include "core/rows/registry.h"
#include "core/state/state.h"
#include "server/api/handle.h"
#include "server/auth/authz.h"
#include "server/form/views.h"

#include <stdlib.h>

/* Nodes that the caller sees, by pool. */
struct seen {
    struct lks_arena arena; /* owns the rest */
    struct lks_str **names;
    uint32_t *counts;
};

static void seen_fini(struct seen *v)
{
    lks_arena_fini(&v->arena);
}

static enum lks_code look(const struct lks_authz *authz, const struct lks_call *call,
                          struct seen *v, struct lks_err *err)
{
    const struct lks_state *s = authz->state;
    struct lks_authz_view sight = lks_authz_sight(authz, call);
    lks_arena_init(&v->arena, LKS_DECISION_MEMORY_MAX);
    v->names = lks_arena_array(&v->arena, (size_t)s->pool_count + 1, sizeof(*v->names));
    v->counts = lks_arena_array(&v->arena, (size_t)s->pool_count + 1, sizeof(*v->counts));
    if (v->names == NULL || v->counts == NULL)
        return lks_arena_fail(&v->arena, err);
    for (uint32_t i = 0; i < s->node_count; i++) {
        const struct lks_node *n = &s->nodes[i];
        if (!n->placed || n->asset != 0 || n->pool >= s->pool_count || !lks_authz_sees(&sight, i))
            continue;
        struct lks_str **names = &v->names[n->pool];
        if (*names == NULL)
            *names = lks_arena_array(&v->arena, s->pools[n->pool].nodes, sizeof(**names));
        if (*names == NULL)
            return lks_arena_fail(&v->arena, err);
        (*names)[v->counts[n->pool]++] = lks_state_name(s, i);
    }
    return LKS_OK;
}

static enum lks_code put_hosts(const struct seen *v, uint32_t pool, struct lks_json_writer *w,
                               struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_HOSTLIST_BYTES_MAX);
    if (lks_hostlist_fold(v->names[pool], v->counts[pool], &text, err) != LKS_OK)
        return err->code;
    lks_json_text(w, "hosts", lks_buf_view(&text));
    return LKS_OK;
}

static void put_remedy(struct lks_json_writer *w, const struct lks_state *s,
                       const struct lks_remedy *r)
{
    lks_json_begin(w, NULL, '{');
    lks_json_text(w, "stack", lks_state_text(s, r->row->name));
    lks_json_text(w, "digest", lks_state_text(s, r->row->digest));
    lks_json_cstr(w, "step", lks_step_words[r->row->step]);
    lks_json_int(w, "differences", (int64_t)r->differences);
    lks_json_int(w, "opens", (int64_t)r->opens);
    lks_json_bool(w, "same_branch", r->branch);
    lks_json_bool(w, "whole", r->whole);
    lks_json_bool(w, "revertible", r->back);
    lks_json_end(w, '}');
}

static void put_remedies(struct lks_json_writer *w, const struct lks_state *s,
                         const struct lks_remedies *r)
{
    const struct lks_remedy *best = lks_remedies_best(r);
    lks_json_bool(w, "exposed", r->exposed);
    lks_view_text(w, "component", r->component);
    lks_view_text(w, "fixed", r->fixed);
    if (best != NULL) {
        lks_json_text(w, "remedy", lks_state_text(s, best->row->name));
        lks_json_text(w, "remedy_digest", lks_state_text(s, best->row->digest));
    }
    lks_json_begin(w, "closed_by", '[');
    for (size_t i = 0; i < r->count; i++)
        put_remedy(w, s, &r->list[i]);
    lks_json_end(w, ']');
}

static enum lks_code put_pool(const struct lks_authz *authz, const struct seen *v,
                              const struct lks_pool_classes *classes, uint32_t pool,
                              const struct lks_advisory *advisory, struct lks_json_writer *w,
                              struct lks_err *err)
{
    const struct lks_state *s = authz->state;
    const struct lks_book *book = lks_engine_book(authz->engine);
    const struct lks_state_change *change = lks_remedies_change(s, book, pool, advisory);
    struct lks_remedies r;
    if (lks_remedies_of(s, book, classes, pool, advisory, &r, err) != LKS_OK)
        return err->code;
    lks_json_begin(w, NULL, '{');
    lks_json_text(w, "pool", lks_state_text(s, s->pools[pool].name));
    lks_view_text(w, "stack", lks_state_text(s, s->pools[pool].stack));
    lks_view_text(w, "stack_digest", lks_state_text(s, s->pools[pool].stack_digest));
    lks_json_int(w, "nodes", v->counts[pool]);
    if (r.exposed && put_hosts(v, pool, w, err) != LKS_OK)
        return err->code;
    if (change != NULL)
        lks_json_int(w, "change", (int64_t)change->id);
    put_remedies(w, s, &r);
    lks_json_end(w, '}');
    return LKS_OK;
}

void lks_handle_remedies(struct lks_authz *authz, struct lks_call *call)
{
    LKS_CLEANUP(seen_fini) struct seen v = {0};
    LKS_CLEANUP(lks_cadence_classes_fini) struct lks_pool_classes classes = {0};
    const struct lks_facts *facts = lks_engine_book(authz->engine)->facts;
    struct lks_str cve = LKS_ASKED(call, lks_ask_cve)->cve;
    const struct lks_advisory *advisory = lks_facts_advisory(facts, cve);
    struct lks_err err = {0};
    if (advisory == NULL) {
        lks_call_problem(call, LKS_E_NOT_FOUND, "no advisory '%" LKS_STR_FMT "' is known",
                         LKS_STR_ARG(cve));
        return;
    }
    enum lks_code code = look(authz, call, &v, &err);
    if (code == LKS_OK)
        code = lks_cadence_classes_all(&classes, authz->state, &err);
    struct lks_json_writer w = lks_call_json(call);
    lks_json_text(&w, "id", advisory->id);
    lks_json_begin(&w, "items", '[');
    for (uint32_t p = 0; code == LKS_OK && p < authz->state->pool_count; p++) {
        if (authz->state->pools[p].known && v.counts[p] > 0)
            code = put_pool(authz, &v, &classes, p, advisory, &w, &err);
    }
    lks_json_end(&w, ']');
    lks_json_end(&w, '}');
    if (code != LKS_OK)
        lks_call_problem_err(call, &err);
}
