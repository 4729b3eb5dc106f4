#include "bridge/serve/serve.h"

#include "base/file.h"
#include "bridge/serve/clock.h"
#include "bridge/serve/serve_parts.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define PEM_MAX ((size_t)1 << 20)

enum {
    CONNECTIONS = 256,
    FIRST_MS = 10000,
    REQUEST_MS = 10000,
    IDLE_MS = 120000,
    SOCKET_MODE = 0666, /* the peer's user is checked with each request */
    REFUSED = 16,       /* connections of the socket that all other users together may hold, so that
                           each is told why it is refused and none keeps lockstepd out */
    STOP_MS = 15000,
};

/* Keys are in memory. */
static void harden(void)
{
    struct rlimit none = {0, 0};
    umask(077);
    setrlimit(RLIMIT_CORE, &none);
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a file at its limit is a write that fails */
}

static int64_t log_now(void)
{
    return (int64_t)lks_clock_wall();
}

/* Listening --------------------------------------------------------------------------------- */

static bool is_unix(const char *address)
{
    return lks_str_starts(lks_str_from(address), "unix:");
}

static enum lks_code load(const char *path, struct lks_buf *out, struct lks_err *err)
{
    lks_buf_init(out, PEM_MAX);
    return lks_file_read_plain(path, out, err);
}

static enum lks_code listen_tls(struct lks_serve *s, struct lks_httpd_options *options,
                                struct lks_httpd **out, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf certificate = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf key = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf ca = {0};
    enum lks_code code = load(s->o->certificate, &certificate, err);
    if (code == LKS_OK)
        code = load(s->o->key, &key, err);
    if (code == LKS_OK)
        code = load(s->o->ca, &ca, err);
    options->certificate = lks_buf_view(&certificate);
    options->key = lks_buf_view(&key);
    options->client_ca = lks_buf_view(&ca);
    options->clients = LKS_HTTPD_CLIENTS_REQUIRED;
    if (code == LKS_OK)
        code = lks_httpd_new(&s->loop, options, lks_serve_request, lks_serve_gone, s, out, err);
    if (key.len > 0)
        explicit_bzero(key.ptr, key.len);
    return code;
}

static enum lks_code listen_at(struct lks_serve *s, const char *address, struct lks_err *err)
{
    struct lks_httpd_options options = {.address = address,
                                        .connections = CONNECTIONS,
                                        .body_max = LKS_BRIDGE_BODY_MAX,
                                        .first_ms = FIRST_MS,
                                        .request_ms = REQUEST_MS,
                                        .idle_ms = IDLE_MS,
                                        .socket_mode = SOCKET_MODE,
                                        .errors = true,
                                        .kept = CONNECTIONS - REFUSED,
                                        .users = s->o->users,
                                        .user_count = s->o->user_count};
    struct lks_httpd **out = &s->listeners[s->listener_count];
    enum lks_code code = is_unix(address) ? lks_httpd_new(&s->loop, &options, lks_serve_request,
                                                          lks_serve_gone, s, out, err)
                                          : listen_tls(s, &options, out, err);
    if (code != LKS_OK)
        return lks_wrap(err, "--listen %s", address);
    s->listener_count++;
    return LKS_OK;
}

static void say_ready(const struct lks_serve *s, FILE *out)
{
    fprintf(out, "ready");
    for (size_t i = 0; i < s->listener_count; i++) {
        struct lks_str address = lks_str_from(s->o->listen[i]), port = lks_str_last(address, ':');
        if (is_unix(address.ptr))
            fprintf(out, " %s", address.ptr);
        else
            fprintf(out, " %" LKS_STR_FMT "%u",
                    LKS_STR_ARG(((struct lks_str){address.ptr, address.len - port.len})),
                    lks_httpd_port(s->listeners[i]));
    }
    fprintf(out, "\n");
    fflush(out);
}

/* Ending ------------------------------------------------------------------------------------ */

static void end(struct lks_serve *s)
{
    if (s->ending)
        return;
    s->ending = true;
    for (size_t i = 0; i < LKS_COUNT(s->ends); i++)
        uv_close((uv_handle_t *)&s->ends[i], NULL);
    uv_close((uv_handle_t *)&s->timer, NULL);
    for (size_t i = 0; i < s->listener_count; i++)
        lks_httpd_free(s->listeners[i]);
    if (s->started)
        uv_unref((uv_handle_t *)&s->worker.done);
}

static void on_end(uv_signal_t *signal, int number)
{
    (void)number;
    end(signal->data);
}

static void watch_signals(struct lks_serve *s)
{
    static const int numbers[] = {SIGTERM, SIGINT};
    for (size_t i = 0; i < LKS_COUNT(s->ends); i++) {
        s->ends[i].data = s;
        int failed = uv_signal_init(&s->loop, &s->ends[i]);
        failed = failed != 0 ? failed : uv_signal_start(&s->ends[i], on_end, numbers[i]);
        LKS_ASSERT(failed == 0);
    }
}

/* The worker may be waiting for slurmctld: then its memory is left to it, and the process ends. */
static void stop(struct lks_serve *s)
{
    if (!lks_worker_stop(&s->worker, STOP_MS))
        _exit(0);
    lks_serve_drop(s);
    uv_close((uv_handle_t *)&s->worker.done, NULL);
    (void)uv_run(&s->loop, UV_RUN_DEFAULT);
    lks_bridge_book_fini(&s->worker.book);
    lks_bridge_runs_fini(&s->worker.runs);
    uv_mutex_destroy(&s->worker.lock);
    uv_cond_destroy(&s->worker.wake);
}

/* Starting ---------------------------------------------------------------------------------- */

static void on_done(uv_async_t *done)
{
    struct lks_serve *s = done->data;
    if (!s->ending)
        lks_serve_answer(s);
}

static enum lks_code start(struct lks_serve *s, struct lks_err *err)
{
    for (size_t i = 0; i < s->o->listen_count; i++) {
        if (listen_at(s, s->o->listen[i], err) != LKS_OK)
            return err->code;
    }
    return lks_worker_start(&s->worker, &s->loop, on_done, s, err);
}

static enum lks_code run(struct lks_serve *s, FILE *out, struct lks_err *err)
{
    if (uv_loop_init(&s->loop) != 0)
        return lks_fail_nomem(err);
    s->timer.data = s;
    (void)uv_timer_init(&s->loop, &s->timer);
    watch_signals(s);
    enum lks_code code = start(s, err);
    s->started = code == LKS_OK;
    if (s->started)
        say_ready(s, out);
    else
        end(s);
    (void)uv_run(&s->loop, UV_RUN_DEFAULT);
    if (s->started)
        stop(s);
    int left = uv_loop_close(&s->loop);
    LKS_ASSERT(left == 0);
    return code;
}

enum lks_code lks_bridge_serve(const struct lks_bridge_options *options, FILE *out,
                               struct lks_err *err)
{
    static struct lks_serve one; /* there to the end of the process, whatever the worker does */
    struct lks_serve *s = &one;
    s->o = options;
    harden();
    lks_log_init(&s->log, stderr, LKS_LEVEL_INFO, LKS_LOG_LOGFMT, log_now);
    s->worker.log = &s->log;
    s->worker.policy = options->policy;
    enum lks_code code = lks_durable_open(options->state, &s->worker.durable, err);
    if (code != LKS_OK)
        return lks_wrap(err, "--state");
    code = lks_slurm_new(geteuid(), &s->worker.slurm, err);
    if (code == LKS_OK)
        code = run(s, out, err);
    lks_slurm_free(s->worker.slurm);
    lks_durable_close(&s->worker.durable);
    lks_log_fini(&s->log);
    return code;
}
