/*
 * For curl.c: connections to peers that take several requests at a time. They are in a multi handle
 * of their own, since "one connection for each host", which BMCs need, is a property of a handle.
 * libcurl reports their sockets and its timer here, so that one poll waits for both handles.
 */
#ifndef LKS_DRIVERS_HTTP_CURL_WIDE_H
#define LKS_DRIVERS_HTTP_CURL_WIDE_H

#include "drivers/http/curl_lib.h"

struct lks_curl_wide {
    const struct lks_curl_lib *lib;
    CURLM *multi;            /* NULL: not made yet */
    struct curl_waitfd *fds; /* owned: sockets to wait for */
    uint32_t count, room;
    lks_ms due; /* mono: when libcurl wants to be called; 0: not by a timer */
};

/* Make the handle, if that was not done. NOMEM. */
enum lks_code lks_curl_wide_make(struct lks_curl_wide *w, const struct lks_curl_lib *lib,
                                 struct lks_err *err) LKS_MUST_CHECK;
/* All exchanges were removed from it. */
void lks_curl_wide_fini(struct lks_curl_wide *w);

/* How long a poll may wait: `wait`, or less. */
lks_ms lks_curl_wide_wait(const struct lks_curl_wide *w, lks_ms wait);

/* Carry on with sockets for which the poll reported something, and with the timer. */
enum lks_code lks_curl_wide_carry_on(struct lks_curl_wide *w, struct lks_err *err) LKS_MUST_CHECK;

#endif
