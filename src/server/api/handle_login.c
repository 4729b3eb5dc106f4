/* People who log in with the site's OpenID provider: server/auth/oidc.h. */
#include "codec/format/hex.h"
#include "core/state/state.h"
#include "server/api/handle.h"
#include "server/auth/authz.h"
#include "server/auth/oidc.h"
#include "server/base/daemon.h"
#include "server/form/views.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HOUR_SECONDS = 3600, LOGIN_SECONDS = 600, ID_CHANCE = 8 };

/* Room for what prepare() finds; NULL, and the call failed, without memory. */
static void *remember(struct lks_call *call, size_t size)
{
    call->memory = calloc(1, size);
    call->drop = free;
    if (call->memory == NULL)
        (void)!lks_fail_nomem(&call->failed);
    return call->memory;
}

/* By device --------------------------------------------------------------------------------- */

void lks_handle_login_device_prepare(struct lks_call *call)
{
    struct lks_oidc_device *device = remember(call, sizeof(*device));
    if (device != NULL)
        call->failed.code = lks_oidc_device(call->daemon, device, &call->failed);
}

void lks_handle_login_device(struct lks_authz *authz, struct lks_call *call)
{
    (void)authz;
    const struct lks_oidc_device *device = call->memory;
    struct lks_json_writer w = lks_call_json(call);
    lks_json_cstr(&w, "code", device->code);
    lks_json_cstr(&w, "user_code", device->user_code);
    lks_json_cstr(&w, "uri", device->uri);
    lks_view_text(&w, "uri_complete", lks_str_from(device->uri_complete));
    lks_json_int(&w, "expires_in", (int64_t)device->expires_in);
    lks_json_int(&w, "interval", (int64_t)device->interval);
    lks_json_end(&w, '}');
}

void lks_handle_login_poll_prepare(struct lks_call *call)
{
    struct lks_oidc_person *person = remember(call, sizeof(*person));
    if (person != NULL)
        call->failed.code = lks_oidc_poll(call->daemon, LKS_ASKED(call, lks_ask_login_poll)->code,
                                          person, &call->failed);
}

/* Names that no two logins share: login.NAME.CHANCE. */
static enum lks_code make_id(const char *identity, char out[LKS_TOKEN_ID_MAX + 1],
                             struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf hex = {0};
    uint8_t chance[ID_CHANCE];
    lks_buf_init(&hex, 2 * sizeof(chance));
    if (lks_secrets_chance(chance, sizeof(chance), err) != LKS_OK)
        return err->code;
    lks_hex_add(&hex, chance, sizeof(chance));
    if (lks_buf_check(&hex, err) != LKS_OK)
        return err->code;
    bool fits = lks_access_login_id(lks_str_from(identity), out);
    size_t len = strlen(out);
    if (!fits || len + hex.len > LKS_HOST_NAME_MAX)
        return lks_fail(err, LKS_E_DENIED, "the name in the ID token is too long");
    memcpy(out + len, hex.ptr, hex.len + 1);
    return LKS_OK;
}

static void put_login(struct lks_call *call, const struct lks_oidc_person *person,
                      const char *token, lks_ms expires)
{
    struct lks_json_writer w = lks_call_json(call);
    lks_json_cstr(&w, "state", "done");
    lks_json_cstr(&w, "token", token);
    lks_json_cstr(&w, "identity", person->identity);
    lks_view_people(&w, "roles", lks_str_from(person->grants));
    lks_view_time(&w, "expires", expires);
    lks_json_end(&w, '}');
}

/* The person gets a token; its record says which provider named them. False: it is refused. */
static bool log_in(struct lks_authz *authz, struct lks_call *call,
                   const struct lks_oidc_person *person, char token[LKS_TOKEN_TEXT_MAX],
                   lks_ms *expires)
{
    LKS_CLEANUP(lks_decision_fini) struct lks_decision d = {0};
    const struct lks_config *config = lks_daemon_config(authz->daemon);
    uint8_t chance[LKS_TOKEN_CHANCE];
    char id[LKS_TOKEN_ID_MAX + 1], hash[LKS_DIGEST_SIZE];
    struct lks_err err = {0};
    snprintf(call->identity, sizeof(call->identity), "%s", person->identity);
    if (make_id(person->identity, id, &err) != LKS_OK ||
        lks_secrets_chance(chance, sizeof(chance), &err) != LKS_OK ||
        lks_token_make(LKS_TOKEN_API, lks_str_from(id), chance, token, hash, &err) != LKS_OK) {
        lks_call_problem_err(call, &err);
        return false;
    }
    *expires = authz->now.wall + config->oidc_session_hours * HOUR_SECONDS * (uint64_t)LKS_SECOND;
    struct lks_event event = {
        .kind = LKS_EVENT_LOGIN,
        .api_token = {.id = lks_str_from(id),
                      .identity = lks_str_from(person->identity),
                      .hash = lks_str_from(hash),
                      .expires = *expires,
                      .issuer = lks_str_from(person->issuer),
                      .grants = lks_str_from(person->grants)},
    };
    return lks_authz_turn(authz, call, &event, NULL, &d);
}

void lks_handle_login_poll(struct lks_authz *authz, struct lks_call *call)
{
    const struct lks_oidc_person *person = call->memory;
    char token[LKS_TOKEN_TEXT_MAX];
    lks_ms expires = 0;
    if (person->known) {
        if (log_in(authz, call, person, token, &expires))
            put_login(call, person, token, expires);
        return;
    }
    struct lks_json_writer w = lks_call_json(call);
    lks_json_cstr(&w, "state", person->slow ? "slow" : "pending");
    lks_json_end(&w, '}');
}

/* In a browser ------------------------------------------------------------------------------ */

static void put_escaped(struct lks_buf *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (strchr("&<>\"'", *text) != NULL)
            lks_buf_addf(out, "&#%d;", *text);
        else
            lks_buf_addc(out, *text);
    }
}

/* A page that leads on. A redirect would not do: behind one that began at the provider a browser
 * does not send a cookie that is for this site alone. */
static void put_page(struct lks_call *call, const char *url)
{
    call->status = 200;
    call->type = "text/html; charset=utf-8";
    lks_call_header(call, "Cache-Control: no-store");
    lks_call_header(call, "Content-Security-Policy: default-src 'none'");
    lks_call_header(call, "Referrer-Policy: no-referrer");
    lks_buf_addf(&call->out, "<!doctype html><title>lockstep</title>"
                             "<meta http-equiv=\"refresh\" content=\"0;url=");
    put_escaped(&call->out, url);
    lks_buf_addf(&call->out, "\"><a href=\"");
    put_escaped(&call->out, url);
    lks_buf_addf(&call->out, "\">go on</a>\n");
}

/* `strict`: for pages of this host alone; else it comes along when the provider leads back. */
static void put_cookie(struct lks_call *call, const char *name, const char *value, uint64_t seconds,
                       bool strict)
{
    lks_call_header(call, "Set-Cookie: %s=%s; Path=/; Secure; HttpOnly; SameSite=%s; Max-Age=%llu",
                    name, value, strict ? "Strict" : "Lax", (unsigned long long)seconds);
}

void lks_handle_login_prepare(struct lks_call *call)
{
    struct lks_oidc_browser *browser = remember(call, sizeof(*browser));
    if (browser != NULL)
        call->failed.code = lks_oidc_browser(call->daemon, browser, &call->failed);
}

/* A login is a record: one that is begun at a controller that follows goes on at the leader. */
void lks_handle_login(struct lks_authz *authz, struct lks_call *call)
{
    const struct lks_oidc_browser *browser = call->memory;
    struct lks_str leader = lks_state_text(authz->state, authz->state->leader_url);
    char url[LKS_STORE_URL_SIZE + 16];
    if (authz->following && leader.len > 0) {
        snprintf(url, sizeof(url), "%" LKS_STR_FMT "/v1/login", LKS_STR_ARG(leader));
        put_page(call, url);
        return;
    }
    put_cookie(call, LKS_COOKIE_LOGIN, browser->cookie, LOGIN_SECONDS, false);
    put_page(call, browser->url);
}

void lks_handle_login_callback_prepare(struct lks_call *call)
{
    struct lks_oidc_person *person = remember(call, sizeof(*person));
    const struct lks_query_login *ask = LKS_ASKED(call, lks_query_login);
    const struct lks_oidc_back back = {
        .cookie = lks_str_from(call->cookie), .state = ask->state, .code = ask->code};
    if (person == NULL)
        return;
    if (back.code.len > 0)
        call->failed.code = lks_oidc_code(call->daemon, &back, person, &call->failed);
    else
        (void)!lks_fail(&call->failed, LKS_E_DENIED,
                        "the OpenID provider refuses the login (%" LKS_STR_FMT ")",
                        LKS_STR_ARG(ask->error));
}

void lks_handle_login_callback(struct lks_authz *authz, struct lks_call *call)
{
    char token[LKS_TOKEN_TEXT_MAX];
    lks_ms expires = 0;
    if (authz->following) {
        lks_call_problem(call, LKS_E_UNAVAILABLE,
                         "this controller does not lead any more; open /v1/login again");
        return;
    }
    if (!log_in(authz, call, call->memory, token, &expires))
        return;
    put_cookie(call, LKS_COOKIE_LOGIN, "", 0, false);
    put_cookie(call, LKS_COOKIE_TOKEN, token, (expires - authz->now.wall) / LKS_SECOND, true);
    put_page(call, "/v1/whoami");
}

/* The end ----------------------------------------------------------------------------------- */

void lks_handle_logout(struct lks_authz *authz, struct lks_call *call)
{
    struct lks_str kind, id;
    struct lks_event event = {.kind = LKS_EVENT_LOGOUT};
    if (lks_str_cut(lks_str_from(call->shown), ':', &kind, &id) && lks_str_is(kind, "token"))
        event.api_token.id = id;
    lks_authz_record(authz, call, &event);
    if (call->by_cookie)
        put_cookie(call, LKS_COOKIE_TOKEN, "", 0, true);
}
