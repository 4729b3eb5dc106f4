/* Any bytes as what a check printed, and as the line of a result: what is taken fits behind a line,
 * and is found there again. */
#include "model/tuple/figures.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Seven digits of a figure are kept. */
static bool is_near(double a, double b)
{
    return fabs(a - b) <= fabs(a) * 1e-6;
}

static void check(const struct lks_figures *figures)
{
    LKS_CLEANUP(lks_buf_fini)
    struct lks_buf line = LKS_BUF((size_t)LKS_FIGURES_MAX * (LKS_FIGURE_NAME_MAX + 32));
    struct lks_figures again = {0};
    lks_buf_add(&line, LKS_STR("fine"));
    lks_figures_print(figures, &line);
    LKS_ASSERT(line.failed == LKS_OK && lks_str_printable(lks_buf_view(&line)));
    LKS_ASSERT(lks_figures_parse(lks_buf_view(&line), &again) == (figures->count > 0));
    LKS_ASSERT(again.count == figures->count);
    for (size_t i = 0; i < again.count; i++) {
        double value = 0;
        LKS_ASSERT(strcmp(again.list[i].name, figures->list[i].name) == 0);
        LKS_ASSERT(is_near(figures->list[i].value, again.list[i].value));
        LKS_ASSERT(lks_figures_find(figures, lks_str_from(again.list[i].name), &value));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct lks_str bytes = {(const char *)data, size};
    struct lks_figures figures = {0};
    struct lks_err err = {0};
    if (lks_figures_read(bytes, &figures, &err) != LKS_OK)
        LKS_ASSERT(figures.count == 0 && err.msg[0] != '\0');
    check(&figures);
    figures = (struct lks_figures){0};
    if (lks_figures_parse(bytes, &figures))
        check(&figures);
    else
        LKS_ASSERT(figures.count == 0);
    return 0;
}
