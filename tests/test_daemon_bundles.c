/* Pinned keys and bundles, asked of the real daemon: only what is signed by a pinned key and lies
 * in the depot is taken, and it stays good until it is revoked. */
#include "codec/format/digest.h"
#include "tests/crew.h"
#include "tests/test.h"
#include "trust/signature.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_MAX = 1 << 20, PATH_SIZE = 256 };

#define IMAGE "the firmware"

/* A bundle of one file, and its signer. */
struct offer {
    char artifact[LKS_DIGEST_SIZE], digest[LKS_DIGEST_SIZE];
    char manifest[1024];
    struct lks_key key;
    struct lks_pin pin;
    char line[LKS_PIN_LINE_SIZE];
};

static void offer_make(struct offer *o, const char *version, size_t size, uint8_t seed_byte)
{
    uint8_t seed[LKS_KEY_BYTES];
    struct lks_err err = {0};
    memset(seed, seed_byte, sizeof(seed));
    LKS_ASSERT(lks_key_make(seed, &o->key, &err) == LKS_OK &&
               lks_signature_pin_of(&o->key, &o->pin, &err) == LKS_OK &&
               lks_digest_text(LKS_STR(IMAGE), o->artifact, &err) == LKS_OK);
    lks_signature_pin_text(&o->pin, o->line);
    snprintf(
        o->manifest, sizeof(o->manifest),
        "{\"lockstep\":1,\"kind\":\"Bundle\",\"name\":\"hgx\",\"version\":\"%s\",\"artifacts\":"
        "[{\"name\":\"bmc.fwpkg\",\"digest\":\"%s\",\"size\":%zu,\"component\":\"bmc\","
        "\"version\":\"%s\"}]}",
        version, o->artifact, size, version);
    LKS_ASSERT(lks_digest_text(lks_str_from(o->manifest), o->digest, &err) == LKS_OK);
}

/* The body of POST /v1/bundles, with a signature of `signed_text`. */
static const char *offer_body(const struct offer *o, const char *signed_text, bool site,
                              struct lks_buf *out)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_SIGNATURE_TEXT_MAX);
    struct lks_signature s = {0};
    struct lks_err err = {0};
    LKS_ASSERT(lks_signature_make(&o->key, lks_str_from(signed_text), site, &s, &err) == LKS_OK);
    lks_signature_write(&s, &text);
    lks_buf_fini(out);
    lks_buf_init(out, TEXT_MAX);
    struct lks_json_writer w = {.out = out};
    lks_json_begin(&w, NULL, '{');
    lks_json_cstr(&w, "manifest", o->manifest);
    lks_json_text(&w, "signature", lks_buf_view(&text));
    lks_json_end(&w, '}');
    return out->ptr;
}

static void pin(struct crew *crew, const char *name, const char *line, struct crew_told *t)
{
    char body[512];
    snprintf(body, sizeof(body), "{\"name\":\"%s\",\"key\":\"%s\",\"reason\":\"by phone\"}", name,
             line);
    crew_fine(crew->admin, "pinKey", "/v1/trust", body, t);
}

static void store(struct crew *crew, const struct offer *o)
{
    struct lks_http_answer answer = {0};
    struct lks_err err = {0};
    char path[PATH_SIZE];
    snprintf(path, sizeof(path), "/v1/artifacts/%s?name=bmc.fwpkg", o->artifact);
    CHECK_CODE(lks_client_exchange(crew->root, "PUT", path, "application/octet-stream",
                                   LKS_STR(IMAGE), "", &answer, &err),
               LKS_OK);
    CHECK_INT(answer.status, 200);
    lks_http_answer_fini(&answer);
}

static void check_keys(struct crew *crew, const struct offer *o)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    crew_refused(crew->admin, "pinKey", "/v1/trust", "{\"name\":\"x\",\"key\":\"y\"}", 400,
                 "reason");
    crew_refused(crew->admin, "pinKey", "/v1/trust",
                 "{\"name\":\"x\",\"key\":\"ed25519:AAAA\",\"reason\":\"r\"}", 400,
                 "what follows ed25519: is no such key");
    struct lks_client *person = crew_person(crew, "operator", "");
    crew_refused(person, "pinKey", "/v1/trust",
                 "{\"name\":\"x\",\"key\":\"ed25519:AAAA\",\"reason\":\"r\"}", 403,
                 "may not admin");
    lks_client_free(person);
    pin(crew, "vendor", o->line, &t);
    crew_fine(crew->root, "trust", "/v1/trust", NULL, &t);
    CHECK_INT(crew_count(&t, "items"), 1);
    CHECK_STR(lks_doc_text(crew_item(&t, "items", 0), "key"), o->line);
    CHECK_STR(lks_doc_text(crew_item(&t, "items", 0), "fingerprint"), o->pin.fingerprint);
    CHECK_STR(lks_doc_text(crew_item(&t, "items", 0), "reason"), "by phone");
}

/* Each is refused, and nothing comes of it. */
static void check_refusals(struct crew *crew, const struct offer *o, const struct offer *stranger)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf body = {0};
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    crew_refused(crew->root, "bringBundle", "/v1/bundles", "{\"manifest\":\"{}\"}", 400,
                 "signature");
    crew_refused(crew->root, "bringBundle", "/v1/bundles",
                 "{\"manifest\":\"{}\",\"signature\":\"AAAA\"}", 400, "manifest: Bundle needs");
    crew_refused(crew->root, "bringBundle", "/v1/bundles",
                 offer_body(stranger, stranger->manifest, false, &body), 409,
                 "is of none of the 1 pinned keys");
    crew_refused(crew->root, "bringBundle", "/v1/bundles",
                 offer_body(o, "{\"other\":\"bytes\"}", false, &body), 409,
                 "its signature says it is by 'vendor', and is not");
    crew_refused(crew->root, "bringBundle", "/v1/bundles", offer_body(o, o->manifest, false, &body),
                 409, "is not in the depot");
    crew_fine(crew->root, "bundles", "/v1/bundles", NULL, &t);
    CHECK_INT(crew_count(&t, "items"), 0);
}

static void check_taken(struct crew *crew, const struct offer *o, const struct offer *wrong)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf body = {0};
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    char path[PATH_SIZE];
    store(crew, o);
    crew_refused(crew->root, "bringBundle", "/v1/bundles",
                 offer_body(wrong, wrong->manifest, false, &body), 409,
                 "bmc.fwpkg has 99 bytes in the manifest, and here 12");
    for (int i = 0; i < 2; i++) { /* and once more is the same */
        crew_fine(crew->admin, "bringBundle", "/v1/bundles",
                  offer_body(o, o->manifest, true, &body), &t);
        CHECK_STR(crew_text(&t, "digest"), o->digest);
        CHECK_STR(crew_text(&t, "signer"), "vendor");
        CHECK(crew_truth(&t, "site"));
    }
    crew_fine(crew->root, "bundles", "/v1/bundles", NULL, &t);
    CHECK_INT(crew_count(&t, "items"), 1);
    snprintf(path, sizeof(path), "/v1/bundles/%s", o->digest);
    crew_fine(crew->root, "bundle", path, NULL, &t);
    CHECK_STR(crew_item(&t, "artifacts", 0)->text, o->artifact);
    CHECK_STR(crew_text(&t, "key"), o->pin.fingerprint);
    CHECK_STR(crew_text(&t, "by"), "admin");
    snprintf(path, sizeof(path), "/v1/bundles/%s/manifest", o->digest);
    crew_fine(crew->root, "bundleManifest", path, NULL, &t);
    CHECK_STR(lks_buf_view(&t.answer.body), o->manifest);
    crew_fine(crew->root, "artifacts", "/v1/artifacts", NULL, &t);
    CHECK(lks_doc_member(crew_item(&t, "items", 0), "needed")->truth);
}

/* By name, and by the first digits of its digest, with and without the algorithm. */
static void check_names(struct crew *crew, const struct offer *o)
{
    enum { DIGITS = 12 };
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    char begin[LKS_DIGEST_SIZE];
    snprintf(begin, sizeof(begin), "%.*s", (int)strlen("sha256:") + DIGITS, o->digest);
    const char *const names[] = {"hgx", begin, begin + strlen("sha256:")};
    for (size_t i = 0; i < LKS_COUNT(names); i++) {
        char path[PATH_SIZE];
        lks_test_case("%s", names[i]);
        snprintf(path, sizeof(path), "/v1/bundles/%s", names[i]);
        crew_fine(crew->root, "bundle", path, NULL, &t);
        CHECK_STR(crew_text(&t, "digest"), o->digest);
        snprintf(path, sizeof(path), "/v1/bundles/%s/manifest", names[i]);
        crew_fine(crew->root, "bundleManifest", path, NULL, &t);
        CHECK_STR(lks_buf_view(&t.answer.body), o->manifest);
    }
    crew_refused(crew->root, "bundle", "/v1/bundles/hgy", NULL, 404,
                 "there is no bundle 'hgy'; did you mean 'hgx'?");
}

/* Later the key goes, and the bundle stays good; then it is revoked, and nothing brings it back. */
static void check_ends(struct crew *crew, const struct offer *o)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf body = {0};
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    char path[PATH_SIZE], one[PATH_SIZE];
    snprintf(path, sizeof(path), "/v1/bundles/%.*s/revoke", (int)strlen("sha256:0123"), o->digest);
    snprintf(one, sizeof(one), "/v1/bundles/%s", o->digest);
    crew_refused(crew->root, "unpinKey", "/v1/trust/nobody?reason=r", NULL, 404, "no key 'nobody'");
    crew_fine(crew->root, "unpinKey", "/v1/trust/vendor?reason=they+changed+it", NULL, &t);
    crew_fine(crew->root, "trust", "/v1/trust", NULL, &t);
    CHECK_INT(crew_count(&t, "items"), 0);
    crew_refused(crew->root, "bringBundle", "/v1/bundles", offer_body(o, o->manifest, false, &body),
                 409, "no key is pinned");
    crew_fine(crew->root, "bundle", one, NULL, &t);
    CHECK(lks_doc_member(t.doc, "revoked") == NULL);
    crew_refused(crew->admin, "revokeBundle", path, "{\"reason\":\"r\"}", 403, "may not approve");
    crew_refused(crew->root, "revokeBundle", "/v1/bundles/sha256:00/revoke", "{\"reason\":\"r\"}",
                 404, "no bundle");
    crew_fine(crew->root, "revokeBundle", path, "{\"reason\":\"it bricks A02\"}", &t);
    crew_fine(crew->root, "bundle", one, NULL, &t);
    CHECK_STR(crew_text(&t, "revoked_reason"), "it bricks A02");
    snprintf(one, sizeof(one), "unix:%u", (unsigned)geteuid());
    CHECK_STR(crew_text(&t, "revoked_by"), one);
    pin(crew, "vendor", o->line, &t);
    crew_refused(crew->root, "bringBundle", "/v1/bundles", offer_body(o, o->manifest, false, &body),
                 409, "which is final: it bricks A02");
    crew_refused(crew->root, "bundle", "/v1/bundles/sha256:00", NULL, 404, "there is no bundle");
}

/* A page is as long as was asked for, and says where the next one begins. */
static void check_pages(struct crew *crew)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    struct offer other;
    offer_make(&other, "1", sizeof(IMAGE) - 1, 9);
    pin(crew, "another", other.line, &t);
    crew_fine(crew->root, "trust", "/v1/trust?limit=1", NULL, &t);
    CHECK_STR(lks_doc_text(crew_item(&t, "items", 0), "name"), "another");
    CHECK_STR(crew_text(&t, "next"), "another");
    crew_fine(crew->root, "trust", "/v1/trust?limit=1&after=another", NULL, &t);
    CHECK_STR(lks_doc_text(crew_item(&t, "items", 0), "name"), "vendor");
    CHECK(lks_doc_member(t.doc, "next") == NULL);
}

static void test_bundles(void)
{
    struct crew crew;
    struct offer o, stranger, wrong;
    offer_make(&o, "25.02", sizeof(IMAGE) - 1, 1);
    offer_make(&stranger, "25.02", sizeof(IMAGE) - 1, 2);
    offer_make(&wrong, "25.03", 99, 1);
    if (crew_begin(&crew, "")) {
        check_keys(&crew, &o);
        check_refusals(&crew, &o, &stranger);
        check_taken(&crew, &o, &wrong);
        check_names(&crew, &o);
        if (crew_again(&crew)) { /* all of it is in the journal */
            check_ends(&crew, &o);
            check_pages(&crew);
            crew_all_covered("daemon_bundles");
        }
    }
    crew_end(&crew);
}

static const struct lks_test tests[] = {{"bundles", test_bundles}, {NULL, NULL}};

int main(void)
{
    return lks_test_main(tests);
}
