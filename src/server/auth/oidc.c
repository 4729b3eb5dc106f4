#include "server/auth/oidc.h"

#include "codec/format/base64.h"
#include "codec/format/digest.h"
#include "codec/format/hex.h"
#include "codec/format/json.h"
#include "drivers/http/client.h"
#include "drivers/store/secrets.h"
#include "port/ticket.h"
#include "server/base/secrets.h"
#include "trust/jwt.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    EXCHANGE_MS = 10000, /* the whole of one */
    BUSY_MAX = 2,        /* exchanges at a time: the thread pool has other work */
    ANSWER_MAX = 256 << 10,
    FORM_MAX = 16 << 10,
    INTERVAL_USUAL = 5, /* seconds, as RFC 8628 has it */
    INTERVAL_MOST = 300,
    EXPIRES_MOST = 3600,
};

#define FRESH_MS ((lks_ms)3600 * LKS_SECOND)      /* endpoints and keys are read anew after, */
#define AGAIN_MS ((lks_ms)60 * LKS_SECOND)        /* and for a key that is not known no sooner */
#define OLD_MS   ((lks_ms)24 * 3600 * LKS_SECOND) /* and are of no use any more after */

#define DISCOVERY    "/.well-known/openid-configuration"
#define DEVICE_GRANT "urn:ietf:params:oauth:grant-type:device_code"

struct endpoints {
    char token[LKS_OIDC_URL_SIZE], device[LKS_OIDC_URL_SIZE], keys[LKS_OIDC_URL_SIZE];
    char browser[LKS_OIDC_URL_SIZE];
};

struct lks_oidc {
    uv_mutex_t lock; /* of all that follows */
    unsigned busy;
    char issuer[LKS_OIDC_URL_SIZE]; /* that the rest is of */
    struct endpoints at;
    struct lks_jwks keys;
    lks_ms read_at, lacked_at; /* mono: when they were read, and read for a lacking key; 0: never */
    lks_ms failing;            /* mono: since when it does not answer; 0: it does */
    uint64_t logins, refused, failed;
};

struct lks_oidc *lks_oidc_new(void)
{
    struct lks_oidc *o = calloc(1, sizeof(*o));
    if (o != NULL)
        uv_mutex_init(&o->lock);
    return o;
}

void lks_oidc_free(struct lks_oidc *o)
{
    if (o == NULL)
        return;
    lks_jwt_keys_fini(&o->keys);
    uv_mutex_destroy(&o->lock);
    free(o);
}

/* Exchanges --------------------------------------------------------------------------------- */

/* One of the few that may ask at a time. The caller owes leave(). */
static enum lks_code enter(struct lks_daemon *d, struct lks_oidc **out, struct lks_err *err)
{
    struct lks_oidc *o = lks_daemon_oidc(d);
    uv_mutex_lock(&o->lock);
    bool full = o->busy >= BUSY_MAX;
    o->busy += !full;
    uv_mutex_unlock(&o->lock);
    if (full)
        return lks_fail(err, LKS_E_UNAVAILABLE, "others are logging in; try again in a moment");
    *out = o;
    return LKS_OK;
}

static void leave(struct lks_oidc **entered)
{
    struct lks_oidc *o = *entered;
    if (o == NULL)
        return;
    uv_mutex_lock(&o->lock);
    o->busy--;
    uv_mutex_unlock(&o->lock);
}

/* The provider answered, or did not; that is logged when it changes. */
static void note_answer(struct lks_daemon *d, const struct lks_err *why)
{
    struct lks_oidc *o = lks_daemon_oidc(d);
    struct lks_log_field field = {"cause", lks_str_from(why->msg)};
    lks_ms mono = lks_daemon_now().mono;
    uv_mutex_lock(&o->lock);
    bool was = o->failing != 0, is = why->code != LKS_OK;
    o->failed += is;
    o->failing = !is ? 0 : was ? o->failing : mono;
    uv_mutex_unlock(&o->lock);
    if (is && !was)
        lks_daemon_log(d, LKS_LEVEL_WARNING, "the OpenID provider does not answer", &field, 1);
    if (was && !is)
        lks_daemon_log(d, LKS_LEVEL_INFO, "the OpenID provider answers again", NULL, 0);
}

/* Whether "https://HOST" has one behind it; an IPv6 address has colons of its own. */
static bool has_port(struct lks_str peer)
{
    struct lks_str host = {peer.ptr + strlen("https://"), peer.len - strlen("https://")};
    host = lks_str_last(host, ']');
    return memchr(host.ptr, ':', host.len) != NULL;
}

/* `form` NULL: GET. Endpoints are wherever the provider says, over TLS and known by the same
 * authorities; redirects are not followed. */
static enum lks_code exchange(const struct lks_config *config, struct lks_str url,
                              const struct lks_buf *form, struct lks_http_answer *out,
                              struct lks_err *err)
{
    struct lks_client *client = NULL;
    struct lks_str peer, path;
    char server[LKS_OIDC_URL_SIZE + 8], target[LKS_OIDC_URL_SIZE];
    if (!lks_str_starts(url, "https://") || url.len >= LKS_OIDC_URL_SIZE ||
        !lks_str_printable(url) || memchr(url.ptr, ' ', url.len) != NULL)
        return lks_fail(err, LKS_E_UNAVAILABLE, "it names an endpoint that is no https:// URL");
    lks_ticket_split(url, &peer, &path);
    snprintf(server, sizeof(server), "%" LKS_STR_FMT "%s", LKS_STR_ARG(peer),
             has_port(peer) ? "" : ":443");
    snprintf(target, sizeof(target), "%" LKS_STR_FMT, LKS_STR_ARG(path));
    const struct lks_client_options options = {.server = server,
                                               .ca = config->oidc_ca.ptr,
                                               .timeout_ms = EXCHANGE_MS,
                                               .body_max = ANSWER_MAX};
    if (lks_client_new(&options, &client, err) != LKS_OK)
        return err->code;
    enum lks_code code = lks_client_exchange(
        client, form != NULL ? "POST" : "GET", target,
        form != NULL ? "application/x-www-form-urlencoded" : NULL,
        form != NULL ? lks_buf_view(form) : LKS_STR(""), "Accept: application/json\r\n", out, err);
    lks_client_free(client);
    return code;
}

/* Ask, and parse what was answered. Whatever is wrong with the provider is UNAVAILABLE to others:
 * no caller can do anything about it. */
static enum lks_code ask(struct lks_daemon *d, struct lks_str url, const struct lks_buf *form,
                         struct lks_docs *docs, int *status, struct lks_err *err)
{
    LKS_CLEANUP(lks_http_answer_fini) struct lks_http_answer answer = {0};
    struct lks_err why = {0};
    enum lks_code code = exchange(lks_daemon_config(d), url, form, &answer, &why);
    if (code == LKS_OK && answer.status >= 500)
        code = lks_fail(&why, LKS_E_UNAVAILABLE, "%" LKS_STR_FMT " answered %d", LKS_STR_ARG(url),
                        answer.status);
    if (code == LKS_OK)
        code = lks_docs_init(docs, "answer", &why);
    if (code == LKS_OK)
        code = lks_json_parse(lks_buf_view(&answer.body), docs, &why);
    if (code == LKS_OK && docs->first->kind != LKS_DOC_MAP)
        code = lks_fail(&why, LKS_E_UNAVAILABLE, "%" LKS_STR_FMT " answered with no map",
                        LKS_STR_ARG(url));
    why.code = code;
    note_answer(d, &why);
    *status = answer.status;
    return code == LKS_OK ? LKS_OK
                          : lks_fail(err, LKS_E_UNAVAILABLE,
                                     "the OpenID provider cannot be asked: %s; logins that are "
                                     "open go on",
                                     why.msg);
}

/* Endpoints and keys ------------------------------------------------------------------------ */

struct found {
    struct endpoints at;
    struct lks_jwks keys;
};

/* Empty where it is missing or too long. */
static void copy(const struct lks_doc *from, const char *key, char *out, size_t size)
{
    struct lks_str text = lks_doc_text(from, key);
    bool fits = text.len < size && lks_str_printable(text);
    snprintf(out, size, "%" LKS_STR_FMT, LKS_STR_ARG(fits ? text : LKS_STR("")));
}

static enum lks_code discover(struct lks_daemon *d, struct found *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_str issuer = lks_daemon_config(d)->oidc_issuer;
    char url[LKS_OIDC_URL_SIZE];
    int status = 0;
    size_t len = issuer.len - lks_str_ends(issuer, "/");
    snprintf(url, sizeof(url), "%.*s" DISCOVERY, (int)len, issuer.ptr);
    if (ask(d, lks_str_from(url), NULL, &docs, &status, err) != LKS_OK)
        return err->code;
    if (status != 200 || !lks_str_eq(lks_doc_text(docs.first, "issuer"), issuer))
        return lks_fail(err, LKS_E_UNAVAILABLE,
                        "%.300s (%d) does not describe issuer %.100s: oidc.issuer has to be "
                        "written as the provider writes it",
                        url, status, issuer.ptr);
    copy(docs.first, "token_endpoint", out->at.token, LKS_OIDC_URL_SIZE);
    copy(docs.first, "device_authorization_endpoint", out->at.device, LKS_OIDC_URL_SIZE);
    copy(docs.first, "jwks_uri", out->at.keys, LKS_OIDC_URL_SIZE);
    copy(docs.first, "authorization_endpoint", out->at.browser, LKS_OIDC_URL_SIZE);
    return LKS_OK;
}

static enum lks_code fetch_keys(struct lks_daemon *d, struct found *f, struct lks_err *err)
{
    LKS_CLEANUP(lks_http_answer_fini) struct lks_http_answer answer = {0};
    struct lks_err why = {0};
    enum lks_code code =
        exchange(lks_daemon_config(d), lks_str_from(f->at.keys), NULL, &answer, &why);
    if (code == LKS_OK)
        code = lks_jwt_keys_parse(lks_buf_view(&answer.body), &f->keys, &why);
    why.code = code;
    note_answer(d, &why);
    return code == LKS_OK
               ? LKS_OK
               : lks_fail(err, LKS_E_UNAVAILABLE,
                          "the OpenID provider's keys cannot be read: %s; logins that are open "
                          "go on",
                          why.msg);
}

/* What was found takes the place of what there was. */
static void keep(struct lks_oidc *o, struct found *f, struct lks_str issuer, lks_ms mono)
{
    uv_mutex_lock(&o->lock);
    lks_jwt_keys_fini(&o->keys);
    o->keys = f->keys;
    f->keys = (struct lks_jwks){0};
    o->read_at = mono;
    snprintf(o->issuer, sizeof(o->issuer), "%" LKS_STR_FMT, LKS_STR_ARG(issuer));
    o->at = f->at;
    uv_mutex_unlock(&o->lock);
}

/* Whether it is time to read: what there is is old, of another issuer, or lacks a key. */
static bool is_due(struct lks_oidc *o, struct lks_str issuer, bool lacking, lks_ms mono, bool *have)
{
    uv_mutex_lock(&o->lock);
    lks_ms age = mono - o->read_at;
    *have = o->read_at != 0 && age < OLD_MS && lks_str_is(issuer, o->issuer);
    bool fresh = *have && age < FRESH_MS;
    bool due = lacking ? o->lacked_at == 0 || mono - o->lacked_at >= AGAIN_MS : !fresh;
    if (due && lacking)
        o->lacked_at = mono;
    uv_mutex_unlock(&o->lock);
    return due;
}

/* Have endpoints and keys that are fresh, or at least not too old. `lacking`: a token names a key
 * that we do not have. */
static enum lks_code refresh(struct lks_daemon *d, bool lacking, struct lks_err *err)
{
    struct lks_oidc *o = lks_daemon_oidc(d);
    struct lks_str issuer = lks_daemon_config(d)->oidc_issuer;
    struct found f = {0};
    bool have = false;
    lks_ms mono = lks_daemon_now().mono;
    if (!is_due(o, issuer, lacking, mono, &have))
        return LKS_OK;
    enum lks_code code = discover(d, &f, err);
    if (code == LKS_OK)
        code = fetch_keys(d, &f, err);
    if (code == LKS_OK)
        keep(o, &f, issuer, mono);
    lks_jwt_keys_fini(&f.keys);
    return code == LKS_OK || !have ? code : LKS_OK;
}

/* Requests ---------------------------------------------------------------------------------- */

enum lks_code lks_oidc_secret(const struct lks_config *config, struct lks_buf *out,
                              struct lks_err *err)
{
    struct lks_str kind, path;
    if (!lks_str_cut(config->oidc_client_secret, ':', &kind, &path))
        return LKS_OK;
    if (lks_secrets_text(kind, path.ptr, "secret", out, err) != LKS_OK)
        return lks_wrap(err, "oidc.client_secret");
    struct lks_str text = lks_buf_view(out);
    while (text.len > 0 && (text.ptr[text.len - 1] == '\n' || text.ptr[text.len - 1] == '\r'))
        text.len--;
    lks_buf_truncate(out, text.len);
    return text.len > 0 && lks_str_printable(text)
               ? LKS_OK
               : lks_fail(err, LKS_E_INVALID, "oidc.client_secret: expected one line of text");
}

static void add_field(struct lks_buf *form, const char *name, struct lks_str value)
{
    lks_buf_addf(form, "%s%s=", form->len > 0 ? "&" : "", name);
    lks_http_escape(form, value);
}

/* The client's name and secret. Callers who are not known yet are not told where the secret lies.
 */
static enum lks_code begin_form(struct lks_daemon *d, struct lks_buf *form, struct lks_err *err)
{
    LKS_CLEANUP(lks_secrets_wipe) struct lks_buf secret = {0};
    const struct lks_config *config = lks_daemon_config(d);
    struct lks_err why = {0};
    lks_buf_init(form, FORM_MAX);
    lks_buf_init(&secret, LKS_SECRET_MAX);
    if (lks_oidc_secret(config, &secret, &why) != LKS_OK) {
        struct lks_log_field field = {"cause", lks_str_from(why.msg)};
        lks_daemon_log(d, LKS_LEVEL_WARNING, "no login is possible", &field, 1);
        return lks_fail(err, LKS_E_UNAVAILABLE, "the client's secret cannot be read");
    }
    add_field(form, "client_id", config->oidc_client_id);
    if (secret.len > 0)
        add_field(form, "client_secret", lks_buf_view(&secret));
    return LKS_OK;
}

static enum lks_code check_configured(const struct lks_daemon *d, struct lks_err *err)
{
    return lks_daemon_config(d)->oidc_issuer.len > 0
               ? LKS_OK
               : lks_fail(err, LKS_E_REFUSED,
                          "no OpenID provider is configured here (oidc.issuer); use an API token "
                          "or a certificate");
}

static uint64_t bounded(const struct lks_doc *from, const char *key, uint64_t usual, uint64_t most)
{
    const struct lks_doc *said = lks_doc_member(from, key);
    if (said == NULL || said->kind != LKS_DOC_NUMBER || said->number <= 0)
        return usual;
    return (uint64_t)said->number < most ? (uint64_t)said->number : most;
}

static struct endpoints endpoints_of(struct lks_daemon *d)
{
    uv_mutex_lock(&lks_daemon_oidc(d)->lock);
    struct endpoints at = lks_daemon_oidc(d)->at;
    uv_mutex_unlock(&lks_daemon_oidc(d)->lock);
    return at;
}

enum lks_code lks_oidc_device(struct lks_daemon *d, struct lks_oidc_device *out,
                              struct lks_err *err)
{
    LKS_CLEANUP(leave) struct lks_oidc *entered = NULL;
    LKS_CLEANUP(lks_secrets_wipe) struct lks_buf form = {0};
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct endpoints at;
    int status = 0;
    *out = (struct lks_oidc_device){0};
    if (check_configured(d, err) != LKS_OK || enter(d, &entered, err) != LKS_OK ||
        refresh(d, false, err) != LKS_OK || begin_form(d, &form, err) != LKS_OK)
        return err->code;
    at = endpoints_of(d);
    if (at.device[0] == '\0')
        return lks_fail(err, LKS_E_REFUSED, "the OpenID provider has no login by device");
    add_field(&form, "scope", lks_daemon_config(d)->oidc_scopes);
    if (ask(d, lks_str_from(at.device), &form, &docs, &status, err) != LKS_OK)
        return err->code;
    copy(docs.first, "device_code", out->code, sizeof(out->code));
    copy(docs.first, "user_code", out->user_code, sizeof(out->user_code));
    copy(docs.first, "verification_uri", out->uri, sizeof(out->uri));
    copy(docs.first, "verification_uri_complete", out->uri_complete, sizeof(out->uri_complete));
    out->expires_in = bounded(docs.first, "expires_in", EXPIRES_MOST, EXPIRES_MOST);
    out->interval = bounded(docs.first, "interval", INTERVAL_USUAL, INTERVAL_MOST);
    if (status == 200 && out->code[0] != '\0' && out->user_code[0] != '\0' && out->uri[0] != '\0')
        return LKS_OK;
    return lks_fail(err, LKS_E_UNAVAILABLE,
                    "the OpenID provider refuses to start a login (%d %.100s): is "
                    "oidc.client_id known there, and may it log in by device?",
                    status, lks_doc_text(docs.first, "error").ptr);
}

/* People ------------------------------------------------------------------------------------ */

static bool has_group(const struct lks_doc *groups, struct lks_str name)
{
    if (groups != NULL && groups->kind == LKS_DOC_TEXT)
        return lks_str_eq(groups->text, name);
    return lks_doc_has(groups, name);
}

static enum lks_code map_roles(const struct lks_config *config, const struct lks_doc *claims,
                               struct lks_oidc_person *out, struct lks_err *err)
{
    const struct lks_doc *groups = lks_doc_find(claims, config->oidc_groups);
    size_t len = 0;
    for (size_t i = 0; i < config->oidc_roles.count; i++) {
        struct lks_str item = config->oidc_roles.items[i], role = lks_str_last(item, '=');
        struct lks_str group = {item.ptr, item.len - role.len - 1};
        if (!has_group(groups, group) || lks_str_has_word((struct lks_str){out->grants, len}, role))
            continue;
        if (len + role.len + 2 > sizeof(out->grants))
            return lks_fail(err, LKS_E_LIMIT, "these are too many roles; map fewer in oidc.roles");
        len += (size_t)snprintf(out->grants + len, sizeof(out->grants) - len, "%s%" LKS_STR_FMT,
                                len > 0 ? " " : "", LKS_STR_ARG(role));
    }
    return LKS_OK;
}

enum lks_code lks_oidc_person(const struct lks_config *config, const struct lks_doc *claims,
                              struct lks_oidc_person *out, struct lks_err *err)
{
    const struct lks_doc *verified = lks_doc_member(claims, "email_verified");
    const struct lks_doc *name = lks_doc_find(claims, config->oidc_username);
    bool email = lks_str_is(config->oidc_username, "email");
    if (name == NULL || name->kind != LKS_DOC_TEXT || name->text.len == 0)
        return lks_fail(err, LKS_E_DENIED,
                        "the ID token has no claim '%.100s' that names a person "
                        "(oidc.username_claim, oidc.scopes)",
                        config->oidc_username.ptr);
    if (email && (verified == NULL || verified->kind != LKS_DOC_BOOL || !verified->truth))
        return lks_fail(err, LKS_E_DENIED,
                        "the provider does not say that it verified the address that names this "
                        "person (email_verified); choose another oidc.username_claim");
    int len = snprintf(out->identity, sizeof(out->identity), "user:%" LKS_STR_FMT,
                       LKS_STR_ARG(name->text));
    if (len < 0 || (size_t)len >= sizeof(out->identity))
        return lks_fail(err, LKS_E_DENIED, "the name in the ID token is too long");
    snprintf(out->issuer, sizeof(out->issuer), "%" LKS_STR_FMT, LKS_STR_ARG(config->oidc_issuer));
    if (map_roles(config, claims, out, err) != LKS_OK)
        return err->code;
    out->known = true;
    return LKS_OK;
}

/* Under the lock, since keys may be exchanged meanwhile: it takes less than a millisecond. */
static enum lks_code check_token(struct lks_daemon *d, struct lks_str token, struct lks_str nonce,
                                 struct lks_docs *claims, struct lks_err *err)
{
    const struct lks_config *config = lks_daemon_config(d);
    const struct lks_jwt_want want = {.issuer = config->oidc_issuer,
                                      .client = config->oidc_client_id,
                                      .nonce = nonce,
                                      .wall = lks_daemon_now().wall};
    uv_mutex_lock(&lks_daemon_oidc(d)->lock);
    enum lks_code code = lks_jwt_check(token, &lks_daemon_oidc(d)->keys, &want, claims, err);
    uv_mutex_unlock(&lks_daemon_oidc(d)->lock);
    return code;
}

/* A token of a key that we do not have: the provider may have a new one. */
static enum lks_code read_person(struct lks_daemon *d, struct lks_str token, struct lks_str nonce,
                                 struct lks_oidc_person *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs claims = {0};
    if (lks_docs_init(&claims, "claims", err) != LKS_OK)
        return err->code;
    enum lks_code code = check_token(d, token, nonce, &claims, err);
    if (code == LKS_E_NOT_FOUND && refresh(d, true, err) == LKS_OK)
        code = check_token(d, token, nonce, &claims, err);
    if (code == LKS_E_NOT_FOUND)
        err->code = LKS_E_DENIED;
    return code == LKS_OK ? lks_oidc_person(lks_daemon_config(d), claims.first, out, err)
                          : err->code;
}

/* What the provider says instead of a token. */
static enum lks_code read_refusal(const struct lks_doc *answer, int status,
                                  struct lks_oidc_person *out, struct lks_err *err)
{
    struct lks_str word = lks_doc_text(answer, "error");
    out->slow = lks_str_is(word, "slow_down");
    if (out->slow || lks_str_is(word, "authorization_pending"))
        return LKS_OK;
    if (lks_str_is(word, "expired_token") || lks_str_is(word, "invalid_grant"))
        return lks_fail(err, LKS_E_DENIED, "the login was not completed in time; start again");
    return lks_fail(err, LKS_E_DENIED, "the OpenID provider refuses the login (%d %.100s)", status,
                    word.ptr);
}

/* Have the provider say who it is: `form` has all but the client. */
static enum lks_code fetch_token(struct lks_daemon *d, struct lks_buf *form, struct lks_str nonce,
                                 struct lks_oidc_person *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct endpoints at = endpoints_of(d);
    int status = 0;
    if (ask(d, lks_str_from(at.token), form, &docs, &status, err) != LKS_OK)
        return err->code;
    if (status != 200)
        return read_refusal(docs.first, status, out, err);
    return read_person(d, lks_doc_text(docs.first, "id_token"), nonce, out, err);
}

static enum lks_code poll_once(struct lks_daemon *d, struct lks_str code,
                               struct lks_oidc_person *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_secrets_wipe) struct lks_buf form = {0};
    if (refresh(d, false, err) != LKS_OK || begin_form(d, &form, err) != LKS_OK)
        return err->code;
    add_field(&form, "grant_type", LKS_STR(DEVICE_GRANT));
    add_field(&form, "device_code", code);
    return fetch_token(d, &form, LKS_STR(""), out, err);
}

static void count(struct lks_oidc *o, enum lks_code result, const struct lks_oidc_person *person)
{
    uv_mutex_lock(&o->lock);
    o->logins += result == LKS_OK && person->known;
    o->refused += result == LKS_E_DENIED;
    uv_mutex_unlock(&o->lock);
}

enum lks_code lks_oidc_poll(struct lks_daemon *d, struct lks_str code, struct lks_oidc_person *out,
                            struct lks_err *err)
{
    LKS_CLEANUP(leave) struct lks_oidc *entered = NULL;
    *out = (struct lks_oidc_person){0};
    if (check_configured(d, err) != LKS_OK || enter(d, &entered, err) != LKS_OK)
        return err->code;
    enum lks_code result = poll_once(d, code, out, err);
    count(lks_daemon_oidc(d), result, out);
    return result;
}

/* Browsers ---------------------------------------------------------------------------------- */

enum { STATE_BYTES = 16, VERIFIER_BYTES = 32, COOKIE_PARTS = 3 };

static enum lks_code add_chance(struct lks_buf *out, size_t bytes, struct lks_err *err)
{
    uint8_t chance[VERIFIER_BYTES];
    if (lks_secrets_chance(chance, bytes, err) != LKS_OK)
        return err->code;
    if (out->len > 0)
        lks_buf_addc(out, '.');
    lks_base64_url_add(out, (struct lks_str){(const char *)chance, bytes});
    return lks_buf_check(out, err);
}

/* STATE.NONCE.VERIFIER */
static bool split_cookie(struct lks_str cookie, struct lks_str parts[COOKIE_PARTS])
{
    return lks_str_cut(cookie, '.', &parts[0], &parts[1]) &&
           lks_str_cut(parts[1], '.', &parts[1], &parts[2]) && parts[0].len > 0 &&
           parts[1].len > 0 && parts[2].len > 0;
}

/* S256 of RFC 7636: the digest of the verifier's letters. */
static enum lks_code add_challenge(struct lks_buf *out, struct lks_str verifier,
                                   struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(64);
    char digest[LKS_DIGEST_SIZE];
    uint8_t bytes[32];
    size_t skip = strlen("sha256:");
    if (lks_digest_text(verifier, digest, err) != LKS_OK)
        return err->code;
    bool read = lks_hex_read(lks_str_from(digest + skip), bytes, sizeof(bytes));
    LKS_ASSERT(read);
    lks_base64_url_add(&text, (struct lks_str){(const char *)bytes, sizeof(bytes)});
    add_field(out, "code_challenge", lks_buf_view(&text));
    return lks_buf_check(&text, err);
}

static void add_redirect(const struct lks_daemon *d, struct lks_buf *out)
{
    char url[LKS_OIDC_URL_SIZE];
    snprintf(url, sizeof(url), "%s" LKS_OIDC_CALLBACK, lks_daemon_url(d));
    add_field(out, "redirect_uri", lks_str_from(url));
}

enum lks_code lks_oidc_browser(struct lks_daemon *d, struct lks_oidc_browser *out,
                               struct lks_err *err)
{
    LKS_CLEANUP(leave) struct lks_oidc *entered = NULL;
    LKS_CLEANUP(lks_buf_fini) struct lks_buf cookie = {0}, query = {0};
    const struct lks_config *config = lks_daemon_config(d);
    struct lks_str parts[COOKIE_PARTS];
    lks_buf_init(&cookie, LKS_OIDC_COOKIE_SIZE - 1);
    lks_buf_init(&query, sizeof(out->url) - LKS_OIDC_URL_SIZE);
    *out = (struct lks_oidc_browser){0};
    if (check_configured(d, err) != LKS_OK || enter(d, &entered, err) != LKS_OK ||
        refresh(d, false, err) != LKS_OK || add_chance(&cookie, STATE_BYTES, err) != LKS_OK ||
        add_chance(&cookie, STATE_BYTES, err) != LKS_OK ||
        add_chance(&cookie, VERIFIER_BYTES, err) != LKS_OK)
        return err->code;
    struct endpoints at = endpoints_of(d);
    if (!lks_str_starts(lks_str_from(at.browser), "https://"))
        return lks_fail(err, LKS_E_REFUSED, "the OpenID provider has no login in a browser");
    bool split = split_cookie(lks_buf_view(&cookie), parts);
    LKS_ASSERT(split);
    add_field(&query, "response_type", LKS_STR("code"));
    add_field(&query, "client_id", config->oidc_client_id);
    add_field(&query, "scope", config->oidc_scopes);
    add_redirect(d, &query);
    add_field(&query, "state", parts[0]);
    add_field(&query, "nonce", parts[1]);
    add_field(&query, "code_challenge_method", LKS_STR("S256"));
    if (add_challenge(&query, parts[2], err) != LKS_OK || lks_buf_check(&query, err) != LKS_OK)
        return err->code;
    snprintf(out->cookie, sizeof(out->cookie), "%s", cookie.ptr);
    snprintf(out->url, sizeof(out->url), "%s%c%s", at.browser,
             strchr(at.browser, '?') != NULL ? '&' : '?', query.ptr);
    return LKS_OK;
}

static enum lks_code exchange_code(struct lks_daemon *d, struct lks_str code,
                                   const struct lks_str *parts, struct lks_oidc_person *out,
                                   struct lks_err *err)
{
    LKS_CLEANUP(lks_secrets_wipe) struct lks_buf form = {0};
    if (refresh(d, false, err) != LKS_OK || begin_form(d, &form, err) != LKS_OK)
        return err->code;
    add_field(&form, "grant_type", LKS_STR("authorization_code"));
    add_field(&form, "code", code);
    add_redirect(d, &form);
    add_field(&form, "code_verifier", parts[2]);
    if (fetch_token(d, &form, parts[1], out, err) != LKS_OK)
        return err->code;
    return out->known ? LKS_OK : lks_fail(err, LKS_E_DENIED, "the OpenID provider gave no token");
}

/* The state binds the answer to the browser that asked: another's code is not taken. */
enum lks_code lks_oidc_code(struct lks_daemon *d, const struct lks_oidc_back *back,
                            struct lks_oidc_person *out, struct lks_err *err)
{
    LKS_CLEANUP(leave) struct lks_oidc *entered = NULL;
    struct lks_str parts[COOKIE_PARTS];
    *out = (struct lks_oidc_person){0};
    if (check_configured(d, err) != LKS_OK)
        return err->code;
    if (!split_cookie(back->cookie, parts) || !lks_str_eq(parts[0], back->state))
        return lks_fail(err, LKS_E_DENIED,
                        "this login was not started in this browser, or too long ago; open "
                        "/v1/login");
    if (enter(d, &entered, err) != LKS_OK)
        return err->code;
    enum lks_code result = exchange_code(d, back->code, parts, out, err);
    count(lks_daemon_oidc(d), result, out);
    return result;
}

/* Numbers ----------------------------------------------------------------------------------- */

void lks_oidc_metrics(struct lks_daemon *d, struct lks_buf *out)
{
    struct lks_oidc *o = lks_daemon_oidc(d);
    if (lks_daemon_config(d)->oidc_issuer.len == 0)
        return;
    lks_ms mono = lks_daemon_now().mono;
    uv_mutex_lock(&o->lock);
    lks_buf_addf(
        out,
        "# TYPE lockstep_oidc_logins counter\n"
        "# HELP lockstep_oidc_logins People whom the OpenID provider named.\n"
        "lockstep_oidc_logins_total %llu\n"
        "# TYPE lockstep_oidc_refused counter\n"
        "# HELP lockstep_oidc_refused Logins that it refused, or whose token was not good.\n"
        "lockstep_oidc_refused_total %llu\n"
        "# TYPE lockstep_oidc_failed counter\n"
        "# HELP lockstep_oidc_failed Questions that it did not answer.\n"
        "lockstep_oidc_failed_total %llu\n"
        "# TYPE lockstep_oidc_failing_seconds gauge\n"
        "# HELP lockstep_oidc_failing_seconds How long it has not answered; 0: it does.\n"
        "lockstep_oidc_failing_seconds %llu\n",
        (unsigned long long)o->logins, (unsigned long long)o->refused,
        (unsigned long long)o->failed,
        (unsigned long long)(o->failing != 0 ? (mono - o->failing) / LKS_SECOND + 1 : 0));
    uv_mutex_unlock(&o->lock);
}
