/*
 * The OpenID provider that people log in with: finding its endpoints and keys, and asking it who
 * a person is. All of it blocks and runs in the thread pool, a few exchanges at a time.
 *
 * Keys are read when a person logs in and those we have are an hour old; and once more, at most
 * once a minute, where a token names one that we do not have, since providers change them. A login
 * ends in a token of ours: the provider is not asked again while that is good.
 */
#ifndef LKS_SERVER_OIDC_H
#define LKS_SERVER_OIDC_H

#include "server/base/config.h"
#include "server/base/daemon.h"

#define LKS_OIDC_CODE_MAX     1024 /* bytes of a device code */
#define LKS_OIDC_IDENTITY_MAX 255
#define LKS_OIDC_URL_SIZE     1024
#define LKS_OIDC_GRANTS_SIZE  4096
#define LKS_OIDC_CALLBACK     "/v1/login/callback"

struct lks_oidc;

/* NULL: no memory. */
struct lks_oidc *lks_oidc_new(void);
void lks_oidc_free(struct lks_oidc *o);

/* The secret of this client, into `out`, which is to be wiped; nothing where it has none. */
enum lks_code lks_oidc_secret(const struct lks_config *config, struct lks_buf *out,
                              struct lks_err *err) LKS_MUST_CHECK;

/* A login by device (RFC 8628): what the person types where, and what we ask with. */
struct lks_oidc_device {
    char code[LKS_OIDC_CODE_MAX + 1]; /* to ask with; a secret of the person who began */
    char user_code[64];
    char uri[LKS_OIDC_URL_SIZE], uri_complete[LKS_OIDC_URL_SIZE]; /* complete: may be empty */
    uint64_t expires_in, interval;                                /* seconds */
};
enum lks_code lks_oidc_device(struct lks_daemon *d, struct lks_oidc_device *out,
                              struct lks_err *err) LKS_MUST_CHECK;

/* A person, by the provider's word. */
struct lks_oidc_person {
    bool known; /* false: they have not answered it yet, */
    bool slow;  /* and it is asked too often */
    char identity[LKS_OIDC_IDENTITY_MAX + 1];
    char issuer[LKS_OIDC_URL_SIZE];
    char grants[LKS_OIDC_GRANTS_SIZE]; /* as struct lks_rec_api_token has them */
};
enum lks_code lks_oidc_poll(struct lks_daemon *d, struct lks_str code, struct lks_oidc_person *out,
                            struct lks_err *err) LKS_MUST_CHECK;

/* A login in a browser (authorisation code with PKCE, RFC 7636): where it is sent, and what its
 * cookie keeps until it comes back: STATE.NONCE.VERIFIER. Nothing of it is kept here. */
#define LKS_OIDC_COOKIE_SIZE 128
struct lks_oidc_browser {
    char url[4 * LKS_OIDC_URL_SIZE];
    char cookie[LKS_OIDC_COOKIE_SIZE];
};
enum lks_code lks_oidc_browser(struct lks_daemon *d, struct lks_oidc_browser *out,
                               struct lks_err *err) LKS_MUST_CHECK;

/* It came back with a code and the state. */
struct lks_oidc_back {
    struct lks_str cookie, state, code;
};
enum lks_code lks_oidc_code(struct lks_daemon *d, const struct lks_oidc_back *back,
                            struct lks_oidc_person *out, struct lks_err *err) LKS_MUST_CHECK;

/* What the claims of an ID token make of a person: the name, and roles by groups. */
struct lks_doc;
enum lks_code lks_oidc_person(const struct lks_config *config, const struct lks_doc *claims,
                              struct lks_oidc_person *out, struct lks_err *err) LKS_MUST_CHECK;

/* For /metrics; nothing where no provider is configured. */
void lks_oidc_metrics(struct lks_daemon *d, struct lks_buf *out);

#endif
