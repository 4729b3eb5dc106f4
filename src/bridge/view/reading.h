/*
 * A reading of all nodes or of one, as the book takes it in: collected, which takes its time, and
 * then entered, which takes none. Readers of the book are kept out only meanwhile.
 */
#ifndef LKS_BRIDGE_READING_H
#define LKS_BRIDGE_READING_H

#include "bridge/view/node.h"

#define LKS_BRIDGE_NODES_MAX  ((uint32_t)200000)
#define LKS_BRIDGE_ANSWER_MAX ((size_t)1 << 30)

/* A node of a reading. Offsets are into the reading's bytes. */
struct lks_bridge_item {
    size_t name, name_len, json, json_len, reason, reason_len, owner, owner_len;
    bool drained, failing, down, responding, own;
};

struct lks_bridge_reading {
    struct lks_buf bytes;
    struct lks_bridge_item *items; /* owned */
    uint32_t count, room;
    struct lks_buf jobs;         /* the list of all jobs as JSON; only where `all_jobs`, as ... */
    struct lks_buf reservations; /* ... that of all reservations */
    bool all_nodes, all_jobs;
};

void lks_bridge_reading_init(struct lks_bridge_reading *r);
void lks_bridge_reading_fini(struct lks_bridge_reading *r);
enum lks_code lks_bridge_reading_add(struct lks_bridge_reading *r,
                                     const struct lks_bridge_node *node,
                                     const struct lks_bridge_load *load,
                                     struct lks_err *err) LKS_MUST_CHECK;
enum lks_code lks_bridge_reading_jobs(struct lks_bridge_reading *r,
                                      const struct lks_bridge_job *jobs, size_t count,
                                      const struct lks_bridge_reservation *reservations,
                                      size_t reservation_count, struct lks_err *err) LKS_MUST_CHECK;

#endif
