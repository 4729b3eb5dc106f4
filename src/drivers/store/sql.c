#include "drivers/store/sql.h"

#include <errno.h>
#include <stdio.h>

enum {
    BUSY_MS = 250,
    /* The log is brought into the file after so many pages (4 MiB). Readers can keep it from being
     * begun again and so let it grow; what is over the limit is given back once they are gone. */
    CHECKPOINT_FRAMES = 1000,
    VALUE_MAX = 32 << 20, /* of any value in the file: more than all of ours */
};

/* ---- failures ---- */

static const struct {
    int sqlite;
    enum lks_code code;
} codes[] = {
    {SQLITE_BUSY, LKS_E_UNAVAILABLE},      {SQLITE_LOCKED, LKS_E_UNAVAILABLE},
    {SQLITE_PROTOCOL, LKS_E_UNAVAILABLE},  {SQLITE_FULL, LKS_E_UNAVAILABLE},
    {SQLITE_IOERR, LKS_E_UNAVAILABLE},     {SQLITE_CANTOPEN, LKS_E_UNAVAILABLE},
    {SQLITE_INTERRUPT, LKS_E_UNAVAILABLE}, {SQLITE_NOMEM, LKS_E_NOMEM},
    {SQLITE_READONLY, LKS_E_DENIED},       {SQLITE_PERM, LKS_E_DENIED},
    {SQLITE_AUTH, LKS_E_DENIED},           {SQLITE_CORRUPT, LKS_E_INVALID},
    {SQLITE_NOTADB, LKS_E_INVALID},        {SQLITE_FORMAT, LKS_E_INVALID},
    {SQLITE_CONSTRAINT, LKS_E_INVALID},    {SQLITE_MISMATCH, LKS_E_INVALID},
    {SQLITE_TOOBIG, LKS_E_INVALID},        {SQLITE_SCHEMA, LKS_E_INVALID},
    {SQLITE_ERROR, LKS_E_INVALID}, /* no such table, no such column */
};

static bool is_access(int number)
{
    return number == EACCES || number == EPERM || number == EROFS;
}

static enum lks_code code_of(int extended, int number)
{
    int primary = extended & 0xff;
    if (extended == SQLITE_IOERR_NOMEM)
        return LKS_E_NOMEM;
    if (extended == SQLITE_IOERR_CORRUPTFS)
        return LKS_E_INVALID;
    if (primary == SQLITE_CANTOPEN && is_access(number))
        return LKS_E_DENIED;
    for (size_t i = 0; i < LKS_COUNT(codes); i++) {
        if (codes[i].sqlite == primary)
            return codes[i].code;
    }
    return LKS_E_IO;
}

static enum lks_code fail_with(const struct lks_sql *sql, int number, struct lks_err *err)
{
    int extended = sqlite3_extended_errcode(sql->db);
    return lks_fail(err, code_of(extended, number), "%.*s: %s%s%s", LKS_SQL_PATH_SHOWN_MAX,
                    sql->path, sqlite3_errmsg(sql->db), number != 0 ? ": " : "",
                    number != 0 ? strerror(number) : "");
}

enum lks_code lks_sql_fail(const struct lks_sql *sql, struct lks_err *err)
{
    int primary = sqlite3_errcode(sql->db) & 0xff;
    bool system = primary == SQLITE_IOERR || primary == SQLITE_CANTOPEN;
    return fail_with(sql, system ? sqlite3_system_errno(sql->db) : 0, err);
}

enum lks_code lks_sql_damaged(const struct lks_sql *sql, const char *what, struct lks_err *err)
{
    return lks_fail(err, LKS_E_INVALID, "%.*s: %s", LKS_SQL_PATH_SHOWN_MAX, sql->path, what);
}

enum lks_code lks_sql_usable(const struct lks_sql *sql, struct lks_err *err)
{
    if (sql->broken)
        return lks_fail(err, LKS_E_IO, "%.*s: whether an earlier commit is there is not known",
                        LKS_SQL_PATH_SHOWN_MAX, sql->path);
    return LKS_OK;
}

/* ---- statements ---- */

void lks_sql_finalize(sqlite3_stmt **stmt)
{
    (void)sqlite3_finalize(*stmt);
    *stmt = NULL;
}

void lks_sql_reset(sqlite3_stmt **stmt)
{
    (void)sqlite3_reset(*stmt);
}

enum lks_code lks_sql_prepare(const struct lks_sql *sql, const char *text,
                              const struct lks_relational_value *values, sqlite3_stmt **out,
                              struct lks_err *err)
{
    LKS_CLEANUP(lks_sql_finalize) sqlite3_stmt *stmt = NULL;
    if (sqlite3_prepare_v2(sql->db, text, -1, &stmt, NULL) != SQLITE_OK ||
        !lks_sql_bind(stmt, values))
        return lks_sql_fail(sql, err);
    *out = LKS_MOVE(stmt);
    return LKS_OK;
}

enum lks_code lks_sql_next(const struct lks_sql *sql, sqlite3_stmt *stmt, bool *more,
                           struct lks_err *err)
{
    int rc = sqlite3_step(stmt);
    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        return lks_sql_fail(sql, err);
    *more = rc == SQLITE_ROW;
    return LKS_OK;
}

enum lks_code lks_sql_finish(const struct lks_sql *sql, sqlite3_stmt *stmt, bool bound,
                             struct lks_err *err)
{
    enum lks_code code = LKS_OK;
    if (!bound || sqlite3_step(stmt) != SQLITE_DONE)
        code = lks_sql_fail(sql, err);
    (void)sqlite3_reset(stmt);
    return code;
}

enum lks_code lks_sql_run(const struct lks_sql *sql, const char *text,
                          const struct lks_relational_value *values, struct lks_err *err)
{
    LKS_CLEANUP(lks_sql_finalize) sqlite3_stmt *stmt = NULL;
    enum lks_code code = lks_sql_prepare(sql, text, values, &stmt, err);
    return code == LKS_OK ? lks_sql_finish(sql, stmt, true, err) : code;
}

enum lks_code lks_sql_number(const struct lks_sql *sql, const char *text, int64_t *out,
                             struct lks_err *err)
{
    LKS_CLEANUP(lks_sql_finalize) sqlite3_stmt *stmt = NULL;
    enum lks_code code = lks_sql_prepare(sql, text, NULL, &stmt, err);
    bool there = false;
    if (code == LKS_OK)
        code = lks_sql_next(sql, stmt, &there, err);
    if (code == LKS_OK)
        *out = there ? sqlite3_column_int64(stmt, 0) : 0;
    return code;
}

/* A null pointer would be bound as NULL, which is not an empty value. */
static int bind(sqlite3_stmt *stmt, int at, const struct lks_relational_value *v)
{
    const char *bytes = v->bytes.len > 0 ? v->bytes.ptr : "";
    if (v->is == LKS_RELATIONAL_NUMBER)
        return sqlite3_bind_int64(stmt, at, (sqlite3_int64)v->number);
    if (v->is == LKS_RELATIONAL_BYTES)
        return sqlite3_bind_blob64(stmt, at, bytes, v->bytes.len, SQLITE_STATIC);
    return sqlite3_bind_text64(stmt, at, bytes, v->bytes.len, SQLITE_STATIC, SQLITE_UTF8);
}

bool lks_sql_bind(sqlite3_stmt *stmt, const struct lks_relational_value *values)
{
    int rc = SQLITE_OK;
    for (int at = 1; values != NULL && values->is != LKS_RELATIONAL_END && rc == SQLITE_OK; at++)
        rc = bind(stmt, at, values++);
    return rc == SQLITE_OK;
}

struct lks_str lks_sql_bytes(sqlite3_stmt *stmt, int at)
{
    const char *bytes = sqlite3_column_blob(stmt, at);
    size_t len = (size_t)sqlite3_column_bytes(stmt, at);
    return bytes != NULL ? (struct lks_str){bytes, len} : LKS_STR("");
}

bool lks_sql_exact(sqlite3_stmt *stmt, int at, void *out, size_t len)
{
    struct lks_str bytes = lks_sql_bytes(stmt, at);
    if (bytes.len != len)
        return false;
    memcpy(out, bytes.ptr, len);
    return true;
}

bool lks_sql_unsigned(sqlite3_stmt *stmt, int at, uint64_t max, uint64_t *out)
{
    sqlite3_int64 number = sqlite3_column_int64(stmt, at);
    if (number < 0 || (uint64_t)number > max)
        return false;
    *out = (uint64_t)number;
    return true;
}

/* ---- transactions ---- */

enum lks_code lks_sql_begin(struct lks_sql *sql, struct lks_err *err)
{
    enum lks_code code = lks_sql_usable(sql, err);
    if (code != LKS_OK)
        return code;
    if (sql->reader)
        return lks_fail(err, LKS_E_REFUSED, "%.*s: is open for reading alone",
                        LKS_SQL_PATH_SHOWN_MAX, sql->path);
    return lks_sql_finish(sql, sql->begin, true, err);
}

/* Many failures have already undone everything, and undoing needs no disk. Should it fail all the
 * same, the transaction is still open and must not become part of the next one. */
static void undo(struct lks_sql *sql)
{
    if (sqlite3_get_autocommit(sql->db) != 0)
        return;
    (void)sqlite3_step(sql->rollback);
    (void)sqlite3_reset(sql->rollback);
    sql->broken = sqlite3_get_autocommit(sql->db) == 0;
}

/* Why the log could not be written or synced. SQLite does not say for a COMMIT, but the file does;
 * COMMIT writes no other file. 0: something else failed. */
static int log_errno(const struct lks_sql *sql, int extended)
{
    sqlite3_file *log = NULL;
    int number = 0;
    if (extended != SQLITE_IOERR_WRITE && extended != SQLITE_IOERR_FSYNC)
        return 0;
    (void)sqlite3_file_control(sql->db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
    if (log != NULL && log->pMethods != NULL)
        (void)log->pMethods->xFileControl(log, SQLITE_FCNTL_LAST_ERRNO, &number);
    return number;
}

static bool nothing_written(int extended, int number)
{
    bool space = number == ENOSPC || number == EDQUOT || number == EFBIG;
    int primary = extended & 0xff;
    return primary == SQLITE_FULL || primary == SQLITE_BUSY ||
           (extended == SQLITE_IOERR_WRITE && space);
}

static enum lks_code commit(struct lks_sql *sql, struct lks_err *err)
{
    bool done = sqlite3_step(sql->commit) == SQLITE_DONE;
    int extended = sqlite3_extended_errcode(sql->db), number = log_errno(sql, extended);
    enum lks_code code = done ? LKS_OK : fail_with(sql, number, err);
    (void)sqlite3_reset(sql->commit);
    if (done)
        return LKS_OK;
    undo(sql);
    if (nothing_written(extended, number))
        return code;
    sql->broken = true;
    err->code = LKS_E_IO;
    return lks_wrap(err, "a commit that may or may not have happened");
}

/* SQLite tells the length of the log after each commit. */
static int note_frames(void *ctx, sqlite3 *db, const char *schema, int frames)
{
    struct lks_sql *sql = ctx;
    (void)db;
    (void)schema;
    if (frames < sql->frames)
        sql->checkpointed = 0; /* it was begun again */
    sql->frames = frames;
    return SQLITE_OK;
}

/* One that fails, for want of space or because of readers, costs nothing but a longer log, and is
 * tried again as that grows. */
static void checkpoint(struct lks_sql *sql)
{
    if (sql->frames - sql->checkpointed < CHECKPOINT_FRAMES)
        return;
    sql->checkpointed = sql->frames;
    (void)sqlite3_wal_checkpoint_v2(sql->db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
}

enum lks_code lks_sql_end(struct lks_sql *sql, enum lks_code code, struct lks_err *err)
{
    if (code == LKS_OK)
        code = commit(sql, err);
    else
        undo(sql);
    if (code == LKS_OK)
        checkpoint(sql);
    return code;
}

/* ---- open, copy, close ---- */

/* What is in the file is data: it gets to run nothing. */
static void distrust(sqlite3 *db)
{
    static const struct {
        int what, on;
    } settings[] = {
        {SQLITE_DBCONFIG_DEFENSIVE, 1},
        {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
        {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
        {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
    };
    for (size_t i = 0; i < LKS_COUNT(settings); i++)
        (void)sqlite3_db_config(db, settings[i].what, settings[i].on, NULL);
    (void)sqlite3_limit(db, SQLITE_LIMIT_LENGTH, VALUE_MAX);
}

static enum lks_code exec(const struct lks_sql *sql, const char *text, struct lks_err *err)
{
    if (sqlite3_exec(sql->db, text, NULL, NULL, NULL) != SQLITE_OK)
        return lks_sql_fail(sql, err);
    return LKS_OK;
}

static enum lks_code set_up(struct lks_sql *sql, struct lks_err *err)
{
    distrust(sql->db);
    (void)sqlite3_busy_timeout(sql->db, BUSY_MS);
    (void)sqlite3_wal_hook(sql->db, note_frames, sql);
    /* A reader that is the last one out leaves the log as it is. */
    if (sql->reader)
        (void)sqlite3_db_config(sql->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    enum lks_code code = exec(sql,
                              "PRAGMA cell_size_check = ON;"
                              "PRAGMA temp_store = MEMORY;"
                              "PRAGMA synchronous = FULL;"
                              "PRAGMA journal_size_limit = 67108864;",
                              err);
    if (code == LKS_OK)
        code = lks_sql_prepare(sql, "BEGIN IMMEDIATE", NULL, &sql->begin, err);
    if (code == LKS_OK)
        code = lks_sql_prepare(sql, "COMMIT", NULL, &sql->commit, err);
    if (code == LKS_OK)
        code = lks_sql_prepare(sql, "ROLLBACK", NULL, &sql->rollback, err);
    return code;
}

enum lks_code lks_sql_open(struct lks_sql *sql, const char *path, bool reader, struct lks_err *err)
{
    *sql = (struct lks_sql){.reader = reader};
    LKS_ASSERT(strlen(path) < sizeof(sql->path));
    memcpy(sql->path, path, strlen(path) + 1);
    int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE |
                (reader ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE);
    enum lks_code code = LKS_OK;
    if (sqlite3_open_v2(path, &sql->db, flags, NULL) != SQLITE_OK)
        code = sql->db != NULL ? lks_sql_fail(sql, err) : lks_fail_nomem(err);
    if (code == LKS_OK)
        code = set_up(sql, err);
    if (code != LKS_OK)
        lks_sql_close(sql);
    return code;
}

enum lks_code lks_sql_log(const struct lks_sql *sql, struct lks_err *err)
{
    LKS_CLEANUP(lks_sql_finalize) sqlite3_stmt *stmt = NULL;
    enum lks_code code = lks_sql_prepare(sql, "PRAGMA journal_mode = WAL", NULL, &stmt, err);
    bool there = false;
    if (code == LKS_OK)
        code = lks_sql_next(sql, stmt, &there, err);
    if (code == LKS_OK && (!there || !lks_str_is(lks_sql_bytes(stmt, 0), "wal")))
        code = lks_fail(err, LKS_E_UNAVAILABLE,
                        "%.*s: this file system cannot keep a write-ahead log: use a local disk",
                        LKS_SQL_PATH_SHOWN_MAX, sql->path);
    return code;
}

void lks_sql_close(struct lks_sql *sql)
{
    lks_sql_finalize(&sql->begin);
    lks_sql_finalize(&sql->commit);
    lks_sql_finalize(&sql->rollback);
    /* A disk that failed is left as it is, for later inspection. */
    if (sql->broken)
        (void)sqlite3_db_config(sql->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    int rc = sqlite3_close(sql->db);
    LKS_ASSERT(rc == SQLITE_OK);
    *sql = (struct lks_sql){0};
}

/* The copy is one file without a log, readable where nothing can be written. */
enum lks_code lks_sql_copy(const struct lks_sql *sql, const char *path, struct lks_err *err)
{
    struct lks_sql to = {0};
    enum lks_code code = lks_sql_open(&to, path, false, err);
    if (code != LKS_OK)
        return code;
    sqlite3_backup *backup = sqlite3_backup_init(to.db, "main", sql->db, "main");
    if (backup == NULL) {
        code = lks_sql_fail(&to, err);
    } else {
        /* That either side was busy is no failure to _finish: it could be tried again. */
        bool whole = sqlite3_backup_step(backup, -1) == SQLITE_DONE;
        if (sqlite3_backup_finish(backup) != SQLITE_OK)
            code = lks_sql_fail(&to, err);
        else if (!whole)
            code = lks_fail(err, LKS_E_UNAVAILABLE, "%.*s: is busy; try again",
                            LKS_SQL_PATH_SHOWN_MAX, sql->path);
    }
    if (code == LKS_OK)
        code = exec(&to, "PRAGMA journal_mode = DELETE", err);
    lks_sql_close(&to);
    return code;
}
