/* A notice's way to the agent of this node. Nothing here waits for longer than
 * LKS_NOTIFY_WAIT_MS. */
#ifndef LKS_AGENT_NOTIFY_H
#define LKS_AGENT_NOTIFY_H

#include "agent/hooks/notice.h"

#define LKS_NOTIFY_WAIT_MS 2000

struct lks_notify {
    int dir, fd; /* 0: not open */
};

/* Connect to the agent's socket in `path`. UNAVAILABLE: the agent does not run; DENIED: the folder
 * or the socket could be another user's. */
enum lks_code lks_notify_open(const char *path, struct lks_notify *out,
                              struct lks_err *err) LKS_MUST_CHECK;
void lks_notify_close(struct lks_notify *n);

/* Whether checks may run: the agent's state says that the node is in service. */
bool lks_notify_in_service(const struct lks_notify *n);

enum lks_code lks_notify_send(const struct lks_notify *n, const struct lks_notice *notice,
                              struct lks_err *err) LKS_MUST_CHECK;

#endif
