/* The fields of records about jobs: admitted ones, and those on nodes that drain. For
 * record_fields.c alone, which defines the macros. */
#ifndef LKS_MODEL_RECORD_FIELDS_JOBS_H
#define LKS_MODEL_RECORD_FIELDS_JOBS_H

static const struct lks_record_field job_act_fields[] = {
    NUMBER(job_act, change, "The change."),
    TEXT(job_act, job, "The job, as its scheduler calls it."),
    TEXT(job_act, site, "The site of the scheduler."),
    TEXT(job_act, sched, "The scheduler."),
    TEXT(job_act, node, "The node that drains and that the job runs on."),
    TEXT(job_act, user, "The user of the job."),
    WORD(job_act, act, lks_job_act_words, "Whether the job is signalled or requeued."),
    WORD(job_act, state, lks_job_state_words, "Whether the scheduler did it."),
    TEXT(job_act, signal, "The signal."),
    TIME(job_act, started, "When the job had started."),
    TIME(job_act, until, "When the grace after the signal ends."),
    TEXT(job_act, text, "The scheduler's answer."),
};
static const struct lks_record_field job_fields[] = {
    TEXT(job, job, "The job."),
    TEXT(job, hosts, "The nodes, as a host list."),
    TEXT(job, digest, "The stack it starts on."),
    TEXT(job, images, "The images it brings, separated by blanks."),
    BY(job),
    TEXT(job, override, "Why it may start all the same, where it starts by an override."),
};
static const struct lks_record_field override_fields[] = {
    TEXT(override, job, "The job."),
    TEXT(override, hosts, "The nodes, as a host list."),
    REASON(override),
    BY(override),
    TIME(override, until, "Until when it may start all the same."),
};
static const struct lks_record_field observed_fields[] = {
    TEXT(observed, pool, "The pool; missing: `asked` counts jobs that started, in a snapshot."),
    WORD(observed, bar, lks_bar_words, "For what reason."),
    NUMBER(observed, asked, "Jobs that asked since the last such record."),
    NUMBER(observed, refused, "The number of these that were refused, or would have been."),
};

static const struct lks_record_field refusal_fields[] = {
    TEXT(refusal, pool, "The pool."),
    WORD(refusal, bar, lks_bar_words, "For what reason."),
    TEXT(refusal, user, "The user of the jobs; (others): of several users."),
    TEXT(refusal, image,
         "The image that the reason is about, or the first image of the jobs; "
         "(others): several."),
    TEXT(refusal, node, "The node that the reason is about; `user` and `image` are missing then."),
    NUMBER(refusal, count, "Jobs since the last such record."),
};
static const struct lks_record_field job_ended_fields[] = {
    TEXT(job_ended, job, "The job, as its scheduler calls it."),
    TEXT(job_ended, site, "The site of the scheduler."),
    TEXT(job_ended, sched, "The scheduler."),
    TEXT(job_ended, user, "The user of the job."),
    TEXT(job_ended, account, "The account that the scheduler charges."),
    TEXT(job_ended, partition, "The partition of the scheduler."),
    TEXT(job_ended, name, "The name that the user gave the job."),
    TEXT(job_ended, pool, "The pool of the first node."),
    TEXT(job_ended, hosts, "The nodes, as a host list."),
    NUMBER(job_ended, nodes, "Number of nodes."),
    NUMBER(job_ended, gpus, "Number of GPUs on all nodes; missing: not known."),
    TEXT(job_ended, digest, "The stacks of the nodes, separated by blanks."),
    TIME(job_ended, started, "When the run started, by the scheduler's clock."),
    TIME(job_ended, ended, "When the run ended, by the scheduler's clock."),
    WORD(job_ended, state, lks_run_state_words, "How the run ended."),
    TEXT(job_ended, exit, "Exit status and signal of its script, such as 3:0."),
    NUMBER(job_ended, restarts, "Restarts of the job before this run."),
    NUMBER(job_ended, gpu_ms, "GPUs times duration in milliseconds."),
    WORD(job_ended, cause, lks_run_cause_words, "The cause of its end."),
    TEXT(job_ended, by, "The change or the node that ended the run."),
    TEXT(job_ended, reason, "The scheduler's reason."),
};
static const struct lks_record_field job_batch_fields[] = {
    TEXT(job_batch, job, "The array that they are tasks of; missing: of several jobs."),
    TEXT(job_batch, site, "The site of the scheduler."),
    TEXT(job_batch, sched, "The scheduler."),
    TEXT(job_batch, user, "The user; missing: of several users."),
    TEXT(job_batch, pool, "The pool of the first node of each."),
    TEXT(job_batch, digest, "The stacks of their nodes, separated by blanks."),
    WORD(job_batch, state, lks_run_state_words, "How the runs ended."),
    WORD(job_batch, cause, lks_run_cause_words, "The cause of their end."),
    NUMBER(job_batch, count, "Number of runs."),
    NUMBER(job_batch, gpu_ms, "GPUs times duration in milliseconds, of all."),
    TIME(job_batch, started, "When the first one started, by the scheduler's clock."),
    TIME(job_batch, ended, "When the last one ended."),
};
static const struct lks_record_field runs_read_fields[] = {
    TEXT(runs_read, site, "The site of the scheduler."),
    TEXT(runs_read, sched, "The scheduler."),
    TIME(runs_read, at, "The end of the last run, by the scheduler's clock."),
    TEXT(runs_read, job, "The job of that run; missing: all that ended before are counted."),
    TIME(runs_read, missing_from, "Start of the gap: runs that ended in it may be missing."),
    TIME(runs_read, missing_until, "End of the gap."),
};

#define ABOUT_job_ended "A run of a job ended."
#define ABOUT_job_batch "Runs of jobs ended that have no record of their own."
#define ABOUT_runs_read "All runs of a scheduler up to this position are counted."
#define ABOUT_job       "A job was admitted and starts."
#define ABOUT_override  "A person lets a job start although it would be refused."
#define ABOUT_observed  "How many jobs were refused, or would have been."
#define ABOUT_refusal   "Jobs were refused, or would have been, by user, image or node."
#define ABOUT_job_act   "A change signals or requeues a job on a node that drains."

#endif
