#include "codec/format/digest.h"
#include "core/actions/sched_truth.h"
#include "core/rows/alarm.h"
#include "core/rows/credential.h"
#include "core/rows/pool.h"
#include "core/state/state.h"
#include "core/view/effects.h"
#include "core/view/view_manifest.h"
#include "model/manifest/manifest.h"
#include "server/api/handle.h"
#include "server/api/routes.h"
#include "server/auth/authz.h"
#include "server/base/daemon.h"
#include "server/form/views.h"

#include <stdlib.h>

void lks_handle_health(struct lks_authz *authz, struct lks_call *call)
{
    (void)authz;
    call->needs = 0;
    struct lks_json_writer w = lks_call_json(call);
    lks_json_cstr(&w, "status", "ok");
    lks_json_end(&w, '}');
}

void lks_handle_ready(struct lks_authz *authz, struct lks_call *call)
{
    struct lks_err why = {0};
    call->needs = 0;
    if (lks_engine_stalled(authz->engine, &why)) {
        lks_call_problem(call, LKS_E_UNAVAILABLE, "the journal cannot be written: %s", why.msg);
        return;
    }
    if (authz->draining) {
        lks_call_problem(call, LKS_E_UNAVAILABLE, "lockstepd is about to end");
        return;
    }
    struct lks_json_writer w = lks_call_json(call);
    lks_json_bool(&w, "ready", true);
    lks_json_end(&w, '}');
}

void lks_handle_openapi(struct lks_authz *authz, struct lks_call *call)
{
    (void)authz;
    call->needs = 0;
    lks_openapi_json(LKS_VERSION, &call->out);
    call->status = 200;
    call->type = "application/json";
}

/* Of a login, what its groups give it. */
static void put_login_roles(struct lks_json_writer *w, const struct lks_state *s,
                            struct lks_str shown)
{
    struct lks_str kind, id;
    const struct lks_api_token *token = NULL;
    if (lks_str_cut(shown, ':', &kind, &id) && lks_str_is(kind, "token"))
        token = lks_state_token(s, id);
    for (uint32_t i = 0; token != NULL && i < token->role_count; i++) {
        lks_json_begin(w, NULL, '{');
        lks_json_cstr(w, "role", lks_role_words[token->roles[i].role]);
        lks_view_text(w, "pool", lks_state_text(s, token->roles[i].pool));
        lks_json_end(w, '}');
    }
}

/* How the caller was authenticated, and until when that holds. */
static void put_credential(struct lks_json_writer *w, const struct lks_state *s,
                           const struct lks_call *call)
{
    struct lks_str kind, id = {0};
    (void)lks_str_cut(lks_str_from(call->shown), ':', &kind, &id);
    const struct lks_api_token *token = lks_str_is(kind, "token") ? lks_state_token(s, id) : NULL;
    bool login = token != NULL && token->issuer != 0;
    lks_ms expires = 0;
    if (token != NULL)
        expires = token->expires;
    else if (call->credential.kind == LKS_CREDENTIAL_CERTIFICATE)
        expires = (lks_ms)call->credential.certificate.not_after * LKS_SECOND;
    lks_json_cstr(w, "by",
                  login                                                 ? "login"
                  : token != NULL                                       ? "token"
                  : call->credential.kind == LKS_CREDENTIAL_CERTIFICATE ? "certificate"
                                                                        : "socket");
    lks_view_text(w, "credential", id);
    lks_view_text(w, "issuer", login ? lks_state_text(s, token->issuer) : LKS_STR(""));
    lks_view_time(w, "expires", expires);
}

void lks_handle_whoami(struct lks_authz *authz, struct lks_call *call)
{
    const struct lks_state *s = authz->state;
    struct lks_str me = lks_str_from(call->identity);
    struct lks_json_writer w = lks_call_json(call);
    lks_json_text(&w, "identity", me);
    put_credential(&w, s, call);
    lks_json_some(&w, "controller", lks_str_from(lks_daemon_name(authz->daemon)));
    lks_json_begin(&w, "bindings", '[');
    if (call->root) {
        lks_json_begin(&w, NULL, '{');
        lks_json_cstr(&w, "role", lks_role_words[LKS_ROLE_ADMIN]);
        lks_json_end(&w, '}');
    }
    for (uint32_t i = 0; i < s->binding_count; i++) {
        if (!lks_str_eq(lks_state_text(s, s->bindings[i].identity), me))
            continue;
        lks_view_row_item(&w, &lks_view_bindings, LKS_USE_SHOWN, s, &s->bindings[i]);
    }
    put_login_roles(&w, s, lks_str_from(call->shown));
    lks_json_end(&w, ']');
    lks_json_end(&w, '}');
}

static void tally_free(void *memory)
{
    lks_metrics_tally_fini(memory);
    free(memory);
}

/* In slices: a large fleet's nodes fill megabytes, and other calls do not wait for that. */
void lks_handle_metrics(struct lks_authz *authz, struct lks_call *call)
{
    const struct lks_state *s = authz->state;
    if (call->cursor == 0) {
        call->memory = calloc(1, sizeof(struct lks_metrics_tally));
        if (call->memory == NULL) {
            lks_call_problem(call, LKS_E_NOMEM, "out of memory");
            return;
        }
        call->drop = tally_free;
        call->cursor = 1;
        authz->metrics.decisions_dropped = authz->decisions.dropped;
        struct lks_metrics_now about = {
            .now = authz->now,
            .durable = lks_engine_durable_seq(authz->engine),
            .version = LKS_VERSION,
            .leads = !authz->following,
            .behind = authz->behind,
            .aside = lks_buf_view(&call->aside),
            .bmc = lks_daemon_bmc(authz->daemon),
            .sched_asked = authz->sched.asked,
            .sched_failed = authz->sched.failed,
            .sched_site_asked = authz->sched.sites.asked,
            .sched_site_failed = authz->sched.sites.failed,
            .sched_published = authz->sched.published,
            .sched_behind = lks_sched_sites_behind(&authz->sched.sites),
            .bridges_unconfirmed = lks_handle_bridges_unconfirmed(authz),
            .sched_behind_for = lks_sched_truth_behind_for(&authz->sched.sites, authz->now.mono),
        };
        about.sched_reserved = lks_sched_sites_reserved(&authz->sched.sites, &about.sched_reserve);
        lks_metrics_put(&authz->metrics, s, &about, &call->out);
    }
    if (!lks_metrics_put_nodes(s, lks_engine_book(authz->engine), authz->now, call->memory,
                               &call->out))
        return;
    lks_buf_add(&call->out, LKS_STR("# EOF\n"));
    call->status = 200;
    call->type = call->route->answer_type;
    call->needs = 0; /* a stalled journal is when one looks at these */
}

/* What of each pool the caller may see. A caller that sees everything gets the counts that are
 * kept. */
struct visible {
    struct lks_pool_classes classes;
    struct lks_pool_counts *pools; /* owned */
    bool *shown;                   /* owned */
    uint32_t nodes;
    uint32_t liveness[LKS_LIVENESS_COUNT];
};

static void visible_fini(struct visible *v)
{
    lks_cadence_classes_fini(&v->classes);
    free(v->pools);
    free(v->shown);
    *v = (struct visible){0};
}

static void count_node(const struct lks_state *s, uint32_t id, struct visible *v)
{
    const struct lks_node *n = &s->nodes[id];
    v->nodes++;
    v->liveness[n->liveness]++;
    if (n->pool >= s->pool_count)
        return;
    v->shown[n->pool] = true;
    v->pools[n->pool].nodes++;
    v->pools[n->pool].enrolled += n->enrolled;
    v->pools[n->pool].liveness[n->liveness]++;
}

static void count_all(const struct lks_state *s, struct visible *v)
{
    for (uint32_t i = 0; i < s->pool_count; i++) {
        v->shown[i] = s->pools[i].known;
        v->pools[i] = lks_view_pool_counts(s, i);
    }
    v->nodes = s->placed_count;
    for (size_t i = 0; i < LKS_LIVENESS_COUNT; i++)
        v->liveness[i] = s->liveness[i];
}

static bool look(const struct lks_authz *authz, struct lks_call *call, struct visible *v)
{
    const struct lks_state *s = authz->state;
    *v = (struct visible){0};
    v->pools = calloc((size_t)s->pool_count + 1, sizeof(*v->pools));
    v->shown = calloc((size_t)s->pool_count + 1, sizeof(*v->shown));
    struct lks_err err = {0};
    if (v->pools == NULL || v->shown == NULL ||
        lks_cadence_classes_all(&v->classes, s, &err) != LKS_OK) {
        lks_call_problem(call, LKS_E_NOMEM, "out of memory");
        return false;
    }
    struct lks_authz_view sight = lks_authz_sight(authz, call);
    if (sight.all) {
        count_all(s, v);
        return true;
    }
    for (uint32_t i = 0; i < s->pool_count; i++) {
        struct lks_scope scope = {.pool = lks_state_text(s, s->pools[i].name)};
        v->shown[i] = s->pools[i].known && lks_authz_may(authz, call, LKS_MAY_READ, scope);
    }
    for (uint32_t i = 0; i < s->node_count; i++) {
        if (s->nodes[i].placed && lks_authz_sees(&sight, i))
            count_node(s, i, v);
    }
    return true;
}

static uint64_t open_alarms(const struct lks_authz *authz, const struct lks_call *call)
{
    uint64_t open = 0;
    for (uint32_t i = 0; i < authz->state->alarm_count; i++) {
        const struct lks_state_alarm *a = &authz->state->alarms[i];
        open += a->released == 0 && lks_authz_may_alarm(authz, call, a);
    }
    return open;
}

static void put_pool(const struct lks_authz *authz, const struct visible *v, uint32_t pool,
                     struct lks_json_writer *w)
{
    lks_json_begin(w, NULL, '{');
    lks_view_pool(w, authz->state, pool, &v->pools[pool]);
    lks_view_cadence(w, authz->state, lks_engine_book(authz->engine), &v->classes, pool,
                     authz->now.wall);
    lks_json_end(w, '}');
}

void lks_handle_fleet(struct lks_authz *authz, struct lks_call *call)
{
    const struct lks_state *s = authz->state;
    LKS_CLEANUP(visible_fini) struct visible v = {0};
    if (!look(authz, call, &v))
        return;
    struct lks_json_writer w = lks_call_json(call);
    lks_view_text(&w, "name", lks_state_text(s, s->fleet_name));
    lks_view_text(&w, "manifest", lks_state_text(s, s->fleet_manifest));
    lks_json_int(&w, "seq", (int64_t)s->seq);
    lks_view_time(&w, "clock", s->clock);
    lks_json_int(&w, "nodes", v.nodes);
    lks_view_liveness(&w, v.liveness);
    lks_json_begin(&w, "pools", '[');
    for (uint32_t i = 0; i < s->pool_count; i++) {
        if (!v.shown[i])
            continue;
        put_pool(authz, &v, i, &w);
    }
    lks_json_end(&w, ']');
    lks_json_int(&w, "alarms_open", (int64_t)open_alarms(authz, call));
    lks_json_end(&w, '}');
}

/* The manifest of the fleet as it is now; nothing before the first one. */
static enum lks_code put_manifest(const struct lks_authz *authz, struct lks_buf *out,
                                  struct lks_err *err)
{
    const struct lks_manifest *manifest = lks_engine_book(authz->engine)->manifest;
    if (manifest == NULL)
        return LKS_OK;
    return lks_view_manifest(authz->state, authz->state->pools, authz->state->pool_count, manifest,
                             out, err);
}

void lks_handle_fleet_manifest(struct lks_authz *authz, struct lks_call *call)
{
    struct lks_err err = {0};
    lks_buf_truncate(&call->out, 0);
    if (put_manifest(authz, &call->out, &err) != LKS_OK) {
        lks_call_problem_err(call, &err);
        return;
    }
    call->status = 200;
    call->type = call->route->answer_type;
}

void lks_handle_pools(struct lks_authz *authz, struct lks_call *call)
{
    const struct lks_state *s = authz->state;
    LKS_CLEANUP(visible_fini) struct visible v = {0};
    const struct lks_ask_page *page = &LKS_ASKED(call, lks_query_page)->page;
    struct lks_str after = page->after;
    uint32_t from = 0;
    if (after.len > 0 && (from = lks_state_pool(s, after)) == UINT32_MAX) {
        lks_call_problem(call, LKS_E_INVALID, "after: no pool is called so");
        return;
    }
    if (!look(authz, call, &v))
        return;
    uint64_t left = page->limit;
    struct lks_str last = {0};
    struct lks_json_writer w = lks_call_list(call);
    uint32_t i = after.len > 0 ? from + 1 : 0;
    for (; i < s->pool_count && left > 0; i++) {
        if (!v.shown[i])
            continue;
        put_pool(authz, &v, i, &w);
        last = lks_state_text(s, s->pools[i].name);
        left--;
    }
    lks_call_list_end_at(&w, i < s->pool_count ? last : LKS_STR(""));
}

void lks_handle_fleet_prepare(struct lks_call *call)
{
    struct lks_str text = lks_buf_view(&call->bytes);
    call->manifest = calloc(1, sizeof(*call->manifest));
    enum lks_code code = call->manifest == NULL ? lks_fail_nomem(&call->failed) : LKS_OK;
    if (code == LKS_OK)
        code = lks_digest_text(text, call->digest, &call->failed);
    if (code == LKS_OK)
        code = lks_manifest_parse("manifest", text, lks_daemon_facts(call->daemon), NULL,
                                  call->manifest, &call->failed);
    if (code != LKS_OK) {
        free(call->manifest);
        call->manifest = NULL;
    }
}

/* `effects` are those of a dry run; NULL: it was applied. */
static void put_applied(struct lks_call *call, const struct lks_decision *d,
                        const struct lks_effects *effects, uint64_t seq)
{
    struct lks_json_writer w = lks_call_json(call);
    lks_json_bool(&w, "applied", effects == NULL);
    lks_json_begin(&w, "changes", '[');
    for (size_t i = 0; i < d->count; i++) {
        lks_json_begin(&w, NULL, '{');
        lks_record_json_shown(&d->records[i], &w);
        lks_json_end(&w, '}');
    }
    lks_json_end(&w, ']');
    if (effects != NULL) {
        lks_json_begin(&w, "effects", '[');
        lks_effects_json(effects, &w);
        lks_json_end(&w, ']');
    }
    lks_json_int(&w, "seq", (int64_t)seq);
    lks_json_int(&w, "nodes", (int64_t)d->touched.nodes);
    lks_json_int(&w, "gpus", (int64_t)d->touched.gpus);
    lks_json_end(&w, '}');
}

static void try_fleet(struct lks_authz *authz, struct lks_call *call, struct lks_event *event)
{
    LKS_CLEANUP(lks_decision_fini) struct lks_decision d = {0};
    LKS_CLEANUP(lks_effects_fini) struct lks_effects effects = {0};
    struct lks_err err = {0};
    lks_decision_init(&d);
    event->by = lks_str_from(call->identity);
    enum lks_code code = lks_engine_try(authz->engine, authz->now, event, &d, &err);
    if (code == LKS_OK && d.refused.code != LKS_OK)
        lks_call_problem_err(call, &d.refused);
    else if (code != LKS_OK ||
             lks_effects_make(authz->state, lks_engine_book(authz->engine), event->fleet.manifest,
                              d.records, d.count, authz->now.wall, &effects, &err) != LKS_OK)
        lks_call_problem_err(call, &err);
    else
        put_applied(call, &d, &effects, call->needs);
}

/* That the fleet is still the one whose differences the caller read. */
static bool check_from(const struct lks_authz *authz, struct lks_call *call, struct lks_str from)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf now = LKS_BUF(LKS_CALL_ANSWER_MAX);
    char digest[LKS_DIGEST_SIZE];
    struct lks_err err = {0};
    if (from.len == 0)
        return true;
    if (put_manifest(authz, &now, &err) != LKS_OK ||
        lks_digest_text(lks_buf_view(&now), digest, &err) != LKS_OK) {
        lks_call_problem_err(call, &err);
        return false;
    }
    if (lks_str_is(from, digest))
        return true;
    lks_call_problem(call, LKS_E_REFUSED,
                     "the fleet changed after its differences were read, and nothing was applied; "
                     "read them again with --dry-run");
    return false;
}

void lks_handle_apply(struct lks_authz *authz, struct lks_call *call)
{
    LKS_CLEANUP(lks_decision_fini) struct lks_decision d = {0};
    const struct lks_query_apply *ask = LKS_ASKED(call, lks_query_apply);
    struct lks_event event = {
        .kind = LKS_EVENT_FLEET,
        .reason = ask->reason,
        .fleet = {.manifest = call->manifest,
                  .give = call->manifest, /* it was read for us, and is not read again */
                  .digest = lks_str_from(call->digest),
                  .accept = ask->accept,
                  .dry = ask->dry_run,
                  .said = {ask->nodes, ask->gpus}},
    };
    if (!check_from(authz, call, ask->from) || lks_handle_sched_leaves(authz, call))
        return;
    if (event.fleet.dry) {
        try_fleet(authz, call, &event);
        return;
    }
    struct lks_store_blob blob = {.bytes = lks_buf_view(&call->bytes)};
    memcpy(blob.digest, call->digest, sizeof(blob.digest));
    if (lks_authz_turn(authz, call, &event, &blob, &d))
        put_applied(call, &d, NULL, call->needs);
}
