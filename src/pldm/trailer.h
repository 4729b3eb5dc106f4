/*
 * The signature that NVIDIA puts behind its packages: 1024 bytes after the last image, with a
 * public key and an ECDSA signature (P-384, SHA-384) over everything before it, head and key of the
 * trailer included. It is no part of the standard.
 *
 * The key comes with the file, so by itself it shows that the file is whole and no more: a person
 * who can change the file can sign it anew. Who made it is known only where the key was pinned by
 * other means.
 */
#ifndef LKS_PLDM_TRAILER_H
#define LKS_PLDM_TRAILER_H

#include "pldm/package.h"
#include "trust/signature.h"

#define LKS_PLDM_TRAILER_BYTES 1024

struct lks_pldm_trailer {
    uint8_t major, minor;
    uint8_t security_version;
    uint32_t payload_size; /* as it says; nothing rests on it */
    struct lks_str key;    /* PEM; a view of the trailer */
    struct lks_str signature;
    uint64_t signed_size; /* bytes from the beginning of the file that it covers */
};

/* Whether the last LKS_PLDM_TRAILER_BYTES of a file mean to be one. */
bool lks_pldm_trailer_is(struct lks_str tail);

/* Read one that begins at `at` in its file. */
enum lks_code lks_pldm_trailer_parse(struct lks_str tail, uint64_t at, struct lks_pldm_trailer *out,
                                     struct lks_err *err) LKS_MUST_CHECK;

/* Whether the signature is good for the digest of what it covers (the pass computes it), by `pin`,
 * or, with NULL, by the key that is in the trailer: then it tells integrity only. REFUSED when it
 * is not, or not by that key. */
enum lks_code lks_pldm_trailer_verify(const struct lks_pldm_trailer *t,
                                      const uint8_t digest[LKS_PLDM_SIGNED_DIGEST_BYTES],
                                      const struct lks_pin *pin,
                                      struct lks_err *err) LKS_MUST_CHECK;

#endif
