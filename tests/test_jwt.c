/* ID tokens and keys of an identity provider: what is taken, and why something is not. */
#include "trust/jwt.h"

#include "base/buf.h"
#include "codec/format/json.h"
#include "tests/signer.h"
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

#define NOW_S 1794700800
#define NOW   ((lks_ms)NOW_S * LKS_SECOND)

#define NAMES "\"iss\":\"https://id.example/dex\",\"aud\":\"lockstep\","
#define TIMES "\"iat\":1794700790,\"exp\":1794701390"
#define GOOD  "{" NAMES TIMES ",\"name\":\"kim\"}"

enum { TEXT_MAX = 1 << 20 };

/* Whose signature a row has. */
enum by {
    BY_RSA,
    BY_EC,
    BY_OTHER
}; /* OTHER: a key of the same id that the provider does not have */

struct rig {
    struct lks_signer rsa, ec, other;
    struct lks_jwks keys;
};

static void rig_make(struct rig *r)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf set = LKS_BUF(TEXT_MAX);
    struct lks_err err = {0};
    lks_signer_make(&r->rsa, 2048, "r1");
    lks_signer_make(&r->ec, 0, "e1");
    lks_signer_make(&r->other, 2048, "r1");
    lks_buf_addf(&set, "{\"keys\":[");
    lks_signer_key(&r->rsa, &set);
    lks_buf_addc(&set, ',');
    lks_signer_key(&r->ec, &set);
    lks_buf_addf(&set, "]}");
    CHECK_CODE(lks_jwt_keys_parse(lks_buf_view(&set), &r->keys, &err), LKS_OK);
    CHECK_INT(r->keys.count, 2);
}

static void rig_end(struct rig *r)
{
    lks_jwt_keys_fini(&r->keys);
    lks_signer_fini(&r->rsa);
    lks_signer_fini(&r->ec);
    lks_signer_fini(&r->other);
}

#define RS(more) "{\"alg\":\"RS256\",\"kid\":\"r1\"" more "}"

static const struct {
    const char *name;
    enum by by;
    const char *header, *claims; /* NULL: the usual */
    int64_t late;                /* ms behind NOW that it is read */
    const char *nonce, *told;    /* told "": it is taken */
} rows[] = {
    {"RS256", BY_RSA, NULL, GOOD, 0, "", ""},
    {"ES256", BY_EC, NULL, GOOD, 0, "", ""},
    {"several audiences, and ours the one it was given to", BY_RSA, NULL,
     "{\"iss\":\"https://id.example/dex\",\"aud\":[\"x\",\"lockstep\"],\"azp\":\"lockstep\"," TIMES
     "}",
     0, "", ""},
    {"the nonce of the login", BY_RSA, NULL, "{" NAMES TIMES ",\"nonce\":\"n1\"}", 0, "n1", ""},
    {"a provider whose clock is 59 s ahead", BY_RSA, NULL, GOOD, -69000, "", ""},
    {"a provider whose clock is 60 s behind, at the end", BY_RSA, NULL, GOOD, 649999, "", ""},
    {"exp is over", BY_RSA, NULL, GOOD, 650000, "", "exp has passed; do the clocks"},
    {"iat is in the future", BY_RSA, NULL, GOOD, -70001, "", "iat is in the future; do the clocks"},
    {"nbf is in the future", BY_RSA, NULL, "{" NAMES TIMES ",\"nbf\":1794700861}", 0, "",
     "nbf is in the future"},
    {"no exp", BY_RSA, NULL, "{" NAMES "\"iat\":1794700790}", 0, "",
     "exp and iat have to be there"},
    {"no iat", BY_RSA, NULL, "{" NAMES "\"exp\":1794701390}", 0, "",
     "exp and iat have to be there"},
    {"exp as text", BY_RSA, NULL, "{" NAMES "\"iat\":1794700790,\"exp\":\"1794701390\"}", 0, "",
     "exp and iat have to be there"},
    {"exp beyond all", BY_RSA, NULL, "{" NAMES "\"iat\":1794700790,\"exp\":9007199254740991}", 0,
     "", "exp and iat have to be there"},
    {"alg none", BY_RSA, "{\"alg\":\"none\",\"kid\":\"r1\"}", GOOD, 0, "", "signed with 'none'"},
    {"alg None", BY_RSA, "{\"alg\":\"None\",\"kid\":\"r1\"}", GOOD, 0, "", "signed with 'None'"},
    {"no alg", BY_RSA, "{\"kid\":\"r1\"}", GOOD, 0, "", "signed with ''"},
    {"HS256", BY_RSA, "{\"alg\":\"HS256\",\"kid\":\"r1\"}", GOOD, 0, "", "signed with 'HS256'"},
    {"PS256", BY_RSA, "{\"alg\":\"PS256\",\"kid\":\"r1\"}", GOOD, 0, "", "signed with 'PS256'"},
    {"RS512", BY_RSA, "{\"alg\":\"RS512\",\"kid\":\"r1\"}", GOOD, 0, "", "signed with 'RS512'"},
    {"the other algorithm's key", BY_EC, "{\"alg\":\"RS256\",\"kid\":\"e1\"}", GOOD, 0, "",
     "no key 'e1' for RS256"},
    {"a key that is not known", BY_RSA, "{\"alg\":\"RS256\",\"kid\":\"r2\"}", GOOD, 0, "",
     "no key 'r2' for RS256"},
    {"no kid", BY_RSA, "{\"alg\":\"RS256\"}", GOOD, 0, "", "no kid"},
    {"crit", BY_RSA, RS(",\"crit\":[\"b64\"],\"b64\":false"), GOOD, 0, "", "`crit`"},
    {"a key of its own is not looked at", BY_OTHER, RS(",\"jku\":\"https://x/\",\"jwk\":{}"), GOOD,
     0, "", "signature is not one of key 'r1'"},
    {"another's signature", BY_OTHER, NULL, GOOD, 0, "", "signature is not one of key 'r1'"},
    {"another's signature with ES256", BY_RSA, "{\"alg\":\"ES256\",\"kid\":\"e1\"}", GOOD, 0, "",
     "signature is not one of key 'e1'"},
    {"a header that is no map", BY_RSA, "[]", GOOD, 0, "", "header is not a map"},
    {"a header with alg twice", BY_RSA, "{\"alg\":\"RS256\",\"alg\":\"none\",\"kid\":\"r1\"}", GOOD,
     0, "", "header is not JSON"},
    {"claims that are no JSON", BY_RSA, NULL, "{", 0, "", "payload is not JSON"},
    {"claims that are no map", BY_RSA, NULL, "7", 0, "", "payload is not a map"},
    {"a claim twice", BY_RSA, NULL, "{" NAMES TIMES ",\"iss\":\"https://x/\"}", 0, "",
     "payload is not JSON"},
    {"another issuer", BY_RSA, NULL,
     "{\"iss\":\"https://id.example/\",\"aud\":\"lockstep\"," TIMES "}", 0, "",
     "iss is 'https://id.example/'"},
    {"no issuer", BY_RSA, NULL, "{\"aud\":\"lockstep\"," TIMES "}", 0, "", "iss is ''"},
    {"another audience", BY_RSA, NULL,
     "{\"iss\":\"https://id.example/dex\",\"aud\":\"wiki\"," TIMES "}", 0, "",
     "aud is not lockstep"},
    {"no audience", BY_RSA, NULL, "{\"iss\":\"https://id.example/dex\"," TIMES "}", 0, "",
     "aud is not lockstep"},
    {"audiences without ours", BY_RSA, NULL,
     "{\"iss\":\"https://id.example/dex\",\"aud\":[\"a\",7]," TIMES "}", 0, "",
     "aud is not lockstep"},
    {"several audiences, and no azp", BY_RSA, NULL,
     "{\"iss\":\"https://id.example/dex\",\"aud\":[\"x\",\"lockstep\"]," TIMES "}", 0, "",
     "azp is not lockstep"},
    {"given to another client", BY_RSA, NULL, "{" NAMES TIMES ",\"azp\":\"wiki\"}", 0, "",
     "azp is not lockstep"},
    {"another nonce", BY_RSA, NULL, "{" NAMES TIMES ",\"nonce\":\"n2\"}", 0, "n1", "nonce is not"},
    {"no nonce", BY_RSA, NULL, GOOD, 0, "n1", "nonce is not"},
};

static enum lks_code check(const struct rig *r, struct lks_str token, int64_t late,
                           const char *nonce, struct lks_err *err)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs claims = {0};
    const struct lks_jwt_want want = {.issuer = LKS_STR("https://id.example/dex"),
                                      .client = LKS_STR("lockstep"),
                                      .nonce = lks_str_from(nonce),
                                      .wall = (lks_ms)((int64_t)NOW + late)};
    CHECK_CODE(lks_docs_init(&claims, "claims", err), LKS_OK);
    enum lks_code code = lks_jwt_check(token, &r->keys, &want, &claims, err);
    if (code == LKS_OK)
        CHECK(lks_doc_text(claims.first, "iss").len > 0);
    return code;
}

static void test_rows(void)
{
    struct rig r = {0};
    rig_make(&r);
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf token = LKS_BUF(TEXT_MAX);
        const struct lks_signer *by[] = {&r.rsa, &r.ec, &r.other};
        struct lks_err err = {0};
        lks_test_case("%s", rows[i].name);
        lks_signer_token(by[rows[i].by], rows[i].header, rows[i].claims, &token);
        bool taken = rows[i].told[0] == '\0', unknown = strstr(rows[i].told, "no key") != NULL;
        CHECK_CODE(check(&r, lks_buf_view(&token), rows[i].late, rows[i].nonce, &err),
                   taken     ? LKS_OK
                   : unknown ? LKS_E_NOT_FOUND
                             : LKS_E_DENIED);
        CHECK_HAS(lks_str_from(err.msg), rows[i].told);
    }
    rig_end(&r);
}

/* Any byte of a good token turned, cut off or added: it is not taken. */
static void test_turned(void)
{
    struct rig r = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf token = LKS_BUF(TEXT_MAX);
    struct lks_err err = {0};
    rig_make(&r);
    lks_signer_token(&r.ec, NULL, GOOD, &token);
    for (size_t i = 0; i < token.len; i++) {
        char was = token.ptr[i];
        lks_test_case("byte %zu", i);
        token.ptr[i] = was == 'A' ? 'B' : 'A';
        CHECK(check(&r, lks_buf_view(&token), 0, "", &err) != LKS_OK);
        token.ptr[i] = was;
        CHECK(check(&r, (struct lks_str){token.ptr, i}, 0, "", &err) != LKS_OK);
    }
    lks_test_case("%s", "a fourth part");
    lks_buf_addf(&token, ".AA");
    CHECK_CODE(check(&r, lks_buf_view(&token), 0, "", &err), LKS_E_DENIED);
    CHECK_HAS(lks_str_from(err.msg), "expected three parts");
    rig_end(&r);
}

#define KEY(members) "{\"keys\":[{" members "}]}"

static const struct {
    const char *name, *json, *told;
} key_rows[] = {
    {"no JSON", "{", "keys:1:"},
    {"no list", "{\"keys\":{}}", "expected a list"},
    {"none", "{\"keys\":[]}", "none for RS256 or ES256"},
    {"a key for encryption alone",
     KEY("\"kid\":\"a\",\"kty\":\"RSA\",\"use\":\"enc\",\"n\":\"AQAB\",\"e\":\"AQAB\""),
     "none for RS256 or ES256"},
    {"a shared secret", KEY("\"kid\":\"a\",\"kty\":\"oct\",\"k\":\"AQAB\""),
     "none for RS256 or ES256"},
    {"another curve", KEY("\"kid\":\"a\",\"kty\":\"EC\",\"crv\":\"P-384\",\"x\":\"A\",\"y\":\"A\""),
     "none for RS256 or ES256"},
    {"no kid", KEY("\"kty\":\"RSA\",\"n\":\"AQAB\",\"e\":\"AQAB\""), "none for RS256 or ES256"},
    {"a short key", KEY("\"kid\":\"a\",\"kty\":\"RSA\",\"n\":\"AQAB\",\"e\":\"AQAB\""),
     "key 'a': an RSA key of 17 bits"},
    {"no n", KEY("\"kid\":\"a\",\"kty\":\"RSA\",\"e\":\"AQAB\""), "n and e of an RSA key"},
    {"n that is no base64url", KEY("\"kid\":\"a\",\"kty\":\"RSA\",\"n\":\"+/\",\"e\":\"AQAB\""),
     "n and e of an RSA key"},
    {"a short point",
     KEY("\"kid\":\"a\",\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"AQAB\",\"y\":\"AQAB\""),
     "x and y of a P-256 key are 32 bytes"},
    {"a point that is not on the curve",
     KEY("\"kid\":\"a\",\"kty\":\"EC\",\"crv\":\"P-256\","
         "\"x\":\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAE\","
         "\"y\":\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAE\""),
     "key 'a' is no point of P-256"},
};

static void test_keys(void)
{
    for (size_t i = 0; i < LKS_COUNT(key_rows); i++) {
        struct lks_jwks keys = {0};
        struct lks_err err = {0};
        lks_test_case("%s", key_rows[i].name);
        CHECK(lks_jwt_keys_parse(lks_str_from(key_rows[i].json), &keys, &err) != LKS_OK);
        CHECK_HAS(lks_str_from(err.msg), key_rows[i].told);
        lks_jwt_keys_fini(&keys);
    }
}

/* A key that is too weak spoils the set: a provider that signs with it is not to be trusted. */
static void test_weak(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf set = LKS_BUF(TEXT_MAX);
    struct lks_signer weak = {0};
    struct lks_jwks keys = {0};
    struct lks_err err = {0};
    lks_signer_make(&weak, 1024, "w1");
    lks_buf_addf(&set, "{\"keys\":[");
    lks_signer_key(&weak, &set);
    lks_buf_addf(&set, "]}");
    CHECK_CODE(lks_jwt_keys_parse(lks_buf_view(&set), &keys, &err), LKS_E_INVALID);
    CHECK_HAS(lks_str_from(err.msg), "key 'w1': an RSA key of 1024 bits; 2048 are the least");
    lks_jwt_keys_fini(&keys);
    lks_signer_fini(&weak);
}

int main(void)
{
    const struct lks_test tests[] = {
        {"every refusal", test_rows},
        {"any byte that differs", test_turned},
        {"keys that are not taken", test_keys},
        {"weak keys", test_weak},
        {0},
    };
    return lks_test_main(tests);
}
