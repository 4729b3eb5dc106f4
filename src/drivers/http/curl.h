/*
 * The HTTP client for management endpoints: many exchanges at a time in one thread, over libcurl,
 * which is loaded when the first client is made, so that no program needs it to start.
 *
 * An endpoint is known by a certificate authority or by the fingerprint of its public key, which
 * are held against what it shows before a byte of a request leaves; a program of this machine by
 * the path of its socket. There is no other way. Nothing is followed: no redirect, no proxy, no
 * cookie, no other protocol. An exchange that is not safe to repeat (all but GET, HEAD and DELETE,
 * and those that are marked so) has a connection of its own, since libcurl would otherwise send it
 * again on its own account where a kept connection turns out to be dead.
 *
 * An answer is whole or there is none; only of one that names no length at all the end of the
 * connection is its end, and JSON that is cut there does not parse. Messages name the endpoint and
 * never what a request holds. A client belongs to one thread. The program ignores SIGPIPE, as all
 * of ours do.
 */
#ifndef LKS_DRIVERS_HTTP_CURL_H
#define LKS_DRIVERS_HTTP_CURL_H

#include "port/http.h"

#define LKS_CURL_URL_MAX     255
#define LKS_CURL_HEAD_MAX    ((size_t)64 << 10) /* of an answer */
#define LKS_CURL_CONNECT_MAX (30 * LKS_SECOND)  /* until a connection and its TLS stand */
#define LKS_CURL_NAME_MAX    255
#define LKS_CURL_LANES_MAX   64

/* Whom to talk to. */
struct lks_curl_peer {
    const char *url; /* "https://HOST[:PORT]" and nothing behind it; or "unix:/PATH", a socket that
                        a program of this machine listens at */
    const char *ca;  /* PEM file of the authorities that may certify it, or NULL */
    const char *fingerprint; /* "sha256:HEX" of its public key, or NULL; one of the two at least */
    const char *certificate; /* PEM file that shows who we are, or NULL; `key` then is its key */
    const char *key;
    bool wide;  /* a program that takes LKS_CURL_LANES_MAX connections at a time; else one */
    bool plain; /* "http://" and "unix:" will do, on this machine alone */
};

struct lks_curl_options {
    /* A descriptor of the stored file with this digest, which is closed when its exchange ends; -1
     * and `err`. NULL: requests have no files. */
    int (*open)(void *ctx, const char *digest, struct lks_err *err);
    void *ctx;
    unsigned kept; /* connections that are kept for the next exchange; 0: 16 */
};

struct lks_curl;
struct lks_curl_exchange;

/* `answer` is NULL, and `err` says why, when none came: UNAVAILABLE (cannot be reached, or it was
 * cut), TIMEOUT, DENIED (its certificate is not the one that is trusted), LIMIT (too large), else
 * something is wrong on our side. Both are borrowed until the function returns. A new exchange may
 * be begun in it. */
typedef void lks_curl_done_fn(void *ctx, const struct lks_http_response *answer,
                              const struct lks_err *err);

/* UNAVAILABLE where libcurl is not installed: the message names the package. */
enum lks_code lks_curl_new(const struct lks_curl_options *options, struct lks_curl **out,
                           struct lks_err *err) LKS_MUST_CHECK;
/* Exchanges in progress end without their function being called. */
void lks_curl_free(struct lks_curl *c);

/* Begin an exchange, which ends in a later turn. Texts of `peer` are copied; `request` is moved in,
 * and empty afterwards whether or not it could be begun. The SHA-256 of a file that is sent as a
 * whole is checked while it is, before its last byte leaves; of a range, before the first. */
enum lks_code lks_curl_begin(struct lks_curl *c, const struct lks_curl_peer *peer,
                             struct lks_http_request *request, lks_ms timeout,
                             lks_curl_done_fn *done, void *ctx, struct lks_curl_exchange **out,
                             struct lks_err *err) LKS_MUST_CHECK;

/* End it now; its function is not called. Not for one whose function was called. */
void lks_curl_cancel(struct lks_curl *c, struct lks_curl_exchange *x);

/* How much of the request's body has been sent. */
uint64_t lks_curl_sent(const struct lks_curl_exchange *x);

/* Go on with all of them; wait at the most `wait` for something to happen. */
enum lks_code lks_curl_turn(struct lks_curl *c, lks_ms wait, struct lks_err *err) LKS_MUST_CHECK;

/* Let a turn that waits in another thread return; or the next one, where none does. */
void lks_curl_wake(struct lks_curl *c);

/* Is `url` an address as a peer's has to be? INVALID says what is wrong with it. */
enum lks_code lks_curl_url_check(const char *url, bool plain, struct lks_err *err) LKS_MUST_CHECK;

/* Is it by its address on this machine, where what answers is a program and no device? */
bool lks_curl_url_local(const char *url);

/* What an endpoint shows to any client. */
struct lks_curl_certificate {
    char fingerprint[LKS_DIGEST_SIZE]; /* of the public key: what a peer is known by */
    char certificate[LKS_DIGEST_SIZE]; /* of the certificate itself */
    char subject[LKS_CURL_NAME_MAX + 1], issuer[LKS_CURL_NAME_MAX + 1]; /* printable */
    int64_t not_before, not_after;                                      /* seconds since 1970 */
    bool self_signed;
};

/* Connect, look at the certificate and leave: nothing is believed and nothing is said. Blocks. */
enum lks_code lks_curl_certificate(const char *url, lks_ms timeout,
                                   struct lks_curl_certificate *out,
                                   struct lks_err *err) LKS_MUST_CHECK;

#endif
