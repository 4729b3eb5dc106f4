/*
 * Can this driver run this toolkit on this GPU?
 *
 * The answer is a reason code, and from it a verdict. Codes are asked for in a fixed order and the
 * first that applies is the answer, so the same question always has the same one:
 *
 *   NO_DRIVER   the driver does not know the GPU
 *   NO_ARCH     driver or toolkit no longer supports, or never supported, the architecture
 *   NO_MODULE   the kernel modules are of the wrong flavour
 *   BACKWARD    the driver belongs to a later major than the toolkit
 *   NATIVE      the driver is at least the toolkit's own
 *   MINOR       older, but of the same major: runs with limits, and without PTX JIT
 *   FORWARD     older still, with a cuda-compat package that allows it
 *   NO_DRIVER   none of these
 *   UNKNOWN     no row of the tables answers
 */
#ifndef LKS_CORE_COMPAT_H
#define LKS_CORE_COMPAT_H

#include "core/compat/report.h"
#include "model/manifest/stack.h"

/* From best to worst: among the boards of a family, the smallest is the family's answer. */
enum lks_reason {
    LKS_NATIVE,
    LKS_BACKWARD,
    LKS_MINOR,
    LKS_FORWARD,
    LKS_UNKNOWN,
    LKS_NO_DRIVER,
    LKS_NO_ARCH,
    LKS_NO_MODULE,
};
const char *lks_compat_reason_name(enum lks_reason reason);
const char *lks_compat_reason_verdict(enum lks_reason reason); /* yes, limited, unknown, no */
const char *lks_compat_reason_about(enum lks_reason reason);

struct lks_compat_question {
    struct lks_str driver;         /* NVIDIA's, or amdgpu */
    struct lks_str toolkit;        /* CUDA, or ROCm */
    struct lks_str gpu;            /* product, family, a tool's name or PCI id */
    struct lks_str modules;        /* open, proprietary, or empty: either will do */
    struct lks_str compat_package; /* its CUDA version, or empty */
    bool needs_ptx_jit;
};

#define LKS_COMPAT_BOARDS_MAX LKS_FAMILY_BOARDS_MAX

struct lks_compat_answer {
    enum lks_reason reason;
    const struct lks_gpu *board; /* the best-supported one that fits; NULL when none is known */
    struct lks_report rules;     /* what led there, in order; warnings among it */
    struct lks_str remedy;       /* the cheapest way to a better answer, or empty */
    struct {
        const struct lks_gpu *gpu;
        enum lks_reason reason;
    } others[LKS_COMPAT_BOARDS_MAX]; /* boards of the family that answer differently */
    size_t other_count;
};

/* The question a stack puts for one of its GPUs. Driver or toolkit is empty where it is
 * deliberately absent: then there is nothing to judge. */
struct lks_compat_question lks_compat_of_stack(const struct lks_stack *stack, struct lks_str gpu);

/* Always answers; the caller owes lks_compat_answer_fini(). */
void lks_compat_ask(const struct lks_facts *facts, const struct lks_compat_question *question,
                    struct lks_compat_answer *out);
void lks_compat_answer_fini(struct lks_compat_answer *answer);

/* The reason alone, for one board: cheap enough to try out other versions with. `rules`, which may
 * be NULL, is told what led there. */
enum lks_reason lks_compat_judge(const struct lks_facts *facts,
                                 const struct lks_compat_question *question,
                                 const struct lks_gpu *gpu, struct lks_report *rules);

/* The boards `name` can mean, at most `max`: one product, by our name or its vendor's tool's, all
 * of a family, or those with a PCI id. */
size_t lks_compat_boards(const struct lks_facts *facts, struct lks_str name,
                         const struct lks_gpu **out, size_t max);

/* The one of them that is supported best, the first where all are alike; NULL when none is known.
 */
const struct lks_gpu *lks_compat_best(const struct lks_facts *facts,
                                      const struct lks_compat_question *question);

/* A board that `name` can mean and that is of another vendor, whose versions say nothing about it;
 * NULL where there is none. */
const struct lks_gpu *lks_compat_foreign(const struct lks_facts *facts, struct lks_str name,
                                         enum lks_vendor vendor);

/* The release `version` means: itself, or the first of a "13.0" given without a patch level. */
const struct lks_toolkit *lks_compat_toolkit(const struct lks_facts *facts, struct lks_str version);
const struct lks_rocm *lks_compat_rocm(const struct lks_facts *facts, struct lks_str version);

#endif
