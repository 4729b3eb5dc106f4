/* Debian's own program is the judge of Debian's version order. */
#include "base/rng.h"
#include "codec/notation/version.h"
#include "tests/real/ask.h"
#include "tests/test.h"

#include <stdio.h>

enum { PAIRS = 400, LEN_MAX = 12 };

static bool dpkg_says(const char *a, const char *op, const char *b)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf ignored = LKS_BUF(4096);
    const char *argv[] = {"dpkg", "--compare-versions", a, op, b, NULL};
    return lks_ask(argv, &ignored) == 0;
}

/* Short texts over few letters: neighbours meet often. */
static void make_version(struct lks_rng *rng, char out[LEN_MAX + 2])
{
    static const char letters[] = "0019ab.+~-:";
    size_t len = 1 + lks_rng_below(rng, LEN_MAX);
    out[0] = (char)('0' + lks_rng_below(rng, 10));
    for (size_t i = 1; i < len; i++)
        out[i] = letters[lks_rng_below(rng, sizeof(letters) - 1)];
    out[len] = '\0';
}

static void check_pair(const char *a, const char *b)
{
    lks_test_case("%s and %s", a, b);
    int order = lks_version_cmp(lks_str_from(a), lks_str_from(b), LKS_VERSION_DEBIAN);
    CHECK(dpkg_says(a, "lt", b) == (order < 0));
    CHECK(dpkg_says(a, "eq", b) == (order == 0));
}

static void test_order(void)
{
    struct lks_rng rng = {20261115};
    char a[LEN_MAX + 2], b[LEN_MAX + 2];
    for (unsigned pairs = 0; pairs < PAIRS;) {
        make_version(&rng, a);
        make_version(&rng, b);
        if (!lks_version_valid(lks_str_from(a), LKS_VERSION_DEBIAN) ||
            !lks_version_valid(lks_str_from(b), LKS_VERSION_DEBIAN))
            continue;
        check_pair(a, b);
        pairs++;
    }
}

static void test_kernels(void)
{
    static const char *const kernels[] = {"4.15",
                                          "5.15.0-122-generic",
                                          "6.1.0-28-amd64",
                                          "6.8.0-79",
                                          "6.8.0-79-generic",
                                          "6.8.0-101-generic",
                                          "6.8.0-79.79~22",
                                          "6.11.0-1"};
    for (size_t i = 0; i < LKS_COUNT(kernels); i++) {
        for (size_t j = 0; j < LKS_COUNT(kernels); j++)
            check_pair(kernels[i], kernels[j]);
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"dpkg orders random versions as we do", test_order},
        {"dpkg orders kernels as we do", test_kernels},
        {0},
    });
}
