/*
 * Admission on a Unix socket of its own: one JSON object a line in, one a line out, as many as one
 * likes on a connection.
 *
 * It is served on the state thread's loop, so that neither TLS handshakes nor HTTP stand before a
 * question. A question becomes a call like any other: who asks is the peer's uid, what they may and
 * how often is decided as for the API, and the answer waits for the rows it rests on. A connection
 * has one question in progress at a time, and is not read meanwhile; so what a peer can have us
 * keep is a line and an answer. One that begins a line or takes an answer too slowly is closed, as
 * is one that is idle for long.
 */
#ifndef LKS_SERVER_ADMIT_SOCKET_H
#define LKS_SERVER_ADMIT_SOCKET_H

#include "server/call/call.h"

/* Decide a question that came in; lks_admit_socket_answer() follows, at once or later. */
typedef void lks_admit_take(void *ctx, struct lks_call *call);

struct lks_admit_socket;

/* Listen at the configuration's `admit.socket`. */
enum lks_code lks_admit_socket_new(struct lks_daemon *daemon, uv_loop_t *loop, lks_admit_take *take,
                                   void *ctx, struct lks_admit_socket **out,
                                   struct lks_err *err) LKS_MUST_CHECK;

/* No more questions; the rest happens while the loop runs to its end, and then it is gone. */
void lks_admit_socket_close(struct lks_admit_socket *s);

/* The answer of a call that has an `asker`, which is over then; its `work`, if there is any, is
 * done before. */
void lks_admit_socket_answer(struct lks_call *call);

#endif
