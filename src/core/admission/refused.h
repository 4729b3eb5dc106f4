/*
 * What was refused, or would have been, since it was last recorded: by pool, user, image and
 * reason, and by node and reason.
 *
 * Questions name users and images as they like, so the number of rows is bounded: what finds no
 * place is counted under LKS_REFUSED_OTHERS, first its image, then its user.
 */
#ifndef LKS_CORE_REFUSED_H
#define LKS_CORE_REFUSED_H

#include "base/arena.h"
#include "model/record/record.h"

#define LKS_REFUSED_OTHERS "(others)"
#define LKS_REFUSED_DAY    256 /* rows of a pool on a day, of nodes and of users; then others */
#define LKS_REFUSED_MAX    512 /* rows of each sort between two records; then others */
#define LKS_REFUSED_TRIES  3
#define LKS_REFUSED_SLOTS  4096 /* a power of two, and more than there are rows */

struct lks_refused {
    struct lks_arena arena;       /* of texts, and of the next three */
    struct lks_rec_refusal *rows; /* NULL: there is none yet */
    uint64_t *jobs;               /* by row: that it counted last */
    uint16_t *slots;              /* by hash: 1 + the row, 0: free */
    uint32_t count, of_nodes;     /* rows, and those that have a node */
};

/* A job counts for one more in the row of `of`, whose `count` is not read: once, however many of
 * its nodes the row of others stands for. `job` is a number of its own for each, and not 0. Without
 * memory, or where even the rows of others have no place, it is not counted. */
void lks_refused_add(struct lks_refused *r, uint64_t job, const struct lks_rec_refusal *of);

/* The same as the n-th try for a place of `of`: 0: as it is, 1: its image or node is another one,
 * 2: its user too. False: there is no such try. */
bool lks_refused_other(const struct lks_rec_refusal *of, unsigned n, struct lks_rec_refusal *out);

/* Whether both are counted in one row; equal ones have equal hashes. */
bool lks_refused_same(const struct lks_rec_refusal *a, const struct lks_rec_refusal *b);
uint64_t lks_refused_hash(const struct lks_rec_refusal *of);

/* Forget all rows. */
void lks_refused_fini(struct lks_refused *r);

#endif
