#include "server/auth/lookup.h"

#include "base/bitset.h"
#include "base/near.h"
#include "codec/notation/hostlist.h"
#include "core/registry/named.h"
#include "core/rows/credential.h"
#include "core/rows/pool.h"
#include "core/rows/registry.h"
#include "core/state/state.h"
#include "core/view/view.h"

#include <string.h>

/* Where no name is near, the command that lists them is named instead. */
static void refuse(struct lks_call *call, const char *what, const struct lks_near *near,
                   const char *list)
{
    char hint[LKS_NEAR_HINT_SIZE];
    bool none = lks_near_hint(near, hint)[0] == '\0';
    lks_call_problem(call, LKS_E_NOT_FOUND, "there is no %s '%" LKS_STR_FMT "'%s%s%s", what,
                     LKS_STR_ARG(near->wanted), hint, none ? "; see lockstep " : "",
                     none ? list : "");
}

static lks_text text_of(const struct lks_column *c, const struct lks_node *n)
{
    return n->placed ? (lks_text)lks_entity_number(c, n, 0) : 0;
}

/* The text that a node which the caller sees has in this column. */
static bool find_text(const struct lks_authz *authz, struct lks_call *call,
                      const struct lks_column *c, struct lks_str text, uint64_t *out)
{
    const struct lks_state *s = authz->state;
    struct lks_authz_view sight = lks_authz_sight(authz, call);
    struct lks_near near = lks_near_to(text);
    LKS_CLEANUP(lks_bitset_fini) struct lks_bitset tried = {0};
    struct lks_err err = {0};
    lks_text wanted = 0;
    bool known = lks_intern_find(&s->texts, text, &wanted);
    if (lks_bitset_init(&tried, (size_t)lks_intern_count(&s->texts) + 1, &err) != LKS_OK) {
        lks_call_problem_err(call, &err);
        return false;
    }
    for (uint32_t i = 0; i < s->node_count; i++) {
        lks_text has = text_of(c, &s->nodes[i]);
        if (has == 0 || lks_bitset_test(&tried, has) || !lks_authz_sees(&sight, i))
            continue;
        if (known && has == wanted) {
            *out = wanted;
            return true;
        }
        lks_near_try(&near, lks_state_text(s, has));
        lks_bitset_set(&tried, has);
    }
    refuse(call, lks_view_row_key(c), &near, "node ls");
    return false;
}

/* The one that starts so. */
static bool find_beginning(const struct lks_authz *authz, struct lks_call *call,
                           const struct lks_column *c, struct lks_str text, uint64_t *out)
{
    const struct lks_state *s = authz->state;
    struct lks_authz_view sight = lks_authz_sight(authz, call);
    const char *key = lks_view_row_key(c);
    lks_text found = 0;
    for (uint32_t i = 0; i < s->node_count; i++) {
        lks_text has = text_of(c, &s->nodes[i]);
        if (has == 0 || has == found || !lks_authz_sees(&sight, i) ||
            !lks_named_begins(text, lks_state_text(s, has)))
            continue;
        if (found != 0) {
            lks_call_problem(call, LKS_E_INVALID,
                             "query: %s: '%" LKS_STR_FMT "' is ambiguous: %" LKS_STR_FMT
                             " and %" LKS_STR_FMT " start with it; give more characters",
                             key, LKS_STR_ARG(text), LKS_STR_ARG(lks_state_text(s, found)),
                             LKS_STR_ARG(lks_state_text(s, has)));
            return false;
        }
        found = has;
    }
    *out = found;
    if (found == 0)
        lks_call_problem(call, LKS_E_NOT_FOUND, "no node runs the %s '%" LKS_STR_FMT "'", key,
                         LKS_STR_ARG(text));
    return found != 0;
}

/* A reader of all there sees a pool without nodes, too. */
static bool sees_pool(const struct lks_authz *authz, const struct lks_call *call,
                      const struct lks_authz_view *sight, uint32_t pool)
{
    const struct lks_state *s = authz->state;
    struct lks_scope scope = {.pool = lks_state_text(s, s->pools[pool].name)};
    if (sight->all || lks_authz_may(authz, call, LKS_MAY_READ, scope))
        return true;
    for (uint32_t i = 0; i < s->node_count; i++)
        if (s->nodes[i].placed && s->nodes[i].pool == pool && lks_authz_sees(sight, i))
            return true;
    return false;
}

void lks_lookup_no_pool(const struct lks_authz *authz, struct lks_call *call, struct lks_str name)
{
    const struct lks_state *s = authz->state;
    struct lks_authz_view sight = lks_authz_sight(authz, call);
    struct lks_near near = lks_near_to(name);
    for (uint32_t i = 0; i < s->pool_count; i++)
        if (s->pools[i].known && sees_pool(authz, call, &sight, i))
            lks_near_try(&near, lks_state_text(s, s->pools[i].name));
    refuse(call, "pool", &near, "fleet show");
}

bool lks_lookup_pool(const struct lks_authz *authz, struct lks_call *call, struct lks_str text,
                     bool *given, uint32_t *out)
{
    const struct lks_state *s = authz->state;
    *given = text.len > 0;
    *out = *given ? lks_state_pool(s, text) : 0;
    struct lks_authz_view sight = lks_authz_sight(authz, call);
    if (!*given ||
        (*out < s->pool_count && s->pools[*out].known && sees_pool(authz, call, &sight, *out)))
        return true;
    lks_lookup_no_pool(authz, call, text);
    return false;
}

void lks_lookup_no_node(const struct lks_authz *authz, struct lks_call *call, struct lks_str name)
{
    enum { TRIES_MAX = 2000 }; /* a hint is not worth more of the state thread's time */
    const struct lks_state *s = authz->state;
    struct lks_authz_view sight = lks_authz_sight(authz, call);
    struct lks_near near = lks_near_to(name);
    for (uint32_t i = 0, tries = 0; i < s->node_count && tries < TRIES_MAX; i++) {
        if (!s->nodes[i].placed || !lks_authz_sees(&sight, i))
            continue;
        lks_near_try(&near, lks_state_name(s, i));
        tries++;
    }
    refuse(call, "node", &near, "node ls");
}

void lks_lookup_maybe_node(const struct lks_call *call, struct lks_str name, struct lks_buf *out)
{
    lks_buf_addf(out,
                 "; or there is no node '%" LKS_STR_FMT "': 'lockstep node ls' lists those that %s "
                 "may read",
                 LKS_STR_ARG(name), call->identity);
}

bool lks_lookup_person(const struct lks_state *s, struct lks_str identity, struct lks_str *nearest)
{
    struct lks_near near = lks_near_to(identity);
    for (uint32_t i = 0; i < s->token_count + s->person_count; i++) {
        lks_text has =
            i < s->token_count ? s->tokens[i].identity : s->persons[i - s->token_count].identity;
        if (lks_str_eq(lks_state_text(s, has), identity))
            return true;
    }
    *nearest = LKS_STR("");
    for (uint32_t i = 0; i < s->binding_count; i++) {
        struct lks_str has = lks_state_text(s, s->bindings[i].identity);
        if (lks_str_eq(has, identity))
            return true;
        if (lks_access_same_person(has, identity))
            *nearest = has;
        lks_near_try(&near, has);
    }
    *nearest = nearest->len > 0 ? *nearest : near.best;
    return false;
}

/* Whether the caller may know the node or asset of a name: who does not see all knows what is in
 * the fleet and seen. */
static bool is_known(const struct lks_authz *authz, const struct lks_authz_view *sight, uint32_t id)
{
    return sight->all || (authz->state->nodes[id].placed && lks_authz_sees(sight, id));
}

bool lks_lookup_ever(const struct lks_authz *authz, struct lks_call *call, struct lks_str name)
{
    struct lks_authz_view sight = lks_authz_sight(authz, call);
    uint32_t id = 0;
    if (name.len == 0 ||
        (lks_intern_find(&authz->state->names, name, &id) && is_known(authz, &sight, id)))
        return true;
    lks_lookup_no_node(authz, call, name);
    return false;
}

static bool is_of(const struct lks_authz *authz, struct lks_str name, enum lks_lookup_of of,
                  const struct lks_authz_view *sight, uint32_t *id)
{
    const struct lks_state *s = authz->state;
    if (!lks_intern_find(&s->names, name, id))
        return false;
    if (of == LKS_LOOKUP_PAST)
        return is_known(authz, sight, *id);
    return s->nodes[*id].placed && lks_authz_sees(sight, *id) &&
           (of == LKS_LOOKUP_ALL || s->nodes[*id].asset == 0);
}

bool lks_lookup_hosts(const struct lks_authz *authz, struct lks_call *call, const char *key,
                      struct lks_str text, enum lks_lookup_of of, struct lks_bitset *out)
{
    struct lks_authz_view sight = lks_authz_sight(authz, call);
    struct lks_hostlist hosts = {0};
    struct lks_err err = {0};
    size_t count = 0;
    if (text.len == 0)
        return true;
    enum lks_code code = lks_hostlist_count(text, &count, &err);
    if (code == LKS_OK && count > LKS_AUTHZ_HOSTS_MAX)
        code = lks_fail(&err, LKS_E_INVALID, "more than %d", LKS_AUTHZ_HOSTS_MAX);
    if (code == LKS_OK)
        code = lks_hostlist_parse(text, &call->asked.arena, &hosts, &err);
    if (code == LKS_OK)
        code = lks_bitset_init(out, (size_t)lks_intern_count(&authz->state->names) + 1, &err);
    if (code != LKS_OK) {
        lks_call_problem(call, code, "query: %s: %s", key, err.msg);
        return false;
    }
    for (size_t i = 0; i < hosts.count; i++) {
        uint32_t id = 0;
        if (!is_of(authz, hosts.names[i], of, &sight, &id)) {
            lks_lookup_no_node(authz, call, hosts.names[i]);
            return false;
        }
        lks_bitset_set(out, id);
    }
    return true;
}

static bool find_value(const struct lks_authz *authz, struct lks_call *call,
                       const struct lks_column *c, const struct lks_doc *value, uint64_t *out)
{
    uint32_t pool = 0;
    bool given;
    if (c->type == LKS_COLUMN_POOL && !lks_lookup_pool(authz, call, value->text, &given, &pool))
        return false;
    if (c->type == LKS_COLUMN_WORD)
        return lks_record_word_find(c->words, value->text, out);
    if (c->type == LKS_COLUMN_TEXT && (c->use & LKS_USE_BEGINS) != 0)
        return find_beginning(authz, call, c, value->text, out);
    if (c->type == LKS_COLUMN_TEXT)
        return find_text(authz, call, c, value->text, out);
    LKS_ASSERT(c->type == LKS_COLUMN_POOL || c->type == LKS_COLUMN_TRUTH);
    *out = c->type == LKS_COLUMN_POOL ? pool : value->truth;
    return true;
}

bool lks_lookup_filter(const struct lks_authz *authz, struct lks_call *call,
                       const struct lks_view *view, struct lks_lookup_filter *out)
{
    const struct lks_column *c = NULL;
    const struct lks_view_computed *m = NULL;
    *out = (struct lks_lookup_filter){0};
    for (size_t i = 0; lks_view_row_at(view, LKS_USE_FILTER, i, &c, &m); i++) {
        const struct lks_doc *value =
            c != NULL ? lks_doc_member(call->filters, lks_view_row_key(c)) : NULL;
        if (value == NULL)
            continue;
        LKS_ASSERT(out->count < LKS_COUNT(out->terms));
        out->terms[out->count].column = c;
        if (!find_value(authz, call, c, value, &out->terms[out->count++].wanted))
            return false;
    }
    return true;
}

bool lks_lookup_fits(const struct lks_lookup_filter *f, const void *row)
{
    for (size_t i = 0; i < f->count; i++) {
        if (lks_entity_number(f->terms[i].column, row, 0) != f->terms[i].wanted)
            return false;
    }
    return true;
}

bool lks_lookup_digest(const struct lks_authz *authz, struct lks_call *call, const char *what,
                       struct lks_str *out)
{
    const struct lks_state_stack *stack = NULL;
    const struct lks_state_bundle *bundle = NULL;
    struct lks_err err = {0};
    if (out->len == 0)
        return true;
    enum lks_code code = strcmp(what, "bundle") == 0
                             ? lks_named_bundle(authz->state, *out, &bundle, &err)
                             : lks_named_stack(authz->state, *out, &stack, &err);
    LKS_ASSERT(code != LKS_OK || bundle != NULL || stack != NULL);
    if (code == LKS_OK)
        *out = lks_state_text(authz->state, bundle != NULL ? bundle->digest : stack->digest);
    else if (code != LKS_E_NOT_FOUND)
        lks_call_problem(call, code, "%s: %s", what, err.msg);
    return code == LKS_OK || code == LKS_E_NOT_FOUND;
}

bool lks_lookup_event(const struct lks_authz *authz, struct lks_call *call,
                      enum lks_event_kind kind, struct lks_str reason, struct lks_event *out)
{
    uint32_t node = lks_authz_node(authz, call);
    if (node == LKS_NO_NODE)
        return false;
    *out = (struct lks_event){
        .kind = kind,
        .name = lks_state_name(authz->state, node),
        .reason = reason,
    };
    return true;
}
