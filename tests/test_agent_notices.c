/* What the agent makes of notices: which results of health checks it reports, and when; the state
 * for programs of the node; heartbeats that hurry after a job. */
#include "agent/hooks/node_stack.h"
#include "agent/hooks/notify.h"
#include "agent/loop/stack.h"
#include "tests/fake_controller.h"
#include "tests/test.h"
#include "tests/wait.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static pid_t start_agent(struct fake *f)
{
    const char *more[] = {"--run", fake_path(f, "run"), NULL};
    return fake_agent(f, more);
}

static const char *awaited;
static bool has_state(const struct fake *f)
{
    return lks_str_is(fake_text(f, "run/state"), awaited);
}

static void await_state(struct fake *f, const char *state)
{
    awaited = state;
    CHECK(fake_until(f, has_state));
}

static unsigned checks_enough, beats_enough;
static bool has_checks(const struct fake *f)
{
    return f->checks >= checks_enough;
}

static bool has_beats(const struct fake *f)
{
    return f->beats >= beats_enough;
}

static const char *logged;
static bool has_logged(const struct fake *f)
{
    return lks_str_find(fake_text(f, "log"), lks_str_from(logged)) >= 0;
}

static void send_bytes(const struct fake *f, const char *bytes)
{
    LKS_CLEANUP(lks_notify_close) struct lks_notify n = {0};
    struct lks_err err = {0};
    if (!CHECK_CODE(lks_notify_open(fake_path(f, "run"), &n, &err), LKS_OK))
        printf("%s\n", err.msg);
    CHECK(send(n.fd, bytes, strlen(bytes), 0) == (ssize_t)strlen(bytes));
}

#define PASSED "lockstep-notice-1 passed"
#define FAILED "lockstep-notice-1 failed "
#define ENDED  "lockstep-notice-1 ended "

/* It is reported, as the only one. */
static void check_reported(struct fake *f, const char *bytes, const char *told)
{
    unsigned before = f->checks;
    send_bytes(f, bytes);
    checks_enough = before + 1;
    CHECK(fake_until(f, has_checks));
    CHECK_INT(f->checks, before + 1);
    CHECK_STR(lks_str_from(f->check), told);
}

static void check_quiet(struct fake *f, const char *bytes)
{
    unsigned before = f->checks;
    send_bytes(f, bytes);
    fake_serve(f, 300);
    CHECK_INT(f->checks, before);
}

static void test_results(void)
{
    struct fake f;
    fake_start(&f);
    pid_t agent = start_agent(&f);
    await_state(&f, LKS_NOTICE_IN_SERVICE);
    lks_test_case("the first result");
    check_reported(&f, PASSED, "passed");
    lks_test_case("the same again");
    check_quiet(&f, PASSED);
    lks_test_case("it fails");
    check_reported(&f, FAILED "no GPU 3", "no GPU 3");
    lks_test_case("it fails again, with another number in its line");
    check_quiet(&f, FAILED "no GPU 3 for 61 s");
    lks_test_case("it passes again");
    check_reported(&f, PASSED, "passed");
    lks_test_case("garbage");
    send_bytes(&f, "\x1b[31mgarbage");
    logged = "msg=\"a notice was dropped\"";
    CHECK(fake_until(&f, has_logged));
    lks_test_case("the controller is away: the newest result is reported when it is back");
    unsigned before = f.checks;
    fake_leave(&f);
    send_bytes(&f, FAILED "while it is away");
    fake_serve(&f, 300);
    send_bytes(&f, FAILED "in the end");
    fake_return(&f);
    checks_enough = before + 1;
    CHECK(fake_until(&f, has_checks));
    CHECK_STR(lks_str_from(f.check), "in the end");
    lks_test_case("a controller that knows no reports of checks");
    f.old = true;
    check_quiet(&f, PASSED);
    logged = "the controller refuses the result of the health check";
    CHECK(fake_until(&f, has_logged));
    f.old = false;
    check_reported(&f, FAILED "again", "again");
    fake_agent_end(&f, agent);
    lks_test_case("nothing is left in the folder");
    CHECK(access(fake_path(&f, "run/" LKS_NOTICE_SOCKET), F_OK) != 0);
    CHECK(access(fake_path(&f, "run/" LKS_NOTICE_STATE), F_OK) != 0);
    fake_stop(&f);
}

/* slurm-health itself, with a check that leaves a trace. */
static void run_health(struct fake *f, const char *body)
{
    char text[512];
    snprintf(text, sizeof(text), "#!/bin/sh\necho x >>%s\n%s\n", fake_path(f, "trace"), body);
    lks_tree_file(&f->tree, "/check", text);
    CHECK(chmod(fake_path(f, "check"), 0755) == 0);
    const char *argv[] = {LKS_HEALTH_PROGRAM, "--run", fake_path(f, "run"), fake_path(f, "check"),
                          NULL};
    CHECK_INT(fake_wait(f, fake_spawn(f, "said", argv)), 0);
}

static const char *awaited_stack;
static bool has_stack(const struct fake *f)
{
    return lks_str_is(fake_text(f, "run/" LKS_NODE_STACK_FILE), awaited_stack);
}

static void await_stack(struct fake *f, const char *text)
{
    awaited_stack = text;
    CHECK(fake_until(f, has_stack));
}

static time_t stack_time(const struct fake *f)
{
    struct stat st = {0};
    CHECK(stat(fake_path(f, "run/" LKS_NODE_STACK_FILE), &st) == 0);
    CHECK_INT(st.st_mode & 0777, 0600);
    return st.st_mtime;
}

static bool is_touched(const struct fake *f)
{
    return stack_time(f) != 1;
}

#define STACK_HEAD "lockstep-stack-1\n"

static void test_stack(void)
{
    struct fake f;
    fake_start(&f);
    f.stack = "{\"digest\":\"sha256:00\",\"name\":\"golden\",\"version\":\"1\",\"enforces\":true,"
              "\"env\":{\"NCCL_ALGO\":\"Ring\",\"LD_PRELOAD\":\"x\"}}";
    pid_t agent = start_agent(&f);
    lks_test_case("the stack of the node, without what is not for jobs");
    await_stack(&f, STACK_HEAD "digest sha256:00\nname golden\nversion 1\nenforce on\n"
                               "env NCCL_ALGO=Ring\n");
    lks_test_case("a heartbeat makes the file new, and asks for nothing");
    const struct timespec past[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
    unsigned before = f.stacks;
    CHECK(utimensat(AT_FDCWD, fake_path(&f, "run/" LKS_NODE_STACK_FILE), past, 0) == 0);
    CHECK(fake_until(&f, is_touched));
    CHECK_INT(f.stacks, before);
    lks_test_case("no job should start: the reason is asked for");
    f.stack = "{\"bar\":\"drift\",\"why\":\"it drifts\",\"enforces\":false,\"env\":{}}";
    f.barred = true;
    await_stack(&f, STACK_HEAD "bar drift\nwhy it drifts\n");
    lks_test_case("an answer that is none: the file gets old");
    f.stack = "{\"env\":[]}";
    f.barred = false;
    logged = "jobs of this node do not learn of its stack";
    CHECK(fake_until(&f, has_logged));
    CHECK(utimensat(AT_FDCWD, fake_path(&f, "run/" LKS_NODE_STACK_FILE), past, 0) == 0);
    beats_enough = f.beats + 2;
    CHECK(fake_until(&f, has_beats));
    CHECK_INT(stack_time(&f), 1);
    lks_test_case("it is asked for again a few heartbeats later");
    f.stack = "{\"name\":\"later\",\"env\":{}}";
    before = f.beats;
    await_stack(&f, STACK_HEAD "name later\n");
    CHECK(f.beats - before <= 3 * LKS_AGENT_STACK_AGAIN_BEATS);
    fake_agent_end(&f, agent);
    lks_test_case("nothing is left in the folder");
    CHECK(access(fake_path(&f, "run/" LKS_NODE_STACK_FILE), F_OK) != 0);
    fake_stop(&f);
}

static void test_changing(void)
{
    struct fake f;
    fake_start(&f);
    pid_t agent = start_agent(&f);
    await_state(&f, LKS_NOTICE_IN_SERVICE);
    lks_test_case("in service: the check runs and is reported");
    run_health(&f, "echo no GPU 3; exit 1");
    checks_enough = 1;
    CHECK(fake_until(&f, has_checks));
    CHECK_STR(lks_str_from(f.check), "no GPU 3 (status 1)");
    CHECK_STR(fake_text(&f, "trace"), "x\n");
    lks_test_case("changed: the check does not run");
    f.changing = true;
    await_state(&f, LKS_NOTICE_CHANGING);
    run_health(&f, "exit 1");
    CHECK_STR(fake_text(&f, "trace"), "x\n");
    lks_test_case("back in service: the result is reported although it is the same");
    f.changing = false;
    await_state(&f, LKS_NOTICE_IN_SERVICE);
    run_health(&f, "echo no GPU 3; exit 1");
    checks_enough = 2;
    CHECK(fake_until(&f, has_checks));
    CHECK_STR(fake_text(&f, "trace"), "x\nx\n");
    lks_test_case("an agent that was killed and started again");
    CHECK(kill(agent, SIGKILL) == 0);
    CHECK_INT(fake_wait(&f, agent), -1);
    run_health(&f, "exit 1");
    CHECK_HAS(fake_text(&f, "said"), "Connection refused; start lockstep-agent");
    CHECK(unlink(fake_path(&f, "run/" LKS_NOTICE_STATE)) == 0);
    agent = start_agent(&f);
    await_state(&f, LKS_NOTICE_IN_SERVICE);
    check_reported(&f, PASSED, "passed");
    fake_agent_end(&f, agent);
    fake_stop(&f);
}

/* Whether the state was written before the socket was there. */
static bool is_state_first(int watch)
{
    _Alignas(struct inotify_event) char bytes[4096];
    ssize_t len = read(watch, bytes, sizeof(bytes));
    for (ssize_t at = 0; at < len;) {
        const struct inotify_event *e = (const void *)(bytes + at);
        if (strcmp(e->name, LKS_NOTICE_SOCKET) == 0)
            return false;
        if (strcmp(e->name, LKS_NOTICE_STATE) == 0)
            return true;
        at += (ssize_t)(sizeof(*e) + e->len);
    }
    return false;
}

/* A program that connects must not read the state of an agent that was killed. */
static void test_stale(void)
{
    struct fake f;
    fake_start(&f);
    pid_t agent = start_agent(&f);
    await_state(&f, LKS_NOTICE_IN_SERVICE);
    CHECK(kill(agent, SIGKILL) == 0);
    CHECK_INT(fake_wait(&f, agent), -1);
    CHECK_STR(fake_text(&f, "run/state"), LKS_NOTICE_IN_SERVICE);
    int watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    CHECK(watch >= 0);
    CHECK(inotify_add_watch(watch, fake_path(&f, "run"), IN_CREATE | IN_MOVED_TO) >= 0);
    beats_enough = f.beats + 1;
    agent = start_agent(&f);
    CHECK(fake_until(&f, has_beats));
    CHECK(is_state_first(watch));
    (void)close(watch);
    fake_agent_end(&f, agent);
    fake_stop(&f);
}

/* At a heartbeat a minute, two more come within seconds, and not where nothing drains. */
static void test_haste(void)
{
    struct fake f;
    fake_start(&f);
    pid_t agent = start_agent(&f);
    await_state(&f, LKS_NOTICE_IN_SERVICE);
    f.heartbeat = 60000;
    logged = "heartbeats have another interval";
    CHECK(fake_until(&f, has_logged));
    fake_serve(&f, 300);
    lks_test_case("a job ended on a node in service");
    unsigned before = f.beats;
    send_bytes(&f, ENDED "42");
    fake_serve(&f, 2500);
    CHECK(f.beats <= before + 1); /* one may be due at this moment of the minute */
    fake_agent_end(&f, agent);
    lks_test_case("a job ended on a node that drains");
    f.changing = true;
    agent = start_agent(&f);
    await_state(&f, LKS_NOTICE_CHANGING);
    send_bytes(&f, ENDED "43");
    beats_enough = f.beats + 3;
    struct lks_wait patience = {0};
    for (int i = 0; !has_beats(&f) && i < 100 && lks_wait_on(&patience); i++)
        fake_serve(&f, 100);
    CHECK(has_beats(&f));
    fake_agent_end(&f, agent);
    fake_stop(&f);
}

static void test_folder(void)
{
    struct fake f;
    fake_start(&f);
    lks_test_case("a folder that cannot be made is no reason to end");
    const char *more[] = {"--run", "/proc/nowhere/run", NULL};
    pid_t agent = fake_agent(&f, more);
    CHECK(fake_until(&f, fake_three_beats));
    CHECK_HAS(fake_text(&f, "log"), "programs of this node cannot report");
    fake_agent_end(&f, agent);
    fake_stop(&f);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"the agent: results of health checks", test_results},
        {"the stack of the node", test_stack},
        {"the agent: checks and changes", test_changing},
        {"the agent: the state of one that was killed", test_stale},
        {"the agent: heartbeats after a job", test_haste},
        {"the agent: no folder for notices", test_folder},
        {0},
    });
}
