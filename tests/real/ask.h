/* Asking a real program: run it, read what it prints. For tests that compare us with it. */
#ifndef LKS_TESTS_REAL_ASK_H
#define LKS_TESTS_REAL_ASK_H

#include "base/buf.h"

/* Run `argv` (ends with NULL), append its standard output to `out` and return its exit status, or
 * -1 when it could not be run. */
int lks_ask(const char *const *argv, struct lks_buf *out);

#endif
