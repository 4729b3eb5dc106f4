/*
 * Which nodes lockstepd admitted last, and when: an empty file for each node in a folder of
 * slurmctld's user, whose modification time is when the question was asked. The file .no.NODE has
 * the time of the last no: a yes counts only if it was asked for later, whichever run writes first.
 * Runs of slurm-prolog share these without a lock, one file at a time.
 */
#ifndef LKS_AGENT_PROLOG_LAST_H
#define LKS_AGENT_PROLOG_LAST_H

#include "codec/notation/hostlist.h"

#include <time.h>

/* A descriptor of the folder, which is made if it is not there. DENIED: others can write to it. */
enum lks_code lks_prolog_last_open(const char *path, int *out, struct lks_err *err) LKS_MUST_CHECK;

/* All of these were admitted by a question asked then; or they were not, and none of them counts
 * until it is by a later question. A file that cannot be written is a node that is not known. */
void lks_prolog_last_note(int dir, const struct lks_hostlist *nodes, bool admitted,
                          struct timespec asked);

/* Whether an answer about the node is stored, however old it is. */
bool lks_prolog_last_stored(int dir, struct lks_str node);

/* Jobs that started without an answer are counted in the folder, until they are reported. */
#define LKS_PROLOG_LAST_COUNT_MAX 1000000
void lks_prolog_last_count(int dir, uint64_t jobs);

/* How many there are; one run has them at a time, until lks_prolog_last_end() with how many it
 * reported, which 0 leaves as they are. A run that is killed between reported them perhaps, and
 * they are reported again. 0: there is none, or another run has them, and nothing is to end. */
uint64_t lks_prolog_last_take(int dir, int *taken);
void lks_prolog_last_end(int dir, int taken, uint64_t reported);

/* The first node that was not admitted in the `seconds` before `now`; NULL: all were. A time in the
 * future, after the clock was set back, does not count. */
const struct lks_str *lks_prolog_last_unknown(int dir, const struct lks_hostlist *nodes, time_t now,
                                              time_t seconds);

#endif
