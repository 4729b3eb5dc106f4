#include "model/record/moves.h"

/* A change ---------------------------------------------------------------------------------- */

static const char *const change_when[LKS_CHANGE_STATE_COUNT][LKS_CHANGE_STATE_COUNT] = {
    [LKS_CHANGE_PROPOSED][LKS_CHANGE_APPROVED] =
        "enough people approved it, or its class is approved beforehand",
    [LKS_CHANGE_PROPOSED][LKS_CHANGE_RUNNING] = "a person started it without its approvals",
    [LKS_CHANGE_PROPOSED][LKS_CHANGE_REJECTED] = "an approver rejected it",
    [LKS_CHANGE_PROPOSED][LKS_CHANGE_ABORTED] =
        "a person aborted it, it expired, or a drafted change is no longer needed",
    [LKS_CHANGE_APPROVED][LKS_CHANGE_PROPOSED] = "an approval was withdrawn",
    [LKS_CHANGE_APPROVED][LKS_CHANGE_RUNNING] = "a person started it",
    [LKS_CHANGE_APPROVED][LKS_CHANGE_REJECTED] = "an approver rejected it",
    [LKS_CHANGE_APPROVED][LKS_CHANGE_ABORTED] =
        "a person aborted it, it was not started in time, or a drafted change is no longer needed",
    [LKS_CHANGE_RUNNING][LKS_CHANGE_PAUSED] = "a person paused it",
    [LKS_CHANGE_RUNNING][LKS_CHANGE_HALTED] = "a gate stopped it, or it cannot go on by itself",
    [LKS_CHANGE_RUNNING][LKS_CHANGE_ABORTING] = "a person aborted it",
    [LKS_CHANGE_RUNNING][LKS_CHANGE_ROLLING_BACK] = "a person rolled it back",
    [LKS_CHANGE_RUNNING][LKS_CHANGE_DONE] = "every wave passed",
    [LKS_CHANGE_RUNNING][LKS_CHANGE_ROLLED_BACK] = "every wave passed, and no node has the target",
    [LKS_CHANGE_PAUSED][LKS_CHANGE_RUNNING] = "a person resumed it",
    [LKS_CHANGE_PAUSED][LKS_CHANGE_ABORTING] = "a person aborted it",
    [LKS_CHANGE_PAUSED][LKS_CHANGE_ROLLING_BACK] = "a person rolled it back",
    [LKS_CHANGE_HALTED][LKS_CHANGE_RUNNING] = "a person resumed it",
    [LKS_CHANGE_HALTED][LKS_CHANGE_ABORTING] = "a person aborted it",
    [LKS_CHANGE_HALTED][LKS_CHANGE_ROLLING_BACK] =
        "it was planned to roll back when it halts, or a person rolled it back",
    [LKS_CHANGE_ABORTING][LKS_CHANGE_ROLLING_BACK] = "a person rolled it back",
    [LKS_CHANGE_ABORTING][LKS_CHANGE_ABORTED] = "every node in progress has ended",
    [LKS_CHANGE_ROLLING_BACK][LKS_CHANGE_ABORTING] = "a person aborted the rollback",
    [LKS_CHANGE_ROLLING_BACK][LKS_CHANGE_ROLLED_BACK] = "every node that can has rolled back",
};
const struct lks_machine lks_moves_change = {
    .name = "change",
    .about = "a change (record `change-moved`)",
    .words = lks_change_state_words,
    .ends = LKS_MACHINE_END(LKS_CHANGE_DONE) | LKS_MACHINE_END(LKS_CHANGE_REJECTED) |
            LKS_MACHINE_END(LKS_CHANGE_ABORTED) | LKS_MACHINE_END(LKS_CHANGE_ROLLED_BACK),
    LKS_MACHINE_TABLE(change_when),
};

/* A wave ------------------------------------------------------------------------------------ */

static const char *const wave_when[LKS_WAVE_STATE_COUNT][LKS_WAVE_STATE_COUNT] = {
    [LKS_WAVE_PLANNED][LKS_WAVE_PLANNED] = "it still waits, and the reason is recorded",
    [LKS_WAVE_PLANNED][LKS_WAVE_BEGUN] = "the wave before it passed, and its time has come",
    [LKS_WAVE_PLANNED][LKS_WAVE_HALTED] = "its nodes drifted, or it can never start",
    [LKS_WAVE_BEGUN][LKS_WAVE_BEGUN] = "no further node starts, or nodes joined: the text changes",
    [LKS_WAVE_BEGUN][LKS_WAVE_SOAKS] = "all of its nodes have ended",
    [LKS_WAVE_BEGUN][LKS_WAVE_HALTED] = "the gate halted it, or it cannot go on by itself",
    [LKS_WAVE_SOAKS][LKS_WAVE_BEGUN] = "a node joined or is tried again",
    [LKS_WAVE_SOAKS][LKS_WAVE_PASSED] = "the gate passed it",
    [LKS_WAVE_SOAKS][LKS_WAVE_HELD] = "the gate cannot tell, and a person decides",
    [LKS_WAVE_SOAKS][LKS_WAVE_HALTED] = "the gate halted it",
    [LKS_WAVE_PASSED][LKS_WAVE_BEGUN] = "a node joined or is tried again",
    [LKS_WAVE_HELD][LKS_WAVE_PASSED] = "a person resumed the change and so let it pass",
    [LKS_WAVE_HALTED][LKS_WAVE_PLANNED] = "a person resumed the change, and approvals are missing",
    [LKS_WAVE_HALTED][LKS_WAVE_BEGUN] = "a person resumed the change",
};
const struct lks_machine lks_moves_wave = {
    .name = "wave",
    .about = "a wave of a change (record `wave`)",
    .words = lks_wave_state_words,
    LKS_MACHINE_TABLE(wave_when),
};

/* A member ---------------------------------------------------------------------------------- */

/* A node in progress: every step of it can end so. */
#define IN_PROGRESS(state)                                                                         \
    [LKS_MEMBER_##state][LKS_MEMBER_DONE] = "its last step is done, or its unit returns",          \
    [LKS_MEMBER_##state][LKS_MEMBER_REVERTED] = "the last step of its rollback is done",           \
    [LKS_MEMBER_##state][LKS_MEMBER_FENCED] = "a failure keeps it, or its unit, out of service",   \
    [LKS_MEMBER_##state][LKS_MEMBER_SKIPPED] = "it left the fleet, or was lost untouched"

/* A node that did not get there. */
#define TRIED_AGAIN(state)                                                                         \
    [LKS_MEMBER_##state][LKS_MEMBER_##state] = "it waits for a slot to be tried again",            \
    [LKS_MEMBER_##state][LKS_MEMBER_SKIPPED] = "a person returned it to service as it is"

static const char *const member_when[LKS_MEMBER_STATE_COUNT][LKS_MEMBER_STATE_COUNT] = {
    [LKS_MEMBER_PENDING][LKS_MEMBER_WAITING] = "its unit starts",
    [LKS_MEMBER_PENDING][LKS_MEMBER_FENCED] = "its unit starts, and it is not heard of",
    [LKS_MEMBER_PENDING][LKS_MEMBER_SKIPPED] = "it left the fleet, drifted, or has the target",
    IN_PROGRESS(WAITING),
    [LKS_MEMBER_WAITING][LKS_MEMBER_WAITING] =
        "it goes on to another step, waits longer, or rolls back",
    [LKS_MEMBER_WAITING][LKS_MEMBER_ASKED] = "its step starts",
    [LKS_MEMBER_WAITING][LKS_MEMBER_READING] = "its step is a reading, or asks whether it is idle",
    IN_PROGRESS(ASKED),
    [LKS_MEMBER_ASKED][LKS_MEMBER_WAITING] = "its step ended, or is tried again later",
    [LKS_MEMBER_ASKED][LKS_MEMBER_ASKED] = "it drains anew, or is to roll back for good",
    [LKS_MEMBER_ASKED][LKS_MEMBER_READING] = "its step ended, and is read back",
    [LKS_MEMBER_ASKED][LKS_MEMBER_HANDS] = "its management endpoint does not answer",
    [LKS_MEMBER_ASKED][LKS_MEMBER_UNKNOWN] = "the outcome of its step is unknown",
    IN_PROGRESS(READING),
    [LKS_MEMBER_READING][LKS_MEMBER_WAITING] = "it was read, or is tried again later",
    [LKS_MEMBER_READING][LKS_MEMBER_ASKED] = "it is not drained any more, or its checks start",
    [LKS_MEMBER_READING][LKS_MEMBER_READING] = "it is read, or asked whether it is idle, again",
    [LKS_MEMBER_DONE][LKS_MEMBER_WAITING] = "the change is rolled back",
    [LKS_MEMBER_DONE][LKS_MEMBER_FENCED] = "the change is rolled back, and it is lost",
    [LKS_MEMBER_DONE][LKS_MEMBER_SKIPPED] = "the change is rolled back, and it left the fleet",
    TRIED_AGAIN(REVERTED),
    [LKS_MEMBER_REVERTED][LKS_MEMBER_WAITING] = "a person has it tried again",
    TRIED_AGAIN(FENCED),
    [LKS_MEMBER_FENCED][LKS_MEMBER_WAITING] =
        "a person has it tried again, or it was lost and joins the rollback",
    TRIED_AGAIN(HANDS),
    [LKS_MEMBER_HANDS][LKS_MEMBER_WAITING] = "a person has it tried again",
    TRIED_AGAIN(UNKNOWN),
    [LKS_MEMBER_UNKNOWN][LKS_MEMBER_WAITING] = "a person has it tried again",
    [LKS_MEMBER_UNKNOWN][LKS_MEMBER_FENCED] = "a person resolved its update",
};
const struct lks_machine lks_moves_member = {
    .name = "member",
    .about = "a node in a change (record `member`)",
    .words = lks_member_state_words,
    .ends = LKS_MACHINE_END(LKS_MEMBER_SKIPPED),
    LKS_MACHINE_TABLE(member_when),
};

/* An update of firmware --------------------------------------------------------------------- */

enum { /* by outcome */
       DONE = LKS_FLASH_ENDED,
       STAGED,
       SAME,
       REFUSED,
       FAILED,
       UNKNOWN,
};
static const char *const flash_words[] = {"asked",   "sent",   "done",    "staged",  "same",
                                          "refused", "failed", "unknown", "resolved"};
_Static_assert(LKS_COUNT(flash_words) == LKS_FLASH_STAGE_COUNT, "a name for each");
_Static_assert((int)UNKNOWN == (int)LKS_FLASH_RESOLVED - 1, "all outcomes");

enum lks_flash_stage lks_moves_flash_stage(enum lks_bmc_outcome outcome, bool sent, bool resolved)
{
    if (resolved)
        return LKS_FLASH_RESOLVED;
    if (outcome == LKS_BMC_OPEN)
        return sent ? LKS_FLASH_SENT : LKS_FLASH_ASKED;
    return (enum lks_flash_stage)(LKS_FLASH_ENDED + (unsigned)outcome - LKS_BMC_DONE);
}

static const char *const flash_when[LKS_FLASH_STAGE_COUNT][LKS_FLASH_STAGE_COUNT] = {
    [LKS_FLASH_ASKED][LKS_FLASH_ASKED] = "its progress is recorded before anything is sent",
    [LKS_FLASH_ASKED][LKS_FLASH_SENT] = "its first checkpoint is durable",
    [LKS_FLASH_ASKED][DONE] = "the inventory shows it, without a checkpoint",
    [LKS_FLASH_ASKED][STAGED] = "it was staged already",
    [LKS_FLASH_ASKED][SAME] = "the component runs it already",
    [LKS_FLASH_ASKED][REFUSED] = "the driver or the endpoint refused it, or its bundle was revoked",
    [LKS_FLASH_ASKED][FAILED] = "its deadline passed before anything was sent",
    [LKS_FLASH_ASKED][UNKNOWN] = "the driver cannot tell what was sent",
    [LKS_FLASH_SENT][LKS_FLASH_SENT] = "another checkpoint is durable",
    [LKS_FLASH_SENT][DONE] = "the inventory shows it",
    [LKS_FLASH_SENT][STAGED] = "the inventory shows it in the other bank",
    [LKS_FLASH_SENT][SAME] = "nothing had to be done after all",
    [LKS_FLASH_SENT][REFUSED] = "the endpoint refused what was sent",
    [LKS_FLASH_SENT][FAILED] = "the endpoint gave it up",
    [LKS_FLASH_SENT][UNKNOWN] = "its outcome is unknown, or its deadline passed",
    [UNKNOWN][LKS_FLASH_RESOLVED] = "a person inspected the device",
};
const struct lks_machine lks_moves_flash = {
    .name = "flash",
    .about = "an update of firmware (records `flash`, `flash-saved`, `flash-ended`, "
             "`flash-resolved`)",
    .words = flash_words,
    .ends = LKS_MACHINE_END(DONE) | LKS_MACHINE_END(STAGED) | LKS_MACHINE_END(SAME) |
            LKS_MACHINE_END(REFUSED) | LKS_MACHINE_END(FAILED) |
            LKS_MACHINE_END(LKS_FLASH_RESOLVED),
    LKS_MACHINE_TABLE(flash_when),
};

/* A command --------------------------------------------------------------------------------- */

#define ENDED(outcome) (LKS_COMMAND_ENDED + LKS_OUTCOME_##outcome)

static const char *const command_words[] = {"open",    "done",    "failed",
                                            "refused", "expired", "unknown"};
_Static_assert(LKS_COUNT(command_words) == LKS_COMMAND_STAGE_COUNT, "a name for each");

enum lks_command_stage lks_moves_command_stage(bool ended, enum lks_outcome outcome)
{
    return ended ? (enum lks_command_stage)(LKS_COMMAND_ENDED + (unsigned)outcome)
                 : LKS_COMMAND_OPEN;
}

static const char *const command_when[LKS_COMMAND_STAGE_COUNT][LKS_COMMAND_STAGE_COUNT] = {
    [LKS_COMMAND_OPEN][ENDED(DONE)] = "the agent carried it out",
    [LKS_COMMAND_OPEN][ENDED(FAILED)] = "the agent reports a failure",
    [LKS_COMMAND_OPEN][ENDED(REFUSED)] = "the agent refused it",
    [LKS_COMMAND_OPEN][ENDED(EXPIRED)] = "no answer came before its expiry",
    [LKS_COMMAND_OPEN][ENDED(UNKNOWN)] = "the agent stopped while it ran",
    [ENDED(EXPIRED)][ENDED(DONE)] = "the agent answered late",
    [ENDED(EXPIRED)][ENDED(FAILED)] = "the agent answered late",
    [ENDED(EXPIRED)][ENDED(REFUSED)] = "the agent answered late",
    [ENDED(EXPIRED)][ENDED(UNKNOWN)] = "the agent answered late",
};
const struct lks_machine lks_moves_command = {
    .name = "command",
    .about = "a command to an agent (records `command`, `command-ended`; the agent's ledger)",
    .words = command_words,
    .ends = LKS_MACHINE_END(ENDED(DONE)) | LKS_MACHINE_END(ENDED(FAILED)) |
            LKS_MACHINE_END(ENDED(REFUSED)) | LKS_MACHINE_END(ENDED(UNKNOWN)),
    LKS_MACHINE_TABLE(command_when),
};
