/*
 * What a controller that follows does with requests that it may not decide.
 *
 * A write of a person is sent on to the leader, with a certificate that says a controller asks and
 * a header that says for whom; the leader applies that identity's own permissions, and its answer
 * is the answer. Agents are told who leads, and go there themselves.
 */
#ifndef LKS_SERVER_FORWARD_H
#define LKS_SERVER_FORWARD_H

#include "drivers/http/client.h"
#include "server/auth/authz.h"
#include "server/call/call.h"

#define LKS_FORWARD_AS         "Lockstep-As"
#define LKS_FORWARD_ROOT       "Lockstep-As-Root"
#define LKS_FORWARD_CREDENTIAL "Lockstep-As-Credential"
#define LKS_FORWARD_PEER       "controller:" /* NAME: the identity of a controller itself */

/* On the state thread of a follower, before anyone is identified: true where only the leader can
 * answer and the answer says so. */
bool lks_forward_elsewhere(struct lks_authz *authz, struct lks_call *call);

/* The same behind it, once the caller is known: true where it is sent on, or no controller leads.
 */
bool lks_forward_take(struct lks_authz *authz, struct lks_call *call);

/* A client of another controller, with a key and a certificate made for it. In the thread pool: it
 * takes a while. */
enum lks_code lks_forward_client(const struct lks_daemon *d, const char *server, int timeout_ms,
                                 size_t body_max, struct lks_client **out,
                                 struct lks_err *err) LKS_MUST_CHECK;

/* Whether a credential is that of another controller. */
bool lks_forward_controller(const struct lks_credential *c);

/* On the leader: whether another controller asks for a person, whose identity is then the call's.
 */
bool lks_forward_as(struct lks_call *call);

#endif
