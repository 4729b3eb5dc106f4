/* For core/admission/admit*.c: a question being answered. */
#ifndef LKS_CORE_ADMIT_PARTS_H
#define LKS_CORE_ADMIT_PARTS_H

#include "core/admission/admit.h"
#include "core/rows/now.h"

#define LKS_ADMIT_TEXT_MAX 512 /* bytes of a reason's text; a longer one is cut */

/* A library as a stack pins it; `version` empty: it does not. */
struct lks_admit_pin {
    struct lks_str version, window;
};

/* The nodes of one pool that the job asks for, or those of none. */
struct lks_admit_part {
    const struct lks_state_pool *pool; /* NULL: they have none */
    lks_text posture;
    bool enforces;
    bool sync;   /* they must agree with the other nodes that must */
    bool never;  /* and share no job with another posture */
    bool strict; /* what cannot be told is a no */
    bool production;
    uint32_t nodes;                   /* of the job; 0: the pool is not part of it */
    uint32_t first;                   /* of them */
    uint32_t image;                   /* that is being looked at there, counted from 1 */
    const struct lks_stack *stack;    /* that is pinned, where the book has it */
    const struct lks_admit_pin *pins; /* by library; only where images are looked at */
};

/* What a node agrees in: its stack and the values of its components. */
struct lks_admit_key {
    lks_text stack, values;
    lks_text wrong; /* what differs by a deviation; 0: nothing does */
};

struct lks_admitting {
    const struct lks_state *state;
    const struct lks_book *book;
    struct lks_now now;
    const struct lks_admit_ask *ask;
    struct lks_admit *out;
    uint32_t *nodes;               /* by rank; LKS_NO_NODE: there is none of that name */
    struct lks_bitset set;         /* the same, those that are there; owned */
    struct lks_admit_part *parts;  /* by pool; the last for nodes without one */
    struct lks_admit_part **taken; /* those that have nodes, in the order of ranks */
    uint32_t taken_count;
    bool unknown;             /* a node is not there */
    bool late;                /* an attestation or a check is missing or over */
    bool odd;                 /* nodes that must agree do not */
    bool soaks;               /* a node is a canary, and the job is not one for those */
    bool loaded;              /* a node is a canary under a reference load */
    bool other_stack;         /* a node's intent is not what is asked for */
    struct lks_admit_key key; /* of the first node that must agree */
    lks_text asked_last;      /* the intent that was last held against the asked-for stack */
    uint32_t asked_pool;      /* in this pool */
    bool asked_fits;          /* and whether it is that */
    lks_text intent;          /* that all have so far */
    bool several;             /* they have several */
    lks_ms lasts;             /* until when what nodes must prove lasts */
    uint64_t refused_bars;    /* bits by enum lks_bar */
};

/* Whether a pool that enforces has nodes in it; `sync`: that must agree. */
bool lks_admit_enforced(const struct lks_admitting *a, bool sync);

/* Whether a reason of the refused or of the warned list will be spelled out, and not only counted:
 * who makes a text asks before. */
bool lks_admit_lists(const struct lks_admitting *a, bool refuse);

/* A reason; texts of `no` live as long as the state, the question and the answer. */
void lks_admit_add(struct lks_admitting *a, bool refuse, const struct lks_admit_no *no);

/* Memory ran out; the answer will be that. */
void lks_admit_fail(struct lks_admitting *a);

/* A text that lives as long as the answer, cut at LKS_ADMIT_TEXT_MAX. */
struct lks_str lks_admit_text(struct lks_admitting *a, const char *fmt, ...) LKS_PRINTF(2, 3);

/* The part a node belongs to. */
struct lks_admit_part *lks_admit_part(const struct lks_admitting *a, uint32_t node);

/* The name of the stack with this digest, as the node's pool, the registry or the book has it. */
struct lks_str lks_admit_stack(const struct lks_admitting *a, uint32_t node, lks_text digest);

/* admit_why.c: why a node is barred; `bar` is one that a node can have. */
struct lks_str lks_admit_why(struct lks_admitting *a, uint32_t node, enum lks_bar bar);

/* admit_gang.c: what the job's nodes are to each other: postures that do not mix, values that
 * differ. */
void lks_admit_postures(struct lks_admitting *a);
void lks_admit_odd(struct lks_admitting *a);

/* What a node that was judged is to be compared by with others of its gang. */
struct lks_admit_key lks_admit_key(const struct lks_admitting *a, uint32_t node);

/* admit_images.c: ranks that are there, and the libraries that images bring. */
enum lks_code lks_admit_ranks(const struct lks_admit_ask *ask, struct lks_err *err) LKS_MUST_CHECK;
void lks_admit_images(struct lks_admitting *a);

#endif
