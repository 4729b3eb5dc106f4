#include "codec/format/digest.h"

#include "codec/format/hex.h"

#include <openssl/evp.h>
#include <pthread.h>

/* Looked up by name once, as that takes longer than to hash a line. Kept until the program ends. */
static EVP_MD *sha256;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void find_sha256(void)
{
    sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
}

enum lks_code lks_digest_text(struct lks_str bytes, char out[LKS_DIGEST_SIZE], struct lks_err *err)
{
    uint8_t raw[LKS_DIGEST_BYTES];
    unsigned len = sizeof(raw);
    (void)pthread_once(&once, find_sha256);
    if (sha256 == NULL || EVP_Digest(bytes.ptr, bytes.len, raw, &len, sha256, NULL) != 1)
        return lks_fail(err, LKS_E_IO, "SHA-256 is not available in this libcrypto");
    (void)lks_digest_write(raw, out);
    return LKS_OK;
}

bool lks_digest_read(struct lks_str s, uint8_t out[LKS_DIGEST_BYTES])
{
    uint8_t raw[LKS_DIGEST_BYTES];
    if (!lks_str_starts(s, "sha256:") ||
        !lks_hex_read((struct lks_str){s.ptr + 7, s.len - 7}, raw, sizeof(raw)))
        return false;
    memcpy(out, raw, sizeof(raw));
    return true;
}

const char *lks_digest_write(const uint8_t bytes[LKS_DIGEST_BYTES], char out[LKS_DIGEST_SIZE])
{
    static const char digits[] = "0123456789abcdef", before[] = "sha256:";
    char *at = out + sizeof(before) - 1;
    memcpy(out, before, sizeof(before) - 1);
    for (size_t i = 0; i < LKS_DIGEST_BYTES; i++) {
        *at++ = digits[bytes[i] >> 4];
        *at++ = digits[bytes[i] & 15];
    }
    *at = '\0';
    return out;
}

bool lks_digest_valid(struct lks_str s)
{
    uint8_t raw[LKS_DIGEST_BYTES];
    return lks_digest_read(s, raw);
}
