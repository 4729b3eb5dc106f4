/* A question to the person at the terminal, before something is done. */
#ifndef LKS_BASE_CONFIRM_H
#define LKS_BASE_CONFIRM_H

#include "base/err.h"
#include "base/term/term.h"

/* Whether a person is there to ask: standard input is a terminal, and `term`, of the output, too.
 */
bool lks_confirm_possible(const struct lks_term *term);

/* Ask `question` on `out`; anything but "y" and "yes" is REFUSED. Without a terminal to ask on it
 * is a USAGE error that ends with `instead`. */
enum lks_code lks_confirm(FILE *out, const char *question, const char *instead,
                          struct lks_err *err) LKS_MUST_CHECK;

#endif
