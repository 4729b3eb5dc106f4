/* A change is proposed: it is planned, and the plan recorded, or only shown. What bundles say is
 * read from the store first, and so not on the state thread. */
#include "base/bitset.h"
#include "codec/notation/hostlist.h"
#include "core/plan/plan.h"
#include "core/rows/change.h"
#include "core/rows/pool.h"
#include "core/rows/registry.h"
#include "core/state/state.h"
#include "model/manifest/bundle.h"
#include "server/api/handle.h"
#include "server/api/propose.h"
#include "server/auth/authz.h"
#include "server/auth/reach.h"
#include "server/base/bridges.h"
#include "server/base/daemon.h"
#include "server/form/views_change.h"

#include <stdio.h>
#include <stdlib.h>

/* Of all manifests together: they are held for as long as the question lasts. */
#define MANIFESTS_BYTES_MAX ((size_t)256 << 20)

/* What the bundles say that were good when it was asked. */
struct asking {
    size_t count, read;
    char (*manifests)[LKS_DIGEST_SIZE];
    char (*digests)[LKS_DIGEST_SIZE]; /* what the state knows them by */
    struct lks_bundle *said;          /* `read` of them are there */
    const struct lks_bundle **known;
};

static void drop_asking(void *memory)
{
    struct asking *a = memory;
    for (size_t i = 0; i < a->read; i++)
        lks_bundle_fini(&a->said[i]);
    free(a->manifests);
    free(a->digests);
    free(a->said);
    free(a->known);
    free(a);
}

/* Which manifests there are to read. NULL: no memory. */
static struct asking *list_manifests(const struct lks_state *s)
{
    struct asking *a = calloc(1, sizeof(*a));
    size_t most = (size_t)s->bundle_count + 1;
    if (a == NULL)
        return NULL;
    a->manifests = calloc(most, sizeof(*a->manifests));
    a->digests = calloc(most, sizeof(*a->digests));
    a->said = calloc(most, sizeof(*a->said));
    a->known = calloc(most, sizeof(*a->known));
    if (a->manifests == NULL || a->digests == NULL || a->said == NULL || a->known == NULL) {
        drop_asking(a);
        return NULL;
    }
    for (uint32_t i = 0; i < s->bundle_count; i++) {
        const struct lks_state_bundle *b = &s->bundles[i];
        if (b->revoked != 0)
            continue;
        snprintf(a->manifests[a->count], sizeof(a->manifests[0]), "%" LKS_STR_FMT,
                 LKS_STR_ARG(lks_state_text(s, b->manifest)));
        snprintf(a->digests[a->count++], sizeof(a->digests[0]), "%" LKS_STR_FMT,
                 LKS_STR_ARG(lks_state_text(s, b->digest)));
    }
    return a;
}

static enum lks_code read_manifests(const struct lks_call *call, struct asking *a,
                                    struct lks_err *err)
{
    LKS_CLEANUP(lks_store_close) struct lks_store store = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = LKS_BUF(LKS_BUNDLE_BYTES_MAX);
    size_t total = 0;
    if (a->count > 0 && lks_daemon_store(call->daemon, false, &store, err) != LKS_OK)
        return err->code;
    for (; a->read < a->count; a->read++) {
        struct lks_bundle *said = &a->said[a->read];
        const char *digest = a->manifests[a->read];
        lks_buf_truncate(&bytes, 0);
        if (store.ops->blob(store.self, digest, &bytes, err) != LKS_OK ||
            lks_bundle_parse(lks_buf_view(&bytes), "the bundle's manifest",
                             lks_daemon_facts(call->daemon), said, err) != LKS_OK)
            return lks_wrap(err, "bundle %s", a->digests[a->read]);
        total += bytes.len;
        if (strcmp(said->digest, digest) != 0 || total > MANIFESTS_BYTES_MAX) {
            bool large = total > MANIFESTS_BYTES_MAX;
            lks_bundle_fini(said);
            return lks_fail(err, large ? LKS_E_LIMIT : LKS_E_IO,
                            large ? "the manifests of all bundles are more than can be read; "
                                    "revoke those that are not needed any more"
                                  : "a bundle's manifest is not the one that was signed");
        }
    }
    return LKS_OK;
}

/* Only once the state was asked which manifests there are. */
void lks_handle_propose_prepare(struct lks_call *call)
{
    if (call->memory != NULL)
        (void)!read_manifests(call, call->memory, &call->failed);
}

bool lks_handle_propose_wants_manifests(const struct lks_authz *authz, struct lks_call *call)
{
    if (call->memory != NULL)
        return false;
    call->memory = list_manifests(authz->state);
    if (call->memory == NULL) {
        lks_call_problem(call, LKS_E_NOMEM, "out of memory");
        return true;
    }
    call->drop = drop_asking;
    lks_authz_prepare_again(call);
    return true;
}

struct lks_bundle_set lks_handle_propose_known(const struct lks_authz *authz,
                                               const struct lks_call *call)
{
    const struct lks_state *s = authz->state;
    const struct asking *a = call->memory;
    struct lks_bundle_set set = {.list = a->known};
    for (size_t i = 0; i < a->read; i++) {
        const struct lks_state_bundle *b = lks_state_bundle(s, lks_str_from(a->digests[i]));
        if (b != NULL && b->revoked == 0)
            a->known[set.count++] = &a->said[i];
    }
    return set;
}

static struct lks_plan_wish wish_of(const struct lks_ask_change *ask)
{
    return (struct lks_plan_wish){
        .kind = ask->kind < 0 ? LKS_CHANGE_STACK : (enum lks_change_kind)ask->kind,
        .hosts = ask->where.nodes,
        .pool = ask->where.pool,
        .stack = ask->stack,
        .hook = ask->hook,
        .strength = (unsigned)ask->strength,
        .failure_share = (uint32_t)ask->failure_share,
        .confidence_share = (uint32_t)ask->confidence_share,
        .canary_max = (uint32_t)ask->canary_max,
        .failures_max = (uint32_t)ask->failures_max,
        .soak = ask->soak_seconds * LKS_SECOND,
        .rolls_back = ask->rolls_back,
        .one_way = ask->one_way,
        .not_before = ask->not_before,
        .not_after = ask->not_after,
        .windows = ask->windows,
        .class = ask->class,
        .advisory = ask->advisory,
    };
}

/* The pools of its nodes. */
static enum lks_code pools_of(const struct lks_state *s, struct lks_change_sketch *k,
                              struct lks_bitset *out, struct lks_err *err)
{
    if (lks_bitset_init(out, (size_t)s->pool_count + 1, err) != LKS_OK)
        return err->code;
    for (size_t i = 0; i < k->part_count; i++) {
        struct lks_hostlist hosts;
        if (lks_hostlist_parse(k->parts[i].hosts, &k->memory, &hosts, err) != LKS_OK)
            return err->code;
        for (size_t h = 0; h < hosts.count; h++) {
            uint32_t n = lks_state_node(s, hosts.names[h]);
            if (n != LKS_NO_NODE && s->nodes[n].pool < s->pool_count)
                lks_bitset_set(out, s->nodes[n].pool);
        }
    }
    return LKS_OK;
}

static void put_freeze(struct lks_json_writer *w, const struct lks_state *s, lks_text pool,
                       lks_text by, lks_text reason, lks_ms since)
{
    lks_json_begin(w, NULL, '{');
    lks_view_text(w, "pool", lks_state_text(s, pool));
    lks_view_by(w, s, by, reason);
    lks_view_time(w, "since", since);
    lks_json_end(w, '}');
}

/* Days of the fleet's file that are not over, for one of the pools. */
static void put_days(const struct lks_authz *authz, const struct lks_bitset *pools,
                     struct lks_json_writer *w)
{
    const struct lks_state *s = authz->state;
    const struct lks_fleet *fleet = lks_book_fleet(lks_engine_book(authz->engine));
    const struct lks_doc *list = fleet != NULL ? lks_doc_member(fleet->doc, "freezes") : NULL;
    const struct lks_doc *item = list != NULL ? list->first : NULL;
    lks_day today = lks_time_day_of((int64_t)(authz->now.wall / LKS_SECOND));
    for (size_t i = 0; item != NULL && i < fleet->quiet_count; i++, item = item->next) {
        const struct lks_quiet *q = &fleet->quiets[i];
        size_t p = lks_bitset_next(pools, 0);
        while (p < s->pool_count && !lks_fleet_quiet_is_of(q, lks_state_text(s, s->pools[p].name)))
            p = lks_bitset_next(pools, p + 1);
        if (p >= s->pool_count || today >= q->until)
            continue;
        lks_json_begin(w, NULL, '{');
        lks_json_text(w, "from", lks_doc_text(item, "from"));
        lks_json_text(w, "until", lks_doc_text(item, "until"));
        lks_json_bool(w, "now", q->from <= today);
        lks_view_text(w, "description", lks_doc_text(item, "description"));
        lks_json_end(w, '}');
    }
}

/* Freezes that keep its nodes from starting, now or soon. */
static enum lks_code put_freezes(const struct lks_authz *authz, struct lks_change_sketch *k,
                                 struct lks_json_writer *w, struct lks_err *err)
{
    const struct lks_state *s = authz->state;
    LKS_CLEANUP(lks_bitset_fini) struct lks_bitset pools = {0};
    if (pools_of(s, k, &pools, err) != LKS_OK)
        return err->code;
    lks_json_begin(w, "freezes", '[');
    if (s->frozen)
        put_freeze(w, s, 0, s->frozen_by, s->frozen_reason, s->frozen_since);
    for (size_t p = lks_bitset_next(&pools, 0); p < s->pool_count;
         p = lks_bitset_next(&pools, p + 1)) {
        const struct lks_state_pool *pool = &s->pools[p];
        if (pool->frozen)
            put_freeze(w, s, pool->name, pool->frozen_by, pool->frozen_reason, pool->frozen_since);
    }
    put_days(authz, &pools, w);
    lks_json_end(w, ']');
    return LKS_OK;
}

static void tell(struct lks_authz *authz, struct lks_call *call, struct lks_change_sketch *k,
                 const struct lks_state_change *c)
{
    struct lks_err err = {0};
    struct lks_json_writer w = lks_call_json(call);
    if (c != NULL) {
        lks_json_int(&w, "id", (int64_t)c->id);
        lks_json_int(&w, "seq", (int64_t)call->needs);
    }
    lks_json_bool(&w, "dry_run", c == NULL);
    lks_view_change_wish(&w, k);
    lks_view_change_size(&w, k);
    if (c != NULL)
        lks_reach_view(&w, authz, c);
    lks_view_change_waves(&w, authz->state, k, NULL);
    lks_view_change_gates(&w, k);
    if (put_freezes(authz, k, &w, &err) != LKS_OK) {
        lks_call_problem_err(call, &err);
        return;
    }
    lks_view_change_plan(&w, k);
    lks_view_jobs_now(&w,
                      &(struct lks_view_jobs){authz->state, lks_engine_book(authz->engine),
                                              &authz->sched.sites, authz->now},
                      k, NULL);
    lks_json_end(&w, '}');
}

/* The plan of a decision, be it tried or made, with what its gates will ask. */
static enum lks_code sketch(const struct lks_authz *authz, const struct lks_decision *d,
                            struct lks_change_sketch *k, struct lks_err *err)
{
    const struct lks_config *config = lks_daemon_config(authz->daemon);
    if (lks_view_change_sketch_tried(authz->state, lks_engine_book(authz->engine), d, k, err) !=
        LKS_OK)
        return err->code;
    return lks_view_change_gates_find(authz->state, config->metrics_url.len > 0,
                                      config->metrics_load.len > 0, k, err);
}

/* What would come of it; nothing is recorded. */
static void show(struct lks_authz *authz, struct lks_call *call, struct lks_event *event)
{
    LKS_CLEANUP(lks_decision_fini) struct lks_decision d = {0};
    LKS_CLEANUP(lks_view_change_sketch_fini) struct lks_change_sketch k = {0};
    struct lks_err err = {0};
    lks_decision_init(&d);
    lks_authz_sign(call, event);
    enum lks_code code = lks_engine_try(authz->engine, authz->now, event, &d, &err);
    if (code == LKS_OK && d.refused.code != LKS_OK) {
        lks_call_problem_err(call, &d.refused);
        return;
    }
    if (code == LKS_OK)
        code = sketch(authz, &d, &k, &err);
    if (code != LKS_OK)
        lks_call_problem_err(call, &err);
    else
        tell(authz, call, &k, NULL);
}

static void record(struct lks_authz *authz, struct lks_call *call, struct lks_event *event)
{
    LKS_CLEANUP(lks_decision_fini) struct lks_decision d = {0};
    LKS_CLEANUP(lks_view_change_sketch_fini) struct lks_change_sketch k = {0};
    const struct lks_state *s = authz->state;
    struct lks_err err = {0};
    if (!lks_authz_turn(authz, call, event, NULL, &d))
        return;
    const struct lks_state_change *c = lks_state_change(s, s->next_change - 1);
    LKS_ASSERT(c != NULL);
    if (sketch(authz, &d, &k, &err) != LKS_OK)
        lks_call_problem_err(call, &err);
    else
        tell(authz, call, &k, c);
}

/* Which schedulers have a bridge at which sites; their number. */
static size_t find_bridges(const struct lks_authz *authz,
                           struct lks_plan_bridge bridges[LKS_BRIDGES_MAX])
{
    struct lks_bridges_at at = {0};
    struct lks_bridge b;
    size_t count = 0;
    while (lks_bridges_next(lks_daemon_config(authz->daemon), &at, &b))
        bridges[count++] = (struct lks_plan_bridge){lks_str_from(b.sched), b.site};
    return count;
}

void lks_handle_propose(struct lks_authz *authz, struct lks_call *call)
{
    const struct lks_ask_change *ask = LKS_ASKED(call, lks_ask_change);
    if (lks_handle_propose_wants_manifests(authz, call))
        return;
    struct lks_bundle_set known = lks_handle_propose_known(authz, call);
    struct lks_plan_bridge bridges[LKS_BRIDGES_MAX];
    struct lks_event event = {
        .kind = LKS_EVENT_PROPOSE,
        .reason = ask->reason,
        .propose = {.wish = wish_of(ask), .known = &known},
    };
    event.propose.wish.bridges = bridges;
    event.propose.wish.bridge_count = find_bridges(authz, bridges);
    if (ask->dry_run)
        show(authz, call, &event);
    else
        record(authz, call, &event);
}
