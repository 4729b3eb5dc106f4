/* Options, files and signals of lockstepd, for its command line, --help and lockstepd(8). */
#ifndef LKS_SERVER_ABOUT_H
#define LKS_SERVER_ABOUT_H

#include "base/process/manual.h"

extern const struct lks_option lks_about_init_options[], lks_about_run_options[];
extern const struct lks_manual lks_about_lockstepd;

#endif
