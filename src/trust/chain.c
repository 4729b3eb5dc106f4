#include "trust/chain.h"

#include "trust/handles.h"

#include <stdlib.h>

#define SIGNED_AS "lockstep-head-1 "

enum { NUMBERS_BYTES = 8 + 8 + 2 + 1 };

struct lks_chain {
    EVP_MD_CTX *ctx; /* owned */
    EVP_MD *sha256;  /* owned; looked up once, which costs more than the hash of a row */
};

struct lks_chain *lks_chain_new(void)
{
    struct lks_chain *chain = calloc(1, sizeof(*chain));
    if (chain == NULL)
        return NULL;
    chain->ctx = EVP_MD_CTX_new();
    chain->sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
    if (chain->ctx == NULL || chain->sha256 == NULL) {
        lks_chain_free(chain);
        return NULL;
    }
    return chain;
}

void lks_chain_free(struct lks_chain *chain)
{
    if (chain == NULL)
        return;
    EVP_MD_CTX_free(chain->ctx);
    EVP_MD_free(chain->sha256);
    free(chain);
}

static uint8_t *number_put(uint8_t *at, uint64_t n, unsigned bytes)
{
    for (unsigned i = bytes; i-- > 0; n >>= 8)
        at[i] = (uint8_t)n;
    return at + bytes;
}

enum lks_code lks_chain_hash(struct lks_chain *chain, const uint8_t before[LKS_HASH_BYTES],
                             const struct lks_row *row, uint8_t out[LKS_HASH_BYTES],
                             struct lks_err *err)
{
    uint8_t front[LKS_HASH_BYTES + NUMBERS_BYTES], hash[LKS_HASH_BYTES];
    memcpy(front, before, LKS_HASH_BYTES);
    uint8_t *at = number_put(front + LKS_HASH_BYTES, row->seq, 8);
    at = number_put(at, row->time, 8);
    at = number_put(at, row->kind, 2);
    number_put(at, row->version, 1);
    if (EVP_DigestInit_ex2(chain->ctx, chain->sha256, NULL) != 1 ||
        EVP_DigestUpdate(chain->ctx, front, sizeof(front)) != 1 ||
        EVP_DigestUpdate(chain->ctx, row->body.ptr, row->body.len) != 1 ||
        EVP_DigestFinal_ex(chain->ctx, hash, NULL) != 1)
        return lks_fail(err, LKS_E_IO, "libcrypto could not hash row %llu",
                        (unsigned long long)row->seq);
    memcpy(out, hash, sizeof(hash));
    return LKS_OK;
}

/* The line up to the signature: a reader of the line reads what was signed. */
static void signed_text(const struct lks_head *head, struct lks_buf *out)
{
    lks_buf_init(out, LKS_HEAD_TEXT_MAX + sizeof(SIGNED_AS));
    lks_buf_add(out, LKS_STR(SIGNED_AS));
    lks_row_head_text(head, out);
    if (out->failed != LKS_OK)
        return;
    struct lks_str all = lks_buf_view(out);
    struct lks_str signature = lks_str_last(all, ' ');
    lks_buf_truncate(out, all.len - signature.len - 1);
}

enum lks_code lks_chain_head_sign(const struct lks_key *key, struct lks_head *head,
                                  struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
    signed_text(head, &text);
    enum lks_code code = lks_buf_check(&text, err);
    return code != LKS_OK ? code : lks_key_sign(key, lks_buf_view(&text), head->signature, err);
}

bool lks_chain_head_verify(const struct lks_public_key *key, const struct lks_head *head)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
    signed_text(head, &text);
    return text.failed == LKS_OK && lks_key_verify(key, lks_buf_view(&text), head->signature);
}
