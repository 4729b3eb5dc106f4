/* Any text at all: a token that is taken is its prefix, its name and its secret, and nothing else.
 */
#include "base/buf.h"
#include "trust/token.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct lks_str text = {(const char *)data, size};
    struct lks_token token = {0};
    struct lks_err err = {0};
    if (lks_token_parse(text, &token, &err) != LKS_OK) {
        LKS_ASSERT(token.id.ptr == NULL);
        return 0;
    }
    LKS_CLEANUP(lks_buf_fini) struct lks_buf again = LKS_BUF(LKS_TOKEN_TEXT_MAX);
    static const char *const prefixes[] = {"lks_api_", "lks_node_", "lks_nodes_"};
    lks_buf_add(&again, lks_str_from(prefixes[token.kind]));
    lks_buf_add(&again, token.id);
    LKS_ASSERT((token.kind == LKS_TOKEN_NODES) == (token.id.len == 0));
    if (token.kind != LKS_TOKEN_NODES)
        lks_buf_addc(&again, '_');
    lks_buf_add(&again, token.secret);
    LKS_ASSERT(lks_str_eq(lks_buf_view(&again), text));
    char hash[LKS_DIGEST_SIZE];
    LKS_ASSERT(lks_token_hash(&token, hash, &err) == LKS_OK);
    LKS_ASSERT(lks_digest_valid(lks_str_from(hash)));
    return 0;
}
