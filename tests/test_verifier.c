#include "port/verifier.h"

#include "tests/test.h"

#include <stdio.h>

#define MANIFEST(more)                                                                             \
    "{\"lockstep\":1,\"kind\":\"Bundle\",\"name\":\"b\",\"version\":\"1\"" more                    \
    ",\"artifacts\":[{\"name\":\"a\",\"digest\":\"sha256:"                                         \
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\",\"size\":1,\"component\":" \
    "\"bmc\",\"version\":\"1\"}]}"

#define PLAIN MANIFEST("")
#define STEAD MANIFEST(",\"signed_for\":\"Example\"")

enum { NOBODY = 0, KEYS = 3 };

static struct lks_key key_of(uint8_t byte)
{
    uint8_t seed[LKS_KEY_BYTES];
    struct lks_key key = {0};
    struct lks_err err = {0};
    memset(seed, byte, sizeof(seed));
    LKS_ASSERT(lks_key_make(seed, &key, &err) == LKS_OK);
    return key;
}

static const struct {
    const char *name;
    const char *manifest, *signed_text; /* the second NULL: there is no signature */
    uint8_t signer;
    bool site;
    bool nameless; /* the signature does not say by whom it is */
    size_t trusted;
    enum lks_evidence verdict;
    bool told_site;
    const char *signer_name, *line;
} rows[] = {
    {"good", PLAIN, PLAIN, 1, false, false, KEYS, LKS_EVIDENCE_GOOD, false, "key-1",
     "signed by 'key-1'"},
    {"the last of them", PLAIN, PLAIN, 3, false, false, KEYS, LKS_EVIDENCE_GOOD, false, "key-3",
     "signed by 'key-3'"},
    {"it does not say by whom", PLAIN, PLAIN, 2, false, true, KEYS, LKS_EVIDENCE_GOOD, false,
     "key-2", "signed by 'key-2'"},
    {"by a site", PLAIN, PLAIN, 1, true, false, KEYS, LKS_EVIDENCE_GOOD, true, "key-1",
     "signed by 'key-1', for this site"},
    {"by a site, as the manifest says", STEAD, STEAD, 1, false, true, KEYS, LKS_EVIDENCE_GOOD, true,
     "key-1", "signed by 'key-1', for this site"},
    {"not signed", PLAIN, NULL, 1, false, false, KEYS, LKS_EVIDENCE_MISSING, false, "",
     "it has no signature (bundle.sig); ask its vendor for one, or sign it for your site"},
    {"of another manifest", STEAD, PLAIN, 1, false, false, KEYS, LKS_EVIDENCE_BAD, false, "",
     "its signature says it is by 'key-1', and is not"},
    {"of another manifest, nameless", STEAD, PLAIN, 1, false, true, KEYS, LKS_EVIDENCE_BAD, false,
     "", "its signature is of none of the 3 pinned keys"},
    {"by a stranger", PLAIN, PLAIN, 9, true, false, KEYS, LKS_EVIDENCE_BAD, false, "",
     "its signature by sha256:"},
    {"nobody is trusted", PLAIN, PLAIN, 1, false, false, NOBODY, LKS_EVIDENCE_BAD, false, "",
     "no key is pinned to check its signature with"},
};

static void trust(struct lks_trusted out[KEYS])
{
    for (uint8_t i = 0; i < KEYS; i++) {
        struct lks_key key = key_of((uint8_t)(i + 1));
        struct lks_err err = {0};
        LKS_ASSERT(lks_signature_pin_of(&key, &out[i].pin, &err) == LKS_OK);
        snprintf(out[i].name, sizeof(out[i].name), "key-%d", i + 1);
    }
}

static void sign(size_t i, struct lks_buf *out)
{
    struct lks_key key = key_of(rows[i].signer);
    struct lks_signature s = {0};
    struct lks_err err = {0};
    if (rows[i].signed_text == NULL)
        return;
    LKS_ASSERT(lks_signature_make(&key, lks_str_from(rows[i].signed_text), rows[i].site, &s,
                                  &err) == LKS_OK);
    if (rows[i].nameless)
        s.key[0] = '\0';
    lks_signature_write(&s, out);
}

static void test_rows(void)
{
    struct lks_trusted trusted[KEYS] = {0};
    trust(trusted);
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%s", rows[i].name);
        LKS_CLEANUP(lks_bundle_fini) struct lks_bundle bundle = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_SIGNATURE_TEXT_MAX);
        struct lks_evidence_answer answer;
        struct lks_err err = {0};
        struct lks_str manifest = lks_str_from(rows[i].manifest);
        sign(i, &text);
        LKS_ASSERT(lks_bundle_parse(manifest, "b", NULL, &bundle, &err) == LKS_OK);
        lks_verifier_run(&(struct lks_evidence_ask){.manifest = manifest,
                                                    .signature = text.ptr != NULL
                                                                     ? lks_buf_view(&text)
                                                                     : LKS_STR(""),
                                                    .bundle = &bundle,
                                                    .trusted = trusted,
                                                    .trusted_count = rows[i].trusted},
                         &answer);
        CHECK_STR(lks_str_from(lks_evidence_words[answer.verdict]),
                  lks_evidence_words[rows[i].verdict]);
        CHECK_STR(lks_str_from(answer.signer), rows[i].signer_name);
        CHECK_HAS(lks_str_from(answer.line), rows[i].line);
        CHECK(answer.site == rows[i].told_site);
        bool good = rows[i].verdict == LKS_EVIDENCE_GOOD;
        if (good)
            CHECK_STR(lks_str_from(answer.key), trusted[rows[i].signer - 1].pin.fingerprint);
    }
}

/* What cannot be read as a signature is bad, and not missing: somebody put it there. */
static void test_nonsense(void)
{
    LKS_CLEANUP(lks_bundle_fini) struct lks_bundle bundle = {0};
    struct lks_evidence_answer answer;
    struct lks_err err = {0};
    LKS_ASSERT(lks_bundle_parse(LKS_STR(PLAIN), "b", NULL, &bundle, &err) == LKS_OK);
    lks_verifier_run(&(struct lks_evidence_ask){.manifest = LKS_STR(PLAIN),
                                                .signature = LKS_STR("not one at all"),
                                                .bundle = &bundle},
                     &answer);
    CHECK_INT(answer.verdict, LKS_EVIDENCE_BAD);
    CHECK_HAS(lks_str_from(answer.line), "signature: neither our JSON");
}

static const struct lks_test tests[] = {
    {"rows", test_rows}, {"nonsense", test_nonsense}, {NULL, NULL}};

int main(void)
{
    return lks_test_main(tests);
}
