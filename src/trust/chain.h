/* The journal's hash chain and its signed heads; see model/record/row.h for what is hashed. */
#ifndef LKS_TRUST_CHAIN_H
#define LKS_TRUST_CHAIN_H

#include "model/record/row.h"
#include "trust/key.h"

/* A running hash is reused from row to row: a journal has millions of them. */
struct lks_chain;
struct lks_chain *lks_chain_new(void); /* NULL when memory runs out */
void lks_chain_free(struct lks_chain *chain);

/* The hash of `row`, whose own is not looked at, behind a row with the hash `before`. */
enum lks_code lks_chain_hash(struct lks_chain *chain, const uint8_t before[LKS_HASH_BYTES],
                             const struct lks_row *row, uint8_t out[LKS_HASH_BYTES],
                             struct lks_err *err) LKS_MUST_CHECK;

/* What is signed is the head's line without the signature, behind "lockstep-head-1 ". */
enum lks_code lks_chain_head_sign(const struct lks_key *key, struct lks_head *head,
                                  struct lks_err *err) LKS_MUST_CHECK;
bool lks_chain_head_verify(const struct lks_public_key *key, const struct lks_head *head);

#endif
