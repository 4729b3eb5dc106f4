/* The contract of stores, for those that need no server; and what the disk in memory does alone. */
#include "drivers/store/memory.h"
#include "drivers/store/sqlite.h"
#include "tests/rows.h"
#include "tests/stores.h"
#include "tests/test.h"
#include "tests/tree.h"

#include <stdio.h>
#include <stdlib.h>

/* What outlives a store: a folder, a disk. */
struct place {
    struct lks_tree tree;
    struct lks_memory_disk *disk;
    lks_ms now;
    char path[128], copy[128];
    bool made;
};

static void *place_new(void)
{
    struct place *p = calloc(1, sizeof(*p));
    LKS_ASSERT(p != NULL);
    *p = (struct place){.tree = lks_tree_new(), .disk = lks_memory_disk_new()};
    LKS_ASSERT(p->disk != NULL);
    snprintf(p->path, sizeof(p->path), "%s/journal.db", p->tree.path);
    snprintf(p->copy, sizeof(p->copy), "%s/copy.db", p->tree.path);
    return p;
}

static void place_free(void *at)
{
    struct place *p = at;
    lks_memory_disk_free(p->disk);
    lks_tree_free(&p->tree);
    free(p);
}

static const char *copy_path(void *at)
{
    const struct place *p = at;
    return p->copy;
}

static void pass(void *at, lks_ms time)
{
    struct place *p = at;
    p->now += time;
    lks_memory_disk_clock(p->disk, p->now);
}

static struct lks_memory_disk *disk_of(const struct lks_test_bed *w)
{
    const struct place *p = w->at;
    return p->disk;
}

static enum lks_code open_sqlite(void *at, struct lks_store *out, struct lks_err *err)
{
    struct place *p = at;
    enum lks_store_mode mode = p->made ? LKS_STORE_OWN : LKS_STORE_CREATE;
    p->made = true;
    return lks_store_sqlite_open(p->path, mode, out, err);
}

static enum lks_code open_sqlite_copy(void *at, struct lks_store *out, struct lks_err *err)
{
    struct place *p = at;
    return lks_store_sqlite_open(p->copy, LKS_STORE_OWN, out, err);
}

static enum lks_code open_memory(void *at, struct lks_store *out, struct lks_err *err)
{
    struct place *p = at;
    return lks_store_memory_open(p->disk, out, err);
}

static enum lks_code open_shared(void *at, struct lks_store *out, struct lks_err *err)
{
    struct place *p = at;
    return lks_store_memory_share(p->disk, out, err);
}

static enum lks_code open_memory_copy(void *at, struct lks_store *out, struct lks_err *err)
{
    struct place *p = at;
    return lks_store_memory_open(lks_memory_disk_file(p->disk, p->copy), out, err);
}

static const struct lks_test_store drivers[] = {
    {"memory", "memory", place_new, place_free, open_memory, copy_path, open_memory_copy, NULL},
    {"memory, shared", "memory", place_new, place_free, open_shared, copy_path, open_memory_copy,
     pass},
    {"sqlite", "sqlite", place_new, place_free, open_sqlite, copy_path, open_sqlite_copy, NULL},
};

static void test_contract(void)
{
    for (size_t k = 0; k < LKS_COUNT(drivers); k++)
        lks_test_store_contract(&drivers[k]);
}

/* Three rows, two blobs, a commit: six statements. */
static enum lks_code put_six(const struct lks_store *store)
{
    struct lks_test_rows rows;
    struct lks_store_batch batch = lks_test_rows_batch(&rows, 3, 3);
    struct lks_store_blob blobs[] = {lks_test_blob(LKS_STR("a")), lks_test_blob(LKS_STR("b"))};
    struct lks_head head = lks_test_rows_head(5);
    batch.blobs = blobs;
    batch.blob_count = LKS_COUNT(blobs);
    batch.head = &head;
    return lks_test_put(store, &batch);
}

static const struct {
    const char *name;
    enum lks_memory_crash how;
    enum lks_code code;
    bool stays; /* the batch is there afterwards */
    bool lives; /* the store goes on */
} crashes[] = {
    {"no crash", LKS_MEMORY_NO_CRASH, LKS_OK, true, true},
    {"before", LKS_MEMORY_CRASH_BEFORE, LKS_E_IO, false, false},
    {"after", LKS_MEMORY_CRASH_AFTER, LKS_E_IO, true, false},
    {"full", LKS_MEMORY_FULL, LKS_E_UNAVAILABLE, false, true},
};

static void check_six(const struct lks_store *store, bool there)
{
    lks_test_tail_check(store, 1, there ? 5 : 2);
    lks_test_rows_check(store, 1, there ? 5 : 2);
    lks_test_heads_check(store, there ? "5" : "");
    lks_test_blobs_check(store, there ? 2 : 0);
}

static void crash_at(size_t i, uint64_t statements)
{
    lks_test_case("%s, after %d statements", crashes[i].name, (int)statements);
    const struct lks_test_store *d = &drivers[0];
    LKS_CLEANUP(lks_test_bed_free) struct lks_test_bed w = {0};
    LKS_CLEANUP(lks_store_close) struct lks_store store = lks_test_bed_open(d, &w);
    LKS_CLEANUP(lks_store_close) struct lks_store second = {0};
    struct lks_store_tail tail = {0};
    struct lks_err err = {0};
    lks_test_put_rows(&store, 1, 2);
    lks_memory_disk_fail(disk_of(&w), crashes[i].how, statements);
    bool falls = statements < 6;
    CHECK_CODE(put_six(&store), falls ? crashes[i].code : LKS_OK);
    if (crashes[i].how == LKS_MEMORY_FULL && falls) {
        CHECK_CODE(put_six(&store), LKS_E_UNAVAILABLE);
        check_six(&store, false);
        lks_memory_disk_fail(disk_of(&w), LKS_MEMORY_NO_CRASH, 0);
        CHECK_CODE(put_six(&store), LKS_OK);
        check_six(&store, true);
        return;
    }
    if (crashes[i].lives || !falls) {
        check_six(&store, true);
        return;
    }
    CHECK_CODE(store.ops->tail(store.self, &tail, &err), LKS_E_IO);
    CHECK_CODE(put_six(&store), LKS_E_IO);
    if (CHECK_CODE(d->open(w.at, &second, &err), LKS_OK))
        check_six(&second, crashes[i].stays);
}

static void test_crash_at_every_statement(void)
{
    for (size_t i = 0; i < LKS_COUNT(crashes); i++) {
        for (uint64_t statements = 0; statements <= 6; statements++)
            crash_at(i, statements);
    }
}

/* A crash may be some batches away, and falls in whatever is written then. */
static void test_crash_later(void)
{
    const struct lks_test_store *d = &drivers[0];
    LKS_CLEANUP(lks_test_bed_free) struct lks_test_bed w = {0};
    LKS_CLEANUP(lks_store_close) struct lks_store store = lks_test_bed_open(d, &w);
    struct lks_err err = {0};
    lks_memory_disk_fail(disk_of(&w), LKS_MEMORY_CRASH_BEFORE, 6);
    lks_test_put_rows(&store, 1, 2);
    CHECK_CODE(store.ops->snapshot_put(store.self, 2, LKS_STR("state"), &err), LKS_OK);
    CHECK_CODE(store.ops->trim(store.self, 1, NULL, NULL, &err), LKS_E_IO);
    lks_test_bed_reopen(d, &w, &store);
    lks_test_rows_check(&store, 1, 2);
    lks_test_snapshot_check(&store, 2, LKS_STR("state"));
    lks_memory_disk_fail(disk_of(&w), LKS_MEMORY_CRASH_AFTER, 0);
    CHECK_CODE(lks_test_cut(&store, 2, 1, 1), LKS_E_IO);
    lks_test_bed_reopen(d, &w, &store);
    lks_test_rows_check(&store, 1, 1);
    CHECK_INT(lks_memory_disk_aside(disk_of(&w)), 1);
    lks_memory_disk_fail(disk_of(&w), LKS_MEMORY_FULL, 1);
    CHECK_CODE(store.ops->snapshot_put(store.self, 1, LKS_STR("s"), &err), LKS_E_UNAVAILABLE);
}

static void count_task(void *ctx, const struct lks_store_task *task)
{
    size_t *count = ctx;
    (void)task;
    (*count)++;
}

/* A lead whose taker never heard of it runs out like any other, and a claim that was not committed
 * hands nothing out. */
static void test_crash_while_sharing(void)
{
    static const struct lks_store_task one = {LKS_STR_C("bmc"), LKS_STR_C(""), 100, 1000, 0};
    const struct lks_test_store *d = &drivers[1];
    LKS_CLEANUP(lks_test_bed_free) struct lks_test_bed w = {0};
    LKS_CLEANUP(lks_store_close) struct lks_store a = lks_test_bed_open(d, &w);
    LKS_CLEANUP(lks_store_close) struct lks_store b = {0};
    struct lks_store_claim claim = {LKS_STR("h"), 1000, 2000, 10, 10, 10};
    struct lks_store_lease lease = {.epoch = 99};
    struct lks_err err = {0};
    size_t count = 0;
    CHECK_CODE(d->open(w.at, &b, &err), LKS_OK);
    CHECK_CODE(b.ops->tasks_sync(b.self, &one, 1, 0, &err), LKS_OK);
    lks_memory_disk_fail(disk_of(&w), LKS_MEMORY_FULL, 0);
    CHECK_CODE(b.ops->tasks_take(b.self, &claim, count_task, &count, &err), LKS_E_UNAVAILABLE);
    CHECK_CODE(b.ops->lead(b.self, "b", "", 100, &lease, &err), LKS_E_UNAVAILABLE);
    CHECK_INT(count, 0);
    CHECK_INT(lease.epoch, 99);

    lks_memory_disk_fail(disk_of(&w), LKS_MEMORY_CRASH_AFTER, 0);
    CHECK_CODE(a.ops->lead(a.self, "a", "", 100, &lease, &err), LKS_E_IO);
    CHECK_INT(lease.epoch, 99);
    CHECK_CODE(b.ops->lead(b.self, "b", "", 100, &lease, &err), LKS_OK);
    CHECK_INT(lease.epoch, 1);
    CHECK_STR(lks_str_from(lease.name), "a");
    CHECK_INT(lease.left, 100);
    d->pass(w.at, 100);
    CHECK_CODE(b.ops->lead(b.self, "b", "", 100, &lease, &err), LKS_OK);
    CHECK_INT(lease.epoch, 2);
    CHECK_CODE(b.ops->tasks_take(b.self, &claim, count_task, &count, &err), LKS_OK);
    CHECK_INT(count, 1);
}

struct seen {
    uint64_t seqs[8];
    size_t count;
    char first;
};

static bool see(void *ctx, const struct lks_row *row)
{
    struct seen *seen = ctx;
    if (seen->count == 0)
        seen->first = row->body.ptr[0];
    if (seen->count < LKS_COUNT(seen->seqs))
        seen->seqs[seen->count++] = row->seq;
    return true;
}

/* What tests do to a disk shows: an edited row, a dropped one, two that changed places. */
static void test_tampering(void)
{
    LKS_CLEANUP(lks_test_bed_free) struct lks_test_bed w = {0};
    LKS_CLEANUP(lks_store_close) struct lks_store store = lks_test_bed_open(&drivers[0], &w);
    struct lks_err err = {0};
    struct seen seen = {0};
    lks_test_put_rows(&store, 1, 5);
    CHECK(lks_memory_disk_row(disk_of(&w), 6) == NULL);
    lks_memory_disk_row(disk_of(&w), 1)->body = LKS_STR("edited");
    lks_memory_disk_drop(disk_of(&w), 3);
    lks_memory_disk_drop(disk_of(&w), 6);
    struct lks_row *four = lks_memory_disk_row(disk_of(&w), 4),
                   *five = lks_memory_disk_row(disk_of(&w), 5);
    four->seq = 5;
    five->seq = 4;
    CHECK_CODE(store.ops->rows(store.self, 1, see, &seen, &err), LKS_OK);
    CHECK_INT(seen.count, 4);
    CHECK_INT(seen.first, 'e');
    CHECK_INT(seen.seqs[1], 2);
    CHECK_INT(seen.seqs[2], 4);
    CHECK_INT(seen.seqs[3], 5);
    CHECK_INT(lks_memory_disk_row(disk_of(&w), 4)->body.len, 0); /* that of row 5 */
    lks_test_tail_check(&store, 1, 5);
}

static const struct lks_test tests[] = {
    {"contract", test_contract},       {"crash at every statement", test_crash_at_every_statement},
    {"crash later", test_crash_later}, {"crash while sharing", test_crash_while_sharing},
    {"tampering", test_tampering},     {0},
};

int main(void)
{
    return lks_test_main(tests);
}
