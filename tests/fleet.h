/* A fleet for tests of decisions, on top of tests/asked.h: pools and nodes in a line each, and the
 * heartbeats of their agents. */
#ifndef LKS_TESTS_FLEET_H
#define LKS_TESTS_FLEET_H

#include "tests/asked.h"

/* A pool; `stack` and `digest` are what it pins, or "". */
void lks_fleet_pool(struct lks_asked *a, const char *pool, const char *stack, const char *digest);

/* A stack of that digest is published and released. */
void lks_fleet_release(struct lks_asked *a, const char *digest);

/* Nodes, as a host list, in a pool that may be "". */
void lks_fleet_place(struct lks_asked *a, const char *hosts, const char *pool);
void lks_fleet_place_at(struct lks_asked *a, const char *hosts, const char *pool, const char *site);

/* Each node of a host list was heard in `boot` just now, and is live. */
void lks_fleet_live(struct lks_asked *a, const char *hosts, unsigned boot);

/* The number of a node that is there. */
uint32_t lks_fleet_node(const struct lks_asked *a, const char *name);

/* A heartbeat as a node sends it that is well, in the boot numbered so. */
struct lks_beat lks_fleet_beat(const struct lks_asked *a, unsigned boot, uint64_t seq);

/* The boot id numbered so, as the journal writes it: 00000000-0000-0000-0000-000000000007. */
const char *lks_fleet_boot(unsigned boot, char out[LKS_BOOT_TEXT_SIZE]);

/* Hear it, and where there is something to decide make a turn of it; what came of it, as
 * lks_asked() tells it. */
struct lks_str lks_fleet_hear(struct lks_asked *a, const char *name, const struct lks_beat *beat);

/* Let `ms` pass on both clocks. */
void lks_fleet_wait(struct lks_asked *a, lks_ms ms);

/* One tick. */
struct lks_str lks_fleet_tick(struct lks_asked *a);

/* All of them that are due: how many records they made of `kind`, in `ticks` slices. */
size_t lks_fleet_ticks(struct lks_asked *a, enum lks_record_kind kind, size_t *ticks);

#endif
