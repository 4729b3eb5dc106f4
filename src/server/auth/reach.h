/* Whether the approvals of a change can be reached, as members of an answer. */
#ifndef LKS_SERVER_REACH_H
#define LKS_SERVER_REACH_H

#include "server/auth/authz.h"

struct lks_state_change;

/* `unreachable`, of a change that waits for approvals which the people and credentials that there
 * are cannot give; else nothing. */
void lks_reach_view(struct lks_json_writer *w, const struct lks_authz *authz,
                    const struct lks_state_change *c);

#endif
