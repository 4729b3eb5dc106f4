#include "codec/notation/glob.h"

#include "tests/test.h"

static const struct {
    const char *pattern, *name;
    bool fits;
} rows[] = {
    {"libnccl2", "libnccl2", true},
    {"libnccl2", "libnccl", false},
    {"libnccl2", "libnccl22", false},
    {"", "", true},
    {"", "a", false},
    {"*", "", true},
    {"*", "anything", true},
    {"nvidia*", "nvidia", true},
    {"nvidia*", "nvidia-driver-580", true},
    {"nvidia*", "libnvidia", false},
    {"*nvidia", "libnvidia", true},
    {"*nvidia*", "libnvidia-ml", true},
    {"a*b*c", "axxbyyc", true},
    {"a*b*c", "abxbc", true},
    {"a*b*c", "abxcx", false},
    {"**", "x", true},
    {"a?c", "abc", true},
    {"a?c", "ac", false},
    {"?", "", false},
    {"#", "580", true},
    {"#", "", false},
    {"#", "58x", false},
    {"cuda-drivers-#", "cuda-drivers-580", true},
    {"cuda-drivers-#", "cuda-drivers-fabricmanager", false},
    {"cuda-drivers-#", "cuda-drivers-", false},
    {"cuda-toolkit-#-#", "cuda-toolkit-13-0", true},
    {"cuda-toolkit-#-#", "cuda-toolkit-13-0-config-common", false},
    {"cuda-toolkit-#-#", "cuda-toolkit-13-config-common", false},
    {"nvidia-driver-#*", "nvidia-driver-580-open", true},
    {"nvidia-driver-#*", "nvidia-driver-580", true},
    {"nvidia-driver-#*", "nvidia-driver-cuda", false},
    {"rocm-core#.#.#", "rocm-core7.1.1", true},
    {"*-#", "a-b-12", true},
    {"*-#", "a-b-12x", false},
    {"*#5", "a55", false}, /* digits are taken whole */
};

static void test_rows(void)
{
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%s against %s", rows[i].pattern, rows[i].name);
        CHECK(lks_glob_match(lks_str_from(rows[i].pattern), lks_str_from(rows[i].name)) ==
              rows[i].fits);
    }
}

/* Many stars against a long name: the work is bounded by their lengths. */
static void test_work(void)
{
    static char pattern[512], name[20000];
    for (size_t i = 0; i < sizeof(pattern) - 1; i++)
        pattern[i] = i % 2 == 0 ? '*' : 'a';
    for (size_t i = 0; i < sizeof(name) - 1; i++)
        name[i] = 'a';
    CHECK(lks_glob_match(lks_str_from(pattern), lks_str_from(name)));
    pattern[sizeof(pattern) - 2] = 'b';
    CHECK(!lks_glob_match(lks_str_from(pattern), lks_str_from(name)));
    /* Digits are counted anew wherever the star ends: the square of the name, and no more. */
    memset(name, '1', sizeof(name) - 1);
    CHECK(!lks_glob_match(LKS_STR("*#x"), lks_str_from(name)));
    CHECK(!lks_glob_match(LKS_STR("*#*#*#x"), lks_str_from(name)));
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"glob: patterns", test_rows}, {"glob: no explosion", test_work}, {0}});
}
