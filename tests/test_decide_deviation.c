#include "core/rows/deviation.h"
#include "core/state/node_status.h"
#include "tests/fleet.h"
#include "tests/test.h"
#include "tests/tuples.h"

#include <stdio.h>

enum { MANIFEST_MAX = 65536 };

#define MINUTE (UINT64_C(60) * LKS_SECOND)
#define DAY    (UINT64_C(24) * 60 * MINUTE)

/* A fleet ------------------------------------------------------------------------------------ */

#define FLEET                                                                                      \
    "---\nlockstep: 1\nkind: Fleet\nname: f\n"                                                     \
    "pools: {train: {posture: pre-training, stack: golden}, dev: {posture: dev, stack: golden}}\n" \
    "nodes: [{hosts: 'n[1-4]', pool: train, class: hgx-h200-8},\n"                                 \
    "        {hosts: 'd[1-12]', pool: dev, class: hgx-h200-8}]\n"

static void pool(struct lks_asked *a, const char *name, const char *posture, const char *enforce)
{
    const struct lks_record r = {
        .kind = LKS_RECORD_POOL,
        .pool = {.name = lks_str_from(name),
                 .posture = lks_str_from(posture),
                 .enforce = lks_str_from(enforce),
                 .stack = LKS_STR("golden"),
                 .stack_digest = lks_str_from(a->manifest.stacks->digest)}};
    lks_asked_apply(a, &r);
}

static void make(struct lks_asked *a, const char *enforce)
{
    char manifest[MANIFEST_MAX];
    lks_asked_init(a);
    int len = snprintf(manifest, sizeof(manifest), "%s%s", lks_test_node_stack, FLEET);
    LKS_ASSERT(len > 0 && (size_t)len < sizeof(manifest));
    CHECK_HAS(lks_asked_fleet(a, manifest, NULL), "fleet name=f");
    pool(a, "train", "pre-training", enforce);
    pool(a, "dev", "dev", enforce);
}

static void report(struct lks_asked *a, const char *name, const char *changes)
{
    LKS_CLEANUP(lks_tuple_fini) struct lks_tuple t = {0};
    lks_test_tuple_with(lks_test_node, changes, &t);
    t.node = lks_str_from(name);
    const struct lks_event event = {.kind = LKS_EVENT_TUPLE,
                                    .node = lks_fleet_node(a, name),
                                    .tuple = {.tuple = &t, .report = LKS_STR("r")}};
    (void)lks_asked(a, &event);
}

/* Adding ------------------------------------------------------------------------------------- */

static const struct {
    const char *name, *enforce;
    const char *hosts, *subject, *value, *owner, *reason, *approver;
    lks_ms life;
    const char *told;
} rows[] = {
    {"all of it", "on", "n[1-2]", "driver", "570.1", "kim", "hot-fix", "lee", DAY,
     "deviation id=1 hosts=n[1-2] subject=driver value=570.1 owner=kim reason=hot-fix "
     "approver=lee expires=87400000 by=jo waits=1\n"},
    {"each node once", "warn", "n2,n1,n2", "*", "", "kim", "lab", "", DAY,
     "deviation id=1 hosts=n[1-2] subject=* owner=kim reason=lab expires=87400000 by=jo\n"},
    {"firmware of a part", "warn", "n1", "firmware/nvme[MZ-1]", "", "kim", "x", "", DAY,
     "deviation id=1 hosts=n1 subject=firmware/nvme[MZ-1] "},
    {"a build", "warn", "n1", "driver.build.srcversion", "", "kim", "x", "", DAY, "deviation id=1"},
    {"a setting", "warn", "n1", "settings.ecc", "", "kim", "x", "", DAY, "deviation id=1"},
    {"ninety days", "warn", "n1", "driver", "", "kim", "x", "", 90 * DAY, "deviation id=1"},
    {"a dev pool that enforces", "on", "d1", "driver", "", "kim", "x", "", DAY,
     "deviation id=1 hosts=d1 subject=driver owner=kim reason=x expires=87400000 by=jo\n"},
    {"no reason", "warn", "n1", "driver", "", "kim", "", "", DAY, "invalid: give a reason"},
    {"no owner", "warn", "n1", "driver", "", "", "x", "", DAY, "invalid: owner: there is none"},
    {"no subject", "warn", "n1", "", "", "kim", "x", "", DAY,
     "invalid: --what (subject in the API): there is none"},
    {"an unknown subject", "warn", "n1", "drivr", "", "kim", "x", "", DAY,
     "invalid: --what (subject in the API): 'drivr' is no component and no setting; * stands for "
     "all of them"},
    {"a setting without its start", "warn", "n1", "power_limit_w", "", "kim", "x", "", DAY,
     "invalid: --what (subject in the API): 'power_limit_w' is no component and no setting; * "
     "stands for all of them; did you mean 'settings.power_limit_w'?"},
    {"a count of devices, with a slip", "warn", "n1", "nvlink_up", "", "kim", "x", "", DAY,
     "invalid: --what (subject in the API): 'nvlink_up' is no component and no setting; * stands "
     "for all of them; did you mean 'devices.nvlinks_up'?"},
    {"settings of nothing", "warn", "n1", "settings.", "", "kim", "x", "", DAY,
     "invalid: --what (subject in the API): 'settings.' is no component"},
    {"a value of two lines", "warn", "n1", "driver", "1\n2", "kim", "x", "", DAY,
     "invalid: value: one line"},
    {"no nodes", "warn", "", "driver", "", "kim", "x", "", DAY,
     "invalid: nodes: the list names no"},
    {"no host list", "warn", "n[1-", "driver", "", "kim", "x", "", DAY, "invalid: nodes: "},
    {"an unknown node", "warn", "n[4-5]", "driver", "", "kim", "x", "", DAY,
     "not-found: no node 'n5' in the fleet"},
    {"as many as one call may touch", "warn", "d[1-10]", "driver", "", "kim", "x", "", DAY,
     "deviation id=1 hosts=d[1-10]"},
    {"more than that", "warn", "d[1-11]", "driver", "", "kim", "x", "", DAY,
     "refused: these are 11 nodes, and one call may touch 10 (limits.call_nodes)"},
    {"over already", "warn", "n1", "driver", "", "kim", "x", "", 0,
     "invalid: --until (expires in the API): that time has passed"},
    {"for too long", "warn", "n1", "driver", "", "kim", "x", "", 90 * DAY + 1,
     "invalid: --until (expires in the API): at most 90 days from now"},
    {"production that enforces, among others", "on", "d1,n1", "driver", "", "kim", "x", "", DAY,
     "deviation id=1 hosts=d1,n1 subject=driver owner=kim reason=x expires=87400000 by=jo "
     "waits=1\n"},
    {"approved by oneself", "on", "n1", "driver", "", "kim", "x", "jo", DAY,
     "refused: approver: a person cannot approve their own deviation"},
    {"approved by its owner", "on", "n1", "driver", "", "kim", "x", "kim", DAY,
     "refused: approver: 'kim' is the owner, and another person has to approve"},
    {"in other letters", "warn", "n1", "driver", "", "kim", "x", " Kim ", DAY,
     "refused: approver: ' Kim ' is the owner"},
    {"approved by oneself under another name", "on", "n1", "driver", "", "kim", "x", "user:jo", DAY,
     "refused: approver: a person cannot approve their own deviation"},
    {"approved by oneself where nobody asks", "warn", "n1", "driver", "", "kim", "x", "jo", DAY,
     "refused: approver: a person cannot approve their own deviation"},
};

static struct lks_str add(struct lks_asked *a, size_t i)
{
    const struct lks_event event = {.kind = LKS_EVENT_DEVIATE,
                                    .by = LKS_STR("jo"),
                                    .reason = lks_str_from(rows[i].reason),
                                    .name = lks_str_from(rows[i].hosts),
                                    .deviate = {.subject = lks_str_from(rows[i].subject),
                                                .value = lks_str_from(rows[i].value),
                                                .owner = lks_str_from(rows[i].owner),
                                                .approver = lks_str_from(rows[i].approver),
                                                .expires = a->now.wall + rows[i].life}};
    return lks_asked(a, &event);
}

static void test_add(void)
{
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        lks_test_case("%s", rows[i].name);
        make(&a, rows[i].enforce);
        CHECK_HAS(add(&a, i), rows[i].told);
        bool added = lks_str_starts(lks_str_from(rows[i].told), "deviation ");
        CHECK_INT(a.state.deviation_count, added ? 1 : 0);
    }
}

static struct lks_str close(struct lks_asked *a, uint64_t id, const char *reason)
{
    const struct lks_event event = {.kind = LKS_EVENT_DEVIATION_CLOSE,
                                    .by = LKS_STR("jo"),
                                    .reason = lks_str_from(reason),
                                    .deviation = id};
    return lks_asked(a, &event);
}

/* Agreeing ----------------------------------------------------------------------------------- */

/* jo added it, kim answers for it. */
static const struct {
    const char *name, *by, *reason, *told;
} agrees[] = {
    {"who added it", "jo", "fine", "refused: jo added deviation 1 or owns it: another person "},
    {"by another name", "user:Jo", "fine", "refused: user:Jo added deviation 1 or owns it"},
    {"who answers for it", "user:kim", "fine", "refused: user:kim added deviation 1 or owns"},
    {"nobody", "", "fine", "refused: "},
    {"who may not approve", "ops", "fine", "denied: ops may not approve for n1"},
    {"who may in another pool", "dee", "fine", "denied: dee may not approve for n1"},
    {"who may for one of its nodes", "tia", "fine", "denied: tia may not approve for d1"},
    {"without a reason", "ann", " ", "invalid: give a reason"},
    {"an approver", "ann", " looked at it ", "deviation-agreed id=1 by=ann reason=looked at it\n"},
    {"who says it again", "ann", "again", ""},
    {"and another one", "lee", "me too", ""},
};

static struct lks_str agree(struct lks_asked *a, const char *by, const char *reason, uint64_t id)
{
    const struct lks_event event = {.kind = LKS_EVENT_DEVIATION_AGREE,
                                    .by = lks_str_from(by),
                                    .reason = lks_str_from(reason),
                                    .deviation = id};
    return lks_asked(a, &event);
}

static void test_agree(void)
{
    static const struct lks_rec_granted people[] = {
        {.identity = LKS_STR_C("jo"), .role = LKS_ROLE_APPROVER},
        {.identity = LKS_STR_C("user:Jo"), .role = LKS_ROLE_APPROVER},
        {.identity = LKS_STR_C("user:kim"), .role = LKS_ROLE_APPROVER},
        {.identity = LKS_STR_C("ops"), .role = LKS_ROLE_OPERATOR},
        {.identity = LKS_STR_C("dee"), .role = LKS_ROLE_APPROVER, .pool = LKS_STR_C("dev")},
        {.identity = LKS_STR_C("tia"), .role = LKS_ROLE_APPROVER, .pool = LKS_STR_C("train")},
        {.identity = LKS_STR_C("ann"), .role = LKS_ROLE_APPROVER},
        {.identity = LKS_STR_C("lee"), .role = LKS_ROLE_APPROVER},
    };
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    make(&a, "observe");
    for (size_t i = 0; i < LKS_COUNT(people); i++)
        lks_asked_apply(&a, &(struct lks_record){.kind = LKS_RECORD_GRANTED, .granted = people[i]});
    const struct lks_event both = {
        .kind = LKS_EVENT_DEVIATE,
        .by = LKS_STR("jo"),
        .reason = LKS_STR("x"),
        .name = LKS_STR("n1,d1"),
        .deviate = {.subject = LKS_STR("*"), .owner = LKS_STR("kim"), .expires = a.now.wall + DAY}};
    CHECK_HAS(lks_asked(&a, &both), "deviation id=1 ");
    for (size_t i = 0; i < LKS_COUNT(agrees); i++) {
        struct lks_str told = agree(&a, agrees[i].by, agrees[i].reason, 1);
        lks_test_case("%s", agrees[i].name);
        if (agrees[i].told[0] == '\0')
            CHECK_STR(told, "");
        else
            CHECK_HAS(told, agrees[i].told);
    }
    CHECK_HAS(agree(&a, "ann", "x", 2), "not-found: no deviation 2");
    CHECK_HAS(close(&a, 1, "mended"), "deviation-ended id=1 ");
    CHECK_HAS(agree(&a, "ann", "x", 1), "refused: deviation 1 ended already");
}

/* In production that enforces, who is named is of no use: drift is drift until an approver said
 * that it is not. */
static void test_waits(void)
{
    static const struct {
        const char *name, *enforce, *node, *by; /* by: who agrees; "": nobody */
        bool covers;
    } cases[] = {
        {"where nothing is refused", "warn", "n1", "", true},
        {"for development", "on", "d1", "", true},
        {"a name alone", "on", "n1", "", false},
        {"who is no approver", "on", "n1", "ops", false},
        {"who added it", "on", "n1", "jo", false},
        {"an approver", "on", "n1", "ann", true},
    };
    for (size_t i = 0; i < LKS_COUNT(cases); i++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        lks_test_case("%s", cases[i].name);
        make(&a, cases[i].enforce);
        static const char *const approvers[] = {"jo", "ann"};
        for (size_t k = 0; k < LKS_COUNT(approvers); k++)
            lks_asked_apply(&a,
                            &(struct lks_record){.kind = LKS_RECORD_GRANTED,
                                                 .granted = {.identity = lks_str_from(approvers[k]),
                                                             .role = LKS_ROLE_APPROVER}});
        report(&a, cases[i].node, "driver=1");
        const struct lks_event event = {.kind = LKS_EVENT_DEVIATE,
                                        .by = LKS_STR("jo"),
                                        .reason = LKS_STR("hot-fix"),
                                        .name = lks_str_from(cases[i].node),
                                        .deviate = {.subject = LKS_STR("driver"),
                                                    .owner = LKS_STR("kim"),
                                                    .approver = LKS_STR("ann"),
                                                    .expires = a.now.wall + DAY}};
        CHECK_HAS(lks_asked(&a, &event), "deviation id=1 ");
        if (cases[i].by[0] != '\0')
            (void)agree(&a, cases[i].by, "looked at it", 1);
        uint32_t node = lks_fleet_node(&a, cases[i].node);
        CHECK(lks_bitset_test(&a.state.standing->deviates, node) == cases[i].covers);
        CHECK_INT(lks_node_status_covered(&a.state, node, LKS_STR("driver"), LKS_STR("1")),
                  cases[i].covers);
    }
}

/* Nodes that all deviations name together. One that ended does not count. */
static void test_named(void)
{
    static const struct {
        const char *name;
        uint32_t named;
        bool ended;
        const char *told;
    } cases[] = {
        {"space for two", LKS_STATE_DEVIATE_MAX - 2, false, "deviation id=2 hosts=n[1-2] "},
        {"space for one", LKS_STATE_DEVIATE_MAX - 1, false,
         "limit: nodes: these are 2 nodes, and deviations that hold already name 19999999 of at "
         "most 20000000: close one that is no longer needed"},
        {"no space", LKS_STATE_DEVIATE_MAX, false,
         "limit: nodes: these are 2 nodes, and deviations that hold already name 20000000 of"},
        {"no space but for one that ended", LKS_STATE_DEVIATE_MAX, true,
         "deviation id=2 hosts=n[1-2] "},
    };
    for (size_t i = 0; i < LKS_COUNT(cases); i++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        lks_test_case("%s", cases[i].name);
        make(&a, "warn");
        CHECK_HAS(add(&a, 2), "deviation id=1 ");
        a.state.deviations[0].count = cases[i].named;
        a.state.deviations[0].ended = cases[i].ended ? a.now.wall : 0;
        const struct lks_event event = {.kind = LKS_EVENT_DEVIATE,
                                        .by = LKS_STR("jo"),
                                        .reason = LKS_STR("x"),
                                        .name = LKS_STR("n[1-2]"),
                                        .deviate = {.subject = LKS_STR("driver"),
                                                    .owner = LKS_STR("kim"),
                                                    .expires = a.now.wall + DAY}};
        CHECK_HAS(lks_asked_dry(&a, &event), cases[i].told);
        a.state.deviations[0].count = 1;
    }
}

/* A full list drops those of its older half that ended; one that holds is never dropped. */
static void test_full(void)
{
    static const struct {
        const char *name;
        uint32_t ended; /* the place of one that ended */
        const char *told;
    } cases[] = {
        {"ended in the older half", 2, "deviation id=10001 "},
        {"ended in the younger half", LKS_STATE_DEVIATIONS_MAX - 2,
         "limit: deviations: the older half of 10000 all hold: close one"},
    };
    for (size_t i = 0; i < LKS_COUNT(cases); i++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        lks_test_case("%s", cases[i].name);
        make(&a, "warn");
        for (uint64_t id = 1; id <= LKS_STATE_DEVIATIONS_MAX; id++)
            lks_asked_apply(&a, &(struct lks_record){.kind = LKS_RECORD_DEVIATION,
                                                     .deviation = {.id = id,
                                                                   .hosts = LKS_STR("n1"),
                                                                   .subject = LKS_STR("driver"),
                                                                   .expires = a.now.wall + DAY}});
        a.state.deviations[cases[i].ended].ended = a.now.wall;
        CHECK_HAS(add(&a, 2), cases[i].told);
    }
}

/* Attesting ---------------------------------------------------------------------------------- */

/* ann approves everywhere, tia in pool train, ops operates. */
static const struct {
    const char *name, *by, *hosts;
    bool on;
    lks_ms life;
    const char *told;
} attests[] = {
    {"an approver", "ann", "n1", true, DAY,
     "condition node=n1 condition=attested on=1 until=87400000 by=ann\n"},
    {"an approver of the pool", "tia", "n[1-2]", true, DAY, "condition node=n2 condition=attested"},
    {"of another pool's node, too", "tia", "n1,d1", true, DAY,
     "denied: tia may not approve for d1"},
    {"who only operates", "ops", "n1", true, DAY,
     "denied: ops may not approve for n1: that a node is attested is an approver's to say"},
    {"nobody", "", "n1", true, DAY, "denied: "},
    {"who takes it away", "ops", "n1", false, 0, ""},
    {"for a week", "ann", "n1", true, 7 * DAY, "condition node=n1 condition=attested on=1 "},
    {"for longer", "ann", "n1", true, 7 * DAY + 1,
     "invalid: until: an attestation is for at most 7 days"},
};

static void test_attest(void)
{
    static const struct lks_rec_granted people[] = {
        {.identity = LKS_STR_C("ann"), .role = LKS_ROLE_APPROVER},
        {.identity = LKS_STR_C("tia"), .role = LKS_ROLE_APPROVER, .pool = LKS_STR_C("train")},
        {.identity = LKS_STR_C("ops"), .role = LKS_ROLE_OPERATOR},
    };
    for (size_t i = 0; i < LKS_COUNT(attests); i++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        lks_test_case("%s", attests[i].name);
        make(&a, "on");
        for (size_t k = 0; k < LKS_COUNT(people); k++)
            lks_asked_apply(&a,
                            &(struct lks_record){.kind = LKS_RECORD_GRANTED, .granted = people[k]});
        const struct lks_event event = {.kind = LKS_EVENT_CONDITION,
                                        .by = lks_str_from(attests[i].by),
                                        .name = lks_str_from(attests[i].hosts),
                                        .condition = {.condition = LKS_CONDITION_ATTESTED,
                                                      .on = attests[i].on,
                                                      .until = a.now.wall + attests[i].life}};
        CHECK_HAS(lks_asked(&a, &event), attests[i].told);
    }
}

/* Ending ------------------------------------------------------------------------------------- */

static void test_close(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    make(&a, "on");
    (void)add(&a, 0);
    CHECK_HAS(close(&a, 2, "x"), "not-found: no deviation 2; see lockstep deviation ls");
    CHECK_HAS(close(&a, 1, ""), "invalid: give a reason");
    CHECK_STR(close(&a, 1, "mended"), "deviation-ended id=1 by=jo reason=mended\n");
    CHECK_HAS(close(&a, 1, "mended"), "refused: deviation 1 ended already");
    CHECK_STR(lks_fleet_tick(&a), "");
}

/* One that nobody needs ends quietly; one that is in use is told of, a day before and at its end.
 */
static void test_expiry(void)
{
    static const struct {
        const char *name, *changes, *before, *at;
        lks_ms life;
    } cases[] = {
        {"not in use", "", "", "deviation-ended id=1 reason=it expired\n", 2 * DAY},
        {"in use", "driver=1",
         "alarm id=1 alarm=deviation subject=deviation 1 text=* of kim ends "
         "within a day, and 1 node still needs it\n",
         "alarm id=2 alarm=deviation subject=deviation 1, ended text=* of kim ended, and 1 node "
         "still needs it\ndeviation-ended id=1 reason=it expired\n",
         2 * DAY},
        {"in use, for an hour", "driver=1", "",
         "alarm id=1 alarm=deviation subject=deviation 1, ended text=* of kim ended, and 1 node "
         "still needs it\ndeviation-ended id=1 reason=it expired\n",
         60 * MINUTE},
    };
    for (size_t i = 0; i < LKS_COUNT(cases); i++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        lks_test_case("%s", cases[i].name);
        make(&a, "observe");
        report(&a, "n1", cases[i].changes);
        const struct lks_record r = {.kind = LKS_RECORD_DEVIATION,
                                     .deviation = {.id = 1,
                                                   .hosts = LKS_STR("n[1-2]"),
                                                   .subject = LKS_STR("*"),
                                                   .owner = LKS_STR("kim"),
                                                   .expires = a.now.wall + cases[i].life}};
        lks_asked_apply(&a, &r);
        CHECK_STR(lks_fleet_tick(&a), "");
        lks_fleet_wait(&a, cases[i].life - 1);
        CHECK_STR(lks_fleet_tick(&a), cases[i].before);
        CHECK_STR(lks_fleet_tick(&a), "");
        lks_fleet_wait(&a, 1);
        CHECK(lks_decide_next(&a.state) <= a.now.mono);
        CHECK_STR(lks_fleet_tick(&a), cases[i].at);
        (void)lks_fleet_tick(&a);
        CHECK_STR(lks_fleet_tick(&a), "");
    }
}

/* A person who released the alarm is not told again. */
static void test_told_once(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    make(&a, "observe");
    report(&a, "n1", "driver=1");
    const struct lks_record r = {.kind = LKS_RECORD_DEVIATION,
                                 .deviation = {.id = 1,
                                               .hosts = LKS_STR("n1"),
                                               .subject = LKS_STR("*"),
                                               .owner = LKS_STR("kim"),
                                               .expires = a.now.wall + 2 * DAY}};
    lks_asked_apply(&a, &r);
    lks_fleet_wait(&a, DAY + MINUTE);
    CHECK_HAS(lks_fleet_tick(&a), "alarm id=1 alarm=deviation");
    const struct lks_event release = {
        .kind = LKS_EVENT_ALARM_RELEASE, .reason = LKS_STR("seen"), .alarm = 1};
    CHECK_HAS(lks_asked(&a, &release), "alarm-released id=1");
    CHECK_STR(lks_fleet_tick(&a), "");
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"decide deviation: adding", test_add},
        {"decide deviation: nodes that all name together", test_named},
        {"deviations: a full list", test_full},
        {"decide deviation: agreeing", test_agree},
        {"decide deviation: what waits for an approver", test_waits},
        {"decide condition: who says that a node is attested", test_attest},
        {"decide deviation: closing", test_close},
        {"decide deviation: expiry", test_expiry},
        {"decide deviation: told once", test_told_once},
        {NULL, NULL},
    });
}
