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

static enum lks_code read_file(const char *data, const char *name, struct lks_buf *out,
                               struct lks_err *err)
{
    char path[PATH_MAX];
    int len = snprintf(path, sizeof(path), "%s/%s", data, name);
    if (len < 0 || (size_t)len >= sizeof(path))
        return lks_fail(err, LKS_E_INVALID, "%s: too long for a path", data);
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
