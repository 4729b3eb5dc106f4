/* Certificates for tests: an authority and what it certifies, good or not. */
#ifndef LKS_TESTS_PKI_H
#define LKS_TESTS_PKI_H

#include "trust/x509.h"

struct lks_pair {
    struct lks_buf certificate, key; /* PEM */
};

void lks_pair_fini(struct lks_pair *p);

/* An authority of its own; a failure to make anything is a failed check. */
void lks_pki_authority(struct lks_pair *out);

struct lks_pki_wish {
    enum lks_x509_use use;
    const char *name;
    int64_t age;     /* seconds since it was made */
    int64_t seconds; /* that it is good for; 0: a day */
    bool nameless;   /* SERVER: without addresses, for its name alone */
};

/* A server's is for its name and for 127.0.0.1 and ::1. */
void lks_pki_issue(const struct lks_pair *authority, struct lks_pki_wish wish,
                   struct lks_pair *out);

#endif
