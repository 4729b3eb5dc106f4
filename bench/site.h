/*
 * A lockstepd that knows many nodes of one pool that enforces: all live, with 2,000 distinct
 * sets of readings that conform. The stack, the fleet and one node's report come over its API; the
 * journal of the others is written while it does not run. Some nodes have an agent's certificate.
 */
#ifndef LKS_BENCH_SITE_H
#define LKS_BENCH_SITE_H

#include "bench/enroll.h"
#include "bench/load.h"
#include "tests/crew.h"

enum { BENCH_SITE_NODES = 100000, BENCH_SITE_NAME_SIZE = 16 };

struct bench_site {
    struct crew crew;
    uint32_t nodes;
    unsigned agents;
    struct lks_load_pair *shown; /* by agent; their texts are in `pairs` */
    struct lks_buf *pairs, key;
    struct lks_head head; /* that they all witnessed */
    uint8_t tuple[LKS_HASH_BYTES];
    uint64_t *seq; /* of their heartbeats */
    char request[BENCH_BEAT_MAX];
};

void bench_site_init(struct bench_site *s, uint32_t nodes, unsigned agents);
void bench_site_fini(struct bench_site *s);

/* The name of a node, counted from 0. */
const char *bench_site_name(uint32_t node, char out[BENCH_SITE_NAME_SIZE]);

/* The next heartbeat of agent `n`, for a load. */
struct lks_str bench_site_beat(struct bench_site *s, unsigned n);

#endif
