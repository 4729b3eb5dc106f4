/* Programs that a site put on the node: hooks, and acceptance checks. Each is a plain file that
 * only root may change, in a folder of which the same holds. */
#ifndef LKS_EXECUTORS_PROGRAMS_H
#define LKS_EXECUTORS_PROGRAMS_H

#include "executors/executor.h"

#define LKS_HOOK_FOLDER   "/etc/lockstep/hooks"
#define LKS_ACCEPT_FOLDER "/etc/lockstep/accept.d"
#define LKS_ACCEPT_MS     (600 * 1000) /* for each check */
#define LKS_ACCEPT_MAX    100

/* DENIED for what others than root may change, NOT_FOUND. */
enum lks_code lks_program_check(const char *folder, const char *path,
                                struct lks_err *err) LKS_MUST_CHECK;

/* Run the order's hook: HOOK ORDER FILES, where ORDER is the order and FILES the folder with its
 * artifacts by their names. What it prints first is what is said. */
enum lks_code lks_program_hook_run(struct lks_job *job, struct lks_buf *said,
                                   struct lks_err *err) LKS_MUST_CHECK;

#endif
