/* Random fleets and random questions: lks_admit() says what a slow and obvious reading of the rules
 * in docs/admission.md says. Nothing here uses bits, numbers of nodes that were looked up, or what
 * was judged before. */
#include "base/rng.h"
#include "codec/notation/hostlist.h"
#include "core/admission/admit.h"
#include "core/conform/verdict.h"
#include "core/rows/deviation.h"
#include "core/rows/job.h"
#include "core/rows/node.h"
#include "core/rows/pool.h"
#include "core/rows/verdict.h"
#include "core/state/lookup.h"
#include "tests/jobs.h"
#include "tests/test.h"

#include <stdio.h>

enum { SEEDS = 250, ASKS = 25, NODES = 24, POOLS = 4, NAMES_MAX = 12, MEMORY = 1 << 20 };

/* A fleet ------------------------------------------------------------------------------------ */

static const char *const postures[] = {"pre-training",     "pre-training", "post-training",
                                       "online-inference", "batch",        "dev"};
static const char *const modes[] = {"on", "on", "warn", "observe"};
static const char *const stacks[] = {"golden", "golden", "lax", "-"};
static const char *const flags[] = {"", "", "attested", "check=50000", "deviations"};

#define PICK(rng, list) (list)[lks_rng_below((rng), LKS_COUNT(list))]

static void make_pools(struct lks_rng *rng, struct lks_buf *out)
{
    for (int i = 0; i < POOLS; i++) {
        lks_buf_addf(out, "pool p%d %s %s %s", i, PICK(rng, postures), PICK(rng, modes),
                     PICK(rng, stacks));
        lks_buf_addf(out, " %s %s\n", PICK(rng, flags), PICK(rng, flags));
    }
}

/* What bases there are: b0 is right for both stacks, the others are not quite. */
static void make_verdicts(struct lks_buf *out)
{
    lks_buf_addf(out, "publish golden\npublish lax\n");
    lks_buf_addf(out, "verdict b0 golden driver=580 dcgm=4\nverdict b0 lax driver=580 dcgm=4\n"
                      "verdict b1 golden driver=580 dcgm=5\nverdict b1 lax driver=580 dcgm=5\n"
                      "verdict b2 golden driver=575!580 dcgm=4\n"
                      "verdict b3 golden driver=575!580 dcgm=3!4\n"
                      "verdict b3 lax driver=580 dcgm=4\n"
                      "verdict b4 golden driver=580 dcgm=?!4\n"
                      "verdict b5 golden driver=575!580 dcgm=?!4\n");
}

static void make_node(struct lks_rng *rng, struct lks_buf *out, int i)
{
    static const char *const troubles[] = {"late",  "reboot",    "hold",  "intake",
                                           "drain", "unhealthy", "remove"};
    if (lks_rng_percent(rng, 5))
        lks_buf_addf(out, "nodes n%d -\n", i);
    else
        lks_buf_addf(out, "nodes n%d p%d %s\n", i, (int)lks_rng_below(rng, POOLS),
                     lks_rng_percent(rng, 25)   ? "r1"
                     : lks_rng_percent(rng, 25) ? "r2"
                                                : "");
    if (!lks_rng_percent(rng, 3))
        lks_buf_addf(out, "run n%d b%d\n", i,
                     lks_rng_percent(rng, 70) ? 0 : (int)lks_rng_below(rng, 7));
    if (lks_rng_percent(rng, 90))
        lks_buf_addf(out, "attested n%d %d\n", i, (int)lks_rng_below(rng, 90000));
    if (lks_rng_percent(rng, 90))
        lks_buf_addf(out, "checked n%d %d\n", i, (int)lks_rng_below(rng, 20000));
    if (lks_rng_percent(rng, 12))
        lks_buf_addf(out, "%s n%d\n", PICK(rng, troubles), i);
    if (lks_rng_percent(rng, 4))
        lks_buf_addf(out, "changing n%d %s\n", i, PICK(rng, stacks));
    if (lks_rng_percent(rng, 15))
        lks_buf_addf(out, "deviation n%d %s\n", i, lks_rng_percent(rng, 50) ? "*" : "driver");
    if (lks_rng_percent(rng, 10))
        lks_buf_addf(out, "override %s n[0-%d] %d\n", lks_rng_percent(rng, 80) ? "j" : "k", i,
                     (int)lks_rng_below(rng, 90000));
}

static void make_fleet(uint64_t seed, struct lks_jobs *j)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf lines = LKS_BUF(MEMORY);
    struct lks_rng rng = {seed};
    make_pools(&rng, &lines);
    make_verdicts(&lines);
    for (int i = 0; i < NODES; i++)
        make_node(&rng, &lines, i);
    lks_jobs_init(j, NULL);
    lks_jobs_tell(j, lines.ptr);
    j->asked.now.wall += lks_rng_below(&rng, 60000);
}

/* The rules, slowly -------------------------------------------------------------------------- */

struct slow {
    const struct lks_state *s;
    lks_ms now;
    const struct lks_admit_ask *ask;
    uint64_t refused[LKS_BAR_COUNT], warned[LKS_BAR_COUNT];
    lks_ms lasts;
};

static const struct lks_node *find(const struct slow *q, struct lks_str name)
{
    for (uint32_t i = 0; i < q->s->node_count; i++) {
        const struct lks_node *n = &q->s->nodes[i];
        if (lks_str_eq(lks_state_name(q->s, i), name) && n->placed && n->asset == 0)
            return n;
    }
    return NULL;
}

static const struct lks_state_pool *pool_of(const struct slow *q, const struct lks_node *n)
{
    return n->pool < q->s->pool_count ? &q->s->pools[n->pool] : NULL;
}

static struct lks_str text(const struct slow *q, lks_text t)
{
    return lks_state_text(q->s, t);
}

static lks_text intent(const struct slow *q, const struct lks_node *n)
{
    if (n->changing != 0 && n->target != 0)
        return n->target;
    return pool_of(q, n) != NULL ? pool_of(q, n)->stack_digest : 0;
}

static struct lks_str posture(const struct slow *q, const struct lks_node *n)
{
    return pool_of(q, n) != NULL ? text(q, pool_of(q, n)->posture) : LKS_STR("");
}

static bool enforces(const struct slow *q, const struct lks_node *n)
{
    return pool_of(q, n) != NULL && lks_str_is(text(q, pool_of(q, n)->enforce), "on");
}

static bool gang(const struct slow *q, const struct lks_node *n)
{
    struct lks_str p = posture(q, n);
    return p.len == 0 || lks_str_is(p, "pre-training") || lks_str_is(p, "post-training");
}

static const struct lks_state_verdict *verdict(const struct slow *q, const struct lks_node *n)
{
    for (uint32_t i = 1; i < q->s->verdict_count; i++) {
        const struct lks_state_verdict *v = &q->s->verdicts[i];
        if (v->basis != 0 && v->basis == n->whole && v->stack == intent(q, n))
            return v;
    }
    return NULL;
}

static bool covered(const struct slow *q, const struct lks_node *n, struct lks_str subject)
{
    uint32_t number = (uint32_t)(n - q->s->nodes);
    for (uint32_t i = 0; i < q->s->deviation_count; i++) {
        const struct lks_deviation *d = &q->s->deviations[i];
        struct lks_str hosts = lks_state_name(q->s, number);
        struct lks_str of = text(q, d->subject);
        if (lks_str_eq(text(q, d->hosts), hosts) &&
            (lks_str_is(of, "*") || lks_str_eq(of, subject)))
            return true;
    }
    return false;
}

/* Its readings: drift that no deviation covers, a deviation, or less than all. */
static void read_verdict(const struct slow *q, const struct lks_node *n, bool is[LKS_BAR_COUNT])
{
    const struct lks_state_verdict *v = verdict(q, n);
    struct lks_str lines = v != NULL ? text(q, v->wrong) : LKS_STR("");
    struct lks_wrong wrong;
    bool unread = v == NULL, deviates = false;
    while (lks_verdict_wrong_next(&lines, &wrong)) {
        bool one = lks_str_is(wrong.cause, "unmeasured");
        bool passed = !one && covered(q, n, wrong.subject);
        unread |= one;
        deviates |= passed;
        is[LKS_BAR_DRIFT] |= !one && !passed;
    }
    is[LKS_BAR_UNMEASURED] = unread && !is[LKS_BAR_DRIFT];
    is[LKS_BAR_DEVIATION] = deviates && pool_of(q, n) != NULL && !pool_of(q, n)->deviations;
}

static bool mixed_domain(const struct slow *q, const struct lks_node *n)
{
    const struct lks_state_verdict *first = NULL;
    for (uint32_t i = 0; i < q->s->node_count && n->domain != 0; i++) {
        const struct lks_node *m = &q->s->nodes[i];
        const struct lks_state_verdict *v = verdict(q, m);
        if (!m->placed || m->domain != n->domain || m->liveness != LKS_LIVE || v == NULL || m->held)
            continue; /* it serves without them */
        if (first == NULL)
            first = v;
        if (v->values != first->values)
            return true;
    }
    return false;
}

static void node_bars(struct slow *q, const struct lks_node *n, bool is[LKS_BAR_COUNT])
{
    const struct lks_state_pool *pool = pool_of(q, n);
    read_verdict(q, n, is);
    is[LKS_BAR_STALE] = n->liveness != LKS_LIVE || n->tuple_boot != n->boot;
    is[LKS_BAR_UNHEALTHY] = n->unhealthy;
    is[LKS_BAR_CHANGING] = n->changing != 0;
    is[LKS_BAR_HELD] = n->held;
    is[LKS_BAR_INTAKE] = n->intake;
    is[LKS_BAR_DRAINED] = n->drained_by != 0;
    is[LKS_BAR_DOMAIN] = mixed_domain(q, n);
    if (pool == NULL)
        return;
    is[LKS_BAR_UNATTESTED] = pool->attested && n->attested_until <= q->now;
    is[LKS_BAR_UNCHECKED] =
        pool->check_age > 0 && (n->checked_at == 0 || n->checked_at + pool->check_age < q->now);
    if (pool->attested && !is[LKS_BAR_UNATTESTED] && n->attested_until < q->lasts)
        q->lasts = n->attested_until;
    if (pool->check_age > 0 && !is[LKS_BAR_UNCHECKED] && n->checked_at + pool->check_age < q->lasts)
        q->lasts = n->checked_at + pool->check_age;
}

static void note(struct slow *q, enum lks_bar bar, bool refuse)
{
    ++*(refuse ? &q->refused[bar] : &q->warned[bar]);
}

/* Of those that must agree, how many have what `n` has. */
static size_t alike(const struct slow *q, const struct lks_node *n)
{
    size_t count = 0;
    for (size_t i = 0; i < q->ask->count; i++) {
        const struct lks_node *m = find(q, q->ask->names[i]);
        count += m != NULL && gang(q, m) && verdict(q, m) != NULL &&
                 verdict(q, m)->stack == verdict(q, n)->stack &&
                 lks_str_eq(text(q, verdict(q, m)->values), text(q, verdict(q, n)->values));
    }
    return count;
}

/* Whether any node is in a pool that enforces; `only` those that must agree. */
static bool any_enforces(const struct slow *q, bool only)
{
    for (size_t i = 0; i < q->ask->count; i++) {
        const struct lks_node *n = find(q, q->ask->names[i]);
        if (n != NULL && enforces(q, n) && (gang(q, n) || !only))
            return true;
    }
    return false;
}

static void agreement(struct slow *q)
{
    const struct lks_node *best = NULL;
    for (size_t i = 0; i < q->ask->count; i++) {
        const struct lks_node *n = find(q, q->ask->names[i]);
        if (n != NULL && gang(q, n) && verdict(q, n) != NULL &&
            (best == NULL || alike(q, n) > alike(q, best)))
            best = n;
    }
    for (size_t i = 0; i < q->ask->count && best != NULL; i++) {
        const struct lks_node *n = find(q, q->ask->names[i]);
        if (n == NULL || !gang(q, n) || verdict(q, n) == NULL)
            continue;
        if (verdict(q, n)->stack != verdict(q, best)->stack ||
            !lks_str_eq(text(q, verdict(q, n)->values), text(q, verdict(q, best)->values)))
            note(q, LKS_BAR_DISAGREES, any_enforces(q, true));
    }
}

static bool clash(const struct slow *q, const struct lks_node *a, const struct lks_node *b)
{
    struct lks_str x = posture(q, a), y = posture(q, b);
    bool alone = x.len == 0 || lks_str_is(x, "pre-training");
    return lks_str_is(x, "dev") != lks_str_is(y, "dev") || (alone && !lks_str_eq(x, y));
}

static void mixing(struct slow *q)
{
    for (size_t i = 0; i < q->ask->count; i++) {
        for (size_t k = 0; k < q->ask->count; k++) {
            const struct lks_node *a = find(q, q->ask->names[i]), *b = find(q, q->ask->names[k]);
            if (a != NULL && b != NULL && clash(q, a, b)) {
                note(q, LKS_BAR_POSTURE, any_enforces(q, false));
                return;
            }
        }
    }
}

static bool other_stack(const struct slow *q, const struct lks_jobs *j, const struct lks_node *n)
{
    char digest[LKS_DIGEST_SIZE];
    if (q->ask->stack.len == 0)
        return false;
    lks_jobs_digest(j, q->ask->stack, digest);
    return !lks_str_eq(text(q, intent(q, n)), lks_str_from(digest));
}

static void slowly(struct slow *q, const struct lks_jobs *j)
{
    for (size_t i = 0; i < q->ask->count; i++) {
        const struct lks_node *n = find(q, q->ask->names[i]);
        bool is[LKS_BAR_COUNT] = {0};
        if (n == NULL) {
            note(q, LKS_BAR_UNKNOWN, true);
            continue;
        }
        node_bars(q, n, is);
        is[LKS_BAR_STACK] = other_stack(q, j, n);
        for (int bar = 0; bar < LKS_BAR_COUNT; bar++) {
            if (is[bar])
                note(q, (enum lks_bar)bar, enforces(q, n));
        }
    }
    agreement(q);
    mixing(q);
    if (q->ask->behind > q->s->limits.staleness)
        note(q, LKS_BAR_BEHIND, any_enforces(q, false));
}

static uint64_t sum(const uint64_t counts[LKS_BAR_COUNT])
{
    uint64_t total = 0;
    for (int bar = 0; bar < LKS_BAR_COUNT; bar++)
        total += counts[bar];
    return total;
}

/* Overrides of this test are for n0 to a last one. */
static bool within(struct lks_str name, struct lks_str hosts)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    struct lks_hostlist list = {0};
    struct lks_err err = {0};
    lks_arena_init(&arena, MEMORY);
    LKS_ASSERT(lks_hostlist_parse(hosts, &arena, &list, &err) == LKS_OK);
    for (size_t i = 0; i < list.count; i++) {
        if (lks_str_eq(list.names[i], name))
            return true;
    }
    return false;
}

/* Until when a person lets it start; 0: nobody does. */
static lks_ms overridden(const struct slow *q)
{
    lks_ms until = 0;
    if (q->refused[LKS_BAR_UNKNOWN] + q->refused[LKS_BAR_CHANGING] + q->refused[LKS_BAR_BEHIND] > 0)
        return 0;
    for (uint32_t i = 0; i < q->s->override_count; i++) {
        const struct lks_override *o = &q->s->overrides[i];
        bool all = lks_str_eq(text(q, o->job), q->ask->job) && o->until > q->now;
        for (size_t k = 0; k < q->ask->count; k++)
            all = all && within(q->ask->names[k], text(q, o->hosts));
        if (all && o->until > until)
            until = o->until;
    }
    return until;
}

/* Questions ---------------------------------------------------------------------------------- */

static void count_list(const struct lks_admit_list *list, uint64_t out[LKS_BAR_COUNT])
{
    CHECK_INT(list->count, list->total);
    for (size_t i = 0; i < list->count; i++) {
        out[list->items[i].bar]++;
        CHECK(list->items[i].text.len > 0);
    }
}

static void compare(const struct slow *q, const struct lks_admit *answer)
{
    uint64_t refused[LKS_BAR_COUNT] = {0}, warned[LKS_BAR_COUNT] = {0};
    bool yes = sum(q->refused) == 0;
    lks_ms until = q->now + q->s->limits.validity, person = yes ? 0 : overridden(q);
    count_list(&answer->refused, refused);
    count_list(&answer->warned, warned);
    for (int bar = 0; bar < LKS_BAR_COUNT; bar++) {
        const char *word = lks_bar_words[bar];
        if (!CHECK_INT(refused[bar], q->refused[bar]) || !CHECK_INT(warned[bar], q->warned[bar]))
            printf("that was %s\n", word);
        CHECK_INT(answer->bars[bar], q->refused[bar] + q->warned[bar]);
    }
    CHECK_INT(answer->yes, yes || person > 0);
    CHECK_INT(answer->overridden, person > 0);
    until = until < q->lasts ? until : q->lasts;
    until = person > 0 && person < until ? person : until;
    CHECK_INT(answer->valid_until, answer->yes ? until : 0);
}

/* A few nodes, each once: mostly of the fleet, now and then of none. */
static size_t choose(struct lks_rng *rng, char texts[NAMES_MAX][8], struct lks_str *names)
{
    size_t count = 1 + lks_rng_below(rng, NAMES_MAX), at = lks_rng_below(rng, NODES);
    size_t step = lks_rng_percent(rng, 50) ? 1 : 5; /* neither shares a factor with their number */
    for (size_t i = 0; i < count; i++) {
        bool stranger = lks_rng_percent(rng, 1);
        snprintf(texts[i], 8, "%c%d", stranger ? 'x' : 'n', (int)((at + i * step) % NODES));
        names[i] = lks_str_from(texts[i]);
    }
    return count;
}

static bool ask_one(struct lks_rng *rng, const struct lks_jobs *j)
{
    LKS_CLEANUP(lks_admit_fini) struct lks_admit answer = {0};
    char texts[NAMES_MAX][8];
    struct lks_str names[NAMES_MAX];
    struct lks_err err = {0};
    const struct lks_book book = lks_jobs_book(j);
    const struct lks_admit_ask ask = {
        .job = LKS_STR("j"),
        .names = names,
        .count = choose(rng, texts, names),
        .stack = lks_rng_percent(rng, 80) ? LKS_STR("") : lks_str_from(PICK(rng, stacks)),
        .behind = lks_rng_percent(rng, 90) ? lks_rng_below(rng, 5001) : 6000,
    };
    struct slow q = {
        .s = &j->asked.state, .now = j->asked.now.wall, .ask = &ask, .lasts = UINT64_MAX};
    slowly(&q, j);
    if (CHECK_CODE(lks_admit(q.s, &book, j->asked.now, &ask, &answer, &err), LKS_OK))
        compare(&q, &answer);
    return answer.yes;
}

static void test_random(void)
{
    size_t yes = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        LKS_CLEANUP(lks_jobs_fini) struct lks_jobs j = {0};
        struct lks_rng rng = {seed * 7919};
        lks_test_case("seed %llu", (unsigned long long)seed);
        make_fleet(seed, &j);
        for (int i = 0; i < ASKS; i++)
            yes += ask_one(&rng, &j);
    }
    /* Both answers have to come about, or this says little. */
    CHECK(yes > SEEDS * ASKS / 20 && yes < SEEDS * ASKS * 19 / 20);
}

int main(void)
{
    static const struct lks_test tests[] = {{"random", test_random}, {0}};
    return lks_test_main(tests);
}
