/* Numbers with fractions, as text: the shortest decimal that is that number and no other. */
#ifndef LKS_BASE_REAL_H
#define LKS_BASE_REAL_H

#include "base/str.h"

#define LKS_REAL_SIZE 32

/* `value` is finite. */
const char *lks_real_text(double value, char out[LKS_REAL_SIZE]);

/* A number as JSON writes them, and finite; else false, and nothing is written. */
bool lks_real_parse(struct lks_str text, double *out);

#endif
