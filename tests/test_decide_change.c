/* What people say of changes, and what becomes of it. */
#include "core/registry/artifacts.h"
#include "core/rows/change.h"
#include "core/rules/decide.h"
#include "core/state/heartbeat.h"
#include "core/state/lookup.h"
#include "tests/anything.h"
#include "tests/fleet.h"
#include "tests/test.h"
#include "tests/tuples.h"

#include <stdio.h>

enum { MANIFEST_MAX = 1 << 16 };

#define T LKS_STR_C
#define R(KIND, member, ...)                                                                       \
    {                                                                                              \
        .kind = LKS_RECORD_##KIND, .member = { __VA_ARGS__ }                                       \
    }
#define BY(who)        .by = T(who), .reason = T("so it is")
#define NO_REASON(who) .by = T(who)
#define MEMBER_IS(name, is)                                                                        \
    R(MEMBER, member, .change = 1, .node = T(name), .state = LKS_MEMBER_##is, .step = 2)

/* ann and lee may approve. Pool "train" with n1 to n4, "dev" with n5; kim proposed change 1 for n1
 * to n3, in two waves. */
static const struct lks_record plan[] = {
    R(CHANGE, change, .id = 1, .hosts = T("n[1-3]"), .stack = T("s2"), .name = T("gold"),
      .by = T("user:kim"), .reason = T("new")),
    R(PLAN_STEP, plan_step, .change = 1, .kind = LKS_DO_STAGE),
    R(PLAN_STEP, plan_step, .change = 1, .index = 1, .kind = LKS_DO_LEAVE),
    R(PLAN_STEP, plan_step, .change = 1, .index = 2, .kind = LKS_DO_RETURN),
    R(PLAN_WAVE, plan_wave, .change = 1, .kind = LKS_WAVE_CANARY, .width = 1),
    R(PLAN_WAVE, plan_wave, .change = 1, .index = 1, .kind = LKS_WAVE_RING, .width = 1),
    R(PLAN_PART, plan_part, .change = 1, .hosts = T("n1")),
    R(PLAN_PART, plan_part, .change = 1, .wave = 1, .hosts = T("n[2-3]")),
};

#define APPROVER(who) R(GRANTED, granted, .identity = T(who), .role = LKS_ROLE_APPROVER)
static const struct lks_record approvers[] = {APPROVER("user:ann"), APPROVER("user:lee")};

static void begin_until(struct lks_asked *a, lks_ms not_after)
{
    lks_asked_init(a);
    lks_fleet_release(a, "s2");
    lks_fleet_pool(a, "train", "gold", "s1");
    lks_fleet_pool(a, "dev", "gold", "s1");
    lks_fleet_place(a, "n[1-4]", "train");
    lks_fleet_place(a, "n5", "dev");
    for (size_t i = 0; i < LKS_COUNT(approvers); i++)
        lks_asked_apply(a, &approvers[i]);
    for (size_t i = 0; i < LKS_COUNT(plan); i++) {
        struct lks_record r = plan[i];
        if (r.kind == LKS_RECORD_CHANGE)
            r.change.not_after = not_after;
        lks_asked_apply(a, &r);
    }
}

static void begin(struct lks_asked *a)
{
    begin_until(a, 0);
}

static void be(struct lks_asked *a, enum lks_change_state state)
{
    static const struct lks_record vote =
        R(CHANGE_VOTED, change_voted, .change = 1, .yes = true, .by = T("user:lee"));
    const struct lks_record r = R(CHANGE_MOVED, change_moved, .change = 1, .state = state);
    if (state == LKS_CHANGE_APPROVED)
        lks_asked_apply(a, &vote);
    if (state != LKS_CHANGE_PROPOSED)
        lks_asked_apply(a, &r);
}

/* Proposing --------------------------------------------------------------------------------- */

/* n1 to n4 run "golden"; "silver" has another containerd. */
static void make_fleet(struct lks_asked *a)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(MANIFEST_MAX);
    struct lks_str rest = lks_str_from(lks_test_node_stack), line;
    lks_asked_init(a);
    lks_buf_addf(&text, "%s---\n", lks_test_node_stack);
    while (rest.len > 0) {
        (void)lks_str_cut(rest, '\n', &line, &rest);
        if (lks_str_starts(line, "name:"))
            line = LKS_STR("name: silver");
        if (lks_str_starts(line, "  containerd:"))
            line = LKS_STR("  containerd: {version: '1.7.29'}");
        lks_buf_addf(&text, "%" LKS_STR_FMT "\n", LKS_STR_ARG(line));
    }
    lks_buf_addf(&text, "---\nlockstep: 1\nkind: Fleet\nname: f\n"
                        "pools: {train: {posture: pre-training, stack: golden}}\n"
                        "nodes: [{hosts: 'n[1-4]', pool: train, class: hgx-h200-8}]\n");
    LKS_ASSERT(text.failed == LKS_OK);
    CHECK_HAS(lks_asked_fleet(a, text.ptr, NULL), "fleet name=f");
    for (uint32_t n = 0; n < a->state.node_count; n++)
        lks_asked_live(a, lks_state_name(&a->state, n).ptr);
}

#define WISH(...)                                                                                  \
    {                                                                                              \
        .kind = LKS_EVENT_PROPOSE, BY("user:kim"), .propose = {.wish = {__VA_ARGS__} }             \
    }

static void test_propose_refused(void)
{
    static const struct {
        const char *name;
        struct lks_event event;
        const char *told;
    } rows[] = {
        {"without a reason",
         {.kind = LKS_EVENT_PROPOSE, NO_REASON("user:kim")},
         "invalid: give a reason; it is kept in the journal"},
        {"what the planner refuses is refused in its words",
         WISH(.pool = T("train"), .stack = T("golden")),
         "refused: nothing to do: all of them should run golden already"},
        {"a stack that nobody published", WISH(.pool = T("train"), .stack = T("brass")),
         "not-found: stack: there is no stack 'brass' in the registry"},
        {"nobody is named", WISH(.stack = T("silver")), "invalid: name either hosts or a pool"},
        {"nothing that installs it", WISH(.pool = T("train"), .stack = T("silver")),
         "refused: containerd 1.7.29: no good bundle has it"},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        lks_test_case("%s", rows[i].name);
        make_fleet(&a);
        CHECK_HAS(lks_asked(&a, &rows[i].event), rows[i].told);
        CHECK_INT(a.state.change_count, 0);
    }
}

/* The plan is recorded with the next number, whoever asked and why. */
static void test_propose(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    static const struct lks_event event =
        WISH(.pool = T("train"), .stack = T("silver"), .hook = T("site-install"), .failures_max = 2,
             .rolls_back = true);
    make_fleet(&a);
    for (uint64_t id = 1; id <= 2; id++) {
        char head[64];
        snprintf(head, sizeof(head), "change id=%u what=stack", (unsigned)id);
        struct lks_str told = lks_asked(&a, &event);
        CHECK(lks_str_starts(told, head));
        CHECK_HAS(told, "name=silver failures_max=2 rolls_back=1");
        CHECK_HAS(told, "by=user:kim reason=so it is class=routine quorum=2 ");
        CHECK_HAS(told, "executor=hook");
        const struct lks_state_change *c = lks_state_change(&a.state, id);
        if (!CHECK(c != NULL))
            return;
        CHECK_INT(c->state, LKS_CHANGE_PROPOSED);
        CHECK_INT(c->member_count, 4);
        CHECK_INT(c->states[LKS_MEMBER_PENDING], 4);
        CHECK(c->wave_count > 0 && c->recipe_count > 0 && c->order_count > 0);
        for (uint32_t i = 0; i < c->recipes[0].count; i++) {
            struct lks_str order = lks_state_text(&a.state, c->recipes[0].steps[i].order);
            CHECK(order.len == 0 || lks_state_order(&a.state, order).len > 0);
        }
    }
}

/* What a change leads to is not retired before it is over; and what it would go back to is kept. */
static void test_stack_stays(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    static const struct lks_event propose =
        WISH(.pool = T("train"), .stack = T("silver"), .hook = T("site-install"));
    make_fleet(&a);
    (void)lks_asked(&a, &propose);
    if (!CHECK_INT(a.state.change_count, 1))
        return;
    const struct lks_state_change *c = &a.state.changes[0];
    const struct lks_event retire = {.kind = LKS_EVENT_STEP,
                                     BY("user:ann"),
                                     .step = {.digest = lks_state_text(&a.state, c->stack),
                                              .evidence = LKS_STR("old"),
                                              .to = LKS_STEP_RETIRED}};
    CHECK_STR(lks_asked(&a, &retire),
              "refused: stack 'silver' cannot be retired: change 1 leads to it");
    CHECK(lks_artifact_stack_in_use(&a.state, c->stack) &&
          lks_artifact_stack_in_use(&a.state, c->members[0].from));
    be(&a, LKS_CHANGE_REJECTED);
    CHECK(!lks_artifact_stack_in_use(&a.state, c->stack));
    CHECK_HAS(lks_asked(&a, &retire), "stepped ");
}

/* So many that are not over are enough: what is over makes room for the next, these do not. */
static void test_propose_limit(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    static const struct lks_event event =
        WISH(.pool = T("train"), .stack = T("silver"), .hook = T("site-install"));
    make_fleet(&a);
    for (uint64_t id = 1; id <= LKS_STATE_CHANGES_MAX / 2; id++) {
        const struct lks_record r = R(CHANGE, change, .id = id);
        lks_asked_apply(&a, &r);
    }
    CHECK_STR(lks_asked(&a, &event),
              "limit: there are 128 changes that are not over, which is the most");
    be(&a, LKS_CHANGE_ABORTED);
    CHECK_HAS(lks_asked(&a, &event), "change id=129 ");
}

/* One person alone has fewer. */
static void test_propose_own_limit(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    struct lks_event event =
        WISH(.pool = T("train"), .stack = T("silver"), .hook = T("site-install"));
    make_fleet(&a);
    for (uint64_t id = 1; id <= LKS_STATE_CHANGES_MAX / 8; id++) {
        const struct lks_record r = R(CHANGE, change, .id = id, .by = T("user:kim"));
        lks_asked_apply(&a, &r);
    }
    CHECK_STR(lks_asked(&a, &event),
              "limit: user:kim proposed 32 changes that are not over, which is the most for one "
              "person: abort some of them first");
    event.by = LKS_STR("user:ann");
    CHECK_HAS(lks_asked(&a, &event), "change id=33 ");
    event.by = LKS_STR("user:kim");
    be(&a, LKS_CHANGE_ABORTED);
    CHECK_HAS(lks_asked(&a, &event), "change id=34 ");
}

/* Moving ------------------------------------------------------------------------------------ */

/* What each order makes of each state; "" where it is there already, NULL: refused. */
static const char *const moves[LKS_CHANGE_STATE_COUNT][LKS_ORDERED_COUNT] = {
    /* start, pause, resume, abort, rollback */
    [LKS_CHANGE_PROPOSED] = {NULL, NULL, NULL, "aborted", NULL},
    [LKS_CHANGE_APPROVED] = {"running", NULL, NULL, "aborted", NULL},
    [LKS_CHANGE_RUNNING] = {"", "paused", "", "aborting", "rolling back"},
    [LKS_CHANGE_PAUSED] = {NULL, "", "running", "aborting", "rolling back"},
    [LKS_CHANGE_HALTED] = {NULL, NULL, "running", "aborting", "rolling back"},
    [LKS_CHANGE_ABORTING] = {NULL, NULL, NULL, "", "rolling back"},
    [LKS_CHANGE_ROLLING_BACK] = {NULL, NULL, NULL, "aborting", ""},
    [LKS_CHANGE_DONE] = {NULL, NULL, NULL, NULL, NULL},
    [LKS_CHANGE_REJECTED] = {NULL, NULL, NULL, NULL, NULL},
    [LKS_CHANGE_ABORTED] = {NULL, NULL, NULL, "", NULL},
    [LKS_CHANGE_ROLLED_BACK] = {NULL, NULL, NULL, NULL, ""},
};

static void test_moves(void)
{
    for (enum lks_change_state state = 0; state < LKS_CHANGE_STATE_COUNT; state++) {
        for (enum lks_change_order_word order = 0; order < LKS_ORDERED_COUNT; order++) {
            LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
            const struct lks_event event = {.kind = LKS_EVENT_CHANGE_MOVE,
                                            BY("user:ann"),
                                            .move = {.change = 1, .order = order}};
            const char *to = moves[state][order];
            lks_test_case("%s one that is %s", lks_change_order_words[order],
                          lks_change_state_words[state]);
            begin(&a);
            be(&a, state);
            struct lks_str told = lks_asked(&a, &event);
            if (to == NULL) {
                CHECK(lks_str_starts(told, "refused: "));
                CHECK(a.decision.refused.code == LKS_E_REFUSED);
            } else if (to[0] == '\0') {
                CHECK_STR(told, "");
            } else {
                CHECK_INT(a.decision.count, 1);
                CHECK_STR(lks_str_from(lks_change_state_words[a.state.changes[0].state]), to);
                CHECK_STR(lks_state_text(&a.state, a.state.changes[0].moved_by), "user:ann");
            }
        }
    }
}

static const struct {
    const char *name;
    enum lks_change_state state;
    struct lks_event event;
    const char *told;
} refused[] = {
    {"a change that there is not",
     LKS_CHANGE_RUNNING,
     {BY("user:ann"), .move = {.change = 9}},
     "not-found: there is no change 9"},
    {"started before it is approved",
     LKS_CHANGE_PROPOSED,
     {BY("user:ann"), .move = {.change = 1, .order = LKS_ORDERED_START}},
     "refused: start: change 1 is proposed; an approver has to approve it first: it has 0 of "
     "1 approvals"},
    {"paused before it was started",
     LKS_CHANGE_APPROVED,
     {BY("user:ann"), .move = {.change = 1, .order = LKS_ORDERED_PAUSE}},
     "refused: pause: change 1 is approved; it was not started"},
    {"resumed while it goes back",
     LKS_CHANGE_ROLLING_BACK,
     {BY("user:ann"), .move = {.change = 1, .order = LKS_ORDERED_RESUME}},
     "refused: resume: change 1 is rolling back"},
    {"rolled back when it is done",
     LKS_CHANGE_DONE,
     {BY("user:ann"), .move = {.change = 1, .order = LKS_ORDERED_ROLLBACK}},
     "refused: rollback: change 1 is done; propose a change of its nodes to the stack "
     "before"},
    {"aborted when it is over",
     LKS_CHANGE_REJECTED,
     {BY("user:ann"), .move = {.change = 1, .order = LKS_ORDERED_ABORT}},
     "refused: abort: change 1 is rejected; it has ended"},
    {"without a reason",
     LKS_CHANGE_RUNNING,
     {NO_REASON("user:ann"), .move = {.change = 1, .order = LKS_ORDERED_ABORT}},
     "invalid: give a reason; it is kept in the journal"},
    {"started, which needs none",
     LKS_CHANGE_APPROVED,
     {NO_REASON("user:ann"), .move = {.change = 1, .order = LKS_ORDERED_START}},
     "change-moved change=1 state=running by=user:ann starts=1\n"},
};

static void test_refused(void)
{
    for (size_t i = 0; i < LKS_COUNT(refused); i++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        struct lks_event event = refused[i].event;
        lks_test_case("%s", refused[i].name);
        event.kind = LKS_EVENT_CHANGE_MOVE;
        begin(&a);
        be(&a, refused[i].state);
        CHECK_STR(lks_asked(&a, &event), refused[i].told);
    }
}

/* Nobody begins when its time is over, so nothing lets it run then, and it says what is left. */
static void test_late(void)
{
    static const struct {
        const char *name;
        enum lks_change_state state;
        enum lks_change_order_word order;
        lks_ms early; /* before its end; 0: then */
        bool begun;   /* all of its nodes did begin */
        const char *told;
    } rows[] = {
        {"started in time", LKS_CHANGE_APPROVED, LKS_ORDERED_START, 1, false,
         "change-moved change=1 state=running by=user:ann reason=so it is starts=1\n"},
        {"started too late", LKS_CHANGE_APPROVED, LKS_ORDERED_START, 0, false,
         "refused: start: its time has expired (1970-01-02T00:00:00.000Z); propose it again"},
        {"resumed too late", LKS_CHANGE_HALTED, LKS_ORDERED_RESUME, 0, false,
         "refused: resume: its time has expired (1970-01-02T00:00:00.000Z), and 3 nodes did not "
         "start: propose a change for them, then abort this one, which keeps what is done"},
        {"resumed when nobody is left to begin", LKS_CHANGE_PAUSED, LKS_ORDERED_RESUME, 0, true,
         "change-moved change=1 state=running by=user:ann reason=so it is\n"},
        {"aborted too late", LKS_CHANGE_HALTED, LKS_ORDERED_ABORT, 0, false,
         "change-moved change=1 state=aborting by=user:ann reason=so it is\n"},
    };
    static const struct lks_record begun[] = {MEMBER_IS("n1", DONE), MEMBER_IS("n2", ASKED),
                                              MEMBER_IS("n3", FENCED)};
    enum { DAY = 86400000 };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        const struct lks_event event = {.kind = LKS_EVENT_CHANGE_MOVE,
                                        BY("user:ann"),
                                        .move = {.change = 1, .order = rows[i].order}};
        lks_test_case("%s", rows[i].name);
        begin_until(&a, DAY);
        be(&a, rows[i].state);
        for (size_t m = 0; rows[i].begun && m < LKS_COUNT(begun); m++)
            lks_asked_apply(&a, &begun[m]);
        a.now.wall = DAY - rows[i].early;
        CHECK_STR(lks_asked(&a, &event), rows[i].told);
    }
}

/* Members ----------------------------------------------------------------------------------- */

#define DRAIN R(DRAINED, drained, .node = T("n1"), .owner = T("change:1"), .reason = T("change 1"))
#define CHANGES                                                                                    \
    R(CONDITION, condition, .node = T("n1"), .condition = LKS_CONDITION_CHANGING, .on = true,      \
      .stack = T("s2"))
#define N1(...)                                                                                    \
    {                                                                                              \
        .name = T("n1"), BY("user:ann"), .member = {.change = 1, __VA_ARGS__ }                     \
    }
#define ALARM_IS(number, what, of)                                                                 \
    R(ALARM, alarm, .id = number, .kind = LKS_ALARM_##what, .subject = T(of), .text = T("look"))
#define ALARM_OVER(id) "alarm-released id=" id " by=user:ann reason=so it is\n"
#define RELEASED                                                                                   \
    "member change=1 node=n1 state=skipped step=2 failure=none text=released as it is by "         \
    "user:ann: so it is\n"

static const struct {
    const char *name;
    enum lks_change_state state;
    struct lks_record then[4];
    struct lks_event event;
    const char *told;
} members[] = {
    {"released: out of its drain, and no longer changing",
     LKS_CHANGE_HALTED,
     {MEMBER_IS("n1", FENCED), DRAIN, CHANGES},
     N1(.again = false),
     "condition node=n1 condition=changing text=so it is\n"
     "undrained node=n1 owner=change:1 reason=so it is\n" RELEASED},
    {"released: another's drain stays",
     LKS_CHANGE_HALTED,
     {MEMBER_IS("n1", HANDS),
      R(DRAINED, drained, .node = T("n1"), .owner = T("kim"), .reason = T("mine"))},
     N1(.again = false),
     RELEASED},
    {"released although the change is over",
     LKS_CHANGE_ABORTED,
     {MEMBER_IS("n1", FENCED), DRAIN},
     N1(.again = false),
     "undrained node=n1 owner=change:1 reason=so it is\n" RELEASED},
    {"one that went back counts no longer as failed",
     LKS_CHANGE_HALTED,
     {MEMBER_IS("n1", REVERTED)},
     N1(.again = false),
     RELEASED},
    {"tried again, from where it leaves use",
     LKS_CHANGE_RUNNING,
     {MEMBER_IS("n1", FENCED), DRAIN, CHANGES},
     N1(.again = true),
     "member change=1 node=n1 state=waiting step=1 attempt=1 failure=none text=tried again by "
     "user:ann: so it is reached=3\n"},
    {"released: nobody is told any more that it is kept",
     LKS_CHANGE_HALTED,
     {MEMBER_IS("n1", HANDS), ALARM_IS(1, CHANGE, "n1"), ALARM_IS(2, HANDS, "n1"),
      ALARM_IS(3, CHANGE, "change:1")},
     N1(.again = false),
     RELEASED ALARM_OVER("1") ALARM_OVER("2")},
    {"tried again: the same",
     LKS_CHANGE_RUNNING,
     {MEMBER_IS("n1", FENCED), ALARM_IS(1, CHANGE, "n1"), ALARM_IS(2, CHANGE, "n2")},
     N1(.again = true),
     "member change=1 node=n1 state=waiting step=1 attempt=1 failure=none text=tried again by "
     "user:ann: so it is reached=3\n" ALARM_OVER("1")},
    {"the last that a change kept which is over",
     LKS_CHANGE_ROLLED_BACK,
     {MEMBER_IS("n1", FENCED), ALARM_IS(1, CHANGE, "change:1")},
     N1(.again = false),
     RELEASED ALARM_OVER("1")},
    {"not the last",
     LKS_CHANGE_ROLLED_BACK,
     {MEMBER_IS("n1", FENCED), MEMBER_IS("n2", UNKNOWN), ALARM_IS(1, CHANGE, "change:1")},
     N1(.again = false),
     RELEASED},
    {"not again when it is over",
     LKS_CHANGE_ABORTED,
     {MEMBER_IS("n1", FENCED)},
     N1(.again = true),
     "refused: change 1 is aborted: release them as they are (--as-is), and propose another change "
     "for them"},
    {"not again while it is halted",
     LKS_CHANGE_HALTED,
     {MEMBER_IS("n1", FENCED)},
     N1(.again = true),
     "refused: change 1 is halted: nodes are tried again while it is running"},
    {"later, while as many are under way as its wave is wide",
     LKS_CHANGE_RUNNING,
     {MEMBER_IS("n2", FENCED), MEMBER_IS("n3", ASKED)},
     {.name = T("n2"), BY("user:ann"), .member = {.change = 1, .again = true}},
     "member change=1 node=n2 state=fenced step=2 until=1000000 failure=none text=is tried again "
     "when there is room in its wave: by user:ann: so it is\n"},
    {"others later than that",
     LKS_CHANGE_RUNNING,
     {MEMBER_IS("n2", FENCED), MEMBER_IS("n3", FENCED)},
     {.name = T("n[2-3]"), BY("user:ann"), .member = {.change = 1, .again = true}},
     "member change=1 node=n2 state=waiting step=1 attempt=1 failure=none text=tried again by "
     "user:ann: so it is reached=3\nmember change=1 node=n3 state=fenced step=2 until=1000000 "
     "failure=none text=is tried again when there is room in its wave: by user:ann: so it is\n"},
    {"not again while all is frozen",
     LKS_CHANGE_RUNNING,
     {MEMBER_IS("n1", FENCED), R(FROZEN, frozen, .on = true)},
     N1(.again = true),
     "refused: n1 is frozen: no further node is changed there"},
    {"not again while acts wait",
     LKS_CHANGE_RUNNING,
     {MEMBER_IS("n1", FENCED), R(MASS, mass, .pool = T("train"), .alarm = 3)},
     N1(.again = true),
     "refused: so many nodes of the pool of n1 turned at once that acts wait: release that alarm "
     "first"},
    {"not while an update is under way",
     LKS_CHANGE_RUNNING,
     {MEMBER_IS("n1", FENCED), R(FLASH, flash, .id = 1, .node = T("n1"))},
     N1(.again = false),
     "refused: an update is in progress on n1: wait for its end"},
    {"not while nobody knows what an update left",
     LKS_CHANGE_RUNNING,
     {MEMBER_IS("n1", UNKNOWN), R(FLASH, flash, .id = 1, .node = T("n1")),
      R(FLASH_ENDED, flash_ended, .id = 1, .node = T("n1"), .outcome = LKS_BMC_UNKNOWN)},
     N1(.again = false),
     "refused: the outcome of an update is unknown on n1: inspect it, and resolve that first"},
    {"one that is under way",
     LKS_CHANGE_RUNNING,
     {MEMBER_IS("n1", ASKED)},
     N1(.again = false),
     "refused: n1 is asked in change 1, and not one that failed"},
    {"one that is done",
     LKS_CHANGE_RUNNING,
     {MEMBER_IS("n1", DONE)},
     N1(.again = true),
     "refused: n1 is done in change 1, and not one that failed"},
    {"one that is in no such change",
     LKS_CHANGE_RUNNING,
     {{0}},
     {.name = T("n4"), BY("user:ann"), .member = {.change = 1}},
     "not-found: n4 is not in change 1"},
    {"all of them or none",
     LKS_CHANGE_HALTED,
     {MEMBER_IS("n1", FENCED)},
     {.name = T("n[1-2]"), BY("user:ann"), .member = {.change = 1}},
     "refused: n2 is pending in change 1, and not one that failed"},
    {"nobody's node",
     LKS_CHANGE_RUNNING,
     {{0}},
     {.name = T("x9"), BY("user:ann"), .member = {.change = 1}},
     "not-found: no node 'x9' in the fleet"},
    {"without a reason",
     LKS_CHANGE_RUNNING,
     {MEMBER_IS("n1", FENCED)},
     {.name = T("n1"), NO_REASON("user:ann"), .member = {.change = 1}},
     "invalid: give a reason; it is kept in the journal"},
    {"no such change",
     LKS_CHANGE_RUNNING,
     {{0}},
     {.name = T("n1"), BY("user:ann"), .member = {.change = 4}},
     "not-found: there is no change 4"},
};

static void test_members(void)
{
    for (size_t i = 0; i < LKS_COUNT(members); i++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        struct lks_event event = members[i].event;
        lks_test_case("%s", members[i].name);
        event.kind = LKS_EVENT_MEMBER_MOVE;
        begin(&a);
        be(&a, members[i].state);
        for (size_t j = 0; j < LKS_COUNT(members[i].then) && members[i].then[j].kind != 0; j++)
            lks_asked_apply(&a, &members[i].then[j]);
        CHECK_STR(lks_asked(&a, &event), members[i].told);
    }
}

/* Two changes on one node are not tried at once. */
static void test_other_change(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    static const struct lks_record then[] = {
        MEMBER_IS("n1", REVERTED),
        R(CHANGE, change, .id = 2),
        R(PLAN_STEP, plan_step, .change = 2),
        R(PLAN_WAVE, plan_wave, .change = 2),
        R(PLAN_PART, plan_part, .change = 2, .hosts = T("n1")),
        R(MEMBER, member, .change = 2, .node = T("n1"), .state = LKS_MEMBER_WAITING),
    };
    struct lks_event event = N1(.again = true);
    event.kind = LKS_EVENT_MEMBER_MOVE;
    begin(&a);
    be(&a, LKS_CHANGE_RUNNING);
    for (size_t i = 0; i < LKS_COUNT(then); i++)
        lks_asked_apply(&a, &then[i]);
    CHECK_STR(lks_asked(&a, &event), "refused: change 2 is in progress on n1");
}

/* A member of a domain does not return while the others of it are in the middle. */
static void test_domain_member(void)
{
    static const struct {
        const char *name, *other, *told;
        enum lks_member_state is;
    } rows[] = {
        {"beside one that is under way", "n7",
         "refused: n6 returns with domain rack1, or not before its other members finish: 1 "
         "member of it is in progress",
         LKS_MEMBER_ASKED},
        {"beside one that went back", "n7", "member change=2 node=n6 state=skipped",
         LKS_MEMBER_REVERTED},
        {"beside one that did not begin", "n7", "member change=2 node=n6 state=skipped",
         LKS_MEMBER_PENDING},
    };
    static const struct lks_record domain[] = {
        R(CHANGE, change, .id = 2, .hosts = T("n[6-7]"), .stack = T("s2"), .name = T("gold"),
          .by = T("user:kim"), .reason = T("new")),
        R(PLAN_STEP, plan_step, .change = 2, .kind = LKS_DO_LEAVE),
        R(PLAN_WAVE, plan_wave, .change = 2, .kind = LKS_WAVE_CANARY, .width = 1),
        R(PLAN_PART, plan_part, .change = 2, .hosts = T("n[6-7]"), .domain = T("rack1")),
        R(CHANGE_MOVED, change_moved, .change = 2, .state = LKS_CHANGE_HALTED),
        R(MEMBER, member, .change = 2, .node = T("n6"), .state = LKS_MEMBER_UNKNOWN),
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        const struct lks_record other = R(MEMBER, member, .change = 2,
                                          .node = lks_str_from(rows[i].other), .state = rows[i].is);
        const struct lks_event event = {.kind = LKS_EVENT_MEMBER_MOVE,
                                        BY("user:ann"),
                                        .name = T("n6"),
                                        .member = {.change = 2}};
        lks_test_case("%s", rows[i].name);
        begin(&a);
        lks_fleet_place(&a, "n[6-7]", "train");
        for (size_t r = 0; r < LKS_COUNT(domain); r++)
            lks_asked_apply(&a, &domain[r]);
        lks_asked_apply(&a, &other);
        CHECK_HAS(lks_asked(&a, &event), rows[i].told);
    }
}

/* Freezing ---------------------------------------------------------------------------------- */

static void test_freeze(void)
{
    static const struct {
        const char *name;
        struct lks_event event;
        const char *told;
    } rows[] = {
        {"no such pool",
         {BY("user:ann"), .freeze = {.pool = T("trian"), .on = true}},
         "not-found: no pool 'trian' in the fleet; did you mean 'train'?"},
        {"without a reason",
         {NO_REASON("user:ann"), .freeze = {.on = true}},
         "invalid: give a reason; it is kept in the journal"},
        {"a pool",
         {BY("user:ann"), .freeze = {.pool = T("train"), .on = true}},
         "frozen pool=train on=1 by=user:ann reason=so it is\n"},
        {"again", {BY("user:lee"), .freeze = {.pool = T("train"), .on = true}}, ""},
        {"everything",
         {BY("user:ann"), .freeze = {.on = true}},
         "frozen on=1 by=user:ann reason=so it is\n"},
        {"the pool may again",
         {BY("user:lee"), .freeze = {.pool = T("train")}},
         "frozen pool=train by=user:lee reason=so it is\n"},
        {"so may everything",
         {BY("user:lee"), .freeze = {.on = false}},
         "frozen by=user:lee reason=so it is\n"},
        {"which nothing keeps from it",
         {BY("user:lee"), .freeze = {.on = false}},
         "refused: nothing is frozen: neither the fleet nor a pool"},
    };
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    begin(&a);
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct lks_event event = rows[i].event;
        lks_test_case("%s", rows[i].name);
        event.kind = LKS_EVENT_FREEZE;
        CHECK_STR(lks_asked(&a, &event), rows[i].told);
    }
}

/* Whatever there is ------------------------------------------------------------------------- */

static struct lks_event any_event(struct lks_rng *rng, const struct lks_state *s)
{
    static const enum lks_event_kind kinds[] = {
        LKS_EVENT_TICK,        LKS_EVENT_TICK,        LKS_EVENT_VOTE,
        LKS_EVENT_CHANGE_MOVE, LKS_EVENT_MEMBER_MOVE, LKS_EVENT_FREEZE,
        LKS_EVENT_SCHED,       LKS_EVENT_PROPOSE,     LKS_EVENT_REVIEW};
    uint64_t newest = s->change_count == 0 ? 1 : s->changes[s->change_count - 1].id;
    struct lks_event e = {.kind = kinds[lks_rng_below(rng, LKS_COUNT(kinds))], BY("user:ann")};
    if (e.kind == LKS_EVENT_VOTE) {
        e.vote.change = newest;
        e.vote.yes = lks_rng_percent(rng, 80);
        e.vote.withdrawn = lks_rng_percent(rng, 10);
    } else if (e.kind == LKS_EVENT_REVIEW) {
        e.review = newest;
    } else if (e.kind == LKS_EVENT_CHANGE_MOVE) {
        e.move.change = newest;
        e.move.order = (enum lks_change_order_word)lks_rng_below(rng, LKS_ORDERED_COUNT);
        e.move.glass = lks_rng_percent(rng, 50);
    } else if (e.kind == LKS_EVENT_MEMBER_MOVE) {
        e.name = LKS_STR("n1");
        e.member.change = newest;
        e.member.again = lks_rng_percent(rng, 50);
    } else if (e.kind == LKS_EVENT_FREEZE) {
        e.freeze.on = lks_rng_percent(rng, 30);
    } else if (e.kind == LKS_EVENT_SCHED) {
        e.node = (uint32_t)lks_rng_below(rng, s->node_count + 1);
        e.sched.drained = true;
        e.sched.owner = LKS_STR("change:1");
    } else if (e.kind == LKS_EVENT_PROPOSE) {
        e.propose.wish.hosts = LKS_STR("n[1-4]");
        e.propose.wish.stack = LKS_STR("s1");
    }
    return e;
}

/* In any state there is an answer, and ticks come to an end. */
static void test_anything(void)
{
    enum { SEEDS = 20, STEPS = 800, TICKS = 200 };
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        struct lks_rng rng = {seed * 7};
        lks_asked_init(&a);
        for (unsigned i = 1; i <= STEPS; i++) {
            struct lks_record r = lks_test_any_record(&rng, &a.state);
            lks_test_case("seed %d, step %u: %s", (int)seed, i, lks_record_info(r.kind)->word);
            if (r.kind != LKS_RECORD_LIMITS) /* a heartbeat every 0 ms is refused elsewhere */
                lks_asked_apply(&a, &r);
            lks_fleet_wait(&a, lks_rng_below(&rng, 3000));
            if (lks_rng_percent(&rng, 70))
                continue;
            const struct lks_event event = any_event(&rng, &a.state);
            if (event.kind == LKS_EVENT_TICK)
                lks_decide_settle(&a.state, a.now);
            (void)lks_asked(&a, &event);
            unsigned ticks = 0;
            while (lks_decide_next(&a.state) <= a.now.mono && ticks++ < TICKS)
                (void)lks_fleet_tick(&a);
            if (!CHECK(ticks < TICKS))
                return;
        }
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"changes: proposals that are refused", test_propose_refused},
        {"changes: proposed", test_propose},
        {"changes: the stacks of one that is not over", test_stack_stays},
        {"changes: not too many at a time", test_propose_limit},
        {"changes: not too many of one person", test_propose_own_limit},
        {"changes: every order in every state", test_moves},
        {"changes: why an order means nothing", test_refused},
        {"changes: when its time is over", test_late},
        {"changes: members that failed", test_members},
        {"changes: a member of a domain", test_domain_member},
        {"changes: members of two changes", test_other_change},
        {"changes: frozen", test_freeze},
        {"changes: in any state", test_anything},
        {0},
    });
}
