/*
 * A command to an agent: which executor is to run, on which node and boot, until when, with which
 * artifacts. No command text crosses the wire. It travels as a signed payload (trust/dsse.h).
 */
#ifndef LKS_TRUST_ENVELOPE_H
#define LKS_TRUST_ENVELOPE_H

#include "codec/format/digest.h"
#include "trust/dsse.h"

#define LKS_ENVELOPE_TYPE        "application/vnd.lockstep.command+json"
#define LKS_ENVELOPE_DIGESTS_MAX 32
#define LKS_EXECUTOR_NAME_MAX    63
#define LKS_BOOT_ID_SIZE         37 /* a UUID as text */

struct lks_envelope {
    uint64_t id; /* of the command, in one journal; with `journal` it is known for ever */
    char journal[LKS_JOURNAL_ID_SIZE];
    char node[256];
    char boot[LKS_BOOT_ID_SIZE];
    uint64_t epoch; /* of the leader that sent it; an older one is refused */
    uint64_t attempt;
    lks_ms expires; /* milliseconds since 1970 */
    char executor[LKS_EXECUTOR_NAME_MAX + 1];
    char digests[LKS_ENVELOPE_DIGESTS_MAX][LKS_DIGEST_SIZE];
    size_t digest_count;
};

/* An executor's name becomes the name of a program in one folder: lower-case letters, digits and
 * '-', which is not the first, so that it leads nowhere else and is no option. */
bool lks_envelope_executor_name(struct lks_str s);

enum lks_code lks_envelope_sign(const struct lks_key *key, const struct lks_envelope *e,
                                struct lks_buf *out, struct lks_err *err) LKS_MUST_CHECK;
enum lks_code lks_envelope_open(struct lks_str text, const struct lks_public_key *keys,
                                size_t key_count, struct lks_envelope *out,
                                struct lks_err *err) LKS_MUST_CHECK;

#endif
