/* What planning a change needs beside the state: the manifests of bundles, which the route's
 * lks_handle_propose_prepare() reads from the store, and so not on the state thread. */
#ifndef LKS_SERVER_PROPOSE_H
#define LKS_SERVER_PROPOSE_H

#include "server/auth/authz.h"

/* Whether they are still to be read; they are then asked for, or the answer written. */
bool lks_handle_propose_wants_manifests(const struct lks_authz *authz, struct lks_call *call);

/* Those of bundles that are still good; they live as long as the call. */
struct lks_bundle_set lks_handle_propose_known(const struct lks_authz *authz,
                                               const struct lks_call *call);

#endif
