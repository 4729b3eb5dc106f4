#include "core/rows/credential.h"
#include "core/state/state.h"
#include "server/api/handle.h"
#include "server/api/routes.h"
#include "server/auth/authz.h"
#include "server/auth/lookup.h"
#include "server/base/daemon.h"
#include "server/form/views.h"

enum { HOUR_SECONDS = 3600, DAY_SECONDS = 86400 };

/* How long a credential is to be good, in seconds: what was asked for, or what is usual. False, and
 * `err` says why, where that is longer than this site has them. */
static bool read_life(const struct lks_call *call, uint64_t asked, int64_t *out,
                      struct lks_err *err)
{
    const struct lks_config *config = lks_daemon_config(call->daemon);
    int64_t most = (int64_t)config->user_days * DAY_SECONDS;
    int64_t usual = (int64_t)config->user_hours * HOUR_SECONDS;
    *out = asked != 0 ? (int64_t)asked : usual < most ? usual : most;
    if (*out <= most)
        return true;
    return lks_fail(err, LKS_E_INVALID, "body: ttl_seconds: at most %llu days (tls.user_days)",
                    (unsigned long long)config->user_days) == LKS_OK;
}

void lks_handle_access(struct lks_authz *authz, struct lks_call *call)
{
    const struct lks_state *s = authz->state;
    struct lks_json_writer w = lks_call_json(call);
    lks_json_begin(&w, "bindings", '[');
    for (uint32_t i = 0; i < s->binding_count; i++) {
        lks_view_row_item(&w, &lks_view_bindings, LKS_USE_LISTED | LKS_USE_SHOWN, s,
                          &s->bindings[i]);
    }
    lks_json_end(&w, ']');
    lks_json_begin(&w, "tokens", '[');
    for (uint32_t i = 0; i < s->token_count; i++) {
        if (s->tokens[i].issuer != 0 && s->tokens[i].expires <= authz->now.wall)
            continue; /* a login that is over is kept for its votes alone */
        lks_view_row_item(&w, &lks_view_tokens, LKS_USE_LISTED, s, &s->tokens[i]);
    }
    lks_json_end(&w, ']');
    lks_json_begin(&w, "certificates", '[');
    for (uint32_t i = 0; i < s->person_count; i++) {
        if (s->persons[i].certificate.expires <= authz->now.wall)
            continue; /* it leaves with the next that is made */
        lks_view_row_item(&w, &lks_view_persons, LKS_USE_LISTED, s, &s->persons[i]);
    }
    lks_json_end(&w, ']');
    lks_json_end(&w, '}');
}

/* Whether a person may do something ---------------------------------------------------------- */

static const struct lks_route *route_called(struct lks_str id)
{
    for (size_t i = 0; i < lks_route_count; i++) {
        if (lks_str_is(id, lks_routes[i].id) && lks_routes[i].listener == LKS_LISTENER_PEOPLE)
            return &lks_routes[i];
    }
    return NULL;
}

/* False, and the answer written, where the question makes no sense or is about another person and
 * the caller is no admin. */
static bool check_question(const struct lks_authz *authz, struct lks_call *call,
                           const struct lks_authz_act *act)
{
    const struct lks_query_can *ask = LKS_ASKED(call, lks_query_can);
    if (act->route == NULL)
        lks_call_problem(call, LKS_E_NOT_FOUND,
                         "there is no act '%" LKS_STR_FMT "'; an act is the operationId of a route",
                         LKS_STR_ARG(ask->act));
    else if (act->name.len > 0 && (act->pool.len > 0 || act->site.len > 0))
        lks_call_problem(call, LKS_E_INVALID,
                         "query: `name` says where it is; `pool` and `site` do not go with it");
    else if (act->site.len > 0 && act->route->scope == LKS_SCOPE_POOL)
        lks_call_problem(call, LKS_E_INVALID,
                         "query: site: this act is for a pool or for the fleet, not for a site");
    else if (act->identity.len > 0 &&
             !lks_authz_may(authz, call, LKS_MAY_ADMIN, (struct lks_scope){0}))
        lks_call_problem(call, LKS_E_DENIED,
                         "%s may not ask what others may do: that needs the role admin",
                         call->identity);
    return call->status == 0;
}

void lks_handle_can(struct lks_authz *authz, struct lks_call *call)
{
    const struct lks_query_can *ask = LKS_ASKED(call, lks_query_can);
    struct lks_authz_act act = {
        .route = route_called(ask->act),
        .identity = ask->identity,
        .name = ask->name,
        .pool = ask->pool,
        .site = ask->site,
    };
    if (check_question(authz, call, &act))
        lks_authz_can(authz, call, &act);
}

static void change_role(struct lks_authz *authz, struct lks_call *call, enum lks_event_kind kind)
{
    const struct lks_ask_binding *ask = LKS_ASKED(call, lks_ask_binding);
    struct lks_event event = {
        .kind = kind,
        .reason = ask->reason,
        .grant = {.identity = ask->identity,
                  .site = ask->site,
                  .pool = ask->pool,
                  .role = (enum lks_role)ask->role},
    };
    lks_authz_record(authz, call, &event);
}

void lks_handle_grant(struct lks_authz *authz, struct lks_call *call)
{
    change_role(authz, call, LKS_EVENT_GRANT);
}

void lks_handle_ungrant(struct lks_authz *authz, struct lks_call *call)
{
    change_role(authz, call, LKS_EVENT_UNGRANT);
}

void lks_handle_token(struct lks_authz *authz, struct lks_call *call)
{
    LKS_CLEANUP(lks_decision_fini) struct lks_decision d = {0};
    uint8_t chance[LKS_TOKEN_CHANCE];
    char text[LKS_TOKEN_TEXT_MAX], hash[LKS_DIGEST_SIZE];
    struct lks_err err = {0};
    const struct lks_ask_token *ask = LKS_ASKED(call, lks_ask_token);
    int64_t life = 0;
    if (!read_life(call, ask->ttl_seconds, &life, &err) ||
        lks_secrets_chance(chance, sizeof(chance), &err) != LKS_OK ||
        lks_token_make(LKS_TOKEN_API, ask->id, chance, text, hash, &err) != LKS_OK) {
        lks_call_problem_err(call, &err);
        return;
    }
    struct lks_event event = {
        .kind = LKS_EVENT_API_TOKEN,
        .reason = ask->reason,
        .api_token = {.id = ask->id,
                      .identity = ask->identity,
                      .hash = lks_str_from(hash),
                      .life = (lks_ms)life * LKS_SECOND,
                      .expires = authz->now.wall + (lks_ms)life * LKS_SECOND},
    };
    struct lks_str nearest;
    bool known = lks_lookup_person(authz->state, ask->identity, &nearest); /* without this one */
    if (!lks_authz_turn(authz, call, &event, NULL, &d))
        return;
    struct lks_json_writer w = lks_call_json(call);
    lks_json_cstr(&w, "token", text);
    lks_view_time(&w, "expires", event.api_token.expires);
    if (!known) {
        lks_json_bool(&w, "unknown", true);
        lks_json_some(&w, "nearest", nearest);
    }
    lks_json_end(&w, '}');
}

void lks_handle_token_gone(struct lks_authz *authz, struct lks_call *call)
{
    struct lks_event event = {
        .kind = LKS_EVENT_API_TOKEN_GONE,
        .reason = LKS_ASKED(call, lks_ask_reason)->reason,
        .api_token = {.id = call->named},
    };
    lks_authz_record(authz, call, &event);
}

/* The rest of the credential that was shown, where it is of that kind; else it is refused. */
static bool shown_as(struct lks_call *call, const char *kind, const char *what, struct lks_str *out)
{
    struct lks_str have;
    if (lks_str_cut(lks_str_from(call->shown), ':', &have, out) && lks_str_is(have, kind))
        return true;
    lks_call_problem(call, LKS_E_INVALID, "show the %s that is to be renewed; this call shows %s",
                     what, call->shown[0] != '\0' ? call->shown : "none");
    return false;
}

void lks_handle_token_renew(struct lks_authz *authz, struct lks_call *call)
{
    LKS_CLEANUP(lks_decision_fini) struct lks_decision d = {0};
    const struct lks_config *config = lks_daemon_config(authz->daemon);
    struct lks_event event = {
        .kind = LKS_EVENT_API_TOKEN_RENEW,
        .api_token = {.expires =
                          authz->now.wall + config->user_days * DAY_SECONDS * (uint64_t)LKS_SECOND},
    };
    if (!shown_as(call, "token", "API token", &event.api_token.id) ||
        !lks_authz_turn(authz, call, &event, NULL, &d))
        return;
    const struct lks_api_token *token = lks_state_token(authz->state, event.api_token.id);
    LKS_ASSERT(token != NULL);
    struct lks_json_writer w = lks_call_json(call);
    lks_json_text(&w, "id", event.api_token.id);
    lks_view_time(&w, "expires", token->expires);
    lks_json_end(&w, '}');
}

/* Certificates of people -------------------------------------------------------------------- */

void lks_handle_certificate_prepare(struct lks_call *call)
{
    const struct lks_ask_certificate *ask = LKS_ASKED(call, lks_ask_certificate);
    int64_t seconds = 0;
    if (read_life(call, ask->ttl_seconds, &seconds, &call->failed))
        lks_handle_issue(call, LKS_X509_USER, ask->name, ask->request, seconds);
}

/* It leaves once the journal has it: what is not there is not taken. */
static void certify(struct lks_authz *authz, struct lks_call *call, struct lks_str identity,
                    struct lks_str renews, struct lks_str reason)
{
    LKS_CLEANUP(lks_decision_fini) struct lks_decision d = {0};
    lks_ms expires = (lks_ms)call->about.not_after * LKS_SECOND;
    struct lks_event event = {
        .kind = LKS_EVENT_CERTIFY,
        .reason = reason,
        .certify = {.identity = identity,
                    .fingerprint = lks_str_from(call->about.fingerprint),
                    .serial = lks_str_from(call->about.serial),
                    .renews = renews,
                    .expires = expires,
                    .life = expires > authz->now.wall ? expires - authz->now.wall : 0},
    };
    if (!lks_authz_turn(authz, call, &event, NULL, &d))
        return;
    struct lks_json_writer w = lks_call_json(call);
    lks_json_text(&w, "certificate", lks_buf_view(&call->issued));
    lks_json_text(&w, "ca", lks_buf_view(&lks_daemon_secrets(call->daemon)->ca));
    lks_json_cstr(&w, "serial", call->about.serial);
    lks_view_time(&w, "expires", expires);
    lks_json_end(&w, '}');
}

void lks_handle_certificate(struct lks_authz *authz, struct lks_call *call)
{
    char identity[LKS_CALL_IDENTITY_SIZE];
    const struct lks_ask_certificate *ask = LKS_ASKED(call, lks_ask_certificate);
    (void)snprintf(identity, sizeof(identity), "user:%" LKS_STR_FMT, LKS_STR_ARG(ask->name));
    certify(authz, call, lks_str_from(identity), LKS_STR(""), ask->reason);
}

/* Only once the state said how long the one before was made for. */
void lks_handle_recertify_prepare(struct lks_call *call)
{
    struct lks_str kind, name;
    if (call->life > 0 && lks_str_cut(lks_str_from(call->identity), ':', &kind, &name))
        lks_handle_issue(call, LKS_X509_USER, name, LKS_ASKED(call, lks_ask_certify)->request,
                         call->life);
}

void lks_handle_recertify(struct lks_authz *authz, struct lks_call *call)
{
    struct lks_str serial;
    if (!shown_as(call, "certificate", "certificate", &serial))
        return;
    if (call->life > 0) {
        certify(authz, call, lks_str_from(call->identity), serial, LKS_STR(""));
        return;
    }
    const struct lks_state_person *before = lks_state_person(authz->state, serial);
    int64_t most = (int64_t)lks_daemon_config(authz->daemon)->user_days * DAY_SECONDS;
    LKS_ASSERT(before != NULL); /* or the call would have been refused */
    call->life = (int64_t)(before->life / LKS_SECOND);
    call->life = call->life < 1 ? 1 : call->life > most ? most : call->life;
    lks_authz_prepare_again(call);
}

void lks_handle_certificate_gone(struct lks_authz *authz, struct lks_call *call)
{
    struct lks_event event = {
        .kind = LKS_EVENT_CERTIFY_GONE,
        .reason = LKS_ASKED(call, lks_ask_reason)->reason,
        .certify = {.serial = call->named},
    };
    lks_authz_record(authz, call, &event);
}
