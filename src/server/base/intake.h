/*
 * What callers take of the server: memory of request bodies, calls in progress, event streams and
 * transfers of artifacts. Each identity has an account, and a caller without one has an account of
 * its address, so that no caller takes what all share. Everything here happens on the server
 * thread; limits are arguments, because a reload may change them.
 */
#ifndef LKS_SERVER_INTAKE_H
#define LKS_SERVER_INTAKE_H

#include "base/buf.h"

#include <stdint.h>

#define LKS_INTAKE_BUCKETS 1024 /* a power of two */

/* Agents' bodies and transfers are counted apart, so that people cannot keep agents out. */
enum lks_side { LKS_SIDE_PEOPLE, LKS_SIDE_AGENTS, LKS_SIDE_COUNT };

/* What an account counts. */
enum lks_share {
    LKS_SHARE_CALL,     /* from the moment the caller is known until the answer was sent */
    LKS_SHARE_STREAM,   /* of events */
    LKS_SHARE_TRANSFER, /* of an artifact */
    LKS_SHARE_COUNT,
};

/* Why a request was turned away. */
enum lks_limited {
    LKS_LIMITED_CALLS,
    LKS_LIMITED_STREAMS,
    LKS_LIMITED_TRANSFERS,
    LKS_LIMITED_BODIES,     /* of one identity */
    LKS_LIMITED_BODIES_ALL, /* of all */
    LKS_LIMITED_COUNT,
};

struct lks_account {
    struct lks_account *next; /* of its bucket */
    size_t refs;
    enum lks_side side;
    uint64_t bytes; /* of bodies, and of what was parsed of them */
    unsigned shares[LKS_SHARE_COUNT];
    char key[];
};

struct lks_intake {
    uint64_t seed; /* so that no caller chooses which keys share a bucket */
    struct lks_account *buckets[LKS_INTAKE_BUCKETS]; /* owned */
    size_t accounts;
    uint64_t bytes[LKS_SIDE_COUNT], peak[LKS_SIDE_COUNT];
    uint64_t limited[LKS_LIMITED_COUNT];
};

/* Every account that is left goes, referred to or not. */
void lks_intake_fini(struct lks_intake *in);

/* The account of `key`, with one more reference to it; NULL: no memory. */
struct lks_account *lks_intake_open(struct lks_intake *in, struct lks_str key, enum lks_side side);
/* One more reference to it; and one less, after which it may be gone. NULL is no account. */
struct lks_account *lks_intake_ref(struct lks_account *a);
void lks_intake_close(struct lks_intake *in, struct lks_account *a);

/* One more of `share`, unless the account has `most` already; 0: no limit. */
bool lks_intake_take(struct lks_intake *in, struct lks_account *a, enum lks_share share,
                     uint64_t most);
void lks_intake_give(struct lks_account *a, enum lks_share share);

/* Memory: what one account and all of its side together may hold; 0: no limit. */
struct lks_intake_memory {
    uint64_t account, all;
};

/* Reserve `bytes`; LKS_LIMITED_COUNT when that is within the limits, and otherwise which it is not,
 * and nothing is reserved. */
enum lks_limited lks_intake_hold(struct lks_intake *in, struct lks_account *a, uint64_t bytes,
                                 const struct lks_intake_memory *most);
/* The same for what is there already, and has to be counted. */
void lks_intake_add(struct lks_intake *in, struct lks_account *a, uint64_t bytes);
void lks_intake_free(struct lks_intake *in, struct lks_account *a, uint64_t bytes);

/* For /metrics; `most` is what one side may hold. */
void lks_intake_metrics(const struct lks_intake *in, uint64_t most, struct lks_buf *out);

#endif
