/* What a daemon is made of, for the files that run it; all others ask by server/base/daemon.h. */
#ifndef LKS_SERVER_DAEMON_PARTS_H
#define LKS_SERVER_DAEMON_PARTS_H

#include "drivers/store/seen.h"
#include "model/facts/facts.h"
#include "server/base/daemon.h"

#include <stdatomic.h>
#include <uv.h>

#define LKS_AGENTS_URL_SIZE 1100

struct lks_client_thread;
struct lks_server;
struct lks_state_thread;
struct lks_store_thread;

struct lks_client_counts { /* for the metrics; from any thread */
    atomic_uint_fast64_t requests, read, failed;
};

struct lks_daemon {
    _Atomic(const struct lks_config *) config;
    struct lks_config *configs[64]; /* all there were, so that readers need no lock */
    size_t config_count;
    const char *path;
    struct lks_secrets secrets;
    struct lks_facts facts;
    struct lks_engine_options options;
    bool accept_lost; /* a person takes the store as it is */
    struct {
        struct lks_seen found;
        bool missing; /* there is no such file */
        bool lost;    /* and it was accepted that the store lost rows */
    } seen;
    struct lks_log *log;
    uv_mutex_t *log_lock;
    atomic_uint_fast64_t epoch;
    /* CLOCK_BOOTTIME until which we may answer as the one who leads; UINT64_MAX: there is no lease
     * to go by, since we follow or are the only controller. */
    atomic_uint_fast64_t lease_until;
    char name[LKS_STORE_NAME_SIZE]; /* of this controller */
    char url[LKS_STORE_URL_SIZE];   /* where the others reach it */
    char agents_url[LKS_AGENTS_URL_SIZE];
    struct lks_oidc *oidc; /* owned; behind a lock of its own */
    struct lks_client_counts counts;
    /* The threads, opaque here (server/threads/threads.h). */
    struct lks_store_thread *store;
    struct lks_state_thread *state;
    struct lks_client_thread *client;
    struct lks_server *server;
};

/* `flags`, one for each node, with room for more than `node`; new ones are 0. Dies when memory runs
 * out. */
uint8_t *lks_daemon_grow(const struct lks_daemon *d, uint8_t *flags, uint32_t *room, uint32_t node);

/* Use a newly read configuration; reloadable keys alone differ from the one before. */
void lks_daemon_config_set(struct lks_daemon *d, struct lks_config *config);

#endif
