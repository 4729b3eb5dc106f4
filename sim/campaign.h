/*
 * The world in which changes are carried out: time, chance, the network, the disk, machines, their
 * management endpoints, jobs, a scheduler and people are invented here; core/, engine/ and the
 * drivers of endpoints are the production code, with the agents' core/agentlink/at_most_once.c
 * among them.
 *
 *     campaign_world.c     time, chance, what is on its way
 *     campaign_truth.c     what machines can run, and what that reads like
 *     campaign_setup.c     the fleet of a seed: stacks, bundles, pools, domains
 *     campaign_spread.c    a second site, and domains that span pools and sites
 *     campaign_control.c   what lockstepd does: turns, group commit, crashes, restarts
 *     campaign_agents.c    agents and their machines
 *     campaign_work.c      what commands do to machines
 *     campaign_bmcs.c      endpoints, as a light model
 *     campaign_redfish.c   endpoints of src/lab/bmcsim, through the production driver
 *     campaign_jobs.c      jobs and users
 *     campaign_sched.c     the scheduler, as lockstepd asks it
 *     campaign_second.c    the second scheduler of some pools
 *     campaign_slurm.c     what goes wrong in a Slurm: failovers, upgrades, drains of its own
 *     campaign_bridge.c    schedulers behind bridges, in some seeds: what a bridge reads and takes
 *     campaign_asks.c      the same, as lockstepd asks them
 *     campaign_site.c      jobs, verdicts and reservations there
 *     campaign_requeue.c   jobs that changes signal and requeue
 *     campaign_gates.c     what is measured of machines, and that it is heeded
 *     campaign_people.c    operators, at random moments and at the end
 *     campaign_rows.c      what became durable, seen from outside
 *     campaign_checks.c    the promises about what truly happens
 *     campaign_rollback.c  what a rollback leaves behind
 *     campaign_live.c      agents that die, and that others go on all the same
 *     campaign_end.c       everything settled, and what is left is explained
 *     sim_campaign.c       seeds
 *
 * Two histories are kept apart: what the rows of the journal say, and what is true of machines. A
 * promise is held against the second, or against both.
 */
#ifndef LKS_SIM_CAMPAIGN_H
#define LKS_SIM_CAMPAIGN_H

#include "base/rng.h"
#include "core/agentlink/at_most_once.h"
#include "core/rows/change.h"
#include "core/state/state.h"
#include "drivers/store/memory.h"
#include "engine/engine.h"
#include "lab/rehearse/queue.h"
#include "model/manifest/bundle.h"
#include "model/manifest/manifest.h"
#include "port/sched.h"
#include "sim/campaign_bridge.h"
#include "sim/campaign_sched.h"

struct lks_state_flash;

#define CAM_WALL        UINT64_C(1794700000000)
#define CAM_MINUTE      (60 * LKS_SECOND)
#define CAM_HOUR        (60 * CAM_MINUTE)
#define CAM_BY          LKS_STR("user:kim")
#define CAM_APPROVER    LKS_STR("user:ann")
#define CAM_APPROVERS   5 /* campaign_votes.c */
#define CAM_CREDENTIAL  32
#define CAM_SAID        LKS_STR("as simulated")
#define CAM_STACKS      3
#define CAM_POOLS       3
#define CAM_SITES       2
#define CAM_DOMAINS_MAX 8
#define CAM_REPORTS     8 /* that wait on a node, at most */
#define CAM_FETCH_MAX   4 /* commands that are fetched at once */
#define CAM_CHANGES_MAX 16
#define CAM_SWEEP       10000 /* steps between two looks at everything */
#define CAM_FLEET_LARGE 1000  /* nodes from which on only the journal's rows are checked along */

/* What a machine can have in several versions. A truth is CAM_AXIS_BITS for each. */
enum cam_axis {
    CAM_DRIVER,
    CAM_DCGM,
    CAM_POWER,
    CAM_BMC,
    CAM_BIOS,
    CAM_BOARD, /* one-way */
    CAM_NVOS,  /* of switch trays */
    CAM_SHELF, /* of power shelves */
    CAM_HMC,   /* staged while the node serves; only some seeds have it: campaign_spread.c */
    CAM_AXES
};
enum { CAM_AXIS_BITS = 3, CAM_VERSION_ODD = 7 /* not what it calls itself */ };
enum cam_type { CAM_NODE, CAM_SWITCH_TRAY, CAM_POWER_SHELF, CAM_TYPES };
typedef uint32_t cam_truth;

struct cam_axis_info {
    const char *component; /* as orders and updates call it */
    const char *reading;   /* as readings do */
    const char *of;        /* the device; "": none */
    const char *versions[CAM_STACKS];
    enum cam_type type;
    bool inband, outband;         /* where it is read */
    bool flashed;                 /* by the endpoint */
    const char *package, *ending; /* file of a bundle, around its version; NULL: none */
};
extern const struct cam_axis_info cam_axes[CAM_AXES];

enum cam_kind {
    CAM_TICK,
    CAM_TAKE,   /* the store thread is free */
    CAM_COMMIT, /* and now it writes */
    CAM_SNAPSHOT,
    CAM_POWER_CUT,
    CAM_RESTART,
    CAM_DISK,
    CAM_PERSON,
    CAM_BEAT, /* an agent's timer */
    CAM_HEARD,
    CAM_BEAT_ANSWER,
    CAM_FETCH,
    CAM_FETCHED,
    CAM_PUSH,
    CAM_PUSHED,
    CAM_AGAIN, /* a push that nobody acknowledged */
    CAM_EXECUTED,
    CAM_AGENT, /* its process ends, or starts */
    CAM_BOOT,  /* the machine is up again */
    CAM_FAULT, /* it reboots by itself */
    CAM_TALK,  /* a conversation with an endpoint goes on */
    CAM_SWEEP_READ,
    CAM_BMC_ASKED,
    CAM_BMC_ENDED, /* an update that the endpoint was at */
    CAM_BMC_SAID,
    CAM_JOB_ASKS,
    CAM_JOB_BEGINS,
    CAM_JOB_ENDS,
    CAM_SCHED_ACTS,
    CAM_SECOND_ACTS,
    CAM_SLURM,  /* what enum cam_slurm_event says */
    CAM_BRIDGE, /* what enum cam_bridge_event says */
    CAM_ASK,    /* lockstepd asks a bridge */
    CAM_KINDS
};

/* What the person of a message CAM_PERSON is about to do. */
enum {
    CAM_PERSON_MEDDLES,
    CAM_PERSON_MANAGES,
    CAM_PERSON_WORKS,   /* on one node, by hand */
    CAM_PERSON_FREEZES, /* the pool `node`, or ends that */
    CAM_PERSON_PAIRS,   /* updates the asset `node` by hand */
};

/* What a seed has of each evil, drawn at its start: 0 is none of it. */
struct cam_weather {
    unsigned loss, doubling, late; /* percent of messages */
    lks_ms delay_max;
    unsigned crash;      /* of the controller, in 1000 commits */
    unsigned power_cuts; /* in a run, as are the next four */
    unsigned disk_full;
    unsigned persons;
    unsigned reboots, agent_stops;
    unsigned step_fails, step_lies;                                    /* percent of commands */
    unsigned bmc_silent, bmc_fails, bmc_lies, bmc_bricks, bmc_forgets; /* percent */
    unsigned jobs;                                                     /* an hour */
    unsigned endless;    /* percent of jobs that outlast everything */
    unsigned stray;      /* percent of nodes with a process that nobody knows of */
    unsigned sched_deaf; /* percent of drains that the scheduler ignores */
    unsigned resumes;    /* percent of meddling that ends a drain of ours in the scheduler */
    unsigned sched_down; /* percent of meddling that stops the scheduler for a while */
    unsigned foreign;    /* percent of nodes that somebody else drains at some time */
};

enum cam_badness { /* what a bad image does on one hardware revision */
                   CAM_GOOD,
                   CAM_BAD_FAILS,  /* its step fails */
                   CAM_BAD_READS,  /* it is not what it calls itself */
                   CAM_BAD_ACCEPT, /* acceptance checks fail */
                   CAM_BAD_DIES,   /* the node does not come back by itself */
                   CAM_BAD_COUNT
};

struct cam_report {
    uint64_t number;  /* counts up on each node; 0: none */
    uint64_t command; /* 0: a tuple */
    enum lks_outcome outcome;
    cam_truth truth;
    uint32_t boot;
    lks_ms taken;
};

/* What an endpoint is at, by the truth. */
struct cam_bmc {
    bool silent, liar, dead;
    uint64_t task;             /* the update that it works at; 0: none */
    uint64_t last;             /* that it remembers */
    bool worked;               /* the last one did what it was asked for */
    lks_ms until;              /* it restarts, and does not answer before */
    unsigned staged[CAM_AXES]; /* version + 1; 0: none */
    unsigned other[CAM_AXES];  /* of the other bank: version + 1 */
    cam_truth claims;          /* of a liar */
};

/* A conversation that lockstepd has with an endpoint; a crash forgets it. */
struct cam_talk {
    uint64_t flash; /* 0: none */
    bool saved;     /* something was kept, so something may have been sent */
    bool posts;     /* it is sent once that is durable, by `needs` */
    bool heard;     /* there was an answer */
    bool lost;      /* it may have been sent in another life */
    uint64_t needs;
    unsigned asked, silent, unheard;
    void *value; /* of the production driver; NULL: the light model */
    bool on_the_way, answered, uploads;
    int status;
};

/* What heartbeats look at comes first: of a large fleet only that is in the caches. */
#define CAM_LINE 64 /* bytes of a cache's line */
struct cam_machine {
    _Alignas(CAM_LINE) uint32_t place; /* in the engine of that life */
    uint32_t place_life;
    uint32_t life, boot;
    uint64_t seq;
    cam_truth truth;
    cam_truth read;            /* when it last read itself */
    bool up, agent_up, broken; /* broken: it does not come up before a person was there */
    bool measured;             /* in this boot */
    bool pushing;
    bool placed;      /* the fleet's file has it */
    bool stray;       /* a process on its GPUs that no scheduler knows */
    uint64_t running; /* a command; 0: none */
    uint64_t head_seq;

    char name[16];
    enum cam_type type;
    unsigned pool, domain; /* domain + 1; 0: none */
    unsigned site;
    unsigned revision, side;

    /* The machine and its agent. */
    struct lks_at_most_once once;
    uint64_t command; /* the newest that rows gave it */
    uint64_t ended_command;
    enum lks_outcome ended_outcome;
    struct cam_report reports[CAM_REPORTS];
    unsigned first_report, report_count;
    uint64_t report_number;
    uint8_t head_hash[LKS_HASH_BYTES];

    struct cam_bmc bmc;
    struct cam_talk talk;
    struct lks_bmcs *bmcs;               /* NULL: the light model alone */
    struct lks_buf talk_head, talk_body; /* of an answer that is on its way */
    unsigned device_flashes;
    bool sweep_posted;
    bool unknown; /* the outcome of the update is unknown */

    /* Use. */
    uint32_t job;     /* place + 1 */
    lks_ms yes_until; /* a job may begin on it until then: it was told so */
    lks_ms reserved;  /* for a job until then */
    bool deaf;        /* the scheduler ignores its drain */
    char sched_owner[LKS_SCHED_OWNER_MAX + 1]; /* the owner of its drain there; "": none */
    bool sched_missing;                        /* the scheduler does not know it */
    unsigned sched_failures;                   /* answers that did not come, one after the other */
    lks_ms sched_silent;                       /* wall: since when; 0: the last one came */
    lks_ms sched_lost; /* wall: when lockstepd was last told that another ended our drain */
    enum lks_sched_verb sched_verb;
    lks_ms sched_ended;         /* when that was, at the earliest: */
    bool sched_unheard;         /* another ended our drain there, and lockstepd was not told yet */
    struct lks_sched_said said; /* what lockstepd heard last */
    bool sched_posted, sched_known;
    bool emptied; /* by the rows, its scheduler drained it for a hold and no job runs there */
    lks_ms emptied_over; /* when that ended last: what was ordered before may still begin */
    bool sched_drained;  /* lockstepd was told so last, since the rows drained it */

    /* What the checks know, by the truth. */
    lks_ms touched;       /* the last disruptive act, or its end; 0: none since it left use */
    lks_ms accepted;      /* acceptance passed */
    bool busy;            /* a disruptive act runs */
    bool released;        /* by a person, as it is */
    bool person;          /* a person spoke of it since it failed */
    bool excused;         /* a person held it since it last left use */
    unsigned flashes;     /* images truly written */
    uint64_t last_change; /* that had to do with it */
    unsigned doom;        /* commands after which its agent dies; 0: it does not */
    bool doom_later;      /* when it began to run that; else before */
    lks_ms dead_for;      /* then; UINT64_MAX: for good */
    bool dead;            /* it did */

    /* What the rows say. */
    bool drained, changing, held;
    bool unhealthy;
    lks_ms kept;       /* time of the last row by which a change was over for it */
    lks_ms flash_ends; /* wall: the deadline of an update in progress; 0: there is none */
    uint64_t switch_failed[CAM_AXES]; /* the change whose switch of banks failed last; 0: none */
    unsigned asked_by;                /* for a reset of it: cam_votes_holder() + 1; 0: no person */
    char owner[32];
};

/* A change as its rows tell. */
struct cam_recipe {
    enum lks_step_kind kinds[LKS_CHANGE_STEPS];
    bool reverts;    /* some of what it changes can be taken back */
    bool stays_more; /* beside the one axis that never can, something else cannot */
    bool one_way;    /* something cannot */
    uint32_t images; /* bits of axes of which the image before is there */
};
struct cam_member {
    uint32_t wave, unit, recipe;
    cam_truth began; /* as it was when it began */
    bool in, proves, back;
    bool done; /* it was, once */
    bool seen; /* it had failed when a person said that the change goes on */
    bool away; /* it is kept, and did not fail: it was not heard of when its domain began */
    enum lks_member_state state;
    uint32_t step, pass;
    unsigned from; /* stack */
    bool told;     /* its text names the upgrade of its scheduler */
    lks_ms owed;   /* since when nothing but its change kept it where it is */
    uint32_t life; /* of its agent then */
};
struct cam_wave {
    uint64_t width, failures_max;
    enum lks_wave_kind kind;
    enum lks_wave_state state;
    uint32_t open; /* units that began and are not over */
};
struct cam_unit {
    uint32_t wave, count, over; /* members */
    bool begun;
};
struct cam_change {
    uint64_t id;
    enum lks_change_state state;
    unsigned stack;
    struct {
        unsigned quorum;             /* that its class asks for */
        bool plant, firmware;        /* what its steps touch */
        bool standard, strict;       /* which class it is: the least, and the one for plant */
        unsigned yes[CAM_APPROVERS]; /* by name: the person who said so in it, as a bit */
        bool approved;               /* it began with all of them */
        bool glass, alarmed;         /* it began without, and that was told */
        bool reviewed;
        uint64_t alarm;
    } votes;
    bool stopped;               /* by the evidence, and nobody said since that it goes on */
    bool wrong, told;           /* something that halts at once was measured: ever, and nobody said
                                   since that it goes on */
    bool excused;               /* a control had it, too */
    bool unsure;                /* the evidence asked for a person */
    lks_ms went[CAM_POOLS];     /* when a node of the pool that can be reached last went on */
    struct cam_member *members; /* by machine */
    struct cam_recipe *recipes;
    size_t recipe_count, recipe_room;
    struct cam_wave *waves;
    size_t wave_count, wave_room;
    struct cam_unit *units;
    size_t unit_count, unit_room;
    uint32_t domain_units[CAM_DOMAINS_MAX + 1]; /* place + 1 */
};

enum cam_do {
    CAM_DO_IDLE,
    CAM_DO_INVENTORY,
    CAM_DO_ACCEPT,
    CAM_DO_ORDER,
    CAM_DO_REBOOT,
    CAM_DO_OTHER
};

/* A command as its row gave it, and what came of it in the world. */
struct cam_command {
    uint64_t id, attempt;
    uint32_t node, boot, order, ran;
    enum cam_do kind;
    enum lks_outcome outcome;
    bool finished;
    bool by_hand; /* a person gave it, outside a change */
    bool wedged;  /* two people did, although a process holds the GPUs */
    lks_ms expires;
    lks_ms asked; /* time of its row */
    const char *executor;
};

struct cam_order {
    char digest[LKS_DIGEST_SIZE];
    unsigned count;
    enum cam_axis axes[CAM_AXES];
    unsigned versions[CAM_AXES];
};

struct cam_flash {
    uint64_t id;
    uint32_t node;
    enum lks_bmc_act act;
    enum cam_axis axis;
    unsigned version;
    bool written;
    lks_ms asked; /* time of its row */
    bool by_hand;
};

struct cam_held {
    uint64_t needs;
    struct lks_message message;
};

/* The journal as it became durable. */
struct cam_model {
    struct lks_state state;
    lks_ms time;
    uint64_t seq, acked;
    uint8_t hash[LKS_HASH_BYTES], acked_hash[LKS_HASH_BYTES];
    bool folds; /* the rows are folded along, too */
};

struct cam {
    uint64_t seed;
    struct lks_rng rng;
    struct cam_weather weather;
    lks_ms now; /* true time, from 0 */
    lks_ms heartbeat;
    bool calm, print, quiet, broken, redfish;
    bool kind; /* nothing goes wrong at all */
    char why[LKS_ERR_MSG_MAX];
    uint64_t still;  /* messages since time last went on */
    uint64_t enough; /* messages after which a run is over; 0: when its time is */
    uint64_t delivered, history, crashes, commits, stalls, rows, turns, flashes_begun, jobs_begun;
    struct lks_queue queue;
    void (*look)(const struct cam *w); /* after each message; NULL: nobody looks */

    struct cam_machine *machines;
    uint32_t count, nodes; /* assets come behind the nodes */
    uint32_t swept;
    lks_ms live_at; /* when it is looked again whether changes go on */
    unsigned domains, pools, sites;
    bool stages;           /* stacks pin CAM_HMC */
    struct lks_rng chance; /* of what campaign_spread.c has, and people who follow from it */
    struct {
        uint32_t first, count;
    } domain_nodes[CAM_DOMAINS_MAX + 1]; /* by domain + 1: its nodes, one after the other */
    unsigned spares;
    bool returned[CAM_DOMAINS_MAX + 1]; /* a domain, by the last rows */
    bool enforce[CAM_POOLS];
    bool drains_drift; /* pools that enforce drain what drifts */
    bool scheduled[CAM_POOLS];
    bool requeues[CAM_POOLS]; /* of these, those that have jobs requeued */
    struct cam_again again[CAM_JOBS_MAX];
    unsigned again_count;
    uint64_t requeued; /* in all, and by their shape */
    uint64_t requeued_shapes[CAM_SHAPES];
    lks_ms sched_down; /* the scheduler answers nothing until then */
    struct cam_slurm slurm;
    struct cam_bridges bridges;
    bool seconded[CAM_POOLS];       /* of the scheduled ones: with two schedulers */
    struct cam_second_node *second; /* owned; NULL: no pool has two */
    struct lks_rng second_rng;
    struct lks_sched_space second_space;
    cam_truth stacks[CAM_STACKS];
    char stack_digests[CAM_STACKS][LKS_DIGEST_SIZE];
    bool revoked[CAM_STACKS]; /* its bundle, by the rows */
    enum cam_badness badness;
    enum cam_axis bad_axis;
    unsigned bad_revision;
    bool gates;      /* pools have them */
    unsigned slow;   /* the driver of this stack is; CAM_STACKS: none */
    lks_ms measured; /* last */
    uint64_t gate_halts;
    bool frozen, pool_frozen[CAM_POOLS];       /* by the rows */
    bool back_gone[2][CAM_STACKS][CAM_STACKS]; /* the way back, by revision, from, to */
    char artifacts[CAM_AXES][CAM_STACKS][LKS_DIGEST_SIZE];

    struct cam_job jobs[CAM_JOBS_MAX];
    uint64_t job_serial;
    struct cam_change *changes;
    size_t change_count, change_room;
    struct cam_command *commands; /* by id */
    uint32_t hand;                /* the node that somebody works on by hand, */
    unsigned hand_left;           /* and how often they still do something */
    uint64_t holds, emptied;      /* of nodes with a scheduler, and drains for them */
    uint64_t by_hand, resets;     /* that people had done so, in production */
    size_t command_room;
    struct cam_order *orders;
    size_t order_count, order_room;
    struct cam_flash *flashes; /* by id */
    size_t flash_room;

    struct lks_memory_disk *disk;
    struct lks_store store;
    struct lks_engine *engine; /* NULL while it is down */
    struct lks_engine_options options;
    struct lks_key key;
    struct lks_engine_batch batch;
    bool writing, take_posted, disk_full, setting_up;
    uint32_t life;
    lks_ms tick_at, up_since;
    struct cam_held *held;
    size_t held_first, held_count, held_room;
    struct lks_manifest manifest, smaller; /* the fleet; the same without its last node */
    struct lks_buf manifest_text, smaller_text;
    char manifest_digest[LKS_DIGEST_SIZE], smaller_digest[LKS_DIGEST_SIZE];
    struct lks_bundle bundles[CAM_STACKS];
    char bundle_digests[CAM_STACKS][LKS_DIGEST_SIZE];
    bool bundle_there[CAM_STACKS];
    struct cam_model model;
};

/* campaign_world.c */
void cam_require(struct cam *w, bool ok, const char *promise, const char *fmt, ...)
    LKS_PRINTF(4, 5);
void *cam_grow(void *items, size_t count, size_t *room, size_t size);
void cam_say(const struct cam *w, const char *fmt, ...) LKS_PRINTF(2, 3);
void cam_mix(struct cam *w, uint64_t value);
lks_ms cam_between(struct cam *w, lks_ms low, lks_ms high);
bool cam_chance(struct cam *w, unsigned percent); /* of an evil; never in calm weather */
lks_ms cam_takes(struct cam *w, lks_ms usual);
struct lks_now cam_now(const struct cam *w);
void cam_digest(char out[LKS_DIGEST_SIZE], const char *what, uint64_t number);
void cam_post(struct cam *w, struct lks_message m, lks_ms delay);
bool cam_next(struct cam *w, lks_ms until, struct lks_message *out); /* false: none by then */
void cam_send(struct cam *w, struct lks_message m);

/* campaign_truth.c */
unsigned cam_version(cam_truth truth, enum cam_axis axis);
cam_truth cam_with(cam_truth truth, enum cam_axis axis, unsigned version);
cam_truth cam_of_type(cam_truth truth, enum cam_type type);
const char *cam_version_text(enum cam_axis axis, unsigned version);
bool cam_axis_find(struct lks_str component, enum cam_axis *out);
bool cam_version_find(enum cam_axis axis, struct lks_str text, unsigned *out);
const struct lks_tuple *cam_tuple(cam_truth truth, enum cam_type type, bool outband);
const uint8_t *cam_tuple_digest(cam_truth truth);
void cam_tuples_free(void);

/* campaign_setup.c */
const char *cam_pool_name(unsigned pool);
const char *cam_artifact(const struct cam *w, enum cam_axis axis, unsigned s);
void cam_fleet_draw(struct cam *w, uint32_t nodes);
bool cam_fleet_apply(struct cam *w, bool smaller);
void cam_enroll(struct cam *w, uint32_t i);
void cam_setup(struct cam *w);
bool cam_drains_refused(const struct cam *w, unsigned pool);

/* campaign_spread.c */
const char *cam_site_name(unsigned site);
void cam_spread_draw(struct cam *w);
void cam_spread_begun(struct cam *w, uint32_t i);
void cam_spread_freezes(struct cam *w, unsigned pool, bool thaws);

/* campaign_gates.c */
void cam_gates_draw(struct cam *w);
const char *cam_gates_text(const struct cam *w);
void cam_gates_measure(struct cam *w);
void cam_gates_looked(struct cam *w, struct cam_change *c, const struct lks_rec_gate_looked *r);
void cam_gates_measured(struct cam *w, struct cam_change *c, const struct lks_rec_measured *r);
void cam_gates_begin(struct cam *w, const struct cam_change *c, uint32_t i);

/* campaign_control.c */
uint32_t cam_place(struct cam *w, struct cam_machine *m); /* LKS_NO_NODE */
bool cam_turn(struct cam *w, const struct lks_event *event, const struct lks_store_blob *blob);
void cam_person(struct cam *w, const struct lks_event *event); /* the answer has to be yes */
bool cam_commit_now(struct cam *w);
void cam_settle(struct cam *w);
void cam_control_start(struct cam *w);
void cam_control_crash(struct cam *w);
void cam_control_tick(struct cam *w, lks_ms due);
void cam_control_take(struct cam *w);
void cam_control_commit(struct cam *w);
void cam_control_snapshot(struct cam *w);
void cam_control_hear(struct cam *w, const struct lks_message *msg);
void cam_control_fetch(struct cam *w, const struct lks_message *msg);
void cam_control_push(struct cam *w, const struct lks_message *msg);
void cam_control_soon(const void *world, const struct lks_message *msg);
void cam_control_fini(struct cam *w);
void cam_boot_bytes(uint32_t node, uint32_t boot, uint8_t out[16]);

/* campaign_agents.c */
const struct cam_report *cam_report(const struct cam_machine *m, uint64_t number);
void cam_agent_begin(struct cam *w, uint32_t i);
void cam_agent_beat(struct cam *w, uint32_t i);
void cam_agent_reads(struct cam *w, uint32_t i);
void cam_agent_fetched(struct cam *w, uint32_t i, const struct lks_message *msg);
void cam_agent_pushed(struct cam *w, uint32_t i, uint64_t number);
void cam_agent_again(struct cam *w, uint32_t i, uint64_t number);
void cam_agent_executed(struct cam *w, uint32_t i, uint64_t command);
void cam_agent_turn(struct cam *w, uint32_t i); /* ends where it runs, starts where not */
void cam_machine_down(struct cam *w, uint32_t i, const char *why);
void cam_machine_boot(struct cam *w, uint32_t i);

/* campaign_work.c */
struct cam_order *cam_order(struct cam *w, struct lks_str digest);
void cam_order_note(struct cam *w, struct lks_str digest);
bool cam_is_bad(const struct cam *w, const struct cam_machine *m, enum cam_axis axis,
                unsigned version);
bool cam_apply(struct cam *w, uint32_t i, enum cam_axis axis, unsigned version);
lks_ms cam_work_begin(struct cam *w, uint32_t i, struct cam_command *c);
enum lks_outcome cam_work_end(struct cam *w, uint32_t i, struct cam_command *c);
void cam_work_cut(struct cam *w, uint32_t i, struct cam_command *c);

/* campaign_hands.c: people who act on nodes by hand, and what holds then */
void cam_hands_meddle(struct cam *w);
void cam_hands_work(struct cam *w);
void cam_hands_flashed(struct cam *w, uint32_t i);
void cam_hands_pair(struct cam *w, uint32_t i, uint32_t tries);
void cam_hands_reset(struct cam *w, const struct lks_rec_reset *r);
void cam_hands_check(struct cam *w, uint32_t i, const struct cam_command *c);

/* campaign_bmcs.c */
void cam_bmc_asked(struct cam *w, const struct lks_message *msg);
void cam_bmc_ended(struct cam *w, const struct lks_message *msg);
void cam_talk_begin(struct cam *w, uint64_t flash);
void cam_talk_end(struct cam *w, uint32_t i, enum lks_bmc_outcome outcome, struct lks_str text);
void cam_talk_forget(struct cam_machine *m);
void cam_talk_go(struct cam *w, const struct lks_message *msg);
void cam_talk_said(struct cam *w, const struct lks_message *msg);
void cam_sweep_later(struct cam *w, uint32_t i);
void cam_sweep(struct cam *w, uint32_t i);

/* campaign_redfish.c */
const char *cam_redfish_image(unsigned s, size_t *size);
void cam_redfish_init(struct cam *w, uint32_t i);
void cam_redfish_fini(struct cam_machine *m);
void cam_redfish_free(void);
void cam_redfish_begin(struct cam *w, uint32_t i, const struct lks_state_flash *f);
void cam_redfish_forget(struct cam_machine *m);
void cam_redfish_go(struct cam *w, uint32_t i);
cam_truth cam_bmc_truth(struct cam *w, uint32_t i); /* with what its endpoint did by itself */

/* campaign_people.c */
void cam_person_manages(struct cam *w);
void cam_person_freezes(struct cam *w, unsigned pool, bool on); /* CAM_POOLS: everything */

/* campaign_votes.c: approvers, and promise 10 */
void cam_votes_setup(struct cam *w);
/* The person who holds a credential, as a number; and one of `name`: their own, or one that whoever
 * proposes made in that name. */
unsigned cam_votes_holder(struct lks_str credential);
const char *cam_votes_credential(const char *name, bool own, char out[CAM_CREDENTIAL]);
void cam_votes_propose(struct cam *w, struct lks_event event); /* in one's own name, or another */
void cam_votes_give(struct cam *w, uint64_t change);
void cam_votes_meddle(struct cam *w);
void cam_votes_row(struct cam *w, const struct lks_record *r);
void cam_votes_step(struct cam_change *c, const struct lks_rec_plan_step *r);
void cam_votes_begin(struct cam *w, struct cam_change *c);
void cam_votes_ring(struct cam *w, const struct cam_change *c, const char *name);
void cam_person_meddles(struct cam *w);

/* campaign_rows.c */
uint32_t cam_machine(const struct cam *w, struct lks_str name);
struct cam_change *cam_change(struct cam *w, uint64_t id);
struct cam_change *cam_owner(struct cam *w, struct lks_str owner);
bool cam_member_under_way(const struct cam_change *c, uint32_t i);
void cam_row(struct cam *w, const struct lks_row *row);
void cam_rows_seen(struct cam *w);
void cam_rows_equal(struct cam *w);
void cam_rows_restart(struct cam *w);
void cam_rows_fini(struct cam *w);

/* campaign_checks.c */
bool cam_conforms(const struct cam *w, const struct cam_machine *m, unsigned *stack);
bool cam_is_stack(const struct cam *w, const struct cam_machine *m, unsigned stack);
/* `asked`: time of the row that orders it. */
void cam_check_disruption(struct cam *w, uint32_t i, const char *what, lks_ms asked);
void cam_check_truth(struct cam *w, uint32_t i, cam_truth before);
void cam_check_flash(struct cam *w, const struct cam_flash *f);
void cam_check_return(struct cam *w, uint32_t i);
void cam_check_yes(struct cam *w, const uint32_t *nodes, unsigned count);
void cam_check_job(struct cam *w, const struct cam_job *job);
void cam_check_emptied(struct cam *w, const struct cam_machine *m);
bool cam_is_drained_right(const struct cam *w, const struct cam_machine *m);
bool cam_is_unheard(const struct cam *w, const struct cam_machine *m, lks_ms asked);
void cam_check_all(struct cam *w);
void cam_check_domains(struct cam *w);

/* campaign_rollback.c */
void cam_rollback_check(struct cam *w, const struct cam_change *c, struct lks_str reason);
void cam_rollback_flash(struct cam *w, const struct cam_flash *f);
void cam_rollback_flash_ended(struct cam *w, const struct cam_flash *f,
                              enum lks_bmc_outcome outcome);

/* campaign_live.c */
void cam_doom_draw(struct cam *w);
bool cam_doomed(struct cam *w, uint32_t i, bool runs);
void cam_live_row(struct cam *w, struct cam_change *c, uint32_t i, const struct lks_rec_member *r);
void cam_live_check(struct cam *w);

/* campaign_end.c */
bool cam_is_settled(struct cam *w, struct lks_err *why);
void cam_check_end(struct cam *w);

/* campaign_run.c */
void cam_init(struct cam *w, uint64_t seed, uint32_t nodes);
void cam_fini(struct cam *w);
void cam_begin(struct cam *w);
void cam_storm(struct cam *w, lks_ms storm);
void cam_run(struct cam *w, lks_ms storm); /* both, and then until all is settled */

#endif
