#include "drivers/http/login.h"

#include "codec/format/json.h"
#include "drivers/store/secrets.h"

#include <stdlib.h>

static void wipe(struct lks_buf *b)
{
    if (b->ptr != NULL)
        explicit_bzero(b->ptr, b->cap);
    lks_buf_fini(b);
}

/* Which reference it is --------------------------------------------------------------------- */

/* The reference itself is not repeated: it may be a password that was written in its place. */
enum lks_code lks_login_check(const char *reference, struct lks_err *err)
{
    struct lks_str all = lks_str_from(reference), kind, name;
    bool good = all.len <= LKS_LOGIN_REFERENCE_MAX && lks_str_printable(all) &&
                lks_str_cut(all, ':', &kind, &name);
    if (good && lks_str_is(kind, "env"))
        good = lks_str_is_variable(name);
    else
        good = good && (lks_str_is(kind, "file") || lks_str_is(kind, "exec")) && name.len > 1 &&
               name.ptr[0] == '/';
    if (good)
        return LKS_OK;
    return lks_fail(err, LKS_E_INVALID,
                    "credentials are given by reference: file:/PATH, exec:/PROGRAM or env:NAME");
}

static enum lks_code read_reference(const char *reference, struct lks_buf *out, struct lks_err *err)
{
    struct lks_str kind, name;
    lks_str_cut(lks_str_from(reference), ':', &kind, &name);
    if (!lks_str_is(kind, "env")) /* what is behind the first ':' ends where the reference does */
        return lks_secrets_text(kind, name.ptr, "credentials", out, err);
    const char *value = getenv(name.ptr);
    if (value == NULL)
        return lks_fail(err, LKS_E_NOT_FOUND, "the variable %s is not set", name.ptr);
    lks_buf_add(out, lks_str_from(value));
    return LKS_OK;
}

/* What is in it ----------------------------------------------------------------------------- */

static bool put(char *out, size_t size, struct lks_str value)
{
    if (value.len == 0 || value.len >= size || memchr(value.ptr, '\0', value.len) != NULL)
        return false;
    memcpy(out, value.ptr, value.len);
    out[value.len] = '\0';
    return true;
}

static bool take(struct lks_str user, struct lks_str password, struct lks_bmc_secret *out)
{
    return put(out->user, sizeof(out->user), user) &&
           put(out->password, sizeof(out->password), password);
}

static bool from_line(struct lks_str text, struct lks_bmc_secret *out)
{
    struct lks_str line, rest, user, password;
    lks_str_cut(text, '\n', &line, &rest);
    if (line.len > 0 && line.ptr[line.len - 1] == '\r')
        line.len--;
    return rest.len == 0 && lks_str_cut(line, ':', &user, &password) && take(user, password, out);
}

static bool from_json(struct lks_str text, struct lks_bmc_secret *out)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_err err;
    if (lks_docs_init(&docs, "credentials", &err) != LKS_OK ||
        lks_json_parse(text, &docs, &err) != LKS_OK)
        return false;
    struct lks_str password = lks_doc_text(docs.first, "password");
    bool good = take(lks_doc_text(docs.first, "user"), password, out);
    if (password.len > 0)
        explicit_bzero((char *)password.ptr, password.len); /* ours, in `docs` */
    return good;
}

enum lks_code lks_login_get(const char *reference, struct lks_bmc_secret *out, struct lks_err *err)
{
    LKS_CLEANUP(wipe) struct lks_buf bytes = {0};
    struct lks_bmc_secret read = {0};
    if (lks_login_check(reference, err) != LKS_OK)
        return err->code;
    lks_buf_init(&bytes, LKS_LOGIN_BYTES_MAX);
    if (read_reference(reference, &bytes, err) != LKS_OK)
        return lks_wrap(err, "credentials");
    struct lks_str text = lks_buf_view(&bytes);
    bool good = bytes.failed == LKS_OK &&
                (lks_str_starts(text, "{") ? from_json(text, &read) : from_line(text, &read));
    if (good) {
        memcpy(out->user, read.user, sizeof(out->user));
        memcpy(out->password, read.password, sizeof(out->password));
    }
    lks_login_wipe(&read);
    if (!good)
        return lks_fail(err, LKS_E_INVALID,
                        "credentials: %s holds neither one line USER:PASSWORD nor "
                        "{\"user\": ..., \"password\": ...}",
                        reference);
    return LKS_OK;
}

void lks_login_wipe(struct lks_bmc_secret *secret)
{
    explicit_bzero(secret, sizeof(*secret));
}
