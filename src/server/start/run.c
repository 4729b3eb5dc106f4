/* The daemon from its start to its end. */
#include "base/embedded.h"
#include "engine/journal.h"
#include "server/base/daemon.h"
#include "server/threads/seen.h"
#include "server/threads/threads.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define DAY_MS ((lks_ms)86400 * 1000)
/* Two read the journal, two parse bodies of people, two wait for an OpenID provider, one moves
 * artifacts; agents have the rest. */
#define POOL_THREADS "10"

static int64_t log_now(void)
{
    return (int64_t)lks_daemon_now().wall;
}

/* Keys are in memory: it is not for others, not even when we crash. */
static void harden(void)
{
    struct rlimit none = {0, 0};
    umask(077);
    setrlimit(RLIMIT_CORE, &none);
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a file at its limit is a write that fails */
}

/* As many descriptors as the system lets us have: each agent holds one. */
static void raise_files(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
}

static enum lks_code open_journal(struct lks_daemon *d, struct lks_err *err)
{
    const struct lks_config *c = lks_daemon_config(d);
    bool shared = c->postgres.len > 0;
    if (lks_daemon_store(d, true, &d->store->store, err) != LKS_OK)
        return shared ? lks_wrap(err, "store.postgres") : err->code;
    d->options = (struct lks_engine_options){
        .facts = &d->facts,
        .key = &d->secrets.journal,
        .version = LKS_VERSION,
        .follow = shared,
    };
    if (lks_secrets_chance(&d->options.seed, sizeof(d->options.seed), err) != LKS_OK)
        return err->code;
    if (c->keep_days == 0 || shared)
        return LKS_OK; /* a follower may not trim rows, and which controller leads is not known yet
                        */
    if (lks_seen_check(d, &d->store->store, err) != LKS_OK)
        return err->code; /* a store that was replaced stays as it was found */
    uint64_t through = 0;
    lks_ms wall = lks_daemon_now().wall, keep = c->keep_days * DAY_MS;
    if (lks_journal_trim(&d->store->store, &d->secrets.journal, wall, wall > keep ? wall - keep : 0,
                         LKS_STR(""), &through, err) != LKS_OK)
        return lks_wrap(err, "%s", c->data.ptr);
    return LKS_OK;
}

/* What a daemon that was killed left behind. */
static void sweep(const char *data)
{
    DIR *dir = opendir(data);
    for (struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;) {
        struct lks_str name = lks_str_from(entry->d_name);
        bool backup = lks_str_starts(name, "backup-") &&
                      (lks_str_ends(name, ".tmp") || lks_str_ends(name, ".tmp.journal"));
        bool snapshot = lks_str_starts(name, "snapshot-") && lks_str_ends(name, ".tmp");
        if (backup || snapshot || lks_str_is(name, "snapshot.tmp")) /* the last: of older ones */
            unlinkat(dirfd(dir), entry->d_name, 0);
    }
    if (dir != NULL)
        closedir(dir);
}

static void put_url(char *out, size_t size, struct lks_str given, struct lks_str host,
                    unsigned port)
{
    bool v6 = lks_str_find(host, LKS_STR(":")) >= 0;
    if (given.len > 0)
        snprintf(out, size, "%" LKS_STR_FMT, LKS_STR_ARG(given));
    else
        snprintf(out, size, "https://%s%" LKS_STR_FMT "%s:%u", v6 ? "[" : "", LKS_STR_ARG(host),
                 v6 ? "]" : "", port);
}

static void name_ourselves(struct lks_daemon *d)
{
    const struct lks_config *c = lks_daemon_config(d);
    struct lks_str host = c->names.items[0];
    struct lks_str name = c->controller_name.len > 0 ? c->controller_name : host;
    snprintf(d->name, sizeof(d->name), "%" LKS_STR_FMT, LKS_STR_ARG(name));
    put_url(d->url, sizeof(d->url), c->controller_url, host, lks_httpd_port(d->server->people));
    put_url(d->agents_url, sizeof(d->agents_url), c->controller_agents, host,
            lks_httpd_port(d->server->agents));
}

/* Everything up to the first request. What fails here is told on the way out. */
static enum lks_code start(struct lks_daemon *d, const char *path, struct lks_err *err)
{
    struct lks_config *config = calloc(1, sizeof(*config));
    if (config == NULL)
        return lks_fail_nomem(err);
    if (lks_config_load(path, config, err) != LKS_OK) {
        free(config);
        return err->code;
    }
    d->path = path;
    lks_daemon_config_set(d, config);
    if (lks_secrets_load(config->data.ptr, config->seal_key.ptr, &d->secrets, err) != LKS_OK ||
        lks_facts_load(lks_embedded_data, NULL, 0, &d->facts, err) != LKS_OK ||
        open_journal(d, err) != LKS_OK || lks_server_start(d->server, d, err) != LKS_OK)
        return err->code;
    name_ourselves(d);
    sweep(config->data.ptr);
    if (lks_client_thread_init(d->client, d, err) != LKS_OK)
        return err->code;
    /* The store thread waits for its first batch, so the engine may still read meanwhile. */
    if (lks_store_thread_start(d->store, d, err) != LKS_OK ||
        lks_state_thread_start(d->state, d, err) != LKS_OK)
        return err->code;
    return lks_client_thread_start(d->client, err);
}

static void say_listening(const struct lks_daemon *d)
{
    char people[16], agents[16], webhook[16] = "";
    snprintf(people, sizeof(people), "%u", lks_httpd_port(d->server->people));
    snprintf(agents, sizeof(agents), "%u", lks_httpd_port(d->server->agents));
    if (d->server->webhook != NULL)
        snprintf(webhook, sizeof(webhook), "%u", lks_httpd_port(d->server->webhook));
    struct lks_log_field fields[] = {
        {"version", lks_str_from(LKS_VERSION)},   {"people_port", lks_str_from(people)},
        {"agents_port", lks_str_from(agents)},    {"webhook_port", lks_str_from(webhook)},
        {"socket", lks_daemon_config(d)->socket},
    };
    lks_daemon_log(d, LKS_LEVEL_INFO, "listening", fields, LKS_COUNT(fields));
}

static void daemon_fini(struct lks_daemon *d)
{
    lks_oidc_free(d->oidc);
    lks_secrets_fini(&d->secrets);
    lks_facts_fini(&d->facts);
    for (size_t i = 0; i < d->config_count; i++) {
        lks_config_fini(d->configs[i]);
        free(d->configs[i]);
    }
    uv_mutex_destroy(d->log_lock);
    lks_log_fini(d->log);
}

enum lks_code lks_run_daemon(const char *path, bool accept_lost, struct lks_err *err)
{
    /* One for each process, and there to its end: threads may outlive a start that failed. */
    static struct lks_daemon one;
    static struct lks_log log;
    static uv_mutex_t lock;
    static struct lks_store_thread store;
    static struct lks_state_thread state;
    static struct lks_client_thread client;
    static struct lks_server server;
    struct lks_daemon *d = &one;
    d->store = &store;
    d->state = &state;
    d->client = &client;
    d->server = &server;
    harden();
    raise_files();
    setenv("UV_THREADPOOL_SIZE", POOL_THREADS, 0); /* read when the pool starts */
    uv_mutex_init(&lock);
    lks_log_init(&log, stderr, LKS_LEVEL_INFO, LKS_LOG_LOGFMT, log_now);
    d->log = &log;
    atomic_store(&d->lease_until, UINT64_MAX);
    d->log_lock = &lock;
    d->accept_lost = accept_lost;
    d->oidc = lks_oidc_new();
    if (d->oidc == NULL)
        return lks_fail_nomem(err);
    if (start(d, path, err) != LKS_OK)
        return err->code; /* the process is about to end: what runs already ends with it */
    say_listening(d);
    lks_server_run(d->server);
    uv_thread_join(&d->state->thread);
    uv_thread_join(&d->store->thread);
    lks_client_thread_join(d->client);
    lks_server_fini(d->server);
    lks_daemon_log(d, LKS_LEVEL_INFO, "ended", NULL, 0);
    daemon_fini(d);
    return LKS_OK;
}
