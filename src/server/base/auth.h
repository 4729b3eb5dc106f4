/* Who asks: what a connection or a header shows, and the identity behind it. Whether that identity
 * may do something is core/access's decision. */
#ifndef LKS_SERVER_AUTH_H
#define LKS_SERVER_AUTH_H

#include "core/state/access.h"
#include "trust/token.h"
#include "trust/x509.h"

#include <sys/types.h>

enum lks_credential_kind {
    LKS_CREDENTIAL_NONE,
    LKS_CREDENTIAL_BAD, /* something was shown that is no credential */
    LKS_CREDENTIAL_TOKEN,
    LKS_CREDENTIAL_CERTIFICATE,
    LKS_CREDENTIAL_UNIX,
};

/* Of a token only the hash goes further than the header it came in. */
struct lks_credential {
    enum lks_credential_kind kind;
    char id[LKS_TOKEN_ID_MAX + 1];
    char hash[LKS_DIGEST_SIZE];
    struct lks_x509_about certificate;
    uid_t uid;
};

/* From an Authorization header. */
struct lks_credential lks_auth_credential_bearer(struct lks_str header);

/* Cookies of a browser: the token of its login, and what a login keeps until it comes back. The
 * names bind them to this host, to TLS and to the whole of it. */
#define LKS_COOKIE_TOKEN "__Host-lockstep"
#define LKS_COOKIE_LOGIN "__Host-lockstep-login"

/* The value of a cookie, from a Cookie header; an empty view: none. */
struct lks_str lks_auth_cookie(struct lks_str header, const char *name);

/* From a Cookie header: a login's token alone; NONE where there is no cookie of ours. */
struct lks_credential lks_auth_credential_cookie(struct lks_str header);

/* Whether a request comes from a page of this host: `origin` and `host` are its headers. */
bool lks_auth_origin_is(struct lks_str origin, struct lks_str host);

#define LKS_AUTH_SIZE 320

/* Who asks. */
struct lks_auth {
    char identity[LKS_AUTH_SIZE];
    char credential[LKS_AUTH_SIZE]; /* as core/governance/backing.h names it; empty: not known, or a
                                       node's */
    bool root; /* it may everything, which uid 0 and the daemon's own user may on the socket */
};

/* The identity behind a credential; false where there is none. */
bool lks_auth_person(const struct lks_state *s, const struct lks_credential *c, uid_t own,
                     lks_ms wall, struct lks_auth *out);

/* Whether a token or certificate that another controller says it was shown is good here, too. */
bool lks_auth_holds(const struct lks_state *s, struct lks_str identity, struct lks_str credential,
                    lks_ms wall);

/* The node whose agent shows this certificate, or LKS_NO_NODE with the reason. One of ours has to
 * be one that the state knows and that was not revoked; one of the site's has to name a node of the
 * fleet. */
uint32_t lks_auth_node(const struct lks_state *s, const struct lks_credential *c, const char **why);

/* Whether the state knows the certificate as this node's. */
bool lks_auth_knows(const struct lks_state *s, uint32_t node, const struct lks_credential *c);

#endif
