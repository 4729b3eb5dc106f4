/* All kinds of evidence there are: a new one is a file and a row here. */
#include "port/verifier.h"

const char *const lks_evidence_words[] = {"missing", "good", "bad", NULL};

static const struct lks_verifier *const verifiers[] = {&lks_verifier_signature};

/* What is bad is never outweighed; among the rest what is good counts. */
static int weight(enum lks_evidence verdict)
{
    static const int weights[LKS_EVIDENCE_COUNT] = {
        [LKS_EVIDENCE_MISSING] = 0,
        [LKS_EVIDENCE_GOOD] = 1,
        [LKS_EVIDENCE_BAD] = 2,
    };
    return weights[verdict];
}

void lks_verifier_run(const struct lks_evidence_ask *ask, struct lks_evidence_answer *out)
{
    *out = (struct lks_evidence_answer){0};
    for (size_t i = 0; i < LKS_COUNT(verifiers); i++) {
        struct lks_evidence_answer one;
        verifiers[i]->verify(ask, &one);
        if (i == 0 || weight(one.verdict) > weight(out->verdict))
            *out = one;
    }
}
