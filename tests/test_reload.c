/* States that a snapshot has to give back as they are, and rows that it must not take. */
#include "base/err.h"
#include "core/campaign/state_apply.h"
#include "core/entity/entity.h"
#include "core/rows/change.h"
#include "core/state/state.h"
#include "model/record/record.h"
#include "model/record/record_words.h"
#include "tests/reload.h"
#include "tests/test.h"

#define T LKS_STR_C
/* NOLINTBEGIN(bugprone-macro-parentheses): names of kinds and members take none */
#define R(KIND, member, ...)                                                                       \
    {                                                                                              \
        .kind = LKS_RECORD_##KIND, .member = { __VA_ARGS__ }                                       \
    }
/* NOLINTEND(bugprone-macro-parentheses) */

enum { THEN_MAX = 20, PLANNED = 12 };

/* What a node was last right in is recorded with its readings. Nothing that an index is computed by
 * may take its place. */
static const struct {
    const char *name;
    struct lks_record then[THEN_MAX];
} rows[] = {
    {"set back by hand in a change, with a command open",
     {
         R(POOL, pool, .name = T("train"), .stack_digest = T("s1"), .sweep = 1),
         R(PLACED, placed, .hosts = T("n[1-2]"), .pool = T("train")),
         R(BASIS, basis, .digest = T("w1"), .readings = T("{}")),
         R(BASIS, basis, .digest = T("w2"), .readings = T("{}")),
         R(TUPLE, tuple, .node = T("n1"), .digest = T("t1"), .boot = T("b"), .basis = T("w1"),
           .whole = T("w1")),
         R(TUPLE, tuple, .node = T("n2"), .digest = T("t1"), .boot = T("b"), .basis = T("w1"),
           .whole = T("w1")),
         R(VERDICT, verdict, .basis = T("w1"), .stack = T("s1"), .judged = LKS_JUDGED_CONFORMS),
         R(CHANGE, change, .id = 7, .hosts = T("n1"), .stack = T("s2"), .name = T("gold")),
         R(PLAN_STEP, plan_step, .change = 7, .kind = LKS_DO_STAGE, .component = T("bmc")),
         R(PLAN_WAVE, plan_wave, .change = 7, .kind = LKS_WAVE_CANARY, .width = 1),
         R(PLAN_PART, plan_part, .change = 7, .hosts = T("n1"), .from = T("s1")),
         R(CHANGE_MOVED, change_moved, .change = 7, .state = LKS_CHANGE_RUNNING),
         R(TUPLE, tuple, .node = T("n1"), .digest = T("t2"), .boot = T("b"), .basis = T("w2"),
           .whole = T("w2")),
         R(MEMBER, member, .change = 7, .node = T("n1"), .state = LKS_MEMBER_DONE),
         R(VERDICT, verdict, .basis = T("w2"), .stack = T("s2"), .judged = LKS_JUDGED_CONFORMS),
         R(TUPLE, tuple, .node = T("n1"), .digest = T("t1"), .boot = T("b"), .basis = T("w1"),
           .whole = T("w1")),
         R(VERDICT, verdict, .basis = T("w1"), .stack = T("s2"), .judged = LKS_JUDGED_DRIFT,
           .drifted = 1),
         R(COMMAND, command, .id = 1, .node = T("n1"), .executor = T("inventory"),
           .expires = 99999999),
     }},
    {"an asset between pools with different pins",
     {
         R(POOL, pool, .name = T("a"), .stack_digest = T("s1"), .sweep = 1),
         R(POOL, pool, .name = T("b"), .stack_digest = T("s2"), .sweep = 1),
         R(BASIS, basis, .digest = T("w1"), .readings = T("{}")),
         R(PLACED, placed, .hosts = T("shelf"), .asset = T("power-shelf"), .domain = T("r1")),
         R(PLACED, placed, .hosts = T("n1"), .pool = T("a"), .domain = T("r1")),
         R(PLACED, placed, .hosts = T("n2"), .pool = T("b"), .domain = T("r1")),
         R(PLACED, placed, .hosts = T("other"), .asset = T("power-shelf"), .domain = T("r2")),
         R(PLACED, placed, .hosts = T("n3"), .pool = T("a"), .domain = T("r2")),
         R(OUTBAND, outband, .node = T("other"), .basis = T("w1"), .whole = T("w1"), .taken = 5),
         R(OUTBAND, outband, .node = T("shelf"), .basis = T("w1"), .whole = T("w1"), .taken = 5),
         R(VERDICT, verdict, .basis = T("w1"), .stack = T("s1"), .judged = LKS_JUDGED_CONFORMS),
     }},
};

static void apply(struct lks_state *s, const struct lks_record *then, size_t count)
{
    struct lks_err err = {0};
    CHECK_CODE(lks_state_init(s, 1, &err), LKS_OK);
    for (size_t i = 0; i < count && then[i].kind != 0; i++)
        CHECK_CODE(lks_state_apply(s, i + 1, (i + 1) * LKS_SECOND, &then[i], &err), LKS_OK);
}

static void test_states(void)
{
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_state_fini) struct lks_state s = {0}, loaded = {0};
        lks_test_case("%s", rows[i].name);
        apply(&s, rows[i].then, THEN_MAX);
        lks_test_reload(&s, &loaded);
    }
}

/* No record makes a unit without members: code that is there for units reads the first of them. */
static void test_empty_unit(void)
{
    LKS_CLEANUP(lks_state_fini) struct lks_state s = {0}, loaded = {0};
    struct lks_err err = {0};
    apply(&s, rows[0].then, PLANNED);
    s.changes[0].member_count = 0;
    CHECK(!lks_test_reloads(&s, &loaded, &err));
    CHECK_STR(lks_str_from(err.msg), "a unit has no members");
}

static const struct lks_test tests[] = {
    {"states", test_states},
    {"a unit without members", test_empty_unit},
    {NULL, NULL},
};

int main(void)
{
    return lks_test_main(tests);
}
