/*
 * Which few stand for all: the canary of a change.
 *
 * What is there is described by a few attributes (hardware revision, supplier, base firmware,
 * power zone ...). To be covered is every combination of `strength` of them that occurs. A
 * candidate that is picked covers the combinations it has; candidates that cover the same are one
 * class. Few classes are solved exactly, many greedily, and what the others make needless is
 * dropped again. The same question has the same answer.
 */
#ifndef LKS_CORE_COVER_H
#define LKS_CORE_COVER_H

#include "base/arena.h"

#define LKS_COVER_EXACT          40 /* classes of candidates up to which the answer is the best */
#define LKS_COVER_ATTRIBUTES_MAX 8
#define LKS_COVER_MILLION        1000000

/* One that could be picked: a node, or a domain with all of its nodes. */
struct lks_cover_candidate {
    uint32_t first, count; /* its rows */
    uint32_t weight;       /* nodes that come with it, at least 1 */
    uint32_t dislike;      /* among equals the least is taken, and then the first */
    bool barred;           /* it cannot be picked, but what it has is to be covered */
};

struct lks_cover_question {
    const uint32_t *rows; /* `width` values each: numbers, equal for equal values */
    size_t row_count;
    size_t width;      /* attributes */
    unsigned strength; /* 1 to width; combinations of so many */
    const struct lks_cover_candidate *candidates;
    size_t count;
    uint64_t weight_max; /* of all that are picked; 0: as much as it takes */
    bool greedy;         /* the best is not searched for, however few there are */
};

/* A combination: which attributes, and which values. */
struct lks_cover_item {
    uint32_t attributes[LKS_COVER_ATTRIBUTES_MAX], values[LKS_COVER_ATTRIBUTES_MAX];
};

struct lks_cover {
    uint32_t *picked; /* candidates, rising */
    size_t count;
    size_t items, covered;            /* combinations that occur, and of these that are covered */
    struct lks_cover_item *uncovered; /* `items - covered` of them */
    unsigned strength;
    bool exact; /* nothing covers as much with less */
};

/* Arrays live in `arena`. Where `weight_max` does not suffice, single attributes are covered
 * before combinations. */
enum lks_code lks_cover_choose(const struct lks_cover_question *q, struct lks_arena *arena,
                               struct lks_cover *out, struct lks_err *err) LKS_MUST_CHECK;

/* How many of `population` have to be looked at to meet, with this confidence, a fault that this
 * share of them has (at least one has it); 0 for `population`: of endlessly many. Shares are in
 * millionths, and neither is 0 or all. */
uint64_t lks_cover_size(uint64_t population, uint32_t failure_share, uint32_t confidence_share);

#endif
