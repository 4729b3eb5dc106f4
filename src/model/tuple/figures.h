/*
 * Figures that a node's acceptance checks found, such as how many TFLOPS it has: names with a
 * number each. A check prints them as lines of their own, among whatever else it says,
 *
 *     metric gemm-tflops 688.2
 *
 * and the line that people read of a command has them at its end, so that they come along wherever
 * it does: "all 3 acceptance checks passed; figures gemm-tflops=688.2 sdc=0".
 */
#ifndef LKS_MODEL_FIGURES_H
#define LKS_MODEL_FIGURES_H

#include "base/buf.h"
#include "base/str.h"

#define LKS_FIGURES_MAX      16
#define LKS_FIGURE_NAME_MAX  40
#define LKS_FIGURES_TEXT_MAX 150 /* bytes that they may take at the end of a line */

struct lks_figure {
    char name[LKS_FIGURE_NAME_MAX + 1];
    double value;
};

struct lks_figures {
    struct lks_figure list[LKS_FIGURES_MAX];
    size_t count;
};

/* Add those that a check printed. INVALID for a line that begins as one and is none, and for a name
 * that is there already; LIMIT. */
enum lks_code lks_figures_read(struct lks_str printed, struct lks_figures *figures,
                               struct lks_err *err) LKS_MUST_CHECK;

/* As the end of a line; nothing where there are none. */
void lks_figures_print(const struct lks_figures *figures, struct lks_buf *out);

/* Those at the end of a line. False: it has none; one that is not well formed spoils all. */
bool lks_figures_parse(struct lks_str line, struct lks_figures *out);

bool lks_figures_find(const struct lks_figures *figures, struct lks_str name, double *out);

#endif
