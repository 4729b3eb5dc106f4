/*
 * May this job start on these nodes.
 *
 * A pure look at the state: yes for a while, or no with a reason for every node and image that
 * stands in the way. How strict it is follows from the pools' postures and from `enforce`: what an
 * observing pool would have refused is listed apart and refuses nothing.
 *
 * Synchronous nodes (posture `sync`: yes, and of post-training the trainer's) must agree: the same
 * stack, the same value in every pinned and windowed component, one NCCL build. Pools of posture
 * dev never share a gang with others. See docs/admission.md.
 */
#ifndef LKS_CORE_ADMIT_H
#define LKS_CORE_ADMIT_H

#include "core/registry/book.h"
#include "core/registry/images.h"
#include "core/state/node_status.h"

struct lks_now;

#define LKS_ADMIT_IMAGES_MAX 256
#define LKS_ADMIT_JOB_MAX    256 /* bytes of a job's name */
#define LKS_ADMIT_USER_MAX   64  /* of its user */
#define LKS_ADMIT_REF_MAX    LKS_IMAGE_REF_MAX
#define LKS_ADMIT_RANKS_MAX  65536 /* bytes of an image's ranks */
#define LKS_ADMIT_CRITICAL   100
#define LKS_ADMIT_CANARY_MAX 30   /* a job of at most this criticality may run on canaries */
#define LKS_ADMIT_LISTED_MAX 4096 /* refusals that are spelled out; more are counted */

struct lks_admit_image {
    struct lks_str ref;
    struct lks_str ranks; /* "0-255,512": places in the list of nodes; empty: all */
};

struct lks_admit_ask {
    struct lks_str job;
    const struct lks_str *names; /* of nodes, in the order of their ranks */
    size_t count;
    struct lks_str stack; /* name or digest that is wanted; empty: the pools' own */
    const struct lks_admit_image *images;
    size_t image_count;
    struct lks_str nccl; /* the version the job says it loads; empty: not said */
    bool canary_ok;      /* it may run on nodes that soak behind a change: see criticality */
    bool has_criticality;
    uint32_t criticality; /* of the job; not said: that of the most critical pool it is in */
    lks_ms behind;        /* how old this controller's knowledge may be; 0: it leads */
};

/* One reason. `node` or `image` is empty where it is about the other, both for the whole job. */
struct lks_admit_no {
    enum lks_bar bar;
    struct lks_str node, image, ranks, pool;
    struct lks_str text;
};

struct lks_admit_list {
    struct lks_admit_no *items; /* in the arena */
    size_t count, room;
    uint64_t total; /* with those that are not listed */
};

struct lks_admit {
    struct lks_arena arena;
    bool yes;
    bool overridden;               /* yes, by an override of a person */
    struct lks_str override;       /* its reason */
    lks_ms asked, valid_until;     /* wall; the latter of a yes */
    uint64_t seq;                  /* the journal's row this rests on */
    struct lks_str stack, digest;  /* that all agree in; empty: there are several */
    struct lks_admit_list refused; /* by pools that enforce */
    struct lks_admit_list warned;  /* by those that warn or observe: it would have been no */
    uint64_t bars[LKS_BAR_COUNT];  /* reasons of both lists, counted */
    uint32_t *pools;               /* that its nodes are in, in the arena */
    uint32_t pool_count;
    enum lks_code failed;
};

/* The caller owes lks_admit_fini() whatever comes of it. INVALID for a question that is none: no
 * node, a node twice, ranks that are not there. */
enum lks_code lks_admit(const struct lks_state *s, const struct lks_book *book, struct lks_now now,
                        const struct lks_admit_ask *ask, struct lks_admit *out,
                        struct lks_err *err) LKS_MUST_CHECK;
void lks_admit_fini(struct lks_admit *a);

/* The answer as JSON members of the object being written. */
void lks_admit_json(const struct lks_admit *a, const struct lks_admit_ask *ask,
                    struct lks_json_writer *w);

#endif
