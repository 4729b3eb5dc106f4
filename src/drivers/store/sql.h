/*
 * One connection to a SQLite file, as the store uses it: what its failures mean, statements, and
 * transactions whose outcome is told exactly.
 *
 * What SQLite's codes mean for a write. In WAL mode a transaction is a run of frames at the end of
 * the log, and the last of them carries the mark that makes it count; then the log is synced; then
 * the index of the log, in shared memory, is brought along.
 *
 * - Whatever fails before COMMIT is undone: no mark was written. UNAVAILABLE where trying again may
 *   help (disk full, locked, I/O), else what it is.
 * - COMMIT fails with FULL, or with IOERR_WRITE for want of space (quota, file size): a frame could
 *   not be written to its end, and none is written behind the marked one, so the mark is not there
 *   or is torn, which its checksum shows. Nothing was written: UNAVAILABLE.
 * - COMMIT fails with BUSY: it never began. UNAVAILABLE.
 * - COMMIT fails with anything else: a failed sync, or an index that could not follow, may leave
 *   the marked frame in the log. This connection would not see it, and the next one might. IO, and
 *   the connection answers nothing more: only a fresh look at the file can tell.
 *
 * The checkpoint comes after COMMIT, in a call of its own, so its failure is never taken for that
 * of a write.
 */
#ifndef LKS_DRIVERS_STORE_SQL_H
#define LKS_DRIVERS_STORE_SQL_H

#include "base/buf.h"
#include "drivers/store/claim.h"
#include "drivers/store/relational.h"
#include "port/store.h"

#include <sqlite3.h>

#define LKS_SQL_PATH_SHOWN_MAX 256

struct lks_sql {
    sqlite3 *db; /* owned, as are the statements */
    sqlite3_stmt *begin, *commit, *rollback;
    char path[LKS_CLAIM_PATH_MAX];
    bool reader;
    bool broken; /* a commit's outcome is not known */
    int frames;  /* in the log */
    int checkpointed;
};

/* The file at `path`, which is there. A reader writes nothing. */
enum lks_code lks_sql_open(struct lks_sql *sql, const char *path, bool reader,
                           struct lks_err *err) LKS_MUST_CHECK;

/* Write-ahead logging, which stays with the file. */
enum lks_code lks_sql_log(const struct lks_sql *sql, struct lks_err *err) LKS_MUST_CHECK;

/* Every statement of the caller's was finalized. */
void lks_sql_close(struct lks_sql *sql);

/* What the last call on the connection failed with, outside of a COMMIT. */
enum lks_code lks_sql_fail(const struct lks_sql *sql, struct lks_err *err) LKS_MUST_CHECK;

/* INVALID: the file is damaged in the way that `what` says. */
enum lks_code lks_sql_damaged(const struct lks_sql *sql, const char *what,
                              struct lks_err *err) LKS_MUST_CHECK;

/* IO once a commit's outcome was unknown. */
enum lks_code lks_sql_usable(const struct lks_sql *sql, struct lks_err *err) LKS_MUST_CHECK;

/* For LKS_CLEANUP: statements that end here, and those that are kept. */
void lks_sql_finalize(sqlite3_stmt **stmt);
void lks_sql_reset(sqlite3_stmt **stmt);

/* A statement and its values. */
enum lks_code lks_sql_prepare(const struct lks_sql *sql, const char *text,
                              const struct lks_relational_value *values, sqlite3_stmt **out,
                              struct lks_err *err) LKS_MUST_CHECK;

/* The next row: `more` is false behind the last. */
enum lks_code lks_sql_next(const struct lks_sql *sql, sqlite3_stmt *stmt, bool *more,
                           struct lks_err *err) LKS_MUST_CHECK;

/* Run a statement without results; `bound` is whether its values could be bound. */
enum lks_code lks_sql_finish(const struct lks_sql *sql, sqlite3_stmt *stmt, bool bound,
                             struct lks_err *err) LKS_MUST_CHECK;

/* All of it at once. */
enum lks_code lks_sql_run(const struct lks_sql *sql, const char *text,
                          const struct lks_relational_value *values,
                          struct lks_err *err) LKS_MUST_CHECK;

/* One number, such as a PRAGMA answers. */
enum lks_code lks_sql_number(const struct lks_sql *sql, const char *text, int64_t *out,
                             struct lks_err *err) LKS_MUST_CHECK;

/* Give a statement its values. Where there are none `values` may be NULL, here and above. */
bool lks_sql_bind(sqlite3_stmt *stmt, const struct lks_relational_value *values);

struct lks_str lks_sql_bytes(sqlite3_stmt *stmt, int at);

/* A value of exactly `len` bytes, a number from 0 to `max`: false, and nothing written, for any
 * other. */
bool lks_sql_exact(sqlite3_stmt *stmt, int at, void *out, size_t len);
bool lks_sql_unsigned(sqlite3_stmt *stmt, int at, uint64_t max, uint64_t *out);

/* A transaction that writes. lks_sql_end() makes it durable where `code`, how it went, is good,
 * undoes it where it is not, and returns the outcome. */
enum lks_code lks_sql_begin(struct lks_sql *sql, struct lks_err *err) LKS_MUST_CHECK;
enum lks_code lks_sql_end(struct lks_sql *sql, enum lks_code code,
                          struct lks_err *err) LKS_MUST_CHECK;

/* The port's functions of these names (sql_tasks.c). */
enum lks_code lks_sql_tasks_sync(struct lks_sql *sql, const struct lks_store_task *tasks,
                                 size_t count, lks_ms now, struct lks_err *err) LKS_MUST_CHECK;
enum lks_code lks_sql_tasks_take(struct lks_sql *sql, const struct lks_store_claim *claim,
                                 lks_store_task_fn *fn, void *ctx,
                                 struct lks_err *err) LKS_MUST_CHECK;
enum lks_code lks_sql_task_done(struct lks_sql *sql, struct lks_str holder, struct lks_str name,
                                lks_ms due, uint32_t failures, struct lks_err *err) LKS_MUST_CHECK;

/* Copy everything, as it is at one moment, into the empty file at `path`. */
enum lks_code lks_sql_copy(const struct lks_sql *sql, const char *path,
                           struct lks_err *err) LKS_MUST_CHECK;

#endif
