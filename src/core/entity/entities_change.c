/* Columns of changes, their plans, how far they are, and what was learned by them. */
#include "core/entity/columns.h"
#include "core/entity/entity.h"
#include "core/rows/change.h"
#include "core/state/state.h"
#include "model/record/record_words.h"

#define ROW struct lks_vote
static const struct lks_column vote[] = {
    TRUTH(yes, "Whether it approves the change."),
    TEXT(by, "The approver."),
    TEXT(reason, "The approver's reason."),
    TEXT(credential, "The credential of the approver."),
    TEXT(minters, "The minters of that credential, separated by blanks."),
    TEXT(ticket, "The ticket that the vote came from; empty: the vote was given in lockstep."),
    TEXT(who, "The approver's name in the ticket system."),
    TIME(at, "When the vote was given."),
};
static const struct lks_entity vote_table = {
    .name = "vote",
    .about = "An approval or rejection of a change.",
    COLUMNS(vote),
    INSIDE(lks_state_change, votes, vote_count, LKS_CHANGE_VOTES),
};
#undef ROW

#define ROW struct lks_waiver
static const struct lks_column waiver[] = {
    TEXT(gate, "The gate or metric that is waived."),
    TEXT(pool, "The pool that it applies to; empty: all pools for which the actor may approve."),
    TEXT(by, "The actor who waived it."),
    TEXT(reason, "The actor's reason."),
    TIME(at, "When it was waived."),
    TIME(until, "When the waiver expires."),
};
static const struct lks_entity waiver_table = {
    .name = "waiver",
    .about = "A waiver of a gate, or of one of its metrics, for a limited time.",
    COLUMNS(waiver),
    INSIDE(lks_state_change, waivers, waiver_count, LKS_CHANGE_WAIVERS),
};
#undef ROW

#define ROW struct lks_step
static const struct lks_column step[] = {
    WORD(kind, lks_step_kind_words, "The kind of step."),
    NUMBER(rank, "Its rank: nodes of a domain do steps of one rank together, lower ranks first."),
    NUMBER(layer, "The layer of the stack that it changes."),
    NUMBER(retries, "How often it may be tried again."),
    TEXT(component, "The component that it changes."),
    TEXT(version, "The target version."),
    TEXT(before, "The version before the change."),
    TEXT(executor, "The executor that carries it out."),
    TEXT(order, "The digest of the order for that executor."),
    TEXT(order_back, "The digest of the order that reverts it."),
    TEXT(artifacts, "The artifacts that it needs."),
    TEXT(artifacts_back, "The artifacts that the revert needs."),
    TEXT(bundle, "The firmware bundle to install from."),
    TEXT(image, "The firmware image in that bundle."),
    TEXT(bundle_back, "The firmware bundle to revert from."),
    TEXT(image_back, "The firmware image to revert to."),
    WORD(revert, lks_bmc_act_words, "The action that reverts a firmware update."),
    TRUTH(one_way, "Whether it cannot be rolled back: it is irreversible, or files are missing."),
    SPAN(limit, "How long it may take."),
    WORD(jobs, lks_drain_jobs_words, "The permitted acts on jobs of a node that drains."),
    TEXT(signal, "The signal that a job gets before it is requeued."),
    SPAN(grace, "How long a job has after the signal before it is requeued."),
    TEXT(missing, "The files without which it cannot be rolled back; no verified bundle had them."),
};
static const struct lks_entity step_table = {
    .name = "step",
    .about = "A step of a recipe.",
    COLUMNS(step),
    LIST(lks_recipe, steps, count, room, LKS_CHANGE_STEPS),
};
#undef ROW

#define ROW struct lks_recipe
static const struct lks_entity *const recipe_children[] = {&step_table};
static const struct lks_entity recipe_table = {
    .name = "recipe",
    .about = "The list of steps for nodes of one kind.",
    .size = sizeof(ROW),
    CHILDREN(recipe_children),
    LIST(lks_state_change, recipes, recipe_count, recipe_room, LKS_CHANGE_RECIPES),
};
#undef ROW

#define ROW struct lks_wave
static const struct lks_column wave[] = {
    WORD(kind, lks_wave_kind_words, "The kind of wave."),
    WORD(state, lks_wave_state_words, "Its state."),
    TEXT(pool, "The pool of its nodes; empty: several pools."),
    PASSING(controls, "Control nodes: similar nodes that do not change meanwhile."),
    PASSING(text, "The last message about it."),
    NUMBER(width, "Units that may be changed and not yet proven at the same time."),
    PASSING(width_text, "The limit that decided the width."),
    NUMBER(failures_max, "Failures that the wave tolerates; one more halts the change."),
    SPAN(soak, "How long it soaks before the next wave starts."),
    TIME(until, "The earliest time of the gate's next evaluation."),
    TIME(since, "When it entered this state."),
    NUMBER(limit, "Units that may have started, by the evidence so far; 0: all."),
    PASSING(limit_text, "The reason for that limit."),
    COUNTED(first_unit, "Its first unit, as index + 1; 0: none."),
    COUNTED(last_unit, "Its last unit, as index + 1; 0: none."),
    COUNTED(next, "Its first unit with a pending member, as index + 1; 0: none."),
    ARRAY("members", NUMBER, members, LKS_COLUMN_DERIVED, "Number of its members in each state."),
    COUNTED(busy, "Number of its units in progress."),
    COUNTED(failed, "Number of its members that failed."),
    COUNTED(hard, "Number of its members with a failure that halts the change at once."),
};
static const struct lks_entity wave_table = {
    .name = "wave",
    .about = "A wave of a change: units that change and are evaluated before the next wave starts.",
    COLUMNS(wave),
    LIST(lks_state_change, waves, wave_count, wave_room, LKS_CHANGE_WAVES),
};
#undef ROW

#define ROW struct lks_unit
static const struct lks_column unit[] = {
    TEXT(domain, "The domain whose nodes change together; empty: one node alone."),
    NUMBER(wave, "The index of its wave, from 0."),
    COUNTED(first, "The index of its first member, from 0."),
    COUNTED(count, "Number of its members."),
    COUNTED(next, "The next unit of its wave, as index + 1; 0: the last."),
    COUNTED(over, "Number of its members that have finished."),
    COUNTED(active, "Number of its members in progress."),
    COLUMN("begun", TRUTH, begun, NULL, LKS_COLUMN_DERIVED, "Whether a member of it has started."),
};
static const struct lks_entity unit_table = {
    .name = "unit",
    .about = "The part of a wave that changes as a whole: a domain, or a single node.",
    COLUMNS(unit),
    LIST(lks_state_change, units, unit_count, unit_room, LKS_STATE_NODES_MAX),
};
#undef ROW

#define ROW struct lks_member
static const struct lks_column member[] = {
    NODE(node, "The node or asset."),
    NUMBER(unit, "The index of its unit, from 0."),
    NUMBER(recipe, "The index of its recipe, from 0."),
    TEXT(from, "The digest of the stack before the change."),
    TRUTH(proves, "Whether it rolls back once in between, to exercise the rollback."),
    WORD(state, lks_member_state_words, "Its state."),
    NUMBER(step, "The index of the current step in its recipe, from 0."),
    NUMBER(
        pass,
        "0: the change is applied, 1: the rollback is exercised, 2: the change is applied again."),
    NUMBER(attempt, "The number of the attempt at this step, from 1."),
    NUMBER(reached, "Number of steps that may have been done before it was drained again."),
    TRUTH(back, "Whether it is rolling back."),
    TIME(until, "The deadline of this attempt, or when the step is tried again."),
    TIME(since, "When it entered this state at this step."),
    TIME(begun, "When it started; 0: not yet."),
    TIME(turned, "When its rollback last started; 0: never."),
    NUMBER(work, "The number of the command or firmware update in progress."),
    WORD(failure, lks_failure_words, "The last failure."),
    PASSING(text, "The last message about it."),
};
static const struct lks_entity member_table = {
    .name = "member",
    .about = "A node or asset of a change, and its progress.",
    COLUMNS(member),
    LIST(lks_state_change, members, member_count, member_room, LKS_STATE_NODES_MAX),
};
#undef ROW

#define ROW struct lks_change_note
static const struct lks_column note[] = {
    WORD(kind, lks_plan_note_words, "The subject of the note."),
    PASSING(text, "The text of the note."),
};
static const struct lks_entity note_table = {
    .name = "note",
    .about = "A note of the planner for the approvers of a change.",
    COLUMNS(note),
    LIST(lks_state_change, notes, note_count, note_room, LKS_CHANGE_NOTES),
};
#undef ROW

#define ROW struct lks_change_order
static const struct lks_column order[] = {
    PASSING(digest, "The digest of the order."),
    PASSING(text, "The text of the order."),
};
static const struct lks_entity order_table = {
    .name = "order",
    .about = "An order for an executor.",
    COLUMNS(order),
    LIST(lks_state_change, orders, order_count, order_room, LKS_CHANGE_ORDERS),
    .ordered = 1,
};
#undef ROW

#define ROW struct lks_plan_metric
static const struct lks_column metric[] = {
    TEXT(name, "Its name."),
    TEXT(pools, "The pools whose nodes it measures, separated by blanks; empty: all."),
    TEXT(query, "The PromQL query, where Prometheus measures it."),
    WORD(kind, lks_metric_kind_words, "The kind of metric."),
    WORD(better, lks_metric_better_words, "Whether higher or lower values are better."),
    WORD(unit, lks_metric_unit_words, "The unit of a sample."),
    WORD(source, lks_metric_source_words, "The source of its measurements."),
    TRUTH(critical, "Whether a wave cannot pass without data for it."),
    REAL(margin, "How much worse it may be, in percent."),
    REAL(alpha, "The accepted probability of a wrong verdict."),
    REAL(sigma, "How much nodes differ in their change of the value, in percent."),
    REAL(normal, "Events that a node normally has in an hour; 0: not known."),
};
static const struct lks_entity metric_table = {
    .name = "metric",
    .about = "A metric that the gates of a change measure.",
    COLUMNS(metric),
    LIST(lks_state_change, metrics, metric_count, metric_room, LKS_CHANGE_METRICS),
};
#undef ROW

#define ROW struct lks_pool_gate
static const struct lks_column gate[] = {
    TEXT(pool, "The pool."),
    TEXT(reference_load, "The program on the nodes that keeps canaries under load; empty: none."),
    NUMBER(min_load, "GPU-seconds under load that each changed node needs."),
    SPAN(min_soak, "The minimum time that a wave soaks."),
    SPAN(max_soak,
         "The time without a verdict after which a person decides; 0: three times the soak."),
    NUMBER(loss_budget, "Nodes that the next units to start may cost; 0: waves are as planned."),
};
static const struct lks_entity gate_table = {
    .name = "gate",
    .about = "The requirements of the gates of a change for nodes of one pool.",
    COLUMNS(gate),
    LIST(lks_state_change, gates, gate_count, gate_room, LKS_CHANGE_GATES),
};
#undef ROW

#define ROW struct lks_measure
static const struct lks_column measure[] = {
    NODE(node, "The node."),
    NUMBER(wave, "The index of the wave whose gate needs it, from 0."),
    TEXT(metric, "The metric; empty: only the reference load."),
    TRUTH(has_before, "Whether there is a value from before the change."),
    TRUTH(has_after, "Whether there is a value from after the change."),
    REAL(before, "The value before the change."),
    REAL(after, "The value after the change."),
    NUMBER(samples, "Number of samples in the value after the change."),
    NUMBER(load, "GPU-seconds under load since the node returned to service."),
    NUMBER(events, "Number of events since the node returned to service."),
    NUMBER(exposure, "Milliseconds until the first event, or without one."),
    TIME(from, "The time of the first sample."),
    TIME(until, "The time of the last sample."),
    TIME(at, "When it was recorded."),
    COUNTED(next, "The next measurement of the node, as index + 1; 0: the last."),
};
static const struct lks_entity measure_table = {
    .name = "measure",
    .about = "The last measurement of a node by one metric, for the gate of one wave.",
    COLUMNS(measure),
    LIST(lks_state_change, measures, measure_count, measure_room, LKS_CHANGE_MEASURES),
};
#undef ROW

#define ROW struct lks_gate_look
static const struct lks_column look[] = {
    NUMBER(wave, "The index of the wave, from 0."),
    TEXT(metric, "The metric; empty: all metrics together."),
    NUMBER(look, "The number of this evaluation."),
    WORD(verdict, lks_gate_verdict_words, "The gate's verdict."),
    PASSING(text, "The reasons for the verdict."),
    TIME(at, "When the gate was evaluated."),
};
static const struct lks_entity look_table = {
    .name = "look",
    .about = "The last verdict of a gate on a wave, by one metric or by all.",
    COLUMNS(look),
    LIST(lks_state_change, looks, look_count, look_room, LKS_CHANGE_LOOKS),
};
#undef ROW

#define ROW struct lks_job_acted
static const struct lks_column job_acted[] = {
    TEXT(job, "The job, as its scheduler calls it."),
    TEXT(site, "The site of the scheduler."),
    TEXT(sched, "The scheduler."),
    TEXT(node, "The node that drains and that the job ran on."),
    TEXT(user, "The user of the job."),
    WORD(act, lks_job_act_words, "Whether the job was last signalled or requeued."),
    WORD(state, lks_job_state_words, "Whether the scheduler did it."),
    TEXT(signal, "The signal."),
    TIME(started, "When the job had started."),
    TIME(until, "When the grace after the signal ends."),
    PASSING(text, "The scheduler's answer."),
    TIME(at, "When it was recorded."),
};
static const struct lks_entity job_table = {
    .name = "job_act",
    .about = "A job that the change signalled or requeued.",
    COLUMNS(job_acted),
    LIST(lks_state_change, jobs, job_count, job_room, LKS_CHANGE_JOBS),
};
#undef ROW

#define ROW struct lks_state_change
static const struct lks_column change[] = {
    NUMBER(id, "Its number."),
    WORD(kind, lks_change_kind_words, "The kind of change."),
    WORD(state, lks_change_state_words, "Its state."),
    PASSING(hosts, "The nodes that it was requested for."),
    TEXT(stack, "The digest of the target stack."),
    TEXT(name, "The name of that stack, or the version of the agent to install."),
    TEXT(windows, "The maintenance windows in which nodes may start."),
    TEXT(by, "The actor who proposed it."),
    TEXT(reason, "The actor's reason."),
    TEXT(minters, "The minters of that actor's credential, separated by blanks."),
    TEXT(class, "Its class of change."),
    TEXT(advisory, "The advisory that it is to close."),
    NUMBER(quorum, "Approvals that it needs for each of its pools."),
    TIME(expires, "When it expires, unless it is approved by then."),
    SPAN(approval_age, "How long an approval is valid."),
    SPAN(review_age, "The time in which a break-glass start must be reviewed."),
    TRUTH(needs_standby, "Whether its start must name a person on standby at the site."),
    TEXT(standby, "The person on standby at the site."),
    NUMBER(failures_max, "Failures that the change tolerates; one more halts it."),
    TRUTH(rolls_back, "Whether it rolls back as soon as it is halted."),
    TRUTH(one_way, "Whether its irreversible steps were acknowledged."),
    TIME(not_before, "The time before which no node is changed."),
    TIME(not_after, "The time after which no node starts."),
    TIME(proposed, "When it was proposed."),
    TIME(started, "When it first ran; 0: not yet."),
    TIME(moved, "When it entered this state."),
    TEXT(started_by, "The actor who started it."),
    TEXT(moved_by, "The actor who moved it to this state."),
    TEXT(moved_reason, "The actor's reason."),
    NAMED("glass_at", TIME, glass.at, "When it started by break-glass; 0: it did not."),
    NAMED("glass_until", TIME, glass.until, "When its review is due."),
    NAMED("glass_by", TEXT, glass.by, "The actor who started it by break-glass."),
    NAMED("glass_reason", TEXT, glass.reason, "The actor's reason."),
    NAMED("glass_minters", TEXT, glass.minters,
          "The minters of that actor's credential, separated by blanks."),
    NAMED("glass_reviewed", TIME, glass.reviewed, "When it was reviewed; 0: not yet."),
    NAMED("glass_reviewed_by", TEXT, glass.reviewed_by, "The reviewer."),
    NAMED("glass_reviewed_reason", TEXT, glass.reviewed_reason, "The reviewer's finding."),
    NAMED("forecast_runs", NUMBER, forecast.runs,
          "Number of runs of its rehearsal; 0: there was none."),
    ARRAY("forecast_took", SPAN, forecast.took, 0,
          "Duration of the runs: 5th percentile, median, 95th percentile."),
    ARRAY("forecast_gpu_hours", NUMBER, forecast.gpu_hours, 0,
          "GPU-hours out of service: 5th percentile, median, 95th percentile."),
    NAMED("forecast_kept", NUMBER, forecast.kept, "Nodes left to a person, 95th percentile."),
    NAMED("forecast_reached", NUMBER, forecast.reached,
          "Nodes that a bad stack reaches before it is stopped, 95th percentile."),
    NAMED("forecast_at", TIME, forecast.at, "When it was rehearsed."),
    NAMED("forecast_by", TEXT, forecast.by, "The actor who rehearsed it."),
    ARRAY("states", NUMBER, states, LKS_COLUMN_DERIVED, "Number of its members in each state."),
    COUNTED(failed, "Number of its members that failed."),
    COUNTED(queued, "Number of its members that wait for a slot to be tried again."),
};
static const struct lks_entity *const change_children[] = {
    &recipe_table, &wave_table,   &unit_table,   &member_table,  &order_table,
    &note_table,   &metric_table, &gate_table,   &measure_table, &look_table,
    &job_table,    &vote_table,   &waiver_table,
};
const struct lks_entity lks_entity_change = {
    .name = "change",
    .about = "A change: its plan, its approvals and its progress.",
    COLUMNS(change),
    CHILDREN(change_children),
    LIST(lks_state, changes, change_count, change_room, LKS_STATE_CHANGES_MAX),
    NUMBERED(next_change),
};
#undef ROW

#define ROW struct lks_proven
static const struct lks_column proven[] = {
    TEXT(class, "The hardware class."),
    TEXT(from, "The stack that the node rolled back to."),
    TEXT(to, "The stack that the node rolled back from."),
    TEXT(node, "The node that exercised the rollback."),
    NUMBER(change, "The change in which it did."),
    SPAN(took, "How long the rollback took."),
    TIME(at, "When the rollback was exercised."),
};
const struct lks_entity lks_entity_proven = {
    .name = "proven",
    .about = "A rollback between two stacks that was exercised on a hardware class.",
    COLUMNS(proven),
    LIST(lks_state, proven, proven_count, proven_room, LKS_STATE_PROVEN_MAX),
    .ordered = 3,
};
#undef ROW
