/*
 * The simulated fleet: time, chance, the network, the disk, the machines and the people are
 * invented here; core/ and engine/ are the production code, with the agents' core/agentlink/link.c
 * and core/agentlink/at_most_once.c among them.
 *
 *     world.c       time, chance, the network
 *     controller.c  what lockstepd does: turns, group commit, crashes, restarts
 *     agents.c      what agents and their machines do
 *     people.c      what operators do
 *     checks.c      the promises, checked as things happen
 */
#ifndef LKS_SIM_WORLD_H
#define LKS_SIM_WORLD_H

#include "core/agentlink/at_most_once.h"
#include "core/agentlink/link.h"
#include "drivers/store/memory.h"
#include "engine/engine.h"
#include "engine/journal.h"
#include "model/manifest/manifest.h"

#define SIM_COMMANDS_AT_ONCE 4
#define SIM_ANSWER_WITHIN    (5 * LKS_SECOND) /* how long an agent waits */
#define SIM_SPOOL_MAX        32
#define SIM_POOLS            2
#define SIM_VARIANTS         4 /* what a node may run; the first conforms */
#define SIM_BOARDS           4

enum sim_kind {
    SIM_TICK,
    SIM_TAKE,     /* the store thread is free: hand it what is pending */
    SIM_COMMIT,   /* ... and now it writes */
    SIM_SNAPSHOT, /* a moment for one */
    SIM_POWER_CUT,
    SIM_RESTART,
    SIM_DISK, /* fills up, or has room again */
    SIM_CLOCK_JUMP,
    SIM_PERSON,
    SIM_NETWORK, /* half of the fleet is cut off, or back */
    SIM_REQUEST,
    SIM_ANSWER,
    SIM_WAKE,    /* an agent looks what is due */
    SIM_TIMEOUT, /* it waited long enough for an answer */
    SIM_EXECUTED,
    SIM_AGENT, /* its process ends, or starts */
    SIM_MACHINE,
    SIM_KINDS
};

enum sim_report_kind { SIM_REPORT_TUPLE, SIM_REPORT_RESULT };

struct sim_report {
    enum sim_report_kind kind;
    uint64_t number; /* counts up on each node */
    uint32_t boot;
    unsigned variant, board;
    lks_ms taken;
    uint64_t command;
    enum lks_outcome outcome;
};

/* What travels. */
struct sim_letter {
    uint64_t request;
    enum lks_link_act act;
    lks_ms sent;
    uint64_t certificate; /* that the sender shows; 0: none */
    uint64_t fresh;       /* ENROLL and RENEW: the one that is asked for */
    uint64_t token;
    struct lks_beat beat;
    struct sim_report report;
    bool ok, refused, denied; /* answers */
    bool mail, want_tuple;
    uint64_t head_seq;
    uint8_t head_hash[LKS_HASH_BYTES];
    uint64_t commands[SIM_COMMANDS_AT_ONCE];
    unsigned command_count;
};

struct sim_message {
    lks_ms due;
    uint64_t order; /* breaks ties, so that equal times are still one history */
    enum sim_kind kind;
    uint32_t agent;
    uint32_t life;   /* of the process it is for; another one ignores it */
    uint32_t letter; /* place in `letters` + 1 */
    uint64_t number; /* request, command */
};

struct sim_weather {
    unsigned loss, doubling, late; /* percent of messages */
    lks_ms delay_max;
    unsigned crash;     /* in 1000 commits */
    unsigned power_cut; /* in a whole run */
    unsigned disk_full, jumps, cuts;
    unsigned agent_restarts, reboots, boards, drifts; /* of each node, in 100 runs */
    unsigned persons;
};

struct sim_agent {
    char name[16];
    bool up, cut, impostor_tried;
    uint32_t life;
    struct lks_link link;
    uint64_t certificate, token;
    uint64_t waiting; /* for the answer to this request; 0: none */
    enum lks_link_act waiting_act;
    struct sim_letter sent;
    lks_ms wake_at;
    uint32_t boot;
    unsigned variant, board;
    bool measured; /* in this boot */
    struct sim_report spool[SIM_SPOOL_MAX];
    uint64_t reports; /* made */
    struct lks_at_most_once once;
    struct lks_buf ledger; /* on its disk */
    uint64_t running;
    uint64_t head_seq;
    uint8_t head_hash[LKS_HASH_BYTES];
    int64_t skew;

    /* What the checks know. */
    lks_ms heard;       /* when a working controller took a heartbeat of it; mono */
    bool ever_heard;    /* by this controller process */
    uint64_t delivered; /* the newest report that arrived first */
    uint64_t excused;   /* certificates up to this number are of a machine that was replaced */
    char value[16];     /* that a person last gave its first settable column, in a durable row */
};

/* A command as it first left the controller, and what came of it in the world. */
struct sim_command {
    struct lks_envelope envelope;
    bool known;
    unsigned ran;
    bool finished;
    enum lks_outcome outcome;
};

struct sim_token {
    uint32_t agent;
    uint64_t taken_by; /* certificate; 0: none yet */
};

/* An answer that waits for its rows. */
struct sim_held {
    uint64_t needs;
    uint32_t agent, life, letter;
};

struct sim_model; /* checks.c */

struct sim {
    uint64_t seed;
    struct lks_rng rng;
    struct sim_weather weather;
    lks_ms mono, end; /* `end`: from here on the weather is calm */
    int64_t wall_offset;
    bool calm, print, broken;
    uint64_t delivered, history, crashes, restarts, commits, trims, stalls;

    struct sim_message *messages; /* a heap, the next one due first; owned, as are all arrays */
    size_t message_count, message_room;
    uint64_t message_order;
    struct sim_letter *letters;
    size_t letter_count, letter_room;
    uint32_t *letters_free;
    size_t free_count, free_room;
    uint64_t next_request;

    struct sim_agent *agents;
    uint32_t agent_count;
    struct sim_command *commands; /* by id */
    size_t command_room;
    struct sim_token *tokens; /* by number, from 1 */
    size_t token_count, token_room;
    uint64_t next_certificate;

    struct lks_memory_disk *disk;
    struct lks_store store;
    struct lks_engine *engine; /* NULL while the controller is down */
    struct lks_engine_options options;
    struct lks_key key;
    struct lks_engine_batch batch;
    bool writing, take_posted, disk_full;
    uint32_t life; /* of the controller */
    lks_ms tick_at, up_since;
    struct sim_held *held;
    size_t held_first, held_count, held_room;
    char manifest_digest[LKS_DIGEST_SIZE];
    struct lks_buf manifest_text;
    struct lks_manifest manifest;

    struct sim_model *model;
};

/* world.c */
void sim_require(struct sim *s, bool ok, const char *what);
void *sim_grow(void *items, size_t count, size_t *room, size_t size);
void sim_post(struct sim *s, struct sim_message m, lks_ms delay);
struct sim_message sim_next(struct sim *s);
uint32_t sim_letter_new(struct sim *s, const struct sim_letter *letter);
struct sim_letter sim_letter_take(struct sim *s, uint32_t letter);
void sim_send(struct sim *s, enum sim_kind kind, uint32_t agent, uint32_t life,
              const struct sim_letter *letter);
struct lks_now sim_now(const struct sim *s);
lks_ms sim_between(struct sim *s, lks_ms low, lks_ms high);
void sim_say(const struct sim *s, const char *fmt, ...) LKS_PRINTF(2, 3);
void sim_mix(struct sim *s, uint64_t value);

/* Digests of things that only have a number here. */
void sim_digest(char out[LKS_DIGEST_SIZE], const char *what, uint64_t number);
void sim_boot_bytes(uint32_t agent, uint32_t boot, uint8_t out[16]);

/* controller.c */
void sim_controller_start(struct sim *s);
void sim_controller_take(struct sim *s);
void sim_controller_commit(struct sim *s);
void sim_controller_tick(struct sim *s, lks_ms due);
void sim_controller_snapshot(struct sim *s);
void sim_controller_crash(struct sim *s);
void sim_controller_request(struct sim *s, uint32_t agent, uint32_t life, struct sim_letter *l);
void sim_controller_clock(struct sim *s, uint64_t forward, uint64_t back);
/* A turn of someone who is no agent; whether the answer was yes. */
bool sim_controller_turn(struct sim *s, const struct lks_event *event,
                         const struct lks_store_blob *blob);
/* A tuple of the variants there are, and its digest as bytes. */
const struct lks_tuple *sim_tuple(unsigned variant, unsigned board);
void sim_tuple_digest(unsigned variant, unsigned board, uint8_t out[LKS_HASH_BYTES]);
void sim_tuples_free(void);
void sim_controller_fini(struct sim *s);

/* agents.c */
void sim_agent_init(struct sim *s, uint32_t agent);
void sim_agent_fini(struct sim_agent *a);
void sim_agent_wake(struct sim *s, uint32_t agent, lks_ms due);
void sim_agent_answer(struct sim *s, uint32_t agent, const struct sim_letter *l);
void sim_agent_timeout(struct sim *s, uint32_t agent, uint64_t request);
void sim_agent_executed(struct sim *s, uint32_t agent, uint64_t command);
void sim_agent_turn(struct sim *s, uint32_t agent); /* ends where it runs, starts where not */
void sim_agent_machine(struct sim *s, uint32_t agent);
void sim_agent_poke(struct sim *s, uint32_t agent); /* something new is due */

/* people.c */
void sim_person_acts(struct sim *s);
void sim_person_enrols(struct sim *s, uint32_t agent);
void sim_person_starts(struct sim *s); /* limits and the fleet, again where they were lost */
void sim_person_tidies(struct sim *s); /* releases what is left at the end */

/* checks.c */
void sim_model_init(struct sim *s);
void sim_model_fini(struct sim *s);
/* Fold the rows that became durable, one by one. */
void sim_check_rows(struct sim *s);
/* An answer that rests on `needs` leaves. */
void sim_check_answer(struct sim *s, uint64_t needs);
void sim_check_turn(struct sim *s); /* one is over */
void sim_check_disk(struct sim *s); /* as a crash left it */
void sim_check_restart(struct sim *s);
void sim_check_agent(struct sim *s, uint32_t agent);
void sim_check_fleet(struct sim *s);
void sim_check_end(struct sim *s);

#endif
