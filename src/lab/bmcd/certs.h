/* The authority that is made at each start, and what it certifies. */
#ifndef LKS_BMCD_CERTS_H
#define LKS_BMCD_CERTS_H

#include "base/buf.h"

struct lks_certs {
    struct lks_buf certificate, key; /* of the authority, PEM */
    int64_t now;                     /* seconds since 1970 */
};

struct lks_certs_pair {
    struct lks_buf certificate, key;
};

enum lks_code lks_certs_make(int64_t now, struct lks_certs *out,
                             struct lks_err *err) LKS_MUST_CHECK;
void lks_certs_fini(struct lks_certs *c);

/* A key and its certificate, for all of the names and addresses. */
enum lks_code lks_certs_issue(const struct lks_certs *c, const struct lks_str *names, size_t count,
                              struct lks_certs_pair *out, struct lks_err *err) LKS_MUST_CHECK;
void lks_certs_pair_fini(struct lks_certs_pair *p);

#endif
