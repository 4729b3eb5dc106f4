#include "core/registry/artifacts.h"
#include "core/rows/registry.h"
#include "core/state/lookup.h"
#include "tests/asked.h"
#include "tests/test.h"
#include "trust/signature.h"

#include <stdio.h>

#define A "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define B "sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define C "sha256:cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
#define D "sha256:dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd"

/* The keys of RFC 8410 and of RFC 8032, test 2. */
#define KEY_1 "ed25519:Gb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE="
#define KEY_2 "ed25519:PUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw="
#define PEM_1                                                                                      \
    "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n"   \
    "-----END PUBLIC KEY-----\n"

static const char *fingerprint(const char *key)
{
    static struct lks_pin pin;
    struct lks_err err = {0};
    LKS_ASSERT(lks_signature_pin_parse(lks_str_from(key), &pin, &err) == LKS_OK);
    return pin.fingerprint;
}

static struct lks_str pin(struct lks_asked *a, const char *name, const char *key,
                          const char *reason)
{
    struct lks_event e = {.kind = LKS_EVENT_KEY_PIN,
                          .by = LKS_STR("kim"),
                          .reason = lks_str_from(reason),
                          .key = {.name = lks_str_from(name), .key = lks_str_from(key)}};
    return lks_asked(a, &e);
}

static struct lks_str unpin(struct lks_asked *a, const char *name, const char *reason)
{
    struct lks_event e = {.kind = LKS_EVENT_KEY_GONE,
                          .by = LKS_STR("kim"),
                          .reason = lks_str_from(reason),
                          .name = lks_str_from(name)};
    return lks_asked(a, &e);
}

static struct lks_str revoke(struct lks_asked *a, const char *digest, const char *reason)
{
    struct lks_event e = {.kind = LKS_EVENT_BUNDLE_REVOKE,
                          .by = LKS_STR("ann"),
                          .reason = lks_str_from(reason),
                          .name = lks_str_from(digest)};
    return lks_asked(a, &e);
}

static struct lks_str bundle(struct lks_asked *a, const char *digest, const char *signer,
                             const char *key, const char *artifacts)
{
    struct lks_event e = {.kind = LKS_EVENT_BUNDLE,
                          .by = LKS_STR("kim"),
                          .bundle = {.digest = lks_str_from(digest),
                                     .name = LKS_STR("hgx"),
                                     .version = LKS_STR("25.02"),
                                     .manifest = lks_str_from(digest),
                                     .signer = lks_str_from(signer),
                                     .key = lks_str_from(fingerprint(key)),
                                     .artifacts = lks_str_from(artifacts)}};
    return lks_asked(a, &e);
}

static void store(struct lks_asked *a, const char *digest)
{
    lks_asked_apply(
        a, &(struct lks_record){
               .kind = LKS_RECORD_ARTIFACT,
               .artifact = {.digest = lks_str_from(digest), .name = LKS_STR("f"), .size = 5}});
}

/* Keys -------------------------------------------------------------------------------------- */

/* In this order. */
static const struct {
    const char *what, *name, *key, *reason, *told;
} pins[] = {
    {"no reason", "nvidia", KEY_1, " ", "invalid: give a reason; it is kept in the journal"},
    {"no name", "", KEY_1, "r",
     "invalid: name: '' is no name of a key: lower-case letters, digits, '.', '-', '_'"},
    {"a path", "../x", KEY_1, "r",
     "invalid: name: '../x' is no name of a key: lower-case letters, digits, '.', '-', '_'"},
    {"no key", "nvidia", "", "r",
     "invalid: public key: expected ed25519:, p256: or p384: and base64 on one line, or PEM"},
    {"as PEM, kept as a line", "nvidia", PEM_1, "from their page, compared by phone",
     "key-pinned name=nvidia key=" KEY_1 " by=kim reason=from their page, compared by phone\n"},
    {"the very same", "nvidia", KEY_1, "again", ""},
    {"another key of that name", "nvidia", KEY_2, "r",
     "refused: 'nvidia' is another key already, pinned by kim; give this one another name, or "
     "remove that one first"},
    {"another name of that key", "site", KEY_1, "r",
     "refused: this key is pinned already, as 'nvidia'"},
    {"a second one", "site", KEY_2, "ours",
     "key-pinned name=site key=" KEY_2 " by=kim reason=ours\n"},
};

static void test_keys(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    lks_asked_init(&a);
    for (size_t i = 0; i < LKS_COUNT(pins); i++) {
        lks_test_case("%s", pins[i].what);
        CHECK_STR(pin(&a, pins[i].name, pins[i].key, pins[i].reason), pins[i].told);
    }
    lks_test_case("gone");
    CHECK_STR(unpin(&a, "nvidia", ""), "invalid: give a reason; it is kept in the journal");
    CHECK_STR(unpin(&a, "amd", "r"), "not-found: no key 'amd' is pinned");
    CHECK_STR(unpin(&a, "nvidia", "left"), "key-gone name=nvidia by=kim reason=left\n");
    CHECK_STR(unpin(&a, "nvidia", "left"), "not-found: no key 'nvidia' is pinned");
    CHECK_INT(a.state.key_count, 1);
    CHECK_STR(pin(&a, "site-2", KEY_1, "r"),
              "key-pinned name=site-2 key=" KEY_1 " by=kim reason=r\n");
}

static void test_full(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    lks_asked_init(&a);
    for (int i = 0; i < LKS_STATE_KEYS_MAX; i++) {
        char name[16], key[16];
        snprintf(name, sizeof(name), "k%d", i);
        snprintf(key, sizeof(key), "key %d", i);
        lks_asked_apply(&a, &(struct lks_record){.kind = LKS_RECORD_KEY_PINNED,
                                                 .key_pinned = {.name = lks_str_from(name),
                                                                .key = lks_str_from(key)}});
    }
    CHECK_STR(pin(&a, "one-more", KEY_1, "r"),
              "limit: there are 1000 pinned keys, which is the most");
}

/* Bundles ----------------------------------------------------------------------------------- */

#define RECORD(digest, artifacts)                                                                  \
    "bundle digest=" digest " name=hgx version=25.02 manifest=" digest                             \
    " signer=nvidia key=%s artifacts=" artifacts " by=kim\n"

static void check_made(struct lks_str told, const char *form)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_REASON_MAX);
    struct lks_str rest = lks_str_from(form), head;
    bool more = lks_str_cut(rest, '%', &head, &rest);
    lks_buf_add(&text, head);
    if (more) {
        lks_buf_add(&text, lks_str_from(fingerprint(KEY_1)));
        lks_buf_add(&text, (struct lks_str){rest.ptr + 1, rest.len - 1}); /* behind the 's' */
    }
    CHECK_STR(told, text.ptr != NULL ? text.ptr : "");
}

static void test_bundles(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    lks_asked_init(&a);
    CHECK_STR(bundle(&a, C, "nvidia", KEY_1, A),
              "refused: bundle 'hgx' was signed with key 'nvidia', which is not pinned any more");
    (void)pin(&a, "nvidia", KEY_1, "r");
    CHECK_STR(bundle(&a, C, "nvidia", KEY_2, A), /* the name was given to another key meanwhile */
              "refused: bundle 'hgx' was signed with key 'nvidia', which is not pinned any more");
    CHECK_STR(bundle(&a, C, "site", KEY_1, A),
              "refused: bundle 'hgx' was signed with key 'site', which is not pinned any more");
    CHECK_STR(bundle(&a, C, "nvidia", KEY_1, A),
              "refused: artifact " A
              " is not in the depot; 'lockstep bundle push' puts it there first");
    store(&a, A);
    CHECK_STR(bundle(&a, C, "nvidia", KEY_1, A " " B),
              "refused: artifact " B
              " is not in the depot; 'lockstep bundle push' puts it there first");
    CHECK_STR(bundle(&a, C, "nvidia", KEY_1, ""), "invalid: bundle: it names no artifact");
    CHECK_STR(bundle(&a, C, "nvidia", KEY_1, "x"),
              "invalid: artifact: 'x' is no digest; one is sha256: and 64 of 0-9 a-f");
    CHECK_STR(bundle(&a, "x", "nvidia", KEY_1, A),
              "invalid: bundle: 'x' is no digest; one is sha256: and 64 of 0-9 a-f");
    CHECK(!lks_state_vouched(&a.state, LKS_STR(A)) && !lks_artifact_needed(&a.state, LKS_STR(A)));
    check_made(bundle(&a, C, "nvidia", KEY_1, A), RECORD(C, A));
    CHECK(lks_state_vouched(&a.state, LKS_STR(A)) && lks_artifact_needed(&a.state, LKS_STR(A)));
    CHECK_STR(bundle(&a, C, "nvidia", KEY_1, A), ""); /* the very same again */
}

/* That its key went does not undo what it was good for; what is revoked never comes back. */
static void test_revoking(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    lks_asked_init(&a);
    (void)pin(&a, "nvidia", KEY_1, "r");
    store(&a, A);
    store(&a, B);
    check_made(bundle(&a, C, "nvidia", KEY_1, A " " B), RECORD(C, A " " B));
    check_made(bundle(&a, D, "nvidia", KEY_1, B), RECORD(D, B));
    (void)unpin(&a, "nvidia", "they changed it");
    CHECK(lks_state_vouched(&a.state, LKS_STR(A)));
    CHECK_STR(bundle(&a, C, "nvidia", KEY_1, A " " B), ""); /* it is good already */
    CHECK_STR(revoke(&a, A, "r"), "not-found: no bundle " A " is known");
    CHECK_STR(revoke(&a, C, ""), "invalid: give a reason; it is kept in the journal");
    CHECK_STR(revoke(&a, C, "it bricks A02 boards"),
              "bundle-revoked digest=" C " by=ann reason=it bricks A02 boards\n");
    CHECK_STR(revoke(&a, C, "once more"), "");
    CHECK(!lks_state_vouched(&a.state, LKS_STR(A)) && !lks_artifact_needed(&a.state, LKS_STR(A)));
    CHECK(lks_state_vouched(&a.state, LKS_STR(B))); /* by the other one */
    (void)pin(&a, "nvidia", KEY_1, "they changed it back");
    CHECK_STR(bundle(&a, C, "nvidia", KEY_1, A " " B),
              "refused: bundle 'hgx' (" C
              ") was revoked by ann, which is final: it bricks A02 boards");
}

/* The image of an update that is under way stays, whatever became of its bundle. */
static void test_under_way(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    lks_asked_init(&a);
    (void)pin(&a, "nvidia", KEY_1, "r");
    store(&a, A);
    check_made(bundle(&a, C, "nvidia", KEY_1, A), RECORD(C, A));
    lks_asked_apply(
        &a, &(struct lks_record){.kind = LKS_RECORD_PLACED, .placed = {.hosts = LKS_STR("g1")}});
    lks_asked_apply(
        &a,
        &(struct lks_record){
            .kind = LKS_RECORD_FLASH,
            .flash = {.id = 1, .node = LKS_STR("g1"), .bundle = LKS_STR(C), .image = LKS_STR(A)}});
    (void)revoke(&a, C, "r");
    CHECK(lks_artifact_needed(&a.state, LKS_STR(A)));
    lks_asked_apply(
        &a, &(struct lks_record){
                .kind = LKS_RECORD_FLASH_ENDED,
                .flash_ended = {.id = 1, .node = LKS_STR("g1"), .outcome = LKS_BMC_FAILED}});
    CHECK(!lks_artifact_needed(&a.state, LKS_STR(A)));
}

static const struct lks_test tests[] = {
    {"keys", test_keys},         {"as many as there may be", test_full}, {"bundles", test_bundles},
    {"revoking", test_revoking}, {"under way", test_under_way},          {NULL, NULL},
};

int main(void)
{
    return lks_test_main(tests);
}
