/*
 * A change tried out on a copy of a fleet, in virtual time: the production engine and core decide,
 * and nodes, endpoints, jobs, faults and the person who is called are invented around them.
 *
 *     queue.c         virtual time: what is on its way
 *     world_copy.c    the copy: from a journal, or from a file whose nodes run their pins
 *     world_seen.c    how often nodes fail by themselves
 *     world_stacks.c  of a file: its stacks published, and verified bundles for what they name
 *     world.c         the run: turns, ticks, what became of them
 *     world_work.c    what commands and updates do to machines, and how long they take
 *     world_jobs.c    gangs that run on them, and wait when one of their nodes is asked to leave
 *     world_listed.c  jobs that schedulers listed, on their nodes
 *     listed.c        the same as lockstepd tells them, and how long they run
 *     world_gates.c   what gates that measure are told
 *     world_judge.c   what is read of a machine, and how that compares with a stack
 *     world_count.c   capacity, gangs and GPU-hours, as rows tell
 *     eta.c           how long many runs will still take
 *     forecast.c      what many runs come to
 *     forecast_*.c    the same as a table's lines, as JSON and as a picture
 *
 * A world is run once. The same copy, change, faults and seed have the same story, whatever else
 * runs: nothing here asks a clock, chance or the disk, and worlds share nothing.
 *
 * How the copy differs from the fleet: heartbeats that would only say that a node lives are not
 * sent (lks_engine_vouch()); what a machine reads after a step went well is what the stack pins, so
 * readings are not judged again pin by pin; rows are durable at once; and jobs are those that the
 * scheduler of a site listed, or are invented, by the posture of their pool.
 */
#ifndef LKS_REHEARSE_REHEARSE_H
#define LKS_REHEARSE_REHEARSE_H

#include "core/plan/plan.h"
#include "port/store.h"

#define LKS_REHEARSE_MILLION 1000000 /* shares are in millionths */
#define LKS_REHEARSE_POOLS   16      /* that are told one by one: those with most members */
#define LKS_REHEARSE_POINTS  128     /* of a curve */
#define LKS_REHEARSE_JOBS    4       /* sizes of jobs of a pool */
#define LKS_REHEARSE_NAME    48      /* bytes of a name or a gate, with its end */
#define LKS_REHEARSE_TEXT    160

/* How a bad image shows itself. */
enum lks_rehearse_bad {
    LKS_BAD_DRAWN,  /* one of those below, by chance */
    LKS_BAD_ACCEPT, /* it installs, and acceptance checks fail */
    LKS_BAD_STEP,   /* it does not install */
    LKS_BAD_DIES,   /* the node does not come back */
    LKS_BAD_SLOW,   /* all is well, but it is two percent slower: only gates that measure meet it */
    LKS_BAD_COUNT
};
extern const char *const lks_rehearse_bad_words[]; /* "drawn" ... NULL */

/* What goes wrong, in millionths of times that it could. */
struct lks_rehearse_faults {
    uint32_t step;     /* an order or an acceptance check fails */
    uint32_t lost;     /* a node does not come back from a reboot */
    uint32_t endpoint; /* an update by a management endpoint fails */
    uint32_t brick;    /* one ends with an endpoint that does not answer any more */
    uint32_t slow;     /* a step takes ten times as long */
    bool mixed;        /* every fourth seed has a bad image of a share that is drawn */
    uint32_t bad;      /* share of nodes on which the image is bad */
    enum lks_rehearse_bad way;
    char revision[LKS_REHEARSE_NAME]; /* bad on this hardware revision alone; "": on any */
};
extern const struct lks_rehearse_faults lks_rehearse_faults_usual;

/* "bad=5%,step=1%,lost=0.1%,bmc=1%,brick=0.01%,slow=2%,bad=revision:B,way=dies,none": changes of
 * `out`, one after the other. USAGE with what can be said. */
enum lks_code lks_rehearse_faults_parse(struct lks_str text, struct lks_rehearse_faults *out,
                                        struct lks_err *err) LKS_MUST_CHECK;

/* Whether the image is bad in the run of this seed. */
static inline bool lks_rehearse_bad(const struct lks_rehearse_faults *f, uint64_t seed)
{
    return f->bad > 0 || f->revision[0] != '\0' || (f->mixed && seed % 4 == 0);
}

enum lks_rehearse_end {
    LKS_REHEARSED_DONE,
    LKS_REHEARSED_ROLLED_BACK,
    LKS_REHEARSED_ABORTED,
    LKS_REHEARSED_STUCK, /* not over when the longest time that is looked at was */
    LKS_REHEARSED_COUNT
};
extern const char *const lks_rehearse_end_words[];

/* Jobs of one size: how many there were, and the longest that one of them waited for nodes. */
struct lks_rehearse_jobs {
    uint32_t size, count;
    lks_ms waited;
};

/* How a pool fared. */
struct lks_rehearse_pool {
    char name[LKS_REHEARSE_NAME];
    uint32_t nodes, in_use; /* of the pool; in use when it began */
    uint32_t least, gang;   /* in use, and the largest gang that could start: at the worst moment */
    uint32_t wanted;        /* the gang that is asked after: the pool's min_gang, else half of it */
    lks_ms starved;         /* for so long no gang of that size could start, at a stretch */
    uint32_t job_count;
    struct lks_rehearse_jobs jobs[LKS_REHEARSE_JOBS]; /* the largest first */
};

/* One run. A plain value: it is written to a pipe and read from it as it is. */
struct lks_rehearsed {
    uint64_t seed;
    enum lks_rehearse_end end;
    bool bad; /* the image was */
    uint32_t bad_share;
    enum lks_rehearse_bad way;
    lks_ms took;
    double gpu_hours; /* that nodes were out of service for it */
    double draining;  /* of these, until jobs had left the nodes */
    double lost;      /* GPU-hours that listed jobs ran before they were requeued */
    uint32_t requeued;
    uint32_t members[LKS_MEMBER_STATE_COUNT];
    uint32_t halts; /* how often a person was called */
    uint32_t
        reached;   /* nodes that the image had come to when it was first stopped, or at the end */
    uint32_t hurt; /* of these, those on which it is bad */
    uint32_t healthy; /* members that an image that is good everywhere lost nonetheless */
    bool stopped;
    lks_ms stopped_after;
    uint32_t stopped_wave, wave_kind;
    char gate[LKS_REHEARSE_NAME], why[LKS_REHEARSE_TEXT];
    uint64_t rows, events;
    uint32_t pool_count;
    struct lks_rehearse_pool pools[LKS_REHEARSE_POOLS];
    lks_ms point; /* a point of the curves is so long */
    uint32_t points;
    uint32_t in_use[LKS_REHEARSE_POOLS][LKS_REHEARSE_POINTS]; /* at the least within it */
    uint32_t gang[LKS_REHEARSE_POOLS][LKS_REHEARSE_POINTS];
};

/* A fleet's copy with a change in it, ready to be run. */
struct lks_world;

/* What both ways to make one need. */
struct lks_world_options {
    const struct lks_facts *facts; /* outlives the world */
    lks_ms wall;                   /* when it begins */
};

/* From a journal, folded to its end. `store` is read and not needed afterwards. */
enum lks_code lks_world_of_journal(struct lks_store *store, const struct lks_world_options *options,
                                   struct lks_world **out, struct lks_err *err) LKS_MUST_CHECK;

/* From what a controller's journal comes to, as it tells it (lks_snapshot_pack_shown()). `store` is
 * asked for the manifests that it names, and for nothing else. */
enum lks_code lks_world_of_snapshot(struct lks_str bytes, struct lks_store *store,
                                    const struct lks_world_options *options, struct lks_world **out,
                                    struct lks_err *err) LKS_MUST_CHECK;

/* From the text of a fleet's file with its stacks: all nodes live, and run what their pools pin. */
enum lks_code lks_world_of_manifest(const char *source, struct lks_str text,
                                    const struct lks_world_options *options, struct lks_world **out,
                                    struct lks_err *err) LKS_MUST_CHECK;
void lks_world_free(struct lks_world *w);

/* The change to run: one that the journal has and that did not begin; or a wish, planned now. */
enum lks_code lks_world_choose(struct lks_world *w, uint64_t change,
                               struct lks_err *err) LKS_MUST_CHECK;
enum lks_code lks_world_propose(struct lks_world *w, const struct lks_plan_wish *wish,
                                struct lks_err *err) LKS_MUST_CHECK;
const struct lks_state *lks_world_state(const struct lks_world *w);
const struct lks_state_change *lks_world_change(const struct lks_world *w);

/* What a journal has seen of nodes that went away by themselves: neither while a change was at
 * them, nor for long enough to be late only. */
struct lks_world_seen {
    uint64_t losses;
    double node_hours; /* that were watched */
};
enum lks_code lks_world_see(struct lks_store *store, uint32_t nodes, struct lks_world_seen *out,
                            struct lks_err *err) LKS_MUST_CHECK;

/* The jobs of schedulers, before a run: they run on nodes of their sites, and no job is invented
 * there. `listed` moves to the world. */
struct lks_listed;
enum lks_code lks_world_listed_take(struct lks_world *w, struct lks_listed *listed,
                                    struct lks_err *err) LKS_MUST_CHECK;

/* Where the jobs on nodes of the change come from: each site of a scheduler that was asked. Texts
 * are the world's. */
struct lks_rehearse_site {
    struct lks_str site, sched;
    struct lks_str missing; /* why its jobs are invented all the same; empty: they are listed */
    lks_ms age;             /* of the list */
    uint32_t nodes;         /* of the change */
    uint32_t jobs;          /* on them */
    uint32_t endless;       /* of these, without a known end */
};
/* `sites` has room for LKS_REHEARSE_SITES; gives how many there are. `drawn`: nodes of the change
 * with invented jobs. */
#define LKS_REHEARSE_SITES 256
uint32_t lks_world_listed_sites(const struct lks_world *w, struct lks_rehearse_site *sites,
                                uint32_t *drawn);

/* The nodes of it, and their GPUs. */
void lks_world_size(const struct lks_world *w, uint32_t *nodes, uint32_t *gpus);

/* Told as it happens: how long after its beginning, and what. */
struct lks_world_say {
    void *ctx;
    void (*line)(void *ctx, lks_ms after, const char *text);
};

/* Once. `say` may be NULL. IO where the engine could not go on: a fault of ours. */
enum lks_code lks_world_run(struct lks_world *w, uint64_t seed,
                            const struct lks_rehearse_faults *faults,
                            const struct lks_world_say *say, struct lks_rehearsed *out,
                            struct lks_err *err) LKS_MUST_CHECK;

#endif
