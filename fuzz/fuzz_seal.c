/* Any bytes at all, twice: as sealed bytes, which open only if sealing what came out gives them
 * again, and as a plain text, which comes back unless a bit of its sealed form was turned. */
#include "trust/seal.h"

enum {
    OUT_MAX = 64 * 1024 * 1024,
    LINE = 35, /* before the nonce */
};

static const struct lks_seal_key key = {.bytes = {1, 2, 3}};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_sealed(struct lks_str in)
{
    struct lks_err err = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf plain = {0}, again = {0};
    lks_buf_init(&plain, OUT_MAX);
    lks_buf_init(&again, OUT_MAX);
    if (lks_seal_open(&key, "backup", in, &plain, &err) != LKS_OK) {
        LKS_ASSERT(plain.len == 0 && (err.code == LKS_E_INVALID || err.code == LKS_E_DENIED));
        return;
    }
    LKS_ASSERT(lks_seal(&key, (const uint8_t *)in.ptr + LINE, "backup", lks_buf_view(&plain),
                        &again, &err) == LKS_OK);
    LKS_ASSERT(lks_str_eq(lks_buf_view(&again), in));
}

static void check_plain(struct lks_str in, size_t turned)
{
    static const uint8_t nonce[LKS_SEAL_NONCE_BYTES] = {5};
    struct lks_err err = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf sealed = {0}, plain = {0};
    lks_buf_init(&sealed, OUT_MAX);
    lks_buf_init(&plain, OUT_MAX);
    LKS_ASSERT(lks_seal(&key, nonce, "x", in, &sealed, &err) == LKS_OK);
    LKS_ASSERT(lks_seal_open(&key, "x", lks_buf_view(&sealed), &plain, &err) == LKS_OK);
    LKS_ASSERT(lks_str_eq(lks_buf_view(&plain), in));
    sealed.ptr[turned % sealed.len] ^= 1;
    LKS_ASSERT(lks_seal_open(&key, "x", lks_buf_view(&sealed), &plain, &err) != LKS_OK);
    LKS_ASSERT(plain.len == in.len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct lks_str in = {(const char *)data, size};
    struct lks_seal_key unused;
    struct lks_err err = {0};
    check_sealed(in);
    check_plain(in, size > 1 ? data[0] * (size_t)256 + data[1] : 0);
    if (lks_seal_key_parse(in, &unused, &err) != LKS_OK)
        LKS_ASSERT(err.code == LKS_E_INVALID);
    return 0;
}
