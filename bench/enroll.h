/* Nodes of a running lockstepd, enrolled as agents are, and what they send. */
#ifndef LKS_BENCH_ENROLL_H
#define LKS_BENCH_ENROLL_H

#include "core/pulse.h"
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

#endif
