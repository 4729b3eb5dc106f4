/* Certificates for those who ask: made in the thread pool, sent only if the state thread agrees. */
#ifndef LKS_SERVER_ISSUE_H
#define LKS_SERVER_ISSUE_H

#include "server/call/call.h"

/* A certificate for the key of the body's `request`, into call->issued and call->about; what is
 * wrong with it into call->failed. */
void lks_handle_issue(struct lks_call *call, enum lks_x509_use use, struct lks_str name,
                      int64_t seconds);

#endif
