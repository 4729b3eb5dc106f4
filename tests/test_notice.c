/* Notices of programs of a node, and the programs that Slurm runs: slurm-health with checks of all
 * sorts, slurm-epilog and slurm-prolog. Here the test is the agent. */
#include "agent/hooks/notice.h"
#include "agent/hooks/notify.h"
#include "tests/test.h"
#include "tests/tree.h"
#include "tests/wait.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The datagram -------------------------------------------------------------------------------- */

#define HEAD  "lockstep-notice-1 "
#define X64   "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
#define X255  X64 X64 X64 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
#define TEXTS "no reason of 1 to 255 printable bytes"

static const struct {
    const char *name, *bytes, *refused; /* `refused` NULL: it is taken */
} datagrams[] = {
    {"a check passed", HEAD "passed", NULL},
    {"a check failed", HEAD "failed ERROR: nhc: no GPU 3 (status 1)", NULL},
    {"a job ended", HEAD "ended 4294967295", NULL},
    {"the longest reason", HEAD "failed " X255, NULL},
    {"a longer one", HEAD "failed x" X255, TEXTS},
    {"no reason", HEAD "failed ", TEXTS},
    {"nothing behind the kind", HEAD "failed", "no known kind"},
    {"two lines", HEAD "failed a\nb", TEXTS},
    {"a colour", HEAD "failed \x1b[31mred", TEXTS},
    {"no UTF-8", HEAD "failed \xff\xfe", TEXTS},
    {"something behind passed", HEAD "passed x", "no known kind"},
    {"a kind of a later version", HEAD "drained", "no known kind"},
    {"job 0", HEAD "ended 0", "no job ID"},
    {"job 007", HEAD "ended 007", "no job ID"},
    {"job -1", HEAD "ended -1", "no job ID"},
    {"too large a job", HEAD "ended 4294967296", "no job ID"},
    {"another format", "lockstep-notice-2 passed", "another format"},
    {"nothing", "", "another format"},
    {"more than fits", HEAD "failed " X255 X255, "more than 512 bytes"},
};

static void test_datagrams(void)
{
    for (size_t i = 0; i < LKS_COUNT(datagrams); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf again = LKS_BUF(LKS_NOTICE_BYTES_MAX);
        struct lks_notice n = {.job = 7};
        struct lks_err err = {0};
        lks_test_case("%s", datagrams[i].name);
        enum lks_code code = lks_notice_parse(lks_str_from(datagrams[i].bytes), &n, &err);
        if (datagrams[i].refused != NULL) {
            CHECK(code != LKS_OK);
            CHECK_HAS(lks_str_from(err.msg), datagrams[i].refused);
            CHECK_INT(n.job, 7); /* an output is not touched on failure */
            continue;
        }
        CHECK_CODE(code, LKS_OK);
        lks_notice_pack(&n, &again);
        CHECK_STR(lks_buf_view(&again), datagrams[i].bytes);
    }
}

static const struct {
    const char *name;
    struct lks_str output;
    const char *line;
} lines[] = {
    {"one line", LKS_STR_C("no GPU 3\n"), "no GPU 3"},
    {"the first of two", LKS_STR_C("no GPU 3\nno GPU 4\n"), "no GPU 3"},
    {"the first that is not blank", LKS_STR_C("\n  \n\n no GPU 3 "), "no GPU 3"},
    {"nothing", LKS_STR_C(""), ""},
    {"blanks", LKS_STR_C(" \n \n"), ""},
    {"binary", LKS_STR_C("a\0b\x1b[31m\xff\n"), "a?b?[31m?"},
    {"UTF-8", LKS_STR_C("53 \xc2\xb0\x43\n"), "53 \xc2\xb0\x43"},
    {"a long line", LKS_STR_C("x" X255 "\n"), X255},
};

static void test_lines(void)
{
    for (size_t i = 0; i < LKS_COUNT(lines); i++) {
        char line[LKS_NOTICE_TEXT_SIZE];
        lks_test_case("%s", lines[i].name);
        lks_notice_line(lines[i].output, line);
        CHECK_STR(lks_str_from(line), lines[i].line);
    }
}

/* The programs -------------------------------------------------------------------------------- */

struct place {
    struct lks_tree tree; /* run/ is the agent's folder, and check a program */
    char run[256], check[256];
    int agent; /* the agent's end */
};

static void bind_at(struct place *p, const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    p->agent = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    CHECK(p->agent >= 0);
    CHECK((size_t)snprintf(address.sun_path, sizeof(address.sun_path), "%s/%s", p->run, name) <
          sizeof(address.sun_path));
    CHECK(bind(p->agent, (struct sockaddr *)&address, sizeof(address)) == 0);
}

static void make_place(struct place *p, const char *script, const char *state)
{
    char text[1024];
    *p = (struct place){.tree = lks_tree_new()};
    snprintf(p->run, sizeof(p->run), "%s/run", p->tree.path);
    snprintf(p->check, sizeof(p->check), "%s/check", p->tree.path);
    snprintf(text, sizeof(text), "#!/bin/sh\n: >%s/ran\n%s\n", p->tree.path, script);
    lks_tree_file(&p->tree, "/check", text);
    CHECK(chmod(p->check, 0755) == 0);
    CHECK(mkdir(p->run, 0700) == 0);
    if (state != NULL)
        lks_tree_file(&p->tree, "/run/state", state);
    bind_at(p, LKS_NOTICE_SOCKET);
}

static void end_place(struct place *p)
{
    (void)close(p->agent);
    lks_tree_free(&p->tree);
}

static const char *text_of(const struct place *p, const char *name)
{
    static char text[4096];
    char path[512];
    snprintf(path, sizeof(path), "%s/%s", p->tree.path, name);
    FILE *f = fopen(path, "re");
    size_t len = f != NULL ? fread(text, 1, sizeof(text) - 1, f) : 0;
    text[len] = '\0';
    if (f != NULL)
        fclose(f);
    return text;
}

static bool is_there(const struct place *p, const char *name)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/%s", p->tree.path, name);
    return access(path, F_OK) == 0;
}

/* What the agent got, or "". */
static const char *notice(const struct place *p)
{
    static char bytes[LKS_NOTICE_BYTES_MAX + 1];
    ssize_t len = recv(p->agent, bytes, sizeof(bytes) - 1, MSG_DONTWAIT);
    bytes[len > 0 ? len : 0] = '\0';
    return bytes;
}

/* In a child: one stream can be opened, and no more. */
static void close_streams(void)
{
    const struct rlimit one = {1, 1};
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        (void)close(fd);
    if (setrlimit(RLIMIT_NOFILE, &one) != 0)
        _exit(97);
}

static bool streamless; /* the programs run so */

/* Run it to its end; its exit status, with what it printed in the file "said". */
static int run(const struct place *p, const char *const *argv)
{
    char said[512];
    snprintf(said, sizeof(said), "%s/said", p->tree.path);
    pid_t pid = fork();
    if (pid == 0) {
        char *words[16] = {0};
        int fd = open(said, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        memcpy(words, argv, sizeof(words));
        if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0 || dup2(fd, STDERR_FILENO) < 0)
            _exit(99);
        (void)close(fd);
        if (streamless)
            close_streams();
        (void)execv(words[0], words);
        _exit(98);
    }
    int status = -1;
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int run_health(const struct place *p, const char *seconds, const char *option,
                      const char *value)
{
    const char *argv[16] = {LKS_HEALTH_PROGRAM, "--run", p->run, "--timeout", seconds};
    size_t count = 5;
    if (option != NULL) {
        argv[count++] = option;
        argv[count++] = value;
    }
    argv[count++] = "--";
    argv[count++] = p->check;
    argv[count++] = "one";
    argv[count++] = "-t";
    return run(p, argv);
}

#define PASSED      HEAD "passed"
#define FAILED      HEAD "failed "
#define STOPPED     "it was stopped after 1 seconds"
#define MEGABYTES   "head -c 5000000 /dev/zero | tr '\\0' x; "
#define HOLDS_PIPE  "sleep 1000 & echo $! >$(dirname $0)/child; "
#define OTHER_GROUP "setsid sleep 1000 & echo $! >$(dirname $0)/child; "

static const struct {
    const char *name, *script, *told; /* `told` is how the notice begins */
    const char *ends;                 /* and how it ends; NULL: that is all of it */
} checks[] = {
    {"it passes", "exit 0", PASSED, NULL},
    {"it passes and prints", "echo all is well", PASSED, NULL},
    {"it fails", "echo 'ERROR: nhc: no GPU 3'; exit 1", FAILED "ERROR: nhc: no GPU 3 (status 1)",
     NULL},
    {"it fails and prints errors", "echo 'no GPU 3' >&2; exit 1", FAILED "no GPU 3 (status 1)",
     NULL},
    {"it fails without a word", "exit 3", FAILED "status 3", NULL},
    {"it is killed", "kill -9 $$", FAILED "signal 9", NULL},
    {"its arguments", "[ \"$#$1$2\" = 2one-t ]", PASSED, NULL},
    {"NHC is to mark nothing", "[ \"$MARK_OFFLINE\" = 0 ]", PASSED, NULL},
    {"no input", "read line && exit 1; exit 0", PASSED, NULL},
    {"megabytes on one line", MEGABYTES "exit 1", FAILED "xxxxxxxx", "x (status 1)"},
    {"megabytes, and it passes", MEGABYTES "exit 0", PASSED, NULL},
    {"output without end", "exec yes", FAILED "y (" STOPPED ")", NULL},
    {"binary", "printf 'a\\001\\377\\033[31mred\\n'; exit 1", FAILED "a???[31mred (status 1)",
     NULL},
    {"it never ends", "exec sleep 1000", FAILED STOPPED, NULL},
    {"it never ends and ignores signals", "trap '' TERM INT HUP; while :; do sleep 1; done",
     FAILED STOPPED, NULL},
    {"it closes its output and goes on", "exec >&- 2>&-; sleep 0.2; exit 4", FAILED "status 4",
     NULL},
    {"it closes its output and never ends", "exec >&- 2>&-; exec sleep 1000", FAILED STOPPED, NULL},
    {"a child holds its output", HOLDS_PIPE "exit 0", PASSED, NULL},
    {"a child in another session holds its output", OTHER_GROUP "exit 0", PASSED, NULL},
    {"it becomes the leader of a session, as NHC does, and never ends", "exec setsid sleep 1000",
     FAILED STOPPED, NULL},
    {"many children", "for i in 1 2 3 4 5 6 7 8 9; do sleep 1000 & done; exit 1", FAILED "status 1",
     NULL},
};

static void end_child(const struct place *p)
{
    pid_t child = (pid_t)atol(text_of(p, "child"));
    if (child > 1)
        (void)kill(child, SIGKILL);
}

static void test_checks(void)
{
    for (size_t i = 0; i < LKS_COUNT(checks); i++) {
        struct place p;
        lks_test_case("%s", checks[i].name);
        make_place(&p, checks[i].script, LKS_NOTICE_IN_SERVICE);
        bool stopped = strstr(checks[i].told, STOPPED) != NULL;
        CHECK_INT(run_health(&p, stopped ? "1" : "30", NULL, NULL), 0);
        const char *told = notice(&p);
        CHECK_STR(lks_str_from(text_of(&p, "said")), "");
        if (checks[i].ends == NULL)
            CHECK_STR(lks_str_from(told), checks[i].told);
        else
            CHECK(lks_str_starts(lks_str_from(told), checks[i].told) &&
                  lks_str_ends(lks_str_from(told), checks[i].ends));
        CHECK_STR(lks_str_from(notice(&p)), ""); /* one result, one notice */
        end_child(&p);
        end_place(&p);
    }
}

/* The agent's folder -------------------------------------------------------------------------- */

static void no_folder(struct place *p)
{
    snprintf(p->run, sizeof(p->run), "%s/other", p->tree.path);
}

static void no_socket(struct place *p)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/" LKS_NOTICE_SOCKET, p->run);
    CHECK(unlink(path) == 0);
}

static void killed(struct place *p)
{
    (void)close(p->agent);
    p->agent = -1;
}

static void open_to_all(struct place *p)
{
    CHECK(chmod(p->run, 0777) == 0);
}

static void linked(struct place *p)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/link", p->tree.path);
    CHECK(symlink(p->run, path) == 0);
    snprintf(p->run, sizeof(p->run), "%s/link", p->tree.path);
}

static void plain_file(struct place *p)
{
    no_socket(p);
    lks_tree_file(&p->tree, "/run/" LKS_NOTICE_SOCKET, "");
}

static void linked_socket(struct place *p)
{
    no_socket(p);
    killed(p);
    bind_at(p, "elsewhere");
    char path[512];
    snprintf(path, sizeof(path), "%s/" LKS_NOTICE_SOCKET, p->run);
    CHECK(symlink("elsewhere", path) == 0);
}

static void full(struct place *p)
{
    LKS_CLEANUP(lks_notify_close) struct lks_notify n = {0};
    struct lks_err err = {0};
    CHECK_CODE(lks_notify_open(p->run, &n, &err), LKS_OK);
    while (send(n.fd, "x", 1, MSG_DONTWAIT) == 1)
        continue;
    CHECK_INT(errno, EAGAIN);
}

static void linked_state(struct place *p)
{
    char path[512];
    lks_tree_file(&p->tree, "/other", LKS_NOTICE_IN_SERVICE);
    snprintf(path, sizeof(path), "%s/" LKS_NOTICE_STATE, p->run);
    CHECK(symlink("../other", path) == 0);
}

static void piped_state(struct place *p)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/" LKS_NOTICE_STATE, p->run);
    CHECK(mkfifo(path, 0600) == 0);
}

static const struct {
    const char *name, *state;
    void (*make)(struct place *p);
    const char *said; /* "": nothing */
    bool reachable;
} places[] = {
    {"the node is changed", LKS_NOTICE_CHANGING, NULL, "", true},
    {"the controller was not heard yet", LKS_NOTICE_UNKNOWN, NULL, "", true},
    {"no state", NULL, NULL, "", true},
    {"a state without an end", "in service", NULL, "", true},
    {"the state is a link", NULL, linked_state, "", true},
    {"the state is a pipe", NULL, piped_state, "", true},
    {"no folder", "in service\n", no_folder, "No such file or directory; start lockstep-agent",
     false},
    {"no socket", "in service\n", no_socket, "No such file or directory; start lockstep-agent",
     false},
    {"the agent was killed", "in service\n", killed, "Connection refused; start lockstep-agent",
     false},
    {"others can write to the folder", "in service\n", open_to_all,
     "other users can write to it; make it a folder of mode 0700", false},
    {"the folder is a link", "in service\n", linked, "start lockstep-agent with --run", false},
    {"a file in place of the socket", "in service\n", plain_file,
     "is not a socket of the owner of the folder", false},
    {"a link in place of the socket", "in service\n", linked_socket,
     "is not a socket of the owner of the folder", false},
};

static void test_places(void)
{
    for (size_t i = 0; i < LKS_COUNT(places); i++) {
        struct place p;
        lks_test_case("%s", places[i].name);
        make_place(&p, "exit 1", places[i].state);
        if (places[i].make != NULL)
            places[i].make(&p);
        CHECK_INT(run_health(&p, "30", NULL, NULL), 0);
        CHECK_HAS(lks_str_from(text_of(&p, "said")), places[i].said);
        CHECK_INT(text_of(&p, "said")[0] == '\0', places[i].said[0] == '\0');
        CHECK(!is_there(&p, "ran"));
        if (p.agent >= 0)
            CHECK_STR(lks_str_from(notice(&p)), "");
        lks_test_case("%s, with a program to fall back on", places[i].name);
        CHECK_INT(run_health(&p, "30", "--fallback", p.check), places[i].reachable ? 0 : 1);
        CHECK_INT(is_there(&p, "ran"), !places[i].reachable);
        end_place(&p);
    }
}

static void test_others(void)
{
    struct place p;
    lks_test_case("an agent that takes no notices");
    make_place(&p, "exit 1", LKS_NOTICE_IN_SERVICE);
    full(&p);
    CHECK_INT(run_health(&p, "30", NULL, NULL), 0);
    CHECK_HAS(lks_str_from(text_of(&p, "said")), "the agent took no notice for 2 s");
    end_place(&p);
    make_place(&p, "exit 1", LKS_NOTICE_IN_SERVICE);
    lks_test_case("a check that is not there");
    snprintf(p.check, sizeof(p.check), "/nowhere/check");
    CHECK_INT(run_health(&p, "30", NULL, NULL), 0);
    CHECK_STR(lks_str_from(notice(&p)),
              FAILED "/nowhere/check (the check cannot be run: No such file or directory)");
    lks_test_case("a program to fall back on that is not there");
    snprintf(p.run, sizeof(p.run), "/nowhere");
    CHECK_INT(run_health(&p, "30", "--fallback", "/nowhere/nhc"), 3);
    CHECK_HAS(lks_str_from(text_of(&p, "said")), "--fallback /nowhere/nhc: No such file");
    end_place(&p);
}

static const struct {
    const char *name, *words[4], *said;
} usages[] = {
    {"a relative path", {"nhc"}, "'nhc' is not an absolute path"},
    {"a relative path to fall back on", {"--fallback", "nhc"}, "'nhc' is not an absolute path"},
    {"no time", {"--timeout", "0"}, "--timeout: '0' is not from 1 to 3600"},
    {"no number", {"--timeout", "1m"}, "--timeout: '1m' is not from 1 to 3600"},
    {"an unknown option", {"--drain"}, "--drain"},
};

static void test_usage(void)
{
    for (size_t i = 0; i < LKS_COUNT(usages); i++) {
        struct place p;
        const char *argv[16] = {LKS_HEALTH_PROGRAM};
        lks_test_case("%s", usages[i].name);
        make_place(&p, "exit 0", LKS_NOTICE_IN_SERVICE);
        memcpy(argv + 1, usages[i].words, sizeof(usages[i].words));
        CHECK_INT(run(&p, argv), 2);
        CHECK_HAS(lks_str_from(text_of(&p, "said")), usages[i].said);
        end_place(&p);
    }
}

static const struct {
    const char *name, *job; /* NULL: none */
    void (*make)(struct place *p);
    const char *told, *said;
} epilogs[] = {
    {"a job ended", "42", NULL, HEAD "ended 42", ""},
    {"no job", NULL, NULL, "", "SLURM_JOB_ID is not a job's ID"},
    {"no number", "42;reboot", NULL, "", "SLURM_JOB_ID is not a job's ID"},
    {"no agent", "42", no_folder, "", "start lockstep-agent"},
    {"an agent that takes no notices", "42", full, "x", "the agent took no notice for 2 s"},
};

static void test_epilog(void)
{
    for (size_t i = 0; i < LKS_COUNT(epilogs); i++) {
        struct place p;
        lks_test_case("%s", epilogs[i].name);
        make_place(&p, "exit 0", LKS_NOTICE_CHANGING);
        if (epilogs[i].make != NULL)
            epilogs[i].make(&p);
        const char *argv[16] = {LKS_EPILOG_PROGRAM, "--run", p.run};
        if (epilogs[i].job != NULL)
            CHECK(setenv("SLURM_JOB_ID", epilogs[i].job, 1) == 0);
        else
            CHECK(unsetenv("SLURM_JOB_ID") == 0);
        CHECK_INT(run(&p, argv), 0);
        CHECK_STR(lks_str_from(notice(&p)), epilogs[i].told);
        CHECK_HAS(lks_str_from(text_of(&p, "said")), epilogs[i].said);
        CHECK_INT(text_of(&p, "said")[0] == '\0', epilogs[i].said[0] == '\0');
        end_place(&p);
    }
}

#define REFUSES "echo 'no: drift n2: driver: 1, pinned 2'; exit 1"
#define AWAY    "echo 'no route' >&2; exit 4"

static const struct {
    const char *name, *lockstep, *scontrol; /* scripts */
    const char *words[4];
    int exit;
    const char *said, *told; /* what scontrol is told; "": it is not run */
} prologs[] = {
    {"yes", "echo yes", "", {NULL}, 0, "", ""},
    {"yes, behind a warning", "echo 'an old token' >&2; echo yes", "", {NULL}, 0, "", ""},
    {"no",
     REFUSES,
     "",
     {NULL},
     1,
     "job 42: no: drift n2: driver: 1, pinned 2\n",
     "update jobid=42 admincomment=lockstep: no: drift n2: driver: 1, pinned 2\n"},
    {"no, behind a warning, where the site starts jobs without an answer",
     "echo 'an old token' >&2; " REFUSES,
     "",
     {"--without-answer", "start"},
     1,
     "job 42: no: drift n2",
     "admincomment=lockstep: no: drift n2"},
    {"no answer",
     AWAY,
     "",
     {NULL},
     0,
     "no answer from lockstepd: no route; status 4; the job starts without one\n",
     ""},
    {"no answer, and no start without one",
     AWAY,
     "",
     {"--without-answer=refuse"},
     1,
     "no answer from lockstepd: no route; status 4\n",
     "admincomment=lockstep: no answer from lockstepd: no route; status 4\n"},
    {"a refusal of the question",
     "echo 'lockstep: too many requests' >&2; exit 1",
     "",
     {NULL},
     0,
     "too many requests; status 1; the job starts",
     ""},
    {"the status of a no, and no word",
     "exit 1",
     "",
     {NULL},
     0,
     "lockstepd: status 1; the job",
     ""},
    {"an answer to something else",
     "echo 'usage: lockstep'",
     "",
     {"--without-answer=refuse"},
     1,
     "usage: lockstep; it printed neither yes nor no\n",
     "admincomment=lockstep: no answer"},
    {"an answer that takes too long",
     "echo yes; sleep 600",
     "",
     {"--seconds=1", "--without-answer=refuse"},
     1,
     "no answer from lockstepd: yes; it was stopped after 1 seconds\n",
     "admincomment=lockstep: no answer"},
    {"more than is kept", "yes x | head -c 1000000; exit 1", "", {NULL}, 0, "x; status 1; the", ""},
    {"a lockstep that crashes", "kill -9 $$", "", {NULL}, 0, "signal 9; the job starts", ""},
    {"a comment that Slurm does not take",
     REFUSES,
     "echo 'Access denied'; exit 1",
     {NULL},
     1,
     "its comment was not written: Access denied; status 1\n",
     "admincomment="},
    {"bytes that drive a terminal",
     "printf 'no: \\033[2Jx\\n'; exit 1",
     "",
     {NULL},
     1,
     "no: ?[2Jx\n",
     "admincomment=lockstep: no: ?[2Jx\n"},
    {"a fault of the command line",
     "",
     "",
     {"--seconds=0"},
     0,
     "--seconds: '0' is not from 1 to 300; the job starts",
     ""},
    {"one where the site starts no job without an answer",
     "",
     "",
     {"--seconds=0", "--without-answer=refuse"},
     1,
     "--seconds: '0' is not from 1 to 300\n",
     "admincomment=lockstep: no answer"},
    {"another word than start, refuse and last",
     "",
     "",
     {"--without-answer=maybe"},
     1,
     "is none of start, refuse and last\n",
     "admincomment=lockstep: no answer"},
    {"an option that there is not, and no word for that",
     "",
     "",
     {"--bogus"},
     0,
     "no option '--bogus'; the job starts",
     ""},
    {"one where the site starts jobs",
     "",
     "",
     {"--without-answer", "start", "--bogus"},
     0,
     "no option '--bogus'; the job starts",
     ""},
    {"one where the site starts none",
     "",
     "",
     {"--bogus", "--without-answer", "refuse"},
     1,
     "no option '--bogus'\n",
     "admincomment=lockstep: no answer"},
    {"one where the last answers count",
     "",
     "",
     {"--bogus", "--without-answer=last", "--state", "/nowhere"},
     1,
     "no option '--bogus'; the job waits\n",
     "admincomment=lockstep: no answer"},
    {"a word that is given twice",
     "",
     "",
     {"--without-answer=refuse", "--without-answer=start"},
     1,
     "--without-answer is given twice\n",
     "admincomment=lockstep: no answer"},
    {"a word that is not given",
     "",
     "",
     {"--without-answer"},
     1,
     "--without-answer needs WHAT\n",
     "admincomment=lockstep: no answer"},
    {"the last answers, and no folder of them",
     "",
     "",
     {"--without-answer=last"},
     1,
     "last needs --state DIR; the job waits\n",
     "admincomment=lockstep: no answer"},
    {"yes, by an override", "echo 'yes: by an override: CHG-1'", "", {NULL}, 0, "", ""},
};

static void make_prolog(struct place *p, const char *lockstep, const char *scontrol)
{
    char text[1024], path[512];
    snprintf(text, sizeof(text), "echo \"$*\" >$(dirname $0)/asked\n%s", lockstep);
    make_place(p, text, NULL);
    snprintf(text, sizeof(text), "#!/bin/sh\necho \"$*\" >$(dirname $0)/told\n%s\n", scontrol);
    lks_tree_file(&p->tree, "/scontrol", text);
    snprintf(path, sizeof(path), "%s/scontrol", p->tree.path);
    CHECK(chmod(path, 0755) == 0);
    CHECK(setenv("SLURM_JOB_ID", "42", 1) == 0);
    CHECK(setenv("SLURM_JOB_NODELIST", "n[1-2]", 1) == 0);
}

static int run_prolog(const struct place *p, const char *const *words, size_t count)
{
    char scontrol[512];
    const char *argv[16] = {LKS_PROLOG_PROGRAM, "--lockstep", p->check, "--scontrol", scontrol};
    snprintf(scontrol, sizeof(scontrol), "%s/scontrol", p->tree.path);
    for (size_t i = 0; i < count; i++)
        argv[5 + i] = words[i];
    return run(p, argv);
}

static void test_prolog(void)
{
    for (size_t i = 0; i < LKS_COUNT(prologs); i++) {
        struct place p;
        lks_test_case("%s", prologs[i].name);
        make_prolog(&p, prologs[i].lockstep, prologs[i].scontrol);
        CHECK_INT(run_prolog(&p, prologs[i].words, LKS_COUNT(prologs[i].words)), prologs[i].exit);
        CHECK_HAS(lks_str_from(text_of(&p, "said")), prologs[i].said);
        CHECK_INT(text_of(&p, "said")[0] == '\0', prologs[i].said[0] == '\0');
        CHECK_HAS(lks_str_from(text_of(&p, "told")), prologs[i].told);
        CHECK_INT(is_there(&p, "told"), prologs[i].told[0] != '\0');
        end_place(&p);
    }
}

/* A user may not make a question that has no answer: the job would start without one. */
static void test_prolog_wishes(void)
{
    static const struct {
        const char *name, *image, *lockstep;
        int exit;
        const char *said;
    } rows[] = {
        {"an image that spoils the question", "a", "echo 'body: images[0].ref' >&2; exit 3", 1,
         "no: lockstepd cannot evaluate the image or the stack that the job names: body: "
         "images[0]"},
        {"the same status without an image", NULL, "echo 'body: job' >&2; exit 3", 0,
         "no answer from lockstepd: body: job; status 3; the job starts"},
        {"an outage beside an image", "a", AWAY, 0, "no route; status 4; the job starts"},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct place p;
        lks_test_case("%s", rows[i].name);
        make_prolog(&p, rows[i].lockstep, "");
        CHECK((rows[i].image != NULL ? setenv("SPANK_LOCKSTEP_IMAGE", rows[i].image, 1)
                                     : unsetenv("SPANK_LOCKSTEP_IMAGE")) == 0);
        CHECK_INT(run_prolog(&p, NULL, 0), rows[i].exit);
        CHECK_HAS(lks_str_from(text_of(&p, "said")), rows[i].said);
        end_place(&p);
    }
    CHECK(unsetenv("SPANK_LOCKSTEP_IMAGE") == 0);
}

static void test_prolog_asks(void)
{
    static const char *const more[] = {"--", "--start", "--stack", "a b"};
    struct place p;
    make_prolog(&p, "echo yes", "");
    CHECK_INT(run_prolog(&p, more, LKS_COUNT(more)), 0);
    CHECK_STR(lks_str_from(text_of(&p, "asked")),
              "admit --brief --job 42 --nodes n[1-2] --start --stack a b\n");
    CHECK(setenv("SLURM_JOB_NODELIST", "", 1) == 0);
    CHECK_INT(run_prolog(&p, more, 0), 0);
    CHECK_HAS(lks_str_from(text_of(&p, "said")), "job 42: no answer from lockstepd: SLURM_JOB_NOD");
    CHECK(setenv("SLURM_JOB_ID", "42;reboot", 1) == 0);
    CHECK_INT(run_prolog(&p, more, 0), 0);
    CHECK_HAS(lks_str_from(text_of(&p, "said")),
              "job ?: no answer from lockstepd: SLURM_JOB_ID is");
    CHECK(unsetenv("SLURM_JOB_ID") == 0);
    CHECK_INT(run_prolog(&p, more, 0), 2);
    CHECK_HAS(lks_str_from(text_of(&p, "said")), "slurm-prolog: SLURM_JOB_ID is not a job's ID");
    end_place(&p);
}

/* Slurm drains a node whose epilog fails; a check that fails is a line in slurmd's log. Under
 * AddressSanitizer the programs have their streams: it looks for a free descriptor for ever. */
static void test_streams(void)
{
    struct place p;
    const char *epilog[16] = {LKS_EPILOG_PROGRAM, "--run", "/nowhere"};
    make_place(&p, "exit 0", LKS_NOTICE_IN_SERVICE);
    streamless = !LKS_TEST_SANITIZED;
    lks_test_case("an epilog");
    CHECK_INT(run(&p, epilog), 0);
    lks_test_case("a check");
    CHECK_INT(run_health(&p, "30", NULL, NULL), streamless ? 6 : 0);
    CHECK_STR(lks_str_from(notice(&p)), streamless ? "" : HEAD "passed");
    end_place(&p);
    lks_test_case("a prolog");
    static const char *const start[] = {"--without-answer=start"}, *const refuse[] = {
                                                                       "--without-answer=refuse"};
    make_prolog(&p, AWAY, "");
    CHECK_INT(run_prolog(&p, NULL, 0), 0);
    CHECK_INT(run_prolog(&p, start, 1), 0);
    CHECK_INT(run_prolog(&p, refuse, 1), 1);
    streamless = false;
    end_place(&p);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"notices as bytes", test_datagrams},
        {"the first line of a check", test_lines},
        {"slurm-health: checks", test_checks},
        {"slurm-health: the agent's folder", test_places},
        {"slurm-health: what is missing", test_others},
        {"slurm-health: usage", test_usage},
        {"slurm-epilog", test_epilog},
        {"slurm-prolog", test_prolog},
        {"slurm-prolog: what a user asks for", test_prolog_wishes},
        {"slurm-prolog: what it asks", test_prolog_asks},
        {"no streams can be opened", test_streams},
        {0},
    });
}
