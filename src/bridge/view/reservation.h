/*
 * Reservations for maintenance that lockstep makes in Slurm for the windows of changes. A
 * reservation is lockstep's where its name starts with the prefix and its only user is the bridge's
 * own: no other is ever changed. One request makes it so, whatever there was before: what has to be
 * sent for that is decided here.
 */
#ifndef LKS_BRIDGE_RESERVATION_H
#define LKS_BRIDGE_RESERVATION_H

#include "base/arena.h"
#include "bridge/view/node.h"
#include "codec/format/docs.h"

#define LKS_BRIDGE_RESERVATION_PREFIX "lockstep_"
#define LKS_BRIDGE_RESERVATION_NODES  4096 /* in one request */

/* What is asked for. All zero is an empty one. */
struct lks_bridge_reserve {
    struct lks_arena arena; /* owns the text */
    struct lks_str nodes;   /* a host list */
    lks_ms from, until;     /* whole seconds */
};
void lks_bridge_reservation_fini(struct lks_bridge_reserve *r);

/* Whether it may be the name of one of lockstep's: the prefix, then letters, digits and "._+-". */
bool lks_bridge_reservation_is_name(struct lks_str name);

/* Read {"nodes": "g[1-8]", "from": MS, "until": MS}. */
enum lks_code lks_bridge_reservation_read(const struct lks_doc *body,
                                          struct lks_bridge_reserve *out,
                                          struct lks_err *err) LKS_MUST_CHECK;

/* Whether it is lockstep's, where the bridge runs as `user`. */
bool lks_bridge_reservation_is_own(const struct lks_bridge_reservation *r, struct lks_str user);

/* Whether it is as asked for at `now`: the same nodes and end, and the same start or one that has
 * passed for both. */
bool lks_bridge_reservation_is(const struct lks_bridge_reservation *r,
                               const struct lks_bridge_reserve *wanted, lks_ms now);

/* What has to be sent. Slurm does not move the start of a reservation that has started. */
enum lks_bridge_reservation_act {
    LKS_BRIDGE_RESERVATION_KEEP,
    LKS_BRIDGE_RESERVATION_CREATE,
    LKS_BRIDGE_RESERVATION_UPDATE,
    LKS_BRIDGE_RESERVATION_REPLACE, /* delete it, then create it */
    LKS_BRIDGE_RESERVATION_DELETE,
    LKS_BRIDGE_RESERVATION_REFUSE /* it is another's */
};

/* `is`: the one of this name, NULL: there is none. `wanted`: NULL: none shall be there. */
enum lks_bridge_reservation_act lks_bridge_reservation_act(const struct lks_bridge_reservation *is,
                                                           const struct lks_bridge_reserve *wanted,
                                                           lks_ms now);

void lks_bridge_reservation_json(const struct lks_bridge_reservation *r, struct lks_json_writer *w);

#endif
