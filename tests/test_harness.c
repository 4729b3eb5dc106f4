/* The harness itself: which tests it counts as passed, and what it returns. */
#include "base/buf.h"
#include "tests/test.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static void passes(void)
{
    (void)CHECK(true);
}

static void fails(void)
{
    (void)CHECK_INT(1, 2);
}

static void checks_nothing(void)
{
}

/* In a child, as a test program of its own: what it prints, and its exit status. */
static int run(const struct lks_test *tests, struct lks_buf *out)
{
    int ends[2], status = 0;
    LKS_ASSERT(pipe(ends) == 0);
    (void)fflush(stdout);
    pid_t child = fork();
    LKS_ASSERT(child >= 0);
    if (child == 0) {
        (void)dup2(ends[1], STDOUT_FILENO);
        int ended = lks_test_main(tests);
        (void)fflush(stdout);
        _exit(ended);
    }
    (void)close(ends[1]);
    char bytes[256];
    for (ssize_t got; (got = read(ends[0], bytes, sizeof(bytes))) > 0;)
        lks_buf_add(out, (struct lks_str){bytes, (size_t)got});
    (void)close(ends[0]);
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void test_outcomes(void)
{
    static const struct {
        const char *name;
        struct lks_test tests[3];
        int exit;
        const char *says;
    } rows[] = {
        {"all pass",
         {{"one", passes}, {"two", passes}},
         0,
         "ok   one\nok   two\n2 passed, 0 failed\n"},
        {"one fails",
         {{"one", fails}, {"two", passes}},
         1,
         "FAIL one\nok   two\n1 passed, 1 failed\n"},
        {"one checks nothing",
         {{"one", checks_nothing}},
         1,
         "one: makes no check\nFAIL one\n0 passed, 1 failed\n"},
        {"a check counts for its own test alone",
         {{"one", passes}, {"two", checks_nothing}},
         1,
         "ok   one\ntwo: makes no check\nFAIL two\n1 passed, 1 failed\n"},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(4096);
        int ended = run(rows[i].tests, &out);
        lks_test_case("%s", rows[i].name);
        CHECK_INT(ended, rows[i].exit);
        CHECK_HAS(lks_buf_view(&out), rows[i].says);
    }
}

int main(void)
{
    static const struct lks_test tests[] = {{"outcomes", test_outcomes}, {0}};
    return lks_test_main(tests);
}
