/*
 * A site's own health check, run once: bounded in time and in what is kept of its output.
 *
 * It runs without a shell, input or descriptors of the caller, in a session of its own, with a
 * fixed PATH and MARK_OFFLINE=0, by which NHC neither drains nor resumes the node. What it leaves
 * behind in its process group is killed. A check in an uninterruptible wait delays nothing: only
 * the process that started it is waited for.
 */
#ifndef LKS_AGENT_SITE_CHECK_H
#define LKS_AGENT_SITE_CHECK_H

#include "agent/hooks/notice.h"

/* `argv` ends with NULL; its first word is an absolute path. The result is PASSED, or FAILED with
 * the check's first line and how it ended. */
void lks_site_check_run(char *const *argv, int seconds, struct lks_notice *out);

#endif
