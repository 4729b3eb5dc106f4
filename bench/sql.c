#include "bench/sql.h"

#include "base/buf.h"
#include "bench/measure.h"
#include "bench/site.h"
#include "tests/postgres.h"

#include <glob.h>
#include <libpq-fe.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { WAYS = 3, TRIES = 30, TEXT_MAX = 1 << 20, NAME_SIZE = 64 };

struct bench_sql;

struct way {
    const char *name;
    void (*ask)(struct bench_sql *s, uint32_t job);
};

struct bench_sql {
    const struct bench_jobs *jobs;
    char name[NAME_SIZE];
    const struct way *way; /* the fastest */
    struct lks_buf *lists; /* the names of each job as one text */
    /* SQLite */
    char path[256];
    sqlite3 *db;
    sqlite3_stmt *among, *forget, *name_one, *joined, *unfolded;
    /* PostgreSQL */
    struct pg pg;
    PGconn *conn;
};

/* Everything that is asked, of the rows that were found. */
#define CHECKS                                                                                     \
    "SELECT count(*), max(bars), min(liveness), max(liveness), max(judged), min(stack), "          \
    "max(stack), min(vals), max(vals), min(pool), max(pool) FROM "
enum { LIVE = 1, CONFORMS = 1, FOUND = 0, BARS, LIVE_MIN, LIVE_MAX, JUDGED, PAIRS, COLUMNS = 11 };

static void check(const struct bench_sql *s, const int64_t found[COLUMNS])
{
    bool yes = found[FOUND] == s->jobs->nodes && found[BARS] == 0 && found[LIVE_MIN] == LIVE &&
               found[LIVE_MAX] == LIVE && found[JUDGED] == CONFORMS;
    for (size_t i = PAIRS; i < COLUMNS; i += 2)
        yes = yes && found[i] == found[i + 1];
    if (!yes)
        bench_die(s->name, "it found something else than there is");
}

static const struct lks_str *names_of(const struct bench_sql *s, uint32_t job)
{
    return s->jobs->names + (size_t)job * s->jobs->nodes;
}

/* "[\"a\",\"b\"]" or "{a,b}". */
static void make_lists(struct bench_sql *s, const char *open, const char *quote, const char *end)
{
    s->lists = calloc(s->jobs->count, sizeof(*s->lists));
    for (uint32_t job = 0; s->lists != NULL && job < s->jobs->count; job++) {
        struct lks_buf *out = &s->lists[job];
        lks_buf_init(out, TEXT_MAX);
        for (uint32_t i = 0; i < s->jobs->nodes; i++)
            lks_buf_addf(out, "%s%s%" LKS_STR_FMT "%s", i == 0 ? open : ",", quote,
                         LKS_STR_ARG(names_of(s, job)[i]), quote);
        lks_buf_addf(out, "%s", end);
        if (out->failed != LKS_OK)
            bench_die(s->name, "the names are too long");
    }
    if (s->lists == NULL)
        bench_die(s->name, "no memory");
}

/* The way that answers soonest from now on, all of them having been warm. */
static void choose(struct bench_sql *s, const char *what, const struct way *ways)
{
    double best = 0;
    for (size_t w = 0; w < WAYS; w++) {
        double took[TRIES];
        for (uint32_t i = 0; i < TRIES; i++) {
            double begun = bench_now_ms();
            ways[w].ask(s, i * 7 % s->jobs->count); /* of both kinds */
            took[i] = bench_now_ms() - begun;
        }
        double median = bench_median(took, TRIES);
        if (s->way == NULL || median < best) {
            s->way = &ways[w];
            best = median;
        }
    }
    snprintf(s->name, sizeof(s->name), "%s, %s", what, s->way->name);
}

/* SQLite ------------------------------------------------------------------------------------- */

static void lite(struct bench_sql *s, const char *text)
{
    if (sqlite3_exec(s->db, text, NULL, NULL, NULL) != SQLITE_OK)
        bench_die(s->name, sqlite3_errmsg(s->db));
}

static sqlite3_stmt *prepare(struct bench_sql *s, const char *text)
{
    sqlite3_stmt *made = NULL;
    if (sqlite3_prepare_v3(s->db, text, -1, SQLITE_PREPARE_PERSISTENT, &made, NULL) != SQLITE_OK)
        bench_die(s->name, sqlite3_errmsg(s->db));
    return made;
}

static void answer(struct bench_sql *s, sqlite3_stmt *query)
{
    int64_t found[COLUMNS];
    if (sqlite3_step(query) != SQLITE_ROW)
        bench_die(s->name, sqlite3_errmsg(s->db));
    for (int i = 0; i < COLUMNS; i++)
        found[i] = sqlite3_column_int64(query, i);
    sqlite3_reset(query);
    check(s, found);
}

static void bind(sqlite3_stmt *query, int at, struct lks_str text)
{
    (void)sqlite3_bind_text(query, at, text.ptr, (int)text.len, SQLITE_STATIC);
}

static void ask_among(struct bench_sql *s, uint32_t job)
{
    for (uint32_t i = 0; i < s->jobs->nodes; i++)
        bind(s->among, (int)i + 1, names_of(s, job)[i]);
    answer(s, s->among);
}

static void ask_joined(struct bench_sql *s, uint32_t job)
{
    (void)sqlite3_step(s->forget);
    sqlite3_reset(s->forget);
    for (uint32_t i = 0; i < s->jobs->nodes; i++) {
        bind(s->name_one, 1, names_of(s, job)[i]);
        (void)sqlite3_step(s->name_one);
        sqlite3_reset(s->name_one);
    }
    answer(s, s->joined);
}

static void ask_unfolded(struct bench_sql *s, uint32_t job)
{
    bind(s->unfolded, 1, lks_buf_view(&s->lists[job]));
    answer(s, s->unfolded);
}

static void fill(struct bench_sql *s)
{
    sqlite3_stmt *row = prepare(s, "INSERT INTO nodes VALUES (?1, 1, 1, 1, 1, 1, 0)");
    char name[BENCH_SITE_NAME_SIZE];
    lite(s, "BEGIN");
    for (uint32_t i = 0; i < BENCH_SITE_NODES; i++) {
        bind(row, 1, lks_str_from(bench_site_name(i, name)));
        if (sqlite3_step(row) != SQLITE_DONE)
            bench_die(s->name, sqlite3_errmsg(s->db));
        sqlite3_reset(row);
    }
    sqlite3_finalize(row);
    lite(s, "COMMIT; ANALYZE");
}

static sqlite3_stmt *prepare_among(struct bench_sql *s)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
    lks_buf_init(&text, TEXT_MAX);
    lks_buf_addf(&text, CHECKS "nodes WHERE name IN (?");
    for (uint32_t i = 1; i < s->jobs->nodes; i++)
        lks_buf_addf(&text, ",?");
    lks_buf_addf(&text, ")");
    return prepare(s, text.ptr);
}

/* The file is its alone, all of it is in its cache, and no lock is taken for a question. */
struct bench_sql *bench_sqlite_new(const struct bench_jobs *jobs)
{
    static const struct way ways[WAYS] = {
        {"IN (?, ...)", ask_among},
        {"temporary table", ask_joined},
        {"json_each", ask_unfolded},
    };
    static struct bench_sql one, *s = &one;
    const char *dir = getenv("TMPDIR");
    s->jobs = jobs;
    snprintf(s->name, sizeof(s->name), "SQLite");
    snprintf(s->path, sizeof(s->path), "%s/rival.db", dir != NULL ? dir : "/tmp");
    if (sqlite3_open(s->path, &s->db) != SQLITE_OK)
        bench_die(s->name, sqlite3_errmsg(s->db));
    lite(s, "PRAGMA cache_size = -262144; PRAGMA temp_store = MEMORY;"
            "PRAGMA locking_mode = EXCLUSIVE; PRAGMA synchronous = OFF;"
            "CREATE TABLE nodes (name TEXT PRIMARY KEY, pool INTEGER, stack INTEGER,"
            " liveness INTEGER, judged INTEGER, vals INTEGER, bars INTEGER) WITHOUT ROWID;"
            "CREATE TEMP TABLE asked (name TEXT)");
    fill(s);
    make_lists(s, "[", "\"", "]");
    s->among = prepare_among(s);
    s->forget = prepare(s, "DELETE FROM asked");
    s->name_one = prepare(s, "INSERT INTO asked VALUES (?1)");
    s->joined = prepare(s, CHECKS "asked CROSS JOIN nodes USING (name)");
    s->unfolded = prepare(s, CHECKS "json_each(?1) AS asked CROSS JOIN nodes "
                                    "ON nodes.name = asked.value");
    lite(s, "BEGIN");
    choose(s, "SQLite", ways);
    return s;
}

/* PostgreSQL --------------------------------------------------------------------------------- */

static void ask_prepared(struct bench_sql *s, const char *statement, uint32_t job)
{
    const char *list = s->lists[job].ptr;
    int64_t found[COLUMNS];
    PGresult *result = PQexecPrepared(s->conn, statement, 1, &list, NULL, NULL, 0);
    if (PQresultStatus(result) != PGRES_TUPLES_OK || PQnfields(result) != COLUMNS)
        bench_die(s->name, PQerrorMessage(s->conn));
    for (int i = 0; i < COLUMNS; i++)
        found[i] = strtoll(PQgetvalue(result, 0, i), NULL, 10);
    PQclear(result);
    check(s, found);
}

static void ask_any(struct bench_sql *s, uint32_t job)
{
    ask_prepared(s, "any", job);
}

static void ask_unnest(struct bench_sql *s, uint32_t job)
{
    ask_prepared(s, "unnest", job);
}

static void ask_nested(struct bench_sql *s, uint32_t job)
{
    ask_prepared(s, "nested", job);
}

static void post(struct bench_sql *s, PGresult *result)
{
    ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
        bench_die(s->name, PQerrorMessage(s->conn));
    PQclear(result);
}

static bool has_postgres(void)
{
    glob_t found = {0};
    bool has = glob("/usr/lib/postgresql/*/bin/postgres", 0, NULL, &found) == 0;
    globfree(&found);
    return has || bench_has_program("postgres");
}

/* With room for all of it in its own cache. */
static void start(struct bench_sql *s)
{
    const char *dir = getenv("TMPDIR");
    char conninfo[PG_CONNINFO_SIZE];
    if (dir != NULL && chmod(dir, 0711) != 0) /* root's server runs as somebody else */
        bench_die(dir, "its mode cannot be set");
    if (!pg_start_one(&s->pg) ||
        !pg_sql(&s->pg, "postgres", "ALTER SYSTEM SET shared_buffers = '256MB'"))
        bench_die(s->name, "it does not start");
    pg_kill(&s->pg, PG_A);
    if (!pg_revive(&s->pg, PG_A))
        bench_die(s->name, "it does not start again");
    s->conn = PQconnectdb(pg_conninfo_of(&s->pg, PG_A, "postgres", conninfo));
    if (PQstatus(s->conn) != CONNECTION_OK)
        bench_die(s->name, PQerrorMessage(s->conn));
}

struct bench_sql *bench_postgres_new(const struct bench_jobs *jobs)
{
    static const struct way ways[WAYS] = {
        {"= ANY($1)", ask_any},
        {"unnest($1)", ask_unnest},
        {"unnest($1), by index", ask_nested},
    };
    static const char *const made[] = {
        "CREATE TABLE nodes (name text PRIMARY KEY, pool int, stack int, liveness int, judged int,"
        " vals int, bars bigint)",
        "INSERT INTO nodes SELECT 'gpu' || lpad(i::text, 6, '0'), 1, 1, 1, 1, 1, 0"
        " FROM generate_series(1, 100000) AS i",
        "VACUUM (FREEZE, ANALYZE) nodes",
        "SET plan_cache_mode = force_generic_plan",
        "PREPARE \"any\" (text[]) AS " CHECKS "nodes WHERE name = ANY($1)",
        "PREPARE unnest (text[]) AS " CHECKS "unnest($1) AS asked (name) JOIN nodes USING (name)",
        "EXECUTE unnest ('{gpu000001}')", /* it is planned here, and the next one without a hash */
        "SET enable_hashjoin = off",
        "SET enable_mergejoin = off",
        "PREPARE nested (text[]) AS " CHECKS "unnest($1) AS asked (name) JOIN nodes USING (name)",
    };
    static struct bench_sql one, *s = &one;
    if (!has_postgres())
        return NULL;
    s->jobs = jobs;
    snprintf(s->name, sizeof(s->name), "PostgreSQL");
    start(s);
    for (size_t i = 0; i < LKS_COUNT(made); i++)
        post(s, PQexec(s->conn, made[i]));
    make_lists(s, "{", "", "}");
    choose(s, "PostgreSQL", ways);
    return s;
}

void bench_sql_free(struct bench_sql *s)
{
    if (s == NULL)
        return;
    sqlite3_stmt *const statements[] = {s->among, s->forget, s->name_one, s->joined, s->unfolded};
    for (size_t i = 0; i < LKS_COUNT(statements); i++)
        sqlite3_finalize(statements[i]);
    sqlite3_close(s->db);
    if (s->conn != NULL) {
        PQfinish(s->conn);
        pg_free(&s->pg);
    }
    for (uint32_t i = 0; i < s->jobs->count; i++)
        lks_buf_fini(&s->lists[i]);
    free(s->lists);
    *s = (struct bench_sql){0};
}

const char *bench_sql_name(const struct bench_sql *s)
{
    return s->name;
}

void bench_sql_ask(struct bench_sql *s, uint32_t job)
{
    s->way->ask(s, job);
}
