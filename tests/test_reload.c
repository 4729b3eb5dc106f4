/* States that a snapshot has to give back as they are, and rows that it must not take. */
#include "base/err.h"
#include "base/vec.h"
#include "codec/format/leb128.h"
#include "core/campaign/state_apply.h"
#include "core/entity/entity.h"
#include "core/rows/alarm.h"
#include "core/rows/change.h"
#include "core/rows/credential.h"
#include "core/rows/deviation.h"
#include "core/rows/registry.h"
#include "core/rows/verdict.h"
#include "core/state/state.h"
#include "model/record/record.h"
#include "model/record/record_words.h"
#include "tests/reload.h"
#include "tests/test.h"

#include <math.h>

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

/* Rows that no record makes: each is refused, by what is wrong with it. */
#define SWAP(list)                                                                                 \
    do {                                                                                           \
        __typeof__((list)[0]) first_ = (list)[0];                                                  \
        (list)[0] = (list)[1];                                                                     \
        (list)[1] = first_;                                                                        \
    } while (0)
static void spoil_numbers(struct lks_state *s)
{
    SWAP(s->alarms);
}
static void spoil_twice(struct lks_state *s)
{
    s->alarms[1].id = s->alarms[0].id;
}
static void spoil_next(struct lks_state *s)
{
    s->next_alarm = 2;
}
static void spoil_images(struct lks_state *s)
{
    SWAP(s->images);
}
static void spoil_bindings(struct lks_state *s)
{
    SWAP(s->bindings);
}
static void spoil_orders(struct lks_state *s)
{
    SWAP(s->changes[0].orders);
}
static void spoil_metric(struct lks_state *s)
{
    s->changes[0].metrics[0].margin = (double)NAN;
}
static void spoil_measure(struct lks_state *s)
{
    s->changes[0].measures[0].after = HUGE_VAL;
}

static const struct lks_record spoiled_first[] = {
    R(PLACED, placed, .hosts = T("n1")),
    R(ALARM, alarm, .id = 1, .subject = T("n1")),
    R(ALARM, alarm, .id = 2, .subject = T("n1")),
    R(IMAGE, image, .ref = T("a")),
    R(IMAGE, image, .ref = T("b")),
    R(GRANTED, granted, .identity = T("kim"), .role = LKS_ROLE_VIEWER),
    R(GRANTED, granted, .identity = T("kim"), .role = LKS_ROLE_OPERATOR),
    R(CHANGE, change, .id = 7, .hosts = T("n1"), .stack = T("s2"), .name = T("gold")),
    R(PLAN_STEP, plan_step, .change = 7, .kind = LKS_DO_STAGE, .component = T("bmc")),
    R(PLAN_WAVE, plan_wave, .change = 7, .kind = LKS_WAVE_CANARY, .width = 1),
    R(PLAN_PART, plan_part, .change = 7, .hosts = T("n1"), .from = T("s1")),
    R(PLAN_ORDER, plan_order, .change = 7, .digest = T("d1"), .text = T("one")),
    R(PLAN_ORDER, plan_order, .change = 7, .digest = T("d2"), .text = T("two")),
    R(PLAN_METRIC, plan_metric, .change = 7, .name = T("a"), .margin = T("1.5")),
    R(MEASURED, measured, .change = 7, .node = T("n1"), .metric = T("a"), .after = T("2")),
};

static const struct {
    void (*spoil)(struct lks_state *s);
    const char *why;
} spoiled[] = {
    {spoil_numbers, "damaged: row 2 of 'alarm' is not in order of 'id'"},
    {spoil_twice, "damaged: row 2 of 'alarm' is not in order of 'id'"},
    {spoil_next,
     "damaged: the last row of 'alarm' has a number that is not below the next one to give"},
    {spoil_images, "damaged: row 2 of 'image' is not in order of 'ref'"},
    {spoil_bindings, "damaged: row 2 of 'binding' is not in order of 'identity'"},
    {spoil_orders, "damaged: row 2 of 'order' is not in order of 'digest'"},
    {spoil_metric, "metric: damaged: a value of the column 'margin' is not a finite number"},
    {spoil_measure, "measure: damaged: a value of the column 'after' is not a finite number"},
};

static void test_spoiled(void)
{
    for (size_t i = 0; i < LKS_COUNT(spoiled); i++) {
        LKS_CLEANUP(lks_state_fini) struct lks_state s = {0}, loaded = {0};
        struct lks_err err = {0};
        lks_test_case("%s", spoiled[i].why);
        apply(&s, spoiled_first, LKS_COUNT(spoiled_first));
        spoiled[i].spoil(&s);
        CHECK(!lks_test_reloads(&s, &loaded, &err));
        CHECK_STR(lks_str_from(err.msg), spoiled[i].why);
    }
}

/* Each of a few short texts names all nodes there may be. */
static void test_deviations_that_name_too_many(void)
{
    LKS_CLEANUP(lks_state_fini) struct lks_state s = {0}, loaded = {0};
    struct lks_err err = {0};
    static const struct lks_record first[] = {
        R(DEVIATION, deviation, .id = 1, .hosts = T("n1"), .subject = T("driver")),
    };
    enum { DEVIATIONS = 201 };
    apply(&s, first, LKS_COUNT(first));
    CHECK_CODE(lks_intern_id(&s.texts, LKS_STR("n[1-1000000]"), &s.deviations[0].hosts, &err),
               LKS_OK);
    for (uint32_t i = 1; i < DEVIATIONS; i++) {
        struct lks_deviation more = {.id = i + 1, .hosts = s.deviations[0].hosts};
        CHECK_CODE(LKS_VEC_ADD(s.deviations, s.deviation_room, s.deviation_count,
                               LKS_STATE_DEVIATIONS_MAX, more, &err),
                   LKS_OK);
    }
    s.next_deviation = DEVIATIONS + 1;
    CHECK(!lks_test_reloads(&s, &loaded, &err));
    CHECK_STR(lks_str_from(err.msg),
              "its deviations name 201000000 nodes, and 200000000 are the most they may");
}

/* Bytes with one column of a large row: a few of them would fill the memory. */
static void test_rows_of_few_bytes(void)
{
    LKS_CLEANUP(lks_state_fini) struct lks_state loaded = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = LKS_BUF(1 << 20);
    struct lks_err err = {0};
    enum { ROWS = 100000 };
    lks_leb128_add(&bytes, 1);
    lks_leb128_add_bytes(&bytes, LKS_STR("flash"));
    lks_leb128_add(&bytes, 0);
    lks_leb128_add(&bytes, 1);
    lks_leb128_add_bytes(&bytes, LKS_STR("force"));
    lks_leb128_add(&bytes, LKS_COLUMN_TRUTH);
    lks_leb128_add(&bytes, 1);
    lks_leb128_add(&bytes, ROWS);
    lks_buf_pad(&bytes, '\1', ROWS);
    CHECK_CODE(lks_state_init(&loaded, 1, &err), LKS_OK);
    CHECK_CODE(lks_entity_unpack(lks_buf_view(&bytes), &loaded, &err), LKS_E_INVALID);
    CHECK_STR(lks_str_from(err.msg),
              "damaged: its rows would take more than 64 bytes of memory for each byte of it");
}

/* Lists past their maximum: every table, those in the rows of others with one row of each. */
enum { DEPTH_MAX = 4, ROWS_MAX = 32 << 20 /* more is no maximum */ };
struct lists {
    const struct lks_entity *path[DEPTH_MAX];
    size_t depth, seen;
};

/* Each row of the last table is a byte: its first column, or, where it has none, the number of rows
 * in a table of its own. */
static void list_bytes(const struct lists *l, uint32_t count, struct lks_buf *out)
{
    const struct lks_entity *last = l->path[l->depth - 1];
    bool bare = last->column_count == 0;
    lks_leb128_add(out, l->depth + bare);
    for (size_t i = 0; i < l->depth; i++) {
        lks_leb128_add_bytes(out, lks_str_from(l->path[i]->name));
        lks_leb128_add(out, i); /* the table that it is in */
        lks_leb128_add(out, i + 1 == l->depth && !bare);
    }
    lks_leb128_add_bytes(out, lks_str_from(bare ? last->children[0]->name : last->columns[0].name));
    lks_leb128_add(out, bare ? l->depth : last->columns[0].type);
    lks_leb128_add(out, bare ? 0 : 1);
    for (size_t i = 0; i + 1 < l->depth; i++)
        lks_leb128_add(out, 1);
    lks_leb128_add(out, count);
    lks_buf_pad(out, '\0', count);
}

static bool has_too_many(const struct lists *l, uint32_t count)
{
    LKS_CLEANUP(lks_state_fini) struct lks_state loaded = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = LKS_BUF(64 << 20);
    struct lks_err err = {0};
    list_bytes(l, count, &bytes);
    CHECK_CODE(lks_buf_check(&bytes, &err), LKS_OK);
    CHECK_CODE(lks_state_init(&loaded, 1, &err), LKS_OK);
    enum lks_code code = lks_entity_unpack(lks_buf_view(&bytes), &loaded, &err);
    return code == LKS_E_INVALID &&
           lks_str_is(lks_str_from(err.msg), "damaged: a table has more rows than it may have");
}

/* NOLINTNEXTLINE(misc-no-recursion): tables are in tables, three deep */
static void check_lists(struct lists *l, const struct lks_entity *t)
{
    LKS_ASSERT(l->depth < DEPTH_MAX);
    l->path[l->depth++] = t;
    if (t->key == 0 && t->max <= ROWS_MAX) {
        lks_test_case("%s in %s", t->name, l->path[0]->name);
        CHECK(has_too_many(l, t->max - t->first + 1));
        CHECK(!has_too_many(l, t->max - t->first));
        l->seen++;
    }
    for (size_t i = 0; i < t->child_count && t->key == 0; i++)
        check_lists(l, t->children[i]);
    l->depth--;
}

static void test_lists_past_their_maximum(void)
{
    struct lists l = {0};
    for (size_t i = 0; i < lks_entity_count; i++)
        check_lists(&l, lks_entities[i]);
    CHECK(l.seen > 25);
}

/* Readings have the verdicts that are based on them in a list. */
static void test_a_verdict_without_readings(void)
{
    LKS_CLEANUP(lks_state_fini) struct lks_state s = {0};
    struct lks_err err = {0};
    CHECK_CODE(lks_state_init(&s, 1, &err), LKS_OK);
    CHECK_CODE(LKS_VEC_RESERVE(s.verdicts, s.verdict_room, 2, &err), LKS_OK);
    s.verdict_count = 2;
    CHECK_CODE(lks_state_index(&s, &err), LKS_E_INVALID);
    CHECK_STR(lks_str_from(err.msg), "a verdict has no readings");
}

static const struct lks_test tests[] = {
    {"states", test_states},
    {"lists past their maximum", test_lists_past_their_maximum},
    {"rows that no record makes", test_spoiled},
    {"deviations that name too many nodes", test_deviations_that_name_too_many},
    {"rows of few bytes", test_rows_of_few_bytes},
    {"a unit without members", test_empty_unit},
    {"a verdict without readings", test_a_verdict_without_readings},
    {NULL, NULL},
};

int main(void)
{
    return lks_test_main(tests);
}
