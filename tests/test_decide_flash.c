/* Updates by management endpoints: which may begin, how far they are, and how they end.
 *
 * Long because all rows stand on one fleet and one set of bundles. */
#include "core/rows/flash.h"
#include "core/rows/node.h"
#include "core/state/lookup.h"
#include "core/state/node_status.h"
#include "model/manifest/bundle.h"
#include "model/tuple/tuple.h"
#include "tests/asked.h"
#include "tests/facts.h"
#include "tests/fleet.h"
#include "tests/test.h"

#include <stdio.h>

enum { NOW = 1000000, HOUR = 3600000 };

#define T LKS_STR_C
#define BMC                                                                                        \
    "bmc: {url: 'https://bmc-{host}.example', credentials: 'file:/etc/bmc', trust: fingerprint}"
#define DIGEST(d) "sha256:000000000000000000000000000000000000000000000000000000000000000" d
#define IMAGE     DIGEST("1")
#define OTHER     DIGEST("2")
#define ABSENT    DIGEST("3")
#define BUNDLE    DIGEST("a")
#define PAIR      DIGEST("b")
#define REVOKED   DIGEST("c")
#define RULES     DIGEST("d")
#define SEVERAL   DIGEST("e")

static const char fleet[] =
    "lockstep: 1\nkind: Fleet\nname: f\n"
    "pools: {train: {posture: dev}}\n"
    "domains: {rack1: {}}\n"
    "nodes:\n"
    "- {hosts: 'g[1-3]', pool: train, class: hgx-h100-8, " BMC "}\n"
    "- {hosts: plain1, pool: train, class: hgx-h100-8}\n"
    "assets:\n"
    "- {hosts: 'shelf[1-2]', class: power-shelf, side: a, domain: rack1, " BMC "}\n"
    "- {hosts: 'shelf3', class: power-shelf, side: b, domain: rack1, " BMC "}\n"
    "- {hosts: 'far1', class: power-shelf, side: b, " BMC "}\n";

/* What the bundles say of their files. */
/* clang-format off */
#define SAID(name, digest, component, version)                                                     \
    "{\"name\":\"" name "\",\"digest\":\"" digest "\",\"size\":7," \
    "\"component\":\"" component "\",\"version\":\"" version "\""
#define MANIFEST(artifacts)                                                                        \
    "{\"lockstep\":1,\"kind\":\"Bundle\",\"name\":\"fw\",\"version\":\"1\"," \
    "\"artifacts\":[" artifacts "]}"

static struct {
    const char *digest, *text;
    struct lks_bundle said;
} manifests[] = {
    {.digest = BUNDLE, .text = MANIFEST(SAID("a", IMAGE, "bmc", "2.0") "},"
        SAID("a", IMAGE, "psu", "2.0") "},"
        SAID("a", IMAGE, "HGX_FW_GPU_1", "2.0") "}")},
    {.digest = PAIR, .text = MANIFEST(SAID("a", IMAGE, "bmc", "2.0") "},"
        SAID("b", ABSENT, "bmc", "2.0") "}")},
    {.digest = RULES, .text = MANIFEST(
        SAID("a", IMAGE, "bmc", "3.0") ",\"one_way\":true},"
        SAID("b", OTHER, "bios", "3.0") ",\"from\":[\">=1.4 <2\",\"0.9\"]},"
        SAID("c", OTHER, "nic", "3.0") ",\"kind\":\"package\"},"
        SAID("d", IMAGE, "cpld", "3.0") ",\"hardware_classes\":[\"hgx-h100-8\"]},"
        SAID("e", OTHER, "cpld", "3.0") ",\"hardware_classes\":[\"power-shelf\"]},"
        SAID("f", OTHER, "cpld", "4.0") ",\"hardware_revisions\":[\"A02\"]}")},
    {.digest = SEVERAL, .text = MANIFEST(
        SAID("a", IMAGE, "cpld", "3.0") ",\"hardware_classes\":[\"hgx-h100-8\"]},"
        SAID("b", OTHER, "cpld", "4.0") "},"
        SAID("c", OTHER, "bios", "4.0") ",\"hardware_classes\":[\"hgx-h100-8\"]}")},
};
/* clang-format on */

static const struct lks_bundle *said_of(struct lks_str digest)
{
    for (size_t i = 0; i < LKS_COUNT(manifests); i++) {
        struct lks_bundle *said = &manifests[i].said;
        struct lks_err err = {0};
        if (!lks_str_is(digest, manifests[i].digest))
            continue;
        if (said->count == 0)
            CHECK_CODE(lks_bundle_parse(lks_str_from(manifests[i].text), "test", lks_test_facts(),
                                        said, &err),
                       LKS_OK);
        return said;
    }
    return NULL;
}

static void change(struct lks_asked *a, const char *node)
{
    lks_asked_apply(a, &(struct lks_record){.kind = LKS_RECORD_CONDITION,
                                            .condition = {.node = lks_str_from(node),
                                                          .condition = LKS_CONDITION_CHANGING,
                                                          .on = true}});
}

/* g1 and g2 change, g3 does not; a bundle of one image, one of two, one that says what may go
 * where, and one that was revoked. */
static void set_up(struct lks_asked *a)
{
    lks_asked_init(a);
    CHECK_HAS(lks_asked_fleet(a, fleet, NULL), "fleet name=f");
    static const char *const changing[] = {"g1",     "g2",     "plain1", "shelf1",
                                           "shelf2", "shelf3", "far1"};
    for (size_t i = 0; i < LKS_COUNT(changing); i++)
        change(a, changing[i]);
    const struct lks_record records[] = {
        {.kind = LKS_RECORD_ARTIFACT,
         .artifact = {.digest = T(IMAGE), .name = T("bmc.fwpkg"), .size = 7}},
        {.kind = LKS_RECORD_ARTIFACT, .artifact = {.digest = T(OTHER), .size = 8}},
        {.kind = LKS_RECORD_BUNDLE, .bundle = {.digest = T(BUNDLE), .artifacts = T(IMAGE)}},
        {.kind = LKS_RECORD_BUNDLE,
         .bundle = {.digest = T(PAIR), .artifacts = T(IMAGE " " ABSENT)}},
        {.kind = LKS_RECORD_BUNDLE,
         .bundle = {.digest = T(RULES), .artifacts = T(IMAGE " " OTHER)}},
        {.kind = LKS_RECORD_BUNDLE,
         .bundle = {.digest = T(SEVERAL), .artifacts = T(IMAGE " " OTHER)}},
        {.kind = LKS_RECORD_BUNDLE,
         .bundle = {.digest = T(REVOKED), .name = T("old"), .artifacts = T(OTHER)}},
        {.kind = LKS_RECORD_BUNDLE_REVOKED,
         .bundle_revoked = {.digest = T(REVOKED), .reason = T("it bricks")}},
    };
    for (size_t i = 0; i < LKS_COUNT(records); i++)
        lks_asked_apply(a, &records[i]);
}

static struct lks_event flash(const char *node, struct lks_rec_flash what)
{
    if (what.deadline == 0)
        what.deadline = NOW + HOUR;
    return (struct lks_event){.kind = LKS_EVENT_FLASH,
                              .by = LKS_STR("kim"),
                              .reason = LKS_STR("why"),
                              .name = lks_str_from(node),
                              .said = said_of(what.bundle),
                              .flash = what};
}

#define UPDATE_OF(name) .component = T(name), .version = T("2.0"), .bundle = T(BUNDLE)
#define BEGUN           "flash id=1 node=g1 act="
#define IMAGED          " bundle=" BUNDLE " image=" IMAGE " size=7 image_name=bmc.fwpkg"
#define BY              " deadline=4600000 by=kim reason=why\n"

static const struct {
    const char *name;
    const char *node;
    struct lks_rec_flash what;
    const char *told;
} begun[] = {
    {"the only image of a bundle",
     "g1",
     {UPDATE_OF("bmc")},
     BEGUN "update component=bmc version=2.0" IMAGED BY},
    {"an image by its digest",
     "g1",
     {.component = T("bmc"),
      .version = T("2.0"),
      .bundle = T(PAIR),
      .image = T(IMAGE),
      .image_name = T("x.bin"),
      .apply_time = T("OnReset"),
      .force = true},
     BEGUN "update component=bmc version=2.0 bundle=" PAIR " image=" IMAGE
           " size=7 image_name=x.bin apply_time=OnReset force=1" BY},
    {"staged",
     "g1",
     {UPDATE_OF("bmc"), .act = LKS_BMC_STAGE},
     BEGUN "stage component=bmc version=2.0" IMAGED BY},
    {"activated: no image, but a bundle that is still good",
     "g1",
     {UPDATE_OF("bmc"), .act = LKS_BMC_ACTIVATE},
     BEGUN "activate component=bmc version=2.0 bundle=" BUNDLE BY},
    {"activated without one",
     "g1",
     {.component = T("bmc"), .version = T("2"), .act = LKS_BMC_ACTIVATE},
     "invalid: bundle: say from which one, by its digest"},
    {"aborted",
     "g1",
     {.component = T("bmc"), .act = LKS_BMC_ABORT},
     BEGUN "abort component=bmc" BY},
    {"back to the other bank",
     "g1",
     {.component = T("bmc"), .act = LKS_BMC_SWITCH},
     BEGUN "switch component=bmc" BY},
    {"an entry by its id",
     "g1",
     {UPDATE_OF("HGX_FW_GPU_1")},
     BEGUN "update component=HGX_FW_GPU_1 version=2.0" IMAGED BY},
    {"no such node",
     "g9",
     {UPDATE_OF("bmc")},
     "not-found: no node 'g9' in the fleet; did you mean 'g1'?"},
    {"a node without an endpoint",
     "plain1",
     {UPDATE_OF("bmc")},
     "refused: plain1 has no management endpoint"},
    {"outside a change",
     "g3",
     {UPDATE_OF("bmc")},
     "refused: g3 is outside a change; nothing is updated there before it is in one"},
    {"no component",
     "g1",
     {.version = T("2"), .bundle = T(BUNDLE)},
     "invalid: component: there is none, and it is needed"},
    {"no version: that of the bundle",
     "g1",
     {.component = T("bmc"), .bundle = T(BUNDLE)},
     BEGUN "update component=bmc version=2.0" IMAGED BY},
    {"no version, and none for the component",
     "g1",
     {.component = T("bios"), .bundle = T(BUNDLE)},
     "refused: bundle: fw has no firmware for bios"},
    {"no version, and several for the component",
     "g1",
     {.component = T("cpld"), .bundle = T(SEVERAL)},
     "invalid: version: the bundle has cpld 3.0 and 4.0; say which one with --to (version in the "
     "API)"},
    {"no version, one of several for this hardware",
     "shelf1",
     {.component = T("cpld"), .bundle = T(SEVERAL)},
     "flash id=1 node=shelf1 act=update component=cpld version=4.0 bundle=" SEVERAL " image=" OTHER
     " size=8" BY},
    {"no version, all for other hardware",
     "shelf1",
     {.component = T("bios"), .bundle = T(SEVERAL)},
     "refused: bundle: what fw has for bios is for other hardware than shelf1, which by the "
     "fleet's file is of class power-shelf, revision unknown"},
    {"no version, and a bundle without a good verdict",
     "g1",
     {.component = T("bmc"), .bundle = T(ABSENT)},
     "refused: bundle: no good verdict on " ABSENT "; put it there with 'lockstep bundle push'"},
    {"no version and no bundle",
     "g1",
     {.component = T("bmc")},
     "invalid: version: there is none, and it is needed"},
    {"a version that drives a terminal",
     "g1",
     {.component = T("bmc"), .version = T("\x1b[2J"), .bundle = T(BUNDLE)},
     "invalid: version: one line of printable text"},
    {"no act",
     "g1",
     {UPDATE_OF("bmc"), .act = LKS_BMC_ACT_COUNT},
     "invalid: act: there is no such act"},
    {"a deadline that passed",
     "g1",
     {UPDATE_OF("bmc"), .deadline = NOW},
     "invalid: deadline: that time has passed"},
    {"a day",
     "g1",
     {UPDATE_OF("bmc"), .deadline = NOW + 24 * (lks_ms)HOUR},
     BEGUN "update component=bmc version=2.0" IMAGED " deadline=87400000 by=kim reason=why\n"},
    {"more than a day",
     "g1",
     {UPDATE_OF("bmc"), .deadline = NOW + 24 * (lks_ms)HOUR + 1},
     "invalid: deadline: at most 24 hours from now"},
    {"a bundle nobody found good",
     "g1",
     {.component = T("bmc"), .version = T("2"), .bundle = T(ABSENT)},
     "refused: bundle: no good verdict on " ABSENT "; put it there with 'lockstep bundle push'"},
    {"a bundle that was revoked",
     "g1",
     {.component = T("bmc"), .version = T("2"), .bundle = T(REVOKED)},
     "refused: bundle: old was revoked: it bricks"},
    {"an image of another bundle",
     "g1",
     {UPDATE_OF("bmc"), .image = T(OTHER)},
     "refused: image: " OTHER " is not in bundle " BUNDLE},
    {"which of two",
     "g1",
     {.component = T("bmc"), .version = T("2.0"), .bundle = T(PAIR)},
     "invalid: image: the bundle has 2 for bmc 2.0; say which one, by its digest"},
    {"an image that is not in the depot",
     "g1",
     {.component = T("bmc"), .version = T("2"), .bundle = T(PAIR), .image = T(ABSENT)},
     "refused: image: " ABSENT " is not in the depot; put it there with 'lockstep bundle push'"},
    {"no way back",
     "g1",
     {UPDATE_OF("psu")},
     "refused: psu is irreversible (spare); acknowledge that with --one-way (one_way in the API)"},
    {"no way back, acknowledged",
     "g1",
     {UPDATE_OF("psu"), .one_way = true},
     BEGUN "update component=psu version=2.0" IMAGED " one_way=1" BY},
    {"no way back, aborted",
     "g1",
     {.component = T("psu"), .act = LKS_BMC_ABORT},
     BEGUN "abort component=psu" BY},
};

/* What the bundle says of its files is kept to. g1 runs bios 1.5 on an hgx-h100-8. */
#define RULED(name, of) .component = T(name), .version = T(of), .bundle = T(RULES)

static const struct {
    const char *name;
    const char *node;
    const char *bios; /* that was read to run there; NULL: nothing was */
    struct lks_rec_flash what;
    const char *told;
} ruled[] = {
    {"for another component",
     "g1",
     "1.5",
     {.component = T("bios"), .version = T("2.0"), .bundle = T(BUNDLE)},
     "refused: bundle: fw has no firmware for bios 2.0"},
    {"for another component, by its image",
     "g1",
     "1.5",
     {.component = T("bios"), .version = T("2.0"), .bundle = T(BUNDLE), .image = T(IMAGE)},
     "refused: bundle: fw has no firmware for bios 2.0 in that image"},
    {"of another version",
     "g1",
     "1.5",
     {.component = T("bmc"), .version = T("2.1"), .bundle = T(BUNDLE)},
     "refused: bundle: fw has no firmware for bmc 2.1"},
    {"no firmware", "g1", "1.5", {RULED("nic", "3.0")}, "refused: bundle: fw has no firmware"},
    {"one way", "g1", "1.5", {RULED("bmc", "3.0")}, "refused: the bundle declares as irreversible"},
    {"one way, acknowledged", "g1", "1.5", {RULED("bmc", "3.0"), .one_way = true}, "flash id=1"},
    {"one way, to be activated",
     "g1",
     "1.5",
     {RULED("bmc", "3.0"), .act = LKS_BMC_ACTIVATE},
     "refused: the bundle declares as irreversible: bmc 3.0; acknowledge"},
    {"may follow", "g1", "1.5", {RULED("bios", "3.0")}, "flash id=1"},
    {"it is that one already", "g1", "3.0", {RULED("bios", "3.0")}, "flash id=1"},
    {"may follow by name", "g1", "0.9", {RULED("bios", "3.0")}, "flash id=1"},
    {"may not follow",
     "g1",
     "1.3",
     {RULED("bios", "3.0")},
     "refused: the bundle does not say that"},
    {"may not follow, forced", "g1", "1.3", {RULED("bios", "3.0"), .force = true}, "flash id=1"},
    {"nobody knows what it would follow",
     "g1",
     NULL,
     {RULED("bios", "3.0")},
     "refused: the bundle does not say that bios 3.0 may follow what g1 runs, or that was not "
     "read yet; force does it all the same"},
    {"of two the one for this hardware", "g1", "1.5", {RULED("cpld", "3.0")}, "image=" IMAGE},
    {"and for other hardware", "shelf1", "1.5", {RULED("cpld", "3.0")}, "image=" OTHER},
    {"the one for other hardware",
     "g1",
     "1.5",
     {RULED("cpld", "3.0"), .image = T(OTHER), .force = true},
     "refused: bundle: what fw has for cpld 3.0 is for other hardware than g1, which by the "
     "fleet's file is of class hgx-h100-8, revision unknown"},
    {"of another revision",
     "g1",
     "1.5",
     {RULED("cpld", "4.0")},
     "refused: bundle: what fw has for cpld 4.0 is for other hardware than g1, which"},
};

static void read_bios(struct lks_asked *a, const char *node, const char *version)
{
    char line[64];
    snprintf(line, sizeof(line), "firmware/bios\t\t\t=\t%s\n", version);
    lks_asked_apply(
        a, &(struct lks_record){.kind = LKS_RECORD_BASIS,
                                .basis = {.digest = T("o"), .readings = lks_str_from(line)}});
    lks_asked_apply(a, &(struct lks_record){.kind = LKS_RECORD_OUTBAND,
                                            .outband = {.node = lks_str_from(node),
                                                        .basis = T("o"),
                                                        .whole = T("o"),
                                                        .taken = NOW}});
}

static void test_ruled(void)
{
    for (size_t i = 0; i < LKS_COUNT(ruled); i++) {
        lks_test_case("%s", ruled[i].name);
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        set_up(&a);
        if (ruled[i].bios != NULL)
            read_bios(&a, ruled[i].node, ruled[i].bios);
        struct lks_event e = flash(ruled[i].node, ruled[i].what);
        CHECK_HAS(lks_asked(&a, &e), ruled[i].told);
        e.said = NULL;
        CHECK_HAS(lks_asked(&a, &e), "refused: ");
    }
}

/* A reading that is too old says nothing. */
static void test_ruled_late(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    set_up(&a);
    read_bios(&a, "g1", "1.5");
    struct lks_rec_flash what = {RULED("bios", "3.0")};
    a.now.wall = NOW + a.state.limits.outband_age;
    what.deadline = a.now.wall + HOUR;
    struct lks_event e = flash("g1", what);
    CHECK_HAS(lks_asked_dry(&a, &e), "refused: the bundle does not say that bios 3.0 may follow");
    a.now.wall--;
    CHECK_HAS(lks_asked_dry(&a, &e), "flash id=1");
}

static void test_begun(void)
{
    for (size_t i = 0; i < LKS_COUNT(begun); i++) {
        lks_test_case("%s", begun[i].name);
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        set_up(&a);
        struct lks_event e = flash(begun[i].node, begun[i].what);
        CHECK_STR(lks_asked(&a, &e), begun[i].told);
        e.reason = LKS_STR("");
        CHECK_STR(lks_asked(&a, &e), "invalid: give a reason; it is kept in the journal");
    }
}

static const struct lks_rec_flash update = {UPDATE_OF("bmc")};

static struct lks_event ended(uint64_t id, enum lks_bmc_outcome outcome, struct lks_str text)
{
    return (struct lks_event){
        .kind = LKS_EVENT_FLASH_ENDED,
        .flash_ended = {
            .id = id, .outcome = outcome, .found = LKS_STR("2.0"), .text = text, .uploads = 1}};
}

/* One at a time on each node; both sides of a pair are never down together. */
static void test_together(void)
{
    static const struct {
        const char *name, *first;
        enum lks_bmc_outcome ends; /* of the first; open: it has not ended */
        bool resolved;             /* by a person, behind that */
        const char *then, *told;
    } rows[] = {
        {"another node", "g1", LKS_BMC_OPEN, false, "g2", "flash id=2 node=g2"},
        {"the same node", "g1", LKS_BMC_OPEN, false, "g1",
         "refused: g1: update 1 of bmc is in progress"},
        {"the same side", "shelf1", LKS_BMC_OPEN, false, "shelf2", "flash id=2 node=shelf2"},
        {"the other side", "shelf1", LKS_BMC_OPEN, false, "shelf3",
         "refused: shelf1 is the redundant peer, and its update 1 is not finished"},
        {"the other side, begun first", "shelf3", LKS_BMC_OPEN, false, "shelf2",
         "refused: shelf3 is the redundant peer"},
        {"a side of another pair", "shelf1", LKS_BMC_OPEN, false, "far1", "flash id=2 node=far1"},
        {"the other side, done", "shelf1", LKS_BMC_DONE, false, "shelf3", "flash id=2 node=shelf3"},
        {"failed", "shelf1", LKS_BMC_FAILED, false, "shelf3", "flash id=2 node=shelf3"},
        {"unknown", "shelf1", LKS_BMC_UNKNOWN, false, "shelf3",
         "refused: shelf1 is the redundant peer, and its update 1 is not finished"},
        {"resolved", "shelf1", LKS_BMC_UNKNOWN, true, "shelf3", "flash id=2 node=shelf3"},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%s", rows[i].name);
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        set_up(&a);
        struct lks_event first = flash(rows[i].first, update), then = flash(rows[i].then, update);
        struct lks_event ends = ended(1, rows[i].ends, LKS_STR("x"));
        const struct lks_record resolved = {.kind = LKS_RECORD_FLASH_RESOLVED,
                                            .flash_resolved = {.id = 1, .node = first.name}};
        CHECK_HAS(lks_asked(&a, &first), "flash id=1");
        if (rows[i].ends != LKS_BMC_OPEN)
            CHECK_HAS(lks_asked(&a, &ends), "flash-ended id=1");
        if (rows[i].resolved)
            lks_asked_apply(&a, &resolved);
        CHECK_HAS(lks_asked(&a, &then), rows[i].told);
    }
}

/* A node whose endpoint is at work is neither taken away nor said to be another one. */
static void test_stays(void)
{
    static const enum lks_event_kind kinds[] = {LKS_EVENT_REMOVE, LKS_EVENT_REPLACE};
    for (size_t i = 0; i < LKS_COUNT(kinds); i++) {
        lks_test_case("event %d", (int)kinds[i]);
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        set_up(&a);
        struct lks_event first = flash("g1", update);
        CHECK_HAS(lks_asked(&a, &first), "flash id=1");
        struct lks_event then = {.kind = kinds[i],
                                 .by = LKS_STR("kim"),
                                 .reason = LKS_STR("why"),
                                 .name = LKS_STR("g[1-2]")};
        CHECK_HAS(lks_asked(&a, &then), "refused: g1: update 1 of bmc is in progress");
    }
}

/* No yes that was given before can still bring a job there, where the pool enforces. */
static void test_quiet(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    set_up(&a);
    struct lks_record pool = {
        .kind = LKS_RECORD_POOL,
        .pool = {.name = LKS_STR("train"), .posture = LKS_STR("dev"), .enforce = LKS_STR("on")}};
    lks_asked_apply(&a, &pool);
    struct lks_event e = flash("g1", update);
    CHECK_HAS(lks_asked(&a, &e), "refused: a job may have been admitted to g1");
    a.now.wall += 70000;
    CHECK_HAS(lks_asked(&a, &e), "flash id=1 node=g1");
}

/* What was read of the endpoint is over when an update begins. */
static void test_outband(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    set_up(&a);
    lks_asked_apply(&a, &(struct lks_record){.kind = LKS_RECORD_BASIS,
                                             .basis = {.digest = T("o"), .readings = T("r")}});
    lks_asked_apply(
        &a, &(struct lks_record){
                .kind = LKS_RECORD_OUTBAND,
                .outband = {.node = T("g1"), .basis = T("o"), .whole = T("o"), .taken = NOW}});
    struct lks_event e = flash("g1", update);
    CHECK_HAS(lks_asked(&a, &e),
              "out-of-band node=g1 by=kim reason=an update of its firmware starts\nflash id=1");
    CHECK_INT(a.state.nodes[lks_fleet_node(&a, "g1")].outband, 0);
    struct lks_tuple tuple = {.node = LKS_STR("g1")};
    e = (struct lks_event){
        .kind = LKS_EVENT_OUTBAND, .name = LKS_STR("g1"), .outband = {.tuple = &tuple}};
    CHECK_STR(lks_asked(&a, &e), "refused: g1: update 1 of bmc is in progress");
    /* What was read before it ended may come later. */
    a.now.wall += 60000;
    lks_asked_apply(
        &a,
        &(struct lks_record){
            .kind = LKS_RECORD_FLASH_ENDED,
            .flash_ended = {.id = 1, .node = T("g1"), .outcome = LKS_BMC_DONE, .found = T("2.0")}});
    tuple.taken = (int64_t)(a.state.flashes[0].ended / LKS_SECOND) - 2;
    CHECK_STR(lks_asked(&a, &e), "refused: g1 was updated after these were taken");
    tuple.taken += 2;
    CHECK_HAS(lks_asked(&a, &e), "out-of-band node=g1 ");
}

static struct lks_event saved(uint64_t id, struct lks_str text, struct lks_str phase,
                              uint64_t percent)
{
    return (struct lks_event){
        .kind = LKS_EVENT_FLASH_SAVED,
        .flash_saved = {.id = id, .saved = text, .phase = phase, .percent = percent}};
}

/* What the node read of itself is over when an update ended that may have changed something. */
static void test_inband(void)
{
    static const struct {
        const char *name;
        enum lks_bmc_act act;
        enum lks_bmc_outcome outcome;
        bool over;
    } rows[] = {
        {"done", LKS_BMC_UPDATE, LKS_BMC_DONE, true},
        {"failed", LKS_BMC_SWITCH, LKS_BMC_FAILED, true},
        {"unknown", LKS_BMC_ACTIVATE, LKS_BMC_UNKNOWN, true},
        {"the same already", LKS_BMC_UPDATE, LKS_BMC_SAME, false},
        {"refused", LKS_BMC_UPDATE, LKS_BMC_REFUSED, false},
        {"staged", LKS_BMC_STAGE, LKS_BMC_STAGED, false},
        {"staged, with an unknown outcome", LKS_BMC_STAGE, LKS_BMC_UNKNOWN, false},
        {"given up", LKS_BMC_ABORT, LKS_BMC_DONE, false},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        lks_test_case("%s", rows[i].name);
        set_up(&a);
        lks_asked_live(&a, "g1");
        lks_asked_apply(&a,
                        &(struct lks_record){
                            .kind = LKS_RECORD_TUPLE,
                            .tuple = {.node = T("g1"), .digest = T("sha256:t"), .boot = T("b1")}});
        lks_asked_apply(
            &a, &(struct lks_record){.kind = LKS_RECORD_FLASH,
                                     .flash = {.id = 1, .node = T("g1"), .act = rows[i].act}});
        struct lks_event e = ended(1, rows[i].outcome, LKS_STR("x"));
        struct lks_str told = lks_asked(&a, &e);
        CHECK((lks_str_find(told, LKS_STR("\ntuple node=g1 digest=sha256:t ")) >= 0) ==
              rows[i].over);
        CHECK(lks_node_status_unread(&a.state, lks_fleet_node(&a, "g1")) == rows[i].over);
    }
}

static char large[LKS_FLASH_SAVED_MAX + 1];

static void test_saved(void)
{
    static const struct {
        const char *name;
        uint64_t id;
        struct lks_str saved, phase;
        uint64_t percent;
        const char *told;
    } rows[] = {
        {"how far it is", 1, T("{}"), T("uploading"), 7,
         "flash-saved id=1 saved={} phase=uploading percent=7\n"},
        {"of none", 2, T("{}"), T("uploading"), 7, "not-found: there was never an update 2"},
        {"of number 0", 0, T("{}"), T("uploading"), 7, "not-found: there was never an update 0"},
        {"more than all of it", 1, T("{}"), T("x"), 101,
         "invalid: no phase that an update can be in"},
        {"a phase of two lines", 1, T("{}"), T("a\nb"), 7,
         "invalid: no phase that an update can be in"},
        {"too much",
         1,
         {large, sizeof(large)},
         T("x"),
         7,
         "limit: what is saved of an update has at most 32768 bytes"},
    };
    memset(large, 'x', sizeof(large));
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%s", rows[i].name);
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        set_up(&a);
        struct lks_event e = flash("g1", update);
        (void)lks_asked(&a, &e);
        e = saved(rows[i].id, rows[i].saved, rows[i].phase, rows[i].percent);
        CHECK_STR(lks_asked(&a, &e), rows[i].told);
        e = ended(1, LKS_BMC_DONE, LKS_STR("ok"));
        (void)lks_asked(&a, &e);
        e = saved(1, LKS_STR("{}"), LKS_STR("x"), 1);
        CHECK_STR(lks_asked(&a, &e), "refused: update 1 has ended");
    }
}

#define ENDED  "flash-ended id=1 node=g1 outcome="
#define ALARM  "alarm id=1 alarm=flash subject=g1 text=update 1 of bmc has an unknown outcome: "
#define WAITED "refused: g1: update 1 of bmc has an unknown outcome; inspect it, then: "

/* How it ends, and whether its node can be given another. */
static const struct {
    const char *name;
    enum lks_bmc_outcome outcome;
    struct lks_str text;
    const char *told, *then;
} ends[] = {
    {"done", LKS_BMC_DONE, T("ok"), ENDED "done found=2.0 text=ok uploads=1\n", "flash id=2"},
    {"staged", LKS_BMC_STAGED, T(""), ENDED "staged found=2.0 uploads=1\n", "flash id=2"},
    {"the same already", LKS_BMC_SAME, T(""), ENDED "same found=2.0 uploads=1\n", "flash id=2"},
    {"refused", LKS_BMC_REFUSED, T("x"), ENDED "refused found=2.0 text=x uploads=1\n",
     "flash id=2"},
    {"failed", LKS_BMC_FAILED, T("x"), ENDED "failed found=2.0 text=x uploads=1\n", "flash id=2"},
    {"unknown", LKS_BMC_UNKNOWN, T("x"), ENDED "unknown found=2.0 text=x uploads=1\n" ALARM "x\n",
     WAITED},
    {"not ended", LKS_BMC_OPEN, T("x"), "invalid: no outcome that an update can have",
     "refused: g1: update 1 of bmc is in progress"},
    {"what devices say is no line", LKS_BMC_FAILED, T("a\n\x1b[2Jb\xff\xc3\xa4"),
     ENDED "failed found=2.0 text=a??[2Jb?\xc3\xa4 uploads=1\n", "flash id=2"},
};

static void test_ends(void)
{
    for (size_t i = 0; i < LKS_COUNT(ends); i++) {
        lks_test_case("%s", ends[i].name);
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        set_up(&a);
        struct lks_event begin = flash("g1", update);
        (void)lks_asked(&a, &begin);
        struct lks_event e = ended(1, ends[i].outcome, ends[i].text);
        CHECK_STR(lks_asked(&a, &e), ends[i].told);
        if (a.decision.refused.code == LKS_OK)
            CHECK_STR(lks_asked(&a, &e), ""); /* said again it is no news */
        CHECK_HAS(lks_asked(&a, &begin), ends[i].then);
    }
}

static struct lks_event condition(bool on)
{
    return (struct lks_event){
        .kind = LKS_EVENT_CONDITION,
        .by = LKS_STR("kim"),
        .name = LKS_STR("g1"),
        .condition = {.condition = LKS_CONDITION_CHANGING, .on = on, .text = LKS_STR("x")}};
}

/* A change cannot end while an update is open, nor before a person looked at an unknown one; and
 * the node is no place for a job meanwhile. */
static void test_unknown(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    set_up(&a);
    struct lks_event begin = flash("g1", update), e = condition(false);
    struct lks_event resolve = {.kind = LKS_EVENT_FLASH_RESOLVE,
                                .by = LKS_STR("kim"),
                                .reason = LKS_STR("it runs 2.0"),
                                .name = LKS_STR("g1")};
    uint32_t g1 = lks_fleet_node(&a, "g1");
    CHECK_STR(lks_asked(&a, &resolve), "refused: no update of g1 waits for a person");
    (void)lks_asked(&a, &begin);
    CHECK_STR(lks_asked(&a, &resolve), "refused: g1: update 1 of bmc is in progress");
    CHECK_STR(lks_asked(&a, &e), "refused: g1: update 1 of bmc is in progress");
    e = ended(1, LKS_BMC_UNKNOWN, LKS_STR("x"));
    (void)lks_asked(&a, &e);
    e = condition(false);
    CHECK_HAS(lks_asked(&a, &e), WAITED "lockstep node resolve g1");
    a.state.nodes[g1].changing = 0; /* whatever else becomes of the change */
    lks_node_status_update(&a.state, g1);
    CHECK(lks_bitset_test(&a.state.standing->bars[LKS_BAR_CHANGING], g1));
    resolve.reason = LKS_STR("");
    CHECK_STR(lks_asked(&a, &resolve), "invalid: give a reason; it is kept in the journal");
    resolve.reason = LKS_STR("it runs 2.0");
    CHECK_STR(lks_asked(&a, &resolve), "flash-resolved id=1 node=g1 by=kim reason=it runs 2.0\n"
                                       "alarm-released id=1 by=kim reason=it runs 2.0\n");
    CHECK(!lks_bitset_test(&a.state.standing->bars[LKS_BAR_CHANGING], g1));
    CHECK_STR(lks_asked(&a, &resolve), "refused: no update of g1 waits for a person");
}

/* An update that nobody ends is given up some time after its deadline. */
static void test_deadline(void)
{
    static const struct {
        const char *name;
        bool saved;
        const char *told;
    } rows[] = {
        {"nothing was sent", false,
         "flash-ended id=1 node=g1 outcome=failed text=its deadline passed before anything was "
         "sent\n"},
        {"something may have been", true,
         "flash-ended id=1 node=g1 outcome=unknown text=its deadline passed without a "
         "result\n" ALARM "its deadline passed without a result\n"},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%s", rows[i].name);
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        set_up(&a);
        struct lks_event e = flash("g1", update);
        (void)lks_asked(&a, &e);
        e = saved(1, LKS_STR("{}"), LKS_STR("uploading"), 5);
        if (rows[i].saved)
            (void)lks_asked(&a, &e);
        lks_ms due = lks_state_flash_due(&a.state.flashes[0]);
        CHECK(due > NOW + HOUR);
        CHECK(lks_decide_next(&a.state) <= due);
        lks_fleet_wait(&a, due - NOW - 1);
        CHECK_STR(lks_fleet_tick(&a), "");
        lks_fleet_wait(&a, 1);
        CHECK_STR(lks_fleet_tick(&a), rows[i].told);
        CHECK_STR(lks_fleet_tick(&a), "");
        CHECK_INT(a.state.flashes_open, 0);
    }
}

static void test_endpoint(void)
{
    static const struct {
        const char *name, *node;
        struct lks_str fingerprint;
        const char *told;
    } rows[] = {
        {"recorded", "g1", T(DIGEST("7")),
         "endpoint node=g1 fingerprint=" DIGEST("7") " by=kim reason=why\n"},
        {"of an asset", "shelf1", T(DIGEST("7")),
         "endpoint node=shelf1 fingerprint=" DIGEST("7") " by=kim reason=why\n"},
        {"nothing to forget", "g1", T(""), ""},
        {"no fingerprint", "g1", T("sha256:7"),
         "invalid: fingerprint: 'sha256:7' is none; one is sha256: and 64 of 0-9 a-f"},
        {"a node without an endpoint", "plain1", T(DIGEST("7")),
         "refused: plain1 has no management endpoint: give it a bmc in the fleet's file"},
        {"nobody", "g9", T(DIGEST("7")),
         "not-found: no node 'g9' in the fleet; did you mean 'g1'?"},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%s", rows[i].name);
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        set_up(&a);
        struct lks_event e = {.kind = LKS_EVENT_ENDPOINT,
                              .by = LKS_STR("kim"),
                              .reason = LKS_STR("why"),
                              .name = lks_str_from(rows[i].node),
                              .fingerprint = rows[i].fingerprint};
        CHECK_STR(lks_asked(&a, &e), rows[i].told);
        if (a.decision.refused.code != LKS_OK)
            continue;
        CHECK_STR(lks_asked(&a, &e), ""); /* again it is no news */
        e.fingerprint = LKS_STR("");
        CHECK_INT(lks_asked(&a, &e).len > 0, rows[i].fingerprint.len > 0);
    }
}

#define REVOKED_TEXT                                                                               \
    "its bundle was revoked: it bricks (it was uploading; bmc 2.0 may be staged there, or run)"

/* Nothing more is begun with bits that were revoked; what needs none of them goes on. */
static void test_revoked(void)
{
    static const struct {
        const char *name;
        enum lks_bmc_act act;
        bool saved;
        const char *told;
    } rows[] = {
        {"nothing was sent", LKS_BMC_UPDATE, false,
         "flash-ended id=1 node=g1 outcome=refused text=its bundle was revoked: it bricks\n"},
        {"something may have been", LKS_BMC_STAGE, true,
         "flash-ended id=1 node=g1 outcome=unknown text=" REVOKED_TEXT "\n" ALARM REVOKED_TEXT
         "\n"},
        {"an activation", LKS_BMC_ACTIVATE, true,
         "flash-ended id=1 node=g1 outcome=unknown text=" REVOKED_TEXT "\n" ALARM REVOKED_TEXT
         "\n"},
        {"what is staged is given up", LKS_BMC_ABORT, true, ""},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%s", rows[i].name);
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        set_up(&a);
        struct lks_rec_flash what = update;
        what.act = rows[i].act;
        struct lks_event e = flash("g1", what),
                         save = saved(1, LKS_STR("{}"), LKS_STR("uploading"), 5);
        CHECK_HAS(lks_asked(&a, &e), "flash id=1");
        if (rows[i].saved)
            CHECK_HAS(lks_asked(&a, &save), "flash-saved id=1");
        lks_asked_apply(&a, &(struct lks_record){
                                .kind = LKS_RECORD_BUNDLE_REVOKED,
                                .bundle_revoked = {.digest = T(BUNDLE), .reason = T("it bricks")}});
        CHECK_HAS(lks_asked(&a, &save), rows[i].told[0] == '\0'
                                            ? "flash-saved id=1"
                                            : "refused: the bundle of update 1 was revoked");
        CHECK(rows[i].told[0] == '\0' || lks_decide_next(&a.state) <= a.state.seen.mono);
        CHECK_STR(lks_fleet_tick(&a), rows[i].told);
        CHECK_STR(lks_fleet_tick(&a), "");
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"flash: begun", test_begun},
        {"flash: what its bundle says", test_ruled},
        {"flash: what was read long ago", test_ruled_late},
        {"flash: together", test_together},
        {"flash: its node stays", test_stays},
        {"flash: no yes is open", test_quiet},
        {"flash: what was read is over", test_outband},
        {"flash: readings of the node", test_inband},
        {"flash: saved", test_saved},
        {"flash: ends", test_ends},
        {"flash: unknown", test_unknown},
        {"flash: deadline", test_deadline},
        {"flash: its bundle is revoked", test_revoked},
        {"endpoint: fingerprints", test_endpoint},
        {0},
    });
}
