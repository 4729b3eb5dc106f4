/* Options, files and signals of the agent, for its command line, --help and lockstep-agent(8). */
#ifndef LKS_AGENT_ABOUT_H
#define LKS_AGENT_ABOUT_H

#include "base/process/manual.h"

extern const struct lks_option lks_about_agent_options[];
extern const struct lks_manual lks_about_agent;

#endif
