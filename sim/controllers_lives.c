#include "sim/controllers.h"

#include <inttypes.h>
#include <stdio.h>

#define URL "https://sim:7443"

bool ctl_awake(const struct ctl_world *w, const struct ctl *c)
{
    return c->engine != NULL && c->paused_until <= w->now;
}

/* What a process leaves when it is gone: its disk, and nothing else. */
void ctl_free(struct ctl *c)
{
    lks_engine_news_fini(&c->news.news);
    lks_engine_batch_fini(&c->batch);
    lks_engine_free(c->engine);
    lks_store_close(&c->store);
    c->engine = NULL;
    c->writing = c->commit_planned = c->carries = c->yes.there = false;
    c->epoch = 0;
    c->paused_until = 0;
}

static void end_process(struct ctl_world *w, struct ctl *c, const char *why)
{
    if (c->engine == NULL)
        return;
    ctl_say(w, "%s ends: %s", c->name, why);
    ctl_free(c);
    for (unsigned part = CTL_POLL; part <= CTL_WAKE; part++)
        (void)lks_heap_remove(&w->agenda, CTL_PART(c, part));
    ctl_at(w, CTL_PART(c, CTL_POLL), w->now + ctl_between(w, LKS_SECOND, 20 * LKS_SECOND));
}

bool ctl_may_answer(struct ctl_world *w, struct ctl *c)
{
    if (c->epoch == 0 || w->now < c->lease_until || w->broken == CTL_NO_LEASE)
        return true;
    end_process(w, c, "its lease is over");
    return false;
}

struct ctl *ctl_leader(struct ctl_world *w)
{
    for (unsigned i = 0; i < CTL_COUNT; i++) {
        struct ctl *c = &w->controllers[i];
        if (ctl_awake(w, c) && c->epoch != 0 && ctl_may_answer(w, c))
            return c;
    }
    return NULL;
}

static void begin_lease(struct ctl *c);

static void start_process(struct ctl_world *w, struct ctl *c)
{
    struct lks_err err = {0};
    enum lks_code code = lks_store_memory_share(w->disk, &c->store, &err);
    ctl_require(w, code == LKS_OK, err.msg);
    code = lks_engine_place_check(&c->store, &c->seen, &err);
    ctl_require(w, code == LKS_OK, err.msg);
    code = lks_engine_open(&c->store, &w->options, ctl_clock(w, c), &c->engine, &err);
    ctl_require(w, code == LKS_OK, err.msg);
    if (code != LKS_OK)
        return;
    c->life++;
    c->confirmed = 0;
    begin_lease(c);
    ctl_say(w, "%s starts at row %" PRIu64, c->name, lks_engine_seq(c->engine));
}

/* A leader's turns and commits ---------------------------------------------------------------- */

void ctl_plan(struct ctl_world *w, struct ctl *c)
{
    lks_ms next = lks_engine_next(c->engine);
    bool pending = lks_engine_seq(c->engine) > lks_engine_durable_seq(c->engine);
    if (pending && !c->writing && !c->commit_planned) {
        c->commit_planned = true;
        ctl_at(w, CTL_PART(c, CTL_COMMIT), w->now + ctl_between(w, 0, 20));
    }
    if (next != UINT64_MAX)
        ctl_at(w, CTL_PART(c, CTL_TICK), next > w->now ? next : w->now + 1);
}

enum lks_code ctl_turn(struct ctl_world *w, struct ctl *c, const struct lks_event *event,
                       const struct lks_store_blob *blob)
{
    LKS_CLEANUP(lks_decision_fini) struct lks_decision d = {0};
    struct lks_err err = {0};
    uint64_t needs = 0;
    enum lks_code code;
    lks_decision_init(&d);
    do {
        code = lks_engine_turn(c->engine, ctl_clock(w, c), event, blob, &d, &needs, &err);
    } while (code == LKS_OK && event->kind == LKS_EVENT_TICK && d.more);
    ctl_require(w, code == LKS_OK || code == LKS_E_UNAVAILABLE, err.msg);
    if (code == LKS_OK && d.refused.code != LKS_OK) {
        ctl_say(w, "%s refuses: %s", c->name, d.refused.msg);
        code = d.refused.code;
    }
    ctl_plan(w, c);
    return code;
}

/* Take at one moment, write at a later one: a pause may fall between them. */
static void take(struct ctl_world *w, struct ctl *c)
{
    c->writing = lks_engine_take(c->engine, ctl_clock(w, c), &c->batch);
    if (c->writing)
        ctl_at(w, CTL_PART(c, CTL_COMMIT),
               w->now + (ctl_chance(w, 3) ? 3 * LKS_SECOND : ctl_between(w, 1, 40)));
}

static void tick(struct ctl_world *w, struct ctl *c)
{
    struct lks_event event = {.kind = LKS_EVENT_TICK};
    if (c->epoch == 0)
        return;
    (void)ctl_turn(w, c, &event, NULL);
}

/* The store as it is for this one write. */
static enum lks_code write_batch(struct ctl_world *w, struct ctl *c, struct lks_err *err)
{
    if (c->cut)
        return lks_fail(err, LKS_E_UNAVAILABLE, "the store is away");
    if (w->full)
        lks_memory_disk_fail(w->disk, LKS_MEMORY_FULL, 0);
    else if (!w->calm && ctl_chance(w, 2))
        lks_memory_disk_fail(w->disk,
                             ctl_chance(w, 50) ? LKS_MEMORY_CRASH_BEFORE : LKS_MEMORY_CRASH_AFTER,
                             lks_rng_below(&w->rng, c->batch.store.row_count + 1));
    enum lks_code code = lks_engine_commit(&w->options, &c->store, &c->batch, err);
    lks_memory_disk_fail(w->disk, LKS_MEMORY_NO_CRASH, 0);
    ctl_check_rows(w);
    return code;
}

static void acknowledge(struct ctl_world *w, struct ctl *c)
{
    ctl_check_batch(w, c);
    if (c->batch.store.row_count > 0) {
        const struct lks_row *last = &c->batch.rows[c->batch.store.row_count - 1];
        c->seen.seq = last->seq;
        memcpy(c->seen.hash, last->hash, sizeof(last->hash));
    }
    lks_engine_durable(c->engine, &c->batch);
    lks_engine_batch_fini(&c->batch);
    c->writing = false;
    if (!ctl_may_answer(w, c))
        return;
    ctl_check_commit(w, c);
    ctl_plan(w, c);
    ctl_job_answer(w, c);
}

static void commit(struct ctl_world *w, struct ctl *c)
{
    struct lks_err err = {0};
    c->commit_planned = false;
    if (!c->writing) {
        take(w, c);
        return;
    }
    enum lks_code code = write_batch(w, c, &err);
    if (code == LKS_E_UNAVAILABLE) {
        lks_engine_stall(c->engine, &err);
        ctl_at(w, CTL_PART(c, CTL_COMMIT), w->now + LKS_SECOND / 2);
    } else if (code == LKS_OK || (code == LKS_E_REFUSED && w->broken == CTL_NO_FENCE)) {
        acknowledge(w, c);
    } else {
        end_process(w, c, err.msg);
    }
}

/* Following and the lease --------------------------------------------------------------------- */

/* What was read reaches the state. */
static void news(struct ctl_world *w, struct ctl *c)
{
    struct lks_err err = {0};
    if (!c->carries)
        return;
    enum lks_code code = lks_engine_follow(c->engine, ctl_clock(w, c), &c->news.news, &err);
    ctl_require(w, code == LKS_OK, err.msg);
    lks_engine_news_fini(&c->news.news);
    c->carries = false;
    if (c->news.confirmed != 0)
        c->confirmed = c->news.confirmed;
    ctl_check_follower(w, c);
}

static void begin_to_lead(struct ctl_world *w, struct ctl *c, uint64_t epoch)
{
    struct lks_err err = {0};
    struct lks_event limits = {.kind = LKS_EVENT_LIMITS, .by = CTL_BY, .limits = w->limits};
    c->epoch = epoch;
    c->confirmed = 0;
    ctl_say(w, "%s leads in epoch %" PRIu64, c->name, epoch);
    ctl_check_takeover(w, c);
    enum lks_code code = lks_engine_lead(c->engine, ctl_clock(w, c), epoch, lks_str_from(c->name),
                                         LKS_STR(URL), &err);
    ctl_require(w, code == LKS_OK, err.msg);
    (void)ctl_turn(w, c, &limits, NULL);
    ctl_fleet_begin(w, c);
}

/* The store's clock is true time: it has gone on when an answer came late. */
static lks_ms read_clock(void *self)
{
    const struct ctl *c = self;
    return lks_memory_disk_now(c->world->disk);
}

static void note_leads(void *self, lks_ms until)
{
    struct ctl *c = self;
    c->lease_until = until;
}

/* The last news of a turn reach the state at a later moment, but those with which it leads. */
static void take_news(void *self, const struct lks_lease_news *came)
{
    struct ctl *c = self;
    news(c->world, c);
    c->news = *came;
    c->carries = true;
    if (came->epoch == 0)
        return;
    news(c->world, c);
    begin_to_lead(c->world, c, came->epoch);
}

static void warn(void *self, const char *msg, const struct lks_err *why)
{
    const struct ctl *c = self;
    ctl_say(c->world, "%s: %s: %s", c->name, msg, why->msg);
}

static void begin_lease(struct ctl *c)
{
    char holder[LKS_STORE_NAME_SIZE];
    struct lks_engine_place place = lks_engine_place(c->engine);
    (void)snprintf(holder, sizeof(holder), "%s:%u", c->name, c->life);
    c->lease = (struct lks_lease_controller){
        .caller = {c, read_clock, note_leads, take_news, warn},
        .store = &c->store,
    };
    lks_lease_begin(&c->lease, &place, holder);
}

/* The rows come late, but only as long as another controller surely leads: the world does not go on
 * meanwhile, and the question who leads, which comes next, has the same answer then. */
static lks_ms late_rows(struct ctl_world *w, const struct ctl *c)
{
    lks_ms left = lks_memory_disk_lease(w->disk).left;
    return c->epoch == 0 && !w->calm && left > 1 && ctl_chance(w, 4) ? ctl_between(w, 0, left - 1)
                                                                     : 0;
}

/* The store answers late once in a while: the state hears of it then. Only the rows and the last
 * answer are late, because the store itself is asked at this moment. */
static void ask_store(struct ctl_world *w, struct ctl *c)
{
    struct lks_lease_terms terms = {.options = &w->options, .url = URL, .ttl = CTL_LEASE};
    struct lks_err err = {0};
    lks_ms again = 0;
    bool led = c->epoch != 0;
    lks_ms late = !w->calm && ctl_chance(w, 4) ? ctl_between(w, 0, 2 * CTL_LEASE) : 0;
    lks_memory_disk_late(w->disk, late_rows(w, c), late);
    enum lks_code code = lks_lease_turn(&c->lease, &terms, &again, &err);
    lks_memory_disk_late(w->disk, 0, 0);
    lks_ms answered = lks_memory_disk_now(w->disk);
    lks_memory_disk_clock(w->disk, w->now);
    if (c->lease.state == LKS_LEASE_LOST)
        end_process(w, c, err.msg);
    else
        ctl_require(w, code == LKS_OK, err.msg);
    if (c->engine == NULL)
        return;
    if (!led)
        c->seen = c->lease.place;
    ctl_at(w, CTL_PART(c, CTL_POLL), answered + (c->epoch != 0 ? again : CTL_POLL_MS));
    if (c->carries)
        ctl_at(w, CTL_PART(c, CTL_NEWS),
               answered + (ctl_chance(w, 1) ? 6 * LKS_SECOND : ctl_between(w, 0, CTL_POLL_MS)));
}

static void poll(struct ctl_world *w, struct ctl *c)
{
    if (c->engine == NULL)
        start_process(w, c);
    else if (!ctl_may_answer(w, c))
        return;
    ctl_at(w, CTL_PART(c, CTL_POLL), w->now + CTL_POLL_MS);
    if (!c->cut && !c->carries)
        ask_store(w, c);
}

/* What falls upon controllers ----------------------------------------------------------------- */

static void wake(struct ctl_world *w, struct ctl *c)
{
    if (c->yes.there)
        ctl_say(w, "%s wakes and says what it decided", c->name);
    ctl_job_answer(w, c);
}

void ctl_pause(struct ctl_world *w, struct ctl *c, lks_ms time)
{
    ctl_say(w, "%s is paused for %" PRIu64 " ms", c->name, time);
    c->paused_until = w->now + time;
    ctl_at(w, CTL_PART(c, CTL_WAKE), c->paused_until);
}

static void fault(struct ctl_world *w, struct ctl *c)
{
    unsigned what = (unsigned)lks_rng_below(&w->rng, 5);
    ctl_at(w, CTL_PART(c, CTL_FAULT), w->now + ctl_between(w, 10 * LKS_SECOND, 120 * LKS_SECOND));
    if (c->cut || w->calm) {
        c->cut = false;
        return;
    }
    if (what == 0) {
        end_process(w, c, "killed");
    } else if (what < 3 && ctl_awake(w, c)) {
        ctl_pause(w, c, ctl_between(w, 50, what == 1 ? 2000 : 40 * LKS_SECOND));
    } else if (what == 3) {
        c->cut = true;
        ctl_say(w, "%s cannot reach the store", c->name);
        ctl_at(w, CTL_PART(c, CTL_FAULT), w->now + ctl_between(w, LKS_SECOND, 30 * LKS_SECOND));
    }
}

/* Nothing is done by one that is paused; all of it comes when it wakes. */
void ctl_act(struct ctl_world *w, struct ctl *c, enum ctl_part part)
{
    static void (*const acts[CTL_PARTS])(struct ctl_world *, struct ctl *) = {
        [CTL_POLL] = poll, [CTL_NEWS] = news, [CTL_COMMIT] = commit,
        [CTL_TICK] = tick, [CTL_WAKE] = wake, [CTL_FAULT] = fault,
    };
    if (part == CTL_FAULT || (c->paused_until <= w->now && (c->engine != NULL || part == CTL_POLL)))
        acts[part](w, c);
    else if (c->engine != NULL)
        ctl_at(w, CTL_PART(c, part), c->paused_until + 1 + lks_rng_below(&w->rng, 20));
}
