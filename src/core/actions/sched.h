/* The next request to a pool's scheduler about a node, and the meaning of its answer. The
 * conversation with it is in port/sched.h. */
#ifndef LKS_CORE_SCHED_H
#define LKS_CORE_SCHED_H

#include "base/err.h"
#include "base/time.h"
#include "codec/notation/drain_reason.h"
#include "core/plan/drain.h"
#include "core/sched/reservations.h"
#include "core/sched/runs.h"
#include "model/record/record_words.h"

struct lks_event;
struct lks_facts;
struct lks_sched_jobs;
struct lks_state;

#define LKS_SCHED_MARK       LKS_DRAIN_REASON_MARK /* before the owner of each drain that we make */
#define LKS_SCHED_HOLD_SIZE  32                    /* of the owner that a hold is, "hold:812" */
#define LKS_SCHED_OWNER_MAX  127
#define LKS_SCHED_REASON_MAX 255
#define LKS_SCHED_GRES_MAX   255
#define LKS_SCHED_USER_MAX   64
#define LKS_SCHED_TOKEN_MAX  4096

#define LKS_SCHED_FEATURES_MAX 95
#define LKS_SCHED_DIGEST_MAX   71
#define LKS_SCHED_NOTE_MAX     191
#define LKS_SCHED_TOLD_MAX     1024 /* nodes in a request that publishes */

enum lks_sched_verb { LKS_SCHED_DRAIN, LKS_SCHED_LOOK, LKS_SCHED_RELEASE, LKS_SCHED_VERB_COUNT };
extern const char *const lks_sched_verb_words[]; /* "drain", "look", "release", NULL */

/* Who we are to a scheduler that wants to know; secret. */
struct lks_sched_login {
    struct lks_str user;
    struct lks_str token; /* empty: it knows the user by the socket */
};

/* Texts are copied by begin(). */
struct lks_sched_wish {
    enum lks_sched_verb verb;
    struct lks_str node;   /* as the scheduler calls it */
    struct lks_str owner;  /* "change:17" */
    struct lks_str from;   /* DRAIN: the owner of a drain of ours that this one takes over */
    struct lks_str by;     /* DRAIN: the person who asked for it; empty: none */
    struct lks_str reason; /* DRAIN: for people who look there */
    uint64_t row;          /* DRAIN: of the journal, that ordered it; 0: unknown */
    bool checkpoint;       /* DRAIN: a job that writes checkpoints may be stopped behind the next */
    uint64_t revision;     /* answers from before it are stale; 0: none was seen, or by a bridge
                              that counts otherwise */
    lks_ms after;          /* the same of readings, by the clock of conversations, which is: */
    lks_ms now;            /* when the conversation begins */
    uint64_t epoch;        /* of the leader that asks: older ones cannot write any more */
    uint32_t dialect;      /* of what was said last; 0: none is known */
    struct lks_sched_login login;
    lks_ms deadline; /* wall */
};

/* What lockstep says of a node in the scheduler: features, the stack's digest in short and the
 * verdict, sorted and separated by commas; the whole digest; and a line about the verdict, which
 * only some schedulers have a place for. */
struct lks_sched_truth {
    char features[LKS_SCHED_FEATURES_MAX + 1];
    char digest[LKS_SCHED_DIGEST_MAX + 1];
    char note[LKS_SCHED_NOTE_MAX + 1];
};

/* A node of a request, and what became of it. */
struct lks_sched_told {
    struct lks_str node;
    uint32_t place; /* in the state; the asker's own: a node that left the fleet has no other */
    struct lks_sched_truth truth;
    bool open; /* its turn did not come: nothing was done */
    bool seen; /* the scheduler returned it, which is as good as a reading */
    char why[LKS_SCHED_REASON_MAX + 1]; /* empty: the node shows it */
};

/* What is asked about a whole site. Lists, reservations and what is published repeat harmlessly;
 * requests about jobs are sent once, and where no answer comes their outcome is unknown. */
enum lks_sched_site_verb {
    LKS_SCHED_SITE_JOBS,         /* list the jobs that are not finished */
    LKS_SCHED_SITE_SIGNAL,       /* send a signal to a job */
    LKS_SCHED_SITE_REQUEUE,      /* requeue a job */
    LKS_SCHED_SITE_LEAD,         /* keep the epoch of this leader, and refuse those before it */
    LKS_SCHED_SITE_PUBLISH,      /* show what lockstep says of nodes */
    LKS_SCHED_SITE_RESERVATIONS, /* list the reservations that lockstep made */
    LKS_SCHED_SITE_RESERVE,      /* make a reservation, or change it: as the wish has it */
    LKS_SCHED_SITE_UNRESERVE,    /* delete it */
    LKS_SCHED_SITE_RUNS,         /* list runs of jobs that ended */
    LKS_SCHED_SITE_POLICY,       /* tell what jobs may be taken in */
    LKS_SCHED_SITE_VERB_COUNT
};
extern const char *const lks_sched_site_verb_words[]; /* "jobs" ... "policy", NULL */

/* Texts, `jobs` and `listed` live until the conversation ended. */
struct lks_sched_site_wish {
    enum lks_sched_site_verb verb;
    struct lks_str job;          /* SIGNAL, REQUEUE: its id */
    struct lks_str node;         /* SIGNAL, REQUEUE: that drains, and that it runs on */
    struct lks_str signal;       /* SIGNAL: "USR1", "USR2", "HUP", "TERM" */
    lks_ms started;              /* SIGNAL, REQUEUE: the run that is meant started then */
    bool batch;                  /* SIGNAL: to the batch script as well as to the steps */
    uint64_t tag;                /* the asker's own */
    struct lks_sched_jobs *jobs; /* JOBS: the list is put here; empty before */
    struct lks_sched_told *told; /* PUBLISH */
    uint32_t told_count;
    struct lks_sched_reservations *listed;    /* RESERVATIONS: put here; empty before */
    struct lks_sched_reservation reservation; /* RESERVE; UNRESERVE: its name */
    struct lks_sched_runs_place after;        /* RUNS: those behind it, */
    struct lks_sched_runs *runs;              /* put here; empty before */
    struct lks_str policy;                    /* POLICY: the body, core/admission/admit_policy.h */
    bool *written;                            /* POLICY: whether the bridge has a file for it */
    uint64_t epoch;
    struct lks_sched_login login;
    lks_ms deadline;
};

/* What else is wrong with the GPUs that it advertises. */
enum lks_sched_odd {
    LKS_SCHED_ODD_NOTHING,
    LKS_SCHED_ODD_REGISTERED, /* the node has fewer, by its own daemon of the scheduler */
    LKS_SCHED_ODD_USED,       /* jobs have more: the configuration was changed under them */
    LKS_SCHED_ODD_COUNT
};
extern const char *const lks_sched_odd_words[]; /* as they are recorded; "", ..., NULL */

/* What it says of a node. */
struct lks_sched_said {
    bool known;        /* it has such a node */
    bool closed;       /* the node takes no new work, for any reason */
    bool lockstep;     /* a drain that lockstep made, for whichever change */
    bool ours;         /* a drain of the wish's owner */
    bool rotation;     /* a service still sends requests there */
    bool settles;      /* closed so lately that work may start there that was placed before */
    bool down;         /* it cannot run anything, drained or not */
    uint32_t jobs;     /* that run there */
    uint32_t requests; /* of services, that are not answered yet */
    uint64_t revision;
    lks_ms age;      /* of the reading, when it was heard */
    lks_ms after;    /* later answers may not be from before this; 0: any may */
    bool truthful;   /* the scheduler shows what lockstep says of nodes: */
    bool slotted;    /* also the slot of its stack, which a bridge of before refuses, */
    bool digestible; /* the digest, which others may leave no place for, */
    bool noted;      /* and the line about the verdict */
    struct lks_sched_truth truth;
    lks_ms configured; /* its clock: when it read its configuration; 0: unknown */
    uint32_t dialect;  /* the driver's own: which version of slurmrestd it is; 0: it is a bridge */
    lks_ms since;      /* closed: its clock; 0: it does not tell */
    lks_ms ends;       /* jobs: the last may run until then; 0: unknown */
    char owner[LKS_SCHED_OWNER_MAX + 1];   /* closed: of whom; ours without the driver's mark */
    char text[LKS_SCHED_REASON_MAX + 1];   /* one line for people: what is waited for */
    char outage[LKS_SCHED_REASON_MAX + 1]; /* why no job starts there, drained or not; or empty */
    char gres[LKS_SCHED_GRES_MAX + 1];     /* GPUs that it advertises; empty: none, or unreadable */
    enum lks_sched_odd odd;
};

/* It takes no new work and nothing runs there any more. */
bool lks_sched_drained(const struct lks_sched_said *said);

/* Who wants a node drained in its scheduler: a change or drift, or else the person who put it on
 * hold. A node on hold in a change is drained for the change, and for the hold afterwards. Texts
 * are views of the state; the owner of a hold is in `space`. Without an owner nothing wants it. */
struct lks_sched_cause {
    struct lks_str owner, by, reason;
    uint64_t row;
};
struct lks_sched_cause lks_sched_cause(const struct lks_state *s, uint32_t node,
                                       char space[LKS_SCHED_HOLD_SIZE]);

/* For the code that runs the conversations: what a scheduler of the node's pool is to be asked next
 * about the node, so that its drains become those of the state: each of them the same, by what it
 * said itself. `last` is what it said last, NULL: nothing since the start. Texts are views of the
 * state, of `space` and of `last`; the deadline is the caller's. False: it need not be asked: there
 * is no scheduler that can be, or it has what it should. A drain of ours whose owner is over is
 * released only where nothing else wants the node drained; else the next owner takes it over, and
 * the node takes no work in between. While a command or an update is in progress there it is not
 * released. */
bool lks_sched_next(const struct lks_state *s, const struct lks_facts *facts, uint32_t node,
                    const struct lks_sched_said *last, char space[LKS_SCHED_HOLD_SIZE],
                    struct lks_sched_wish *out);

/* The event that carries what was said to the engine. Each answer about a node that is drained is
 * handed on, news or not: one that came before anybody waited for it has to come again. Texts are
 * views of `said`. */
void lks_sched_event(uint32_t node, const struct lks_sched_said *said, struct lks_event *out);

/* What is known of a node in one of the schedulers of its pool. */
struct lks_sched_part {
    const char *sched;
    const struct lks_sched_said *said; /* the last answer; NULL: none came since the start */
    bool counts;            /* it is recent, and nothing was asked since that may undo it */
    bool lost;              /* a drain of ours ended, or */
    bool worse;             /* it is not drained any more, with that answer; no event told of it */
    uint32_t failures;      /* in a row, since that answer */
    bool refused;           /* the last failure does not pass by itself */
    lks_ms since;           /* wall: of the first failure */
    struct lks_str trouble; /* of the last */
};

#define LKS_SCHED_PARTS_MAX LKS_DRAIN_SCHEDS_MAX
#define LKS_SCHED_UNHEARD   3   /* failures in a row that are news */
#define LKS_SCHED_TEXT_SIZE 384 /* a scheduler's name and its text */

struct lks_sched_space {
    char text[LKS_SCHED_TEXT_SIZE], names[LKS_SCHED_TEXT_SIZE];
};

/* The same of all schedulers of the node's pool, as one answer: it is drained if each reports that,
 * drained by the first owner that is not `wanted`, jobs are counted together, and the text is that
 * of the scheduler that is worst off, with its name. A silence of one is a silence, since the
 * longest of them began; but what became worse in another is told at once. `mute` is a scheduler
 * that cannot be asked; empty: each can. False: there is no event: answers are missing, but not so
 * long that it is news. Texts are views of the parts and of `space`. A single part makes the event
 * that it makes alone. */
bool lks_sched_combine(uint32_t node, struct lks_str wanted, struct lks_str mute,
                       const struct lks_sched_part *parts, size_t count,
                       struct lks_sched_space *space, struct lks_event *out);

/* Whether what this scheduler advertises counts: it is the first of the pool's that does that. */
bool lks_sched_advertises(const struct lks_state *s, uint32_t node, struct lks_str sched);

/* The event that carries what it advertises, or the end of it: the node is not known there any
 * more. False: the state has it so. Texts are views of `said`. */
bool lks_sched_advertised(const struct lks_state *s, uint32_t node,
                          const struct lks_sched_said *said, struct lks_event *out);

/* Whether the node differs from its intent in what its scheduler advertises. */
bool lks_sched_gres_differs(const struct lks_state *s, uint32_t node);

/* The event that says that no job starts there for another reason than a drain of lockstep, or that
 * this is over: by all schedulers of the pool, the first that has a reason, with its name where
 * there are several. False: the state has it so, or there is no reason, and one of them gave no
 * answer yet. Texts are views of `parts` and `space`. */
bool lks_sched_outage_of(const struct lks_state *s, uint32_t node,
                         const struct lks_sched_part *parts, size_t count,
                         struct lks_sched_space *space, struct lks_event *out);
/* Whether it is news; an empty text: it is over. */
bool lks_sched_outage_new(const struct lks_state *s, uint32_t node, struct lks_str outage);

/* The end of one of the two, where the node's pool has no scheduler any more that could say
 * something else. */
bool lks_sched_withdrawn(const struct lks_state *s, uint32_t node, struct lks_event *out);

/* The subject of the next open alarm of that kind; `*at` is 0 before the first. False: that was
 * all.
 */
bool lks_sched_alarm_next(const struct lks_state *s, enum lks_alarm_kind kind, uint32_t *at,
                          struct lks_str *subject);
bool lks_sched_alarm_open(const struct lks_state *s, enum lks_alarm_kind kind,
                          struct lks_str subject);

/* Whether a drain of ours that was there before was ended or taken over by another: `verb` is what
 * was asked between the two answers. */
bool lks_sched_lost(enum lks_sched_verb verb, const struct lks_sched_said *before,
                    const struct lks_sched_said *now);

#endif
