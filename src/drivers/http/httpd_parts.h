/*
 * What the files of the HTTP server share; no other file includes this.
 *
 * A connection is a peer, in MHD's socket context, and carries one exchange at a time. Every peer
 * is in one queue of deadlines or in none; each queue has one patience, so it stays sorted by
 * adding at its end.
 */
#ifndef LKS_DRIVERS_HTTPD_PARTS_H
#define LKS_DRIVERS_HTTPD_PARTS_H

#include "drivers/http/httpd.h"
#include "drivers/http/unix.h"

#include <gnutls/gnutls.h>
#include <microhttpd.h>
#include <sys/queue.h>
#include <sys/stat.h>

/* Credentials of one time; connections keep those they began with. */
struct lks_httpd_trust;

enum lks_httpd_due {
    LKS_DUE_FIRST,   /* the handshake and the first request's headers */
    LKS_DUE_REQUEST, /* a request to be whole, an answer or the next piece of it to be taken */
    LKS_DUE_IDLE,    /* the next request's line */
    LKS_DUE_LOOK,    /* nothing: it is time to see whether the peer is still there */
    LKS_DUE_COUNT,
    LKS_DUE_NEVER = LKS_DUE_COUNT,
};

enum lks_httpd_stage {
    LKS_STAGE_NONE,    /* between requests */
    LKS_STAGE_LINE,    /* the request's line is known */
    LKS_STAGE_BODY,    /* its headers too */
    LKS_STAGE_PIECE,   /* a piece of a large body is being read */
    LKS_STAGE_SWALLOW, /* the rest of it, to be thrown away before the answer */
    LKS_STAGE_HANDLER, /* inside the handler */
    LKS_STAGE_WAITING, /* suspended until the handler's answer */
    LKS_STAGE_ANSWERED,
    LKS_STAGE_GONE, /* the peer left before the answer */
};

struct lks_httpd_refusal {
    int status;
    enum lks_code code;
    const char *text;
};

struct lks_httpd_exchange {
    enum lks_httpd_stage stage;
    struct MHD_Connection *connection;
    struct lks_httpd_request request;
    uintptr_t line_end; /* where MHD's copy of the path and query ended at first */
    struct lks_buf body;
    size_t body_max;
    size_t counted;     /* of the body, in the listener's `bodies` */
    bool expects;       /* the sender waits to be asked for the body */
    bool seen, left;    /* the handler knows of it, and that its answer is not awaited */
    bool again;         /* the library is about to show the headers once more */
    uint64_t swallowed; /* bytes of a body that is refused anyway */
    const struct lks_httpd_refusal *refusal;
    struct lks_httpd_stream *stream;
    lks_httpd_take *take; /* of a large body's pieces */
    void *take_ctx;
    struct lks_buf piece;
    uint64_t fetched;              /* of the large body */
    bool whole;                    /* no more of it comes */
    struct MHD_Response *response; /* SWALLOW: what follows, and its status */
    int status;
    void *memory; /* the handler's */
    bool last;    /* the answer says that the connection ends */
};

struct lks_httpd_peer_state {
    struct lks_httpd *httpd;
    TAILQ_ENTRY(lks_httpd_peer_state) all, queue, heard;
    struct lks_httpd_peer peer;
    struct lks_httpd_exchange exchange;
    struct lks_httpd_trust *trust;
    int fd;
    enum lks_httpd_due due;
    lks_ms deadline; /* on the loop's clock */
    time_t ends;     /* of its certificate; 0: it showed none */
    bool judged, spoke, shut;
    bool answered;   /* past the library, which is to send no more */
    bool unread;     /* what was answered was not read to its end */
    bool coming;     /* TLS: something came of the request whose line is awaited */
    unsigned probes; /* of its memory, in this request */
    bool fresh;      /* bytes came that it may not have looked at yet */
    const struct lks_httpd_refusal *verdict;
};

TAILQ_HEAD(lks_httpd_peers, lks_httpd_peer_state);
TAILQ_HEAD(lks_httpd_lingers, lks_httpd_linger);

struct lks_httpd {
    uv_loop_t *loop;
    struct MHD_Daemon *daemon;
    lks_httpd_handler *handler;
    lks_httpd_gone *gone;
    void *ctx;
    struct lks_httpd_options options; /* its texts are not kept */
    struct lks_httpd_trust *trust;    /* NULL: not TLS */
    gnutls_datum_t ticket_key;
    struct lks_unix_path unix_path;
    uid_t own; /* whose process this is */
    unsigned port;
    uv_poll_t poll;
    uv_timer_t run, tick;
    uv_idle_t soon; /* a run is due at once */
    unsigned open_handles;
    struct lks_httpd_peers peers, fresh;
    struct lks_httpd_peers queues[LKS_DUE_COUNT];
    struct lks_httpd_lingers lingers; /* by deadline */
    unsigned lingering;
    lks_ms patience[LKS_DUE_COUNT];
    size_t bodies;     /* bytes of bodies that are held */
    uint64_t progress; /* callbacks that MHD has made */
    lks_ms rest;       /* how long a run that found nothing to do rests */
    bool again;        /* something happened in this run that only the next one looks at */
    bool running, draining, stopping;
    struct lks_httpd_counts counts;
};

/* httpd.c */
struct lks_httpd_peer_state *lks_httpd_peer_of(struct MHD_Connection *connection);
struct lks_httpd_peer_state *lks_httpd_peer_with(struct lks_httpd_exchange *x);
void lks_httpd_due(struct lks_httpd_peer_state *peer, enum lks_httpd_due due);
void lks_httpd_shut(struct lks_httpd_peer_state *peer);
void lks_httpd_resume(struct lks_httpd *h, struct MHD_Connection *connection);
/* One of the listener's handles; the memory goes with the last. */
void lks_httpd_handle_closed(struct lks_httpd *h);

/* httpd_linger.c */
/* Close the connection for writing, and read what still comes for a while. */
void lks_httpd_linger(struct lks_httpd_peer_state *peer);
/* End those that are due by `now`. */
void lks_httpd_linger_until(struct lks_httpd *h, lks_ms now);

/* httpd_fault.c */
/* What the library says of its own troubles. */
void lks_httpd_on_fault(void *cls, const char *fmt, va_list args);

/* httpd_listen.c */
enum lks_code lks_httpd_listen(struct lks_httpd *h, const char *address, mode_t mode, int *out,
                               struct lks_err *err) LKS_MUST_CHECK;
void lks_httpd_unlisten(struct lks_httpd *h);
void lks_httpd_name_peer(struct lks_httpd_peer_state *peer);

/* httpd_trust.c */
enum lks_code lks_httpd_trust_new(const struct lks_httpd_options *o, struct lks_httpd_trust **out,
                                  struct lks_err *err) LKS_MUST_CHECK;
void lks_httpd_trust_drop(struct lks_httpd_trust *trust);
void lks_httpd_trust_begin(struct lks_httpd_peer_state *peer);
const struct lks_httpd_refusal *lks_httpd_trust_judge(struct lks_httpd_peer_state *peer);
/* The same for later requests of a connection whose certificate was good once: it may be over. */
const struct lks_httpd_refusal *lks_httpd_trust_again(const struct lks_httpd_peer_state *peer);
/* Bytes of a record that was taken apart and not read. */
size_t lks_httpd_trust_pending(const struct lks_httpd_peer_state *peer);
/* Send past the library, once. */
void lks_httpd_trust_send(const struct lks_httpd_peer_state *peer, struct lks_str bytes);
void lks_httpd_stale(struct lks_httpd_peer_state *peer);

/* httpd_request.c */
void *lks_httpd_on_line(void *cls, const char *uri, struct MHD_Connection *connection);
enum MHD_Result lks_httpd_on_request(void *cls, struct MHD_Connection *connection, const char *url,
                                     const char *method, const char *version, const char *data,
                                     size_t *size, void **context);
/* Refuse past the library, and close. */
void lks_httpd_refuse_raw(struct lks_httpd_peer_state *peer, const struct lks_httpd_refusal *why);
void lks_httpd_on_completed(void *cls, struct MHD_Connection *connection, void **context,
                            enum MHD_RequestTerminationCode code);
/* The peer of a request that waits has left. */
void lks_httpd_leave(struct lks_httpd_exchange *x);
/* Hand `response` over, and go on with a connection that waits for it. */
void lks_httpd_queue(struct lks_httpd_exchange *x, int status, struct MHD_Response *response);

/* Type and headers of an answer. */
void lks_httpd_finish(struct MHD_Response *response, const char *type, const char *headers,
                      bool closing);

/* httpd_body.c: large bodies. */
enum MHD_Result lks_httpd_body_begin(struct lks_httpd_exchange *x);
enum MHD_Result lks_httpd_body_data(struct lks_httpd_exchange *x, struct lks_str bytes);
enum MHD_Result lks_httpd_body_end(struct lks_httpd_exchange *x);
void lks_httpd_body_drop(struct lks_httpd_exchange *x);
/* Whether the answer has to wait, or to go another way, because of a body that was not read. */
bool lks_httpd_body_unread(const struct lks_httpd_exchange *x);
void lks_httpd_body_answer(struct lks_httpd_exchange *x, const struct lks_httpd_reply *reply,
                           struct MHD_Response *response);
/* Send an answer past the library, and close. */
void lks_httpd_send_raw(struct lks_httpd_peer_state *peer, const struct lks_httpd_reply *reply);

/* httpd_stream.c */
/* The reader of a stream has left, or the server ends. */
void lks_httpd_stream_end(struct lks_httpd_stream *s, bool cut);

#endif
