#include "codec/machine/nlattr.h"

#include "base/rng.h"
#include "codec/format/kv.h"
#include "tests/test.h"

enum { ROUNDS = 2000, BUFFER_MAX = 1024 * 1024 };

static void test_round_trip(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf inner = {0}, out = {0};
    lks_buf_init(&inner, BUFFER_MAX);
    lks_buf_init(&out, BUFFER_MAX);
    lks_nlattr_add_text(&inner, 1, LKS_STR("fw.version"));
    lks_nlattr_add_text(&inner, 2, LKS_STR("28.39.1002"));
    lks_nlattr_add_u8(&out, 3, 7);
    lks_nlattr_add_nested(&out, 4, lks_buf_view(&inner));
    lks_nlattr_add_u32(&out, 5, 0x01020304);
    lks_nlattr_add(&out, 4, LKS_STR("second"));
    CHECK_INT(out.len % 4, 0);

    struct lks_str all = lks_buf_view(&out);
    struct lks_str nested = lks_nlattr_find(all, 4);
    CHECK_STR(lks_nlattr_text(lks_nlattr_find(nested, 1)), "fw.version");
    CHECK_STR(lks_nlattr_text(lks_nlattr_find(nested, 2)), "28.39.1002");
    CHECK_INT(lks_nlattr_find(all, 3).len, 1);
    uint32_t number = 0;
    CHECK_INT(lks_nlattr_find(all, 5).len, sizeof(number));
    memcpy(&number, lks_nlattr_find(all, 5).ptr, sizeof(number));
    CHECK_INT(number, 0x01020304);
    CHECK_INT(lks_nlattr_find(all, 9).len, 0);
    CHECK_STR(lks_nlattr_text(LKS_STR("no end")), "no end");
}

/* Lengths that are too short or too long end the walk. */
static void test_damage(void)
{
    static const struct {
        const char *name;
        uint16_t len;
        size_t bytes;
        int found;
    } rows[] = {
        {"whole", 8, 8, 1},
        {"longer than the message", 9, 8, 0},
        {"shorter than itself", 3, 8, 0},
        {"zero", 0, 8, 0},
        {"half a head", 8, 3, 0},
        {"no padding at the end", 7, 7, 1},
        {"empty", 4, 4, 1},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%s", rows[i].name);
        char bytes[8] = {0};
        uint16_t head[2] = {rows[i].len, 1};
        memcpy(bytes, head, sizeof(head));
        struct lks_str rest = {bytes, rows[i].bytes};
        struct lks_nlattr attr;
        int found = 0;
        while (lks_nlattr_next(&rest, &attr))
            found++;
        CHECK_INT(found, rows[i].found);
    }
}

static void test_limit(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf data = {0}, out = {0};
    struct lks_err err = {0};
    lks_buf_init(&data, BUFFER_MAX);
    lks_buf_init(&out, BUFFER_MAX);
    lks_buf_pad(&data, 'x', LKS_NLATTR_DATA_MAX);
    lks_nlattr_add(&out, 1, lks_buf_view(&data));
    CHECK_CODE(lks_buf_check(&out, &err), LKS_OK);
    CHECK_INT(lks_nlattr_find(lks_buf_view(&out), 1).len, LKS_NLATTR_DATA_MAX);
    lks_nlattr_add_text(&out, 1, lks_buf_view(&data));
    CHECK_CODE(lks_buf_check(&out, &err), LKS_E_LIMIT);
}

static void test_words(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf line = {0}, value = {0};
    lks_buf_init(&line, BUFFER_MAX);
    lks_buf_init(&value, BUFFER_MAX);
    lks_kv_add(&line, LKS_STR("driver"), LKS_STR("mlx5_core"));
    lks_kv_add(&line, LKS_STR("firmware"), LKS_STR("28.39 (MT_1)\n"));
    lks_kv_add(&line, LKS_STR("empty"), LKS_STR(""));
    lks_kv_add(&line, LKS_STR("driver"), LKS_STR("later"));
    CHECK_STR(lks_buf_view(&line),
              "driver=mlx5_core firmware=28.39%20(MT_1)%0A empty= driver=later");
    CHECK(lks_kv_get(lks_buf_view(&line), "driver", &value));
    CHECK(lks_kv_get(lks_buf_view(&line), "firmware", &value));
    CHECK(lks_kv_get(lks_buf_view(&line), "empty", &value));
    CHECK_STR(lks_buf_view(&value), "mlx5_core28.39 (MT_1)\n");
    CHECK(!lks_kv_get(lks_buf_view(&line), "missing", &value));
    CHECK(!lks_kv_get(lks_buf_view(&line), "drive", &value));

    static const char *const damaged[] = {"a=%", "a=%4", "a=%4g", "a=%4a%", "a=b=c", "a"};
    for (size_t i = 0; i < LKS_COUNT(damaged); i++) {
        lks_test_case("%s", damaged[i]);
        lks_buf_truncate(&value, 0);
        CHECK(!lks_kv_get(lks_str_from(damaged[i]), "a", &value));
        CHECK_INT(value.len, 0);
    }
}

static void test_words_round_trip(void)
{
    for (uint64_t seed = 0; seed < ROUNDS; seed++) {
        lks_test_case("seed %u", (unsigned)seed);
        struct lks_rng rng = {seed};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf line = {0}, value = {0}, back = {0};
        lks_buf_init(&line, BUFFER_MAX);
        lks_buf_init(&value, BUFFER_MAX);
        lks_buf_init(&back, BUFFER_MAX);
        for (size_t n = lks_rng_below(&rng, 64); n > 0; n--)
            lks_buf_addc(&value, (char)lks_rng_below(&rng, 256));
        lks_kv_add(&line, LKS_STR("other"), LKS_STR("x"));
        lks_kv_add(&line, LKS_STR("key"), lks_buf_view(&value));
        CHECK(lks_str_printable(lks_buf_view(&line)));
        CHECK(lks_kv_get(lks_buf_view(&line), "key", &back));
        CHECK(lks_str_eq(lks_buf_view(&value), lks_buf_view(&back)));
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"nlattr round trip", test_round_trip},
        {"nlattr damage", test_damage},
        {"nlattr limit", test_limit},
        {"words", test_words},
        {"words round trip", test_words_round_trip},
        {0},
    });
}
