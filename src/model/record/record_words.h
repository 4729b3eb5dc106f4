/* What records say by a number, and the words for it, which never change: they are part of the
 * journal's format and of the API. Lists of words end with NULL. */
#ifndef LKS_MODEL_RECORD_WORDS_H
#define LKS_MODEL_RECORD_WORDS_H

enum lks_liveness { LKS_NEVER_SEEN, LKS_LIVE, LKS_LATE, LKS_LOST, LKS_LIVENESS_COUNT };
enum lks_judged {                 /* a node's tuple against its pool's stack */
                  LKS_JUDGED_NOT, /* no tuple, no stack, or another stack since */
                  LKS_JUDGED_CONFORMS,
                  LKS_JUDGED_DRIFT,
                  LKS_JUDGED_UNMEASURED,
                  LKS_JUDGED_COUNT
};
enum lks_note {                   /* conditions of a node that are on or off */
                LKS_NOTE_SKEW,    /* its clock is off by more than the limit */
                LKS_NOTE_REPLAY,  /* an old heartbeat came again, or two agents share one name */
                LKS_NOTE_WITNESS, /* it witnessed a head that is not in this journal */
                LKS_NOTE_CONTRADICTION, /* its heartbeats name a tuple it does not send */
                LKS_NOTE_UNDRAINED, /* its drain was ended in its scheduler while a change works */
                LKS_NOTE_RESUMED,   /* the same, and it was drained again for that change */
                LKS_NOTE_OUTAGE,    /* its scheduler starts no job there: it is down, or reserved
                                     * for maintenance, and not drained by lockstep */
                LKS_NOTE_EMPTIED,   /* on hold, and drained in its scheduler: no job runs there */
                LKS_NOTE_CHECK,     /* its site's health check failed: it is unhealthy for that */
                LKS_NOTE_UNHEARD, /* drained for a change, and its scheduler's last answer is old */
                LKS_NOTE_COUNT
};
enum lks_alarm_kind {
    LKS_ALARM_MASS,
    LKS_ALARM_CLOCK,
    LKS_ALARM_WITNESS,
    LKS_ALARM_REPLAY,
    LKS_ALARM_PARTS,
    LKS_ALARM_DRIFT,     /* a node differs from its intent, in a pool that says so */
    LKS_ALARM_PROPOSAL,  /* nodes of a pool should be brought back by a change */
    LKS_ALARM_DEVIATION, /* an exception is about to end, or ended while it was still needed */
    LKS_ALARM_FLASH,     /* an update ended so that a person has to look */
    LKS_ALARM_CHANGE,    /* a change was halted, or cannot go on without a person */
    LKS_ALARM_HANDS,     /* a machine that needs manual intervention */
    LKS_ALARM_GLASS,     /* a change began before those who have to had approved it */
    LKS_ALARM_CADENCE,   /* a pool is behind what is released for longer than its limit */
    LKS_ALARM_REVIEW,    /* a change started without its approvals, and was not reviewed in time */
    LKS_ALARM_LOWERED,   /* the fleet's file asks less of a pool's changes than before */
    LKS_ALARM_WEDGED,    /* a node was reset while a process held its GPUs */
    LKS_ALARM_BRIDGE,    /* a scheduler does not answer, or refuses this controller */
    LKS_ALARM_SCHED,     /* a scheduler does not know the node, or another owner drained it there */
    LKS_ALARM_UNDRAINED, /* the drain of a node was ended or taken over in its scheduler */
    LKS_ALARM_VERDICTS,  /* a site's scheduler shows other verdicts than lockstep's for too long */
    LKS_ALARM_UNANSWERED, /* a scheduler started jobs without an answer from lockstepd */
    LKS_ALARM_COUNT
};
enum lks_reset_step { LKS_RESET_ASKED, LKS_RESET_APPROVED, LKS_RESET_REVIEWED, LKS_RESET_COUNT };
enum lks_drift_cause { /* why a node differs from its intent, so far as it can be told */
                       LKS_DRIFT_UNKNOWN,
                       LKS_DRIFT_BANDS,     /* in-band and out-of-band readings disagree */
                       LKS_DRIFT_PART,      /* a replaced part, with the firmware it came with */
                       LKS_DRIFT_REVERTED,  /* it was right, and is the old value again: a silent
                                               revert */
                       LKS_DRIFT_PACKAGES,  /* the package manager changed it */
                       LKS_DRIFT_BUILD,     /* another build of the same version */
                       LKS_DRIFT_EXPIRED,   /* a deviation that ended */
                       LKS_DRIFT_WAVE,      /* still what was pinned before: a partial wave */
                       LKS_DRIFT_DEVICE,    /* an expected device is missing */
                       LKS_DRIFT_HALF,      /* half upgraded: its parts disagree with each other */
                       LKS_DRIFT_SETTING,   /* a setting was changed */
                       LKS_DRIFT_SCHEDULER, /* the scheduler advertises something else */
                       LKS_DRIFT_COUNT
};
enum lks_condition { /* what others say of a node, which admission asks about */
                     LKS_CONDITION_UNHEALTHY,
                     LKS_CONDITION_CHANGING, /* a step of a change is about to begin, or runs */
                     LKS_CONDITION_ATTESTED, /* until a time */
                     LKS_CONDITION_CHECKED,  /* an active check passed, at a time */
                     LKS_CONDITION_COUNT
};
enum lks_stack_step {
    LKS_STEP_CANDIDATE,
    LKS_STEP_LAB,
    LKS_STEP_CANARY,
    LKS_STEP_RELEASED,
    LKS_STEP_RETIRED,
    LKS_STEP_COUNT
};
/* Why a job may not start, of a node, an image or the whole; the words are part of the API. */
enum lks_bar {
    LKS_BAR_UNKNOWN,    /* no such node in the fleet */
    LKS_BAR_STALE,      /* not heard of in time, or its readings are of another boot */
    LKS_BAR_UNMEASURED, /* not read, not all of it, or nothing to hold it against */
    LKS_BAR_DRIFT,
    LKS_BAR_UNHEALTHY,
    LKS_BAR_CHANGING,
    LKS_BAR_UNATTESTED,
    LKS_BAR_UNCHECKED, /* the last active check is too old */
    LKS_BAR_HELD,
    LKS_BAR_INTAKE,
    LKS_BAR_DRAINED,
    LKS_BAR_DEVIATION,  /* it runs an exception that this pool does not take */
    LKS_BAR_DOMAIN,     /* its domain serves mixed, or an asset of it does not conform */
    LKS_BAR_NODE_COUNT, /* those before have a bit for each node; those behind are of the job */
    LKS_BAR_DISAGREES = LKS_BAR_NODE_COUNT, /* other values than the rest of the gang */
    LKS_BAR_POSTURE,                        /* pools that do not share a gang */
    LKS_BAR_STACK,                          /* another stack than the one that was asked for */
    LKS_BAR_IMAGE,                          /* libraries of the job's image */
    LKS_BAR_BEHIND,                         /* this controller is not up to date */
    LKS_BAR_CANARY,                         /* it soaks behind a change, for jobs that opted in */
    LKS_BAR_COUNT
};
enum lks_role {
    LKS_ROLE_VIEWER,
    LKS_ROLE_OPERATOR,
    LKS_ROLE_APPROVER,
    LKS_ROLE_ADMIN,
    LKS_ROLE_AGENT,
    LKS_ROLE_COUNT
};
enum lks_bmc_act {                   /* what is asked of a management endpoint */
                   LKS_BMC_UPDATE,   /* stage and activate */
                   LKS_BMC_STAGE,    /* put it where the next activation finds it */
                   LKS_BMC_ACTIVATE, /* what was staged before */
                   LKS_BMC_ABORT,    /* give up what is staged and not active yet */
                   LKS_BMC_SWITCH,   /* back to the other bank */
                   LKS_BMC_ACT_COUNT
};
enum lks_bmc_outcome {
    LKS_BMC_OPEN,    /* not ended */
    LKS_BMC_DONE,    /* the inventory agrees, three times */
    LKS_BMC_STAGED,  /* it is where the next activation finds it */
    LKS_BMC_SAME,    /* nothing had to be done, and nothing was */
    LKS_BMC_REFUSED, /* nothing was begun */
    LKS_BMC_FAILED,  /* the service gave it up */
    LKS_BMC_UNKNOWN, /* the outcome is unknown: a person has to inspect it */
    LKS_BMC_OUTCOME_COUNT
};
enum lks_change_kind {
    LKS_CHANGE_STACK, /* to another golden stack */
    LKS_CHANGE_AGENT, /* to another version of our own agent */
    LKS_CHANGE_KIND_COUNT
};
enum lks_change_state {
    LKS_CHANGE_PROPOSED,
    LKS_CHANGE_APPROVED,
    LKS_CHANGE_RUNNING,
    LKS_CHANGE_PAUSED,       /* by a person: nodes in progress finish, no other node starts */
    LKS_CHANGE_HALTED,       /* by a gate: the same; a person resumes, aborts or rolls it back */
    LKS_CHANGE_ABORTING,     /* nodes in progress roll back, finished ones stay as they are */
    LKS_CHANGE_ROLLING_BACK, /* all nodes that it reached roll back */
    LKS_CHANGE_OVER,         /* those behind are ends */
    LKS_CHANGE_DONE = LKS_CHANGE_OVER,
    LKS_CHANGE_REJECTED,
    LKS_CHANGE_ABORTED,
    LKS_CHANGE_ROLLED_BACK,
    LKS_CHANGE_STATE_COUNT
};
enum lks_step_kind {                  /* of the steps of a node, in the order they have in a plan */
                     LKS_DO_STAGE,    /* an image beside the one that runs, while it is in use */
                     LKS_DO_LEAVE,    /* drained: no work is started on it, nothing runs */
                     LKS_DO_APPLY,    /* an executor of the node carries an order out */
                     LKS_DO_FLASH,    /* by its management endpoint: staged and activated */
                     LKS_DO_ACTIVATE, /* the same, of what was staged */
                     LKS_DO_REBOOT,   /* it comes back in another boot */
                     LKS_DO_CHECK,    /* read again: all layers so far are what they should be */
                     LKS_DO_ACCEPT,   /* it conforms as a whole, and its acceptance checks pass */
                     LKS_DO_RETURN,   /* returns to service */
                     LKS_DO_COUNT
};
enum lks_wave_kind { LKS_WAVE_LAB, LKS_WAVE_CANARY, LKS_WAVE_RING, LKS_WAVE_KIND_COUNT };
enum lks_wave_state {
    LKS_WAVE_PLANNED,
    LKS_WAVE_BEGUN,  /* its nodes change */
    LKS_WAVE_SOAKS,  /* all of them are over, and the gate looks */
    LKS_WAVE_PASSED, /* the next one may begin */
    LKS_WAVE_HELD,   /* the gate cannot tell: a person decides */
    LKS_WAVE_HALTED,
    LKS_WAVE_STATE_COUNT
};
enum lks_member_state {                     /* a node in a change */
                        LKS_MEMBER_PENDING, /* untouched; its image may be staged already */
                        LKS_MEMBER_WAITING, /* its next step cannot begin yet */
                        LKS_MEMBER_ASKED,   /* a command, an update or a drain is in progress */
                        LKS_MEMBER_READING, /* the step ended: what it did is read again */
                        LKS_MEMBER_OVER,    /* those behind are ends */
                        LKS_MEMBER_DONE = LKS_MEMBER_OVER, /* in use, with what it should have */
                        LKS_MEMBER_REVERTED,               /* in use, with what it had */
                        LKS_MEMBER_FENCED,  /* out of service, until a person ends that */
                        LKS_MEMBER_HANDS,   /* the same, and manual intervention is needed */
                        LKS_MEMBER_UNKNOWN, /* the outcome of its steps is unknown */
                        LKS_MEMBER_SKIPPED, /* left alone: it is gone, or has it already */
                        LKS_MEMBER_STATE_COUNT
};
enum lks_failure { /* why a step did not do what it should */
                   LKS_FAILURE_NONE,
                   LKS_FAILURE_BUSY,     /* it did not drain in time */
                   LKS_FAILURE_REFUSED,  /* nothing was begun: not enabled, not for it, expired */
                   LKS_FAILURE_STEP,     /* it was begun and failed */
                   LKS_FAILURE_WRONG,    /* read again, it is not what it should be */
                   LKS_FAILURE_ACCEPT,   /* an acceptance check failed */
                   LKS_FAILURE_LOST,     /* the node did not come back in time */
                   LKS_FAILURE_ENDPOINT, /* its management endpoint does not answer */
                   LKS_FAILURE_UNKNOWN,  /* whether it was done is unknown */
                   LKS_FAILURE_REVERT,   /* in the rollback */
                   LKS_FAILURE_COUNT
};
enum lks_plan_note {                     /* what an approver has to know */
                     LKS_PLAN_UNCOVERED, /* a combination that no canary has */
                     LKS_PLAN_ONE_WAY,   /* an irreversible step, and the spares for it */
                     LKS_PLAN_EXTERNAL,  /* differs, and is not ours to change */
                     LKS_PLAN_CAPACITY,  /* what stays in use, and the largest gang, over time */
                     LKS_PLAN_WARNING,
                     LKS_PLAN_EVIDENCE, /* how small a loss the gate of a wave can find */
                     LKS_PLAN_LEFT_OUT, /* nodes that were asked for and are not in it, and why */
                     LKS_PLAN_JOBS,     /* what is done to jobs, if they are not waited for */
                     LKS_PLAN_NOTE_COUNT
};
enum lks_metric_kind {                  /* what is measured of nodes for a gate */
                       LKS_METRIC_MEAN, /* a value, before and after */
                       LKS_METRIC_RATE, /* events in a time */
                       LKS_METRIC_HARD, /* events of which one is enough */
                       LKS_METRIC_KIND_COUNT
};
enum lks_metric_better { LKS_BETTER_HIGHER, LKS_BETTER_LOWER, LKS_BETTER_COUNT };
enum lks_metric_unit { LKS_UNIT_NODE, LKS_UNIT_DOMAIN, LKS_UNIT_COUNT };
enum lks_metric_source {
    LKS_SOURCE_PROMETHEUS,
    LKS_SOURCE_AGENT,
    LKS_SOURCE_ACCEPT, /* the node's acceptance checks */
    LKS_SOURCE_COUNT
};
enum lks_gate_verdict { /* from the mildest to the strictest */
                        LKS_GATE_PASS,
                        LKS_GATE_EXTEND, /* not yet */
                        LKS_GATE_HOLD,   /* a person decides */
                        LKS_GATE_HALT,
                        LKS_GATE_COUNT
};
enum lks_drain_jobs {                         /* what may be done to jobs on a node that drains */
                      LKS_DRAIN_JOBS_WAIT,    /* nothing: each runs to its end */
                      LKS_DRAIN_JOBS_REQUEUE, /* a signal, a grace, then it is requeued */
                      LKS_DRAIN_JOBS_COUNT
};
enum lks_job_act { /* what a change does to a job */
                   LKS_JOB_SIGNAL,
                   LKS_JOB_REQUEUE,
                   LKS_JOB_ACT_COUNT
};
enum lks_job_state {                /* of such an act */
                     LKS_JOB_ASKED, /* its scheduler is to be asked, or was asked */
                     LKS_JOB_DONE,
                     LKS_JOB_REFUSED, /* the scheduler refused it; the job is waited for */
                     LKS_JOB_STATE_COUNT
};
enum lks_run_state { /* how a run of a job ended */
                     LKS_RUN_UNKNOWN,
                     LKS_RUN_COMPLETED,
                     LKS_RUN_FAILED,
                     LKS_RUN_CANCELLED,
                     LKS_RUN_TIMEOUT,
                     LKS_RUN_NODE_FAIL,
                     LKS_RUN_PREEMPTED,
                     LKS_RUN_OUT_OF_MEMORY,
                     LKS_RUN_BOOT_FAIL,
                     LKS_RUN_DEADLINE,
                     LKS_RUN_REQUEUED,
                     LKS_RUN_STATE_COUNT
};
enum lks_run_cause { /* what ended it */
                     LKS_RUN_ITSELF,
                     LKS_RUN_BY_LOCKSTEP, /* a change signalled or requeued the job */
                     LKS_RUN_BY_NODE,     /* a node failed under it */
                     LKS_RUN_BY_LIMIT,    /* its time limit or deadline */
                     LKS_RUN_BY_CANCEL,
                     LKS_RUN_BY_PREEMPTION,
                     LKS_RUN_BY_MEMORY,  /* it used more than it had */
                     LKS_RUN_BY_REQUEUE, /* by a person, or a failure that is not known */
                     LKS_RUN_CAUSE_COUNT
};
enum lks_outcome { /* of a command */
                   LKS_OUTCOME_DONE,
                   LKS_OUTCOME_FAILED,
                   LKS_OUTCOME_REFUSED, /* by the agent: not for it, expired, executor not enabled
                                         */
                   LKS_OUTCOME_EXPIRED, /* no answer until its expiry */
                   LKS_OUTCOME_UNKNOWN, /* begun, and the node does not know how it ended */
                   LKS_OUTCOME_COUNT
};

extern const char *const lks_liveness_words[];
extern const char *const lks_judged_words[];
extern const char *const lks_note_words[];
extern const char *const lks_alarm_words[];
extern const char *const lks_reset_words[];
extern const char *const lks_role_words[];
extern const char *const lks_outcome_words[];
extern const char *const lks_drift_words[];
extern const char *const lks_condition_words[];
extern const char *const lks_step_words[];
extern const char *const lks_bar_words[];
extern const char *const lks_bmc_act_words[];
extern const char *const lks_bmc_outcome_words[];
extern const char *const lks_change_kind_words[];
extern const char *const lks_change_state_words[];
extern const char *const lks_step_kind_words[];
extern const char *const lks_step_kind_titles[]; /* the same for people: a node drains */
extern const char *const lks_wave_kind_words[];
extern const char *const lks_wave_state_words[];
extern const char *const lks_member_state_words[];
extern const char *const lks_failure_words[];
extern const char *const lks_plan_note_words[];
extern const char *const lks_metric_kind_words[];
extern const char *const lks_metric_better_words[];
extern const char *const lks_metric_unit_words[];
extern const char *const lks_metric_source_words[];
extern const char *const lks_gate_verdict_words[];
extern const char *const lks_drain_jobs_words[];
extern const char *const lks_run_state_words[];
extern const char *const lks_run_cause_words[];
extern const char *const lks_job_act_words[];
extern const char *const lks_job_state_words[];

#endif
