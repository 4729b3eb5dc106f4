/*
 * What lockstepd knows: the fold of the journal, and beside it what only this moment knows.
 *
 * lks_state_apply() makes one record true and decides nothing; it is total: any record can be
 * applied in any state. Everything here but `pulses` follows from the records alone, and
 * lks_state_dump() writes records that fold to an equal state: that is a snapshot.
 *
 * Names are numbers within: a node's is its place in `nodes`, for as long as the state lives. A
 * node that was removed keeps its place, without `placed`, and returns to it. Another start may
 * give it another place: what outlives the process says names.
 */
#ifndef LKS_CORE_STATE_H
#define LKS_CORE_STATE_H

#include "base/heap.h"
#include "base/intern.h"
#include "core/mass.h"
#include "model/record.h"
#include "model/row.h"

#define LKS_STATE_NODES_MAX    1000000
#define LKS_STATE_POOLS_MAX    20000
#define LKS_STATE_BINDINGS_MAX 100000
#define LKS_STATE_TOKENS_MAX   100000
#define LKS_STATE_ALARMS_MAX   50000  /* at this many, the older closed ones make room */
#define LKS_STATE_COMMANDS_MAX 100000 /* at this many, the older ended ones make room */
#define LKS_STATE_HEADS        64     /* published heads that witnesses are held against */
#define LKS_STATE_TEXT_MAX     ((size_t)2 << 30)
#define LKS_NO_NODE            UINT32_MAX

/* Two clocks: records carry the first, deadlines count on the second, which never jumps. */
struct lks_now {
    lks_ms wall; /* milliseconds since 1970, never less than before */
    lks_ms mono;
};

/* Of lks_state.texts, or with the highest bit of lks_state.tuple_texts; 0 is the empty text. */
typedef uint32_t lks_text;
#define LKS_TEXT_OF_TUPLE UINT32_C(0x80000000)

enum lks_part { LKS_PART_BOARD, LKS_PART_GPUS, LKS_PART_NICS, LKS_PART_COUNT };

struct lks_certificate {
    char fingerprint[72]; /* "sha256:..."; empty: none */
    lks_ms expires;
};

struct lks_node {
    bool placed;   /* the fleet has it */
    bool enrolled; /* it has a certificate of ours, or came with one of the site's */
    bool intake;   /* not admissible until a person accepts it */
    bool accepted; /* by a person, since it was placed, replaced or last taken into intake */
    bool held;
    lks_text asset; /* class of an asset; 0: a node */
    lks_text class, site, rack, domain, power_zone, cooling_loop, hardware_revision, supplier, side;
    uint32_t pool; /* place in `pools`, or UINT32_MAX */
    enum lks_liveness liveness;
    lks_ms liveness_since;
    lks_text boot;
    lks_text tuple;      /* its digest */
    lks_text tuple_boot; /* the boot it was read in */
    lks_text report, judged_stack, first;
    lks_ms taken, tuple_since;
    enum lks_judged judged;
    uint32_t drifted, unmeasured;
    lks_text parts[LKS_PART_COUNT];
    lks_text intake_why, held_by, held_reason;
    uint32_t notes;      /* bits by enum lks_note */
    uint32_t pending;    /* commands to it that have not ended */
    lks_text token_hash; /* of the enrolment token that waits to be used; 0: none */
    lks_ms token_expires;
    struct lks_certificate certificates[2]; /* the newest first; the one before stays good */
};

struct lks_state_pool {
    bool known;
    lks_text name, posture, enforce, sched, stack, stack_digest;
    uint32_t criticality;
    uint32_t nodes;    /* placed in it */
    uint32_t enrolled; /* of those */
    uint32_t liveness[LKS_LIVENESS_COUNT];
    uint64_t mass_alarm; /* open: automatic acts in this pool wait; 0: none */
};

struct lks_binding {
    lks_text identity, site, pool; /* 0: any */
    enum lks_role role;
};

struct lks_api_token {
    lks_text id, identity, hash;
    lks_ms expires; /* 0: never */
};

struct lks_state_alarm {
    uint64_t id;
    enum lks_alarm_kind kind;
    lks_text subject, text;
    lks_ms raised;
    lks_ms released; /* 0: open */
    lks_text by, reason;
};

struct lks_state_command {
    uint64_t id;
    uint32_t node;
    lks_text boot, executor, digests, by, reason;
    uint64_t attempt;
    lks_ms sent, expires;
    bool ended;
    enum lks_outcome outcome;
    lks_text text;
};

/* What a heartbeat changes and no record says; a restart forgets it. Written by core/pulse.c. */
struct lks_pulse {
    bool heard;        /* since the start */
    lks_ms at;         /* mono; of the last one, or of the start */
    uint64_t seq;      /* of the last one heard in this boot */
    uint64_t health;   /* bits the agent sets */
    int64_t skew;      /* its clock less ours, in ms */
    uint64_t head_seq; /* the journal head it witnessed */
    uint8_t boot[16];
    uint8_t boot_before[16]; /* a boot that is over does not come again */
    uint8_t tuple[LKS_HASH_BYTES];
    uint8_t head_hash[LKS_HASH_BYTES];
    uint32_t replays; /* in this boot, until enough good ones followed */
    uint32_t clean;   /* good ones since the last replay */
    uint32_t skewed;  /* with a clock that was off, one after the other */
    uint32_t unsent;  /* naming a tuple that was not sent, one after the other */
};

struct lks_limits {
    lks_ms heartbeat, late, lost, mass_window, skew;
    uint64_t mass_floor, mass_percent, call_nodes;
};
extern const struct lks_limits lks_limits_default;

/* A head that agents were told. */
struct lks_published {
    uint64_t seq;
    uint8_t hash[LKS_HASH_BYTES];
};

struct lks_state {
    char journal[LKS_JOURNAL_ID_SIZE];
    struct lks_limits limits;
    lks_ms clock; /* time of the last record */
    uint64_t seq; /* of the last record that was applied */
    struct lks_intern texts;
    struct lks_intern names;  /* of nodes and assets; the id is the place in `nodes` */
    struct lks_node *nodes;   /* owned, as are all arrays */
    struct lks_pulse *pulses; /* by node */
    uint32_t node_count, node_room;
    uint32_t placed_count;        /* nodes; assets do not count */
    struct lks_intern pool_names; /* the id is the place in `pools` */
    struct lks_state_pool *pools;
    uint32_t pool_count, pool_room;
    lks_text fleet_name, fleet_manifest;
    struct lks_intern tuples; /* digests of tuples that are known */
    lks_text *tuple_readings; /* by id in `tuples`; 0: not known, or forgotten with its last node */
    char **tuple_texts;       /* owned: their bytes, which are freed when they are forgotten */
    uint32_t *tuple_nodes;    /* how many nodes run it now */
    uint32_t tuple_room;
    struct lks_binding *bindings; /* sorted: identity, role, site, pool */
    uint32_t binding_count, binding_room;
    struct lks_api_token *tokens; /* sorted by id */
    uint32_t token_count, token_room;
    struct lks_state_alarm *alarms; /* by rising id */
    uint32_t alarm_count, alarm_room, alarms_open;
    uint64_t next_alarm, next_command;
    struct lks_state_command *commands; /* by rising id; ended ones leave after a while */
    uint32_t command_count, command_room, commands_open;
    struct lks_heap deadlines; /* mono, by node: when to look whether it is late or lost */
    uint32_t liveness[LKS_LIVENESS_COUNT]; /* of placed nodes */
    struct lks_mass *mass;       /* by pool: who turned for the worse of late; see core/mass.h */
    struct lks_mass_turn *turns; /* by node: when */
    /* Of this moment, beside `pulses`. */
    struct lks_now seen;                         /* the last time we were told */
    lks_ms commands_due;                         /* wall: no open command is over before this */
    struct lks_published heads[LKS_STATE_HEADS]; /* a ring */
    uint32_t head_count;                         /* published since the start */
};

/* `seed` keeps names that agents choose from being chosen to collide. */
enum lks_code lks_state_init(struct lks_state *s, uint64_t seed,
                             struct lks_err *err) LKS_MUST_CHECK;
void lks_state_fini(struct lks_state *s);

/* Make `record`, of row `seq`, true. Fails only for lack of memory or at a limit of size, and then
 * the state is no longer good. */
enum lks_code lks_state_apply(struct lks_state *s, uint64_t seq, lks_ms time,
                              const struct lks_record *record, struct lks_err *err) LKS_MUST_CHECK;

/* Records that fold to this state, in order, with the times they are to be applied at. The seq of
 * all of them is s->seq. */
typedef enum lks_code lks_state_emit(void *ctx, lks_ms time, const struct lks_record *record,
                                     struct lks_err *err);
enum lks_code lks_state_dump(const struct lks_state *s, lks_state_emit *emit, void *ctx,
                             struct lks_err *err) LKS_MUST_CHECK;

/* The same in everything that records say, counts and the order of lists included; only places of
 * nodes and pools may differ, and pulses are not compared. `why`, if given, says in a line what
 * differs. */
bool lks_state_equal(const struct lks_state *a, const struct lks_state *b, struct lks_err *why);

/* Looking things up. */
struct lks_str lks_state_text(const struct lks_state *s, lks_text text);
uint32_t lks_state_node(const struct lks_state *s,
                        struct lks_str name); /* LKS_NO_NODE; placed only */
struct lks_str lks_state_name(const struct lks_state *s, uint32_t node);
uint32_t lks_state_pool(const struct lks_state *s, struct lks_str name); /* UINT32_MAX */
const struct lks_state_alarm *lks_state_alarm(const struct lks_state *s, uint64_t id);
const struct lks_state_command *lks_state_command(const struct lks_state *s, uint64_t id);
const struct lks_api_token *lks_state_token(const struct lks_state *s, struct lks_str id);

/* The bindings of `identity`, one after the other; NULL and 0: none. */
const struct lks_binding *lks_state_bindings(const struct lks_state *s, struct lks_str identity,
                                             uint32_t *count);

/* Whether the readings behind a tuple's digest were recorded. */
bool lks_state_tuple_known(const struct lks_state *s, struct lks_str digest);

/* When a command that was not answered is over (wall): its end, and time for a late answer. */
lks_ms lks_state_command_over(const struct lks_state *s, const struct lks_state_command *command);

/* May a job run on it, as far as this state can tell; `why` says why not, in a few words. */
bool lks_node_admissible(const struct lks_state *s, uint32_t node, const char **why);

/* Whether automatic acts (drains, remedies, changes) in this pool wait for a person. */
bool lks_state_acts_wait(const struct lks_state *s, uint32_t pool);

/* Whether we lack what the node runs in this boot, or a judgement of it: its agent is asked. */
bool lks_state_wants_tuple(const struct lks_state *s, uint32_t node);

/* Whether the node's agent has something to fetch: a command, or a wish for its tuple. */
bool lks_state_mail(const struct lks_state *s, uint32_t node);

#endif
