/* The first byte says whether the rest is a public key or a signature. A key that is taken has one
 * line that means the same key. A signature that is taken is written in a form that means the same,
 * and none is good: the keys it is held against signed nothing. */
#include "trust/signature.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_at_key(struct lks_str text)
{
    struct lks_pin pin = {0}, again = {0};
    struct lks_err err = {0};
    char line[LKS_PIN_LINE_SIZE];
    if (lks_signature_pin_parse(text, &pin, &err) != LKS_OK) {
        LKS_ASSERT(pin.len == 0 && err.msg[0] != '\0');
        return;
    }
    LKS_ASSERT(pin.len <= LKS_PIN_BYTES_MAX && lks_digest_valid(lks_str_from(pin.fingerprint)));
    lks_signature_pin_text(&pin, line);
    LKS_ASSERT(lks_signature_pin_parse(lks_str_from(line), &again, &err) == LKS_OK);
    LKS_ASSERT(again.kind == pin.kind && again.len == pin.len);
    LKS_ASSERT(memcmp(again.bytes, pin.bytes, pin.len) == 0);
    LKS_ASSERT(strcmp(again.fingerprint, pin.fingerprint) == 0);
}

static void hold_against(const struct lks_signature *s)
{
    /* Of RFC 8410; and two points of P-256 and P-384 whose private halves nobody kept. */
    static const char *const lines[] = {
        "ed25519:Gb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=",
        "p256:MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEkhYcsFDcYikQ0ewCrNfuafzlb63s7VS"
        "jEJh0uINmdiZt2j3C4Y3mzABYzZGe8nhkYfmzeKrNe10fTT2B8c7b8g==",
        "p384:MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAEsmkCFyfQzzkajzPhlqIKliHmqNUEK54ecvK"
        "xzbrTN8H1zH/TPlWU9a5lbBxtVj1ndC67NlI/y9gZkvFXnt5AHOxu0D802X4jxCZAKCMDfLa"
        "y6D2s2lfdkIw+3Pd6QG6C",
    };
    for (size_t i = 0; i < LKS_COUNT(lines); i++) {
        struct lks_pin pin;
        struct lks_err err = {0};
        LKS_ASSERT(lks_signature_pin_parse(lks_str_from(lines[i]), &pin, &err) == LKS_OK);
        LKS_ASSERT(!lks_signature_good(s, &pin, LKS_STR("a message")));
    }
}

static void look_at_signature(struct lks_str text)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf json = LKS_BUF(LKS_SIGNATURE_TEXT_MAX);
    struct lks_signature s = {0}, again = {0};
    struct lks_err err = {0};
    if (lks_signature_parse(text, &s, &err) != LKS_OK) {
        LKS_ASSERT(s.len == 0 && err.msg[0] != '\0');
        return;
    }
    LKS_ASSERT(s.len > 0 && s.len <= sizeof(s.bytes));
    hold_against(&s);
    lks_signature_write(&s, &json);
    LKS_ASSERT(lks_signature_parse(lks_buf_view(&json), &again, &err) == LKS_OK);
    LKS_ASSERT(again.len == s.len && memcmp(again.bytes, s.bytes, s.len) == 0);
    LKS_ASSERT(again.site == s.site && again.said == s.said && strcmp(again.key, s.key) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct lks_str rest = {(const char *)data + 1, size - 1};
    if (data[0] == 'k')
        look_at_key(rest);
    else
        look_at_signature(rest);
    return 0;
}
