#include "server/auth.h"

#include <stdio.h>
#include <string.h>

struct lks_credential lks_credential_bearer(struct lks_str header)
{
    struct lks_credential c = {.kind = LKS_CREDENTIAL_BAD};
    struct lks_str scheme, text;
    struct lks_token token;
    struct lks_err err = {0};
    if (!lks_str_cut(header, ' ', &scheme, &text) || !lks_str_eq_nocase(scheme, LKS_STR("bearer")))
        return c;
    if (lks_token_parse(lks_str_trim(text), &token, &err) != LKS_OK || token.kind != LKS_TOKEN_API)
        return c;
    if (token.id.len >= sizeof(c.id) || lks_token_hash(&token, c.hash, &err) != LKS_OK)
        return c;
    memcpy(c.id, token.id.ptr, token.id.len);
    c.id[token.id.len] = '\0';
    c.kind = LKS_CREDENTIAL_TOKEN;
    return c;
}

static bool identity(char *out, size_t size, const char *sort, struct lks_str name)
{
    int len = snprintf(out, size, "%s%" LKS_STR_FMT, sort, LKS_STR_ARG(name));
    return len > 0 && (size_t)len < size;
}

bool lks_auth_person(const struct lks_state *s, const struct lks_credential *c, uid_t own,
                     lks_ms wall, char *out, size_t size, bool *root)
{
    *root = false;
    if (c->kind == LKS_CREDENTIAL_UNIX) {
        *root = c->uid == 0 || c->uid == own;
        int len = snprintf(out, size, "unix:%u", (unsigned)c->uid);
        return len > 0 && (size_t)len < size;
    }
    if (c->kind == LKS_CREDENTIAL_CERTIFICATE) {
        const struct lks_x509_about *about = &c->certificate;
        bool user = about->ours && about->use == LKS_X509_USER;
        const char *why = "";
        bool node = about->ours && !user && lks_auth_node(s, c, &why) != LKS_NO_NODE;
        return (user || node) &&
               identity(out, size, user ? "user:" : "node:", lks_str_from(about->name));
    }
    if (c->kind != LKS_CREDENTIAL_TOKEN)
        return false;
    struct lks_str known = lks_access_token(s, lks_str_from(c->id), lks_str_from(c->hash), wall);
    return known.len > 0 && identity(out, size, "", known);
}

bool lks_auth_knows(const struct lks_state *s, uint32_t node, const struct lks_credential *c)
{
    const struct lks_certificate *known = s->nodes[node].certificates;
    for (size_t i = 0; i < LKS_COUNT(s->nodes[node].certificates); i++) {
        if (lks_certificate_is(&known[i], lks_str_from(c->certificate.fingerprint)))
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
    *why = "the certificate was revoked or replaced; enrol the node again";
    if (about->ours && !lks_auth_knows(s, node, c))
        return LKS_NO_NODE;
    return node;
}
