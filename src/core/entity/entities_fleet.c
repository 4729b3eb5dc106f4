/* Columns of the journal, the fleet's nodes and pools, and what nodes are judged by. */
#include "base/intern.h"
#include "core/entity/columns.h"
#include "core/entity/entity.h"
#include "core/entity/settable.h"
#include "core/rows/pool.h"
#include "core/rows/verdict.h"
#include "core/state/state.h"
#include "core/state/state_room.h"
#include "model/record/record_words.h"

/* The journal and the fleet as a whole ------------------------------------------------------ */

#define ROW struct lks_state
static const struct lks_column journal[] = {
    COLUMN("journal", LETTERS, journal, NULL, 0, "The journal's name: 32 hexadecimal digits."),
    NUMBER(seq, "The last row of the journal that the state includes."),
    TIME(clock, "The time of that row."),
    TIME(yeses_until, "When the last admission that was given under longer limits expires."),
    NAMED("heartbeat", SPAN, limits.heartbeat, "How often agents report."),
    NAMED("late", SPAN, limits.late, "Silence after which a node is late."),
    NAMED("lost", SPAN, limits.lost, "Silence after which a node is lost."),
    NAMED("mass_floor", NUMBER, limits.mass_floor,
          "Nodes of a pool that may become late, lost or drifting at once, whatever its size."),
    NAMED("mass_percent", NUMBER, limits.mass_percent,
          "The same, in percent of the pool; the larger of the two applies."),
    NAMED("mass_window", SPAN, limits.mass_window, "The time window of these two limits."),
    NAMED("skew", SPAN, limits.skew, "How far a node's clock may be off."),
    NAMED("call_nodes", NUMBER, limits.call_nodes, "The most nodes in one call outside a change."),
    NAMED("validity", SPAN, limits.validity, "How long an admission is valid."),
    NAMED("staleness", SPAN, limits.staleness,
          "How far a controller may be behind the journal and still admit jobs."),
    NAMED("outband_age", SPAN, limits.outband_age, "How long an out-of-band reading is valid."),
    NAMED("proposal_age", SPAN, limits.proposal_age,
          "How long a change waits for its approval, and then for its start."),
    TEXT(fleet_name, "The fleet's name."),
    TEXT(fleet_manifest, "The fleet manifest that was last applied."),
    COUNTED(placed_count, "Number of nodes in the fleet, without assets."),
    ARRAY("liveness", NUMBER, liveness, LKS_COLUMN_DERIVED,
          "Number of nodes in each state of liveness."),
    TRUTH(frozen, "Whether the whole fleet is frozen."),
    TEXT(frozen_by, "The actor who froze the fleet."),
    TEXT(frozen_reason, "The actor's reason."),
    TIME(frozen_since, "When the fleet was frozen."),
    NUMBER(jobs, "Number of jobs that started."),
    NUMBER(epoch, "The epoch of the leader, higher with each new one; 0: a single controller."),
    TEXT(leader, "The name of the leader."),
    TEXT(leader_url, "The address of the leader."),
    NUMBER(signed_from, "The row from which every commit is signed; 0: none is."),
    NUMBER(signed_earlier, "Number of rows right before that one that no signed head covers."),
    NUMBER(next_alarm, "The number of the next alarm."),
    NUMBER(next_command, "The number of the next command."),
    NUMBER(next_deviation, "The number of the next deviation."),
    NUMBER(next_flash, "The number of the next firmware update."),
    NUMBER(next_change, "The number of the next change."),
    NAMED("next_run", NUMBER, runs.next, "The number of the next row about runs of jobs."),
    COUNTED(alarms_open, "Number of open alarms."),
    COUNTED(commands_open, "Number of commands that have not ended."),
    COUNTED(flashes_open, "Number of firmware updates that have not ended."),
    COUNTED(changes_open, "Number of changes that have not ended."),
    COUNTED(glasses, "Number of changes that started by break-glass and are not reviewed."),
    COLUMN("deviations_due", TIME, deviations_due, NULL, LKS_COLUMN_DERIVED,
           "When the next deviation expires."),
    NAMED("tickets_on", TRUTH, tickets.on, "Whether a ticket system is notified."),
    NAMED("tickets_told", NUMBER, tickets.told,
          "The last row that the ticket system was notified of."),
    NAMED("resets_given", NUMBER, resets.given,
          "Number of resets of nodes that were ever approved."),
};
const struct lks_entity lks_entity_journal = {
    .name = "journal",
    .about = "The journal, the limits, and facts about the fleet as a whole.",
    COLUMNS(journal),
    .count = LKS_ENTITY_FIXED,
    .max = 1,
    .inside = true,
};
#undef ROW

/* Pools ------------------------------------------------------------------------------------- */

#define ROW struct lks_observed
static const struct lks_column observed[] = {
    NUMBER(day, "The day, as days since 1970; 0: none."),
    NUMBER(asked, "Number of jobs that requested admission on that day."),
    ARRAY("refused", NUMBER, refused, 0,
          "Number of those jobs that were refused, or would have been, by reason."),
};
static const struct lks_entity observed_table = {
    .name = "observed",
    .about = "Jobs that requested admission to nodes of a pool, for today and the seven days "
             "before.",
    COLUMNS(observed),
    .list = offsetof(struct lks_state_pool, observed),
    .count = LKS_ENTITY_FIXED,
    .max = LKS_STATE_DAYS,
    .inside = true,
};
#undef ROW

#define ROW struct lks_state_pool
static const struct lks_column pool[] = {
    TEXT(name, "The pool's name."),
    TEXT(posture, "The class of work that it runs."),
    NUMBER(criticality, "Its criticality: pools with a lower value change first."),
    TEXT(enforce, "The response to nodes that do not conform: observe, warn or on."),
    TEXT(sched, "The scheduler that its jobs come from."),
    TEXT(stack, "The name of the stack it pins."),
    TEXT(stack_digest, "The digest of that stack."),
    TEXT(stack_before, "The digest of the stack that it pinned before."),
    NUMBER(on_drift, "The response to drift, as bits: 1 alarm, 2 drain, 4 proposal of a change."),
    TRUTH(deviations, "Whether nodes with a deviation are admitted."),
    TRUTH(attested, "Whether its nodes must be attested."),
    SPAN(check_age, "The maximum age of the last active check; 0: no check is needed."),
    TRUTH(drain_refused, "Whether nodes that admission refuses are drained."),
    SPAN(sweep, "The time between out-of-band readings."),
    NUMBER(mass_alarm, "The open mass alarm for which automatic acts wait; 0: none."),
    TRUTH(frozen, "Whether the pool is frozen."),
    TEXT(frozen_by, "The actor who froze the pool."),
    TEXT(frozen_reason, "The actor's reason."),
    TIME(frozen_since, "When the pool was frozen."),
    TEXT(lowered, "The requirements of changes that its manifest lowered; empty: none."),
    TEXT(lowered_by, "The actor who lowered them."),
    TEXT(lowered_minters, "The minters of that actor's credential, separated by blanks."),
    TIME(lowered_at, "When they were lowered."),
    ARRAY("slots", TEXT, slots, 0,
          "Digests of the stacks whose nodes its scheduler shows as lks0, lks1 and lks2."),
    COUNTED(nodes, "Number of its nodes."),
    COUNTED(enrolled, "Number of its nodes that are enrolled."),
    ARRAY("liveness", NUMBER, liveness, LKS_COLUMN_DERIVED,
          "Number of its nodes in each state of liveness."),
};
static bool pool_counts(const struct lks_state *s, const void *row)
{
    (void)s;
    return ((const struct lks_state_pool *)row)->known;
}

static const struct lks_entity *const pool_children[] = {&observed_table};
const struct lks_entity lks_entity_pool = {
    .name = "pool",
    .about = "A pool of nodes, and the stack that they should run.",
    COLUMNS(pool),
    CHILDREN(pool_children),
    LIST(lks_state, pools, pool_count, pool_room, LKS_STATE_POOLS_MAX),
    .counts = pool_counts,
    .key = LKS_COLUMN_POOL,
};
#undef ROW

/* Nodes ------------------------------------------------------------------------------------- */

#define ROW struct lks_node
static const struct lks_column node[] = {
    TEXT(asset, "The class of an asset; absent for a node.", .use = LISTED | SORT),
    COLUMN("pool", POOL, pool, NULL, 0, "Its pool.", .use = LISTED | FILTER | SORT),
    TEXT(site, "Its site.", .use = LISTED | FILTER | SORT),
    TEXT(rack, "Its rack.", .use = LISTED | FILTER | SORT),
    TEXT(domain, "Its domain: nodes and assets that change and serve together.",
         .use = LISTED | FILTER | SORT),
    TEXT(class, "Its hardware class.", .use = LISTED | FILTER | SORT),
    TEXT(power_zone, "Its power zone."),
    TEXT(cooling_loop, "Its cooling loop."),
    TEXT(hardware_revision, "The revision of its hardware."),
    TEXT(supplier, "Its supplier."),
    TEXT(side, "Its side of a redundant pair."),
    WORD(liveness, lks_liveness_words, "Whether its heartbeats arrive.",
         .use = LISTED | FILTER | SORT),
    TIME(liveness_since, "When it entered that state.", .use = LISTED | SORT),
    TEXT(tuple, "The digest of its last tuple.", .use = LISTED | FILTER | BEGINS | SORT),
    TRUTH(intake, "Whether it is in intake: no job is admitted until a person accepts it.",
          .use = LISTED | FILTER | SORT),
    TRUTH(held, "Whether a person put it on hold.", .use = LISTED | FILTER | SORT),
    TRUTH(enrolled, "Whether it has a certificate.", .use = LISTED | SORT),
    TRUTH(accepted, "Whether a person accepted it since it last entered intake."),
    TEXT(boot, "The ID of its current boot.", .use = SHOWN),
    PASSING(report, "The digest of the report with that tuple.", .use = SHOWN),
    TEXT(tuple_boot, "The boot in which the tuple was read; empty: unknown, or the node may have "
                     "changed since."),
    PASSING(changed, "Lines of its package manager's log about the difference."),
    TIME(tuple_since, "When the tuple was recorded, or when it ended."),
    BASIS(inband, "The digest of its in-band readings."),
    BASIS(outband, "The digest of its out-of-band readings."),
    BASIS(whole, "The digest of all of them together, to which the verdict applies."),
    PASSING(outband_report, "The digest of the out-of-band report."),
    TIME(outband_taken, "When its endpoint was read."),
    TRUTH(outband_over, "Whether the out-of-band readings had expired when they were recorded."),
    TEXT(scheduler_gres, "The GPUs that its scheduler advertises, by type.", .use = SHOWN),
    TEXT(scheduler_state, "A further fault in what its scheduler advertises.", .use = SHOWN),
    TIME(scheduler_since, "When its scheduler first advertised that.", .use = SHOWN),
    TEXT(right, "The digest of the stack it last conformed to."),
    TRUTH(drifting, "Whether the journal records it as drifting."),
    WORD(drift_cause, lks_drift_words, "The cause of the drift."),
    PASSING(drift_text, "The difference, or how the node came to conform again."),
    PASSING(drift_evidence, "The digest of the report that shows it."),
    TEXT(drift_stack, "The stack that drift was last recorded against."),
    TIME(drift_since, "When the drift started, or when it ended."),
    NUMBER(notes, "Conditions that its agent reported, as bits."),
    ARRAY("parts", TEXT, parts, 0,
          "Digests of the serial numbers of its board, GPUs and network adapters."),
    TIME(parts_since, "When its parts last changed."),
    TRUTH(unhealthy, "Whether it was reported as unhealthy.", .use = SHOWN),
    TIME(changing, "When its change started; absent: none is in progress.", .use = SHOWN),
    TEXT(target, "The stack that it changes to."),
    PASSING(condition_text, "The last message about its health or its change."),
    TIME(attested_until, "When its attestation expires.", .use = SHOWN),
    TIME(checked_at, "When its last active check passed.", .use = SHOWN, .key = "checked"),
    TIME(taken, "When the tuple was read, on the node's clock.", .use = SHOWN),
    TEXT(intake_why, "The reason for the intake.", .use = SHOWN, ONLY_IF(intake)),
    TEXT(held_by, "The actor who put it on hold.", .use = SHOWN, ONLY_IF(held)),
    TEXT(held_reason, "The actor's reason.", .use = SHOWN, ONLY_IF(held)),
    TIME(held_since, "When the hold started."),
    TEXT(drained_by, "The owner of its drain in the scheduler; empty: it is not drained."),
    TEXT(drained_reason, "The owner's reason."),
    NUMBER(drained_row, "The journal's row of that drain; 0: unknown."),
    NUMBER(held_row, "The journal's row of the hold; 0: unknown."),
    TIME(emptied, "When its scheduler reported it as drained for the hold.", .use = SHOWN),
    TEXT(endpoint, "The fingerprint of its endpoint's certificate; empty: none is recorded."),
    COLUMN("token_hash", TEXT, token_hash, NULL, LKS_COLUMN_SECRET,
           "The hash of its unused enrolment token; empty: none."),
    COLUMN("token_expires", TIME, token_expires, NULL, LKS_COLUMN_SECRET,
           "When that token expires."),
    NAMED("certificate", DIGEST, certificates[0].fingerprint,
          "The fingerprint of its newest certificate."),
    NAMED("certificate_expires", TIME, certificates[0].expires, "When that certificate expires."),
    NAMED("certificate_before", DIGEST, certificates[1].fingerprint,
          "The fingerprint of the certificate before, which stays valid."),
    NAMED("certificate_before_expires", TIME, certificates[1].expires,
          "When that certificate expires."),
    COLUMN("pin", TEXT, pin, NULL, LKS_COLUMN_DERIVED,
           "The stack that a change brought it to, until that change ends."),
    COUNTED(
        change,
        "The number of the change that is in progress on it or keeps it out of service; 0: none."),
    COUNTED(pending, "Number of commands to it that have not ended."),
    COUNTED(flashing, "Number of its firmware updates in progress or with unknown outcome.")
        LKS_SETTABLE_NODE(SETTABLE),
};
static bool node_counts(const struct lks_state *s, const void *row)
{
    (void)s;
    return ((const struct lks_node *)row)->placed;
}

const struct lks_entity lks_entity_node = {
    .name = "node",
    .about = "A node or an asset of the fleet.",
    COLUMNS(node),
    LIST(lks_state, nodes, node_count, node_room, LKS_STATE_NODES_MAX),
    .counts = node_counts,
    .key = LKS_COLUMN_NODE,
};
#undef ROW

/* What nodes are judged by ------------------------------------------------------------------ */

#define ROW struct lks_state_basis
static const struct lks_column basis[] = {
    BYTES(readings, len, "The readings, in canonical form."),
    COUNTED(uses, "Number of references by nodes."),
    COUNTED(gpus, "Number of GPUs in the readings."),
};
/* One that no node has and of which nothing is known is a place that is free. */
static bool basis_counts(const struct lks_state *s, const void *row)
{
    const struct lks_state_basis *b = row;
    (void)s;
    return b->uses > 0 || b->readings != NULL;
}

const struct lks_entity lks_entity_basis = {
    .name = "basis",
    .about = "Readings that verdicts are based on; nodes with equal readings share a row.",
    COLUMNS(basis),
    LIST(lks_state, bases, basis_room, basis_room, LKS_STATE_BASES_MAX),
    .counts = basis_counts,
    .key = LKS_COLUMN_BASIS,
};
#undef ROW

#define ROW struct lks_state_verdict
static const struct lks_column verdict[] = {
    BASIS(basis, "The digest of the readings."),
    TEXT(stack, "The digest of the stack that they are compared with."),
    WORD(judged, lks_judged_words, "The conformance result."),
    NUMBER(drifted, "Number of components that differ."),
    NUMBER(unmeasured, "Number of components that were not measured."),
    PASSING(first, "The first component that does not conform."),
    PASSING(wrong, "A line for each component that does not conform."),
    PASSING(values, "The values of all components; nodes agree where these are equal."),
};
static bool verdict_counts(const struct lks_state *s, const void *row)
{
    (void)s;
    return ((const struct lks_state_verdict *)row)->basis != 0;
}

static const void *verdict_same(const struct lks_state *a, const void *row,
                                const struct lks_state *b)
{
    const struct lks_state_verdict *v = row;
    uint32_t handle = lks_state_basis(b, lks_intern_text(&a->basis_digests, v->basis - 1));
    lks_text stack = 0;
    if (handle == 0 || !lks_intern_find(&b->texts, lks_state_text(a, v->stack), &stack))
        return NULL;
    uint32_t place = lks_state_verdict_find(b, handle, stack);
    return place == 0 ? NULL : &b->verdicts[place];
}

const struct lks_entity lks_entity_verdict = {
    .name = "verdict",
    .about = "The result of comparing readings with a stack.",
    COLUMNS(verdict),
    LIST(lks_state, verdicts, verdict_count, verdict_room, LKS_STATE_VERDICTS_MAX),
    .first = 1,
    .counts = verdict_counts,
    .same = verdict_same,
};
#undef ROW
