/* What SQLite's store does beyond the contract: one owner among processes, schemas, files that are
 * damaged, full or in others' hands, and writes that fail at every place they can. */
#include "drivers/store/sqlite.h"

#include "base/embedded.h"
#include "base/file.h"
#include "drivers/store/claim.h"
#include "tests/rows.h"
#include "tests/test.h"
#include "tests/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)

enum { NOBODY = 65534, PATH_SIZE = 160 };

/* A journal of its own for each test, with rows 1 to 5. */
struct place {
    struct lks_tree tree;
    char path[PATH_SIZE];
};

static const char *beside(const struct place *p, const char *name, char out[PATH_SIZE])
{
    snprintf(out, PATH_SIZE, "%s/%s", p->tree.path, name);
    return out;
}

static enum lks_code put(const struct lks_store *store, uint64_t first, size_t count)
{
    struct lks_err err = {0};
    struct lks_test_rows rows;
    struct lks_store_batch batch = lks_test_rows_batch(&rows, first, count);
    return store->ops->append(store->self, &batch, &err);
}

static struct lks_store open_ok(const char *path, enum lks_store_mode mode)
{
    struct lks_store store = {0};
    struct lks_err err = {0};
    if (!CHECK_CODE(lks_store_sqlite_open(path, mode, &store, &err), LKS_OK))
        fprintf(stderr, "%s\n", err.msg);
    LKS_ASSERT(store.ops != NULL);
    return store;
}

static void check_refused(const char *path, enum lks_store_mode mode, enum lks_code code,
                          const char *message)
{
    struct lks_store store = {0};
    struct lks_err err = {0};
    CHECK_CODE(lks_store_sqlite_open(path, mode, &store, &err), code);
    CHECK(store.ops == NULL);
    CHECK_HAS(lks_str_from(err.msg), message);
}

static struct place place_new(void)
{
    struct place p = {.tree = lks_tree_new()};
    (void)beside(&p, "journal.db", p.path);
    LKS_CLEANUP(lks_store_close) struct lks_store store = open_ok(p.path, LKS_STORE_CREATE);
    CHECK_CODE(put(&store, 1, 5), LKS_OK);
    return p;
}

static void place_free(struct place *p)
{
    lks_tree_free(&p->tree);
}

/* Somebody else's hands in the file. */
static void close_raw(sqlite3 **db)
{
    (void)sqlite3_close(*db);
}

static sqlite3 *open_raw(const char *path)
{
    sqlite3 *db = NULL;
    LKS_ASSERT(sqlite3_open(path, &db) == SQLITE_OK);
    return db;
}

static void raw(const char *path, const char *text)
{
    LKS_CLEANUP(close_raw) sqlite3 *db = open_raw(path);
    CHECK_INT(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
}

static int64_t raw_number(const char *path, const char *text)
{
    LKS_CLEANUP(close_raw) sqlite3 *db = open_raw(path);
    sqlite3_stmt *stmt = NULL;
    CHECK_INT(sqlite3_prepare_v2(db, text, -1, &stmt, NULL), SQLITE_OK);
    int64_t number = sqlite3_step(stmt) == SQLITE_ROW ? sqlite3_column_int64(stmt, 0) : -1;
    (void)sqlite3_finalize(stmt);
    return number;
}

/* Run `fn` in a process of its own, which ends well if nothing in it failed. */
static void in_child(void (*fn)(const struct place *p), const struct place *p)
{
    fflush(NULL);
    pid_t pid = fork();
    LKS_ASSERT(pid >= 0);
    if (pid == 0) {
        fn(p);
        _exit(0);
    }
    int status = 0;
    CHECK_INT(waitpid(pid, &status, 0), pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* In a child: a failed check ends it, since nobody counts them there. */
static void must(bool ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "in a child: %s\n", what);
    _exit(1);
}
#define MUST(cond) must((cond), #cond)

/* ---- opening ---- */

static void test_paths(void)
{
    LKS_CLEANUP(place_free) struct place p = place_new();
    char other[PATH_SIZE], longer[LKS_CLAIM_PATH_MAX + 1];
    check_refused(p.path, LKS_STORE_CREATE, LKS_E_REFUSED, "journal.db: File exists");
    (void)snprintf(longer, sizeof(longer), "%0*d", LKS_CLAIM_PATH_MAX, 0);
    check_refused(longer, LKS_STORE_CREATE, LKS_E_INVALID, "the path is too long");
    check_refused(beside(&p, "none.db", other), LKS_STORE_OWN, LKS_E_NOT_FOUND, "none.db: No such");
    check_refused(other, LKS_STORE_READ, LKS_E_NOT_FOUND, "none.db: No such");
    check_refused(beside(&p, "no/folder", other), LKS_STORE_CREATE, LKS_E_NOT_FOUND, "No such");
    check_refused(p.tree.path, LKS_STORE_OWN, LKS_E_INVALID, "is not a plain file");
    check_refused("", LKS_STORE_OWN, LKS_E_NOT_FOUND, "No such");
    check_refused(":memory:", LKS_STORE_OWN, LKS_E_NOT_FOUND, "No such");
    LKS_CLEANUP(lks_store_close) struct lks_store store = open_ok(p.path, LKS_STORE_OWN);
    lks_test_rows_check(&store, 1, 5);
}

/* Whatever name it goes by, it is one file with one owner. */
static void test_names(void)
{
    LKS_CLEANUP(place_free) struct place p = place_new();
    char other[PATH_SIZE];
    lks_tree_link(&p.tree, "/link.db", "journal.db");
    LKS_CLEANUP(lks_store_close) struct lks_store store = open_ok(p.path, LKS_STORE_OWN);
    check_refused(beside(&p, "link.db", other), LKS_STORE_OWN, LKS_E_REFUSED, "has it open");
    lks_store_close(&store);
    CHECK_INT(link(p.path, beside(&p, "second.db", other)), 0);
    check_refused(other, LKS_STORE_OWN, LKS_E_REFUSED, "the file has 2 names");
    check_refused(p.path, LKS_STORE_OWN, LKS_E_REFUSED, "the file has 2 names");
}

/* A store that a second open left alone is still protected: another program cannot have its log. */
static void take_log(const struct place *p)
{
    LKS_CLEANUP(close_raw) sqlite3 *db = open_raw(p->path);
    MUST(sqlite3_exec(db, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL) == SQLITE_BUSY);
}

static void test_same_process(void)
{
    LKS_CLEANUP(place_free) struct place p = place_new();
    LKS_CLEANUP(lks_store_close) struct lks_store store = open_ok(p.path, LKS_STORE_OWN);
    char pid[64];
    snprintf(pid, sizeof(pid), "process %jd has it open", (intmax_t)getpid());
    check_refused(p.path, LKS_STORE_OWN, LKS_E_REFUSED, pid);
    check_refused(p.path, LKS_STORE_CREATE, LKS_E_REFUSED, "File exists");
    CHECK_CODE(put(&store, 6, 1), LKS_OK);
    in_child(take_log, &p);
    CHECK_CODE(put(&store, 7, 1), LKS_OK);
    lks_test_rows_check(&store, 1, 7);
}

/* Appends one row after another and tells each once it is acknowledged, until it is killed. */
static void append_until_killed(const struct place *p, int out)
{
    struct lks_store store = {0};
    struct lks_store_tail tail = {0};
    struct lks_err err = {0};
    MUST(lks_store_sqlite_open(p->path, LKS_STORE_OWN, &store, &err) == LKS_OK);
    MUST(store.ops->tail(store.self, &tail, &err) == LKS_OK);
    for (uint64_t seq = tail.seq + 1; seq < tail.seq + 100000; seq += 3) {
        MUST(put(&store, seq, 3) == LKS_OK);
        uint64_t last = seq + 2;
        MUST(write(out, &last, sizeof(last)) == sizeof(last));
    }
    _exit(1);
}

static pid_t start_appending(const struct place *p, int *in)
{
    int pipes[2];
    LKS_ASSERT(pipe(pipes) == 0);
    fflush(NULL);
    pid_t pid = fork();
    LKS_ASSERT(pid >= 0);
    if (pid == 0) {
        close(pipes[0]);
        append_until_killed(p, pipes[1]);
    }
    close(pipes[1]);
    *in = pipes[0];
    return pid;
}

/* The last row the child told of, once it was killed after telling of `count` batches or more. */
static uint64_t kill_after(pid_t pid, int in, int count)
{
    uint64_t acknowledged = 0, last = 0;
    for (int i = 0; read(in, &last, sizeof(last)) == sizeof(last); i++) {
        acknowledged = last;
        if (i == count)
            CHECK_INT(kill(pid, SIGKILL), 0);
    }
    close(in);
    CHECK_INT(waitpid(pid, NULL, 0), pid);
    return acknowledged;
}

static void test_two_processes(void)
{
    LKS_CLEANUP(place_free) struct place p = place_new();
    uint64_t first = 0;
    int in = -1;
    pid_t pid = start_appending(&p, &in);
    CHECK_INT(read(in, &first, sizeof(first)), sizeof(first));
    char message[64];
    snprintf(message, sizeof(message), "process %jd has it open", (intmax_t)pid);
    check_refused(p.path, LKS_STORE_OWN, LKS_E_REFUSED, message);
    (void)kill_after(pid, in, 0);
    struct lks_store store = open_ok(p.path, LKS_STORE_OWN);
    lks_store_close(&store);
}

/* Nothing that was acknowledged is lost, batches are whole, and the next one owns the file. */
static void test_kill(void)
{
    LKS_CLEANUP(place_free) struct place p = place_new();
    for (int round = 0; round < 20; round++) {
        lks_test_case("round %d", round);
        int in = -1;
        pid_t pid = start_appending(&p, &in);
        uint64_t acknowledged = kill_after(pid, in, round * 7);
        enum lks_store_mode mode = round % 2 == 0 ? LKS_STORE_OWN : LKS_STORE_READ;
        LKS_CLEANUP(lks_store_close) struct lks_store store = open_ok(p.path, mode);
        struct lks_store_tail tail = {0};
        struct lks_err err = {0};
        CHECK_CODE(store.ops->tail(store.self, &tail, &err), LKS_OK);
        CHECK(acknowledged > 5 && tail.seq >= acknowledged);
        CHECK_INT(tail.seq % 3, 2);
        lks_test_rows_check(&store, 1, tail.seq);
        lks_test_tail_check(&store, 1, tail.seq);
    }
}

/* ---- schemas ---- */

static void test_newer_schema(void)
{
    LKS_CLEANUP(place_free) struct place p = place_new();
    raw(p.path, "PRAGMA user_version = 99");
    const char *message = "its schema is 99, and this program knows them up to 3";
    check_refused(p.path, LKS_STORE_OWN, LKS_E_INVALID, message);
    check_refused(p.path, LKS_STORE_READ, LKS_E_INVALID, message);
    CHECK_INT(raw_number(p.path, "PRAGMA user_version"), 99);
}

/* A file as the first schema left it, with rows 1 to 3. */
static void make_old(const char *path)
{
    struct lks_test_rows rows;
    lks_test_rows_make(&rows, 1, 3);
    LKS_CLEANUP(close_raw) sqlite3 *db = open_raw(path);
    CHECK_INT(sqlite3_exec(db, lks_embedded_schema[0].bytes.ptr, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_stmt *stmt = NULL, *tail = NULL;
    (void)sqlite3_prepare_v2(db, "INSERT INTO journal VALUES (?,?,?,?,?,?)", -1, &stmt, NULL);
    (void)sqlite3_prepare_v2(db, "UPDATE tail SET seq = 3, time = ?, hash = ?", -1, &tail, NULL);
    for (int i = 0; i < 3; i++) {
        const struct lks_row *row = &rows.rows[i];
        sqlite3_bind_int64(stmt, 1, (sqlite3_int64)row->seq);
        sqlite3_bind_int64(stmt, 2, (sqlite3_int64)row->time);
        sqlite3_bind_int(stmt, 3, row->kind);
        sqlite3_bind_int(stmt, 4, row->version);
        sqlite3_bind_blob(stmt, 5, row->body.ptr, (int)row->body.len, SQLITE_STATIC);
        sqlite3_bind_blob(stmt, 6, row->hash, sizeof(row->hash), SQLITE_STATIC);
        CHECK_INT(sqlite3_step(stmt), SQLITE_DONE);
        sqlite3_reset(stmt);
    }
    sqlite3_bind_int64(tail, 1, (sqlite3_int64)rows.rows[2].time);
    sqlite3_bind_blob(tail, 2, rows.rows[2].hash, LKS_HASH_BYTES, SQLITE_STATIC);
    CHECK_INT(sqlite3_step(tail), SQLITE_DONE);
    sqlite3_finalize(stmt);
    sqlite3_finalize(tail);
    CHECK_INT(sqlite3_exec(db, "PRAGMA application_id = 0x6c6b7374; PRAGMA user_version = 1", NULL,
                           NULL, NULL),
              SQLITE_OK);
}

static void test_older_schema(void)
{
    LKS_CLEANUP(place_free) struct place p = place_new();
    char old[PATH_SIZE];
    make_old(beside(&p, "old.db", old));
    check_refused(old, LKS_STORE_READ, LKS_E_INVALID,
                  "its schema is 1, and this program reads 3: start lockstepd");
    LKS_CLEANUP(lks_store_close) struct lks_store store = open_ok(old, LKS_STORE_OWN);
    struct lks_err err = {0};
    lks_test_rows_check(&store, 1, 3);
    lks_test_tail_check(&store, 1, 3);
    CHECK_CODE(put(&store, 4, 3), LKS_OK);
    CHECK_CODE(store.ops->snapshot_put(store.self, 4, LKS_STR("state"), &err), LKS_OK);
    lks_store_close(&store);
    CHECK_INT(raw_number(old, "PRAGMA user_version"), 3);
}

/* A step that fails leaves the schema it began from. */
static void test_migration_fails(void)
{
    LKS_CLEANUP(place_free) struct place p = place_new();
    char old[PATH_SIZE];
    make_old(beside(&p, "old.db", old));
    raw(old, "CREATE TABLE aside (x)");
    check_refused(old, LKS_STORE_OWN, LKS_E_INVALID, "bringing the schema from 1 to 2");
    CHECK_INT(raw_number(old, "PRAGMA user_version"), 1);
    CHECK_INT(raw_number(old, "SELECT count(*) FROM sqlite_schema WHERE name = 'snapshot'"), 0);
    raw(old, "DROP TABLE aside");
    struct lks_store store = open_ok(old, LKS_STORE_OWN);
    lks_test_rows_check(&store, 1, 3);
    lks_store_close(&store);
}

/* ---- reading beside an owner ---- */

static void test_moment(void)
{
    LKS_CLEANUP(place_free) struct place p = place_new();
    LKS_CLEANUP(lks_store_close) struct lks_store owner = open_ok(p.path, LKS_STORE_OWN);
    LKS_CLEANUP(lks_store_close) struct lks_store reader = open_ok(p.path, LKS_STORE_READ);
    LKS_CLEANUP(lks_store_close) struct lks_store copy = {0};
    struct lks_err err = {0};
    char path[PATH_SIZE];
    CHECK_CODE(put(&owner, 6, 5), LKS_OK);
    lks_test_rows_check(&reader, 1, 5);
    lks_test_tail_check(&reader, 1, 5);
    CHECK_CODE(owner.ops->trim(owner.self, 3, NULL, NULL, &err), LKS_OK);
    lks_test_rows_check(&reader, 1, 5);
    CHECK_CODE(reader.ops->copy(reader.self, beside(&p, "copy.db", path), &err), LKS_OK);
    CHECK_CODE(put(&owner, 11, 1), LKS_OK);
    lks_test_rows_check(&owner, 4, 11);
    copy = open_ok(path, LKS_STORE_READ);
    lks_test_rows_check(&copy, 1, 5);
    lks_store_close(&reader);
    reader = open_ok(p.path, LKS_STORE_READ);
    lks_test_rows_check(&reader, 4, 11);
}

static void test_reader_writes_nothing(void)
{
    LKS_CLEANUP(place_free) struct place p = place_new();
    LKS_CLEANUP(lks_buf_fini) struct lks_buf before = LKS_BUF(MIB);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf after = LKS_BUF(MIB);
    struct lks_err err = {0};
    CHECK_CODE(lks_file_read(p.path, &before, &err), LKS_OK);
    struct lks_store reader = open_ok(p.path, LKS_STORE_READ);
    struct lks_store_tail tail = {.first = 1};
    CHECK_CODE(put(&reader, 6, 1), LKS_E_REFUSED);
    CHECK_CODE(reader.ops->trim(reader.self, 1, NULL, NULL, &err), LKS_E_REFUSED);
    CHECK_CODE(reader.ops->cut(reader.self, 1, &tail, NULL, &err), LKS_E_REFUSED);
    CHECK_CODE(reader.ops->snapshot_put(reader.self, 1, LKS_STR("x"), &err), LKS_E_REFUSED);
    CHECK_HAS(lks_str_from(err.msg), "is open for reading alone");
    lks_test_rows_check(&reader, 1, 5);
    lks_store_close(&reader);
    CHECK_CODE(lks_file_read(p.path, &after, &err), LKS_OK);
    CHECK(lks_str_eq(lks_buf_view(&before), lks_buf_view(&after)));
}

/* ---- files that are not what they should be ---- */

static void spoil_text(const struct place *p)
{
    lks_tree_file(&p->tree, "/journal.db",
                  "a file of some other kind, longer than any header is: "
                  "................................................");
}

static void spoil_empty(const struct place *p)
{
    lks_tree_file(&p->tree, "/journal.db", "");
}

static void spoil_other(const struct place *p)
{
    (void)unlink(p->path);
    raw(p->path, "CREATE TABLE t (x)");
}

static void spoil_half(const struct place *p)
{
    struct stat st;
    CHECK_INT(stat(p->path, &st), 0);
    CHECK_INT(truncate(p->path, st.st_size / 2), 0);
}

static void spoil_short(const struct place *p)
{
    CHECK_INT(truncate(p->path, 100), 0);
}

/* The first page's content, behind the header. */
static void spoil_page(const struct place *p)
{
    int fd = open(p->path, O_WRONLY | O_CLOEXEC);
    CHECK_INT(pwrite(fd, "spoilt spoilt spoilt", 20, 100), 20);
    close(fd);
}

static const struct {
    const char *name;
    void (*spoil)(const struct place *p);
    const char *message;
} spoilt[] = {
    {"no database", spoil_text, "file is not a database"},
    {"an empty file", spoil_empty, "is not a journal of lockstep's"},
    {"another program's database", spoil_other, "is not a journal of lockstep's"},
    {"its second half is gone", spoil_half, "malformed"},
    {"all but its header is gone", spoil_short, "malformed"},
    {"a spoilt page", spoil_page, "malformed"},
};

static void test_spoilt(void)
{
    for (size_t i = 0; i < LKS_COUNT(spoilt); i++) {
        lks_test_case("%s", spoilt[i].name);
        LKS_CLEANUP(place_free) struct place p = place_new();
        spoilt[i].spoil(&p);
        check_refused(p.path, LKS_STORE_OWN, LKS_E_INVALID, spoilt[i].message);
        check_refused(p.path, LKS_STORE_READ, LKS_E_INVALID, spoilt[i].message);
    }
}

/* What somebody made of rows and heads beyond what they can be is read as rows and heads that no
 * key and no chain vouches for, not as a store that cannot be read. */
static const struct {
    const char *name;
    const char *edit;
} edits[] = {
    {"a kind that is too large", "UPDATE journal SET kind = kind + 65536 WHERE seq = 3"},
    {"a version below zero", "UPDATE journal SET version = -1 WHERE seq = 3"},
    {"a time below zero", "UPDATE journal SET time = -1 WHERE seq = 3"},
    {"half a hash", "UPDATE journal SET hash = zeroblob(16) WHERE seq = 3"},
    {"a huge hash", "UPDATE journal SET hash = zeroblob(50000000) WHERE seq = 3"},
    {"a huge body", "UPDATE journal SET body = zeroblob(50000000) WHERE seq = 3"},
};

static bool check_edited(void *ctx, const struct lks_row *row)
{
    static const uint8_t zeros[LKS_HASH_BYTES];
    uint64_t *count = ctx;
    (*count)++;
    CHECK((memcmp(row->hash, zeros, sizeof(zeros)) == 0) == (row->seq == 3));
    return true;
}

static void test_edits(void)
{
    for (size_t i = 0; i < LKS_COUNT(edits); i++) {
        lks_test_case("%s", edits[i].name);
        LKS_CLEANUP(place_free) struct place p = place_new();
        struct lks_err err = {0};
        raw(p.path, edits[i].edit);
        LKS_CLEANUP(lks_store_close) struct lks_store store = open_ok(p.path, LKS_STORE_OWN);
        uint64_t count = 0;
        CHECK_CODE(store.ops->rows(store.self, 1, check_edited, &count, &err), LKS_OK);
        CHECK_INT(count, 5);
    }
}

static bool check_unsigned(void *ctx, const struct lks_head *head)
{
    static const uint8_t zeros[LKS_SIGNATURE_BYTES];
    uint64_t *count = ctx;
    (*count)++;
    CHECK(memcmp(head->signature, zeros, sizeof(zeros)) == 0);
    return true;
}

static void test_edited_heads(void)
{
    static const char *const bad[] = {
        "journal = 'short'",
        "time = -1",
        "hash = x'00'",
        "signature = x'00'",
        "signature = zeroblob(50000000)",
    };
    for (size_t i = 0; i < LKS_COUNT(bad); i++) {
        lks_test_case("%s", bad[i]);
        LKS_CLEANUP(place_free) struct place p = place_new();
        LKS_CLEANUP(lks_store_close) struct lks_store store = open_ok(p.path, LKS_STORE_OWN);
        struct lks_head head = lks_test_rows_head(5);
        struct lks_err err = {0};
        uint64_t count = 0;
        char text[128];
        CHECK_CODE(store.ops->append(store.self, &(struct lks_store_batch){.head = &head}, &err),
                   LKS_OK);
        snprintf(text, sizeof(text), "UPDATE head SET %s", bad[i]);
        raw(p.path, text);
        CHECK_CODE(store.ops->heads(store.self, 0, check_unsigned, &count, &err), LKS_OK);
        CHECK_INT(count, 1);
    }
}

/* Damage that cannot be handed on is said. */
static const struct {
    const char *edit;
    const char *message;
} losses[] = {
    {"DELETE FROM snapshot WHERE part = 1", "the snapshot's parts do not belong together"},
    {"DELETE FROM snapshot WHERE part = 2", "a part of the snapshot is missing"},
    {"UPDATE snapshot SET seq = 2 WHERE part = 1", "the snapshot's parts do not belong together"},
    {"UPDATE snapshot SET size = -1", "the snapshot's parts do not belong together"},
    {"DROP TABLE snapshot", "no such table: snapshot"},
};

static void test_lost_snapshot(void)
{
    char *bytes = calloc(1, 20 * MIB);
    LKS_ASSERT(bytes != NULL);
    for (size_t i = 0; i < LKS_COUNT(losses); i++) {
        lks_test_case("%s", losses[i].edit);
        LKS_CLEANUP(place_free) struct place p = place_new();
        LKS_CLEANUP(lks_store_close) struct lks_store store = open_ok(p.path, LKS_STORE_OWN);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(64 * MIB);
        struct lks_err err = {0};
        struct lks_str all = {bytes, 20 * MIB};
        uint64_t seq = 99;
        CHECK_CODE(store.ops->snapshot_put(store.self, 1, all, &err), LKS_OK);
        raw(p.path, losses[i].edit);
        CHECK_CODE(store.ops->snapshot(store.self, &seq, &out, &err), LKS_E_INVALID);
        CHECK_HAS(lks_str_from(err.msg), losses[i].message);
        CHECK_INT(out.len, 0);
        CHECK_INT(seq, 99);
    }
    free(bytes);
}

static void test_lost_tail(void)
{
    LKS_CLEANUP(place_free) struct place p = place_new();
    LKS_CLEANUP(lks_store_close) struct lks_store store = open_ok(p.path, LKS_STORE_OWN);
    struct lks_store_tail tail = {0};
    struct lks_err err = {0};
    raw(p.path, "INSERT INTO journal VALUES (6, 0, 0, 0, x'', x'')");
    CHECK_CODE(put(&store, 6, 1), LKS_E_INVALID);
    raw(p.path, "DELETE FROM tail");
    CHECK_CODE(put(&store, 6, 1), LKS_E_INVALID);
    CHECK_CODE(store.ops->tail(store.self, &tail, &err), LKS_E_INVALID);
    CHECK_HAS(lks_str_from(err.msg), "where the journal ends cannot be read");
}

/* What is in the file runs nothing of its own. */
static void test_triggers(void)
{
    LKS_CLEANUP(place_free) struct place p = place_new();
    raw(p.path, "CREATE TRIGGER t AFTER INSERT ON journal BEGIN DELETE FROM journal; END");
    LKS_CLEANUP(lks_store_close) struct lks_store store = open_ok(p.path, LKS_STORE_OWN);
    CHECK_CODE(put(&store, 6, 2), LKS_OK);
    lks_test_rows_check(&store, 1, 7);
}

/* Rows that were cut stay where people can look at them, each cut by its number. */
static void test_aside(void)
{
    LKS_CLEANUP(place_free) struct place p = place_new();
    LKS_CLEANUP(lks_store_close) struct lks_store store = open_ok(p.path, LKS_STORE_OWN);
    struct lks_err err = {0};
    for (int round = 0; round < 2; round++) {
        CHECK_CODE(store.ops->cut(store.self, 4, &(struct lks_store_tail){.first = 1, .seq = 3},
                                  NULL, &err),
                   LKS_OK);
        CHECK_CODE(put(&store, 4, 2), LKS_OK);
    }
    CHECK_INT(raw_number(p.path, "SELECT count(*) FROM aside"), 4);
    CHECK_INT(raw_number(p.path, "SELECT max(cut) FROM aside"), 2);
    CHECK_INT(raw_number(p.path, "SELECT min(seq) FROM aside WHERE cut = 2"), 4);
}

/* ---- others in the way ---- */

static void test_locked(void)
{
    LKS_CLEANUP(place_free) struct place p = place_new();
    LKS_CLEANUP(lks_store_close) struct lks_store store = open_ok(p.path, LKS_STORE_OWN);
    LKS_CLEANUP(close_raw) sqlite3 *other = open_raw(p.path);
    struct lks_err err = {0};
    CHECK_INT(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    CHECK_CODE(put(&store, 6, 2), LKS_E_UNAVAILABLE);
    CHECK_CODE(store.ops->snapshot_put(store.self, 1, LKS_STR("x"), &err), LKS_E_UNAVAILABLE);
    CHECK_HAS(lks_str_from(err.msg), "locked");
    lks_test_rows_check(&store, 1, 5);
    CHECK_INT(sqlite3_exec(other, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    CHECK_CODE(put(&store, 6, 2), LKS_OK);
    lks_test_rows_check(&store, 1, 7);
}

static void open_as_nobody(const struct place *p)
{
    struct lks_store store = {0};
    struct lks_err err = {0};
    char path[PATH_SIZE];
    if (geteuid() == 0)
        MUST(setresgid(NOBODY, NOBODY, NOBODY) == 0 && setresuid(NOBODY, NOBODY, NOBODY) == 0);
    MUST(lks_store_sqlite_open(p->path, LKS_STORE_OWN, &store, &err) == LKS_E_DENIED);
    MUST(lks_store_sqlite_open(p->path, LKS_STORE_READ, &store, &err) == LKS_E_DENIED);
    MUST(strstr(err.msg, "Permission denied") != NULL);
    (void)beside(p, "new.db", path);
    MUST(lks_store_sqlite_open(path, LKS_STORE_CREATE, &store, &err) == LKS_E_DENIED);
}

static void test_denied(void)
{
    LKS_CLEANUP(place_free) struct place p = place_new();
    CHECK_INT(chmod(p.path, 0), 0);
    CHECK_INT(chmod(p.tree.path, 0555), 0);
    in_child(open_as_nobody, &p);
    CHECK_INT(chmod(p.tree.path, 0700), 0);
}

/* The file may not grow: the same batch goes through once it may. */
static void fill_up(const struct place *p)
{
    struct lks_store store = {0};
    struct lks_err err = {0};
    struct rlimit limit = {0};
    MUST(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    MUST(lks_store_sqlite_open(p->path, LKS_STORE_OWN, &store, &err) == LKS_OK);
    MUST(getrlimit(RLIMIT_FSIZE, &limit) == 0);
    struct rlimit small = {.rlim_cur = 100000, .rlim_max = limit.rlim_max};
    MUST(setrlimit(RLIMIT_FSIZE, &small) == 0);
    uint64_t seq = 6;
    enum lks_code code = LKS_OK;
    for (int i = 0; i < 1000 && code == LKS_OK; i++) {
        code = put(&store, seq, 60);
        seq += code == LKS_OK ? 60 : 0;
    }
    MUST(code == LKS_E_UNAVAILABLE);
    MUST(put(&store, seq, 60) == LKS_E_UNAVAILABLE);
    MUST(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    MUST(put(&store, seq, 60) == LKS_OK);
    struct lks_store_tail tail = {0};
    MUST(store.ops->tail(store.self, &tail, &err) == LKS_OK && tail.seq == seq + 59);
    lks_store_close(&store);
}

static void test_full(void)
{
    LKS_CLEANUP(place_free) struct place p = place_new();
    in_child(fill_up, &p);
    LKS_CLEANUP(lks_store_close) struct lks_store store = open_ok(p.path, LKS_STORE_READ);
    struct lks_store_tail tail = {0};
    struct lks_err err = {0};
    CHECK_CODE(store.ops->tail(store.self, &tail, &err), LKS_OK);
    lks_test_rows_check(&store, 1, tail.seq);
}

/* The log is begun again and again, and what a reader made it grow to is given back. */
static size_t log_size(const struct place *p)
{
    char path[PATH_SIZE];
    struct stat st;
    CHECK_INT(stat(beside(p, "journal.db-wal", path), &st), 0);
    return (size_t)st.st_size;
}

static void test_log_is_bounded(void)
{
    LKS_CLEANUP(place_free) struct place p = place_new();
    LKS_CLEANUP(lks_store_close) struct lks_store store = open_ok(p.path, LKS_STORE_OWN);
    struct lks_err err = {0};
    char *bytes = calloc(1, 8 * MIB);
    LKS_ASSERT(bytes != NULL);
    struct lks_str state = {bytes, 8 * MIB};
    for (int i = 0; i < 20; i++)
        CHECK_CODE(store.ops->snapshot_put(store.self, 5, state, &err), LKS_OK);
    CHECK(log_size(&p) < 32 * MIB);
    struct lks_store reader = open_ok(p.path, LKS_STORE_READ);
    for (int i = 0; i < 10; i++)
        CHECK_CODE(store.ops->snapshot_put(store.self, 5, state, &err), LKS_OK);
    CHECK(log_size(&p) > 64 * MIB);
    lks_store_close(&reader);
    for (int i = 0; i < 3; i++)
        CHECK_CODE(store.ops->snapshot_put(store.self, 5, state, &err), LKS_OK);
    CHECK(log_size(&p) <= 64 * MIB);
    free(bytes);
}

static void test_copy_fails(void)
{
    LKS_CLEANUP(place_free) struct place p = place_new();
    LKS_CLEANUP(lks_store_close) struct lks_store store = open_ok(p.path, LKS_STORE_OWN);
    struct lks_err err = {0};
    char path[PATH_SIZE];
    CHECK_CODE(store.ops->copy(store.self, beside(&p, "no/copy.db", path), &err), LKS_E_NOT_FOUND);
    CHECK_CODE(store.ops->copy(store.self, p.path, &err), LKS_E_REFUSED);
    CHECK_CODE(store.ops->copy(store.self, beside(&p, "copy.db", path), &err), LKS_OK);
    /* One file, which nobody else may read, and no log beside it. */
    struct stat st;
    CHECK_INT(stat(path, &st), 0);
    CHECK_INT(st.st_mode & 0777, 0600);
    CHECK(stat(beside(&p, "copy.db-wal", path), &st) != 0);
}

static void test_latency(void)
{
    LKS_CLEANUP(place_free) struct place p = place_new();
    LKS_CLEANUP(lks_store_close) struct lks_store store = open_ok(p.path, LKS_STORE_OWN);
    CHECK_INT(lks_store_sqlite_last_us(&store), 0);
    CHECK_CODE(put(&store, 6, 60), LKS_OK);
    CHECK(lks_store_sqlite_last_us(&store) > 0);
}

static const struct lks_test tests[] = {
    {"paths", test_paths},
    {"names", test_names},
    {"twice in one process", test_same_process},
    {"two processes", test_two_processes},
    {"kill", test_kill},
    {"newer schema", test_newer_schema},
    {"older schema", test_older_schema},
    {"a migration that fails", test_migration_fails},
    {"a moment", test_moment},
    {"a reader writes nothing", test_reader_writes_nothing},
    {"spoilt files", test_spoilt},
    {"edited rows", test_edits},
    {"edited heads", test_edited_heads},
    {"lost snapshot", test_lost_snapshot},
    {"lost tail", test_lost_tail},
    {"triggers", test_triggers},
    {"aside", test_aside},
    {"locked", test_locked},
    {"permission denied", test_denied},
    {"disk full", test_full},
    {"the log is bounded", test_log_is_bounded},
    {"a copy that fails", test_copy_fails},
    {"latency", test_latency},
    {0},
};

int main(void)
{
    return lks_test_main(tests);
}
