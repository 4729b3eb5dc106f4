/* Readings of nodes, each set once, and their verdicts: the readings compared with stacks. */
#ifndef LKS_ROWS_VERDICT_H
#define LKS_ROWS_VERDICT_H

#include "base/time.h"
#include "core/rows/text.h"
#include "model/record/record_words.h"

#define LKS_STATE_BASES_MAX    (1 << 30)
#define LKS_STATE_VERDICTS_MAX (1 << 30)

/* Readings that verdicts are based on: core/conform/basis.h. Kept while a node refers to them. */
struct lks_state_basis {
    char *readings; /* owned; NULL: not known */
    uint32_t len;
    uint32_t uses;    /* by nodes, as inband, outband and whole */
    uint32_t gpus;    /* that it names */
    uint32_t first;   /* node whose `whole` it is: place + 1; 0: none */
    uint32_t verdict; /* the first of its verdicts; 0: none */
};

struct lks_state_verdict {
    uint32_t basis; /* handle; 0: a free place */
    lks_text stack;
    enum lks_judged judged;
    uint32_t drifted, unmeasured;
    lks_text first, wrong;
    lks_text values; /* nodes agree if these are the same text */
    uint32_t next;   /* of the same basis, or the next free place; 0: none */
};

#endif
