/* rpm keeps its database in one of three formats. SQLite, its own since 4.16, is read here; for
 * Berkeley DB and ndb the rpm program is asked. Either way the answer is one line, a word a
 * package: NAME=EPOCH:VERSION-RELEASE.ARCH. */
#include "codec/package/rpmheader.h"
#include "probe/package/packages.h"
#include "probe/root/command.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    PREFIX_SIZE = 16384,   /* bytes of a header that are enough for most */
    HEADER_MAX = 64 << 20, /* bytes of one header */
    STEPS_MAX = 20000,     /* of SQLite's machine, in thousands */
    RPM_MS = 20 * 1000,    /* the program reads a whole database */
    DAMAGED = '?',         /* in the place of a package whose header cannot be read */
};

static const char *const dirs[] = {"/usr/lib/sysimage/rpm", "/var/lib/rpm"};

/* The files of the other formats. */
static const struct lks_str_pair others[] = {{"Packages", "Berkeley DB"}, {"Packages.db", "ndb"}};

struct source {
    struct lks_root *root;
    const char *path;
};

/* SQLite ------------------------------------------------------------------------------------- */

static int count_steps(void *ctx)
{
    return ++*(int *)ctx > STEPS_MAX; /* true ends it */
}

static enum lks_code fail_sql(sqlite3 *db, const char *path, struct lks_err *err)
{
    return lks_fail(err, LKS_E_INVALID, "%s: %s", path, sqlite3_errmsg(db));
}

/* Read-only and taken as it is: no lock, no journal, no file made beside it. */
static enum lks_code open_sql(int fd, const char *path, sqlite3 **db, struct lks_err *err)
{
    char uri[64];
    snprintf(uri, sizeof(uri), "file:/proc/self/fd/%d?mode=ro&immutable=1", fd);
    int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX;
    if (sqlite3_open_v2(uri, db, flags, NULL) != SQLITE_OK)
        return fail_sql(*db, path, err);
    (void)sqlite3_db_config(*db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    (void)sqlite3_db_config(*db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    return LKS_OK;
}

static void add_header(const struct lks_rpmheader *h, struct lks_buf *out)
{
    lks_buf_addf(out, "%" LKS_STR_FMT "=", LKS_STR_ARG(h->name));
    if (h->epoch >= 0)
        lks_buf_addf(out, "%lld:", (long long)h->epoch);
    lks_buf_addf(out, "%" LKS_STR_FMT "-%" LKS_STR_FMT ".%" LKS_STR_FMT " ",
                 LKS_STR_ARG(h->version), LKS_STR_ARG(h->release),
                 LKS_STR_ARG(h->arch.len > 0 ? h->arch : LKS_STR("none")));
}

/* The first `size` bytes of a header, parsed. */
static bool read_prefix(sqlite3_blob *blob, size_t size, struct lks_buf *out, bool *short_of)
{
    *short_of = false;
    char *bytes = malloc(size > 0 ? size : 1);
    if (bytes == NULL)
        return false;
    struct lks_rpmheader header;
    struct lks_err err;
    size_t whole = (size_t)sqlite3_blob_bytes(blob);
    bool ok = sqlite3_blob_read(blob, bytes, (int)size, 0) == SQLITE_OK &&
              lks_rpmheader_parse((struct lks_str){bytes, size}, whole, &header, short_of, &err) ==
                  LKS_OK;
    if (ok)
        add_header(&header, out);
    free(bytes);
    return ok;
}

static void read_blob(sqlite3_blob *blob, struct lks_buf *out)
{
    size_t whole = (size_t)sqlite3_blob_bytes(blob);
    bool short_of = false;
    bool ok = read_prefix(blob, whole < PREFIX_SIZE ? whole : PREFIX_SIZE, out, &short_of);
    if (!ok && short_of && whole <= HEADER_MAX)
        ok = read_prefix(blob, whole, out, &short_of);
    if (!ok)
        lks_buf_addf(out, "%c ", DAMAGED);
}

/* The headers are read as blobs, from their beginnings, and not selected: most of the bytes of the
 * database are lists of files behind what we want. */
static enum lks_code read_headers(sqlite3 *db, struct source *s, sqlite3_stmt *rows,
                                  sqlite3_blob **blob, struct lks_buf *out, struct lks_err *err)
{
    for (int count = 0;; count++) {
        int step = sqlite3_step(rows);
        if (step == SQLITE_DONE)
            return LKS_OK;
        if (step != SQLITE_ROW)
            return fail_sql(db, s->path, err);
        if (count == LKS_PACKAGES_MAX)
            return lks_fail(err, LKS_E_LIMIT, "%s: more than %d packages", s->path,
                            LKS_PACKAGES_MAX);
        sqlite3_int64 row = sqlite3_column_int64(rows, 0);
        int opened = *blob != NULL
                         ? sqlite3_blob_reopen(*blob, row)
                         : sqlite3_blob_open(db, "main", "Packages", "blob", row, 0, blob);
        if (opened != SQLITE_OK)
            return fail_sql(db, s->path, err);
        read_blob(*blob, out);
        lks_root_alive(s->root, s->path);
    }
}

/* Files beside the database with changes that are not in it yet, or not all. rpm cannot be asked
 * about them either: to read them it writes. */
static const char *const changes[] = {"-wal", "-journal"};

/* UNAVAILABLE where rpm is at work, or was cut short. What cannot be looked at is not known to be
 * quiet. */
static enum lks_code check_quiet(struct lks_root *root, const char *path, struct lks_err *err)
{
    for (size_t i = 0; i < LKS_COUNT(changes); i++) {
        char beside[LKS_ROOT_PATH_MAX];
        struct stat st;
        snprintf(beside, sizeof(beside), "%.4000s%s", path, changes[i]);
        enum lks_code code = lks_root_stat(root, beside, &st, err);
        if (code != LKS_OK && code != LKS_E_NOT_FOUND)
            return code;
        if (code == LKS_OK && st.st_size > 0)
            return lks_fail(err, LKS_E_UNAVAILABLE,
                            "%s: rpm is at work or was cut short, its changes are still in "
                            "rpmdb.sqlite%s",
                            path, changes[i]);
    }
    return LKS_OK;
}

/* No lock was held: what was read counts if the file was not written meanwhile. */
static enum lks_code check_same(const struct source *s, int fd, const struct stat *before,
                                struct lks_err *err)
{
    struct stat now;
    if (fstat(fd, &now) != 0 || now.st_size != before->st_size ||
        now.st_mtim.tv_sec != before->st_mtim.tv_sec ||
        now.st_mtim.tv_nsec != before->st_mtim.tv_nsec ||
        now.st_ctim.tv_sec != before->st_ctim.tv_sec ||
        now.st_ctim.tv_nsec != before->st_ctim.tv_nsec)
        return lks_fail(err, LKS_E_UNAVAILABLE, "%s: rpm changed it while it was read", s->path);
    return check_quiet(s->root, s->path, err);
}

static enum lks_code read_db_file(struct source *s, int fd, struct lks_buf *out,
                                  struct lks_err *err)
{
    int steps = 0;
    sqlite3 *db = NULL;
    sqlite3_stmt *rows = NULL;
    sqlite3_blob *blob = NULL;
    enum lks_code code = open_sql(fd, s->path, &db, err);
    if (code == LKS_OK) {
        sqlite3_progress_handler(db, 1000, count_steps, &steps);
        if (sqlite3_prepare_v2(db, "SELECT hnum FROM Packages", -1, &rows, NULL) != SQLITE_OK)
            code = fail_sql(db, s->path, err);
    }
    if (code == LKS_OK)
        code = read_headers(db, s, rows, &blob, out, err);
    (void)sqlite3_blob_close(blob);
    (void)sqlite3_finalize(rows);
    (void)sqlite3_close(db);
    return code;
}

static enum lks_code read_sqlite(void *ctx, struct lks_buf *out, struct lks_err *err)
{
    struct source *s = ctx;
    struct lks_err torn;
    struct stat st;
    int fd = -1;
    if (lks_root_file(s->root, s->path, &fd, &st, err) != LKS_OK)
        return err->code;
    enum lks_code code = check_quiet(s->root, s->path, err);
    if (code == LKS_OK) {
        code = read_db_file(s, fd, out, err);
        /* A database that seems damaged may have been written to. */
        enum lks_code same = check_same(s, fd, &st, &torn);
        if (same != LKS_OK) {
            *err = torn;
            code = same;
        }
    }
    (void)close(fd);
    return code;
}

/* The other formats -------------------------------------------------------------------------- */

static enum lks_code ask_rpm(struct lks_root *root, const char *dir, const char *why,
                             struct lks_buf *out, struct lks_err *err)
{
    static const char format[] =
        "%{NAME}=%|EPOCH?{%{EPOCH}:}:{}|%{VERSION}-%{RELEASE}.%|ARCH?{%{ARCH}}:{none}|\\n";
    const char *args[] = {"-qa", "--dbpath", dir, "--qf", format, NULL};
    char path[LKS_ROOT_PATH_MAX];
    struct stat st;
    size_t at = 0;
    if (lks_command_find(root, "rpm", &at, path, &st, err) != LKS_OK)
        return lks_fail(err, LKS_E_UNAVAILABLE, "%s: %s, and there is no rpm to ask", dir, why);
    struct lks_command c;
    lks_command_start(&c, root, path, args, LKS_COMMAND_OUTPUT_MAX, LKS_COMMAND_QUIET, RPM_MS);
    enum lks_code code = lks_command_collect(&c, root, out, err);
    if (code == LKS_E_NOT_FOUND)
        return lks_fail(err, LKS_E_UNAVAILABLE, "%s: %s, and what rpm says was not captured", dir,
                        why);
    return code != LKS_OK ? lks_wrap(err, "%s: %s; rpm", dir, why) : LKS_OK;
}

/* The database in `dir` as one line, or NOT_FOUND. `seen` is the one that was read before: the two
 * directories may be one. */
static enum lks_code read_db(struct lks_root *root, const char *dir, struct stat *seen,
                             struct lks_buf *out, char where[LKS_ROOT_PATH_MAX],
                             struct lks_err *err)
{
    struct stat st;
    snprintf(where, LKS_ROOT_PATH_MAX, "%s/rpmdb.sqlite", dir);
    enum lks_code code = lks_root_stat(root, where, &st, err);
    if (code == LKS_OK) {
        if (st.st_ino == seen->st_ino && st.st_dev == seen->st_dev)
            return LKS_OK;
        *seen = st;
        struct source s = {root, where};
        return lks_root_ask_file(root, "rpm", where, read_sqlite, &s, out, err);
    }
    for (size_t i = 0; i < LKS_COUNT(others) && code == LKS_E_NOT_FOUND; i++) {
        snprintf(where, LKS_ROOT_PATH_MAX, "%s/%s", dir, others[i].name);
        code = lks_root_stat(root, where, &st, err);
        if (code != LKS_OK || (st.st_ino == seen->st_ino && st.st_dev == seen->st_dev))
            continue;
        *seen = st;
        char why[64];
        snprintf(why, sizeof(why), "is in the format of %s", others[i].value);
        return ask_rpm(root, dir, why, out, err);
    }
    return code;
}

/* The answer --------------------------------------------------------------------------------- */

static bool last_cut(struct lks_str s, char sep, struct lks_str *head, struct lks_str *tail)
{
    for (size_t i = s.len; i > 0; i--) {
        if (s.ptr[i - 1] != sep)
            continue;
        *head = (struct lks_str){s.ptr, i - 1};
        *tail = (struct lks_str){s.ptr + i, s.len - i};
        return true;
    }
    return false;
}

/* "1.el9_4" is 1: what begins with a letter says for whom it was built. */
static struct lks_str without_dist(struct lks_str full)
{
    struct lks_str head, tail;
    while (last_cut(full, '.', &head, &tail) && tail.len > 0 &&
           (tail.ptr[0] < '0' || tail.ptr[0] > '9') && lks_str_find(head, LKS_STR("-")) > 0)
        full = head;
    return full;
}

static void hand_on(struct lks_str word, lks_installed_fn *fn, void *ctx)
{
    struct lks_str name, evr, epoch, rest, arch, release;
    struct lks_installed i = {.state = LKS_STR("installed")};
    if (lks_str_cut(word, '=', &name, &evr) && last_cut(evr, '.', &evr, &arch)) {
        i.name = name;
        i.version = evr;
        i.full = lks_str_cut(evr, ':', &epoch, &rest) ? rest : evr;
    }
    if (!last_cut(i.full, '-', &i.upstream, &release) || name.len == 0 || i.upstream.len == 0)
        i.fault = "cannot be read";
    i.full = without_dist(i.full);
    fn(ctx, &i);
}

enum lks_code lks_packages_rpm(struct lks_root *root, lks_installed_fn *fn, void *ctx,
                               char where[LKS_ROOT_PATH_MAX], struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf line = LKS_BUF(LKS_COMMAND_OUTPUT_MAX);
    struct stat seen = {0};
    char path[LKS_ROOT_PATH_MAX];
    bool found = false;
    for (size_t i = 0; i < LKS_COUNT(dirs); i++) {
        enum lks_code code = read_db(root, dirs[i], &seen, &line, path, err);
        if (code == LKS_E_NOT_FOUND)
            continue;
        if (!found || code != LKS_OK)
            snprintf(where, LKS_ROOT_PATH_MAX, "%s", path);
        found = true;
        if (code != LKS_OK)
            return code;
        lks_buf_addc(&line, ' ');
    }
    if (!found)
        return lks_fail(err, LKS_E_NOT_FOUND, "%s: not there", dirs[1]);
    if (lks_buf_check(&line, err) != LKS_OK)
        return err->code;
    struct lks_str rest = lks_buf_view(&line), word;
    while (lks_str_word(&rest, &word))
        hand_on(word, fn, ctx);
    return LKS_OK;
}
