/* Wedged nodes: who may have one reset, when, and how it ends. */
#include "core/state/resets.h"

#include "core/campaign/state_apply.h"
#include "core/rules/decide.h"
#include "tests/asked.h"
#include "tests/reload.h"
#include "tests/test.h"

#define MINUTE ((lks_ms)60 * LKS_SECOND)
#define T      LKS_STR_C

static const char fleet[] = "lockstep: 1\nkind: Fleet\nname: f\n"
                            "pools: {train: {posture: pre-training}}\n"
                            "nodes: [{hosts: 'g[1-2]', pool: train, class: hgx-h100-8}]\n"
                            "assets: [{hosts: s1, class: switch-tray}]\n";

static void grant(struct lks_asked *a, const char *identity, enum lks_role role, const char *pool)
{
    lks_asked_apply(a, &(struct lks_record){.kind = LKS_RECORD_GRANTED,
                                            .granted = {.identity = lks_str_from(identity),
                                                        .role = role,
                                                        .pool = lks_str_from(pool)}});
}

static void condition(struct lks_asked *a, enum lks_condition condition)
{
    lks_asked_apply(a, &(struct lks_record){
                           .kind = LKS_RECORD_CONDITION,
                           .condition = {.node = T("g1"), .condition = condition, .on = true}});
}

static void enforce(struct lks_asked *a)
{
    lks_asked_apply(
        a, &(struct lks_record){
               .kind = LKS_RECORD_POOL,
               .pool = {.name = T("train"), .posture = T("pre-training"), .enforce = T("on")}});
}

static void hold(struct lks_asked *a)
{
    lks_asked_apply(a, &(struct lks_record){.kind = LKS_RECORD_HELD, .held = {.node = T("g1")}});
}

static void look(struct lks_asked *a, enum lks_outcome outcome)
{
    uint64_t id = a->state.next_command;
    lks_asked_apply(a, &(struct lks_record){.kind = LKS_RECORD_COMMAND,
                                            .command = {.id = id,
                                                        .node = T("g1"),
                                                        .boot = T("b1"),
                                                        .executor = T("idle"),
                                                        .expires = a->now.wall + MINUTE}});
    lks_asked_apply(
        a, &(struct lks_record){.kind = LKS_RECORD_COMMAND_ENDED,
                                .command_ended = {.id = id, .node = T("g1"), .outcome = outcome}});
}

static void begin(struct lks_asked *a)
{
    lks_asked_init(a);
    lks_asked_fleet(a, fleet, NULL);
    lks_asked_live(a, "g1");
    lks_asked_live(a, "g2");
    grant(a, "kim", LKS_ROLE_APPROVER, "");
    grant(a, "ann", LKS_ROLE_APPROVER, "train");
    grant(a, "bob", LKS_ROLE_APPROVER, "other");
}

static struct lks_event reset(const char *by, enum lks_reset_step step)
{
    return (struct lks_event){.kind = LKS_EVENT_RESET,
                              .by = lks_str_from(by),
                              .reason = T("a stuck process"),
                              .name = T("g1"),
                              .reset = step};
}

static struct lks_str told(struct lks_asked *a, const char *by, enum lks_reset_step step)
{
    struct lks_event e = reset(by, step);
    return lks_asked(a, &e);
}

/* Asking ------------------------------------------------------------------------------------ */

enum { IN_SERVICE = 0, HELD = 1, UNHEALTHY = 2 };

static void test_asks(void)
{
    static const struct {
        const char *name;
        unsigned how;
        int look; /* an outcome; -1: nobody looked */
        bool enforces;
        lks_ms after;
        const char *told;
    } rows[] = {
        {"in service", IN_SERVICE, LKS_OUTCOME_FAILED, false, 0,
         "refused: g1 is in service: only a drained or unhealthy node is reset"},
        {"held, not read", HELD, -1, false, 0,
         "refused: no reading shows a process on g1; read it first"},
        {"held and idle", HELD, LKS_OUTCOME_DONE, false, 0,
         "refused: no process runs on g1: reboot it without --wedged"},
        {"held with a process", HELD, LKS_OUTCOME_FAILED, false, 0,
         "reset node=g1 step=asked boot=b1 "},
        {"held with a process, read long ago", HELD, LKS_OUTCOME_FAILED, false, 11 * MINUTE,
         "refused: no reading shows a process on g1; read it first"},
        {"unhealthy with a process", UNHEALTHY, LKS_OUTCOME_FAILED, false, 0, "reset node=g1 "},
        {"unhealthy where a yes may be open", UNHEALTHY, LKS_OUTCOME_FAILED, true, 0,
         "refused: jobs may start on g1; hold it first"},
        {"held where a yes may be open", HELD, LKS_OUTCOME_FAILED, true, 0, "try again in 70 s"},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        lks_test_case("%s", rows[i].name);
        begin(&a);
        if (rows[i].enforces)
            enforce(&a);
        if (rows[i].how == HELD)
            hold(&a);
        else if (rows[i].how == UNHEALTHY)
            condition(&a, LKS_CONDITION_UNHEALTHY);
        if (rows[i].look >= 0)
            look(&a, (enum lks_outcome)rows[i].look);
        a.now.wall += rows[i].after;
        CHECK_HAS(told(&a, "kim", LKS_RESET_ASKED), rows[i].told);
    }
}

/* It has no agent that could be asked to read or to reboot, so it is not led through both. */
static void test_asset(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    struct lks_event e = reset("kim", LKS_RESET_ASKED);
    begin(&a);
    e.name = LKS_STR("s1");
    CHECK_HAS(lks_asked(&a, &e), "refused: s1 is an asset and has no agent");
}

/* Two people -------------------------------------------------------------------------------- */

static void ask(struct lks_asked *a, const char *by)
{
    begin(a);
    hold(a);
    look(a, LKS_OUTCOME_FAILED);
    CHECK_HAS(told(a, by, LKS_RESET_ASKED), "reset node=g1 step=asked ");
}

static void test_approves(void)
{
    static const struct {
        const char *name, *asked, *by;
        lks_ms after;
        const char *told;
    } rows[] = {
        {"another person", "kim", "ann", 0,
         "command id=2 node=g1 boot=b1 executor=reboot attempt=1 "},
        {"the same person", "kim", "kim", 0, "refused: kim asked for the reset of g1"},
        {"the same person by a certificate", "kim", "user:kim", 0,
         "refused: user:kim asked for the reset of g1"},
        {"an approver of another pool", "kim", "bob", 0, "denied: bob is no approver of g1"},
        {"somebody without a role", "kim", "eve", 0, "denied: eve is no approver of g1"},
        {"an hour later", "kim", "ann", 60 * MINUTE, "refused: no reset of g1 waits"},
        {"shortly before", "kim", "ann", 59 * MINUTE, "command id=2 node=g1 "},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        lks_test_case("%s", rows[i].name);
        ask(&a, rows[i].asked);
        a.now.wall += rows[i].after;
        CHECK_HAS(told(&a, rows[i].by, LKS_RESET_APPROVED), rows[i].told);
    }
}

/* What it was asked for is not so any more. */
static void test_moved_on(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    ask(&a, "kim");
    look(&a, LKS_OUTCOME_DONE);
    CHECK_HAS(told(&a, "ann", LKS_RESET_APPROVED), "refused: no process runs on g1");
    lks_asked_apply(&a, &(struct lks_record){.kind = LKS_RECORD_BOOTED,
                                             .booted = {.node = T("g1"), .boot = T("b2")}});
    CHECK_HAS(told(&a, "ann", LKS_RESET_APPROVED), "refused: no reset of g1 waits");
}

/* Jobs may start on a node that is only unhealthy: the approver rests on a reading of late. */
static void test_in_service(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    begin(&a);
    condition(&a, LKS_CONDITION_UNHEALTHY);
    look(&a, LKS_OUTCOME_FAILED);
    CHECK_HAS(told(&a, "kim", LKS_RESET_ASKED), "reset node=g1 step=asked ");
    a.now.wall += 11 * MINUTE;
    CHECK_HAS(told(&a, "ann", LKS_RESET_APPROVED), "refused: no reading shows a process on g1");
    look(&a, LKS_OUTCOME_FAILED);
    CHECK_HAS(told(&a, "ann", LKS_RESET_APPROVED), "command id=3 node=g1 ");
}

/* Alarm and review -------------------------------------------------------------------------- */

static void test_review(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    ask(&a, "kim");
    CHECK_HAS(told(&a, "ann", LKS_RESET_REVIEWED), "refused: no reset of g1 waits for a review");
    CHECK_HAS(told(&a, "ann", LKS_RESET_APPROVED),
              "alarm id=1 alarm=wedged subject=g1 text=reset while a process held its GPUs: asked "
              "for by kim (a stuck process), approved by ann; review it: lockstep node review g1");
    const struct lks_event release = {
        .kind = LKS_EVENT_ALARM_RELEASE, .by = T("kim"), .reason = T("done"), .alarm = 1};
    CHECK_HAS(lks_asked(&a, &release), "refused: the reset of g1 is not reviewed yet");
    CHECK_HAS(told(&a, "kim", LKS_RESET_ASKED), "refused: the last reset of g1 is not reviewed");
    CHECK_HAS(told(&a, "kim", LKS_RESET_REVIEWED), "refused: kim asked for the reset of g1");
    CHECK_INT(a.state.resets.given, 1);
    CHECK_HAS(told(&a, "ann", LKS_RESET_REVIEWED),
              "reset node=g1 step=reviewed by=ann reason=a stuck process\n"
              "alarm-released id=1 ");
    CHECK_INT(a.state.resets.count, 0);
    CHECK_INT(a.state.alarms_open, 0);
}

/* Snapshots --------------------------------------------------------------------------------- */

static void check_dump(const struct lks_asked *a)
{
    struct lks_state other = {0};
    lks_test_reload(&a->state, &other);
    lks_state_fini(&other);
}

static void test_dump(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    ask(&a, "kim");
    check_dump(&a);
    told(&a, "ann", LKS_RESET_APPROVED);
    check_dump(&a);
    told(&a, "ann", LKS_RESET_REVIEWED);
    CHECK_INT(a.state.resets.given, 1);
    check_dump(&a);
    lks_asked_apply(&a, &(struct lks_record){.kind = LKS_RECORD_REMOVED,
                                             .removed = {.hosts = T("g1"), .by = T("kim")}});
    check_dump(&a);
}

/* A node that leaves the fleet takes its reset with it, and its alarm can be ended. */
static void test_removed(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    ask(&a, "kim");
    told(&a, "ann", LKS_RESET_APPROVED);
    lks_asked_apply(&a, &(struct lks_record){.kind = LKS_RECORD_REMOVED,
                                             .removed = {.hosts = T("g1"), .by = T("kim")}});
    CHECK_INT(a.state.resets.count, 0);
    const struct lks_event release = {
        .kind = LKS_EVENT_ALARM_RELEASE, .by = T("kim"), .reason = T("gone"), .alarm = 1};
    CHECK_HAS(lks_asked(&a, &release), "alarm-released id=1 ");
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"reset: when it can be asked for", test_asks},
        {"reset: an asset has no agent", test_asset},
        {"reset: two people", test_approves},
        {"reset: what it was asked for is over", test_moved_on},
        {"reset: a node that is only unhealthy", test_in_service},
        {"reset: alarm and review", test_review},
        {"reset: snapshots", test_dump},
        {"reset: the node leaves", test_removed},
        {0},
    });
}
