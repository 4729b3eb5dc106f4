/*
 * Several controllers on one store, in an invented world.
 *
 * Three of them run the production engine: one leads by lease, the others follow. They crash, are
 * paused and wake late, lose sight of the store, and have clocks that are off. Nodes drift, turn
 * unhealthy and come back; some are changed, a step at a time; jobs ask any controller whether they
 * may start. What must hold is checked as it happens (controllers_checks.c), with a seed that
 * repeats exactly:
 *
 *     sim_controllers          run many seeds, and show that broken rules are found
 *     sim_controllers 17       run one and print what happens
 *     sim_controllers 17 2     the same with the second rule broken (enum ctl_broken)
 */
#include "sim/controllers.h"

#include "tests/facts.h"
#include "tests/test.h"
#include "tests/tuples.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define SEEDS UINT64_C(500)
#define STORM ((lks_ms)8 * 60 * LKS_SECOND)
#define CALM  ((lks_ms)3 * 60 * LKS_SECOND)

void ctl_say(const struct ctl_world *w, const char *fmt, ...)
{
    if (!w->print)
        return;
    va_list ap;
    va_start(ap, fmt);
    printf("%9" PRIu64 " ms  ", w->now);
    vprintf(fmt, ap);
    putchar('\n');
    va_end(ap);
}

lks_ms ctl_between(struct ctl_world *w, lks_ms low, lks_ms high)
{
    return low + lks_rng_below(&w->rng, high - low + 1);
}

bool ctl_chance(struct ctl_world *w, unsigned percent)
{
    return lks_rng_percent(&w->rng, percent);
}

/* Each actor has one moment at which it acts next. */
void ctl_at(struct ctl_world *w, uint32_t actor, lks_ms when)
{
    struct lks_err err = {0};
    LKS_ASSERT(lks_heap_set(&w->agenda, actor, when, &err) == LKS_OK);
}

struct lks_now ctl_clock(const struct ctl_world *w, const struct ctl *c)
{
    return (struct lks_now){.wall = (lks_ms)((int64_t)(CTL_WALL + w->now) + c->skew),
                            .mono = w->now};
}

/* A controller's life ------------------------------------------------------------------------- */

static bool is_awake(const struct ctl_world *w, const struct ctl *c)
{
    return c->engine != NULL && c->paused_until <= w->now;
}

static void end_process(struct ctl_world *w, struct ctl *c, const char *why)
{
    if (c->engine == NULL)
        return;
    ctl_say(w, "%s ends: %s", c->name, why);
    lks_engine_batch_fini(&c->batch);
    lks_engine_free(c->engine);
    lks_store_close(&c->store);
    c->engine = NULL;
    c->writing = c->commit_planned = false;
    c->epoch = 0;
    c->late.there = false;
    c->paused_until = 0;
    ctl_at(w, CTL_POLL(c), w->now + ctl_between(w, LKS_SECOND, 20 * LKS_SECOND));
    (void)lks_heap_remove(&w->agenda, CTL_COMMIT(c));
}

/* Before anything leaves: a leader looks at the clock. */
static bool may_answer(struct ctl_world *w, struct ctl *c)
{
    if (c->epoch == 0 || w->now < c->lease_until || w->broken == CTL_NO_LEASE)
        return true;
    end_process(w, c, "its lease is over");
    return false;
}

static void start_process(struct ctl_world *w, struct ctl *c)
{
    struct lks_err err = {0};
    enum lks_code code = lks_store_memory_share(w->disk, &c->store, &err);
    ctl_require(w, code == LKS_OK, err.msg);
    code = lks_engine_place_check(&c->store, &c->seen, &err);
    ctl_require(w, code == LKS_OK, err.msg);
    c->confirmed = w->now;
    code = lks_engine_open(&c->store, &w->options, ctl_clock(w, c), &c->engine, &err);
    ctl_require(w, code == LKS_OK, err.msg);
    if (code != LKS_OK)
        return;
    c->life++;
    c->place = lks_engine_place(c->engine);
    (void)snprintf(c->holder, sizeof(c->holder), "%s:%u", c->name, c->life);
    ctl_say(w, "%s starts at row %" PRIu64, c->name, lks_engine_seq(c->engine));
}

/* A leader's turns and commits ---------------------------------------------------------------- */

void ctl_plan(struct ctl_world *w, struct ctl *c)
{
    lks_ms next = lks_engine_next(c->engine);
    bool pending = lks_engine_seq(c->engine) > lks_engine_durable_seq(c->engine);
    if (pending && !c->writing && !c->commit_planned) {
        c->commit_planned = true;
        ctl_at(w, CTL_COMMIT(c), w->now + ctl_between(w, 0, 20));
    }
    if (next != UINT64_MAX)
        ctl_at(w, CTL_TICK(c), next > w->now ? next : w->now + 1);
}

enum lks_code ctl_turn(struct ctl_world *w, struct ctl *c, const struct lks_event *event,
                       const struct lks_store_blob *blob)
{
    LKS_CLEANUP(lks_decision_fini) struct lks_decision d;
    struct lks_err err = {0};
    uint64_t needs = 0;
    lks_decision_init(&d);
    enum lks_code code = lks_engine_turn(c->engine, ctl_clock(w, c), event, blob, &d, &needs, &err);
    ctl_require(w, code == LKS_OK || code == LKS_E_UNAVAILABLE, err.msg);
    if (code == LKS_OK && d.refused.code != LKS_OK) {
        ctl_say(w, "%s refuses: %s", c->name, d.refused.msg);
        code = d.refused.code;
    }
    if (event->kind == LKS_EVENT_TICK && d.more)
        return ctl_turn(w, c, event, NULL);
    ctl_plan(w, c);
    return code;
}

static void commit(struct ctl_world *w, struct ctl *c);

static void tick(struct ctl_world *w, struct ctl *c)
{
    struct lks_event event = {.kind = LKS_EVENT_TICK};
    if (c->epoch == 0)
        return;
    if (!c->writing) /* a signature may be due */
        commit(w, c);
    (void)ctl_turn(w, c, &event, NULL);
}

static void draw_crash(struct ctl_world *w, const struct ctl *c)
{
    if (w->calm || !ctl_chance(w, 2))
        return;
    bool before = ctl_chance(w, 50);
    lks_memory_disk_fail(w->disk, before ? LKS_MEMORY_CRASH_BEFORE : LKS_MEMORY_CRASH_AFTER,
                         lks_rng_below(&w->rng, c->batch.store.row_count + 1));
}

/* Take at one moment, write at a later one: a pause may fall between them. */
static void commit(struct ctl_world *w, struct ctl *c)
{
    struct lks_err err = {0};
    c->commit_planned = false;
    if (!c->writing) {
        c->writing = lks_engine_take(c->engine, ctl_clock(w, c), &c->batch);
        if (c->writing)
            ctl_at(w, CTL_COMMIT(c),
                   w->now + (ctl_chance(w, 3) ? 3 * LKS_SECOND : ctl_between(w, 1, 40)));
        return;
    }
    if (c->cut) {
        lks_engine_stall(c->engine, &(struct lks_err){.msg = "the store is away"});
        ctl_at(w, CTL_COMMIT(c), w->now + LKS_SECOND / 2);
        return;
    }
    draw_crash(w, c);
    enum lks_code code = lks_engine_commit(&w->options, &c->store, &c->batch, &err);
    lks_memory_disk_fail(w->disk, LKS_MEMORY_NO_CRASH, 0);
    ctl_check_rows(w);
    if (code != LKS_OK) {
        end_process(w, c, err.msg);
        return;
    }
    ctl_check_batch(w, c);
    if (c->batch.store.row_count > 0) {
        const struct lks_row *last = &c->batch.rows[c->batch.store.row_count - 1];
        c->seen.seq = last->seq;
        memcpy(c->seen.hash, last->hash, sizeof(last->hash));
    }
    lks_engine_durable(c->engine, &c->batch);
    lks_engine_batch_fini(&c->batch);
    c->writing = false;
    if (may_answer(w, c)) { /* what it made durable is acknowledged now */
        ctl_check_commit(w, c);
        ctl_plan(w, c);
    }
}

/* Following and the lease --------------------------------------------------------------------- */

static bool follow(struct ctl_world *w, struct ctl *c)
{
    struct lks_err err = {0};
    for (bool more = true; more;) {
        LKS_CLEANUP(lks_engine_news_fini) struct lks_engine_news news = {0};
        enum lks_code code = lks_engine_look(&w->options, &c->store, &c->place, &news, &err);
        if (code == LKS_OK)
            code = lks_engine_follow(c->engine, ctl_clock(w, c), &news, &err);
        ctl_require(w, code == LKS_OK, err.msg);
        if (code != LKS_OK)
            return false;
        more = news.more;
    }
    c->seen = c->place;
    ctl_check_follower(w, c);
    return true;
}

static void begin_to_lead(struct ctl_world *w, struct ctl *c, uint64_t epoch)
{
    struct lks_err err = {0};
    struct lks_event limits = {.kind = LKS_EVENT_LIMITS, .by = CTL_BY, .limits = w->limits};
    if (!follow(w, c))
        return;
    c->epoch = epoch;
    ctl_say(w, "%s leads in epoch %" PRIu64, c->name, epoch);
    enum lks_code code = lks_engine_lead(c->engine, ctl_clock(w, c), epoch, lks_str_from(c->name),
                                         LKS_STR("https://sim:7443"), &err);
    ctl_require(w, code == LKS_OK, err.msg);
    (void)ctl_turn(w, c, &limits, NULL);
    ctl_plan(w, c);
    ctl_fleet_begin(w, c);
}

static void ask_lease(struct ctl_world *w, struct ctl *c)
{
    struct lks_store_lease lease = {0};
    struct lks_err err = {0};
    enum lks_code code =
        c->store.ops->lead(c->store.self, c->holder, "https://sim:7443", CTL_LEASE, &lease, &err);
    ctl_require(w, code == LKS_OK, err.msg);
    w->lease_epoch = lease.epoch;
    bool ours = strcmp(lease.name, c->holder) == 0;
    if (ours)
        c->lease_until = w->now + CTL_LEASE - CTL_LEASE / 8;
    if (!ours && c->epoch != 0)
        end_process(w, c, "another has the lease");
    else if (!ours && lease.left > 0)
        c->confirmed = w->now;
    else if (ours && c->epoch == 0)
        begin_to_lead(w, c, lease.epoch);
}

static void poll(struct ctl_world *w, struct ctl *c)
{
    if (c->engine == NULL) {
        start_process(w, c);
    } else if (may_answer(w, c) && !c->cut) {
        if (c->epoch != 0 || follow(w, c))
            ask_lease(w, c);
    }
    if (c->engine != NULL)
        ctl_at(w, CTL_POLL(c), w->now + (c->epoch != 0 ? CTL_LEASE / 3 : CTL_POLL_MS));
}

/* What falls upon controllers ----------------------------------------------------------------- */

static void wake(struct ctl_world *w, struct ctl *c)
{
    if (c->late.there && may_answer(w, c)) {
        ctl_say(w, "%s wakes and says what it decided", c->name);
        ctl_check_yes(w, &c->late);
    }
    c->late.there = false;
}

static void pause_for(struct ctl_world *w, struct ctl *c, lks_ms time)
{
    ctl_say(w, "%s is paused for %" PRIu64 " ms", c->name, time);
    c->paused_until = w->now + time;
    ctl_at(w, CTL_WAKE(c), c->paused_until);
}

static void fault(struct ctl_world *w, struct ctl *c)
{
    unsigned what = (unsigned)lks_rng_below(&w->rng, 5);
    ctl_at(w, CTL_FAULT(c), w->now + ctl_between(w, 10 * LKS_SECOND, 120 * LKS_SECOND));
    if (c->cut || w->calm) {
        c->cut = false;
        return;
    }
    if (what == 0) {
        end_process(w, c, "killed");
    } else if (what < 3 && is_awake(w, c)) {
        pause_for(w, c, ctl_between(w, 50, what == 1 ? 2000 : 40 * LKS_SECOND));
    } else if (what == 3) {
        c->cut = true;
        ctl_say(w, "%s cannot reach the store", c->name);
        ctl_at(w, CTL_FAULT(c), w->now + ctl_between(w, LKS_SECOND, 30 * LKS_SECOND));
    }
}

/* The fleet ----------------------------------------------------------------------------------- */

/* Whoever takes requests of agents and people at this moment. */
struct ctl *ctl_leader(struct ctl_world *w)
{
    for (unsigned i = 0; i < CTL_COUNT; i++) {
        struct ctl *c = &w->controllers[i];
        if (is_awake(w, c) && c->epoch != 0 && may_answer(w, c))
            return c;
    }
    return NULL;
}

/* Jobs ---------------------------------------------------------------------------------------- */

/* Whether a job may start on some nodes, asked of any controller that answers. */
static void job(struct ctl_world *w)
{
    struct ctl *c = &w->controllers[lks_rng_below(&w->rng, CTL_COUNT)];
    struct lks_str names[CTL_NODES_MAX];
    struct lks_admit_ask ask = {.job = LKS_STR("job"), .names = names};
    struct ctl_yes yes = {.there = true, .decided = w->now, .epoch = c->epoch};
    struct lks_err err = {0};
    ctl_at(w, CTL_JOB, w->now + ctl_between(w, 100, 2000));
    if (!is_awake(w, c) || lks_engine_state(c->engine)->placed_count == 0 ||
        lks_engine_seq(c->engine) != lks_engine_durable_seq(c->engine))
        return;
    for (uint32_t n = 0; n < w->node_count; n++) {
        if (!ctl_chance(w, 40))
            continue;
        yes.nodes |= (uint64_t)1 << n;
        names[ask.count++] = lks_str_from(w->nodes[n].name);
    }
    ask.behind = c->epoch != 0 || w->broken == CTL_NO_STALENESS ? 0 : w->now - c->confirmed;
    if (ask.count == 0)
        return;
    struct lks_admit answer = {0};
    struct lks_now now = ctl_clock(w, c);
    enum lks_code code = lks_admit(lks_engine_state(c->engine), lks_engine_book(c->engine),
                                   lks_engine_now(c->engine, now), &ask, &answer, &err);
    ctl_require(w, code == LKS_OK, err.msg);
    yes.valid_until = answer.valid_until - CTL_WALL;
    bool said = answer.yes;
    lks_admit_fini(&answer);
    w->asked++;
    if (!said)
        return;
    w->admitted++;
    if (!w->calm && ctl_chance(w, 3)) { /* and stops right before it answers */
        c->late = yes;
        pause_for(w, c, ctl_between(w, 50, 60 * LKS_SECOND));
    } else if (may_answer(w, c)) {
        ctl_check_yes(w, &yes);
    }
}

/* The world
 * ---------------------------------------------------------------------------------------- */

static void act(struct ctl_world *w, uint32_t actor)
{
    uint32_t which = actor / CTL_COUNT;
    struct ctl *c = &w->controllers[actor % CTL_COUNT];
    static void (*const parts[])(struct ctl_world *, struct ctl *) = {poll, commit, tick, wake,
                                                                      fault};
    if (actor == CTL_JOB)
        job(w);
    else if (actor == CTL_CHANGE)
        ctl_change(w);
    else if (actor >= CTL_MACHINE(0))
        ctl_machine(w, actor - CTL_MACHINE(0));
    else if (actor >= CTL_BEAT(0))
        ctl_beat(w, actor - CTL_BEAT(0));
    else if (parts[which] == fault || c->paused_until <= w->now)
        (c->engine != NULL || which == 0 || parts[which] == fault) ? parts[which](w, c) : (void)0;
    else
        ctl_at(w, actor, c->paused_until + 1);
}

static void run_until(struct ctl_world *w, lks_ms end)
{
    while (!w->failed && w->agenda.count > 0) {
        uint32_t actor = 0;
        lks_ms when = 0;
        if (!lks_heap_peek(&w->agenda, &when, &actor) || when > end)
            break;
        (void)lks_heap_pop(&w->agenda, &when, &actor);
        w->now = when > w->now ? when : w->now;
        lks_memory_disk_clock(w->disk, w->now);
        w->steps++;
        w->history = (w->history ^ (w->now << 8 ^ actor)) * UINT64_C(0x100000001b3);
        act(w, actor);
    }
    w->now = end;
}

static void write_manifest(struct ctl_world *w)
{
    struct lks_err err = {0};
    lks_buf_init(&w->manifest_text, (size_t)1 << 20);
    lks_buf_addf(&w->manifest_text,
                 "%s---\nlockstep: 1\nkind: Fleet\nname: sim\npools:\n"
                 "  train: {posture: pre-training, enforce: 'on', stack: golden}\n"
                 "nodes:\n  - {hosts: 'n[1-%u]', pool: train, class: hgx-h200-8}\n",
                 lks_test_node_stack, w->node_count);
    enum lks_code code = lks_manifest_parse("sim", lks_buf_view(&w->manifest_text),
                                            lks_test_facts(), NULL, &w->manifest, &err);
    ctl_require(w, code == LKS_OK, err.msg);
}

/* As `lockstepd init` leaves the store: a journal that has begun. */
static void begin_journal(struct ctl_world *w)
{
    LKS_CLEANUP(lks_engine_batch_fini) struct lks_engine_batch batch = {0};
    struct lks_store store = {0};
    struct lks_engine *engine = NULL;
    struct lks_err err = {0};
    struct lks_now now = {.wall = CTL_WALL, .mono = 0};
    w->options.follow = false;
    LKS_ASSERT(lks_store_memory_open(w->disk, &store, &err) == LKS_OK &&
               lks_engine_open(&store, &w->options, now, &engine, &err) == LKS_OK &&
               lks_engine_take(engine, now, &batch) &&
               lks_engine_commit(&w->options, &store, &batch, &err) == LKS_OK);
    lks_engine_durable(engine, &batch);
    lks_engine_free(engine);
    lks_store_close(&store);
    w->options.follow = true;
}

static void world_init(struct ctl_world *w, uint64_t seed, enum ctl_broken broken, bool print)
{
    struct lks_err err = {0};
    uint8_t secret[LKS_KEY_BYTES] = {1, 2, 3};
    *w = (struct ctl_world){.seed = seed, .rng.state = seed, .broken = broken, .print = print};
    w->disk = lks_memory_disk_new();
    LKS_ASSERT(w->disk != NULL && lks_key_make(secret, &w->key, &err) == LKS_OK);
    lks_heap_init(&w->agenda, CTL_ACTORS);
    w->node_count = 2 + (uint32_t)lks_rng_below(&w->rng, CTL_NODES_MAX - 1);
    w->limits = lks_limits_default;
    w->limits.validity = ctl_between(w, 5, 30) * LKS_SECOND;
    w->limits.mass_floor = 100;
    w->options = (struct lks_engine_options){
        .facts = lks_test_facts(),
        .key = &w->key,
        .version = "1.2.3",
        .journal = "00112233445566778899aabbccddeeff",
        .seed = 7,
        .sign_rows = 256,
        .sign_after = 30 * LKS_SECOND,
    };
    begin_journal(w);
    ctl_model_init(w);
    write_manifest(w);
}

/* Wall clocks are off by a third of what limits.skew allows, at the most: a leader whose clock is
 * slow, the next one's that is fast, and a follower's that is fast add up to all of it. */
static void world_plan(struct ctl_world *w)
{
    lks_ms third = w->limits.skew / 3;
    for (uint32_t i = 0; i < CTL_COUNT; i++) {
        struct ctl *c = &w->controllers[i];
        c->number = i;
        (void)snprintf(c->name, sizeof(c->name), "c%u", i + 1);
        c->skew = (int64_t)lks_rng_below(&w->rng, 2 * third + 1) - (int64_t)third;
        ctl_at(w, CTL_POLL(c), ctl_between(w, 0, LKS_SECOND));
        ctl_at(w, CTL_FAULT(c), ctl_between(w, 30 * LKS_SECOND, 120 * LKS_SECOND));
    }
    for (uint32_t n = 0; n < w->node_count; n++) {
        (void)snprintf(w->nodes[n].name, sizeof(w->nodes[n].name), "n%u", n + 1);
        ctl_at(w, CTL_BEAT(n), ctl_between(w, 2 * LKS_SECOND, CTL_HEARTBEAT));
        ctl_at(w, CTL_MACHINE(n), ctl_between(w, 60 * LKS_SECOND, 300 * LKS_SECOND));
    }
    ctl_at(w, CTL_CHANGE, 30 * LKS_SECOND);
    ctl_at(w, CTL_JOB, 20 * LKS_SECOND);
}

static void world_fini(struct ctl_world *w)
{
    for (uint32_t i = 0; i < CTL_COUNT; i++) {
        lks_engine_batch_fini(&w->controllers[i].batch);
        lks_engine_free(w->controllers[i].engine);
        lks_store_close(&w->controllers[i].store);
    }
    ctl_model_fini(w);
    lks_memory_disk_free(w->disk);
    lks_manifest_fini(&w->manifest);
    lks_buf_fini(&w->manifest_text);
    lks_heap_fini(&w->agenda);
    *w = (struct ctl_world){0};
}

/* Nothing more falls, and machines are as they should be. */
static void calm_down(struct ctl_world *w)
{
    w->calm = true;
    for (uint32_t i = 0; i < CTL_COUNT; i++)
        w->controllers[i].cut = false;
    for (uint32_t n = 0; n < w->node_count; n++) {
        w->nodes[n].silent = false;
        w->nodes[n].variant = 0;
    }
}

static void run(struct ctl_world *w, uint64_t seed, enum ctl_broken broken, bool print)
{
    world_init(w, seed, broken, print);
    world_plan(w);
    run_until(w, STORM);
    calm_down(w);
    run_until(w, STORM + CALM);
    if (!w->failed)
        ctl_check_end(w);
}

/* Tests
 * -------------------------------------------------------------------------------------------- */

static void test_seeds(void)
{
    uint64_t leads = 0, asked = 0, admitted = 0, changes = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        LKS_CLEANUP(world_fini) struct ctl_world w;
        run(&w, seed, CTL_WHOLE, false);
        lks_test_case("seed %" PRIu64 " at %" PRIu64 " ms: %s", seed, w.now, w.why);
        if (!CHECK(!w.failed))
            return; /* the first seed is enough to work on */
        leads += w.leads;
        asked += w.asked;
        admitted += w.admitted;
        changes += w.changes;
    }
    printf("%" PRIu64 " seeds, %" PRIu64 " leaders, %" PRIu64 " questions, %" PRIu64
           " of them yes, %" PRIu64 " steps\n",
           SEEDS, leads, asked, admitted, changes);
    CHECK(leads > 4 * SEEDS && admitted > 20 * SEEDS && changes > 2 * SEEDS);
}

/* The checks are worth something: without a rule they do not hold. */
static void test_a_broken_rule_is_found(void)
{
    static const char *const names[CTL_BROKEN_COUNT] = {
        [CTL_NO_QUIET] = "a step begins as soon as its node is closed",
        [CTL_NO_LEASE] = "a leader does not look at the clock before it answers",
        [CTL_NO_STALENESS] = "a follower does not count how old its knowledge is",
    };
    for (unsigned broken = CTL_NO_QUIET; broken < CTL_BROKEN_COUNT; broken++) {
        bool found = false;
        for (uint64_t seed = 1; seed <= SEEDS && !found; seed++) {
            LKS_CLEANUP(world_fini) struct ctl_world w;
            run(&w, seed, (enum ctl_broken)broken, false);
            found = w.failed;
            if (found)
                printf("%s: seed %" PRIu64 ": %s\n", names[broken], seed, w.why);
        }
        lks_test_case("%s", names[broken]);
        CHECK(found);
    }
}

static void test_a_seed_repeats_exactly(void)
{
    LKS_CLEANUP(world_fini) struct ctl_world a, b, c;
    run(&a, 42, CTL_WHOLE, false);
    run(&b, 42, CTL_WHOLE, false);
    run(&c, 43, CTL_WHOLE, false);
    CHECK(a.history == b.history);
    CHECK(a.history != c.history);
}

int main(int argc, char **argv)
{
    uint64_t seed = 0, broken = CTL_WHOLE;
    bool ok = argc <= 3;
    ok = ok && (argc < 2 || lks_str_number(lks_str_from(argv[1]), UINT64_MAX, &seed));
    ok = ok && (argc < 3 || lks_str_number(lks_str_from(argv[2]), CTL_BROKEN_COUNT - 1, &broken));
    if (!ok) {
        (void)fprintf(stderr, "usage: sim_controllers [SEED [BROKEN]]\n");
        return 2;
    }
    (void)atexit(ctl_tuples_free);
    if (argc > 1) {
        LKS_CLEANUP(world_fini) struct ctl_world w;
        run(&w, seed, (enum ctl_broken)broken, true);
        return w.failed;
    }
    return lks_test_main((const struct lks_test[]){
        {"controllers sim: seeds", test_seeds},
        {"controllers sim: a broken rule is found", test_a_broken_rule_is_found},
        {"controllers sim: a seed repeats exactly", test_a_seed_repeats_exactly},
        {0},
    });
}
