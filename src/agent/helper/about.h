/* Options, files and signals of the helper, for its command line, --help and lockstep-helper(8). */
#ifndef LKS_HELPER_ABOUT_H
#define LKS_HELPER_ABOUT_H

#include "base/process/manual.h"

extern const struct lks_option lks_about_helper_options[];
extern const struct lks_manual lks_about_helper;

#endif
