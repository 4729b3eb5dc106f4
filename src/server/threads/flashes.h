/* Open updates on their way to the client thread: the state thread's part. */
#ifndef LKS_SERVER_FLASHES_H
#define LKS_SERVER_FLASHES_H

#include "server/threads/threads.h"

/* Tell the client thread of updates whose records are durable, each once; none while another
 * controller leads. */
void lks_flashes_tell(struct lks_state_thread *t);

/* The same of those that a decision of our own ended: whatever is on its way to their endpoints is
 * cut. */
void lks_flashes_over(struct lks_state_thread *t, const struct lks_decision *d);

#endif
