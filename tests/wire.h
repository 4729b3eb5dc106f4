/* A client that does what a test wants, byte by byte, while the loop of the server it talks to goes
 * round in the same thread. Every wait is bounded in rounds. */
#ifndef LKS_TESTS_WIRE_H
#define LKS_TESTS_WIRE_H

#include "tests/pki.h"

#include <openssl/ssl.h>
#include <uv.h>

struct lks_wire {
    uv_loop_t *loop;
    int fd;
    SSL_CTX *ctx;
    SSL *ssl;
    struct lks_buf got; /* all that was read */
    bool ended;         /* the server closed, or the connection broke */
};

/* Connected once the loop has gone round. */
void lks_wire_tcp(struct lks_wire *w, uv_loop_t *loop, unsigned port);
void lks_wire_unix(struct lks_wire *w, uv_loop_t *loop, const char *path);
void lks_wire_close(struct lks_wire *w);

/* The handshake, showing `own` if it is not NULL; `version` is TLS1_2_VERSION or TLS1_3_VERSION,
 * and `session`, if not NULL, is resumed. False where it fails. */
bool lks_wire_tls(struct lks_wire *w, const struct lks_pair *own, int version,
                  SSL_SESSION *session);

/* As much as the server takes; false when the connection broke. */
bool lks_wire_send(struct lks_wire *w, struct lks_str bytes);

/* Read until `text` is there; false when the connection ended before, or patience did. */
bool lks_wire_until(struct lks_wire *w, const char *text);

/* Read until the connection ends. With `drip`, a byte of it is sent every round. */
bool lks_wire_end(struct lks_wire *w, char drip);

/* Let the loop go round once, and a millisecond pass. */
void lks_wire_round(uv_loop_t *loop);

#endif
