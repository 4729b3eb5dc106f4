/*
 * What becomes of a job that Slurm is about to take in: it is left as it is, gets features, or is
 * refused with a line for its user. Pure and bounded: texts of the job are read up to a limit, and
 * nothing is allocated. A job that no pool of lockstep has to do with is left as it is.
 */
#ifndef LKS_SUBMIT_DECIDE_H
#define LKS_SUBMIT_DECIDE_H

#include "submit/policy.h"

#define LKS_SUBMIT_FEATURES_MAX   1023
#define LKS_SUBMIT_IMAGE_MAX      511
#define LKS_SUBMIT_TEXT_MAX       255
#define LKS_SUBMIT_SCRIPT_MAX     ((size_t)256 << 10) /* of a script is read */
#define LKS_SUBMIT_STACK_MAX      256                 /* of its name is read: none is longer */
#define LKS_SUBMIT_IMAGES_MAX     16                  /* of a job are looked up */
#define LKS_SUBMIT_PARTITIONS_MAX 64                  /* of a job */

/* Texts of the job; empty: none. */
struct lks_submit_job {
    struct lks_str partition; /* a list; empty: the default one */
    struct lks_str features;  /* the constraint */
    struct lks_str comment;   /* lockstep:stack=NAME asks for a stack */
    struct lks_str stack;     /* the same by an option; it counts first */
    struct lks_str image;     /* of an option; it counts first */
    struct lks_str script;
    uint64_t nodes; /* at least so many */
    bool spreads;   /* it may get more than one, whatever `nodes` is */
    uint64_t needs; /* up to so many, where that is not known; 0: `nodes` */
};

enum lks_submit_what { LKS_SUBMIT_AS_IS, LKS_SUBMIT_CHANGED, LKS_SUBMIT_REFUSED };

struct lks_submit_answer {
    enum lks_submit_what what;
    bool named;                                 /* a pool of lockstep takes the job */
    char features[LKS_SUBMIT_FEATURES_MAX + 1]; /* CHANGED: the new constraint */
    char image[LKS_SUBMIT_IMAGE_MAX + 1];       /* the image that the job runs; or empty */
    char text[LKS_SUBMIT_TEXT_MAX + 1]; /* REFUSED: why; else what a pool that does not enforce
                                           has against the job, or empty */
};

/* `p` NULL: there is no policy that can be read, and the job is left as it is. */
void lks_submit_decide(const struct lks_policy *p, const struct lks_submit_job *job, lks_ms now,
                       struct lks_submit_answer *out);

/* The constraint `user` and `term` ("lks-0123456789ab" or "[lks0|lks1|lks2]") together, as Slurm
 * 22.05 and 24.11 take it. False: there is no such expression. */
bool lks_submit_decide_combine(struct lks_str user, struct lks_str term, char *out, size_t size);

/* The next image of a batch script outside of its comments, from `*rest` on: the whole script
 * first. False: there is none. */
bool lks_submit_decide_image(struct lks_str *rest, struct lks_str *image);

#endif
