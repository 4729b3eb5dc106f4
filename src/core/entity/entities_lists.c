/* Columns of what the state lists beside nodes and changes. */
#include "core/entity/columns.h"
#include "core/entity/entity.h"
#include "core/rows/alarm.h"
#include "core/rows/command.h"
#include "core/rows/credential.h"
#include "core/rows/deviation.h"
#include "core/rows/flash.h"
#include "core/rows/job.h"
#include "core/rows/refusal.h"
#include "core/rows/registry.h"
#include "core/rows/run.h"
#include "core/state/resets.h"
#include "core/state/state.h"
#include "core/state/tickets.h"
#include "model/record/record_words.h"

#define ROW struct lks_deviation
static const struct lks_column deviation[] = {
    NUMBER(id, "Its number.", .use = LISTED | SORT),
    TEXT(hosts, "The nodes that it is for.", .use = LISTED | ALWAYS | LINES, .key = "nodes"),
    TEXT(subject, "The component or setting that may differ, or * for any.",
         .use = LISTED | ALWAYS | SORT),
    TEXT(value, "The value that it may have; absent: any.", .use = LISTED),
    TEXT(owner, "The person responsible for it.", .use = LISTED | ALWAYS | SORT),
    TEXT(reason, "The reason for it.", .use = LISTED | ALWAYS),
    TEXT(approver, "The person expected to approve it.", .use = LISTED),
    TEXT(by, "The actor who added it.", .use = LISTED),
    TEXT(minters, "The minters of that actor's credential, separated by blanks."),
    TRUTH(waits, "Whether it applies only after an approver agrees."),
    TIME(agreed, "When an approver agreed; absent: not yet.", .use = LISTED),
    TEXT(agreed_by, "The approver.", .use = LISTED),
    TEXT(agreed_reason, "The approver's reason.", .use = LISTED),
    TIME(added, "When it was added.", .use = LISTED | ALWAYS | SORT),
    TIME(expires, "When it expires.", .use = LISTED | ALWAYS | SORT),
    TIME(ended, "When it ended; absent: it has not.", .use = LISTED | SORT),
    TEXT(ended_by, "The actor who ended it.", .use = LISTED),
    TEXT(ended_reason, "The actor's reason.", .use = LISTED),
    COUNTED(count, "Number of nodes that it names."),
};
const struct lks_entity lks_entity_deviation = {
    .name = "deviation",
    .about = "An accepted difference from a stack.",
    COLUMNS(deviation),
    LIST(lks_state, deviations, deviation_count, deviation_room, LKS_STATE_DEVIATIONS_MAX),
    NUMBERED(next_deviation),
};
#undef ROW

#define ROW struct lks_state_alarm
static const struct lks_column alarm[] = {
    NUMBER(id, "Its number.", .use = LISTED | SORT),
    WORD(kind, lks_alarm_words, "The kind of alarm.", .use = LISTED | FILTER | SORT),
    TEXT(subject, "The node, pool or change that it is about.", .use = LISTED | SORT),
    TEXT(text, "The event, in a line.", .use = LISTED | ALWAYS),
    TIME(raised, "When it was raised.", .use = LISTED | ALWAYS | SORT),
    TIME(released, "When it was closed; absent: it is open.", .use = LISTED | SORT),
    TEXT(by, "The actor who closed it.", .use = LISTED, ONLY_IF(released)),
    TEXT(reason, "The actor's reason.", .use = LISTED, ONLY_IF(released)),
};
const struct lks_entity lks_entity_alarm = {
    .name = "alarm",
    .about = "An alarm, open or closed.",
    COLUMNS(alarm),
    LIST(lks_state, alarms, alarm_count, alarm_room, LKS_STATE_ALARMS_MAX),
    NUMBERED(next_alarm),
};
#undef ROW

#define ROW struct lks_state_command
static const struct lks_column command[] = {
    NUMBER(id, "Its number.", .use = LISTED),
    NODE(node, "The node whose agent runs it.", .use = LISTED | ALWAYS),
    TEXT(boot, "The only boot in which it may start."),
    TEXT(executor, "The executor to run.", .use = LISTED | ALWAYS),
    TEXT(digests, "The artifacts that it is given."),
    TEXT(by, "The actor; absent: lockstepd."),
    TEXT(reason, "The actor's reason."),
    NUMBER(attempt, "The number of the attempt."),
    TRUTH(ended, "Whether it has ended.", .use = LISTED),
    WORD(outcome, lks_outcome_words, "How it ended.", .use = LISTED, ONLY_IF(ended)),
    TEXT(text, "The message that the node reported.", .use = LISTED | LINES, ONLY_IF(ended)),
    TIME(sent, "When it was sent.", .use = LISTED | ALWAYS),
    TIME(expires, "The latest time at which it may start.", .use = LISTED | ALWAYS),
};
const struct lks_entity lks_entity_command = {
    .name = "command",
    .about = "A command for the agent of a node.",
    COLUMNS(command),
    LIST(lks_state, commands, command_count, command_room, LKS_STATE_COMMANDS_MAX),
    NUMBERED(next_command),
};
#undef ROW

/* The registry ------------------------------------------------------------------------------ */

#define ROW struct lks_state_stack
static const struct lks_column stack[] = {
    TEXT(digest, "Its digest.", .use = LISTED | ALWAYS | HASHED),
    TEXT(name, "Its name.", .use = LISTED | ALWAYS | SORT),
    TEXT(manifest, "The digest of its manifest.", .use = SHOWN | ALWAYS | HASHED),
    TEXT(envelope, "Its signed envelope (DSSE)."),
    TEXT(artifacts, "The artifacts that it names, by digest.",
         .use = SHOWN | ALWAYS | PARTED | HASHED),
    WORD(step, lks_step_words, "Its stage.", .use = LISTED | FILTER | SORT),
    TIME(published, "When it was published.", .use = LISTED | ALWAYS | SORT),
    TEXT(by, "The actor who published it.", .use = LISTED),
    TEXT(reason, "The actor's reason.", .use = LISTED),
    TEXT(minters, "The minters of that actor's credential, separated by blanks."),
    TIME(stepped, "When it reached this stage.", .use = LISTED | SORT),
    ARRAY("evidence", TEXT, evidence, 0, "The evidence for each stage."),
    ARRAY("evidence_by", TEXT, evidence_by, 0, "The actor who gave the evidence, for each stage."),
};
const struct lks_entity lks_entity_stack = {
    .name = "stack",
    .about = "A stack that was published.",
    COLUMNS(stack),
    LIST(lks_state, stacks, stack_count, stack_room, LKS_STATE_STACKS_MAX),
};
#undef ROW

#define ROW struct lks_state_image
static const struct lks_column image[] = {
    TEXT(ref, "The reference that jobs use.", .use = LISTED | ALWAYS | SORT),
    TEXT(digest, "Its digest, where it is known.", .use = LISTED),
    TEXT(nccl, "The version of NCCL in it.", .use = LISTED),
    TEXT(rccl, "The version of RCCL in it.", .use = LISTED),
    TEXT(cudnn, "The version of cuDNN in it.", .use = LISTED),
    TEXT(cuda, "The version of CUDA in it.", .use = LISTED),
    TEXT(source, "The source of these versions.", .use = LISTED | ALWAYS),
    TEXT(by, "The actor who added it.", .use = LISTED),
    TIME(added, "When it was added.", .use = LISTED | ALWAYS | SORT),
};
const struct lks_entity lks_entity_image = {
    .name = "image",
    .about = "A container image that jobs run, and the libraries in it.",
    COLUMNS(image),
    LIST(lks_state, images, image_count, image_room, LKS_STATE_IMAGES_MAX),
    .ordered = 1,
};
#undef ROW

#define ROW struct lks_state_artifact
static const struct lks_column artifact[] = {
    TEXT(digest, "Its digest.", .use = LISTED | ALWAYS | HASHED | SORT),
    TEXT(name, "Its name.", .use = LISTED | SORT),
    NUMBER(size, "Its size in bytes.", .use = LISTED | SORT),
    TEXT(by, "The actor who added it.", .use = LISTED),
    TIME(added, "When it was added.", .use = LISTED | SORT),
};
const struct lks_entity lks_entity_artifact = {
    .name = "artifact",
    .about = "A file that stacks and bundles name.",
    COLUMNS(artifact),
    LIST(lks_state, artifacts, artifact_count, artifact_room, LKS_STATE_ARTIFACTS_MAX),
    .ordered = 1,
};
#undef ROW

/* Firmware ---------------------------------------------------------------------------------- */

#define ROW struct lks_state_key
static const struct lks_column key[] = {
    TEXT(name, "Its name.", .use = LISTED | ALWAYS | SORT),
    TEXT(key, "The public key.", .use = LISTED | ALWAYS),
    TIME(pinned, "When it was pinned.", .use = LISTED | ALWAYS | SORT),
    TEXT(by, "The actor who pinned it.", .use = LISTED),
    TEXT(reason, "The actor's reason.", .use = LISTED),
};
const struct lks_entity lks_entity_key = {
    .name = "key",
    .about = "A pinned public key that verifies signatures of firmware bundles.",
    COLUMNS(key),
    LIST(lks_state, keys, key_count, key_room, LKS_STATE_KEYS_MAX),
    .ordered = 1,
};
#undef ROW

#define ROW struct lks_state_bundle
static const struct lks_column bundle[] = {
    TEXT(digest, "Its digest.", .use = LISTED | ALWAYS | HASHED),
    TEXT(name, "Its name.", .use = LISTED | ALWAYS | SORT),
    TEXT(version, "Its version.", .use = LISTED | ALWAYS),
    TEXT(manifest, "The digest of its manifest.", .use = SHOWN | ALWAYS | HASHED),
    TEXT(signer, "The name of the pinned key that signed it.", .use = LISTED | ALWAYS | SORT),
    TEXT(key, "The fingerprint of that key.", .use = LISTED | ALWAYS | HASHED),
    TEXT(artifacts, "The artifacts that it names, by digest.",
         .use = SHOWN | ALWAYS | PARTED | HASHED),
    TRUTH(site, "Whether the site signed it.", .use = LISTED),
    TIME(added, "When its signature was verified.", .use = LISTED | ALWAYS | SORT),
    TEXT(by, "The actor who added it.", .use = LISTED),
    TIME(revoked, "When it was revoked; absent: it was not.", .use = LISTED | SORT),
    TEXT(revoked_by, "The actor who revoked it.", .use = LISTED),
    TEXT(revoked_reason, "The actor's reason.", .use = LISTED),
};
const struct lks_entity lks_entity_bundle = {
    .name = "bundle",
    .about = "A signed set of firmware images.",
    COLUMNS(bundle),
    LIST(lks_state, bundles, bundle_count, bundle_room, LKS_STATE_BUNDLES_MAX),
};
#undef ROW

#define ROW struct lks_state_flash
static const struct lks_column flash[] = {
    NUMBER(id, "Its number.", .use = LISTED | SORT),
    NODE(node, "The node or asset.", .use = LISTED | ALWAYS | SORT),
    WORD(act, lks_bmc_act_words, "The kind of action.", .use = LISTED | FILTER | SORT),
    TEXT(component, "The component.", .use = LISTED | ALWAYS | SORT),
    TEXT(version, "The version to install.", .use = LISTED),
    TEXT(bundle, "The digest of the bundle.", .use = LISTED),
    TEXT(image, "The digest of the image.", .use = LISTED),
    TEXT(image_name, "The name of the image."),
    TEXT(apply_time, "When the endpoint is asked to apply it; absent: as the endpoint offers.",
         .use = LISTED),
    NUMBER(size, "The size of the image in bytes."),
    TRUTH(force, "Whether the version may be older than the installed one.", .use = LISTED),
    TRUTH(one_way, "Whether the irreversibility was acknowledged.", .use = LISTED),
    TRUTH(revoked, "Whether its bundle was revoked: no further part of it starts."),
    TIME(begun, "When it started.", .use = LISTED | ALWAYS | SORT),
    TIME(deadline, "When lockstepd gives it up.", .use = LISTED | ALWAYS),
    TEXT(by, "The actor; absent: lockstepd.", .use = LISTED),
    TEXT(reason, "The actor's reason.", .use = LISTED),
    BYTES(saved, saved_len, "The checkpoint from which the driver continues after a restart."),
    PASSING(phase, "Its phase, in words.", .use = LISTED),
    NUMBER(percent, "Its progress in percent."),
    WORD(outcome, lks_bmc_outcome_words, "How it ended.", .use = LISTED | FILTER | SORT),
    TIME(ended, "When it ended; absent: it has not.", .use = LISTED | SORT),
    PASSING(found, "The version that was read last.", .use = LISTED),
    PASSING(text, "The last message about it.", .use = LISTED),
    NUMBER(uploads, "Number of times that the image was sent.", .use = LISTED, ONLY_IF(outcome)),
    TIME(resolved, "When a person resolved its unknown outcome.", .use = LISTED),
    TEXT(resolved_by, "The person who resolved it.", .use = LISTED),
    TEXT(resolved_reason, "The person's finding.", .use = LISTED),
};
const struct lks_entity lks_entity_flash = {
    .name = "flash",
    .about = "A firmware update by an endpoint.",
    COLUMNS(flash),
    LIST(lks_state, flashes, flash_count, flash_room, LKS_STATE_FLASHES_MAX),
    NUMBERED(next_flash),
};
#undef ROW

/* Access ------------------------------------------------------------------------------------ */

#define ROW struct lks_barred
static const struct lks_column barred[] = {
    NODE(node, "The node whose machine was replaced."),
    NAMED("fingerprint", DIGEST, certificate.fingerprint, "Its fingerprint."),
    NAMED("expires", TIME, certificate.expires, "When it expires."),
};
const struct lks_entity lks_entity_barred = {
    .name = "barred",
    .about = "A certificate of a machine that was replaced; it is no longer accepted.",
    COLUMNS(barred),
    LIST(lks_state, barred, barred_count, barred_room, LKS_STATE_BARRED_MAX),
};
#undef ROW

#define ROW struct lks_override
static const struct lks_column override[] = {
    TEXT(job, "The job.", .use = LISTED | ALWAYS | SORT),
    TEXT(hosts, "The nodes that it may start on.", .use = LISTED | ALWAYS | LINES, .key = "nodes"),
    TEXT(reason, "The actor's reason.", .use = LISTED | ALWAYS),
    TEXT(by, "The actor who gave the override.", .use = LISTED | SORT),
    TIME(until, "When the override expires.", .use = LISTED | ALWAYS | SORT),
};
const struct lks_entity lks_entity_override = {
    .name = "override",
    .about = "A job that may start on nodes that admission would refuse.",
    COLUMNS(override),
    LIST(lks_state, overrides, override_count, override_room, LKS_STATE_OVERRIDES_MAX),
};
#undef ROW

#define MADE(uses)                                                                                 \
    NAMED("by", TEXT, made.by, "The actor who made it.", .use = (uses), .key = "minter"),          \
        NAMED("minters", TEXT, made.minters, "The minters of that actor's credential.",            \
              .use = (uses) | PARTED),                                                             \
        NAMED("root", TRUTH, made.root,                                                            \
              "Whether that actor was root on a controller's own socket.")

#define ROW struct lks_binding
/* SHOWN: what an identity may do, as the answer to whoami has it, too. */
static const struct lks_column binding[] = {
    TEXT(identity, "The identity that has the role.", .use = LISTED | ALWAYS),
    WORD(role, lks_role_words, "The role.", .use = SHOWN),
    TEXT(site, "The site that it is limited to; absent: all sites.", .use = SHOWN),
    TEXT(pool, "The pool that it is limited to; absent: all pools.", .use = SHOWN),
    MADE(0),
};
const struct lks_entity lks_entity_binding = {
    .name = "binding",
    .about = "A role that an identity has.",
    COLUMNS(binding),
    LIST(lks_state, bindings, binding_count, binding_room, LKS_STATE_BINDINGS_MAX),
    .ordered = 4,
};
#undef ROW

#define ROW struct lks_api_token
static const struct lks_column token[] = {
    PASSING(id, "Its name.", .use = LISTED | ALWAYS),
    TEXT(identity, "The identity of its holder.", .use = LISTED | ALWAYS),
    COLUMN("hash", TEXT, hash, NULL, LKS_COLUMN_SECRET | LKS_COLUMN_PASSING,
           "The hash of its secret."),
    TIME(expires, "When it expires; absent: never.", .use = LISTED),
    SPAN(life, "How long it is valid after a renewal; 0: it cannot be renewed."),
    MADE(LISTED),
    TEXT(issuer, "The identity provider of a login; absent: a person made the token.",
         .use = LISTED),
    TEXT(grants, "The roles that the login gives.", .use = LISTED | PARTED, .key = "roles"),
};
const struct lks_entity lks_entity_token = {
    .name = "token",
    .about = "An API token, or the token of a login.",
    COLUMNS(token),
    LIST(lks_state, tokens, token_count, token_room, LKS_STATE_TOKENS_MAX),
    .ordered = 1,
    .secret = true,
};
#undef ROW

#define ROW struct lks_state_person
static const struct lks_column person[] = {
    TEXT(serial, "Its serial number.", .use = LISTED | ALWAYS),
    TEXT(identity, "The identity of its holder.", .use = LISTED | ALWAYS),
    NAMED("fingerprint", DIGEST, certificate.fingerprint, "Its fingerprint.",
          .use = LISTED | ALWAYS),
    NAMED("expires", TIME, certificate.expires, "When it expires.", .use = LISTED | ALWAYS),
    SPAN(life, "How long it is valid after a renewal; 0: it cannot be renewed."),
    MADE(LISTED),
};
const struct lks_entity lks_entity_person = {
    .name = "person",
    .about = "A client certificate of a person.",
    COLUMNS(person),
    LIST(lks_state, persons, person_count, person_room, LKS_STATE_PERSONS_MAX),
    .ordered = 1,
};
#undef ROW

/* Tickets and resets ------------------------------------------------------------------------ */

#define ROW struct lks_ticket_heard
static const struct lks_column heard[] = {
    PASSING(event, "The ID of the message."),
    TIME(until, "The time before which it is not accepted again."),
};
static bool heard_counts(const struct lks_state *s, const void *row)
{
    return ((const struct lks_ticket_heard *)row)->until > s->clock;
}

const struct lks_entity lks_entity_ticket_heard = {
    .name = "ticket_heard",
    .about = "A message of a ticket system that was accepted, and is not accepted again.",
    COLUMNS(heard),
    LIST(lks_state, tickets.heard, tickets.heard_count, tickets.heard_room, LKS_TICKETS_HEARD_MAX),
    .counts = heard_counts,
};
#undef ROW

#define ROW struct lks_ticket_due
static const struct lks_column due[] = {
    NUMBER(seq, "The row that moved the change."),
    TIME(at, "The time of that row."),
    NUMBER(change, "The change."),
    WORD(state, lks_change_state_words, "The state it moved to."),
    PASSING(by, "The actor who moved the change."),
    PASSING(reason, "The actor's reason."),
};
const struct lks_entity lks_entity_ticket_due = {
    .name = "ticket_due",
    .about = "A new state of a change that a ticket system is still to be notified of.",
    COLUMNS(due),
    LIST(lks_state, tickets.due, tickets.due_count, tickets.due_room, LKS_TICKETS_DUE_MAX),
    .ordered = 1,
};
#undef ROW

#define ROW struct lks_reset
static const struct lks_column reset[] = {
    NODE(node, "The node."),
    TEXT(boot, "The boot that it is requested for."),
    TEXT(by, "The actor who requested it.", .use = LISTED | ALWAYS),
    TEXT(reason, "The actor's reason.", .use = LISTED | ALWAYS),
    TEXT(minters, "The minters of that actor's credential, separated by blanks."),
    TIME(asked, "When it was requested.", .use = LISTED | ALWAYS),
    TIME(until, "When the request expires.", .use = LISTED | ALWAYS),
    TIME(approved, "When it was approved; absent: not yet.", .use = LISTED),
    TEXT(approved_by, "The approver.", .use = LISTED),
    TEXT(approved_reason, "The approver's reason.", .use = LISTED),
    NUMBER(command, "The number of the reboot command; absent: not approved yet.", .use = LISTED,
           ONLY_IF(approved)),
};
const struct lks_entity lks_entity_reset = {
    .name = "reset",
    .about = "A reset of a drained or unhealthy node whose GPU process does not end.",
    COLUMNS(reset),
    LIST(lks_state, resets.list, resets.count, resets.room, LKS_RESETS_MAX),
};
#undef ROW

/* Runs of jobs ------------------------------------------------------------------------------ */

#define ROW struct lks_run
static const struct lks_column run[] = {
    NUMBER(id, "The number of the row.", .use = LISTED | SORT),
    PASSING(job, "The job, as its scheduler calls it; absent: several.", .use = LISTED),
    NUMBER(count, "Number of runs that the row stands for.", .use = LISTED | SORT),
    PASSING(user, "The user of the job; absent: several.", .use = LISTED),
    PASSING(account, "The account that the scheduler charges.", .use = LISTED),
    PASSING(partition, "The partition of the scheduler.", .use = LISTED),
    PASSING(name, "The name that the user gave the job.", .use = LISTED),
    TEXT(pool, "The pool of its first node; absent: of several pools.", .use = LISTED | SORT),
    TEXT(site, "The site of the scheduler.", .use = LISTED | SORT),
    TEXT(sched, "The scheduler.", .use = LISTED),
    PASSING(hosts, "The nodes, as a host list.", .use = LISTED | LINES, .key = "nodes"),
    NUMBER(nodes, "Number of nodes.", .use = LISTED, .key = "node_count"),
    NUMBER(gpus, "Number of GPUs on all nodes; absent: not known.", .use = LISTED, ONLY_IF(gpus)),
    PASSING(digest, "The stacks of its nodes, by digest.", .use = LISTED | PARTED, .key = "stacks"),
    TIME(started, "When it started, by the scheduler's clock.", .use = LISTED | ALWAYS | SORT),
    TIME(ended, "When it ended, by the scheduler's clock.", .use = LISTED | ALWAYS | SORT),
    WORD(state, lks_run_state_words, "How it ended.", .use = LISTED | FILTER | SORT),
    PASSING(exit, "Exit status and signal of its script, such as 3:0.", .use = LISTED),
    NUMBER(restarts, "Restarts of the job before this run.", .use = LISTED),
    NUMBER(gpu_ms, "GPUs times duration in milliseconds.", .use = LISTED | SORT),
    WORD(cause, lks_run_cause_words, "The cause of its end.", .use = LISTED | FILTER | SORT),
    PASSING(by, "The change or the node that ended it.", .use = LISTED),
    PASSING(reason, "The scheduler's reason.", .use = LISTED),
    TIME(recorded, "When lockstepd recorded it.", .use = LISTED | ALWAYS),
};
const struct lks_entity lks_entity_run = {
    .name = "run",
    .about = "A run of a job that ended, or several that are counted together.",
    COLUMNS(run),
    LIST(lks_state, runs.list, runs.count, runs.room, LKS_STATE_RUNS_MAX),
    NUMBERED(runs.next),
};
#undef ROW

#define ROW struct lks_runs_place
static const struct lks_column runs_place[] = {
    TEXT(site, "The site of the scheduler."),
    TEXT(sched, "The scheduler."),
    TIME(at, "The end of the last run that is counted."),
    PASSING(job, "The job of that run."),
    TIME(missing_from, "Start of the gap: runs that ended in it may be missing; absent: none."),
    TIME(missing_until, "End of the gap."),
    TIME(recorded, "When that was recorded."),
    NUMBER(row, "The number of the first row after that; a run with its own row from there on is "
                "counted already."),
};
const struct lks_entity lks_entity_runs_place = {
    .name = "runs_place",
    .about = "The position up to which the runs of a scheduler are counted.",
    COLUMNS(runs_place),
    LIST(lks_state, runs.places, runs.place_count, runs.place_room, LKS_STATE_RUNS_PLACES_MAX),
};
#undef ROW

/* Refusals ---------------------------------------------------------------------------------- */

#define ROW struct lks_refusal
static const struct lks_column refusal[] = {
    NUMBER(day, "The day, as days since 1970."),
    PASSING(pool, "The pool."),
    WORD(bar, lks_bar_words, "The reason."),
    PASSING(user, "The user of the jobs; (others): several."),
    PASSING(image, "The image that the reason is about, or the first image of the jobs."),
    PASSING(node, "The node that the reason is about, in rows that count by node."),
    NUMBER(count, "Number of jobs."),
};
const struct lks_entity lks_entity_refusal = {
    .name = "refusal",
    .about = "Jobs that a pool refused on a day, or would have refused.",
    COLUMNS(refusal),
    LIST(lks_state, refusals.list, refusals.count, refusals.room, LKS_STATE_REFUSALS_MAX),
};
#undef ROW

/* All of them ------------------------------------------------------------------------------- */

const struct lks_entity *const lks_entities[] = {
    &lks_entity_journal,  &lks_entity_pool,         &lks_entity_basis,      &lks_entity_verdict,
    &lks_entity_node,     &lks_entity_change,       &lks_entity_proven,     &lks_entity_deviation,
    &lks_entity_alarm,    &lks_entity_command,      &lks_entity_stack,      &lks_entity_image,
    &lks_entity_artifact, &lks_entity_key,          &lks_entity_bundle,     &lks_entity_flash,
    &lks_entity_barred,   &lks_entity_override,     &lks_entity_binding,    &lks_entity_token,
    &lks_entity_person,   &lks_entity_ticket_heard, &lks_entity_ticket_due, &lks_entity_reset,
    &lks_entity_run,      &lks_entity_runs_place,   &lks_entity_refusal,
};
const size_t lks_entity_count = LKS_COUNT(lks_entities);
