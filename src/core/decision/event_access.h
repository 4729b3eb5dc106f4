/* What is asked about roles and credentials of people. */
#ifndef LKS_CORE_EVENT_ACCESS_H
#define LKS_CORE_EVENT_ACCESS_H

#include "base/str.h"
#include "base/time.h"
#include "model/record/record_words.h"

#include <stdbool.h>

struct lks_event_grant {
    struct lks_str identity, site, pool;
    enum lks_role role;
};

struct lks_event_api_token {
    struct lks_str id, identity, hash;
    lks_ms expires; /* 0: never; RENEW: what its own life makes of it, and no later */
    lks_ms life;
    struct lks_str issuer, grants; /* LOGIN */
};

/* The certificate is made already; it leaves if the answer is yes */
struct lks_event_certify {
    struct lks_str identity, fingerprint, serial;
    struct lks_str renews; /* serial of the one that the caller shows; empty: none */
    lks_ms expires, life;
};

#endif
