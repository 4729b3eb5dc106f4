/* What a call for an artifact carries from thread to thread (server/http/depot.h moves its bytes).
 */
#ifndef LKS_SERVER_DEPOT_ASK_H
#define LKS_SERVER_DEPOT_ASK_H

#include "codec/format/byterange.h"
#include "codec/format/digest.h"
#include "drivers/http/httpd.h"

struct lks_transfer;

enum lks_depot_act {
    LKS_DEPOT_NOTHING, /* the answer is there already */
    LKS_DEPOT_GET,
    LKS_DEPOT_HAVE, /* say how much of it is there */
    LKS_DEPOT_PUT,
    LKS_DEPOT_COLLECT, /* remove what has no record */
    LKS_DEPOT_LOOK,    /* find what has one and is not here */
};

struct lks_depot_recorded {
    char digest[LKS_DIGEST_SIZE]; /* first: lists are searched by it */
    uint64_t size;
};

struct lks_depot_ask {
    /* As the headers have it; empty: not said. */
    char want[64], if_range[128], if_none_match[128], content[96];
    uint64_t length; /* of the body */
    /* What is to be done, as the state thread found. */
    enum lks_depot_act act;
    char digest[LKS_DIGEST_SIZE];
    struct lks_byterange range;
    uint64_t size;
    bool known;                          /* it has a record */
    bool stored;                         /* PUT: it is in its place, and wants one */
    uint64_t gone;                       /* COLLECT: records of this call that say so */
    struct lks_depot_recorded *recorded; /* COLLECT, LOOK: all that have one, sorted; owned */
    size_t recorded_count;
    bool following;                /* LOOK: another controller leads */
    struct lks_transfer *transfer; /* the server thread's */
};

/* NULL: no memory. */
struct lks_depot_ask *lks_depot_ask_new(const struct lks_httpd_exchange *x,
                                        const struct lks_httpd_request *request);
void lks_depot_ask_free(struct lks_depot_ask *ask);

#endif
