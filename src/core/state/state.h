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

#include "base/heap.h"
#include "base/intern.h"
#include "core/rows/limits.h"
#include "core/rows/node.h"
#include "core/rows/now.h"
#include "core/rows/refusal.h"
#include "core/rows/run.h"
#include "core/state/lookup.h"
#include "core/state/refintern.h"
#include "core/state/resets.h"
#include "core/state/tickets.h"
#include "model/record/record.h"
#include "model/record/row.h"

#define LKS_STATE_TEXT_MAX ((size_t)2 << 30)
#define LKS_STATE_HEADS    64 /* published heads that witnesses are held against */

struct lks_barred;
struct lks_heartbeat;
struct lks_mass;
struct lks_mass_turn;
struct lks_node_status;
struct lks_override;
struct lks_state_basis;
struct lks_state_pool;

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
    struct lks_runs runs;
    struct lks_refusals refusals;
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

#endif
