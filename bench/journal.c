/*
 * Appending to the journal: heartbeats of nodes that were booted, each decided by a turn that makes
 * one record, so many of them to a commit. Turns are made on one thread while the batch before is
 * committed on another, as lockstepd does it. The rival writes the very same rows into a table of
 * SQLite with the same sync, and decides, hashes and signs nothing. Rounds of both alternate.
 */
#include "bench/bench.h"
#include "model/manifest/manifest.h"

#include "drivers/store/sqlite.h"
#include "engine/engine.h"
#include "tests/facts.h"
#include "tests/journals.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <time.h>

enum { ROUNDS = 21, COMMITS_MAX = 32, NODES = 10000, BATCH_MAX = 1024 };

#define WALL UINT64_C(1794700000000)
#define FLEET                                                                                      \
    "lockstep: 1\nkind: Fleet\nname: bench\n"                                                      \
    "pools: {train: {posture: pre-training}}\n"                                                    \
    "nodes: [{hosts: 'n[00001-10000]', pool: train, class: hgx-h200-8}]\n"

/* The store's thread: one batch at a time. */
struct writer {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct lks_engine_batch *batch; /* to be committed; NULL: none */
    bool busy, ended;
};

struct journal {
    struct writer writer;
    struct lks_store store;
    struct lks_engine *engine;
    struct lks_engine_options options;
    struct lks_key key;
    struct lks_now now;
    uint64_t beats;
    struct lks_engine_batch done[COMMITS_MAX]; /* of this round, for the rival */
};

struct bare {
    sqlite3 *db;
    sqlite3_stmt *begin, *insert, *commit;
};

/* ---- Ours. ---- */

static void *write_batches(void *ctx)
{
    struct journal *j = ctx;
    struct writer *w = &j->writer;
    struct lks_err err = {0};
    pthread_mutex_lock(&w->lock);
    while (!w->ended) {
        struct lks_engine_batch *batch = w->batch;
        if (batch == NULL) {
            pthread_cond_wait(&w->changed, &w->lock);
            continue;
        }
        w->batch = NULL;
        pthread_mutex_unlock(&w->lock);
        if (lks_engine_commit(&j->options, &j->store, batch, &err) != LKS_OK)
            bench_die("journal", err.msg);
        pthread_mutex_lock(&w->lock);
        w->busy = false;
        pthread_cond_broadcast(&w->changed);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

/* Until the batch under way, if there is one, is durable. */
static void await(struct journal *j, const struct lks_engine_batch *batch)
{
    struct writer *w = &j->writer;
    pthread_mutex_lock(&w->lock);
    while (w->busy)
        pthread_cond_wait(&w->changed, &w->lock);
    pthread_mutex_unlock(&w->lock);
    if (batch != NULL)
        lks_engine_durable(j->engine, batch);
}

/* Hand over what is pending; the batch before must be durable. */
static void hand_over(struct journal *j, struct lks_engine_batch *batch)
{
    struct writer *w = &j->writer;
    if (!lks_engine_take(j->engine, j->now, batch))
        bench_die("journal", "there is nothing to commit");
    pthread_mutex_lock(&w->lock);
    w->batch = batch;
    w->busy = true;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
}

static void start_writer(struct journal *j)
{
    struct writer *w = &j->writer;
    if (pthread_mutex_init(&w->lock, NULL) != 0 || pthread_cond_init(&w->changed, NULL) != 0 ||
        pthread_create(&w->thread, NULL, write_batches, j) != 0)
        bench_die("journal", "no thread");
}

static void stop_writer(struct journal *j)
{
    struct writer *w = &j->writer;
    pthread_mutex_lock(&w->lock);
    w->ended = true;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
}

static void apply_fleet(struct journal *j)
{
    LKS_CLEANUP(lks_manifest_fini) struct lks_manifest manifest = {0};
    LKS_CLEANUP(lks_decision_fini) struct lks_decision d = {0};
    struct lks_store_blob blob = {.bytes = LKS_STR(FLEET)};
    struct lks_err err = {0};
    uint64_t needs = 0;
    lks_decision_init(&d);
    if (lks_digest_text(blob.bytes, blob.digest, &err) != LKS_OK ||
        lks_manifest_parse("fleet", blob.bytes, j->options.facts, NULL, &manifest, &err) != LKS_OK)
        bench_die("fleet", err.msg);
    const struct lks_event event = {
        .kind = LKS_EVENT_FLEET,
        .by = LKS_STR("user:bench"),
        .fleet = {.manifest = &manifest, .digest = lks_str_from(blob.digest), .accept = true},
    };
    if (lks_engine_turn(j->engine, j->now, &event, &blob, &d, &needs, &err) != LKS_OK)
        bench_die("fleet", err.msg);
    if (d.refused.code != LKS_OK)
        bench_die("fleet", d.refused.msg);
}

/* The next node says that it was booted. */
static void hear(struct journal *j)
{
    struct lks_err err = {0};
    struct lks_beat beat = {.protocol = LKS_BEAT_PROTOCOL, .seq = 1};
    uint32_t node = (uint32_t)(j->beats++ % NODES);
    j->now.mono++;
    j->now.wall++;
    beat.sent = j->now.wall;
    memcpy(beat.boot, &j->beats, sizeof(j->beats));
    if (lks_engine_hear(j->engine, j->now, node, &beat, &err) != LKS_OK)
        bench_die("heartbeat", err.msg);
}

static void journal_init(struct journal *j, const struct lks_tree *tree)
{
    struct lks_err err = {0};
    char path[128];
    *j = (struct journal){.key = lks_test_key(), .now = {.wall = WALL, .mono = 1000}};
    j->options = (struct lks_engine_options){
        .facts = lks_test_facts(), .key = &j->key, .version = LKS_VERSION, .seed = 1};
    memset(j->options.journal, 'a', sizeof(j->options.journal) - 1);
    snprintf(path, sizeof(path), "%s/ours.db", tree->path);
    if (lks_store_sqlite_open(path, LKS_STORE_CREATE, &j->store, &err) != LKS_OK ||
        lks_engine_open(&j->store, &j->options, j->now, &j->engine, &err) != LKS_OK)
        bench_die("journal", err.msg);
    start_writer(j);
    apply_fleet(j);
    for (unsigned n = 0; n < NODES; n++) {
        hear(j); /* for the first time, which is one record more */
        if (n % BATCH_MAX != BATCH_MAX - 1 && n != NODES - 1)
            continue;
        LKS_CLEANUP(lks_engine_batch_fini) struct lks_engine_batch batch = {0};
        hand_over(j, &batch);
        await(j, &batch);
    }
}

static void journal_fini(struct journal *j)
{
    stop_writer(j);
    lks_engine_free(j->engine);
    lks_store_close(&j->store);
}

/* Rows a second, of `commits` batches. */
static double append_ours(struct journal *j, unsigned batch, unsigned commits)
{
    double start = bench_now_ms();
    for (unsigned c = 0; c < commits; c++) {
        for (unsigned i = 0; i < batch; i++)
            hear(j);
        await(j, c > 0 ? &j->done[c - 1] : NULL);
        hand_over(j, &j->done[c]);
    }
    await(j, &j->done[commits - 1]);
    double took = bench_now_ms() - start;
    for (unsigned c = 0; c < commits; c++)
        if (j->done[c].store.row_count != batch)
            bench_die("journal", "a heartbeat made other than one record");
    return batch * commits / took * 1e3;
}

/* ---- The rival. ---- */

static void bare_init(struct bare *b, const struct lks_tree *tree)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/bare.db", tree->path);
    static const char schema[] =
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
        "CREATE TABLE journal (seq INTEGER PRIMARY KEY, time INTEGER NOT NULL, kind INTEGER NOT "
        "NULL, version INTEGER NOT NULL, body BLOB NOT NULL, hash BLOB NOT NULL) STRICT";
    if (sqlite3_open(path, &b->db) != SQLITE_OK ||
        sqlite3_exec(b->db, schema, NULL, NULL, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(b->db, "BEGIN IMMEDIATE", -1, &b->begin, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(b->db, "COMMIT", -1, &b->commit, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(b->db, "INSERT INTO journal VALUES (?, ?, ?, ?, ?, ?)", -1, &b->insert,
                           NULL) != SQLITE_OK)
        bench_die("SQLite", sqlite3_errmsg(b->db));
}

static void bare_fini(struct bare *b)
{
    sqlite3_finalize(b->begin);
    sqlite3_finalize(b->insert);
    sqlite3_finalize(b->commit);
    sqlite3_close(b->db);
}

static void step(struct bare *b, sqlite3_stmt *stmt)
{
    if (sqlite3_step(stmt) != SQLITE_DONE)
        bench_die("SQLite", sqlite3_errmsg(b->db));
    sqlite3_reset(stmt);
}

static void insert(struct bare *b, const struct lks_row *row)
{
    sqlite3_bind_int64(b->insert, 1, (sqlite3_int64)row->seq);
    sqlite3_bind_int64(b->insert, 2, (sqlite3_int64)row->time);
    sqlite3_bind_int(b->insert, 3, row->kind);
    sqlite3_bind_int(b->insert, 4, row->version);
    sqlite3_bind_blob(b->insert, 5, row->body.ptr, (int)row->body.len, SQLITE_STATIC);
    sqlite3_bind_blob(b->insert, 6, row->hash, LKS_HASH_BYTES, SQLITE_STATIC);
    step(b, b->insert);
}

static double append_bare(struct bare *b, const struct journal *j, unsigned batch, unsigned commits)
{
    double start = bench_now_ms();
    for (unsigned c = 0; c < commits; c++) {
        step(b, b->begin);
        for (unsigned i = 0; i < batch; i++)
            insert(b, &j->done[c].rows[i]);
        step(b, b->commit);
    }
    return batch * commits / (bench_now_ms() - start) * 1e3;
}

/* ---- Both. ---- */

static const struct size {
    const char *what;
    unsigned batch, commits; /* of a round */
} sizes[] = {
    {"turns and commits of 1 record", 1, COMMITS_MAX},
    {"turns and commits of 64 records", 64, COMMITS_MAX},
    {"turns and commits of 1024 records", BATCH_MAX, COMMITS_MAX},
};

/* What a thread has used of the processors, in microseconds. */
static double used_us(pthread_t thread)
{
    clockid_t clock;
    struct timespec t = {0};
    if (pthread_getcpuclockid(thread, &clock) != 0 || clock_gettime(clock, &t) != 0)
        bench_die("journal", "a thread's clock cannot be read");
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void show(struct lks_table *t, const char *what, const char *bar, const char *unit,
                 double *ours, double *theirs)
{
    bench_row(t, &(struct bench_figure){what, bar, "SQLite alone, the same rows", unit,
                                        bench_median(ours, ROUNDS), bench_median(theirs, ROUNDS)});
}

static void measure(struct journal *j, struct bare *b, const struct size *s, struct lks_table *t)
{
    double ours[ROUNDS], theirs[ROUNDS], turns[ROUNDS], commits[ROUNDS], inserts[ROUNDS];
    double rows = s->batch * s->commits;
    for (size_t r = 0; r < ROUNDS; r++) {
        double before = used_us(pthread_self()), writer = used_us(j->writer.thread);
        ours[r] = append_ours(j, s->batch, s->commits);
        double between = used_us(pthread_self());
        theirs[r] = append_bare(b, j, s->batch, s->commits);
        turns[r] = (between - before) / rows;
        commits[r] = (used_us(j->writer.thread) - writer) / rows;
        inserts[r] = (used_us(pthread_self()) - between) / rows;
        for (unsigned c = 0; c < s->commits; c++)
            lks_engine_batch_fini(&j->done[c]);
    }
    show(t, s->what, "ratio 0.70", "rows/s", ours, theirs);
    show(t, "  processor time of a turn", "-", "us", turns, inserts);
    show(t, "  processor time of its commit", "-", "us", commits, inserts);
}

void bench_journal(struct lks_table *t)
{
    LKS_CLEANUP(lks_tree_free) struct lks_tree tree = lks_tree_new();
    struct journal j;
    struct bare b = {0};
    journal_init(&j, &tree);
    bare_init(&b, &tree);
    for (size_t i = 0; i < LKS_COUNT(sizes); i++)
        measure(&j, &b, &sizes[i], t);
    bare_fini(&b);
    journal_fini(&j);
}
