#include "codec/notation/gres.h"

#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>

#define PLACE "expected NAME[:TYPE][:COUNT], as in gpu:h200:8"

static const struct {
    const char *name, *text;
    const char *gpus;    /* as they are written; NULL where the list is refused */
    const char *message; /* then */
} lists[] = {
    {"empty", "", "", NULL},
    {"null", "(null)", "", NULL},
    {"a count", "gpu:8", "gpu:8", NULL},
    {"a type", "gpu:h200:8", "gpu:h200:8", NULL},
    {"a type without a count is one", "gpu:h200", "gpu:h200:1", NULL},
    {"a name alone is one", "gpu", "gpu:1", NULL},
    {"none", "gpu:h200:0", "gpu:h200:0", NULL},
    {"sockets", "gpu:h200:8(S:0-1)", "gpu:h200:8", NULL},
    {"sockets with a comma", "gpu:h200:8(S:0,2),nic:1", "gpu:h200:8", NULL},
    {"in use", "gpu:h200:3(IDX:0-2)", "gpu:h200:3", NULL},
    {"MIG names", "gpu:1g.18gb:56", "gpu:1g.18gb:56", NULL},
    {"two types, sorted", "gpu:3g.71gb:2,gpu:1g.18gb:3", "gpu:1g.18gb:3,gpu:3g.71gb:2", NULL},
    {"a type twice is added up", "gpu:a:3(S:0),gpu:a:5(S:1)", "gpu:a:8", NULL},
    {"another resource", "shard:64,gpu:h200:8,license:4G", "gpu:h200:8", NULL},
    {"a name that starts alike", "gpus:8,gpu:1", "gpu:1", NULL},
    {"not consumed", "gpu:no_consume:4", "gpu:4", NULL},
    {"not consumed, of a type", "gpu:a:no_consume:4", "gpu:a:4", NULL},
    {"units", "gpu:2K", "gpu:2048", NULL},
    {"a count beyond any is a type", "gpu:9223372036854775807K", "gpu:9223372036854775807K:1",
     NULL},
    {"a type with a digit first", "gpu:4090:2", NULL, "resource 1: " PLACE},
    {"a comma at the end", "gpu:1,", "gpu:1", NULL},

    {"no name", ":8", NULL, "resource 1: " PLACE},
    {"an empty item", "gpu:1,,gpu:1", NULL, "resource 2: " PLACE},
    {"an empty type", "gpu::8", NULL, "resource 1: " PLACE},
    {"two types", "gpu:a:b:8", NULL, "resource 1: " PLACE},
    {"behind the count", "gpu:8:a", NULL, "resource 1: " PLACE},
    {"a blank", "gpu: h200:8", NULL, "resource 1: " PLACE},
    {"a tab", "gpu:h\t200:8", NULL, "resource 1: " PLACE},
    {"a quote", "gpu:h\"200:8", NULL, "resource 1: " PLACE},
    {"not ASCII", "gpu:h\xc3\xa9:8", NULL, "resource 1: " PLACE},
    {"an open parenthesis", "gpu:8(S:0", NULL, "resource 1: " PLACE},
    {"parentheses twice", "gpu:8(S:0)(S:1)", NULL, "resource 1: " PLACE},
    {"behind a parenthesis", "gpu:8(S:0)x", NULL, "resource 1: " PLACE},
    {"a parenthesis in another", "gpu:8((S:0))", NULL, "resource 1: " PLACE},
    {"a sum beyond any", "gpu:a:9223372036854775807,gpu:a:1", NULL,
     "resources of a type beyond any count"},
};

static void test_lists(void)
{
    for (size_t i = 0; i < LKS_COUNT(lists); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(LKS_GRES_BYTES_MAX);
        struct lks_gres gres = {.count = 0};
        struct lks_err err = {0};
        lks_test_case("%s", lists[i].name);
        enum lks_code code = lks_gres_parse(lks_str_from(lists[i].text), &gres, &err);
        if (code == LKS_OK)
            code = lks_gres_write(&gres, "gpu", &out, &err);
        CHECK_INT(code == LKS_OK, lists[i].gpus != NULL);
        if (lists[i].gpus != NULL)
            CHECK_STR(out.len > 0 ? lks_buf_view(&out) : LKS_STR(""), lists[i].gpus);
        else
            CHECK_STR(lks_str_from(err.msg), lists[i].message);
    }
}

/* What is refused leaves the output as it was. */
static void test_limits(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(2 * LKS_GRES_BYTES_MAX);
    struct lks_gres gres = {.count = 7};
    struct lks_err err = {0};
    for (int i = 0; i < LKS_GRES_ITEMS_MAX; i++)
        lks_buf_addf(&text, "%sgpu:t%d:1", i > 0 ? "," : "", i);
    struct lks_gres all = {.count = 0};
    CHECK_CODE(lks_gres_parse(lks_buf_view(&text), &all, &err), LKS_OK);
    CHECK_INT(all.count, LKS_GRES_ITEMS_MAX);
    lks_buf_addf(&text, ",gpu:1");
    CHECK_CODE(lks_gres_parse(lks_buf_view(&text), &gres, &err), LKS_E_LIMIT);
    CHECK_STR(lks_str_from(err.msg), "more than 64 resources");
    CHECK_INT(gres.count, 7);
    lks_buf_fini(&text);
    text = (struct lks_buf)LKS_BUF(2 * LKS_GRES_BYTES_MAX);
    lks_buf_addf(&text, "gpu:%0*d", LKS_GRES_BYTES_MAX, 1);
    CHECK_CODE(lks_gres_parse(lks_buf_view(&text), &gres, &err), LKS_E_LIMIT);
    CHECK_STR(lks_str_from(err.msg), "a list of resources of more than 4096 bytes");
}

static const struct {
    const char *type;
    bool is;
    const char *board;
    uint64_t compute, slices, gigabytes;
    const char *attributes;
} profiles[] = {
    {"1g.18gb", true, "", 0, 1, 18, ""},
    {"3g.71gb", true, "", 0, 3, 71, ""},
    {"1G.18GB", true, "", 0, 1, 18, ""},
    {"1g.18gb+me", true, "", 0, 1, 18, "me"},
    {"1g.18gb.me", true, "", 0, 1, 18, "me"},
    {"1g.18gb+me.all", true, "", 0, 1, 18, "me.all"},
    {"1c.3g.71gb", true, "", 1, 3, 71, ""},
    {"nvidia_h200_3g.71gb", true, "nvidia_h200", 0, 3, 71, ""},
    {"a100-1c.3g.20gb", true, "a100", 1, 3, 20, ""},
    {"_1g.5gb", true, "", 0, 1, 5, ""},
    {"h200", false, "", 0, 0, 0, ""},
    {"", false, "", 0, 0, 0, ""},
    {"1g.18", false, "", 0, 0, 0, ""},
    {"1g.gb", false, "", 0, 0, 0, ""},
    {"g.18gb", false, "", 0, 0, 0, ""},
    {"1g.18gb+", false, "", 0, 0, 0, ""},
    {"1g.18gbx", false, "", 0, 0, 0, ""},
    {"x1g.18gb", false, "", 0, 0, 0, ""},
    {"99999999999g.18gb", false, "", 0, 0, 0, ""},
};

static void test_profiles(void)
{
    for (size_t i = 0; i < LKS_COUNT(profiles); i++) {
        struct lks_gres_profile p = {.board = {"", 0}, .attributes = {"", 0}};
        lks_test_case("%s", profiles[i].type);
        CHECK_INT(lks_gres_profile_parse(lks_str_from(profiles[i].type), &p), profiles[i].is);
        if (!profiles[i].is)
            continue;
        CHECK_STR(p.board, profiles[i].board);
        CHECK_STR(p.attributes, profiles[i].attributes);
        CHECK_INT(p.compute, profiles[i].compute);
        CHECK_INT(p.slices, profiles[i].slices);
        CHECK_INT(p.gigabytes, profiles[i].gigabytes);
    }
}

static void test_same_profile(void)
{
    static const struct {
        const char *a, *b;
        bool same;
    } rows[] = {
        {"1g.18gb", "nvidia_h200_1g.18gb", true},
        {"1g.18gb+me", "h200_1g.18gb.ME", true},
        {"1g.18gb", "1g.35gb", false},
        {"1g.18gb", "2g.18gb", false},
        {"1g.18gb", "1g.18gb+me", false},
        {"3g.71gb", "1c.3g.71gb", false},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct lks_gres_profile a, b;
        lks_test_case("%s, %s", rows[i].a, rows[i].b);
        CHECK(lks_gres_profile_parse(lks_str_from(rows[i].a), &a));
        CHECK(lks_gres_profile_parse(lks_str_from(rows[i].b), &b));
        CHECK_INT(lks_gres_profile_eq(&a, &b), rows[i].same);
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"lists of generic resources", test_lists},
        {"limits of a list", test_limits},
        {"types that are MIG profiles", test_profiles},
        {"the same profile", test_same_profile},
        {0},
    });
}
