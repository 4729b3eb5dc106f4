/* What executors share: programs that do the work, and the table of settings. The executors
 * themselves are tried for real, as root (tests/real/executors.sh). */
#include "executors/settings.h"
#include "executors/tool.h"
#include "tests/test.h"
#include "tests/tree.h"
#include "tests/wait.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH_SIZE = 128 };

static const struct {
    const char *name, *script;
    int ms;
    enum lks_code code;
    const char *message, *printed;
} tools[] = {
    {"yes", "echo one\necho two", 0, LKS_OK, "", "one\ntwo\n"},
    {"no, with a reason", "echo fine\necho why not >&2\nexit 3", 0, LKS_E_REFUSED,
     "tool: status 3: why not", "fine\n"},
    {"no, with the reason where it prints", "echo first\necho last\nexit 1", 0, LKS_E_REFUSED,
     "tool: status 1: last", "first\nlast\n"},
    {"dpkg, which says more after its reason",
     "echo no way >&2\n"
     "echo 'dpkg: error processing package a (--configure):' >&2\n"
     "echo ' installed a package post-installation script subprocess returned error exit status 7'"
     " >&2\necho 'Errors were encountered while processing:' >&2\necho ' a' >&2\n"
     "echo 'E: Sub-process dpkg returned an error code (1)' >&2\nexit 100",
     0, LKS_E_REFUSED,
     "tool: status 100: installed a package post-installation script subprocess returned error "
     "exit status 7",
     ""},
    {"no, without a word", "exit 1", 0, LKS_E_REFUSED, "tool: status 1", ""},
    {"a reason that drives a terminal", "printf '\\033[2Jx\\n' >&2\nexit 1", 0, LKS_E_REFUSED,
     "tool: status 1: ?[2Jx", ""},
    {"killed", "kill -9 $$", 0, LKS_E_REFUSED, "tool: signal 9", ""},
    {"one that takes too long", "echo begun\nsleep 60", 300, LKS_E_TIMEOUT,
     "tool: stopped after 0 seconds", "begun\n"},
    {"one that leaves another behind", "sleep 60 &\necho done", LKS_WAIT_MS, LKS_OK, "", "done\n"},
    {"without input", "cat", 0, LKS_OK, "", ""},
    {"in C's own language", "echo $LC_ALL $DEBIAN_FRONTEND", 0, LKS_OK, "", "C noninteractive\n"},
};

static void programs_that_do_the_work(void)
{
    struct lks_tree tree = lks_tree_new();
    char path[PATH_SIZE], script[PATH_SIZE * 4];
    snprintf(path, sizeof(path), "%s/tool", tree.path);
    for (size_t i = 0; i < LKS_COUNT(tools); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(LKS_TOOL_OUTPUT_MAX);
        const char *argv[] = {path, NULL};
        struct lks_err err = {0};
        lks_test_case("%s", tools[i].name);
        snprintf(script, sizeof(script), "#!/bin/sh\n%s\n", tools[i].script);
        lks_tree_file(&tree, "/tool", script);
        CHECK(chmod(path, 0755) == 0);
        const struct lks_tool tool = {.argv = argv, .out = &out, .ms = tools[i].ms};
        enum lks_code code = lks_tool_run(&tool, &err);
        for (struct lks_wait w = {0}; code == LKS_E_TIMEOUT && out.len == 0 && lks_wait(&w);)
            code = lks_tool_run(&tool, &err); /* its time was up before it was running */
        CHECK_CODE(code, tools[i].code);
        CHECK_STR(lks_str_from(err.msg), tools[i].message);
        CHECK_STR(lks_buf_view(&out), tools[i].printed);
    }
    lks_tree_free(&tree);
}

/* Wait until it is there. */
static bool appears(const char *path)
{
    for (struct lks_wait w = {0}; access(path, F_OK) != 0 && lks_wait(&w);) {
    }
    return access(path, F_OK) == 0;
}

/* The root helper ends an executor whose time is up with all of its group. What is not to stop
 * half-way goes on, and whoever comes next waits for it. */
static void a_program_that_is_not_to_stop_half_way(void)
{
    struct lks_tree tree = lks_tree_new();
    char path[PATH_SIZE], lock[PATH_SIZE], begun[PATH_SIZE], done[PATH_SIZE], script[4 * PATH_SIZE];
    int status = 0;
    snprintf(path, sizeof(path), "%s/tool", tree.path);
    snprintf(lock, sizeof(lock), "%s/lock", tree.path);
    snprintf(begun, sizeof(begun), "%s/begun", tree.path);
    snprintf(done, sizeof(done), "%s/done", tree.path);
    snprintf(script, sizeof(script), "#!/bin/sh\n: >%s\nsleep 0.3\n: >%s\n", begun, done);
    lks_tree_file(&tree, "/tool", script);
    lks_tree_file(&tree, "/lock", "");
    CHECK(chmod(path, 0755) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        const char *argv[] = {path, NULL};
        struct lks_err err = {0};
        int fd = open(lock, O_RDWR | O_CLOEXEC);
        (void)setsid();
        (void)flock(fd, LOCK_EX);
        (void)!lks_tool_run(&(struct lks_tool){.argv = argv, .lock = fd, .apart = true}, &err);
        _exit(0);
    }
    CHECK(pid > 0 && appears(begun));
    CHECK(kill(-pid, SIGKILL) == 0 && waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
    int fd = open(lock, O_RDWR | O_CLOEXEC);
    CHECK(flock(fd, LOCK_EX) == 0);
    CHECK(access(done, F_OK) == 0);
    (void)close(fd);
    lks_tree_free(&tree);
}

static void a_program_that_is_not_installed(void)
{
    const char *argv[] = {"lks-no-such-tool", "-x", NULL};
    struct lks_err err = {0};
    CHECK(!lks_tool_there(argv[0]) && lks_tool_there("sh"));
    CHECK_CODE(lks_tool_run(&(struct lks_tool){.argv = argv}, &err), LKS_E_NOT_FOUND);
    CHECK_STR(lks_str_from(err.msg), "lks-no-such-tool is not installed here");
}

/* What a plan may order the executor knows, and the other way round. */
static void the_table_is_what_plans_may_order(void)
{
    for (size_t i = 0; lks_order_settings[i] != NULL; i++) {
        lks_test_case("%s", lks_order_settings[i]);
        CHECK(lks_setting_find(lks_str_from(lks_order_settings[i])) != NULL);
    }
    for (size_t i = 0; i < lks_setting_count; i++) {
        const struct lks_setting *s = &lks_settings[i];
        lks_test_case("%s", s->path);
        CHECK(lks_order_setting(lks_str_from(s->path)));
        CHECK(s->set != NULL && s->how[0] != '\0');
        CHECK(s->needs != LKS_SETTING_BOOT || s->placed != NULL); /* no reading tells */
        CHECK(s->needs != LKS_SETTING_RESET || s->pending != NULL);
        CHECK(s->born == NULL || s->lets_go);
        CHECK(!s->keeps || s->needs != LKS_SETTING_BOOT);
        struct lks_err err = {0};
        CHECK_CODE(lks_setting_check(s, (struct lks_str){0}, &err), LKS_OK);
        CHECK(s->born == NULL || lks_setting_check(s, lks_str_from(s->born), &err) == LKS_OK);
    }
    CHECK(lks_setting_find(LKS_STR("settings.bios.NPS")) == NULL);
    CHECK(!lks_order_setting(LKS_STR("settings.powerlimit")));
}

static const struct {
    const char *setting, *words;
    const char *why; /* NULL: it may be set */
} values[] = {
    {"settings.unattended_upgrades", "false", NULL},
    {"settings.unattended_upgrades", "maybe", "'maybe' is no value for it: it takes true|false"},
    {"settings.unattended_upgrades", "-1", "'-1' is no value for it: it takes true|false"},
    {"settings.persistence", "tru", "'tru' is no value for it: it takes true|false"},
    {"settings.memory_mode", "cdmm", NULL},
    {"settings.memory_mode", "700; rm -rf /",
     "'700; rm -rf /' is no value for it: it takes numa|cdmm"},
    {"settings.mig.mode", "enabled", NULL},
    {"settings.power_limit_w", "700", NULL},
    {"settings.power_limit_w", "0", "'0' is no value for it: it takes a number above 0"},
    {"settings.power_limit_w", "maybe", "'maybe' is no value for it: it takes a number above 0"},
    {"settings.clocks.memory_mhz", "-rmc", "'-rmc' is no value for it: it takes a number above 0"},
    {"tuning.env.NCCL_ALGO", "Tree", NULL},
};

static void values_that_are_none(void)
{
    for (size_t i = 0; i < LKS_COUNT(values); i++) {
        struct lks_err err = {0};
        lks_test_case("%s: %s", values[i].setting, values[i].words);
        const struct lks_setting *s = lks_setting_find(lks_str_from(values[i].setting));
        CHECK(s != NULL);
        CHECK_CODE(lks_setting_check(s, lks_str_from(values[i].words), &err),
                   values[i].why == NULL ? LKS_OK : LKS_E_INVALID);
        CHECK_STR(lks_str_from(err.msg), values[i].why == NULL ? "" : values[i].why);
    }
}

#define GPU(n, how, text)                                                                          \
    {                                                                                              \
        .of = LKS_STR_C("gpu " n), .state = (how), .value = LKS_STR_C(text)                        \
    }
#define LINE(text)                                                                                 \
    {                                                                                              \
        .state = LKS_MEASURED, .value = LKS_STR_C(text)                                            \
    }

static const struct {
    const char *name;
    size_t count;
    struct lks_reading readings[2];
    const char *setting, *words;
    const char *why; /* NULL: it holds */
} rows[] = {
    {"nothing tells it", 0, {LINE("")}, "settings.power_limit_w", "700", "nothing here has it"},
    {"all have it",
     2,
     {GPU("1", LKS_MEASURED, "700"), GPU("2", LKS_MEASURED, "700")},
     "settings.power_limit_w",
     "700",
     NULL},
    {"one has another",
     2,
     {GPU("1", LKS_MEASURED, "700"), GPU("2", LKS_MEASURED, "600")},
     "settings.power_limit_w",
     "700",
     "gpu 2 has 600"},
    {"one does not tell",
     1,
     {GPU("1", LKS_UNMEASURED, "it hangs")},
     "settings.power_limit_w",
     "700",
     "gpu 1 does not tell: it hangs"},
    {"one does not have such a thing",
     1,
     {GPU("1", LKS_ABSENT, "")},
     "settings.power_limit_w",
     "700",
     "gpu 1 has none"},
    {"not to have it is to have it off",
     1,
     {GPU("1", LKS_ABSENT, "")},
     "settings.mig.mode",
     "disabled",
     NULL},
    {"parameters among others",
     1,
     {LINE("quiet iommu=pt x hugepages=16")},
     "settings.kernel_cmdline",
     "iommu=pt hugepages=16",
     NULL},
    {"parameters in another order",
     1,
     {LINE("hugepages=16 iommu=pt")},
     "settings.kernel_cmdline",
     "iommu=pt hugepages=16",
     "it is hugepages=16 iommu=pt"},
};

static void what_the_machine_says(void)
{
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_settings_machine_fini) struct lks_machine m = {0};
        char why[LKS_MACHINE_WHY_SIZE];
        struct lks_err err = {0};
        struct lks_str setting = lks_str_from(rows[i].setting);
        lks_test_case("%s", rows[i].name);
        lks_tuple_init(&m.tuple);
        for (size_t k = 0; k < rows[i].count; k++) {
            struct lks_reading r = rows[i].readings[k];
            r.name = setting;
            r.evidence = LKS_STR("test");
            lks_tuple_add(&m.tuple, &r);
        }
        CHECK_CODE(lks_tuple_finish(&m.tuple, &err), LKS_OK);
        bool holds = lks_settings_machine_holds(&m, setting, lks_str_from(rows[i].words), why);
        CHECK_INT(holds, rows[i].why == NULL);
        if (rows[i].why != NULL)
            CHECK_STR(lks_str_from(why), rows[i].why);
    }
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"programs that do the work", programs_that_do_the_work},
        {"a program that is not to stop half-way", a_program_that_is_not_to_stop_half_way},
        {"a program that is not installed", a_program_that_is_not_installed},
        {"the table is what plans may order", the_table_is_what_plans_may_order},
        {"values that are none", values_that_are_none},
        {"what the machine says", what_the_machine_says},
        {NULL, NULL},
    };
    return lks_test_main(tests);
}
