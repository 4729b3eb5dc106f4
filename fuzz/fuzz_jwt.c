/* Any first line as keys of a provider and any bytes behind it as an ID token: nothing that was not
 * signed by one of the keys is taken, whatever it says. The keys of the corpus are a real set; no
 * one has their private halves. */
#include "base/compiler.h"
#include "trust/jwt.h"

#include <stdint.h>

#define NOW ((lks_ms)1794700800000)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct lks_str text = {size > 0 ? (const char *)data : "", size}, set, token;
    const struct lks_jwt_want want = {
        .issuer = LKS_STR("https://id.example/dex"), .client = LKS_STR("lockstep"), .wall = NOW};
    LKS_CLEANUP(lks_docs_fini) struct lks_docs claims = {0};
    LKS_CLEANUP(lks_jwt_keys_fini) struct lks_jwks keys = {0};
    struct lks_err err = {0};
    (void)lks_str_cut(text, '\n', &set, &token);
    enum lks_code code = lks_jwt_keys_parse(set, &keys, &err);
    LKS_ASSERT(code == LKS_OK ? keys.count > 0 : err.msg[0] != '\0');
    err = (struct lks_err){0};
    if (lks_docs_init(&claims, "claims", &err) != LKS_OK)
        return 0;
    code = lks_jwt_check(token, &keys, &want, &claims, &err);
    if (code == LKS_OK) { /* of the corpus, the one that was signed */
        LKS_ASSERT(keys.count > 0 && claims.first != NULL);
        LKS_ASSERT(lks_str_eq(lks_doc_text(claims.first, "iss"), want.issuer));
    } else {
        LKS_ASSERT((code == LKS_E_DENIED || code == LKS_E_NOT_FOUND) && err.msg[0] != '\0');
    }
    return 0;
}
