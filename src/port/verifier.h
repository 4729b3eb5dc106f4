/*
 * Evidence: why the bits of a bundle are believed. A verifier looks at one kind of it, such as a
 * detached signature, and says whether it is there and good against what a person pinned. Pure:
 * everything arrives as an argument, so the command line and lockstepd reach the same verdict.
 *
 * A bundle is good when one verifier says so and none says bad. A verdict is given once and
 * recorded: a key that ends later does not undo it, a revocation does.
 */
#ifndef LKS_PORT_VERIFIER_H
#define LKS_PORT_VERIFIER_H

#include "model/manifest/bundle.h"
#include "trust/signature.h"

enum lks_evidence {
    LKS_EVIDENCE_MISSING, /* there is none of this kind */
    LKS_EVIDENCE_GOOD,
    LKS_EVIDENCE_BAD,
    LKS_EVIDENCE_COUNT
};
extern const char *const lks_evidence_words[]; /* "missing", "good", "bad", NULL */

/* A pinned key and its name. */
struct lks_trusted {
    char name[LKS_PIN_NAME_MAX + 1];
    struct lks_pin pin;
};

struct lks_evidence_ask {
    struct lks_str manifest;         /* the bytes of bundle.json */
    struct lks_str signature;        /* those of bundle.sig; empty: there is none */
    const struct lks_bundle *bundle; /* the manifest, parsed */
    const struct lks_trusted *trusted;
    size_t trusted_count;
    const char *state; /* the folder of the state where keys are pinned; NULL: in lockstepd */
};

struct lks_evidence_answer {
    enum lks_evidence verdict;
    char signer[LKS_PIN_NAME_MAX + 1]; /* GOOD: name of the pinned key */
    char key[LKS_DIGEST_SIZE];         /* and its fingerprint; BAD: that it says, or empty */
    bool site;                         /* signed by the site for a vendor that does not sign */
    char line[LKS_ERR_MSG_MAX];        /* why, in one line, and what to do if it is not good */
};

struct lks_verifier {
    const char *name; /* "signature" */
    void (*verify)(const struct lks_evidence_ask *ask, struct lks_evidence_answer *out);
};

extern const struct lks_verifier lks_verifier_signature; /* drivers/verify/verifier_signature.c */

/* Ask all there are: drivers/verify/verifiers.c. */
void lks_verifier_run(const struct lks_evidence_ask *ask, struct lks_evidence_answer *out);

#endif
