/* Programs of this machine that behave and that do not. */
#include "probe/command.h"

#include "tests/test.h"
#include "tests/tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SHORT_MS = 300, LONG_MS = 5000, OUTPUT_MAX = 1000 };

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

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
        LKS_CLEANUP(lks_buf_fini) struct lks_buf out = {0};
        lks_buf_init(&out, 2 * OUTPUT_MAX);
        err = (struct lks_err){0};
        enum lks_code code = run(&root, programs[i].script, programs[i].quiet, LONG_MS, &out, &err);
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
        LKS_CLEANUP(lks_buf_fini) struct lks_buf out = {0};
        lks_buf_init(&out, OUTPUT_MAX);
        int64_t begun = now_ms();
        CHECK_CODE(run(&root, scripts[i], false, SHORT_MS, &out, &err), LKS_E_TIMEOUT);
        CHECK(now_ms() - begun < LONG_MS);
        CHECK(waitpid(-1, NULL, WNOHANG) < 0); /* no child is left */
    }
    lks_root_close(&root);
}

/* All of them take as long as the slowest. */
static void test_together(void)
{
    struct lks_root root;
    struct lks_err err = {0};
    struct lks_command c[8];
    const char *args[] = {"0.3", NULL};
    if (!CHECK_CODE(lks_root_open(NULL, NULL, &root, &err), LKS_OK))
        return;
    int64_t begun = now_ms();
    for (size_t i = 0; i < LKS_COUNT(c); i++)
        lks_command_start(&c[i], &root, "/bin/sleep", args, OUTPUT_MAX, false, LONG_MS);
    for (size_t i = 0; i < LKS_COUNT(c); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf out = {0};
        lks_buf_init(&out, OUTPUT_MAX);
        CHECK_CODE(lks_command_collect(&c[i], &root, &out, &err), LKS_OK);
    }
    CHECK(now_ms() - begun < 8 * 300);
    lks_root_close(&root);
}

/* It makes no file, where the kernel lets us see to it. */
static void test_no_writing(void)
{
    struct lks_tree tree = lks_tree_new();
    struct lks_root root;
    struct lks_err err = {0};
    char script[512], made[128];
    struct stat st;
    LKS_CLEANUP(lks_buf_fini) struct lks_buf out = {0};
    lks_buf_init(&out, OUTPUT_MAX);
    lks_tree_file(&tree, "/there", "kept");
    snprintf(made, sizeof(made), "%s/made", tree.path);
    snprintf(script, sizeof(script), "echo x >%s; mkdir %s.d; echo y >>%s/there; exit 0", made,
             made, tree.path);
    if (!CHECK_CODE(lks_root_open(NULL, NULL, &root, &err), LKS_OK))
        return;
    CHECK_CODE(run(&root, script, true, LONG_MS, &out, &err), LKS_OK);
    if (lks_command_guarded()) {
        CHECK(stat(made, &st) != 0);
        snprintf(made, sizeof(made), "%s/there", tree.path);
        CHECK(stat(made, &st) == 0 && st.st_size == 4);
    }
    lks_root_close(&root);
    lks_tree_free(&tree);
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
        LKS_CLEANUP(lks_buf_fini) struct lks_buf out = {0};
        struct lks_command c;
        lks_buf_init(&out, OUTPUT_MAX);
        lks_command_start(&c, &root, paths[i], args, OUTPUT_MAX, false, LONG_MS);
        CHECK_CODE(lks_command_collect(&c, &root, &out, &err), LKS_E_IO);
        CHECK_HAS(lks_str_from(err.msg), "could not be run");
    }
    lks_root_close(&root);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){{"command: programs", test_programs},
                                                   {"command: hangs", test_hangs},
                                                   {"command: together", test_together},
                                                   {"command: no writing", test_no_writing},
                                                   {"command: finding", test_find},
                                                   {"command: not started", test_not_started},
                                                   {0}});
}
