/* A detached signature of the manifest, by a key that a person pinned. */
#include "port/verifier.h"

#include <stdio.h>

static const char unsigned_line[] =
    "it has no signature (" LKS_BUNDLE_SIGNATURE_FILE "); ask its vendor for one, or sign it for "
    "your site: lockstep bundle build DIR --sign KEYFILE --output NEW";

static void set(struct lks_evidence_answer *out, enum lks_evidence verdict, const char *line)
{
    out->verdict = verdict;
    snprintf(out->line, sizeof(out->line), "%s", line);
}

/* Not verified: the key it names is not pinned, or is and did not sign these bytes. */
static void refuse(const struct lks_evidence_ask *ask, const struct lks_signature *s,
                   struct lks_evidence_answer *out)
{
    const char *with = ask->state != NULL ? " --state " : "";
    const char *state = ask->state != NULL ? ask->state : "";
    out->verdict = LKS_EVIDENCE_BAD;
    memcpy(out->key, s->key, sizeof(out->key));
    for (size_t i = 0; i < ask->trusted_count && s->key[0] != '\0'; i++) {
        if (strcmp(ask->trusted[i].pin.fingerprint, s->key) != 0)
            continue;
        snprintf(out->line, sizeof(out->line),
                 "its signature says it is by '%s', and is not: the manifest or the signature was "
                 "changed",
                 ask->trusted[i].name);
        return;
    }
    if (ask->trusted_count == 0)
        snprintf(out->line, sizeof(out->line),
                 "no key is pinned to check its signature with; pin its signer's: lockstep trust "
                 "add NAME KEYFILE --reason TEXT%s%s",
                 with, state);
    else
        snprintf(out->line, sizeof(out->line),
                 "its signature%s%s is of none of the %zu pinned keys; if you know its signer, pin "
                 "that key: lockstep trust add NAME KEYFILE --reason TEXT%s%s",
                 s->key[0] != '\0' ? " by " : "", s->key, ask->trusted_count, with, state);
}

static void verify(const struct lks_evidence_ask *ask, struct lks_evidence_answer *out)
{
    struct lks_signature s;
    struct lks_err err = {0};
    *out = (struct lks_evidence_answer){0};
    if (ask->signature.len == 0) {
        set(out, LKS_EVIDENCE_MISSING, unsigned_line);
        return;
    }
    if (lks_signature_parse(ask->signature, &s, &err) != LKS_OK) {
        set(out, LKS_EVIDENCE_BAD, err.msg);
        return;
    }
    for (size_t i = 0; i < ask->trusted_count; i++) {
        const struct lks_trusted *t = &ask->trusted[i];
        if (!lks_signature_good(&s, &t->pin, ask->manifest))
            continue;
        out->verdict = LKS_EVIDENCE_GOOD;
        out->site = s.site || ask->bundle->signed_for.len > 0;
        snprintf(out->signer, sizeof(out->signer), "%s", t->name);
        memcpy(out->key, t->pin.fingerprint, sizeof(out->key));
        snprintf(out->line, sizeof(out->line), "signed by '%s'%s", t->name,
                 out->site ? ", for this site" : "");
        return;
    }
    refuse(ask, &s, out);
}

const struct lks_verifier lks_verifier_signature = {.name = "signature", .verify = verify};
