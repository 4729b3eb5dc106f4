/* A program as its --help and its manual page describe it: both are printed from this. */
#ifndef LKS_BASE_MANUAL_H
#define LKS_BASE_MANUAL_H

#include "base/process/args.h"

struct lks_manual_row {
    const char *name, *about;
};

struct lks_manual_part {
    const char *title; /* "Options", or the command that they are options of */
    const struct lks_option *options;
};

enum { LKS_MANUAL_USAGES = 4, LKS_MANUAL_PARTS = 3 };

/* Lists end with a row of zeroes, or where the array does. */
struct lks_manual {
    const char *name, *summary;            /* the summary has a verb first, and no full stop */
    const char *about;                     /* sentences, or "" */
    const char *usages[LKS_MANUAL_USAGES]; /* without the name of the program */
    struct lks_manual_part parts[LKS_MANUAL_PARTS];
    const struct lks_manual_row *files, *signals;
    const char *see; /* other manual pages: "lockstep(1), lockstepd.yaml(5)" */
};

/* Every program has these. */
extern const struct lks_manual_row lks_manual_exits[];

/* All of --help, to column LKS_TERM_TEXT_COLUMNS. */
void lks_manual_help(const struct lks_manual *program, FILE *out);

#endif
