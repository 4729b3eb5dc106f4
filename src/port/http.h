/*
 * One HTTP exchange as data. Redfish is spoken through it, so only the driver behind this port has
 * sockets. Where the peer is, and how it is known to be the right one, is that driver's business
 * too: a path here is always a path, so no answer can send a request, and its token, elsewhere.
 */
#ifndef LKS_PORT_HTTP_H
#define LKS_PORT_HTTP_H

#include "base/buf.h"
#include "base/time.h"
#include "codec/format/digest.h"

#define LKS_HTTP_PATH_MAX     2048
#define LKS_HTTP_LINES_MAX    ((size_t)16 << 10) /* all headers of a request */
#define LKS_HTTP_BODY_MAX     ((size_t)1 << 20)  /* of a request, its file not counted */
#define LKS_HTTP_RESPONSE_MAX ((size_t)16 << 20)
#define LKS_HTTP_RETRY_MAX    (600 * LKS_SECOND)

/* Bytes that are too many to be carried along: a range of a stored file, named by the digest of the
 * whole of it. The sender reads it from where files are kept, and breaks the exchange off where
 * what it reads is not what is named. */
struct lks_http_file {
    char digest[LKS_DIGEST_SIZE]; /* empty: no file */
    uint64_t offset, length;
};

/* What is sent as body is `body` with `file` put in at `file_at`. */
struct lks_http_request {
    const char *method; /* static text */
    struct lks_buf path;
    struct lks_buf head; /* "Name: value\r\n" for each header */
    struct lks_buf body;
    struct lks_http_file file;
    size_t file_at;
    bool repeatable;   /* though it has a body: the peer refuses it the second time, or no harm is
                          done then */
    size_t answer_max; /* bytes of the answer's body; 0: LKS_HTTP_RESPONSE_MAX */
};

/* Borrowed until the conversation was fed. */
struct lks_http_response {
    int status;
    struct lks_str head; /* "name: value\n" for each header, names in lower case */
    struct lks_str body;
};

void lks_http_request_init(struct lks_http_request *r);
void lks_http_request_fini(struct lks_http_request *r);

/* Add a header. A control byte in its value makes the request fail its check. */
void lks_http_request_header(struct lks_http_request *r, const char *name, const char *fmt, ...)
    LKS_PRINTF(3, 4);

/* Add who asks, as RFC 7617 has it. */
void lks_http_request_basic(struct lks_http_request *r, const char *user, const char *password);

/* Is it whole, within its limits, and one request rather than two? */
enum lks_code lks_http_request_check(const struct lks_http_request *r,
                                     struct lks_err *err) LKS_MUST_CHECK;

/* How many bytes its body has, file included. */
uint64_t lks_http_request_length(const struct lks_http_request *r);

/* The value of a header by its lower-case name, or an empty view. */
struct lks_str lks_http_response_header(const struct lks_http_response *r, const char *name);

/* Location without scheme and host, or an empty view where there is none that is a path. */
struct lks_str lks_http_response_location(const struct lks_http_response *r);

/* How long the peer asks to be left alone: Retry-After in seconds, at least `least` and at most
 * LKS_HTTP_RETRY_MAX. */
lks_ms lks_http_response_retry(const struct lks_http_response *r, lks_ms least);

#endif
