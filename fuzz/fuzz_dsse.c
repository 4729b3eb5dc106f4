/* Any bytes at all, twice: as a signed payload, which opens only as the one payload that was ever
 * signed with this key, and as a payload that is signed here, which is a command only if signing
 * that command again gives it back. */
#include "trust/envelope.h"

enum { OUT_MAX = 4 << 20 };

#define TYPE   "application/vnd.lockstep.test+json"
#define SIGNED "reboot gn001"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_outside(struct lks_str in, const struct lks_public_key *half)
{
    struct lks_err err = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf payload = LKS_BUF(OUT_MAX);
    if (lks_dsse_open(in, half, 1, TYPE, &payload, &err) == LKS_OK)
        LKS_ASSERT(lks_str_is(lks_buf_view(&payload), SIGNED));
    else
        LKS_ASSERT(payload.len == 0);
}

static void check_inside(struct lks_str in, const struct lks_key *key,
                         const struct lks_public_key *half)
{
    struct lks_envelope e = {0}, again = {0};
    struct lks_err err = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0}, second = {0};
    lks_buf_init(&text, OUT_MAX);
    lks_buf_init(&second, OUT_MAX);
    if (lks_dsse_sign(key, LKS_ENVELOPE_TYPE, in, &text, &err) != LKS_OK)
        return;
    if (lks_envelope_open(lks_buf_view(&text), half, 1, &e, &err) != LKS_OK) {
        LKS_ASSERT(err.code != LKS_E_DENIED && e.id == 0);
        return;
    }
    LKS_ASSERT(lks_envelope_sign(key, &e, &second, &err) == LKS_OK);
    LKS_ASSERT(lks_envelope_open(lks_buf_view(&second), half, 1, &again, &err) == LKS_OK);
    lks_buf_truncate(&text, 0);
    LKS_ASSERT(lks_envelope_sign(key, &again, &text, &err) == LKS_OK);
    LKS_ASSERT(lks_str_eq(lks_buf_view(&text), lks_buf_view(&second)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t seed[LKS_KEY_BYTES] = {1};
    struct lks_key key = {0};
    struct lks_err err = {0};
    struct lks_str in = {(const char *)data, size};
    LKS_ASSERT(lks_key_make(seed, &key, &err) == LKS_OK);
    struct lks_public_key half = lks_key_public(&key);
    check_outside(in, &half);
    check_inside(in, &key, &half);
    return 0;
}
