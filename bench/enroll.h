/* Nodes of a running lockstepd, enrolled as agents are, and what they send. */
#ifndef LKS_BENCH_ENROLL_H
#define LKS_BENCH_ENROLL_H

#include "bench/load.h"
#include "core/state/heartbeat.h"
#include "tests/controller.h"
#include "tests/pki.h"

/* An enrolment token for node n<node>. */
void bench_token(const struct ctl *c, unsigned node, char *out, size_t size);

/* And a key with the certificate it is good for. */
void bench_enroll(const struct ctl *c, unsigned node, struct lks_pair *out);

/* The newest head, as an agent would have witnessed it. */
void bench_witness(const struct ctl *c, struct lks_head *out);

/* A heartbeat of now as the agent would send it, in `out`. */
enum { BENCH_BEAT_MAX = 512 };
struct lks_str bench_beat(const struct lks_beat *beat, char out[BENCH_BEAT_MAX]);

/* Agents that beat, each on a connection of its own. */
enum { BENCH_AGENTS = 64 };
struct bench_agents {
    struct lks_pair pairs[BENCH_AGENTS];
    struct lks_load_pair shown[BENCH_AGENTS];
    struct lks_head head; /* that they all witnessed */
    uint64_t seq[BENCH_AGENTS];
    char request[BENCH_BEAT_MAX];
};

/* Of a fleet that is applied for them. */
void bench_agents_enroll(const struct ctl *c, struct bench_agents *out);

/* The next heartbeat of an agent: lks_load_plan.next. */
struct lks_str bench_agents_next(void *ctx, unsigned n);

#endif
