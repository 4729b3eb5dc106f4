/* Certificates for those who ask: made in the thread pool, sent only if the state thread agrees. */
#ifndef LKS_SERVER_ISSUE_H
#define LKS_SERVER_ISSUE_H

#include "server/call/call.h"

/* A certificate for the key of `request` (PEM), into call->issued and call->about; what is
 * wrong with it into call->failed. */
void lks_handle_issue(struct lks_call *call, enum lks_x509_use use, struct lks_str name,
                      struct lks_str request, int64_t seconds);

#endif
