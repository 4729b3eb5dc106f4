/* The root helper over its real socket: what it runs, and all that it does not. Tests run it as the
 * user they are, who then is as good as root to it. */
#include "agent/helper/subtask.h"
#include "agent/helper/wire.h"
#include "probe/root/clock.h"
#include "tests/fake_controller.h"
#include "tests/test.h"
#include "tests/wait.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char count_script[] = "#!/bin/sh\n"
                                   "echo x >>\"$(dirname \"$0\")/../count\"\n"
                                   "echo \"ran $# [$1]\"\n";

static void plant(const struct fake *f, const char *path, const char *content, mode_t mode)
{
    lks_tree_file(&f->tree, path, content);
    CHECK(chmod(fake_path(f, path + 1), mode) == 0);
}

static void plant_all(const struct fake *f)
{
    char key[LKS_KEY_TEXT_SIZE];
    struct lks_public_key public = lks_key_public(&f->command);
    lks_key_public_text(&public, key);
    lks_tree_file(&f->tree, "/command.pub", key);
    plant(f, "/executors/count", count_script, 0755);
    plant(f, "/executors/fail", "#!/bin/sh\necho no luck >&2\nexit 3\n", 0755);
    plant(f, "/executors/hang", "#!/bin/sh\necho x >\"${0%/*}/../hanging\"\nsleep 1000\n", 0755);
    plant(f, "/executors/talk", "#!/bin/sh\nyes | head -c 1000000\n", 0755);
    plant(f, "/executors/env", "#!/bin/sh\nenv | grep -v -e ^PWD= -e ^_= -e ^SHLVL=\n", 0755);
    plant(f, "/executors/loose", count_script, 0777);
    plant(f, "/executors/plain", count_script, 0644);
    plant(f, "/executors/daemon", "#!/bin/sh\nsleep 9 &\necho left one\n", 0755);
    plant(f, "/executors/disabled", count_script, 0755);
    lks_tree_link(&f->tree, "/executors/link", "count");
    lks_tree_file(&f->tree, "/enabled",
                  "# what may run here\ncount\nfail\nhang\ntalk\nenv\nloose\nplain\nlink\n"
                  "daemon\nmissing\n..\n");
    CHECK(chmod(fake_path(f, "executors"), 0755) == 0);
}

static const char *executor_seconds = "600"; /* that an executor has */
static const char *reader = LKS_AGENT_PROGRAM;

static pid_t start_helper(struct fake *f, const char *user)
{
    char mine[16];
    snprintf(mine, sizeof(mine), "%u", (unsigned)geteuid());
    const char *argv[] = {LKS_HELPER_PROGRAM,
                          "--socket",
                          fake_path(f, "socket"),
                          "--executors",
                          fake_path(f, "executors"),
                          "--enabled",
                          fake_path(f, "enabled"),
                          "--command-key",
                          fake_path(f, "command.pub"),
                          "--state",
                          fake_path(f, "helper"),
                          "--node",
                          FAKE_NODE,
                          "--reader",
                          reader,
                          "--timeout",
                          executor_seconds,
                          "--depot",
                          "/the/depot",
                          "--user",
                          user != NULL ? user : mine,
                          NULL};
    return fake_spawn(f, "log", argv);
}

/* It listens a moment after it was started. */
static int reach(struct fake *f)
{
    struct lks_err err = {0};
    for (struct lks_wait w = {0}; lks_wait(&w);) {
        int fd = -1;
        if (lks_wire_connect(fake_path(f, "socket"), &fd, &err) == LKS_OK)
            return fd;
    }
    CHECK_STR(lks_str_from(err.msg), "");
    return -1;
}

/* "OUTCOME: TEXT", or what went wrong, in a buffer that the next call overwrites. */
static struct lks_str ask(struct fake *f, const char *line, struct lks_str body)
{
    static char text[512];
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = {0};
    enum lks_outcome outcome = LKS_OUTCOME_DONE;
    struct lks_str said = {0};
    struct lks_err err = {0};
    int64_t until = lks_clock_ms() + LKS_WAIT_MS;
    int fd = reach(f);
    if (lks_wire_send(fd, line, body, until, &err) == LKS_OK &&
        lks_wire_recv(fd, LKS_WIRE_ANSWER_MAX, until, &answer, &err) == LKS_OK &&
        lks_wire_answer(lks_buf_view(&answer), &outcome, &said, &err) == LKS_OK)
        snprintf(text, sizeof(text), "%s: %.400s", lks_outcome_words[outcome], said.ptr);
    else
        snprintf(text, sizeof(text), "%s", err.msg);
    (void)close(fd);
    return lks_str_from(text);
}

static const char *boot_here(void)
{
    static char text[LKS_BOOT_ID_SIZE];
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    CHECK(read(fd, text, sizeof(text) - 1) == (ssize_t)sizeof(text) - 1);
    (void)close(fd);
    return text;
}

static struct lks_str command(struct fake *f, const char *executor)
{
    uint64_t id = fake_command(f, executor, boot_here());
    return lks_buf_view(&f->commands[id - 1]);
}

static void stop_helper(struct fake *f, pid_t pid)
{
    CHECK(kill(pid, SIGTERM) == 0);
    CHECK_INT(fake_wait(f, pid), 0);
}

static void test_executors(void)
{
    static const struct {
        const char *executor, *answer;
    } rows[] = {
        {"count", "done: ran 0 []"},
        {"fail", "failed: status 3: no luck"},
        {"talk", "done: y\ny\ny\n"},
        {"env", "done: "
                "LOCKSTEP_DEPOT=/the/depot\nPATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/"
                "bin:/sbin:/bin\n"},
        {"daemon", "done: left one"},
        {"disabled", "refused: executor 'disabled' is not enabled on this node"},
        {"missing", "refused: "},
        {"loose", "refused: "},
        {"plain", "refused: "},
        {"link", "refused: "},
    };
    struct fake f;
    fake_start(&f);
    plant_all(&f);
    pid_t pid = start_helper(&f, NULL);
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%s", rows[i].executor);
        struct lks_str said = ask(&f, LKS_WIRE_COMMAND, command(&f, rows[i].executor));
        CHECK_HAS(said, rows[i].answer);
    }
    lks_test_case("a list that anyone may change");
    CHECK(chmod(fake_path(&f, "enabled"), 0666) == 0);
    CHECK_HAS(ask(&f, LKS_WIRE_COMMAND, command(&f, "count")), "not believed, as others than root");
    CHECK_STR(fake_text(&f, "count"), "x\n"); /* none of the refused ones ran */
    stop_helper(&f, pid);
    lks_test_case("a key that anyone may change");
    CHECK(chmod(fake_path(&f, "command.pub"), 0666) == 0);
    CHECK(fake_wait(&f, start_helper(&f, NULL)) != 0);
    CHECK_HAS(fake_text(&f, "log"), "command.pub: not believed, as others than root");
    fake_stop(&f);
}

static struct lks_str ask_signed(struct fake *f, struct lks_envelope *e, int64_t expires_s,
                                 bool forged)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_DSSE_MAX);
    struct lks_err err = {0};
    e->expires = (lks_ms)(((int64_t)time(NULL) + expires_s) * 1000);
    CHECK_CODE(lks_envelope_sign(forged ? &f->journal : &f->command, e, &text, &err), LKS_OK);
    return ask(f, LKS_WIRE_COMMAND, lks_buf_view(&text));
}

/* Before a reboot the reader is asked, as root, whether the next boot would leave the node broken.
 */
static void test_hazards(void)
{
    static const struct {
        const char *name, *script, *answer, *ran;
    } rows[] = {
        {"a hazard", "[ \"$*\" = --hazards ] && echo dkms-next-kernel: nvidia not built; exit 1",
         "refused: dkms-next-kernel: nvidia not built", ""},
        {"none", "echo no hazard for the next boot", "done: ran 0 []", "x\n"},
        {"a reader that cannot tell", "echo not known >&2; exit 4", "done: ran 0 []", "x\nx\n"},
    };
    char script[256], path[256];
    struct fake f;
    fake_start(&f);
    plant_all(&f);
    plant(&f, "/executors/reboot", count_script, 0755);
    lks_tree_file(&f.tree, "/enabled", "reboot\n");
    plant(&f, "/reader", "", 0755);
    snprintf(path, sizeof(path), "%s", fake_path(&f, "reader"));
    reader = path;
    pid_t pid = start_helper(&f, NULL);
    reader = LKS_AGENT_PROGRAM;
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%s", rows[i].name);
        snprintf(script, sizeof(script), "#!/bin/sh\n%s\n", rows[i].script);
        plant(&f, "/reader", script, 0755);
        CHECK_HAS(ask(&f, LKS_WIRE_COMMAND, command(&f, "reboot")), rows[i].answer);
        CHECK_STR(fake_text(&f, "count"), rows[i].ran);
    }
    stop_helper(&f, pid);
    fake_stop(&f);
}

static void test_too_long(void)
{
    struct fake f;
    fake_start(&f);
    plant_all(&f);
    executor_seconds = "2";
    pid_t pid = start_helper(&f, NULL);
    executor_seconds = "600";
    CHECK_HAS(ask(&f, LKS_WIRE_COMMAND, command(&f, "hang")),
              "unknown: it was stopped after 2 seconds");
    stop_helper(&f, pid);
    fake_stop(&f);
}

/* What only whoever holds the key could make, and what is not for here and now. */
static void test_envelopes(void)
{
    static const struct {
        const char *name, *node, *boot, *executor;
        int64_t expires_s;
        bool forged;
        const char *answer;
    } rows[] = {
        {"a stranger's key", FAKE_NODE, NULL, "count", 60, true, "refused: "},
        {"another node", "gpu-2", NULL, "count", 60, false, "it is for another node"},
        {"another boot", FAKE_NODE, "00000000-0000-4000-8000-000000000000", "count", 60, false,
         "another boot"},
        {"expired", FAKE_NODE, NULL, "count", -60, false, "expired"},
    };
    struct fake f;
    uint64_t id = 0;
    fake_start(&f);
    plant_all(&f);
    pid_t pid = start_helper(&f, NULL);
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct lks_envelope e = {.id = ++id, .journal = FAKE_JOURNAL, .epoch = 1, .attempt = 1};
        lks_test_case("%s", rows[i].name);
        snprintf(e.node, sizeof(e.node), "%s", rows[i].node);
        snprintf(e.boot, sizeof(e.boot), "%s", rows[i].boot != NULL ? rows[i].boot : boot_here());
        snprintf(e.executor, sizeof(e.executor), "%s", rows[i].executor);
        CHECK_HAS(ask_signed(&f, &e, rows[i].expires_s, rows[i].forged), rows[i].answer);
    }
    lks_test_case("one that expires while it runs");
    struct lks_str said = LKS_STR("expired");
    for (int64_t s = 1; lks_str_find(said, LKS_STR("expired")) >= 0 && s < LKS_WAIT_MS; s *= 2) {
        struct lks_envelope e = {.id = ++id, .journal = FAKE_JOURNAL, .epoch = 1, .attempt = 1};
        snprintf(e.node, sizeof(e.node), FAKE_NODE);
        snprintf(e.boot, sizeof(e.boot), "%s", boot_here());
        snprintf(e.executor, sizeof(e.executor), "hang");
        said = ask_signed(&f, &e, s, false);
    }
    CHECK_HAS(said, "unknown: it was stopped after");
    CHECK_STR(fake_text(&f, "count"), "");
    stop_helper(&f, pid);
    fake_stop(&f);
}

/* Once, however often it is asked: again, after a kill, after one in the middle. */
static void test_once(void)
{
    struct fake f;
    fake_start(&f);
    plant_all(&f);
    pid_t pid = start_helper(&f, NULL);
    struct lks_str first = command(&f, "count");
    CHECK_HAS(ask(&f, LKS_WIRE_COMMAND, first), "done: ran 0 []");
    CHECK_HAS(ask(&f, LKS_WIRE_COMMAND, first), "done: ran 0 []");
    CHECK(kill(pid, SIGKILL) == 0);
    CHECK_INT(fake_wait(&f, pid), -1);
    pid = start_helper(&f, NULL);
    CHECK_HAS(ask(&f, LKS_WIRE_COMMAND, first), "done: ran 0 []");
    CHECK_STR(fake_text(&f, "count"), "x\n");

    struct lks_err err = {0};
    struct lks_str hang = command(&f, "hang");
    int fd = reach(&f);
    CHECK_CODE(lks_wire_send(fd, LKS_WIRE_COMMAND, hang, lks_clock_ms() + LKS_WAIT_MS, &err),
               LKS_OK);
    for (struct lks_wait w = {0}; fake_text(&f, "hanging").len == 0 && lks_wait(&w);) {
    } /* it holds nothing more */
    CHECK(kill(pid, SIGKILL) == 0);
    CHECK_INT(fake_wait(&f, pid), -1);
    (void)close(fd);
    pid = start_helper(&f, NULL);
    CHECK_HAS(ask(&f, LKS_WIRE_COMMAND, hang), "unknown: ");
    stop_helper(&f, pid);
    fake_stop(&f);
}

/* Where the ledger cannot be written, as on a full disk, nothing runs. */
static void test_no_ledger(void)
{
    struct fake f;
    fake_start(&f);
    plant_all(&f);
    lks_tree_dir(&f.tree, "/helper/.tmp-ledger");
    pid_t pid = start_helper(&f, NULL);
    CHECK_HAS(ask(&f, LKS_WIRE_COMMAND, command(&f, "count")), "refused: ");
    CHECK_STR(fake_text(&f, "count"), "");
    stop_helper(&f, pid);
    fake_stop(&f);
}

/* What stands at the path and is no socket stays: the helper is root, and the path may be wrong. */
static void test_mistaken_path(void)
{
    struct fake f;
    fake_start(&f);
    plant_all(&f);
    lks_tree_file(&f.tree, "/socket", "precious\n");
    CHECK_INT(fake_wait(&f, start_helper(&f, NULL)), 1);
    CHECK_HAS(fake_text(&f, "log"), "is no socket");
    CHECK_STR(fake_text(&f, "socket"), "precious\n");
    fake_stop(&f);
}

static void test_inventory(void)
{
    struct fake f;
    fake_start(&f);
    plant_all(&f);
    pid_t pid = start_helper(&f, NULL);
    CHECK_HAS(ask(&f, LKS_WIRE_INVENTORY_QUICK, LKS_STR("")), "done: lockstep-reading-1 sha256:");
    CHECK_HAS(ask(&f, "reboot please", LKS_STR("")), "refused: the helper does not know");
    stop_helper(&f, pid);
    fake_stop(&f);
}

/* Bytes that make no question; the helper goes on. */
static void test_garbage(void)
{
    static const struct {
        const char *name;
        struct lks_str bytes;
    } rows[] = {
        {"nothing", LKS_STR_C("")},
        {"half a length", LKS_STR_C("\0\0")},
        {"a length beyond all", LKS_STR_C("\377\377\377\377aaaa")},
        {"less than it says", LKS_STR_C("\0\0\0\40command\n")},
        {"more than it says", LKS_STR_C("\0\0\0\1commands and more")},
        {"an envelope of nothing", LKS_STR_C("\0\0\0\10command\n")},
        {"HTTP", LKS_STR_C("GET / HTTP/1.1\r\n\r\n")},
    };
    struct fake f;
    fake_start(&f);
    plant_all(&f);
    pid_t pid = start_helper(&f, NULL);
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%s", rows[i].name);
        int fd = reach(&f);
        CHECK(send(fd, rows[i].bytes.ptr, rows[i].bytes.len, MSG_NOSIGNAL) ==
              (ssize_t)rows[i].bytes.len);
        (void)shutdown(fd, SHUT_WR);
        (void)close(fd);
    }
    CHECK_HAS(ask(&f, LKS_WIRE_COMMAND, command(&f, "count")), "done: ran 0 []");
    stop_helper(&f, pid);
    fake_stop(&f);
}

static void test_stranger(void)
{
    struct fake f;
    fake_start(&f);
    plant_all(&f);
    pid_t pid = start_helper(&f, "12345");
    if (geteuid() != 0) { /* only root can hand the socket to that user */
        CHECK_INT(fake_wait(&f, pid), 6);
        fake_stop(&f);
        return;
    }
    struct lks_str said = ask(&f, LKS_WIRE_COMMAND, command(&f, "count"));
    CHECK_HAS(said, "the peer of the socket is gone");
    CHECK_STR(fake_text(&f, "count"), "");
    CHECK_HAS(fake_text(&f, "log"), "a stranger was turned away");
    stop_helper(&f, pid);
    fake_stop(&f);
}

/* Agent and helper together, on this machine. */
static bool read_once(const struct fake *f)
{
    return f->tuples >= 1 && f->beats >= 1;
}

static bool helper_missed(const struct fake *f)
{
    return fake_all_ended(f) && (f->last.health & LKS_HEALTH_HELPER_AWAY) != 0;
}

static void test_together(void)
{
    struct fake f;
    char address[64];
    fake_start(&f);
    plant_all(&f);
    pid_t helper = start_helper(&f, NULL);
    (void)close(reach(&f));
    snprintf(address, sizeof(address), "https://127.0.0.1:%u", lks_httpd_port(f.people));
    const char *argv[] = {LKS_AGENT_PROGRAM,
                          "--state",
                          fake_path(&f, "state"),
                          "--controller",
                          address,
                          "--ca",
                          fake_path(&f, "ca.crt"),
                          "--token-file",
                          fake_path(&f, "token"),
                          "--helper",
                          fake_path(&f, "socket"),
                          "--quick",
                          NULL};
    pid_t agent = fake_spawn(&f, "agent.log", argv);
    CHECK(fake_until(&f, read_once));
    CHECK_INT(f.last.health & LKS_HEALTH_HELPER_AWAY, 0);
    uint64_t good = fake_command(&f, "count", NULL), bad = fake_command(&f, "disabled", NULL);
    CHECK(fake_until(&f, fake_all_ended));
    CHECK_STR(lks_str_from(f.outcome[good - 1]), "done");
    CHECK_STR(lks_str_from(f.outcome[bad - 1]), "refused");
    CHECK_STR(fake_text(&f, "count"), "x\n");
    stop_helper(&f, helper);
    uint64_t late = fake_command(&f, "count", NULL);
    CHECK(fake_until(&f, helper_missed));
    CHECK_STR(lks_str_from(f.outcome[late - 1]), "refused");
    fake_agent_end(&f, agent);
    fake_stop(&f);
}

enum { PIECES = 100 };

/* A program that wrote many pieces and ended. The pipe keeps them apart: each takes a call of
 * read(). */
static pid_t write_pieces(int *out)
{
    int ends[2];
    siginfo_t info;
    CHECK(pipe2(ends, O_CLOEXEC | O_NONBLOCK | O_DIRECT) == 0);
    CHECK(fcntl(ends[0], F_SETPIPE_SZ, PIECES * 4096) >= PIECES * 4096);
    pid_t pid = fork();
    for (int i = 0; pid == 0 && i < PIECES; i++) {
        if (write(ends[1], "x", 1) != 1)
            _exit(1);
    }
    if (pid == 0)
        _exit(0);
    CHECK(pid > 0 && waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) == 0);
    (void)close(ends[1]);
    *out = ends[0];
    return pid;
}

/* A call reads so many pieces at most, and those behind them are not lost. */
static void test_pieces(void)
{
    int64_t now = lks_clock_ms();
    struct lks_subtask e = {.active = true, .begun = now, .ends = now + 60000};
    struct lks_str text = {0};
    struct lks_err err = {0};
    struct lks_wait patience = {0};
    lks_buf_init(&e.said, 4096);
    e.pid = write_pieces(&e.fd);
    CHECK(!lks_subtask_hear(&e));
    while (!lks_subtask_hear(&e) && lks_wait_on(&patience))
        continue;
    CHECK_CODE(lks_subtask_end(&e, &text, &err), LKS_OK);
    CHECK_INT(text.len, PIECES);
    lks_subtask_fini(&e);
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"executors", test_executors},
        {"a reboot into a kernel without its module", test_hazards},
        {"an executor that takes too long", test_too_long},
        {"envelopes", test_envelopes},
        {"at most once", test_once},
        {"no ledger, no command", test_no_ledger},
        {"a path that is taken", test_mistaken_path},
        {"a reading as root", test_inventory},
        {"questions that are none", test_garbage},
        {"another user", test_stranger},
        {"agent and helper together", test_together},
        {"output of many pieces", test_pieces},
        {NULL, NULL},
    };
    return lks_test_main(tests);
}
