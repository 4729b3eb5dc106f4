/*
 * Signatures of others: public keys that a person pinned, and detached signatures by them.
 *
 * A key is Ed25519, or ECDSA on P-256 or P-384. Which hash goes with it follows from the key alone
 * (SHA-256 with P-256, SHA-384 with P-384), never from what the signature says of itself: there is
 * one way to be good. As text a key is one line, "ed25519:BASE64" of its 32 bytes, "p256:BASE64" or
 * "p384:BASE64" of its SubjectPublicKeyInfo; a PEM file with a public key is read too. Its
 * fingerprint is the SHA-256 of the SubjectPublicKeyInfo.
 *
 * A signature is a small JSON, {"algorithm", "key", "signature", "site"}; or the bytes alone, or
 * these in base64, as other tools leave them (openssl dgst -sign, openssl pkeyutl -sign). ECDSA
 * signatures are DER, Ed25519 ones 64 bytes.
 */
#ifndef LKS_TRUST_SIGNATURE_H
#define LKS_TRUST_SIGNATURE_H

#include "codec/format/digest.h"
#include "trust/key.h"

#define LKS_PIN_TEXT_MAX        ((size_t)4096) /* of a key that is read: PEM, say */
#define LKS_PIN_LINE_SIZE       176            /* as one line, terminator included */
#define LKS_PIN_BYTES_MAX       120            /* of a SubjectPublicKeyInfo */
#define LKS_PIN_NAME_MAX        63
#define LKS_SIGNATURE_TEXT_MAX  ((size_t)4096)
#define LKS_SIGNATURE_BYTES_MAX 112 /* the longest: P-384 in DER has 104 */

enum lks_pin_kind { LKS_PIN_ED25519, LKS_PIN_P256, LKS_PIN_P384, LKS_PIN_KIND_COUNT };
extern const char *const lks_pin_kind_words[];      /* "ed25519", "p256", "p384", NULL */
extern const char *const lks_pin_algorithm_words[]; /* "ed25519", "ecdsa-p256-sha256", ..., NULL */

/* A public key. */
struct lks_pin {
    enum lks_pin_kind kind;
    uint8_t bytes[LKS_PIN_BYTES_MAX]; /* SubjectPublicKeyInfo, DER */
    size_t len;
    char fingerprint[LKS_DIGEST_SIZE];
};

/* One line, or PEM. A private key is refused, and so is what is neither of the three kinds. */
enum lks_code lks_signature_pin_parse(struct lks_str text, struct lks_pin *out,
                                      struct lks_err *err) LKS_MUST_CHECK;
void lks_signature_pin_text(const struct lks_pin *pin, char out[LKS_PIN_LINE_SIZE]);

/* The public half of a key of ours. */
enum lks_code lks_signature_pin_of(const struct lks_key *key, struct lks_pin *out,
                                   struct lks_err *err) LKS_MUST_CHECK;

/* A new Ed25519 key of this chance, as PEM that lks_signature_by() and others read; and the public
 * half of such a PEM. */
enum lks_code lks_signature_pin_make(const uint8_t seed[LKS_KEY_BYTES], struct lks_buf *pem,
                                     struct lks_err *err) LKS_MUST_CHECK;
enum lks_code lks_signature_pin_of_pem(struct lks_str key_pem, struct lks_pin *out,
                                       struct lks_err *err) LKS_MUST_CHECK;

/* How a pinned key may be called: as manifests call things. */
bool lks_signature_pin_name(struct lks_str name);

struct lks_signature {
    char key[LKS_DIGEST_SIZE]; /* fingerprint of the key it says it is by; empty: it does not say */
    bool said;                 /* it says by which algorithm */
    enum lks_pin_kind kind;    /* then, that one */
    bool site; /* it says that a site made it for itself, for a vendor that does not sign */
    uint8_t bytes[LKS_SIGNATURE_BYTES_MAX];
    size_t len;
};

/* In any of the forms above. It says nothing yet about whether it is good. */
enum lks_code lks_signature_parse(struct lks_str text, struct lks_signature *out,
                                  struct lks_err *err) LKS_MUST_CHECK;
/* Append it as JSON; it says algorithm and key. */
void lks_signature_write(const struct lks_signature *signature, struct lks_buf *out);

enum lks_code lks_signature_make(const struct lks_key *key, struct lks_str message, bool site,
                                 struct lks_signature *out, struct lks_err *err) LKS_MUST_CHECK;

/* The same with a private key as others keep it: PEM, of any of the three kinds, not encrypted. */
enum lks_code lks_signature_by(struct lks_str key_pem, struct lks_str message, bool site,
                               struct lks_signature *out, struct lks_err *err) LKS_MUST_CHECK;

/* Whether it is `pin`'s signature of `message`. One that says another key or algorithm is not. */
bool lks_signature_good(const struct lks_signature *signature, const struct lks_pin *pin,
                        struct lks_str message);

#endif
