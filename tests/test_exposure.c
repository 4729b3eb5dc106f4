#include "core/conform/basis.h"
#include "core/exposure/exposure.h"
#include "core/state/lookup.h"
#include "tests/asked.h"
#include "tests/facts.h"
#include "tests/manifests.h"
#include "tests/test.h"
#include "tests/tuples.h"

#include <stdio.h>

/* A fleet of three pools, what its nodes run in lines, and flaws of our own. */
#define FLAW(id, of, date, cvss, affected)                                                         \
    "- {id: " id ", vendor: x, component: " of ", published: '" date "', cvss: '" cvss             \
    "', severity: high, summary: s, status: confirmed, source: x, affected: [" affected "]}\n"
static const char flaws[] = "advisories:\n" FLAW(
    "CVE-1", "driver", "2026-10-01", "7.8",
    "{component: driver, branch: R580, range: '<580.95.05', fixed: '580.95.05'}, "
    "{component: driver, branch: R570, range: '<570.200', fixed: '570.200'}")
    FLAW("CVE-2", "nic", "2026-10-31", "9.1", "{component: nic, range: '<28.46', fixed: '28.46'}")
        FLAW("CVE-3", "nccl", "2026-10-31", "5.0",
             "{component: nccl, range: '<2.28.9', fixed: '2.28.9'}")
            FLAW("CVE-4", "driver", "2026-10-31", "9.9",
                 "{component: driver, range: '<999', gpus: [GB200]}")
                FLAW("CVE-5", "container-toolkit", "2026-10-31", "9.9",
                     "{component: container-toolkit, condition: ask the vendor}");

static const char stack[] = "---\n" LKS_STACK_HGX("gold", "hgx-h200-8", "580.126.20", "");

static const char fleet[] =
    "lockstep: 1\nkind: Fleet\nname: f\n"
    "pools: {train: {posture: pre-training, stack: gold}, serve: {posture: online-inference}}\n"
    "nodes:\n- {hosts: 'g[1-4]', pool: train, class: hgx-h200-8}\n"
    "- {hosts: 's[1-2]', pool: serve, class: hgx-h200-8}\n";

#define GPUS   "devices.gpus=8\ngpu.product@gpu *=NVIDIA H200\ndriver.modules=open\n"
#define OLD    GPUS "driver=580.82.07\ncuda~\n"
#define OLDER  GPUS "driver=570.133.20\ncuda=12.8.0\nfirmware/nic@nic *=28.45.1200\n"
#define NEW    GPUS "driver=580.126.20\ncuda~\n"
#define NEWEST GPUS "driver=580.126.20\ncuda=13.0.2\nnccl.package=2.28.9\n"

static struct lks_facts own;

struct world {
    struct lks_asked a;
    struct lks_book book;
};

static void run(struct world *w, const char *nodes, const char *lines)
{
    LKS_CLEANUP(lks_tuple_fini) struct lks_tuple t = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_BASIS_BYTES_MAX);
    struct lks_err err = {0};
    char digest[LKS_DIGEST_SIZE];
    struct lks_str rest = lks_str_from(nodes), name;
    lks_test_tuple(lines, &t);
    LKS_ASSERT(lks_basis_of(&t, &text, digest, &err) == LKS_OK);
    lks_asked_apply(&w->a, &(struct lks_record){.kind = LKS_RECORD_BASIS,
                                                .basis = {.digest = lks_str_from(digest),
                                                          .readings = lks_buf_view(&text)}});
    while (lks_str_word(&rest, &name))
        lks_asked_apply(&w->a, &(struct lks_record){.kind = LKS_RECORD_TUPLE,
                                                    .tuple = {.node = name,
                                                              .digest = lks_str_from(t.digest),
                                                              .boot = LKS_STR("b1"),
                                                              .basis = lks_str_from(digest),
                                                              .whole = lks_str_from(digest)}});
}

static void world_init(struct world *w)
{
    char text[4096];
    lks_asked_init(&w->a);
    snprintf(text, sizeof(text), "%s%s", fleet, stack);
    lks_asked_fleet(&w->a, text, NULL);
    LKS_ASSERT(w->a.state.placed_count == 6);
    w->book = (struct lks_book){.facts = &own, .manifest = &w->a.manifest};
}

static void world_fini(struct world *w)
{
    lks_asked_fini(&w->a);
}

static lks_day today(void)
{
    lks_day day = 0;
    LKS_ASSERT(lks_time_day_parse(LKS_STR("2026-11-15"), &day));
    return day;
}

static bool sees_odd(void *ctx, uint32_t node)
{
    struct lks_str name = lks_state_name(ctx, node);
    return (name.ptr[name.len - 1] - '0') % 2 == 1;
}

/* The fleet as it is, read in slices of so many nodes. */
static struct lks_exposure_fleet *copy_of(struct world *w, lks_exposure_sees *sees, uint32_t slice)
{
    struct lks_exposure_fleet *e = NULL;
    struct lks_err err = {0};
    bool done = false;
    CHECK_CODE(lks_exposure_new(w->book.facts, &e, &err), LKS_OK);
    for (uint32_t i = 0; i <= w->a.state.node_count && !done; i++)
        CHECK_CODE(
            lks_exposure_read(e, &w->a.state, &w->book, slice, sees, &w->a.state, &done, &err),
            LKS_OK);
    CHECK(done);
    return e;
}

static void check_flaws(struct world *w, const char *cve, lks_exposure_sees *sees, const char *want)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
    struct lks_json_writer out = {.out = &text};
    struct lks_err err = {0};
    lks_buf_init(&text, 1 << 20);
    struct lks_exposure_fleet *e = copy_of(w, sees, 1);
    CHECK_CODE(lks_exposure_advisories(e, lks_str_from(cve), today(), &out, &err), LKS_OK);
    lks_exposure_free(e);
    CHECK_STR(lks_buf_view(&text), want);
}

#define HEAD(id, how, cvss, date, days, component, fixed)                                          \
    "{\"id\":\"" id "\",\"exposure\":\"" how "\",\"severity\":\"high\",\"cvss\":\"" cvss           \
    "\",\"published\":\"" date "\",\"days\":" days ",\"component\":\"" component "\"" fixed        \
    ",\"summary\":\"s\","
#define FIXED(v) ",\"fixed\":\"" v "\""
#define POOL(name, hosts, nodes, gpus, versions)                                                   \
    "{\"pool\":\"" name "\",\"hosts\":\"" hosts "\",\"nodes\":" nodes ",\"gpus\":" gpus            \
    ",\"versions\":[" versions "]}"
#define REACH(nodes, gpus, pools, images)                                                          \
    "\"nodes\":" nodes ",\"gpus\":" gpus ",\"pools\":[" pools "],\"images\":[" images "]}"

/* The worst first; hosts by pool, versions as they were measured, boards that a flaw is limited to,
 * and what takes a person last. */
static void test_flaws(void)
{
    LKS_CLEANUP(world_fini) struct world w = {0};
    world_init(&w);
    check_flaws(&w, "", NULL, "\"items\":[]");
    run(&w, "g1 g2 s1", OLD);
    run(&w, "g3", OLDER);
    run(&w, "g4", NEWEST);
    run(&w, "s2", NEW "container-toolkit=1.18.0\n");
    check_flaws(
        &w, "", NULL,
        "\"items\":[" HEAD("CVE-2", "exposed", "9.1", "2026-10-31", "15", "firmware/nic",
                           FIXED("28.46"))
            REACH("1", "8", POOL("train", "g3", "1", "8", "\"28.45.1200\""),
                  "") "," HEAD("CVE-1", "exposed", "7.8", "2026-10-01", "45", "driver",
                               FIXED("580.95.05, 570.200"))
                REACH("4", "32",
                      POOL("train", "g[1-3]", "3", "24", "\"580.82.07\",\"570.133.20\"") "," POOL(
                          "serve", "s1", "1", "8", "\"580.82.07\""),
                      "") "," HEAD("CVE-5", "by-hand", "9.9", "2026-10-31", "15",
                                   "container-toolkit", "")
                    REACH("1", "8", POOL("serve", "s2", "1", "8", "\"1.18.0\""), "") "]");
}

/* One flaw by its name, and only what the caller may see. */
static void test_views(void)
{
    LKS_CLEANUP(world_fini) struct world w = {0};
    world_init(&w);
    run(&w, "g1 g2 g3 s2", OLD);
    check_flaws(&w, "cve-1", sees_odd,
                "\"items\":[" HEAD("CVE-1", "exposed", "7.8", "2026-10-01", "45", "driver",
                                   FIXED("580.95.05"))
                    REACH("2", "16", POOL("train", "g[1,3]", "2", "16", "\"580.82.07\""), "") "]");
    check_flaws(&w, "CVE-2", NULL, "\"items\":[]");
    check_flaws(&w, "CVE-9", NULL, "\"items\":[]");
    lks_asked_apply(&w.a, &(struct lks_record){.kind = LKS_RECORD_REMOVED,
                                               .removed = {.hosts = LKS_STR("g[1-3],s2")}});
    check_flaws(&w, "", NULL, "\"items\":[]");
}

/* Each device of a node counts, in whatever order their versions are. */
static void test_devices(void)
{
    LKS_CLEANUP(world_fini) struct world w = {0};
    world_init(&w);
    run(&w, "g1", NEW "firmware/nic@nic 0=28.46.1000\nfirmware/nic@nic 1=28.5.1000\n");
    run(&w, "g2", NEW "firmware/nic@nic 0=28.46.1000\nfirmware/nic@nic 1=28.47.1000\n");
    check_flaws(&w, "CVE-2", NULL,
                "\"items\":[" HEAD("CVE-2", "exposed", "9.1", "2026-10-31", "15", "firmware/nic",
                                   FIXED("28.46"))
                    REACH("1", "8", POOL("train", "g1", "1", "8", "\"28.5.1000\""), "") "]");
}

/* Images of the catalogue carry flaws too. */
static void test_images(void)
{
    LKS_CLEANUP(world_fini) struct world w = {0};
    world_init(&w);
    const struct lks_rec_image images[] = {
        {.ref = LKS_STR("a:1"), .nccl = LKS_STR("2.25.1"), .source = LKS_STR("sbom")},
        {.ref = LKS_STR("b:2"), .nccl = LKS_STR("2.28.9"), .source = LKS_STR("sbom")},
        {.ref = LKS_STR("c:3"), .nccl = LKS_STR("2.25.1"), .source = LKS_STR("scan")},
    };
    for (size_t i = 0; i < LKS_COUNT(images); i++)
        lks_asked_apply(&w.a, &(struct lks_record){.kind = LKS_RECORD_IMAGE, .image = images[i]});
    run(&w, "g1", NEW "nccl.package=2.28.3\n");
    check_flaws(
        &w, "", NULL,
        "\"items\":[" HEAD("CVE-3", "exposed", "5.0", "2026-10-31", "15", "nccl", FIXED("2.28.9"))
            REACH("1", "8", POOL("train", "g1", "1", "8", "\"2.28.3\""),
                  "{\"ref\":\"a:1\",\"version\":\"2.25.1\"},"
                  "{\"ref\":\"c:3\",\"version\":\"2.25.1\"}") "]");
}

/* Names that do not fold: the first of them are shown, and all are counted. */
static void test_many(void)
{
    enum { HOSTS = 20000 };
    LKS_CLEANUP(world_fini) struct world w = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf names = {0}, text = {0};
    struct lks_json_writer out = {.out = &text};
    struct lks_err err = {0};
    world_init(&w);
    lks_buf_init(&names, 64 << 20);
    lks_buf_init(&text, 64 << 20);
    for (unsigned i = 0; i < HOSTS; i++) {
        size_t at = names.len;
        lks_buf_addf(&names, "a-node-with-a-name-that-is-much-too-long-%ua%ux ", i * 7919, i);
        struct lks_str host = {names.ptr + at, names.len - at - 1};
        lks_asked_apply(&w.a,
                        &(struct lks_record){.kind = LKS_RECORD_PLACED,
                                             .placed = {.hosts = host, .pool = LKS_STR("train")}});
    }
    run(&w, names.ptr, OLD);
    struct lks_exposure_fleet *e = copy_of(&w, NULL, 1000);
    CHECK_CODE(lks_exposure_advisories(e, LKS_STR("CVE-1"), today(), &out, &err), LKS_OK);
    lks_exposure_free(e);
    CHECK(lks_str_find(lks_buf_view(&text), LKS_STR("\"nodes\":20000,\"gpus\":160000")) > 0);
    CHECK(text.len > 4096 * 40 && text.len < LKS_HOSTLIST_BYTES_MAX);
}

/* A node is counted once, as it was when its slice was read, and the copy is its own: what the
 * state let go of meanwhile, and the state itself, are not needed any more. */
static void test_slices(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
    struct lks_json_writer out = {.out = &text};
    struct lks_exposure_fleet *e = NULL;
    struct lks_err err = {0};
    struct world w;
    bool done = true;
    lks_buf_init(&text, 1 << 20);
    world_init(&w);
    run(&w, "g1 g2 g3 g4", OLD);
    CHECK_CODE(lks_exposure_new(w.book.facts, &e, &err), LKS_OK);
    CHECK_CODE(lks_exposure_read(e, &w.a.state, &w.book, 2, NULL, NULL, &done, &err), LKS_OK);
    CHECK(!done);
    run(&w, "g1 g2 g3 g4", NEW);
    CHECK_CODE(lks_exposure_read(e, &w.a.state, &w.book, 100, NULL, NULL, &done, &err), LKS_OK);
    CHECK(done);
    world_fini(&w);
    CHECK_CODE(lks_exposure_advisories(e, LKS_STR("CVE-1"), today(), &out, &err), LKS_OK);
    CHECK(lks_str_find(lks_buf_view(&text), LKS_STR("\"hosts\":\"g[1-2]\",\"nodes\":2,")) > 0);
    lks_buf_truncate(&text, 0);
    out = (struct lks_json_writer){.out = &text};
    CHECK_CODE(lks_exposure_lifecycle(e, today(), &out, &err), LKS_OK);
    CHECK(lks_str_find(lks_buf_view(&text), LKS_STR("\"nodes\":4,\"gpus\":32")) > 0);
    lks_exposure_free(e);
}

static void check_lifecycle(struct world *w, lks_exposure_sees *sees, const char *want)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
    struct lks_json_writer out = {.out = &text};
    struct lks_err err = {0};
    lks_buf_init(&text, 1 << 20);
    struct lks_exposure_fleet *e = copy_of(w, sees, 1);
    CHECK_CODE(lks_exposure_lifecycle(e, today(), &out, &err), LKS_OK);
    lks_exposure_free(e);
    CHECK_STR(lks_buf_view(&text), want);
}

#define BRANCH(name, type, ends, left, nodes, gpus)                                                \
    "{\"branch\":\"" name "\",\"type\":\"" type "\",\"ends\":\"" ends "\",\"days_left\":" left     \
    ",\"nodes\":" nodes ",\"gpus\":" gpus "}"
#define CELL(gpu, driver, cuda, verdict, nodes, gpus)                                              \
    "{\"gpu\":\"" gpu "\",\"driver\":\"" driver "\",\"cuda\":\"" cuda "\"," verdict                \
    ",\"nodes\":" nodes ",\"gpus\":" gpus "}"
#define YES(reason) "\"verdict\":\"yes\",\"reason\":\"" reason "\""

/* The branch that ended first comes first. A toolkit that images bring is the one that is pinned,
 * and where nothing is pinned there is nothing to judge. */
static void test_lifecycle(void)
{
    LKS_CLEANUP(world_fini) struct world w = {0};
    world_init(&w);
    check_lifecycle(&w, NULL, "\"support\":[],\"matrix\":[]");
    run(&w, "g1 g2 s1", NEW);
    run(&w, "g3", OLDER);
    run(&w, "g4", NEWEST);
    run(&w, "s2",
        "amdgpu=30.30.3\nrocm=7.2.3\ndevices.gpus=8\ngpu.product@gpu *=AMD Instinct MI300X OAM\n");
    /* clang-format off */
    check_lifecycle(&w, NULL,
        "\"support\":["
        BRANCH("R570", "PB", "2026-01-27", "-292", "1", "8") ","
        BRANCH("R580", "LTSB", "2028-06-30", "593", "4", "32") ","
        "{\"branch\":\"amdgpu\",\"nodes\":1,\"gpus\":8}],\"matrix\":["
        CELL("AMD Instinct MI300X OAM", "30.30.3", "7.2.3", YES("NATIVE"), "1", "8") ","
        CELL("NVIDIA H200", "570.133.20", "12.8.0", YES("NATIVE"), "1", "8") ","
        CELL("NVIDIA H200", "580.126.20", "13.0.2", YES("NATIVE"), "1", "8") ","
        CELL("NVIDIA H200", "580.126.20", "13.0.2", "\"pinned\":true," YES("NATIVE"), "2", "16") ","
        CELL("NVIDIA H200", "580.126.20", "",
             "\"verdict\":\"unknown\",\"reason\":\"no toolkit is known\"", "1", "8") "]");
    /* clang-format on */
}

static void test_lifecycle_views(void)
{
    LKS_CLEANUP(world_fini) struct world w = {0};
    world_init(&w);
    run(&w, "g1 g2 g3", NEWEST);
    check_lifecycle(&w, sees_odd,
                    "\"support\":[" BRANCH("R580", "LTSB", "2028-06-30", "593", "2",
                                           "16") "],"
                                                 "\"matrix\":[" CELL("NVIDIA H200", "580.126.20",
                                                                     "13.0.2", YES("NATIVE"), "2",
                                                                     "16") "]");
    run(&w, "g1 g3", "driver=580.126.20\n"); /* no GPU was read */
    check_lifecycle(
        &w, sees_odd,
        "\"support\":[" BRANCH("R580", "LTSB", "2028-06-30", "593", "2", "0") "],\"matrix\":[]");
}

int main(void)
{
    struct lks_err err = {0};
    struct lks_facts_file file = {"advisories.yaml", "a.yaml", lks_str_from(flaws)};
    if (lks_facts_load(lks_embedded_data, &file, 1, &own, &err) != LKS_OK)
        lks_assert_failed(err.msg, __FILE__, __LINE__);
    int failed = lks_test_main((const struct lks_test[]){
        {"advisories: what reaches whom", test_flaws},
        {"advisories: what a caller may see", test_views},
        {"advisories: devices", test_devices},
        {"advisories: images", test_images},
        {"advisories: a list too long", test_many},
        {"copied in slices", test_slices},
        {"lifecycle: support and combinations", test_lifecycle},
        {"lifecycle: what a caller may see", test_lifecycle_views},
        {0},
    });
    lks_facts_fini(&own);
    return failed;
}
