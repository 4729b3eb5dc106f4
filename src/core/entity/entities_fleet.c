/* Columns of the journal, the fleet's nodes and pools, and what nodes are judged by. */
#include "core/entity/columns.h"
#include "core/state/state_room.h"

/* The journal and the fleet as a whole ------------------------------------------------------ */

#define ROW struct lks_state
static const struct lks_column journal[] = {
    COLUMN("journal", LETTERS, journal, NULL, 0, "The journal's name: 32 hexadecimal digits."),
    NUMBER(seq, "The last row of the journal that counts here."),
    TIME(clock, "The time of that row."),
    TIME(yeses_until, "When the last admission given under longer limits has ended."),
    NAMED("heartbeat", SPAN, limits.heartbeat, "How often agents report."),
    NAMED("late", SPAN, limits.late, "Silence after which a node is late."),
    NAMED("lost", SPAN, limits.lost, "Silence after which a node is lost."),
    NAMED("mass_floor", NUMBER, limits.mass_floor,
          "Nodes of a pool that may turn at once, however small the pool is."),
    NAMED("mass_percent", NUMBER, limits.mass_percent,
          "Nodes of a pool that may turn at once, in percent."),
    NAMED("mass_window", SPAN, limits.mass_window, "The time window for that."),
    NAMED("skew", SPAN, limits.skew, "How far a node's clock may be off."),
    NAMED("call_nodes", NUMBER, limits.call_nodes, "The most nodes in one call outside a change."),
    NAMED("validity", SPAN, limits.validity, "How long an admission is good."),
    NAMED("staleness", SPAN, limits.staleness,
          "How far behind a controller may be and still admit."),
    NAMED("outband_age", SPAN, limits.outband_age, "How long an out-of-band reading is good."),
    NAMED("proposal_age", SPAN, limits.proposal_age,
          "How long a change waits for its approval, and then for its start."),
    TEXT(fleet_name, "The fleet's name."),
    TEXT(fleet_manifest, "The fleet manifest that was last applied."),
    COUNTED(placed_count, "Nodes in the fleet, without assets."),
    ARRAY("liveness", NUMBER, liveness, LKS_COLUMN_DERIVED, "Nodes in each state of liveness."),
    TRUTH(frozen, "Whether the whole fleet is frozen."),
    TEXT(frozen_by, "The actor who froze it."),
    TEXT(frozen_reason, "Their reason."),
    TIME(frozen_since, "Since when it is frozen."),
    NUMBER(jobs, "Jobs that started."),
    NUMBER(epoch, "How often the leading controller changed; 0: there is only one."),
    TEXT(leader, "The controller that leads."),
    TEXT(leader_url, "Its address."),
    NUMBER(signed_from, "The row from which every commit is signed; 0: none is."),
    NUMBER(signed_earlier, "Rows right before it that no signed head covers."),
    NUMBER(next_alarm, "The number of the next alarm."),
    NUMBER(next_command, "The number of the next command."),
    NUMBER(next_deviation, "The number of the next deviation."),
    NUMBER(next_flash, "The number of the next firmware update."),
    NUMBER(next_change, "The number of the next change."),
    COUNTED(alarms_open, "Alarms that are open."),
    COUNTED(commands_open, "Commands that have not ended."),
    COUNTED(flashes_open, "Firmware updates that have not ended."),
    COUNTED(changes_open, "Changes that are not over."),
    COUNTED(glasses, "Changes that started without their approvals and are not reviewed."),
    COLUMN("deviations_due", TIME, deviations_due, NULL, LKS_COLUMN_DERIVED,
           "When the next deviation expires."),
    NAMED("tickets_on", TRUTH, tickets.on, "Whether a ticket system is notified."),
    NAMED("tickets_told", NUMBER, tickets.told, "The last row of which it was notified."),
    NAMED("resets_given", NUMBER, resets.given, "Resets of nodes that were ever approved."),
};
const struct lks_entity lks_entity_journal = {
    .name = "journal",
    .about = "The journal, its limits, and what is true of the fleet as a whole.",
    COLUMNS(journal),
    .count = LKS_ENTITY_FIXED,
    .max = 1,
    .inside = true,
};
#undef ROW

/* Pools ------------------------------------------------------------------------------------- */

#define ROW struct lks_observed
static const struct lks_column observed[] = {
    NUMBER(day, "The day, counted from 1970; 0: none."),
    NUMBER(asked, "Jobs that asked on that day."),
    ARRAY("refused", NUMBER, refused, 0, "Jobs that were refused, by reason."),
};
static const struct lks_entity observed_table = {
    .name = "observed",
    .about = "Jobs that asked for a pool's nodes on one of the last days.",
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
    TEXT(posture, "How strictly its changes are approved."),
    NUMBER(criticality, "Its rank; pools of a lower rank change first."),
    TEXT(enforce, "Whether a refusal keeps a job from starting, or is only observed."),
    TEXT(sched, "The scheduler it is in."),
    TEXT(stack, "The name of the stack it pins."),
    TEXT(stack_digest, "The digest of that stack."),
    TEXT(stack_before, "The digest of the stack it pinned before."),
    NUMBER(on_drift, "The responses to drift, as bits: 1 an alarm, 2 a drain, 4 a proposal."),
    TRUTH(deviations, "Whether nodes with a deviation are admitted."),
    TRUTH(attested, "Whether its nodes have to be attested."),
    SPAN(check_age, "How old an active check may be; 0: none is asked for."),
    SPAN(sweep, "The time between out-of-band readings."),
    NUMBER(mass_alarm, "The open alarm for which automatic acts wait; 0: none."),
    TRUTH(frozen, "Whether the pool is frozen."),
    TEXT(frozen_by, "The actor who froze it."),
    TEXT(frozen_reason, "Their reason."),
    TIME(frozen_since, "Since when it is frozen."),
    TEXT(lowered, "The approval rules that its file lowers."),
    TEXT(lowered_by, "The actor who lowered it."),
    TEXT(lowered_minters, "The people by whom their credential came to be."),
    TIME(lowered_at, "When it was lowered."),
    COUNTED(nodes, "Nodes that are placed in it."),
    COUNTED(enrolled, "Those of them that are enrolled."),
    ARRAY("liveness", NUMBER, liveness, LKS_COLUMN_DERIVED, "Its nodes, by liveness."),
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
    TEXT(asset, "The class of an asset; empty: it is a node."),
    COLUMN("pool", POOL, pool, NULL, 0, "The pool it is in."),
    TEXT(class, "Its hardware class."),
    TEXT(site, "Its site."),
    TEXT(rack, "Its rack."),
    TEXT(domain, "Its domain: nodes that have to run the same."),
    TEXT(power_zone, "Its power zone."),
    TEXT(cooling_loop, "Its cooling loop."),
    TEXT(hardware_revision, "The revision of its hardware."),
    TEXT(supplier, "Its supplier."),
    TEXT(side, "Its side of a redundant pair."),
    TRUTH(enrolled, "Whether it has a certificate."),
    TRUTH(intake, "Whether it waits to be accepted by a person."),
    TEXT(intake_why, "Why it waits."),
    TRUTH(accepted, "Whether a person accepted it."),
    TRUTH(held, "Whether a person keeps it out of service."),
    TEXT(held_by, "The actor who holds it."),
    TEXT(held_reason, "Their reason."),
    TIME(held_since, "Since when it is held."),
    WORD(liveness, lks_liveness_words, "Whether its agent is heard."),
    TIME(liveness_since, "Since when."),
    TEXT(boot, "The boot it is in."),
    TEXT(tuple, "The digest of what it runs."),
    TEXT(tuple_boot, "The boot in which that was read."),
    PASSING(report, "The digest of the report it was read from."),
    PASSING(changed, "The lines of its package manager's log about the difference."),
    TIME(taken, "When it was read."),
    TIME(tuple_since, "Since when it runs that."),
    BASIS(inband, "The digest of the readings of its agent that a verdict rests on."),
    BASIS(outband, "The digest of the readings of its endpoint."),
    BASIS(whole, "The digest of the two together, which the verdict is about."),
    PASSING(outband_report, "The digest of the out-of-band report."),
    TIME(outband_taken, "When that was read."),
    TRUTH(outband_over, "Whether that was past its age when it was recorded."),
    TEXT(right, "The digest of the stack it last conformed to."),
    TRUTH(drifting, "Whether it drifts, as recorded."),
    WORD(drift_cause, lks_drift_words, "Why it drifts."),
    PASSING(drift_text, "The difference."),
    PASSING(drift_evidence, "The evidence of the difference."),
    TEXT(drift_stack, "The stack against which it drifts."),
    TIME(drift_since, "Since when it drifts, or since when it no longer does."),
    NUMBER(notes, "The notes of its agent, as bits."),
    ARRAY("parts", TEXT, parts, 0, "Digests of its parts: board, GPUs and network cards."),
    TIME(parts_since, "When its parts were last others."),
    TRUTH(unhealthy, "Whether it is reported as unhealthy."),
    TIME(changing, "Since when it changes; 0: it does not."),
    TEXT(target, "The stack it changes to."),
    PASSING(condition_text, "The last message about its health or its change."),
    TIME(attested_until, "Until when its attestation is good."),
    TIME(checked_at, "When its last active check passed."),
    TEXT(drained_by, "The owner of its drain in the scheduler; empty: it is not drained."),
    TEXT(drained_reason, "Their reason."),
    TEXT(endpoint, "The fingerprint of its endpoint's certificate."),
    COLUMN("token_hash", TEXT, token_hash, NULL, LKS_COLUMN_SECRET,
           "The hash of the enrolment token that waits to be used."),
    TIME(token_expires, "Until when that is good."),
    NAMED("certificate", DIGEST, certificates[0].fingerprint,
          "The fingerprint of its newest certificate."),
    NAMED("certificate_expires", TIME, certificates[0].expires, "Until when that is good."),
    NAMED("certificate_before", DIGEST, certificates[1].fingerprint,
          "The fingerprint of the certificate before, which is good, too."),
    NAMED("certificate_before_expires", TIME, certificates[1].expires, "Until when that is good."),
    COLUMN("pin", TEXT, pin, NULL, LKS_COLUMN_DERIVED,
           "The stack a change brought it to, until that change has ended."),
    COUNTED(change, "The change that is in progress on it or keeps it out of service; 0: none."),
    COUNTED(pending, "Commands to it that have not ended."),
    COUNTED(flashing, "Firmware updates of it that have not ended, or ended unknown."),
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
    COUNTED(uses, "Nodes that have it."),
    COUNTED(gpus, "GPUs that it names."),
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
    .about = "Readings on which a verdict rests; nodes that read the same share them.",
    COLUMNS(basis),
    LIST(lks_state, bases, basis_room, basis_room, LKS_STATE_BASES_MAX),
    .counts = basis_counts,
    .key = LKS_COLUMN_BASIS,
};
#undef ROW

#define ROW struct lks_state_verdict
static const struct lks_column verdict[] = {
    BASIS(basis, "The readings it is about."),
    TEXT(stack, "The digest of the stack they are compared with."),
    WORD(judged, lks_judged_words, "How they compare."),
    NUMBER(drifted, "Components that differ."),
    NUMBER(unmeasured, "Components that could not be read."),
    PASSING(first, "The first that differs."),
    PASSING(wrong, "All that differ."),
    PASSING(values, "The values by which nodes of a domain have to agree."),
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
    .about = "How readings compare with a stack.",
    COLUMNS(verdict),
    LIST(lks_state, verdicts, verdict_count, verdict_room, LKS_STATE_VERDICTS_MAX),
    .first = 1,
    .counts = verdict_counts,
    .same = verdict_same,
};
#undef ROW
