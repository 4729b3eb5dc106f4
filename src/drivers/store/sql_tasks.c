#include "base/arena.h"
#include "drivers/store/sql.h"

/* One claim's answer is held until it is committed. */
#define TAKEN_MAX_BYTES ((size_t)256 << 20)

/* ---- the list ---- */

#define WANT                                                                                       \
    "INSERT INTO task VALUES (?, ?, ?, ?, ?, NULL, 0, 1) ON CONFLICT DO UPDATE SET "               \
    "site = excluded.site, every = excluded.every, due = min(due, ?6 + excluded.every), wanted = " \
    "1"

static enum lks_code want_all(struct lks_sql *sql, const struct lks_store_task *tasks, size_t count,
                              lks_ms now, struct lks_err *err)
{
    LKS_CLEANUP(lks_sql_finalize) sqlite3_stmt *stmt = NULL;
    enum lks_code code = lks_sql_prepare(sql, WANT, NULL, &stmt, err);
    for (size_t i = 0; i < count && code == LKS_OK; i++) {
        const struct lks_store_task *task = &tasks[i];
        const struct lks_relational_value *values = LKS_VALUES(
            LKS_BYTES_VALUE(task->name), LKS_BYTES_VALUE(task->site), LKS_NUMBER_VALUE(task->every),
            LKS_NUMBER_VALUE(task->due), LKS_NUMBER_VALUE(task->failures), LKS_NUMBER_VALUE(now));
        code = lks_sql_finish(sql, stmt, lks_sql_bind(stmt, values), err);
    }
    return code;
}

enum lks_code lks_sql_tasks_sync(struct lks_sql *sql, const struct lks_store_task *tasks,
                                 size_t count, lks_ms now, struct lks_err *err)
{
    enum lks_code code = lks_store_tasks_check(tasks, count, now, err);
    if (code == LKS_OK)
        code = lks_sql_begin(sql, err);
    if (code != LKS_OK)
        return code;
    code = lks_sql_run(sql, "UPDATE task SET wanted = 0", NULL, err);
    if (code == LKS_OK)
        code = want_all(sql, tasks, count, now, err);
    if (code == LKS_OK)
        code = lks_sql_run(sql, "DELETE FROM task WHERE wanted = 0", NULL, err);
    return lks_sql_end(sql, code, err);
}

/* ---- claims ---- */

/* Of those that are due, the ones that their site has room for, those first that are behind by most
 * of their interval. */
#define PICK                                                                                       \
    "WITH leased AS (SELECT site, count(*) AS n FROM task WHERE until > ?1 GROUP BY site), "       \
    "late AS (SELECT name, site, every, due, failures, (?1 - due) * 1.0 / every AS share "         \
    "FROM task WHERE due <= ?1 AND until <= ?1), "                                                 \
    "ranked AS (SELECT *, row_number() OVER (PARTITION BY site ORDER BY share DESC, name) AS n "   \
    "FROM late) "                                                                                  \
    "SELECT name, ranked.site, every, due, failures FROM ranked LEFT JOIN leased USING (site) "    \
    "WHERE ranked.n + ifnull(leased.n, 0) <= ?2 ORDER BY share DESC, name "                        \
    "LIMIT max(0, min(?3, ?4 - (SELECT ifnull(sum(n), 0) FROM leased)))"

struct taken {
    struct lks_arena arena;
    struct one {
        struct lks_store_task task;
        struct one *next;
    } * first, **end;
};

static void taken_fini(struct taken *taken)
{
    lks_arena_fini(&taken->arena);
}

static enum lks_code note(struct taken *taken, const struct lks_sql *sql, sqlite3_stmt *stmt,
                          struct lks_err *err)
{
    uint64_t failures = 0;
    struct one *one = lks_arena_alloc(&taken->arena, sizeof(*one));
    if (one == NULL)
        return lks_arena_fail(&taken->arena, err);
    one->task.name = lks_arena_copy(&taken->arena, lks_sql_bytes(stmt, 0));
    one->task.site = lks_arena_copy(&taken->arena, lks_sql_bytes(stmt, 1));
    if (one->task.name.ptr == NULL || one->task.site.ptr == NULL)
        return lks_arena_fail(&taken->arena, err);
    if (!lks_sql_unsigned(stmt, 2, INT64_MAX, &one->task.every) ||
        !lks_sql_unsigned(stmt, 3, INT64_MAX, &one->task.due) ||
        !lks_sql_unsigned(stmt, 4, UINT32_MAX, &failures))
        return lks_sql_damaged(sql, "a task cannot be read", err);
    one->task.failures = (uint32_t)failures;
    *taken->end = one;
    taken->end = &one->next;
    return LKS_OK;
}

static enum lks_code pick(struct lks_sql *sql, const struct lks_store_claim *claim,
                          struct taken *taken, struct lks_err *err)
{
    LKS_CLEANUP(lks_sql_finalize) sqlite3_stmt *stmt = NULL;
    enum lks_code code =
        lks_sql_prepare(sql, PICK,
                        LKS_VALUES(LKS_NUMBER_VALUE(claim->now), LKS_COUNT_VALUE(claim->site_max),
                                   LKS_COUNT_VALUE(claim->max), LKS_COUNT_VALUE(claim->all_max)),
                        &stmt, err);
    bool more = code == LKS_OK;
    while (more) {
        code = lks_sql_next(sql, stmt, &more, err);
        if (code == LKS_OK && more)
            code = note(taken, sql, stmt, err);
        more = more && code == LKS_OK;
    }
    return code;
}

static enum lks_code lease(struct lks_sql *sql, const struct lks_store_claim *claim,
                           const struct taken *taken, struct lks_err *err)
{
    LKS_CLEANUP(lks_sql_finalize) sqlite3_stmt *stmt = NULL;
    enum lks_code code = lks_sql_prepare(
        sql, "UPDATE task SET until = ?, holder = ? WHERE name = ?", NULL, &stmt, err);
    for (const struct one *one = taken->first; one != NULL && code == LKS_OK; one = one->next) {
        const struct lks_relational_value *values =
            LKS_VALUES(LKS_NUMBER_VALUE(claim->until), LKS_BYTES_VALUE(claim->holder),
                       LKS_BYTES_VALUE(one->task.name));
        code = lks_sql_finish(sql, stmt, lks_sql_bind(stmt, values), err);
    }
    return code;
}

enum lks_code lks_sql_tasks_take(struct lks_sql *sql, const struct lks_store_claim *claim,
                                 lks_store_task_fn *fn, void *ctx, struct lks_err *err)
{
    LKS_CLEANUP(taken_fini) struct taken taken = {0};
    enum lks_code code = lks_store_claim_check(claim, err);
    lks_arena_init(&taken.arena, TAKEN_MAX_BYTES);
    taken.end = &taken.first;
    if (code == LKS_OK)
        code = lks_sql_begin(sql, err);
    if (code != LKS_OK)
        return code;
    code = pick(sql, claim, &taken, err);
    if (code == LKS_OK)
        code = lease(sql, claim, &taken, err);
    code = lks_sql_end(sql, code, err);
    for (const struct one *one = taken.first; one != NULL && code == LKS_OK; one = one->next)
        fn(ctx, &one->task);
    return code;
}

enum lks_code lks_sql_task_done(struct lks_sql *sql, struct lks_str holder, struct lks_str name,
                                lks_ms due, uint32_t failures, struct lks_err *err)
{
    enum lks_code code = lks_sql_begin(sql, err);
    if (code != LKS_OK)
        return code;
    code = lks_sql_run(sql, LKS_RELATIONAL_TASK_DONE,
                       LKS_VALUES(LKS_NUMBER_VALUE(due), LKS_NUMBER_VALUE(failures),
                                  LKS_BYTES_VALUE(holder), LKS_BYTES_VALUE(name)),
                       err);
    if (code == LKS_OK && sqlite3_changes(sql->db) == 0)
        code = lks_store_done_refused(holder, name, err);
    return lks_sql_end(sql, code, err);
}
