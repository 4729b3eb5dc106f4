/*
 * The HTTP server: libmicrohttpd in external epoll mode on the caller's libuv loop. One listener is
 * one address or one Unix socket with its own rules; several share a loop. Everything here happens
 * on that loop's thread.
 *
 * The handler is called once a request is whole. It answers at once or later, from the same thread,
 * with lks_httpd_reply() or lks_httpd_stream(); until then the connection is suspended. Where the
 * options say so it is called with the headers alone, before a byte of the body is read: it
 * answers, or has the body collected and is called again with it, or fetches the body in pieces.
 * Deadlines are absolute and ours: headers and body must be there by then, however slowly bytes
 * drip. A client certificate is judged once for each connection: chain, dates, purpose; and with
 * every request whether it is over by now, since a connection may live for months.
 */
#ifndef LKS_DRIVERS_HTTPD_H
#define LKS_DRIVERS_HTTPD_H

#include "base/buf.h"
#include "base/time.h"

#include <stdint.h>
#include <sys/types.h>
#include <uv.h>

enum lks_httpd_clients {
    LKS_HTTPD_CLIENTS_NONE,     /* no certificate is asked for */
    LKS_HTTPD_CLIENTS_OPTIONAL, /* asked for; a bad one is refused, none is fine */
    LKS_HTTPD_CLIENTS_REQUIRED,
};

/* When the handler is called. */
enum lks_httpd_how {
    LKS_HTTPD_WHOLE,  /* with all of it */
    LKS_HTTPD_AHEAD,  /* with the headers, and with all of it once it was collected */
    LKS_HTTPD_PIECES, /* with the headers; the body, whose length they tell, is fetched in pieces */
};

struct lks_httpd_peer;

struct lks_httpd_options {
    const char *address; /* "127.0.0.1:7443", "[::]:7443", port 0: any; or "unix:/path" */
    struct lks_str certificate, key, client_ca; /* PEM; empty for unix. Copied. */
    enum lks_httpd_clients clients;
    unsigned connections; /* at the most */
    unsigned per_address; /* of them from one address, or one user (unix); 0: no limit */
    size_t body_max;      /* larger ones get 413 */
    size_t bodies_max;    /* of all WHOLE ones; beyond it larger ones get 503; 0: 256 MiB */
    lks_ms first_ms;      /* handshake and the first request's headers */
    lks_ms request_ms;    /* headers and body of each request */
    lks_ms idle_ms;       /* between requests */
    mode_t socket_mode;   /* unix */
    unsigned kept;        /* unix: of the connections, for root, for our own user and for */
    const uid_t *users;   /* these alone; the array stays as long as the listener */
    size_t user_count;
    bool errors; /* refusals are {"error": TEXT}, as a bridge's are, and no problems (RFC 9457) */
    /* How a request is read, of which it is told whether it has a body; NULL: as a whole. */
    enum lks_httpd_how (*how)(const char *method, const char *path, bool body);
    /* NULL, or told when an exchange that the handler saw is over, its answer sent or not. */
    void (*over)(void *ctx, struct lks_httpd_peer *peer);
};

enum lks_httpd_peer_kind { LKS_PEER_ANONYMOUS, LKS_PEER_CERTIFICATE, LKS_PEER_UNIX };

struct lks_httpd_peer {
    enum lks_httpd_peer_kind kind;
    struct lks_str certificate; /* DER, judged good */
    uid_t uid;                  /* UNIX */
    pid_t pid;
    char address[64];
    /* The handler's own memory of this connection (who it is, say); zero at first, released with
     * `drop` when the connection ends. */
    void *memory;
    void (*drop)(void *memory);
};

struct lks_httpd;
struct lks_httpd_exchange; /* one request in progress */

/* Stays until the answer is given. */
struct lks_httpd_request {
    const char *method;
    const char *path; /* decoded once; a path with a zero byte or "//" or ".." is refused */
    struct lks_str body;
    struct lks_httpd_peer *peer;
    bool ahead;      /* the body is still to be read, with lks_httpd_collect(); */
    bool large;      /* or it is, with lks_httpd_fetch(); */
    bool chunked;    /* its length is not known, */
    uint64_t length; /* or it has so many bytes */
};

/* A header's or a query parameter's value, or NULL. */
const char *lks_httpd_header(const struct lks_httpd_exchange *x, const char *name);
const char *lks_httpd_query(const struct lks_httpd_exchange *x, const char *name);

/* Every query parameter, for callers that refuse unknown ones. */
void lks_httpd_queries(const struct lks_httpd_exchange *x,
                       void (*fn)(void *ctx, const char *name, const char *value), void *ctx);

/* The same for the headers, their names as they were sent. */
void lks_httpd_headers(const struct lks_httpd_exchange *x,
                       void (*fn)(void *ctx, const char *name, const char *value), void *ctx);

struct lks_httpd_reply {
    int status;
    const char *type;    /* content type; NULL: no body */
    struct lks_str body; /* copied */
    const char *headers; /* more of them, each "Name: value\r\n", or NULL */
};

typedef void lks_httpd_handler(void *ctx, struct lks_httpd_exchange *x,
                               const struct lks_httpd_request *request);

/* Tells that a request ended without an answer of the handler's (the peer left). The exchange is
 * gone after it. */
typedef void lks_httpd_gone(void *ctx, struct lks_httpd_exchange *x);

enum lks_code lks_httpd_new(uv_loop_t *loop, const struct lks_httpd_options *options,
                            lks_httpd_handler *handler, lks_httpd_gone *gone, void *ctx,
                            struct lks_httpd **out, struct lks_err *err) LKS_MUST_CHECK;

/* Stop taking connections; those with a request in progress end after its answer, those without one
 * and streams end now. All are gone when none are counted any more. */
void lks_httpd_drain(struct lks_httpd *h);
/* End everything, not from inside a callback of ours. The loop must run its close callbacks
 * afterwards; the memory is released then. */
void lks_httpd_free(struct lks_httpd *h);

unsigned lks_httpd_port(const struct lks_httpd *h);
struct lks_httpd_counts {
    uint64_t requests;
    uint64_t refused_tls;  /* certificates refused, and connections that ended without a request */
    uint64_t refused_size; /* bodies */
    uint64_t body_bytes;   /* of bodies that were read, thrown away or not */
    uint64_t lingered;     /* connections whose rest was read behind the answer, and closed */
    uint64_t lingered_bytes;
    uint64_t timeouts;
    uint64_t runs;  /* of the library: grows with work, not with time */
    uint64_t rests; /* when only handshakes that wait for their peer were left */
    uint32_t connections;
};
struct lks_httpd_counts lks_httpd_counts(const struct lks_httpd *h);

/* New certificates for connections to come. */
enum lks_code lks_httpd_certificates(struct lks_httpd *h, struct lks_str certificate,
                                     struct lks_str key, struct lks_str client_ca,
                                     struct lks_err *err) LKS_MUST_CHECK;

/* The handler's own pointer of this exchange; NULL at first. */
void *lks_httpd_memory(const struct lks_httpd_exchange *x);
void lks_httpd_remember(struct lks_httpd_exchange *x, void *memory);

/* Answer; the exchange is gone after it. */
void lks_httpd_reply(struct lks_httpd_exchange *x, const struct lks_httpd_reply *reply);

/* Close the connection without an answer; the exchange is gone after it, which is not told. */
void lks_httpd_drop(struct lks_httpd_exchange *x);

/* Read the body of a request that came ahead, up to `max` bytes, and call the handler again with
 * it. A longer one gets 413, which is told as `gone`. */
void lks_httpd_collect(struct lks_httpd_exchange *x, size_t max);
/* Move a body that is whole out of the exchange, to outlive it; the request's view stays good. */
struct lks_buf lks_httpd_body_move(struct lks_httpd_exchange *x);

/* Fetch the body of a large request. `take` is given a piece of at most LKS_HTTPD_PIECE_MAX bytes
 * and no further one before lks_httpd_more(); the last says so, and may be empty. It may be moved
 * out, to outlive the exchange. An answer may be given at any time between: what still comes is
 * then thrown away, or the connection is closed. */
#define LKS_HTTPD_PIECE_MAX ((size_t)320 << 10)
typedef void lks_httpd_take(void *ctx, struct lks_buf *piece, bool last);
void lks_httpd_fetch(struct lks_httpd_exchange *x, lks_httpd_take *take, void *ctx);
void lks_httpd_more(struct lks_httpd_exchange *x);

/* The same constant answer many times: made once, queued without a copy. */
struct lks_httpd_constant;
struct lks_httpd_constant *lks_httpd_constant_new(const struct lks_httpd_reply *reply);
void lks_httpd_constant_free(struct lks_httpd_constant *c);
void lks_httpd_reply_constant(struct lks_httpd_exchange *x, struct lks_httpd_constant *c);

/* A stream: the headers leave now, bytes as they are written, until it is closed from either side.
 * A reader that is more than `backlog_max` bytes behind is dropped. `ended` tells once that it is
 * over, unless it was closed from this side; the stream is gone after either. NULL when there is no
 * memory: the exchange is gone then too, and nothing more is told. */
struct lks_httpd_stream;
typedef void lks_httpd_ended(void *ctx, struct lks_httpd_stream *s);
struct lks_httpd_stream *lks_httpd_stream_new(struct lks_httpd_exchange *x, const char *type,
                                              size_t backlog_max, lks_httpd_ended *ended,
                                              void *ctx);
/* The same with `size` bytes, which the headers tell, and the status, type and headers of `head`.
 * It is over when so many were taken, which `ended` tells too; one that is closed before is cut. */
struct lks_httpd_stream *lks_httpd_stream_sized(struct lks_httpd_exchange *x,
                                                const struct lks_httpd_reply *head, uint64_t size,
                                                size_t backlog_max, lks_httpd_ended *ended,
                                                void *ctx);
/* False when the reader was dropped; `ended` has then been called, inside this call. */
bool lks_httpd_stream_write(struct lks_httpd_stream *s, struct lks_str bytes);
size_t lks_httpd_stream_backlog(const struct lks_httpd_stream *s);
void lks_httpd_stream_close(struct lks_httpd_stream *s);
/* The same in the middle: the reader learns that something is missing. */
void lks_httpd_stream_cut(struct lks_httpd_stream *s);

#endif
