#include "model/tuple/figures.h"
#include "tests/test.h"

#include <stdio.h>

static const struct {
    const char *name, *printed, *line; /* as it is written behind a line; NULL: it is refused, */
    const char *why;                   /* with these words */
} reads[] = {
    {"nothing", "", "", NULL},
    {"words for people", "warming up\nall well\n", "", NULL},
    {"one among words", "warming up\nmetric gemm-tflops 688.25\nend\n",
     "; figures gemm-tflops=688.25", NULL},
    {"two, and no line end", "metric a 1\nmetric b 2.5e3", "; figures a=1 b=2500", NULL},
    {"seven digits are kept", "metric a 0.123456789", "; figures a=0.1234568", NULL},
    {"a word within a line is none", "the metric a 1", "", NULL},
    {"below nothing", "metric a -1", "; figures a=-1", NULL},
    {"no number", "metric a fast", NULL, "'metric a fast'"},
    {"not a number", "metric a NaN", NULL, "'metric a NaN'"},
    {"endless", "metric a Infinity", NULL, "'metric a Infinity'"},
    {"too large", "metric a 1e31", NULL, "'metric a 1e31'"},
    {"nothing behind the name", "metric a", NULL, "'metric a'"},
    {"no name", "metric  1", NULL, "'metric  1'"},
    {"a unit", "metric a 1 TB/s", NULL, "'metric a 1 TB/s'"},
    {"capital letters", "metric GEMM 1", NULL, "'metric GEMM 1'"},
    {"a name with a sign", "metric a=b 1", NULL, "'metric a=b 1'"},
    {"a name twice", "metric a 1\nmetric a 1\n", NULL, "'a' twice"},
};

static void test_reads(void)
{
    for (size_t i = 0; i < LKS_COUNT(reads); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf line = LKS_BUF(1024);
        struct lks_figures figures = {0};
        struct lks_err err = {0};
        lks_test_case("%s", reads[i].name);
        enum lks_code code = lks_figures_read(lks_str_from(reads[i].printed), &figures, &err);
        CHECK((code == LKS_OK) == (reads[i].line != NULL));
        lks_figures_print(&figures, &line);
        CHECK_STR(lks_buf_view(&line), reads[i].line != NULL ? reads[i].line : "");
        if (reads[i].why != NULL)
            CHECK_HAS(lks_str_from(err.msg), reads[i].why);
    }
}

static void test_limits(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(4096);
    struct lks_figures figures = {0};
    struct lks_err err = {0};
    for (int i = 0; i < LKS_FIGURES_MAX; i++)
        lks_buf_addf(&text, "metric m%d 1\n", i);
    lks_test_case("as many as there may be");
    CHECK_CODE(lks_figures_read(lks_buf_view(&text), &figures, &err), LKS_OK);
    lks_test_case("one more, of the next check");
    CHECK_CODE(lks_figures_read(LKS_STR("metric more 1"), &figures, &err), LKS_E_LIMIT);
    CHECK_INT(figures.count, LKS_FIGURES_MAX);
    lks_test_case("more than a line has room for");
    figures = (struct lks_figures){0};
    lks_buf_truncate(&text, 0);
    for (int i = 0; i < 4; i++)
        lks_buf_addf(&text, "metric name%036d 1.25\n", i);
    CHECK_CODE(lks_figures_read(lks_buf_view(&text), &figures, &err), LKS_E_LIMIT);
    CHECK_INT(figures.count, 0);
}

static const struct {
    const char *name, *line;
    size_t count;
} lines[] = {
    {"no figures", "all 3 acceptance checks passed", 0},
    {"two", "all 3 acceptance checks passed; figures gemm-tflops=688.2 sdc=0", 2},
    {"one that is no number spoils all", "fine; figures a=1 b=x", 0},
    {"cut off", "fine; figures a=1 b", 0},
    {"twice", "fine; figures a=1 a=2", 0},
    {"none behind the mark", "fine; figures ", 0},
    {"words behind them", "fine; figures a=1 and more", 0},
};

static void test_lines(void)
{
    for (size_t i = 0; i < LKS_COUNT(lines); i++) {
        struct lks_figures figures = {0};
        lks_test_case("%s", lines[i].name);
        CHECK(lks_figures_parse(lks_str_from(lines[i].line), &figures) == (lines[i].count > 0));
        CHECK_INT(figures.count, lines[i].count);
    }
    struct lks_figures figures = {0};
    double value = 0;
    CHECK(lks_figures_parse(lks_str_from(lines[1].line), &figures));
    CHECK(lks_figures_find(&figures, LKS_STR("gemm-tflops"), &value) && value == 688.2);
    CHECK(!lks_figures_find(&figures, LKS_STR("gemm"), &value));
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"what checks print", test_reads},
        {"how much they may print", test_limits},
        {"figures behind a line", test_lines},
        {0},
    });
}
