#include "base/buf.h"

#include "base/rng.h"
#include "tests/test.h"

static void test_additions(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf b = LKS_BUF(100);
    struct lks_err err = {0};
    CHECK_STR(lks_buf_view(&b), "");
    lks_buf_add(&b, LKS_STR("node "));
    lks_buf_addf(&b, "%s-%d", "gpu", 17);
    lks_buf_addc(&b, ':');
    lks_buf_pad(&b, '.', 3);
    lks_buf_pad(&b, '!', 0);
    lks_buf_pad(&b, '!', -5);
    lks_buf_add(&b, (struct lks_str){0});
    CHECK_STR(lks_buf_view(&b), "node gpu-17:...");
    CHECK_INT(strlen(b.ptr), b.len);
    lks_buf_truncate(&b, 4);
    CHECK_STR(lks_buf_view(&b), "node");
    CHECK_INT(strlen(b.ptr), 4);
    lks_buf_quote(&b, LKS_STR("a \"b\" \\ c"));
    CHECK_STR(lks_buf_view(&b), "node\"a \\\"b\\\" \\\\ c\"");
    CHECK_CODE(lks_buf_check(&b, &err), LKS_OK);
}

/* Each way to add a byte too many, to a buffer that has all but one. */
static void too_much_add(struct lks_buf *b)
{
    lks_buf_add(b, LKS_STR("xy"));
}

static void too_much_addf(struct lks_buf *b)
{
    lks_buf_addf(b, "%d", 10);
}

static void too_much_pad(struct lks_buf *b)
{
    lks_buf_pad(b, 'x', 2);
}

static void too_much_addc(struct lks_buf *b)
{
    lks_buf_addc(b, 'x');
    lks_buf_addc(b, 'y');
}

static const struct {
    const char *name;
    void (*add)(struct lks_buf *b);
    size_t len; /* that stays */
} ceilings[] = {
    {"a view", too_much_add, 9},
    {"a format", too_much_addf, 9},
    {"padding", too_much_pad, 9},
    {"characters", too_much_addc, 10},
};

static void test_ceilings(void)
{
    for (size_t i = 0; i < LKS_COUNT(ceilings); i++) {
        lks_test_case("%s", ceilings[i].name);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf b = LKS_BUF(10);
        struct lks_err err = {0};
        lks_buf_pad(&b, '.', 9);
        CHECK_CODE(lks_buf_check(&b, &err), LKS_OK);
        ceilings[i].add(&b);
        CHECK_CODE(lks_buf_check(&b, &err), LKS_E_LIMIT);
        CHECK_HAS(lks_str_from(err.msg), "10 bytes");
        CHECK_INT(b.len, ceilings[i].len);
        lks_buf_truncate(&b, 0);
        lks_buf_addc(&b, 'x');
        CHECK_STR(lks_buf_view(&b), ""); /* the failure stays */
        CHECK_CODE(lks_buf_check(&b, &err), LKS_E_LIMIT);
    }
}

static void test_empty(void)
{
    struct lks_buf b = {0};
    struct lks_err err = {0};
    CHECK_STR(lks_buf_view(&b), "");
    CHECK_CODE(lks_buf_check(&b, &err), LKS_OK);
    lks_buf_truncate(&b, 0);
    lks_buf_fini(&b);
    lks_buf_fini(&b);
    lks_buf_addc(&b, 'x'); /* nobody chose a ceiling: there is no room */
    CHECK_CODE(lks_buf_check(&b, &err), LKS_E_LIMIT);
}

/* Growth keeps every byte, zeroes included. */
static void test_growth(void)
{
    enum { SIZE = 100000 };
    static char want[SIZE];
    for (uint64_t seed = 1; seed <= 20; seed++) {
        lks_test_case("seed %d", (int)seed);
        struct lks_rng rng = {seed};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf b = LKS_BUF(SIZE);
        for (size_t i = 0; i < SIZE; i++)
            want[i] = (char)lks_rng_below(&rng, 256);
        while (b.len < SIZE) {
            size_t n = (size_t)lks_rng_below(&rng, 3000), left = SIZE - b.len;
            lks_buf_add(&b, (struct lks_str){want + b.len, n < left ? n : left});
        }
        CHECK(lks_str_eq(lks_buf_view(&b), (struct lks_str){want, SIZE}));
        CHECK_INT(b.ptr[SIZE], 0);
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"buf: additions", test_additions},
        {"buf: ceilings", test_ceilings},
        {"buf: the empty state", test_empty},
        {"buf: growth", test_growth},
        {0},
    });
}
