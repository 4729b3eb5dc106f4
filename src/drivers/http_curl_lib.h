/* libcurl, as far as it is used: loaded when it is first needed, for the files http_curl*.c. */
#ifndef LKS_DRIVERS_HTTP_CURL_LIB_H
#define LKS_DRIVERS_HTTP_CURL_LIB_H

/* Names that newer versions advise against are the ones that all versions have. */
#define CURL_DISABLE_DEPRECATION
#include "base/err.h"
#include "drivers/http_curl.h"

#include <curl/curl.h>

/* clang-format off */
#define LKS_CURL_CALLS(X)                                                                          \
    X(CURLcode,     global_init,          (long flags))                                            \
    X(curl_version_info_data *, version_info, (CURLversion age))                                   \
    X(CURL *,       easy_init,            (void))                                                  \
    X(CURLcode,     easy_setopt,          (CURL * easy, CURLoption option, ...))                   \
    X(CURLcode,     easy_getinfo,         (CURL * easy, CURLINFO info, ...))                       \
    X(CURLcode,     easy_perform,         (CURL * easy))                                           \
    X(void,         easy_reset,           (CURL * easy))                                           \
    X(void,         easy_cleanup,         (CURL * easy))                                           \
    X(const char *, easy_strerror,        (CURLcode code))                                         \
    X(struct curl_slist *, slist_append,  (struct curl_slist * list, const char *line))            \
    X(void,         slist_free_all,       (struct curl_slist * list))                              \
    X(CURLM *,      multi_init,           (void))                                                  \
    X(CURLMcode,    multi_cleanup,        (CURLM * multi))                                         \
    X(CURLMcode,    multi_setopt,         (CURLM * multi, CURLMoption option, ...))                \
    X(CURLMcode,    multi_add_handle,     (CURLM * multi, CURL * easy))                            \
    X(CURLMcode,    multi_remove_handle,  (CURLM * multi, CURL * easy))                            \
    X(CURLMcode,    multi_perform,        (CURLM * multi, int *running))                           \
    X(CURLMcode,    multi_poll,           (CURLM * multi, struct curl_waitfd *more, unsigned count,\
                                           int ms, int *ready))                                    \
    X(CURLMcode,    multi_wakeup,         (CURLM * multi))                                         \
    X(CURLMsg *,    multi_info_read,      (CURLM * multi, int *left))                              \
    X(const char *, multi_strerror,       (CURLMcode code))
/* clang-format on */

struct lks_curl_lib {
#define X(type, name, args) type(*name) args;
    LKS_CURL_CALLS(X)
#undef X
};

/* The library, loaded once for the whole program; NULL, and UNAVAILABLE in `err`, where there is
 * none that will do. */
const struct lks_curl_lib *lks_curl_lib(struct lks_err *err);

/* What holds for every connection of ours, whatever is asked over it and whoever it is with: only
 * HTTP, nothing followed, TLS 1.2 or later. */
CURLcode lks_curl_common(const struct lks_curl_lib *lib, CURL *easy, lks_ms timeout);

/* A libcurl failure in our words, about the peer `url`. */
enum lks_code lks_curl_fail(const struct lks_curl_lib *lib, CURLcode code, const char *url,
                            struct lks_err *err) LKS_MUST_CHECK;

#endif
