#include "server/auth/runs_sight.h"

#include "base/vec.h"
#include "codec/notation/hostlist.h"
#include "core/state/lookup.h"
#include "core/state/state.h"
#include "server/auth/authz.h"

#include <stdlib.h>

#define SIGHT_MEMORY ((size_t)256 << 20)
#define HOSTS_MEMORY ((size_t)64 << 20)

enum { GRANTS_MAX = 100000 };

/* A node that the caller does not read. */
struct unseen {
    struct lks_str name, site;
};

struct lks_runs_sight {
    struct lks_arena arena;
    struct lks_scope *grants; /* owned; empty texts: any */
    size_t grant_count, grant_room;
    struct unseen *nodes; /* of the arena */
    size_t count;
    bool sorted; /* by name */
};

void lks_runs_sight_free(void *sight)
{
    struct lks_runs_sight *v = sight;
    if (v == NULL)
        return;
    free(v->grants);
    lks_arena_fini(&v->arena);
    free(v);
}

static enum lks_code copy_grants(const struct lks_state *s, const struct lks_sight *sight,
                                 struct lks_runs_sight *v, struct lks_err *err)
{
    struct lks_access_walk walk = {0};
    struct lks_access_grant grant;
    while (lks_access_grant_next(s, sight, NULL, &walk, &grant)) {
        const struct lks_scope scope = {
            .site = lks_arena_copy(&v->arena, lks_state_text(s, grant.site)),
            .pool = lks_arena_copy(&v->arena, lks_state_text(s, grant.pool))};
        if (scope.site.ptr == NULL || scope.pool.ptr == NULL)
            return lks_arena_fail(&v->arena, err);
        if (LKS_VEC_ADD(v->grants, v->grant_room, v->grant_count, GRANTS_MAX, scope, err) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}

/* Neighbours are mostly at one site, which is copied where it changes. */
static enum lks_code copy_nodes(const struct lks_state *s, const struct lks_authz_view *view,
                                struct lks_runs_sight *v, struct lks_err *err)
{
    struct lks_str site = {"", 0};
    lks_text last = 0;
    v->nodes = lks_arena_array(&v->arena, s->node_count + (size_t)1, sizeof(*v->nodes));
    if (v->nodes == NULL)
        return lks_arena_fail(&v->arena, err);
    for (uint32_t i = 0; i < s->node_count; i++) {
        const struct lks_node *n = &s->nodes[i];
        if (!n->placed || lks_authz_sees(view, i))
            continue;
        if (n->site != last)
            site = lks_arena_copy(&v->arena, lks_state_text(s, n->site));
        last = n->site;
        struct unseen *u = &v->nodes[v->count++];
        *u = (struct unseen){lks_arena_copy(&v->arena, lks_state_name(s, i)), site};
        if (u->name.ptr == NULL || site.ptr == NULL)
            return lks_arena_fail(&v->arena, err);
    }
    return LKS_OK;
}

enum lks_code lks_runs_sight_new(const struct lks_authz *authz, const struct lks_call *call,
                                 struct lks_runs_sight **out, struct lks_err *err)
{
    const struct lks_authz_view view = lks_authz_sight(authz, call);
    struct lks_runs_sight *v = NULL;
    *out = NULL;
    if (view.all)
        return LKS_OK;
    v = calloc(1, sizeof(*v));
    if (v == NULL)
        return lks_fail_nomem(err);
    lks_arena_init(&v->arena, SIGHT_MEMORY);
    if (copy_grants(authz->state, &view.sight, v, err) != LKS_OK ||
        copy_nodes(authz->state, &view, v, err) != LKS_OK) {
        lks_runs_sight_free(v);
        return err->code;
    }
    *out = v;
    return LKS_OK;
}

static int by_name(const void *a, const void *b)
{
    return lks_str_cmp(((const struct unseen *)a)->name, ((const struct unseen *)b)->name);
}

static bool is_unseen(struct lks_runs_sight *v, struct lks_str name, struct lks_str site)
{
    const struct unseen key = {.name = name};
    if (!v->sorted)
        qsort(v->nodes, v->count, sizeof(*v->nodes), by_name);
    v->sorted = true;
    const struct unseen *u = bsearch(&key, v->nodes, v->count, sizeof(*v->nodes), by_name);
    return u != NULL && lks_str_eq(u->site, site);
}

static bool is_within(struct lks_str bound, struct lks_str at)
{
    return bound.len == 0 || lks_str_eq(bound, at);
}

bool lks_runs_sight_shows(struct lks_runs_sight *v, const struct lks_rec_job_ended *run)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {.max = HOSTS_MEMORY};
    struct lks_hostlist hosts = {0};
    struct lks_err ignored = {0};
    if (v == NULL)
        return true;
    if (LKS_VEC_FIND(v->grants, v->grant_count, it,
                     is_within(it->site, run->site) && is_within(it->pool, run->pool)) == NULL ||
        lks_hostlist_parse(run->hosts, &arena, &hosts, &ignored) != LKS_OK)
        return false;
    for (size_t i = 0; i < hosts.count; i++) {
        if (is_unseen(v, hosts.names[i], run->site))
            return false;
    }
    return true;
}
