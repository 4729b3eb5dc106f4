/* Columns of what the state lists beside nodes and changes. */
#include "core/entity/columns.h"

#define ROW struct lks_deviation
static const struct lks_column deviation[] = {
    NUMBER(id, "Its number."),
    TEXT(hosts, "The nodes it is about."),
    TEXT(subject, "The component or setting that deviates."),
    TEXT(value, "The value that is accepted."),
    TEXT(owner, "The person who answers for it."),
    TEXT(reason, "Their reason."),
    TEXT(approver, "The person who agreed beforehand."),
    TEXT(by, "The actor who added it."),
    TEXT(minters, "The people by whom their credential came to be."),
    TIME(added, "When it was added."),
    TIME(expires, "When it expires."),
    TRUTH(waits, "Whether it counts only once an approver agreed."),
    TIME(agreed, "When an approver agreed."),
    TEXT(agreed_by, "The approver."),
    TEXT(agreed_reason, "Their reason."),
    TIME(ended, "When it ended; 0: it holds."),
    TEXT(ended_by, "The actor who ended it."),
    TEXT(ended_reason, "Their reason."),
    COUNTED(count, "How many nodes it names."),
};
const struct lks_entity lks_entity_deviation = {
    .name = "deviation",
    .about = "An accepted difference from a stack.",
    COLUMNS(deviation),
    LIST(lks_state, deviations, deviation_count, deviation_room, LKS_STATE_DEVIATIONS_MAX),
};
#undef ROW

#define ROW struct lks_state_alarm
static const struct lks_column alarm[] = {
    NUMBER(id, "Its number."),
    WORD(kind, lks_alarm_words, "Its kind."),
    TEXT(subject, "The node, pool or change it is about."),
    TEXT(text, "The fault."),
    TIME(raised, "When it was raised."),
    TIME(released, "When it was released; 0: it is open."),
    TEXT(by, "The actor who released it."),
    TEXT(reason, "Their reason."),
};
const struct lks_entity lks_entity_alarm = {
    .name = "alarm",
    .about = "An alarm that a person releases.",
    COLUMNS(alarm),
    LIST(lks_state, alarms, alarm_count, alarm_room, LKS_STATE_ALARMS_MAX),
};
#undef ROW

#define ROW struct lks_state_command
static const struct lks_column command[] = {
    NUMBER(id, "Its number."),
    NODE(node, "The node whose agent runs it."),
    TEXT(boot, "The boot it is for."),
    TEXT(executor, "The executor."),
    TEXT(digests, "The artifacts it works with."),
    TEXT(by, "The actor."),
    TEXT(reason, "Their reason."),
    NUMBER(attempt, "Which attempt this is."),
    TIME(sent, "When it was sent."),
    TIME(expires, "When it is given up."),
    TRUTH(ended, "Whether it ended."),
    WORD(outcome, lks_outcome_words, "How it ended."),
    TEXT(text, "The node's message."),
};
const struct lks_entity lks_entity_command = {
    .name = "command",
    .about = "A command for the agent of a node.",
    COLUMNS(command),
    LIST(lks_state, commands, command_count, command_room, LKS_STATE_COMMANDS_MAX),
};
#undef ROW

/* The registry ------------------------------------------------------------------------------ */

#define ROW struct lks_state_stack
static const struct lks_column stack[] = {
    TEXT(digest, "Its digest."),
    TEXT(name, "Its name."),
    TEXT(manifest, "The digest of its manifest."),
    TEXT(envelope, "The digest of its signed envelope."),
    TEXT(artifacts, "The artifacts it needs."),
    TEXT(by, "The actor who published it."),
    TEXT(reason, "Their reason."),
    TEXT(minters, "The people by whom their credential came to be."),
    WORD(step, lks_step_words, "The stage it is at."),
    TIME(published, "When it was published."),
    TIME(stepped, "Since when it is at this stage."),
    ARRAY("evidence", TEXT, evidence, 0, "The evidence for each stage."),
    ARRAY("evidence_by", TEXT, evidence_by, 0, "The actor who gave it."),
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
    TEXT(ref, "Its name, as jobs say it."),
    TEXT(digest, "Its digest."),
    TEXT(nccl, "The version of NCCL in it."),
    TEXT(rccl, "The version of RCCL in it."),
    TEXT(cudnn, "The version of cuDNN in it."),
    TEXT(cuda, "The version of CUDA in it."),
    TEXT(source, "The source of these versions."),
    TEXT(by, "The actor who added it."),
    TIME(added, "When it was added."),
};
const struct lks_entity lks_entity_image = {
    .name = "image",
    .about = "A container image that jobs run, and the libraries in it.",
    COLUMNS(image),
    LIST(lks_state, images, image_count, image_room, LKS_STATE_IMAGES_MAX),
};
#undef ROW

#define ROW struct lks_state_artifact
static const struct lks_column artifact[] = {
    TEXT(digest, "Its digest."),         TEXT(name, "Its name."),
    TEXT(by, "The actor who added it."), NUMBER(size, "Its size in bytes."),
    TIME(added, "When it was added."),
};
const struct lks_entity lks_entity_artifact = {
    .name = "artifact",
    .about = "A file that stacks and bundles name.",
    COLUMNS(artifact),
    LIST(lks_state, artifacts, artifact_count, artifact_room, LKS_STATE_ARTIFACTS_MAX),
};
#undef ROW

/* Firmware ---------------------------------------------------------------------------------- */

#define ROW struct lks_state_key
static const struct lks_column key[] = {
    TEXT(name, "Its name."),
    TEXT(key, "The public key."),
    TEXT(by, "The actor who pinned it."),
    TEXT(reason, "Their reason."),
    TIME(pinned, "When it was pinned."),
};
const struct lks_entity lks_entity_key = {
    .name = "key",
    .about = "A public key that signs firmware bundles.",
    COLUMNS(key),
    LIST(lks_state, keys, key_count, key_room, LKS_STATE_KEYS_MAX),
};
#undef ROW

#define ROW struct lks_state_bundle
static const struct lks_column bundle[] = {
    TEXT(digest, "Its digest."),
    TEXT(name, "Its name."),
    TEXT(version, "Its version."),
    TEXT(manifest, "The digest of its manifest."),
    TEXT(signer, "The name of the key that signed it."),
    TEXT(key, "The fingerprint of that key."),
    TEXT(artifacts, "The artifacts it names."),
    TEXT(by, "The actor who added it."),
    TRUTH(site, "Whether the site made it."),
    TIME(added, "When it was found good."),
    TIME(revoked, "When it was revoked; 0: it is good."),
    TEXT(revoked_by, "The actor who revoked it."),
    TEXT(revoked_reason, "Their reason."),
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
    NUMBER(id, "Its number."),
    NODE(node, "The node or asset."),
    WORD(act, lks_bmc_act_words, "The kind of action."),
    TEXT(component, "The component."),
    TEXT(version, "The version it brings."),
    TEXT(bundle, "The digest of the bundle."),
    TEXT(image, "The digest of the image."),
    TEXT(image_name, "The name of the image."),
    TEXT(apply_time, "When the endpoint applies it."),
    TEXT(by, "The actor."),
    TEXT(reason, "Their reason."),
    NUMBER(size, "The size of the image in bytes."),
    TRUTH(force, "Whether the endpoint is asked to force it."),
    TRUTH(one_way, "Whether it cannot be rolled back."),
    TRUTH(revoked, "Whether its bundle was revoked: no further part of it starts."),
    TIME(begun, "When it started."),
    TIME(deadline, "When it is given up."),
    BYTES(saved, saved_len, "The state that its driver needs after a restart."),
    PASSING(phase, "How far it is."),
    NUMBER(percent, "How far that is, in percent."),
    WORD(outcome, lks_bmc_outcome_words, "How it ended."),
    TIME(ended, "When it ended."),
    PASSING(found, "The version that was found afterwards."),
    PASSING(text, "The last message about it."),
    NUMBER(uploads, "How often the image was sent."),
    TIME(resolved, "When a person resolved its unknown outcome."),
    TEXT(resolved_by, "That person."),
    TEXT(resolved_reason, "Their finding."),
};
const struct lks_entity lks_entity_flash = {
    .name = "flash",
    .about = "A firmware update by an endpoint.",
    COLUMNS(flash),
    LIST(lks_state, flashes, flash_count, flash_room, LKS_STATE_FLASHES_MAX),
};
#undef ROW

/* Access ------------------------------------------------------------------------------------ */

#define ROW struct lks_barred
static const struct lks_column barred[] = {
    NODE(node, "The node it was of."),
    NAMED("fingerprint", DIGEST, certificate.fingerprint, "Its fingerprint."),
    NAMED("expires", TIME, certificate.expires, "When it expires."),
};
const struct lks_entity lks_entity_barred = {
    .name = "barred",
    .about = "A certificate of a machine that was replaced.",
    COLUMNS(barred),
    LIST(lks_state, barred, barred_count, barred_room, LKS_STATE_BARRED_MAX),
};
#undef ROW

#define ROW struct lks_override
static const struct lks_column override[] = {
    TEXT(job, "The job."),
    TEXT(hosts, "The nodes it may start on."),
    TEXT(reason, "The actor's reason."),
    TEXT(by, "The actor."),
    TIME(until, "Until when it is good."),
};
const struct lks_entity lks_entity_override = {
    .name = "override",
    .about = "A job that starts on nodes that would be refused.",
    COLUMNS(override),
    LIST(lks_state, overrides, override_count, override_room, LKS_STATE_OVERRIDES_MAX),
};
#undef ROW

#define MADE                                                                                       \
    NAMED("by", TEXT, made.by, "The actor who made it."),                                          \
        NAMED("minters", TEXT, made.minters, "The people by whom their credential came to be."),   \
        NAMED("root", TRUTH, made.root, "Whether that was root on a controller's own socket.")

#define ROW struct lks_binding
static const struct lks_column binding[] = {
    TEXT(identity, "Whose role it is."),
    WORD(role, lks_role_words, "The role."),
    TEXT(site, "At which site; empty: at all."),
    TEXT(pool, "In which pool; empty: in all."),
    MADE,
};
const struct lks_entity lks_entity_binding = {
    .name = "binding",
    .about = "A role of an identity.",
    COLUMNS(binding),
    LIST(lks_state, bindings, binding_count, binding_room, LKS_STATE_BINDINGS_MAX),
};
#undef ROW

#define ROW struct lks_api_token
static const struct lks_column token[] = {
    PASSING(id, "Its name."),
    TEXT(identity, "The identity that shows it."),
    COLUMN("hash", TEXT, hash, NULL, LKS_COLUMN_SECRET | LKS_COLUMN_PASSING, "Its hash."),
    TIME(expires, "Until when it is good; 0: for ever."),
    SPAN(life, "How long a renewal is good; 0: it cannot be renewed."),
    MADE,
    TEXT(issuer, "The identity provider of a login; empty: a token that was made."),
    TEXT(grants, "The roles that the login gives."),
};
const struct lks_entity lks_entity_token = {
    .name = "token",
    .about = "An API token, or that of a login.",
    COLUMNS(token),
    LIST(lks_state, tokens, token_count, token_room, LKS_STATE_TOKENS_MAX),
    .secret = true,
};
#undef ROW

#define ROW struct lks_state_person
static const struct lks_column person[] = {
    TEXT(serial, "Its serial number."),
    TEXT(identity, "The person."),
    NAMED("fingerprint", DIGEST, certificate.fingerprint, "Its fingerprint."),
    NAMED("expires", TIME, certificate.expires, "When it expires."),
    SPAN(life, "How long a renewal is good; 0: it cannot be renewed."),
    MADE,
};
const struct lks_entity lks_entity_person = {
    .name = "person",
    .about = "A certificate of a person.",
    COLUMNS(person),
    LIST(lks_state, persons, person_count, person_room, LKS_STATE_PERSONS_MAX),
};
#undef ROW

/* Tickets and resets ------------------------------------------------------------------------ */

#define ROW struct lks_ticket_heard
static const struct lks_column heard[] = {
    PASSING(event, "The message's own number."),
    TIME(until, "Until when its signature would be taken."),
};
static bool heard_counts(const struct lks_state *s, const void *row)
{
    return ((const struct lks_ticket_heard *)row)->until > s->clock;
}

const struct lks_entity lks_entity_ticket_heard = {
    .name = "ticket_heard",
    .about = "A message of a ticket system that counted, and does not count again.",
    COLUMNS(heard),
    LIST(lks_state, tickets.heard, tickets.heard_count, tickets.heard_room, LKS_TICKETS_HEARD_MAX),
    .counts = heard_counts,
};
#undef ROW

#define ROW struct lks_ticket_due
static const struct lks_column due[] = {
    NUMBER(seq, "The row that moved the change."),
    TIME(at, "When that was."),
    NUMBER(change, "The change."),
    WORD(state, lks_change_state_words, "The state it moved to."),
    PASSING(by, "The actor."),
    PASSING(reason, "Their reason."),
};
const struct lks_entity lks_entity_ticket_due = {
    .name = "ticket_due",
    .about = "A move of a change that a ticket system is still to be notified of.",
    COLUMNS(due),
    LIST(lks_state, tickets.due, tickets.due_count, tickets.due_room, LKS_TICKETS_DUE_MAX),
};
#undef ROW

#define ROW struct lks_reset
static const struct lks_column reset[] = {
    NODE(node, "The node."),
    TEXT(boot, "The boot it is for."),
    TEXT(by, "The actor who asked for it."),
    TEXT(reason, "Their reason."),
    TEXT(minters, "The people by whom their credential came to be."),
    TIME(asked, "When it was asked for."),
    TIME(until, "Until when it can be approved."),
    TIME(approved, "When it was approved; 0: it was not."),
    TEXT(approved_by, "The approver."),
    TEXT(approved_reason, "Their reason."),
    NUMBER(command, "The command that does it."),
};
const struct lks_entity lks_entity_reset = {
    .name = "reset",
    .about = "A reboot of a wedged node that processes hold.",
    COLUMNS(reset),
    LIST(lks_state, resets.list, resets.count, resets.room, LKS_RESETS_MAX),
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
};
const size_t lks_entity_count = LKS_COUNT(lks_entities);
