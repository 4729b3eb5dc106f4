#include "base/file.h"
#include "server/api/routes.h"
#include "server/http/depot.h"
#include "server/http/server_parts.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    TICK_MS = 100,
    CONSTANT_MS = 1000,
    DRAIN_MS = 8000,     /* answers in progress may take so long after SIGTERM */
    DRAIN_END_MS = 1500, /* and then the rest of the end so long */
    SOCKET_MODE = 0666,  /* who may what is decided by the peer's uid */
    READING_MAX = 2,     /* of the pool's threads, for reads of the journal, */
    BODIES_MAX = 2,      /* for bodies of people, */
    LOGINS_MAX = 2,      /* and for logins: the others are for agents and artifacts */
    TO_READ_MAX = 64,    /* reads of one identity that wait for those */
    RENEW_AGAIN_S = 3600,
};

static lks_ms mono_now(void)
{
    return lks_daemon_now().mono;
}

/* Certificates ------------------------------------------------------------------------------ */

/* The CA of our own agents, and the site's beside it. */
static enum lks_code agent_cas(const struct lks_daemon *d, const struct lks_config *config,
                               struct lks_buf *out, struct lks_err *err)
{
    lks_buf_init(out, LKS_X509_PEM_MAX * 8);
    lks_buf_add(out, lks_buf_view(&d->secrets.ca));
    lks_buf_addc(out, '\n');
    return lks_secrets_site(config->site_ca.ptr, out, err);
}

/* One that cannot be renewed is used as long as it is good, and the log has the cause. */
static void renew_certificate(struct lks_daemon *d, const struct lks_config *config,
                              struct lks_str key, struct lks_buf *certificate)
{
    struct lks_err err = {0};
    bool renewed = false;
    int64_t now = (int64_t)(lks_daemon_now().wall / LKS_SECOND);
    if (lks_secrets_renew(config, &d->secrets, key, now, certificate, &renewed, &err) != LKS_OK) {
        struct lks_log_field field = {"cause", lks_str_from(err.msg)};
        lks_daemon_log(d, LKS_LEVEL_WARNING, "server.crt was not renewed", &field, 1);
    } else if (renewed) {
        lks_daemon_log(d, LKS_LEVEL_INFO, "server.crt was renewed", NULL, 0);
    }
}

/* When the timer renews next: 60 days before the end, or hourly where that failed or the built-in
 * CA ends as soon. A certificate of another CA is the site's. */
static void plan_renewal(struct lks_server *s, struct lks_str certificate)
{
    const struct lks_daemon *d = s->daemon;
    int64_t now = (int64_t)(lks_daemon_now().wall / LKS_SECOND);
    struct lks_x509_about about;
    struct lks_err ignored;
    s->renew_at = INT64_MAX;
    if (lks_x509_read(certificate, &about, &ignored) != LKS_OK)
        return;
    s->certificate_end = about.not_after;
    if (!lks_x509_issued_by(certificate, lks_buf_view(&d->secrets.ca)))
        return;
    int64_t due = about.not_after - (int64_t)LKS_SECRETS_RENEW_DAYS * LKS_SERVER_DAY_S;
    s->renew_at = due > now ? due : now + RENEW_AGAIN_S;
}

/* Of a file without the section the listener stays as it is until a restart. */
static bool has_webhook(const struct lks_server *s, const struct lks_config *config)
{
    return s->webhook != NULL && config->webhook_client_ca.len > 0;
}

static enum lks_code reload_certificates(struct lks_server *s, const struct lks_config *config,
                                         struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf certificate = {0};
    LKS_CLEANUP(lks_secrets_wipe) struct lks_buf key = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf cas = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf webhook = {0};
    struct lks_daemon *d = s->daemon;
    if (lks_secrets_server(config->data.ptr, &d->secrets.seal, &certificate, &key, err) != LKS_OK ||
        agent_cas(d, config, &cas, err) != LKS_OK ||
        (has_webhook(s, config) && lks_secrets_webhook(config, &webhook, err) != LKS_OK))
        return err->code;
    if (!lks_x509_key_fits(lks_buf_view(&certificate), lks_buf_view(&key)))
        return lks_fail(err, LKS_E_INVALID, "server.crt is not of the key server.key.sealed");
    renew_certificate(d, config, lks_buf_view(&key), &certificate);
    /* What the agents' listener takes, with the site's CA in it, the people's takes too: where the
     * first fails nothing has changed yet. */
    if (lks_httpd_certificates(s->agents, lks_buf_view(&certificate), lks_buf_view(&key),
                               lks_buf_view(&cas), err) != LKS_OK)
        return err->code;
    if (lks_httpd_certificates(s->people, lks_buf_view(&certificate), lks_buf_view(&key),
                               lks_buf_view(&d->secrets.ca), err) != LKS_OK)
        return err->code;
    if (has_webhook(s, config) &&
        lks_httpd_certificates(s->webhook, lks_buf_view(&certificate), lks_buf_view(&key),
                               lks_buf_view(&webhook), err) != LKS_OK)
        return err->code;
    plan_renewal(s, lks_buf_view(&certificate));
    return LKS_OK;
}

/* A daemon that is never restarted renews by this. New connections get the new certificate, open
 * ones go on. */
static void renew_in_time(struct lks_server *s)
{
    int64_t now = (int64_t)(lks_daemon_now().wall / LKS_SECOND);
    struct lks_err err = {0};
    if (now < s->renew_at)
        return;
    s->renew_at = now + RENEW_AGAIN_S;
    if (reload_certificates(s, lks_daemon_config(s->daemon), &err) == LKS_OK)
        return;
    struct lks_log_field field = {"cause", lks_str_from(err.msg)};
    lks_daemon_log(s->daemon, LKS_LEVEL_WARNING, "server.crt was not renewed", &field, 1);
}

/* Reload ------------------------------------------------------------------------------------ */

/* Keys that need a restart stay as they are, and the log says so. */
static void keep_unreloadable(const struct lks_daemon *d, struct lks_config *fresh)
{
    const struct lks_config *now = lks_daemon_config(d);
    for (size_t i = 0; i < lks_config_key_count; i++) {
        const struct lks_config_key *key = &lks_config_keys[i];
        if (key->reloadable || lks_config_same(now, fresh, key))
            continue;
        struct lks_log_field field = {"key", lks_str_from(key->key)};
        lks_daemon_log(d, LKS_LEVEL_WARNING, "changed in the file, and needs a restart", &field, 1);
        lks_config_take(fresh, now, key);
    }
}

static bool is_same(const struct lks_config *a, const struct lks_config *b)
{
    for (size_t i = 0; i < lks_config_key_count; i++) {
        if (!lks_config_same(a, b, &lks_config_keys[i]))
            return false;
    }
    return true;
}

/* All of it, or nothing. */
static enum lks_code reload(struct lks_server *s, struct lks_err *err)
{
    struct lks_daemon *d = s->daemon;
    if (d->config_count == LKS_COUNT(d->configs))
        return lks_fail(err, LKS_E_LIMIT, "the configuration changed %zu times; restart it",
                        d->config_count);
    struct lks_config *fresh = calloc(1, sizeof(*fresh));
    if (fresh == NULL)
        return lks_fail_nomem(err);
    enum lks_code code = lks_config_load(d->path, fresh, err);
    if (code == LKS_OK) {
        keep_unreloadable(d, fresh);
        code = reload_certificates(s, fresh, err);
    }
    /* One that is the same is not kept: new certificates come every few weeks, for years. */
    if (code != LKS_OK || is_same(lks_daemon_config(d), fresh)) {
        lks_config_fini(fresh);
        free(fresh);
        return code;
    }
    lks_daemon_config_set(d, fresh);
    lks_mailbox_post(&d->state->box, lks_mail_new(LKS_MAIL_RELOAD));
    return LKS_OK;
}

static void on_hangup(uv_signal_t *signal, int number)
{
    (void)number;
    struct lks_server *s = signal->data;
    struct lks_err err = {0};
    if (reload(s, &err) == LKS_OK) {
        lks_daemon_log(s->daemon, LKS_LEVEL_INFO, "reloaded", NULL, 0);
        return;
    }
    struct lks_log_field field = {"cause", lks_str_from(err.msg)};
    lks_daemon_log(s->daemon, LKS_LEVEL_ERROR, "not reloaded; all stays as it was", &field, 1);
}

/* Messages ---------------------------------------------------------------------------------- */

static void prepare(uv_work_t *job)
{
    struct lks_call *call = job->data;
    call->route->prepare(call);
}

static void prepared(uv_work_t *job, int status)
{
    (void)status;
    struct lks_call *call = job->data;
    call->to_prepare = false;
    call->prepared = true;
    lks_server_decide(call->daemon->server, call);
}

static void work(struct lks_call *call)
{
    call->work(call);
}

static void answer(struct lks_call *call)
{
    lks_server_answer(call->daemon->server, call);
}

static void forget(struct lks_call *call)
{
    lks_server_forget(call->daemon->server, call);
}

/* A login is prepared here, or sent on to the controller that leads, which prepares it. */
static void login_work(struct lks_call *call)
{
    if (call->to_prepare)
        call->route->prepare(call);
    else
        call->work(call);
}

static void login_done(struct lks_call *call)
{
    if (call->to_prepare)
        lks_server_body_done(call);
    else
        answer(call);
}

/* Strangers may ask for logins, and an OpenID provider may take its time to answer: what others ask
 * for does not wait behind them. */
static bool is_login(const struct lks_call *call)
{
    return lks_str_starts(lks_str_from(call->route->path), "/v1/login");
}

/* One who asks much is told so before everyone else waits behind them. */
static bool has_enough(const struct lks_server *s, struct lks_call *call)
{
    unsigned waiting = lks_fair_queue_waiting(&s->reads, call);
    if (waiting < TO_READ_MAX)
        return false;
    lks_call_problem_http(
        call, 429, "too-many-requests",
        "%u reads of the journal by %s wait already; try again when they are finished", waiting,
        call->identity);
    lks_call_header(call, "Retry-After: 1");
    return true;
}

/* What agents and API servers have to be prepared for does not wait for people. */
static void start_prepare(struct lks_server *s, struct lks_call *call)
{
    if (call->route->listener == LKS_LISTENER_PEOPLE) {
        lks_fair_queue_add(is_login(call) ? &s->logins : &s->bodies, call);
        return;
    }
    call->job.data = call;
    uv_queue_work(&s->loop, &call->job, prepare, prepared);
}

static void take_call(struct lks_server *s, struct lks_call *call)
{
    bool entered = lks_server_enter(s, call);
    if (entered && call->unread && call->status == 0)
        lks_server_collect(s, call);
    else if (entered && call->to_prepare)
        start_prepare(s, call);
    else if (entered && lks_depot_server_takes(call))
        lks_depot_server_take(s->depot, call);
    else if (entered && call->work != NULL && !has_enough(s, call))
        lks_fair_queue_add(is_login(call) ? &s->logins : &s->reads, call);
    else
        lks_server_answer(s, call);
}

static void take_batch(struct lks_server *s, struct lks_batch *m)
{
    lks_events_add(&s->events, &m->batch);
    if (m->head[0] == '\0' && m->heartbeat == s->heartbeat)
        return;
    if (m->head[0] != '\0')
        memcpy(s->head, m->head, sizeof(s->head));
    s->heartbeat = m->heartbeat;
    lks_server_constants(s);
}

static void take_post(struct lks_server *s, const struct lks_post *m)
{
    for (size_t i = 0; i < m->count; i++) {
        uint32_t node = m->items[i].node;
        if (node >= s->told_room)
            s->told = lks_daemon_grow(s->daemon, s->told, &s->told_room, node);
        s->told[node] = m->items[i].told;
    }
}

static void close_all(struct lks_server *s);

static void deliver(void *ctx, struct lks_mail *mail)
{
    struct lks_server *s = ctx;
    if (mail->kind == LKS_MAIL_CALL) {
        take_call(s, (struct lks_call *)mail);
        return;
    }
    if (mail->kind == LKS_MAIL_BATCH)
        take_batch(s, (struct lks_batch *)mail);
    if (mail->kind == LKS_MAIL_POST)
        take_post(s, (const struct lks_post *)mail);
    if (mail->kind == LKS_MAIL_STOPPED)
        s->state_stopped = true;
    lks_mail_drop(mail);
}

/* The end ----------------------------------------------------------------------------------- */

static void on_terminate(uv_signal_t *signal, int number)
{
    (void)number;
    struct lks_server *s = signal->data;
    if (s->drain_until != 0)
        return;
    lks_daemon_log(s->daemon, LKS_LEVEL_INFO, "ending; requests in progress are finished", NULL, 0);
    s->drain_until = mono_now() + DRAIN_MS;
    lks_httpd_drain(s->people);
    lks_httpd_drain(s->agents);
    lks_httpd_drain(s->socket);
    if (s->webhook != NULL)
        lks_httpd_drain(s->webhook);
    lks_client_post(s->daemon->client, lks_mail_new(LKS_MAIL_STOP));
    lks_events_close(&s->events);
}

static void close_all(struct lks_server *s)
{
    lks_httpd_free(s->people);
    lks_httpd_free(s->agents);
    lks_httpd_free(s->socket);
    lks_httpd_free(s->webhook);
    s->people = s->agents = s->socket = s->webhook = NULL;
    lks_depot_server_stop(s->depot);
    lks_audit_close(&s->audit);
    uv_close((uv_handle_t *)&s->terminate, NULL);
    uv_close((uv_handle_t *)&s->interrupt, NULL);
    uv_close((uv_handle_t *)&s->hangup, NULL);
    uv_close((uv_handle_t *)&s->second, NULL);
    uv_close((uv_handle_t *)&s->flush, NULL);
    lks_mailbox_close(&s->box, lks_mail_drop);
}

static void drain(struct lks_server *s, lks_ms now)
{
    bool quiet = s->calls_open == 0 && s->events.working == 0;
    if (!s->stop_sent && (quiet || now >= s->drain_until)) {
        lks_server_flush(s);
        lks_audit_summarise(&s->audit);
        s->stop_sent = true;
        lks_mailbox_post(&s->daemon->state->box, lks_mail_new(LKS_MAIL_STOP));
    }
    if (s->state_stopped) {
        close_all(s);
    } else if (now >= s->drain_until + DRAIN_END_MS) {
        /* What is acknowledged is durable, so nothing is lost by not waiting for a slow disk. */
        lks_daemon_log(s->daemon, LKS_LEVEL_ERROR, "ended without waiting any longer", NULL, 0);
        _exit(EXIT_FAILURE);
    }
}

static void each_second(struct lks_server *s)
{
    lks_server_constants(s);
    if (s->drain_until == 0)
        renew_in_time(s);
}

static void on_second(uv_timer_t *timer)
{
    struct lks_server *s = timer->data;
    lks_ms now = mono_now();
    if (now / CONSTANT_MS != (now - TICK_MS) / CONSTANT_MS)
        each_second(s);
    lks_events_tick(&s->events, now);
    lks_depot_server_tick(s->depot, now);
    if (s->drain_until != 0)
        drain(s, now);
}

static void on_prepare(uv_prepare_t *handle)
{
    lks_server_flush(handle->data);
}

/* The start --------------------------------------------------------------------------------- */

/* The socket of this machine: with the rules of the people's listener, and its own for users. */
static enum lks_code listen_here(struct lks_server *s, struct lks_httpd_options o,
                                 struct lks_err *err)
{
    const struct lks_config *c = lks_daemon_config(s->daemon);
    char unix_address[1100];
    snprintf(unix_address, sizeof(unix_address), "unix:%s", c->socket.ptr);
    o.address = unix_address;
    o.body_max = (size_t)c->body_max;
    o.certificate = o.key = o.client_ca = (struct lks_str){0};
    o.clients = LKS_HTTPD_CLIENTS_NONE;
    o.per_address = o.connections / 2; /* no user of this machine keeps all others out, */
    o.kept = o.connections < 64 ? o.connections / 4 : 16; /* nor do all of them keep root out */
    enum lks_code code =
        lks_httpd_new(&s->loop, &o, lks_server_people, lks_server_gone, s, &s->socket, err);
    return code == LKS_OK ? LKS_OK : lks_wrap(err, "socket");
}

/* API servers of Kubernetes: with the certificate of the other listeners, and an authority of its
 * own for clients. */
static enum lks_code listen_webhook(struct lks_server *s, struct lks_httpd_options o,
                                    struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf cas = {0};
    const struct lks_config *c = lks_daemon_config(s->daemon);
    if (lks_secrets_webhook(c, &cas, err) != LKS_OK)
        return err->code;
    o.address = c->webhook_listen.ptr;
    o.body_max = lks_route_body_max(LKS_LISTENER_WEBHOOK);
    o.client_ca = lks_buf_view(&cas);
    o.clients = LKS_HTTPD_CLIENTS_REQUIRED;
    if (lks_httpd_new(&s->loop, &o, lks_server_webhook, lks_server_gone, s, &s->webhook, err) !=
        LKS_OK)
        return lks_wrap(err, "webhook.listen");
    return LKS_OK;
}

static enum lks_code listen_all(struct lks_server *s, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf cas = {0};
    struct lks_daemon *d = s->daemon;
    const struct lks_config *c = lks_daemon_config(d);
    if (agent_cas(d, c, &cas, err) != LKS_OK)
        return err->code;
    renew_certificate(d, c, lks_buf_view(&d->secrets.server_key), &d->secrets.server);
    plan_renewal(s, lks_buf_view(&d->secrets.server));
    struct lks_httpd_options o = {
        .address = c->people_listen.ptr,
        .certificate = lks_buf_view(&d->secrets.server),
        .key = lks_buf_view(&d->secrets.server_key),
        .client_ca = lks_buf_view(&d->secrets.ca),
        .clients = LKS_HTTPD_CLIENTS_OPTIONAL,
        .connections = (unsigned)c->connections,
        .per_address = (unsigned)c->per_address,
        .body_max = (size_t)c->body_max,
        .first_ms = c->first_ms,
        .request_ms = c->request_ms,
        .idle_ms = c->idle_ms,
        .socket_mode = SOCKET_MODE,
        .how = lks_server_how,
        .over = lks_server_over,
    };
    if (lks_httpd_new(&s->loop, &o, lks_server_people, lks_server_gone, s, &s->people, err) !=
        LKS_OK)
        return lks_wrap(err, "people.listen");
    o.address = c->agents_listen.ptr;
    o.body_max = lks_route_body_max(LKS_LISTENER_AGENTS);
    o.client_ca = lks_buf_view(&cas);
    o.clients = LKS_HTTPD_CLIENTS_REQUIRED;
    if (lks_httpd_new(&s->loop, &o, lks_server_agents, lks_server_gone, s, &s->agents, err) !=
        LKS_OK)
        return lks_wrap(err, "agents.listen");
    return c->webhook_listen.len > 0 && listen_webhook(s, o, err) != LKS_OK
               ? err->code
               : listen_here(s, o, err);
}

static void start_handles(struct lks_server *s)
{
    uv_signal_init(&s->loop, &s->terminate);
    uv_signal_init(&s->loop, &s->interrupt);
    uv_signal_init(&s->loop, &s->hangup);
    uv_timer_init(&s->loop, &s->second);
    uv_prepare_init(&s->loop, &s->flush);
    s->terminate.data = s->interrupt.data = s->hangup.data = s->second.data = s->flush.data = s;
    uv_signal_start(&s->terminate, on_terminate, SIGTERM);
    uv_signal_start(&s->interrupt, on_terminate, SIGINT);
    uv_signal_start(&s->hangup, on_hangup, SIGHUP);
    uv_timer_start(&s->second, on_second, TICK_MS, TICK_MS);
    uv_prepare_start(&s->flush, on_prepare);
}

enum lks_code lks_server_start(struct lks_server *s, struct lks_daemon *daemon, struct lks_err *err)
{
    s->daemon = daemon;
    s->intake.seed = daemon->options.seed;
    s->reads = (struct lks_fair_queue){
        .loop = &s->loop, .most = READING_MAX, .work = work, .done = answer, .left = forget};
    s->bodies = (struct lks_fair_queue){.loop = &s->loop,
                                        .most = BODIES_MAX,
                                        .work = lks_server_body_work,
                                        .done = lks_server_body_done,
                                        .left = forget};
    s->logins = (struct lks_fair_queue){.loop = &s->loop,
                                        .most = LOGINS_MAX,
                                        .work = login_work,
                                        .done = login_done,
                                        .left = forget};
    if (uv_loop_init(&s->loop) != 0)
        return lks_fail(err, LKS_E_IO, "cannot make a loop");
    if (lks_mailbox_init(&s->box, &s->loop, deliver, NULL, s, err) != LKS_OK ||
        lks_depot_server_new(s, &s->depot, err) != LKS_OK || listen_all(s, err) != LKS_OK)
        return err->code;
    lks_events_init(&s->events, daemon, &s->loop);
    lks_audit_open(&s->audit, daemon, &s->loop);
    start_handles(s);
    s->heartbeat = lks_daemon_config(daemon)->heartbeat_ms;
    lks_server_constants(s);
    return LKS_OK;
}

void lks_server_run(struct lks_server *s)
{
    uv_run(&s->loop, UV_RUN_DEFAULT);
}

void lks_server_fini(struct lks_server *s)
{
    for (size_t i = 0; i < LKS_COUNT(s->answers); i++)
        lks_httpd_constant_free(s->answers[i]);
    lks_events_fini(&s->events);
    lks_audit_fini(&s->audit);
    lks_depot_server_free(s->depot);
    lks_intake_fini(&s->intake);
    free(s->told);
    free(s->beats);
    uv_loop_close(&s->loop);
}
