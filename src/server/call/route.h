/* One route: what is asked where, by whom, and what answers. server/api/routes.h has all of them.
 */
#ifndef LKS_SERVER_ROUTE_H
#define LKS_SERVER_ROUTE_H

#include "core/state/access.h"
#include "model/schema/schema.h"

struct lks_call;
struct lks_authz;

enum lks_listener {
    LKS_LISTENER_PEOPLE,
    LKS_LISTENER_AGENTS,
    LKS_LISTENER_WEBHOOK, /* API servers of Kubernetes */
    LKS_LISTENER_COUNT,
};
extern const char *const lks_listener_words[]; /* in server/api/routes.c */

/* Where the permission has to hold: server/auth/authz_permit.c has the rule of each. */
enum lks_route_scope {
    LKS_SCOPE_NONE,
    LKS_SCOPE_SOMEWHERE,
    LKS_SCOPE_EVERYWHERE,
    LKS_SCOPE_NODES,
    LKS_SCOPE_ALARM,
    LKS_SCOPE_COMMAND,
    LKS_SCOPE_FLASH,
    LKS_SCOPE_ASKED,
    LKS_SCOPE_NODE,
    LKS_SCOPE_DEVIATION,
    LKS_SCOPE_CHANGE,
    LKS_SCOPE_CHANGE_PART, /* votes are counted for each pool */
    LKS_SCOPE_WISH,
    LKS_SCOPE_POOL,
    LKS_SCOPE_SELF, /* the last */
};

enum lks_route_flag {
    LKS_ROUTE_ETAG = 1,        /* follows from the journal's records alone */
    LKS_ROUTE_WRITE = 2,       /* is logged with who asked */
    LKS_ROUTE_COUNTS = 4,      /* is given the server thread's own counts */
    LKS_ROUTE_REPORT = 8,      /* a node has something written: it may so often */
    LKS_ROUTE_OFTEN = 16,      /* schedulers ask for each job: it has a rate of its own */
    LKS_ROUTE_SIGNED = 32,     /* its body is parsed by prepare(), behind its signature */
    LKS_ROUTE_DEPOT = 64,      /* is about an artifact, and carries more headers */
    LKS_ROUTE_LARGE = 128,     /* its body is fetched piece by piece, once it may come */
    LKS_ROUTE_SENSITIVE = 256, /* who reads it is audited */
    LKS_ROUTE_LOGIN = 512,     /* an OpenID provider is asked, and its word decides */
    LKS_ROUTE_LEADER = 1024,   /* only the controller that leads knows the answer */
    LKS_ROUTE_POLL = 2048,     /* an OpenID provider is asked up to four times */
    LKS_ROUTE_PLAN = 4096,     /* a plan is made, which takes its time in a large fleet */
};
/* Flags that share a bit would be set together; then the sum of all would exceed their union. */
#define LKS_ROUTE_FLAGS(op)                                                                        \
    (LKS_ROUTE_ETAG op LKS_ROUTE_WRITE op LKS_ROUTE_COUNTS op LKS_ROUTE_REPORT op LKS_ROUTE_OFTEN  \
         op LKS_ROUTE_SIGNED op LKS_ROUTE_DEPOT op LKS_ROUTE_LARGE op LKS_ROUTE_SENSITIVE op       \
             LKS_ROUTE_LOGIN op LKS_ROUTE_LEADER op LKS_ROUTE_POLL op LKS_ROUTE_PLAN)
_Static_assert((LKS_ROUTE_FLAGS(+)) == (LKS_ROUTE_FLAGS(|)), "each flag has a bit of its own");

struct lks_route {
    const char *method, *path; /* "/v1/nodes/{name}" */
    const char *id;            /* its name in the OpenAPI document */
    enum lks_listener listener;
    enum lks_permission permission;
    enum lks_route_scope scope;
    const struct lks_form *query;  /* NULL: none is taken */
    const struct lks_form *body;   /* of JSON bodies */
    const char *body_type;         /* of others; NULL and no form: none is taken */
    size_t body_max;               /* bytes */
    const struct lks_form *answer; /* of JSON answers */
    const char *answer_type;       /* of others */
    unsigned flags;
    void (*prepare)(struct lks_call *call);
    void (*handle)(struct lks_authz *authz, struct lks_call *call);
    const char *about;
};

#endif
