#include "drivers/store/pq.h"

/* Statements that are sent together are one transaction: the gate is ours until all are done. */
#define GATE "SELECT id FROM task_gate FOR UPDATE"

/* ---- the list ---- */

#define WANT                                                                                       \
    "WITH wanted AS (SELECT * FROM unnest($1, $2, $3, $4, $5) "                                    \
    "AS w (name, site, every, due, failures)), "                                                   \
    "gone AS (DELETE FROM task WHERE NOT EXISTS "                                                  \
    "(SELECT FROM wanted WHERE wanted.name = task.name)) "                                         \
    "INSERT INTO task SELECT name, site, every, due, failures, NULL, 0 FROM wanted "               \
    "ON CONFLICT (name) DO UPDATE SET site = excluded.site, every = excluded.every, "              \
    "due = least(task.due, $6 + excluded.every)"

enum { TASK_NAME, TASK_SITE, TASK_EVERY, TASK_DUE, TASK_FAILURES };

static void add_task(struct lks_pq_array *columns, const struct lks_store_task *task)
{
    lks_pq_array_bytes(&columns[TASK_NAME], task->name);
    lks_pq_array_bytes(&columns[TASK_SITE], task->site);
    lks_pq_array_number(&columns[TASK_EVERY], task->every);
    lks_pq_array_number(&columns[TASK_DUE], task->due);
    lks_pq_array_number(&columns[TASK_FAILURES], task->failures);
}

enum lks_code lks_pq_tasks_sync(void *self, const struct lks_store_task *tasks, size_t count,
                                lks_ms now, struct lks_err *err)
{
    struct lks_pq *pq = self;
    LKS_CLEANUP(lks_pq_columns_fini) struct lks_pq_columns columns = {0};
    struct lks_pq_args args = {0};
    enum lks_code code = lks_store_tasks_check(tasks, count, now, err);
    if (code != LKS_OK)
        return code;
    lks_pq_columns_init(&columns, "bbnnn");
    for (size_t i = 0; i < count; i++)
        add_task(columns.of, &tasks[i]);
    code = lks_pq_give_columns(&args, &columns, err);
    lks_pq_give(&args, LKS_VALUES(LKS_NUMBER_VALUE(now)));
    if (code == LKS_OK)
        code = lks_pq_send(pq, GATE, NULL, err);
    if (code == LKS_OK)
        code = lks_pq_send_args(pq, WANT, &args, err);
    return code == LKS_OK ? lks_pq_run(pq, NULL, err) : code;
}

/* ---- claims ---- */

/* Of those that are due, the ones that their site has capacity for, those first that are behind by
 * most of their interval; one that is about to be ended is passed over. */
#define TAKE                                                                                       \
    "WITH leased AS (SELECT site, count(*) AS n FROM task WHERE until > $1 GROUP BY site), "       \
    "late AS (SELECT name, site, ($1 - due)::double precision / every AS share "                   \
    "FROM task WHERE due <= $1 AND until <= $1), "                                                 \
    "ranked AS (SELECT *, row_number() OVER (PARTITION BY site ORDER BY share DESC, name) AS n "   \
    "FROM late), "                                                                                 \
    "picked AS (SELECT name, share FROM ranked LEFT JOIN leased USING (site) "                     \
    "WHERE ranked.n + coalesce(leased.n, 0) <= $2 ORDER BY share DESC, name "                      \
    "LIMIT greatest(0, least($3, $4 - (SELECT coalesce(sum(n), 0) FROM leased)))), "               \
    "mine AS (SELECT name FROM task WHERE name IN (SELECT name FROM picked) "                      \
    "FOR UPDATE SKIP LOCKED), "                                                                    \
    "took AS (UPDATE task SET holder = $5, until = $6 WHERE name IN (SELECT name FROM mine) "      \
    "RETURNING name, site, every, due, failures) "                                                 \
    "SELECT took.* FROM took JOIN picked USING (name) ORDER BY share DESC, name"

static bool task_of(const PGresult *result, int row, struct lks_store_task *out)
{
    uint64_t failures = 0;
    out->name = lks_pq_bytes(result, row, 0);
    out->site = lks_pq_bytes(result, row, 1);
    bool whole = lks_pq_unsigned(result, row, 2, INT64_MAX, &out->every) &&
                 lks_pq_unsigned(result, row, 3, INT64_MAX, &out->due) &&
                 lks_pq_unsigned(result, row, 4, UINT32_MAX, &failures);
    out->failures = (uint32_t)failures;
    return whole;
}

enum lks_code lks_pq_tasks_take(void *self, const struct lks_store_claim *claim,
                                lks_store_task_fn *fn, void *ctx, struct lks_err *err)
{
    struct lks_pq *pq = self;
    LKS_CLEANUP(lks_pq_clear) PGresult *result = NULL;
    enum lks_code code = lks_store_claim_check(claim, err);
    if (code == LKS_OK)
        code = lks_pq_send(pq, GATE, NULL, err);
    if (code == LKS_OK)
        code =
            lks_pq_ask(pq, TAKE,
                       LKS_VALUES(LKS_NUMBER_VALUE(claim->now), LKS_COUNT_VALUE(claim->site_max),
                                  LKS_COUNT_VALUE(claim->max), LKS_COUNT_VALUE(claim->all_max),
                                  LKS_BYTES_VALUE(claim->holder), LKS_NUMBER_VALUE(claim->until)),
                       &result, err);
    for (int row = 0; code == LKS_OK && row < PQntuples(result); row++) {
        struct lks_store_task task = {0};
        if (!task_of(result, row, &task))
            return lks_pq_damaged(pq, "a task cannot be read", err);
        fn(ctx, &task);
    }
    return code;
}

enum lks_code lks_pq_task_done(void *self, struct lks_str holder, struct lks_str name, lks_ms due,
                               uint32_t failures, struct lks_err *err)
{
    struct lks_pq *pq = self;
    enum lks_code code = lks_pq_ask(pq, LKS_RELATIONAL_TASK_DONE,
                                    LKS_VALUES(LKS_NUMBER_VALUE(due), LKS_NUMBER_VALUE(failures),
                                               LKS_BYTES_VALUE(holder), LKS_BYTES_VALUE(name)),
                                    NULL, err);
    if (code == LKS_OK && pq->affected == 0)
        code = lks_store_done_refused(holder, name, err);
    return code;
}
