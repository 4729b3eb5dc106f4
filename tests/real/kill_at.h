/* Moments in the life of lockstepd at which a test may have it killed: counted, and chosen, through
 * a file that the test and the library kill_at (preloaded into lockstepd) have in common. */
#ifndef LKS_TESTS_REAL_KILL_AT_H
#define LKS_TESTS_REAL_KILL_AT_H

#include <stdatomic.h>

#define KILL_FILE_VARIABLE "LKS_KILL_FILE"

enum kill_moment {
    KILL_COMMIT,         /* rows are decided, and none of them is in the file */
    KILL_DURABLE,        /* they are on the disk, and nobody was told */
    KILL_BMC_SENT,       /* a request, or a part of it, left for a BMC */
    KILL_BMC_ANSWERED,   /* its answer is here, and nothing came of it yet */
    KILL_AGENT_ASKED,    /* an agent or a person asked something, and nothing came of it yet */
    KILL_AGENT_ANSWERED, /* they got their answer; heartbeats, which bring nothing, do not count */
    KILL_MOMENTS
};

/* All zero: count only. */
struct kill_plan {
    atomic_uint counts[KILL_MOMENTS];
    atomic_uint at;     /* which of them, from 1; 0: none, or it is over */
    atomic_uint moment; /* of enum kill_moment */
};

#endif
