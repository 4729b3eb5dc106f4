/*
 * Files that the journal has and this controller's disk lacks, as one has that was down or new
 * while another led: looked for now and then on every controller, counted, and fetched from the
 * controllers of `controller.agents`, one artifact at a time, range by range.
 *
 * A controller shows a certificate that it makes for itself, as it does to forward; whatever the
 * other one sends has to have the digest, so one that lies costs time. What was fetched before an
 * interruption is gone on with. All of it is of the server thread; the network and the disk are
 * waited for in the thread pool.
 */
#ifndef LKS_SERVER_DEPOT_PEERS_H
#define LKS_SERVER_DEPOT_PEERS_H

#include "server/http/depot_parts.h"

struct lks_depot_peers;

/* NULL: no memory. */
struct lks_depot_peers *lks_depot_peers_new(struct lks_depot_server *d);
/* No more of it; the loop must run its close callbacks before it is freed. */
void lks_depot_peers_stop(struct lks_depot_peers *p);
void lks_depot_peers_free(struct lks_depot_peers *p);

/* Now and then. */
void lks_depot_peers_tick(struct lks_depot_peers *p, lks_ms now);

/* A transfer of LKS_DEPOT_LOOK. */
void lks_depot_transfer_look(struct lks_transfer *t);

/* Whether it is being fetched at the moment: no other writer may have its part. */
bool lks_depot_peers_fetches(const struct lks_depot_peers *p, const char *digest);

/* An artifact that is not here is asked for. True: it is fetched next, and may be here soon;
 * false: no other controller is known, or none of them has it. */
bool lks_depot_peers_ask(struct lks_depot_peers *p, const char *digest);

/* Artifacts that were fetched, and answers that were lies. */
void lks_depot_peers_counts(const struct lks_depot_peers *p, uint64_t *fetched, uint64_t *lied);

#endif
