#include "model/tuple/figures.h"

#include "base/real.h"

#include <math.h>

#define WORD  "metric "
#define MARK  "; figures "
#define LEAST 1e-30 /* what is nearer to nothing, or as far beyond, is no measurement */

enum { TOLD_MAX = 80 }; /* bytes of a line that is wrong, as people are told of it */

static bool is_name(struct lks_str text)
{
    if (text.len == 0 || text.len > LKS_FIGURE_NAME_MAX || text.ptr[0] < 'a' || text.ptr[0] > 'z')
        return false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'))
            return false;
    }
    return true;
}

bool lks_figures_find(const struct lks_figures *figures, struct lks_str name, double *out)
{
    for (size_t i = 0; i < figures->count; i++) {
        if (!lks_str_is(name, figures->list[i].name))
            continue;
        *out = figures->list[i].value;
        return true;
    }
    return false;
}

static bool is_sane(double value)
{
    return value == 0 || (fabs(value) >= LEAST && fabs(value) <= 1 / LEAST);
}

static bool add(struct lks_figures *figures, struct lks_str name, struct lks_str number)
{
    double value = 0, had = 0;
    if (figures->count == LKS_FIGURES_MAX || !is_name(name) || !lks_real_parse(number, &value) ||
        !is_sane(value) || lks_figures_find(figures, name, &had))
        return false;
    struct lks_figure *to = &figures->list[figures->count++];
    *to = (struct lks_figure){.value = value};
    memcpy(to->name, name.ptr, name.len);
    return true;
}

void lks_figures_print(const struct lks_figures *figures, struct lks_buf *out)
{
    for (size_t i = 0; i < figures->count; i++)
        lks_buf_addf(out, "%s%s=%.7g", i == 0 ? MARK : " ", figures->list[i].name,
                     figures->list[i].value);
}

static bool fits(const struct lks_figures *figures)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_FIGURES_TEXT_MAX);
    lks_figures_print(figures, &text);
    return text.failed == LKS_OK;
}

static enum lks_code read_line(struct lks_str line, struct lks_figures *figures,
                               struct lks_err *err)
{
    struct lks_str name, number;
    double had = 0;
    lks_str_cut(line, ' ', &name, &number);
    if (lks_figures_find(figures, name, &had))
        return lks_fail(err, LKS_E_INVALID, "it prints metric '%" LKS_STR_FMT "' twice",
                        LKS_STR_ARG(name));
    if (figures->count == LKS_FIGURES_MAX)
        return lks_fail(err, LKS_E_LIMIT, "checks may print %d metrics together", LKS_FIGURES_MAX);
    if (!add(figures, name, number))
        return lks_fail(err, LKS_E_INVALID,
                        "it prints '" WORD "%.*s'; a name of small letters, digits and '-', and a "
                        "number are expected",
                        (int)(line.len < TOLD_MAX ? line.len : TOLD_MAX), line.ptr);
    return LKS_OK;
}

enum lks_code lks_figures_read(struct lks_str printed, struct lks_figures *figures,
                               struct lks_err *err)
{
    struct lks_figures made = *figures;
    const size_t skip = sizeof(WORD) - 1;
    while (printed.len > 0) {
        struct lks_str line;
        lks_str_cut(printed, '\n', &line, &printed);
        if (line.len < skip || memcmp(line.ptr, WORD, skip) != 0)
            continue;
        line = (struct lks_str){line.ptr + skip, line.len - skip};
        if (read_line(line, &made, err) != LKS_OK)
            return err->code;
    }
    if (!fits(&made))
        return lks_fail(err, LKS_E_LIMIT,
                        "the metrics that checks print take more than %d bytes: name fewer",
                        LKS_FIGURES_TEXT_MAX);
    *figures = made;
    return LKS_OK;
}

bool lks_figures_parse(struct lks_str line, struct lks_figures *out)
{
    struct lks_figures made = {0};
    ptrdiff_t at = lks_str_find(line, LKS_STR(MARK));
    if (at < 0)
        return false;
    size_t skip = (size_t)at + sizeof(MARK) - 1;
    struct lks_str rest = {line.ptr + skip, line.len - skip};
    for (bool more = true; more;) {
        struct lks_str word, name, number;
        more = lks_str_cut(rest, ' ', &word, &rest);
        if (!lks_str_cut(word, '=', &name, &number) || !add(&made, name, number))
            return false;
    }
    *out = made;
    return true;
}
