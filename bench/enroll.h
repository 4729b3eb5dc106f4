/* Nodes of a running lockstepd, enrolled as agents are. */
#ifndef LKS_BENCH_ENROLL_H
#define LKS_BENCH_ENROLL_H

#include "tests/controller.h"
#include "tests/pki.h"

/* An enrolment token for node n<node>. */
void bench_token(const struct ctl *c, unsigned node, char *out, size_t size);

/* And a key with the certificate it is good for. */
void bench_enroll(const struct ctl *c, unsigned node, struct lks_pair *out);

#endif
