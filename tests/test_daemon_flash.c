/* Management endpoints of the real daemon: they are read by themselves, known by what was recorded
 * of them, and updated in a change, once, however often lockstepd is killed meanwhile. */
#include "base/file.h"
#include "drivers/http/curl.h"
#include "tests/flashes.h"
#include "tests/test.h"
#include "tests/wait.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

enum {
    LOST = 5, /* its endpoint leaves the fleet */
    PINNED = 6
};

#define CLASS   "bmc"
#define VERSION "2.0.0"

static const enum lks_bmcsim_personality kinds[] = {LKS_BMCSIM_OPENBMC, LKS_BMCSIM_SUPERMICRO};

static void name_of(size_t i, char out[16])
{
    snprintf(out, 16, "bmc%04zu", i + 1);
}

static enum lks_bmcsim_personality kind_of(size_t i)
{
    return kinds[i % LKS_COUNT(kinds)];
}

/* How many endpoints were read, of how many. */
static size_t count_read(struct flashes *f, size_t *all)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    size_t read = 0;
    crew_fine(f->crew.root, "endpoints", "/v1/endpoints?limit=1000", NULL, &t);
    *all = crew_count(&t, "items");
    for (size_t i = 0; i < *all; i++)
        read += lks_doc_text(crew_item(&t, "items", i), "read").len > 0;
    return read;
}

static void check_swept(struct flashes *f)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    size_t all = 0;
    for (struct lks_wait w = {0}; count_read(f, &all) < all && lks_wait(&w);) {
    }
    CHECK_INT(count_read(f, &all), 7);
    crew_fine(f->crew.root, "endpoints", "/v1/endpoints?node=bmc0002", NULL, &t);
    CHECK_INT(crew_count(&t, "items"), 1);
    CHECK_STR(lks_doc_text(crew_item(&t, "items", 0), "driver"), "redfish");
    CHECK(lks_doc_member(crew_item(&t, "items", 0), "managed")->truth);
    crew_fine(f->crew.root, "endpoints", "/v1/endpoints?limit=4", NULL, &t);
    CHECK_STR(crew_text(&t, "next"), "bmc0004");
    crew_fine(f->crew.root, "endpoints", "/v1/endpoints?limit=4&after=bmc0004", NULL, &t);
    CHECK_INT(crew_count(&t, "items"), 3);
    CHECK_INT(crew_ask(f->crew.root, "GET", "/metrics", NULL, &t), 200);
    CHECK_HAS(lks_buf_view(&t.answer.body), "lockstep_sweeps_total{result=\"failed\"} 0\n");
    CHECK_HAS(lks_buf_view(&t.answer.body), "lockstep_flashes{outcome=\"open\"} 0\n");
}

#define PRINT "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void check_trust(struct flashes *f)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    crew_refused(f->crew.root, "trustEndpoint", "/v1/endpoints/bmc0001",
                 "{\"fingerprint\":\"sha256:12\",\"reason\":\"r\"}", 400, "fingerprint");
    crew_refused(f->crew.root, "trustEndpoint", "/v1/endpoints/nobody",
                 "{\"fingerprint\":\"" PRINT "\",\"reason\":\"r\"}", 404, "no node");
    crew_fine(f->crew.root, "trustEndpoint", "/v1/endpoints/bmc0001",
              "{\"fingerprint\":\"" PRINT "\",\"reason\":\"by phone\"}", &t);
    crew_fine(f->crew.root, "endpoints", "/v1/endpoints?node=bmc0001", NULL, &t);
    CHECK_STR(lks_doc_text(crew_item(&t, "items", 0), "fingerprint"), PRINT);
}

static void check_refusals(struct flashes *f)
{
    char body[768];
    snprintf(body, sizeof(body),
             "{\"node\":\"bmc0001\",\"component\":\"" CLASS "\",\"version\":\"" VERSION
             "\",\"bundle\":\"%s\",\"reason\":\"r\"}",
             f->bundle);
    crew_refused(f->crew.root, "flash", "/v1/flashes", body, 409, "outside a change");
    crew_refused(f->crew.root, "flash", "/v1/flashes", "{\"node\":\"bmc0001\"}", 400, "component");
    crew_refused(f->crew.root, "flashOne", "/v1/flashes/77", NULL, 404, "no update '77'");
    crew_refused(f->crew.root, "resolveNode", "/v1/nodes/bmc0001/resolve", "{\"reason\":\"r\"}",
                 409, "no update of bmc0001 waits for a person");
    struct lks_client *viewer = crew_person(&f->crew, "viewer", "");
    crew_refused(viewer, "flash", "/v1/flashes", body, 403, "may not operate");
    lks_client_free(viewer);
}

/* What runs there, and how often something was put there. */
static void check_truth(struct flashes *f, const char *name)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    const struct lks_doc *device = flashes_truth(f, name, CLASS, &t);
    if (!CHECK(device != NULL))
        return;
    CHECK_STR(lks_doc_text(device, "active"), VERSION);
    CHECK_INT(lks_doc_member(device, "flashes")->number, 1);
}

static void check_done(struct flashes *f, const char *name, uint64_t id)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    const char *outcome = flashes_wait(f, id, &t);
    lks_test_case("%s", name);
    if (!CHECK_STR(lks_str_from(outcome), "done"))
        CHECK_STR(crew_text(&t, "text"), "");
    CHECK_STR(crew_text(&t, "found"), VERSION);
    CHECK(crew_number(&t, "uploads") >= 1); /* one that did not arrive is sent again */
    check_truth(f, name);
}

/* An endpoint that is known by its fingerprint: nothing is sent there before one is recorded, and
 * nothing to an endpoint with another. */
static void check_pinned(struct flashes *f)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    struct lks_curl_certificate shown = {0};
    struct lks_err err = {0};
    char name[16], url[BMCD_URL_MAX], path[64], body[256];
    name_of(PINNED, name);
    bmcd_url(&f->bmcs, PINNED, url);
    snprintf(path, sizeof(path), "/v1/endpoints/%s", name);
    if (!flashes_fleet(f, NULL, name) || !flashes_change(f, name) ||
        !CHECK_CODE(lks_curl_certificate(url, LKS_WAIT_MS, &shown, &err), LKS_OK))
        return;
    uint64_t id = flashes_ask(f, name, kind_of(PINNED), CLASS, VERSION);
    CHECK_STR(lks_str_from(flashes_wait(f, id, &t)), "refused");
    CHECK_HAS(crew_text(&t, "text"), "is recorded; inspect and record it: lockstep bmc");
    crew_fine(f->crew.root, "trustEndpoint", path,
              "{\"fingerprint\":\"" PRINT "\",\"reason\":\"a mistake\"}", &t);
    id = flashes_ask(f, name, kind_of(PINNED), CLASS, VERSION);
    const char *outcome = flashes_wait(f, id, &t);
    CHECK(strcmp(outcome, "failed") == 0 || strcmp(outcome, "refused") == 0);
    CHECK_INT(crew_number(&t, "uploads"), 0);
    snprintf(body, sizeof(body), "{\"fingerprint\":\"%s\",\"reason\":\"looked at\"}",
             shown.fingerprint);
    crew_fine(f->crew.root, "trustEndpoint", path, body, &t);
    check_done(f, name, flashes_ask(f, name, kind_of(PINNED), CLASS, VERSION));
}

#define TWO "the bundle has 2 for " CLASS " " VERSION "; say which one"

/* What the bundle's manifest says of its files counts: they are for bmc alone, and of the two of
 * them nobody says here which is meant. */
static void check_manifest(struct flashes *f, const char *name)
{
    static const struct {
        const char *component, *version, *bundle; /* NULL: by its digest */
        const char *detail;
        int status;
    } rows[] = {
        {"bios", VERSION, NULL, "rehearsal has no firmware for bios " VERSION, 409},
        {CLASS, "2.0.1", NULL, "rehearsal has no firmware for " CLASS " 2.0.1", 409},
        {CLASS, VERSION, NULL, TWO, 400},
        {CLASS, VERSION, "rehearsal", TWO, 400},
        {CLASS, VERSION, "rehearsel", "bundle: no good verdict on rehearsel", 409},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        char body[512];
        snprintf(body, sizeof(body),
                 "{\"node\":\"%s\",\"component\":\"%s\",\"version\":\"%s\",\"bundle\":\"%s\","
                 "\"reason\":\"r\"}",
                 name, rows[i].component, rows[i].version,
                 rows[i].bundle != NULL ? rows[i].bundle : f->bundle);
        crew_refused(f->crew.root, "flash", "/v1/flashes", body, rows[i].status, rows[i].detail);
    }
}

/* One without a disturbance, and the others while lockstepd is killed at different moments. */
static void check_updates(struct flashes *f)
{
    static const unsigned moments[] = {0, 15, 60, 200};
    char name[16];
    name_of(0, name);
    flashes_change(f, name);
    check_manifest(f, name);
    check_done(f, name, flashes_ask(f, name, kind_of(0), CLASS, NULL));
    for (size_t i = 0; i < LKS_COUNT(moments); i++) {
        name_of(i + 1, name);
        flashes_change(f, name);
        uint64_t id = flashes_ask(f, name, kind_of(i + 1), CLASS, VERSION);
        lks_rest(moments[i]);
        if (!flashes_kill(f))
            return;
        check_done(f, name, id);
    }
}

/* An update whose task never ends, once something was sent; its number. */
static uint64_t begin_stuck(struct flashes *f, size_t i, const char *version)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf said = LKS_BUF(1 << 16);
    char name[16], path[64];
    name_of(i, name);
    flashes_change(f, name);
    snprintf(path, sizeof(path), "/bmcs/%s/fault", name);
    CHECK_INT(bmcd_control(&f->bmcs, "POST", path, "{\"fault\":\"task-stuck\",\"times\":1}", &said),
              200);
    uint64_t id = flashes_ask(f, name, kind_of(i), CLASS, version);
    const char *outcome = flashes_outcome(f, id, &t);
    for (struct lks_wait w = {0};
         strcmp(outcome, "open") == 0 && crew_text(&t, "phase").len == 0 && lks_wait(&w);)
        outcome = flashes_outcome(f, id, &t);
    CHECK_STR(lks_str_from(outcome), "open");
    return id;
}

/* Its BMC stops answering in the middle, and then it is no part of the fleet any more: nobody can
 * tell what became of it, until a person looks. */
static void check_unknown(struct flashes *f)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    char name[16], path[64];
    name_of(LOST, name);
    uint64_t id = begin_stuck(f, LOST, VERSION);
    if (!flashes_fleet(f, name, NULL) || !flashes_kill(f))
        return;
    CHECK_STR(lks_str_from(flashes_wait(f, id, &t)), "unknown");
    CHECK_STR(crew_text(&t, "text"), "it has no management endpoint any more");
    snprintf(path, sizeof(path), "/v1/nodes/%s/condition", name);
    crew_refused(f->crew.root, "nodeCondition", path,
                 "{\"condition\":\"changing\",\"on\":false,\"text\":\"x\"}", 409,
                 "lockstep node resolve bmc0006");
    crew_fine(f->crew.root, "alarms", "/v1/alarms?open=true", NULL, &t);
    CHECK_STR(lks_doc_text(crew_item(&t, "items", 0), "kind"), "flash");
    snprintf(path, sizeof(path), "/v1/nodes/%s/resolve", name);
    crew_fine(f->crew.root, "resolveNode", path, "{\"reason\":\"it runs 1.0.0\"}", &t);
    CHECK_STR(lks_str_from(flashes_outcome(f, id, &t)), "unknown");
    CHECK_STR(crew_text(&t, "resolved_reason"), "it runs 1.0.0");
    crew_fine(f->crew.root, "alarms", "/v1/alarms?open=true", NULL, &t);
    CHECK_INT(crew_count(&t, "items"), 0);
}

static void check_lists(struct flashes *f)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    crew_fine(f->crew.root, "flashes", "/v1/flashes?limit=2", NULL, &t);
    CHECK_INT(crew_count(&t, "items"), 2);
    CHECK_STR(lks_doc_text(crew_item(&t, "items", 0), "node"), "bmc0007");
    CHECK_STR(crew_text(&t, "next"), "8");
    crew_fine(f->crew.root, "flashes", "/v1/flashes?node=bmc0001", NULL, &t);
    CHECK_INT(crew_count(&t, "items"), 1);
    crew_fine(f->crew.root, "flashes", "/v1/flashes?open=true", NULL, &t);
    CHECK_INT(crew_count(&t, "items"), 0);
}

static bool write_login(struct flashes *f, const char *password)
{
    char text[160];
    struct lks_err err = {0};
    snprintf(text, sizeof(text), "%s:%s\n", f->bmcs.user, password);
    return CHECK_CODE(lks_file_replace(f->bmcs.login, lks_str_from(text), &err), LKS_OK);
}

/* How many requests were answered since the start. */
static int64_t requests(struct flashes *f)
{
    static const char mark[] = "\nlockstep_bmc_requests_total ";
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    CHECK_INT(crew_ask(f->crew.root, "GET", "/metrics", NULL, &t), 200);
    struct lks_str all = lks_buf_view(&t.answer.body), line = {0}, rest = {0};
    ptrdiff_t at = lks_str_find(all, lks_str_from(mark));
    uint64_t count = 0;
    if (!CHECK(at >= 0))
        return 0;
    all.ptr += (size_t)at + strlen(mark);
    all.len -= (size_t)at + strlen(mark);
    CHECK(lks_str_cut(all, '\n', &line, &rest) && lks_str_number(line, INT64_MAX, &count));
    return (int64_t)count;
}

/* Credentials that are not good any more end nothing that is under way; with good ones again it
 * goes on by itself. */
static void check_denied(struct flashes *f, uint64_t id)
{
    enum { SOME_MS = 400, MANY = 100 };
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    static const char *const bad[] = {"not-this", ""}; /* the second cannot even be read */
    for (size_t i = 0; i < LKS_COUNT(bad); i++) {
        if (!write_login(f, bad[i]) || !flashes_kill(f))
            return;
        lks_rest(SOME_MS);
        CHECK_STR(lks_str_from(flashes_outcome(f, id, &t)), "open");
    }
    if (!write_login(f, f->bmcs.password))
        return;
    int64_t before = requests(f), now = before;
    for (struct lks_wait w = {0}; now < before + MANY && lks_wait(&w);)
        now = requests(f);
    CHECK(now >= before + MANY);
    CHECK_STR(lks_str_from(flashes_outcome(f, id, &t)), "open");
}

/* Soon no conversation with any endpoint is left. */
static void check_silent(struct flashes *f)
{
    enum { SILENT_MS = 200 };
    int64_t before = -1, now = requests(f);
    for (struct lks_wait w = {0}; now != before && lks_wait_on(&w);) {
        lks_rest(SILENT_MS);
        before = now;
        now = requests(f);
    }
    CHECK_INT(now, before);
}

/* What is known to be bad is not gone on with, whatever was sent of it already. */
static void check_revoked(struct flashes *f)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    char path[160];
    if (!flashes_bundle(f, kinds, LKS_COUNT(kinds), CLASS, "3.0.0"))
        return;
    uint64_t id = begin_stuck(f, 1, "3.0.0");
    crew_fine(f->crew.root, "endpoints", "/v1/endpoints?node=bmc0002", NULL, &t);
    CHECK_INT(lks_doc_member(crew_item(&t, "items", 0), "flashing")->number, (int64_t)id);
    check_denied(f, id);
    snprintf(path, sizeof(path), "/v1/bundles/%s/revoke", f->bundle);
    crew_fine(f->crew.root, "revokeBundle", path, "{\"reason\":\"it bricks\"}", &t);
    CHECK_STR(lks_str_from(flashes_wait(f, id, &t)), "unknown");
    CHECK_HAS(crew_text(&t, "text"), "its bundle was revoked: it bricks (it was ");
    CHECK_HAS(crew_text(&t, "text"), "; " CLASS " 3.0.0 may be staged there, or run)");
    crew_fine(f->crew.root, "alarms", "/v1/alarms?open=true", NULL, &t);
    CHECK_STR(lks_doc_text(crew_item(&t, "items", 0), "kind"), "flash");
    check_silent(f);
}

static void check_failure(struct flashes *f)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    crew_fine(f->crew.root, "endpoints", "/v1/endpoints?node=bmc0003", NULL, &t);
    CHECK(lks_doc_member(crew_item(&t, "items", 0), "failed") == NULL);
    CHECK(lks_doc_member(crew_item(&t, "items", 0), "flashing") == NULL);
    crew_fine(f->crew.root, "failSweep", "/v1/sweeps/bmc0003/failed",
              "{\"holder\":\"ann\",\"text\":\"no route\"}", &t);
    crew_fine(f->crew.root, "endpoints", "/v1/endpoints?node=bmc0003", NULL, &t);
    CHECK_STR(lks_doc_text(crew_item(&t, "items", 0), "failure"), "no route");
    CHECK(lks_doc_text(crew_item(&t, "items", 0), "failed").len > 0);
}

static void test_endpoints(void)
{
    static const char *const options[] = {
        "--count", "7", "--personality", "openbmc,supermicro", "--speed", "0", NULL};
    struct flashes f;
    if (flashes_begin(&f, options, "sweep: {run: 'yes'}\nbmc: {speed: 500}\n")) {
        check_swept(&f);
        check_trust(&f);
        if (flashes_bundle(&f, kinds, LKS_COUNT(kinds), CLASS, VERSION)) {
            check_refusals(&f);
            check_updates(&f);
            check_unknown(&f);
            check_pinned(&f);
            check_lists(&f);
            check_failure(&f);
            check_revoked(&f);
            crew_all_covered("daemon_flash");
        }
    }
    flashes_end(&f);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"endpoints of a daemon", test_endpoints},
        {0},
    });
}
