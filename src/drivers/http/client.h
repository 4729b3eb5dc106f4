/*
 * The HTTP client of the command line and of agents: one connection at a time to one lockstepd,
 * over TLS (libcrypto's, so that the portable programs carry it) or its Unix socket. Blocking, with
 * a deadline for the whole exchange. The connection is kept for the next exchange; one that turns
 * out to have been closed in between is made anew, once, if nothing of an answer was read and the
 * request is safe to repeat (all of ours are: GET, PUT and DELETE by nature, POSTs by their
 * sequence numbers or single-use tokens).
 */
#ifndef LKS_DRIVERS_CLIENT_H
#define LKS_DRIVERS_CLIENT_H

#include "codec/format/http.h"

#define LKS_CLIENT_BODY_MAX ((size_t)256 << 20)

struct lks_client_options {
    const char *server;            /* "https://host:port" or "unix:/path" */
    bool plain;                    /* "http://host:port" is taken too; never with a token */
    const char *ca;                /* PEM file the server must be certified by; NULL for unix */
    const char *certificate, *key; /* PEM files of ours, or NULL */
    bool pem;                      /* the three are PEM texts and not the names of files */
    const char *pem_own; /* NULL, or the two of ours are PEM texts, called so in messages */
    const char *token;   /* sent as a bearer, or NULL; never in a message */
    int timeout_ms;      /* of a whole exchange */
    unsigned rate_min;   /* bytes for which the exchange may take a second longer; 0: none */
    size_t body_max;     /* 0: LKS_CLIENT_BODY_MAX */
};

struct lks_client;

/* Whether a server can be asked at this address, as far as its form tells; INVALID says what is
 * wrong with it. */
enum lks_code lks_client_address(const char *server, struct lks_err *err) LKS_MUST_CHECK;

/* Checks the address and reads the files; nothing is sent yet. Texts are copied. */
enum lks_code lks_client_new(const struct lks_client_options *options, struct lks_client **out,
                             struct lks_err *err) LKS_MUST_CHECK;
void lks_client_free(struct lks_client *c);

/* Send and wait for the whole answer, whatever its status. `type` is the content type of `body`, or
 * NULL for none; `head` more header lines, each with CRLF, or "". UNAVAILABLE when the server
 * cannot be reached or closes early, TIMEOUT, DENIED when its certificate is not good. */
enum lks_code lks_client_exchange(struct lks_client *c, const char *method, const char *path,
                                  const char *type, struct lks_str body, const char *head,
                                  struct lks_http_answer *out, struct lks_err *err) LKS_MUST_CHECK;

/* Read server-sent events until `fn` says false or the server ends the stream, which are OK, or
 * `quiet_ms` pass without a byte, which is TIMEOUT. `last_id` is where to go on, or NULL. Any
 * status but 200 is a failure. */
typedef lks_http_event_fn lks_client_event_fn;
enum lks_code lks_client_events(struct lks_client *c, const char *path, const char *last_id,
                                int quiet_ms, lks_client_event_fn *fn, void *ctx,
                                struct lks_err *err) LKS_MUST_CHECK;

#endif
