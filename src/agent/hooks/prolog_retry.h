/* After a refusal: the job does not wait for 120 s if Slurm would choose other nodes now. */
#ifndef LKS_AGENT_PROLOG_RETRY_H
#define LKS_AGENT_PROLOG_RETRY_H

#include "base/str.h"

/* A place of those for processes that wait, as a descriptor whose lock in the folder `dir` ends
 * when all its copies are closed; -1: all are taken, or there can be none. */
#define LKS_PROLOG_RETRY_PLACES 8
int lks_prolog_retry_place(int dir);

/* In a process of its own, which has `place` and nothing waits for: once the job is pending and
 * Slurm drains the node, let the job start. After `seconds` it is left as it is. FAILURE: there is
 * no such process, and nothing changes. */
bool lks_prolog_retry_start(const char *scontrol, const char *job, const char *node, int seconds);

/* How long it waits before it asks Slurm again: at first a second. Pure. */
int lks_prolog_retry_pause(int last_ms);

/* Whether the word KEY=VALUE of `scontrol --oneliner show` has `flag` among the words of its value,
 * which are separated by "+". Pure. */
bool lks_prolog_retry_shows(struct lks_str output, const char *key, const char *flag);

#endif
