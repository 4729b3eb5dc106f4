/* The registry of stacks, the catalogue of images and the fleet's exposure, asked of the real
 * daemon. */
#include "codec/format/digest.h"
#include "server/auth/authz.h"
#include "tests/crew.h"
#include "tests/test.h"
#include "tests/tuples.h"
#include "trust/dsse.h"

#include <stdio.h>
#include <stdlib.h>

enum { TEXT_MAX = 1 << 20, IMAGES = 7 };

static const char fleet[] =
    "lockstep: 1\nkind: Fleet\nname: here\nsites: {east: {}}\n"
    "pools:\n"
    "  train: {posture: pre-training, stack: golden}\n"
    "  serve: {posture: online-inference}\n"
    "nodes:\n"
    "  - {hosts: \"gpu[1-2]\", pool: train, class: hgx-h200-8, site: east}\n"
    "  - {hosts: \"inf[1-2]\", pool: serve, class: hgx-h200-8, site: east}\n";

static void path_of(const char *digest, const char *rest, char *out, size_t size)
{
    snprintf(out, size, "/v1/stacks/%s%s", digest, rest);
}

/* The text with another name or version in it. */
static void text_with(struct lks_str text, const char *from, const char *to, struct lks_buf *out)
{
    ptrdiff_t at = lks_str_find(text, lks_str_from(from));
    lks_buf_init(out, TEXT_MAX);
    if (!CHECK(at >= 0))
        return;
    size_t end = (size_t)at + strlen(from);
    lks_buf_add(out, (struct lks_str){text.ptr, (size_t)at});
    lks_buf_add(out, lks_str_from(to));
    lks_buf_add(out, (struct lks_str){text.ptr + end, text.len - end});
}

static void manifest_with(const char *from, const char *to, struct lks_buf *out)
{
    text_with(lks_str_from(lks_test_node_stack), from, to, out);
}

/* One more difference. */
static void edition_with(const char *from, const char *to, struct lks_buf *text)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf before = LKS_MOVE(*text);
    text_with(lks_buf_view(&before), from, to, text);
    lks_buf_addc(text, '\0');
}

/* What is told is what was published, and the journal's key signed it. */
static void check_published(struct crew *crew, const char *digest)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf payload = LKS_BUF(TEXT_MAX);
    struct lks_public_key key = ctl_key(&crew->c);
    struct lks_err err = {0};
    char path[160], bytes[LKS_DIGEST_SIZE], want[512];
    path_of(digest, "/manifest", path, sizeof(path));
    crew_fine(crew->root, "stackManifest", path, NULL, &t);
    CHECK_STR(lks_buf_view(&t.answer.body), lks_test_node_stack);
    CHECK_CODE(lks_digest_text(lks_buf_view(&t.answer.body), bytes, &err), LKS_OK);
    path_of(digest, "", path, sizeof(path));
    crew_fine(crew->root, "stack", path, NULL, &t);
    CHECK_STR(crew_text(&t, "manifest"), bytes);
    CHECK_STR(crew_text(&t, "by"), "admin");
    path_of(digest, "/envelope", path, sizeof(path));
    crew_fine(crew->root, "stackEnvelope", path, NULL, &t);
    CHECK_CODE(lks_dsse_open(lks_buf_view(&t.answer.body), &key, 1, LKS_STACK_TYPE, &payload, &err),
               LKS_OK);
    snprintf(want, sizeof(want),
             "{\"digest\":\"%s\",\"name\":\"golden\",\"manifest\":\"%s\",\"by\":\"admin\"}", digest,
             bytes);
    CHECK_STR(lks_buf_view(&payload), want);
}

static void check_steps(struct crew *crew, const char *digest)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    static const char lab[] = "{\"to\":\"lab\",\"evidence\":\"it boots\"}";
    static const char canary[] = "{\"to\":\"canary\",\"evidence\":\"a day of tests\"}";
    static const char released[] = "{\"to\":\"released\",\"evidence\":\"a week on ten nodes\"}";
    char promote[160], retire[160], path[160];
    path_of(digest, "/promote", promote, sizeof(promote));
    path_of(digest, "/retire", retire, sizeof(retire));
    path_of(digest, "", path, sizeof(path));
    crew_refused(crew->root, "applyFleet", "/v1/fleet?accept=true", fleet, 400, "golden");
    crew_refused(crew->root, "promote", promote, released, 409, "one at a time");
    crew_refused(crew->root, "promote", promote, "{\"to\":\"lab\"}", 400, "evidence");
    crew_refused(crew->root, "promote", promote, "{\"to\":\"retired\",\"evidence\":\"x\"}", 400,
                 "retire");
    crew_fine(crew->root, "promote", promote, lab, &t);
    crew_fine(crew->root, "promote", promote, canary, &t);
    crew_refused(crew->admin, "promote", promote, released, 403, "may not approve");
    crew_fine(crew->root, "grant", "/v1/access", "{\"identity\":\"admin\",\"role\":\"approver\"}",
              &t);
    crew_refused(crew->admin, "promote", promote, released, 409, "another person");
    crew_fine(crew->root, "promote", promote, released, &t);
    crew_fine(crew->root, "stack", path, NULL, &t);
    CHECK_STR(crew_text(&t, "step"), "released");
    CHECK_INT(crew_count(&t, "evidence"), 3);
    CHECK_STR(lks_doc_text(crew_item(&t, "evidence", 1), "text"), "a day of tests");
    crew_fine(crew->root, "applyFleet", "/v1/fleet?accept=true", fleet, &t);
    crew_fine(crew->root, "stacks", "/v1/stacks?step=released&name=golden", NULL, &t);
    const struct lks_doc *pools = lks_doc_member(crew_item(&t, "items", 0), "pools");
    CHECK_STR(pools != NULL && pools->first != NULL ? pools->first->text : LKS_STR(""), "train");
    crew_refused(crew->root, "retire", retire, "{\"evidence\":\"old\"}", 409, "train");
}

static const struct {
    const char *name, *path, *body;
    int status;
    const char *detail;
} bad[] = {
    {"no manifest", "/v1/stacks", "nonsense", 400, "manifest"},
    {"no stack in it", "/v1/stacks", fleet, 400, "stack"},
    {"no such stack in it", "/v1/stacks?stack=silver", lks_test_node_stack, 400, "silver"},
    {"empty", "/v1/stacks", "#\n", 400, ""},
};

/* Other content of `digest` needs another version, also where that one is retired. */
static void check_editions(struct crew *crew, const char *digest)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf other = {0};
    char path[160], said[320];
    manifest_with("'580.126.20', modules", "'580.95.05', modules", &other);
    snprintf(said, sizeof(said),
             "stack 'golden' 1 is published already as %s, by admin, with other content; what is "
             "published does not change: give this one another version",
             digest);
    crew_refused(crew->admin, "publish", "/v1/stacks", other.ptr, 409, said);
    edition_with("'1'", "'2'", &other);
    crew_fine(crew->admin, "publish", "/v1/stacks", other.ptr, &t);
    snprintf(path, sizeof(path), "/v1/stacks/%" LKS_STR_FMT "/retire",
             LKS_STR_ARG(crew_text(&t, "digest")));
    crew_fine(crew->root, "retire", path, "{\"evidence\":\"a slip\"}", &t);
    edition_with("'580.95.05', modules", "'580.82.07', modules", &other);
    crew_refused(crew->admin, "publish", "/v1/stacks", other.ptr, 409,
                 "stack 'golden' 2 is published already");
}

static void test_stacks(void)
{
    struct crew crew;
    if (crew_begin(&crew, "")) {
        LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf other = {0};
        char digest[LKS_DIGEST_SIZE] = "", path[160];
        for (size_t i = 0; i < LKS_COUNT(bad); i++)
            crew_refused(crew.root, "publish", bad[i].path, bad[i].body, bad[i].status,
                         bad[i].detail);
        crew_fine(crew.root, "stacks", "/v1/stacks", NULL, &t);
        CHECK_INT(crew_count(&t, "items"), 0);
        crew_fine(crew.admin, "publish", "/v1/stacks?stack=golden&reason=first",
                  lks_test_node_stack, &t);
        CHECK_STR(crew_text(&t, "step"), "candidate");
        snprintf(digest, sizeof(digest), "%" LKS_STR_FMT, LKS_STR_ARG(crew_text(&t, "digest")));
        check_published(&crew, digest);
        crew_fine(crew.admin, "publish", "/v1/stacks", lks_test_node_stack, &t); /* nothing new */
        manifest_with("name: golden", "name: silver", &other);
        crew_refused(crew.admin, "publish", "/v1/stacks", other.ptr, 409,
                     "one digest has one name");
        check_steps(&crew, digest);
        check_editions(&crew, digest);
        crew_fine(crew.root, "stacks", "/v1/stacks?limit=1", NULL, &t);
        CHECK_STR(lks_doc_text(crew_item(&t, "items", 0), "step"), "retired"); /* the newest */
        CHECK_STR(crew_text(&t, "next"), "1");
        crew_fine(crew.root, "stacks", "/v1/stacks?limit=1&after=1", NULL, &t);
        CHECK_STR(lks_doc_text(crew_item(&t, "items", 0), "digest"), digest);
        CHECK(lks_doc_member(t.doc, "next") == NULL);
        path_of("sha256:0000", "", path, sizeof(path));
        crew_refused(crew.root, "stack", path, NULL, 404, "no stack");
        if (crew_again(&crew)) /* the registry is in the journal */
            check_published(&crew, digest);
    }
    crew_end(&crew);
}

static void test_images(void)
{
    struct crew crew;
    if (crew_begin(&crew, "")) {
        LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
        for (int i = IMAGES; i > 0; i--) {
            char body[160];
            snprintf(body, sizeof(body),
                     "{\"ref\":\"r.example/train:%d\",\"nccl\":\"2.28.%d\",\"source\":\"sbom\"}", i,
                     i);
            crew_fine(crew.root, "addImage", "/v1/images", body, &t);
        }
        crew_refused(crew.root, "addImage", "/v1/images",
                     "{\"ref\":\"r.example/x:1\",\"source\":\"sbom\"}", 400, "which NCCL");
        crew_fine(crew.root, "images", "/v1/images?limit=5", NULL, &t);
        CHECK_INT(crew_count(&t, "items"), 5);
        CHECK_STR(lks_doc_text(crew_item(&t, "items", 0), "ref"), "r.example/train:1");
        CHECK_STR(crew_text(&t, "next"), "r.example/train:5");
        crew_fine(crew.root, "images", "/v1/images?after=r.example/train:5", NULL, &t);
        CHECK_INT(crew_count(&t, "items"), IMAGES - 5);
        CHECK_STR(lks_doc_text(crew_item(&t, "items", 0), "nccl"), "2.28.6");
        CHECK(lks_doc_member(t.doc, "next") == NULL);
        crew_fine(crew.root, "removeImage", "/v1/images?ref=r.example/train:1&reason=gone", NULL,
                  &t);
        crew_refused(crew.root, "removeImage", "/v1/images?ref=r.example/train:1&reason=gone", NULL,
                     404, "no image");
    }
    crew_end(&crew);
}

/* Flaws and ends of support, cut to what one may see. */
static void test_exposure(void)
{
    struct crew crew;
    char digest[LKS_DIGEST_SIZE];
    uint64_t beats = 0;
    struct lks_client *agent = NULL;
    if (crew_begin(&crew, "") && crew_release(&crew, digest) && crew_fleet(&crew, fleet) &&
        (agent = crew_enroll(&crew, "gpu1")) != NULL && crew_report(agent, "gpu1", "", &beats)) {
        LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
        struct lks_client *stranger = crew_person(&crew, "viewer", "serve");
        crew_fine(crew.root, "fleetLifecycle", "/v1/exposure/lifecycle", NULL, &t);
        CHECK_INT(crew_count(&t, "matrix"), 1);
        crew_fine(stranger, "fleetLifecycle", "/v1/exposure/lifecycle", NULL, &t);
        CHECK_INT(crew_count(&t, "matrix"), 0);
        crew_fine(crew.root, "fleetAdvisories", "/v1/exposure/advisories", NULL, &t);
        crew_fine(crew.root, "fleetAdvisories", "/v1/exposure/advisories?cve=cve-2026-24187", NULL,
                  &t);
        crew_refused(crew.root, "fleetAdvisories", "/v1/exposure/advisories?cve=CVE-2026-2418",
                     NULL, 404, "no advisory 'CVE-2026-2418' is known");
        crew_fine(crew.root, "fleetRemedies", "/v1/exposure/remedies?cve=cve-2026-24187", NULL, &t);
        CHECK_STR(crew_text(&t, "id"), "CVE-2026-24187");
        crew_fine(stranger, "fleetRemedies", "/v1/exposure/remedies?cve=cve-2026-24187", NULL, &t);
        CHECK_INT(crew_count(&t, "items"), 1); /* pools that they may see */
        CHECK_STR(lks_doc_text(crew_item(&t, "items", 0), "pool"), "serve");
        crew_refused(crew.root, "fleetRemedies", "/v1/exposure/remedies?cve=CVE-2026-2418", NULL,
                     404, "no advisory 'CVE-2026-2418' is known");
        crew_refused(crew.root, "fleetRemedies", "/v1/exposure/remedies", NULL, 400, "cve");
        lks_client_free(stranger);
    }
    lks_client_free(agent);
    crew_end(&crew);
}

static void test_covered(void)
{
    crew_all_covered("daemon_registry");
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"stacks are published, promoted and retired", test_stacks},
        {"images", test_images},
        {"exposure", test_exposure},
        {"all routes were asked", test_covered},
        {0},
    };
    return lks_test_main(tests);
}
