/*
 * What lockstepd knows: the fold of the journal, and beside it what only this moment knows.
 *
 * lks_state_apply() makes one record true and decides nothing; it is total: any record can be
 * applied in any state. Everything here but `pulses` follows from the records alone, and also from
 * the columns of core/entity: these are what a snapshot keeps.
 *
 * Names are numbers within: a node's is its place in `nodes`, for as long as the state lives. A
 * node that was removed keeps its place, without `placed`, and returns to it. Another start may
 * give it another place: what outlives the process says names.
 */
#ifndef LKS_CORE_STATE_H
#define LKS_CORE_STATE_H

#include "base/bitset.h"
#include "base/heap.h"
#include "base/intern.h"
#include "codec/format/digest.h"
#include "core/state/change.h"
#include "core/state/mass.h"
#include "core/state/refintern.h"
#include "core/state/resets.h"
#include "core/state/tickets.h"
#include "model/record/record.h"
#include "model/record/row.h"

#define LKS_STATE_NODES_MAX      1000000
#define LKS_STATE_POOLS_MAX      20000
#define LKS_STATE_BINDINGS_MAX   100000
#define LKS_STATE_TOKENS_MAX     100000
#define LKS_STATE_PERSONS_MAX    100000 /* certificates of people */
#define LKS_STATE_ALARMS_MAX     50000  /* at this many, the older closed ones make room */
#define LKS_STATE_COMMANDS_MAX   100000 /* at this many, the older ended ones make room */
#define LKS_STATE_HEADS          64     /* published heads that witnesses are held against */
#define LKS_STATE_DEVIATIONS_MAX 10000  /* at this many, the older ended ones make room */
#define LKS_STATE_STACKS_MAX     10000
#define LKS_STATE_IMAGES_MAX     100000
#define LKS_STATE_ARTIFACTS_MAX  100000
#define LKS_STATE_OVERRIDES_MAX  10000 /* at this many, the older ended ones make room */
#define LKS_STATE_KEYS_MAX       1000
#define LKS_STATE_BUNDLES_MAX    10000
#define LKS_STATE_FLASHES_MAX    100000 /* at this many, the older ended ones make room */
#define LKS_STATE_DAYS           8      /* of what was observed: today and a week */
#define LKS_STATE_BASES_MAX      (1 << 30)
#define LKS_STATE_VERDICTS_MAX   (1 << 30)
#define LKS_STATE_TEXT_MAX       ((size_t)2 << 30)
#define LKS_NO_NODE              UINT32_MAX

/* Two clocks: records carry the first, deadlines count on the second, which never jumps. */
struct lks_now {
    lks_ms wall; /* milliseconds since 1970, never less than before */
    lks_ms mono;
};

enum lks_part { LKS_PART_BOARD, LKS_PART_GPUS, LKS_PART_NICS, LKS_PART_COUNT };

struct lks_certificate {
    uint8_t fingerprint[LKS_DIGEST_BYTES]; /* all zero: none */
    lks_ms expires;
};

struct lks_node {
    bool placed;   /* the fleet has it */
    bool enrolled; /* it has a certificate of ours, or came with one of the site's */
    bool intake;   /* not admissible until a person accepts it */
    bool accepted; /* by a person, since it was placed, replaced or last taken into intake */
    bool held;     /* see held_since */
    bool drifting; /* as recorded; the bits of core/state/node_status.h may be ahead until a tick */
    bool unhealthy;    /* as reported */
    bool outband_over; /* its out-of-band reading was past its age when it was recorded */
    /* What a heartbeat looks at lies together: most of them look at nothing else. */
    lks_text asset; /* class of an asset; 0: a node */
    enum lks_liveness liveness;
    lks_text boot;
    lks_text tuple;                  /* its digest */
    lks_text tuple_boot;             /* the boot it was read in */
    uint32_t notes;                  /* bits by enum lks_note */
    uint32_t pending;                /* commands to it that have not ended */
    uint32_t inband, outband, whole; /* handles of bases; 0: none. Judged is `whole` */
    lks_text class, site, rack, domain, power_zone, cooling_loop, hardware_revision, supplier, side;
    uint32_t pool; /* place in `pools`, or UINT32_MAX */
    enum lks_drift_cause drift_cause;
    lks_ms liveness_since;
    lks_text report;
    lks_text
        changed; /* what its package manager's log said of what is wrong: model/record/record.h */
    lks_ms taken, tuple_since;
    uint32_t whole_next, whole_before; /* others with this `whole`: place + 1; 0: none */
    lks_text outband_report;
    lks_ms outband_taken;
    uint32_t verdict; /* of `whole` against its intent: place in `verdicts`; 0: none */
    lks_text right;   /* digest of the stack it last conformed to */
    lks_text drift_text, drift_evidence;
    lks_text drift_stack;    /* what drift was last recorded against */
    lks_ms drift_since;      /* since it drifts, or since it no longer does */
    lks_ms parts_since;      /* when its parts were last others */
    lks_ms changing;         /* since when; 0: it does not change */
    lks_text target;         /* changing: its intent */
    lks_text condition_text; /* of unhealthy or changing, the last that was said */
    lks_text pin;            /* a change brought it there: its intent, until that change is over */
    uint64_t change;         /* that is in progress on it, or keeps it out of service; 0: none */
    lks_ms attested_until, checked_at;
    lks_text drained_by, drained_reason; /* 0: not drained */
    lks_ms held_since;                   /* however often it was said since */
    lks_text parts[LKS_PART_COUNT];
    lks_text intake_why, held_by, held_reason;
    uint32_t flash;      /* its newest update: place in `flashes` + 1; 0: none is known */
    uint32_t flashing;   /* updates by its endpoint that have not ended, or ended unknown and no
                            person looked yet */
    lks_text endpoint;   /* fingerprint of its endpoint's certificate; 0: none recorded */
    lks_text token_hash; /* of the enrolment token that waits to be used; 0: none */
    lks_ms token_expires;
    struct lks_certificate certificates[2]; /* the newest first; the one before stays good */
};

/* Jobs that asked, and those refused by reason, on one day of the journal's clock. */
struct lks_observed {
    uint64_t day; /* since 1970; 0: none */
    uint64_t asked;
    uint64_t refused[LKS_BAR_COUNT];
};

enum lks_drift_act { LKS_ACT_ALARM = 1, LKS_ACT_DRAIN = 2, LKS_ACT_PROPOSE = 4 }; /* bits */

struct lks_state_pool {
    bool known;
    lks_text name, posture, enforce, sched, stack, stack_digest;
    uint32_t criticality;
    uint32_t nodes;    /* placed in it */
    uint32_t enrolled; /* of those */
    uint32_t liveness[LKS_LIVENESS_COUNT];
    lks_text stack_before;                        /* digest of the pin before this one; 0: none */
    unsigned on_drift;                            /* bits by enum lks_drift_act */
    bool deviations;                              /* nodes that run one are admitted */
    bool attested;                                /* nodes must be */
    lks_ms check_age;                             /* 0: not asked */
    lks_ms sweep;                                 /* between out-of-band readings */
    struct lks_observed observed[LKS_STATE_DAYS]; /* by day modulo their number */
    uint64_t mass_alarm; /* open: automatic acts in this pool wait; 0: none */
    bool frozen;         /* nothing begins in it */
    lks_text frozen_by, frozen_reason;
    lks_ms frozen_since;
    lks_text lowered, lowered_by; /* what its file asks less of changes, and by whom; 0: nothing */
    lks_text lowered_minters;
    lks_ms lowered_at;
};

/* What a judgement can rest on: core/conform/basis.h. Kept while a node has it. */
struct lks_state_basis {
    char *readings; /* owned; NULL: not known */
    uint32_t len;
    uint32_t uses;    /* by nodes, as inband, outband and whole */
    uint32_t gpus;    /* that it names */
    uint32_t first;   /* node whose `whole` it is: place + 1; 0: none */
    uint32_t verdict; /* the first of its verdicts; 0: none */
};

struct lks_state_verdict {
    uint32_t basis; /* handle; 0: a free place */
    lks_text stack;
    enum lks_judged judged;
    uint32_t drifted, unmeasured;
    lks_text first, wrong;
    lks_text values; /* nodes agree if these are the same text */
    uint32_t next;   /* of the same basis, or the next free place; 0: none */
};

struct lks_deviation {
    uint64_t id;
    lks_text hosts, subject, value, owner, reason, approver, by;
    lks_ms added, expires;
    lks_ms ended; /* 0: it holds */
    lks_text ended_by, ended_reason;
    lks_ms agreed; /* by an approver; 0: not yet */
    lks_text agreed_by, agreed_reason;
    lks_text minters; /* of the credential of `by` */
    bool waits;       /* it counts once an approver agreed */
    uint32_t *nodes;  /* owned; places, rising; of all that `hosts` names */
    uint32_t count;
};

/* Whether it makes what it names no drift, while it has not ended. */
static inline bool lks_deviation_counts(const struct lks_deviation *d)
{
    return !d->waits || d->agreed != 0;
}

struct lks_state_stack {
    lks_text digest, name, manifest, envelope, artifacts, by, reason, minters;
    enum lks_stack_step step;
    lks_ms published, stepped;
    lks_text evidence[LKS_STEP_COUNT], evidence_by[LKS_STEP_COUNT];
};

struct lks_state_image {
    lks_text ref, digest, nccl, rccl, cudnn, cuda, source, by;
    lks_ms added;
};

struct lks_state_artifact {
    lks_text digest, name, by;
    uint64_t size;
    lks_ms added;
};

struct lks_state_key {
    lks_text name, key, by, reason;
    lks_ms pinned;
};

struct lks_state_bundle {
    lks_text digest, name, version, manifest, signer, key, artifacts, by;
    bool site;
    lks_ms added;
    lks_ms revoked; /* 0: it is good */
    lks_text revoked_by, revoked_reason;
};

struct lks_state_flash {
    uint64_t id;
    uint32_t node;
    uint32_t before; /* the one before of the same node: place + 1; 0: none is known */
    enum lks_bmc_act act;
    lks_text component, version, bundle, image, image_name, apply_time, by, reason;
    uint64_t size;
    bool force, one_way;
    bool revoked; /* its bundle was, and it is for bits of it: nothing more of it is begun */
    lks_ms begun, deadline;
    char *saved; /* owned; NULL: nothing was sent yet, or it ended */
    uint32_t saved_len;
    lks_text phase;
    uint32_t percent;
    enum lks_bmc_outcome outcome; /* OPEN: it has not ended */
    lks_ms ended;
    lks_text found, text;
    uint64_t uploads;
    lks_ms resolved; /* UNKNOWN: when a person looked; 0: not yet */
    lks_text resolved_by, resolved_reason;
};

/* A certificate of a machine that was replaced. Ours are good while the node has them; one of the
 * site's authority would be good without that, and stays out by this. */
#define LKS_STATE_BARRED_MAX 10000
struct lks_barred {
    uint32_t node;
    struct lks_certificate certificate;
};

struct lks_override {
    lks_text job, hosts, reason, by;
    lks_ms until;
};

/* By whom a role or a credential came to be: core/governance/backing.h. */
struct lks_made {
    lks_text by, minters; /* minters: people behind the credential of `by`, with blanks between */
    bool root;            /* `by` is root on a controller's own socket */
};

struct lks_binding {
    lks_text identity, site, pool; /* 0: any */
    enum lks_role role;
    struct lks_made made;
};

/* A role that comes with a login, by the groups of the person: it is good with that login's token
 * alone, and ends with it. */
#define LKS_LOGIN_ROLES 16
struct lks_login_role {
    lks_text pool; /* 0: everywhere */
    enum lks_role role;
};

/* A token that was made, or a login's. The id of a login's begins so, with the person's name and a
 * dot behind it; no token that is made has such an id. */
#define LKS_LOGIN_ID         "login."
#define LKS_LOGINS_OF_PERSON 16 /* the next takes the oldest's place */
#define LKS_LOGIN_KEPT       ((lks_ms)30 * 86400 * LKS_SECOND) /* behind its end, for its votes */

struct lks_api_token {
    lks_text id, identity, hash;
    lks_ms expires; /* 0: never */
    lks_ms life;    /* of a renewal; 0: it cannot be renewed */
    struct lks_made made;
    lks_text issuer; /* of a login with an identity provider; 0: a token that was made */
    lks_text grants; /* roles that the login gives, as its record has them, */
    struct lks_login_role roles[LKS_LOGIN_ROLES];
    uint32_t role_count;
};

/* A certificate of a person. */
struct lks_state_person {
    lks_text serial, identity;
    struct lks_certificate certificate;
    lks_ms life;
    struct lks_made made;
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

/* Events that heartbeats tell of. */
enum lks_heartbeat_event {
    LKS_HEARTBEAT_XID,
    LKS_HEARTBEAT_LINK_DOWN,
    LKS_HEARTBEAT_LOAD,
    LKS_HEARTBEAT_EVENTS,
};
/* Of the events before this one heartbeats say when they were. */
#define LKS_HEARTBEAT_TOLD LKS_HEARTBEAT_LOAD

/* What a heartbeat changes and no record says; a restart forgets it. Written by
 * core/state/heartbeat.c.
 */
struct lks_heartbeat {
    lks_ms at;                           /* mono; of the last one, or of the start */
    uint64_t seq;                        /* of the last one heard in this boot */
    uint64_t health;                     /* bits the agent sets */
    int64_t skew;                        /* its clock less ours, in ms */
    uint64_t head_seq;                   /* the journal head it witnessed */
    lks_ms events[LKS_HEARTBEAT_EVENTS]; /* wall: when the last one was; 0: of none was heard */
    uint8_t told[LKS_HEARTBEAT_TOLD]; /* which that was, as its agent says, + 1; 0: it does not */
    /* The node's texts beside which `boot` and `tuple` were nothing new, so that the next heartbeat
     * need not read them: ids of texts that stay, + 1; 0: not so. */
    uint32_t boot_text, tuple_text;
    uint16_t replays; /* in this boot, until enough good ones followed; these count no further than
                         they can */
    uint16_t clean;   /* good ones since the last replay */
    uint16_t skewed;  /* with a clock that was off, one after the other */
    uint16_t unsent;  /* naming a tuple that was not sent, one after the other */
    bool heard;       /* since the start */
    uint8_t boot[16];
    uint8_t boot_before[16]; /* a boot that is over does not come again */
    uint8_t tuple[LKS_HASH_BYTES];
    uint8_t head_hash[LKS_HASH_BYTES]; /* all zero without a head */
};

struct lks_limits {
    lks_ms heartbeat, late, lost, mass_window, skew;
    uint64_t mass_floor, mass_percent, call_nodes;
    lks_ms validity, staleness, outband_age, proposal_age;
};
extern const struct lks_limits lks_limits_default;

/* The record that sets them. */
struct lks_rec_limits lks_state_limits_record(const struct lks_limits *l, lks_ms yeses_until);

/* A head that agents were told. */
struct lks_published {
    uint64_t seq;
    uint8_t hash[LKS_HASH_BYTES];
};

struct lks_state {
    char journal[LKS_JOURNAL_ID_SIZE];
    struct lks_limits limits;
    lks_ms clock;       /* time of the last record */
    lks_ms yeses_until; /* a yes that was given under longer limits may stand so long */
    uint64_t seq;       /* of the last record that was applied */
    struct lks_intern texts;
    struct lks_refintern passing; /* texts that are forgotten with their last use */
    struct lks_intern names;      /* of nodes and assets; the id is the place in `nodes` */
    struct lks_node *nodes;       /* owned, as are all arrays */
    struct lks_heartbeat *pulses; /* by node */
    uint32_t node_count, node_room;
    uint32_t placed_count;        /* nodes; assets do not count */
    struct lks_intern pool_names; /* the id is the place in `pools` */
    struct lks_state_pool *pools;
    uint32_t pool_count, pool_room;
    lks_text fleet_name, fleet_manifest;
    struct lks_intern basis_digests;
    struct lks_state_basis *bases; /* by handle - 1 */
    uint32_t basis_room;
    struct lks_state_verdict *verdicts; /* place 0 is not used */
    uint32_t verdict_count, verdict_room, verdict_free;
    struct lks_deviation *deviations; /* by rising id */
    uint32_t deviation_count, deviation_room;
    struct lks_state_stack *stacks; /* in the order they were published */
    uint32_t stack_count, stack_room;
    struct lks_state_image *images; /* sorted by ref */
    uint32_t image_count, image_room;
    struct lks_state_artifact *artifacts; /* sorted by digest */
    uint32_t artifact_count, artifact_room;
    struct lks_state_key *keys; /* sorted by name */
    uint32_t key_count, key_room;
    struct lks_state_bundle *bundles; /* in the order they were found good */
    uint32_t bundle_count, bundle_room;
    struct lks_state_flash *flashes; /* by rising id; ended ones leave after a while */
    uint32_t flash_count, flash_room, flashes_open;
    uint64_t next_flash;
    struct lks_state_change *changes; /* by rising id */
    uint32_t change_count, change_room, changes_open;
    uint32_t glasses; /* changes that started without their approvals, and are not reviewed */
    uint64_t next_change;
    struct lks_proven *proven; /* sorted: class, from, to */
    uint32_t proven_count, proven_room;
    bool frozen; /* all of it */
    lks_text frozen_by, frozen_reason;
    lks_ms frozen_since;
    uint32_t *touched; /* owned: nodes of which the record that is applied says something */
    uint32_t touched_count, touched_room;
    struct lks_heap members_due; /* wall, by node: when its step in a change is to be looked at */
    struct lks_tickets tickets;
    struct lks_resets resets;
    struct lks_barred *barred; /* in the order they were barred */
    uint32_t barred_count, barred_room;
    struct lks_override *overrides; /* in the order they were given */
    uint32_t override_count, override_room;
    uint64_t jobs;  /* that started */
    uint64_t epoch; /* of the controller that leads; 0: there is only one */
    lks_text leader, leader_url;
    uint64_t signed_from;    /* the row from which every commit is signed; 0: not yet */
    uint64_t signed_earlier; /* rows right before it that no head covered */
    struct lks_node_status
        *standing; /* core/state/node_status.h: bits of nodes, follows from the rest */
    struct lks_binding *bindings; /* sorted: identity, role, site, pool */
    uint32_t binding_count, binding_room;
    struct lks_api_token *tokens; /* sorted by id */
    uint32_t token_count, token_room;
    struct lks_state_person *persons; /* their certificates, sorted by serial */
    uint32_t person_count, person_room;
    struct lks_state_alarm *alarms; /* by rising id */
    uint32_t alarm_count, alarm_room, alarms_open;
    uint64_t next_alarm, next_command, next_deviation;
    struct lks_state_command *commands; /* by rising id; ended ones leave after a while */
    uint32_t command_count, command_room, commands_open;
    struct lks_heap outband_ends; /* wall, by node: when what was read of it is past its age */
    lks_ms deviations_due;        /* wall: when the next deviation expires; UINT64_MAX: none */
    struct lks_heap deadlines;    /* mono, by node: when to look whether it is late or lost */
    uint32_t liveness[LKS_LIVENESS_COUNT]; /* of placed nodes */
    struct lks_mass *mass; /* by pool: who turned for the worse of late; see core/state/mass.h */
    struct lks_mass_turn *turns; /* by node: when */
    /* Of this moment, beside `pulses`. */
    struct lks_now seen;                         /* the last time we were told */
    lks_ms commands_due;                         /* wall: no open command is over before this */
    lks_ms flashes_due;                          /* wall: no open update is given up before this */
    bool commands_moved, flashes_moved;          /* these may be later than that by now */
    struct lks_published heads[LKS_STATE_HEADS]; /* a ring */
    uint32_t head_count;                         /* published since the start */
};

/* `seed` keeps names that agents choose from being chosen to collide. */
enum lks_code lks_state_init(struct lks_state *s, uint64_t seed,
                             struct lks_err *err) LKS_MUST_CHECK;
void lks_state_fini(struct lks_state *s);

/* Looking things up. */
const struct lks_state_key *lks_state_key(const struct lks_state *s, struct lks_str name);
const struct lks_state_bundle *lks_state_bundle(const struct lks_state *s, struct lks_str digest);
const struct lks_state_flash *lks_state_flash(const struct lks_state *s, uint64_t id);
/* The one that keeps `node` from another: open, or unknown and not looked at; NULL: none. */
const struct lks_state_flash *lks_state_flashing(const struct lks_state *s, uint32_t node);
/* Whether it ended, and has not to be resolved any more. */
bool lks_state_flash_over(const struct lks_state_flash *f);
/* When one without an end is given up (wall): its deadline, and time for its driver to report it;
 * at once where its bundle was revoked. */
lks_ms lks_state_flash_due(const struct lks_state_flash *f);
/* Whether a bundle names the artifact, and whether one that is good does: only such bits are
 * staged. */
bool lks_state_bundle_names(const struct lks_state *s, const struct lks_state_bundle *bundle,
                            struct lks_str artifact);
bool lks_state_vouched(const struct lks_state *s, struct lks_str artifact);
struct lks_str lks_state_text(const struct lks_state *s, lks_text text);
uint32_t lks_state_node(const struct lks_state *s,
                        struct lks_str name); /* LKS_NO_NODE; placed only */
struct lks_str lks_state_name(const struct lks_state *s, uint32_t node);
uint32_t lks_state_pool(const struct lks_state *s, struct lks_str name); /* UINT32_MAX */
const struct lks_state_alarm *lks_state_alarm(const struct lks_state *s, uint64_t id);
const struct lks_state_command *lks_state_command(const struct lks_state *s, uint64_t id);
const struct lks_api_token *lks_state_token(const struct lks_state *s, struct lks_str id);
/* The certificate of a person, by its serial; NULL: not known. */
const struct lks_state_person *lks_state_person(const struct lks_state *s, struct lks_str serial);

/* Its fingerprint as "sha256:...", or an empty text where there is none; and whether it is this. */
const char *lks_state_certificate_text(const struct lks_certificate *c, char out[LKS_DIGEST_SIZE]);
bool lks_state_certificate_is(const struct lks_certificate *c, struct lks_str fingerprint);

/* The bindings of `identity`, one after the other; NULL and 0: none. */
const struct lks_binding *lks_state_bindings(const struct lks_state *s, struct lks_str identity,
                                             uint32_t *count);

/* The digest of the stack a node should run now: a change's target, where a change brought it, or
 * its pool's pin; 0: none. */
lks_text lks_state_intent(const struct lks_state *s, uint32_t node);

/* How its readings compare with its intent; NULL: not judged. */
const struct lks_state_verdict *lks_state_verdict(const struct lks_state *s, uint32_t node);
enum lks_judged lks_state_judged(const struct lks_state *s, uint32_t node);

/* The readings behind a handle of a basis; an empty view: none, or not known. */
struct lks_str lks_state_readings(const struct lks_state *s, uint32_t basis);

/* The handle of a basis by its digest, or 0. */
uint32_t lks_state_basis(const struct lks_state *s, struct lks_str digest);

/* The verdict of a basis against a stack: place in `verdicts`, or 0. */
uint32_t lks_state_verdict_find(const struct lks_state *s, uint32_t basis, lks_text stack);

const struct lks_deviation *lks_state_deviation(const struct lks_state *s, uint64_t id);
const struct lks_state_stack *lks_state_stack(const struct lks_state *s, struct lks_str digest);
const struct lks_state_image *lks_state_image(const struct lks_state *s, struct lks_str ref);
const struct lks_state_artifact *lks_state_artifact(const struct lks_state *s,
                                                    struct lks_str digest);

/* When a command that was not answered is over (wall): its end, and time for a late answer. */
lks_ms lks_state_command_over(const struct lks_state *s, const struct lks_state_command *command);

/* Whether automatic acts (drains, remedies, changes) in this pool wait for a person. */
bool lks_state_acts_wait(const struct lks_state *s, uint32_t pool);

/* Whether we lack what the node runs in this boot, or a judgement of it: its agent is asked. */
bool lks_state_wants_tuple(const struct lks_state *s, uint32_t node);

#endif
