/* What the main functions of programs that Slurm runs have in common. */
#ifndef LKS_AGENT_HOOK_H
#define LKS_AGENT_HOOK_H

#include "agent/helper/subtask.h"
#include "agent/hooks/notice.h"

/* Open streams that were closed, close all other descriptors, leave no core. False: a stream cannot
 * be opened, and a file that is opened later would take its place. */
bool lks_hook_settle(void);

/* Run a program to its end, or until its time is up. `output` becomes what it printed, as a text
 * that ends at its first NUL; `program->max` is less than its size. What the program started in
 * another session is left. FAILURES: those of lks_subtask_start() and lks_subtask_end(), and
 * INVALID for the exit status that programs of lockstep have for bad input. */
#define LKS_HOOK_OUTPUT_SIZE 4096
enum lks_code lks_hook_run(const struct lks_subtask_program *program,
                           char output[LKS_HOOK_OUTPUT_SIZE], struct lks_err *err) LKS_MUST_CHECK;

/* The same for a command by its name, "/usr/bin/env" before it, within so many seconds: in a fixed
 * PATH, and with SLURM_CONF. */
enum lks_code lks_hook_command(char *const *argv, int seconds, char output[LKS_HOOK_OUTPUT_SIZE],
                               struct lks_err *err) LKS_MUST_CHECK;

#endif
