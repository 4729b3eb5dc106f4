/* Requests made at random from the table of routes: well formed ones, with names and numbers that
 * exist, and ones with anything else in their place. */
#ifndef LKS_TESTS_REAL_REQUESTS_H
#define LKS_TESTS_REAL_REQUESTS_H

#include "server/api/routes.h"
#include "tests/real/population.h"

struct random_request {
    const char *method;
    struct lks_buf path;    /* as it is sent */
    struct lks_buf decoded; /* its path as the daemon reads it, without the query */
    struct lks_buf body;
    const char *type; /* of the body; NULL: none */
    char head[512];   /* more header lines */
};

void random_request_fini(struct random_request *r);
void random_request_make(struct random_request *r, const struct population *p, struct lks_rng *rng);

#endif
