#include "base/process/manual.h"

#include "base/term/term.h"

const struct lks_manual_row lks_manual_exits[] = {
    {"0", "done"},         {"1", "refused"},       {"2", "usage"},    {"3", "bad input"},
    {"4", "cannot reach"}, {"5", "not permitted"}, {"6", "internal"}, {0},
};

static void print_rows(const char *title, const struct lks_manual_row *rows, FILE *out)
{
    if (rows == NULL)
        return;
    fprintf(out, "\n%s:\n", title);
    for (; rows->name != NULL; rows++) {
        const struct lks_option row = {rows->name, rows->about};
        lks_args_print_option(&row, LKS_TERM_TEXT_COLUMNS, out);
    }
}

void lks_manual_help(const struct lks_manual *program, FILE *out)
{
    for (size_t i = 0; i < LKS_MANUAL_USAGES && program->usages[i] != NULL; i++)
        fprintf(out, "%s%s %s\n", i == 0 ? "usage: " : "       ", program->name,
                program->usages[i]);
    fprintf(out, "\n%s.\n", program->summary);
    if (program->about[0] != '\0')
        lks_term_flow(out, lks_str_from(program->about), 0, 0, LKS_TERM_TEXT_COLUMNS);
    for (size_t i = 0; i < LKS_MANUAL_PARTS && program->parts[i].title != NULL; i++) {
        fprintf(out, "\n%s:\n", program->parts[i].title);
        lks_args_print(program->parts[i].options, LKS_TERM_TEXT_COLUMNS, out);
    }
    print_rows("Files", program->files, out);
    print_rows("Signals", program->signals, out);
    print_rows("Exit status", lks_manual_exits, out);
}
