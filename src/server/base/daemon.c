#include "base/vec.h"
#include "drivers/store/postgres.h"
#include "drivers/store/sqlite.h"
#include "server/base/daemon_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { PATH_BYTES_MAX = 4096 };

const struct lks_facts *lks_daemon_facts(const struct lks_daemon *d)
{
    return &d->facts;
}

const struct lks_secrets *lks_daemon_secrets(const struct lks_daemon *d)
{
    return &d->secrets;
}

const struct lks_engine_options *lks_daemon_engine_options(const struct lks_daemon *d)
{
    return &d->options;
}

const struct lks_config *lks_daemon_config(const struct lks_daemon *d)
{
    return atomic_load(&d->config);
}

const char *lks_daemon_agents_url(const struct lks_daemon *d)
{
    return d->agents_url;
}

uint64_t lks_daemon_epoch(const struct lks_daemon *d)
{
    return atomic_load(&d->epoch);
}

void lks_daemon_epoch_set(struct lks_daemon *d, uint64_t epoch)
{
    atomic_store(&d->epoch, epoch);
}

struct lks_oidc *lks_daemon_oidc(const struct lks_daemon *d)
{
    return d->oidc;
}

struct lks_metrics_bmc lks_daemon_bmc(const struct lks_daemon *d)
{
    const struct lks_client_counts *c = &d->counts;
    return (struct lks_metrics_bmc){
        .requests = atomic_load(&c->requests),
        .read = atomic_load(&c->read),
        .failed = atomic_load(&c->failed),
    };
}

const char *lks_daemon_name(const struct lks_daemon *d)
{
    return d->name;
}

const char *lks_daemon_url(const struct lks_daemon *d)
{
    return d->url;
}

enum lks_code lks_daemon_store(const struct lks_daemon *d, bool own, struct lks_store *out,
                               struct lks_err *err)
{
    const struct lks_config *c = lks_daemon_config(d);
    char path[PATH_BYTES_MAX];
    if (c->postgres.len > 0)
        return lks_store_postgres_open(c->postgres.ptr, own ? LKS_STORE_OWN : LKS_STORE_READ, out,
                                       err);
    snprintf(path, sizeof(path), "%s/journal.db", c->data.ptr);
    return lks_store_sqlite_open(path, own ? LKS_STORE_OWN : LKS_STORE_READ, out, err);
}

static lks_ms clock_ms(clockid_t clock)
{
    struct timespec ts;
    clock_gettime(clock, &ts);
    return (lks_ms)ts.tv_sec * LKS_SECOND + (lks_ms)ts.tv_nsec / 1000000;
}

struct lks_now lks_daemon_now(void)
{
    return (struct lks_now){.wall = clock_ms(CLOCK_REALTIME), .mono = clock_ms(CLOCK_MONOTONIC)};
}

void lks_daemon_log(const struct lks_daemon *d, enum lks_level level, const char *msg,
                    const struct lks_log_field *fields, size_t count)
{
    uv_mutex_lock(d->log_lock);
    lks_log_event(d->log, level, msg, fields, count);
    uv_mutex_unlock(d->log_lock);
}

_Noreturn void lks_daemon_die(const struct lks_daemon *d, const char *msg,
                              const struct lks_err *err)
{
    struct lks_log_field field = {"cause", lks_str_from(err != NULL ? err->msg : "")};
    lks_daemon_log(d, LKS_LEVEL_ERROR, msg, &field, 1);
    abort();
}

void lks_daemon_config_set(struct lks_daemon *d, struct lks_config *config)
{
    LKS_ASSERT(d->config_count < LKS_COUNT(d->configs));
    d->configs[d->config_count++] = config;
    atomic_store(&d->config, config);
    uv_mutex_lock(d->log_lock);
    d->log->least = (enum lks_level)config->log_level;
    d->log->format = (enum lks_log_format)config->log_format;
    uv_mutex_unlock(d->log_lock);
}

uint8_t *lks_daemon_grow(const struct lks_daemon *d, uint8_t *flags, uint32_t *room, uint32_t node)
{
    if (LKS_VEC_RESERVE(flags, *room, (size_t)node + 1, NULL) != LKS_OK)
        lks_daemon_die(d, "out of memory", NULL);
    return flags;
}
