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

#define ABOUT_job      "A job was admitted and starts."
#define ABOUT_override "A person lets a job start although it would be refused."
#define ABOUT_observed "How many jobs were refused, or would have been."
#define ABOUT_job_act  "A change signals or requeues a job on a node that drains."

#endif
