#include "drivers/http/curl_lib.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#define LIBRARY     "libcurl.so.4"
#define VERSION_MIN 0x074400 /* 7.68.0: a turn can be woken */
#define TOLD        "lockstep/" LKS_VERSION

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct lks_curl_lib loaded;
static struct lks_err failed; /* code LKS_OK: it is loaded */

static const struct {
    const char *name;
    size_t offset;
} calls[] = {
#define X(name) {"curl_" #name, offsetof(struct lks_curl_lib, name)},
    LKS_CURL_CALLS(X)
#undef X
};

/* dlsym() gives a pointer to an object; C wants the bytes moved to make it one to a function. */
static const char *take_calls(void *library)
{
    for (size_t i = 0; i < LKS_COUNT(calls); i++) {
        void *symbol = dlsym(library, calls[i].name);
        if (symbol == NULL)
            return calls[i].name;
        memcpy((char *)&loaded + calls[i].offset, &symbol, sizeof(symbol));
    }
    return NULL;
}

/* Never unloaded: it has threads and handlers of its own. */
static void load(void)
{
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        (void)!lks_fail(&failed, LKS_E_UNAVAILABLE,
                        LIBRARY " is not installed, and management endpoints are reached through "
                                "it: install libcurl4 (Debian, Ubuntu) or libcurl (RHEL, SUSE)");
        return;
    }
    const char *missing = take_calls(library);
    const curl_version_info_data *info = NULL;
    if (missing == NULL && loaded.global_init(CURL_GLOBAL_ALL) == CURLE_OK)
        info = loaded.version_info(CURLVERSION_NOW);
    if (info == NULL || info->version_num < VERSION_MIN)
        (void)!lks_fail(&failed, LKS_E_UNAVAILABLE, LIBRARY " is too old: 7.68 or later is needed");
    else if ((info->features & CURL_VERSION_SSL) == 0)
        (void)!lks_fail(&failed, LKS_E_UNAVAILABLE, LIBRARY " was built without TLS");
}

const struct lks_curl_lib *lks_curl_lib(struct lks_err *err)
{
    (void)pthread_once(&once, load);
    if (failed.code == LKS_OK)
        return &loaded;
    *err = failed;
    return NULL;
}

CURLcode lks_curl_common(const struct lks_curl_lib *lib, CURL *easy, lks_ms timeout)
{
    lks_ms connect = timeout < LKS_CURL_CONNECT_MAX ? timeout : LKS_CURL_CONNECT_MAX;
    const struct {
        CURLoption option;
        long value;
    } numbers[] = {
        {CURLOPT_NOSIGNAL, 1},
        {CURLOPT_NOPROGRESS, 1},
        {CURLOPT_PROTOCOLS, CURLPROTO_HTTP | CURLPROTO_HTTPS},
        {CURLOPT_FOLLOWLOCATION, 0},
        {CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1},
        {CURLOPT_PATH_AS_IS, 1},
        {CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2},
        {CURLOPT_SSL_SESSIONID_CACHE, 0},
        {CURLOPT_TIMEOUT_MS, (long)(timeout > 0 ? timeout : 1)},
        {CURLOPT_CONNECTTIMEOUT_MS, (long)(connect > 0 ? connect : 1)},
    };
    CURLcode code = CURLE_OK;
    for (size_t i = 0; code == CURLE_OK && i < LKS_COUNT(numbers); i++)
        code = lib->easy_setopt(easy, numbers[i].option, numbers[i].value);
    if (code == CURLE_OK)
        code = lib->easy_setopt(easy, CURLOPT_PROXY, ""); /* nor one of the environment */
    if (code == CURLE_OK)
        code = lib->easy_setopt(easy, CURLOPT_USERAGENT, TOLD);
    return code;
}

enum lks_code lks_curl_fail(const struct lks_curl_lib *lib, CURLcode code, const char *url,
                            struct lks_err *err)
{
    static const struct lks_err_known known[] = {
        {CURLE_OUT_OF_MEMORY, LKS_E_NOMEM, "out of memory"},
        {CURLE_OPERATION_TIMEDOUT, LKS_E_TIMEOUT, "no answer in time"},
        {CURLE_COULDNT_RESOLVE_HOST, LKS_E_UNAVAILABLE, "there is no such host"},
        {CURLE_COULDNT_CONNECT, LKS_E_UNAVAILABLE, "cannot connect"},
        {CURLE_SSL_CONNECT_ERROR, LKS_E_UNAVAILABLE, "the TLS handshake failed"},
        {CURLE_SEND_ERROR, LKS_E_UNAVAILABLE, "the connection ended while we sent"},
        {CURLE_RECV_ERROR, LKS_E_UNAVAILABLE, "the connection ended before the answer did"},
        {CURLE_PARTIAL_FILE, LKS_E_UNAVAILABLE, "the connection ended before the answer did"},
        {CURLE_GOT_NOTHING, LKS_E_UNAVAILABLE, "it closed the connection without an answer"},
        {CURLE_PEER_FAILED_VERIFICATION, LKS_E_DENIED,
         "its certificate is not certified by the authority that was named, or not for this name"},
        {CURLE_SSL_PINNEDPUBKEYNOTMATCH, LKS_E_DENIED,
         "it shows another key than the one that is trusted"},
        {CURLE_SSL_CACERT_BADFILE, LKS_E_INVALID, "the file of authorities cannot be read"},
        {CURLE_FILESIZE_EXCEEDED, LKS_E_LIMIT, "the answer is too large"},
        {CURLE_WEIRD_SERVER_REPLY, LKS_E_UNAVAILABLE, "what it says is not HTTP"},
        {CURLE_UNSUPPORTED_PROTOCOL, LKS_E_UNAVAILABLE, "what it says is not HTTP"},
    };
    const struct lks_err_known *f = lks_err_find(known, LKS_COUNT(known), (int)code);
    return lks_fail(err, f != NULL ? f->code : LKS_E_UNAVAILABLE, "%s: %s", url,
                    f != NULL ? f->text : lib->easy_strerror(code));
}
