/*
 * Certificates: a small CA of our own for agents, the server and people, and reading those of a
 * site's PKI. Keys are ECDSA on P-256, which every TLS library and browser takes.
 *
 * What a certificate is for stands in a URI of its subject alternative names:
 * urn:lockstep:node:NAME, urn:lockstep:user:NAME or, of a controller that asks another one,
 * urn:lockstep:controller:NAME; the common name repeats NAME for people, cut to
 * the 64 characters it may have. Under a site's PKI a node is known by its only DNS name, or its
 * common name where it has none.
 *
 * Reading a certificate does not verify it: that is for TLS, or for the caller that has the CA.
 */
#ifndef LKS_TRUST_X509_H
#define LKS_TRUST_X509_H

#include "base/buf.h"
#include "codec/format/digest.h"
#include "codec/notation/hostlist.h"

#define LKS_X509_PEM_MAX     ((size_t)64 << 10)
#define LKS_X509_SERIAL_MAX  41                  /* hexadecimal, and a terminator */
#define LKS_X509_SECONDS_MAX INT64_C(3153600000) /* a hundred years */

enum lks_x509_use {
    LKS_X509_CA,
    LKS_X509_SERVER,
    LKS_X509_NODE,
    LKS_X509_USER,
    LKS_X509_CONTROLLER
};

/* Names of nodes are host names; people may have an '@' in theirs. */
bool lks_x509_user_name(struct lks_str name);

struct lks_x509_about {
    enum lks_x509_use use;
    bool ours; /* says so in a URI; else `name` comes from the DNS or common name */
    char name[LKS_HOST_NAME_MAX + 1]; /* empty where it has none, or not one alone */
    char serial[LKS_X509_SERIAL_MAX];
    char fingerprint[LKS_DIGEST_SIZE]; /* of the DER */
    int64_t not_before, not_after;     /* seconds since 1970 */
};

/* A new key, as PEM (PKCS#8). Chance comes from libcrypto. */
enum lks_code lks_x509_key(struct lks_buf *pem, struct lks_err *err) LKS_MUST_CHECK;

/* A request for a certificate, signed with `key_pem`; the CA ignores the name in it. */
enum lks_code lks_x509_request(struct lks_str key_pem, struct lks_str name, struct lks_buf *pem,
                               struct lks_err *err) LKS_MUST_CHECK;

struct lks_x509_wish {
    enum lks_x509_use use;
    struct lks_str name;
    const struct lks_str *alternatives; /* SERVER: DNS names and addresses */
    size_t alternative_count;
    int64_t now;     /* seconds since 1970; valid from five minutes before */
    int64_t seconds; /* how long it is good for, never longer than its CA */
};

/* A self-signed CA for `key_pem`. */
enum lks_code lks_x509_make_ca(struct lks_str key_pem, const struct lks_x509_wish *wish,
                               struct lks_buf *pem, struct lks_err *err) LKS_MUST_CHECK;

/* A certificate for the key in `request_pem`, whose signature is checked and whose name is not
 * looked at: `wish` says what it becomes. */
enum lks_code lks_x509_issue(struct lks_str ca_pem, struct lks_str ca_key_pem,
                             struct lks_str request_pem, const struct lks_x509_wish *wish,
                             struct lks_buf *pem, struct lks_x509_about *about,
                             struct lks_err *err) LKS_MUST_CHECK;

/* The first certificate of a PEM text, or one as DER. */
enum lks_code lks_x509_read(struct lks_str pem_or_der, struct lks_x509_about *out,
                            struct lks_err *err) LKS_MUST_CHECK;

/* Whether `key_pem` is the key of the first certificate of `cert_pem`. */
bool lks_x509_key_fits(struct lks_str cert_pem, struct lks_str key_pem);

/* Whether the key of `ca_pem` signed the first certificate of `cert_pem`. */
bool lks_x509_issued_by(struct lks_str cert_pem, struct lks_str ca_pem);

#endif
