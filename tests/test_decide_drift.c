#include "core/rows/node.h"
#include "core/state/lookup.h"
#include "core/state/node_status.h"
#include "tests/fleet.h"
#include "tests/test.h"
#include "tests/tuples.h"

#include <stdio.h>

enum { SHOWN_MAX = 256 << 10, MANIFEST_MAX = 65536 };

/* A fleet ------------------------------------------------------------------------------------ */

#define BOOT "0f3a7c52-5b1e-4d53-9a38-6c1d2e8f9b10" /* of the tuples in tests/tuples.h */

struct world {
    struct lks_asked asked;
    struct lks_buf shown;
    struct lks_str golden, silver; /* digests; silver has another kernel */
};

#define FLEET(care)                                                                                \
    "---\nlockstep: 1\nkind: Fleet\nname: f\n"                                                     \
    "pools: {train: {posture: pre-training, stack: golden" care "}}\n"                             \
    "domains: {rack1: {}}\n"                                                                       \
    "nodes: [{hosts: 'n[1-20]', pool: train, class: hgx-h200-8, domain: rack1}]\n"                 \
    "assets: [{hosts: shelf1, class: power-shelf, domain: rack1}]\n"

/* The golden stack again, with another name and kernel. */
static void add_silver(struct lks_buf *out)
{
    struct lks_str rest = lks_str_from(lks_test_node_stack), line;
    while (rest.len > 0) {
        (void)lks_str_cut(rest, '\n', &line, &rest);
        if (lks_str_is(line, "name: golden"))
            lks_buf_add(out, LKS_STR("name: silver\n"));
        else if (lks_str_starts(line, "  kernel: "))
            lks_buf_add(out, LKS_STR("  kernel: {version: '6.8.0-72-generic'}\n"));
        else
            lks_buf_addf(out, "%.*s\n", LKS_STR_ARG(line));
    }
}

static void write_fleet(struct lks_buf *out, const char *fleet)
{
    lks_buf_init(out, MANIFEST_MAX);
    lks_buf_addf(out, "%s---\n", lks_test_node_stack);
    add_silver(out);
    lks_buf_addf(out, "%s", fleet);
    LKS_ASSERT(out->failed == LKS_OK);
}

static void pin(struct world *w, struct lks_str digest, const char *enforce, const char *acts)
{
    const struct lks_record r = {.kind = LKS_RECORD_POOL,
                                 .pool = {.name = LKS_STR("train"),
                                          .posture = LKS_STR("pre-training"),
                                          .enforce = lks_str_from(enforce),
                                          .on_drift = lks_str_from(acts),
                                          .stack = LKS_STR("golden"),
                                          .stack_digest = digest}};
    lks_asked_apply(&w->asked, &r);
}

static void world_fini(struct world *w)
{
    lks_asked_fini(&w->asked);
    lks_buf_fini(&w->shown);
}

/* n[1-20] in a pool that pins golden, accepted. Their heartbeats are for other tests. */
static void make(struct world *w, const char *enforce, const char *acts)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf manifest = {0};
    *w = (struct world){0};
    lks_asked_init(&w->asked);
    lks_buf_init(&w->shown, SHOWN_MAX);
    write_fleet(&manifest, FLEET(""));
    CHECK_HAS(lks_asked_fleet(&w->asked, manifest.ptr, NULL), "fleet name=f");
    w->golden = lks_str_from(w->asked.manifest.stacks[0].digest);
    w->silver = lks_str_from(w->asked.manifest.stacks[1].digest);
    pin(w, w->golden, enforce, acts);
    for (unsigned n = 1; n <= 20; n++) {
        char name[8];
        snprintf(name, sizeof(name), "n%u", n);
        const struct lks_record records[] = {
            {.kind = LKS_RECORD_ENROLLED, .enrolled = {.node = lks_str_from(name)}},
            {.kind = LKS_RECORD_ACCEPTED, .accepted = {.hosts = lks_str_from(name)}},
            {.kind = LKS_RECORD_BOOTED,
             .booted = {.node = lks_str_from(name), .boot = LKS_STR(BOOT)}},
        };
        for (size_t i = 0; i < LKS_COUNT(records); i++)
            lks_asked_apply(&w->asked, &records[i]);
    }
}

/* Digests as '*'; verdicts and bases are left out. */
static void show(struct world *w, struct lks_str told)
{
    struct lks_str line;
    while (told.len > 0) {
        (void)lks_str_cut(told, '\n', &line, &told);
        if (lks_str_starts(line, "basis ") || lks_str_starts(line, "verdict "))
            continue;
        while (line.len > 0) {
            bool digest = lks_str_starts(line, "sha256:") && line.len >= 71;
            size_t skip = digest ? 71 : 1;
            lks_buf_addc(&w->shown, digest ? '*' : line.ptr[0]);
            line = (struct lks_str){line.ptr + skip, line.len - skip};
        }
        lks_buf_addc(&w->shown, '\n');
    }
}

static struct lks_str shown(const struct world *w)
{
    return w->shown.ptr == NULL ? LKS_STR("") : lks_buf_view(&w->shown);
}

static struct lks_str ask(struct world *w, const struct lks_event *event)
{
    lks_buf_truncate(&w->shown, 0);
    show(w, lks_asked(&w->asked, event));
    return shown(w);
}

/* All that is due now. */
static struct lks_str ticks(struct world *w)
{
    enum { TICKS_MAX = 1000 };
    size_t i = 0;
    lks_buf_truncate(&w->shown, 0);
    for (; i < TICKS_MAX && (i == 0 || lks_decide_next(&w->asked.state) <= w->asked.now.mono); i++)
        show(w, lks_fleet_tick(&w->asked));
    CHECK(i < TICKS_MAX);
    return shown(w);
}

static void report(struct world *w, const char *name, const char *changes)
{
    LKS_CLEANUP(lks_tuple_fini) struct lks_tuple t = {0};
    lks_test_tuple_with(lks_test_node, changes, &t);
    t.node = lks_str_from(name);
    const struct lks_event event = {.kind = LKS_EVENT_TUPLE,
                                    .node = lks_fleet_node(&w->asked, name),
                                    .tuple = {.tuple = &t, .report = LKS_STR("r")}};
    (void)ask(w, &event);
    CHECK_CODE(w->asked.decision.refused.code, LKS_OK);
}

static struct lks_str outband(struct world *w, const char *name, const char *lines, int64_t taken)
{
    LKS_CLEANUP(lks_tuple_fini) struct lks_tuple t = {0};
    lks_test_tuple(lines, &t);
    t.node = lks_str_from(name);
    t.taken = taken;
    const struct lks_event event = {.kind = LKS_EVENT_OUTBAND,
                                    .by = LKS_STR("sweep"),
                                    .name = t.node,
                                    .outband = {.tuple = &t, .report = LKS_STR("o")}};
    return ask(w, &event);
}

static int64_t seconds(const struct world *w)
{
    return (int64_t)(w->asked.now.wall / LKS_SECOND);
}

static const struct lks_node *node(const struct world *w, const char *name)
{
    return &w->asked.state.nodes[lks_fleet_node(&w->asked, name)];
}

static void deviate(struct world *w, const char *hosts, const char *subject, lks_ms expires)
{
    const struct lks_record r = {.kind = LKS_RECORD_DEVIATION,
                                 .deviation = {.id = w->asked.state.next_deviation,
                                               .hosts = lks_str_from(hosts),
                                               .subject = lks_str_from(subject),
                                               .owner = LKS_STR("kim"),
                                               .expires = expires}};
    lks_asked_apply(&w->asked, &r);
}

/* Causes ------------------------------------------------------------------------------------- */

#define DRIVER(v)                                                                                  \
    "driver=" v "\ndriver.loaded=" v "\ndriver.disk=" v "\ndriver.library=" v "\n"                 \
    "driver.package=" v "\n"

/* A reading of dpkg's log, and how it is told. */
#define AT(old, new) "2026-11-15 03:12:09 upgrade " old " -> " new
#define CHANGED(component, old, new)                                                               \
    component ".package.changed=" AT(old, new) "\t/var/log/dpkg.log\n"
#define TOLD(old, new) "dpkg: " AT(old, new)

/* A node that was right reads so now. */
static const struct {
    const char *name, *changes, *cause, *text;
} causes[] = {
    {"an older driver", DRIVER("570.86.15"), "reverted", "driver: 570.86.15, pinned 580.126.20"},
    {"older firmware on a GPU", "firmware/vbios@gpu 0000:18:00.0#692-2G520-0282-001=96.00.A5.00.19",
     "reverted", "firmware/vbios: 96.00.A5.00.19 on 1 of 8 GPUs, pinned 96.00.A5.00.1A"},
    {"a newer driver from its package", DRIVER("580.178.04"), "package manager",
     "driver: 580.178.04, pinned 580.126.20"},
    {"a newer driver, by its package manager's log",
     DRIVER("580.178.04") CHANGED("driver", "580.126.20-0ubuntu1", "580.178.04-0ubuntu1"),
     "package manager",
     "driver: 580.178.04, pinned 580.126.20 (" TOLD("580.126.20-0ubuntu1",
                                                    "580.178.04-0ubuntu1") ")"},
    {"a package's version that only the log tells",
     "containerd=2.0\n" CHANGED("containerd", "1.7.28-1", "2.0-1"), "package manager",
     "containerd: 2.0, pinned 1.7.28 (" TOLD("1.7.28-1", "2.0-1") ")"},
    {"the line that the log tells of goes first",
     "settings.power_limit_w@gpu *=650\ncontainerd=2.0\n" CHANGED("containerd", "1.7.28-1",
                                                                  "1:2.0-1"),
     "package manager",
     "containerd: 2.0, pinned 1.7.28 (" TOLD("1.7.28-1", "1:2.0-1") "), and 1 more"},
    {"a log that tells of another version",
     "containerd=2.0\n" CHANGED("containerd", "1.7.28-1", "2.1-1"), "unknown",
     "containerd: 2.0, pinned 1.7.28"},
    {"a removal", "containerd=2.0\ncontainerd.package.changed=2026-11-15 03:12:09 remove 2.0-1\n",
     "unknown", "containerd: 2.0, pinned 1.7.28"},
    {"a log of what is as it should be",
     "settings.power_limit_w@gpu *=650\n" CHANGED("containerd", "1.7.27-1", "1.7.28-1"),
     "setting changed", "settings.power_limit_w: 650, pinned 700"},
    {"a driver that was upgraded under the one that runs",
     "driver.disk=580.178.04\n" CHANGED("driver", "580.126.20-1", "580.178.04-1"),
     "package manager",
     "driver: loaded 580.126.20, disk 580.178.04, library 580.126.20, package 580.126.20, pinned "
     "580.126.20 (" TOLD("580.126.20-1", "580.178.04-1") ")"},
    {"a driver of which the log has what is pinned",
     "driver.disk=580.178.04\n" CHANGED("driver", "580.95.05-1", "580.126.20-1"), "half upgraded",
     "driver: loaded 580.126.20, disk 580.178.04, library 580.126.20, package 580.126.20, pinned "
     "580.126.20"},
    {"a newer one that is none of its package's", "containerd=2.0\n", "unknown",
     "containerd: 2.0, pinned 1.7.28"},
    {"another build", "driver.build.srcversion=AAAA", "different build",
     "driver.build.srcversion: AAAA, pinned 0B9F2F4D6A0E1D3C5B7A998"},
    {"a GPU less", "devices.gpus=7", "device missing", "devices.gpus: 7, pinned 8"},
    {"a driver that waits for a reboot", "driver.disk=580.178.04", "half upgraded",
     "driver: loaded 580.126.20, disk 580.178.04, library 580.126.20, package 580.126.20, pinned "
     "580.126.20"},
    {"a setting", "settings.power_limit_w@gpu *=650", "setting changed",
     "settings.power_limit_w: 650, pinned 700"},
    {"a setting of one device", "settings.ecc@gpu 0000:18:00.0=false", "setting changed",
     "settings.ecc: false on 1 of 8 GPUs, pinned true"},
    {"two things", "settings.power_limit_w@gpu *=650\ndevices.gpus=7", "device missing",
     "settings.power_limit_w: 650, pinned 700, and 1 more"},
};

static void test_causes(void)
{
    for (size_t i = 0; i < LKS_COUNT(causes); i++) {
        LKS_CLEANUP(world_fini) struct world w = {0};
        char told[1024];
        lks_test_case("%s", causes[i].name);
        make(&w, "observe", "alarm drain propose");
        report(&w, "n1", "");
        CHECK_STR(ticks(&w), "");
        report(&w, "n1", causes[i].changes);
        CHECK((lks_node_status_bars(&w.asked.state, 0, w.asked.now.wall) >> LKS_BAR_DRIFT & 1) ==
              1);
        CHECK(!node(&w, "n1")->drifting);
        snprintf(told, sizeof(told), "drift node=n1 on=1 stack=* cause=%s text=%s evidence=r\n",
                 causes[i].cause, causes[i].text);
        CHECK_STR(ticks(&w), told);
        CHECK(node(&w, "n1")->drifting);
        CHECK_STR(ticks(&w), "");
    }
}

/* Nodes with one verdict may have been changed at other times: each is told its own. */
static void test_own_log(void)
{
    LKS_CLEANUP(world_fini) struct world w = {0};
    make(&w, "observe", "");
    report(&w, "n1", DRIVER("580.178.04") CHANGED("driver", "580.126.20-1", "580.178.04-1"));
    report(&w, "n2", DRIVER("580.178.04") CHANGED("driver", "580.105.08-1", "580.178.04-1"));
    report(&w, "n3", DRIVER("580.178.04"));
    struct lks_str told = ticks(&w);
    CHECK_HAS(told, TOLD("580.126.20-1", "580.178.04-1") ") evidence");
    CHECK_HAS(told, TOLD("580.105.08-1", "580.178.04-1") ") evidence");
    CHECK_HAS(told, "text=driver: 580.178.04, pinned 580.126.20 evidence");
}

/* What a node says may be long, and is kept in short. */
static void test_long_log(void)
{
    LKS_CLEANUP(world_fini) struct world w = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf changes = LKS_BUF(4096);
    make(&w, "observe", "");
    lks_buf_addf(&changes, "containerd=2.0\ncontainerd.package.changed=2026");
    lks_buf_pad(&changes, '9', 1000);
    report(&w, "n1", changes.ptr);
    CHECK_INT(lks_state_text(&w.asked.state, node(&w, "n1")->changed).len, 256);
    CHECK_HAS(ticks(&w), "text=containerd: 2.0, pinned 1.7.28 evidence");
    report(&w, "n1", "");
    CHECK_INT(node(&w, "n1")->changed, 0);
}

/* A node that never was right did not go back. */
static void test_never_right(void)
{
    LKS_CLEANUP(world_fini) struct world w = {0};
    make(&w, "observe", "");
    report(&w, "n1", DRIVER("570.86.15"));
    CHECK_HAS(ticks(&w), "cause=package manager");
}

static void test_bands(void)
{
    LKS_CLEANUP(world_fini) struct world w = {0};
    make(&w, "observe", "");
    report(&w, "n1", "");
    (void)outband(&w, "n1", "firmware/bmc@bmc=25.02.12\n", seconds(&w));
    CHECK_STR(ticks(&w), "drift node=n1 on=1 stack=* cause=bands disagree "
                         "text=firmware/bmc: in-band and out-of-band disagree: 25.02.11 against "
                         "25.02.12, pinned 25.02.11 evidence=r\n");
}

static void test_replaced_part(void)
{
    LKS_CLEANUP(world_fini) struct world w = {0};
    static const char other[] =
        "nic.serial@nic 1=N2\nfirmware/nic@nic *#MT_0000000838=28.40.1000\n";
    make(&w, "observe", "");
    report(&w, "n1", "nic.serial@nic 1=N1\n");
    (void)ticks(&w);
    lks_fleet_wait(&w.asked, LKS_SECOND);
    report(&w, "n1", other);
    CHECK_HAS(ticks(&w), "cause=replaced part text=firmware/nic: 28.40.1000");
    lks_test_case("a part that was replaced long ago");
    report(&w, "n1", "nic.serial@nic 1=N2\n");
    CHECK_HAS(ticks(&w), "text=it conforms again");
    lks_fleet_wait(&w.asked, LKS_SECOND);
    report(&w, "n1", other);
    CHECK_HAS(ticks(&w), "cause=reverted");
}

/* The pin moves: nobody reports again, and those that did not move yet run what was pinned before.
 */
static void test_wave(void)
{
    LKS_CLEANUP(world_fini) struct world w = {0};
    make(&w, "warn", "alarm");
    report(&w, "n1", "");
    report(&w, "n2", "kernel=6.8.0-72-generic");
    report(&w, "n3", "kernel=6.8.0-70-generic");
    CHECK_HAS(ticks(&w), "drift node=n2 on=1");
    lks_ms since = node(&w, "n3")->drift_since;
    lks_fleet_wait(&w.asked, LKS_SECOND);
    pin(&w, w.silver, "warn", "alarm");
    CHECK_INT(lks_state_judged(&w.asked.state, 0), LKS_JUDGED_NOT);
    struct lks_str told = ticks(&w);
    CHECK_HAS(told, "drift node=n1 on=1 stack=* cause=partial wave text=kernel: 6.8.0-71-generic");
    CHECK_HAS(told, "drift node=n2 stack=* cause=unknown text=it conforms again evidence=r\n");
    lks_test_case("it differed, and still does: from the other stack, and that is told once");
    CHECK_HAS(told, "drift node=n3 on=1 stack=* cause=unknown text=kernel: 6.8.0-70-generic, "
                    "pinned 6.8.0-72-generic");
    CHECK_HAS(told, "alarm-released id=2 reason=it should run another stack by now\n");
    CHECK_INT(w.asked.state.alarms_open, 2);
    CHECK_INT(node(&w, "n3")->drift_since, since);
    CHECK_INT(ticks(&w).len, 0);
}

/* Many readings are judged in slices, and what cannot be judged does not keep us busy. */
static void test_verdicts(void)
{
    LKS_CLEANUP(world_fini) struct world w = {0};
    char changes[64], name[8];
    make(&w, "observe", "");
    for (unsigned n = 1; n <= 20; n++) {
        snprintf(changes, sizeof(changes), "settings.power_limit_w@gpu *=%u", 500 + n);
        snprintf(name, sizeof(name), "n%u", n);
        report(&w, name, changes);
    }
    (void)ticks(&w);
    pin(&w, w.silver, "observe", "");
    CHECK_INT(w.asked.state.standing->lacking, 20);
    (void)ticks(&w);
    CHECK_INT(w.asked.state.standing->lacking, 0);
    lks_test_case("a stack that nobody knows");
    pin(&w, LKS_STR("unknown"), "observe", "");
    CHECK_HAS(ticks(&w), "drift node=n1 stack=unknown cause=setting changed text=it is not held");
    CHECK_INT(w.asked.state.standing->lacking, 20);
    CHECK(lks_decide_next(&w.asked.state) > w.asked.now.mono);
    CHECK(lks_decide_next(&w.asked.state) <= w.asked.now.mono + w.asked.state.limits.heartbeat);
}

/* Ending ------------------------------------------------------------------------------------- */

static void test_ends(void)
{
    LKS_CLEANUP(world_fini) struct world w = {0};
    make(&w, "observe", "");
    lks_test_case("it conforms again");
    report(&w, "n1", "kernel=1");
    (void)ticks(&w);
    report(&w, "n1", "");
    CHECK_STR(ticks(&w), "drift node=n1 stack=* cause=unknown text=it conforms again evidence=r\n");
    lks_test_case("a deviation");
    report(&w, "n1", "kernel=1");
    (void)ticks(&w);
    deviate(&w, "n1", "kernel", w.asked.now.wall + LKS_SECOND);
    CHECK_STR(ticks(&w),
              "drift node=n1 stack=* cause=reverted text=deviation 1 covers it evidence=r\n");
    lks_test_case("the deviation ends");
    lks_fleet_wait(&w.asked, LKS_SECOND);
    CHECK_STR(ticks(&w), "alarm id=1 alarm=deviation subject=deviation 1, ended text=kernel of kim "
                         "ended, and 1 node still needs it\n"
                         "deviation-ended id=1 reason=it expired\n"
                         "drift node=n1 on=1 stack=* cause=deviation ended text=deviation 1 ended; "
                         "kernel: 1, pinned 6.8.0-71-generic evidence=r\n");
    lks_test_case("it was not measured");
    report(&w, "n1", "kernel?no access");
    CHECK_HAS(ticks(&w),
              "drift node=n1 stack=* cause=deviation ended text=what differed could not");
}

/* Acts --------------------------------------------------------------------------------------- */

#define ON    "drift node=n1 on=1 stack=* cause=unknown text=" TEXT " evidence=r\n"
#define TEXT  "kernel: 1, pinned 6.8.0-71-generic"
#define ALARM "alarm id=1 alarm=drift subject=n1 text=" TEXT "\n"
#define DRAIN "drained node=n1 owner=lockstep:drift reason=" TEXT "\n"
#define PROPOSE(id, who)                                                                           \
    "alarm id=" id " alarm=proposal subject=train text=" who " should be brought back to golden: "

static const struct {
    const char *enforce, *acts, *told;
} policies[] = {
    {"observe", "alarm drain propose", ON},
    {"warn", "alarm drain propose", ON ALARM},
    {"warn", "drain", ON},
    {"on", "", ON},
    {"on", "alarm", ON ALARM},
    {"on", "drain", ON DRAIN},
    {"on", "propose", ON PROPOSE("1", "1 node") "n1\n"},
    {"on", "alarm drain propose", ON ALARM DRAIN PROPOSE("2", "1 node") "n1\n"},
};

static void test_acts(void)
{
    for (size_t i = 0; i < LKS_COUNT(policies); i++) {
        LKS_CLEANUP(world_fini) struct world w = {0};
        lks_test_case("%s: %s", policies[i].enforce, policies[i].acts);
        make(&w, policies[i].enforce, policies[i].acts);
        report(&w, "n1", "kernel=1");
        CHECK_STR(ticks(&w), policies[i].told);
        CHECK_STR(ticks(&w), "");
    }
}

/* What was done about it is taken back. */
static void test_acts_end(void)
{
    LKS_CLEANUP(world_fini) struct world w = {0};
    make(&w, "on", "alarm drain propose");
    report(&w, "n1", "kernel=1");
    (void)ticks(&w);
    lks_test_case("another node");
    report(&w, "n2", "kernel=1");
    CHECK_HAS(ticks(&w), "alarm-released id=2 reason=other nodes drift by now\n" PROPOSE(
                             "4", "2 nodes") "n[1-2]\n");
    lks_test_case("what is not known is no way back");
    report(&w, "n1", "kernel?no access");
    struct lks_str told = ticks(&w);
    CHECK_HAS(told, "alarm-released id=1 reason=what differed could not be measured\n");
    CHECK(lks_str_find(told, LKS_STR("undrained")) < 0);
    report(&w, "n1", "");
    CHECK_HAS(shown(&w), "undrained node=n1 owner=lockstep:drift reason=it conforms again\n");
    lks_test_case("the last one");
    report(&w, "n2", "");
    told = ticks(&w);
    CHECK_HAS(told, "undrained node=n2 owner=lockstep:drift reason=it conforms again\n");
    CHECK_HAS(told, "reason=no node of the pool drifts any more\n");
    CHECK_INT(w.asked.state.alarms_open, 0);
}

/* Only the owner of a drain releases it. */
static void test_drains_of_others(void)
{
    LKS_CLEANUP(world_fini) struct world w = {0};
    make(&w, "on", "drain");
    const struct lks_record drained = {
        .kind = LKS_RECORD_DRAINED,
        .drained = {.node = LKS_STR("n1"), .owner = LKS_STR("kim"), .reason = LKS_STR("fan")}};
    lks_asked_apply(&w.asked, &drained);
    report(&w, "n1", "kernel=1");
    CHECK_STR(ticks(&w), ON);
    report(&w, "n1", "");
    CHECK(lks_str_find(ticks(&w), LKS_STR("undrained")) < 0);
    CHECK_STR(lks_state_text(&w.asked.state, node(&w, "n1")->drained_by), "kim");
}

/* One bad package on many nodes is no fault of the nodes: the eleventh makes acts wait. */
static void test_mass(void)
{
    LKS_CLEANUP(world_fini) struct world w = {0};
    char name[8];
    make(&w, "on", "drain");
    for (unsigned n = 1; n <= 12; n++) {
        snprintf(name, sizeof(name), "n%u", n);
        report(&w, name, "kernel=1");
    }
    struct lks_str told = ticks(&w);
    CHECK_HAS(told, "mass pool=train what=drift count=11 of=20 alarm=1\n");
    CHECK_HAS(told, "drained node=n10 ");
    CHECK(lks_str_find(told, LKS_STR("drained node=n11 ")) < 0);
    CHECK_HAS(told, "drift node=n12 on=1"); /* it is still recorded */
    CHECK(lks_state_acts_wait(&w.asked.state, node(&w, "n1")->pool));
    lks_test_case("a person releases it");
    const struct lks_event release = {.kind = LKS_EVENT_ALARM_RELEASE,
                                      .by = LKS_STR("kim"),
                                      .reason = LKS_STR("a bad package"),
                                      .alarm = 1};
    told = ask(&w, &release);
    CHECK_HAS(told, "drained node=n11 ");
    CHECK_HAS(told, "drained node=n12 ");
    CHECK(lks_str_find(told, LKS_STR("drained node=n10 ")) < 0);
}

/* Whoever begins to enforce means the nodes that drift already too; where these are many, it is as
 * if they had all turned now. */
static void test_acts_begin(void)
{
    static const struct {
        unsigned drifting;
        const char *has, *lacks;
    } rows[] = {
        {2, "drained node=n2 ", "mass "},
        {12, "mass pool=train what=drained count=11 of=20 alarm=1\n", "drained node="},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(world_fini) struct world w = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf manifest = {0};
        lks_test_case("%u nodes", rows[i].drifting);
        make(&w, "observe", "");
        for (unsigned n = 1; n <= rows[i].drifting; n++) {
            char name[8];
            snprintf(name, sizeof(name), "n%u", n);
            report(&w, name, "kernel=1");
            (void)ticks(&w);
            lks_fleet_wait(&w.asked, 10 * 60 * LKS_SECOND); /* no mass event so far */
        }
        write_fleet(&manifest, FLEET(", enforce: 'on', on_drift: [drain]"));
        const struct lks_event meant = {.by = LKS_STR("kim"), .fleet.said = {20, 160}};
        struct lks_str told = lks_asked_fleet(&w.asked, manifest.ptr, &meant);
        CHECK_HAS(told, rows[i].has);
        CHECK(lks_str_find(told, lks_str_from(rows[i].lacks)) < 0);
        lks_test_case("%u nodes, again", rows[i].drifting);
        CHECK_STR(lks_asked_fleet(&w.asked, manifest.ptr, NULL), "");
    }
}

/* Out of band -------------------------------------------------------------------------------- */

static void test_outband(void)
{
    LKS_CLEANUP(world_fini) struct world w = {0};
    make(&w, "observe", "");
    report(&w, "n1", "!firmware/bmc");
    CHECK_INT(lks_state_judged(&w.asked.state, 0), LKS_JUDGED_UNMEASURED);
    int64_t now = seconds(&w);
    lks_test_case("it completes what the node itself cannot read");
    CHECK_STR(outband(&w, "n1", "firmware/bmc@bmc=25.02.11\n", now),
              "out-of-band node=n1 basis=* whole=* report=o taken=1000000 by=sweep\n");
    CHECK_INT(lks_state_judged(&w.asked.state, 0), LKS_JUDGED_CONFORMS);
    lks_test_case("the same again is younger");
    CHECK_HAS(outband(&w, "n1", "firmware/bmc@bmc=25.02.11\n", now), "out-of-band node=n1");
    lks_test_case("the node reports again");
    report(&w, "n1", "!firmware/bmc\nsettings.other.x=1");
    CHECK_INT(lks_state_judged(&w.asked.state, 0), LKS_JUDGED_CONFORMS);
    lks_test_case("past its age");
    lks_fleet_wait(&w.asked, w.asked.state.limits.outband_age - 1);
    CHECK(lks_str_find(ticks(&w), LKS_STR("out-of-band")) < 0);
    lks_fleet_wait(&w.asked, 1);
    CHECK(lks_decide_next(&w.asked.state) <= w.asked.now.mono);
    CHECK_HAS(ticks(&w), "out-of-band node=n1 basis=* whole=* report=o taken=1000000 "
                         "reason=past its age\n");
    CHECK_INT(lks_state_judged(&w.asked.state, 0), LKS_JUDGED_UNMEASURED);
    CHECK(lks_decide_next(&w.asked.state) > w.asked.now.mono);
    lks_test_case("read again");
    (void)outband(&w, "n1", "firmware/bmc@bmc=25.02.11\n", seconds(&w));
    CHECK_INT(lks_state_judged(&w.asked.state, 0), LKS_JUDGED_CONFORMS);
    lks_test_case("over");
    struct lks_event over = {.kind = LKS_EVENT_OUTBAND,
                             .by = LKS_STR("kim"),
                             .reason = LKS_STR("BMC reset"),
                             .name = LKS_STR("n1")};
    CHECK_STR(ask(&w, &over), "out-of-band node=n1 whole=* by=kim reason=BMC reset\n");
    CHECK_INT(lks_state_judged(&w.asked.state, 0), LKS_JUDGED_UNMEASURED);
    CHECK_STR(ask(&w, &over), "");
}

/* Other serial numbers end what was read of the parts before. */
static void test_outband_serial(void)
{
    LKS_CLEANUP(world_fini) struct world w = {0};
    make(&w, "observe", "");
    report(&w, "n1", "platform.serial=B1");
    (void)outband(&w, "n1", "firmware/bmc@bmc=25.02.11\n", seconds(&w));
    CHECK(node(&w, "n1")->outband != 0);
    report(&w, "n1", "platform.serial=B2");
    CHECK(node(&w, "n1")->outband == 0);
    CHECK_HAS(shown(&w), "out-of-band node=n1 whole=* reason=other serial numbers than before\n");
}

/* An asset is judged by what its domain's nodes should run. */
static void test_asset(void)
{
    LKS_CLEANUP(world_fini) struct world w = {0};
    make(&w, "on", "alarm drain");
    (void)outband(&w, "shelf1", "firmware/power-shelf@shelf 1=1.1\n", seconds(&w));
    struct lks_str told = ticks(&w);
    CHECK_HAS(told, "drift node=shelf1 on=1");
    CHECK(lks_str_find(told, LKS_STR("drained")) < 0);
}

static void test_outband_refused(void)
{
    LKS_CLEANUP(world_fini) struct world w = {0};
    make(&w, "observe", "");
    int64_t now = seconds(&w);
    CHECK_HAS(outband(&w, "n99", "firmware/bmc=1", now), "not-found: no node 'n99' in the fleet");
    CHECK_HAS(outband(&w, "n1", "firmware/bmc=1", now + 3600),
              "invalid: they were taken in the fu");
    (void)outband(&w, "n1", "firmware/bmc=1", now);
    CHECK_HAS(outband(&w, "n1", "firmware/bmc=1", now - 1),
              "refused: n1 was read out of band after");
    LKS_CLEANUP(lks_tuple_fini) struct lks_tuple t = {0};
    lks_test_tuple("firmware/bmc=1", &t);
    struct lks_event event = {
        .kind = LKS_EVENT_OUTBAND, .name = LKS_STR("n2"), .outband = {.tuple = &t}};
    CHECK_HAS(ask(&w, &event), "invalid: these are readings of n1");
    event.outband.tuple = NULL;
    CHECK_HAS(ask(&w, &event), "invalid: give a reason");
}

/* Conditions --------------------------------------------------------------------------------- */

enum when { NEVER, PAST, NOW, LATER };

static const struct {
    const char *name, *hosts;
    enum lks_condition condition;
    bool on;
    enum when until;
    const char *stack, *text, *told;
} conditions[] = {
    {"unhealthy", "n[1-2]", LKS_CONDITION_UNHEALTHY, true, NEVER, "", "Xid 79",
     "condition node=n1 condition=unhealthy on=1 by=kim text=Xid 79\n"
     "condition node=n2 condition=unhealthy on=1 by=kim text=Xid 79\n"},
    {"unhealthy without a reason", "n1", LKS_CONDITION_UNHEALTHY, true, NEVER, "", "",
     "invalid: text: there is none"},
    {"healthy, and nobody said otherwise", "n1", LKS_CONDITION_UNHEALTHY, false, NEVER, "", "", ""},
    {"changing", "n1", LKS_CONDITION_CHANGING, true, NEVER, "", "BIOS by hand",
     "condition node=n1 condition=changing on=1 by=kim text=BIOS by hand\n"},
    {"no change, and there was none", "n1", LKS_CONDITION_CHANGING, false, NEVER, "", "", ""},
    {"changing to a stack", "n1", LKS_CONDITION_CHANGING, true, NEVER, "silver", "wave 1",
     "condition node=n1 condition=changing on=1 stack=* by=kim text=wave 1\n"},
    {"changing to what is not known", "n1", LKS_CONDITION_CHANGING, true, NEVER, "sha256:x",
     "wave 1", "not-found: no stack 'sha256:x' is known; publish it first"},
    {"changing without a reason", "n1", LKS_CONDITION_CHANGING, true, NEVER, "", "",
     "invalid: text: there is none"},
    {"attested until now", "n1", LKS_CONDITION_ATTESTED, true, NOW, "", "",
     "invalid: until: an attestation ends in the future"},
    {"not attested", "n1", LKS_CONDITION_ATTESTED, false, LATER, "", "", ""},
    {"checked now", "n1", LKS_CONDITION_CHECKED, true, NEVER, "", "",
     "condition node=n1 condition=checked on=1 until=1000000 by=kim\n"},
    {"checked before", "n1", LKS_CONDITION_CHECKED, true, PAST, "", "dcgm -r 3",
     "condition node=n1 condition=checked on=1 until=940000 by=kim text=dcgm -r 3\n"},
    {"checked in the future", "n1", LKS_CONDITION_CHECKED, true, LATER, "", "",
     "invalid: until: a check that passed did so in the past"},
    {"of nobody", "n99", LKS_CONDITION_UNHEALTHY, true, NEVER, "", "x", "not-found: no node 'n99'"},
    {"of none", "", LKS_CONDITION_UNHEALTHY, true, NEVER, "", "x",
     "invalid: nodes: the list names"},
    {"of too many", "n[1-11]", LKS_CONDITION_UNHEALTHY, true, NEVER, "", "x",
     "refused: these are 11 nodes, and one call may touch 10"},
    {"a text of two lines", "n1", LKS_CONDITION_UNHEALTHY, true, NEVER, "", "a\nb",
     "invalid: text: one line of printable text"},
};

static struct lks_str say(struct world *w, size_t i)
{
    const lks_ms times[] = {[NEVER] = 0,
                            [PAST] = w->asked.now.wall - 60 * LKS_SECOND,
                            [NOW] = w->asked.now.wall,
                            [LATER] = w->asked.now.wall + 60 * LKS_SECOND};
    bool silver = strcmp(conditions[i].stack, "silver") == 0;
    const struct lks_event event = {
        .kind = LKS_EVENT_CONDITION,
        .by = LKS_STR("kim"),
        .name = lks_str_from(conditions[i].hosts),
        .condition = {.condition = conditions[i].condition,
                      .on = conditions[i].on,
                      .until = times[conditions[i].until],
                      .stack = silver ? w->silver : lks_str_from(conditions[i].stack),
                      .text = lks_str_from(conditions[i].text)}};
    return ask(w, &event);
}

static void test_conditions(void)
{
    for (size_t i = 0; i < LKS_COUNT(conditions); i++) {
        LKS_CLEANUP(world_fini) struct world w = {0};
        bool refused = strchr(conditions[i].told, '\n') == NULL && conditions[i].told[0] != '\0';
        lks_test_case("%s", conditions[i].name);
        make(&w, "observe", "");
        struct lks_str told = say(&w, i);
        if (refused)
            CHECK_HAS(told, conditions[i].told);
        else
            CHECK_STR(told, conditions[i].told);
        lks_test_case("%s, the same again", conditions[i].name);
        if (!refused)
            CHECK_STR(say(&w, i), "");
    }
}

/* While it changes, what it is going to is its intent. */
static void test_target(void)
{
    LKS_CLEANUP(world_fini) struct world w = {0};
    make(&w, "observe", "");
    report(&w, "n1", "kernel=6.8.0-72-generic");
    CHECK_HAS(ticks(&w), "drift node=n1 on=1");
    struct lks_event event = {.kind = LKS_EVENT_CONDITION,
                              .name = LKS_STR("n1"),
                              .condition = {.condition = LKS_CONDITION_CHANGING,
                                            .on = true,
                                            .stack = w.silver,
                                            .text = LKS_STR("wave 1")}};
    (void)ask(&w, &event);
    CHECK_HAS(ticks(&w), "drift node=n1 stack=* cause=unknown text=it conforms again");
    event.condition.on = false;
    (void)ask(&w, &event);
    CHECK_HAS(ticks(&w), "drift node=n1 on=1");
}

static void leave(struct world *w, const char *name, bool removed)
{
    struct lks_record r = {.kind = removed ? LKS_RECORD_REMOVED : LKS_RECORD_REPLACED};
    if (removed)
        r.removed.hosts = lks_str_from(name);
    else
        r.replaced.node = lks_str_from(name);
    lks_asked_apply(&w->asked, &r);
}

/* A node that leaves the fleet, or is another machine, does not drift, and nothing is left to do.
 */
static void test_gone(void)
{
    for (int removed = 0; removed <= 1; removed++) {
        LKS_CLEANUP(world_fini) struct world w = {0};
        lks_test_case("%s", removed ? "removed" : "replaced");
        make(&w, "on", "alarm drain propose");
        report(&w, "n1", "kernel=1");
        (void)ticks(&w);
        leave(&w, "n1", removed != 0);
        (void)ticks(&w);
        CHECK(lks_decide_next(&w.asked.state) > w.asked.now.mono);
        CHECK_INT(w.asked.state.standing->news, 0);
        lks_test_case("%s before it was recorded", removed ? "removed" : "replaced");
        report(&w, "n2", "kernel=1");
        leave(&w, "n2", removed != 0);
        (void)ticks(&w);
        CHECK_INT(w.asked.state.standing->news, 0);
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"decide drift: causes", test_causes},
        {"decide drift: logs of their own", test_own_log},
        {"decide drift: a long log", test_long_log},
        {"decide drift: never right", test_never_right},
        {"decide drift: bands that disagree", test_bands},
        {"decide drift: a replaced part", test_replaced_part},
        {"decide drift: a partial wave", test_wave},
        {"decide drift: verdicts without reports", test_verdicts},
        {"decide drift: how it ends", test_ends},
        {"decide drift: a pool begins to act", test_acts_begin},
        {"decide drift: acts by policy", test_acts},
        {"decide drift: acts that end", test_acts_end},
        {"decide drift: drains of others", test_drains_of_others},
        {"decide drift: MASS", test_mass},
        {"decide drift: out of band", test_outband},
        {"decide drift: out of band, other serials", test_outband_serial},
        {"decide drift: an asset", test_asset},
        {"decide drift: out of band, refused", test_outband_refused},
        {"decide drift: conditions", test_conditions},
        {"decide drift: a change's target", test_target},
        {"decide drift: nodes that are gone", test_gone},
        {NULL, NULL},
    });
}
