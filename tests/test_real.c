#include "base/real.h"

#include "tests/test.h"

#include <float.h>

/* What is no number at all has no `again`. */
static const struct {
    const char *text, *again;
} rows[] = {
    {"0", "0"},
    {"-0", "-0"},
    {"1", "1"},
    {"1.0", "1"},
    {"0.1", "0.1"},
    {"-12.50", "-12.5"},
    {"1e3", "1000"},
    {"1E+3", "1000"},
    {"1e-7", "1e-07"},
    {"372.325", "372.325"},
    {"0.30000000000000004", "0.30000000000000004"},
    {"12345678901234567", "12345678901234568"},
    {"1e-400", "0"},
    {"", NULL},
    {"-", NULL},
    {"01", NULL},
    {"1.", NULL},
    {".5", NULL},
    {"+1", NULL},
    {"1e", NULL},
    {"1e+", NULL},
    {"1e999", NULL},
    {"0x10", NULL},
    {"nan", NULL},
    {"inf", NULL},
    {" 1", NULL},
    {"1 ", NULL},
    {"1,5", NULL},
};

static void test_texts(void)
{
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("'%s'", rows[i].text);
        double value = 17;
        char again[LKS_REAL_SIZE];
        if (!CHECK(lks_real_parse(lks_str_from(rows[i].text), &value) == (rows[i].again != NULL)))
            continue;
        if (rows[i].again == NULL)
            CHECK(value == 17); /* untouched */
        else
            CHECK_STR(lks_str_from(lks_real_text(value, again)), rows[i].again);
    }
}

static void test_the_zero_byte_is_no_digit(void)
{
    double value = 17;
    CHECK(!lks_real_parse((struct lks_str){"1\0", 2}, &value));
}

/* Written and read again it is the same, whatever it is. */
static void test_there_and_back(void)
{
    const double all[] = {DBL_MAX, -DBL_MAX,          DBL_MIN, DBL_TRUE_MIN,
                          1.0 / 3, 3.141592653589793, 1e22,    5e-324};
    for (size_t i = 0; i < LKS_COUNT(all); i++) {
        char text[LKS_REAL_SIZE];
        double again = 0;
        CHECK(lks_real_parse(lks_str_from(lks_real_text(all[i], text)), &again));
        CHECK(again == all[i]);
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"real: texts", test_texts},
        {"real: the zero byte is no digit", test_the_zero_byte_is_no_digit},
        {"real: there and back", test_there_and_back},
        {0},
    });
}
