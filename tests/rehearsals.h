/* A fleet's file for rehearsals: two stacks, pools `train` and `serve`, revisions a and b. */
#ifndef LKS_TESTS_REHEARSALS_H
#define LKS_TESTS_REHEARSALS_H

#include "base/buf.h"

/* Four of five nodes are in `train`; all run stack s0 and s1 is there to go to. `gate` is what else
 * its file says of the pool: "" or ", gate: {...}". */
void rehearsals_fleet(unsigned nodes, const char *gate, struct lks_buf *out);

#endif
