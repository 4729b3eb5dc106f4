#include "core/link.h"

#include "tests/test.h"

#include <stdlib.h>

enum { BEAT = 10000, START = 1000000 };

static struct lks_link started(bool enrolled, struct lks_rng *rng)
{
    struct lks_link link;
    lks_link_init(&link, START, BEAT, enrolled, rng);
    return link;
}

/* What is due among several things: each row sets what there is to do at one moment. */
static const struct {
    const char *name;
    struct lks_link link;
    enum lks_link_act act;
    lks_ms at; /* the moment asked for is 5000 */
} dues[] = {
    {"enrol first",
     {.next_beat = 1, .renew_at = 1, .spooled = 1, .mail = true},
     LKS_LINK_ENROLL,
     5000},
    {"enrol after a failure", {.failures = 1, .not_before = 5001}, LKS_LINK_WAIT, 5001},
    {"a heartbeat before all else",
     {.enrolled = true, .next_beat = 5000, .renew_at = 1, .spooled = 1, .mail = true},
     LKS_LINK_BEAT,
     5000},
    {"then the certificate",
     {.enrolled = true, .next_beat = 5001, .renew_at = 5000, .spooled = 1, .mail = true},
     LKS_LINK_RENEW,
     5000},
    {"then reports",
     {.enrolled = true, .next_beat = 5001, .renew_at = 5001, .spooled = 1, .mail = true},
     LKS_LINK_PUSH,
     5000},
    {"then mail", {.enrolled = true, .next_beat = 5001, .mail = true}, LKS_LINK_FETCH, 5000},
    {"nothing", {.enrolled = true, .next_beat = 7000}, LKS_LINK_WAIT, 7000},
    {"the certificate is next",
     {.enrolled = true, .next_beat = 7000, .renew_at = 6000},
     LKS_LINK_WAIT,
     6000},
    {"no certificate of ours to renew",
     {.enrolled = true, .next_beat = 7000, .renew_at = 0},
     LKS_LINK_WAIT,
     7000},
    {"a heartbeat failed",
     {.enrolled = true, .next_beat = 1, .not_before = 6000, .failures = 1, .spooled = 1},
     LKS_LINK_WAIT,
     6000},
    {"a heartbeat failed: it goes first",
     {.enrolled = true, .next_beat = 1, .failures = 1, .spooled = 1},
     LKS_LINK_BEAT,
     5000},
    {"while heartbeats fail nothing else is tried",
     {.enrolled = true,
      .next_beat = 9000,
      .failures = 1,
      .spooled = 1,
      .mail = true,
      .renew_at = 1},
     LKS_LINK_WAIT,
     9000},
    {"a report failed: heartbeats go on",
     {.enrolled = true, .next_beat = 5000, .work_after = 60000, .work_failures = 4, .spooled = 1},
     LKS_LINK_BEAT,
     5000},
    {"a report failed: the rest waits",
     {.enrolled = true,
      .next_beat = 70000,
      .work_after = 60000,
      .work_failures = 4,
      .spooled = 1,
      .mail = true,
      .renew_at = 1},
     LKS_LINK_WAIT,
     60000},
};

static void test_due(void)
{
    for (size_t i = 0; i < LKS_COUNT(dues); i++) {
        lks_test_case("%s", dues[i].name);
        lks_ms at = 0;
        CHECK_INT(lks_link_next(&dues[i].link, 5000, &at), dues[i].act);
        CHECK_INT(at, dues[i].at);
    }
}

/* An enrolled agent that nothing happens to: the first heartbeat within an interval, the others one
 * interval apart, numbered from 1. */
static void test_schedule(void)
{
    for (uint64_t seed = 1; seed <= 100; seed++) {
        lks_test_case("seed %d", (int)seed);
        struct lks_rng rng = {seed};
        struct lks_link link = started(true, &rng);
        lks_ms at = 0;
        CHECK(link.next_beat >= START && link.next_beat < START + BEAT);
        lks_ms first = link.next_beat;
        for (uint64_t beat = 1; beat <= 20; beat++) {
            lks_ms due = first + (beat - 1) * BEAT;
            CHECK_INT(lks_link_next(&link, due - 1, &at), LKS_LINK_WAIT);
            CHECK_INT(at, due);
            CHECK_INT(lks_link_next(&link, due + beat, &at), LKS_LINK_BEAT);
            lks_link_done(&link, due + beat, LKS_LINK_BEAT, &rng);
            CHECK_INT(link.seq, beat);
        }
    }
}

/* A machine that slept does not send the heartbeats it missed. */
static void test_missed(void)
{
    struct lks_rng rng = {1};
    struct lks_link link = started(true, &rng);
    lks_ms late = START + 100 * (lks_ms)BEAT, at = 0;
    CHECK_INT(lks_link_next(&link, late, &at), LKS_LINK_BEAT);
    lks_link_done(&link, late, LKS_LINK_BEAT, &rng);
    CHECK_INT(lks_link_next(&link, late, &at), LKS_LINK_WAIT);
    CHECK(at > late + BEAT / 2 && at <= late + BEAT);
}

/* What comes of an act that was done, one after the other. */
static void test_done(void)
{
    struct lks_rng rng = {1};
    struct lks_link link = started(false, &rng);
    lks_ms at = 0;
    link.spooled = 2;
    CHECK_INT(lks_link_next(&link, START, &at), LKS_LINK_ENROLL);
    lks_link_done(&link, START, LKS_LINK_ENROLL, &rng);
    CHECK_INT(lks_link_next(&link, START, &at), LKS_LINK_BEAT);
    lks_link_done(&link, START, LKS_LINK_BEAT, &rng);
    link.mail = true;
    link.renew_at = START;
    CHECK_INT(lks_link_next(&link, START, &at), LKS_LINK_RENEW);
    lks_link_done(&link, START, LKS_LINK_RENEW, &rng);
    CHECK_INT(link.renew_at, 0);
    CHECK_INT(lks_link_next(&link, START, &at), LKS_LINK_PUSH);
    lks_link_done(&link, START, LKS_LINK_PUSH, &rng);
    CHECK_INT(lks_link_next(&link, START, &at), LKS_LINK_PUSH);
    lks_link_done(&link, START, LKS_LINK_PUSH, &rng);
    CHECK_INT(lks_link_next(&link, START, &at), LKS_LINK_FETCH);
    lks_link_done(&link, START, LKS_LINK_FETCH, &rng);
    CHECK_INT(lks_link_next(&link, START, &at), LKS_LINK_WAIT);
    CHECK_INT(at, START + BEAT);

    /* A date that was set before the answer was told stays. */
    link.renew_at = START + 5;
    lks_link_done(&link, START, LKS_LINK_RENEW, &rng);
    CHECK_INT(link.renew_at, START + 5);
}

/* Failure upon failure, the wait is between half of a window and all of it, and the window doubles
 * from one heartbeat to the ceiling. */
static const struct {
    unsigned failures;
    lks_ms window;
} windows[] = {{1, 10000}, {2, 20000}, {3, 40000}, {4, 60000}, {5, 60000}, {1000, 60000}};

static void test_backoff(void)
{
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct lks_rng rng = {seed};
        struct lks_link link = started(true, &rng);
        lks_ms now = link.next_beat;
        size_t row = 0;
        for (unsigned failure = 1; failure <= 1000; failure++) {
            if (windows[row].failures < failure && row + 1 < LKS_COUNT(windows))
                row++;
            lks_test_case("seed %d, failure %u", (int)seed, failure);
            lks_ms at = 0;
            lks_link_failed(&link, now, LKS_LINK_BEAT, false, &rng);
            if (!CHECK_INT(lks_link_next(&link, now, &at), LKS_LINK_WAIT) ||
                !CHECK(at - now >= windows[row].window / 2 && at - now <= windows[row].window))
                return;
            CHECK_INT(link.seq, failure); /* the number of a lost one is never used again */
            now = at;
        }
        lks_link_done(&link, now, LKS_LINK_BEAT, &rng);
        lks_link_failed(&link, now, LKS_LINK_BEAT, false, &rng);
        CHECK(link.not_before - now <= BEAT); /* a success forgets them all */
    }
}

static void test_refused(void)
{
    static const enum lks_link_act acts[] = {LKS_LINK_ENROLL, LKS_LINK_BEAT, LKS_LINK_PUSH};
    for (size_t i = 0; i < LKS_COUNT(acts); i++) {
        lks_test_case("act %d", (int)acts[i]);
        struct lks_rng rng = {7};
        struct lks_link link = started(acts[i] != LKS_LINK_ENROLL, &rng);
        lks_link_failed(&link, START, acts[i], true, &rng);
        lks_ms until = acts[i] == LKS_LINK_PUSH ? link.work_after : link.not_before;
        CHECK(until >= START + 20 * LKS_SECOND && until <= START + LKS_LINK_BACKOFF_MAX);
    }
}

/* Ten thousand agents lose the controller at the same moment, again and again: no second sees more
 * than a fair share of them return. */
static void test_spread(void)
{
    enum { AGENTS = 10000, ROUNDS = 5, SECONDS = 61 };
    struct lks_link *links = calloc(AGENTS, sizeof(*links));
    struct lks_rng *rngs = calloc(AGENTS, sizeof(*rngs));
    LKS_ASSERT(links != NULL && rngs != NULL);
    for (size_t i = 0; i < AGENTS; i++) {
        rngs[i].state = i;
        links[i] = started(true, &rngs[i]);
    }
    for (unsigned round = 1; round <= ROUNDS; round++) {
        lks_test_case("round %u", round);
        unsigned returned[SECONDS] = {0}, most = 0;
        for (size_t i = 0; i < AGENTS; i++) {
            lks_ms at = 0;
            lks_link_failed(&links[i], START + BEAT, LKS_LINK_BEAT, false, &rngs[i]);
            CHECK_INT(lks_link_next(&links[i], START + BEAT, &at), LKS_LINK_WAIT);
            size_t second = (size_t)((at - START - BEAT) / LKS_SECOND);
            if (CHECK(second < SECONDS) && ++returned[second] > most)
                most = returned[second];
        }
        lks_ms window = windows[round - 1].window;
        CHECK(most * (window / 2 / LKS_SECOND) < AGENTS * 5 / 4);
    }
    free(links);
    free(rngs);
}

/* A controller that comes and goes, drops reports more often than heartbeats and now and then says
 * no. `spool` is the model of what the agent keeps: reports are numbers. */
struct world {
    struct lks_rng rng;
    struct lks_link link;
    lks_ms now, failed_at, last_beat;
    unsigned away, drops; /* percent */
    unsigned made, acknowledged;
    bool failed;
};

static void act_once(struct world *w, enum lks_link_act act)
{
    CHECK(!w->failed || w->now - w->failed_at >= LKS_LINK_FLOOR);
    w->failed = lks_rng_percent(&w->rng, act == LKS_LINK_BEAT ? w->away : w->away + w->drops);
    if (w->failed) {
        w->failed_at = w->now;
        lks_link_failed(&w->link, w->now, act, lks_rng_percent(&w->rng, 20), &w->rng);
        return;
    }
    if (act == LKS_LINK_PUSH)
        w->acknowledged++; /* the oldest: its number is how many went before it */
    if (act == LKS_LINK_BEAT) {
        w->last_beat = w->now;
        w->link.mail |= lks_rng_percent(&w->rng, 10);
    }
    lks_link_done(&w->link, w->now, act, &w->rng);
    CHECK_INT(w->link.spooled, w->made - w->acknowledged);
}

static void live(struct world *w, unsigned steps)
{
    for (unsigned i = 0; i < steps; i++) {
        lks_ms at = 0;
        enum lks_link_act act = lks_link_next(&w->link, w->now, &at);
        if (lks_rng_percent(&w->rng, 20)) {
            w->made++;
            w->link.spooled++;
        }
        if (act != LKS_LINK_WAIT) {
            act_once(w, act);
            w->now += lks_rng_below(&w->rng, 50);
            continue;
        }
        CHECK(at > w->now);
        w->now = at;
    }
}

static void test_weather(void)
{
    for (uint64_t seed = 1; seed <= 300; seed++) {
        lks_test_case("seed %d", (int)seed);
        struct world w = {.rng = {seed}, .now = START, .away = 40, .drops = 30};
        w.link = started(lks_rng_percent(&w.rng, 50), &w.rng);
        live(&w, 500);
        w.away = w.drops = 0; /* the weather clears */
        live(&w, 2000);
        CHECK(w.link.enrolled);
        CHECK(w.link.spooled <= 2);
        CHECK(w.now - w.last_beat <= BEAT + LKS_SECOND);
    }
}

/* Reports that are never taken do not make the node late: no two heartbeats are further apart than
 * an interval and the least wait. */
static void test_beats_go_on(void)
{
    for (uint64_t seed = 1; seed <= 100; seed++) {
        lks_test_case("seed %d", (int)seed);
        struct lks_rng rng = {seed};
        struct lks_link link = started(true, &rng);
        lks_ms now = START, last = START;
        unsigned beats = 0;
        link.spooled = 1;
        for (unsigned i = 0; i < 500; i++) {
            lks_ms at = 0;
            enum lks_link_act act = lks_link_next(&link, now, &at);
            now = act == LKS_LINK_WAIT ? at : now;
            if (act == LKS_LINK_PUSH)
                lks_link_failed(&link, now, act, false, &rng);
            if (act != LKS_LINK_BEAT)
                continue;
            CHECK(now - last <= BEAT + LKS_LINK_FLOOR);
            last = now;
            beats++;
            lks_link_done(&link, now, act, &rng);
        }
        CHECK(beats > 100);
        CHECK_INT(link.spooled, 1);
    }
}

static void test_renew_at(void)
{
    enum { DAY = 86400000 };
    lks_ms from = START, life = 30 * (lks_ms)DAY, soonest = UINT64_MAX, latest = 0;
    for (uint64_t seed = 1; seed <= 1000; seed++) {
        struct lks_rng rng = {seed};
        lks_ms at = lks_link_renew_at(from, from + life, &rng) - from;
        soonest = at < soonest ? at : soonest;
        latest = at > latest ? at : latest;
    }
    CHECK(soonest >= 20 * (lks_ms)DAY && soonest < 20 * (lks_ms)DAY + DAY / 10);
    CHECK(latest <= 23 * (lks_ms)DAY && latest > 23 * (lks_ms)DAY - DAY / 10);
    struct lks_rng rng = {1};
    CHECK_INT(lks_link_renew_at(5, 5, &rng), 5);
    CHECK_INT(lks_link_renew_at(5, 3, &rng), 5);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"link: what is due", test_due},
        {"link: schedule of heartbeats", test_schedule},
        {"link: missed heartbeats are gone", test_missed},
        {"link: done", test_done},
        {"link: backoff grows to the ceiling", test_backoff},
        {"link: a refusal is not asked again soon", test_refused},
        {"link: a crowd does not return as one", test_spread},
        {"link: property in all weathers", test_weather},
        {"link: heartbeats go on while reports fail", test_beats_go_on},
        {"link: when to renew", test_renew_at},
        {0},
    });
}
