/*
 * Images that endpoints fetch by themselves (bmc.pull): the client thread reads an image from the
 * same address first, and the endpoint is told to fetch it only where the bytes have the digest
 * that the update names. One reading counts for all updates with the image for ten minutes.
 */
#ifndef LKS_SERVER_PULLS_H
#define LKS_SERVER_PULLS_H

#include "base/time.h"
#include "codec/format/digest.h"

enum { LKS_PULLS_GOOD = 16 };

struct lks_client_job;
struct lks_client_thread;
struct lks_pulling;

struct lks_pulls {
    struct lks_pulling *open;
    struct {
        char digest[LKS_DIGEST_SIZE];
        lks_ms until; /* mono */
    } good[LKS_PULLS_GOOD];
    unsigned next;
};

/* Whether the job's endpoint may fetch its image now. False: it is being read, and
 * lks_client_pulled() is called for every job that waits for it, also where nothing can be read. */
bool lks_pulls_ready(struct lks_client_thread *c, struct lks_client_job *job);

void lks_pulls_fini(struct lks_client_thread *c);

#endif
