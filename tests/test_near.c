#include "base/near.h"

#include "tests/test.h"

static const char *const names[] = {"gpu",     "nccl",    "driver",  "container-toolkit",
                                    "cuda",    "rack-a1", "rack-a2", "rack-a3",
                                    "rack-a4", "rack-a5", "serving", "driver"};

static const struct {
    const char *wanted;
    const char *hint;
} rows[] = {
    {"driver", "; did you mean 'driver'?"},
    {"drivr", "; did you mean 'driver'?"},
    {"diver", "; did you mean 'driver'?"},
    {"ncc", "; did you mean 'nccl'?"},
    {"contaner-toolkt", "; did you mean 'container-toolkit'?"},
    {"gup", "; did you mean 'gpu'?"},
    {"pug", ""}, /* two slips are too many for three letters */
    {"kernel", ""},
    {"", ""},
    {"serv", "; did you mean 'serving'?"},
    {"container", "; did you mean 'container-toolkit'?"},
    {"rack-a", "; 5 names start with it: rack-a1, rack-a2, rack-a3 and 2 more"},
    {"dr", "; did you mean 'driver'?"}, /* a name that is tried twice counts once */
    {"c", ""},                          /* one letter is not a start */
};

static void test_hints(void)
{
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%s", rows[i].wanted);
        struct lks_near near = lks_near_to(lks_str_from(rows[i].wanted));
        for (size_t j = 0; j < LKS_COUNT(names); j++)
            lks_near_try(&near, lks_str_from(names[j]));
        char hint[LKS_NEAR_HINT_SIZE];
        CHECK_STR(lks_str_from(lks_near_hint(&near, hint)), rows[i].hint);
    }
}

static void test_the_first_of_equals_stays(void)
{
    struct lks_near near = lks_near_to(LKS_STR("cat"));
    lks_near_try(&near, LKS_STR("bat"));
    lks_near_try(&near, LKS_STR("hat"));
    CHECK_STR(near.best, "bat");
    lks_near_try(&near, LKS_STR("cat"));
    CHECK_STR(near.best, "cat");
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"near: hints", test_hints},
        {"near: the first of equals stays", test_the_first_of_equals_stays},
        {0},
    });
}
