/*
 * The question of admission as SQL: how many of these names there are, and whether anything stands
 * in the way of one of them or two of them differ. The table has a row for each node, found by its
 * name, with all that is asked for in it. The names lie ready in the form each way takes them.
 */
#ifndef LKS_BENCH_SQL_H
#define LKS_BENCH_SQL_H

#include "base/str.h"

/* Jobs to ask about, again and again: `count` of them with `nodes` names each. */
struct bench_jobs {
    struct lks_str *names; /* job by job */
    uint32_t count, nodes;
};

/* A database that is warm, and the fastest way to ask it that we know. There is one of each. */
struct bench_sql;

/* NULL: it is not installed. */
struct bench_sql *bench_sqlite_new(const struct bench_jobs *jobs);
struct bench_sql *bench_postgres_new(const struct bench_jobs *jobs);
void bench_sql_free(struct bench_sql *s);

/* "SQLite, temporary table". */
const char *bench_sql_name(const struct bench_sql *s);

/* Ask about a job. Another answer than yes ends the part. */
void bench_sql_ask(struct bench_sql *s, uint32_t job);

#endif
