#include "tests/test.h"

#include "base/err.h"

#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char now_at[256];
static bool checked_now, failed_now;

void lks_test_case(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(now_at, sizeof(now_at), fmt, ap);
    va_end(ap);
}

static void place(const char *file, int line)
{
    failed_now = true;
    printf("%s:%d: ", file, line);
    if (now_at[0] != '\0')
        printf("[%s] ", now_at);
}

bool lks_check(bool ok, const char *what, const char *file, int line)
{
    checked_now = true;
    if (!ok) {
        place(file, line);
        printf("not true: %s\n", what);
    }
    return ok;
}

bool lks_check_int(int64_t got, int64_t want, const char *what, const char *file, int line)
{
    checked_now = true;
    if (got != want) {
        place(file, line);
        printf("%s is %" PRId64 ", expected %" PRId64 "\n", what, got, want);
    }
    return got == want;
}

bool lks_check_near(double got, double want, double tolerance, const char *what, const char *file,
                    int line)
{
    checked_now = true;
    double size = want < 0 ? -want : want, apart = got < want ? want - got : got - want;
    bool ok = got == want || apart <= tolerance * (size > 0 ? size : 1);
    if (!ok) {
        place(file, line);
        printf("%s is %.17g, expected %.17g within %g\n", what, got, want, tolerance);
    }
    return ok;
}

bool lks_check_code(int got, int want, const char *what, const char *file, int line)
{
    checked_now = true;
    if (got != want) {
        place(file, line);
        printf("%s is %s, expected %s\n", what, lks_err_code_info((enum lks_code)got)->text,
               lks_err_code_info((enum lks_code)want)->text);
    }
    return got == want;
}

bool lks_check_str(struct lks_str got, const char *want, const char *what, const char *file,
                   int line)
{
    checked_now = true;
    bool ok = lks_str_is(got, want);
    if (!ok) {
        place(file, line);
        printf("%s is\n    %" LKS_STR_FMT "\nexpected\n    %s\n", what, LKS_STR_ARG(got), want);
    }
    return ok;
}

bool lks_check_has(struct lks_str got, const char *want, const char *what, const char *file,
                   int line)
{
    checked_now = true;
    bool ok = lks_str_find(got, lks_str_from(want)) >= 0;
    if (!ok) {
        place(file, line);
        printf("%s is\n    %" LKS_STR_FMT "\nwithout\n    %s\n", what, LKS_STR_ARG(got), want);
    }
    return ok;
}

/* An assertion that stops the program still tells which row or seed led there. abort() was called
 * by our own code, so the handler may print. */
static void on_abort(int sig)
{
    (void)sig;
    fflush(stdout);
    fprintf(stderr, "stopped in [%s]\n", now_at);
}

/* A person who runs the tests may have a controller of their own, which no test may ask. */
static void forget_person(void)
{
    static const char *const names[] = {"LOCKSTEP_SERVER", "LOCKSTEP_CA", "LOCKSTEP_TOKEN_FILE",
                                        "LOCKSTEP_CONTEXT"};
    for (size_t i = 0; i < LKS_COUNT(names); i++)
        (void)unsetenv(names[i]);
    (void)setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
}

int lks_test_main(const struct lks_test *tests)
{
    signal(SIGABRT, on_abort);
    forget_person();
    unsigned passed = 0, failed = 0;
    for (; tests->name != NULL; tests++) {
        now_at[0] = '\0';
        checked_now = failed_now = false;
        tests->run();
        if (!checked_now) {
            failed_now = true;
            printf("%s: makes no check\n", tests->name);
        }
        printf("%s %s\n", failed_now ? "FAIL" : "ok  ", tests->name);
        failed += failed_now;
        passed += !failed_now;
    }
    printf("%u passed, %u failed\n", passed, failed);
    return failed > 0;
}
