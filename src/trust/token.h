/*
 * Tokens: secrets that people and new nodes show. We keep only their hash.
 *
 *     lks_api_ID_SECRET     an API token; ID finds it, 43 characters of SECRET prove it
 *     lks_node_NAME_SECRET  good for enrolling one node, once
 *     lks_nodes_SECRET      the same secret for several nodes: each makes its own token of it
 *
 * SECRET is 32 bytes of chance, so a plain SHA-256 of it is enough: there is nothing to guess.
 */
#ifndef LKS_TRUST_TOKEN_H
#define LKS_TRUST_TOKEN_H

#include "codec/format/digest.h"

#include <stdint.h>

#define LKS_TOKEN_CHANCE   32
#define LKS_TOKEN_ID_MAX   255
#define LKS_TOKEN_TEXT_MAX 384

enum lks_token_kind { LKS_TOKEN_API, LKS_TOKEN_NODE, LKS_TOKEN_NODES };

/* Views of the text it was parsed from. */
struct lks_token {
    enum lks_token_kind kind;
    struct lks_str id; /* of an API token, or the node's name; empty: of several nodes */
    struct lks_str secret;
};

/* The token's text and the digest to keep of its secret. One of several nodes has no `id`. */
enum lks_code lks_token_make(enum lks_token_kind kind, struct lks_str id,
                             const uint8_t chance[LKS_TOKEN_CHANCE], char text[LKS_TOKEN_TEXT_MAX],
                             char hash[LKS_DIGEST_SIZE], struct lks_err *err) LKS_MUST_CHECK;

/* The message of a failure never repeats the text. */
enum lks_code lks_token_parse(struct lks_str text, struct lks_token *out,
                              struct lks_err *err) LKS_MUST_CHECK;
enum lks_code lks_token_hash(const struct lks_token *token, char hash[LKS_DIGEST_SIZE],
                             struct lks_err *err) LKS_MUST_CHECK;

/* The token of the node `name`, from one of several nodes. */
enum lks_code lks_token_of_node(const struct lks_token *token, struct lks_str name,
                                char text[LKS_TOKEN_TEXT_MAX], struct lks_err *err) LKS_MUST_CHECK;

/* In constant time. */
bool lks_token_same(struct lks_str hash, struct lks_str other);

#endif
