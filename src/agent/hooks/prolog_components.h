/*
 * The components of a heterogeneous job, and the image of each. slurmctld gives one component
 * nothing of the others and runs their prologs at once, in any order. So each prolog keeps its own
 * component in a folder before it reads those of the others: of any two, the later one sees both.
 */
#ifndef LKS_AGENT_PROLOG_COMPONENTS_H
#define LKS_AGENT_PROLOG_COMPONENTS_H

#include "base/arena.h"

#include <time.h>

#define LKS_PROLOG_COMPONENTS_MAX     128    /* of a job, as in Slurm */
#define LKS_PROLOG_NODES_MAX          131072 /* bytes; Linux passes on no longer argument */
#define LKS_PROLOG_COMPONENTS_FILES   8192
#define LKS_PROLOG_COMPONENTS_SECONDS 300 /* prologs of one start begin within seconds */

/* One start of a job: slurmctld counts restarts alike for all components. `job` is the ID of the
 * first one; 0: the job is not heterogeneous. */
struct lks_prolog_start {
    uint32_t job, restarts;
};

/* The views are those of an arena, or of the caller. */
struct lks_prolog_component {
    uint32_t offset;             /* of the job's components, from 0 */
    struct lks_str nodes, image; /* image empty: it names none */
};

struct lks_prolog_components {
    struct lks_prolog_component at[LKS_PROLOG_COMPONENTS_MAX]; /* by offset */
    size_t count;
};

/* A file's content, "NODES\nIMAGE\n", as a view of it. */
enum lks_code lks_prolog_components_parse(struct lks_str bytes, struct lks_prolog_component *out,
                                          struct lks_err *err) LKS_MUST_CHECK;

/* Keep a component in the folder ".components" of `dir`, as a whole, and remove files of other jobs
 * that are too old. LIMIT: there are as many files as may be. */
enum lks_code lks_prolog_components_keep(int dir, struct lks_prolog_start start,
                                         const struct lks_prolog_component *own, time_t now,
                                         struct lks_err *err) LKS_MUST_CHECK;

/* The components of this start that were kept so far. */
enum lks_code lks_prolog_components_read(int dir, struct lks_prolog_start start, time_t now,
                                         struct lks_arena *arena, struct lks_prolog_components *out,
                                         struct lks_err *err) LKS_MUST_CHECK;

/* Whether a component has another image than `own`, if that has one at all. */
bool lks_prolog_components_mix(const struct lks_prolog_components *c,
                               const struct lks_prolog_component *own);

/* Whether a component is missing before the last one: its prolog has not come so far, or the site
 * does not run one for it. Ranks then count without its nodes. */
bool lks_prolog_components_lack(const struct lks_prolog_components *c);

#endif
