/* The lease of a store whose answers come late: since when a controller knows what it was told, and
 * until when it leads. Time is the test's own. */
#include "drivers/store/memory.h"
#include "engine/lease.h"
#include "tests/facts.h"
#include "tests/journals.h"
#include "tests/test.h"

#include <stdio.h>

#define WALL UINT64_C(1794700000000)
#define URL  "https://c:7443"
#define TTL  ((lks_ms)8 * LKS_SECOND)
#define LED  ((lks_ms)7 * LKS_SECOND) /* an eighth of a lease is left for clocks that differ */
#define SEC  LKS_SECOND

/* A controller, and what its last turn brought. */
struct controller {
    struct lks_memory_disk *disk;
    struct lks_store store;
    struct lks_lease_controller lease;
    lks_ms until, confirmed, again;
    uint64_t epoch;
    const char *warning;
};

struct bench {
    struct lks_memory_disk *disk;
    struct lks_key key;
    struct lks_engine_options options;
    struct lks_engine_place place;
    struct controller a, b;
};

static lks_ms read_clock(void *self)
{
    const struct controller *c = self;
    return lks_memory_disk_now(c->disk);
}

static void note_leads(void *self, lks_ms until)
{
    struct controller *c = self;
    c->until = until;
}

static void take_news(void *self, const struct lks_lease_news *news)
{
    struct controller *c = self;
    struct lks_engine_news taken = news->news;
    c->confirmed = news->confirmed;
    c->epoch = news->epoch;
    lks_engine_news_fini(&taken);
}

static void note_warning(void *self, const char *msg, const struct lks_err *why)
{
    struct controller *c = self;
    (void)why;
    c->warning = msg;
}

static void open_controller(struct bench *t, struct controller *c, const char *name)
{
    struct lks_err err = {0};
    *c = (struct controller){.disk = t->disk};
    CHECK_CODE(lks_store_memory_share(t->disk, &c->store, &err), LKS_OK);
    c->lease = (struct lks_lease_controller){
        .caller = {c, read_clock, note_leads, take_news, note_warning}, .store = &c->store};
    lks_lease_begin(&c->lease, &t->place, name);
}

/* As `lockstepd init` leaves a store. */
static void begin_journal(struct bench *t)
{
    LKS_CLEANUP(lks_engine_batch_fini) struct lks_engine_batch batch = {0};
    struct lks_now now = {.wall = WALL, .mono = 0};
    struct lks_engine *engine = NULL;
    struct lks_store store = {0};
    struct lks_err err = {0};
    CHECK_CODE(lks_store_memory_open(t->disk, &store, &err), LKS_OK);
    CHECK_CODE(lks_engine_open(&store, &t->options, now, &engine, &err), LKS_OK);
    CHECK(lks_engine_take(engine, now, &batch));
    CHECK_CODE(lks_engine_commit(&t->options, &store, &batch, &err), LKS_OK);
    lks_engine_durable(engine, &batch);
    t->place = lks_engine_place(engine);
    lks_engine_free(engine);
    lks_store_close(&store);
}

static void bench_init(struct bench *t)
{
    *t = (struct bench){.disk = lks_memory_disk_new(), .key = lks_test_key()};
    t->options = (struct lks_engine_options){.facts = lks_test_facts(),
                                             .key = &t->key,
                                             .version = "1.2.3",
                                             .journal = "00112233445566778899aabbccddeeff",
                                             .seed = 1};
    begin_journal(t);
    open_controller(t, &t->a, "a:1");
    open_controller(t, &t->b, "b:1");
}

static void bench_fini(struct bench *t)
{
    lks_store_close(&t->a.store);
    lks_store_close(&t->b.store);
    lks_memory_disk_free(t->disk);
}

/* A turn that starts at `at`, and whose questions are answered so late. */
static enum lks_code turn(struct bench *t, struct controller *c, lks_ms at, lks_ms late_tail,
                          lks_ms late_lead)
{
    struct lks_lease_terms terms = {.options = &t->options, .url = URL, .ttl = TTL};
    struct lks_err err = {0};
    c->confirmed = c->epoch = 0;
    c->warning = "";
    lks_memory_disk_clock(t->disk, at);
    lks_memory_disk_late(t->disk, late_tail, late_lead);
    return lks_lease_turn(&c->lease, &terms, &c->again, &err);
}

/* Following ----------------------------------------------------------------------------------- */

/* All in seconds. A asks at `led`, where that is not 0, and B at 100, first for the rows and then
 * for the lease. B leads for 7 s from the moment at which it asked for the lease. */
static const struct {
    const char *name;
    lks_ms led, late_tail, late_lead;
    bool full;
    lks_ms confirmed, until; /* 0: never */
    const char *warning;
} follows[] = {
    {"another leads", 99, 0, 0, false, 100, 0, ""},
    {"another leads, rows come after 2 s", 99, 2, 0, false, 100, 0, ""},
    {"another leads, rows come after 6 s", 99, 6, 0, false, 100, 0, ""},
    {"another leads, the lease comes after 6 s", 99, 0, 6, false, 100, 0, ""},
    {"another leads, the lease comes after 60 s", 99, 0, 60, false, 100, 0, ""},
    {"another leads, both are late", 99, 3, 3, false, 100, 0, ""},
    {"none led", 0, 0, 0, false, 0, 107, ""},
    {"none led, rows come after 2 s", 0, 2, 0, false, 0, 109, ""},
    {"none led, the lease comes after 2 s", 0, 0, 2, false, 0, 107, ""},
    {"none led, the lease comes after 60 s", 0, 0, 60, false, 0, 107, ""},
    {"none led, both are late", 0, 3, 3, false, 0, 110, ""},
    {"a lease that expired", 90, 0, 0, false, 0, 107, ""},
    {"a lease that expires while rows are read", 95, 6, 0, false, 0, 113, ""},
    {"the store is full, and none leads", 0, 0, 0, true, 0, 0,
     "cannot read the lease from the store; stays a follower and tries again"},
};

static void test_a_follower_knows_as_of_its_question(void)
{
    for (size_t i = 0; i < LKS_COUNT(follows); i++) {
        LKS_CLEANUP(bench_fini) struct bench t = {0};
        bool leads = follows[i].until != 0;
        lks_test_case("%s", follows[i].name);
        bench_init(&t);
        if (follows[i].led != 0)
            CHECK_CODE(turn(&t, &t.a, follows[i].led * SEC, 0, 0), LKS_OK);
        if (follows[i].full)
            lks_memory_disk_fail(t.disk, LKS_MEMORY_FULL, 0);
        CHECK_CODE(
            turn(&t, &t.b, 100 * SEC, follows[i].late_tail * SEC, follows[i].late_lead * SEC),
            LKS_OK);
        CHECK_INT(t.b.lease.state, leads ? LKS_LEASE_LEADS : LKS_LEASE_FOLLOWS);
        CHECK_INT(t.b.confirmed, follows[i].confirmed * SEC);
        CHECK_INT(t.b.until, follows[i].until * SEC);
        CHECK_STR(lks_str_from(t.b.warning), follows[i].warning);
        CHECK((t.b.epoch != 0) == leads);
    }
}

/* Leading ------------------------------------------------------------------------------------- */

static void test_a_renewal_counts_from_its_question(void)
{
    for (lks_ms late = 0; late <= 2 * TTL; late += SEC) {
        LKS_CLEANUP(bench_fini) struct bench t = {0};
        lks_test_case("the renewal is answered after %d ms", (int)late);
        bench_init(&t);
        CHECK_CODE(turn(&t, &t.a, 100 * SEC, 0, 0), LKS_OK);
        CHECK_INT(t.a.again, 0);
        CHECK_CODE(turn(&t, &t.a, 102 * SEC, 0, late), LKS_OK);
        CHECK_INT(t.a.until, 102 * SEC + LED);
        CHECK_INT(t.a.again, TTL / 3);
    }
}

/* Whenever the store gives the lease to B, A has stopped by its own clock. */
static void test_one_leads_at_a_time(void)
{
    for (lks_ms late = 0; late <= 2 * TTL; late += SEC / 2) {
        LKS_CLEANUP(bench_fini) struct bench t = {0};
        lks_ms at = 102 * SEC;
        lks_test_case("the last answer to A comes after %d ms", (int)late);
        bench_init(&t);
        CHECK_CODE(turn(&t, &t.a, 100 * SEC, 0, 0), LKS_OK);
        CHECK_CODE(turn(&t, &t.a, at, 0, late), LKS_OK);
        for (; t.b.lease.state != LKS_LEASE_LEADS && at < 200 * SEC; at += LKS_LEASE_POLL)
            CHECK_CODE(turn(&t, &t.b, at, 0, 0), LKS_OK);
        CHECK_INT(t.b.lease.state, LKS_LEASE_LEADS);
        CHECK(t.a.until <= at - LKS_LEASE_POLL);
        CHECK(t.b.epoch > t.a.lease.epoch);
    }
}

static void test_a_leader_that_was_replaced(void)
{
    LKS_CLEANUP(bench_fini) struct bench t = {0};
    bench_init(&t);
    CHECK_CODE(turn(&t, &t.a, 100 * SEC, 0, 0), LKS_OK);
    CHECK_CODE(turn(&t, &t.b, 100 * SEC + TTL, 0, 0), LKS_OK);
    CHECK_INT(t.b.lease.state, LKS_LEASE_LEADS);
    CHECK_CODE(turn(&t, &t.a, 110 * SEC, 0, 0), LKS_E_REFUSED);
    CHECK_INT(t.a.lease.state, LKS_LEASE_LOST);
    CHECK_INT(t.a.until, 100 * SEC + LED);
}

static void test_a_lease_that_is_not_renewed(void)
{
    LKS_CLEANUP(bench_fini) struct bench t = {0};
    bench_init(&t);
    CHECK_CODE(turn(&t, &t.a, 100 * SEC, 0, 0), LKS_OK);
    lks_memory_disk_fail(t.disk, LKS_MEMORY_FULL, 0);
    CHECK_CODE(turn(&t, &t.a, 102 * SEC, 0, 0), LKS_OK);
    CHECK_INT(t.a.lease.state, LKS_LEASE_LEADS);
    CHECK_INT(t.a.until, 100 * SEC + LED);
    CHECK_INT(t.a.again, LKS_LEASE_POLL);
    CHECK_STR(lks_str_from(t.a.warning), "cannot renew the lease; tries again until it expires");
    CHECK_CODE(turn(&t, &t.a, 103 * SEC, 0, 0), LKS_OK);
    CHECK_STR(lks_str_from(t.a.warning), ""); /* the same is logged once */
}

static void test_a_lease_that_is_returned(void)
{
    LKS_CLEANUP(bench_fini) struct bench t = {0};
    bench_init(&t);
    CHECK_CODE(turn(&t, &t.a, 100 * SEC, 0, 0), LKS_OK);
    lks_lease_end(&t.a.lease);
    CHECK_INT(t.a.lease.state, LKS_LEASE_RETURNED);
    CHECK_CODE(turn(&t, &t.b, 100 * SEC, 0, 0), LKS_OK);
    CHECK_INT(t.b.lease.state, LKS_LEASE_LEADS);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"a follower knows as of its question", test_a_follower_knows_as_of_its_question},
        {"a renewal counts from its question", test_a_renewal_counts_from_its_question},
        {"one leads at a time", test_one_leads_at_a_time},
        {"a leader that was replaced", test_a_leader_that_was_replaced},
        {"a lease that is not renewed", test_a_lease_that_is_not_renewed},
        {"a lease that is returned", test_a_lease_that_is_returned},
        {0},
    });
}
