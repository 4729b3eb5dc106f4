/*
 * Reservations that lockstep made in a scheduler for the windows of changes, as the scheduler
 * listed them. A name says whose a reservation is, "lockstep_change_17+train+oslo": the change, the
 * pool and the site, if there is one; none of them has a '+'. So one that was left over is known by
 * its name.
 */
#ifndef LKS_CORE_SCHED_RESERVATIONS_H
#define LKS_CORE_SCHED_RESERVATIONS_H

#include "base/arena.h"
#include "base/time.h"

#define LKS_SCHED_RESERVATION_MARK  "lockstep_"
#define LKS_SCHED_RESERVATION_NAME  253 /* bytes of a name */
#define LKS_SCHED_RESERVATION_NODES 4096
#define LKS_SCHED_RESERVATIONS_MAX  1000               /* of lockstep, at a site */
#define LKS_SCHED_RESERVATIONS_OLD  (60 * LKS_SECOND)  /* a list that was older when it came */
#define LKS_SCHED_RESERVATIONS_SIZE ((size_t)16 << 20) /* of the list as JSON */

struct lks_sched_reservation {
    struct lks_str name;
    struct lks_str nodes; /* a host list: the same text for the same nodes */
    lks_ms from, until;   /* whole seconds */
};

/* All zero is an empty list. */
struct lks_sched_reservations {
    struct lks_arena arena; /* owns everything */
    struct lks_sched_reservation *list;
    uint32_t count;
};
void lks_sched_reservations_fini(struct lks_sched_reservations *r);

/* Read the answer {"age": MS, "reservations": [...]} of a bridge; of the list only lockstep's own
 * are kept. UNAVAILABLE: it is too old. INVALID: it is malformed. LIMIT: it is too long. */
enum lks_code lks_sched_reservations_read(struct lks_str json, struct lks_sched_reservations *out,
                                          struct lks_err *err) LKS_MUST_CHECK;

/* NULL: there is none of this name. */
const struct lks_sched_reservation *
lks_sched_reservations_find(const struct lks_sched_reservations *r, struct lks_str name);

/* Whether one is as the other at `wall`: starts that have passed are alike. */
bool lks_sched_reservations_alike(const struct lks_sched_reservation *a,
                                  const struct lks_sched_reservation *b, lks_ms wall);

/* The name for a change's nodes of a pool at a site. False: it is too long. */
bool lks_sched_reservations_name(uint64_t change, struct lks_str pool, struct lks_str site,
                                 char out[LKS_SCHED_RESERVATION_NAME + 1]);

/* What a name says; false: it is no name of ours. Texts are views of it. */
bool lks_sched_reservations_of(struct lks_str name, uint64_t *change, struct lks_str *pool,
                               struct lks_str *site);

#endif
