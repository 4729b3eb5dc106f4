#include "core/state/access.h"

#include "base/intern.h"
#include "base/time.h"
#include "core/rows/credential.h"
#include "core/rows/pool.h"
#include "core/state/state.h"
#include "core/state/state_room.h"
#include "model/record/record_words.h"

#include <stdio.h>

const char *const lks_permission_words[] = {"nothing", "know",  "read",   "operate",
                                            "approve", "admin", "report", NULL};

/* No role that can change the fleet can also approve: an admin who should is given both roles, and
 * the journal has both. Nor does an admin report: that is for the node's own certificate. */
/* clang-format off */
static const bool table[LKS_ROLE_COUNT][LKS_PERMISSION_COUNT] = {
    /*                     nothing know   read   operate approve admin  report */
    [LKS_ROLE_VIEWER]   = {true,   true,  true,  false,  false,  false, false},
    [LKS_ROLE_OPERATOR] = {true,   true,  true,  true,   false,  false, false},
    [LKS_ROLE_APPROVER] = {true,   true,  true,  false,  true,   false, false},
    [LKS_ROLE_ADMIN]    = {true,   true,  true,  true,   false,  true,  false},
    [LKS_ROLE_AGENT]    = {true,   true,  false, false,  false,  false, true},
};
/* clang-format on */

bool lks_access_role_may(enum lks_role role, enum lks_permission permission)
{
    LKS_ASSERT(role < LKS_ROLE_COUNT && permission < LKS_PERMISSION_COUNT);
    return table[role][permission];
}

struct lks_scope lks_access_scope_of_node(const struct lks_state *s, uint32_t node)
{
    const struct lks_node *n = &s->nodes[node];
    struct lks_scope scope = {.site = lks_state_text(s, n->site)};
    if (n->pool < s->pool_count)
        scope.pool = lks_state_text(s, s->pools[n->pool].name);
    return scope;
}

static bool within(struct lks_str bound, struct lks_str where)
{
    return bound.len == 0 || lks_str_eq(bound, where);
}

/* The node whose certificate gives `identity`; LKS_NO_NODE for anyone else, and for a node that is
 * not, or no longer, enrolled. */
static uint32_t node_of(const struct lks_state *s, struct lks_str identity)
{
    struct lks_str prefix, name;
    if (!lks_str_cut(identity, ':', &prefix, &name) || !lks_str_is(prefix, "node"))
        return LKS_NO_NODE;
    uint32_t node = lks_state_node(s, name);
    return node != LKS_NO_NODE && s->nodes[node].enrolled ? node : LKS_NO_NODE;
}

/* A node is an agent where it stands, without a binding. */
static bool node_may(const struct lks_state *s, struct lks_str identity,
                     enum lks_permission permission, const struct lks_scope *at)
{
    uint32_t node = node_of(s, identity);
    if (node == LKS_NO_NODE || !lks_access_role_may(LKS_ROLE_AGENT, permission))
        return false;
    struct lks_scope own = lks_access_scope_of_node(s, node);
    return at == NULL || (lks_str_eq(own.site, at->site) && lks_str_eq(own.pool, at->pool));
}

/* Logins ------------------------------------------------------------------------------------ */

static struct lks_str bare_name(struct lks_str identity)
{
    struct lks_str prefix, rest;
    return lks_str_cut(identity, ':', &prefix, &rest) && lks_str_is(prefix, "user") ? rest
                                                                                    : identity;
}

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-';
}

/* A token's id has fewer characters than a name, such as no '@'. */
bool lks_access_login_id(struct lks_str identity, char out[LKS_TOKEN_ID_MAX + 1])
{
    int len = snprintf(out, LKS_TOKEN_ID_MAX + 1, LKS_LOGIN_ID "%" LKS_STR_FMT ".",
                       LKS_STR_ARG(bare_name(identity)));
    for (char *at = out; *at != '\0'; at++)
        *at = is_plain(*at) ? *at : '_';
    return len > 0 && len <= LKS_TOKEN_ID_MAX;
}

/* Tokens are in the order of their ids, and those of one person's logins begin alike. Others may
 * stand between them, whose names begin with that person's. */
static void find_logins(const struct lks_state *s, struct lks_str identity, struct lks_sight *out)
{
    char prefix[LKS_TOKEN_ID_MAX + 1];
    uint32_t first = 0;
    if (!lks_access_login_id(identity, prefix))
        return;
    (void)lks_state_sorted_at(s, LKS_SORTED_TOKENS, lks_str_from(prefix), &first);
    uint32_t end = first;
    while (end < s->token_count && lks_str_starts(lks_state_text(s, s->tokens[end].id), prefix))
        end++;
    out->logins = end > first ? &s->tokens[first] : NULL;
    out->login_count = end - first;
    for (uint32_t i = first; i < end && out->identity == 0; i++) {
        if (lks_str_eq(lks_state_text(s, s->tokens[i].identity), identity))
            out->identity = s->tokens[i].identity;
    }
}

static void find_login(const struct lks_state *s, struct lks_str identity,
                       struct lks_str credential, struct lks_sight *out)
{
    struct lks_str kind, id;
    if (!lks_str_cut(credential, ':', &kind, &id) || !lks_str_is(kind, "token"))
        return;
    const struct lks_api_token *token = lks_state_token(s, id);
    if (token == NULL || !lks_str_eq(lks_state_text(s, token->identity), identity))
        return;
    out->logins = token;
    out->login_count = 1;
    out->identity = token->identity;
}

static struct lks_sight sight_of(const struct lks_state *s, struct lks_str identity,
                                 struct lks_str credential, enum lks_permission permission)
{
    struct lks_sight sight = {.permission = permission};
    sight.bindings = lks_state_bindings(s, identity, &sight.count);
    if (credential.len > 0)
        find_login(s, identity, credential, &sight);
    else
        find_logins(s, identity, &sight);
    return sight;
}

/* Whether a role of a login is the person's and gives the permission at a pool; `anywhere`: at
 * some. */
static bool role_gives(const struct lks_sight *sight, const struct lks_api_token *t, uint32_t role,
                       lks_text pool, bool anywhere)
{
    const struct lks_login_role *r = &t->roles[role];
    return t->identity == sight->identity && lks_access_role_may(r->role, sight->permission) &&
           (anywhere || r->pool == 0 || r->pool == pool);
}

static bool login_may(const struct lks_sight *sight, lks_text pool)
{
    for (uint32_t i = 0; i < sight->login_count; i++) {
        for (uint32_t k = 0; k < sight->logins[i].role_count; k++) {
            if (role_gives(sight, &sight->logins[i], k, pool, false))
                return true;
        }
    }
    return false;
}

/* The number of a pool's name; 0: no role can be bound to it. */
static lks_text text_of(const struct lks_state *s, struct lks_str name)
{
    uint32_t id = 0;
    return name.len > 0 && lks_intern_find(&s->texts, name, &id) ? id : 0;
}

/* Questions --------------------------------------------------------------------------------- */

static bool next_binding(const struct lks_state *s, const struct lks_sight *sight,
                         const struct lks_scope *at, struct lks_access_walk *walk,
                         struct lks_access_grant *out)
{
    while (walk->binding < sight->count) {
        const struct lks_binding *b = &sight->bindings[walk->binding++];
        if (!lks_access_role_may(b->role, sight->permission) ||
            (at != NULL && !(within(lks_state_text(s, b->site), at->site) &&
                             within(lks_state_text(s, b->pool), at->pool))))
            continue;
        *out = (struct lks_access_grant){.role = b->role, .site = b->site, .pool = b->pool};
        return true;
    }
    return false;
}

static bool next_role(const struct lks_state *s, const struct lks_sight *sight,
                      const struct lks_scope *at, struct lks_access_walk *walk,
                      struct lks_access_grant *out)
{
    lks_text pool = at != NULL && sight->login_count > 0 ? text_of(s, at->pool) : 0;
    for (; walk->login < sight->login_count; walk->login++, walk->role = 0) {
        const struct lks_api_token *t = &sight->logins[walk->login];
        while (walk->role < t->role_count) {
            uint32_t role = walk->role++;
            if (!role_gives(sight, t, role, pool, at == NULL))
                continue;
            *out = (struct lks_access_grant){
                .role = t->roles[role].role, .pool = t->roles[role].pool, .login = t};
            return true;
        }
    }
    return false;
}

bool lks_access_grant_next(const struct lks_state *s, const struct lks_sight *sight,
                           const struct lks_scope *at, struct lks_access_walk *walk,
                           struct lks_access_grant *out)
{
    return next_binding(s, sight, at, walk, out) || next_role(s, sight, at, walk, out);
}

/* `at` may be NULL: anywhere. */
static bool may(const struct lks_state *s, struct lks_str identity, struct lks_str credential,
                enum lks_permission permission, const struct lks_scope *at)
{
    struct lks_access_walk walk = {0};
    struct lks_access_grant grant;
    if (permission == LKS_MAY_NOTHING)
        return true;
    if (identity.len == 0 || permission == LKS_MAY_KNOW)
        return identity.len > 0;
    struct lks_sight sight = sight_of(s, identity, credential, permission);
    return lks_access_grant_next(s, &sight, at, &walk, &grant) ||
           node_may(s, identity, permission, at);
}

bool lks_access_may_by(const struct lks_state *s, struct lks_str identity,
                       struct lks_str credential, enum lks_permission permission,
                       struct lks_scope scope)
{
    return may(s, identity, credential, permission, &scope);
}

bool lks_access_somewhere_by(const struct lks_state *s, struct lks_str identity,
                             struct lks_str credential, enum lks_permission permission)
{
    return may(s, identity, credential, permission, NULL);
}

bool lks_access_may(const struct lks_state *s, struct lks_str identity,
                    enum lks_permission permission, struct lks_scope scope)
{
    return may(s, identity, LKS_STR(""), permission, &scope);
}

bool lks_access_somewhere(const struct lks_state *s, struct lks_str identity,
                          enum lks_permission permission)
{
    return may(s, identity, LKS_STR(""), permission, NULL);
}

struct lks_sight lks_access_sight_by(const struct lks_state *s, struct lks_str identity,
                                     struct lks_str credential, enum lks_permission permission)
{
    LKS_ASSERT(permission > LKS_MAY_KNOW && permission != LKS_MAY_REPORT);
    return sight_of(s, identity, credential, permission);
}

struct lks_sight lks_access_sight(const struct lks_state *s, struct lks_str identity,
                                  enum lks_permission permission)
{
    return lks_access_sight_by(s, identity, LKS_STR(""), permission);
}

/* Texts are kept once, so equal ones have equal numbers. */
bool lks_access_sees(const struct lks_state *s, const struct lks_sight *sight, uint32_t node)
{
    const struct lks_node *n = &s->nodes[node];
    lks_text pool = n->pool < s->pool_count ? s->pools[n->pool].name : 0;
    for (uint32_t i = 0; i < sight->count; i++) {
        const struct lks_binding *b = &sight->bindings[i];
        if (lks_access_role_may(b->role, sight->permission) &&
            (b->site == 0 || b->site == n->site) && (b->pool == 0 || b->pool == pool))
            return true;
    }
    return login_may(sight, pool);
}

bool lks_access_same_person(struct lks_str a, struct lks_str b)
{
    return lks_str_eq_nocase(bare_name(lks_str_trim(a)), bare_name(lks_str_trim(b)));
}

struct lks_str lks_access_token(const struct lks_state *s, struct lks_str id, struct lks_str hash,
                                lks_ms now)
{
    const struct lks_api_token *token = lks_state_token(s, id);
    lks_ms at = now > s->clock ? now : s->clock; /* a logout ends it by the journal's clock */
    if (token == NULL || !lks_token_same(lks_state_text(s, token->hash), hash) ||
        (token->expires != 0 && at >= token->expires))
        return (struct lks_str){"", 0};
    return lks_state_text(s, token->identity);
}
