#include "tests/rows.h"
#include "tests/stores.h"
#include "tests/test.h"

#include <stdio.h>

/* Long enough never to end during a test, and short enough to wait for. */
enum { LONG = 600000, SHORT = 150 };

/* ---- who leads ---- */

static struct lks_store join(const struct lks_test_store *d, struct lks_test_bed *w)
{
    struct lks_store store = {0};
    struct lks_err err = {0};
    CHECK_CODE(d->open(w->at, &store, &err), LKS_OK);
    LKS_ASSERT(store.ops != NULL);
    return store;
}

static void lead(const struct lks_store *store, const char *name, lks_ms ttl, uint64_t epoch,
                 const char *leader)
{
    struct lks_store_lease lease = {0};
    struct lks_err err = {0};
    char url[64];
    snprintf(url, sizeof(url), "https://%s:7443", name);
    CHECK_CODE(store->ops->lead(store->self, name, url, ttl, &lease, &err), LKS_OK);
    CHECK_INT(lease.epoch, epoch);
    CHECK_STR(lks_str_from(lease.name), leader);
    CHECK_HAS(lks_str_from(lease.url), leader);
    CHECK(lease.left <= LONG);
}

static void test_lead_checks(const struct lks_store *store)
{
    struct lks_store_lease lease = {.epoch = 99};
    struct lks_err err = {0};
    char name[LKS_STORE_NAME_SIZE + 1] = {0}, url[LKS_STORE_URL_SIZE + 1] = {0};
    memset(name, 'n', LKS_STORE_NAME_SIZE);
    memset(url, 'u', LKS_STORE_URL_SIZE);
    CHECK_CODE(store->ops->lead(store->self, "", "", LONG, &lease, &err), LKS_E_INVALID);
    CHECK_CODE(store->ops->lead(store->self, name, "", LONG, &lease, &err), LKS_E_INVALID);
    CHECK_CODE(store->ops->lead(store->self, "a", url, LONG, &lease, &err), LKS_E_INVALID);
    CHECK_CODE(store->ops->lead(store->self, "a", "", 0, &lease, &err), LKS_E_INVALID);
    CHECK_INT(lease.epoch, 99);
}

/* One at a time, until the lease is over or given back; each change of hands counts. */
void lks_test_store_lead(const struct lks_test_store *d)
{
    LKS_CLEANUP(lks_test_bed_free) struct lks_test_bed w = {0};
    LKS_CLEANUP(lks_store_close) struct lks_store a = lks_test_bed_open(d, &w);
    LKS_CLEANUP(lks_store_close) struct lks_store b = join(d, &w);
    LKS_CLEANUP(lks_store_close) struct lks_store again = join(d, &w);
    struct lks_err err = {0};
    test_lead_checks(&a);
    lead(&a, "alpha", LONG, 1, "alpha");
    lead(&a, "alpha", LONG, 1, "alpha");
    lead(&b, "beta", LONG, 1, "alpha");
    lead(&again, "alpha", LONG, 1, "alpha"); /* another process under that name does not lead */
    CHECK_CODE(again.ops->resign(again.self, 7, &err), LKS_OK);
    lead(&b, "beta", LONG, 1, "alpha");

    lead(&a, "alpha", SHORT, 1, "alpha");
    d->pass(w.at, 2 * SHORT);
    lead(&a, "alpha", SHORT, 1, "alpha"); /* it was over, but nobody else took it */
    d->pass(w.at, 2 * SHORT);
    lead(&b, "beta", LONG, 2, "beta");
    lead(&a, "alpha", LONG, 2, "beta");
    CHECK_CODE(a.ops->resign(a.self, 1, &err), LKS_OK); /* not his any more */
    lead(&a, "alpha", LONG, 2, "beta");
    CHECK_CODE(b.ops->resign(b.self, 2, &err), LKS_OK);
    lead(&a, "alpha", LONG, 3, "alpha");
    lead(&b, "beta", LONG, 3, "alpha");
}

static enum lks_code put_in(const struct lks_store *store, uint64_t epoch, uint64_t seq)
{
    struct lks_test_rows rows;
    struct lks_store_batch batch = lks_test_rows_batch(&rows, seq, 1);
    batch.epoch = epoch;
    return lks_test_put(store, &batch);
}

static void check_shut_out(const struct lks_store *store, uint64_t epoch)
{
    struct lks_err err = {0};
    struct lks_store_tail tail = {.first = 1};
    CHECK_CODE(put_in(store, epoch, 3), LKS_E_REFUSED);
    CHECK_CODE(store->ops->snapshot_put(store->self, 2, LKS_STR("s"), &err), LKS_E_REFUSED);
    CHECK_CODE(store->ops->trim(store->self, 1, NULL, NULL, &err), LKS_E_REFUSED);
    CHECK_CODE(store->ops->cut(store->self, 1, &tail, NULL, &err), LKS_E_REFUSED);
    lks_test_rows_check(store, 1, 2);
    lks_test_tail_check(store, 1, 2);
    lks_test_snapshot_check(store, 0, LKS_STR(""));
}

/* Whoever lost the lead writes nothing more, whether he knows of it or not. */
void lks_test_store_fence(const struct lks_test_store *d)
{
    LKS_CLEANUP(lks_test_bed_free) struct lks_test_bed w = {0};
    LKS_CLEANUP(lks_store_close) struct lks_store a = lks_test_bed_open(d, &w);
    LKS_CLEANUP(lks_store_close) struct lks_store b = join(d, &w);
    struct lks_err err = {0};
    CHECK_CODE(put_in(&b, 1, 1), LKS_E_REFUSED); /* an epoch that is yet to come */
    CHECK_CODE(put_in(&b, 0, 1), LKS_OK);        /* nobody leads */
    lead(&a, "alpha", SHORT, 1, "alpha");
    d->pass(w.at, 2 * SHORT);
    CHECK_CODE(put_in(&a, 1, 2), LKS_OK); /* it is over, but nobody else took it */
    lead(&b, "beta", LONG, 2, "beta");
    check_shut_out(&a, 1);
    LKS_CLEANUP(lks_store_close) struct lks_store tool = join(d, &w);
    check_shut_out(&tool, 0);
    check_shut_out(&tool, 3);

    CHECK_CODE(put_in(&b, 2, 3), LKS_OK);
    CHECK_CODE(b.ops->snapshot_put(b.self, 2, LKS_STR("s"), &err), LKS_OK);
    CHECK_CODE(b.ops->trim(b.self, 1, NULL, NULL, &err), LKS_OK);
    lks_test_rows_check(&a, 2, 3);
    lks_test_snapshot_check(&a, 2, LKS_STR("s"));
    CHECK_CODE(b.ops->resign(b.self, 2, &err), LKS_OK);
    CHECK_CODE(put_in(&a, 1, 4), LKS_E_REFUSED);
    CHECK_CODE(put_in(&tool, 0, 4), LKS_OK);
    lks_test_rows_check(&b, 2, 4);
}

/* A wait ends, and what was written by then is there. */
void lks_test_store_wait(const struct lks_test_store *d)
{
    LKS_CLEANUP(lks_test_bed_free) struct lks_test_bed w = {0};
    LKS_CLEANUP(lks_store_close) struct lks_store a = lks_test_bed_open(d, &w);
    LKS_CLEANUP(lks_store_close) struct lks_store b = join(d, &w);
    struct lks_err err = {0};
    CHECK_CODE(b.ops->wait(b.self, 1, &err), LKS_OK);
    for (uint64_t seq = 1; seq <= 3; seq++) {
        lks_test_put_rows(&a, seq, 1);
        CHECK_CODE(b.ops->wait(b.self, LONG, &err), LKS_OK);
        lks_test_rows_check(&b, 1, seq);
    }
}

/* ---- tasks ---- */

/* As text: "name@site name@site". */
static void list(void *ctx, const struct lks_store_task *task)
{
    struct lks_buf *out = ctx;
    lks_buf_addf(out, "%s%" LKS_STR_FMT "@%" LKS_STR_FMT, out->len > 0 ? " " : "",
                 LKS_STR_ARG(task->name), LKS_STR_ARG(task->site));
    if (task->failures > 0)
        lks_buf_addf(out, "!%u", task->failures);
}

static void take(const struct lks_store *store, struct lks_store_claim claim, const char *want)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(1 << 16);
    struct lks_err err = {0};
    CHECK_CODE(store->ops->tasks_take(store->self, &claim, list, &out, &err), LKS_OK);
    CHECK_STR(lks_buf_view(&out), want);
}

static struct lks_store_claim claim_of(const char *holder, lks_ms now, size_t max)
{
    return (struct lks_store_claim){.holder = lks_str_from(holder),
                                    .now = now,
                                    .until = now + 100,
                                    .max = max,
                                    .site_max = 1000,
                                    .all_max = 1000};
}

static void sync(const struct lks_store *store, const struct lks_store_task *tasks, size_t count,
                 lks_ms now)
{
    struct lks_err err = {0};
    CHECK_CODE(store->ops->tasks_sync(store->self, tasks, count, now, &err), LKS_OK);
}

static enum lks_code done(const struct lks_store *store, const char *holder, const char *name,
                          lks_ms due, uint32_t failures)
{
    struct lks_err err = {0};
    return store->ops->task_done(store->self, lks_str_from(holder), lks_str_from(name), due,
                                 failures, &err);
}

#define TASK(name, site, every, due)                                                               \
    {                                                                                              \
        LKS_STR_C(name), LKS_STR_C(site), every, due, 0                                            \
    }

/* "a" is behind by half of its interval at 1050, "b" by all of it, "c" by a tenth. */
static const struct lks_store_task three[] = {
    TASK("a", "x", 100, 1000),
    TASK("b", "x", 50, 1000),
    TASK("c", "y", 500, 1000),
};

/* Each to one holder at a time, the latest first, and again when its lease is over. */
static void test_taking(const struct lks_test_store *d)
{
    LKS_CLEANUP(lks_test_bed_free) struct lks_test_bed w = {0};
    LKS_CLEANUP(lks_store_close) struct lks_store store = lks_test_bed_open(d, &w);
    take(&store, claim_of("h", 1050, 10), "");
    sync(&store, three, LKS_COUNT(three), 900);
    take(&store, claim_of("h", 999, 10), "");
    take(&store, claim_of("h", 1050, 0), "");
    take(&store, claim_of("h", 1050, 1), "b@x");
    take(&store, claim_of("other", 1050, 10), "a@x c@y");
    take(&store, claim_of("h", 1149, 10), "");
    CHECK_CODE(done(&store, "h", "a", 2000, 0), LKS_E_REFUSED);
    CHECK_CODE(done(&store, "h", "none", 2000, 0), LKS_E_REFUSED);
    CHECK_CODE(done(&store, "other", "a", 1100, 3), LKS_OK);
    CHECK_CODE(done(&store, "other", "a", 2000, 0), LKS_E_REFUSED);
    take(&store, claim_of("h", 1149, 10), "a@x!3");
    lks_test_bed_reopen(d, &w, &store);
    take(&store, claim_of("third", 1150, 10), "b@x c@y");
    CHECK_CODE(done(&store, "h", "b", 2000, 0), LKS_E_REFUSED);
    CHECK_CODE(done(&store, "h", "a", 9000, 0), LKS_OK);
    CHECK_CODE(done(&store, "third", "b", 2000, 0), LKS_OK);
    take(&store, claim_of("h", 2000, 10), "c@y b@x");
}

/* The list is what was given last; what is due when, and who has it, stays. */
static void test_syncing(const struct lks_test_store *d)
{
    static const struct lks_store_task two[] = {TASK("c", "z", 10, 5), TASK("d", "", 100, 1000)};
    LKS_CLEANUP(lks_test_bed_free) struct lks_test_bed w = {0};
    LKS_CLEANUP(lks_store_close) struct lks_store store = lks_test_bed_open(d, &w);
    sync(&store, three, LKS_COUNT(three), 900);
    take(&store, claim_of("h", 1050, 1), "b@x");
    sync(&store, three, LKS_COUNT(three), 900);
    take(&store, claim_of("h", 1050, 10), "a@x c@y");
    CHECK_CODE(done(&store, "h", "c", 1550, 2), LKS_OK);
    sync(&store, two, LKS_COUNT(two), 1055); /* "c" is read more often now: due at 1065 */
    CHECK_CODE(done(&store, "h", "a", 2000, 0), LKS_E_REFUSED);
    take(&store, claim_of("h", 1064, 10), "d@");
    take(&store, claim_of("h", 1065, 10), "c@z!2");
    sync(&store, NULL, 0, 1055);
    take(&store, claim_of("h", 9999, 10), "");
    sync(&store, three, LKS_COUNT(three), 900);
    take(&store, claim_of("h", 1050, 10), "b@x a@x c@y");
}

/* Sites and the whole have room for so many at a time, whoever has them. */
static void test_limits(const struct lks_test_store *d)
{
    static const struct lks_store_task six[] = {
        TASK("a1", "a", 10, 10), TASK("a2", "a", 20, 10), TASK("a3", "a", 30, 10),
        TASK("b1", "b", 40, 10), TASK("b2", "b", 50, 10), TASK("c1", "c", 60, 10),
    };
    LKS_CLEANUP(lks_test_bed_free) struct lks_test_bed w = {0};
    LKS_CLEANUP(lks_store_close) struct lks_store store = lks_test_bed_open(d, &w);
    struct lks_store_claim claim = claim_of("h", 100, 10);
    sync(&store, six, LKS_COUNT(six), 0);
    claim.site_max = 2;
    claim.max = 3;
    take(&store, claim, "a1@a a2@a b1@b");
    claim.holder = LKS_STR("other");
    claim.all_max = 4;
    take(&store, claim, "b2@b");
    take(&store, claim, "");
    claim.all_max = SIZE_MAX;
    claim.max = SIZE_MAX;
    take(&store, claim, "c1@c");
    CHECK_CODE(done(&store, "h", "a2", 100, 0), LKS_OK);
    claim.site_max = 1;
    take(&store, claim, "");
    claim.site_max = SIZE_MAX;
    take(&store, claim, "a3@a a2@a");
}

static void test_bad_tasks(const struct lks_test_store *d)
{
    static const struct lks_store_task bad[] = {
        TASK("", "x", 100, 1000),
        TASK("a", "x", 0, 1000),
        TASK("a", "x", UINT64_MAX, 1000),
        TASK("a", "x", 100, UINT64_MAX),
    };
    LKS_CLEANUP(lks_test_bed_free) struct lks_test_bed w = {0};
    LKS_CLEANUP(lks_store_close) struct lks_store store = lks_test_bed_open(d, &w);
    struct lks_err err = {0};
    for (size_t i = 0; i < LKS_COUNT(bad); i++)
        CHECK_CODE(store.ops->tasks_sync(store.self, &bad[i], 1, 0, &err), LKS_E_INVALID);
    CHECK_CODE(store.ops->tasks_sync(store.self, three, 3, UINT64_MAX, &err), LKS_E_INVALID);
    struct lks_store_claim claim = claim_of("", 1050, 10);
    CHECK_CODE(store.ops->tasks_take(store.self, &claim, list, NULL, &err), LKS_E_INVALID);
    claim = claim_of("h", 1050, 10);
    claim.until = claim.now;
    CHECK_CODE(store.ops->tasks_take(store.self, &claim, list, NULL, &err), LKS_E_INVALID);

    struct lks_store_task odd = TASK("\xff\0'\"", "\0\xfe", 100, 1000);
    sync(&store, &odd, 1, 0);
    CHECK_CODE(store.ops->task_done(store.self, LKS_STR(""), odd.name, 0, 0, &err), LKS_E_REFUSED);
    take(&store, claim_of("h", 1050, 10), "\xff@");
    CHECK_CODE(store.ops->task_done(store.self, LKS_STR("h"), odd.name, 9, 0, &err), LKS_OK);
}

void lks_test_store_tasks(const struct lks_test_store *d)
{
    test_taking(d);
    test_syncing(d);
    test_limits(d);
    test_bad_tasks(d);
}
