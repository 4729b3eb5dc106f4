/*
 * What slurm-prolog asks about, from the variables that slurmctld sets for PrologSlurmctld. Pure.
 *
 * The job's user chooses SPANK_LOCKSTEP_*: a value that could not be asked about is refused here.
 * It would be an error of the question, which is no answer, and a job may start without one.
 */
#ifndef LKS_AGENT_PROLOG_QUESTION_H
#define LKS_AGENT_PROLOG_QUESTION_H

#include "agent/hooks/prolog_components.h"
#include "codec/notation/hostlist.h"

#define LKS_PROLOG_WORDS_MAX (16 + 2 * LKS_PROLOG_COMPONENTS_MAX)

struct lks_prolog_question {
    struct lks_arena arena; /* owns the texts below */
    const char *job;
    struct lks_hostlist nodes;       /* those that are asked about */
    bool wishes;                     /* the job has some: a yes is not one for every job */
    struct lks_prolog_start start;   /* job 0: no component of a heterogeneous job */
    struct lks_prolog_component own; /* views of the variables */
    const char *user;                /* NULL: not known */
    const char *words[LKS_PROLOG_WORDS_MAX];
    size_t count;
};

/* `get` is getenv(). `words` become the arguments of lockstep behind its name. The first component
 * of a heterogeneous job is asked about with the nodes of all of them. USAGE: slurmctld did not set
 * what is needed; REFUSED: a wish of the job is malformed. The caller owes
 * lks_prolog_question_fini() whatever comes of it. */
enum lks_code lks_prolog_question_read(char *(*get)(const char *), struct lks_prolog_question *out,
                                       struct lks_err *err) LKS_MUST_CHECK;
void lks_prolog_question_fini(struct lks_prolog_question *q);

/* The images of several components of the job of `own`, each with its ranks: the nodes count from
 * 0, component by component. Stacks and --canary-ok differ between components, and are asked about
 * with each. REFUSED: a node is in two components. `out` is owed a lks_prolog_question_fini(), and
 * views of `own` and `c` are in it. */
enum lks_code lks_prolog_question_gang(const struct lks_prolog_question *own,
                                       const struct lks_prolog_components *c,
                                       struct lks_prolog_question *out,
                                       struct lks_err *err) LKS_MUST_CHECK;

/* The node that a reason names, such as n2 of "no: drift n2: ...", if such a node can be drained:
 * an empty view for reasons of the whole job, of images, and of nodes that a change has. */
struct lks_str lks_prolog_question_offender(struct lks_str answer);

#endif
