#include "tests/pki.h"

#include "tests/test.h"

#include <time.h>

#define DAY ((int64_t)24 * 60 * 60)

void lks_pair_fini(struct lks_pair *p)
{
    lks_buf_fini(&p->certificate);
    lks_buf_fini(&p->key);
}

static void pair_init(struct lks_pair *p)
{
    struct lks_err err = {0};
    *p = (struct lks_pair){0};
    lks_buf_init(&p->certificate, LKS_X509_PEM_MAX);
    lks_buf_init(&p->key, LKS_X509_PEM_MAX);
    CHECK_CODE(lks_x509_key(&p->key, &err), LKS_OK);
}

void lks_pki_authority(struct lks_pair *out)
{
    struct lks_err err = {0};
    struct lks_x509_wish wish = {.use = LKS_X509_CA,
                                 .name = LKS_STR("an authority"),
                                 .now = time(NULL) - 90 * DAY,
                                 .seconds = 365 * DAY};
    pair_init(out);
    if (!CHECK_CODE(lks_x509_make_ca(lks_buf_view(&out->key), &wish, &out->certificate, &err),
                    LKS_OK))
        CHECK_STR(lks_str_from(err.msg), "");
}

void lks_pki_issue(const struct lks_pair *authority, struct lks_pki_wish wish, struct lks_pair *out)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf request = LKS_BUF(LKS_X509_PEM_MAX);
    const struct lks_str places[] = {lks_str_from(wish.name), LKS_STR("127.0.0.1"), LKS_STR("::1")};
    bool server = wish.use == LKS_X509_SERVER;
    struct lks_x509_wish full = {.use = wish.use,
                                 .name = lks_str_from(wish.name),
                                 .alternatives = server ? places : NULL,
                                 .alternative_count = !server         ? 0
                                                      : wish.nameless ? 1
                                                                      : LKS_COUNT(places),
                                 .now = time(NULL) - wish.age,
                                 .seconds = wish.seconds > 0 ? wish.seconds : DAY};
    struct lks_x509_about about;
    struct lks_err err = {0};
    pair_init(out);
    CHECK_CODE(lks_x509_request(lks_buf_view(&out->key), full.name, &request, &err), LKS_OK);
    if (!CHECK_CODE(lks_x509_issue(lks_buf_view(&authority->certificate),
                                   lks_buf_view(&authority->key), lks_buf_view(&request), &full,
                                   &out->certificate, &about, &err),
                    LKS_OK))
        CHECK_STR(lks_str_from(err.msg), "");
}
