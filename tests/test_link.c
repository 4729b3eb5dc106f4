#include "core/agentlink/link.h"

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

/* Failure upon failure, the wait is between half of a window and all of it. For heartbeats the
 * window doubles from one heartbeat to two, between the least wait and a minute; for all else to a
 * minute, since a node is not late for a report that waits. */
static const struct {
    const char *name;
    enum lks_link_act act;
    lks_ms heartbeat;
    lks_ms windows[5]; /* the last of them from then on */
} backoffs[] = {
    {"the usual heartbeat", LKS_LINK_BEAT, 10000, {10000, 20000, 20000, 20000, 20000}},
    {"enrolment", LKS_LINK_ENROLL, 10000, {10000, 20000, 20000, 20000, 20000}},
    {"a fast heartbeat", LKS_LINK_BEAT, 100, {2000, 2000, 2000, 2000, 2000}},
    {"a heartbeat of the least wait", LKS_LINK_BEAT, 1000, {2000, 2000, 2000, 2000, 2000}},
    {"a slow heartbeat", LKS_LINK_BEAT, 25000, {25000, 50000, 50000, 50000, 50000}},
    {"a slower one", LKS_LINK_BEAT, 40000, {40000, 60000, 60000, 60000, 60000}},
    {"the slowest", LKS_LINK_BEAT, 600000, {60000, 60000, 60000, 60000, 60000}},
    {"reports", LKS_LINK_PUSH, 10000, {10000, 20000, 40000, 60000, 60000}},
};

static void fail_on(size_t row, uint64_t seed)
{
    enum { FAILURES = 50 };
    struct lks_rng rng = {seed};
    struct lks_link link;
    enum lks_link_act act = backoffs[row].act;
    lks_link_init(&link, START, backoffs[row].heartbeat, act != LKS_LINK_ENROLL, &rng);
    const lks_ms *until = act == LKS_LINK_PUSH ? &link.work_after : &link.not_before;
    const lks_ms *windows = backoffs[row].windows;
    lks_ms now = link.next_beat;
    for (size_t failure = 1; failure <= FAILURES; failure++) {
        lks_ms window = windows[failure > 5 ? 4 : failure - 1];
        lks_test_case("%s, seed %d, failure %zu", backoffs[row].name, (int)seed, failure);
        lks_link_failed(&link, now, act, false, &rng);
        if (!CHECK(*until - now >= window / 2 && *until - now <= window))
            return;
        /* The number of a lost one is never used again. */
        CHECK_INT(link.seq, act == LKS_LINK_BEAT ? failure : 0);
        now = *until;
    }
    lks_link_done(&link, now, act, &rng);
    lks_link_failed(&link, now, act, false, &rng);
    CHECK(*until - now <= windows[0]); /* a success forgets them all */
}

static void test_backoff(void)
{
    for (size_t row = 0; row < LKS_COUNT(backoffs); row++) {
        for (uint64_t seed = 1; seed <= 200; seed++)
            fail_on(row, seed);
    }
}

/* However long a controller was away: one that is back hears of a node before it turns late. */
static void test_back_in_time(void)
{
    enum { LATE = 30000 }; /* as it is where nobody says otherwise */
    for (uint64_t seed = 1; seed <= 1000; seed++) {
        struct lks_rng rng = {seed};
        struct lks_link link = started(true, &rng);
        lks_ms now = START, back = START + 3600 * LKS_SECOND + lks_rng_below(&rng, LATE);
        lks_test_case("seed %d", (int)seed);
        while (now < back) {
            lks_ms at = 0;
            if (lks_link_next(&link, now, &at) == LKS_LINK_BEAT)
                lks_link_failed(&link, now, LKS_LINK_BEAT, false, &rng);
            (void)lks_link_next(&link, now, &at);
            now = at;
        }
        CHECK(now - back < LATE * 2 / 3 + 1);
    }
}

static void test_refused(void)
{
    static const struct {
        enum lks_link_act act;
        lks_ms least, most;
    } rows[] = {
        {LKS_LINK_ENROLL, 10000, 20000},
        {LKS_LINK_BEAT, 10000, 20000},
        {LKS_LINK_PUSH, 20000, 40000},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        for (uint64_t seed = 1; seed <= 100; seed++) {
            lks_test_case("act %d, seed %d", (int)rows[i].act, (int)seed);
            struct lks_rng rng = {seed};
            struct lks_link link = started(rows[i].act != LKS_LINK_ENROLL, &rng);
            lks_link_failed(&link, START, rows[i].act, true, &rng);
            lks_ms until = rows[i].act == LKS_LINK_PUSH ? link.work_after : link.not_before;
            CHECK(until >= START + rows[i].least && until <= START + rows[i].most);
        }
    }
}

/* Another interval: the next heartbeat comes within one of the new length, and a crowd that was
 * close together is not afterwards. */
static void test_pace(void)
{
    static const lks_ms paces[][2] = {{10000, 1000}, {1000, 10000}, {100, 600000}};
    enum { AGENTS = 10000, PARTS = 10 };
    for (size_t i = 0; i < LKS_COUNT(paces); i++) {
        unsigned parts[PARTS] = {0};
        lks_ms after = paces[i][1];
        lks_test_case("%d ms to %d ms", (int)paces[i][0], (int)after);
        for (uint64_t seed = 1; seed <= AGENTS; seed++) {
            struct lks_rng rng = {seed};
            struct lks_link link;
            lks_ms at = 0;
            lks_link_init(&link, START, paces[i][0], true, &rng);
            lks_ms now = link.next_beat = START;
            lks_link_done(&link, now, LKS_LINK_BEAT, &rng);
            lks_link_pace(&link, now, after, &rng);
            CHECK_INT(lks_link_next(&link, now, &at), LKS_LINK_WAIT);
            if (!CHECK(at > now && at <= now + after))
                return;
            parts[(at - now - 1) * PARTS / after]++;
            CHECK_INT(lks_link_next(&link, at, &now), LKS_LINK_BEAT);
            lks_link_done(&link, at, LKS_LINK_BEAT, &rng);
            CHECK_INT(link.next_beat, at + after);
            lks_link_pace(&link, at, after, &rng); /* the same again changes nothing */
            CHECK_INT(link.next_beat, at + after);
        }
        for (size_t k = 0; k < PARTS; k++)
            CHECK(parts[k] < AGENTS / PARTS * 5 / 4);
    }
}

/* Ten thousand agents lose the controller at the same moment, again and again: no second sees more
 * than a fair share of them return. */
static void test_spread(void)
{
    enum { AGENTS = 10000, ROUNDS = 5, SECONDS = 21 };
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
        lks_ms window = backoffs[0].windows[round - 1];
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
        {"link: a controller that is back hears in time", test_back_in_time},
        {"link: another interval", test_pace},
        {"link: a refusal is not asked again soon", test_refused},
        {"link: a crowd does not return as one", test_spread},
        {"link: property in all weathers", test_weather},
        {"link: heartbeats go on while reports fail", test_beats_go_on},
        {"link: when to renew", test_renew_at},
        {0},
    });
}
