/*
 * HTTP/1.1 answers, read as they arrive: a pure parser without sockets. Bodies with a length, in
 * chunks, or up to the end of the connection. Bounded in everything; two lengths that differ, a
 * length beside chunks, folded headers and bare line feeds inside a header are refused.
 */
#ifndef LKS_CODEC_HTTP_H
#define LKS_CODEC_HTTP_H

#include "base/buf.h"

#define LKS_HTTP_HEAD_MAX ((size_t)16 << 10)

struct lks_http_answer {
    int status;
    struct lks_buf head; /* header lines, each "name: value\n" with the name in lower case */
    struct lks_buf body; /* its ceiling is the caller's */
    bool keep_alive;
    /* The parser's own. */
    int stage;
    bool bodiless, chunked, sized, old; /* `old`: HTTP/1.0 */
    uint64_t left;                      /* of the body, or of the chunk */
    size_t head_bytes;                  /* of all headers and trailers so far */
    struct lks_buf line;
};

/* `body_max` bytes of body at the most; `bodiless` for the answer to a HEAD. */
void lks_http_answer_init(struct lks_http_answer *a, size_t body_max, bool bodiless);
void lks_http_answer_fini(struct lks_http_answer *a);

/* Feed what arrived; `taken` of it belong to this answer. */
enum lks_code lks_http_answer_feed(struct lks_http_answer *a, struct lks_str bytes, size_t *taken,
                                   struct lks_err *err) LKS_MUST_CHECK;
/* The connection ended. Fails if the answer was not whole. */
enum lks_code lks_http_answer_end(struct lks_http_answer *a, struct lks_err *err) LKS_MUST_CHECK;
bool lks_http_answer_whole(const struct lks_http_answer *a);

/* The value of a header by its lower-case name, or an empty view. */
struct lks_str lks_http_answer_header(const struct lks_http_answer *a, const char *name);

/* A text as a part of a path or a query: what is not plain there as %XX. */
void lks_http_escape(struct lks_buf *out, struct lks_str text);

/* Server-sent events, read as they arrive. Lines end in CR, LF or both; comments and fields that
 * are neither `id` nor `data` are passed over. */
#define LKS_HTTP_EVENT_MAX ((size_t)1 << 20) /* one event: its id, its data, one line */

struct lks_http_events {
    struct lks_buf id; /* stays for later events without one */
    struct lks_buf data;
    /* The parser's own. */
    struct lks_buf line;
    bool some; /* `data` is set, though perhaps empty */
    bool cr;   /* the last byte ended a line, and a line feed may belong to it */
};

void lks_http_events_init(struct lks_http_events *e);
void lks_http_events_fini(struct lks_http_events *e);

/* Give each event of `bytes` to `fn` until it says false, which `going` then is. */
typedef bool lks_http_event_fn(void *ctx, struct lks_str id, struct lks_str data);
enum lks_code lks_http_events_feed(struct lks_http_events *e, struct lks_str bytes,
                                   lks_http_event_fn *fn, void *ctx, bool *going,
                                   struct lks_err *err) LKS_MUST_CHECK;

/* The value of a header by its lower-case name, or an empty view. A head is lines of a lower-case
 * name, a colon and a value. */
struct lks_str lks_http_header(struct lks_str head, const char *name);

#endif
