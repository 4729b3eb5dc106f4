/*
 * Signing keys of our own: Ed25519. The journal's heads and the commands to agents are signed with
 * them. A key is made of 32 bytes of chance that the caller brings; the public half is a text that
 * people can compare: "ed25519:" and base64.
 */
#ifndef LKS_TRUST_KEY_H
#define LKS_TRUST_KEY_H

#include "base/buf.h"
#include "model/record/row.h"

#define LKS_KEY_BYTES     32
#define LKS_KEY_TEXT_SIZE 64

struct lks_key {
    uint8_t seed[LKS_KEY_BYTES]; /* secret */
    uint8_t public[LKS_KEY_BYTES];
};
struct lks_public_key {
    uint8_t bytes[LKS_KEY_BYTES];
};

enum lks_code lks_key_make(const uint8_t seed[LKS_KEY_BYTES], struct lks_key *out,
                           struct lks_err *err) LKS_MUST_CHECK;
void lks_key_wipe(struct lks_key *key);
struct lks_public_key lks_key_public(const struct lks_key *key);
void lks_key_public_text(const struct lks_public_key *key, char out[LKS_KEY_TEXT_SIZE]);
enum lks_code lks_key_public_parse(struct lks_str text, struct lks_public_key *out,
                                   struct lks_err *err) LKS_MUST_CHECK;

/* The key in the first line of the file at `path`, which holds `text`. */
enum lks_code lks_key_public_file(const char *path, struct lks_str text, struct lks_public_key *out,
                                  struct lks_err *err) LKS_MUST_CHECK;

enum lks_code lks_key_sign(const struct lks_key *key, struct lks_str message,
                           uint8_t out[LKS_SIGNATURE_BYTES], struct lks_err *err) LKS_MUST_CHECK;
bool lks_key_verify(const struct lks_public_key *key, struct lks_str message,
                    const uint8_t signature[LKS_SIGNATURE_BYTES]);

#endif
