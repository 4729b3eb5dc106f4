#include "trust/webhook.h"

#include "base/compiler.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <string.h>

enum {
    HASH_BYTES = 32,
    HEX_LEN = 2 * HASH_BYTES,
    TIME_LEN_MAX = 20,
    MESSAGE_SPARE = 32, /* the time and the dot */
};

/* Beyond it seconds are no milliseconds any more. */
#define SECONDS_MAX (LKS_TIME_MAX / LKS_SECOND)

enum lks_code lks_webhook_secret(struct lks_str text, struct lks_str *out, struct lks_err *err)
{
    struct lks_str secret = lks_str_trim(text);
    while (lks_str_ends(secret, "\n"))
        secret = lks_str_trim((struct lks_str){secret.ptr, secret.len - 1});
    if (secret.len < LKS_WEBHOOK_SECRET_MIN || secret.len > LKS_WEBHOOK_SECRET_MAX ||
        !lks_str_printable(secret))
        return lks_fail(err, LKS_E_INVALID,
                        "a shared secret is one line of %d to %d printable bytes",
                        LKS_WEBHOOK_SECRET_MIN, LKS_WEBHOOK_SECRET_MAX);
    *out = secret;
    return LKS_OK;
}

/* `time` as it is written, which is what is signed. */
static enum lks_code mac(struct lks_str secret, struct lks_str time, struct lks_str body,
                         char out[HEX_LEN + 1], struct lks_err *err)
{
    static const char digits[] = "0123456789abcdef";
    LKS_CLEANUP(lks_buf_fini) struct lks_buf message = {0};
    uint8_t hash[HASH_BYTES];
    lks_buf_init(&message, body.len + MESSAGE_SPARE);
    lks_buf_add(&message, time);
    lks_buf_addc(&message, '.');
    lks_buf_add(&message, body);
    if (lks_buf_check(&message, err) != LKS_OK)
        return err->code;
    if (HMAC(EVP_sha256(), secret.ptr, (int)secret.len, (const uint8_t *)message.ptr, message.len,
             hash, NULL) == NULL)
        return lks_fail_nomem(err);
    for (size_t i = 0; i < HASH_BYTES; i++) {
        out[2 * i] = digits[hash[i] >> 4];
        out[2 * i + 1] = digits[hash[i] & 15];
    }
    out[HEX_LEN] = '\0';
    return LKS_OK;
}

enum lks_code lks_webhook_sign(struct lks_str secret, lks_ms wall, struct lks_str body,
                               char out[LKS_WEBHOOK_SIZE], struct lks_err *err)
{
    char time[TIME_LEN_MAX + 1], hex[HEX_LEN + 1];
    snprintf(time, sizeof(time), "%llu", (unsigned long long)(wall / LKS_SECOND));
    if (mac(secret, lks_str_from(time), body, hex, err) != LKS_OK)
        return err->code;
    snprintf(out, LKS_WEBHOOK_SIZE, "t=%s,v1=%s", time, hex);
    return LKS_OK;
}

/* "t=1794700800,v1=HEX", and nothing else. */
static bool split(struct lks_str header, struct lks_str *time, struct lks_str *hex)
{
    struct lks_str left, right;
    if (!lks_str_cut(lks_str_trim(header), ',', &left, &right) || !lks_str_starts(left, "t=") ||
        !lks_str_starts(right, "v1="))
        return false;
    *time = (struct lks_str){left.ptr + 2, left.len - 2};
    *hex = (struct lks_str){right.ptr + 3, right.len - 3};
    return hex->len == HEX_LEN && time->len <= TIME_LEN_MAX;
}

enum lks_code lks_webhook_check(struct lks_str secret, struct lks_str header, struct lks_str body,
                                lks_ms wall, lks_ms *at, struct lks_err *err)
{
    struct lks_str time, hex;
    char want[HEX_LEN + 1];
    uint64_t seconds = 0;
    if (header.len == 0)
        return lks_fail(err, LKS_E_DENIED, "it is not signed: " LKS_WEBHOOK_HEADER " is missing");
    if (!split(header, &time, &hex) || !lks_str_number(time, SECONDS_MAX, &seconds))
        return lks_fail(err, LKS_E_DENIED,
                        LKS_WEBHOOK_HEADER ": expected t=SECONDS,v1=HEX of HMAC-SHA-256");
    if (mac(secret, time, body, want, err) != LKS_OK)
        return err->code;
    if (CRYPTO_memcmp(want, hex.ptr, HEX_LEN) != 0)
        return lks_fail(err, LKS_E_DENIED, "its signature is not one of the shared secret");
    lks_ms then = seconds * LKS_SECOND;
    if ((then > wall ? then - wall : wall - then) > LKS_WEBHOOK_WINDOW)
        return lks_fail(err, LKS_E_DENIED,
                        "it was signed %s: clocks may differ by 5 minutes, and a message is sent "
                        "when it is signed",
                        then > wall ? "in the future" : "too long ago");
    *at = then;
    return LKS_OK;
}
