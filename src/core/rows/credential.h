/* Roles and credentials: bindings, API tokens and logins, certificates of people, certificates that
 * are barred. */
#ifndef LKS_ROWS_CREDENTIAL_H
#define LKS_ROWS_CREDENTIAL_H

#include "core/rows/node.h"

#define LKS_STATE_BINDINGS_MAX 100000
#define LKS_STATE_TOKENS_MAX   100000
#define LKS_STATE_PERSONS_MAX  100000 /* certificates of people */

/* A certificate of a machine that was replaced. Ours are good while the node has them; one of the
 * site's authority would be good without that, and stays out by this. */
#define LKS_STATE_BARRED_MAX 10000
struct lks_barred {
    uint32_t node;
    struct lks_certificate certificate;
};

/* By whom a role or a credential came to be: core/governance/backing.h. */
struct lks_made {
    lks_text by, minters; /* minters: people behind the credential of `by`, with blanks between */
    bool root;            /* `by` is root on a controller's own socket */
};

struct lks_binding {
    lks_text identity, site, pool; /* 0: any */
    enum lks_role role;
    struct lks_made made;
};

/* A role that comes with a login, by the groups of the person: it is good with that login's token
 * alone, and ends with it. */
#define LKS_LOGIN_ROLES 16
struct lks_login_role {
    lks_text pool; /* 0: everywhere */
    enum lks_role role;
};

/* A token that was made, or a login's. The id of a login's begins so, with the person's name and a
 * dot behind it; no token that is made has such an id. */
#define LKS_LOGIN_ID         "login."
#define LKS_LOGINS_OF_PERSON 16 /* the next takes the oldest's place */
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
