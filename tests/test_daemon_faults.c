/* lockstepd where the world around it is not as it should be: no room, no lock, no port, the wrong
 * key, a file of tomorrow, rude clients, an end in the middle of work. It says so in a line, loses
 * nothing it said yes to, serves well-behaved clients, and recovers by itself. */
#include "base/file.h"
#include "tests/controller.h"
#include "tests/test.h"
#include "tests/wait.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    NODES = 16,
    TEXT_MAX = 8 << 20,
    LOADERS = 4,
    ROUNDS = 10,
};

static const char settings[] = "http: {body_max: 65536}\n"
                               "rate: {people_per_s: 100000, burst: 1000000}\n"
                               "journal: {snapshot_rows: 100}\n";

/* Until /v1/ready says `status`. */
static bool wait_ready_is(const struct ctl *c, int status, struct lks_buf *answer)
{
    for (struct lks_wait w = {0}; lks_wait(&w);) {
        if (ctl_once(c, "GET", "/v1/ready", NULL, answer) == status)
            return true;
    }
    return lks_check(false, "ready changed in time", __FILE__, __LINE__);
}

static bool wait_log(const struct ctl *c, const char *text)
{
    for (struct lks_wait w = {0}; lks_wait(&w);) {
        if (lks_str_find(ctl_log(c), lks_str_from(text)) >= 0)
            return true;
    }
    return CHECK_HAS(ctl_log(c), text);
}

/* Writes that cannot be written --------------------------------------------------------------- */

/* A way to stop writes from working and to let them work again. */
struct obstacle {
    const char *name, *cause; /* what people are told */
    void (*set)(struct ctl *c);
    void (*lift)(struct ctl *c);
};

static void limit_files(struct ctl *c, rlim_t bytes)
{
    struct rlimit limit;
    CHECK(prlimit(c->pid, RLIMIT_FSIZE, NULL, &limit) == 0);
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    CHECK(prlimit(c->pid, RLIMIT_FSIZE, &limit, NULL) == 0);
}

static void allow_no_growth(struct ctl *c)
{
    limit_files(c, 1000);
}

static void allow_growth(struct ctl *c)
{
    limit_files(c, RLIM_INFINITY);
}

static void fill(struct ctl *c)
{
    static const char zeroes[65536];
    char path[128];
    snprintf(path, sizeof(path), "%s/filler", c->data);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    for (size_t piece = sizeof(zeroes); piece > 0;)
        piece = write(fd, zeroes, piece) > 0 ? piece : piece / 2;
    CHECK(fd >= 0 && close(fd) == 0);
}

static void empty(struct ctl *c)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/filler", c->data);
    CHECK(unlink(path) == 0);
}

static sqlite3 *other_writer;

/* SQLite's own handler sleeps longer and longer and would hardly meet a moment without a writer. */
static int try_again(void *ctx, int count)
{
    (void)count;
    lks_rest(1);
    return lks_wait_on(ctx);
}

static void lock(struct ctl *c)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/journal.db", c->data);
    struct lks_wait w = {0};
    CHECK_INT(sqlite3_open(path, &other_writer), SQLITE_OK);
    CHECK_INT(sqlite3_busy_handler(other_writer, try_again, &w), SQLITE_OK);
    CHECK_INT(sqlite3_exec(other_writer, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    CHECK_INT(sqlite3_busy_handler(other_writer, NULL, NULL), SQLITE_OK);
}

static void unlock(struct ctl *c)
{
    (void)c;
    CHECK_INT(sqlite3_exec(other_writer, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    CHECK_INT(sqlite3_close(other_writer), SQLITE_OK);
}

static const struct obstacle no_growth = {"files may not grow", "journal.db", allow_no_growth,
                                          allow_growth};
static const struct obstacle full_disk = {"the disk is full", "full", fill, empty};
static const struct obstacle locked = {"another program writes", "locked", lock, unlock};

/* Load goes on all the while: yes before, 503 with the cause meanwhile, yes again afterwards. */
static void obstruct(struct ctl *c, const struct obstacle *o, unsigned round)
{
    static struct ctl_load l;
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = {0};
    pid_t pid = c->pid;
    ctl_load_begin(&l, c, round, CTL_UNIX);
    ctl_load_works(&l, 1);
    o->set(c);
    if (wait_ready_is(c, 503, &answer)) {
        CHECK_HAS(lks_buf_view(&answer), "the journal cannot be written");
        CHECK_HAS(lks_buf_view(&answer), o->cause);
    }
    CHECK_INT(ctl_once(c, "POST", "/v1/nodes/n1/hold", "{\"reason\":\"no\"}", &answer), 503);
    CHECK_HAS(lks_buf_view(&answer), "\"type\":\"urn:lockstep:problem:unavailable\"");
    CHECK_HAS(lks_buf_view(&answer), "the journal cannot be written");
    CHECK_INT(ctl_once(c, "GET", "/v1/health", NULL, &answer), 200);
    CHECK_INT(ctl_once(c, "GET", "/metrics", NULL, &answer), 200);
    size_t before = l.yes_count;
    o->lift(c);
    CHECK(wait_ready_is(c, 200, &answer));
    CHECK_INT(ctl_once(c, "POST", "/v1/nodes/n0/hold", "{\"reason\":\"yes\"}", &answer), 200);
    CHECK_INT(ctl_once(c, "POST", "/v1/nodes/n0/release", "{\"reason\":\"yes\"}", &answer), 200);
    ctl_load_works(&l, before + 2);
    ctl_load_end(&l);
    CHECK_INT(c->pid, pid);
    CHECK(kill(pid, 0) == 0);
    ctl_load_kept(c, &l);
}

/* An end while nothing can be written is an end in time; what was not written was not said yes to.
 */
static void end_obstructed(struct ctl *c, const struct obstacle *o)
{
    static struct ctl_load l;
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = {0};
    ctl_load_begin(&l, c, 2, CTL_UNIX);
    ctl_load_works(&l, 1);
    o->set(c);
    CHECK(wait_ready_is(c, 503, &answer));
    CHECK_INT(ctl_stop(c), 0);
    ctl_load_end(&l);
    if (o != &no_growth)
        o->lift(c); /* the limit went with the process */
    ctl_load_kept(c, &l);
    CHECK(ctl_start(c));
    ctl_load_kept(c, &l);
}

static void obstruct_and_end(struct ctl *c, const struct obstacle *o)
{
    lks_test_case("%s", o->name);
    if (ctl_start(c)) {
        ctl_apply(c, NODES);
        obstruct(c, o, 0);
        obstruct(c, o, 1);
        end_obstructed(c, o);
        CHECK_INT(ctl_stop(c), 0);
    }
}

static void waits_for_room_and_locks(void)
{
    static const struct obstacle *const all[] = {&no_growth, &locked};
    for (size_t i = 0; i < LKS_COUNT(all); i++) {
        struct ctl c;
        ctl_init(&c, settings);
        obstruct_and_end(&c, all[i]);
        ctl_fini(&c);
    }
}

static bool write_proc(const char *path, const char *text)
{
    struct lks_err err = {0};
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool ok = fd >= 0 && lks_file_put(fd, path, lks_str_from(text), &err) == LKS_OK;
    if (fd >= 0)
        close(fd);
    return ok;
}

/* In a process of its own: a small disk that only it sees. */
static bool mount_disk(const char *where)
{
    char users[32], groups[32];
    snprintf(users, sizeof(users), "0 %u 1\n", (unsigned)geteuid());
    snprintf(groups, sizeof(groups), "0 %u 1\n", (unsigned)getegid());
    bool own = unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0;
    if (!own && unshare(CLONE_NEWNS) != 0)
        return false;
    if (own &&
        !(write_proc("/proc/self/uid_map", users) && write_proc("/proc/self/setgroups", "deny") &&
          write_proc("/proc/self/gid_map", groups)))
        return false;
    return mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("lks-test", where, "tmpfs", 0, "size=48m,mode=0700") == 0;
}

static struct lks_tree disk; /* its directory "disk" is one */

static void on_a_small_disk(void)
{
    struct ctl c = {.tree = disk};
    char data[80];
    snprintf(data, sizeof(data), "%s/disk/d", disk.path);
    ctl_init_at(&c, data, settings);
    obstruct_and_end(&c, &full_disk);
    if (c.pid != 0)
        ctl_kill(&c);
}

static void waits_for_a_full_disk(void)
{
    static const struct lks_test alone[] = {{"on a small disk", on_a_small_disk}, {0}};
    enum { NO_DISK = 2 };
    char where[80];
    int status = 0;
    disk = lks_tree_new();
    snprintf(where, sizeof(where), "%s/disk", disk.path);
    CHECK(mkdir(where, 0700) == 0);
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        int result = mount_disk(where) ? lks_test_main(alone) : NO_DISK;
        fflush(stdout);
        _exit(result);
    }
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status));
    if (WEXITSTATUS(status) == NO_DISK)
        printf("no disk can be mounted here: a full one is tested by the limit of file sizes\n");
    else
        CHECK_INT(WEXITSTATUS(status), 0);
    lks_tree_free(&disk);
}

/* Starts that are refused --------------------------------------------------------------------- */

static int held_port = -1; /* a listener of ours */

static void replace_in_config(struct ctl *c, const char *old, const char *new)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_MAX);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf made = LKS_BUF(TEXT_MAX);
    struct lks_err err = {0};
    CHECK_CODE(lks_file_read_plain(c->config, &text, &err), LKS_OK);
    ptrdiff_t at = lks_str_find(lks_buf_view(&text), lks_str_from(old));
    if (!CHECK(at >= 0))
        return;
    lks_buf_add(&made, (struct lks_str){text.ptr, (size_t)at});
    lks_buf_addf(&made, "%s%s", new, text.ptr + at + strlen(old));
    CHECK_CODE(lks_file_replace(c->config, lks_buf_view(&made), &err), LKS_OK);
}

static void write_file(struct ctl *c, const char *name, const char *text)
{
    char path[128];
    struct lks_err err = {0};
    snprintf(path, sizeof(path), "%s/%s", c->data, name);
    CHECK_CODE(lks_file_replace(path, lks_str_from(text), &err), LKS_OK);
}

static void change_schema(struct ctl *c, const char *text)
{
    char path[128];
    sqlite3 *db = NULL;
    snprintf(path, sizeof(path), "%s/journal.db", c->data);
    CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
    CHECK_INT(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
    CHECK_INT(sqlite3_close(db), SQLITE_OK);
}

static void newer_schema(struct ctl *c)
{
    change_schema(c, "PRAGMA user_version = 999");
}

static void no_database(struct ctl *c)
{
    write_file(c, "journal.db",
               "this is not a database, and it is longer than a header of one is, "
               "so that nobody takes it for a file that was just made");
}

static void no_journal(struct ctl *c)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/journal.db", c->data);
    CHECK(unlink(path) == 0);
}

static void edited_row(struct ctl *c)
{
    change_schema(c, "UPDATE journal SET time = time + 1 WHERE seq = 2");
}

static void no_first_row(struct ctl *c)
{
    change_schema(c, "DELETE FROM journal WHERE seq = 1");
}

static void no_site_ca(struct ctl *c)
{
    replace_in_config(c, "rate: {", "tls: {site_ca: /dev/null/none}\nrate: {");
}

static void bad_site_ca(struct ctl *c)
{
    replace_in_config(c, "rate: {", "tls: {site_ca: /proc/version}\nrate: {");
}

static void broken_yaml(struct ctl *c)
{
    replace_in_config(c, "http: {", "http: [");
}

static void unknown_key(struct ctl *c)
{
    replace_in_config(c, "snapshot_rows", "snapshot_row");
}

static void bad_number(struct ctl *c)
{
    replace_in_config(c, "snapshot_rows: 100", "snapshot_rows: many");
}

#define OTHER_KEY "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

static void other_seal_key(struct ctl *c)
{
    write_file(c, "seal.key", OTHER_KEY "\n");
}

static void bad_seal_key(struct ctl *c)
{
    write_file(c, "seal.key", "not-a-key-but-secret\n");
}

static void open_seal_key(struct ctl *c)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/seal.key", c->data);
    CHECK(chmod(path, 0644) == 0);
}

static void torn_secret(struct ctl *c)
{
    write_file(c, "secrets/ca.key.sealed", "torn");
}

static void taken_port(struct ctl *c)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof(at);
    char address[64];
    held_port = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(held_port >= 0 && bind(held_port, (struct sockaddr *)&at, size) == 0 &&
          listen(held_port, 1) == 0 && getsockname(held_port, (struct sockaddr *)&at, &size) == 0);
    snprintf(address, sizeof(address), "agents:\n  listen: \"127.0.0.1:%u", ntohs(at.sin_port));
    replace_in_config(c, "agents:\n  listen: \"127.0.0.1:0", address);
}

static void foreign_address(struct ctl *c)
{
    replace_in_config(c, "listen: \"127.0.0.1:0", "listen: \"192.0.2.1:7443");
}

/* For whatever is started until allow_room(). */
static void allow_no_room(struct ctl *c)
{
    (void)c;
    struct rlimit limit;
    CHECK(getrlimit(RLIMIT_FSIZE, &limit) == 0);
    limit.rlim_cur = 1000;
    signal(SIGXFSZ, SIG_IGN);
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

static void allow_room(void)
{
    struct rlimit limit;
    CHECK(getrlimit(RLIMIT_FSIZE, &limit) == 0);
    limit.rlim_cur = limit.rlim_max;
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    signal(SIGXFSZ, SIG_DFL);
}

static const struct refusal {
    const char *name;
    void (*act)(struct ctl *c);
    int status;
    const char *says;
} refusals[] = {
    {"a schema of a later version", newer_schema, 3, "newer"},
    {"no database", no_database, 3, "journal.db"},
    {"no journal", no_journal, 3, "journal.db: No such file"},
    {"an edited row", edited_row, 3, "/data: journal row 2"},
    {"a first row that is gone", no_first_row, 3, "then restore a backup (`lockstep restore`)"},
    {"a site's authority that is not there", no_site_ca, 3, "tls.site_ca: /dev/null/none"},
    {"a site's authority that is none", bad_site_ca, 3, "no certificate in PEM"},
    {"YAML that is none", broken_yaml, 3, "lockstepd.yaml:"},
    {"a key that is none", unknown_key, 3, "journal.snapshot_rows"},
    {"a number that is none", bad_number, 3, "expected a number"},
    {"the wrong sealing key", other_seal_key, 5, "journal.key"},
    {"a sealing key that is none", bad_seal_key, 3, "seal_key"},
    {"a sealing key that others can read", open_seal_key, 5, "seal.key"},
    {"a torn secret", torn_secret, 3, "ca.key"},
    {"a port that is taken", taken_port, 1, "another program has this address"},
    {"no room", allow_no_room, 4, "journal.db: "},
    {"an address of another machine", foreign_address, 3, "people.listen"},
};

static void check_one_line(struct ctl *c, int status, const char *says)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf said = LKS_BUF(TEXT_MAX);
    struct lks_str line, rest;
    CHECK_INT(ctl_refused(c, &said), status);
    lks_str_cut(lks_buf_view(&said), '\n', &line, &rest);
    CHECK_STR(rest, "");
    CHECK(lks_str_starts(line, "lockstepd: "));
    CHECK_HAS(line, says);
    CHECK(lks_str_find(line, LKS_STR("secret\n")) < 0);
    CHECK(lks_str_find(line, LKS_STR(OTHER_KEY)) < 0);
    CHECK(lks_str_find(line, LKS_STR("not-a-key")) < 0);
}

static void says_in_a_line_why_it_does_not_start(void)
{
    struct ctl c;
    ctl_init(&c, settings);
    char copy[128];
    snprintf(copy, sizeof(copy), "%s", ctl_path(&c, "kept"));
    ctl_copy(c.data, copy);
    for (size_t i = 0; i < LKS_COUNT(refusals); i++) {
        lks_test_case("%s", refusals[i].name);
        refusals[i].act(&c);
        check_one_line(&c, refusals[i].status, refusals[i].says);
        check_one_line(&c, refusals[i].status, refusals[i].says); /* and nothing was changed */
        allow_room();
        ctl_copy(copy, c.data);
        if (held_port >= 0)
            close(held_port);
        held_port = -1;
    }
    lks_test_case("after all of them");
    if (ctl_start(&c)) {
        lks_test_case("a second one in the same directory");
        check_one_line(&c, 1, "has it open");
        LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = {0};
        CHECK_INT(ctl_once(&c, "GET", "/v1/ready", NULL, &answer), 200); /* the first goes on */
        CHECK_INT(ctl_stop(&c), 0);
    }
    ctl_fini(&c);
}

#define METRICS  "metrics: {url: 'http://127.0.0.1:9', login: bearer, credentials: 'file:"
#define KNOWN    "metrics: {url: 'https://127.0.0.1:9', ca: '"
#define TICKETS  "tickets: {secret: 'file:"
#define PROVIDER "oidc: {issuer: 'https://127.0.0.1:9', ca: '"
#define DATABASE "store: {postgres: 'host=127.0.0.1 "
#define MISSING  "/nonexistent/file"
#define READ     ": others may read this file; chmod 600 would keep them out (mode 644)\n"
#define NOT_HERE ": No such file or directory\n"

static char owned[128], shared[128]; /* one file for its owner alone, one that others may read */
static char logins[256]; /* a provider with an authority, up to the file of the client's secret */

/* What --check says of files that the configuration names: `says`, the file, `why`. */
static const struct {
    const char *name, *before, *file, *after;
    int status;
    const char *says, *why;
} named[] = {
    {"credentials", METRICS, owned, "'}", 0, NULL, NULL},
    {"no credentials", METRICS, MISSING, "'}", 3, "metrics: credentials: ", NOT_HERE},
    {"open credentials", METRICS, shared, "'}", 5, "metrics: credentials: ", READ},
    {"the daemon's environment",
     "metrics: {url: 'http://127.0.0.1:9', login: basic, credentials: 'env:", "LKS_NOT_SET", "'}",
     0, NULL, NULL},
    {"no authority for metrics", KNOWN, MISSING, "'}", 3, "metrics.ca: ", NOT_HERE},
    {"an authority that is none", KNOWN, "/proc/version", "'}", 3,
     "metrics.ca: ", ": has no certificate or key in PEM; name a file that has one\n"},
    {"a shared secret", TICKETS, owned, "'}", 0, NULL, NULL},
    {"no shared secret", TICKETS, MISSING, "'}", 3, "tickets.secret: ", NOT_HERE},
    {"an open shared secret", TICKETS, shared, "'}", 5, "tickets.secret: ", READ},
    {"no authority for tickets", "tickets: {ca: '", MISSING, "'}", 3, "tickets.ca: ", NOT_HERE},
    {"a client's secret", logins, owned, "'}", 0, NULL, NULL},
    {"no client's secret", logins, MISSING, "'}", 3, "oidc.client_secret: ", NOT_HERE},
    {"an open client's secret", logins, shared, "'}", 5, "oidc.client_secret: ", READ},
    {"no authority for logins", PROVIDER, MISSING, "'}", 3, "oidc.ca: ", NOT_HERE},
    {"no authority for images", "bmc: {pull_ca: '", MISSING, "'}", 3, "bmc.pull_ca: ", NOT_HERE},
    {"no certificate for bridges", "slurm: {key: '" MISSING "', certificate: '", MISSING, "'}", 3,
     "slurm.certificate: ", NOT_HERE},
    {"a password of a database", DATABASE "passfile=", owned, "'}", 0, NULL, NULL},
    {"no password", DATABASE "passfile=", MISSING, "'}", 3, "store.postgres: passfile: ", NOT_HERE},
    {"an open password", DATABASE "passfile=", shared, "'}", 5, "store.postgres: passfile: ", READ},
    {"no key", DATABASE "sslkey=", MISSING, "'}", 3, "store.postgres: sslkey: ", NOT_HERE},
};

static void check_named(struct ctl *c, size_t i)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf said = LKS_BUF(TEXT_MAX);
    char text[512];
    snprintf(text, sizeof(text), "%s%s%s\nrate: {", named[i].before, named[i].file, named[i].after);
    replace_in_config(c, "rate: {", text);
    CHECK_INT(ctl_check(c, &said), named[i].status);
    if (named[i].status == 0)
        snprintf(text, sizeof(text), "%s: good\n", c->config);
    else
        snprintf(text, sizeof(text), "lockstepd: %s%s%s", named[i].says, named[i].file,
                 named[i].why);
    CHECK_STR(lks_buf_view(&said), text);
}

static void checks_every_file_that_is_named(void)
{
    struct ctl c;
    struct lks_err err = {0};
    char copy[128];
    ctl_init(&c, settings);
    snprintf(copy, sizeof(copy), "%s", ctl_path(&c, "kept"));
    snprintf(owned, sizeof(owned), "%s", ctl_path(&c, "owned"));
    snprintf(shared, sizeof(shared), "%s", ctl_path(&c, "shared"));
    snprintf(logins, sizeof(logins),
             PROVIDER "%s', client_secret: 'file:", ctl_path(&c, "data/ca.crt"));
    CHECK_CODE(lks_file_replace(owned, LKS_STR("lockstep:0123456789abcdef\n"), &err), LKS_OK);
    CHECK_CODE(lks_file_replace(shared, LKS_STR("lockstep:0123456789abcdef\n"), &err), LKS_OK);
    CHECK(chmod(shared, 0644) == 0);
    ctl_copy(c.data, copy);
    for (size_t i = 0; i < LKS_COUNT(named); i++) {
        lks_test_case("%s", named[i].name);
        check_named(&c, i);
        ctl_copy(copy, c.data);
    }
    ctl_fini(&c);
}

/* Signals ------------------------------------------------------------------------------------- */

static void answers_what_it_accepted_before_it_ends(void)
{
    static struct ctl_load l[LOADERS];
    struct ctl c;
    ctl_init(&c, settings);
    for (unsigned round = 0; round < ROUNDS && ctl_start(&c); round++) {
        lks_test_case("round %u", round);
        for (unsigned i = 0; i < LOADERS; i++)
            ctl_load_begin(&l[i], &c, round * LOADERS + i, i % 2 == 0 ? CTL_UNIX : CTL_TLS);
        for (unsigned i = 0; i < LOADERS; i++)
            ctl_load_works(&l[i], 1 + 4 * round);
        CHECK_INT(ctl_stop(&c), 0);
        for (unsigned i = 0; i < LOADERS; i++)
            ctl_load_end(&l[i]);
        for (unsigned i = 0; i < LOADERS; i++)
            ctl_load_kept(&c, &l[i]);
    }
    ctl_fini(&c);
}

static void reads_its_configuration_again(void)
{
    struct ctl c;
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = {0};
    ctl_init(&c, "limits: {call_nodes: 10}\n");
    if (ctl_start(&c)) {
        ctl_apply(&c, NODES);
        static const char ask[] = "{\"reason\":\"maintenance\"}";
        CHECK_INT(ctl_once(&c, "POST", "/v1/nodes/n[0-3]/hold", ask, &answer), 200);
        replace_in_config(&c, "call_nodes: 10", "call_nodes: 2");
        CHECK(kill(c.pid, SIGHUP) == 0);
        wait_log(&c, "msg=reloaded");
        CHECK_INT(ctl_once(&c, "POST", "/v1/nodes/n[4-7]/hold", ask, &answer), 409);
        CHECK_HAS(lks_buf_view(&answer), "limits.call_nodes");
        replace_in_config(&c, "call_nodes: 2", "call_nodes: [");
        CHECK(kill(c.pid, SIGHUP) == 0);
        wait_log(&c, "not reloaded; all stays as it was");
        CHECK_HAS(ctl_log(&c), "lockstepd.yaml:");
        CHECK_INT(ctl_once(&c, "POST", "/v1/nodes/n[4-5]/hold", ask, &answer), 200);
        CHECK_INT(ctl_stop(&c), 0);
    }
    ctl_fini(&c);
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"waits for room and locks", waits_for_room_and_locks},
        {"waits for a full disk", waits_for_a_full_disk},
        {"says in a line why it does not start", says_in_a_line_why_it_does_not_start},
        {"checks every file that is named", checks_every_file_that_is_named},
        {"answers what it accepted before it ends", answers_what_it_accepted_before_it_ends},
        {"reads its configuration again", reads_its_configuration_again},
        {0},
    };
    return lks_test_main(tests);
}
