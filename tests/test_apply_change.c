/* What records of changes leave in the state, as columns of the tables that they set, and what
 * follows for nodes. */

#include "core/campaign/state_apply.h"
#include "core/entity/entity.h"
#include "core/rows/change.h"
#include "core/rows/node.h"
#include "core/rows/pool.h"
#include "core/state/lookup.h"
#include "core/state/mass.h"
#include "tests/asked.h"
#include "tests/list_state.h"
#include "tests/reload.h"
#include "tests/test.h"

#include <stdio.h>

enum { TEXT_MAX = 1 << 20, THEN_MAX = 16 };

#define T LKS_STR_C
#define R(KIND, member, ...)                                                                       \
    {                                                                                              \
        .kind = LKS_RECORD_##KIND, .member = { __VA_ARGS__ }                                       \
    }
#define MEMBER_OF(name, is, ...)                                                                   \
    R(MEMBER, member, .change = 7, .node = T(name), .state = LKS_MEMBER_##is, __VA_ARGS__)
#define IS(name, is) MEMBER_OF(name, is, .attempt = 0)
#define MOVED(is)    MOVED_TO(is, .by = T(""))
#define PART_OF(...) R(PLAN_PART, plan_part, .change = 7, __VA_ARGS__)
#define MOVED_TO(is, ...)                                                                          \
    R(CHANGE_MOVED, change_moved, .change = 7, .state = LKS_CHANGE_##is, __VA_ARGS__)
#define METRIC_OF(...) R(PLAN_METRIC, plan_metric, .change = 7, __VA_ARGS__)
#define MEASURED_OF(name, of, was, is)                                                             \
    R(MEASURED, measured, .change = 7, .wave = (of), .node = T(name), .metric = T("a"),            \
      .before = was, .after = is)
#define LOOKED_OF(of, number, says, why)                                                           \
    R(GATE_LOOKED, gate_looked, .change = 7, .metric = of, .look = (number),                       \
      .verdict = LKS_GATE_##says, .text = why)
#define STEP_OF(...) R(PLAN_STEP, plan_step, .change = 7, __VA_ARGS__)

/* Where every row begins, at time 0: n1 and n2 in pool "train", n3 in "lab", shelf an asset; change
 * 7 to stack "s2" with one list of three steps and two waves; n1 is in the first. */
static const struct lks_record first[] = {
    R(POOL, pool, .name = T("train"), .stack_digest = T("s1"), .sweep = 1),
    R(POOL, pool, .name = T("lab"), .stack_digest = T("s1"), .sweep = 1),
    R(PLACED, placed, .hosts = T("n[1-2]"), .pool = T("train")),
    R(PLACED, placed, .hosts = T("n3"), .pool = T("lab"), .domain = T("r1")),
    R(PLACED, placed, .hosts = T("shelf"), .asset = T("power-shelf"), .domain = T("r1")),
    R(CHANGE, change, .id = 7, .hosts = T("n[1-9]"), .stack = T("s2"), .name = T("gold"),
      .by = T("kim"), .reason = T("new")),
    STEP_OF(.kind = LKS_DO_STAGE, .component = T("bmc")),
    STEP_OF(.index = 1, .kind = LKS_DO_LEAVE),
    STEP_OF(.index = 2, .kind = LKS_DO_RETURN),
    R(PLAN_WAVE, plan_wave, .change = 7, .kind = LKS_WAVE_CANARY, .width = 1),
    R(PLAN_WAVE, plan_wave, .change = 7, .index = 1, .kind = LKS_WAVE_RING, .width = 9),
    PART_OF(.hosts = T("n1"), .from = T("s1")),
};

static void apply(struct lks_state *s, lks_ms time, const struct lks_record *r)
{
    struct lks_err err = {0};
    CHECK_CODE(lks_state_apply(s, s->seq + 1, time, r, &err), LKS_OK);
}

static void begin(struct lks_state *s)
{
    struct lks_err err = {0};
    CHECK_CODE(lks_state_init(s, 1, &err), LKS_OK);
    for (size_t j = 0; j < LKS_COUNT(first); j++)
        apply(s, 0, &first[j]);
}

/* What the tables have -------------------------------------------------------------------- */

/* Records are a second apart from second 1 on, and at the end these tables are listed so. */
static const struct {
    const char *name;
    struct lks_record then[THEN_MAX];
    const char *tables;
    const char *listed;
} rows[] = {
    {"a change as it was proposed",
     {{0}},
     "change unit member",
     "change[0] id=7 hosts=n[1-9] stack=s2 name=gold by=kim reason=new quorum=1 states[0]=1\n"
     "change[0].unit[0] count=1\n"
     "change[0].member[0] node=n1 from=s1\n"},
    {"a number that was there before",
     {R(CHANGE, change, .id = 7, .name = T("other")), R(CHANGE, change, .id = 3),
      R(CHANGE, change, .id = UINT64_MAX)},
     "change",
     "change[0] id=7 hosts=n[1-9] stack=s2 name=gold by=kim reason=new quorum=1 states[0]=1\n"},
    {"a kind that is none",
     {R(CHANGE, change, .id = 9, .kind = 99)},
     "change",
     "change[0] id=7 hosts=n[1-9] stack=s2 name=gold by=kim reason=new quorum=1 states[0]=1\n"},
    {"steps come in their order",
     {STEP_OF(.index = 3, .kind = LKS_DO_CHECK, .rank = 4, .layer = 5, .limit = 6, .retries = 7),
      STEP_OF(.index = 9, .kind = LKS_DO_CHECK), STEP_OF(.index = 1, .kind = LKS_DO_CHECK),
      STEP_OF(.recipe = 1, .kind = LKS_DO_FLASH, .version = T("2"), .before = T("1"),
              .bundle = T("b"), .image = T("i"), .revert = LKS_BMC_SWITCH, .one_way = true)},
     "step",
     "change[0].recipe[0].step[0] component=bmc\n"
     "change[0].recipe[0].step[1] kind=leave\n"
     "change[0].recipe[0].step[2] kind=return\n"
     "change[0].recipe[0].step[3] kind=check rank=4 layer=5 retries=7 limit=6\n"
     "change[0].recipe[1].step[0] kind=flash version=2 before=1 bundle=b image=i revert=switch "
     "one_way=1\n"},
    {"waves, too",
     {R(PLAN_WAVE, plan_wave, .change = 7, .index = 2, .kind = LKS_WAVE_RING, .pool = T("train"),
        .width = 3, .soak = 4, .failures_max = 5, .controls = T("n3")),
      R(PLAN_WAVE, plan_wave, .change = 7, .index = 2), R(PLAN_WAVE, plan_wave, .change = 8)},
     "wave",
     "change[0].wave[0] kind=canary width=1 first_unit=1 last_unit=1 next=1 members[0]=1\n"
     "change[0].wave[1] kind=ring width=9\n"
     "change[0].wave[2] kind=ring pool=train controls=n3 width=3 failures_max=5 soak=4\n"},
    {"parts of what the plan has",
     {PART_OF(.wave = 2, .hosts = T("n2")), PART_OF(.recipe = 1, .hosts = T("n2")),
      PART_OF(.wave = 1, .hosts = T("n1,n2"), .proves = true)},
     "unit member",
     "change[0].unit[0] count=1\n"
     "change[0].unit[1] wave=1 first=1 count=1\n"
     "change[0].member[0] node=n1 from=s1\n"
     "change[0].member[1] node=n2 unit=1 proves=1\n"},
    {"hosts keep their order, those of a domain are next to each other",
     {PART_OF(.wave = 1, .hosts = T("n3"), .domain = T("r1")),
      PART_OF(.wave = 1, .hosts = T("n9,n2")),
      PART_OF(.wave = 1, .hosts = T("shelf"), .domain = T("r1"))},
     "unit member",
     "change[0].unit[0] count=1\n"
     "change[0].unit[1] domain=r1 wave=1 first=1 count=2 next=3\n"
     "change[0].unit[2] wave=1 first=3 count=1 next=4\n"
     "change[0].unit[3] wave=1 first=4 count=1\n"
     "change[0].member[0] node=n1 from=s1\n"
     "change[0].member[1] node=n3 unit=1\n"
     "change[0].member[2] node=shelf unit=1\n"
     "change[0].member[3] node=n9 unit=2\n"
     "change[0].member[4] node=n2 unit=3\n"},
    {"orders are sorted, and each is there once",
     {R(PLAN_ORDER, plan_order, .change = 7, .digest = T("d2"), .text = T("two")),
      R(PLAN_ORDER, plan_order, .change = 7, .digest = T("d1"), .text = T("one")),
      R(PLAN_ORDER, plan_order, .change = 7, .digest = T("d2"), .text = T("other")),
      R(PLAN_ORDER, plan_order, .change = 7, .text = T("none"))},
     "order",
     "change[0].order[0] digest=d1 text=one\n"
     "change[0].order[1] digest=d2 text=two\n"},
    {"notes",
     {R(PLAN_NOTE, plan_note, .change = 7, .kind = LKS_PLAN_WARNING, .text = T("w")),
      R(PLAN_NOTE, plan_note, .change = 7, .kind = 99)},
     "note",
     "change[0].note[0] kind=warning text=w\n"},
    {"votes, and where it went",
     {R(CHANGE_VOTED, change_voted, .change = 7, .yes = true, .by = T("ann")),
      MOVED_TO(APPROVED, .by = T("ann")), MOVED_TO(RUNNING, .by = T("lee"), .starts = true),
      MOVED(PAUSED), MOVED_TO(RUNNING, .by = T("kim"), .reason = T("on"))},
     "vote change",
     "change[0] id=7 state=running hosts=n[1-9] stack=s2 name=gold by=kim reason=new quorum=1 "
     "started=3000 moved=5000 started_by=lee moved_by=kim moved_reason=on states[0]=1\n"
     "change[0].vote[0] yes=1 by=ann at=1000\n"},
    {"what is over stays over",
     {MOVED_TO(REJECTED, .by = T("ann")), MOVED(RUNNING)},
     "change",
     "change[0] id=7 state=rejected hosts=n[1-9] stack=s2 name=gold by=kim reason=new quorum=1 "
     "moved=1000 moved_by=ann states[0]=1\n"},
    {"a wave",
     {R(WAVE, wave, .change = 7, .state = LKS_WAVE_BEGUN),
      R(WAVE, wave, .change = 7, .state = LKS_WAVE_SOAKS, .until = 9000, .text = T("t")),
      R(WAVE, wave, .change = 7, .index = 2, .state = LKS_WAVE_BEGUN)},
     "wave",
     "change[0].wave[0] kind=canary state=soaks text=t width=1 until=9000 since=2000 "
     "first_unit=1 last_unit=1 next=1 members[0]=1\n"
     "change[0].wave[1] kind=ring width=9\n"},
    {"a member that was staged",
     {MEMBER_OF("n1", ASKED, .work = 3), MEMBER_OF("n1", PENDING, .step = 1)},
     "member",
     "change[0].member[0] node=n1 from=s1 step=1 since=2000\n"},
    {"a member that began, and is where it is since then",
     {MEMBER_OF("n1", WAITING, .step = 1, .text = T("a")),
      MEMBER_OF("n1", ASKED, .step = 1, .attempt = 1, .work = 3, .until = 50000),
      MEMBER_OF("n1", ASKED, .step = 1, .attempt = 2, .work = 4, .text = T("b"))},
     "member",
     "change[0].member[0] node=n1 from=s1 state=asked step=1 attempt=2 since=3000 begun=1000 "
     "work=4 text=b\n"},
    {"a member on its way back",
     {MEMBER_OF("n1", WAITING, .step = 1), MEMBER_OF("n1", WAITING, .step = 2, .back = true),
      MEMBER_OF("n1", ASKED, .step = 2, .back = true, .failure = LKS_FAILURE_STEP)},
     "member",
     "change[0].member[0] node=n1 from=s1 state=asked step=2 back=1 since=3000 begun=1000 "
     "turned=2000 failure=step\n"},
    {"a member that nobody has",
     {IS("n2", WAITING), IS("n1", STATE_COUNT), IS("nobody", DONE),
      R(MEMBER, member, .change = 8, .node = T("n1"), .state = LKS_MEMBER_DONE)},
     "member",
     "change[0].member[0] node=n1 from=s1\n"},
    {"ways back, sorted, the last time each was gone",
     {R(REVERT_PROVEN, revert_proven, .class = T("h"), .from = T("a"), .to = T("b"), .took = 1),
      R(REVERT_PROVEN, revert_proven, .class = T("g"), .from = T("a"), .to = T("b"), .change = 7,
        .took = 5, .node = T("n1")),
      R(REVERT_PROVEN, revert_proven, .class = T("h"), .from = T("a"), .to = T("b"), .took = 2)},
     "proven",
     "proven[0] class=g from=a to=b node=n1 change=7 took=5 at=2000\n"
     "proven[1] class=h from=a to=b took=2 at=3000\n"},
    {"metrics and gates, of numbers that are some",
     {METRIC_OF(.name = T("a"), .pools = T("train"), .margin = T("1.50"), .alpha = T("0.05")),
      METRIC_OF(.name = T("b"), .kind = LKS_METRIC_RATE, .unit = LKS_UNIT_DOMAIN,
                .normal = T("0.001")),
      METRIC_OF(.name = T("")), METRIC_OF(.name = T("c"), .margin = T("x")),
      METRIC_OF(.name = T("c"), .kind = 9), METRIC_OF(.name = T("c"), .sigma = T("1e999")),
      R(PLAN_GATE, plan_gate, .change = 7, .pool = T("train"), .min_load = 5, .min_soak = 6,
        .max_soak = 7, .loss_budget = 8, .reference_load = T("burn"))},
     "metric gate",
     "change[0].metric[0] name=a pools=train margin=1.5 alpha=0.05\n"
     "change[0].metric[1] name=b kind=rate unit=domain normal=0.001\n"
     "change[0].gate[0] pool=train reference_load=burn min_load=5 min_soak=6 max_soak=7 "
     "loss_budget=8\n"},
    {"of what was measured the newest counts, by wave, node and metric",
     {METRIC_OF(.name = T("a")), MEASURED_OF("n1", 0, T("2"), T("3")),
      MEASURED_OF("n1", 1, T("4"), T("")), MEASURED_OF("n2", 0, T("x"), T("5e1")),
      MEASURED_OF("n1", 0, T("2"), T("3.5")), MEASURED_OF("n1", 2, T("1"), T("1")),
      R(MEASURED, measured, .change = 7, .node = T("n1"), .metric = T("none"), .after = T("1"))},
     "measure",
     "change[0].measure[0] node=n1 metric=a has_before=1 has_after=1 before=2 after=3.5 at=5000 "
     "next=2\n"
     "change[0].measure[1] node=n1 wave=1 metric=a has_before=1 before=4 at=3000\n"
     "change[0].measure[2] node=n2 metric=a has_after=1 after=50 at=4000\n"},
    {"what gates said last, and how many may begin",
     {METRIC_OF(.name = T("a")), LOOKED_OF(T("a"), 1, EXTEND, T("not yet")),
      LOOKED_OF(T(""), 1, HOLD, T("h")), LOOKED_OF(T("a"), 2, HALT, T("worse")),
      LOOKED_OF(T("none"), 1, PASS, T("")),
      R(WAVE_LIMIT, wave_limit, .change = 7, .wave = 1, .limit = 3, .text = T("l")),
      R(WAVE_LIMIT, wave_limit, .change = 7, .wave = 9, .limit = 3)},
     "look wave",
     "change[0].wave[0] kind=canary width=1 first_unit=1 last_unit=1 next=1 members[0]=1\n"
     "change[0].wave[1] kind=ring width=9 limit=3 limit_text=l\n"
     "change[0].look[0] metric=a look=2 verdict=halt text=worse at=4000\n"
     "change[0].look[1] look=1 verdict=hold text=h at=3000\n"},
    {"the last forecast, and none that rests on nothing",
     {R(FORECAST, forecast, .change = 7, .runs = 1, .took_low = 9),
      R(FORECAST, forecast, .change = 7, .runs = 2, .took_high = 5, .by = T("kim")),
      R(FORECAST, forecast, .change = 7, .took_low = 7),
      R(FORECAST, forecast, .change = 9, .runs = 1)},
     "change",
     "change[0] id=7 hosts=n[1-9] stack=s2 name=gold by=kim reason=new quorum=1 forecast_runs=2 "
     "forecast_took[2]=5 forecast_at=2000 forecast_by=kim states[0]=1\n"},
    {"frozen, and what it was thawed of",
     {R(FROZEN, frozen, .pool = T("train"), .on = true, .by = T("kim"), .reason = T("r")),
      R(FROZEN, frozen, .on = true, .by = T("kim")), R(FROZEN, frozen, .by = T("ann")),
      R(FROZEN, frozen, .pool = T("none"), .on = true)},
     "journal pool",
     "journal seq=17 clock=32000 heartbeat=10000 late=30000 lost=120000 mass_floor=10 "
     "mass_percent=2 mass_window=300000 skew=5000 call_nodes=10 validity=60000 staleness=5000 "
     "outband_age=604800000 proposal_age=1209600000 placed_count=3 liveness[0]=3 next_alarm=1 "
     "next_command=1 next_deviation=1 next_flash=1 next_change=8 changes_open=1 "
     "deviations_due=18446744073709551615\n"
     "pool train name=train stack_digest=s1 sweep=1 frozen=1 frozen_by=kim frozen_reason=r "
     "frozen_since=1000 nodes=2 liveness[0]=2\n"
     "pool lab name=lab stack_digest=s1 sweep=1 nodes=1 liveness[0]=1\n"},
};

static void check_fold(const struct lks_state *s)
{
    LKS_CLEANUP(lks_state_fini) struct lks_state anew = {0};
    lks_test_reload(s, &anew);
}

static void test_rows(void)
{
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_state_fini) struct lks_state s = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_MAX);
        lks_test_case("%s", rows[i].name);
        lks_buf_add(&text, LKS_STR(""));
        begin(&s);
        for (size_t j = 0; j < THEN_MAX && rows[i].then[j].kind != 0; j++)
            apply(&s, (j + 1) * LKS_SECOND, &rows[i].then[j]);
        apply(&s, (lks_ms)THEN_MAX * 2 * LKS_SECOND,
              &(struct lks_record){.kind = LKS_RECORD_STARTED});
        lks_list_state(&s, rows[i].tables, &text);
        CHECK_STR(lks_buf_view(&text), rows[i].listed);
        check_fold(&s);
    }
}

/* What follows for the node ------------------------------------------------------------------ */

/* Another change, with n1 in it: the eighth to a stack of its own, the ninth to that of the first.
 */
#define ANOTHER(number, to)                                                                        \
    R(CHANGE, change, .id = (number), .stack = T(to)),                                             \
        R(PLAN_WAVE, plan_wave, .change = (number), .kind = LKS_WAVE_RING),                        \
        R(PLAN_STEP, plan_step, .change = (number), .kind = LKS_DO_LEAVE),                         \
        R(PLAN_PART, plan_part, .change = (number), .hosts = T("n1"))
#define IS_OF(number, is)                                                                          \
    R(MEMBER, member, .change = (number), .node = T("n1"), .state = LKS_MEMBER_##is)
#define MOVED_OF(number, is)                                                                       \
    R(CHANGE_MOVED, change_moved, .change = (number), .state = LKS_CHANGE_##is)
#define EIGHTH ANOTHER(8, "s3")
#define NINTH  ANOTHER(9, "s2")

/* n1 as a member, and which change has it, what it should run, and whether that change is under way
 * on it. */
static const struct {
    const char *name;
    struct lks_record then[THEN_MAX];
    unsigned change;
    const char *intent;
    bool changing;
} bound[] = {
    {"nothing happened yet", {{0}}, 0, "s1", false},
    {"it waits", {MEMBER_OF("n1", WAITING, .step = 1)}, 7, "s1", true},
    {"it is staged", {IS("n1", ASKED)}, 7, "s1", true},
    {"it was staged", {IS("n1", ASKED), IS("n1", PENDING)}, 0, "s1", false},
    {"it is on its way",
     {MEMBER_OF("n1", ASKED, .step = 1),
      R(CONDITION, condition, .node = T("n1"), .condition = LKS_CONDITION_CHANGING, .on = true,
        .stack = T("s2"))},
     7,
     "s2",
     true},
    {"it is there", {IS("n1", DONE)}, 0, "s2", false},
    {"it is there, and goes back",
     {IS("n1", DONE), MEMBER_OF("n1", WAITING, .back = true)},
     7,
     "s1",
     true},
    {"it went back", {IS("n1", DONE), IS("n1", REVERTED)}, 0, "s1", false},
    {"it was fenced", {IS("n1", FENCED)}, 7, "s1", false},
    {"it needs hands", {IS("n1", HANDS)}, 7, "s1", false},
    {"nobody can tell", {IS("n1", UNKNOWN)}, 7, "s1", false},
    {"it was left alone", {IS("n1", ASKED), IS("n1", SKIPPED)}, 0, "s1", false},
    {"it is there, and all of it is over", {IS("n1", DONE), MOVED(ABORTED)}, 0, "s1", false},
    {"fenced, and all of it is over", {IS("n1", FENCED), MOVED(DONE)}, 7, "s1", false},
    {"removed in between, and placed again",
     {IS("n1", WAITING), R(REMOVED, removed, .hosts = T("n1")),
      R(PLACED, placed, .hosts = T("n1"), .pool = T("train"))},
     7,
     "s1",
     true},
    {"two changes: the first that holds it has it",
     {R(CHANGE, change, .id = 8, .stack = T("s3")),
      R(PLAN_WAVE, plan_wave, .change = 8, .kind = LKS_WAVE_RING),
      R(PLAN_STEP, plan_step, .change = 8, .kind = LKS_DO_LEAVE),
      R(PLAN_PART, plan_part, .change = 8, .hosts = T("n1")),
      R(MEMBER, member, .change = 8, .node = T("n1"), .state = LKS_MEMBER_WAITING),
      IS("n1", WAITING), IS("n1", DONE)},
     8,
     "s2",
     true},
    {"two changes: where the last one brought it",
     {R(CHANGE, change, .id = 8, .stack = T("s3")),
      R(PLAN_WAVE, plan_wave, .change = 8, .kind = LKS_WAVE_RING),
      R(PLAN_STEP, plan_step, .change = 8, .kind = LKS_DO_LEAVE),
      R(PLAN_PART, plan_part, .change = 8, .hosts = T("n1")),
      R(MEMBER, member, .change = 8, .node = T("n1"), .state = LKS_MEMBER_DONE), IS("n1", DONE)},
     0,
     "s2",
     false},
    {"two changes: the last one is over, and the first does not take it back",
     {EIGHTH, IS("n1", DONE), IS_OF(8, DONE), MOVED_OF(8, DONE)},
     0,
     "s1",
     false},
    {"two changes: the last one was aborted",
     {EIGHTH, IS("n1", DONE), IS_OF(8, DONE), MOVED_OF(8, ABORTED)},
     0,
     "s1",
     false},
    {"two changes: the last one went back to where the first brought it",
     {EIGHTH, IS("n1", DONE), IS_OF(8, DONE), IS_OF(8, REVERTED), MOVED_OF(8, ROLLED_BACK)},
     0,
     "s2",
     false},
    {"three changes: the last brought it back to where the first did",
     {EIGHTH, NINTH, IS("n1", DONE), IS_OF(8, DONE), MOVED_OF(8, DONE), IS_OF(9, DONE),
      MOVED_OF(9, DONE)},
     0,
     "s2",
     false},
    {"two changes: the first one is over",
     {EIGHTH, IS("n1", DONE), IS_OF(8, DONE), MOVED(DONE)},
     0,
     "s3",
     false},
};

static void test_bound(void)
{
    for (size_t i = 0; i < LKS_COUNT(bound); i++) {
        LKS_CLEANUP(lks_state_fini) struct lks_state s = {0};
        lks_test_case("%s", bound[i].name);
        begin(&s);
        for (size_t j = 0; j < THEN_MAX && bound[i].then[j].kind != 0; j++)
            apply(&s, (j + 1) * LKS_SECOND, &bound[i].then[j]);
        uint32_t n = lks_state_node(&s, LKS_STR("n1"));
        CHECK_INT(s.nodes[n].change, bound[i].change);
        CHECK_STR(lks_state_text(&s, lks_state_intent(&s, n)), bound[i].intent);
        CHECK((lks_state_changing(&s, n) != NULL) == bound[i].changing);
        check_fold(&s);
    }
}

/* Looking up --------------------------------------------------------------------------------- */

static void test_lookups(void)
{
    LKS_CLEANUP(lks_state_fini) struct lks_state s = {0};
    static const struct lks_record then[] = {
        R(PLAN_ORDER, plan_order, .change = 7, .digest = T("d"), .text = T("order")),
        R(REVERT_PROVEN, revert_proven, .class = T("s1"), .from = T("gold"), .to = T("kim")),
        R(FROZEN, frozen, .pool = T("lab"), .on = true),
    };
    begin(&s);
    for (size_t i = 0; i < LKS_COUNT(then); i++)
        apply(&s, 1, &then[i]);
    CHECK(lks_state_change(&s, 6) == NULL && lks_state_change(&s, 8) == NULL);
    const struct lks_state_change *c = lks_state_change(&s, 7);
    CHECK(c != NULL && c->id == 7);
    uint32_t n1 = lks_state_node(&s, LKS_STR("n1")), n3 = lks_state_node(&s, LKS_STR("n3"));
    uint32_t shelf = lks_state_node(&s, LKS_STR("shelf"));
    CHECK(lks_state_change_member(c, n1) == &c->members[0] &&
          lks_state_change_member(c, n3) == NULL &&
          lks_state_change_member(c, LKS_NO_NODE) == NULL);
    CHECK_STR(lks_state_order(&s, LKS_STR("d")), "order");
    CHECK_INT(lks_state_order(&s, LKS_STR("e")).len, 0);
    lks_text class = s.pools[0].stack_digest; /* "s1": any text that there is */
    CHECK(lks_state_proven(&s, class, c->name, c->by) == &s.proven[0]);
    CHECK(lks_state_proven(&s, class, c->by, c->name) == NULL);
    CHECK(!lks_state_frozen(&s, n1) && lks_state_frozen(&s, n3));
    CHECK(lks_state_frozen(&s, shelf)); /* with a node of its domain */
    apply(&s, 1, &(struct lks_record)R(FROZEN, frozen, .on = true));
    CHECK(lks_state_frozen(&s, n1));
}

/* Mass --------------------------------------------------------------------------------------- */

/* What a change has is away on purpose, and differs on purpose: neither counts as a turn. */
static void test_mass(void)
{
    static const struct lks_record turns[] = {
        R(LIVENESS, liveness, .node = T("n1"), .state = LKS_LIVE),
        R(LIVENESS, liveness, .node = T("n1"), .state = LKS_LATE),
        R(DRIFT, drift, .node = T("n1"), .on = true),
    };
    static const struct lks_record waits = IS("n1", WAITING);
    for (unsigned has = 0; has < 2; has++) {
        LKS_CLEANUP(lks_state_fini) struct lks_state s = {0};
        lks_test_case(has != 0 ? "a change has it" : "no change has it");
        begin(&s);
        if (has != 0)
            apply(&s, 1, &waits);
        for (size_t i = 0; i < LKS_COUNT(turns); i++)
            apply(&s, 2, &turns[i]);
        CHECK_INT(s.mass[lks_state_pool(&s, LKS_STR("train"))].count, has != 0 ? 0 : 1);
        check_fold(&s);
    }
}

/* Room --------------------------------------------------------------------------------------- */

/* The oldest of those that are over goes, and of these rather one that keeps no node. */
static void test_room(void)
{
    LKS_CLEANUP(lks_state_fini) struct lks_state s = {0};
    static const struct lks_record fenced = IS("n1", FENCED), over = MOVED(ABORTED);
    begin(&s);
    apply(&s, 1, &fenced);
    apply(&s, 1, &over);
    for (uint64_t id = 8; id <= LKS_STATE_CHANGES_MAX + 8; id++) {
        const struct lks_record made = R(CHANGE, change, .id = id);
        const struct lks_record ends =
            R(CHANGE_MOVED, change_moved, .change = id, .state = LKS_CHANGE_DONE);
        apply(&s, id, &made);
        if (id == 9)
            apply(&s, id, &ends);
    }
    uint32_t n1 = lks_state_node(&s, LKS_STR("n1"));
    CHECK_INT(s.change_count, LKS_STATE_CHANGES_MAX);
    CHECK(lks_state_change(&s, 9) == NULL); /* nothing was lost with it */
    CHECK(lks_state_change(&s, 7) == NULL); /* then that one */
    CHECK(lks_state_change(&s, 8) != NULL);
    CHECK_INT(s.nodes[n1].change, 0);
    CHECK_INT(s.changes_open, LKS_STATE_CHANGES_MAX);
    CHECK_INT(s.next_change, LKS_STATE_CHANGES_MAX + 9);
    apply(&s, 1, &(struct lks_record)R(CHANGE, change, .id = LKS_STATE_CHANGES_MAX + 9));
    CHECK(lks_state_change(&s, 8) == NULL); /* none is over: the oldest */
    check_fold(&s);
}

/* One that is over and brought nodes further than one that is not stays rather than others that are
 * over. */
static void test_overtaken_room(void)
{
    LKS_CLEANUP(lks_state_fini) struct lks_state s = {0};
    static const struct lks_record then[] = {EIGHTH, IS("n1", DONE), IS_OF(8, DONE),
                                             MOVED_OF(8, DONE)};
    begin(&s);
    for (size_t i = 0; i < LKS_COUNT(then); i++)
        apply(&s, i + 1, &then[i]);
    for (uint64_t id = 9; id <= LKS_STATE_CHANGES_MAX + 8; id++) {
        const struct lks_record made = R(CHANGE, change, .id = id);
        const struct lks_record ends =
            R(CHANGE_MOVED, change_moved, .change = id, .state = LKS_CHANGE_DONE);
        apply(&s, id, &made);
        apply(&s, id, &ends);
    }
    CHECK(lks_state_change(&s, 7) != NULL && lks_state_change(&s, 8) != NULL);
    CHECK(lks_state_change(&s, 9) == NULL);
    CHECK_INT(s.nodes[lks_state_node(&s, LKS_STR("n1"))].pin, 0);
    check_fold(&s);
}

/* Large ones that are over: as many as are not too large together. */
static void test_members_room(void)
{
    enum { NODES = LKS_STATE_MEMBERS_MAX / 4, CHANGES = 5 };
    LKS_CLEANUP(lks_state_fini) struct lks_state s = {0};
    begin(&s);
    for (uint64_t id = 8; id < 8 + CHANGES; id++) {
        char name[16];
        snprintf(name, sizeof(name), "g%06u", (unsigned)id);
        const struct lks_record then[] = {
            R(CHANGE, change, .id = id),
            R(PLAN_WAVE, plan_wave, .change = id),
            R(PLAN_STEP, plan_step, .change = id),
            R(PLAN_PART, plan_part, .change = id, .hosts = T("g[000001-250000]")),
            /* The first of them keeps a node. */
            R(MEMBER, member, .change = id, .node = lks_str_from(name),
              .state = id == 8 ? LKS_MEMBER_FENCED : LKS_MEMBER_DONE),
            R(CHANGE_MOVED, change_moved, .change = id, .state = LKS_CHANGE_DONE),
        };
        for (size_t i = 0; i < LKS_COUNT(then); i++)
            apply(&s, 1, &then[i]);
    }
    CHECK_INT(s.changes[1].member_count, NODES);
    CHECK(lks_state_change(&s, 7) != NULL && lks_state_change(&s, 8) != NULL);
    CHECK(lks_state_change(&s, 9) == NULL && lks_state_change(&s, 10) != NULL);
    CHECK_INT(s.change_count, 5);
}

static void test_proven_room(void)
{
    LKS_CLEANUP(lks_state_fini) struct lks_state s = {0};
    struct lks_err err = {0};
    CHECK_CODE(lks_state_init(&s, 1, &err), LKS_OK);
    for (unsigned i = 0; i <= LKS_STATE_PROVEN_MAX; i++) {
        char class[16];
        snprintf(class, sizeof(class), "%u", (i * 7919) % 100003);
        const struct lks_record r =
            R(REVERT_PROVEN, revert_proven, .class = lks_str_from(class), .took = i);
        apply(&s, 10 + i, &r);
    }
    CHECK_INT(s.proven_count, LKS_STATE_PROVEN_MAX);
    bool first_gone = true, sorted = true;
    for (uint32_t i = 0; i < s.proven_count; i++) {
        first_gone = first_gone && s.proven[i].took != 0;
        sorted = sorted && (i == 0 || lks_str_cmp(lks_state_text(&s, s.proven[i - 1].class),
                                                  lks_state_text(&s, s.proven[i].class)) < 0);
    }
    CHECK(first_gone && sorted);
}

/* A change of a large fleet: each record costs about the same, however many there are. */
static void test_large(void)
{
    enum { NODES = 20000 };
    LKS_CLEANUP(lks_state_fini) struct lks_state s = {0};
    begin(&s);
    const struct lks_record then[] = {
        R(PLACED, placed, .hosts = T("g[1-20000]"), .pool = T("train")),
        PART_OF(.wave = 1, .hosts = T("g[1-20000]"), .from = T("s1")),
        MOVED(RUNNING),
    };
    for (size_t i = 0; i < LKS_COUNT(then); i++)
        apply(&s, 1, &then[i]);
    for (unsigned i = 1; i <= NODES; i++) {
        char name[16];
        snprintf(name, sizeof(name), "g%u", i);
        struct lks_record r = MEMBER_OF("", WAITING, .step = 1);
        r.member.node = lks_str_from(name);
        apply(&s, 2, &r);
        r.member.state = LKS_MEMBER_DONE;
        apply(&s, 3, &r);
    }
    const struct lks_state_change *c = &s.changes[0];
    CHECK_INT(c->unit_count, NODES + 1);
    CHECK_INT(c->waves[1].members[LKS_MEMBER_DONE], NODES);
    CHECK_INT(c->waves[1].busy, 0);
    check_fold(&s);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"changes applied: what each record leaves", test_rows},
        {"changes applied: what follows for a node", test_bound},
        {"changes applied: looking up", test_lookups},
        {"changes applied: what counts as a turn", test_mass},
        {"changes applied: changes make room", test_room},
        {"changes applied: not one that overtook another", test_overtaken_room},
        {"changes applied: large ones make room", test_members_room},
        {"changes applied: ways back make room", test_proven_room},
        {"changes applied: a large one", test_large},
        {0},
    });
}
