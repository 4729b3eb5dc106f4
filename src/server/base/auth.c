#include "server/base/auth.h"

#include "core/rows/credential.h"
#include "core/state/barred.h"
#include "core/state/state.h"

#include <stdio.h>
#include <string.h>

static struct lks_credential of_token(struct lks_str text)
{
    struct lks_credential c = {.kind = LKS_CREDENTIAL_BAD};
    struct lks_token token;
    struct lks_err err = {0};
    if (lks_token_parse(text, &token, &err) != LKS_OK || token.kind != LKS_TOKEN_API)
        return c;
    if (token.id.len >= sizeof(c.id) || lks_token_hash(&token, c.hash, &err) != LKS_OK)
        return c;
    memcpy(c.id, token.id.ptr, token.id.len);
    c.id[token.id.len] = '\0';
    c.kind = LKS_CREDENTIAL_TOKEN;
    return c;
}

struct lks_credential lks_auth_credential_bearer(struct lks_str header)
{
    struct lks_str scheme, text;
    if (!lks_str_cut(header, ' ', &scheme, &text) || !lks_str_eq_nocase(scheme, LKS_STR("bearer")))
        return (struct lks_credential){.kind = LKS_CREDENTIAL_BAD};
    return of_token(lks_str_trim(text));
}

struct lks_str lks_auth_cookie(struct lks_str header, const char *name)
{
    struct lks_str pair, key, value;
    for (bool more = true; more;) {
        more = lks_str_cut(header, ';', &pair, &header);
        if (lks_str_cut(lks_str_trim(pair), '=', &key, &value) && lks_str_is(key, name))
            return value;
    }
    return LKS_STR("");
}

struct lks_credential lks_auth_credential_cookie(struct lks_str header)
{
    struct lks_str text = lks_auth_cookie(header, LKS_COOKIE_TOKEN);
    if (text.len == 0)
        return (struct lks_credential){.kind = LKS_CREDENTIAL_NONE};
    struct lks_credential c = of_token(text);
    if (!lks_str_starts(lks_str_from(c.id), LKS_LOGIN_ID))
        c.kind = LKS_CREDENTIAL_BAD;
    return c;
}

bool lks_auth_origin_is(struct lks_str origin, struct lks_str host)
{
    static const char scheme[] = "https://";
    size_t len = sizeof(scheme) - 1;
    return host.len > 0 && lks_str_starts(origin, scheme) &&
           lks_str_eq_nocase((struct lks_str){origin.ptr + len, origin.len - len}, host);
}

static bool identity(char out[LKS_AUTH_SIZE], const char *sort, struct lks_str name)
{
    int len = snprintf(out, LKS_AUTH_SIZE, "%s%" LKS_STR_FMT, sort, LKS_STR_ARG(name));
    return len > 0 && len < LKS_AUTH_SIZE;
}

/* A person's certificate counts while the journal has it: it may have been revoked. */
static bool is_person(const struct lks_state *s, const struct lks_x509_about *about,
                      const char *identity, lks_ms wall)
{
    const struct lks_state_person *known = lks_state_person(s, lks_str_from(about->serial));
    return known != NULL && wall < known->certificate.expires &&
           lks_state_certificate_is(&known->certificate, lks_str_from(about->fingerprint)) &&
           lks_str_is(lks_state_text(s, known->identity), identity);
}

static bool of_certificate(const struct lks_state *s, const struct lks_credential *c, lks_ms wall,
                           struct lks_auth *out)
{
    const struct lks_x509_about *about = &c->certificate;
    bool user = about->use == LKS_X509_USER;
    const char *why = "";
    if (!about->ours ||
        !identity(out->identity, user ? "user:" : "node:", lks_str_from(about->name)))
        return false;
    if (!user)
        return lks_auth_node(s, c, &why) != LKS_NO_NODE;
    return identity(out->credential, "certificate:", lks_str_from(about->serial)) &&
           is_person(s, about, out->identity, wall);
}

bool lks_auth_person(const struct lks_state *s, const struct lks_credential *c, uid_t own,
                     lks_ms wall, struct lks_auth *out)
{
    *out = (struct lks_auth){0};
    if (c->kind == LKS_CREDENTIAL_UNIX) {
        out->root = c->uid == 0 || c->uid == own;
        (void)snprintf(out->identity, sizeof(out->identity), "unix:%u", (unsigned)c->uid);
        (void)snprintf(out->credential, sizeof(out->credential), "%s", out->identity);
        return true;
    }
    if (c->kind == LKS_CREDENTIAL_CERTIFICATE)
        return of_certificate(s, c, wall, out);
    if (c->kind != LKS_CREDENTIAL_TOKEN)
        return false;
    struct lks_str known = lks_access_token(s, lks_str_from(c->id), lks_str_from(c->hash), wall);
    return known.len > 0 && identity(out->identity, "", known) &&
           identity(out->credential, "token:", lks_str_from(c->id));
}

bool lks_auth_holds(const struct lks_state *s, struct lks_str identity, struct lks_str credential,
                    lks_ms wall)
{
    struct lks_str kind, id;
    if (!lks_str_cut(credential, ':', &kind, &id))
        return true; /* a controller of an earlier version does not say */
    if (lks_str_is(kind, "token")) {
        const struct lks_api_token *token = lks_state_token(s, id);
        return token != NULL && (token->expires == 0 || wall < token->expires) &&
               lks_str_eq(lks_state_text(s, token->identity), identity);
    }
    if (!lks_str_is(kind, "certificate"))
        return true;
    const struct lks_state_person *person = lks_state_person(s, id);
    return person != NULL && wall < person->certificate.expires &&
           lks_str_eq(lks_state_text(s, person->identity), identity);
}

bool lks_auth_knows(const struct lks_state *s, uint32_t node, const struct lks_credential *c)
{
    const struct lks_certificate *known = s->nodes[node].certificates;
    for (size_t i = 0; i < LKS_COUNT(s->nodes[node].certificates); i++) {
        if (lks_state_certificate_is(&known[i], lks_str_from(c->certificate.fingerprint)))
            return true;
    }
    return false;
}

uint32_t lks_auth_node(const struct lks_state *s, const struct lks_credential *c, const char **why)
{
    const struct lks_x509_about *about = &c->certificate;
    *why = "an agent shows a certificate of its node";
    if (c->kind != LKS_CREDENTIAL_CERTIFICATE || (about->ours && about->use != LKS_X509_NODE))
        return LKS_NO_NODE;
    uint32_t node = lks_state_node(s, lks_str_from(about->name));
    *why = "the fleet has no node of the certificate's name";
    if (node == LKS_NO_NODE || !s->nodes[node].placed)
        return LKS_NO_NODE;
    *why = "the certificate was revoked, or is that of a machine that was replaced; enrol the "
           "node again";
    if (about->ours ? !lks_auth_knows(s, node, c)
                    : lks_barred_is(s, node, lks_str_from(about->fingerprint)))
        return LKS_NO_NODE;
    return node;
}
