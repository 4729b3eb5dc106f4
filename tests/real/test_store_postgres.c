/* The store in a real PostgreSQL: the contract of all stores, and what happens when servers die. */
#include "drivers/store/postgres.h"
#include "drivers/store/pq.h"
#include "tests/postgres.h"
#include "tests/rows.h"
#include "tests/stores.h"
#include "tests/test.h"
#include "tests/wait.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LONG = 600000, SHORT = 300, ROUNDS = 3 };

/* Started once: one server, which gets its standby when the first tests are through. */
static struct pg servers;

/* ---- the contract ---- */

struct place {
    char conninfo[PG_CONNINFO_SIZE];
    bool made;
};

static void *place_new(void)
{
    struct place *p = calloc(1, sizeof(*p));
    LKS_ASSERT(p != NULL);
    pg_conninfo_of(&servers, PG_A, "postgres", p->conninfo);
    return p;
}

static void place_free(void *at)
{
    CHECK(pg_sql(&servers, "postgres", "DROP SCHEMA IF EXISTS lockstep CASCADE"));
    free(at);
}

static enum lks_code place_open(void *at, struct lks_store *out, struct lks_err *err)
{
    struct place *p = at;
    enum lks_store_mode mode = p->made ? LKS_STORE_OWN : LKS_STORE_CREATE;
    p->made = true;
    return lks_store_postgres_open(p->conninfo, mode, out, err);
}

static void pass(void *at, lks_ms time)
{
    (void)at;
    lks_rest((unsigned)time);
}

static const struct lks_test_store postgres = {
    .title = "postgresql",
    .name = "postgresql",
    .make = place_new,
    .end = place_free,
    .open = place_open,
    .pass = pass,
};

static void test_contract(void)
{
    lks_test_store_contract(&postgres);
}

/* ---- opening ---- */

static struct lks_store open_ok(const char *conninfo, enum lks_store_mode mode)
{
    struct lks_store store = {0};
    struct lks_err err = {0};
    if (!CHECK_CODE(lks_store_postgres_open(conninfo, mode, &store, &err), LKS_OK))
        fprintf(stderr, "%s\n", err.msg);
    LKS_ASSERT(store.ops != NULL);
    return store;
}

static void check_refused(const char *conninfo, enum lks_store_mode mode, enum lks_code code,
                          const char *message)
{
    struct lks_store store = {0};
    struct lks_err err = {0};
    CHECK_CODE(lks_store_postgres_open(conninfo, mode, &store, &err), code);
    CHECK_HAS(lks_str_from(err.msg), message);
    CHECK(store.ops == NULL);
}

static void test_opening(void)
{
    LKS_CLEANUP(lks_test_bed_free) struct lks_test_bed w = {0};
    struct lks_store store = lks_test_bed_open(&postgres, &w);
    const struct place *p = w.at;
    lks_store_close(&store);
    check_refused(p->conninfo, LKS_STORE_CREATE, LKS_E_REFUSED, "has a journal already");
    check_refused("host=/nowhere dbname=x", LKS_STORE_OWN, LKS_E_UNAVAILABLE, "x@/nowhere");
    CHECK(pg_sql(&servers, "postgres", "UPDATE lockstep.schema_version SET version = 99"));
    check_refused(p->conninfo, LKS_STORE_OWN, LKS_E_INVALID, "its schema is 99");
    check_refused(p->conninfo, LKS_STORE_READ, LKS_E_INVALID, "its schema is 99");
    CHECK(pg_sql(&servers, "postgres", "UPDATE lockstep.schema_version SET version = 0"));
    check_refused(p->conninfo, LKS_STORE_READ, LKS_E_INVALID, "start lockstepd of this version");
    CHECK(pg_sql(&servers, "postgres", "DROP SCHEMA lockstep CASCADE"));
    check_refused(p->conninfo, LKS_STORE_OWN, LKS_E_INVALID, "has no journal of lockstep's");
    check_refused(p->conninfo, LKS_STORE_READ, LKS_E_INVALID, "has no journal of lockstep's");
}

/* A reader sees one moment, and writes nothing. */
static void test_reader(void)
{
    LKS_CLEANUP(lks_test_bed_free) struct lks_test_bed w = {0};
    LKS_CLEANUP(lks_store_close) struct lks_store store = lks_test_bed_open(&postgres, &w);
    const struct place *p = w.at;
    struct lks_err err = {0};
    lks_test_put_rows(&store, 1, 5);
    CHECK_CODE(store.ops->snapshot_put(store.self, 5, LKS_STR("state"), &err), LKS_OK);
    struct lks_store reader = open_ok(p->conninfo, LKS_STORE_READ);
    lks_test_put_rows(&store, 6, 5);
    lks_test_rows_check(&reader, 1, 5);
    lks_test_tail_check(&reader, 1, 5);
    lks_test_snapshot_check(&reader, 5, LKS_STR("state"));
    struct lks_test_rows rows;
    struct lks_store_batch batch = lks_test_rows_batch(&rows, 6, 1);
    CHECK_CODE(lks_test_put(&reader, &batch), LKS_E_REFUSED);
    lks_store_close(&reader);
}

/* A row that nobody of ours wrote is handed on such that the chain finds it. */
static const char *const edits[] = {
    "UPDATE lockstep.journal SET time = -1 WHERE seq = 2",
    "UPDATE lockstep.journal SET kind = 65536 WHERE seq = 2",
    "UPDATE lockstep.journal SET version = 256 WHERE seq = 2",
    "UPDATE lockstep.journal SET hash = '' WHERE seq = 2",
    "UPDATE lockstep.journal SET body = decode(repeat('00', 4194305), 'hex') WHERE seq = 2",
};

struct look {
    uint64_t rows, damaged;
};

static bool look_for_damage(void *ctx, const struct lks_row *row)
{
    static const uint8_t nobodys[LKS_HASH_BYTES];
    struct look *look = ctx;
    look->rows++;
    if (memcmp(row->hash, nobodys, sizeof(nobodys)) == 0)
        look->damaged = row->seq;
    return true;
}

static void test_damage(void)
{
    for (size_t i = 0; i < LKS_COUNT(edits); i++) {
        lks_test_case("%s", edits[i]);
        LKS_CLEANUP(lks_test_bed_free) struct lks_test_bed w = {0};
        LKS_CLEANUP(lks_store_close) struct lks_store store = lks_test_bed_open(&postgres, &w);
        struct lks_err err = {0};
        struct look look = {0};
        lks_test_put_rows(&store, 1, 3);
        CHECK(pg_sql(&servers, "postgres", edits[i]));
        CHECK_CODE(store.ops->rows(store.self, 1, look_for_damage, &look, &err), LKS_OK);
        CHECK_INT(look.rows, 3);
        CHECK_INT(look.damaged, 2);
    }
}

/* ---- connections that go ---- */

static enum lks_code put_at(const struct lks_store *store, uint64_t epoch, uint64_t seq,
                            size_t count, struct lks_err *err)
{
    struct lks_test_rows rows;
    struct lks_store_batch batch = lks_test_rows_batch(&rows, seq, count);
    batch.epoch = epoch;
    return store->ops->append(store->self, &batch, err);
}

#define END_OTHERS                                                                                 \
    "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "                                \
    "WHERE application_name = 'lockstep'"

/* One that was ended before anything was sent has written nothing, and the next call has a new
 * one. A reader's moment does not come back. */
static void test_reconnects(void)
{
    LKS_CLEANUP(lks_test_bed_free) struct lks_test_bed w = {0};
    LKS_CLEANUP(lks_store_close) struct lks_store store = lks_test_bed_open(&postgres, &w);
    const struct place *p = w.at;
    LKS_CLEANUP(lks_store_close) struct lks_store reader = open_ok(p->conninfo, LKS_STORE_READ);
    struct lks_err err = {0};
    struct lks_store_tail tail = {0};
    lks_test_put_rows(&store, 1, 3);
    CHECK(pg_sql(&servers, "postgres", END_OTHERS));
    CHECK_CODE(put_at(&store, 0, 4, 1, &err), LKS_E_UNAVAILABLE);
    CHECK_CODE(put_at(&store, 0, 4, 1, &err), LKS_OK);
    lks_test_rows_check(&store, 1, 4);
    for (int i = 0; i < 2; i++)
        CHECK_CODE(reader.ops->tail(reader.self, &tail, &err), LKS_E_UNAVAILABLE);
    CHECK(pg_sql(&servers, "postgres", END_OTHERS));
    CHECK_CODE(store.ops->wait(store.self, 1000, &err), LKS_E_UNAVAILABLE);
    CHECK_CODE(store.ops->wait(store.self, 1, &err), LKS_OK);
}

/* ---- tasks ---- */

enum { TASKS = 400, WORKERS = 4 };

struct tally {
    int given[TASKS];
    int all, failures;
};

static void count_task(void *ctx, const struct lks_store_task *task)
{
    struct tally *tally = ctx;
    uint64_t number = 0;
    if (lks_str_number(task->name, TASKS - 1, &number))
        __atomic_add_fetch(&tally->given[number], 1, __ATOMIC_SEQ_CST);
    __atomic_add_fetch(&tally->all, 1, __ATOMIC_SEQ_CST);
}

static void work(const char *conninfo, struct tally *tally)
{
    char holder[32];
    snprintf(holder, sizeof(holder), "worker %d", (int)getpid());
    LKS_CLEANUP(lks_store_close) struct lks_store store = {0};
    struct lks_err err = {0};
    struct lks_store_claim claim = {lks_str_from(holder), 1000, 2000, 7, TASKS, TASKS};
    enum lks_code code = lks_store_postgres_open(conninfo, LKS_STORE_OWN, &store, &err);
    for (int i = 0; i < TASKS && code == LKS_OK && tally->all < TASKS; i++)
        code = store.ops->tasks_take(store.self, &claim, count_task, tally, &err);
    if (code != LKS_OK)
        __atomic_add_fetch(&tally->failures, 1, __ATOMIC_SEQ_CST);
}

/* Several take at once: each task goes to one of them. */
static void test_tasks_at_once(void)
{
    LKS_CLEANUP(lks_test_bed_free) struct lks_test_bed w = {0};
    LKS_CLEANUP(lks_store_close) struct lks_store store = lks_test_bed_open(&postgres, &w);
    const struct place *p = w.at;
    struct lks_err err = {0};
    static char names[TASKS][8];
    struct lks_store_task tasks[TASKS];
    struct tally *tally =
        mmap(NULL, sizeof(*tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    LKS_ASSERT(tally != MAP_FAILED);
    for (int i = 0; i < TASKS; i++) {
        snprintf(names[i], sizeof(names[i]), "%d", i);
        tasks[i] = (struct lks_store_task){lks_str_from(names[i]), LKS_STR("s"), 100, 500, 0};
    }
    CHECK_CODE(store.ops->tasks_sync(store.self, tasks, TASKS, 0, &err), LKS_OK);
    pid_t pids[WORKERS];
    for (int i = 0; i < WORKERS; i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            work(p->conninfo, tally);
            _exit(0);
        }
    }
    for (int i = 0; i < WORKERS; i++)
        (void)waitpid(pids[i], NULL, 0);
    for (int i = 0; i < TASKS; i++)
        CHECK_INT(tally->given[i], 1);
    CHECK_INT(tally->failures, 0);
    (void)munmap(tally, sizeof(*tally));
}

/* ---- a server that is lost ---- */

static const char *pair_conninfo(void)
{
    static char conninfo[PG_CONNINFO_SIZE];
    return pg_conninfo(&servers, "postgres", conninfo);
}

static struct lks_store pair_open(void)
{
    CHECK(pg_sql(&servers, "postgres", "DROP SCHEMA IF EXISTS lockstep CASCADE"));
    return open_ok(pair_conninfo(), LKS_STORE_CREATE);
}

/* Other calls on a store that was opened are not to take half a minute here. */
static void hurry(const struct lks_store *store, int ms)
{
    struct lks_pq *pq = store->self;
    pq->usual = pq->patience = ms;
}

static uint64_t tail_of(const struct lks_store *store)
{
    struct lks_store_tail tail = {0};
    struct lks_err err = {0};
    CHECK_CODE(store->ops->tail(store->self, &tail, &err), LKS_OK);
    return tail.seq;
}

/* Who appends, and whoever is about to kill what he appends to. */
struct race {
    const struct lks_store *store;
    _Atomic uint64_t last; /* row that was acknowledged */
    uint64_t kill_after;
    unsigned ms;
};

static void *kill_soon(void *arg)
{
    const struct race *race = arg;
    for (struct lks_wait w = {0}; race->last < race->kill_after && lks_wait(&w);) {
    }
    lks_rest(race->ms);
    pg_kill_primary(&servers);
    return NULL;
}

/* Append until it fails. */
static enum lks_code append_until_failure(struct race *race)
{
    struct lks_err err = {0};
    enum lks_code code = LKS_OK;
    while (code == LKS_OK) {
        uint64_t last = race->last;
        size_t count = 1 + last % 40;
        code = put_at(race->store, 0, last + 1, count, &err);
        if (code == LKS_OK)
            race->last = last + count;
    }
    return code;
}

/* The primary dies in the middle of appends, its standby takes over, and what was acknowledged is
 * there: the whole chain of rows, and nothing of a batch without the rest of it. */
static void test_kill_primary(void)
{
    struct lks_store store = pair_open();
    for (unsigned round = 0; round < ROUNDS; round++) {
        lks_test_case("round %u", round);
        uint64_t before = tail_of(&store);
        struct race race = {&store, before, before + 30, 7 * round};
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, kill_soon, &race) == 0);
        enum lks_code code = append_until_failure(&race);
        (void)pthread_join(thread, NULL);
        uint64_t acknowledged = race.last;
        CHECK(code == LKS_E_UNAVAILABLE || code == LKS_E_IO);
        CHECK(acknowledged > before);
        if (!pg_promote(&servers) || !pg_rejoin_old(&servers))
            break;
        if (code == LKS_E_IO) {
            lks_store_close(&store);
            store = open_ok(pair_conninfo(), LKS_STORE_OWN);
        }
        uint64_t there = tail_of(&store);
        CHECK(there == acknowledged ||
              (code == LKS_E_IO && there == acknowledged + 1 + acknowledged % 40));
        lks_test_rows_check(&store, 1, there);
        lks_test_tail_check(&store, 1, there);
    }
    lks_store_close(&store);
}

static struct lks_store_lease lead_ok(const struct lks_store *store, const char *name, lks_ms ttl)
{
    struct lks_store_lease lease = {0};
    struct lks_err err = {0};
    for (struct lks_wait w = {0}; strcmp(lease.name, name) != 0 && lks_wait(&w);) {
        enum lks_code code = store->ops->lead(store->self, name, "https://x", ttl, &lease, &err);
        CHECK(code == LKS_OK || code == LKS_E_UNAVAILABLE);
    }
    CHECK_STR(lks_str_from(lease.name), name);
    return lease;
}

/* The lease goes over with the rest: an epoch is never given twice, and the old one stays shut
 * out. */
static void test_lead_survives(void)
{
    LKS_CLEANUP(lks_store_close) struct lks_store a = pair_open();
    LKS_CLEANUP(lks_store_close) struct lks_store b = open_ok(pair_conninfo(), LKS_STORE_OWN);
    struct lks_err err = {0};
    CHECK_CODE(a.ops->safe(a.self, &err), LKS_OK);
    CHECK_INT(lead_ok(&a, "alpha", LONG).epoch, 1);
    CHECK_CODE(put_at(&a, 1, 1, 3, &err), LKS_OK);
    pg_kill_primary(&servers);
    CHECK_CODE(put_at(&a, 1, 4, 3, &err), LKS_E_UNAVAILABLE);
    if (!pg_promote(&servers) || !pg_rejoin_old(&servers))
        return;
    struct lks_store_lease lease = {0};
    enum lks_code code = LKS_E_UNAVAILABLE;
    for (int i = 0; i < 3 && code != LKS_OK; i++) /* it finds out that its connection is gone */
        code = b.ops->lead(b.self, "beta", "", LONG, &lease, &err);
    CHECK_CODE(code, LKS_OK);
    CHECK_STR(lks_str_from(lease.name), "alpha");
    CHECK_INT(lead_ok(&a, "alpha", SHORT).epoch, 1);
    CHECK_INT(lead_ok(&b, "beta", LONG).epoch, 2);
    CHECK_CODE(put_at(&a, 1, 4, 3, &err), LKS_E_REFUSED);
    CHECK_HAS(lks_str_from(err.msg), "beta has epoch 2");
    CHECK_CODE(put_at(&b, 2, 4, 3, &err), LKS_OK);
    lks_test_rows_check(&a, 1, 6);
}

static enum pg_place standby(void)
{
    return servers.primary == PG_A ? PG_B : PG_A;
}

/* A primary that lost its standby acknowledges nothing, neither rows nor a lead; who looks at it
 * already may go on looking, and nobody begins to. */
static void test_without_standby(void)
{
    LKS_CLEANUP(lks_store_close) struct lks_store store = pair_open();
    LKS_CLEANUP(lks_store_close) struct lks_store other = open_ok(pair_conninfo(), LKS_STORE_OWN);
    struct lks_store_lease lease = {.epoch = 77};
    struct lks_err err = {0};
    lks_test_put_rows(&store, 1, 3);
    hurry(&store, 1000);
    hurry(&other, 1000);
    pg_kill(&servers, standby());
    CHECK_CODE(other.ops->safe(other.self, &err), LKS_E_REFUSED);
    CHECK_HAS(lks_str_from(err.msg), "no synchronous standby");
    lks_test_rows_check(&other, 1, 3);
    check_refused(pair_conninfo(), LKS_STORE_OWN, LKS_E_UNAVAILABLE, "no synchronous standby");
    CHECK_CODE(other.ops->lead(other.self, "x", "", LONG, &lease, &err), LKS_E_UNAVAILABLE);
    CHECK_INT(lease.epoch, 77);
    CHECK(pg_rejoin_old(&servers));
    CHECK_CODE(put_at(&store, 0, 4, 3, &err), LKS_E_REFUSED); /* x leads, and does not know */
    CHECK_HAS(lks_str_from(err.msg), "x leads, in epoch 1");
    pg_kill(&servers, standby());
    CHECK(pg_sql(&servers, "postgres",
                 "SET synchronous_commit = local; UPDATE lockstep.lease SET until = 0"));
    CHECK_CODE(put_at(&store, 0, 4, 3, &err), LKS_E_IO);
    CHECK_HAS(lks_str_from(err.msg), "may or may not have happened");
    CHECK_CODE(put_at(&store, 0, 4, 3, &err), LKS_E_IO);
    CHECK(pg_rejoin_old(&servers));
}

/* An old primary comes back with a commit that its standby never had, and takes itself for the
 * primary: nobody looks at it, and whoever has both goes to the other one. */
static void test_old_primary(void)
{
    struct lks_store store = pair_open();
    struct lks_err err = {0};
    char old_one[PG_CONNINFO_SIZE];
    enum pg_place old = servers.primary;
    pg_conninfo_of(&servers, old, "postgres", old_one);
    lks_test_put_rows(&store, 1, 3);
    hurry(&store, 500);
    pg_kill(&servers, standby());
    CHECK_CODE(put_at(&store, 0, 4, 3, &err), LKS_E_IO);
    lks_store_close(&store);
    pg_kill_primary(&servers);
    if (!pg_revive(&servers, standby()) || !pg_promote(&servers) || !pg_revive(&servers, old))
        return;
    CHECK(pg_sql_of(&servers, old, "postgres",
                    "SELECT 1 / count(*) FROM lockstep.journal "
                    "WHERE seq = 6"));
    check_refused(old_one, LKS_STORE_OWN, LKS_E_UNAVAILABLE, "no synchronous standby");
    CHECK(pg_synchronous(&servers, false)); /* it goes on alone for a while */
    store = open_ok(pair_conninfo(), LKS_STORE_OWN);
    lks_test_rows_check(&store, 1, 3);
    lks_test_put_rows(&store, 4, 3);
    lks_store_close(&store);
    CHECK(pg_rejoin_old(&servers));
}

/* As soon as there is one that waits for the standby. */
static void *cancel_soon(void *arg)
{
    (void)arg;
    CHECK(pg_sql(&servers, "postgres",
                 "DO $$ BEGIN WHILE NOT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event = "
                 "'SyncRep') LOOP PERFORM pg_sleep(0.01); PERFORM pg_stat_clear_snapshot(); END "
                 "LOOP; PERFORM pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = "
                 "'SyncRep'; END $$"));
    return NULL;
}

/* A commit whose wait for the standby somebody ends is called a success by the server, and is none
 * for us. */
static void test_cancelled_wait(void)
{
    LKS_CLEANUP(lks_store_close) struct lks_store store = pair_open();
    struct lks_err err = {0};
    pthread_t thread;
    lks_test_put_rows(&store, 1, 3);
    pg_kill(&servers, standby());
    CHECK(pthread_create(&thread, NULL, cancel_soon, NULL) == 0);
    CHECK_CODE(put_at(&store, 0, 4, 3, &err), LKS_E_IO);
    CHECK_HAS(lks_str_from(err.msg), "did not wait for its standby");
    (void)pthread_join(thread, NULL);
    CHECK(pg_rejoin_old(&servers));
}

/* A server that stands still is given up after a while, whatever is asked of it. */
static void test_frozen(void)
{
    LKS_CLEANUP(lks_store_close) struct lks_store store = pair_open();
    struct lks_err err = {0};
    struct lks_store_tail tail = {0};
    lks_test_put_rows(&store, 1, 3);
    hurry(&store, 500);
    pg_freeze(&servers, servers.primary);
    CHECK_CODE(store.ops->tail(store.self, &tail, &err), LKS_E_UNAVAILABLE);
    CHECK_HAS(lks_str_from(err.msg), "does not answer");
    pg_thaw(&servers, servers.primary);
    CHECK_CODE(put_at(&store, 0, 4, 3, &err), LKS_OK);
    lks_test_rows_check(&store, 1, 6);
}

/* ---- a leader that is paused ---- */

/* In a process of its own: lead, append for as long as it goes, and end as it ended. */
static void lead_and_append(const char *conninfo, int ready)
{
    struct lks_err err = {0};
    struct lks_store store = {0};
    struct lks_store_lease lease = {0};
    enum lks_code code = lks_store_postgres_open(conninfo, LKS_STORE_OWN, &store, &err);
    if (code == LKS_OK)
        code = store.ops->lead(store.self, "alpha", "", SHORT, &lease, &err);
    for (uint64_t seq = 1; code == LKS_OK || code == LKS_E_UNAVAILABLE;) {
        code = put_at(&store, lease.epoch, seq, 1, &err);
        seq += code == LKS_OK ? 1 : 0;
        if (seq == 20 && write(ready, "", 1) != 1)
            break;
    }
    _exit((int)code);
}

/* A leader that sleeps through the end of its lease wakes up to a refusal, wherever it was. */
static void test_paused_leader(void)
{
    struct lks_err err = {0};
    int ready[2], status = 0;
    char byte = 0;
    LKS_CLEANUP(lks_store_close) struct lks_store store = pair_open();
    CHECK(pipe(ready) == 0);
    pid_t pid = fork();
    if (pid == 0)
        lead_and_append(pair_conninfo(), ready[1]);
    CHECK(read(ready[0], &byte, 1) == 1);
    CHECK(kill(pid, SIGSTOP) == 0);
    uint64_t epoch = lead_ok(&store, "beta", LONG).epoch;
    CHECK_INT(epoch, 2);
    uint64_t last = tail_of(&store);
    CHECK(last >= 19);
    CHECK_CODE(put_at(&store, epoch, last + 1, 5, &err), LKS_OK);
    CHECK(kill(pid, SIGCONT) == 0);
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == LKS_E_REFUSED || WEXITSTATUS(status) == LKS_E_IO);
    lks_test_rows_check(&store, 1, last + 5);
    lks_test_tail_check(&store, 1, last + 5);
    (void)close(ready[0]);
    (void)close(ready[1]);
}

/* ---- whether it is safe ---- */

static void test_not_safe(void)
{
    LKS_CLEANUP(lks_test_bed_free) struct lks_test_bed w = {0};
    LKS_CLEANUP(lks_store_close) struct lks_store store = lks_test_bed_open(&postgres, &w);
    struct lks_err err = {0};
    CHECK_CODE(store.ops->safe(store.self, &err), LKS_E_REFUSED);
    CHECK_HAS(lks_str_from(err.msg), "synchronous_standby_names is empty");
}

static void test_server_comes_up(void)
{
    CHECK(pg_start_one(&servers));
}

static void test_standby_comes_up(void)
{
    CHECK(pg_add_standby(&servers));
}

/* Orphans of the servers become our children, so one that is left over is found here. */
static void test_servers_go(void)
{
    struct lks_tree gone = servers.tree;
    pg_free(&servers);
    CHECK(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
    CHECK(access(gone.path, F_OK) != 0 && errno == ENOENT);
}

static const struct lks_test tests[] = {
    {"a server comes up", test_server_comes_up},
    {"contract", test_contract},
    {"opening", test_opening},
    {"reader", test_reader},
    {"damage", test_damage},
    {"reconnects", test_reconnects},
    {"tasks at once", test_tasks_at_once},
    {"not safe", test_not_safe},
    {"a standby comes up", test_standby_comes_up},
    {"kill of the primary", test_kill_primary},
    {"the lead survives", test_lead_survives},
    {"without a standby", test_without_standby},
    {"the old primary", test_old_primary},
    {"a wait that is cancelled", test_cancelled_wait},
    {"frozen", test_frozen},
    {"a paused leader", test_paused_leader},
    {"servers go", test_servers_go},
    {0},
};

int main(void)
{
    return lks_test_main(tests);
}
