/*
 * Signed payloads in the DSSE form: {"payload": base64, "payloadType": ..., "signatures":
 * [{"keyid", "sig"}]}, signed over "DSSEv1 LEN TYPE LEN PAYLOAD". What is inside is looked at only
 * after a signature was found good.
 */
#ifndef LKS_TRUST_DSSE_H
#define LKS_TRUST_DSSE_H

#include "base/buf.h"
#include "trust/key.h"

#define LKS_DSSE_MAX ((size_t)1 << 20)

enum lks_code lks_dsse_sign(const struct lks_key *key, const char *type, struct lks_str payload,
                            struct lks_buf *out, struct lks_err *err) LKS_MUST_CHECK;

/* The payload, if it is of `type` and one of the keys signed it: DENIED otherwise. */
enum lks_code lks_dsse_open(struct lks_str text, const struct lks_public_key *keys,
                            size_t key_count, const char *type, struct lks_buf *payload,
                            struct lks_err *err) LKS_MUST_CHECK;

#endif
