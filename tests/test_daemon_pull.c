/* A switch tray fetches its firmware by itself, from a mirror over TLS: lockstepd reads the image
 * there first, and the tray is told to fetch it only where the mirror serves the right one. */
#include "base/file.h"
#include "tests/flashes.h"
#include "tests/liar.h"
#include "tests/test.h"

#include <signal.h>
#include <stdio.h>

#define CLASS   "bios"
#define VERSION "2.0.0"

enum { PACKAGE_BYTES = 4096, PACKAGE_MAX = 1 << 20 };

static const enum lks_bmcsim_personality kinds[] = {LKS_BMCSIM_SWITCH};

static struct {
    struct lks_tree tree;
    struct lks_pair authority, server;
    char ca[128];
} at;

static const struct {
    const char *name;
    bool changed; /* a byte of what the mirror serves */
    const char *outcome, *says, *version;
    const char *trays[2];
    unsigned accepted; /* connections: lockstepd's, which reads an image once, and the trays' */
} rows[] = {
    {"another file",
     true,
     "refused",
     "which is another file: it has the digest sha256:",
     "1.0.0",
     {"bmc0002"},
     1},
    {"the right image", false, "done", "", VERSION, {"bmc0002", "bmc0004"}, 3},
};

/* Answers of the mirror, to any client. */
static void make_answer(bool changed, struct lks_buf *out)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf package = LKS_BUF(PACKAGE_MAX);
    struct lks_err err = {0};
    lks_buf_init(out, PACKAGE_MAX);
    CHECK_CODE(lks_bmcsim_image_package(kinds[0], CLASS, VERSION, 1, PACKAGE_BYTES, &package, &err),
               LKS_OK);
    if (changed && package.len > 0)
        package.ptr[package.len - 1] ^= 1;
    lks_buf_addf(out, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n",
                 package.len);
    lks_buf_add(out, lks_buf_view(&package));
}

static void update(struct flashes *f, size_t i, const char *tray)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0}, truth = {0};
    if (!flashes_change(f, tray))
        return;
    uint64_t id = flashes_ask(f, tray, kinds[0], CLASS, VERSION);
    if (!CHECK(id != 0))
        return;
    CHECK_STR(lks_str_from(flashes_wait(f, id, &t)), rows[i].outcome);
    CHECK_HAS(crew_text(&t, "text"), rows[i].says);
    const struct lks_doc *device = flashes_truth(f, tray, CLASS, &truth);
    if (CHECK(device != NULL))
        CHECK_STR(lks_doc_text(device, "active"), rows[i].version);
}

static void test_pulls(void)
{
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
        struct flashes f = {0};
        const char *const options[] = {"--count",        "4",       "--personality",
                                       "openbmc,switch", "--speed", "0",
                                       "--pull-ca",      at.ca,     NULL};
        char more[512];
        lks_test_case("%s", rows[i].name);
        make_answer(rows[i].changed, &text);
        struct lks_liar mirror = {.own = &at.server, .turn_count = rows[i].accepted};
        for (size_t k = 0; k < mirror.turn_count; k++)
            mirror.turns[k] = (struct lks_liar_turn){LKS_LIAR_CLOSE, lks_buf_view(&text)};
        lks_liar_start(&mirror);
        snprintf(more, sizeof(more),
                 "bmc: {speed: 500, pull: \"https://127.0.0.1:%u/images\", pull_ca: \"%s\"}\n",
                 mirror.port, at.ca);
        if (flashes_begin(&f, options, more) &&
            flashes_bundle(&f, kinds, LKS_COUNT(kinds), CLASS, VERSION)) {
            for (size_t k = 0; k < LKS_COUNT(rows[i].trays) && rows[i].trays[k] != NULL; k++)
                update(&f, i, rows[i].trays[k]);
        }
        flashes_end(&f);
        lks_liar_join(&mirror);
        CHECK_INT(mirror.accepted, rows[i].accepted);
        CHECK_HAS(lks_buf_view(&mirror.heard), "GET /images/sha256:");
        lks_liar_fini(&mirror);
    }
}

int main(void)
{
    static const struct lks_test tests[] = {{"images that are fetched", test_pulls}, {0}};
    struct lks_err err = {0};
    signal(SIGPIPE, SIG_IGN);
    at.tree = lks_tree_new();
    snprintf(at.ca, sizeof(at.ca), "%s/ca.pem", at.tree.path);
    lks_pki_authority(&at.authority);
    lks_pki_issue(&at.authority, (struct lks_pki_wish){.use = LKS_X509_SERVER, .name = "mirror"},
                  &at.server);
    CHECK_CODE(lks_file_replace(at.ca, lks_buf_view(&at.authority.certificate), &err), LKS_OK);
    int status = lks_test_main(tests);
    lks_pair_fini(&at.authority);
    lks_pair_fini(&at.server);
    lks_tree_free(&at.tree);
    return status;
}
