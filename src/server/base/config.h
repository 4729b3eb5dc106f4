/*
 * lockstepd's configuration: one table of keys. From it come what is accepted, the defaults, what a
 * reload may change, `--dump-config` and the reference page.
 *
 * The file is YAML. A key such as `http.idle_ms` stands as `idle_ms` inside the map `http`.
 */
#ifndef LKS_SERVER_CONFIG_H
#define LKS_SERVER_CONFIG_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/process/log.h"

#include <stdint.h>

#define LKS_CONFIG_BYTES_MAX ((size_t)64 << 10)
#define LKS_CONFIG_NAMES_MAX 64

struct lks_config_list {
    struct lks_str *items; /* in the configuration's arena */
    size_t count;
};

/* Texts live in `arena` and are terminated. */
struct lks_config {
    struct lks_arena arena;
    struct lks_str data;
    struct lks_str people_listen, agents_listen, socket;
    struct lks_config_list names;
    struct lks_str seal_key, site_ca;
    uint64_t node_days, user_days, user_hours;
    uint64_t heartbeat_ms, late_ms, lost_ms, mass_floor, mass_percent, mass_window_ms, skew_ms,
        call_nodes;
    uint64_t validity_ms, staleness_ms, outband_age_ms, proposal_age_ms;
    struct lks_str postgres;                                           /* empty: SQLite */
    uint64_t require_sync;                                             /* 1: yes */
    struct lks_str controller_name, controller_url, controller_agents; /* empty: from `names` */
    uint64_t lease_ms;
    uint64_t people_per_s, burst;
    struct lks_str admit_socket;
    uint64_t admit_connections, admit_per_s;
    uint64_t decision_sample, decision_bytes, decision_files;
    uint64_t audit_bytes, audit_files, audit_reads; /* reads: 1: yes */
    struct lks_str audit_syslog;                    /* empty: none */
    uint64_t sweep_run;                             /* 1: yes */
    uint64_t sweep_leases, sweep_site_leases;
    uint64_t bmc_concurrency, bmc_site_concurrency, bmc_timeout_ms, bmc_speed;
    struct lks_str bmc_pull; /* empty: images are pushed alone */
    struct lks_str bmc_pull_ca;
    struct lks_str metrics_url; /* empty: there is none */
    struct lks_str metrics_ca, metrics_credentials, metrics_label, metrics_load;
    uint64_t metrics_login, metrics_every_ms;
    uint64_t cadence_every_ms;
    struct lks_config_list slurm_bridges; /* SITE=URL; empty: there is no Slurm. By scheduler:
                                             server/base/bridges.h */
    struct lks_config_list simulated_bridges;
    struct lks_config_list kubernetes_bridges;
    struct lks_str kubernetes_ca, kubernetes_token_file, kubernetes_certificate, kubernetes_key;
    struct lks_str webhook_listen; /* empty: no listener for API servers */
    struct lks_str webhook_client_ca;
    struct lks_config_list webhook_clients;
    struct lks_str slurm_ca, slurm_certificate, slurm_key;
    uint64_t slurm_publish, kubernetes_publish; /* 1: yes */
    uint64_t slurm_stale_s;
    struct lks_str slurm_stale_closed; /* pools, separated by blanks */
    struct lks_str slurm_rest_user, slurm_rest_token;
    struct lks_str tickets_url; /* empty: no notifications */
    struct lks_str tickets_ca, tickets_secret;
    struct lks_config_list tickets_people; /* EXTERNAL=IDENTITY */
    struct lks_str oidc_issuer;            /* empty: there are no logins */
    struct lks_str oidc_client_id, oidc_client_secret, oidc_ca, oidc_scopes, oidc_username,
        oidc_groups;
    struct lks_config_list oidc_roles; /* GROUP=ROLE or GROUP=ROLE@POOL */
    uint64_t oidc_session_hours;
    uint64_t connections, per_address, first_ms, request_ms, idle_ms, body_max;
    uint64_t bodies_max, identity_bodies, identity_calls, address_calls;
    uint64_t event_readers, identity_readers;
    uint64_t snapshot_rows, keep_days;
    uint64_t depot_rate, depot_concurrency, depot_keep_days, depot_collect_s, depot_look_s;
    uint64_t depot_people, depot_identity, depot_stall_ms;
    uint64_t depot_artifact_max, depot_spare;
    struct lks_config_list depot_mirrors; /* SITE=URL */
    uint64_t log_level, log_format;       /* enum lks_level, enum lks_log_format */
};

enum lks_config_type {
    LKS_CONFIG_PATH,    /* absolute */
    LKS_CONFIG_TEXT,    /* a line */
    LKS_CONFIG_ADDRESS, /* ADDRESS:PORT */
    LKS_CONFIG_SECRET,  /* file:/PATH or exec:/PROGRAM */
    LKS_CONFIG_NUMBER,  /* from min to max */
    LKS_CONFIG_WORD,    /* one of `words`, kept as its place */
    LKS_CONFIG_HOSTS,   /* a list of host names and addresses */
    LKS_CONFIG_MIRRORS, /* a list of SITE=URL */
    LKS_CONFIG_BRIDGES, /* a list of SITE=URL or SITE=unix:/PATH, or with "rest+" before the
                           address; "*": every site */
    LKS_CONFIG_PEOPLE,  /* a list of NAME=IDENTITY */
    LKS_CONFIG_ROLES,   /* a list of GROUP=ROLE or GROUP=ROLE@POOL */
};

struct lks_config_key {
    const char *key; /* dotted */
    enum lks_config_type type;
    const char *fallback; /* NULL: has to be given; "$data/x": within the data directory */
    uint64_t min, max;
    const char *const *words; /* WORD: ends with NULL */
    bool reloadable;
    size_t offset; /* in struct lks_config */
    const char *about;
};
extern const struct lks_config_key lks_config_keys[];
extern const size_t lks_config_key_count;

/* Read a configuration. The message of a failure is one line with the place and what to do.
 * On success the caller owes lks_config_fini(). */
enum lks_code lks_config_parse(const char *source, struct lks_str text, struct lks_config *out,
                               struct lks_err *err) LKS_MUST_CHECK;
enum lks_code lks_config_load(const char *path, struct lks_config *out,
                              struct lks_err *err) LKS_MUST_CHECK;
void lks_config_fini(struct lks_config *c);

/* Every effective value with its meaning, in a form that lks_config_parse() reads again. */
void lks_config_dump(const struct lks_config *c, struct lks_buf *out);

/* Whether `key` has the same value in both. */
bool lks_config_same(const struct lks_config *a, const struct lks_config *b,
                     const struct lks_config_key *key);

/* Give `to` the value that `from` has; texts stay those of `from`, which has to outlive it. */
void lks_config_take(struct lks_config *to, const struct lks_config *from,
                     const struct lks_config_key *key);

#endif
