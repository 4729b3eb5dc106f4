#include "trust/token.h"

#include "base/buf.h"
#include "codec/format/base64.h"
#include "codec/notation/hostlist.h"

#include <openssl/crypto.h>

enum { SECRET_LEN = 43 }; /* LKS_TOKEN_CHANCE bytes as base64 without padding */

static const char *const prefixes[] = {
    [LKS_TOKEN_API] = "lks_api_", [LKS_TOKEN_NODE] = "lks_node_", [LKS_TOKEN_NODES] = "lks_nodes_"};

_Static_assert(sizeof("lks_node_") + LKS_TOKEN_ID_MAX + 1 + SECRET_LEN <= LKS_TOKEN_TEXT_MAX,
               "the longest token fits");

/* Bytes that must not stay behind in freed memory. */
static void wipe(struct lks_buf *b)
{
    if (b->ptr != NULL)
        OPENSSL_cleanse(b->ptr, b->cap);
    lks_buf_fini(b);
}

static bool id_valid(struct lks_str id)
{
    return id.len <= LKS_TOKEN_ID_MAX && lks_hostlist_is_name(id);
}

static enum lks_code check_id(struct lks_str id, struct lks_err *err)
{
    if (id_valid(id))
        return LKS_OK;
    return lks_fail(err, LKS_E_INVALID,
                    "token: a name is letters, digits, '.', '-' and '_', at most %d",
                    LKS_HOST_NAME_MAX);
}

/* What stands before the secret. */
static void add_front(struct lks_buf *out, enum lks_token_kind kind, struct lks_str id)
{
    lks_buf_addf(out, "%s", prefixes[kind]);
    if (kind != LKS_TOKEN_NODES)
        lks_buf_addf(out, "%" LKS_STR_FMT "_", LKS_STR_ARG(id));
}

enum lks_code lks_token_make(enum lks_token_kind kind, struct lks_str id,
                             const uint8_t chance[LKS_TOKEN_CHANCE], char text[LKS_TOKEN_TEXT_MAX],
                             char hash[LKS_DIGEST_SIZE], struct lks_err *err)
{
    if (kind != LKS_TOKEN_NODES && check_id(id, err) != LKS_OK)
        return err->code;
    LKS_CLEANUP(wipe) struct lks_buf out = {0};
    lks_buf_init(&out, LKS_TOKEN_TEXT_MAX - 1);
    add_front(&out, kind, id);
    size_t front = out.len;
    lks_base64_url_add(&out, (struct lks_str){(const char *)chance, LKS_TOKEN_CHANCE});
    enum lks_code code = lks_buf_check(&out, err);
    if (code != LKS_OK)
        return code;
    code = lks_digest_text((struct lks_str){out.ptr + front, out.len - front}, hash, err);
    if (code == LKS_OK)
        memcpy(text, out.ptr, out.len + 1);
    return code;
}

static bool secret_valid(struct lks_str secret)
{
    struct lks_err err = {0};
    LKS_CLEANUP(wipe) struct lks_buf bytes = {0};
    lks_buf_init(&bytes, LKS_TOKEN_CHANCE);
    return lks_base64_url_read(secret, &bytes, &err) == LKS_OK && bytes.len == LKS_TOKEN_CHANCE;
}

static bool parse_nodes(struct lks_str text, struct lks_token *out)
{
    const char *prefix = prefixes[LKS_TOKEN_NODES];
    size_t front = strlen(prefix);
    if (!lks_str_starts(text, prefix) || text.len != front + SECRET_LEN)
        return false;
    struct lks_str secret = {text.ptr + front, SECRET_LEN};
    if (!secret_valid(secret))
        return false;
    *out = (struct lks_token){LKS_TOKEN_NODES, {text.ptr + front, 0}, secret};
    return true;
}

enum lks_code lks_token_parse(struct lks_str text, struct lks_token *out, struct lks_err *err)
{
    if (parse_nodes(text, out))
        return LKS_OK;
    for (size_t i = 0; i < LKS_TOKEN_NODES; i++) {
        struct lks_str prefix = lks_str_from(prefixes[i]);
        if (!lks_str_starts(text, prefixes[i]) || text.len < prefix.len + 1 + 1 + SECRET_LEN)
            continue;
        /* A name and a secret may have '_' in them: the secret is found by its length. */
        struct lks_str id = {text.ptr + prefix.len, text.len - prefix.len - 1 - SECRET_LEN};
        struct lks_str secret = {id.ptr + id.len + 1, SECRET_LEN};
        if (id.ptr[id.len] != '_' || !id_valid(id) || !secret_valid(secret))
            continue;
        *out = (struct lks_token){(enum lks_token_kind)i, id, secret};
        return LKS_OK;
    }
    return lks_fail(err, LKS_E_INVALID,
                    "not a token of ours: they read lks_api_ID_SECRET, lks_node_NAME_SECRET or "
                    "lks_nodes_SECRET");
}

enum lks_code lks_token_of_node(const struct lks_token *token, struct lks_str name,
                                char text[LKS_TOKEN_TEXT_MAX], struct lks_err *err)
{
    LKS_CLEANUP(wipe) struct lks_buf out = {0};
    lks_buf_init(&out, LKS_TOKEN_TEXT_MAX - 1);
    if (check_id(name, err) != LKS_OK)
        return err->code;
    add_front(&out, LKS_TOKEN_NODE, name);
    lks_buf_add(&out, token->secret);
    if (lks_buf_check(&out, err) != LKS_OK)
        return err->code;
    memcpy(text, out.ptr, out.len + 1);
    return LKS_OK;
}

enum lks_code lks_token_hash(const struct lks_token *token, char hash[LKS_DIGEST_SIZE],
                             struct lks_err *err)
{
    return lks_digest_text(token->secret, hash, err);
}

bool lks_token_same(struct lks_str hash, struct lks_str other)
{
    return hash.len == other.len && hash.len > 0 &&
           CRYPTO_memcmp(hash.ptr, other.ptr, hash.len) == 0;
}
