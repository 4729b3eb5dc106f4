#include "server/start/selfcheck.h"

#include "base/file.h"
#include "drivers/http/login.h"
#include "drivers/store/postgres.h"
#include "drivers/store/secrets.h"
#include "port/measures.h"
#include "server/auth/oidc.h"
#include "server/base/config.h"
#include "server/base/secrets.h"
#include "trust/x509.h"

enum { CA_BYTES_MAX = 4 << 20 }; /* a distribution's whole list has a quarter of a MiB */

/* The authority that certifies a peer, a certificate or a key. libcurl reads it when it is used;
 * here it is enough that there is one. */
static enum lks_code check_ca(const char *key, struct lks_str path, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf pem = LKS_BUF(CA_BYTES_MAX);
    if (path.len == 0)
        return LKS_OK;
    if (lks_file_read_plain(path.ptr, &pem, err) != LKS_OK)
        return lks_wrap(err, "%s", key);
    if (lks_str_find(lks_buf_view(&pem), LKS_STR("-----BEGIN ")) < 0)
        return lks_fail(err, LKS_E_INVALID,
                        "%s: %.200s: has no certificate or key in PEM; name a file that has one",
                        key, path.ptr);
    return LKS_OK;
}

/* A variable of the environment is the daemon's, and not that of the person who checks. */
static enum lks_code check_metrics(const struct lks_config *c, struct lks_err *err)
{
    struct lks_bmc_secret secret = {0};
    bool used = c->metrics_url.len > 0 && c->metrics_login != LKS_MEASURE_OPEN &&
                !lks_str_starts(c->metrics_credentials, "env:");
    enum lks_code code = check_ca("metrics.ca", c->metrics_ca, err);
    if (code == LKS_OK && used && lks_login_get(c->metrics_credentials.ptr, &secret, err) != LKS_OK)
        code = lks_wrap(err, "metrics");
    lks_login_wipe(&secret);
    return code;
}

static enum lks_code check_tickets(const struct lks_config *c, struct lks_err *err)
{
    LKS_CLEANUP(lks_secrets_wipe) struct lks_buf space = {0};
    struct lks_str secret;
    lks_buf_init(&space, LKS_SECRET_MAX);
    if (check_ca("tickets.ca", c->tickets_ca, err) != LKS_OK)
        return err->code;
    if (c->tickets_secret.len > 0 && lks_secrets_ticket(c, &space, &secret, err) != LKS_OK)
        return lks_wrap(err, "tickets.secret");
    return LKS_OK;
}

static enum lks_code check_oidc(const struct lks_config *c, struct lks_err *err)
{
    LKS_CLEANUP(lks_secrets_wipe) struct lks_buf space = {0};
    lks_buf_init(&space, LKS_SECRET_MAX);
    if (c->oidc_issuer.len == 0)
        return LKS_OK;
    if (check_ca("oidc.ca", c->oidc_ca, err) != LKS_OK)
        return err->code;
    return lks_oidc_secret(c, &space, err);
}

/* What lockstepd shows to bridges, and knows them by. */
static enum lks_code check_bridges(const struct lks_config *c, struct lks_err *err)
{
    LKS_CLEANUP(lks_secrets_wipe) struct lks_buf space = {0};
    struct lks_str token;
    lks_buf_init(&space, LKS_SECRET_MAX);
    if (check_ca("slurm.ca", c->slurm_ca, err) != LKS_OK ||
        check_ca("slurm.certificate", c->slurm_certificate, err) != LKS_OK ||
        check_ca("slurm.key", c->slurm_key, err) != LKS_OK ||
        check_ca("kubernetes.ca", c->kubernetes_ca, err) != LKS_OK ||
        check_ca("kubernetes.certificate", c->kubernetes_certificate, err) != LKS_OK ||
        check_ca("kubernetes.key", c->kubernetes_key, err) != LKS_OK ||
        lks_secrets_slurm(c, &space, &token, err) != LKS_OK)
        return err->code;
    lks_buf_truncate(&space, 0);
    return lks_secrets_kubernetes(c, &space, &token, err);
}

/* The listener does not start without it. */
static enum lks_code check_webhook(const struct lks_config *c, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf pem = {0};
    return c->webhook_listen.len > 0 ? lks_secrets_webhook(c, &pem, err) : LKS_OK;
}

static enum lks_code check_store(const struct lks_config *c, struct lks_err *err)
{
    if (c->postgres.len > 0 && lks_store_postgres_files(c->postgres.ptr, err) != LKS_OK)
        return lks_wrap(err, "store.postgres");
    return LKS_OK;
}

enum lks_code lks_selfcheck_run(const char *path, struct lks_err *err)
{
    LKS_CLEANUP(lks_config_fini) struct lks_config config = {0};
    LKS_CLEANUP(lks_secrets_fini) struct lks_secrets secrets = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf site = LKS_BUF(LKS_X509_PEM_MAX * 8);
    if (lks_config_load(path, &config, err) != LKS_OK ||
        lks_secrets_load(config.data.ptr, config.seal_key.ptr, &secrets, err) != LKS_OK ||
        lks_secrets_site(config.site_ca.ptr, &site, err) != LKS_OK ||
        check_metrics(&config, err) != LKS_OK || check_tickets(&config, err) != LKS_OK ||
        check_oidc(&config, err) != LKS_OK || check_bridges(&config, err) != LKS_OK ||
        check_ca("bmc.pull_ca", config.bmc_pull_ca, err) != LKS_OK ||
        check_webhook(&config, err) != LKS_OK)
        return err->code;
    return check_store(&config, err);
}
