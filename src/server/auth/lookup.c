#include "server/auth/lookup.h"

#include "base/near.h"
#include "core/registry/named.h"

#include <string.h>

static const char *const words[] = {
    [LKS_LOOKUP_SITE] = "site",
    [LKS_LOOKUP_RACK] = "rack",
    [LKS_LOOKUP_DOMAIN] = "domain",
    [LKS_LOOKUP_CLASS] = "class",
};

static lks_text text_of(const struct lks_node *n, enum lks_lookup what)
{
    switch (what) {
    case LKS_LOOKUP_SITE:
        return n->site;
    case LKS_LOOKUP_RACK:
        return n->rack;
    case LKS_LOOKUP_DOMAIN:
        return n->domain;
    case LKS_LOOKUP_CLASS:
        break;
    }
    return n->class;
}

static void refuse(struct lks_call *call, const char *what, const struct lks_near *near)
{
    char hint[LKS_NEAR_HINT_SIZE];
    lks_call_problem(call, LKS_E_NOT_FOUND, "there is no %s '%" LKS_STR_FMT "'%s", what,
                     LKS_STR_ARG(near->wanted), lks_near_hint(near, hint));
}

bool lks_lookup_text(const struct lks_authz *authz, struct lks_call *call, enum lks_lookup what,
                     struct lks_str text, lks_text *out)
{
    const struct lks_state *s = authz->state;
    struct lks_authz_view sight = lks_authz_sight(authz, call);
    struct lks_near near = lks_near_to(text);
    lks_text wanted = 0, last = 0;
    *out = 0;
    if (text.len == 0)
        return true;
    bool known = lks_intern_find(&s->texts, text, &wanted);
    for (uint32_t i = 0; i < s->node_count; i++) {
        lks_text has = s->nodes[i].placed ? text_of(&s->nodes[i], what) : 0;
        if (has == 0 || has == last || !lks_authz_sees(&sight, i))
            continue;
        if (known && has == wanted) {
            *out = wanted;
            return true;
        }
        lks_near_try(&near, lks_state_text(s, has));
        last = has;
    }
    refuse(call, words[what], &near);
    return false;
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

bool lks_lookup_pool(const struct lks_authz *authz, struct lks_call *call, struct lks_str text,
                     bool *given, uint32_t *out)
{
    const struct lks_state *s = authz->state;
    struct lks_authz_view sight = lks_authz_sight(authz, call);
    struct lks_near near = lks_near_to(text);
    *given = text.len > 0;
    *out = *given ? lks_state_pool(s, text) : 0;
    if (!*given || (*out < s->pool_count && s->pools[*out].known))
        return true; /* of one that the caller does not see, the list is cut to nothing */
    for (uint32_t i = 0; i < s->pool_count; i++)
        if (s->pools[i].known && sees_pool(authz, call, &sight, i))
            lks_near_try(&near, lks_state_text(s, s->pools[i].name));
    refuse(call, "pool", &near);
    return false;
}

void lks_lookup_no_node(const struct lks_authz *authz, struct lks_call *call, struct lks_str name)
{
    const struct lks_state *s = authz->state;
    struct lks_authz_view sight = lks_authz_sight(authz, call);
    struct lks_near near = lks_near_to(name);
    for (uint32_t i = 0; i < s->node_count; i++)
        if (s->nodes[i].placed && lks_authz_sees(&sight, i))
            lks_near_try(&near, lks_state_name(s, i));
    refuse(call, "node", &near);
}

bool lks_lookup_node(const struct lks_authz *authz, struct lks_call *call, struct lks_str text,
                     uint32_t *out)
{
    struct lks_authz_view sight = lks_authz_sight(authz, call);
    *out = text.len > 0 ? lks_state_node(authz->state, text) : LKS_NO_NODE;
    if (text.len == 0 || (*out != LKS_NO_NODE && lks_authz_sees(&sight, *out)))
        return true;
    lks_lookup_no_node(authz, call, text);
    return false;
}

bool lks_lookup_tuple(const struct lks_authz *authz, struct lks_call *call, struct lks_str text,
                      lks_text *out)
{
    const struct lks_state *s = authz->state;
    struct lks_authz_view sight = lks_authz_sight(authz, call);
    *out = 0;
    for (uint32_t i = 0; text.len > 0 && i < s->node_count; i++) {
        lks_text has = s->nodes[i].tuple;
        if (has == 0 || has == *out || !s->nodes[i].placed || !lks_authz_sees(&sight, i) ||
            !lks_named_begins(text, lks_state_text(s, has)))
            continue;
        if (*out != 0) {
            lks_call_problem(call, LKS_E_INVALID,
                             "query: tuple: several start with '%" LKS_STR_FMT "': %" LKS_STR_FMT
                             " and %" LKS_STR_FMT " are two; give more of it",
                             LKS_STR_ARG(text), LKS_STR_ARG(lks_state_text(s, *out)),
                             LKS_STR_ARG(lks_state_text(s, has)));
            return false;
        }
        *out = has;
    }
    if (text.len == 0 || *out != 0)
        return true;
    lks_call_problem(call, LKS_E_NOT_FOUND, "no node runs the tuple '%" LKS_STR_FMT "'",
                     LKS_STR_ARG(text));
    return false;
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
