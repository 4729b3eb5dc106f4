/* The fields of each kind of record, in the order of their bytes. */
/* Long because it is one table: the kinds, the fields of each, and what they mean. */
#include "model/record/record.h"

/* Each table is in the order of the bytes. The order never changes; what a later version adds
 * stands at the end with its `since`. */
#define FIELD(rec, member, key, type, words, about)                                                \
    {                                                                                              \
        key, LKS_RECORD_##type, offsetof(struct lks_rec_##rec, member), words, 1, about, false     \
    }
#define SINCE(version, rec, member, type, about)                                                   \
    {                                                                                              \
#member, LKS_RECORD_##type, offsetof(struct lks_rec_##rec, member), NULL, version, about,  \
            false                                                                                  \
    }
#define WORD_SINCE(version, rec, member, words, about)                                             \
    {                                                                                              \
#member, LKS_RECORD_WORD, offsetof(struct lks_rec_##rec, member), words, version, about,   \
            false                                                                                  \
    }
/* A text that is journaled and never shown. */
#define HIDDEN(rec, member, about)                                                                 \
    {                                                                                              \
#member, LKS_RECORD_TEXT, offsetof(struct lks_rec_##rec, member), NULL, 1, about, true     \
    }
#define TEXT(rec, member, about)        FIELD(rec, member, #member, TEXT, NULL, about)
#define NUMBER(rec, member, about)      FIELD(rec, member, #member, NUMBER, NULL, about)
#define TIME(rec, member, about)        FIELD(rec, member, #member, TIME, NULL, about)
#define TRUTH(rec, member, about)       FIELD(rec, member, #member, TRUTH, NULL, about)
#define WORD(rec, member, words, about) FIELD(rec, member, #member, WORD, words, about)
#define BY(rec)                         TEXT(rec, by, "The actor; lockstepd itself if missing.")
#define REASON(rec)                     TEXT(rec, reason, "Why, in their words.")
#define REASON_SINCE(version, rec)      SINCE(version, rec, reason, TEXT, "Why, in their words.")
#define NODE(rec)                       TEXT(rec, node, "The node.")
#define MINTERS(version, rec)                                                                      \
    SINCE(version, rec, minters, TEXT,                                                             \
          "The people by whom their credential came to be, separated by blanks.")
#define CREDENTIAL(version, rec)                                                                   \
    SINCE(version, rec, credential, TEXT,                                                          \
          "By which credential: token:ID, certificate:SERIAL, unix:UID, ticket:SYSTEM.")
#define ROW(version, rec)                                                                          \
    SINCE(version, rec, row, NUMBER,                                                               \
          "The row of the first such record of its decision, which the scheduler shows with a "    \
          "drain.")
#define ROOT(version, rec)                                                                         \
    SINCE(version, rec, root, TRUTH, "Whether that was root on a controller's own socket.")

static const struct lks_record_field begun_fields[] = {
    TEXT(begun, journal, "The journal's name for ever: 32 hexadecimal digits."),
    TEXT(begun, version, "The lockstep version that started it."),
};
static const struct lks_record_field started_fields[] = {
    TEXT(started, version, "The lockstep version that started."),
    TEXT(started, host, "The machine it runs on."),
};
static const struct lks_record_field limits_fields[] = {
    NUMBER(limits, heartbeat, "How often agents report, in milliseconds."),
    NUMBER(limits, late, "Silence after which a node is late, in milliseconds."),
    NUMBER(limits, lost, "Silence after which a node is lost, in milliseconds."),
    NUMBER(limits, mass_floor, "Nodes of a pool that may turn at once, however small it is."),
    NUMBER(limits, mass_percent, "Nodes of a pool that may turn at once, in percent."),
    NUMBER(limits, mass_window, "The time window for that, in milliseconds."),
    NUMBER(limits, skew, "How far a node's clock may be off, in milliseconds."),
    NUMBER(limits, call_nodes, "The most nodes in one call outside a change."),
    SINCE(2, limits, validity, NUMBER, "How long a yes of admission is good, in milliseconds."),
    SINCE(2, limits, staleness, NUMBER,
          "How far behind a controller may be and still admit, in milliseconds."),
    SINCE(2, limits, outband_age, NUMBER,
          "How long an out-of-band reading is good, in milliseconds."),
    SINCE(3, limits, yeses_until, TIME, "When the last yes given under longer limits has ended."),
    SINCE(4, limits, proposal_age, NUMBER,
          "How long a change waits for its approval, and then for its start, in milliseconds."),
};
static const struct lks_record_field clock_fields[] = {
    TIME(clock, wall, "The time of the machine's clock."),
    NUMBER(clock, forward, "How far it had jumped ahead of the journal, in milliseconds."),
    NUMBER(clock, back, "How far it had fallen behind the journal, in milliseconds."),
    TEXT(clock, text, "Its meaning, in a line."),
};
static const struct lks_record_field repaired_fields[] = {
    NUMBER(repaired, from, "The first row that was set aside."),
    NUMBER(repaired, count, "How many rows were set aside."),
    BY(repaired),
    REASON(repaired),
    TEXT(repaired, digest, "The digest of the bytes that were set aside."),
};
static const struct lks_record_field trimmed_fields[] = {
    NUMBER(trimmed, through, "The last row that went."),
    TEXT(trimmed, hash, "Its hash, behind which the chain goes on."),
    TEXT(trimmed, snapshot, "The digest of the snapshot that stands for what went."),
    BY(trimmed),
    SINCE(2, trimmed, signed_from, NUMBER, "The row from which every commit is signed; 0: none."),
};
static const struct lks_record_field signing_fields[] = {
    NUMBER(signing, from, "The row of this record: every commit from it on has a signed head."),
    NUMBER(signing, earlier, "Rows right before it that no signed head covered."),
};
static const struct lks_record_field fleet_fields[] = {
    TEXT(fleet, name, "The fleet."),
    TEXT(fleet, manifest, "The digest of the manifest that was applied."),
    BY(fleet),
    REASON_SINCE(2, fleet),
};
static const struct lks_record_field pool_fields[] = {
    TEXT(pool, name, "The pool."),
    TEXT(pool, posture, "Its workload class."),
    NUMBER(pool, criticality, "How much depends on it."),
    TEXT(pool, enforce, "observe, warn or on."),
    TEXT(pool, sched, "The scheduler its jobs come from."),
    TEXT(pool, stack, "The stack it is pinned to, by name and version."),
    TEXT(pool, stack_digest, "The digest of that stack."),
    BY(pool),
    SINCE(2, pool, on_drift, TEXT, "The reaction to drift: alarm, drain, propose."),
    SINCE(2, pool, deviations, TRUTH, "Whether nodes that run a deviation are admitted."),
    SINCE(2, pool, attested, TRUTH, "Whether nodes must be attested."),
    SINCE(2, pool, check_age, NUMBER, "How old the last active check may be, in milliseconds."),
    SINCE(2, pool, sweep, NUMBER, "How often it is read out of band, in milliseconds."),
    SINCE(3, pool, drain_refused, TRUTH, "Whether nodes that admission refuses are drained."),
};
static const struct lks_record_field pool_removed_fields[] = {
    TEXT(pool_removed, name, "The pool."),
    BY(pool_removed),
};
static const struct lks_record_field placed_fields[] = {
    TEXT(placed, hosts, "The nodes or assets, as a host list."),
    TEXT(placed, pool, "Their pool."),
    TEXT(placed, class, "Their hardware class."),
    TEXT(placed, asset, "Their asset class; missing for nodes."),
    TEXT(placed, site, "Their site."),
    TEXT(placed, rack, "Their rack."),
    TEXT(placed, domain, "The domain that changes together with them."),
    TEXT(placed, power_zone, "The power zone that they share."),
    TEXT(placed, cooling_loop, "The cooling loop that they share."),
    TEXT(placed, hardware_revision, "The revision of their board."),
    TEXT(placed, supplier, "The supplier."),
    TEXT(placed, side, "Their side of a redundant pair."),
    BY(placed),
};
static const struct lks_record_field removed_fields[] = {
    TEXT(removed, hosts, "The nodes or assets, as a host list."),
    BY(removed),
    REASON(removed),
};
static const struct lks_record_field token_fields[] = {
    TEXT(token, node, "The only node it enrols."),
    HIDDEN(token, hash, "The digest of the token's secret."),
    TIME(token, expires, "Until when it is good."),
    BY(token),
    REASON_SINCE(2, token),
};
static const struct lks_record_field enrolled_fields[] = {
    NODE(enrolled),
    TEXT(enrolled, fingerprint, "The digest of its certificate."),
    TEXT(enrolled, serial, "The serial number of its certificate."),
    TIME(enrolled, expires, "Until when the certificate is good."),
};
static const struct lks_record_field certified_fields[] = {
    NODE(certified),
    TEXT(certified, fingerprint, "The digest of its new certificate."),
    TEXT(certified, serial, "The serial number of its new certificate."),
    TIME(certified, expires, "Until when the certificate is good."),
};
static const struct lks_record_field revoked_fields[] = {
    TEXT(revoked, node, "The node whose certificates are no longer taken."),
    BY(revoked),
    REASON(revoked),
};
static const struct lks_record_field liveness_fields[] = {
    NODE(liveness),
    WORD(liveness, state, lks_liveness_words, "Whether it is heard from."),
};
static const struct lks_record_field booted_fields[] = {
    NODE(booted),
    TEXT(booted, boot, "The id of the boot it runs now."),
};
static const struct lks_record_field tuple_known_fields[] = {
    TEXT(tuple_known, digest, "The digest that stands for these readings."),
    TEXT(tuple_known, readings, "A list of [name, part, value], as JSON."),
};
static const struct lks_record_field tuple_fields[] = {
    NODE(tuple),
    TEXT(tuple, digest, "The digest of what it runs, as a tuple-known record has it."),
    TEXT(tuple, report, "The digest of the whole report."),
    TEXT(tuple, boot,
         "The boot it was read in; empty: unknown, or the node may have changed since."),
    TIME(tuple, taken, "When it was read, on the node's clock."),
    TEXT(tuple, stack, "The digest of the stack that it was compared with."),
    WORD(tuple, judged, lks_judged_words, "How it compares with that stack."),
    NUMBER(tuple, drifted, "How many parts drifted."),
    NUMBER(tuple, unmeasured, "How many parts were not measured."),
    TEXT(tuple, first, "The first thing that does not conform."),
    SINCE(2, tuple, basis, TEXT, "The digest of its in-band readings, as a basis record has it."),
    SINCE(2, tuple, whole, TEXT, "The digest of all readings on which the verdict is based."),
    SINCE(2, tuple, changed, TEXT, "The package manager's log lines about the difference."),
};
static const struct lks_record_field parts_fields[] = {
    NODE(parts),
    TEXT(parts, board, "The digest of its board's serial number."),
    TEXT(parts, gpus, "The digest of its GPUs' serial numbers."),
    TEXT(parts, nics, "The digest of its network adapters' serial numbers."),
    TEXT(parts, list, "The serial numbers as people read them."),
};
static const struct lks_record_field noted_fields[] = {
    NODE(noted),
    WORD(noted, note, lks_note_words, "The condition."),
    TRUTH(noted, on, "Whether it holds from now on, or no longer."),
    TEXT(noted, text, "The observation, in a line."),
};
static const struct lks_record_field intake_fields[] = {
    TEXT(intake, node, "The node that is not admissible until a person accepts it."),
    TEXT(intake, why, "The reason for the intake."),
};
static const struct lks_record_field accepted_fields[] = {
    TEXT(accepted, hosts, "The nodes that leave intake, as a host list."),
    BY(accepted),
    REASON(accepted),
};
static const struct lks_record_field held_fields[] = {
    TEXT(held, node, "The node that is put on hold."),
    BY(held),
    REASON(held),
    ROW(2, held),
};
static const struct lks_record_field unheld_fields[] = {
    TEXT(unheld, node, "The node that is no longer held."),
    BY(unheld),
    REASON(unheld),
};
static const struct lks_record_field replaced_fields[] = {
    TEXT(replaced, node, "The name that other hardware carries from now on."),
    BY(replaced),
    REASON(replaced),
};
static const struct lks_record_field barred_fields[] = {
    TEXT(barred, node, "The node whose machine was replaced."),
    TEXT(barred, fingerprint, "The digest of a certificate that the old machine has."),
    TIME(barred, expires, "Until when the certificate would be good."),
};
static const struct lks_record_field alarm_fields[] = {
    NUMBER(alarm, id, "The alarm's number."),
    /* In JSON `kind` is the kind of the record. */
    FIELD(alarm, kind, "alarm", WORD, lks_alarm_words, "The kind of alarm."),
    TEXT(alarm, subject, "The node or pool it is about."),
    TEXT(alarm, text, "The event, in a line."),
};
static const struct lks_record_field alarm_released_fields[] = {
    NUMBER(alarm_released, id, "The alarm's number."),
    BY(alarm_released),
    REASON(alarm_released),
};
static const struct lks_record_field mass_fields[] = {
    TEXT(mass, pool, "The pool in which acts wait from now on."),
    TEXT(mass, what, "The state that so many nodes changed to; without an alarm, a single node."),
    NUMBER(mass, count, "How many turned, each counted once."),
    NUMBER(mass, of, "How many there are."),
    NUMBER(mass, alarm, "The alarm whose release ends the wait."),
};
static const struct lks_record_field command_fields[] = {
    NUMBER(command, id, "The command's number."),
    NODE(command),
    TEXT(command, boot, "The only boot in which it may start."),
    TEXT(command, executor, "The executor that is to run."),
    TEXT(command, digests, "The artifacts it is given, separated by blanks."),
    NUMBER(command, attempt, "Which try this is."),
    TIME(command, expires, "The latest time at which it may start."),
    BY(command),
    REASON(command),
};
static const struct lks_record_field command_ended_fields[] = {
    NUMBER(command_ended, id, "The command's number."),
    NODE(command_ended),
    WORD(command_ended, outcome, lks_outcome_words, "How it ended."),
    TEXT(command_ended, text, "The text that the node reported, in a line."),
};
static const struct lks_record_field led_fields[] = {
    NUMBER(led, epoch, "Counts up with each that leads; what an older one appends is refused."),
    TEXT(led, name, "The controller that leads from here on."),
    TEXT(led, url, "Where it is asked."),
};
static const struct lks_record_field basis_fields[] = {
    TEXT(basis, digest, "The digest that stands for these readings."),
    TEXT(basis, readings, "A line for each: name, part, state and value, with tabs between."),
};
static const struct lks_record_field verdict_fields[] = {
    TEXT(verdict, basis, "The readings that were evaluated."),
    TEXT(verdict, stack, "The digest of the stack they were held against."),
    WORD(verdict, judged, lks_judged_words, "How they compare."),
    NUMBER(verdict, drifted, "How many parts drifted."),
    NUMBER(verdict, unmeasured, "How many parts were not measured."),
    TEXT(verdict, first, "The first thing that does not conform."),
    TEXT(verdict, wrong, "A line for each that does not: subject, cause, pinned, actual."),
    TEXT(verdict, values, "A line for each component: subject and value. A gang agrees in these."),
};
static const struct lks_record_field outband_fields[] = {
    TEXT(outband, node, "The node or asset."),
    TEXT(outband, basis, "The digest of the readings; missing: they are no longer valid."),
    TEXT(outband, whole, "The digest of all readings on which the verdict is based."),
    TEXT(outband, report, "The digest of the whole report."),
    TIME(outband, taken, "When it was read."),
    BY(outband),
    REASON(outband),
};
static const struct lks_record_field advertised_fields[] = {
    NODE(advertised),
    TEXT(advertised, gres, "The GPUs that the scheduler advertises; missing: none."),
    TEXT(advertised, state, "A further fault in what it advertises; missing: none."),
    TEXT(advertised, whole, "The digest of all readings on which the verdict is based."),
};
static const struct lks_record_field slot_fields[] = {
    TEXT(slot, pool, "The pool."),
    NUMBER(slot, slot, "The slot: the scheduler shows it as the feature lks0, lks1 or lks2."),
    TEXT(slot, digest, "The digest of the stack whose nodes show it from now on."),
};
static const struct lks_record_field drift_fields[] = {
    NODE(drift),
    TRUTH(drift, on, "Whether it drifts from now on, or no longer."),
    TEXT(drift, stack, "The digest of the stack it should run."),
    WORD(drift, cause, lks_drift_words, "The cause, if known."),
    TEXT(drift, text, "The difference, or how the node came to conform again."),
    TEXT(drift, evidence, "The digest of the report that shows it."),
};
static const struct lks_record_field condition_fields[] = {
    NODE(condition),
    WORD(condition, condition, lks_condition_words, "The condition that is set."),
    TRUTH(condition, on, "Whether it holds from now on, or no longer."),
    TIME(condition, until, "Attested: until when. Checked: when the check passed."),
    TEXT(condition, stack, "Changing: the stack it is going to."),
    BY(condition),
    TEXT(condition, text, "In a line."),
};
static const struct lks_record_field drained_fields[] = {
    NODE(drained),
    TEXT(drained, owner, "The only owner who may end it."),
    REASON(drained),
    ROW(2, drained),
};
static const struct lks_record_field undrained_fields[] = {
    NODE(undrained),
    TEXT(undrained, owner, "The owner of the drain."),
    REASON(undrained),
};
static const struct lks_record_field published_fields[] = {
    TEXT(published, digest, "The stack's digest."),
    TEXT(published, name, "Its name."),
    TEXT(published, manifest, "The digest of the file it came in."),
    TEXT(published, envelope, "Our signature over it (DSSE)."),
    TEXT(published, artifacts, "The artifacts it names, separated by blanks."),
    BY(published),
    REASON(published),
    MINTERS(2, published),
};
static const struct lks_record_field stepped_fields[] = {
    TEXT(stepped, digest, "The stack's digest."),
    WORD(stepped, step, lks_step_words, "How far it is now."),
    TEXT(stepped, evidence, "The evidence."),
    BY(stepped),
    CREDENTIAL(2, stepped),
};
static const struct lks_record_field image_fields[] = {
    TEXT(image, ref, "The reference that jobs use."),
    TEXT(image, digest, "Its digest, where it is known."),
    TEXT(image, nccl, "The NCCL in it."),
    TEXT(image, rccl, "The RCCL in it."),
    TEXT(image, cudnn, "The cuDNN in it."),
    TEXT(image, cuda, "The CUDA in it."),
    TEXT(image, source, "How that is known."),
    BY(image),
    REASON_SINCE(2, image),
};
static const struct lks_record_field image_gone_fields[] = {
    TEXT(image_gone, ref, "The reference that jobs used."),
    BY(image_gone),
    REASON(image_gone),
};
static const struct lks_record_field artifact_fields[] = {
    TEXT(artifact, digest, "The digest of its bytes."),
    TEXT(artifact, name, "The file it came from."),
    NUMBER(artifact, size, "How many bytes."),
    BY(artifact),
};
static const struct lks_record_field artifact_gone_fields[] = {
    TEXT(artifact_gone, digest, "The digest of its bytes."),
    BY(artifact_gone),
    REASON(artifact_gone),
};
static const struct lks_record_field key_pinned_fields[] = {
    TEXT(key_pinned, name, "The name of the key."),
    TEXT(key_pinned, key, "The public key."),
    BY(key_pinned),
    REASON(key_pinned),
};
static const struct lks_record_field key_gone_fields[] = {
    TEXT(key_gone, name, "The name of the key."),
    BY(key_gone),
    REASON(key_gone),
};
static const struct lks_record_field bundle_fields[] = {
    TEXT(bundle, digest, "The bundle's digest."),
    TEXT(bundle, name, "Its name."),
    TEXT(bundle, version, "Its version."),
    TEXT(bundle, manifest, "The digest of its manifest, which is kept."),
    TEXT(bundle, signer, "The pinned key its signature is good for."),
    TEXT(bundle, key, "That key's fingerprint."),
    TEXT(bundle, artifacts, "The artifacts it names, separated by blanks."),
    TRUTH(bundle, site, "The site signed it itself."),
    BY(bundle),
    REASON_SINCE(2, bundle),
};
static const struct lks_record_field bundle_revoked_fields[] = {
    TEXT(bundle_revoked, digest, "The bundle's digest."),
    BY(bundle_revoked),
    REASON(bundle_revoked),
};
static const struct lks_record_field endpoint_fields[] = {
    NODE(endpoint),
    TEXT(endpoint, fingerprint, "The fingerprint; missing: it is no longer trusted."),
    BY(endpoint),
    REASON(endpoint),
};
static const struct lks_record_field flash_fields[] = {
    NUMBER(flash, id, "Its number."),
    NODE(flash),
    WORD(flash, act, lks_bmc_act_words, "The act."),
    TEXT(flash, component, "The class of firmware, or the entry of the endpoint's inventory."),
    TEXT(flash, version, "The version to install."),
    TEXT(flash, bundle, "The bundle the image is from."),
    TEXT(flash, image, "The image."),
    NUMBER(flash, size, "How many bytes that has."),
    TEXT(flash, image_name, "The file it came from."),
    TEXT(flash, apply_time, "When the endpoint is to apply it; missing: by what it offers."),
    TRUTH(flash, force, "An older version is meant."),
    TRUTH(flash, one_way, "The irreversibility was acknowledged."),
    TIME(flash, deadline, "When it is given up."),
    BY(flash),
    REASON(flash),
};
static const struct lks_record_field flash_saved_fields[] = {
    NUMBER(flash_saved, id, "The update."),
    TEXT(flash_saved, saved, "The checkpoint from which the driver continues after a restart."),
    TEXT(flash_saved, phase, "How far it is, in words."),
    NUMBER(flash_saved, percent, "The same in percent."),
};
static const struct lks_record_field flash_ended_fields[] = {
    NUMBER(flash_ended, id, "The update."),
    NODE(flash_ended),
    WORD(flash_ended, outcome, lks_bmc_outcome_words, "How it ended."),
    TEXT(flash_ended, found, "The version that was read last."),
    TEXT(flash_ended, text, "Why it ended so."),
    NUMBER(flash_ended, uploads, "How often the image was sent."),
};
static const struct lks_record_field flash_resolved_fields[] = {
    NUMBER(flash_resolved, id, "The update."),
    NODE(flash_resolved),
    BY(flash_resolved),
    REASON(flash_resolved),
};
static const struct lks_record_field change_fields[] = {
    NUMBER(change, id, "Its number."),
    FIELD(change, kind, "what", WORD, lks_change_kind_words, "The kind of change."),
    TEXT(change, hosts, "The nodes it was asked for."),
    TEXT(change, stack, "The stack they are to run."),
    TEXT(change, name, "Its name; or the version of the agent they are to run."),
    NUMBER(change, failures_max, "Nodes that may fail before it is halted."),
    TRUTH(change, rolls_back, "The change is rolled back as soon as it is halted."),
    TRUTH(change, one_way, "The irreversible steps were acknowledged."),
    TIME(change, not_before, "No node is changed earlier."),
    TIME(change, not_after, "The change of no node starts later."),
    TEXT(change, windows, "Hours of the week in which changes may start, in the site's time."),
    BY(change),
    REASON(change),
    SINCE(2, change, class, TEXT, "Its class of change."),
    SINCE(2, change, advisory, TEXT, "The advisory it is to close."),
    SINCE(2, change, quorum, NUMBER, "How many people have to approve it, for each of its pools."),
    SINCE(2, change, expires, TIME, "A proposal that is not approved by then expires."),
    SINCE(2, change, approval_age, NUMBER, "How long an approval is good, in milliseconds."),
    SINCE(2, change, review_age, NUMBER,
          "Time to review a change that started without approvals, in milliseconds."),
    SINCE(2, change, standby, TRUTH, "The start must name a person on standby at the site."),
    MINTERS(3, change),
};
static const struct lks_record_field plan_step_fields[] = {
    NUMBER(plan_step, change, "The change."),
    NUMBER(plan_step, recipe, "The recipe, a list of steps."),
    NUMBER(plan_step, index, "Its place there."),
    FIELD(plan_step, kind, "does", WORD, lks_step_kind_words, "The kind of step."),
    NUMBER(plan_step, rank, "Nodes of a domain do steps of one rank together."),
    NUMBER(plan_step, layer, "The layer it changes."),
    TEXT(plan_step, component, "The component that it changes."),
    TEXT(plan_step, version, "The target version."),
    TEXT(plan_step, before, "The version before."),
    TEXT(plan_step, executor, "The executor of the node that does it."),
    TEXT(plan_step, order, "The order for the executor."),
    TEXT(plan_step, order_back, "The order that reverts it."),
    TEXT(plan_step, artifacts, "The artifacts that it needs from the depot."),
    TEXT(plan_step, artifacts_back, "The artifacts that the revert needs."),
    TEXT(plan_step, bundle, "The bundle the image is from."),
    TEXT(plan_step, image, "The image."),
    TEXT(plan_step, bundle_back, "The bundle of the image before."),
    TEXT(plan_step, image_back, "The image before."),
    WORD(plan_step, revert, lks_bmc_act_words, "The act that reverts an update."),
    TRUTH(plan_step, one_way, "The step cannot be rolled back."),
    NUMBER(plan_step, limit, "How long it may take, in milliseconds."),
    NUMBER(plan_step, retries, "How often it may be tried again."),
    WORD_SINCE(2, plan_step, jobs, lks_drain_jobs_words,
               "The permitted acts on jobs of a node that drains."),
    SINCE(2, plan_step, signal, TEXT, "The signal that a job gets before it is requeued."),
    SINCE(2, plan_step, grace, NUMBER,
          "How long a job has after the signal before it is requeued, in milliseconds."),
    SINCE(3, plan_step, missing, TEXT,
          "The files without which the step cannot be rolled back: no verified bundle of the depot "
          "had them."),
};
static const struct lks_record_field plan_wave_fields[] = {
    NUMBER(plan_wave, change, "The change."),
    NUMBER(plan_wave, index, "Its place."),
    FIELD(plan_wave, kind, "for", WORD, lks_wave_kind_words, "The kind of wave."),
    TEXT(plan_wave, pool, "Whose nodes it has; those of several pools where missing."),
    NUMBER(plan_wave, width, "Nodes and domains that may be changed and not yet proven."),
    NUMBER(plan_wave, soak, "How long it is watched, in milliseconds."),
    NUMBER(plan_wave, failures_max, "Nodes of it that may fail."),
    TEXT(plan_wave, controls, "Nodes like those that do not change meanwhile."),
    SINCE(2, plan_wave, width_text, TEXT, "The limit that decided the width."),
};
static const struct lks_record_field plan_part_fields[] = {
    NUMBER(plan_part, change, "The change."),
    NUMBER(plan_part, wave, "In which wave."),
    NUMBER(plan_part, recipe, "By which list of steps."),
    TEXT(plan_part, domain, "The domain that changes together."),
    TEXT(plan_part, from, "The stack they come from."),
    TRUTH(plan_part, proves, "They roll back once in between, to exercise the rollback."),
    TEXT(plan_part, hosts, "The nodes or assets."),
};
static const struct lks_record_field plan_order_fields[] = {
    NUMBER(plan_order, change, "The change."),
    TEXT(plan_order, digest, "Its digest."),
    TEXT(plan_order, text, "The order for an executor."),
};
static const struct lks_record_field plan_note_fields[] = {
    NUMBER(plan_note, change, "The change."),
    FIELD(plan_note, kind, "about", WORD, lks_plan_note_words, "The subject of the note."),
    TEXT(plan_note, text, "A note for approvers."),
};
static const struct lks_record_field change_voted_fields[] = {
    NUMBER(change_voted, change, "Which change."),
    TRUTH(change_voted, yes, "Whether it was approved."),
    BY(change_voted),
    REASON(change_voted),
    CREDENTIAL(2, change_voted),
    MINTERS(2, change_voted),
};
static const struct lks_record_field change_moved_fields[] = {
    NUMBER(change_moved, change, "Which change."),
    WORD(change_moved, state, lks_change_state_words, "The new state."),
    BY(change_moved),
    REASON(change_moved),
    SINCE(2, change_moved, standby, TEXT, "The person on standby at the site from here on."),
    SINCE(3, change_moved, starts, TRUTH, "The change starts: it runs for the first time."),
};
static const struct lks_record_field wave_fields[] = {
    NUMBER(wave, change, "The change."),
    NUMBER(wave, index, "Which wave."),
    WORD(wave, state, lks_wave_state_words, "The state of the wave."),
    TIME(wave, until, "The earliest time of the gate's next evaluation."),
    TEXT(wave, text, "Why."),
};
static const struct lks_record_field member_fields[] = {
    NUMBER(member, change, "In which change."),
    NODE(member),
    WORD(member, state, lks_member_state_words, "The state of the member."),
    NUMBER(member, step, "At which step."),
    TRUTH(member, back, "The member is rolling back."),
    NUMBER(member, pass, "1: the rollback is exercised, 2: the change is applied again."),
    NUMBER(member, attempt, "How often the step was tried."),
    TIME(member, until, "Its deadline, or when it is tried again."),
    NUMBER(member, work, "The command or update in progress."),
    WORD(member, failure, lks_failure_words, "The last failure."),
    TEXT(member, text, "The same in words."),
    SINCE(2, member, by, TEXT, "The identity that decided; missing if it follows from events."),
    SINCE(3, member, reached, NUMBER,
          "The number of steps that may have been done before the node was drained again; "
          "4294967295: unknown, the member failed in its rollback."),
};
static const struct lks_record_field revert_proven_fields[] = {
    TEXT(revert_proven, class, "The hardware class."),
    TEXT(revert_proven, from, "The stack that it rolled back to."),
    TEXT(revert_proven, to, "The stack that it rolled back from."),
    NUMBER(revert_proven, change, "In which change."),
    NUMBER(revert_proven, took, "The duration of the rollback, in milliseconds."),
    NODE(revert_proven),
};
static const struct lks_record_field frozen_fields[] = {
    TEXT(frozen, pool, "The pool; the whole fleet where missing."),
    TRUTH(frozen, on, "True: no further node is changed there. False: changes continue."),
    BY(frozen),
    REASON(frozen),
};
static const struct lks_record_field vote_withdrawn_fields[] = {
    NUMBER(vote_withdrawn, change, "Which change."),
    BY(vote_withdrawn),
    REASON(vote_withdrawn),
};
static const struct lks_record_field glass_broken_fields[] = {
    NUMBER(glass_broken, change, "Which change."),
    TIME(glass_broken, until, "When another person has to have reviewed it."),
    BY(glass_broken),
    REASON(glass_broken),
    MINTERS(2, glass_broken),
};
static const struct lks_record_field reviewed_fields[] = {
    NUMBER(reviewed, change, "Which change."),
    BY(reviewed),
    REASON(reviewed),
    CREDENTIAL(2, reviewed),
};
static const struct lks_record_field waived_fields[] = {
    NUMBER(waived, change, "The change."),
    TEXT(waived, gate, "Which gate, or which of its metrics."),
    TIME(waived, until, "How long it is not asked."),
    BY(waived),
    REASON(waived),
    SINCE(2, waived, pool, TEXT,
          "Behind nodes of this pool alone; where missing, of all that they may approve for."),
    CREDENTIAL(3, waived),
};
static const struct lks_record_field plan_metric_fields[] = {
    NUMBER(plan_metric, change, "The change."),
    TEXT(plan_metric, name, "The name of the metric."),
    TEXT(plan_metric, pools, "The pools whose nodes it is of, separated by blanks."),
    FIELD(plan_metric, kind, "what", WORD, lks_metric_kind_words, "The kind of metric."),
    WORD(plan_metric, better, lks_metric_better_words, "Which way is better."),
    WORD(plan_metric, unit, lks_metric_unit_words, "The unit of a sample."),
    TEXT(plan_metric, margin, "How much worse it may be, in percent."),
    TRUTH(plan_metric, critical, "No data is no pass."),
    TEXT(plan_metric, query, "The PromQL it comes from."),
    WORD(plan_metric, source, lks_metric_source_words, "The source of the metric."),
    TEXT(plan_metric, alpha,
         "The chance of being wrong that the verdict on a wave may have: its least one counts."),
    TEXT(plan_metric, sigma, "How far nodes differ in what they changed by, in percent."),
    SINCE(2, plan_metric, normal, TEXT, "How many events a node normally has in an hour."),
};
static const struct lks_record_field plan_gate_fields[] = {
    NUMBER(plan_gate, change, "The change."),
    TEXT(plan_gate, pool, "The pool whose nodes it is for."),
    NUMBER(plan_gate, min_load, "GPU-seconds under load that each changed node needs."),
    NUMBER(plan_gate, min_soak, "How long a wave is watched at least, in milliseconds."),
    NUMBER(plan_gate, max_soak, "After how long a person decides, in milliseconds."),
    NUMBER(plan_gate, loss_budget, "The loss budget: nodes that the next ones to start may cost."),
    TEXT(plan_gate, reference_load, "The site hook that puts nodes under load."),
};
static const struct lks_record_field measured_fields[] = {
    NUMBER(measured, change, "The change."),
    NUMBER(measured, wave, "For the gate behind which wave."),
    NODE(measured),
    TEXT(measured, metric, "The metric; missing: only the reference load."),
    TEXT(measured, before, "The value before; missing: no data."),
    TEXT(measured, after, "The value since; missing: no data."),
    NUMBER(measured, samples, "Samples behind what it is since."),
    TIME(measured, from, "The first of them."),
    TIME(measured, until, "The last of them."),
    NUMBER(measured, load, "GPU-seconds under load since it returned."),
    NUMBER(measured, events, "Events since it returned."),
    NUMBER(measured, exposure,
           "The time until the first of them, or in which there was none, in "
           "milliseconds."),
};
static const struct lks_record_field gate_looked_fields[] = {
    NUMBER(gate_looked, change, "The change."),
    NUMBER(gate_looked, wave, "At which wave."),
    TEXT(gate_looked, metric, "By which metric; by all where missing."),
    NUMBER(gate_looked, look, "How many times by now."),
    WORD(gate_looked, verdict, lks_gate_verdict_words, "The verdict."),
    TEXT(gate_looked, text, "Why."),
};
static const struct lks_record_field wave_limit_fields[] = {
    NUMBER(wave_limit, change, "The change."),
    NUMBER(wave_limit, wave, "Which wave."),
    NUMBER(wave_limit, limit, "Units of the wave that may have started; all if missing."),
    TEXT(wave_limit, text, "Why so many."),
};
static const struct lks_record_field lowered_fields[] = {
    TEXT(lowered, pool, "The pool."),
    TEXT(lowered, text, "The reduction, in a line."),
    BY(lowered),
    MINTERS(2, lowered),
};
static const struct lks_record_field forecast_fields[] = {
    NUMBER(forecast, change, "The change."),
    NUMBER(forecast, runs, "How many runs it rests on."),
    NUMBER(forecast, took_low, "Duration in milliseconds, 5th percentile of the runs."),
    NUMBER(forecast, took_middle, "Duration, median."),
    NUMBER(forecast, took_high, "Duration, 95th percentile."),
    NUMBER(forecast, gpu_hours_low, "GPU-hours out of service, 5th percentile of the runs."),
    NUMBER(forecast, gpu_hours_middle, "GPU-hours out of service, median."),
    NUMBER(forecast, gpu_hours_high, "GPU-hours out of service, 95th percentile."),
    NUMBER(forecast, kept_high, "Nodes left to a person, 95th percentile."),
    NUMBER(forecast, reached_high,
           "Nodes that a bad image reaches before it is stopped, 95th percentile."),
    BY(forecast),
};

#include "model/record/record_fields_jobs.h"
#include "model/record/record_fields_people.h"

/* What each kind says, for the reference page. */
#define ABOUT_begun        "The first record of a journal."
#define ABOUT_started      "A daemon took the journal up."
#define ABOUT_limits       "The limits that hold from here on."
#define ABOUT_clock        "The machine's clock jumped; the journal's clock never does."
#define ABOUT_repaired     "Damaged rows were set aside."
#define ABOUT_trimmed      "Old rows were removed; the chain goes on behind the last of them."
#define ABOUT_signing      "Every commit is signed from here on."
#define ABOUT_fleet        "A fleet manifest was applied; its changes are the records beside."
#define ABOUT_pool         "A pool has these properties."
#define ABOUT_pool_removed "A pool is gone."
#define ABOUT_placed       "Nodes or assets are at these places."
#define ABOUT_removed      "Nodes or assets are gone."
#define ABOUT_token        "A token for enrolling one node was made."
#define ABOUT_enrolled     "A node used its token and has a certificate."
#define ABOUT_certified    "A node renewed its certificate."
#define ABOUT_revoked      "The certificates of a node are no longer taken."
#define ABOUT_liveness     "A node turned live, late or lost."
#define ABOUT_booted       "A node runs another boot."
#define ABOUT_tuple_known                                                                          \
    "Readings that no node had before; later records name them by their digest."
#define ABOUT_tuple          "The tuple of a node, and its verdict."
#define ABOUT_parts          "The serial numbers of a node's parts, kept as digests."
#define ABOUT_noted          "A condition of a node started or ended."
#define ABOUT_intake         "A node entered intake."
#define ABOUT_accepted       "Nodes were accepted out of intake."
#define ABOUT_held           "A node is held."
#define ABOUT_unheld         "A node is no longer held."
#define ABOUT_replaced       "A node's hardware was replaced on purpose."
#define ABOUT_barred         "A certificate of a machine that was replaced is not taken any more."
#define ABOUT_alarm          "An alarm was raised."
#define ABOUT_alarm_released "An alarm was released."
#define ABOUT_mass           "So many nodes turned at once that acts wait for a person."
#define ABOUT_command        "A command for an agent was issued."
#define ABOUT_command_ended  "A command ended."
#define ABOUT_led            "A controller leads from here on."
#define ABOUT_basis          "Readings that no node had before; later records name them by digest."
#define ABOUT_verdict        "How readings compare with a stack, for all nodes that have them."
#define ABOUT_outband        "The out-of-band readings of a node or asset, or their end."
#define ABOUT_slot           "A slot of a pool is given to a stack."
#define ABOUT_advertised     "A scheduler advertises other GPUs of a node than before."
#define ABOUT_drift          "A node started to differ from its intent, or conforms again."
#define ABOUT_condition      "A condition of a node that admission evaluates."
#define ABOUT_drained        "A node is to take no new work."
#define ABOUT_undrained      "Its owner ended a drain."
#define ABOUT_published      "A stack is in the registry."
#define ABOUT_stepped        "A stack went a step further in its life."
#define ABOUT_image          "The libraries in an image of jobs."
#define ABOUT_image_gone     "An image is no longer known."
#define ABOUT_artifact       "An artifact is in the depot."
#define ABOUT_artifact_gone  "An artifact was collected."
#define ABOUT_key_pinned     "A key is trusted to sign bundles."
#define ABOUT_key_gone       "A key is no longer trusted; what it was good for before stays."
#define ABOUT_bundle         "A bundle was found good: its artifacts may be staged."
#define ABOUT_bundle_revoked "A bundle is no longer good."
#define ABOUT_endpoint       "A certificate by which a management endpoint is known."
#define ABOUT_flash          "An update by a management endpoint starts."
#define ABOUT_flash_saved    "The progress of an update; written before the next act starts."
#define ABOUT_flash_ended    "The update ended."
#define ABOUT_flash_resolved "A person marked one with unknown outcome as resolved."
#define ABOUT_change         "A change was proposed; the records beside are its plan."
#define ABOUT_plan_step      "A step of a plan, for all nodes of one kind."
#define ABOUT_plan_wave      "A wave of a plan."
#define ABOUT_plan_part      "Nodes or assets of a plan."
#define ABOUT_plan_order     "The exact order for an executor."
#define ABOUT_plan_note      "A note for the approvers of a plan."
#define ABOUT_change_voted   "A person approved or rejected a change."
#define ABOUT_change_moved   "A change proceeded, was stopped, or finished."
#define ABOUT_wave           "A wave started, soaks, passed or was stopped."
#define ABOUT_member         "The state of a node in a change."
#define ABOUT_revert_proven  "The rollback was exercised once, on this hardware."
#define ABOUT_frozen         "A freeze by a person started or ended."
#define ABOUT_vote_withdrawn "A person withdrew their approval."
#define ABOUT_glass_broken   "A change started without its approvals: its rings wait for them."
#define ABOUT_reviewed       "Another person reviewed a change that started without its approvals."
#define ABOUT_waived         "An approver let a gate of a change go unasked for a while."
#define ABOUT_plan_metric    "A metric of a plan's gate, and its margin."
#define ABOUT_plan_gate      "The other requirements of a plan's gates."
#define ABOUT_measured       "A measurement of a node, for the gate after a wave."
#define ABOUT_gate_looked    "The result of a gate's evaluation of a wave."
#define ABOUT_wave_limit     "How many units of a wave may start, by the evidence so far."
#define ABOUT_lowered        "The fleet's file asks less of changes of a pool than the one before."
#define ABOUT_forecast       "The forecast of a rehearsal of a change."

enum { /* the place of each kind in the tables */
#define X(number, NAME, member, word) PLACE_##NAME,
       LKS_RECORDS(X)
#undef X
           PLACE_COUNT
};

const struct lks_record_info lks_record_infos[] = {
#define X(number, NAME, member, word)                                                              \
    {LKS_RECORD_##NAME, word, member##_fields, LKS_COUNT(member##_fields), ABOUT_##member},
    LKS_RECORDS(X)
#undef X
};
const size_t lks_record_info_count = PLACE_COUNT;

const struct lks_record_info *lks_record_info(unsigned kind)
{
    static const unsigned char places[] = {
#define X(number, NAME, member, word) [number] = PLACE_##NAME + 1,
        LKS_RECORDS(X)
#undef X
    };
    if (kind >= LKS_COUNT(places) || places[kind] == 0)
        return NULL;
    return &lks_record_infos[places[kind] - 1];
}
