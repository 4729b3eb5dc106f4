/* Roles and credentials: bindings, API tokens and logins, certificates of people, certificates that
 * are barred. */
#ifndef LKS_ROWS_CREDENTIAL_H
#define LKS_ROWS_CREDENTIAL_H

#include "core/rows/node.h"

#define LKS_STATE_BINDINGS_MAX 100000
#define LKS_STATE_TOKENS_MAX   100000
#define LKS_STATE_PERSONS_MAX  100000 /* certificates of people */

/* A certificate of a machine that was replaced. A certificate that lockstep issued is valid only
 * while the node has it; one of the site's authority would stay valid, so it is listed here. */
#define LKS_STATE_BARRED_MAX 10000
struct lks_barred {
    uint32_t node;
    struct lks_certificate certificate;
};

/* The origin of a role or a credential: core/governance/backing.h. */
struct lks_made {
    lks_text by, minters; /* minters: people behind the credential of `by`, with blanks between */
    bool root;            /* `by` is root on a controller's own socket */
};

struct lks_binding {
    lks_text identity, site, pool; /* 0: any */
    enum lks_role role;
    struct lks_made made;
};

/* A role that comes with a login, by the groups of the person: it applies to that login's token
 * alone, and ends with it. */
#define LKS_LOGIN_ROLES 16
struct lks_login_role {
    lks_text pool; /* 0: everywhere */
    enum lks_role role;
};

/* An API token, or the token of a login. The ID of a login's token is this prefix, the person's
 * name, a dot and more; no other token has such an ID. */
#define LKS_LOGIN_ID         "login."
#define LKS_LOGINS_OF_PERSON 16 /* the next one replaces the oldest */
#define LKS_LOGIN_KEPT       ((lks_ms)30 * 86400 * LKS_SECOND) /* behind its end, for its votes */

struct lks_api_token {
    lks_text id, identity, hash;
    lks_ms expires; /* 0: never */
    lks_ms life;    /* of a renewal; 0: it cannot be renewed */
    struct lks_made made;
    lks_text issuer; /* of a login with an identity provider; 0: a token that was made */
    lks_text grants; /* roles that the login gives, as its record has them, */
    struct lks_login_role roles[LKS_LOGIN_ROLES];
    uint32_t role_count;
};

/* A certificate of a person. */
struct lks_state_person {
    lks_text serial, identity;
    struct lks_certificate certificate;
    lks_ms life;
    struct lks_made made;
};

#endif
