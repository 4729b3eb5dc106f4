/* Programs of this machine that behave and that do not. */
#include "probe/root/command.h"

#include "probe/root/probe.h"
#include "tests/test.h"
#include "tests/tree.h"
#include "tests/wait.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SHORT_MS = 300, OUTPUT_MAX = 1000 };

static const struct {
    const char *name, *script;
    enum lks_code code;
    const char *said; /* what it printed, or a part of why it failed */
    bool quiet;
} programs[] = {
    {"prints", "echo hello", LKS_OK, "hello ", false},
    {"prints lines", "echo a; echo b", LKS_OK, "a b ", false},
    {"prints nothing", ":", LKS_OK, "", false},
    {"prints errors too", "echo a; echo b >&2", LKS_OK, "a b ", false},
    {"errors thrown away", "echo a; echo b >&2", LKS_OK, "a ", true},
    {"no input", "cat; echo end", LKS_OK, "end ", false},
    {"a clean environment", "env | grep -v -e ^PWD= -e ^SHLVL= -e ^_= | sort", LKS_OK,
     "LC_ALL=C PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin ", false},
    {"in the root directory", "pwd", LKS_OK, "/ ", false},
    {"none of our descriptors",
     "for f in 3 4 5 6 7 8 9; do [ -e /proc/$$/fd/$f ] && echo $f; done; echo end", LKS_OK, "end ",
     false},
    {"may write to nowhere", "echo x >/dev/null && echo yes", LKS_OK, "yes ", false},
    {"fails", "exit 3", LKS_E_IO, "ended with status 3", false},
    {"fails and says why", "echo; echo no driver >&2; exit 1", LKS_E_IO,
     "ended with status 1: no driver", false},
    {"is killed", "kill -SEGV $$", LKS_E_IO, "was ended by signal 11", false},
    {"prints too much", "yes", LKS_E_LIMIT, "printed more than 1000 bytes", false},
};

static enum lks_code run(struct lks_root *root, const char *script, bool quiet, int ms,
                         struct lks_buf *out, struct lks_err *err)
{
    const char *args[] = {"-c", script, NULL};
    struct lks_command c;
    lks_command_start(&c, root, "/bin/sh", args, OUTPUT_MAX, quiet ? LKS_COMMAND_QUIET : 0, ms);
    return lks_command_collect(&c, root, out, err);
}

static void test_programs(void)
{
    struct lks_root root;
    struct lks_err err = {0};
    if (!CHECK_CODE(lks_root_open(NULL, NULL, &root, &err), LKS_OK))
        return;
    for (size_t i = 0; i < LKS_COUNT(programs); i++) {
        lks_test_case("%s", programs[i].name);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(2 * OUTPUT_MAX);
        err = (struct lks_err){0};
        enum lks_code code =
            run(&root, programs[i].script, programs[i].quiet, LKS_WAIT_MS, &out, &err);
        CHECK_CODE(code, programs[i].code);
        if (code == LKS_OK)
            CHECK_STR(lks_buf_view(&out), programs[i].said);
        else
            CHECK_HAS(lks_str_from(err.msg), programs[i].said);
    }
    lks_root_close(&root);
}

/* Whatever it does, it is over when its time is, and nothing of it is left. */
static void test_hangs(void)
{
    static const char *const scripts[] = {"sleep 60", "trap '' TERM INT HUP; sleep 60 & sleep 60",
                                          "exec >&-; exec 2>&-; sleep 60", "sleep 60 & echo done"};
    struct lks_root root;
    struct lks_err err = {0};
    if (!CHECK_CODE(lks_root_open(NULL, NULL, &root, &err), LKS_OK))
        return;
    for (size_t i = 0; i < LKS_COUNT(scripts); i++) {
        lks_test_case("%s", scripts[i]);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(OUTPUT_MAX);
        CHECK_CODE(run(&root, scripts[i], false, SHORT_MS, &out, &err), LKS_E_TIMEOUT);
        CHECK(waitpid(-1, NULL, WNOHANG) < 0); /* no child is left */
    }
    lks_root_close(&root);
}

/* They run beside each other: none ends before all were started. */
static void test_together(void)
{
    struct lks_tree tree = lks_tree_new();
    struct lks_root root;
    struct lks_err err = {0};
    struct lks_command c[8];
    char pipes[LKS_COUNT(c)][128];
    if (!CHECK_CODE(lks_root_open(NULL, NULL, &root, &err), LKS_OK))
        return;
    for (size_t i = 0; i < LKS_COUNT(c); i++) {
        const char *args[] = {pipes[i], NULL};
        snprintf(pipes[i], sizeof(pipes[i]), "%s/%zu", tree.path, i);
        CHECK(mkfifo(pipes[i], 0600) == 0);
        lks_command_start(&c[i], &root, "/bin/cat", args, OUTPUT_MAX, false, LKS_WAIT_MS);
    }
    for (size_t i = 0; i < LKS_COUNT(c); i++) {
        int fd = open(pipes[i], O_WRONLY | O_CLOEXEC); /* waits for who reads it */
        CHECK(fd >= 0 && close(fd) == 0);
    }
    for (size_t i = 0; i < LKS_COUNT(c); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(OUTPUT_MAX);
        CHECK_CODE(lks_command_collect(&c[i], &root, &out, &err), LKS_OK);
    }
    lks_root_close(&root);
    lks_tree_free(&tree);
}

/* This program itself as one that is asked, for what no shell can do. */
static const char cut[] = "--cut-short";

static void run_self(struct lks_root *root, const char *argument)
{
    const char *args[] = {cut, argument, NULL};
    char self[LKS_ROOT_PATH_MAX] = "";
    struct lks_command c;
    struct lks_err err = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(OUTPUT_MAX);
    CHECK(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
    lks_command_start(&c, root, self, args, OUTPUT_MAX, 0, LKS_WAIT_MS);
    CHECK_CODE(lks_command_collect(&c, root, &out, &err), LKS_OK);
}

/* It makes and changes no file, where the kernel lets us see to it. */
static void test_no_writing(void)
{
    struct lks_tree tree = lks_tree_new();
    struct lks_root root;
    struct lks_err err = {0};
    char script[1024], made[128], there[128];
    struct stat st;
    LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(OUTPUT_MAX);
    lks_tree_file(&tree, "/there", "kept");
    snprintf(made, sizeof(made), "%s/made", tree.path);
    snprintf(there, sizeof(there), "%s/there", tree.path);
    snprintf(script, sizeof(script), "echo x >%s; mkdir %s.d; echo y >>%s; mv %s %s; rm %s; exit 0",
             made, made, there, there, made, there);
    if (!CHECK_CODE(lks_root_open(NULL, NULL, &root, &err), LKS_OK))
        return;
    CHECK_CODE(run(&root, script, true, LKS_WAIT_MS, &out, &err), LKS_OK);
    if (lks_command_guard() > 0) {
        CHECK(stat(made, &st) != 0);
        CHECK(stat(there, &st) == 0 && st.st_size == 4);
    }
    lks_test_case("cut short");
    lks_tree_file(&tree, "/there", "kept");
    run_self(&root, there);
    CHECK(stat(there, &st) == 0 && (st.st_size == 4) == (lks_command_guard() >= 3));
    lks_root_close(&root);
    lks_tree_free(&tree);
}

/* One that may open NVIDIA's devices may open no others. */
static void test_devices(void)
{
    static const char script[] = "for d in null zero full; do true >/dev/$d && echo $d; done; true";
    const char *args[] = {"-c", script, NULL};
    struct lks_root root;
    struct lks_command c;
    struct lks_err err = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(OUTPUT_MAX);
    if (!CHECK_CODE(lks_root_open(NULL, NULL, &root, &err), LKS_OK))
        return;
    lks_command_start(&c, &root, "/bin/sh", args, OUTPUT_MAX,
                      LKS_COMMAND_QUIET | LKS_COMMAND_DEVICES, LKS_WAIT_MS);
    CHECK_CODE(lks_command_collect(&c, &root, &out, &err), LKS_OK);
    CHECK_STR(lks_buf_view(&out), lks_command_guard() > 0 ? "null " : "null zero full ");
    lks_root_close(&root);
}

/* A probe that starts a program and is killed while it waits. Tells what the program printed, the
 * number of one that the program started. */
static pid_t killed_probe(void)
{
    static const char script[] = "sleep 60 & echo $!; wait";
    const char *args[] = {"-c", script, NULL};
    int ends[2] = {-1, -1};
    char number[32] = "";
    CHECK(pipe(ends) == 0);
    pid_t probe = fork();
    if (probe == 0) {
        struct lks_root root;
        struct lks_command c;
        struct lks_err err;
        if (lks_root_open(NULL, NULL, &root, &err) != LKS_OK)
            _exit(1);
        lks_command_start(&c, &root, "/bin/sh", args, OUTPUT_MAX, 0, LKS_WAIT_MS);
        ssize_t n = read(c.pipe, number, sizeof(number));
        if (n <= 0 || write(ends[1], number, (size_t)n) != n)
            _exit(1);
        for (;;)
            (void)pause();
    }
    (void)close(ends[1]);
    CHECK(read(ends[0], number, sizeof(number) - 1) > 0);
    (void)close(ends[0]);
    CHECK(kill(probe, SIGKILL) == 0);
    CHECK(waitpid(probe, NULL, 0) == probe);
    return (pid_t)strtol(number, NULL, 10);
}

/* All that a killed probe started goes with it. What has lost its parent is ours here, so that we
 * hear of its end. */
static void test_killed(void)
{
    CHECK(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0);
    pid_t started = killed_probe();
    int status = 0;
    bool ended = false;
    for (struct lks_wait w = {0}; !ended && lks_wait(&w);)
        ended = waitpid(-1, &status, WNOHANG) == started;
    CHECK(started > 1 && ended);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    if (!ended && started > 1)
        (void)kill(started, SIGKILL);
    while (waitpid(-1, NULL, 0) > 0)
        continue;
    CHECK(prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0) == 0);
}

static void probe_slow(struct lks_probe *p)
{
    const char *args[] = {"-c", "sleep 0.7; echo late", NULL};
    struct lks_command c;
    struct lks_err err = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(OUTPUT_MAX);
    lks_command_start(&c, p->root, "/bin/sh", args, OUTPUT_MAX, 0, LKS_WAIT_MS);
    if (lks_command_collect(&c, p->root, &out, &err) == LKS_OK)
        lks_probe_value(p, "slow", LKS_STR(""), LKS_STR(""), lks_buf_view(&out), "sh");
}

/* A program has the time it was given, however short the silence that a probe is granted. */
static void test_patience(void)
{
    static const char *const promises[] = {"slow", NULL};
    static const struct lks_probe_kind kinds[] = {{"slow", "", probe_slow, promises, false}};
    const struct lks_probe_options options = {.call_ms = 200, .probe_ms = 400};
    LKS_CLEANUP(lks_tuple_fini) struct lks_tuple tuple = {0};
    struct lks_root root;
    struct lks_err err = {0};
    lks_tuple_init(&tuple);
    if (!CHECK_CODE(lks_root_open(NULL, NULL, &root, &err), LKS_OK))
        return;
    CHECK_CODE(lks_probe_run(kinds, 1, &root, NULL, &options, &tuple, NULL, &err), LKS_OK);
    const struct lks_reading *r = lks_tuple_find(&tuple, "slow");
    if (CHECK(r != NULL)) {
        CHECK_INT(r->state, LKS_MEASURED);
        CHECK_STR(r->value, "late ");
    }
    lks_root_close(&root);
}

/* Whose programs are run. */
static void test_trust(void)
{
    static const struct {
        const char *name;
        uid_t owner;
        gid_t group;
        mode_t mode;
        uid_t us;
        const char *why; /* NULL: it is run */
    } rows[] = {
        {"root's", 0, 0, 0755, 0, NULL},
        {"root's, for us", 0, 0, 0755, 1000, NULL},
        {"ours", 1000, 1000, 0755, 1000, NULL},
        {"root's group may write", 0, 0, 0775, 1000, NULL},
        {"another's, for root", 1000, 0, 0755, 0, "p: not run, as it belongs to user 1000"},
        {"another's, for us", 1001, 0, 0755, 1000, "p: not run, as it belongs to user 1001"},
        {"a group may write", 0, 50, 0775, 0, "p: not run, as group 50 may change it"},
        {"our own group may write", 1000, 1000, 0775, 1000,
         "p: not run, as group 1000 may change it"},
        {"anyone may write", 0, 0, 0757, 0, "p: not run, as anyone may change it"},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct stat st = {
            .st_uid = rows[i].owner, .st_gid = rows[i].group, .st_mode = S_IFREG | rows[i].mode};
        struct lks_err err = {0};
        lks_test_case("%s", rows[i].name);
        CHECK_CODE(lks_command_trust("p", &st, rows[i].us, &err),
                   rows[i].why == NULL ? LKS_OK : LKS_E_DENIED);
        CHECK_STR(lks_str_from(err.msg), rows[i].why == NULL ? "" : rows[i].why);
    }
}

static void test_find(void)
{
    struct lks_tree tree = lks_tree_new();
    struct lks_root root;
    struct lks_err err = {0};
    char path[LKS_ROOT_PATH_MAX];
    struct stat st;
    size_t dir = 0;
    lks_tree_file(&tree, "/usr/bin/tool", "");
    lks_tree_file(&tree, "/usr/local/bin/tool", "");
    lks_tree_file(&tree, "/home/tool2", "");
    lks_tree_dir(&tree, "/usr/bin/tool3");
    if (!CHECK_CODE(lks_root_open(tree.path, NULL, &root, &err), LKS_OK))
        return;
    CHECK_CODE(lks_command_find(&root, "tool", &dir, path, &st, &err), LKS_OK);
    CHECK_STR(lks_str_from(path), "/usr/local/bin/tool");
    CHECK_CODE(lks_command_find(&root, "tool", &dir, path, &st, &err), LKS_OK);
    CHECK_STR(lks_str_from(path), "/usr/bin/tool");
    CHECK_CODE(lks_command_find(&root, "tool", &dir, path, &st, &err), LKS_E_NOT_FOUND);
    dir = 0;
    CHECK_CODE(lks_command_find(&root, "tool2", &dir, path, &st, &err), LKS_E_NOT_FOUND);
    dir = 0;
    CHECK_CODE(lks_command_find(&root, "tool3", &dir, path, &st, &err), LKS_E_INVALID);
    snprintf(path, sizeof(path), "%s/usr/bin/tool4", tree.path);
    lks_tree_file(&tree, "/usr/bin/tool4", "");
    CHECK(chmod(path, 0777) == 0);
    for (int live = 0; live < 2; live++) { /* what is only read may be anyone's */
        root.live = live == 1;
        dir = 0;
        CHECK_CODE(lks_command_find(&root, "tool4", &dir, path, &st, &err),
                   live == 1 ? LKS_E_DENIED : LKS_OK);
    }
    lks_root_close(&root);
    lks_tree_free(&tree);
}

/* A program that is not there, and one that may not be run. */
static void test_not_started(void)
{
    struct lks_root root;
    struct lks_err err = {0};
    const char *args[] = {NULL};
    static const char *const paths[] = {"/nowhere/at/all", "/etc/passwd"};
    if (!CHECK_CODE(lks_root_open(NULL, NULL, &root, &err), LKS_OK))
        return;
    for (size_t i = 0; i < LKS_COUNT(paths); i++) {
        lks_test_case("%s", paths[i]);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(OUTPUT_MAX);
        struct lks_command c;
        lks_command_start(&c, &root, paths[i], args, OUTPUT_MAX, false, LKS_WAIT_MS);
        CHECK_CODE(lks_command_collect(&c, &root, &out, &err), LKS_E_IO);
        CHECK_HAS(lks_str_from(err.msg), "could not be run");
    }
    lks_root_close(&root);
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], cut) == 0)
        return truncate(argv[2], 0) != 0 && errno == ENOENT;
    return lks_test_main((const struct lks_test[]){{"command: programs", test_programs},
                                                   {"command: hangs", test_hangs},
                                                   {"command: together", test_together},
                                                   {"command: no writing", test_no_writing},
                                                   {"command: devices", test_devices},
                                                   {"command: killed", test_killed},
                                                   {"command: patience", test_patience},
                                                   {"command: trust", test_trust},
                                                   {"command: finding", test_find},
                                                   {"command: not started", test_not_started},
                                                   {0}});
}
