/* Reading management endpoints in turn: leases, and how well it goes. The store has the leases, so
 * a call goes there and comes back. */
#include "base/vec.h"
#include "core/firmware/sweep.h"
#include "core/rows/change.h"
#include "core/rows/pool.h"
#include "core/state/state.h"
#include "server/api/handle.h"
#include "server/api/sweeps.h"
#include "server/auth/authz.h"
#include "server/base/daemon.h"
#include "server/call/internal.h"
#include "server/form/views.h"

#include <stdio.h>
#include <stdlib.h>

#define ENDPOINTS_MEMORY_MAX ((size_t)512 << 20)
#define DAY_MS               ((lks_ms)86400 * LKS_SECOND)

enum {
    SCAN_MAX = 20000,   /* nodes that one page of pools looks at */
    FAILURE_SIZE = 256, /* of why an endpoint could not be read */
};

struct lks_authz_endpoint {
    struct lks_str name, site, url;            /* in the list's arena */
    struct lks_str trust, credentials, driver; /* the same */
    lks_ms every, due;
    uint32_t failures; /* in a row, as it was when it was last leased here */
    lks_ms failed;     /* when it could not be read; 0: it could, or was not tried */
    char *failure;     /* why, of FAILURE_SIZE, in the list's arena; NULL: it never failed */
};

/* A lease on its way to the store and back. */
struct lease {
    struct lks_authz_sweeps fresh; /* endpoints of another fleet's file; not known: as before */
    size_t room;
    struct lks_arena arena; /* of what follows */
    struct lks_store_claim claim;
    struct lks_store_task *taken;
    size_t taken_count;
    struct lks_err err;
};

static void lease_free(void *memory)
{
    struct lease *l = memory;
    lks_arena_fini(&l->fresh.arena);
    lks_arena_fini(&l->arena);
    free(l);
}

static struct lease *lease_new(struct lks_call *call)
{
    struct lease *l = calloc(1, sizeof(*l));
    if (l == NULL) {
        lks_call_problem(call, LKS_E_NOMEM, "out of memory");
        return NULL;
    }
    lks_arena_init(&l->fresh.arena, ENDPOINTS_MEMORY_MAX);
    lks_arena_init(&l->arena, ENDPOINTS_MEMORY_MAX);
    call->memory = l;
    call->drop = lease_free;
    call->cursor = 1;
    return l;
}

/* The list ---------------------------------------------------------------------------------- */

/* A copy, or the one that the endpoint before has: most of a fleet say the same. */
static struct lks_str again(struct lks_authz_sweeps *f, struct lks_str text, struct lks_str before)
{
    return f->count > 0 && lks_str_eq(text, before) ? before : lks_arena_copy(&f->arena, text);
}

static bool add_endpoint(void *ctx, const struct lks_sweep_task *task)
{
    struct lease *l = ctx;
    struct lks_authz_sweeps *f = &l->fresh;
    if (LKS_VEC_RESERVE_IN(&f->arena, f->items, l->room, f->count + 1, NULL) != LKS_OK)
        return false;
    struct lks_authz_endpoint *e = &f->items[f->count];
    const struct lks_authz_endpoint *before = f->count > 0 ? e - 1 : e;
    *e = (struct lks_authz_endpoint){
        .name = lks_arena_copy(&f->arena, task->name),
        .site = again(f, task->site, before->site),
        .url = lks_arena_copy(&f->arena, task->url),
        .trust = again(f, task->endpoint->trust, before->trust),
        .credentials = again(f, task->endpoint->credentials, before->credentials),
        .driver = again(f, task->endpoint->driver, before->driver),
        .every = task->every,
        .due = task->due,
    };
    if (e->name.ptr == NULL || e->site.ptr == NULL || e->url.ptr == NULL || e->trust.ptr == NULL ||
        e->credentials.ptr == NULL || e->driver.ptr == NULL)
        return false;
    f->count++;
    f->known = true;
    return true;
}

static int by_name(const void *a, const void *b)
{
    const struct lks_authz_endpoint *left = a, *right = b;
    return lks_str_cmp(left->name, right->name);
}

/* Endpoints of the fleet as it is now, where it is not the one they were read of. */
static enum lks_code refresh(const struct lks_authz *authz, struct lease *l, struct lks_err *err)
{
    const struct lks_state *s = authz->state;
    struct lks_authz_sweeps *f = &l->fresh;
    if (authz->sweeps.known && authz->sweeps.manifest == s->fleet_manifest)
        return LKS_OK;
    if (lks_sweep_list(s, lks_engine_book(authz->engine), add_endpoint, l, err) != LKS_OK)
        return err->code;
    if (f->arena.out_of_memory || f->arena.used >= f->arena.max)
        return lks_arena_fail(&f->arena, err);
    f->known = true;
    f->manifest = s->fleet_manifest;
    if (f->count > 0)
        qsort(f->items, f->count, sizeof(f->items[0]), by_name);
    return LKS_OK;
}

static struct lks_authz_endpoint *find(const struct lks_authz *authz, struct lks_str name)
{
    struct lks_authz_endpoint key = {.name = name};
    if (authz->sweeps.count == 0)
        return NULL;
    return bsearch(&key, authz->sweeps.items, authz->sweeps.count, sizeof(key), by_name);
}

/* Leases ------------------------------------------------------------------------------------ */

static bool has_tasks(struct lks_store *store, struct lks_err *err)
{
    const struct lks_store_ops *ops = store->ops;
    if (ops->tasks_sync != NULL && ops->tasks_take != NULL && ops->task_done != NULL)
        return true;
    (void)!lks_fail(err, LKS_E_UNAVAILABLE, "this store (%s) keeps no leases", ops->name);
    return false;
}

static enum lks_code sync_tasks(struct lease *l, struct lks_store *store, struct lks_err *err)
{
    const struct lks_authz_sweeps *f = &l->fresh;
    struct lks_store_task *tasks = lks_arena_array(&l->arena, f->count + 1, sizeof(*tasks));
    if (tasks == NULL)
        return lks_arena_fail(&l->arena, err);
    for (size_t i = 0; i < f->count; i++)
        tasks[i] = (struct lks_store_task){.name = f->items[i].name,
                                           .site = f->items[i].site,
                                           .every = f->items[i].every,
                                           .due = f->items[i].due};
    return store->ops->tasks_sync(store->self, tasks, f->count, l->claim.now, err);
}

static void keep_task(void *ctx, const struct lks_store_task *task)
{
    struct lease *l = ctx;
    if (l->taken_count == l->claim.max)
        return;
    struct lks_store_task *t = &l->taken[l->taken_count];
    *t = *task;
    t->name = lks_arena_copy(&l->arena, task->name);
    t->site = lks_arena_copy(&l->arena, task->site);
    if (t->name.ptr != NULL && t->site.ptr != NULL)
        l->taken_count++;
}

static void take_leases(struct lks_call *call, struct lks_store *store)
{
    struct lease *l = call->memory;
    if (!has_tasks(store, &l->err) || (l->fresh.known && sync_tasks(l, store, &l->err) != LKS_OK))
        return;
    l->taken = lks_arena_array(&l->arena, l->claim.max, sizeof(*l->taken));
    if (l->taken == NULL)
        l->err.code = lks_arena_fail(&l->arena, &l->err);
    else
        l->err.code = store->ops->tasks_take(store->self, &l->claim, keep_task, l, &l->err);
}

static void begin_lease(struct lks_authz *authz, struct lks_call *call, struct lks_str holder,
                        lks_ms lasts, size_t max)
{
    const struct lks_config *config = lks_daemon_config(authz->daemon);
    struct lease *l = lease_new(call);
    struct lks_err err = {0};
    if (l == NULL)
        return;
    lks_ms now = lks_engine_now(authz->engine, authz->now).wall;
    l->claim = (struct lks_store_claim){
        .holder = holder,
        .now = now,
        .until = now + lasts,
        .max = max,
        .site_max = config->sweep_site_leases,
        .all_max = config->sweep_leases,
    };
    if (refresh(authz, l, &err) != LKS_OK)
        lks_call_problem_err(call, &err);
    else
        call->at_store = take_leases;
}

/* What the store gave, or false and the answer. */
static bool leased(struct lks_authz *authz, struct lks_call *call)
{
    struct lease *l = call->memory;
    if (l->err.code != LKS_OK) {
        lks_call_problem_err(call, &l->err);
        return false;
    }
    if (l->fresh.known) {
        lks_arena_fini(&authz->sweeps.arena);
        authz->sweeps = LKS_MOVE(l->fresh);
    }
    return true;
}

static void end_lease(struct lks_authz *authz, struct lks_call *call)
{
    struct lease *l = call->memory;
    if (!leased(authz, call))
        return;
    struct lks_json_writer w = lks_call_list(call);
    for (size_t i = 0; i < l->taken_count; i++) {
        const struct lks_store_task *t = &l->taken[i];
        struct lks_authz_endpoint *e = find(authz, t->name);
        if (e == NULL)
            continue; /* it left the fleet meanwhile; its lease ends by itself */
        e->failures = t->failures;
        lks_json_begin(&w, NULL, '{');
        lks_json_text(&w, "name", t->name);
        lks_view_text(&w, "site", t->site);
        lks_json_text(&w, "url", e->url);
        lks_view_time(&w, "until", l->claim.until);
        lks_json_end(&w, '}');
    }
    lks_call_list_end(&w, 0);
}

void lks_handle_sweep_lease(struct lks_authz *authz, struct lks_call *call)
{
    const struct lks_ask_lease *ask = LKS_ASKED(call, lks_ask_lease);
    if (call->cursor == 0)
        begin_lease(authz, call, ask->holder, ask->seconds * LKS_SECOND, (size_t)ask->max);
    else
        end_lease(authz, call);
}

/* One for the client thread. An endpoint with an update in progress is left alone: its lease ends
 * by itself, and by then there is something new to read. */
static bool put_own(const struct lks_authz *authz, const struct lks_authz_endpoint *e,
                    bool unleased, struct lks_internal *own)
{
    struct lks_arena *arena = &own->arena;
    uint32_t node = lks_state_node(authz->state, e->name);
    if (node == LKS_NO_NODE || authz->state->nodes[node].flashing > 0)
        return true;
    struct lks_internal_endpoint *to = &own->endpoints[own->count++];
    to->unleased = unleased;
    struct lks_str print = lks_state_text(authz->state, authz->state->nodes[node].endpoint);
    const struct {
        struct lks_str from, *to;
    } texts[] = {{e->name, &to->name},     {e->site, &to->site},
                 {e->url, &to->url},       {e->trust, &to->trust},
                 {e->driver, &to->driver}, {e->credentials, &to->credentials},
                 {print, &to->fingerprint}};
    for (size_t i = 0; i < LKS_COUNT(texts); i++) {
        *texts[i].to = lks_arena_copy(arena, texts[i].from);
        if (texts[i].to->ptr == NULL)
            return false;
    }
    return true;
}

/* A member of a change that waits to be read again, or to return, and whose endpoint was not read
 * since its last update. The controller that did the update reads it behind it; one that died of
 * something in between did not, and its turn may be a day away. */
static bool is_unread(const struct lks_state *s, const struct lks_state_change *c,
                      const struct lks_member *m)
{
    const struct lks_node *n = &s->nodes[m->node];
    const struct lks_step *step = lks_member_step(c, m);
    bool returns = m->state == LKS_MEMBER_WAITING && step != NULL && step->kind == LKS_DO_RETURN;
    return (m->state == LKS_MEMBER_READING || returns) && n->outband == 0 && n->flashing == 0;
}

static bool put_unread(const struct lks_authz *authz, const struct lks_state_change *c,
                       struct lks_internal *own, size_t room)
{
    for (uint32_t i = 0; i < c->member_count && own->count < room; i++) {
        const struct lks_member *m = &c->members[i];
        const struct lks_authz_endpoint *e =
            is_unread(authz->state, c, m) ? find(authz, lks_state_name(authz->state, m->node))
                                          : NULL;
        if (e != NULL && !put_own(authz, e, true, own))
            return false;
    }
    return true;
}

static bool put_all_unread(const struct lks_authz *authz, struct lks_internal *own, size_t room)
{
    const struct lks_state *s = authz->state;
    bool fits = true;
    for (uint32_t i = 0; i < s->change_count && fits; i++) {
        const uint32_t *states = s->changes[i].states;
        if (states[LKS_MEMBER_READING] + states[LKS_MEMBER_WAITING] > 0)
            fits = put_unread(authz, &s->changes[i], own, room);
    }
    return fits;
}

static void end_own_lease(struct lks_authz *authz, struct lks_call *call)
{
    struct lease *l = call->memory;
    struct lks_internal *own = call->own;
    size_t room = l->taken_count + own->max;
    if (!leased(authz, call))
        return;
    own->endpoints = lks_arena_array(&own->arena, room, sizeof(*own->endpoints));
    bool fits = own->endpoints != NULL;
    for (size_t i = 0; fits && i < l->taken_count; i++) {
        struct lks_authz_endpoint *e = find(authz, l->taken[i].name);
        if (e == NULL)
            continue;
        e->failures = l->taken[i].failures;
        fits = put_own(authz, e, false, own);
    }
    own->full = own->count == own->max;
    if (fits && put_all_unread(authz, own, room))
        call->status = 200;
    else
        lks_call_problem(call, LKS_E_NOMEM, "out of memory");
}

void lks_handle_sweep_lease_internal(struct lks_authz *authz, struct lks_call *call)
{
    if (call->cursor == 0)
        begin_lease(authz, call, lks_str_from(call->identity), call->own->lasts, call->own->max);
    else
        end_own_lease(authz, call);
}

/* The end of a lease ------------------------------------------------------------------------ */

/* The claim says whose and when next; `taken` is the one task. */
static void end_task(struct lks_call *call, struct lks_store *store)
{
    struct lease *l = call->memory;
    if (has_tasks(store, &l->err))
        l->err.code = store->ops->task_done(store->self, l->claim.holder, l->taken->name,
                                            l->taken->due, l->taken->failures, &l->err);
}

static void send_end(struct lks_authz *authz, struct lks_call *call, struct lks_str name,
                     struct lks_str holder, bool failed)
{
    struct lease *l = lease_new(call);
    if (l == NULL)
        return;
    struct lks_authz_endpoint *e = find(authz, name);
    lks_ms now = lks_engine_now(authz->engine, authz->now).wall,
           every = e != NULL ? e->every : DAY_MS;
    uint32_t failures = failed ? (e != NULL ? e->failures : 0) + 1 : 0;
    l->claim.holder = holder;
    l->taken = lks_arena_alloc(&l->arena, sizeof(*l->taken));
    if (l->taken == NULL) {
        lks_call_problem(call, LKS_E_NOMEM, "out of memory");
        return;
    }
    *l->taken = (struct lks_store_task){
        .name = name,
        .due = failed ? lks_sweep_retry(now, every, failures) : now + every,
        .failures = failures,
    };
    call->at_store = end_task;
}

/* For people who ask why an endpoint is not read. */
static void keep_failure(struct lks_authz *authz, struct lks_str name, struct lks_str why)
{
    struct lks_authz_endpoint *e = find(authz, name);
    if (e == NULL)
        return;
    if (e->failure == NULL)
        e->failure = lks_arena_alloc(&authz->sweeps.arena, FAILURE_SIZE);
    if (e->failure != NULL) {
        snprintf(e->failure, FAILURE_SIZE, "%" LKS_STR_FMT, LKS_STR_ARG(why));
        lks_str_make_printable(e->failure);
    }
    e->failed = lks_engine_now(authz->engine, authz->now).wall;
}

struct lks_str lks_handle_sweep_failure(const struct lks_authz *authz, struct lks_str name,
                                        lks_ms *at)
{
    const struct lks_authz_endpoint *e = find(authz, name);
    *at = e != NULL ? e->failed : 0;
    return *at != 0 && e->failure != NULL ? lks_str_from(e->failure) : LKS_STR("");
}

void lks_handle_sweep_read(struct lks_authz *authz, struct lks_call *call)
{
    struct lks_str holder = LKS_ASKED(call, lks_query_holder)->holder;
    struct lks_authz_endpoint *e = find(authz, call->named);
    if (e != NULL)
        e->failed = 0;
    send_end(authz, call, call->named, holder.len > 0 ? holder : lks_str_from(call->identity),
             false);
}

static void log_failed(const struct lks_authz *authz, struct lks_str name, struct lks_str holder,
                       struct lks_str cause)
{
    struct lks_log_field fields[] = {{"name", name}, {"holder", holder}, {"cause", cause}};
    lks_daemon_log(authz->daemon, LKS_LEVEL_WARNING, "an endpoint could not be read", fields,
                   LKS_COUNT(fields));
}

void lks_handle_sweep_failed(struct lks_authz *authz, struct lks_call *call)
{
    const struct lease *l = call->memory;
    const struct lks_ask_sweep_failed *ask = LKS_ASKED(call, lks_ask_sweep_failed);
    if (call->cursor == 0) {
        log_failed(authz, call->named, ask->holder, ask->text);
        keep_failure(authz, call->named, ask->text);
        send_end(authz, call, call->named, ask->holder, true);
        return;
    }
    if (l->err.code != LKS_OK && l->err.code != LKS_E_REFUSED) {
        lks_call_problem_err(call, &l->err);
        return;
    }
    struct lks_json_writer w = lks_call_json(call);
    lks_json_bool(&w, "done", l->err.code == LKS_OK);
    lks_json_end(&w, '}');
}

void lks_handle_sweep_failed_internal(struct lks_authz *authz, struct lks_call *call)
{
    const struct lks_internal *own = call->own;
    struct lks_str holder = lks_str_from(call->identity);
    if (call->cursor != 0) {
        call->status = 200;
        return;
    }
    log_failed(authz, own->name, holder, own->text);
    keep_failure(authz, own->name, own->text);
    send_end(authz, call, own->name, holder, true);
}

/* How well it goes -------------------------------------------------------------------------- */

void lks_handle_sweeps(struct lks_authz *authz, struct lks_call *call)
{
    const struct lks_state *s = authz->state;
    const struct lks_ask_page *page = &LKS_ASKED(call, lks_query_page)->page;
    struct lks_str after = page->after, last = {0};
    uint32_t i = after.len > 0 ? lks_state_pool(s, after) : 0;
    if (i == UINT32_MAX) {
        lks_call_problem(call, LKS_E_INVALID, "query: after: is not the `next` of a page");
        return;
    }
    i += after.len > 0;
    uint64_t looked = 0, left = page->limit;
    lks_ms now = lks_engine_now(authz->engine, authz->now).wall;
    struct lks_json_writer w = lks_call_list(call);
    for (; i < s->pool_count && left > 0 && looked < SCAN_MAX; i++) {
        const struct lks_state_pool *p = &s->pools[i];
        struct lks_scope scope = {.pool = lks_state_text(s, p->name)};
        if (!p->known || p->sweep == 0 || !lks_authz_may(authz, call, LKS_MAY_READ, scope))
            continue;
        struct lks_sweep_age age = lks_sweep_age(s, lks_engine_book(authz->engine), i, now);
        last = scope.pool;
        looked += p->nodes;
        left--;
        lks_json_begin(&w, NULL, '{');
        lks_json_text(&w, "pool", scope.pool);
        lks_json_int(&w, "endpoints", age.endpoints);
        lks_json_int(&w, "never", age.never);
        lks_json_int(&w, "oldest_ms", (int64_t)age.oldest);
        lks_json_int(&w, "every", (int64_t)p->sweep);
        lks_json_end(&w, '}');
    }
    lks_call_list_end_at(&w, i < s->pool_count ? last : LKS_STR(""));
}
