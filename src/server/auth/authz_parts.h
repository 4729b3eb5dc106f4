/* For server/auth/authz*.c. */
#ifndef LKS_SERVER_AUTHZ_PARTS_H
#define LKS_SERVER_AUTHZ_PARTS_H

#include "server/auth/authz.h"

/* Find out who asks, and count it; the second time, after it was prepared, it is not counted again.
 * False: it is answered. */
bool lks_authz_identify(struct lks_authz *authz, struct lks_call *call);

/* Charge for a question whose length was not known when it was counted. */
bool lks_authz_charge_length(struct lks_authz *authz, struct lks_call *call);

/* Whether the caller has the permission where the route wants it. False: it is answered. */
bool lks_authz_permits(struct lks_authz *authz, struct lks_call *call);

/* The same before the body is read: a place that the body names is checked when it is there. A
 * write that a follower sends on is for the leader to decide, which may know more. */
bool lks_authz_permits_ahead(struct lks_authz *authz, struct lks_call *call);

/* Take `cost` of what the caller may have of `rate`; false: the answer is that it is too much. */
bool lks_authz_charge(const struct lks_authz *authz, struct lks_call *call, struct lks_rate *rate,
                      size_t cost);

#endif
