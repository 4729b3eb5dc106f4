/* Events about roles and credentials of people. */
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
    lks_ms expires; /* 0: never; RENEW: the latest time; its own life may end earlier */
    lks_ms life;
    struct lks_str issuer, grants; /* LOGIN */
};

/* The certificate exists already; the caller gets it only if the event is accepted. */
struct lks_event_certify {
    struct lks_str identity, fingerprint, serial;
    struct lks_str renews; /* serial of the certificate that the caller presents; empty: none */
    lks_ms expires, life;
};

#endif
