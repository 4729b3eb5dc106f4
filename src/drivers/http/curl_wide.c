#include "drivers/http/curl_wide.h"

#include "base/vec.h"

#include <stdlib.h>
#include <time.h>

enum {
    KEPT = 2 * LKS_CURL_LANES_MAX, /* connections, of all peers */
    SOCKETS_MAX = 4096,            /* a connection that begins has several */
};

static lks_ms mono_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (lks_ms)t.tv_sec * 1000 + (lks_ms)t.tv_nsec / 1000000;
}

/* What libcurl calls ------------------------------------------------------------------------ */

static int on_socket(CURL *easy, curl_socket_t socket, int what, void *ctx, void *of_socket)
{
    struct lks_curl_wide *w = ctx;
    uint32_t at = 0;
    (void)easy, (void)of_socket;
    while (at < w->count && w->fds[at].fd != socket)
        at++;
    if (what == CURL_POLL_REMOVE) {
        if (at < w->count)
            w->fds[at] = w->fds[--w->count];
        return 0;
    }
    if (LKS_VEC_RESERVE_MAX(w->fds, w->room, at + (size_t)1, SOCKETS_MAX, NULL) != LKS_OK)
        return -1; /* and lks_curl_wide_carry_on() fails */
    if (at == w->count)
        w->fds[w->count++] = (struct curl_waitfd){.fd = socket};
    w->fds[at].events = (short)(((what & CURL_POLL_IN) != 0 ? CURL_WAIT_POLLIN : 0) |
                                ((what & CURL_POLL_OUT) != 0 ? CURL_WAIT_POLLOUT : 0));
    return 0;
}

static int on_timer(CURLM *multi, long ms, void *ctx)
{
    struct lks_curl_wide *w = ctx;
    (void)multi;
    w->due = ms >= 0 ? mono_now() + (lks_ms)ms : 0;
    return 0;
}

/* What curl.c calls ------------------------------------------------------------------------- */

enum lks_code lks_curl_wide_make(struct lks_curl_wide *w, const struct lks_curl_lib *lib,
                                 struct lks_err *err)
{
    if (w->multi != NULL)
        return LKS_OK;
    w->lib = lib;
    w->multi = lib->multi_init();
    if (w->multi == NULL)
        return lks_fail_nomem(err);
    CURLMcode code = lib->multi_setopt(w->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    if (code == CURLM_OK)
        code = lib->multi_setopt(w->multi, CURLMOPT_SOCKETDATA, w);
    if (code == CURLM_OK)
        code = lib->multi_setopt(w->multi, CURLMOPT_TIMERFUNCTION, on_timer);
    if (code == CURLM_OK)
        code = lib->multi_setopt(w->multi, CURLMOPT_TIMERDATA, w);
    if (code == CURLM_OK)
        code = lib->multi_setopt(w->multi, CURLMOPT_MAX_HOST_CONNECTIONS, (long)LKS_CURL_LANES_MAX);
    if (code == CURLM_OK)
        code = lib->multi_setopt(w->multi, CURLMOPT_MAXCONNECTS, (long)KEPT);
    if (code == CURLM_OK)
        return LKS_OK;
    lks_curl_wide_fini(w);
    return lks_fail_nomem(err);
}

void lks_curl_wide_fini(struct lks_curl_wide *w)
{
    if (w->multi != NULL)
        (void)w->lib->multi_cleanup(w->multi); /* it may call on_socket() */
    free(w->fds);
    *w = (struct lks_curl_wide){0};
}

lks_ms lks_curl_wide_wait(const struct lks_curl_wide *w, lks_ms wait)
{
    lks_ms now = w->due > 0 ? mono_now() : 0;
    lks_ms left = w->due > now ? w->due - now : 0;
    return w->due > 0 && left < wait ? left : wait;
}

/* A socket for which something was reported; it is not returned again. */
static bool take_socket(struct lks_curl_wide *w, curl_socket_t *socket, int *events)
{
    for (uint32_t i = 0; i < w->count; i++) {
        short got = w->fds[i].revents;
        if (got == 0)
            continue;
        w->fds[i].revents = 0;
        *socket = w->fds[i].fd;
        *events = ((got & CURL_WAIT_POLLIN) != 0 ? CURL_CSELECT_IN : 0) |
                  ((got & CURL_WAIT_POLLOUT) != 0 ? CURL_CSELECT_OUT : 0);
        return true;
    }
    return false;
}

enum lks_code lks_curl_wide_carry_on(struct lks_curl_wide *w, struct lks_err *err)
{
    CURLMcode code = CURLM_OK;
    curl_socket_t socket;
    int events, running;
    while (code == CURLM_OK && take_socket(w, &socket, &events))
        code = w->lib->multi_socket_action(w->multi, socket, events, &running);
    if (code == CURLM_OK && w->due > 0 && w->due <= mono_now()) {
        w->due = 0;
        code = w->lib->multi_socket_action(w->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    }
    return code == CURLM_OK ? LKS_OK
                            : lks_fail(err, LKS_E_IO, "libcurl: %s", w->lib->multi_strerror(code));
}
