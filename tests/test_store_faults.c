/*
 * SQLite's store on a disk that fails, at every write and every sync of an append. Whatever the
 * store says of the append must be true of the files as a crash right then would leave them:
 *
 *     OK           all of it is there
 *     UNAVAILABLE  none of it is, and the same append goes through as soon as the disk is well
 *     IO           all or none; and the store says nothing more
 */
#include "base/file.h"
#include "drivers/store/sqlite.h"
#include "tests/rows.h"
#include "tests/test.h"
#include "tests/tree.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

#define MIB   ((size_t)1 << 20)
#define LARGE (6 * MIB)
#define ROWS  UINT64_C(10)

enum { PATH_SIZE = 160 };

/* ---- the disk: SQLite's own, with a fault in it ---- */

/* SQLite has one table of methods for each way of locking: each gets one of ours. */
struct methods {
    sqlite3_io_methods ours; /* first: a file points to it */
    const sqlite3_io_methods *real;
};

static struct {
    sqlite3_vfs vfs;
    sqlite3_vfs *real;
    struct methods methods[8];
    bool on;
    bool sync;    /* syncs fail, and not writes */
    int left;     /* operations until it fails */
    int result;   /* with what */
    int number;   /* errno then */
    bool lasting; /* it goes on failing */
    bool happened;
} disk;

static bool falls(bool sync)
{
    if (!disk.on || disk.sync != sync || disk.left-- > 0)
        return false;
    disk.on = disk.lasting;
    disk.left = 0;
    disk.happened = true;
    return true;
}

static const sqlite3_io_methods *real_of(const sqlite3_file *file)
{
    return ((const struct methods *)(const void *)file->pMethods)->real;
}

/* A write that fails has got half way. */
static int disk_write(sqlite3_file *file, const void *bytes, int len, sqlite3_int64 at)
{
    if (!falls(false))
        return real_of(file)->xWrite(file, bytes, len, at);
    (void)real_of(file)->xWrite(file, bytes, len / 2, at);
    errno = disk.number;
    return disk.result;
}

static int disk_sync(sqlite3_file *file, int flags)
{
    if (!falls(true))
        return real_of(file)->xSync(file, flags);
    errno = disk.number;
    return disk.result;
}

static int disk_control(sqlite3_file *file, int what, void *out)
{
    if (what != SQLITE_FCNTL_LAST_ERRNO || !disk.happened)
        return real_of(file)->xFileControl(file, what, out);
    *(int *)out = disk.number;
    return SQLITE_OK;
}

static int disk_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *out)
{
    int rc = disk.real->xOpen(vfs, path, file, flags, out);
    if (rc != SQLITE_OK)
        return rc;
    size_t at = 0;
    while (disk.methods[at].real != NULL && disk.methods[at].real != file->pMethods)
        at++;
    LKS_ASSERT(at + 1 < LKS_COUNT(disk.methods));
    struct methods *methods = &disk.methods[at];
    methods->real = file->pMethods;
    methods->ours = *methods->real;
    methods->ours.xWrite = disk_write;
    methods->ours.xSync = disk_sync;
    methods->ours.xFileControl = disk_control;
    file->pMethods = &methods->ours;
    return rc;
}

static void disk_install(void)
{
    disk.real = sqlite3_vfs_find(NULL);
    disk.vfs = *disk.real;
    disk.vfs.zName = "faulty";
    disk.vfs.xOpen = disk_open;
    CHECK_INT(sqlite3_vfs_register(&disk.vfs, 1), SQLITE_OK);
}

/* ---- the property ---- */

static const struct fault {
    const char *name;
    bool sync;
    int result;
    int number;
    enum lks_code late; /* what the store says of it in a commit; before, it is UNAVAILABLE */
} faults[] = {
    {"no space", false, SQLITE_FULL, ENOSPC, LKS_E_UNAVAILABLE},
    {"over the quota", false, SQLITE_IOERR_WRITE, EDQUOT, LKS_E_UNAVAILABLE},
    {"a write error", false, SQLITE_IOERR_WRITE, EIO, LKS_E_IO},
    {"a sync error", true, SQLITE_IOERR_FSYNC, EIO, LKS_E_IO},
};

struct tally {
    int fell, unavailable, unknown, unknown_there;
};

/* The files as they are now, opened elsewhere: what a crash would leave. */
static uint64_t rows_after_crash(const struct lks_tree *from)
{
    static const char *const names[] = {"journal.db", "journal.db-wal"};
    struct lks_tree to = lks_tree_new();
    struct lks_err err = {0};
    char path[PATH_SIZE];
    for (size_t i = 0; i < LKS_COUNT(names); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = LKS_BUF(64 * MIB);
        snprintf(path, sizeof(path), "%s/%s", from->path, names[i]);
        CHECK_CODE(lks_file_read(path, &bytes, &err), LKS_OK);
        snprintf(path, sizeof(path), "/%s", names[i]);
        lks_tree_bytes(&to, path, lks_buf_view(&bytes));
    }
    struct lks_store store = {0};
    struct lks_store_tail tail = {0};
    snprintf(path, sizeof(path), "%s/journal.db", to.path);
    if (CHECK_CODE(lks_store_sqlite_open(path, LKS_STORE_OWN, &store, &err), LKS_OK)) {
        CHECK_CODE(store.ops->tail(store.self, &tail, &err), LKS_OK);
        lks_test_tail_check(&store, 1, tail.seq);
        lks_test_rows_check(&store, 1, tail.seq);
        lks_store_close(&store);
    }
    lks_tree_free(&to);
    return tail.seq;
}

static void judge(const struct lks_tree *tree, const struct lks_store *store,
                  const struct lks_store_batch *batch, enum lks_code code, struct tally *tally)
{
    struct lks_err err = {0};
    struct lks_store_tail tail = {0};
    uint64_t rows = rows_after_crash(tree);
    if (code == LKS_OK) {
        CHECK_INT(rows, 2 * ROWS);
    } else if (code == LKS_E_UNAVAILABLE) {
        tally->unavailable++;
        CHECK_INT(rows, ROWS);
        lks_test_rows_check(store, 1, ROWS);
        CHECK_CODE(store->ops->append(store->self, batch, &err), LKS_OK);
        CHECK_INT(rows_after_crash(tree), 2 * ROWS);
    } else if (CHECK_CODE(code, LKS_E_IO)) {
        tally->unknown++;
        tally->unknown_there += rows == 2 * ROWS ? 1 : 0;
        CHECK(rows == ROWS || rows == 2 * ROWS);
        CHECK_CODE(store->ops->append(store->self, batch, &err), LKS_E_IO);
        CHECK_CODE(store->ops->tail(store->self, &tail, &err), LKS_E_IO);
    }
}

/* Append ROWS rows to as many, with the fault after `left` operations; false once there are not
 * that many. A large blob makes SQLite write before the commit. */
static bool fail_at(const struct fault *fault, int left, bool lasting, struct lks_str large,
                    struct tally *tally)
{
    struct lks_tree tree = lks_tree_new();
    struct lks_store store = {0};
    struct lks_err err = {0};
    char path[PATH_SIZE];
    struct lks_test_rows rows;
    struct lks_store_blob blob = {.bytes = large};
    snprintf(path, sizeof(path), "%s/journal.db", tree.path);
    CHECK_CODE(lks_digest_text(large, blob.digest, &err), LKS_OK);
    CHECK_CODE(lks_store_sqlite_open(path, LKS_STORE_CREATE, &store, &err), LKS_OK);
    struct lks_store_batch batch = lks_test_rows_batch(&rows, 1, ROWS);
    CHECK_CODE(store.ops->append(store.self, &batch, &err), LKS_OK);
    batch = lks_test_rows_batch(&rows, ROWS + 1, ROWS);
    batch.blobs = &blob;
    batch.blob_count = 1;

    disk.sync = fault->sync;
    disk.left = left;
    disk.result = fault->result;
    disk.number = fault->number;
    disk.lasting = lasting;
    disk.happened = false;
    disk.on = true;
    enum lks_code code = store.ops->append(store.self, &batch, &err);
    disk.on = false;
    bool happened = disk.happened;
    tally->fell += happened ? 1 : 0;
    judge(&tree, &store, &batch, code, tally);
    lks_store_close(&store);
    lks_tree_free(&tree);
    return happened;
}

static void test_faults(void)
{
    for (size_t i = 0; i < LKS_COUNT(faults); i++) {
        for (int lasting = 0; lasting < 2; lasting++) {
            struct tally tally = {0};
            bool more = true;
            for (int left = 0; more && left < 1000; left++) {
                lks_test_case("%s, %s, after %d", faults[i].name, lasting ? "lasting" : "once",
                              left);
                more = fail_at(&faults[i], left, lasting != 0, LKS_STR("report"), &tally);
            }
            CHECK(!more && tally.fell > 0);
            bool unknown = faults[i].late == LKS_E_IO;
            CHECK_INT(unknown ? tally.unknown : tally.unavailable, tally.fell);
            /* If none were there, IO would be too careful. */
            if (faults[i].sync)
                CHECK(tally.unknown_there > 0);
        }
    }
}

/* More than SQLite keeps in memory: it writes long before the commit. */
static void test_faults_before_commit(void)
{
    char *bytes = calloc(1, LARGE);
    LKS_ASSERT(bytes != NULL);
    memset(bytes, 'x', LARGE);
    for (size_t i = 0; i < LKS_COUNT(faults); i++) {
        struct tally tally = {0};
        for (int left = 0; left < 3600; left += faults[i].sync ? 600 : 397) {
            lks_test_case("large, %s, after %d", faults[i].name, left);
            (void)fail_at(&faults[i], left, false, (struct lks_str){bytes, LARGE}, &tally);
        }
        CHECK(tally.fell > 0);
        if (!faults[i].sync)
            CHECK(tally.unavailable > 0);
    }
    free(bytes);
}

static const struct lks_test tests[] = {
    {"faults", test_faults},
    {"faults before the commit", test_faults_before_commit},
    {0},
};

int main(void)
{
    disk_install();
    return lks_test_main(tests);
}
