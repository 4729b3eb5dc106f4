/*
 * Artifacts on their way, on the server thread.
 *
 * Who may have what is the state thread's to say (handle_artifacts.c); what it allowed comes here
 * and becomes a transfer. Files are touched in the thread pool alone, one step of one transfer at a
 * time, so neither thread waits for a disk. All transfers together keep to a rate. There are so
 * many of agents at the most, so many of people, and so many of one identity; more are asked to
 * come again, and a reader that takes too little gives its place back.
 */
#ifndef LKS_SERVER_DEPOT_H
#define LKS_SERVER_DEPOT_H

#include "drivers/depot/depot_files.h"
#include "server/call/call.h"
#include "server/call/depot_ask.h"

struct lks_server;

struct lks_depot_server;
enum lks_code lks_depot_server_new(struct lks_server *server, struct lks_depot_server **out,
                                   struct lks_err *err) LKS_MUST_CHECK;
/* No more of it; the loop must run its close callbacks before it is freed. */
void lks_depot_server_stop(struct lks_depot_server *d);
void lks_depot_server_free(struct lks_depot_server *d);

/* Whether a call that comes back from the state thread goes on here; and then it does. */
bool lks_depot_server_takes(const struct lks_call *call);
void lks_depot_server_take(struct lks_depot_server *d, struct lks_call *call);
/* Its peer left. */
void lks_depot_server_gone(struct lks_depot_server *d, const struct lks_call *call);
/* Whether the answer becomes a transfer, instead of being sent. */
bool lks_depot_server_reply(struct lks_call *call);

/* Now and then: what nothing needs is collected as often as is configured. */
void lks_depot_server_tick(struct lks_depot_server *d, lks_ms now);
void lks_depot_server_metrics(const struct lks_depot_server *d, struct lks_buf *out);

/* Whether the body is fetched piece by piece. */
bool lks_depot_is_large(const char *method, const char *path);

#endif
