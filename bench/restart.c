/*
 * A restart: a journal of 1,000,000 records about 100,000 nodes, with the heads that as many
 * commits of one record leave (one every 3 ms, so one head for 334 of them), is folded whole with
 * every link of its chain checked, verified with its signatures and its snapshot, and opened from a
 * snapshot with 100,000 records behind it. The rival reads the same rows from the same file and
 * does nothing with them.
 */
#include "bench/bench.h"
#include "bench/writing.h"
#include "core/state/state.h"

#include "drivers/store/sqlite.h"
#include "engine/engine.h"
#include "engine/journal.h"
#include "tests/facts.h"
#include "tests/journals.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <unistd.h>

enum { NODES = 100000, RECORDS = 1000000, TAIL = 100000, TUPLES = 2000 };
enum { FOLDS = 3, OPENS = 5, RUNS_MAX = 5, STEP_MS = 3, NAME_SIZE = 16 };

#define WALL    UINT64_C(1794700000000)
#define HOSTS   "n[000001-100000]"
#define JOURNAL "00112233445566778899aabbccddeeff"
#define STACK   "sha256:5eed"

/* The journal, and what its records of tuples refer to. */
struct writing {
    struct bench_writing to;
    struct lks_store_blob reports[TUPLES];
    char texts[TUPLES][NAME_SIZE];
};

/* What is measured. */
struct subject {
    struct writing *w;
    const char *path;
    uint64_t from; /* the first row the rival reads */
};

static void make_reports(struct writing *w)
{
    struct lks_err err = {0};
    for (unsigned i = 0; i < TUPLES; i++) {
        snprintf(w->texts[i], sizeof(w->texts[i]), "report %u", i);
        w->reports[i].bytes = lks_str_from(w->texts[i]);
        if (lks_digest_text(w->reports[i].bytes, w->reports[i].digest, &err) != LKS_OK)
            bench_die("journal", err.msg);
    }
}

static void add_fleet(struct writing *w)
{
    const struct lks_record first[] = {
        {.kind = LKS_RECORD_BEGUN, .begun = {LKS_STR(JOURNAL), LKS_STR(LKS_VERSION)}},
        {.kind = LKS_RECORD_SIGNED, .signing = {.from = 2}},
        {.kind = LKS_RECORD_POOL,
         .pool = {.name = LKS_STR("train"),
                  .posture = LKS_STR("pre-training"),
                  .stack_digest = LKS_STR(STACK)}},
        {.kind = LKS_RECORD_PLACED,
         .placed = {.hosts = LKS_STR(HOSTS),
                    .pool = LKS_STR("train"),
                    .class = LKS_STR("hgx-h200-8")}},
    };
    for (size_t i = 0; i < LKS_COUNT(first); i++)
        bench_write(&w->to, &first[i]);
    for (unsigned i = 0; i < TUPLES; i++) {
        char digest[LKS_DIGEST_SIZE], readings[64];
        snprintf(digest, sizeof(digest), "sha256:%064" PRIx64, (uint64_t)i);
        snprintf(readings, sizeof(readings), "driver\t\t\t=\t580.%u\n", i);
        const struct lks_record known[] = {
            {.kind = LKS_RECORD_BASIS, .basis = {lks_str_from(digest), lks_str_from(readings)}},
            {.kind = LKS_RECORD_VERDICT,
             .verdict = {.basis = lks_str_from(digest),
                         .stack = LKS_STR(STACK),
                         .judged = LKS_JUDGED_CONFORMS,
                         .values = lks_str_from(readings)}},
        };
        bench_write(&w->to, &known[0]);
        bench_write(&w->to, &known[1]);
    }
}

/* What nodes do: they are late and come back, boot, and run something else. */
static void add_life(struct writing *w)
{
    char name[NAME_SIZE], tuple[LKS_DIGEST_SIZE], text[LKS_DIGEST_SIZE];
    uint64_t i = w->to.seq;
    struct lks_record r = {.kind = LKS_RECORD_LIVENESS};
    snprintf(name, sizeof(name), "n%06" PRIu64, i * 7919 % NODES + 1);
    struct lks_str node = lks_str_from(name);
    if (i % 4 == 0) {
        snprintf(tuple, sizeof(tuple), "sha256:%064" PRIx64, i % TUPLES);
        r.kind = LKS_RECORD_TUPLE;
        r.tuple = (struct lks_rec_tuple){.node = node,
                                         .digest = lks_str_from(tuple),
                                         .report = lks_str_from(w->reports[i % TUPLES].digest),
                                         .boot = LKS_STR("0f3a7c52-5b1e-4d53-9a38-6c1d2e8f9b10"),
                                         .taken = w->to.time,
                                         .basis = lks_str_from(tuple),
                                         .whole = lks_str_from(tuple)};
    } else if (i % 4 == 1) {
        snprintf(text, sizeof(text), "%08" PRIx64 "-5b1e-4d53-9a38-6c1d2e8f9b10", i);
        r.kind = LKS_RECORD_BOOTED;
        r.booted = (struct lks_rec_booted){node, lks_str_from(text)};
    } else {
        r.liveness = (struct lks_rec_liveness){node, i % 4 == 2 ? LKS_LATE : LKS_LIVE};
    }
    bench_write(&w->to, &r);
}

static void write_journal(struct writing *w, const char *path)
{
    struct bench_writing *to = &w->to;
    struct lks_err err = {0};
    *to = (struct bench_writing){.key = lks_test_key(),
                                 .journal = LKS_STR(JOURNAL),
                                 .time = WALL,
                                 .step = STEP_MS,
                                 .head_every = LKS_SECOND,
                                 .head_at = WALL,
                                 .blobs = w->reports,
                                 .blob_count = TUPLES};
    if (lks_store_sqlite_open(path, LKS_STORE_CREATE, &to->store, &err) != LKS_OK)
        bench_die("journal", err.msg);
    make_reports(w);
    add_fleet(w);
    while (to->seq < RECORDS)
        add_life(w);
    bench_writing_end(to);
}

static void fold(struct lks_store *store, lks_ms until, struct lks_state *s,
                 struct lks_store_tail *tail)
{
    struct lks_err err = {0};
    if (lks_state_init(s, 1, &err) != LKS_OK ||
        lks_journal_fold(store, NULL, until, s, tail, &err) != LKS_OK)
        bench_die("fold", err.msg);
}

static void fold_all(const struct subject *s)
{
    LKS_CLEANUP(lks_state_fini) struct lks_state state = {0};
    struct lks_store_tail tail;
    fold(&s->w->to.store, 0, &state, &tail);
    if (tail.seq != RECORDS)
        bench_die("fold", "not all records are there");
}

static void verify_all(const struct subject *s)
{
    struct lks_public_key key = lks_key_public(&s->w->to.key);
    const struct lks_verify_options options = {.key = &key};
    struct lks_verify v;
    struct lks_err err = {0};
    if (lks_journal_verify(&s->w->to.store, &options, &v, &err) != LKS_OK)
        bench_die("verify", err.msg);
    if (v.fault != LKS_FAULT_NONE)
        bench_die("verify", v.text);
}

/* As the daemon would have left it when 100,000 records were still to come. */
static void put_snapshot(struct bench_writing *w)
{
    LKS_CLEANUP(lks_state_fini) struct lks_state s = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = {0};
    struct lks_store_tail tail;
    struct lks_err err = {0};
    fold(&w->store, w->time - (lks_ms)TAIL * STEP_MS, &s, &tail);
    lks_buf_init(&bytes, LKS_STORE_SNAPSHOT_MAX);
    if (lks_snapshot_pack_signed(&s, tail.hash, &w->key, &bytes, &err) != LKS_OK ||
        w->store.ops->snapshot_put(w->store.self, tail.seq, lks_buf_view(&bytes), &err) != LKS_OK)
        bench_die("snapshot", err.msg);
}

/* From the file to an engine that takes turns. */
static void open_engine(const struct subject *s)
{
    struct lks_store store = {0};
    struct lks_engine *engine = NULL;
    struct lks_err err = {0};
    const struct lks_engine_options o = {
        .facts = lks_test_facts(), .key = &s->w->to.key, .version = LKS_VERSION, .seed = 1};
    const struct lks_now now = {s->w->to.time + 1000, 1};
    if (lks_store_sqlite_open(s->path, LKS_STORE_OWN, &store, &err) != LKS_OK ||
        lks_engine_open(&store, &o, now, &engine, &err) != LKS_OK)
        bench_die("open", err.msg);
    if (lks_engine_state(engine)->placed_count != NODES)
        bench_die("open", "not all nodes are there");
    lks_engine_free(engine);
    lks_store_close(&store);
}

/* The rival: every column of the rows. */
static void select_rows(const struct subject *s)
{
    static const char text[] = "SELECT seq, time, kind, version, body, hash FROM journal "
                               "WHERE seq >= ? ORDER BY seq";
    sqlite3 *db = NULL;
    sqlite3_stmt *rows = NULL;
    uint64_t bytes = 0;
    int stepped = SQLITE_OK;
    if (sqlite3_open_v2(s->path, &db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(db, text, -1, &rows, NULL) != SQLITE_OK ||
        sqlite3_bind_int64(rows, 1, (sqlite3_int64)s->from) != SQLITE_OK)
        bench_die("SQLite", sqlite3_errmsg(db));
    while ((stepped = sqlite3_step(rows)) == SQLITE_ROW) {
        for (int i = 0; i < 4; i++)
            bytes += (uint64_t)sqlite3_column_int64(rows, i) & 1;
        for (int i = 4; i < 6; i++)
            bytes +=
                sqlite3_column_blob(rows, i) != NULL ? (uint64_t)sqlite3_column_bytes(rows, i) : 0;
    }
    if (stepped != SQLITE_DONE || bytes == 0)
        bench_die("SQLite", sqlite3_errmsg(db));
    sqlite3_finalize(rows);
    sqlite3_close(db);
}

/* Of a run, on the clock on the wall and of the processor; in seconds. */
struct took {
    double wall[RUNS_MAX], cpu[RUNS_MAX];
    size_t count;
};

static void clocked(struct took *took, void (*run)(const struct subject *), const struct subject *s)
{
    double cpu = bench_cpu_us(getpid()), wall = bench_now_ms();
    run(s);
    took->wall[took->count] = (bench_now_ms() - wall) / 1e3;
    took->cpu[took->count++] = (bench_cpu_us(getpid()) - cpu) / 1e6;
}

static void show(struct lks_table *t, const char *what, const char *bar, struct took *ours,
                 struct took *theirs)
{
    static const char rival[] = "SELECT of the same rows";
    bench_row(t,
              &(struct bench_figure){what, bar, rival, "s", bench_median(ours->wall, ours->count),
                                     bench_median(theirs->wall, theirs->count)});
    bench_row(t, &(struct bench_figure){"  of that, processor time", "-", rival, "s",
                                        bench_median(ours->cpu, ours->count),
                                        bench_median(theirs->cpu, theirs->count)});
}

void bench_restart(struct lks_table *t)
{
    static struct writing w;
    LKS_CLEANUP(lks_tree_free) struct lks_tree tree = lks_tree_new();
    struct took folds = {0}, reads = {0}, verifies = {0}, opens = {0}, tails = {0};
    char path[128];
    snprintf(path, sizeof(path), "%s/journal.db", tree.path);
    write_journal(&w, path);
    const struct subject all = {&w, path, 1}, tail = {&w, path, RECORDS - TAIL + 1};
    for (size_t i = 0; i < FOLDS; i++) {
        clocked(&reads, select_rows, &all);
        clocked(&folds, fold_all, &all);
    }
    put_snapshot(&w.to);
    clocked(&verifies, verify_all, &all);
    lks_store_close(&w.to.store);
    for (size_t i = 0; i < OPENS; i++) {
        clocked(&tails, select_rows, &tail);
        clocked(&opens, open_engine, &tail);
    }
    show(t, "open: snapshot and a tail of 100,000", "1 s", &opens, &tails);
    show(t, "fold all records, chain checked", "10 s", &folds, &reads);
    show(t, "verify all, signatures and snapshot too", "10 s", &verifies, &reads);
}
