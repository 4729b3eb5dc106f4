/* libcurl, as far as it is used: loaded when it is first needed, for the files http_curl*.c. */
#ifndef LKS_DRIVERS_HTTP_CURL_LIB_H
#define LKS_DRIVERS_HTTP_CURL_LIB_H

/* Names that newer versions advise against are the ones that all versions have. */
#define CURL_DISABLE_DEPRECATION
#include "base/err.h"
#include "drivers/http/curl.h"

#include <curl/curl.h>

/* Each by the type that libcurl declares. */
#define LKS_CURL_CALLS(X)                                                                          \
    X(global_init)                                                                                 \
    X(version_info)                                                                                \
    X(easy_init)                                                                                   \
    X(easy_setopt)                                                                                 \
    X(easy_getinfo)                                                                                \
    X(easy_perform)                                                                                \
    X(easy_reset)                                                                                  \
    X(easy_cleanup)                                                                                \
    X(easy_strerror)                                                                               \
    X(slist_append)                                                                                \
    X(slist_free_all)                                                                              \
    X(multi_init)                                                                                  \
    X(multi_cleanup)                                                                               \
    X(multi_setopt)                                                                                \
    X(multi_add_handle)                                                                            \
    X(multi_remove_handle)                                                                         \
    X(multi_perform)                                                                               \
    X(multi_socket_action)                                                                         \
    X(multi_poll)                                                                                  \
    X(multi_wakeup)                                                                                \
    X(multi_info_read)                                                                             \
    X(multi_strerror)

struct lks_curl_lib {
#define X(name) __typeof__(curl_##name) *(name);
    LKS_CURL_CALLS(X)
#undef X
};

/* The library, loaded once for the whole program; NULL, and UNAVAILABLE in `err`, where there is
 * none that will do. */
const struct lks_curl_lib *lks_curl_lib(struct lks_err *err);

/* What holds for every connection of ours, whatever is asked over it and to any peer: only HTTP,
 * nothing followed, TLS 1.2 or later. */
CURLcode lks_curl_common(const struct lks_curl_lib *lib, CURL *easy, lks_ms timeout);

/* A libcurl failure in our words, about the peer `url`. */
enum lks_code lks_curl_fail(const struct lks_curl_lib *lib, CURLcode code, const char *url,
                            struct lks_err *err) LKS_MUST_CHECK;

#endif
