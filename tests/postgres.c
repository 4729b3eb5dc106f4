#include "tests/postgres.h"

#include "base/compiler.h"
#include "tests/test.h"
#include "tests/wait.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <libpq-fe.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH_SIZE = 256, ARGS_MAX = 16, CHILDREN_MAX = 128, FIRST_PORT = 5501 };

static const char *const names[] = {"a", "b"};

/* ---- programs ---- */

/* The newest there is of Debian's folders; elsewhere they are in the path. */
static void program_path(const char *program, char out[PATH_SIZE])
{
    for (int version = 20; version >= 14; version--) {
        snprintf(out, PATH_SIZE, "/usr/lib/postgresql/%d/bin/%s", version, program);
        if (access(out, X_OK) == 0)
            return;
    }
    snprintf(out, PATH_SIZE, "%s", program);
}

static const struct passwd *runs_as(void)
{
    const struct passwd *user = getuid() == 0 ? getpwnam("postgres") : getpwuid(getuid());
    return user != NULL ? user : getpwnam("nobody");
}

/* In the child: become that user, end with the test, and say nothing but into the log. */
static void become(const struct pg *pg, const struct passwd *user)
{
    char log[PATH_SIZE];
    snprintf(log, sizeof(log), "%s/log", pg->tree.path);
    int out = open(log, O_WRONLY | O_CREAT | O_APPEND, 0666);
    bool ok = out >= 0 && dup2(out, STDOUT_FILENO) >= 0 && dup2(out, STDERR_FILENO) >= 0;
    if (ok && getuid() == 0)
        ok = fchmod(out, 0666) == 0 && setgroups(0, NULL) == 0 && setgid(user->pw_gid) == 0 &&
             setuid(user->pw_uid) == 0;
    if (!ok || chdir(pg->tree.path) != 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
        _exit(127);
}

/* It finds the others by the path it was called with. */
static pid_t spawn(const struct pg *pg, const char *const *argv)
{
    char path[PATH_SIZE], *args[ARGS_MAX] = {path};
    const struct passwd *user = runs_as();
    program_path(argv[0], path);
    for (size_t i = 1; argv[i] != NULL; i++) {
        LKS_ASSERT(i < ARGS_MAX - 1);
        args[i] = (char *)(uintptr_t)argv[i]; /* they are only read */
    }
    LKS_ASSERT(user != NULL);
    pid_t pid = fork();
    if (pid == 0) {
        char where[] = "PATH=/usr/bin:/bin", language[] = "LC_ALL=C";
        char *const environment[] = {where, language, NULL};
        become(pg, user);
        execvpe(path, args, environment);
        _exit(127);
    }
    CHECK(pid > 0);
    return pid;
}

static bool run(const struct pg *pg, const char *const *argv)
{
    int status = -1;
    pid_t pid = spawn(pg, argv);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    bool ok = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (!ok)
        fprintf(stderr, "%s failed; what it said is in %s/log\n", argv[0], pg->tree.path);
    return CHECK(ok);
}

/* ---- where they are ---- */

static void data_path(const struct pg *pg, enum pg_place place, char out[PATH_SIZE])
{
    snprintf(out, PATH_SIZE, "%s/%s", pg->tree.path, names[place]);
}

const char *pg_conninfo_of(const struct pg *pg, enum pg_place place, const char *name,
                           char out[PG_CONNINFO_SIZE])
{
    snprintf(out, PG_CONNINFO_SIZE, "host=%s port=%d user=postgres dbname=%s", pg->tree.path,
             FIRST_PORT + (int)place, name);
    return out;
}

const char *pg_conninfo(const struct pg *pg, const char *name, char out[PG_CONNINFO_SIZE])
{
    snprintf(out, PG_CONNINFO_SIZE,
             "host=%s,%s port=%d,%d user=postgres dbname=%s target_session_attrs=read-write",
             pg->tree.path, pg->tree.path, FIRST_PORT, FIRST_PORT + 1, name);
    return out;
}

static bool configure(const struct pg *pg, enum pg_place place, const char *lines)
{
    char path[PATH_SIZE];
    data_path(pg, place, path);
    strncat(path, "/postgresql.auto.conf", sizeof(path) - strlen(path) - 1);
    FILE *file = fopen(path, "ae");
    bool ok = file != NULL && fputs(lines, file) >= 0;
    if (file != NULL)
        ok = fclose(file) == 0 && ok;
    return CHECK(ok);
}

/* ---- one server ---- */

static bool wait_ready(struct pg *pg, enum pg_place place)
{
    char conninfo[PG_CONNINFO_SIZE];
    pg_conninfo_of(pg, place, "postgres", conninfo);
    for (struct lks_wait w = {0}; lks_wait(&w);) {
        int status = 0;
        if (PQping(conninfo) == PQPING_OK)
            return true;
        if (waitpid(pg->pids[place], &status, WNOHANG) == pg->pids[place]) {
            pg->pids[place] = 0;
            break;
        }
    }
    fprintf(stderr, "server %s does not come up; its log is in %s/log\n", names[place],
            pg->tree.path);
    return CHECK(false);
}

bool pg_revive(struct pg *pg, enum pg_place place)
{
    char data[PATH_SIZE];
    data_path(pg, place, data);
    LKS_ASSERT(pg->pids[place] == 0);
    pg->pids[place] = spawn(pg, (const char *[]){"postgres", "-D", data, NULL});
    return wait_ready(pg, place);
}

static size_t children_of(pid_t pid, pid_t out[CHILDREN_MAX])
{
    char path[PATH_SIZE];
    int child = 0;
    size_t count = 0;
    snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
    FILE *file = fopen(path, "re");
    while (file != NULL && count < CHILDREN_MAX && fscanf(file, "%d", &child) == 1)
        out[count++] = child;
    if (file != NULL)
        (void)fclose(file);
    return count;
}

/* Its children become ours when it is gone (we asked for that), and are collected like it. */
void pg_kill(struct pg *pg, enum pg_place place)
{
    pid_t children[CHILDREN_MAX];
    pid_t pid = pg->pids[place];
    if (pid == 0)
        return;
    size_t count = children_of(pid, children);
    (void)kill(pid, SIGKILL);
    for (size_t i = 0; i < count; i++)
        (void)kill(children[i], SIGKILL);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    for (size_t i = 0; i < count; i++) {
        while (waitpid(children[i], NULL, 0) < 0 && errno == EINTR)
            ;
    }
    pg->pids[place] = 0;
}

static void signal_all(const struct pg *pg, enum pg_place place, int number)
{
    pid_t children[CHILDREN_MAX];
    size_t count = children_of(pg->pids[place], children);
    (void)kill(pg->pids[place], number);
    for (size_t i = 0; i < count; i++)
        (void)kill(children[i], number);
}

void pg_freeze(const struct pg *pg, enum pg_place place)
{
    signal_all(pg, place, SIGSTOP);
}

void pg_thaw(const struct pg *pg, enum pg_place place)
{
    signal_all(pg, place, SIGCONT);
}

void pg_kill_primary(struct pg *pg)
{
    pg_kill(pg, pg->primary);
}

static void say_nothing(void *ctx, const PGresult *notice)
{
    (void)ctx;
    (void)notice;
}

bool pg_sql_of(const struct pg *pg, enum pg_place place, const char *name, const char *statements)
{
    char conninfo[PG_CONNINFO_SIZE];
    PGconn *conn = PQconnectdb(pg_conninfo_of(pg, place, name, conninfo));
    (void)PQsetNoticeReceiver(conn, say_nothing, NULL);
    PGresult *result = PQexec(conn, statements);
    ExecStatusType status = PQresultStatus(result);
    bool ok = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
    if (!ok)
        fprintf(stderr, "%s: %s", statements, PQerrorMessage(conn));
    PQclear(result);
    PQfinish(conn);
    return ok;
}

bool pg_sql(const struct pg *pg, const char *name, const char *statements)
{
    return pg_sql_of(pg, pg->primary, name, statements);
}

#define EITHER "'ANY 1 (a, b)'"

bool pg_synchronous(const struct pg *pg, bool on)
{
    return CHECK(pg_sql(pg, "postgres",
                        on ? "ALTER SYSTEM SET synchronous_standby_names = " EITHER
                           : "ALTER SYSTEM SET synchronous_standby_names = ''")) &&
           CHECK(pg_sql(pg, "postgres", "SELECT pg_reload_conf()"));
}

/* ---- one and two ---- */

bool pg_start_one(struct pg *pg)
{
    char data[PATH_SIZE], lines[1024];
    *pg = (struct pg){.tree = lks_tree_new()};
    const struct passwd *user = runs_as();
    LKS_ASSERT(user != NULL);
    CHECK(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
    CHECK(chown(pg->tree.path, user->pw_uid, user->pw_gid) == 0 || getuid() != 0);
    data_path(pg, PG_A, data);
    if (!run(pg, (const char *[]){"initdb", "-D", data, "-U", "postgres", "--auth-local=trust",
                                  "--auth-host=reject", "--no-locale", "-E", "UTF8", "--no-sync",
                                  NULL}))
        return false;
    snprintf(lines, sizeof(lines),
             "listen_addresses = ''\nunix_socket_directories = '%s'\nport = %d\n"
             "cluster_name = 'a'\nmax_wal_senders = 8\nwal_keep_size = '64MB'\n"
             "wal_retrieve_retry_interval = '100ms'\nshared_buffers = '16MB'\n"
             "max_connections = 40\nautovacuum = off\njit = off\n",
             pg->tree.path, FIRST_PORT);
    return configure(pg, PG_A, lines) && pg_revive(pg, PG_A);
}

static bool copy_from_primary(struct pg *pg, enum pg_place place)
{
    char data[PATH_SIZE], from[PG_CONNINFO_SIZE], lines[128];
    data_path(pg, place, data);
    pg_conninfo_of(pg, pg->primary, "postgres", from);
    snprintf(lines, sizeof(lines), "port = %d\ncluster_name = '%s'\n", FIRST_PORT + (int)place,
             names[place]);
    return run(pg, (const char *[]){"pg_basebackup", "-d", from, "-D", data, "-R", "-X", "stream",
                                    "-c", "fast", "--no-sync", NULL}) &&
           configure(pg, place, lines) && pg_revive(pg, place);
}

/* The standby streams, and commits wait for it. */
static bool wait_synchronous(const struct pg *pg)
{
    char conninfo[PG_CONNINFO_SIZE];
    PGconn *conn = PQconnectdb(pg_conninfo_of(pg, pg->primary, "postgres", conninfo));
    bool there = false;
    for (struct lks_wait w = {0}; !there && lks_wait(&w);) {
        PGresult *result = PQexec(conn, "SELECT FROM pg_stat_replication WHERE state = 'streaming' "
                                        "AND sync_state IN ('sync', 'quorum')");
        there = PQntuples(result) > 0;
        PQclear(result);
    }
    PQfinish(conn);
    return CHECK(there);
}

bool pg_add_standby(struct pg *pg)
{
    return copy_from_primary(pg, PG_B) && pg_synchronous(pg, true) && wait_synchronous(pg);
}

bool pg_start_pair(struct pg *pg)
{
    return pg_start_one(pg) && pg_add_standby(pg);
}

bool pg_promote(struct pg *pg)
{
    char conninfo[PG_CONNINFO_SIZE];
    pg->primary = pg->primary == PG_A ? PG_B : PG_A;
    if (!CHECK(pg_sql(pg, "postgres", "SELECT pg_promote(false)")))
        return false;
    pg_conninfo_of(pg, pg->primary, "postgres", conninfo);
    strncat(conninfo, " target_session_attrs=read-write", sizeof(conninfo) - strlen(conninfo) - 1);
    for (struct lks_wait w = {0}; lks_wait(&w);) {
        PGconn *conn = PQconnectdb(conninfo);
        bool writes = PQstatus(conn) == CONNECTION_OK;
        PQfinish(conn);
        if (writes)
            return true;
    }
    return CHECK(false);
}

bool pg_rejoin_old(struct pg *pg)
{
    enum pg_place old = pg->primary == PG_A ? PG_B : PG_A;
    struct lks_tree data = {0};
    pg_kill(pg, old);
    snprintf(data.path, sizeof(data.path), "%.60s/%s", pg->tree.path, names[old]);
    lks_tree_free(&data);
    return copy_from_primary(pg, old) && pg_synchronous(pg, true) && wait_synchronous(pg);
}

void pg_free(struct pg *pg)
{
    pg_kill(pg, PG_A);
    pg_kill(pg, PG_B);
    lks_tree_free(&pg->tree);
}
