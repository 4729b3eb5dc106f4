#include "agent/state/identity.h"

#define NEW_KEY         "agent.new.key"
#define NEW_CERTIFICATE "agent.new.crt"

/* Both files, if both are there and belong together. */
static bool read_pair(const struct lks_statedir *dir, const char *key_name, const char *crt_name,
                      struct lks_x509_about *about)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf key = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf crt = {0};
    struct lks_err ignored = {0};
    bool fits = lks_statedir_read(dir, key_name, LKS_X509_PEM_MAX, &key, &ignored) == LKS_OK &&
                lks_statedir_read(dir, crt_name, LKS_X509_PEM_MAX, &crt, &ignored) == LKS_OK &&
                lks_x509_read(lks_buf_view(&crt), about, &ignored) == LKS_OK &&
                lks_x509_key_fits(lks_buf_view(&crt), lks_buf_view(&key));
    if (key.ptr != NULL)
        explicit_bzero(key.ptr, key.len);
    return fits;
}

enum lks_code lks_identity_load(const struct lks_statedir *dir, struct lks_identity *out,
                                struct lks_err *err)
{
    struct lks_identity id = {0};
    bool whole = read_pair(dir, LKS_IDENTITY_KEY, LKS_IDENTITY_CERTIFICATE, &id.about);
    if (!whole && read_pair(dir, LKS_IDENTITY_KEY, NEW_CERTIFICATE, &id.about)) {
        /* The key was renamed, and then we died. */
        if (lks_statedir_rename(dir, NEW_CERTIFICATE, LKS_IDENTITY_CERTIFICATE, err) != LKS_OK)
            return err->code;
        whole = true;
    }
    if (!whole)
        return lks_fail(err, LKS_E_INVALID,
                        "%s: " LKS_IDENTITY_KEY " and " LKS_IDENTITY_CERTIFICATE
                        " do not belong together; enrol this node anew with an empty --state",
                        dir->path);
    id.renewed = read_pair(dir, NEW_KEY, NEW_CERTIFICATE, &id.about_new);
    id.on_trial = id.renewed;
    *out = id;
    return LKS_OK;
}

enum lks_code lks_identity_first_key(const struct lks_statedir *dir, struct lks_buf *pem,
                                     struct lks_err *err)
{
    enum lks_code code = lks_statedir_read(dir, LKS_IDENTITY_KEY, LKS_X509_PEM_MAX, pem, err);
    if (code != LKS_E_NOT_FOUND)
        return code;
    lks_buf_init(pem, LKS_X509_PEM_MAX);
    if (lks_x509_key(pem, err) != LKS_OK)
        return err->code;
    return lks_statedir_write(dir, LKS_IDENTITY_KEY, lks_buf_view(pem), err);
}

enum lks_code lks_identity_renew(const struct lks_statedir *dir, struct lks_identity *id,
                                 struct lks_str key, struct lks_str certificate,
                                 struct lks_err *err)
{
    struct lks_x509_about about = {0};
    if (lks_x509_read(certificate, &about, err) != LKS_OK)
        return lks_wrap(err, "the renewed certificate");
    if (strcmp(about.name, id->about.name) != 0)
        return lks_fail(err, LKS_E_INVALID, "the renewed certificate is for '%s', not for '%s'",
                        about.name, id->about.name);
    if (!lks_x509_key_fits(certificate, key))
        return lks_fail(err, LKS_E_INVALID, "the renewed certificate is for another key");
    /* An old certificate beside the new key would not fit, and be left alone, so order is free. */
    if (lks_statedir_write(dir, NEW_KEY, key, err) != LKS_OK ||
        lks_statedir_write(dir, NEW_CERTIFICATE, certificate, err) != LKS_OK)
        return err->code;
    id->about_new = about;
    id->renewed = id->on_trial = true;
    id->fails = 0;
    return LKS_OK;
}

/* The certificate first: without it the key beside it is nothing. */
static enum lks_code give_up(const struct lks_statedir *dir, struct lks_identity *id,
                             struct lks_err *err)
{
    if (lks_statedir_remove(dir, NEW_CERTIFICATE, err) != LKS_OK ||
        lks_statedir_remove(dir, NEW_KEY, err) != LKS_OK)
        return err->code;
    *id = (struct lks_identity){.about = id->about};
    return LKS_OK;
}

enum lks_code lks_identity_worked(const struct lks_statedir *dir, struct lks_identity *id,
                                  bool *anew, struct lks_err *err)
{
    *anew = false;
    if (!id->renewed)
        return LKS_OK;
    if (!id->on_trial) {
        if (++id->fails >= LKS_IDENTITY_TRIALS_MAX)
            return give_up(dir, id, err);
        id->on_trial = *anew = true;
        return LKS_OK;
    }
    if (lks_statedir_rename(dir, NEW_KEY, LKS_IDENTITY_KEY, err) != LKS_OK ||
        lks_statedir_rename(dir, NEW_CERTIFICATE, LKS_IDENTITY_CERTIFICATE, err) != LKS_OK)
        return err->code;
    *id = (struct lks_identity){.about = id->about_new};
    return LKS_OK;
}

bool lks_identity_failed(struct lks_identity *id)
{
    if (id->renewed)
        id->on_trial = !id->on_trial;
    return id->renewed;
}

const char *lks_identity_key_file(const struct lks_identity *id)
{
    return id->on_trial ? NEW_KEY : LKS_IDENTITY_KEY;
}

const char *lks_identity_certificate_file(const struct lks_identity *id)
{
    return id->on_trial ? NEW_CERTIFICATE : LKS_IDENTITY_CERTIFICATE;
}
