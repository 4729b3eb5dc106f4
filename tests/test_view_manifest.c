/* The manifest of a fleet as it is now: what `fleet export` prints. */
#include "core/view/view_manifest.h"

#include "base/file.h"
#include "core/rows/pool.h"
#include "core/state/lookup.h"
#include "model/manifest/fleet_diff.h"
#include "model/manifest/manifest_docs.h"
#include "tests/asked.h"
#include "tests/manifests.h"
#include "tests/test.h"

enum { TEXT_MAX = 16 << 20 };

#define STACK(name, kernel)                                                                        \
    "---\n" LKS_STACK_HGX_OF(name, "hgx-h100-8", kernel, "580.126.20", "2.28.9", "1.19.1", "")
#define GOLD  STACK("gold", "6.8.0-71-generic")
#define OTHER "sha256:1111111111111111111111111111111111111111111111111111111111111111"

#define FLEET                                                                                      \
    "lockstep: 1\nkind: Fleet\nname: f\ndescription: \"a: b # c\"\n"                               \
    "sites: {ber: {timezone: Europe/Berlin, description: 'on'}}\n"                                 \
    "power_zones: {z1: {site: ber, budget_kw: 100}}\n"                                             \
    "pools:\n"                                                                                     \
    "  train: {posture: pre-training, stack: gold, on_drift: [alarm, drain], enforce: 'on',\n"     \
    "    version_policy: {minor: false}, windows: 'Mon-Fri 22:00-04:00'}\n"                        \
    "  idle: {posture: dev}\n"                                                                     \
    "nodes:\n"                                                                                     \
    "  - {hosts: 'g[01-04]', pool: train, class: hgx-h100-8, site: ber, rack: '7',\n"              \
    "     bmc: {url: 'https://{host}.bmc.example', credentials: file:/etc/bmc}}\n"                 \
    "  - {hosts: h1, pool: idle, class: hgx-h100-8}\n"                                             \
    "assets: []\n"                                                                                 \
    "spares: {psu: 2}\n"                                                                           \
    "outages: [{hosts: g01, from: '2026-11-15T22:00:00Z', until: '2026-11-16T22:00:00Z'}]\n"       \
    "freezes: [{from: '2026-12-24', until: '2026-12-27', pools: [train]}]\n"

static void export_now(const struct lks_asked *a, struct lks_buf *out)
{
    struct lks_err err = {0};
    lks_buf_truncate(out, 0);
    CHECK_CODE(
        lks_view_manifest(&a->state, a->state.pools, a->state.pool_count, &a->manifest, out, &err),
        LKS_OK);
    CHECK_STR(lks_str_from(err.msg), "");
}

static size_t differences(const char *old, const char *new)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs a = {0};
    LKS_CLEANUP(lks_docs_fini) struct lks_docs b = {0};
    LKS_CLEANUP(lks_fleet_diff_fini) struct lks_fleet_diff diff = {0};
    struct lks_err err = {0};
    CHECK_CODE(lks_manifest_docs("old", lks_str_from(old), false, &a, &err), LKS_OK);
    CHECK_CODE(lks_manifest_docs("new", lks_str_from(new), false, &b, &err), LKS_OK);
    CHECK_CODE(lks_fleet_diff(&a, &b, &diff, &err), LKS_OK);
    CHECK_STR(lks_str_from(err.msg), "");
    return diff.count;
}

/* What is exported is taken again, changes nothing but the file's digest, and is exported alike. */
static void check_again(struct lks_asked *a)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf once = LKS_BUF(TEXT_MAX);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf twice = LKS_BUF(TEXT_MAX);
    export_now(a, &once);
    struct lks_str told = lks_asked_fleet(a, once.ptr, NULL);
    CHECK(lks_str_starts(told, "fleet name="));
    CHECK_INT(a->decision.count, 1);
    export_now(a, &twice);
    CHECK_STR(lks_buf_view(&twice), once.ptr);
    CHECK_INT(differences(once.ptr, twice.ptr), 0);
}

static void begin(struct lks_asked *a, const char *manifest)
{
    lks_asked_init(a);
    CHECK(lks_str_starts(lks_asked_fleet(a, manifest, NULL), "fleet name="));
}

/* Fleets of the examples, and one with every kind of field. */
static void test_nothing_changed(void)
{
    static const char *const files[] = {"examples/gb200-nvl72.yaml", NULL};
    for (size_t i = 0; i < LKS_COUNT(files); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf file = LKS_BUF(TEXT_MAX);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_MAX);
        struct lks_asked a = {0};
        struct lks_err err = {0};
        if (files[i] != NULL)
            CHECK_CODE(lks_file_read(files[i], &file, &err), LKS_OK);
        else
            lks_buf_add(&file, LKS_STR(FLEET GOLD));
        begin(&a, file.ptr);
        export_now(&a, &text);
        CHECK_INT(differences(file.ptr, text.ptr), 0);
        check_again(&a);
        lks_asked_fini(&a);
    }
}

/* A change ended: the pool is pinned to another stack. */
static void pin(struct lks_asked *a, const char *stack, const char *digest)
{
    struct lks_record r = {.kind = LKS_RECORD_POOL,
                           .pool = {.name = LKS_STR("train"),
                                    .posture = LKS_STR("pre-training"),
                                    .enforce = LKS_STR("on"),
                                    .sched = LKS_STR("none"),
                                    .stack = lks_str_from(stack),
                                    .stack_digest = lks_str_from(digest),
                                    .on_drift = LKS_STR("alarm drain"),
                                    .deviations = true,
                                    .sweep = (lks_ms)24 * 3600 * LKS_SECOND}};
    lks_asked_apply(a, &r);
}

static void test_pin_moved(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_MAX);
    struct lks_asked a = {0};
    begin(&a, FLEET GOLD);
    pin(&a, "silver", OTHER);
    export_now(&a, &text);
    CHECK_HAS(lks_buf_view(&text), "    stack: silver\n");
    CHECK_HAS(lks_buf_view(&text), "name: gold\n"); /* no pool has it, and it does no harm */
    CHECK_INT(differences(FLEET GOLD, text.ptr), 1);
    check_again(&a);
    lks_asked_fini(&a);
}

/* A stack of the same name: the document beside the fleet would move the pin back. */
static void test_stack_outdated(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_MAX);
    struct lks_asked a = {0};
    begin(&a, FLEET GOLD);
    pin(&a, "gold", OTHER);
    export_now(&a, &text);
    CHECK_HAS(lks_buf_view(&text), "    stack: gold\n");
    CHECK(lks_str_find(lks_buf_view(&text), LKS_STR("kind: Stack")) < 0);
    check_again(&a);
    lks_asked_fini(&a);
}

static void remove_hosts(struct lks_asked *a, const char *hosts)
{
    struct lks_record r = {.kind = LKS_RECORD_REMOVED,
                           .removed = {.hosts = lks_str_from(hosts), .by = LKS_STR("kim")}};
    lks_asked_apply(a, &r);
}

static void test_nodes_removed(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_MAX);
    struct lks_asked a = {0};
    begin(&a, FLEET GOLD);
    remove_hosts(&a, "g02,h1");
    export_now(&a, &text);
    CHECK_HAS(lks_buf_view(&text), "g[01,03-04]");
    CHECK(lks_str_find(lks_buf_view(&text), LKS_STR("hosts: h1")) < 0);
    CHECK_INT(differences(FLEET GOLD, text.ptr), 2);
    check_again(&a);
    lks_asked_fini(&a);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"view_manifest: a fleet as it was applied", test_nothing_changed},
        {"view_manifest: a change moved a pin", test_pin_moved},
        {"view_manifest: a stack beside the fleet is not the pinned one", test_stack_outdated},
        {"view_manifest: nodes were removed", test_nodes_removed},
        {0},
    });
}
