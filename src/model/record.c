#include "model/record.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    LEB_MAX = 10, /* bytes of the largest number */
    LEB_BITS = 7,
    LEB_MORE = 0x80,
};

/* Each table is in the order of the bytes. The order never changes; what a later version adds
 * stands at the end with its `since`. */
#define FIELD(rec, member, key, type, words, about)                                                \
    {                                                                                              \
        key, LKS_RECORD_##type, offsetof(struct lks_rec_##rec, member), words, 1, about            \
    }
#define SINCE(version, rec, member, type, about)                                                   \
    {                                                                                              \
#member, LKS_RECORD_##type, offsetof(struct lks_rec_##rec, member), NULL, version, about   \
    }
#define TEXT(rec, member, about)        FIELD(rec, member, #member, TEXT, NULL, about)
#define NUMBER(rec, member, about)      FIELD(rec, member, #member, NUMBER, NULL, about)
#define TIME(rec, member, about)        FIELD(rec, member, #member, TIME, NULL, about)
#define TRUTH(rec, member, about)       FIELD(rec, member, #member, TRUTH, NULL, about)
#define WORD(rec, member, words, about) FIELD(rec, member, #member, WORD, words, about)
#define BY(rec)                         TEXT(rec, by, "Who did it; lockstepd itself where missing.")
#define REASON(rec)                     TEXT(rec, reason, "Why, in their words.")
#define NODE(rec)                       TEXT(rec, node, "The node.")

static const struct lks_record_field begun_fields[] = {
    TEXT(begun, journal, "The journal's name for ever: 32 hexadecimal digits."),
    TEXT(begun, version, "The lockstep version that began it."),
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
    NUMBER(limits, mass_window, "What at once means, in milliseconds."),
    NUMBER(limits, skew, "How far a node's clock may be off, in milliseconds."),
    NUMBER(limits, call_nodes, "The most nodes in one call outside a change."),
    SINCE(2, limits, validity, NUMBER, "How long a yes of admission is good, in milliseconds."),
    SINCE(2, limits, staleness, NUMBER,
          "How far behind a controller may be and still admit, in milliseconds."),
    SINCE(2, limits, outband_age, NUMBER,
          "How long an out-of-band reading is good, in milliseconds."),
    SINCE(3, limits, yeses_until, TIME, "When the last yes given under longer limits has ended."),
};
static const struct lks_record_field clock_fields[] = {
    TIME(clock, wall, "What the machine's clock said."),
    NUMBER(clock, forward, "How far it had jumped ahead of the journal, in milliseconds."),
    NUMBER(clock, back, "How far it had fallen behind the journal, in milliseconds."),
    TEXT(clock, text, "What that means, in a line."),
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
};
static const struct lks_record_field fleet_fields[] = {
    TEXT(fleet, name, "The fleet."),
    TEXT(fleet, manifest, "The digest of the manifest that was applied."),
    BY(fleet),
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
    SINCE(2, pool, on_drift, TEXT, "What is done about drift: alarm, drain, propose."),
    SINCE(2, pool, deviations, TRUTH, "Whether nodes that run a deviation are admitted."),
    SINCE(2, pool, attested, TRUTH, "Whether nodes must be attested."),
    SINCE(2, pool, check_age, NUMBER, "How old the last active check may be, in milliseconds."),
    SINCE(2, pool, sweep, NUMBER, "How often it is read out of band, in milliseconds."),
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
    TEXT(placed, domain, "What changes together with them."),
    TEXT(placed, power_zone, "What they lose power with."),
    TEXT(placed, cooling_loop, "What they lose cooling with."),
    TEXT(placed, hardware_revision, "The revision of their board."),
    TEXT(placed, supplier, "Who built them."),
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
    TEXT(token, hash, "The digest of the token's secret."),
    TIME(token, expires, "Until when it is good."),
    BY(token),
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
    TEXT(tuple, boot, "The boot it was read in."),
    TIME(tuple, taken, "When it was read, on the node's clock."),
    TEXT(tuple, stack, "The digest of the stack it was judged against."),
    WORD(tuple, judged, lks_judged_words, "How it compares with that stack."),
    NUMBER(tuple, drifted, "How many parts drifted."),
    NUMBER(tuple, unmeasured, "How many parts were not measured."),
    TEXT(tuple, first, "The first thing that does not conform."),
    SINCE(2, tuple, basis, TEXT, "The digest of its in-band readings, as a basis record has it."),
    SINCE(2, tuple, whole, TEXT, "The same of all readings, which it is judged by."),
    SINCE(2, tuple, changed, TEXT, "What the log of the package manager says of what differs."),
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
    TEXT(noted, text, "What was seen, in a line."),
};
static const struct lks_record_field intake_fields[] = {
    TEXT(intake, node, "The node that is not admissible until a person accepts it."),
    TEXT(intake, why, "What brought it here."),
};
static const struct lks_record_field accepted_fields[] = {
    TEXT(accepted, hosts, "The nodes that leave intake, as a host list."),
    BY(accepted),
    REASON(accepted),
};
static const struct lks_record_field held_fields[] = {
    TEXT(held, node, "The node that is kept out of use."),
    BY(held),
    REASON(held),
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
static const struct lks_record_field alarm_fields[] = {
    NUMBER(alarm, id, "The alarm's number."),
    /* In JSON `kind` is the kind of the record. */
    FIELD(alarm, kind, "alarm", WORD, lks_alarm_words, "What it is about."),
    TEXT(alarm, subject, "The node or pool it is about."),
    TEXT(alarm, text, "What happened, in a line."),
};
static const struct lks_record_field alarm_released_fields[] = {
    NUMBER(alarm_released, id, "The alarm's number."),
    BY(alarm_released),
    REASON(alarm_released),
};
static const struct lks_record_field mass_fields[] = {
    TEXT(mass, pool, "The pool in which acts wait from now on."),
    TEXT(mass, what, "What so many nodes turned; without an alarm, a node that did."),
    NUMBER(mass, count, "How many turned, each counted once."),
    NUMBER(mass, of, "How many there are."),
    NUMBER(mass, alarm, "The alarm whose release ends the wait."),
};
static const struct lks_record_field granted_fields[] = {
    TEXT(granted, identity, "Who may."),
    WORD(granted, role, lks_role_words, "What they may."),
    TEXT(granted, site, "At this site only."),
    TEXT(granted, pool, "In this pool only."),
    BY(granted),
};
static const struct lks_record_field ungranted_fields[] = {
    TEXT(ungranted, identity, "Who may no longer."),
    WORD(ungranted, role, lks_role_words, "What they might."),
    TEXT(ungranted, site, "At this site only."),
    TEXT(ungranted, pool, "In this pool only."),
    BY(ungranted),
};
static const struct lks_record_field api_token_fields[] = {
    TEXT(api_token, id, "The token's name."),
    TEXT(api_token, identity, "Who shows it."),
    TEXT(api_token, hash, "The digest of the token's secret."),
    TIME(api_token, expires, "Until when it is good; for ever where missing."),
    BY(api_token),
};
static const struct lks_record_field api_token_gone_fields[] = {
    TEXT(api_token_gone, id, "The token that is no longer taken."),
    BY(api_token_gone),
};
static const struct lks_record_field command_fields[] = {
    NUMBER(command, id, "The command's number."),
    NODE(command),
    TEXT(command, boot, "The only boot in which it may begin."),
    TEXT(command, executor, "The executor that is to run."),
    TEXT(command, digests, "The artifacts it is given, separated by blanks."),
    NUMBER(command, attempt, "Which try this is."),
    TIME(command, expires, "Until when it may begin."),
    BY(command),
    REASON(command),
};
static const struct lks_record_field command_ended_fields[] = {
    NUMBER(command_ended, id, "The command's number."),
    NODE(command_ended),
    WORD(command_ended, outcome, lks_outcome_words, "How it ended."),
    TEXT(command_ended, text, "What the node said, in a line."),
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
    TEXT(verdict, basis, "The readings that were judged."),
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
    TEXT(outband, basis, "The digest of what was read; missing: that is over."),
    TEXT(outband, whole, "The same of all readings, which it is judged by."),
    TEXT(outband, report, "The digest of the whole report."),
    TIME(outband, taken, "When it was read."),
    BY(outband),
    REASON(outband),
};
static const struct lks_record_field drift_fields[] = {
    NODE(drift),
    TRUTH(drift, on, "Whether it drifts from now on, or no longer."),
    TEXT(drift, stack, "The digest of the stack it should run."),
    WORD(drift, cause, lks_drift_words, "Why, where it can be told."),
    TEXT(drift, text, "What differs, or how it came right again."),
    TEXT(drift, evidence, "The digest of the report that shows it."),
};
static const struct lks_record_field condition_fields[] = {
    NODE(condition),
    WORD(condition, condition, lks_condition_words, "What is said of it."),
    TRUTH(condition, on, "Whether it holds from now on, or no longer."),
    TIME(condition, until, "Attested: until when. Checked: when the check passed."),
    TEXT(condition, stack, "Changing: the stack it is going to."),
    BY(condition),
    TEXT(condition, text, "In a line."),
};
static const struct lks_record_field drained_fields[] = {
    NODE(drained),
    TEXT(drained, owner, "Who alone may end it."),
    REASON(drained),
};
static const struct lks_record_field undrained_fields[] = {
    NODE(undrained),
    TEXT(undrained, owner, "Who had drained it."),
    REASON(undrained),
};
static const struct lks_record_field deviation_fields[] = {
    NUMBER(deviation, id, "The deviation's number."),
    TEXT(deviation, hosts, "The nodes, as a host list."),
    TEXT(deviation, subject, "What may differ: a component or a setting, or * for anything."),
    TEXT(deviation, value, "The value it may have; any where missing."),
    TEXT(deviation, owner, "Who answers for it."),
    REASON(deviation),
    TEXT(deviation, approver, "Who approved it, where that is asked."),
    TIME(deviation, expires, "When it is drift again."),
    BY(deviation),
};
static const struct lks_record_field deviation_ended_fields[] = {
    NUMBER(deviation_ended, id, "The deviation's number."),
    BY(deviation_ended),
    REASON(deviation_ended),
};
static const struct lks_record_field published_fields[] = {
    TEXT(published, digest, "The stack's digest."),
    TEXT(published, name, "Its name."),
    TEXT(published, manifest, "The digest of the file it came in."),
    TEXT(published, envelope, "Our signature over it (DSSE)."),
    TEXT(published, artifacts, "The artifacts it names, separated by blanks."),
    BY(published),
    REASON(published),
};
static const struct lks_record_field stepped_fields[] = {
    TEXT(stepped, digest, "The stack's digest."),
    WORD(stepped, step, lks_step_words, "How far it is now."),
    TEXT(stepped, evidence, "What that rests on."),
    BY(stepped),
};
static const struct lks_record_field image_fields[] = {
    TEXT(image, ref, "What jobs call it."),
    TEXT(image, digest, "Its digest, where it is known."),
    TEXT(image, nccl, "The NCCL in it."),
    TEXT(image, rccl, "The RCCL in it."),
    TEXT(image, cudnn, "The cuDNN in it."),
    TEXT(image, cuda, "The CUDA in it."),
    TEXT(image, source, "How that is known."),
    BY(image),
};
static const struct lks_record_field image_gone_fields[] = {
    TEXT(image_gone, ref, "What jobs called it."),
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
static const struct lks_record_field job_fields[] = {
    TEXT(job, job, "The job."),
    TEXT(job, hosts, "The nodes, as a host list."),
    TEXT(job, digest, "The stack it starts on."),
    TEXT(job, images, "The images it brings, separated by blanks."),
    BY(job),
    TEXT(job, override, "Why it may start all the same, where it starts by an override."),
};
static const struct lks_record_field override_fields[] = {
    TEXT(override, job, "The job."),
    TEXT(override, hosts, "The nodes, as a host list."),
    REASON(override),
    BY(override),
    TIME(override, until, "Until when it may start all the same."),
};
static const struct lks_record_field observed_fields[] = {
    TEXT(observed, pool, "The pool; missing: `asked` counts jobs that started, in a snapshot."),
    WORD(observed, bar, lks_bar_words, "For what reason."),
    NUMBER(observed, asked, "Jobs that asked since the last such record."),
    NUMBER(observed, refused, "Of them, those that were refused, or would have been."),
};
static const struct lks_record_field key_pinned_fields[] = {
    TEXT(key_pinned, name, "What people call the key."),
    TEXT(key_pinned, key, "The public key."),
    BY(key_pinned),
    REASON(key_pinned),
};
static const struct lks_record_field key_gone_fields[] = {
    TEXT(key_gone, name, "What people called the key."),
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
};
static const struct lks_record_field bundle_revoked_fields[] = {
    TEXT(bundle_revoked, digest, "The bundle's digest."),
    BY(bundle_revoked),
    REASON(bundle_revoked),
};
static const struct lks_record_field endpoint_fields[] = {
    NODE(endpoint),
    TEXT(endpoint, fingerprint, "Of its certificate; missing: it is no longer taken for good."),
    BY(endpoint),
    REASON(endpoint),
};
static const struct lks_record_field flash_fields[] = {
    NUMBER(flash, id, "Its number."),
    NODE(flash),
    WORD(flash, act, lks_bmc_act_words, "What is to be done."),
    TEXT(flash, component, "The class of firmware, or the entry of the endpoint's inventory."),
    TEXT(flash, version, "What it is to run."),
    TEXT(flash, bundle, "The bundle the image is from."),
    TEXT(flash, image, "The image."),
    NUMBER(flash, size, "How many bytes that has."),
    TEXT(flash, image_name, "The file it came from."),
    TEXT(flash, apply_time, "When the endpoint is to apply it; missing: by what it offers."),
    TRUTH(flash, force, "An older version is meant."),
    TRUTH(flash, one_way, "That there is no way back was acknowledged."),
    TIME(flash, deadline, "When it is given up."),
    BY(flash),
    REASON(flash),
};
static const struct lks_record_field flash_saved_fields[] = {
    NUMBER(flash_saved, id, "Of which update."),
    TEXT(flash_saved, saved, "What the driver needs to go on after a restart."),
    TEXT(flash_saved, phase, "How far it is, in words."),
    NUMBER(flash_saved, percent, "The same in percent."),
};
static const struct lks_record_field flash_ended_fields[] = {
    NUMBER(flash_ended, id, "Of which update."),
    NODE(flash_ended),
    WORD(flash_ended, outcome, lks_bmc_outcome_words, "How it ended."),
    TEXT(flash_ended, found, "The version that was read last."),
    TEXT(flash_ended, text, "Why it ended so."),
    NUMBER(flash_ended, uploads, "How often the image was sent."),
};
static const struct lks_record_field flash_resolved_fields[] = {
    NUMBER(flash_resolved, id, "Of which update."),
    NODE(flash_resolved),
    BY(flash_resolved),
    REASON(flash_resolved),
};

/* What each kind says, for the reference page. */
#define ABOUT_begun        "The first record of a journal."
#define ABOUT_started      "A daemon took the journal up."
#define ABOUT_limits       "The limits that hold from here on."
#define ABOUT_clock        "The machine's clock jumped; the journal's never goes back."
#define ABOUT_repaired     "Damaged rows were set aside."
#define ABOUT_trimmed      "Old rows were removed; the chain goes on behind the last of them."
#define ABOUT_fleet        "A fleet manifest was applied; its changes are the records beside."
#define ABOUT_pool         "A pool is as said here."
#define ABOUT_pool_removed "A pool is gone."
#define ABOUT_placed       "Nodes or assets are where said here."
#define ABOUT_removed      "Nodes or assets are gone."
#define ABOUT_token        "A token for enrolling one node was made."
#define ABOUT_enrolled     "A node used its token and has a certificate."
#define ABOUT_certified    "A node renewed its certificate."
#define ABOUT_revoked      "The certificates of a node are no longer taken."
#define ABOUT_liveness     "A node turned live, late or lost."
#define ABOUT_booted       "A node runs another boot."
#define ABOUT_tuple_known                                                                          \
    "Readings that no node had before; later records name them by their digest."
#define ABOUT_tuple           "What a node runs, and how it was judged."
#define ABOUT_parts           "The serial numbers of a node's parts, kept as digests."
#define ABOUT_noted           "A condition of a node began or ended."
#define ABOUT_intake          "A node entered intake."
#define ABOUT_accepted        "Nodes were accepted out of intake."
#define ABOUT_held            "A node is held."
#define ABOUT_unheld          "A node is no longer held."
#define ABOUT_replaced        "A node's hardware was replaced on purpose."
#define ABOUT_alarm           "An alarm was raised."
#define ABOUT_alarm_released  "An alarm was released."
#define ABOUT_mass            "So many nodes turned at once that acts wait for a person."
#define ABOUT_granted         "A role was granted."
#define ABOUT_ungranted       "A role was taken back."
#define ABOUT_api_token       "An API token was made."
#define ABOUT_api_token_gone  "An API token is gone."
#define ABOUT_command         "A command for an agent was issued."
#define ABOUT_command_ended   "A command ended."
#define ABOUT_led             "A controller leads from here on."
#define ABOUT_basis           "Readings that no node had before; later records name them by digest."
#define ABOUT_verdict         "How readings compare with a stack, for all nodes that have them."
#define ABOUT_outband         "What was read of a node or asset out of band, or that it is over."
#define ABOUT_drift           "A node began to differ from its intent, or came right again."
#define ABOUT_condition       "What is said of a node that admission asks about."
#define ABOUT_drained         "A node is to take no new work."
#define ABOUT_undrained       "Its owner ended a drain."
#define ABOUT_deviation       "An exception with an owner and an end: a hot-fix, a waiver."
#define ABOUT_deviation_ended "An exception was closed, or expired."
#define ABOUT_published       "A stack is in the registry."
#define ABOUT_stepped         "A stack went a step further in its life."
#define ABOUT_image           "What an image of jobs holds."
#define ABOUT_image_gone      "An image is no longer known."
#define ABOUT_artifact        "An artifact is in the depot."
#define ABOUT_artifact_gone   "An artifact was collected."
#define ABOUT_job             "A job was admitted and starts."
#define ABOUT_override        "A person lets a job start although it would be refused."
#define ABOUT_observed        "How many jobs were refused, or would have been."
#define ABOUT_key_pinned      "A key is trusted to sign bundles."
#define ABOUT_key_gone        "A key is no longer trusted; what it was good for before stays."
#define ABOUT_bundle          "A bundle was found good: its artifacts may be staged."
#define ABOUT_bundle_revoked  "A bundle is no longer good."
#define ABOUT_endpoint        "A certificate by which a management endpoint is known."
#define ABOUT_flash           "An update by a management endpoint begins."
#define ABOUT_flash_saved     "How far it is; what comes next was not begun before this was kept."
#define ABOUT_flash_ended     "It ended."
#define ABOUT_flash_resolved  "A person looked at one of which nobody could tell how it ended."

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

/* Where the struct of `r`'s kind is: a union begins where its members do. */
static const void *fields_of(const struct lks_record *r)
{
    return &r->begun;
}

bool lks_word_find(const char *const *words, struct lks_str word, uint64_t *out)
{
    for (uint64_t i = 0; words[i] != NULL; i++) {
        if (lks_str_is(word, words[i])) {
            *out = i;
            return true;
        }
    }
    return false;
}

static uint64_t word_count(const char *const *words)
{
    uint64_t count = 0;
    while (words[count] != NULL)
        count++;
    return count;
}

bool lks_record_text(struct lks_str text)
{
    return text.len == 0 || (memchr(text.ptr, '\0', text.len) == NULL && lks_str_utf8(text, NULL));
}

static void number_add(struct lks_buf *out, uint64_t n)
{
    char bytes[LEB_MAX];
    size_t len = 0;
    for (; n >= LEB_MORE; n >>= LEB_BITS)
        bytes[len++] = (char)(n | LEB_MORE);
    bytes[len++] = (char)n;
    lks_buf_add(out, (struct lks_str){bytes, len});
}

/* Take a number off `rest`. False where it ends too early, does not fit 64 bits or has a last byte
 * that adds nothing: each number has one way to be written, so each record has one hash. */
static bool number_take(struct lks_str *rest, uint64_t *out)
{
    uint64_t n = 0;
    for (size_t i = 0; i < rest->len && i < LEB_MAX; i++) {
        uint64_t byte = (unsigned char)rest->ptr[i];
        if (i == LEB_MAX - 1 && byte > 1)
            return false;
        n |= (byte & (LEB_MORE - 1)) << (i * LEB_BITS);
        if ((byte & LEB_MORE) != 0)
            continue;
        if (byte == 0 && i > 0)
            return false;
        *rest = (struct lks_str){rest->ptr + i + 1, rest->len - i - 1};
        *out = n;
        return true;
    }
    return false;
}

/* The value of a field that is not text. */
static uint64_t number_of(const struct lks_record_field *f, const void *at)
{
    uint64_t n = 0;
    if (f->type == LKS_RECORD_TRUTH)
        return *(const bool *)at;
    memcpy(&n, at, sizeof(n));
    return n;
}

void lks_fields_pack(const struct lks_record_info *info, const void *from, struct lks_buf *out)
{
    for (size_t i = 0; i < info->count; i++) {
        const struct lks_record_field *f = &info->fields[i];
        const void *at = (const char *)from + f->offset;
        if (f->type != LKS_RECORD_TEXT) {
            uint64_t n = number_of(f, at);
            LKS_ASSERT(f->type != LKS_RECORD_WORD || n < word_count(f->words));
            number_add(out, n);
            continue;
        }
        const struct lks_str *text = at;
        LKS_ASSERT(lks_record_text(*text)); /* what we cannot read again is never written */
        number_add(out, text->len);
        lks_buf_add(out, *text);
    }
}

void lks_record_pack(const struct lks_record *r, struct lks_buf *out)
{
    const struct lks_record_info *info = lks_record_info(r->kind);
    LKS_ASSERT(info != NULL);
    lks_fields_pack(info, fields_of(r), out);
}

/* Why the field at the front of `rest` cannot be read, or NULL once it is in `at`. */
static const char *field_take(const struct lks_record_field *f, struct lks_str *rest, void *at)
{
    uint64_t n;
    if (!number_take(rest, &n))
        return rest->len == 0 ? "is missing" : "is not a number as we write them";
    if (f->type == LKS_RECORD_TEXT) {
        if (n > rest->len)
            return "is cut short";
        struct lks_str text = {rest->ptr, (size_t)n};
        if (!lks_record_text(text))
            return "is not UTF-8 text";
        *rest = (struct lks_str){rest->ptr + n, rest->len - (size_t)n};
        *(struct lks_str *)at = text;
        return NULL;
    }
    if (f->type == LKS_RECORD_WORD && n >= word_count(f->words))
        return "is no word of its list";
    if (f->type == LKS_RECORD_TRUTH && n > 1)
        return "is neither true nor false";
    if (f->type == LKS_RECORD_TRUTH)
        *(bool *)at = n == 1;
    else
        memcpy(at, &n, sizeof(n));
    return NULL;
}

enum lks_code lks_fields_unpack(const struct lks_record_info *info, unsigned version,
                                struct lks_str body, void *into, struct lks_err *err)
{
    if (version == 0 || version > lks_record_version(info))
        return lks_fail(err, LKS_E_INVALID,
                        "%s: version %u of the record; this program knows up to %u: a newer "
                        "lockstep wrote it",
                        info->word, version, lks_record_version(info));
    if (body.len > LKS_RECORD_BODY_MAX)
        return lks_fail(err, LKS_E_INVALID, "%s: %zu bytes; a record has at most %zu", info->word,
                        body.len, LKS_RECORD_BODY_MAX);
    struct lks_str rest = body;
    for (size_t i = 0; i < info->count && info->fields[i].since <= version; i++) {
        const struct lks_record_field *f = &info->fields[i];
        const char *fault = field_take(f, &rest, (char *)into + f->offset);
        if (fault != NULL)
            return lks_fail(err, LKS_E_INVALID, "%s: %s %s", info->word, f->key, fault);
    }
    if (rest.len > 0)
        return lks_fail(err, LKS_E_INVALID, "%s: %zu bytes left over behind the last field",
                        info->word, rest.len);
    return LKS_OK;
}

enum lks_code lks_record_unpack(unsigned kind, unsigned version, struct lks_str body,
                                struct lks_record *out, struct lks_err *err)
{
    const struct lks_record_info *info = lks_record_info(kind);
    if (info == NULL)
        return lks_fail(err, LKS_E_INVALID,
                        "record of kind %u, which this program does not know: a newer lockstep "
                        "wrote it",
                        kind);
    struct lks_record r = {.kind = info->kind};
    enum lks_code code = lks_fields_unpack(info, version, body, &r.begun, err);
    if (code == LKS_OK)
        *out = r;
    return code;
}

static void number_json(const struct lks_record_field *f, uint64_t n, struct lks_json_writer *w)
{
    char text[LKS_TIME_TEXT_SIZE];
    if (n == 0)
        return;
    if (f->type == LKS_RECORD_TIME) {
        lks_json_cstr(w, f->key, lks_time_text(n, text));
        return;
    }
    int len = snprintf(text, sizeof(text), "%" PRIu64, n);
    lks_json_raw(w, f->key, (struct lks_str){text, (size_t)len});
}

void lks_fields_json(const struct lks_record_info *info, const void *from,
                     struct lks_json_writer *w)
{
    for (size_t i = 0; i < info->count; i++) {
        const struct lks_record_field *f = &info->fields[i];
        const void *at = (const char *)from + f->offset;
        if (f->type == LKS_RECORD_TEXT) {
            const struct lks_str *text = at;
            if (text->len > 0)
                lks_json_text(w, f->key, *text);
        } else if (f->type == LKS_RECORD_WORD) {
            uint64_t n = number_of(f, at);
            LKS_ASSERT(n < word_count(f->words));
            lks_json_cstr(w, f->key, f->words[n]);
        } else if (f->type == LKS_RECORD_TRUTH) {
            lks_json_bool(w, f->key, number_of(f, at) != 0);
        } else {
            number_json(f, number_of(f, at), w);
        }
    }
}

void lks_record_json(const struct lks_record *r, struct lks_json_writer *w)
{
    const struct lks_record_info *info = lks_record_info(r->kind);
    LKS_ASSERT(info != NULL);
    lks_json_cstr(w, "kind", info->word);
    lks_fields_json(info, fields_of(r), w);
}
