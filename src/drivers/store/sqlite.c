#include "drivers/store/sqlite.h"

#include "drivers/store/relational.h"
#include "drivers/store/sql.h"
#include "model/record/record.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* Statements that are kept prepared. */
enum { KEPT_MAX = 24 };

#define APPLICATION_ID     0x6c6b7374 /* "lkst" */
#define SET_APPLICATION_ID "PRAGMA application_id = 0x6c6b7374"

/* These are in the text of statements: what is larger is not ours and is not even read. */
_Static_assert(LKS_RECORD_BODY_MAX == 4194304, "READ_ROWS has this number");
_Static_assert(LKS_STORE_BLOB_MAX == 16777216, "read_blob() and read_blobs() have this number");

struct store {
    struct lks_sql sql;
    struct {
        const char *text;   /* a constant */
        sqlite3_stmt *stmt; /* owned */
    } kept[KEPT_MAX];
    size_t kept_count;
    int claim; /* -1: none */
    uint64_t last_us;
};

/* The statement of this text, prepared when it is first used. */
static enum lks_code kept(struct store *s, const char *text, sqlite3_stmt **out,
                          struct lks_err *err)
{
    size_t i = 0;
    while (i < s->kept_count && s->kept[i].text != text)
        i++;
    if (i == s->kept_count) {
        LKS_ASSERT(i < KEPT_MAX);
        if (lks_sql_prepare(&s->sql, text, NULL, &s->kept[i].stmt, err) != LKS_OK)
            return err->code;
        s->kept[i].text = text;
        s->kept_count++;
    }
    *out = s->kept[i].stmt;
    return LKS_OK;
}

/* ---- values of a result ---- */

static bool number_of(const struct lks_relational *r, int at, uint64_t max, uint64_t *out)
{
    return lks_sql_unsigned(r->result, at, max, out);
}

static bool exact_of(const struct lks_relational *r, int at, void *out, size_t len)
{
    return lks_sql_exact(r->result, at, out, len);
}

static struct lks_str bytes_of(const struct lks_relational *r, int at)
{
    return lks_sql_bytes(r->result, at);
}

static bool is_there(const struct lks_relational *r, int at)
{
    return sqlite3_column_type(r->result, at) == SQLITE_BLOB;
}

static struct lks_relational row_at(sqlite3_stmt *stmt)
{
    static const struct lks_relational_ops values = {number_of, exact_of, bytes_of, is_there};
    return (struct lks_relational){&values, stmt, 0};
}

/* ---- the tail ---- */

static enum lks_code read_tail(void *self, struct lks_store_tail *out, struct lks_err *err)
{
    static const char text[] = "SELECT first, seq, time, hash FROM tail";
    struct store *s = self;
    LKS_CLEANUP(lks_sql_reset) sqlite3_stmt *stmt = NULL;
    bool there = false;
    if (lks_sql_usable(&s->sql, err) != LKS_OK || kept(s, text, &stmt, err) != LKS_OK ||
        lks_sql_next(&s->sql, stmt, &there, err) != LKS_OK)
        return err->code;
    struct lks_relational row = row_at(stmt);
    if (!there || !lks_relational_tail(&row, 0, out))
        return lks_sql_damaged(&s->sql, "where the journal ends cannot be read", err);
    return LKS_OK;
}

/* ---- writing ---- */

static enum lks_code run(void *self, const char *text, const struct lks_relational_value *values,
                         struct lks_err *err)
{
    struct store *s = self;
    sqlite3_stmt *stmt = NULL;
    if (kept(s, text, &stmt, err) != LKS_OK)
        return err->code;
    return lks_sql_finish(&s->sql, stmt, lks_sql_bind(stmt, values), err);
}

static struct lks_relational_writer writer_of(struct store *s)
{
    return (struct lks_relational_writer){.self = s, .run = run};
}

/* A transaction starts. */
static enum lks_code begin(struct store *s, struct lks_store_tail *tail, struct lks_err *err)
{
    if (lks_sql_begin(&s->sql, err) != LKS_OK)
        return err->code;
    enum lks_code code = read_tail(s, tail, err);
    return code == LKS_OK ? LKS_OK : lks_sql_end(&s->sql, code, err);
}

static uint64_t now_us(void)
{
    struct timespec now;
    LKS_ASSERT(clock_gettime(CLOCK_MONOTONIC, &now) == 0);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static enum lks_code append(void *self, const struct lks_store_batch *batch, struct lks_err *err)
{
    struct store *s = self;
    struct lks_relational_writer w = writer_of(s);
    struct lks_store_tail tail = {0};
    uint64_t start = now_us();
    enum lks_code code = begin(s, &tail, err);
    if (code == LKS_OK)
        code = lks_sql_end(&s->sql, lks_relational_append(&w, &tail, batch, err), err);
    s->last_us = now_us() - start;
    return code;
}

uint64_t lks_store_sqlite_last_us(const struct lks_store *store)
{
    const struct store *s = store->self;
    LKS_ASSERT(store->ops->append == append);
    return s->last_us;
}

/* ---- reading ---- */

#define READ_ROWS                                                                                  \
    "SELECT seq, time, kind, version, iif(length(body) <= 4194304, body, NULL), "                  \
    "iif(length(hash) = 32, hash, NULL) FROM journal WHERE seq >= max(?, 1) ORDER BY seq"

#define READ_HEADS                                                                                 \
    "SELECT seq, iif(length(journal) = 32, journal, NULL), time, "                                 \
    "iif(length(hash) = 32, hash, NULL), iif(length(signature) = 64, signature, NULL) "            \
    "FROM head WHERE seq >= max(?, 1) ORDER BY seq"

/* Every line of an answer, from `from` on, until the reader has seen enough. */
static enum lks_code each(struct store *s, const char *query, uint64_t from,
                          struct lks_relational_reader *reader, struct lks_err *err)
{
    LKS_CLEANUP(lks_sql_finalize) sqlite3_stmt *stmt = NULL;
    enum lks_code code = lks_sql_usable(&s->sql, err);
    if (code != LKS_OK || from > INT64_MAX)
        return code;
    code = lks_sql_prepare(&s->sql, query, LKS_VALUES(LKS_NUMBER_VALUE(from)), &stmt, err);
    struct lks_relational row = row_at(stmt);
    bool more = code == LKS_OK;
    while (more) {
        code = lks_sql_next(&s->sql, stmt, &more, err);
        if (code != LKS_OK)
            return code;
        more = more && lks_relational_show(reader, &row);
    }
    return code;
}

static enum lks_code read_rows(void *self, uint64_t from, lks_store_row_fn *fn, void *ctx,
                               struct lks_err *err)
{
    return each(self, READ_ROWS, from, &(struct lks_relational_reader){.row = fn, .ctx = ctx}, err);
}

static enum lks_code read_heads(void *self, uint64_t from, lks_store_head_fn *fn, void *ctx,
                                struct lks_err *err)
{
    return each(self, READ_HEADS, from, &(struct lks_relational_reader){.head = fn, .ctx = ctx},
                err);
}

static enum lks_code read_blob(void *self, const char *digest, struct lks_buf *out,
                               struct lks_err *err)
{
    static const char text[] =
        "SELECT iif(length(bytes) <= 16777216, bytes, NULL) FROM blob WHERE digest = $1";
    struct store *s = self;
    LKS_CLEANUP(lks_sql_reset) sqlite3_stmt *stmt = NULL;
    bool there = false;
    if (lks_sql_usable(&s->sql, err) != LKS_OK || kept(s, text, &stmt, err) != LKS_OK)
        return err->code;
    if (!lks_sql_bind(stmt, LKS_VALUES(LKS_TEXT_VALUE(digest))))
        return lks_sql_fail(&s->sql, err);
    if (lks_sql_next(&s->sql, stmt, &there, err) != LKS_OK)
        return err->code;
    if (!there)
        return lks_fail(err, LKS_E_NOT_FOUND, "the store has no %s", digest);
    if (sqlite3_column_type(stmt, 0) != SQLITE_BLOB)
        return lks_fail(err, LKS_E_INVALID, "%.*s: what it has as %s is too large to be that",
                        LKS_SQL_PATH_SHOWN_MAX, s->sql.path, digest);
    lks_buf_add(out, lks_sql_bytes(stmt, 0));
    return lks_buf_check(out, err);
}

/* Bytes that are too large to be ours come as none, which their digest shows. */
static enum lks_code read_blobs(void *self, lks_store_blob_fn *fn, void *ctx, struct lks_err *err)
{
    struct store *s = self;
    LKS_CLEANUP(lks_sql_finalize) sqlite3_stmt *stmt = NULL;
    enum lks_code code = lks_sql_usable(&s->sql, err);
    if (code == LKS_OK)
        code = lks_sql_prepare(&s->sql,
                               "SELECT iif(length(digest) <= 71, digest, ''), "
                               "iif(length(bytes) <= 16777216, bytes, NULL) FROM blob",
                               0, &stmt, err);
    bool more = code == LKS_OK;
    while (more) {
        code = lks_sql_next(&s->sql, stmt, &more, err);
        if (code != LKS_OK)
            return code;
        const char *digest = more ? (const char *)sqlite3_column_text(stmt, 0) : NULL;
        if (more && digest == NULL)
            return lks_fail_nomem(err);
        more = more && fn(ctx, digest, lks_sql_bytes(stmt, 1));
    }
    return code;
}

/* ---- the snapshot ---- */

static enum lks_code put_snapshot(void *self, uint64_t seq, struct lks_str bytes,
                                  struct lks_err *err)
{
    struct store *s = self;
    struct lks_relational_writer w = writer_of(s);
    struct lks_store_tail tail = {0};
    if (begin(s, &tail, err) != LKS_OK)
        return err->code;
    return lks_sql_end(&s->sql, lks_relational_snapshot_put(&w, &tail, seq, bytes, err), err);
}

static enum lks_code read_snapshot(void *self, uint64_t *seq, struct lks_buf *out,
                                   struct lks_err *err)
{
    struct store *s = self;
    LKS_CLEANUP(lks_sql_finalize) sqlite3_stmt *stmt = NULL;
    enum lks_code code = lks_sql_usable(&s->sql, err);
    if (code == LKS_OK)
        code = lks_sql_prepare(&s->sql, "SELECT part, seq, size, bytes FROM snapshot ORDER BY part",
                               0, &stmt, err);
    struct lks_relational row = row_at(stmt);
    struct lks_relational_snapshot whole = {0};
    size_t before = out->len;
    bool more = code == LKS_OK;
    while (more) {
        code = lks_sql_next(&s->sql, stmt, &more, err);
        if (code == LKS_OK && more && !lks_relational_part(&whole, &row, out))
            code = lks_sql_damaged(&s->sql, "the snapshot's parts do not belong together", err);
        if (code == LKS_OK)
            code = lks_buf_check(out, err);
        more = more && code == LKS_OK;
    }
    if (code == LKS_OK && out->len - before != whole.size)
        code = lks_sql_damaged(&s->sql, "a part of the snapshot is missing", err);
    if (code == LKS_OK)
        *seq = whole.seq;
    else
        lks_buf_truncate(out, before);
    return code;
}

/* ---- trim and cut ---- */

struct keeper {
    bool (*keep)(void *ctx, const char *digest);
    void *ctx;
};

static void ask_keeper(sqlite3_context *sql, int count, sqlite3_value **values)
{
    const struct keeper *keeper = sqlite3_user_data(sql);
    LKS_ASSERT(count == 1);
    const char *digest = (const char *)sqlite3_value_text(values[0]);
    if (digest == NULL)
        sqlite3_result_error_nomem(sql);
    else
        sqlite3_result_int(sql, keeper->keep(keeper->ctx, digest) ? 1 : 0);
}

static enum lks_code trim_blobs(struct store *s, struct keeper *keeper, struct lks_err *err)
{
    int flags = SQLITE_UTF8 | SQLITE_DIRECTONLY;
    if (sqlite3_create_function_v2(s->sql.db, "lks_keep", 1, flags, keeper, ask_keeper, NULL, NULL,
                                   NULL) != SQLITE_OK)
        return lks_sql_fail(&s->sql, err);
    enum lks_code code =
        lks_sql_run(&s->sql, "DELETE FROM blob WHERE NOT lks_keep(digest)", NULL, err);
    (void)sqlite3_create_function_v2(s->sql.db, "lks_keep", 1, flags, NULL, NULL, NULL, NULL, NULL);
    return code;
}

static enum lks_code trim(void *self, uint64_t through, bool (*keep)(void *ctx, const char *digest),
                          void *ctx, struct lks_err *err)
{
    struct store *s = self;
    struct lks_relational_writer w = writer_of(s);
    struct lks_store_tail tail = {0};
    if (begin(s, &tail, err) != LKS_OK)
        return err->code;
    enum lks_code code = lks_relational_trim(&w, &tail, through, err);
    if (code == LKS_OK && keep != NULL)
        code = trim_blobs(s, &(struct keeper){keep, ctx}, err);
    return lks_sql_end(&s->sql, code, err);
}

static enum lks_code cut(void *self, uint64_t from, const struct lks_store_tail *tail,
                         const struct lks_store_batch *then, struct lks_err *err)
{
    struct store *s = self;
    struct lks_relational_writer w = writer_of(s);
    if (lks_store_cut_check(from, tail, err) != LKS_OK || lks_sql_begin(&s->sql, err) != LKS_OK)
        return err->code;
    enum lks_code code = lks_relational_cut(&w, from, tail, err);
    if (code == LKS_OK && then != NULL)
        code = lks_relational_append(&w, tail, then, err);
    return lks_sql_end(&s->sql, code, err);
}

/* ---- tasks ---- */

static enum lks_code sync_tasks(void *self, const struct lks_store_task *tasks, size_t count,
                                lks_ms now, struct lks_err *err)
{
    struct store *s = self;
    return lks_sql_tasks_sync(&s->sql, tasks, count, now, err);
}

static enum lks_code take_tasks(void *self, const struct lks_store_claim *claim,
                                lks_store_task_fn *fn, void *ctx, struct lks_err *err)
{
    struct store *s = self;
    return lks_sql_tasks_take(&s->sql, claim, fn, ctx, err);
}

static enum lks_code finish_task(void *self, struct lks_str holder, struct lks_str name, lks_ms due,
                                 uint32_t failures, struct lks_err *err)
{
    struct store *s = self;
    return lks_sql_task_done(&s->sql, holder, name, due, failures, err);
}

/* ---- the schema ---- */

static uint64_t newest_schema(void)
{
    return lks_relational_newest(lks_embedded_schema);
}

/* From schema `from` to the next, and the number with it, or not at all. */
static enum lks_code migrate_step(struct lks_sql *sql, uint64_t from, struct lks_err *err)
{
    char number[64];
    snprintf(number, sizeof(number), "PRAGMA user_version = %" PRIu64, from + 1);
    enum lks_code code = lks_sql_begin(sql, err);
    if (code != LKS_OK)
        return code;
    const char *script = lks_embedded_schema[from].bytes.ptr; /* terminated */
    if (sqlite3_exec(sql->db, script, NULL, NULL, NULL) != SQLITE_OK ||
        sqlite3_exec(sql->db, number, NULL, NULL, NULL) != SQLITE_OK)
        code = lks_sql_fail(sql, err);
    code = lks_sql_end(sql, code, err);
    if (code != LKS_OK)
        return lks_wrap(err, "bringing the schema from %" PRIu64 " to %" PRIu64, from, from + 1);
    return LKS_OK;
}

static enum lks_code migrate(struct lks_sql *sql, uint64_t from, struct lks_err *err)
{
    enum lks_code code = LKS_OK;
    for (uint64_t at = from; at < newest_schema() && code == LKS_OK; at++)
        code = migrate_step(sql, at, err);
    return code;
}

/* Is it ours, and do we know this schema? */
static enum lks_code identify(const struct lks_sql *sql, uint64_t *schema, struct lks_err *err)
{
    int64_t id = 0, version = 0;
    enum lks_code code = lks_sql_number(sql, "PRAGMA application_id", &id, err);
    if (code == LKS_OK)
        code = lks_sql_number(sql, "PRAGMA user_version", &version, err);
    if (code != LKS_OK)
        return code;
    if (id != APPLICATION_ID || version < 1)
        return lks_sql_damaged(sql, "is not a journal of lockstep's", err);
    *schema = (uint64_t)version;
    return lks_relational_check(sql->path, *schema, newest_schema(), sql->reader, err);
}

/* ---- open, copy, close ---- */

static enum lks_code write_new(const char *path, struct lks_err *err)
{
    struct lks_sql sql = {0};
    enum lks_code code = lks_sql_open(&sql, path, false, err);
    if (code != LKS_OK)
        return code;
    code = lks_sql_run(&sql, SET_APPLICATION_ID, NULL, err);
    if (code == LKS_OK)
        code = migrate(&sql, 0, err);
    lks_sql_close(&sql);
    return code;
}

/* A file appears under its name once it is whole: what a crash leaves cannot be taken for it. */
static enum lks_code create(const char *path, struct lks_err *err)
{
    char draft[LKS_CLAIM_PATH_MAX];
    enum lks_code code = lks_claim_draft(path, draft, err);
    if (code != LKS_OK)
        return code;
    code = write_new(draft, err);
    if (code == LKS_OK)
        return lks_claim_publish(draft, path, err);
    (void)unlink(draft);
    return code;
}

static enum lks_code copy(void *self, const char *path, struct lks_err *err)
{
    struct store *s = self;
    char draft[LKS_CLAIM_PATH_MAX];
    enum lks_code code = lks_sql_usable(&s->sql, err);
    if (code == LKS_OK)
        code = lks_claim_draft(path, draft, err);
    if (code != LKS_OK)
        return code;
    code = lks_sql_copy(&s->sql, draft, err);
    if (code == LKS_OK)
        return lks_claim_publish(draft, path, err);
    (void)unlink(draft);
    return code;
}

/* The claim goes last: until then the file is still being written. */
static void close_store(void *self)
{
    struct store *s = self;
    for (size_t i = 0; i < s->kept_count; i++)
        lks_sql_finalize(&s->kept[i].stmt);
    if (s->sql.db != NULL)
        lks_sql_close(&s->sql);
    if (s->claim >= 0)
        close(s->claim);
    free(s);
}

static const struct lks_store_ops ops = {
    .name = "sqlite",
    .append = append,
    .tail = read_tail,
    .rows = read_rows,
    .heads = read_heads,
    .blob = read_blob,
    .blobs = read_blobs,
    .snapshot_put = put_snapshot,
    .snapshot = read_snapshot,
    .trim = trim,
    .cut = cut,
    .copy = copy,
    .tasks_sync = sync_tasks,
    .tasks_take = take_tasks,
    .task_done = finish_task,
    .close = close_store,
};

static enum lks_code open_owned(struct store *s, const char *path, struct lks_err *err)
{
    uint64_t schema = 0;
    enum lks_code code = lks_claim_take(path, &s->claim, err);
    if (code == LKS_OK)
        code = lks_sql_open(&s->sql, path, false, err);
    if (code == LKS_OK)
        code = identify(&s->sql, &schema, err);
    if (code == LKS_OK)
        code = lks_sql_log(&s->sql, err);
    if (code == LKS_OK)
        code = migrate(&s->sql, schema, err);
    return code;
}

/* A transaction from here to the end is what keeps the moment. */
static enum lks_code open_reader(struct store *s, const char *path, struct lks_err *err)
{
    uint64_t schema = 0;
    enum lks_code code = lks_sql_open(&s->sql, path, true, err);
    if (code == LKS_OK)
        code = lks_sql_run(&s->sql, "BEGIN", NULL, err);
    if (code == LKS_OK)
        code = identify(&s->sql, &schema, err);
    return code;
}

enum lks_code lks_store_sqlite_open(const char *path, enum lks_store_mode mode,
                                    struct lks_store *out, struct lks_err *err)
{
    char whole[LKS_CLAIM_PATH_MAX];
    enum lks_code code = mode == LKS_STORE_CREATE ? create(path, err) : LKS_OK;
    if (code == LKS_OK)
        code = lks_claim_resolve(path, mode != LKS_STORE_READ, whole, err);
    if (code != LKS_OK)
        return code;
    struct store *s = calloc(1, sizeof(*s));
    if (s == NULL)
        return lks_fail_nomem(err);
    s->claim = -1;
    code = mode == LKS_STORE_READ ? open_reader(s, whole, err) : open_owned(s, whole, err);
    if (code != LKS_OK) {
        close_store(s);
        return code;
    }
    *out = (struct lks_store){.ops = &ops, .self = s};
    return LKS_OK;
}
