/* An OpenID provider for tests, on loopback and over TLS, in a thread of its own: discovery, keys
 * and logins by device. It says of a person whatever the test wants. */
#ifndef LKS_TESTS_PROVIDER_H
#define LKS_TESTS_PROVIDER_H

#include "drivers/http/httpd.h"
#include "tests/pki.h"
#include "tests/signer.h"
#include "tests/tree.h"

#include <pthread.h>

enum lks_provider_mood {
    LKS_PROVIDER_PENDING, /* the person has not typed the code */
    LKS_PROVIDER_SLOW,    /* it is asked too often */
    LKS_PROVIDER_DENIES,
    LKS_PROVIDER_EXPIRED,
    LKS_PROVIDER_NAMES,   /* the person did: a token */
    LKS_PROVIDER_BROKEN,  /* 500 */
    LKS_PROVIDER_GARBAGE, /* what is no JSON */
    LKS_PROVIDER_SILENT,  /* takes requests, and does not answer */
};

struct lks_provider {
    struct lks_tree tree; /* ca.crt, and the client's secret */
    struct lks_pair authority, own;
    char issuer[64], ca[128], secret[128]; /* the last two: paths */
    unsigned port;                         /* 0: not started yet */
    /* What it answers; behind the lock. */
    pthread_mutex_t lock;
    enum lks_provider_mood mood;
    struct lks_signer *signs;     /* with this one, */
    struct lks_signer *published; /* and publishes this one */
    const char *claims;           /* further ones, with a comma in front; "" for none */
    int64_t age;                  /* seconds that its clock is behind */
    const char *audience;         /* NULL: ours */
    const char *header;           /* NULL: as the key has it */
    char challenge[64];           /* of PKCE, as the browser brought it */
    unsigned asked_keys, asked_tokens;
    unsigned unanswered; /* requests */
    /* Its own. */
    pthread_t thread;
    uv_loop_t loop;
    uv_async_t stop;
    struct lks_httpd *httpd;
    bool running;
};

/* Make what it needs; its address is known once it started. False is a failed check. */
bool lks_provider_init(struct lks_provider *p);
void lks_provider_fini(struct lks_provider *p);

/* Come to its address, the same each time; and leave it. */
bool lks_provider_start(struct lks_provider *p);
void lks_provider_stop(struct lks_provider *p);

void lks_provider_mood(struct lks_provider *p, enum lks_provider_mood mood, const char *claims);

#define LKS_PROVIDER_CLIENT "lockstep"
#define LKS_PROVIDER_SECRET "a secret & more"

#endif
