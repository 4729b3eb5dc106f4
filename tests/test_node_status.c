#include "codec/notation/hostlist.h"
#include "core/campaign/state_apply.h"
#include "core/conform/verdict.h"
#include "core/rows/deviation.h"
#include "core/rows/node.h"
#include "core/rows/pool.h"
#include "core/rows/verdict.h"
#include "core/state/lookup.h"
#include "core/state/node_status.h"
#include "tests/anything.h"
#include "tests/fleet.h"
#include "tests/test.h"

enum { HOSTS_MEMORY = 1 << 20 };

/* The same the slow way ---------------------------------------------------------------------- */

static bool is_named(const struct lks_state *s, const struct lks_deviation *d, uint32_t node)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    struct lks_hostlist list = {0};
    struct lks_err err = {0};
    lks_arena_init(&arena, HOSTS_MEMORY);
    if (lks_hostlist_parse(lks_state_text(s, d->hosts), &arena, &list, &err) != LKS_OK)
        return false;
    size_t at = 0;
    while (at < list.count && !lks_str_eq(list.names[at], lks_state_name(s, node)))
        at++;
    return at < list.count;
}

static bool is_covered(const struct lks_state *s, uint32_t node, const struct lks_wrong *w)
{
    for (uint32_t i = 0; i < s->deviation_count; i++) {
        const struct lks_deviation *d = &s->deviations[i];
        struct lks_str subject = lks_state_text(s, d->subject), value = lks_state_text(s, d->value);
        if (d->ended == 0 && (!d->waits || d->agreed != 0) && is_named(s, d, node) &&
            (lks_str_is(subject, "*") || lks_str_eq(subject, w->subject)) &&
            (value.len == 0 || lks_str_eq(value, w->actual)))
            return true;
    }
    return false;
}

/* What all nodes of the domain's pools pin; 0: nothing, or not the same. */
static lks_text pin_around(const struct lks_state *s, uint32_t asset)
{
    lks_text pin = 0;
    bool first = true, same = true;
    for (uint32_t n = 0; n < s->node_count; n++) {
        const struct lks_node *node = &s->nodes[n];
        if (!node->placed || node->asset != 0 || node->pool == UINT32_MAX ||
            s->nodes[asset].domain == 0 || node->domain != s->nodes[asset].domain)
            continue;
        lks_text its = s->pools[node->pool].stack_digest;
        same = same && its != 0 && (first || its == pin);
        pin = its;
        first = false;
    }
    return same ? pin : 0;
}

static lks_text intent_of(const struct lks_state *s, uint32_t n)
{
    const struct lks_node *node = &s->nodes[n];
    lks_text changed = node->changing != 0 && node->target != 0 ? node->target : node->pin;
    lks_text pool = node->pool == UINT32_MAX ? 0 : s->pools[node->pool].stack_digest;
    return changed != 0 ? changed : node->asset != 0 ? pin_around(s, n) : pool;
}

static const struct lks_state_verdict *verdict_of(const struct lks_state *s, uint32_t n)
{
    lks_text intent = intent_of(s, n);
    for (uint32_t i = 1; i < s->verdict_count; i++) {
        const struct lks_state_verdict *v = &s->verdicts[i];
        if (s->nodes[n].placed && intent != 0 && v->basis != 0 && v->basis == s->nodes[n].whole &&
            v->stack == intent)
            return v;
    }
    return NULL;
}

struct found {
    bool differs, deviates, unmeasured;
};

static struct found look(const struct lks_state *s, uint32_t n)
{
    const struct lks_state_verdict *v = verdict_of(s, n);
    bool silent = s->nodes[n].asset == 0 && s->nodes[n].inband == 0;
    struct found found = {.unmeasured = silent || v == NULL || v->judged == LKS_JUDGED_UNMEASURED};
    uint32_t covered = 0;
    struct lks_wrong wrong;
    if (silent || v == NULL || v->judged != LKS_JUDGED_DRIFT)
        return found;
    struct lks_str lines = lks_state_text(s, v->wrong);
    while (lks_verdict_wrong_next(&lines, &wrong))
        covered += !lks_str_is(wrong.cause, "unmeasured") && is_covered(s, n, &wrong);
    found.differs = covered < v->drifted || v->drifted == 0;
    found.deviates = covered > 0;
    found.unmeasured = !found.differs && v->unmeasured > 0;
    return found;
}

/* Whether any line of the one contradicts any of the other. */
static bool contradict(struct lks_str a, struct lks_str b)
{
    struct lks_value x, y;
    while (lks_verdict_value_next(&a, &x)) {
        struct lks_str rest = b;
        while (lks_verdict_value_next(&rest, &y)) {
            if (lks_str_eq(x.subject, y.subject) && x.value.len > 0 && y.value.len > 0 &&
                !lks_str_eq(x.value, y.value))
                return true;
        }
    }
    return false;
}

static bool is_within(const struct lks_state *s, uint32_t m, lks_text domain)
{
    const struct lks_node *node = &s->nodes[m];
    return node->placed && domain != 0 && node->domain == domain && verdict_of(s, m) != NULL;
}

static bool serves(const struct lks_state *s, uint32_t m, lks_text domain)
{
    const struct lks_node *n = &s->nodes[m];
    bool kept = n->changing != 0 && n->change != 0 && lks_state_changing(s, m) == NULL;
    return is_within(s, m, domain) && n->asset == 0 && n->liveness == LKS_LIVE && !n->held && !kept;
}

/* Each is held against each. */
static bool domain_differs(const struct lks_state *s, uint32_t n)
{
    lks_text domain = s->nodes[n].domain;
    for (uint32_t m = 0; m < s->node_count; m++) {
        const struct lks_node *node = &s->nodes[m];
        if (is_within(s, m, domain) && node->asset != 0 && node->outband != 0 && look(s, m).differs)
            return true;
        for (uint32_t k = 0; k < m && serves(s, m, domain); k++) {
            if (serves(s, k, domain) && contradict(lks_state_text(s, verdict_of(s, m)->values),
                                                   lks_state_text(s, verdict_of(s, k)->values)))
                return true;
        }
    }
    return false;
}

static uint64_t bars_of(const struct lks_state *s, uint32_t n)
{
    const struct lks_node *node = &s->nodes[n];
    struct found found = look(s, n);
    bool refuses = node->pool != UINT32_MAX && !s->pools[node->pool].deviations;
    const bool bars[LKS_BAR_NODE_COUNT] = {
        [LKS_BAR_UNKNOWN] = node->asset != 0,
        [LKS_BAR_STALE] = !node->enrolled || node->liveness != LKS_LIVE ||
                          node->tuple_boot != node->boot ||
                          (node->notes & 1u << LKS_NOTE_CONTRADICTION) != 0,
        [LKS_BAR_UNMEASURED] = found.unmeasured,
        [LKS_BAR_DRIFT] = found.differs,
        [LKS_BAR_UNHEALTHY] = node->unhealthy,
        [LKS_BAR_CHANGING] = node->changing != 0 || node->pending > 0 || node->flashing > 0,
        [LKS_BAR_HELD] = node->held,
        [LKS_BAR_INTAKE] = node->intake,
        [LKS_BAR_DRAINED] = node->drained_by != 0,
        [LKS_BAR_DEVIATION] = found.deviates && refuses,
        [LKS_BAR_DOMAIN] = domain_differs(s, n),
    };
    uint64_t bits = 0;
    for (unsigned b = 0; b < LKS_BAR_NODE_COUNT; b++)
        bits |= (uint64_t)bars[b] << b;
    return node->placed ? bits : UINT64_C(1) << LKS_BAR_UNKNOWN;
}

static uint64_t kept_bars(const struct lks_state *s, uint32_t n)
{
    uint64_t bits = 0;
    for (unsigned b = 0; b < LKS_BAR_NODE_COUNT; b++)
        bits |= (uint64_t)lks_bitset_test(&s->standing->bars[b], n) << b;
    return bits;
}

static bool is_lacking(const struct lks_state *s, uint32_t n)
{
    return s->nodes[n].placed && s->nodes[n].whole != 0 && intent_of(s, n) != 0 &&
           verdict_of(s, n) == NULL;
}

static bool check_standing(const struct lks_state *s)
{
    const struct lks_node_status *st = s->standing;
    uint32_t news = 0, lacking = 0, ok = 1;
    for (uint32_t n = 0; n < s->node_count && ok; n++) {
        struct found found = look(s, n);
        lks_text intent = lks_state_intent(s, n), told = s->nodes[n].drift_stack;
        bool now = !found.differs || s->nodes[n].change != 0 || told == 0 || told == intent;
        bool recorded = s->nodes[n].drifting && now;
        ok = CHECK_INT(kept_bars(s, n), bars_of(s, n)) &&
             CHECK(lks_state_verdict(s, n) == verdict_of(s, n)) &&
             CHECK_INT(intent, intent_of(s, n)) &&
             CHECK(lks_bitset_test(&st->differs, n) == found.differs) &&
             CHECK(lks_bitset_test(&st->deviates, n) == found.deviates) &&
             CHECK(lks_bitset_test(&st->recorded, n) == recorded) &&
             CHECK(lks_bitset_test(&st->lacks, n) == is_lacking(s, n)) &&
             CHECK(lks_state_judged(s, n) != LKS_JUDGED_CONFORMS || s->nodes[n].right == intent);
        news += found.differs != recorded;
        lacking += is_lacking(s, n);
    }
    return ok && CHECK_INT(st->news, news) && CHECK_INT(st->lacking, lacking);
}

static void test_property(void)
{
    enum { SEEDS = 40, STEPS = 2000 };
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        LKS_CLEANUP(lks_state_fini) struct lks_state s = {0};
        struct lks_rng rng = {seed * 31};
        struct lks_err err = {0};
        CHECK_CODE(lks_state_init(&s, seed, &err), LKS_OK);
        for (unsigned i = 1; i <= STEPS; i++) {
            struct lks_record r = lks_test_any_record(&rng, &s);
            lks_test_case("seed %d, step %u: %s", (int)seed, i, lks_record_info(r.kind)->word);
            CHECK_CODE(lks_state_apply(&s, i, i, &r, &err), LKS_OK);
            if (!check_standing(&s))
                return;
        }
    }
}

/* One reason at a time ----------------------------------------------------------------------- */

#define N1       LKS_STR_C("n1")
#define BIT(bar) (UINT64_C(1) << LKS_BAR_##bar)
#define BOOT     LKS_STR_C("00000000-0000-0000-0000-000000000007")
#define DRIVER   "driver\tother version\t1\t2\t\n"
#define NIC      "nic\tother version\t1\t3\t\n"
#define GOOD     "driver\tgood\nnccl\t\n"
#define DARK     "kernel\tunmeasured\t1\tno access\t\n"

static void say(struct lks_asked *a, struct lks_record r)
{
    lks_asked_apply(a, &r);
}

static struct lks_record verdict(const char *basis, const char *stack, enum lks_judged judged)
{
    return (struct lks_record){.kind = LKS_RECORD_VERDICT,
                               .verdict = {.basis = lks_str_from(basis),
                                           .stack = lks_str_from(stack),
                                           .judged = judged,
                                           .drifted = judged == LKS_JUDGED_DRIFT,
                                           .wrong = LKS_STR(DRIVER),
                                           .values = strcmp(basis, "good") == 0
                                                         ? LKS_STR(GOOD)
                                                         : LKS_STR("driver\tbad\n")}};
}

static void runs(struct lks_asked *a, const char *node, const char *basis)
{
    char boot[LKS_BOOT_TEXT_SIZE];
    say(a, (struct lks_record){
               .kind = LKS_RECORD_BASIS,
               .basis = {.digest = lks_str_from(basis), .readings = lks_str_from(basis)}});
    say(a, (struct lks_record){.kind = LKS_RECORD_TUPLE,
                               .tuple = {.node = lks_str_from(node),
                                         .digest = LKS_STR("d"),
                                         .boot = lks_str_from(lks_fleet_boot(7, boot)),
                                         .basis = lks_str_from(basis),
                                         .whole = lks_str_from(basis)}});
}

/* n1 and n2 run "good", which conforms to "s" of their pool; "bad" does not. Both are of the domain
 * "r1", with a switch "w1". The pool is of the second version. */
static void begin(struct lks_asked *a)
{
    lks_asked_init(a);
    say(a, (struct lks_record){
               .kind = LKS_RECORD_POOL,
               .pool = {.name = LKS_STR("train"), .stack_digest = LKS_STR("s"), .sweep = 1}});
    say(a, (struct lks_record){.kind = LKS_RECORD_PLACED,
                               .placed = {.hosts = LKS_STR("n[1-2]"),
                                          .pool = LKS_STR("train"),
                                          .domain = LKS_STR("r1")}});
    say(a, (struct lks_record){.kind = LKS_RECORD_PLACED,
                               .placed = {.hosts = LKS_STR("w1"),
                                          .asset = LKS_STR("switch-tray"),
                                          .domain = LKS_STR("r1")}});
    lks_fleet_live(a, "n[1-2]", 7);
    runs(a, "n2", "good");
    runs(a, "n1", "bad");
    say(a, verdict("good", "s", LKS_JUDGED_CONFORMS));
    say(a, verdict("bad", "s", LKS_JUDGED_DRIFT));
    say(a, verdict("bad", "t", LKS_JUDGED_CONFORMS));
    runs(a, "n1", "good");
    say(a, (struct lks_record){.kind = LKS_RECORD_BASIS,
                               .basis = {.digest = LKS_STR("bad"), .readings = LKS_STR("bad")}});
    say(a, verdict("bad", "s", LKS_JUDGED_DRIFT));
    say(a, verdict("bad", "t", LKS_JUDGED_CONFORMS));
}

#define ONE(member, ...)                                                                           \
    {                                                                                              \
        .kind = LKS_RECORD_##member, __VA_ARGS__                                                   \
    }
#define CONDITION_OF(what, ...)                                                                    \
    {                                                                                              \
        .kind = LKS_RECORD_CONDITION, .condition = {                                               \
            .node = N1,                                                                            \
            .condition = LKS_CONDITION_##what,                                                     \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
#define DRIFTED                                                                                    \
    {                                                                                              \
        .kind = LKS_RECORD_TUPLE, .tuple = {                                                       \
            .node = N1,                                                                            \
            .boot = BOOT,                                                                          \
            .basis = LKS_STR_C("bad"),                                                             \
            .whole = LKS_STR_C("bad")                                                              \
        }                                                                                          \
    }
/* n1 runs something that conforms, too, with these values. */
#define SECOND(text)                                                                               \
    {.kind = LKS_RECORD_BASIS,                                                                     \
     .basis = {.digest = LKS_STR_C("second"), .readings = LKS_STR_C("second")}},                   \
        {.kind = LKS_RECORD_VERDICT,                                                               \
         .verdict = {.basis = LKS_STR_C("second"),                                                 \
                     .stack = LKS_STR_C("s"),                                                      \
                     .judged = LKS_JUDGED_CONFORMS,                                                \
                     .values = LKS_STR_C(text)}},                                                  \
    {                                                                                              \
        .kind = LKS_RECORD_TUPLE, .tuple = {                                                       \
            .node = N1,                                                                            \
            .boot = BOOT,                                                                          \
            .basis = LKS_STR_C("second"),                                                          \
            .whole = LKS_STR_C("second")                                                           \
        }                                                                                          \
    }
#define DEVIATES(what, as)                                                                         \
    {                                                                                              \
        .kind = LKS_RECORD_DEVIATION, .deviation = {                                               \
            .id = 1,                                                                               \
            .hosts = LKS_STR_C("n[1-3]"),                                                          \
            .subject = LKS_STR_C(what),                                                            \
            .value = LKS_STR_C(as),                                                                \
            .expires = 5000                                                                        \
        }                                                                                          \
    }
#define ASKED(...)                                                                                 \
    {                                                                                              \
        .kind = LKS_RECORD_POOL, .pool = {                                                         \
            .name = LKS_STR_C("train"),                                                            \
            .stack_digest = LKS_STR_C("s"),                                                        \
            .sweep = 1,                                                                            \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }

/* What n1 and n2 are barred by after these records. Times are asked at 1000. */
static const struct {
    const char *name;
    struct lks_record then[4];
    uint64_t n1, n2;
} rows[] = {
    {"nothing", {{0}}, 0, 0},
    {"removed", {ONE(REMOVED, .removed = {.hosts = N1})}, BIT(UNKNOWN), 0},
    {"late", {ONE(LIVENESS, .liveness = {.node = N1, .state = LKS_LATE})}, BIT(STALE), 0},
    {"booted", {ONE(BOOTED, .booted = {.node = N1, .boot = LKS_STR_C("b")})}, BIT(STALE), 0},
    {"heartbeats that name what was not sent",
     {ONE(NOTED, .noted = {.node = N1, .note = LKS_NOTE_CONTRADICTION, .on = true})},
     BIT(STALE),
     0},
    {"sent since",
     {ONE(NOTED, .noted = {.node = N1, .note = LKS_NOTE_CONTRADICTION, .on = true}),
      ONE(NOTED, .noted = {.node = N1, .note = LKS_NOTE_CONTRADICTION})},
     0,
     0},
    {"a clock that is off",
     {ONE(NOTED, .noted = {.node = N1, .note = LKS_NOTE_SKEW, .on = true})},
     0,
     0},
    {"revoked", {ONE(REVOKED, .revoked = {.node = N1})}, BIT(STALE), 0},
    {"readings that were not judged",
     {ONE(TUPLE, .tuple = {.node = N1, .boot = BOOT, .basis = LKS_STR_C("x")})},
     BIT(UNMEASURED),
     0},
    {"not all was measured",
     {ONE(VERDICT, .verdict = {.basis = LKS_STR_C("good"),
                               .stack = LKS_STR_C("s"),
                               .judged = LKS_JUDGED_UNMEASURED,
                               .values = LKS_STR_C(GOOD)})},
     BIT(UNMEASURED),
     BIT(UNMEASURED)},
    {"drift, and so a mixed domain", {DRIFTED}, BIT(DRIFT) | BIT(DOMAIN), BIT(DOMAIN)},
    {"drift of one that is late mixes nothing",
     {DRIFTED, ONE(LIVENESS, .liveness = {.node = N1, .state = LKS_LATE})},
     BIT(DRIFT) | BIT(STALE),
     0},
    {"drift, moved to another domain",
     {DRIFTED,
      ONE(PLACED, .placed = {.hosts = N1, .pool = LKS_STR_C("train"), .domain = LKS_STR_C("r2")})},
     BIT(DRIFT),
     0},
    {"drift that is over",
     {DRIFTED, ONE(TUPLE, .tuple = {.node = N1,
                                    .boot = BOOT,
                                    .basis = LKS_STR_C("good"),
                                    .whole = LKS_STR_C("good")})},
     0,
     0},
    {"another pin",
     {ONE(POOL, .pool = {.name = LKS_STR_C("train"), .stack_digest = LKS_STR_C("u"), .sweep = 1})},
     BIT(UNMEASURED),
     BIT(UNMEASURED)},
    {"unhealthy", {CONDITION_OF(UNHEALTHY, .on = true)}, BIT(UNHEALTHY), 0},
    {"healthy again",
     {CONDITION_OF(UNHEALTHY, .on = true), CONDITION_OF(UNHEALTHY, .on = false)},
     0,
     0},
    {"changing to what it runs not yet",
     {CONDITION_OF(CHANGING, .on = true, .stack = LKS_STR_C("t"))},
     BIT(CHANGING) | BIT(UNMEASURED),
     0},
    {"changing, and there already",
     {CONDITION_OF(CHANGING, .on = true, .stack = LKS_STR_C("t")), DRIFTED},
     BIT(CHANGING) | BIT(DOMAIN),
     BIT(DOMAIN)},
    {"a change that ended, where it was",
     {CONDITION_OF(CHANGING, .on = true, .stack = LKS_STR_C("t")),
      CONDITION_OF(CHANGING, .on = false)},
     0,
     0},
    {"held with drift", {DRIFTED, ONE(HELD, .held = {.node = N1})}, BIT(DRIFT) | BIT(HELD), 0},
    {"intake", {ONE(INTAKE, .intake = {.node = N1})}, BIT(INTAKE), 0},
    {"drained",
     {ONE(DRAINED, .drained = {.node = N1, .owner = LKS_STR_C("kim")})},
     BIT(DRAINED),
     0},
    {"undrained by another",
     {ONE(DRAINED, .drained = {.node = N1, .owner = LKS_STR_C("kim")}),
      ONE(UNDRAINED, .undrained = {.node = N1, .owner = LKS_STR_C("ann")})},
     BIT(DRAINED),
     0},
    {"undrained",
     {ONE(DRAINED, .drained = {.node = N1, .owner = LKS_STR_C("kim")}),
      ONE(UNDRAINED, .undrained = {.node = N1, .owner = LKS_STR_C("kim")})},
     0,
     0},
    {"a deviation, where they are refused",
     {DRIFTED, DEVIATES("driver", "")},
     BIT(DEVIATION) | BIT(DOMAIN),
     BIT(DOMAIN)},
    {"a deviation, where they are allowed",
     {DRIFTED, DEVIATES("driver", ""), ASKED(.deviations = true)},
     BIT(DOMAIN),
     BIT(DOMAIN)},
    {"a deviation of anything",
     {DRIFTED, DEVIATES("*", ""), ASKED(.deviations = true)},
     BIT(DOMAIN),
     BIT(DOMAIN)},
    {"a deviation of this value",
     {DRIFTED, DEVIATES("driver", "2"), ASKED(.deviations = true)},
     BIT(DOMAIN),
     BIT(DOMAIN)},
    {"a deviation of another value",
     {DRIFTED, DEVIATES("driver", "3")},
     BIT(DRIFT) | BIT(DOMAIN),
     BIT(DOMAIN)},
    {"a deviation of something else",
     {DRIFTED, DEVIATES("nic", "")},
     BIT(DRIFT) | BIT(DOMAIN),
     BIT(DOMAIN)},
    {"a deviation that ended",
     {DRIFTED, DEVIATES("driver", ""), ONE(DEVIATION_ENDED, .deviation_ended = {.id = 1})},
     BIT(DRIFT) | BIT(DOMAIN),
     BIT(DOMAIN)},
    {"a deviation of one thing of two",
     {DRIFTED, DEVIATES("driver", ""),
      ONE(VERDICT, .verdict = {.basis = LKS_STR_C("bad"),
                               .stack = LKS_STR_C("s"),
                               .judged = LKS_JUDGED_DRIFT,
                               .drifted = 2,
                               .wrong = LKS_STR_C(DRIVER NIC),
                               .values = LKS_STR_C(GOOD)})},
     BIT(DRIFT) | BIT(DEVIATION),
     0},
    {"a deviation, and the rest was not measured",
     {DRIFTED, DEVIATES("driver", ""),
      ONE(VERDICT, .verdict = {.basis = LKS_STR_C("bad"),
                               .stack = LKS_STR_C("s"),
                               .judged = LKS_JUDGED_DRIFT,
                               .drifted = 1,
                               .unmeasured = 1,
                               .wrong = LKS_STR_C(DRIVER DARK),
                               .values = LKS_STR_C(GOOD)})},
     BIT(UNMEASURED) | BIT(DEVIATION),
     0},
    {"a switch that drifts",
     {ONE(OUTBAND, .outband = {.node = LKS_STR_C("w1"),
                               .basis = LKS_STR_C("bad"),
                               .whole = LKS_STR_C("bad")})},
     BIT(DOMAIN),
     BIT(DOMAIN)},
    {"a switch that conforms",
     {ONE(OUTBAND, .outband = {.node = LKS_STR_C("w1"),
                               .basis = LKS_STR_C("good"),
                               .whole = LKS_STR_C("good")})},
     0,
     0},
    {"a switch that was not judged",
     {ONE(OUTBAND,
          .outband = {.node = LKS_STR_C("w1"), .basis = LKS_STR_C("x"), .whole = LKS_STR_C("x")})},
     0,
     0},
    {"a switch that drifted and was removed",
     {ONE(OUTBAND, .outband = {.node = LKS_STR_C("w1"),
                               .basis = LKS_STR_C("bad"),
                               .whole = LKS_STR_C("bad")}),
      ONE(REMOVED, .removed = {.hosts = LKS_STR_C("w1")})},
     0,
     0},
    {"attestation that is asked for", {ASKED(.attested = true)}, BIT(UNATTESTED), BIT(UNATTESTED)},
    {"attested until later",
     {ASKED(.attested = true), CONDITION_OF(ATTESTED, .on = true, .until = 1001)},
     0,
     BIT(UNATTESTED)},
    {"attested until now",
     {ASKED(.attested = true), CONDITION_OF(ATTESTED, .on = true, .until = 1000)},
     BIT(UNATTESTED),
     BIT(UNATTESTED)},
    {"a check that is asked for",
     {ASKED(.check_age = 100), CONDITION_OF(CHECKED, .on = true, .until = 900)},
     0,
     BIT(UNCHECKED)},
    {"a check that is too old",
     {ASKED(.check_age = 100), CONDITION_OF(CHECKED, .on = true, .until = 899)},
     BIT(UNCHECKED),
     BIT(UNCHECKED)},
    {"a verdict of drift that names nothing is drift all the same",
     {DRIFTED, ONE(VERDICT, .verdict = {.basis = LKS_STR_C("bad"),
                                        .stack = LKS_STR_C("s"),
                                        .judged = LKS_JUDGED_DRIFT,
                                        .values = LKS_STR_C(GOOD)})},
     BIT(DRIFT),
     0},
    {"an image that only one has, and so a value", {SECOND("nccl\t2.28.9\n")}, 0, 0},
    {"a device that only one has", {SECOND("driver\tgood\nfirmware/nic[PN]\t1\n")}, 0, 0},
    {"readings without any value", {SECOND("")}, 0, 0},
    {"another value of what both have",
     {SECOND("nccl\t2.28.9\ndriver\tother\n")},
     BIT(DOMAIN),
     BIT(DOMAIN)},
    {"a command that was not answered",
     {ONE(COMMAND, .command = {.id = 1, .node = N1})},
     BIT(CHANGING),
     0},
    {"one that was",
     {ONE(COMMAND, .command = {.id = 1, .node = N1}),
      ONE(COMMAND_ENDED, .command_ended = {.id = 1, .node = N1})},
     0,
     0},
    {"one that was not, and its node is no longer held",
     {ONE(HELD, .held = {.node = N1}), ONE(COMMAND, .command = {.id = 1, .node = N1}),
      ONE(UNHELD, .unheld = {.node = N1})},
     BIT(CHANGING),
     0},
    {"replaced",
     {DRIFTED, ONE(REPLACED, .replaced = {.node = N1})},
     BIT(STALE) | BIT(UNMEASURED),
     0},
    {"another machine, read by its endpoint alone",
     {ONE(REPLACED, .replaced = {.node = N1}),
      ONE(OUTBAND,
          .outband = {.node = N1, .basis = LKS_STR_C("good"), .whole = LKS_STR_C("good")})},
     BIT(STALE) | BIT(UNMEASURED),
     0},
};

static void test_bars(void)
{
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        lks_test_case("%s", rows[i].name);
        begin(&a);
        uint32_t n1 = lks_fleet_node(&a, "n1"), n2 = lks_fleet_node(&a, "n2");
        for (size_t j = 0; j < LKS_COUNT(rows[i].then); j++) {
            if (rows[i].then[j].kind != 0)
                lks_asked_apply(&a, &rows[i].then[j]);
        }
        const char *why = NULL;
        CHECK_INT(lks_node_status_bars(&a.state, n1, 1000), rows[i].n1);
        CHECK_INT(lks_node_status_bars(&a.state, n2, 1000), rows[i].n2);
        CHECK(lks_node_admissible(&a.state, n1, 1000, &why) == (rows[i].n1 == 0));
        CHECK((why == NULL) == (rows[i].n1 == 0));
        (void)check_standing(&a.state);
    }
}

/* Drift that was not recorded yet makes a tick due at once. */
static void test_news(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    begin(&a);
    CHECK_INT(a.state.standing->news, 0);
    CHECK(lks_decide_next(&a.state) > a.state.seen.mono);
    lks_asked_apply(&a, &(struct lks_record)DRIFTED);
    CHECK_INT(a.state.standing->news, 1);
    CHECK_INT(lks_decide_next(&a.state), a.state.seen.mono);
    struct lks_record drift = {.kind = LKS_RECORD_DRIFT, .drift = {.node = N1, .on = true}};
    lks_asked_apply(&a, &drift);
    CHECK_INT(a.state.standing->news, 0);
    lks_asked_apply(&a, &(struct lks_record)DEVIATES("*", ""));
    CHECK_INT(a.state.standing->news, 1);
    drift.drift.on = false;
    lks_asked_apply(&a, &drift);
    CHECK_INT(a.state.standing->news, 0);
}

/* A deviation's end and an out-of-band reading's age are times of ticks. */
static const struct {
    const char *name;
    struct lks_record then[2];
    lks_ms after; /* ms from now; UINT64_MAX: no tick for this */
} due[] = {
    {"nothing", {{0}}, UINT64_MAX},
    {"a deviation", {DEVIATES("*", "")}, 5000},
    {"a deviation that ended",
     {DEVIATES("*", ""), ONE(DEVIATION_ENDED, .deviation_ended = {.id = 1})},
     UINT64_MAX},
    {"an out-of-band reading",
     {ONE(OUTBAND, .outband = {.node = LKS_STR_C("w1"), .basis = LKS_STR_C("good")})},
     700},
    {"one that is over",
     {ONE(OUTBAND, .outband = {.node = LKS_STR_C("w1"), .basis = LKS_STR_C("good")}),
      ONE(OUTBAND, .outband = {.node = LKS_STR_C("w1")})},
     UINT64_MAX},
    {"one whose node is gone",
     {ONE(OUTBAND, .outband = {.node = LKS_STR_C("w1"), .basis = LKS_STR_C("good")}),
      ONE(REMOVED, .removed = {.hosts = LKS_STR_C("w1")})},
     UINT64_MAX},
};

static void test_due(void)
{
    for (size_t i = 0; i < LKS_COUNT(due); i++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        lks_test_case("%s", due[i].name);
        begin(&a);
        a.state.seen = a.now;
        say(&a, (struct lks_record){
                    .kind = LKS_RECORD_LIMITS,
                    .limits = {.heartbeat = 1, .late = 10000, .lost = 20000, .outband_age = 700}});
        lks_ms otherwise = lks_decide_next(&a.state);
        for (size_t j = 0; j < LKS_COUNT(due[i].then); j++) {
            struct lks_record r = due[i].then[j];
            if (r.kind == LKS_RECORD_DEVIATION)
                r.deviation.expires += a.now.wall;
            if (r.kind == LKS_RECORD_OUTBAND)
                r.outband.taken = a.now.wall;
            if (r.kind != 0)
                lks_asked_apply(&a, &r);
        }
        lks_ms want = due[i].after == UINT64_MAX ? otherwise : a.now.mono + due[i].after;
        CHECK_INT(lks_decide_next(&a.state), want);
    }
}

/* A reading that was past its age when it was recorded is due no more. */
static void test_over(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    begin(&a);
    uint32_t w1 = lks_fleet_node(&a, "w1");
    struct lks_record r =
        ONE(OUTBAND, .outband = {.node = LKS_STR("w1"), .basis = LKS_STR("good")});
    say(&a, (struct lks_record){.kind = LKS_RECORD_LIMITS, .limits = {.outband_age = 100}});
    r.outband.taken = a.now.wall - 99;
    lks_asked_apply(&a, &r);
    CHECK(!a.state.nodes[w1].outband_over);
    CHECK_INT(a.state.outband_ends.count, 1);
    lks_fleet_wait(&a, 1);
    lks_asked_apply(&a, &r);
    CHECK(a.state.nodes[w1].outband_over);
    CHECK_INT(a.state.outband_ends.count, 0);
    lks_test_case("another limit");
    say(&a, (struct lks_record){.kind = LKS_RECORD_LIMITS, .limits = {.outband_age = 1}});
    CHECK(!a.state.nodes[w1].outband_over);
    CHECK_INT(a.state.outband_ends.count, 1);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"node status: any record in any state", test_property},
        {"node status: one reason at a time", test_bars},
        {"node status: news", test_news},
        {"node status: what is due", test_due},
        {"node status: a reading past its age", test_over},
        {0},
    });
}
