/* Options and files of programs that Slurm runs, for their command lines, --help and manual pages.
 */
#ifndef LKS_AGENT_HOOKS_ABOUT_H
#define LKS_AGENT_HOOKS_ABOUT_H

#include "base/process/manual.h"

extern const struct lks_option lks_about_health_options[], lks_about_epilog_options[],
    lks_about_prolog_options[];
extern const struct lks_manual lks_about_health, lks_about_epilog, lks_about_prolog;

#endif
