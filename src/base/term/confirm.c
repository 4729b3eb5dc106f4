#include "base/term/confirm.h"

#include "base/str.h"

#include <unistd.h>

bool lks_confirm_possible(const struct lks_term *term)
{
    return term->tty && isatty(STDIN_FILENO) == 1;
}

enum lks_code lks_confirm(FILE *out, const char *question, const char *instead, struct lks_err *err)
{
    char line[64] = "";
    if (isatty(STDIN_FILENO) != 1)
        return lks_fail(err, LKS_E_USAGE, "there is no terminal to ask on: %s", instead);
    fprintf(out, "%s [y/N] ", question);
    fflush(out);
    bool got = fgets(line, sizeof(line), stdin) != NULL;
    struct lks_str word = lks_str_from(line);
    if (word.len > 0 && word.ptr[word.len - 1] == '\n')
        word.len--;
    if (got && (lks_str_is(word, "y") || lks_str_is(word, "yes")))
        return LKS_OK;
    return lks_fail(err, LKS_E_REFUSED, "not done, as the answer was no");
}
