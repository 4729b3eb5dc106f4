/*
 * A small fleet with a change from stack A to stack B, for tests: the plan is written down by hand,
 * and agents and endpoints are played.
 *
 *     campaign_begin(&w, &(struct campaign_plan){.nodes = 3});
 *     campaign_run(&w, HOUR);                  until the change is over, or that much time passed
 *     CHECK_INT(campaign_member(&w, "n1")->state, LKS_MEMBER_DONE);
 *
 * Nodes n1, n2 ... are of class hgx-h200-8 in pool "train"; A has driver 580.126.20 and bmc
 * 25.02.11, B has driver 580.130.01 and bmc 25.03.01. With `.domain` the first so many of them and
 * shelf1, a power shelf, are one unit. With `.shelves` there are shelf1 (side a) and shelf2 (side
 * b). All is as a controller does it: events, ticks, records.
 */
#ifndef LKS_TESTS_CAMPAIGNS_H
#define LKS_TESTS_CAMPAIGNS_H

#include "core/gate/gate.h"
#include "tests/asked.h"

enum { CAMPAIGN_NODES_MAX = 64, CAMPAIGN_FAULTS_MAX = 16, CAMPAIGN_WAVES_MAX = 8 };

/* Orders, packages and images of the two stacks, and the bundle that has them. */
#define CAMPAIGN_DIGEST(d)                                                                         \
    "sha256:000000000000000000000000000000000000000000000000000000000000000" d
#define CAMPAIGN_ORDER_B   CAMPAIGN_DIGEST("1")
#define CAMPAIGN_ORDER_A   CAMPAIGN_DIGEST("2")
#define CAMPAIGN_PACKAGE_B CAMPAIGN_DIGEST("3")
#define CAMPAIGN_PACKAGE_A CAMPAIGN_DIGEST("4")
#define CAMPAIGN_IMAGE_B   CAMPAIGN_DIGEST("5")
#define CAMPAIGN_IMAGE_A   CAMPAIGN_DIGEST("6")
#define CAMPAIGN_SHELF_B   CAMPAIGN_DIGEST("7")
#define CAMPAIGN_SHELF_A   CAMPAIGN_DIGEST("8")
#define CAMPAIGN_BUNDLE    CAMPAIGN_DIGEST("a")

#define CAMPAIGN_MINUTE ((lks_ms)60000)
#define CAMPAIGN_HOUR   ((lks_ms)3600000)

/* Steps of the recipe of a node, by their index. */
enum {
    CAMPAIGN_LEAVE,
    CAMPAIGN_APPLY,  /* driver and fabric-manager, by apt */
    CAMPAIGN_REBOOT, /* behind it the driver is the one that was installed */
    CAMPAIGN_CHECK,
    CAMPAIGN_FLASH, /* bmc, by the endpoint; a step without return with .one_way */
    CAMPAIGN_CHECK_BMC,
    CAMPAIGN_ACCEPT,
    CAMPAIGN_RETURN,
    CAMPAIGN_STEPS
};

struct campaign_plan {
    unsigned nodes;  /* n1 ...; 0: 1 */
    unsigned domain; /* the first so many, with shelf1, are one unit, "rack1" */
    unsigned spares; /* that the domain has */
    unsigned apart;  /* the last so many of it are in pool "serve", at site s2 */
    unsigned shelves;
    bool no_shelf;                      /* the domain has nodes only */
    lks_ms shelf_leaves;                /* within; 0: an hour, as nodes */
    bool shelf_first;                   /* shelves are flashed before anything is done to nodes */
    unsigned waves[CAMPAIGN_WAVES_MAX]; /* sizes in units, the first is the canary; none: one wave
                                           of all */
    unsigned width;                     /* of each; 0: as many as there are units */
    lks_ms soak;
    const char *controls;                          /* of the first wave; NULL: none */
    const char *ring_controls[CAMPAIGN_WAVES_MAX]; /* of the others, by wave */
    unsigned failures_max, retries;
    unsigned failures_all;        /* of the change; 0: as many as of each wave */
    bool proves;                  /* the first unit shows the way back; else it was shown before */
    bool one_way;                 /* the flash of the node's bmc is */
    const char *missing;          /* without it the flash has no rollback; NULL: nothing is */
    bool stages;                  /* its image is staged first, and activated instead */
    bool switches, no_image_back; /* it reverts by a switch of banks; A's image is not there */
    bool outband; /* what its bmc runs is read by its endpoint, and not on the node */
    bool rolls_back;
    bool requeues; /* jobs are sent USR1, and requeued ten minutes later */
    bool agent;    /* our own agent goes from 1.0 to 2.0, and nothing else */
    const char *posture, *sched, *enforce; /* of the pool; NULL: pre-training, none, observe */
    const char *pool_says;                 /* more of the pool in the fleet's file: "headroom: 2" */
    const char *zone_says;                 /* of power zone z1, in which all are: "ramp_kw: 10" */
    bool rises;                            /* A has a power limit of 500 W, B of 700 */
    const char *windows;
    lks_ms not_before, not_after;
    bool pool;       /* it was asked for all of pool "train" */
    bool unapproved; /* it is proposed only; else it runs */
};

/* What a machine is now. */
struct campaign_node {
    char name[16];
    bool asset, up, gone; /* `up`: it is heard of, and answers; gone: of no fleet any more */
    bool busy;            /* something runs on its GPUs */
    bool mute_bmc;        /* its endpoint answers nothing, so that updates of it do not end */
    bool unread;          /* nobody reads its endpoint behind an update */
    bool stale;           /* B's fabric-manager says to be another package */
    bool broken;          /* with B's driver its container toolkit is gone */
    bool other_kernel;    /* and it boots another kernel, which has no container toolkit */
    bool installed, loaded, flashed; /* what B has */
    unsigned boot;
    uint64_t seq;
    uint64_t health; /* that its heartbeats say */
    lks_ms xid;      /* wall: of the last fatal Xid, which they say, too; 0: of none */
};

/* The next `times` times that `node` ("": any) is asked for `what` (an executor, "flash", "stage",
 * "switch", or "silence": any update, and its endpoint does not even say what it runs), it ends so,
 * and nothing was done. */
struct campaign_fault {
    const char *node, *what;
    unsigned outcome; /* enum lks_outcome, or enum lks_bmc_outcome of an update */
    unsigned times;
};

struct campaign {
    struct lks_asked a;
    struct campaign_plan plan;
    struct campaign_node nodes[CAMPAIGN_NODES_MAX];
    unsigned count;
    struct campaign_fault faults[CAMPAIGN_FAULTS_MAX];
    unsigned fault_count;
    char stack_a[LKS_DIGEST_SIZE], stack_b[LKS_DIGEST_SIZE];
    uint64_t change;
    struct lks_buf log;   /* what was recorded since campaign_begin(), as tests/asked.h tells it */
    unsigned flash_count; /* updates that were begun */
    bool sched_mute;      /* the scheduler says nothing */
    /* Asked after every decision that had records. */
    void (*after)(struct campaign *w, const struct lks_decision *d);
    /* What acceptance checks say that have nothing against it; NULL: nothing. */
    void (*accepts)(const struct campaign *w, const struct campaign_node *n, struct lks_buf *text);
    void *ctx;
};

void campaign_begin(struct campaign *w, const struct campaign_plan *plan);
void campaign_end(struct campaign *w);

/* The records of a change as such a plan has it, number `id`; for tests that make it themselves. */
void campaign_propose(struct campaign *w, uint64_t id);

const struct lks_state_change *campaign_change(const struct campaign *w);
const struct lks_member *campaign_member(const struct campaign *w, const char *node);
struct campaign_node *campaign_node(struct campaign *w, const char *node);

/* Tick as often as it is due; how many records that were. More than any change needs at once is a
 * failed check: it spins. */
size_t campaign_tick(struct campaign *w);

/* Everybody that was asked for something and is up answers, once each; how many did. */
size_t campaign_answer(struct campaign *w);

/* Time passes, with heartbeats of those that are up. */
void campaign_pass(struct campaign *w, lks_ms ms);

/* Ticks and answers in turn, until both have nothing to do. */
void campaign_settle(struct campaign *w);

/* The same while time passes, until the change is over or waits for a person, or `limit` is over;
 * false: it was. */
bool campaign_run(struct campaign *w, lks_ms limit);

/* The same, until the member is at this step in this state. */
bool campaign_run_until(struct campaign *w, const char *node, uint32_t step,
                        enum lks_member_state state, lks_ms limit);

/* A person's word, as records: pause, resume and so on; and a freeze of all. */
void campaign_move(struct campaign *w, enum lks_change_state to);
void campaign_freeze(struct campaign *w, bool on);

/* Anything else that happens. */
void campaign_event(struct campaign *w, const struct lks_event *event);
void campaign_record(struct campaign *w, const struct lks_record *record);

/* A person resolved the update of the node, if it has one with unknown outcome: the record alone,
 * for an alarm that ends with it would wake those that wait, too. */
void campaign_resolve(struct campaign *w, const char *node);

void campaign_fail(struct campaign *w, const char *node, const char *what, unsigned outcome,
                   unsigned times);

/* The node runs what B (else A) has, and is read so. */
void campaign_put(struct campaign *w, const char *node, bool b);

/* One more node comes to the fleet, and to its pool. */
void campaign_join(struct campaign *w);

/* Everything that gates want measured is: `fn` says what of each, whose change, wave, node, metric
 * and windows are filled in. And the same every two minutes, until the change is over or waits for
 * a person; false: `limit` was over. */
typedef void campaign_measure_fn(const struct campaign *w, const struct lks_gate_want *want,
                                 struct lks_measured *out);
void campaign_measure(struct campaign *w, campaign_measure_fn *fn);
bool campaign_run_measured(struct campaign *w, campaign_measure_fn *fn, lks_ms limit);

/* The number in the name of the node; and a number between -1 and 1 that goes with it. */
unsigned campaign_number(const struct campaign *w, uint32_t node);
double campaign_noise(unsigned number);

/* Gates ask for metric "speed" of pool "train". */
void campaign_gate(struct campaign *w, struct lks_rec_plan_metric metric,
                   struct lks_rec_plan_gate gate);

/* An approver lets that gate or metric go, for so long. */
void campaign_waive(struct campaign *w, const char *gate, lks_ms span);

/* The state of the change, of a member and of a wave, by their names. */
#define CHECK_CHANGE(w, want)                                                                      \
    CHECK_STR(lks_str_from(lks_change_state_words[campaign_change(w)->state]),                     \
              lks_change_state_words[want])
#define CHECK_MEMBER(w, node, want)                                                                \
    CHECK_STR(lks_str_from(lks_member_state_words[campaign_member(w, node)->state]),               \
              lks_member_state_words[want])
#define CHECK_WAVE(w, wave, want)                                                                  \
    CHECK_STR(lks_str_from(lks_wave_state_words[campaign_change(w)->waves[wave].state]),           \
              lks_wave_state_words[want])

/* For `after`. Promises 1, 4 and 6, the width of waves, and that of two redundant peers only one is
 * out of service; promise 6 alone. */
void campaign_check_promises(struct campaign *w, const struct lks_decision *d);
void campaign_check_one_stack(struct campaign *w, const struct lks_decision *d);

/* What the state has of it, and whether by that it is out of service. */
const struct lks_node *campaign_state(const struct campaign *w, const struct campaign_node *n);
bool campaign_is_out(const struct lks_node *n);

/* Print the log if the environment has SHOW, to read what happened. */
void campaign_show(const struct campaign *w);

/* How many lines of the log have both texts. */
size_t campaign_count(const struct campaign *w, const char *one, const char *other);

#endif
