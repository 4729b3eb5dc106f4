/* Commands of drift, deviations and jobs: their rows and options, for table.c alone. */
#ifndef LKS_CLI_TABLE_DRIFT_H
#define LKS_CLI_TABLE_DRIFT_H

#include "cli/shared/commands.h"

extern const struct lks_option lks_drift_options[], lks_deviation_options[],
    lks_deviations_options[], lks_job_options[], lks_job_show_options[];

/* clang-format off */
#define LKS_DRIFT_COMMANDS                                                                         \
    {LKS_LOOK, "drift", "", 0, 0, lks_drift_options,                                               \
     "List nodes that differ from their intent, and why",                                          \
     "The cause is given if it is known: a flash that reverted by itself, a replaced part, the "   \
     "package manager, another build, a wave that left a node behind. Recorded deviations are "    \
     "listed but are not drift. The exit status is 1 if a listed node drifts.",                    \
     "{items: [{node, pool, stack?, digest?, judged, cause?, since?, text?, evidence?, rows: "     \
     "[{subject, cause, pinned, actual, of?, deviation?}]}]}; with --watch a line for each record",\
     lks_cmd_drift},                                                                               \
    {LKS_OPERATE, "deviation add", "NODES", 1, 1, lks_deviation_options,                           \
     "Record a deviation, such as a hot-fix, with an owner and an end",                            \
     "Until the deviation ends, the difference that it covers is not drift. In a production pool " \
     "that enforces, it counts only after another person approved it ('deviation approve'). At "   \
     "its end the difference is drift again, with an alarm then and a day before: where the pool " \
     "enforces, the node takes no new job, and drains if on_drift of the pool says so.",           \
     "{id, waits?, warning?, seq, nodes, gpus}", lks_cmd_deviation_add},                           \
    {LKS_LOOK, "deviation ls", "", 0, 0, lks_deviations_options, "List active deviations", "",     \
     "{items: [{id, nodes, subject, value?, owner, reason, approver?, by, waits?, agreed?, "       \
     "agreed_by?, agreed_reason?, added, expires, ended?, ended_by?, ended_reason?, in_use}]}",    \
     lks_cmd_deviation_ls},                                                                        \
    {LKS_OPERATE, "deviation approve", "ID", 1, 1, reason_options,                                 \
     "Approve a deviation that another person added",                                              \
     "Needs the approver role for all its nodes. The person who added the deviation and its owner "\
     "cannot approve it. Only an approved deviation counts in a production pool that enforces, "   \
     "and permits changes to a stack that is not released and updates by hand to a version that "  \
     "is not pinned. A change does not preserve the deviation: it installs "                       \
     "what its stack changes.",                                                                    \
     "{seq}", lks_ask_cmd},                                                                        \
    {LKS_OPERATE, "deviation close", "ID", 1, 1, reason_options, "End a deviation", "", "{seq}",   \
     lks_ask_cmd}

#define LKS_JOB_COMMANDS                                                                          \
    {LKS_OPERATE, "job ls", "", 0, 0, lks_job_options, "List runs of jobs that ended", \
     "A run has a row of its own if it lasted 10 minutes, used a GPU-hour or was interrupted, up "\
     "to 600 rows of a pool in an hour. Other runs are counted together by user, stack, state and "\
     "cause ('count'). --stack and --component go by the stacks of the nodes, not by the "         \
     "libraries in the images of jobs. Needs lockstep-slurm-bridge.",                              \
     "{items: [{id, job?, count, user?, account?, partition?, name?, pool?, site?, sched, nodes?, "\
     "node_count?, gpus?, stacks?, started, ended, state, exit?, restarts?, gpu_ms?, cause, by?, "\
     "reason?, recorded}]}",                                                                       \
     lks_cmd_job_ls},                                                                              \
    {LKS_OPERATE, "job show", "JOB", 1, 1, lks_job_show_options, "List the runs of a job", \
     "Includes the tasks of an array and the components of a heterogeneous job.",                  \
     "{items: [{id, job?, count, ...}]}, as job ls", lks_cmd_job_show}
/* clang-format on */

#endif
