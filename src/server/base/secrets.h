/* The keys a daemon works with, in memory. On disk they are sealed (drivers/store/secrets.h).
 */
#ifndef LKS_SERVER_SECRETS_H
#define LKS_SERVER_SECRETS_H

#include "trust/key.h"
#include "trust/seal.h"

struct lks_config;
struct lks_config_list;

struct lks_secrets {
    struct lks_seal_key seal;
    struct lks_key journal, command;
    struct lks_buf ca_key, ca, server_key, server; /* PEM */
    char journal_public[LKS_KEY_TEXT_SIZE], command_public[LKS_KEY_TEXT_SIZE];
};

/* All of them from the data directory; `reference` tells where the sealing key is. */
enum lks_code lks_secrets_load(const char *data, const char *reference, struct lks_secrets *out,
                               struct lks_err *err) LKS_MUST_CHECK;
/* Wipes them. */
void lks_secrets_fini(struct lks_secrets *s);

/* The server's certificate and key anew, for a reload. */
enum lks_code lks_secrets_server(const char *data, const struct lks_seal_key *seal,
                                 struct lks_buf *certificate, struct lks_buf *key,
                                 struct lks_err *err) LKS_MUST_CHECK;

/* A certificate of the server for `key`, issued by the built-in CA at `now` (seconds since 1970).
 */
enum lks_code lks_secrets_certify(struct lks_str ca, struct lks_str ca_key, struct lks_str key,
                                  const struct lks_config_list *names, int64_t now,
                                  struct lks_buf *pem, struct lks_err *err) LKS_MUST_CHECK;

/* Where server.crt is of the built-in CA and ends within LKS_SECRETS_RENEW_DAYS: another one with
 * the same key, for the names of the configuration, in the data directory and in `certificate`.
 * Certificates of another CA stay. */
enum { LKS_SECRETS_RENEW_DAYS = 60 };
enum lks_code lks_secrets_renew(const struct lks_config *config, const struct lks_secrets *s,
                                struct lks_str key, int64_t now, struct lks_buf *certificate,
                                bool *renewed, struct lks_err *err) LKS_MUST_CHECK;

/* The CA certificates of the site from `path`, behind what is in `out`; "": none. */
enum lks_code lks_secrets_site(const char *path, struct lks_buf *out,
                               struct lks_err *err) LKS_MUST_CHECK;

/* The CA certificates of `webhook.client_ca`; `out` is empty before. */
enum lks_code lks_secrets_webhook(const struct lks_config *config, struct lks_buf *out,
                                  struct lks_err *err) LKS_MUST_CHECK;

/* The secret that is shared with the ticket system; `space` holds it and is to be wiped. Blocks, so
 * not on the state thread. */
enum lks_code lks_secrets_ticket(const struct lks_config *config, struct lks_buf *space,
                                 struct lks_str *out, struct lks_err *err) LKS_MUST_CHECK;

/* The token that slurmrestd knows us by, empty where none is configured; the same about `space`. A
 * file is read each time, so that a token can be renewed. */
enum lks_code lks_secrets_slurm(const struct lks_config *config, struct lks_buf *space,
                                struct lks_str *out, struct lks_err *err) LKS_MUST_CHECK;

/* The same of the token for an API server of Kubernetes. */
enum lks_code lks_secrets_kubernetes(const struct lks_config *config, struct lks_buf *space,
                                     struct lks_str *out, struct lks_err *err) LKS_MUST_CHECK;

/* For buffers that held a secret. */
void lks_secrets_wipe(struct lks_buf *b);

/* Chance from the kernel. */
enum lks_code lks_secrets_chance(void *out, size_t len, struct lks_err *err) LKS_MUST_CHECK;

#endif
