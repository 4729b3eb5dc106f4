#include "trust/signature.h"

#include "codec/format/base64.h"
#include "codec/format/hex.h"
#include "codec/format/json.h"
#include "model/schema/schema.h"
#include "trust/x509_pem.h"

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/pem.h>

const char *const lks_pin_kind_words[] = {"ed25519", "p256", "p384", NULL};
const char *const lks_pin_algorithm_words[] = {"ed25519", "ecdsa-p256-sha256", "ecdsa-p384-sha384",
                                               NULL};

/* What makes a kind. The hash of Ed25519 is its own business. */
static const struct {
    const char *type, *group;
    const EVP_MD *(*hash)(void);
} kinds[LKS_PIN_KIND_COUNT] = {
    [LKS_PIN_ED25519] = {"ED25519", NULL, NULL},
    [LKS_PIN_P256] = {"EC", "prime256v1", EVP_sha256},
    [LKS_PIN_P384] = {"EC", "secp384r1", EVP_sha384},
};

enum { DER_SEQUENCE = 0x30, DER_LEAST = 8 };

/* Keys -------------------------------------------------------------------------------------- */

static bool kind_of(const EVP_PKEY *pkey, enum lks_pin_kind *out)
{
    for (size_t i = 0; i < LKS_PIN_KIND_COUNT; i++) {
        char group[32] = "";
        if (EVP_PKEY_is_a(pkey, kinds[i].type) != 1)
            continue;
        if (kinds[i].group != NULL &&
            (EVP_PKEY_get_group_name(pkey, group, sizeof(group), NULL) != 1 ||
             !lks_str_is(lks_str_from(group), kinds[i].group)))
            continue;
        *out = (enum lks_pin_kind)i;
        return true;
    }
    return false;
}

/* One key has one fingerprint: points are written out, however they came. */
static enum lks_code pin_from(EVP_PKEY *pkey, struct lks_pin *out, struct lks_err *err)
{
    struct lks_pin pin = {0};
    unsigned char *at = pin.bytes;
    if (!kind_of(pkey, &pin.kind))
        return lks_fail(err, LKS_E_INVALID,
                        "public key: it is neither Ed25519 nor ECDSA on P-256 or P-384");
    if (kinds[pin.kind].group != NULL)
        (void)EVP_PKEY_set_utf8_string_param(pkey, OSSL_PKEY_PARAM_EC_POINT_CONVERSION_FORMAT,
                                             OSSL_PKEY_EC_POINT_CONVERSION_FORMAT_UNCOMPRESSED);
    int len = i2d_PUBKEY(pkey, NULL);
    if (len <= 0 || len > LKS_PIN_BYTES_MAX || i2d_PUBKEY(pkey, &at) != len)
        return lks_fail(err, LKS_E_INVALID, "public key: its curve is not given by name");
    pin.len = (size_t)len;
    struct lks_str bytes = {(const char *)pin.bytes, pin.len};
    if (lks_digest_text(bytes, pin.fingerprint, err) != LKS_OK)
        return err->code;
    *out = pin;
    return LKS_OK;
}

static EVP_PKEY *key_from_der(struct lks_str der)
{
    const unsigned char *at = (const unsigned char *)der.ptr;
    EVP_PKEY *pkey = d2i_PUBKEY(NULL, &at, (long)der.len);
    if (pkey != NULL && (const char *)at != der.ptr + der.len) {
        EVP_PKEY_free(pkey);
        pkey = NULL;
    }
    return pkey;
}

static enum lks_code parse_pem(struct lks_str text, struct lks_pin *out, struct lks_err *err)
{
    if (lks_str_find(text, LKS_STR("PRIVATE KEY-----")) >= 0)
        return lks_fail(err, LKS_E_INVALID,
                        "public key: this is a private key, which stays with the signer; "
                        "'openssl pkey -pubout' writes the public half");
    LKS_CLEANUP(lks_bio_end) BIO *bio = BIO_new_mem_buf(text.ptr, (int)text.len);
    LKS_CLEANUP(lks_pkey_end)
    EVP_PKEY *pkey = bio != NULL ? PEM_read_bio_PUBKEY(bio, NULL, NULL, NULL) : NULL;
    ERR_clear_error();
    if (pkey == NULL)
        return lks_fail(err, LKS_E_INVALID, "public key: no PEM with a public key in it");
    return pin_from(pkey, out, err);
}

static enum lks_code parse_line(struct lks_str text, struct lks_pin *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = LKS_BUF(LKS_PIN_BYTES_MAX);
    struct lks_str word, rest;
    struct lks_err why = {0};
    size_t kind = 0;
    lks_str_cut(text, ':', &word, &rest);
    while (kind < LKS_PIN_KIND_COUNT && !lks_str_is(word, lks_pin_kind_words[kind]))
        kind++;
    if (kind == LKS_PIN_KIND_COUNT || lks_base64_read(rest, &bytes, &why) != LKS_OK ||
        bytes.len == 0)
        return lks_fail(err, LKS_E_INVALID,
                        "public key: expected ed25519:, p256: or p384: and base64 on one line, or "
                        "PEM");
    LKS_CLEANUP(lks_pkey_end)
    EVP_PKEY *pkey = kind == LKS_PIN_ED25519
                         ? EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL,
                                                       (unsigned char *)bytes.ptr, bytes.len)
                         : key_from_der(lks_buf_view(&bytes));
    ERR_clear_error();
    enum lks_pin_kind found;
    if (pkey == NULL || !kind_of(pkey, &found) || found != kind)
        return lks_fail(err, LKS_E_INVALID, "public key: what follows %s: is no such key",
                        lks_pin_kind_words[kind]);
    return pin_from(pkey, out, err);
}

/* Blanks and line ends around it, as editors leave them. */
static struct lks_str stripped(struct lks_str s)
{
    while (s.len > 0 && (s.ptr[s.len - 1] == '\n' || s.ptr[s.len - 1] == '\r' ||
                         s.ptr[s.len - 1] == ' ' || s.ptr[s.len - 1] == '\t'))
        s.len--;
    while (s.len > 0 &&
           (s.ptr[0] == '\n' || s.ptr[0] == '\r' || s.ptr[0] == ' ' || s.ptr[0] == '\t'))
        s = (struct lks_str){s.ptr + 1, s.len - 1};
    return s;
}

/* Points of small order: for a "key" that is one of them anybody can sign. The sign is left out. */
static const char *const weak[] = {
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0100000000000000000000000000000000000000000000000000000000000000",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
};

static bool is_weak(const struct lks_pin *pin)
{
    uint8_t key[LKS_KEY_BYTES], known[LKS_KEY_BYTES];
    if (pin->kind != LKS_PIN_ED25519 || pin->len < sizeof(key))
        return false;
    memcpy(key, pin->bytes + pin->len - sizeof(key), sizeof(key));
    key[sizeof(key) - 1] &= 0x7f;
    for (size_t i = 0; i < LKS_COUNT(weak); i++) {
        if (lks_hex_read(lks_str_from(weak[i]), known, sizeof(known)) &&
            memcmp(key, known, sizeof(key)) == 0)
            return true;
    }
    return false;
}

enum lks_code lks_signature_pin_parse(struct lks_str text, struct lks_pin *out, struct lks_err *err)
{
    struct lks_pin pin = {0};
    if (text.len > LKS_PIN_TEXT_MAX)
        return lks_fail(err, LKS_E_LIMIT, "public key: at most %zu bytes", LKS_PIN_TEXT_MAX);
    bool pem = lks_str_find(text, LKS_STR("-----BEGIN ")) >= 0;
    if ((pem ? parse_pem(text, &pin, err) : parse_line(stripped(text), &pin, err)) != LKS_OK)
        return err->code;
    if (is_weak(&pin))
        return lks_fail(err, LKS_E_INVALID,
                        "public key: it is no real one, anybody can sign for it");
    *out = pin;
    return LKS_OK;
}

void lks_signature_pin_text(const struct lks_pin *pin, char out[LKS_PIN_LINE_SIZE])
{
    /* An Ed25519 key is its last bytes: what precedes them is the same for all. */
    size_t skip = pin->kind == LKS_PIN_ED25519 ? pin->len - LKS_KEY_BYTES : 0;
    size_t word = strlen(lks_pin_kind_words[pin->kind]);
    _Static_assert(
        sizeof("ed25519:") + (LKS_PIN_BYTES_MAX + 2) / 3 * (size_t)4 <= LKS_PIN_LINE_SIZE, "fits");
    memcpy(out, lks_pin_kind_words[pin->kind], word);
    out[word] = ':';
    EVP_EncodeBlock((unsigned char *)out + word + 1, pin->bytes + skip, (int)(pin->len - skip));
}

enum lks_code lks_signature_pin_of(const struct lks_key *key, struct lks_pin *out,
                                   struct lks_err *err)
{
    LKS_CLEANUP(lks_pkey_end)
    EVP_PKEY *pkey =
        EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, key->public, sizeof(key->public));
    if (pkey == NULL)
        return lks_fail(err, LKS_E_IO, "Ed25519 is not available in this libcrypto");
    return pin_from(pkey, out, err);
}

enum lks_code lks_signature_pin_make(const uint8_t seed[LKS_KEY_BYTES], struct lks_buf *pem,
                                     struct lks_err *err)
{
    LKS_CLEANUP(lks_pkey_end)
    EVP_PKEY *pkey = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, seed, LKS_KEY_BYTES);
    LKS_CLEANUP(lks_bio_end) BIO *bio = BIO_new(BIO_s_secmem());
    if (pkey == NULL || bio == NULL ||
        PEM_write_bio_PKCS8PrivateKey(bio, pkey, NULL, NULL, 0, NULL, NULL) != 1)
        return lks_x509_pem_fail("write an Ed25519 key", err);
    return lks_x509_pem_add(bio, pem, err);
}

/* The private key; NULL, and the failure said, where there is none. */
static EVP_PKEY *private_key(struct lks_str pem, struct lks_err *err)
{
    EVP_PKEY *pkey = lks_x509_pem_key(pem);
    if (pkey == NULL)
        (void)!lks_fail(err, LKS_E_INVALID,
                        "signing key: no PEM with a private key in it that is not encrypted; "
                        "'lockstep trust key' makes one");
    return pkey;
}

enum lks_code lks_signature_pin_of_pem(struct lks_str key_pem, struct lks_pin *out,
                                       struct lks_err *err)
{
    LKS_CLEANUP(lks_pkey_end) EVP_PKEY *pkey = private_key(key_pem, err);
    return pkey == NULL ? err->code : pin_from(pkey, out, err);
}

bool lks_signature_pin_name(struct lks_str name)
{
    return name.len <= LKS_PIN_NAME_MAX && lks_schema_is_name(name);
}

/* Signatures -------------------------------------------------------------------------------- */

static enum lks_code take_bytes(struct lks_str bytes, struct lks_signature *s, struct lks_err *err)
{
    bool der = bytes.len >= DER_LEAST && bytes.len <= sizeof(s->bytes) &&
               (unsigned char)bytes.ptr[0] == DER_SEQUENCE &&
               (size_t)(unsigned char)bytes.ptr[1] + 2 == bytes.len;
    if (!der && bytes.len != LKS_SIGNATURE_BYTES)
        return lks_fail(err, LKS_E_INVALID,
                        "signature: %zu bytes that are neither Ed25519 (%d bytes) nor ECDSA in DER",
                        bytes.len, LKS_SIGNATURE_BYTES);
    memcpy(s->bytes, bytes.ptr, bytes.len);
    s->len = bytes.len;
    return LKS_OK;
}

/* openssl base64 breaks lines; nothing else may stand between. */
static enum lks_code take_base64(struct lks_str text, struct lks_signature *s, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf joined = {0}, bytes = {0};
    struct lks_err why = {0};
    lks_buf_init(&joined, LKS_SIGNATURE_TEXT_MAX);
    lks_buf_init(&bytes, LKS_SIGNATURE_TEXT_MAX);
    struct lks_str rest = stripped(text), line;
    for (bool more = rest.len > 0; more;) {
        more = lks_str_cut(rest, '\n', &line, &rest);
        lks_buf_add(&joined, lks_str_trim(line));
    }
    if (joined.len == 0 || lks_base64_read(lks_buf_view(&joined), &bytes, &why) != LKS_OK ||
        bytes.len == 0)
        return lks_fail(err, LKS_E_INVALID,
                        "signature: neither our JSON nor a signature's bytes nor these in base64");
    return take_bytes(lks_buf_view(&bytes), s, err);
}

/* Members that are not ours are refused: their author may think that they count. */
static enum lks_code take_member(const struct lks_doc *m, struct lks_signature *s,
                                 struct lks_err *err)
{
    bool text = m->kind == LKS_DOC_TEXT;
    if (lks_str_is(m->key, "signature") && text)
        return take_base64(m->text, s, err);
    if (lks_str_is(m->key, "key") && text && lks_digest_valid(m->text)) {
        memcpy(s->key, m->text.ptr, m->text.len);
        return LKS_OK;
    }
    if (lks_str_is(m->key, "site") && m->kind == LKS_DOC_BOOL) {
        s->site = m->truth;
        return LKS_OK;
    }
    for (size_t i = 0; lks_str_is(m->key, "algorithm") && text && i < LKS_PIN_KIND_COUNT; i++) {
        if (lks_str_is(m->text, lks_pin_algorithm_words[i])) {
            s->said = true;
            s->kind = (enum lks_pin_kind)i;
            return LKS_OK;
        }
    }
    return lks_fail(err, LKS_E_INVALID,
                    "signature: '%" LKS_STR_FMT "' is not what a signature says",
                    LKS_STR_ARG(m->key));
}

static enum lks_code take_json(struct lks_str text, struct lks_signature *s, struct lks_err *err)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    if (lks_docs_init(&docs, "signature", err) != LKS_OK ||
        lks_json_parse(text, &docs, err) != LKS_OK)
        return err->code;
    if (docs.first->kind != LKS_DOC_MAP)
        return lks_fail(err, LKS_E_INVALID, "signature: not an object");
    for (const struct lks_doc *m = docs.first->first; m != NULL; m = m->next) {
        if (take_member(m, s, err) != LKS_OK)
            return err->code;
    }
    if (s->len == 0)
        return lks_fail(err, LKS_E_INVALID, "signature: the member 'signature' is missing");
    return LKS_OK;
}

/* A signature's bytes are never all text: DER has the bytes of its tags, and 64 bytes of chance are
 * not text either. Base64 that begins as DER does, on the other hand, is there. */
static bool is_text(struct lks_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        if ((c < ' ' || c > '~') && c != '\n' && c != '\r' && c != '\t')
            return false;
    }
    return true;
}

enum lks_code lks_signature_parse(struct lks_str text, struct lks_signature *out,
                                  struct lks_err *err)
{
    struct lks_signature s = {0};
    if (text.len > LKS_SIGNATURE_TEXT_MAX)
        return lks_fail(err, LKS_E_LIMIT, "signature: at most %zu bytes", LKS_SIGNATURE_TEXT_MAX);
    struct lks_str bare = stripped(text);
    bool json = bare.len > 0 && bare.ptr[0] == '{';
    enum lks_code code = !is_text(text) ? take_bytes(text, &s, err)
                         : json         ? take_json(bare, &s, err)
                                        : take_base64(text, &s, err);
    if (code != LKS_OK)
        return code;
    *out = s;
    return LKS_OK;
}

void lks_signature_write(const struct lks_signature *signature, struct lks_buf *out)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_SIGNATURE_TEXT_MAX);
    struct lks_json_writer w = {.out = out};
    lks_base64_add(&text, (struct lks_str){(const char *)signature->bytes, signature->len});
    lks_json_begin(&w, NULL, '{');
    if (signature->said)
        lks_json_cstr(&w, "algorithm", lks_pin_algorithm_words[signature->kind]);
    if (signature->key[0] != '\0')
        lks_json_cstr(&w, "key", signature->key);
    lks_json_text(&w, "signature", lks_buf_view(&text));
    if (signature->site)
        lks_json_bool(&w, "site", true);
    lks_json_end(&w, '}');
    if (text.failed != LKS_OK)
        out->failed = text.failed;
}

enum lks_code lks_signature_make(const struct lks_key *key, struct lks_str message, bool site,
                                 struct lks_signature *out, struct lks_err *err)
{
    struct lks_signature s = {.said = true, .kind = LKS_PIN_ED25519, .site = site};
    struct lks_pin pin;
    _Static_assert(LKS_SIGNATURE_BYTES <= LKS_SIGNATURE_BYTES_MAX, "fits");
    if (lks_signature_pin_of(key, &pin, err) != LKS_OK ||
        lks_key_sign(key, message, s.bytes, err) != LKS_OK)
        return err->code;
    memcpy(s.key, pin.fingerprint, sizeof(s.key));
    s.len = LKS_SIGNATURE_BYTES;
    *out = s;
    return LKS_OK;
}

enum lks_code lks_signature_by(struct lks_str key_pem, struct lks_str message, bool site,
                               struct lks_signature *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_pkey_end) EVP_PKEY *pkey = private_key(key_pem, err);
    LKS_CLEANUP(lks_md_end) EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    struct lks_pin pin = {0};
    if (pkey == NULL || pin_from(pkey, &pin, err) != LKS_OK)
        return err->code;
    struct lks_signature s = {.said = true, .kind = pin.kind, .site = site, .len = sizeof(s.bytes)};
    const EVP_MD *hash = kinds[pin.kind].hash != NULL ? kinds[pin.kind].hash() : NULL;
    memcpy(s.key, pin.fingerprint, sizeof(s.key));
    if (ctx == NULL || EVP_DigestSignInit(ctx, NULL, hash, NULL, pkey) != 1 ||
        EVP_DigestSign(ctx, s.bytes, &s.len, (const unsigned char *)message.ptr, message.len) != 1)
        return lks_x509_pem_fail("sign", err);
    *out = s;
    return LKS_OK;
}

bool lks_signature_good(const struct lks_signature *signature, const struct lks_pin *pin,
                        struct lks_str message)
{
    if ((signature->said && signature->kind != pin->kind) ||
        (signature->key[0] != '\0' && strcmp(signature->key, pin->fingerprint) != 0))
        return false;
    if (pin->kind == LKS_PIN_ED25519 && signature->len != LKS_SIGNATURE_BYTES)
        return false;
    LKS_CLEANUP(lks_pkey_end)
    EVP_PKEY *pkey = key_from_der((struct lks_str){(const char *)pin->bytes, pin->len});
    LKS_CLEANUP(lks_md_end) EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    const EVP_MD *hash = kinds[pin->kind].hash != NULL ? kinds[pin->kind].hash() : NULL;
    bool good = pkey != NULL && ctx != NULL &&
                EVP_DigestVerifyInit(ctx, NULL, hash, NULL, pkey) == 1 &&
                EVP_DigestVerify(ctx, signature->bytes, signature->len,
                                 (const unsigned char *)message.ptr, message.len) == 1;
    ERR_clear_error(); /* a refusal of ours is not the next caller's failure */
    return good;
}
