#include "lab/bmcd/certs.h"

#include "trust/x509.h"

#define LIFE_S INT64_C(31536000) /* a year */

static void init(struct lks_buf *certificate, struct lks_buf *key)
{
    lks_buf_init(certificate, LKS_X509_PEM_MAX);
    lks_buf_init(key, LKS_X509_PEM_MAX);
}

void lks_certs_fini(struct lks_certs *c)
{
    lks_buf_fini(&c->certificate);
    lks_buf_fini(&c->key);
}

void lks_certs_pair_fini(struct lks_certs_pair *p)
{
    lks_buf_fini(&p->certificate);
    lks_buf_fini(&p->key);
}

enum lks_code lks_certs_make(int64_t now, struct lks_certs *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_certs_fini) struct lks_certs c = {.now = now};
    const struct lks_x509_wish wish = {
        .use = LKS_X509_CA, .name = LKS_STR("lockstep-bmcsim"), .now = now, .seconds = LIFE_S};
    init(&c.certificate, &c.key);
    if (lks_x509_key(&c.key, err) != LKS_OK ||
        lks_x509_make_ca(lks_buf_view(&c.key), &wish, &c.certificate, err) != LKS_OK)
        return err->code;
    *out = LKS_MOVE(c);
    return LKS_OK;
}

enum lks_code lks_certs_issue(const struct lks_certs *c, const struct lks_str *names, size_t count,
                              struct lks_certs_pair *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_certs_pair_fini) struct lks_certs_pair p = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf request = LKS_BUF(LKS_X509_PEM_MAX);
    const struct lks_x509_wish wish = {.use = LKS_X509_SERVER,
                                       .name = names[0],
                                       .alternatives = names,
                                       .alternative_count = count,
                                       .now = c->now,
                                       .seconds = LIFE_S};
    struct lks_x509_about about;
    init(&p.certificate, &p.key);
    if (lks_x509_key(&p.key, err) != LKS_OK ||
        lks_x509_request(lks_buf_view(&p.key), names[0], &request, err) != LKS_OK ||
        lks_x509_issue(lks_buf_view(&c->certificate), lks_buf_view(&c->key), lks_buf_view(&request),
                       &wish, &p.certificate, &about, err) != LKS_OK)
        return lks_wrap(err, "a certificate for %" LKS_STR_FMT, LKS_STR_ARG(names[0]));
    *out = LKS_MOVE(p);
    return LKS_OK;
}
