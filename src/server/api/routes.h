/*
 * Everything the API has: one table. Dispatch, permissions, checks of queries and bodies, the
 * OpenAPI document, the reference page and the walk over routes, roles and scopes in the tests all
 * read it, so they cannot disagree.
 */
#ifndef LKS_SERVER_ROUTES_H
#define LKS_SERVER_ROUTES_H

#include "server/call/route.h"

extern const struct lks_route lks_routes[];
extern const size_t lks_route_count;

struct lks_route_match {
    const struct lks_route *route; /* NULL: none */
    bool known_path;               /* another method has it; `allow` names them */
    char allow[64];
    struct lks_str named; /* a view: what the path has in place of {name}, {id} or {digest} */
};
void lks_route_find(enum lks_listener listener, const char *method, const char *path,
                    struct lks_route_match *out);

/* The most that any route of a listener takes. */
size_t lks_route_body_max(enum lks_listener listener);

/* The OpenAPI 3.1 document of the whole table. */
void lks_openapi_json(const char *version, struct lks_buf *out);

/* Whether the document has `status` among the answers of `r`. */
bool lks_openapi_documents(const struct lks_route *r, int status);

#endif
