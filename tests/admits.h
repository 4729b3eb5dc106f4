/* Questions to admission in a line each, and what comes of them, for tests/test_admit*.c. */
#ifndef LKS_TESTS_ADMITS_H
#define LKS_TESTS_ADMITS_H

#include "core/admission/admit.h"
#include "tests/jobs.h"

enum { LKS_ADMITS_TOLD_MAX = 1 << 20 };

/* golden leaves CUDA, cuDNN and NCCL to images; lax has tested a window of NCCL and installs the
 * rest; bare pins no collective library; rocm is AMD's. A stack called otherwise is not in the
 * book.
 */
extern const char lks_admits_stacks[];

/* Four nodes that are as they should be, in a pool of one posture. */
#define POOL(posture, enforce) "pool train " posture " " enforce " golden\n"
#define GOOD                                                                                       \
    "nodes g[1-4] train\n"                                                                         \
    "verdict gold golden driver=580 nccl=\n"                                                       \
    "run g[1-4] gold\n"
#define TRAIN POOL("pre-training", "on") GOOD

/* A second pool, with a stack that says otherwise. */
#define SECOND(posture, enforce)                                                                   \
    "pool second " posture " " enforce " lax\nnodes h[1-2] second\n"                               \
    "verdict other lax driver=580 nccl=\nrun h[1-2] other\n"

#define ALL                                                                                        \
    {                                                                                              \
        .nodes = "g[1-4]"                                                                          \
    }

#define WITH(list)                                                                                 \
    {                                                                                              \
        .nodes = "g[1-4]", .images = (list)                                                        \
    }

struct lks_admits_question {
    const char *nodes, *stack, *images, *nccl;
    lks_ms behind;
};

/* The answer: "yes STACK +MS" or "no STACK", then a line for each reason. */
enum lks_code lks_admits_ask(struct lks_jobs *j, const struct lks_admits_question *q,
                             struct lks_buf *out, struct lks_err *err) LKS_MUST_CHECK;

struct lks_admits_row {
    const char *name;
    const char *fleet; /* as tests/jobs.h has it */
    struct lks_admits_question q;
    const char *answer;
};

void lks_admits_check(const struct lks_admits_row *rows, size_t count);

#endif
