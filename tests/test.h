/* The test harness: a table of functions, checks that report and go on, one closing line. */
#ifndef LKS_TESTS_TEST_H
#define LKS_TESTS_TEST_H

#include "base/compiler.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct lks_test {
    const char *name;
    void (*run)(void);
};

/* Run every test up to the entry without a name, print "N passed, N failed" last and return what
 * main() returns. A test that makes no check fails: it would pass whatever the code does. */
int lks_test_main(const struct lks_test *tests);

/* Whether the address sanitizer is in this build; lockstepd beside it is of the same build. */
#if defined(__SANITIZE_ADDRESS__)
#define LKS_TEST_SANITIZED 1
#elif defined(__has_feature)
#define LKS_TEST_SANITIZED __has_feature(address_sanitizer)
#else
#define LKS_TEST_SANITIZED 0
#endif

/* Rounds of a property. The sanitizers take several times as long for each, so they see a quarter;
 * the build without them, which is tested as well, sees all. */
#define LKS_TEST_ROUNDS(all) (LKS_TEST_SANITIZED ? (all) / 4 : (all))

/* What is being looked at now: the row of a table, the seed of a run. Part of every report. */
void lks_test_case(const char *fmt, ...) LKS_PRINTF(1, 2);

/* Each yields whether it held, so that a test can stop where going on makes no sense. */
#define CHECK(cond)          lks_check((cond), #cond, __FILE__, __LINE__)
#define CHECK_STR(got, want) lks_check_str((got), (want), #got, __FILE__, __LINE__)
#define CHECK_INT(got, want)                                                                       \
    lks_check_int((int64_t)(got), (int64_t)(want), #got, __FILE__, __LINE__)
#define CHECK_CODE(got, want) lks_check_code((int)(got), (int)(want), #got, __FILE__, __LINE__)

/* Apart by at most `tolerance` times the wanted size; for a wanted 0, by at most `tolerance`. */
#define CHECK_NEAR(got, want, tolerance)                                                           \
    lks_check_near((got), (want), (tolerance), #got, __FILE__, __LINE__)

/* The text contains `want` somewhere. */
#define CHECK_HAS(got, want) lks_check_has((got), (want), #got, __FILE__, __LINE__)

bool lks_check(bool ok, const char *what, const char *file, int line);
bool lks_check_int(int64_t got, int64_t want, const char *what, const char *file, int line);
bool lks_check_code(int got, int want, const char *what, const char *file, int line);
bool lks_check_near(double got, double want, double tolerance, const char *what, const char *file,
                    int line);
bool lks_check_str(struct lks_str got, const char *want, const char *what, const char *file,
                   int line);
bool lks_check_has(struct lks_str got, const char *want, const char *what, const char *file,
                   int line);

#endif
