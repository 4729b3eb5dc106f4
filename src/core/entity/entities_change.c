/* Columns of changes, their plans, how far they are, and what was learned by them. */
#include "core/entity/columns.h"

#define ROW struct lks_vote
static const struct lks_column vote[] = {
    TRUTH(yes, "Whether it approves the change."),
    TEXT(by, "The actor."),
    TEXT(reason, "Their reason."),
    TEXT(credential, "The credential by which it was given."),
    TEXT(minters, "The people by whom that credential came to be."),
    TEXT(ticket, "The ticket it came by; empty: it was given here."),
    TEXT(who, "The actor's name in the ticket system."),
    TIME(at, "When it was given."),
};
static const struct lks_entity vote_table = {
    .name = "vote",
    .about = "An approval of a change, or a refusal.",
    COLUMNS(vote),
    INSIDE(lks_state_change, votes, vote_count, LKS_CHANGE_VOTES),
};
#undef ROW

#define ROW struct lks_waiver
static const struct lks_column waiver[] = {
    TEXT(gate, "The gate or metric that is not asked."),
    TEXT(pool, "In which pool; empty: wherever the actor may approve."),
    TEXT(by, "The actor."),
    TEXT(reason, "Their reason."),
    TIME(at, "When it was given."),
    TIME(until, "Until when it is good."),
};
static const struct lks_entity waiver_table = {
    .name = "waiver",
    .about = "A gate, or a metric of one, that is not asked for a while.",
    COLUMNS(waiver),
    INSIDE(lks_state_change, waivers, waiver_count, LKS_CHANGE_WAIVERS),
};
#undef ROW

#define ROW struct lks_step
static const struct lks_column step[] = {
    WORD(kind, lks_step_kind_words, "The kind of action."),
    NUMBER(rank, "Its rank: steps of a lower one come first."),
    NUMBER(layer, "The layer of the stack it is about."),
    NUMBER(retries, "How often it may be tried again."),
    TEXT(component, "The component."),
    TEXT(version, "The version it brings."),
    TEXT(before, "The version it comes from."),
    TEXT(executor, "The executor that does it."),
    TEXT(order, "The digest of the order for that executor."),
    TEXT(order_back, "The digest of the order for the rollback."),
    TEXT(artifacts, "The artifacts it needs."),
    TEXT(artifacts_back, "The artifacts the rollback needs."),
    TEXT(bundle, "The firmware bundle."),
    TEXT(image, "The image of it."),
    TEXT(bundle_back, "The firmware bundle of the rollback."),
    TEXT(image_back, "The image of that."),
    WORD(revert, lks_bmc_act_words, "How firmware is rolled back."),
    TRUTH(one_way, "Whether it cannot be rolled back."),
    SPAN(limit, "How long it may take."),
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
    .about = "The steps for nodes of one kind.",
    .size = sizeof(ROW),
    CHILDREN(recipe_children),
    LIST(lks_state_change, recipes, recipe_count, recipe_room, LKS_CHANGE_RECIPES),
};
#undef ROW

#define ROW struct lks_wave
static const struct lks_column wave[] = {
    WORD(kind, lks_wave_kind_words, "Its kind."),
    WORD(state, lks_wave_state_words, "How far it is."),
    TEXT(pool, "The pool of its nodes."),
    PASSING(controls, "Nodes that are measured beside it."),
    PASSING(text, "The last message about it."),
    NUMBER(width, "Units that may change at a time."),
    NUMBER(failures_max, "Failures after which it halts."),
    SPAN(soak, "How long it is watched before the next starts."),
    TIME(until, "Until when it is watched."),
    TIME(since, "Since when it is in this state."),
    NUMBER(limit, "Units that may have started, by the evidence so far; 0: all."),
    PASSING(limit_text, "Why no more may."),
    COUNTED(first_unit, "Its first unit."),
    COUNTED(last_unit, "Its last unit."),
    COUNTED(next, "Its first unit with a member that waits."),
    ARRAY("members", NUMBER, members, LKS_COLUMN_DERIVED, "Its members, by state."),
    COUNTED(busy, "Units that have started and not finished."),
    COUNTED(failed, "Members that failed."),
    COUNTED(hard, "Members whose failure halts it at once."),
};
static const struct lks_entity wave_table = {
    .name = "wave",
    .about = "A wave of a change: units that change before the next wave starts.",
    COLUMNS(wave),
    LIST(lks_state_change, waves, wave_count, wave_room, LKS_CHANGE_WAVES),
};
#undef ROW

#define ROW struct lks_unit
static const struct lks_column unit[] = {
    TEXT(domain, "The domain whose nodes change together; empty: one node alone."),
    NUMBER(wave, "The wave it is in, by its place."),
    COUNTED(first, "Its first member, by its place."),
    COUNTED(count, "How many members it has."),
    COUNTED(next, "The next unit of its wave."),
    COUNTED(over, "Members that have finished."),
    COUNTED(active, "Members that are in progress."),
    COLUMN("begun", TRUTH, begun, NULL, LKS_COLUMN_DERIVED, "Whether a member of it has started."),
};
static const struct lks_entity unit_table = {
    .name = "unit",
    .about = "Nodes of a change that change together.",
    COLUMNS(unit),
    LIST(lks_state_change, units, unit_count, unit_room, LKS_STATE_NODES_MAX),
};
#undef ROW

#define ROW struct lks_member
static const struct lks_column member[] = {
    NODE(node, "The node."),
    NUMBER(unit, "The unit it is in, by its place."),
    NUMBER(recipe, "The recipe it goes by, by its place."),
    TEXT(from, "The digest of the stack it comes from."),
    TRUTH(proves, "Whether it exercises the rollback first."),
    WORD(state, lks_member_state_words, "How far it is."),
    NUMBER(step, "The step of its recipe it is at."),
    NUMBER(pass, "Which pass over the recipe this is, where it exercises the rollback."),
    NUMBER(attempt, "Which attempt of the step this is."),
    TRUTH(back, "Whether it rolls back."),
    TIME(until, "When this attempt is given up."),
    TIME(since, "Since when it is in this state at this step."),
    TIME(begun, "When it started."),
    TIME(turned, "When it last turned back."),
    NUMBER(work, "The command or firmware update it waits for."),
    WORD(failure, lks_failure_words, "Why it failed."),
    PASSING(text, "The last message about it."),
};
static const struct lks_entity member_table = {
    .name = "member",
    .about = "A node of a change, and how far it is.",
    COLUMNS(member),
    LIST(lks_state_change, members, member_count, member_room, LKS_STATE_NODES_MAX),
};
#undef ROW

#define ROW struct lks_change_note
static const struct lks_column note[] = {
    WORD(kind, lks_plan_note_words, "Its subject."),
    PASSING(text, "The note."),
};
static const struct lks_entity note_table = {
    .name = "note",
    .about = "A remark of the planner about a change.",
    COLUMNS(note),
    LIST(lks_state_change, notes, note_count, note_room, LKS_CHANGE_NOTES),
};
#undef ROW

#define ROW struct lks_change_order
static const struct lks_column order[] = {
    PASSING(digest, "Its digest."),
    PASSING(text, "The order."),
};
static const struct lks_entity order_table = {
    .name = "order",
    .about = "An order for an executor.",
    COLUMNS(order),
    LIST(lks_state_change, orders, order_count, order_room, LKS_CHANGE_ORDERS),
};
#undef ROW

#define ROW struct lks_plan_metric
static const struct lks_column metric[] = {
    TEXT(name, "Its name."),
    TEXT(pools, "The pools it is asked in; empty: all."),
    TEXT(query, "The query that measures it."),
    WORD(kind, lks_metric_kind_words, "The kind of number."),
    WORD(better, lks_metric_better_words, "Whether more of it is better, or less."),
    WORD(unit, lks_metric_unit_words, "Its unit."),
    WORD(source, lks_metric_source_words, "The source of its measurements."),
    TRUTH(critical, "Whether one failure of it is enough."),
    REAL(margin, "By how many percent it may be worse."),
    REAL(alpha, "The chance of an error that is accepted."),
    REAL(sigma, "How much it usually varies, in percent."),
    REAL(normal, "Events of a node in an hour that are normal."),
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
    TEXT(reference_load, "The load that its nodes have to have run."),
    NUMBER(min_load, "GPU-seconds that each changed node has to have run."),
    SPAN(min_soak, "How long at least a wave is watched."),
    SPAN(max_soak, "How long at most."),
    NUMBER(loss_budget, "Nodes that may be lost; 0: waves are as planned."),
};
static const struct lks_entity gate_table = {
    .name = "gate",
    .about = "The requirements of a change's gates for the nodes of one pool.",
    COLUMNS(gate),
    LIST(lks_state_change, gates, gate_count, gate_room, LKS_CHANGE_GATES),
};
#undef ROW

#define ROW struct lks_measure
static const struct lks_column measure[] = {
    NODE(node, "The node."),
    NUMBER(wave, "The wave for whose gate it is, by its place."),
    TEXT(metric, "The metric; empty: only load."),
    TRUTH(has_before, "Whether it was measured before the change."),
    TRUTH(has_after, "Whether it was measured after the change."),
    REAL(before, "The value before."),
    REAL(after, "The value after."),
    NUMBER(samples, "How many samples that rests on."),
    NUMBER(load, "GPU-seconds that the node ran."),
    NUMBER(events, "Events that were counted."),
    NUMBER(exposure, "Over how many seconds of work."),
    TIME(from, "From when it was measured."),
    TIME(until, "Until when."),
    TIME(at, "When it was recorded."),
    COUNTED(next, "The next measurement of the node."),
};
static const struct lks_entity measure_table = {
    .name = "measure",
    .about = "The last measurement of a node by one metric.",
    COLUMNS(measure),
    LIST(lks_state_change, measures, measure_count, measure_room, LKS_CHANGE_MEASURES),
};
#undef ROW

#define ROW struct lks_gate_look
static const struct lks_column look[] = {
    NUMBER(wave, "The wave, by its place."),
    TEXT(metric, "The metric; empty: all together."),
    NUMBER(look, "The number of this evaluation."),
    WORD(verdict, lks_gate_verdict_words, "The gate's verdict."),
    PASSING(text, "Why."),
    TIME(at, "When."),
};
static const struct lks_entity look_table = {
    .name = "look",
    .about = "The last verdict of a gate about a wave.",
    COLUMNS(look),
    LIST(lks_state_change, looks, look_count, look_room, LKS_CHANGE_LOOKS),
};
#undef ROW

#define ROW struct lks_state_change
static const struct lks_column change[] = {
    NUMBER(id, "Its number."),
    WORD(kind, lks_change_kind_words, "Its kind."),
    WORD(state, lks_change_state_words, "How far it is."),
    PASSING(hosts, "The nodes it is about."),
    TEXT(stack, "The digest of the stack it brings."),
    TEXT(name, "The name of that stack."),
    TEXT(windows, "The maintenance windows it may run in."),
    TEXT(by, "The actor who proposed it."),
    TEXT(reason, "Their reason."),
    TEXT(minters, "The people by whom their credential came to be."),
    TEXT(class, "Its class."),
    TEXT(advisory, "The vulnerability it is to close."),
    NUMBER(quorum, "People who have to approve it, for each pool."),
    TIME(expires, "When it expires without its approvals."),
    SPAN(approval_age, "How long an approval is good."),
    SPAN(review_age, "Within which time a start without approvals has to be reviewed."),
    TRUTH(needs_standby, "Whether a person has to stand by on site."),
    TEXT(standby, "The person who stands by."),
    NUMBER(failures_max, "Failures after which it halts."),
    TRUTH(rolls_back, "Whether it rolls back by itself."),
    TRUTH(one_way, "Whether a step of it cannot be rolled back."),
    TIME(not_before, "Before this it does not start."),
    TIME(not_after, "After this no member starts."),
    TIME(proposed, "When it was proposed."),
    TIME(started, "When it first ran."),
    TIME(moved, "Since when it is in this state."),
    TEXT(moved_by, "The actor who brought it there."),
    TEXT(moved_reason, "Their reason."),
    NAMED("glass_at", TIME, glass.at, "When it started without its approvals; 0: it did not."),
    NAMED("glass_until", TIME, glass.until, "Until when that has to be reviewed."),
    NAMED("glass_by", TEXT, glass.by, "The actor who started it so."),
    NAMED("glass_reason", TEXT, glass.reason, "Their reason."),
    NAMED("glass_minters", TEXT, glass.minters, "The people behind their credential."),
    NAMED("glass_reviewed", TIME, glass.reviewed, "When it was reviewed."),
    NAMED("glass_reviewed_by", TEXT, glass.reviewed_by, "The reviewer."),
    NAMED("glass_reviewed_reason", TEXT, glass.reviewed_reason, "Their finding."),
    NAMED("forecast_runs", NUMBER, forecast.runs, "Runs of its rehearsal; 0: there was none."),
    ARRAY("forecast_took", SPAN, forecast.took, 0, "How long they took: low, middle, high."),
    ARRAY("forecast_gpu_hours", NUMBER, forecast.gpu_hours, 0,
          "GPU-hours they cost: low, middle, high."),
    NAMED("forecast_kept", NUMBER, forecast.kept, "Nodes they kept out of service, high."),
    NAMED("forecast_reached", NUMBER, forecast.reached, "Nodes a bad stack reached, high."),
    NAMED("forecast_at", TIME, forecast.at, "When it was rehearsed."),
    NAMED("forecast_by", TEXT, forecast.by, "The actor who rehearsed it."),
    ARRAY("states", NUMBER, states, LKS_COLUMN_DERIVED, "Its members, by state."),
    COUNTED(failed, "Members that failed."),
    COUNTED(queued, "Members that a person wants tried again."),
};
static const struct lks_entity *const change_children[] = {
    &recipe_table, &wave_table, &unit_table,    &member_table, &order_table, &note_table,
    &metric_table, &gate_table, &measure_table, &look_table,   &vote_table,  &waiver_table,
};
const struct lks_entity lks_entity_change = {
    .name = "change",
    .about = "A change: its plan, and how far it is.",
    COLUMNS(change),
    CHILDREN(change_children),
    LIST(lks_state, changes, change_count, change_room, LKS_STATE_CHANGES_MAX),
};
#undef ROW

#define ROW struct lks_proven
static const struct lks_column proven[] = {
    TEXT(class, "The hardware class."),
    TEXT(from, "The stack it came from."),
    TEXT(to, "The stack it went to, and came back from."),
    TEXT(node, "The node."),
    NUMBER(change, "The change."),
    SPAN(took, "How long the rollback took."),
    TIME(at, "When it was done."),
};
const struct lks_entity lks_entity_proven = {
    .name = "proven",
    .about = "A rollback between two stacks that was exercised.",
    COLUMNS(proven),
    LIST(lks_state, proven, proven_count, proven_room, LKS_STATE_PROVEN_MAX),
};
#undef ROW
