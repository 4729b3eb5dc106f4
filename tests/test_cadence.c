/* How far pools are behind what is released; whom that is told, and what is drafted about it. */
#include "base/rng.h"
#include "core/exposure/cadence.h"
#include "core/rows/alarm.h"
#include "core/rows/change.h"
#include "core/rows/node.h"
#include "core/rows/pool.h"
#include "core/rows/registry.h"
#include "core/state/lookup.h"
#include "tests/asked.h"
#include "tests/facts.h"
#include "tests/manifests.h"
#include "tests/test.h"

#include <stdio.h>

#define T   LKS_STR_C
#define DAY ((lks_ms)86400000)

#define STACK(name, hardware, driver, nccl, more)                                                  \
    "---\n" LKS_STACK_HGX_OF(name, hardware, LKS_STACK_KERNEL, driver, nccl, "1.19.1",             \
                             "settings: {unattended_upgrades: false" more "}\n")
#define BOTH "hgx-h100-8, hgx-h200-8"
#define NOW  "580.126.20"

/* What supersedes what ----------------------------------------------------------------------- */

static const struct {
    const char *name, *from, *to;
    bool does;
} pairs[] = {
    {"a newer library", STACK("a", BOTH, NOW, "2.27.7", ""), STACK("b", BOTH, NOW, "2.28.9", ""),
     true},
    {"a newer driver", STACK("a", BOTH, NOW, "2.27.7", ""),
     STACK("b", BOTH, "580.130.01", "2.27.7", ""), true},
    {"an older library", STACK("a", BOTH, NOW, "2.28.9", ""), STACK("b", BOTH, NOW, "2.27.7", ""),
     false},
    {"a newer library beside an older driver", STACK("a", BOTH, NOW, "2.27.7", ""),
     STACK("b", BOTH, "580.95.05", "2.28.9", ""), false},
    {"another way to set it up", STACK("a", BOTH, NOW, "2.27.7", ""),
     STACK("b", BOTH, NOW, "2.27.7", ", ecc: true"), false},
    {"the next edition, set up otherwise", STACK("a", BOTH, NOW, "2.27.7", ""),
     STACK("a", BOTH, NOW, "2.27.7", ", ecc: true"), true},
    {"the next edition, back to what was good", STACK("a", BOTH, NOW, "2.28.9", ""),
     STACK("a", BOTH, NOW, "2.27.7", ""), true},
    {"itself", STACK("a", BOTH, NOW, "2.27.7", ""), STACK("a", BOTH, NOW, "2.27.7", ""), false},
    {"something is left out",
     "---\n" LKS_STACK_HGX_OF("a", BOTH, LKS_STACK_KERNEL, NOW, "2.27.7", "1.19.1",
                              "  slurmd: {version: '25.05.4'}\n"),
     STACK("b", BOTH, NOW, "2.28.9", ""), false},
};

static void test_pairs(void)
{
    for (size_t i = 0; i < LKS_COUNT(pairs); i++) {
        LKS_CLEANUP(lks_manifest_fini) struct lks_manifest from = {0};
        LKS_CLEANUP(lks_manifest_fini) struct lks_manifest to = {0};
        const struct lks_facts *facts = lks_test_facts();
        struct lks_err err = {0};
        lks_test_case("%s", pairs[i].name);
        if (CHECK_CODE(
                lks_manifest_parse("a", lks_str_from(pairs[i].from), facts, NULL, &from, &err),
                LKS_OK) &&
            CHECK_CODE(lks_manifest_parse("b", lks_str_from(pairs[i].to), facts, NULL, &to, &err),
                       LKS_OK))
            CHECK(lks_cadence_supersedes(facts, &from.stacks[0], &to.stacks[0]) == pairs[i].does);
    }
}

/* A fleet ------------------------------------------------------------------------------------ */

/* All pools are pinned to "now", which is released from the beginning; the others are not. "only"
 * is for one class, "feature" of a branch that lts does not take, "driver" needs packages that
 * nobody has. */
enum { POOLS = 4 };
static const char *const pool_names[POOLS] = {"train", "mixed", "quick", "lts"};
static const char *const stack_names[] = {"now", "next", "third", "only", "feature", "driver"};
static const char fleet[] =
    "lockstep: 1\nkind: Fleet\nname: f\npools:\n"
    "  train: {posture: pre-training, stack: now}\n"
    "  mixed: {posture: batch, stack: now, cadence_days: 30}\n"
    "  quick: {posture: dev, stack: now, cadence_days: 0}\n"
    "  lts: {posture: batch, stack: now, version_policy: {branches: [LTSB]}}\n"
    "nodes:\n"
    "  - {hosts: 't[1-3]', pool: train, class: hgx-h100-8}\n"
    "  - {hosts: m1, pool: mixed, class: hgx-h100-8}\n"
    "  - {hosts: m2, pool: mixed, class: hgx-h200-8}\n"
    "  - {hosts: q1, pool: quick, class: hgx-h100-8}\n"
    "  - {hosts: l1, pool: lts, class: hgx-h100-8}\n" //
    STACK("now", BOTH, NOW, "2.27.7", "") STACK("next", BOTH, NOW, "2.28.9", "")
        STACK("third", BOTH, NOW, "2.29.2", "") STACK("only", "hgx-h100-8", NOW, "2.29.3", "")
            STACK("feature", BOTH, "590.48.01", "2.29.4", "")
                STACK("driver", BOTH, "580.130.01", "2.27.7", "");

struct scene {
    struct lks_asked a;
    lks_ms began;
};

static struct lks_str digest_of(const struct scene *s, const char *name)
{
    for (size_t i = 0; i < s->a.manifest.stack_count; i++) {
        if (lks_str_is(s->a.manifest.stacks[i].name, name))
            return lks_str_from(s->a.manifest.stacks[i].digest);
    }
    return LKS_STR("");
}

static void step(struct scene *s, const char *name, enum lks_stack_step to)
{
    const struct lks_record r = {.kind = LKS_RECORD_STEPPED,
                                 .stepped = {.digest = digest_of(s, name), .step = to}};
    lks_asked_apply(&s->a, &r);
}

static void begin(struct scene *s)
{
    struct lks_event accept = {.by = T("kim"), .fleet = {.accept = true}};
    *s = (struct scene){0};
    lks_asked_init(&s->a);
    s->a.now.wall = 20000 * DAY;
    (void)lks_asked_fleet(&s->a, fleet, &accept);
    LKS_ASSERT(s->a.decision.refused.code == LKS_OK);
    for (uint32_t i = 0; i < s->a.state.node_count; i++)
        lks_asked_live(&s->a, lks_state_name(&s->a.state, i).ptr);
    for (size_t i = 1; i < LKS_COUNT(stack_names); i++)
        step(s, stack_names[i], LKS_STEP_CANDIDATE);
    s->a.now.wall += DAY;
    s->began = s->a.now.wall;
}

static void end(struct scene *s)
{
    lks_asked_fini(&s->a);
}

static struct lks_book book_of(const struct scene *s)
{
    return (struct lks_book){.facts = lks_test_facts(), .manifest = &s->a.manifest};
}

static uint32_t pool_of(const struct scene *s, const char *name)
{
    uint32_t pool = lks_state_pool(&s->a.state, lks_str_from(name));
    LKS_ASSERT(pool != UINT32_MAX);
    return pool;
}

static struct lks_cadence cadence_of(const struct scene *s, uint32_t pool)
{
    LKS_CLEANUP(lks_cadence_classes_fini) struct lks_pool_classes classes = {0};
    struct lks_book book = book_of(s);
    struct lks_err err = {0};
    CHECK_CODE(lks_cadence_classes_all(&classes, &s->a.state, &err), LKS_OK);
    return lks_cadence_of(&s->a.state, &book, &classes, pool, s->a.now.wall);
}

/* As lockstepd does it: whoever wants a draft has one, the others are looked at. */
static struct lks_str look(struct scene *s)
{
    LKS_CLEANUP(lks_cadence_classes_fini) struct lks_pool_classes classes = {0};
    struct lks_book book = book_of(s);
    struct lks_err err = {0};
    CHECK_CODE(lks_cadence_classes_all(&classes, &s->a.state, &err), LKS_OK);
    const struct lks_event event = {
        .kind = LKS_EVENT_CADENCE,
        .by = T("controller:c1"),
        .cadence = {.pool = lks_cadence_wanted(&s->a.state, &book, &classes, 0, s->a.now.wall)}};
    return lks_asked(&s->a, &event);
}

/* Until nothing is left to do. */
static void settle(struct scene *s)
{
    enum { MOST = 2 * POOLS };
    size_t rounds = 0;
    while (look(s).len > 0 && rounds < MOST)
        rounds++;
    CHECK(rounds < MOST);
}

static const struct lks_state_change *draft_of(const struct scene *s, uint32_t pool)
{
    const struct lks_state_change *found = NULL;
    for (uint32_t i = 0; i < s->a.state.change_count; i++) {
        const struct lks_state_change *c = &s->a.state.changes[i];
        if (!lks_cadence_is_draft(&s->a.state, c, pool))
            continue;
        CHECK(found == NULL); /* never two */
        found = c;
    }
    return found;
}

static const struct lks_state_alarm *alarm_of(const struct scene *s, uint32_t pool)
{
    const struct lks_state_alarm *found = NULL;
    for (uint32_t i = 0; i < s->a.state.alarm_count; i++) {
        const struct lks_state_alarm *a = &s->a.state.alarms[i];
        if (a->released != 0 || a->kind != LKS_ALARM_CADENCE ||
            a->subject != s->a.state.pools[pool].name)
            continue;
        CHECK(found == NULL);
        found = a;
    }
    return found;
}

/* How old, and whether that is too old ------------------------------------------------------- */

/* What is released on which day, and how a pool stands on another. */
static const struct {
    const char *name;
    struct {
        const char *stack;
        unsigned day;
    } released[3];
    const char *pool;
    unsigned day;
    const char *to, *class;
    unsigned age;
    bool past;
} ages[] = {
    {"nothing newer", {{0}}, "train", 400, "", "", 0, false},
    {"the day it is out", {{"next", 10}}, "train", 10, "next", "hgx-h100-8", 0, false},
    {"within the limit of its posture",
     {{"next", 10}},
     "train",
     129,
     "next",
     "hgx-h100-8",
     119,
     false},
    {"at the limit", {{"next", 10}}, "train", 130, "next", "hgx-h100-8", 120, true},
    {"a limit of its own", {{"next", 10}}, "mixed", 40, "next", "", 30, true},
    {"one that wants it at once", {{"next", 10}}, "quick", 10, "next", "hgx-h100-8", 0, true},
    {"a later release does not make it younger",
     {{"next", 10}, {"third", 100}},
     "train",
     130,
     "third",
     "hgx-h100-8",
     120,
     true},
    {"one for some of its hardware counts, and is not where to go",
     {{"only", 10}},
     "mixed",
     40,
     "",
     "hgx-h100-8",
     30,
     true},
    {"of a branch that it does not take", {{"feature", 10}}, "lts", 400, "", "", 0, false},
    {"of a branch that others take",
     {{"feature", 10}},
     "train",
     400,
     "feature",
     "hgx-h100-8",
     390,
     true},
};

static void test_ages(void)
{
    for (size_t i = 0; i < LKS_COUNT(ages); i++) {
        struct scene s;
        lks_test_case("%s", ages[i].name);
        begin(&s);
        for (size_t r = 0; r < LKS_COUNT(ages[i].released); r++) {
            s.a.now.wall = s.began + ages[i].released[r].day * DAY;
            if (ages[i].released[r].stack != NULL)
                step(&s, ages[i].released[r].stack, LKS_STEP_RELEASED);
        }
        s.a.now.wall = s.began + ages[i].day * DAY;
        struct lks_cadence c = cadence_of(&s, pool_of(&s, ages[i].pool));
        struct lks_str to = c.to == NULL ? LKS_STR("") : lks_state_text(&s.a.state, c.to->name);
        CHECK_STR(to, ages[i].to);
        CHECK_INT(lks_cadence_age(&c.behind, s.a.now.wall) / DAY, ages[i].age);
        CHECK(c.past == ages[i].past);
        CHECK(c.behind.known);
        if (ages[i].class[0] != '\0')
            CHECK_STR(lks_state_text(&s.a.state, c.class), ages[i].class);
        end(&s);
    }
}

/* What is done about it ---------------------------------------------------------------------- */

static void record(struct scene *s, struct lks_record r)
{
    lks_asked_apply(&s->a, &r);
}

static void freeze(struct scene *s, const char *pool, bool on)
{
    const struct lks_state *state = &s->a.state;
    bool is_frozen = pool[0] == '\0'
                         ? state->frozen
                         : state->pools[lks_state_pool(state, lks_str_from(pool))].frozen;
    const struct lks_event e = {.kind = LKS_EVENT_FREEZE,
                                .by = T("user:kim"),
                                .reason = T("busy"),
                                .freeze = {.pool = lks_str_from(pool), .on = on}};
    (void)lks_asked(&s->a, &e);
    bool refused = !on && !is_frozen;
    CHECK_CODE(s->a.decision.refused.code, refused ? LKS_E_REFUSED : LKS_OK);
}

static void move(struct scene *s, uint64_t change, enum lks_change_state to, const char *by)
{
    record(s, (struct lks_record){.kind = LKS_RECORD_CHANGE_MOVED,
                                  .change_moved = {.change = change,
                                                   .state = to,
                                                   .by = lks_str_from(by),
                                                   .reason = T("so it is")}});
}

static void pin(struct scene *s, const char *pool, const char *stack)
{
    const struct lks_state_pool *p = &s->a.state.pools[pool_of(s, pool)];
    record(s, (struct lks_record){.kind = LKS_RECORD_POOL,
                                  .pool = {.name = lks_str_from(pool),
                                           .posture = lks_state_text(&s->a.state, p->posture),
                                           .enforce = T("observe"),
                                           .stack = lks_str_from(stack),
                                           .stack_digest = digest_of(s, stack)}});
}

/* "next" came out on the first day, and the pool "quick" wants it at once. */
static void begin_behind(struct scene *s)
{
    begin(s);
    s->a.now.wall += DAY;
    step(s, "next", LKS_STEP_RELEASED);
}

static void test_once(void)
{
    struct scene s;
    begin_behind(&s);
    uint32_t quick = pool_of(&s, "quick");
    struct lks_str told = look(&s);
    CHECK_HAS(told, "change id=1");
    CHECK_HAS(told, "by=lockstep:cadence");
    CHECK_HAS(told, "alarm=cadence subject=quick text=quick (hgx-h100-8) is behind next 1 since");
    CHECK_HAS(told, "its limit is 0 days");
    CHECK(draft_of(&s, quick) != NULL && alarm_of(&s, quick) != NULL);
    for (unsigned i = 0; i < 20; i++) {
        s.a.now.wall += LKS_SECOND;
        CHECK_STR(look(&s), ""); /* said, and drafted */
    }
    s.a.now.wall += 200 * DAY; /* nobody touched it; the others are behind by now */
    settle(&s);
    for (uint32_t p = 0; p < s.a.state.pool_count; p++)
        CHECK(draft_of(&s, p) != NULL && alarm_of(&s, p) != NULL);
    end(&s);
}

static void test_caught_up(void)
{
    struct scene s;
    begin_behind(&s);
    uint32_t quick = pool_of(&s, "quick");
    settle(&s);
    pin(&s, "quick", "next");
    struct lks_str told = look(&s);
    CHECK_HAS(told, "change-moved change=1 state=aborted by=lockstep:cadence");
    CHECK_HAS(told, "the pool caught up");
    CHECK_HAS(told, "alarm-released id=1 by=lockstep:cadence");
    CHECK(draft_of(&s, quick) == NULL && alarm_of(&s, quick) == NULL);
    CHECK_STR(look(&s), "");
    end(&s);
}

static void test_newer(void)
{
    struct scene s;
    begin_behind(&s);
    uint32_t quick = pool_of(&s, "quick");
    settle(&s);
    s.a.now.wall += DAY;
    step(&s, "third", LKS_STEP_RELEASED);
    CHECK_HAS(look(&s), "another stack is the newest by now");
    settle(&s);
    const struct lks_state_change *c = draft_of(&s, quick);
    CHECK(c != NULL && lks_str_is(lks_state_text(&s.a.state, c->name), "third"));
    end(&s);
}

/* Who voted looked at it: it stays, though there is a newer one. */
static void test_voted(void)
{
    struct scene s;
    begin_behind(&s);
    uint32_t quick = pool_of(&s, "quick");
    settle(&s);
    record(&s, (struct lks_record){.kind = LKS_RECORD_CHANGE_VOTED,
                                   .change_voted = {.change = 1, .yes = true, .by = T("user:a")}});
    s.a.now.wall += DAY;
    step(&s, "third", LKS_STEP_RELEASED);
    settle(&s);
    const struct lks_state_change *c = draft_of(&s, quick);
    CHECK(c != NULL && c->id == 1);
    pin(&s, "quick", "third");
    CHECK_HAS(look(&s), "the pool caught up");
    end(&s);
}

/* Why none is drafted, and what ends that. */
static void test_waits(void)
{
    struct scene s;
    begin_behind(&s);
    uint32_t quick = pool_of(&s, "quick");
    freeze(&s, "quick", true);
    settle(&s);
    CHECK(draft_of(&s, quick) == NULL && alarm_of(&s, quick) != NULL); /* people are told */
    freeze(&s, "quick", false);
    freeze(&s, "", true);
    settle(&s);
    CHECK(draft_of(&s, quick) == NULL);
    freeze(&s, "", false);
    settle(&s);
    const struct lks_state_change *c = draft_of(&s, quick);
    if (!CHECK(c != NULL))
        return;
    move(&s, c->id, LKS_CHANGE_ABORTED, ""); /* nobody approved it in time */
    settle(&s);
    c = draft_of(&s, quick);
    if (!CHECK(c != NULL && c->id == 2))
        return;
    move(&s, c->id, LKS_CHANGE_ABORTED, "user:kim"); /* a person does not want it */
    settle(&s);
    CHECK(draft_of(&s, quick) == NULL);
    s.a.now.wall += DAY;
    step(&s, "third", LKS_STEP_RELEASED);
    settle(&s);
    CHECK(draft_of(&s, quick) != NULL);
    end(&s);
}

/* Days that the fleet's file freezes hold it back, too, of that pool and by the clocks of its
 * sites. */
static void test_days(void)
{
    static const struct {
        const char *name, *freezes;
        bool drafted;
    } cases[] = {
        {"none", "", true},
        {"of all pools", "freezes: [{from: '2024-10-01', until: '2024-11-01'}]\n", false},
        {"of this one", "freezes: [{from: '2024-10-01', until: '2024-11-01', pools: [quick]}]\n",
         false},
        {"of another", "freezes: [{from: '2024-10-01', until: '2024-11-01', pools: [train]}]\n",
         true},
        {"to come", "freezes: [{from: '2025-10-01', until: '2025-11-01'}]\n", true},
        {"over", "freezes: [{from: '2023-10-01', until: '2023-11-01'}]\n", true},
    };
    const char *rest = strstr(fleet, "pools:");
    for (size_t i = 0; i < LKS_COUNT(cases); i++) {
        struct scene s;
        char text[sizeof(fleet) + 128];
        lks_test_case("%s", cases[i].name);
        begin_behind(&s); /* in October 2024 */
        snprintf(text, sizeof(text), "%.*s%s%s", (int)(rest - fleet), fleet, cases[i].freezes,
                 rest);
        (void)lks_asked_fleet(&s.a, text, NULL);
        CHECK_CODE(s.a.decision.refused.code, LKS_OK);
        settle(&s);
        uint32_t quick = pool_of(&s, "quick");
        CHECK((draft_of(&s, quick) != NULL) == cases[i].drafted);
        CHECK(alarm_of(&s, quick) != NULL); /* people are told */
        end(&s);
    }
}

/* An alarm that a person released is not raised again for the same stack. */
static void test_released(void)
{
    struct scene s;
    begin_behind(&s);
    uint32_t quick = pool_of(&s, "quick");
    settle(&s);
    record(&s, (struct lks_record){.kind = LKS_RECORD_ALARM_RELEASED,
                                   .alarm_released = {.id = 1, .by = T("user:kim")}});
    s.a.now.wall += DAY;
    settle(&s);
    CHECK(alarm_of(&s, quick) == NULL);
    step(&s, "third", LKS_STEP_RELEASED);
    settle(&s);
    CHECK(alarm_of(&s, quick) != NULL);
    end(&s);
}

/* A plan that cannot be made is told with the alarm, once. */
static void test_no_plan(void)
{
    struct scene s;
    begin(&s);
    s.a.now.wall += DAY;
    step(&s, "driver", LKS_STEP_RELEASED);
    uint32_t quick = pool_of(&s, "quick");
    CHECK_HAS(look(&s), "no change is drafted: ");
    CHECK(draft_of(&s, quick) == NULL && alarm_of(&s, quick) != NULL);
    CHECK_STR(look(&s), "");
    s.a.now.wall += 40 * DAY;
    step(&s, "only", LKS_STEP_RELEASED);
    step(&s, "driver", LKS_STEP_RETIRED);
    s.a.now.wall += 40 * DAY;
    CHECK_HAS(look(&s), "no change is drafted: no released stack is for all hardware of the pool");
    CHECK(draft_of(&s, pool_of(&s, "mixed")) == NULL);
    end(&s);
}

/* Anything may happen ------------------------------------------------------------------------ */

static bool is_for_all(const struct scene *s, const struct lks_state_change *c, uint32_t pool)
{
    struct lks_book book = book_of(s);
    const struct lks_stack *to = lks_book_stack(&book, lks_state_text(&s->a.state, c->stack));
    for (uint32_t n = 0; to != NULL && n < s->a.state.node_count; n++) {
        bool fits = s->a.state.nodes[n].pool != pool;
        for (size_t i = 0; i < to->class_count; i++)
            fits |= lks_str_eq(to->classes[i]->name,
                               lks_state_text(&s->a.state, s->a.state.nodes[n].class));
        if (!fits)
            return false;
    }
    return to != NULL;
}

/* What a person, or time, does next. */
static void happen(struct scene *s, struct lks_rng *rng)
{
    const char *stack = stack_names[1 + lks_rng_below(rng, LKS_COUNT(stack_names) - 1)];
    const char *pool = pool_names[lks_rng_below(rng, POOLS)];
    const struct lks_state_change *c = draft_of(s, pool_of(s, pool));
    const struct lks_state_alarm *alarm = alarm_of(s, pool_of(s, pool));
    switch (lks_rng_below(rng, 9)) {
    case 0:
        step(s, stack, LKS_STEP_RELEASED);
        break;
    case 1:
        step(s, stack, LKS_STEP_RETIRED);
        break;
    case 2:
        freeze(s, pool, lks_rng_percent(rng, 50));
        break;
    case 3:
        pin(s, pool, stack);
        break;
    case 4:
        if (c != NULL)
            move(s, c->id, LKS_CHANGE_ABORTED, lks_rng_percent(rng, 50) ? "user:kim" : "");
        break;
    case 5:
        if (c != NULL)
            move(s, c->id, LKS_CHANGE_RUNNING, "user:kim");
        break;
    case 6:
        if (alarm != NULL)
            record(s, (struct lks_record){.kind = LKS_RECORD_ALARM_RELEASED,
                                          .alarm_released = {.id = alarm->id, .by = T("user:k")}});
        break;
    default:
        s->a.now.wall += lks_rng_below(rng, 60) * DAY;
        break;
    }
}

/* What holds after each look. */
static void check_promises(struct scene *s)
{
    for (uint32_t p = 0; p < s->a.state.pool_count; p++) {
        const struct lks_state_change *c = draft_of(s, p); /* one at the most */
        struct lks_cadence k = cadence_of(s, p);
        CHECK(k.past || alarm_of(s, p) == NULL);
        if (k.behind.to == NULL)
            CHECK(c == NULL);
        if (c == NULL)
            continue;
        CHECK(is_for_all(s, c, p));
        CHECK(c->started == 0);
        CHECK(c->stack != s->a.state.pools[p].stack_digest);
    }
}

static void test_random(void)
{
    enum { SEEDS = 8, STEPS = 40 };
    size_t drafts = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct lks_rng rng = {seed};
        struct scene s;
        begin(&s);
        for (unsigned i = 0; i < STEPS; i++) {
            lks_test_case("seed %llu, step %u", (unsigned long long)seed, i);
            happen(&s, &rng);
            uint64_t before = s.a.state.next_change;
            (void)look(&s);
            drafts += s.a.state.next_change - before;
            CHECK(s.a.state.next_change - before <= 1);
            check_promises(&s);
        }
        end(&s);
    }
    CHECK(drafts > SEEDS); /* else nothing was tried */
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"what supersedes what", test_pairs},
        {"ages and limits", test_ages},
        {"told once, and drafted once", test_once},
        {"a pool that caught up", test_caught_up},
        {"a newer release takes the place of a draft", test_newer},
        {"a draft that people voted on", test_voted},
        {"what a draft waits for", test_waits},
        {"what a draft waits for: days that are frozen", test_days},
        {"an alarm that a person released", test_released},
        {"no plan can be made", test_no_plan},
        {"whatever happens", test_random},
        {0},
    };
    return lks_test_main(tests);
}
