#include "server/base/secrets.h"

#include "base/file.h"
#include "drivers/store/secrets.h"
#include "server/base/config.h"
#include "trust/webhook.h"
#include "trust/x509.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>

enum { SERVER_DAYS = 825, DAY_SECONDS = 86400 };

enum lks_code lks_secrets_chance(void *out, size_t len, struct lks_err *err)
{
    if (getrandom(out, len, 0) != (ssize_t)len)
        return lks_fail(err, LKS_E_IO, "the kernel gives no random bytes: %s", strerror(errno));
    return LKS_OK;
}

void lks_secrets_wipe(struct lks_buf *b)
{
    if (b->ptr != NULL)
        explicit_bzero(b->ptr, b->cap);
    lks_buf_fini(b);
}

static enum lks_code path_of(const char *data, const char *name, char out[PATH_MAX],
                             struct lks_err *err)
{
    int len = snprintf(out, PATH_MAX, "%s/%s", data, name);
    if (len < 0 || len >= PATH_MAX)
        return lks_fail(err, LKS_E_INVALID, "%s: too long for a path", data);
    return LKS_OK;
}

static enum lks_code read_file(const char *data, const char *name, struct lks_buf *out,
                               struct lks_err *err)
{
    char path[PATH_MAX];
    if (path_of(data, name, path, err) != LKS_OK)
        return err->code;
    lks_buf_init(out, LKS_SECRET_MAX);
    return lks_file_read_plain(path, out, err);
}

static enum lks_code unseal(const char *data, const struct lks_seal_key *seal, const char *name,
                            struct lks_buf *out, struct lks_err *err)
{
    lks_buf_init(out, LKS_SECRET_MAX);
    return lks_secrets_read(data, seal, name, out, err);
}

static enum lks_code unseal_key(const char *data, const struct lks_seal_key *seal, const char *name,
                                struct lks_key *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_secrets_wipe) struct lks_buf seed = {0};
    if (unseal(data, seal, name, &seed, err) != LKS_OK)
        return err->code;
    if (seed.len != LKS_KEY_BYTES)
        return lks_fail(err, LKS_E_INVALID, "%s/secrets/%s.sealed: is not a key", data, name);
    return lks_key_make((const uint8_t *)seed.ptr, out, err);
}

enum lks_code lks_secrets_server(const char *data, const struct lks_seal_key *seal,
                                 struct lks_buf *certificate, struct lks_buf *key,
                                 struct lks_err *err)
{
    if (read_file(data, "server.crt", certificate, err) != LKS_OK)
        return err->code;
    return unseal(data, seal, "server.key", key, err);
}

enum lks_code lks_secrets_certify(struct lks_str ca, struct lks_str ca_key, struct lks_str key,
                                  const struct lks_config_list *names, int64_t now,
                                  struct lks_buf *pem, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf request = LKS_BUF(LKS_X509_PEM_MAX);
    struct lks_x509_about about;
    struct lks_x509_wish wish = {
        .use = LKS_X509_SERVER,
        .name = names->items[0],
        .alternatives = names->items,
        .alternative_count = names->count,
        .now = now,
        .seconds = (int64_t)SERVER_DAYS * DAY_SECONDS,
    };
    if (lks_x509_request(key, wish.name, &request, err) != LKS_OK)
        return err->code;
    return lks_x509_issue(ca, ca_key, lks_buf_view(&request), &wish, pem, &about, err);
}

/* Whether `pem` is good for longer than `than`: no certificate outlives its CA. */
static bool lasts_longer(const struct lks_buf *pem, int64_t than)
{
    struct lks_x509_about about;
    struct lks_err ignored = {0};
    return lks_x509_read(lks_buf_view(pem), &about, &ignored) == LKS_OK && about.not_after > than;
}

enum lks_code lks_secrets_renew(const struct lks_config *config, const struct lks_secrets *s,
                                struct lks_str key, int64_t now, struct lks_buf *certificate,
                                bool *renewed, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf pem = LKS_BUF(LKS_SECRET_MAX);
    struct lks_str ca = lks_buf_view(&s->ca), old = lks_buf_view(certificate);
    struct lks_x509_about about;
    char path[PATH_MAX];
    *renewed = false;
    if (lks_x509_read(old, &about, err) != LKS_OK)
        return err->code;
    if (about.not_after - now > (int64_t)LKS_SECRETS_RENEW_DAYS * DAY_SECONDS ||
        !lks_x509_issued_by(old, ca) || !lks_x509_key_fits(old, key))
        return LKS_OK;
    if (lks_secrets_certify(ca, lks_buf_view(&s->ca_key), key, &config->names, now, &pem, err) !=
        LKS_OK)
        return err->code;
    if (!lasts_longer(&pem, about.not_after))
        return LKS_OK;
    if (path_of(config->data.ptr, "server.crt", path, err) != LKS_OK ||
        lks_file_replace(path, lks_buf_view(&pem), err) != LKS_OK)
        return err->code;
    if (chmod(path, 0644) != 0)
        return lks_file_fail(err, path);
    lks_buf_fini(certificate);
    *certificate = LKS_MOVE(pem);
    *renewed = true;
    return LKS_OK;
}

enum lks_code lks_secrets_site(const char *path, struct lks_buf *out, struct lks_err *err)
{
    size_t start = out->len;
    struct lks_x509_about about;
    if (path[0] == '\0')
        return lks_buf_check(out, err);
    if (lks_file_read_plain(path, out, err) != LKS_OK)
        return lks_wrap(err, "tls.site_ca");
    struct lks_str pem = {out->ptr + start, out->len - start};
    if (lks_str_find(pem, LKS_STR("-----BEGIN ")) < 0 || lks_x509_read(pem, &about, err) != LKS_OK)
        return lks_fail(err, LKS_E_INVALID,
                        "tls.site_ca: %s: has no certificate in PEM; name a file that has the "
                        "site's, or leave the key out",
                        path);
    return LKS_OK;
}

enum lks_code lks_secrets_webhook(const struct lks_config *config, struct lks_buf *out,
                                  struct lks_err *err)
{
    struct lks_x509_about about;
    lks_buf_init(out, LKS_X509_PEM_MAX * 8);
    if (lks_file_read_plain(config->webhook_client_ca.ptr, out, err) != LKS_OK ||
        lks_x509_read(lks_buf_view(out), &about, err) != LKS_OK)
        return lks_wrap(err, "webhook.client_ca");
    return LKS_OK;
}

enum lks_code lks_secrets_load(const char *data, const char *reference, struct lks_secrets *out,
                               struct lks_err *err)
{
    LKS_CLEANUP(lks_secrets_fini) struct lks_secrets s = {0};
    if (lks_secrets_key(data, reference, &s.seal, err) != LKS_OK ||
        unseal_key(data, &s.seal, "journal.key", &s.journal, err) != LKS_OK ||
        unseal_key(data, &s.seal, "command.key", &s.command, err) != LKS_OK ||
        read_file(data, "ca.crt", &s.ca, err) != LKS_OK ||
        unseal(data, &s.seal, "ca.key", &s.ca_key, err) != LKS_OK ||
        lks_secrets_server(data, &s.seal, &s.server, &s.server_key, err) != LKS_OK)
        return err->code;
    struct lks_public_key journal = lks_key_public(&s.journal);
    struct lks_public_key command = lks_key_public(&s.command);
    lks_key_public_text(&journal, s.journal_public);
    lks_key_public_text(&command, s.command_public);
    *out = LKS_MOVE(s);
    return LKS_OK;
}

void lks_secrets_fini(struct lks_secrets *s)
{
    lks_key_wipe(&s->journal);
    lks_key_wipe(&s->command);
    lks_secrets_wipe(&s->ca_key);
    lks_secrets_wipe(&s->server_key);
    lks_buf_fini_all((struct lks_buf *const[]){&s->ca, &s->server, NULL});
    explicit_bzero(s, sizeof(*s));
}

enum lks_code lks_secrets_ticket(const struct lks_config *config, struct lks_buf *space,
                                 struct lks_str *out, struct lks_err *err)
{
    struct lks_str kind, path;
    bool split = lks_str_cut(config->tickets_secret, ':', &kind, &path);
    if (!split)
        return lks_fail(err, LKS_E_DENIED, "no ticket system is known: tickets.secret is not set");
    if (lks_secrets_text(kind, path.ptr, "secret", space, err) != LKS_OK)
        return err->code;
    return lks_webhook_secret(lks_buf_view(space), out, err);
}

/* A text without the ends of its lines. */
static struct lks_str one_line(const struct lks_buf *text)
{
    struct lks_str s = lks_str_trim(lks_buf_view(text));
    while (lks_str_ends(s, "\n"))
        s = lks_str_trim((struct lks_str){s.ptr, s.len - 1});
    return s;
}

/* `scontrol token` prints SLURM_JWT=TOKEN: the file may be what it printed. */
enum lks_code lks_secrets_slurm(const struct lks_config *config, struct lks_buf *space,
                                struct lks_str *out, struct lks_err *err)
{
    static const char printed[] = "SLURM_JWT=";
    struct lks_str kind, path;
    *out = (struct lks_str){"", 0};
    if (!lks_str_cut(config->slurm_rest_token, ':', &kind, &path))
        return LKS_OK;
    if (lks_secrets_text(kind, path.ptr, "token", space, err) != LKS_OK)
        return lks_wrap(err, "slurm.rest_token");
    *out = one_line(space);
    if (lks_str_starts(*out, printed))
        *out = (struct lks_str){out->ptr + strlen(printed), out->len - strlen(printed)};
    return out->len > 0 ? LKS_OK : lks_fail(err, LKS_E_INVALID, "slurm.rest_token: is empty");
}

enum lks_code lks_secrets_kubernetes(const struct lks_config *config, struct lks_buf *space,
                                     struct lks_str *out, struct lks_err *err)
{
    *out = (struct lks_str){"", 0};
    if (config->kubernetes_token_file.len == 0)
        return LKS_OK;
    if (lks_secrets_text(LKS_STR("file"), config->kubernetes_token_file.ptr, "token", space, err) !=
        LKS_OK)
        return lks_wrap(err, "kubernetes.token_file");
    *out = one_line(space);
    return out->len > 0 ? LKS_OK : lks_fail(err, LKS_E_INVALID, "kubernetes.token_file: is empty");
}
