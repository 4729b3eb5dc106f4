/*
 * Who may do what, where. A binding gives an identity a role in a scope: a site, a pool, both or
 * everywhere. Permissions follow from the role by one table, which is also the reference page.
 *
 * Identities: "token:ID" of an API token's owner is whatever identity the token was made for;
 * "user:NAME" and "node:NAME" come from certificates, "unix:UID" from the socket's peer. uid 0 and
 * the daemon's own uid are admin on the socket without a binding.
 *
 * A login with an identity provider is a token of "user:NAME" that brings roles of its own. They
 * count for acts by that token alone. What was done by it, such as a vote, goes on counting when
 * the login is over, and no longer once its token was revoked.
 */
#ifndef LKS_CORE_ACCESS_H
#define LKS_CORE_ACCESS_H

#include "base/time.h"
#include "core/rows/text.h"
#include "model/record/record_words.h"
#include "trust/token.h"

struct lks_state;

enum lks_permission {
    LKS_MAY_NOTHING, /* anyone, known or not: health, enrolment */
    LKS_MAY_KNOW,    /* anyone who is known: who am I */
    LKS_MAY_READ,
    LKS_MAY_OPERATE, /* hold, release, enrol, replace, alarms */
    LKS_MAY_APPROVE,
    LKS_MAY_ADMIN,  /* fleet, access, backup */
    LKS_MAY_REPORT, /* an agent, for its own node alone */
    LKS_PERMISSION_COUNT
};
extern const char *const lks_permission_words[];

bool lks_access_role_may(enum lks_role role, enum lks_permission permission);

/* Where something is; empty views match bindings without that scope alone. */
struct lks_scope {
    struct lks_str site, pool;
};
struct lks_scope lks_access_scope_of_node(const struct lks_state *s, uint32_t node);

/* `identity` may do it at `scope`. */
bool lks_access_may(const struct lks_state *s, struct lks_str identity,
                    enum lks_permission permission, struct lks_scope scope);

/* `identity` may do it somewhere: lists are then cut down to where. */
bool lks_access_somewhere(const struct lks_state *s, struct lks_str identity,
                          enum lks_permission permission);

/* The same by one of its credentials, as core/governance/backing.h names them; empty: by any of
 * them, as the functions above. */
bool lks_access_may_by(const struct lks_state *s, struct lks_str identity,
                       struct lks_str credential, enum lks_permission permission,
                       struct lks_scope scope);
bool lks_access_somewhere_by(const struct lks_state *s, struct lks_str identity,
                             struct lks_str credential, enum lks_permission permission);

/* What `identity` may do, looked up once for a walk over many nodes. Views of the state: good until
 * its next record. */
struct lks_sight {
    const struct lks_binding *bindings;
    uint32_t count;
    const struct lks_api_token *logins; /* of the identity, and tokens between them */
    uint32_t login_count;
    lks_text identity; /* of the logins */
    enum lks_permission permission;
};
struct lks_sight lks_access_sight_by(const struct lks_state *s, struct lks_str identity,
                                     struct lks_str credential, enum lks_permission permission);
struct lks_sight lks_access_sight(const struct lks_state *s, struct lks_str identity,
                                  enum lks_permission permission);
/* The same answer as lks_access_may() at the node's scope; an agent's own node is not looked at. */
bool lks_access_sees(const struct lks_state *s, const struct lks_sight *sight, uint32_t node);

/* The grants of a sight that give its permission at `at`, or anywhere where that is NULL: bindings
 * first, then roles of logins. The answers above are "there is one"; an agent's own node has none.
 * False: there is no further one. */
struct lks_access_walk {
    uint32_t binding, login, role;
};
struct lks_access_grant {
    enum lks_role role;
    lks_text site, pool;               /* 0: any */
    const struct lks_api_token *login; /* that brings it; NULL: a binding does */
};
bool lks_access_grant_next(const struct lks_state *s, const struct lks_sight *sight,
                           const struct lks_scope *at, struct lks_access_walk *walk,
                           struct lks_access_grant *out);

/* What the ids of a person's logins begin with: "login.kim_x.org." of user:kim@x.org. False: it
 * does not fit. */
bool lks_access_login_id(struct lks_str identity, char out[LKS_TOKEN_ID_MAX + 1]);

/* Whether two identities are one person: "kim" of a token, "user:kim" of a certificate and "Kim"
 * are. Where people have to be different, the same name in another dress is not another. */
bool lks_access_same_person(struct lks_str a, struct lks_str b);

/* The identity behind an API token with this id and hash, which must not be past its end; an empty
 * view otherwise. */
struct lks_str lks_access_token(const struct lks_state *s, struct lks_str id, struct lks_str hash,
                                lks_ms now);

#endif
